//! From element types, functions and NaN policies, as types, to the order that each ISA has for them: what becomes of
//! elements once they are loaded, in how few operations. Nothing here compares anything.

use crate::simd::ops::Lanes;
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
pub(crate) struct Either {
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
impl Policy for Either {
    const NAN_WINS: bool = false;
    const NAN_LOSES: bool = false;
    #[inline(always)]
    fn nan_wins(self) -> bool {
        self.nan_wins
    }
}

/// What lanes hold.
pub(crate) trait Lane: Copy + 'static {
    /// No lane is below.
    const LOWEST: Self;
    /// No lane is above.
    const HIGHEST: Self;
    const HAS_NAN: bool;
    /// A NaN, if there is one.
    const NAN: Self;
}

/// How elements become lanes on the ISA `S`, once they are loaded.
pub(crate) trait Key<S: Lanes<Self::Lane>>: Copy {
    type Lane: Lane;
    /// See [`Order::Fast`].
    type Fast: Key<S, Lane = Self::Lane>;
    const HAS_FAST: bool = false;
    /// Whether [`Key::is_final`] may be true.
    const MAY_STOP: bool = false;

    fn of(self, simd: S, raw: S::Vector) -> S::Vector;
    fn fast(self, largest: bool) -> Self::Fast;
    /// See [`Order::Trace`].
    type Trace: Copy;
    fn no_trace(self, simd: S) -> Self::Trace;
    fn traced<const V: usize>(self, simd: S, trace: Self::Trace, vectors: &[S::Vector; V]) -> Self::Trace;
    /// See [`Order::is_final`].
    fn is_final(self, simd: S, best: S::Vector, trace: Self::Trace, largest: bool) -> bool;
    /// See [`Order::accepts`].
    #[inline(always)]
    fn accepts(self, _: S, _best: S::Vector, _: Self::Trace) -> bool {
        true
    }
}

/// The trace of an exact key: where lanes were NaN.
macro_rules! traced_by_lanes {
    () => {
        type Trace = S::Mask;

        #[inline(always)]
        fn no_trace(self, simd: S) -> S::Mask {
            simd.none()
        }
        #[inline(always)]
        fn traced<const V: usize>(self, simd: S, trace: S::Mask, vectors: &[S::Vector; V]) -> S::Mask {
            simd.or(trace, simd.nans_of(vectors))
        }
    };
}
pub(crate) use traced_by_lanes;

/// [`Key::Fast`] of a key that has none.
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
pub(crate) struct AsIs<L>(pub(super) PhantomData<L>);
impl<S: Lanes<L>, L: Lane> Key<S> for AsIs<L> {
    type Lane = L;
    no_fast_path!();

    #[inline(always)]
    fn of(self, _: S, raw: S::Vector) -> S::Vector {
        raw
    }
    traced_by_lanes!();

    #[inline(always)]
    fn is_final(self, simd: S, _: S::Vector, nans: S::Mask, _: bool) -> bool {
        simd.bits(nans) != 0
    }
}

/// With some bits flipped: the top bit of unsigned integers, so that they compare as signed ones; for ArgMin, the sign
/// of floats and all other bits of integers, so that the best is the largest.
#[derive(Clone, Copy)]
pub(crate) struct Flipped<L>(pub(super) L);
impl<S: Lanes<L>, L: Lane> Key<S> for Flipped<L> {
    type Lane = L;
    no_fast_path!();

    #[inline(always)]
    fn of(self, simd: S, raw: S::Vector) -> S::Vector {
        simd.xor(raw, simd.splat(self.0))
    }
    traced_by_lanes!();

    #[inline(always)]
    fn is_final(self, simd: S, _: S::Vector, nans: S::Mask, _: bool) -> bool {
        simd.bits(nans) != 0
    }
}
