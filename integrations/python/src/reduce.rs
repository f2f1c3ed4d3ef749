//! A plan is made, or found among the last ones, and run.

use crate::arguments::{self, Axes};
use crate::output::{NewArray, Out, out_array, scalar};
use crate::threads::Threads;
use crate::view::{Shape, Source, View, descr_of, interop};
use argreduce::{ArgReduce, DataType, Error, NanPolicy, ReduceFunction, UntypedPlan};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::cell::RefCell;

/// What a function gives back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Indices,
    /// The same, or an error if there is nothing but NaN somewhere.
    IndicesOfNumbers,
    ValuesAndIndices,
}

/// A call of one of the functions.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a, 'py> {
    pub(crate) name: &'static str,
    pub(crate) function: ReduceFunction,
    pub(crate) answer: Answer,
    pub(crate) axis: Option<&'a Bound<'py, PyAny>>,
    pub(crate) keepdims: bool,
    pub(crate) out: Option<&'a Bound<'py, PyAny>>,
    pub(crate) dtype: Option<&'a Bound<'py, PyAny>>,
    pub(crate) select_last: bool,
    pub(crate) nan_policy: NanPolicy,
    pub(crate) threads: Option<&'a Bound<'py, PyAny>>,
}

/// Below this many bytes the lock of the interpreter is kept: to release and take it again costs more than the work.
const MIN_BYTES_WITHOUT_LOCK: usize = 32 << 10;

impl<'py> Call<'_, 'py> {
    pub(crate) fn run(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let source = Source::new(self.name, x)?;
        let tensor_type = source.tensor_type();
        let result = match source {
            Source::View(view) => self.run_view(x.py(), &view)?,
            Source::ManyAxes(array, _) => self.run_many_axes(&array)?,
        };
        give_back(result, x, self.out, tensor_type)
    }

    fn run_view(&self, py: Python<'py>, view: &View<'py>) -> PyResult<Bound<'py, PyAny>> {
        let sizes = view.shape.sizes();
        let axes = Axes::new(self.axis, sizes.len())?;
        let threads = arguments::threads(self.threads)?;
        let result_sizes = axes.result_sizes(sizes, self.keepdims);
        let mut count = 1_usize;
        for axis in axes.iter() {
            count *= sizes[axis as usize];
        }
        if count == 0 {
            // As NumPy: even if there are no outputs, and in the same words, whichever function it was.
            let name = if self.function == ReduceFunction::ArgMin { "argmin" } else { "argmax" };
            return Err(PyValueError::new_err(format!("attempt to get {name} of an empty sequence")));
        }
        let asked_type = self.dtype.map(|dtype| arguments::index_type(Some(dtype))).transpose()?;
        let out = match self.out {
            Some(out) => Some(Out::new(self.name, out, asked_type, &result_sizes, count)?),
            None => None,
        };
        let index_type = match &out {
            Some(out) => out.index_type,
            None => asked_type.unwrap_or(DataType::I64),
        };
        let key = Key {
            shape: view.shape,
            axes,
            data_type: view.data_type,
            index_type,
            function: self.function,
            select_last: self.select_last,
            nan_policy: self.nan_policy,
        };
        let plan = key.plan()?;
        // SAFETY: nothing here writes to the input: an `out` that is (a part of) it is written after it was read.
        let input = unsafe { view.bytes() };
        let run = Run { py, plan: &plan, input, threads };
        if result_sizes.is_empty() && out.is_none() && self.answer == Answer::Indices {
            let mut index = 0_u64;
            let bytes = &mut bytemuck::bytes_of_mut(&mut index)[..index_type.size()];
            run.run(bytes, None)?;
            return scalar(&descr_of(py, index_type)?, bytes);
        }
        let mut values = match self.answer {
            Answer::ValuesAndIndices => Some(NewArray::new(view.value_type(py)?, &result_sizes)?),
            Answer::IndicesOfNumbers if is_float(view.data_type) => {
                let descr = descr_of(py, view.data_type)?;
                Some(NewArray::new(descr, &result_sizes)?)
            }
            _ => None,
        };
        if let (Some(out), None) = (&out, &values)
            // SAFETY: Python's lock is held, or the caller shares its array with another thread: as with NumPy.
            && let Some(bytes) = unsafe { out.direct(input) }
        {
            run.run(bytes, None)?;
            return Ok(self.out.expect("it was checked").clone());
        }
        let mut indices = NewArray::new(descr_of(py, index_type)?, &result_sizes)?;
        run.run(indices.bytes(), values.as_mut().map(NewArray::bytes))?;
        if self.answer == Answer::IndicesOfNumbers
            && let Some(values) = &mut values
            && has_nan(view.data_type, values.bytes())
        {
            return Err(PyValueError::new_err("All-NaN slice encountered"));
        }
        let indices = match &out {
            Some(out) => {
                out.copy(&indices.array)?;
                self.out.expect("it was checked").clone()
            }
            None => number_or_array(&descr_of(py, index_type)?, &mut indices, result_sizes.is_empty())?,
        };
        match (self.answer, values) {
            (Answer::ValuesAndIndices, Some(mut values)) => {
                let values = number_or_array(&view.value_type(py)?, &mut values, result_sizes.is_empty())?;
                interop(py)?.call_method1(intern!(py, "ValuesAndIndices"), (values, indices))
            }
            _ => Ok(indices),
        }
    }

    /// Of more axes than the library takes: kept ones are merged to one, and reduced ones to another.
    fn run_many_axes(&self, array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        let options = PyDict::new(py);
        options.set_item("dtype", self.dtype)?;
        options.set_item("select_last", self.select_last)?;
        options.set_item("threads", self.threads)?;
        if self.answer != Answer::IndicesOfNumbers {
            options.set_item("nan", if self.nan_policy == NanPolicy::Ignore { "ignore" } else { "propagate" })?;
        }
        let axes: Vec<_> = Axes::new(self.axis, array.ndim())?.iter().collect();
        let out = self.out.map(|out| out_array(self.name, out)).transpose()?;
        let args = (self.name, array, PyTuple::new(py, axes)?, self.keepdims, out);
        interop(py)?.call_method(intern!(py, "many_axes"), args, Some(&options))
    }
}

fn number_or_array<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    array: &mut NewArray<'py>,
    is_number: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if is_number { scalar(descr, array.bytes()) } else { Ok(array.array.clone().into_any()) }
}

/// Results come back as arrays of the library that the input `x` is from: `tensor_type` is its element type, if that is
/// not NumPy.
pub(crate) fn give_back<'py>(
    result: Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    tensor_type: Option<DataType>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(data_type) = tensor_type else { return Ok(result) };
    let args = (result, x, out, data_type == DataType::Bf16);
    interop(x.py())?.call_method1(intern!(x.py(), "give_back"), args)
}

/// A plan with what it reads.
pub(crate) struct Run<'a, 'py> {
    pub(crate) py: Python<'py>,
    pub(crate) plan: &'a UntypedPlan,
    pub(crate) input: &'a [u8],
    pub(crate) threads: Threads,
}

impl Run<'_, '_> {
    fn run(&self, indices: &mut [u8], values: Option<&mut [u8]>) -> PyResult<()> {
        let Run { py, plan, input, ref threads } = *self;
        let is_alone = threads.count == 1;
        let run = move || match values {
            None if is_alone => plan.run(input, indices),
            None => plan.run_on(threads, input, indices),
            Some(values) if is_alone => plan.run_with_values(input, indices, values),
            Some(values) => plan.run_with_values_on(threads, input, indices, values),
        };
        let is_large = input.len() >= MIN_BYTES_WITHOUT_LOCK;
        if is_large { py.detach(run) } else { run() }.map_err(value_error)
    }
}

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

/// All that a plan depends on.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    shape: Shape,
    axes: Axes,
    data_type: DataType,
    index_type: DataType,
    function: ReduceFunction,
    select_last: bool,
    nan_policy: NanPolicy,
}

thread_local! {
    /// The last plans of this thread, the latest one last.
    static PLANS: RefCell<Vec<(Key, UntypedPlan)>> = const { RefCell::new(Vec::new()) };
}

/// How many plans a thread keeps.
const KEPT_PLANS: usize = 4;

impl Key {
    /// The plan, from the last ones if it is there: to make one takes longer than a short row.
    fn plan(&self) -> PyResult<UntypedPlan> {
        PLANS.with_borrow_mut(|plans| {
            if let Some((_, plan)) = plans.iter().find(|(key, _)| key == self) {
                return Ok(plan.clone());
            }
            let plan = self.make_plan().map_err(value_error)?;
            if plans.len() == KEPT_PLANS {
                plans.remove(0);
            }
            plans.push((*self, plan.clone()));
            Ok(plan)
        })
    }

    fn make_plan(&self) -> Result<UntypedPlan, Error> {
        let layout = self.shape.layout()?;
        ArgReduce::new(self.function, &layout)
            .axes_from(self.axes.iter())
            .direction(arguments::direction(self.select_last))
            .nan_policy(self.nan_policy)
            .plan_untyped(self.data_type, self.index_type)
    }
}

fn is_float(data_type: DataType) -> bool {
    matches!(data_type, DataType::F16 | DataType::Bf16 | DataType::F32 | DataType::F64)
}

/// Whether there is a NaN among floats.
fn has_nan(data_type: DataType, bytes: &[u8]) -> bool {
    /// By the bits: a NaN is what lies above infinity.
    fn any<const N: usize>(bytes: &[u8], is_nan: impl Fn([u8; N]) -> bool) -> bool {
        bytes.as_chunks().0.iter().any(|&bytes| is_nan(bytes))
    }
    match data_type {
        DataType::F32 => any(bytes, |bytes| f32::from_ne_bytes(bytes).is_nan()),
        DataType::F64 => any(bytes, |bytes| f64::from_ne_bytes(bytes).is_nan()),
        DataType::F16 => any(bytes, |bytes| argreduce::half::f16::from_ne_bytes(bytes).is_nan()),
        DataType::Bf16 => any(bytes, |bytes| argreduce::half::bf16::from_ne_bytes(bytes).is_nan()),
        _ => false,
    }
}
