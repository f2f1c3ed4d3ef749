//! Runs a plan, or two that differ in their order alone: one output by a single call, many by tiles, or parts of them
//! on threads.
#![allow(unsafe_code)]

use super::call::KernelCall;
use super::find::{find_both, run_distinct};
use super::input::BoundPlan;
use super::parallel::run_divided;
use super::row::find_in_contiguous;
use super::search::Search;
use super::slices::{OutputSlices, Steps};
use super::split::max_window;
use super::tiles::Grid;
use super::values::Values;
use super::write::{copy_answers, write_one};
use crate::planner::{Division, OutputBytes, Parts};
use crate::threads::{Executor, Sequential};
use argreduce_kernels::{BothKernel, LoopDim, WorkingSet};
use std::mem::MaybeUninit;
use std::slice::from_ref;

/// Answers every output of each plan, on the threads of an executor, if there is one and the call is worth it. The
/// slices are as long as their layouts need.
pub(crate) fn run<const N: usize>(
    search: Search<'_, N>,
    mut slices: [&mut OutputSlices<'_>; N],
    executor: Option<&dyn Executor>,
) {
    let plan = search.plan();
    let executor = executor.filter(|executor| !plan.is_undivided(*executor));
    let is_near = N == 1 || search.both.is_some() || plan.working_set() == WorkingSet::L2;
    if executor.is_none() && plan.has_one_output() && is_near {
        return run_one(&search, plan.shape().output.start, slices);
    }
    let bytes = OutputBytes { index: slices[0].indices.width(), value: slices[0].values.as_ref().map(Values::size) };
    match division(&search, executor, bytes) {
        Some((division, executor)) => run_divided(&search, &division, executor, &mut slices),
        None => run_distinct(&search, &mut slices),
    }
    slices.into_iter().for_each(|slices| copy_answers(plan.shape(), slices));
}

/// As [`run`], but each index and each value is so many places behind the one before it, whatever the plan's output
/// layout: in the order of the default one.
pub(crate) fn run_packed<const N: usize>(
    search: Search<'_, N>,
    slices: [&mut OutputSlices<'_>; N],
    steps: Steps,
    executor: Option<&dyn Executor>,
) {
    let plan = search.plan();
    if N == 1 && plan.has_one_output() && executor.is_none_or(|executor| plan.is_undivided(executor)) {
        return run_one(&search, 0, slices);
    }
    let packed = &plan.packed(steps);
    // SAFETY: packed are only the outputs: the loops over the input are the plan's.
    run(unsafe { search.with_plan(packed) }, slices, executor);
}

/// As [`run`], for [one output](ExecPlan::has_one_output), whose indices go to `output`.
#[inline(never)]
fn run_one<const N: usize>(search: &Search<'_, N>, output: usize, slices: [&mut OutputSlices<'_>; N]) {
    match search.both {
        Some(kernel) if N > 1 => run_one_of_both(search, kernel, output, slices),
        _ => search.bounds.iter().zip(slices).for_each(|(bound, slices)| run_one_output(bound, output, slices)),
    }
}

/// As [`run_one_output`], by a kernel for both.
fn run_one_of_both<const N: usize>(
    search: &Search<'_, N>,
    kernel: BothKernel,
    output: usize,
    slices: [&mut OutputSlices<'_>; N],
) {
    let (bound, shape) = (&search.bounds[0], search.plan().shape());
    let grid = Grid { start: shape.input.start as isize, dims: [LoopDim::ONE; 2] };
    let mut buffers = [[MaybeUninit::uninit(); 1]; 2];
    // SAFETY: the only output of the plan.
    let positions = unsafe { find_both(kernel, bound, grid, buffers.each_mut().map(|buffer| &mut buffer[..])) };
    for (slices, position) in slices.into_iter().zip(positions) {
        write_one(bound, position[0], output, slices);
    }
}

/// What is in [`run_one`], to be inlined. Reads loops at fixed places of the shape: to look for those of a kind would
/// take as long as a short row.
#[inline(always)]
pub(crate) fn run_one_output(bound: &BoundPlan<'_>, output: usize, slices: &mut OutputSlices<'_>) {
    let (plan, input) = (bound.plan(), bound.input());
    assert!(plan.is_contiguous_row() || plan.has_one_output());
    let (start, row) = (plan.shape().input.start, plan.shape().input.first());
    let position = match bound.kernel() {
        Some((.., kernel)) if !plan.is_contiguous_row() => {
            let grid = Grid { start: start as isize, dims: [LoopDim::ONE; 2] };
            // SAFETY: the row is the only loop of the bound plan, whose kernel this is; the planner says that of one
            // output only where positions can count its elements.
            let call = unsafe { KernelCall::new(kernel, input, grid, from_ref(&row), plan.working_set()) };
            call.find_positions(&mut [MaybeUninit::uninit()])[0]
        }
        // SAFETY: the kernel and the only loop of the bound plan, which goes upwards over neighbours.
        Some((.., kernel)) => unsafe { find_in_contiguous(kernel, bound.order(), input, (start, row.size)) },
        None => 0,
    };
    write_one(bound, position, output, slices);
}

/// Up to so many bytes are read by the kernel for both without a pause: rows in the order of memory, in a part of a
/// second. Not measured.
const MAX_BYTES_OF_BOTH: usize = 2 << 30;

/// How the call is divided among threads, or between its pauses; or where no kernel is for both, so that a cache holds
/// what each order reads in turn. `None` where one thread does it all at once.
fn division<'e, const N: usize>(
    search: &Search<'_, N>,
    executor: Option<&'e dyn Executor>,
    bytes: OutputBytes,
) -> Option<(Division, &'e dyn Executor)> {
    let plan = search.plan();
    if N == 1 || search.both.is_some() {
        let executor = executor?;
        let division = plan.divide(executor, bytes)?;
        let is_of_one = division.tasks == 1 && matches!(division.parts, Parts::Reduction(_));
        // Two searches take longer than one for both, and a longer wait for a pause is short all the same.
        let is_undivided = N > 1 && is_of_one && plan.input_bytes() < MAX_BYTES_OF_BOTH;
        return (!is_undivided).then_some((division, executor));
    }
    if executor.is_none() && plan.working_set() == WorkingSet::L2 {
        return None;
    }
    let executor = executor.unwrap_or(&Sequential);
    Some((plan.divide_for_several(executor, bytes, max_window::<N>())?, executor))
}
