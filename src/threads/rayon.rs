//! The threads of rayon.

use super::executor::Executor;
use ::rayon::{Scope, ThreadPool, current_num_threads, in_place_scope};

/// The ambient pool of the crate `rayon`: that of the thread which calls, or else the global one. A pool of your own
/// is an [`Executor`] too.
///
/// As many threads work as the pool has, the one that calls among them, whether it is the pool's or not. To stay within
/// a pool, call from within it: `pool.install(|| plan.run(input(&x).on(&Rayon), ..))`. A call returns when threads of
/// the pool have taken up each task, so that it waits while all of them are busy. Rayon allocates a little for each
/// task.
///
/// ```
/// use argreduce::{ArgReduce, Layout, Rayon, input};
/// let plan = ArgReduce::argmax(&Layout::contiguous(&[4, 100_000])?).axes(&[1]).plan::<f32, u32>()?;
/// let (x, mut indices) = (vec![1.0; 400_000], [9; 4]);
/// plan.run(input(&x).on(&Rayon), &mut indices)?;
/// assert_eq!(indices, [0; 4]);
///
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
/// plan.run(input(&x).on(&pool), &mut indices)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Rayon;

impl Executor for Rayon {
    fn width(&self) -> usize {
        current_num_threads()
    }

    fn min_task_bytes(&self) -> usize {
        2 << 20
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        in_place_scope(|scope| share(scope, tasks, task));
    }
}

/// As [`Rayon`] for the threads of this pool.
#[cfg_attr(docsrs, doc(cfg(feature = "rayon")))]
impl Executor for ThreadPool {
    fn width(&self) -> usize {
        self.current_num_threads()
    }

    fn min_task_bytes(&self) -> usize {
        Rayon.min_task_bytes()
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        self.in_place_scope(|scope| share(scope, tasks, task));
    }
}

/// The caller does a task itself. By a parallel iterator, a caller that is none of the pool's would sleep until all is
/// done: the first thread would have to wake up, and to wake the next. After a pause of a millisecond, the first one
/// has often done all tasks by then.
fn share<'scope>(scope: &Scope<'scope>, tasks: usize, task: &'scope (dyn Fn(usize) + Sync)) {
    (1..tasks).for_each(|n| scope.spawn(move |_| task(n)));
    if tasks > 0 {
        task(0);
    }
}
