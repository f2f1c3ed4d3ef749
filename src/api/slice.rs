//! `xs.argmax()` and its sisters on any slice.

use super::description::ArgReduce;
use super::isa::default_isa;
use crate::exec::{find_both_in_slice, find_in_slice, find_scalar};
use crate::planner::{MAX_REDUCTION_LEN, MAX_SCALAR_LEN, MIN_SEGMENTED_ROW_BYTES};
use crate::{AxisDirection, Element, Isa, Key, Layout, NanPolicy, Options, ReduceFunction};

/// `argmin` and `argmax` on slices of any [`Element`]: ties go to the first, and NaN is before all numbers.
///
/// ```
/// use argreduce::SliceExt;
/// assert_eq!([2.0, 7.0, 7.0].argmax(), Some(1));
/// assert_eq!([2.0, f32::NAN, 7.0].argmin(), Some(1));
/// assert_eq!([2.0, f32::NAN, 7.0].nanargmin(), Some(0));
/// assert_eq!([2.0, f32::NAN, 7.0].nanargminmax(), Some((0, 2)));
/// assert_eq!([0_u8; 0].argmax(), None);
/// ```
///
/// What is masked, or in several dimensions, is for [`argmin`](crate::argmin) and its sisters:
/// `argmax(input(&xs).masked(mask), &[xs.len()], &[0])`.
///
/// Sealed: only slices have it, so that methods can be added.
///
/// ```compile_fail,E0277
/// # use argreduce::{Element, Options, ReduceFunction, SliceExt};
/// struct Mine;
/// impl SliceExt for Mine {
///     type Element = f32;
/// #   fn argmin(&self) -> Option<usize> where f32: Element { None }
/// #   fn argmax(&self) -> Option<usize> where f32: Element { None }
/// #   fn argminmax(&self) -> Option<(usize, usize)> where f32: Element { None }
/// #   fn nanargmin(&self) -> Option<usize> where f32: Element { None }
/// #   fn nanargmax(&self) -> Option<usize> where f32: Element { None }
/// #   fn nanargminmax(&self) -> Option<(usize, usize)> where f32: Element { None }
/// #   fn arg_reduce(&self, _: ReduceFunction, _: impl Into<Options>) -> Option<usize> where f32: Element { None }
///     // and the methods
/// }
/// ```
///
/// Slices of any type have it, and each method asks for elements: so the compiler says which types those are.
///
/// ```compile_fail,E0277
/// use argreduce::SliceExt;
/// [Some(1.0_f32)].argmax(); // `Option<f32>` is not an element type
/// ```
pub trait SliceExt: sealed::Sealed {
    /// The type of the elements.
    type Element;

    /// The index of the smallest element, `None` if there is none.
    fn argmin(&self) -> Option<usize>
    where
        Self::Element: Element;

    /// The index of the largest element, `None` if there is none.
    fn argmax(&self) -> Option<usize>
    where
        Self::Element: Element;

    /// The indices of the smallest element and of the largest, `None` if there is none. A NaN is both.
    ///
    /// ```
    /// use argreduce::SliceExt;
    /// assert_eq!([2.0, 7.0, 1.0].argminmax(), Some((2, 1)));
    /// assert_eq!([2.0, f32::NAN, 1.0].argminmax(), Some((1, 1)));
    /// assert_eq!([0_u8; 0].argminmax(), None);
    /// ```
    fn argminmax(&self) -> Option<(usize, usize)>
    where
        Self::Element: Element;

    /// The index of the smallest number, as if each NaN were not there: `None` if there is nothing but NaN, or nothing.
    ///
    /// ```
    /// use argreduce::SliceExt;
    /// assert_eq!([f32::NAN, 3.0, 1.0].nanargmin(), Some(2));
    /// assert_eq!([f32::NAN; 2].nanargmin(), None);
    /// assert_eq!([3, 1].nanargmin(), Some(1));
    /// ```
    fn nanargmin(&self) -> Option<usize>
    where
        Self::Element: Element;

    /// The index of the largest number; otherwise as [`SliceExt::nanargmin`].
    ///
    /// ```
    /// use argreduce::SliceExt;
    /// assert_eq!([f32::NAN, 3.0, 1.0].nanargmax(), Some(1));
    /// ```
    fn nanargmax(&self) -> Option<usize>
    where
        Self::Element: Element;

    /// The indices of the smallest and of the largest number; otherwise as [`SliceExt::nanargmin`].
    ///
    /// ```
    /// use argreduce::SliceExt;
    /// assert_eq!([f32::NAN, 3.0, 1.0].nanargminmax(), Some((2, 1)));
    /// assert_eq!([f32::NAN; 2].nanargminmax(), None);
    /// ```
    fn nanargminmax(&self) -> Option<(usize, usize)>
    where
        Self::Element: Element;

    /// The index of the smallest or largest element, by other [`Options`]:
    /// `xs.arg_reduce(ReduceFunction::ArgMax, AxisDirection::Decreasing)`. `None` if there is no element; nothing but
    /// NaN is a tie, also where NaN is ignored.
    ///
    /// By a [`Key`] that is an error when planning, because it is of another type or NaN, it is `None` too.
    ///
    /// For ties to the last, and by a key, it is planned anew each time, which takes longer than to reduce a short
    /// slice.
    fn arg_reduce(&self, function: ReduceFunction, options: impl Into<Options>) -> Option<usize>
    where
        Self::Element: Element;
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for [T] {}
}

impl<T> SliceExt for [T] {
    type Element = T;

    fn argmin(&self) -> Option<usize>
    where
        T: Element,
    {
        of_slice((ReduceFunction::ArgMin, NanPolicy::Propagate), self)
    }

    fn argmax(&self) -> Option<usize>
    where
        T: Element,
    {
        of_slice((ReduceFunction::ArgMax, NanPolicy::Propagate), self)
    }

    fn argminmax(&self) -> Option<(usize, usize)>
    where
        T: Element,
    {
        both_of_slice(NanPolicy::Propagate, self)
    }

    fn nanargmin(&self) -> Option<usize>
    where
        T: Element,
    {
        of_numbers(ReduceFunction::ArgMin, self)
    }

    fn nanargmax(&self) -> Option<usize>
    where
        T: Element,
    {
        of_numbers(ReduceFunction::ArgMax, self)
    }

    fn nanargminmax(&self) -> Option<(usize, usize)>
    where
        T: Element,
    {
        // Where one is NaN, there is nothing else.
        both_of_slice(NanPolicy::Ignore, self).filter(|&(min, _)| !self[min].is_nan())
    }

    fn arg_reduce(&self, function: ReduceFunction, options: impl Into<Options>) -> Option<usize>
    where
        T: Element,
    {
        let options = options.into();
        match (options.direction, options.key) {
            (AxisDirection::Increasing, Key::Value) => of_slice((function, options.nan_policy), self),
            _ => by_plan(function, options, self),
        }
    }
}

/// The best number. Where NaN is worse than every number, it is the best only if there is nothing else.
fn of_numbers<T: Element>(function: ReduceFunction, elements: &[T]) -> Option<usize> {
    of_slice((function, NanPolicy::Ignore), elements).filter(|&index| !elements[index].is_nan())
}

/// The smallest and the largest: by one pass, of as many as positions count.
fn both_of_slice<T: Element>(policy: NanPolicy, elements: &[T]) -> Option<(usize, usize)> {
    if (1..=MAX_REDUCTION_LEN).contains(&elements.len())
        && let Some([min, max]) = find_both_in_slice(policy, slice_isa, elements)
    {
        return Some((min, max));
    }
    let one = |function| of_slice((function, policy), elements);
    Some((one(ReduceFunction::ArgMin)?, one(ReduceFunction::ArgMax)?))
}

/// Without a plan where possible: making one takes several times as long as reducing a short slice.
fn of_slice<T: Element>(order: (ReduceFunction, NanPolicy), elements: &[T]) -> Option<usize> {
    match elements.len() {
        0 => None,
        len if len <= MAX_SCALAR_LEN => Some(find_scalar(order, elements)),
        _ if size_of_val(elements) < MIN_SEGMENTED_ROW_BYTES => find_in_slice(order, slice_isa, elements),
        _ => by_plan(order.0, order.1.into(), elements),
    }
}

/// The ISA for slices. They cannot report an error, so an `ARGREDUCE_ISA` that is not available is ignored.
fn slice_isa() -> Isa {
    default_isa().map_or_else(|_| Isa::detect(), |isa| isa.widest)
}

/// By a plan: for slices that are too long for the kernel of rows, or faster with another, and for ties to the last.
/// Outlined, because a plan makes a large stack frame, which short slices would pay for.
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
