//! Runs a plan on threads that the caller lends. Which thread does what changes no answer: each part is done once, and
//! writes what no other part does.
#![allow(unsafe_code)]

use super::both::{BoundBoth, run_both, run_both_distinct};
use super::input::BoundPlan;
use super::outputs::OutputSlice;
use super::partials::{run_interleaved, run_partials, write_partials};
use super::run::{run, run_distinct};
use super::slices::OutputSlices;
use super::split::{Best, FEW_PARTIALS, Settled, find_best, write_best};
use super::values::Values;
use super::write::{copy_answers, copy_packed};
use crate::partial::Partial;
use crate::planner::{
    CollapsedShape, Division, ExecPlan, MAX_PARTIALS, OutputBytes, OutputParts, Parts, ReductionParts,
};
use crate::threads::{Executor, Sequential, for_each_part};
use crate::{Element, Index};
use argreduce_kernels::{Tuning, WorkingSet};

/// As [`run`], on the threads of an executor, if the call is worth more than one.
pub(crate) fn run_on(bound: &BoundPlan<'_>, slices: &mut OutputSlices<'_>, executor: &dyn Executor) {
    let bytes = OutputBytes { index: slices.indices.width(), value: slices.values.as_ref().map(Values::size) };
    match bound.plan().divide(executor, bytes) {
        Some(division) => DividedCall { division, executor, both: None }.answer([(bound, slices)]),
        None => run(bound, slices),
    }
}

/// As [`run_on`], of two plans that differ in their order alone, of the same input: by the kernel for both, if there is
/// one; or one after the other, beyond L2 part by part, so that the second finds in a cache what the first has read.
pub(crate) fn run_both_on(
    bounds: [&BoundPlan<'_>; 2],
    both: Option<BoundBoth<'_>>,
    slices: [&mut OutputSlices<'_>; 2],
    executor: Option<&dyn Executor>,
) {
    match (both, executor) {
        (Some(both), None) => run_both(both, slices),
        (None, None) if bounds[0].plan().working_set() == WorkingSet::L2 => {
            bounds.into_iter().zip(slices).for_each(|(bound, slices)| run(bound, slices));
        }
        (_, executor) => divide_both(bounds, both, slices, executor.unwrap_or(&Sequential)),
    }
}

/// Up to so many bytes are read by the kernel for both without a pause: rows in the order of memory, in a part of a
/// second. See docs/tuning.md#not-measured.
const MAX_BYTES_OF_BOTH: usize = 2 << 30;

/// Outlined: what is divided takes much of the stack.
#[inline(never)]
fn divide_both(
    bounds: [&BoundPlan<'_>; 2],
    both: Option<BoundBoth<'_>>,
    [min, max]: [&mut OutputSlices<'_>; 2],
    executor: &dyn Executor,
) {
    let bytes = OutputBytes { index: min.indices.width(), value: min.values.as_ref().map(Values::size) };
    let plan = bounds[0].plan();
    let (division, both) = match (plan.divide(executor, bytes), both) {
        (None, Some(both)) => return run_both(both, [min, max]),
        (Some(division @ Division { parts: Parts::Outputs(_), .. }), Some(both)) => (Some(division), Some(both)),
        // Two searches take longer than one, and a longer wait for a pause is short all the same.
        (Some(Division { tasks: 1, .. }), Some(both)) if plan.input_bytes() < MAX_BYTES_OF_BOTH => {
            return run_both(both, [min, max]);
        }
        _ => (plan.divide_for_several(executor, bytes), None),
    };
    match division {
        Some(division) => DividedCall { division, executor, both }.answer([(bounds[0], min), (bounds[1], max)]),
        None => {
            run(bounds[0], min);
            run(bounds[1], max);
        }
    }
}

/// As [`run_packed`](super::run_packed), on the threads of an executor.
pub(crate) fn run_packed_on(bound: &BoundPlan<'_>, slices: &mut OutputSlices<'_>, executor: &dyn Executor) {
    let packed = &bound.plan().packed();
    // SAFETY: packed are only the outputs: the loops over the input are the plan's.
    run_on(&unsafe { bound.with_plan(packed) }, slices, executor);
}

/// As [`run_partials`], on the threads of an executor.
pub(crate) fn run_partials_on<T: Element, I: Index>(
    bound: &BoundPlan<'_>,
    partials: &mut [Partial<T, I>],
    executor: &dyn Executor,
) {
    let plan = bound.plan();
    let packed = &plan.packed();
    let bytes = OutputBytes { index: size_of::<Partial<T, I>>(), value: None };
    let Some(division) = packed.divide(executor, bytes) else {
        return run_partials(bound, partials);
    };
    let call = DividedCall { division, executor, both: None };
    match &call.division.parts {
        Parts::Outputs(parts) => {
            // SAFETY: as in `run_packed_on`.
            call.run_partials(parts, &unsafe { bound.with_plan(packed) }, &OutputSlice::from(&mut *partials));
        }
        Parts::Reduction(parts) => {
            let mut partials = OutputSlice::from(&mut *partials);
            // SAFETY: as in `run_packed_on`; and they are outputs of the plan, all of which are found.
            call.run_reduction(parts, [&unsafe { bound.with_plan(packed) }], &mut |_, outputs, best| unsafe {
                write_partials(bound.input(), outputs, best, &mut partials);
            });
        }
    }
    copy_packed(plan.shape(), partials);
}

/// A call that the threads of an executor share, and how.
struct DividedCall<'a> {
    division: Division,
    executor: &'a dyn Executor,
    /// Of two plans with parts of outputs.
    both: Option<BoundBoth<'a>>,
}

impl DividedCall<'_> {
    /// Answers every output of plans that have the same loops.
    fn answer<const N: usize>(&self, calls: [(&BoundPlan<'_>, &mut OutputSlices<'_>); N]) {
        let bounds = calls.each_ref().map(|&(bound, _)| bound);
        let mut slices = calls.map(|(_, slices)| slices);
        match &self.division.parts {
            Parts::Outputs(parts) => self.run_outputs(parts, bounds, slices.each_ref().map(|slices| &**slices)),
            Parts::Reduction(parts) => self.run_reduction(parts, bounds, &mut |n, outputs, best| {
                // SAFETY: they are outputs of the plan, all of which are found.
                unsafe { write_best(bounds[n].input(), outputs, best, slices[n]) };
            }),
        }
        for (bound, slices) in bounds.into_iter().zip(slices) {
            copy_answers(bound.plan().shape(), slices);
        }
    }

    /// The working set of a thread: what each reads, call after call, may stay in its own L2 cache. All else is shared.
    fn working_set(&self, plan: &ExecPlan) -> WorkingSet {
        match Tuning::current().working_set(plan.input_bytes() / self.division.tasks) {
            WorkingSet::L2 => WorkingSet::L2,
            _ => plan.working_set(),
        }
    }

    /// Does each of so many parts once: on the executor's threads, and what is left then, on this one. Each task that
    /// finds one has a worker of its own.
    fn for_each_part<W: FnMut(usize)>(&self, parts: usize, worker: impl Fn() -> W + Sync) {
        let pause = self.executor.pause();
        for_each_part(self.executor, self.division.tasks, parts, &|claim| {
            // Made for the first part: the caller most often finds that none is left.
            let mut do_part = None;
            claim(&mut |part| {
                pause.into_iter().for_each(|pause| pause());
                do_part.get_or_insert_with(&worker)(part);
            });
        });
    }

    /// Answers parts of the outputs, each as plans of its own.
    fn run_outputs<const N: usize>(
        &self,
        parts: &OutputParts,
        bounds: [&BoundPlan<'_>; N],
        slices: [&OutputSlices<'_>; N],
    ) {
        let (working_set, both) = (self.working_set(bounds[0].plan()), self.both);
        self.for_each_part(parts.count, || {
            // SAFETY: a task writes outputs of the parts that it claims, and nothing else is written meanwhile. Each
            // part is claimed once (`Claims`, tested by loom). Parts have no output in common (a test of
            // `planner/division.rs`), and an output layout has a place for each (`check_output` in `api/erased.rs`).
            let mut lent = slices.map(|slices| unsafe { slices.lend() });
            let mut plans = bounds.map(|bound| parts.plan(bound.plan(), working_set));
            move |part| {
                if let (Some(both), [min, max]) = (both, &mut lent[..]) {
                    // By the lines of the first slice: in the other, two tasks may write to one.
                    let address = |place| slices[0].indices.address(place);
                    return parts.for_each_plan(bounds[0].plan(), part, &address, &mut plans[0], &mut |part| {
                        // SAFETY: it is a part of the outputs of both, each with all that it is chosen from.
                        unsafe { both.for_part(part, |both| run_both_distinct(both, [min, max])) };
                    });
                }
                for (n, (bound, plan)) in bounds.into_iter().zip(&mut plans).enumerate() {
                    let address = |place| slices[n].indices.address(place);
                    parts.for_each_plan(bound.plan(), part, &address, plan, &mut |part| {
                        // SAFETY: it is a part of the plan's outputs, each with all that it is chosen from.
                        run_distinct(&unsafe { bound.with_plan(part) }, &mut lent[n]);
                    });
                }
            }
        });
    }

    /// Answers parts of the outputs with partials.
    fn run_partials<T: Element, I: Index>(
        &self,
        parts: &OutputParts,
        bound: &BoundPlan<'_>,
        partials: &OutputSlice<'_, Partial<T, I>>,
    ) {
        let (plan, working_set) = (bound.plan(), self.working_set(bound.plan()));
        self.for_each_part(parts.count, || {
            // SAFETY: as in `run_outputs`; partials are packed.
            let (mut part, mut lent) = (parts.plan(plan, working_set), unsafe { partials.lend() });
            let address = |place| partials.address(place);
            move |n| {
                parts.for_each_plan(plan, n, &address, &mut part, &mut |part| {
                    // SAFETY: as in `run_outputs`.
                    run_interleaved(&unsafe { bound.with_plan(part) }, &mut lent);
                });
            }
        });
    }

    /// Finds the best elements of parts of the reduction, and merges them.
    fn run_reduction<const N: usize>(
        &self,
        parts: &ReductionParts,
        bounds: [&BoundPlan<'_>; N],
        write: &mut dyn FnMut(usize, &CollapsedShape, &[Best]),
    ) {
        if parts.count * parts.outputs <= FEW_PARTIALS {
            self.merge_parts(
                parts,
                bounds,
                write,
                [[Best::NONE; FEW_PARTIALS]; N].each_mut().map(|found| &mut found[..]),
            );
        } else {
            self.merge_parts(
                parts,
                bounds,
                write,
                [[Best::NONE; MAX_PARTIALS]; N].each_mut().map(|found| &mut found[..]),
            );
        }
    }

    /// With a buffer for those of each plan.
    #[inline(never)]
    fn merge_parts<const N: usize>(
        &self,
        parts: &ReductionParts,
        bounds: [&BoundPlan<'_>; N],
        write: &mut dyn FnMut(usize, &CollapsedShape, &[Best]),
        mut found: [&mut [Best]; N],
    ) {
        let (plan, whole) = (bounds[0].plan(), parts.shape(bounds[0].plan().shape()));
        let partials = found.each_mut().map(|found| OutputSlice::from(&mut **found));
        let (working_set, settled) = (self.working_set(plan), bounds.map(Settled::new));
        let pause = self.executor.pause();
        self.for_each_part(parts.count, || {
            // SAFETY: a task writes the answers of the parts that it claims, each of which is claimed once (`Claims`,
            // tested by loom), and nothing else is written meanwhile. Those of a part begin behind those of the one
            // before.
            let mut lent = partials.each_ref().map(|partials| unsafe { partials.lend() });
            let (mut part, settled) = (whole, &settled);
            let plans = bounds.map(|bound| bound.plan().with_shape(whole, working_set));
            move |at| {
                for piece in at * parts.pieces..(at + 1) * parts.pieces {
                    parts.move_to(&whole, piece, &mut part);
                    for (n, bound) in bounds.into_iter().enumerate().filter(|&(n, _)| !settled[n].is_before(&part)) {
                        let best = lent[n].range(at * parts.outputs, parts.outputs);
                        // SAFETY: some of what the plan's outputs are chosen from (a test of `planner/division.rs`).
                        unsafe { find_best(&bound.with_plan(&plans[n]), &part, best) };
                        settled[n].add(best);
                    }
                    pause.into_iter().for_each(|pause| pause());
                }
            }
        });
        for (n, found) in found.into_iter().enumerate() {
            let (best, others) = found[..parts.count * parts.outputs].split_at_mut(parts.outputs);
            for others in others.chunks_exact(parts.outputs) {
                best.iter_mut().zip(others).for_each(|(best, other)| best.merge(*other));
            }
            write(n, &whole.kept(), best);
        }
    }
}
