//! The arrays that are given back, or written to.

use crate::arguments::{Sizes, element_type};
use crate::interop::descr_of;
use argreduce::DataType;
use bytemuck::bytes_of_mut;
use numpy::npyffi::{
    NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, PyArray_Descr, get_type_object, npy_intp,
};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::ffi::{c_long, c_void};
use std::ptr::null_mut;

/// A packed array that nothing was written to yet, and nothing else knows.
pub(crate) struct NewArray<'py> {
    pub(crate) array: Bound<'py, PyUntypedArray>,
    bytes: usize,
}

impl<'py> NewArray<'py> {
    pub(crate) fn new(descr: Bound<'py, PyArrayDescr>, sizes: &[usize]) -> PyResult<NewArray<'py>> {
        let bytes = sizes.iter().product::<usize>() * descr.itemsize();
        // SAFETY: in memory of its own.
        Ok(NewArray { array: unsafe { new_array(descr, sizes, None)? }, bytes })
    }

    /// Copies elements of the same sizes to it, of any strides, byte order and integer type. Nothing of a subclass is
    /// called.
    pub(crate) fn fill_from(&self, array: &Bound<'py, PyUntypedArray>) -> PyResult<()> {
        copy_into(&self.array, array)
    }

    /// Its elements.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: the array is packed, and was made here, so nothing else knows it. Its memory may not be initialised:
        // bytes of any value, of which none is read before it is written.
        unsafe { std::slice::from_raw_parts_mut(first_of(&self.array).cast_mut(), self.bytes) }
    }
}

/// An array, packed and in memory of its own, or of memory that is there: its first element, strides in bytes, and what
/// holds the memory. That one is read-only.
///
/// # Safety
/// - All elements are in memory that `owner` holds, which nobody writes to without Python's lock.
pub(crate) unsafe fn new_array<'py>(
    descr: Bound<'py, PyArrayDescr>,
    sizes: &[usize],
    memory: Option<(*const u8, &[isize], Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = descr.py();
    // Sizes of arrays are not negative, so they are the same numbers.
    let sizes: &[npy_intp] = bytemuck::cast_slice(sizes);
    let (first, strides, owner) = match memory {
        Some((first, strides, owner)) => (first.cast_mut().cast(), strides.as_ptr().cast_mut(), Some(owner)),
        None => (null_mut(), null_mut(), None),
    };
    // SAFETY: a type, which the function takes over, and as many sizes, and strides, as there are axes; they are only
    // read. What it gives is an array or null. The other one takes over what holds the memory.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descr.into_dtype_ptr(),
            sizes.len() as _,
            sizes.as_ptr().cast_mut(),
            strides,
            first,
            0,
            null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked::<PyUntypedArray>();
        if let Some(owner) = owner
            && PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_array_ptr(), owner.into_ptr()) != 0
        {
            return Err(PyErr::fetch(py));
        }
        Ok(array)
    }
}

/// Copies elements. Integers that do not fit are cut off.
pub(crate) fn copy_into(to: &Bound<'_, PyUntypedArray>, from: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let py = to.py();
    // SAFETY: two arrays that are held. NumPy checks that their shapes fit, and that the first one is writeable.
    match unsafe { PY_ARRAY_API.PyArray_CopyInto(py, to.as_array_ptr(), from.as_array_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(py)),
    }
}

/// A number as NumPy has it: `numpy.int64` and others.
pub(crate) fn scalar<'py>(descr: &Bound<'py, PyArrayDescr>, bytes: &mut [u8]) -> PyResult<Bound<'py, PyAny>> {
    assert!(bytes.len() >= descr.itemsize());
    let py = descr.py();
    // SAFETY: as many bytes as an element of that type has.
    unsafe {
        let scalar = PY_ARRAY_API.PyArray_Scalar(py, bytes.as_mut_ptr().cast(), descr.as_dtype_ptr(), null_mut());
        Bound::from_owned_ptr_or_err(py, scalar)
    }
}

/// `numpy.int64`, as NumPy's C interface has it: the head of an object, and the number.
#[repr(C)]
struct Int64 {
    head: ffi::PyObject,
    number: i64,
}

/// An index as NumPy has numbers: `numpy.int64` and others.
pub(crate) fn index_number<'py>(
    py: Python<'py>,
    index_type: DataType,
    bytes: &mut [u8],
) -> PyResult<Bound<'py, PyAny>> {
    static ALLOCATE: PyOnceLock<ffi::allocfunc> = PyOnceLock::new();
    // Elsewhere `numpy.int64` is another one of NumPy's types.
    const IS_LONG: bool = size_of::<c_long>() == size_of::<i64>();
    let (true, DataType::I64, &mut [a, b, c, d, e, f, g, h]) = (IS_LONG, index_type, &mut *bytes) else {
        return scalar(&descr_of(py, index_type)?, bytes);
    };
    // SAFETY: NumPy's type, whose slot is how its objects are made. What that gives is one, with all of its memory, or
    // null; nothing else knows it.
    unsafe {
        let class = get_type_object(py, NpyTypes::PyLongArrType_Type);
        let slot = || std::mem::transmute::<*mut c_void, ffi::allocfunc>(ffi::PyType_GetSlot(class, ffi::Py_tp_alloc));
        let number = ALLOCATE.get_or_init(py, slot)(class, 0);
        let object = Bound::from_owned_ptr_or_err(py, number)?;
        (*number.cast::<Int64>()).number = i64::from_ne_bytes([a, b, c, d, e, f, g, h]);
        Ok(object)
    }
}

/// Writes an index, which fits, as the integer of so many bytes.
pub(crate) fn write_index(index: i64, to: &mut [u8]) {
    let (bytes, width) = (index.to_ne_bytes(), to.len());
    let first = if cfg!(target_endian = "little") { 0 } else { 8 - width };
    to.copy_from_slice(&bytes[first..][..width]);
}

/// Memory for what a function finds.
pub(crate) enum Place<'py> {
    /// For a number that is given back as that: no array is made.
    Number([u64; 1], DataType),
    Array(NewArray<'py>),
}

impl<'py> Place<'py> {
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        match self {
            Place::Number(number, data_type) => &mut bytes_of_mut(number)[..data_type.size()],
            Place::Array(array) => array.bytes(),
        }
    }
}

/// Checks that `out` is an array.
pub(crate) fn out_array<'a, 'py>(
    name: &str,
    out: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<Option<&'a Bound<'py, PyUntypedArray>>> {
    let Some(out) = out else { return Ok(None) };
    let class = out.get_type().name()?;
    let error = |_| PyTypeError::new_err(format!("out is of type {class}: {name} writes to arrays of NumPy"));
    out.cast().map(Some).map_err(error)
}

/// Sizes as Python writes them.
pub(crate) fn shape_text(sizes: &[usize]) -> String {
    match sizes {
        [size] => format!("({size},)"),
        _ => format!("({})", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// An array of the caller's for the indices.
pub(crate) struct Out<'a, 'py> {
    array: &'a Bound<'py, PyUntypedArray>,
    /// Its shape, which is that of the result.
    sizes: &'a Sizes,
    /// The type of the indices that are computed for it.
    pub(crate) index_type: DataType,
}

impl<'a, 'py> Out<'a, 'py> {
    /// Checks it: its shape, its type, and that the largest index, `count - 1`, fits it.
    pub(crate) fn new(
        name: &str,
        array: &'a Bound<'py, PyUntypedArray>,
        dtype: Option<DataType>,
        sizes: &'a Sizes,
        count: usize,
    ) -> PyResult<Out<'a, 'py>> {
        if *array.shape() != **sizes {
            return Err(PyValueError::new_err(format!(
                "output array does not match result of {name}: its shape is {}, and that of the result is {}",
                shape_text(array.shape()),
                shape_text(sizes)
            )));
        }
        if flags(array) & NPY_ARRAY_WRITEABLE == 0 {
            return Err(PyValueError::new_err("output array is read-only"));
        }
        let descr = array.dtype();
        let (out_type, swapped) = match element_type(&descr) {
            None if matches!(descr.kind(), b'i' | b'u') => (None, true),
            found => (found, false),
        };
        let (index_type, max) = match out_type {
            Some(
                t @ (DataType::I32 | DataType::I64 | DataType::U8 | DataType::U16 | DataType::U32 | DataType::U64),
            ) => (t, usize::MAX),
            Some(DataType::I8) => (DataType::I64, i8::MAX as usize),
            Some(DataType::I16) => (DataType::I64, i16::MAX as usize),
            None if swapped => {
                let bits = 8 * descr.itemsize() - usize::from(descr.kind() == b'i');
                (DataType::I64, (u64::MAX >> (64 - bits)) as usize)
            }
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "out is an array of {}: indices are written to arrays of integers",
                    descr.str()?
                )));
            }
        };
        if count.saturating_sub(1) > max {
            return Err(PyValueError::new_err(format!(
                "out is an array of {}: the largest index, {}, does not fit it",
                descr.str()?,
                count - 1
            )));
        }
        if dtype.is_some_and(|dtype| Some(dtype) != out_type) {
            return Err(PyTypeError::new_err(format!(
                "out is an array of {}, and dtype is another type",
                descr.str()?
            )));
        }
        Ok(Out { array, sizes, index_type })
    }

    /// Its memory, if indices can be written there one after another, without a change of what is read between `low`
    /// and `high`.
    ///
    /// # Safety
    /// - Nothing else uses the array meanwhile.
    pub(crate) unsafe fn direct(&self, read: &[u8]) -> Option<&'a mut [u8]> {
        const NEEDED: i32 = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_WRITEABLE;
        let (descr, size) = (self.array.dtype(), self.index_type.size());
        // It was checked, but here is where it counts: at the last moment.
        let is_fit = flags(self.array) & NEEDED == NEEDED && *self.array.shape() == **self.sizes;
        if !is_fit || element_type(&descr) != Some(self.index_type) {
            return None;
        }
        let first = first_of(self.array).cast_mut();
        let bytes = self.array.shape().iter().product::<usize>() * size;
        let apart = first.addr() >= read.as_ptr_range().end.addr() || first.addr() + bytes <= read.as_ptr().addr();
        if bytes == 0 || !apart || !first.addr().is_multiple_of(size) {
            return None;
        }
        // SAFETY: the array is packed and held; the caller promises the rest.
        Some(unsafe { std::slice::from_raw_parts_mut(first, bytes) })
    }

    /// The argument itself.
    pub(crate) fn given(&self) -> Bound<'py, PyAny> {
        self.array.clone().into_any()
    }

    /// Copies indices to it: they were checked to fit.
    pub(crate) fn copy(&self, indices: &Bound<'py, PyUntypedArray>) -> PyResult<()> {
        copy_into(self.array, indices)
    }
}

/// Where element `[0, .., 0]` is.
pub(crate) fn first_of(array: &Bound<'_, PyUntypedArray>) -> *const u8 {
    // SAFETY: the array is held, and only a field is read.
    unsafe { (*array.as_array_ptr()).fields.data.cast() }
}

/// Where its element type is: to be compared with one that is held.
pub(crate) fn descr_address(array: &Bound<'_, PyUntypedArray>) -> *const PyArray_Descr {
    // SAFETY: the array is held, and only a field is read.
    unsafe { (*array.as_array_ptr()).fields.descr }
}

pub(crate) fn flags(array: &Bound<'_, PyUntypedArray>) -> i32 {
    // SAFETY: the array is held, and only a field is read.
    unsafe { (*array.as_array_ptr()).fields.flags }
}

/// As many zeros.
///
/// # Errors
/// `MemoryError`
pub(crate) fn zeros<T: Copy + Default>(count: usize) -> PyResult<Vec<T>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(count).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    zeros.resize(count, T::default());
    Ok(zeros)
}
