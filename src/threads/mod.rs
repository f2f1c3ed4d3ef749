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

/// What `claims.rs` counts with.
mod atomic {
    pub(super) use std::sync::atomic::{AtomicUsize, Ordering};
}

/// That each part of a call was done.
///
/// # Panics
/// If not: a task has panicked, in a [pause](Executor::pause), say, and the executor did not pass that on. What the
/// part was to find is missing, so there is no answer.
pub(crate) fn assert_done(done: usize, parts: usize) {
    assert!(done == parts, "a task has panicked, which its executor did not pass on: {done} of {parts} parts are done");
}
