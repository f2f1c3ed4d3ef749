//! Threads of the standard library, for one call.

use super::executor::Executor;
use std::thread::{Builder, scope};

/// Threads that are started for a call and end with it: for one large call now and then, where there is no pool.
///
/// To start a thread takes as long as reading a megabyte or more, and so a call is only divided if it reads tens of
/// them. If the system gives no more threads, fewer do the work.
///
/// ```
/// use argreduce::{ArgReduce, Layout, ScopedThreads, input};
/// let layout = Layout::contiguous(&[64, 10_000])?;
/// let plan = ArgReduce::argmax(&layout).axes(&[1]).plan::<f32, u32>()?;
/// let mut x = vec![0.0; 640_000];
/// x[640_000 - 1] = 1.0;
/// let mut indices = [9; 64];
/// plan.run(input(&x).on(&ScopedThreads::new(2)), &mut indices)?;
/// assert_eq!((indices[0], indices[63]), (0, 9_999));
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ScopedThreads {
    threads: usize,
}

impl ScopedThreads {
    /// So many threads, that of the caller among them.
    pub fn new(threads: usize) -> ScopedThreads {
        ScopedThreads { threads }
    }
}

impl Executor for ScopedThreads {
    fn width(&self) -> usize {
        self.threads
    }

    fn min_task_bytes(&self) -> usize {
        16 << 20
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let threads = self.threads.clamp(1, tasks.max(1));
        // Of more tasks than threads, each thread has every so many.
        let run = |first: usize| (first..tasks).step_by(threads).for_each(task);
        scope(|scope| {
            let mut left = 0;
            for first in 1..threads {
                if Builder::new().spawn_scoped(scope, move || run(first)).is_err() {
                    left = first;
                    break;
                }
            }
            run(0);
            if left > 0 {
                (left..threads).for_each(run);
            }
        });
    }
}
