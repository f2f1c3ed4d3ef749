//! Which orders each element type has, on every ISA.

use super::f16::HalfKey;
use super::key::{AsIs, Either, Flipped, Function, Ignore, Lane, Max, Policy};
use super::{Order, Ranking};
use crate::simd::ops::{HalfLanes, Lanes};
use core::marker::PhantomData;
use half::{bf16, f16};

/// Elements that the ISA `S` can rank.
pub(crate) trait Rank<S>: Copy + 'static {
    /// Whether an order of its own is worth its code in rows: not for 64-bit integers that have a maximum, of which a
    /// vector holds few.
    const HAS_OWN: bool = true;
    /// The same of single rows.
    const HAS_OWN_ALONE: bool = size_of::<Self>() == 8;

    /// An order in the fewest operations.
    type Own<F: Function, P: Policy>: Order;
    /// An order that costs an operation more for each vector loaded, but is the same type for both functions, and for
    /// integers with and without sign: less than half of the code.
    type Shared<F: Function, P: Policy>: Order;
    /// The same for both policies, too: for columns, where they differ only once a NaN was found.
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
        }

        impl<S: Lanes<$t> + Lanes<$signed>> Rank<S> for $t {
            const HAS_OWN: bool = size_of::<$t>() < 8 || !<S as Lanes<$t>>::HAS_MAX;

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
        }

        impl<S: Lanes<$t>> Rank<S> for $t {
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
            const HAS_OWN_ALONE: bool = true;

            type Own<F: Function, P: Policy> = Ranking<S, HalfKey<false>, F, Ignore>;
            type Shared<F: Function, P: Policy> = Ranking<S, HalfKey<true>, Max, Ignore>;
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
