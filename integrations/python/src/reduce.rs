//! A call, from its arguments to its answer.

use crate::arguments::{self, Axes, Axis, Sizes};
use crate::bits::Packed;
use crate::bools::{self, Outputs};
use crate::classes::Class;
use crate::column::{self, Chunk};
use crate::dates;
use crate::interop::NamedTuple::{ArgMinMax, ArgMinMaxValues, ValuesAndIndices};
use crate::interop::{descr_of, interop, value_error};
use crate::interrupt;
use crate::keys::By;
use crate::mask::{self, There};
use crate::output::{NewArray, Out, Place, copy_into, index_number, out_array, scalar, write_index};
use crate::plans::Key;
use crate::run::Run;
use crate::threads::Threads;
use crate::view::{Input, Shape, Source, View, as_plain_array, input_of};
use argreduce::{
    ArgReduce, Buffers, DataType, Element, Error, Executor, Mask, NanPolicy, Options, PartialBuffers, ReduceFunction,
    with_element_type,
};
use bytemuck::{bytes_of, cast_slice, cast_slice_mut, pod_read_unaligned};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
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

    pub(crate) fn each(&self) -> &[ReduceFunction] {
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
    /// Whether each element has an answer: the best so far; and whether that is from the end.
    pub(crate) is_cumulative: bool,
    pub(crate) reverse: bool,
    pub(crate) out: Option<&'a Bound<'py, PyAny>>,
    pub(crate) dtype: Option<&'a Bound<'py, PyAny>>,
    pub(crate) select_last: bool,
    pub(crate) nan: &'static str,
    pub(crate) threads: Option<&'a Bound<'py, PyAny>>,
    pub(crate) r#where: Option<&'a Bound<'py, PyAny>>,
    pub(crate) fill: Option<&'a Bound<'py, PyAny>>,
    pub(crate) key: Option<&'a Bound<'py, PyAny>>,
    pub(crate) near: Option<&'a Bound<'py, PyAny>>,
}

impl<'py> Arguments<'_, 'py> {
    /// Those of a call that says nothing more. Of a function without the choice, NaN is ignored.
    #[inline(always)]
    pub(crate) fn new(name: &'static str, functions: Functions, answer: Answer) -> Self {
        let (axis, out, dtype, threads, r#where, fill, key, near) = (None, None, None, None, None, None, None, None);
        let (keepdims, is_cumulative, reverse, select_last, nan) = (false, false, false, false, "ignore");
        #[rustfmt::skip]
        let said = Arguments {
            name, functions, answer, axis, keepdims, is_cumulative, reverse, out, dtype, select_last, nan, threads,
            r#where, fill, key, near,
        };
        said
    }

    pub(crate) fn run(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // An array of NumPy itself is nothing else, and need not be asked.
        let array = x.cast_exact::<PyUntypedArray>().ok();
        let class = if array.is_some() { Class::OF_NONE } else { Class::of(x)? };
        if class.is_of_xarray {
            return self.run_in_python(x, "of_labelled");
        }
        if self.is_cumulative && self.axis.is_none() && array.is_none_or(|array| array.ndim() != 1) {
            return self.run_in_python(x, "flattened");
        }
        // All that may run code of Python comes before the array is looked at.
        let call = Call {
            said: self,
            axis: Axis::new(self.axis)?,
            index_type: self.dtype.map(arguments::index_type).transpose()?,
            out: out_array(self.name, self.out)?,
            threads: arguments::threads(self.threads)?,
            fill: self.fill.map(arguments::fill).transpose()?,
            nan_policy: arguments::nan_policy(self.nan),
            by: By::new(self.key, self.near)?,
        };
        let (mut shape, mut shape_of_there) = (Shape::NONE, Shape::NONE);
        if let (Some(array), None) = (array, self.r#where)
            && let Some(data_type) = shape.set_to(array)
        {
            return call.run_view(x.py(), &View::of(array.clone(), data_type, &shape), None);
        }
        let (input, there) = match input_of(self.name, x, class)? {
            Input::OfDask => return self.run_in_python(x, "of_dask"),
            Input::Column(chunks) => return call.run_column(x.py(), chunks),
            input if self.r#where.is_some() || matches!(input, Input::Masked(..)) => {
                mask::apart(self.name, input, self.r#where, x.py())?
            }
            input => (input, None),
        };
        let source = Source::of(self.name, input, x.py(), &mut shape)?;
        let there = there.map(|there| (there, &mut shape_of_there));
        give_back(call.run_source(x.py(), &source, there)?, x, self.out, source.tensor_type())
    }

    /// By a function of `_interop`, which is given all arguments, as they were said.
    fn run_in_python(&self, x: &Bound<'py, PyAny>, by: &str) -> PyResult<Bound<'py, PyAny>> {
        let (py, options) = (x.py(), PyDict::new(x.py()));
        // None is forgotten.
        #[rustfmt::skip]
        let Arguments {
            name, functions: _, answer: _, axis, keepdims, is_cumulative, reverse, out, dtype, select_last, nan: _,
            threads, r#where, fill, key, near,
        } = *self;
        if is_cumulative {
            options.set_item("reverse", reverse)?;
        } else {
            options.set_item("keepdims", keepdims)?;
        }
        options.set_item("select_last", select_last)?;
        let others = [("out", out), ("dtype", dtype), ("threads", threads), ("where", r#where), ("fill", fill)];
        for (name, value) in others.into_iter().chain([("key", key), ("near", near)]) {
            if let Some(value) = value {
                options.set_item(name, value)?;
            }
        }
        self.set_nan(&options)?;
        interop(py)?.call_method1(by, (name, x, axis, options))
    }

    /// For the functions that have a choice.
    fn set_nan(&self, options: &Bound<'py, PyDict>) -> PyResult<()> {
        if self.answer == Answer::IndicesOfNumbers {
            return Ok(());
        }
        options.set_item("nan", self.nan)
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
    nan_policy: NanPolicy,
    by: By,
}

/// The index that says that nothing is there, among those of int64: no element has it.
const NOTHING: i64 = -1;

impl<'py> Call<'_, 'py> {
    /// Of what an argument has in memory, and an array that says which of its elements are there, with a place for the
    /// shape of that.
    #[inline(always)]
    fn run_source(
        &self,
        py: Python<'py>,
        source: &Source<'_, 'py>,
        there: Option<(Bound<'py, PyUntypedArray>, &mut Shape)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match (source, there) {
            (Source::View(view), None) => self.run_view(py, view, None),
            (Source::View(view), Some((there, shape))) => {
                self.run_view(py, view, Some(&mask::of_bools(self.said.name, there, shape)?))
            }
            (Source::ManyAxes(array, _), there) => self.run_many_axes(array, there.map(|(there, _)| there)),
        }
    }

    fn run_view(
        &self,
        py: Python<'py>,
        view: &View<'_, 'py>,
        there: Option<&There<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Arguments { name, functions, answer, keepdims, select_last, .. } = *self.said;
        let sizes = view.shape.sizes();
        let axes = self.axes(py, sizes.len())?;
        let count: usize = axes.iter().map(|axis| sizes[axis as usize]).product();
        let sizes_of_result = match self.said.is_cumulative {
            true => Axes::all(0).result_sizes(sizes, true),
            false => axes.result_sizes(sizes, keepdims),
        };
        let target = self.target(py, &sizes_of_result, count)?;
        let by = self.by.key(name, view.data_type, view.is_of_dates())?;
        if count == 0 {
            return self.answer_of_nothing(py, view, &target);
        }
        let with_values = self.needs_values(view);
        // What has a value beside it is found out by the index: the value is to say it, too.
        let is_told = there.is_some() && self.fill.is_some() && answer == Answer::ValuesAndIndices;
        let (index_type, fill) = if is_told { (DataType::I64, Some(NOTHING)) } else { (target.index_type, self.fill) };
        let (data_type, function) = (view.data_type, functions.each()[0]);
        let (nan_policy, walk) = (self.nan_policy, self.said.is_cumulative.then_some(self.said.reverse));
        let key = Key { axes, walk, data_type, index_type, function, select_last, nan_policy, by, fill };
        let run = Run { py, name, key: &key, view, threads: &self.threads, there };
        // What takes more than one step is not written to `out` before the last.
        let has_steps = with_values || view.is_of_dates() || data_type == DataType::Bool || there.is_some();
        if let (Some(out), false) = (&target.out, has_steps)
            && run.run_directly(out)?
        {
            return Ok(out.given());
        }
        match functions {
            Functions::One(_) => {
                let mut found = [Found::NOTHING];
                found[0].set(py, view, index_type, &target, with_values)?;
                let (indices, values) = found[0].bytes();
                run.run(indices, values)?;
                self.answer(py, view, &mut found, is_told, &target)
            }
            Functions::Both => {
                let mut found = [Found::NOTHING, Found::NOTHING];
                found.iter_mut().try_for_each(|found| found.set(py, view, index_type, &target, with_values))?;
                let [(min, min_values), (max, max_values)] = found.each_mut().map(Found::bytes);
                let values = min_values.zip(max_values).map(|(min, max)| [min, max]);
                run.run_both([min, max], values)?;
                self.answer(py, view, &mut found, is_told, &target)
            }
        }
    }

    /// Where the indices go to, each of which is chosen from so many elements. Says what is wrong with it, and with the
    /// fill.
    #[inline(always)]
    fn target<'b>(&'b self, py: Python<'py>, sizes: &'b Sizes, count: usize) -> PyResult<Target<'b, 'py>> {
        let Arguments { name, functions, .. } = *self.said;
        if count == 0 && self.fill.is_none() && !self.said.is_cumulative {
            // As NumPy: even if there are no outputs, and in the same words, whichever function it was.
            return Err(PyValueError::new_err(format!("attempt to get {} of an empty sequence", functions.name())));
        }
        let out = self.out.map(|out| Out::new(name, out, self.index_type, sizes, count)).transpose()?;
        let index_type = out.as_ref().map(|out| out.index_type).or(self.index_type).unwrap_or(DataType::I64);
        if let Some(fill) = self.fill {
            let written = self.out.map_or_else(|| descr_of(py, index_type), |out| Ok(out.dtype()))?;
            arguments::check_fill(fill, &written)?;
        }
        Ok(Target { sizes, out, index_type })
    }

    /// The axes of an array of that rank: of the best so far, one.
    fn axes(&self, py: Python<'py>, rank: usize) -> PyResult<Axes> {
        let axes = self.axis.of_rank(py, rank)?;
        match axes.iter().count() {
            count if self.said.is_cumulative && count != 1 => {
                let name = self.said.name;
                Err(PyTypeError::new_err(format!("{name} goes along one axis: {count} were given, of {rank}")))
            }
            _ => Ok(axes),
        }
    }

    /// Whether values are found with the indices: they are asked for, or NaN is told by them.
    fn needs_values(&self, view: &View<'_, 'py>) -> bool {
        self.said.answer == Answer::ValuesAndIndices || self.leaves_nan_out(view)
    }

    /// Whether nothing but NaN is as nothing at all: to functions that say so, and where there is a fill for it.
    fn leaves_nan_out(&self, view: &View<'_, 'py>) -> bool {
        self.nan_policy == NanPolicy::Ignore
            && (self.fill.is_some() || self.said.answer == Answer::IndicesOfNumbers)
            && (matches!(view.data_type, DataType::F16 | DataType::Bf16 | DataType::F32 | DataType::F64)
                || view.is_of_dates())
    }

    /// Of outputs none of which has an element: the fill.
    fn answer_of_nothing(
        &self,
        py: Python<'py>,
        view: &View<'_, 'py>,
        target: &Target<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let new = || {
            let mut found = Found::NOTHING;
            found.set(py, view, DataType::I64, target, self.needs_values(view))?;
            let (indices, values) = found.bytes();
            indices.as_chunks_mut().0.fill(NOTHING.to_ne_bytes());
            values.into_iter().for_each(|values| values.fill(0));
            Ok::<_, PyErr>(found)
        };
        match self.said.functions {
            Functions::One(_) => self.answer(py, view, &mut [new()?], true, target),
            Functions::Both => self.answer(py, view, &mut [new()?, new()?], true, target),
        }
    }

    /// What each function found, as it is given back. `is_told`: [`NOTHING`] is among the indices, which are int64.
    #[inline(always)]
    fn answer(
        &self,
        py: Python<'py>,
        view: &View<'_, 'py>,
        found: &mut [Found<'py>],
        is_told: bool,
        target: &Target<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if is_told || self.leaves_nan_out(view) {
            found.iter_mut().try_for_each(|found| self.put_fill(view, found, is_told))?;
        }
        let with_values = self.said.answer == Answer::ValuesAndIndices;
        match found {
            [found] if !with_values => target.put(py, found),
            [found] => ValuesAndIndices.of(py, [found.put_values(py, view)?, target.put(py, found)?]),
            [min, max] if !with_values => ArgMinMax.of(py, [target.put(py, min)?, target.put(py, max)?]),
            [min, max] => {
                let (of_min, argmin) = (min.put_values(py, view)?, target.put(py, min)?);
                let (of_max, argmax) = (max.put_values(py, view)?, target.put(py, max)?);
                ArgMinMaxValues.of(py, [of_min, argmin, of_max, argmax])
            }
            _ => unreachable!("one function, or two"),
        }
    }

    /// Puts the fill in place of the index of what has nothing, and NaN beside it, where the type has one.
    ///
    /// # Errors
    /// `ValueError` if there is no fill.
    fn put_fill(&self, view: &View<'_, 'py>, found: &mut Found<'py>, is_told: bool) -> PyResult<()> {
        let (width, leaves_nan_out) = (found.index_type.size(), self.leaves_nan_out(view));
        let (indices, mut values) = found.bytes();
        let leaves_nan_out = leaves_nan_out && values.as_ref().is_some_and(|values| has_nan(view, values));
        if !is_told && !leaves_nan_out {
            return Ok(());
        }
        let (size, no_value) = (view.data_type.size(), no_value(view));
        for (n, index) in indices.chunks_exact_mut(width).enumerate() {
            let mut value = values.as_mut().map(|values| &mut values[n * size..][..size]);
            let is_nothing = is_told && *index == NOTHING.to_ne_bytes();
            let is_nan = leaves_nan_out && value.as_ref().is_some_and(|value| has_nan(view, value));
            let Some(fill) = self.fill else {
                match (is_nothing, is_nan) {
                    (true, _) => return Err(value_error(Error::NothingThere { output: Vec::new() })),
                    (_, true) => return Err(PyValueError::new_err("All-NaN slice encountered")),
                    _ => continue,
                }
            };
            if !is_nothing && !is_nan {
                continue;
            }
            write_index(fill, index);
            if let (Some(value), true) = (&mut value, is_nothing) {
                value.copy_from_slice(&no_value[..size]);
            }
        }
        Ok(())
    }

    /// Of a column, in pieces.
    fn run_column(&self, py: Python<'py>, chunks: Vec<Chunk<'py>>) -> PyResult<Bound<'py, PyAny>> {
        let Arguments { name, functions, r#where, .. } = *self.said;
        let (mut shape, mut shape_of_there) = (Shape::NONE, Shape::NONE);
        let axes = self.axes(py, 1)?;
        let is_reduced = axes.iter().next().is_some() && !self.said.is_cumulative;
        if is_reduced
            && r#where.is_none()
            && let Some(bits) = chunks.iter().map(Chunk::packed).collect::<Option<Vec<_>>>()
        {
            return self.run_bits(py, &bits, axes);
        }
        let is_in_pieces = chunks.len() > 1 && is_reduced;
        if is_in_pieces && r#where.is_none() {
            let first = Source::of_array(name, chunks[0].array(py)?, &mut shape)?;
            let Source::View(first) = &first else { return Err(column::not_an_axis(name)) };
            let is_nat_above = |&function: &ReduceFunction| dates::is_nat_above(function, self.nan_policy);
            if !(first.is_of_dates() && functions.each().iter().any(is_nat_above)) {
                return self.run_pieces(py, &chunks, axes, first);
            }
            shape = Shape::NONE;
        }
        let ([chunk], None) = (&chunks[..], r#where) else {
            let (input, there) = mask::apart(name, Input::Column(chunks), r#where, py)?;
            let Source::View(view) = Source::of(name, input, py, &mut shape)? else {
                return Err(column::not_an_axis(name));
            };
            let there = there.map(|there| mask::of_bools(name, there, &mut shape_of_there)).transpose()?;
            return self.run_view(py, &view, there.as_ref());
        };
        let Source::View(view) = Source::of_array(name, chunk.array(py)?, &mut shape)? else {
            return Err(column::not_an_axis(name));
        };
        self.run_view(py, &view, chunk.validity.is_some().then_some(&There::Bits(chunk)))
    }

    /// Of bools that are packed, in pieces: by their bits, as nothing has to be compared.
    fn run_bits(&self, py: Python<'py>, pieces: &[Packed<'_>], axes: Axes) -> PyResult<Bound<'py, PyAny>> {
        let Arguments { functions, keepdims, select_last, .. } = *self.said;
        let total: usize = pieces.iter().map(Packed::len).sum();
        let sizes_of_result = axes.result_sizes(&[total], keepdims);
        let target = self.target(py, &sizes_of_result, total)?;
        let mut shape = Shape::NONE;
        // What is said of a view, without its elements.
        let none = NewArray::new(descr_of(py, DataType::Bool)?, &[0])?;
        let view = View::of_new(self.said.name, none, &mut shape)?;
        let mut found = [Found::NOTHING, Found::NOTHING];
        let found = &mut found[..functions.each().len()];
        // What is nearest to True is the largest.
        let is_turned = self.by.key(self.said.name, DataType::Bool, false)? == argreduce::Key::distance(true);
        for (&function, found) in functions.each().iter().zip(found.iter_mut()) {
            let function = if is_turned { opposite(function) } else { function };
            let best =
                interrupt::run(py, total / 8, &self.threads, |_| Ok(Best::of_bits(pieces, function, select_last)))?;
            found.set(py, &view, DataType::I64, &target, self.needs_values(&view))?;
            best.write(found);
        }
        self.answer(py, &view, found, true, &target)
    }

    /// Each piece gives a partial answer. They merge. Of several pieces, none is empty.
    fn run_pieces(
        &self,
        py: Python<'py>,
        chunks: &[Chunk<'py>],
        axes: Axes,
        first: &View<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Arguments { functions, keepdims, .. } = *self.said;
        let total: usize = chunks.iter().map(|chunk| chunk.len).sum();
        let sizes_of_result = axes.result_sizes(&[total], keepdims);
        let target = self.target(py, &sizes_of_result, total)?;
        let found = |best: Best| {
            let mut found = Found::NOTHING;
            found.set(py, first, DataType::I64, &target, self.needs_values(first))?;
            best.write(&mut found);
            Ok::<_, PyErr>(found)
        };
        match functions {
            Functions::One(function) => {
                let [best] = self.best_of_pieces(py, chunks, total, [function])?;
                self.answer(py, first, &mut [found(best)?], true, &target)
            }
            Functions::Both => {
                let [min, max] = self.best_of_pieces(py, chunks, total, Functions::BOTH)?;
                self.answer(py, first, &mut [found(min)?, found(max)?], true, &target)
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
        let Arguments { name, select_last, .. } = *self.said;
        let options = Options::new().direction(arguments::direction(select_last)).nan_policy(self.nan_policy);
        let (mut best, mut start) = (functions.map(|_| Best::NOTHING), 0);
        for chunk in chunks {
            // Pieces may be too short to be interrupted themselves.
            py.check_signals()?;
            let mut shape = Shape::NONE;
            let Source::View(view) = Source::of_array(name, chunk.array(py)?, &mut shape)? else {
                return Err(column::not_an_axis(name));
            };
            let (layout, data_type) = (view.shape.layout().map_err(value_error)?, view.data_type);
            let options = options.by(self.by.key(name, data_type, view.is_of_dates())?);
            let (whole, from) = ([total], [start]);
            let mask = chunk.bits().map(|(bits, offset)| Mask::bits(bits, offset));
            for (function, best) in functions.into_iter().zip(&mut best) {
                let reduce = ArgReduce::new(function, &layout).axes(&[0]).options(options).window(&whole, &from);
                let plan = reduce.plan_untyped(data_type, DataType::I64).map_err(value_error)?;
                let mut of_chunk = Best::NOTHING;
                let to = of_chunk.bytes(data_type);
                // SAFETY: no code of Python runs before the plan has run, and nothing here writes to the input.
                let input = unsafe { view.bytes(name)? };
                let to = PartialBuffers { indices: to.1, values: to.0 };
                let run = |threads: &dyn Executor| {
                    plan.run(argreduce::input(input).masked(mask).on(threads), to).map_err(value_error)
                };
                interrupt::run(py, view.work(), &self.threads, run)?;
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
        let (key, near) = self.by.said(py)?;
        options.set_item("key", key)?;
        options.set_item("near", near)?;
        self.said.set_nan(&options)?;
        let axes = PyTuple::new(py, self.axes(py, array.ndim())?.iter().collect::<Vec<_>>())?;
        let out = self.out.map(as_plain_array).transpose()?;
        let result = if self.said.is_cumulative {
            options.set_item("reverse", self.said.reverse)?;
            interop(py)?.call_method("so_far_of_many_axes", (name, array, axes.get_item(0)?, out), Some(&options))?
        } else {
            let args = (name, array, axes, keepdims, out);
            interop(py)?.call_method(intern!(py, "many_axes"), args, Some(&options))?
        };
        let Some(out) = self.out else { return Ok(result) };
        // Written here, by the array itself: a view of it would not see that code of Python has changed it meanwhile.
        if answer == Answer::ValuesAndIndices {
            copy_into(out, result.get_item(1)?.cast()?)?;
            return ValuesAndIndices.of(py, [result.get_item(0)?, out.clone().into_any()]);
        }
        copy_into(out, result.cast()?)?;
        Ok(out.clone().into_any())
    }
}

/// What one function finds.
struct Found<'py> {
    index_type: DataType,
    indices: Place<'py>,
    values: Option<Place<'py>>,
}

impl<'py> Found<'py> {
    const NOTHING: Found<'py> =
        Found { index_type: DataType::I64, indices: Place::Number([0], DataType::I64), values: None };

    /// Makes room for what is found. In place, because to move it takes as long as some of what a small call does.
    fn set(
        &mut self,
        py: Python<'py>,
        view: &View<'_, 'py>,
        index_type: DataType,
        target: &Target<'_, 'py>,
        with_values: bool,
    ) -> PyResult<()> {
        let sizes = target.sizes;
        self.index_type = index_type;
        // What is written to `out` is copied from an array.
        self.indices = if sizes.is_empty() && target.out.is_none() {
            Place::Number([0], index_type)
        } else {
            Place::Array(NewArray::new(descr_of(py, index_type)?, sizes)?)
        };
        if with_values {
            self.values = Some(match sizes.is_empty() {
                true => Place::Number([0], view.data_type),
                false => Place::Array(NewArray::new(view.value_type(py)?, sizes)?),
            });
        }
        Ok(())
    }

    fn bytes(&mut self) -> (&mut [u8], Option<&mut [u8]>) {
        (self.indices.bytes(), self.values.as_mut().map(Place::bytes))
    }

    /// Values as they are given back: elements of a view.
    fn put_values(&mut self, py: Python<'py>, view: &View<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.values.as_mut().expect("asked for, and so found") {
            Place::Array(array) => Ok(array.array.clone().into_any()),
            number => scalar(&view.value_type(py)?, number.bytes()),
        }
    }
}

/// The best element that was found so far, as bytes, and where: -1 is nowhere yet.
struct Best {
    value: [u64; 1],
    index: [i64; 1],
}

impl Best {
    const NOTHING: Best = Best { value: [0], index: [NOTHING] };

    fn bytes(&mut self, data_type: DataType) -> (&mut [u8], &mut [u8]) {
        (&mut cast_slice_mut(&mut self.value)[..data_type.size()], cast_slice_mut(&mut self.index))
    }

    /// Of bools in pieces: the first or the last True that is there, or False; if there is none, of all that are there.
    fn of_bits(pieces: &[Packed<'_>], function: ReduceFunction, select_last: bool) -> Best {
        let is_max = function == ReduceFunction::ArgMax;
        let flipped = if is_max { 0 } else { 0xFF };
        let search = |of: &dyn Fn(&Packed<'_>) -> Option<usize>| {
            let mut starts = pieces.iter().scan(0, |start, piece| {
                *start += piece.len();
                Some((*start - piece.len(), piece))
            });
            let in_piece = |(start, piece): (usize, &Packed<'_>)| of(piece).map(|place| (start + place) as i64);
            if !select_last {
                return starts.find_map(in_piece);
            }
            starts.collect::<Vec<_>>().into_iter().rev().find_map(in_piece)
        };
        let best = search(&|piece| piece.find(select_last, |bits, there| (bits ^ flipped) & there));
        let other = || search(&|piece| piece.find(select_last, |_, there| there));
        let value = u8::from(best.is_some() == is_max);
        match best.or_else(other) {
            Some(index) => Best { value: [u64::from_ne_bytes([value, 0, 0, 0, 0, 0, 0, 0])], index: [index] },
            None => Best::NOTHING,
        }
    }

    fn write(&self, found: &mut Found<'_>) {
        let (indices, values) = found.bytes();
        indices.copy_from_slice(cast_slice(&self.index));
        if let Some(values) = values {
            values.copy_from_slice(&cast_slice(&self.value)[..values.len()]);
        }
    }
}

/// Where indices go to.
struct Target<'a, 'py> {
    /// Those of the result.
    sizes: &'a Sizes,
    out: Option<Out<'a, 'py>>,
    /// Their type: that of `out`, or of what is made for it.
    index_type: DataType,
}

impl<'py> Target<'_, 'py> {
    /// Indices as they are given back: copied to `out`, if there is one; otherwise of the type that was asked for. All
    /// were checked to fit.
    #[inline(always)]
    fn put(&self, py: Python<'py>, found: &mut Found<'py>) -> PyResult<Bound<'py, PyAny>> {
        let is_narrower = found.index_type != self.index_type;
        let array = match &mut found.indices {
            number @ Place::Number(..) if !is_narrower => return index_number(py, self.index_type, number.bytes()),
            Place::Number(number, _) => {
                let mut narrow = [0; 8];
                let narrow = &mut narrow[..self.index_type.size()];
                write_index(number[0] as i64, narrow);
                return index_number(py, self.index_type, narrow);
            }
            Place::Array(array) => &array.array,
        };
        if let Some(out) = &self.out {
            out.copy(array)?;
            return Ok(out.given());
        }
        if !is_narrower {
            return Ok(array.clone().into_any());
        }
        let narrow = NewArray::new(descr_of(py, self.index_type)?, self.sizes)?;
        narrow.fill_from(array)?;
        Ok(narrow.array.into_any())
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

impl Run<'_, '_> {
    fn run(&self, indices: &mut [u8], values: Option<&mut [u8]>) -> PyResult<()> {
        if self.view.is_of_dates() { self.run_dates(indices, values) } else { self.run_as_is(indices, values) }
    }

    /// [`Run::run`] for both functions: into the indices and values of the smallest, and of the largest.
    fn run_both(&self, mut indices: [&mut [u8]; 2], mut values: Option<[&mut [u8]; 2]>) -> PyResult<()> {
        if self.view.is_of_dates() {
            // NaT has to be above all others for one of the two, and not for the other.
            let [min, max] = indices;
            let [min_values, max_values] = values.map_or([None, None], |values| values.map(Some));
            let [of_min, of_max] = Functions::BOTH.map(|function| self.key.with(function, self.key.nan_policy));
            Run { key: &of_min, ..*self }.run(min, min_values)?;
            return Run { key: &of_max, ..*self }.run(max, max_values);
        }
        let plan = self.key.plan_for_both(self.view.shape)?;
        let (plan, key) = (&*plan, self.key);
        self.read(|elements, lent| {
            let indices = indices.each_mut().map(|indices| &mut **indices);
            let values = values.as_mut().map(|values| values.each_mut().map(|values| &mut **values));
            let run = |elements: &[u8], [min, max]: [&mut [u8]; 2], values: Option<[&mut [u8]; 2]>| {
                let [lowest, highest] = values.map_or([None, None], |values| values.map(Some));
                let outputs = [Buffers { indices: min, values: lowest }, Buffers { indices: max, values: highest }];
                plan.run(lent.input(elements), outputs.map(Into::into))
            };
            if key.data_type != DataType::Bool {
                return run(elements, indices, values).map_err(value_error);
            }
            let outputs = Outputs::of(key, Functions::BOTH, indices, values);
            bools::run_of_any_bytes(elements, outputs, |elements, indices, values| run(elements, indices, Some(values)))
        })
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

/// The other function.
fn opposite(function: ReduceFunction) -> ReduceFunction {
    if function == ReduceFunction::ArgMax { ReduceFunction::ArgMin } else { ReduceFunction::ArgMax }
}

/// What the value of an output without an element is, in the first bytes: NaN or NaT, or 0 where a type has neither.
fn no_value(view: &View<'_, '_>) -> [u8; 8] {
    if view.is_of_dates() {
        return dates::NAT.to_ne_bytes();
    }
    with_element_type!(view.data_type, T => {
        type Pod = <T as Element>::Pod;
        let mut value = [0; 8];
        value[..size_of::<T>()].copy_from_slice(bytes_of(&Pod::ANY_NAN.unwrap_or(Pod::ZERO)));
        value
    })
}

/// Whether there is a NaN among values of a view, or a NaT.
fn has_nan(view: &View<'_, '_>, bytes: &[u8]) -> bool {
    if view.is_of_dates() {
        return bytes.as_chunks().0.iter().any(|&bytes| i64::from_ne_bytes(bytes) == dates::NAT);
    }
    with_element_type!(view.data_type, T => {
        // Not by a comparison of floats, which may trap.
        type Pod = <T as Element>::Pod;
        bytes.chunks_exact(size_of::<T>()).any(|bytes| Element::is_nan(pod_read_unaligned::<Pod>(bytes)))
    })
}
