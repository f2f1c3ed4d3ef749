//! Runs a plan on threads that the caller lends. Which thread does what changes no answer: each part is done once, and
//! writes what no other part does.

use super::call::{Call, Places};
use super::elements::{ElementsRef, Order, Outputs, Values};
use super::partials::{run_interleaved, run_partials};
use super::run::{run, run_distinct};
use super::slices::Slices;
use super::split::Best;
use super::tiles::{Grid, OutputTile, TILE, split};
use super::write::{copy_answers, copy_to_broadcast};
use crate::partial::Partial;
use crate::planner::{Division, ExecPlan, LoopNest, MAX_PARTIALS, OutputBytes, OutputParts, Parts, ReductionParts};
use crate::threads::{Executor, claims::Claims};
use crate::{Element, Index};
use argreduce_kernels::{StridedIter, Tuning, WorkingSet, offset_at};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// As [`run`], on the threads of an executor, if the call is worth more than one.
pub(crate) fn run_on(
    plan: &ExecPlan,
    order: Order,
    required_len: usize,
    slices: &mut Slices<'_>,
    executor: &dyn Executor,
) {
    assert!(slices.input.len() >= required_len);
    let bytes = OutputBytes { index: slices.indices.width(), value: slices.values.as_ref().map(Values::size) };
    match plan.divide(executor.width(), executor.min_task_bytes(), bytes) {
        Some(division) => Lent { division, executor }.answer(plan, order, slices),
        None => run(plan, order, required_len, slices),
    }
}

/// As [`run_partials`], on the threads of an executor.
pub(crate) fn run_partials_on<T: Element, I: Index>(
    plan: &ExecPlan,
    order: Order,
    required_len: usize,
    input: ElementsRef<'_>,
    partials: &mut [Partial<T, I>],
    executor: &dyn Executor,
) {
    assert!(input.len() >= required_len);
    let packed = &ExecPlan { shape: plan.shape.packed(true), ..*plan };
    let bytes = OutputBytes { index: size_of::<Partial<T, I>>(), value: None };
    let Some(division) = packed.divide(executor.width(), executor.min_task_bytes(), bytes) else {
        return run_partials(plan, order, required_len, input, partials);
    };
    let lent = Lent { division, executor };
    let working_set = lent.working_set(packed);
    match &lent.division.parts {
        Parts::Outputs(parts) => {
            let outputs = Outputs::from(&mut *partials);
            lent.for_each_part(parts.count, || {
                let (mut part, mut lent) = (parts.plan(packed, working_set), outputs.lend());
                let address = |place| outputs.address(place);
                move |n| {
                    parts.for_each_plan(packed, n, &address, &mut part, &mut |part| {
                        run_interleaved(part, order, input, &mut lent);
                    });
                }
            });
        }
        Parts::Reduction(_) => {
            // As few outputs as these.
            let (mut indices, mut values) = ([I::NONE; MAX_PARTIALS], [T::ZERO; MAX_PARTIALS]);
            let slices =
                &mut Slices { input, indices: indices[..].as_mut().into(), values: Some(values[..].as_mut().into()) };
            lent.answer(&ExecPlan { shape: plan.shape.packed(false), ..*plan }, order, slices);
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

/// Threads of an executor, and what each does.
struct Lent<'a> {
    division: Division,
    executor: &'a dyn Executor,
}

impl Lent<'_> {
    /// Answers every output.
    fn answer(&self, plan: &ExecPlan, order: Order, slices: &mut Slices<'_>) {
        match &self.division.parts {
            Parts::Outputs(parts) => self.run_outputs(parts, plan, order, slices),
            Parts::Reduction(parts) => self.run_reduction(parts, plan, order, slices),
        }
        copy_answers([&plan.shape.output, &plan.shape.values], slices);
    }

    /// That of a share: what each thread reads, call after call, may stay in its own L2 cache. All else is shared.
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
    fn run_outputs(&self, parts: &OutputParts, plan: &ExecPlan, order: Order, slices: &Slices<'_>) {
        let working_set = self.working_set(plan);
        self.for_each_part(parts.count, || {
            let (mut part, mut lent) = (parts.plan(plan, working_set), slices.lend());
            move |n| {
                let address = |place| slices.indices.address(place);
                parts.for_each_plan(plan, n, &address, &mut part, &mut |part| {
                    run_distinct(part, order, &mut lent);
                });
            }
        });
    }

    /// Finds the positions of blocks of the reduction, and merges them.
    fn run_reduction(&self, parts: &ReductionParts, plan: &ExecPlan, order: Order, slices: &mut Slices<'_>) {
        if parts.count() * parts.group_outputs <= FEW_PARTIALS {
            let buffers = (&mut [0; FEW_PARTIALS][..], &mut [0; FEW_PARTIALS][..], &mut [0; FEW_PARTIALS][..]);
            self.run_blocks(parts, plan, order, slices, buffers);
        } else {
            let buffers = (&mut [0; MAX_PARTIALS][..], &mut [0; TILE][..], &mut [0; TILE][..]);
            self.run_blocks(parts, plan, order, slices, buffers);
        }
    }

    /// The same with buffers: for the positions of all blocks; and for a group, for where its best are, and for their
    /// positions.
    #[inline(never)]
    fn run_blocks(
        &self,
        parts: &ReductionParts,
        plan: &ExecPlan,
        order: Order,
        slices: &mut Slices<'_>,
        (found, places, positions): (&mut [u32], &mut [usize], &mut [u64]),
    ) {
        let (Some((.., kernel)), shape, blocks) = (plan.kernel, &plan.shape, &parts.blocks) else { return };
        let group = |nest: &LoopNest, n: usize| {
            let (around, dims) = nest.output_dims().split_at(parts.around);
            Grid { start: nest.start as isize + offset_at(around, n), dims: split(dims).1 }
        };
        let partials = Outputs::from(&mut *found);
        let (input, working_set) = (slices.input, self.working_set(plan));
        self.for_each_part(parts.count(), || {
            let mut partials = partials.lend();
            move |n| {
                let Grid { start, dims: outputs } = group(&shape.input, n / blocks.count());
                let input = input.address(start + blocks.start(n % blocks.count()).1);
                let positions = Places::from(partials.part(n * parts.group_outputs, parts.group_outputs));
                let reduced = blocks.dims();
                Call { kernel, input, outputs, reduced, working_set }.find(positions, None);
            }
        });
        let mut found = found.chunks_exact(parts.group_outputs);
        for n in 0..parts.groups {
            let [input, output, values] = [&shape.input, &shape.output, &shape.values].map(|nest| group(nest, n));
            let tile = OutputTile { input, output, values };
            let mut best = Best::new(&tile, places, positions);
            for (block, found) in found.by_ref().take(blocks.count()).enumerate() {
                best.merge(blocks, block, found, slices.input, order);
            }
            best.write(shape, slices);
        }
    }
}
