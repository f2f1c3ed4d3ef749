//! What `core.js` calls: one function that reduces, by a [`Call`] in the module's memory, and memory for what it reads.
//! Knows nothing of JavaScript's arrays.

#[cfg(feature = "loops")]
mod loops;

use argreduce::{
    ArgReduce, AxisDirection, Buffers, DataType, Error, Isa, Layout, Mask, NanPolicy, UntypedOutput, input,
};
use std::alloc::{Layout as Block, alloc, dealloc};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// The types of elements and of indices, as numbers: those of `TYPES` in `core.js`.
const TYPES: [DataType; 11] = [
    DataType::F32,
    DataType::F64,
    DataType::I8,
    DataType::U8,
    DataType::I16,
    DataType::U16,
    DataType::I32,
    DataType::U32,
    DataType::I64,
    DataType::U64,
    DataType::F16,
];

/// The alignment of all memory: that of a cache line, in which the vectors of a tile of columns lie then.
const ALIGNMENT: usize = 64;

/// A call, and its answer: 32-bit words, in the order of `CALL` in `core.js`.
#[repr(C)]
pub struct Call {
    /// 0 for the smallest, 1 for the largest, 2 for both.
    function: u32,
    data_type: u32,
    index_type: u32,
    /// Whether the last of equals wins.
    selects_last: u32,
    ignores_nan: u32,
    /// Whether values are asked for.
    has_values: u32,
    has_fill: u32,
    fill: i32,
    /// 1 for portable vectors; otherwise the best.
    isa: u32,
    input: *const u8,
    input_bytes: usize,
    /// A byte for each element, or null.
    mask: *const u8,
    mask_bytes: usize,
    rank: usize,
    sizes: [usize; MOST_AXES],
    axis_count: usize,
    axes: [isize; MOST_AXES],
    /// From here on, what the call answers: indices and values of the smallest, and of the largest; or of the one
    /// function.
    indices: [*mut u8; 2],
    values: [*mut u8; 2],
    outputs: usize,
    /// A text, or null where all went well.
    error: *mut u8,
    error_bytes: usize,
}

/// One more than there may be, so that it is the layout that says so.
const MOST_AXES: usize = 9;

/// Memory of so many bytes, or null where there is none left.
#[unsafe(no_mangle)]
pub extern "C" fn argreduce_alloc(bytes: usize) -> *mut u8 {
    match Block::from_size_align(bytes.max(1), ALIGNMENT) {
        // SAFETY: it has a byte at least.
        Ok(block) => unsafe { alloc(block) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Gives memory back.
///
/// # Safety
/// - It is null, or of [`argreduce_alloc`] with as many bytes, and not given back yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_free(memory: *mut u8, bytes: usize) {
    if !memory.is_null() {
        // SAFETY: the caller's promise: it was made for such a block, which was valid then.
        unsafe { dealloc(memory, Block::from_size_align_unchecked(bytes.max(1), ALIGNMENT)) };
    }
}

/// Answers a call: what it answers is memory of its own, to be given back; or an error is.
///
/// # Safety
/// - Nothing else points to the call. The input and the mask are as many initialised bytes, or the mask is null; and
///   nobody writes to them meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_run(call: *mut Call) {
    // SAFETY: the caller's promise.
    let (call, result) = unsafe {
        let call = &mut *call;
        let result = run(call);
        (call, result)
    };
    let Err(error) = result else { return };
    let text = error.to_string();
    call.error_bytes = text.len();
    call.error = argreduce_alloc(text.len());
    if !call.error.is_null() {
        // SAFETY: so many bytes, which nobody else has yet.
        unsafe { call.error.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    }
}

/// What is wrong with a call.
enum Refused {
    Error(Error),
    NoMemory(usize),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused::Error(error)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Error(error) => error.fmt(f),
            Refused::NoMemory(bytes) => write!(f, "there is no memory for {bytes} bytes of answers"),
        }
    }
}

/// Memory that is given back, unless it is taken.
struct Memory {
    start: *mut u8,
    bytes: usize,
}

impl Memory {
    /// Zeros.
    fn new(bytes: usize) -> Result<Memory, Refused> {
        let start = argreduce_alloc(bytes);
        if start.is_null() {
            return Err(Refused::NoMemory(bytes));
        }
        // SAFETY: so many bytes, which nobody else has.
        unsafe { start.write_bytes(0, bytes) };
        Ok(Memory { start, bytes })
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: initialised by `new`, and this value's alone.
        unsafe { from_raw_parts_mut(self.start, self.bytes) }
    }

    /// To be given back by whoever takes it.
    fn take(self) -> *mut u8 {
        std::mem::ManuallyDrop::new(self).start
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: made with as many bytes, and not taken.
        unsafe { argreduce_free(self.start, self.bytes) };
    }
}

/// # Safety
/// As for [`argreduce_run`].
unsafe fn run(call: &mut Call) -> Result<(), Refused> {
    let layout = Layout::contiguous(&call.sizes[..call.rank.min(MOST_AXES)])?;
    let (data_type, index_type) = (TYPES[call.data_type as usize], TYPES[call.index_type as usize]);
    let reduce = match call.function {
        0 => ArgReduce::argmin(&layout),
        1 => ArgReduce::argmax(&layout),
        _ => ArgReduce::argminmax(&layout),
    };
    let reduce = reduce
        .axes(&call.axes[..call.axis_count.min(MOST_AXES)])
        .direction(if call.selects_last != 0 { AxisDirection::Decreasing } else { AxisDirection::Increasing })
        .nan_policy(if call.ignores_nan != 0 { NanPolicy::Ignore } else { NanPolicy::Propagate });
    let reduce = if call.has_fill != 0 { reduce.fill(call.fill.into()) } else { reduce };
    let reduce = if call.isa == 1 { reduce.isa(Isa::Portable) } else { reduce };

    // SAFETY: the caller's promise.
    let (elements, mask) = unsafe {
        let mask = (!call.mask.is_null()).then(|| Mask::bytes(from_raw_parts(call.mask, call.mask_bytes)));
        (from_raw_parts(call.input, call.input_bytes), mask)
    };
    let elements = input(elements).masked(mask);
    let memory = |outputs: usize| -> Result<_, Refused> {
        let values = if call.has_values != 0 { Some(Memory::new(outputs * data_type.size())?) } else { None };
        Ok((Memory::new(outputs * index_type.size())?, values))
    };
    let found = if call.function > 1 {
        let plan = reduce.plan_both_untyped(data_type, index_type)?;
        let outputs = plan.each()[0].output_layout().element_count();
        let (mut min, mut max) = (memory(outputs)?, memory(outputs)?);
        plan.run(elements, [places(&mut min), places(&mut max)])?;
        (outputs, [Some(min), Some(max)])
    } else {
        let plan = reduce.plan_untyped(data_type, index_type)?;
        let outputs = plan.output_layout().element_count();
        let mut found = memory(outputs)?;
        plan.run(elements, places(&mut found))?;
        (outputs, [Some(found), None])
    };
    call.outputs = found.0;
    for (n, (indices, values)) in found.1.into_iter().flatten().enumerate() {
        (call.indices[n], call.values[n]) = (indices.take(), values.map_or(std::ptr::null_mut(), Memory::take));
    }
    Ok(())
}

fn places((indices, values): &mut (Memory, Option<Memory>)) -> UntypedOutput<'_> {
    Buffers { indices: indices.bytes(), values: values.as_mut().map(Memory::bytes) }.into()
}
