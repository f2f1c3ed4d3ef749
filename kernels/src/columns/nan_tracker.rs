//! Whether NaN was among the elements of a tile. If so, the best of a lane may be wrong, because `max` drops NaN. Knows
//! nothing of rows, and of how they are traversed.

use crate::order::key::Lane;
use crate::order::{Mask, Order, Vec};
use crate::simd::ops::Lanes;
use crate::simd::token::Token;

/// Whether a NaN was seen.
#[derive(Clone, Copy)]
pub(super) struct Seen<O: Order> {
    /// Where, as a mask, or as bits: see `IsaTuning::keeps_bits`.
    nans: Mask<O>,
    nan_bits: u64,
}

impl<O: Order> Seen<O> {
    /// Of some vectors, the first ones of a tile.
    #[inline(always)]
    pub(super) fn new<const U: usize>(order: O, vectors: &[Vec<O>; U]) -> Self {
        let mut seen = Seen::nothing(order);
        seen.look(order, vectors);
        seen
    }

    /// Of no vectors.
    #[inline(always)]
    pub(super) fn nothing(order: O) -> Self {
        Seen { nans: order.simd().none(), nan_bits: 0 }
    }

    /// Takes note of some vectors.
    #[inline(always)]
    pub(super) fn look<const U: usize>(&mut self, order: O, vectors: &[Vec<O>; U]) {
        if O::Lane::HAS_NAN {
            let nans = order.simd().nans_of(vectors);
            match const { O::Simd::TUNING.keeps_bits } {
                true => self.nan_bits |= order.simd().bits(nans),
                false => self.nans = order.simd().or(self.nans, nans),
            }
        }
    }

    /// Whether no NaN was seen, so that the best of each lane is what it seems.
    #[inline(always)]
    pub(super) fn is_sure(&self, order: O) -> bool {
        !O::Lane::HAS_NAN || self.nan_bits | order.simd().bits(self.nans) == 0
    }
}
