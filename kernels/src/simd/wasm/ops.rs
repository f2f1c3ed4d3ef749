//! The table of vector operations of WebAssembly: a macro for integers and one for floats, with a line for each lane
//! type. Knows nothing of what operations are for.

use super::Simd128;
use crate::simd::cast;
use crate::simd::ops::{
    DistanceOps, EQ, NOT_LE, NoMinpos, SimdOps, SmallFloatOps, TreeOps, UNORDERED, binary, no_minpos,
};
use bytemuck::Pod;
use core::arch::wasm32::v128;

/// What depends on the width of a lane alone.
macro_rules! by_width {
    (8) => {
        by_width!(u8, u8x16_splat, i8x16_add, i8x16_sub, u8x16_gt, i8x16_bitmask);
    };
    (16) => {
        by_width!(u16, u16x8_splat, i16x8_add, i16x8_sub, u16x8_gt, i16x8_bitmask);
    };
    (32) => {
        by_width!(u32, u32x4_splat, i32x4_add, i32x4_sub, u32x4_gt, i32x4_bitmask);
    };
    (64) => {
        // Unsigned numbers of 64 bits are not compared there, and no index has the upper half of them.
        by_width!(u64, u64x2_splat, i64x2_add, i64x2_sub, i64x2_gt, i64x2_bitmask);
    };
    ($count:ident, $splat:ident, $add:ident, $sub:ident, $gt:ident, $bits:ident) => {
        type Vector = v128;
        type Mask = v128;
        type IndexVec = v128;
        type IndexLane = $count;
        type IndexArray = [$count; 16 / size_of::<$count>()];

        const BITS_PER_LANE: u32 = 1;

        no_minpos!();
        binary!(v128 => v128: xor = v128_xor of simd128, or = v128_or of simd128, and_not = v128_andnot of simd128,
            add = $add of simd128, index_gt = $gt of simd128);

        #[inline(always)]
        fn select<V: Pod>(self, mask: v128, yes: V, no: V) -> V {
            cast(self.0.simd128.v128_bitselect(cast(yes), cast(no), mask))
        }
        #[inline(always)]
        fn butterfly(self, v: v128, lanes: usize) -> v128 {
            self.butterfly_bytes(v, lanes * size_of::<$count>())
        }
        #[inline(always)]
        fn rotate<V: Pod>(self, v: V, lanes: usize) -> V {
            cast(self.rotate_bytes(cast(v), lanes * size_of::<$count>()))
        }
        #[inline(always)]
        fn movemask(self, mask: v128) -> u64 {
            u64::from(self.0.simd128.$bits(mask))
        }
        #[inline(always)]
        fn splat_index(self, n: u32) -> v128 {
            self.0.simd128.$splat(n as $count)
        }
        #[inline(always)]
        fn sub_mask(self, mask: v128, count: v128) -> v128 {
            // True is -1.
            self.0.simd128.$sub(count, mask)
        }
    };
}

macro_rules! integers {
    ($($lane:ident: $bits:tt, $splat:ident, $gt:ident, $eq:ident $(, $max:ident, $min:ident)?;)+) => {$(
        // SAFETY: the type is 128 bits, of such lanes; the operations are what the specification says of them.
        unsafe impl SimdOps<$lane> for Simd128 {
            by_width!($bits);
            $(binary!(v128 => v128: max = $max of simd128, min = $min of simd128);)?

            #[inline(always)]
            fn splat(self, value: $lane) -> v128 {
                self.0.simd128.$splat(value)
            }
            #[inline(always)]
            fn compare<const WHAT: i32>(self, a: v128, b: v128) -> v128 {
                match WHAT {
                    EQ => self.0.simd128.$eq(a, b),
                    UNORDERED => cast([0_u64; 2]),
                    _ => self.0.simd128.$gt(a, b),
                }
            }
        }
    )+};
}

#[rustfmt::skip]
integers! {
    i8:  8,  i8x16_splat, i8x16_gt, i8x16_eq, i8x16_max, i8x16_min;
    u8:  8,  u8x16_splat, u8x16_gt, u8x16_eq, u8x16_max, u8x16_min;
    i16: 16, i16x8_splat, i16x8_gt, i16x8_eq, i16x8_max, i16x8_min;
    u16: 16, u16x8_splat, u16x8_gt, u16x8_eq, u16x8_max, u16x8_min;
    i32: 32, i32x4_splat, i32x4_gt, i32x4_eq, i32x4_max, i32x4_min;
    u32: 32, u32x4_splat, u32x4_gt, u32x4_eq, u32x4_max, u32x4_min;
    i64: 64, i64x2_splat, i64x2_gt, i64x2_eq;
}

macro_rules! floats {
    ($($lane:ident: $bits:tt, $splat:ident, $gt:ident, $eq:ident, $le:ident, $ne:ident,
        $max:ident, $min:ident, $sub:ident, $abs:ident;)+) => {$(
        // SAFETY: as for integers.
        unsafe impl DistanceOps<$lane> for Simd128 {
            #[inline(always)]
            fn distance(self, a: v128, b: v128) -> v128 {
                self.0.simd128.$abs(self.0.simd128.$sub(a, b))
            }
        }

        // SAFETY: as for integers.
        unsafe impl SimdOps<$lane> for Simd128 {
            by_width!($bits);

            #[inline(always)]
            fn splat(self, value: $lane) -> v128 {
                self.0.simd128.$splat(value)
            }
            #[inline(always)]
            fn compare<const WHAT: i32>(self, a: v128, b: v128) -> v128 {
                let simd = self.0.simd128;
                match WHAT {
                    EQ => simd.$eq(a, b),
                    NOT_LE => simd.v128_not(simd.$le(a, b)),
                    UNORDERED => simd.v128_or(simd.$ne(a, a), simd.$ne(b, b)),
                    _ => simd.$gt(a, b),
                }
            }
            // The other way round: where they do not compare, the first is kept.
            #[inline(always)]
            fn max(self, new: v128, kept: v128) -> v128 {
                self.0.simd128.$max(kept, new)
            }
            #[inline(always)]
            fn min(self, new: v128, kept: v128) -> v128 {
                self.0.simd128.$min(kept, new)
            }
        }
    )+};
}

#[rustfmt::skip]
floats! {
    f32: 32, f32x4_splat, f32x4_gt, f32x4_eq, f32x4_le, f32x4_ne, f32x4_pmax, f32x4_pmin, f32x4_sub, f32x4_abs;
    f64: 64, f64x2_splat, f64x2_gt, f64x2_eq, f64x2_le, f64x2_ne, f64x2_pmax, f64x2_pmin, f64x2_sub, f64x2_abs;
}

// SAFETY: the instructions give what the specification says, and that is what the trait asks for.
unsafe impl TreeOps for Simd128 {
    #[inline(always)]
    fn deinterleave<V: Pod>(self, a: V, b: V, _: usize) -> (V, V) {
        let (a, b, simd) = (cast(a), cast(b), self.0.simd128);
        (cast(simd.i32x4_shuffle::<0, 2, 4, 6>(a, b)), cast(simd.i32x4_shuffle::<1, 3, 5, 7>(a, b)))
    }
}

// SAFETY: as above.
unsafe impl SmallFloatOps<i16> for Simd128 {
    binary!(v128 => v128: max_unsigned = u16x8_max of simd128);

    #[inline(always)]
    fn encode_float(self, raw: v128, bias: i16, saturating_bias: i16) -> v128 {
        let simd = self.0.simd128;
        let (magnitude, sign) = (simd.v128_and(raw, simd.i16x8_splat(i16::MAX)), simd.i16x8_shr(raw, 15));
        // Negated where the sign is -1, as what is left of all bits flipped is one less.
        let key = simd.i16x8_sub(simd.v128_xor(magnitude, sign), sign);
        let biased = simd.i16x8_add(key, simd.i16x8_splat(bias));
        simd.i16x8_add_sat(biased, simd.i16x8_splat(saturating_bias))
    }
}
