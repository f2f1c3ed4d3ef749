//! The executor: from the caller's slices to written indices and values, on the thread of the caller.
//!
//! A kernel answers a tile of outputs: for each, the *position* of its best element, which is the number of elements
//! that are visited before it. Positions are 32 bits wide whatever the index type, so no kernel depends on that. What
//! is left is to cut the outputs into tiles that the caches hold, and to write positions as indices and values.
//!
//! ```text
//! run(plan, input, indices, values):
//!     if there is one output of one loop:           what is below costs as much as a row of 64 elements
//!         position = kernel(the row)
//!         write start + position * step, and the element at the position
//!     else
//!         for each tile of the outputs:
//!             positions, values = kernel(input, tile)       values only if they are asked for
//!             indices of the tile = start + position * step
//!         copy outputs along the axes that are broadcast in the input
//! ```
//!
//! There are three ways to answer the outputs, and a plan takes one of them for all:
//!
//! - *Trivial*: one element per output. All positions are 0, and no kernel is called.
//! - *Split*: there are split loops (see the planner). Each tile is of partial answers, which are merged in a buffer on
//!   the stack.
//! - *By a kernel*: all else. Where the outputs are packed, the kernel writes to them: values, and positions as wide as
//!   indices of 32 or 64 bits, which are turned into indices in place. What is not packed, or has another width, the
//!   kernel writes to a buffer on the stack, from where it is copied.
//!
//! Two orders, for the smallest and the largest, go this way together: tile by tile, or on long rows by a kernel for
//! both. Partial answers do, too: they are indices and values whose places are side by side. So does an input under a
//! mask: its plan has loops over the mask, and all that knows of it is what answers a tile.
//!
//! An element goes downwards through these files:
//!
//! | file | what happens there |
//! |---|---|
//! | `search.rs` | what a call answers: plans, bound to an input |
//! | `run.rs` | one output or many; on one thread or several |
//! | `row.rs` | one contiguous row: a plain loop or a kernel, also for slices without a plan |
//! | `parallel.rs` | a call on several threads, in parts |
//! | `find.rs` | a loop over tiles, by one order or two |
//! | `split.rs` | plans with split loops: partial answers are found and merged |
//! | `windows.rs` | plans of windows that overlap |
//! | `tiles.rs` | the outputs, cut into tiles: sizes and strides alone |
//! | `masked.rs` | a tile under a mask: of what is there; and by keys |
//! | `masked_row.rs` | one contiguous row under a mask |
//! | `presence.rs` | which elements of a tile are there |
//! | `segments.rs` | segments of one slice, some at a time, in parts on threads |
//! | `scan.rs` | the best so far: lines, in place or by tiles, in parts on threads |
//! | `call.rs` | the calls of kernels: for a tile, for a row, to merge |
//! | `write.rs` | positions to indices, copies |
//! | `slices.rs` | the slices that a call writes to; indices by their width |
//! | `input.rs` | elements of a type that is known at run time, and a plan that is bound to them |
//! | `values.rs` | where values of such a type are written |
//! | `outputs.rs` | writing to a slice, also from several threads |
//!
//! Kernels read and write by pointers, and so this folder has unsafe code. Validity is in four types. Who makes one
//! says that it holds, and who has one need not say it again: [`BoundPlan`] (what the plan's loops reach may be read),
//! `KernelCall` (so may what these loops reach), [`ElementsRef`] and [`Values`] (elements of their type are there).
//! `OutputSlice` may be lent, by who says that no two tasks write to one place.

mod call;
mod find;
mod input;
mod masked;
mod masked_row;
mod outputs;
mod parallel;
mod presence;
mod row;
mod run;
mod scan;
mod search;
mod segments;
mod slices;
mod split;
mod tiles;
mod values;
mod windows;
mod write;

pub(crate) use call::{merge, merge_by_keys};
pub(crate) use input::{BoundPlan, ElementsRef};
pub(crate) use masked::CallMask;
pub(crate) use masked_row::run_masked_row;
pub(crate) use presence::are_all_there;
pub(crate) use row::{find_both_in_slice, find_in_slice, find_scalar};
pub(crate) use run::{run, run_one_output, run_packed};
pub(crate) use scan::{BoundScan, ScanAxis};
pub(crate) use search::{Search, both_kernel};
pub(crate) use segments::SegmentSearch;
pub(crate) use slices::{Indices, OutputSlices, Steps};
pub(crate) use values::Values;
