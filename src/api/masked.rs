//! Plans that run under a mask.

use super::plan::{ErasedPlan, Plan, new_vec};
use crate::exec::{ElementsRef, FoundBlock, MaskedReduction, OutputSlices, are_all_there, run_masked};
use crate::layout::Window;
use crate::mask::MaskPlaces;
use crate::{Element, Error, Executor, Index, Layout, MAX_RANK, Mask, Sequential};

impl<T: Element, I: Index> Plan<T, I> {
    /// As [`Plan::run`], of the elements that are there. An output of which none is gets the plan's
    /// [fill](crate::ArgReduce::fill).
    ///
    /// NaN that is not there does not count. What is there but NaN loses to every number that is there, where NaN is
    /// ignored, and wins over nothing.
    ///
    /// # Errors
    /// As [`Plan::run`], and [`Error::MaskRank`], [`Error::MaskSize`], [`Error::MaskTooShort`] for a mask that does not
    /// fit the input; then nothing is written. [`Error::NothingThere`] for an output of which no element is there, if
    /// the plan has no fill; then the outputs are unspecified.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Mask};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let (input, mut indices) = ([1.0, 5.0, 2.0, 7.0, 0.0, 7.0], [0; 2]);
    /// plan.run_masked(&input, Mask::bools(&[true, false, true, false, true, true]), &mut indices)?;
    /// assert_eq!(indices, [2, 2]);
    ///
    /// let error = plan.run_masked(&input, Mask::bits(&[0b000_111], 0), &mut indices).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "no element is there for output [1, 0]: without a fill, an index needs at least one"
    /// );
    /// let error = plan.run_masked(&input, Mask::bools(&[true; 5]), &mut indices).unwrap_err();
    /// assert_eq!(error.to_string(), "the mask has 5 elements of bool: the input needs 6");
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_masked(&self, input: &[T], mask: Mask<'_>, indices: &mut [I]) -> Result<(), Error> {
        self.run_masked_on(&Sequential, input, mask, indices)
    }

    /// As [`Plan::run_masked`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`Plan::run_masked`].
    pub fn run_masked_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        mask: Mask<'_>,
        indices: &mut [I],
    ) -> Result<(), Error> {
        self.run_masked_any(executor, (input, mask), indices, None)
    }

    /// As [`Plan::run_masked`], and also copies the best elements themselves, bit for bit, to `values`: packed in
    /// row-major order. The value of an output of which no element is there has bits of 0.
    ///
    /// # Errors
    /// As [`Plan::run_masked`].
    pub fn run_masked_with_values(
        &self,
        input: &[T],
        mask: Mask<'_>,
        indices: &mut [I],
        values: &mut [T],
    ) -> Result<(), Error> {
        self.run_masked_with_values_on(&Sequential, input, mask, indices, values)
    }

    /// As [`Plan::run_masked_with_values`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`Plan::run_masked`].
    pub fn run_masked_with_values_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        mask: Mask<'_>,
        indices: &mut [I],
        values: &mut [T],
    ) -> Result<(), Error> {
        self.run_masked_any(executor, (input, mask), indices, Some(values))
    }

    /// As [`Plan::run_masked`], into a new vector, as [`Plan::run_to_vec`].
    ///
    /// # Errors
    /// As [`Plan::run_masked`], and [`Error::OutOfMemory`].
    pub fn run_masked_to_vec(&self, input: &[T], mask: Mask<'_>) -> Result<Vec<I>, Error> {
        self.run_masked_to_vec_on(&Sequential, input, mask)
    }

    /// As [`Plan::run_masked_to_vec`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`Plan::run_masked_to_vec`].
    pub fn run_masked_to_vec_on(&self, executor: &dyn Executor, input: &[T], mask: Mask<'_>) -> Result<Vec<I>, Error> {
        self.erased.check_input(input.into())?;
        let mut indices = new_vec("output", I::NAME, self.erased.output.required_len())?;
        self.run_masked_on(executor, input, mask, &mut indices)?;
        Ok(indices)
    }

    fn run_masked_any(
        &self,
        executor: &dyn Executor,
        (input, mask): (&[T], Mask<'_>),
        indices: &mut [I],
        values: Option<&mut [T]>,
    ) -> Result<(), Error> {
        let slices = OutputSlices { indices: indices.into(), values: values.map(Into::into) };
        self.erased.run_masked(I::NAME, input.into(), (mask, self.erased.fill), slices, executor)
    }
}

impl ErasedPlan {
    /// As [`Plan::run_masked`], or [`Plan::run_masked_with_values`] if there are values, for any index type of that
    /// width.
    #[inline(never)]
    pub(crate) fn run_masked(
        &self,
        index_type: &'static str,
        input: ElementsRef<'_>,
        (mask, fill): (Mask<'_>, Option<i64>),
        mut slices: OutputSlices<'_>,
        executor: &dyn Executor,
    ) -> Result<(), Error> {
        let has_outputs = self.has_outputs(index_type, input, &slices)?;
        let mask = mask.places(self.input.sizes())?;
        if !has_outputs {
            return Ok(());
        }
        if are_all_there(mask, &self.input) {
            return self.run_outlined(index_type, input, &mut slices, self.for_several(Some(executor)));
        }
        // The first output without an element, by its place among the packed ones.
        let mut nothing_at = None;
        let packed = Layout::contiguous(self.output.sizes())?;
        let mut write = |found: &FoundBlock<'_>| {
            found.for_each_run([&self.output, &packed], |[to, value_to], [step, value_step], outputs| {
                found.write_indices(outputs.clone(), fill.unwrap_or(0), &mut slices.indices, (to, step));
                if let Some(n) = found.indices[outputs.clone()].iter().position(|&index| index == u64::MAX) {
                    let output = value_to + n * value_step as usize;
                    nothing_at = Some(nothing_at.map_or(output, |first: usize| first.min(output)));
                }
                if let Some(values) = &mut slices.values {
                    found.write_values(outputs, values, (value_to, value_step));
                }
            });
        };
        self.find_masked(input, mask, executor, &mut write);
        match (nothing_at, fill) {
            (Some(place), None) => Err(self.nothing_there(place)),
            _ => Ok(()),
        }
    }

    /// Finds the best of what is there, and hands it on. The input is long enough, and not empty.
    #[allow(unsafe_code)]
    pub(crate) fn find_masked(
        &self,
        input: ElementsRef<'_>,
        mask: MaskPlaces<'_>,
        executor: &dyn Executor,
        write: &mut (dyn FnMut(&FoundBlock<'_>) + Send),
    ) {
        const ZEROS: [usize; MAX_RANK] = [0; MAX_RANK];
        let start = self.part_start.as_deref().unwrap_or(&ZEROS[..self.sizes.len()]);
        // SAFETY: as in `bind`; and the input is as long as its layout needs, as the caller says.
        let reduction = unsafe {
            MaskedReduction::new(
                (input, &self.input, mask),
                (self.axes, self.direction, self.function, self.nan_policy),
                Window { whole: &self.sizes, start },
                (self.isa, self.exec.working_set),
            )
        };
        // What is broadcast counts as nothing there, but may take long: then it is to pause.
        let is_one_task = self.exec.is_one_task(executor.min_task_bytes()) && executor.pause().is_none();
        let executor = (!is_one_task).then_some(executor);
        run_masked(&reduction, executor, write);
    }

    /// The error for an output, given by its number among the packed ones.
    pub(crate) fn nothing_there(&self, output: usize) -> Error {
        let rank = if self.output.element_count() == 1 { 0 } else { self.output.sizes().len() };
        let (mut left, mut position) = (output, vec![0; rank]);
        for (at, &size) in position.iter_mut().zip(self.output.sizes()).rev() {
            (*at, left) = (left % size, left / size);
        }
        Error::NothingThere { output: position }
    }
}
