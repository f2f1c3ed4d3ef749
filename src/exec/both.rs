//! Two plans that differ in their order alone, by a kernel for both: what it loads serves both.
#![allow(unsafe_code)]

use super::call::{KernelCall, PositionPlaces, find_both_in_row};
use super::input::BoundPlan;
use super::outputs::OutputSlice;
use super::row::find_scalar;
use super::slices::{Indices, OutputSlices};
use super::tiles::{MAPPED_TILE, OutputTile, TILE, are_packed, for_each_tile, near_outputs};
use super::write::{affine, copy_answers};
use crate::planner::{ExecPlan, MAX_SCALAR_LEN, takes};
use crate::{DataType, NanPolicy};
use argreduce_kernels::{
    Affine, BothKernel, IndexBits, Positions, Strategy, WorkingSet, both_kernel_of, with_element_type,
};
use std::mem::MaybeUninit;

/// The kernel for both functions of a plan for either, if there is one: for rows in the direction of memory, and for
/// columns.
pub(crate) fn both_kernel(plan: &ExecPlan, data_type: DataType, policy: NanPolicy) -> Option<BothKernel> {
    let (isa, strategy, _) = plan.kernel()?;
    let (shape, lanes) = (plan.shape(), isa.vector_bytes() / plan.element_bytes());
    let are_rows = takes(shape, Strategy::Rows, lanes);
    let is_forward = shape.reduced_dims().iter().all(|l| l.stride > 0);
    match strategy {
        _ if shape.is_split() => None,
        // Segments of one loop are rows.
        Strategy::Rows | Strategy::SegmentedRows if are_rows && is_forward => {
            both_kernel_of(data_type, isa, Strategy::Rows, policy)
        }
        Strategy::Columns => both_kernel_of(data_type, isa, strategy, policy),
        _ => None,
    }
}

/// Two bound plans, and the kernel for both.
#[derive(Clone, Copy)]
pub(crate) struct BoundBoth<'a> {
    bounds: [&'a BoundPlan<'a>; 2],
    kernel: BothKernel,
}

impl<'a> BoundBoth<'a> {
    /// # Safety
    /// - The plans are for the smallest and the largest, and differ in that alone. They are bound to the same input.
    /// - The kernel is the [`both_kernel`] of either plan, or of one of which that is a part.
    #[inline(always)]
    pub(crate) unsafe fn new(bounds: [&'a BoundPlan<'a>; 2], kernel: BothKernel) -> Self {
        BoundBoth { bounds, kernel }
    }

    /// Does something with a part of both.
    ///
    /// # Safety
    /// - It is a part of the first plan, as [`BoundPlan::with_plan`] asks, with its kernel.
    pub(super) unsafe fn for_part<R>(self, part: &ExecPlan, run: impl FnOnce(BoundBoth<'_>) -> R) -> R {
        let [first, second] = self.bounds;
        let of_second = &part.with_kernel_of(second.plan());
        // SAFETY: the caller's promise. The plans have the same loops, and so have their parts.
        unsafe {
            let bounds = [first.with_plan(part), second.with_plan(of_second)];
            run(BoundBoth::new(bounds.each_ref(), self.kernel))
        }
    }

    #[inline(always)]
    fn plan(self) -> &'a ExecPlan {
        self.bounds[0].plan()
    }
}

/// Answers every output of both. The slices are as long as their layouts need.
pub(super) fn run_both(both: BoundBoth<'_>, mut slices: [&mut OutputSlices<'_>; 2]) {
    run_both_distinct(both, slices.each_mut().map(|slices| &mut **slices));
    let plan = both.plan();
    if plan.is_contiguous_row() {
        return;
    }
    let shape = plan.shape();
    slices.into_iter().for_each(|slices| copy_answers(shape, slices));
}

/// Answers those outputs of both that are no copies of others.
pub(super) fn run_both_distinct(both: BoundBoth<'_>, mut slices: [&mut OutputSlices<'_>; 2]) {
    let plan = both.plan();
    let shape = plan.shape();
    if plan.is_contiguous_row() {
        return run_both_row(both, slices);
    }
    let most = match plan.kernel() {
        // Columns of one pass are read again by the second order: from a cache.
        Some((_, Strategy::Columns, _)) if plan.working_set() != WorkingSet::L2 => TILE,
        Some((_, Strategy::Columns, _)) => MAPPED_TILE,
        // The best elements of rows are read again.
        _ if slices[0].values.is_some() => {
            near_outputs(plan.reduction_len() * plan.element_bytes(), shape.inner_dim().size, TILE)
        }
        _ => MAPPED_TILE,
    };
    // SAFETY: each tile is some of the plan's outputs (a test of `tiles.rs`).
    for_each_tile(shape, most, &mut |tile| unsafe { run_tile(both, tile, &mut slices) });
}

/// Answers both outputs of one contiguous row. Other plans panic.
#[inline(always)]
pub(crate) fn run_both_row(both: BoundBoth<'_>, slices: [&mut OutputSlices<'_>; 2]) {
    let (plan, input) = (both.plan(), both.bounds[0].input());
    assert!(plan.is_contiguous_row());
    let shape = plan.shape();
    // SAFETY: the only loop of the plan goes upwards over neighbours.
    let positions = unsafe { find_in_contiguous(both) };
    for (slices, position) in slices.into_iter().zip(positions) {
        slices.indices.set(shape.output.start, shape.index_start, position.into(), shape.output.first().stride);
        if let Some(values) = &mut slices.values {
            // SAFETY: the position is one of that loop, and what a bound plan reaches, the input's layout does.
            unsafe { values.copy(shape.values.start, input, shape.input.start + position as usize) };
        }
    }
}

/// The positions in one contiguous row.
///
/// # Safety
/// - The plan is of one.
#[inline(always)]
unsafe fn find_in_contiguous(BoundBoth { bounds, kernel }: BoundBoth<'_>) -> [u32; 2] {
    let (shape, input) = (bounds[0].plan().shape(), bounds[0].input());
    with_element_type!(input.data_type(), T => {
        // SAFETY: a bound plan reaches them.
        let elements = unsafe { input.contiguous::<T>(shape.input.start, shape.input.first().size) };
        if elements.len() <= MAX_SCALAR_LEN {
            bounds.map(|bound| find_scalar(bound.order(), elements) as u32)
        } else {
            // SAFETY: they are elements of the input, for whose type the kernel is.
            unsafe { find_both_in_row(kernel, elements) }
        }
    })
}

/// Answers one tile of at most [`MAPPED_TILE`] outputs.
///
/// # Safety
/// - The tile is some of the plan's outputs, at their places in the input.
#[inline(never)]
unsafe fn run_tile(both: BoundBoth<'_>, tile: &OutputTile, slices: &mut [&mut OutputSlices<'_>; 2]) {
    let (plan, input) = (both.plan(), both.bounds[0].input());
    let Some((.., of_one)) = plan.kernel() else { unreachable!("a kernel for both is of one for each") };
    // SAFETY: the caller's promise, and the loops from there are the plan's: what a bound plan reaches are elements of
    // the input, for whose size its kernel is.
    let call = unsafe { KernelCall::new(of_one, input, tile.input, plan.shape().reduced_dims(), plan.working_set()) };
    let answer = AnswerOfBoth { both, tile, call };
    let is_direct = are_packed(tile.output.dims) && slices.iter().all(|slices| slices.values.is_none());
    if let (true, Some(map), [min, max]) = (is_direct, affine(plan.shape()), &mut *slices) {
        match (&mut min.indices, &mut max.indices) {
            (Indices::U32(min), Indices::U32(max)) => return answer.in_place(map, [min, max]),
            (Indices::U64(min), Indices::U64(max)) => return answer.in_place(map, [min, max]),
            _ => {}
        }
    }
    answer.by_buffers(slices);
}

/// How a tile is answered.
struct AnswerOfBoth<'a> {
    both: BoundBoth<'a>,
    tile: &'a OutputTile,
    call: KernelCall<'a>,
}

impl AnswerOfBoth<'_> {
    /// Positions in the output, as wide as indices, which they become there.
    fn in_place<I: IndexBits>(self, map: Affine, indices: [&mut OutputSlice<'_, I>; 2])
    where
        for<'a> Positions<'a>: From<&'a mut [MaybeUninit<I>]>,
    {
        let (first, outputs) = (self.tile.output.start as usize, self.tile.outputs());
        let places = indices.map(|indices| indices.range(first, outputs).into());
        // SAFETY: the kernel is for elements of the input's type; there is no mask.
        let positions = unsafe { self.call.find_both(self.both.kernel, places) };
        positions.into_iter().for_each(|positions| self.both.plan().writer().write_in_place(map, positions));
    }

    /// Positions in buffers, from which indices and values are made.
    #[inline(never)]
    fn by_buffers(self, slices: &mut [&mut OutputSlices<'_>; 2]) {
        let (tile, mut buffers) = (self.tile, [[MaybeUninit::<u32>::uninit(); MAPPED_TILE]; 2]);
        let places = buffers.each_mut().map(|buffer| PositionPlaces::from(&mut buffer[..tile.outputs()]));
        // SAFETY: as in `in_place`.
        let positions = unsafe { self.call.find_both(self.both.kernel, places) };
        for ((bound, positions), slices) in self.both.bounds.into_iter().zip(positions).zip(slices) {
            // SAFETY: each output has an element at its position.
            unsafe { tile.read_values(bound, positions, &mut slices.values) };
            tile.write_indices(bound.plan(), positions, &mut slices.indices);
        }
    }
}
