//! Moving windows along one axis, with the rules of bottleneck: of equals the last, positions counted back from the end
//! of the window, and windows that begin before the first element cut off there.
//!
//! ```text
//! the plan:         the windows that are whole, as a view whose last axis runs backwards: the first of equals there
//!                   is the last, and its index is counted back; written where the result will be
//! cut windows:      the best so far, one element after another
//! the result:       each index in place: as a float64, as a place along the axis, or as nothing
//! ```

use crate::arguments::{self, Axis};
use crate::bools::as_zeros_and_ones;
use crate::interop::{descr_of, interop, value_error};
use crate::interrupt;
use crate::output::NewArray;
use crate::reduce::give_back;
use crate::view::{Shape, Source, View, input_without_labels};
use argreduce::{
    ArgReduce, Buffers, DataType, Element, Error, Executor, Layout, MAX_RANK, NanPolicy, ReduceFunction, UntypedPlan,
    with_element_type,
};
use bytemuck::{cast_slice, cast_slice_mut};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

/// The two functions, which differ in what they look for.
macro_rules! functions {
    ($($name:ident = $function:ident, $what:literal, $example:literal;)+) => {$(
        #[doc = concat!(
            "Where the ", $what, " number is in each window that moves along an axis: ``bottleneck.", stringify!($name),
            "``.\n\n\
            The time does not grow with the window. NaN is left out, and of equals the last is found. (Where all\n\
            numbers of a window are the worst infinity, a NaN is equal to it, as to NumPy.)\n\n\
            Parameters\n----------\n\
            x : array\n    \
                As in :func:`argreduce.argmax`, but for dates, masked arrays and columns with nulls: of any shape\n    \
                and any strides.\n\
            window : int\n    \
                How many elements a window has, of which the last is the one that the result is for. Those before\n    \
                the first element are left out.\n\
            min_count : None or int\n    \
                How many numbers a window has at least; of fewer, nothing is found. None: ``window``.\n\
            axis : int\n    \
                The axis along which windows move.\n\
            absolute : bool, or whatever has a truth value\n    \
                Places along the axis, as int64, and -1 where nothing is found.\n\n\
            Returns\n-------\n\
            array of float64, or of int64 where ``absolute``\n    \
                Of the shape of ``x``: how far before the end of its window each number is, from 0; and NaN where\n    \
                nothing is found.\n\n\
            Raises\n------\n\
            ValueError\n    \
                A window below 1 or above the extent of the axis, a ``min_count`` that is not from 1 to\n    \
                ``window``, or an array without axes.\n\
            numpy.exceptions.AxisError\n    An axis that ``x`` does not have.\n\
            TypeError\n    Elements of other types.\n\n\
            Examples\n--------\n>>> import numpy as np, argreduce\n",
            $example,
        )]
        #[pyfunction]
        #[pyo3(signature = (x, window, min_count=None, axis=-1, *, absolute=false))]
        pub(crate) fn $name<'py>(
            x: &Bound<'py, PyAny>,
            #[pyo3(from_py_with = arguments::count)] window: isize,
            min_count: Option<&Bound<'py, PyAny>>,
            #[pyo3(from_py_with = arguments::integer)] axis: isize,
            #[pyo3(from_py_with = arguments::truth)] absolute: bool,
        ) -> PyResult<Bound<'py, PyAny>> {
            let min_count = min_count.map(arguments::count).transpose()?;
            let said = Said { name: stringify!($name), window, min_count, axis, absolute };
            said.run(ReduceFunction::$function, x)
        }
    )+};
}

functions! {
    move_argmax = ArgMax, "largest"
        , ">>> argreduce.move_argmax([3.0, 1.0, 4.0, 1.0, 5.0, 9.0], 3)\narray([nan, nan,  0.,  1.,  0.,  0.])\n\
            >>> argreduce.move_argmax([3.0, 1.0, 4.0, 1.0, 5.0, 9.0], 3, min_count=1, absolute=True)\n\
            array([0, 0, 2, 2, 4, 5])\n";
    move_argmin = ArgMin, "smallest"
        , ">>> argreduce.move_argmin([3.0, 1.0, np.nan, 1.0, 5.0, 9.0], 3, min_count=2)\n\
            array([nan,  0.,  1.,  0.,  1.,  2.])\n";
}

/// What a function is called with.
#[derive(Clone, Copy)]
struct Said {
    name: &'static str,
    window: isize,
    min_count: Option<isize>,
    axis: isize,
    absolute: bool,
}

impl Said {
    fn run<'py>(self, function: ReduceFunction, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, name) = (x.py(), self.name);
        let (x, input) = input_without_labels(name, x)?;
        let (array, tensor_type) = input.into_array(name, py)?;
        // One axis more would be too many.
        if array.ndim() >= MAX_RANK {
            let Said { window, min_count, axis, absolute, .. } = self;
            let options = [("absolute", absolute)].into_py_dict(py)?;
            let args = (name, array, window, min_count, axis);
            let result = interop(py)?.call_method(intern!(py, "move_along_many_axes"), args, Some(&options))?;
            return give_back(result, &x, None, tensor_type);
        }
        let mut shape = Shape::NONE;
        let Source::View(view) = Source::of_array(name, array, &mut shape)? else {
            unreachable!("it has as many axes as are taken");
        };
        give_back(self.run_view(function, py, &view)?, &x, None, tensor_type)
    }

    fn run_view<'py>(
        self,
        function: ReduceFunction,
        py: Python<'py>,
        view: &View<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (sizes, name) = (view.shape.sizes(), self.name);
        if view.is_of_dates() {
            return Err(PyTypeError::new_err(format!("{name} takes bool, integers and floats, not dates")));
        }
        if sizes.is_empty() {
            return Err(PyValueError::new_err(format!("x has no axes: {name} needs one")));
        }
        let axis = Axis::One(self.axis).of_rank(py, sizes.len())?.iter().next().unwrap_or(0) as usize;
        let [window, min_count] = self.counts(axis, sizes[axis])?;
        let of_result = if self.absolute { DataType::I64 } else { DataType::F64 };
        let mut result = NewArray::new(descr_of(py, of_result)?, sizes)?;
        let moving = Moving {
            function,
            data_type: view.data_type,
            layout: view.shape.layout().map_err(value_error)?,
            axis,
            window,
            min_count,
            absolute: self.absolute,
        };
        if !sizes.contains(&0) {
            let (plan, threads) = (moving.plan().map_err(value_error)?, arguments::threads(None)?);
            let cells = cast_slice_mut::<u8, u64>(result.bytes());
            // SAFETY: no code of Python runs before the last read, and the result is an array of its own.
            let elements = unsafe { view.bytes(name)? };
            interrupt::run(py, view.work(), &threads, |executor| moving.run(&plan, elements, cells, executor))?;
        }
        Ok(result.array.into_any())
    }

    /// The window and the least count of numbers, checked.
    fn counts(self, axis: usize, extent: usize) -> PyResult<[usize; 2]> {
        let within = |what: &str, count: isize, most: usize, of: String| match usize::try_from(count) {
            Ok(count @ 1..) if count <= most => Ok(count),
            _ => Err(PyValueError::new_err(format!("{what} is {count}: 1 to {most} are allowed, {of}"))),
        };
        let window = within("window", self.window, extent, format!("the extent of axis {axis}"))?;
        let min_count = self
            .min_count
            .map_or(Ok(window), |count| within("min_count", count, window, "the elements of a window".to_owned()))?;
        Ok([window, min_count])
    }
}

/// What is found of an array, which has elements.
struct Moving {
    function: ReduceFunction,
    data_type: DataType,
    layout: Layout,
    axis: usize,
    window: usize,
    min_count: usize,
    absolute: bool,
}

impl Moving {
    /// For the windows that are whole: indices of 64 bits, counted back from the end of each, where the result has the
    /// last element of it.
    fn plan(&self) -> Result<UntypedPlan, Error> {
        let windows = self.layout.windows(self.axis as isize, self.window, 1)?.slice(-1, .., -1)?;
        let cells = Layout::contiguous(self.layout.sizes())?;
        let cells = cells.slice(self.axis as isize, self.window as isize - 1.., 1)?;
        let (sizes, strides) = ([cells.sizes(), &[1]].concat(), [cells.strides(), &[1]].concat());
        ArgReduce::new(self.function, &windows)
            .axes(&[-1])
            .nan_policy(NanPolicy::Ignore)
            .output_layout(&Layout::strided(&sizes, &strides, cells.offset())?)
            .plan_untyped(self.data_type, DataType::U64)
    }

    /// Writes the bits of the result.
    fn run(&self, plan: &UntypedPlan, elements: &[u8], cells: &mut [u64], executor: &dyn Executor) -> PyResult<()> {
        let mut copy = Vec::new();
        let elements = as_zeros_and_ones(self.data_type, elements, &mut copy)?;
        let to = Buffers { indices: cast_slice_mut(cells), values: None };
        plan.run(argreduce::input(elements).on(executor), to).map_err(value_error)?;
        with_element_type!(self.data_type, T => self.finish::<<T as Element>::Pod>(cast_slice(elements), cells));
        Ok(())
    }

    /// What is left to do after the plan.
    fn finish<T: Element>(&self, elements: &[T], cells: &mut [u64]) {
        let (sizes, axis) = (self.layout.sizes(), self.axis);
        let (extent, inner) = (sizes[axis], sizes[axis + 1..].iter().product::<usize>());
        let may_have_nan = self.may_have_nan(elements);
        // The series in the order of the result: a slab of all that are `inner` at a time.
        for (slab, cells) in cells.chunks_exact_mut(extent * inner).enumerate() {
            for n in 0..inner {
                let (first, stride) = (self.first_of(slab * inner + n), self.layout.strides()[axis]);
                let at = |i: usize| elements[(first + i as isize * stride) as usize];
                self.cut_windows(at, cells[n..].iter_mut().step_by(inner));
            }
            // Until now, indices that are counted back.
            for (i, row) in cells.chunks_exact_mut(inner).enumerate() {
                if self.absolute {
                    row.iter_mut().for_each(|cell| *cell = i as u64 - *cell);
                }
            }
            if !self.absolute {
                cells.iter_mut().for_each(|cell| *cell = as_float(*cell));
            }
            cells[..(self.min_count - 1) * inner].fill(self.nothing());
            for n in 0..if may_have_nan { inner } else { 0 } {
                let (first, stride) = (self.first_of(slab * inner + n), self.layout.strides()[axis]);
                let at = |i: usize| elements[(first + i as isize * stride) as usize];
                self.windows_with_nan(at, cells[n..].iter_mut().step_by(inner));
            }
        }
    }

    /// Where the first element is of a series.
    fn first_of(&self, mut series: usize) -> isize {
        let axes = self.layout.sizes().iter().zip(self.layout.strides()).enumerate().rev();
        let mut place = self.layout.offset() as isize;
        for (_, (size, stride)) in axes.filter(|&(axis, _)| axis != self.axis) {
            place += (series % size) as isize * stride;
            series /= size;
        }
        place
    }

    /// The windows of a series that begin before it: the best so far.
    fn cut_windows<'a, T: Element>(&self, at: impl Fn(usize) -> T, cells: impl Iterator<Item = &'a mut u64>) {
        let flip = if self.function == ReduceFunction::ArgMin { -1 } else { 0 };
        let (mut best, mut place) = (i64::MIN, 0);
        for (i, cell) in cells.take(self.window - 1).enumerate() {
            // NaN has the smallest key.
            let key = at(i).key(i64::MIN ^ flip) ^ flip;
            if key >= best {
                (best, place) = (key, i);
            }
            *cell = (i - place) as u64;
        }
    }

    /// Writes that nothing is found in windows of a series with too few numbers; and the last element, where all
    /// numbers are the worst infinity: to bottleneck, as to NumPy, a NaN is equal to that.
    fn windows_with_nan<'a, T: Element>(&self, at: impl Fn(usize) -> T, cells: impl Iterator<Item = &'a mut u64>) {
        let worst = if self.function == ReduceFunction::ArgMin { T::HIGHEST } else { T::LOWEST };
        let kinds = |element: T| {
            let is_number = !element.is_nan();
            [is_number, is_number && element.key(0) != worst.key(0)].map(usize::from)
        };
        let [mut numbers, mut better] = [0; 2];
        for (i, cell) in cells.enumerate() {
            let [is_number, is_better] = kinds(at(i));
            let [was_number, was_better] = if i >= self.window { kinds(at(i - self.window)) } else { [0; 2] };
            numbers = numbers + is_number - was_number;
            better = better + is_better - was_better;
            if numbers < self.min_count {
                *cell = self.nothing();
            } else if better == 0 {
                *cell = if self.absolute { i as u64 } else { as_float(0) };
            }
        }
    }

    /// Whether there may be NaN: there is, or the elements are few among others.
    fn may_have_nan<T: Element>(&self, elements: &[T]) -> bool {
        let has_nan = |elements: &[T]| elements.iter().fold(false, |has, element| has | element.is_nan());
        let are_few = self.layout.element_count() < elements.len() / 4;
        T::ANY_NAN.is_some() && (are_few || elements.chunks(4096).any(has_nan))
    }

    /// The bits of what says that nothing is found.
    fn nothing(&self) -> u64 {
        if self.absolute { u64::MAX } else { f64::NAN.to_bits() }
    }
}

/// The bits of a number as a float. (By those of 2^52 and more, of which it has the lowest: vectors have no
/// conversion.)
fn as_float(number: u64) -> u64 {
    const OF_INTEGERS: f64 = (1_u64 << 52) as f64;
    (f64::from_bits(OF_INTEGERS.to_bits() | number) - OF_INTEGERS).to_bits()
}
