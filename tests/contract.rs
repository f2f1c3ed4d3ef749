//! The worked examples of the DirectML documents, and the semantics table of the README, row by row.

mod common;

use argreduce::{
    ArgReduce, AxisDirection, Buffers, DataType, Element, Error, Isa, Layout, Mask, NanPolicy, Options, Partial,
    ReduceFunction, SliceExt, argmax, argmin, argminmax, reference, with_element_type,
};
use argreduce_guard::{few, is_slow};
use bytemuck::{NoUninit, bytes_of_mut, cast_slice, cast_slice_mut};
use common::{Sample, orders};
use half::{bf16, f16};
use std::fmt::Debug;

/// One reduction of a packed tensor, on every ISA, all of which must agree.
fn reduce<T: Sample>(
    (function, direction, policy): (ReduceFunction, AxisDirection, NanPolicy),
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Vec<i64> {
    let layout = Layout::contiguous(sizes).unwrap();
    let mut answers = Isa::available().map(|isa| {
        let reduce = ArgReduce::new(function, &layout).axes(axes).direction(direction).nan_policy(policy).isa(isa);
        let plan = reduce.plan::<T, i64>().unwrap();
        let mut indices = vec![-1; plan.output_layout().required_len()];
        plan.run(input, &mut indices).unwrap();
        indices
    });
    let first = answers.next().unwrap();
    assert!(answers.all(|answer| answer == first));
    first
}

use AxisDirection::{Decreasing, Increasing};
use NanPolicy::{Ignore, Propagate};
use ReduceFunction::{ArgMax, ArgMin};

#[test]
fn directml_examples() {
    let input = [1.0_f32, 2., 3., 3., 0., 4., 2., 5., 2.];
    let argmin = |axes| reduce((ArgMin, Increasing, Propagate), &input, &[3, 3], axes);
    let argmax = |axes| reduce((ArgMax, Increasing, Propagate), &input, &[3, 3], axes);
    assert_eq!(argmin(&[0]), [0, 1, 2]);
    assert_eq!(argmin(&[1]), [0, 1, 0]);
    assert_eq!(argmin(&[0, 1]), [4]);
    assert_eq!(argmax(&[0]), [1, 2, 1]);
    assert_eq!(argmax(&[1]), [2, 2, 1]);
    assert_eq!(argmax(&[0, 1]), [7]);

    let ties = [1, 2, 3, 2, 1];
    assert_eq!(reduce((ArgMin, Increasing, Propagate), &ties, &[5], &[0]), [0]);
    assert_eq!(reduce((ArgMin, Decreasing, Propagate), &ties, &[5], &[0]), [4]);
    let ties = [3, 2, 1, 2, 3];
    assert_eq!(reduce((ArgMax, Increasing, Propagate), &ties, &[5], &[0]), [0]);
    assert_eq!(reduce((ArgMax, Decreasing, Propagate), &ties, &[5], &[0]), [4]);
}

/// The rule that WebNN's vectors for the axes [3, 0, 1] ask for: the index counts in ascending order of dimensions,
/// whatever the order of the axes.
#[test]
fn index_order_is_that_of_the_dimensions() {
    let input: Vec<f32> = (0..24).map(|n| if n % 5 == 0 { 9. } else { (n % 7) as f32 }).collect();
    let sizes = [2, 3, 4];
    for order in orders() {
        let ascending = reduce(order, &input, &sizes, &[0, 2]);
        assert_eq!(ascending, reduce(order, &input, &sizes, &[2, 0]));
        assert_eq!(ascending, reduce(order, &input, &sizes, &[-1, 0]));
    }
    // The largest element is at [1, 0, 2] of [2, 2, 3]: over axes 0 and 2 that is 1 * 3 + 2.
    let mut input = [0; 12];
    input[8] = 1;
    assert_eq!(reduce((ArgMax, Increasing, Propagate), &input, &[2, 2, 3], &[2, 0]), [5, 0]);
}

/// `first` and `last` are the answers of Increasing and Decreasing.
fn expect<T: Sample + Debug>(function: ReduceFunction, policy: NanPolicy, input: &[T], first: i64, last: i64) {
    for (direction, expected) in [(Increasing, first), (Decreasing, last)] {
        let found = reduce((function, direction, policy), input, &[input.len()], &[0]);
        assert_eq!(found, [expected], "{function} {direction} {policy} of {input:?}");
    }
}

#[test]
fn ties_zeros_infinities_and_nan() {
    macro_rules! floats {
        ($($t:ident: $from:expr;)+) => {$({
            let from: fn(f32) -> $t = $from;
            let row = |values: &[f32]| values.iter().map(|&v| from(v)).collect::<Vec<$t>>();
            let (inf, nan) = (f32::INFINITY, f32::NAN);
            for policy in NanPolicy::ALL {
                // Signed zeros tie.
                expect(ArgMax, policy, &row(&[-0., 0., -0., 0.]), 0, 3);
                expect(ArgMin, policy, &row(&[0., -0., 0., -0.]), 0, 3);
                // Infinities are ordinary values.
                expect(ArgMin, policy, &row(&[inf; 5]), 0, 4);
                expect(ArgMax, policy, &row(&[-inf; 5]), 0, 4);
                expect(ArgMax, policy, &row(&[-inf, 1., inf, inf, -inf]), 2, 3);
                // Nothing but NaN is a tie.
                expect(ArgMax, policy, &row(&[nan, -nan, nan]), 0, 2);
                expect(ArgMin, policy, &row(&[-nan, nan, nan]), 0, 2);
            }
            for function in ReduceFunction::ALL {
                expect(function, Propagate, &row(&[inf, nan, -inf, -nan, 0.]), 1, 3);
            }
            expect(ArgMax, Ignore, &row(&[nan, -inf, nan, -inf, nan]), 1, 3);
            expect(ArgMin, Ignore, &row(&[nan, inf, nan, inf, nan]), 1, 3);
            expect(ArgMax, Ignore, &row(&[nan, 2., nan, 5., 5., nan]), 3, 4);
            expect(ArgMin, Ignore, &row(&[nan, 2., 2., 5., 5., nan]), 1, 2);
            // Subnormals count.
            let tiny = $t::from_bits(1);
            expect(ArgMax, Propagate, &[$t::from_bits(0), tiny, $t::from_bits(0)], 1, 1);
            expect(ArgMin, Propagate, &[tiny, $t::from_bits(0), tiny], 1, 1);
        })+};
    }
    floats! {
        f32: |v| v;
        f64: f64::from;
        f16: f16::from_f32;
        bf16: bf16::from_f32;
    }
    expect(ArgMax, Propagate, &[false, true, true, false], 1, 2);
    expect(ArgMin, Propagate, &[true, false, false, true], 1, 2);
    expect(ArgMax, Propagate, &[u64::MAX, i64::MAX as u64, u64::MAX], 0, 2);
    expect(ArgMin, Propagate, &[i64::MAX, i64::MIN, i64::MIN], 1, 2);
}

/// 16-bit floats are compared exactly, and as floats: all 65536 of them, each with the next, against the order of
/// `f32`.
#[test]
fn every_half_is_ordered() {
    fn all<T: Sample>(from_bits: fn(u16) -> T, to_f32: fn(T) -> f32) {
        let mut numbers: Vec<T> = (0..=u16::MAX).map(from_bits).filter(|v| !to_f32(*v).is_nan()).collect();
        numbers.sort_by(|a, b| to_f32(*a).partial_cmp(&to_f32(*b)).unwrap());
        for pair in few(0..numbers.len() - 1, 4).map(|n| &numbers[n..n + 2]) {
            let ties = to_f32(pair[0]) == to_f32(pair[1]);
            // Above a vector long, so that lanes do it.
            let row = [[pair[0]; 40], [pair[1]; 40]].concat();
            expect(ArgMax, Propagate, &row, if ties { 0 } else { 40 }, 79);
        }
    }
    all::<f16>(f16::from_bits, f16::to_f32);
    all::<bf16>(bf16::from_bits, bf16::to_f32);
}

#[test]
fn axes() {
    let input: Vec<i32> = (0..24).map(|n| (n * 7) % 11).collect();
    let order = (ArgMax, Increasing, Propagate);
    // No axes: the sizes of the input, and every index 0.
    assert_eq!(reduce(order, &input, &[2, 3, 4], &[]), [0; 24]);
    // All of them, asked for explicitly.
    let layout = Layout::contiguous(&[2, 3, 4]).unwrap();
    let plan = ArgReduce::argmax(&layout).all_axes().plan::<i32, u32>().unwrap();
    let mut all = [9];
    plan.run(&input, &mut all).unwrap();
    assert_eq!(i64::from(all[0]), reduce(order, &input, &[24], &[0])[0]);
    assert_eq!(plan.output_layout().sizes(), [1, 1, 1]);
    // Rank 0.
    assert_eq!(argmax::<Vec<u32>, f32, _>(&[3.0], &[], &[]).unwrap(), [0]);
    // Rank is preserved; a helper drops the reduced axes.
    let plan = ArgReduce::argmin(&layout).axes(&[-2]).plan::<i32, i64>().unwrap();
    assert_eq!(plan.output_layout().sizes(), [2, 1, 4]);
    assert_eq!(argreduce::drop_axes(layout.sizes(), &[-2]).unwrap(), [2, 4]);
    assert_eq!(argreduce::drop_axes(layout.sizes(), &[0, 1, 2]).unwrap(), []);
}

#[test]
fn slices() {
    let data: Vec<f32> = (0..70).map(|n| ((n * 37) % 19) as f32).collect();
    for len in 1..=data.len() {
        let slice = &data[..len];
        let expected = [ArgMin, ArgMax].map(|f| reduce((f, Increasing, Propagate), slice, &[len], &[0])[0]);
        let expected = expected.map(|index| Some(index as usize));
        assert_eq!([slice.argmin(), slice.argmax()], expected, "{slice:?}");
        assert_eq!([slice.nanargmin(), slice.nanargmax()], expected, "{slice:?}");
    }
}

/// Of nothing but NaN there is no number, however long the slice; of one number, it is that, and of no element nothing.
#[test]
fn slices_of_nan() {
    fn none<T: Sample>() {
        let nans: Vec<T> = T::SPECIAL.iter().copied().filter(|&value| value.is_nan()).collect();
        let nans: Vec<T> = nans.iter().copied().cycle().take(if nans.is_empty() { 0 } else { 300 }).collect();
        assert_eq!((nans[..0].nanargmin(), nans[..0].nanargmax()), (None, None));
        assert_eq!((nans[..0].nanargminmax(), nans[..0].argminmax()), (None, None));
        for len in (1..nans.len()).filter(|len| len % 7 == 0 || *len < 70) {
            let mut slice = nans[..len].to_vec();
            assert_eq!((slice.nanargmin(), slice.nanargmax()), (None, None), "{len}");
            assert_eq!(slice.arg_reduce(ArgMax, Ignore), Some(0));
            slice[len / 2] = T::SPECIAL[0];
            assert_eq!((slice.nanargmin(), slice.nanargmax()), (Some(len / 2), Some(len / 2)), "{len}");
        }
    }
    for_each_type!(none());
}

/// Slices of any type have the methods, so that the compiler names the types that are elements.
#[test]
fn slices_of_any_type_name_their_elements() {
    fn is_named<X>()
    where
        [X]: SliceExt<Element = X>,
    {
    }
    is_named::<f32>();
    is_named::<Option<f32>>();
}

/// Whatever the shape, all of a plan is of the ISA that was asked for.
#[test]
fn a_forced_isa_is_forced() {
    for isa in Isa::available() {
        for sizes in [[1, 100, 8], [100, 3, 15], [100, 24, 15], [100, 21, 7], [100, 10, 5], [2048, 32, 192], [1, 1, 40]]
        {
            let layout = Layout::contiguous(&sizes).unwrap();
            for axis in 0..3 {
                for plan in [
                    ArgReduce::argmax(&layout).axes(&[axis]).isa(isa).plan::<u8, u32>().unwrap().to_string(),
                    ArgReduce::argmin(&layout).axes(&[axis]).isa(isa).plan::<f32, u32>().unwrap().to_string(),
                ] {
                    assert!(
                        plan.ends_with(&format!(", {isa}")) || plan.ends_with(", trivial"),
                        "{plan} is not of {isa}"
                    );
                }
            }
        }
    }
}

/// By options: on slices of any length, on packed tensors, and by a plan, what the reference finds.
#[test]
fn options() {
    fn agree<T: Sample + PartialOrd>() {
        let data: Vec<T> = (0..70).map(|n| T::SPECIAL[n * n * 31 % 47 % T::SPECIAL.len()]).collect();
        let bits = |values: &[T]| values.iter().map(|value| value.bits()).collect::<Vec<_>>();
        for order in orders() {
            let (function, direction, policy) = order;
            let options = Options::new().direction(direction).nan_policy(policy);
            for len in 1..data.len() {
                let slice = &data[..len];
                let layout = Layout::contiguous(&[len]).unwrap();
                let expected = reference::arg_reduce(order, &layout, &[true], slice)[0];
                assert_eq!(slice.arg_reduce(function, options), Some(expected), "{order:?} of {slice:?}");
                let (plain, numbers) = match function {
                    ArgMin => (slice.argmin(), slice.nanargmin()),
                    _ => (slice.argmax(), slice.nanargmax()),
                };
                let of = |both: Option<(usize, usize)>| both.map(|(min, max)| [min, max][function as usize]);
                if options == Options::new() {
                    assert_eq!([plain, of(slice.argminmax())], [Some(expected); 2], "{order:?} of {slice:?}");
                } else if options == Ignore.into() {
                    let expected = Some(expected).filter(|&index| !slice[index].is_nan());
                    assert_eq!([numbers, of(slice.nanargminmax())], [expected; 2], "{order:?} of {slice:?}");
                }
            }
            assert_eq!(data[..0].arg_reduce(function, options), None);

            let (sizes, axes) = ([2, 7, 5], [2, -3]);
            let layout = Layout::contiguous(&sizes).unwrap();
            let expected = reference::arg_reduce(order, &layout, &[true, false, true], &data);
            let expected: Vec<i64> = expected.into_iter().map(|index| index as i64).collect();
            let plan = ArgReduce::new(function, &layout).axes(&axes).options(options).plan::<T, i64>().unwrap();
            assert_eq!(plan.collect::<Vec<i64>>(&data).as_ref(), Ok(&expected), "{order:?}");
            let mut best = vec![T::default(); 7];
            plan.run(&data, (&mut [0; 7], &mut best)).unwrap();
            let (indices, values): (Vec<i64>, Vec<T>) = plan.collect(&data).unwrap();
            assert_eq!((&indices, bits(&values)), (&expected, bits(&best)));
            if options == Options::default() {
                let found: [Vec<i64>; 2] = argminmax(&data, &sizes, &axes).unwrap();
                let (one, (indices, values)): (Vec<i64>, (Vec<i64>, Vec<T>)) = match function {
                    ArgMin => (argmin(&data, &sizes, &axes).unwrap(), argmin(&data, &sizes, &axes).unwrap()),
                    ArgMax => (argmax(&data, &sizes, &axes).unwrap(), argmax(&data, &sizes, &axes).unwrap()),
                    other => panic!("no function for {other}"),
                };
                assert_eq!((&indices, bits(&values)), (&expected, bits(&best)));
                assert_eq!([&one, &found[usize::from(function == ArgMax)]], [&expected; 2]);
            }
        }
    }
    for_each_type!(agree());
    assert_eq!(Options::from(Ignore), Options::default().nan_policy(Ignore));
    assert_eq!(Options::from(Decreasing), Options::default().direction(Decreasing));
}

/// A NaN is both; or neither, but where there is nothing else; and ties go to the same side in both.
#[test]
fn both_at_once() {
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

/// The rules of a mask, one after another.
#[test]
fn masks() -> Result<(), Error> {
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

/// Masks of a packed tensor, of the chunks of a stream, and of a part.
#[test]
fn masks_of_all_that_is_called() -> Result<(), Error> {
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

/// `bool` in buffers is bytes, of which any but 0 is true: along each way that there is, one that is true is found, and
/// comes back as it was.
#[test]
fn any_byte_but_zero_is_true() {
    for (sizes, axis) in [([1, 3, 5000], 1), ([5000, 3, 1], 1), ([200, 10, 5], 1), ([30, 100, 1], 1), ([3, 4000, 2], 1)]
    {
        let layout = Layout::contiguous(&sizes).unwrap();
        let input: Vec<u8> =
            (0..layout.element_count()).map(|n| if n * n % 11 > 3 { 0 } else { (n * n % 251) as u8 }).collect();
        let truths: Vec<bool> = input.iter().map(|&byte| byte != 0).collect();
        for (isa, function) in Isa::available().flat_map(|isa| ReduceFunction::ALL.map(|function| (isa, function))) {
            let reduce = ArgReduce::new(function, &layout).axes(&[axis]).isa(isa);
            let plan = reduce.plan_untyped(DataType::Bool, DataType::U32).unwrap();
            let outputs = plan.output_layout().element_count();
            let (mut indices, mut values) = (vec![9_u32; outputs], vec![9_u8; outputs]);
            let buffers = Buffers { indices: cast_slice_mut(&mut indices), values: Some(&mut values) };
            plan.run(&input, buffers).unwrap();
            let (_, expected): (Vec<u32>, Vec<bool>) = reduce.plan().unwrap().collect(&truths).unwrap();
            for (n, (&index, &value)) in indices.iter().zip(&values).enumerate() {
                let inner = sizes[2];
                let place = (n / inner * sizes[1] + index as usize) * inner + n % inner;
                assert_eq!((value, value != 0), (input[place], expected[n]), "{plan}, output {n}");
            }
            assert!(function == ReduceFunction::ArgMin || values.iter().any(|&value| value > 1), "{plan}");
        }
    }
}

/// Vectors of an output with gaps are as long as it, and 0 between the places; values are packed.
#[test]
fn vectors_of_strided_outputs() {
    let (layout, input) = (Layout::contiguous(&[3, 2]).unwrap(), [1_u8, 5, 7, 7, 0, 9]);
    let output = Layout::strided(&[3, 1], &[-2, 0], 5).unwrap();
    let plan = ArgReduce::argmax(&layout).axes(&[1]).output_layout(&output).plan::<u8, u32>().unwrap();
    assert_eq!(plan.collect::<Vec<u32>>(&input), Ok(vec![0, 1, 0, 0, 0, 1]));
    assert_eq!(plan.collect::<(Vec<u32>, Vec<u8>)>(&input), Ok((vec![0, 1, 0, 0, 0, 1], vec![5, 7, 9])));
}

#[test]
fn empty() {
    // An empty output: success, and nothing is written, whatever the reduced extents.
    for sizes in [[0, 3], [0, 0]] {
        let layout = Layout::contiguous(&sizes).unwrap();
        let plan = ArgReduce::argmax(&layout).axes(&[1]).plan::<f32, u32>().unwrap();
        let mut indices = [7, 7];
        plan.run(&[], (&mut indices, &mut [])).unwrap();
        assert_eq!(indices, [7, 7]);
    }
    let sizes = [0, 5_000_000_000, 4];
    assert!(argmax::<Vec<u32>, f32, _>(&[], &sizes, &[1, 2]).unwrap().is_empty());
    let (order, layout) = ((ArgMax, Increasing, Propagate), Layout::contiguous(&sizes).unwrap());
    assert!(reference::arg_reduce::<f32>(order, &layout, &[false, true, true], &[]).is_empty());
    // A reduced extent of 0 with outputs.
    assert_eq!(argmin::<Vec<u32>, f32, _>(&[], &[3, 0], &[1]), Err(Error::EmptyReduction { axis: 1, of: "tensor" }));
    assert_eq!(argmin::<Vec<u32>, f32, _>(&[], &[0], &[0]), Err(Error::EmptyReduction { axis: 0, of: "tensor" }));
    assert_eq!([0_i8; 0].argmin(), None);
}

#[test]
fn index_type() {
    // Broadcast axes make long reductions of little memory: 2^31 elements from one, 2^32 and 2^32 + 1 from two.
    let largest = |sizes: &[usize]| Layout::strided(sizes, &vec![0; sizes.len()], 0).unwrap();
    let layout = largest(&[1 << 31]);
    let plan = |layout: &Layout| ArgReduce::argmax(layout).all_axes().direction(Decreasing).plan::<u8, i32>();
    let mut last = [0];
    plan(&layout).unwrap().run(&[0], &mut last).unwrap();
    assert_eq!(last, [i32::MAX]);
    let error = plan(&largest(&[(1 << 31) + 1])).unwrap_err();
    assert_eq!(error, Error::IndexTooLarge { largest: 1 << 31, index_type: "i32", max: i32::MAX as u64 });
    let layout = largest(&[1 << 16, 1 << 16]);
    let reduce = ArgReduce::argmax(&layout).all_axes().direction(Decreasing);
    let mut last = [0];
    reduce.plan::<u8, u32>().unwrap().run(&[0], &mut last).unwrap();
    assert_eq!(last, [u32::MAX]);
    let layout = largest(&[(1 << 32) + 1]);
    let reduce = ArgReduce::argmax(&layout).all_axes().direction(Decreasing);
    assert!(matches!(reduce.plan::<u8, u32>(), Err(Error::IndexTooLarge { .. })));
    let mut last = [0];
    reduce.plan::<u8, i64>().unwrap().run(&[0], &mut last).unwrap();
    assert_eq!(last, [1 << 32]);
}

/// More visited elements than a 32-bit position counts, in little memory: windows that overlap.
#[test]
fn more_than_32_bits_of_elements() {
    if is_slow() {
        return; // 2^35 elements, and nothing in it is up to the ISA
    }
    let mut input = vec![1_u8; (1 << 13) + (1 << 20)];
    let layout = Layout::strided(&[1 << 20, 1 << 13], &[1, 1], 0).unwrap();
    // The last element of the last window: a single one.
    *input.last_mut().unwrap() = 0;
    let end = input.len() - 2;
    input[end] = 2;
    for (direction, expected) in [(Increasing, (1 << 33) - 1), (Decreasing, (1 << 33) - 1)] {
        let plan = ArgReduce::argmax(&layout).all_axes().direction(direction).plan::<u8, u64>().unwrap();
        let (mut index, mut value) = ([0], [0]);
        plan.run(&input, (&mut index, &mut value)).unwrap();
        assert_eq!((index[0], value[0]), (expected, 2), "{plan}");
    }
    input[end] = 1;
    for (direction, expected) in [(Increasing, 0), (Decreasing, (1 << 33) - 1)] {
        let plan = ArgReduce::argmax(&layout).all_axes().direction(direction).plan::<u8, u64>().unwrap();
        let mut index = [0];
        plan.run(&input, &mut index).unwrap();
        assert_eq!(index[0], expected, "{plan}");
    }
}

/// The same without a plan. (A slice of zeros takes no memory of its own, but for what is written.)
#[test]
#[cfg(target_pointer_width = "64")]
fn more_than_32_bits_of_a_slice() {
    if is_slow() {
        return; // 2^32 elements, as above
    }
    let mut input = vec![0_u8; (1 << 32) + 2];
    input[(1 << 32) + 1] = 1;
    assert_eq!(input.argmax(), Some((1 << 32) + 1));
}

/// A row that no cache holds, and a slice, of which the best is in several places, whatever the order in which they are
/// read.
#[test]
fn more_than_a_cache_holds() {
    if is_slow() {
        return;
    }
    let mut row = vec![0.0_f32; (8 << 20) + 5];
    let end = row.len();
    for (first, last) in [(end - 1, end - 1), (end / 3, end - 1), (end / 3 - 1, end / 3), (0, end / 2), (0, end - 2)] {
        for best in [1.0, f32::NAN] {
            (row[first], row[last]) = (best, best);
            expect(ReduceFunction::ArgMax, NanPolicy::Propagate, &row, first as i64, last as i64);
            assert_eq!(row.argmax(), Some(first));
            (row[first], row[last]) = (0.0, 0.0);
        }
    }
}

#[test]
fn more_rows_than_16_bits_count() {
    // The best of one column is among the first rows, that of the other beyond those that lanes of 16 bits count by
    // vectors of 32 bytes: 8 at a time.
    let mut input = vec![0_i16; 1_200_000];
    (input[2 * 7], input[2 * 590_000 + 1]) = (1, 1);
    assert_eq!(argreduce::argmax::<Vec<u32>, i16, _>(&input, &[600_000, 2], &[0]).unwrap(), [7, 590_000]);
}

/// No value of an enum is forgotten where values lead to something: each has a name and a number of its own, and each
/// type is the one that it says.
#[test]
fn no_value_is_forgotten() {
    macro_rules! named {
        ($($name:ident)+) => {$(
            for (n, value) in $name::ALL.into_iter().enumerate() {
                assert_eq!(value.name().parse(), Ok(value));
                let is_new = |other: &$name| other.ordinal() != value.ordinal() && other.name() != value.name();
                assert!(value.ordinal() < $name::ALL.len() && $name::ALL[..n].iter().all(is_new), "{value}");
            }
        )+};
    }
    named!(DataType Isa NanPolicy ReduceFunction AxisDirection);
    for data_type in DataType::ALL {
        let (found, size) = with_element_type!(data_type, T => (<T as Element>::DATA_TYPE, size_of::<T>()));
        assert_eq!((found, size), (data_type, data_type.size()));
        let pod = with_element_type!(data_type, T => <<T as Element>::Pod as Element>::DATA_TYPE);
        assert_eq!(pod, if data_type == DataType::Bool { DataType::U8 } else { data_type });
    }
}

/// Indices beyond 32 bits of many outputs, by even steps and uneven ones: broadcast axes have them, without the memory.
#[test]
#[cfg(target_pointer_width = "64")]
fn indices_beyond_32_bits() {
    const COPIES: usize = 1 << 33;
    let input: Vec<u8> = (0..6000).map(|n| (n * 7 % 11) as u8).collect();
    // After the reduced axis of 3, before it, and between it and one of 2.
    for (sizes, strides) in [
        ([1000, 1, 3, COPIES], [3, 0, 1, 0]),
        ([1000, COPIES, 1, 3], [3, 0, 0, 1]),
        ([1000, 3, COPIES, 2], [6, 2, 0, 1]),
    ] {
        let layout = Layout::strided(&sizes, &strides, 0).unwrap();
        for (direction, isa) in AxisDirection::ALL.into_iter().flat_map(|d| Isa::available().map(move |isa| (d, isa))) {
            let reduce = ArgReduce::argmax(&layout).axes(&[1, 2, 3]).direction(direction).isa(isa);
            let plan = reduce.plan::<u8, usize>().unwrap();
            let mut indices = vec![9; 1000];
            plan.run(&input, &mut indices).unwrap();
            let coordinate = |n: usize, axis: usize| if direction == Decreasing { sizes[axis] - 1 - n } else { n };
            for (output, &index) in indices.iter().enumerate() {
                // In the order of the direction, over the axes that are no copies.
                let mut best = None;
                for [a, b, c] in (0..3).flat_map(|a| (0..3).flat_map(move |b| (0..3).map(move |c| [a, b, c]))) {
                    let is_one = |n: usize, axis: usize| n < if strides[axis] == 0 { 1 } else { sizes[axis] };
                    if !is_one(a, 1) || !is_one(b, 2) || !is_one(c, 3) {
                        continue;
                    }
                    let [a, b, c] = [coordinate(a, 1), coordinate(b, 2), coordinate(c, 3)];
                    let place = output * strides[0] as usize
                        + [(a, 1), (b, 2), (c, 3)].map(|(n, axis)| n * strides[axis] as usize).iter().sum::<usize>();
                    let index = (a * sizes[2] + b) * sizes[3] + c;
                    if best.is_none_or(|(value, _)| input[place] > value) {
                        best = Some((input[place], index));
                    }
                }
                assert_eq!(Some(index), best.map(|(_, index)| index), "{plan}, output {output}");
            }
        }
    }
}

/// Types are read by their names in Rust, and by those in NumPy and ONNX; they are written by the former.
#[test]
fn names_of_types() {
    let others = "float32 float16 bfloat16 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool";
    for (data_type, other) in DataType::ALL.into_iter().zip(others.split(' ')) {
        assert_eq!(data_type.to_string(), data_type.name());
        assert_eq!((data_type.name().parse(), other.parse()), (Ok(data_type), Ok(data_type)), "{other}");
        let short = other.replace("uint", "u").replace("int", "i").replace("float", "f");
        assert_eq!(data_type.name(), short);
    }
    for wrong in ["", "Float32", "float", "f8", "int", "float32 ", "complex64"] {
        let error = wrong.parse::<DataType>().unwrap_err().to_string();
        let names = "f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool";
        assert_eq!(error, format!("no such name: expected one of {names}"));
    }
}

/// A layout shows as much as it has axes.
#[test]
fn layouts_shown() {
    let shown = |layout: Result<Layout, Error>| format!("{:?}", layout.unwrap());
    assert_eq!(shown(Layout::contiguous(&[2, 3])), "Layout { sizes: [2, 3], strides: [3, 1], offset: 0 }");
    assert_eq!(shown(Layout::strided(&[4], &[-2], 6)), "Layout { sizes: [4], strides: [-2], offset: 6 }");
    assert_eq!(shown(Layout::contiguous(&[])), "Layout { sizes: [], strides: [], offset: 0 }");
}

/// A description may outlive its layout, and a plan is a value.
#[test]
fn what_a_function_may_return() {
    fn describe(columns: usize) -> ArgReduce<'static> {
        let layout = Layout::contiguous(&[2, columns]).unwrap();
        ArgReduce::argmax(&layout).axes(&[1])
    }
    let plan = describe(3).plan::<i32, u32>().unwrap();
    let copy = plan;
    assert_eq!(
        (plan.collect::<Vec<u32>>(&[1, 2, 0, 9, 9, 9]), copy.output_layout().sizes()),
        (Ok(vec![1, 0]), &[2, 1][..])
    );
}

/// Types as values: for each type what a plan with types finds, and says of itself.
#[test]
fn types_as_values() {
    fn agree<T: Sample + NoUninit>() {
        let input: Vec<T> = (0..24).map(|n| T::SPECIAL[n * 7 % T::SPECIAL.len()]).collect();
        let layout = Layout::contiguous(&[4, 6]).unwrap();
        let reduce = ArgReduce::argmin(&layout).axes(&[1]);
        let (mut expected, mut best) = ([9; 4], [T::default(); 4]);
        let typed = reduce.plan::<T, i64>().unwrap();
        typed.run(&input, (&mut expected, &mut best)).unwrap();

        let plan = reduce.plan_untyped(T::DATA_TYPE, DataType::I64).unwrap();
        assert_eq!((plan.data_type(), plan.index_type()), (T::DATA_TYPE, DataType::I64));
        assert_eq!((plan.output_layout(), plan.isa()), (typed.output_layout(), typed.isa()));
        // As unsigned bytes, `bool` says.
        let is_bool = T::DATA_TYPE == DataType::Bool;
        assert!(is_bool || plan.to_string() == typed.to_string(), "{plan} instead of {typed}");
        let (mut indices, mut values) = ([9_i64; 4], [0_u64; 4]);
        plan.run(cast_slice(&input), bytes_of_mut(&mut indices)).unwrap();
        assert_eq!(indices, expected, "{plan}");
        let values = &mut bytes_of_mut(&mut values)[..size_of_val(&best)];
        let buffers = Buffers { indices: bytes_of_mut(&mut indices), values: Some(&mut *values) };
        plan.run(cast_slice(&input), buffers).unwrap();
        assert_eq!((indices, &*values), (expected, cast_slice(&best)), "{plan}");
    }
    for_each_type!(agree());
}
