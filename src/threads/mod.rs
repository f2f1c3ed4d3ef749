//! Threads that the caller lends. The library owns none: it says what can be done at the same time, and the caller's
//! [`Executor`] does it.
//!
//! ```text
//! plan.run(input(&x).on(executor), indices):
//!     the planner divides the call into parts (planner/division.rs), for as many tasks as there are threads
//!     executor.parallel_for(tasks, task)
//!         task(n): claims parts, its own share first, then what others have left (claims.rs), and does each
//!     the caller claims and does what is left
//!     the caller merges the slabs of a reduction; copies outputs that are broadcast
//! ```
//!
//! Which thread does what changes no answer: a part is done once, whoever claims it, and writes outputs of its own.

pub(crate) mod claims;
mod executor;
#[cfg(feature = "rayon")]
mod rayon;
mod scoped;

#[cfg(feature = "rayon")]
#[cfg_attr(docsrs, doc(cfg(feature = "rayon")))]
pub use self::rayon::Rayon;
pub use executor::{Executor, Sequential};
pub use scoped::ScopedThreads;

use claims::Claims;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What `claims.rs` counts with.
mod atomic {
    pub(super) use std::sync::atomic::{AtomicUsize, Ordering};
}

/// How many tasks a call is worth that visits so many bytes: each reads as much as the executor asks for.
pub(crate) fn tasks_for(executor: &dyn Executor, bytes: usize) -> usize {
    executor.width().min(bytes / executor.min_task_bytes().max(1)).max(1)
}

/// What claims parts of a call until all are, and does each by a function that it is given.
pub(crate) type Claim<'c> = dyn Fn(&mut dyn FnMut(usize)) + 'c;

/// Does each of so many parts once: on the executor's threads, in so many tasks, and what is left then, on this one.
/// Each task is a call of `work`.
///
/// # Panics
/// If a part was not done: a task has panicked, in a [pause](Executor::pause), say, and the executor did not pass that
/// on. What the part was to find is missing, so there is no answer.
pub(crate) fn for_each_part(executor: &dyn Executor, tasks: usize, parts: usize, work: &(dyn Fn(&Claim<'_>) + Sync)) {
    let done = AtomicUsize::new(0);
    Claims::with(parts, tasks, |claims| {
        let run = |task: usize| {
            work(&|do_part| {
                claims.work(task, |part| {
                    do_part(part);
                    done.fetch_add(1, Relaxed);
                });
            });
        };
        if tasks > 1 {
            executor.parallel_for(tasks, &run);
        }
        run(0);
    });
    let done = done.into_inner();
    assert!(done == parts, "a task has panicked, which its executor did not pass on: {done} of {parts} parts are done");
}
