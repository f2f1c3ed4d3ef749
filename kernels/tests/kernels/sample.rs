//! Values that are likely to matter, for each type. Nothing here knows what they are for.

use argreduce_kernels::Element;
use half::{bf16, f16};

/// Test data for a type: few distinct values, so that ties are everywhere, the extremes among them.
pub trait Sample: Element + bytemuck::Pod {
    const VALUES: &'static [Self];
}

macro_rules! integer_samples {
    ($($t:ident)+) => {$(
        impl Sample for $t {
            const VALUES: &'static [$t] = &[$t::MIN, $t::MIN + 1, 0, 1, 2, $t::MAX / 2, $t::MAX - 1, $t::MAX];
        }
    )+};
}
integer_samples!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! float_samples {
    ($($t:ident: $from_bits:expr, $quiet_nan:literal, $signalling_nan:literal, $negative_nan:literal;)+) => {$(
        impl Sample for $t {
            const VALUES: &'static [$t] = &[
                $t::NEG_INFINITY, $t::INFINITY, $t::MAX, $t::MIN, $from_bits(0),
                $from_bits(1 << (size_of::<$t>() * 8 - 1)),
                $from_bits(1), $from_bits((1 << (size_of::<$t>() * 8 - 1)) + 1),
                $from_bits($quiet_nan), $from_bits($signalling_nan), $from_bits($negative_nan),
            ];
        }
    )+};
}
float_samples! {
    f32: f32::from_bits, 0x7fc0_0000, 0x7f80_0001, 0xffff_ffff;
    f64: f64::from_bits, 0x7ff8_0000_0000_0000, 0x7ff0_0000_0000_0001, 0xffff_ffff_ffff_ffff;
    f16: f16::from_bits, 0x7e00, 0x7c01, 0xffff;
    bf16: bf16::from_bits, 0x7fc0, 0x7f81, 0xffff;
}
