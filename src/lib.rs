//! Where is the smallest or largest element along these axes?
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
#![forbid(unsafe_op_in_unsafe_fn)]
#![deny(unsafe_code)]

mod collapse;
mod error;
mod index;
mod layout;
mod overlap;
mod plan;
pub mod reference;
#[allow(unsafe_code)]
mod run;
mod slice;

pub use argreduce_kernels::{DataType, Element, Isa, MAX_RANK, NanPolicy, ReduceFunction, Strategy, UnknownName};
pub use error::Error;
pub use index::Index;
pub use layout::{Layout, drop_axes};
pub use plan::{ArgReduce, Plan};
pub use slice::{SliceExt, argmax, argmin};

use argreduce_kernels::Loop;

/// Which of equal elements to take: DirectML's `DML_AXIS_DIRECTION`, ONNX's `select_last_index`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AxisDirection {
    /// The one with the smallest index.
    #[default]
    Increasing,
    /// The one with the largest index.
    Decreasing,
}

argreduce_kernels::names!(AxisDirection: Increasing = "increasing", Decreasing = "decreasing");
