//! Shortcuts: `xs.argmax()` on any slice, and one call for a packed tensor.

use super::builder::{ArgReduce, default_isa};
use crate::exec::{find_in_slice, find_scalar};
use crate::planner::{MAX_SCALAR_LEN, MIN_SEGMENTED_ROW_BYTES};
use crate::{Element, Error, Index, Isa, Layout, NanPolicy, Options, ReduceFunction};

/// `argmin` and `argmax` on slices of any [`Element`]: ties go to the first, and NaN is before all numbers.
///
/// ```
/// use argreduce::SliceExt;
/// assert_eq!([2.0, 7.0, 7.0].argmax(), Some(1));
/// assert_eq!([2.0, f32::NAN, 7.0].argmin(), Some(1));
/// assert_eq!([0_u8; 0].argmax(), None);
/// ```
///
/// Sealed: only slices of elements have it, so that methods can be added.
///
/// ```compile_fail,E0277
/// struct Mine;
/// impl argreduce::SliceExt for Mine {
///     fn argmin(&self) -> Option<usize> { None }
///     fn argmax(&self) -> Option<usize> { None }
/// }
/// ```
pub trait SliceExt: sealed::Sealed {
    /// The index of the smallest element, `None` if there is none.
    fn argmin(&self) -> Option<usize>;
    /// The index of the largest element, `None` if there is none.
    fn argmax(&self) -> Option<usize>;
    /// Either of them, by other [`Options`]: `xs.arg_reduce(ReduceFunction::ArgMax, NanPolicy::Ignore)`. `None` if
    /// there is no element.
    ///
    /// It is planned anew each time, which takes longer than to reduce a short slice.
    fn arg_reduce(&self, function: ReduceFunction, options: impl Into<Options>) -> Option<usize>;
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for [T] {}
}

impl<T: Element> SliceExt for [T] {
    fn argmin(&self) -> Option<usize> {
        of_slice(ReduceFunction::ArgMin, self)
    }

    fn argmax(&self) -> Option<usize> {
        of_slice(ReduceFunction::ArgMax, self)
    }

    fn arg_reduce(&self, function: ReduceFunction, options: impl Into<Options>) -> Option<usize> {
        let options = options.into();
        if options == Options::new() { of_slice(function, self) } else { by_plan(function, options, self) }
    }
}

/// Without a plan where possible: making one takes several times as long as reducing a short slice.
fn of_slice<T: Element>(function: ReduceFunction, elements: &[T]) -> Option<usize> {
    match elements.len() {
        0 => None,
        len if len <= MAX_SCALAR_LEN => Some(find_scalar((function, NanPolicy::default()), elements)),
        _ if size_of_val(elements) < MIN_SEGMENTED_ROW_BYTES => find_in_slice(function, slice_isa, elements),
        _ => by_plan(function, Options::new(), elements),
    }
}

/// The ISA for slices. They cannot report an error, so an `ARGREDUCE_ISA` that is not available is ignored.
fn slice_isa() -> Isa {
    default_isa().map_or_else(|_| Isa::detect(), |isa| isa.widest)
}

/// By a plan: for slices that are too long for the kernel of rows, or faster with another, and for options other than
/// the default. Outlined, because a plan makes a large stack frame, which short slices would pay for.
#[cold]
#[inline(never)]
fn by_plan<T: Element>(function: ReduceFunction, options: Options, elements: &[T]) -> Option<usize> {
    let layout = Layout::contiguous(&[elements.len()]).ok()?;
    let mut reduce = ArgReduce::new(function, &layout).all_axes().options(options);
    if default_isa().is_err() {
        reduce = reduce.isa(Isa::detect());
    }
    let mut index = [0];
    reduce.plan::<T, u64>().ok()?.run(elements, &mut index).ok()?;
    Some(index[0] as usize)
}

/// The indices of the smallest elements of a packed tensor along `axes`: packed too, one for each position of the kept
/// axes.
///
/// Ties go to the first, and NaN is before all numbers. For other rules see [`arg_reduce`], for views [`ArgReduce`].
///
/// # Errors
/// Those of [`Layout::contiguous`], [`ArgReduce::plan`] and [`Plan::run_to_vec`](crate::Plan::run_to_vec), and
/// [`Error::TooLong`] for an input of more elements than the sizes make.
///
/// ```
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// assert_eq!(argreduce::argmin::<i32, u32>(rows.as_flattened(), &[2, 3], &[1])?, [1, 2]);
///
/// let error = argreduce::argmin::<i32, u32>(rows.as_flattened(), &[1, 3], &[1]).unwrap_err();
/// assert_eq!(error.to_string(), "the input slice has 6 elements of i32: the sizes [1, 3] make 3");
/// # Ok::<(), argreduce::Error>(())
/// ```
#[doc(alias("argMin", "idxmin"))]
pub fn argmin<T: Element, I: Index>(input: &[T], sizes: &[usize], axes: &[isize]) -> Result<Vec<I>, Error> {
    arg_reduce(ReduceFunction::ArgMin, Options::new(), input, sizes, axes)
}

/// The indices of the largest elements of a packed tensor along `axes`; otherwise as [`argmin`].
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// assert_eq!(argreduce::argmax::<i32, u32>(rows.as_flattened(), &[2, 3], &[-1])?, [0, 0]);
/// assert_eq!(argreduce::argmax::<i32, u32>(rows.as_flattened(), &[2, 3], &[0, 1])?, [3]);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[doc(alias("argMax", "idxmax"))]
pub fn argmax<T: Element, I: Index>(input: &[T], sizes: &[usize], axes: &[isize]) -> Result<Vec<I>, Error> {
    arg_reduce(ReduceFunction::ArgMax, Options::new(), input, sizes, axes)
}

/// As [`argmin`], and beside each index the smallest element itself, bit for bit.
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let (indices, values) = argreduce::argmin_with_values::<i32, u32>(rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!((indices, values), (vec![1, 2], vec![1, 4]));
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmin_with_values<T: Element, I: Index>(
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<T>), Error> {
    arg_reduce_with_values(ReduceFunction::ArgMin, Options::new(), input, sizes, axes)
}

/// As [`argmax`], and beside each index the largest element itself, bit for bit.
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let (indices, values) = argreduce::argmax_with_values::<i32, u32>(rows.as_flattened(), &[2, 3], &[0])?;
/// assert_eq!((indices, values), (vec![1, 1, 1], vec![5, 5, 4]));
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmax_with_values<T: Element, I: Index>(
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<(Vec<I>, Vec<T>), Error> {
    arg_reduce_with_values(ReduceFunction::ArgMax, Options::new(), input, sizes, axes)
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
/// let numbers = arg_reduce::<f32, u32>(ReduceFunction::ArgMax, NanPolicy::Ignore, rows, &sizes, &axes)?;
/// assert_eq!(numbers, [0, 0]);
/// let last = arg_reduce::<f32, u32>(ReduceFunction::ArgMax, AxisDirection::Decreasing, rows, &sizes, &axes)?;
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
    Ok(of_tensor(function, options.into(), input, sizes, axes, false)?.0)
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
/// let best = arg_reduce_with_values::<f32, u32>(function, options, rows.as_flattened(), &[2, 3], &[1])?;
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
    of_tensor(function, options.into(), input, sizes, axes, true)
}

fn of_tensor<T: Element, I: Index>(
    function: ReduceFunction,
    options: Options,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
    with_values: bool,
) -> Result<(Vec<I>, Vec<T>), Error> {
    let layout = Layout::contiguous(sizes)?;
    let plan = ArgReduce::new(function, &layout).axes(axes).options(options).plan::<T, I>()?;
    let (expected, len) = (layout.required_len(), input.len());
    if len > expected {
        return Err(Error::TooLong { element_type: T::DATA_TYPE.name(), sizes: sizes.to_vec(), expected, len });
    }
    plan.run_to_vecs(input.into(), with_values)
}
