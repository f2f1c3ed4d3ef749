//! Segments of one array: a plan runs on arrays that `argreduce.segments` has made ready. Knows nothing of where they
//! are from.

use crate::arguments;
use crate::bools::as_zeros_and_ones;
use crate::interop::{descr_of, value_error};
use crate::interrupt;
use crate::keys::By;
use crate::output::{NewArray, first_of};
use crate::view::{Shape, Source};
use argreduce::{
    ArgReduce, Buffers, DataType, Error, Executor, Input, Mask, Offset, Options, ReduceFunction, Segments,
    UntypedOutput,
};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// What is asked for.
struct Asked {
    functions: &'static [ReduceFunction],
    options: Options,
    fill: Option<i64>,
    is_absolute: bool,
    data_type: DataType,
    index_type: DataType,
}

/// The indices of one function, and values, if they were asked for.
type Found<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// Answers segments of an array of one axis, packed, whose offsets are packed too. Which elements are there is said by
/// bits, from one on, or by bools.
#[pyfunction(name = "_segments")]
#[pyo3(signature = (
    name, function, x, offsets, there, bit, dtype, select_last, nan, threads, fill, absolute, has_values, key, near
))]
#[expect(clippy::too_many_arguments, reason = "called from one place")]
pub(crate) fn segments<'py>(
    name: &str,
    function: &str,
    x: &Bound<'py, PyUntypedArray>,
    offsets: &Bound<'py, PyUntypedArray>,
    there: Option<&Bound<'py, PyUntypedArray>>,
    bit: Option<usize>,
    dtype: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = arguments::truth)] select_last: bool,
    #[pyo3(from_py_with = arguments::nan)] nan: &'static str,
    threads: Option<&Bound<'py, PyAny>>,
    fill: Option<i64>,
    #[pyo3(from_py_with = arguments::truth)] absolute: bool,
    has_values: bool,
    key: Option<&Bound<'py, PyAny>>,
    near: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Found<'py>>> {
    let py = x.py();
    let (mut shape, threads, by) = (Shape::NONE, arguments::threads(threads)?, By::new(key, near)?);
    let Source::View(view) = Source::of_array(name, x.clone(), &mut shape)? else {
        return Err(PyTypeError::new_err(format!("{name}: the elements have to be of one axis")));
    };
    let options = Options::new().direction(arguments::direction(select_last)).nan_policy(arguments::nan_policy(nan));
    let asked = Asked {
        functions: match function {
            "argmax" => &[ReduceFunction::ArgMax],
            "argmin" => &[ReduceFunction::ArgMin],
            _ => &ReduceFunction::ALL,
        },
        options: options.by(by.key(name, view.data_type, false)?),
        fill,
        is_absolute: absolute,
        data_type: view.data_type,
        index_type: dtype.map(arguments::index_type).transpose()?.unwrap_or(DataType::I64),
    };
    let segments = offsets.len().saturating_sub(1);
    let mut found = Vec::new();
    for _ in asked.functions {
        let indices = NewArray::new(descr_of(py, asked.index_type)?, &[segments])?;
        let values = has_values.then(|| NewArray::new(view.value_type(py)?, &[segments])).transpose()?;
        found.push((indices, values));
    }
    // SAFETY: packed, and nothing here writes to them. Who else does meanwhile gets an unspecified answer, and offsets
    // are read once.
    let (elements, there) = unsafe { (view.bytes(name)?, there.map(|there| bytes_of(there))) };
    let mut copy = Vec::new();
    let elements = as_zeros_and_ones(asked.data_type, elements, &mut copy)?;
    let mask = there.map(|there| match bit {
        Some(bit) => Mask::bits(there, bit),
        None => Mask::bytes(there),
    });
    let mut outputs: Vec<UntypedOutput<'_>> = Vec::new();
    for (indices, values) in &mut found {
        let buffers = Buffers { indices: indices.bytes(), values: values.as_mut().map(NewArray::bytes) };
        outputs.push(buffers.into());
    }
    let (start, len) = (first_of(offsets) as usize, offsets.len());
    let offset_type = arguments::element_type(&offsets.dtype());
    let run = |executor: &dyn Executor| {
        let input = argreduce::input(elements).masked(mask).on(executor);
        // SAFETY: as above, of that type.
        unsafe {
            match offset_type {
                Some(DataType::I32) => asked.run(slice_of::<i32>(start, len), input, outputs),
                Some(DataType::U32) => asked.run(slice_of::<u32>(start, len), input, outputs),
                Some(DataType::U64) => asked.run(slice_of::<u64>(start, len), input, outputs),
                _ => asked.run(slice_of::<i64>(start, len), input, outputs),
            }
        }
        .map_err(value_error)
    };
    interrupt::run(py, elements.len().max(len * 8), &threads, run)?;
    let each = found.into_iter().map(|(indices, values)| {
        let values = values.map(|values| values.array.into_any());
        (indices.array.into_any(), values)
    });
    Ok(each.collect())
}

impl Asked {
    /// The answers of each function.
    fn run<O: Offset>(
        &self,
        offsets: &[O],
        input: Input<'_, u8>,
        outputs: Vec<UntypedOutput<'_>>,
    ) -> Result<(), Error> {
        let segments = Segments::new(offsets)?;
        for (&function, output) in self.functions.iter().zip(outputs) {
            let reduce = ArgReduce::new(function, &segments).options(self.options);
            let reduce = if self.is_absolute { reduce.absolute() } else { reduce };
            let reduce = self.fill.map_or(reduce, |fill| reduce.fill(fill));
            reduce.plan_segments_untyped(self.data_type, self.index_type)?.run(input, output)?;
        }
        Ok(())
    }
}

/// The bytes of an array.
///
/// # Safety
/// - It is packed, of elements of a byte, and is held as long as they are used.
unsafe fn bytes_of<'a>(array: &Bound<'_, PyUntypedArray>) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { slice_of(first_of(array) as usize, array.len()) }
}

/// # Safety
/// - At that address there are so many of them, aligned, if there are any, and they are held as long as they are used.
unsafe fn slice_of<'a, T>(start: usize, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(start), len) }
}
