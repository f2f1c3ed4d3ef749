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

/// A struct before a page that nobody may touch; or nothing but the size that it says it has.
enum Flush<T> {
    Whole(Guarded<T>),
    Size(Guarded<usize>),
}

impl<T: Versioned> Flush<T> {
    fn new(whole: T, size: Option<usize>) -> Flush<T> {
        match size {
            None => Flush::Whole(Guarded::copy_of(&[whole], Edge::End)),
            Some(size) => Flush::Size(Guarded::copy_of(&[size], Edge::End)),
        }
    }

    fn as_ptr(&self) -> *const T {
        match self {
            Flush::Whole(whole) => whole.as_ptr(),
            Flush::Size(size) => size.as_ptr().cast(),
        }
    }
}

extern "C" fn nothing(_: *mut c_void, _: argreduce_task, _: usize, _: *mut c_void) {}

/// Compiles and runs, with a description, a call, an executor and a mask of their first versions, which say that they
/// have so many bytes more; or with nothing of one of them but another size, and the number of that one.
fn run(more: usize, short: Option<(usize, usize)>) -> (argreduce_status, [u32; 2]) {
    let (input, there, sizes) = ([0.0_f32, 1.0, 0.5, 0.25, 0.0, 1.0], [0_u8, 1, 1, 1, 1, 0], [2, 3]);
    let short_of = |n: usize| short.filter(|&(which, _)| which == n).map(|(_, size)| size);
    let packed = argreduce_layout { rank: 0, sizes: null(), strides: null(), offset: 0 };
    let desc = argreduce_desc {
        size: argreduce_desc::SIZES[0].saturating_add(more),
        function: ARGREDUCE_ARGMINMAX,
        input_type: ARGREDUCE_FLOAT32,
        input: argreduce_layout { rank: 2, sizes: sizes.as_ptr(), ..packed },
        index_type: ARGREDUCE_UINT32,
        output: packed,
        axis_count: ARGREDUCE_ALL_AXES,
        axes: null(),
        axis_direction: ARGREDUCE_INCREASING,
        nan_policy: ARGREDUCE_PROPAGATE,
        whole_sizes: null(),
        start: null(),
        fill: 0,
        has_fill: 0,
        reserved: 0,
        isa: c"portable".as_ptr(),
        cumulative: 0,
        reserved_2: 0,
        key: 0,
        key_value: null(),
    };
    let executor = argreduce_executor {
        size: argreduce_executor::SIZES[0].saturating_add(more),
        context: null_mut(),
        parallel_for: Some(nothing),
        width: 2,
        min_task_kib: 0,
    };
    let mask = argreduce_mask {
        size: argreduce_mask::SIZES[0].saturating_add(more),
        data: there.as_ptr().cast(),
        bytes: 6,
        offset: 0,
        strides: null(),
        kind: ARGREDUCE_MASK_BYTES,
        reserved: 0,
    };
    let (desc, executor, mask) =
        (Flush::new(desc, short_of(0)), Flush::new(executor, short_of(2)), Flush::new(mask, short_of(3)));
    let [mut min, mut max] = [9_u32; 2];
    let call = argreduce_call {
        size: argreduce_call::SIZES[0].saturating_add(more),
        input: input.as_ptr().cast(),
        input_bytes: 24,
        executor: executor.as_ptr(),
        mask: mask.as_ptr(),
        indices: [(&raw mut min).cast(), (&raw mut max).cast()],
        index_bytes: [4; 2],
        values: [null_mut(); 2],
        value_bytes: [0; 2],
        is_partial: 0,
        reserved: 0,
        offsets: null(),
        offset_count: 0,
        offset_type: 0,
        is_absolute: 0,
    };
    let (call, mut operator) = (Flush::new(call, short_of(1)), null_mut());
    // SAFETY: the buffers are as long as said; of each struct is there what its size says, or all that is known.
    let status = unsafe {
        let compiled = argreduce_compile(desc.as_ptr(), &mut operator);
        let status = if compiled == ARGREDUCE_OK { argreduce_run(operator, call.as_ptr()) } else { compiled };
        argreduce_release(operator);
        status
    };
    (status, [min, max])
}

#[test]
fn structs_end_where_their_sizes_say() {
    for more in [0, 1, WORD, 1 << 20, usize::MAX] {
        assert_eq!(run(more, None), (ARGREDUCE_OK, [4, 1]));
    }
    let first =
        [argreduce_desc::SIZES[0], argreduce_call::SIZES[0], argreduce_executor::SIZES[0], argreduce_mask::SIZES[0]];
    for (which, first) in first.into_iter().enumerate() {
        for size in [0, 1, WORD, first - 4, first - 1] {
            assert_eq!(run(0, Some((which, size))), (ARGREDUCE_UNKNOWN_VALUE, [9, 9]), "{which} of {size}");
        }
    }
}

/// The sizes of the first versions, for ever.
#[cfg(target_pointer_width = "64")]
#[test]
fn first_sizes() {
    assert_eq!(argreduce_desc::SIZES[0], 152);
    assert_eq!(argreduce_call::SIZES[0], 112);
    assert_eq!(argreduce_executor::SIZES[0], 32);
    assert_eq!(argreduce_mask::SIZES[0], 48);
}
