//! 16-bit floats as 16-bit integers, which every ISA can compare. [`F16Key`] is exact: a key is an integer in the
//! order of the floats. [`RawBits`] is the fast path: the bits of a float as they are, which have that order if the
//! best of them is above zero. Nothing here knows of strategies.

use crate::order::key::{SortKey, nan_acc_by_lanes, no_fast_path};
use crate::simd::ops::F16KeyOps;

/// Integers in the order of the floats: see [`F16KeyOps::encode_f16`]; if `FLIPS`, of the floats negated, where the
/// smallest is the best, so that the largest key is.
#[derive(Clone, Copy)]
pub(crate) struct F16Key<const FLIPS: bool> {
    /// What is flipped.
    sign: i16,
    infinity: i16,
    bias: i16,
    saturating_bias: i16,
}

impl<const FLIPS: bool> F16Key<FLIPS> {
    /// `infinity` is its bits. NaN is above all numbers, or below. If it `flips`, then the floats first.
    #[inline(always)]
    pub(crate) fn new(infinity: i16, nan_is_above: bool, flips: bool) -> Self {
        // Of each sign. With nothing turned, those with the sign are the smallest, those without the largest, and one
        // integer is not in use between them, modulo 2^16.
        let nans = i16::MAX - infinity;
        let (bias, saturating_bias) = if nan_is_above { (infinity ^ i16::MIN, 2 * nans) } else { (nans, -2 * nans) };
        F16Key { sign: if flips { i16::MIN } else { 0 }, infinity, bias, saturating_bias }
    }

    /// What NaN becomes.
    #[inline(always)]
    fn nan(self) -> i16 {
        if self.saturating_bias > 0 { i16::MAX } else { i16::MIN }
    }

    /// What a zero becomes.
    #[inline(always)]
    fn zero(self) -> i16 {
        self.bias.wrapping_add(self.saturating_bias)
    }

    /// Whether NaN is the best where the largest key is, or the smallest.
    #[inline(always)]
    fn nan_wins(self, largest: bool) -> bool {
        (self.saturating_bias > 0) == largest
    }
}

impl<S: F16KeyOps, const FLIPS: bool> SortKey<S> for F16Key<FLIPS> {
    type Lane = i16;
    type Fast = RawBits;
    const HAS_FAST: bool = true;
    const MAY_EXIT_EARLY: bool = true;
    nan_acc_by_lanes!();

    #[inline(always)]
    fn encode(self, simd: S, raw: S::Vector) -> S::Vector {
        let raw = if FLIPS { simd.xor(raw, simd.splat(self.sign)) } else { raw };
        simd.encode_f16(raw, self.bias, self.saturating_bias)
    }

    #[inline(always)]
    fn decode(self, simd: S, keys: S::Vector) -> S::Vector {
        // The first step of encoding is its own inverse.
        let raw = simd.encode_f16(simd.minus(keys, self.zero()), 0, 0);
        if FLIPS { simd.xor(raw, simd.splat(self.sign)) } else { raw }
    }

    /// A zero has no sign, and every NaN is the same.
    #[inline(always)]
    fn lost(self, simd: S, keys: S::Vector) -> S::Mask {
        simd.or(simd.eq(keys, simd.splat(self.zero())), simd.eq(keys, simd.splat(self.nan())))
    }

    #[inline(always)]
    fn fast(self, largest: bool) -> RawBits {
        let sign = match (largest, FLIPS) {
            (false, _) => i16::MIN,
            // Known when this is compiled, so that bits take no operation.
            (true, false) => 0,
            (true, true) => self.sign,
        };
        RawBits { sign, infinity: self.infinity }
    }

    /// No key is better than that of a NaN that wins.
    #[inline(always)]
    fn is_absorbing(self, simd: S, best: S::Vector, _: S::Mask, largest: bool) -> bool {
        self.nan_wins(largest) && simd.movemask(simd.eq(best, simd.splat(self.nan()))) != 0
    }
}

/// The bits themselves, of the negated float for ArgMin. As signed integers, floats above zero have their own order,
/// and all others are smaller. So the largest is the best if it is above zero, and if nothing is a NaN: those without
/// the sign are above infinity, and those with it are the largest unsigned integers.
#[derive(Clone, Copy)]
pub(crate) struct RawBits {
    sign: i16,
    infinity: i16,
}

impl<S: F16KeyOps> SortKey<S> for RawBits {
    type Lane = i16;
    no_fast_path!();
    const MAY_EXIT_EARLY: bool = true;

    #[inline(always)]
    fn encode(self, simd: S, raw: S::Vector) -> S::Vector {
        simd.xor(raw, simd.splat(self.sign))
    }

    #[inline(always)]
    fn decode(self, simd: S, lanes: S::Vector) -> S::Vector {
        self.encode(simd, lanes)
    }

    /// The largest as unsigned integers.
    type NanAcc = S::Vector;

    #[inline(always)]
    fn empty_nan_acc(self, simd: S) -> S::Vector {
        simd.splat(0)
    }

    #[inline(always)]
    fn accumulate_nan<const V: usize>(self, simd: S, nan_acc: S::Vector, vectors: &[S::Vector; V]) -> S::Vector {
        // First of the vectors, which need not wait for the NaN accumulator.
        let mut largest = vectors[0];
        for &vector in &vectors[1..] {
            largest = simd.max_unsigned(largest, vector);
        }
        simd.max_unsigned(nan_acc, largest)
    }

    /// Whether it is known that [`SortKey::accepts`] will be false: there was a NaN, with the sign or without.
    #[inline(always)]
    fn is_absorbing(self, simd: S, best: S::Vector, nan_acc: S::Vector, _: bool) -> bool {
        let infinity = simd.splat(self.infinity);
        let has_signed_nan = simd.movemask(simd.gt(simd.xor(nan_acc, simd.splat(i16::MIN)), infinity)) != 0;
        simd.movemask(simd.gt(best, infinity)) != 0 || has_signed_nan
    }

    #[inline(always)]
    fn accepts(self, simd: S, best: S::Vector, nan_acc: S::Vector) -> bool {
        simd.movemask(simd.gt(best, simd.splat(0))) != 0 && !self.is_absorbing(simd, best, nan_acc, true)
    }
}
