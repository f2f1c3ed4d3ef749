//! Plans that give partial answers, and indices from them.

use super::merge::Merge;
use crate::api::{ErasedPlan, check_len};
use crate::exec::{ElementsRef, Indices, OutputSlices, Values, for_width};
use crate::exec::{are_all_there, run_packed, run_packed_on, run_partials, run_partials_on};
use crate::{Element, Error, Executor, Index, Layout, Mask, Partial, Plan, Sequential};
use argreduce_kernels::{LoopDim, StridedIter};

impl<T: Element, I: Index> Plan<T, I> {
    /// Writes the best element of each output and its index, side by side: packed as the default output, whatever the
    /// [output layout](Plan::output_layout).
    ///
    /// An empty part, which has a reduced axis of size 0 and a [window](crate::ArgReduce::window), gives
    /// [`Partial::NONE`].
    ///
    /// # Errors
    /// [`Error::TooShort`] for a short slice, and [`Error::IndexTooLarge`] if the largest index of the whole has all
    /// bits set, because that index means that nothing was seen; then nothing is written.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Partial};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let mut partials = [Partial::NONE; 2];
    /// plan.run_partials(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0], &mut partials)?;
    /// assert_eq!(partials, [Partial { value: 5.0, index: 1 }, Partial { value: 7.0, index: 0 }]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_partials(&self, input: &[T], partials: &mut [Partial<T, I>]) -> Result<(), Error> {
        self.run_partials_on(&Sequential, input, partials)
    }

    /// As [`Plan::run_partials`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`Plan::run_partials`].
    pub fn run_partials_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        partials: &mut [Partial<T, I>],
    ) -> Result<(), Error> {
        self.run_partials_of(executor, (input, None), partials)
    }

    /// As [`Plan::run_partials`], of the elements that [are there](crate::Plan::run_masked). What has none is
    /// [`Partial::NONE`], so that parts merge as they do without a mask.
    ///
    /// # Errors
    /// As [`Plan::run_partials`], and [`Error::MaskRank`], [`Error::MaskSize`], [`Error::MaskTooShort`] for a mask that
    /// does not fit the part; then nothing is written.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Mask, Partial};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let mut partials = [Partial::NONE; 2];
    /// plan.run_masked_partials(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0], Mask::bits(&[0b000_101], 0), &mut partials)?;
    /// assert_eq!(partials, [Partial { value: 2.0, index: 2 }, Partial::NONE]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_masked_partials(
        &self,
        input: &[T],
        mask: Mask<'_>,
        partials: &mut [Partial<T, I>],
    ) -> Result<(), Error> {
        self.run_masked_partials_on(&Sequential, input, mask, partials)
    }

    /// As [`Plan::run_masked_partials`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`Plan::run_masked_partials`].
    pub fn run_masked_partials_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        mask: Mask<'_>,
        partials: &mut [Partial<T, I>],
    ) -> Result<(), Error> {
        self.run_partials_of(executor, (input, Some(mask)), partials)
    }

    fn run_partials_of(
        &self,
        executor: &dyn Executor,
        (input, mask): (&[T], Option<Mask<'_>>),
        partials: &mut [Partial<T, I>],
    ) -> Result<(), Error> {
        let erased = &self.erased;
        let (input, outputs) = (ElementsRef::from(input), erased.output().element_count());
        erased.check_partials(I::NAME, Indices::from(&mut [] as &mut [I]).none(), input)?;
        check_len("partials", "Partial", partials.len(), outputs)?;
        let mask = mask.map(|mask| mask.places(erased.input().sizes())).transpose()?;
        let partials = &mut partials[..outputs];
        if outputs == 0 {
            return Ok(());
        }
        if erased.empty_axis().is_some() {
            partials.fill(Partial::NONE);
        } else if let Some(mask) = mask.filter(|&mask| !are_all_there(mask, erased.input())) {
            let packed = Layout::contiguous(erased.output().sizes())?;
            erased.find_masked(input, mask, executor, &mut |found| {
                let values = found.values_of::<T>();
                found.for_each_run([&packed; 2], |[first, _], [step, _], outputs| {
                    for (n, output) in outputs.enumerate() {
                        let index = I::at(found.indices[output] as isize, 0, 0);
                        partials[first + n * step as usize] = Partial { value: values[output], index };
                    }
                });
            });
        } else if erased.exec().is_one_task(executor.min_task_bytes()) {
            run_partials(&erased.bind(input), partials);
        } else {
            run_partials_on(&erased.bind(input), partials, executor);
        }
        Ok(())
    }

    /// What merges the partial answers of this plan and of those for other parts: with its function, direction, NaN
    /// policy and ISA.
    pub fn merge(&self) -> Merge {
        self.erased.merge()
    }

    /// Writes the index of each partial answer, at the places of [`Plan::output_layout`].
    ///
    /// # Errors
    /// [`Error::TooShort`] for a short slice, [`Error::NothingThere`] for a [`Partial::NONE`] if the plan has no
    /// [fill](crate::ArgReduce::fill) ([`Error::EmptyReduction`] where its own part is empty), and
    /// [`Error::IndexOutOfRange`] for an index that the whole does not have; then nothing is written.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Partial};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let mut indices = [0; 2];
    /// plan.finish_partials(&[Partial { value: 5.0, index: 1 }, Partial { value: 7.0, index: 0 }], &mut indices)?;
    /// assert_eq!(indices, [1, 0]);
    /// assert!(plan.finish_partials(&[Partial::NONE; 2], &mut indices).is_err());
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn finish_partials(&self, partials: &[Partial<T, I>], indices: &mut [I]) -> Result<(), Error> {
        let outputs = self.erased.output().element_count();
        check_len("partials", "Partial", partials.len(), outputs)?;
        self.erased.finish_part((I::NAME, I::MAX), &|n| partials[n].index, indices)
    }

    /// What [`Plan::finish_partials`] says of partials, of which there are enough.
    pub(crate) fn check_finish(&self, partials: &[Partial<T, I>]) -> Result<(), Error> {
        let empty = self.erased.empty_axis().map(|axis| (axis, "part"));
        self.erased.check_finish(empty, I::MAX, &|n| partials[n].index)
    }
}

impl ErasedPlan {
    pub(crate) fn merge(&self) -> Merge {
        Merge::new(self.function()).direction(self.direction()).nan_policy(self.nan_policy()).isa(self.isa())
    }

    /// What can be wrong before partials are written.
    fn check_partials(&self, index_type: &'static str, none: u64, input: ElementsRef<'_>) -> Result<(), Error> {
        if self.output().element_count() > 0 && self.index_count() as u64 > none {
            return Err(Error::IndexTooLarge { largest: self.index_count() - 1, index_type, max: none - 1 });
        }
        self.check_input(input)
    }

    /// As [`Plan::run_partials`], or [`Plan::run_masked_partials`], with values and indices in two slices.
    pub(crate) fn run_packed(
        &self,
        index_type: &'static str,
        (input, mask): (ElementsRef<'_>, Option<Mask<'_>>),
        mut values: Values<'_>,
        mut indices: Indices<'_>,
        executor: &dyn Executor,
    ) -> Result<(), Error> {
        let outputs = self.output().element_count();
        self.check_partials(index_type, indices.none(), input)?;
        check_len("values", input.data_type().name(), values.len(), outputs)?;
        check_len("indices", index_type, indices.len(), outputs)?;
        let mask = mask.map(|mask| mask.places(self.input().sizes())).transpose()?;
        if outputs == 0 {
            return Ok(());
        }
        if self.empty_axis().is_some() {
            values.clear(outputs);
            for_width!(&mut indices, indices => indices.range(0, outputs).fill(Index::NONE));
        } else if let Some(mask) = mask.filter(|&mask| !are_all_there(mask, self.input())) {
            let packed = Layout::contiguous(self.output().sizes())?;
            self.find_masked(input, mask, executor, &mut |found| {
                found.for_each_run([&packed; 2], |[first, _], [step, _], outputs| {
                    found.write_indices(outputs.clone(), -1, &mut indices, (first, step));
                    found.write_values(outputs, &mut values, (first, step));
                });
            });
        } else {
            let (bound, slices) = (&self.bind(input), &mut OutputSlices { indices, values: Some(values) });
            if self.exec().is_one_task(executor.min_task_bytes()) {
                run_packed(bound, slices);
            } else {
                run_packed_on(bound, slices, executor);
            }
        }
        Ok(())
    }

    /// As [`ErasedPlan::finish`], of parts.
    pub(crate) fn finish_part<I: Index>(
        &self,
        index_type: (&'static str, u64),
        index: &dyn Fn(usize) -> I,
        indices: &mut [I],
    ) -> Result<(), Error> {
        self.finish(self.empty_axis().map(|axis| (axis, "part")), index_type, index, indices)
    }

    /// Writes indices at the places of the output layout, each given by its number among the packed ones: of a type, or
    /// of the unsigned one that is as wide. In place of none, the fill; without one, an error, which says where it is
    /// known to be `empty`.
    pub(crate) fn finish<I: Index>(
        &self,
        empty: Option<(usize, &'static str)>,
        (index_type, max_index): (&'static str, u64),
        index: &dyn Fn(usize) -> I,
        indices: &mut [I],
    ) -> Result<(), Error> {
        check_len("output", index_type, indices.len(), self.output().required_len())?;
        self.check_finish(empty, max_index, index)?;
        let fill = I::at(self.fill().unwrap_or(0) as isize, 0, 0);
        let or_fill = |n| if index(n) == I::NONE { fill } else { index(n) };
        scatter(self.output(), &or_fill, indices);
        Ok(())
    }

    /// Whether indices, each given by its number among the packed ones, are of the whole; and what to say of none.
    fn check_finish<I: Index>(
        &self,
        empty: Option<(usize, &'static str)>,
        max_index: u64,
        index: &dyn Fn(usize) -> I,
    ) -> Result<(), Error> {
        let count = self.index_count() as u64;
        for n in 0..self.output().element_count() {
            let found = index(n);
            if found == I::NONE {
                match (self.fill(), empty) {
                    (Some(_), _) => continue,
                    (None, Some((axis, of))) => return Err(Error::EmptyReduction { axis, of }),
                    (None, None) => return Err(self.nothing_there(n)),
                }
            }
            let index = found.value();
            if !(0..count.into()).contains(&index) {
                // Bits beyond the largest index are a negative one, of a signed type.
                let is_negative = index > max_index.into();
                let index = if is_negative { index - I::NONE.value() - 1 } else { index };
                return Err(Error::IndexOutOfRange { index, count });
            }
        }
        Ok(())
    }
}

/// Writes packed elements, each given by its number, at the places of a layout.
fn scatter<X>(layout: &Layout, get: &dyn Fn(usize) -> X, to: &mut [X]) {
    let mut dims = [LoopDim::ONE; crate::MAX_RANK];
    for (dim, (&size, &stride)) in dims.iter_mut().zip(layout.sizes().iter().zip(layout.strides())) {
        *dim = LoopDim { size, stride };
    }
    for (n, place) in StridedIter::new(&dims[..layout.sizes().len()]).enumerate() {
        to[(layout.offset() as isize + place) as usize] = get(n);
    }
}
