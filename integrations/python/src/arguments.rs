//! Python's arguments: axes, types of indices, rules, numbers of threads. Errors are those of NumPy where it has one.
//!
//! To convert them may run any code of Python: `__index__`, `__bool__`, a property. So all of it comes before an array
//! is looked at. What is converted knows nothing of arrays.

use crate::threads::Threads;
use argreduce::{AxisDirection, DataType, MAX_RANK, NanPolicy};
use numpy::npyffi::NPY_TYPES;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList, PyRange, PyString, PyTuple};
use std::ffi::c_long;
use std::num::IntErrorKind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What `axis` says, before it is known how many axes there are.
pub(crate) enum Axis {
    All,
    One(isize),
    Several(Vec<isize>),
}

/// No array has more axes. One more is a duplicate or out of range, whatever follows.
const MOST_AXES: usize = 64;

impl Axis {
    pub(crate) fn new(axis: Option<&Bound<'_, PyAny>>) -> PyResult<Axis> {
        let Some(axis) = axis else { return Ok(Axis::All) };
        if axis.is_exact_instance_of::<PyInt>() {
            return integer(axis).map(Axis::One);
        }
        if let Ok(tuple) = axis.cast::<PyTuple>() {
            return tuple
                .iter()
                .take(MOST_AXES + 1)
                .map(|axis| integer(&axis))
                .collect::<PyResult<_>>()
                .map(Axis::Several);
        }
        if !is_list(axis) {
            return integer(axis).map(Axis::One);
        }
        axis.try_iter()?.take(MOST_AXES + 1).map(|axis| integer(&axis?)).collect::<PyResult<_>>().map(Axis::Several)
    }

    /// The axes of an array of that rank.
    pub(crate) fn of_rank(&self, py: Python<'_>, rank: usize) -> PyResult<Axes> {
        let mut axes = Axes { bits: 0 };
        match self {
            Axis::All => axes = Axes::all(rank),
            Axis::One(axis) => axes.add(py, *axis, rank)?,
            Axis::Several(several) => several.iter().try_for_each(|&axis| axes.add(py, axis, rank))?,
        }
        Ok(axes)
    }
}

/// Whether these are axes, one after another, though not in a tuple: a range and an array of one axis, too.
fn is_list(axis: &Bound<'_, PyAny>) -> bool {
    let is_array = |axis: &Bound<'_, PyUntypedArray>| axis.ndim() == 1 && matches!(axis.dtype().kind(), b'i' | b'u');
    axis.is_instance_of::<PyList>()
        || axis.is_instance_of::<PyRange>()
        || axis.cast::<PyUntypedArray>().is_ok_and(is_array)
}

pub(crate) fn integer(axis: &Bound<'_, PyAny>) -> PyResult<isize> {
    let py = axis.py();
    let not_an_axis = || {
        let class = axis.get_type().name()?;
        let allowed = "None, an integer or a tuple of integers is needed";
        Ok(PyTypeError::new_err(format!("axis is of type {class}: {allowed}")))
    };
    // A `bool` is an integer to Python, and NumPy's own was one; to NumPy it is no axis, and a `keepdims` without its
    // name more likely.
    if !axis.is_exact_instance_of::<PyInt>() && matches!(axis.get_type().name()?.to_str()?, "bool" | "bool_") {
        return Err(not_an_axis()?);
    }
    axis.extract::<isize>().map_err(|error| match error {
        error if error.is_instance_of::<PyTypeError>(py) => not_an_axis().unwrap_or_else(|error: PyErr| error),
        error if error.is_instance_of::<PyOverflowError>(py) => {
            PyOverflowError::new_err(format!("axis is {axis}: too large to convert to C long"))
        }
        error => error,
    })
}

/// A number of elements: what is too large for one is as large as can be.
pub(crate) fn count(count: &Bound<'_, PyAny>) -> PyResult<isize> {
    match count.extract::<isize>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(count.py()) => {
            Ok(if count.gt(0)? { isize::MAX } else { isize::MIN })
        }
        found => found,
    }
}

/// Which axes of a tensor are reduced: a bit for each. A tensor of rank 0 has the axes 0 and -1 too, as NumPy has it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axes {
    bits: u64,
}

impl Axes {
    /// All of so many.
    pub(crate) fn all(rank: usize) -> Axes {
        Axes { bits: u64::MAX.checked_shr(64 - rank as u32).unwrap_or(0) }
    }

    fn add(&mut self, py: Python<'_>, given: isize, rank: usize) -> PyResult<()> {
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
        let mut left = self.bits;
        std::iter::from_fn(move || {
            let axis = (left != 0).then_some(left.trailing_zeros() as isize);
            left &= left.wrapping_sub(1);
            axis
        })
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
    let wrong_type = |what: &Bound<'_, PyAny>, axis: String| {
        let class = what.get_type().name()?;
        Ok(PyTypeError::new_err(format!("{name} is of type {class}{axis}: an integer for each axis is needed")))
    };
    if sizes.is_instance_of::<PyString>() {
        return Err(wrong_type(sizes, String::new())?);
    }
    let Ok(sizes) = sizes.try_iter() else { return Err(wrong_type(sizes, String::new())?) };
    let number = |(axis, size): (usize, PyResult<Bound<'_, PyAny>>)| {
        let size = size?;
        size.extract::<usize>().map_err(|error| match error {
            error if error.is_instance_of::<PyOverflowError>(size.py()) => {
                PyValueError::new_err(format!("{name} is {size} on axis {axis}: 0 to {} are allowed", usize::MAX))
            }
            error if error.is_instance_of::<PyTypeError>(size.py()) => {
                wrong_type(&size, format!(" on axis {axis}")).unwrap_or_else(|error: PyErr| error)
            }
            error => error,
        })
    };
    // One more than any array has axes: that is an error, whatever follows.
    sizes.take(MOST_AXES + 1).enumerate().map(number).collect()
}

/// Of whatever has a truth value, as Python has it: `None` is not true.
pub(crate) fn truth(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.is_truthy()
}

/// `"propagate"` or `"ignore"`.
pub(crate) fn nan(value: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    word("nan", value, ["propagate", "ignore"])
}

/// `"argmax"` or `"argmin"`.
pub(crate) fn function(value: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    word("function", value, ["argmax", "argmin"])
}

/// One of two words.
fn word(name: &str, value: &Bound<'_, PyAny>, allowed: [&'static str; 2]) -> PyResult<&'static str> {
    let [first, second] = allowed;
    let Ok(text) = value.extract::<&str>() else {
        let class = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} is of type {class}: '{first}' and '{second}' are allowed")));
    };
    let found = allowed.into_iter().find(|&word| word == text);
    found.ok_or_else(|| PyValueError::new_err(format!("{name} is '{text}': '{first}' and '{second}' are allowed")))
}

/// What [`nan`] means.
pub(crate) fn nan_policy(nan: &str) -> NanPolicy {
    if nan == "ignore" { NanPolicy::Ignore } else { NanPolicy::Propagate }
}

/// An index to be written where nothing is there.
pub(crate) fn fill(fill: &Bound<'_, PyAny>) -> PyResult<i64> {
    fill.extract().map_err(|error: PyErr| match error {
        error if error.is_instance_of::<PyOverflowError>(fill.py()) => {
            PyValueError::new_err(format!("fill is {fill}: {} to {} are allowed", i64::MIN, i64::MAX))
        }
        error if error.is_instance_of::<PyTypeError>(fill.py()) => match fill.get_type().name() {
            Ok(class) => PyTypeError::new_err(format!("fill is of type {class}: None or an integer is needed")),
            Err(error) => error,
        },
        error => error,
    })
}

/// That it fits the integers that are written.
pub(crate) fn check_fill(fill: i64, written: &Bound<'_, PyArrayDescr>) -> PyResult<()> {
    let unused_bits = 64 - 8 * written.itemsize() as u32;
    let (min, max) = match written.kind() {
        b'u' => (0, (u64::MAX >> unused_bits).min(i64::MAX as u64) as i64),
        _ => (i64::MIN >> unused_bits, i64::MAX >> unused_bits),
    };
    if (min..=max).contains(&fill) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("fill is {fill}: {written} does not hold it, which holds {min} to {max}")))
}

/// Which of equal elements wins.
pub(crate) fn direction(select_last: bool) -> AxisDirection {
    if select_last { AxisDirection::Decreasing } else { AxisDirection::Increasing }
}

/// The type of indices that is asked for.
pub(crate) fn index_type(dtype: &Bound<'_, PyAny>) -> PyResult<DataType> {
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
    if is_swapped(descr) { None } else { element_type_of_any_order(descr) }
}

/// The type by which elements are compared: the same, or that of the integers that dates and durations are.
pub(crate) fn compared_type(descr: &Bound<'_, PyArrayDescr>) -> Option<DataType> {
    let of_dates = || (is_date(descr) && !is_swapped(descr)).then_some(DataType::I64);
    element_type(descr).or_else(of_dates)
}

/// Whether elements are dates or durations.
pub(crate) fn is_date(descr: &Bound<'_, PyArrayDescr>) -> bool {
    matches!(descr.kind(), b'M' | b'm')
}

fn is_swapped(descr: &Bound<'_, PyArrayDescr>) -> bool {
    descr.byteorder() == if cfg!(target_endian = "little") { b'>' } else { b'<' }
}

/// The same, whatever the byte order.
pub(crate) fn element_type_of_any_order(descr: &Bound<'_, PyArrayDescr>) -> Option<DataType> {
    let number = descr.num();
    if let Some(&data_type) = usize::try_from(number).ok().and_then(|number| TYPES.get(number)) {
        return data_type;
    }
    // A type that NumPy does not know: it has a number only once `ml_dtypes` is imported.
    (number >= FIRST_FOREIGN_TYPE && descr.itemsize() == 2 && is_bfloat16(descr)).then_some(DataType::Bf16)
}

/// By NumPy's numbers: `NPY_BOOL` is 0, and `NPY_HALF` 23.
const TYPES: [Option<DataType>; 24] = {
    let is_long_wide = size_of::<c_long>() == 8;
    let (long, unsigned_long) =
        if is_long_wide { (DataType::I64, DataType::U64) } else { (DataType::I32, DataType::U32) };
    let mut types = [None; 24];
    types[NPY_TYPES::NPY_BOOL as usize] = Some(DataType::Bool);
    types[NPY_TYPES::NPY_BYTE as usize] = Some(DataType::I8);
    types[NPY_TYPES::NPY_UBYTE as usize] = Some(DataType::U8);
    types[NPY_TYPES::NPY_SHORT as usize] = Some(DataType::I16);
    types[NPY_TYPES::NPY_USHORT as usize] = Some(DataType::U16);
    types[NPY_TYPES::NPY_INT as usize] = Some(DataType::I32);
    types[NPY_TYPES::NPY_UINT as usize] = Some(DataType::U32);
    types[NPY_TYPES::NPY_LONG as usize] = Some(long);
    types[NPY_TYPES::NPY_ULONG as usize] = Some(unsigned_long);
    types[NPY_TYPES::NPY_LONGLONG as usize] = Some(DataType::I64);
    types[NPY_TYPES::NPY_ULONGLONG as usize] = Some(DataType::U64);
    types[NPY_TYPES::NPY_FLOAT as usize] = Some(DataType::F32);
    types[NPY_TYPES::NPY_DOUBLE as usize] = Some(DataType::F64);
    types[NPY_TYPES::NPY_HALF as usize] = Some(DataType::F16);
    types
};

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
    let Some(threads) = threads else { return from_environment() };
    let py = threads.py();
    let needed = "None, an integer or 'all' is needed";
    if let Ok(text) = threads.cast::<PyString>() {
        return match text.to_str()? {
            ALL => Ok(Threads { count: cpus() }),
            text => Err(PyValueError::new_err(format!("threads is '{text}': {needed}"))),
        };
    }
    match threads.extract::<isize>() {
        Ok(count) => at_most_all("threads", count),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            let class = threads.get_type().name()?;
            Err(PyTypeError::new_err(format!("threads is of type {class}: {needed}")))
        }
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
            at_most_all("threads", if threads.gt(0)? { isize::MAX } else { isize::MIN })
        }
        Err(error) => Err(error),
    }
}

/// As many threads as there are CPUs; -1 too, as joblib has it.
const ALL: &str = "all";

/// More than there are CPUs bring nothing, and stay: so they are not started.
fn at_most_all(name: &str, count: isize) -> PyResult<Threads> {
    match usize::try_from(count) {
        Ok(1) => Ok(Threads { count: 1 }),
        Ok(count @ 1..) => Ok(Threads { count: count.min(cpus()) }),
        _ if count == -1 => Ok(Threads { count: cpus() }),
        _ => Err(PyValueError::new_err(format!("{name} is {count}: at least 1 is needed, or 'all' (-1)"))),
    }
}

/// Read once.
fn from_environment() -> PyResult<Threads> {
    const NAME: &str = "ARGREDUCE_NUM_THREADS";
    static COUNT: OnceLock<Result<isize, String>> = OnceLock::new();
    let read = || match std::env::var(NAME) {
        Ok(text) if text.trim() == ALL => Ok(-1),
        Ok(text) if !text.is_empty() => match text.trim().parse::<isize>() {
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => Ok(isize::MAX),
            count => count.map_err(|_| text),
        },
        _ => Ok(1),
    };
    match COUNT.get_or_init(read) {
        Ok(count) => at_most_all(NAME, *count),
        Err(text) => Err(PyValueError::new_err(format!("{NAME} is '{text}': a number or 'all' is needed"))),
    }
}

/// How many CPUs this process may use; 0 before they are counted.
static CPUS: AtomicUsize = AtomicUsize::new(0);

/// Counted once: to ask the system takes longer than a small call.
fn cpus() -> usize {
    match CPUS.load(Relaxed) {
        0 => {
            let count = std::thread::available_parallelism().map_or(1, |count| count.get());
            CPUS.store(count, Relaxed);
            count
        }
        count => count,
    }
}

/// For tests of many threads on machines of few CPUs: as if the process might use so many. 0: they are counted again.
#[pyfunction(name = "_set_cpus")]
pub(crate) fn set_cpus(count: usize) {
    CPUS.store(count, Relaxed);
}
