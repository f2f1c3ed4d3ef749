//! The library's own description of a reduction, and its way to a plan.

use super::codes::*;
use super::failure::Failure;
use super::{Plan, pointer};
use ::argreduce::{ArgReduce, AxisDirection, DataType, Error, Layout, MAX_RANK, NanPolicy, ReduceFunction};

/// Where the elements of a tensor are in a buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct argreduce_layout {
    /// The number of axes: 0 to 8.
    pub rank: u32,
    /// The extent of each axis. (Of an output, NULL means packed: the input's sizes, but 1 on each reduced axis.)
    pub sizes: *const i64,
    /// From one element to the next along each axis, in elements, of any sign; NULL means packed in row-major order.
    pub strides: *const i64,
    /// From the start of the buffer to element [0, .., 0], in elements.
    pub offset: i64,
}

/// What to reduce and how.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct argreduce_desc {
    /// ARGREDUCE_ARGMAX, ARGREDUCE_ARGMIN or ARGREDUCE_ARGMINMAX.
    pub function: u32,
    /// One of the thirteen types.
    pub input_type: u32,
    /// Where the elements are.
    pub input: argreduce_layout,
    /// ARGREDUCE_INT32, ARGREDUCE_INT64, ARGREDUCE_UINT32, ARGREDUCE_UINT64, ARGREDUCE_UINT8 or ARGREDUCE_UINT16.
    pub output_type: u32,
    /// Where the indices go; all zeros for packed.
    pub output: argreduce_layout,
    /// The number of axes to reduce; 0 reduces nothing, and then `axes` has to be any pointer but NULL.
    pub axis_count: u32,
    /// The axes to reduce, in any order; negative ones count from the end. Never NULL: a description that says nothing
    /// of axes is an error.
    pub axes: *const i64,
    /// ARGREDUCE_INCREASING or ARGREDUCE_DECREASING.
    pub axis_direction: u32,
    /// ARGREDUCE_PROPAGATE or ARGREDUCE_IGNORE.
    pub nan_policy: u32,
}

/// With the sizes of the whole and the start of the part, if it is one.
///
/// # Safety
/// Pointers are null or point to what their types say, and arrays are as long as `rank` and `axis_count` say.
pub(super) unsafe fn plan(desc: *const argreduce_desc, window: Option<[*const i64; 2]>) -> Result<Plan, Failure> {
    // SAFETY: NULL or a description, as `argreduce_compile` asks for; `get` tells NULL and misaligned ones.
    let desc = unsafe { pointer::get(desc, "desc") }?;
    let function = function_or_both(desc.function, "desc->function")?;
    let direction = direction(desc.axis_direction, "desc->axis_direction")?;
    let nan_policy = nan_policy(desc.nan_policy, "desc->nan_policy")?;
    let (data_type, index_type) =
        (data_type(desc.input_type, "desc->input_type")?, data_type(desc.output_type, "desc->output_type")?);
    // SAFETY: its arrays are NULL or as long as `rank`, as `argreduce_compile` asks for.
    let input = unsafe { layout(&desc.input, "desc->input") }?;
    check_axis_count(desc.axis_count, input.sizes().len(), "desc->axis_count")?;
    if desc.axes.is_null() && desc.axis_count == 0 {
        let message = "desc->axes is NULL and desc->axis_count 0, which says nothing: list the axes to reduce; to \
                       reduce nothing, any pointer with a count of 0";
        return Err(Failure::new(ARGREDUCE_NULL_POINTER, message));
    }
    // SAFETY: NULL or as long as `axis_count`, as `argreduce_compile` asks for; and that is at most the rank, as was
    // checked just now.
    let axes = unsafe { pointer::list(desc.axes, desc.axis_count, "desc->axes") }?;
    // Of 64 bits, an axis that 32 do not hold is out of range in any case.
    let axes: Vec<isize> = axes.iter().map(|&axis| isize::try_from(axis).unwrap_or(isize::MAX)).collect();

    let reduce = ArgReduce::new(function.unwrap_or(ReduceFunction::ArgMin), &input);
    let reduce = reduce.axes(&axes).direction(direction).nan_policy(nan_policy);
    let (whole, start);
    let reduce = if let Some([whole_sizes, window_start]) = window {
        let rank = desc.input.rank;
        // SAFETY: NULL or as long as `rank`, as `argreduce_compile_window` asks for; and that is at most 8, as `layout`
        // has checked.
        unsafe {
            whole = sizes(whole_sizes, rank, "whole_sizes", ARGREDUCE_SIZE)?;
            start = sizes(window_start, rank, "start", ARGREDUCE_WINDOW)?;
        }
        reduce.window(&whole, &start)
    } else {
        reduce
    };
    let plan = |reduce: ArgReduce<'_>| {
        Ok(match function {
            Some(_) => Plan::Own(reduce.plan_untyped(data_type, index_type)?),
            None => Plan::Both(reduce.plan_both_untyped(data_type, index_type)?),
        })
    };
    let output = &desc.output;
    if !output.sizes.is_null() {
        // SAFETY: as of the input.
        let output = unsafe { layout(output, "desc->output") }?;
        return plan(reduce.output_layout(&output));
    }
    if !output.strides.is_null() || output.offset != 0 {
        let message = "desc->output.sizes is NULL, which means packed: then strides has to be NULL, and offset 0";
        return Err(Failure::new(ARGREDUCE_NULL_POINTER, message));
    }
    plan(reduce)
}

/// # Safety
/// As [`plan`].
unsafe fn layout(layout: &argreduce_layout, name: &str) -> Result<Layout, Failure> {
    if layout.rank as usize > MAX_RANK {
        // Before anything is read by it.
        return Err(Error::RankTooHigh { rank: layout.rank as usize }.into());
    }
    // SAFETY: NULL or as long as `rank`, as `argreduce_compile` asks for; and that is at most 8, as was checked just
    // now.
    let sizes = unsafe { sizes(layout.sizes, layout.rank, &format!("{name}.sizes"), ARGREDUCE_SIZE) }?;
    let offset = usize::try_from(layout.offset).map_err(|_| {
        let message = format!("{name}.offset is {}: 0 to {} are allowed", layout.offset, isize::MAX);
        Failure::new(ARGREDUCE_OFFSET, message)
    })?;
    if layout.strides.is_null() {
        let packed = Layout::contiguous(&sizes)?;
        return Ok(Layout::strided(&sizes, packed.strides(), offset)?);
    }
    // SAFETY: as of the sizes.
    let strides = unsafe { strides(layout.strides, layout.rank, &format!("{name}.strides"), ARGREDUCE_STRIDE) }?;
    Ok(Layout::strided(&sizes, &strides, offset)?)
}

/// Numbers that are not negative, one for each axis; `status` if one is.
///
/// # Safety
/// `numbers` is null or has `rank` numbers, which are at most 8.
unsafe fn sizes(numbers: *const i64, rank: u32, name: &str, status: argreduce_status) -> Result<Vec<usize>, Failure> {
    // SAFETY: what is asked for above.
    let numbers = unsafe { pointer::list(numbers, rank, name) }?;
    let numbers = numbers.iter().enumerate().map(|(axis, &size)| {
        usize::try_from(size)
            .map_err(|_| Failure::new(status, format!("{name}[{axis}] is {size}: 0 to {} are allowed", isize::MAX)))
    });
    numbers.collect()
}

/// Numbers of any sign, one for each axis; `status` if one is beyond what memory can hold.
///
/// # Safety
/// As [`sizes`].
pub(super) unsafe fn strides(
    numbers: *const i64,
    rank: u32,
    name: &str,
    status: argreduce_status,
) -> Result<Vec<isize>, Failure> {
    // SAFETY: what is asked for above.
    let numbers = unsafe { pointer::list(numbers, rank, name) }?;
    let numbers = numbers.iter().enumerate().map(|(axis, &stride)| {
        let message = || format!("{name}[{axis}] is {stride}: that is beyond what memory can hold");
        isize::try_from(stride).map_err(|_| Failure::new(status, message()))
    });
    numbers.collect()
}

/// Before anything is read by a wild count. More axes than dimensions would repeat one anyway.
pub(super) fn check_axis_count(count: u32, rank: usize, name: &str) -> Result<(), Failure> {
    if count as usize > rank {
        let message = format!("{name} is {count}: a tensor of rank {rank} has at most {rank} axes to reduce");
        return Err(Failure::new(ARGREDUCE_TOO_MANY_AXES, message));
    }
    Ok(())
}

/// A function that DirectML has, too.
pub(crate) fn function(value: u32, name: &str) -> Result<ReduceFunction, Failure> {
    match value {
        ARGREDUCE_ARGMAX => Ok(ReduceFunction::ArgMax),
        ARGREDUCE_ARGMIN => Ok(ReduceFunction::ArgMin),
        _ => Err(unknown(value, name, "0 (argmax) and 1 (argmin)")),
    }
}

/// `None` for both.
fn function_or_both(value: u32, name: &str) -> Result<Option<ReduceFunction>, Failure> {
    let allowed = "0 (argmax), 1 (argmin) and 0x201 (argminmax)";
    match value {
        ARGREDUCE_ARGMINMAX => Ok(None),
        _ => function(value, name).map(Some).map_err(|_| unknown(value, name, allowed)),
    }
}

pub(crate) fn direction(value: u32, name: &str) -> Result<AxisDirection, Failure> {
    match value {
        ARGREDUCE_INCREASING => Ok(AxisDirection::Increasing),
        ARGREDUCE_DECREASING => Ok(AxisDirection::Decreasing),
        _ => Err(unknown(value, name, "0 (increasing) and 1 (decreasing)")),
    }
}

pub(crate) fn nan_policy(value: u32, name: &str) -> Result<NanPolicy, Failure> {
    match value {
        ARGREDUCE_PROPAGATE => Ok(NanPolicy::Propagate),
        ARGREDUCE_IGNORE => Ok(NanPolicy::Ignore),
        _ => Err(unknown(value, name, "0 (propagate) and 1 (ignore)")),
    }
}

pub(crate) fn data_type(value: u32, name: &str) -> Result<DataType, Failure> {
    Ok(match value {
        ARGREDUCE_FLOAT32 => DataType::F32,
        ARGREDUCE_FLOAT16 => DataType::F16,
        ARGREDUCE_UINT32 => DataType::U32,
        ARGREDUCE_UINT16 => DataType::U16,
        ARGREDUCE_UINT8 => DataType::U8,
        ARGREDUCE_INT32 => DataType::I32,
        ARGREDUCE_INT16 => DataType::I16,
        ARGREDUCE_INT8 => DataType::I8,
        ARGREDUCE_FLOAT64 => DataType::F64,
        ARGREDUCE_UINT64 => DataType::U64,
        ARGREDUCE_INT64 => DataType::I64,
        ARGREDUCE_BFLOAT16 => DataType::Bf16,
        ARGREDUCE_BOOL => DataType::Bool,
        _ => return Err(unknown(value, name, "1 to 11 (DML_TENSOR_DATA_TYPE), 0x101 (bfloat16) and 0x102 (bool)")),
    })
}

fn unknown(value: u32, name: &str, allowed: &str) -> Failure {
    // Enumerations of DirectML are signed, so a negative one is shown as such.
    Failure::new(ARGREDUCE_UNKNOWN_VALUE, format!("{name} is {}: {allowed} are allowed", value as i32))
}
