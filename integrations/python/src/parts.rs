//! Partial answers for parts of a larger tensor, and merging them.

use crate::arguments::{self, Axes};
use crate::output::{NewArray, shape_text};
use crate::reduce::{give_back, value_error};
use crate::view::{Source, View, array_of, descr_of, interop};
use argreduce::{ArgReduce, DataType};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyTuple};

/// Partial answers hold indices of this type: -1 is "nothing seen yet".
const INDEX_TYPE: DataType = DataType::I64;

/// The answer for a part of a larger array, to be merged with those for other parts.
///
/// Parameters
/// ----------
/// x : array
///     The part, as in :func:`argreduce.argmax`. It may be empty.
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
///     A named tuple ``(values, indices)`` of arrays without the reduced axes, of the library that ``x`` is from.
///     Indices are those in the whole array; -1 means that nothing was seen yet. They are int64, and an array of NumPy
///     where that library has no such type (as JAX, by default).
///
/// Raises
/// ------
/// ValueError
///     The part does not fit the whole, a number of ``start`` or ``whole`` is negative, the whole has no element along
///     a reduced axis, or more than an index can count; or as in :func:`argreduce.argmax`.
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
    start: &Bound<'py, PyAny>,
    whole: &Bound<'py, PyAny>,
    function: &str,
    select_last: bool,
    nan: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let (start, whole) = (arguments::sizes("start", start)?, arguments::sizes("whole", whole)?);
    let source = Source::new("partial", x)?;
    let tensor_type = source.tensor_type();
    let part = match source {
        Source::View(view) => {
            let axes = Axes::new(axis, view.shape.rank)?;
            let layout = view.shape.layout().map_err(value_error)?;
            let reduce = ArgReduce::new(arguments::function(function)?, &layout)
                .axes_from(axes.iter())
                .direction(arguments::direction(select_last))
                .nan_policy(arguments::nan_policy(nan)?)
                .window(&whole, &start);
            partial_of_view(py, &view, axes, &reduce)?
        }
        Source::ManyAxes(array, _) => {
            let axes = PyTuple::new(py, Axes::new(axis, array.ndim())?.iter().collect::<Vec<_>>())?;
            let options = [("function", function), ("nan", nan)].into_py_dict(py)?;
            options.set_item("select_last", select_last)?;
            let args = (array, axes, start, whole);
            interop(py)?.call_method(intern!(py, "partial_of_many_axes"), args, Some(&options))?
        }
    };
    give_back(part, x, None, tensor_type)
}

fn partial_of_view<'py>(
    py: Python<'py>,
    view: &View<'py>,
    axes: Axes,
    reduce: &ArgReduce<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let plan = reduce.plan_untyped(view.data_type, INDEX_TYPE).map_err(value_error)?;
    let result_sizes = axes.result_sizes(view.shape.sizes(), false);
    let mut values = NewArray::new(view.value_type(py)?, &result_sizes)?;
    let mut indices = NewArray::new(descr_of(py, INDEX_TYPE)?, &result_sizes)?;
    // SAFETY: nothing here writes to the input.
    let input = unsafe { view.bytes() };
    let (value_bytes, index_bytes) = (values.bytes(), indices.bytes());
    py.detach(|| plan.run_partials(input, value_bytes, index_bytes)).map_err(value_error)?;
    interop(py)?.call_method1(intern!(py, "Partial"), (values.array, indices.array))
}

/// Merges the answers for two parts: in any order and grouping, the answer for both.
///
/// Parameters
/// ----------
/// acc, other : Partial, or any tuple (values, indices)
///     Arrays of one shape and of any library, values of one type, and indices of int64. Neither is changed.
/// function, select_last, nan
///     The same as for the parts.
///
/// Returns
/// -------
/// Partial
///     New arrays, of the library that the values of ``acc`` are from, as those of :func:`argreduce.partial`.
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
    let values = Flat::new(&acc.0)?;
    let [indices, other_values, other_indices] = [Flat::new(&acc.1)?, Flat::new(&other.0)?, Flat::new(&other.1)?];
    for (what, flat) in
        [("indices of acc", &indices), ("values of other", &other_values), ("indices of other", &other_indices)]
    {
        if flat.sizes != values.sizes {
            return Err(PyValueError::new_err(format!(
                "{what} have the shape {}, and values of acc {}",
                shape_text(&flat.sizes),
                shape_text(&values.sizes)
            )));
        }
    }
    // The result is an array of its own.
    let [mut best, mut best_indices] = [values.copy()?, indices.copy()?];
    let [value_view, index_view] = [view(&best.array)?, view(&best_indices.array)?];
    let [other_value_view, other_index_view] = [view(&other_values.array)?, view(&other_indices.array)?];
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
    // SAFETY: packed arrays; nothing writes to those of `other`.
    let others = unsafe { (other_value_view.bytes(), other_index_view.bytes()) };
    let accs = (best.bytes(), best_indices.bytes());
    py.detach(|| merge.arrays_untyped((value_view.data_type, INDEX_TYPE), accs, others)).map_err(value_error)?;
    let sizes = PyTuple::new(py, &values.sizes)?;
    let shaped = |flat: &NewArray<'py>| flat.array.call_method1(intern!(py, "reshape"), (&sizes,));
    let merged = interop(py)?.call_method1(intern!(py, "Partial"), (shaped(&best)?, shaped(&best_indices)?))?;
    give_back(merged, &acc.0, None, values.tensor_type)
}

/// An argument of `merge`, as a packed array of one axis.
struct Flat<'py> {
    array: Bound<'py, PyUntypedArray>,
    /// The argument's.
    sizes: Vec<usize>,
    /// The element type, if it is an array of another library.
    tensor_type: Option<DataType>,
}

impl<'py> Flat<'py> {
    fn new(x: &Bound<'py, PyAny>) -> PyResult<Flat<'py>> {
        let py = x.py();
        let (array, tensor_type) = array_of("merge", x)?;
        let sizes = array.shape().to_vec();
        let flat = array.call_method1(intern!(py, "reshape"), (-1,))?;
        // In order, it may still have a stride.
        let packed = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "ascontiguousarray"), (flat,))?;
        Ok(Flat { array: packed.cast_into()?, sizes, tensor_type })
    }

    /// Another array, in the machine's byte order.
    fn copy(&self) -> PyResult<NewArray<'py>> {
        let py = self.array.py();
        let copy = NewArray::new(view(&self.array)?.value_type(py)?, self.array.shape())?;
        py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "copyto"), (&copy.array, &self.array))?;
        Ok(copy)
    }
}

fn view<'py>(flat: &Bound<'py, PyUntypedArray>) -> PyResult<View<'py>> {
    match Source::new("merge", flat)? {
        Source::View(view) => Ok(view),
        Source::ManyAxes(..) => unreachable!("it has one axis"),
    }
}
