//! A case of `argreduce-guard` as a descriptor of this crate. The fuzz target has this file, too.

use argreduce::directml::{ArgMaxOperatorDesc, ArgMinOperatorDesc, CompiledOperator, TensorDesc};
use argreduce::{AxisDirection, DataType, Error, NanPolicy, ReduceFunction};
use argreduce_guard::directml::{Case, Tensor};

/// The type of the tensor.
pub fn data_type(tensor: &Tensor<'_>) -> DataType {
    tensor.data_type.parse().expect("a type of the library")
}

/// Compiles it, by the function, the direction and the policy.
pub fn compile(
    &Case { tensors, axes }: &Case<'_>,
    (function, axis_direction, policy): (ReduceFunction, AxisDirection, NanPolicy),
) -> Result<CompiledOperator, Error> {
    let [input_tensor, output_tensor] = tensors.map(|tensor| TensorDesc {
        data_type: data_type(&tensor),
        sizes: tensor.sizes,
        strides: tensor.strides,
        total_tensor_size_in_bytes: tensor.bytes(),
    });
    if function == ReduceFunction::ArgMin {
        ArgMinOperatorDesc { input_tensor, output_tensor, axes, axis_direction }.compile_with(policy)
    } else {
        ArgMaxOperatorDesc { input_tensor, output_tensor, axes, axis_direction }.compile_with(policy)
    }
}
