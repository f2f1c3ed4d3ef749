//! Threads that a C program lends.

use super::codes::*;
use super::failure::Failure;
use super::versioned::{self, Versioned};
use ::argreduce::Executor;
use std::ffi::c_void;
use std::mem::offset_of;

/// What argreduce_executor::parallel_for calls: task(data, n) for each n below `tasks`. It never throws, longjmps or
/// unwinds.
pub type argreduce_task = unsafe extern "C" fn(data: *mut c_void, n: usize);

/// Threads that the caller lends to a call. Which of them does what, and how many there are, never changes an answer.
///
/// Later versions may have more fields at the end, as of argreduce_desc.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct argreduce_executor {
    /// sizeof(argreduce_executor), as the header has it that the program is built with.
    pub size: usize,
    /// Handed to parallel_for; may be NULL.
    pub context: *mut c_void,
    /// Calls task(data, 0), .. task(data, tasks - 1), in any order, on any threads, and returns when all have returned:
    /// not while a task runs or may still start. A task that is called twice, or not at all, is no harm.
    pub parallel_for:
        Option<unsafe extern "C" fn(context: *mut c_void, task: argreduce_task, tasks: usize, data: *mut c_void)>,
    /// How many threads may run at once, that of the caller among them.
    pub width: u32,
    /// The fewest KiB of input that are worth a task; 0 stands for 256.
    pub min_task_kib: u32,
}

// SAFETY: `repr(C)`, with `size` first; zeros are a value of each of its types, and each size ends with a field.
unsafe impl Versioned for argreduce_executor {
    const NAME: &str = "argreduce_executor";
    // By the last field of each version, so that none of them changes when there is another.
    const SIZES: &[usize] = &[offset_of!(argreduce_executor, min_task_kib) + size_of::<u32>()];
}

/// No other thread, for NULL.
///
/// # Safety
/// `executor` is NULL, or misaligned, or points to a struct of as many bytes as its `size` says; and what is in it
/// keeps its promises as long as the result is used.
pub(super) unsafe fn lent(executor: *const argreduce_executor) -> Result<Option<Lent>, Failure> {
    if executor.is_null() {
        return Ok(None);
    }
    // SAFETY: what is asked for above is what `read` asks for.
    let executor = unsafe { versioned::read(executor, "executor") }?;
    if executor.parallel_for.is_none() {
        return Err(Failure::new(ARGREDUCE_NULL_POINTER, "executor->parallel_for is NULL"));
    }
    Ok(Some(Lent(executor)))
}

/// An executor whose function is not NULL.
pub(super) struct Lent(argreduce_executor);

impl Executor for Lent {
    fn width(&self) -> usize {
        self.0.width as usize
    }

    fn min_task_bytes(&self) -> usize {
        match self.0.min_task_kib as usize {
            0 => 256 << 10,
            kib => kib.saturating_mul(1 << 10),
        }
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        unsafe extern "C" fn call(data: *mut c_void, n: usize) {
            // SAFETY: `data` is what is passed below, and the function does not return while a task runs.
            let task = unsafe { *data.cast::<&(dyn Fn(usize) + Sync)>() };
            task(n);
        }
        let Some(parallel_for) = self.0.parallel_for else { return };
        // SAFETY: as `lent` asks for, it does what the header says; the task stays where it is until it returns.
        unsafe { parallel_for(self.0.context, call, tasks, (&raw const task).cast_mut().cast()) };
    }
}
