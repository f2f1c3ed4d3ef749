//! Masks: what is not there is left out, whatever its value; against the reference, by every format of a mask.

mod common;

use argreduce::{
    ArgReduce, AxisDirection, Buffers, DataType, Error, Index, Isa, Layout, Mask, NanPolicy, Partial, PartialBuffers,
    Plan, ReduceFunction, ScopedThreads, argmax, argmin, reference,
};
use argreduce_guard::{Edge, Guarded, few, is_slow};
use common::problem::{Problem, problem};
use common::{Eager, Sample, orders, places, rng, sample};
use proptest::prelude::*;
use rand::RngExt;
use rand::rngs::SmallRng;

type Order = (ReduceFunction, AxisDirection, NanPolicy);

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
    // Of each output, the places of its elements.
    let outputs = outputs_of(layout.sizes(), &reduced);
    let mut numbers = vec![Vec::new(); outputs.iter().max().map_or(0, |last| last + 1)];
    outputs.into_iter().zip(places(layout)).for_each(|(output, place)| numbers[output].push(place));
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
                plan.run(argreduce::input(&input[..]).masked(mask), (&mut indices[..], &mut values[..])).unwrap();
                let at = places(plan.output_layout());
                let found: Vec<I> = at.iter().map(|&place| indices[place]).collect();
                assert_eq!(found, wanted, "{plan}, format {format}\n{layout:?}\n{:?}\n{there:?}", &*input);
                let is_untouched = (0..indices.len()).filter(|place| !at.contains(place));
                assert!(is_untouched.clone().all(|place| indices[place] == untouched), "{plan}");

                let mut partials = vec![Partial::<T, I>::NONE; expected.len()];
                plan.run(argreduce::input(&input[..]).masked(mask), &mut partials).unwrap();
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
                let result = strict.run(argreduce::input(&input[..]).masked(mask), &mut indices[..]);
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
        let cases: [View; 15] = [
            // Blocks cut along both axes, the last of which end where the mask does.
            (&[70, 300], None, &[0]),
            // Rows of the input further apart than those of the mask, by no multiple of 8.
            (&[60, 130], Some(&[135, 1]), &[0]),
            (&[20, 700], Some(&[701, 1]), &[1]),
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

/// A mask of one row, or of one column, for all: read again for each block of the same place.
#[test]
fn broadcast_masks() {
    fn of_type<T: Sample>() {
        let mut rng = rng(13);
        for (sizes, strides) in [([70, 500], [0, 1]), ([150, 70], [0, 1]), ([9, 2100], [1, 0])] {
            let (layout, of_mask) =
                (Layout::contiguous(&sizes).unwrap(), Layout::strided(&sizes, &strides, 0).unwrap());
            let input: Vec<T> = sample(&mut rng, layout.required_len());
            let there = mask_of(&mut rng, of_mask.required_len());
            let place = |n: usize| n / sizes[1] * strides[0] as usize + n % sizes[1] * strides[1] as usize;
            let mask = Mask::strided(&there, &of_mask);
            for order @ (function, direction, policy) in orders() {
                for axis in [0, 1] {
                    let reduced = [axis == 0, axis == 1];
                    let expected = reference::arg_reduce_masked(order, &layout, &reduced, &input, |n| there[place(n)]);
                    let plan = ArgReduce::new(function, &layout).axes(&[axis]).direction(direction).nan_policy(policy);
                    let found = plan
                        .fill(-1)
                        .plan::<T, i64>()
                        .unwrap()
                        .collect::<Vec<i64>>(argreduce::input(&input).masked(mask))
                        .unwrap();
                    let wanted: Vec<i64> = expected.iter().map(|index| index.map_or(-1, |n| n as i64)).collect();
                    assert_eq!(found, wanted, "{order:?}, {sizes:?}, {axis}");
                }
            }
        }
    }
    for_each_type!(of_type());
}

/// Holds a reduction of axes of which some are broadcast, in the input and the mask, and the first of these is huge,
/// against the reference of two steps along it, of which the first is the first, and the second the last.
fn check_broadcast<T: Sample>(rng: &mut SmallRng, sizes: &[usize], broadcast: &[usize], axes: &[isize], order: Order) {
    let (rank, (function, direction, policy)) = (sizes.len(), order);
    let (mut strides, mut len) = (vec![0; rank], 1);
    for axis in (0..rank).rev().filter(|axis| !broadcast.contains(axis)) {
        strides[axis] = len as isize;
        len *= sizes[axis];
    }
    let (input, there): (Vec<T>, _) = (sample(rng, len), mask_of(rng, len));
    let few = Layout::strided(sizes, &strides, 0).unwrap();
    let at = places(&few);
    let reduced: Vec<bool> = (0..rank as isize).map(|axis| axes.contains(&axis)).collect();
    let expected = reference::arg_reduce_masked(order, &few, &reduced, &input, |n| there[at[n]]);

    // As a part that begins at step 1 of a larger tensor.
    let mut long = sizes.to_vec();
    long[broadcast[0]] = (1 << 56) / few.element_count();
    let (whole, start): (Vec<usize>, _) = (long.iter().map(|&size| size + 2).collect(), vec![1; rank]);
    let in_whole = |index: usize| {
        let (mut left, mut found, mut step) = (index, 0, 1);
        for axis in (0..rank).rev().filter(|&axis| reduced[axis]) {
            let n = left % sizes[axis];
            found += step * (1 + if n > 0 && axis == broadcast[0] { long[axis] - 1 } else { n });
            (left, step) = (left / sizes[axis], step * whole[axis]);
        }
        found as i64
    };
    let wanted: Vec<i64> = expected.iter().map(|index| index.map_or(-1, in_whole)).collect();
    let layout = Layout::strided(&long, &strides, 0).unwrap();
    let reduce = ArgReduce::new(function, &layout).axes(axes).direction(direction).nan_policy(policy).fill(-1);
    let reduce = reduce.window(&whole, &start);
    let (plan, mask) = (reduce.plan::<T, i64>().unwrap(), Mask::strided(&there, &layout));
    let (mut indices, mut values) = (vec![-7; wanted.len()], vec![T::default(); wanted.len()]);
    let x = argreduce::input(&input).masked(mask);
    plan.run(x, (&mut indices, &mut values)).unwrap();
    assert_eq!(indices, wanted, "{plan}\n{input:?}\n{there:?}");
    let mut partials = vec![Partial::NONE; wanted.len()];
    plan.run(x.on(&Eager(3)), &mut partials).unwrap();
    let of_partials: Vec<_> = partials.iter().map(|partial| (partial.index, partial.value.bits())).collect();
    let of_values: Vec<_> = indices.iter().zip(&values).map(|(&index, value)| (index, value.bits())).collect();
    assert_eq!(of_partials, of_values, "{plan}");
    let both = reduce.plan_both::<T, i64>().unwrap();
    let found: [Vec<i64>; 2] = both.collect(x.on(&Eager(2))).unwrap();
    assert_eq!(found[function as usize], wanted, "{both}");
}

/// An axis along which both the input and the mask are broadcast is answered without a walk along it.
#[test]
fn nothing_is_scanned_along_what_is_broadcast() {
    fn of_type<T: Sample>() {
        let mut rng = rng(19);
        for order in orders() {
            for _ in 0..3 {
                let mut check = |sizes: &[usize], broadcast: &[usize], axes: &[isize]| {
                    check_broadcast::<T>(&mut rng, sizes, broadcast, axes, order);
                };
                check(&[2], &[0], &[0]);
                check(&[2, 3], &[0], &[0, 1]);
                check(&[3, 2, 5], &[1], &[1, 2]);
                check(&[3, 2, 5], &[1], &[0, 1, 2]);
                check(&[2, 2, 40], &[0, 1], &[0, 1]);
                check(&[300, 2], &[1], &[1]);
            }
        }
    }
    for_each_type!(of_type(): u8 f32 f16 bf16 i64);
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
            plan.run(argreduce::input(input).masked(Mask::bools(there)), (&mut index, &mut value)).unwrap();
            assert_eq!((index[0] as usize, value[0].bits()), (expected, input[expected].bits()), "{plan}");
        }
    }
    for_each_type!(masked());
}

/// Threads share outputs, or what one is chosen from.
#[test]
fn threads_change_no_answer() {
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
                let expected = plan.collect::<Vec<i64>>(argreduce::input(&input).masked(Mask::bools(&there))).unwrap();
                for width in [1, 2, 3, 7] {
                    let found = plan
                        .collect::<Vec<i64>>(argreduce::input(&input).masked(Mask::bools(&there)).on(&Eager(width)))
                        .unwrap();
                    assert_eq!(found, expected, "{plan}, {width}");
                }
            }
        }
    }
}

/// The rules of a mask, one after another.
#[test]
fn rules() -> Result<(), Error> {
    let layout = Layout::contiguous(&[2, 3])?;
    let (input, nan) = ([1.0, f32::NAN, 2.0, f32::NAN, f32::NAN, 0.5], f32::NAN);
    let reduce = ArgReduce::argmax(&layout).axes(&[1]);
    let plan = reduce.fill(-9).plan::<f32, i32>()?;
    // NaN that is not there does not count; what is there but NaN loses to numbers where NaN is ignored, and wins over
    // nothing.
    let (mut indices, mut values) = ([0; 2], [7.0; 2]);
    plan.run(argreduce::input(&input).masked(Mask::bits(&[0b000_101], 0)), (&mut indices, &mut values))?;
    assert_eq!((indices, values), ([2, -9], [2.0, 0.0]));
    let ignoring = reduce.nan_policy(NanPolicy::Ignore).fill(-9).plan::<f32, i32>()?;
    assert_eq!(ignoring.collect::<Vec<i32>>(argreduce::input(&input).masked(Mask::bits(&[0b110_111], 0)))?, [2, 2]);
    assert_eq!(ignoring.collect::<Vec<i32>>(argreduce::input(&input).masked(Mask::bits(&[0b010_010], 0)))?, [1, 1]);
    assert_eq!(ignoring.collect::<Vec<i32>>(argreduce::input(&input).masked(Mask::bits(&[0], 0)))?, [-9, -9]);

    // Without a fill, the first output of which nothing is there is named. For a whole tensor there is no other.
    let strict = reduce.plan::<f32, i32>()?;
    let nothing = |result: Result<(), Error>| result.unwrap_err();
    let error = nothing(strict.run(argreduce::input(&input).masked(Mask::bits(&[0b000_111], 0)), &mut indices));
    assert_eq!(error, Error::NothingThere { output: vec![1, 0] });
    let all = ArgReduce::argmin(&layout).all_axes().plan::<f32, u8>()?;
    let error = nothing(all.run(argreduce::input(&input).masked(Mask::bytes(&[0; 6])), &mut [0]));
    assert_eq!(error.to_string(), "no element is there at all: without a fill, an index needs at least one");

    // A fill has to fit the type, whether there is an output or not.
    for (fill, is_ok) in [(-1, false), (256, false), (255, true), (0, true)] {
        assert_eq!(reduce.fill(fill).plan::<f32, u8>().is_ok(), is_ok);
    }
    assert!(
        reduce.fill(i64::from(i32::MIN)).plan::<f32, i32>().is_ok() && reduce.fill(i64::MAX).plan::<f32, u64>().is_ok()
    );
    assert!(reduce.fill(i64::from(i32::MIN) - 1).plan::<f32, i32>().is_err());
    assert!(reduce.fill(i64::MIN).plan::<f32, i64>().is_ok() && reduce.fill(-1).plan::<f32, usize>().is_err());

    // A mask that does not fit: nothing is written.
    let (row, other) = (Layout::contiguous(&[6])?, Layout::contiguous(&[2, 4])?);
    let long = [true; 8];
    for (mask, expected) in [
        (Mask::bits(&[0xff], 3), Error::MaskTooShort { unit: "bits", required: 9, len: 8 }),
        (Mask::bits(&[0xff], usize::MAX), Error::MaskTooShort { unit: "bits", required: usize::MAX, len: 8 }),
        (Mask::bytes(&[1; 5]), Error::MaskTooShort { unit: "bytes", required: 6, len: 5 }),
        (Mask::strided(&long, &row), Error::MaskRank { expected: 2, found: 1 }),
        (Mask::strided(&long, &other), Error::MaskSize { axis: 1, expected: 3, found: 4 }),
    ] {
        indices = [77; 2];
        assert_eq!(plan.run(argreduce::input(&input).masked(mask), &mut indices), Err(expected.clone()));
        assert_eq!(plan.run(argreduce::input(&input).masked(mask), &mut [Partial::NONE; 2]), Err(expected));
        assert_eq!(indices, [77; 2]);
    }
    assert!(plan.run(argreduce::input(&input[1..]).masked(Mask::bools(&long)), &mut indices).is_err());
    assert!(plan.run(argreduce::input(&input).masked(Mask::bools(&long)), &mut indices[1..]).is_err());
    // Longer ones than needed will do, as longer inputs do.
    assert!(plan.run(argreduce::input(&input).masked(Mask::bools(&long)), &mut indices).is_ok());

    // An extent of 0 is an empty reduction, whatever the fill; without outputs there is nothing to do.
    let empty = ArgReduce::argmax(&Layout::contiguous(&[2, 0])?).axes(&[1]).fill(1);
    assert!(matches!(empty.plan::<f32, i32>(), Err(Error::EmptyReduction { .. })));
    let part = empty.window(&[2, 3], &[0, 1]).plan::<f32, i32>()?;
    let result = part.run(argreduce::input(&[]).masked(Mask::bools(&[])), &mut indices);
    assert!(matches!(result, Err(Error::EmptyReduction { .. })), "{result:?}");
    let mut partials = [Partial { value: nan, index: 3 }; 2];
    part.run(argreduce::input(&[]).masked(Mask::bits(&[], 0)), &mut partials)?;
    assert!(partials.iter().all(Partial::is_none));
    let none = ArgReduce::argmax(&Layout::contiguous(&[0, 3])?).axes(&[1]).plan::<f32, i32>()?;
    assert_eq!(none.collect::<Vec<i32>>(argreduce::input(&[]).masked(Mask::bools(&[])))?, [0; 0]);

    // Partial answers of nothing merge as any, and are finished by the fill.
    let mut best = [Partial::NONE; 2];
    plan.run(argreduce::input(&input).masked(Mask::bits(&[0b100_000], 0)), &mut best)?;
    assert!(best[0].is_none() && best[1] == Partial { value: 0.5, index: 2 });
    plan.finish(&best, &mut indices)?;
    assert_eq!(indices, [-9, 2]);
    assert_eq!(strict.finish(&best, &mut indices), Err(Error::NothingThere { output: vec![0, 0] }));
    assert_eq!(indices, [-9, 2]);
    Ok(())
}

/// The other ways to say it.
#[test]
fn all_ways_to_call() -> Result<(), Error> {
    let (input, there) = ([3_i16, 9, 2, 5, 5, 4], [true, false, true, true, true, false]);
    let mask = Mask::bools(&there);
    let of_all = |mask| argmax::<Vec<u32>, _, _>(argreduce::input(&input).masked(mask), &[6], &[0]);
    assert_eq!(of_all(mask)?, [3]);
    assert_eq!(of_all(Mask::bits(&[0], 1)), Err(Error::NothingThere { output: vec![] }));
    for (mask, message) in [
        (Mask::bools(&there[1..]), "the mask has 5 elements of bool: the input needs 6"),
        (Mask::strided(&there, &Layout::contiguous(&[2, 3])?), "the mask has rank 2: it has to have the input's, 1"),
    ] {
        assert_eq!(of_all(mask).unwrap_err().to_string(), message);
    }
    let masked = argreduce::input(&input).masked(mask);
    assert_eq!(argmax::<Vec<u32>, _, _>(masked, &[2, 3], &[1])?, [0, 0]);
    assert_eq!(argmin::<Vec<u8>, _, _>(masked, &[2, 3], &[-1])?, [2, 0]);
    assert!(matches!(argmin::<Vec<u8>, _, _>(masked, &[1, 3], &[1]), Err(Error::TooLong { .. })));

    let layout = Layout::contiguous(&[2, 3])?;
    let reduce = ArgReduce::argmax(&layout).axes(&[0]).fill(-1);
    let plan = reduce.plan_untyped(DataType::I16, DataType::I64)?;
    let (mut indices, mut values) = ([9_i64; 3], [9_i16; 3]);
    let bytes: &[u8] = bytemuck::cast_slice(&input);
    for threads in [1, 3] {
        let threads = &ScopedThreads::new(threads);
        let (to, to_values) = (bytemuck::cast_slice_mut(&mut indices), bytemuck::cast_slice_mut(&mut values));
        let buffers = Buffers { indices: to, values: Some(to_values) };
        plan.run(argreduce::input(bytes).masked(mask).on(threads), buffers)?;
        assert_eq!((indices, values), ([1, 1, 0], [5, 5, 2]));
    }
    let (to, to_values) = (bytemuck::cast_slice_mut(&mut indices), bytemuck::cast_slice_mut(&mut values));
    let buffers = PartialBuffers { indices: to, values: to_values };
    plan.run(argreduce::input(bytes).masked(Mask::bits(&[0], 0)), buffers)?;
    assert_eq!((indices, values), ([-1; 3], [0; 3]));

    // A stream in chunks, whose masks are theirs; and a window, whose mask is that of the part.
    let mut stream = reduce.stream::<i16, i64>(0)?;
    assert_eq!(stream.collect::<Vec<i64>>()?, [-1; 3]);
    for (row, there) in input.chunks(3).zip(there.chunks(3)) {
        stream.push(&Layout::contiguous(&[1, 3])?, argreduce::input(row).masked(Mask::bools(there)))?;
    }
    assert_eq!(stream.collect::<(Vec<i64>, Vec<i16>)>()?, (vec![1, 1, 0], vec![5, 5, 2]));
    let error =
        stream.push(&Layout::contiguous(&[1, 3])?, argreduce::input(&input).masked(Mask::bits(&[], 0))).unwrap_err();
    assert_eq!((error, stream.position()), (Error::MaskTooShort { unit: "bits", required: 3, len: 0 }, 2));
    let mut strict = ArgReduce::argmax(&layout).axes(&[0]).stream::<i16, i64>(0)?;
    strict.push(&Layout::contiguous(&[1, 3])?, argreduce::input(&input).masked(Mask::bits(&[0b110], 0)))?;
    assert_eq!(strict.collect::<Vec<i64>>(), Err(Error::NothingThere { output: vec![0, 0] }));
    let part = ArgReduce::argmin(&layout).axes(&[1]).window(&[4, 9], &[1, 5]).plan::<i16, u32>()?;
    assert_eq!(part.collect::<Vec<u32>>(argreduce::input(&input).masked(mask))?, [7, 5]);
    Ok(())
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
