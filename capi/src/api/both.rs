//! Both functions at once: calls of operators that have two answers, of the smallest and of the largest.

use super::codes::*;
use super::executor::{self, Lent, argreduce_executor};
use super::failure::{Failure, guarded};
use super::mask::{argreduce_mask, with_mask};
use super::{Plan, argreduce_operator, pointer, versioned};
use ::argreduce::{Buffers, Error, Input, Mask, PartialBuffers, UntypedPlanBoth};
use std::ffi::c_void;
use std::ptr::null;

/// Writes the indices of the smallest and of the largest element of each output, by an operator of ARGREDUCE_ARGMINMAX.
/// Each buffer is as argreduce_execute() has it for one of them. `min_values` and `max_values` get the elements
/// themselves, as in argreduce_execute_with_values(); both are NULL, of 0 bytes, or neither is. If `executor` is NULL,
/// it runs on the caller's thread alone. With a `mask` other than NULL, it is as argreduce_execute_masked(): if no
/// element of an output is there, and the mask has no fill, it is ARGREDUCE_NOTHING_THERE, and the outputs are then
/// unspecified. Any other failure has written nothing.
///
/// # Safety
/// As argreduce_execute_on(); and `mask` is NULL or as argreduce_execute_masked() asks for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute_both(
    op: *const argreduce_operator,
    executor: *const argreduce_executor,
    mask: *const argreduce_mask,
    input: *const c_void,
    input_bytes: usize,
    min_indices: *mut c_void,
    min_index_bytes: usize,
    max_indices: *mut c_void,
    max_index_bytes: usize,
    min_values: *mut c_void,
    min_value_bytes: usize,
    max_values: *mut c_void,
    max_value_bytes: usize,
) -> argreduce_status {
    let indices = [(min_indices, min_index_bytes), (max_indices, max_index_bytes)];
    let outputs = Outputs { indices, values: [(min_values, min_value_bytes), (max_values, max_value_bytes)] };
    // SAFETY: what is asked for above is what each of these asks for; and `Call::new` has found the outputs to share no
    // byte.
    guarded(|| unsafe {
        let call = Call::new(op, (executor, mask), (input, input_bytes), &outputs)?;
        let (indices, values) = (outputs.indices()?, outputs.some_values()?);
        let fill = call.mask.filter(|mask| mask.has_fill != 0).map(|mask| mask.fill);
        let ([min, max], [lowest, highest]) = (indices, values.map_or([None, None], |values| values.map(Some)));
        let outputs = [Buffers { indices: min, values: lowest }, Buffers { indices: max, values: highest }];
        call.run(|plan, input| plan.run(input.filled(fill), outputs.map(Into::into)))
    })
}

/// As argreduce_execute_both(), with the same arguments, but partial answers: packed arrays in row-major order, as
/// argreduce_execute_partials() has them, and under a mask argreduce_execute_partials_masked(). None of the four may be
/// left out. Those of the smallest are merged by an operator of ARGREDUCE_ARGMIN, those of the largest by one of
/// ARGREDUCE_ARGMAX.
///
/// # Safety
/// As argreduce_execute_both().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute_partials_both(
    op: *const argreduce_operator,
    executor: *const argreduce_executor,
    mask: *const argreduce_mask,
    input: *const c_void,
    input_bytes: usize,
    min_indices: *mut c_void,
    min_index_bytes: usize,
    max_indices: *mut c_void,
    max_index_bytes: usize,
    min_values: *mut c_void,
    min_value_bytes: usize,
    max_values: *mut c_void,
    max_value_bytes: usize,
) -> argreduce_status {
    let indices = [(min_indices, min_index_bytes), (max_indices, max_index_bytes)];
    let outputs = Outputs { indices, values: [(min_values, min_value_bytes), (max_values, max_value_bytes)] };
    // SAFETY: what is asked for above is what each of these asks for; and `Call::new` has found the outputs to share no
    // byte.
    guarded(|| unsafe {
        let call = Call::new(op, (executor, mask), (input, input_bytes), &outputs)?;
        let (indices, values) = (outputs.indices()?, outputs.values()?);
        let ([min, max], [lowest, highest]) = (indices, values);
        let outputs =
            [PartialBuffers { indices: min, values: lowest }, PartialBuffers { indices: max, values: highest }];
        call.run(|plan, input| plan.run(input, outputs.map(Into::into)))
    })
}

/// Buffers that are written: each of the smallest, and of the largest.
struct Outputs {
    indices: [(*mut c_void, usize); 2],
    values: [(*mut c_void, usize); 2],
}

const INDICES: [&str; 2] = ["min_indices", "max_indices"];
const VALUES: [&str; 2] = ["min_values", "max_values"];

impl Outputs {
    fn named(&self) -> [pointer::Named<'static>; 4] {
        let named = |name, (start, bytes): (*mut c_void, usize)| (name, start.cast_const(), bytes);
        let ([min, max], [min_values, max_values]) = (self.indices, self.values);
        [named(INDICES[0], min), named(INDICES[1], max), named(VALUES[0], min_values), named(VALUES[1], max_values)]
    }

    /// # Safety
    /// The buffers are NULL or have as many bytes as said, which nobody else touches during `'a`; `Call::new` has found
    /// them to share none.
    unsafe fn indices<'a>(&self) -> Result<[&'a mut [u8]; 2], Failure> {
        let [(min, min_bytes), (max, max_bytes)] = self.indices;
        // SAFETY: as is asked for above.
        unsafe {
            Ok([pointer::buffer_mut(min, min_bytes, INDICES[0])?, pointer::buffer_mut(max, max_bytes, INDICES[1])?])
        }
    }

    /// # Safety
    /// As [`Outputs::indices`].
    unsafe fn values<'a>(&self) -> Result<[&'a mut [u8]; 2], Failure> {
        let [(min, min_bytes), (max, max_bytes)] = self.values;
        // SAFETY: as is asked for above.
        unsafe {
            Ok([pointer::buffer_mut(min, min_bytes, VALUES[0])?, pointer::buffer_mut(max, max_bytes, VALUES[1])?])
        }
    }

    /// The values, if there are any.
    ///
    /// # Safety
    /// As [`Outputs::indices`].
    unsafe fn some_values<'a>(&self) -> Result<Option<[&'a mut [u8]; 2]>, Failure> {
        let is_none = self.values.map(|(start, bytes)| start.is_null() && bytes == 0);
        if is_none == [true; 2] {
            return Ok(None);
        }
        // SAFETY: as is asked for above.
        let values = unsafe { self.values() }?;
        match is_none {
            [true, _] => Err(only_one(VALUES)),
            [_, true] => Err(only_one([VALUES[1], VALUES[0]])),
            _ => Ok(Some(values)),
        }
    }
}

#[cold]
fn only_one([none, other]: [&str; 2]) -> Failure {
    let message = format!("{none} is NULL, and {other} is not: values are written of both, or of neither");
    Failure::new(ARGREDUCE_NULL_POINTER, message)
}

/// What both functions are given, but for the outputs.
struct Call<'a> {
    plan: &'a UntypedPlanBoth,
    lent: Option<Lent>,
    mask: Option<argreduce_mask>,
    input: &'a [u8],
}

impl<'a> Call<'a> {
    /// Finds the outputs to share no byte with what is read, nor with each other.
    ///
    /// # Safety
    /// As argreduce_execute_both().
    unsafe fn new(
        op: *const argreduce_operator,
        (executor, mask): (*const argreduce_executor, *const argreduce_mask),
        (input, input_bytes): (*const c_void, usize),
        outputs: &Outputs,
    ) -> Result<Call<'a>, Failure> {
        // SAFETY: what is asked for above is what each of these asks for.
        unsafe {
            let lent = executor::lent(executor)?;
            let mask = if mask.is_null() { None } else { Some(versioned::read(mask, "mask")?) };
            let (mask_data, mask_bytes) = mask.map_or((null(), 0), |mask: argreduce_mask| (mask.data, mask.bytes));
            let read = [("input", input, input_bytes), ("mask->data", mask_data, mask_bytes)];
            pointer::check_all_apart(&read, &outputs.named())?;
            let Plan::Both(plan) = &pointer::get(op, "op")?.plan else {
                let message = "op is no argminmax: compile one by argreduce_compile(), of ARGREDUCE_ARGMINMAX";
                return Err(Failure::new(ARGREDUCE_UNSUPPORTED_OPERATOR, message));
            };
            Ok(Call { plan, lent, mask, input: pointer::buffer(input, input_bytes, "input")? })
        }
    }

    /// # Safety
    /// As argreduce_execute_both().
    unsafe fn run(
        &self,
        run: impl FnOnce(&UntypedPlanBoth, Input<'_, u8>) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let input = Input::from(self.input).on(Lent::or_sequential(&self.lent));
        let run = |mask: Option<Mask<'_>>| Ok(run(self.plan, input.masked(mask))?);
        match &self.mask {
            // SAFETY: the mask is as argreduce_execute_masked() asks for; both plans have one input.
            Some(mask) => unsafe { with_mask(self.plan.each()[0].input_layout(), mask, |mask| run(Some(mask))) },
            None => run(None),
        }
    }
}
