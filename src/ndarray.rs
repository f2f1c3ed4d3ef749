//! `argmin_axes` and `argmax_axes` on the arrays of the crate `ndarray`, with the feature `ndarray`: an array's strides are a layout's.

use crate::run::Memory;
use crate::{ArgReduce, AxisDirection, Element, Error, Index, NanPolicy, ReduceFunction, drop_axes};
use ndarray::{ArrayBase, ArrayD, Data, Dimension};

/// `argmin_axes` and `argmax_axes` on any array or view of up to 8 dimensions: also transposed, reversed, sliced with steps, or broadcast.
/// Nothing is copied.
///
/// Axes may be in any order, and negative ones count from the end. They are dropped from the result, as NumPy drops them;
/// [`insert_axis`](ndarray::ArrayBase::insert_axis) brings one back. An index is row-major over the axes in ascending order.
///
/// ```
/// use argreduce::ndarray::ArrayExt;
/// use ndarray::{array, s};
///
/// let scores = array![[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]];
/// assert_eq!(scores.argmax_axes::<u32>(&[1])?, array![1, 0].into_dyn());
/// assert_eq!(scores.argmin_axes::<u32>(&[0])?, array![0, 1, 0].into_dyn());
/// assert_eq!(scores.slice(s![.., ..;-2]).argmax_axes::<u32>(&[-1])?, array![0, 0].into_dyn());
/// # Ok::<(), argreduce::Error>(())
/// ```
pub trait ArrayExt {
    /// The index of the smallest element along `axes`: the first of equals, NaN before all numbers.
    ///
    /// # Errors
    /// Those of [`Layout::strided`](crate::Layout::strided) and [`ArgReduce::plan`].
    fn argmin_axes<I: Index>(&self, axes: &[isize]) -> Result<ArrayD<I>, Error> {
        self.arg_reduce_axes((ReduceFunction::ArgMin, AxisDirection::default(), NanPolicy::default()), axes)
    }

    /// The index of the largest element along `axes`; otherwise as [`ArrayExt::argmin_axes`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axes`].
    fn argmax_axes<I: Index>(&self, axes: &[isize]) -> Result<ArrayD<I>, Error> {
        self.arg_reduce_axes((ReduceFunction::ArgMax, AxisDirection::default(), NanPolicy::default()), axes)
    }

    /// Either of them, with every choice.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axes`].
    fn arg_reduce_axes<I: Index>(
        &self,
        order: (ReduceFunction, AxisDirection, NanPolicy),
        axes: &[isize],
    ) -> Result<ArrayD<I>, Error>;
}

impl<T: Element, S: Data<Elem = T>, D: Dimension> ArrayExt for ArrayBase<S, D> {
    fn arg_reduce_axes<I: Index>(
        &self,
        (function, direction, nan_policy): (ReduceFunction, AxisDirection, NanPolicy),
        axes: &[isize],
    ) -> Result<ArrayD<I>, Error> {
        let (layout, elements) = Memory::of_view(self.view())?;
        let reduce = ArgReduce::new(function, &layout).axes(axes).direction(direction).nan_policy(nan_policy);
        let plan = reduce.plan::<T, I>()?;
        let mut indices = vec![I::default(); plan.output_layout().required_len()];
        plan.run_checked(elements, &mut indices, None)?;
        let sizes = drop_axes(layout.sizes(), axes)?;
        Ok(ArrayD::from_shape_vec(sizes, indices).expect("the packed output has as many elements as its sizes say"))
    }
}
