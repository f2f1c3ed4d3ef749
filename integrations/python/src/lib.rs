//! The extension module behind the Python package `argreduce`: argmin and argmax over any axes.
//!
//! | file | what happens there |
//! |---|---|
//! | `arguments.rs` | Python's arguments become axes, types and options |
//! | `view.rs` | an array of any library becomes an address, sizes and strides: nothing is copied |
//! | `dlpack.rs` | the same for objects with `__dlpack__` |
//! | `column.rs` | the same for columns of Arrow, some of whose elements are not there |
//! | `bits.rs` | bits as Arrow packs them |
//! | `arrow.rs` | the structs of Arrow's interface, as other libraries make them |
//! | `classes.rs` | what the classes of other libraries say of their objects |
//! | `mask.rs` | which elements are there |
//! | `run.rs` | a plan runs, on what is read and with the threads for it |
//! | `reduce.rs` | a call, from its arguments to its answer |
//! | `plans.rs` | a plan is made, or found among the last ones |
//! | `bools.rs` | bools whose bytes are others than 0 and 1 |
//! | `keys.rs` | what elements are compared by |
//! | `dates.rs` | dates and durations, whose NaT is as NaN |
//! | `interop.rs` | NumPy's types and errors, and what is written in Python |
//! | `output.rs` | the arrays that are given back, or written to |
//! | `parts.rs` | partial answers and merging |
//! | `moving.rs` | moving windows |
//! | `segments.rs` | segments of one array |
//! | `lists.rs` | lists of Arrow: elements and offsets |
//! | `threads.rs` | the threads that calls may run on |
//! | `interrupt.rs` | long calls can be ended from Python |
//!
//! All is untyped on this side: element types are values, so that there is one copy of the code.
//!
//! Functions are rows of the table below. What Python has of them is made by it: the functions of `argreduce.dask` when
//! that is imported, and the stubs by `stubs.py`, which is to be run after a change.

mod arguments;
mod arrow;
mod bits;
mod bools;
mod classes;
mod column;
mod dates;
mod dlpack;
mod interop;
mod interrupt;
mod keys;
mod lists;
mod mask;
mod moving;
mod output;
mod parts;
mod plans;
mod reduce;
mod run;
mod segments;
mod threads;
mod view;

use argreduce::ReduceFunction;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use reduce::{Answer, Arguments, Functions};

/// The functions of one array. Each has a name, what it looks for, what it gives back, and those options which not all
/// of them take; and a first sentence, and an example. The first option tells what it is of: of reductions, `keepdims`;
/// of the best so far, `reverse`.
macro_rules! functions {
    ($(
        $name:ident = $many:ident $(($function:ident))?, $answer:ident [$shape:ident] [$($out:ident)?] [$($nan:ident)?]
            $summary:literal $example:literal;
    )+) => {
        $(function!(
            [$shape $($out)? dtype select_last $($nan)? threads where fill key near] () () () ()
            ($name = $many $(($function))?, $answer, $shape, $summary, $example)
        );)+

        /// Makes them functions of the module; and what they look for and give back known, by their names.
        fn add_functions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            // Of reductions, and of the best so far.
            let tables = [PyDict::new(module.py()), PyDict::new(module.py())];
            $(
                module.add_function(wrap_pyfunction!($name, module)?)?;
                let functions = Functions::$many $((ReduceFunction::$function))?;
                let names = PyTuple::new(module.py(), functions.each().iter().map(|function| function.name()))?;
                let table = &tables[usize::from(is_cumulative!($shape))];
                table.set_item(stringify!($name), (names, stringify!($answer)))?;
            )+
            let [reductions, cumulative] = tables;
            module.setattr("_FUNCTIONS", reductions)?;
            module.setattr("_CUMULATIVE", cumulative)
        }
    };
}

/// A function of the table. It takes its options from a list, one after another: what is in the signature for Python,
/// what is a parameter in Rust, the field of [`Arguments`], what docs say.
macro_rules! function {
    ([keepdims $($left:tt)*] $($taken:tt)*) => {
        option!(truth keepdims
            "keepdims : bool, or whatever has a truth value\n    Reduced axes keep size 1, and are not dropped.\n";
            [$($left)*] $($taken)*);
    };
    ([reverse $($left:tt)*] $($taken:tt)*) => {
        option!(truth reverse
            "reverse : bool, or whatever has a truth value\n    \
                From the end: of each element and all after it. Indices are the same.\n";
            [$($left)*] $($taken)*);
    };
    ([out $($left:tt)*] $($taken:tt)*) => {
        option!(object out
            "out : None or array of integers\n    \
                Where to write the indices: of the shape of the result, of any strides, and writeable. It may\n    \
                overlap ``x``.\n";
            [$($left)*] $($taken)*);
    };
    ([dtype $($left:tt)*] $($taken:tt)*) => {
        option!(object dtype
            "dtype : None, or the type of the indices\n    \
                int64 (the default), int32, uint8, uint16, uint32 or uint64.\n";
            [$($left)*] $($taken)*);
    };
    ([select_last $($left:tt)*] $($taken:tt)*) => {
        option!(truth select_last
            "select_last : bool, or whatever has a truth value\n    \
                Of equals, the last one wins, and not the first one.\n";
            [$($left)*] $($taken)*);
    };
    ([nan $($left:tt)*] $($taken:tt)*) => {
        option!(nan nan
            "nan : \"propagate\" or \"ignore\"\n    \
                A NaN beats every number, as in NumPy; or every number beats a NaN.\n";
            [$($left)*] $($taken)*);
    };
    ([threads $($left:tt)*] $($taken:tt)*) => {
        option!(object threads
            "threads : None, int or \"all\"\n    \
                How many threads may work on it, where that is worth it. \"all\", or -1, is as many as this\n    \
                process may use CPUs, and so is any larger number. None is ``ARGREDUCE_NUM_THREADS`` from the\n    \
                environment, or else 1. The answer does not depend on it.\n";
            [$($left)*] $($taken)*);
    };
    ([where $($left:tt)*] $($taken:tt)*) => {
        option!(object r#where
            "where : None or array of bool\n    \
                True where an element is there; it broadcasts to ``x``. Others are left out, and counted.\n";
            [$($left)*] $($taken)*);
    };
    ([fill $($left:tt)*] $($taken:tt)*) => {
        option!(object fill
            "fill : None or int\n    \
                The index where no element is there, along an empty axis too; or nothing but NaN, where that is\n    \
                ignored. The value is NaN or NaT there, or 0 of a type without. None: no element is a ValueError.\n";
            [$($left)*] $($taken)*);
    };
    ([key $($left:tt)*] $($taken:tt)*) => {
        option!(object key
            "key : None or \"abs\"\n    \
                \"abs\": elements are compared by their magnitude, as ``numpy.abs(x)`` has it; of integers it is\n    \
                exact. Values are the elements. Not for dates.\n";
            [$($left)*] $($taken)*);
    };
    ([near $($left:tt)*] $($taken:tt)*) => {
        option!(object near
            "near : None or a number\n    \
                Elements are compared by how far they are from it, as ``numpy.abs(x - near)`` has it: the\n    \
                smallest is the nearest. Of integers it is exact, and never wraps. A number that the type of\n    \
                ``x`` does not hold is a ValueError; a float is rounded to that type. Not for dates.\n";
            [$($left)*] $($taken)*);
    };
    // All are taken.
    ([] ($($signature:tt)*) ($($parameter:tt)*) ($($option:ident)*) ($($doc:literal)*)
        ($name:ident = $many:ident $(($function:ident))?, $answer:ident, $shape:ident, $summary:literal,
            $example:literal)) => {
        #[doc = concat!(
            $summary,
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
            axis!($shape),
            $($doc,)*
            "\nReturns\n-------\n",
            result!($shape $many $answer),
            "\nRaises\n------\n",
            "ValueError\n",
            wrong_axis!($shape),
            "    An index or ``fill`` does not fit the type that is written, ``where`` does not broadcast, or no\n",
            "    element is there",
            nothing_but_nan!($answer),
            "; ``key`` and ``near`` both, or a ``near`` that does not fit.\n",
            "numpy.exceptions.AxisError\n    An axis that ``x`` does not have.\n",
            "TypeError\n    Elements or indices of other types; a frame of 64-bit integers of which some are\n",
            "    missing; a ``where`` of other elements than bool; an axis or ``fill`` that is no integer.\n",
            "\nExamples\n--------\n>>> import numpy as np, argreduce\n",
            $example,
        )]
        #[pyfunction]
        #[pyo3(signature = (x, /, axis=None, *, $($signature)*))]
        #[expect(clippy::too_many_arguments, reason = "Python's signature")]
        fn $name<'py>(
            x: &Bound<'py, PyAny>,
            axis: Option<&Bound<'py, PyAny>>,
            $($parameter)*
        ) -> PyResult<Bound<'py, PyAny>> {
            let functions = Functions::$many $((ReduceFunction::$function))?;
            let said = Arguments::new(stringify!($name), functions, Answer::$answer);
            Arguments { axis, $($option,)* is_cumulative: is_cumulative!($shape), ..said }.run(x)
        }
    };
}

/// Adds an option of a kind to those which were taken, for [`function`].
macro_rules! option {
    (truth $name:ident $doc:literal; $left:tt ($($s:tt)*) ($($p:tt)*) ($($f:ident)*) ($($d:literal)*) $row:tt) => {
        function!($left ($($s)* $name=false,) ($($p)* #[pyo3(from_py_with = arguments::truth)] $name: bool,)
            ($($f)* $name) ($($d)* $doc) $row);
    };
    (nan $name:ident $doc:literal; $left:tt ($($s:tt)*) ($($p:tt)*) ($($f:ident)*) ($($d:literal)*) $row:tt) => {
        function!($left ($($s)* $name="propagate",)
            ($($p)* #[pyo3(from_py_with = arguments::nan)] $name: &'static str,)
            ($($f)* $name) ($($d)* $doc) $row);
    };
    (object $name:ident $doc:literal; $left:tt ($($s:tt)*) ($($p:tt)*) ($($f:ident)*) ($($d:literal)*) $row:tt) => {
        function!($left ($($s)* $name=None,) ($($p)* $name: Option<&Bound<'py, PyAny>>,)
            ($($f)* $name) ($($d)* $doc) $row);
    };
}

/// Whether a function of this option is of the best so far.
macro_rules! is_cumulative {
    (keepdims) => {
        false
    };
    (reverse) => {
        true
    };
}

/// What docs say of the axis.
#[rustfmt::skip]
macro_rules! axis {
    (keepdims) => {
        "axis : None, int or tuple of int; of an array of xarray, names too\n    \
            The axes to reduce; None is all of them, and () none. An index is row-major over the reduced axes\n    \
            in ascending order: see :func:`argreduce.unravel`.\n"
    };
    (reverse) => {
        "axis : None or int; of an array of xarray, a name too\n    \
            Along which axis; None is along the flattened array. Indices are those along it.\n"
    };
}

/// What docs say of the errors of axes.
#[rustfmt::skip]
macro_rules! wrong_axis {
    (keepdims) => { "    A reduced axis is empty without ``fill``, or an axis is given twice.\n" };
    (reverse) => { "    An array of xarray of several dimensions, and none is said.\n" };
}

/// What docs say of what comes back.
#[rustfmt::skip]
macro_rules! result {
    (reverse One ValuesAndIndices) => {
        "ValuesAndIndices\n    \
            A named tuple ``(values, indices)`` of arrays of the shape of ``x``: the elements bit for bit, and\n    \
            where they are.\n"
    };
    (reverse One Indices) => {
        "array of int64 (or of ``dtype``)\n    The indices: of the shape of ``x``, or of all its elements in a row.\n"
    };
    (keepdims $($of:ident)+) => {
        result!($($of)+)
    };
    (One ValuesAndIndices) => {
        "ValuesAndIndices\n    \
            A named tuple ``(values, indices)``: the elements bit for bit, and where they are.\n"
    };
    (One $indices:ident) => {
        "array of int64 (or of ``dtype``), or a number if all axes are reduced\n    The indices.\n"
    };
    (Both ValuesAndIndices) => {
        "ArgMinMaxValues\n    \
            A named tuple ``(min, argmin, max, argmax)``: the elements bit for bit, and where they are.\n"
    };
    (Both Indices) => {
        "ArgMinMax\n    A named tuple ``(argmin, argmax)``: what the functions of these names give.\n"
    };
}

/// What docs say of the errors of functions that take it for nothing.
#[rustfmt::skip]
macro_rules! nothing_but_nan {
    (IndicesOfNumbers) => { ": there is nothing but NaN, as in NumPy" };
    ($other:ident) => { "" };
}

functions! {
    argmax = One(ArgMax), Indices [keepdims] [out] [nan] "Where the largest elements are along any axes."
        ">>> argreduce.argmax(np.array([[1, 5, 2], [7, 0, 7]]), axis=1)\narray([1, 0])\n";
    argmin = One(ArgMin), Indices [keepdims] [out] [nan] "Where the smallest elements are along any axes."
        ">>> argreduce.argmin(np.array([[1, 5, 2], [7, 0, 7]]), axis=(0, 1))\nnp.int64(4)\n";
    nanargmax = One(ArgMax), IndicesOfNumbers [keepdims] [out] []
        "Where the largest numbers are along any axes: NaN is ignored."
        ">>> argreduce.nanargmax(np.array([[1.0, np.nan], [7.0, 9.0]]), axis=1)\narray([0, 1])\n";
    nanargmin = One(ArgMin), IndicesOfNumbers [keepdims] [out] []
        "Where the smallest numbers are along any axes: NaN is ignored."
        ">>> argreduce.nanargmin(np.array([[1.0, np.nan], [7.0, 9.0]]), axis=1)\narray([0, 0])\n";
    max_argmax = One(ArgMax), ValuesAndIndices [keepdims] [out] [nan]
        "The largest elements along any axes, and where they are."
        ">>> argreduce.max_argmax(np.array([[1.0, 5.0], [7.0, 0.0]]), axis=1)\n\
            ValuesAndIndices(values=array([5., 7.]), indices=array([1, 0]))\n";
    min_argmin = One(ArgMin), ValuesAndIndices [keepdims] [out] [nan]
        "The smallest elements along any axes, and where they are."
        ">>> argreduce.min_argmin(np.array([[1.0, 5.0], [7.0, 0.0]]), axis=1)\n\
            ValuesAndIndices(values=array([1., 0.]), indices=array([0, 1]))\n";
    argminmax = Both, Indices [keepdims] [] [nan]
        "Where the smallest and the largest elements are along any axes: both by one call.\n\n\
            Where a NaN beats every number, it is both: the smallest and the largest."
        ">>> argreduce.argminmax(np.array([[1, 5, 2], [7, 0, 7]]), axis=1)\n\
            ArgMinMax(argmin=array([0, 1]), argmax=array([1, 0]))\n";
    argminmax_values = Both, ValuesAndIndices [keepdims] [] [nan]
        "The smallest and the largest elements along any axes, and where they are: all by one call.\n\n\
            Where a NaN beats every number, it is both: the smallest and the largest."
        ">>> argreduce.argminmax_values(np.array([[1.0, 5.0], [7.0, 0.0]]), axis=1)\n\
            ArgMinMaxValues(min=array([1., 0.]), argmin=array([0, 1]), max=array([5., 7.]), argmax=array([1, 0]))\n";
    cumargmax = One(ArgMax), Indices [reverse] [out] [nan]
        "Where the largest element so far is: an index for each element, of it and all before it along an axis."
        ">>> argreduce.cumargmax(np.array([3, 1, 4, 4, 5]))\narray([0, 0, 2, 2, 4])\n\
            >>> argreduce.cumargmax(np.array([3, 1, 4, 4, 5]), select_last=True)  # as torch.cummax\n\
            array([0, 0, 2, 3, 4])\n";
    cumargmin = One(ArgMin), Indices [reverse] [out] [nan]
        "Where the smallest element so far is: an index for each element, of it and all before it along an axis."
        ">>> argreduce.cumargmin(np.array([[3, 1, 4], [1, 5, 0]]), axis=1)\narray([[0, 1, 1],\n       [0, 0, 2]])\n";
    max_cumargmax = One(ArgMax), ValuesAndIndices [reverse] [out] [nan]
        "The largest elements so far, and where they are: for each element, of it and all before it along an axis."
        ">>> argreduce.max_cumargmax(np.array([3.0, 1.0, 4.0, 2.0]))\n\
            ValuesAndIndices(values=array([3., 3., 4., 4.]), indices=array([0, 0, 2, 2]))\n";
    min_cumargmin = One(ArgMin), ValuesAndIndices [reverse] [out] [nan]
        "The smallest elements so far, and where they are: for each element, of it and all before it along an axis."
        ">>> argreduce.min_cumargmin(np.array([3.0, 1.0, 4.0, 2.0]), reverse=True)\n\
            ValuesAndIndices(values=array([1., 1., 2., 2.]), indices=array([1, 1, 3, 3]))\n";
}

#[pymodule]
mod _argreduce {
    #[pymodule_export]
    use super::moving::{move_argmax, move_argmin};
    #[pymodule_export]
    use super::parts::{merge, partial};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::add_functions(module)?;
        // By `setattr`, they do not become names of `__all__`.
        module.setattr("__version__", env!("CARGO_PKG_VERSION"))?;
        module.setattr("_set_cpus", wrap_pyfunction!(super::arguments::set_cpus, module)?)?;
        module.setattr("_segments", wrap_pyfunction!(super::segments::segments, module)?)?;
        module.setattr("_elements_of", wrap_pyfunction!(super::lists::elements_of, module)?)?;
        module.setattr("_lists_of", wrap_pyfunction!(super::lists::lists_of, module)?)?;
        module.setattr("_trues", wrap_pyfunction!(super::mask::trues, module)?)
    }
}
