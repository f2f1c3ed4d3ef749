//! The shortest way in: `xs.argmax()` on any slice, and one call for a packed tensor.

use crate::plan::default_isa;
use crate::run;
use crate::work::LONGEST_ROW_BYTES;
use crate::{ArgReduce, Element, Error, Index, Isa, Layout, NanPolicy, ReduceFunction};

/// `argmin` and `argmax` on slices of any [`Element`]: the first of equals, NaN before all numbers.
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
}

/// Without a plan, which would take ten times as long as a short slice.
fn of_slice<T: Element>(function: ReduceFunction, elements: &[T]) -> Option<usize> {
    match elements.len() {
        0 => None,
        len if len <= run::FEW => Some(run::find_of_few((function, NanPolicy::default()), elements)),
        _ if size_of_val(elements) < LONGEST_ROW_BYTES => run::of_slice(function, slice_isa, elements),
        _ => of_long_slice(function, elements),
    }
}

/// An ISA that `ARGREDUCE_ISA` asks for and that is not there is no reason to have no answer.
fn slice_isa() -> Isa {
    default_isa().unwrap_or_else(|_| Isa::detect())
}

/// Longer than a kernel for rows is best at, or any can count. A call of its own, because plans make a large frame, which took a fifth of the time of a short slice.
#[cold]
#[inline(never)]
fn of_long_slice<T: Element>(function: ReduceFunction, elements: &[T]) -> Option<usize> {
    let layout = Layout::contiguous(&[elements.len()]).ok()?;
    let plan = ArgReduce::new(function, &layout).all_axes().isa(slice_isa()).plan::<T, u64>().ok()?;
    let mut index = [0];
    plan.run(elements, &mut index).ok()?;
    Some(index[0] as usize)
}

/// The indices of the smallest elements of a packed tensor along `axes`: packed too, one for each position of the kept axes.
///
/// The first of equals, NaN before all numbers; for anything else see [`ArgReduce`].
///
/// # Errors
/// Those of [`Layout::contiguous`], [`ArgReduce::plan`] and [`Plan::run`](crate::Plan::run).
///
/// ```
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// assert_eq!(argreduce::argmin::<i32, u32>(rows.as_flattened(), &[2, 3], &[1])?, [1, 2]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn argmin<T: Element, I: Index>(input: &[T], sizes: &[usize], axes: &[isize]) -> Result<Vec<I>, Error> {
    of_tensor(ReduceFunction::ArgMin, input, sizes, axes)
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
pub fn argmax<T: Element, I: Index>(input: &[T], sizes: &[usize], axes: &[isize]) -> Result<Vec<I>, Error> {
    of_tensor(ReduceFunction::ArgMax, input, sizes, axes)
}

fn of_tensor<T: Element, I: Index>(
    function: ReduceFunction,
    input: &[T],
    sizes: &[usize],
    axes: &[isize],
) -> Result<Vec<I>, Error> {
    let layout = Layout::contiguous(sizes)?;
    let plan = ArgReduce::new(function, &layout).axes(axes).plan::<T, I>()?;
    plan.check_input(input.into())?;
    let mut indices = vec![I::default(); plan.output_layout().required_len()];
    plan.run(input, &mut indices)?;
    Ok(indices)
}
