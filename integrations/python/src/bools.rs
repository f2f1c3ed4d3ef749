//! Bools of other bytes than 0 and 1, as NumPy has them by a view of `uint8`. Every byte but 0 is true, and all that
//! are true are equal. Kernels compare bytes, which is the same where all of them are 0 and 1.
//!
//! Whether they are need not be looked at, mostly. It follows from what is found:
//!
//! - The largest byte is 0 or 1. So is each that was read, and what was not read lies behind a True that wins over it.
//! - The smallest is 0, which is the same for all. Or it is at index 0, and first ones win.
//!
//! Otherwise all bytes are looked at, and if there are others, a copy of zeros and ones is reduced.

use crate::interop::value_error;
use crate::output::zeros;
use crate::plans::Key;
use argreduce::{DataType, Error, ReduceFunction};
use pyo3::prelude::*;

/// What is found by `N` functions of the same elements: where it goes.
pub(crate) struct Outputs<'a, const N: usize> {
    pub(crate) functions: [ReduceFunction; N],
    pub(crate) indices: [&'a mut [u8]; N],
    /// The size of an index.
    pub(crate) width: usize,
    /// A byte for each index.
    pub(crate) values: Option<[&'a mut [u8]; N]>,
    pub(crate) select_last: bool,
}

impl<'a, const N: usize> Outputs<'a, N> {
    /// Those of a plan.
    pub(crate) fn of(
        key: &Key,
        functions: [ReduceFunction; N],
        indices: [&'a mut [u8]; N],
        values: Option<[&'a mut [u8]; N]>,
    ) -> Self {
        Outputs { functions, indices, width: key.index_type.size(), values, select_last: key.select_last }
    }
}

/// Runs a plan of bools, by `run`, which is given elements, and where to write indices and values. Values become 0 and
/// 1.
///
/// # Errors
/// What `run` gives; `MemoryError` if a copy is needed, and there is no memory for it.
pub(crate) fn run_of_any_bytes<const N: usize>(
    input: &[u8],
    outputs: Outputs<'_, N>,
    mut run: impl FnMut(&[u8], [&mut [u8]; N], [&mut [u8]; N]) -> Result<(), Error>,
) -> PyResult<()> {
    let Outputs { functions, mut indices, width, values, select_last } = outputs;
    let count = indices.first().map_or(0, |indices| indices.len() / width);
    // Of small results, they need no memory of their own.
    let mut few = [[0; 16]; N];
    let mut many = [const { Vec::new() }; N];
    let mut values = match values {
        Some(values) => values,
        None if count <= 16 => few.each_mut().map(|values| &mut values[..count]),
        None => {
            for values in &mut many {
                *values = zeros(count)?;
            }
            many.each_mut().map(Vec::as_mut_slice)
        }
    };
    let mut run = |input: &[u8], indices: &mut [&mut [u8]; N], values: &mut [&mut [u8]; N]| {
        run(input, indices.each_mut().map(|part| &mut **part), values.each_mut().map(|part| &mut **part))
            .map_err(value_error)
    };
    run(input, &mut indices, &mut values)?;
    let is_right = |n: usize| is_right(functions[n], select_last, values[n], (indices[n], width));
    if !(0..N).all(is_right) && !is_of_zeros_and_ones(input) {
        run(&copy_of(input)?, &mut indices, &mut values)?;
    }
    values.into_iter().for_each(to_zeros_and_ones);
    Ok(())
}

/// Whether the answers of a function are right, whatever the bytes are.
fn is_right(function: ReduceFunction, select_last: bool, values: &[u8], (indices, width): (&[u8], usize)) -> bool {
    if function == ReduceFunction::ArgMax {
        return is_of_zeros_and_ones(values);
    }
    let is_first = |index: &[u8]| !select_last && index.iter().all(|&byte| byte == 0);
    values.iter().zip(indices.chunks_exact(width)).all(|(&value, index)| value == 0 || is_first(index))
}

pub(crate) fn is_of_zeros_and_ones(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|bytes| bytes.iter().fold(0, |all, byte| all | byte) <= 1)
}

/// Elements of a type as kernels compare them: of bools, the bytes, or a copy of zeros and ones.
///
/// # Errors
/// `MemoryError` if there is no memory for a copy.
pub(crate) fn as_zeros_and_ones<'a>(
    data_type: DataType,
    elements: &'a [u8],
    copy: &'a mut Vec<u8>,
) -> PyResult<&'a [u8]> {
    if data_type != DataType::Bool || is_of_zeros_and_ones(elements) {
        return Ok(elements);
    }
    *copy = copy_of(elements)?;
    Ok(copy)
}

/// Zeros and ones in place of bytes.
fn copy_of(bytes: &[u8]) -> PyResult<Vec<u8>> {
    let mut copy = zeros(bytes.len())?;
    copy.copy_from_slice(bytes);
    to_zeros_and_ones(&mut copy);
    Ok(copy)
}

/// Makes every byte but 0 a 1.
pub(crate) fn to_zeros_and_ones(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = u8::from(*byte != 0);
    }
}
