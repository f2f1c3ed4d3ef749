//! Values that are likely to matter, for each type of elements. Nothing here knows what they are for.

use half::{bf16, f16};
use std::fmt::Debug;

/// A type of elements with values for tests and benchmarks.
///
/// ```
/// use argreduce_guard::Sample;
/// assert!(f32::SPECIAL.iter().any(|value| value.is_nan()) && <f32 as Sample>::NAN.is_some());
/// assert_eq!((i8::of_bits(0x1ff), (-1_i8).bits()), (-1, u64::MAX));
/// assert_eq!(((-0.0_f64).rank(), f64::NAN.rank()), (0.0_f64.rank(), None));
/// assert!(u8::ranked(0) == 0 && u8::ranked(u32::MAX) == 255 && u8::random(7) == 7);
/// ```
pub trait Sample: Copy + Debug + Default + 'static {
    /// The extremes and their neighbours, both zeros, subnormals, infinities, and NaNs of either sign, quiet and
    /// signalling. What no number is below comes first, an ordinary one sixth, and NaN last, of types that have it.
    const SPECIAL: &'static [Self];
    /// A NaN, of types that have some.
    const NAN: Option<Self>;
    /// Any value: the lowest bits count.
    fn of_bits(bits: u64) -> Self;
    /// The bits, to compare values that may be NaN. Above those of a signed integer is its sign.
    fn bits(self) -> u64;
    /// Where the value stands among the numbers of its type, equal ones at the same place; `None` for NaN. Of types
    /// that have NaN, neither 0 nor `u64::MAX`.
    fn rank(self) -> Option<u64>;
    /// A number from random bits: from the whole range of an integer, and of either sign and below 2 for a float, over
    /// nearly all of its exponents; so there are as few ties as the type allows.
    fn random(bits: u64) -> Self {
        Self::of_bits(bits)
    }
    /// Rises with `rank`, over the whole range of an integer and from -0.5 to 0.5 for a float. The narrow types have
    /// plateaus.
    fn ranked(rank: u32) -> Self;
}

macro_rules! integers {
    ($($t:ident)+) => {$(
        impl Sample for $t {
            const SPECIAL: &'static [$t] =
                &[$t::MIN, $t::MIN + 1, 0, 1, 2, $t::MAX / 2, $t::MAX / 2 + 1, $t::MAX - 1, $t::MAX];
            const NAN: Option<$t> = None;
            fn of_bits(bits: u64) -> $t {
                bits as $t
            }
            fn bits(self) -> u64 {
                self as u64
            }
            fn rank(self) -> Option<u64> {
                Some((self as u64).wrapping_sub($t::MIN as u64))
            }
            fn ranked(rank: u32) -> $t {
                ((u64::from(rank) << 32) >> (64 - $t::BITS)) as $t ^ $t::MIN
            }
        }
    )+};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($t:ident of $bits:ident, quiet $quiet:literal, from f64 $from_f64:expr;)+) => {$(
        impl Sample for $t {
            const SPECIAL: &'static [$t] = {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                const SIGNALLING: $bits = $t::INFINITY.to_bits() | 1;
                &[
                    $t::NEG_INFINITY, $t::INFINITY, $t::MAX, $t::MIN, $t::from_bits(0), $t::from_bits(SIGN),
                    $t::from_bits(1), $t::from_bits(SIGN | 1), $t::from_bits($quiet), $t::from_bits(SIGNALLING),
                    $t::from_bits(SIGN | SIGNALLING), $t::from_bits($bits::MAX),
                ]
            };
            const NAN: Option<$t> = Some($t::NAN);
            fn of_bits(bits: u64) -> $t {
                $t::from_bits(bits as $bits)
            }
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
            fn rank(self) -> Option<u64> {
                let (bits, sign) = (self.bits(), 1 << ($bits::BITS - 1));
                let magnitude = bits & !sign;
                let is_nan = magnitude > $t::INFINITY.bits();
                (!is_nan).then(|| if bits & sign != 0 { (1 << 63) - magnitude } else { (1 << 63) + magnitude })
            }
            /// Without the highest bit of the exponent there is neither NaN nor infinity.
            fn random(bits: u64) -> $t {
                $t::from_bits(bits as $bits & !(1 << ($bits::BITS - 2)))
            }
            fn ranked(rank: u32) -> $t {
                $from_f64(f64::from(rank) / f64::from(u32::MAX) - 0.5)
            }
        }
    )+};
}
floats! {
    f32 of u32, quiet 0x7fc0_0000, from f64 |x| x as f32;
    f64 of u64, quiet 0x7ff8_0000_0000_0000, from f64 |x| x;
    f16 of u16, quiet 0x7e00, from f64 f16::from_f64;
    bf16 of u16, quiet 0x7fc0, from f64 bf16::from_f64;
}

impl Sample for bool {
    const SPECIAL: &'static [bool] = &[false, true];
    const NAN: Option<bool> = None;
    fn of_bits(bits: u64) -> bool {
        bits & 1 != 0
    }
    fn bits(self) -> u64 {
        self.into()
    }
    fn rank(self) -> Option<u64> {
        Some(self.into())
    }
    fn ranked(rank: u32) -> bool {
        rank > u32::MAX / 2
    }
}
