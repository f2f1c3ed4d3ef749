//! DirectML's descriptors: each rule at its limit and one past it, and answers checked against the reference.

mod common;

use argreduce::directml::{ArgMaxOperatorDesc, ArgMinOperatorDesc, CompiledOperator, TensorDesc, buffer_tensor_size};
use argreduce::{AxisDirection, DataType, Error, Layout, ReduceFunction, reference};
use common::{Sample, best_values, orders, rng, sample};

const MAX: u32 = u32::MAX;

/// An argmax of f32 to u32, packed.
fn packed<'a>(sizes: &'a [u32], output_sizes: &'a [u32], axes: &'a [u32]) -> ArgMaxOperatorDesc<'a> {
    let (input, output) = (TensorDesc::packed(DataType::F32, sizes), TensorDesc::packed(DataType::U32, output_sizes));
    of(input, output, axes)
}

fn of<'a>(input_tensor: TensorDesc<'a>, output_tensor: TensorDesc<'a>, axes: &'a [u32]) -> ArgMaxOperatorDesc<'a> {
    ArgMaxOperatorDesc { input_tensor, output_tensor, axes, axis_direction: AxisDirection::Increasing }
}

#[track_caller]
fn allowed(operator: ArgMaxOperatorDesc) -> CompiledOperator {
    operator.compile().unwrap()
}

/// Refused, with this message, as an argmin too.
#[track_caller]
fn refused(operator: ArgMaxOperatorDesc, message: &str) {
    let ArgMaxOperatorDesc { input_tensor, output_tensor, axes, axis_direction } = operator;
    let as_argmin = ArgMinOperatorDesc { input_tensor, output_tensor, axes, axis_direction };
    for result in [operator.compile(), as_argmin.compile()] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::DirectMl(_)), "{error:?}");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn dimension_count() {
    allowed(packed(&[2], &[1], &[0]));
    allowed(packed(&[2; 8], &[2, 2, 2, 2, 2, 2, 2, 1], &[7]));
    refused(packed(&[], &[1], &[]), "InputTensor.DimensionCount is 0: 1 to 8 are allowed");
    refused(packed(&[1; 9], &[1], &[]), "InputTensor.DimensionCount is 9: 1 to 8 are allowed");
    refused(packed(&[1], &[], &[]), "OutputTensor.DimensionCount is 0: 1 to 8 are allowed");
    refused(packed(&[1], &[1; 9], &[]), "OutputTensor.DimensionCount is 9: 1 to 8 are allowed");
}

#[test]
fn dimension_counts_are_the_same() {
    allowed(packed(&[2, 3], &[2, 1], &[1]));
    refused(packed(&[2, 3], &[2], &[1]), "OutputTensor.DimensionCount is 1: it has to be the input's, 2");
    refused(packed(&[2, 3], &[1, 2, 1], &[1]), "OutputTensor.DimensionCount is 3: it has to be the input's, 2");
}

#[test]
fn sizes_are_at_least_1() {
    allowed(packed(&[1, 1, 1], &[1, 1, 1], &[1]));
    refused(packed(&[1, 0, 1], &[1, 1, 1], &[1]), "InputTensor.Sizes[1] is 0: it has to be at least 1");
    refused(packed(&[1, 1, 1], &[1, 1, 0], &[1]), "OutputTensor.Sizes[2] is 0: it has to be at least 1");
}

#[test]
fn at_most_2_to_the_32_minus_1_elements() {
    let allowed_one = |sizes: &[u32]| {
        let ones = vec![1; sizes.len()];
        let axes: Vec<u32> = (0..sizes.len() as u32).collect();
        allowed(packed(sizes, &ones, &axes));
    };
    allowed_one(&[MAX]);
    allowed_one(&[65535, 65537]); // 2^32 - 1
    let message = "InputTensor.Sizes multiply to too many elements: at most 4294967295 are allowed";
    refused(packed(&[65536, 65536], &[1, 1], &[0, 1]), message);
    // Where the product overflows 64 and 128 bits.
    refused(packed(&[MAX; 2], &[1; 2], &[0, 1]), message);
    refused(packed(&[1 << 31; 8], &[1; 8], &[0]), message);
    refused(packed(&[MAX; 8], &[1; 8], &[0]), message);
    // A broadcast tensor has as many elements, however few places they have.
    let (sizes, strides) = ([65536, 65536], [0, 0]);
    refused(
        of(TensorDesc::strided(DataType::F32, &sizes, &strides), TensorDesc::packed(DataType::U32, &[1, 1]), &[0]),
        message,
    );
    refused(
        packed(&[1, 1], &[65536, 65536], &[]),
        "OutputTensor.Sizes multiply to too many elements: at most 4294967295 are allowed",
    );
}

#[test]
fn output_sizes() {
    allowed(packed(&[4, 5, 6], &[4, 1, 6], &[1]));
    allowed(packed(&[4, 5, 6], &[1, 5, 1], &[2, 0]));
    refused(packed(&[4, 5, 6], &[4, 2, 6], &[1]), "OutputTensor.Sizes[1] is 2: it has to be 1");
    refused(packed(&[4, 5, 6], &[4, 5, 6], &[1]), "OutputTensor.Sizes[1] is 5: it has to be 1");
    refused(packed(&[4, 5, 6], &[4, 1, 7], &[1]), "OutputTensor.Sizes[2] is 7: it has to be 6");
    refused(packed(&[4, 5, 6], &[3, 1, 6], &[1]), "OutputTensor.Sizes[0] is 3: it has to be 4");
    // No axes: nothing is reduced.
    allowed(packed(&[4, 5], &[4, 5], &[]));
    refused(packed(&[4, 5], &[4, 1], &[]), "OutputTensor.Sizes[1] is 1: it has to be 5");
}

#[test]
fn one_stride_per_dimension() {
    let input = |strides: &'static [u32]| TensorDesc::strided(DataType::F32, &[2, 3], strides);
    let output = TensorDesc::packed(DataType::U32, &[2, 1]);
    allowed(of(input(&[3, 1]), output, &[1]));
    for (strides, count) in [(&[1][..], 1), (&[6, 3, 1], 3), (&[], 0)] {
        let message = format!("InputTensor.Strides has {count} strides: one for each of 2 dimensions is needed");
        refused(of(input(strides), output, &[1]), &message);
    }
    refused(
        of(input(&[3, 1]), TensorDesc { strides: Some(&[1]), ..output }, &[1]),
        "OutputTensor.Strides has 1 strides: one for each of 2 dimensions is needed",
    );
}

#[test]
fn total_tensor_size() {
    // The size of the type, the last element (not the product of sizes and strides), the rounding up to 4.
    type Case = (DataType, &'static [u32], Option<&'static [u32]>, u64);
    let cases: [Case; 9] = [
        (DataType::F32, &[2, 3], None, 24),
        (DataType::F64, &[2, 3], None, 48),
        (DataType::F16, &[3, 1], None, 8),
        (DataType::U8, &[1, 1], None, 4),
        (DataType::U8, &[4, 1], None, 4),
        (DataType::U8, &[5, 1], None, 8),
        (DataType::F32, &[2, 3], Some(&[10, 1]), 4 * 13),
        (DataType::F32, &[2, 3], Some(&[0, 0]), 4),
        (DataType::Bf16, &[2, 2], Some(&[5, 3]), 20),
    ];
    for (data_type, sizes, strides, smallest) in cases {
        assert_eq!(buffer_tensor_size(data_type, sizes, strides), Some(smallest));
        let tensor = |total| TensorDesc { data_type, sizes, strides, total_tensor_size_in_bytes: total };
        let output_sizes = [sizes[0], 1];
        let output = TensorDesc::packed(DataType::U32, &output_sizes);
        allowed(of(tensor(smallest), output, &[1]));
        allowed(of(tensor(smallest + 4), output, &[1]));
        for short in [0, smallest - 4, smallest - 1] {
            let message =
                format!("InputTensor.TotalTensorSizeInBytes is {short}: sizes and strides need at least {smallest}");
            refused(of(tensor(short), output, &[1]), &message);
        }
    }
    let operator = packed(&[4, 5], &[4, 1], &[1]);
    refused(
        of(operator.input_tensor, TensorDesc { total_tensor_size_in_bytes: 12, ..operator.output_tensor }, &[1]),
        "OutputTensor.TotalTensorSizeInBytes is 12: sizes and strides need at least 16",
    );
}

#[test]
fn total_tensor_size_is_a_multiple_of_4() {
    let operator = packed(&[4, 5], &[4, 1], &[1]);
    let (input, output) = (operator.input_tensor, operator.output_tensor);
    allowed(of(TensorDesc { total_tensor_size_in_bytes: 84, ..input }, output, &[1]));
    for total in [81, 82, 83] {
        refused(
            of(TensorDesc { total_tensor_size_in_bytes: total, ..input }, output, &[1]),
            &format!("InputTensor.TotalTensorSizeInBytes is {total}: it has to be a multiple of 4"),
        );
    }
    refused(
        of(input, TensorDesc { total_tensor_size_in_bytes: 17, ..output }, &[1]),
        "OutputTensor.TotalTensorSizeInBytes is 17: it has to be a multiple of 4",
    );
}

/// The trap: sizes and strides whose dot product passes 2^32 look small to arithmetic of 32 bits.
#[test]
fn total_tensor_size_beyond_32_bits() {
    let half = 1 << 31;
    let output = TensorDesc::packed(DataType::U32, &[2, 1]);
    let tensor = |data_type, strides, total| TensorDesc {
        data_type,
        sizes: &[2, 2],
        strides: Some(strides),
        total_tensor_size_in_bytes: total,
    };
    // The last element is number 2^32: number 0 in 32 bits.
    let strides = [half, half];
    for (data_type, smallest) in [(DataType::U8, (1_u64 << 32) + 4), (DataType::F32, 4 * ((1 << 32) + 1))] {
        allowed(of(tensor(data_type, &strides, smallest), output, &[1]));
        for wrapped in [4, smallest - 4] {
            let message =
                format!("InputTensor.TotalTensorSizeInBytes is {wrapped}: sizes and strides need at least {smallest}");
            refused(of(tensor(data_type, &strides, wrapped), output, &[1]), &message);
        }
    }
    // The last element is number 2^32 - 1, which fits, but not times the size of an element, nor plus 1.
    let strides = [half, half - 1];
    for (data_type, smallest) in [(DataType::U8, 1_u64 << 32), (DataType::F64, 8 << 32)] {
        allowed(of(tensor(data_type, &strides, smallest), output, &[1]));
        let message = format!("InputTensor.TotalTensorSizeInBytes is 0: sizes and strides need at least {smallest}");
        refused(of(tensor(data_type, &strides, 0), output, &[1]), &message);
    }
    // Beyond 64 bits.
    let beyond = TensorDesc {
        data_type: DataType::F64,
        sizes: &[MAX, 1],
        strides: Some(&[MAX, 1]),
        total_tensor_size_in_bytes: u64::MAX - 3,
    };
    assert_eq!(buffer_tensor_size(beyond.data_type, beyond.sizes, beyond.strides), None);
    let message = format!(
        "InputTensor.TotalTensorSizeInBytes is {}: sizes and strides need more than 64 bits hold",
        u64::MAX - 3
    );
    refused(of(beyond, TensorDesc::packed(DataType::U32, &[1, 1]), &[0]), &message);
}

/// The same tensor with a buffer that is long enough: of its 4 GiB, four elements are read.
#[test]
#[cfg(target_pointer_width = "64")]
fn elements_beyond_32_bits_are_found() {
    let input = TensorDesc::strided(DataType::U8, &[2, 2], &[1 << 31, 1 << 31]);
    let operator = allowed(of(input, TensorDesc::packed(DataType::U32, &[1, 1]), &[0, 1]));
    let mut buffer = vec![0; input.total_tensor_size_in_bytes as usize];
    let mut index = [9_u32];
    buffer[1 << 32] = 7;
    operator.execute(&buffer, bytemuck::cast_slice_mut(&mut index)).unwrap();
    assert_eq!(index, [3]);
    buffer[1 << 31] = 7;
    operator.execute(&buffer, bytemuck::cast_slice_mut(&mut index)).unwrap();
    assert_eq!(index, [1]);
}

/// Its four types for indices, of those that there are.
#[test]
fn indices_are_of_four_types() {
    for data_type in DataType::ALL {
        let operator = of(TensorDesc::packed(DataType::F32, &[2, 3]), TensorDesc::packed(data_type, &[2, 1]), &[1]);
        if [DataType::I32, DataType::I64, DataType::U32, DataType::U64].contains(&data_type) {
            allowed(operator);
        } else {
            refused(operator, &format!("OutputTensor.DataType is {data_type}: i32, i64, u32 and u64 are allowed"));
        }
    }
}

#[test]
fn axes_are_below_the_dimension_count() {
    allowed(packed(&[4, 5, 6], &[4, 5, 1], &[2]));
    allowed(packed(&[4, 5, 6], &[1, 1, 1], &[2, 0, 1]));
    refused(packed(&[4, 5, 6], &[4, 5, 1], &[3]), "Axes[0] is 3: it has to be below the DimensionCount, 3");
    refused(
        packed(&[4, 5, 6], &[4, 5, 1], &[2, MAX]),
        "Axes[1] is 4294967295: it has to be below the DimensionCount, 3",
    );
    refused(packed(&[4, 5, 6], &[4, 5, 1], &[2, 2]), "Axes[1] is 2 again: an axis can be reduced only once");
}

#[test]
fn output_data_types() {
    for data_type in DataType::ALL {
        let operator = of(TensorDesc::packed(DataType::F32, &[4]), TensorDesc::packed(data_type, &[1]), &[0]);
        if matches!(data_type, DataType::I32 | DataType::I64 | DataType::U32 | DataType::U64) {
            allowed(operator);
        } else {
            let message = format!("OutputTensor.DataType is {data_type}: i32, i64, u32 and u64 are allowed");
            refused(operator, &message);
        }
    }
}

/// What DirectML does not say, by the errors of every plan.
#[test]
fn errors_of_plans() {
    let largest = |size: u32, data_type| {
        let sizes = [size];
        of(TensorDesc::strided(DataType::U8, &sizes, &[0]), TensorDesc::packed(data_type, &[1]), &[0]).compile()
    };
    largest(1 << 31, DataType::I32).unwrap();
    largest(MAX, DataType::U32).unwrap();
    assert_eq!(
        largest((1 << 31) + 1, DataType::I32).unwrap_err().to_string(),
        "the largest possible index is 2147483648: i32 holds at most 2147483647"
    );
    let input = TensorDesc::packed(DataType::F32, &[4, 5]);
    let output = |strides| of(input, TensorDesc::strided(DataType::U32, &[4, 1], strides), &[1]);
    allowed(output(&[2, 0]));
    let error = output(&[0, 0]).compile().unwrap_err();
    assert_eq!(error, Error::OutputOverlaps);
}

#[test]
fn buffers() {
    let operator = allowed(of(TensorDesc::packed(DataType::U16, &[3]), TensorDesc::packed(DataType::I64, &[1]), &[0]));
    let (input, mut output, mut values) = ([1_u64, 0], [-1_i64, -1], [9_u16; 4]);
    let input: &[u8] = bytemuck::cast_slice(&input);
    let mut run = |input: &[u8], output_bytes: std::ops::Range<usize>, values_bytes: std::ops::Range<usize>| {
        output = [-1, -1];
        values = [9; 4];
        let result = operator.execute_with_values(
            input,
            &mut bytemuck::cast_slice_mut(&mut output)[output_bytes.clone()],
            &mut bytemuck::cast_slice_mut(&mut values)[values_bytes],
        );
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
        let input_tensor = TensorDesc::strided(data_type, &sizes, &strides);
        let output_tensor = TensorDesc::packed(DataType::U64, &output_sizes);
        let padded = input_tensor.total_tensor_size_in_bytes as usize / size_of::<T>();
        let input = sample::<T>(&mut rng, padded.max(layout.required_len()));
        let reduced = [0, 1, 2].map(|axis| axes.contains(&axis));
        for (function, axis_direction, nan_policy) in orders() {
            let operator =
                match function {
                    ReduceFunction::ArgMin => ArgMinOperatorDesc { input_tensor, output_tensor, axes, axis_direction }
                        .compile_with(nan_policy),
                    ReduceFunction::ArgMax => ArgMaxOperatorDesc { input_tensor, output_tensor, axes, axis_direction }
                        .compile_with(nan_policy),
                    function => unreachable!("{function} has no operator"),
                };
            let expected = reference::arg_reduce((function, axis_direction, nan_policy), &layout, &reduced, &input[..]);
            let best = best_values(&layout, &reduced, &expected, &input);
            let mut found = vec![99_u64; expected.len()];
            let (operator, input) = (operator.unwrap(), bytemuck::cast_slice(&input));
            operator.execute(input, bytemuck::cast_slice_mut(&mut found)).unwrap();
            let expected: Vec<u64> = expected.into_iter().map(|index| index as u64).collect();
            assert_eq!(
                found, expected,
                "{function} {axis_direction} {nan_policy} of {data_type}, {sizes:?} over {axes:?}"
            );
            // Partial answers, merged into those of nothing.
            let len = found.len();
            let [mut values, mut merged] = [(); 2].map(|()| vec![0_u64; len]);
            let [values, merged] = [&mut values, &mut merged]
                .map(|buffer| &mut bytemuck::cast_slice_mut::<u64, u8>(buffer)[..len * size_of::<T>()]);
            let (mut indices, mut merged_indices) = (vec![99_u64; len], vec![u64::MAX; len]);
            operator.run_partials(input, values, bytemuck::cast_slice_mut(&mut indices)).unwrap();
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
            operator.finish_partials(bytemuck::cast_slice(&merged_indices), output).unwrap();
            assert_eq!(found, expected);
        }
    }
}
