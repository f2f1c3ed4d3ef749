//! One call for a packed tensor: it is planned, run once, and answered by new vectors.

use super::description::ArgReduce;
use super::input::Input;
use super::output::Collect;
use crate::{Element, Error, Index, Layout};

/// The smallest elements of a packed tensor along `axes`: their indices, packed too, one for each position of the kept
/// axes; or whatever else is to be [collected](Collect).
///
/// Ties go to the first, and NaN is before all numbers. For other rules, and for axes that are not packed, see
/// [`ArgReduce`]. The type of the result says what is asked for. Axes are `isize`: write `axis as isize` for one that
/// was counted. No axes (`&[]`) reduce nothing.
///
/// # Errors
/// Those of [`Layout::contiguous`], [`ArgReduce::plan`] and [`Plan::collect`](crate::Plan::collect), and
/// [`Error::TooLong`] for an input of more elements than the sizes make.
///
/// ```
/// use argreduce::argmin;
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let smallest: Vec<u32> = argmin(rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!(smallest, [1, 2]);
///
/// let error = argmin::<Vec<u32>, _, _>(rows.as_flattened(), &[1, 3], &[1]).unwrap_err();
/// assert_eq!(error.to_string(), "the input slice has 6 elements of i32: the sizes [1, 3] make 3");
/// # Ok::<(), argreduce::Error>(())
/// ```
#[doc(alias("argMin", "idxmin"))]
pub fn argmin<'a, C: Collect<T, I>, T: Element, I: Index>(
    input: impl Into<Input<'a, T>>,
    sizes: &[usize],
    axes: &[isize],
) -> Result<C, Error> {
    one(|layout| ArgReduce::argmin(layout), input.into(), sizes, axes)
}

/// The largest elements of a packed tensor along `axes`; otherwise as [`argmin`].
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::{Mask, argmax, input};
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let of_rows: Vec<u32> = argmax(rows.as_flattened(), &[2, 3], &[-1])?;
/// let of_all: Vec<u32> = argmax(rows.as_flattened(), &[2, 3], &[0, 1])?;
/// assert_eq!((of_rows, of_all), (vec![0, 0], vec![3]));
///
/// // And the elements themselves; of those that are there.
/// let masked = input(rows.as_flattened()).masked(Mask::bits(&[0b110_110], 0));
/// let (indices, values): (Vec<u32>, Vec<i32>) = argmax(masked, &[2, 3], &[1])?;
/// assert_eq!((indices, values), (vec![2, 1], vec![2, 5]));
/// # Ok::<(), argreduce::Error>(())
/// ```
///
/// What cannot be made is said when it is compiled:
///
/// ```compile_fail,E0277
/// let indices: Vec<i16> = argreduce::argmax(&[1.0_f32], &[1], &[0])?; // `i16` is no index type
/// # Ok::<(), argreduce::Error>(())
/// ```
#[doc(alias("argMax", "idxmax"))]
pub fn argmax<'a, C: Collect<T, I>, T: Element, I: Index>(
    input: impl Into<Input<'a, T>>,
    sizes: &[usize],
    axes: &[isize],
) -> Result<C, Error> {
    one(|layout| ArgReduce::argmax(layout), input.into(), sizes, axes)
}

/// The smallest elements, and the largest; otherwise as [`argmin`].
///
/// # Errors
/// As [`argmin`].
///
/// ```
/// use argreduce::argminmax;
/// let rows = [[3_i32, 1, 2], [5, 5, 4]];
/// let [min, max]: [Vec<u32>; 2] = argminmax(rows.as_flattened(), &[2, 3], &[1])?;
/// assert_eq!((min, max), (vec![1, 2], vec![0, 0]));
/// # Ok::<(), argreduce::Error>(())
/// ```
#[doc(alias = "minmax")]
pub fn argminmax<'a, C: Collect<T, I>, T: Element, I: Index>(
    input: impl Into<Input<'a, T>>,
    sizes: &[usize],
    axes: &[isize],
) -> Result<[C; 2], Error> {
    let (input, layout) = (input.into(), Layout::contiguous(sizes)?);
    let plan = ArgReduce::argminmax(&layout).axes(axes).plan_both::<T, I>()?;
    check_not_longer(&layout, &input)?;
    plan.collect(input)
}

fn one<C: Collect<T, I>, T: Element, I: Index>(
    describe: fn(&Layout) -> ArgReduce<'static>,
    input: Input<'_, T>,
    sizes: &[usize],
    axes: &[isize],
) -> Result<C, Error> {
    let layout = Layout::contiguous(sizes)?;
    let plan = describe(&layout).axes(axes).plan::<T, I>()?;
    check_not_longer(&layout, &input)?;
    plan.collect(input)
}

fn check_not_longer<T: Element>(layout: &Layout, input: &Input<'_, T>) -> Result<(), Error> {
    let (sizes, expected, len) = (layout.sizes().to_vec(), layout.required_len(), input.len());
    if len > expected {
        Err(Error::TooLong { element_type: T::DATA_TYPE.name(), sizes, expected, len })
    } else {
        Ok(())
    }
}
