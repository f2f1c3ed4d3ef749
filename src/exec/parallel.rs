//! Runs a plan on threads that the caller lends. Which thread does what changes no answer: each part is done once, and
//! writes what no other part does.

use super::Outputs;
use super::call::find_to;
use super::row::Order;
use super::run::{Threads, run, run_distinct, run_tiles};
use super::slices::Slices;
use super::split::{Best, IsBetter};
use super::tiles::{Grid, OutputTile, split};
use crate::Element;
use crate::planner::{Division, ExecPlan, LoopNest, MAX_PARTIALS, OutputBytes, OutputParts, Parts, ReductionParts};
use crate::threads::{Executor, claims::Claims};
use argreduce_kernels::{Positions, Prefetch, Tuning, offset_at};
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

/// Threads of an executor, and what each does.
struct Lent<'a> {
    division: Division,
    executor: &'a dyn Executor,
}

impl Threads for Lent<'_> {
    #[inline(never)]
    fn run_distinct<T: Copy + Send + Sync>(
        &self,
        plan: &ExecPlan,
        is_better: &IsBetter<'_>,
        slices: &mut Slices<'_, T>,
    ) {
        // What each thread reads, call after call, may stay in its own L2 cache.
        let prefetch = match Tuning::current().prefetch(plan.input_bytes / self.division.tasks) {
            Prefetch::Nothing => Prefetch::Nothing,
            _ => plan.prefetch,
        };
        let plan = &ExecPlan { prefetch, ..*plan };
        match &self.division.parts {
            Parts::Outputs(parts) => self.run_outputs(parts, plan, is_better, slices),
            Parts::Reduction(parts) => self.run_reduction(parts, plan, is_better, slices),
        }
    }
}

impl Lent<'_> {
    /// Does each of so many parts once: on the executor's threads, and what is left then, on this one.
    fn for_each_part(&self, parts: usize, do_part: &(dyn Fn(usize) + Sync)) {
        let (claims, done) = (Claims::new(parts, self.division.tasks), AtomicUsize::new(0));
        let do_part = |part: usize| {
            do_part(part);
            if cfg!(debug_assertions) {
                done.fetch_add(1, Relaxed);
            }
        };
        self.executor.parallel_for(self.division.tasks, &|task| claims.work(task, do_part));
        claims.work(0, do_part);
        debug_assert_eq!(done.into_inner(), parts, "each part is done once");
    }

    /// Answers parts of the outputs, each as a plan of its own.
    fn run_outputs<T: Copy + Send + Sync>(
        &self,
        parts: &OutputParts,
        plan: &ExecPlan,
        is_better: &IsBetter<'_>,
        slices: &Slices<'_, T>,
    ) {
        self.for_each_part(parts.count, &|n| {
            let address = |place| slices.indices.address(place);
            parts.for_each_shape(&plan.shape, n, &address, &mut |&shape| {
                run_distinct(&ExecPlan { shape, ..*plan }, is_better, &mut slices.lend());
            });
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
        let (Some((_, kernel)), shape, blocks) = (plan.kernel, &plan.shape, &parts.blocks) else { return };
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
        self.for_each_part(parts.count(), &|n| {
            let (tile, mut partials) = (group(n / blocks.count()), partials.lend());
            let input = input.address(tile.input.start + blocks.start(n % blocks.count()).1);
            let positions = Positions::from(partials.part(n * parts.group_outputs, parts.group_outputs));
            find_to(kernel, input, tile.input.dims, blocks.dims(), plan.prefetch, positions);
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
