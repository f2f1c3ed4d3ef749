//! A call: what it reads and where its answers go, as C has it, and the one way from there to an answer.

use super::codes::*;
use super::desc;
use super::executor::{self, argreduce_executor};
use super::failure::Failure;
use super::mask::{self, argreduce_mask};
use super::operator::{Plan, argreduce_operator, two_answers};
use super::pointer::{self, Buffer};
use super::segments::{self, Offsets};
use super::versioned::Versioned;
use ::argreduce::{Buffers, Error, Input, Layout, PartialBuffers, UntypedOutput};
use std::ffi::c_void;
use std::mem::offset_of;

/// What a call reads, and where its answers go. What is not needed is left out: NULL, and 0 bytes.
///
/// Later versions may have more fields at the end, as of argreduce_desc.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct argreduce_call {
    /// sizeof(argreduce_call), as the header has it that the program is built with.
    pub size: usize,
    /// The elements.
    pub input: *const c_void,
    /// How many bytes there are. What a buffer needs is what argreduce_operator_bytes() says.
    pub input_bytes: usize,
    /// The threads that are lent to the call; NULL: the caller's alone.
    pub executor: *const argreduce_executor,
    /// Which elements are there; NULL: all. An operator of DirectML takes no mask.
    pub mask: *const argreduce_mask,
    /// Where the indices go: the first of these. Of ARGREDUCE_ARGMINMAX, those of the smallest and those of the
    /// largest; of all else, the second is left out.
    pub indices: [*mut c_void; 2],
    /// How many bytes there are.
    pub index_bytes: [usize; 2],
    /// Where the best elements go, packed in row-major order, if they are asked for: each beside its indices. Of
    /// ARGREDUCE_ARGMINMAX, both or neither.
    pub values: [*mut c_void; 2],
    /// How many bytes there are.
    pub value_bytes: [usize; 2],
    /// 1: partial answers, for argreduce_merge(). Indices are packed then, whatever the output's layout, and there are
    /// values. What has no element gets an index with all bits set, and no fill. Else 0.
    pub is_partial: u32,
    /// 0.
    pub reserved: u32,
    /// Of segments of the input, where each begins and ends: segment n is from offset n up to the next. Each is
    /// answered on its own, indices and values are packed, and there are no partial answers. NULL: no segments. The
    /// operator has to be of rank 1, over axis 0, packed, of the whole; its size is not looked at: the input is as long
    /// as `input_bytes` says, and so is a mask. A segment that is empty gets the fill. Offsets are read once: nothing
    /// beyond the input is read, whoever changes them.
    pub offsets: *const c_void,
    /// How many offsets there are: one more than segments.
    pub offset_count: usize,
    /// ARGREDUCE_INT32, ARGREDUCE_INT64, ARGREDUCE_UINT32 or ARGREDUCE_UINT64.
    pub offset_type: u32,
    /// 1: indices in the whole input. 0: in the segment.
    pub is_absolute: u32,
}

// SAFETY: `repr(C)`, with `size` first; zeros are a value of each of its types, and each size ends with a field.
unsafe impl Versioned for argreduce_call {
    const NAME: &str = "argreduce_call";
    // By the last field of each version, so that none of them changes when there is another.
    const SIZES: &[usize] = &[
        offset_of!(argreduce_call, reserved) + size_of::<u32>(),
        offset_of!(argreduce_call, is_absolute) + size_of::<u32>(),
    ];
}

impl argreduce_call {
    /// What messages call its buffers.
    const INPUT: &str = "call->input";
    const INDICES: [&str; 2] = ["call->indices[0]", "call->indices[1]"];
    const VALUES: [&str; 2] = ["call->values[0]", "call->values[1]"];

    fn input(&self) -> Buffer<'static> {
        Buffer { name: argreduce_call::INPUT, start: self.input, bytes: self.input_bytes }
    }

    fn indices(&self, n: usize) -> Buffer<'static> {
        Buffer { name: argreduce_call::INDICES[n], start: self.indices[n], bytes: self.index_bytes[n] }
    }

    fn values(&self, n: usize) -> Buffer<'static> {
        Buffer { name: argreduce_call::VALUES[n], start: self.values[n], bytes: self.value_bytes[n] }
    }

    /// Whether it is from an input to indices, and no more.
    #[inline(always)]
    fn is_short(&self) -> bool {
        self.executor.is_null()
            && self.mask.is_null()
            && self.is_partial == 0
            && self.reserved == 0
            && self.offsets.is_null()
            && self.offset_count == 0
            && self.offset_type == 0
            && self.is_absolute == 0
            && [self.indices(1), self.values(0), self.values(1)].iter().all(Buffer::is_left_out)
    }
}

/// Checks all of a call, and runs it.
///
/// # Safety
/// As argreduce_run() asks for; but the call itself has been read.
#[inline(always)]
pub(super) unsafe fn run(op: &argreduce_operator, call: &argreduce_call) -> Result<(), Failure> {
    let is_short = matches!(op.plan, Plan::One(_)) && call.is_short();
    // SAFETY: as the caller promises.
    unsafe { if is_short { execute(op, call.input(), call.indices(0)) } else { run_all(op, call) } }
}

/// Runs a call from an input to indices, and no more: what else a call may have would take longer than a few elements.
///
/// # Safety
/// As argreduce_run() asks for.
#[inline(always)]
pub(super) unsafe fn execute(op: &argreduce_operator, input: Buffer<'_>, indices: Buffer<'_>) -> Result<(), Failure> {
    let Plan::One(plan) = &op.plan else { return Err(two_answers("argreduce_run() takes it")) };
    input.check_apart(&indices)?;
    // SAFETY: a buffer is NULL or has as many bytes as said, as the caller promises; and `check_apart` has found that
    // they share none.
    let (input, indices) = unsafe { (input.read(op.need.input)?, indices.write(op.need.indices)?) };
    Ok(plan.run(input.into(), indices.into())?)
}

/// # Safety
/// As [`run`].
#[inline(never)]
unsafe fn run_all(op: &argreduce_operator, call: &argreduce_call) -> Result<(), Failure> {
    let is_partial = desc::flag(call.is_partial, "call->is_partial")?;
    desc::check_reserved(call.reserved, "call->reserved")?;
    // SAFETY: NULL, or as the caller promises.
    let (lent, mask) = unsafe { (executor::lent(call.executor)?, mask::read(call.mask)?) };

    let (input, indices, values) = (call.input(), [0, 1].map(|n| call.indices(n)), [0, 1].map(|n| call.values(n)));
    let bits = mask.as_ref().map_or(Buffer::NONE, argreduce_mask::buffer);
    let offsets = Offsets::new(call.offsets, call.offset_count, (call.offset_type, call.is_absolute))?;
    let of_segments =
        offsets.as_ref().map(|_| op.of_segments.as_ref().ok_or_else(segments::no_segments)).transpose()?;
    let bounds = offsets.as_ref().map_or(Buffer::NONE, Offsets::buffer);
    pointer::check_apart(&[input, bits, bounds], &[indices[0], indices[1], values[0], values[1]])?;
    let has_values = has_values(op, [indices, values], is_partial)?;

    let need = &match &offsets {
        Some(offsets) => op.need.of_segments(offsets.segments()),
        None => op.need,
    };
    let index_need = if is_partial { need.packed_indices } else { need.indices };
    // SAFETY: as in `execute`: those that are written share no byte with any other.
    let output = |n: usize| unsafe {
        let indices = indices[n].write(index_need)?;
        let values = if has_values { Some(values[n].write(need.values)?) } else { None };
        Ok::<UntypedOutput<'_>, Failure>(match values {
            Some(values) if is_partial => PartialBuffers { indices, values }.into(),
            values => Buffers { indices, values }.into(),
        })
    };
    // SAFETY: as above; what is read, nobody writes.
    let elements = Input::from(unsafe { input.read(need.input) }?);
    let elements = match &lent {
        Some(lent) => elements.on(lent),
        None => elements,
    };
    let given = match &mask {
        Some(mask) => {
            let layout = op.plan.input_layout().ok_or(Error::MaskMismatch { of: "an operator of DirectML" })?;
            let whole = Layout::contiguous(&[input.bytes / need.input.alignment])?;
            let layout = if offsets.is_some() { &whole } else { layout };
            // SAFETY: as above, and strides are as many as the input has axes.
            Some(unsafe { mask.given(layout) }?)
        }
        None => None,
    };
    let elements = elements.masked(given.as_ref().map(mask::Given::mask));
    if let (Some(offsets), Some(of)) = (&offsets, of_segments) {
        let outputs = match &op.plan {
            Plan::One(_) => vec![output(0)?],
            Plan::Both(_) => vec![output(0)?, output(1)?],
        };
        // SAFETY: as many as said, as the caller promises.
        return unsafe { offsets.run(of, elements, outputs) };
    }
    match &op.plan {
        Plan::One(plan) => plan.run(elements, output(0)?)?,
        Plan::Both(plan) => plan.run(elements, [output(0)?, output(1)?])?,
    }
    Ok(())
}

/// Whether values are asked for; and whether there are places for as many answers as the operator has.
fn has_values(
    op: &argreduce_operator,
    [indices, values]: [[Buffer<'_>; 2]; 2],
    is_partial: bool,
) -> Result<bool, Failure> {
    let are_left_out = values.map(|values| values.is_left_out());
    if matches!(op.plan, Plan::Both(_)) {
        if are_left_out[0] != are_left_out[1] {
            let [none, other] = if are_left_out[0] { values } else { [values[1], values[0]] };
            let rest = format!(", and {} is not: values are written of both, or of neither", other.name);
            return Err(missing(none, &rest));
        }
    } else if let Some(second) = [indices[1], values[1]].iter().find(|second| !second.is_left_out()) {
        return Err(one_answer(second));
    }
    if is_partial && are_left_out[0] && op.need.values.bytes > 0 {
        return Err(missing(values[0], ": partial answers have values"));
    }
    Ok(is_partial || !are_left_out[0])
}

#[cold]
fn missing(buffer: Buffer<'_>, rest: &str) -> Failure {
    Failure::new(ARGREDUCE_NULL_POINTER, format!("{} is NULL{rest}", buffer.name))
}

#[cold]
fn one_answer(second: &Buffer<'_>) -> Failure {
    let message = format!("{} has to be NULL, of 0 bytes: op is no argminmax, and has one answer", second.name);
    Failure::new(ARGREDUCE_UNSUPPORTED_OPERATOR, message)
}
