//! Partial answers, packed in the order of the default output: value and index of each output side by side, or in two
//! slices. Tile by tile; pairs go through buffers that the L1 cache holds.
//!
//! ```text
//! for each tile of the outputs:
//!     values, indices = answer(tile)        to buffers, as anywhere else
//!     partials of the tile = the two, interleaved
//! ```

use super::elements::{ElementsRef, Order, Outputs};
use super::run::{run_one, run_tile};
use super::slices::Slices;
use super::tiles::{Grid, OutputTile, TILE, are_packed, for_each_tile};
use super::write::{copy_answers, copy_to_broadcast};
use crate::partial::Partial;
use crate::planner::ExecPlan;
use crate::{Element, Index};
use argreduce_kernels::LoopDim;

/// Answers every output, each with one partial. `required_len` is what the input's layout needs; the partials are as
/// many as the outputs.
pub(crate) fn run_partials<T: Element, I: Index>(
    plan: &ExecPlan,
    order: Order,
    required_len: usize,
    input: ElementsRef<'_>,
    partials: &mut [Partial<T, I>],
) {
    assert!(input.len() >= required_len);
    if plan.has_one_output {
        let (mut index, mut value) = ([I::NONE], [T::ZERO]);
        let slices = &mut Slices { input, indices: index[..].as_mut().into(), values: Some(value[..].as_mut().into()) };
        run_one(plan, order, 0, slices);
        partials[0] = Partial { value: value[0], index: index[0] };
    } else {
        run_interleaved(plan, order, input, &mut partials.into());
        copy_to_broadcast(&plan.shape.values, partials);
    }
}

/// As [`run_partials`], for any number of outputs, without copies. Outlined, because its buffers make a large frame.
#[inline(never)]
pub(super) fn run_interleaved<T: Element, I: Index>(
    plan: &ExecPlan,
    order: Order,
    input: ElementsRef<'_>,
    partials: &mut Outputs<'_, Partial<T, I>>,
) {
    let (mut indices, mut values) = ([I::NONE; TILE], [T::ZERO; TILE]);
    for_each_tile(&plan.shape, TILE, &mut |tile| {
        let [height, width] = tile.input.dims.map(|l| l.size);
        let rows = LoopDim { size: height, stride: width as isize };
        let packed = Grid { start: 0, dims: [rows, LoopDim { size: width, stride: 1 }] };
        let buffered = OutputTile { input: tile.input, output: packed, values: packed };
        let slices =
            &mut Slices { input, indices: indices[..].as_mut().into(), values: Some(values[..].as_mut().into()) };
        run_tile(plan, order, &buffered, slices);

        let Grid { start, dims: dims @ [outer, inner] } = tile.values;
        // Neighbours are one row.
        let (rows, row_len) = if are_packed(dims) { (1, height * width) } else { (height, width) };
        let rows = values.chunks_exact(row_len).zip(indices.chunks_exact(row_len)).take(rows);
        for (o, (values, indices)) in rows.enumerate() {
            partials.write_partials(start + o as isize * outer.stride, inner.stride, values, indices);
        }
    });
}

/// As [`run_partials`], with values and indices in two slices, whatever the plan's output layout.
pub(crate) fn run_packed(plan: &ExecPlan, order: Order, required_len: usize, slices: &mut Slices<'_>) {
    assert!(slices.input.len() >= required_len);
    if plan.has_one_output {
        return run_one(plan, order, 0, slices);
    }
    for_each_tile(&plan.shape, TILE, &mut |tile| {
        let tile = OutputTile { input: tile.input, output: tile.values, values: tile.values };
        run_tile(plan, order, &tile, slices);
    });
    copy_answers([&plan.shape.values; 2], slices);
}
