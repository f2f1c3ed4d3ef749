//! What the best so far costs: the speed of a call as how many times that of plain loops that read the same elements
//! and write as many indices (and values, where they are asked for), in one process: of rows and of columns, on data
//! that rarely gets better, on that which always does, and from the end. And the time for each element.
//!
//! `cargo bench --bench cumulative`, with words all of which have to be in a line, if not all lines are wanted:
//! `cargo bench --bench cumulative -- f32 row`. `ARGREDUCE_ISA` names the instruction set of the calls; loops are what
//! the compiler makes of them for the target.

mod common;

use argreduce::{ArgReduce, Element, Index, Layout};
use bytemuck::Pod;
use common::{random, time};
use std::hint::black_box;
use std::time::Duration;

/// Sizes and the axis.
type Shape = (&'static str, fn(usize) -> Vec<usize>, usize);

const SHAPES: [Shape; 4] = [
    ("row", |len| vec![len], 0),
    ("rows", |len| vec![len / 1000, 1000], 1),
    ("rows-100", |len| vec![len / 100, 100], 1),
    ("columns", |len| vec![len / 1000, 1000], 0),
];

/// Bytes of the input: with the answers, in the L1 cache, in L2, and beyond.
const SIZES: [(&str, usize); 3] = [("L1", 8 << 10), ("L2", 128 << 10), ("DRAM", 256 << 20)];

const DATA: [&str; 3] = ["rare", "rising", "rare-reversed"];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_wanted = |line: &str| words.iter().all(|word| line.split(' ').any(|part| part == word));
    let columns =
        ["", "+values "].map(|what| SIZES.map(|(size, _)| format!("{:>14}", format!("{what}{size}"))).concat());
    println!("{:<34}{}    and ns an element", "times a plain loop's speed", columns.concat());
    macro_rules! beside_a_loop {
        ($($t:ident $index:ident)+) => {$(
            for (shape, data) in SHAPES.iter().flat_map(|shape| DATA.map(|data| (shape, data))) {
                let line = format!("{} {} {} {data}", stringify!($t), stringify!($index), shape.0);
                if is_wanted(&line) {
                    let of = |has_values| SIZES.map(|(_, bytes)| times::<$t, $index>(*shape, bytes, data, has_values));
                    let all = [of(false), of(true)].concat();
                    let ratio = |[plain, ours]: &[f64; 2]| format!("{:>14}", format!("{:.2}", plain / ours));
                    let nanoseconds = |[_, ours]: &[f64; 2]| format!("{ours:>7.2}");
                    let ratios: String = all.iter().map(ratio).collect();
                    println!("{line:<34}{ratios}    {}", all.iter().map(nanoseconds).collect::<String>());
                }
            }
        )+};
    }
    beside_a_loop!(f32 u32 f32 i64 f64 u32 f64 i64 i16 u32 i16 i64);
}

/// A type whose elements a plain loop compares.
trait Plain: Element + Pod {
    fn rising(n: usize, len: usize) -> Self;
}

macro_rules! plain {
    ($($t:ident)+) => {$(
        impl Plain for $t {
            fn rising(n: usize, len: usize) -> $t {
                (n as f64 / len as f64 * 32_000.0) as $t
            }
        }
    )+};
}
plain!(f32 f64 i16);

/// An index as a plain loop has it.
trait PlainIndex: Index + Pod {
    fn of(n: usize) -> Self;
}

macro_rules! plain_index {
    ($($t:ident)+) => {$(
        impl PlainIndex for $t {
            fn of(n: usize) -> $t {
                n as $t
            }
        }
    )+};
}
plain_index!(u32 i64);

/// Nanoseconds for each element: of a plain loop, and of a call; in turn, the least of several.
fn times<T: Plain, I: PlainIndex>((_, sizes, axis): Shape, bytes: usize, kind: &str, has_values: bool) -> [f64; 2] {
    let sizes = sizes(bytes / size_of::<T>());
    if sizes.contains(&0) {
        return [f64::NAN; 2];
    }
    let layout = Layout::contiguous(&sizes).unwrap();
    let len = layout.element_count();
    let data: Vec<T> = if kind == "rising" { (0..len).map(|n| T::rising(n, len)).collect() } else { random(len) };
    let so_far = ArgReduce::argmax(&layout).axes(&[axis as isize]).cumulative();
    let is_reversed = kind == "rare-reversed";
    let plan = if is_reversed { so_far.reverse() } else { so_far }.plan::<T, I>().unwrap();
    let (mut indices, mut values) = (vec![I::of(0); len], vec![T::default(); len]);
    let steps = sizes[axis];
    let mut least = [Duration::MAX; 2];
    for _ in 0..3 {
        let plain = if has_values {
            time(|| plain::<T, I, true>(black_box(&data), (steps, is_reversed), axis == 0, &mut indices, &mut values))
        } else {
            time(|| plain::<T, I, false>(black_box(&data), (steps, is_reversed), axis == 0, &mut indices, &mut values))
        };
        let ours = match has_values {
            true => time(|| plan.run(black_box(&data), (&mut indices, &mut values)).unwrap()),
            false => time(|| plan.run(black_box(&data), &mut indices).unwrap()),
        };
        least = [least[0].min(plain), least[1].min(ours)];
    }
    least.map(|time| time.as_secs_f64() * 1e9 / len as f64)
}

/// The best so far by plain loops, as anybody would write them: along each line; or of columns, row by row, with what
/// is best of each beside the others.
#[inline(never)]
fn plain<T: Plain, I: PlainIndex, const VALUES: bool>(
    data: &[T],
    (steps, is_reversed): (usize, bool),
    of_columns: bool,
    indices: &mut [I],
    values: &mut [T],
) {
    let width = if of_columns { data.len() / steps } else { 1 };
    if width > 1 {
        let mut best: Vec<(T, I)> = data[..width].iter().map(|&x| (x, I::of(0))).collect();
        for visited in 0..steps {
            let n = if is_reversed { steps - 1 - visited } else { visited };
            let row = n * width..(n + 1) * width;
            let rows = data[row.clone()].iter().zip(&mut indices[row.clone()]).zip(&mut values[row]);
            for (((&x, index), value), best) in rows.zip(&mut best) {
                if visited == 0 || x > best.0 {
                    *best = (x, I::of(n));
                }
                *index = best.1;
                if VALUES {
                    *value = best.0;
                }
            }
        }
        return;
    }
    for (data, (indices, values)) in
        data.chunks_exact(steps).zip(indices.chunks_exact_mut(steps).zip(values.chunks_exact_mut(steps)))
    {
        let each = data.iter().zip(indices).zip(values).enumerate();
        let (mut best, mut best_index) = (data[if is_reversed { steps - 1 } else { 0 }], I::of(0));
        let mut visit = |(n, ((&x, index), value)): (usize, ((&T, &mut I), &mut T))| {
            if x > best {
                (best, best_index) = (x, I::of(n));
            }
            *index = best_index;
            if VALUES {
                *value = best;
            }
        };
        if is_reversed { each.rev().for_each(visit) } else { each.for_each(&mut visit) }
    }
}
