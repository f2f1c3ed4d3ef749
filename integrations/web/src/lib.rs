//! What `core.js` calls: one function that reduces, by a [`Call`] in the module's memory, and memory for what it reads.
//! Knows nothing of JavaScript's arrays.

#[cfg(feature = "loops")]
mod loops;

use argreduce::{
    ArgReduce, AxisDirection, Buffers, DataType, Error, Isa, Layout, Mask, NanPolicy, UntypedOutput, UntypedPlan,
    UntypedPlanBoth, input,
};
use std::alloc::{Layout as Block, alloc, dealloc};
use std::cell::RefCell;
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
    asked: Question,
    /// Whether values are asked for.
    has_values: u32,
    input: *const u8,
    input_bytes: usize,
    /// A byte for each element, or null.
    mask: *const u8,
    mask_bytes: usize,
    /// Where indices and values are written: of the smallest, and of the largest; or of the one function. Where there
    /// is no place, the call answers one.
    indices: [*mut u8; 2],
    values: [*mut u8; 2],
    /// From here on, what the call answers.
    outputs: usize,
    /// A text, or null where all went well.
    error: *mut u8,
    error_bytes: usize,
}

/// What a plan is made of.
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
struct Question {
    /// 0 for the smallest, 1 for the largest, 2 for both.
    function: u32,
    data_type: u32,
    index_type: u32,
    /// Whether the last of equals wins.
    selects_last: u32,
    ignores_nan: u32,
    has_fill: u32,
    fill: i32,
    /// 1 for portable vectors; otherwise the best.
    isa: u32,
    rank: usize,
    sizes: [usize; MOST_AXES],
    axis_count: usize,
    axes: [isize; MOST_AXES],
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

/// Answers a call: where it was given no place for that, what it answers is memory of its own, to be given back; and so
/// is an error.
///
/// # Safety
/// - Nothing else points to the call. The input and the mask are as many initialised bytes, or the mask is null; and
///   nobody writes to them meanwhile.
/// - Each place for an answer is null, or as many initialised bytes as the answer takes, apart from all others, the
///   input and the mask.
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

/// Where an answer is written: memory of the caller's, or new memory, which is given back unless it is taken.
struct Memory {
    start: *mut u8,
    bytes: usize,
    is_new: bool,
}

impl Memory {
    /// At a place of the caller's, or if that is null, zeros.
    ///
    /// # Safety
    /// - At the place are so many initialised bytes, which nobody else reads or writes while this lives.
    unsafe fn new(place: *mut u8, bytes: usize) -> Result<Memory, Refused> {
        if !place.is_null() {
            return Ok(Memory { start: place, bytes, is_new: false });
        }
        let start = argreduce_alloc(bytes);
        if start.is_null() {
            return Err(Refused::NoMemory(bytes));
        }
        // SAFETY: so many bytes, which nobody else has.
        unsafe { start.write_bytes(0, bytes) };
        Ok(Memory { start, bytes, is_new: true })
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: initialised, and this value's alone, as `new` says.
        unsafe { from_raw_parts_mut(self.start, self.bytes) }
    }

    /// To be given back by whoever takes it.
    fn take(self) -> *mut u8 {
        std::mem::ManuallyDrop::new(self).start
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.is_new {
            // SAFETY: made with as many bytes, and not taken.
            unsafe { argreduce_free(self.start, self.bytes) };
        }
    }
}

#[derive(Clone)]
enum AnyPlan {
    One(UntypedPlan),
    Both(UntypedPlanBoth),
}

impl AnyPlan {
    fn new(asked: &Question) -> Result<AnyPlan, Error> {
        let layout = Layout::contiguous(&asked.sizes[..asked.rank.min(MOST_AXES)])?;
        let (data_type, index_type) = (TYPES[asked.data_type as usize], TYPES[asked.index_type as usize]);
        let reduce = match asked.function {
            0 => ArgReduce::argmin(&layout),
            1 => ArgReduce::argmax(&layout),
            _ => ArgReduce::argminmax(&layout),
        };
        let reduce = reduce
            .axes(&asked.axes[..asked.axis_count.min(MOST_AXES)])
            .direction(if asked.selects_last != 0 { AxisDirection::Decreasing } else { AxisDirection::Increasing })
            .nan_policy(if asked.ignores_nan != 0 { NanPolicy::Ignore } else { NanPolicy::Propagate });
        let reduce = if asked.has_fill != 0 { reduce.fill(asked.fill.into()) } else { reduce };
        let reduce = if asked.isa == 1 { reduce.isa(Isa::Portable) } else { reduce };
        Ok(match asked.function {
            0 | 1 => AnyPlan::One(reduce.plan_untyped(data_type, index_type)?),
            _ => AnyPlan::Both(reduce.plan_both_untyped(data_type, index_type)?),
        })
    }
}

thread_local! {
    /// The last plan and what it is for. Most calls of a page are like the one before, and to make a plan takes a third
    /// of a small one.
    static LAST: RefCell<Option<(Question, AnyPlan)>> = const { RefCell::new(None) };
}

/// # Safety
/// As for [`argreduce_run`].
unsafe fn run(call: &mut Call) -> Result<(), Refused> {
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(asked, _)| *asked != call.asked) {
            *last = Some((call.asked, AnyPlan::new(&call.asked)?));
        }
        let Some((_, plan)) = last else { return Ok(()) };
        // SAFETY: the caller's promise.
        unsafe { run_plan(call, plan) }
    })
}

/// # Safety
/// As for [`argreduce_run`].
unsafe fn run_plan(call: &mut Call, plan: &AnyPlan) -> Result<(), Refused> {
    let (data_type, index_type) = (TYPES[call.asked.data_type as usize], TYPES[call.asked.index_type as usize]);
    // SAFETY: the caller's promise.
    let (elements, mask) = unsafe {
        let mask = (!call.mask.is_null()).then(|| Mask::bytes(from_raw_parts(call.mask, call.mask_bytes)));
        (from_raw_parts(call.input, call.input_bytes), mask)
    };
    let elements = input(elements).masked(mask);
    let output = match plan {
        AnyPlan::One(plan) => plan.output_layout(),
        AnyPlan::Both(plan) => plan.each()[0].output_layout(),
    };
    let outputs = output.element_count();
    // SAFETY: the caller's promise.
    let memory = |n: usize| unsafe {
        let values = match call.has_values {
            0 => None,
            _ => Some(Memory::new(call.values[n], outputs * data_type.size())?),
        };
        Ok::<_, Refused>((Memory::new(call.indices[n], outputs * index_type.size())?, values))
    };
    let found = match plan {
        AnyPlan::One(plan) => {
            let mut found = memory(0)?;
            plan.run(elements, places(&mut found))?;
            [Some(found), None]
        }
        AnyPlan::Both(plan) => {
            let (mut min, mut max) = (memory(0)?, memory(1)?);
            plan.run(elements, [places(&mut min), places(&mut max)])?;
            [Some(min), Some(max)]
        }
    };
    call.outputs = outputs;
    for (n, (indices, values)) in found.into_iter().flatten().enumerate() {
        (call.indices[n], call.values[n]) = (indices.take(), values.map_or(std::ptr::null_mut(), Memory::take));
    }
    Ok(())
}

fn places((indices, values): &mut (Memory, Option<Memory>)) -> UntypedOutput<'_> {
    Buffers { indices: indices.bytes(), values: values.as_mut().map(Memory::bytes) }.into()
}
