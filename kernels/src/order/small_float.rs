//! Floats of fewer than 32 bits as integers as wide, which every ISA can compare: by exact keys, and by the fast path.
//! See `mod.rs`.

use super::{ArgOrder, LaneElem, Mask, Vec};
use crate::simd::cast;
use crate::simd::ops::{EQ, GT, SmallFloatOps};

/// Signed integers that hold the bits of such a float.
pub(crate) trait SmallLane: LaneElem + Into<i32> + PartialOrd {
    /// Modulo 2 to the number of bits.
    fn wrap(n: i32) -> Self;
}

macro_rules! lanes {
    ($($t:ident)+) => {$(
        impl SmallLane for $t {
            #[inline(always)]
            fn wrap(n: i32) -> $t {
                n as $t
            }
        }
    )+};
}

lanes!(i16);

/// The order of integers in the order of the floats: see [`SmallFloatOps::encode_float`]; if `FLIPS`, of the floats
/// negated, where the smallest is the best, so that the largest key is.
#[derive(Clone, Copy)]
pub(crate) struct SmallFloatOrder<S, L, const FLIPS: bool, const MAX: bool> {
    simd: S,
    /// What is flipped.
    sign: L,
    infinity: L,
    bias: L,
    saturating_bias: L,
}

impl<S: SmallFloatOps<L>, L: SmallLane, const FLIPS: bool, const MAX: bool> SmallFloatOrder<S, L, FLIPS, MAX> {
    /// `infinity` is its bits, or those of the largest number where there is none: all above are NaN. NaN is above all
    /// keys, or below. If it `flips`, then the floats first.
    #[inline(always)]
    pub(super) fn new(simd: S, infinity: i32, nan_is_above: bool, flips: bool) -> Self {
        let (lowest, highest): (i32, i32) = (L::LOWEST.into(), L::HIGHEST.into());
        // Of each sign. With nothing turned, those with the sign are the smallest, those without the largest, and one
        // integer is not in use between them, modulo 2 to the number of bits.
        let nans = highest - infinity;
        let (bias, saturating_bias) = if nan_is_above { (infinity + lowest, 2 * nans) } else { (nans, -2 * nans) };
        SmallFloatOrder {
            simd,
            sign: L::wrap(if flips { lowest } else { 0 }),
            infinity: L::wrap(infinity),
            bias: L::wrap(bias),
            saturating_bias: L::wrap(saturating_bias),
        }
    }

    #[inline(always)]
    fn nan(self) -> L {
        if self.saturating_bias > L::wrap(0) { L::HIGHEST } else { L::LOWEST }
    }

    #[inline(always)]
    fn zero(self) -> L {
        L::wrap(self.bias.into() + self.saturating_bias.into())
    }

    /// The floats, or those negated.
    #[inline(always)]
    fn flip(self, raw: Vec<Self>) -> Vec<Self> {
        if FLIPS { self.simd.xor(raw, self.simd.splat(self.sign)) } else { raw }
    }

    #[inline(always)]
    fn eq(self, keys: Vec<Self>, key: L) -> Mask<Self> {
        self.simd.compare::<EQ>(keys, self.simd.splat(key))
    }
}

impl<S: SmallFloatOps<L>, L: SmallLane, const FLIPS: bool, const MAX: bool> ArgOrder
    for SmallFloatOrder<S, L, FLIPS, MAX>
{
    type Lane = L;
    type Simd = S;
    const IS_MAX: bool = MAX;
    const MAY_EXIT_EARLY: bool = true;
    type NanAcc = ();
    type Fast = RawBits<S, L>;
    const HAS_FAST: bool = true;

    #[inline(always)]
    fn simd(self) -> S {
        self.simd
    }

    #[inline(always)]
    fn encode(self, raw: Vec<Self>) -> Vec<Self> {
        self.simd.encode_float(self.flip(raw), self.bias, self.saturating_bias)
    }

    #[inline(always)]
    fn decode(self, keys: Vec<Self>) -> Vec<Self> {
        // The first step of encoding is its own inverse.
        let minus_zero = -self.zero().into();
        let minus_zero = self.simd.splat_index(minus_zero.cast_unsigned() & S::MAX_INDEX);
        let no_bias = L::wrap(0);
        self.flip(self.simd.encode_float(cast(self.simd.add(cast(keys), minus_zero)), no_bias, no_bias))
    }

    /// A zero has no sign, and every NaN is the same.
    #[inline(always)]
    fn lost(self, keys: Vec<Self>) -> Mask<Self> {
        self.simd.or(self.eq(keys, self.zero()), self.eq(keys, self.nan()))
    }

    #[inline(always)]
    fn accumulate_nan<const V: usize>(self, _: (), _: &[Vec<Self>; V]) {}

    /// No key is better than that of a NaN that wins.
    #[inline(always)]
    fn settled(self, best: Vec<Self>) -> Mask<Self> {
        if (self.saturating_bias > L::wrap(0)) == MAX { self.eq(best, self.nan()) } else { self.simd.first_n_mask(0) }
    }

    #[inline(always)]
    fn is_absorbing(self, best: Vec<Self>, _: ()) -> bool {
        self.simd.movemask(self.settled(best)) != 0
    }

    #[inline(always)]
    fn fast(self) -> RawBits<S, L> {
        let sign = match (MAX, FLIPS) {
            (false, _) => L::LOWEST,
            // Known when this is compiled, so that bits take no operation.
            (true, false) => L::wrap(0),
            (true, true) => self.sign,
        };
        RawBits { simd: self.simd, sign, infinity: self.infinity }
    }
}

/// The fast path: the order of the bits themselves, of the negated float for ArgMin, as signed integers.
#[derive(Clone, Copy)]
pub(crate) struct RawBits<S, L> {
    simd: S,
    sign: L,
    infinity: L,
}

impl<S: SmallFloatOps<L>, L: SmallLane> ArgOrder for RawBits<S, L> {
    type Lane = L;
    type Simd = S;
    const IS_MAX: bool = true;
    const MAY_EXIT_EARLY: bool = true;
    /// The largest as unsigned integers.
    type NanAcc = Vec<Self>;
    type Fast = Self;

    #[inline(always)]
    fn simd(self) -> S {
        self.simd
    }

    #[inline(always)]
    fn encode(self, raw: Vec<Self>) -> Vec<Self> {
        self.simd.xor(raw, self.simd.splat(self.sign))
    }

    #[inline(always)]
    fn lost(self, _: Vec<Self>) -> Mask<Self> {
        self.simd.first_n_mask(0)
    }

    #[inline(always)]
    fn accumulate_nan<const V: usize>(self, nan_acc: Vec<Self>, vectors: &[Vec<Self>; V]) -> Vec<Self> {
        // First of the vectors, which need not wait for the NaN accumulator.
        let mut largest = vectors[0];
        for &vector in &vectors[1..] {
            largest = self.simd.max_unsigned(largest, vector);
        }
        self.simd.max_unsigned(nan_acc, largest)
    }

    /// No lane is exact.
    #[inline(always)]
    fn settled(self, _: Vec<Self>) -> Mask<Self> {
        self.simd.first_n_mask(0)
    }

    /// Whether it is known that [`ArgOrder::accepts`] will be false: there was a NaN, with the sign or without.
    #[inline(always)]
    fn is_absorbing(self, best: Vec<Self>, nan_acc: Vec<Self>) -> bool {
        let (simd, infinity) = (self.simd, self.simd.splat(self.infinity));
        let signed_nans = simd.compare::<GT>(simd.xor(nan_acc, simd.splat(L::LOWEST)), infinity);
        simd.movemask(simd.compare::<GT>(best, infinity)) != 0 || simd.movemask(signed_nans) != 0
    }

    #[inline(always)]
    fn fast(self) -> Self {
        self
    }

    #[inline(always)]
    fn accepts(self, best: Vec<Self>, nan_acc: Vec<Self>) -> bool {
        self.simd.movemask(self.simd.compare::<GT>(best, self.simd.splat(L::wrap(0)))) != 0
            && !self.is_absorbing(best, nan_acc)
    }
}

#[cfg(test)]
mod tests {
    use super::{ArgOrder, SmallFloatOrder, SmallLane};
    use crate::order::elements::{OrderFactory, Shared, Specialized};
    use crate::order::max_all;
    use crate::order::number::{IGNORE, PROPAGATE};
    use crate::simd::ops::{SimdOps, SmallFloatOps};
    use crate::simd::portable::Portable;
    use crate::types::{Element, NanPolicy, ReduceFunction, better};
    use bytemuck::{Zeroable, bytes_of};
    use half::{bf16, f16};

    /// Each order of `T` on two vectors: one float everywhere, and in one lane of the second vector any other.
    struct Check<T> {
        function: ReduceFunction,
        policy: NanPolicy,
        infinity: u16,
        of_bits: fn(u16) -> T,
    }

    impl<T: Element> Check<T> {
        const SIGN: u16 = 1 << (8 * size_of::<T>() - 1);
        const HIGHEST: u16 = Self::SIGN | (Self::SIGN - 1);

        fn is_nan(&self, bits: u16) -> bool {
            bits & !Self::SIGN > self.infinity
        }

        /// Above zero, or for ArgMin below.
        fn is_beyond_zero(&self, bits: u16) -> bool {
            bits & !Self::SIGN != 0 && (bits & Self::SIGN != 0) == (self.function == ReduceFunction::ArgMin)
        }

        /// Keys have the order of the floats. The fast path accepts its best if that is beyond zero and there is no
        /// NaN, and only then; and it is the best. A NaN accumulator of no vectors has seen no NaN, and changes nothing
        /// of what comes after.
        fn run<L: SmallLane, const FLIPS: bool, const MAX: bool>(
            &self,
            order: SmallFloatOrder<Portable<16>, L, FLIPS, MAX>,
        ) where
            Portable<16>: SmallFloatOps<L>,
        {
            let (simd, fast) = (order.simd(), order.fast());
            let splat = |bits: u16| simd.splat(L::wrap(bits.into()));
            let fourth = simd.and_not(simd.first_n_mask(4), simd.first_n_mask(3));
            let is_better = |a, b| better(self.function, self.policy, (self.of_bits)(a), (self.of_bits)(b));
            // Zeros, the numbers next to them, and infinities, of both signs.
            let plains = [0, 1, self.infinity].into_iter().flat_map(|bits| [bits, bits | Self::SIGN]);
            for (plain, other) in plains.flat_map(|plain| (0..=Self::HIGHEST).map(move |other| (plain, other))) {
                let what = || format!("{} {} of {plain:#x} and {other:#x}", self.function, self.policy);
                let (first, second) = (splat(plain), simd.select(fourth, splat(other), splat(plain)));
                let found = simd.movemask(order.gt_total_order(order.encode(second), order.encode(first)));
                let expected = if is_better(other, plain) { simd.movemask(fourth) } else { 0 };
                assert_eq!(found, expected, "{}", what());

                let vectors = [fast.encode(first), fast.encode(second)];
                let nan_acc = fast.accumulate_nan(Zeroable::zeroed(), &vectors);
                let best = SimdOps::<L>::reduce_splat(simd, max_all(fast, &vectors), true);
                let accepts = !self.is_nan(other) && [plain, other].iter().any(|&bits| self.is_beyond_zero(bits));
                assert_eq!(fast.accepts(best, nan_acc), accepts, "{}", what());
                let best = fast.decode(best);
                let best = [plain, other].into_iter().find(|&bits| bytes_of(&splat(bits)) == bytes_of(&best));
                let is_first = |bits| best.is_some_and(|best| bits == best || is_better(best, bits));
                assert!(!accepts || is_first(plain) && is_first(other), "{}: {best:x?}", what());
            }
            for bits in 0..=Self::HIGHEST {
                let (vector, nothing) = (fast.encode(splat(bits)), Zeroable::zeroed());
                assert_eq!(bytes_of(&fast.accumulate_nan(nothing, &[vector])), bytes_of(&vector), "{bits:#x}");
                let accepts = !self.is_nan(bits) && self.is_beyond_zero(bits);
                assert_eq!(fast.accepts(vector, nothing), accepts, "{bits:#x}");
            }
        }
    }

    #[test]
    fn orders_are_those_of_the_floats() {
        macro_rules! each {
            ($($t:ident $max:literal $nan:ident: $function:ident $policy:ident;)+) => {$(
                let (function, policy) = (ReduceFunction::$function, NanPolicy::$policy);
                let check = Check { function, policy, infinity: $t::INFINITY.to_bits(), of_bits: $t::from_bits };
                // SAFETY: every machine has arrays.
                let specialized = unsafe { Specialized::<Portable<16>, $t, $max, $nan>::make(()) };
                // SAFETY: as above.
                let shared = unsafe { Shared::<Portable<16>, $t, $max, $nan>::make(()) };
                check.run(specialized);
                check.run(shared);
            )+};
        }
        each! {
            f16 true PROPAGATE: ArgMax Propagate;
            f16 true IGNORE: ArgMax Ignore;
            f16 false PROPAGATE: ArgMin Propagate;
            f16 false IGNORE: ArgMin Ignore;
            bf16 true IGNORE: ArgMax Ignore;
            bf16 false PROPAGATE: ArgMin Propagate;
        }
    }
}
