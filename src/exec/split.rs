//! Reductions of more elements than a position of 32 bits counts: cut into slabs, whose answers are merged.
//!
//! ```text
//! for each tile of outputs:
//!     for each slab of the reduced loops, in the order of visiting:
//!         positions = kernel(input at the slab)
//!         for each output: keep the new element if it is better than the best so far (strictly: the first wins ties)
//! ```
//!
//! Where threads share a reduction, they find the positions of slabs, and the caller merges those (`parallel.rs`).
#![allow(unsafe_code)]

use super::call::KernelCall;
use super::input::BoundPlan;
use super::slices::OutputSlices;
use super::tiles::{Grid, OutputTile, TILE};
use crate::planner::Slabs;
use argreduce_kernels::{Kernel, offset_at};
use std::mem::MaybeUninit;

/// Answers one tile, of at most [`TILE`] outputs, by slabs of at most `max_len` elements.
///
/// # Safety
/// - The tile is some of the plan's outputs.
/// - The kernel is for elements of the size of the plan's, and positions count `max_len` elements.
#[cold]
pub(super) unsafe fn split_tile(
    bound: &BoundPlan<'_>,
    kernel: Kernel,
    max_len: usize,
    tile: &OutputTile,
    slices: &mut OutputSlices<'_>,
) {
    let (plan, input) = (bound.plan(), bound.input());
    let slabs = Slabs::new(plan.shape.reduced_dims(), max_len);
    let (mut places, mut positions) = ([0; TILE], [0; TILE]);
    // SAFETY: the caller's tile, and the slabs of the plan.
    let mut best = unsafe { Best::new(bound, &slabs, tile, &mut places, &mut positions) };
    for n in 0..slabs.count() {
        let grid = Grid { start: tile.input.start + slabs.start(n).1, ..tile.input };
        // SAFETY: outputs of the plan, and a slab of its reduced loops (a test of `planner/slabs.rs`), which has at
        // most `max_len` elements: what a bound plan reaches are elements of the input. The kernel is the caller's
        // promise.
        let call = unsafe { KernelCall::new(kernel, input, grid, slabs.dims(), plan.working_set) };
        best.merge(call.find_positions(&mut [MaybeUninit::uninit(); TILE][..tile.outputs()]));
    }
    best.write(slices);
}

/// The best so far of each output of a tile: where it is, and its position.
pub(super) struct Best<'a> {
    bound: &'a BoundPlan<'a>,
    slabs: &'a Slabs,
    tile: &'a OutputTile,
    places: &'a mut [usize],
    positions: &'a mut [u64],
    /// How many slabs have been merged.
    merged: usize,
}

impl<'a> Best<'a> {
    /// None yet; buffers with anything in them, as many as the outputs of the tile or more.
    ///
    /// # Safety
    /// - The tile is some of the plan's outputs, and the slabs are those of its reduced loops.
    pub(super) unsafe fn new(
        bound: &'a BoundPlan<'a>,
        slabs: &'a Slabs,
        tile: &'a OutputTile,
        places: &'a mut [usize],
        positions: &'a mut [u64],
    ) -> Best<'a> {
        Best { bound, slabs, tile, places, positions, merged: 0 }
    }

    /// Merges the positions that were found in the next slab.
    pub(super) fn merge(&mut self, positions: &[u32]) {
        let (slabs, slab) = (self.slabs, self.merged);
        let ([outer, inner], (before, offset)) = (self.tile.input.dims, slabs.start(slab));
        assert!(slab < slabs.count() && positions.len() == self.tile.outputs());
        let len = slabs.len();
        for (n, &position) in positions.iter().enumerate() {
            assert!((position as usize) < len);
            let output = (n / inner.size) as isize * outer.stride + (n % inner.size) as isize * inner.stride;
            let in_slab = offset_at(slabs.dims(), position as usize);
            let place = (self.tile.input.start + offset + output + in_slab) as usize;
            // SAFETY: both places are where a position in a slab leads to from an output of the plan. (From the first
            // slab on there is a best.)
            if slab == 0 || unsafe { self.bound.is_better(place, self.places[n]) } {
                self.places[n] = place;
                self.positions[n] = before + u64::from(position);
            }
        }
        self.merged += 1;
    }

    /// Writes them, once all slabs are merged.
    pub(super) fn write(&self, slices: &mut OutputSlices<'_>) {
        assert!(self.merged == self.slabs.count());
        let (shape, positions) = (&self.bound.plan().shape, &self.positions[..self.tile.outputs()]);
        // SAFETY: outputs of the plan, each with the position of its best.
        unsafe { self.tile.read_values(self.bound, positions, &mut slices.values) };
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

    /// Cutting long reductions into slabs of any length changes no answer.
    #[test]
    fn slabs_of_any_length() {
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
                            // Real slabs are never too short for wide rows.
                            let strategies = Strategy::ALL.into_iter().filter(|strategy| {
                                *strategy != Strategy::NarrowColumns
                                    && strategy.takes(shape.inner_dim(), shape.reduced_dims(), lanes)
                            });
                            for strategy in strategies {
                                let kernel = kernel::<f32>(Isa::detect(), strategy, function, policy).unwrap();
                                let slices = &mut OutputSlices {
                                    indices: Indices::U64(found[..].as_mut().into()),
                                    values: Some(values[..].as_mut().into()),
                                };
                                let (exec, order) = (plan.exec(), (function, policy));
                                // SAFETY: the plan was made for a packed layout, which needs as many elements.
                                let bound = unsafe { BoundPlan::new(exec, order, data.len(), data[..].into()) };
                                // SAFETY: tiles of that plan, and a kernel for its elements.
                                let mut split = |tile: &_| unsafe { split_tile(&bound, kernel, max_len, tile, slices) };
                                for_each_tile(shape, TILE, &mut split);
                                assert_eq!(found, expected, "{plan}, slabs of {max_len}");
                                let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                                assert_eq!(bits(&values), bits(&expected_values), "{plan}, slabs of {max_len}");
                            }
                        }
                    }
                }
            }
        }
    }
}
