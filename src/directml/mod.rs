//! DirectML's words for the same reductions: its descriptors, and its rules for them. What is left once those hold is
//! an ordinary plan on bytes; nothing here knows how that runs.
//!
//! The descriptors have the fields of [`DML_ARGMAX_OPERATOR_DESC`][argmax] and [`DML_BUFFER_TENSOR_DESC`][tensor], with
//! slices for counts and pointers. Where DirectML is silent, the rules of this crate hold: NaN is better than every
//! number (or worse, by `compile_with`), no axes reduce nothing, a duplicate axis is an error. In two points this is
//! stricter than DirectML: outputs must not share a place, and what lies between them is never written.
//!
//! ```text
//! compile:  each tensor alone (desc.rs)       dimensions, sizes, strides, bytes -> a Layout
//!           both together (operator.rs)       axes, the output's sizes and type
//!           ArgReduce::plan_untyped           with the two layouts
//! execute:  the buffers are as long as TotalTensorSizeInBytes says; then UntypedPlan::run
//! ```
//!
//! The first rule that is broken is the error ([`BrokenRule`]), in the order above.
//!
//! [argmax]: https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_argmax_operator_desc
//! [tensor]: https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_buffer_tensor_desc
//!
//! ```
//! use argreduce::directml::{ArgMaxOperatorDesc, TensorDesc};
//! use argreduce::{AxisDirection, DataType};
//!
//! let operator = ArgMaxOperatorDesc {
//!     input_tensor: TensorDesc::packed(DataType::F32, &[1, 1, 2, 3]),
//!     output_tensor: TensorDesc::packed(DataType::U32, &[1, 1, 2, 1]),
//!     axes: &[3],
//!     axis_direction: AxisDirection::Increasing,
//! };
//! let operator = operator.compile()?;
//!
//! let (scores, mut classes) = ([1.0_f32, 5.0, 2.0, 7.0, 0.0, 7.0], [9_u32; 2]);
//! operator.execute(bytemuck::cast_slice(&scores), bytemuck::cast_slice_mut(&mut classes))?;
//! assert_eq!(classes, [1, 0]);
//! # Ok::<(), argreduce::Error>(())
//! ```

mod desc;
mod operator;

pub use crate::error::{BrokenRule, Tensor};
pub use desc::{TensorDesc, buffer_tensor_size};
pub use operator::{ArgMaxOperatorDesc, ArgMinOperatorDesc, CompiledOperator};
