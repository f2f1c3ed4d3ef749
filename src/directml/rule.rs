//! What DirectML does not allow, and how to say so. Nothing here checks anything.

use crate::messages::error_enum;
use crate::{DataType, MAX_RANK};

/// One of an operator's two tensors. Displays the field that describes it: `InputTensor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tensor {
    /// Where the elements are.
    Input,
    /// Where the indices go.
    Output,
}

argreduce_kernels::names!(Tensor: Input = "InputTensor", Output = "OutputTensor");

error_enum! {
/// A rule of DirectML's that a descriptor, or a buffer bound to it, does not keep. The messages name fields as DirectML
/// does.
///
/// ```
/// use argreduce::directml::{ArgMinOperatorDesc, TensorDesc};
/// use argreduce::{AxisDirection, DataType};
/// let tensor = TensorDesc { total_tensor_size_in_bytes: 8, ..TensorDesc::packed(DataType::F32, &[3]) };
/// let operator = ArgMinOperatorDesc {
///     input_tensor: tensor,
///     output_tensor: TensorDesc::packed(DataType::U32, &[1]),
///     axes: &[0],
///     axis_direction: AxisDirection::Increasing,
/// };
/// let error = operator.compile().unwrap_err();
/// assert_eq!(error.to_string(), "InputTensor.TotalTensorSizeInBytes is 8: sizes and strides need at least 12");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BrokenRule(f) {
    /// A tensor has 1 to 8 dimensions.
    DimensionCount {
        /// The tensor.
        tensor: Tensor,
        /// The dimensions that it has.
        count: usize,
    } => write!(f, "{tensor}.DimensionCount is {count}: 1 to {MAX_RANK} are allowed"),
    /// Both tensors have as many dimensions.
    DimensionCountsDiffer {
        /// Those of the input.
        input: usize,
        /// Those of the output.
        output: usize,
    } => write!(f, "OutputTensor.DimensionCount is {output}: it has to be the input's, {input}"),
    /// Every size is at least 1.
    SizeZero {
        /// The tensor.
        tensor: Tensor,
        /// The dimension of size 0.
        dimension: usize,
    } => write!(f, "{tensor}.Sizes[{dimension}] is 0: it has to be at least 1"),
    /// A tensor has at most 2^32 - 1 elements.
    TooManyElements {
        /// The tensor.
        tensor: Tensor,
    } => write!(f, "{tensor}.Sizes multiply to too many elements: at most {} are allowed", u32::MAX),
    /// There is one stride per dimension.
    StrideCount {
        /// The tensor.
        tensor: Tensor,
        /// The number of dimensions.
        expected: usize,
        /// The number of strides.
        found: usize,
    } => write!(f, "{tensor}.Strides has {found} strides: one for each of {expected} dimensions is needed"),
    /// The last element lies within the buffer.
    TotalTensorSizeTooSmall {
        /// The tensor.
        tensor: Tensor,
        /// The size given.
        total: u64,
        /// The smallest size allowed, `None` where 64 bits do not hold it.
        required: Option<u64>,
    } => {
        write!(f, "{tensor}.TotalTensorSizeInBytes is {total}: sizes and strides need ")?;
        match required {
            Some(required) => write!(f, "at least {required}"),
            None => f.write_str("more than 64 bits hold"),
        }
    },
    /// The size of a buffer is a multiple of 4.
    TotalTensorSizeNotMultipleOf4 {
        /// The tensor.
        tensor: Tensor,
        /// The size given.
        total: u64,
    } => write!(f, "{tensor}.TotalTensorSizeInBytes is {total}: it has to be a multiple of 4"),
    /// The output has the input's sizes, but 1 in reduced dimensions.
    OutputSize {
        /// The dimension.
        dimension: usize,
        /// The size that it must have.
        expected: u32,
        /// The size that it has.
        found: u32,
    } => write!(f, "OutputTensor.Sizes[{dimension}] is {found}: it has to be {expected}"),
    /// Indices are `INT32`, `INT64`, `UINT32` or `UINT64`.
    OutputDataType {
        /// The type given.
        data_type: DataType,
    } => write!(f, "OutputTensor.DataType is {data_type}: i32, i64, u32 and u64 are allowed"),
    /// An axis is below `DimensionCount`.
    Axis {
        /// Its position in `Axes`.
        position: usize,
        /// The axis.
        axis: u32,
        /// The number of dimensions.
        dimension_count: usize,
    } => write!(f, "Axes[{position}] is {axis}: it has to be below the DimensionCount, {dimension_count}"),
    /// An axis is given once. (DirectML is silent; a rule of this crate.)
    DuplicateAxis {
        /// The position in `Axes` of the second of the two.
        position: usize,
        /// The axis.
        axis: u32,
    } => write!(f, "Axes[{position}] is {axis} again: an axis can be reduced only once"),
    /// A buffer is as long as `TotalTensorSizeInBytes` says, or longer.
    BufferTooSmall {
        /// The tensor.
        tensor: Tensor,
        /// Bytes in the buffer.
        len: usize,
        /// Bytes that it should have.
        total: u64,
    } => write!(f, "the buffer of {tensor} has {len} bytes: TotalTensorSizeInBytes is {total}"),
}
}
