//! That the guards guard: each access beyond a slice, done in a process of its own, ends that process by a signal.
#![cfg(unix)]

use argreduce_guard::{Edge, Guarded};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

const ACCESS: &str = "ARGREDUCE_GUARD_ACCESS";

/// An access `offset` bytes from the start of a guarded slice of `bytes` bytes.
fn access(bytes: usize, edge: Edge, offset: isize, is_write: bool) {
    // The second of two, in memory that was used before.
    drop(Guarded::filled(1_u8, 2 * bytes, edge));
    let mut guarded = Guarded::filled(7_u8, bytes, edge);
    let at = guarded.as_mut_ptr().wrapping_offset(offset);
    // SAFETY: none: within the slice this is what may be done, and beyond it what has to fail.
    unsafe { if is_write { at.write_volatile(9) } else { assert_eq!(at.read_volatile(), 7) } }
}

#[test]
fn one_byte_too_far_ends_the_process() {
    let names = ["start", "end"];
    if let Ok(asked) = std::env::var(ACCESS) {
        let words: Vec<&str> = asked.split(' ').collect();
        let edge = Edge::ALL[names.iter().position(|name| *name == words[1]).unwrap()];
        return access(words[0].parse().unwrap(), edge, words[2].parse().unwrap(), words[3] == "write");
    }
    for bytes in [1, 24, 4096, 16384, 100_000] {
        for (edge, within, beyond) in [(0, 0, -1), (1, bytes - 1, bytes)] {
            for (offset, is_fault) in [(within, false), (beyond, true)] {
                for kind in ["read", "write"] {
                    let asked = format!("{bytes} {} {offset} {kind}", names[edge]);
                    let mut child = Command::new(std::env::current_exe().unwrap());
                    // AddressSanitizer, if this is built with it, would make an exit of the signal.
                    child.env(ACCESS, &asked).env("ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0");
                    let output = child.output().unwrap();
                    assert_eq!(output.status.signal().is_some(), is_fault, "{asked}: {output:?}");
                }
            }
        }
    }
}

/// Regions are used again, but not where they are too short.
#[test]
fn slices_of_any_length_one_after_another() {
    for len in [1, 20_000, 3, 100_000, 50_000] {
        for edge in Edge::ALL {
            let elements: Vec<u32> = (1..=len).collect();
            let mut guarded = Guarded::copy_of(&elements, edge);
            assert_eq!(*guarded, *elements);
            guarded.fill(7);
            assert_eq!(*Guarded::filled(7_u32, elements.len(), edge), *guarded);
        }
    }
}
