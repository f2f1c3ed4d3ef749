//! The threads of rayon.

use super::executor::Executor;
use ::rayon::prelude::*;

/// The ambient pool of the crate `rayon`: that of the thread which calls, or else the global one.
///
/// A pool of your own is used by calling from within it, as with everything that takes rayon's threads:
///
/// ```
/// use argreduce::{ArgReduce, Layout, Rayon};
/// let plan = ArgReduce::argmax(&Layout::contiguous(&[4, 100_000])?).axes(&[1]).plan::<f32, u32>()?;
/// let (input, mut indices) = (vec![1.0; 400_000], [9; 4]);
/// plan.run_on(&Rayon, &input, &mut indices)?;
/// assert_eq!(indices, [0; 4]);
///
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
/// pool.install(|| plan.run_on(&Rayon, &input, &mut indices))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Rayon;

impl Executor for Rayon {
    fn width(&self) -> usize {
        ::rayon::current_num_threads()
    }

    fn min_task_bytes(&self) -> usize {
        2 << 20
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        // Each task apart, so that an idle thread can take it.
        (0..tasks).into_par_iter().with_max_len(1).for_each(task);
    }
}
