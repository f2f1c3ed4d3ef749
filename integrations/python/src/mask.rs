//! Which elements are there, as the library takes it: an array of bools at any strides, or bits.

use crate::classes::Class;
use crate::column::{Chunk, joined};
use crate::interop::{interop, value_error};
use crate::view::{Input, Shape, Source, View, input_of_column};
use argreduce::{DataType, Mask};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

/// Which elements of an input are there.
pub(crate) enum There<'a, 'py> {
    /// Of the same sizes.
    Bools(View<'a, 'py>),
    /// Of a column.
    Bits(&'a Chunk<'py>),
}

/// Does something with the mask of an input, if it has one.
///
/// # Safety
/// - As for [`View::bytes`].
#[inline(always)]
pub(crate) unsafe fn with<R>(
    name: &str,
    there: Option<&There<'_, '_>>,
    run: impl FnOnce(Option<Mask<'_>>) -> PyResult<R>,
) -> PyResult<R> {
    match there {
        None => run(None),
        Some(There::Bits(chunk)) => run(chunk.bits().map(|(bits, offset)| Mask::bits(bits, offset))),
        Some(There::Bools(view)) => {
            let layout = view.shape.layout().map_err(value_error)?;
            // SAFETY: the caller's promise.
            run(Some(Mask::bytes_strided(unsafe { view.bytes(name)? }, &layout)))
        }
    }
}

/// An input without what it has of masks, and an array of bools of its sizes in place of that, and of `where`: `None`
/// if both are `None`. It may run any code of Python.
pub(crate) fn apart<'py>(
    name: &str,
    input: Input<'py>,
    r#where: Option<&Bound<'py, PyAny>>,
    py: Python<'py>,
) -> PyResult<(Input<'py>, Option<Bound<'py, PyUntypedArray>>)> {
    let (input, mask) = match input {
        Input::Masked(array, mask) => (Input::Array(array), Some(mask)),
        Input::Column(chunks) => {
            let there = match r#where {
                Some(_) => Some(there_of(name, r#where, None, &[chunks.iter().map(|chunk| chunk.len).sum()], py)?),
                None => None,
            };
            let (array, there) = joined(py, &chunks, there)?;
            return Ok((Input::Array(array), there));
        }
        input => (input, None),
    };
    if mask.is_none() && r#where.is_none() {
        return Ok((input, None));
    }
    let sizes = match &input {
        Input::Array(array) => array.shape().to_vec(),
        Input::Tensor(tensor) => tensor.parts(name)?.axes.iter().map(|&(size, _)| size).collect(),
        _ => return Ok((input, None)),
    };
    let there = there_of(name, r#where, mask, &sizes, py)?;
    Ok((input, Some(there)))
}

/// `where` without `mask`, broadcast to some sizes.
pub(crate) fn there_of<'py>(
    name: &str,
    r#where: Option<&Bound<'py, PyAny>>,
    mask: Option<Bound<'py, PyAny>>,
    sizes: &[usize],
    py: Python<'py>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    // One of NumPy's own needs nothing of Python: that would take longer than a short call.
    if let (Some(there), None) = (r#where, &mask)
        && let Ok(array) = there.cast_exact::<PyUntypedArray>()
        && array.dtype().kind() == b'b'
        && array.shape() == sizes
    {
        return Ok(array.clone());
    }
    let of_column = r#where.map(|there| trues(name, there)).transpose()?.flatten();
    let args = (name, of_column.as_ref().or(r#where), mask, sizes.to_vec());
    Ok(interop(py)?.call_method1(intern!(py, "there_of"), args)?.cast_into::<PyUntypedArray>()?)
}

/// A column as an array that is True where it says so: a null does not. `None` if it is no column.
#[pyfunction(name = "_trues")]
pub(crate) fn trues<'py>(name: &str, there: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = there.py();
    if there.cast::<PyUntypedArray>().is_ok() {
        return Ok(None);
    }
    let args = match input_of_column(name, there, Class::of(there)?)? {
        Some(Input::Array(array)) => return Ok(Some(array.into_any())),
        Some(Input::Masked(array, missing)) => (array, missing, true),
        Some(Input::Column(chunks)) => match joined(py, &chunks, None)? {
            (array, None) => return Ok(Some(array.into_any())),
            (array, Some(known)) => (array, known.into_any(), false),
        },
        _ => return Ok(None),
    };
    interop(py)?.call_method1(intern!(py, "trues"), args).map(Some)
}

/// What an array of bools says; `shape` is a place for its shape. (It has as many axes as the input.)
pub(crate) fn of_bools<'a, 'py>(
    name: &str,
    there: Bound<'py, PyUntypedArray>,
    shape: &'a mut Shape,
) -> PyResult<There<'a, 'py>> {
    match Source::of_array(name, there, shape)? {
        Source::View(view) if view.data_type == DataType::Bool => Ok(There::Bools(view)),
        _ => Err(PyTypeError::new_err(format!("{name}: what is there has to be said by an array of bool"))),
    }
}
