//! Runs a plan: one output by a single call, many by tiles, each tile in one of four ways.

use super::call::{find, find_to};
use super::elements::{ElementsRef, Slices};
use super::row::{Order, find_in_contiguous};
use super::split::{IsBetter, run_split, split_tile};
use super::tiles::{DIRECT_TILE, INDEX_TILE, ONE, OutputTile, TILE, TRANSPOSED_TILE};
use super::tiles::{are_packed, for_each_tile, is_transposed, split};
use super::write::{affine, copy_to_broadcast, positions_to_indices};
use crate::Element;
use crate::index::{Indices, for_width};
use crate::planner::{CollapsedShape, ExecPlan, MAX_REDUCTION_LEN};
use argreduce_kernels::{Affine, IndexBits, Kernel, Positions, better};
use std::mem::MaybeUninit;
use std::slice::from_ref;

/// Answers every output. The slices are as long as their layouts need; `required_len` is what the input's layout needs.
#[inline]
pub(crate) fn run<T: Element>(plan: &ExecPlan, order: Order, required_len: usize, slices: &mut Slices<'_, T>) {
    assert!(slices.input.len() >= required_len);
    if plan.has_one_output {
        run_one_output(plan, order, plan.shape.output.start, slices);
    } else {
        run_tiles(plan, order, slices, None);
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
            let (input, mut buffer) = (input.address(start as isize), [MaybeUninit::uninit()]);
            find(kernel, input, [ONE; 2], from_ref(&row), plan.prefetch, &mut buffer)[0]
        }
        Some((.., kernel)) => find_in_contiguous(kernel, order, input.contiguous(start, row.size)),
        None => 0,
    };
    indices.set(output, shape.index_start, position.into(), index.stride);
    if let Some(values) = values {
        values[shape.values.start] = input.get((start as isize + position as isize * row.stride) as usize);
    }
}

/// As [`run`], for any number of outputs, or for those of one tile. With elements as integers of their size, as indices
/// are: a copy of what is below for every pair of types would be much more code, and no faster.
#[inline(never)]
pub(super) fn run_tiles<T: Element>(
    plan: &ExecPlan,
    (function, policy): Order,
    slices: &mut Slices<'_, T>,
    tile: Option<&OutputTile>,
) {
    let input = slices.input;
    let is_better = |a: usize, b: usize| better(function, policy, input.get(a), input.get(b));
    match size_of::<T>() {
        1 => run_bits(plan, &is_better, slices.take_as_bits::<u8>(), tile),
        2 => run_bits(plan, &is_better, slices.take_as_bits::<u16>(), tile),
        4 => run_bits(plan, &is_better, slices.take_as_bits::<u32>(), tile),
        _ => run_bits(plan, &is_better, slices.take_as_bits::<u64>(), tile),
    }
}

#[inline(always)]
fn run_bits<T: Copy>(plan: &ExecPlan, is_better: &IsBetter<'_>, mut slices: Slices<'_, T>, tile: Option<&OutputTile>) {
    if let Some(tile) = tile {
        return run_tile(plan, is_better, tile, &mut slices);
    }
    run_distinct(plan, is_better, &mut slices);
    let CollapsedShape { output, values, .. } = &plan.shape;
    if !output.broadcast_dims().is_empty() {
        for_width!(slices.indices, indices => copy_to_broadcast(output, indices));
        if let Some(slice) = slices.values {
            copy_to_broadcast(values, slice);
        }
    }
}

/// Answers those outputs that are no copies of others. Outlined, because its buffers make a large frame.
#[inline(never)]
fn run_distinct<T: Copy>(plan: &ExecPlan, is_better: &IsBetter<'_>, slices: &mut Slices<'_, T>) {
    let shape = &plan.shape;
    let Some((.., kernel)) = plan.kernel else {
        return for_each_tile(shape, TILE, &mut |tile| {
            tile.write(plan, &mut [0; TILE][..tile.outputs()], slices);
        });
    };
    if plan.reduction_len > MAX_REDUCTION_LEN {
        return run_split(shape, kernel, MAX_REDUCTION_LEN, is_better, slices);
    }
    if slices.values.is_none()
        && let Some(map) = affine(shape)
        && are_packed(split(shape.output.output_dims()).1)
    {
        match &mut slices.indices {
            Indices::U32(indices) => return run_direct(plan, kernel, map, slices.input, indices),
            Indices::U64(indices) => return run_direct(plan, kernel, map, slices.input, indices),
            _ => {}
        }
    }
    let max_outputs = match (is_transposed(shape), slices.values.is_some()) {
        (true, _) => TRANSPOSED_TILE,
        (_, true) => TILE,
        _ => INDEX_TILE,
    };
    for_each_tile(shape, max_outputs, &mut |tile| answer_tile(plan, kernel, tile, slices));
}

/// Answers one tile of at most [`TILE`] outputs: in any of the ways but directly.
#[inline(never)]
fn run_tile<T: Copy>(plan: &ExecPlan, is_better: &IsBetter<'_>, tile: &OutputTile, slices: &mut Slices<'_, T>) {
    match plan.kernel {
        None => tile.write(plan, &mut [0; TILE][..tile.outputs()], slices),
        Some((.., kernel)) if plan.reduction_len > MAX_REDUCTION_LEN => {
            split_tile(&plan.shape, kernel, MAX_REDUCTION_LEN, is_better, tile, slices);
        }
        Some((.., kernel)) => answer_tile(plan, kernel, tile, slices),
    }
}

/// The same where kernels write to the output: positions, which then become indices.
fn run_direct<T: Copy, I: IndexBits + Into<u64>>(
    plan: &ExecPlan,
    kernel: Kernel,
    map: Affine,
    input: ElementsRef<'_, T>,
    indices: &mut [I],
) where
    for<'a> Positions<'a>: From<&'a mut [I]>,
{
    let shape = &plan.shape;
    for_each_tile(shape, DIRECT_TILE, &mut |tile| {
        let indices = &mut indices[tile.output.start as usize..][..tile.outputs()];
        let (input, positions) = (input.address(tile.input.start), Positions::from(&mut *indices));
        find_to(kernel, input, tile.input.dims, shape.reduced_dims(), plan.prefetch, positions);
        positions_to_indices(map, indices);
    });
}

/// Answers one tile, from its elements to what is written.
#[inline(always)]
fn answer_tile<T: Copy>(plan: &ExecPlan, kernel: Kernel, tile: &OutputTile, slices: &mut Slices<'_, T>) {
    let mut buffer = [MaybeUninit::uninit(); TRANSPOSED_TILE];
    let (input, reduced) = (slices.input.address(tile.input.start), plan.shape.reduced_dims());
    let positions = find(kernel, input, tile.input.dims, reduced, plan.prefetch, &mut buffer);
    tile.write(plan, positions, slices);
}
