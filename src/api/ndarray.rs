//! Argmin and argmax on the arrays of the crate `ndarray`, with the feature `ndarray`: an array's strides are a
//! layout's.
//!
//! It works with `ndarray` 0.17: arrays of another version are of other types, which have no [`ArrayExt`].

use super::builder::ArgReduce;
use super::plan::new_vec;
use crate::exec::{ElementsRef, OutputSlices};
use crate::layout::dimension;
use crate::{Element, Error, Executor, Index, Layout, Mask, Options, ReduceFunction, Sequential, drop_axes};
use ndarray::{Array, ArrayBase, ArrayD, ArrayView, Axis, Data, Dimension, IxDyn, RemoveAxis};

/// Argmin and argmax on any array or view of up to 8 dimensions: also transposed, reversed, sliced with steps, or
/// broadcast. Nothing is copied.
///
/// | over | the result is |
/// |---|---|
/// | one axis: `argmin_axis`, `argmax_axis`, `arg_reduce_axis` | an array of one dimension less |
/// | several: `argmin_axes`, `argmax_axes`, `arg_reduce_axes` | an array of a dynamic number of dimensions |
///
/// Each has a sister that ends in `_on`, whose first argument is an [`Executor`]: the threads that it runs on.
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
///
/// let threads = argreduce::ScopedThreads::new(2);
/// assert_eq!(scores.argmax_axis_on::<u32>(&threads, 1)?, best);
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
        self.argmin_axis_on(&Sequential, axis)
    }

    /// As [`ArrayExt::argmin_axis`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmin_axis_on<I: Index>(&self, executor: &dyn Executor, axis: isize) -> Result<Array<I, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        self.arg_reduce_axis_on(executor, ReduceFunction::ArgMin, Options::new(), axis)
    }

    /// The index of the largest element along `axis`; otherwise as [`ArrayExt::argmin_axis`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmax_axis<I: Index>(&self, axis: isize) -> Result<Array<I, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        self.argmax_axis_on(&Sequential, axis)
    }

    /// As [`ArrayExt::argmax_axis`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmax_axis_on<I: Index>(&self, executor: &dyn Executor, axis: isize) -> Result<Array<I, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        self.arg_reduce_axis_on(executor, ReduceFunction::ArgMax, Options::new(), axis)
    }

    /// Either of them, by other [`Options`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    ///
    /// ```
    /// use argreduce::{ArrayExt, AxisDirection, ReduceFunction};
    /// use ndarray::array;
    ///
    /// let scores = array![[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]];
    /// let last = scores.arg_reduce_axis::<u32>(ReduceFunction::ArgMax, AxisDirection::Decreasing, 1)?;
    /// assert_eq!(last, array![2, 2]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    fn arg_reduce_axis<I: Index>(
        &self,
        function: ReduceFunction,
        options: impl Into<Options>,
        axis: isize,
    ) -> Result<Array<I, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        self.arg_reduce_axis_on(&Sequential, function, options, axis)
    }

    /// As [`ArrayExt::arg_reduce_axis`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn arg_reduce_axis_on<I: Index>(
        &self,
        executor: &dyn Executor,
        function: ReduceFunction,
        options: impl Into<Options>,
        axis: isize,
    ) -> Result<Array<I, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        let (indices, _) = answers(self.as_view(), executor, (function, options.into()), &[axis], false)?;
        Ok(array(without_axis(self.as_view(), axis)?, indices))
    }

    /// As [`ArrayExt::arg_reduce_axis`], and an array of the elements themselves, bit for bit.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    ///
    /// ```
    /// use argreduce::{ArrayExt, NanPolicy, ReduceFunction};
    /// use ndarray::array;
    ///
    /// let scores = array![[1.0, f32::NAN, 5.0], [7.0, 0.0, 7.0]];
    /// let (indices, values) =
    ///     scores.arg_reduce_axis_with_values::<u32>(ReduceFunction::ArgMax, NanPolicy::Ignore, 1)?;
    /// assert_eq!((indices, values), (array![2, 0], array![5.0, 7.0]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    fn arg_reduce_axis_with_values<I: Index>(
        &self,
        function: ReduceFunction,
        options: impl Into<Options>,
        axis: isize,
    ) -> Result<WithValues<I, Self, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        self.arg_reduce_axis_with_values_on(&Sequential, function, options, axis)
    }

    /// As [`ArrayExt::arg_reduce_axis_with_values`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn arg_reduce_axis_with_values_on<I: Index>(
        &self,
        executor: &dyn Executor,
        function: ReduceFunction,
        options: impl Into<Options>,
        axis: isize,
    ) -> Result<WithValues<I, Self, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        let (indices, values) = answers(self.as_view(), executor, (function, options.into()), &[axis], true)?;
        let sizes = without_axis(self.as_view(), axis)?;
        Ok((array(sizes.clone(), indices), array(sizes, values)))
    }

    /// The index of the smallest element along `axis` of those that are there: for which a mask of the same sizes, or
    /// of sizes that broadcast to them, is true.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`], [`Error::BroadcastRank`] and [`Error::BroadcastSize`] for a mask of other sizes,
    /// and [`Error::NothingThere`].
    ///
    /// ```
    /// use argreduce::ArrayExt;
    /// use ndarray::array;
    ///
    /// let scores = array![[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]];
    /// let there = array![false, true, true];
    /// assert_eq!(scores.argmin_axis_masked::<u32, _, _>(&there, 1)?, array![1, 1]);
    /// let error = scores.argmin_axis_masked::<u32, _, _>(&there, 0).unwrap_err();
    /// assert!(error.to_string().starts_with("no element is there for output [0, 0]"));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    fn argmin_axis_masked<I: Index, S: Data<Elem = bool>, D: Dimension>(
        &self,
        mask: &ArrayBase<S, D>,
        axis: isize,
    ) -> Result<Array<I, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        masked_answers(self.as_view(), ReduceFunction::ArgMin, mask.view(), axis)
    }

    /// The index of the largest element along `axis` of those that are there; otherwise as
    /// [`ArrayExt::argmin_axis_masked`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis_masked`].
    fn argmax_axis_masked<I: Index, S: Data<Elem = bool>, D: Dimension>(
        &self,
        mask: &ArrayBase<S, D>,
        axis: isize,
    ) -> Result<Array<I, Smaller<Self>>, Error>
    where
        Self::Dim: RemoveAxis,
    {
        masked_answers(self.as_view(), ReduceFunction::ArgMax, mask.view(), axis)
    }

    /// The index of the smallest element along `axes`; otherwise as [`ArrayExt::argmin_axis`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmin_axes<I: Index>(&self, axes: &[isize]) -> Result<ArrayD<I>, Error> {
        self.argmin_axes_on(&Sequential, axes)
    }

    /// As [`ArrayExt::argmin_axes`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmin_axes_on<I: Index>(&self, executor: &dyn Executor, axes: &[isize]) -> Result<ArrayD<I>, Error> {
        self.arg_reduce_axes_on(executor, ReduceFunction::ArgMin, Options::new(), axes)
    }

    /// The index of the largest element along `axes`; otherwise as [`ArrayExt::argmin_axis`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmax_axes<I: Index>(&self, axes: &[isize]) -> Result<ArrayD<I>, Error> {
        self.argmax_axes_on(&Sequential, axes)
    }

    /// As [`ArrayExt::argmax_axes`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn argmax_axes_on<I: Index>(&self, executor: &dyn Executor, axes: &[isize]) -> Result<ArrayD<I>, Error> {
        self.arg_reduce_axes_on(executor, ReduceFunction::ArgMax, Options::new(), axes)
    }

    /// Either of them, by other [`Options`].
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn arg_reduce_axes<I: Index>(
        &self,
        function: ReduceFunction,
        options: impl Into<Options>,
        axes: &[isize],
    ) -> Result<ArrayD<I>, Error> {
        self.arg_reduce_axes_on(&Sequential, function, options, axes)
    }

    /// As [`ArrayExt::arg_reduce_axes`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn arg_reduce_axes_on<I: Index>(
        &self,
        executor: &dyn Executor,
        function: ReduceFunction,
        options: impl Into<Options>,
        axes: &[isize],
    ) -> Result<ArrayD<I>, Error> {
        let (indices, _) = answers(self.as_view(), executor, (function, options.into()), axes, false)?;
        Ok(array(IxDyn(&drop_axes(self.as_view().shape(), axes)?), indices))
    }

    /// As [`ArrayExt::arg_reduce_axes`], and an array of the elements themselves, bit for bit.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn arg_reduce_axes_with_values<I: Index>(
        &self,
        function: ReduceFunction,
        options: impl Into<Options>,
        axes: &[isize],
    ) -> Result<WithValues<I, Self, IxDyn>, Error> {
        self.arg_reduce_axes_with_values_on(&Sequential, function, options, axes)
    }

    /// As [`ArrayExt::arg_reduce_axes_with_values`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`ArrayExt::argmin_axis`].
    fn arg_reduce_axes_with_values_on<I: Index>(
        &self,
        executor: &dyn Executor,
        function: ReduceFunction,
        options: impl Into<Options>,
        axes: &[isize],
    ) -> Result<WithValues<I, Self, IxDyn>, Error> {
        let (indices, values) = answers(self.as_view(), executor, (function, options.into()), axes, true)?;
        let sizes = IxDyn(&drop_axes(self.as_view().shape(), axes)?);
        Ok((array(sizes.clone(), indices), array(sizes, values)))
    }

    /// All of the array.
    #[doc(hidden)]
    fn as_view(&self) -> ArrayView<'_, Self::Elem, Self::Dim>;
}

/// The dimensions of an array without one of them.
pub type Smaller<A> = <<A as ArrayExt>::Dim as Dimension>::Smaller;

/// Indices, and the elements at those.
pub type WithValues<I, A, D> = (Array<I, D>, Array<<A as ArrayExt>::Elem, D>);

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

/// The indices, and the values or none, packed.
#[allow(unsafe_code)]
fn answers<T: Element, I: Index, D: Dimension>(
    view: ArrayView<'_, T, D>,
    executor: &dyn Executor,
    (function, options): (ReduceFunction, Options),
    axes: &[isize],
    with_values: bool,
) -> Result<(Vec<I>, Vec<T>), Error> {
    // SAFETY: the plan below is for that layout, and nothing else reads the elements.
    let (layout, elements) = unsafe { ElementsRef::of_view(view)? };
    let plan = ArgReduce::new(function, &layout).axes(axes).options(options).plan::<T, I>()?;
    plan.run_to_vecs(executor, elements, with_values)
}

/// The indices of what is there, packed.
#[allow(unsafe_code)]
fn masked_answers<T: Element, I: Index, D: RemoveAxis, E: Dimension>(
    view: ArrayView<'_, T, D>,
    function: ReduceFunction,
    mask: ArrayView<'_, bool, E>,
    axis: isize,
) -> Result<Array<I, D::Smaller>, Error> {
    // What lies between the elements of a view may be somebody else's to write: then the mask is copied.
    let copy = if mask.as_slice_memory_order().is_none() { Some(mask.to_owned()) } else { None };
    let mask = copy.as_ref().map_or(mask.view(), |copy| copy.view());
    let before = |(&size, &stride): (&usize, &isize)| stride.min(0).unsigned_abs() * size.saturating_sub(1);
    let offset = mask.shape().iter().zip(mask.strides()).map(before).sum();
    let places = Layout::strided(mask.shape(), mask.strides(), offset)?.broadcast(view.shape())?;
    let there = mask.as_slice_memory_order().expect("a copy is contiguous");
    // SAFETY: the plan below is for that layout, and nothing else reads the elements.
    let (layout, elements) = unsafe { ElementsRef::of_view(view.view())? };
    let plan = ArgReduce::new(function, &layout).axes(&[axis]).plan::<T, I>()?;
    let mut indices = new_vec("output", I::NAME, plan.output_layout().required_len())?;
    let slices = OutputSlices { indices: indices[..].as_mut().into(), values: None };
    plan.erased.run_masked(I::NAME, elements, (Mask::strided(there, &places), None), slices, &Sequential)?;
    Ok(array(without_axis(view, axis)?, indices))
}

fn without_axis<T, D: RemoveAxis>(view: ArrayView<'_, T, D>, axis: isize) -> Result<D::Smaller, Error> {
    Ok(view.raw_dim().remove_axis(Axis(dimension(axis, view.ndim())?)))
}

fn array<A, D: Dimension>(sizes: D, answers: Vec<A>) -> Array<A, D> {
    Array::from_shape_vec(sizes, answers).expect("packed answers are as many as their sizes say")
}
