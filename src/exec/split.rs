//! Reductions of more elements than a position of 32 bits counts: cut into blocks, whose answers are merged.
//!
//! ```text
//! for each tile of outputs:
//!     for each block of the reduced loops, in the order of visiting:
//!         positions = kernel(input at the block)
//!         for each output: keep the new element if it is better than the best so far (strictly: the first wins ties)
//! ```

use super::call::Call;
use super::elements::Slices;
use super::tiles::{OutputTile, TILE};
use crate::MAX_RANK;
use crate::planner::CollapsedShape;
use argreduce_kernels::{Kernel, LoopDim, StridedIter, Tuning, offset_at};
use std::mem::MaybeUninit;

/// Whether the element at one place is better than that at another.
pub(super) type IsBetter<'a> = dyn Fn(usize, usize) -> bool + 'a;

/// Answers one tile, of at most [`TILE`] outputs, by blocks of at most `max_len` elements.
#[cold]
pub(super) fn split_tile<T: Copy>(
    shape: &CollapsedShape,
    kernel: Kernel,
    max_len: usize,
    is_better: &IsBetter<'_>,
    tile: &OutputTile,
    slices: &mut Slices<'_, T>,
) {
    let mut positions = [0; TILE];
    let positions = &mut positions[..tile.outputs()];
    find_split(shape, kernel, max_len, is_better, &|start| slices.input.address(start), tile, positions);
    tile.read_values(shape, positions, slices);
    tile.write_each(shape, positions, &mut slices.indices);
}

/// The positions in one tile. (It takes addresses by a pointer to a function, so that all types share one copy.)
fn find_split(
    shape: &CollapsedShape,
    kernel: Kernel,
    max_len: usize,
    is_better: &IsBetter<'_>,
    address: &dyn Fn(isize) -> *const (),
    tile: &OutputTile,
    best_positions: &mut [u64],
) {
    // The loop that is cut: what is inside it fits a block, it as a whole does not.
    let reduced = shape.reduced_dims();
    let (mut cut, mut inside) = (reduced.len() - 1, 1);
    while inside * reduced[cut].size <= max_len && cut > 0 {
        inside *= reduced[cut].size;
        cut -= 1;
    }
    let cut_loop = reduced[cut];
    let step = (max_len / inside).clamp(1, cut_loop.size);
    assert!(step * inside <= max_len);
    let mut block = [LoopDim::default(); MAX_RANK];
    let block = &mut block[..reduced.len() - cut];
    block.copy_from_slice(&reduced[cut..]);
    block[0].size = step;
    let mut best_places = [0; TILE];
    for (n, offset) in StridedIter::new(&reduced[..cut]).enumerate() {
        for first in (0..cut_loop.size).step_by(step) {
            // The last block overlaps the one before, so that none is too small for a strategy. To see an element twice
            // is harmless: the comparison is strict.
            let first = first.min(cut_loop.size - step);
            let before = ((n * cut_loop.size + first) * inside) as u64;
            let start = tile.input.start + offset + first as isize * cut_loop.stride;
            let mut buffer = [MaybeUninit::uninit(); TILE];
            let (input, prefetch) = (address(start), Tuning::current().prefetch_far());
            let call = Call { kernel, input, outputs: tile.input.dims, reduced: block, prefetch };
            let positions = call.find_positions(&mut buffer[..tile.outputs()]);
            for (n, &position) in positions.iter().enumerate() {
                let [outer, inner] = tile.input.dims;
                let output = (n / inner.size) as isize * outer.stride + (n % inner.size) as isize * inner.stride;
                let place = (start + output + offset_at(block, position as usize)) as usize;
                if before == 0 || is_better(place, best_places[n]) {
                    best_places[n] = place;
                    best_positions[n] = before + u64::from(position);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::tiles::for_each_tile;
    use crate::index::Indices;
    use crate::{ArgReduce, AxisDirection, Isa, Layout, NanPolicy, ReduceFunction};
    use argreduce_kernels::{Strategy, better, kernel};

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
                                let is_better = |a, b| better(function, policy, data[a], data[b]);
                                let slices = &mut Slices {
                                    input: data[..].into(),
                                    indices: Indices::U64(&mut found),
                                    values: Some(&mut values),
                                };
                                for_each_tile(shape, TILE, &mut |tile| {
                                    split_tile(shape, kernel, max_len, &is_better, tile, slices);
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
