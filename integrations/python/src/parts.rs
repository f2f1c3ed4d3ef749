//! Partial answers for parts of a larger tensor, and merging them.

use crate::arguments::{self, Axes};
use crate::output::{NewArray, shape_text};
use crate::reduce::{interop, value_error};
use crate::view::{Source, View, descr_of};
use argreduce::{ArgReduce, DataType, MAX_RANK};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

/// Partial answers hold indices of this type: -1 is "nothing seen yet".
const INDEX_TYPE: DataType = DataType::I64;

/// The answer for a part of a larger array, to be merged with those for other parts.
///
/// Parameters
/// ----------
/// x : array
///     The part, as in :func:`argreduce.argmax`, but of at most 8 axes. It may be empty.
/// axis : None, int or tuple of int
///     The axes to reduce.
/// start, whole : tuple of int
///     Where the part begins in the whole array, and the shape of that: a number for each axis of ``x``.
/// function : "argmax" or "argmin"
/// select_last, nan
///     As in :func:`argreduce.argmax`.
///
/// Returns
/// -------
/// Partial
///     A named tuple ``(values, indices)`` of arrays without the reduced axes. Indices (int64) are those in the whole
///     array; -1 means that nothing was seen yet.
///
/// Raises
/// ------
/// ValueError
///     The part does not fit the whole, or as in :func:`argreduce.argmax`.
///
/// Examples
/// --------
/// >>> import numpy as np, argreduce
/// >>> x = np.array([3.0, 9.0, 4.0, 9.0])
/// >>> a = argreduce.partial(x[:2], start=(0,), whole=(4,))
/// >>> b = argreduce.partial(x[2:], start=(2,), whole=(4,))
/// >>> argreduce.merge(b, a)
/// Partial(values=array(9.), indices=array(1))
#[pyfunction]
#[pyo3(signature = (x, axis=None, *, start, whole, function="argmax", select_last=false, nan="propagate"))]
pub(crate) fn partial<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    start: Vec<usize>,
    whole: Vec<usize>,
    function: &str,
    select_last: bool,
    nan: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let view = view("partial", x)?;
    let sizes = view.shape.sizes();
    let axes = Axes::new(axis, sizes.len())?;
    let layout = view.shape.layout().map_err(value_error)?;
    let plan = ArgReduce::new(arguments::function(function)?, &layout)
        .axes_from(axes.iter())
        .direction(arguments::direction(select_last))
        .nan_policy(arguments::nan_policy(nan)?)
        .window(&whole, &start)
        .plan_untyped(view.data_type, INDEX_TYPE)
        .map_err(value_error)?;
    let result_sizes = axes.result_sizes(sizes, false);
    let mut values = NewArray::new(view.value_type(py)?, &result_sizes)?;
    let mut indices = NewArray::new(descr_of(py, INDEX_TYPE)?, &result_sizes)?;
    // SAFETY: nothing here writes to the input.
    let input = unsafe { view.bytes() };
    let (value_bytes, index_bytes) = (values.bytes(), indices.bytes());
    py.detach(|| plan.run_partials(input, value_bytes, index_bytes)).map_err(value_error)?;
    let mut values = values.array.into_any();
    if view.descr.is_none() && view.data_type == DataType::Bf16 {
        // Merging would take the bits for integers.
        values = interop(py)?.call_method1(intern!(py, "bfloat16"), (values,))?;
    }
    interop(py)?.call_method1(intern!(py, "Partial"), (values, indices.array))
}

/// Merges the answers for two parts: in any order and grouping, the answer for both.
///
/// Parameters
/// ----------
/// acc, other : Partial, or any tuple (values, indices)
///     Arrays of one shape, values of one type, and indices of int64. Neither is changed.
/// function, select_last, nan
///     The same as for the parts.
///
/// Returns
/// -------
/// Partial
///     New arrays.
///
/// Raises
/// ------
/// TypeError
///     Values of two types, or indices that are not int64.
/// ValueError
///     Arrays of different shapes.
///
/// Examples
/// --------
/// >>> import numpy as np, argreduce
/// >>> a = (np.array([3.0, 5.0]), np.array([0, 7]))
/// >>> b = (np.array([4.0, 5.0]), np.array([9, 2]))
/// >>> argreduce.merge(a, b)
/// Partial(values=array([4., 5.]), indices=array([9, 2]))
#[pyfunction]
#[pyo3(signature = (acc, other, *, function="argmax", select_last=false, nan="propagate"))]
pub(crate) fn merge<'py>(
    acc: (Bound<'py, PyAny>, Bound<'py, PyAny>),
    other: (Bound<'py, PyAny>, Bound<'py, PyAny>),
    function: &str,
    select_last: bool,
    nan: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = acc.0.py();
    let merge = argreduce::Merge::new(arguments::function(function)?)
        .direction(arguments::direction(select_last))
        .nan_policy(arguments::nan_policy(nan)?);
    // The result is an array of its own.
    let [mut values, mut indices] = [copy(&acc.0)?, copy(&acc.1)?];
    let [other_values, other_indices] = [packed(&other.0)?, packed(&other.1)?];
    let [value_view, index_view] = [view("merge", &values.array)?, view("merge", &indices.array)?];
    let [other_value_view, other_index_view] = [view("merge", &other_values)?, view("merge", &other_indices)?];
    for (what, view) in [("indices of acc", &index_view), ("indices of other", &other_index_view)] {
        if view.data_type != INDEX_TYPE {
            let descr = view.value_type(py)?;
            return Err(PyTypeError::new_err(format!("{what} are of type {}: int64 is needed", descr.str()?)));
        }
    }
    if value_view.data_type != other_value_view.data_type {
        return Err(PyTypeError::new_err(format!(
            "values of acc are of type {}, and those of other of type {}",
            value_view.value_type(py)?.str()?,
            other_value_view.value_type(py)?.str()?
        )));
    }
    for (what, view) in [
        ("indices of acc", &index_view),
        ("values of other", &other_value_view),
        ("indices of other", &other_index_view),
    ] {
        if view.shape.sizes() != value_view.shape.sizes() {
            return Err(PyValueError::new_err(format!(
                "{what} have the shape {}, and values of acc {}",
                shape_text(view.shape.sizes()),
                shape_text(value_view.shape.sizes())
            )));
        }
    }
    // SAFETY: packed arrays; nothing writes to those of `other`.
    let others = unsafe { (other_value_view.bytes(), other_index_view.bytes()) };
    let accs = (values.bytes(), indices.bytes());
    py.detach(|| merge.arrays_untyped((value_view.data_type, INDEX_TYPE), accs, others)).map_err(value_error)?;
    interop(py)?.call_method1(intern!(py, "Partial"), (values.array, indices.array))
}

fn view<'py>(name: &str, x: &Bound<'py, PyAny>) -> PyResult<View<'py>> {
    match Source::new(name, x)? {
        Source::View(view) => Ok(view),
        Source::ManyAxes(array) => {
            Err(PyValueError::new_err(format!("{name} takes arrays of at most {MAX_RANK} axes, not {}", array.ndim())))
        }
    }
}

/// A packed array of the same elements, the array itself if it is one. What is masked stays so, and is refused.
fn packed<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let options = [("order", "C")].into_py_dict(x.py())?;
    x.py().import(intern!(x.py(), "numpy"))?.call_method(intern!(x.py(), "asanyarray"), (x,), Some(&options))
}

/// The same, and always another array.
fn copy<'py>(x: &Bound<'py, PyAny>) -> PyResult<NewArray<'py>> {
    let py = x.py();
    let view = view("merge", &packed(x)?)?;
    let copy = NewArray::new(view.value_type(py)?, view.shape.sizes())?;
    py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "copyto"), (&copy.array, x))?;
    Ok(copy)
}
