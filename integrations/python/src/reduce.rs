//! A call, from its arguments to its answer.

use crate::arguments::{self, Axes, Axis, Sizes};
use crate::column::{self, Chunk};
use crate::dates;
use crate::mask::{self, There};
use crate::output::{NewArray, Out, copy_into, out_array, scalar};
use crate::plans::Key;
use crate::threads::Threads;
use crate::view::{Input, Shape, Source, View, as_plain_array, descr_of, input_of, interop};
use argreduce::half::{bf16, f16};
use argreduce::{
    ArgReduce, Buffers, DataType, Element, Error, Mask, NanPolicy, Options, PartialBuffers, ReduceFunction,
};
use bytemuck::{bytes_of_mut, cast_slice, cast_slice_mut};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// What a function gives back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Indices,
    /// The same, or an error if there is nothing but NaN somewhere.
    IndicesOfNumbers,
    ValuesAndIndices,
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(crate) enum Functions {
    One(ReduceFunction),
    /// The smallest and the largest.
    Both,
}

impl Functions {
    /// In the order of the answers.
    const BOTH: [ReduceFunction; 2] = [ReduceFunction::ArgMin, ReduceFunction::ArgMax];

    fn each(&self) -> &[ReduceFunction] {
        match self {
            Functions::One(function) => std::slice::from_ref(function),
            Functions::Both => &Functions::BOTH,
        }
    }

    /// By NumPy's name, whatever the function of this package; NumPy has none for both.
    fn name(self) -> &'static str {
        match self {
            Functions::One(ReduceFunction::ArgMin) => "argmin",
            Functions::One(_) => "argmax",
            Functions::Both => "argminmax",
        }
    }
}

/// What a function is called with, as the caller says it.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a, 'py> {
    pub(crate) name: &'static str,
    pub(crate) functions: Functions,
    pub(crate) answer: Answer,
    pub(crate) axis: Option<&'a Bound<'py, PyAny>>,
    pub(crate) keepdims: bool,
    pub(crate) out: Option<&'a Bound<'py, PyAny>>,
    pub(crate) dtype: Option<&'a Bound<'py, PyAny>>,
    pub(crate) select_last: bool,
    pub(crate) nan_policy: NanPolicy,
    pub(crate) threads: Option<&'a Bound<'py, PyAny>>,
    /// `where`.
    pub(crate) there: Option<&'a Bound<'py, PyAny>>,
    pub(crate) fill: Option<&'a Bound<'py, PyAny>>,
}

impl<'py> Arguments<'_, 'py> {
    pub(crate) fn run(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // All that may run code of Python comes before the array is looked at.
        let call = Call {
            said: self,
            axis: Axis::new(self.axis)?,
            index_type: self.dtype.map(arguments::index_type).transpose()?,
            out: out_array(self.name, self.out)?,
            threads: arguments::threads(self.threads)?,
            fill: self.fill.map(arguments::fill).transpose()?,
        };
        let (input, there) = match input_of(self.name, x)? {
            Input::OfDask => return self.run_by_dask(x),
            Input::Column(chunks) => return call.run_column(x.py(), chunks),
            input if self.there.is_some() || matches!(input, Input::Masked(..)) => {
                mask::apart(self.name, input, self.there, x.py())?
            }
            input => (input, None),
        };
        let (mut shape, mut shape_of_there) = (Shape::NONE, Shape::NONE);
        let source = Source::of(self.name, input, x.py(), &mut shape)?;
        let tensor_type = source.tensor_type();
        let result = match &source {
            Source::View(view) => {
                let there = there.map(|there| mask::of_bools(self.name, there, &mut shape_of_there)).transpose()?;
                call.run_view(x.py(), view, there.as_ref())?
            }
            Source::ManyAxes(array, _) => call.run_many_axes(array, there)?,
        };
        give_back(result, x, self.out, tensor_type)
    }

    /// By the function of the same name in `argreduce.dask`, which refuses what it does not take.
    fn run_by_dask(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = x.py();
        let options = PyDict::new(py);
        options.set_item("keepdims", self.keepdims)?;
        options.set_item("select_last", self.select_last)?;
        let others = [
            ("out", self.out),
            ("dtype", self.dtype),
            ("threads", self.threads),
            ("where", self.there),
            ("fill", self.fill),
        ];
        for (name, value) in others {
            if let Some(value) = value {
                options.set_item(name, value)?;
            }
        }
        self.set_nan(&options)?;
        interop(py)?.call_method1(intern!(py, "of_dask"), (self.name, x, self.axis, options))
    }

    /// For the functions that have a choice.
    fn set_nan(&self, options: &Bound<'py, PyDict>) -> PyResult<()> {
        if self.answer == Answer::IndicesOfNumbers {
            return Ok(());
        }
        options.set_item("nan", if self.nan_policy == NanPolicy::Ignore { "ignore" } else { "propagate" })
    }
}

/// The same, converted: from here on no argument runs code of Python.
struct Call<'a, 'py> {
    said: &'a Arguments<'a, 'py>,
    axis: Axis,
    /// The type of indices, if one was asked for.
    index_type: Option<DataType>,
    out: Option<&'a Bound<'py, PyUntypedArray>>,
    threads: Threads,
    fill: Option<i64>,
}

/// Below this many bytes the lock of the interpreter is kept: to release and take it again costs more than the work.
const MIN_BYTES_WITHOUT_LOCK: usize = 32 << 10;

impl<'py> Call<'_, 'py> {
    fn run_view(
        &self,
        py: Python<'py>,
        view: &View<'_, 'py>,
        there: Option<&There<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Arguments { name, functions, answer, keepdims, select_last, nan_policy, .. } = *self.said;
        let sizes = view.shape.sizes();
        let axes = self.axis.of_rank(py, sizes.len())?;
        let result_sizes = axes.result_sizes(sizes, keepdims);
        let count: usize = axes.iter().map(|axis| sizes[axis as usize]).product();
        if count == 0 {
            // As NumPy: even if there are no outputs, and in the same words, whichever function it was.
            return Err(PyValueError::new_err(format!("attempt to get {} of an empty sequence", functions.name())));
        }
        let out = self.out.map(|out| Out::new(name, out, self.index_type, result_sizes, count)).transpose()?;
        let index_type = out.as_ref().map(|out| out.index_type).or(self.index_type).unwrap_or(DataType::I64);
        let (data_type, function) = (view.data_type, functions.each()[0]);
        arguments::check_fill(self.fill, index_type)?;
        let key = Key { axes, data_type, index_type, function, select_last, nan_policy };
        let run = Run { py, name, key, view, threads: &self.threads, there, fill: self.fill };
        if result_sizes.is_empty() && out.is_none() && answer == Answer::Indices {
            return self.run_to_numbers(&run, index_type);
        }
        let with_values = answer == Answer::ValuesAndIndices
            || answer == Answer::IndicesOfNumbers
                && (matches!(data_type, DataType::F16 | DataType::Bf16 | DataType::F32 | DataType::F64)
                    || view.is_of_dates());
        // What takes more than one step is not written to `out` before the last.
        if let (Some(out), false) = (&out, with_values || run.has_nat_above() || there.is_some())
            && run.run_directly(out)?
        {
            return Ok(out.given());
        }
        let new = || Found::new(py, view, index_type, result_sizes, with_values);
        match functions {
            Functions::One(_) => {
                let mut found = new()?;
                let (indices, values) = found.bytes();
                run.run(indices, values)?;
                self.answer(view, found, out.as_ref())
            }
            Functions::Both => {
                let mut found = [new()?, new()?];
                let [(min, min_values), (max, max_values)] = found.each_mut().map(Found::bytes);
                let values = min_values.zip(max_values).map(|(min, max)| [min, max]);
                run.run_both([min, max], values)?;
                answer_of_both(found)
            }
        }
    }

    /// Of full reductions without values: no array is made.
    fn run_to_numbers(&self, run: &Run<'_, 'py>, index_type: DataType) -> PyResult<Bound<'py, PyAny>> {
        let mut indices = [0_u64; 2];
        let [first, second] = indices.each_mut().map(|index| &mut bytes_of_mut(index)[..index_type.size()]);
        let descr = descr_of(run.py, index_type)?;
        match self.said.functions {
            Functions::One(_) => {
                run.run(first, None)?;
                scalar(&descr, first)
            }
            Functions::Both => {
                run.run_both([&mut *first, &mut *second], None)?;
                let numbers = (scalar(&descr, first)?, scalar(&descr, second)?);
                interop(run.py)?.call_method1(intern!(run.py, "ArgMinMax"), numbers)
            }
        }
    }

    /// What one function found, as it is given back.
    fn answer(
        &self,
        view: &View<'_, 'py>,
        found: Found<'py>,
        out: Option<&Out<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Found { mut indices, values } = found;
        let Some(mut values) = values else { return indices_or_out(&mut indices, out) };
        if self.said.answer == Answer::IndicesOfNumbers {
            let width = indices.array.dtype().itemsize();
            self.without_nan(view, values.bytes(), (indices.bytes(), width))?;
            return indices_or_out(&mut indices, out);
        }
        let values = number_or_array(&mut values)?;
        let (py, indices) = (values.py(), indices_or_out(&mut indices, out)?);
        interop(py)?.call_method1(intern!(py, "ValuesAndIndices"), (values, indices))
    }

    /// Puts the fill in place of the index of each value that is NaN.
    ///
    /// # Errors
    /// `ValueError` if there is none.
    fn without_nan(&self, view: &View<'_, 'py>, values: &[u8], (indices, width): (&mut [u8], usize)) -> PyResult<()> {
        if !has_nan(view, values) {
            return Ok(());
        }
        let Some(fill) = self.fill else { return Err(PyValueError::new_err("All-NaN slice encountered")) };
        for (value, index) in values.chunks_exact(view.data_type.size()).zip(indices.chunks_exact_mut(width)) {
            if has_nan(view, value) {
                write_index(fill, index);
            }
        }
        Ok(())
    }

    /// Of a column, in pieces.
    fn run_column(&self, py: Python<'py>, chunks: Vec<Chunk<'py>>) -> PyResult<Bound<'py, PyAny>> {
        let Arguments { name, functions, nan_policy, .. } = *self.said;
        let (mut shape, mut shape_of_there) = (Shape::NONE, Shape::NONE);
        let axes = self.axis.of_rank(py, 1)?;
        let is_in_pieces = chunks.len() > 1 && axes.iter().next().is_some();
        if is_in_pieces && self.said.there.is_none() {
            let first = Source::of_array(name, chunks[0].array.clone(), &mut shape)?;
            let Source::View(first) = &first else { return Err(column::not_an_axis(name)) };
            let is_nat_above = |&function: &ReduceFunction| dates::is_nat_above(function, nan_policy);
            if !(first.is_of_dates() && functions.each().iter().any(is_nat_above)) {
                return self.run_pieces(py, &chunks, axes, first);
            }
            shape = Shape::NONE;
        }
        let ([chunk], None) = (&chunks[..], self.said.there) else {
            let (input, there) = mask::apart(name, Input::Column(chunks), self.said.there, py)?;
            let Source::View(view) = Source::of(name, input, py, &mut shape)? else {
                return Err(column::not_an_axis(name));
            };
            let there = there.map(|there| mask::of_bools(name, there, &mut shape_of_there)).transpose()?;
            return self.run_view(py, &view, there.as_ref());
        };
        let Source::View(view) = Source::of_array(name, chunk.array.clone(), &mut shape)? else {
            return Err(column::not_an_axis(name));
        };
        self.run_view(py, &view, chunk.validity.is_some().then_some(&There::Bits(chunk)))
    }

    /// Each piece gives a partial answer. They merge.
    fn run_pieces(
        &self,
        py: Python<'py>,
        chunks: &[Chunk<'py>],
        axes: Axes,
        first: &View<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Arguments { name, functions, answer, keepdims, .. } = *self.said;
        let total: usize = chunks.iter().map(|chunk| chunk.len).sum();
        let result_sizes = axes.result_sizes(&[total], keepdims);
        let out = self.out.map(|out| Out::new(name, out, self.index_type, result_sizes, total)).transpose()?;
        let index_type = out.as_ref().map(|out| out.index_type).or(self.index_type).unwrap_or(DataType::I64);
        arguments::check_fill(self.fill, index_type)?;
        let find = |best: Best| {
            let mut found = Found::new(py, first, index_type, result_sizes, answer != Answer::Indices)?;
            let (indices, values) = found.bytes();
            let nothing = || value_error(Error::NothingThere { output: Vec::new() });
            let index = if best.index[0] == -1 { self.fill.ok_or_else(nothing)? } else { best.index[0] };
            write_index(index, indices);
            if let Some(values) = values {
                values.copy_from_slice(&cast_slice(&best.value)[..values.len()]);
            }
            Ok::<_, PyErr>(found)
        };
        match functions {
            Functions::One(function) => {
                let [best] = self.best_of_pieces(py, chunks, total, [function])?;
                self.answer(first, find(best)?, out.as_ref())
            }
            Functions::Both => {
                let [min, max] = self.best_of_pieces(py, chunks, total, Functions::BOTH)?;
                answer_of_both([find(min)?, find(max)?])
            }
        }
    }

    /// The best of all pieces, for each function.
    fn best_of_pieces<const N: usize>(
        &self,
        py: Python<'py>,
        chunks: &[Chunk<'py>],
        total: usize,
        functions: [ReduceFunction; N],
    ) -> PyResult<[Best; N]> {
        let Arguments { name, select_last, nan_policy, .. } = *self.said;
        let options = Options::new().direction(arguments::direction(select_last)).nan_policy(nan_policy);
        let (mut best, mut start) = (functions.map(|_| Best::NOTHING), 0);
        for chunk in chunks {
            let mut shape = Shape::NONE;
            let Source::View(view) = Source::of_array(name, chunk.array.clone(), &mut shape)? else {
                return Err(column::not_an_axis(name));
            };
            let (layout, data_type) = (view.shape.layout().map_err(value_error)?, view.data_type);
            let (whole, from, threads) = ([total], [start], &self.threads);
            let mask = chunk.bits().map(|(bits, offset)| Mask::bits(bits, offset));
            for (function, best) in functions.into_iter().zip(&mut best) {
                let reduce = ArgReduce::new(function, &layout).axes(&[0]).options(options).window(&whole, &from);
                let plan = reduce.plan_untyped(data_type, DataType::I64).map_err(value_error)?;
                let mut of_chunk = Best::NOTHING;
                let to = of_chunk.bytes(data_type);
                // SAFETY: no code of Python runs before the plan has run, and nothing here writes to the input.
                let input = unsafe { view.bytes(name)? };
                let to = PartialBuffers { indices: to.1, values: to.0 };
                let run = || plan.run(threads.lent_to(input).masked(mask), to);
                without_lock(py, input.len(), run).map_err(value_error)?;
                let (best, (value, index)) = (best.bytes(data_type), of_chunk.bytes(data_type));
                let merged = plan.merge().arrays_untyped((data_type, DataType::I64), best, (value, index));
                merged.map_err(value_error)?;
            }
            start += chunk.len;
        }
        Ok(best)
    }

    /// Of more axes than the library takes: kept ones are merged to one, and reduced ones to another.
    fn run_many_axes(
        &self,
        array: &Bound<'py, PyUntypedArray>,
        there: Option<Bound<'py, PyUntypedArray>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        let Arguments { name, answer, keepdims, select_last, .. } = *self.said;
        let options = PyDict::new(py);
        options.set_item("dtype", self.index_type.map(|index_type| descr_of(py, index_type)).transpose()?)?;
        options.set_item("select_last", select_last)?;
        options.set_item("threads", self.threads.count)?;
        options.set_item("where", there)?;
        options.set_item("fill", self.fill)?;
        self.said.set_nan(&options)?;
        let axes = PyTuple::new(py, self.axis.of_rank(py, array.ndim())?.iter().collect::<Vec<_>>())?;
        let out = self.out.map(as_plain_array).transpose()?;
        let args = (name, array, axes, keepdims, out);
        let result = interop(py)?.call_method(intern!(py, "many_axes"), args, Some(&options))?;
        let Some(out) = self.out else { return Ok(result) };
        // Written here, by the array itself: a view of it would not see that code of Python has changed it meanwhile.
        if answer == Answer::ValuesAndIndices {
            copy_into(out, result.get_item(1)?.cast()?)?;
            return interop(py)?.call_method1(intern!(py, "ValuesAndIndices"), (result.get_item(0)?, out));
        }
        copy_into(out, result.cast()?)?;
        Ok(out.clone().into_any())
    }
}

/// What one function finds.
struct Found<'py> {
    indices: NewArray<'py>,
    values: Option<NewArray<'py>>,
}

impl<'py> Found<'py> {
    /// Before anything is found: in arrays of those sizes.
    fn new(
        py: Python<'py>,
        view: &View<'_, 'py>,
        index_type: DataType,
        sizes: Sizes,
        with_values: bool,
    ) -> PyResult<Self> {
        let indices = NewArray::new(descr_of(py, index_type)?, &sizes)?;
        let values = if with_values { Some(NewArray::new(view.value_type(py)?, &sizes)?) } else { None };
        Ok(Found { indices, values })
    }

    fn bytes(&mut self) -> (&mut [u8], Option<&mut [u8]>) {
        (self.indices.bytes(), self.values.as_mut().map(NewArray::bytes))
    }
}

/// The best element that was found so far, as bytes, and where: -1 is nowhere yet.
struct Best {
    value: [u64; 1],
    index: [i64; 1],
}

impl Best {
    const NOTHING: Best = Best { value: [0], index: [-1] };

    fn bytes(&mut self, data_type: DataType) -> (&mut [u8], &mut [u8]) {
        (&mut cast_slice_mut(&mut self.value)[..data_type.size()], cast_slice_mut(&mut self.index))
    }
}

/// What both functions found, as it is given back.
fn answer_of_both<'py>([mut min, mut max]: [Found<'py>; 2]) -> PyResult<Bound<'py, PyAny>> {
    let (argmin, argmax) = (number_or_array(&mut min.indices)?, number_or_array(&mut max.indices)?);
    let py = argmin.py();
    let (Some(min), Some(max)) = (&mut min.values, &mut max.values) else {
        return interop(py)?.call_method1(intern!(py, "ArgMinMax"), (argmin, argmax));
    };
    let parts = (number_or_array(min)?, argmin, number_or_array(max)?, argmax);
    interop(py)?.call_method1(intern!(py, "ArgMinMaxValues"), parts)
}

/// Indices as they are given back: copied to `out`, if there is one.
fn indices_or_out<'py>(indices: &mut NewArray<'py>, out: Option<&Out<'_, 'py>>) -> PyResult<Bound<'py, PyAny>> {
    let Some(out) = out else { return number_or_array(indices) };
    out.copy(&indices.array)?;
    Ok(out.given())
}

/// An array without axes is given back as a number.
fn number_or_array<'py>(array: &mut NewArray<'py>) -> PyResult<Bound<'py, PyAny>> {
    if array.array.ndim() == 0 {
        scalar(&array.array.dtype(), array.bytes())
    } else {
        Ok(array.array.clone().into_any())
    }
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

/// What is asked for, and what it is asked of.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a, 'py> {
    pub(crate) py: Python<'py>,
    /// The function that was called.
    pub(crate) name: &'static str,
    pub(crate) key: Key,
    pub(crate) view: &'a View<'a, 'py>,
    pub(crate) threads: &'a Threads,
    pub(crate) there: Option<&'a There<'a, 'py>>,
    pub(crate) fill: Option<i64>,
}

impl Run<'_, '_> {
    fn run(&self, indices: &mut [u8], values: Option<&mut [u8]>) -> PyResult<()> {
        if self.has_nat_above() { self.run_with_nat_above(indices, values) } else { self.run_as_is(indices, values) }
    }

    fn has_nat_above(&self) -> bool {
        self.view.is_of_dates() && dates::is_nat_above(self.key.function, self.key.nan_policy)
    }

    /// By the order of the elements themselves.
    pub(crate) fn run_as_is(&self, indices: &mut [u8], values: Option<&mut [u8]>) -> PyResult<()> {
        let plan = self.key.plan(self.view.shape)?;
        let plan = &*plan;
        self.read(move |input| plan.run(input, Buffers { indices, values }))
    }

    /// [`Run::run`] for both functions: into the indices and values of the smallest, and of the largest.
    fn run_both(&self, indices: [&mut [u8]; 2], values: Option<[&mut [u8]; 2]>) -> PyResult<()> {
        if self.view.is_of_dates() {
            // NaT has to be above all others for one of the two, and not for the other.
            let [min, max] = indices;
            let [min_values, max_values] = values.map_or([None, None], |values| values.map(Some));
            let [of_min, of_max] =
                Functions::BOTH.map(|function| Run { key: self.key.with(function, self.key.nan_policy), ..*self });
            of_min.run(min, min_values)?;
            return of_max.run(max, max_values);
        }
        let plan = self.key.plan_for_both(self.view.shape)?;
        let plan = &*plan;
        let ([min, max], [lowest, highest]) = (indices, values.map_or([None, None], |values| values.map(Some)));
        let outputs = [Buffers { indices: min, values: lowest }, Buffers { indices: max, values: highest }];
        self.read(move |input| plan.run(input, outputs.map(Into::into)))
    }

    /// Hands the elements to something that runs a plan, with which of them are there, what is written where none is,
    /// and the threads. The lock of the interpreter is released meanwhile if they are many.
    fn read(&self, run: impl FnOnce(argreduce::Input<'_, u8>) -> Result<(), Error> + Send) -> PyResult<()> {
        let Run { py, name, view, threads, fill, .. } = *self;
        // SAFETY: no code of Python runs before the plan has run, and nothing here writes to the input: an `out` that
        // is (a part of) it is written after it was read.
        let input = unsafe { view.bytes(name)? };
        let run = |mask: Option<Mask<'_>>| run(threads.lent_to(input).masked(mask).filled(fill));
        let result = match self.there {
            // SAFETY: as above.
            Some(there) => unsafe { there.with(name, |mask| without_lock(py, input.len(), || run(Some(mask))))? },
            None => without_lock(py, input.len(), || run(None)),
        };
        result.map_err(value_error)
    }

    /// Into the memory of `out`, if that is possible.
    fn run_directly(&self, out: &Out<'_, '_>) -> PyResult<bool> {
        // SAFETY: no code of Python runs before the last read, which is below; this one is about addresses alone.
        let input = unsafe { self.view.bytes(self.name)? };
        // SAFETY: Python's lock is held, or the caller shares its array with another thread: as with NumPy.
        match unsafe { out.direct(input) } {
            Some(bytes) => self.run(bytes, None).map(|()| true),
            None => Ok(false),
        }
    }
}

/// Runs something that reads so many bytes: without the lock of the interpreter, if they are many.
pub(crate) fn without_lock<T: Send>(py: Python<'_>, bytes: usize, run: impl FnOnce() -> T + Send) -> T {
    if bytes >= MIN_BYTES_WITHOUT_LOCK { py.detach(run) } else { run() }
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

/// Writes an index, which fits, as the integer of so many bytes.
fn write_index(index: i64, to: &mut [u8]) {
    let (bytes, width) = (index.to_ne_bytes(), to.len());
    let first = if cfg!(target_endian = "little") { 0 } else { 8 - width };
    to.copy_from_slice(&bytes[first..][..width]);
}

/// Whether there is a NaN among values of a view, or a NaT.
fn has_nan(view: &View<'_, '_>, bytes: &[u8]) -> bool {
    // By the bits, as `Element::is_nan` does: a comparison of floats may trap.
    fn any<const N: usize>(bytes: &[u8], is_nan: impl Fn([u8; N]) -> bool) -> bool {
        bytes.as_chunks().0.iter().any(|&bytes| is_nan(bytes))
    }
    match view.data_type {
        DataType::I64 => any(bytes, |bytes| view.is_of_dates() && i64::from_ne_bytes(bytes) == dates::NAT),
        DataType::F32 => any(bytes, |bytes| Element::is_nan(f32::from_ne_bytes(bytes))),
        DataType::F64 => any(bytes, |bytes| Element::is_nan(f64::from_ne_bytes(bytes))),
        DataType::F16 => any(bytes, |bytes| Element::is_nan(f16::from_ne_bytes(bytes))),
        DataType::Bf16 => any(bytes, |bytes| Element::is_nan(bf16::from_ne_bytes(bytes))),
        _ => false,
    }
}
