//! Structs that grow, as callers of any version pass them: flush against a page that nobody may touch, so that one byte
//! read too far ends the process.

#[path = "../src/api/mod.rs"]
#[allow(dead_code, non_camel_case_types, reason = "these tests use their part of what is named as C names it")]
mod api;

use api::versioned::{Versioned, read};
use api::*;
use argreduce_guard::{Edge, Guarded};
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::{null, null_mut, without_provenance};

const WORD: usize = size_of::<usize>();

/// A struct that has grown twice: by a word, and by two fields at once.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Grown {
    size: usize,
    width: usize,
    second: usize,
    third: *const c_void,
    fourth: usize,
}

// SAFETY: `repr(C)`, with `size` first; zeros are a value of each of its types, and each size ends with a field.
unsafe impl Versioned for Grown {
    const NAME: &str = "grown";
    const SIZES: &[usize] =
        &[offset_of!(Grown, second), offset_of!(Grown, third), offset_of!(Grown, fourth) + size_of::<usize>()];
}

/// What `read` makes of a struct that says that it has `size` bytes, and of which only these words can be read.
fn grown(words: &[usize]) -> Result<Grown, String> {
    let guarded = Guarded::copy_of(words, Edge::End);
    // SAFETY: aligned, and what is looked at is there: that is what is tested.
    unsafe { read(guarded.as_ptr().cast::<Grown>(), "it") }.map_err(|failure| format!("{failure:?}"))
}

#[test]
fn newer_fields_are_read_where_the_size_covers_them() {
    for size in 0..=10 * WORD {
        // Of the newest version that the size covers all of, if there is one.
        let words = [1, 1, 2, 3, 3, 5][(size / WORD).min(5)];
        let found = grown(&[size, 7, 8, 9, 10][..words]);
        if words == 1 {
            let message = format!("it->size is {size}: it has to be sizeof(grown), which is at least {}", 2 * WORD);
            assert!(found.as_ref().is_err_and(|failure| failure.contains(&message)), "{found:?}");
        } else {
            let read = |word, value| if word < words { value } else { 0 };
            let third = without_provenance(read(3, 9));
            let expected = Grown { size, width: 7, second: read(2, 8), third, fourth: read(4, 10) };
            assert_eq!(found, Ok(expected));
        }
    }
}

extern "C" fn in_turn(_: *mut c_void, task: argreduce_task, tasks: usize, data: *mut c_void) {
    // SAFETY: within the call.
    (0..tasks).for_each(|n| unsafe { task(data, n) });
}

/// Of [2, 3] over the rows.
fn compile(function: u32) -> *mut argreduce_operator {
    let (sizes, axes, packed) = ([2, 3], [1], argreduce_layout { rank: 0, sizes: null(), strides: null(), offset: 0 });
    let desc = argreduce_desc {
        function,
        input_type: ARGREDUCE_FLOAT32,
        input: argreduce_layout { rank: 2, sizes: sizes.as_ptr(), ..packed },
        output_type: ARGREDUCE_UINT32,
        output: packed,
        axis_count: 1,
        axes: axes.as_ptr(),
        axis_direction: ARGREDUCE_INCREASING,
        nan_policy: ARGREDUCE_PROPAGATE,
    };
    let mut operator = null_mut();
    // SAFETY: the description points to arrays that are still there.
    assert_eq!(unsafe { argreduce_compile(&desc, &mut operator) }, ARGREDUCE_OK);
    operator
}

#[test]
fn an_executor_ends_where_its_size_says() {
    let operator = compile(ARGREDUCE_ARGMAX);
    let input = [0.0_f32, 1.0, 0.0, 0.0, 0.0, 1.0];
    let execute = |executor: *const argreduce_executor| {
        let mut output = [9_u32; 2];
        let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        // SAFETY: the buffers are as long as said; of the executor is there what its size says, or all that is known.
        (unsafe { argreduce_execute_on(operator, executor, from, 24, to, 8) }, output)
    };
    let first = argreduce_executor::SIZES[0];
    for size in [first, first + 1, 1 << 20, usize::MAX] {
        let executor =
            argreduce_executor { size, context: null_mut(), parallel_for: Some(in_turn), width: 2, min_task_kib: 0 };
        let guarded = Guarded::copy_of(&[executor], Edge::End);
        assert_eq!(execute(guarded.as_ptr()), (ARGREDUCE_OK, [1, 2]));
    }
    for size in [0, WORD, first - 1] {
        let guarded = Guarded::copy_of(&[size], Edge::End);
        assert_eq!(execute(guarded.as_ptr().cast()), (ARGREDUCE_UNKNOWN_VALUE, [9, 9]));
    }
    // SAFETY: compiled, and released once.
    unsafe { argreduce_release(operator) };
}

#[test]
fn what_a_call_for_both_is_given_ends_where_its_size_says() {
    let operator = compile(ARGREDUCE_ARGMINMAX);
    let (input, there) = ([0.0_f32, 1.0, 0.5, 0.0, 0.0, 1.0], [0_u8, 1, 1, 1, 1, 1]);
    let execute = |executor: *const argreduce_executor, mask: *const argreduce_mask| {
        let (mut min, mut max) = ([9_u32; 2], [9_u32; 2]);
        let (from, to, other, none) = (input.as_ptr().cast(), min.as_mut_ptr(), max.as_mut_ptr(), null_mut());
        let (to, other) = (to.cast(), other.cast());
        // SAFETY: the buffers are as long as said; of both structs is there what their sizes say, or all that is known.
        let status =
            unsafe { argreduce_execute_both(operator, executor, mask, from, 24, to, 8, other, 8, none, 0, none, 0) };
        (status, min, max)
    };
    let (of_executor, of_mask) = (argreduce_executor::SIZES[0], argreduce_mask::SIZES[0]);
    let executor =
        |size| argreduce_executor { size, context: null_mut(), parallel_for: Some(in_turn), width: 2, min_task_kib: 0 };
    let mask = |size| argreduce_mask {
        size,
        data: there.as_ptr().cast(),
        bytes: 6,
        offset: 0,
        strides: null(),
        kind: ARGREDUCE_MASK_BYTES,
        has_fill: 0,
        fill: 0,
    };
    for more in [0, 1, 1 << 20] {
        let executor = Guarded::copy_of(&[executor(of_executor + more)], Edge::End);
        let mask = Guarded::copy_of(&[mask(of_mask + more)], Edge::End);
        assert_eq!(execute(executor.as_ptr(), mask.as_ptr()), (ARGREDUCE_OK, [2, 0], [1, 2]));
    }
    let (executor, mask) = ([executor(of_executor)], [mask(of_mask)]);
    for size in [0, WORD, of_executor.min(of_mask) - 1] {
        let guarded = Guarded::copy_of(&[size], Edge::End);
        let short = (ARGREDUCE_UNKNOWN_VALUE, [9; 2], [9; 2]);
        assert_eq!(execute(guarded.as_ptr().cast(), mask.as_ptr()), short);
        assert_eq!(execute(executor.as_ptr(), guarded.as_ptr().cast()), short);
    }
    // SAFETY: compiled, and released once.
    unsafe { argreduce_release(operator) };
}
