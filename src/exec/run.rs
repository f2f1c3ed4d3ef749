//! Runs a plan: one output by a single call, many by tiles, each tile in one of four ways.

use super::call::{Call, Places};
use super::elements::Outputs;
use super::row::{Order, find_in_contiguous};
use super::slices::Slices;
use super::split::{IsBetter, split_tile};
use super::tiles::{DIRECT_TILE, INDEX_TILE, MAPPED_TILE, ONE, OutputTile, TILE, TRANSPOSED_TILE};
use super::tiles::{are_packed, for_each_tile, is_transposed, split};
use super::write::{affine, copy_to_broadcast};
use crate::Element;
use crate::index::{Indices, for_width};
use crate::planner::{CollapsedShape, ExecPlan, LoopNest, MAX_REDUCTION_LEN};
use argreduce_kernels::{Affine, IndexBits, Kernel, LoopDim, OutputWriter, Positions, Strategy, better};
use std::mem::MaybeUninit;
use std::slice::from_ref;

/// Answers every output. The slices are as long as their layouts need; `required_len` is what the input's layout needs.
#[inline]
pub(crate) fn run<T: Element>(plan: &ExecPlan, order: Order, required_len: usize, slices: &mut Slices<'_, T>) {
    assert!(slices.input.len() >= required_len);
    if plan.has_one_output {
        run_one_output(plan, order, plan.shape.output.start, slices);
    } else {
        run_tiles(plan, order, slices, &Alone);
    }
}

/// As [`run`], for [one output](ExecPlan::has_one_output), whose index goes to `output`. Reads loops at fixed places of
/// the shape: to look for those of a kind would take as long as a short row.
#[inline(always)]
pub(crate) fn run_one_output<T: Element>(plan: &ExecPlan, order: Order, output: usize, slices: &mut Slices<'_, T>) {
    let (shape, Slices { input, indices, values }) = (&plan.shape, slices);
    let (start, row, index) = (shape.input.start, shape.input.first(), shape.output.first());
    let position = match plan.kernel {
        Some((.., kernel)) if !plan.is_contiguous_row => {
            let (input, mut buffer) = (input.address(start as isize), [MaybeUninit::<u32>::uninit()]);
            let (outputs, reduced, prefetch) = ([ONE; 2], from_ref(&row), plan.prefetch);
            Call { kernel, input, outputs, reduced, prefetch }.find_positions(&mut buffer)[0]
        }
        Some((.., kernel)) => find_in_contiguous(kernel, order, input.contiguous(start, row.size)),
        None => 0,
    };
    indices.set(output, shape.index_start, position.into(), index.stride);
    if let Some(values) = values {
        values[shape.values.start] = input.get((start as isize + position as isize * row.stride) as usize);
    }
}

/// As [`run`], for any number of outputs. With elements as integers of their size, as indices
/// are: a copy of what is below for every pair of types would be much more code, and no faster.
#[inline(never)]
pub(super) fn run_tiles<T: Element>(
    plan: &ExecPlan,
    (function, policy): Order,
    slices: &mut Slices<'_, T>,
    outputs: &impl Answer,
) {
    let input = slices.input;
    let is_better = |a: usize, b: usize| better(function, policy, input.get(a), input.get(b));
    match size_of::<T>() {
        1 => outputs.answer(plan, &is_better, &mut slices.take_as_bits::<u8>()),
        2 => outputs.answer(plan, &is_better, &mut slices.take_as_bits::<u16>()),
        4 => outputs.answer(plan, &is_better, &mut slices.take_as_bits::<u32>()),
        _ => outputs.answer(plan, &is_better, &mut slices.take_as_bits::<u64>()),
    }
}

/// Which outputs are answered, and on which threads.
pub(super) trait Answer {
    fn answer<T: Copy + Send + Sync>(&self, plan: &ExecPlan, is_better: &IsBetter<'_>, slices: &mut Slices<'_, T>);
}

/// All of them, on the thread of the caller.
struct Alone;

impl Answer for Alone {
    #[inline(always)]
    fn answer<T: Copy + Send + Sync>(&self, plan: &ExecPlan, is_better: &IsBetter<'_>, slices: &mut Slices<'_, T>) {
        run_distinct(plan, is_better, slices);
        copy_all(&plan.shape, slices);
    }
}

/// Those of one tile, without copies.
impl Answer for OutputTile {
    #[inline(always)]
    fn answer<T: Copy + Send + Sync>(&self, plan: &ExecPlan, is_better: &IsBetter<'_>, slices: &mut Slices<'_, T>) {
        run_tile(plan, is_better, self, slices);
    }
}

/// Copies each output along the axes that are broadcast in the input.
#[inline(always)]
pub(super) fn copy_all<T: Copy>(shape: &CollapsedShape, slices: &mut Slices<'_, T>) {
    let CollapsedShape { output, values, .. } = shape;
    for_width!(&mut slices.indices, indices => copy_to_broadcast(output, indices.all()));
    if let Some(slice) = &mut slices.values {
        copy_to_broadcast(values, slice.all());
    }
}

/// Answers those outputs that are no copies of others.
pub(super) fn run_distinct<T: Copy>(plan: &ExecPlan, is_better: &IsBetter<'_>, slices: &mut Slices<'_, T>) {
    let shape = &plan.shape;
    let max_outputs = match plan.kernel {
        Some((_, strategy, _)) if plan.reduction_len <= MAX_REDUCTION_LEN => {
            let of = |nest: &LoopNest| split(nest.output_dims()).1;
            Targets::of(plan, &slices.indices, of(&shape.output), of(&shape.values)).max_outputs(plan, strategy, slices)
        }
        _ => TILE,
    };
    for_each_tile(shape, max_outputs, &mut |tile| run_tile(plan, is_better, tile, slices));
}

/// Answers one tile, in any of the ways: one of at most [`TILE`] outputs, or as many as [`Targets::max_outputs`] says.
#[inline(never)]
fn run_tile<T: Copy>(plan: &ExecPlan, is_better: &IsBetter<'_>, tile: &OutputTile, slices: &mut Slices<'_, T>) {
    match plan.kernel {
        None => {
            let positions = &mut [0; TILE][..tile.outputs()];
            tile.read_values(&plan.shape, positions, slices);
            tile.write_indices(plan, positions, &mut slices.indices);
        }
        Some((.., kernel)) if plan.reduction_len > MAX_REDUCTION_LEN => {
            split_tile(plan, kernel, MAX_REDUCTION_LEN, is_better, tile, slices);
        }
        Some((.., kernel)) => answer_tile(plan, kernel, tile, slices),
    }
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
            Indices::U32(_) | Indices::U64(_) => affine(&plan.shape),
            Indices::U8(_) | Indices::U16(_) => None,
        };
        Targets { map, are_indices_packed: are_packed(output), are_values_packed: are_packed(values) }
    }

    /// Outputs per tile.
    fn max_outputs<T>(self, plan: &ExecPlan, strategy: Strategy, slices: &Slices<'_, T>) -> usize {
        let has_values = slices.values.is_some();
        let is_direct = self.are_indices_packed && (self.are_values_packed || !has_values);
        let most = match self.map {
            _ if is_transposed(split(plan.shape.output.output_dims()).1) => TRANSPOSED_TILE,
            Some(Affine::IDENTITY) if is_direct => DIRECT_TILE,
            Some(_) if is_direct => MAPPED_TILE,
            _ if has_values => TILE,
            // With several steps of the index, the tiles that there would be with one.
            None if affine(&plan.shape).is_none() => MAPPED_TILE,
            _ => INDEX_TILE,
        };
        match strategy {
            // Those read each best element again: soon enough for it to be near.
            Strategy::Rows | Strategy::SegmentedRows if has_values => {
                let near = NEAR_BYTES / (plan.reduction_len * size_of::<T>());
                let (most, line) = (most.min(near.max(MIN_READ_OUTPUTS)), plan.shape.inner_dim().size);
                // As many in each tile, because the last one is as long.
                if line > most { line.div_ceil(line.div_ceil(most)) } else { most }
            }
            _ => most,
        }
    }
}

/// Answers one tile, from its elements to what is written.
#[inline(always)]
fn answer_tile<T: Copy>(
    plan: &ExecPlan,
    kernel: Kernel,
    tile: &OutputTile,
    Slices { input, indices, values }: &mut Slices<'_, T>,
) {
    let Targets { map, are_values_packed, .. } = Targets::of(plan, indices, tile.output.dims, tile.values.dims);
    let (outputs, writer) = (tile.outputs(), plan.writer);
    let (input, reduced) = (input.address(tile.input.start), plan.shape.reduced_dims());
    let call = Call { kernel, input, outputs: tile.input.dims, reduced, prefetch: plan.prefetch };
    let (packed, strided) = if are_values_packed { (values.as_mut(), None) } else { (None, values.as_mut()) };
    let mut buffer = [MaybeUninit::uninit(); TRANSPOSED_TILE];
    let places = match packed {
        Some(values) => Some(Places::from(values.part(tile.values.start as usize, outputs))),
        None if strided.is_some() => Some(Places::from(&mut buffer[..outputs])),
        None => None,
    };
    let found = match (map, indices) {
        (Some(map), Indices::U32(indices)) => answer_as_wide(call, writer, map, tile, indices, places),
        (Some(map), Indices::U64(indices)) => answer_as_wide(call, writer, map, tile, indices, places),
        (_, indices) => {
            let mut buffer = [MaybeUninit::<u32>::uninit(); TRANSPOSED_TILE];
            let (positions, values) = call.find(Places::from(&mut buffer[..outputs]), places);
            tile.write_indices(plan, positions, indices);
            values
        }
    };
    if let (Some(found), Some(values)) = (found, strided) {
        values.scatter(writer, tile.values, found);
    }
}

/// The same where positions are as wide as indices, which they become in place: in the output or in a buffer.
#[inline(always)]
fn answer_as_wide<'v, T: Copy, I: IndexBits>(
    call: Call<'_>,
    writer: &OutputWriter,
    map: Affine,
    tile: &OutputTile,
    indices: &mut Outputs<'_, I>,
    values: Option<Places<'v, T>>,
) -> Option<&'v mut [T]>
where
    for<'a> Positions<'a>: From<&'a mut [MaybeUninit<I>]>,
{
    let outputs = tile.outputs();
    if are_packed(tile.output.dims) {
        let places = Places::from(indices.part(tile.output.start as usize, outputs));
        let (positions, values) = call.find(places, values);
        writer.write_in_place(map, positions);
        return values;
    }
    let mut buffer = [MaybeUninit::uninit(); TRANSPOSED_TILE];
    let (positions, values) = call.find(Places::from(&mut buffer[..outputs]), values);
    writer.write_in_place(map, positions);
    indices.scatter(writer, tile.output, positions);
    values
}

/// The elements that outputs are chosen from, in bytes, for the best of them to be read again while they are near.
const NEAR_BYTES: usize = 128 << 10;

/// The fewest outputs of such a tile: with fewer, a call would be a large part of its time.
const MIN_READ_OUTPUTS: usize = 64;
