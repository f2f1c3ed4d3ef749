//! Integers, and floats of 32 and 64 bits: lanes that the hardware compares.

use super::{ArgOrder, LaneElem, Mask, Vec};
use crate::simd::ops::{DistanceOps, EQ, GT, NOT_LE, SimdOps, UNORDERED};

/// Whether NaN is better than every number, or worse, as a constant;
pub(crate) const PROPAGATE: u8 = 0;
pub(crate) const IGNORE: u8 = 1;
/// or either of them, known at run time, where a copy for each is not worth the code size.
pub(crate) const AT_RUN_TIME: u8 = 2;

/// What is compared of elements.
pub(crate) trait Seen<S: SimdOps<L>, L>: Copy {
    fn of(self, simd: S, raw: S::Vector) -> S::Vector;
}

/// They themselves;
#[derive(Clone, Copy)]
pub(crate) struct AsTheyAre;

impl<S: SimdOps<L>, L> Seen<S, L> for AsTheyAre {
    #[inline(always)]
    fn of(self, _: S, raw: S::Vector) -> S::Vector {
        raw
    }
}

/// or how far they are from a number.
#[derive(Clone, Copy)]
pub(crate) struct DistanceTo<L>(pub(super) L);

impl<S: DistanceOps<L>, L: Copy> Seen<S, L> for DistanceTo<L> {
    #[inline(always)]
    fn of(self, simd: S, raw: S::Vector) -> S::Vector {
        simd.distance(raw, simd.splat(self.0))
    }
}

/// The order of numbers `L`, as they are, or if `FLIPS`, with some bits flipped: the top bit of unsigned integers, so
/// that they compare as signed ones; for ArgMin, the sign of floats and all other bits of integers, so that the best is
/// the largest. `NAN` is one of the three above. What is decoded is what was seen of an element.
#[derive(Clone, Copy)]
pub(crate) struct NumberOrder<S, L, const FLIPS: bool, const MAX: bool, const NAN: u8, V = AsTheyAre> {
    pub(super) simd: S,
    pub(super) flipped: L,
    pub(super) nan_wins: bool,
    /// What no lane that is a number is better than.
    pub(super) supreme: L,
    pub(super) seen: V,
}

impl<S: SimdOps<L>, L: LaneElem, const FLIPS: bool, const MAX: bool, const NAN: u8, V: Seen<S, L>> ArgOrder
    for NumberOrder<S, L, FLIPS, MAX, NAN, V>
{
    type Lane = L;
    type Simd = S;
    const IS_MAX: bool = MAX;
    const NAN_WINS: bool = L::HAS_NAN && NAN != IGNORE;
    const NAN_LOSES: bool = L::HAS_NAN && NAN != PROPAGATE;
    // Of wider integers, the extreme is rare.
    const MAY_EXIT_EARLY: bool = L::HAS_NAN && NAN != IGNORE || size_of::<L>() == 1;
    type NanAcc = Mask<Self>;
    type Fast = Self;

    #[inline(always)]
    fn simd(self) -> S {
        self.simd
    }

    #[inline(always)]
    fn nan_wins(self) -> bool {
        Self::NAN_WINS && (NAN == PROPAGATE || self.nan_wins)
    }

    #[inline(always)]
    fn encode(self, raw: Vec<Self>) -> Vec<Self> {
        self.decode(self.seen.of(self.simd, raw))
    }

    #[inline(always)]
    fn decode(self, lanes: Vec<Self>) -> Vec<Self> {
        if FLIPS { self.simd.xor(lanes, self.simd.splat(self.flipped)) } else { lanes }
    }

    #[inline(always)]
    fn lost(self, lanes: Vec<Self>) -> Mask<Self> {
        self.simd.compare::<UNORDERED>(lanes, lanes)
    }

    #[inline(always)]
    fn gt_total_order(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
        let (high, low) = if MAX { (a, b) } else { (b, a) };
        if !L::HAS_NAN {
            return self.simd.compare::<GT>(high, low);
        }
        // Better or not to be compared, unless the NaN is on the side where it does not count: one NaN in `b` under
        // Propagate keeps `b`, one in `a` under Ignore drops `a`. Three operations, where a test of both classes takes
        // five.
        let excluded = match NAN {
            PROPAGATE => b,
            IGNORE => a,
            // Without a branch, for which there would be two copies of each loop.
            _ => self.simd.select(self.simd.first_n_mask(if self.nan_wins() { S::LANES } else { 0 }), b, a),
        };
        self.simd.and_not(self.simd.compare::<NOT_LE>(high, low), self.simd.compare::<UNORDERED>(excluded, excluded))
    }

    /// Where lanes were NaN.
    #[inline(always)]
    fn accumulate_nan<const N: usize>(self, nans: Mask<Self>, vectors: &[Vec<Self>; N]) -> Mask<Self> {
        if L::HAS_NAN { self.simd.or_nans(nans, vectors) } else { nans }
    }

    /// Of integers, where a lane is as good as the extreme of the type, or better: a `bool` of C is true by any bit.
    #[inline(always)]
    fn settled(self, best: Vec<Self>) -> Mask<Self> {
        if !L::HAS_NAN {
            return self.simd.compare::<EQ>(self.max(self.simd.splat(self.supreme), best), best);
        }
        match self.nan_wins() {
            true => self.simd.compare::<UNORDERED>(best, best),
            false => self.simd.first_n_mask(0),
        }
    }

    #[inline(always)]
    fn is_absorbing(self, best: Vec<Self>, nans: Mask<Self>) -> bool {
        (NAN != AT_RUN_TIME || self.nan_wins)
            && self.simd.movemask(if L::HAS_NAN { nans } else { self.settled(best) }) != 0
    }

    #[inline(always)]
    fn fast(self) -> Self {
        self
    }
}
