//! The threads of the session: those that its own kernels run on. Nothing here knows of operators or tensors.

use crate::panics::FirstPanic;
use argreduce::Executor;
use ort::operator::ComputeContext;
use std::thread::available_parallelism;

/// The intra-op threads of the session that computes.
pub struct SessionThreads<'a> {
    pub context: &'a ComputeContext,
    /// How many tasks to ask for at most.
    pub width: usize,
}

/// As many tasks as the machine runs at once. The runtime does not tell how many threads the session has
/// (`intra_op_num_threads`): with fewer, each does several tasks; with one, the caller does all of them.
///
/// Asked where a session is made: a thread that calls may be pinned to one CPU, and what it sees is one.
pub fn width() -> usize {
    available_parallelism().map_or(1, usize::from)
}

impl Executor for SessionThreads<'_> {
    fn width(&self) -> usize {
        self.width
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let panics = FirstPanic::default();
        // 0 batches: as many as there are threads. After an error, the caller does what is left.
        _ = self.context.par_for(tasks, 0, |n| panics.keep(|| task(n)));
        panics.resume();
    }
}
