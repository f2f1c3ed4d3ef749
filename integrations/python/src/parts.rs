//! Partial answers for parts of a larger tensor, and merging them.

use crate::arguments::{self, Axes, Axis, compared_type, element_type, element_type_of_any_order, is_date};
use crate::bools::{self, Outputs};
use crate::classes::Class;
use crate::dates;
use crate::interop::{descr_of, interop, value_error};
use crate::interrupt;
use crate::keys::By;
use crate::mask::{self, There};
use crate::output::{NewArray, first_of, flags, shape_text};
use crate::reduce::give_back;
use crate::run::Lent;
use crate::threads::Threads;
use crate::view::{Shape, Source, View, input_without_labels, native_copy, native_type};
use argreduce::{ArgReduce, DataType, Executor, Key, Merge, PartialBuffers, ReduceFunction};
use numpy::npyffi::{NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyList, PyTuple};
use std::fmt;

/// Partial answers hold indices of this type: -1 is "nothing seen yet".
const INDEX_TYPE: DataType = DataType::I64;

/// By what a partial answer was found, and merges; in Python's words.
#[derive(Clone, Copy, PartialEq)]
struct Rule {
    function: &'static str,
    select_last: bool,
    nan: &'static str,
    by: By,
}

impl Rule {
    /// What [`partial`] goes by, if nothing else is said.
    const USUAL: Rule = Rule { function: "argmax", select_last: false, nan: "propagate", by: By::Value };

    /// The rule of a partial answer; none of a plain pair.
    fn of(part: &Bound<'_, PyAny>) -> PyResult<Option<Rule>> {
        let py = part.py();
        if !part.is_instance(&interop(py)?.getattr(intern!(py, "Partial"))?)? {
            return Ok(None);
        }
        let rule = part.getattr(intern!(py, "rule"))?;
        if rule.is_none() {
            return Ok(None);
        }
        Ok(Some(Rule {
            function: arguments::function(&rule.getattr(intern!(py, "function"))?)?,
            select_last: arguments::truth(&rule.getattr(intern!(py, "select_last"))?)?,
            nan: arguments::nan(&rule.getattr(intern!(py, "nan"))?)?,
            by: {
                let said = [rule.getattr(intern!(py, "key"))?, rule.getattr(intern!(py, "near"))?];
                let [key, near] = said.each_ref().map(|said| Some(said).filter(|said| !said.is_none()));
                By::new(key, near)?
            },
        }))
    }

    /// A partial answer that knows it.
    fn partial<'py>(
        self,
        values: Bound<'py, PyUntypedArray>,
        indices: Bound<'py, PyUntypedArray>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, Rule { function, select_last, nan, by }) = (values.py(), self);
        let (key, near) = by.said(py)?;
        interop(py)?.call_method1(intern!(py, "partial_by"), (function, select_last, nan, key, near, values, indices))
    }

    fn reduce_function(self) -> ReduceFunction {
        if self.function == "argmin" { ReduceFunction::ArgMin } else { ReduceFunction::ArgMax }
    }

    fn merge(self, key: Key) -> Merge {
        let merge = Merge::new(self.reduce_function()).direction(arguments::direction(self.select_last));
        merge.nan_policy(arguments::nan_policy(self.nan)).by(key)
    }

    /// Whether NaT has to be above all others in such values.
    fn is_nat_above(self, descr: &Bound<'_, PyArrayDescr>) -> bool {
        is_date(descr) && dates::is_nat_above(self.reduce_function(), arguments::nan_policy(self.nan))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule { function, select_last, nan, by } = self;
        let select_last = if *select_last { "True" } else { "False" };
        write!(f, "function='{function}', select_last={select_last}, nan='{nan}'")?;
        match by {
            By::Value => Ok(()),
            By::Abs => f.write_str(", key='abs'"),
            By::Near(number) => write!(f, ", near={}", number.text()),
        }
    }
}

/// The answer for a part of a larger array, to be merged with those for other parts.
///
/// Parameters
/// ----------
/// x : array
///     The part, as in :func:`argreduce.argmax`. It may be empty.
/// axis : None, int or tuple of int
///     The axes to reduce.
/// start, whole : tuple of int
///     Where the part begins in the whole array, and the shape of that: a number for each axis of ``x``.
/// function : "argmax" or "argmin"
/// select_last, nan, threads, where, key, near
///     As in :func:`argreduce.argmax`.
///
/// Returns
/// -------
/// Partial
///     A named tuple ``(values, indices)`` of arrays without the reduced axes, of the library that ``x`` is from.
///     Indices are those in the whole array; -1 means that nothing was seen yet. They are int64, and an array of NumPy
///     where that library has no such type (as JAX, by default). It knows its ``function``, ``select_last``,
///     ``nan``, ``key`` and ``near``, and so does each copy of it: :func:`argreduce.merge` goes by them.
///
/// Raises
/// ------
/// ValueError
///     The part does not fit the whole, a number of ``start`` or ``whole`` is negative, the whole has no element along
///     a reduced axis, or more than an index can count; or as in :func:`argreduce.argmax`.
///
/// Examples
/// --------
/// >>> import numpy as np, argreduce
/// >>> x = np.array([3.0, 9.0, 4.0, 9.0])
/// >>> a = argreduce.partial(x[:2], start=(0,), whole=(4,))
/// >>> b = argreduce.partial(x[2:], start=(2,), whole=(4,))
/// >>> argreduce.merge(b, a)
/// Partial(values=array(9.), indices=array(1))
#[pyfunction]
#[pyo3(signature = (x, axis=None, *, start, whole, function="argmax", select_last=false, nan="propagate",
    threads=None, r#where=None, key=None, near=None))]
#[expect(clippy::too_many_arguments, reason = "Python's signature")]
pub(crate) fn partial<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    start: &Bound<'py, PyAny>,
    whole: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::function)] function: &'static str,
    #[pyo3(from_py_with = arguments::truth)] select_last: bool,
    #[pyo3(from_py_with = arguments::nan)] nan: &'static str,
    threads: Option<&Bound<'py, PyAny>>,
    r#where: Option<&Bound<'py, PyAny>>,
    key: Option<&Bound<'py, PyAny>>,
    near: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, name) = (x.py(), "partial");
    let r#where = match r#where {
        Some(there) if Class::of(x)?.is_of_xarray => {
            Some(interop(py)?.call_method1(intern!(py, "where_of_labelled"), (name, there, x))?)
        }
        other => other.cloned(),
    };
    // All that may run code of Python comes before the array is looked at.
    let axis = Axis::new(axis)?;
    let (start, whole) = (arguments::sizes("start", start)?, arguments::sizes("whole", whole)?);
    let threads = arguments::threads(threads)?;
    let rule = Rule { function, select_last, nan, by: By::new(key, near)? };
    let (mut shape, mut shape_of_there) = (Shape::NONE, Shape::NONE);
    let (x, input) = input_without_labels(name, x)?;
    let (input, there) = mask::apart(name, input, r#where.as_ref(), py)?;
    let source = Source::of(name, input, py, &mut shape)?;
    let tensor_type = source.tensor_type();
    let part = match source {
        Source::View(mut view) => {
            let mut shape = Shape::NONE;
            if view.descr.as_ref().is_some_and(|descr| rule.is_nat_above(descr)) {
                view = dates::one_less(name, &view, py, &mut shape)?;
            }
            let axes = axis.of_rank(py, view.shape.rank)?;
            let layout = view.shape.layout().map_err(value_error)?;
            let reduce = ArgReduce::new(rule.reduce_function(), &layout)
                .axes_from(axes.iter())
                .direction(arguments::direction(select_last))
                .nan_policy(arguments::nan_policy(nan))
                .by(rule.by.key(name, view.data_type, view.is_of_dates())?)
                .window(&whole, &start);
            let there = there.map(|there| mask::of_bools(name, there, &mut shape_of_there)).transpose()?;
            partial_of_view(py, &view, axes, &reduce, (&threads, there.as_ref()), rule)?
        }
        Source::ManyAxes(array, _) => {
            let axes = PyTuple::new(py, axis.of_rank(py, array.ndim())?.iter().collect::<Vec<_>>())?;
            let options = [("function", function), ("nan", nan)].into_py_dict(py)?;
            options.set_item("select_last", select_last)?;
            options.set_item("threads", threads.count)?;
            options.set_item("where", there)?;
            let (key, near) = rule.by.said(py)?;
            options.set_item("key", key)?;
            options.set_item("near", near)?;
            let args = (array, axes, start, whole);
            interop(py)?.call_method(intern!(py, "partial_of_many_axes"), args, Some(&options))?
        }
    };
    give_back(part, &x, None, tensor_type)
}

fn partial_of_view<'py>(
    py: Python<'py>,
    view: &View<'_, 'py>,
    axes: Axes,
    reduce: &ArgReduce<'_>,
    (threads, there): (&Threads, Option<&There<'_, 'py>>),
    rule: Rule,
) -> PyResult<Bound<'py, PyAny>> {
    let plan = reduce.plan_untyped(view.data_type, INDEX_TYPE).map_err(value_error)?;
    let result_sizes = axes.result_sizes(view.shape.sizes(), false);
    let mut values = NewArray::new(view.value_type(py)?, &result_sizes)?;
    let mut indices = NewArray::new(descr_of(py, INDEX_TYPE)?, &result_sizes)?;
    let (value_bytes, index_bytes) = (values.bytes(), indices.bytes());
    // SAFETY: no code of Python runs before the plan has run, and nothing here writes to the input.
    let input = unsafe { view.bytes("partial")? };
    let is_of_bools = view.data_type == DataType::Bool;
    let work = |lent: &Lent<'_>| {
        let run = |elements: &[u8], indices: &mut [u8], values: &mut [u8]| {
            plan.run(lent.input(elements), PartialBuffers { indices, values })
        };
        if !is_of_bools {
            return run(input, index_bytes, value_bytes).map_err(value_error);
        }
        let (functions, width, select_last) = ([rule.reduce_function()], INDEX_TYPE.size(), rule.select_last);
        let (indices, values) = ([index_bytes], Some([value_bytes]));
        let outputs = Outputs { functions, indices, width, values, select_last };
        bools::run_of_any_bytes(input, outputs, |elements, [indices], [values]| run(elements, indices, values))
    };
    // SAFETY: as above.
    unsafe {
        mask::with("partial", there, |mask| {
            interrupt::run(py, view.work(), threads, |executor| work(&Lent { executor, mask }))
        })?
    }
    if rule.is_nat_above(&values.array.dtype()) {
        dates::one_more_where_seen(values.bytes(), indices.bytes());
    }
    rule.partial(values.array, indices.array)
}

/// Merges the answers for parts: in any order and grouping, the answer for all of them.
///
/// Parameters
/// ----------
/// *parts : Partial, or any tuple (values, indices); or one list of these
///     At least one. Arrays of one shape and of any library, values of one type, and indices of any integer type: one
///     with all bits set, which is -1 if it is signed, means that nothing was seen. None is changed.
/// function, select_last, nan, key, near
///     Of plain tuples, the same as for the parts: without them, those of :func:`argreduce.partial`. A ``Partial``
///     knows its own.
///
/// Returns
/// -------
/// Partial
///     New arrays, of the library that the values of the first part are from, as those of :func:`argreduce.partial`:
///     indices are int64. It knows the rule of the parts.
///
/// Raises
/// ------
/// TypeError
///     Values of two types, or indices that are no integers.
/// ValueError
///     No parts; parts that were found by different rules; arrays of different shapes; an index that int64 does not
///     hold.
///
/// Examples
/// --------
/// >>> import numpy as np, argreduce
/// >>> a = (np.array([3.0, 5.0]), np.array([0, 7]))
/// >>> b = (np.array([4.0, 5.0]), np.array([9, 2]))
/// >>> argreduce.merge(a, b)
/// Partial(values=array([4., 5.]), indices=array([9, 2]))
/// >>> x = np.array([5.0, 3.0, 9.0, 1.0, 7.0, 2.0])
/// >>> parts = [argreduce.partial(x[n:][:2], start=(n,), whole=(6,), function="argmin") for n in (0, 2, 4)]
/// >>> argreduce.merge(parts)
/// Partial(values=array(1.), indices=array(3))
#[pyfunction]
#[pyo3(signature = (*parts, function=None, select_last=None, nan=None, key=None, near=None))]
pub(crate) fn merge<'py>(
    parts: &Bound<'py, PyTuple>,
    function: Option<&Bound<'py, PyAny>>,
    select_last: Option<&Bound<'py, PyAny>>,
    nan: Option<&Bound<'py, PyAny>>,
    key: Option<&Bound<'py, PyAny>>,
    near: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let said = SaidRule {
        function: function.map(arguments::function).transpose()?,
        select_last: select_last.map(arguments::truth).transpose()?,
        nan: nan.map(arguments::nan).transpose()?,
        by: Some(By::new(key, near)?).filter(|by| *by != By::Value),
    };
    let parts: Vec<_> = match parts.get_item(0) {
        Ok(list) if parts.len() == 1 && list.is_instance_of::<PyList>() => list.try_iter()?.collect::<PyResult<_>>()?,
        _ => parts.iter().collect(),
    };
    let rule = said.of_parts(&parts)?;
    // All become arrays before one of them is looked at: that may run any code of Python. (A tensor of another library
    // has its address from here on; what frees its memory behind its back, as through NumPy, is not seen.)
    let pairs = parts.iter().enumerate().map(|(n, part)| pair(n, part)).collect::<PyResult<Vec<_>>>()?;
    let [(values, _), ..] = &pairs[..] else {
        return Err(PyValueError::new_err("merge was given no parts: at least one is needed"));
    };
    let (shape, tensor_type) = (values.array.shape().to_vec(), values.tensor_type);
    for part in pairs.iter().flat_map(|(values, indices)| [values, indices]) {
        if *part.array.shape() != *shape {
            return Err(PyValueError::new_err(format!(
                "{} have the shape {}, and {} {}",
                part.name,
                shape_text(part.array.shape()),
                values.name,
                shape_text(&shape)
            )));
        }
    }
    let merged = merge_arrays(&pairs, rule)?;
    give_back(merged, &parts[0].get_item(0)?, None, tensor_type)
}

/// Merges pairs of arrays of one shape.
fn merge_arrays<'py>(pairs: &[(Part<'py>, Part<'py>)], rule: Rule) -> PyResult<Bound<'py, PyAny>> {
    let ((values, indices), others) = (&pairs[0], &pairs[1..]);
    let (py, data_type) = (values.array.py(), common_type(values, others.iter().map(|(values, _)| values))?);
    // The result is an array of its own.
    let [mut best, mut best_indices] = [native_copy(NAME, &values.array)?, indices.widened()?];
    let is_nat_above = rule.is_nat_above(&values.array.dtype());
    let key = rule.by.key(NAME, data_type, is_date(&values.array.dtype()))?;
    if is_nat_above {
        dates::add(best.bytes(), -1);
    }
    if data_type == DataType::Bool {
        // Of those that are true, bytes are equal from here on.
        bools::to_zeros_and_ones(best.bytes());
    }
    for (values, indices) in others {
        // Parts may be too small to be interrupted themselves.
        py.check_signals()?;
        let [mut values, indices] = [values.packed()?, indices.packed_indices()?];
        if is_nat_above || data_type == DataType::Bool {
            let mut copy = native_copy(NAME, &values)?;
            if is_nat_above {
                dates::add(copy.bytes(), -1);
            } else {
                bools::to_zeros_and_ones(copy.bytes());
            }
            values = copy.array;
        }
        let accs = (best.bytes(), best_indices.bytes());
        // SAFETY: no code of Python runs before they have been merged, and nothing here writes to those of `others`.
        let others = unsafe { (packed_bytes(&values, accs.0.len())?, packed_bytes(&indices, accs.1.len())?) };
        let bytes = others.0.len() + others.1.len();
        let types = (data_type, INDEX_TYPE);
        let run = |_: &dyn Executor| rule.merge(key).arrays_untyped(types, accs, others).map_err(value_error);
        interrupt::run(py, bytes, &Threads { count: 1 }, run)?;
    }
    if is_nat_above {
        dates::add(best.bytes(), 1);
    }
    rule.partial(best.array, best_indices.array)
}

/// What the caller says of the rule.
struct SaidRule {
    function: Option<&'static str>,
    select_last: Option<bool>,
    nan: Option<&'static str>,
    by: Option<By>,
}

impl SaidRule {
    /// That of the parts which know it. If none does, what is said, and what is usual.
    fn of_parts(&self, parts: &[Bound<'_, PyAny>]) -> PyResult<Rule> {
        let mut known: Option<(usize, Rule)> = None;
        for (n, part) in parts.iter().enumerate() {
            match (known, Rule::of(part)?) {
                (Some((first, rule)), Some(other)) if rule != other => {
                    return Err(PyValueError::new_err(format!(
                        "parts of different rules do not merge: part {first} was found with {rule}, and part {n} with \
                         {other}"
                    )));
                }
                (None, Some(rule)) => known = Some((n, rule)),
                _ => {}
            }
        }
        let Some((n, rule)) = known else { return Ok(self.or(Rule::USUAL)) };
        let said = self.or(rule);
        if said == rule {
            return Ok(rule);
        }
        Err(PyValueError::new_err(format!(
            "part {n} was found with {rule}, and merge was called with {said}: leave out what the parts know"
        )))
    }

    /// What is not said is as in another one.
    fn or(&self, other: Rule) -> Rule {
        Rule {
            function: self.function.unwrap_or(other.function),
            select_last: self.select_last.unwrap_or(other.select_last),
            nan: self.nan.unwrap_or(other.nan),
            by: self.by.unwrap_or(other.by),
        }
    }
}

fn pair<'py>(n: usize, part: &Bound<'py, PyAny>) -> PyResult<(Part<'py>, Part<'py>)> {
    let Ok((values, indices)) = part.extract() else {
        let class = part.get_type().name()?;
        return Err(PyTypeError::new_err(format!("part {n} is of type {class}: a tuple (values, indices) is needed")));
    };
    Ok((array(format!("values of part {n}"), &values)?, array(format!("indices of part {n}"), &indices)?))
}

/// The type of all values.
fn common_type<'a, 'py: 'a>(values: &Part<'py>, others: impl Iterator<Item = &'a Part<'py>>) -> PyResult<DataType> {
    let descr = native_type(NAME, &values.array.dtype())?;
    for part in others {
        let other = native_type(NAME, &part.array.dtype())?;
        // Of dates, with their unit.
        let is_alike = !is_date(&descr) && !is_date(&other) || descr.is_equiv_to(&other);
        if !is_alike || compared_type(&descr) != compared_type(&other) {
            let error = format!("{} are of type {descr}, and {} of type {other}", values.name, part.name);
            return Err(PyTypeError::new_err(error));
        }
    }
    compared_type(&descr).ok_or_else(|| PyTypeError::new_err(format!("{} are of type {descr}", values.name)))
}

const NAME: &str = "merge";

/// An array among the arguments of `merge`.
struct Part<'py> {
    /// What it is, for messages.
    name: String,
    array: Bound<'py, PyUntypedArray>,
    /// The element type, if it is an array of another library.
    tensor_type: Option<DataType>,
}

fn array<'py>(name: String, x: &Bound<'py, PyAny>) -> PyResult<Part<'py>> {
    let (array, tensor_type) = input_without_labels(NAME, x)?.1.into_array(NAME, x.py())?;
    Ok(Part { name, array, tensor_type })
}

impl<'py> Part<'py> {
    /// As a packed array in the machine's byte order: itself, if it is one.
    fn packed(&self) -> PyResult<Bound<'py, PyUntypedArray>> {
        // Not a view of it, which would still say what the array was before it changed.
        if is_packed(&self.array) { Ok(self.array.clone()) } else { Ok(native_copy(NAME, &self.array)?.array) }
    }

    fn packed_indices(&self) -> PyResult<Bound<'py, PyUntypedArray>> {
        let is_wide = element_type(&self.array.dtype()) == Some(INDEX_TYPE);
        if is_wide { self.packed() } else { Ok(self.widened()?.array) }
    }

    /// Indices of any integer type as a new array of int64. Those with all bits set, "nothing seen", stay that.
    fn widened(&self) -> PyResult<NewArray<'py>> {
        let (py, descr) = (self.array.py(), self.array.dtype());
        let is_signed = match (descr.kind(), element_type_of_any_order(&descr)) {
            (b'i', Some(_)) => true,
            (b'u', Some(_)) => false,
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "{} are of type {}: integers are needed",
                    self.name,
                    descr.str()?
                )));
            }
        };
        let mut wide = NewArray::new(descr_of(py, INDEX_TYPE)?, self.array.shape())?;
        wide.fill_from(&self.array)?;
        if is_signed {
            return Ok(wide);
        }
        // A wide one below zero was larger than int64 holds.
        let all_bits = (u64::MAX >> (64 - 8 * descr.itemsize())) as i64;
        for bytes in wide.bytes().as_chunks_mut().0 {
            let index = i64::from_ne_bytes(*bytes);
            if index == all_bits {
                *bytes = (-1_i64).to_ne_bytes();
            } else if index < 0 {
                let name = &self.name;
                return Err(PyValueError::new_err(format!("{name} have {}: int64 holds less", index as u64)));
            }
        }
        Ok(wide)
    }
}

fn is_packed(array: &Bound<'_, PyUntypedArray>) -> bool {
    const NEEDED: i32 = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    flags(array) & NEEDED == NEEDED && compared_type(&array.dtype()).is_some()
}

/// The elements of a packed array, as bytes.
///
/// # Safety
/// - No code of Python runs between this and the last read, unless in another thread.
/// - Nothing writes to the array meanwhile. (Another thread of Python may, as with NumPy.)
unsafe fn packed_bytes<'a>(array: &'a Bound<'_, PyUntypedArray>, count: usize) -> PyResult<&'a [u8]> {
    let bytes = array.shape().iter().product::<usize>() * array.dtype().itemsize();
    if !is_packed(array) || bytes != count {
        return Err(PyRuntimeError::new_err("merge was called with an array that changed meanwhile"));
    }
    if bytes == 0 {
        return Ok(&[]);
    }
    // SAFETY: a packed array has so many bytes at this moment. The caller promises that it stays so.
    Ok(unsafe { std::slice::from_raw_parts(first_of(array), bytes) })
}
