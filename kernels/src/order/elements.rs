//! Which orders each element type has, on every ISA.

use super::f16::F16Key;
use super::key::{Function, IdentityKey, Ignore, LaneElem, Max, Policy, RuntimeNanPolicy, XorKey};
use super::{ArgOrder, KeyedOrder};
use crate::simd::ops::{F16KeyOps, SimdOps};
use core::marker::PhantomData;
use half::{bf16, f16};

/// Elements that the ISA `S` can rank.
pub(crate) trait ElementOrders<S>: Copy + 'static {
    /// Whether an order of its own is worth its code in rows: not for 64-bit integers that have a maximum, of which a
    /// vector holds few.
    const HAS_SPECIALIZED: bool = true;
    /// The same of single rows.
    const SPECIALIZES_SINGLE_ROWS: bool = size_of::<Self>() == 8;

    /// An order in the fewest operations.
    type Specialized<F: Function, P: Policy>: ArgOrder;
    /// An order that costs an operation more for each vector loaded, but is the same type for both functions, and for
    /// integers with and without sign: less than half of the code.
    type Shared<F: Function, P: Policy>: ArgOrder;
    /// The same for both policies, too: for columns, where they differ only once a NaN was found.
    type Columns<F: Function>: ArgOrder;

    fn specialized<F: Function, P: Policy>(simd: S) -> Self::Specialized<F, P>;
    fn shared<F: Function, P: Policy>(simd: S) -> Self::Shared<F, P>;
    fn columns<F: Function, P: Policy>(simd: S) -> Self::Columns<F>;
}

macro_rules! integers {
    ($($t:ident as $signed:ident;)+) => {$(
        impl LaneElem for $t {
            const LOWEST: $t = $t::MIN;
            const HIGHEST: $t = $t::MAX;
            const HAS_NAN: bool = false;
            const NAN: $t = 0;
        }

        impl<S: SimdOps<$t> + SimdOps<$signed>> ElementOrders<S> for $t {
            const HAS_SPECIALIZED: bool = size_of::<$t>() < 8 || !<S as SimdOps<$t>>::HAS_MAX;

            type Specialized<F: Function, P: Policy> = KeyedOrder<S, IdentityKey<$t>, F, Ignore>;
            type Shared<F: Function, P: Policy> = KeyedOrder<S, XorKey<$signed>, Max, Ignore>;
            type Columns<F: Function> = Self::Shared<F, Ignore>;

            #[inline(always)]
            fn specialized<F: Function, P: Policy>(simd: S) -> Self::Specialized<F, P> {
                KeyedOrder::new(simd, IdentityKey(PhantomData), Ignore)
            }
            #[inline(always)]
            fn shared<F: Function, P: Policy>(simd: S) -> Self::Shared<F, P> {
                let to_signed = if $t::MIN == 0 { $signed::MIN } else { 0 };
                KeyedOrder::new(simd, XorKey(if F::IS_MAX { to_signed } else { !to_signed }), Ignore)
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
        impl LaneElem for $t {
            const LOWEST: $t = $t::NEG_INFINITY;
            const HIGHEST: $t = $t::INFINITY;
            const HAS_NAN: bool = true;
            const NAN: $t = $t::NAN;
        }

        impl<S: SimdOps<$t>> ElementOrders<S> for $t {
            const SPECIALIZES_SINGLE_ROWS: bool = true;

            type Specialized<F: Function, P: Policy> = KeyedOrder<S, IdentityKey<$t>, F, P>;
            type Shared<F: Function, P: Policy> = KeyedOrder<S, XorKey<$t>, Max, P>;
            type Columns<F: Function> = KeyedOrder<S, XorKey<$t>, Max, RuntimeNanPolicy>;

            #[inline(always)]
            fn specialized<F: Function, P: Policy>(simd: S) -> Self::Specialized<F, P> {
                KeyedOrder::new(simd, IdentityKey(PhantomData), P::default())
            }
            #[inline(always)]
            fn shared<F: Function, P: Policy>(simd: S) -> Self::Shared<F, P> {
                KeyedOrder::new(simd, XorKey(if F::IS_MAX { 0.0 } else { -0.0 }), P::default())
            }
            #[inline(always)]
            fn columns<F: Function, P: Policy>(simd: S) -> Self::Columns<F> {
                let flipped = XorKey(if F::IS_MAX { 0.0 } else { -0.0 });
                KeyedOrder::new(simd, flipped, RuntimeNanPolicy { nan_wins: P::NAN_WINS })
            }
        }
    )+};
}

macro_rules! halves {
    ($($t:ident),+) => {$(
        impl<S: F16KeyOps> ElementOrders<S> for $t {
            const SPECIALIZES_SINGLE_ROWS: bool = true;

            type Specialized<F: Function, P: Policy> = KeyedOrder<S, F16Key<false>, F, Ignore>;
            type Shared<F: Function, P: Policy> = KeyedOrder<S, F16Key<true>, Max, Ignore>;
            type Columns<F: Function> = Self::Specialized<F, Ignore>;

            #[inline(always)]
            fn specialized<F: Function, P: Policy>(simd: S) -> Self::Specialized<F, P> {
                let nan_is_above = P::NAN_WINS == F::IS_MAX;
                KeyedOrder::new(simd, F16Key::new($t::INFINITY.to_bits() as i16, nan_is_above, false), Ignore)
            }
            #[inline(always)]
            fn shared<F: Function, P: Policy>(simd: S) -> Self::Shared<F, P> {
                KeyedOrder::new(simd, F16Key::new($t::INFINITY.to_bits() as i16, P::NAN_WINS, !F::IS_MAX), Ignore)
            }
            #[inline(always)]
            fn columns<F: Function, P: Policy>(simd: S) -> Self::Columns<F> {
                Self::specialized::<F, P>(simd)
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
