//! The fast half of [`argreduce`](https://docs.rs/argreduce): kernels that find the first best element of each of many
//! small loop nests.
//!
//! A kernel takes pointers and extents ([`KernelArgs`]) and gives, for each output of the call, the *position* of the
//! first best element, in the order in which the reduced loops visit it. It knows no tensors, no axes, no index types
//! and no direction: the facade turns all of those into loops with signed strides before it calls, and positions into
//! indices afterwards. Nothing is allocated here, and the crate is `no_std`.
//!
//! From the outside in:
//!
//! | file or folder | what it has |
//! |---|---|
//! | `dispatch.rs` | [`kernel_of`] picks a [`Kernel`] for an [`Isa`], a [`Strategy`], an element type and an order |
//! | `kernel.rs`, `strategy.rs` | how a kernel is entered; which calls a strategy takes |
//! | `float_mode.rs` | subnormals, rounding and traps as the caller's thread has them, and as comparisons need them |
//! | `rows/`, `columns/` | the strategies: one generic body each, for all ISAs, types and orders |
//! | `gather/` | copies into a small buffer, of what vectors cannot load in place |
//! | `order/` | which of two elements is better, NaN included, for each element type |
//! | `simd/` | the table of vector operations, which each ISA fills in |
//! | [`tuning`] | the numbers that depend on the CPU |
//! | `memory/`, `prefetch.rs` | what a kernel is given, and how memory is traversed and prefetched |
//! | `outputs.rs`, `positions.rs`, `values.rs` | where a kernel writes; values that it does not write by itself |
//! | `merge.rs` | partial answers: the better of two |
//! | `keys.rs` | copies of elements as what they are compared by |
//! | `scan.rs` | the best so far, along lines or across |
//! | `types.rs`, `index.rs`, `scatter.rs` | element types; from positions to indices; outputs at strides |
//!
//! The `mod.rs` of each folder explains its algorithm.
//!
//! ```
//! use argreduce_kernels::{
//!     DataType, Isa, KernelArgs, LoopDim, NanPolicy, Positions, ReduceFunction, Strategy, Tuning, WorkingSet,
//!     kernel_of,
//! };
//!
//! let rows = [[1.0_f32, 5.0, 2.0], [7.0, 0.0, 7.0]];
//! let args = KernelArgs {
//!     input: rows.as_ptr().cast(),
//!     outer: LoopDim::ONE,
//!     inner: LoopDim { size: 2, stride: 3 },
//!     reduced: &[LoopDim { size: 3, stride: 1 }],
//!     working_set: WorkingSet::L2,
//!     tuning: Tuning::current(),
//! };
//! let (isa, order) = (Isa::Portable, (ReduceFunction::ArgMax, NanPolicy::Propagate));
//! let argmax = kernel_of(DataType::F32, isa, Strategy::Rows, order.0, order.1).unwrap();
//! let mut positions = [0_u32; 2];
//! // SAFETY: every element that the loops reach lies in `rows`.
//! unsafe { argmax.run(&args, None, Positions::from(&mut positions[..]).into()) };
//! assert_eq!(positions, [1, 0]);
//! ```
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::too_many_lines)]

// First, for its macros.
#[macro_use]
mod types;

mod columns;
mod dispatch;
#[doc(hidden)]
pub mod float_mode;
mod gather;
mod index;
mod kernel;
mod keys;
mod masked;
mod memory;
mod merge;
mod names;
mod order;
mod outputs;
mod positions;
mod prefetch;
mod rows;
mod scalar;
mod scan;
mod scatter;
mod simd;
mod strategy;
pub mod tuning;
mod values;

#[doc(hidden)]
pub use columns::{PANEL_BYTES, PANEL_VECTORS};
pub use dispatch::{
    BothKernel, DistanceKernel, Isa, Kernel, both_kernel_of, distance_kernel_of, kernel_of, merger, scanner_of,
};
#[doc(hidden)]
pub use gather::SCRATCH_BYTES;
pub use index::{Affine, IndexBits, OutputWriter};
pub use keys::KeyCopier;
pub use masked::{MaskedCopier, Presence};
pub use memory::args::{KernelArgs, LoopDim, MAX_RANK};
pub use memory::mask::InputMask;
pub use memory::walk::{StridedIter, offset_at};
pub use merge::Merger;
pub use names::UnknownName;
pub use outputs::Outputs;
pub use positions::Positions;
pub use prefetch::Hint;
pub use rows::RaggedRows;
pub use scan::{MergeArgs, ScanArgs, Scanner};
pub use strategy::Strategy;
pub use tuning::{Tuning, WorkingSet};
#[doc(hidden)]
pub use types::by_name;
pub use types::{DataType, Element, NanPolicy, ReduceFunction, better, key};
