//! Columns of lists, by Arrow's C data interface: elements, offsets, and bits that say which of both are there. Nothing
//! is copied but bools, which Arrow packs.

use crate::arrow::{self, Array, Own, Schema};
use crate::classes::Class;
use crate::column::{Arrays, Buffers, ElementType, Level, Validity, child, malformed};
use crate::interop::descr_of;
use crate::output::{NewArray, new_array};
use argreduce::DataType;
use numpy::PyUntypedArray;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;

/// Bits, and which of them is the first.
type Bits<'py> = Option<(Bound<'py, PyUntypedArray>, usize)>;

/// Elements of a piece of a column, and which of them are there, if some are not.
type Numbers<'py> = (Bound<'py, PyUntypedArray>, Bits<'py>);

/// Elements and offsets of a piece of a column, and which elements and lists are there, if some are not.
type Lists<'py> = (Bound<'py, PyUntypedArray>, Bound<'py, PyUntypedArray>, Bits<'py>, Bits<'py>);

/// The pieces of a column of lists. `None` if it is no column, or one of something else.
#[pyfunction(name = "_lists_of")]
pub(crate) fn lists_of<'py>(name: &str, x: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Lists<'py>>>> {
    let py = x.py();
    let Some((schema, mut arrays)) = column_of(name, x)? else { return Ok(None) };
    let Some((kind, element)) = Kind::of(name, &schema.0)? else { return Ok(None) };
    let mut found = Vec::new();
    while let Some(array) = arrays.next(py, name)? {
        found.push(kind.lists(py, name, &element, array)?);
    }
    if found.is_empty() {
        let none = |descr, len: usize| {
            let mut none = NewArray::new(descr, &[len])?;
            none.bytes().fill(0);
            Ok::<_, PyErr>(none.array)
        };
        found.push((none(element.descr(py)?, 0)?, none(descr_of(py, DataType::I64)?, 1)?, None, None));
    }
    Ok(Some(found))
}

/// The pieces of a column of numbers: elements, and which of them are there, if some are not. `None` if it is no
/// column, or one of something else.
#[pyfunction(name = "_elements_of")]
pub(crate) fn elements_of<'py>(name: &str, x: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Numbers<'py>>>> {
    let py = x.py();
    let Some((schema, mut arrays)) = column_of(name, x)? else { return Ok(None) };
    let element = ElementType::of(format_of(name, &schema.0)?).filter(|_| schema.0.dictionary.is_null());
    let Some(element) = element else { return Ok(None) };
    let mut found = Vec::new();
    while let Some(array) = arrays.next(py, name)? {
        let level = Level::of(name, &array.0, element.buffers())?;
        let owner = PyCapsule::new_with_value(py, array, c"argreduce.arrow")?.into_any();
        // SAFETY: the owner has the array.
        let elements = unsafe { element.array(py, level.elements, level.offset, level.len, &owner)? };
        found.push((elements, bits_of(py, level.validity, &owner)?));
    }
    if found.is_empty() {
        found.push((NewArray::new(element.descr(py)?, &[0])?.array, None));
    }
    Ok(Some(found))
}

/// What an object says by Arrow's interface. It runs code of others.
fn column_of(name: &str, x: &Bound<'_, PyAny>) -> PyResult<Option<(Own<Schema>, Arrays)>> {
    let py = x.py();
    if x.cast::<PyUntypedArray>().is_ok() {
        return Ok(None);
    }
    let Class { has_stream, has_array, .. } = Class::of(x)?;
    if has_array || x.hasattr(intern!(py, "__arrow_c_array__"))? {
        let (schema, array) = arrow::array_of(name, x)?;
        return Ok(Some((schema, Arrays::One(Some(array)))));
    }
    if has_stream || x.hasattr(intern!(py, "__arrow_c_stream__"))? {
        let mut stream = arrow::stream_of(name, x)?;
        return Ok(Some((stream.schema(py, name)?, Arrays::Of(stream))));
    }
    Ok(None)
}

/// Bits of an array, which its owner holds.
fn bits_of<'py>(py: Python<'py>, validity: Option<Validity>, owner: &Bound<'py, PyAny>) -> PyResult<Bits<'py>> {
    let Some(validity) = validity else { return Ok(None) };
    let (start, len) = (validity.bits, (validity.offset + validity.len).div_ceil(8));
    // SAFETY: so many bytes have bits, and the owner has the array.
    let bits = unsafe { new_array(descr_of(py, DataType::U8)?, &[len], Some((start, &[1], owner.clone())))? };
    Ok(Some((bits, validity.offset)))
}

/// How it is said where lists begin.
#[derive(Clone, Copy)]
enum Kind {
    /// By offsets of a type.
    Offsets(DataType),
    /// Each is as long.
    Fixed(usize),
}

/// As Arrow's formats have it.
fn format_of<'a>(name: &str, schema: &'a Schema) -> PyResult<&'a str> {
    if schema.format.is_null() {
        return Err(malformed(name, "schema", "its format is null"));
    }
    // SAFETY: a text, as the interface says, which is as long there as the schema.
    let format = unsafe { CStr::from_ptr(schema.format) };
    format.to_str().map_err(|_| malformed(name, "schema", "its format is no text"))
}

impl Kind {
    fn of(name: &str, schema: &Schema) -> PyResult<Option<(Kind, ElementType)>> {
        let format = format_of(name, schema)?;
        let kind = match format {
            "+l" => Kind::Offsets(DataType::I32),
            "+L" => Kind::Offsets(DataType::I64),
            _ => match format.strip_prefix("+w:").map(str::parse) {
                Some(Ok(size)) => Kind::Fixed(size),
                Some(Err(_)) => return Err(malformed(name, "schema", format_args!("its format is {format:?}"))),
                None => return Ok(None),
            },
        };
        // SAFETY: children as the interface says.
        let inner = unsafe { child(name, schema.n_children, schema.children)? };
        let element = ElementType::of(format_of(name, inner)?).filter(|_| inner.dictionary.is_null());
        Ok(element.map(|element| (kind, element)))
    }

    fn lists<'py>(self, py: Python<'py>, name: &str, element: &ElementType, array: Own<Array>) -> PyResult<Lists<'py>> {
        let expected = match self {
            Kind::Offsets(data_type) => Buffers { count: 2, bits: 8 * data_type.size() },
            Kind::Fixed(_) => Buffers::OF_LISTS,
        };
        let outer = Level::of(name, &array.0, expected)?;
        // SAFETY: the array is held, and what is inside of it is as the interface says.
        let inner = unsafe { child(name, array.0.n_children, array.0.children)? };
        let inner = Level::of(name, inner, element.buffers())?;
        let owner = PyCapsule::new_with_value(py, array, c"argreduce.arrow")?.into_any();
        // SAFETY: the owner has the array, and so what is inside of it.
        let elements = unsafe { element.array(py, inner.elements, inner.offset, inner.len, &owner)? };
        let offsets = match self {
            // SAFETY: one more offset than lists, as the interface says; the owner has the array.
            Kind::Offsets(data_type) if outer.len > 0 => unsafe {
                let first = outer.elements.wrapping_add(outer.offset * data_type.size());
                let strides = [data_type.size() as isize];
                new_array(descr_of(py, data_type)?, &[outer.len + 1], Some((first, &strides, owner.clone())))?
            },
            Kind::Offsets(_) | Kind::Fixed(_) => {
                let size = if let Kind::Fixed(size) = self { size } else { 0 };
                let mut offsets = NewArray::new(descr_of(py, DataType::I64)?, &[outer.len + 1])?;
                for (n, offset) in offsets.bytes().as_chunks_mut().0.iter_mut().enumerate() {
                    let value = (outer.offset + n).checked_mul(size).and_then(|value| i64::try_from(value).ok());
                    let wrong = || malformed(name, "array", format_args!("lists of {size}, {} of them", outer.len));
                    *offset = value.ok_or_else(wrong)?.to_ne_bytes();
                }
                offsets.array
            }
        };
        Ok((elements, offsets, bits_of(py, inner.validity, &owner)?, bits_of(py, outer.validity, &owner)?))
    }
}
