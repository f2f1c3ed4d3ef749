//! One call for a packed tensor: it is planned, run once, and answered by a new vector. Each function has one that
//! takes threads.

use super::builder::ArgReduce;
use super::plan::Plan;
use crate::{Element, Error, Executor, Index, Layout, Mask, Options, ReduceFunction, Sequential};

/// The indices of the smallest elements of a packed tensor along `axes`: packed too, one for each position of the kept
/// axes.
///
/// Ties go to the first, and NaN is before all numbers. For other rules see [`arg_reduce`], for views [`ArgReduce`].
/// The type of the result says which indices are asked for: any [`Index`] will do. Axes are `isize`: write
/// `axis as isize` for one that was counted. No axes (`&[]`) reduce nothing.
///
/// # Errors
/// Those of [`Layout::contiguous`], [`ArgReduce::plan`] and [`Plan::run_to_vec`](crate::Plan::run_to_vec), and
/// [`Error::TooLong`] for an input of more elements than the sizes make.
///
/// ```
/// use argreduce::argmin;
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let smallest: Vec<u32> = argmin(rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(smallest, [1, 2]);
///
/// let error = argmin::<i32, u32>(rows.as_flattened(), &[1, 3], &[1]).unwrap_err();
/// assert_eq!(error.to_string(), "the input slice has 6 elements of i32: the sizes [1, 3] make 3");
/// # Ok::<(), argreduce::Error>(())
/// ```
#[doc(alias("argMin", "idxmin"))]
pub fn argmin<T: Element, I: Index>(input: &[T], sizes: &[usize], axes: &[isize]) -> Result<Vec<I>, Error> {
    argmin_on(&Sequential, input, sizes, axes)
}

/// As [`argmin`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{ScopedThreads, argmin_on};
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let smallest: Vec<u32> = argmin_on(&ScopedThreads::new(2), rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(smallest, [1, 2]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmin_on<T: Element, I: Index>(
    executor: &dyn Executor,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<Vec<I>, Error> {
    arg_reduce_on(executor, ReduceFunction::ArgMin, Options::new(), input, sizes, axes)
}

/// The indices of the largest elements of a packed tensor along `axes`; otherwise as [`argmin`].
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::argmax;
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let of_rows: Vec<u32> = argmax(rows.as_flattened(), &[2, 3], &[-1])?;
/// let of_all: Vec<u32> = argmax(rows.as_flattened(), &[2, 3], &[0, 1])?;
/// assert_eq!((of_rows, of_all), (vec![0, 0], vec![3]));
/// # Ok::<(), argreduce::Error>(())
/// ```
#[doc(alias("argMax", "idxmax"))]
pub fn argmax<T: Element, I: Index>(input: &[T], sizes: &[usize], axes: &[isize]) -> Result<Vec<I>, Error> {
    argmax_on(&Sequential, input, sizes, axes)
}

/// As [`argmax`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{ScopedThreads, argmax_on};
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let largest: Vec<u32> = argmax_on(&ScopedThreads::new(2), rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(largest, [0, 0]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmax_on<T: Element, I: Index>(
    executor: &dyn Executor,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<Vec<I>, Error> {
    arg_reduce_on(executor, ReduceFunction::ArgMax, Options::new(), input, sizes, axes)
}

/// The indices of the smallest elements, and those of the largest; otherwise as [`argmin`].
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::argminmax;
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let both: (Vec<u32>, _) = argminmax(rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(both, (vec![1, 2], vec![0, 0]));
/// # Ok::<(), argreduce::Error>(())
/// ```
#[doc(alias = "minmax")]
pub fn argminmax<T: Element, I: Index>(
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<I>), Error> {
    argminmax_on(&Sequential, input, sizes, axes)
}

/// As [`argminmax`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{ScopedThreads, argminmax_on};
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let both: (Vec<u32>, _) = argminmax_on(&ScopedThreads::new(2), rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(both, (vec![1, 2], vec![0, 0]));
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argminmax_on<T: Element, I: Index>(
    executor: &dyn Executor,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<I>), Error> {
    let layout = Layout::contiguous(sizes)?;
    let plan = ArgReduce::argminmax(&layout).axes(axes).plan_both()?;
    check_not_longer(&layout, input)?;
    plan.run_to_vecs_on(executor, input)
}

/// As [`argmin`], and beside each index the smallest element itself, bit for bit.
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::argmin_with_values;
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let best: (Vec<u32>, _) = argmin_with_values(rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(best, (vec![1, 2], vec![1, 4]));
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmin_with_values<T: Element, I: Index>(
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<T>), Error> {
    argmin_with_values_on(&Sequential, input, sizes, axes)
}

/// As [`argmin_with_values`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{ScopedThreads, argmin_with_values_on};
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let best: (Vec<u32>, _) = argmin_with_values_on(&ScopedThreads::new(2), rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(best, (vec![1, 2], vec![1, 4]));
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmin_with_values_on<T: Element, I: Index>(
    executor: &dyn Executor,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<T>), Error> {
    arg_reduce_with_values_on(executor, ReduceFunction::ArgMin, Options::new(), input, sizes, axes)
}

/// As [`argmax`], and beside each index the largest element itself, bit for bit.
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::argmax_with_values;
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let best: (Vec<u32>, _) = argmax_with_values(rows.as_flattened(), &[2, 3], &[0])?;
/// assert_eq!(best, (vec![1, 1, 1], vec![5, 5, 4]));
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmax_with_values<T: Element, I: Index>(
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<T>), Error> {
    argmax_with_values_on(&Sequential, input, sizes, axes)
}

/// As [`argmax_with_values`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{ScopedThreads, argmax_with_values_on};
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let best: (Vec<u32>, _) = argmax_with_values_on(&ScopedThreads::new(2), rows.as_flattened(), &[2, 3], &[0])?;
/// assert_eq!(best, (vec![1, 1, 1], vec![5, 5, 4]));
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmax_with_values_on<T: Element, I: Index>(
    executor: &dyn Executor,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<T>), Error> {
    arg_reduce_with_values_on(executor, ReduceFunction::ArgMax, Options::new(), input, sizes, axes)
}

/// [`argmin`] or [`argmax`], by other [`Options`]: ties to the last, NaN ignored, or both.
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{AxisDirection, NanPolicy, ReduceFunction, arg_reduce};
/// let rows = [[3.0, f32::NAN, 2.0], [5.0, 5.0, 4.0]];
/// let (rows, sizes, axes) = (rows.as_flattened(), [2, 3], [1]);
/// let numbers: Vec<u32> = arg_reduce(ReduceFunction::ArgMax, NanPolicy::Ignore, rows, &sizes, &axes)?;
/// assert_eq!(numbers, [0, 0]);
/// let last: Vec<u32> = arg_reduce(ReduceFunction::ArgMax, AxisDirection::Decreasing, rows, &sizes, &axes)?;
/// assert_eq!(last, [1, 1]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn arg_reduce<T: Element, I: Index>(
    function: ReduceFunction,
    options: impl Into<Options>,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<Vec<I>, Error> {
    arg_reduce_on(&Sequential, function, options, input, sizes, axes)
}

/// As [`arg_reduce`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{NanPolicy, ReduceFunction, ScopedThreads, arg_reduce_on};
/// let (function, options, threads) = (ReduceFunction::ArgMax, NanPolicy::Ignore, ScopedThreads::new(2));
/// let rows = [[3.0, f32::NAN, 2.0], [5.0, 5.0, 4.0]];
/// let numbers: Vec<u32> = arg_reduce_on(&threads, function, options, rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(numbers, [0, 0]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn arg_reduce_on<T: Element, I: Index>(
    executor: &dyn Executor,
    function: ReduceFunction,
    options: impl Into<Options>,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<Vec<I>, Error> {
    Ok(of_tensor(executor, (function, options.into()), input, sizes, axes, false)?.0)
}

/// As [`arg_reduce`], and beside each index the element itself, bit for bit.
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{NanPolicy, ReduceFunction, arg_reduce_with_values};
/// let rows = [[3.0, f32::NAN, 2.0], [5.0, 5.0, 4.0]];
/// let (function, options) = (ReduceFunction::ArgMax, NanPolicy::Ignore);
/// let best: (Vec<u32>, _) = arg_reduce_with_values(function, options, rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(best, (vec![0, 0], vec![3.0, 5.0]));
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn arg_reduce_with_values<T: Element, I: Index>(
    function: ReduceFunction,
    options: impl Into<Options>,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<T>), Error> {
    arg_reduce_with_values_on(&Sequential, function, options, input, sizes, axes)
}

/// As [`arg_reduce_with_values`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{NanPolicy, ReduceFunction, ScopedThreads, arg_reduce_with_values_on};
/// let (function, options, threads) = (ReduceFunction::ArgMax, NanPolicy::Ignore, ScopedThreads::new(2));
/// let rows = [3.0, f32::NAN, 2.0, 5.0, 5.0, 4.0];
/// let best: (Vec<u32>, _) = arg_reduce_with_values_on(&threads, function, options, &rows, &[2, 3], &[1])?;
/// assert_eq!(best, (vec![0, 0], vec![3.0, 5.0]));
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn arg_reduce_with_values_on<T: Element, I: Index>(
    executor: &dyn Executor,
    function: ReduceFunction,
    options: impl Into<Options>,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<T>), Error> {
    of_tensor(executor, (function, options.into()), input, sizes, axes, true)
}

/// As [`argmin`], of the elements that [are there](Mask).
///
/// # Errors
/// As [`argmin`], and as [`Plan::run_masked`](crate::Plan::run_masked): an output of which no element is there is
/// [`Error::NothingThere`].
///
/// ```
/// use argreduce::{Mask, argmin_masked};
/// let (rows, there) = ([3_i32, 1, 2, 5, 5, 4], [true, false, true, true, true, false]);
/// let smallest: Vec<u32> = argmin_masked(&rows, &[2, 3], &[1], Mask::bools(&there))?;
/// assert_eq!(smallest, [2, 0]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmin_masked<T: Element, I: Index>(
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
    mask: Mask<'_>,
) -> Result<Vec<I>, Error> {
    of_masked(ReduceFunction::ArgMin, input, sizes, axes, mask)
}

/// As [`argmax`], of the elements that [are there](Mask); otherwise as [`argmin_masked`].
///
/// # Errors
/// As [`argmin_masked`].
///
/// ```
/// use argreduce::{Mask, argmax_masked};
/// let largest: Vec<u32> = argmax_masked(&[3_i32, 9, 2, 5, 5, 4], &[2, 3], &[1], Mask::bits(&[0b110_101], 0))?;
/// assert_eq!(largest, [0, 1]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmax_masked<T: Element, I: Index>(
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
    mask: Mask<'_>,
) -> Result<Vec<I>, Error> {
    of_masked(ReduceFunction::ArgMax, input, sizes, axes, mask)
}

fn of_masked<T: Element, I: Index>(
    function: ReduceFunction,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
    mask: Mask<'_>,
) -> Result<Vec<I>, Error> {
    plan_of(function, Options::new(), input, sizes, axes)?.run_masked_to_vec(input, mask)
}

/// The indices, and the values or none.
fn of_tensor<T: Element, I: Index>(
    executor: &dyn Executor,
    (function, options): (ReduceFunction, Options),
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
    with_values: bool,
) -> Result<(Vec<I>, Vec<T>), Error> {
    plan_of(function, options, input, sizes, axes)?.run_to_vecs(executor, input.into(), with_values)
}

/// A plan for an input of as many elements as the sizes make, or fewer.
fn plan_of<T: Element, I: Index>(
    function: ReduceFunction,
    options: Options,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<Plan<T, I>, Error> {
    let layout = Layout::contiguous(sizes)?;
    let plan = ArgReduce::new(function, &layout).axes(axes).options(options).plan::<T, I>()?;
    check_not_longer(&layout, input)?;
    Ok(plan)
}

fn check_not_longer<T: Element>(layout: &Layout, input: &[T]) -> Result<(), Error> {
    let (sizes, expected, len) = (layout.sizes().to_vec(), layout.required_len(), input.len());
    if len > expected {
        Err(Error::TooLong { element_type: T::DATA_TYPE.name(), sizes, expected, len })
    } else {
        Ok(())
    }
}
