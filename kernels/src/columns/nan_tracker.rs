//! Whether NaN was among the elements of a tile. If so, the best of a lane may be wrong, because `max` drops NaN. Knows
//! nothing of rows, and of how they are traversed.

use crate::order::{ArgOrder, LaneElem, Mask, Vec};
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;

#[derive(Clone, Copy)]
pub(super) struct NanTracker<O: ArgOrder> {
    /// Where, as a mask, or as bits: see `IsaTuning::has_few_registers`.
    nans: Mask<O>,
    nan_bits: u64,
}

impl<O: ArgOrder> NanTracker<O> {
    /// Of some vectors, the first ones of a tile.
    #[inline(always)]
    pub(super) fn new<const U: usize>(order: O, vectors: &[Vec<O>; U]) -> Self {
        let mut nan_tracker = NanTracker { nans: order.simd().first_n_mask(0), nan_bits: 0 };
        nan_tracker.observe(order, vectors);
        nan_tracker
    }

    #[inline(always)]
    pub(super) fn observe<const U: usize>(&mut self, order: O, vectors: &[Vec<O>; U]) {
        if O::Lane::HAS_NAN {
            let simd = order.simd();
            match const { O::Simd::TUNING.has_few_registers } {
                true => self.nan_bits |= simd.movemask(simd.or_nans(self.nans, vectors)),
                false => self.nans = simd.or_nans(self.nans, vectors),
            }
        }
    }

    /// Whether no NaN was seen, so that the best of each lane is what it seems.
    #[inline(always)]
    pub(super) fn is_exact(&self, order: O) -> bool {
        !O::Lane::HAS_NAN || self.nan_bits | order.simd().movemask(self.nans) == 0
    }
}
