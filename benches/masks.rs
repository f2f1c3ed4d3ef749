//! What a mask costs: the speed of a call under a mask as a part of that of the same call without one, in one process;
//! by bits and by bytes, in the order of the input or broadcast, at several densities. And a row under a bitmap beside
//! the crate argminmax, as how many times its speed.
//!
//! `cargo bench --bench masks`, with words all of which have to be in a line, if not all lines are wanted:
//! `cargo bench --bench masks -- f32 rows`. `ARGREDUCE_ISA` names the instruction set of both calls; argminmax takes
//! the widest that it has.

mod common;

use argminmax::ArgMinMaxMasked;
use argreduce::{ArgReduce, Element, Layout, Mask};
use bytemuck::Pod;
use common::{layout, random, time};
use half::f16;
use std::hint::black_box;

/// Sizes, axes, and whether axes are in the opposite order in memory.
type Shape = (&'static str, fn(usize) -> Vec<usize>, &'static [isize], bool);

const SHAPES: [Shape; 7] = [
    ("row", |len| vec![len], &[0], false),
    ("rows", |len| vec![len / 1000, 1000], &[1], false),
    ("columns", |len| vec![len / 1000, 1000], &[0], false),
    ("short-rows", |len| vec![len / 10, 10], &[1], false),
    ("narrow-columns", |len| vec![len / 60, 20, 3], &[1], false),
    ("fortran", |len| vec![100, len / 100], &[0, 1], true),
    ("images", |len| vec![len / 12_288, 3, 64, 64], &[0, 2, 3], false),
];

/// Bytes of the input: in the L2 cache, and beyond all.
const SIZES: [(&str, usize); 2] = [("L2", 192 << 10), ("DRAM", 96 << 20)];

const DENSITIES: [&str; 6] = ["0", "1", "50", "99", "100", "runs"];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_wanted = |line: &str| words.iter().all(|word| line.split(' ').any(|part| part == word));
    println!("{:<34}{}", "of the speed without a mask", DENSITIES.map(|density| format!("{density:>7}")).concat());
    macro_rules! without {
        ($($t:ident)+) => {$(
            for (size, bytes) in SIZES {
                let of = |shape| ["bits", "bools", "broadcast"].map(|format| (shape, format));
                for (shape, format) in SHAPES.iter().flat_map(of) {
                    let line = format!("{} {size} {} {format}", stringify!($t), shape.0);
                    if is_wanted(&line) {
                        let ratios = ratios::<$t>(*shape, bytes, format);
                        println!("{line:<34}{}", ratios.map(|ratio| format!("{ratio:>7.2}")).concat());
                    }
                }
            }
        )+};
    }
    without!(u8 i16 f16 f32 f64 i64);
    println!("{:<34}{:>7}{}", "ns", "none", DENSITIES.map(|density| format!("{density:>7}")).concat());
    let small = [(vec![16], 0), (vec![64], 0), (vec![64, 64], 1), (vec![64, 64], 0)];
    for ((sizes, axis), format) in small.iter().flat_map(|shape| ["bits", "bools"].map(|format| (shape, format))) {
        let line = format!("f32 small {sizes:?} {axis} {format}");
        if is_wanted(&line) {
            let (layout, n) = (Layout::contiguous(sizes).unwrap(), sizes.iter().product());
            let (data, plan) = (random::<f32>(n), ArgReduce::argmax(&layout).axes(&[*axis]).fill(-1));
            let plan = plan.plan::<f32, i64>().unwrap();
            let mut indices = vec![0; plan.output_layout().required_len()];
            let mut ns = vec![time(|| plan.run(black_box(&data), &mut indices).unwrap())];
            ns.extend(DENSITIES.map(|density| {
                let there = mask(density, n);
                let bits = bits(&there);
                let mask = if format == "bits" { Mask::bits(&bits, 0) } else { Mask::bools(&there) };
                time(|| plan.run(argreduce::input(black_box(&data)).masked(black_box(mask)), &mut indices).unwrap())
            }));
            println!("{line:<34}{}", ns.iter().map(|time| format!("{:>7.0}", time.as_nanos())).collect::<String>());
        }
    }
    println!("{:<34}{}", "of argminmax's speed", DENSITIES.map(|density| format!("{density:>7}")).concat());
    for bytes in [4 << 10, 64 << 10, 192 << 10, 1 << 20, 96 << 20] {
        macro_rules! beside {
            ($($t:ident)+) => {$(
                let line = format!("{} argminmax {} KiB", stringify!($t), bytes >> 10);
                if is_wanted(&line) {
                    let n = bytes / size_of::<$t>();
                    let data: Vec<$t> = random(n);
                    let ratios = DENSITIES.map(|density| {
                        let bits = bits(&mask(density, n));
                        let plan = ArgReduce::argmax(&Layout::contiguous(&[n]).unwrap()).all_axes().fill(-1);
                        let plan = plan.plan::<$t, i64>().unwrap();
                        let mut index = [0];
                        let theirs = time(|| black_box(&data[..]).argmax_masked(black_box(&bits), 0));
                        let bitmap = Mask::bits(black_box(&bits), 0);
                        let ours = time(|| plan.run(argreduce::input(&data).masked(bitmap), &mut index).unwrap());
                        theirs.as_secs_f64() / ours.as_secs_f64()
                    });
                    println!("{line:<34}{}", ratios.map(|ratio| format!("{ratio:>7.2}")).concat());
                }
            )+};
        }
        beside!(u8 i16 f32 f64 i64);
    }
}

/// The speeds under masks of all densities, as parts of the speed without one.
fn ratios<T: Element + Pod>((_, sizes, axes, is_reversed): Shape, bytes: usize, format: &str) -> [f64; 6] {
    let sizes = sizes(bytes / size_of::<T>());
    let layout = layout(&sizes, is_reversed);
    let data: Vec<T> = random(layout.element_count());
    let plan = ArgReduce::argmax(&layout).axes(axes).fill(-1).plan::<T, i64>().unwrap();
    let mut indices = vec![0; plan.output_layout().required_len()];
    let without = time(|| plan.run(black_box(&data), &mut indices).unwrap());
    DENSITIES.map(|density| {
        // Along the last axis alone, for all others.
        let last = sizes[sizes.len() - 1];
        let there = mask(density, if format == "broadcast" { last } else { data.len() });
        let (bits, one) = (bits(&there), Layout::contiguous(&[last]).unwrap().broadcast(&sizes).unwrap());
        let mask = match format {
            "bits" => Mask::bits(&bits, 0),
            // In the order of the input's memory.
            "bools" => Mask::strided(&there, &layout),
            _ => Mask::strided(&there, &one),
        };
        let under =
            time(|| plan.run(argreduce::input(black_box(&data)).masked(black_box(mask)), &mut indices).unwrap());
        without.as_secs_f64() / under.as_secs_f64()
    })
}

/// What is there: so many of a hundred, or runs of a thousand.
fn mask(density: &str, len: usize) -> Vec<bool> {
    match density.parse::<u8>() {
        Ok(percent) => {
            random::<u16>(len).into_iter().map(|n| (n & 0xff) as u32 * 100 < u32::from(percent) * 256).collect()
        }
        Err(_) => (0..len).map(|n| n / 1000 % 2 == 0).collect(),
    }
}

fn bits(there: &[bool]) -> Vec<u8> {
    there.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect()
}
