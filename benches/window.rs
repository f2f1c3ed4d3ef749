//! What a window costs, and what partial answers cost: one plan beside another, in turn, in one process. For shapes of
//! many outputs, each of few elements, where writing indices is most of the time.
//!
//! `cargo bench --bench window`. The columns: nanoseconds an output of a plan without a window; how much more with one;
//! the time of indices with values, that of partial answers over it, and how many bytes the latter writes for each that
//! the former does (a `Partial` has padding).

use argreduce::{ArgReduce, Element, Index, Layout, Partial, Plan};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    println!("{:<36}{:>8}{:>10}{:>8}{:>14}{:>10}{:>8}", "", "ns", "window", "", "with_values", "partials", "bytes");
    let columns: [(&[usize], &[isize]); 6] = [
        (&[16, 4096], &[0]),
        (&[4096, 16], &[1]),
        (&[4, 4, 4096], &[0, 1]),
        (&[4096, 4, 4], &[1, 2]),
        (&[4, 512, 4, 8], &[0, 2]),
        (&[3, 64, 4, 16, 2], &[0, 2, 4]),
    ];
    for (sizes, axes) in columns {
        line::<f32, u32>("f32 u32", sizes, axes);
        line::<f32, u64>("f32 u64", sizes, axes);
        line::<u8, u32>("u8 u32", sizes, axes);
        line::<i16, u16>("i16 u16", sizes, axes);
    }
}

fn line<T: Element, I: Index>(types: &str, sizes: &[usize], axes: &[isize]) {
    let layout = Layout::contiguous(sizes).unwrap();
    let (whole, start): (Vec<usize>, Vec<usize>) = sizes.iter().map(|size| (size + 2, 1)).unzip();
    let reduce = ArgReduce::argmax(&layout).axes(axes);
    let (plain, windowed): (Plan<T, I>, Plan<T, I>) =
        (reduce.plan().unwrap(), reduce.window(&whole, &start).plan().unwrap());
    let input = vec![T::default(); layout.required_len()];
    let outputs = plain.output_layout().required_len();
    let (mut indices, mut values) = (vec![I::default(); outputs], vec![T::default(); outputs]);
    let mut partials = vec![Partial::NONE; outputs];
    let mut shortest = [f64::MAX; 4];
    for _ in 0..300 {
        let mut time = |n: usize, run: &mut dyn FnMut()| {
            let before = Instant::now();
            for _ in 0..4 {
                run();
            }
            shortest[n] = shortest[n].min(before.elapsed().as_secs_f64() / 4.0 * 1e9 / outputs as f64);
        };
        time(0, &mut || plain.run(black_box(&input), &mut indices).unwrap());
        time(1, &mut || windowed.run(black_box(&input), &mut indices).unwrap());
        time(2, &mut || plain.run(black_box(&input), (&mut indices, &mut values)).unwrap());
        time(3, &mut || plain.run(black_box(&input), &mut partials).unwrap());
    }
    let [without, with, with_values, of_partials] = shortest;
    let bytes = size_of::<Partial<T, I>>() as f64 / (size_of::<T>() + size_of::<I>()) as f64;
    println!(
        "{:<36}{without:>8.2}{:>+10.2}{:>+7.1}%{with_values:>14.2}{:>10.2}{bytes:>8.2}",
        format!("{types} {sizes:?} {axes:?}"),
        with - without,
        (with / without - 1.0) * 100.0,
        of_partials / with_values,
    );
}
