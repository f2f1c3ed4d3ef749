//! The extension module behind the Python package `argreduce`: argmin and argmax over any axes.
//!
//! | file | what happens there |
//! |---|---|
//! | `arguments.rs` | Python's arguments become axes, types and options |
//! | `view.rs` | an array of any library becomes an address, sizes and strides: nothing is copied |
//! | `dlpack.rs` | the same for objects with `__dlpack__` |
//! | `column.rs` | the same for columns of Arrow, some of whose elements are not there |
//! | `arrow.rs` | the structs of Arrow's interface, as other libraries make them |
//! | `mask.rs` | which elements are there |
//! | `reduce.rs` | a call, from its arguments to its answer |
//! | `plans.rs` | a plan is made, or found among the last ones |
//! | `bools.rs` | bools whose bytes are others than 0 and 1 |
//! | `dates.rs` | dates and durations, whose NaT is as NaN |
//! | `output.rs` | the arrays that are given back, or written to |
//! | `parts.rs` | partial answers and merging |
//! | `threads.rs` | the threads that calls may run on |
//! | `interrupt.rs` | long calls can be ended from Python |
//!
//! All is untyped on this side: element types are values, so that there is one copy of the code.

mod arguments;
mod arrow;
mod bools;
mod column;
mod dates;
mod dlpack;
mod interrupt;
mod mask;
mod output;
mod parts;
mod plans;
mod reduce;
mod threads;
mod view;

use argreduce::{NanPolicy, ReduceFunction};
use pyo3::prelude::*;
use reduce::{Answer, Arguments, Functions};

/// What docs say of `out`, which no function of two answers takes.
#[rustfmt::skip]
macro_rules! out {
    (One, parameter) => {
        "out : None or array of integers\n    \
            Where to write the indices: of the shape of the result, of any strides. It may overlap ``x``.\n"
    };
    (One, error) => { ", no element is there, or ``out`` has another shape or is read-only" };
    (Both, parameter) => { "" };
    (Both, error) => { ", or no element is there" };
}

/// The part of the docs that all functions share, as NumPy's docs have it.
macro_rules! parameters {
    ($functions:ident, $nan:literal, $returns:literal, $raises:literal, $example:literal) => {
        concat!(
            "\n\nParameters\n----------\n",
            "x : array\n",
            "    A NumPy array of any shape and any strides, masked ones too, or anything with ``__dlpack__`` in the\n",
            "    CPU's memory, or a column of pandas, pyarrow or polars, whose nulls are left out:\n",
            "    neither is copied, but for byte-swapped and misaligned ones, some of more than 8 axes, and dates of\n",
            "    which NaT is left out where the smallest is looked for. Or what ``numpy.asarray`` takes.\n",
            "    Of a dask array, the function of :mod:`argreduce.dask`, lazily. Of an array of xarray, what it\n",
            "    holds, lazily too: the result is one, with its dimensions and coordinates.\n",
            "    Elements are bool, integers, float16, float32, float64, ``ml_dtypes.bfloat16``, datetime64 or\n",
            "    timedelta64 (whose NaT is as NaN). The result for a subclass of NumPy's array is a plain array.\n",
            "axis : None, int or tuple of int; of an array of xarray, names too\n",
            "    The axes to reduce; None is all of them, and () none. An index is row-major over the reduced axes\n",
            "    in ascending order: see :func:`argreduce.unravel`.\n",
            "keepdims : bool, or whatever has a truth value\n    Reduced axes keep size 1, and are not dropped.\n",
            out!($functions, parameter),
            "dtype : None, or the type of the indices\n\
                \x20   int64 (the default), int32, uint8, uint16, uint32 or uint64.\n",
            "select_last : bool, or whatever has a truth value\n",
            "    Of equals, the last one wins, and not the first one.\n",
            $nan,
            "threads : None, int or \"all\"\n",
            "    How many threads may work on it, where that is worth it. \"all\", or -1, is as many as this process\n",
            "    may use CPUs, and so is any larger number. None is ``ARGREDUCE_NUM_THREADS`` from the environment,\n",
            "    or else 1. The answer does not depend on it.\n",
            "where : None or array of bool\n",
            "    True where an element is there; it broadcasts to ``x``. Others are left out, and counted.\n",
            "fill : None or int\n",
            "    The index where no element is there, along an empty axis too; or nothing but NaN, where that is\n",
            "    ignored. The value is NaN or NaT there, or 0 of a type without. None: no element is a ValueError.\n",
            "\nReturns\n-------\n",
            $returns,
            "\nRaises\n------\n",
            $raises,
            "ValueError\n",
            "    A reduced axis is empty without ``fill``, an axis is given twice, an index or ``fill`` does not fit\n",
            "    the type that is written, ``where`` does not broadcast",
            out!($functions, error),
            ".\n",
            "numpy.exceptions.AxisError\n    An axis that ``x`` does not have.\n",
            "TypeError\n    Elements or indices of other types; a frame of 64-bit integers of which some are\n",
            "    missing; a ``where`` of other elements than bool; an axis or ``fill`` that is no integer.\n",
            "\nExamples\n--------\n>>> import numpy as np, argreduce\n",
            $example,
        )
    };
}

/// The same for functions with a choice of the rule for NaN.
macro_rules! with_nan {
    ($functions:ident, $returns:literal, $example:literal) => {
        parameters!(
            $functions,
            "nan : \"propagate\" or \"ignore\"\n\
                \x20   A NaN beats every number, as in NumPy; or every number beats a NaN.\n",
            $returns,
            "",
            $example
        )
    };
}

/// A function of this module: what all of them share are [`Arguments`], and what is different is what they ask for.
macro_rules! reductions {
    ($(#[doc = $doc:expr] $name:ident = $function:ident, $answer:ident;)+) => {$(
        #[doc = $doc]
        #[pyfunction]
        #[pyo3(
            signature = (x, /, axis=None, *, keepdims=false, out=None, dtype=None, select_last=false,
                nan=NanPolicy::Propagate, threads=None, r#where=None, fill=None),
            text_signature = "(x, /, axis=None, *, keepdims=False, out=None, dtype=None, select_last=False, \
                nan='propagate', threads=None, where=None, fill=None)"
        )]
        #[expect(clippy::too_many_arguments, reason = "Python's signature")]
        fn $name<'py>(
            x: &Bound<'py, PyAny>,
            axis: Option<&Bound<'py, PyAny>>,
            #[pyo3(from_py_with = arguments::truth)] keepdims: bool,
            out: Option<&Bound<'py, PyAny>>,
            dtype: Option<&Bound<'py, PyAny>>,
            #[pyo3(from_py_with = arguments::truth)] select_last: bool,
            #[pyo3(from_py_with = arguments::nan_policy)] nan: NanPolicy,
            threads: Option<&Bound<'py, PyAny>>,
            r#where: Option<&Bound<'py, PyAny>>,
            fill: Option<&Bound<'py, PyAny>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let functions = Functions::One(ReduceFunction::$function);
            let (name, answer, nan_policy) = (stringify!($name), Answer::$answer, nan);
            let there = r#where;
            #[rustfmt::skip]
            let arguments = Arguments {
                name, functions, answer, axis, keepdims, out, dtype, select_last, nan_policy, threads, there, fill,
            };
            arguments.run(x)
        }
    )+};
}

reductions! {
    #[doc = concat!(
        "Where the largest elements are along any axes.",
        with_nan!(
            One,
            "array of int64 (or of ``dtype``), or a number if all axes are reduced\n    The indices.\n",
            ">>> argreduce.argmax(np.array([[1, 5, 2], [7, 0, 7]]), axis=1)\narray([1, 0])\n"
        )
    )]
    argmax = ArgMax, Indices;
    #[doc = concat!(
        "Where the smallest elements are along any axes.",
        with_nan!(
            One,
            "array of int64 (or of ``dtype``), or a number if all axes are reduced\n    The indices.\n",
            ">>> argreduce.argmin(np.array([[1, 5, 2], [7, 0, 7]]), axis=(0, 1))\nnp.int64(4)\n"
        )
    )]
    argmin = ArgMin, Indices;
    #[doc = concat!(
        "The largest elements along any axes, and where they are.",
        with_nan!(
            One,
            "ValuesAndIndices\n\
                \x20   A named tuple ``(values, indices)``: the elements bit for bit, and where they are.\n",
            ">>> argreduce.max_argmax(np.array([[1.0, 5.0], [7.0, 0.0]]), axis=1)\n\
                ValuesAndIndices(values=array([5., 7.]), indices=array([1, 0]))\n"
        )
    )]
    max_argmax = ArgMax, ValuesAndIndices;
    #[doc = concat!(
        "The smallest elements along any axes, and where they are.",
        with_nan!(
            One,
            "ValuesAndIndices\n\
                \x20   A named tuple ``(values, indices)``: the elements bit for bit, and where they are.\n",
            ">>> argreduce.min_argmin(np.array([[1.0, 5.0], [7.0, 0.0]]), axis=1)\n\
                ValuesAndIndices(values=array([1., 0.]), indices=array([0, 1]))\n"
        )
    )]
    min_argmin = ArgMin, ValuesAndIndices;
}

/// As [`reductions`], without the choice of the rule for NaN.
macro_rules! nan_reductions {
    ($(#[doc = $doc:expr] $name:ident = $function:ident;)+) => {$(
        #[doc = $doc]
        #[pyfunction]
        #[pyo3(signature = (x, /, axis=None, *, keepdims=false, out=None, dtype=None, select_last=false, threads=None,
            r#where=None, fill=None))]
        #[expect(clippy::too_many_arguments, reason = "Python's signature")]
        fn $name<'py>(
            x: &Bound<'py, PyAny>,
            axis: Option<&Bound<'py, PyAny>>,
            #[pyo3(from_py_with = arguments::truth)] keepdims: bool,
            out: Option<&Bound<'py, PyAny>>,
            dtype: Option<&Bound<'py, PyAny>>,
            #[pyo3(from_py_with = arguments::truth)] select_last: bool,
            threads: Option<&Bound<'py, PyAny>>,
            r#where: Option<&Bound<'py, PyAny>>,
            fill: Option<&Bound<'py, PyAny>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let (functions, nan_policy) = (Functions::One(ReduceFunction::$function), NanPolicy::Ignore);
            let (name, answer) = (stringify!($name), Answer::IndicesOfNumbers);
            let there = r#where;
            #[rustfmt::skip]
            let arguments = Arguments {
                name, functions, answer, axis, keepdims, out, dtype, select_last, nan_policy, threads, there, fill,
            };
            arguments.run(x)
        }
    )+};
}

nan_reductions! {
    #[doc = concat!(
        "Where the largest numbers are along any axes: NaN is ignored.",
        parameters!(
            One,
            "",
            "array of int64 (or of ``dtype``), or a number if all axes are reduced\n    The indices.\n",
            "ValueError\n    Somewhere there is nothing but NaN, as in NumPy, and no ``fill``.\n",
            ">>> argreduce.nanargmax(np.array([[1.0, np.nan], [7.0, 9.0]]), axis=1)\narray([0, 1])\n"
        )
    )]
    nanargmax = ArgMax;
    #[doc = concat!(
        "Where the smallest numbers are along any axes: NaN is ignored.",
        parameters!(
            One,
            "",
            "array of int64 (or of ``dtype``), or a number if all axes are reduced\n    The indices.\n",
            "ValueError\n    Somewhere there is nothing but NaN, as in NumPy, and no ``fill``.\n",
            ">>> argreduce.nanargmin(np.array([[1.0, np.nan], [7.0, 9.0]]), axis=1)\narray([0, 0])\n"
        )
    )]
    nanargmin = ArgMin;
}

/// As [`reductions`], of both functions at once, without `out`.
macro_rules! reductions_of_both {
    ($(#[doc = $doc:expr] $name:ident = $answer:ident;)+) => {$(
        #[doc = $doc]
        #[pyfunction]
        #[pyo3(
            signature = (x, /, axis=None, *, keepdims=false, dtype=None, select_last=false, nan=NanPolicy::Propagate,
                threads=None, r#where=None, fill=None),
            text_signature = "(x, /, axis=None, *, keepdims=False, dtype=None, select_last=False, nan='propagate', \
                threads=None, where=None, fill=None)"
        )]
        #[expect(clippy::too_many_arguments, reason = "Python's signature")]
        fn $name<'py>(
            x: &Bound<'py, PyAny>,
            axis: Option<&Bound<'py, PyAny>>,
            #[pyo3(from_py_with = arguments::truth)] keepdims: bool,
            dtype: Option<&Bound<'py, PyAny>>,
            #[pyo3(from_py_with = arguments::truth)] select_last: bool,
            #[pyo3(from_py_with = arguments::nan_policy)] nan: NanPolicy,
            threads: Option<&Bound<'py, PyAny>>,
            r#where: Option<&Bound<'py, PyAny>>,
            fill: Option<&Bound<'py, PyAny>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let (name, functions, answer) = (stringify!($name), Functions::Both, Answer::$answer);
            let (nan_policy, there, out) = (nan, r#where, None);
            #[rustfmt::skip]
            let arguments = Arguments {
                name, functions, answer, axis, keepdims, out, dtype, select_last, nan_policy, threads, there, fill,
            };
            arguments.run(x)
        }
    )+};
}

reductions_of_both! {
    #[doc = concat!(
        "Where the smallest and the largest elements are along any axes: both by one call.\n\n",
        "Where a NaN beats every number, it is both: the smallest and the largest.",
        with_nan!(
            Both,
            "ArgMinMax\n\
                \x20   A named tuple ``(argmin, argmax)``: what the functions of these names give.\n",
            ">>> argreduce.argminmax(np.array([[1, 5, 2], [7, 0, 7]]), axis=1)\n\
                ArgMinMax(argmin=array([0, 1]), argmax=array([1, 0]))\n"
        )
    )]
    argminmax = Indices;
    #[doc = concat!(
        "The smallest and the largest elements along any axes, and where they are: all by one call.\n\n",
        "Where a NaN beats every number, it is both: the smallest and the largest.",
        with_nan!(
            Both,
            "ArgMinMaxValues\n\
                \x20   A named tuple ``(min, argmin, max, argmax)``: the elements bit for bit, and where they are.\n",
            ">>> argreduce.argminmax_values(np.array([[1.0, 5.0], [7.0, 0.0]]), axis=1)\n\
                ArgMinMaxValues(min=array([1., 0.]), argmin=array([0, 1]), max=array([5., 7.]), argmax=array([1, 0]))\n"
        )
    )]
    argminmax_values = ValuesAndIndices;
}

#[pymodule]
mod _argreduce {
    #[pymodule_export]
    use super::parts::{merge, partial};
    #[pymodule_export]
    use super::{argmax, argmin, argminmax, argminmax_values, max_argmax, min_argmin, nanargmax, nanargmin};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // By `setattr`, they do not become names of `__all__`.
        module.setattr("__version__", env!("CARGO_PKG_VERSION"))?;
        module.setattr("_set_cpus", wrap_pyfunction!(super::arguments::set_cpus, module)?)
    }
}
