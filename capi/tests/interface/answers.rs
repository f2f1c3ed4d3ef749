//! What is right: every type by its number, every choice of a description and of a call, strides, and eight threads at
//! once.

use super::executor::executor;
use super::*;
use crate::api::{desc, failure};
use ::argreduce::{AxisDirection, DataType, Element, Layout, NanPolicy, ReduceFunction, reference, with_element_type};
use argreduce_guard::{Sample, directml::type_number};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const SIZES: [usize; 3] = [OUTPUTS, 3, 70];
const STRIDES: [isize; 3] = [230, -70, 1];
const OFFSET: usize = 140;
const OUTPUTS: usize = 40;
const FILL: isize = 5;

/// Some of the elements are there, and none of the third output's.
fn is_there(n: usize) -> bool {
    !n.is_multiple_of(3) && n / 210 != 2
}

/// Packed bytes, bits from the fifth on, and bytes backwards along the last axis.
struct Masks {
    bytes: Vec<u8>,
    bits: Vec<u8>,
    backwards: Vec<u8>,
}

const BACKWARDS: [i64; 3] = [210, 70, -1];

impl Masks {
    fn new() -> Masks {
        let count: usize = SIZES.iter().product();
        let mut bits = vec![0; (5 + count).div_ceil(8)];
        (0..count).filter(|&n| is_there(n)).for_each(|n| bits[(5 + n) / 8] |= 1 << ((5 + n) % 8));
        let byte = |n| if is_there(n) { 1 + n as u8 % 255 } else { 0 };
        let backwards = |n: usize| byte(n / 70 * 70 + 69 - n % 70);
        Masks { bytes: (0..count).map(byte).collect(), bits, backwards: (0..count).map(backwards).collect() }
    }

    fn each(&self) -> [argreduce_mask; 3] {
        let bits = argreduce_mask { offset: 5, kind: ARGREDUCE_MASK_BITS, ..mask(&self.bits) };
        let backwards = argreduce_mask { offset: 69, strides: BACKWARDS.as_ptr(), ..mask(&self.backwards) };
        [mask(&self.bytes), bits, backwards]
    }
}

/// Every function, direction and policy, under every mask or none, on threads or not, to indices, to values and to
/// partial answers: against the plain loops.
fn check<T: Element + Sample, I: Index>() {
    let (input_type, index_type) = (type_number(T::DATA_TYPE.name()), type_number(I::NAME));
    // Of each output, other values than of the one before: more of them, and so the extremes and NaN, too.
    let value = |n: usize| T::SPECIAL[n * n % 1013 % 13 % (1 + n / 230 % T::SPECIAL.len())];
    let data: Vec<T> = (0..OUTPUTS * 230).map(value).collect();
    let layout = Layout::strided(&SIZES, &STRIDES, OFFSET).unwrap();
    let at = |output: usize, index: usize| data[output * 230 + OFFSET - index / 70 * 70 + index % 70];
    let (masks, calls) = (Masks::new(), AtomicUsize::new(0));
    let (masks, threads) = (masks.each(), executor(&calls, 3));
    let (sizes, strides) = (SIZES.map(|n| n as i64), STRIDES.map(|n| n as i64));
    for code in 0..4 * 4 * 3 {
        let (axis_direction, nan_policy, function) = (code & 1, code >> 1 & 1, code / 16);
        let mask = masks.get(code as usize / 4 % 4).map_or(null(), |mask| &raw const *mask);
        let wanted = [&[1][..], &[0], &[0, 1]][function as usize];
        let expected = ReduceFunction::ALL.map(|function| {
            let order = (function, AxisDirection::ALL[axis_direction as usize], NanPolicy::ALL[nan_policy as usize]);
            let is_there = |n| mask.is_null() || is_there(n);
            reference::arg_reduce_masked(order, &layout, &[false, true, true], &data, is_there)
        });
        let function = [ARGREDUCE_ARGMAX, ARGREDUCE_ARGMIN, ARGREDUCE_ARGMINMAX][function as usize];
        let input = argreduce_layout { offset: OFFSET as i64, ..super::layout(&sizes, Some(&strides)) };
        let desc = argreduce_desc { fill: FILL as i64, has_fill: 1, ..super::desc(&sizes, &[-1, 1]) };
        let desc = argreduce_desc { function, input_type, input, index_type, axis_direction, nan_policy, ..desc };
        let op = compile(&desc).unwrap();
        for way in 0..6 {
            let (has_values, is_partial) = (way % 3 > 0, u32::from(way % 3 == 2));
            let executor = if way > 2 { &raw const threads } else { null() };
            let mut found = Found::<I, T>::new(wanted.len(), OUTPUTS, if has_values { OUTPUTS } else { 0 });
            let call = argreduce_call { mask, executor, is_partial, ..found.call(&data) };
            assert_eq!(op.run(&call), ARGREDUCE_OK, "{}", message());
            for (n, &which) in wanted.iter().enumerate() {
                let (expected, none) = (&expected[which], if is_partial == 1 { -1 } else { FILL });
                let index = |index: &Option<usize>| I::at(index.map_or(none, |index| index as isize), 0, 0);
                let indices: Vec<I> = expected.iter().map(index).collect();
                assert_eq!(found.indices[n], indices, "{} of {way}", op.describe(300));
                // As bits, because NaN is not equal to itself.
                let value = |(output, index): (usize, &Option<usize>)| index.map_or(0, |n| at(output, n).bits());
                let values: Vec<u64> = expected.iter().enumerate().map(value).collect();
                let bits: Vec<u64> = found.values[n].iter().map(|value| value.bits()).collect();
                assert_eq!(bits, values[..bits.len()], "{} of {way}, values", op.describe(300));
            }
        }
    }
    assert!(calls.load(Relaxed) > 0);
}

#[test]
fn every_type() {
    for data_type in DataType::ALL {
        with_element_type!(data_type, T => check::<T, u16>());
    }
    check::<f32, i32>();
    check::<f32, i64>();
    check::<f32, u32>();
    check::<f32, u64>();
    check::<f32, u8>();
}

#[test]
fn any_byte_but_0_is_true() {
    let function = ARGREDUCE_ARGMINMAX;
    let op = compile(&argreduce_desc { function, input_type: ARGREDUCE_BOOL, ..desc(&[2, 4], &[1]) }).unwrap();
    let mut found = Found::<u32, u8>::new(2, 2, 2);
    assert_eq!(op.run(&found.call(&[0, 0x80, 0, 0x80, 255, 255, 0, 255])), ARGREDUCE_OK);
    assert_eq!(found, Found { indices: [vec![0, 2], vec![1, 0]], values: [vec![0, 0], vec![0x80, 255]] });
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

/// Indices at an output layout of their own: what lies between them is left alone, and values are packed.
#[test]
fn strided_outputs_leave_gaps_alone() {
    let output = argreduce_layout { offset: 5, ..layout(&[3, 1], Some(&[-2, 0])) };
    let desc = argreduce_desc { index_type: ARGREDUCE_UINT8, output, ..desc(&[3, 4], &[1]) };
    let input = [0.0_f32, 1.0, 0.0, -1.0, 2.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 3.0];
    let both = compile(&argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..desc }).unwrap();
    assert_eq!(both.bytes(), Ok([48, 6, 12]));
    let mut found = Found::<u8, f32>::new(2, 6, 3);
    assert_eq!(both.run(&found.call(&input)), ARGREDUCE_OK, "{}", message());
    assert_eq!(found.indices, [vec![99, 1, 99, 1, 99, 3], vec![99, 0, 99, 0, 99, 1]]);
    assert_eq!(found.values, [vec![-1.0, 0.0, 0.0], vec![1.0, 2.0, 5.0]]);
    // Partial answers are packed.
    let mut found = Found::<u8, f32>::new(2, 3, 3);
    assert_eq!(both.run(&argreduce_call { is_partial: 1, ..found.call(&input) }), ARGREDUCE_OK, "{}", message());
    assert_eq!(found.indices, [vec![3, 1, 1], vec![1, 0, 0]]);
    let mut indices = [9_u8; 7];
    assert_eq!(compile(&desc).unwrap().execute(&input, &mut indices), ARGREDUCE_OK);
    assert_eq!(indices, [9, 0, 9, 0, 9, 1, 9]);
}

#[test]
fn rank_0_no_axes_all_axes_and_empty() {
    let mut indices = [9_u32; 2];
    let good = desc(&[2, 3], &[1]);
    let scalar = argreduce_desc { input: PACKED, ..desc(&[], &[]) };
    let all = |desc| argreduce_desc { axis_count: ARGREDUCE_ALL_AXES, axes: null(), ..desc };
    for desc in [scalar, all(scalar)] {
        assert_eq!((compile(&desc).unwrap().execute(&[1.0_f32], &mut indices), indices), (ARGREDUCE_OK, [0, 9]));
    }
    assert_eq!(compile(&desc(&[2], &[])).unwrap().execute(&[1.0_f32, 2.0], &mut indices), ARGREDUCE_OK);
    assert_eq!(indices, [0, 0]);
    assert_eq!(compile(&all(good)).unwrap().execute(&[1.0_f32, 2.0, 3.0, 4.0, 9.0, 5.0], &mut indices), ARGREDUCE_OK);
    assert_eq!(indices, [4, 0]);
    // Nothing to write: no buffers are needed either.
    for function in [ARGREDUCE_ARGMAX, ARGREDUCE_ARGMINMAX] {
        let empty = compile(&argreduce_desc { function, ..desc(&[0, 3], &[1]) }).unwrap();
        for is_partial in [0, 1] {
            let call = argreduce_call { is_partial, ..Found::<u32, f32>::new(0, 0, 0).call(&[]) };
            assert_eq!(empty.run(&call), ARGREDUCE_OK, "{}", message());
        }
        let status = empty.execute::<f32, u32>(&[], &mut []);
        assert_eq!(status == ARGREDUCE_OK, function == ARGREDUCE_ARGMAX);
    }
}

/// Runs with buffers of exactly the required bytes, and is refused with one byte less in any of them.
#[track_caller]
pub(super) fn bytes_are_the_least(operator: &Operator, expected: [usize; 3]) {
    assert_eq!(operator.bytes(), Ok(expected));
    let mut blocks = [[0_u64; 64]; 3];
    assert!(expected.iter().all(|&bytes| bytes <= size_of_val(&blocks[0])));
    let mut run = |bytes: [usize; 3]| {
        let [input, indices, values] = [0, 1, 2].map(|n| (place(&mut blocks[n]).0, bytes[n]));
        let none = (null_mut(), 0);
        operator.run(&call(input, [indices, none], [values, none]))
    };
    assert_eq!(run(expected), ARGREDUCE_OK);
    for buffer in 0..3 {
        let mut bytes = expected;
        if bytes[buffer] > 0 {
            bytes[buffer] -= 1;
            assert_eq!(run(bytes), ARGREDUCE_BUFFER_TOO_SHORT, "{bytes:?}");
        }
    }
}

#[test]
fn operator_bytes() {
    let packed = desc(&[2, 3, 4], &[1]);
    let of = |desc, expected| bytes_are_the_least(&compile(&desc).unwrap(), expected);
    of(packed, [96, 32, 32]);
    of(argreduce_desc { input_type: ARGREDUCE_FLOAT64, ..packed }, [192, 32, 64]);
    of(argreduce_desc { input_type: ARGREDUCE_BOOL, index_type: ARGREDUCE_INT64, ..packed }, [24, 64, 8]);
    // A view of each: the last element is at 7 + 2 * 5 + 1, the last index at 1 + 2 * 3.
    let (input, output) = (layout(&[3, 2], Some(&[5, 1])), layout(&[3, 1], Some(&[3, 7])));
    let (input, output) = (argreduce_layout { offset: 7, ..input }, argreduce_layout { offset: 1, ..output });
    of(argreduce_desc { input, output, ..desc(&[3, 2], &[1]) }, [19 * 4, 8 * 4, 3 * 4]);
    of(argreduce_desc { input: PACKED, ..desc(&[], &[]) }, [4, 4, 4]);
    of(desc(&[0, 3], &[1]), [0, 0, 0]);
}

#[test]
fn isa_description_and_version() {
    // SAFETY: valid as long as the operator.
    let isa = |op: &Operator| unsafe { CStr::from_ptr(argreduce_operator_isa(op.0)) }.to_str().unwrap().to_string();
    let good = argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..desc(&[2, 30], &[1]) };
    let found = isa(&compile(&good).unwrap());
    assert!(Isa::available().any(|available| available.name() == found), "{found}");
    let op = compile(&argreduce_desc { isa: c"portable".as_ptr(), ..good }).unwrap();
    assert_eq!(isa(&op), "portable");

    let whole = "argminmax of f32 [2, 30] over axes [1] to u32 [2, 1], increasing, nan propagate: \
                 outputs [2] of [30], rows, portable";
    for bytes in [1, 2, 9, whole.len(), whole.len() + 1, 300] {
        assert_eq!(op.describe(bytes), whole[..whole.len().min(bytes - 1)]);
    }
    let mut text = [b'x'; 2];
    // SAFETY: NULL and no bytes are what this is about.
    unsafe {
        argreduce_operator_describe(op.0, null_mut(), 9);
        argreduce_operator_describe(op.0, text.as_mut_ptr().cast(), 0);
        assert_eq!(text, *b"xx");
        argreduce_operator_describe(null(), text.as_mut_ptr().cast(), 2);
    }
    assert_eq!((text, message()), (*b"\0x", "op is NULL".to_string()));

    let macros = [ARGREDUCE_VERSION_MAJOR, ARGREDUCE_VERSION_MINOR, ARGREDUCE_VERSION_PATCH];
    assert_eq!(macros.map(|part| part.to_string()).join("."), env!("CARGO_PKG_VERSION"));
    let version = argreduce_version();
    let version = format!("{}.{}.{}", version >> 16, version >> 8 & 255, version & 255);
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
}

/// Each has the name of its constant.
#[test]
fn names_of_statuses() {
    // SAFETY: never NULL, and constant.
    let name = |status| unsafe { CStr::from_ptr(argreduce_status_name(status)) }.to_str().unwrap();
    let constants = include_str!("../../src/api/codes.rs").lines().filter_map(|line| {
        let (name, number) = line.strip_prefix("pub const ")?.split_once(": argreduce_status = ")?;
        Some((name, number.strip_suffix(';')?.parse().unwrap()))
    });
    let constants: Vec<(&str, argreduce_status)> = constants.collect();
    assert_eq!((constants[0], constants.len()), (("ARGREDUCE_OK", ARGREDUCE_OK), 38));
    constants.iter().for_each(|&(constant, status)| assert_eq!(name(status), constant));
    for status in [-1, constants.len() as argreduce_status, argreduce_status::MIN, argreduce_status::MAX] {
        assert_eq!(name(status), "unknown");
    }
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
                    let mut indices = [999_u32; 64];
                    assert_eq!(operator.execute(&input, &mut indices), ARGREDUCE_OK);
                    assert_eq!(indices, [best as u32; 64]);
                    // Each thread has messages of its own.
                    let bytes = 4 * (thread + 1);
                    assert_ne!(operator.execute(&input[..thread + 1], &mut indices), ARGREDUCE_OK);
                    assert_eq!(message(), format!("input has {bytes} bytes: the operator needs 25600"));
                }
            });
        }
    });
}

/// By the magnitude, and by the distance to an element; values are the elements. Partial answers merge by it.
#[test]
fn keys() {
    let (data, sizes, axes) = ([3_i8, -128, 100, 7, -6, 8], [2, 3], [1]);
    let near = 6_i8;
    let by = |function, key, key_value: *const c_void| {
        let desc =
            argreduce_desc { function, input_type: ARGREDUCE_INT8, key, key_value, ..super::desc(&sizes, &axes) };
        compile(&desc).unwrap()
    };
    for (operator, indices, values) in [
        (by(ARGREDUCE_ARGMAX, ARGREDUCE_KEY_MAGNITUDE, null()), [1, 2], [-128, 8]),
        (by(ARGREDUCE_ARGMIN, ARGREDUCE_KEY_MAGNITUDE, null()), [0, 1], [3, -6]),
        (by(ARGREDUCE_ARGMIN, ARGREDUCE_KEY_DISTANCE, (&raw const near).cast()), [0, 0], [3, 7]),
        (by(ARGREDUCE_ARGMAX, ARGREDUCE_KEY_DISTANCE, (&raw const near).cast()), [1, 1], [-128, -6]),
    ] {
        let mut found = Found::<u32, i8>::new(1, 2, 2);
        assert_eq!(operator.run(&found.call(&data)), ARGREDUCE_OK, "{}", message());
        assert_eq!((&found.indices[0][..], &found.values[0][..]), (&indices[..], &values[..]));
    }
    // The magnitude of -9 is larger than that of 8, and that of 3 smaller than that of -9.
    let operator = by(ARGREDUCE_ARGMAX, ARGREDUCE_KEY_MAGNITUDE, null());
    let (mut acc, mut other) = (([8_i8, -9], [0_u32, 1]), ([-9_i8, 3], [2_u32, 3]));
    let pairs = |(values, indices): &mut ([i8; 2], [u32; 2])| argreduce_pairs {
        values: values.as_mut_ptr().cast(),
        value_stride: 1,
        value_bytes: 2,
        indices: indices.as_mut_ptr().cast(),
        index_stride: 4,
        index_bytes: 8,
    };
    let pairs = [pairs(&mut acc), pairs(&mut other)];
    // SAFETY: as many of both.
    assert_eq!(unsafe { argreduce_merge(operator.0, 2, &pairs[0], &pairs[1]) }, ARGREDUCE_OK, "{}", message());
    assert_eq!(acc, ([-9, -9], [2, 1]));
}

/// Each element has an answer: of both functions, with values, under a mask, from either end. Partial answers, and
/// other than one axis, are refused.
#[test]
fn the_best_so_far() {
    let (data, sizes, axes) = ([3.0_f32, 1.0, 4.0, 1.0, 5.0, 9.0], [2, 3], [1]);
    let there = [1_u8, 1, 1, 0, 7, 1];
    for (cumulative, all, masked) in [
        (ARGREDUCE_CUMULATIVE, [[0, 1, 1, 0, 0, 0], [0, 0, 2, 0, 1, 2]], [0, 0, 2, 77, 1, 2]),
        (ARGREDUCE_CUMULATIVE_REVERSE, [[1, 1, 2, 0, 1, 2], [2, 2, 2, 2, 2, 2]], [2, 2, 2, 2, 2, 2]),
    ] {
        let good = argreduce_desc { cumulative, fill: 77, has_fill: 1, ..super::desc(&sizes, &axes) };
        let both = compile(&argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..good }).unwrap();
        assert_eq!(both.bytes().unwrap(), [24, 24, 24]);
        let mut found = Found::<u32, f32>::new(2, 6, 6);
        assert_eq!(both.run(&found.call(&data)), ARGREDUCE_OK, "{}", message());
        assert_eq!(found.indices, all.map(|indices| indices.to_vec()));
        for (indices, values) in all.iter().zip(&found.values) {
            let expected: Vec<f32> = (0..6).map(|n| data[n / 3 * 3 + indices[n] as usize]).collect();
            assert_eq!(*values, expected);
        }
        let (one, there) = (compile(&good).unwrap(), mask(&there));
        let mut found = Found::<u32, f32>::new(1, 6, 6);
        assert_eq!(one.run(&argreduce_call { mask: &there, ..found.call(&data) }), ARGREDUCE_OK, "{}", message());
        assert_eq!(found.indices[0], masked);
        let refused = argreduce_call { is_partial: 1, ..found.call(&data) };
        assert_eq!(one.run(&refused), ARGREDUCE_CUMULATIVE_MISMATCH, "{}", message());
        let all_axes = argreduce_desc { axis_count: ARGREDUCE_ALL_AXES, axes: null(), ..good };
        assert_eq!(compile(&all_axes).unwrap_err(), ARGREDUCE_CUMULATIVE_MISMATCH);
    }
}
