//! Runs a plan: one output by a single call, many by tiles.
#![allow(unsafe_code)]

use super::call::{KernelCall, PositionPlaces, ValuePlaces};
use super::input::BoundPlan;
use super::outputs::OutputSlice;
use super::row::find_in_contiguous;
use super::slices::{Indices, OutputSlices};
use super::split::{run_split, write_best};
use super::tiles::{DIRECT_TILE, Grid, INDEX_TILE, MAPPED_TILE, OutputTile, near_outputs};
use super::tiles::{TILE, TRANSPOSED_TILE};
use super::tiles::{are_packed, for_each_tile, is_transposed, split};
use super::values::Values;
use super::write::{affine, copy_answers};
use crate::planner::{ExecPlan, LoopNest};
use argreduce_kernels::{Affine, IndexBits, Kernel, LoopDim, Positions, Strategy, with_bits};
use std::mem::MaybeUninit;
use std::slice::from_ref;

/// Answers every output. The slices are as long as their layouts need.
pub(crate) fn run(bound: &BoundPlan<'_>, slices: &mut OutputSlices<'_>) {
    let plan = bound.plan();
    if plan.has_one_output() {
        run_one(bound, plan.shape().output.start, slices);
    } else {
        run_distinct(bound, slices);
        copy_answers(plan.shape(), slices);
    }
}

/// As [`run`], for [one output](ExecPlan::has_one_output), whose index goes to `output`.
#[inline(never)]
pub(super) fn run_one(bound: &BoundPlan<'_>, output: usize, slices: &mut OutputSlices<'_>) {
    run_one_output(bound, output, slices);
}

/// What is in [`run_one`], to be inlined. Reads loops at fixed places of the shape: to look for those of a kind would
/// take as long as a short row.
#[inline(always)]
pub(crate) fn run_one_output(bound: &BoundPlan<'_>, output: usize, slices: &mut OutputSlices<'_>) {
    let (plan, input, OutputSlices { indices, values }) = (bound.plan(), bound.input(), slices);
    assert!(plan.is_contiguous_row() || plan.has_one_output());
    let shape = plan.shape();
    let (start, row, index) = (shape.input.start, shape.input.first(), shape.output.first());
    let position = match plan.kernel() {
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
    indices.set(output, shape.index_start, position.into(), index.stride);
    if let Some(values) = values {
        let from = (start as isize + position as isize * row.stride) as usize;
        // SAFETY: the position is one of that loop, and what a bound plan reaches, the input's layout does.
        unsafe { values.copy(shape.values.start, input, from) };
    }
}

/// Answers those outputs that are no copies of others.
pub(super) fn run_distinct(bound: &BoundPlan<'_>, slices: &mut OutputSlices<'_>) {
    let plan = bound.plan();
    let shape = plan.shape();
    if shape.is_split() {
        // SAFETY: they are outputs of the plan, all of which are found.
        return run_split(bound, &mut |outputs, best| unsafe { write_best(bound.input(), outputs, best, slices) });
    }
    let max_outputs = match plan.kernel() {
        Some((_, strategy, _)) => {
            let of = |nest: &LoopNest| split(nest.output_dims()).1;
            Targets::of(plan, &slices.indices, of(&shape.output), of(&shape.values)).max_outputs(plan, strategy, slices)
        }
        _ => TILE,
    };
    // SAFETY: each tile is some of the plan's outputs (a test of `tiles.rs`).
    for_each_tile(shape, max_outputs, &mut |tile| unsafe { run_tile(bound, tile, slices) });
}

/// Answers one tile, in any of the ways: one of at most [`TILE`] outputs, or as many as [`Targets::max_outputs`] says.
///
/// Buffers are those of outlined functions: a stack frame with a place for each would take longer than a short tile.
///
/// # Safety
/// - The tile is some of the plan's outputs, at their places in the input.
#[inline(never)]
pub(super) unsafe fn run_tile(bound: &BoundPlan<'_>, tile: &OutputTile, slices: &mut OutputSlices<'_>) {
    let plan = bound.plan();
    // SAFETY: it is the same tile; the kernel is the plan's, whose reductions positions count (`limit_reduction`).
    unsafe {
        match plan.kernel() {
            None => copy_tile(bound, tile, slices),
            Some((.., kernel)) => answer_tile(bound, kernel, tile, slices),
        }
    }
}

/// Answers one tile of outputs that have one element each.
///
/// # Safety
/// - As for [`run_tile`].
#[inline(never)]
unsafe fn copy_tile(bound: &BoundPlan<'_>, tile: &OutputTile, slices: &mut OutputSlices<'_>) {
    let positions = &mut [0; TILE][..tile.outputs()];
    // SAFETY: each output has an element at position 0.
    unsafe { tile.read_values(bound, positions, &mut slices.values) };
    tile.write_indices(bound.plan(), positions, &mut slices.indices);
}

/// What kernels write to the output themselves. All else goes through buffers.
#[derive(Clone, Copy)]
struct Targets {
    /// Positions, as wide as indices, which then become indices in place: how. Where those are not packed, in a buffer.
    map: Option<Affine>,
    are_indices_packed: bool,
    /// Of values, if there are any. Where they are not, kernels write them to a buffer, too.
    are_values_packed: bool,
}

impl Targets {
    /// Of indices and values that are written along these loops.
    fn of(plan: &ExecPlan, indices: &Indices<'_>, output: [LoopDim; 2], values: [LoopDim; 2]) -> Self {
        let map = match indices {
            Indices::U32(_) | Indices::U64(_) => affine(plan.shape()),
            Indices::U8(_) | Indices::U16(_) => None,
        };
        Targets { map, are_indices_packed: are_packed(output), are_values_packed: are_packed(values) }
    }

    /// Outputs per tile.
    fn max_outputs(self, plan: &ExecPlan, strategy: Strategy, slices: &OutputSlices<'_>) -> usize {
        let has_values = slices.values.is_some();
        let is_direct = self.are_indices_packed && (self.are_values_packed || !has_values);
        let most = match self.map {
            _ if is_transposed(split(plan.shape().output.output_dims()).1) => TRANSPOSED_TILE,
            Some(Affine::IDENTITY) if is_direct => DIRECT_TILE,
            Some(_) if is_direct => MAPPED_TILE,
            _ if has_values => TILE,
            // With several steps of the index, the tiles that there would be with one.
            None if affine(plan.shape()).is_none() => MAPPED_TILE,
            _ => INDEX_TILE,
        };
        match strategy {
            // Those read each best element again: soon enough for it to be near.
            Strategy::Rows | Strategy::SegmentedRows if has_values => {
                near_outputs(plan.reduction_len() * plan.element_bytes(), plan.shape().inner_dim().size, most)
            }
            _ => most,
        }
    }
}

/// Answers one tile, from its elements to what is written.
///
/// # Safety
/// - As for [`run_tile`]; the kernel is the plan's, and positions count all elements of an output.
#[inline(always)]
unsafe fn answer_tile(bound: &BoundPlan<'_>, kernel: Kernel, tile: &OutputTile, slices: &mut OutputSlices<'_>) {
    let (plan, OutputSlices { indices, values }) = (bound.plan(), slices);
    let Targets { map, are_values_packed, .. } = Targets::of(plan, indices, tile.output.dims, tile.values.dims);
    let reduced = plan.shape().reduced_dims();
    // SAFETY: the tile is some of the plan's outputs, and the loops from there are the plan's: what a bound plan
    // reaches are elements of the input, for whose size its kernel is.
    let call = unsafe { KernelCall::new(kernel, bound.input(), tile.input, reduced, plan.working_set()) };
    let answer = TileAnswer { call, plan, map, tile };
    match values {
        Some(values) if !are_values_packed => with_bits!(values.size(), B => answer.strided::<B>(indices, values)),
        _ => {
            let packed = values.as_mut().map(|values| values.range(tile.values.start as usize, tile.outputs()).into());
            answer.write(indices, packed);
        }
    }
}

/// How a tile is answered by a kernel. Writes indices, and values to places, if there are any: then returns these.
#[derive(Clone, Copy)]
struct TileAnswer<'a> {
    call: KernelCall<'a>,
    plan: &'a ExecPlan,
    map: Option<Affine>,
    tile: &'a OutputTile,
}

impl TileAnswer<'_> {
    /// With values of that size to places that are not packed.
    #[inline(never)]
    fn strided<B: Copy>(self, indices: &mut Indices<'_>, values: &mut Values<'_>) {
        let mut buffer = [MaybeUninit::<B>::uninit(); TRANSPOSED_TILE];
        let places = ValuePlaces::of_buffer(&mut buffer[..self.tile.outputs()], values.data_type());
        if let Some(mut found) = self.write(indices, Some(places)) {
            // SAFETY: what was found are elements of that type, and nothing else is written.
            let (mut values, mut found) = unsafe { (values.bits::<B>(), found.bits::<B>()) };
            values.scatter(self.plan.writer(), self.tile.values, found.all());
        }
    }

    fn write<'v>(self, indices: &mut Indices<'_>, places: Option<ValuePlaces<'v>>) -> Option<Values<'v>> {
        match (self.map, indices) {
            (Some(map), Indices::U32(indices)) => self.as_wide(map, indices, places),
            (Some(map), Indices::U64(indices)) => self.as_wide(map, indices, places),
            // Of 32 bits, from which any indices are made.
            (_, indices) => self.in_buffer(places, |positions: &mut [u32]| {
                self.tile.write_indices(self.plan, positions, indices);
            }),
        }
    }

    /// Positions as wide as indices, which they become in place: in the output or in a buffer.
    #[inline(always)]
    fn as_wide<'v, I: IndexBits>(
        self,
        map: Affine,
        indices: &mut OutputSlice<'_, I>,
        places: Option<ValuePlaces<'v>>,
    ) -> Option<Values<'v>>
    where
        for<'a> Positions<'a>: From<&'a mut [MaybeUninit<I>]>,
    {
        if !are_packed(self.tile.output.dims) {
            return self.in_buffer(places, |positions| {
                self.plan.writer().write_in_place(map, positions);
                indices.scatter(self.plan.writer(), self.tile.output, positions);
            });
        }
        let to = indices.range(self.tile.output.start as usize, self.tile.outputs());
        let (positions, values) = self.call.find(to.into(), places);
        self.plan.writer().write_in_place(map, positions);
        values
    }

    /// Positions in a buffer, from which something is written.
    #[inline(never)]
    fn in_buffer<'v, P: Copy>(self, places: Option<ValuePlaces<'v>>, write: impl FnOnce(&mut [P])) -> Option<Values<'v>>
    where
        for<'a> Positions<'a>: From<&'a mut [MaybeUninit<P>]>,
    {
        let mut buffer = [MaybeUninit::uninit(); TRANSPOSED_TILE];
        let (positions, values) = self.call.find(PositionPlaces::from(&mut buffer[..self.tile.outputs()]), places);
        write(positions);
        values
    }
}
