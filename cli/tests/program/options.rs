//! What is asked beside the axes: masks, both functions at once, threads.

use crate::{Folder, npy, picture, refused, u1};
use std::fs::{self, File};
use std::process::Stdio;

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// Where nothing is there of the second row.
fn masked() -> Folder {
    Folder::new()
        .with("in.npy", u1("(2, 3)", &[5, 9, 2, 7, 0, 7]))
        .with("row.npy", npy(1, "'|b1'", "False", "(3,)", &[1, 0, 1]))
        .with("gap.npy", u1("(2, 3)", &[1, 0, 255, 0, 0, 0]))
        .with("none.npy", npy(1, "'|b1'", "False", "()", &[0]))
}

#[test]
fn masks() {
    let folder = masked();
    let before = folder.files();
    for (command, shown) in [
        ("argmax in.npy --mask row.npy", "index 3 at [1, 0]: 7"),
        ("argmin in.npy --mask row.npy --direction decreasing --chunk 1", "index 2 at [0, 2]: 2"),
        ("argmax in.npy --mask gap.npy", "index 0 at [0, 0]: 5"),
        ("argmin in.npy --mask in.npy", "index 2 at [0, 2]: 2"),
        ("argmax in.npy --mask none.npy --fill -1", "index -1: nothing is there"),
        ("argminmax in.npy --mask gap.npy", "argmin: index 2 at [0, 2]: 2\nargmax: index 0 at [0, 0]: 5"),
    ] {
        assert_eq!(folder.run(&words(command)), format!("{shown}\n"), "{command}");
        assert!(before == folder.files(), "{command}");
    }
    // One of the two from standard input.
    for (command, stdin) in [("argmax in.npy --mask - -o -", "row.npy"), ("argmax - --mask row.npy -o -", "in.npy")] {
        for is_pipe in [false, true] {
            let mut command = folder.command(&words(command));
            let file = fs::read(folder.path(stdin)).unwrap();
            let output = if is_pipe {
                let (reader, mut writer) = std::io::pipe().unwrap();
                std::io::Write::write_all(&mut writer, &file).unwrap();
                drop(writer);
                command.stdin(reader).output().unwrap()
            } else {
                command.stdin(File::open(folder.path(stdin)).unwrap()).output().unwrap()
            };
            assert!(output.stdout.ends_with(&3_i64.to_le_bytes()), "{command:?}: {output:?}");
        }
    }
}

#[test]
fn nothing_there() {
    let folder = masked();
    let named = "in.npy: no element is there for output [1, 0]: without a fill, an index needs at least one; --fill";
    for more in ["", " --chunk 1", " --values best.npy --bench"] {
        folder.fail(&words(&format!("argmax in.npy --axes 1 --mask gap.npy{more}")), named);
    }
    folder.fail(&words("argminmax in.npy --axes 1 --mask gap.npy"), named);
    folder.fail(&words("argmax in.npy --mask none.npy"), "in.npy: no element is there at all");
    // The first in C order, in whatever order outputs are found.
    let fortran = npy(1, "'|u1'", "True", "(2, 2)", &[1, 2, 3, 4]);
    let folder = folder.with("fortran.npy", fortran).with("two.npy", u1("(2, 2)", &[1, 0, 0, 1]));
    for chunk in ["1", "100"] {
        folder.fail(&["argmax", "fortran.npy", "--axes=", "--mask", "two.npy", "--chunk", chunk], "output [0, 1]");
    }
    let fill = |index_type: &str, fill: &str| {
        let fill = format!("--fill={fill}");
        let options = ["--mask", "gap.npy", &fill, "--index-type", index_type, "--values", "best.npy", "--force"];
        folder.run(&[&words("argmax in.npy --axes 1")[..], &options].concat());
        let (descr, _, indices) = folder.indices("labels.npy");
        assert_eq!((indices[0], folder.read::<u8>("best.npy").1), (0, vec![5, 0]));
        (descr, indices[1])
    };
    for (index_type, index, descr) in [
        ("auto", -1, "'<i4'"),
        ("auto", 255, "'|u1'"),
        ("auto", 256, "'<u2'"),
        ("auto", 1 << 32, "'<u8'"),
        ("auto", i64::MIN, "'<i8'"),
        ("u8", 7, "'|u1'"),
        ("i32", -7, "'<i4'"),
        ("i64", -1, "'<i8'"),
        ("u64", i64::MAX, "'<u8'"),
    ] {
        assert_eq!(fill(index_type, &index.to_string()), (descr.into(), index));
    }
    folder.fail(
        &words("argmax in.npy --axes 1 --mask gap.npy --fill 256 --index-type u8 --force"),
        "; --index-type auto is the smallest that holds them all",
    );
    // Of a label map, such places are of that colour.
    let folder = Folder::new().with("in.npy", u1("(2, 1, 2)", &[0, 9, 1, 8])).with("mask.npy", u1("(2,)", &[1, 0]));
    folder.run(&words("argmax in.npy --axes 0 --mask mask.npy --fill -1 --picture p.png"));
    let (_, pixels) = picture(&fs::read(folder.path("p.png")).unwrap());
    assert_eq!(pixels, [[128, 0, 0], [255; 3]]);
}

#[test]
fn what_is_no_mask() {
    let folder = masked()
        .with("f4.npy", npy(1, "'<f4'", "False", "(3,)", &[0; 12]))
        .with("u2.npy", npy(1, "'<u2'", "False", "(3,)", &[0; 6]))
        .with("two.npy", u1("(2,)", &[1, 1]))
        .with("cube.npy", u1("(1, 2, 3)", &[1; 6]))
        .with("short.npy", u1("(2, 3)", &[1; 5]))
        .with("seven.npy", npy(1, "'|b1'", "False", "(3,)", &[1, 7, 1]))
        .with("text.npy", "text");
    for (command, named) in [
        ("--mask absent.npy", "--mask absent.npy: No such file"),
        ("--mask text.npy", "--mask text.npy: not a .npy file"),
        ("--mask f4.npy", "--mask f4.npy: dtype '<f4' says of no element whether it is there: bool and u1 do"),
        ("--mask u2.npy", "'<u2'"),
        ("--mask two.npy", "--mask two.npy: sizes [2] do not broadcast to those of the array, [2, 3]"),
        ("--mask cube.npy", "sizes [1, 2, 3] do not broadcast"),
        ("--mask short.npy", "--mask short.npy: the file ends after 5 of 6 elements"),
        ("--mask seven.npy", "--mask seven.npy: a bool is 7"),
        ("--mask", "--mask"),
        ("--fill 0", "--mask"),
        ("--mask row.npy --fill x", "'x' for '--fill <INDEX>'"),
        ("--mask row.npy -o row.npy", "--output row.npy: this is an input"),
        ("--mask row.npy --values ./row.npy", "--values ./row.npy: this is an input"),
    ] {
        folder.fail(&words(&format!("argmax in.npy --axes 1 --force {command}")), named);
    }
    let output = folder.command(&words("argmax - --mask -")).stdin(File::open(folder.path("in.npy")).unwrap()).output();
    refused(&output.unwrap(), "--mask standard input: the array comes from there already", "both from standard input");
}

#[test]
fn both_functions() {
    let data: Vec<u8> = (0..24_u8).map(|n| n * 7 % 24).collect();
    for order in ["False", "True"] {
        let folder = Folder::new().with("in.npy", npy(1, "'|u1'", order, "(2, 3, 4)", &data));
        for axes in ["--axes=0", "--axes=1", "--axes=2", "--axes=0,2", "--axes=", "--keepdims"] {
            for chunk in ["3", "4K"] {
                let outputs = words("-o {}.npy --values {}.values.npy --index-type auto --force --chunk");
                let run = |function| folder.run(&[&[function, "in.npy", axes], &outputs[..], &[chunk]].concat());
                for function in ["argmin", "argmax"] {
                    run(function);
                }
                let apart = folder.files();
                run("argminmax");
                assert!(apart == folder.files(), "{axes} {chunk} {order}");
                assert_eq!(apart.len(), 5);
            }
        }
    }
    let folder = masked();
    let report = folder.run(&words("argminmax in.npy --axes 1"));
    assert!(report.starts_with("argminmax of u8 [2, 3] over axes [1] to i64 [2]"), "{report}");
    assert!(report.contains("files: argmin.npy, argmax.npy"), "{report}");
    assert_eq!([folder.indices("argmin.npy").2, folder.indices("argmax.npy").2], [[2, 1], [1, 0]]);
    folder.run(&words("argminmax in.npy --axes= --picture {}.png --force"));
    let [lowest, highest] = ["argmin.png", "argmax.png"].map(|name| fs::read(folder.path(name)).unwrap());
    assert_eq!(picture(&lowest), picture(&highest));
    // Of one answer each, a line each, and files if they are asked for.
    let both = "argmin: index 4 at [1, 1]: 0\nargmax: index 1 at [0, 1]: 9\n";
    assert_eq!(folder.run(&words("argminmax in.npy -o {}.one.npy")), both);
    assert_eq!(folder.indices("argmax.one.npy").2, [1]);
    // Of one function, it is that one's name.
    folder.run(&words("argmin in.npy --axes 1 -o {}-of-{}.npy"));
    assert_eq!(folder.indices("argmin-of-argmin.npy").2, [2, 1]);
}

#[test]
fn two_outputs_are_not_one() {
    let folder = masked();
    for (command, named) in [
        ("-o labels.npy", "--output labels.npy: argminmax has two outputs of each kind: {} in the name becomes argmin"),
        ("-o -", "--output -: argminmax has two outputs"),
        ("-o /dev/stdout", "--output /dev/stdout: argminmax has two outputs"),
        ("--values best.npy", "--values best.npy: argminmax has two"),
        ("--picture p.png", "--picture p.png: argminmax has two"),
        ("-o {}.npy --values {}.npy", "--values argmin.npy: this is another output already"),
        ("-o {}.npy --values ./{}.npy", "--values ./argmin.npy: this is another output already"),
        ("-o nowhere/{}.npy", "--output nowhere/argmin.npy"),
    ] {
        folder.fail(&words(&format!("argminmax in.npy --axes 1 --force {command}")), named);
    }
    let folder = folder.with("argmax.npy", "an older result");
    folder.fail(&words("argminmax in.npy --axes 1"), "--output argmax.npy: there already");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("argmax.npy", folder.path("argmin.npy")).unwrap();
        folder.fail(&words("argminmax in.npy --axes 1 --force"), "--output argmax.npy: this is another output already");
    }
}

#[test]
fn threads_make_no_difference() {
    let data: Vec<u8> = (0..24_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8 % 251).collect();
    let folder =
        Folder::new().with("in.npy", u1("(24, 1024, 1024)", &data)).with("mask.npy", u1("(1024, 1)", &data[..1024]));
    let cpus = std::thread::available_parallelism().unwrap().get();
    for command in ["argmax in.npy --axes 0", "argminmax in.npy --axes 1,2 --mask mask.npy", "argmin in.npy --axes 2"] {
        let run = |said: Option<&str>, environment: Option<&str>| {
            let mut program = folder.command(&words(command));
            program.args(["-o", "{}.npy", "--values", "{}.best.npy", "--force"]);
            program.args(said.into_iter().flat_map(|threads| ["--threads", threads]));
            program.env_remove("ARGREDUCE_NUM_THREADS");
            program.envs(environment.map(|threads| ("ARGREDUCE_NUM_THREADS", threads)));
            let output = program.stdout(Stdio::piped()).output().unwrap();
            assert!(output.status.success(), "{command}: {output:?}");
            (String::from_utf8(output.stdout).unwrap(), folder.files())
        };
        let (report, one) = run(None, None);
        assert!(report.contains("(one run), "), "{report}");
        for (said, environment, expected) in [
            (Some("2"), None, 2),
            (Some("all"), None, usize::MAX),
            (Some("-1"), Some("nonsense"), usize::MAX),
            (Some("99999999999999999999999"), None, usize::MAX),
            (None, Some(" 2 "), 2),
            (None, Some("all"), usize::MAX),
            (None, Some(""), 1),
            (Some("1"), Some("2"), 1),
        ] {
            let (report, files) = run(said, environment);
            let told = match expected.min(cpus) {
                1 => "(one run), ".to_string(),
                threads => format!("(one run, {threads} threads), "),
            };
            assert!(report.contains(&told), "{said:?} {environment:?}: {report}");
            assert!(one == files, "{command}: {said:?} {environment:?}");
        }
    }
    for threads in ["0", "-2", "two", "1.5"] {
        folder.fail(
            &["argmax", "in.npy", "--threads", threads],
            &format!("'{threads}' for '--threads <N|all>': expected a whole number from 1 on, or all"),
        );
    }
    for arguments in [&["argmax", "in.npy"][..], &[]] {
        let before = folder.names();
        let output = folder.command(arguments).env("ARGREDUCE_NUM_THREADS", "0").output().unwrap();
        refused(&output, "argreduce: ARGREDUCE_NUM_THREADS is '0': expected a whole number", "the environment");
        assert_eq!(folder.names(), before);
    }
}
