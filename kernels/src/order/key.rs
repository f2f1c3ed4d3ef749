//! From element types, functions and NaN policies, as types, to the order that each ISA has for them: what becomes of elements once they are loaded, in how few
//! operations. Nothing here compares anything.

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
    fn is_infinite(self) -> bool;
}

/// How elements become lanes on the ISA `S`, once they are loaded.
pub(crate) trait Key<S: Lanes<Self::Lane>>: Copy {
    type Lane: Lane;
    /// See [`Order::Bits`].
    type Bits: Key<S, Lane = Self::Lane>;
    /// See [`Order::BitsBelowZero`].
    type BitsBelowZero: Key<S, Lane = Self::Lane>;
    /// See [`Order::Shifted`].
    type Shifted: Key<S, Lane = Self::Lane>;
    const HAS_BITS: bool = false;
    const DOUBTS: bool = false;

    fn of(self, simd: S, raw: S::Vector) -> S::Vector;
    /// The elements that [`Key::of`] made these of: to flip bits once more gives them.
    #[inline(always)]
    fn raw(self, simd: S, v: S::Vector) -> S::Vector {
        self.of(simd, v)
    }
    fn bits(self, largest: bool) -> Self::Bits;
    fn bits_below_zero(self, largest: bool) -> Self::BitsBelowZero;
    #[inline(always)]
    fn shifted(self, _largest: bool) -> Option<Self::Shifted> {
        None
    }
    /// See [`Order::Trace`].
    type Trace: Copy;
    fn trace_of<const V: usize>(self, simd: S, vectors: &[S::Vector; V]) -> Self::Trace;
    #[inline(always)]
    fn no_trace(self, simd: S) -> Self::Trace {
        self.trace_of(simd, &[simd.splat(Self::Lane::LOWEST)])
    }
    fn traced(self, simd: S, a: Self::Trace, b: Self::Trace) -> Self::Trace;
    /// See [`Order::suspects`].
    fn suspects(self, simd: S, trace: Self::Trace) -> bool;
    /// Whether a best value, which is in every lane, is in doubt whatever else there is.
    #[inline(always)]
    fn is_in_doubt(self, _: S, _: S::Vector) -> bool {
        false
    }
    /// See [`Order::is_promising`].
    #[inline(always)]
    fn is_promising(self, _: S, _: S::Vector) -> bool {
        true
    }
    /// See [`Order::knows`].
    #[inline(always)]
    fn knows(self, _: S, _: S::Vector) -> bool {
        true
    }
    /// See [`Order::doubtful`].
    #[inline(always)]
    fn doubtful(self, simd: S, _best: S::Vector, _: Self::Trace) -> S::Mask {
        simd.none()
    }
    /// Where a lane of a fold, or of its trace, is a NaN after which nothing can be better, or [of use](Order::DOUBTS).
    #[inline(always)]
    fn final_nans(self, simd: S, _best: S::Vector, _: Self::Trace, _largest: bool) -> S::Mask {
        simd.none()
    }
}

/// The trace of lanes that may be NaN.
macro_rules! traced_by_lanes {
    () => {
        type Trace = S::Trace;

        #[inline(always)]
        fn trace_of<const V: usize>(self, simd: S, vectors: &[S::Vector; V]) -> S::Trace {
            simd.trace_of(vectors)
        }
        #[inline(always)]
        fn traced(self, simd: S, a: S::Trace, b: S::Trace) -> S::Trace {
            simd.traced(a, b)
        }
        #[inline(always)]
        fn suspects(self, simd: S, trace: S::Trace) -> bool {
            simd.suspects(trace)
        }
    };
}
pub(crate) use traced_by_lanes;

/// Another order that nobody asks for.
macro_rules! no_bits {
    () => {
        type Bits = Self;
        type BitsBelowZero = Self;
        type Shifted = Self;

        #[inline(always)]
        fn bits(self, _: bool) -> Self {
            self
        }
        #[inline(always)]
        fn bits_below_zero(self, _: bool) -> Self {
            self
        }
    };
}
pub(crate) use no_bits;

/// As they are.
#[derive(Clone, Copy)]
pub(crate) struct AsIs<L>(pub(super) PhantomData<L>);
impl<S: Lanes<L>, L: Lane> Key<S> for AsIs<L> {
    type Lane = L;
    no_bits!();

    #[inline(always)]
    fn of(self, _: S, raw: S::Vector) -> S::Vector {
        raw
    }
    traced_by_lanes!();
}

/// With some bits flipped: the top bit of unsigned integers, so that they compare as signed ones; for ArgMin, the sign of floats and all
/// other bits of integers, so that the best is the largest.
#[derive(Clone, Copy)]
pub(crate) struct Flipped<L>(pub(super) L);
impl<S: Lanes<L>, L: Lane> Key<S> for Flipped<L> {
    type Lane = L;
    no_bits!();

    #[inline(always)]
    fn of(self, simd: S, raw: S::Vector) -> S::Vector {
        simd.xor(raw, simd.splat(self.0))
    }
    traced_by_lanes!();
}
