//! What callers call. A description of a reduction is checked and turned into a plan, and a plan is run. Nothing here
//! reads an element.
//!
//! ```text
//! ArgReduce (builder.rs): layout, axes, options, in any order
//!     .plan()            checks all of it; the planner collapses the shape and selects a kernel
//! Plan (plan.rs): types known when compiled
//! UntypedPlan (untyped.rs): types as values, elements as bytes
//!     .run(input, output)       checks the lengths of the slices, then enters the executor
//! ```
//!
//! The types of elements and indices are erased as early as possible: an `ErasedPlan` is a plan without them. So there
//! is one copy of planning and of running for all types: the slices of a call know the type of their elements. (Partial
//! answers side by side alone have one for each.)
//!
//! What a call reads is one value, an `Input`, and so is where its answers go, an `Output`. So each way to run is there
//! once, whatever is masked, lent threads, or asked for. Short slices go to the executor without a plan, because making
//! one takes longer than they do.
//!
//! | file | what it has |
//! |---|---|
//! | `description.rs`, `builder.rs` | what is asked for, and the words to say it |
//! | `erased.rs` | plans without types, and the one place that makes them |
//! | `input.rs`, `output.rs` | what a call reads, and where its answers go |
//! | `run.rs`, `partials.rs` | running: to indices and values, and to partial answers; finishing those |
//! | `plan.rs`, `both.rs`, `untyped.rs` | plans as callers see them: of one function, of both, of bytes |
//! | `segments.rs` | plans of segments, and running them |
//! | `merge.rs`, `stream.rs` | merging partial answers; chunks along one axis, one after another |
//! | `once.rs`, `slice.rs`, `ndarray.rs` | short ways, for packed tensors, slices and arrays |
//! | `isa.rs`, `lengths.rs`, `bytes.rs`, `display.rs` | ISAs; lengths; buffers of bytes; what plans display |

mod both;
mod builder;
mod bytes;
mod description;
mod display;
mod erased;
mod input;
mod isa;
mod lengths;
mod merge;
#[cfg(feature = "ndarray")]
mod ndarray;
mod once;
mod output;
mod partials;
mod plan;
mod run;
mod segments;
mod slice;
mod stream;
mod untyped;

pub use both::{PlanBoth, UntypedPlanBoth};
pub use description::{ArgReduce, Reduced};
pub use input::{Input, input};
pub use merge::Merge;
#[cfg(feature = "ndarray")]
pub use ndarray::ArrayExt;
pub use once::{argmax, argmin, argminmax};
pub use output::{Buffers, Collect, Output, PartialBuffers, UntypedOutput};
pub use plan::Plan;
pub use segments::{SegmentPlan, UntypedSegmentPlan};
pub use slice::SliceExt;
pub use stream::ArgStream;
pub use untyped::{RequiredBytes, UntypedPlan};
