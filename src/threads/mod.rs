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
