//! An array of any library as an address, sizes and strides. Nothing is copied, but what no strides can express.

use crate::arguments::element_type;
use crate::dlpack::{Parts, Tensor};
use argreduce::{DataType, Error, Layout, MAX_RANK};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// Sizes and strides in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) rank: usize,
    sizes: [usize; MAX_RANK],
    strides: [isize; MAX_RANK],
}

impl Shape {
    /// Nothing if there are too many axes.
    pub(crate) fn new(axes: impl ExactSizeIterator<Item = (usize, isize)>) -> Option<Shape> {
        let mut shape = Shape { rank: axes.len(), sizes: [0; MAX_RANK], strides: [0; MAX_RANK] };
        if shape.rank > MAX_RANK {
            return None;
        }
        for (n, (size, stride)) in axes.enumerate() {
            (shape.sizes[n], shape.strides[n]) = (size, stride);
        }
        Some(shape)
    }

    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes[..self.rank]
    }

    pub(crate) fn strides(&self) -> &[isize] {
        &self.strides[..self.rank]
    }

    /// How many elements lie before the first one, and behind it, between the lowest and the highest.
    fn reach(&self) -> (usize, usize) {
        let (mut before, mut behind) = (0, 0);
        for (&size, &stride) in self.sizes().iter().zip(self.strides()) {
            let steps = size.saturating_sub(1) * stride.unsigned_abs();
            *if stride < 0 { &mut before } else { &mut behind } += steps;
        }
        (before, behind)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sizes().contains(&0)
    }

    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        Layout::strided(self.sizes(), self.strides(), self.reach().0)
    }
}

/// An array that is held, and can be read.
pub(crate) struct View<'py> {
    first: *const u8,
    pub(crate) shape: Shape,
    pub(crate) data_type: DataType,
    /// The NumPy type of its elements, if it is an array of NumPy.
    pub(crate) descr: Option<Bound<'py, PyArrayDescr>>,
    /// Holds the memory.
    _owner: Owner<'py>,
}

#[expect(dead_code, reason = "kept until the view is dropped")]
enum Owner<'py> {
    Array(Bound<'py, PyUntypedArray>),
    Tensor(Tensor),
}

/// What an argument is.
pub(crate) enum Source<'py> {
    View(View<'py>),
    /// An array of more axes than this library takes, and its element type if it is another library's.
    ManyAxes(Bound<'py, PyUntypedArray>, Option<DataType>),
}

impl<'py> Source<'py> {
    /// `name` is the function that was called.
    pub(crate) fn new(name: &str, x: &Bound<'py, PyAny>) -> PyResult<Source<'py>> {
        let Some(tensor) = tensor_of(name, x)? else { return Source::of_array(name, array_of_numpy(name, x)?) };
        let Parts { first, axes, data_type } = tensor.parts(name)?;
        let Some(shape) = Shape::new(axes.into_iter()) else {
            return Ok(Source::ManyAxes(array_of_tensor(name, tensor, data_type, x.py())?, Some(data_type)));
        };
        if first.addr().is_multiple_of(data_type.size()) || shape.is_empty() {
            return Ok(Source::View(View { first, shape, data_type, descr: None, _owner: Owner::Tensor(tensor) }));
        }
        // Misaligned: NumPy copies it byte by byte.
        let array = tensor.into_array(name, descr_of(x.py(), data_type)?)?;
        let copy = array.call_method0(intern!(x.py(), "copy"))?.cast_into::<PyUntypedArray>()?;
        let Source::View(mut view) = Source::of_array(name, copy)? else { unreachable!("it has as few axes") };
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

    fn of_array(name: &str, array: Bound<'py, PyUntypedArray>) -> PyResult<Source<'py>> {
        let descr = array.dtype();
        let Some(data_type) = element_type(&descr) else { return Source::of_native_copy(name, &array, &descr) };
        let size = data_type.size();
        let axes = array.shape().iter().copied().zip(array.strides().iter().map(|&stride| stride / size as isize));
        let Some(shape) = Shape::new(axes) else { return Ok(Source::ManyAxes(array, None)) };
        // SAFETY: the array is held, and only a field is read.
        let first: *const u8 = unsafe { (*array.as_array_ptr()).fields.data.cast() };
        let is_regular = array.strides().iter().all(|&stride| stride % size as isize == 0);
        if !(is_regular && first.addr().is_multiple_of(size)) {
            let copy = array.call_method1(intern!(array.py(), "copy"), ())?;
            return Source::of_array(name, copy.cast_into::<PyUntypedArray>()?);
        }
        Ok(Source::View(View { first, shape, data_type, descr: Some(descr), _owner: Owner::Array(array) }))
    }

    /// Of the other byte order, a copy in the machine's own. Others are refused.
    fn of_native_copy(
        name: &str,
        array: &Bound<'py, PyUntypedArray>,
        descr: &Bound<'py, PyArrayDescr>,
    ) -> PyResult<Source<'py>> {
        let py = array.py();
        if matches!(descr.kind(), b'b' | b'i' | b'u' | b'f') {
            let native = descr.call_method1(intern!(py, "newbyteorder"), ("=",))?.cast_into::<PyArrayDescr>()?;
            if element_type(&native).is_some() {
                let copy = array.call_method1(intern!(py, "astype"), (native,))?;
                return Source::of_array(name, copy.cast_into::<PyUntypedArray>()?);
            }
        }
        Err(PyTypeError::new_err(format!(
            "{name} takes bool, integers, float16, float32, float64 and ml_dtypes.bfloat16, not {}",
            descr.str()?
        )))
    }
}

/// An argument as an array of NumPy, and its element type if it is an array of another library. Nothing is copied.
pub(crate) fn array_of<'py>(
    name: &str,
    x: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyUntypedArray>, Option<DataType>)> {
    match tensor_of(name, x)? {
        Some(tensor) => {
            let Parts { data_type, .. } = tensor.parts(name)?;
            Ok((array_of_tensor(name, tensor, data_type, x.py())?, Some(data_type)))
        }
        None => Ok((array_of_numpy(name, x)?, None)),
    }
}

/// What another library exports, if it is an array of one.
fn tensor_of(name: &str, x: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    let is_tensor = x.cast::<PyUntypedArray>().is_err() && x.hasattr(intern!(x.py(), "__dlpack__"))?;
    is_tensor.then(|| Tensor::new(name, x)).transpose()
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

/// An array of NumPy, or what NumPy makes one of.
fn array_of_numpy<'py>(name: &str, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = x.py();
    let Ok(array) = x.cast::<PyUntypedArray>() else {
        let array = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "asarray"), (x,))?;
        return Ok(array.cast_into::<PyUntypedArray>()?);
    };
    if !x.get_type().is(py.get_type::<PyUntypedArray>()) && is_masked(x)? {
        return Err(PyTypeError::new_err(format!("{name} takes no masked arrays: their mask would be ignored")));
    }
    Ok(array.clone())
}

fn is_masked(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = x.py();
    x.is_instance(&py.import(intern!(py, "numpy.ma"))?.getattr(intern!(py, "MaskedArray"))?)
}

impl<'py> View<'py> {
    /// The bytes from the lowest element to the highest one.
    ///
    /// # Safety
    /// - Nothing writes to them meanwhile. (Another thread of Python may: NumPy's own functions have the same gap, and
    ///   docs say so.)
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        if self.shape.is_empty() {
            return &[];
        }
        let (before, behind) = self.shape.reach();
        let size = self.data_type.size();
        // SAFETY: sizes and strides are those of an array that is held, so each of its elements is in memory, and so is
        // what lies between two of them in one allocation.
        unsafe { std::slice::from_raw_parts(self.first.sub(before * size), (before + behind + 1) * size) }
    }

    /// The NumPy type of values: that of the elements.
    pub(crate) fn value_type(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        match &self.descr {
            Some(descr) => Ok(descr.clone()),
            None => descr_of(py, self.data_type),
        }
    }
}

/// The NumPy type of an element type. Of `bfloat16` the integers of its bits, as NumPy has no such type.
pub(crate) fn descr_of(py: Python<'_>, data_type: DataType) -> PyResult<Bound<'_, PyArrayDescr>> {
    Ok(match data_type {
        DataType::I64 => numpy::dtype::<i64>(py),
        DataType::I32 => numpy::dtype::<i32>(py),
        DataType::U64 => numpy::dtype::<u64>(py),
        DataType::U32 => numpy::dtype::<u32>(py),
        DataType::U16 | DataType::Bf16 => numpy::dtype::<u16>(py),
        DataType::U8 => numpy::dtype::<u8>(py),
        DataType::I8 => numpy::dtype::<i8>(py),
        DataType::I16 => numpy::dtype::<i16>(py),
        DataType::F32 => numpy::dtype::<f32>(py),
        DataType::F64 => numpy::dtype::<f64>(py),
        DataType::Bool => numpy::dtype::<bool>(py),
        other => PyArrayDescr::new(py, PyString::new(py, if other == DataType::F16 { "float16" } else { "?" }))?,
    })
}

/// What is written in Python.
pub(crate) fn interop(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static INTEROP: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = INTEROP.get_or_try_init(py, || py.import("argreduce._interop").map(Bound::unbind))?;
    Ok(module.bind(py))
}
