//! Masks: what is not there is left out, whatever its value; against the reference, by every format of a mask.

mod common;

use argreduce::{ArgReduce, Error, Executor, Index, Isa, Layout, Mask, Partial, Plan, ScopedThreads, reference};
use argreduce_guard::{Edge, Guarded, few, is_slow};
use common::problem::{Problem, problem};
use common::{Sample, orders, places, rng, sample};
use proptest::prelude::*;
use rand::RngExt;
use rand::rngs::SmallRng;

/// A mask in each format, as memory that ends where it does.
struct Masks {
    bools: Guarded<bool>,
    bytes: Guarded<u8>,
    bits: Guarded<u8>,
    offset: usize,
    spread: Guarded<bool>,
    spread_layout: Layout,
}

impl Masks {
    fn of(there: &[bool], sizes: &[usize], offset: usize, edge: Edge) -> Masks {
        let mut bits = vec![0xa5_u8; (there.len() + offset).div_ceil(8)];
        for (n, &is_there) in there.iter().enumerate() {
            let at = n + offset;
            bits[at / 8] = bits[at / 8] & !(1 << (at % 8)) | u8::from(is_there) << (at % 8);
        }
        let bytes: Vec<u8> = there.iter().enumerate().map(|(n, &is)| if is { n as u8 | 4 } else { 0 }).collect();
        // Backwards, and every second place.
        let packed = Layout::contiguous(sizes).unwrap();
        let strides: Vec<isize> = packed.strides().iter().map(|stride| -2 * stride).collect();
        let spread_layout = Layout::strided(sizes, &strides, 2 * there.len().saturating_sub(1)).unwrap();
        let spread: Vec<bool> =
            there.iter().rev().flat_map(|&is| [is, !is]).take(spread_layout.required_len()).collect();
        Masks {
            bools: Guarded::copy_of(there, edge),
            bytes: Guarded::copy_of(&bytes, edge),
            bits: Guarded::copy_of(&bits, edge),
            offset,
            spread: Guarded::copy_of(&spread, edge),
            spread_layout,
        }
    }

    fn all(&self) -> [Mask<'_>; 4] {
        [
            Mask::bits(&self.bits, self.offset),
            Mask::bools(&self.bools),
            Mask::bytes(&self.bytes),
            Mask::strided(&self.spread, &self.spread_layout),
        ]
    }
}

/// What is there: nothing, some, all but some, everything, or runs.
fn mask_of(rng: &mut SmallRng, len: usize) -> Vec<bool> {
    match rng.random_range(0..6) {
        0 => vec![false; len],
        1 => vec![true; len],
        2 => (0..len).map(|_| rng.random_range(0..100) == 0).collect(),
        3 => (0..len).map(|_| rng.random_range(0..100) != 0).collect(),
        4 => (0..len).map(|_| rng.random_range(0..2) == 0).collect(),
        _ => {
            let run = 1 + rng.random_range(0..200);
            (0..len).map(|n| n / run % 2 == 0).collect()
        }
    }
}

/// Holds a reduction under a mask against the reference: by every order, ISA, format, with values and as partials.
fn check<T: Sample, I: Index>(input: &[T], layout: &Layout, axes: &[isize], there: &[bool], output: Option<&Layout>) {
    let rank = layout.sizes().len();
    let mut reduced = vec![false; rank];
    axes.iter().for_each(|&axis| reduced[if axis < 0 { axis + rank as isize } else { axis } as usize] = true);
    let input = Guarded::copy_of(&input[..layout.required_len()], Edge::End);
    let in_order = places(layout);
    for (n, order) in orders().enumerate() {
        let edge = Edge::ALL[n % 2];
        let masks = Masks::of(there, layout.sizes(), n * 5, edge);
        let (function, direction, policy) = order;
        let expected = reference::arg_reduce_masked(order, layout, &reduced, &input, |n| there[n]);
        let wanted: Vec<I> = expected.iter().map(|index| I::at(index.map_or(7, |n| n as isize), 0, 0)).collect();
        for isa in Isa::available() {
            let reduce = ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy).isa(isa);
            let reduce = if let Some(output) = output { reduce.output_layout(output) } else { reduce };
            let plan = reduce.fill(7).plan::<T, I>().unwrap();
            let strict: Plan<T, I> = reduce.plan().unwrap();
            let untouched = I::at(-77, 0, 0);
            let masks = masks.all();
            let skipped = if is_slow() { n % 3 } else { 0 };
            for (format, &mask) in masks.iter().enumerate().skip(skipped) {
                let mut indices = Guarded::filled(untouched, plan.output_layout().required_len(), edge);
                let mut values = Guarded::filled(T::default(), expected.len(), edge);
                plan.run_masked_with_values(&input, mask, &mut indices, &mut values).unwrap();
                let at = places(plan.output_layout());
                let found: Vec<I> = at.iter().map(|&place| indices[place]).collect();
                assert_eq!(found, wanted, "{plan}, format {format}\n{layout:?}\n{:?}\n{there:?}", &*input);
                let is_untouched = (0..indices.len()).filter(|place| !at.contains(place));
                assert!(is_untouched.clone().all(|place| indices[place] == untouched), "{plan}");

                let mut partials = vec![Partial::<T, I>::NONE; expected.len()];
                plan.run_masked_partials(&input, mask, &mut partials).unwrap();
                let mut numbers = vec![Vec::new(); expected.len()];
                outputs_of(layout.sizes(), &reduced)
                    .into_iter()
                    .zip(&in_order)
                    .for_each(|(o, &place)| numbers[o].push(place));
                for (o, (&index, partial)) in expected.iter().zip(&partials).enumerate() {
                    let bits = index.map_or(0, |index| input[numbers[o][index]].bits());
                    let wanted_index = index.map_or(I::NONE, |n| I::at(n as isize, 0, 0));
                    assert_eq!(
                        (values[o].bits(), partial.value.bits(), partial.index),
                        (bits, bits, wanted_index),
                        "{plan}"
                    );
                }
                let first_missing = expected.iter().position(|index| index.is_none());
                let result = strict.run_masked(&input, mask, &mut indices);
                assert_eq!(matches!(result, Err(Error::NothingThere { .. })), first_missing.is_some(), "{plan}");
            }
        }
    }
}

/// The number of the output that each element, in row-major order, is for.
fn outputs_of(sizes: &[usize], reduced: &[bool]) -> Vec<usize> {
    let count: usize = sizes.iter().product();
    (0..count)
        .map(|n| {
            let (mut left, mut output, mut step) = (n, 0, 1);
            for axis in (0..sizes.len()).rev() {
                if !reduced[axis] {
                    output += left % sizes[axis] * step;
                    step *= sizes[axis];
                }
                left /= sizes[axis];
            }
            output
        })
        .collect()
}

/// Rows, columns, short rows and narrow ones, several axes, memory in another order; less than a block and several.
#[test]
fn every_shape_and_density() {
    fn shapes<T: Sample>() {
        type View = (&'static [usize], Option<&'static [isize]>, &'static [isize]);
        let cases: [View; 12] = [
            (&[3, 50], None, &[1]),
            (&[7, 2100], None, &[1]),
            (&[40_000], None, &[0]),
            (&[70, 90], None, &[0]),
            (&[300, 3], None, &[1]),
            (&[9, 700, 3], None, &[1]),
            (&[2, 5, 3, 41], None, &[1, 3]),
            (&[4, 3, 600], None, &[0, 2]),
            (&[60, 50], Some(&[1, 60]), &[0, 1]),
            (&[30, 40], Some(&[-80, 2]), &[1]),
            (&[20, 30, 2], Some(&[1, 0, 20]), &[1, 2]),
            (&[33, 5], None, &[]),
        ];
        let mut rng = rng(11);
        for (sizes, strides, axes) in few(0..cases.len(), 4).map(|n| cases[n]) {
            let packed = Layout::contiguous(sizes).unwrap();
            let strides = strides.unwrap_or(packed.strides());
            let before = sizes.iter().zip(strides).map(|(&n, &s)| (n - 1) * s.min(0).unsigned_abs()).sum();
            let layout = Layout::strided(sizes, strides, before).unwrap();
            let there = mask_of(&mut rng, packed.required_len());
            check::<T, i64>(&sample(&mut rng, layout.required_len()), &layout, axes, &there, None);
        }
    }
    for_each_type!(shapes());
}

/// What is masked is better than all else: it has to be seen as not there, wherever it is.
#[test]
fn what_is_masked_never_wins() {
    fn masked<T: Sample>() {
        for &one in T::SPECIAL {
            for &other in T::SPECIAL {
                for at in [0, 1, 63, 64, 300, 699] {
                    let input: Vec<T> = (0..700).map(|n| if n == at { one } else { other }).collect();
                    // It alone is not there, and it alone is.
                    for is_there in [false, true] {
                        let there: Vec<bool> = (0..700).map(|n| (n == at) == is_there).collect();
                        let layout = Layout::contiguous(&[700]).unwrap();
                        if is_slow() && at % 64 != 0 {
                            continue;
                        }
                        check_once(&input, &layout, &there);
                    }
                }
            }
        }
    }
    fn check_once<T: Sample>(input: &[T], layout: &Layout, there: &[bool]) {
        for order @ (function, direction, policy) in orders() {
            let expected = reference::arg_reduce_masked(order, layout, &[true], input, |n| there[n])[0].unwrap();
            let plan = ArgReduce::new(function, layout).all_axes().direction(direction).nan_policy(policy);
            let (mut index, mut value) = ([9], [T::default()]);
            let plan = plan.plan::<T, u32>().unwrap();
            plan.run_masked_with_values(input, Mask::bools(there), &mut index, &mut value).unwrap();
            assert_eq!((index[0] as usize, value[0].bits()), (expected, input[expected].bits()), "{plan}");
        }
    }
    for_each_type!(masked());
}

/// Threads share outputs, or what one is chosen from.
#[test]
fn threads_change_no_answer() {
    struct Eager(usize);
    impl Executor for Eager {
        fn width(&self) -> usize {
            self.0
        }
        fn min_task_bytes(&self) -> usize {
            1
        }
        fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            ScopedThreads::new(self.0).parallel_for(tasks, task);
        }
    }
    let mut rng = rng(12);
    for (sizes, axes) in
        [(&[100_000_usize][..], &[0_isize][..]), (&[3, 30_000], &[1]), (&[5000, 12], &[1]), (&[900, 60], &[0])]
    {
        let layout = Layout::contiguous(sizes).unwrap();
        for _ in 0..6 {
            let input: Vec<f32> = sample(&mut rng, layout.required_len());
            let there = mask_of(&mut rng, layout.required_len());
            for (function, direction, policy) in orders() {
                let reduce = ArgReduce::new(function, &layout).axes(axes).direction(direction).nan_policy(policy);
                let plan = reduce.fill(-1).plan::<f32, i64>().unwrap();
                let expected = plan.run_masked_to_vec(&input, Mask::bools(&there)).unwrap();
                for width in [1, 2, 3, 7] {
                    let found = plan.run_masked_to_vec_on(&Eager(width), &input, Mask::bools(&there)).unwrap();
                    assert_eq!(found, expected, "{plan}, {width}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if is_slow() { 60 } else { 600 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_problems(problem in problem()) {
        fn check_type<T: Sample>(Problem { layout, axes, output, data_type, seed }: &Problem) {
            if T::DATA_TYPE == *data_type {
                let mut rng = rng(*seed);
                let input = sample::<T>(&mut rng, layout.required_len());
                let there = mask_of(&mut rng, layout.element_count());
                let check = if seed & 2 == 0 { check::<T, i64> } else { check::<T, u32> };
                check(&input, layout, axes, &there, output.as_ref());
            }
        }
        for_each_type!(check_type(&problem));
    }
}
