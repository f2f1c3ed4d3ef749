//! Argmin and argmax on the arrays of the crate `ndarray`, with the feature `ndarray`: an array's strides are a
//! layout's.

use super::description::ArgReduce;
use super::input::ErasedInput;
use super::output::Collect;
use crate::exec::ElementsRef;
use crate::layout::dimension;
use crate::{Element, Error, Executor, Index, Layout, Mask, Options, ReduceFunction, Sequential, drop_axes};
use ndarray::{Array, ArrayBase, ArrayD, ArrayView, ArrayViewD, Axis, Data, Dimension, IxDyn, RemoveAxis};

/// Argmin and argmax on any array or view of up to 8 dimensions: also transposed, reversed, sliced with steps, or
/// broadcast. Nothing is copied. It works with `ndarray` 0.17: arrays of another version are of other types.
///
/// | over | the result is |
/// |---|---|
/// | one axis: `argmin_axis`, `argmax_axis` | an array of one dimension less |
/// | several: `argmin_axes`, `argmax_axes`, `arg_reduce` | an array of a dynamic number of dimensions |
///
/// Negative axes count from the end, and several may be in any order. They are dropped from the result, as NumPy drops
/// them; [`insert_axis`](ndarray::ArrayBase::insert_axis) brings one back. An index is row-major over the axes in
/// ascending order. Sealed: arrays of elements have it, and methods may be added.
///
/// ```
/// use argreduce::ArrayExt;
/// use ndarray::{Array1, array, s};
///
/// let scores = array![[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]];
/// let best: Array1<u32> = scores.argmax_axis(1)?;
/// assert_eq!(best, array![1, 0]);
/// assert_eq!(scores.argmin_axis::<u32>(0)?, array![0, 1, 0]);
/// assert_eq!(scores.slice(s![.., ..;-2]).argmax_axis::<u32>(-1)?, array![0, 0]);
/// assert_eq!(scores.argmax_axes::<u32>(&[0, 1])?[[]], 3);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub trait ArrayExt: sealed::Sealed {
    /// The type of the elements.
    type Elem: Element;
    /// The dimensions of the array.
    type Dim: Dimension;

    /// The index of the smallest element along `axis`: ties go to the first, and NaN is before all numbers.
    ///
    /// # Errors
    /// Those of [`Layout::strided`](crate::Layout::strided) and [`ArgReduce::plan`], and [`Error::OutOfMemory`].
    fn argmin_axis<I: Index>(&self, axis: isize) -> Result<Array<I, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        along(self.as_view(), ReduceFunction::ArgMin, axis)
    }

    /// The index of the largest element along `axis`; otherwise as [`ArrayExt::argmin_axis`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmax_axis<I: Index>(&self, axis: isize) -> Result<Array<I, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        along(self.as_view(), ReduceFunction::ArgMax, axis)
    }

    /// The index of the smallest element along `axes`; otherwise as [`ArrayExt::argmin_axis`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmin_axes<I: Index>(&self, axes: &[isize]) -> Result<ArrayD<I>, Error> {
        let indices = collect(self.as_view(), ReduceFunction::ArgMin, axes)?;
        Ok(array(IxDyn(&drop_axes(self.as_view().shape(), axes)?), indices))
    }

    /// The index of the largest element along `axes`; otherwise as [`ArrayExt::argmin_axis`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmax_axes<I: Index>(&self, axes: &[isize]) -> Result<ArrayD<I>, Error> {
        let indices = collect(self.as_view(), ReduceFunction::ArgMax, axes)?;
        Ok(array(IxDyn(&drop_axes(self.as_view().shape(), axes)?), indices))
    }

    /// The indices, and the elements themselves, bit for bit: by other [`Options`]; of those elements for which a mask
    /// of the same sizes, or of sizes that broadcast to them, is true, if there is one; on the threads of an
    /// [`Executor`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`]; with a mask, [`Error::BroadcastRank`] and [`Error::BroadcastSize`] for one of
    /// other sizes, and [`Error::NothingThere`].
    ///
    /// ```
    /// use argreduce::{ArrayExt, AxisDirection, NanPolicy, ReduceFunction, Sequential};
    /// use ndarray::array;
    ///
    /// let scores = array![[1.0, f32::NAN, 5.0], [7.0, 0.0, 7.0]];
    /// let (indices, values) = scores.arg_reduce::<u32>(
    ///     ReduceFunction::ArgMax,
    ///     &[1],
    ///     NanPolicy::Ignore,
    ///     None,
    ///     &Sequential,
    /// )?;
    /// assert_eq!((indices, values), (array![2, 0].into_dyn(), array![5.0, 7.0].into_dyn()));
    ///
    /// let (last, there) = (AxisDirection::Decreasing, array![false, true, true].into_dyn());
    /// let (indices, _) =
    ///     scores.arg_reduce::<u32>(ReduceFunction::ArgMin, &[1], last, Some(there.view()), &Sequential)?;
    /// assert_eq!(indices, array![1, 1].into_dyn());
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    fn arg_reduce<I: Index>(
        &self,
        function: ReduceFunction,
        axes: &[isize],
        options: impl Into<Options>,
        mask: Option<ArrayViewD<'_, bool>>,
        executor: &dyn Executor,
    ) -> Result<(ArrayD<I>, ArrayD<Self::Elem>), Error> {
        let view = self.as_view();
        let (indices, values): (Vec<I>, Vec<_>) = answers(view, executor, (function, options.into()), axes, mask)?;
        let sizes = IxDyn(&drop_axes(self.as_view().shape(), axes)?);
        Ok((array(sizes.clone(), indices), array(sizes, values)))
    }

    /// All of the array.
    #[doc(hidden)]
    fn as_view(&self) -> ArrayView<'_, Self::Elem, Self::Dim>;
}

/// The dimensions of an array without one of them.
pub type Smaller<A> = <<A as ArrayExt>::Dim as Dimension>::Smaller;

mod sealed {
    pub trait Sealed {}
    impl<S: ndarray::RawData, D> Sealed for ndarray::ArrayBase<S, D> {}
}

impl<T: Element, S: Data<Elem = T>, D: Dimension> ArrayExt for ArrayBase<S, D> {
    type Elem = T;
    type Dim = D;

    fn as_view(&self) -> ArrayView<'_, T, D> {
        self.view()
    }
}

/// The indices along one axis.
fn along<T: Element, I: Index, D: RemoveAxis>(
    view: ArrayView<'_, T, D>,
    function: ReduceFunction,
    axis: isize,
) -> Result<Array<I, D::Smaller>, Error> {
    let indices = collect(view.view(), function, &[axis])?;
    Ok(array(view.raw_dim().remove_axis(Axis(dimension(axis, view.ndim())?)), indices))
}

/// The indices, packed.
fn collect<T: Element, I: Index, D: Dimension>(
    view: ArrayView<'_, T, D>,
    function: ReduceFunction,
    axes: &[isize],
) -> Result<Vec<I>, Error> {
    answers(view, &Sequential, (function, Options::new()), axes, None)
}

/// What is asked for, packed.
#[allow(unsafe_code)]
fn answers<C: Collect<T, I>, T: Element, I: Index, D: Dimension>(
    view: ArrayView<'_, T, D>,
    executor: &dyn Executor,
    (function, options): (ReduceFunction, Options),
    axes: &[isize],
    mask: Option<ArrayViewD<'_, bool>>,
) -> Result<C, Error> {
    // SAFETY: the plan below is for that layout, and nothing else reads the elements.
    let (layout, elements) = unsafe { ElementsRef::of_view(view.view())? };
    // What lies between the elements of a view may be somebody else's to write: then the mask is copied.
    let copy = mask.as_ref().filter(|mask| mask.as_slice_memory_order().is_none()).map(|mask| mask.to_owned());
    let mask = copy.as_ref().map(|copy| copy.view()).or(mask);
    let there = match &mask {
        Some(mask) => Some((mask.as_slice_memory_order().expect("a copy is contiguous"), mask_layout(mask, &layout)?)),
        None => None,
    };
    let mask = there.as_ref().map(|(there, layout)| Mask::strided(there, layout));
    let plan = ArgReduce::new(function, &layout).axes(axes).options(options).plan::<T, I>()?;
    plan.collect_erased(ErasedInput { elements, mask, executor: Some(executor) })
}

/// Where the mask of an array of that layout is.
fn mask_layout(mask: &ArrayViewD<'_, bool>, of: &Layout) -> Result<Layout, Error> {
    let before = |(&size, &stride): (&usize, &isize)| stride.min(0).unsigned_abs() * size.saturating_sub(1);
    let offset = mask.shape().iter().zip(mask.strides()).map(before).sum();
    Layout::strided(mask.shape(), mask.strides(), offset)?.broadcast(of.sizes())
}

fn array<A, D: Dimension>(sizes: D, answers: Vec<A>) -> Array<A, D> {
    Array::from_shape_vec(sizes, answers).expect("packed answers are as many as their sizes say")
}
