//! The planner: from a checked layout, a set of axes and the options to loops and a kernel, an [`ExecPlan`]. It looks
//! at no element.
//!
//! First, `collapse.rs` turns any axes, strides and direction into a [`CollapsedShape`]: a few loops over the outputs,
//! and a few over what each output is chosen from. What is left of the semantics is one sentence: *the first best
//! element in the order of visiting wins*.
//!
//! ```text
//! for each axis, from the last to the first:
//!     size 1                        dropped
//!     reduced, stride 0             dropped, but counted in the index: all of its elements tie
//!     reduced, ties to the last     reversed: the last of equal elements is the first one backwards
//!     kept, stride below 0          reversed, in input and output: the order of the outputs is free
//! sort the kept axes by the stride of the input, so that memory is read in its order
//! merge neighbours that walk memory as one loop would
//! ```
//!
//! Where memory has the reduced loops in another order than the index, as in Fortran order, to visit them in the order
//! of the index would be to jump from one cache line to the next. Then `chain.rs` leaves to a kernel those loops that
//! both orders agree on. The others are *split loops* (`split.rs`): the kernel sees them as loops over outputs. What it
//! finds along them are partial answers, and the sentence above decides between those by their values and indices. So
//! are the slabs of a reduction that threads share, or that has more elements than a position counts.
//!
//! Then, `select.rs` chooses by the shape which strategy and which ISA's kernel is fastest. No answer depends on that.
//! By what the fastest loops are:
//!
//! | what is next to each other in memory | strategy |
//! |---|---|
//! | the elements of one output, many | rows |
//! | the elements of one output, in several segments of some length, or in one that no cache holds | segmented rows |
//! | outputs, a vector or more | columns |
//! | fewer outputs, and many elements of each | narrow columns: several rows per vector |
//! | little: short rows, or few outputs | gathered columns: gathered to a small buffer first |
//!
//! Under a mask, loops merge where both the input and the mask walk memory as one loop would, and the reduction is cut
//! into slabs that a cache holds.
//!
//! Of the best so far, where each element has an answer, `scan.rs` makes the loops: one along the axis, and as few as
//! there can be over lines.
//!
//! For threads that a caller lends, `division.rs` decides what is cut: the outputs, or the reduction.
//!
//! The numbers that tell "many" from "few" are constants beside their use; where CPUs differ, fields of
//! `argreduce_kernels::Tuning`. `docs/tuning.md` has the measurement behind each.

mod chain;
mod collapse;
mod division;
mod exec_plan;
mod limits;
mod nest;
mod scan;
mod select;
mod split;
mod windows;

pub(crate) use collapse::CollapsedShape;
pub(crate) use division::{Division, OutputBytes, OutputParts, PAUSE_BYTES, Parts, ReductionParts};
pub(crate) use exec_plan::ExecPlan;
pub(crate) use limits::{
    MASKED_BYTES, MAX_MASKED_LEN, MAX_MASKED_OUTPUTS, MAX_REDUCTION_LEN, MAX_SCALAR_LEN, MIN_SEGMENTED_ROW_BYTES,
    MIN_TILE_WIDTH, TILE,
};
pub(crate) use nest::{LoopNest, count};
pub(crate) use scan::{INDICES, INPUT, MASK, Places, ScanShape, VALUES};
pub(crate) use select::{PlanIsa, require_kernels, takes};
pub(crate) use windows::{WindowWay, Windows};
