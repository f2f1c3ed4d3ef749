//! 16-bit floats as 16-bit integers: by keys that have their order, or by their bare bits, which have it above zero, and its reverse below. This file knows
//! nothing of strategies.

use crate::order::key::{Key, no_bits, traced_by_lanes};
use crate::simd::ops::{HalfLanes, Lanes};

/// Integers in the order of the floats: see [`HalfLanes::half_keys`]; if `FLIPS`, of the floats negated, where the smallest is the best, so that the largest key is.
#[derive(Clone, Copy)]
pub(crate) struct HalfKey<const FLIPS: bool> {
    /// What is flipped.
    sign: i16,
    infinity: i16,
    turn: i16,
    push: i16,
}

impl<const FLIPS: bool> HalfKey<FLIPS> {
    /// `infinity` is its bits. NaN is above all numbers, or below. If it `flips`, then the floats first.
    #[inline(always)]
    pub(crate) fn new(infinity: i16, nan_is_above: bool, flips: bool) -> Self {
        // Of each sign. With nothing turned, those with the sign are the smallest, those without the largest, and one integer is not in use between them, modulo 2^16.
        let nans = i16::MAX - infinity;
        let (turn, push) = if nan_is_above { (infinity ^ i16::MIN, 2 * nans) } else { (nans, -2 * nans) };
        HalfKey { sign: if flips { i16::MIN } else { 0 }, infinity, turn, push }
    }

    /// What makes of a float the one of which the largest is the best.
    #[inline(always)]
    fn sign(self, largest: bool) -> i16 {
        match (largest, FLIPS) {
            (false, _) => i16::MIN,
            // Known when this is compiled: bits take no operation then.
            (true, false) => 0,
            (true, true) => self.sign,
        }
    }

    /// What NaN becomes.
    #[inline(always)]
    fn nan(self) -> i16 {
        if self.push > 0 { i16::MAX } else { i16::MIN }
    }

    /// Whether NaN is the best where the largest key is, or the smallest.
    #[inline(always)]
    fn nan_wins(self, largest: bool) -> bool {
        (self.push > 0) == largest
    }
}

impl<S: HalfLanes, const FLIPS: bool> Key<S> for HalfKey<FLIPS> {
    type Lane = i16;
    type Bits = HalfBits;
    type BitsBelowZero = HalfBitsBelowZero;
    type Shifted = HalfShifted;
    const HAS_BITS: bool = true;
    traced_by_lanes!();

    #[inline(always)]
    fn of(self, simd: S, raw: S::Vector) -> S::Vector {
        let raw = if FLIPS { simd.xor(raw, simd.splat(self.sign)) } else { raw };
        simd.half_keys(raw, self.turn, self.push)
    }

    #[inline(always)]
    fn final_nans(self, simd: S, best: S::Vector, _: S::Trace, largest: bool) -> S::Mask {
        if self.nan_wins(largest) { simd.eq(best, simd.splat(self.nan())) } else { simd.none() }
    }

    #[inline(always)]
    fn bits(self, largest: bool) -> HalfBits {
        HalfBits {
            sign: self.sign(largest),
            infinity: self.infinity,
            highest: if self.nan_wins(largest) { i16::MAX } else { self.infinity },
        }
    }

    #[inline(always)]
    fn bits_below_zero(self, largest: bool) -> HalfBitsBelowZero {
        HalfBitsBelowZero { flip: self.sign(largest) ^ i16::MAX, lowest: !self.infinity }
    }

    #[inline(always)]
    fn shifted(self, largest: bool) -> Option<HalfShifted> {
        let (sign, zero) = (self.sign(largest), i16::MAX - self.infinity);
        if self.nan_wins(largest) { None } else { Some(HalfShifted { shift: sign.wrapping_add(zero), zero }) }
    }
}

/// The bits themselves, and of the negated float for ArgMin. As signed integers, they have the order of the floats above zero, and those below zero are
/// smaller: so the largest is the best, if it is above zero and nothing is a NaN. A long row takes two operations per vector less than by keys:
/// 4 instead of 6.
#[derive(Clone, Copy)]
pub(crate) struct HalfBits {
    sign: i16,
    infinity: i16,
    /// Above which a value is not the best of anything: infinity where NaN loses.
    highest: i16,
}

impl HalfBits {
    /// Where a trace is a NaN with the sign set.
    #[inline(always)]
    fn negative_nans<S: HalfLanes>(self, simd: S, trace: <S as Lanes<i16>>::Vector) -> <S as Lanes<i16>>::Mask {
        simd.gt(simd.xor(trace, simd.splat(i16::MIN)), simd.splat(self.infinity))
    }
}

impl<S: HalfLanes> Key<S> for HalfBits {
    type Lane = i16;
    no_bits!();
    const DOUBTS: bool = true;

    #[inline(always)]
    fn of(self, simd: S, raw: S::Vector) -> S::Vector {
        simd.xor(raw, simd.splat(self.sign))
    }

    /// The largest as unsigned integers: NaN with the sign set. (Without, it is the largest as signed ones, and so the best.)
    type Trace = S::Vector;

    #[inline(always)]
    fn trace_of<const V: usize>(self, simd: S, vectors: &[S::Vector; V]) -> S::Vector {
        let mut largest = vectors[0];
        for &vector in &vectors[1..] {
            largest = simd.max_unsigned(largest, vector);
        }
        largest
    }

    #[inline(always)]
    fn traced(self, simd: S, a: S::Vector, b: S::Vector) -> S::Vector {
        simd.max_unsigned(a, b)
    }

    #[inline(always)]
    fn suspects(self, simd: S, trace: S::Vector) -> bool {
        simd.bits(self.negative_nans(simd, trace)) != 0
    }

    #[inline(always)]
    fn final_nans(self, simd: S, best: S::Vector, trace: S::Vector, _: bool) -> S::Mask {
        simd.or(simd.gt(best, simd.splat(self.infinity)), self.negative_nans(simd, trace))
    }

    /// Zero is the best where nothing has the sign: -0 would be its equal.
    #[inline(always)]
    fn doubtful(self, simd: S, best: S::Vector, trace: S::Vector) -> S::Mask {
        let is_clear = simd.gt(trace, simd.splat(-1));
        let no_better = simd.gt(simd.splat(1), best);
        let doubts = simd.or(simd.gt(best, simd.splat(self.infinity)), self.negative_nans(simd, trace));
        simd.or(simd.and_not(no_better, is_clear), doubts)
    }

    #[inline(always)]
    fn is_promising(self, simd: S, v: S::Vector) -> bool {
        simd.bits(simd.gt(v, simd.splat(0))) != 0
    }

    /// Zeros are equal, of either sign, and so are NaNs; and below zero, the order is the reverse.
    #[inline(always)]
    fn is_in_doubt(self, simd: S, value: S::Vector) -> bool {
        !(1..=self.infinity).contains(&simd.first_lane(value))
    }

    #[inline(always)]
    fn knows(self, simd: S, value: S::Vector) -> bool {
        simd.bits(simd.or(simd.gt(simd.splat(0), value), simd.gt(value, simd.splat(self.highest)))) == 0
    }
}

/// The bits (of the negated float for ArgMin), all but the sign flipped: signed integers in the order of the floats below zero, while what has no sign is larger. So the largest is the best,
/// if it is below zero and nothing is a NaN with the sign: those are the smallest.
#[derive(Clone, Copy)]
pub(crate) struct HalfBitsBelowZero {
    flip: i16,
    /// What infinity becomes: only NaN is below.
    lowest: i16,
}

impl<S: HalfLanes> Key<S> for HalfBitsBelowZero {
    type Lane = i16;
    no_bits!();
    const DOUBTS: bool = true;

    #[inline(always)]
    fn of(self, simd: S, raw: S::Vector) -> S::Vector {
        simd.xor(raw, simd.splat(self.flip))
    }

    /// The smallest.
    type Trace = S::Vector;

    #[inline(always)]
    fn trace_of<const V: usize>(self, simd: S, vectors: &[S::Vector; V]) -> S::Vector {
        let mut smallest = vectors[0];
        for &vector in &vectors[1..] {
            smallest = simd.min(smallest, vector);
        }
        smallest
    }

    #[inline(always)]
    fn no_trace(self, simd: S) -> S::Vector {
        simd.splat(self.lowest)
    }

    #[inline(always)]
    fn traced(self, simd: S, a: S::Vector, b: S::Vector) -> S::Vector {
        simd.min(a, b)
    }

    #[inline(always)]
    fn suspects(self, simd: S, trace: S::Vector) -> bool {
        simd.bits(simd.gt(simd.splat(self.lowest), trace)) != 0
    }

    #[inline(always)]
    fn is_promising(self, simd: S, v: S::Vector) -> bool {
        simd.bits(simd.gt(v, simd.splat(-1))) == 0
    }

    #[inline(always)]
    fn final_nans(self, simd: S, best: S::Vector, _: S::Vector, _: bool) -> S::Mask {
        simd.gt(best, simd.splat(-1))
    }

    /// The largest below, -1, is the zero that has the sign: where nothing is without, the best.
    #[inline(always)]
    fn is_in_doubt(self, simd: S, value: S::Vector) -> bool {
        simd.first_lane(value) > -1
    }

    #[inline(always)]
    fn doubtful(self, simd: S, best: S::Vector, trace: S::Vector) -> S::Mask {
        simd.or(simd.gt(best, simd.splat(-1)), simd.gt(simd.splat(self.lowest), trace))
    }
}

/// The bits, shifted so far that infinity is the largest integer: NaN without the sign wraps around to the smallest ones, and NaN with the sign comes to lie
/// just below zero. So NaN loses, without a test, and the largest is the best if it is above zero. (An addition takes longer than the exclusive or of
/// [`HalfBits`]: long rows ran at 0.8 to 0.9 of the speed by these alone; Zen 5.)
#[derive(Clone, Copy)]
pub(crate) struct HalfShifted {
    /// What is added: also what flips the sign.
    shift: i16,
    /// What zero becomes.
    zero: i16,
}

impl<S: HalfLanes> Key<S> for HalfShifted {
    type Lane = i16;
    no_bits!();
    const DOUBTS: bool = true;

    #[inline(always)]
    fn of(self, simd: S, raw: S::Vector) -> S::Vector {
        simd.add_wrapping(raw, simd.splat(self.shift))
    }
    traced_by_lanes!();

    #[inline(always)]
    fn raw(self, simd: S, v: S::Vector) -> S::Vector {
        simd.add_wrapping(v, simd.splat(self.shift.wrapping_neg()))
    }

    /// Zeros are equal, of either sign; and below zero, the order is the reverse.
    #[inline(always)]
    fn is_in_doubt(self, simd: S, value: S::Vector) -> bool {
        simd.bits(simd.gt(value, simd.splat(self.zero))) == 0
    }

    #[inline(always)]
    fn knows(self, simd: S, value: S::Vector) -> bool {
        simd.bits(simd.gt(simd.splat(self.zero), value)) == 0
    }
}
