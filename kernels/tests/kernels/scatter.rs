//! What was found, to places at strides: every size of elements on every ISA, in rows of any length, and nothing
//! between the places or beyond them.

use crate::is_exercised;
use argreduce_guard::{Edge, Guarded, few};
use argreduce_kernels::{Isa, LoopDim, OutputWriter};
use std::fmt::Debug;

/// Loops over places: how far rows are apart, and how far the elements of one, for so many rows of so many elements.
fn strides(rows: usize, len: usize) -> [(isize, isize); 10] {
    let (r, n) = (rows as isize, len as isize);
    [
        (n, 1),
        (n + 3, 1),
        (-n, 1),
        (2 * n, 2),
        (2 * n + 5, 2),
        (3 * n, 3),
        (2 * n, -2),
        // Transposed: packed, with gaps, and against the direction of memory.
        (1, r),
        (1, r + 2),
        (1, -r),
    ]
}

fn check<B: Copy + Default + PartialEq + Debug + TryFrom<u64>>(isa: Isa) {
    let writer = OutputWriter::of(isa).unwrap();
    let lanes = 64 / size_of::<B>();
    for rows in few(1..9, 5).chain([lanes / 2, lanes, lanes + 3]) {
        for len in few(1..2 * lanes + 3, 9).chain([4 * lanes + 1]) {
            let number = |n: usize| B::try_from(n as u64 % 251 + 1).ok().unwrap();
            let found: Vec<B> = (0..rows * len).map(number).collect();
            for (outer, inner) in strides(rows, len) {
                let reach = [(rows - 1) as isize * outer, (len - 1) as isize * inner];
                let (lowest, highest) = (reach.map(|r| r.min(0)), reach.map(|r| r.max(0)));
                let start = -(lowest[0] + lowest[1]);
                let size = (start + highest[0] + highest[1]) as usize + 1;
                let mut expected = vec![B::default(); size];
                for (n, &element) in found.iter().enumerate() {
                    expected[(start + (n / len) as isize * outer + (n % len) as isize * inner) as usize] = element;
                }
                for edge in Edge::ALL {
                    let (found, mut to) = (Guarded::copy_of(&found, edge), Guarded::filled(B::default(), size, edge));
                    let places = [LoopDim { size: rows, stride: outer }, LoopDim { size: len, stride: inner }];
                    let first = to.as_mut_ptr().wrapping_offset(start);
                    // SAFETY: all places are in `to`, from the lowest to the highest.
                    unsafe { writer.scatter(&found, first, places) };
                    assert_eq!(to[..], expected[..], "{isa}: {rows} rows of {len}, strides {outer} and {inner}");
                }
            }
        }
    }
}

#[test]
fn scatters_to_any_strides() {
    for isa in Isa::available() {
        assert!(is_exercised(isa));
        check::<u8>(isa);
        check::<u16>(isa);
        check::<u32>(isa);
        check::<u64>(isa);
    }
}

#[test]
#[should_panic(expected = "1, 2, 4 or 8 bytes")]
fn elements_of_another_size() {
    let mut places = [[0_u8; 3]; 2];
    let rows = [LoopDim { size: 1, stride: 2 }, LoopDim { size: 2, stride: 1 }];
    // SAFETY: all places are in the array.
    unsafe { OutputWriter::PORTABLE.scatter(&[[1; 3]; 2], places.as_mut_ptr(), rows) };
}
