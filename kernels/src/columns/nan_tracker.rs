//! What was seen of the elements of columns that leaves their best in doubt. Nothing here knows how they are walked through.

use crate::order::{Mask, Order, Vec};
use crate::simd::ops::Lanes;
use crate::simd::token::Token;

/// Whether there was anything that leaves the best of a group in doubt.
#[derive(Clone, Copy)]
pub(super) struct Seen<O: Order> {
    /// Where NaN was seen, as a mask or as bits: see [`Token::KEEPS_BITS`].
    nans: Mask<O>,
    nan_bits: u64,
    /// If the order has [doubts](Order::DOUBTS).
    trace: O::Trace,
}

impl<O: Order> Seen<O> {
    /// After some vectors; later, no best is NaN: from the first NaN on, everything is exact.
    #[inline(always)]
    pub(super) fn new<const U: usize>(order: O, vectors: &[Vec<O>; U]) -> Self {
        let mut seen = Seen { trace: order.trace_of(vectors), ..Seen::nothing(order) };
        if !O::DOUBTS {
            seen.look(order, vectors);
        }
        seen
    }

    /// Before the first.
    #[inline(always)]
    pub(super) fn nothing(order: O) -> Self {
        Seen { nans: order.simd().none(), nan_bits: 0, trace: order.no_trace() }
    }

    #[inline(always)]
    pub(super) fn look<const U: usize>(&mut self, order: O, vectors: &[Vec<O>; U]) {
        if O::DOUBTS {
            self.trace = order.traced(self.trace, order.trace_of(vectors));
        } else if O::HAS_NAN {
            let nans = order.nans_of(vectors);
            match O::Simd::KEEPS_BITS {
                true => self.nan_bits |= order.simd().bits(nans),
                false => self.nans = order.simd().or(self.nans, nans),
            }
        }
    }

    /// Whether there was nothing, and the best of each lane is what it seems.
    #[inline(always)]
    pub(super) fn is_sure<const U: usize>(&self, order: O, best: &[Vec<O>; U]) -> bool {
        let simd = order.simd();
        if !O::DOUBTS {
            return !O::HAS_NAN || self.nan_bits | simd.bits(self.nans) == 0;
        }
        let mut doubts = simd.none();
        let mut u = 0;
        while u < U {
            doubts = simd.or(doubts, order.doubtful(best[u], self.trace));
            u += 1;
        }
        simd.bits(doubts) == 0
    }

    /// Whether the best of some lane, or something that was seen, [is final](Order::is_final).
    #[inline(always)]
    pub(super) fn is_final<const U: usize>(&self, order: O, best: &[Vec<O>; U]) -> bool {
        let mut is_final = false;
        let mut u = 0;
        while u < U {
            is_final |= order.is_final(best[u], self.trace);
            u += 1;
        }
        is_final
    }
}
