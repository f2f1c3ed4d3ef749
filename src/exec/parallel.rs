//! Runs a plan on threads that the caller lends. Which thread does what changes no answer: each part is done once, and
//! writes what no other part does.

use super::call::{Call, Places};
use super::elements::{ElementsRef, Outputs, zero};
use super::partials::{run_interleaved, run_partials};
use super::row::Order;
use super::run::{Answer, copy_all, run, run_distinct, run_tiles};
use super::slices::Slices;
use super::split::{Best, IsBetter};
use super::tiles::{Grid, OutputTile, split};
use super::write::copy_to_broadcast;
use crate::parts::Partial;
use crate::planner::{Division, ExecPlan, LoopNest, MAX_PARTIALS, OutputBytes, OutputParts, Parts, ReductionParts};
use crate::threads::{Executor, claims::Claims};
use crate::{Element, Index};
use argreduce_kernels::{Prefetch, StridedIter, Tuning, offset_at};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// As [`run`], on the threads of an executor, if the call is worth more than one.
pub(crate) fn run_on<T: Element>(
    plan: &ExecPlan,
    order: Order,
    required_len: usize,
    slices: &mut Slices<'_, T>,
    executor: &dyn Executor,
) {
    assert!(slices.input.len() >= required_len);
    let bytes = OutputBytes { index: slices.indices.width(), value: slices.values.as_ref().map(|_| size_of::<T>()) };
    match plan.divide(executor.width(), executor.min_task_bytes(), bytes) {
        Some(division) => run_tiles(plan, order, slices, &Lent { division, executor }),
        None => run(plan, order, required_len, slices),
    }
}

/// As [`run_packed`](super::run_packed), on the threads of an executor.
pub(crate) fn run_packed_on<T: Element>(
    plan: &ExecPlan,
    order: Order,
    required_len: usize,
    slices: &mut Slices<'_, T>,
    executor: &dyn Executor,
) {
    let packed = ExecPlan { shape: plan.shape.packed(true), ..*plan };
    run_on(&packed, order, required_len, slices, executor);
}

/// As [`run_partials`], on the threads of an executor.
pub(crate) fn run_partials_on<T: Element, I: Index>(
    plan: &ExecPlan,
    order: Order,
    required_len: usize,
    input: ElementsRef<'_, T>,
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
    let packed = &lent.plan(packed);
    match &lent.division.parts {
        Parts::Outputs(parts) => {
            let outputs = Outputs::from(&mut *partials);
            lent.for_each_part(parts.count, || {
                let (mut part, mut lent) = (parts.plan(packed), outputs.lend());
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
            let (mut indices, mut values) = ([I::NONE; MAX_PARTIALS], [zero(); MAX_PARTIALS]);
            let slices =
                &mut Slices { input, indices: I::as_bits(&mut indices), values: Some(values[..].as_mut().into()) };
            run_tiles(&ExecPlan { shape: plan.shape.packed(false), ..*plan }, order, slices, &lent);
            let nest = &plan.shape.values;
            let answers = values.into_iter().zip(indices);
            for (offset, (value, index)) in StridedIter::new(nest.output_dims()).zip(answers) {
                partials[(nest.start as isize + offset) as usize] = Partial { value, index };
            }
        }
    }
    copy_to_broadcast(&plan.shape.values, partials);
}

/// Threads of an executor, and what each does.
struct Lent<'a> {
    division: Division,
    executor: &'a dyn Executor,
}

impl Answer for Lent<'_> {
    #[inline(never)]
    fn answer<T: Copy + Send + Sync>(&self, plan: &ExecPlan, is_better: &IsBetter<'_>, slices: &mut Slices<'_, T>) {
        let plan = &self.plan(plan);
        match &self.division.parts {
            Parts::Outputs(parts) => self.run_outputs(parts, plan, is_better, slices),
            Parts::Reduction(parts) => self.run_reduction(parts, plan, is_better, slices),
        }
        copy_all(&plan.shape, slices);
    }
}

impl Lent<'_> {
    /// The plan for a share: what each thread reads, call after call, may stay in its own L2 cache.
    fn plan(&self, plan: &ExecPlan) -> ExecPlan {
        let prefetch = match Tuning::current().prefetch(plan.input_bytes / self.division.tasks) {
            Prefetch::Nothing => Prefetch::Nothing,
            _ => plan.prefetch,
        };
        ExecPlan { prefetch, ..*plan }
    }

    /// Does each of so many parts once: on the executor's threads, and what is left then, on this one. Each task has a
    /// worker of its own.
    fn for_each_part<W: FnMut(usize)>(&self, parts: usize, worker: impl Fn() -> W + Sync) {
        let (claims, done) = (Claims::new(parts, self.division.tasks), AtomicUsize::new(0));
        let work = |task: usize| {
            let mut do_part = worker();
            claims.work(task, |part| {
                do_part(part);
                if cfg!(debug_assertions) {
                    done.fetch_add(1, Relaxed);
                }
            });
        };
        self.executor.parallel_for(self.division.tasks, &work);
        work(0);
        debug_assert!(!cfg!(debug_assertions) || done.into_inner() == parts, "each part is done once");
    }

    /// Answers parts of the outputs, each as a plan of its own.
    fn run_outputs<T: Copy + Send + Sync>(
        &self,
        parts: &OutputParts,
        plan: &ExecPlan,
        is_better: &IsBetter<'_>,
        slices: &Slices<'_, T>,
    ) {
        self.for_each_part(parts.count, || {
            let (mut part, mut lent) = (parts.plan(plan), slices.lend());
            move |n| {
                let address = |place| slices.indices.address(place);
                parts.for_each_plan(plan, n, &address, &mut part, &mut |part| {
                    run_distinct(part, is_better, &mut lent);
                });
            }
        });
    }

    /// Finds the positions of blocks of the reduction, and merges them.
    fn run_reduction<T: Copy + Send + Sync>(
        &self,
        parts: &ReductionParts,
        plan: &ExecPlan,
        is_better: &IsBetter<'_>,
        slices: &mut Slices<'_, T>,
    ) {
        let (Some((.., kernel)), shape, blocks) = (plan.kernel, &plan.shape, &parts.blocks) else { return };
        let group = |n: usize| {
            let of = |nest: &LoopNest| {
                let (around, dims) = nest.output_dims().split_at(parts.around);
                Grid { start: nest.start as isize + offset_at(around, n), dims: split(dims).1 }
            };
            OutputTile { input: of(&shape.input), output: of(&shape.output), values: of(&shape.values) }
        };
        let mut positions = [0_u32; MAX_PARTIALS];
        let partials = Outputs::from(&mut positions[..]);
        let input = slices.input;
        self.for_each_part(parts.count(), || {
            let mut partials = partials.lend();
            move |n| {
                let tile = group(n / blocks.count());
                let input = input.address(tile.input.start + blocks.start(n % blocks.count()).1);
                let positions = Places::from(partials.part(n * parts.group_outputs, parts.group_outputs));
                let (outputs, reduced, prefetch) = (tile.input.dims, blocks.dims(), plan.prefetch);
                Call { kernel, input, outputs, reduced, prefetch }.find(positions, None::<Places<'_, ()>>);
            }
        });
        let mut positions = positions.chunks_exact(parts.group_outputs);
        for n in 0..parts.groups {
            let tile = group(n);
            let mut best = Best::new(&tile);
            for (block, positions) in positions.by_ref().take(blocks.count()).enumerate() {
                best.merge(blocks, block, positions, is_better);
            }
            best.write(shape, slices);
        }
    }
}
