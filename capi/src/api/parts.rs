//! Parts of a larger tensor: windows, partial answers, merging. Partial answers may lie in arrays of any strides, with
//! somebody else's memory between them: only the elements are read and written.

use super::codes::*;
use super::executor::{self, Lent, argreduce_executor};
use super::failure::{Failure, guarded};
use super::{Plan, argreduce_desc, argreduce_operator, compile, desc, pointer, two_answers};
use ::argreduce::{DataType, Executor, Input, Merge, PartialBuffers, Sequential};
use std::ffi::c_void;

/// Partial answers: a value and an index for each, at strides in bytes. Pairs of arrays and arrays of structs both fit.
/// An index with all bits set says that nothing was seen yet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct argreduce_pairs {
    /// The first value: aligned as its type.
    pub values: *mut c_void,
    /// From one value to the next, in bytes, of any sign: a multiple of the size of a value.
    pub value_stride: isize,
    /// How many bytes the values span, from the lowest to the end of the highest.
    pub value_bytes: usize,
    /// The first index: aligned as its type.
    pub indices: *mut c_void,
    /// From one index to the next, in bytes, of any sign: a multiple of the size of an index.
    pub index_stride: isize,
    /// How many bytes the indices span, from the lowest to the end of the highest.
    pub index_bytes: usize,
}

/// As argreduce_compile(), for a part of a larger tensor: of `whole_sizes`, beginning at `start`, each with one
/// number for each axis. Indices are those in the whole. The sizes of the whole may multiply to more than memory
/// holds, but not to more than 64 bits. A part may have reduced axes of size 0: then argreduce_execute_partials()
/// gives indices with all bits set, and argreduce_execute() fails.
///
/// # Safety
/// Pointers are NULL or point to what their types say, and arrays are as long as `rank` and `axis_count` say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_compile_window(
    desc: *const argreduce_desc,
    whole_sizes: *const i64,
    start: *const i64,
    out: *mut *mut argreduce_operator,
) -> argreduce_status {
    // SAFETY: what `compile` and `plan` ask for is what is asked for above.
    unsafe { compile(out, || desc::plan(desc, Some([whole_sizes, start]))) }
}

/// Writes the best element of each output and its index, to two packed arrays in row-major order, whatever the output's
/// layout: partial answers, for argreduce_merge(). `values` needs as many bytes as argreduce_operator_bytes() says, and
/// `indices` one index for each value.
///
/// # Safety
/// As argreduce_execute().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute_partials(
    op: *const argreduce_operator,
    input: *const c_void,
    input_bytes: usize,
    values: *mut c_void,
    value_bytes: usize,
    indices: *mut c_void,
    index_bytes: usize,
) -> argreduce_status {
    // SAFETY: what is asked for above is what `execute_partials_on` asks for.
    guarded(|| unsafe {
        execute_partials_on(op, &Sequential, (input, input_bytes), (values, value_bytes), (indices, index_bytes))
    })
}

/// As argreduce_execute_partials(), on the threads of an executor; if that is NULL, on the caller's alone.
///
/// # Safety
/// As argreduce_execute_on().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_execute_partials_on(
    op: *const argreduce_operator,
    executor: *const argreduce_executor,
    input: *const c_void,
    input_bytes: usize,
    values: *mut c_void,
    value_bytes: usize,
    indices: *mut c_void,
    index_bytes: usize,
) -> argreduce_status {
    // SAFETY: what is asked for above is what both ask for.
    guarded(|| unsafe {
        let lent = executor::lent(executor)?;
        let (values, indices) = ((values, value_bytes), (indices, index_bytes));
        execute_partials_on(op, Lent::or_sequential(&lent), (input, input_bytes), values, indices)
    })
}

/// # Safety
/// As argreduce_execute().
unsafe fn execute_partials_on(
    op: *const argreduce_operator,
    executor: &dyn Executor,
    (input, input_bytes): (*const c_void, usize),
    (values, value_bytes): (*mut c_void, usize),
    (indices, index_bytes): (*mut c_void, usize),
) -> Result<(), Failure> {
    let written = [("values", values.cast_const(), value_bytes), ("indices", indices.cast_const(), index_bytes)];
    pointer::check_all_apart(&[("input", input, input_bytes)], &written)?;
    // SAFETY: the buffers have as many bytes as said, which nobody else touches, as is asked for above; and
    // `check_all_apart` has found each to share none with the others, so that two of them may be `mut`.
    unsafe {
        let values = pointer::buffer_mut(values, value_bytes, "values")?;
        let indices = pointer::buffer_mut(indices, index_bytes, "indices")?;
        let input = pointer::buffer(input, input_bytes, "input")?;
        let (op, output) = (pointer::get(op, "op")?, PartialBuffers { indices, values });
        op.run(Input::from(input).on(executor), output.into(), "argreduce_execute_partials_both() takes it")
    }
}

/// Makes each of `count` partial answers of `acc` the better of itself and its counterpart in `other`, by the types,
/// the function, the direction and the rule for NaN of `op`. The order in which parts are merged changes nothing, and
/// an index with all bits set changes nothing. Bases and strides are multiples of the size of their elements. The
/// strides of `acc` are at least as long as an element; those of `other` may be 0. `acc` and `other` share no
/// element. If `count` is 0, `acc` and `other` may be NULL. An operator of ARGREDUCE_ARGMINMAX is refused: each of its
/// answers is merged by an operator of its function.
///
/// # Safety
/// `op` is NULL or compiled and not released yet; `acc` and `other` are NULL or point to what their types say; their
/// elements are there, and nobody else writes them meanwhile (nor reads those of `acc`). What lies between elements is
/// not touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn argreduce_merge(
    op: *const argreduce_operator,
    count: usize,
    acc: *const argreduce_pairs,
    other: *const argreduce_pairs,
) -> argreduce_status {
    guarded(|| {
        // SAFETY: NULL or compiled and not released yet, as is asked for above; `get` tells NULL.
        let (merge, types) = match unsafe { &pointer::get(op, "op")?.plan } {
            Plan::Own(plan) => (plan.merge(), (plan.data_type(), plan.index_type())),
            Plan::Both(_) => return Err(two_answers("merge each by an operator of its function, argmin or argmax")),
            Plan::DirectMl(operator) => (operator.merge(), (operator.data_type(), operator.index_type())),
        };
        if count == 0 {
            return Ok(());
        }
        // SAFETY: NULL or pairs, as is asked for above; `get` tells NULL.
        let (acc, other) = unsafe { (pointer::get(acc, "acc")?, pointer::get(other, "other")?) };
        let acc =
            columns(acc, types, count, ["acc->values", "acc->indices"], ["acc->value_stride", "acc->index_stride"])?;
        let others = ["other->values", "other->indices"];
        let other = columns(other, types, count, others, ["other->value_stride", "other->index_stride"])?;
        for to in &acc {
            if to.stride.unsigned_abs() < to.size {
                return Err(bad_stride(to, "has to be at least as long"));
            }
        }
        for (to, from) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            check_distinct(&acc[to], &other[from], count)?;
        }
        check_distinct(&acc[0], &acc[1], count)?;
        // SAFETY: `columns` has found that each has `count` elements at aligned places, which are there and which
        // nobody else touches, as is asked for above; and `check_distinct`, that none of `acc` is another one.
        unsafe { merge_columns(merge, types, count, acc, other) }
    })
}

/// Elements at a stride.
struct Column {
    start: *mut u8,
    stride: isize,
    size: usize,
    name: &'static str,
    stride_name: &'static str,
}

fn bad_stride(column: &Column, rule: &str) -> Failure {
    let Column { stride, size, stride_name, .. } = column;
    Failure::new(ARGREDUCE_PAIR_STRIDE, format!("{stride_name} is {stride}: for elements of {size} bytes, it {rule}"))
}

/// The values and the indices, each checked.
fn columns(
    pairs: &argreduce_pairs,
    (data_type, index_type): (DataType, DataType),
    count: usize,
    [values, indices]: [&'static str; 2],
    [value_stride, index_stride]: [&'static str; 2],
) -> Result<[Column; 2], Failure> {
    let argreduce_pairs { values: start, value_stride: stride, value_bytes: bytes, .. } = *pairs;
    let size = data_type.size();
    let values = (Column { start: start.cast(), stride, size, name: values, stride_name: value_stride }, bytes);
    let argreduce_pairs { indices: start, index_stride: stride, index_bytes: bytes, .. } = *pairs;
    let size = index_type.size();
    let indices = (Column { start: start.cast(), stride, size, name: indices, stride_name: index_stride }, bytes);
    for (column, bytes) in [&values, &indices] {
        let Column { start, stride, size, name, .. } = *column;
        if start.is_null() {
            return Err(Failure::new(ARGREDUCE_NULL_POINTER, format!("{name} is NULL")));
        }
        if !(start as usize).is_multiple_of(size) {
            let message = format!("{name} is misaligned: its address has to be a multiple of {size}");
            return Err(Failure::new(ARGREDUCE_MISALIGNED, message));
        }
        if stride % size as isize != 0 {
            return Err(bad_stride(column, "has to be a multiple of that"));
        }
        let span = (count - 1).checked_mul(stride.unsigned_abs()).and_then(|span| span.checked_add(size));
        let Some(span) = span.filter(|&span| isize::try_from(span).is_ok()) else {
            let message = format!("{name} cannot have {count} elements {stride} bytes apart: memory is not as large");
            return Err(Failure::new(ARGREDUCE_BUFFER_TOO_LARGE, message));
        };
        if *bytes < span {
            let message = format!("{name} has {bytes} bytes: {count} elements {stride} bytes apart span {span}");
            return Err(Failure::new(ARGREDUCE_BUFFER_TOO_SHORT, message));
        }
        let lowest = if stride < 0 { (start as usize).checked_sub(span - size) } else { Some(start as usize) };
        if lowest.and_then(|lowest| lowest.checked_add(span)).is_none() {
            let message = format!("{name} leads beyond what memory can hold: {count} elements {stride} bytes apart");
            return Err(Failure::new(ARGREDUCE_BUFFER_TOO_LARGE, message));
        }
    }
    Ok([values.0, indices.0])
}

/// That no element of one shares a byte with one of the other. Most columns are told apart by where they begin and end,
/// or by their strides; the elements of others are looked at one by one.
fn check_distinct(one: &Column, other: &Column, count: usize) -> Result<(), Failure> {
    let span = |column: &Column| {
        let last = column.start as i128 + (count - 1) as i128 * column.stride as i128;
        (last.min(column.start as i128), last.max(column.start as i128) + column.size as i128)
    };
    let ((start, end), (other_start, other_end)) = (span(one), span(other));
    if end <= other_start || other_end <= start {
        return Ok(());
    }
    // Modulo the greatest common divisor of the strides, elements of each are at one place.
    let (mut step, mut rest) = (one.stride.unsigned_abs(), other.stride.unsigned_abs());
    while rest != 0 {
        (step, rest) = (rest, step % rest);
    }
    let ahead = (one.start as i128 - other.start as i128).rem_euclid(step.max(1) as i128) as usize;
    if ahead >= other.size && step - ahead >= one.size {
        return Ok(());
    }
    let one_start = one.start as i128;
    let is_apart = |n: usize| other.is_apart(one_start + n as i128 * one.stride as i128, one.size, count);
    if one.stride.unsigned_abs() != other.stride.unsigned_abs() && (0..count).all(is_apart) {
        return Ok(());
    }
    let message = format!("{} and {} overlap: they must not share an element", one.name, other.name);
    Err(Failure::new(ARGREDUCE_BUFFERS_OVERLAP, message))
}

/// How many are copied to buffers at a time, where they are not packed.
const BLOCK: usize = 256;

/// # Safety
/// The columns have `count` elements, at aligned places, which nobody else touches; none of `acc` is another one.
unsafe fn merge_columns(
    merge: Merge,
    types: (DataType, DataType),
    count: usize,
    acc: [Column; 2],
    other: [Column; 2],
) -> Result<(), Failure> {
    if acc.iter().chain(&other).all(|column| column.stride == column.size as isize) {
        let of = |column: &Column| std::ptr::slice_from_raw_parts_mut(column.start, count * column.size);
        // SAFETY: they are packed, and `count`, as the caller promises; and those of `acc` are apart from all others.
        let (values, indices, others) =
            unsafe { (&mut *of(&acc[0]), &mut *of(&acc[1]), (&*of(&other[0]), &*of(&other[1]))) };
        return Ok(merge.arrays_untyped(types, (values, indices), others)?);
    }
    let mut buffers = [[0_u64; BLOCK]; 4];
    for first in (0..count).step_by(BLOCK) {
        let n = BLOCK.min(count - first);
        let [values, indices, other_values, other_indices] = buffers.each_mut().map(bytes_of);
        let columns = acc.iter().chain(&other);
        let buffers = [&mut *values, &mut *indices, &mut *other_values, &mut *other_indices];
        for (column, buffer) in columns.zip(buffers) {
            for (n, element) in buffer.chunks_exact_mut(column.size).take(n).enumerate() {
                // SAFETY: there are more than `first + n` elements, as the caller promises.
                unsafe { std::ptr::copy_nonoverlapping(column.at(first + n), element.as_mut_ptr(), column.size) };
            }
        }
        let (values, indices) = (&mut values[..n * acc[0].size], &mut indices[..n * acc[1].size]);
        let others = (&other_values[..n * other[0].size], &other_indices[..n * other[1].size]);
        merge.arrays_untyped(types, (&mut *values, &mut *indices), others)?;
        for (column, buffer) in acc.iter().zip([values, indices]) {
            for (n, element) in buffer.chunks_exact(column.size).enumerate() {
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(element.as_ptr(), column.at(first + n), column.size) };
            }
        }
    }
    Ok(())
}

impl Column {
    /// Where an element is.
    fn at(&self, n: usize) -> *mut u8 {
        self.start.wrapping_offset(n as isize * self.stride)
    }

    /// Whether none of its elements shares a byte with the `size` bytes from an address on.
    fn is_apart(&self, address: i128, size: usize, count: usize) -> bool {
        let (stride, last) = (self.stride.unsigned_abs() as i128, count as i128 - 1);
        let lowest = self.start as i128 + last * (self.stride as i128).min(0);
        // The highest that begins before the end.
        let ahead = address + size as i128 - 1 - lowest;
        let n = if stride == 0 { 0 } else { ahead.div_euclid(stride).min(last) };
        ahead < 0 || lowest + n * stride + self.size as i128 <= address
    }
}

/// The same memory as bytes.
fn bytes_of(buffer: &mut [u64; BLOCK]) -> &mut [u8] {
    let bytes = std::ptr::slice_from_raw_parts_mut(buffer.as_mut_ptr().cast::<u8>(), size_of_val(buffer));
    // SAFETY: it is all of the buffer, and bytes are aligned anywhere; any of them makes a number.
    unsafe { &mut *bytes }
}
