//! The exported functions, called as C calls them. Beside the sources that are published, because the cases of
//! descriptors are those of `argreduce-guard`, which is not.

#[path = "../../src/api/mod.rs"]
#[allow(dead_code, non_camel_case_types, reason = "these tests use their part of what is named as C names it")]
mod api;

mod answers;
mod both;
mod directml;
mod executor;
mod header;
mod hostile;
mod messages;
mod parts;

use ::argreduce::Isa;
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

/// An argmax of packed f32 to u32.
fn desc(sizes: &[i64], axes: &[i64]) -> argreduce_desc {
    argreduce_desc {
        function: ARGREDUCE_ARGMAX,
        input_type: ARGREDUCE_FLOAT32,
        input: layout(sizes, None),
        output_type: ARGREDUCE_UINT32,
        output: PACKED,
        axis_count: axes.len() as u32,
        axes: axes.as_ptr(),
        axis_direction: ARGREDUCE_INCREASING,
        nan_policy: ARGREDUCE_PROPAGATE,
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
    /// What the input, the output and the values need.
    fn bytes(&self) -> Result<[usize; 3], argreduce_status> {
        let [mut input, mut output, mut values] = [9; 3];
        // SAFETY: compiled, and not released yet; three places to write to.
        let status = unsafe { argreduce_operator_bytes(self.0, &mut input, &mut output, &mut values) };
        let bytes = [input, output, values];
        assert!(status == ARGREDUCE_OK || bytes == [9; 3]);
        if status == ARGREDUCE_OK { Ok(bytes) } else { Err(status) }
    }

    fn execute<T, I>(&self, input: &[T], output: &mut [I]) -> argreduce_status {
        // SAFETY: the buffers are as long as said.
        unsafe {
            argreduce_execute(
                self.0,
                input.as_ptr().cast(),
                size_of_val(input),
                output.as_mut_ptr().cast(),
                size_of_val(output),
            )
        }
    }

    fn execute_with_values<T, I>(&self, input: &[T], output: &mut [I], values: &mut [T]) -> argreduce_status {
        // SAFETY: the buffers are as long as said.
        unsafe {
            argreduce_execute_with_values(
                self.0,
                input.as_ptr().cast(),
                size_of_val(input),
                output.as_mut_ptr().cast(),
                size_of_val(output),
                values.as_mut_ptr().cast(),
                size_of_val(values),
            )
        }
    }
}
