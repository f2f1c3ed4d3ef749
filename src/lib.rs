//! Where is the smallest or largest element along these axes?
//!
//! ARGMIN and ARGMAX as DirectML defines them, on a CPU: over any set of axes, for thirteen element types, into seven
//! index types, with ties to the first or the last, one written rule for NaN, and strides of any sign on both sides.
//! Vector kernels are chosen at run time. The input is not copied, and running a plan allocates nothing.
//!
//! ```
//! use argreduce::{ArgReduce, Layout};
//!
//! // Class scores of 2 images: 3 classes, 2 x 2 pixels.
//! let layout = Layout::contiguous(&[2, 3, 2, 2])?;
//! let plan = ArgReduce::argmax(&layout).axes(&[1]).plan::<f32, u32>()?;
//!
//! let mut scores = [0.0; 24];
//! scores[4] = 1.0; // image 0, class 1, pixel (0, 0)
//! let mut classes = [0; 8];
//! plan.run(&scores, &mut classes)?;
//! assert_eq!(classes, [1, 0, 0, 0, 0, 0, 0, 0]);
//! # Ok::<(), argreduce::Error>(())
//! ```
//!
//! # Where to start
//!
//! | for | there is |
//! |---|---|
//! | the best of a slice | [`SliceExt`]: `xs.argmax()`, `xs.nanargmax()`, `xs.argminmax()` |
//! | one reduction of a packed tensor | [`argmin`], [`argmax`], [`argminmax`] |
//! | ties to the last, NaN ignored | [`Options`]: [`ArgReduce::options`], [`SliceExt::arg_reduce`] |
//! | a part of a tensor, axes in another order | [`Layout::select`], [`Layout::slice`], [`Layout::permute`] |
//! | a part of a larger tensor: chunks, processes, streams | [`ArgReduce::window`], [`Merge`], [`ArgReduce::stream`] |
//! | the smallest and the largest at once | [`argminmax`], [`SliceExt::argminmax`], [`PlanBoth`] |
//! | elements of which some are not there: masks, nulls | [`Mask`], in [`Input::masked`] |
//! | the best of each segment of a slice: lists, ragged arrays | [`Segments`]: [`ArgReduce::plan_segments`] |
//! | coordinates instead of one index | [`unravel`], [`Plan::unravel`] |
//! | anything else, or the same reduction many times | [`Layout`], [`ArgReduce`], [`Plan`] |
//! | types that are known at run time, bytes | [`ArgReduce::plan_untyped`], [`UntypedPlan`] |
//! | several threads for one call | [`Executor`], in [`Input::on`]; rayon's by the feature `rayon` |
//! | the best elements beside their indices, new vectors | [`Output`], [`Collect`]: `plan.collect(&x)` |
//! | DirectML's descriptors | [`directml`] |
//! | arrays of the crate `ndarray` 0.17 | the feature `ndarray`: `ArrayExt` |
//! | the rules as plain loops | [`mod@reference`] |
//!
//! # Semantics
//!
//! For each position of the kept axes, the answer is the index of the best element of the reduced sub-tensor.
//!
//! | point | rule |
//! |---|---|
//! | index | row-major over the reduced axes in ascending order of dimensions, whatever order the axes were given in |
//! | ties | the smallest index ([`AxisDirection::Increasing`]) or the largest ([`AxisDirection::Decreasing`]) wins |
//! | zeros | -0 equals +0: a tie |
//! | infinities, subnormals | ordinary values |
//! | floating-point mode | flush-to-zero, rounding and traps of the calling thread, or any other, change no answer |
//! | NaN | all are equal, and better than every number ([`NanPolicy::Propagate`]) or worse ([`NanPolicy::Ignore`]) |
//! | `bool` | `false` is less than `true` |
//! | rank | 0 to 8; reduced axes keep size 1 in the output, [`drop_axes`] drops them |
//! | no axes | `.axes(&[])`: nothing is reduced, every index is 0; to say nothing of axes is an error |
//! | masks | what is not there is left out, and counted; where nothing is, the [fill](ArgReduce::fill), or an error |
//! | empty | no outputs: success, nothing is written; outputs of no elements: an error |
//! | index type | `i32`, `i64`, `u32`, `u64`, `u8`, `u16`, `usize`; if an index might not fit, planning is an error |
//! | strides | of the input any, of the output any that keep outputs apart; what lies between outputs is not written |
//!
//! (class, value, index) is a total preorder, so the answer never depends on the instruction set, the strategy, the
//! layout in memory, or the cutting into tiles; and an index is always in range.
//!
//! The rules for indices, ties and rank are those of DirectML's `DML_ARGMAX_OPERATOR_DESC`; for NaN those of NumPy
//! (`Propagate`) and of `nanargmax` (`Ignore`, but without its exception).
//!
//! # Types of other crates
//!
//! Elements [`f16`](struct@f16) and [`bf16`] are those of the crate `half`, version 2, which are re-exported: another
//! major version of it would be one of this crate too. The arrays of the feature `ndarray` are those of the version
//! that `Cargo.toml` names, and with the feature `rayon`, a `ThreadPool` of rayon 1 is an [`Executor`]. Nothing else in
//! the interface is of another crate. (Examples use `bytemuck` to see elements as bytes: `cargo add bytemuck`, or any
//! other way.)
//!
//! # Features
//!
//! All element types are there by default, and their kernels take most of the time of a build. With
//! `default-features = false`, there are those of `u8` (masks need them), and of what is asked for:
//!
//! | feature | kernels for elements |
//! |---|---|
//! | `f32`, `f64`, `bool` | of that type |
//! | `f16` | `f16`, `bf16` |
//! | `int8` | `i8` |
//! | `int16`, `int32`, `int64` | `i16` and `u16`, and so on |
//!
//! The kernels are compiled anew where the features, the profile or the compiler's flags change, and also where the
//! features of `half`, `bytemuck` or `pulp` do, on which they are built: Cargo unites what all crates of a build ask of
//! them. (The default features of `half` are asked for here, so that `half = "2.7"` in a program changes nothing.) In a
//! workspace, say such features in one place, and build its members by one command.
//!
//! A type whose kernels were left out is an error of [`ArgReduce::plan_untyped`]. Where it is a type of the program,
//! that is not built (`cargo check` does not see it). All index types are always there. `ndarray` and `rayon` are
//! features of their own.
//!
//! # Debug builds
//!
//! In a debug build nothing is inlined, and kernels are slower than plain loops. These lines in the `Cargo.toml` of a
//! program (of its workspace, if it has one) keep them fast, and leave all else as it is:
//!
//! ```toml
//! [profile.dev.package.argreduce-kernels]
//! opt-level = 3
//! ```
//!
//! # Threads and systems
//!
//! One call runs on the thread that makes it, and on others only if they are lent to it: see [`Executor`]. A plan is
//! `Send` and `Sync`: many threads may run it at the same time, each on slices of its own. Of the system, the library
//! needs only what the standard library has. It is tested on Linux; for Windows and macOS the code was read, not run.
//!
//! # The way of the data
//!
//! Folders, in the order of a call; each opens with a page on how it works:
//!
//! | folder | what happens there |
//! |---|---|
//! | `api/` | what the caller asks for is checked and becomes a plan; a plan is run; partial answers, streams |
//! | `layout/` | sizes, strides and axes are checked, and where a part lies in the whole |
//! | `planner/` | axes collapse to few loops; their shape selects a strategy and a kernel |
//! | `threads/` | what callers lend: executors, and who does what |
//! | `exec/` | outputs are cut into tiles; a kernel finds positions; indices and values are written |
//! | `directml/` | DirectML's descriptors become plans |
//!
//! Unsafe code is in `exec/`, which calls the kernels and reads and writes for them, and in a few functions of `api/`
//! that hand it an input, but for one read in `segments.rs`: each says on what that rests. The kernels are a crate of
//! their own, `argreduce-kernels`.
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::too_many_lines)]

/// The README's programs are tests too. (One of them is for the feature.)
#[cfg(all(doctest, feature = "ndarray"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// And so are those of the pages on parts and on masks.
#[cfg(doctest)]
#[doc = include_str!("../docs/parts.md")]
struct Parts;

#[cfg(doctest)]
#[doc = include_str!("../docs/masks.md")]
struct Masks;

mod api;
pub mod directml;
mod error;
mod exec;
mod index;
mod key;
mod layout;
mod mask;
mod messages;
mod options;
mod partial;
mod planner;
pub mod reference;
mod segments;
mod threads;

#[cfg(feature = "ndarray")]
#[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
pub use api::ArrayExt;
pub use api::{ArgReduce, ArgStream, Merge, Plan, PlanBoth, RequiredBytes, SliceExt, UntypedPlan, UntypedPlanBoth};
pub use api::{Buffers, Collect, Input, Output, PartialBuffers, UntypedOutput, input};
pub use api::{Reduced, SegmentPlan, UntypedSegmentPlan};
pub use api::{argmax, argmin, argminmax};
#[doc(hidden)]
pub use argreduce_kernels::with_element_type;
#[doc(inline)]
pub use argreduce_kernels::{DataType, Element, Isa, MAX_RANK, NanPolicy, ReduceFunction, UnknownName};
pub use error::Error;
/// A 16-bit float, an element type: of the crate [`half`](https://docs.rs/half), version 2.
#[doc(no_inline)]
pub use half::{bf16, f16};
pub use index::Index;
pub use key::Key;
pub use layout::{Coordinates, Layout, drop_axes, unravel};
pub use mask::Mask;
pub use options::{AxisDirection, Options};
pub use partial::Partial;
pub use segments::{Offset, Segments};
#[cfg(feature = "rayon")]
pub use threads::Rayon;
pub use threads::{Executor, ScopedThreads, Sequential};
