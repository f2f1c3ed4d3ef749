//! Columns of Arrow, by its C data interface: arrays of one axis, or streams of those, with a bit for each element that
//! says whether it is there. Values are not copied, but for bools, which Arrow packs, dates of 32 bits, and what is
//! misaligned.

use crate::output::{NewArray, new_array};
use crate::view::{descr_of, interop};
use argreduce::DataType;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyTuple};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;

/// `ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `ArrowArray`.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// `ArrowArrayStream`.
#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A schema that was moved to here.
struct OwnSchema(Schema);

impl Drop for OwnSchema {
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            // SAFETY: it was not released yet, as it says.
            unsafe { release(&mut self.0) };
        }
    }
}

/// An array that was moved to here: its producer gets it back when this is dropped.
struct OwnArray(Array);

// SAFETY: the interface asks producers for arrays that any thread may release.
unsafe impl Send for OwnArray {}

impl Drop for OwnArray {
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            // SAFETY: it was not released yet, as it says.
            unsafe { release(&mut self.0) };
        }
    }
}

/// Bits that say which elements of an array are there.
#[derive(Clone, Copy)]
pub(crate) struct Validity {
    bits: *const u8,
    /// The bit of the first element.
    pub(crate) offset: usize,
    len: usize,
}

/// A piece of a column: its elements as an array of NumPy, and which of them are there, if some are not.
pub(crate) struct Chunk<'py> {
    /// Holds the memory, of the bits too.
    pub(crate) array: Bound<'py, PyUntypedArray>,
    pub(crate) len: usize,
    pub(crate) validity: Option<Validity>,
    owner: Bound<'py, PyAny>,
}

impl Chunk<'_> {
    /// The bits, which are somebody else's, and do not change.
    pub(crate) fn bits(&self) -> Option<(&[u8], usize)> {
        // The owner is held as long as this is.
        let _ = &self.owner;
        let Validity { bits, offset, len } = self.validity?;
        // SAFETY: the producer keeps as many bits as there are elements behind the offset until it gets the array back,
        // and that is when the owner goes.
        Some((unsafe { std::slice::from_raw_parts(bits, (offset + len).div_ceil(8)) }, offset))
    }
}

/// A column: its pieces. `None` if it is of a type that is not a number of its own, as structs, texts and dictionaries.
pub(crate) fn column_of<'py>(name: &str, x: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Chunk<'py>>>> {
    let py = x.py();
    if x.hasattr(intern!(py, "__arrow_c_array__"))? {
        let pair = x.call_method0(intern!(py, "__arrow_c_array__"))?.cast_into::<PyTuple>()?;
        let (schema, array) = (pair.get_item(0)?, pair.get_item(1)?);
        let schema = OwnSchema(take(schema.cast()?, c"arrow_schema", |schema: &mut Schema| &mut schema.release)?);
        let array = OwnArray(take(array.cast()?, c"arrow_array", |array: &mut Array| &mut array.release)?);
        let Some(element) = ElementType::of(&schema.0) else { return Ok(None) };
        return Ok(Some(vec![element.chunk(py, name, array)?]));
    }
    let capsule = x.call_method0(intern!(py, "__arrow_c_stream__"))?.cast_into::<PyCapsule>()?;
    // In its place: the capsule releases it.
    let stream: *mut Stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast().as_ptr();
    let failed = |stream: *mut Stream| {
        // SAFETY: a stream that is not released, whose last call has failed.
        let said = unsafe { (*stream).get_last_error.map_or(null(), |get| get(stream)) };
        // SAFETY: a text, or null, which stays until the next call.
        let said = if said.is_null() { "".into() } else { unsafe { CStr::from_ptr(said) }.to_string_lossy() };
        PyValueError::new_err(format!("{name}: the Arrow stream failed: {said}"))
    };
    // SAFETY: a capsule of that name holds a stream, which is aligned as it is.
    let (get_schema, get_next) = unsafe { ((*stream).get_schema, (*stream).get_next) };
    let (Some(get_schema), Some(get_next)) = (get_schema, get_next) else { return Err(failed(stream)) };
    // SAFETY: zeros are a value of it, of a released one.
    let mut schema = OwnSchema(unsafe { std::mem::zeroed() });
    // SAFETY: a stream, and a place for a schema.
    if unsafe { get_schema(stream, &mut schema.0) } != 0 {
        return Err(failed(stream));
    }
    let Some(element) = ElementType::of(&schema.0) else { return Ok(None) };
    let mut chunks = Vec::new();
    loop {
        // SAFETY: zeros are a value of it, of a released one.
        let mut array = OwnArray(unsafe { std::mem::zeroed() });
        // SAFETY: a stream, and a place for an array.
        if unsafe { get_next(stream, &mut array.0) } != 0 {
            return Err(failed(stream));
        }
        if array.0.release.is_none() {
            return Ok(Some(chunks));
        }
        if array.0.length > 0 {
            chunks.push(element.chunk(py, name, array)?);
        }
    }
}

/// Moves a struct out of a capsule, which is told so: its `release` becomes null.
fn take<T, R>(capsule: &Bound<'_, PyCapsule>, name: &CStr, release: impl Fn(&mut T) -> &mut Option<R>) -> PyResult<T> {
    let from: *mut T = capsule.pointer_checked(Some(name))?.cast().as_ptr();
    // SAFETY: a capsule of that name holds that struct; nobody else moves it meanwhile, as Python's lock is held.
    unsafe {
        let taken = from.read();
        if release(&mut *from).take().is_none() {
            std::mem::forget(taken);
            return Err(PyValueError::new_err("an Arrow array that was released already"));
        }
        Ok(taken)
    }
}

/// What elements are.
struct ElementType {
    data_type: DataType,
    /// The unit of dates and durations, in NumPy's words.
    date: Option<String>,
    is_packed_bool: bool,
}

impl ElementType {
    fn of(schema: &Schema) -> Option<ElementType> {
        if !schema.dictionary.is_null() || schema.format.is_null() {
            return None;
        }
        // SAFETY: a text, as the interface says.
        let format = unsafe { CStr::from_ptr(schema.format) }.to_str().ok()?;
        let plain = |data_type| Some(ElementType { data_type, date: None, is_packed_bool: false });
        let date = |data_type, kind: &str, unit: &str| {
            let unit = if unit == "s" { "s".into() } else { format!("{unit}s") };
            let date = Some(format!("{kind}64[{}]", if unit == "Ds" { "D" } else { &unit }));
            Some(ElementType { data_type, date, is_packed_bool: false })
        };
        match format {
            "c" => plain(DataType::I8),
            "C" => plain(DataType::U8),
            "s" => plain(DataType::I16),
            "S" => plain(DataType::U16),
            "i" => plain(DataType::I32),
            "I" => plain(DataType::U32),
            "l" => plain(DataType::I64),
            "L" => plain(DataType::U64),
            "e" => plain(DataType::F16),
            "f" => plain(DataType::F32),
            "g" => plain(DataType::F64),
            "b" => Some(ElementType { data_type: DataType::Bool, date: None, is_packed_bool: true }),
            "tdD" => date(DataType::I32, "datetime", "D"),
            "tdm" => date(DataType::I64, "datetime", "m"),
            "tDs" | "tDm" | "tDu" | "tDn" => date(DataType::I64, "timedelta", &format[2..]),
            _ => match format.strip_prefix("ts")?.split_once(':')?.0 {
                unit @ ("s" | "m" | "u" | "n") => date(DataType::I64, "datetime", unit),
                _ => None,
            },
        }
    }

    fn chunk<'py>(&self, py: Python<'py>, name: &str, array: OwnArray) -> PyResult<Chunk<'py>> {
        let Array { length, null_count, offset, n_buffers, buffers, .. } = array.0;
        let wrong = || PyValueError::new_err(format!("{name} was given an Arrow array that is not well-formed"));
        let (Ok(len), Ok(offset)) = (usize::try_from(length), usize::try_from(offset)) else { return Err(wrong()) };
        if len > 0 && (n_buffers != 2 || buffers.is_null()) {
            return Err(wrong());
        }
        // SAFETY: two buffers, as it says: of validity, and of elements.
        let [bits, elements] = if len == 0 { [null(); 2] } else { unsafe { [*buffers, *buffers.add(1)] } };
        if len > 0 && elements.is_null() {
            return Err(wrong());
        }
        let owner = PyCapsule::new_with_value(py, array, c"argreduce.arrow")?.into_any();
        let validity =
            (len > 0 && null_count != 0 && !bits.is_null()).then_some(Validity { bits: bits.cast(), offset, len });
        let descr = self.descr(py)?;
        let array = if self.is_packed_bool {
            let mut copy = NewArray::new(descr_of(py, DataType::Bool)?, &[len])?;
            for (n, to) in copy.bytes().iter_mut().enumerate() {
                // SAFETY: the producer has as many bits behind the offset, until it gets the array back.
                *to = unsafe { *elements.cast::<u8>().add((offset + n) / 8) } >> ((offset + n) % 8) & 1;
            }
            copy.array
        } else if len == 0 {
            NewArray::new(descr, &[0])?.array
        } else {
            let size = self.data_type.size();
            let first = elements.cast::<u8>().wrapping_add(offset * size);
            let plain = if self.date.is_some() && size == 4 { descr_of(py, DataType::I32)? } else { descr.clone() };
            let strides = [size as isize];
            // SAFETY: the producer has as many elements behind the offset, and keeps them as they are until it gets the
            // array back: when the owner goes.
            let array = unsafe { new_array(plain, &[len], Some((first, &strides, owner.clone())))? };
            if self.date.is_some() && size == 4 {
                // NumPy has dates of 64 bits alone.
                interop(py)?.call_method1(intern!(py, "wide_dates"), (array, descr))?.cast_into::<PyUntypedArray>()?
            } else {
                array
            }
        };
        Ok(Chunk { array, len, validity, owner })
    }

    fn descr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        match &self.date {
            Some(date) => Ok(PyArrayDescr::new(py, date.as_str())?),
            None => descr_of(py, self.data_type),
        }
    }
}

/// Which elements of a chunk are there: those that the bits say, and of them those that `there` says.
pub(crate) fn both(chunk: &Chunk<'_>, there: &[u8]) -> Vec<u8> {
    let Some((bits, offset)) = chunk.bits() else { return there.to_vec() };
    let is_there = |n: usize| bits[(offset + n) / 8] >> ((offset + n) % 8) & 1;
    there.iter().enumerate().map(|(n, &byte)| u8::from(byte != 0) & is_there(n)).collect()
}

/// What is said of a column that is reduced over something else than its axis.
pub(crate) fn not_an_axis(name: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} takes columns of several chunks over their axis alone"))
}
