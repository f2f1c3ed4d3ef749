//! The table of vector operations of NEON: a macro for integers and one for floats, with a line for each lane type.
//! Masks are bytes, whatever the lanes. Knows nothing of what operations are for.

use super::Neon;
use crate::simd::cast;
use crate::simd::ops::{
    DistanceOps, EQ, NOT_LE, NoMinpos, SimdOps, SmallFloatOps, TreeOps, UNORDERED, binary, no_minpos,
};
use bytemuck::Pod;
use core::arch::aarch64::*;

/// What depends on the width of a lane alone.
macro_rules! by_width {
    (8) => {
        by_width!(u8, uint8x16_t, vdupq_n_u8, vaddq_u8, vcgtq_u8);
    };
    (16) => {
        by_width!(u16, uint16x8_t, vdupq_n_u16, vaddq_u16, vcgtq_u16);
    };
    (32) => {
        by_width!(u32, uint32x4_t, vdupq_n_u32, vaddq_u32, vcgtq_u32);
    };
    (64) => {
        by_width!(u64, uint64x2_t, vdupq_n_u64, vaddq_u64, vcgtq_u64);
    };
    ($count:ident, $unsigned:ident, $splat:ident, $add:ident, $gt:ident) => {
        type Mask = uint8x16_t;
        type IndexVec = $unsigned;
        type IndexLane = $count;
        type IndexArray = [$count; 16 / size_of::<$count>()];

        const BITS_PER_LANE: u32 = 4 * size_of::<$count>() as u32;

        no_minpos!();
        binary!(Self::Vector => Self::Vector: xor = veorq_u8 of neon);
        binary!(uint8x16_t => uint8x16_t: or = vorrq_u8 of neon, and_not = vbicq_u8 of neon);
        binary!($unsigned => $unsigned: add = $add of neon);
        binary!($unsigned => uint8x16_t: index_gt = $gt of neon);

        #[inline(always)]
        fn select<V: Pod>(self, mask: uint8x16_t, yes: V, no: V) -> V {
            cast(self.0.neon.vbslq_u8(mask, cast(yes), cast(no)))
        }
        #[inline(always)]
        fn butterfly(self, v: Self::Vector, lanes: usize) -> Self::Vector {
            cast(self.butterfly_bytes(cast(v), lanes * size_of::<$count>()))
        }
        #[inline(always)]
        fn rotate<V: Pod>(self, v: V, lanes: usize) -> V {
            cast(self.rotate_bytes(cast(v), lanes * size_of::<$count>()))
        }
        #[inline(always)]
        fn movemask(self, mask: uint8x16_t) -> u64 {
            // 4 equal bits for each byte.
            cast(self.0.neon.vshrn_n_u16::<4>(cast(mask)))
        }
        #[inline(always)]
        fn splat_index(self, n: u32) -> $unsigned {
            self.0.neon.$splat(n as $count)
        }
    };
}

macro_rules! integers {
    ($($lane:ident: $bits:tt, $vector:ident, $splat:ident, $gt:ident, $eq:ident
        $(, $max:ident, $min:ident)?;)+) => {$(
        // SAFETY: the types are 128 bits of such lanes; the operations are those that Arm says of the intrinsics.
        unsafe impl SimdOps<$lane> for Neon {
            by_width!($bits);
            $(binary!($vector => $vector: max = $max of neon, min = $min of neon);)?
            type Vector = $vector;

            #[inline(always)]
            fn splat(self, value: $lane) -> $vector {
                self.0.neon.$splat(value)
            }
            #[inline(always)]
            fn compare<const WHAT: i32>(self, a: $vector, b: $vector) -> uint8x16_t {
                match WHAT {
                    EQ => cast(self.0.neon.$eq(a, b)),
                    UNORDERED => self.0.neon.vdupq_n_u8(0),
                    _ => cast(self.0.neon.$gt(a, b)),
                }
            }
        }
    )+};
}

#[rustfmt::skip]
integers! {
    i8:  8,  int8x16_t,  vdupq_n_s8,  vcgtq_s8,  vceqq_s8,  vmaxq_s8, vminq_s8;
    u8:  8,  uint8x16_t, vdupq_n_u8,  vcgtq_u8,  vceqq_u8,  vmaxq_u8, vminq_u8;
    i16: 16, int16x8_t,  vdupq_n_s16, vcgtq_s16, vceqq_s16, vmaxq_s16, vminq_s16;
    u16: 16, uint16x8_t, vdupq_n_u16, vcgtq_u16, vceqq_u16, vmaxq_u16, vminq_u16;
    i32: 32, int32x4_t,  vdupq_n_s32, vcgtq_s32, vceqq_s32, vmaxq_s32, vminq_s32;
    u32: 32, uint32x4_t, vdupq_n_u32, vcgtq_u32, vceqq_u32, vmaxq_u32, vminq_u32;
    i64: 64, int64x2_t,  vdupq_n_s64, vcgtq_s64, vceqq_s64;
}

macro_rules! floats {
    ($($lane:ident: $bits:tt, $vector:ident, $splat:ident, $gt:ident, $eq:ident, $le:ident, $keep_nan:ident,
        $distance:ident;)+) => {$(
        // SAFETY: as for integers.
        unsafe impl DistanceOps<$lane> for Neon {
            binary!($vector => $vector: distance = $distance of neon);
        }

        // SAFETY: as for integers.
        unsafe impl SimdOps<$lane> for Neon {
            by_width!($bits);
            type Vector = $vector;

            #[inline(always)]
            fn splat(self, value: $lane) -> $vector {
                self.0.neon.$splat(value)
            }
            #[inline(always)]
            fn compare<const WHAT: i32>(self, a: $vector, b: $vector) -> uint8x16_t {
                let neon = self.0.neon;
                match WHAT {
                    EQ => cast(neon.$eq(a, b)),
                    NOT_LE => neon.vmvnq_u8(cast(neon.$le(a, b))),
                    UNORDERED => {
                        // Unlike the maximum above, that of the machine is NaN if either operand is; and only NaN
                        // differs from itself.
                        let kept = neon.$keep_nan(a, b);
                        neon.vmvnq_u8(cast(neon.$eq(kept, kept)))
                    }
                    _ => cast(neon.$gt(a, b)),
                }
            }
            // For the same reason, one test for all of them.
            #[inline(always)]
            fn or_nans<const V: usize>(self, acc: uint8x16_t, vectors: &[$vector; V]) -> uint8x16_t {
                let (mut kept, mut n) = (vectors[0], 1);
                while n + 1 < V {
                    kept = self.0.neon.$keep_nan(kept, vectors[n]);
                    n += 1;
                }
                let nans = <Self as SimdOps<$lane>>::compare::<UNORDERED>(self, kept, vectors[V - 1]);
                <Self as SimdOps<$lane>>::or(self, acc, nans)
            }
        }
    )+};
}

#[rustfmt::skip]
floats! {
    f32: 32, float32x4_t, vdupq_n_f32, vcgtq_f32, vceqq_f32, vcleq_f32, vmaxq_f32, vabdq_f32;
    f64: 64, float64x2_t, vdupq_n_f64, vcgtq_f64, vceqq_f64, vcleq_f64, vmaxq_f64, vabdq_f64;
}

// SAFETY: the instructions give what Arm says, and that is what the trait asks for.
unsafe impl TreeOps for Neon {
    #[inline(always)]
    fn deinterleave<V: Pod>(self, a: V, b: V, _: usize) -> (V, V) {
        let (a, b) = (cast(a), cast(b));
        (cast(self.0.neon.vuzp1q_u32(a, b)), cast(self.0.neon.vuzp2q_u32(a, b)))
    }
}

macro_rules! small_floats {
    ($($t:ident $vector:ident: $dup:ident $sub:ident $add:ident $bsl:ident $cltz:ident $qadd:ident $max:ident;)+) => {$(
        // SAFETY: as above.
        unsafe impl SmallFloatOps<$t> for Neon {
            binary!($vector => $vector: max_unsigned = $max of neon);

            #[inline(always)]
            fn encode_float(self, raw: $vector, bias: $t, saturating_bias: $t) -> $vector {
                let neon = self.0.neon;
                // What is below zero, minus the bits, is the magnitude negated, modulo 2 to the number of bits.
                let negative_biased = neon.$sub(neon.$dup(bias ^ $t::MIN), raw);
                let biased = neon.$add(raw, neon.$dup(bias));
                let biased = neon.$bsl(neon.$cltz(raw), negative_biased, biased);
                neon.$qadd(biased, neon.$dup(saturating_bias))
            }
        }
    )+};
}

small_floats! {
    i16 int16x8_t: vdupq_n_s16 vsubq_s16 vaddq_s16 vbslq_s16 vcltzq_s16 vqaddq_s16 vmaxq_u16;
}
