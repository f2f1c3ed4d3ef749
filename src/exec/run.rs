//! Runs a plan: one output by a single call, many by tiles, each tile in one of four ways.

use super::call::{find, find_over};
use super::elements::ElementsRef;
use super::row::find_in_contiguous;
use super::split::{IsBetter, run_split};
use super::tiles::{DIRECT_TILE, INDEX_TILE, ONE, OutputTile, TILE, TRANSPOSED_TILE};
use super::tiles::{for_each_tile, is_packed, is_transposed};
use super::write::{affine, copy_to_broadcast, positions_to_indices};
use crate::index::{Indices, for_width};
use crate::planner::{ExecPlan, MAX_REDUCTION_LEN};
use crate::{Element, NanPolicy, ReduceFunction};
use argreduce_kernels::{Kernel, better};
use std::mem::MaybeUninit;
use std::slice::from_ref;

/// Answers every output. The slices are as long as their layouts need; `required_len` is what the input's layout needs.
#[inline]
pub(crate) fn run<T: Element>(
    plan: &ExecPlan,
    order: (ReduceFunction, NanPolicy),
    required_len: usize,
    input: ElementsRef<'_, T>,
    indices: Indices<'_>,
    values: Option<&mut [T]>,
) {
    assert!(input.len() >= required_len);
    if plan.has_one_output {
        run_one_output(plan, order, input, indices, values)
    } else {
        run_tiles(plan, order, input, indices, values)
    }
}

/// As [`run`], for [one output](ExecPlan::has_one_output). Reads loops at fixed places of the shape: to look for those
/// of a kind would take as long as a short row.
#[inline(always)]
pub(crate) fn run_one_output<T: Element>(
    plan: &ExecPlan,
    order: (ReduceFunction, NanPolicy),
    input: ElementsRef<'_, T>,
    mut indices: Indices<'_>,
    values: Option<&mut [T]>,
) {
    let shape = &plan.shape;
    let (start, row, index) = (shape.input.start, shape.input.first(), shape.output.first());
    let position = match plan.kernel {
        Some((_, kernel)) if !plan.is_contiguous_row => {
            let (input, mut buffer) = (input.address(start as isize), [MaybeUninit::uninit()]);
            find(kernel, input, [ONE; 2], from_ref(&row), plan.prefetch, &mut buffer)[0]
        }
        Some((_, kernel)) => find_in_contiguous(kernel, order, input.contiguous(start, row.size)),
        None => 0,
    };
    indices.set(shape.output.start, shape.index_start, position.into(), index.stride);
    if let Some(values) = values {
        values[shape.values.start] = input.get((start as isize + position as isize * row.stride) as usize);
    }
}

/// As [`run`], for any number of outputs.
#[inline(never)]
fn run_tiles<T: Element>(
    plan: &ExecPlan,
    (function, policy): (ReduceFunction, NanPolicy),
    input: ElementsRef<'_, T>,
    indices: Indices<'_>,
    values: Option<&mut [T]>,
) {
    let is_better = |a: usize, b: usize| better(function, policy, input.get(a), input.get(b));
    match size_of::<T>() {
        1 => run_as_bits::<T, u8>(plan, &is_better, input, indices, values),
        2 => run_as_bits::<T, u16>(plan, &is_better, input, indices, values),
        4 => run_as_bits::<T, u32>(plan, &is_better, input, indices, values),
        _ => run_as_bits::<T, u64>(plan, &is_better, input, indices, values),
    }
}

/// With elements as integers of their size, as indices are: a copy of what is below for every pair of types would be
/// much more code, and no faster.
#[inline(always)]
fn run_as_bits<T: Element, Bits: Copy>(
    plan: &ExecPlan,
    is_better: &IsBetter<'_>,
    input: ElementsRef<'_, T>,
    mut indices: Indices<'_>,
    values: Option<&mut [T]>,
) {
    let (input, mut values) = input.as_bits::<Bits>(values);
    run_distinct(plan, is_better, input, &mut indices, values.as_deref_mut());
    let output = &plan.shape.output;
    if !output.broadcast_dims().is_empty() {
        for_width!(indices, indices => copy_to_broadcast(output, indices));
        if let Some(values) = values {
            copy_to_broadcast(&plan.shape.values, values);
        }
    }
}

/// Answers those outputs that are no copies of others. Outlined, because its buffers make a large frame.
#[inline(never)]
fn run_distinct<T: Copy>(
    plan: &ExecPlan,
    is_better: &IsBetter<'_>,
    input: ElementsRef<'_, T>,
    indices: &mut Indices<'_>,
    mut values: Option<&mut [T]>,
) {
    let shape = &plan.shape;
    let Some((_, kernel)) = plan.kernel else {
        return for_each_tile(shape, TILE, &mut |tile| {
            tile.write(plan, &mut [0; TILE][..tile.outputs()], input, indices, values.as_deref_mut());
        });
    };
    if plan.reduction_len > MAX_REDUCTION_LEN {
        return run_split(shape, kernel, MAX_REDUCTION_LEN, is_better, input, indices, values);
    }
    if let Indices::U32(indices) = indices
        && let Some(map) = affine(shape)
        && values.is_none()
        && is_packed(shape)
    {
        return for_each_tile(shape, DIRECT_TILE, &mut |tile| {
            let indices = &mut indices[tile.output.start as usize..][..tile.outputs()];
            let input = input.address(tile.input.start);
            find_over(kernel, input, tile.input.dims, shape.reduced_dims(), plan.prefetch, indices);
            positions_to_indices(map, indices);
        });
    }
    let max_outputs = match (is_transposed(shape), values.is_some()) {
        (true, _) => TRANSPOSED_TILE,
        (_, true) => TILE,
        _ => INDEX_TILE,
    };
    for_each_tile(shape, max_outputs, &mut |tile| {
        answer_tile(plan, kernel, tile, input, indices, values.as_deref_mut());
    });
}

/// Answers one tile, from the elements to what is written.
#[inline(always)]
fn answer_tile<T: Copy>(
    plan: &ExecPlan,
    kernel: Kernel,
    tile: &OutputTile,
    input: ElementsRef<'_, T>,
    indices: &mut Indices<'_>,
    values: Option<&mut [T]>,
) {
    let mut buffer = [MaybeUninit::uninit(); TRANSPOSED_TILE];
    let (first, reduced) = (input.address(tile.input.start), plan.shape.reduced_dims());
    let positions = find(kernel, first, tile.input.dims, reduced, plan.prefetch, &mut buffer);
    tile.write(plan, positions, input, indices, values);
}
