//! Bad input by the library's own description: each has its code and its message, and nothing is written.
//! (`capi/tests/hostile.c` does the same from outside, under valgrind.)

use super::*;

#[track_caller]
fn compile_fails(desc: argreduce_desc, status: argreduce_status, expected: &str) {
    refused(compile(&desc).unwrap_err(), status, expected);
}

#[test]
fn null_pointers() {
    // SAFETY: null pointers are what this is about.
    unsafe {
        refused(argreduce_compile(null(), null_mut()), ARGREDUCE_NULL_POINTER, "out is NULL");
        let good = desc(&[2, 3], &[1]);
        refused(argreduce_compile(&good, null_mut()), ARGREDUCE_NULL_POINTER, "out is NULL");
        let mut out = std::ptr::dangling_mut();
        refused(argreduce_compile(null(), &mut out), ARGREDUCE_NULL_POINTER, "desc is NULL");
        assert!(out.is_null());
    }
    let good = desc(&[2, 3], &[1]);
    let bad = argreduce_layout { sizes: null(), ..good.input };
    compile_fails(argreduce_desc { input: bad, ..good }, ARGREDUCE_NULL_POINTER, "desc->input.sizes is NULL");
    compile_fails(argreduce_desc { axes: null(), ..good }, ARGREDUCE_NULL_POINTER, "desc->axes is NULL");
    // A forgotten list of axes, which is not an empty one.
    let message = "desc->axes is NULL and desc->axis_count 0, which says nothing: list the axes to reduce; to reduce \
                   nothing, any pointer with a count of 0";
    for desc in [good, desc(&[], &[])] {
        let forgotten = argreduce_desc { axes: null(), axis_count: 0, ..desc };
        compile_fails(forgotten, ARGREDUCE_NULL_POINTER, message);
        // SAFETY: as many numbers as the rank, or more.
        let window =
            finish(|out| unsafe { argreduce_compile_window(&forgotten, [2, 3].as_ptr(), [0; 2].as_ptr(), out) });
        refused(window.unwrap_err(), ARGREDUCE_NULL_POINTER, message);
        let nothing = compile(&argreduce_desc { axes: good.axes, ..forgotten }).unwrap();
        let (outputs, mut output) = (if desc.input.rank == 0 { 1 } else { 6 }, [9_u32; 6]);
        assert_eq!(nothing.execute(&[0.5_f32; 6][..outputs], &mut output[..outputs]), ARGREDUCE_OK);
        assert_eq!(output[..outputs], [0; 6][..outputs]);
    }
    let message = "desc->output.sizes is NULL, which means packed: then strides has to be NULL, and offset 0";
    let bad = argreduce_layout { sizes: null(), ..layout(&[2, 1], Some(&[1, 1])) };
    compile_fails(argreduce_desc { output: bad, ..good }, ARGREDUCE_NULL_POINTER, message);
    let bad = argreduce_layout { offset: 1, ..PACKED };
    compile_fails(argreduce_desc { output: bad, ..good }, ARGREDUCE_NULL_POINTER, message);

    let operator = compile(&good).unwrap();
    let (input, mut output, mut values) = ([0.0_f32; 6], [9_u32; 2], [9.0_f32; 2]);
    let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
    // SAFETY: null pointers are what this is about; the others have as many bytes as said.
    unsafe {
        let values = values.as_mut_ptr().cast();
        refused(argreduce_execute(null(), from, 24, to, 8), ARGREDUCE_NULL_POINTER, "op is NULL");
        refused(argreduce_execute(operator.0, null(), 24, to, 8), ARGREDUCE_NULL_POINTER, "input is NULL");
        refused(argreduce_execute(operator.0, from, 24, null_mut(), 8), ARGREDUCE_NULL_POINTER, "output is NULL");
        let with_values = argreduce_execute_with_values;
        refused(with_values(null(), from, 24, to, 8, values, 8), ARGREDUCE_NULL_POINTER, "op is NULL");
        refused(with_values(operator.0, null(), 24, to, 8, values, 8), ARGREDUCE_NULL_POINTER, "input is NULL");
        refused(with_values(operator.0, from, 24, null_mut(), 8, values, 8), ARGREDUCE_NULL_POINTER, "output is NULL");
        refused(with_values(operator.0, from, 24, to, 8, null_mut(), 8), ARGREDUCE_NULL_POINTER, "values is NULL");
        // Null with no bytes is a buffer that is too short.
        let short = "the input slice has 0 elements of f32: the layout needs 6";
        refused(argreduce_execute(operator.0, null(), 0, to, 8), ARGREDUCE_BUFFER_TOO_SHORT, short);

        argreduce_release(null_mut());
        assert_eq!(CStr::from_ptr(argreduce_operator_isa(null())), c"");
        assert_eq!(super::message(), "op is NULL");
    }
    assert_eq!((output, values), ([9; 2], [9.0; 2]));
}

#[test]
fn misaligned_pointers() {
    let good = desc(&[2, 3], &[1]);
    let odd = |pointer: *const i64| pointer.cast::<u8>().wrapping_add(1).cast();
    let bad = argreduce_layout { sizes: odd(good.input.sizes), ..good.input };
    let message = |name| format!("{name} is misaligned: its address has to be a multiple of 8");
    compile_fails(argreduce_desc { input: bad, ..good }, ARGREDUCE_MISALIGNED, &message("desc->input.sizes"));
    compile_fails(argreduce_desc { axes: odd(good.axes), ..good }, ARGREDUCE_MISALIGNED, &message("desc->axes"));
    let strides = [3, 1];
    let bad = argreduce_layout { strides: odd(strides.as_ptr()), ..good.input };
    compile_fails(argreduce_desc { input: bad, ..good }, ARGREDUCE_MISALIGNED, &message("desc->input.strides"));

    let operator = compile(&good).unwrap();
    let (input, mut output) = ([0_u8; 40], [9_u8; 24]);
    // SAFETY: within the arrays.
    unsafe {
        let (from, to) = (input.as_ptr(), output.as_mut_ptr());
        let (from, to) = (from.add(from.align_offset(8)), to.add(to.align_offset(8)));
        let mut out = std::ptr::dangling_mut();
        let odd_desc = (&raw const good).cast::<u8>().wrapping_add(1).cast();
        refused(argreduce_compile(odd_desc, &mut out), ARGREDUCE_MISALIGNED, &message("desc"));
        let odd_out = (&raw mut out).cast::<u8>().wrapping_add(1).cast();
        refused(argreduce_compile(&good, odd_out), ARGREDUCE_MISALIGNED, &message("out"));
        let odd_op = operator.0.cast::<u8>().wrapping_add(1).cast();
        refused(argreduce_execute(odd_op, from.cast(), 24, to.cast(), 8), ARGREDUCE_MISALIGNED, &message("op"));
        for shift in 1..4 {
            refused(
                argreduce_execute(operator.0, from.add(shift).cast(), 24, to.cast(), 8),
                ARGREDUCE_MISALIGNED,
                "the input slice is misaligned: for f32, its address has to be a multiple of 4",
            );
            refused(
                argreduce_execute(operator.0, from.cast(), 24, to.add(shift).cast(), 8),
                ARGREDUCE_MISALIGNED,
                "the output slice is misaligned: for u32, its address has to be a multiple of 4",
            );
        }
    }
    assert_eq!(output, [9; 24]);
}

#[test]
fn enumerations() {
    let good = desc(&[2, 3], &[1]);
    for value in [2, 3, 99, 0x200, 0x202, u32::MAX] {
        let shown = value as i32;
        let unknown = |desc, name: &str, allowed: &str| {
            compile_fails(desc, ARGREDUCE_UNKNOWN_VALUE, &format!("{name} is {shown}: {allowed} are allowed"));
        };
        let functions = "0 (argmax), 1 (argmin) and 0x201 (argminmax)";
        unknown(argreduce_desc { function: value, ..good }, "desc->function", functions);
        unknown(
            argreduce_desc { axis_direction: value, ..good },
            "desc->axis_direction",
            "0 (increasing) and 1 (decreasing)",
        );
        unknown(argreduce_desc { nan_policy: value, ..good }, "desc->nan_policy", "0 (propagate) and 1 (ignore)");
    }
    for value in [0, 12, 13, 0x100, 0x103, u32::MAX] {
        let shown = value as i32;
        for (desc, name) in [
            (argreduce_desc { input_type: value, ..good }, "desc->input_type"),
            (argreduce_desc { output_type: value, ..good }, "desc->output_type"),
        ] {
            let message = format!(
                "{name} is {shown}: 1 to 11 (DML_TENSOR_DATA_TYPE), 0x101 (bfloat16) and 0x102 (bool) are allowed"
            );
            compile_fails(desc, ARGREDUCE_UNKNOWN_VALUE, &message);
        }
    }
    for (value, name) in [(1, "f32"), (2, "f16"), (7, "i16"), (8, "i8"), (9, "f64"), (0x101, "bf16"), (0x102, "bool")] {
        let message = format!("{name} is no type for indices: choose from i32 i64 u32 u64 u8 u16");
        compile_fails(argreduce_desc { output_type: value, ..good }, ARGREDUCE_OUTPUT_TYPE, &message);
    }
}

#[test]
fn ranks_and_axis_counts() {
    let message = "rank 9 is too high: at most 8 axes are allowed";
    compile_fails(desc(&[1; 9], &[0]), ARGREDUCE_RANK, message);
    let good = desc(&[2, 3], &[1]);
    compile_fails(argreduce_desc { output: layout(&[1; 9], None), ..good }, ARGREDUCE_RANK, message);
    // A wild rank is refused before anything is read by it.
    for rank in [1 << 16, u32::MAX] {
        let message = format!("rank {rank} is too high: at most 8 axes are allowed");
        let input = argreduce_layout { rank, ..good.input };
        compile_fails(argreduce_desc { input, ..good }, ARGREDUCE_RANK, &message);
    }
    for axis_count in [3, 9, 1 << 16, u32::MAX] {
        let message = format!("desc->axis_count is {axis_count}: a tensor of rank 2 has at most 2 axes to reduce");
        compile_fails(argreduce_desc { axis_count, ..good }, ARGREDUCE_TOO_MANY_AXES, &message);
    }
    for axis in [2, -3, i64::MIN, i64::MAX] {
        let message = format!("axis {axis} is out of range: rank 2 allows -2 to 1");
        compile_fails(desc(&[2, 3], &[axis]), ARGREDUCE_AXIS_OUT_OF_RANGE, &message);
    }
    let message = "axis -1 is given twice: dimension 1 can be reduced only once";
    compile_fails(desc(&[2, 3], &[1, -1]), ARGREDUCE_DUPLICATE_AXIS, message);
}

#[test]
fn sizes_strides_and_offsets() {
    let max = i64::MAX;
    let sizes = [2, -1];
    let message = format!("desc->input.sizes[1] is -1: 0 to {max} are allowed");
    compile_fails(desc(&sizes, &[1]), ARGREDUCE_SIZE, &message);
    for sizes in [[max, 2], [1 << 32, 1 << 31]] {
        let message =
            format!("too many elements: with size {} on axis 1, the sizes multiply to more than {max}", sizes[1]);
        compile_fails(desc(&sizes, &[1]), ARGREDUCE_TOO_MANY_ELEMENTS, &message);
    }
    compile_fails(
        desc(&[max; 8], &[1]),
        ARGREDUCE_TOO_MANY_ELEMENTS,
        &format!("too many elements: with size {max} on axis 1, the sizes multiply to more than {max}"),
    );
    let message = "axis 1 has size 0: a reduced axis needs at least one element, unless the output is empty";
    compile_fails(desc(&[2, 0], &[1]), ARGREDUCE_EMPTY_REDUCTION, message);

    let good = desc(&[2, 3], &[1]);
    let with = |strides: &[i64], offset| argreduce_desc {
        input: argreduce_layout { strides: strides.as_ptr(), offset, ..good.input },
        ..good
    };
    compile_fails(with(&[3, 1], -1), ARGREDUCE_OFFSET, &format!("desc->input.offset is -1: 0 to {max} are allowed"));
    compile_fails(
        with(&[3, 1], max),
        ARGREDUCE_OFFSET,
        &format!("offset {max} is too large: it has to be below {max}"),
    );
    let message =
        "the strides lead to 5 elements before the start of the slice: the offset is 0, and has to be at least 5";
    compile_fails(with(&[-3, -1], 0), ARGREDUCE_BEFORE_START, message);
    let message =
        "the strides lead to 1 elements before the start of the slice: the offset is 4, and has to be at least 5";
    compile_fails(with(&[-3, -1], 4), ARGREDUCE_BEFORE_START, message);
    let at_the_start = with(&[-3, -1], 5);
    assert!(compile(&at_the_start).is_ok());
    for stride in [max, i64::MIN] {
        let message = format!("stride {stride} on axis 1 leads to an element beyond {max}");
        compile_fails(with(&[0, stride], 0), ARGREDUCE_STRIDE, &message);
    }
}

#[test]
fn outputs() {
    let good = desc(&[4, 5], &[1]);
    let with = |output| argreduce_desc { output, ..good };
    compile_fails(
        with(layout(&[4], None)),
        ARGREDUCE_OUTPUT_RANK,
        "the output layout has rank 1: it has to have the input's, 2",
    );
    compile_fails(
        with(layout(&[4, 5], None)),
        ARGREDUCE_OUTPUT_SIZE,
        "the output layout has size 5 on axis 1: it has to be 1",
    );
    compile_fails(
        with(layout(&[4, 1], Some(&[0, 1]))),
        ARGREDUCE_OUTPUT_OVERLAPS,
        "the output layout puts several outputs in one place: its strides have to keep them apart",
    );
    let wide = argreduce_desc {
        output_type: ARGREDUCE_INT32,
        input: layout(&[1 << 32], Some(&[0])),
        ..desc(&[1 << 32], &[0])
    };
    compile_fails(
        wide,
        ARGREDUCE_INDEX_TOO_LARGE,
        "the largest possible index is 4294967295: i32 holds at most 2147483647",
    );
}

#[test]
fn buffers() {
    let operator = compile(&desc(&[2, 3], &[1])).unwrap();
    let (input, mut output, mut values) = ([0.0_f32; 6], [9_u32; 2], [9.0_f32; 2]);
    // Short by an element, by a byte, altogether.
    for bytes in [20, 23, 1, 0] {
        // SAFETY: the buffers have at least as many bytes as said.
        let status =
            unsafe { argreduce_execute(operator.0, input.as_ptr().cast(), bytes, output.as_mut_ptr().cast(), 8) };
        let message = format!("the input slice has {} elements of f32: the layout needs 6", bytes / 4);
        refused(status, ARGREDUCE_BUFFER_TOO_SHORT, &message);
        let bytes = bytes / 4;
        // SAFETY: as above.
        let status =
            unsafe { argreduce_execute(operator.0, input.as_ptr().cast(), 24, output.as_mut_ptr().cast(), bytes) };
        let message = format!("the output slice has {} elements of u32: the layout needs 2", bytes / 4);
        refused(status, ARGREDUCE_BUFFER_TOO_SHORT, &message);
    }
    refused(
        operator.execute_with_values(&input, &mut output, &mut values[..1]),
        ARGREDUCE_BUFFER_TOO_SHORT,
        "the values slice has 1 elements of f32: the layout needs 2",
    );
    // SAFETY: refused before anything is borrowed.
    unsafe {
        let to = output.as_mut_ptr().cast();
        for bytes in [isize::MAX as usize + 1, usize::MAX] {
            let message = format!("input cannot have {bytes} bytes: memory does not hold as many");
            // From the end of the address space, so that it is not the output that it overlaps.
            let far = usize::MAX as *const c_void;
            refused(argreduce_execute(operator.0, far, bytes, to, 8), ARGREDUCE_BUFFER_TOO_LARGE, &message);
        }
        let (mut block, overlap) = ([9_u32; 12], ARGREDUCE_BUFFERS_OVERLAP);
        let at = |element: usize| block.as_ptr().add(element).cast_mut().cast::<c_void>();
        let message = |a: &str, b: &str| format!("{a} and {b} overlap: they must not share a byte");
        refused(argreduce_execute(operator.0, at(0), 24, at(0), 8), overlap, &message("input", "output"));
        refused(argreduce_execute(operator.0, at(0), 24, at(5), 8), overlap, &message("input", "output"));
        refused(argreduce_execute(operator.0, at(1), 24, at(0), 8), overlap, &message("input", "output"));
        // By a single byte.
        let byte = |n: usize| at(0).cast::<u8>().wrapping_add(n).cast::<c_void>();
        refused(argreduce_execute(operator.0, byte(0), 24, byte(23), 8), overlap, &message("input", "output"));
        refused(argreduce_execute(operator.0, byte(7), 24, byte(0), 8), overlap, &message("input", "output"));
        let with_values =
            |output, values| argreduce_execute_with_values(operator.0, at(0), 24, at(output), 8, at(values), 8);
        refused(with_values(6, 5), overlap, &message("input", "values"));
        refused(with_values(6, 7), overlap, &message("output", "values"));
        assert_eq!(block, [9; 12]);
        let next_to_each_other = argreduce_execute_with_values(
            operator.0,
            block.as_ptr().cast(),
            24,
            block.as_mut_ptr().add(6).cast(),
            8,
            block.as_mut_ptr().add(8).cast(),
            8,
        );
        assert_eq!(next_to_each_other, ARGREDUCE_OK);
    }
    assert_eq!((output, values), ([9; 2], [9.0; 2]));
}

#[test]
fn operator_bytes() {
    let good = desc(&[2, 3], &[1]);
    let operator = compile(&good).unwrap();
    let mut places = [9_usize; 3];
    let [input, output, values] = places.each_mut().map(|place| place as *mut usize);
    let (bytes, none) = (argreduce_operator_bytes, null_mut());
    let odd = |pointer: *mut usize| pointer.cast::<u8>().wrapping_add(1).cast::<usize>();
    // SAFETY: pointers that are NULL or misaligned are what this is about; the others point to a size_t.
    unsafe {
        refused(bytes(null(), input, output, values), ARGREDUCE_NULL_POINTER, "op is NULL");
        refused(bytes(operator.0, none, output, values), ARGREDUCE_NULL_POINTER, "input is NULL");
        refused(bytes(operator.0, input, none, values), ARGREDUCE_NULL_POINTER, "output is NULL");
        refused(bytes(operator.0, input, output, none), ARGREDUCE_NULL_POINTER, "values is NULL");
        let message =
            |name| format!("{name} is misaligned: its address has to be a multiple of {}", align_of::<usize>());
        let odd_op = operator.0.cast::<u8>().wrapping_add(1).cast();
        refused(bytes(odd_op, input, output, values), ARGREDUCE_MISALIGNED, &message("op"));
        refused(bytes(operator.0, odd(input), output, values), ARGREDUCE_MISALIGNED, &message("input"));
        refused(bytes(operator.0, input, odd(output), values), ARGREDUCE_MISALIGNED, &message("output"));
        refused(bytes(operator.0, input, output, odd(values)), ARGREDUCE_MISALIGNED, &message("values"));
    }
    assert_eq!(places, [9; 3]);

    // Elements that are far apart are elements of a layout, but not of a buffer: nothing needs to be there to plan
    // for it.
    let far = [i64::MAX / 2, 1];
    let wide = argreduce_desc { input: layout(&[2, 3], Some(&far)), ..good };
    let expected = format!("input cannot have {} bytes: memory does not hold as many", usize::MAX);
    refused(compile(&wide).unwrap().bytes().unwrap_err(), ARGREDUCE_BUFFER_TOO_LARGE, &expected);
    let wide = argreduce_desc { output: layout(&[2, 1], Some(&far)), ..good };
    let expected = expected.replace("input", "output");
    refused(compile(&wide).unwrap().bytes().unwrap_err(), ARGREDUCE_BUFFER_TOO_LARGE, &expected);
}

struct ThrowsAgain;

impl Drop for ThrowsAgain {
    fn drop(&mut self) {
        panic!("again");
    }
}

#[test]
fn panics_end_here() {
    let status = crate::api::failure::guarded(|| panic!("on purpose {}", 1));
    refused(status, ARGREDUCE_INTERNAL, "a bug of argreduce, please report it: on purpose 1");
    let status = crate::api::failure::guarded(|| panic!("on purpose"));
    refused(status, ARGREDUCE_INTERNAL, "a bug of argreduce, please report it: on purpose");
    // Dropping this would be a second panic.
    let status = crate::api::failure::guarded(|| std::panic::panic_any(ThrowsAgain));
    refused(status, ARGREDUCE_INTERNAL, "a bug of argreduce, please report it: a panic");
}

#[test]
fn a_new_thread_has_no_message() {
    std::thread::spawn(|| assert_eq!(message(), "")).join().unwrap();
}
