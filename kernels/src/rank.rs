//! From element types, functions and NaN policies, as types, to the order that each ISA has for them: what becomes of elements once they are loaded, in how few
//! operations. Nothing here compares anything.

use crate::half_key::HalfKey;
use crate::lanes::{HalfLanes, Lanes};
use crate::order::{Order, Ranking};
use core::marker::PhantomData;
use half::{bf16, f16};

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
    nan_wins: bool,
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
    /// See [`Order::Fast`].
    type Fast: Key<S, Lane = Self::Lane>;
    const HAS_FAST: bool = false;
    /// Whether [`Key::is_final`] may be true.
    const MAY_STOP: bool = false;
    /// Whether [`Key::Trace`] is to be kept, although lanes have no NaN.
    const IS_FAST: bool = false;

    fn of(self, simd: S, raw: S::Vector) -> S::Vector;
    fn fast(self, largest: bool) -> Self::Fast;
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
    /// See [`Order::is_final`].
    #[inline(always)]
    fn is_final(self, _: S, _best: S::Vector, _: Self::Trace, _largest: bool) -> bool {
        false
    }
    /// See [`Order::is_promising`].
    #[inline(always)]
    fn is_promising(self, _: S, _: S::Vector) -> bool {
        true
    }
    /// See [`Order::accepts`].
    #[inline(always)]
    fn accepts(self, _: S, _best: S::Vector, _: Self::Trace) -> bool {
        true
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
pub(crate) struct AsIs<L>(PhantomData<L>);
impl<S: Lanes<L>, L: Lane> Key<S> for AsIs<L> {
    type Lane = L;
    no_fast_path!();

    #[inline(always)]
    fn of(self, _: S, raw: S::Vector) -> S::Vector {
        raw
    }
    traced_by_lanes!();
}

/// With some bits flipped: the top bit of unsigned integers, so that they compare as signed ones; for ArgMin, the sign of floats and all
/// other bits of integers, so that the best is the largest.
#[derive(Clone, Copy)]
pub(crate) struct Flipped<L>(L);
impl<S: Lanes<L>, L: Lane> Key<S> for Flipped<L> {
    type Lane = L;
    no_fast_path!();

    #[inline(always)]
    fn of(self, simd: S, raw: S::Vector) -> S::Vector {
        simd.xor(raw, simd.splat(self.0))
    }
    traced_by_lanes!();
}

/// Elements that the ISA `S` can rank.
pub(crate) trait Rank<S>: Copy + 'static {
    /// Whether an order of its own is worth its code in rows. Not for 64-bit integers where they have a maximum, or are [flipped](Lanes::IS_FLIPPED) by either. (Zen 5, GB/s in
    /// L2, AVX2: rows of 10, 21, 64, 100 and 4096 i64 48, 72, 101, 100 and 160, and by an order of their own 56, 81, 112, 109 and 172.)
    const HAS_OWN: bool = true;
    /// The same of single rows. (64 bits, of which a vector holds the fewest: calls on 256 i64 went from 24.7 to 22.7 ns, on 64 from 8.2 to 7.8; Zen 5, AVX2. 16-bit floats and f32: see there. Of
    /// others, it would be 2 to 8 % of their time, and 50 KB.)
    const HAS_OWN_ALONE: bool = size_of::<Self>() == 8;
    /// Of all rows, whichever way they go, and of pieces.
    const HAS_OWN_ALWAYS: bool = false;

    /// An order in the fewest operations.
    type Own<F: Function, P: Policy>: Order;
    /// An order that costs an operation more for each vector loaded, but is the same type for both functions, and for integers with and
    /// without sign: less than half of the code.
    type Shared<F: Function, P: Policy>: Order;
    /// The same for both policies, too: for columns, where they differ only once a NaN was found. (An order for each was more than 150 KB of the shared object.)
    type Columns<F: Function>: Order;

    fn own<F: Function, P: Policy>(simd: S) -> Self::Own<F, P>;
    fn shared<F: Function, P: Policy>(simd: S) -> Self::Shared<F, P>;
    fn columns<F: Function, P: Policy>(simd: S) -> Self::Columns<F>;
}

macro_rules! integers {
    ($($t:ident as $signed:ident;)+) => {$(
        impl Lane for $t {
            const LOWEST: $t = $t::MIN;
            const HIGHEST: $t = $t::MAX;
            const HAS_NAN: bool = false;
            const NAN: $t = 0;
            #[inline(always)]
            fn is_infinite(self) -> bool {
                false
            }
        }

        impl<S: Lanes<$t> + Lanes<$signed>> Rank<S> for $t {
            const HAS_OWN: bool = size_of::<$t>() < 8 || !<S as Lanes<$t>>::HAS_MAX && !<S as Lanes<$t>>::IS_FLIPPED;
            const HAS_OWN_ALONE: bool = size_of::<$t>() == 8 && !<S as Lanes<$t>>::IS_FLIPPED;

            type Own<F: Function, P: Policy> = Ranking<S, AsIs<$t>, F, Ignore>;
            type Shared<F: Function, P: Policy> = Ranking<S, Flipped<$signed>, Max, Ignore>;
            type Columns<F: Function> = Self::Shared<F, Ignore>;

            #[inline(always)]
            fn own<F: Function, P: Policy>(simd: S) -> Self::Own<F, P> {
                Ranking::new(simd, AsIs(PhantomData), Ignore)
            }
            #[inline(always)]
            fn shared<F: Function, P: Policy>(simd: S) -> Self::Shared<F, P> {
                let to_signed = if $t::MIN == 0 { $signed::MIN } else { 0 };
                Ranking::new(simd, Flipped(if F::IS_MAX { to_signed } else { !to_signed }), Ignore)
            }
            #[inline(always)]
            fn columns<F: Function, P: Policy>(simd: S) -> Self::Columns<F> {
                Self::shared::<F, Ignore>(simd)
            }
        }
    )+};
}

macro_rules! floats {
    ($($t:ident),+) => {$(
        impl Lane for $t {
            const LOWEST: $t = $t::NEG_INFINITY;
            const HIGHEST: $t = $t::INFINITY;
            const HAS_NAN: bool = true;
            const NAN: $t = $t::NAN;
            #[inline(always)]
            fn is_infinite(self) -> bool {
                self.is_infinite()
            }
        }

        impl<S: Lanes<$t>> Rank<S> for $t {
            // (One row of f32 in L2 77 and 102 GB/s, by AVX-512 92 and 110; a Xeon.)
            const HAS_OWN_ALONE: bool = true;

            type Own<F: Function, P: Policy> = Ranking<S, AsIs<$t>, F, P>;
            type Shared<F: Function, P: Policy> = Ranking<S, Flipped<$t>, Max, P>;
            type Columns<F: Function> = Ranking<S, Flipped<$t>, Max, Either>;

            #[inline(always)]
            fn own<F: Function, P: Policy>(simd: S) -> Self::Own<F, P> {
                Ranking::new(simd, AsIs(PhantomData), P::default())
            }
            #[inline(always)]
            fn shared<F: Function, P: Policy>(simd: S) -> Self::Shared<F, P> {
                Ranking::new(simd, Flipped(if F::IS_MAX { 0.0 } else { -0.0 }), P::default())
            }
            #[inline(always)]
            fn columns<F: Function, P: Policy>(simd: S) -> Self::Columns<F> {
                let flipped = Flipped(if F::IS_MAX { 0.0 } else { -0.0 });
                Ranking::new(simd, flipped, Either { nan_wins: P::NAN_WINS })
            }
        }
    )+};
}

macro_rules! halves {
    ($($t:ident),+) => {$(
        impl<S: HalfLanes> Rank<S> for $t {
            // (Bits take two operations for each vector, and one more if they flip a sign: one row of f16 in L2 111 and 89 GB/s, by AVX-512 98 and 83; a Xeon.)
            const HAS_OWN_ALONE: bool = true;
            const HAS_OWN_ALWAYS: bool = true;

            type Own<F: Function, P: Policy> = Ranking<S, HalfKey<false>, F, Ignore>;
            type Shared<F: Function, P: Policy> = Ranking<S, HalfKey<true>, Max, Ignore>;
            // (In L2, an operation more for each vector, for both functions in one, was 0.86 to 0.93 of the speed over 2 to 21 rows, and 0.94 in rows of 2 to 21; a Xeon, AVX2.)
            type Columns<F: Function> = Self::Own<F, Ignore>;

            #[inline(always)]
            fn own<F: Function, P: Policy>(simd: S) -> Self::Own<F, P> {
                let nan_is_above = P::NAN_WINS == F::IS_MAX;
                Ranking::new(simd, HalfKey::new($t::INFINITY.to_bits() as i16, nan_is_above, false), Ignore)
            }
            #[inline(always)]
            fn shared<F: Function, P: Policy>(simd: S) -> Self::Shared<F, P> {
                Ranking::new(simd, HalfKey::new($t::INFINITY.to_bits() as i16, P::NAN_WINS, !F::IS_MAX), Ignore)
            }
            #[inline(always)]
            fn columns<F: Function, P: Policy>(simd: S) -> Self::Columns<F> {
                Self::own::<F, P>(simd)
            }
        }
    )+};
}

integers! {
    i8 as i8;
    u8 as i8;
    i16 as i16;
    u16 as i16;
    i32 as i32;
    u32 as i32;
    i64 as i64;
    u64 as i64;
}
floats!(f32, f64);
halves!(f16, bf16);
