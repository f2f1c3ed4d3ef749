//! Merging partial answers, which may lie in arrays of any strides, with somebody else's memory between them: only the
//! elements are read and written.

use super::codes::*;
use super::failure::Failure;
use super::operator::{Plan, argreduce_operator, two_answers};
use super::pointer;
use ::argreduce::{DataType, Merge};
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

/// # Safety
/// As argreduce_merge() asks for.
pub(super) unsafe fn merge(
    op: &argreduce_operator,
    count: usize,
    acc: *const argreduce_pairs,
    other: *const argreduce_pairs,
) -> Result<(), Failure> {
    let Plan::One(plan) = &op.plan else {
        return Err(two_answers("merge each by an operator of its function, argmin or argmax"));
    };
    let (merge, types) = plan.merge();
    if count == 0 {
        return Ok(());
    }
    // SAFETY: NULL or pairs, as is asked for above; `get` tells NULL.
    let (acc, other) = unsafe { (pointer::get(acc, "acc")?, pointer::get(other, "other")?) };
    let acc =
        columns(acc, types, count, [["acc->values", "acc->value_stride"], ["acc->indices", "acc->index_stride"]])?;
    let others = [["other->values", "other->value_stride"], ["other->indices", "other->index_stride"]];
    let other = columns(other, types, count, others)?;
    for to in &acc {
        if to.stride.unsigned_abs() < to.size {
            return Err(bad_stride(to, "has to be at least as long"));
        }
    }
    for (to, from) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        check_distinct(&acc[to], &other[from], count)?;
    }
    check_distinct(&acc[0], &acc[1], count)?;
    // SAFETY: `columns` has found that each has `count` elements at aligned places, which are there and which nobody
    // else touches, as is asked for above; and `check_distinct`, that none of `acc` is another one.
    unsafe { merge_columns(merge, types, count, acc, other) }
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

/// The values and the indices, each checked; and what messages call them, and their strides.
fn columns(
    pairs: &argreduce_pairs,
    (data_type, index_type): (DataType, DataType),
    count: usize,
    [of_values, of_indices]: [[&'static str; 2]; 2],
) -> Result<[Column; 2], Failure> {
    let &argreduce_pairs { values, value_stride, value_bytes, indices, index_stride, index_bytes } = pairs;
    let values = column((values, value_stride, value_bytes), data_type.size(), count, of_values)?;
    Ok([values, column((indices, index_stride, index_bytes), index_type.size(), count, of_indices)?])
}

fn column(
    (start, stride, bytes): (*mut c_void, isize, usize),
    size: usize,
    count: usize,
    [name, stride_name]: [&'static str; 2],
) -> Result<Column, Failure> {
    let column = Column { start: start.cast(), stride, size, name, stride_name };
    if start.is_null() {
        return Err(Failure::new(ARGREDUCE_NULL_POINTER, format!("{name} is NULL")));
    }
    if !(start as usize).is_multiple_of(size) {
        return Err(pointer::misaligned(size, name));
    }
    if stride % size as isize != 0 {
        return Err(bad_stride(&column, "has to be a multiple of that"));
    }
    let span = (count - 1).checked_mul(stride.unsigned_abs()).and_then(|span| span.checked_add(size));
    let Some(span) = span.filter(|&span| isize::try_from(span).is_ok()) else {
        let message = format!("{name} cannot have {count} elements {stride} bytes apart: memory is not as large");
        return Err(Failure::new(ARGREDUCE_BUFFER_TOO_LARGE, message));
    };
    if bytes < span {
        let message = format!("{name} has {bytes} bytes: {count} elements {stride} bytes apart span {span}");
        return Err(Failure::new(ARGREDUCE_BUFFER_TOO_SHORT, message));
    }
    let lowest = if stride < 0 { (start as usize).checked_sub(span - size) } else { Some(start as usize) };
    if lowest.and_then(|lowest| lowest.checked_add(span)).is_none() {
        let message = format!("{name} leads beyond what memory can hold: {count} elements {stride} bytes apart");
        return Err(Failure::new(ARGREDUCE_BUFFER_TOO_LARGE, message));
    }
    Ok(column)
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
