//! Tensors of other libraries in the CPU's memory, by the DLPack protocol: read-only and versioned ones too.

use crate::output::new_array;
use argreduce::DataType;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCapsule, PyCapsuleMethods};
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// `DLTensor`.
#[repr(C)]
pub(crate) struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    type_code: u8,
    type_bits: u8,
    type_lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
pub(crate) struct Managed {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
pub(crate) struct ManagedVersioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// A tensor that was taken from its capsule. Its producer gets it back when this is dropped.
pub(crate) enum Tensor {
    Plain(NonNull<Managed>),
    Versioned(NonNull<ManagedVersioned>),
}

/// Where the elements of a tensor are.
pub(crate) struct Parts {
    /// Element `[0, .., 0]`.
    pub(crate) first: *const u8,
    /// The size and the stride of each axis, in elements.
    pub(crate) axes: Vec<(usize, isize)>,
    pub(crate) data_type: DataType,
}

const NAME: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

/// `kDLCPU`, and `kDLCUDAHost`: memory that the CPU reads too.
const CPU_DEVICES: [i32; 2] = [1, 3];

/// NumPy has no more axes, nor does any library that is known.
const MAX_AXES: usize = 64;

/// The largest major version of the protocol whose fields are those above.
const MAX_MAJOR: u32 = 1;

impl Tensor {
    /// Asks an object for its tensor. The inner error is that the object refuses: what it raised.
    pub(crate) fn new(name: &str, x: &Bound<'_, PyAny>) -> PyResult<PyResult<Tensor>> {
        let device = |x: &Bound<'_, PyAny>| -> PyResult<i32> {
            let (device, _): (i32, i32) = x.call_method0(intern!(x.py(), "__dlpack_device__"))?.extract()?;
            Ok(device)
        };
        match device(x) {
            Ok(device) => check_device(name, device)?,
            Err(refusal) => return Ok(Err(refusal)),
        }
        let capsule = match capsule_of(x) {
            Ok(capsule) => capsule,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
            let class = |x: &Bound<'_, PyAny>| x.get_type().name().map_or("?".into(), |name| name.to_string());
            let (class, given) = (class(x), class(&capsule));
            PyTypeError::new_err(format!("{name} was given a {class} whose __dlpack__() is a {given}, and no capsule"))
        })?;
        let tensor = Tensor::of_capsule(name, capsule)?;
        // The object need not know what its tensor says.
        check_device(name, tensor.tensor().device_type)?;
        Ok(Ok(tensor))
    }

    fn of_capsule(name: &str, capsule: &Bound<'_, PyCapsule>) -> PyResult<Tensor> {
        if capsule.is_valid_checked(Some(VERSIONED)) {
            let tensor: NonNull<ManagedVersioned> = capsule.pointer_checked(Some(VERSIONED))?.cast();
            // SAFETY: a capsule of that name holds that struct, and its first field never changes its place.
            let major = unsafe { tensor.as_ref().major };
            if major > MAX_MAJOR {
                return Err(PyBufferError::new_err(format!(
                    "{name} reads version {MAX_MAJOR} of DLPack, and this tensor is of version {major}"
                )));
            }
            rename(capsule, c"used_dltensor_versioned")?;
            return Ok(Tensor::Versioned(tensor));
        }
        // Who takes a tensor renames its capsule.
        let tensor = capsule.pointer_checked(Some(NAME)).map_err(|_| {
            PyBufferError::new_err(format!(
                "{name} was given a capsule that holds no tensor of DLPack, or one that was taken already"
            ))
        })?;
        let tensor = tensor.cast();
        rename(capsule, c"used_dltensor")?;
        Ok(Tensor::Plain(tensor))
    }

    fn tensor(&self) -> &DlTensor {
        // SAFETY: as in `new`; the producer keeps it until the deleter is called, which is when this is dropped.
        unsafe {
            match self {
                Tensor::Plain(managed) => &(*managed.as_ptr()).tensor,
                Tensor::Versioned(managed) => &(*managed.as_ptr()).tensor,
            }
        }
    }

    /// What it has; `name` is the function that was called.
    pub(crate) fn parts(&self, name: &str) -> PyResult<Parts> {
        let tensor = self.tensor();
        let data_type = data_type_of(name, tensor)?;
        let wrong = |what: std::fmt::Arguments<'_>| {
            PyBufferError::new_err(format!("{name} was given a tensor of DLPack that is malformed: {what}"))
        };
        let rank = usize::try_from(tensor.ndim).ok().filter(|&rank| rank <= MAX_AXES);
        let rank = rank.ok_or_else(|| wrong(format_args!("it has {} axes", tensor.ndim)))?;
        if rank > 0 && tensor.shape.is_null() {
            return Err(wrong(format_args!("where its sizes are is null")));
        }
        // SAFETY: the protocol: as many sizes as there are axes, and as many strides, unless the tensor is packed.
        let (sizes, strides) = unsafe {
            let list = |first: *const i64| (0..rank).map(move |n| first.add(n).read());
            let sizes: Vec<i64> = if rank == 0 { Vec::new() } else { list(tensor.shape).collect() };
            let strides =
                if tensor.strides.is_null() || rank == 0 { None } else { Some(list(tensor.strides).collect()) };
            (sizes, strides)
        };
        if let Some(size) = sizes.iter().find(|&&size| size < 0) {
            return Err(wrong(format_args!("a size is {size}")));
        }
        let is_empty = sizes.contains(&0);
        if !is_empty && tensor.data.is_null() {
            return Err(wrong(format_args!("where its elements are is null")));
        }
        if !is_empty && sizes.iter().try_fold(1_i64, |count, &size| count.checked_mul(size)).is_none() {
            return Err(wrong(format_args!("it has more elements than can be counted")));
        }
        let strides: Vec<i64> = strides.unwrap_or_else(|| packed(&sizes));
        let steps = |(&size, &stride): (&i64, &i64)| (size - 1).checked_mul(stride.checked_abs()?);
        let reach = sizes.iter().zip(&strides).try_fold(data_type.size() as i64, |reach: i64, axis| {
            reach.checked_add(steps(axis)?.checked_mul(data_type.size() as i64)?)
        });
        if !is_empty && reach.is_none() {
            return Err(wrong(format_args!("its strides lead out of memory")));
        }
        let axes = sizes.iter().zip(&strides).map(|(&size, &stride)| (size as usize, stride as isize)).collect();
        let first = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
        Ok(Parts { first, axes, data_type })
    }

    /// An array of NumPy that reads the same memory, wherever it begins, and holds the tensor.
    pub(crate) fn into_array<'py>(
        self,
        name: &str,
        descr: Bound<'py, PyArrayDescr>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        /// What a capsule holds.
        struct Held(#[expect(dead_code, reason = "held until it is dropped")] Tensor);
        // SAFETY: Python drops it with its lock held, on any thread, as it does with capsules that nobody took.
        unsafe impl Send for Held {}

        let Parts { first, axes, .. } = self.parts(name)?;
        let (py, bytes) = (descr.py(), descr.itemsize() as isize);
        let (sizes, strides): (Vec<_>, Vec<_>) =
            axes.into_iter().map(|(size, stride)| (size, stride.wrapping_mul(bytes))).unzip();
        let owner = PyCapsule::new_with_value(py, Held(self), c"argreduce.tensor")?;
        // SAFETY: sizes and strides of the tensor, in bytes. (One that is cut off is of an axis of a single element, or
        // of none.) The array holds it by the capsule.
        unsafe { new_array(descr, &sizes, Some((first, &strides, owner.into_any()))) }
    }
}

/// The type of its elements.
fn data_type_of(name: &str, tensor: &DlTensor) -> PyResult<DataType> {
    Ok(match (tensor.type_code, tensor.type_bits, tensor.type_lanes) {
        (0, 8, 1) => DataType::I8,
        (0, 16, 1) => DataType::I16,
        (0, 32, 1) => DataType::I32,
        (0, 64, 1) => DataType::I64,
        (1, 8, 1) => DataType::U8,
        (1, 16, 1) => DataType::U16,
        (1, 32, 1) => DataType::U32,
        (1, 64, 1) => DataType::U64,
        (2, 16, 1) => DataType::F16,
        (2, 32, 1) => DataType::F32,
        (2, 64, 1) => DataType::F64,
        (4, 16, 1) => DataType::Bf16,
        (6, 8, 1) => DataType::Bool,
        (code, bits, lanes) => {
            let kind = if code == 5 { " (complex)" } else { "" };
            return Err(PyTypeError::new_err(format!(
                "{name} takes bool, integers, float16, bfloat16, float32 and float64, not DLPack's type \
                 {code}{kind} of {bits} bits and {lanes} lanes"
            )));
        }
    })
}

fn check_device(name: &str, device: i32) -> PyResult<()> {
    if CPU_DEVICES.contains(&device) {
        return Ok(());
    }
    Err(PyBufferError::new_err(format!(
        "{name} reads arrays in the CPU's memory: this one is on a device of DLPack's type {device}"
    )))
}

/// What an object exports: of a version if it knows of versions.
fn capsule_of<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let method = intern!(py, "__dlpack__");
    match x.call_method(method, (), Some(&[("max_version", (MAX_MAJOR, 0))].into_py_dict(py)?)) {
        Err(error) if is_of_before_versions(py, &error) => x.call_method0(method),
        capsule => capsule,
    }
}

/// Whether an error says that there is no such parameter. A producer may mean another `TypeError`, as pyarrow does of
/// nulls. Whoever says it, by Python or by C, says it of an argument or a keyword.
fn is_of_before_versions(py: Python<'_>, error: &PyErr) -> bool {
    let says = |text: String| ["max_version", "argument", "keyword"].iter().any(|word| text.contains(word));
    error.get_type(py).is(py.get_type::<PyTypeError>())
        && error.value(py).str().is_ok_and(|text| says(text.to_string()))
}

fn packed(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1_i64; sizes.len()];
    for axis in (1..sizes.len()).rev() {
        // What is too large is refused by the layout.
        strides[axis - 1] = strides[axis].saturating_mul(sizes[axis].max(1));
    }
    strides
}

/// So that the capsule does not delete the tensor too.
fn rename(capsule: &Bound<'_, PyCapsule>, name: &'static CStr) -> PyResult<()> {
    // SAFETY: a capsule, and a name that lives for ever.
    match unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), name.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(capsule.py())),
    }
}

impl Drop for Tensor {
    /// With Python's lock held: a capsule that nobody took calls the deleter so, and producers may count on it. It
    /// frees memory, and has nothing to wait for.
    fn drop(&mut self) {
        // SAFETY: the protocol: who took a tensor calls its deleter once, if there is one.
        unsafe {
            match self {
                Tensor::Plain(managed) => {
                    if let Some(deleter) = managed.as_ref().deleter {
                        deleter(managed.as_ptr());
                    }
                }
                Tensor::Versioned(managed) => {
                    if let Some(deleter) = managed.as_ref().deleter {
                        deleter(managed.as_ptr());
                    }
                }
            }
        }
    }
}
