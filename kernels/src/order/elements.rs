//! Which orders each element type has, on every ISA: as types without values, which a function pointer can be made for.
//! A shared order costs an operation more for each vector loaded, but is the same type for both functions, and for
//! integers with and without sign: less than half of the code.

use super::masked::MaskedOrder;
use super::number::{AT_RUN_TIME, AsTheyAre, DistanceTo, IGNORE, NumberOrder, PROPAGATE};
use super::small_float::SmallFloatOrder;
use super::{ArgOrder, LaneElem};
use crate::memory::mask::InputMask;
use crate::simd::ops::{ByteMaskOps, DistanceOps, SimdOps, SmallFloatOps};
use crate::types::Element;
use core::marker::PhantomData;
use half::{bf16, f16};

/// An order, or two, as a type without values.
pub(crate) trait OrderFactory {
    type Order: Copy;
    /// What a call has to give for it: most often nothing.
    type Given: Copy;

    /// # Safety
    /// - The machine has the ISA of the order.
    /// - Where a mask is given: as for [`MaskedOrder::new`], as long as the order is used.
    unsafe fn make(given: Self::Given) -> Self::Order;
}

/// The order of another factory, [under a mask](MaskedOrder).
pub(crate) struct Masked<F>(PhantomData<F>);

impl<F> OrderFactory for Masked<F>
where
    F: OrderFactory<Given = (), Order: ArgOrder<Simd: ByteMaskOps<<F::Order as ArgOrder>::Lane>>>,
{
    type Order = MaskedOrder<F::Order>;
    type Given = InputMask;

    #[inline(always)]
    unsafe fn make(mask: InputMask) -> MaskedOrder<F::Order> {
        // SAFETY: the machine has the ISA, and the mask is as asked for.
        unsafe { MaskedOrder::new(F::make(()), mask) }
    }
}

/// On the ISA `S`, the order of `T` in the fewest operations: by the largest or the smallest, and with NaN in its
/// place.
pub(crate) struct Specialized<S, T, const MAX: bool, const NAN: u8>(PhantomData<(S, T)>);

/// The same, but for both policies: where rows that differ only once a NaN was found are not worth a copy for each.
pub(crate) struct OfRows<S, T, const MAX: bool, const NAN: u8>(PhantomData<(S, T)>);

/// An order that both functions share.
pub(crate) struct Shared<S, T, const MAX: bool, const NAN: u8>(PhantomData<(S, T)>);

/// An order that both policies share, too: for columns, where they differ only once a NaN was found.
pub(crate) struct OfColumns<S, T, const MAX: bool, const NAN: u8>(PhantomData<(S, T)>);

/// That of how far elements are from one, whose bits are given: shared as that of columns.
pub(crate) struct OfDistances<S, T, const MAX: bool, const NAN: u8>(PhantomData<(S, T)>);

/// By the operations that an ISA needs, and how it is made of a token.
macro_rules! order {
    ($t:ident by $ops:path: $($name:ident)+ => $order:ty, $simd:ident => $new:expr) => {$(
        impl<S: $ops, const MAX: bool, const NAN: u8> OrderFactory for $name<S, $t, MAX, NAN> {
            type Order = $order;
            type Given = ();

            #[inline(always)]
            unsafe fn make((): ()) -> $order {
                // SAFETY: the caller's promise.
                let $simd = unsafe { S::assume() };
                $new
            }
        }
    )+};
}

/// Lanes that are elements.
macro_rules! lanes {
    ($($t:ident)+) => {$(
        impl LaneElem for $t {
            const LOWEST: $t = <$t as Element>::LOWEST;
            const HIGHEST: $t = <$t as Element>::HIGHEST;
            const HAS_NAN: bool = <$t as Element>::ANY_NAN.is_some();
            const NAN: $t = match <$t as Element>::ANY_NAN {
                Some(nan) => nan,
                None => <$t as Element>::ZERO,
            };
        }
    )+};
}

lanes!(i8 u8 i16 u16 i32 u32 i64 f32 f64);

/// Types of elements, the integers that they are, the signed ones that compare as they do, and the best of them.
macro_rules! integers {
    ($($t:ident: $lane:ident as $signed:ident up to $highest:expr;)+) => {$(
        order!($t by SimdOps<$lane>: Specialized OfRows => NumberOrder<S, $lane, false, MAX, IGNORE>, simd => {
            let supreme = if MAX { $highest } else { $lane::MIN };
            NumberOrder { simd, flipped: 0, nan_wins: false, supreme, seen: AsTheyAre }
        });
        integers!($t: $lane as $signed up to $highest, in Shared OfColumns);
    )+};
    ($t:ident: $lane:ident as $signed:ident up to $highest:expr, in $($name:ident)+) => {
        order!($t by SimdOps<$signed>: $($name)+ => NumberOrder<S, $signed, true, true, IGNORE>, simd => {
            let to_signed = if $lane::MIN == 0 { $signed::MIN } else { 0 };
            let flipped = if MAX { to_signed } else { !to_signed };
            let supreme = (if MAX { $highest } else { $lane::MIN }) as $signed ^ flipped;
            NumberOrder { simd, flipped, nan_wins: false, supreme, seen: AsTheyAre }
        });
    };
}

integers! {
    bool: u8 as i8 up to 1;
    i8: i8 as i8 up to i8::MAX;
    u8: u8 as i8 up to u8::MAX;
    i16: i16 as i16 up to i16::MAX;
    u16: u16 as i16 up to u16::MAX;
    i32: i32 as i32 up to i32::MAX;
    u32: u32 as i32 up to u32::MAX;
    i64: i64 as i64 up to i64::MAX;
}
// A vector holds few of them, and x86 compares them as signed ones only.
integers!(u64: u64 as i64 up to u64::MAX, in Specialized OfRows Shared OfColumns);

macro_rules! floats {
    ($($t:ident)+) => {$(
        floats!($t: Specialized => false, MAX, NAN);
        floats!($t: Shared => true, true, NAN);
        floats!($t: OfRows => false, MAX, AT_RUN_TIME);
        floats!($t: OfColumns => true, true, AT_RUN_TIME);

        impl<S: DistanceOps<$t>, const MAX: bool, const NAN: u8> OrderFactory for OfDistances<S, $t, MAX, NAN> {
            type Order = NumberOrder<S, $t, true, true, AT_RUN_TIME, DistanceTo<$t>>;
            type Given = u64;

            #[inline(always)]
            unsafe fn make(bits: u64) -> Self::Order {
                // SAFETY: the caller's promise.
                let order = unsafe { OfColumns::<S, $t, MAX, NAN>::make(()) };
                let NumberOrder { simd, flipped, nan_wins, supreme, .. } = order;
                NumberOrder { simd, flipped, nan_wins, supreme, seen: DistanceTo($t::from_bits(bits as _)) }
            }
        }
    )+};
    ($t:ident: $name:ident => $flips:literal, $max:tt, $nan:ident) => {
        order!($t by SimdOps<$t>: $name => NumberOrder<S, $t, $flips, $max, $nan>, simd => {
            let supreme = if MAX || $flips { $t::INFINITY } else { $t::NEG_INFINITY };
            let (flipped, nan_wins) = (if MAX { 0.0 } else { -0.0 }, NAN == PROPAGATE);
            NumberOrder { simd, flipped, nan_wins, supreme, seen: AsTheyAre }
        });
    };
}

floats!(f32 f64);

macro_rules! small_floats {
    ($($t:ident in $lane:ident up to $infinity:expr;)+) => {$(
        order!($t by SmallFloatOps<$lane>: Specialized OfRows => SmallFloatOrder<S, $lane, false, MAX>, simd => {
            SmallFloatOrder::new(simd, $infinity.to_bits().into(), (NAN == PROPAGATE) == MAX, false)
        });
        order!($t by SmallFloatOps<$lane>: Shared OfColumns => SmallFloatOrder<S, $lane, true, true>, simd => {
            SmallFloatOrder::new(simd, $infinity.to_bits().into(), NAN == PROPAGATE, !MAX)
        });
    )+};
}

small_floats! {
    f16 in i16 up to f16::INFINITY;
    bf16 in i16 up to bf16::INFINITY;
}
