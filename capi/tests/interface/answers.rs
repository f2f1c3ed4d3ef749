//! What is right: every type by its number, every choice, values, strides, and eight threads at once.

use super::*;
use crate::api::{desc, failure};
use ::argreduce::{AxisDirection, DataType, Element, Layout, NanPolicy, ReduceFunction, reference};

/// Every function, direction and policy, to every index type, against the plain loops.
fn check<T: Element>(input_type: u32, data: &[T]) {
    let (sizes, strides, offset) = ([2, 3, 7], [30, -7, 1], 14);
    let data: Vec<T> = (0..51).map(|n| data[n * n % 13 % data.len()]).collect();
    let axes = [-1, 1];
    let reduced = [false, true, true];
    let reference_layout = Layout::strided(&[2, 3, 7], &[30, -7, 1], 14).unwrap();
    for code in 0..8 {
        let (function, direction, policy) = (code & 1, code >> 1 & 1, code >> 2);
        let order = (
            [ReduceFunction::ArgMax, ReduceFunction::ArgMin][function as usize],
            [AxisDirection::Increasing, AxisDirection::Decreasing][direction as usize],
            [NanPolicy::Propagate, NanPolicy::Ignore][policy as usize],
        );
        let expected = reference::arg_reduce(order, &reference_layout, &reduced, &data);
        let desc = argreduce_desc {
            function,
            input_type,
            input: argreduce_layout { offset, ..layout(&sizes, Some(&strides)) },
            axis_direction: direction,
            nan_policy: policy,
            ..desc(&sizes, &axes)
        };
        let to = |output_type| compile(&argreduce_desc { output_type, ..desc }).unwrap();
        let (mut i32s, mut i64s, mut u32s, mut u64s) = ([9_i32; 2], [9_i64; 2], [9_u32; 2], [9_u64; 2]);
        assert_eq!(to(ARGREDUCE_INT32).execute(&data, &mut i32s), ARGREDUCE_OK);
        assert_eq!(to(ARGREDUCE_INT64).execute(&data, &mut i64s), ARGREDUCE_OK);
        assert_eq!(to(ARGREDUCE_UINT32).execute(&data, &mut u32s), ARGREDUCE_OK);
        let (mut u8s, mut u16s) = ([9_u8; 2], [9_u16; 2]);
        assert_eq!(to(ARGREDUCE_UINT8).execute(&data, &mut u8s), ARGREDUCE_OK);
        assert_eq!(to(ARGREDUCE_UINT16).execute(&data, &mut u16s), ARGREDUCE_OK);
        let mut values = [T::default(); 2];
        assert_eq!(to(ARGREDUCE_UINT64).execute_with_values(&data, &mut u64s, &mut values), ARGREDUCE_OK);
        let found =
            [i32s.map(|i| i as usize), i64s.map(|i| i as usize), u32s.map(|i| i as usize), u64s.map(|i| i as usize)];
        let narrow = [u8s.map(usize::from), u16s.map(usize::from)];
        assert_eq!(
            (found, narrow),
            ([[expected[0], expected[1]]; 4], [[expected[0], expected[1]]; 2]),
            "{order:?} of type {input_type}"
        );
        for (output, &index) in expected.iter().enumerate() {
            let best = data[output * 30 + 14 - index / 7 * 7 + index % 7];
            assert!(values[output] == best || best.is_nan() && values[output].is_nan());
        }
    }
}

#[test]
fn every_type() {
    check(ARGREDUCE_FLOAT32, &[1.0_f32, -0.0, 0.0, f32::NAN, f32::INFINITY]);
    check(ARGREDUCE_FLOAT64, &[1.0_f64, -0.0, 0.0, f64::NAN, f64::NEG_INFINITY]);
    check(ARGREDUCE_INT8, &[1_i8, -1, i8::MIN, i8::MAX]);
    check(ARGREDUCE_INT16, &[1_i16, -1, i16::MIN, i16::MAX]);
    check(ARGREDUCE_INT32, &[1_i32, -1, i32::MIN, i32::MAX]);
    check(ARGREDUCE_INT64, &[1_i64, -1, i64::MIN, i64::MAX]);
    check(ARGREDUCE_UINT8, &[1_u8, 127, 128, 255]);
    check(ARGREDUCE_UINT16, &[1_u16, 0x7fff, 0x8000, u16::MAX]);
    check(ARGREDUCE_UINT32, &[1_u32, 0x7fff_ffff, 0x8000_0000, u32::MAX]);
    check(ARGREDUCE_UINT64, &[1_u64, u64::MAX >> 1, 1 << 63, u64::MAX]);
    check(ARGREDUCE_BOOL, &[false, true, true]);
    // Any byte but 0 is true.
    check(ARGREDUCE_BOOL, &[0_u8, 0xff]);
    check(ARGREDUCE_FLOAT16, &[half::f16::ONE, half::f16::NEG_ZERO, half::f16::ZERO, half::f16::NAN]);
    check(ARGREDUCE_BFLOAT16, &[half::bf16::ONE, half::bf16::NEG_ZERO, half::bf16::ZERO, half::bf16::NAN]);
}

/// What the library has, descriptions can ask for: each value has one number.
#[test]
fn every_value_has_a_number() {
    fn numbers<T: PartialEq>(value: T, of: impl Fn(u32, &str) -> Result<T, failure::Failure>) -> usize {
        (0..0x300).filter(|&number| of(number, "").is_ok_and(|found| found == value)).count()
    }
    DataType::ALL.into_iter().for_each(|value| assert_eq!(numbers(value, desc::data_type), 1, "{value}"));
    ReduceFunction::ALL.into_iter().for_each(|value| assert_eq!(numbers(value, desc::function), 1, "{value}"));
    AxisDirection::ALL.into_iter().for_each(|value| assert_eq!(numbers(value, desc::direction), 1, "{value}"));
    NanPolicy::ALL.into_iter().for_each(|value| assert_eq!(numbers(value, desc::nan_policy), 1, "{value}"));
}

#[test]
fn strided_output_leaves_gaps_alone() {
    let operator = compile(&argreduce_desc {
        output: argreduce_layout { offset: 5, ..layout(&[3, 1], Some(&[-2, 0])) },
        ..desc(&[3, 4], &[1])
    });
    let mut output = [9_u32; 7];
    let input = [0.0_f32, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0];
    assert_eq!(operator.unwrap().execute(&input, &mut output), ARGREDUCE_OK);
    assert_eq!(output, [9, 3, 9, 0, 9, 1, 9]);
}

#[test]
fn rank_0_no_axes_and_empty() {
    let mut output = [9_u32; 2];
    assert_eq!(
        compile(&argreduce_desc { input: PACKED, ..desc(&[], &[]) }).unwrap().execute(&[1.0_f32], &mut output),
        0
    );
    assert_eq!(output, [0, 9]);
    assert_eq!(compile(&desc(&[2], &[])).unwrap().execute(&[1.0_f32, 2.0], &mut output), 0);
    assert_eq!(output, [0, 0]);
    // Nothing to write: no buffers are needed either.
    let empty = compile(&desc(&[0, 3], &[1])).unwrap();
    // SAFETY: buffers of 0 bytes.
    let status = unsafe { argreduce_execute(empty.0, null(), 0, null_mut(), 0) };
    assert_eq!(status, ARGREDUCE_OK);
    // SAFETY: as above.
    let status = unsafe { argreduce_execute_with_values(empty.0, null(), 0, null_mut(), 0, null_mut(), 0) };
    assert_eq!(status, ARGREDUCE_OK);
}

/// Executes with buffers of exactly the required bytes, and is refused with one byte less in any of them.
#[track_caller]
pub(super) fn bytes_are_the_least(operator: &Operator, expected: [usize; 3]) {
    assert_eq!(operator.bytes(), Ok(expected));
    let (block, mut output, mut values) = ([0_u64; 64], [0_u64; 64], [0_u64; 64]);
    assert!(expected.iter().all(|&bytes| bytes <= size_of_val(&block)));
    let mut execute = |[input_bytes, output_bytes, values_bytes]: [usize; 3]| {
        // SAFETY: the buffers have at least as many bytes as said.
        unsafe {
            argreduce_execute_with_values(
                operator.0,
                block.as_ptr().cast(),
                input_bytes,
                output.as_mut_ptr().cast(),
                output_bytes,
                values.as_mut_ptr().cast(),
                values_bytes,
            )
        }
    };
    assert_eq!(execute(expected), ARGREDUCE_OK);
    for buffer in 0..3 {
        let mut bytes = expected;
        if bytes[buffer] > 0 {
            bytes[buffer] -= 1;
            assert_eq!(execute(bytes), ARGREDUCE_BUFFER_TOO_SHORT, "{bytes:?}");
        }
    }
}

#[test]
fn operator_bytes() {
    let packed = desc(&[2, 3, 4], &[1]);
    let of = |desc, expected| bytes_are_the_least(&compile(&desc).unwrap(), expected);
    of(packed, [96, 32, 32]);
    of(argreduce_desc { input_type: ARGREDUCE_FLOAT64, ..packed }, [192, 32, 64]);
    of(argreduce_desc { input_type: ARGREDUCE_BOOL, output_type: ARGREDUCE_INT64, ..packed }, [24, 64, 8]);
    // A view of each: the last element is at 7 + 2 * 5 + 1, the last index at 1 + 2 * 3.
    let (input, output) = (layout(&[3, 2], Some(&[5, 1])), layout(&[3, 1], Some(&[3, 7])));
    let (input, output) = (argreduce_layout { offset: 7, ..input }, argreduce_layout { offset: 1, ..output });
    of(argreduce_desc { input, output, ..desc(&[3, 2], &[1]) }, [19 * 4, 8 * 4, 3 * 4]);
    of(argreduce_desc { input: PACKED, ..desc(&[], &[]) }, [4, 4, 4]);
    of(desc(&[0, 3], &[1]), [0, 0, 0]);
}

#[test]
fn isa_and_version() {
    let operator = compile(&desc(&[2, 3], &[1])).unwrap();
    // SAFETY: valid as long as the operator.
    let isa = unsafe { CStr::from_ptr(argreduce_operator_isa(operator.0)) }.to_str().unwrap();
    assert!(Isa::available().any(|available| available.name() == isa), "{isa}");
    let macros = [ARGREDUCE_VERSION_MAJOR, ARGREDUCE_VERSION_MINOR, ARGREDUCE_VERSION_PATCH];
    assert_eq!(macros.map(|part| part.to_string()).join("."), env!("CARGO_PKG_VERSION"));
    let version = argreduce_version();
    let version = format!("{}.{}.{}", version >> 16, version >> 8 & 255, version & 255);
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
}

#[test]
fn eight_threads_share_an_operator() {
    let operator = compile(&desc(&[64, 100], &[1])).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let operator = &operator;
            scope.spawn(move || {
                for round in 0..100 {
                    let best = (thread * 13 + round) % 100;
                    let input: Vec<f32> = (0..6400).map(|n| if n % 100 == best { 1.0 } else { 0.0 }).collect();
                    let mut output = [999_u32; 64];
                    assert_eq!(operator.execute(&input, &mut output), ARGREDUCE_OK);
                    assert_eq!(output, [best as u32; 64]);
                    // Each thread has messages of its own.
                    assert_ne!(operator.execute(&input[..thread + 1], &mut output), ARGREDUCE_OK);
                    let expected = format!("the input slice has {} elements of f32: the layout needs 6400", thread + 1);
                    assert_eq!(message(), expected);
                }
            });
        }
    });
}
