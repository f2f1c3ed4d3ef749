//! Reductions of more elements than a position of 32 bits counts: cut into blocks, whose answers are merged.
//!
//! ```text
//! for each tile of outputs:
//!     for each block of the reduced loops, in the order of visiting:
//!         positions = kernel(input at the block)
//!         for each output: keep the new element if it is better than the best so far (strictly: the first wins ties)
//! ```
//!
//! Where threads share a reduction, they find the positions of blocks, and the caller merges those (`parallel.rs`).

use super::call::Call;
use super::elements::{ElementsRef, Order};
use super::slices::Slices;
use super::tiles::{OutputTile, TILE};
use crate::planner::{Blocks, CollapsedShape, ExecPlan};
use argreduce_kernels::{Kernel, offset_at};
use std::mem::MaybeUninit;

/// Answers one tile, of at most [`TILE`] outputs, by blocks of at most `max_len` elements.
#[cold]
pub(super) fn split_tile(
    plan: &ExecPlan,
    kernel: Kernel,
    max_len: usize,
    order: Order,
    tile: &OutputTile,
    slices: &mut Slices<'_>,
) {
    let blocks = Blocks::new(plan.shape.reduced_dims(), max_len);
    let (mut places, mut positions) = ([0; TILE], [0; TILE]);
    let mut best = Best::new(tile, &mut places, &mut positions);
    for n in 0..blocks.count() {
        let mut buffer = [MaybeUninit::uninit(); TILE];
        let input = slices.input.address(tile.input.start + blocks.start(n).1);
        let (outputs, reduced, working_set) = (tile.input.dims, blocks.dims(), plan.working_set);
        let call = Call { kernel, input, outputs, reduced, working_set };
        let positions = call.find_positions(&mut buffer[..tile.outputs()]);
        best.merge(&blocks, n, positions, slices.input, order);
    }
    best.write(&plan.shape, slices);
}

/// The best so far of each output of a tile: where it is, and its position.
pub(super) struct Best<'a> {
    tile: &'a OutputTile,
    places: &'a mut [usize],
    positions: &'a mut [u64],
}

impl<'a> Best<'a> {
    /// None yet; buffers with anything in them, long enough for the tile.
    pub(super) fn new(tile: &'a OutputTile, places: &'a mut [usize], positions: &'a mut [u64]) -> Best<'a> {
        Best { tile, places, positions }
    }

    /// Merges the positions that were found in a block: of all blocks, in their order.
    pub(super) fn merge(
        &mut self,
        blocks: &Blocks,
        block: usize,
        positions: &[u32],
        input: ElementsRef<'_>,
        order: Order,
    ) {
        let ([outer, inner], (before, offset)) = (self.tile.input.dims, blocks.start(block));
        for (n, &position) in positions.iter().enumerate() {
            let output = (n / inner.size) as isize * outer.stride + (n % inner.size) as isize * inner.stride;
            let in_block = offset_at(blocks.dims(), position as usize);
            let place = (self.tile.input.start + offset + output + in_block) as usize;
            if block == 0 || input.is_better(order, place, self.places[n]) {
                self.places[n] = place;
                self.positions[n] = before + u64::from(position);
            }
        }
    }

    /// Writes them.
    pub(super) fn write(&self, shape: &CollapsedShape, slices: &mut Slices<'_>) {
        let positions = &self.positions[..self.tile.outputs()];
        self.tile.read_values(shape, positions, slices);
        self.tile.write_each(positions, &mut slices.indices, |position| shape.index_at(position as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Indices;
    use crate::exec::tiles::for_each_tile;
    use crate::{ArgReduce, AxisDirection, Isa, Layout, NanPolicy, ReduceFunction};
    use argreduce_kernels::{Strategy, kernel};

    /// Cutting long reductions into blocks of any length changes no answer.
    #[test]
    fn blocks_of_any_length() {
        let sizes = [3, 2, 4, 5, 7];
        let values = [1.0_f32, 1.0, -0.0, 0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let data: Vec<f32> = (0..840_usize).map(|n| values[n * n * 31 % 47 % 7]).collect();
        for axes in [&[0, 2, 4][..], &[1, 2, 3], &[0, 1, 2, 3, 4], &[4], &[0]] {
            for function in ReduceFunction::ALL {
                for policy in NanPolicy::ALL {
                    for direction in AxisDirection::ALL {
                        let layout = Layout::contiguous(&sizes).unwrap();
                        let reduce =
                            ArgReduce::new(function, &layout).axes(axes).direction(direction).nan_policy(policy);
                        let plan = reduce.plan::<f32, u64>().unwrap();
                        let len = plan.output_layout().required_len();
                        let (mut expected, mut expected_values) = (vec![0; len], vec![0.0; len]);
                        plan.run_with_values(&data, &mut expected, &mut expected_values).unwrap();
                        for max_len in (1..30).chain([60, 100, 839, 840, 1000]) {
                            let (mut found, mut values) = (vec![99; len], vec![9.0; len]);
                            let shape = &plan.exec().shape;
                            let lanes = Isa::detect().vector_bytes() / size_of::<f32>();
                            // Real blocks are never too short for wide rows.
                            let strategies = Strategy::ALL.into_iter().filter(|strategy| {
                                *strategy != Strategy::NarrowColumns
                                    && strategy.takes(shape.inner_dim(), shape.reduced_dims(), lanes)
                            });
                            for strategy in strategies {
                                let kernel = kernel::<f32>(Isa::detect(), strategy, function, policy).unwrap();
                                let order = (function, policy);
                                let slices = &mut Slices {
                                    input: data[..].into(),
                                    indices: Indices::U64(found[..].as_mut().into()),
                                    values: Some(values[..].as_mut().into()),
                                };
                                for_each_tile(shape, TILE, &mut |tile| {
                                    split_tile(plan.exec(), kernel, max_len, order, tile, slices);
                                });
                                assert_eq!(found, expected, "{plan}, blocks of {max_len}");
                                let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                                assert_eq!(bits(&values), bits(&expected_values), "{plan}, blocks of {max_len}");
                            }
                        }
                    }
                }
            }
        }
    }
}
