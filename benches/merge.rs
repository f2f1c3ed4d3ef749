//! How fast partial answers are merged, beside copying: `Merge::arrays` of n values and n indices, and the copy of n
//! values and n indices from one place to another, for every type of elements and indices. What is printed is the speed
//! of merging as a part of the speed of copying: in bytes read and written, of which merging has three (it reads both
//! sides) where copying has two; and in partials, which is two thirds of it. At half of it beyond the L2 cache, merging
//! costs no more than reading one side again.
//!
//! `cargo bench --bench merge`, with words of which one has to be in a line, if not all lines are wanted:
//! `cargo bench --bench merge -- f16`. `ARGREDUCE_ISA` names the instruction set.

use argreduce::{DataType, Element, Index, Merge, Partial, ReduceFunction, with_element_type};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes of both sides together: in the L2 cache, and beyond it.
const SIZES: [(&str, usize); 3] = [("L2", 400 << 10), ("L3", 12 << 20), ("DRAM", 256 << 20)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    println!("{:<32}{:>24}{:>24}", "merging as a part of copying", "arrays: bytes, partials", "structs: the same");
    for data_type in DataType::ALL {
        macro_rules! each_index {
            ($($I:ident)+) => {$(
                for (name, bytes) in SIZES {
                    let line = format!("{name} {data_type} {}", stringify!($I));
                    if words.is_empty() || words.iter().all(|word| line.split(' ').any(|part| part == word)) {
                        let [arrays, structs] = with_element_type!(data_type, T => ratios::<T, $I>(bytes));
                        let [arrays_bytes, structs_bytes] = [1.5 * arrays, 1.5 * structs];
                        println!("{line:<32}{arrays_bytes:>14.2}{arrays:>10.2}{structs_bytes:>14.2}{structs:>10.2}");
                    }
                }
            )+};
        }
        each_index!(u8 u16 u32 u64);
    }
}

/// The speeds of merging arrays and structs, as parts of the speed of copying.
fn ratios<T: Element, I: Index>(bytes: usize) -> [f64; 2] {
    let n = bytes / 2 / (size_of::<T>() + size_of::<I>());
    let index = |n: usize| I::at((n % 100) as isize, 0, 0);
    let (mut values, mut indices): (Vec<T>, Vec<I>) = (vec![T::default(); n], (0..n).map(index).collect());
    let (other_values, other_indices): (Vec<T>, Vec<I>) =
        (vec![T::default(); n], (0..n).map(|n| index(n.wrapping_mul(7))).collect());
    let merge = Merge::new(ReduceFunction::ArgMax);
    let copying = time(|| {
        black_box(&mut values).copy_from_slice(black_box(&other_values));
        black_box(&mut indices).copy_from_slice(black_box(&other_indices));
    });
    let arrays = time(|| {
        let (values, indices) = (black_box(&mut values), black_box(&mut indices));
        merge.arrays(values, indices, &other_values, &other_indices).unwrap();
    });
    let pair = |(value, index): (&T, &I)| Partial { value: *value, index: *index };
    let mut acc: Vec<Partial<T, I>> = values.iter().zip(&indices).map(pair).collect();
    let other: Vec<Partial<T, I>> = other_values.iter().zip(&other_indices).map(pair).collect();
    let copying_structs = time(|| black_box(&mut acc).copy_from_slice(black_box(&other)));
    let structs = time(|| merge.partials(black_box(&mut acc), &other).unwrap());
    [copying.as_secs_f64() / arrays.as_secs_f64(), copying_structs.as_secs_f64() / structs.as_secs_f64()]
}

/// The shortest of many.
fn time(mut run: impl FnMut()) -> Duration {
    let (mut shortest, start) = (Duration::MAX, Instant::now());
    for n in 0.. {
        let before = Instant::now();
        run();
        shortest = shortest.min(before.elapsed());
        if n >= 3 && start.elapsed() > Duration::from_millis(30) {
            break;
        }
    }
    shortest
}
