//! Runs plans without types: checks the slices, then enters the executor. One copy for all types of elements, and for
//! all index types of a width.

use super::erased::ErasedPlan;
use super::input::ErasedInput;
use super::lengths::check_len;
use super::output::{Named, UntypedPlaces};
use crate::exec::{
    BoundPlan, CallMask, ElementsRef, Indices, OutputSlices, Search, Steps, Values, are_all_there, run, run_masked_row,
    run_one_output, run_packed,
};
use crate::mask::MaskPlaces;
use crate::{Error, Executor, Index, Mask};
use argreduce_kernels::{BothKernel, KeyCopier};
use std::array;

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
        // One contiguous row is answered here, without an outlined call: that would take as long as a few elements.
        if values.is_none()
            && input.mask.is_none()
            && self.exec().is_contiguous_row()
            && input.elements.len() >= self.input().required_len()
            && indices.len() >= self.output().required_len()
            && self.is_undivided(input.executor)
        {
            let (bound, start) = (self.bind(input.elements), self.exec().shape().output.start);
            run_one_output(&bound, start, &mut OutputSlices { indices, values: None });
            return Ok(());
        }
        // (A copy, or a row would wait until the input is in memory.)
        Plans::from(self).run([named], &{ input }, [&mut OutputSlices { indices, values }])
    }

    /// Whether a call is one task that does not pause.
    #[inline(always)]
    fn is_undivided(&self, executor: Option<&dyn Executor>) -> bool {
        executor.is_none_or(|executor| self.exec().is_undivided(executor))
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
        input.mask.map_or(Ok(()), |mask| mask.places(self.input()).map(|_| ()))
    }

    /// As [`ErasedPlan::check_input`], of partial answers or others.
    pub(super) fn check_collect<I: Index>(&self, input: &ErasedInput<'_>, are_partial: bool) -> Result<(), Error> {
        if are_partial { self.check_typed_partials::<I>(input) } else { self.check_input(input) }
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

/// What a call runs: a plan, or those for the smallest and the largest.
#[derive(Clone, Copy)]
pub(super) struct Plans<'a, const N: usize> {
    plans: [&'a ErasedPlan; N],
    /// For both, if there is one.
    kernel: Option<BothKernel>,
}

impl<'a> From<&'a ErasedPlan> for Plans<'a, 1> {
    #[inline(always)]
    fn from(plan: &'a ErasedPlan) -> Self {
        Plans { plans: [plan], kernel: None }
    }
}

impl<'a> Plans<'a, 2> {
    /// # Safety
    /// - Both plans are made of one description, for the smallest and the largest.
    /// - The kernel is the [`both_kernel`](crate::exec::both_kernel) of the first.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(super) unsafe fn of_both(plans: [&'a ErasedPlan; 2], kernel: Option<BothKernel>) -> Self {
        Plans { plans, kernel }
    }

    /// Writes indices and values, or partial answers, of both to buffers. All of it is checked before one is written.
    pub(super) fn run_untyped(
        self,
        named: [&Named; 2],
        input: ErasedInput<'_>,
        mut to: [UntypedPlaces<'_>; 2],
    ) -> Result<(), Error> {
        if to.iter().all(|to| !to.are_partial) {
            return self.run(named, &input, to.each_mut().map(|to| &mut to.slices));
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
        each.try_for_each(|((plan, UntypedPlaces { mut slices, are_partial }), named)| {
            if are_partial {
                plan.run_packed(named, &input, slices)
            } else {
                Plans::from(plan).run([named], &input, [&mut slices])
            }
        })
    }
}

impl<'a, const N: usize> Plans<'a, N> {
    /// Writes indices, and values if there are any. That all slices are long enough is checked before one is written.
    #[inline(always)]
    pub(super) fn run(
        self,
        named: [&Named; N],
        input: &ErasedInput<'_>,
        slices: [&mut OutputSlices<'_>; N],
    ) -> Result<(), Error> {
        match input.mask {
            None => self.run_outlined(named, input, slices),
            Some(mask) => self.run_masked(named, input, mask, slices),
        }
    }

    /// As [`Plans::run`], without a mask.
    #[inline(never)]
    fn run_outlined(
        self,
        named: [&Named; N],
        input: &ErasedInput<'_>,
        slices: [&mut OutputSlices<'_>; N],
    ) -> Result<(), Error> {
        if self.check(named, input.elements, &slices)? {
            match (self.plans[0].walk(), self.plans[0].keys()) {
                (Some(_), _) => self.scan(input.elements, None, slices, input.executor),
                (None, None) => run(self.bind(input.elements), slices, input.executor),
                (None, Some(keys)) => self.run_by_keys(input, keys, slices),
            }
        }
        Ok(())
    }

    /// As [`Plans::run_outlined`], by keys. Outlined, as what makes a large frame.
    #[cold]
    #[inline(never)]
    fn run_by_keys(self, input: &ErasedInput<'_>, keys: KeyCopier, slices: [&mut OutputSlices<'_>; N]) {
        self.search_by(input.elements, &CallMask::of_keys(keys), |search| run(search, slices, input.executor));
    }

    /// Writes the best so far of each element.
    fn scan(
        self,
        elements: ElementsRef<'_>,
        mask: Option<&CallMask<'_>>,
        slices: [&mut OutputSlices<'_>; N],
        executor: Option<&dyn Executor>,
    ) {
        for (plan, slices) in self.plans.into_iter().zip(slices) {
            plan.bind_scan(elements, mask).run(slices, executor);
        }
    }

    /// As [`Plans::run_outlined`], of what is there.
    #[inline(never)]
    fn run_masked(
        self,
        named: [&Named; N],
        input: &ErasedInput<'_>,
        mask: Mask<'_>,
        slices: [&mut OutputSlices<'_>; N],
    ) -> Result<(), Error> {
        let ErasedInput { elements, executor, .. } = *input;
        let (plan, has_outputs) = (self.plans[0], self.check(named, elements, &slices)?);
        let mask = mask.places(plan.input())?;
        if !has_outputs {
            return Ok(());
        }
        let (fill, isa) = (plan.fill(), plan.isa());
        if plan.walk().is_some() {
            let mask = (!are_all_there(&mask, plan.input().sizes()))
                .then(|| CallMask::new(mask, isa, fill.unwrap_or(0), None));
            self.scan(elements, mask.as_ref(), slices, executor);
            return match mask.and_then(|mask| mask.first_nothing()) {
                Some(output) if fill.is_none() => Err(plan.nothing_there(output)),
                _ => Ok(()),
            };
        }
        let first_nothing = match plan.first_of_row(&mask).filter(|_| plan.is_undivided(executor)) {
            Some(first) => self.run_row(elements, (&CallMask::new(mask, isa, fill.unwrap_or(0), None), first), slices),
            None => self.search(elements, Some(mask), fill.unwrap_or(0), |search| run(search, slices, executor)),
        };
        match (first_nothing, fill) {
            (Some(output), None) => Err(plan.nothing_there(output)),
            _ => Ok(()),
        }
    }

    /// Answers one row under a mask, which has its first element there. The output, if nothing is there.
    fn run_row(
        self,
        elements: ElementsRef<'_>,
        mask: (&CallMask<'_>, usize),
        slices: [&mut OutputSlices<'_>; N],
    ) -> Option<usize> {
        for (plan, slices) in self.plans.into_iter().zip(slices) {
            run_masked_row(&plan.bind(elements), mask, slices);
        }
        mask.0.first_nothing()
    }

    /// Checks all slices and the input. Whether there is anything to do.
    fn check(
        self,
        named: [&Named; N],
        elements: ElementsRef<'_>,
        slices: &[&mut OutputSlices<'_>; N],
    ) -> Result<bool, Error> {
        for ((plan, slices), named) in self.plans.into_iter().zip(slices).zip(named) {
            plan.check_slices(named, elements, slices)?;
        }
        self.plans[0].has_outputs(elements)
    }

    /// Writes the best element of each output and its index, each so many places behind the one before it. There is
    /// room, and the input has been checked.
    pub(super) fn run_apart(
        self,
        input: &ErasedInput<'_>,
        mut slices: [OutputSlices<'_>; N],
        steps: Steps,
    ) -> Result<(), Error> {
        let (plan, outputs) = (self.plans[0], self.plans[0].output().element_count());
        let mask = input.mask.map(|mask| mask.places(plan.input())).transpose()?;
        if outputs == 0 {
            return Ok(());
        }
        if plan.empty_axis().is_some() {
            for slices in &mut slices {
                slices.indices.fill_none(outputs, steps[0]);
                slices.values.iter_mut().for_each(|values| values.clear(0, outputs, steps[1]));
            }
        } else {
            let (slices, executor) = (slices.each_mut(), input.executor);
            self.search(input.elements, mask, -1, |search| run_packed(search, slices, steps, executor));
        }
        Ok(())
    }

    /// Runs what searches all that is there. The first output of which nothing is, whose index becomes `fill`.
    pub(super) fn search(
        self,
        elements: ElementsRef<'_>,
        mask: Option<MaskPlaces<'_>>,
        fill: i64,
        run: impl FnOnce(Search<'_, N>),
    ) -> Option<usize> {
        let (plan, keys) = (self.plans[0], self.plans[0].keys());
        match (mask.filter(|mask| !are_all_there(mask, plan.input().sizes())), keys) {
            (Some(mask), keys) => self.search_under(elements, CallMask::new(mask, plan.isa(), fill, keys), run),
            (None, Some(keys)) => {
                self.search_by(elements, &CallMask::of_keys(keys), run);
                None
            }
            (None, None) => {
                run(self.bind(elements));
                None
            }
        }
    }

    /// Runs what searches all elements by their keys.
    #[allow(unsafe_code)]
    fn search_by(self, elements: ElementsRef<'_>, keys: &CallMask<'_>, run: impl FnOnce(Search<'_, N>)) {
        // Of outputs of one element, nothing is compared.
        if self.plans[0].exec().kernel().is_none() {
            return run(self.bind(elements));
        }
        let bounds = self.plans.map(|plan| plan.bind(elements));
        // SAFETY: as in `bind`; and they were put under keys when they were made.
        run(unsafe { Search::under(bounds, keys) });
    }

    /// As [`Plans::search`], by plans under a mask. Outlined, because they make a large frame.
    #[inline(never)]
    #[allow(unsafe_code)]
    fn search_under(
        self,
        elements: ElementsRef<'_>,
        mask: CallMask<'_>,
        run: impl FnOnce(Search<'_, N>),
    ) -> Option<usize> {
        let mut exec = self.plans.map(|plan| *plan.exec());
        for (plan, exec) in self.plans.into_iter().zip(&mut exec) {
            plan.put_under(mask.places(), elements.data_type(), exec);
        }
        let bounds = array::from_fn(|n| {
            let required_len = self.plans[n].input().required_len();
            // SAFETY: each was made for the layout of its plan.
            unsafe { BoundPlan::new(&exec[n], self.plans[n].order(), required_len, elements) }
        });
        // SAFETY: as in `bind`; and they were made for this mask, which is as long as its layout needs.
        run(unsafe { Search::under(bounds, &mask) });
        mask.first_nothing()
    }

    #[allow(unsafe_code)]
    #[inline(always)]
    fn bind<'b>(self, elements: ElementsRef<'b>) -> Search<'b, N>
    where
        'a: 'b,
    {
        // SAFETY: there is one plan and no kernel for both; or `of_both` was told that the plans differ in their order
        // alone, and whose kernel it is.
        unsafe { Search::new(self.plans.map(|plan| plan.bind(elements)), self.kernel) }
    }
}
