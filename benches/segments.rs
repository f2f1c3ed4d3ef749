//! What an answer of a segment takes, in nanoseconds: a million elements in segments of uniform size, from 1 to twice
//! the mean less one. Beside it, a plain loop, and a call for each segment; of the same plan, the last of equals, under
//! a mask of which 9 of 10 are there, and what it takes to look at the offsets and plan. One thread.
//!
//! `cargo bench --bench segments`, with words all of which have to be in a line, if not all lines are wanted:
//! `cargo bench --bench segments -- f32 4`.

#[allow(dead_code, reason = "layouts are for others")]
mod common;

use argreduce::{ArgReduce, AxisDirection, Element, Mask, Segments, SliceExt, input};
use bytemuck::Pod;
use common::{random, time};
use half::f16;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::hint::black_box;

const ELEMENTS: usize = 1_000_000;

const COLUMNS: [&str; 6] = ["loop", "a call each", "plan", "last", "masked", "planning"];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    println!("{:<16}{}", "ns a segment of", COLUMNS.map(|column| format!("{column:>12}")).concat());
    macro_rules! lines {
        ($($t:ident)+) => {$(
            for mean in [1, 2, 4, 8, 16, 32, 64, 256, 1000] {
                let line = format!("{} {mean}", stringify!($t));
                if words.iter().all(|word| line.split(' ').any(|part| part == word)) {
                    let ns = measure::<$t>(mean);
                    println!("{line:<16}{}", ns.map(|ns| format!("{ns:>12.2}")).concat());
                }
            }
        )+};
    }
    lines!(f32 i64 u8 f64 i16 f16);
}

fn measure<T: Element + PartialOrd + Pod>(mean: usize) -> [f64; 6] {
    let (x, mut rng, mut offsets) = (random::<T>(ELEMENTS), SmallRng::seed_from_u64(7), vec![0_u32]);
    while let Some(end) = offsets.last().map(|&last| last as usize + rng.random_range(1..2 * mean))
        && end <= ELEMENTS
    {
        offsets.push(end as u32);
    }
    let there: Vec<u8> =
        (0..ELEMENTS.div_ceil(8)).map(|_| rng.random::<u8>() | rng.random::<u8>() | rng.random::<u8>()).collect();
    let (count, mut to) = (offsets.len() - 1, vec![0_u32; offsets.len() - 1]);
    let segments = Segments::new(&offsets).unwrap();
    let reduce = ArgReduce::argmax(&segments).fill(0);
    let (plan, last) = (reduce.plan_segments::<T, u32>().unwrap(), reduce.direction(AxisDirection::Decreasing));
    let last = last.plan_segments::<T, u32>().unwrap();
    let each = |to: &mut [u32], best: fn(&[T]) -> usize| {
        for (to, segment) in to.iter_mut().zip(offsets.windows(2)) {
            *to = best(&x[segment[0] as usize..segment[1] as usize]) as u32;
        }
    };
    let mut least = [f64::INFINITY; 6];
    for _ in 0..5 {
        let mut n = 0;
        let mut keep = |ns: std::time::Duration| {
            least[n] = least[n].min(ns.as_nanos() as f64 / count as f64);
            n += 1;
        };
        keep(time(|| each(black_box(&mut to), plain)));
        keep(time(|| each(black_box(&mut to), |segment| segment.argmax().unwrap_or(0))));
        keep(time(|| plan.run(black_box(&x), &mut to).unwrap()));
        keep(time(|| last.run(black_box(&x), &mut to).unwrap()));
        keep(time(|| plan.run(input(black_box(&x)).masked(Mask::bits(&there, 0)), &mut to).unwrap()));
        keep(time(|| {
            let segments = Segments::new(black_box(&offsets)).unwrap();
            black_box(ArgReduce::argmax(&segments).plan_segments::<T, u32>().unwrap());
        }));
    }
    least
}

/// The first of the largest numbers.
fn plain<T: PartialOrd + Copy>(segment: &[T]) -> usize {
    let mut best = 0;
    for (n, value) in segment.iter().enumerate() {
        if *value > segment[best] {
            best = n;
        }
    }
    best
}
