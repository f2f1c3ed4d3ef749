//! Partial answers of both functions at once.

use super::merge::Merge;
use crate::api::{check_both, index_elements};
use crate::exec::{ElementsRef, Values};
use crate::{Element, Error, Executor, Index, Mask, Partial, PlanBoth, Sequential, UntypedPlanBoth};

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

impl UntypedPlanBoth {
    /// As [`PlanBoth::run_partials_on`], into buffers of the best elements and of their indices, all packed, as
    /// [`UntypedPlan::run_partials`](crate::UntypedPlan::run_partials) has them.
    ///
    /// # Errors
    /// As [`PlanBoth::run_partials`], and [`Error::Misaligned`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, DataType, Layout, Sequential};
    /// use bytemuck::{cast_slice, cast_slice_mut};
    /// let (layout, elements) = (Layout::contiguous(&[2, 3])?, [1_i16, 5, 2, 7, 0, 7]);
    /// let reduce = ArgReduce::argminmax(&layout).axes(&[1]).window(&[2, 6], &[0, 3]);
    /// let plan = reduce.plan_both_untyped(DataType::I16, DataType::U32)?;
    /// let ([mut lowest, mut highest], [mut min, mut max]) = ([[0_i16; 2]; 2], [[0_u32; 2]; 2]);
    /// let values = [cast_slice_mut(&mut lowest), cast_slice_mut(&mut highest)];
    /// let indices = [cast_slice_mut(&mut min), cast_slice_mut(&mut max)];
    /// plan.run_partials_on(&Sequential, cast_slice(&elements), values, indices)?;
    /// assert_eq!((lowest, min), ([1, 0], [3, 4]));
    /// assert_eq!((highest, max), ([5, 7], [4, 3]));
    ///
    /// // Each function merges and finishes its own.
    /// let [_, of_max] = plan.each();
    /// let (others, other_indices) = ([6_i16, 7], [2_u32, 2]);
    /// of_max.merge().arrays_untyped(
    ///     (of_max.data_type(), of_max.index_type()),
    ///     (cast_slice_mut(&mut highest), cast_slice_mut(&mut max)),
    ///     (cast_slice(&others), cast_slice(&other_indices)),
    /// )?;
    /// assert_eq!((highest, max), ([6, 7], [2, 2]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_partials_on(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        values: [&mut [u8]; 2],
        indices: [&mut [u8]; 2],
    ) -> Result<(), Error> {
        self.run_partials_of(executor, (input, None), values, indices)
    }

    /// As [`PlanBoth::run_masked_partials_on`], into buffers, as [`UntypedPlanBoth::run_partials_on`].
    ///
    /// # Errors
    /// As [`PlanBoth::run_masked_partials`], and [`Error::Misaligned`].
    pub fn run_masked_partials_on(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        mask: Mask<'_>,
        values: [&mut [u8]; 2],
        indices: [&mut [u8]; 2],
    ) -> Result<(), Error> {
        self.run_partials_of(executor, (input, Some(mask)), values, indices)
    }

    /// All that can be wrong is said before one is written: what either plan looks at, but for these buffers, is the
    /// same.
    fn run_partials_of(
        &self,
        executor: &dyn Executor,
        (input, mask): (&[u8], Option<Mask<'_>>),
        [min_values, max_values]: [&mut [u8]; 2],
        [min_indices, max_indices]: [&mut [u8]; 2],
    ) -> Result<(), Error> {
        let [min, max] = self.each();
        let (data_type, index_type) = (min.data_type(), min.index_type());
        let input = ElementsRef::of_bytes("input", data_type, input)?;
        let min_values = Values::of_bytes("min_values", data_type, min_values)?;
        let max_values = Values::of_bytes("max_values", data_type, max_values)?;
        let min_indices = index_elements("min_indices", index_type, min_indices)?;
        let max_indices = index_elements("max_indices", index_type, max_indices)?;
        let (outputs, index_type) = (min.output_layout().element_count(), index_type.name());
        let lens = [min_values.len(), max_values.len()];
        check_both(["min_values", "max_values"], data_type.name(), lens, outputs)?;
        let lens = [min_indices.len(), max_indices.len()];
        check_both(["min_indices", "max_indices"], index_type, lens, outputs)?;
        min.erased().run_packed(index_type, (input, mask), min_values, min_indices, executor)?;
        max.erased().run_packed(index_type, (input, mask), max_values, max_indices, executor)
    }
}
