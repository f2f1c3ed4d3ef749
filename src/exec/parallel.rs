//! Runs a plan on threads that the caller lends. Which thread does what changes no answer: each part is done once, and
//! writes what no other part does.
#![allow(unsafe_code)]

use super::call::{KernelCall, PositionPlaces};
use super::input::BoundPlan;
use super::outputs::OutputSlice;
use super::partials::{run_interleaved, run_partials};
use super::run::{run, run_distinct};
use super::slices::OutputSlices;
use super::split::Best;
use super::tiles::{Grid, OutputTile, TILE, split};
use super::values::Values;
use super::write::{copy_answers, copy_to_broadcast};
use crate::partial::Partial;
use crate::planner::{Division, ExecPlan, LoopNest, MAX_PARTIALS, OutputBytes, OutputParts, Parts, ReductionParts};
use crate::threads::{Executor, claims::Claims};
use crate::{Element, Index};
use argreduce_kernels::{StridedIter, Tuning, WorkingSet, offset_at};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// As [`run`], on the threads of an executor, if the call is worth more than one.
pub(crate) fn run_on(bound: &BoundPlan<'_>, slices: &mut OutputSlices<'_>, executor: &dyn Executor) {
    let bytes = OutputBytes { index: slices.indices.width(), value: slices.values.as_ref().map(Values::size) };
    match bound.plan().divide(executor.width(), executor.min_task_bytes(), bytes) {
        Some(division) => DividedCall { division, executor }.answer(bound, slices),
        None => run(bound, slices),
    }
}

/// As [`run_packed`](super::run_packed), on the threads of an executor.
pub(crate) fn run_packed_on(bound: &BoundPlan<'_>, slices: &mut OutputSlices<'_>, executor: &dyn Executor) {
    let packed = &ExecPlan { shape: bound.plan().shape.packed(true), ..*bound.plan() };
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
    let packed = &ExecPlan { shape: plan.shape.packed(true), ..*plan };
    let bytes = OutputBytes { index: size_of::<Partial<T, I>>(), value: None };
    let Some(division) = packed.divide(executor.width(), executor.min_task_bytes(), bytes) else {
        return run_partials(bound, partials);
    };
    let call = DividedCall { division, executor };
    match &call.division.parts {
        Parts::Outputs(parts) => {
            // SAFETY: as in `run_packed_on`.
            call.run_partials(parts, &unsafe { bound.with_plan(packed) }, &OutputSlice::from(&mut *partials));
        }
        Parts::Reduction(_) => {
            // As few outputs as these.
            let (mut indices, mut values) = ([I::NONE; MAX_PARTIALS], [T::ZERO; MAX_PARTIALS]);
            let slices =
                &mut OutputSlices { indices: indices[..].as_mut().into(), values: Some(values[..].as_mut().into()) };
            let packed = &ExecPlan { shape: plan.shape.packed(false), ..*plan };
            // SAFETY: as in `run_packed_on`, without the loops over copies.
            call.answer(&unsafe { bound.with_plan(packed) }, slices);
            let nest = &plan.shape.values;
            let answers = values.into_iter().zip(indices);
            for (offset, (value, index)) in StridedIter::new(nest.output_dims()).zip(answers) {
                partials[(nest.start as isize + offset) as usize] = Partial { value, index };
            }
        }
    }
    copy_to_broadcast(&plan.shape.values, partials);
}

/// As many positions as short calls have: larger buffers would take them longer to clear. See
/// docs/tuning.md#not-measured.
const FEW_PARTIALS: usize = 64;

/// A call that the threads of an executor share, and how.
struct DividedCall<'a> {
    division: Division,
    executor: &'a dyn Executor,
}

impl DividedCall<'_> {
    /// Answers every output.
    fn answer(&self, bound: &BoundPlan<'_>, slices: &mut OutputSlices<'_>) {
        let plan = bound.plan();
        match &self.division.parts {
            Parts::Outputs(parts) => self.run_outputs(parts, bound, slices),
            Parts::Reduction(parts) => self.run_reduction(parts, bound, slices),
        }
        copy_answers([&plan.shape.output, &plan.shape.values], slices);
    }

    /// The working set of a thread: what each reads, call after call, may stay in its own L2 cache. All else is shared.
    fn working_set(&self, plan: &ExecPlan) -> WorkingSet {
        match Tuning::current().working_set(plan.input_bytes / self.division.tasks) {
            WorkingSet::L2 => WorkingSet::L2,
            _ => plan.working_set,
        }
    }

    /// Does each of so many parts once: on the executor's threads, and what is left then, on this one. Each task that
    /// finds one has a worker of its own.
    fn for_each_part<W: FnMut(usize)>(&self, parts: usize, worker: impl Fn() -> W + Sync) {
        let done = AtomicUsize::new(0);
        Claims::with(parts, self.division.tasks, |claims| {
            let work = |task: usize| {
                // Made for the first part: the caller most often finds that none is left.
                let mut do_part = None;
                claims.work(task, |part| {
                    do_part.get_or_insert_with(&worker)(part);
                    if cfg!(debug_assertions) {
                        done.fetch_add(1, Relaxed);
                    }
                });
            };
            self.executor.parallel_for(self.division.tasks, &work);
            work(0);
        });
        debug_assert!(!cfg!(debug_assertions) || done.into_inner() == parts, "each part is done once");
    }

    /// Answers parts of the outputs, each as a plan of its own.
    fn run_outputs(&self, parts: &OutputParts, bound: &BoundPlan<'_>, slices: &OutputSlices<'_>) {
        let (plan, working_set) = (bound.plan(), self.working_set(bound.plan()));
        self.for_each_part(parts.count, || {
            // SAFETY: a task writes outputs of the parts that it claims, and nothing else is written meanwhile. Each
            // part is claimed once (`Claims`, tested by loom). Parts have no output in common (a test of
            // `planner/division.rs`), and an output layout has a place for each (`check_output` in `api/builder.rs`).
            let (mut part, mut lent) = (parts.plan(plan, working_set), unsafe { slices.lend() });
            move |n| {
                let address = |place| slices.indices.address(place);
                parts.for_each_plan(plan, n, &address, &mut part, &mut |part| {
                    // SAFETY: it is a part of the plan's outputs, each with all that it is chosen from.
                    run_distinct(&unsafe { bound.with_plan(part) }, &mut lent);
                });
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

    /// Finds the positions of slabs of the reduction, and merges them.
    fn run_reduction(&self, parts: &ReductionParts, bound: &BoundPlan<'_>, slices: &mut OutputSlices<'_>) {
        if parts.count() * parts.group_outputs <= FEW_PARTIALS {
            let buffers = (&mut [0; FEW_PARTIALS][..], &mut [0; FEW_PARTIALS][..], &mut [0; FEW_PARTIALS][..]);
            self.run_slabs(parts, bound, slices, buffers);
        } else {
            let buffers = (&mut [0; MAX_PARTIALS][..], &mut [0; TILE][..], &mut [0; TILE][..]);
            self.run_slabs(parts, bound, slices, buffers);
        }
    }

    /// Finds and merges with buffers: for the positions of all slabs; and for a group, for where its best are, and for
    /// their positions.
    #[inline(never)]
    fn run_slabs(
        &self,
        parts: &ReductionParts,
        bound: &BoundPlan<'_>,
        slices: &mut OutputSlices<'_>,
        (found, places, positions): (&mut [u32], &mut [usize], &mut [u64]),
    ) {
        let plan = bound.plan();
        let (Some((.., kernel)), shape, slabs) = (plan.kernel, &plan.shape, &parts.slabs) else { return };
        let group = |nest: &LoopNest, n: usize| {
            let (around, dims) = nest.output_dims().split_at(parts.around);
            Grid { start: nest.start as isize + offset_at(around, n), dims: split(dims).1 }
        };
        let partials = OutputSlice::from(&mut *found);
        let working_set = self.working_set(plan);
        self.for_each_part(parts.count(), || {
            // SAFETY: a task writes the positions of the parts that it claims, each of which is claimed once (`Claims`,
            // tested by loom), and nothing else is written meanwhile. Those of part `n` begin behind those of the part
            // before.
            let mut partials = unsafe { partials.lend() };
            move |n| {
                let mut grid = group(&shape.input, n / slabs.count());
                grid.start += slabs.start(n % slabs.count()).1;
                // SAFETY: a group of the plan's outputs, and a slab of its reduced loops (a test of
                // `planner/slabs.rs`), none of which has more elements than positions count (`reduction_parts` in
                // `planner/division.rs`). What a bound plan reaches are elements of the input, for whose size its
                // kernel is.
                let call = unsafe { KernelCall::new(kernel, bound.input(), grid, slabs.dims(), working_set) };
                let positions = partials.range(n * parts.group_outputs, parts.group_outputs);
                call.find(PositionPlaces::from(positions), None);
            }
        });
        let mut found = found.chunks_exact(parts.group_outputs);
        for n in 0..parts.groups {
            let [input, output, values] = [&shape.input, &shape.output, &shape.values].map(|nest| group(nest, n));
            let tile = OutputTile { input, output, values };
            // SAFETY: a group of the plan's outputs, and the slabs of its reduced loops.
            let mut best = unsafe { Best::new(bound, slabs, &tile, places, positions) };
            found.by_ref().take(slabs.count()).for_each(|found| best.merge(found));
            best.write(slices);
        }
    }
}
