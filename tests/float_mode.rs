//! The answer does not depend on the caller's floating-point mode, nor on that of any thread that works for it; and the
//! mode is as it was afterwards (which [`FloatMode::run`] checks).

mod common;

use argreduce::{
    ArgReduce, Executor, Isa, Key, Layout, NanPolicy, Options, Partial, ReduceFunction, ScopedThreads, Sequential,
    SliceExt, reference,
};
use argreduce_guard::{FloatMode, few};
use common::{Sample, orders, rng};
use half::{bf16, f16};
use rand::RngExt;
use rand::rngs::SmallRng;
use std::thread;

/// A thread for each task, started in a mode (or in none of them, in whatever mode the caller is). What is answered on
/// them is the same as on threads of a pool that a library has started in its own mode.
struct ThreadsIn(Option<FloatMode>);

impl Executor for ThreadsIn {
    fn width(&self) -> usize {
        3
    }

    /// So that anything is worth a task.
    fn min_task_bytes(&self) -> usize {
        1
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        thread::scope(|scope| {
            for n in 0..tasks {
                scope.spawn(move || match self.0 {
                    Some(mode) => mode.run(|| task(n)),
                    None => task(n),
                });
            }
        });
    }
}

/// Types of floats, made of a sign and a few bits of the fraction.
trait Float: Sample {
    fn subnormal(is_negative: bool, bits: u8) -> Self;
}

macro_rules! floats {
    ($($t:ident)+) => {$(
        impl Float for $t {
            fn subnormal(is_negative: bool, bits: u8) -> Self {
                let sign = if is_negative { (-0.0_f64).to_bits() >> (64 - 8 * size_of::<$t>()) } else { 0 };
                $t::from_bits((sign | u64::from(bits)) as _)
            }
        }
    )+};
}
floats!(f32 f64 f16 bf16);

/// Zeros and subnormals of both signs, and at times a NaN.
fn subnormals<T: Float>(rng: &mut SmallRng, len: usize) -> Vec<T> {
    let most = rng.random_range(1..4);
    let mut data: Vec<T> = (0..len).map(|_| T::subnormal(rng.random(), rng.random_range(0..=most))).collect();
    if rng.random_range(0..4) == 0 {
        data[rng.random_range(0..len)] = *T::SPECIAL.last().unwrap();
    }
    data
}

/// Of each strategy some: whole tensors, rows, columns, several axes.
const SHAPES: [(&[usize], &[isize]); 12] = [
    (&[3], &[0]),
    (&[70], &[0]),
    (&[9000], &[0]),
    (&[50, 2], &[1]),
    (&[40, 5], &[1]),
    (&[6, 300], &[1]),
    (&[2, 3000], &[1]),
    (&[300, 3], &[0]),
    (&[7, 90], &[0]),
    (&[30, 1000], &[0]),
    (&[5, 8, 6, 9], &[0, 2]),
    (&[4, 31, 17], &[0, 1, 2]),
];

/// All ways to ask for the answer of a shape, in a mode: indices and values, as bits. The reduction is that of a part.
fn answers<'a, T: Float>(
    (sizes, axes): (&'a [usize], &[isize]),
    reduce: &dyn Fn(&Layout) -> ArgReduce<'a>,
    data: &[T],
    executor: &dyn Executor,
) -> [(Vec<u32>, Vec<u64>); 3] {
    let whole = Layout::contiguous(sizes).unwrap();
    let plan = reduce(&whole).plan::<T, u32>().unwrap();
    let outputs = plan.output_layout().element_count();
    let (mut plain, mut indices, mut values) = (vec![0; outputs], vec![0; outputs], vec![T::default(); outputs]);
    plan.run(argreduce::input(data).on(executor), &mut plain).unwrap();
    plan.run(argreduce::input(data).on(executor), (&mut indices, &mut values)).unwrap();
    // Two parts of unequal length, the later one first.
    let (axis, len) = (axes[0], sizes[axes[0] as usize] as isize);
    let [mut partials, others] = [len / 3..len, 0..len / 3].map(|range| {
        let (mut partials, mut start) = (vec![Partial::NONE; outputs], vec![0; sizes.len()]);
        start[axis as usize] = range.start as usize;
        let part = reduce(&whole.slice(axis, range, 1).unwrap()).window(sizes, &start).plan::<T, u32>().unwrap();
        part.run(argreduce::input(data).on(executor), &mut partials).unwrap();
        partials
    });
    plan.merge().partials(&mut partials, &others).unwrap();
    let mut finished = vec![0; outputs];
    plan.finish(&partials, &mut finished).unwrap();
    let bits = |values: &[T]| values.iter().map(|value| value.bits()).collect::<Vec<_>>();
    let merged: Vec<T> = partials.iter().map(|partial| partial.value).collect();
    [(plain, bits(&values)), (indices, bits(&values)), (finished, bits(&merged))]
}

fn check_plans<T: Float>() {
    let mut rng = rng(50);
    let executors: Vec<Box<dyn Executor + Sync>> = vec![
        Box::new(Sequential),
        Box::new(ScopedThreads::new(2)),
        Box::new(ThreadsIn(None)),
        Box::new(ThreadsIn(FloatMode::ALL.first().copied())),
    ];
    for n in few(0..SHAPES.len(), 2) {
        let (sizes, axes) = SHAPES[n];
        let layout = Layout::contiguous(sizes).unwrap();
        let reduced: Vec<bool> = (0..sizes.len() as isize).map(|axis| axes.contains(&axis)).collect();
        let data = subnormals::<T>(&mut rng, layout.element_count());
        let subnormal = Key::distance(T::subnormal(n % 2 > 0, 2));
        // By value each order, and by a key in turn.
        let keys_of = |n: usize| [Key::Value, [Key::Magnitude, subnormal][n % 2]];
        for (turn, (order, key)) in
            orders().enumerate().flat_map(|(turn, order)| keys_of(n + turn / 2).map(|key| (order, key))).enumerate()
        {
            let keys = reference::keys(key, &data);
            let expected: Vec<u32> =
                reference::arg_reduce(order, &layout, &reduced, &keys).into_iter().map(|n| n as u32).collect();
            let best = common::best_values(
                &layout,
                &reduced,
                &expected.iter().map(|&n| n as usize).collect::<Vec<_>>(),
                &data,
            );
            let (function, direction, policy) = order;
            for isa in Isa::available() {
                let reduce = |layout: &Layout| {
                    let reduce = ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy);
                    reduce.by(key).isa(isa)
                };
                let executor = &*executors[(n + turn) % executors.len()];
                // Here in the default mode, on threads in another; and here in another.
                let default = answers::<T>((sizes, axes), &reduce, &data, executor);
                let others = FloatMode::ALL
                    .iter()
                    .map(|mode| mode.run(|| answers::<T>((sizes, axes), &reduce, &data, executor)));
                for (found, values) in others.chain([default]).flatten() {
                    assert_eq!(found, expected, "{order:?} of {sizes:?} over {axes:?}, {isa}\n{data:?}");
                    assert_eq!(values, best, "{order:?} of {sizes:?} over {axes:?}, {isa}\n{data:?}");
                }
            }
            for mode in FloatMode::ALL {
                let of_reference =
                    mode.run(|| reference::arg_reduce(order, &layout, &reduced, &reference::keys(key, &data)));
                assert_eq!(of_reference.into_iter().map(|n| n as u32).collect::<Vec<_>>(), expected, "{data:?}");
            }
        }
    }
}

#[test]
fn plans_and_threads() {
    check_plans::<f32>();
    check_plans::<f64>();
    check_plans::<f16>();
    check_plans::<bf16>();
}

fn check_slices<T: Float>() {
    let mut rng = rng(51);
    for len in few(1..70, 5).chain([300, 5000]) {
        let data = subnormals::<T>(&mut rng, len);
        let layout = Layout::contiguous(&[len]).unwrap();
        for (function, direction, policy) in orders() {
            let expected = reference::arg_reduce((function, direction, policy), &layout, &[true], &data);
            for mode in FloatMode::ALL {
                let options = Options::from(direction).nan_policy(policy);
                let found = mode.run(|| data.arg_reduce(function, options));
                assert_eq!(found, Some(expected[0]), "{function} {direction} {policy} of {data:?}");
                let key = Key::distance(T::subnormal(len % 2 > 0, 1));
                let keys = reference::keys(key, &data);
                let nearest = reference::arg_reduce((function, direction, policy), &layout, &[true], &keys);
                let found = mode.run(|| data.arg_reduce(function, options.by(key)));
                assert_eq!(found, Some(nearest[0]), "{function} {direction} {policy} by {key} of {data:?}");
                if options == Options::default() {
                    let found = mode.run(|| match function {
                        ReduceFunction::ArgMin => (data.argmin(), data.argminmax().map(|(min, _)| min)),
                        _ => (data.argmax(), data.argminmax().map(|(_, max)| max)),
                    });
                    assert_eq!(found, (Some(expected[0]), Some(expected[0])), "{function} of {data:?}");
                }
                if options == Options::from(NanPolicy::Ignore) {
                    let found = mode.run(|| match function {
                        ReduceFunction::ArgMin => data.nanargmin(),
                        _ => data.nanargmax(),
                    });
                    let number = Some(expected[0]).filter(|&best| !data[best].is_nan());
                    assert_eq!(found, number, "{function} of the numbers of {data:?}");
                }
            }
        }
    }
}

/// Slices without a plan, of all lengths that have a search of their own.
#[test]
fn slices() {
    check_slices::<f32>();
    check_slices::<f64>();
    check_slices::<f16>();
    check_slices::<bf16>();
}

/// Chunks of a stream, and the answers of parts, whose values are compared without a kernel of rows or columns.
#[test]
fn streams_and_merging() {
    let mut rng = rng(52);
    for policy in NanPolicy::ALL {
        let data = subnormals::<f32>(&mut rng, 40 * 30);
        let whole = Layout::contiguous(&[40, 30]).unwrap();
        let expected =
            reference::arg_reduce((ReduceFunction::ArgMax, Default::default(), policy), &whole, &[true, false], &data);
        for mode in FloatMode::ALL {
            let found = mode.run(|| {
                let chunk = Layout::contiguous(&[8, 30]).unwrap();
                let reduce = ArgReduce::argmax(&chunk).axes(&[0]).nan_policy(policy);
                let mut stream = reduce.stream::<f32, u32>(0).unwrap();
                for data in data.chunks(8 * 30) {
                    stream.push(&chunk, data).unwrap();
                }
                let mut found = vec![0; 30];
                stream.finish(&mut found).unwrap();
                found
            });
            assert_eq!(found.into_iter().map(|n| n as usize).collect::<Vec<_>>(), expected, "{policy} of {data:?}");
        }
    }
}

/// The smallest of the inputs that were reported: a subnormal between zeros, alone, as two rows and as two columns.
#[test]
fn a_subnormal_between_zeros() {
    let (data, subnormal) = ([0.0, 1e-45, 0.0, 0.0, 1e-45, 0.0_f32], [0.0, 1e-45, 0.0_f32]);
    for mode in FloatMode::ALL {
        let found = mode.run(|| {
            let rows = argreduce::argmax::<Vec<u32>, f32, _>(&data, &[2, 3], &[1]).unwrap();
            let columns =
                argreduce::argmax::<Vec<u32>, f32, _>(&[0.0, 0.0, 1e-45, 1e-45, 0.0, 0.0], &[3, 2], &[0]).unwrap();
            (subnormal.argmax(), rows, columns)
        });
        assert_eq!(found, (Some(1), vec![1, 1], vec![1, 1]));
    }
}
