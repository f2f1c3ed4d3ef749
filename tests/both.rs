//! Both functions at once: what a plan for either writes, with values, as partials, under masks and on threads.

mod common;

use argreduce::{
    ArgReduce, AxisDirection, Buffers, DataType, Error, Index, Isa, Layout, Mask, NanPolicy, Partial, PartialBuffers,
    Plan, ReduceFunction, SliceExt, argmax, argmin, argminmax, reference,
};
use argreduce_guard::{Edge, Guarded, is_slow};
use common::problem::{Problem, problem};
use common::{Eager, Sample, rng, sample};
use proptest::prelude::*;
use rand::RngExt;

/// Holds both at once against a plan for each, by every direction, policy and ISA.
fn check<T: Sample, I: Index>(input: &[T], layout: &Layout, axes: &[isize], output: Option<&Layout>, seed: u64) {
    let input = Guarded::copy_of(&input[..layout.required_len()], Edge::End);
    let mut rng = rng(seed);
    let there: Vec<bool> = (0..layout.element_count()).map(|_| rng.random_range(0..3) != 0).collect();
    for isa in Isa::available() {
        for (direction, policy) in AxisDirection::ALL.into_iter().flat_map(|d| NanPolicy::ALL.map(|p| (d, p))) {
            let both = ArgReduce::argminmax(layout).axes(axes).direction(direction).nan_policy(policy).isa(isa).fill(7);
            let both = if let Some(output) = output { both.output_layout(output) } else { both };
            let both = both.plan_both::<T, I>().unwrap();
            let one = |function| -> Plan<T, I> {
                let one = ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy).isa(isa);
                let one = if let Some(output) = output { one.output_layout(output) } else { one };
                one.fill(7).plan().unwrap()
            };
            let each = [one(ReduceFunction::ArgMin), one(ReduceFunction::ArgMax)];
            let (len, outputs) = (both.output_layout().required_len(), both.output_layout().element_count());
            let places = || [(); 2].map(|()| Guarded::filled(I::at(-77, 0, 0), len, Edge::End));
            let values = || [(); 2].map(|()| Guarded::filled(T::default(), outputs, Edge::Start));
            let bits = |values: &[T]| values.iter().map(|value| value.bits()).collect::<Vec<_>>();
            for mask in [None, Some(Mask::bools(&there))] {
                let (mut wanted, mut wanted_values) = (places(), values());
                let read = argreduce::input(&input[..]).masked(mask);
                for ((plan, indices), values) in each.iter().zip(&mut wanted).zip(&mut wanted_values) {
                    plan.run(read, (&mut indices[..], &mut values[..])).unwrap();
                }
                for threads in [1, 3] {
                    let threads = Eager(threads);
                    let read = read.on(&threads);
                    let ([mut min, mut max], [mut lowest, mut highest]) = (places(), values());
                    let outputs = [(&mut min[..], &mut lowest[..]), (&mut max[..], &mut highest[..])];
                    both.run(read, outputs).unwrap();
                    assert_eq!([&min[..], &max[..]], [&wanted[0][..], &wanted[1][..]], "{both}");
                    assert_eq!([bits(&lowest), bits(&highest)], wanted_values.each_ref().map(|v| bits(v)), "{both}");
                    let [mut min, mut max] = places();
                    both.run(read, [&mut min[..], &mut max[..]]).unwrap();
                    assert_eq!([&min[..], &max[..]], [&wanted[0][..], &wanted[1][..]], "{both}");
                    check_partials(&both, read, &wanted);
                }
            }
        }
    }
}

fn check_partials<T: Sample, I: Index>(
    both: &argreduce::PlanBoth<T, I>,
    read: argreduce::Input<'_, T>,
    wanted: &[Guarded<I>; 2],
) {
    let [min, max]: [Vec<Partial<T, I>>; 2] = both.collect(read).unwrap();
    // The same once more changes nothing.
    let [merge_min, merge_max] = both.merge();
    merge_min.partials(&mut min.clone(), &min).unwrap();
    merge_max.partials(&mut max.clone(), &max).unwrap();
    let [mut of_min, mut of_max] = [(); 2].map(|()| vec![I::at(-77, 0, 0); wanted[0].len()]);
    both.finish([&min, &max], [&mut of_min, &mut of_max]).unwrap();
    assert_eq!([&of_min[..], &of_max[..]], [&wanted[0][..], &wanted[1][..]], "{both}");
}

#[test]
fn every_shape() {
    fn shapes<T: Sample>() {
        let mut rng = rng(31);
        for (sizes, strides, axes) in [
            (&[3_usize, 50][..], None, &[1_isize][..]),
            (&[5000], None, &[0]),
            (&[70, 90], None, &[0]),
            (&[300, 3], None, &[1]),
            (&[2, 5, 3, 41], None, &[1, 3]),
            (&[60, 50], Some(&[1_isize, 60][..]), &[0, 1]),
            (&[33, 5], None, &[]),
        ] {
            let packed = Layout::contiguous(sizes).unwrap();
            let layout = Layout::strided(sizes, strides.unwrap_or(packed.strides()), 0).unwrap();
            check::<T, u32>(&sample(&mut rng, layout.required_len()), &layout, axes, None, 5);
        }
    }
    for_each_type!(shapes());
}

#[test]
fn slices_and_packed_tensors() {
    fn of_type<T: Sample>() {
        let mut rng = rng(32);
        for len in [0, 1, 2, 7, 33, 700] {
            let input: Vec<T> = sample(&mut rng, len);
            assert_eq!(input.argminmax(), input.argmin().zip(input.argmax()));
            assert_eq!(input.nanargminmax(), input.nanargmin().zip(input.nanargmax()));
        }
        let input: Vec<T> = sample(&mut rng, 60);
        for axes in [&[][..], &[0], &[1], &[0, 2], &[0, 1, 2]] {
            let both: [Vec<u16>; 2] = argminmax(&input, &[3, 4, 5], axes).unwrap();
            let each: [Vec<u16>; 2] =
                [argmin(&input, &[3, 4, 5], axes).unwrap(), argmax(&input, &[3, 4, 5], axes).unwrap()];
            assert_eq!(both, each);
        }
    }
    for_each_type!(of_type());
}

/// Types as values, on buffers of bytes: the same, and errors that name the buffer.
#[test]
fn untyped() {
    let layout = Layout::contiguous(&[30, 41]).unwrap();
    let input: Vec<f32> = sample(&mut rng(35), 1230);
    let there: Vec<bool> = (0..1230).map(|n| n % 3 != 0).collect();
    let reduce = ArgReduce::argminmax(&layout).axes(&[1]).fill(-1);
    let (typed, untyped) =
        (reduce.plan_both::<f32, i64>().unwrap(), reduce.plan_both_untyped(DataType::F32, DataType::I64).unwrap());
    let (bytes, threads) = (bytemuck::cast_slice(&input), &Eager(2));
    for mask in [None, Some(Mask::bools(&there))] {
        let [min, max]: [(Vec<i64>, Vec<f32>); 2] = typed.collect(argreduce::input(&input).masked(mask)).unwrap();
        let mut found = [[9_i64; 30]; 2];
        let mut values = [[0.0_f32; 30]; 2];
        for has_values in [false, true] {
            let indices = found.each_mut().map(|x| bytemuck::cast_slice_mut(x));
            let mut values = values.each_mut().map(|x| has_values.then_some(bytemuck::cast_slice_mut(x))).into_iter();
            let outputs = indices.map(|indices| Buffers { indices, values: values.next().unwrap() }.into());
            untyped.run(argreduce::input::<u8>(bytes).masked(mask).on(threads), outputs).unwrap();
            assert_eq!(found.each_ref().map(|x| &x[..]), [&min.0[..], &max.0[..]]);
        }
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(values.each_ref().map(|x| bits(x)), [bits(&min.1), bits(&max.1)]);
    }
    let (mut min, mut max) = ([0_u8; 240], [0_u8; 239]);
    let error = untyped.run(bytes, [(&mut min[..]).into(), (&mut max[..]).into()]).unwrap_err();
    assert!(
        matches!(error, Error::TooShort { slice: "max_indices", len: 29, .. } | Error::Misaligned { .. }),
        "{error}"
    );
    assert_eq!(untyped.each().map(|plan| plan.to_string().starts_with("argmax")), [false, true]);
}

/// Partial answers by types as values are those of plans with types; and where one buffer is wrong, none is written.
#[test]
fn untyped_partials() {
    let (layout, whole) = (Layout::contiguous(&[30, 41]).unwrap(), [30, 90]);
    let input: Vec<f32> = sample(&mut rng(36), 1230);
    let there: Vec<bool> = (0..1230).map(|n| n / 41 != 7 && n % 3 != 0).collect();
    let reduce = ArgReduce::argminmax(&layout).axes(&[1]).window(&whole, &[0, 49]);
    let (typed, untyped) =
        (reduce.plan_both::<f32, u16>().unwrap(), reduce.plan_both_untyped(DataType::F32, DataType::U16).unwrap());
    let (bytes, threads) = (bytemuck::cast_slice(&input), &Eager(2));
    for mask in [None, Some(Mask::bools(&there))] {
        let wanted: [Vec<Partial<f32, u16>>; 2] = typed.collect(argreduce::input(&input).masked(mask)).unwrap();
        let (mut values, mut indices) = ([[9.0_f32; 30]; 2], [[9_u16; 30]; 2]);
        let run = |values: [&mut [f32]; 2], indices: [&mut [u16]; 2]| {
            let mut values = values.map(bytemuck::cast_slice_mut).into_iter();
            let outputs = indices.map(bytemuck::cast_slice_mut).map(|indices| {
                let values = values.next().unwrap();
                PartialBuffers { indices, values }.into()
            });
            untyped.run(argreduce::input::<u8>(bytes).masked(mask).on(threads), outputs)
        };
        for short in 0..4 {
            let mut slices = (values.each_mut().map(|x| &mut x[..]), indices.each_mut().map(|x| &mut x[..]));
            match short {
                0 | 1 => slices.0[short] = &mut std::mem::take(&mut slices.0[short])[1..],
                _ => slices.1[short - 2] = &mut std::mem::take(&mut slices.1[short - 2])[1..],
            }
            let name = ["min_values", "max_values", "min_indices", "max_indices"][short];
            let error = run(slices.0, slices.1).unwrap_err();
            assert!(matches!(error, Error::TooShort { slice, len: 29, .. } if slice == name), "{error}");
        }
        assert_eq!((values, indices), ([[9.0; 30]; 2], [[9; 30]; 2]));
        run(values.each_mut().map(|x| &mut x[..]), indices.each_mut().map(|x| &mut x[..])).unwrap();
        for (n, wanted) in wanted.iter().enumerate() {
            let found = values[n].iter().zip(&indices[n]).map(|(value, &index)| (value.to_bits(), index));
            assert!(found.eq(wanted.iter().map(|x| (x.value.to_bits(), x.index))), "{n}");
        }
    }
}

/// What no L2 cache holds is read part by part: of the outputs, or of what they are chosen from.
#[test]
fn beyond_caches() {
    fn of_type<T: Sample>() {
        let len = if is_slow() { 40_000 } else { 5 << 20 } / size_of::<T>();
        let mut rng = rng(34);
        for (rows, axes) in [(1, &[1_isize][..]), (7, &[1]), (len / 300, &[1]), (len / 300, &[0]), (50, &[0, 1])] {
            let layout = Layout::contiguous(&[rows, len / rows]).unwrap();
            let mut input: Vec<T> = sample(&mut rng, layout.required_len());
            // Most of it alike, so that the answers are far apart.
            input[1..].iter_mut().filter(|_| rng.random_range(0..1000) != 0).for_each(|x| *x = T::default());
            for direction in AxisDirection::ALL {
                let of = |function| ArgReduce::new(function, &layout).axes(axes).direction(direction).plan::<T, u32>();
                let each =
                    ReduceFunction::ALL.map(|function| of(function).unwrap().collect::<Vec<u32>>(&input).unwrap());
                let both = ArgReduce::argminmax(&layout).axes(axes).direction(direction).plan_both::<T, u32>().unwrap();
                for threads in [1, 2] {
                    let found: [Vec<u32>; 2] = both.collect(argreduce::input(&input).on(&Eager(threads))).unwrap();
                    assert_eq!(found, each, "{both}");
                }
            }
        }
    }
    for_each_type!(of_type());
}

/// A NaN is both; or neither, but where there is nothing else; and ties go to the same side in both.
#[test]
fn nan_and_ties() {
    let layout = Layout::contiguous(&[6]).unwrap();
    let of = |both: ArgReduce<'_>, input: [f32; 6]| {
        let [min, max]: [Vec<u32>; 2] = both.all_axes().plan_both().unwrap().collect(&input).unwrap();
        (min[0], max[0])
    };
    let both = ArgReduce::argminmax(&layout);
    let tied = [2.0, 1.0, 3.0, 1.0, 3.0, 2.0];
    assert_eq!(of(both, tied), (1, 2));
    assert_eq!(of(both.direction(AxisDirection::Decreasing), tied), (3, 4));
    let with_nan = [2.0, f32::NAN, 3.0, 1.0, f32::NAN, 2.0];
    assert_eq!(of(both, with_nan), (1, 1));
    assert_eq!(of(both.direction(AxisDirection::Decreasing), with_nan), (4, 4));
    assert_eq!(of(both.nan_policy(NanPolicy::Ignore), with_nan), (3, 2));
    assert_eq!(of(both.nan_policy(NanPolicy::Ignore), [f32::NAN; 6]), (0, 0));
}

/// Whatever is wrong with either is said before one is written.
#[test]
fn errors_come_first() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let plan = ArgReduce::argminmax(&layout).axes(&[1]).plan_both::<i32, u32>().unwrap();
    let input = [1, 2, 3, 4, 5, 6];
    let (mut min, mut max, mut lowest, mut highest) = ([9; 2], [9; 2], [9; 2], [9; 2]);
    let said = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert_eq!(
        said(plan.run(&input[..5], [&mut min, &mut max])),
        "the input slice has 5 elements of i32: the layout needs 6"
    );
    assert_eq!(
        said(plan.run(&input, [&mut min[..1], &mut max[..]])),
        "the min slice has 1 elements of u32: the layout needs 2"
    );
    assert_eq!(
        said(plan.run(&input, [(&mut min, &mut lowest[..]), (&mut max, &mut highest[..1])])),
        "the max_values slice has 1 elements of i32: the layout needs 2"
    );
    let mask = Mask::bits(&[0], 0);
    assert_eq!(
        said(plan.run(argreduce::input(&input).masked(Mask::bools(&[true; 5])), [&mut min, &mut max])),
        "the mask has 5 elements of bool: the input needs 6"
    );
    let nothing = plan.collect::<Vec<u32>>(argreduce::input(&input).masked(mask));
    assert!(matches!(nothing, Err(Error::NothingThere { .. })));
    let (some, none) = ([Partial { value: 1, index: 1 }; 2], [Partial::NONE; 2]);
    assert!(matches!(plan.finish([&some, &none], [&mut min, &mut max]), Err(Error::NothingThere { .. })));
    let beyond = [Partial { value: 1, index: 3 }; 2];
    assert!(matches!(plan.finish([&some, &beyond], [&mut min, &mut max]), Err(Error::IndexOutOfRange { .. })));
    assert!(plan.finish([&some, &some[..1]], [&mut min, &mut max]).is_err());
    let mut partials = [Partial::NONE; 2];
    assert!(plan.run(&input, [&mut partials[..], &mut [Partial::NONE][..]]).is_err());
    assert_eq!((partials, min, max, lowest, highest), ([Partial::NONE; 2], [9; 2], [9; 2], [9; 2], [9; 2]));
}

/// Against the reference, which knows one function at a time.
#[test]
fn as_the_reference() {
    let layout = Layout::contiguous(&[4, 70, 3]).unwrap();
    let input: Vec<f32> = sample(&mut rng(33), 840);
    let [min, max]: [Vec<u64>; 2] =
        ArgReduce::argminmax(&layout).axes(&[1]).plan_both().unwrap().collect(&input).unwrap();
    for (function, found) in [(ReduceFunction::ArgMin, min), (ReduceFunction::ArgMax, max)] {
        let order = (function, AxisDirection::Increasing, NanPolicy::Propagate);
        let expected = reference::arg_reduce(order, &layout, &[false, true, false], &input);
        assert_eq!(found, expected.iter().map(|&index| index as u64).collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: argreduce_guard::few(0..40, 4).count() as u32, ..Default::default() })]

    #[test]
    fn random_problems(problem in problem()) {
        let Problem { layout, axes, output, data_type, seed } = problem;
        argreduce::with_element_type!(data_type, T => {
            let input: Vec<T> = sample(&mut rng(seed), layout.required_len());
            check::<T, i64>(&input, &layout, &axes, output.as_ref(), seed);
        });
    }
}
