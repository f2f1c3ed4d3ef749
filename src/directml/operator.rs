//! The two operators: the rules for their tensors together, and running them.

use super::desc::TensorDesc;
use crate::error::{BrokenRule, Tensor};
use crate::{ArgReduce, AxisDirection, Buffers, DataType, Error, Input, Isa, Merge, NanPolicy, PartialBuffers};
use crate::{ReduceFunction, RequiredBytes, UntypedOutput, UntypedPlan};
use std::fmt;

macro_rules! operator_desc {
    ($(#[$doc:meta])* $name:ident, $function:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name<'a> {
            /// Where the elements are.
            pub input_tensor: TensorDesc<'a>,
            /// Where the indices go: `INT32`, `INT64`, `UINT32` or `UINT64`, of the input's sizes, but 1 in each
            /// reduced dimension.
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
            /// [`Error::DirectMl`] with the [`BrokenRule`], or one of [`ArgReduce::plan_untyped`]: an index that does
            /// not fit the output's type, outputs that share a place.
            pub fn compile(&self) -> Result<CompiledOperator, Error> {
                self.compile_with(NanPolicy::Propagate)
            }

            /// As `compile`, with a rule for NaN.
            ///
            /// # Errors
            /// As `compile`.
            pub fn compile_with(&self, nan_policy: NanPolicy) -> Result<CompiledOperator, Error> {
                self.compile_part(nan_policy, None)
            }

            /// As `compile_with`, for a part of a larger tensor: of `whole` sizes, beginning at `start`. Indices are
            /// those in the whole.
            ///
            /// # Errors
            /// As `compile`, with those of a window: see [`ArgReduce::window`].
            pub fn compile_window(
                &self,
                nan_policy: NanPolicy,
                whole: &[usize],
                start: &[usize],
            ) -> Result<CompiledOperator, Error> {
                self.compile_part(nan_policy, Some((whole, start)))
            }

            fn compile_part(
                &self,
                nan_policy: NanPolicy,
                window: Option<(&[usize], &[usize])>,
            ) -> Result<CompiledOperator, Error> {
                compile(
                    ReduceFunction::$function,
                    [&self.input_tensor, &self.output_tensor],
                    self.axes,
                    self.axis_direction,
                    nan_policy,
                    window,
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
    window: Option<(&[usize], &[usize])>,
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
    let reduce = window.map_or(reduce, |(whole, start)| reduce.window(whole, start));
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
    /// Writes the indices. Buffers are as long as their `TotalTensorSizeInBytes` or longer, and aligned as their
    /// elements are.
    ///
    /// # Errors
    /// [`BrokenRule::BufferTooSmall`], [`Error::Misaligned`]; then nothing is written.
    pub fn execute(&self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.check_buffer(Tensor::Input, input)?;
        self.check_buffer(Tensor::Output, output)?;
        self.plan.run(input, output)
    }

    /// As [`UntypedPlan::run`]: to indices and values, or to partial answers, and on threads. DirectML has no masks.
    ///
    /// # Errors
    /// As [`UntypedPlan::run`], and [`BrokenRule::BufferTooSmall`] for the input, or for indices in [`Buffers`];
    /// [`Error::MaskMismatch`] for an input under a mask.
    ///
    /// ```
    /// use argreduce::directml::{ArgMaxOperatorDesc, TensorDesc};
    /// use argreduce::{AxisDirection, Buffers, DataType, Mask, Sequential, input};
    /// let operator = ArgMaxOperatorDesc {
    ///     input_tensor: TensorDesc::packed(DataType::U8, &[2, 4]),
    ///     output_tensor: TensorDesc::packed(DataType::U32, &[2, 1]),
    ///     axes: &[1],
    ///     axis_direction: AxisDirection::Increasing,
    /// };
    /// let operator = operator.compile()?;
    /// let (x, mut indices, mut values) = ([1, 5, 2, 0, 7, 0, 7, 0], [0_u32; 2], [0; 2]);
    /// let buffers = Buffers { indices: bytemuck::cast_slice_mut(&mut indices), values: Some(&mut values) };
    /// operator.run(input(&x).on(&Sequential), buffers)?;
    /// assert_eq!((indices, values), ([1, 0], [5, 7]));
    ///
    /// let masked = input(&x).masked(Mask::bits(&[1], 0));
    /// let error = operator.run(masked, bytemuck::cast_slice_mut(&mut indices)).unwrap_err();
    /// assert_eq!(error.to_string(), "an operator of DirectML takes no mask: all elements are there");
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run<'a, 'b>(
        &self,
        input: impl Into<Input<'a, u8>>,
        output: impl Into<UntypedOutput<'b>>,
    ) -> Result<(), Error> {
        let (input, output) = (input.into(), output.into());
        let (elements, is_masked) = input.bytes();
        if is_masked {
            return Err(Error::MaskMismatch { of: "an operator of DirectML" });
        }
        self.check_buffer(Tensor::Input, elements)?;
        if let UntypedOutput::Answers(Buffers { indices, .. }) = &output {
            self.check_buffer(Tensor::Output, indices)?;
        }
        self.plan.run(input, output)
    }

    /// What merges the partial answers of this operator and of those for other parts: as [`UntypedPlan::merge`].
    pub fn merge(&self) -> Merge {
        self.plan.merge()
    }

    /// As [`UntypedPlan::finish`].
    ///
    /// # Errors
    /// As [`UntypedPlan::finish`], and [`BrokenRule::BufferTooSmall`] for indices in [`Buffers`].
    pub fn finish<'a>(&self, partials: PartialBuffers<'_>, output: impl Into<UntypedOutput<'a>>) -> Result<(), Error> {
        let output = output.into();
        if let UntypedOutput::Answers(Buffers { indices, .. }) = &output {
            self.check_buffer(Tensor::Output, indices)?;
        }
        self.plan.finish(partials, output)
    }

    /// How many bytes the buffers need: for the tensors, their `TotalTensorSizeInBytes`.
    pub fn required_bytes(&self) -> RequiredBytes {
        let bytes = |total| usize::try_from(total).unwrap_or(usize::MAX);
        RequiredBytes { input: bytes(self.input_bytes), output: bytes(self.output_bytes), ..self.plan.required_bytes() }
    }

    /// The type of the elements.
    pub fn data_type(&self) -> DataType {
        self.plan.data_type()
    }

    /// The type of the indices.
    pub fn index_type(&self) -> DataType {
        self.plan.index_type()
    }

    /// The instruction set that was chosen.
    pub fn isa(&self) -> Isa {
        self.plan.isa()
    }

    fn check_buffer(&self, tensor: Tensor, buffer: &[u8]) -> Result<(), Error> {
        let total = if tensor == Tensor::Input { self.input_bytes } else { self.output_bytes };
        let len = buffer.len();
        if (len as u64) < total { Err(BrokenRule::BufferTooSmall { tensor, len, total }.into()) } else { Ok(()) }
    }
}

/// What its plan displays: see [`Plan`](crate::Plan).
impl fmt::Display for CompiledOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}
