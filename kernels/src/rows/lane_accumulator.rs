//! The running state of [lane-indexed](super::lane_indexed) segments, and how the answer comes of it.

use super::blocks::{BlockMap, BlockedSegment};
use super::segment::{MAX_VECTORS, is_sought};
use crate::order::{ArgOrder, IndexVec, Vec};
use crate::simd::ops::{EQ, SimdOps, iota};
use bytemuck::Zeroable;

/// A segment of at least a vector, as vectors. The last one overlaps the one before.
pub(super) type Vectors<'a, O> = BlockedSegment<'a, O, 1>;

/// The best of each lane of both chains, and their positions from where each starts.
#[derive(Clone, Copy)]
pub(super) struct LaneAccumulators<O: ArgOrder> {
    values: [Vec<O>; 2],
    positions: [IndexVec<O>; 2],
    nan_acc: O::NanAcc,
}

impl<O: ArgOrder> LaneAccumulators<O> {
    /// Of the first vectors.
    #[inline(always)]
    pub(super) fn new(order: O, first: [Vec<O>; 2], position: IndexVec<O>) -> Self {
        let nan_acc = order.accumulate_nan(Zeroable::zeroed(), &first);
        let values = match O::NAN_LOSES {
            true => [order.max(first[0], order.identity()), order.max(first[1], order.identity())],
            false => first,
        };
        LaneAccumulators { values, positions: [position; 2], nan_acc }
    }

    /// Later vectors of both.
    #[inline(always)]
    pub(super) fn update(&mut self, order: O, vectors: [Vec<O>; 2], position: IndexVec<O>) {
        if O::NAN_WINS {
            self.nan_acc = order.accumulate_nan(self.nan_acc, &vectors);
        }
        self.update_chain(order, 0, vectors[0], position);
        self.update_chain(order, 1, vectors[1], position);
    }

    #[inline(always)]
    fn update_chain(&mut self, order: O, chain: usize, value: Vec<O>, position: IndexVec<O>) {
        let better = order.gt(value, self.values[chain]);
        self.values[chain] = order.max(value, self.values[chain]);
        self.positions[chain] = order.simd().select(better, position, self.positions[chain]);
    }

    /// The position of the first best element of these vectors, of which the second chain starts with element `second`.
    #[inline(always)]
    pub(super) fn finish(self, order: O, vectors: Vectors<'_, O>, second: usize) -> u32 {
        match self.best(order, second) {
            Some(position) => position,
            None if order.nan_wins() => find_first::<O, true>(order, vectors, order.identity()),
            // Nothing is better than the worst.
            None => find_first::<O, false>(order, vectors, order.identity()),
        }
    }

    /// The position of the first best element, or `None` where it is not known yet: a NaN that wins is there, or
    /// nothing is better than the worst number.
    #[inline(always)]
    fn best(mut self, order: O, second: usize) -> Option<u32> {
        let simd = order.simd();
        let second = simd.add(self.positions[1], simd.splat_index(second as u32));
        self.update_chain(order, 0, self.values[1], second);
        let ([best, _], [position_of_best, _]) = (self.values, self.positions);
        let value = simd.reduce_splat(best, O::IS_MAX);
        // Lanes of NaN alone never left their start; and where a number is no better, the position beside it is of the
        // NaN.
        let is_identity = O::NAN_LOSES && simd.movemask(simd.compare::<EQ>(value, order.identity())) != 0;
        if is_identity || O::NAN_WINS && order.is_absorbing(value, self.nan_acc) {
            return None;
        }
        let none = simd.splat_index(O::Simd::MAX_INDEX);
        let winners = simd.select(simd.compare::<EQ>(best, value), position_of_best, none);
        Some(simd.reduce_min_index(winners).into() as u32)
    }
}

/// The position of the first element that [is sought](is_sought), 0 if there is none.
///
/// Lane by lane, too: of each eight vectors, from the last one to the first, so that no branch depends on where the
/// element is. See docs/tuning.md#reasons-behind-the-shape-of-the-code.
#[inline(always)]
fn find_first<O: ArgOrder, const NAN: bool>(order: O, vectors: Vectors<'_, O>, value: Vec<O>) -> u32 {
    let (simd, reversed) = (order.simd(), vectors.segment().is_reversed());
    let none = simd.splat_index(O::Simd::MAX_INDEX);
    let mut start = 0;
    while start < vectors.count() {
        let next = start + MAX_VECTORS;
        let mut n = next.min(vectors.count());
        let mut first = none;
        while n > start {
            n -= 1;
            let (at, block) = vectors.block(n);
            let [vector] = block.load(order);
            let position = simd.add(iota::<O::Lane, _>(reversed), simd.splat_index(at as u32));
            first = simd.select(is_sought::<O, NAN>(order, vector, value), position, first);
        }
        let position: u64 = simd.reduce_min_index(first).into();
        if position < u64::from(O::Simd::MAX_INDEX) {
            return position as u32;
        }
        start = next;
    }
    0
}
