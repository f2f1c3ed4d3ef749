//! Runs a plan on threads that the caller lends. Which thread does what changes no answer: each part is done once; and
//! it writes what no other part does, or is merged with all others, in any order.
#![allow(unsafe_code)]

use super::find::run_distinct;
use super::search::Search;
use super::slices::OutputSlices;
use super::split::{Best, Settled, find_best, max_windows, run_split};
use crate::planner::{Division, ExecPlan, OutputParts, Parts, ReductionParts};
use crate::threads::{Executor, for_each_part, tasks_for};
use argreduce_kernels::{Tuning, WorkingSet};
use std::sync::{Mutex, PoisonError};

/// Answers those outputs that are no copies of others.
pub(super) fn run_divided<const N: usize>(
    search: &Search<'_, N>,
    division: &Division,
    executor: &dyn Executor,
    slices: &mut [&mut OutputSlices<'_>; N],
) {
    let call = DividedCall { search, tasks: division.tasks, executor };
    match &division.parts {
        Parts::Outputs(parts) => call.run_outputs(parts, slices.each_ref().map(|slices| &**slices)),
        Parts::Reduction(parts) => call.run_reduction(parts, slices),
    }
}

/// A call that the threads of an executor share.
struct DividedCall<'a, const N: usize> {
    search: &'a Search<'a, N>,
    tasks: usize,
    executor: &'a dyn Executor,
}

impl<const N: usize> DividedCall<'_, N> {
    /// The working set of a thread: what each reads, call after call, may stay in its own L2 cache. All else is shared.
    fn working_set(&self, plan: &ExecPlan) -> WorkingSet {
        match Tuning::current().working_set(plan.input_bytes() / self.tasks) {
            WorkingSet::L2 => WorkingSet::L2,
            _ => plan.working_set(),
        }
    }

    /// Does each of so many parts once: by so many tasks on the executor's threads, and what is left then, on this one.
    /// Each task that finds one has a worker of its own.
    fn for_each_part<W: FnMut(usize)>(&self, (parts, tasks): (usize, usize), worker: impl Fn() -> W + Sync) {
        let pause = self.executor.pause();
        for_each_part(self.executor, tasks, parts, &|claim| {
            // Made for the first part: the caller most often finds that none is left.
            let mut do_part = None;
            claim(&mut |part| {
                pause.into_iter().for_each(|pause| pause());
                do_part.get_or_insert_with(&worker)(part);
            });
        });
    }

    /// Answers parts of the outputs, each as a plan of its own.
    fn run_outputs(&self, parts: &OutputParts, slices: [&OutputSlices<'_>; N]) {
        let (search, plan) = (self.search, self.search.plan());
        let working_set = self.working_set(plan);
        // Of two slices, by the cache lines of the first: in the other, two tasks may write to one.
        let address = |place| slices[0].indices.address(place);
        self.for_each_part((parts.count, self.tasks), || {
            // SAFETY: a task writes outputs of the parts that it claims, and nothing else is written meanwhile. Each
            // part is claimed once (`Claims`, tested by loom). Parts have no output in common (a test of
            // `planner/division.rs`), and an output layout has a place for each (`check_output` in `api/erased.rs`).
            let mut lent = slices.map(|slices| unsafe { slices.lend() });
            let mut part_plan = parts.plan(plan, working_set);
            move |part| {
                parts.for_each_plan(plan, part, &address, &mut part_plan, &mut |part| {
                    // SAFETY: it is a part of the plan's outputs, each with all that it is chosen from.
                    run_distinct(&unsafe { search.with_plan(part) }, &mut lent.each_mut());
                });
            }
        });
    }

    /// Finds the best elements of parts of the reduction, merges them, and writes them.
    fn run_reduction(&self, parts: &ReductionParts, slices: &mut [&mut OutputSlices<'_>; N]) {
        let (bounds, mask, plan) = (&self.search.bounds, self.search.mask, self.search.plan());
        let working_set = self.working_set(plan);
        let tasks = self.tasks_of(plan.input_bytes() / max_windows::<N>(parts.outputs));
        run_split(self.search, slices, &mut |window, best| {
            let (whole, settled) = (parts.shape(window), bounds.each_ref().map(Settled::new));
            let best = best.map(Mutex::new);
            self.for_each_part((parts.count, tasks), || {
                let (mut part, mut part_plan) = (whole, plan.with_shape(whole, working_set));
                let (best, settled) = (&best, &settled);
                move |at| {
                    parts.move_to(&whole, at, &mut part);
                    for (n, bound) in bounds.iter().enumerate().filter(|&(n, _)| !settled[n].is_before(&part)) {
                        let mut with_best = |merge: &mut dyn FnMut(&mut [Best])| {
                            let mut best = best[n].lock().unwrap_or_else(PoisonError::into_inner);
                            merge(&mut best);
                            settled[n].add(&best);
                        };
                        // What the first order has read, L2 holds.
                        part_plan.working_set = if n == 0 { working_set } else { WorkingSet::L2 };
                        // SAFETY: some of what the plan's outputs are chosen from (a test of `planner/division.rs`).
                        unsafe { find_best(&bound.with_plan(&part_plan), mask, &part, &mut with_best) };
                    }
                }
            });
        });
    }

    /// How many tasks share so many bytes.
    fn tasks_of(&self, bytes: usize) -> usize {
        self.tasks.min(tasks_for(self.executor, bytes))
    }
}
