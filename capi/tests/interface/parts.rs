//! Windows, partial answers and merging from C: answers at any strides, and what is wrong with any of them.

use super::*;

fn compile_window(desc: &argreduce_desc, whole: &[i64], start: &[i64]) -> Result<Operator, argreduce_status> {
    // SAFETY: descriptions of these tests keep what they point to; both lists are as long as the rank.
    finish(|out| unsafe { argreduce_compile_window(desc, whole.as_ptr(), start.as_ptr(), out) })
}

fn execute_partials(op: &Operator, input: &[f32], values: &mut [f32], indices: &mut [u32]) -> argreduce_status {
    // SAFETY: the buffers are as long as said.
    unsafe {
        argreduce_execute_partials(
            op.0,
            input.as_ptr().cast(),
            size_of_val(input),
            values.as_mut_ptr().cast(),
            size_of_val(values),
            indices.as_mut_ptr().cast(),
            size_of_val(indices),
        )
    }
}

/// Packed partial answers.
fn pairs(values: &mut [f32], indices: &mut [u32]) -> argreduce_pairs {
    argreduce_pairs {
        values: values.as_mut_ptr().cast(),
        value_stride: 4,
        value_bytes: size_of_val(values),
        indices: indices.as_mut_ptr().cast(),
        index_stride: 4,
        index_bytes: size_of_val(indices),
    }
}

#[test]
fn parts_merge() {
    let [left, right] = [[1.0, 5.0, 2.0, 7.0, 0.0, 7.0], [5.0, 5.0, 0.0, 8.0, f32::NAN, 8.0]];
    let (desc, whole) = (desc(&[2, 3], &[1]), [2, 6]);
    let (first, second) =
        (compile_window(&desc, &whole, &[0, 0]).unwrap(), compile_window(&desc, &whole, &[0, 3]).unwrap());
    let (mut values, mut indices) = ([0.0; 2], [9; 2]);
    assert_eq!(execute_partials(&first, &left, &mut values, &mut indices), ARGREDUCE_OK);
    assert_eq!((values, indices), ([5.0, 7.0], [1, 0]));
    let (mut other_values, mut other_indices) = ([0.0; 2], [9; 2]);
    assert_eq!(execute_partials(&second, &right, &mut other_values, &mut other_indices), ARGREDUCE_OK);
    let (acc, other) = (pairs(&mut values, &mut indices), pairs(&mut other_values, &mut other_indices));
    // SAFETY: pairs of these tests point to as many elements as they say.
    assert_eq!(unsafe { argreduce_merge(first.0, 2, &acc, &other) }, ARGREDUCE_OK);
    assert_eq!((values[0], indices), (5.0, [1, 4]));
    assert!(values[1].is_nan());

    // An empty part.
    let empty = compile_window(&super::desc(&[2, 0], &[1]), &whole, &[0, 6]).unwrap();
    assert_eq!(execute_partials(&empty, &[], &mut values, &mut indices), ARGREDUCE_OK);
    assert_eq!((values, indices), ([0.0; 2], [u32::MAX; 2]));
    let message = "axis 1 has size 0 in the part: an empty part has no index, only partial answers to merge with \
         those of others";
    refused(empty.execute::<f32, u32>(&[], &mut indices), ARGREDUCE_EMPTY_REDUCTION, message);
    assert_eq!(indices, [u32::MAX; 2]);
}

/// An array of structs, backwards, with one other value for all; what lies between is left alone.
#[test]
fn merges_at_any_strides() {
    const COUNT: usize = 600;
    let operator = compile(&desc(&[2, 3], &[1])).unwrap();
    for is_backwards in [false, true] {
        let mut structs: Vec<[u32; 3]> = (0..COUNT as u32).map(|n| [(n as f32).to_bits(), n, 77]).collect();
        let (mut other_values, mut other_indices) = ([300.0_f32], [7_u32]);
        let last = if is_backwards { COUNT - 1 } else { 0 };
        let stride = if is_backwards { -12 } else { 12 };
        let first = structs.as_mut_ptr().cast::<u32>();
        let acc = argreduce_pairs {
            values: first.wrapping_add(3 * last).cast(),
            value_stride: stride,
            value_bytes: COUNT * 12 - 8,
            indices: first.wrapping_add(3 * last + 1).cast(),
            index_stride: stride,
            index_bytes: COUNT * 12 - 8,
        };
        let other = pairs(&mut other_values, &mut other_indices);
        let other = argreduce_pairs { value_stride: 0, index_stride: 0, ..other };
        // SAFETY: as in `parts_merge`.
        assert_eq!(unsafe { argreduce_merge(operator.0, COUNT, &acc, &other) }, ARGREDUCE_OK, "{}", message());
        for (n, found) in structs.iter().enumerate() {
            let expected = if n <= 300 { [300.0_f32.to_bits(), 7] } else { [(n as f32).to_bits(), n as u32] };
            assert_eq!(found, &[expected[0], expected[1], 77], "{n}");
        }
    }
}

/// Values and indices side by side, in two arrays of structs or taking turns in one, and columns of different strides
/// that reach across each other: where no element is shared, all of them merge.
#[test]
fn merges_columns_that_reach_across_each_other() {
    const COUNT: usize = 4;
    let operator = compile(&desc(&[2, 3], &[1])).unwrap();
    // In words of 4 bytes: where the values, the indices, and those of the other side begin, and their strides.
    for [values, indices, other_values, other_indices] in [
        // Two arrays of structs, one behind the other.
        [(0, 2), (1, 2), (8, 2), (9, 2)],
        [(0, 2), (1, 2), (14, -2), (15, -2)],
        // One array of both, and the other side between.
        [(0, 4), (1, 4), (2, 4), (3, 4)],
        [(12, -4), (1, 4), (2, 4), (15, -4)],
        // One pair for all, in a gap.
        [(0, 4), (1, 4), (2, 0), (7, 0)],
        // Neither the strides nor where they end tell these apart: 0 5 10 15 and 3 6 9 12, or 4 8 12 16.
        [(0, 5), (20, 1), (16, 1), (3, 3)],
        [(15, -5), (20, 1), (24, 1), (16, -4)],
    ] {
        let mut words = [77_u32; 32];
        let place = |(start, stride): (isize, isize), n: usize| (start + n as isize * stride) as usize;
        for n in 0..COUNT {
            (words[place(values, n)], words[place(indices, n)]) = ((n as f32).to_bits(), n as u32);
            (words[place(other_values, n)], words[place(other_indices, n)]) = (1.5_f32.to_bits(), 9);
        }
        let before = words;
        let first = words.as_mut_ptr();
        let at = |(start, _): (isize, isize)| first.wrapping_offset(start).cast::<c_void>();
        let bytes = |(_, stride): (isize, isize)| (COUNT - 1) * stride.unsigned_abs() * 4 + 4;
        let pairs = |values: (isize, isize), indices: (isize, isize)| argreduce_pairs {
            values: at(values),
            value_stride: values.1 * 4,
            value_bytes: bytes(values),
            indices: at(indices),
            index_stride: indices.1 * 4,
            index_bytes: bytes(indices),
        };
        let (acc, other) = (pairs(values, indices), pairs(other_values, other_indices));
        // SAFETY: as in `parts_merge`; all of it lies in `words`.
        assert_eq!(unsafe { argreduce_merge(operator.0, COUNT, &acc, &other) }, ARGREDUCE_OK, "{}", message());
        let mut expected = before;
        for n in 0..2 {
            (expected[place(values, n)], expected[place(indices, n)]) = (1.5_f32.to_bits(), 9);
        }
        assert_eq!(words, expected, "{values:?} {indices:?} {other_values:?} {other_indices:?}");
    }
}

#[test]
fn bad_windows() {
    let desc = desc(&[2, 3], &[1]);
    let fails = |whole: &[i64], start: &[i64], status, expected: &str| {
        refused(compile_window(&desc, whole, start).unwrap_err(), status, expected);
    };
    let message = "the window does not fit axis 1: size 3 from 4 on ends beyond the whole's 6";
    fails(&[2, 6], &[0, 4], ARGREDUCE_WINDOW, message);
    fails(&[2, 6], &[0, -1], ARGREDUCE_WINDOW, &format!("start[1] is -1: 0 to {} are allowed", isize::MAX));
    fails(&[-2, 6], &[0, 0], ARGREDUCE_SIZE, &format!("whole_sizes[0] is -2: 0 to {} are allowed", isize::MAX));
    let message = format!(
        "the whole is too large: with size 2147483648 on axis 1, its sizes multiply to more than {}",
        usize::MAX
    );
    fails(&[1 << 33, 1 << 31], &[0, 0], ARGREDUCE_TOO_MANY_ELEMENTS, &message);
    let message = "the largest possible index is 4294967296: u32 holds at most 4294967295";
    fails(&[2, (1 << 32) + 1], &[0, 0], ARGREDUCE_INDEX_TOO_LARGE, message);
    // SAFETY: null pointers are what this is about.
    unsafe {
        let (whole, mut out) = ([2, 6], std::ptr::dangling_mut());
        let null_start = argreduce_compile_window(&desc, whole.as_ptr(), null(), &mut out);
        refused(null_start, ARGREDUCE_NULL_POINTER, "start is NULL");
        let null_whole = argreduce_compile_window(&desc, null(), whole.as_ptr(), &mut out);
        refused(null_whole, ARGREDUCE_NULL_POINTER, "whole_sizes is NULL");
        assert!(out.is_null());
        refused(argreduce_compile_window(&desc, null(), null(), null_mut()), ARGREDUCE_NULL_POINTER, "out is NULL");
    }
}

#[test]
fn bad_partials() {
    let operator = compile(&desc(&[2, 3], &[1])).unwrap();
    let (input, mut values, mut indices) = ([0.0; 6], [9.0; 2], [9; 2]);
    let short = "the values slice has 1 elements of f32: the layout needs 2";
    refused(execute_partials(&operator, &input, &mut values[..1], &mut indices), ARGREDUCE_BUFFER_TOO_SHORT, short);
    let short = "the indices slice has 1 elements of u32: the layout needs 2";
    refused(execute_partials(&operator, &input, &mut values, &mut indices[..1]), ARGREDUCE_BUFFER_TOO_SHORT, short);
    let short = "the input slice has 5 elements of f32: the layout needs 6";
    refused(execute_partials(&operator, &input[..5], &mut values, &mut indices), ARGREDUCE_BUFFER_TOO_SHORT, short);
    // SAFETY: null pointers and shared buffers are what this is about; the others have as many bytes as said.
    unsafe {
        let (from, to) = (input.as_ptr().cast(), values.as_mut_ptr().cast::<c_void>());
        let partials = argreduce_execute_partials;
        refused(partials(null(), from, 24, null_mut(), 0, to, 8), ARGREDUCE_NULL_POINTER, "op is NULL");
        refused(partials(operator.0, from, 24, null_mut(), 8, to, 8), ARGREDUCE_NULL_POINTER, "values is NULL");
        let overlap = "values and indices overlap: they must not share a byte";
        refused(partials(operator.0, from, 24, to, 8, to, 8), ARGREDUCE_BUFFERS_OVERLAP, overlap);
    }
    assert_eq!((values, indices), ([9.0; 2], [9; 2]));
    // 256 elements have an index with all bits set.
    let bytes = compile(&argreduce_desc { output_type: ARGREDUCE_UINT8, ..desc(&[256], &[0]) }).unwrap();
    let message =
        "the largest possible index is 255: u8 holds at most 254 beside the one that says that nothing was seen";
    refused(execute_partials(&bytes, &[0.0; 256], &mut values, &mut indices), ARGREDUCE_INDEX_TOO_LARGE, message);
}

#[test]
fn bad_merges() {
    let operator = compile(&desc(&[2, 3], &[1])).unwrap();
    let ([mut values, mut other_values], [mut indices, mut other_indices]) = ([[1.0; 4]; 2], [[1; 4]; 2]);
    let (acc, other) = (pairs(&mut values, &mut indices), pairs(&mut other_values, &mut other_indices));
    // SAFETY: what is wrong is what this is about; all else is as in `parts_merge`.
    unsafe {
        let fails = |acc: argreduce_pairs, other: argreduce_pairs, status, expected: &str| {
            refused(argreduce_merge(operator.0, 4, &acc, &other), status, expected);
        };
        refused(argreduce_merge(null(), 4, &acc, &other), ARGREDUCE_NULL_POINTER, "op is NULL");
        refused(argreduce_merge(operator.0, 4, null(), &other), ARGREDUCE_NULL_POINTER, "acc is NULL");
        refused(argreduce_merge(operator.0, 4, &acc, null()), ARGREDUCE_NULL_POINTER, "other is NULL");
        assert_eq!(argreduce_merge(operator.0, 0, null(), null()), ARGREDUCE_OK);
        let bad = argreduce_pairs { indices: null_mut(), ..other };
        fails(acc, bad, ARGREDUCE_NULL_POINTER, "other->indices is NULL");
        let bad = argreduce_pairs { values: acc.values.wrapping_byte_add(2), ..acc };
        fails(bad, other, ARGREDUCE_MISALIGNED, "acc->values is misaligned: its address has to be a multiple of 4");
        let bad = argreduce_pairs { index_bytes: 15, ..acc };
        fails(bad, other, ARGREDUCE_BUFFER_TOO_SHORT, "acc->indices has 15 bytes: 4 elements 4 bytes apart span 16");
        let message = "acc->value_stride is 6: for elements of 4 bytes, it has to be a multiple of that";
        fails(argreduce_pairs { value_stride: 6, ..acc }, other, ARGREDUCE_PAIR_STRIDE, message);
        let message = "acc->index_stride is 0: for elements of 4 bytes, it has to be at least as long";
        fails(argreduce_pairs { index_stride: 0, ..acc }, other, ARGREDUCE_PAIR_STRIDE, message);
        let bad = argreduce_pairs { value_stride: isize::MAX - 3, ..other };
        let message =
            format!("other->values cannot have 4 elements {} bytes apart: memory is not as large", isize::MAX - 3);
        fails(acc, bad, ARGREDUCE_BUFFER_TOO_LARGE, &message);
        let bad = argreduce_pairs { values: acc.values, ..other };
        fails(
            acc,
            bad,
            ARGREDUCE_BUFFERS_OVERLAP,
            "acc->values and other->values overlap: they must not share an element",
        );
        // The elements 0 5 10 15 and 3 7 11 15 share the last; 15 10 5 0 and 0 4 8 12, one of each end.
        let mut words = [0_u32; 16];
        let mut word = |n: usize| words.as_mut_ptr().wrapping_add(n).cast::<c_void>();
        for (start, stride, other_start) in [(word(0), 20, word(3)), (word(15), -20, word(0))] {
            let bad = argreduce_pairs { values: start, value_stride: stride, value_bytes: 64, ..acc };
            let other = argreduce_pairs { values: other_start, value_stride: 16, value_bytes: 52, ..other };
            let message = "acc->values and other->values overlap: they must not share an element";
            fails(bad, other, ARGREDUCE_BUFFERS_OVERLAP, message);
        }
        let bad = argreduce_pairs { indices: acc.values, ..acc };
        fails(
            bad,
            other,
            ARGREDUCE_BUFFERS_OVERLAP,
            "acc->values and acc->indices overlap: they must not share an element",
        );
    }
    assert_eq!((values, indices), ([1.0; 4], [1; 4]));
}
