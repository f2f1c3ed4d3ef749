//! Partial answers of plans whose types are values, on buffers of bytes.

use super::merge::Merge;
use crate::api::{check_len, elements, elements_mut, index_elements};
use crate::exec::{ElementsRef, Values};
use crate::{DataType, Error, Executor, Mask, Sequential, UntypedPlan};
use argreduce_kernels::with_bits;

impl UntypedPlan {
    /// As [`Plan::run_partials`](crate::Plan::run_partials), into two buffers: the best elements, and their indices,
    /// both packed.
    ///
    /// # Errors
    /// As [`Plan::run_partials`](crate::Plan::run_partials), and [`Error::Misaligned`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, DataType, Layout};
    /// use bytemuck::{cast_slice, cast_slice_mut};
    /// let (layout, elements) = (Layout::contiguous(&[2, 3])?, [1_i16, 5, 2, 7, 0, 7]);
    /// let reduce = ArgReduce::argmax(&layout).axes(&[1]).window(&[2, 6], &[0, 3]);
    /// let plan = reduce.plan_untyped(DataType::I16, DataType::U32)?;
    /// let (mut values, mut indices) = ([0_i16; 2], [0_u32; 2]);
    /// plan.run_partials(cast_slice(&elements), cast_slice_mut(&mut values), cast_slice_mut(&mut indices))?;
    /// assert_eq!((values, indices), ([5, 7], [4, 3]));
    ///
    /// let (others, other_indices) = ([6_i16, 7], [2_u32, 2]);
    /// plan.merge().arrays_untyped(
    ///     (plan.data_type(), plan.index_type()),
    ///     (cast_slice_mut(&mut values), cast_slice_mut(&mut indices)),
    ///     (cast_slice(&others), cast_slice(&other_indices)),
    /// )?;
    /// assert_eq!((values, indices), ([6, 7], [2, 2]));
    ///
    /// let mut output = [0_u32; 2];
    /// plan.finish_partials(cast_slice(&indices), cast_slice_mut(&mut output))?;
    /// assert_eq!(output, [2, 2]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_partials(&self, input: &[u8], values: &mut [u8], indices: &mut [u8]) -> Result<(), Error> {
        self.run_partials_on(&Sequential, input, values, indices)
    }

    /// As [`UntypedPlan::run_partials`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
    ///
    /// # Errors
    /// As [`UntypedPlan::run_partials`].
    pub fn run_partials_on(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        values: &mut [u8],
        indices: &mut [u8],
    ) -> Result<(), Error> {
        self.run_partials_of(executor, (input, None), values, indices)
    }

    /// As [`Plan::run_masked_partials`](crate::Plan::run_masked_partials), into two buffers.
    ///
    /// # Errors
    /// As [`Plan::run_masked_partials`](crate::Plan::run_masked_partials), and [`Error::Misaligned`].
    pub fn run_masked_partials(
        &self,
        input: &[u8],
        mask: Mask<'_>,
        values: &mut [u8],
        indices: &mut [u8],
    ) -> Result<(), Error> {
        self.run_masked_partials_on(&Sequential, input, mask, values, indices)
    }

    /// As [`UntypedPlan::run_masked_partials`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`UntypedPlan::run_masked_partials`].
    pub fn run_masked_partials_on(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        mask: Mask<'_>,
        values: &mut [u8],
        indices: &mut [u8],
    ) -> Result<(), Error> {
        self.run_partials_of(executor, (input, Some(mask)), values, indices)
    }

    fn run_partials_of(
        &self,
        executor: &dyn Executor,
        (input, mask): (&[u8], Option<Mask<'_>>),
        values: &mut [u8],
        indices: &mut [u8],
    ) -> Result<(), Error> {
        let (data_type, index_type) = (self.data_type(), self.index_type());
        let indices = index_elements("indices", index_type, indices)?;
        let (input, values) =
            (ElementsRef::of_bytes("input", data_type, input)?, Values::of_bytes("values", data_type, values)?);
        self.erased().run_packed(index_type.name(), (input, mask), values, indices, executor)
    }

    /// What merges the partial answers of this plan and of those for other parts: as
    /// [`Plan::merge`](crate::Plan::merge). See [`Merge::arrays_untyped`].
    pub fn merge(&self) -> Merge {
        self.erased().merge()
    }

    /// As [`Plan::finish_partials`](crate::Plan::finish_partials), from the indices of the partial answers.
    ///
    /// # Errors
    /// As [`Plan::finish_partials`](crate::Plan::finish_partials), and [`Error::Misaligned`].
    pub fn finish_partials(&self, indices: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let name = self.index_type().name();
        with_bits!(self.index_type().size(), I => {
            let (indices, output) = (elements::<I>("indices", name, indices)?, elements_mut("output", name, output)?);
            check_len("indices", name, indices.len(), self.output_layout().element_count())?;
            self.erased().finish_part::<I>((name, self.max_index()), &|n| indices[n], output)
        })
    }
}

impl Merge {
    /// As [`Merge::arrays`], with the types of elements and indices as values: two buffers of each, `bool` ordered as
    /// unsigned bytes.
    ///
    /// # Errors
    /// As [`Merge::arrays`], [`Error::Misaligned`], and [`Error::NotAnIndexType`]. (The page of
    /// [`UntypedPlan::run_partials`] has an example.)
    pub fn arrays_untyped(
        &self,
        (data_type, index_type): (DataType, DataType),
        (values, indices): (&mut [u8], &mut [u8]),
        (other_values, other_indices): (&[u8], &[u8]),
    ) -> Result<(), Error> {
        if crate::index::max_index(index_type).is_none() {
            return Err(Error::NotAnIndexType { data_type: index_type });
        }
        let values = Values::of_bytes("values", data_type, values)?;
        let other_values = ElementsRef::of_bytes("other_values", data_type, other_values)?;
        let indices = index_elements("indices", index_type, indices)?;
        let other_indices = ElementsRef::of_bytes("other_indices", index_type, other_indices)?;
        self.sides((values, indices), (other_values, other_indices))
    }
}
