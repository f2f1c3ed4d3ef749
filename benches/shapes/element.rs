//! What the benchmark must know of each element type: how to make values of it (and of the [crate
//! argminmax](crate::peer), how it answers). Knows nothing of shapes or of time. A new type is one row at the end.

use crate::peer::Peer;
use crate::subject::{By, New, Old};
use argreduce::Element;
use half::{bf16, f16};

pub trait Sample: Element + Peer + By<New> + By<Old> {
    /// What a pattern puts where it wants a NaN; `None` for types that have none.
    const NAN: Option<Self>;

    /// A number from random bits: from the whole range of an integer, and of either sign and below 2 for a float, over
    /// nearly all of its exponents; so there are as few ties as the type allows.
    fn random(bits: u64) -> Self;

    /// Rises with `rank`, over the whole range of an integer and from -0.5 to 0.5 for a float. The narrow types have
    /// plateaus.
    fn ranked(rank: u32) -> Self;
}

macro_rules! samples {
    ($($t:ident: $nan:expr, $random:expr, $ranked:expr;)+) => {$(
        impl Sample for $t {
            const NAN: Option<Self> = $nan;

            fn random(bits: u64) -> Self {
                $random(bits)
            }

            fn ranked(rank: u32) -> Self {
                $ranked(rank)
            }
        }
    )+};
}

macro_rules! integers {
    ($($t:ident)+) => {
        samples! {$(
            $t: None, |bits| bits as $t, |rank: u32| ((u64::from(rank) << 32) >> (64 - $t::BITS)) as $t ^ $t::MIN;
        )+}
    };
}

/// `$top` is the highest bit of the exponent, without which there is neither NaN nor infinity.
macro_rules! floats {
    ($($t:ident from $bits:ident without $top:literal, $from_f64:expr;)+) => {
        samples! {$(
            $t: Some($t::NAN), |bits| $t::from_bits(bits as $bits & !$top),
                |rank| $from_f64(f64::from(rank) / f64::from(u32::MAX) - 0.5);
        )+}
    };
}

integers!(i8 u8 i16 u16 i32 u32 i64 u64);
floats! {
    f32 from u32 without 0x4000_0000, |x| x as f32;
    f16 from u16 without 0x4000, f16::from_f64;
    bf16 from u16 without 0x4000, bf16::from_f64;
    f64 from u64 without 0x4000_0000_0000_0000, |x| x;
}
