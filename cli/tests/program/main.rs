//! The program, run as its users run it: command lines and files in, files and messages out. Files are made here byte
//! by byte and read back by npyz, so that no code of the program judges itself.

mod chunks;
mod endings;
mod options;

use half::f16;
use npyz::NpyFile;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder of its own for one test, in which the program is run.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(TempDir::new().unwrap())
    }

    fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_argreduce"));
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// What standard output has. Standard error has nothing, unless that is one answer: then it has the report.
    fn run(&self, arguments: &[&str]) -> String {
        let (shown, told) = self.run_both(arguments);
        let is_answer = shown.starts_with("index ") || shown.starts_with("argmin: index ");
        assert_eq!(told.is_empty(), !is_answer, "{arguments:?}: {shown}{told}");
        shown
    }

    /// What standard output has, and standard error.
    fn run_both(&self, arguments: &[&str]) -> (String, String) {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Every file with what it holds, also in folders.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut files, mut folders) = (BTreeMap::new(), vec![self.0.path().to_path_buf()]);
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else if path.is_file() {
                    let name = path.strip_prefix(self.0.path()).unwrap();
                    files.insert(name.to_path_buf(), fs::read(&path).unwrap());
                }
            }
        }
        files
    }

    fn names(&self) -> Vec<String> {
        self.files().keys().map(|path| path.to_str().unwrap().replace('\\', "/")).collect()
    }

    /// Sizes and elements of a file in C order.
    fn read<T: npyz::Deserialize>(&self, name: &str) -> (Vec<u64>, Vec<T>) {
        let bytes = fs::read(self.path(name)).unwrap();
        let file = NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(file.order(), npyz::Order::C);
        (file.shape().to_vec(), file.into_vec().unwrap())
    }

    /// Type, sizes and elements of a file of indices.
    fn indices(&self, name: &str) -> (String, Vec<u64>, Vec<i64>) {
        let bytes = fs::read(self.path(name)).unwrap();
        let file = NpyFile::new(&bytes[..]).unwrap();
        let (descr, shape) = (file.dtype().descr(), file.shape().to_vec());
        let indices = match descr.as_str() {
            "'|u1'" => file.into_vec::<u8>().unwrap().into_iter().map(i64::from).collect(),
            "'<u2'" => file.into_vec::<u16>().unwrap().into_iter().map(i64::from).collect(),
            "'<i4'" => file.into_vec::<i32>().unwrap().into_iter().map(i64::from).collect(),
            "'<u4'" => file.into_vec::<u32>().unwrap().into_iter().map(i64::from).collect(),
            "'<u8'" => file.into_vec::<u64>().unwrap().into_iter().map(|index| index as i64).collect(),
            _ => file.into_vec::<i64>().unwrap(),
        };
        (descr, shape, indices)
    }

    /// Runs into a mistake: one line that names it, and not a trace of any output.
    fn fail(&self, arguments: &[&str], named: &str) {
        let before = self.files();
        let output = self.command(arguments).output().unwrap();
        refused(&output, named, &format!("{arguments:?}"));
        assert_eq!(before.keys().collect::<Vec<_>>(), self.files().keys().collect::<Vec<_>>(), "{arguments:?}");
        assert!(before == self.files(), "{arguments:?}: a file was changed");
    }
}

fn refused(output: &Output, named: &str, context: &str) {
    let told = str::from_utf8(&output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{context}: {told}");
    assert!(told.starts_with("argreduce: ") || told.starts_with("error: "), "{context}: {told}");
    assert_eq!((told.matches('\n').count(), told.ends_with('\n')), (1, true), "{context}: {told}");
    assert!(told.contains(named), "{context}: {told:?} does not name {named:?}");
}

/// A `.npy` file with this header text.
fn raw(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    let length = (header.len() as u32).to_le_bytes();
    file.extend(if version == 1 { &length[..2] } else { &length[..] });
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn npy(version: u8, descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    raw(version, &format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"), data)
}

/// Single bytes, the simplest of all arrays.
fn u1(shape: &str, data: &[u8]) -> Vec<u8> {
    npy(1, "'|u1'", "False", shape, data)
}

/// What a run without arguments leaves.
const SAMPLE: [&str; 3] = ["argreduce-sample/labels.npy", "argreduce-sample/labels.png", "argreduce-sample/scores.npy"];

#[test]
fn without_arguments_a_sample_is_answered() {
    let folder = Folder::new();
    let report = folder.run(&[]);
    assert_eq!(folder.names(), SAMPLE);
    assert!(report.contains(" GB/s") && report.contains("one run"), "{report}");

    let (shape, scores) = folder.read::<f32>(SAMPLE[2]);
    assert_eq!(shape, [21, 256, 256]);
    let (shape, labels) = folder.read::<u8>(SAMPLE[0]);
    assert_eq!(shape, [256, 256]);
    for (pixel, &label) in labels.iter().enumerate() {
        let mut best = 0;
        for class in 1..21 {
            if scores[class * 65536 + pixel] > scores[best * 65536 + pixel] {
                best = class;
            }
        }
        assert_eq!(label as usize, best, "pixel {pixel}");
    }

    // The picture: one colour per label, none twice, and the legend beside it.
    let (size, colours) = picture(&fs::read(folder.path(SAMPLE[1])).unwrap());
    assert_eq!(size, (256 + CELL.0, 256));
    let (width, mut map) = (size.0 as usize, BTreeMap::new());
    for (labels, colours) in labels.chunks(256).zip(colours.chunks(width)) {
        for (&label, &colour) in labels.iter().zip(colours) {
            assert_eq!(*map.entry(label).or_insert(colour), colour, "label {label}");
        }
    }
    for (&label, &colour) in &map {
        assert_eq!(colours[(usize::from(label) * CELL.1 as usize + 6) * width + 256 + 10], colour, "label {label}");
    }
    let mut distinct: Vec<_> = map.values().collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), map.len());
    assert!(map.len() > 10, "only {} classes to be seen", map.len());

    // The command it names does the same once more.
    let before = folder.files();
    let again = report.lines().find_map(|line| line.strip_prefix("the same again: ")).unwrap();
    fs::remove_file(folder.path(SAMPLE[0])).unwrap();
    fs::write(folder.path(SAMPLE[1]), "spoilt").unwrap();
    let arguments = again.strip_prefix(env!("CARGO_BIN_EXE_argreduce")).unwrap().trim();
    folder.run(&arguments.split(' ').collect::<Vec<_>>());
    assert!(before == folder.files());
}

/// Width and height of what a legend has for one label.
const CELL: (u32, u32) = (48, 12);

fn picture(file: &[u8]) -> ((u32, u32), Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    ((info.width, info.height), pixels.as_chunks().0.to_vec())
}

#[test]
fn every_dtype_byte_order_and_index_type() {
    fn check<T: npyz::Deserialize + PartialEq + std::fmt::Debug>(
        dtype: &str,
        of: fn(u8) -> T,
        bytes: fn(T) -> Vec<u8>,
    ) {
        for (order, index, descr) in [
            ('<', "u8", "'|u1'"),
            ('>', "u16", "'<u2'"),
            ('<', "i32", "'<i4'"),
            ('>', "i64", "'<i8'"),
            ('<', "u32", "'<u4'"),
            ('>', "u64", "'<u8'"),
            ('<', "auto", "'|u1'"),
        ] {
            let mut data = Vec::new();
            for element in [0, 5, 2, 7, 0, 1] {
                let mut bytes = bytes(of(element));
                if order == '>' {
                    bytes.reverse();
                }
                data.extend(bytes);
            }
            let order = if dtype.ends_with('1') { '|' } else { order };
            let folder = Folder::new().with("in.npy", npy(1, &format!("'{order}{dtype}'"), "False", "(2, 3)", &data));
            folder.run(&["argmax", "in.npy", "--axes", "1", "--index-type", index, "--values", "best.npy"]);
            assert_eq!(folder.indices("labels.npy"), (descr.into(), vec![2], vec![1, 0]), "{dtype}");
            assert_eq!(folder.read("best.npy"), (vec![2], vec![of(5), of(7)]), "{dtype}");
        }
    }
    macro_rules! check {
        ($($dtype:literal $t:ty),+) => {
            $(check::<$t>($dtype, |x| x.into(), |x| x.to_le_bytes().to_vec());)+
        };
    }
    check!("f2" f16, "f4" f32, "f8" f64, "i2" i16, "i4" i32, "i8" i64, "u1" u8, "u2" u16, "u4" u32, "u8" u64);
    check::<i8>("i1", |x| x as i8, |x| x.to_le_bytes().to_vec());
    check::<bool>("b1", |x| x != 0, |x| vec![x.into()]);
}

/// Axes, directions, NaNs and shapes: arguments, shape of the input, its elements, and the shape and indices expected.
#[test]
fn questions_and_answers() {
    const NAN: f32 = f32::NAN;
    let cube: Vec<f32> = (0..24_u8).map(|i| f32::from(i * 7 % 24)).collect();
    let square = [2., 7., 7., 1., 1., 2.];
    let gaps = [NAN, 3., 5., 3., NAN, NAN];
    type Row<'a> = (&'a str, &'a [usize], &'a [f32], &'a [u64], &'a [i64]);
    let rows: [Row; 20] = [
        ("argmax", &[2, 3], &square, &[], &[1]),
        ("argmin", &[2, 3], &square, &[], &[3]),
        ("argmax --axes 0", &[2, 3], &square, &[3], &[0, 0, 0]),
        ("argmax --axes -1", &[2, 3], &square, &[2], &[1, 2]),
        ("argmax --axes=-1 --direction decreasing", &[2, 3], &square, &[2], &[2, 2]),
        ("argmin --direction decreasing", &[2, 3], &square, &[], &[4]),
        ("argmax --axes 1 --keepdims", &[2, 3], &square, &[2, 1], &[1, 2]),
        ("argmax --keepdims", &[2, 3], &square, &[1, 1], &[1]),
        ("argmax --axes=", &[2, 3], &square, &[2, 3], &[0; 6]),
        ("argmax --axes 1 --isa portable", &[2, 3], &square, &[2], &[1, 2]),
        ("argmax --axes 1", &[2, 3], &gaps, &[2], &[0, 1]),
        ("argmax --axes 1 --nan ignore", &[2, 3], &gaps, &[2], &[2, 0]),
        ("argmin --axes 1 --nan ignore", &[2, 3], &gaps, &[2], &[1, 0]),
        ("argmax --axes=0,-1", &[2, 3, 4], &cube, &[3], &[3, 5, 2]),
        ("argmax --axes -1,0", &[2, 3, 4], &cube, &[3], &[3, 5, 2]),
        ("argmin --axes 2,0 --keepdims", &[2, 3, 4], &cube, &[1, 3, 1], &[0, 3, 5]),
        ("argmax", &[], &[5.], &[], &[0]),
        ("argmax --axes 3", &[1, 1, 2, 3, 1, 1, 1, 1], &square, &[1, 1, 2, 1, 1, 1, 1], &[1, 2]),
        ("argmax --axes 1", &[0, 3], &[], &[0], &[]),
        ("argmax --axes 0", &[3, 0], &[], &[0], &[]),
    ];
    for (command, sizes, elements, shape, indices) in rows {
        // The same array in every version of the format and in both orders.
        for (version, fortran) in [(1, false), (2, false), (3, false), (1, true), (2, true)] {
            let elements = if fortran { to_fortran(sizes, elements) } else { elements.to_vec() };
            let data: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
            let order = if fortran { "True" } else { "False" };
            let text: String = sizes.iter().map(|size| format!("{size}, ")).collect();
            let folder = Folder::new().with("in.npy", npy(version, "'<f4'", order, &format!("({text})"), &data));
            let mut arguments: Vec<&str> = command.split(' ').collect();
            arguments.insert(1, "in.npy");
            arguments.extend(["-o", "out.npy"]);
            let (shown, told) = folder.run_both(&arguments);
            let context = format!("{command} of {sizes:?}, version {version}, Fortran {fortran}");
            // What is told of the shape is what is written.
            let report = if told.is_empty() { &shown } else { &told };
            assert!(report.contains(&format!(" to i64 {shape:?}, ")), "{context}: {report}");
            assert_eq!(folder.names(), ["in.npy", "out.npy"], "{context}");
            assert_eq!(folder.indices("out.npy"), ("'<i8'".into(), shape.to_vec(), indices.to_vec()), "{context}");
        }
    }
}

/// With no axes kept, the answer is a line on standard output, and no file is made unasked.
#[test]
fn one_answer() {
    let data: Vec<u8> = [1.5_f32, -3.0, 0.25, 1e30, f32::NAN, 7.0].into_iter().flat_map(f32::to_le_bytes).collect();
    let bytes = [0, 5, 2, 7, 0, 7];
    let folder = Folder::new()
        .with("f4.npy", npy(1, "'<f4'", "False", "(2, 3)", &data))
        .with("fortran.npy", npy(1, "'<f4'", "True", "(2, 3)", &data))
        .with("u1.npy", u1("(2, 3)", &bytes))
        .with("i1.npy", npy(1, "'|i1'", "False", "(6,)", &bytes.map(|byte: u8| byte.wrapping_sub(5))))
        .with("b1.npy", npy(1, "'|b1'", "False", "(1, 2, 2)", &[0, 0, 1, 0]))
        .with("no.npy", npy(1, "'|b1'", "False", "(2,)", &[0, 0]))
        .with("rank0.npy", u1("()", &[9]))
        .with("row.npy", u1("(6,)", &bytes))
        .with("labels.npy", "an older result");
    let before = folder.files();
    for (command, answer) in [
        ("argmax f4.npy", "index 4 at [1, 1]: NaN"),
        ("argmax f4.npy --nan ignore", "index 3 at [1, 0]: 1e30"),
        ("argmin f4.npy --axes 1,0 --nan ignore", "index 1 at [0, 1]: -3.0"),
        ("argmax fortran.npy --nan ignore --chunk 4", "index 4 at [1, 1]: 1e30"),
        ("argmin fortran.npy --nan ignore --bench", "index 3 at [1, 0]: -3.0"),
        ("argmax u1.npy --direction decreasing", "index 5 at [1, 2]: 7"),
        ("argmax u1.npy --chunk 1 --index-type auto --keepdims", "index 3 at [1, 0]: 7"),
        ("argmax i1.npy", "index 3 at [3]: 2"),
        ("argmin i1.npy --chunk 1K", "index 0 at [0]: -5"),
        ("argmax b1.npy", "index 2 at [0, 1, 0]: true"),
        ("argmax no.npy", "index 0 at [0]: false"),
        ("argmax rank0.npy", "index 0 at []: 9"),
        ("argmax rank0.npy --axes=", "index 0 at []: 9"),
        ("argmax row.npy --axes -1 --index-type u8", "index 3 at [3]: 7"),
    ] {
        let (shown, told) = folder.run_both(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(shown, format!("{answer}\n"), "{command}");
        assert!(told.contains(" GB/s") && !told.contains("files:"), "{command}: {told}");
        assert!(before == folder.files(), "{command}");
    }
    // Files that are asked for, as of any other answer. Where one goes to standard output, the line joins the report.
    assert_eq!(folder.run(&["argmax", "u1.npy", "-o", "i.npy", "--values", "v.npy"]), "index 3 at [1, 0]: 7\n");
    assert_eq!(folder.indices("i.npy"), ("'<i8'".into(), vec![], vec![3]));
    assert_eq!(folder.read("v.npy"), (vec![], vec![7_u8]));
    let output = folder.command(&["argmax", "u1.npy", "--keepdims", "-o", "-"]).output().unwrap();
    assert_eq!(NpyFile::new(&output.stdout[..]).unwrap().shape(), [1, 1]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.ends_with("GB/s of input\nfiles: -\nindex 3 at [1, 0]: 7\n"), "{told}");
    // Kept axes of one output each are axes.
    folder.fail(&["argmax", "b1.npy", "--axes", "1,2"], "--output labels.npy: there already");
    folder.run(&["argmax", "b1.npy", "--axes", "1,2", "--force"]);
    assert_eq!(folder.indices("labels.npy"), ("'<i8'".into(), vec![1], vec![2]));
}

/// Units of `--chunk`: as many bytes, so the same answer in as many pieces.
#[test]
fn chunks_with_units() {
    let folder = Folder::new().with("in.npy", u1("(5000,)", &[7; 5000]));
    let told = |chunk: &str| folder.run(&["argmax", "in.npy", "--chunk", chunk]);
    for chunk in ["1", "5000", "2K", "2k", "2KiB", "1M", "1m", "1MiB", "1G", "1GiB"] {
        assert_eq!(told(chunk), "index 0 at [0]: 7\n", "{chunk}");
    }
}

#[test]
fn the_smallest_index_type() {
    for (shape, count, descr, index) in [
        ("(256, 1)", 256, "'|u1'", 255),
        ("(257, 1)", 257, "'<u2'", 256),
        ("(65536,)", 65536, "'<u2'", 65535),
        ("(65537,)", 65537, "'<u4'", 65536),
        // The axis counts that is reduced, and not the other.
        ("(1, 65537)", 65537, "'|u1'", 0),
    ] {
        let mut data = vec![0; count];
        data[count - 1] = 1;
        for order in ["False", "True"] {
            let folder = Folder::new().with("in.npy", npy(1, "'|u1'", order, shape, &data));
            folder.run(&["argmax", "in.npy", "--axes", "0", "--index-type", "auto", "-o", "labels.npy"]);
            let (found, _, indices) = folder.indices("labels.npy");
            assert_eq!((found.as_str(), indices.last()), (descr, Some(&index)), "{shape} {order}");
        }
    }
    let folder = Folder::new().with("in.npy", u1("(257,)", &[0; 257])).with("empty.npy", u1("(0, 300)", &[]));
    folder.fail(&["argmax", "in.npy", "--index-type", "u8"], "256");
    folder.fail(&["argmax", "in.npy", "--index-type", "u8"], "; --index-type auto is the smallest that holds them all");
    // Where there is no index, all fit.
    folder.run(&["argmax", "empty.npy", "--axes", "1", "--index-type", "auto"]);
    assert_eq!(folder.indices("labels.npy"), ("'|u1'".into(), vec![0], vec![]));
}

/// Column-major, by counting through the positions with the first axis fastest.
fn to_fortran<T: Copy>(sizes: &[usize], elements: &[T]) -> Vec<T> {
    let position = |mut rest: usize| {
        let mut at = 0;
        for (axis, size) in sizes.iter().enumerate() {
            at += rest % size * sizes[axis + 1..].iter().product::<usize>();
            rest /= size;
        }
        at
    };
    (0..elements.len()).map(|i| elements[position(i)]).collect()
}

#[test]
fn values_and_pictures() {
    let folder = Folder::new().with("in.npy", u1("(1, 3, 2, 2)", &[5, 1, 9, 0, 4, 8, 9, 7, 6, 2, 3, 7]));
    let wanted = "argmax in.npy --axes 1 --keepdims --values best.npy --picture labels.png";
    folder.run(&wanted.split(' ').collect::<Vec<_>>());
    assert_eq!(folder.names(), ["best.npy", "in.npy", "labels.npy", "labels.png"]);
    assert_eq!(folder.indices("labels.npy").1, [1, 1, 2, 2]);
    assert_eq!(folder.indices("labels.npy").2, [2, 1, 0, 1]);
    assert_eq!(folder.read::<u8>("best.npy"), (vec![1, 1, 2, 2], vec![6, 8, 9, 7]));
    // PASCAL VOC's first colours.
    let [black, maroon, green] = [[0, 0, 0], [128, 0, 0], [0, 128, 0]];
    let file = fs::read(folder.path("labels.png")).unwrap();
    assert_eq!(picture(&file), ((2, 2), vec![green, maroon, black, maroon]));

    #[cfg(unix)]
    for name in ["best.npy", "labels.npy", "labels.png"] {
        // As any other new file, not private as temporary ones are.
        use std::os::unix::fs::PermissionsExt;
        let mode = |name| fs::metadata(folder.path(name)).unwrap().permissions().mode();
        assert_eq!(mode(name), mode("in.npy"), "{name}");
    }
}

#[test]
fn legends() {
    // 25 labels beside a picture of 2 rows and 30 columns: a column for each, as only one fits below another.
    let mut elements = vec![0; 25 * 60];
    (0..25).for_each(|label| elements[label * 60 + label] = 1);
    let folder = Folder::new().with("in.npy", u1("(25, 2, 30)", &elements));
    let draw = ["argmax", "in.npy", "--axes", "0", "--picture"];
    folder.run(&[&draw[..], &["plain.png"]].concat());
    folder.run(&[&draw[..], &["with.png", "--legend", "--force"]].concat());
    let [(size, plain), (wide, drawn)] =
        ["plain.png", "with.png"].map(|name| picture(&fs::read(folder.path(name)).unwrap()));
    assert_eq!((size, wide), ((30, 2), (30 + 25 * CELL.0, CELL.1)));
    let row = |y: u32| &drawn[(y * wide.0) as usize..][..wide.0 as usize];
    assert_eq!([&row(0)[..30], &row(1)[..30]].concat(), plain);
    assert!((2..CELL.1).all(|y| row(y)[..30].iter().all(|&pixel| pixel == [255; 3])));
    // A part of each cell, from its left end: what is drawn there.
    let part = |label: u32, from: u32, width: u32| -> Vec<[u8; 3]> {
        let left = (30 + label * CELL.0 + from) as usize;
        (0..CELL.1).flat_map(|y| row(y)[left..][..width as usize].to_vec()).collect()
    };
    let (swatch, first, second) = (4, 20, 28);
    for label in 0..25 {
        assert_eq!(part(label, swatch + 1, 1)[6], plain[label as usize], "label {label}");
        let [tens, ones] = [label / 10, label % 10];
        let digits =
            if tens > 0 { [first, second].map(|at| part(label, at, 8)) } else { [part(label, first, 8), vec![]] };
        let expected =
            if tens > 0 { [part(tens, first, 8), part(ones, first, 8)] } else { [part(ones, first, 8), vec![]] };
        assert_eq!(digits, expected, "label {label}");
    }
    let digits: std::collections::BTreeSet<_> = (0..10).map(|digit| part(digit, first, 8)).collect();
    assert_eq!(digits.len(), 10);
    // A seven: a line above, and one at the right.
    let seven: Vec<bool> = part(7, first, 6).iter().map(|&pixel| pixel == [0; 3]).collect();
    let expected: Vec<bool> = (0..72).map(|at| (1..11).contains(&(at / 6)) && (at / 6 < 3 || at % 6 > 3)).collect();
    assert_eq!(seven, expected);
    let folder = Folder::new().with("in.npy", u1("(257, 1, 1)", &[0; 257]));
    folder.fail(&[&draw[..], &["p.png", "--legend"]].concat(), "256 indices, and there may be 257");
}

#[test]
fn completions() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&["--completions", shell]);
        let options = ["index-type", "completions"];
        assert!(script.contains("argreduce") && options.iter().all(|option| script.contains(option)), "{shell}");
    }
    folder.fail(&["--completions", "tcsh"], "tcsh");
    folder.fail(&["--completions"], "--completions");
    folder.fail(&["--completions", "bash", "argmax", "in.npy"], "--completions");
    assert!(folder.names().is_empty());
}

/// The instruction set is no matter of the file, and neither is the environment.
#[test]
fn instruction_sets() {
    let folder = Folder::new().with("in.npy", u1("(2,)", &[0, 1]));
    let run = |name: &str, arguments: &[&str]| {
        let output = folder.command(arguments).env("ARGREDUCE_ISA", name).output().unwrap();
        refused(&output, name, &format!("{arguments:?}"));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!told.contains("in.npy") && !told.contains("sample"), "{told}");
        assert_eq!(folder.names(), ["in.npy"]);
        told
    };
    for arguments in [&["argmax", "in.npy"][..], &[]] {
        let told = run("foo", arguments);
        let all = argreduce::Isa::ALL.map(argreduce::Isa::name).join(" ");
        let here: Vec<_> = argreduce::Isa::available().map(argreduce::Isa::name).collect();
        let expected =
            format!("ARGREDUCE_ISA=foo names no ISA: there are {all}, of which this machine has {}\n", here.join(" "));
        assert_eq!(told, format!("argreduce: {expected}"));
        for isa in argreduce::Isa::ALL.into_iter().filter(|isa| !isa.is_available()) {
            let told = run(isa.name(), arguments);
            assert!(told.starts_with(&format!("argreduce: the ISA {isa} is not available here")), "{told}");
        }
    }
    for isa in argreduce::Isa::ALL.into_iter().filter(|isa| !isa.is_available()) {
        run(isa.name(), &["argmax", "in.npy", "--isa", isa.name()]);
    }
    folder.fail(&["argmax", "in.npy", "--isa", "foo"], "neon");
}

#[test]
fn other_writers_and_readers() {
    // Other writers' headers: keys in another order, double quotes, no spaces, Python 2's long integers, bytes behind
    // the end.
    for header in [
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '|u1'}",
        "{\"descr\":\"|u1\",\"fortran_order\":False,\"shape\":(2,3)}      \n",
        " { 'descr' : '|u1' , 'fortran_order' : False , 'shape' : ( 2L , 3L , ) , } ",
    ] {
        let folder = Folder::new().with("in.npy", raw(1, header, &[1, 3, 2, 6, 5, 4, 99, 99]));
        folder.run(&["argmax", "in.npy", "--axes", "1"]);
        assert_eq!(folder.indices("labels.npy").2, [1, 0], "{header}");
    }
    for (arguments, said) in [
        (&["--help"][..], "--axes"),
        (&["-h"], "--axes"),
        (&["--version"], "argreduce "),
        (&["help"], "--axes"),
        (&["help", "argmax"], "--axes"),
        (&["version"], "argreduce "),
    ] {
        let folder = Folder::new();
        assert!(folder.run(arguments).contains(said), "{arguments:?}");
        assert!(folder.names().is_empty());
    }
}

#[test]
fn mistakes_in_the_command() {
    let folder = Folder::new()
        .with("in.npy", u1("(2, 3, 1)", &[0; 6]))
        .with("cube.npy", u1("(2, 2, 2)", &[0; 8]))
        .with("empty.npy", u1("(3, 0)", &[]))
        .with("labels.npy", "an older result");
    fs::create_dir(folder.path("folder")).unwrap();
    for (command, named) in [
        ("argmax absent.npy", "absent.npy"),
        ("argmax folder", "folder"),
        ("argmax", "<FILE>"),
        ("median in.npy", "median"),
        (
            "argmux in.npy",
            "'argmux' for '<FUNCTION>' [possible values: argmin, argmax, argminmax]; did you mean 'argmax'?",
        ),
        ("argmax in.npy more", "more"),
        ("argmax in.npy --colour", "'--colour' found; try --help"),
        ("argmax in.npy --axis 0", "'--axis' found; did you mean '--axes'?"),
        ("argmax in.npy --axes", "--axes"),
        ("argmax in.npy --axes 3", "3"),
        ("argmax in.npy --axes -4", "-4"),
        ("argmax in.npy --axes 99999999999999999999", "99999999999999999999"),
        ("argmax in.npy --axes 1,-2", "-2"),
        ("argmax in.npy --axes 0,,1", "--axes"),
        ("argmax in.npy --axes one", "one"),
        ("argmax in.npy --direction up", "up"),
        ("argmax in.npy --nan maybe", "maybe"),
        ("argmax in.npy --index-type f4", "f4"),
        ("argmax in.npy --chunk 0", "'0' for '--chunk <BYTES>': expected a whole number of bytes from 1 to"),
        ("argmax in.npy --chunk=-1", "'-1'"),
        ("argmax in.npy --chunk 2MB", "'2MB' for '--chunk <BYTES>': expected a whole number of bytes from 1 to"),
        ("argmax in.npy --chunk M", "'M'"),
        ("argmax in.npy --chunk 0K", "; K, M or G may follow, which are powers of 1024"),
        ("argmax in.npy --chunk 99999999999999G", "'99999999999999G'"),
        ("argmax in.npy --chunk 2é", "'2é'"),
        ("argmax in.npy --legend", "--picture"),
        ("argmax in.npy --isa mmx", "mmx"),
        ("argmax empty.npy --axes 1", "empty.npy"),
        ("argmax cube.npy --axes= --picture p.png", "[2, 2, 2]"),
        ("argmax cube.npy --picture p.png", "[]"),
        ("argmax empty.npy --axes= --picture p.png", "[3, 0]"),
        // The last output fails when the others are ready, or has no place at all.
        ("argmax in.npy --axes 2 --picture nowhere/p.png", "nowhere/p.png"),
        ("argmax in.npy --values nowhere/best.npy", "nowhere/best.npy"),
        ("argmax in.npy --axes 2 --picture folder", "folder"),
        ("argmax in.npy --axes 2 --picture in.npy/p.png", "in.npy/p.png"),
        ("argmax in.npy --values best.npy --picture ..", "picture"),
        ("argmax in.npy --axes 2 --values labels.npy", "--output labels.npy: this is another output"),
        ("argmax in.npy --axes 2 --values ./labels.npy", "--output labels.npy: this is another output"),
        ("argmax in.npy -o labels.npy --values ./labels.npy", "--values ./labels.npy: this is another output"),
        ("argmax in.npy -o new.npy --values folder/../new.npy", "folder/../new.npy"),
    ] {
        // Not even where it may, does a mistake touch the older result.
        let command = format!("--force {command}");
        folder.fail(&command.split(' ').collect::<Vec<_>>(), named);
    }
    // A name cannot break the line.
    folder.fail(&["argmax", "two\nlines"], "two lines");
    folder.fail(&["two\nlines", "in.npy"], "two lines");
}

#[test]
fn files_that_are_not_arrays() {
    let good = u1("(4,)", &[1, 2, 3, 4]);
    let check = |bytes: &[u8], named: &str| {
        Folder::new().with("in.npy", bytes).fail(&["argmax", "in.npy"], "in.npy: ");
        Folder::new().with("in.npy", bytes).fail(&["argmax", "in.npy"], named);
    };
    for end in 0..good.len() {
        check(&good[..end], "ends");
    }
    check(b"", "ends");
    check(b"PK\x03\x04 an archive", "an archive, as .npz is, and not a .npy file: extract the array");
    check(b"PK\x05\x06\0\0\0\0", "an archive");
    check(b"\x89PNG\r\n\x1a\n and more", "not a .npy file");
    // Too short for a header, and yet something else.
    for text in [&b"hi"[..], b"1,2,3\n", b"\x93NUMPI", b"\n", b"P"] {
        check(text, "in.npy: not a .npy file");
    }
    check(b"\x93NUM", "in.npy: the file ends within its header");
    check(&npy(4, "'|u1'", "False", "(1,)", &[1]), "[4, 0]");
    // Headers that are not headers.
    for (header, named) in [
        ("", "{"),
        ("\0\0\0\0", "{"),
        ("[1, 2]", "[1, 2]"),
        ("{'descr': '|u1', 'shape': (1,), }", "fortran_order"),
        ("{'descr': '|u1', 'fortran_order': False, }", "shape"),
        ("{'fortran_order': False, 'shape': (1,), }", "descr"),
        ("{'descr': '|u1', 'fortran_order': 0, 'shape': (1,), }", "True or False where it has \"0\""),
        ("{'descr': None, 'fortran_order': False, 'shape': (1,), }", "a dtype in quotes where it has \"None\""),
        ("{'descr': ')]', 'fortran_order': False, 'shape': (1,), }", "dtype ')]' is none of f2 f4"),
        ("{descr: '|u1', 'fortran_order': False, 'shape': (1,), }", "a key in quotes where it has \"descr\""),
        ("{'descr': '|u1' 'shape': (1,), }", "} where it has \"'shape'\""),
        ("{'descr'}", ": where it has \"}\""),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'more': 1}", "more"),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} more", "more"),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }", "-1"),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (1.5,), }", ".5"),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': 7, }", "7"),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (1", ""),
        ("{'descr': '|u", ""),
    ] {
        check(&raw(1, header, &[1]), named);
    }
    check(&raw(1, &"[".repeat(60_000), &[1]), "[");
    check(&raw(2, &"{'descr': [(".repeat(100_000), &[1]), "structured");
    let mut endless = raw(3, "{", &[1]);
    endless[8..12].fill(0xff);
    check(&endless, "header");
    let mut latin = good.clone();
    latin[20] = 0xe9;
    check(&latin, "text");
    // Shapes that are too much for the file, the memory or the arithmetic.
    for (shape, named) in [
        ("(5,)", "4 of 5 elements"),
        ("(1000000000000,)", "4 of 1000000000000 elements"),
        ("(4294967296, 4294967296)", "4294967296"),
        ("(0, 4294967296, 4294967296)", "4294967296"),
        ("(18446744073709551615,)", "18446744073709551615"),
        ("(18446744073709551616,)", "size 18446744073709551616 is too large: at most 18446744073709551615"),
        ("(99999999999999999999,)", "99999999999999999999"),
        ("(0, 2L, x)", "a size where it has \"x\""),
        ("(0, ())", "a size where it has \"()\""),
        ("[2, 3]", "( where it has \"[2, 3]\""),
        ("(1, 1, 1, 1, 1, 1, 1, 1, 1)", "9"),
    ] {
        for order in ["False", "True"] {
            check(&npy(1, "'|u1'", order, shape, &[0; 4]), named);
        }
    }
    check(&npy(1, "'<f8'", "False", "(2305843009213693953,)", &[0; 8]), "");
    // Elements that are not among the twelve kinds.
    for descr in [
        "'<c8'",
        "'<f16'",
        "'|O'",
        "'<U3'",
        "'|S3'",
        "'|V2'",
        "'<M8[ns]'",
        "'<m8[s]'",
        "'<i3'",
        "'<f3'",
        "'x'",
        "''",
        "'é'",
    ] {
        let named = format!("dtype {descr} is none of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 and bool");
        check(&npy(3, descr, "False", "(1,)", &[0; 64]), &named);
    }
    // Quoted to its end, or as much as a line can take.
    for (descr, quoted) in [
        ("[('a', '<f4')]", "[('a', '<f4')]"),
        ("[('a]', '|u1'), ('b', '|u1')]", "[('a]', '|u1'), ('b', '|u1')]"),
        ("('|u1', (2,))", "('|u1', (2,))"),
        ("[('a long name', '|u1'), ('another', '|u1')]", "[('a long name', '|u1'), ('ano..."),
    ] {
        let named = format!("dtype {quoted} is structured, and so none of f2 f4 f8");
        check(&npy(1, descr, "False", "(1,)", &[0; 2]), &named);
    }
    check(&npy(1, "'|b1'", "False", "(3,)", &[0, 1, 7]), "7");
}
