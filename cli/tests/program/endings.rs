//! What a run leaves behind, however it ends: nothing of the user's is lost, and nothing is there by half.

use crate::{Folder, SAMPLE, refused, u1};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// A file that is there already.
const OLD: &str = "an older result";

fn folder() -> Folder {
    Folder::new().with("in.npy", u1("(3,)", &[1, 3, 2]))
}

#[test]
fn only_force_replaces() {
    let folder = folder().with("labels.npy", OLD).with("best.npy", OLD);
    let named = "labels.npy: there already, and only --force replaces it";
    folder.fail(&words("argmax in.npy --axes="), named);
    // Before the input is read; or, where its header says whether there is such an output, before its elements are.
    folder.fail(&words("argmax - -o labels.npy"), named);
    let mut command = folder.command(&words("argmax - --axes="));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&u1("(3,)", &[])).unwrap();
    refused(&child.wait_with_output().unwrap(), named, "a pipe that stays open behind the header");
    drop(stdin);
    folder.fail(&words("argmax in.npy -o new.npy --values best.npy"), "--values best.npy: there already");
    folder.fail(&words("argmax in.npy -o new.npy --picture ./best.npy"), "--picture ./best.npy: there already");
    folder.run(&words("argmax in.npy -o labels.npy --values best.npy --force"));
    assert_eq!(folder.names(), ["best.npy", "in.npy", "labels.npy"]);
    assert_eq!((folder.indices("labels.npy").2, folder.read("best.npy").1), (vec![1], vec![3_u8]));
}

#[test]
fn a_sample_replaces_nothing() {
    let folder = Folder::new();
    folder.run(&[]);
    let sample = folder.files();
    folder.run(&[]);
    assert!(sample == folder.files(), "once more is the same");
    for name in SAMPLE {
        let good = fs::read(folder.path(name)).unwrap();
        fs::write(folder.path(name), OLD).unwrap();
        folder.fail(&[], &format!("{name}: there already, with other content"));
        fs::remove_file(folder.path(name)).unwrap();
        folder.run(&[]);
        assert!(fs::read(folder.path(name)).unwrap() == good, "{name} is made again");
    }
    let folder = Folder::new().with("argreduce-sample", OLD);
    folder.fail(&[], "argreduce-sample");
}

#[cfg(unix)]
#[test]
fn the_input_is_never_replaced() {
    let folder = folder();
    let path = |name| folder.path(name);
    fs::create_dir(path("folder")).unwrap();
    fs::hard_link(path("in.npy"), path("hard.npy")).unwrap();
    std::os::unix::fs::symlink("in.npy", path("soft.npy")).unwrap();
    std::os::unix::fs::symlink("..", path("folder/up")).unwrap();
    let absolute = path("in.npy").to_str().unwrap().to_string();
    let spellings = ["in.npy", "./in.npy", "hard.npy", "soft.npy", "folder/../in.npy", "folder/up/hard.npy", &absolute];
    for output in spellings {
        for command in [vec!["-o", output], vec!["--values", output], vec!["--picture", output]] {
            for input in spellings.into_iter().chain(["/dev/stdin", "-"]) {
                let mut command = folder.command(&[&["argmax", input, "--axes=", "--force"], &command[..]].concat());
                let told = command.stdin(File::open(path("in.npy")).unwrap()).output().unwrap();
                refused(&told, &format!("{output}: this is an input"), input);
            }
        }
    }
    // Standard output may be the input too, behind its end or over its beginning.
    for append in [true, false] {
        let stdout = File::options().write(true).append(append).open(path("in.npy")).unwrap();
        let told = folder.command(&words("argmax in.npy -o - --force")).stdout(stdout).output().unwrap();
        refused(&told, "--output -: this is an input", "standard output");
    }
    assert_eq!(fs::read(path("in.npy")).unwrap(), u1("(3,)", &[1, 3, 2]));
    assert_eq!(folder.names(), ["hard.npy", "in.npy", "soft.npy"]);
    assert!(path("soft.npy").is_symlink());
}

#[cfg(unix)]
#[test]
fn outputs_and_links() {
    let folder = folder().with("old.npy", OLD).with("other.npy", OLD);
    let path = |name| folder.path(name);
    fs::hard_link(path("old.npy"), path("hard.npy")).unwrap();
    std::os::unix::fs::symlink("old.npy", path("soft.npy")).unwrap();
    std::os::unix::fs::symlink("absent.npy", path("nowhere.npy")).unwrap();
    // No two outputs are one file.
    for other in ["old.npy", "hard.npy", "soft.npy"] {
        folder
            .fail(&["argmax", "in.npy", "-o", "old.npy", "--values", other, "--force"], &format!("--values {other}: "));
    }
    folder.fail(&words("argmax in.npy -o new.npy --values ./new.npy"), "--values ./new.npy: this is another output");
    folder.fail(&words("argmax in.npy -o - --values -"), "--values -: this is another output");
    folder.fail(&words("argmax in.npy -o nowhere.npy --force"), "a link that leads nowhere");
    folder.fail(&words("argmax in.npy -o new.npy/"), "new.npy/: not the name of a file");
    let stdout = File::options().write(true).open(path("old.npy")).unwrap();
    let told = folder.command(&words("argmax in.npy -o - --values old.npy --force")).stdout(stdout).output().unwrap();
    refused(&told, "--values old.npy: this is another output", "standard output");
    assert_eq!(fs::read_to_string(path("old.npy")).unwrap(), OLD);

    // What a link leads to is replaced, and the link stays; another name of the same file keeps the old one.
    folder.run(&words("argmax in.npy -o soft.npy --force"));
    assert!(path("soft.npy").is_symlink());
    assert_eq!(folder.indices("old.npy").2, [1]);
    assert_eq!(fs::read_to_string(path("hard.npy")).unwrap(), OLD);
}

#[test]
fn standard_streams() {
    let folder = folder();
    let (_, report) = folder.run_both(&words("argmax in.npy -o labels.npy --values best.npy"));
    assert!(report.contains("files: labels.npy, best.npy"), "{report}");
    let [labels, best] = ["labels.npy", "best.npy"].map(|name| fs::read(folder.path(name)).unwrap());
    for (command, expected) in [("-o - --values v.npy", labels), ("--values - -o v.npy", best)] {
        let command = format!("argmax - {command}");
        let stdin = File::open(folder.path("in.npy")).unwrap();
        let output = folder.command(&words(&command)).stdin(stdin).output().unwrap();
        assert!(output.status.success() && output.stdout == expected, "{command}: {output:?}");
        assert!(str::from_utf8(&output.stderr).unwrap().contains("files: "), "{output:?}");
        fs::remove_file(folder.path("v.npy")).unwrap();
    }
    // Other names of standard output.
    #[cfg(target_os = "linux")]
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let output = folder.command(&["argmax", "in.npy", "-o", name]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stdout, fs::read(folder.path("labels.npy")).unwrap(), "{name}");
        folder.fail(&["argmax", "in.npy", "-o", name, "--values", "-"], "--values -: this is another output");
    }
    folder.fail(&["argmax", "-", "-o", "new.npy"], "standard input: the file ends");
    let (_, report) = folder.run_both(&words("argmax in.npy -o new.npy --bench"));
    assert!(report.contains("best of 5 runs"), "{report}");
}

/// Bytes on a screen are of no use, and may be commands to it.
#[cfg(target_os = "linux")]
#[test]
fn no_bytes_on_a_terminal() {
    let (terminal, mut master) = crate::chunks::terminal();
    let folder = folder();
    for command in ["argmax in.npy -o -", "argmax in.npy --picture - --axes=", "argmax in.npy -o /dev/stdout"] {
        let output = folder.command(&words(command)).stdout(terminal.try_clone().unwrap()).output().unwrap();
        refused(&output, "standard output is a terminal, and only --force", command);
        assert_eq!(folder.names(), ["in.npy"]);
    }
    let forced = folder.command(&words("argmax in.npy -o - --force")).stdout(terminal).output().unwrap();
    assert!(forced.status.success(), "{forced:?}");
    let mut first = [0; 6];
    master.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"\x93NUMPY");
}

#[cfg(unix)]
#[test]
fn devices_and_pipes() {
    let folder = folder();
    let status = Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(status.success());
    folder.fail(&words("argmax in.npy --values best.npy -o /dev/null"), "/dev/null: not a regular file");
    folder.fail(&words("argmax in.npy --force -o pipe"), "pipe: not a regular file");
    // A link to a pipe leads somewhere, if to nothing with a name.
    #[cfg(target_os = "linux")]
    {
        let program = folder.command(&words("argmax in.npy -o /dev/fd/2"));
        let output = { program }.stderr(Stdio::piped()).output().unwrap();
        refused(&output, "--output /dev/fd/2: not a regular file (- is standard output)", "a link to a pipe");
    }
    let child = folder.command(&words("argmax pipe -o labels.npy")).stdout(Stdio::piped()).spawn().unwrap();
    fs::write(folder.path("pipe"), u1("(4,)", &[1, 2, 4, 3])).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(folder.indices("labels.npy").2, [2]);
    fs::remove_file(folder.path("labels.npy")).unwrap();

    // A pipe that nobody reads, with the report in it or the indices.
    for command in ["argmax in.npy", "argmax in.npy -o - --values best.npy"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = folder.command(&words(command)).stdout(writer).output().unwrap();
        let told = output.stderr.split_inclusive(|&byte| byte == b'\n').next_back().unwrap().to_vec();
        refused(&Output { stderr: told, ..output }, "standard output", command);
        assert_eq!(folder.names(), ["in.npy"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_disks() {
    let folder = folder();
    for arguments in [&[][..], &["argmax", "in.npy"], &["argmax", "in.npy", "-o", "-", "--values", "best.npy"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = folder.command(arguments).stdout(full).output().unwrap();
        let told = output.stderr.split_inclusive(|&byte| byte == b'\n').next_back().unwrap().to_vec();
        refused(&Output { stderr: told, ..output }, "standard output: No space left", "full disk");
        assert_eq!(folder.names(), ["in.npy"]);
        assert!(!folder.path("argreduce-sample").exists());
    }
    let folder = folder.with("in.npy", u1("(10000,)", &[0; 10000]));
    // As much as a user may write: 1 KiB.
    let program = folder.command(&words("argmax in.npy --axes= --values best.npy"));
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 2 && exec \"$@\"", "sh"]).arg(program.get_program()).args(program.get_args());
    refused(&shell.current_dir(folder.path(".")).output().unwrap(), "--output labels.npy: File too large", "ulimit");
    assert_eq!(folder.names(), ["in.npy"]);
    // A disk of 64 KiB, for 80 KiB of indices.
    fs::create_dir(folder.path("disk")).unwrap();
    let disk = "mount -t tmpfs -o size=64k none disk && cd disk && { \"$@\"; code=$?; ls -A >&2; exit $code; }";
    for (arguments, named) in [
        (words("argmax ../in.npy --axes= --values best.npy"), "--output labels.npy: No space left"),
        // The sample needs more than that.
        (vec![], "argreduce-sample/scores.npy: No space left"),
    ] {
        let Some(output) = folder.unshared(disk, &arguments) else { return };
        refused(&output, named, "tmpfs");
    }
}

/// So much output that a pipe cannot hold it: the program waits at standard output, with its files written but not
/// named.
const WAITING: &str = "argmax in.npy --axes= -o - --values best.npy --picture p.png --force";

fn waiting_folder() -> Folder {
    Folder::new().with("in.npy", u1("(100, 200)", &[7; 20000]))
}

/// Waits until the program waits.
fn started(mut command: Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    child
}

#[cfg(target_os = "linux")]
fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn signals_leave_nothing() {
    use std::os::unix::process::ExitStatusExt;
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1), ("-QUIT", 3), ("-KILL", 9)] {
        let folder = waiting_folder().with("best.npy", OLD);
        let before = folder.files();
        let program = folder.command(&words(WAITING));
        // Tests may run where some of them are ignored: in the background, by `nohup`.
        let mut command = Command::new("env");
        command.arg("--default-signal").arg(program.get_program()).args(program.get_args());
        command.current_dir(folder.path("."));
        let mut child = started(command);
        send(signal, &child);
        // As by a signal that was never caught, so that a shell's loop ends too.
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{signal}");
        assert!(before == folder.files(), "{signal} leaves {:?}", folder.names());
    }
}

/// As above, where files have names from the start: without /proc, the program cannot name them later.
#[cfg(target_os = "linux")]
#[test]
fn signals_remove_temporary_files() {
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let folder = waiting_folder().with("best.npy", OLD);
        let before = folder.files();
        let script = format!(
            "mkfifo pipe; mount -t tmpfs none /proc; \"$@\" > pipe 2>/dev/null & exec 3< pipe; head -c 1 <&3 > first; \
             ls -A | grep -c '^\\.tmp' > during; kill -{signal} $!; wait $!; code=$?; rm pipe first; exit $code"
        );
        let Some(output) = folder.unshared(&script, &words(WAITING)) else { return };
        let during = fs::read_to_string(folder.path("during")).unwrap();
        fs::remove_file(folder.path("during")).unwrap();
        assert_eq!(during.trim(), "2", "{output:?}");
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(before == folder.files(), "{signal} leaves {:?}", folder.names());
    }
}

/// What was started to outlive its terminal does.
#[cfg(target_os = "linux")]
#[test]
fn ignored_signals_stay_ignored() {
    let folder = waiting_folder();
    let mut shell = Command::new("sh");
    let program = folder.command(&words(WAITING));
    shell.args(["-c", "trap '' HUP INT; exec \"$@\"", "sh"]).arg(program.get_program()).args(program.get_args());
    shell.current_dir(folder.path("."));
    let mut child = started(shell);
    send("-HUP", &child);
    send("-INT", &child);
    std::thread::sleep(std::time::Duration::from_millis(100));
    let mut rest = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.names(), ["best.npy", "in.npy", "p.png"]);
}

/// The last file is refused when others have their names: these are given back.
#[test]
fn what_was_done_is_undone() {
    let folder = waiting_folder().with("best.npy", OLD);
    let mut expected = folder.files();
    expected.insert("p.png".into(), OLD.into());
    let mut child = started(folder.command(&words(WAITING)));
    fs::write(folder.path("p.png"), OLD).unwrap();
    let mut rest = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(expected == folder.files(), "{:?}", folder.names());
}

/// Whatever the limit, there is an answer or an error.
#[cfg(target_os = "linux")]
#[test]
fn out_of_memory() {
    let limited = |folder: &Folder, kibibytes: usize, arguments: &[&str]| {
        let program = folder.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {kibibytes} && exec \"$@\""), "sh"]);
        shell.arg(program.get_program()).args(program.get_args()).current_dir(folder.path("."));
        shell.output().unwrap()
    };
    let array = Folder::new().with("in.npy", u1("(1000, 2000)", &vec![7; 2_000_000]));
    let command = words("argmax in.npy --axes= --values best.npy --picture p.png --chunk 16777216");
    for (folder, arguments) in [(array, command), (Folder::new(), vec![])] {
        // What the program needs for itself, and a little more.
        let starts = |limit: &usize| limited(&folder, *limit, &["--help"]).status.success();
        let least = (4..).map(|mebibytes| mebibytes << 10).find(starts).unwrap() + 4096;
        let before = folder.names();
        let mut refusals = 0;
        loop {
            let limit = least + (refusals << 8);
            let output = limited(&folder, limit, &arguments);
            if output.status.success() {
                break;
            }
            refused(&output, "memory", &format!("{arguments:?} with {limit} of {least} KiB"));
            assert_eq!(folder.names(), before, "{limit} KiB");
            refusals += 1;
        }
        assert!(refusals > 3, "{arguments:?}: {refusals} refusals from {least} KiB");
    }
}

impl Folder {
    /// Runs a script with the program and its arguments as `$@`, where it may mount. None if this system does not
    /// allow it.
    #[cfg(target_os = "linux")]
    fn unshared(&self, script: &str, arguments: &[&str]) -> Option<Output> {
        let probe = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
        if !probe.is_ok_and(|output| output.status.success()) {
            eprintln!("not tested: `unshare -rm mount` is not allowed here");
            return None;
        }
        let program = self.command(arguments);
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script, "sh"]).arg(program.get_program()).args(program.get_args());
        Some(command.current_dir(self.path(".")).stdin(Stdio::null()).output().unwrap())
    }
}
