//! How the file is read: in chunks that make no difference to the answer, in little memory, and with a bar if it takes
//! long.

use crate::{Folder, npy, refused, u1};
use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Every set of axes of a tensor, in both orders, from a file and from a pipe.
#[test]
fn chunks_make_no_difference() {
    let sizes = [4, 3, 5];
    // Ties, NaN, both zeros.
    let pool = [2.0, f32::NAN, -0.0, 0.0, 2.0, -3.0, 1.0];
    let elements: Vec<f32> = (0..60_usize).map(|i| pool[(i * i + i / 7) % pool.len()]).collect();
    let mut case = 0;
    for axes in 0_usize..8 {
        let axes: Vec<usize> = (0..3).filter(|axis| axes >> axis & 1 == 1).collect();
        for is_fortran in [false, true] {
            let data = if is_fortran { crate::to_fortran(&sizes, &elements) } else { elements.clone() };
            let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
            let order = if is_fortran { "True" } else { "False" };
            let folder = Folder::new().with("in.npy", npy(1, "'<f4'", order, "(4, 3, 5)", &bytes));
            // From one element to all, from one output to all.
            for chunk in ["1", "5", "13", "25", "50", "100", "4000"] {
                case += 1;
                let (function, is_max) = if case % 2 == 0 { ("argmin", false) } else { ("argmax", true) };
                let (direction, is_first) = if case % 3 == 0 { ("decreasing", false) } else { ("increasing", true) };
                let (nan, propagates) = if case % 4 < 2 { ("propagate", true) } else { ("ignore", false) };
                let list: Vec<String> = axes.iter().map(usize::to_string).collect();
                let list = format!("--axes={}", list.join(","));
                let options = ["--direction", direction, "--nan", nan, "--chunk", chunk, &list, "--force"];
                let more = if case % 11 == 0 { "--bench" } else { "--keepdims" };
                let index_type = ["i32", "i64", "u8", "u16", "auto"][case % 5];
                let outputs = ["-o", "labels.npy", "--index-type", index_type, "--values", "best.npy", more];
                let better = |(a, i): (f32, usize), (b, j): (f32, usize)| {
                    let numbers = if is_max { a.partial_cmp(&b) } else { b.partial_cmp(&a) };
                    let order = numbers.unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
                    let order = if numbers.is_none() && !propagates { order.reverse() } else { order };
                    order.then(if is_first { j.cmp(&i) } else { i.cmp(&j) }) == Ordering::Greater
                };
                let (indices, values) = answer(&sizes, &axes, &elements, better);
                for input in ["in.npy", "-"] {
                    let mut command = folder.command(&[&[function, input], &options[..], &outputs[..]].concat());
                    // Standard input is a pipe, not the file.
                    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
                    let mut child = command.spawn().unwrap();
                    let mut stdin = child.stdin.take().unwrap();
                    if input == "-" {
                        stdin.write_all(&fs::read(folder.path("in.npy")).unwrap()).unwrap();
                    }
                    drop(stdin);
                    let context = format!("{command:?}, Fortran {is_fortran}");
                    assert!(child.wait().unwrap().success(), "{context}");
                    assert_eq!(folder.indices("labels.npy").2, indices, "{context}");
                    let found: Vec<u32> = folder.read("best.npy").1.into_iter().map(f32::to_bits).collect();
                    assert_eq!(found, values, "{context}");
                }
            }
        }
    }
}

/// By trying every element: indices in C order, and the bits of the elements there.
fn answer(
    sizes: &[usize],
    axes: &[usize],
    elements: &[f32],
    better: impl Fn((f32, usize), (f32, usize)) -> bool,
) -> (Vec<i64>, Vec<u32>) {
    // Row-major over some of the axes.
    let number = |place: usize, counts: &dyn Fn(usize) -> bool| {
        let mut rest = elements.len();
        sizes.iter().enumerate().fold(0, |number, (axis, size)| {
            rest /= size;
            if counts(axis) { number * size + place / rest % size } else { number }
        })
    };
    let mut best = Vec::new();
    for (place, &element) in elements.iter().enumerate() {
        let output = number(place, &|axis| !axes.contains(&axis));
        let found = (element, number(place, &|axis| axes.contains(&axis)));
        if output == best.len() {
            best.push(found);
        } else if better(found, best[output]) {
            best[output] = found;
        }
    }
    best.into_iter().map(|(element, index)| (index as i64, element.to_bits())).unzip()
}

/// 2 GiB of zeros that take no room on a disk. Tells where they begin.
fn sparse(folder: &Folder, order: &str) -> u64 {
    let header = npy(1, "'<f8'", order, "(16, 4096, 4096)", &[]);
    let mut file = File::create(folder.path("in.npy")).unwrap();
    file.write_all(&header).unwrap();
    file.set_len(header.len() as u64 + (2 << 30)).unwrap();
    header.len() as u64
}

/// A number of a file in /proc, in KiB or bytes.
fn proc_number(path: impl AsRef<Path>, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |line| line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_depend_on_the_file() {
    for order in ["False", "True"] {
        let folder = Folder::new();
        sparse(&folder, order);
        for (axis, outputs) in [("0", 4096 * 4096), ("1", 16 * 4096), ("2", 16 * 4096)] {
            let mut command = folder.command(&["argmax", "in.npy", "--axes", axis, "-o", "-"]);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // The report comes when all is done but for the indices, which wait until they are read.
            let mut report = Vec::new();
            let stderr = BufReader::new(child.stderr.take().unwrap());
            for byte in stderr.bytes() {
                report.push(byte.unwrap());
                if report.ends_with(b"files: -") {
                    break;
                }
            }
            let peak = proc_number(format!("/proc/{}/status", child.id()), "VmHWM:") << 10;
            let read = std::io::copy(&mut child.stdout.take().unwrap(), &mut std::io::sink()).unwrap();
            assert!(child.wait().unwrap().success());
            assert!(read > 8 * outputs, "{read} bytes");
            // The one case whose outputs are not written as they come.
            let held = if order == "True" { 8 * outputs } else { 0 };
            let context = format!("a peak of {peak} bytes, axis {axis}, Fortran order {order}");
            assert!(peak > 1 << 20, "{context}");
            assert!(peak < (64 << 20) + held, "{context}");
        }
    }
}

/// A file that others cut short in the meantime is an error, not a signal.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_shrinks() {
    let folder = Folder::new();
    let start = sparse(&folder, "False");
    let mut command = folder.command(&["argmax", "in.npy", "--axes", "1"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    while proc_number(format!("/proc/{}/io", child.id()), "rchar:") < 32 << 20 {
        assert!(child.try_wait().unwrap().is_none());
    }
    File::options().write(true).open(folder.path("in.npy")).unwrap().set_len(start + 8000).unwrap();
    refused(&child.wait_with_output().unwrap(), "in.npy: the file ends after 1000 of 268435456 elements", "cut short");
    assert_eq!(folder.names(), ["in.npy"]);
}

/// Work that takes so long, by a pipe that is slow.
fn run_slowly(mut command: Command, pause: Duration) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // What is open in it is open in the child only.
    drop(command);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&u1("(1, 40000)", &[7; 20000])).unwrap();
    thread::sleep(pause);
    stdin.write_all(&[8; 20000]).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

const SLOW: [&str; 6] = ["argmax", "-", "--axes", "1", "--chunk", "1000"];
const LONG: Duration = Duration::from_millis(1300);

/// A terminal, and the other side of it.
#[cfg(target_os = "linux")]
pub fn terminal() -> (File, File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    (File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap(), File::from(master))
}

/// What a terminal is sent.
#[cfg(target_os = "linux")]
fn shown(pause: Duration) -> String {
    let (terminal, master) = terminal();
    let folder = Folder::new();
    let mut command = folder.command(&SLOW);
    command.env("TERM", "xterm").stderr(terminal);
    run_slowly(command, pause);
    assert_eq!(folder.indices("labels.npy").2, [20000]);
    // Ends with an error, because nobody has the terminal open any more.
    let bytes = BufReader::new(master).bytes().map_while(Result::ok).collect();
    String::from_utf8(bytes).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_bar_for_a_terminal() {
    let shown_late = shown(LONG);
    assert!(shown_late.contains(" KiB of 39.06 KiB"), "{shown_late:?}");
    let end = shown_late.rsplit_once(" left").unwrap().1;
    assert!(end.contains("\u{1b}[2K"), "the line is free again: {shown_late:?}");
    assert_eq!(shown(Duration::ZERO), "");
}

#[test]
fn no_bar_elsewhere() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let folder = Folder::new();
    let mut command = folder.command(&SLOW);
    command.stderr(writer);
    run_slowly(command, LONG);
    let mut told = String::new();
    reader.read_to_string(&mut told).unwrap();
    assert_eq!(told, "");
}
