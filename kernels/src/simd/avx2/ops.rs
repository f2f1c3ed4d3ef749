//! The table of vector operations of AVX2: a macro for integers and one for floats, with a line for each lane type.
//! Knows nothing of what operations are for.

use super::Avx2;
use crate::simd::cast;
use crate::simd::ops::{
    DistanceOps, EQ, MinposOps, NoMinpos, SimdOps, SmallFloatOps, TreeOps, UNORDERED, binary, no_minpos,
};
use bytemuck::Pod;
use core::arch::x86_64::*;

/// What depends on the width of a lane alone. AVX2 has masked loads of wide lanes, which are slower than loads of whole
/// vectors.
#[rustfmt::skip]
macro_rules! by_width {
    (8, $lane:ident) => {
        by_width!($lane, u8 as i8 by u8, _mm256_set1_epi8, _mm256_add_epi8, _mm256_sub_epi8, gt_u8,
            movemask_8, 1,);
    };
    // Two equal bits for each 16-bit lane.
    (16, $lane:ident) => {
        by_width!($lane, u16 as i16 by u16, _mm256_set1_epi16, _mm256_add_epi16, _mm256_sub_epi16, gt_u16,
            movemask_8, 2,);
    };
    (32, $lane:ident) => {
        by_width!($lane, u32 as i32 by u32, _mm256_set1_epi32, _mm256_add_epi32, _mm256_sub_epi32, gt_u32,
            movemask_32, 1, _mm256_maskload_epi32);
    };
    (64, $lane:ident) => {
        by_width!($lane, u64 as i64 by i64, _mm256_set1_epi64x, _mm256_add_epi64, _mm256_sub_epi64, _mm256_cmpgt_epi64,
            movemask_64, 1, _mm256_maskload_epi64);
    };
    ($lane:ident, $count:ident as $signed:ident by $ordered:ident, $splat:ident, $add:ident, $sub:ident, $gt:ident,
        $bits:ident, $bits_per_lane:literal, $($masked_load:ident)?) => {
        type Vector = __m256i;
        type Mask = __m256i;
        type IndexVec = __m256i;
        type IndexLane = $count;
        type IndexArray = [$count; 32 / size_of::<$count>()];

        const BITS_PER_LANE: u32 = $bits_per_lane;

        // Indices of 64 bits are compared as signed ones: counts never get so large.
        binary!(__m256i => __m256i: xor = _mm256_xor_si256, or = _mm256_or_si256, add = $add, index_gt = $gt);

        $(
            #[inline(always)]
            unsafe fn load_first_n(self, at: *const $lane, n: usize) -> __m256i {
                let mask = <Self as SimdOps<$lane>>::first_n_mask(self, n);
                // SAFETY: the caller promises the elements that are not masked off; the others are not read.
                unsafe { self.$masked_load(at.cast(), mask) }
            }
        )?
        #[inline(always)]
        fn select<V: Pod>(self, mask: __m256i, yes: V, no: V) -> V {
            cast(self._mm256_blendv_epi8(cast(no), cast(yes), mask))
        }
        #[inline(always)]
        fn butterfly(self, v: __m256i, lanes: usize) -> __m256i {
            self.butterfly_bytes(v, lanes * size_of::<$count>())
        }
        #[inline(always)]
        fn rotate<V: Pod>(self, v: V, lanes: usize) -> V {
            cast(self.rotate_lanes::<{ size_of::<$count>() }>(cast(v), lanes))
        }
        #[inline(always)]
        fn and_not(self, a: __m256i, b: __m256i) -> __m256i {
            self._mm256_andnot_si256(b, a)
        }
        #[inline(always)]
        fn movemask(self, mask: __m256i) -> u64 {
            self.$bits(mask)
        }
        #[inline(always)]
        fn splat_index(self, n: u32) -> __m256i {
            self.0.avx.$splat(n as $count as $signed)
        }
        #[inline(always)]
        fn sub_mask(self, mask: __m256i, count: __m256i) -> __m256i {
            self.$sub(count, mask)
        }
        // Written out, because what the compiler makes of it varies, and may go lane by lane. See
        // docs/tuning.md#reasons-behind-the-shape-of-the-code.
        #[inline(always)]
        fn reduce_min_index(self, indices: __m256i) -> $count {
            let smallest = if $count::BITS == 64 {
                // Their upper halves are 0, so that a minimum of 32 bits is theirs.
                let other = <Self as SimdOps<$ordered>>::butterfly(self, indices, 2);
                let indices = self._mm256_min_epu32(other, indices);
                let other = <Self as SimdOps<$ordered>>::butterfly(self, indices, 1);
                self._mm256_min_epu32(other, indices)
            } else {
                <Self as SimdOps<$ordered>>::reduce_splat(self, indices, false)
            };
            cast::<_, Self::IndexArray>(smallest)[0]
        }
    };
}

/// What the one horizontal instruction of x86 serves, where it does.
macro_rules! horizontally {
    ((), $lane:ident) => {
        no_minpos!();
    };
    (($reduce_splat:ident, $minpos:ident, $minpos_lanes:literal), $lane:ident) => {
        type Minpos = Self;

        #[inline(always)]
        fn minpos_ops(self) -> Option<Self> {
            Some(self)
        }
        #[inline(always)]
        fn reduce_splat(self, v: __m256i, largest: bool) -> __m256i {
            // What turns the best lane into 0.
            self.$reduce_splat(v, (if largest { $lane::MAX } else { $lane::MIN }) as _)
        }
    };
}

macro_rules! minpos {
    ((), $lane:ident) => {};
    (($reduce_splat:ident, $minpos:ident, $minpos_lanes:literal), $lane:ident) => {
        // SAFETY: `_mm_minpos_epu16` gives a number that a lane has, as Intel says.
        unsafe impl MinposOps<$lane, __m256i, __m256i> for Avx2 {
            const LANES: usize = $minpos_lanes;

            #[inline(always)]
            fn minpos(self, v: __m256i, numbers: __m256i, largest: bool) -> usize {
                self.$minpos(v, numbers, (if largest { $lane::MAX } else { $lane::MIN }) as _)
            }
        }
    };
}

/// Integers: splat, comparisons, maximum and minimum.
macro_rules! integers {
    ($($lane:ident: $bits:tt, $horizontally:tt, $splat:ident as $signed:ident, $gt:ident, $eq:ident
        $(, $max:ident, $min:ident)?;)+) => {$(
        minpos!($horizontally, $lane);

        // SAFETY: the types are 256 bits of such lanes; the operations are those that Intel says of the intrinsics.
        unsafe impl SimdOps<$lane> for Avx2 {
            by_width!($bits, $lane);
            $(binary!(__m256i => __m256i: max = $max, min = $min);)?

            #[inline(always)]
            fn splat(self, value: $lane) -> __m256i {
                self.0.avx.$splat(value as $signed)
            }
            #[inline(always)]
            fn compare<const WHAT: i32>(self, a: __m256i, b: __m256i) -> __m256i {
                match WHAT {
                    EQ => self.$eq(a, b),
                    UNORDERED => self.0.avx._mm256_setzero_si256(),
                    _ => self.$gt(a, b),
                }
            }
            horizontally!($horizontally, $lane);
        }
    )+};
}

#[rustfmt::skip]
integers! {
    i8:  8,  (reduce_splat_8, minpos_8, 32),  _mm256_set1_epi8 as i8,    _mm256_cmpgt_epi8,
        _mm256_cmpeq_epi8,  _mm256_max_epi8,  _mm256_min_epi8;
    u8:  8,  (reduce_splat_8, minpos_8, 32),  _mm256_set1_epi8 as i8,    gt_u8,
        _mm256_cmpeq_epi8,  _mm256_max_epu8,  _mm256_min_epu8;
    i16: 16, (reduce_splat_16, minpos_16, 8), _mm256_set1_epi16 as i16,  _mm256_cmpgt_epi16,
        _mm256_cmpeq_epi16, _mm256_max_epi16, _mm256_min_epi16;
    u16: 16, (reduce_splat_16, minpos_16, 8), _mm256_set1_epi16 as i16,  gt_u16,
        _mm256_cmpeq_epi16, _mm256_max_epu16, _mm256_min_epu16;
    i32: 32, (),                              _mm256_set1_epi32 as i32,  _mm256_cmpgt_epi32,
        _mm256_cmpeq_epi32, _mm256_max_epi32, _mm256_min_epi32;
    u32: 32, (),                              _mm256_set1_epi32 as i32,  gt_u32,
        _mm256_cmpeq_epi32, _mm256_max_epu32, _mm256_min_epu32;
    i64: 64, (),                              _mm256_set1_epi64x as i64, _mm256_cmpgt_epi64,
        _mm256_cmpeq_epi64;
}

/// Floats: the same operations under the names of each width, between casts that cost nothing.
macro_rules! floats {
    ($($lane:ident: $bits:tt, $splat:ident, $cmp:ident, $max:ident, $min:ident, $sub:ident, $andnot:ident;)+) => {$(
        // SAFETY: as for integers.
        unsafe impl DistanceOps<$lane> for Avx2 {
            #[inline(always)]
            fn distance(self, a: __m256i, b: __m256i) -> __m256i {
                let avx = self.0.avx;
                cast(avx.$andnot(avx.$splat(-0.0), avx.$sub(cast(a), cast(b))))
            }
        }

        // SAFETY: as for integers.
        unsafe impl SimdOps<$lane> for Avx2 {
            by_width!($bits, $lane);
            no_minpos!();
            // The hardware's maximum and minimum return their second operand where both are equal or either is NaN.
            binary!(__m256i => __m256i: max = $max of avx, min = $min of avx);

            #[inline(always)]
            fn splat(self, value: $lane) -> __m256i {
                cast(self.0.avx.$splat(value))
            }
            #[inline(always)]
            fn compare<const WHAT: i32>(self, a: __m256i, b: __m256i) -> __m256i {
                cast(self.0.avx.$cmp::<WHAT>(cast(a), cast(b)))
            }
        }
    )+};
}

floats! {
    f32: 32, _mm256_set1_ps, _mm256_cmp_ps, _mm256_max_ps, _mm256_min_ps, _mm256_sub_ps, _mm256_andnot_ps;
    f64: 64, _mm256_set1_pd, _mm256_cmp_pd, _mm256_max_pd, _mm256_min_pd, _mm256_sub_pd, _mm256_andnot_pd;
}

// SAFETY: the instructions give what Intel says, and that is what the trait asks for.
unsafe impl TreeOps for Avx2 {
    /// Within halves of 128 bits as long as there are pairs.
    #[inline(always)]
    fn deinterleave<V: Pod>(self, a: V, b: V, rows: usize) -> (V, V) {
        if rows == 4 {
            let (a, b) = (cast(a), cast(b));
            let first = self._mm256_permute2x128_si256::<0x20>(a, b);
            return (cast(first), cast(self._mm256_permute2x128_si256::<0x31>(a, b)));
        }
        let (avx, a, b) = (self.0.avx, cast(a), cast(b));
        (cast(avx._mm256_shuffle_ps::<0b10_00_10_00>(a, b)), cast(avx._mm256_shuffle_ps::<0b11_01_11_01>(a, b)))
    }
}

macro_rules! small_floats {
    ($($t:ident: $splat:ident $sign:ident $add:ident $adds:ident $max:ident;)+) => {$(
        // SAFETY: as above.
        unsafe impl SmallFloatOps<$t> for Avx2 {
            binary!(__m256i => __m256i: max_unsigned = $max);

            #[inline(always)]
            fn encode_float(self, raw: __m256i, bias: $t, saturating_bias: $t) -> __m256i {
                let avx = self.0.avx;
                let magnitude = self._mm256_and_si256(raw, avx.$splat($t::MAX));
                let biased = self.$add(self.$sign(magnitude, raw), avx.$splat(bias));
                self.$adds(biased, avx.$splat(saturating_bias))
            }
        }
    )+};
}

small_floats! {
    i16: _mm256_set1_epi16 _mm256_sign_epi16 _mm256_add_epi16 _mm256_adds_epi16 _mm256_max_epu16;
}
