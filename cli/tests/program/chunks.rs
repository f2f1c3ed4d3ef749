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

/// Masks of a tensor of sizes 4, 3 and 5: their own sizes, and whether they are in Fortran order.
const MASKS: [Option<(&[usize], bool)>; 8] = [
    None,
    Some((&[4, 3, 5], false)),
    Some((&[4, 3, 5], true)),
    None,
    Some((&[5], false)),
    Some((&[3, 1], false)),
    Some((&[4, 1, 5], true)),
    Some((&[], false)),
];

/// Every set of axes of a tensor, in both orders, from a file and from a pipe, under masks, for one function and both.
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
            let folder = Folder::new().with("in.npy", file("'<f4'", &sizes, is_fortran, &elements, f32::to_le_bytes));
            // From one element to all, from one output to all.
            for chunk in ["1", "5", "13", "25", "50", "100", "4000"] {
                case += 1;
                let (command, functions) =
                    [("argmin", &["argmin"][..]), ("argmax", &["argmax"]), ("argminmax", &["argmin", "argmax"])]
                        [case % 3];
                let (direction, is_first) = if case % 5 < 3 { ("increasing", true) } else { ("decreasing", false) };
                let (nan, propagates) = if case % 4 < 2 { ("propagate", true) } else { ("ignore", false) };
                let list: Vec<String> = axes.iter().map(usize::to_string).collect();
                let list = format!("--axes={}", list.join(","));
                let options = ["--direction", direction, "--nan", nan, "--chunk", chunk, &list, "--force"];
                let more = if case % 11 == 0 { "--bench" } else { "--keepdims" };
                let (index_type, fill) =
                    [("i32", -1), ("i64", -9), ("u8", 200), ("u16", 60), ("auto", 70_000), ("u64", 61)][case % 6];
                let outputs = ["-o", "{}.npy", "--index-type", index_type, "--values", "{}.best.npy", more];
                let mut mask_options = Vec::new();
                let mut there = vec![true; elements.len()];
                if let Some((own, is_fortran)) = MASKS[case % MASKS.len()] {
                    // None is there of some outputs, whatever they are of.
                    let mask: Vec<bool> =
                        (0..own.iter().product::<usize>()).map(|n| n == 0 || (n * n / 3 + case) % 3 == 0).collect();
                    there = (0..elements.len()).map(|place| mask[broadcast(&sizes, own, place)]).collect();
                    let dtype = if case % 2 == 0 { "'|b1'" } else { "'|u1'" };
                    let byte = |is_there| [if is_there && case % 2 == 1 { 200 } else { u8::from(is_there) }];
                    fs::write(folder.path("mask.npy"), file(dtype, own, is_fortran, &mask, byte)).unwrap();
                    mask_options.extend(["--mask".to_string(), "mask.npy".into(), format!("--fill={fill}")]);
                }
                for input in ["in.npy", "-"] {
                    let mut command = folder.command(&[&[command, input], &options[..], &outputs[..]].concat());
                    // Standard input is a pipe, not the file.
                    command.args(&mask_options);
                    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
                    let mut child = command.spawn().unwrap();
                    let mut stdin = child.stdin.take().unwrap();
                    if input == "-" {
                        stdin.write_all(&fs::read(folder.path("in.npy")).unwrap()).unwrap();
                    }
                    drop(stdin);
                    let context = format!("{command:?}, Fortran {is_fortran}");
                    assert!(child.wait().unwrap().success(), "{context}");
                    for function in functions {
                        let better = |(a, i): (f32, usize), (b, j): (f32, usize)| {
                            let is_max = *function == "argmax";
                            let numbers = if is_max { a.partial_cmp(&b) } else { b.partial_cmp(&a) };
                            let order = numbers.unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
                            let order = if numbers.is_none() && !propagates { order.reverse() } else { order };
                            order.then(if is_first { j.cmp(&i) } else { i.cmp(&j) }) == Ordering::Greater
                        };
                        let best = answer(&sizes, &axes, (&elements, &there), better);
                        let indices: Vec<i64> =
                            best.iter().map(|best| best.map_or(fill, |best| best.1 as i64)).collect();
                        assert_eq!(folder.indices(&format!("{function}.npy")).2, indices, "{context}");
                        let found = folder.read::<f32>(&format!("{function}.best.npy")).1.into_iter();
                        let values = best.iter().map(|best| best.map_or(f32::NAN, |best| best.0).to_bits());
                        assert!(found.map(f32::to_bits).eq(values), "{context}");
                    }
                }
            }
        }
    }
}

/// A file of elements that are given in C order.
fn file<T: Copy, const N: usize>(
    dtype: &str,
    sizes: &[usize],
    is_fortran: bool,
    elements: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> Vec<u8> {
    let elements = if is_fortran { crate::to_fortran(sizes, elements) } else { elements.to_vec() };
    let data: Vec<u8> = elements.into_iter().flat_map(bytes).collect();
    let shape: String = sizes.iter().map(|size| format!("{size}, ")).collect();
    npy(1, dtype, if is_fortran { "True" } else { "False" }, &format!("({shape})"), &data)
}

/// Which element is at this place in an array that broadcasts to these sizes.
fn broadcast(sizes: &[usize], own: &[usize], place: usize) -> usize {
    let mut rest = sizes.iter().product::<usize>();
    let missing = sizes.len() - own.len();
    sizes.iter().enumerate().fold(0, |number, (axis, size)| {
        rest /= size;
        let at = place / rest % size;
        axis.checked_sub(missing).map_or(0, |axis| number * own[axis] + if own[axis] == 1 { 0 } else { at })
    })
}

/// By trying every element that is there: the best ones in C order of the outputs, and their indices.
fn answer(
    sizes: &[usize],
    axes: &[usize],
    (elements, there): (&[f32], &[bool]),
    better: impl Fn((f32, usize), (f32, usize)) -> bool,
) -> Vec<Option<(f32, usize)>> {
    // Row-major over some of the axes.
    let number = |place: usize, counts: &dyn Fn(usize) -> bool| {
        let mut rest = elements.len();
        sizes.iter().enumerate().fold(0, |number, (axis, size)| {
            rest /= size;
            if counts(axis) { number * size + place / rest % size } else { number }
        })
    };
    let mut best: Vec<Option<(f32, usize)>> = Vec::new();
    for (place, &element) in elements.iter().enumerate() {
        let output = number(place, &|axis| !axes.contains(&axis));
        let found = (element, number(place, &|axis| axes.contains(&axis)));
        if output == best.len() {
            best.push(None);
        }
        if there[place] && best[output].is_none_or(|best| better(found, best)) {
            best[output] = Some(found);
        }
    }
    best
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
