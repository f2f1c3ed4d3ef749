//! What elements are compared by: `key=` and `near=`. Knows nothing of arrays.

use crate::interop::interop;
use argreduce::{DataType, Key, bf16, f16};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

/// The same, before it is known of which type the elements are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum By {
    Value,
    Abs,
    Near(Number),
}

/// A number of Python.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(i128),
    Float(f64),
}

impl By {
    /// As a caller says it. May run code of Python: so it comes before an array is looked at.
    pub(crate) fn new(key: Option<&Bound<'_, PyAny>>, near: Option<&Bound<'_, PyAny>>) -> PyResult<By> {
        match (key, near) {
            (None, None) => Ok(By::Value),
            (Some(_), Some(_)) => Err(PyValueError::new_err("key and near are both given: one of them is needed")),
            (Some(key), None) => match key.cast::<PyString>().is_ok_and(|key| key.to_str().is_ok_and(|key| key == ABS))
            {
                true => Ok(By::Abs),
                false => Err(PyValueError::new_err(format!("key is {}: None or 'abs' is needed", key.repr()?))),
            },
            (None, Some(near)) => {
                // What is a number of Python need not become one.
                let is_number = near.is_instance_of::<PyFloat>() || near.is_exact_instance_of::<PyInt>();
                let number = match is_number {
                    true => near.clone(),
                    false => interop(near.py())?.call_method1(intern!(near.py(), "near_number"), (near,))?,
                };
                if let Ok(float) = number.cast::<PyFloat>() {
                    return Ok(By::Near(Number::Float(float.value())));
                }
                if let Ok(truth) = number.cast::<PyBool>() {
                    return Ok(By::Near(Number::Integer(truth.is_true().into())));
                }
                // An integer that is so large fits no type, and neither does the largest here.
                Ok(By::Near(Number::Integer(number.extract().unwrap_or(i128::MAX))))
            }
        }
    }

    /// In Python's words: the arguments `key` and `near`.
    pub(crate) fn said<'py>(self, py: Python<'py>) -> PyResult<(Option<&'static str>, Option<Bound<'py, PyAny>>)> {
        Ok(match self {
            By::Value => (None, None),
            By::Abs => (Some(ABS), None),
            By::Near(Number::Integer(number)) => (None, Some(number.into_pyobject(py)?.into_any())),
            By::Near(Number::Float(number)) => (None, Some(number.into_pyobject(py)?.into_any())),
        })
    }

    /// Of elements of a type.
    #[inline(always)]
    pub(crate) fn key(self, name: &str, data_type: DataType, is_of_dates: bool) -> PyResult<Key> {
        if self == By::Value { Ok(Key::Value) } else { self.other_key(name, data_type, is_of_dates) }
    }

    #[cold]
    fn other_key(self, name: &str, data_type: DataType, is_of_dates: bool) -> PyResult<Key> {
        if is_of_dates {
            return Err(PyTypeError::new_err(format!("{name} takes no key and no near for dates and durations")));
        }
        match self {
            By::Value => Ok(Key::Value),
            By::Abs => Ok(Key::Magnitude),
            By::Near(number) => number.distance(data_type).ok_or_else(|| {
                // By NumPy's name.
                let (number, name) = (number.text(), data_type.name());
                let name = [("u", "uint"), ("i", "int"), ("f", "float"), ("bf", "bfloat"), ("bool", "bool")]
                    .into_iter()
                    .find_map(|(short, long)| {
                        let bits = name.strip_prefix(short)?;
                        bits.bytes().all(|digit| digit.is_ascii_digit()).then(|| format!("{long}{bits}"))
                    })
                    .unwrap_or_default();
                PyValueError::new_err(format!("near is {number}: {name} does not hold it"))
            }),
        }
    }
}

const ABS: &str = "abs";

impl Number {
    /// The distance to it, if it is of a type: an integer exactly, a float once rounded, but not to infinity.
    fn distance(self, data_type: DataType) -> Option<Key> {
        macro_rules! integer {
            ($t:ident) => {
                self.integer().and_then(|number| $t::try_from(number).ok()).map(Key::distance)
            };
        }
        macro_rules! float {
            ($from:expr, $is_finite:expr) => {
                self.float().and_then(|number| {
                    let rounded = $from(number);
                    (!number.is_finite() || $is_finite(rounded)).then(|| Key::distance(rounded))
                })
            };
        }
        match data_type {
            DataType::F32 => float!(|number| number as f32, f32::is_finite),
            DataType::F64 => float!(|number| number, f64::is_finite),
            DataType::F16 => float!(f16::from_f64, f16::is_finite),
            DataType::Bf16 => float!(bf16::from_f64, bf16::is_finite),
            DataType::I8 => integer!(i8),
            DataType::I16 => integer!(i16),
            DataType::I32 => integer!(i32),
            DataType::I64 => integer!(i64),
            DataType::U8 => integer!(u8),
            DataType::U16 => integer!(u16),
            DataType::U32 => integer!(u32),
            DataType::U64 => integer!(u64),
            DataType::Bool => match self.integer() {
                Some(0) => Some(Key::distance(false)),
                Some(1) => Some(Key::distance(true)),
                _ => None,
            },
            _ => None,
        }
    }

    fn integer(self) -> Option<i128> {
        match self {
            Number::Integer(number) => Some(number),
            Number::Float(number) => (number.trunc() == number && number.abs() < 1e30).then_some(number as i128),
        }
    }

    /// But NaN.
    fn float(self) -> Option<f64> {
        match self {
            Number::Integer(i128::MAX) => None,
            Number::Integer(number) => Some(number as f64),
            Number::Float(number) => (!number.is_nan()).then_some(number),
        }
    }

    pub(crate) fn text(self) -> String {
        match self {
            Number::Integer(i128::MAX) => "an integer beyond all types".to_owned(),
            Number::Integer(number) => number.to_string(),
            Number::Float(number) => number.to_string(),
        }
    }
}
