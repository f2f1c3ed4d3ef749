//! Masks: which elements of an input are there.

use super::codes::*;
use super::executor::{self, Lent, argreduce_executor};
use super::failure::{Failure, guarded};
use super::versioned::{self, Versioned};
use super::{Plan, argreduce_operator, desc, pointer, two_answers};
use ::argreduce::{Buffers, Input, Layout, Mask, PartialBuffers, UntypedPlan};
use std::ffi::c_void;
use std::mem::offset_of;

/// Which elements of an input are there: those that are not are left out, and indices count them all the same. What is
/// not there may be read, but is never compared.
///
/// Later versions may have more fields at the end, as of argreduce_executor.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct argreduce_mask {
    /// sizeof(argreduce_mask), as the header has it that the program is built with.
    pub size: usize,
    /// The bits or bytes.
    pub data: *const c_void,
    /// How many bytes there are.
    pub bytes: usize,
    /// Of ARGREDUCE_MASK_BITS, the number of the first element's bit; of ARGREDUCE_MASK_BYTES, how many bytes from
    /// `data` to that of element [0, .., 0].
    pub offset: i64,
    /// Of ARGREDUCE_MASK_BYTES, from one element to the next along each axis, in bytes, of any sign; 0 broadcasts. NULL
    /// means packed in row-major order of the input's sizes. Of ARGREDUCE_MASK_BITS, NULL.
    pub strides: *const i64,
    /// ARGREDUCE_MASK_BITS or ARGREDUCE_MASK_BYTES.
    pub kind: u32,
    /// Whether an output of which no element is there gets `fill`, and its value bits of 0. If not, it is an error.
    pub has_fill: u32,
    /// The index of such an output.
    pub fill: i64,
}

// SAFETY: `repr(C)`, with `size` first; zeros are a value of each of its types, and each size ends with a field.
unsafe impl Versioned for argreduce_mask {
    const NAME: &str = "argreduce_mask";
    // By the last field of each version, so that none of them changes when there is another.
    const SIZES: &[usize] = &[offset_of!(argreduce_mask, fill) + size_of::<i64>()];
}

/// As argreduce_execute_on(), and argreduce_execute_with_values_on() unless `values` is NULL, of the elements that a
/// mask says are there. If no element of an output is, and the mask has no fill, it is ARGREDUCE_NOTHING_THERE; the
/// outputs are then unspecified. Any other failure has written nothing. An operator of DirectML has no masks.
///
/// # Safety
/// As argreduce_execute_on(); and `mask` is NULL or points to one whose data are as many bytes as it says, which nobody
/// writes meanwhile, and whose strides are NULL or as many as the input has axes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute_masked(
    op: *const argreduce_operator,
    executor: *const argreduce_executor,
    mask: *const argreduce_mask,
    input: *const c_void,
    input_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
    values: *mut c_void,
    values_bytes: usize,
) -> argreduce_status {
    // SAFETY: what is asked for above is what each of these asks for; and `check_all_apart` has found the
    // buffers to share no byte, so that two of them may be `mut`.
    guarded(|| unsafe {
        let (lent, mask) = (executor::lent(executor)?, versioned::read(mask, "mask")?);
        let read = [("input", input, input_bytes), ("mask->data", mask.data, mask.bytes)];
        let written = [("output", output.cast_const(), output_bytes), ("values", values.cast_const(), values_bytes)];
        pointer::check_all_apart(&read, &written)?;
        let plan = own_plan(op, "argreduce_execute_both() takes it")?;
        let (input, output) =
            (pointer::buffer(input, input_bytes, "input")?, pointer::buffer_mut(output, output_bytes, "output")?);
        let values = match values_bytes {
            0 if values.is_null() => None,
            _ => Some(pointer::buffer_mut(values, values_bytes, "values")?),
        };
        let fill = (mask.has_fill != 0).then_some(mask.fill);
        let executor = Lent::or_sequential(&lent);
        let input = Input::from(input).on(executor).filled(fill);
        let run = |mask: Mask<'_>| Ok(plan.run(input.masked(mask), Buffers { indices: output, values })?);
        with_mask(plan.input_layout(), &mask, run)
    })
}

/// As argreduce_execute_partials_on(), of the elements that a mask says are there: what has none gets an index with all
/// bits set. A fill is not used.
///
/// # Safety
/// As argreduce_execute_masked().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute_partials_masked(
    op: *const argreduce_operator,
    executor: *const argreduce_executor,
    mask: *const argreduce_mask,
    input: *const c_void,
    input_bytes: usize,
    values: *mut c_void,
    value_bytes: usize,
    indices: *mut c_void,
    index_bytes: usize,
) -> argreduce_status {
    // SAFETY: as in `argreduce_execute_masked`.
    guarded(|| unsafe {
        let (lent, mask) = (executor::lent(executor)?, versioned::read(mask, "mask")?);
        let read = [("input", input, input_bytes), ("mask->data", mask.data, mask.bytes)];
        let written = [("values", values.cast_const(), value_bytes), ("indices", indices.cast_const(), index_bytes)];
        pointer::check_all_apart(&read, &written)?;
        let plan = own_plan(op, "argreduce_execute_partials_both() takes it")?;
        let values = pointer::buffer_mut(values, value_bytes, "values")?;
        let indices = pointer::buffer_mut(indices, index_bytes, "indices")?;
        let input = pointer::buffer(input, input_bytes, "input")?;
        let executor = Lent::or_sequential(&lent);
        let input = Input::from(input).on(executor);
        let run = |mask: Mask<'_>| Ok(plan.run(input.masked(mask), PartialBuffers { indices, values })?);
        with_mask(plan.input_layout(), &mask, run)
    })
}

/// # Safety
/// `op` is NULL or compiled and not released yet.
unsafe fn own_plan<'a>(op: *const argreduce_operator, of_both: &str) -> Result<&'a UntypedPlan, Failure> {
    // SAFETY: what is asked for above; `get` tells NULL.
    match unsafe { &pointer::get(op, "op")?.plan } {
        Plan::Own(plan) => Ok(plan),
        Plan::Both(_) => Err(two_answers(of_both)),
        Plan::DirectMl(_) => Err(Failure::new(
            ARGREDUCE_UNSUPPORTED_OPERATOR,
            "op is an operator of DirectML, which has no masks: compile one by argreduce_compile()",
        )),
    }
}

/// Runs with the mask of an input.
///
/// # Safety
/// Its data are NULL or as many bytes as it says, which nobody writes meanwhile, and its strides NULL or as many as the
/// input has axes.
pub(super) unsafe fn with_mask(
    input: &Layout,
    mask: &argreduce_mask,
    run: impl FnOnce(Mask<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mismatch = |message: String| Failure::new(ARGREDUCE_MASK_MISMATCH, message);
    let offset = usize::try_from(mask.offset)
        .map_err(|_| mismatch(format!("mask->offset is {}: 0 to {} are allowed", mask.offset, isize::MAX)))?;
    // SAFETY: as is asked for above.
    let data = unsafe { pointer::buffer(mask.data, mask.bytes, "mask->data") }?;
    let sizes = input.sizes();
    match mask.kind {
        ARGREDUCE_MASK_BITS if mask.strides.is_null() => run(Mask::bits(data, offset)),
        ARGREDUCE_MASK_BITS => Err(mismatch("mask->strides is not NULL: a mask of bits is packed".into())),
        ARGREDUCE_MASK_BYTES => {
            let strides = if mask.strides.is_null() {
                Layout::contiguous(sizes)?.strides().to_vec()
            } else {
                // SAFETY: as many as the input has axes, as is asked for above.
                unsafe { desc::strides(mask.strides, sizes.len() as u32, "mask->strides", ARGREDUCE_MASK_MISMATCH) }?
            };
            let layout = Layout::strided(sizes, &strides, offset);
            run(Mask::bytes_strided(data, &layout.map_err(|error| mismatch(format!("the mask: {error}")))?))
        }
        kind => {
            let message = format!("mask->kind is {kind}: 0 (bits) and 1 (bytes) are allowed");
            Err(Failure::new(ARGREDUCE_UNKNOWN_VALUE, message))
        }
    }
}
