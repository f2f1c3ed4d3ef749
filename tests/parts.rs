//! Streams: what is refused of a chunk, what has come so far, and where they end. (The differential test has what parts
//! and chunks merge to.)

mod common;

use argreduce::{ArgReduce, ArgStream, DataType, Error, Index, Isa, Layout, PartialBuffers, reference};
use argreduce_guard::is_slow;
use bytemuck::{cast_slice, cast_slice_mut};
use common::problem::{View, view};
use common::{Sample, best_values, orders, places, reduced, rng, sample};
use proptest::prelude::*;
use rand::RngExt;

/// Pushes a tensor in random chunks along its first reduced axis, with chunks in between that are refused, and compares
/// with the reference on the way and at the end.
fn check_stream<T: Sample, I: Index>(View { layout, axes, output }: &View, seed: u64) {
    let (mut rng, sizes) = (rng(seed), layout.sizes());
    let reduced = reduced(axes, sizes.len());
    let Some(axis) = reduced.iter().position(|&is_reduced| is_reduced) else { return };
    let order = orders().nth(rng.random_range(0..8)).unwrap();
    let (function, direction, policy) = order;
    let input = sample::<T>(&mut rng, layout.required_len());
    let isas: Vec<Isa> = Isa::available().collect();

    let reduce = ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy);
    let reduce = reduce.isa(isas[rng.random_range(0..isas.len())]);
    let reduce = if let Some(output) = output { reduce.output_layout(output) } else { reduce };
    let (zeros, is_bounded) = (vec![0; sizes.len()], rng.random());
    let reduce = if is_bounded { reduce.window(sizes, &zeros) } else { reduce };
    let wrong = (0..sizes.len()).find(|&other| other != axis);
    if let Some(wrong) = wrong {
        let error = reduce.stream::<T, I>(wrong as isize).unwrap_err();
        assert_eq!(error, Error::StreamAxis { axis: wrong, first: Some(axis) });
    }
    let from_end = if rng.random() { sizes.len() as isize } else { 0 };
    let mut stream = reduce.stream::<T, I>(axis as isize - from_end).unwrap();

    // What was pushed so far, in row-major order of the outputs.
    let check = |stream: &ArgStream<T, I>, end: usize| {
        let outputs = places(stream.output_layout());
        let untouched = I::at(-77, 0, 0);
        let mut indices = vec![untouched; stream.output_layout().required_len()];
        let mut values = vec![T::default(); outputs.len()];
        assert_eq!(stream.position(), end);
        if end == 0 {
            let none = Error::EmptyReduction { axis, of: "stream" };
            assert_eq!(stream.finish(&mut indices), Err(none.clone()));
            assert_eq!(stream.finish((&mut indices, &mut values)), Err(none));
            assert!(indices.iter().all(|&index| index == untouched));
            return;
        }
        stream.finish((&mut indices, &mut values)).unwrap();
        let so_far = layout.slice(axis as isize, 0..end as isize, 1).unwrap();
        let expected = reference::arg_reduce(order, &so_far, &reduced, &input);
        let bits: Vec<u64> = values.iter().map(|value| value.bits()).collect();
        assert_eq!(bits, best_values(&so_far, &reduced, &expected, &input), "{order:?} of {end} of {layout:?}");
        let mut wanted = vec![untouched; indices.len()];
        let expected = expected.iter().map(|&index| I::at(index as isize, 0, 0));
        outputs.iter().zip(expected).for_each(|(&place, index)| wanted[place] = index);
        assert_eq!(indices, wanted, "{order:?} of {end} of {layout:?}");
        indices.fill(untouched);
        stream.finish(&mut indices).unwrap();
        assert_eq!(indices, wanted, "{order:?} of {end} of {layout:?}");
    };
    let (mut end, longest) = (0, rng.random_range(1..=sizes[axis]));
    loop {
        let len = rng.random_range(0..=longest.min(sizes[axis] - end));
        let chunk = layout.slice(axis as isize, end as isize..(end + len) as isize, 1).unwrap();
        let packed: Vec<T> = places(&chunk).into_iter().map(|place| input[place]).collect();
        let packed_layout = Layout::contiguous(chunk.sizes()).unwrap();
        match rng.random_range(0..6) {
            0 => check(&stream, end),
            1 if len > 0 => {
                let error = stream.push(&packed_layout, &packed[1..]).unwrap_err();
                assert!(matches!(error, Error::TooShort { slice: "input", .. }), "{error}");
            }
            2 => {
                let error = stream.push(&Layout::contiguous(&[1; 9][sizes.len()..]).unwrap(), &input).unwrap_err();
                let (expected, found) = (sizes.len(), 9 - sizes.len());
                assert_eq!(error, Error::ChunkRank { expected, found });
            }
            3 => {
                if let Some(axis) = wrong {
                    let (mut other, expected) = (chunk.sizes().to_vec(), sizes[axis]);
                    other[axis] += 1;
                    let error = stream.push(&Layout::contiguous(&other).unwrap(), &input).unwrap_err();
                    assert_eq!(error, Error::ChunkSize { axis, expected, found: expected + 1 });
                }
            }
            4 if is_bounded => {
                let mut other = chunk.sizes().to_vec();
                other[axis] = sizes[axis] - end + 1;
                let error = stream.push(&Layout::contiguous(&other).unwrap(), &input).unwrap_err();
                assert!(matches!(error, Error::WindowOutOfRange { axis: found, .. } if found == axis), "{error}");
            }
            _ => {
                let pushed =
                    if rng.random() { stream.push(&packed_layout, &packed) } else { stream.push(&chunk, &input) };
                pushed.unwrap();
                end += len;
            }
        }
        if end == sizes[axis] {
            break check(&stream, end);
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
    fn streams_give_the_answer_of_what_came(view in view(), seed in any::<u64>()) {
        if seed % 2 == 0 {
            check_stream::<f32, u32>(&view, seed);
        } else {
            check_stream::<u8, i64>(&view, seed);
        }
    }
}

/// An empty part gives values of 0, all bits of them, whatever was there; and writes nothing behind its answers.
#[test]
fn empty_parts_write_all_bits() {
    fn check<T: Sample>() {
        let layout = Layout::contiguous(&[3, 0]).unwrap();
        let reduce = ArgReduce::argmin(&layout).axes(&[1]).window(&[3, 5], &[0, 2]);
        let plan = reduce.plan_untyped(T::DATA_TYPE, DataType::U32).unwrap();
        let (mut values, mut indices) = ([u64::MAX - 1; 4], [9_u32; 4]);
        let buffers = PartialBuffers { indices: cast_slice_mut(&mut indices), values: cast_slice_mut(&mut values) };
        plan.run(&[], buffers).unwrap();
        assert_eq!(indices, [u32::MAX, u32::MAX, u32::MAX, 9]);
        let (written, left) = cast_slice::<u64, u8>(&values).split_at(3 * size_of::<T>());
        assert!(written.iter().all(|&byte| byte == 0) && left.iter().all(|&byte| byte >= 0xfe), "{values:x?}");
    }
    for_each_type!(check());
}

/// What indices cannot hold is refused when it comes, and all is as before; so is the one that says that nothing was
/// seen.
#[test]
fn streams_end_where_indices_do() {
    let bytes = |len| Layout::contiguous(&[len]).unwrap();
    let mut stream = ArgReduce::argmax(&bytes(9)).all_axes().stream::<i8, u8>(0).unwrap();
    stream.push(&bytes(200), &[1; 200]).unwrap();
    let too_large = |largest, max| Error::IndexTooLarge { largest, index_type: "u8", max };
    assert_eq!(stream.push(&bytes(57), &[2; 57]), Err(too_large(256, 255)));
    assert_eq!(stream.push(&bytes(56), &[2; 56]), Err(too_large(255, 254)));
    assert_eq!(stream.position(), 200);
    let mut index = [9];
    stream.finish(&mut index).unwrap();
    assert_eq!(index, [0]);
    stream.push(&bytes(55), &[2; 55]).unwrap();
    stream.finish(&mut index).unwrap();
    assert_eq!(index, [200]);
}

/// No stream is as long as the largest number, which says that a sum was larger.
#[test]
fn streams_end_where_numbers_do() {
    let repeated = |len| Layout::strided(&[len], &[0], 0).unwrap();
    let (half, too_long) = (usize::MAX / 2, Error::WholeTooLarge { axis: 0, size: usize::MAX });
    let mut stream = ArgReduce::argmin(&repeated(1)).all_axes().stream::<i16, u64>(0).unwrap();
    stream.push(&repeated(half), &[5]).unwrap();
    stream.push(&repeated(half), &[4]).unwrap();
    for len in [1, 2, half] {
        assert_eq!(stream.push(&repeated(len), &[3]), Err(too_long.clone()));
    }
    let mut index = [9];
    stream.finish(&mut index).unwrap();
    assert_eq!((index, stream.position()), ([half as u64], usize::MAX - 1));
}

/// A stream of a window begins where the window does, and ends with the whole.
#[test]
fn streams_of_windows() {
    let line = Layout::contiguous(&[1, 2]).unwrap();
    let reduce = ArgReduce::argmin(&line).axes(&[0]).window(&[5, 8], &[3, 4]);
    let mut stream = reduce.stream::<f32, u32>(0).unwrap();
    assert_eq!(stream.position(), 3);
    stream.push(&line, &[1.0, 2.0]).unwrap();
    let three = Layout::contiguous(&[2, 2]).unwrap();
    let error = stream.push(&three, &[0.0; 4]).unwrap_err();
    assert_eq!(error, Error::WindowOutOfRange { axis: 0, start: 4, size: 2, whole: 5 });
    stream.push(&line, &[1.0, -2.0]).unwrap();
    let mut indices = [0; 2];
    stream.finish(&mut indices).unwrap();
    assert_eq!((indices, stream.position()), ([3, 4], 5));
    // Of one that begins where the whole ends, nothing is left.
    let mut stream = reduce.window(&[5, 8], &[5, 4]).stream::<f32, u32>(0).unwrap();
    let error = stream.push(&line, &[1.0, 2.0]).unwrap_err();
    assert_eq!(error, Error::WindowOutOfRange { axis: 0, start: 5, size: 1, whole: 5 });
    assert_eq!(stream.finish(&mut indices), Err(Error::EmptyReduction { axis: 0, of: "stream" }));
}
