//! The exported functions, one after another, in the order of the header. The documentation here is that of the header.

pub(crate) mod call;
mod codes;
pub(crate) mod desc;
mod directml;
mod executor;
pub(crate) mod failure;
mod mask;
mod operator;
mod parts;
mod pointer;
mod segments;
pub(crate) mod versioned;

pub use self::call::argreduce_call;
pub use self::codes::*;
pub use self::desc::{argreduce_desc, argreduce_layout};
#[allow(unused_imports, reason = "the benchmark takes a part of these")]
pub use self::executor::{argreduce_executor, argreduce_task};
#[allow(unused_imports, reason = "the benchmark takes a part of these")]
pub use self::mask::argreduce_mask;
#[allow(unused_imports, reason = "the benchmark takes a part of these")]
pub use self::operator::argreduce_operator;
#[allow(unused_imports, reason = "the benchmark takes a part of these")]
pub use self::parts::argreduce_pairs;

use self::failure::{Failure, guarded};
use self::operator::{OfSegments, One, Plan};
use self::pointer::Buffer;
use std::ffi::{c_char, c_void};

/// Checks a description and decides how to run it. `*out` is the operator, to be released by argreduce_release(), or
/// NULL after a failure.
///
/// # Safety
/// Pointers are NULL or point to what their types say: arrays are as long as `rank` and `axis_count` say, and `isa` is
/// text that ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_compile(
    desc: *const argreduce_desc,
    out: *mut *mut argreduce_operator,
) -> argreduce_status {
    // SAFETY: what `compile` and `plan` ask for is what is asked for above.
    unsafe { compile(out, || desc::plan(desc)) }
}

/// As argreduce_compile(), from a `const DML_OPERATOR_DESC *` as DirectML.h declares it: of type DML_OPERATOR_ARGMIN,
/// DML_OPERATOR_ARGMAX, or DML_OPERATOR_REDUCE with the function ARGMIN or ARGMAX. `nan_policy` is ARGREDUCE_PROPAGATE
/// or ARGREDUCE_IGNORE.
///
/// # Safety
/// Pointers are NULL or point to what their types say, and arrays are as long as `DimensionCount` and `AxisCount` say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_compile_directml(
    dml_operator_desc: *const c_void,
    nan_policy: u32,
    out: *mut *mut argreduce_operator,
) -> argreduce_status {
    // SAFETY: what both ask for is what is asked for above.
    unsafe { compile(out, || Ok((Plan::One(One::DirectMl(directml::compile(dml_operator_desc, nan_policy)?)), None))) }
}

/// What both ways to compile have in common.
///
/// # Safety
/// `out` is NULL or points to a pointer.
unsafe fn compile(
    out: *mut *mut argreduce_operator,
    plan: impl FnOnce() -> Result<(Plan, Option<OfSegments>), Failure>,
) -> argreduce_status {
    guarded(|| {
        pointer::check(out, "out")?;
        // SAFETY: `check` has found it neither NULL nor misaligned, and the caller promises that it points to a
        // pointer.
        unsafe { out.write(std::ptr::null_mut()) };
        let (plan, of_segments) = plan()?;
        let operator = Box::new(argreduce_operator::new(plan, of_segments));
        // SAFETY: as above.
        unsafe { out.write(Box::into_raw(operator)) };
        Ok(())
    })
}

/// Runs an operator: from an input, under a mask or not, on lent threads or not, to indices, with values or not, or to
/// partial answers. Buffers are aligned as their elements are, at least as long as argreduce_operator_bytes() says, and
/// share no byte of what is written. All of it is checked first, so that a failure has written nothing. But where no
/// element of an output is there, and the description has no fill, it is ARGREDUCE_NOTHING_THERE, and the outputs are
/// unspecified.
///
/// # Safety
/// `op` is NULL or compiled and not released yet. `call`, its executor and its mask are NULL, or have as many bytes as
/// their `size` says. A buffer is NULL or has as many bytes as said, which nobody else writes meanwhile (and of what is
/// written, nobody else reads). The strides of a mask are NULL, or as many as the input has axes. An executor does what
/// is said there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_run(op: *const argreduce_operator, call: *const argreduce_call) -> argreduce_status {
    // SAFETY: what is asked for above is what each of these asks for.
    guarded(|| unsafe {
        let (op, call) = (pointer::get(op, "op")?, versioned::read(call, "call")?);
        call::run(op, &call)
    })
}

/// The short way: as argreduce_run(), from an input to indices. An operator of ARGREDUCE_ARGMINMAX has two answers, for
/// which there is no place here: it is refused.
///
/// # Safety
/// As argreduce_run().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute(
    op: *const argreduce_operator,
    input: *const c_void,
    input_bytes: usize,
    indices: *mut c_void,
    index_bytes: usize,
) -> argreduce_status {
    // SAFETY: what is asked for above is what each of these asks for.
    guarded(|| unsafe {
        let input = Buffer { name: "input", start: input, bytes: input_bytes };
        let indices = Buffer { name: "indices", start: indices, bytes: index_bytes };
        call::execute(pointer::get(op, "op")?, input, indices)
    })
}

/// Makes each of `count` partial answers of `acc` the better of itself and its counterpart in `other`, by the types,
/// the function, the direction, the rule for NaN and the key of `op`. The order in which parts are merged changes
/// nothing, and an index with all bits set changes nothing. Bases and strides are multiples of the size of their
/// elements. The strides of `acc` are at least as long as an element; those of `other` may be 0. `acc` and `other`
/// share no element. If `count` is 0, `acc` and `other` may be NULL. An operator of ARGREDUCE_ARGMINMAX is refused: the
/// smallest are merged by an operator of ARGREDUCE_ARGMIN, the largest by one of ARGREDUCE_ARGMAX.
///
/// # Safety
/// `op` is NULL or compiled and not released yet; `acc` and `other` are NULL or point to what their types say; their
/// elements are there, and nobody else writes them meanwhile (nor reads those of `acc`). What lies between elements is
/// not touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_merge(
    op: *const argreduce_operator,
    count: usize,
    acc: *const argreduce_pairs,
    other: *const argreduce_pairs,
) -> argreduce_status {
    // SAFETY: what is asked for above is what both ask for.
    guarded(|| unsafe { parts::merge(pointer::get(op, "op")?, count, acc, other) })
}

/// How many bytes the buffers of a call need at least: the input, the indices, and the values if they are asked for.
/// Of an operator from DirectML, TotalTensorSizeInBytes; of ARGREDUCE_ARGMINMAX, each of the indices and of the values.
/// Partial answers need one packed index for each value. All three are written, or none: no pointer may be NULL. More
/// bytes than memory can hold are an error, ARGREDUCE_BUFFER_TOO_LARGE: such an operator can be compiled, but not run.
///
/// # Safety
/// `op` is NULL or compiled and not released yet; the other pointers are NULL or point to a size_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_operator_bytes(
    op: *const argreduce_operator,
    input: *mut usize,
    indices: *mut usize,
    values: *mut usize,
) -> argreduce_status {
    guarded(|| {
        // SAFETY: NULL or compiled and not released yet, as is asked for above; `get` tells NULL.
        let need = &unsafe { pointer::get(op, "op") }?.need;
        let sizes = [("input", input, need.input), ("indices", indices, need.indices), ("values", values, need.values)];
        for (name, to, need) in sizes {
            pointer::check(to, name)?;
            pointer::check_size(need.bytes, name)?;
        }
        for (_, to, need) in sizes {
            // SAFETY: `check` has found it neither NULL nor misaligned; then it points to a size_t, as is asked for
            // above.
            unsafe { to.write(need.bytes) };
        }
        Ok(())
    })
}

/// The name of the instruction set that was chosen: "avx2", "portable" and so on; valid as long as the operator. "" for
/// NULL.
///
/// # Safety
/// `op` is NULL or compiled and not released yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_operator_isa(op: *const argreduce_operator) -> *const c_char {
    let mut isa = c"".as_ptr();
    guarded(|| {
        // SAFETY: NULL or compiled and not released yet, as is asked for above; `get` tells NULL.
        isa = unsafe { pointer::get(op, "op") }?.isa.as_ptr();
        Ok(())
    });
    isa
}

/// Writes what the operator does and how, as a line of text for people: "argmax of f32 [2, 3] over axes [1] to ..". It
/// has at most `bytes` bytes with the NUL at its end; what is too long is cut at the end of a character. "" for NULL.
///
/// # Safety
/// `op` is NULL or compiled and not released yet; `text` is NULL or has as many bytes as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_operator_describe(op: *const argreduce_operator, text: *mut c_char, bytes: usize) {
    if text.is_null() {
        return;
    }
    let mut said = String::new();
    guarded(|| {
        // SAFETY: NULL or compiled and not released yet, as is asked for above; `get` tells NULL.
        said = unsafe { pointer::get(op, "op") }?.to_string();
        Ok(())
    });
    for (n, byte) in failure::text(&said, bytes).take(bytes).enumerate() {
        // SAFETY: there are `bytes` of them, as is asked for above.
        unsafe { text.add(n).write(byte as c_char) };
    }
}

/// Ends an operator that no thread uses any more. NULL is fine.
///
/// # Safety
/// `op` is NULL or compiled and not released yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_release(op: *mut argreduce_operator) {
    if !op.is_null() {
        guarded(|| {
            // SAFETY: it came from `Box::into_raw` in `compile`, and was not released yet, as is asked for above.
            drop(unsafe { Box::from_raw(op) });
            Ok(())
        });
    }
}

/// What the last failure of a function on this thread was, as UTF-8 text. Never NULL; "" before the first failure. A
/// success changes nothing.
///
/// Each thread has one buffer, of 512 bytes. Its address is the same in every call, and valid as long as the thread
/// lives. The next failure replaces the text in it. A text that is too long is cut at the end of a character.
#[unsafe(no_mangle)]
pub extern "C" fn argreduce_last_error() -> *const c_char {
    failure::last_message()
}

/// The version of the library: major << 16 | minor << 8 | patch. That of the header is ARGREDUCE_VERSION_MAJOR,
/// _MINOR and _PATCH.
#[unsafe(no_mangle)]
pub extern "C" fn argreduce_version() -> u32 {
    ARGREDUCE_VERSION_MAJOR << 16 | ARGREDUCE_VERSION_MINOR << 8 | ARGREDUCE_VERSION_PATCH
}

/// The name of a status, "ARGREDUCE_OK" and so on; "unknown" for a number that is none. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn argreduce_status_name(status: argreduce_status) -> *const c_char {
    let name = usize::try_from(status).ok().and_then(|status| codes::STATUS_NAMES.get(status));
    name.map_or(c"unknown".as_ptr(), |name| name.as_ptr())
}
