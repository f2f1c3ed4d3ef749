//! What callers call. A description of a reduction is checked and turned into a plan, and a plan is run. Nothing here
//! reads an element.
//!
//! ```text
//! ArgReduce (builder.rs): layout, axes, options, in any order
//!     .plan()            checks all of it; the planner collapses the shape and selects a kernel
//! Plan (plan.rs): types known when compiled
//! UntypedPlan (untyped.rs): types as values, elements as bytes
//!     .run(input, indices)      checks the lengths of the slices, then enters the executor
//! ```
//!
//! The types of elements and indices are erased as early as possible: an `ErasedPlan` is a plan without them. So there
//! is one copy of planning and of running for all types: the slices of a call know the type of their elements. (Partial
//! answers alone have one for each.)
//!
//! `masked.rs` runs plans of elements of which some are not there, and `both.rs` is a plan for both functions.
//!
//! `slice.rs`, `packed.rs` and `ndarray.rs` are shortcuts to these for slices, packed tensors and arrays. Short slices
//! go to the executor without a plan, because making one takes longer than they do.

mod both;
mod builder;
mod display;
mod erased;
mod masked;
#[cfg(feature = "ndarray")]
pub mod ndarray;
mod packed;
mod plan;
mod slice;
mod untyped;

pub(crate) use both::check_both;
pub use both::{ArgReduceBoth, PlanBoth, UntypedPlanBoth};
pub use builder::ArgReduce;
pub(crate) use builder::plan_isa;
pub(crate) use erased::ErasedPlan;
pub use packed::{arg_reduce, arg_reduce_on, arg_reduce_with_values, arg_reduce_with_values_on};
pub use packed::{argmax, argmax_masked, argmax_on, argmax_with_values, argmax_with_values_on};
pub use packed::{argmin, argmin_masked, argmin_on, argmin_with_values, argmin_with_values_on};
pub use packed::{argminmax, argminmax_on};
pub use plan::Plan;
pub(crate) use plan::{check_len, new_vec};
pub use slice::SliceExt;
pub use untyped::{RequiredBytes, UntypedPlan};
pub(crate) use untyped::{elements, elements_mut, index_elements};
