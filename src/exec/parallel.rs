//! Runs a plan on threads that the caller lends. Which thread does what changes no answer: each part is done once; and
//! it writes what no other part does, or is merged with all others, in any order.
#![allow(unsafe_code)]

use super::search::{Search, run_distinct};
use super::slices::OutputSlices;
use super::split::{Best, FEW_PARTIALS, Settled, find_best, write_best};
use super::tiles::TILE;
use crate::planner::{Division, ExecPlan, OutputParts, Parts, ReductionParts};
use crate::threads::{Executor, for_each_part};
use argreduce_kernels::{Tuning, WorkingSet};
use std::mem::MaybeUninit;
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
        Parts::Reduction(parts) if parts.outputs <= FEW_PARTIALS => call.run_reduction::<FEW_PARTIALS>(parts, slices),
        Parts::Reduction(parts) => call.run_reduction::<TILE>(parts, slices),
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

    /// Does each of so many parts once: on the executor's threads, and what is left then, on this one. Each task that
    /// finds one has a worker of its own.
    fn for_each_part<W: FnMut(usize)>(&self, parts: usize, worker: impl Fn() -> W + Sync) {
        let pause = self.executor.pause();
        for_each_part(self.executor, self.tasks, parts, &|claim| {
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
        self.for_each_part(parts.count, || {
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

    /// Finds the best elements of parts of the reduction, of which there are at most `MOST`, merges them, and writes
    /// them. Outlined, because its buffers make a large frame.
    #[inline(never)]
    fn run_reduction<const MOST: usize>(&self, parts: &ReductionParts, slices: &mut [&mut OutputSlices<'_>; N]) {
        let (bounds, plan) = (&self.search.bounds, self.search.plan());
        let (whole, working_set) = (parts.shape(plan.shape()), self.working_set(plan));
        let mut buffers = [[MaybeUninit::uninit(); MOST]; N];
        let best = buffers.each_mut().map(|buffer| Mutex::new(worst(&mut buffer[..parts.outputs])));
        let settled = bounds.each_ref().map(Settled::new);
        self.for_each_part(parts.count, || {
            let (mut part, part_plan, best, settled) = (whole, plan.with_shape(whole, working_set), &best, &settled);
            move |at| {
                parts.move_to(&whole, at, &mut part);
                for (n, bound) in bounds.iter().enumerate().filter(|&(n, _)| !settled[n].is_before(&part)) {
                    let mut with_best = |merge: &mut dyn FnMut(&mut [Best])| {
                        let mut best = best[n].lock().unwrap_or_else(PoisonError::into_inner);
                        merge(&mut best);
                        settled[n].add(&best);
                    };
                    // SAFETY: some of what the plan's outputs are chosen from (a test of `planner/division.rs`).
                    unsafe { find_best(&bound.with_plan(&part_plan), &part, &mut with_best) };
                }
            }
        });
        let outputs = &whole.kept();
        for ((bound, best), slices) in bounds.iter().zip(best).zip(slices) {
            let best = best.into_inner().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: they are outputs of the plan, all of which are found.
            unsafe { write_best(bound.input(), outputs, best, slices) };
        }
    }
}

/// A buffer of what is worse than every element.
fn worst(buffer: &mut [MaybeUninit<Best>]) -> &mut [Best] {
    buffer.iter_mut().for_each(|best| *best = MaybeUninit::new(Best::NONE));
    // SAFETY: all of them were written just now.
    unsafe { &mut *(&raw mut *buffer as *mut [Best]) }
}
