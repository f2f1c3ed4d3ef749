//! From element types, functions and NaN policies, as types, to the order that each ISA has for them: what becomes of
//! elements once they are loaded, in how few operations. Nothing here compares anything.

use crate::simd::ops::SimdOps;
use core::marker::PhantomData;

/// A [`ReduceFunction`](crate::ReduceFunction) as a type.
pub(crate) trait Function: Copy + 'static {
    const IS_MAX: bool;
}
#[derive(Clone, Copy)]
pub(crate) struct Max;
#[derive(Clone, Copy)]
pub(crate) struct Min;
impl Function for Max {
    const IS_MAX: bool = true;
}
impl Function for Min {
    const IS_MAX: bool = false;
}

/// A [`NanPolicy`](crate::NanPolicy): as a type, or as a value where a type of its own is not worth its code.
pub(crate) trait Policy: Copy + Default + 'static {
    /// Whether NaN is known to be better than every number, or worse.
    const NAN_WINS: bool;
    const NAN_LOSES: bool;
    /// Whether it is better.
    #[inline(always)]
    fn nan_wins(self) -> bool {
        Self::NAN_WINS
    }
}
#[derive(Clone, Copy, Default)]
pub(crate) struct Propagate;
#[derive(Clone, Copy, Default)]
pub(crate) struct Ignore;
/// Either of them, known at run time.
#[derive(Clone, Copy, Default)]
pub(crate) struct RuntimeNanPolicy {
    pub(super) nan_wins: bool,
}
impl Policy for Propagate {
    const NAN_WINS: bool = true;
    const NAN_LOSES: bool = false;
}
impl Policy for Ignore {
    const NAN_WINS: bool = false;
    const NAN_LOSES: bool = true;
}
impl Policy for RuntimeNanPolicy {
    const NAN_WINS: bool = false;
    const NAN_LOSES: bool = false;
    #[inline(always)]
    fn nan_wins(self) -> bool {
        self.nan_wins
    }
}

/// What lanes hold.
pub(crate) trait LaneElem: Copy + 'static {
    /// No lane is below.
    const LOWEST: Self;
    /// No lane is above.
    const HIGHEST: Self;
    const HAS_NAN: bool;
    /// A NaN, if there is one.
    const NAN: Self;
}

/// How elements become lanes on the ISA `S`, once they are loaded.
pub(crate) trait SortKey<S: SimdOps<Self::Lane>>: Copy {
    type Lane: LaneElem;
    /// See [`ArgOrder::Fast`].
    type Fast: SortKey<S, Lane = Self::Lane>;
    const HAS_FAST: bool = false;
    /// Whether [`SortKey::is_absorbing`] may be true.
    const MAY_EXIT_EARLY: bool = false;

    fn encode(self, simd: S, raw: S::Vector) -> S::Vector;
    /// Back to elements: see [`ArgOrder::decode`](super::ArgOrder::decode).
    fn decode(self, simd: S, lanes: S::Vector) -> S::Vector;
    /// See [`ArgOrder::lost`](super::ArgOrder::lost).
    #[inline(always)]
    fn lost(self, simd: S, lanes: S::Vector) -> S::Mask {
        if Self::Lane::HAS_NAN { simd.unordered(lanes, lanes) } else { simd.first_n_mask(0) }
    }
    fn fast(self, largest: bool) -> Self::Fast;
    /// See [`ArgOrder::NanAcc`].
    type NanAcc: Copy;
    fn empty_nan_acc(self, simd: S) -> Self::NanAcc;
    fn accumulate_nan<const V: usize>(self, simd: S, nan_acc: Self::NanAcc, vectors: &[S::Vector; V]) -> Self::NanAcc;
    /// See [`ArgOrder::is_absorbing`].
    fn is_absorbing(self, simd: S, best: S::Vector, nan_acc: Self::NanAcc, largest: bool) -> bool;
    /// See [`ArgOrder::accepts`].
    #[inline(always)]
    fn accepts(self, _: S, _best: S::Vector, _: Self::NanAcc) -> bool {
        true
    }
}

/// The NaN accumulator of an exact key: where lanes were NaN.
macro_rules! nan_acc_by_lanes {
    () => {
        type NanAcc = S::Mask;

        #[inline(always)]
        fn empty_nan_acc(self, simd: S) -> S::Mask {
            simd.first_n_mask(0)
        }
        #[inline(always)]
        fn accumulate_nan<const V: usize>(self, simd: S, nan_acc: S::Mask, vectors: &[S::Vector; V]) -> S::Mask {
            simd.or_nans(nan_acc, vectors)
        }
    };
}
pub(crate) use nan_acc_by_lanes;

/// [`SortKey::Fast`] of a key that has none.
macro_rules! no_fast_path {
    () => {
        type Fast = Self;

        #[inline(always)]
        fn fast(self, _: bool) -> Self {
            self
        }
    };
}
pub(crate) use no_fast_path;

/// As they are.
#[derive(Clone, Copy)]
pub(crate) struct IdentityKey<L>(pub(super) PhantomData<L>);
impl<S: SimdOps<L>, L: LaneElem> SortKey<S> for IdentityKey<L> {
    type Lane = L;
    no_fast_path!();

    #[inline(always)]
    fn encode(self, _: S, raw: S::Vector) -> S::Vector {
        raw
    }
    #[inline(always)]
    fn decode(self, _: S, lanes: S::Vector) -> S::Vector {
        lanes
    }
    nan_acc_by_lanes!();

    #[inline(always)]
    fn is_absorbing(self, simd: S, _: S::Vector, nans: S::Mask, _: bool) -> bool {
        simd.movemask(nans) != 0
    }
}

/// With some bits flipped: the top bit of unsigned integers, so that they compare as signed ones; for ArgMin, the sign
/// of floats and all other bits of integers, so that the best is the largest.
#[derive(Clone, Copy)]
pub(crate) struct XorKey<L>(pub(super) L);
impl<S: SimdOps<L>, L: LaneElem> SortKey<S> for XorKey<L> {
    type Lane = L;
    no_fast_path!();

    #[inline(always)]
    fn encode(self, simd: S, raw: S::Vector) -> S::Vector {
        simd.xor(raw, simd.splat(self.0))
    }
    #[inline(always)]
    fn decode(self, simd: S, lanes: S::Vector) -> S::Vector {
        self.encode(simd, lanes)
    }
    nan_acc_by_lanes!();

    #[inline(always)]
    fn is_absorbing(self, simd: S, _: S::Vector, nans: S::Mask, _: bool) -> bool {
        simd.movemask(nans) != 0
    }
}
