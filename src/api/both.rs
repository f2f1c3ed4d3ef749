//! The smallest and the largest at once: one description, one plan, and two outputs of everything.

use super::builder::{ArgReduce, check_fill};
use super::erased::ErasedPlan;
use super::plan::{Plan, check_len, new_vec};
use super::untyped::{UntypedPlan, index_elements};
use crate::exec::{BoundBoth, BoundPlan, ElementsRef, OutputSlices, Values, both_kernel, run_both_on, run_both_row};
use crate::{
    AxisDirection, DataType, Element, Error, Executor, Index, Isa, Layout, Mask, NanPolicy, Options, ReduceFunction,
    Sequential,
};
use argreduce_kernels::BothKernel;
use std::fmt;

/// What to reduce and how, as [`ArgReduce`], for the indices of both the smallest and the largest element.
///
/// ```
/// use argreduce::{ArgReduce, Layout};
/// let plan = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan_both::<f32, u32>()?;
/// let (smallest, largest) = plan.run_to_vecs(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?;
/// assert_eq!((smallest, largest), (vec![0, 1], vec![1, 0]));
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a description does nothing until it is planned and run"]
pub struct ArgReduceBoth<'a> {
    /// Of the smallest.
    reduce: ArgReduce<'a>,
}

impl<'a> ArgReduce<'a> {
    /// The indices of both the smallest and the largest element: see [`ArgReduceBoth`].
    #[doc(alias = "minmax")]
    pub fn argminmax(input: &Layout) -> ArgReduceBoth<'a> {
        ArgReduceBoth { reduce: ArgReduce::argmin(input) }
    }
}

impl<'a> ArgReduceBoth<'a> {
    /// What a description says, of both functions in place of its own.
    #[doc(hidden)]
    pub fn of(reduce: ArgReduce<'a>) -> Self {
        ArgReduceBoth { reduce: ArgReduce { function: ReduceFunction::ArgMin, ..reduce } }
    }

    /// As [`ArgReduce::axes`].
    #[doc(alias("axis", "dim"))]
    pub fn axes(self, axes: &[isize]) -> Self {
        ArgReduceBoth { reduce: self.reduce.axes(axes) }
    }

    /// As [`ArgReduce::axes_from`].
    pub fn axes_from(self, axes: impl IntoIterator<Item = isize>) -> Self {
        ArgReduceBoth { reduce: self.reduce.axes_from(axes) }
    }

    /// As [`ArgReduce::all_axes`].
    pub fn all_axes(self) -> Self {
        ArgReduceBoth { reduce: self.reduce.all_axes() }
    }

    /// As [`ArgReduce::direction`], of both.
    pub fn direction(self, direction: AxisDirection) -> Self {
        ArgReduceBoth { reduce: self.reduce.direction(direction) }
    }

    /// As [`ArgReduce::nan_policy`]: where NaN is before all numbers, the first one is both the smallest and the
    /// largest.
    pub fn nan_policy(self, nan_policy: NanPolicy) -> Self {
        ArgReduceBoth { reduce: self.reduce.nan_policy(nan_policy) }
    }

    /// As [`ArgReduce::options`].
    pub fn options(self, options: impl Into<Options>) -> Self {
        ArgReduceBoth { reduce: self.reduce.options(options) }
    }

    /// As [`ArgReduce::output_layout`], of the indices of both, each in a slice of its own.
    pub fn output_layout(self, output: &'a Layout) -> Self {
        ArgReduceBoth { reduce: self.reduce.output_layout(output) }
    }

    /// As [`ArgReduce::window`].
    pub fn window(self, whole: &'a [usize], start: &'a [usize]) -> Self {
        ArgReduceBoth { reduce: self.reduce.window(whole, start) }
    }

    /// As [`ArgReduce::fill`].
    pub fn fill(self, index: i64) -> Self {
        ArgReduceBoth { reduce: self.reduce.fill(index) }
    }

    /// As [`ArgReduce::isa`].
    pub fn isa(self, isa: Isa) -> Self {
        ArgReduceBoth { reduce: self.reduce.isa(isa) }
    }

    /// Checks all of it, and decides how to run.
    ///
    /// # Errors
    /// As [`ArgReduce::plan`].
    pub fn plan_both<T: Element, I: Index>(self) -> Result<PlanBoth<T, I>, Error> {
        let [min, max] = self.each();
        let (min, max) = (min.plan::<T, I>()?, max.plan()?);
        Ok(PlanBoth { min, max, kernel: both_kernel(min.erased.exec(), T::DATA_TYPE, min.erased.nan_policy()) })
    }

    /// As [`ArgReduceBoth::plan_both`], with both types as values.
    ///
    /// # Errors
    /// As [`ArgReduce::plan_untyped`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, DataType, Layout};
    /// let reduce = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]);
    /// let plan = reduce.plan_both_untyped(DataType::U8, DataType::U16)?;
    /// let (mut min, mut max) = ([9_u16; 2], [9_u16; 2]);
    /// let buffers = [bytemuck::cast_slice_mut(&mut min), bytemuck::cast_slice_mut(&mut max)];
    /// plan.run(&[1, 5, 2, 7, 0, 7], buffers, None)?;
    /// assert_eq!((min, max), ([0, 1], [1, 0]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn plan_both_untyped(self, data_type: DataType, index_type: DataType) -> Result<UntypedPlanBoth, Error> {
        let [min, max] = self.each();
        let (min, max) = (min.plan_untyped(data_type, index_type)?, max.plan_untyped(data_type, index_type)?);
        let kernel = both_kernel(min.erased().exec(), data_type, min.erased().nan_policy());
        Ok(UntypedPlanBoth { min, max, kernel })
    }

    /// For the smallest, and for the largest.
    fn each(self) -> [ArgReduce<'a>; 2] {
        [self.reduce, ArgReduce { function: ReduceFunction::ArgMax, ..self.reduce }]
    }
}

/// A [`PlanBoth`] whose types are known at run time, on buffers of bytes, as an [`UntypedPlan`] has them. Buffers come
/// in pairs: of the smallest, and of the largest. Errors call them `min_indices` and `max_indices`, `min_values` and
/// `max_values`.
#[derive(Clone, Debug)]
pub struct UntypedPlanBoth {
    min: UntypedPlan,
    max: UntypedPlan,
    /// For both at once.
    kernel: Option<BothKernel>,
}

impl UntypedPlanBoth {
    /// As [`PlanBoth::run`], or [`PlanBoth::run_with_values`] if there are buffers for values.
    ///
    /// # Errors
    /// As [`PlanBoth::run_with_values`], and [`Error::Misaligned`].
    pub fn run(&self, input: &[u8], indices: [&mut [u8]; 2], values: Option<[&mut [u8]; 2]>) -> Result<(), Error> {
        self.run_any(&Sequential, (input, None), indices, values)
    }

    /// As [`UntypedPlanBoth::run`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`UntypedPlanBoth::run`].
    pub fn run_on(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        indices: [&mut [u8]; 2],
        values: Option<[&mut [u8]; 2]>,
    ) -> Result<(), Error> {
        self.run_any(executor, (input, None), indices, values)
    }

    /// As [`PlanBoth::run_masked_on`], or [`PlanBoth::run_masked_with_values_on`] if there are buffers for values.
    ///
    /// # Errors
    /// As [`PlanBoth::run_masked_with_values`], and [`Error::Misaligned`].
    pub fn run_masked_on(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        mask: Mask<'_>,
        indices: [&mut [u8]; 2],
        values: Option<[&mut [u8]; 2]>,
    ) -> Result<(), Error> {
        self.run_any(executor, (input, Some((mask, self.min.erased().fill()))), indices, values)
    }

    /// With another fill than the plan's.
    #[doc(hidden)]
    pub fn run_masked_with_fill(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        (mask, fill): (Mask<'_>, Option<i64>),
        indices: [&mut [u8]; 2],
        values: Option<[&mut [u8]; 2]>,
    ) -> Result<(), Error> {
        let fill = check_fill(fill, (self.min.index_type().name(), self.min.max_index()))?;
        self.run_any(executor, (input, Some((mask, fill))), indices, values)
    }

    /// The plans for the smallest and the largest: what both have, and what merges and finishes the partial answers of
    /// each.
    pub fn each(&self) -> [&UntypedPlan; 2] {
        [&self.min, &self.max]
    }

    fn run_any(
        &self,
        executor: &dyn Executor,
        (input, mask): (&[u8], Option<(Mask<'_>, Option<i64>)>),
        [min, max]: [&mut [u8]; 2],
        values: Option<[&mut [u8]; 2]>,
    ) -> Result<(), Error> {
        let (data_type, index_type) = (self.min.data_type(), self.min.index_type());
        let input = ElementsRef::of_bytes("input", data_type, input)?;
        let [min_values, max_values] = match values {
            Some([min, max]) => [
                Some(Values::of_bytes("min_values", data_type, min)?),
                Some(Values::of_bytes("max_values", data_type, max)?),
            ],
            None => [None, None],
        };
        let names = ["min_indices", "max_indices"];
        let min = OutputSlices { indices: index_elements(names[0], index_type, min)?, values: min_values };
        let max = OutputSlices { indices: index_elements(names[1], index_type, max)?, values: max_values };
        let plans = [self.min.erased(), self.max.erased()];
        run_erased((plans, self.kernel), (names, index_type.name()), (input, mask), [min, max], executor)
    }
}

/// A [`Plan`] for the smallest and the largest at once: whatever is written, is written of both. `min` and `max` are
/// what a [`Plan`] of either function writes.
///
/// ```
/// use argreduce::{ArgReduce, Layout};
/// let plan = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan_both::<f32, u32>()?;
/// let (mut min, mut max, mut lowest, mut highest) = ([0; 2], [0; 2], [0.0; 2], [0.0; 2]);
/// plan.run_with_values(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0], &mut min, &mut max, &mut lowest, &mut highest)?;
/// assert_eq!((min, lowest, max, highest), ([0, 1], [1.0, 0.0], [1, 0], [5.0, 7.0]));
///
/// let error = plan.run(&[0.0; 6], &mut min, &mut [0]).unwrap_err();
/// assert_eq!(error.to_string(), "the max slice has 1 elements of u32: the layout needs 2");
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Debug)]
pub struct PlanBoth<T, I> {
    pub(crate) min: Plan<T, I>,
    pub(crate) max: Plan<T, I>,
    /// For both at once.
    kernel: Option<BothKernel>,
}

impl<T, I> Clone for PlanBoth<T, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, I> Copy for PlanBoth<T, I> {}

impl<T: Element, I: Index> PlanBoth<T, I> {
    /// As [`Plan::run`].
    ///
    /// # Errors
    /// As [`Plan::run`]; slices are called `min` and `max`.
    pub fn run(&self, input: &[T], min: &mut [I], max: &mut [I]) -> Result<(), Error> {
        self.run_any(&Sequential, (input, None), [min, max], None)
    }

    /// As [`PlanBoth::run`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`PlanBoth::run`].
    pub fn run_on(&self, executor: &dyn Executor, input: &[T], min: &mut [I], max: &mut [I]) -> Result<(), Error> {
        self.run_any(executor, (input, None), [min, max], None)
    }

    /// As [`Plan::run_with_values`].
    ///
    /// # Errors
    /// As [`PlanBoth::run`]; slices of values are called `min_values` and `max_values`.
    pub fn run_with_values(
        &self,
        input: &[T],
        min: &mut [I],
        max: &mut [I],
        min_values: &mut [T],
        max_values: &mut [T],
    ) -> Result<(), Error> {
        self.run_any(&Sequential, (input, None), [min, max], Some([min_values, max_values]))
    }

    /// As [`PlanBoth::run_with_values`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`PlanBoth::run_with_values`].
    pub fn run_with_values_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        min: &mut [I],
        max: &mut [I],
        min_values: &mut [T],
        max_values: &mut [T],
    ) -> Result<(), Error> {
        self.run_any(executor, (input, None), [min, max], Some([min_values, max_values]))
    }

    /// As [`Plan::run_to_vec`]: the indices of the smallest, and those of the largest.
    ///
    /// # Errors
    /// As [`Plan::run_to_vec`].
    pub fn run_to_vecs(&self, input: &[T]) -> Result<(Vec<I>, Vec<I>), Error> {
        self.run_to_vecs_on(&Sequential, input)
    }

    /// As [`PlanBoth::run_to_vecs`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`Plan::run_to_vec`].
    pub fn run_to_vecs_on(&self, executor: &dyn Executor, input: &[T]) -> Result<(Vec<I>, Vec<I>), Error> {
        self.min.erased.check_input(input.into())?;
        let new = || new_vec("output", I::NAME, self.output_layout().required_len());
        let (mut min, mut max) = (new()?, new()?);
        self.run_on(executor, input, &mut min, &mut max)?;
        Ok((min, max))
    }

    /// As [`Plan::run_masked`].
    ///
    /// # Errors
    /// As [`Plan::run_masked`]; slices are called as in [`PlanBoth::run`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Mask};
    /// let plan = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).fill(-1).plan_both::<f32, i32>()?;
    /// let (mut min, mut max) = ([0; 2], [0; 2]);
    /// plan.run_masked(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0], Mask::bits(&[0b000_110], 0), &mut min, &mut max)?;
    /// assert_eq!((min, max), ([2, -1], [1, -1]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_masked(&self, input: &[T], mask: Mask<'_>, min: &mut [I], max: &mut [I]) -> Result<(), Error> {
        self.run_masked_on(&Sequential, input, mask, min, max)
    }

    /// As [`PlanBoth::run_masked`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`PlanBoth::run_masked`].
    pub fn run_masked_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        mask: Mask<'_>,
        min: &mut [I],
        max: &mut [I],
    ) -> Result<(), Error> {
        self.run_any(executor, (input, Some(mask)), [min, max], None)
    }

    /// As [`Plan::run_masked_with_values`].
    ///
    /// # Errors
    /// As [`Plan::run_masked`]; slices are called as in [`PlanBoth::run_with_values`].
    pub fn run_masked_with_values(
        &self,
        input: &[T],
        mask: Mask<'_>,
        min: &mut [I],
        max: &mut [I],
        min_values: &mut [T],
        max_values: &mut [T],
    ) -> Result<(), Error> {
        self.run_masked_with_values_on(&Sequential, input, mask, min, max, min_values, max_values)
    }

    /// As [`PlanBoth::run_masked_with_values`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`PlanBoth::run_masked_with_values`].
    #[allow(clippy::too_many_arguments, reason = "those of its sisters, together")]
    pub fn run_masked_with_values_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        mask: Mask<'_>,
        min: &mut [I],
        max: &mut [I],
        min_values: &mut [T],
        max_values: &mut [T],
    ) -> Result<(), Error> {
        self.run_any(executor, (input, Some(mask)), [min, max], Some([min_values, max_values]))
    }

    /// As [`Plan::input_layout`].
    pub fn input_layout(&self) -> &Layout {
        self.min.input_layout()
    }

    /// As [`Plan::output_layout`], of either.
    pub fn output_layout(&self) -> &Layout {
        self.min.output_layout()
    }

    /// As [`Plan::isa`].
    pub fn isa(&self) -> Isa {
        self.min.isa()
    }

    fn run_any(
        &self,
        executor: &dyn Executor,
        (input, mask): (&[T], Option<Mask<'_>>),
        [min, max]: [&mut [I]; 2],
        values: Option<[&mut [T]; 2]>,
    ) -> Result<(), Error> {
        let [min_values, max_values] = match values {
            Some([min, max]) => [Some(min.into()), Some(max.into())],
            None => [None, None],
        };
        let min = OutputSlices { indices: min.into(), values: min_values };
        let max = OutputSlices { indices: max.into(), values: max_values };
        let plans = [&self.min.erased, &self.max.erased];
        if let (Some(kernel), None, [None, None]) =
            (self.kernel, mask, [&min, &max].map(|slices| slices.values.as_ref()))
            && self.min.erased.exec().is_contiguous_row()
            && self.min.erased.for_several(Some(executor)).is_none()
            && input.len() >= self.input_layout().required_len()
            && [&min, &max].iter().all(|slices| slices.indices.len() >= self.output_layout().required_len())
        {
            // As for one function: an outlined call would take as long as a few elements.
            let (mut min, mut max) = (min, max);
            let bounds = plans.map(|plan| plan.bind(input.into()));
            run_both_row(bind_both(bounds.each_ref(), kernel), [&mut min, &mut max]);
            return Ok(());
        }
        let mask = mask.map(|mask| (mask, self.min.erased.fill()));
        run_erased((plans, self.kernel), (["min", "max"], I::NAME), (input.into(), mask), [min, max], executor)
    }
}

/// Runs plans for the smallest and the largest, made of one description. That all slices are long enough is checked
/// before one is written; `names` are those of the indices.
fn run_erased(
    ([min, max], kernel): ([&ErasedPlan; 2], Option<BothKernel>),
    (names, index_type): ([&'static str; 2], &'static str),
    (input, mask): (ElementsRef<'_>, Option<(Mask<'_>, Option<i64>)>),
    mut slices: [OutputSlices<'_>; 2],
    executor: &dyn Executor,
) -> Result<(), Error> {
    let lens = slices.each_ref().map(|slices| slices.indices.len());
    check_both(names, index_type, lens, min.output().required_len())?;
    if let [Some(min_values), Some(max_values)] = slices.each_ref().map(|slices| slices.values.as_ref()) {
        let lens = [min_values.len(), max_values.len()];
        check_both(["min_values", "max_values"], input.data_type().name(), lens, min.output().element_count())?;
    }
    if let Some(masked) = mask {
        let [of_min, of_max] = slices;
        min.run_masked(index_type, input, masked, of_min, executor)?;
        return max.run_masked(index_type, input, masked, of_max, executor);
    }
    if min.has_outputs(index_type, input, &slices[0])? {
        let executor = min.for_several(Some(executor));
        let bounds = [&min.bind(input), &max.bind(input)];
        run_both_on(bounds, kernel.map(|kernel| bind_both(bounds, kernel)), slices.each_mut(), executor);
    }
    Ok(())
}

/// The plans of a [`PlanBoth`] or an [`UntypedPlanBoth`], bound to one input, and its kernel.
#[allow(unsafe_code)]
#[inline(always)]
fn bind_both<'a>(bounds: [&'a BoundPlan<'a>; 2], kernel: BothKernel) -> BoundBoth<'a> {
    // SAFETY: both are made of one description, and the kernel is made for the first.
    unsafe { BoundBoth::new(bounds, kernel) }
}

/// That both slices of a pair are long enough.
pub(crate) fn check_both(
    slices: [&'static str; 2],
    element_type: &'static str,
    lens: [usize; 2],
    required: usize,
) -> Result<(), Error> {
    slices.into_iter().zip(lens).try_for_each(|(slice, len)| check_len(slice, element_type, len, required))
}

/// What the plan for either displays, but for the function.
///
/// ```
/// use argreduce::{ArgReduce, Isa, Layout};
/// let reduce = ArgReduce::argminmax(&Layout::contiguous(&[2, 30])?).axes(&[1]).isa(Isa::Portable);
/// assert_eq!(
///     reduce.plan_both::<f32, u32>()?.to_string(),
///     "argminmax of f32 [2, 30] over axes [1] to u32 [2, 1], increasing, nan propagate: \
///      outputs [2] of [30], rows, portable"
/// );
/// # Ok::<(), argreduce::Error>(())
/// ```
impl<T: Element, I: Index> fmt::Display for PlanBoth<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.min.erased.fmt_as(f, "argminmax", T::DATA_TYPE, I::NAME)
    }
}
