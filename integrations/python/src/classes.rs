//! What the class of an argument says of it: whose it is, and by which protocols it hands out its elements.
//!
//! To ask a class for what it does not have takes over a microsecond, as Python makes an error each time. So what was
//! found is remembered for the last classes of a few libraries, which do not change while a program runs. All others
//! are asked each time.

use numpy::PyUntypedArray;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};
use std::sync::{Mutex, PoisonError};

/// What is known of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    /// Whether it is of that library, or of a subclass.
    pub(crate) is_of_dask: bool,
    pub(crate) is_of_xarray: bool,
    pub(crate) is_of_pandas: bool,
    /// Whether it has `__arrow_c_stream__`.
    pub(crate) has_stream: bool,
    /// Whether it has `__arrow_c_array__`.
    pub(crate) has_array: bool,
    /// Whether it has columns: it is more than one.
    pub(crate) is_of_columns: bool,
    /// Whether its library is one whose objects have nothing that their class does not have.
    pub(crate) tells_all: bool,
}

/// Whose classes are remembered.
const LIBRARIES: [&str; 5] = ["dask", "pandas", "polars", "pyarrow", "xarray"];

/// How many.
const KEPT: usize = 8;

/// The last ones. They are held, so that no other class gets the address of one.
static CLASSES: Mutex<Vec<(Py<PyType>, Class)>> = Mutex::new(Vec::new());

impl Class {
    /// What is of no other library.
    pub(crate) const OF_NONE: Class = Class {
        is_of_dask: false,
        is_of_xarray: false,
        is_of_pandas: false,
        has_stream: false,
        has_array: false,
        is_of_columns: false,
        tells_all: true,
    };

    pub(crate) fn of(x: &Bound<'_, PyAny>) -> PyResult<Class> {
        let is_list = || x.is_exact_instance_of::<PyList>() || x.is_exact_instance_of::<PyTuple>();
        if x.cast::<PyUntypedArray>().is_ok() || is_list() {
            return Ok(Class::OF_NONE);
        }
        let class = x.get_type();
        // No code of Python runs while this is locked.
        let known = || CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known().iter().find(|(other, _)| other.is(&class)) {
            return Ok(*found);
        }
        let found = Class::look_at(&class)?;
        if found.tells_all {
            let mut known = known();
            let oldest = if known.len() == KEPT { Some(known.remove(0)) } else { None };
            known.push((class.unbind(), found));
            drop(known);
            // Which may run code.
            drop(oldest);
        }
        Ok(found)
    }

    fn look_at(class: &Bound<'_, PyType>) -> PyResult<Class> {
        let py = class.py();
        let mut found = Class { tells_all: false, ..Class::OF_NONE };
        for (n, base) in class.mro().iter().enumerate() {
            let Ok(module) = base.getattr(intern!(py, "__module__")) else { continue };
            let Ok(module) = module.extract::<&str>() else { continue };
            let library = module.split('.').next().unwrap_or_default();
            found.is_of_dask |= library == "dask";
            found.is_of_xarray |= library == "xarray";
            found.is_of_pandas |= library == "pandas";
            found.tells_all |= n == 0 && LIBRARIES.contains(&library);
        }
        found.has_stream = class.hasattr(intern!(py, "__arrow_c_stream__"))?;
        found.has_array = class.hasattr(intern!(py, "__arrow_c_array__"))?;
        found.is_of_columns = (found.has_stream || found.has_array || found.is_of_pandas)
            && (class.hasattr(intern!(py, "columns"))? || class.hasattr(intern!(py, "column_names"))?);
        Ok(found)
    }
}
