//! An array of any library as an address, sizes and strides. Nothing is copied, but what no strides can express.
//!
//! Code of Python may free the memory of an array, also of one that is held. So there are two steps:
//!
//! 1. [`input_of`]: an argument becomes an array or a tensor. That may run any code of Python.
//! 2. [`Source::of`] looks at it, and what it finds is used. From here on no method of a subclass is called.
//!    [`View::bytes`], last of all, compares with what was found.

use crate::arguments::{compared_type, element_type_of_any_order, is_date};
use crate::classes::Class;
use crate::column::{Chunk, Column, column_of, joined};
use crate::dlpack::{Parts, Tensor};
use crate::interop::{descr_of, interop};
use crate::output::{NewArray, copy_into, descr_address, first_of};
use argreduce::{DataType, Error, Layout, MAX_RANK};
use numpy::npyffi::{NpyTypes, PY_ARRAY_API, get_type_object};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyException, PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyTuple};
use std::ptr::null_mut;

/// Sizes and strides in elements. Written where it stays: to move it takes as long as some of what a small call does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) rank: usize,
    sizes: [usize; MAX_RANK],
    strides: [isize; MAX_RANK],
    /// How many elements lie before the first one, between the lowest and the highest.
    before: usize,
    /// The same behind the first one.
    behind: usize,
}

impl PartialEq for Shape {
    fn eq(&self, other: &Shape) -> bool {
        // Axis by axis: to compare all memory takes longer.
        self.rank == other.rank && self.sizes().iter().eq(other.sizes()) && self.strides().iter().eq(other.strides())
    }
}

impl Shape {
    /// Before it is known.
    pub(crate) const NONE: Shape =
        Shape { rank: 0, sizes: [0; MAX_RANK], strides: [0; MAX_RANK], before: 0, behind: 0 };

    /// That of so many elements, one after another.
    pub(crate) fn row(len: usize) -> Shape {
        let mut shape = Shape::NONE;
        shape.set([(len, 1)].into_iter());
        shape
    }

    /// Makes it that of some axes; false if they are too many. To be called once, or again with as many.
    fn set(&mut self, axes: impl ExactSizeIterator<Item = (usize, isize)>) -> bool {
        if axes.len() > MAX_RANK {
            return false;
        }
        (self.rank, self.before, self.behind) = (axes.len(), 0, 0);
        for (n, (size, stride)) in axes.enumerate().take(MAX_RANK) {
            (self.sizes[n], self.strides[n]) = (size, stride);
            // Of an array that has elements, they are in memory, and so these are numbers of bytes that there are.
            let steps = size.saturating_sub(1).wrapping_mul(stride.unsigned_abs());
            let end = if stride < 0 { &mut self.before } else { &mut self.behind };
            *end = end.wrapping_add(steps);
        }
        true
    }

    /// Makes it that of an array, and tells the type of its elements. Nothing if it has too many axes, is misaligned,
    /// or of another byte order or type.
    pub(crate) fn set_to(&mut self, array: &Bound<'_, PyUntypedArray>) -> Option<DataType> {
        let data_type = compared_type(&array.dtype())?;
        let (size, sizes, strides) = (data_type.size(), array.shape(), array.strides());
        // Sizes are powers of two. A division takes as long as all else here.
        let low_bits = strides.iter().fold(first_of(array).addr(), |bits, &stride| bits | stride as usize) & (size - 1);
        let shift = size.trailing_zeros();
        let axes = sizes.iter().copied().zip(strides.iter().map(|&stride| stride >> shift));
        (low_bits == 0 && self.set(axes)).then_some(data_type)
    }

    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes[..self.rank]
    }

    pub(crate) fn strides(&self) -> &[isize] {
        &self.strides[..self.rank]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sizes().contains(&0)
    }

    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        Layout::strided(self.sizes(), self.strides(), self.before)
    }
}

/// An array that is held, and can be read.
pub(crate) struct View<'a, 'py> {
    first: *const u8,
    pub(crate) shape: &'a Shape,
    pub(crate) data_type: DataType,
    /// The NumPy type of its elements, if it is an array of NumPy.
    pub(crate) descr: Option<Bound<'py, PyArrayDescr>>,
    owner: Owner<'py>,
}

/// Holds the memory.
enum Owner<'py> {
    Array(Bound<'py, PyUntypedArray>),
    Tensor(#[expect(dead_code, reason = "kept until the view is dropped")] Tensor),
}

/// What an argument is. Nothing of it was looked at.
pub(crate) enum Input<'py> {
    Array(Bound<'py, PyUntypedArray>),
    Tensor(Tensor),
    /// A masked array: its elements, and its mask, in which True is not there; or another array with a mask.
    Masked(Bound<'py, PyUntypedArray>, Bound<'py, PyAny>),
    /// A column of Arrow, in pieces.
    Column(Vec<Chunk<'py>>),
    /// An array of dask, which is not to be computed without being asked.
    OfDask,
}

/// What an argument has in memory.
pub(crate) enum Source<'a, 'py> {
    View(View<'a, 'py>),
    /// An array of more axes than this library takes, and its element type if it is another library's.
    ManyAxes(Bound<'py, PyUntypedArray>, Option<DataType>),
}

impl<'a, 'py> Source<'a, 'py> {
    /// `name` is the function that was called, and `shape` a place for the shape of a view.
    pub(crate) fn of(name: &str, input: Input<'py>, py: Python<'py>, shape: &'a mut Shape) -> PyResult<Self> {
        match input {
            Input::Array(array) => Source::of_array(name, array, shape),
            Input::Tensor(tensor) => Source::of_tensor(name, tensor, py, shape),
            // What does not take masks.
            Input::Masked(..) | Input::Column(_) => Err(is_masked_error(name)),
            Input::OfDask => Err(is_of_dask_error(name)),
        }
    }

    fn of_tensor(name: &str, tensor: Tensor, py: Python<'py>, shape: &'a mut Shape) -> PyResult<Self> {
        let Parts { first, axes, data_type } = tensor.parts(name)?;
        if !shape.set(axes.into_iter()) {
            return Ok(Source::ManyAxes(array_of_tensor(name, tensor, data_type, py)?, Some(data_type)));
        }
        if first.addr().is_multiple_of(data_type.size()) || shape.is_empty() {
            return Ok(Source::View(View { first, shape, data_type, descr: None, owner: Owner::Tensor(tensor) }));
        }
        // Misaligned: NumPy copies it byte by byte.
        let array = tensor.into_array(name, descr_of(py, data_type)?)?;
        let mut view = View::of_copy(name, &array, shape)?;
        (view.data_type, view.descr) = (data_type, None);
        Ok(Source::View(view))
    }

    /// The element type, if it is an array of another library: then results have to be given back to that.
    pub(crate) fn tensor_type(&self) -> Option<DataType> {
        match self {
            Source::View(view) => view.descr.is_none().then_some(view.data_type),
            Source::ManyAxes(_, tensor_type) => *tensor_type,
        }
    }

    pub(crate) fn of_array(name: &str, array: Bound<'py, PyUntypedArray>, shape: &'a mut Shape) -> PyResult<Self> {
        if array.ndim() > MAX_RANK {
            // A copy, because its axes are merged by code of Python, which may run other code: of a signal, say.
            return Ok(Source::ManyAxes(native_copy(name, &array)?.array, None));
        }
        Ok(Source::View(match shape.set_to(&array) {
            Some(data_type) => View::of(array, data_type, shape),
            None => View::of_copy(name, &array, shape)?,
        }))
    }
}

/// An argument, which is of `class`, as an array or a tensor; `name` is the function that was called. It may run any
/// code of Python.
pub(crate) fn input_of<'py>(name: &str, x: &Bound<'py, PyAny>, class: Class) -> PyResult<Input<'py>> {
    let py = x.py();
    if let Ok(array) = x.cast_exact::<PyUntypedArray>() {
        return Ok(Input::Array(array.clone()));
    }
    if let Ok(array) = x.cast::<PyUntypedArray>() {
        return if is_masked(x)? { masked_parts(x) } else { Ok(Input::Array(array.clone())) };
    }
    if is_of_numbers(x) {
        return array_of_numbers(x).map(Input::Array);
    }
    if class.is_of_dask {
        return Ok(Input::OfDask);
    }
    if let Some(column) = input_of_column(name, x, class)? {
        return Ok(column);
    }
    let array = if x.hasattr(intern!(py, "__dlpack__"))? {
        let refusal = match Tensor::new(name, x)? {
            Ok(tensor) => return Ok(Input::Tensor(tensor)),
            Err(refusal) => refusal,
        };
        // What interrupts a program is no refusal.
        if !refusal.is_instance_of::<PyException>(py) {
            return Err(refusal);
        }
        interop(py)?.call_method1(intern!(py, "array_instead_of_tensor"), (name, x, refusal))?
    } else {
        interop(py)?.call_method1(intern!(py, "array_of"), (name, x))?
    };
    Ok(Input::Array(array.cast_into::<PyUntypedArray>()?))
}

/// Whether it is a list or a tuple of nothing but Python's own numbers: nothing of them is lost on the way to NumPy.
fn is_of_numbers(x: &Bound<'_, PyAny>) -> bool {
    let is_number = |x: Bound<'_, PyAny>| {
        x.is_exact_instance_of::<PyFloat>() || x.is_exact_instance_of::<PyInt>() || x.is_exact_instance_of::<PyBool>()
    };
    match (x.cast_exact::<PyList>(), x.cast_exact::<PyTuple>()) {
        (Ok(list), _) => list.iter().all(is_number),
        (_, Ok(tuple)) => tuple.iter().all(is_number),
        _ => false,
    }
}

/// What NumPy makes of numbers.
fn array_of_numbers<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = x.py();
    // SAFETY: an object, of which any type and any number of axes is taken. What it gives is an array or null.
    let array = unsafe {
        let array = PY_ARRAY_API.PyArray_FromAny(py, x.as_ptr(), null_mut(), 0, 0, 0, null_mut());
        Bound::from_owned_ptr_or_err(py, array)?
    };
    Ok(array.cast_into()?)
}

/// An argument that says of its elements whether they are there: a column. `None` if it is none.
pub(crate) fn input_of_column<'py>(name: &str, x: &Bound<'py, PyAny>, class: Class) -> PyResult<Option<Input<'py>>> {
    let py = x.py();
    let Some(column) = holder_of_column(name, x, class)? else { return Ok(None) };
    if let Ok(parts) = column.cast::<PyTuple>() {
        return Ok(Some(Input::Masked(parts.get_item(0)?.cast_into()?, parts.get_item(1)?)));
    }
    if let Ok(array) = column.cast::<PyUntypedArray>() {
        return Ok(Some(Input::Array(array.clone())));
    }
    Ok(match column_of(name, &column)? {
        None => None,
        Some(Column::Chunks(chunks)) => Some(Input::Column(chunks)),
        Some(Column::Lists(array, None)) => Some(Input::Array(array.cast_into()?)),
        Some(Column::Lists(array, Some(mask))) => Some(Input::Masked(array.cast_into()?, mask)),
        Some(Column::Nulls(len)) => {
            let (array, mask) = interop(py)?.call_method1(intern!(py, "nulls"), (len,))?.extract()?;
            let array: Bound<'py, PyAny> = array;
            Some(Input::Masked(array.cast_into()?, mask))
        }
    })
}

/// As [`input_of`], of what an object of xarray has elements in, too; and that.
pub(crate) fn input_without_labels<'py>(
    name: &str,
    x: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Input<'py>)> {
    let class = Class::of(x)?;
    if !class.is_of_xarray {
        return Ok((x.clone(), input_of(name, x, class)?));
    }
    let elements = interop(x.py())?.call_method1(intern!(x.py(), "elements_of_labelled"), (x,))?;
    let input = input_of(name, &elements, Class::of(&elements)?)?;
    Ok((elements, input))
}

/// What has the elements of a column, and says which of them are there, as `class` says that it may: itself, or what
/// Python's `column_of` gives. `None` if it is none.
fn holder_of_column<'py>(name: &str, x: &Bound<'py, PyAny>, class: Class) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = x.py();
    let has = |attribute| x.hasattr(attribute);
    let has_either =
        || Ok::<_, PyErr>(has(intern!(py, "__arrow_c_stream__"))? || has(intern!(py, "__arrow_c_array__"))?);
    let may_be_column = class.has_stream || class.has_array || class.is_of_pandas;
    if !may_be_column && (class.tells_all || !has_either()?) || class.tells_all && class.is_of_columns {
        return Ok(None);
    }
    if class.tells_all && !class.is_of_pandas {
        return Ok(Some(x.clone()));
    }
    // A column of pandas is looked at first, which may have a mask, or one of Arrow in it, or neither.
    let column_of = if class.tells_all { intern!(py, "column_of_pandas") } else { intern!(py, "column_of") };
    Ok(Some(interop(py)?.call_method1(column_of, (name, x))?).filter(|column| !column.is_none()))
}

/// The elements and the mask of a masked array.
fn masked_parts<'py>(x: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
    let py = x.py();
    let parts = interop(py)?.call_method1(intern!(py, "masked_parts"), (x,))?.cast_into::<PyTuple>()?;
    let array = parts.get_item(0)?.cast_into::<PyUntypedArray>()?;
    let mask = parts.get_item(1)?;
    Ok(if mask.is_none() { Input::Array(array) } else { Input::Masked(array, mask) })
}

fn is_masked_error(name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{name} takes no masked arrays, and no columns with nulls: what is not there would be"
    ))
}

fn is_of_dask_error(name: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} takes no dask arrays: argreduce.dask reduces and merges them by their chunks"))
}

impl<'py> Input<'py> {
    /// The argument as an array of NumPy, and its element type if it is a tensor. Nothing is copied.
    pub(crate) fn into_array(
        self,
        name: &str,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyUntypedArray>, Option<DataType>)> {
        match self {
            Input::Array(array) => Ok((array, None)),
            Input::Tensor(tensor) => {
                let Parts { data_type, .. } = tensor.parts(name)?;
                Ok((array_of_tensor(name, tensor, data_type, py)?, Some(data_type)))
            }
            Input::Column(chunks) => match joined(py, &chunks, None)? {
                (array, None) => Ok((array, None)),
                _ => Err(is_masked_error(name)),
            },
            Input::Masked(..) => Err(is_masked_error(name)),
            Input::OfDask => Err(is_of_dask_error(name)),
        }
    }
}

fn array_of_tensor<'py>(
    name: &str,
    tensor: Tensor,
    data_type: DataType,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array = tensor.into_array(name, descr_of(py, data_type)?)?;
    if data_type != DataType::Bf16 {
        return Ok(array);
    }
    // Otherwise the bits would be taken for integers.
    Ok(interop(py)?.call_method1(intern!(py, "bfloat16"), (array,))?.cast_into::<PyUntypedArray>()?)
}

fn is_masked(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = x.py();
    x.is_instance(&py.import(intern!(py, "numpy.ma"))?.getattr(intern!(py, "MaskedArray"))?)
}

/// The same array, without what a subclass adds. Nothing of the subclass is called.
pub(crate) fn as_plain_array<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = array.py();
    // SAFETY: an array, its own type of elements, and the type of NumPy's arrays. What comes back is an array, or null.
    unsafe {
        let class = get_type_object(py, NpyTypes::PyArray_Type);
        let view = PY_ARRAY_API.PyArray_View(py, array.as_array_ptr(), null_mut(), class);
        Ok(Bound::from_owned_ptr_or_err(py, view)?.cast_into_unchecked())
    }
}

/// A packed copy in the machine's byte order. Nothing of a subclass is called.
pub(crate) fn native_copy<'py>(name: &str, array: &Bound<'py, PyUntypedArray>) -> PyResult<NewArray<'py>> {
    let copy = NewArray::new(native_type(name, &array.dtype())?, array.shape())?;
    copy.fill_from(array)?;
    Ok(copy)
}

/// The NumPy type in the machine's byte order, of elements that this library takes. Others are refused.
pub(crate) fn native_type<'py>(name: &str, descr: &Bound<'py, PyArrayDescr>) -> PyResult<Bound<'py, PyArrayDescr>> {
    if compared_type(descr).is_some() {
        return Ok(descr.clone());
    }
    match element_type_of_any_order(descr) {
        Some(data_type) if data_type != DataType::Bf16 => descr_of(descr.py(), data_type),
        // Of the same unit.
        None if is_date(descr) => Ok(descr.call_method1(intern!(descr.py(), "newbyteorder"), ("=",))?.cast_into()?),
        _ => Err(PyTypeError::new_err(format!(
            "{name} takes bool, integers, float16, float32, float64, ml_dtypes.bfloat16, datetime64 and timedelta64, \
             not {}",
            descr.str()?
        ))),
    }
}

impl<'a, 'py> View<'a, 'py> {
    /// Of an array whose shape [was found](Shape::set_to).
    #[inline(always)]
    pub(crate) fn of(array: Bound<'py, PyUntypedArray>, data_type: DataType, shape: &'a Shape) -> Self {
        let (first, descr) = (first_of(&array), Some(array.dtype()));
        View { first, shape, data_type, descr, owner: Owner::Array(array) }
    }

    /// Of a copy that is regular. One is enough: it is packed, and in the machine's byte order.
    fn of_copy(name: &str, array: &Bound<'py, PyUntypedArray>, shape: &'a mut Shape) -> PyResult<Self> {
        View::of_new(name, native_copy(name, array)?, shape)
    }

    /// Of an array that was made for it.
    pub(crate) fn of_new(name: &str, new: NewArray<'py>, shape: &'a mut Shape) -> PyResult<Self> {
        match shape.set_to(&new.array) {
            Some(data_type) => Ok(View::of(new.array, data_type, shape)),
            None => Err(PyTypeError::new_err(format!("{name} was given an array that NumPy cannot align"))),
        }
    }

    /// Whether these are dates or durations, which are compared as integers.
    pub(crate) fn is_of_dates(&self) -> bool {
        self.data_type == DataType::I64 && self.descr.as_ref().is_some_and(is_date)
    }

    /// How many bytes are worked on: all that lies between, or those of each element, as often as it is one.
    pub(crate) fn work(&self) -> usize {
        let Shape { before, behind, .. } = *self.shape;
        let count = self.shape.sizes().iter().fold(1, |count: usize, &size| count.saturating_mul(size));
        count.max(before + behind).saturating_mul(self.data_type.size())
    }

    /// Copies all elements to an array of the same sizes.
    pub(crate) fn copy_to(&self, name: &str, copy: &NewArray<'py>) -> PyResult<()> {
        self.check_is_unchanged(name)?;
        match &self.owner {
            Owner::Array(array) => copy_into(&copy.array, array),
            Owner::Tensor(_) => unreachable!("no tensor has dates"),
        }
    }

    fn check_is_unchanged(&self, name: &str) -> PyResult<()> {
        if self.is_unchanged() {
            return Ok(());
        }
        Err(PyRuntimeError::new_err(format!("{name} was called with an array that changed meanwhile")))
    }

    /// Whether the array is still what was found.
    fn is_unchanged(&self) -> bool {
        let Owner::Array(array) = &self.owner else { return true };
        let size = self.data_type.size() as isize;
        first_of(array) == self.first
            && array.shape().iter().eq(self.shape.sizes())
            && array.strides().iter().zip(self.shape.strides()).all(|(&found, &stride)| found == stride * size)
            && self.descr.as_ref().is_none_or(|descr| descr_address(array) == descr.as_ptr().cast())
    }

    /// The bytes from the lowest element to the highest one.
    ///
    /// # Errors
    /// The array is not what was looked at: it has other memory, or another shape.
    ///
    /// # Safety
    /// - No code of Python runs between this and the last read, unless in another thread.
    /// - Nothing writes to the bytes meanwhile. (Another thread of Python may, and may free them: NumPy's own functions
    ///   have the same gap, and docs say so.)
    pub(crate) unsafe fn bytes(&self, name: &str) -> PyResult<&[u8]> {
        self.check_is_unchanged(name)?;
        if self.shape.is_empty() {
            return Ok(&[]);
        }
        let Shape { before, behind, .. } = *self.shape;
        let size = self.data_type.size();
        // SAFETY: sizes and strides are those that the array has at this moment, or those of a tensor that is held. So
        // each of its elements is in memory, and so is what lies between two of them in one allocation. The caller
        // promises that it stays so.
        Ok(unsafe { std::slice::from_raw_parts(self.first.sub(before * size), (before + behind + 1) * size) })
    }

    /// The NumPy type of values: that of the elements.
    pub(crate) fn value_type(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        match &self.descr {
            Some(descr) => Ok(descr.clone()),
            None => descr_of(py, self.data_type),
        }
    }
}
