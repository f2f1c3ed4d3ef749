//! What both at once cost: the time of a call for the smallest and the largest, as how many times that of one for the
//! largest alone, in one process: of indices, and of indices and values. And a row beside the crate argminmax, as how
//! many times its speed.
//!
//! `cargo bench --bench both`, with words all of which have to be in a line, if not all lines are wanted:
//! `cargo bench --bench both -- f32 rows`. `ARGREDUCE_ISA` names the instruction set of both calls; argminmax takes
//! the widest that it has.

mod common;

use argminmax::ArgMinMax;
use argreduce::{ArgReduce, Element, Layout};
use bytemuck::Pod;
use common::{layout, random, time};
use half::f16;
use std::hint::black_box;

/// Sizes, axes, and whether axes are in the opposite order in memory.
type Shape = (&'static str, fn(usize) -> Vec<usize>, &'static [isize], bool);

const SHAPES: [Shape; 9] = [
    ("row", |len| vec![len], &[0], false),
    ("rows", |len| vec![len / 1000, 1000], &[1], false),
    ("rows-100", |len| vec![len / 100, 100], &[1], false),
    ("short-rows", |len| vec![len / 10, 10], &[1], false),
    ("columns", |len| vec![len / 1000, 1000], &[0], false),
    ("label-map", |len| vec![21, len / 21], &[0], false),
    ("narrow-columns", |len| vec![len / 60, 20, 3], &[1], false),
    ("fortran", |len| vec![100, len / 100], &[0, 1], true),
    ("images", |len| vec![len / 12_288, 3, 64, 64], &[0, 2, 3], false),
];

/// Bytes of the input: in the L1 cache, in L2, and beyond all.
const SIZES: [(&str, usize); 3] = [("L1", 24 << 10), ("L2", 256 << 10), ("DRAM", 384 << 20)];

/// Of a row.
const BESIDE: [(&str, usize); 4] =
    [("4-KiB", 4 << 10), ("32-KiB", 32 << 10), ("256-KiB", 256 << 10), ("1-MiB", 1 << 20)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_wanted = |line: &str| words.iter().all(|word| line.split(' ').any(|part| part == word));
    let print = |line: &str, ratios: &[f64]| {
        println!("{line:<16}{}", ratios.iter().map(|ratio| format!("{ratio:>12.2}")).collect::<String>());
    };
    macro_rules! beside_one {
        ($($t:ident)+) => {$(
            for shape in SHAPES {
                let line = format!("{} {}", stringify!($t), shape.0);
                if is_wanted(&line) {
                    let of = |has_values| SIZES.map(|(_, bytes)| of_one::<$t>(shape, bytes, has_values));
                    print(&line, &[of(false), of(true)].concat());
                }
            }
        )+};
    }
    let columns =
        ["", " values"].map(|what| SIZES.map(|(size, _)| format!("{:>12}", format!("{size}{what}"))).concat());
    println!("{:<16}{}", "times one alone", columns.concat());
    beside_one!(u8 i16 f16 f32 f64 i64);
    macro_rules! beside_argminmax {
        ($($t:ident)+) => {$(
            let line = format!("{} argminmax", stringify!($t));
            if is_wanted(&line) {
                print(&line, &BESIDE.map(|(_, bytes)| {
                    let data: Vec<$t> = random(bytes / size_of::<$t>());
                    let layout = Layout::contiguous(&[data.len()]).unwrap();
                    let plan = ArgReduce::argminmax(&layout).all_axes().plan_both::<$t, i64>().unwrap();
                    let (mut min, mut max) = ([0], [0]);
                    let theirs = time(|| black_box(&data[..]).argminmax());
                    let ours = time(|| plan.run(black_box(&data), [&mut min, &mut max]).unwrap());
                    theirs.as_secs_f64() / ours.as_secs_f64()
                }));
            }
        )+};
    }
    println!("{:<16}{}", "of argminmax's", BESIDE.map(|(size, _)| format!("{size:>12}")).concat());
    beside_argminmax!(u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64);
}

/// The time of both, as how many times that of the largest alone.
fn of_one<T: Element + Pod>((_, sizes, axes, is_reversed): Shape, bytes: usize, has_values: bool) -> f64 {
    let sizes = sizes(bytes / size_of::<T>());
    if sizes.contains(&0) {
        return f64::NAN;
    }
    let layout = layout(&sizes, is_reversed);
    let data: Vec<T> = random(layout.element_count());
    let both = ArgReduce::argminmax(&layout).axes(axes).plan_both::<T, i64>().unwrap();
    let one = ArgReduce::argmax(&layout).axes(axes).plan::<T, i64>().unwrap();
    let outputs = both.output_layout().required_len();
    let (mut min, mut max) = (vec![0; outputs], vec![0; outputs]);
    let [mut lowest, mut highest] = [vec![T::default(); outputs], vec![T::default(); outputs]];
    let [of_both, of_one] = if has_values {
        let of_both = || both.run(black_box(&data), [(&mut min, &mut lowest), (&mut max, &mut highest)]).unwrap();
        [time(of_both), time(|| one.run(black_box(&data), (&mut max, &mut highest)).unwrap())]
    } else {
        [
            time(|| both.run(black_box(&data), [&mut min, &mut max]).unwrap()),
            time(|| one.run(black_box(&data), &mut max).unwrap()),
        ]
    };
    of_both.as_secs_f64() / of_one.as_secs_f64()
}
