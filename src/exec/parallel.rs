//! Runs a plan on threads that the caller lends. Which thread does what changes no answer: each part is done once, and
//! writes what no other part does.

use super::call::{Call, Places};
use super::elements::{ElementsRef, Outputs};
use super::partials::{run_interleaved, run_partials};
use super::row::Order;
use super::run::{Answer, copy_all, run, run_distinct, run_tiles};
use super::slices::Slices;
use super::split::{Best, IsBetter};
use super::tiles::{Grid, OutputTile, TILE, split};
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
    let prefetch = lent.prefetch(packed);
    match &lent.division.parts {
        Parts::Outputs(parts) => {
            let outputs = Outputs::from(&mut *partials);
            lent.for_each_part(parts.count, || {
                let (mut part, mut lent) = (parts.plan(packed, prefetch), outputs.lend());
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

/// As many positions as short calls have: larger buffers would take them longer to clear.
const FEW_PARTIALS: usize = 64;

/// Threads of an executor, and what each does.
struct Lent<'a> {
    division: Division,
    executor: &'a dyn Executor,
}

impl Answer for Lent<'_> {
    #[inline(never)]
    fn answer<T: Copy + Send + Sync>(&self, plan: &ExecPlan, is_better: &IsBetter<'_>, slices: &mut Slices<'_, T>) {
        match &self.division.parts {
            Parts::Outputs(parts) => self.run_outputs(parts, plan, is_better, slices),
            Parts::Reduction(parts) => self.run_reduction(parts, plan, is_better, slices),
        }
        copy_all(&plan.shape, slices);
    }
}

impl Lent<'_> {
    /// What to prefetch of a share: what each thread reads, call after call, may stay in its own L2 cache.
    fn prefetch(&self, plan: &ExecPlan) -> Prefetch {
        match Tuning::current().prefetch(plan.input_bytes / self.division.tasks) {
            Prefetch::Nothing => Prefetch::Nothing,
            _ => plan.prefetch,
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
    fn run_outputs<T: Copy + Send + Sync>(
        &self,
        parts: &OutputParts,
        plan: &ExecPlan,
        is_better: &IsBetter<'_>,
        slices: &Slices<'_, T>,
    ) {
        let prefetch = self.prefetch(plan);
        self.for_each_part(parts.count, || {
            let (mut part, mut lent) = (parts.plan(plan, prefetch), slices.lend());
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
        if parts.count() * parts.group_outputs <= FEW_PARTIALS {
            let buffers = (&mut [0; FEW_PARTIALS][..], &mut [0; FEW_PARTIALS][..], &mut [0; FEW_PARTIALS][..]);
            self.run_blocks(parts, plan, is_better, slices, buffers);
        } else {
            let buffers = (&mut [0; MAX_PARTIALS][..], &mut [0; TILE][..], &mut [0; TILE][..]);
            self.run_blocks(parts, plan, is_better, slices, buffers);
        }
    }

    /// The same with buffers: for the positions of all blocks; and for a group, for where its best are, and for their
    /// positions.
    #[inline(never)]
    fn run_blocks<T: Copy + Send + Sync>(
        &self,
        parts: &ReductionParts,
        plan: &ExecPlan,
        is_better: &IsBetter<'_>,
        slices: &mut Slices<'_, T>,
        (found, places, positions): (&mut [u32], &mut [usize], &mut [u64]),
    ) {
        let (Some((.., kernel)), shape, blocks) = (plan.kernel, &plan.shape, &parts.blocks) else { return };
        let group = |nest: &LoopNest, n: usize| {
            let (around, dims) = nest.output_dims().split_at(parts.around);
            Grid { start: nest.start as isize + offset_at(around, n), dims: split(dims).1 }
        };
        let partials = Outputs::from(&mut *found);
        let (input, prefetch) = (slices.input, self.prefetch(plan));
        self.for_each_part(parts.count(), || {
            let mut partials = partials.lend();
            move |n| {
                let Grid { start, dims: outputs } = group(&shape.input, n / blocks.count());
                let input = input.address(start + blocks.start(n % blocks.count()).1);
                let positions = Places::from(partials.part(n * parts.group_outputs, parts.group_outputs));
                let reduced = blocks.dims();
                Call { kernel, input, outputs, reduced, prefetch }.find(positions, None::<Places<'_, ()>>);
            }
        });
        let mut found = found.chunks_exact(parts.group_outputs);
        for n in 0..parts.groups {
            let [input, output, values] = [&shape.input, &shape.output, &shape.values].map(|nest| group(nest, n));
            let tile = OutputTile { input, output, values };
            let mut best = Best::new(&tile, places, positions);
            for (block, found) in found.by_ref().take(blocks.count()).enumerate() {
                best.merge(blocks, block, found, is_better);
            }
            best.write(shape, slices);
        }
    }
}
