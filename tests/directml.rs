//! DirectML's descriptors: the cases of `argreduce-guard`, buffers, and answers checked against the reference.

mod common;
#[path = "common/descriptors.rs"]
mod descriptors;

use argreduce::directml::{ArgMaxOperatorDesc, CompiledOperator, TensorDesc, buffer_tensor_size};
use argreduce::{
    AxisDirection, Buffers, DataType, Error, Layout, NanPolicy, PartialBuffers, ReduceFunction, reference,
};
use argreduce_guard::directml::{Case, Rule, TYPES, Tensor, cases};
use common::{Sample, best_values, orders, rng, sample};
use descriptors::{compile, data_type};

fn allowed(input_tensor: TensorDesc, output_tensor: TensorDesc, axes: &[u32]) -> CompiledOperator {
    let axis_direction = AxisDirection::Increasing;
    ArgMaxOperatorDesc { input_tensor, output_tensor, axes, axis_direction }.compile().unwrap()
}

/// Each is an error with its words, or none, for both functions; and so are the bytes that a tensor needs.
#[test]
fn rules() {
    for case in cases() {
        for tensor in case.tensors {
            let smallest = buffer_tensor_size(data_type(&tensor), tensor.sizes, tensor.strides);
            assert_eq!(smallest, tensor.smallest(), "{tensor:?}");
        }
        for function in ReduceFunction::ALL {
            let result = compile(&case, (function, AxisDirection::Increasing, NanPolicy::Propagate));
            let error = result.err().map(|error| (matches!(error, Error::DirectMl(_)), error.to_string()));
            let of_plans = [Rule::IndexTooLarge, Rule::OutputOverlaps];
            let expected = case.broken().map(|(rule, words)| (!of_plans.contains(&rule), words));
            assert_eq!(error, expected, "{function} of {case:?}");
        }
    }
}

/// The cases have each type.
#[test]
fn types() {
    let (mut theirs, mut ours) = (TYPES, DataType::ALL.map(DataType::name));
    theirs.sort_unstable();
    ours.sort_unstable();
    assert_eq!(theirs, ours);
}

/// A tensor whose last element is number 2^32, in a buffer that is long enough: of its 4 GiB, four elements are read.
#[test]
#[cfg(target_pointer_width = "64")]
fn elements_beyond_32_bits_are_found() {
    let input = TensorDesc::strided(DataType::U8, &[2, 2], &[1 << 31, 1 << 31]);
    let operator = allowed(input, TensorDesc::packed(DataType::U32, &[1, 1]), &[0, 1]);
    let mut buffer = vec![0; input.total_tensor_size_in_bytes as usize];
    let mut index = [9_u32];
    buffer[1 << 32] = 7;
    operator.execute(&buffer, bytemuck::cast_slice_mut(&mut index)).unwrap();
    assert_eq!(index, [3]);
    buffer[1 << 31] = 7;
    operator.execute(&buffer, bytemuck::cast_slice_mut(&mut index)).unwrap();
    assert_eq!(index, [1]);
}

#[test]
fn buffers() {
    let operator = allowed(TensorDesc::packed(DataType::U16, &[3]), TensorDesc::packed(DataType::I64, &[1]), &[0]);
    let (input, mut output, mut values) = ([1_u64, 0], [-1_i64, -1], [9_u16; 4]);
    let input: &[u8] = bytemuck::cast_slice(&input);
    let mut run = |input: &[u8], output_bytes: std::ops::Range<usize>, values_bytes: std::ops::Range<usize>| {
        output = [-1, -1];
        values = [9; 4];
        let buffers = Buffers {
            indices: &mut bytemuck::cast_slice_mut(&mut output)[output_bytes.clone()],
            values: Some(&mut bytemuck::cast_slice_mut(&mut values)[values_bytes]),
        };
        let result = operator.run(input, buffers);
        if result.is_err() {
            assert_eq!((output, values), ([-1, -1], [9; 4]), "a partial write");
        }
        result.map_err(|error| error.to_string())
    };
    // Three elements are in 6 bytes, but TotalTensorSizeInBytes is what the caller promised.
    assert_eq!(run(&input[..8], 0..8, 0..2), Ok(()));
    assert_eq!(run(&input[..16], 0..16, 0..3), Ok(()));
    let message = |message: &str| Err(message.to_string());
    assert_eq!(
        run(&input[..7], 0..8, 0..2),
        message("the buffer of InputTensor has 7 bytes: TotalTensorSizeInBytes is 8")
    );
    assert_eq!(
        run(&input[..8], 0..7, 0..2),
        message("the buffer of OutputTensor has 7 bytes: TotalTensorSizeInBytes is 8")
    );
    assert_eq!(
        run(&input[..8], 0..0, 0..2),
        message("the buffer of OutputTensor has 0 bytes: TotalTensorSizeInBytes is 8")
    );
    assert_eq!(run(&input[..8], 0..8, 0..1), message("the values slice has 0 elements of u16: the layout needs 1"));
    let misaligned = |slice: &str, element: &str, alignment: usize| {
        message(&format!(
            "the {slice} slice is misaligned: for {element}, its address has to be a multiple of {alignment}"
        ))
    };
    assert_eq!(run(&input[1..9], 0..8, 0..2), misaligned("input", "u16", 2));
    assert_eq!(run(&input[2..10], 0..8, 2..4), Ok(()));
    assert_eq!(run(&input[..8], 4..16, 0..2), misaligned("output", "i64", 8));
    assert_eq!(run(&input[..8], 0..8, 1..3), misaligned("values", "u16", 2));
}

/// All types and orders, with gaps and broadcasts, against the plain loops.
#[test]
fn answers() {
    for_each_type!(answers_of());
}

fn answers_of<T: Sample + bytemuck::NoUninit>() {
    let data_type = T::DATA_TYPE;
    let cases: [([u32; 3], [u32; 3], &[u32]); 4] = [
        ([3, 4, 50], [200, 50, 1], &[2]),
        ([3, 40, 5], [201, 5, 1], &[1]),
        ([4, 3, 20], [0, 1, 4], &[2, 0]),
        ([6, 7, 2], [14, 2, 1], &[]),
    ];
    let mut rng = rng(7);
    for (sizes, strides, axes) in cases {
        let to_usize = |sizes: [u32; 3]| sizes.map(|size| size as usize);
        let layout = Layout::strided(&to_usize(sizes), &strides.map(|stride| stride as isize), 0).unwrap();
        let mut output_sizes = sizes;
        axes.iter().for_each(|&axis| output_sizes[axis as usize] = 1);
        let tensors = [(data_type.name(), &sizes, Some(&strides[..])), ("u64", &output_sizes, None)]
            .map(|(data_type, sizes, strides)| Tensor { data_type, sizes, strides, bytes: None });
        let padded = tensors[0].bytes() as usize / size_of::<T>();
        let input = sample::<T>(&mut rng, padded.max(layout.required_len()));
        let reduced = [0, 1, 2].map(|axis| axes.contains(&axis));
        for order in orders() {
            let operator = compile(&Case { tensors, axes }, order);
            let expected = reference::arg_reduce(order, &layout, &reduced, &input[..]);
            let best = best_values(&layout, &reduced, &expected, &input);
            let mut found = vec![99_u64; expected.len()];
            let (operator, input): (_, &[u8]) = (operator.unwrap(), bytemuck::cast_slice(&input));
            operator.execute(input, bytemuck::cast_slice_mut(&mut found)).unwrap();
            let expected: Vec<u64> = expected.into_iter().map(|index| index as u64).collect();
            assert_eq!(found, expected, "{order:?} of {data_type}, {sizes:?} over {axes:?}");
            // Partial answers, merged into those of nothing.
            let len = found.len();
            let [mut values, mut merged] = [(); 2].map(|()| vec![0_u64; len]);
            let [values, merged] = [&mut values, &mut merged]
                .map(|buffer| &mut bytemuck::cast_slice_mut::<u64, u8>(buffer)[..len * size_of::<T>()]);
            let (mut indices, mut merged_indices) = (vec![99_u64; len], vec![u64::MAX; len]);
            let partials = PartialBuffers { indices: bytemuck::cast_slice_mut(&mut indices), values: &mut *values };
            operator.run(input, partials).unwrap();
            assert_eq!(indices, expected);
            let accs = (&mut *merged, bytemuck::cast_slice_mut(&mut merged_indices));
            let others = (&*values, bytemuck::cast_slice(&indices));
            operator.merge().arrays_untyped((data_type, DataType::U64), accs, others).unwrap();
            let bits = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
            // Those of signed integers have the sign in all upper bits.
            let best = best.into_iter().map(|bits| bits & u64::MAX >> (64 - 8 * size_of::<T>()));
            assert!(merged.chunks(size_of::<T>()).map(bits).eq(best));
            found.fill(99);
            let output = bytemuck::cast_slice_mut(&mut found);
            let merged = PartialBuffers { indices: bytemuck::cast_slice_mut(&mut merged_indices), values: merged };
            operator.finish(merged, Buffers { indices: output, values: None }).unwrap();
            assert_eq!(found, expected);
        }
    }
}
