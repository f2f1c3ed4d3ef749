//! Element types as fuzzing needs them: from any bits, to bits, and with their special values.

use argreduce::Element;
use half::{bf16, f16};

/// A type with values that are likely to matter.
pub(crate) trait Sample: Element {
    /// Extremes and their neighbours, both zeros, subnormals, infinities, NaNs.
    const SPECIAL: &'static [Self];
    /// Any value: the lowest bits count.
    fn of_bits(bits: u64) -> Self;
    /// The bits, to compare values that may be NaN.
    fn bits(self) -> u64;
    /// Where the value stands among the numbers of its type, equal ones at the same place; `None` for NaN. Of types
    /// that have NaN, neither 0 nor `u64::MAX`.
    fn rank(self) -> Option<u64>;
}

macro_rules! integers {
    ($($t:ident)+) => {$(
        impl Sample for $t {
            const SPECIAL: &'static [$t] =
                &[0, 1, $t::MIN, $t::MIN + 1, $t::MAX, $t::MAX - 1, $t::MAX / 2, $t::MAX / 2 + 1];
            fn of_bits(bits: u64) -> $t {
                bits as $t
            }
            fn bits(self) -> u64 {
                self as u64
            }
            fn rank(self) -> Option<u64> {
                Some((self as u64).wrapping_sub($t::MIN as u64))
            }
        }
    )+};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($t:ident $bits:ident: $quiet:literal, $signalling:literal;)+) => {$(
        impl Sample for $t {
            const SPECIAL: &'static [$t] = {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                &[
                    $t::from_bits(0), $t::from_bits(SIGN), $t::from_bits(1), $t::from_bits(SIGN | 1), $t::MAX, $t::MIN,
                    $t::INFINITY, $t::NEG_INFINITY, $t::from_bits($quiet), $t::from_bits($signalling),
                    $t::from_bits($quiet | SIGN), $t::from_bits($signalling | SIGN), $t::from_bits($bits::MAX),
                ]
            };
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
        }
    )+};
}
floats! {
    f32 u32: 0x7fc0_0000, 0x7f80_0001;
    f64 u64: 0x7ff8_0000_0000_0000, 0x7ff0_0000_0000_0001;
    f16 u16: 0x7e00, 0x7c01;
    bf16 u16: 0x7fc0, 0x7f81;
}

impl Sample for bool {
    const SPECIAL: &'static [bool] = &[false, true];
    fn of_bits(bits: u64) -> bool {
        bits & 1 != 0
    }
    fn bits(self) -> u64 {
        self.into()
    }
    fn rank(self) -> Option<u64> {
        Some(self.into())
    }
}
