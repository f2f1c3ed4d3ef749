//! What keys cost: the time of a call for the largest magnitude, and for the element nearest to a value, as how many
//! times that of one for the largest element, in one process.
//!
//! `cargo bench --bench keys`, with words all of which have to be in a line, if not all lines are wanted:
//! `cargo bench --bench keys -- f32 row`. `ARGREDUCE_ISA` names the instruction set of all calls. (Beside other
//! libraries: `integrations/python/bench_keys.py`.)

mod common;

use argreduce::{ArgReduce, Element, Key};
use bytemuck::Pod;
use common::{layout, random, time};
use half::{bf16, f16};
use std::hint::black_box;

/// Sizes and axis.
type Shape = (&'static str, &'static [usize], isize);

const SHAPES: [Shape; 9] = [
    ("row-4Ki", &[4 << 10], 0),
    ("row-128Ki", &[128 << 10], 0),
    ("row-4Mi", &[4 << 20], 0),
    ("columns", &[1000, 1000], 0),
    ("label-map", &[21, 50_000], 0),
    ("narrow-columns", &[1, 50_000, 3], 1),
    ("rows-1000", &[1000, 1000], 1),
    ("rows-100", &[10_000, 100], 1),
    ("rows-10", &[100_000, 10], 1),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    println!("{:<20}{:>12}{:>12}{:>12}", "", "plain, µs", "magnitude", "distance");
    macro_rules! lines {
        ($($t:ident to $q:expr;)+) => {$(
            for shape in SHAPES {
                let line = format!("{} {}", stringify!($t), shape.0);
                if words.iter().all(|word| line.split(' ').any(|part| part == word)) {
                    let [plain, magnitude, distance] = times::<$t>(shape, $q);
                    println!("{line:<20}{:>12.2}{magnitude:>12.2}{distance:>12.2}", plain * 1e6);
                }
            }
        )+};
    }
    lines! {
        f32 to 1e9; f64 to 1e9; f16 to f16::from_f32(9.0); bf16 to bf16::from_f32(1e9);
        i8 to 100; u8 to 100; i16 to 7; i32 to 7; i64 to 7;
    }
}

/// The time of a plain call, and how many times that the others take: the best of several turns.
fn times<T: Element + Pod>((_, sizes, axis): Shape, q: T) -> [f64; 3] {
    let layout = layout(sizes, false);
    let data: Vec<T> = random(layout.element_count());
    let max = ArgReduce::argmax(&layout).axes(&[axis]);
    let nearest = ArgReduce::argmin(&layout).axes(&[axis]).by(Key::distance(q));
    let plans = [max, max.by(Key::Magnitude), nearest].map(|reduce| reduce.plan::<T, i64>().unwrap());
    let mut indices = vec![0; plans[0].output_layout().required_len()];
    let mut best = [f64::INFINITY; 3];
    for _ in 0..5 {
        for (plan, best) in plans.iter().zip(&mut best) {
            *best = best.min(time(|| plan.run(black_box(&data), &mut indices).unwrap()).as_secs_f64());
        }
    }
    [best[0], best[1] / best[0], best[2] / best[0]]
}
