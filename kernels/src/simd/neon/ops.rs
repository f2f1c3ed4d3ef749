//! The table of vector operations of NEON: a macro for integers and one for floats, with a line for each lane type.
//! Knows nothing of what operations are for.

use super::Neon;
use crate::simd::ops::{F16KeyOps, SimdOps, iota};
use core::arch::aarch64::*;

/// What depends on the width of a lane alone.
#[rustfmt::skip]
macro_rules! by_width {
    (8) => {
        by_width!(u8, uint8x16_t, vreinterpretq_u16_u8, vdupq_n_u8, vaddq_u8, vcgtq_u8, vbslq_u8, vorrq_u8, vbicq_u8,
            (vuzp1q_u8, vuzp2q_u8));
    };
    (16) => {
        by_width!(u16, uint16x8_t, same, vdupq_n_u16, vaddq_u16, vcgtq_u16, vbslq_u16, vorrq_u16, vbicq_u16,
            (vuzp1q_u16, vuzp2q_u16));
    };
    (32) => {
        by_width!(u32, uint32x4_t, vreinterpretq_u16_u32, vdupq_n_u32, vaddq_u32, vcgtq_u32, vbslq_u32, vorrq_u32,
            vbicq_u32, (vuzp1q_u32, vuzp2q_u32));
    };
    (64) => {
        by_width!(u64, uint64x2_t, vreinterpretq_u16_u64, vdupq_n_u64, vaddq_u64, vcgtq_u64, vbslq_u64, vorrq_u64,
            vbicq_u64, (vuzp1q_u64, vuzp2q_u64));
    };
    ($count:ident, $unsigned:ident, $as_u16:ident, $splat:ident, $add:ident, $gt:ident, $select:ident, $or:ident,
        $and_not:ident, ($even:ident, $odd:ident)) => {
        type Mask = $unsigned;
        type IndexVec = $unsigned;
        type IndexLane = $count;
        type IndexArray = [$count; 16 / size_of::<$count>()];

        const BITS_PER_LANE: u32 = 4 * size_of::<$count>() as u32;

        #[inline(always)]
        fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            bytemuck::cast(self.0.neon.veorq_u8(bytemuck::cast(a), bytemuck::cast(b)))
        }
        #[inline(always)]
        fn butterfly(self, v: Self::Vector, lanes: usize) -> Self::Vector {
            bytemuck::cast(self.butterfly_bytes(bytemuck::cast(v), lanes * size_of::<$count>()))
        }
        #[inline(always)]
        fn rotate(self, v: Self::Vector, lanes: usize) -> Self::Vector {
            bytemuck::cast(self.rotate_bytes(bytemuck::cast(v), lanes * size_of::<$count>()))
        }
        #[inline(always)]
        fn deinterleave(self, a: Self::Vector, b: Self::Vector, _: usize) -> (Self::Vector, Self::Vector) {
            let (a, b) = (bytemuck::cast(a), bytemuck::cast(b));
            (bytemuck::cast(self.0.neon.$even(a, b)), bytemuck::cast(self.0.neon.$odd(a, b)))
        }
        #[inline(always)]
        fn or(self, a: $unsigned, b: $unsigned) -> $unsigned {
            self.0.neon.$or(a, b)
        }
        #[inline(always)]
        fn and_not(self, a: $unsigned, b: $unsigned) -> $unsigned {
            self.0.neon.$and_not(a, b)
        }
        #[inline(always)]
        fn movemask(self, mask: $unsigned) -> u64 {
            self.movemask_bytes(self.$as_u16(mask))
        }
        #[inline(always)]
        fn splat_index(self, n: u32) -> $unsigned {
            self.0.neon.$splat(n as $count)
        }
        #[inline(always)]
        fn first_n_mask(self, n: usize) -> $unsigned {
            const LANES: usize = 16 / size_of::<$count>();
            const TABLE: [[$count; LANES]; 2] = [[$count::MAX; LANES], [0; LANES]];
            let from = TABLE.as_flattened()[LANES - n..].first_chunk::<LANES>();
            bytemuck::cast(*from.expect("n is at most LANES"))
        }
        #[inline(always)]
        fn iota(self, from_the_end: bool) -> $unsigned {
            bytemuck::cast(iota!($count, 16, from_the_end))
        }
        #[inline(always)]
        fn add(self, a: $unsigned, b: $unsigned) -> $unsigned {
            self.0.neon.$add(a, b)
        }
        #[inline(always)]
        fn index_gt(self, a: $unsigned, b: $unsigned) -> $unsigned {
            self.0.neon.$gt(a, b)
        }
        #[inline(always)]
        fn index_array(self, indices: $unsigned) -> Self::IndexArray {
            bytemuck::cast(indices)
        }
    };
}

/// What all lanes have under a name of their own.
macro_rules! by_lane {
    ($lane:ident, $bits:tt, $vector:ident: $splat:ident, $load:ident, $gt:ident, $eq:ident, $select:ident,
        $max:ident, $min:ident) => {
        by_width!($bits);
        type Vector = $vector;

        #[inline(always)]
        fn splat(self, value: $lane) -> $vector {
            self.0.neon.$splat(value)
        }
        #[inline(always)]
        unsafe fn load(self, at: *const $lane) -> $vector {
            // SAFETY: the caller promises `LANES` readable elements; the load is aligned to elements only.
            unsafe { self.0.neon.$load(at) }
        }
        #[inline(always)]
        fn gt(self, a: $vector, b: $vector) -> Self::Mask {
            self.0.neon.$gt(a, b)
        }
        #[inline(always)]
        fn eq(self, a: $vector, b: $vector) -> Self::Mask {
            self.0.neon.$eq(a, b)
        }
        #[inline(always)]
        fn max(self, new: $vector, kept: $vector) -> $vector {
            self.$max(new, kept)
        }
        #[inline(always)]
        fn min(self, new: $vector, kept: $vector) -> $vector {
            self.$min(new, kept)
        }
        #[inline(always)]
        fn select(self, mask: Self::Mask, yes: $vector, no: $vector) -> $vector {
            self.0.neon.$select(mask, yes, no)
        }
    };
}

macro_rules! integers {
    ($($lane:ident: $bits:tt, $($name:ident),+;)+) => {$(
        impl SimdOps<$lane> for Neon {
            const HAS_MAX: bool = $bits < 64;
            integers!($lane, $bits, $($name),+);
        }
    )+};
    ($lane:ident, $bits:tt, $vector:ident, $($name:ident),+) => {
        by_lane!($lane, $bits, $vector: $($name),+);
    };
}

#[rustfmt::skip]
integers! {
    i8:  8,  int8x16_t,  vdupq_n_s8,  vld1q_s8,  vcgtq_s8,  vceqq_s8,  vbslq_s8,  vmaxq_s8,  vminq_s8;
    u8:  8,  uint8x16_t, vdupq_n_u8,  vld1q_u8,  vcgtq_u8,  vceqq_u8,  vbslq_u8,  vmaxq_u8,  vminq_u8;
    i16: 16, int16x8_t,  vdupq_n_s16, vld1q_s16, vcgtq_s16, vceqq_s16, vbslq_s16, vmaxq_s16, vminq_s16;
    u16: 16, uint16x8_t, vdupq_n_u16, vld1q_u16, vcgtq_u16, vceqq_u16, vbslq_u16, vmaxq_u16, vminq_u16;
    i32: 32, int32x4_t,  vdupq_n_s32, vld1q_s32, vcgtq_s32, vceqq_s32, vbslq_s32, vmaxq_s32, vminq_s32;
    u32: 32, uint32x4_t, vdupq_n_u32, vld1q_u32, vcgtq_u32, vceqq_u32, vbslq_u32, vmaxq_u32, vminq_u32;
    i64: 64, int64x2_t,  vdupq_n_s64, vld1q_s64, vcgtq_s64, vceqq_s64, vbslq_s64, max_i64,   min_i64;
    u64: 64, uint64x2_t, vdupq_n_u64, vld1q_u64, vcgtq_u64, vceqq_u64, vbslq_u64, max_u64,   min_u64;
}

macro_rules! floats {
    ($($lane:ident: $bits:tt, $vector:ident, $not:ident, $le:ident, $keep_nan:ident, $eq:ident,
        $($name:ident),+;)+) => {$(
        impl SimdOps<$lane> for Neon {
            floats!($lane, $bits, $vector, $eq, $($name),+);

            #[inline(always)]
            fn gt_or_unordered(self, a: $vector, b: $vector) -> Self::Mask {
                self.$not(self.0.neon.$le(a, b))
            }
            // Only NaN differs from itself.
            #[inline(always)]
            fn unordered(self, a: $vector, b: $vector) -> Self::Mask {
                let kept = self.$keep_nan(a, b);
                self.$not(self.0.neon.$eq(kept, kept))
            }
            // The maximum of the machine is NaN where either operand is: one test for all of them.
            #[inline(always)]
            fn or_nans<const V: usize>(self, acc: Self::Mask, vectors: &[$vector; V]) -> Self::Mask {
                let (mut kept, mut n) = (vectors[0], 1);
                while n + 1 < V {
                    kept = self.$keep_nan(kept, vectors[n]);
                    n += 1;
                }
                let nans = <Self as SimdOps<$lane>>::unordered(self, kept, vectors[V - 1]);
                <Self as SimdOps<$lane>>::or(self, acc, nans)
            }
        }
    )+};
    ($lane:ident, $bits:tt, $vector:ident, $eq:ident, $splat:ident, $load:ident, $gt:ident, $($name:ident),+) => {
        by_lane!($lane, $bits, $vector: $splat, $load, $gt, $eq, $($name),+);
    };
}

#[rustfmt::skip]
floats! {
    f32: 32, float32x4_t, not_u32, vcleq_f32, keep_nan_f32, vceqq_f32, vdupq_n_f32, vld1q_f32, vcgtq_f32,
        vbslq_f32, max_f32, min_f32;
    f64: 64, float64x2_t, not_u64, vcleq_f64, keep_nan_f64, vceqq_f64, vdupq_n_f64, vld1q_f64, vcgtq_f64,
        vbslq_f64, max_f64, min_f64;
}

impl F16KeyOps for Neon {
    #[inline(always)]
    fn encode_f16(self, raw: int16x8_t, bias: i16, saturating_bias: i16) -> int16x8_t {
        let neon = self.0.neon;
        // What is below zero, minus the bits, is the magnitude negated, modulo 2^16.
        let negative_biased = neon.vsubq_s16(neon.vdupq_n_s16(bias ^ i16::MIN), raw);
        let biased = neon.vaddq_s16(raw, neon.vdupq_n_s16(bias));
        let biased = neon.vbslq_s16(neon.vcltzq_s16(raw), negative_biased, biased);
        neon.vqaddq_s16(biased, neon.vdupq_n_s16(saturating_bias))
    }

    #[inline(always)]
    fn minus(self, v: int16x8_t, bias: i16) -> int16x8_t {
        self.0.neon.vsubq_s16(v, self.0.neon.vdupq_n_s16(bias))
    }

    #[inline(always)]
    fn max_unsigned(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        let neon = self.0.neon;
        neon.vreinterpretq_s16_u16(neon.vmaxq_u16(neon.vreinterpretq_u16_s16(a), neon.vreinterpretq_u16_s16(b)))
    }
}
