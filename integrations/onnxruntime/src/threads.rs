//! The threads of the session: those that its own kernels run on. Nothing here knows of operators or tensors.

use argreduce::Executor;
use ort::operator::ComputeContext;
use std::sync::LazyLock;
use std::thread::available_parallelism;

/// The intra-op threads of the session that computes.
pub struct SessionThreads<'a>(pub &'a ComputeContext);

impl Executor for SessionThreads<'_> {
    /// As many as the machine runs at once. The runtime does not tell how many threads the session has
    /// (`intra_op_num_threads`): with fewer, each does several tasks; with one, the caller does all of them.
    fn width(&self) -> usize {
        static WIDTH: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));
        *WIDTH
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        // 0 batches: as many as there are threads. After an error, the caller does what is left.
        _ = self.0.par_for(tasks, 0, task);
    }
}
