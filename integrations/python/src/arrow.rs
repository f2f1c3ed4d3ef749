//! The structs of Arrow's C interfaces: schemas, arrays and streams, which other libraries make.
//!
//! What a capsule holds is moved out of it. From then on nobody else can take or release it.
//!
//! Whatever a callback does may take long, and may wait for a thread that needs Python's lock. So all of them run
//! without that lock, and any other code may run meanwhile. After each of them a struct is looked at again, and
//! `release` comes first: a struct without it was released, or moved to somewhere else, and nothing else of it means
//! anything.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyTuple};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// How a struct is given back to its producer.
pub(crate) type Release<T> = Option<unsafe extern "C" fn(*mut T)>;

/// `ArrowSchema`.
#[repr(C)]
pub(crate) struct Schema {
    pub(crate) format: *const c_char,
    name: *const c_char,
    pub(crate) metadata: *const c_char,
    pub(crate) flags: i64,
    pub(crate) n_children: i64,
    pub(crate) children: *const *const Schema,
    pub(crate) dictionary: *const Schema,
    pub(crate) release: Release<Schema>,
    private_data: *mut c_void,
}

/// `ArrowArray`.
#[repr(C)]
pub(crate) struct Array {
    pub(crate) length: i64,
    pub(crate) null_count: i64,
    pub(crate) offset: i64,
    pub(crate) n_buffers: i64,
    pub(crate) n_children: i64,
    pub(crate) buffers: *const *const c_void,
    pub(crate) children: *const *const Array,
    pub(crate) dictionary: *const Array,
    pub(crate) release: Release<Array>,
    private_data: *mut c_void,
}

/// A function of a stream that gives a struct, or an error.
type Get<T> = Option<unsafe extern "C" fn(*mut Stream, *mut T) -> c_int>;

/// `ArrowArrayStream`.
#[repr(C)]
pub(crate) struct Stream {
    get_schema: Get<Schema>,
    get_next: Get<Array>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Release<Stream>,
    private_data: *mut c_void,
}

/// One of the three structs. All of them may be moved, and zeros are one that was released.
///
/// # Safety
/// - Zeros are a value of it.
/// - It has no field that is dropped.
pub(crate) unsafe trait Struct: Sized {
    /// The name of capsules that hold one.
    const CAPSULE: &CStr;
    /// What people call it.
    const NOUN: &str;

    /// Where its `release` is. Nothing else of it is read.
    ///
    /// # Safety
    /// - The place is one of such a struct.
    unsafe fn release(place: *mut Self) -> *mut Release<Self>;

    /// Whether it was released, or moved to somewhere else.
    ///
    /// # Safety
    /// - The place is one of such a struct, which nobody writes to meanwhile.
    unsafe fn is_released(place: *const Self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (*Self::release(place.cast_mut())).is_none() }
    }
}

macro_rules! structs {
    ($($name:ident = $capsule:literal, $noun:literal;)+) => {$(
        // SAFETY: numbers, pointers and functions that may be missing.
        unsafe impl Struct for $name {
            const CAPSULE: &CStr = $capsule;
            const NOUN: &str = $noun;

            unsafe fn release(place: *mut Self) -> *mut Release<Self> {
                // SAFETY: the caller's promise.
                unsafe { &raw mut (*place).release }
            }
        }
    )+};
}

structs! {
    Schema = c"arrow_schema", "schema";
    Array = c"arrow_array", "array";
    Stream = c"arrow_array_stream", "stream";
}

/// A struct that was moved to here. Its producer gets it back when this is dropped.
pub(crate) struct Own<T: Struct>(pub(crate) T);

// SAFETY: the interface asks producers for arrays that any thread may read and release.
unsafe impl Send for Own<Array> {}

impl<T: Struct> Own<T> {
    /// One that was released.
    fn nothing() -> Own<T> {
        // SAFETY: zeros are a value of it.
        Own(unsafe { std::mem::zeroed() })
    }

    /// Moves a struct out of a capsule, which is told so: its `release` becomes null. `from` says for messages where
    /// the capsule is from.
    fn take(from: &Origin<'_>, capsule: &Bound<'_, PyAny>) -> PyResult<Own<T>> {
        let wrong = || from.error(format_args!("a capsule named {:?} is needed", T::CAPSULE));
        let capsule = capsule.cast::<PyCapsule>().map_err(|_| wrong())?;
        let place: *mut T = capsule.pointer_checked(Some(T::CAPSULE)).map_err(|_| wrong())?.cast().as_ptr();
        if !place.is_aligned() {
            return Err(PyValueError::new_err(format!("{}: the Arrow {} is misaligned", from.name, T::NOUN)));
        }
        // SAFETY: a capsule of that name holds that struct. It is held, and as Python's lock is held, nobody else moves
        // the struct meanwhile. Where `release` is null nothing else is read.
        unsafe {
            if T::is_released(place) {
                let (name, noun) = (from.name, T::NOUN);
                return Err(PyValueError::new_err(format!(
                    "{name} was given an Arrow {noun} that was released already"
                )));
            }
            let taken = Own(place.read());
            *T::release(place) = None;
            Ok(taken)
        }
    }
}

impl<T: Struct> Drop for Own<T> {
    fn drop(&mut self) {
        // SAFETY: the place is one of such a struct.
        let Some(release) = (unsafe { *T::release(&raw mut self.0) }) else { return };
        let place = AtomicPtr::new(&raw mut self.0);
        // SAFETY: it was not released, and is not used any more.
        let run = || unsafe { release(place.load(Relaxed)) };
        // Where Python ends, its lock is left as it is.
        if Python::try_attach(|py| py.detach(run)).is_none() {
            run();
        }
    }
}

/// Where a capsule is from.
struct Origin<'a> {
    /// The function that was called.
    name: &'a str,
    x: &'a Bound<'a, PyAny>,
    method: &'static str,
}

impl Origin<'_> {
    /// What it gives is not what it should give.
    fn error(&self, needed: std::fmt::Arguments<'_>) -> PyErr {
        let class = self.x.get_type();
        let class = class.name().map_or_else(|_| "?".into(), |name| name.to_string());
        let Origin { name, method, .. } = self;
        PyTypeError::new_err(format!("{name} was given a {class} whose {method}() is not Arrow's: {needed}"))
    }
}

/// What an object says by `__arrow_c_array__`.
pub(crate) fn array_of(name: &str, x: &Bound<'_, PyAny>) -> PyResult<(Own<Schema>, Own<Array>)> {
    let from = Origin { name, x, method: "__arrow_c_array__" };
    let given = x.call_method0(intern!(x.py(), "__arrow_c_array__"))?;
    let [schema, array] = given
        .cast::<PyTuple>()
        .ok()
        .and_then(|pair| Some([pair.get_item(0).ok()?, pair.get_item(1).ok()?]).filter(|_| pair.len() == 2))
        .ok_or_else(|| from.error(format_args!("a tuple of two capsules is needed, not {}", said(&given))))?;
    Ok((Own::take(&from, &schema)?, Own::take(&from, &array)?))
}

/// What an object says by `__arrow_c_stream__`.
pub(crate) fn stream_of(name: &str, x: &Bound<'_, PyAny>) -> PyResult<Own<Stream>> {
    let from = Origin { name, x, method: "__arrow_c_stream__" };
    let given = x.call_method0(intern!(x.py(), "__arrow_c_stream__"))?;
    Own::take(&from, &given)
}

/// An object as a message has it, in one short line.
fn said(x: &Bound<'_, PyAny>) -> String {
    match x.cast::<PyTuple>() {
        Ok(tuple) => format!("a tuple of {}", tuple.len()),
        Err(_) => x.get_type().name().map_or_else(|_| "another object".into(), |name| name.to_string()),
    }
}

impl Own<Stream> {
    /// The schema of all its arrays.
    pub(crate) fn schema(&mut self, py: Python<'_>, name: &str) -> PyResult<Own<Schema>> {
        let schema = self.get(py, name, |stream| stream.get_schema)?;
        match schema.0.release {
            Some(_) => Ok(schema),
            None => Err(PyValueError::new_err(format!("{name}: the Arrow stream gave a schema that was released"))),
        }
    }

    /// The next array: `None` behind the last one.
    pub(crate) fn next(&mut self, py: Python<'_>, name: &str) -> PyResult<Option<Own<Array>>> {
        // What waits for a stream can be interrupted.
        py.check_signals()?;
        let array = self.get(py, name, |stream| stream.get_next)?;
        Ok(array.0.release.is_some().then_some(array))
    }

    fn get<T: Struct>(&mut self, py: Python<'_>, name: &str, get: impl Fn(&Stream) -> Get<T>) -> PyResult<Own<T>> {
        if self.0.release.is_none() {
            return Err(PyValueError::new_err(format!("{name}: the Arrow stream was released while it was read")));
        }
        let Some(get) = get(&self.0) else {
            return Err(PyValueError::new_err(format!(
                "{name}: the Arrow stream lacks a function that gives {}s",
                T::NOUN
            )));
        };
        let mut found = Own::nothing();
        let (stream, to) = (AtomicPtr::new(&raw mut self.0), AtomicPtr::new(&raw mut found.0));
        // SAFETY: a stream that was not released, and a place for what it gives. Both stay where they are.
        let code = py.detach(|| unsafe { get(stream.load(Relaxed), to.load(Relaxed)) });
        if code == 0 { Ok(found) } else { Err(self.failed(py, name, code)) }
    }

    /// What the stream says of its last call, in one line.
    fn failed(&mut self, py: Python<'_>, name: &str, code: c_int) -> PyErr {
        let mut text = Vec::new();
        if let (Some(_), Some(get)) = (self.0.release, self.0.get_last_error) {
            let stream = AtomicPtr::new(&raw mut self.0);
            text = py.detach(|| {
                // SAFETY: a stream that was not released, whose last call has failed. What it gives is a text, which
                // stays until the next call, or null.
                unsafe {
                    let text = get(stream.load(Relaxed));
                    if text.is_null() { Vec::new() } else { CStr::from_ptr(text).to_bytes().to_vec() }
                }
            });
        }
        let text = String::from_utf8_lossy(&text);
        let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let text = words.collect::<Vec<_>>().join(" ");
        let text = if text.is_empty() { format!("error {code}") } else { text };
        PyValueError::new_err(format!("{name}: the Arrow stream failed: {text}"))
    }
}
