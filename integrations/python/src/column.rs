//! Columns of Arrow, by its C data interface: arrays of one axis, or streams of those, with a bit for each element that
//! says whether it is there. Values are not copied, but for bools, which Arrow packs, dates of 32 bits, and what is
//! misaligned. Lists of a fixed size are further axes.

use crate::arrow::{self, Array, Own, Schema, Struct};
use crate::bits::Packed;
use crate::classes::Class;
use crate::interop::{descr_of, interop};
use crate::output::{NewArray, new_array};
use argreduce::DataType;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::ffi::CStr;
use std::fmt::Display;
use std::ptr::null;

/// Bits that say which elements of an array are there.
#[derive(Clone, Copy)]
pub(crate) struct Validity {
    pub(crate) bits: *const u8,
    /// The bit of the first element.
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

impl Validity {
    /// All bytes that have bits, from the first of the buffer on.
    ///
    /// # Safety
    /// - The producer keeps as many bits as there are elements behind the offset.
    /// - It does not get the array back before the slice is gone.
    unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.bits, (self.offset + self.len).div_ceil(8)) }
    }

    /// As elements, of which some are not there.
    ///
    /// # Safety
    /// - As for [`Validity::bytes`], for both, which are of one array.
    unsafe fn packed<'a>(self, there: Option<Validity>) -> Packed<'a> {
        // SAFETY: the caller's promise.
        let (bits, there) = unsafe { (self.bytes(), there.map(|there| there.bytes())) };
        Packed::new(bits, there, self.offset, self.len)
    }

    /// Whether an element is there.
    ///
    /// # Safety
    /// - The producer did not get the array back yet.
    unsafe fn is_there(&self, n: usize) -> bool {
        let bit = self.offset + n;
        // SAFETY: the producer keeps as many bits as there are elements behind the offset.
        unsafe { *self.bits.add(bit / 8) >> (bit % 8) & 1 != 0 }
    }
}

/// A piece of a column: its elements, and which of them are there, if some are not.
pub(crate) struct Chunk<'py> {
    elements: Elements<'py>,
    pub(crate) len: usize,
    pub(crate) validity: Option<Validity>,
    /// Holds the memory of all of it.
    owner: Bound<'py, PyAny>,
}

/// Elements of a piece of a column.
enum Elements<'py> {
    Array(Bound<'py, PyUntypedArray>),
    /// Bools, packed as a validity is, and of the same offset.
    Bits(Validity),
}

impl<'py> Chunk<'py> {
    /// Its elements as an array of NumPy: of bools that is a copy, a byte for each.
    pub(crate) fn array(&self, py: Python<'py>) -> PyResult<Bound<'py, PyUntypedArray>> {
        match &self.elements {
            Elements::Array(array) => Ok(array.clone()),
            // SAFETY: the producer gets the array back when the owner goes.
            Elements::Bits(bits) => unpacked(py, unsafe { bits.packed(None) }),
        }
    }

    /// Bools that are packed.
    pub(crate) fn packed(&self) -> Option<Packed<'_>> {
        let Elements::Bits(bits) = &self.elements else { return None };
        // SAFETY: as above, and validity has the same offset.
        Some(unsafe { bits.packed(self.validity) })
    }

    /// The bits, which are somebody else's, and do not change.
    pub(crate) fn bits(&self) -> Option<(&[u8], usize)> {
        // The owner is held as long as this is.
        let _ = &self.owner;
        // SAFETY: the producer keeps them until it gets the array back, and that is when the owner goes.
        self.validity.map(|validity| (unsafe { validity.bytes() }, validity.offset))
    }
}

fn unpacked<'py>(py: Python<'py>, bits: Packed<'_>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let mut copy = NewArray::new(descr_of(py, DataType::Bool)?, &[bits.len()])?;
    bits.unpack(copy.bytes());
    Ok(copy.array)
}

/// What a column has.
pub(crate) enum Column<'py> {
    /// Numbers, in pieces.
    Chunks(Vec<Chunk<'py>>),
    /// An array of several axes, and a mask of the same shape, if some elements are not there, in which True is such.
    Lists(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>),
    /// So many nulls, of no type.
    Nulls(usize),
}

/// The arrays of a column, one after another.
pub(crate) enum Arrays {
    One(Option<Own<Array>>),
    Of(Own<arrow::Stream>),
}

impl Arrays {
    pub(crate) fn next(&mut self, py: Python<'_>, name: &str) -> PyResult<Option<Own<Array>>> {
        match self {
            Arrays::One(array) => Ok(array.take()),
            Arrays::Of(stream) => stream.next(py, name),
        }
    }
}

/// A column, by Arrow's interface. `None` if it is of a type that is not a number of its own, as structs, texts and
/// dictionaries. It runs code of others.
pub(crate) fn column_of<'py>(name: &str, x: &Bound<'py, PyAny>) -> PyResult<Option<Column<'py>>> {
    let py = x.py();
    let Class { has_stream, has_array, tells_all, .. } = Class::of(x)?;
    let may_have_array = !has_stream && !tells_all;
    let (schema, mut arrays) = if has_array || may_have_array && x.hasattr(intern!(py, "__arrow_c_array__"))? {
        let (schema, array) = arrow::array_of(name, x)?;
        (schema, Arrays::One(Some(array)))
    } else {
        let mut stream = arrow::stream_of(name, x)?;
        (stream.schema(py, name)?, Arrays::Of(stream))
    };
    let found = match Kind::of(name, &schema.0)? {
        Kind::Numbers(element) => {
            let mut chunks = Vec::new();
            while let Some(array) = arrays.next(py, name)? {
                let chunk = element.chunk(py, name, array)?;
                if chunk.len > 0 || matches!(arrays, Arrays::One(_)) {
                    chunks.push(chunk);
                }
            }
            if chunks.is_empty() {
                // It has a type, if nothing else.
                let array = NewArray::new(element.descr(py)?, &[0])?.array;
                let (elements, owner) = (Elements::Array(array), py.None().into_bound(py));
                chunks.push(Chunk { elements, len: 0, validity: None, owner });
            }
            Some(Column::Chunks(chunks))
        }
        Kind::Lists(sizes, element) => Some(lists(py, name, &sizes, &element, arrays)?),
        Kind::Nulls => {
            let mut len = 0_usize;
            while let Some(array) = arrays.next(py, name)? {
                let of_array = Level::of(name, &array.0, Buffers::NONE)?.len;
                len = len.checked_add(of_array).ok_or_else(|| too_many(name))?;
            }
            Some(Column::Nulls(len))
        }
        Kind::Dictionary => {
            while let Some(array) = arrays.next(py, name)? {
                check_is_without_nulls(name, &array.0)?;
            }
            None
        }
        Kind::Other => None,
    };
    Ok(found)
}

/// What is wrong with a struct of Arrow.
pub(crate) fn malformed(name: &str, noun: &str, what: impl Display) -> PyErr {
    PyValueError::new_err(format!("{name} was given an Arrow {noun} that is malformed: {what}"))
}

fn too_many(name: &str) -> PyErr {
    malformed(name, "stream", "its arrays have more elements than can be counted")
}

/// A struct inside of another one, of which it has so many.
///
/// # Safety
/// - The pointers are null, or lead to as many pointers, and those to structs, or are null.
pub(crate) unsafe fn child<'a, T: Struct>(name: &str, count: i64, children: *const *const T) -> PyResult<&'a T> {
    let wrong = |what: &dyn Display| malformed(name, T::NOUN, what);
    if count != 1 {
        return Err(wrong(&format_args!("{count} children, where lists of a fixed size have one")));
    }
    // SAFETY: the caller's promise.
    let child = unsafe { if children.is_null() { null() } else { *children } };
    if child.is_null() {
        return Err(wrong(&"its child is null"));
    }
    // SAFETY: the caller's promise; a struct that was released is not read any further.
    match unsafe { T::is_released(child) } {
        true => Err(wrong(&"its child was released already")),
        // SAFETY: as above.
        false => Ok(unsafe { &*child }),
    }
}

/// What a column is of.
enum Kind {
    Numbers(ElementType),
    /// Lists of fixed sizes, from the outer to the inner, of numbers.
    Lists(Vec<usize>, ElementType),
    Nulls,
    /// Indices of values.
    Dictionary,
    Other,
}

/// NumPy has no more axes.
const MAX_AXES: usize = 64;

/// The flag of a schema that says that a dictionary is in the order of its values.
const IS_ORDERED: i64 = 1;

impl Kind {
    fn of(name: &str, schema: &Schema) -> PyResult<Kind> {
        if !schema.dictionary.is_null() {
            return if schema.flags & IS_ORDERED == 0 { Ok(Kind::Dictionary) } else { Err(ordered_error(name)) };
        }
        let (mut sizes, mut schema) = (Vec::new(), schema);
        loop {
            if schema.format.is_null() {
                return Err(malformed(name, "schema", "its format is null"));
            }
            // SAFETY: a text, as the interface says.
            let format = unsafe { CStr::from_ptr(schema.format) };
            let Ok(format) = format.to_str() else { return Err(malformed(name, "schema", "its format is no text")) };
            let Some(size) = format.strip_prefix("+w:") else {
                return Ok(match (ElementType::of(format), format) {
                    (Some(_), _) if !schema.dictionary.is_null() => Kind::Other,
                    (Some(element), _) if sizes.is_empty() => Kind::Numbers(element),
                    (Some(element), _) if sizes.len() < MAX_AXES => Kind::Lists(sizes, element),
                    (None, "n") if sizes.is_empty() => Kind::Nulls,
                    _ => Kind::Other,
                });
            };
            // What has metadata may have axes in another order.
            if !schema.metadata.is_null() || sizes.len() == MAX_AXES {
                return Ok(Kind::Other);
            }
            let size = size.parse().ok().filter(|&size| isize::try_from(size).is_ok());
            sizes.push(size.ok_or_else(|| malformed(name, "schema", format_args!("its format is {format:?}")))?);
            // SAFETY: children as the interface says.
            schema = unsafe { child(name, schema.n_children, schema.children)? };
        }
    }
}

/// The buffers that an array has.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) count: i64,
    /// The size of an element in the second one, in bits.
    pub(crate) bits: usize,
}

impl Buffers {
    /// Of nulls.
    const NONE: Buffers = Buffers { count: 0, bits: 0 };
    /// Of lists of a fixed size: which of them are there.
    pub(crate) const OF_LISTS: Buffers = Buffers { count: 1, bits: 0 };
}

/// What was found of an array, or of one inside of it.
pub(crate) struct Level {
    pub(crate) len: usize,
    pub(crate) offset: usize,
    pub(crate) validity: Option<Validity>,
    /// What an array of numbers has them in: null if it has none.
    pub(crate) elements: *const u8,
}

impl Level {
    /// Looks at an array, which the caller holds, and checks what it says.
    pub(crate) fn of(name: &str, array: &Array, expected: Buffers) -> PyResult<Level> {
        let &Array { length, null_count, offset, n_buffers, buffers, .. } = array;
        let wrong = |what: std::fmt::Arguments<'_>| Err(malformed(name, "array", what));
        let (Ok(len), Ok(first)) = (usize::try_from(length), usize::try_from(offset)) else {
            return wrong(format_args!("its length is {length}, and its offset {offset}"));
        };
        let end = (len + first).checked_mul(expected.bits.max(1));
        if end.is_none_or(|bits| bits / 8 > isize::MAX as usize) {
            return wrong(format_args!("no memory holds {length} elements from {offset} on"));
        }
        // -1: it was not counted.
        if null_count < -1 || null_count > length {
            return wrong(format_args!("{null_count} of {length} elements are null"));
        }
        if !array.dictionary.is_null() {
            return wrong(format_args!("it has a dictionary, and its schema has none"));
        }
        if len == 0 || expected.count == 0 {
            return Ok(Level { len, offset: first, validity: None, elements: null() });
        }
        if n_buffers != expected.count {
            return wrong(format_args!("it has {n_buffers} buffers, and needs {}", expected.count));
        }
        if buffers.is_null() {
            return wrong(format_args!("where its buffers are is null"));
        }
        let has_elements = expected.count > 1;
        // SAFETY: as many buffers as it says: of validity, and of elements.
        let [bits, elements] = unsafe { [*buffers, if has_elements { *buffers.add(1) } else { null() }] };
        if has_elements && elements.is_null() {
            return wrong(format_args!("its buffer of elements is null"));
        }
        if null_count > 0 && bits.is_null() {
            return wrong(format_args!("{null_count} elements are null, and no bits say which"));
        }
        let validity = Validity { bits: bits.cast(), offset: first, len };
        let validity = (null_count != 0 && !bits.is_null()).then_some(validity);
        Ok(Level { len, offset: first, validity, elements: elements.cast() })
    }
}

/// What elements are.
pub(crate) struct ElementType {
    data_type: DataType,
    /// The unit of dates and durations, in NumPy's words.
    date: Option<String>,
    is_packed_bool: bool,
}

impl ElementType {
    pub(crate) fn of(format: &str) -> Option<ElementType> {
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

    /// The buffers of an array of such elements.
    pub(crate) fn buffers(&self) -> Buffers {
        Buffers { count: 2, bits: if self.is_packed_bool { 1 } else { 8 * self.data_type.size() } }
    }

    fn chunk<'py>(&self, py: Python<'py>, name: &str, array: Own<Array>) -> PyResult<Chunk<'py>> {
        let Level { len, offset, validity, elements } = Level::of(name, &array.0, self.buffers())?;
        let owner = PyCapsule::new_with_value(py, array, c"argreduce.arrow")?.into_any();
        let elements = if self.is_packed_bool && len > 0 {
            Elements::Bits(Validity { bits: elements, offset, len })
        } else {
            // SAFETY: the owner has the array.
            Elements::Array(unsafe { self.array(py, elements, offset, len, &owner)? })
        };
        Ok(Chunk { elements, len, validity, owner })
    }

    /// Elements of a buffer as an array of NumPy.
    ///
    /// # Safety
    /// - The buffer has as many elements behind the offset, and keeps them as they are as long as there is its owner.
    pub(crate) unsafe fn array<'py>(
        &self,
        py: Python<'py>,
        elements: *const u8,
        offset: usize,
        len: usize,
        owner: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let descr = self.descr(py)?;
        if len == 0 {
            return Ok(NewArray::new(descr, &[0])?.array);
        }
        if self.is_packed_bool {
            // SAFETY: the caller's promise.
            return unpacked(py, unsafe { Validity { bits: elements, offset, len }.packed(None) });
        }
        let size = self.data_type.size();
        let first = elements.wrapping_add(offset * size);
        // NumPy has dates of 64 bits alone.
        let is_narrow = self.date.is_some() && size == 4;
        let plain = if is_narrow { descr_of(py, DataType::I32)? } else { descr.clone() };
        let strides = [size as isize];
        // SAFETY: the caller's promise. The array holds the owner.
        let array = unsafe { new_array(plain, &[len], Some((first, &strides, owner.clone())))? };
        if !is_narrow {
            return Ok(array);
        }
        Ok(interop(py)?.call_method1(intern!(py, "wide_dates"), (array, descr))?.cast_into()?)
    }

    pub(crate) fn descr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        match &self.date {
            Some(date) => Ok(PyArrayDescr::new(py, date.as_str())?),
            None => descr_of(py, self.data_type),
        }
    }
}

/// A column of lists of fixed sizes: an array of more axes.
fn lists<'py>(
    py: Python<'py>,
    name: &str,
    sizes: &[usize],
    element: &ElementType,
    mut arrays: Arrays,
) -> PyResult<Column<'py>> {
    let (parts, masks) = (PyList::empty(py), PyList::empty(py));
    let (mut count, mut has_nulls) = (0_usize, false);
    while let Some(array) = arrays.next(py, name)? {
        let levels = levels(name, sizes, element, &array.0)?;
        let &Level { len, offset, elements, .. } = levels.last().expect("that of the elements");
        count = count.checked_add(levels[0].len).ok_or_else(|| too_many(name))?;
        let missing = missing(py, &levels)?;
        has_nulls |= missing.is_some();
        masks.append(missing)?;
        let owner = PyCapsule::new_with_value(py, array, c"argreduce.arrow")?.into_any();
        // SAFETY: the owner has the array, and so what is inside of it.
        parts.append(unsafe { element.array(py, elements, offset, len, &owner)? })?;
    }
    let args = (parts, masks, [&[count], sizes].concat(), element.descr(py)?);
    let (array, mask) = interop(py)?.call_method1(intern!(py, "array_of_lists"), args)?.extract()?;
    Ok(Column::Lists(array, Some(mask).filter(|_| has_nulls)))
}

/// Looks at an array of lists, from the outer ones to their elements: what of each is reached from the outermost.
fn levels(name: &str, sizes: &[usize], element: &ElementType, mut array: &Array) -> PyResult<Vec<Level>> {
    let mut levels = vec![Level::of(name, array, Buffers::OF_LISTS)?];
    for (n, &size) in sizes.iter().enumerate() {
        let Level { len, offset, .. } = levels[n];
        // SAFETY: the array is held, and what is inside of it is as the interface says.
        array = unsafe { child(name, array.n_children, array.children)? };
        let is_last = n + 1 == sizes.len();
        let mut inner = Level::of(name, array, if is_last { element.buffers() } else { Buffers::OF_LISTS })?;
        let end = (offset + len).checked_mul(size).filter(|&end| end <= inner.len);
        let Some(end) = end else {
            let what = format!("lists of {size} with {} elements, from {offset} to {}", inner.len, offset + len);
            return Err(malformed(name, "array", what));
        };
        // It does not overflow: it is not above the end.
        let first = offset * size;
        (inner.len, inner.offset) = (end - first, inner.offset + first);
        if let Some(validity) = &mut inner.validity {
            (validity.len, validity.offset) = (inner.len, inner.offset);
        }
        levels.push(inner);
    }
    Ok(levels)
}

/// Which elements of lists are missing, themselves or by a list that they are in: `None` if none is.
fn missing<'py>(py: Python<'py>, levels: &[Level]) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    if levels.iter().all(|level| level.validity.is_none()) {
        return Ok(None);
    }
    let len = levels.last().map_or(0, |level| level.len);
    let mut missing = NewArray::new(descr_of(py, DataType::Bool)?, &[len])?;
    missing.bytes().fill(0);
    for level in levels {
        let Some(validity) = level.validity else { continue };
        // Without elements there is nothing to say.
        let count = len.checked_div(level.len).unwrap_or(1).max(1);
        for (n, elements) in missing.bytes().chunks_mut(count).enumerate() {
            // SAFETY: the caller holds the array.
            if unsafe { !validity.is_there(n) } {
                elements.fill(1);
            }
        }
    }
    Ok(Some(missing.array))
}

/// Refuses indices of a dictionary of which some are null, or of which a value is.
fn check_is_without_nulls(name: &str, indices: &Array) -> PyResult<()> {
    // SAFETY: the array is held; its dictionary is as the interface says.
    let values = unsafe { indices.dictionary.as_ref() };
    for array in [Some(indices), values].into_iter().flatten() {
        let &Array { length, offset, null_count, n_buffers, buffers, .. } = array;
        if null_count == 0 || n_buffers < 1 || buffers.is_null() {
            continue;
        }
        let (Ok(len), Ok(offset)) = (usize::try_from(length), usize::try_from(offset)) else {
            return Err(malformed(name, "array", format_args!("its length is {length}, and its offset {offset}")));
        };
        // SAFETY: as many buffers as it says, the first one of validity.
        let validity = Validity { bits: unsafe { *buffers }.cast::<u8>(), offset, len };
        // SAFETY: the array is held.
        if !validity.bits.is_null() && (0..len).any(|n| unsafe { !validity.is_there(n) }) {
            return Err(PyTypeError::new_err(format!(
                "{name} takes no dictionary with nulls: decode it before, as by dictionary_decode() or cast()"
            )));
        }
    }
    Ok(())
}

fn ordered_error(name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{name} takes no ordered categories, whose order is not that of their values: give their codes"
    ))
}

/// A column in one piece, which is a copy if it has several; and which of its elements are there, if some are not.
pub(crate) fn joined<'py>(
    py: Python<'py>,
    chunks: &[Chunk<'py>],
    there: Option<Bound<'py, PyUntypedArray>>,
) -> PyResult<(Bound<'py, PyUntypedArray>, Option<Bound<'py, PyUntypedArray>>)> {
    let array = match chunks {
        [chunk] => chunk.array(py)?,
        _ => {
            let arrays = PyList::empty(py);
            chunks.iter().try_for_each(|chunk| arrays.append(chunk.array(py)?))?;
            interop(py)?.call_method1(intern!(py, "joined"), (arrays,))?.cast_into::<PyUntypedArray>()?
        }
    };
    if there.is_none() && chunks.iter().all(|chunk| chunk.validity.is_none()) {
        return Ok((array, None));
    }
    let mut all = NewArray::new(descr_of(py, DataType::Bool)?, &[chunks.iter().map(|chunk| chunk.len).sum()])?;
    all.bytes().fill(1);
    if let Some(there) = there {
        all.fill_from(&there)?;
    }
    let (mut rest, mut bits_there) = (all.bytes(), Vec::new());
    for chunk in chunks {
        let (of_chunk, others) = rest.split_at_mut(chunk.len);
        if let Some((bits, offset)) = chunk.bits() {
            bits_there.resize(chunk.len, 0);
            Packed::new(bits, None, offset, chunk.len).unpack(&mut bits_there);
            of_chunk.iter_mut().zip(&bits_there).for_each(|(there, &bit)| *there = u8::from(*there != 0) & bit);
        }
        rest = others;
    }
    Ok((array, Some(all.array)))
}

/// What is said of a column that is reduced over something else than its axis.
pub(crate) fn not_an_axis(name: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} takes columns of several chunks over their axis alone"))
}
