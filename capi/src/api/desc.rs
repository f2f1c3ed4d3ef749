//! The library's own description of a reduction, and its way to a plan.

use super::codes::*;
use super::failure::Failure;
use super::operator::{OfSegments, One, Plan};
use super::pointer;
use super::versioned::{self, Versioned};
use ::argreduce::{
    ArgReduce, AxisDirection, DataType, Error, Isa, Key, Layout, MAX_RANK, NanPolicy, Options, ReduceFunction,
};
use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;
use std::ops::Deref;

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

/// What to reduce and how. Zeros are the default, but the types, the input's layout and the axes have to be said.
///
/// Later versions may have more fields at the end, where zero stands for what is so without them. Programs that were
/// built with an older header go on working; fields that are newer than the library are not read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct argreduce_desc {
    /// sizeof(argreduce_desc), as the header has it that the program is built with.
    pub size: usize,
    /// ARGREDUCE_ARGMAX, ARGREDUCE_ARGMIN or ARGREDUCE_ARGMINMAX.
    pub function: u32,
    /// One of the types of elements.
    pub input_type: u32,
    /// Where the elements are.
    pub input: argreduce_layout,
    /// ARGREDUCE_INT32, ARGREDUCE_INT64, ARGREDUCE_UINT32, ARGREDUCE_UINT64, ARGREDUCE_UINT8 or ARGREDUCE_UINT16.
    pub index_type: u32,
    /// Where the indices go; all zeros for packed.
    pub output: argreduce_layout,
    /// The number of axes to reduce; ARGREDUCE_ALL_AXES, with `axes` NULL, for all of them. 0 reduces nothing, and then
    /// `axes` has to be any pointer but NULL: a description that says nothing of axes is an error.
    pub axis_count: u32,
    /// The axes to reduce, in any order; negative ones count from the end.
    pub axes: *const i64,
    /// ARGREDUCE_INCREASING or ARGREDUCE_DECREASING.
    pub axis_direction: u32,
    /// ARGREDUCE_PROPAGATE or ARGREDUCE_IGNORE.
    pub nan_policy: u32,
    /// Of a part of a larger tensor: the sizes of the whole, one for each axis. Indices are those in the whole. The
    /// sizes may multiply to more than memory holds, but not to more than 64 bits. NULL, as `start`: it is the whole.
    pub whole_sizes: *const i64,
    /// Where the part begins in the whole. A part may have reduced axes of size 0: its partial answers have indices
    /// with all bits set, and any others are an error.
    pub start: *const i64,
    /// The index of an output of which no element is there, if `has_fill` is 1. Its value has bits of 0.
    pub fill: i64,
    /// 0: an output of which no element is there is an error. 1: it gets `fill`.
    pub has_fill: u32,
    /// 0.
    pub reserved: u32,
    /// The name of the instruction set to use, as argreduce_operator_isa() gives it. NULL: the one that the environment
    /// variable ARGREDUCE_ISA names, or else the best that this machine has.
    pub isa: *const c_char,
    /// ARGREDUCE_NOT_CUMULATIVE; or for the best so far, along one axis, ARGREDUCE_CUMULATIVE or
    /// ARGREDUCE_CUMULATIVE_REVERSE. Then each element has an answer, of itself and all before it (or after it): the
    /// output has the input's sizes, and there are no partial answers.
    pub cumulative: u32,
    /// 0.
    pub reserved_2: u32,
    /// What elements are compared by: ARGREDUCE_KEY_VALUE, ARGREDUCE_KEY_MAGNITUDE or ARGREDUCE_KEY_DISTANCE. Values
    /// are the elements all the same.
    pub key: u32,
    /// Of ARGREDUCE_KEY_DISTANCE, what it is the distance to: an element of `input_type`, but NaN. It is read by
    /// argreduce_compile(), and not kept. Else NULL.
    pub key_value: *const c_void,
}

// SAFETY: `repr(C)`, with `size` first; zeros are a value of each of its types, and each size ends with a field.
unsafe impl Versioned for argreduce_desc {
    const NAME: &str = "argreduce_desc";
    // By the last field of each version, so that none of them changes when there is another.
    const SIZES: &[usize] = &[
        offset_of!(argreduce_desc, isa) + size_of::<*const c_char>(),
        offset_of!(argreduce_desc, reserved_2) + size_of::<u32>(),
        offset_of!(argreduce_desc, key_value) + size_of::<*const c_void>(),
    ];
}

/// # Safety
/// `desc` is NULL, or misaligned, or points to as many bytes as its `size` says. Pointers in there are NULL or point to
/// what their types say, arrays are as long as `rank` and `axis_count` say, `isa` ends with a NUL, and `key_value`
/// points to an element of the `input_type`.
pub(super) unsafe fn plan(desc: *const argreduce_desc) -> Result<(Plan, Option<OfSegments>), Failure> {
    // SAFETY: what is asked for above is what `read` asks for.
    let desc = unsafe { versioned::read(desc, "desc") }?;
    let function = function_or_both(desc.function, "desc->function")?;
    let direction = direction(desc.axis_direction, "desc->axis_direction")?;
    let nan_policy = nan_policy(desc.nan_policy, "desc->nan_policy")?;
    let (data_type, index_type) =
        (data_type(desc.input_type, "desc->input_type")?, data_type(desc.index_type, "desc->index_type")?);
    let has_fill = flag(desc.has_fill, "desc->has_fill")?;
    let walk = walk(desc.cumulative)?;
    check_reserved(desc.reserved, "desc->reserved")?;
    check_reserved(desc.reserved_2, "desc->reserved_2")?;
    // SAFETY: its arrays are NULL or as long as `rank`, as the caller promises.
    let input = unsafe { layout(&desc.input, "desc->input") }?;
    // SAFETY: as the caller promises; and the rank has been checked.
    let (output, whole) = unsafe { (output(&desc.output)?, window(&desc)?) };
    let reduce = function.map_or(ArgReduce::argminmax(&input), |function| ArgReduce::new(function, &input));
    // SAFETY: as the caller promises.
    let mut reduce = unsafe { axes(&desc, reduce, input.sizes().len()) }?.direction(direction).nan_policy(nan_policy);
    if let Some(output) = &output {
        reduce = reduce.output_layout(output);
    }
    if let Some([whole_sizes, start]) = &whole {
        reduce = reduce.window(whole_sizes, start);
    }
    if has_fill {
        reduce = reduce.fill(desc.fill);
    }
    reduce = match walk {
        None => reduce,
        Some(false) => reduce.cumulative(),
        Some(true) => reduce.cumulative().reverse(),
    };
    // SAFETY: as the caller promises.
    let key = unsafe { key(&desc, data_type) }?;
    reduce = reduce.by(key);
    // SAFETY: as the caller promises.
    let isa = unsafe { isa(desc.isa) }?;
    reduce = isa.map_or(reduce, |isa| reduce.isa(isa));
    let plan = match function {
        Some(_) => Plan::One(One::Own(reduce.plan_untyped(data_type, index_type)?)),
        None => Plan::Both(reduce.plan_both_untyped(data_type, index_type)?),
    };
    let is_packed = matches!((input.sizes(), input.strides(), input.offset()), ([_], [1], 0)) && desc.axis_count > 0;
    let is_whole = output.is_none() && whole.is_none() && walk.is_none();
    let of_segments = (is_packed && is_whole).then_some(OfSegments {
        function,
        options: Options::new().direction(direction).nan_policy(nan_policy).by(key),
        fill: has_fill.then_some(desc.fill),
        isa,
        data_type,
        index_type,
    });
    Ok((plan, of_segments))
}

/// # Safety
/// As [`plan`].
unsafe fn axes<'a>(desc: &argreduce_desc, reduce: ArgReduce<'a>, rank: usize) -> Result<ArgReduce<'a>, Failure> {
    let &argreduce_desc { axis_count, axes, .. } = desc;
    match (axis_count, axes.is_null()) {
        (ARGREDUCE_ALL_AXES, true) => return Ok(reduce.all_axes()),
        (ARGREDUCE_ALL_AXES, false) => {
            let message = "desc->axis_count is ARGREDUCE_ALL_AXES: then desc->axes has to be NULL";
            return Err(Failure::new(ARGREDUCE_TOO_MANY_AXES, message));
        }
        (0, true) => {
            let message = "desc->axes is NULL and desc->axis_count 0, which says nothing: list the axes to reduce; for \
                           all of them, ARGREDUCE_ALL_AXES; to reduce nothing, any pointer with a count of 0";
            return Err(Failure::new(ARGREDUCE_NULL_POINTER, message));
        }
        _ => check_axis_count(axis_count, rank, "desc->axis_count")?,
    }
    // SAFETY: NULL or as long as `axis_count`, as the caller promises; and that is at most the rank, as was checked
    // just now.
    let axes = unsafe { pointer::list(axes, axis_count, "desc->axes") }?;
    // Of 64 bits, an axis that 32 do not hold is out of range in any case.
    Ok(reduce.axes_from(axes.iter().map(|&axis| isize::try_from(axis).unwrap_or(isize::MAX))))
}

/// Of the best so far, whether that is from the end.
fn walk(cumulative: u32) -> Result<Option<bool>, Failure> {
    match cumulative {
        ARGREDUCE_NOT_CUMULATIVE => Ok(None),
        ARGREDUCE_CUMULATIVE => Ok(Some(false)),
        ARGREDUCE_CUMULATIVE_REVERSE => Ok(Some(true)),
        _ => Err(unknown(cumulative, "desc->cumulative", "0 (no), 1 (so far) and 2 (from the end)")),
    }
}

/// # Safety
/// As [`plan`]; the type is the `input_type`.
unsafe fn key(desc: &argreduce_desc, data_type: DataType) -> Result<Key, Failure> {
    let &argreduce_desc { key, key_value, .. } = desc;
    let key = match key {
        ARGREDUCE_KEY_VALUE => Key::Value,
        ARGREDUCE_KEY_MAGNITUDE => Key::Magnitude,
        ARGREDUCE_KEY_DISTANCE => {
            pointer::check(key_value.cast::<u8>(), "desc->key_value")?;
            if !key_value.addr().is_multiple_of(data_type.size()) {
                return Err(pointer::misaligned(data_type.size(), "desc->key_value"));
            }
            // SAFETY: not NULL, as was checked just now; then it points to an element, as the caller promises.
            let bytes = unsafe { std::slice::from_raw_parts(key_value.cast::<u8>(), data_type.size()) };
            return Ok(Key::distance_untyped(data_type, bytes)?);
        }
        _ => return Err(unknown(key, "desc->key", "0 (value), 1 (magnitude) and 2 (distance)")),
    };
    if !key_value.is_null() {
        let message = "desc->key_value is not NULL: it is for a desc->key of ARGREDUCE_KEY_DISTANCE alone";
        return Err(Failure::new(ARGREDUCE_UNKNOWN_VALUE, message));
    }
    Ok(key)
}

/// None, where it is packed.
///
/// # Safety
/// As [`plan`].
unsafe fn output(output: &argreduce_layout) -> Result<Option<Layout>, Failure> {
    if !output.sizes.is_null() {
        // SAFETY: as the caller promises.
        return unsafe { layout(output, "desc->output") }.map(Some);
    }
    if !output.strides.is_null() || output.offset != 0 {
        let message = "desc->output.sizes is NULL, which means packed: then strides has to be NULL, and offset 0";
        return Err(Failure::new(ARGREDUCE_NULL_POINTER, message));
    }
    Ok(None)
}

/// The sizes of the whole and the start of the part; none, where it is no part.
///
/// # Safety
/// As [`plan`]; the input's rank is one that a layout has.
unsafe fn window(desc: &argreduce_desc) -> Result<Option<[Numbers<usize>; 2]>, Failure> {
    let &argreduce_desc { whole_sizes, start, input: argreduce_layout { rank, .. }, .. } = desc;
    let only = match (whole_sizes.is_null(), start.is_null()) {
        (true, true) => return Ok(None),
        // SAFETY: as long as `rank`, as the caller promises.
        (false, false) => unsafe {
            let whole_sizes = numbers(whole_sizes, rank, "desc->whole_sizes", ARGREDUCE_SIZE)?;
            return Ok(Some([whole_sizes, numbers(start, rank, "desc->start", ARGREDUCE_WINDOW)?]));
        },
        (true, false) => ["desc->whole_sizes", "desc->start"],
        (false, true) => ["desc->start", "desc->whole_sizes"],
    };
    let message = format!("{} is NULL, and {} is not: a part has both", only[0], only[1]);
    Err(Failure::new(ARGREDUCE_NULL_POINTER, message))
}

/// None, for NULL.
///
/// # Safety
/// `name` is NULL, or points to text that ends with a NUL.
unsafe fn isa(name: *const c_char) -> Result<Option<Isa>, Failure> {
    if name.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let isa = name.parse::<Isa>();
    let message = |error| format!("desc->isa is {name:?}: {error}");
    isa.map(Some).map_err(|error| Failure::new(ARGREDUCE_ISA, message(error)))
}

/// # Safety
/// As [`plan`].
unsafe fn layout(layout: &argreduce_layout, name: &str) -> Result<Layout, Failure> {
    let &argreduce_layout { rank, sizes, strides, offset } = layout;
    if rank as usize > MAX_RANK {
        // Before anything is read by it.
        return Err(Error::RankTooHigh { rank: rank as usize }.into());
    }
    // SAFETY: NULL or as long as `rank`, as the caller promises; and that is at most 8, as was checked just now.
    let sizes: Numbers<usize> = unsafe { numbers(sizes, rank, &format!("{name}.sizes"), ARGREDUCE_SIZE) }?;
    let offset = usize::try_from(offset).map_err(|_| {
        let message = format!("{name}.offset is {offset}: 0 to {} are allowed", isize::MAX);
        Failure::new(ARGREDUCE_OFFSET, message)
    })?;
    if strides.is_null() {
        return Ok(Layout::strided(&sizes, Layout::contiguous(&sizes)?.strides(), offset)?);
    }
    // SAFETY: as of the sizes.
    let strides = unsafe { numbers(strides, rank, &format!("{name}.strides"), ARGREDUCE_STRIDE) }?;
    Ok(Layout::strided(&sizes, &strides, offset)?)
}

/// A number for each axis.
pub(super) struct Numbers<T> {
    numbers: [T; MAX_RANK],
    rank: usize,
}

impl<T> Deref for Numbers<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.numbers[..self.rank]
    }
}

/// One for each axis, each such as memory can have: `usize` for those that are not negative. `status` if one is not.
///
/// # Safety
/// `from` is null or has `rank` numbers, which are at most 8.
pub(super) unsafe fn numbers<T: Number>(
    from: *const i64,
    rank: u32,
    name: &str,
    status: argreduce_status,
) -> Result<Numbers<T>, Failure> {
    // SAFETY: what is asked for above.
    let from = unsafe { pointer::list(from, rank, name) }?;
    let mut to = Numbers { numbers: [T::default(); MAX_RANK], rank: from.len() };
    for (axis, (to, &number)) in to.numbers.iter_mut().zip(from).enumerate() {
        let message = || format!("{name}[{axis}] is {number}: {} to {} are allowed", T::LEAST, isize::MAX);
        *to = T::try_from(number).map_err(|_| Failure::new(status, message()))?;
    }
    Ok(to)
}

/// Sizes and starts, or strides.
pub(super) trait Number: Copy + Default + TryFrom<i64> {
    const LEAST: isize;
}

impl Number for usize {
    const LEAST: isize = 0;
}

impl Number for isize {
    const LEAST: isize = isize::MIN;
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

/// Whether something is so.
pub(super) fn flag(value: u32, name: &str) -> Result<bool, Failure> {
    if value <= 1 { Ok(value == 1) } else { Err(unknown(value, name, "0 (no) and 1 (yes)")) }
}

/// What a later version may give a meaning.
pub(super) fn check_reserved(value: u32, name: &str) -> Result<(), Failure> {
    if value == 0 {
        return Ok(());
    }
    Err(Failure::new(ARGREDUCE_UNKNOWN_VALUE, format!("{name} is {value}: it has to be 0")))
}

#[cold]
pub(super) fn unknown(value: u32, name: &str, allowed: &str) -> Failure {
    // Enumerations of DirectML are signed, so a negative one is shown as such.
    Failure::new(ARGREDUCE_UNKNOWN_VALUE, format!("{name} is {}: {allowed} are allowed", value as i32))
}
