//! DirectML's words for the same reductions: its descriptors, and its rules for them. What is left once those hold is an ordinary plan on
//! bytes; nothing here knows how that runs.
//!
//! The descriptors have the fields of [`DML_ARGMAX_OPERATOR_DESC`] and [`DML_BUFFER_TENSOR_DESC`], with slices for counts and pointers.
//! Where DirectML is silent, the rules of this crate hold: NaN is better than every number (or worse, by `compile_with`), no axes
//! reduce nothing, a duplicate axis is an error. In two points this is stricter than DirectML: outputs must not share a place, and what
//! lies between them is never written.
//!
//! [`DML_ARGMAX_OPERATOR_DESC`]: https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_argmax_operator_desc
//! [`DML_BUFFER_TENSOR_DESC`]: https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_buffer_tensor_desc
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

mod rule;

pub use rule::{BrokenRule, Tensor};

use crate::{
    ArgReduce, AxisDirection, DataType, Error, Isa, Layout, MAX_RANK, NanPolicy, ReduceFunction, RequiredBytes,
    UntypedPlan,
};

/// A tensor in a buffer: `DML_BUFFER_TENSOR_DESC`. Its `DimensionCount` is the number of `sizes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorDesc<'a> {
    /// The type of the elements.
    pub data_type: DataType,
    /// The extent of each dimension, at least 1. 1 to 8 dimensions.
    pub sizes: &'a [u32],
    /// From one element to the next along each dimension, in elements; `None` means packed in row-major order.
    pub strides: Option<&'a [u32]>,
    /// The size of the buffer: at least [`buffer_tensor_size`], and a multiple of 4.
    pub total_tensor_size_in_bytes: u64,
}

impl<'a> TensorDesc<'a> {
    /// Packed in row-major order, in the smallest buffer.
    pub fn packed(data_type: DataType, sizes: &'a [u32]) -> Self {
        Self::smallest(data_type, sizes, None)
    }

    /// With strides, in the smallest buffer.
    pub fn strided(data_type: DataType, sizes: &'a [u32], strides: &'a [u32]) -> Self {
        Self::smallest(data_type, sizes, Some(strides))
    }

    fn smallest(data_type: DataType, sizes: &'a [u32], strides: Option<&'a [u32]>) -> Self {
        // A tensor beyond 64 bits breaks rules, whatever its buffer's size is said to be.
        let total_tensor_size_in_bytes = buffer_tensor_size(data_type, sizes, strides).unwrap_or(0);
        TensorDesc { data_type, sizes, strides, total_tensor_size_in_bytes }
    }

    /// The rules for one tensor, and its layout.
    fn check(&self, tensor: Tensor) -> Result<Layout, Error> {
        let count = self.sizes.len();
        if !(1..=MAX_RANK).contains(&count) {
            return Err(BrokenRule::DimensionCount { tensor, count }.into());
        }
        if let Some(dimension) = self.sizes.iter().position(|&size| size == 0) {
            return Err(BrokenRule::SizeZero { tensor, dimension }.into());
        }
        let elements = self.sizes.iter().map(|&size| u128::from(size)).try_fold(1, u128::checked_mul);
        if elements.is_none_or(|elements| elements > u128::from(u32::MAX)) {
            return Err(BrokenRule::TooManyElements { tensor }.into());
        }
        if let Some(strides) = self.strides.filter(|strides| strides.len() != count) {
            return Err(BrokenRule::StrideCount { tensor, expected: count, found: strides.len() }.into());
        }
        let total = self.total_tensor_size_in_bytes;
        let required = buffer_tensor_size(self.data_type, self.sizes, self.strides);
        if required.is_none_or(|required| required > total) {
            return Err(BrokenRule::TotalTensorSizeTooSmall { tensor, total, required }.into());
        }
        if !total.is_multiple_of(4) {
            return Err(BrokenRule::TotalTensorSizeNotMultipleOf4 { tensor, total }.into());
        }
        let sizes: Vec<usize> = self.sizes.iter().map(|&size| size as usize).collect();
        match self.strides {
            None => Layout::contiguous(&sizes),
            Some(strides) => {
                let strides: Vec<isize> = strides.iter().map(|&stride| stride as isize).collect();
                Layout::strided(&sizes, &strides, 0)
            }
        }
    }
}

/// The bytes that a buffer needs for a tensor: up to its last element, rounded up to a multiple of 4, as DirectML's
/// `DMLCalcBufferTensorSize`; but computed in 64 bits, where that helper's 32 overflow. `None` beyond 64 bits.
///
/// ```
/// use argreduce::{DataType, directml::buffer_tensor_size};
/// assert_eq!(buffer_tensor_size(DataType::U8, &[3, 5], None), Some(16));
/// assert_eq!(buffer_tensor_size(DataType::F32, &[2, 2], Some(&[1 << 31, 1 << 31])), Some(4 * ((1 << 32) + 1)));
/// ```
pub fn buffer_tensor_size(data_type: DataType, sizes: &[u32], strides: Option<&[u32]>) -> Option<u64> {
    let elements = match strides {
        None => sizes.iter().try_fold(1, |count: u64, &size| count.checked_mul(size.into()))?,
        Some(strides) => {
            let reach = |(&size, &stride): (&u32, &u32)| u64::from(size.saturating_sub(1)) * u64::from(stride);
            sizes.iter().zip(strides).map(reach).try_fold(1, u64::checked_add)?
        }
    };
    elements.checked_mul(data_type.size() as u64)?.checked_next_multiple_of(4)
}

macro_rules! operator_desc {
    ($(#[$doc:meta])* $name:ident, $function:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name<'a> {
            /// Where the elements are.
            pub input_tensor: TensorDesc<'a>,
            /// Where the indices go: `INT32`, `INT64`, `UINT32` or `UINT64`, of the input's sizes, but 1 in each reduced dimension.
            pub output_tensor: TensorDesc<'a>,
            /// The dimensions to reduce, in any order.
            pub axes: &'a [u32],
            /// Which of equal elements to take.
            pub axis_direction: AxisDirection,
        }

        impl $name<'_> {
            /// Checks every rule, and decides how to run. NaN is better than every number.
            ///
            /// # Errors
            /// [`Error::DirectMl`] with the [`BrokenRule`], or an error of [`ArgReduce::plan`]: an index that does not fit the
            /// output's type, outputs that share a place.
            pub fn compile(&self) -> Result<CompiledOperator, Error> {
                self.compile_with(NanPolicy::Propagate)
            }

            /// As `compile`, with a rule for NaN.
            ///
            /// # Errors
            /// As `compile`.
            pub fn compile_with(&self, nan_policy: NanPolicy) -> Result<CompiledOperator, Error> {
                compile(
                    ReduceFunction::$function,
                    [&self.input_tensor, &self.output_tensor],
                    self.axes,
                    self.axis_direction,
                    nan_policy,
                )
            }
        }
    };
}

operator_desc! {
    /// The index of the smallest element: `DML_ARGMIN_OPERATOR_DESC`. (The module's page has an example.)
    ArgMinOperatorDesc, ArgMin
}
operator_desc! {
    /// The index of the largest element: `DML_ARGMAX_OPERATOR_DESC`. (The module's page has an example.)
    ArgMaxOperatorDesc, ArgMax
}

fn compile(
    function: ReduceFunction,
    [input, output]: [&TensorDesc<'_>; 2],
    axes: &[u32],
    direction: AxisDirection,
    nan_policy: NanPolicy,
) -> Result<CompiledOperator, Error> {
    let (input_layout, output_layout) = (input.check(Tensor::Input)?, output.check(Tensor::Output)?);
    let dimension_count = input.sizes.len();
    if output.sizes.len() != dimension_count {
        return Err(BrokenRule::DimensionCountsDiffer { input: dimension_count, output: output.sizes.len() }.into());
    }
    for (position, &axis) in axes.iter().enumerate() {
        if axis as usize >= dimension_count {
            return Err(BrokenRule::Axis { position, axis, dimension_count }.into());
        }
        if axes[..position].contains(&axis) {
            return Err(BrokenRule::DuplicateAxis { position, axis }.into());
        }
    }
    for (dimension, (&size, &found)) in input.sizes.iter().zip(output.sizes).enumerate() {
        let expected = if axes.contains(&(dimension as u32)) { 1 } else { size };
        if found != expected {
            return Err(BrokenRule::OutputSize { dimension, expected, found }.into());
        }
    }
    let data_type = output.data_type;
    if !matches!(data_type, DataType::I32 | DataType::I64 | DataType::U32 | DataType::U64) {
        return Err(BrokenRule::OutputDataType { data_type }.into());
    }
    let axes: Vec<isize> = axes.iter().map(|&axis| axis as isize).collect();
    let reduce = ArgReduce::new(function, &input_layout).axes(&axes).direction(direction).nan_policy(nan_policy);
    let plan = reduce.output_layout(&output_layout).plan_untyped(input.data_type, data_type)?;
    Ok(CompiledOperator {
        plan,
        input_bytes: input.total_tensor_size_in_bytes,
        output_bytes: output.total_tensor_size_in_bytes,
    })
}

/// An operator that is ready to run, as often as wanted, from any number of threads.
#[derive(Clone, Debug)]
pub struct CompiledOperator {
    plan: UntypedPlan,
    input_bytes: u64,
    output_bytes: u64,
}

impl CompiledOperator {
    /// Writes the indices. Buffers are as long as their `TotalTensorSizeInBytes` or longer, and aligned as their elements are.
    ///
    /// # Errors
    /// [`BrokenRule::BufferTooSmall`], [`Error::Misaligned`]; then nothing is written.
    pub fn execute(&self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.check_buffers(input, output)?;
        self.plan.run(input, output)
    }

    /// As [`CompiledOperator::execute`], and also copies the best elements themselves to `values`: packed in row-major order.
    ///
    /// # Errors
    /// As [`CompiledOperator::execute`], and [`Error::TooShort`] for `values`.
    pub fn execute_with_values(&self, input: &[u8], output: &mut [u8], values: &mut [u8]) -> Result<(), Error> {
        self.check_buffers(input, output)?;
        self.plan.run_with_values(input, output, values)
    }

    /// How many bytes the buffers need: for the tensors, their `TotalTensorSizeInBytes`.
    pub fn required_bytes(&self) -> RequiredBytes {
        let bytes = |total| usize::try_from(total).unwrap_or(usize::MAX);
        RequiredBytes { input: bytes(self.input_bytes), output: bytes(self.output_bytes), ..self.plan.required_bytes() }
    }

    /// The instruction set that was chosen.
    pub fn isa(&self) -> Isa {
        self.plan.isa()
    }

    fn check_buffers(&self, input: &[u8], output: &[u8]) -> Result<(), Error> {
        let buffers =
            [(Tensor::Input, input.len(), self.input_bytes), (Tensor::Output, output.len(), self.output_bytes)];
        for (tensor, len, total) in buffers {
            if (len as u64) < total {
                return Err(BrokenRule::BufferTooSmall { tensor, len, total }.into());
            }
        }
        Ok(())
    }
}
