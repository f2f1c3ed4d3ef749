//! Parts and merging from C: answers at any strides, and what is wrong with any of them.

use super::*;

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

/// A part for each thread of a program, say, and one of nothing: they merge in any order, those of the smallest and of
/// the largest by an operator of their own.
#[test]
fn parts_merge() {
    let mut input: Vec<f32> = (0..2 * 90).map(|n| (n * n % 37) as f32).collect();
    input[150] = f32::NAN;
    let window = |function, [start, size]: [i64; 2]| {
        let sizes = [2, size];
        let input = layout(&sizes, Some(&[90, 1]));
        let (whole_sizes, start) = ([2, 90], [0, start]);
        let (whole_sizes, start) = (whole_sizes.as_ptr(), start.as_ptr());
        compile(&argreduce_desc { function, input, whole_sizes, start, ..desc(&sizes, &[1]) }).unwrap()
    };
    let functions = [ARGREDUCE_ARGMIN, ARGREDUCE_ARGMAX];
    for (function, mergers) in [(ARGREDUCE_ARGMAX, &functions[1..]), (ARGREDUCE_ARGMINMAX, &functions[..])] {
        let mut merged = Found::<u32, f32>::new(mergers.len(), 2, 2);
        merged.indices.iter_mut().for_each(|indices| indices.fill(u32::MAX));
        for part in [[60, 30], [0, 0], [7, 53], [0, 7]] {
            let (op, input) = (window(function, part), &input[part[0] as usize..]);
            let mut found = Found::<u32, f32>::new(mergers.len(), 2, 2);
            assert_eq!(op.run(&argreduce_call { is_partial: 1, ..found.call(input) }), ARGREDUCE_OK, "{}", message());
            if part == [0, 0] {
                assert!(found.indices.iter().flatten().all(|&index| index == u32::MAX));
                let message = "axis 1 has size 0 in the part: an empty part has no index, only partial answers to \
                               merge with those of others";
                refused(op.run(&found.call(input)), ARGREDUCE_EMPTY_REDUCTION, message);
            }
            for (n, &of_one) in mergers.iter().enumerate() {
                let acc = pairs(&mut merged.values[n], &mut merged.indices[n]);
                let other = pairs(&mut found.values[n], &mut found.indices[n]);
                // SAFETY: pairs of these tests point to as many elements as they say.
                let status = unsafe { argreduce_merge(window(of_one, [0, 90]).0, 2, &acc, &other) };
                assert_eq!(status, ARGREDUCE_OK, "{}", message());
            }
        }
        let mut whole = Found::<u32, f32>::new(mergers.len(), 2, 2);
        assert_eq!(window(function, [0, 90]).run(&whole.call(&input)), ARGREDUCE_OK);
        let bits = |found: &Found<u32, f32>| found.values.each_ref().map(|x| x.iter().map(|x| x.to_bits()).collect());
        let (merged_bits, whole_bits): ([Vec<u32>; 2], _) = (bits(&merged), bits(&whole));
        assert_eq!((merged.indices, merged_bits), (whole.indices, whole_bits));
    }
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
        let both = compile(&argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..desc(&[2, 3], &[1]) }).unwrap();
        for count in [0, 4] {
            let message = "op is an argminmax, which has two answers: merge each by an operator of its function, \
                           argmin or argmax";
            let status = argreduce_merge(both.0, count, &acc, &other);
            refused(status, ARGREDUCE_UNSUPPORTED_OPERATOR, message);
        }
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
