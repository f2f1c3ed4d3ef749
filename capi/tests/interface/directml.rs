//! DirectML's descriptors, built with Microsoft's own declarations of them and passed by pointer.

use super::answers::bytes_are_the_least;
use super::executor::executor;
use super::*;
use argreduce_guard::directml::{Rule, cases, type_number};
use std::sync::atomic::AtomicUsize;
use windows::Win32::AI::MachineLearning::DirectML::*;

/// A tensor's descriptor. The test keeps the sizes and strides that it points to.
fn buffer(
    data_type: DML_TENSOR_DATA_TYPE,
    sizes: &[u32],
    strides: Option<&[u32]>,
    bytes: u64,
) -> DML_BUFFER_TENSOR_DESC {
    DML_BUFFER_TENSOR_DESC {
        DataType: data_type,
        Flags: DML_TENSOR_FLAG_NONE,
        DimensionCount: sizes.len() as u32,
        Sizes: sizes.as_ptr(),
        Strides: strides.map_or(null(), <[u32]>::as_ptr),
        TotalTensorSizeInBytes: bytes,
        GuaranteedBaseOffsetAlignment: 0,
    }
}

/// What points to it.
fn tensor(buffer: &DML_BUFFER_TENSOR_DESC) -> DML_TENSOR_DESC {
    DML_TENSOR_DESC { Type: DML_TENSOR_TYPE_BUFFER, Desc: (&raw const *buffer).cast() }
}

fn arg_desc(input: &DML_TENSOR_DESC, output: &DML_TENSOR_DESC, axes: &[u32]) -> DML_ARGMAX_OPERATOR_DESC {
    DML_ARGMAX_OPERATOR_DESC {
        InputTensor: input,
        OutputTensor: output,
        AxisCount: axes.len() as u32,
        Axes: axes.as_ptr(),
        AxisDirection: DML_AXIS_DIRECTION_INCREASING,
    }
}

fn reduce_desc(function: DML_REDUCE_FUNCTION, desc: &DML_ARGMAX_OPERATOR_DESC) -> DML_REDUCE_OPERATOR_DESC {
    let &DML_ARGMAX_OPERATOR_DESC { InputTensor, OutputTensor, AxisCount, Axes, .. } = desc;
    DML_REDUCE_OPERATOR_DESC { Function: function, InputTensor, OutputTensor, AxisCount, Axes }
}

fn compile_desc<T>(operator_type: DML_OPERATOR_TYPE, desc: &T, nan_policy: u32) -> Result<Operator, argreduce_status> {
    let operator = DML_OPERATOR_DESC { Type: operator_type, Desc: (desc as *const T).cast() };
    // SAFETY: the tests keep what their descriptors point to.
    finish(|out| unsafe { argreduce_compile_directml((&raw const operator).cast(), nan_policy, out) })
}

fn argmax(
    input: DML_BUFFER_TENSOR_DESC,
    output: DML_BUFFER_TENSOR_DESC,
    axes: &[u32],
) -> Result<Operator, argreduce_status> {
    compile_desc(DML_OPERATOR_ARGMAX, &arg_desc(&tensor(&input), &tensor(&output), axes), ARGREDUCE_PROPAGATE)
}

/// Rows with ties for both ends and both directions.
const ROWS: [f32; 10] = [1.0, 5.0, 5.0, 1.0, 3.0, 7.0, 2.0, 2.0, 7.0, 3.0];

#[test]
fn all_three_types() {
    let input = buffer(DML_TENSOR_DATA_TYPE_FLOAT32, &[1, 1, 2, 5], None, 40);
    let output = buffer(DML_TENSOR_DATA_TYPE_UINT32, &[1, 1, 2, 1], None, 8);
    let (input, output) = (tensor(&input), tensor(&output));
    let desc = arg_desc(&input, &output, &[3]);
    for (direction, smallest, largest) in
        [(DML_AXIS_DIRECTION_INCREASING, [0, 1], [1, 0]), (DML_AXIS_DIRECTION_DECREASING, [3, 2], [2, 3])]
    {
        let argmax = DML_ARGMAX_OPERATOR_DESC { AxisDirection: direction, ..desc };
        let argmin = DML_ARGMIN_OPERATOR_DESC {
            InputTensor: &input,
            OutputTensor: &output,
            AxisCount: 1,
            Axes: desc.Axes,
            AxisDirection: direction,
        };
        let mut found = [9_u32; 2];
        assert_eq!(compile_desc(DML_OPERATOR_ARGMIN, &argmin, 0).unwrap().execute(&ROWS, &mut found), ARGREDUCE_OK);
        assert_eq!(found, smallest);
        let operator = compile_desc(DML_OPERATOR_ARGMAX, &argmax, 0).unwrap();
        for is_partial in [0, 1] {
            let (mut found, calls) = (Found::<u32, f32>::new(1, 2, 2), AtomicUsize::new(0));
            let executor = &executor(&calls, 2);
            let call = argreduce_call { executor, is_partial, ..found.call(&ROWS) };
            assert_eq!(operator.run(&call), ARGREDUCE_OK, "{}", message());
            assert_eq!(found, Found { indices: [largest.to_vec(), vec![]], values: [vec![5.0, 7.0], vec![]] });
            let message = "an operator of DirectML takes no mask: all elements are there";
            let mask = &mask(&[1; 10]);
            refused(operator.run(&argreduce_call { mask, ..call }), ARGREDUCE_MASK_MISMATCH, message);
        }
    }
    for (function, expected) in [(DML_REDUCE_FUNCTION_ARGMIN, [0, 1]), (DML_REDUCE_FUNCTION_ARGMAX, [1, 0])] {
        let reduce = reduce_desc(function, &desc);
        let mut found = [9_u32; 2];
        assert_eq!(compile_desc(DML_OPERATOR_REDUCE, &reduce, 0).unwrap().execute(&ROWS, &mut found), ARGREDUCE_OK);
        assert_eq!(found, expected);
    }
}

/// The header's numbers for types are DirectML's; strides and the rule for NaN arrive.
#[test]
fn types_strides_and_nan() {
    for (theirs, ours) in [
        (DML_TENSOR_DATA_TYPE_FLOAT32, ARGREDUCE_FLOAT32),
        (DML_TENSOR_DATA_TYPE_FLOAT16, ARGREDUCE_FLOAT16),
        (DML_TENSOR_DATA_TYPE_UINT32, ARGREDUCE_UINT32),
        (DML_TENSOR_DATA_TYPE_UINT16, ARGREDUCE_UINT16),
        (DML_TENSOR_DATA_TYPE_UINT8, ARGREDUCE_UINT8),
        (DML_TENSOR_DATA_TYPE_INT32, ARGREDUCE_INT32),
        (DML_TENSOR_DATA_TYPE_INT16, ARGREDUCE_INT16),
        (DML_TENSOR_DATA_TYPE_INT8, ARGREDUCE_INT8),
        (DML_TENSOR_DATA_TYPE_FLOAT64, ARGREDUCE_FLOAT64),
        (DML_TENSOR_DATA_TYPE_UINT64, ARGREDUCE_UINT64),
        (DML_TENSOR_DATA_TYPE_INT64, ARGREDUCE_INT64),
    ] {
        assert_eq!(theirs.0 as u32, ours);
        let output = buffer(DML_TENSOR_DATA_TYPE_INT64, &[1], None, 8);
        argmax(buffer(theirs, &[3], None, 24), output, &[0]).unwrap();
    }
    // Every other element, from the last axis to the first.
    let input = buffer(DML_TENSOR_DATA_TYPE_FLOAT32, &[2, 3], Some(&[1, 2]), 24);
    let output = buffer(DML_TENSOR_DATA_TYPE_INT64, &[2, 1], None, 16);
    let data = [0.0, 9.0, f32::NAN, 3.0, 8.0, 4.0];
    let (input, output) = (tensor(&input), tensor(&output));
    let desc = arg_desc(&input, &output, &[1]);
    for (policy, expected) in [(ARGREDUCE_PROPAGATE, [1, 0]), (ARGREDUCE_IGNORE, [2, 0])] {
        let mut found = [9_i64; 2];
        assert_eq!(compile_desc(DML_OPERATOR_ARGMAX, &desc, policy).unwrap().execute(&data, &mut found), 0);
        assert_eq!(found, expected);
    }
    refused(
        compile_desc(DML_OPERATOR_ARGMAX, &desc, 2).unwrap_err(),
        ARGREDUCE_UNKNOWN_VALUE,
        "nan_policy is 2: 0 (propagate) and 1 (ignore) are allowed",
    );
}

/// Of tensors, it is what they say of themselves, however much they need.
#[test]
fn operator_bytes() {
    let compile = |input_bytes, output_bytes| {
        let input = buffer(DML_TENSOR_DATA_TYPE_UINT8, &[3, 5], None, input_bytes);
        argmax(input, buffer(DML_TENSOR_DATA_TYPE_INT64, &[3, 1], None, output_bytes), &[1]).unwrap()
    };
    for (input, output) in [(16, 24), (20, 24), (16, 40)] {
        bytes_are_the_least(&compile(input, output), [input as usize, output as usize, 3]);
    }
    for bytes in [1 << 63, u64::MAX - 3] {
        for (name, operator) in [("input", compile(bytes, 24)), ("indices", compile(16, bytes))] {
            let message = format!("{name} cannot have {bytes} bytes: memory does not hold as many");
            refused(operator.bytes().unwrap_err(), ARGREDUCE_BUFFER_TOO_LARGE, &message);
        }
    }
}

/// Each rule that is broken has its code and its words.
#[test]
fn rules() {
    for case in cases() {
        let [input, output] = case.tensors.map(|tensor| {
            let data_type = DML_TENSOR_DATA_TYPE(type_number(tensor.data_type) as i32);
            buffer(data_type, tensor.sizes, tensor.strides, tensor.bytes())
        });
        let broken = case.broken();
        let status = match broken.as_ref().map(|&(rule, _)| rule) {
            None => ARGREDUCE_OK,
            // C has no count of them.
            Some(Rule::StrideCount) => continue,
            Some(Rule::DimensionCount) => ARGREDUCE_RANK,
            Some(Rule::SizeZero) => ARGREDUCE_SIZE,
            Some(Rule::TooManyElements) => ARGREDUCE_TOO_MANY_ELEMENTS,
            Some(Rule::TotalTensorSizeTooSmall) => ARGREDUCE_TOTAL_SIZE,
            Some(Rule::TotalTensorSizeNotMultipleOf4) => ARGREDUCE_TOTAL_SIZE_MULTIPLE,
            Some(Rule::DimensionCountsDiffer) => ARGREDUCE_OUTPUT_RANK,
            Some(Rule::Axis) => ARGREDUCE_AXIS_OUT_OF_RANGE,
            Some(Rule::DuplicateAxis) => ARGREDUCE_DUPLICATE_AXIS,
            Some(Rule::OutputSize) => ARGREDUCE_OUTPUT_SIZE,
            Some(Rule::OutputDataType) => ARGREDUCE_OUTPUT_TYPE,
            Some(Rule::IndexTooLarge) => ARGREDUCE_INDEX_TOO_LARGE,
            Some(Rule::OutputOverlaps) => ARGREDUCE_OUTPUT_OVERLAPS,
        };
        match (argmax(input, output, case.axes), broken) {
            (Ok(_), None) => {}
            (Err(found), Some((_, words))) => refused(found, status, &words),
            (result, _) => panic!("{case:?}: {result:?}"),
        }
    }
}

/// What only C can get wrong.
#[test]
fn pointers_enumerations_and_flags() {
    // SAFETY: null pointers are what this is about.
    refused(
        finish(|out| unsafe { argreduce_compile_directml(null(), 0, out) }).unwrap_err(),
        ARGREDUCE_NULL_POINTER,
        "dml_operator_desc is NULL",
    );
    // SAFETY: as above.
    refused(unsafe { argreduce_compile_directml(null(), 0, null_mut()) }, ARGREDUCE_NULL_POINTER, "out is NULL");
    for r#type in [DML_OPERATOR_ARGMIN, DML_OPERATOR_ARGMAX, DML_OPERATOR_REDUCE] {
        let operator = DML_OPERATOR_DESC { Type: r#type, Desc: null() };
        // SAFETY: as above.
        let result = finish(|out| unsafe { argreduce_compile_directml((&raw const operator).cast(), 0, out) });
        refused(result.unwrap_err(), ARGREDUCE_NULL_POINTER, "Desc is NULL");
    }
    for r#type in [0, 1, 54, 56, 136, 139, ARGREDUCE_ARGMINMAX as i32, -1] {
        let operator = DML_OPERATOR_DESC { Type: DML_OPERATOR_TYPE(r#type), Desc: null() };
        // SAFETY: as above.
        let result = finish(|out| unsafe { argreduce_compile_directml((&raw const operator).cast(), 0, out) });
        let message = format!("Type is {type}: 55 (reduce), 137 (argmin) and 138 (argmax) are allowed");
        refused(result.unwrap_err(), ARGREDUCE_UNSUPPORTED_OPERATOR, &message);
    }

    let input = buffer(DML_TENSOR_DATA_TYPE_FLOAT32, &[2, 3], None, 24);
    let output = buffer(DML_TENSOR_DATA_TYPE_UINT32, &[2, 1], None, 8);
    let all = buffer(DML_TENSOR_DATA_TYPE_UINT32, &[2, 3], None, 24);
    let (input_desc, output_desc, all_desc) = (tensor(&input), tensor(&output), tensor(&all));
    let good = arg_desc(&input_desc, &output_desc, &[1]);
    let fails = |desc: DML_ARGMAX_OPERATOR_DESC, status, message: &str| {
        refused(compile_desc(DML_OPERATOR_ARGMAX, &desc, 0).unwrap_err(), status, message);
    };
    fails(DML_ARGMAX_OPERATOR_DESC { InputTensor: null(), ..good }, ARGREDUCE_NULL_POINTER, "InputTensor is NULL");
    fails(DML_ARGMAX_OPERATOR_DESC { OutputTensor: null(), ..good }, ARGREDUCE_NULL_POINTER, "OutputTensor is NULL");
    fails(DML_ARGMAX_OPERATOR_DESC { Axes: null(), ..good }, ARGREDUCE_NULL_POINTER, "Axes is NULL");
    // Of no axes, DirectML asks for no list: nothing is reduced.
    let none = DML_ARGMAX_OPERATOR_DESC { OutputTensor: &all_desc, AxisCount: 0, Axes: null(), ..good };
    let (nothing, mut indices) = (compile_desc(DML_OPERATOR_ARGMAX, &none, 0).unwrap(), [9_u32; 6]);
    assert_eq!((nothing.execute(&[0.5_f32; 6], &mut indices), indices), (ARGREDUCE_OK, [0; 6]));
    let odd = |pointer: *const u32| pointer.cast::<u8>().wrapping_add(1).cast();
    let message = "Axes is misaligned: its address has to be a multiple of 4";
    fails(DML_ARGMAX_OPERATOR_DESC { Axes: odd(good.Axes), ..good }, ARGREDUCE_MISALIGNED, message);
    for count in [3, 9, 1 << 16, u32::MAX] {
        let message = format!("AxisCount is {count}: a tensor of rank 2 has at most 2 axes to reduce");
        fails(DML_ARGMAX_OPERATOR_DESC { AxisCount: count, ..good }, ARGREDUCE_TOO_MANY_AXES, &message);
    }
    for direction in [2, -1] {
        let message = format!("AxisDirection is {direction}: 0 (increasing) and 1 (decreasing) are allowed");
        let bad = DML_ARGMAX_OPERATOR_DESC { AxisDirection: DML_AXIS_DIRECTION(direction), ..good };
        fails(bad, ARGREDUCE_UNKNOWN_VALUE, &message);
    }
    // 2 is DirectML's average, and not both of ours.
    for function in [2, 11, ARGREDUCE_ARGMINMAX as i32, -1] {
        let bad = reduce_desc(DML_REDUCE_FUNCTION(function), &good);
        let message = format!("Function is {function}: 0 (argmax) and 1 (argmin) are allowed");
        refused(compile_desc(DML_OPERATOR_REDUCE, &bad, 0).unwrap_err(), ARGREDUCE_UNSUPPORTED_OPERATOR, &message);
    }

    // Each field of a tensor, of either tensor.
    let tensor_fails = |change: &dyn Fn(&mut DML_BUFFER_TENSOR_DESC), status, message: &str| {
        let [mut bad_input, mut bad_output] = [input, output];
        change(&mut bad_input);
        change(&mut bad_output);
        let (bad_input, bad_output) = (tensor(&bad_input), tensor(&bad_output));
        let desc = DML_ARGMAX_OPERATOR_DESC { InputTensor: &bad_input, ..good };
        fails(desc, status, &format!("InputTensor.{message}"));
        let desc = DML_ARGMAX_OPERATOR_DESC { OutputTensor: &bad_output, ..good };
        fails(desc, status, &format!("OutputTensor.{message}"));
    };
    tensor_fails(&|tensor| tensor.Sizes = null(), ARGREDUCE_NULL_POINTER, "Sizes is NULL");
    let message = "Sizes is misaligned: its address has to be a multiple of 4";
    tensor_fails(&|tensor| tensor.Sizes = odd(tensor.Sizes), ARGREDUCE_MISALIGNED, message);
    let message = "Strides is misaligned: its address has to be a multiple of 4";
    tensor_fails(&|tensor| tensor.Strides = odd(tensor.Sizes), ARGREDUCE_MISALIGNED, message);
    for count in [9, 1 << 16, u32::MAX] {
        let message = format!("DimensionCount is {count}: 1 to 8 are allowed");
        tensor_fails(&|tensor| tensor.DimensionCount = count, ARGREDUCE_RANK, &message);
    }
    for data_type in [0, 12, -1] {
        let message = format!(
            "DataType is {data_type}: 1 to 11 (DML_TENSOR_DATA_TYPE), 0x101 (bfloat16) and 0x102 (bool) are allowed"
        );
        tensor_fails(&|tensor| tensor.DataType = DML_TENSOR_DATA_TYPE(data_type), ARGREDUCE_UNKNOWN_VALUE, &message);
    }
    let message = "Flags is 1: 0 (none) is allowed";
    tensor_fails(&|tensor| tensor.Flags = DML_TENSOR_FLAG_OWNED_BY_DML, ARGREDUCE_TENSOR_FLAGS, message);
    for alignment in [2, 12] {
        let message =
            format!("GuaranteedBaseOffsetAlignment is {alignment}: 0, or a power of two from 4 on, is allowed");
        tensor_fails(
            &|tensor| tensor.GuaranteedBaseOffsetAlignment = alignment,
            ARGREDUCE_BASE_OFFSET_ALIGNMENT,
            &message,
        );
    }
    for (desc, message) in [
        (DML_TENSOR_DESC { Desc: null(), ..input_desc }, "InputTensor.Desc is NULL"),
        (DML_TENSOR_DESC { Type: DML_TENSOR_TYPE(0), ..input_desc }, "InputTensor.Type is 0: 1 (buffer) is allowed"),
    ] {
        let status = if desc.Desc.is_null() { ARGREDUCE_NULL_POINTER } else { ARGREDUCE_UNKNOWN_VALUE };
        fails(DML_ARGMAX_OPERATOR_DESC { InputTensor: &desc, ..good }, status, message);
    }
}
