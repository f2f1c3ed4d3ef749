//! Partial answers for parts of a larger tensor, and merging them.

use crate::arguments::{self, Axes, Axis, compared_type, element_type, element_type_of_any_order, is_date};
use crate::dates;
use crate::mask::{self, There};
use crate::output::{NewArray, first_of, flags, shape_text};
use crate::reduce::{give_back, value_error, without_lock};
use crate::threads::Threads;
use crate::view::{Shape, Source, View, descr_of, input_of, interop, native_copy, native_type};
use argreduce::{ArgReduce, DataType, NanPolicy, PartialBuffers, ReduceFunction};
use numpy::npyffi::{NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
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
/// select_last, nan, threads
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
#[pyo3(
    signature = (x, axis=None, *, start, whole, function=ReduceFunction::ArgMax, select_last=false,
        nan=NanPolicy::Propagate, threads=None, r#where=None),
    text_signature = "(x, axis=None, *, start, whole, function='argmax', select_last=False, nan='propagate', \
        threads=None, where=None)"
)]
#[expect(clippy::too_many_arguments, reason = "Python's signature")]
pub(crate) fn partial<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    start: &Bound<'py, PyAny>,
    whole: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::function)] function: ReduceFunction,
    #[pyo3(from_py_with = arguments::truth)] select_last: bool,
    #[pyo3(from_py_with = arguments::nan_policy)] nan: NanPolicy,
    threads: Option<&Bound<'py, PyAny>>,
    r#where: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, name) = (x.py(), "partial");
    // All that may run code of Python comes before the array is looked at.
    let axis = Axis::new(axis)?;
    let (start, whole) = (arguments::sizes("start", start)?, arguments::sizes("whole", whole)?);
    let threads = arguments::threads(threads)?;
    let (mut shape, mut shape_of_there) = (Shape::NONE, Shape::NONE);
    let (input, there) = mask::apart(name, input_of(name, x)?, r#where, py)?;
    let source = Source::of(name, input, py, &mut shape)?;
    let tensor_type = source.tensor_type();
    let part = match source {
        Source::View(mut view) => {
            let is_nat_above = view.is_of_dates() && dates::is_nat_above(function, nan);
            let mut shape = Shape::NONE;
            if is_nat_above {
                view = dates::one_less(name, &view, py, &mut shape)?;
            }
            let axes = axis.of_rank(py, view.shape.rank)?;
            let layout = view.shape.layout().map_err(value_error)?;
            let reduce = ArgReduce::new(function, &layout)
                .axes_from(axes.iter())
                .direction(arguments::direction(select_last))
                .nan_policy(nan)
                .window(&whole, &start);
            let there = there.map(|there| mask::of_bools(name, there, &mut shape_of_there)).transpose()?;
            partial_of_view(py, &view, axes, &reduce, (&threads, there.as_ref()), is_nat_above)?
        }
        Source::ManyAxes(array, _) => {
            let axes = PyTuple::new(py, axis.of_rank(py, array.ndim())?.iter().collect::<Vec<_>>())?;
            let function = if function == ReduceFunction::ArgMax { "argmax" } else { "argmin" };
            let nan = if nan == NanPolicy::Propagate { "propagate" } else { "ignore" };
            let options = [("function", function), ("nan", nan)].into_py_dict(py)?;
            options.set_item("select_last", select_last)?;
            options.set_item("threads", threads.count)?;
            options.set_item("where", there)?;
            let args = (array, axes, start, whole);
            interop(py)?.call_method(intern!(py, "partial_of_many_axes"), args, Some(&options))?
        }
    };
    give_back(part, x, None, tensor_type)
}

fn partial_of_view<'py>(
    py: Python<'py>,
    view: &View<'_, 'py>,
    axes: Axes,
    reduce: &ArgReduce<'_>,
    (threads, there): (&Threads, Option<&There<'_, 'py>>),
    is_nat_above: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let plan = reduce.plan_untyped(view.data_type, INDEX_TYPE).map_err(value_error)?;
    let result_sizes = axes.result_sizes(view.shape.sizes(), false);
    let mut values = NewArray::new(view.value_type(py)?, &result_sizes)?;
    let mut indices = NewArray::new(descr_of(py, INDEX_TYPE)?, &result_sizes)?;
    let buffers = PartialBuffers { indices: indices.bytes(), values: values.bytes() };
    // SAFETY: no code of Python runs before the plan has run, and nothing here writes to the input.
    let input = unsafe { view.bytes("partial")? };
    match there {
        // SAFETY: as above.
        Some(there) => unsafe {
            there.with("partial", |mask| {
                without_lock(py, input.len(), || plan.run(threads.lent_to(input).masked(mask), buffers))
            })?
        },
        None => without_lock(py, input.len(), || plan.run(threads.lent_to(input), buffers)),
    }
    .map_err(value_error)?;
    if is_nat_above {
        dates::one_more_where_seen(values.bytes(), indices.bytes());
    }
    interop(py)?.call_method1(intern!(py, "Partial"), (values.array, indices.array))
}

/// Merges the answers for two parts: in any order and grouping, the answer for both.
///
/// Parameters
/// ----------
/// acc, other : Partial, or any tuple (values, indices)
///     Arrays of one shape and of any library, values of one type, and indices of any integer type: one with all bits
///     set, which is -1 if it is signed, means that nothing was seen. Neither is changed.
/// function, select_last, nan
///     The same as for the parts.
///
/// Returns
/// -------
/// Partial
///     New arrays, of the library that the values of ``acc`` are from, as those of :func:`argreduce.partial`: indices
///     are int64.
///
/// Raises
/// ------
/// TypeError
///     Values of two types, or indices that are no integers.
/// ValueError
///     Arrays of different shapes, or an index that int64 does not hold.
///
/// Examples
/// --------
/// >>> import numpy as np, argreduce
/// >>> a = (np.array([3.0, 5.0]), np.array([0, 7]))
/// >>> b = (np.array([4.0, 5.0]), np.array([9, 2]))
/// >>> argreduce.merge(a, b)
/// Partial(values=array([4., 5.]), indices=array([9, 2]))
#[pyfunction]
#[pyo3(
    signature = (acc, other, *, function=ReduceFunction::ArgMax, select_last=false,
        nan=NanPolicy::Propagate),
    text_signature = "(acc, other, *, function='argmax', select_last=False, nan='propagate')"
)]
pub(crate) fn merge<'py>(
    acc: &Bound<'py, PyAny>,
    other: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::function)] function: ReduceFunction,
    #[pyo3(from_py_with = arguments::truth)] select_last: bool,
    #[pyo3(from_py_with = arguments::nan_policy)] nan: NanPolicy,
) -> PyResult<Bound<'py, PyAny>> {
    let py = acc.py();
    let merge = argreduce::Merge::new(function).direction(arguments::direction(select_last)).nan_policy(nan);
    let (acc, other) = (pair("acc", acc)?, pair("other", other)?);
    // All four become arrays before one of them is looked at: that may run any code of Python. (A tensor of another
    // library has its address from here on; what frees its memory behind its back, as through NumPy, is not seen.)
    let (values, indices) = (array("values of acc", &acc.0)?, array("indices of acc", &acc.1)?);
    let (other_values, other_indices) = (array("values of other", &other.0)?, array("indices of other", &other.1)?);
    for part in [&indices, &other_values, &other_indices] {
        if part.array.shape() != values.array.shape() {
            return Err(PyValueError::new_err(format!(
                "{} have the shape {}, and values of acc {}",
                part.name,
                shape_text(part.array.shape()),
                shape_text(values.array.shape())
            )));
        }
    }
    let data_type = common_type(&values, &other_values)?;
    // The result is an array of its own.
    let [mut best, mut best_indices] = [native_copy(NAME, &values.array)?, indices.widened()?];
    let [mut other_values, other_indices] = [other_values.packed()?, other_indices.packed_indices()?];
    let is_nat_above = is_date(&values.array.dtype()) && dates::is_nat_above(function, nan);
    if is_nat_above {
        let mut copy = native_copy(NAME, &other_values)?;
        dates::add(copy.bytes(), -1);
        dates::add(best.bytes(), -1);
        other_values = copy.array;
    }
    let accs = (best.bytes(), best_indices.bytes());
    // SAFETY: no code of Python runs before they have been merged, and nothing here writes to those of `other`.
    let others = unsafe { (packed_bytes(&other_values, accs.0.len())?, packed_bytes(&other_indices, accs.1.len())?) };
    let bytes = others.0.len() + others.1.len();
    let run = || merge.arrays_untyped((data_type, INDEX_TYPE), accs, others);
    without_lock(py, bytes, run).map_err(value_error)?;
    if is_nat_above {
        dates::add(best.bytes(), 1);
    }
    let merged = interop(py)?.call_method1(intern!(py, "Partial"), (best.array, best_indices.array))?;
    give_back(merged, &acc.0, None, values.tensor_type)
}

fn pair<'py>(name: &str, pair: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    pair.extract().map_err(|_| match pair.get_type().name() {
        Ok(class) => PyTypeError::new_err(format!("{name} is of type {class}: a tuple (values, indices) is needed")),
        Err(error) => error,
    })
}

/// The type of both values.
fn common_type(values: &Part<'_>, other_values: &Part<'_>) -> PyResult<DataType> {
    let descr = native_type(NAME, &values.array.dtype())?;
    let other = native_type(NAME, &other_values.array.dtype())?;
    // Of dates, with their unit.
    let is_alike = || !is_date(&descr) && !is_date(&other) || descr.is_equiv_to(&other);
    match (compared_type(&descr), compared_type(&other)) {
        (Some(data_type), Some(other)) if data_type == other && is_alike() => Ok(data_type),
        _ => {
            let error = format!("values of acc are of type {descr}, and those of other of type {other}");
            Err(PyTypeError::new_err(error))
        }
    }
}

const NAME: &str = "merge";

/// An array among the arguments of `merge`.
struct Part<'py> {
    /// What it is, for messages.
    name: &'static str,
    array: Bound<'py, PyUntypedArray>,
    /// The element type, if it is an array of another library.
    tensor_type: Option<DataType>,
}

fn array<'py>(name: &'static str, x: &Bound<'py, PyAny>) -> PyResult<Part<'py>> {
    let (array, tensor_type) = input_of(NAME, x)?.into_array(NAME, x.py())?;
    Ok(Part { name, array, tensor_type })
}

impl<'py> Part<'py> {
    /// As a packed array in the machine's byte order: itself, if it is one.
    fn packed(&self) -> PyResult<Bound<'py, PyUntypedArray>> {
        // Not a view of it, which would still say what the array was before it changed.
        if is_packed(&self.array) { Ok(self.array.clone()) } else { Ok(native_copy(NAME, &self.array)?.array) }
    }

    fn packed_indices(&self) -> PyResult<Bound<'py, PyUntypedArray>> {
        let is_wide = element_type(&self.array.dtype()) == Some(INDEX_TYPE);
        if is_wide { self.packed() } else { Ok(self.widened()?.array) }
    }

    /// Indices of any integer type as a new array of int64. Those with all bits set, "nothing seen", stay that.
    fn widened(&self) -> PyResult<NewArray<'py>> {
        let (py, descr) = (self.array.py(), self.array.dtype());
        let is_signed = match (descr.kind(), element_type_of_any_order(&descr)) {
            (b'i', Some(_)) => true,
            (b'u', Some(_)) => false,
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "{} are of type {}: integers are needed",
                    self.name,
                    descr.str()?
                )));
            }
        };
        let mut wide = NewArray::new(descr_of(py, INDEX_TYPE)?, self.array.shape())?;
        wide.fill_from(&self.array)?;
        if is_signed {
            return Ok(wide);
        }
        // A wide one below zero was larger than int64 holds.
        let all_bits = (u64::MAX >> (64 - 8 * descr.itemsize())) as i64;
        for bytes in wide.bytes().as_chunks_mut().0 {
            let index = i64::from_ne_bytes(*bytes);
            if index == all_bits {
                *bytes = (-1_i64).to_ne_bytes();
            } else if index < 0 {
                let name = self.name;
                return Err(PyValueError::new_err(format!("{name} have {}: int64 holds less", index as u64)));
            }
        }
        Ok(wide)
    }
}

fn is_packed(array: &Bound<'_, PyUntypedArray>) -> bool {
    const NEEDED: i32 = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    flags(array) & NEEDED == NEEDED && compared_type(&array.dtype()).is_some()
}

/// The elements of a packed array, as bytes.
///
/// # Safety
/// - No code of Python runs between this and the last read, unless in another thread.
/// - Nothing writes to the array meanwhile. (Another thread of Python may, as with NumPy.)
unsafe fn packed_bytes<'a>(array: &'a Bound<'_, PyUntypedArray>, count: usize) -> PyResult<&'a [u8]> {
    let bytes = array.shape().iter().product::<usize>() * array.dtype().itemsize();
    if !is_packed(array) || bytes != count {
        return Err(PyRuntimeError::new_err("merge was called with an array that changed meanwhile"));
    }
    if bytes == 0 {
        return Ok(&[]);
    }
    // SAFETY: a packed array has so many bytes at this moment. The caller promises that it stays so.
    Ok(unsafe { std::slice::from_raw_parts(first_of(array), bytes) })
}
