//! The exported functions, one after another. The documentation here is that of the header.

mod both;
mod codes;
pub(crate) mod desc;
mod directml;
mod executor;
pub(crate) mod failure;
mod mask;
mod parts;
mod pointer;
pub(crate) mod versioned;

#[allow(unused_imports, reason = "the benchmark takes a part of these")]
pub use self::both::{argreduce_execute_both, argreduce_execute_partials_both};
pub use self::codes::*;
pub use self::desc::{argreduce_desc, argreduce_layout};
pub use self::executor::*;
#[allow(unused_imports, reason = "the benchmark takes a part of these")]
pub use self::mask::{argreduce_execute_masked, argreduce_execute_partials_masked, argreduce_mask};
#[allow(unused_imports, reason = "the benchmark takes a part of these")]
pub use self::parts::{
    argreduce_compile_window, argreduce_execute_partials, argreduce_execute_partials_on, argreduce_merge,
    argreduce_pairs,
};

use self::executor::Lent;
use self::failure::{Failure, guarded};
use ::argreduce::directml::CompiledOperator;
use ::argreduce::{Buffers, Executor, Input, Isa, RequiredBytes, Sequential};
use ::argreduce::{UntypedOutput, UntypedPlan, UntypedPlanBoth};
use std::ffi::{CString, c_char, c_void};

/// A compiled operator: immutable, usable from any thread.
pub struct argreduce_operator {
    plan: Plan,
    isa: CString,
}

enum Plan {
    Own(UntypedPlan),
    Both(UntypedPlanBoth),
    DirectMl(CompiledOperator),
}

impl argreduce_operator {
    fn new(plan: Plan) -> argreduce_operator {
        let isa: Isa = match &plan {
            Plan::Own(plan) => plan.isa(),
            Plan::Both(plan) => plan.each()[0].isa(),
            Plan::DirectMl(operator) => operator.isa(),
        };
        argreduce_operator { plan, isa: CString::new(isa.name()).unwrap_or_default() }
    }

    fn required_bytes(&self) -> RequiredBytes {
        match &self.plan {
            Plan::Own(plan) => plan.required_bytes(),
            Plan::Both(plan) => plan.each()[0].required_bytes(),
            Plan::DirectMl(operator) => operator.required_bytes(),
        }
    }

    /// Runs it, unless it has two answers: then says what takes it instead.
    fn run(&self, input: Input<'_, u8>, output: UntypedOutput<'_>, instead: &str) -> Result<(), Failure> {
        match &self.plan {
            Plan::Own(plan) => Ok(plan.run(input, output)?),
            Plan::DirectMl(operator) => Ok(operator.run(input, output)?),
            Plan::Both(_) => Err(two_answers(instead)),
        }
    }
}

/// What functions with a place for one answer say of an operator of both, and what to do instead.
#[cold]
fn two_answers(instead: &str) -> Failure {
    let message = format!("op is an argminmax, which has two answers: {instead}");
    Failure::new(ARGREDUCE_UNSUPPORTED_OPERATOR, message)
}

/// Checks a description and decides how to run it. `*out` is the operator, to be released by argreduce_release(), or
/// NULL after a failure.
///
/// # Safety
/// Pointers are NULL or point to what their types say, and arrays are as long as `rank` and `axis_count` say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_compile(
    desc: *const argreduce_desc,
    out: *mut *mut argreduce_operator,
) -> argreduce_status {
    // SAFETY: what `compile` and `plan` ask for is what is asked for above.
    unsafe { compile(out, || desc::plan(desc, None)) }
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
    unsafe { compile(out, || Ok(Plan::DirectMl(directml::compile(dml_operator_desc, nan_policy)?))) }
}

/// What both ways to compile have in common.
///
/// # Safety
/// `out` is NULL or points to a pointer.
unsafe fn compile(out: *mut *mut argreduce_operator, plan: impl FnOnce() -> Result<Plan, Failure>) -> argreduce_status {
    guarded(|| {
        pointer::check(out, "out")?;
        // SAFETY: `check` has found it neither NULL nor misaligned, and the caller promises that it points to a
        // pointer.
        unsafe { out.write(std::ptr::null_mut()) };
        let operator = Box::new(argreduce_operator::new(plan()?));
        // SAFETY: as above.
        unsafe { out.write(Box::into_raw(operator)) };
        Ok(())
    })
}

/// Writes the index of the best element of each output. Buffers are aligned as their elements are, at least as long as
/// the description needs (from DirectML: as TotalTensorSizeInBytes), and apart from each other. Functions with a place
/// for one answer refuse an operator of ARGREDUCE_ARGMINMAX: argreduce_execute_both() takes it.
///
/// # Safety
/// `op` is NULL or compiled and not released yet; a buffer is NULL or has as many bytes as said, which nobody else
/// writes meanwhile (and of the output, nobody else reads).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute(
    op: *const argreduce_operator,
    input: *const c_void,
    input_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
) -> argreduce_status {
    // SAFETY: what is asked for above is what `execute_on` asks for.
    guarded(|| unsafe { execute_on(op, &Sequential, (input, input_bytes), (output, output_bytes)) })
}

/// As argreduce_execute(), on the threads of an executor; if that is NULL, on the caller's alone.
///
/// # Safety
/// As argreduce_execute(); and `executor` is NULL or points to one that does what is said there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute_on(
    op: *const argreduce_operator,
    executor: *const argreduce_executor,
    input: *const c_void,
    input_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
) -> argreduce_status {
    // SAFETY: what is asked for above is what both ask for.
    guarded(|| unsafe {
        let lent = executor::lent(executor)?;
        execute_on(op, Lent::or_sequential(&lent), (input, input_bytes), (output, output_bytes))
    })
}

/// # Safety
/// As argreduce_execute().
unsafe fn execute_on(
    op: *const argreduce_operator,
    executor: &dyn Executor,
    (input, input_bytes): (*const c_void, usize),
    (output, output_bytes): (*mut c_void, usize),
) -> Result<(), Failure> {
    pointer::check_apart(("input", input, input_bytes), ("output", output, output_bytes))?;
    // SAFETY: the buffers have as many bytes as said, which nobody else touches, as is asked for above; and
    // `check_apart` has found them to share none, so that one of them may be `mut`.
    unsafe {
        let output = pointer::buffer_mut(output, output_bytes, "output")?;
        let (op, input) = (pointer::get(op, "op")?, pointer::buffer(input, input_bytes, "input")?);
        op.run(Input::from(input).on(executor), output.into(), "argreduce_execute_both() takes it")
    }
}

/// As argreduce_execute(), and also copies the best elements themselves to `values`: packed in row-major order.
///
/// # Safety
/// As argreduce_execute().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute_with_values(
    op: *const argreduce_operator,
    input: *const c_void,
    input_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
    values: *mut c_void,
    values_bytes: usize,
) -> argreduce_status {
    // SAFETY: what is asked for above is what `execute_with_values_on` asks for.
    guarded(|| unsafe {
        let (output, values) = ((output, output_bytes), (values, values_bytes));
        execute_with_values_on(op, &Sequential, (input, input_bytes), output, values)
    })
}

/// As argreduce_execute_with_values(), on the threads of an executor; if that is NULL, on the caller's alone.
///
/// # Safety
/// As argreduce_execute_on().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute_with_values_on(
    op: *const argreduce_operator,
    executor: *const argreduce_executor,
    input: *const c_void,
    input_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
    values: *mut c_void,
    values_bytes: usize,
) -> argreduce_status {
    // SAFETY: what is asked for above is what both ask for.
    guarded(|| unsafe {
        let lent = executor::lent(executor)?;
        let (output, values) = ((output, output_bytes), (values, values_bytes));
        execute_with_values_on(op, Lent::or_sequential(&lent), (input, input_bytes), output, values)
    })
}

/// # Safety
/// As argreduce_execute().
unsafe fn execute_with_values_on(
    op: *const argreduce_operator,
    executor: &dyn Executor,
    (input, input_bytes): (*const c_void, usize),
    (output, output_bytes): (*mut c_void, usize),
    (values, values_bytes): (*mut c_void, usize),
) -> Result<(), Failure> {
    let written = [("output", output.cast_const(), output_bytes), ("values", values.cast_const(), values_bytes)];
    pointer::check_all_apart(&[("input", input, input_bytes)], &written)?;
    // SAFETY: as in `execute_on`; and `check_all_apart` has found each of the three to share no byte with the others.
    unsafe {
        let output = pointer::buffer_mut(output, output_bytes, "output")?;
        let values = pointer::buffer_mut(values, values_bytes, "values")?;
        let (op, input) = (pointer::get(op, "op")?, pointer::buffer(input, input_bytes, "input")?);
        let buffers = Buffers { indices: output, values: Some(values) };
        op.run(Input::from(input).on(executor), buffers.into(), "argreduce_execute_both() takes it")
    }
}

/// How many bytes the buffers of a call need at least: `*input` and `*output` for argreduce_execute(), and `*values`
/// beside them for argreduce_execute_with_values(); of ARGREDUCE_ARGMINMAX, each output and each of the values. All
/// three are written, or none: no pointer may be NULL. More bytes than memory can hold are an error,
/// ARGREDUCE_BUFFER_TOO_LARGE: such an operator can be compiled, but not executed.
///
/// # Safety
/// `op` is NULL or compiled and not released yet; the other pointers are NULL or point to a size_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_operator_bytes(
    op: *const argreduce_operator,
    input: *mut usize,
    output: *mut usize,
    values: *mut usize,
) -> argreduce_status {
    guarded(|| {
        // SAFETY: NULL or compiled and not released yet, as is asked for above; `get` tells NULL.
        let required = unsafe { pointer::get(op, "op") }?.required_bytes();
        let sizes = [
            ("input", input, required.input),
            ("output", output, required.output),
            ("values", values, required.values),
        ];
        for (name, to, bytes) in sizes {
            pointer::check(to, name)?;
            pointer::check_size(bytes, name)?;
        }
        for (_, to, bytes) in sizes {
            // SAFETY: `check` has found it neither NULL nor misaligned; then it points to a size_t, as is asked for
            // above.
            unsafe { to.write(bytes) };
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
