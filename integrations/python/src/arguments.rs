//! Python's arguments: axes, types of indices, rules, numbers of threads. Errors are those of NumPy where it has one.

use crate::threads::Threads;
use argreduce::{AxisDirection, DataType, MAX_RANK, NanPolicy, ReduceFunction};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList, PyTuple};

/// Which axes of a tensor are reduced: a bit for each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axes {
    bits: u64,
}

impl Axes {
    /// As NumPy has it: `None` is all of them, and a tensor of rank 0 has the axes 0 and -1 too.
    pub(crate) fn new(axis: Option<&Bound<'_, PyAny>>, rank: usize) -> PyResult<Axes> {
        let Some(axis) = axis else { return Ok(Axes { bits: u64::MAX.checked_shr(64 - rank as u32).unwrap_or(0) }) };
        let mut axes = Axes { bits: 0 };
        if let Ok(tuple) = axis.cast::<PyTuple>() {
            for axis in tuple.iter_borrowed() {
                axes.add(&axis, rank)?;
            }
        } else if let Ok(list) = axis.cast::<PyList>() {
            for axis in list.iter() {
                axes.add(&axis, rank)?;
            }
        } else {
            axes.add(axis, rank)?;
        }
        Ok(axes)
    }

    fn add(&mut self, axis: &Bound<'_, PyAny>, rank: usize) -> PyResult<()> {
        let py = axis.py();
        // A `bool` is an integer to Python, and NumPy's own was one; to NumPy it is no axis, and a `keepdims` without
        // its name more likely.
        if !axis.is_exact_instance_of::<PyInt>() && matches!(axis.get_type().name()?.to_str()?, "bool" | "bool_") {
            return Err(not_an_axis(axis)?);
        }
        let given = match axis.extract::<isize>() {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => return Err(not_an_axis(axis)?),
            given => given?,
        };
        if rank == 0 && (given == 0 || given == -1) {
            return Ok(());
        }
        let axis = if given < 0 { given + rank as isize } else { given };
        if !(0..rank as isize).contains(&axis) {
            return Err(axis_error(py, given, rank));
        }
        if self.contains(axis as usize) {
            return Err(PyValueError::new_err(format!("duplicate value in 'axis': {given} is axis {axis} again")));
        }
        self.bits |= 1 << axis;
        Ok(())
    }

    pub(crate) fn contains(self, axis: usize) -> bool {
        self.bits >> axis & 1 != 0
    }

    /// Those that are reduced, in ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = isize> {
        (0..64).filter(move |&axis| self.contains(axis)).map(|axis| axis as isize)
    }

    /// The sizes of the result: of reduced axes 1, or left out.
    pub(crate) fn result_sizes(self, sizes: &[usize], keepdims: bool) -> Sizes {
        let mut result = Sizes { sizes: [0; MAX_RANK], rank: 0 };
        for (axis, &size) in sizes.iter().enumerate() {
            if self.contains(axis) && !keepdims {
                continue;
            }
            result.sizes[result.rank] = if self.contains(axis) { 1 } else { size };
            result.rank += 1;
        }
        result
    }
}

/// At most as many sizes as a tensor has axes.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    sizes: [usize; MAX_RANK],
    rank: usize,
}

impl std::ops::Deref for Sizes {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.sizes[..self.rank]
    }
}

fn not_an_axis(axis: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    let class = axis.get_type().name()?;
    Ok(PyTypeError::new_err(format!("axis is of type {class}: None, an integer or a tuple of integers is needed")))
}

/// `numpy.exceptions.AxisError`.
fn axis_error(py: Python<'_>, axis: isize, rank: usize) -> PyErr {
    static AXIS_ERROR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = || py.import("numpy.exceptions")?.getattr("AxisError").map(Bound::unbind);
    match AXIS_ERROR.get_or_try_init(py, class).and_then(|class| class.bind(py).call1((axis, rank))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Sizes, or where a part begins: a number for each axis, none of which is negative.
pub(crate) fn sizes(name: &str, sizes: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let number = |(axis, size): (usize, Bound<'_, PyAny>)| match size.extract::<usize>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(size.py()) => {
            Err(PyValueError::new_err(format!("{name} is {size} on axis {axis}: 0 to {} are allowed", usize::MAX)))
        }
        size => size,
    };
    sizes.extract::<Vec<_>>()?.into_iter().enumerate().map(number).collect()
}

/// `"propagate"` or `"ignore"`.
pub(crate) fn nan_policy(name: &str) -> PyResult<NanPolicy> {
    match name {
        "propagate" => Ok(NanPolicy::Propagate),
        "ignore" => Ok(NanPolicy::Ignore),
        _ => Err(PyValueError::new_err(format!("nan is '{name}': 'propagate' and 'ignore' are allowed"))),
    }
}

/// `"argmax"` or `"argmin"`.
pub(crate) fn function(name: &str) -> PyResult<ReduceFunction> {
    match name {
        "argmax" => Ok(ReduceFunction::ArgMax),
        "argmin" => Ok(ReduceFunction::ArgMin),
        _ => Err(PyValueError::new_err(format!("function is '{name}': 'argmax' and 'argmin' are allowed"))),
    }
}

/// Which of equal elements wins.
pub(crate) fn direction(select_last: bool) -> AxisDirection {
    if select_last { AxisDirection::Decreasing } else { AxisDirection::Increasing }
}

/// The type of indices that was asked for: `int64` if none was.
pub(crate) fn index_type(dtype: Option<&Bound<'_, PyAny>>) -> PyResult<DataType> {
    let Some(dtype) = dtype else { return Ok(DataType::I64) };
    let descr = PyArrayDescr::new(dtype.py(), dtype)?;
    match element_type(&descr) {
        Some(index_type @ (DataType::I32 | DataType::I64)) => Ok(index_type),
        Some(index_type @ (DataType::U8 | DataType::U16 | DataType::U32 | DataType::U64)) => Ok(index_type),
        _ => Err(PyTypeError::new_err(format!(
            "dtype is {descr}: indices are int32, int64, uint8, uint16, uint32 or uint64"
        ))),
    }
}

/// The element type of a NumPy type in the machine's byte order.
pub(crate) fn element_type(descr: &Bound<'_, PyArrayDescr>) -> Option<DataType> {
    match (descr.kind(), descr.itemsize()) {
        _ if descr.byteorder() == if cfg!(target_endian = "little") { b'>' } else { b'<' } => None,
        (b'f', 2) => Some(DataType::F16),
        (b'f', 4) => Some(DataType::F32),
        (b'f', 8) => Some(DataType::F64),
        (b'b', 1) => Some(DataType::Bool),
        (b'i', 1) => Some(DataType::I8),
        (b'i', 2) => Some(DataType::I16),
        (b'i', 4) => Some(DataType::I32),
        (b'i', 8) => Some(DataType::I64),
        (b'u', 1) => Some(DataType::U8),
        (b'u', 2) => Some(DataType::U16),
        (b'u', 4) => Some(DataType::U32),
        (b'u', 8) => Some(DataType::U64),
        // A type that NumPy does not know: it has a number only once `ml_dtypes` is imported.
        (_, 2) if descr.num() >= FIRST_FOREIGN_TYPE && is_bfloat16(descr) => Some(DataType::Bf16),
        _ => None,
    }
}

/// NumPy's `NPY_USERDEF`.
const FIRST_FOREIGN_TYPE: i32 = 256;

fn is_bfloat16(descr: &Bound<'_, PyArrayDescr>) -> bool {
    let class = descr.typeobj();
    let is = |name: &str, expected: &str| {
        class.getattr(name).and_then(|name| name.extract::<String>()).is_ok_and(|name| name == expected)
    };
    is("__name__", "bfloat16") && is("__module__", "ml_dtypes")
}

/// How many threads may work on a call: the environment decides if the caller does not.
pub(crate) fn threads(threads: Option<&Bound<'_, PyAny>>) -> PyResult<Threads> {
    let (count, what): (isize, _) = match threads {
        Some(threads) => (threads.extract()?, "threads"),
        None => (from_environment()?, "ARGREDUCE_NUM_THREADS"),
    };
    match usize::try_from(count) {
        Ok(count @ 1..) => Ok(Threads { count }),
        _ => Err(PyValueError::new_err(format!("{what} is {count}: at least 1 is needed"))),
    }
}

/// Read once.
fn from_environment() -> PyResult<isize> {
    static COUNT: std::sync::OnceLock<Result<isize, String>> = std::sync::OnceLock::new();
    let read = || match std::env::var("ARGREDUCE_NUM_THREADS") {
        Ok(count) if !count.is_empty() => count.trim().parse().map_err(|_| count),
        _ => Ok(1),
    };
    COUNT
        .get_or_init(read)
        .clone()
        .map_err(|count| PyValueError::new_err(format!("ARGREDUCE_NUM_THREADS is '{count}': a number is needed")))
}
