//! Moving windows beside a deque of candidates, as bottleneck and others have it, and beside the windows read one by
//! one: in turn, in one process, on one thread.
//!
//! `cargo bench --bench moving` prints nanoseconds an output. `cargo bench --bench moving -- PYTHON`, a Python that has
//! this package and bottleneck and SciPy installed, goes on with `benches/moving.py` by that: NumPy, bottleneck's
//! `move_argmax` and SciPy's `maximum_filter`.

use argreduce::{ArgReduce, Element, Layout, Plan};
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

const LEN: usize = 100_000;
const WIDTHS: [usize; 9] = [3, 10, 20, 50, 100, 200, 500, 1000, 10_000];

fn main() {
    println!("{LEN} elements, windows of step 1; indices, and indices with values\n");
    println!("{:<26}{:>9}{:>9}{:>9}{:>9}", "", "indices", "values", "one row", "deque");
    for data in [Data::Random, Data::Ascending, Data::Descending, Data::Ties] {
        series::<f32>("f32", data, |n| n as f32);
        series::<f64>("f64", data, |n| n as f64);
        series::<i16>("i16", data, |n| (n >> 6) as i16);
    }
    println!("\nimages\n");
    image::<f32>("f32", [2048, 2048], [31, 31], |n| n as f32);
    image::<f64>("f64", [2048, 2048], [31, 31], |n| n as f64);
    image::<i16>("i16", [2048, 2048], [31, 31], |n| (n >> 6) as i16);
    image::<f32>("f32", [2048, 2048], [31, 1], |n| n as f32);
    image::<f32>("f32", [2048, 2048], [200, 1], |n| n as f32);
    image::<f32>("f32", [2048, 2048], [1, 31], |n| n as f32);
    image::<f32>("f32", [2048, 2048], [101, 101], |n| n as f32);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/moving.py");
    if let Some(python) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) {
        println!();
        let status = std::process::Command::new(python).arg(script).status().expect("a program");
        assert!(status.success());
    }
}

#[derive(Clone, Copy, Debug)]
enum Data {
    Random,
    Ascending,
    Descending,
    Ties,
}

impl Data {
    /// Up to 21 bits.
    fn number(self, n: usize, len: usize) -> i32 {
        match self {
            Data::Random => {
                ((n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_mul(n as u64 | 1) >> 43) as i32
            }
            Data::Ascending => n as i32,
            Data::Descending => (len - n) as i32,
            Data::Ties => 0,
        }
    }
}

/// The least time of some rounds, of each way.
fn least<const N: usize>(outputs: usize, rounds: usize, mut run: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut shortest = [f64::MAX; N];
    for _ in 0..rounds {
        for (run, shortest) in run.iter_mut().zip(&mut shortest) {
            let before = Instant::now();
            run();
            *shortest = shortest.min(before.elapsed().as_secs_f64() * 1e9 / outputs as f64);
        }
    }
    shortest
}

fn series<T: Element>(name: &str, data: Data, of: impl Fn(i32) -> T) {
    let x: Vec<T> = (0..LEN).map(|n| of(data.number(n, LEN))).collect();
    for width in WIDTHS {
        let windows = Layout::contiguous(&[LEN]).unwrap().windows(0, width, 1).unwrap();
        let plan: Plan<T, u32> = ArgReduce::argmax(&windows).axes(&[1]).plan().unwrap();
        // What a window costs alone.
        let row: Plan<T, u32> = ArgReduce::argmax(&Layout::contiguous(&[width]).unwrap()).all_axes().plan().unwrap();
        let outputs = LEN - width + 1;
        let [mut indices, mut others, mut expected] = [(); 3].map(|()| vec![0_u32; outputs]);
        let mut values = vec![T::default(); outputs];
        let mut deque = VecDeque::with_capacity(width + 1);
        let mut index = [0_u32];
        let [ours, with_values, one, theirs] = least(
            1,
            if width < 1000 { 40 } else { 20 },
            [
                &mut || plan.run(black_box(&x), &mut indices).unwrap(),
                &mut || plan.run(black_box(&x), (&mut others, &mut values)).unwrap(),
                &mut || row.run(black_box(&x[..width]), &mut index).unwrap(),
                &mut || of_deque(black_box(&x), width, &mut deque, &mut expected),
            ],
        );
        assert!(indices == others && indices == expected, "{name}, {data:?}, {width}");
        let of = |time: f64| time / outputs as f64;
        println!(
            "{:<26}{:>9.2}{:>9.2}{one:>9.1}{:>9.2}",
            format!("{name} {data:?} {width}"),
            of(ours),
            of(with_values),
            of(theirs),
        );
    }
}

/// The first of the largest in each window: candidates are kept in descending order.
fn of_deque<T: Element>(x: &[T], width: usize, deque: &mut VecDeque<(T, usize)>, indices: &mut [u32]) {
    deque.clear();
    for (n, &element) in x.iter().enumerate() {
        while deque.back().is_some_and(|&(last, _)| last < element) {
            deque.pop_back();
        }
        deque.push_back((element, n));
        if deque[0].1 + width <= n {
            deque.pop_front();
        }
        if n + 1 >= width {
            indices[n + 1 - width] = (deque[0].1 + width - 1 - n) as u32;
        }
    }
}

fn image<T: Element>(name: &str, sizes: [usize; 2], window: [usize; 2], of: impl Fn(i32) -> T) {
    let x: Vec<T> = (0..sizes[0] * sizes[1]).map(|n| of(Data::Random.number(n, 0))).collect();
    let windows = Layout::contiguous(&sizes).unwrap();
    let windows = windows.windows(0, window[0], 1).and_then(|rows| rows.windows(1, window[1], 1)).unwrap();
    let plan: Plan<T, u32> = ArgReduce::argmax(&windows).axes(&[2, 3]).plan().unwrap();
    let outputs = windows.sizes()[0] * windows.sizes()[1];
    let (mut indices, mut values) = (vec![0_u32; outputs], vec![T::default(); outputs]);
    let mut others = indices.clone();
    let [ours, with_values] = least(
        outputs,
        3,
        [&mut || plan.run(black_box(&x), &mut indices).unwrap(), &mut || {
            plan.run(black_box(&x), (&mut others, &mut values)).unwrap()
        }],
    );
    assert_eq!(indices, others);
    println!("{:<26}{ours:>9.2}{with_values:>9.2}", format!("{name} {sizes:?} {window:?}"));
}
