//! The smallest and the largest at once: one description, one plan, and two outputs of everything.

use super::builder::ArgReduce;
use super::plan::{Plan, check_len, new_vec};
use crate::{
    AxisDirection, Element, Error, Executor, Index, Isa, Layout, Mask, Merge, NanPolicy, Options, Partial, Sequential,
};
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
        let function = crate::ReduceFunction::ArgMax;
        Ok(PlanBoth { min: self.reduce.plan()?, max: ArgReduce { function, ..self.reduce }.plan()? })
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
    min: Plan<T, I>,
    max: Plan<T, I>,
}

impl<T, I> Clone for PlanBoth<T, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, I> Copy for PlanBoth<T, I> {}

/// What is written of both.
struct Both<'a, X>([&'a mut [X]; 2]);

impl<T: Element, I: Index> PlanBoth<T, I> {
    /// As [`Plan::run`].
    ///
    /// # Errors
    /// As [`Plan::run`]; slices are called `min` and `max`.
    pub fn run(&self, input: &[T], min: &mut [I], max: &mut [I]) -> Result<(), Error> {
        self.run_any(&Sequential, (input, None), Both([min, max]), None)
    }

    /// As [`PlanBoth::run`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`PlanBoth::run`].
    pub fn run_on(&self, executor: &dyn Executor, input: &[T], min: &mut [I], max: &mut [I]) -> Result<(), Error> {
        self.run_any(executor, (input, None), Both([min, max]), None)
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
        self.run_any(&Sequential, (input, None), Both([min, max]), Some(Both([min_values, max_values])))
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
        self.run_any(executor, (input, None), Both([min, max]), Some(Both([min_values, max_values])))
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
        self.run_any(executor, (input, Some(mask)), Both([min, max]), None)
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
        self.run_any(executor, (input, Some(mask)), Both([min, max]), Some(Both([min_values, max_values])))
    }

    /// As [`Plan::run_partials`].
    ///
    /// # Errors
    /// As [`Plan::run_partials`]; slices are called as in [`PlanBoth::run`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Partial};
    /// // Two parts of a row.
    /// let (part, whole) = (Layout::contiguous(&[3])?, [6]);
    /// let plan = |start| ArgReduce::argminmax(&part).all_axes().window(&whole, start).plan_both::<f32, u32>();
    /// let [mut min, mut max, mut other_min, mut other_max] = [[Partial::NONE]; 4];
    /// plan(&[0])?.run_partials(&[3.0, 1.0, 2.0], &mut min, &mut max)?;
    /// plan(&[3])?.run_partials(&[5.0, 2.0, 4.0], &mut other_min, &mut other_max)?;
    ///
    /// let (merge_min, merge_max) = plan(&[0])?.merge();
    /// merge_min.partials(&mut min, &other_min)?;
    /// merge_max.partials(&mut max, &other_max)?;
    /// let (mut smallest, mut largest) = ([0], [0]);
    /// plan(&[0])?.finish_partials(&min, &max, &mut smallest, &mut largest)?;
    /// assert_eq!((smallest, largest), ([1], [3]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_partials(&self, input: &[T], min: &mut [Partial<T, I>], max: &mut [Partial<T, I>]) -> Result<(), Error> {
        self.run_partials_on(&Sequential, input, min, max)
    }

    /// As [`PlanBoth::run_partials`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`PlanBoth::run_partials`].
    pub fn run_partials_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        min: &mut [Partial<T, I>],
        max: &mut [Partial<T, I>],
    ) -> Result<(), Error> {
        self.check_partials([min.len(), max.len()])?;
        self.min.run_partials_on(executor, input, min)?;
        self.max.run_partials_on(executor, input, max)
    }

    /// As [`Plan::run_masked_partials`].
    ///
    /// # Errors
    /// As [`Plan::run_masked_partials`]; slices are called as in [`PlanBoth::run`].
    pub fn run_masked_partials(
        &self,
        input: &[T],
        mask: Mask<'_>,
        min: &mut [Partial<T, I>],
        max: &mut [Partial<T, I>],
    ) -> Result<(), Error> {
        self.run_masked_partials_on(&Sequential, input, mask, min, max)
    }

    /// As [`PlanBoth::run_masked_partials`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`PlanBoth::run_masked_partials`].
    pub fn run_masked_partials_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        mask: Mask<'_>,
        min: &mut [Partial<T, I>],
        max: &mut [Partial<T, I>],
    ) -> Result<(), Error> {
        self.check_partials([min.len(), max.len()])?;
        self.min.run_masked_partials_on(executor, input, mask, min)?;
        self.max.run_masked_partials_on(executor, input, mask, max)
    }

    /// As [`Plan::merge`]: what merges the partial answers of the smallest, and what those of the largest.
    pub fn merge(&self) -> (Merge, Merge) {
        (self.min.merge(), self.max.merge())
    }

    /// As [`Plan::finish_partials`].
    ///
    /// # Errors
    /// As [`Plan::finish_partials`].
    pub fn finish_partials(
        &self,
        min: &[Partial<T, I>],
        max: &[Partial<T, I>],
        min_indices: &mut [I],
        max_indices: &mut [I],
    ) -> Result<(), Error> {
        self.check_partials([min.len(), max.len()])?;
        self.check([min_indices.len(), max_indices.len()], None)?;
        self.max.check_finish(max)?;
        self.min.finish_partials(min, min_indices)?;
        self.max.finish_partials(max, max_indices)
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
        Both([min, max]): Both<'_, I>,
        values: Option<Both<'_, T>>,
    ) -> Result<(), Error> {
        self.check([min.len(), max.len()], values.as_ref().map(|Both(values)| values.each_ref().map(|v| v.len())))?;
        let [min_values, max_values] = match values {
            Some(Both([min, max])) => [Some(min), Some(max)],
            None => [None, None],
        };
        self.min.run_with(executor, (input, mask), min, min_values)?;
        self.max.run_with(executor, (input, mask), max, max_values)
    }

    /// That all slices are long enough, before one is written.
    fn check(&self, indices: [usize; 2], values: Option<[usize; 2]>) -> Result<(), Error> {
        let output = self.output_layout();
        for (slice, len) in ["min", "max"].into_iter().zip(indices) {
            check_len(slice, I::NAME, len, output.required_len())?;
        }
        for (slice, len) in ["min_values", "max_values"].into_iter().zip(values.into_iter().flatten()) {
            check_len(slice, T::DATA_TYPE.name(), len, output.element_count())?;
        }
        Ok(())
    }

    fn check_partials(&self, partials: [usize; 2]) -> Result<(), Error> {
        let outputs = self.output_layout().element_count();
        ["min", "max"].into_iter().zip(partials).try_for_each(|(slice, len)| check_len(slice, "Partial", len, outputs))
    }
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
