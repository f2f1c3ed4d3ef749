//! Operators of both functions: what two operators answer one by one, and the plain loops; and what is refused.

use super::executor::executor;
use super::*;
use ::argreduce::{AxisDirection, Element, Index, Layout, NanPolicy, ReduceFunction, reference};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What is written of both: of the smallest first.
#[derive(Clone, Debug, PartialEq)]
struct Found<I, V> {
    indices: [Vec<I>; 2],
    values: [Vec<V>; 2],
}

/// What two buffers of a call are: where they are, and how many bytes they have.
type Buffers = [(*mut c_void, usize); 2];

/// A call for both, or for partial answers of both.
///
/// # Safety
/// As argreduce_execute_both().
unsafe fn call(
    is_partial: bool,
    op: *const argreduce_operator,
    (executor, mask): (*const argreduce_executor, *const argreduce_mask),
    (input, bytes): (*const c_void, usize),
    [min, max]: Buffers,
    [lowest, highest]: Buffers,
) -> argreduce_status {
    let execute = if is_partial { argreduce_execute_partials_both } else { argreduce_execute_both };
    // SAFETY: what is asked for above.
    unsafe {
        execute(op, executor, mask, input, bytes, min.0, min.1, max.0, max.1, lowest.0, lowest.1, highest.0, highest.1)
    }
}

fn place<X>(slice: &mut [X]) -> (*mut c_void, usize) {
    // No element is no pointer.
    if slice.is_empty() { (null_mut(), 0) } else { (slice.as_mut_ptr().cast(), size_of_val(slice)) }
}

impl<I: Index, V: Element> Found<I, V> {
    /// Nothing yet, with places for values or without.
    fn new(outputs: usize, values: usize) -> Found<I, V> {
        let (index, value) = (I::at(99, 0, 0), V::default());
        Found { indices: [(); 2].map(|()| vec![index; outputs]), values: [(); 2].map(|()| vec![value; values]) }
    }

    fn run(
        &mut self,
        is_partial: bool,
        op: &Operator,
        with: (*const argreduce_executor, *const argreduce_mask),
        input: &[V],
    ) -> argreduce_status {
        let input = (input.as_ptr().cast(), size_of_val(input));
        let (indices, values) = (self.indices.each_mut(), self.values.each_mut());
        // SAFETY: the buffers are as long as said; executors and masks of these tests are what they say.
        unsafe { call(is_partial, op.0, with, input, indices.map(|x| place(x)), values.map(|x| place(x))) }
    }

    /// As one operator after the other has it.
    fn run_each(
        &mut self,
        is_partial: bool,
        each: [&Operator; 2],
        (executor, mask): (*const argreduce_executor, *const argreduce_mask),
        input: &[V],
    ) {
        let (input, bytes) = (input.as_ptr().cast(), size_of_val(input));
        for (n, op) in each.into_iter().enumerate() {
            let (to, to_bytes) = place(&mut self.indices[n]);
            let (values, values_bytes) = place(&mut self.values[n]);
            let op = op.0;
            // SAFETY: as above.
            let status = unsafe {
                match (is_partial, mask.is_null()) {
                    (false, true) => {
                        argreduce_execute_with_values_on(op, executor, input, bytes, to, to_bytes, values, values_bytes)
                    }
                    (false, false) => {
                        argreduce_execute_masked(op, executor, mask, input, bytes, to, to_bytes, values, values_bytes)
                    }
                    (true, true) => {
                        argreduce_execute_partials_on(op, executor, input, bytes, values, values_bytes, to, to_bytes)
                    }
                    (true, false) => argreduce_execute_partials_masked(
                        op,
                        executor,
                        mask,
                        input,
                        bytes,
                        values,
                        values_bytes,
                        to,
                        to_bytes,
                    ),
                }
            };
            assert_eq!(status, ARGREDUCE_OK, "{}", message());
        }
    }

    /// Values as bits, because NaN is not equal to itself.
    fn bits(&self) -> [&[u8]; 2] {
        // SAFETY: element types have no padding, and bytes are aligned anywhere.
        let bits = |x: &[V]| unsafe { std::slice::from_raw_parts(x.as_ptr().cast::<u8>(), size_of_val(x)) };
        self.values.each_ref().map(|x| bits(x))
    }
}

const SIZES: [usize; 3] = [4, 3, 700];
const STRIDES: [isize; 3] = [2110, -700, 1];
const OFFSET: usize = 1400;

/// Some of the elements are there, and none of the third output's.
fn is_there(n: usize) -> bool {
    !n.is_multiple_of(3) && n / 2100 != 2
}

fn mask(bytes: &[u8]) -> argreduce_mask {
    argreduce_mask {
        size: size_of::<argreduce_mask>(),
        data: bytes.as_ptr().cast(),
        bytes: bytes.len(),
        offset: 0,
        strides: null(),
        kind: ARGREDUCE_MASK_BYTES,
        has_fill: 1,
        fill: 5,
    }
}

/// Every direction and policy to an index type, with a mask or without, on threads or not, partial or not: against two
/// operators of one function each, and against the plain loops.
fn check<T: Element, I: Index>((input_type, output_type): (u32, u32), palette: &[T]) {
    let data: Vec<T> = (0..4 * 2110).map(|n| palette[n * n % 1013 % 13 % palette.len()]).collect();
    let (layout, reduced) = (Layout::strided(&SIZES, &STRIDES, OFFSET).unwrap(), [false, true, true]);
    let bytes: Vec<u8> = (0..8400).map(|n| is_there(n).into()).collect();
    let (calls, mask) = (AtomicUsize::new(0), mask(&bytes));
    let (threads, sizes, strides) = (executor(&calls, 3), SIZES.map(|n| n as i64), STRIDES.map(|n| n as i64));
    for code in 0..16 {
        let (axis_direction, nan_policy) = (code & 1, code >> 1 & 1);
        let is_masked = code & 4 != 0;
        let with =
            (if code & 8 != 0 { &raw const threads } else { null() }, if is_masked { &raw const mask } else { null() });
        let op = |function| {
            let input = argreduce_layout { offset: OFFSET as i64, ..super::layout(&sizes, Some(&strides)) };
            let desc = desc(&sizes, &[-1, 1]);
            compile(&argreduce_desc { function, input_type, input, output_type, axis_direction, nan_policy, ..desc })
                .unwrap()
        };
        let (both, each) = (op(ARGREDUCE_ARGMINMAX), [op(ARGREDUCE_ARGMIN), op(ARGREDUCE_ARGMAX)]);
        for is_partial in [false, true] {
            let (mut wanted, mut found) = (Found::<I, T>::new(4, 4), Found::<I, T>::new(4, 4));
            wanted.run_each(is_partial, each.each_ref(), with, &data);
            assert_eq!(found.run(is_partial, &both, with, &data), ARGREDUCE_OK, "{}", message());
            assert_eq!((&found.indices, found.bits()), (&wanted.indices, wanted.bits()), "{code} of {input_type}");
            for (function, found) in [ReduceFunction::ArgMin, ReduceFunction::ArgMax].into_iter().zip(found.indices) {
                let direction = AxisDirection::ALL[axis_direction as usize];
                let order = (function, direction, NanPolicy::ALL[nan_policy as usize]);
                let expected =
                    reference::arg_reduce_masked(order, &layout, &reduced, &data, |n| !is_masked || is_there(n));
                let none = if is_partial { -1 } else { 5 };
                let expected = expected.iter().map(|index| I::at(index.map_or(none, |n| n as isize), 0, 0));
                assert_eq!(found, expected.collect::<Vec<_>>(), "{order:?} of {input_type}");
            }
            let mut found = Found::<I, T>::new(4, 0);
            if !is_partial {
                assert_eq!(found.run(false, &both, with, &data), ARGREDUCE_OK, "{}", message());
                assert_eq!(found.indices, wanted.indices, "{code} of {input_type}, without values");
            }
        }
    }
    assert!(calls.load(Relaxed) > 0);
}

#[test]
fn every_type() {
    fn to_each<T: Element>(input_type: u32, palette: &[T]) {
        check::<T, u16>((input_type, ARGREDUCE_UINT16), palette);
        check::<T, i64>((input_type, ARGREDUCE_INT64), palette);
    }
    to_each(ARGREDUCE_FLOAT32, &[1.0_f32, -0.0, 0.0, f32::NAN, f32::INFINITY]);
    check::<_, i32>((ARGREDUCE_FLOAT32, ARGREDUCE_INT32), &[1.0_f32, -0.0, 0.0, f32::NEG_INFINITY]);
    check::<_, u32>((ARGREDUCE_FLOAT32, ARGREDUCE_UINT32), &[1.0_f32, -0.0, 0.0, f32::NAN]);
    check::<_, u64>((ARGREDUCE_FLOAT32, ARGREDUCE_UINT64), &[f32::NAN]);
    to_each(ARGREDUCE_FLOAT64, &[1.0_f64, -0.0, 0.0, f64::NAN, f64::NEG_INFINITY]);
    to_each(ARGREDUCE_INT8, &[1_i8, -1, i8::MIN, i8::MAX]);
    to_each(ARGREDUCE_INT16, &[1_i16, -1, i16::MIN, i16::MAX]);
    to_each(ARGREDUCE_INT32, &[1_i32, -1, i32::MIN, i32::MAX]);
    to_each(ARGREDUCE_INT64, &[1_i64, -1, i64::MIN, i64::MAX]);
    to_each(ARGREDUCE_UINT8, &[1_u8, 127, 128, 255]);
    to_each(ARGREDUCE_UINT16, &[1_u16, 0x7fff, 0x8000, u16::MAX]);
    to_each(ARGREDUCE_UINT32, &[1_u32, 0x7fff_ffff, 0x8000_0000, u32::MAX]);
    to_each(ARGREDUCE_UINT64, &[1_u64, u64::MAX >> 1, 1 << 63, u64::MAX]);
    to_each(ARGREDUCE_BOOL, &[false, true, true]);
    to_each(ARGREDUCE_FLOAT16, &[half::f16::ONE, half::f16::NEG_ZERO, half::f16::ZERO, half::f16::NAN]);
    to_each(ARGREDUCE_BFLOAT16, &[half::bf16::ONE, half::bf16::NEG_ZERO, half::bf16::ZERO, half::bf16::NAN]);
}

/// Indices of 8 bits, at an output layout of their own: what lies between them is left alone. And what both buffers
/// need is what one does.
#[test]
fn strided_outputs_and_their_bytes() {
    let output = argreduce_layout { offset: 5, ..layout(&[3, 1], Some(&[-2, 0])) };
    let (function, output_type) = (ARGREDUCE_ARGMINMAX, ARGREDUCE_UINT8);
    let both = compile(&argreduce_desc { function, output, output_type, ..desc(&[3, 4], &[1]) }).unwrap();
    assert_eq!(both.bytes(), Ok([48, 6, 12]));
    let input = [0.0_f32, 1.0, 0.0, -1.0, 2.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 3.0];
    let mut found = Found::<u8, f32>::new(6, 3);
    assert_eq!(found.run(false, &both, (null(), null()), &input), ARGREDUCE_OK, "{}", message());
    assert_eq!(found.indices, [vec![99, 1, 99, 1, 99, 3], vec![99, 0, 99, 0, 99, 1]]);
    assert_eq!(found.values, [vec![-1.0, 0.0, 0.0], vec![1.0, 2.0, 5.0]]);
    // SAFETY: valid as long as the operator.
    let isa = unsafe { CStr::from_ptr(argreduce_operator_isa(both.0)) }.to_str().unwrap();
    assert!(Isa::available().any(|available| available.name() == isa), "{isa}");

    // Nothing to write: no buffers are needed either.
    let empty = compile(&argreduce_desc { function, ..desc(&[0, 3], &[1]) }).unwrap();
    for is_partial in [false, true] {
        let none = [(null_mut(), 0); 2];
        // SAFETY: buffers of 0 bytes.
        let status = unsafe { call(is_partial, empty.0, (null(), null()), (null(), 0), none, none) };
        assert_eq!(status, ARGREDUCE_OK, "{}", message());
    }
}

/// A part for each thread of a program, say: the smallest and the largest of each merge, by an operator of their own.
#[test]
fn parts_merge() {
    let input: Vec<i16> = (0..2 * 90).map(|n| (n * n % 37) as i16).collect();
    let whole_desc = argreduce_desc { input_type: ARGREDUCE_INT16, ..desc(&[2, 90], &[1]) };
    let window = |function, start: i64, size: i64| {
        let sizes = [2, size];
        let desc = argreduce_desc { function, input: layout(&sizes, Some(&[90, 1])), ..whole_desc };
        // SAFETY: descriptions of these tests keep what they point to; both lists are as long as the rank.
        finish(|out| unsafe { argreduce_compile_window(&desc, [2, 90].as_ptr(), [0, start].as_ptr(), out) }).unwrap()
    };
    let mut merged = Found::<u32, i16>::new(2, 2);
    merged.indices = [vec![u32::MAX; 2], vec![u32::MAX; 2]];
    let mergers = [window(ARGREDUCE_ARGMIN, 0, 90), window(ARGREDUCE_ARGMAX, 0, 90)];
    for (start, size) in [(60, 30), (0, 0), (7, 53), (0, 7)] {
        let mut part = Found::<u32, i16>::new(2, 2);
        let op = window(ARGREDUCE_ARGMINMAX, start, size);
        assert_eq!(part.run(true, &op, (null(), null()), &input[start as usize..]), ARGREDUCE_OK, "{}", message());
        assert_eq!(size == 0, part.indices == [[u32::MAX; 2]; 2]);
        if size == 0 {
            let status = part.run(false, &op, (null(), null()), &input);
            let message = "axis 1 has size 0 in the part: an empty part has no index, only partial answers to \
                 merge with those of others";
            refused(status, ARGREDUCE_EMPTY_REDUCTION, message);
        }
        for (n, merger) in mergers.iter().enumerate() {
            let pairs = |found: &mut Found<u32, i16>| {
                let ((values, value_bytes), (indices, index_bytes)) =
                    (place(&mut found.values[n]), place(&mut found.indices[n]));
                argreduce_pairs { values, value_stride: 2, value_bytes, indices, index_stride: 4, index_bytes }
            };
            let (acc, other) = (pairs(&mut merged), pairs(&mut part));
            // SAFETY: both have as many elements as they say.
            assert_eq!(unsafe { argreduce_merge(merger.0, 2, &acc, &other) }, ARGREDUCE_OK, "{}", message());
        }
    }
    let (mut wanted, both) = (Found::new(2, 2), argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..whole_desc });
    assert_eq!(wanted.run(false, &compile(&both).unwrap(), (null(), null()), &input), ARGREDUCE_OK);
    assert_eq!(merged, wanted);
}

/// Functions that have one answer say which ones have two; and those, which operators they take.
#[test]
fn operators_of_other_functions() {
    let good = argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..desc(&[2, 3], &[1]) };
    let (both, one) = (compile(&good).unwrap(), compile(&desc(&[2, 3], &[1])).unwrap());
    let (input, mut output, mut values, bytes) = ([0.0_f32; 6], [9_u32; 2], [9.0_f32; 2], [1_u8; 6]);
    let (from, to, values_to) = (input.as_ptr().cast(), place(&mut output).0, place(&mut values).0);
    let (op, mask) = (both.0, mask(&bytes));
    let refused = |status, instead: &str| {
        let message = format!("op is an argminmax, which has two answers: {instead}");
        super::refused(status, ARGREDUCE_UNSUPPORTED_OPERATOR, &message);
    };
    let takes = ["argreduce_execute_both() takes it", "argreduce_execute_partials_both() takes it"];
    // SAFETY: the buffers are as long as said.
    unsafe {
        refused(argreduce_execute(op, from, 24, to, 8), takes[0]);
        refused(argreduce_execute_on(op, null(), from, 24, to, 8), takes[0]);
        refused(argreduce_execute_with_values(op, from, 24, to, 8, values_to, 8), takes[0]);
        refused(argreduce_execute_with_values_on(op, null(), from, 24, to, 8, values_to, 8), takes[0]);
        refused(argreduce_execute_masked(op, null(), &mask, from, 24, to, 8, values_to, 8), takes[0]);
        refused(argreduce_execute_partials(op, from, 24, values_to, 8, to, 8), takes[1]);
        refused(argreduce_execute_partials_on(op, null(), from, 24, values_to, 8, to, 8), takes[1]);
        refused(argreduce_execute_partials_masked(op, null(), &mask, from, 24, values_to, 8, to, 8), takes[1]);
        let pairs = argreduce_pairs {
            values: values_to,
            value_stride: 4,
            value_bytes: 8,
            indices: to,
            index_stride: 4,
            index_bytes: 8,
        };
        for count in [0, 2] {
            let status = argreduce_merge(op, count, &pairs, &pairs);
            refused(status, "merge each by an operator of its function, argmin or argmax");
        }
    }
    let mut found = Found::<u32, f32>::new(2, 2);
    for is_partial in [false, true] {
        let status = found.run(is_partial, &one, (null(), null()), &input);
        let message = "op is no argminmax: compile one by argreduce_compile(), of ARGREDUCE_ARGMINMAX";
        super::refused(status, ARGREDUCE_UNSUPPORTED_OPERATOR, message);
    }
    assert_eq!((output, values, found), ([9; 2], [9.0; 2], Found::new(2, 2)));
}

/// Each buffer: NULL, too short, misaligned, and over each other. Nothing is written then.
#[test]
fn bad_buffers() {
    const NAMES: [&str; 6] = ["input", "min_indices", "max_indices", "min_values", "max_values", "mask->data"];
    let op = compile(&argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..desc(&[2, 3], &[1]) }).unwrap();
    // A block for each buffer: 8 bytes that it is in, and more.
    let mut block = [9_u64; 6 * 4];
    let first = block.as_mut_ptr().cast::<u8>();
    let good: [(*mut c_void, usize); 6] =
        std::array::from_fn(|n| (first.wrapping_add(32 * n).cast(), [24, 8, 8, 8, 8, 6][n]));
    for is_partial in [false, true] {
        let run = |op, buffers: [(*mut c_void, usize); 6]| {
            let mask = argreduce_mask { data: buffers[5].0, bytes: buffers[5].1, ..mask(&[]) };
            let (input, indices, values) =
                ((buffers[0].0.cast_const(), buffers[0].1), [buffers[1], buffers[2]], [buffers[3], buffers[4]]);
            // SAFETY: NULL, or within `block`.
            unsafe { call(is_partial, op, (null(), &mask), input, indices, values) }
        };
        refused(run(null(), good), ARGREDUCE_NULL_POINTER, "op is NULL");
        for n in 0..6 {
            let with = |buffer| {
                let mut buffers = good;
                buffers[n] = buffer;
                buffers
            };
            let (start, bytes, name) = (good[n].0, good[n].1, NAMES[n]);
            refused(run(op.0, with((null_mut(), bytes))), ARGREDUCE_NULL_POINTER, &format!("{name} is NULL"));
            let status = run(op.0, with((start, bytes - 1)));
            if n == 5 {
                refused(status, ARGREDUCE_MASK_MISMATCH, "the mask has 5 bytes: the input needs 6");
            } else {
                let (len, needs) = if n == 0 { (5, 6) } else { (1, 2) };
                let of = if n == 1 || n == 2 { "u32" } else { "f32" };
                let message = format!("the {name} slice has {len} elements of {of}: the layout needs {needs}");
                refused(status, ARGREDUCE_BUFFER_TOO_SHORT, &message);
                let message =
                    format!("the {name} slice is misaligned: for {of}, its address has to be a multiple of 4");
                refused(run(op.0, with((start.wrapping_byte_add(1), bytes))), ARGREDUCE_MISALIGNED, &message);
            }
            // By a byte.
            for other in (0..6).filter(|&other| other != n && (n, other) != (0, 5) && (n, other) != (5, 0)) {
                let status = run(op.0, with((good[other].0.wrapping_byte_add(good[other].1 - 1), bytes)));
                let (one, two) = (n.min(other), n.max(other));
                // The mask is read, as the input is.
                let (one, two) = if two == 5 { (two, one) } else { (one, two) };
                let message = format!("{} and {} overlap: they must not share a byte", NAMES[one], NAMES[two]);
                refused(status, ARGREDUCE_BUFFERS_OVERLAP, &message);
            }
        }
        // Values of both, or of neither; and of partial answers, of both.
        for n in [3, 4] {
            let mut buffers = good;
            buffers[n] = (null_mut(), 0);
            let (name, other) = (NAMES[n], NAMES[7 - n]);
            if is_partial {
                let message = format!("the {name} slice has 0 elements of f32: the layout needs 2");
                refused(run(op.0, buffers), ARGREDUCE_BUFFER_TOO_SHORT, &message);
            } else {
                let message = format!("{name} is NULL, and {other} is not: values are written of both, or of neither");
                refused(run(op.0, buffers), ARGREDUCE_NULL_POINTER, &message);
            }
        }
        assert_eq!(block, [9; 24]);
    }
}

/// What is wrong with a mask or an executor is said before anything is written; what is not there, afterwards.
#[test]
fn bad_masks_and_executors() {
    let op = compile(&argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..desc(&[2, 3], &[1]) }).unwrap();
    let (bytes, input, calls) = ([1, 0, 1, 0, 0, 0], [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], AtomicUsize::new(0));
    let good = mask(&bytes);
    for is_partial in [false, true] {
        let mut found = Found::<u32, f32>::new(2, 2);
        let mut fails = |mask: argreduce_mask, status, message: &str| {
            refused(found.run(is_partial, &op, (null(), &mask), &input), status, message);
        };
        let size = size_of::<argreduce_mask>();
        let message = format!("mask->size is 8: it has to be sizeof(argreduce_mask), which is at least {size}");
        fails(argreduce_mask { size: 8, ..good }, ARGREDUCE_UNKNOWN_VALUE, &message);
        let message = "mask->kind is 2: 0 (bits) and 1 (bytes) are allowed";
        fails(argreduce_mask { kind: 2, ..good }, ARGREDUCE_UNKNOWN_VALUE, message);
        let message = format!("mask->offset is -1: 0 to {} are allowed", isize::MAX);
        fails(argreduce_mask { offset: -1, ..good }, ARGREDUCE_MASK_MISMATCH, &message);
        if !is_partial {
            let message = "the fill -1 does not fit u32, which holds 0 to 4294967295";
            fails(argreduce_mask { fill: -1, ..good }, ARGREDUCE_FILL_OUT_OF_RANGE, message);
        }
        let no_threads = argreduce_executor { parallel_for: None, ..executor(&calls, 2) };
        let status = found.run(is_partial, &op, (&no_threads, null()), &input);
        refused(status, ARGREDUCE_NULL_POINTER, "executor->parallel_for is NULL");
        assert_eq!(found, Found::new(2, 2));
        // Without a fill; which partial answers do not need.
        let no_fill = argreduce_mask { has_fill: 0, ..good };
        let status = found.run(is_partial, &op, (null(), &no_fill), &input);
        if is_partial {
            assert_eq!(status, ARGREDUCE_OK);
            let (indices, values) = ([vec![0, u32::MAX], vec![2, u32::MAX]], [vec![1.0, 0.0], vec![3.0, 0.0]]);
            assert_eq!(found, Found { indices, values });
        } else {
            let message = "no element is there for output [1, 0]: without a fill, an index needs at least one";
            refused(status, ARGREDUCE_NOTHING_THERE, message);
        }
    }
}
