//! What NumPy has for the library's types and errors, and what is written in Python. Knows nothing of arrays and calls.

use argreduce::{DataType, Error};
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};
use std::ffi::c_void;
use std::ptr::null_mut;

/// What is wrong with a call that NumPy has no other exception for.
pub(crate) fn value_error(error: Error) -> PyErr {
    match error {
        Error::Misaligned { .. } => PyTypeError::new_err(error.to_string()),
        Error::IndexTooLarge { index_type, .. } => {
            // By NumPy's name.
            let (long, short) = if index_type.starts_with('u') { ("uint", "u") } else { ("int", "i") };
            let name = index_type.replacen(short, long, 1);
            PyValueError::new_err(error.to_string().replacen(index_type, &name, 1))
        }
        _ => PyValueError::new_err(error.to_string()),
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
        DataType::F16 => PyArrayDescr::new(py, PyString::new(py, "float16"))?,
        other => return Err(PyTypeError::new_err(format!("NumPy has no {other}"))),
    })
}

/// The named tuples that are given back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NamedTuple {
    ValuesAndIndices,
    ArgMinMax,
    ArgMinMaxValues,
}

impl NamedTuple {
    /// One, made by `tuple.__new__`: that of its class is written in Python, and takes as long as a small call.
    pub(crate) fn of<'py, const N: usize>(
        self,
        py: Python<'py>,
        fields: [Bound<'py, PyAny>; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        static CLASSES: [PyOnceLock<Py<PyType>>; 3] = [const { PyOnceLock::new() }; 3];
        static NEW: PyOnceLock<ffi::newfunc> = PyOnceLock::new();
        let find = || Ok::<_, PyErr>(interop(py)?.getattr(format!("{self:?}"))?.cast_into::<PyType>()?.unbind());
        let class = CLASSES[self as usize].get_or_try_init(py, find)?.bind(py);
        let arguments = PyTuple::new(py, [PyTuple::new(py, fields)?])?;
        // SAFETY: the slot of a type that has it, by which objects of it and of its subclasses are made, of a tuple of
        // arguments, as here.
        unsafe {
            let slot = || ffi::PyType_GetSlot(&raw mut ffi::PyTuple_Type, ffi::Py_tp_new);
            let new = NEW.get_or_init(py, || std::mem::transmute::<*mut c_void, ffi::newfunc>(slot()));
            Bound::from_owned_ptr_or_err(py, new(class.as_type_ptr(), arguments.as_ptr(), null_mut()))
        }
    }
}

/// What is written in Python.
pub(crate) fn interop(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static INTEROP: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = INTEROP.get_or_try_init(py, || py.import("argreduce._interop").map(Bound::unbind))?;
    Ok(module.bind(py))
}
