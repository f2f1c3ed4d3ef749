//! DirectML's descriptors as C has them, and their way to those of `argreduce::directml`. Only what cannot be said
//! there is checked here: pointers, enumerations, and two fields that it does not have.

use super::codes::*;
use super::desc::{check_axis_count, data_type, direction, function, nan_policy};
use super::failure::Failure;
use super::pointer;
use ::argreduce::directml::{ArgMaxOperatorDesc, ArgMinOperatorDesc, BrokenRule, CompiledOperator, Tensor, TensorDesc};
use ::argreduce::{AxisDirection, Error, MAX_RANK, ReduceFunction};
use std::ffi::c_void;

const DML_OPERATOR_REDUCE: i32 = 55;
const DML_OPERATOR_ARGMIN: i32 = 137;
const DML_OPERATOR_ARGMAX: i32 = 138;
const DML_TENSOR_TYPE_BUFFER: i32 = 1;
const DML_TENSOR_FLAG_NONE: i32 = 0;

/// A type and what belongs to it: DML_OPERATOR_DESC and DML_TENSOR_DESC.
#[repr(C)]
struct Typed {
    r#type: i32,
    desc: *const c_void,
}

/// DML_ARGMIN_OPERATOR_DESC and DML_ARGMAX_OPERATOR_DESC.
#[repr(C)]
struct Arg {
    reduction: Reduction,
    axis_direction: i32,
}

/// DML_REDUCE_OPERATOR_DESC.
#[repr(C)]
struct Reduce {
    function: i32,
    reduction: Reduction,
}

/// What all three have in the middle. Its size is a multiple of its alignment in all of them, so that it lies as its
/// fields do there.
#[repr(C)]
struct Reduction {
    input_tensor: *const Typed,
    output_tensor: *const Typed,
    axis_count: u32,
    axes: *const u32,
}

/// DML_BUFFER_TENSOR_DESC.
#[repr(C)]
struct Buffer {
    data_type: i32,
    flags: i32,
    dimension_count: u32,
    sizes: *const u32,
    strides: *const u32,
    total_tensor_size_in_bytes: u64,
    guaranteed_base_offset_alignment: u32,
}

/// # Safety
/// `desc` is null or points to a DML_OPERATOR_DESC. Pointers in there are null or point to what their types say, and
/// arrays are as long as DimensionCount and AxisCount say.
pub(super) unsafe fn compile(desc: *const c_void, policy: u32) -> Result<CompiledOperator, Failure> {
    // SAFETY: NULL or a DML_OPERATOR_DESC, as `argreduce_compile_directml` asks for; `get` tells NULL and misaligned
    // ones.
    let operator = unsafe { pointer::get(desc.cast::<Typed>(), "dml_operator_desc") }?;
    let policy = nan_policy(policy, "nan_policy")?;
    let (function, reduction, axis_direction) = match operator.r#type {
        r#type @ (DML_OPERATOR_ARGMIN | DML_OPERATOR_ARGMAX) => {
            // SAFETY: of these types, Desc is NULL or points to what `Arg` is, as `argreduce_compile_directml` asks
            // for.
            let arg = unsafe { pointer::get(operator.desc.cast::<Arg>(), "Desc") }?;
            let function = if r#type == DML_OPERATOR_ARGMIN { ReduceFunction::ArgMin } else { ReduceFunction::ArgMax };
            (function, &arg.reduction, direction(arg.axis_direction as u32, "AxisDirection")?)
        }
        DML_OPERATOR_REDUCE => {
            // SAFETY: of this type, Desc is NULL or points to what `Reduce` is, as `argreduce_compile_directml` asks
            // for.
            let reduce = unsafe { pointer::get(operator.desc.cast::<Reduce>(), "Desc") }?;
            let function = function(reduce.function as u32, "Function");
            let function = function.map_err(|failure| failure.with_status(ARGREDUCE_UNSUPPORTED_OPERATOR))?;
            (function, &reduce.reduction, AxisDirection::Increasing)
        }
        r#type => {
            let message = format!("Type is {type}: 55 (reduce), 137 (argmin) and 138 (argmax) are allowed");
            return Err(Failure::new(ARGREDUCE_UNSUPPORTED_OPERATOR, message));
        }
    };
    // SAFETY: NULL or a DML_TENSOR_DESC, as `argreduce_compile_directml` asks for.
    let input_tensor = unsafe { tensor(reduction.input_tensor, Tensor::Input) }?;
    // SAFETY: as above.
    let output_tensor = unsafe { tensor(reduction.output_tensor, Tensor::Output) }?;
    check_axis_count(reduction.axis_count, input_tensor.sizes.len(), "AxisCount")?;
    // SAFETY: NULL or as long as AxisCount, as `argreduce_compile_directml` asks for; and that is at most the rank, as
    // was checked just now.
    let axes = unsafe { pointer::list(reduction.axes, reduction.axis_count, "Axes") }?;
    Ok(match function {
        ReduceFunction::ArgMin => {
            ArgMinOperatorDesc { input_tensor, output_tensor, axes, axis_direction }.compile_with(policy)
        }
        ReduceFunction::ArgMax => {
            ArgMaxOperatorDesc { input_tensor, output_tensor, axes, axis_direction }.compile_with(policy)
        }
        function => {
            let message = format!("there is no DirectML operator for {function}: argmin and argmax are allowed");
            return Err(Failure::new(ARGREDUCE_UNSUPPORTED_OPERATOR, message));
        }
    }?)
}

/// # Safety
/// As [`compile`].
unsafe fn tensor<'a>(desc: *const Typed, tensor: Tensor) -> Result<TensorDesc<'a>, Failure> {
    // SAFETY: NULL or a DML_TENSOR_DESC, as the caller promises.
    let desc = unsafe { pointer::get(desc, tensor.name()) }?;
    if desc.r#type != DML_TENSOR_TYPE_BUFFER {
        let message = format!("{tensor}.Type is {}: 1 (buffer) is allowed", desc.r#type);
        return Err(Failure::new(ARGREDUCE_UNKNOWN_VALUE, message));
    }
    // SAFETY: of this type, Desc is NULL or points to what `Buffer` is, as the caller promises.
    let buffer = unsafe { pointer::get(desc.desc.cast::<Buffer>(), &format!("{tensor}.Desc")) }?;
    let data_type = data_type(buffer.data_type as u32, &format!("{tensor}.DataType"))?;
    if buffer.flags != DML_TENSOR_FLAG_NONE {
        let message = format!("{tensor}.Flags is {}: 0 (none) is allowed", buffer.flags);
        return Err(Failure::new(ARGREDUCE_TENSOR_FLAGS, message));
    }
    let alignment = buffer.guaranteed_base_offset_alignment;
    if alignment != 0 && !(alignment.is_power_of_two() && alignment as usize >= data_type.size()) {
        let message = format!(
            "{tensor}.GuaranteedBaseOffsetAlignment is {alignment}: 0, or a power of two from {} on, is allowed",
            data_type.size()
        );
        return Err(Failure::new(ARGREDUCE_BASE_OFFSET_ALIGNMENT, message));
    }
    let count = buffer.dimension_count;
    if !(1..=MAX_RANK).contains(&(count as usize)) {
        // Before anything is read by it, or compared with it.
        return Err(Error::from(BrokenRule::DimensionCount { tensor, count: count as usize }).into());
    }
    // SAFETY: NULL or as long as DimensionCount, as the caller promises; and that is at most 8, as was checked just
    // now.
    let sizes = unsafe { pointer::list(buffer.sizes, count, &format!("{tensor}.Sizes")) }?;
    let strides = if buffer.strides.is_null() {
        None
    } else {
        // SAFETY: as of the sizes.
        Some(unsafe { pointer::list(buffer.strides, count, &format!("{tensor}.Strides")) }?)
    };
    Ok(TensorDesc { data_type, sizes, strides, total_tensor_size_in_bytes: buffer.total_tensor_size_in_bytes })
}
