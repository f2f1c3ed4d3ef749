//! Runs plans without types: checks the slices, then enters the executor. One copy for all types of elements, and for
//! all index types of a width.

use super::erased::ErasedPlan;
use super::input::ErasedInput;
use super::lengths::check_len;
use super::output::{Named, UntypedPlaces};
use crate::exec::{
    ElementsRef, FoundBlock, Indices, MaskedReduction, OutputSlices, Search, Steps, Values, are_all_there, run,
    run_masked, run_one_output, run_packed,
};
use crate::mask::MaskPlaces;
use crate::{Error, Executor, Index, Layout, Mask};
use argreduce_kernels::BothKernel;

impl ErasedPlan {
    /// Writes indices, and values if there are any.
    ///
    /// Slices are put together where they are used: what is outlined takes them by reference, and a row that is
    /// answered here would wait until they are in memory.
    #[inline(always)]
    pub(crate) fn run(
        &self,
        named: &Named,
        input: ErasedInput<'_>,
        indices: Indices<'_>,
        values: Option<Values<'_>>,
    ) -> Result<(), Error> {
        let executor = self.for_several(&input);
        let is_plain = values.is_none() && input.mask.is_none() && executor.is_none();
        // One contiguous row is answered here, without an outlined call: that would take as long as a few elements.
        if is_plain
            && self.exec().is_contiguous_row()
            && input.elements.len() >= self.input().required_len()
            && indices.len() >= self.output().required_len()
        {
            let (bound, start) = (self.bind(input.elements), self.exec().shape().output.start);
            run_one_output(&bound, start, &mut OutputSlices { indices, values: None });
            return Ok(());
        }
        let slices = &mut OutputSlices { indices, values };
        match input.mask {
            None => self.run_outlined(named, input.elements, slices, executor),
            Some(mask) => self.run_masked(named, &ErasedInput { executor, ..input }, mask, slices),
        }
    }

    /// The executor, unless the call is one task that does not pause.
    #[inline(always)]
    pub(crate) fn for_several<'e>(&self, input: &ErasedInput<'e>) -> Option<&'e dyn Executor> {
        let is_plain =
            |executor: &dyn Executor| self.exec().is_one_task(executor.min_task_bytes()) && executor.pause().is_none();
        input.executor.filter(|executor| !is_plain(*executor))
    }

    /// As [`ErasedPlan::run`], without a mask, with the executor of a call that is several tasks.
    #[inline(never)]
    fn run_outlined(
        &self,
        named: &Named,
        elements: ElementsRef<'_>,
        slices: &mut OutputSlices<'_>,
        executor: Option<&dyn Executor>,
    ) -> Result<(), Error> {
        self.check_slices(named, elements, slices)?;
        if self.has_outputs(elements)? {
            run(self.bind(elements).into(), [slices], executor);
        }
        Ok(())
    }

    /// Checks the lengths of slices.
    pub(super) fn check_slices(
        &self,
        (names, index_type): &Named,
        elements: ElementsRef<'_>,
        slices: &OutputSlices<'_>,
    ) -> Result<(), Error> {
        if let Some(values) = &slices.values {
            let data_type = elements.data_type().name();
            check_len(names.values, data_type, values.len(), self.output().element_count())?;
        }
        check_len(names.indices, index_type, slices.indices.len(), self.output().required_len())
    }

    /// Checks the input. Whether there is anything to do.
    fn has_outputs(&self, elements: ElementsRef<'_>) -> Result<bool, Error> {
        self.check_elements(elements)?;
        let has_outputs = self.output().element_count() > 0;
        match self.empty_axis() {
            Some(axis) if has_outputs => Err(Error::EmptyReduction { axis, of: "part" }),
            _ => Ok(has_outputs),
        }
    }

    fn check_elements(&self, elements: ElementsRef<'_>) -> Result<(), Error> {
        check_len("input", elements.data_type().name(), elements.len(), self.input().required_len())
    }

    /// Checks the input and its mask, before anything is made that is as large as a hostile shape says.
    pub(crate) fn check_input(&self, input: &ErasedInput<'_>) -> Result<(), Error> {
        self.check_elements(input.elements)?;
        input.mask.map_or(Ok(()), |mask| mask.places(self.input().sizes()).map(|_| ()))
    }

    /// As [`ErasedPlan::check_input`], of partial answers or others.
    pub(super) fn check_collect<I: Index>(&self, input: &ErasedInput<'_>, are_partial: bool) -> Result<(), Error> {
        if are_partial { self.check_typed_partials::<I>(input) } else { self.check_input(input) }
    }

    /// As [`ErasedPlan::run`], of what is there, with the executor of a call that is several tasks.
    #[inline(never)]
    fn run_masked(
        &self,
        named: &Named,
        input: &ErasedInput<'_>,
        mask: Mask<'_>,
        slices: &mut OutputSlices<'_>,
    ) -> Result<(), Error> {
        self.check_slices(named, input.elements, slices)?;
        let has_outputs = self.has_outputs(input.elements)?;
        let mask = mask.places(self.input().sizes())?;
        if !has_outputs {
            return Ok(());
        }
        if are_all_there(mask, self.input()) {
            run(self.bind(input.elements).into(), [slices], input.executor);
            return Ok(());
        }
        // The first output without an element, by its place among the packed ones.
        let mut nothing_at = None;
        let packed = Layout::contiguous(self.output().sizes())?;
        let mut write = |found: &FoundBlock<'_>| {
            found.for_each_run([self.output(), &packed], |[to, value_to], [step, value_step], outputs| {
                found.write_indices(outputs.clone(), self.fill().unwrap_or(0), &mut slices.indices, (to, step));
                if let Some(n) = found.indices[outputs.clone()].iter().position(|&index| index == u64::MAX) {
                    let output = value_to + n * value_step as usize;
                    nothing_at = Some(nothing_at.map_or(output, |first: usize| first.min(output)));
                }
                if let Some(values) = &mut slices.values {
                    found.write_values(outputs, values, (value_to, value_step));
                }
            });
        };
        self.find_masked(input.elements, mask, input.executor, &mut write);
        match (nothing_at, self.fill()) {
            (Some(place), None) => Err(self.nothing_there(place)),
            _ => Ok(()),
        }
    }

    /// Finds the best of what is there, and hands it on. The plan has outputs.
    ///
    /// # Panics
    /// As [`ErasedPlan::bind`].
    #[allow(unsafe_code)]
    pub(crate) fn find_masked(
        &self,
        elements: ElementsRef<'_>,
        mask: MaskPlaces<'_>,
        executor: Option<&dyn Executor>,
        write: &mut (dyn FnMut(&FoundBlock<'_>) + Send),
    ) {
        let (function, policy) = self.order();
        // SAFETY: as in `bind`: the input is as long as its layout needs, which `new` asserts, and a view comes with
        // its layout.
        let reduction = unsafe {
            MaskedReduction::new(
                (elements, self.input(), mask),
                (self.axes(), self.direction(), function, policy),
                self.window(),
                (self.isa(), self.exec()),
            )
        };
        run_masked(&reduction, executor, write);
    }

    /// The error for an output, given by its number among the packed ones.
    pub(crate) fn nothing_there(&self, output: usize) -> Error {
        let rank = if self.output().element_count() == 1 { 0 } else { self.output().sizes().len() };
        let (mut left, mut position) = (output, vec![0; rank]);
        for (at, &size) in position.iter_mut().zip(self.output().sizes()).rev() {
            (*at, left) = (left % size, left / size);
        }
        Error::NothingThere { output: position }
    }
}

/// Plans for the smallest and the largest, and the kernel for both, if there is one.
#[derive(Clone, Copy)]
pub(super) struct ErasedBoth<'a> {
    plans: [&'a ErasedPlan; 2],
    kernel: Option<BothKernel>,
}

impl<'a> ErasedBoth<'a> {
    /// # Safety
    /// - Both plans are made of one description, for the smallest and the largest.
    /// - The kernel is the [`both_kernel`](crate::exec::both_kernel) of the first.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(super) unsafe fn new(plans: [&'a ErasedPlan; 2], kernel: Option<BothKernel>) -> Self {
        ErasedBoth { plans, kernel }
    }

    /// Writes indices, and values if there are any, of both. That all slices are long enough is checked before one is
    /// written.
    #[inline(always)]
    pub(super) fn run(
        self,
        named: [&Named; 2],
        input: ErasedInput<'_>,
        [min, max]: [Indices<'_>; 2],
        [lowest, highest]: [Option<Values<'_>>; 2],
    ) -> Result<(), Error> {
        let executor = self.plans[0].for_several(&input);
        let (to_min, to_max) =
            (&mut OutputSlices { indices: min, values: lowest }, &mut OutputSlices { indices: max, values: highest });
        match input.mask {
            None => self.run_outlined(named, input.elements, [to_min, to_max], executor),
            Some(mask) => self.run_masked(named, &ErasedInput { executor, ..input }, mask, [to_min, to_max]),
        }
    }

    #[inline(never)]
    fn run_outlined(
        self,
        [of_min, of_max]: [&Named; 2],
        elements: ElementsRef<'_>,
        [to_min, to_max]: [&mut OutputSlices<'_>; 2],
        executor: Option<&dyn Executor>,
    ) -> Result<(), Error> {
        let [min, max] = self.plans;
        min.check_slices(of_min, elements, to_min)?;
        max.check_slices(of_max, elements, to_max)?;
        if min.has_outputs(elements)? {
            run(self.bind(elements), [to_min, to_max], executor);
        }
        Ok(())
    }

    #[allow(unsafe_code)]
    fn bind(self, elements: ElementsRef<'a>) -> Search<'a, 2> {
        // SAFETY: who made this has promised that the plans differ in their order alone, and whose kernel it is.
        unsafe { Search::of_both(self.plans.map(|plan| plan.bind(elements)), self.kernel) }
    }

    /// One after the other.
    #[inline(never)]
    fn run_masked(
        self,
        [of_min, of_max]: [&Named; 2],
        input: &ErasedInput<'_>,
        mask: Mask<'_>,
        [to_min, to_max]: [&mut OutputSlices<'_>; 2],
    ) -> Result<(), Error> {
        let ErasedBoth { plans: [min, max], .. } = self;
        max.check_slices(of_max, input.elements, to_max)?;
        min.run_masked(of_min, input, mask, to_min)?;
        max.run_masked(of_max, input, mask, to_max)
    }

    /// Writes indices and values, or partial answers, of both to buffers.
    pub(super) fn run_untyped(
        self,
        named: [&Named; 2],
        input: ErasedInput<'_>,
        to: [UntypedPlaces<'_>; 2],
    ) -> Result<(), Error> {
        if to.iter().all(|to| !to.are_partial) {
            let [min, max] = to.map(|to| to.slices);
            return self.run(named, input, [min.indices, max.indices], [min.values, max.values]);
        }
        for ((plan, to), named) in self.plans.into_iter().zip(&to).zip(named) {
            if to.are_partial {
                plan.check_packed(named, &input, &to.slices)?;
            } else {
                plan.check_slices(named, input.elements, &to.slices)?;
                plan.has_outputs(input.elements)?;
            }
        }
        if to.iter().all(|to| to.are_partial) {
            return self.run_apart(&input, to.map(|to| to.slices), [1, 1]);
        }
        let mut each = self.plans.into_iter().zip(to).zip(named);
        each.try_for_each(|((plan, UntypedPlaces { slices, are_partial }), named)| {
            if are_partial {
                plan.run_packed(named, &input, slices)
            } else {
                plan.run(named, input, slices.indices, slices.values)
            }
        })
    }

    /// As [`ErasedPlan::run_apart`], of both.
    pub(super) fn run_apart(
        self,
        input: &ErasedInput<'_>,
        [mut min, mut max]: [OutputSlices<'_>; 2],
        steps: Steps,
    ) -> Result<(), Error> {
        let plan = self.plans[0];
        if input.mask.is_none() && plan.output().element_count() > 0 && plan.empty_axis().is_none() {
            run_packed(self.bind(input.elements), [&mut min, &mut max], steps, plan.for_several(input));
            return Ok(());
        }
        self.plans[0].run_apart(input, min, steps)?;
        self.plans[1].run_apart(input, max, steps)
    }
}
