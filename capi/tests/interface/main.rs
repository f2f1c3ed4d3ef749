//! The exported functions, called as C calls them. Beside the sources that are published, because the cases of
//! descriptors are those of `argreduce-guard`, which is not.

#[path = "../../src/api/mod.rs"]
#[allow(dead_code, non_camel_case_types, reason = "these tests use their part of what is named as C names it")]
mod api;

mod answers;
mod directml;
mod executor;
mod header;
mod hostile;
mod messages;
mod parts;

use ::argreduce::{Index, Isa};
use api::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

/// The last message of this thread.
fn message() -> String {
    // SAFETY: never null, and valid as long as this thread lives.
    unsafe { CStr::from_ptr(argreduce_last_error()) }.to_str().unwrap().to_string()
}

#[track_caller]
fn refused(status: argreduce_status, expected: argreduce_status, expected_message: &str) {
    assert_eq!((status, message()), (expected, expected_message.to_string()));
}

fn layout(sizes: &[i64], strides: Option<&[i64]>) -> argreduce_layout {
    assert!(strides.is_none_or(|strides| strides.len() == sizes.len()));
    let strides = strides.map_or(null(), <[i64]>::as_ptr);
    argreduce_layout { rank: sizes.len() as u32, sizes: sizes.as_ptr(), strides, offset: 0 }
}

const PACKED: argreduce_layout = argreduce_layout { rank: 0, sizes: null(), strides: null(), offset: 0 };

/// As a program has it that says nothing: zeros, but for the size.
const DESC: argreduce_desc = argreduce_desc {
    size: size_of::<argreduce_desc>(),
    function: 0,
    input_type: 0,
    input: PACKED,
    index_type: 0,
    output: PACKED,
    axis_count: 0,
    axes: null(),
    axis_direction: 0,
    nan_policy: 0,
    whole_sizes: null(),
    start: null(),
    fill: 0,
    has_fill: 0,
    reserved: 0,
    isa: null(),
    cumulative: 0,
    reserved_2: 0,
    key: ARGREDUCE_KEY_VALUE,
    key_value: null(),
};

/// An argmax of packed f32 to u32.
fn desc(sizes: &[i64], axes: &[i64]) -> argreduce_desc {
    argreduce_desc {
        input_type: ARGREDUCE_FLOAT32,
        input: layout(sizes, None),
        index_type: ARGREDUCE_UINT32,
        axis_count: axes.len() as u32,
        axes: axes.as_ptr(),
        ..DESC
    }
}

/// A byte for each element.
fn mask(bytes: &[u8]) -> argreduce_mask {
    argreduce_mask {
        size: size_of::<argreduce_mask>(),
        data: bytes.as_ptr().cast(),
        bytes: bytes.len(),
        offset: 0,
        strides: null(),
        kind: ARGREDUCE_MASK_BYTES,
        reserved: 0,
    }
}

/// Where a buffer is, and how many bytes it has.
type Place = (*mut c_void, usize);

fn place<X>(slice: &mut [X]) -> Place {
    // No element is no pointer.
    if slice.is_empty() { (null_mut(), 0) } else { (slice.as_mut_ptr().cast(), size_of_val(slice)) }
}

/// A call of nothing but buffers.
fn call((input, input_bytes): Place, indices: [Place; 2], values: [Place; 2]) -> argreduce_call {
    argreduce_call {
        size: size_of::<argreduce_call>(),
        input,
        input_bytes,
        executor: null(),
        mask: null(),
        indices: indices.map(|place| place.0),
        index_bytes: indices.map(|place| place.1),
        values: values.map(|place| place.0),
        value_bytes: values.map(|place| place.1),
        is_partial: 0,
        reserved: 0,
        offsets: null(),
        offset_count: 0,
        offset_type: 0,
        is_absolute: 0,
    }
}

/// Where the answers of a call go: of an argminmax, those of the smallest first; of others, the second ones are empty.
#[derive(Clone, Debug, PartialEq)]
struct Found<I, T> {
    indices: [Vec<I>; 2],
    values: [Vec<T>; 2],
}

impl<I: Index, T: Clone + Default> Found<I, T> {
    /// With places for so many indices and values of each answer, and a 99 in those of the indices.
    fn new(answers: usize, indices: usize, values: usize) -> Found<I, T> {
        let of = |n: usize, count: usize| if n < answers { count } else { 0 };
        Found {
            indices: [0, 1].map(|n| vec![I::at(99, 0, 0); of(n, indices)]),
            values: [0, 1].map(|n| vec![T::default(); of(n, values)]),
        }
    }

    fn call(&mut self, input: &[T]) -> argreduce_call {
        let input = (input.as_ptr().cast_mut().cast(), size_of_val(input));
        call(input, self.indices.each_mut().map(|x| place(x)), self.values.each_mut().map(|x| place(x)))
    }
}

/// Compiles; `*out` is null after a failure, and only then.
fn compile(desc: &argreduce_desc) -> Result<Operator, argreduce_status> {
    // SAFETY: descriptions of these tests keep what they point to.
    finish(|out| unsafe { argreduce_compile(desc, out) })
}

fn finish(
    compile: impl FnOnce(*mut *mut argreduce_operator) -> argreduce_status,
) -> Result<Operator, argreduce_status> {
    let mut operator = std::ptr::dangling_mut();
    let status = compile(&mut operator);
    assert_eq!(status != ARGREDUCE_OK, operator.is_null());
    if status == ARGREDUCE_OK { Ok(Operator(operator)) } else { Err(status) }
}

/// Released when dropped.
#[derive(Debug)]
struct Operator(*mut argreduce_operator);

// As the header says, an operator is usable from any thread: the compiler sees that it is, but not behind a pointer.
const _: () = {
    const fn is_usable_from_any_thread<T: Send + Sync>() {}
    is_usable_from_any_thread::<argreduce_operator>();
};

// SAFETY: as is checked above.
unsafe impl Sync for Operator {}
// SAFETY: as above.
unsafe impl Send for Operator {}

impl Drop for Operator {
    fn drop(&mut self) {
        // SAFETY: compiled, and released once.
        unsafe { argreduce_release(self.0) };
    }
}

impl Operator {
    /// What the input, the indices and the values need.
    fn bytes(&self) -> Result<[usize; 3], argreduce_status> {
        let [mut input, mut indices, mut values] = [9; 3];
        // SAFETY: compiled, and not released yet; three places to write to.
        let status = unsafe { argreduce_operator_bytes(self.0, &mut input, &mut indices, &mut values) };
        let bytes = [input, indices, values];
        assert!(status == ARGREDUCE_OK || bytes == [9; 3]);
        if status == ARGREDUCE_OK { Ok(bytes) } else { Err(status) }
    }

    fn run(&self, call: &argreduce_call) -> argreduce_status {
        // SAFETY: calls of these tests are what they say, as far as it is read before it is refused.
        unsafe { argreduce_run(self.0, call) }
    }

    fn execute<T, I>(&self, input: &[T], indices: &mut [I]) -> argreduce_status {
        let (from, bytes) = (input.as_ptr().cast(), size_of_val(input));
        // SAFETY: the buffers are as long as said.
        unsafe { argreduce_execute(self.0, from, bytes, indices.as_mut_ptr().cast(), size_of_val(indices)) }
    }

    /// What it says of itself, in a buffer of so many bytes.
    fn describe(&self, bytes: usize) -> String {
        let mut text = vec![b'x'; bytes + 1];
        // SAFETY: compiled; as many bytes as said.
        unsafe { argreduce_operator_describe(self.0, text.as_mut_ptr().cast(), bytes) };
        assert_eq!(text.pop(), Some(b'x'), "no byte more than said");
        CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap().to_string()
    }
}
