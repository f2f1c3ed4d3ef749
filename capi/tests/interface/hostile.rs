//! Bad input: each has its code and its message, and nothing is written. (`capi/tests/hostile.c` does the same from
//! outside, under valgrind.)

use super::executor::executor;
use super::*;
use std::sync::atomic::AtomicUsize;

#[track_caller]
fn compile_fails(desc: argreduce_desc, status: argreduce_status, expected: &str) {
    refused(compile(&desc).unwrap_err(), status, expected);
}

/// The address of what is one byte further on.
fn odd<T>(pointer: *const T) -> *const T {
    pointer.wrapping_byte_add(1)
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
        argreduce_release(null_mut());
        assert_eq!(CStr::from_ptr(argreduce_operator_isa(null())), c"");
        assert_eq!(super::message(), "op is NULL");
    }
    let good = desc(&[2, 3], &[1]);
    let bad = argreduce_layout { sizes: null(), ..good.input };
    compile_fails(argreduce_desc { input: bad, ..good }, ARGREDUCE_NULL_POINTER, "desc->input.sizes is NULL");
    compile_fails(argreduce_desc { axes: null(), ..good }, ARGREDUCE_NULL_POINTER, "desc->axes is NULL");
    // A forgotten list of axes, which is not an empty one.
    let message = "desc->axes is NULL and desc->axis_count 0, which says nothing: list the axes to reduce; for all of \
                   them, ARGREDUCE_ALL_AXES; to reduce nothing, any pointer with a count of 0";
    for desc in [good, desc(&[], &[])] {
        let forgotten = argreduce_desc { axes: null(), axis_count: 0, ..desc };
        compile_fails(forgotten, ARGREDUCE_NULL_POINTER, message);
        let nothing = compile(&argreduce_desc { axes: good.axes, ..forgotten }).unwrap();
        let (outputs, mut indices) = (if desc.input.rank == 0 { 1 } else { 6 }, [9_u32; 6]);
        assert_eq!(nothing.execute(&[0.5_f32; 6][..outputs], &mut indices[..outputs]), ARGREDUCE_OK);
        assert_eq!(indices[..outputs], [0; 6][..outputs]);
    }
    let message = "desc->output.sizes is NULL, which means packed: then strides has to be NULL, and offset 0";
    let bad = argreduce_layout { sizes: null(), ..layout(&[2, 1], Some(&[1, 1])) };
    compile_fails(argreduce_desc { output: bad, ..good }, ARGREDUCE_NULL_POINTER, message);
    let bad = argreduce_layout { offset: 1, ..PACKED };
    compile_fails(argreduce_desc { output: bad, ..good }, ARGREDUCE_NULL_POINTER, message);
}

#[test]
fn misaligned_pointers() {
    let good = desc(&[2, 3], &[1]);
    let message = |name| format!("{name} is misaligned: its address has to be a multiple of 8");
    let fails = |desc, name| compile_fails(desc, ARGREDUCE_MISALIGNED, &message(name));
    let numbers = [2, 3];
    let window = argreduce_desc { whole_sizes: numbers.as_ptr(), start: numbers.as_ptr(), ..good };
    let bad = argreduce_layout { sizes: odd(good.input.sizes), ..good.input };
    fails(argreduce_desc { input: bad, ..good }, "desc->input.sizes");
    let bad = argreduce_layout { strides: odd(numbers.as_ptr()), ..good.input };
    fails(argreduce_desc { input: bad, ..good }, "desc->input.strides");
    fails(argreduce_desc { axes: odd(good.axes), ..good }, "desc->axes");
    fails(argreduce_desc { whole_sizes: odd(window.start), ..window }, "desc->whole_sizes");
    fails(argreduce_desc { start: odd(window.start), ..window }, "desc->start");
    let mut out = std::ptr::dangling_mut();
    // SAFETY: misaligned pointers are what this is about.
    unsafe {
        refused(argreduce_compile(odd(&good), &mut out), ARGREDUCE_MISALIGNED, &message("desc"));
        let odd_out = odd(&raw const out).cast_mut();
        refused(argreduce_compile(&good, odd_out), ARGREDUCE_MISALIGNED, &message("out"));
    }
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
        unknown(argreduce_desc { has_fill: value, ..good }, "desc->has_fill", "0 (no) and 1 (yes)");
        if value > 2 {
            let walks = "0 (no), 1 (so far) and 2 (from the end)";
            unknown(argreduce_desc { cumulative: value, ..good }, "desc->cumulative", walks);
        }
    }
    for value in [0, 12, 13, 0x100, 0x103, u32::MAX] {
        let shown = value as i32;
        for (desc, name) in [
            (argreduce_desc { input_type: value, ..good }, "desc->input_type"),
            (argreduce_desc { index_type: value, ..good }, "desc->index_type"),
        ] {
            let message = format!(
                "{name} is {shown}: 1 to 11 (DML_TENSOR_DATA_TYPE), 0x101 (bfloat16) and 0x102 (bool) are allowed"
            );
            compile_fails(desc, ARGREDUCE_UNKNOWN_VALUE, &message);
        }
    }
    for (value, name) in [(1, "f32"), (2, "f16"), (7, "i16"), (8, "i8"), (9, "f64"), (0x101, "bf16"), (0x102, "bool")] {
        let message = format!("{name} is no type for indices: choose from i32 i64 u32 u64 u8 u16");
        compile_fails(argreduce_desc { index_type: value, ..good }, ARGREDUCE_OUTPUT_TYPE, &message);
    }
    let bad = argreduce_desc { reserved: 1, ..good };
    compile_fails(bad, ARGREDUCE_UNKNOWN_VALUE, "desc->reserved is 1: it has to be 0");
    let bad = argreduce_desc { reserved_2: 7, ..good };
    compile_fails(bad, ARGREDUCE_UNKNOWN_VALUE, "desc->reserved_2 is 7: it has to be 0");
    for (fill, index_type, holds) in [
        (-1, ARGREDUCE_UINT32, "u32, which holds 0 to 4294967295"),
        (1 << 31, ARGREDUCE_INT32, "i32, which holds -2147483648 to 2147483647"),
        (256, ARGREDUCE_UINT8, "u8, which holds 0 to 255"),
    ] {
        let bad = argreduce_desc { fill, has_fill: 1, index_type, ..good };
        compile_fails(bad, ARGREDUCE_FILL_OUT_OF_RANGE, &format!("the fill {fill} does not fit {holds}"));
        assert!(compile(&argreduce_desc { has_fill: 0, ..bad }).is_ok());
    }
}

/// Names that are none, and those of other machines.
#[test]
fn instruction_sets() {
    let with = |isa: &CStr| argreduce_desc { isa: isa.as_ptr(), ..desc(&[2, 3], &[1]) };
    let names = Isa::ALL.map(Isa::name).join(", ");
    for name in [c"", c"AVX2", c"avx2 ", c"sse\xff"] {
        let shown = name.to_string_lossy();
        let message = format!("desc->isa is {shown:?}: no such name: expected one of {names}");
        compile_fails(with(name), ARGREDUCE_ISA, &message);
    }
    let available = Isa::available().map(Isa::name).collect::<Vec<_>>().join(" ");
    for isa in Isa::ALL {
        let name = std::ffi::CString::new(isa.name()).unwrap();
        match compile(&with(&name)) {
            Ok(_) => assert!(isa.is_available()),
            Err(status) => {
                let message = format!("the ISA {isa} is not available here: choose from {available}");
                refused(status, ARGREDUCE_ISA, &message);
            }
        }
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
    for axis_count in [3, 9, 1 << 16, u32::MAX - 1] {
        let message = format!("desc->axis_count is {axis_count}: a tensor of rank 2 has at most 2 axes to reduce");
        compile_fails(argreduce_desc { axis_count, ..good }, ARGREDUCE_TOO_MANY_AXES, &message);
    }
    let message = "desc->axis_count is ARGREDUCE_ALL_AXES: then desc->axes has to be NULL";
    compile_fails(argreduce_desc { axis_count: ARGREDUCE_ALL_AXES, ..good }, ARGREDUCE_TOO_MANY_AXES, message);
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
    let wide =
        argreduce_desc { index_type: ARGREDUCE_INT32, input: layout(&[1 << 32], Some(&[0])), ..desc(&[1 << 32], &[0]) };
    compile_fails(
        wide,
        ARGREDUCE_INDEX_TOO_LARGE,
        "the largest possible index is 4294967295: i32 holds at most 2147483647",
    );
}

#[test]
fn windows() {
    let good = desc(&[2, 3], &[1]);
    let fails = |whole: &[i64], start: &[i64], status, expected: &str| {
        compile_fails(argreduce_desc { whole_sizes: whole.as_ptr(), start: start.as_ptr(), ..good }, status, expected);
    };
    let message = "the window does not fit axis 1: size 3 from 4 on ends beyond the whole's 6";
    fails(&[2, 6], &[0, 4], ARGREDUCE_WINDOW, message);
    fails(&[2, 6], &[0, -1], ARGREDUCE_WINDOW, &format!("desc->start[1] is -1: 0 to {} are allowed", isize::MAX));
    fails(&[-2, 6], &[0, 0], ARGREDUCE_SIZE, &format!("desc->whole_sizes[0] is -2: 0 to {} are allowed", isize::MAX));
    let message = format!(
        "the whole is too large: with size 2147483648 on axis 1, its sizes multiply to more than {}",
        usize::MAX
    );
    fails(&[1 << 33, 1 << 31], &[0, 0], ARGREDUCE_TOO_MANY_ELEMENTS, &message);
    let message = "the largest possible index is 4294967296: u32 holds at most 4294967295";
    fails(&[2, (1 << 32) + 1], &[0, 0], ARGREDUCE_INDEX_TOO_LARGE, message);
    let numbers = [2, 6];
    for rank in [0, 2] {
        let good = argreduce_desc { input: argreduce_layout { rank, ..good.input }, ..good };
        let message = "desc->start is NULL, and desc->whole_sizes is not: a part has both";
        compile_fails(argreduce_desc { whole_sizes: numbers.as_ptr(), ..good }, ARGREDUCE_NULL_POINTER, message);
        let message = "desc->whole_sizes is NULL, and desc->start is not: a part has both";
        compile_fails(argreduce_desc { start: numbers.as_ptr(), ..good }, ARGREDUCE_NULL_POINTER, message);
    }
}

/// The input, the indices and the values of both answers, and the mask.
type Places = [Place; 6];

/// A way to run an operator of [2, 3] f32 over the rows, and what its buffers are called: "" where it has none.
struct Way<'a> {
    run: &'a dyn Fn(Places) -> argreduce_status,
    names: [&'static str; 6],
}

/// Each buffer: NULL, beyond memory, too short, misaligned, and over a byte of each other. Nothing is written then.
fn buffers_are_checked(way: &Way<'_>) {
    // A block for each buffer: 24 bytes or less that it is in, and more on both sides.
    let mut block = [9_u64; 6 * 8];
    let first = block.as_mut_ptr().cast::<u8>();
    let is_there = |n: usize| !way.names[n].is_empty();
    let good: Places = std::array::from_fn(|n| {
        if is_there(n) { (first.wrapping_add(64 * n + 32).cast(), [24, 8, 8, 8, 8, 6][n]) } else { (null_mut(), 0) }
    });
    for n in (0..6).filter(|&n| is_there(n)) {
        let with = |buffer| {
            let mut buffers = good;
            buffers[n] = buffer;
            (way.run)(buffers)
        };
        let (start, bytes, name) = (good[n].0, good[n].1, way.names[n]);
        refused(with((null_mut(), bytes)), ARGREDUCE_NULL_POINTER, &format!("{name} is NULL"));
        for bytes in [isize::MAX as usize + 1, usize::MAX] {
            let message = format!("{name} cannot have {bytes} bytes: memory does not hold as many");
            // From the end of the address space, so that it does not overlap another one.
            refused(with((usize::MAX as *mut c_void, bytes)), ARGREDUCE_BUFFER_TOO_LARGE, &message);
        }
        if n == 5 {
            refused(with((start, 5)), ARGREDUCE_MASK_MISMATCH, "the mask has 5 bytes: the input needs 6");
        } else {
            for short in [bytes - 1, bytes - 4, 1] {
                let message = format!("{name} has {short} bytes: the operator needs {bytes}");
                refused(with((start, short)), ARGREDUCE_BUFFER_TOO_SHORT, &message);
            }
            for shift in 1..4 {
                let message = format!("{name} is misaligned: its address has to be a multiple of 4");
                refused(with((start.wrapping_byte_add(shift), bytes)), ARGREDUCE_MISALIGNED, &message);
            }
        }
        // Over another one, and by a byte. What is read may be the same.
        let is_read = |n: usize| n == 0 || n == 5;
        for other in (0..6).filter(|&other| other != n && is_there(other) && !(is_read(n) && is_read(other))) {
            let (mut one, mut two) = (way.names[n.min(other)], way.names[n.max(other)]);
            if n.max(other) == 5 {
                // The mask is read, as the input is.
                (one, two) = (two, one);
            }
            let message = format!("{one} and {two} overlap: they must not share a byte");
            let (start, other_bytes) = good[other];
            for start in [start, start.wrapping_byte_add(other_bytes - 1), start.wrapping_byte_sub(bytes - 1)] {
                refused(with((start, bytes)), ARGREDUCE_BUFFERS_OVERLAP, &message);
            }
        }
    }
    assert_eq!(block, [9; 48]);
    assert_eq!((way.run)(good), ARGREDUCE_OK, "{}", message());
}

#[test]
fn buffers() {
    let good = argreduce_desc { fill: 7, has_fill: 1, ..desc(&[2, 3], &[1]) };
    let one = compile(&good).unwrap();
    let execute = |[(input, input_bytes), (indices, index_bytes), ..]: Places| {
        // SAFETY: NULL, or within a block of memory.
        unsafe { argreduce_execute(one.0, input, input_bytes, indices, index_bytes) }
    };
    buffers_are_checked(&Way { run: &execute, names: ["input", "indices", "", "", "", ""] });
    let both = compile(&argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..good }).unwrap();
    for (op, is_partial) in [(&one, 0), (&one, 1), (&both, 0), (&both, 1)] {
        let run = |[input, min, max, lowest, highest, (data, bytes)]: Places| {
            let mask = argreduce_mask { data, bytes, ..mask(&[]) };
            op.run(&argreduce_call { is_partial, mask: &mask, ..call(input, [min, max], [lowest, highest]) })
        };
        let mut names =
            ["call->input", "call->indices[0]", "call->indices[1]", "call->values[0]", "call->values[1]", "mask->data"];
        if std::ptr::eq(op, &one) {
            (names[2], names[4]) = ("", "");
        }
        buffers_are_checked(&Way { run: &run, names });
    }
}

/// One field of a call, or of what it points to, and nothing is written.
#[test]
fn calls() {
    let good = desc(&[2, 3], &[1]);
    let (one, both) =
        (compile(&good).unwrap(), compile(&argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..good }).unwrap());
    let (input, bytes) = ([1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 0, 1, 0, 0, 0]);
    let (mut found, mut of_both) = (Found::<u32, f32>::new(1, 2, 2), Found::<u32, f32>::new(2, 2, 2));
    let (good, good_both) = (found.call(&input), of_both.call(&input));
    // SAFETY: pointers that are NULL or misaligned are what this is about.
    unsafe {
        refused(argreduce_run(null(), &good), ARGREDUCE_NULL_POINTER, "op is NULL");
        refused(argreduce_run(one.0, null()), ARGREDUCE_NULL_POINTER, "call is NULL");
        let message = |name| format!("{name} is misaligned: its address has to be a multiple of 8");
        refused(argreduce_run(odd(one.0), &good), ARGREDUCE_MISALIGNED, &message("op"));
        refused(argreduce_run(one.0, odd(&good)), ARGREDUCE_MISALIGNED, &message("call"));
        refused(argreduce_execute(null(), null(), 0, null_mut(), 0), ARGREDUCE_NULL_POINTER, "op is NULL");
        refused(argreduce_execute(odd(one.0), null(), 0, null_mut(), 0), ARGREDUCE_MISALIGNED, &message("op"));
        let message = "op is an argminmax, which has two answers: argreduce_run() takes it";
        refused(argreduce_execute(both.0, null(), 0, null_mut(), 0), ARGREDUCE_UNSUPPORTED_OPERATOR, message);
    }
    let fails = |op: &Operator, call: argreduce_call, status, message: &str| refused(op.run(&call), status, message);
    let unknown = ARGREDUCE_UNKNOWN_VALUE;
    let message = "call->is_partial is 2: 0 (no) and 1 (yes) are allowed";
    fails(&one, argreduce_call { is_partial: 2, ..good }, unknown, message);
    fails(&both, argreduce_call { is_partial: 2, ..good_both }, unknown, message);
    // With values, and without.
    let short = argreduce_call { values: [null_mut(); 2], value_bytes: [0; 2], ..good };
    for call in [good, short] {
        fails(&one, argreduce_call { reserved: 1, ..call }, unknown, "call->reserved is 1: it has to be 0");
    }

    // As many answers as the operator has.
    let changed = |call: argreduce_call, change: &dyn Fn(&mut argreduce_call)| {
        let mut call = call;
        change(&mut call);
        call
    };
    let second = |name: &str, change: &dyn Fn(&mut argreduce_call)| {
        let message = format!("{name} has to be NULL, of 0 bytes: op is no argminmax, and has one answer");
        for call in [good, short] {
            fails(&one, changed(call, change), ARGREDUCE_UNSUPPORTED_OPERATOR, &message);
        }
    };
    second("call->indices[1]", &|call| call.indices[1] = good_both.indices[1]);
    second("call->indices[1]", &|call| call.index_bytes[1] = 8);
    second("call->values[1]", &|call| call.values[1] = good_both.values[1]);
    second("call->values[1]", &|call| call.value_bytes[1] = 8);
    for n in 0..2 {
        let one_side = |call: &mut argreduce_call| (call.values[n], call.value_bytes[n]) = (null_mut(), 0);
        let rest = format!(", and call->values[{}] is not: values are written of both, or of neither", 1 - n);
        let message = format!("call->values[{n}] is NULL{rest}");
        fails(&both, changed(good_both, &one_side), ARGREDUCE_NULL_POINTER, &message);
    }
    for (op, call) in [(&one, good), (&both, good_both)] {
        let no_values = argreduce_call { values: [null_mut(); 2], value_bytes: [0; 2], is_partial: 1, ..call };
        let message = "call->values[0] is NULL: partial answers have values";
        fails(op, no_values, ARGREDUCE_NULL_POINTER, message);
    }

    let calls = AtomicUsize::new(0);
    let (good_mask, threads, strides) = (mask(&bytes), executor(&calls, 2), [3, 1]);
    for (op, call, is_partial) in [(&one, good, 0), (&one, good, 1), (&both, good_both, 0), (&both, good_both, 1)] {
        let call = argreduce_call { is_partial, ..call };
        let of_mask = |mask: *const argreduce_mask, status, message: &str| {
            fails(op, argreduce_call { mask, ..call }, status, message);
        };
        of_mask(odd(&good_mask), ARGREDUCE_MISALIGNED, "mask is misaligned: its address has to be a multiple of 8");
        let size = size_of::<argreduce_mask>();
        let message = format!("mask->size is 8: it has to be sizeof(argreduce_mask), which is at least {size}");
        of_mask(&argreduce_mask { size: 8, ..good_mask }, unknown, &message);
        let message = "mask->reserved is 9: it has to be 0";
        of_mask(&argreduce_mask { reserved: 9, ..good_mask }, unknown, message);
        let message = "mask->kind is 2: 0 (bits) and 1 (bytes) are allowed";
        of_mask(&argreduce_mask { kind: 2, ..good_mask }, unknown, message);
        let message = format!("mask->offset is -1: 0 to {} are allowed", isize::MAX);
        of_mask(&argreduce_mask { offset: -1, ..good_mask }, ARGREDUCE_MASK_MISMATCH, &message);
        let strided = argreduce_mask { strides: strides.as_ptr(), ..good_mask };
        let message = "mask->strides is not NULL: a mask of bits is packed";
        of_mask(&argreduce_mask { kind: ARGREDUCE_MASK_BITS, ..strided }, ARGREDUCE_MASK_MISMATCH, message);
        let message = "mask->strides is misaligned: its address has to be a multiple of 8";
        of_mask(&argreduce_mask { strides: odd(strides.as_ptr()), ..strided }, ARGREDUCE_MISALIGNED, message);

        let of_threads = |executor: *const argreduce_executor, status, message: &str| {
            fails(op, argreduce_call { executor, ..call }, status, message);
        };
        let message = "executor is misaligned: its address has to be a multiple of 8";
        of_threads(odd(&threads), ARGREDUCE_MISALIGNED, message);
        let first = size_of::<argreduce_executor>();
        for size in [0, 8, first - 4, first - 1] {
            let message =
                format!("executor->size is {size}: it has to be sizeof(argreduce_executor), which is at least {first}");
            of_threads(&argreduce_executor { size, ..threads }, unknown, &message);
        }
        let nothing = argreduce_executor { parallel_for: None, ..threads };
        of_threads(&nothing, ARGREDUCE_NULL_POINTER, "executor->parallel_for is NULL");
    }
    assert_eq!((found, of_both, calls.into_inner()), (Found::new(1, 2, 2), Found::new(2, 2, 2), 0));
}

/// What is not there is said afterwards; partial answers need no fill.
#[test]
fn nothing_there() {
    let op = compile(&argreduce_desc { function: ARGREDUCE_ARGMINMAX, ..desc(&[2, 3], &[1]) }).unwrap();
    let mut found = Found::<u32, f32>::new(2, 2, 2);
    let mask = mask(&[1, 0, 1, 0, 0, 0]);
    let call = argreduce_call { mask: &mask, ..found.call(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) };
    let message = "no element is there for output [1, 0]: without a fill, an index needs at least one";
    refused(op.run(&call), ARGREDUCE_NOTHING_THERE, message);
    assert_eq!(op.run(&argreduce_call { is_partial: 1, ..call }), ARGREDUCE_OK);
    let (indices, values) = ([vec![0, u32::MAX], vec![2, u32::MAX]], [vec![1.0, 0.0], vec![3.0, 0.0]]);
    assert_eq!(found, Found { indices, values });
    // 256 elements have an index with all bits set.
    let bytes = compile(&argreduce_desc { index_type: ARGREDUCE_UINT8, ..desc(&[256], &[0]) }).unwrap();
    let mut found = Found::<u8, f32>::new(1, 1, 1);
    let call = argreduce_call { is_partial: 1, ..found.call(&[0.0; 256]) };
    let message =
        "the largest possible index is 255: u8 holds at most 254 beside the one that says that nothing was seen";
    refused(bytes.run(&call), ARGREDUCE_INDEX_TOO_LARGE, message);
    assert_eq!(found, Found::new(1, 1, 1));
}

#[test]
fn operator_bytes() {
    let good = desc(&[2, 3], &[1]);
    let operator = compile(&good).unwrap();
    let mut places = [9_usize; 3];
    let [input, indices, values] = places.each_mut().map(|place| place as *mut usize);
    let (bytes, none) = (argreduce_operator_bytes, null_mut());
    let odd = |pointer: *mut usize| odd(pointer).cast_mut();
    // SAFETY: pointers that are NULL or misaligned are what this is about; the others point to a size_t.
    unsafe {
        refused(bytes(null(), input, indices, values), ARGREDUCE_NULL_POINTER, "op is NULL");
        refused(bytes(operator.0, none, indices, values), ARGREDUCE_NULL_POINTER, "input is NULL");
        refused(bytes(operator.0, input, none, values), ARGREDUCE_NULL_POINTER, "indices is NULL");
        refused(bytes(operator.0, input, indices, none), ARGREDUCE_NULL_POINTER, "values is NULL");
        let message =
            |name| format!("{name} is misaligned: its address has to be a multiple of {}", align_of::<usize>());
        refused(bytes(self::odd(operator.0), input, indices, values), ARGREDUCE_MISALIGNED, &message("op"));
        refused(bytes(operator.0, odd(input), indices, values), ARGREDUCE_MISALIGNED, &message("input"));
        refused(bytes(operator.0, input, odd(indices), values), ARGREDUCE_MISALIGNED, &message("indices"));
        refused(bytes(operator.0, input, indices, odd(values)), ARGREDUCE_MISALIGNED, &message("values"));
    }
    assert_eq!(places, [9; 3]);

    // Elements that are far apart are elements of a layout, but not of a buffer: nothing needs to be there to plan
    // for it.
    let far = [i64::MAX / 2, 1];
    let wide = argreduce_desc { input: layout(&[2, 3], Some(&far)), ..good };
    let expected = format!("input cannot have {} bytes: memory does not hold as many", usize::MAX);
    refused(compile(&wide).unwrap().bytes().unwrap_err(), ARGREDUCE_BUFFER_TOO_LARGE, &expected);
    let wide = argreduce_desc { output: layout(&[2, 1], Some(&far)), ..good };
    let expected = expected.replace("input", "indices");
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
