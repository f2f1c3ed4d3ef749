//! Partial answers of both functions at once.

use super::merge::Merge;
use crate::api::check_both;
use crate::{Element, Error, Executor, Index, Mask, Partial, PlanBoth, Sequential};

impl<T: Element, I: Index> PlanBoth<T, I> {
    /// As [`Plan::run_partials`](crate::Plan::run_partials).
    ///
    /// # Errors
    /// As [`Plan::run_partials`](crate::Plan::run_partials); slices are called as in [`PlanBoth::run`].
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

    /// As [`PlanBoth::run_partials`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
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

    /// As [`Plan::run_masked_partials`](crate::Plan::run_masked_partials).
    ///
    /// # Errors
    /// As [`Plan::run_masked_partials`](crate::Plan::run_masked_partials); slices are called as in [`PlanBoth::run`].
    pub fn run_masked_partials(
        &self,
        input: &[T],
        mask: Mask<'_>,
        min: &mut [Partial<T, I>],
        max: &mut [Partial<T, I>],
    ) -> Result<(), Error> {
        self.run_masked_partials_on(&Sequential, input, mask, min, max)
    }

    /// As [`PlanBoth::run_masked_partials`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
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

    /// As [`Plan::merge`](crate::Plan::merge): what merges the partial answers of the smallest, and what those of the
    /// largest.
    pub fn merge(&self) -> (Merge, Merge) {
        (self.min.merge(), self.max.merge())
    }

    /// As [`Plan::finish_partials`](crate::Plan::finish_partials).
    ///
    /// # Errors
    /// As [`Plan::finish_partials`](crate::Plan::finish_partials).
    pub fn finish_partials(
        &self,
        min: &[Partial<T, I>],
        max: &[Partial<T, I>],
        min_indices: &mut [I],
        max_indices: &mut [I],
    ) -> Result<(), Error> {
        self.check_partials([min.len(), max.len()])?;
        let indices = [min_indices.len(), max_indices.len()];
        check_both(["min", "max"], I::NAME, indices, self.output_layout().required_len())?;
        self.max.check_finish(max)?;
        self.min.finish_partials(min, min_indices)?;
        self.max.finish_partials(max, max_indices)
    }

    fn check_partials(&self, partials: [usize; 2]) -> Result<(), Error> {
        check_both(["min", "max"], "Partial", partials, self.output_layout().element_count())
    }
}
