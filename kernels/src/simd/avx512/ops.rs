//! The table of vector operations of AVX-512: a macro for integers and one for floats, with a line for each lane type.
//! Knows nothing of what operations are for.

use super::Avx512;
use crate::simd::avx2::Avx2;
use crate::simd::cast;
use crate::simd::ops::{
    DistanceOps, EQ, MinposOps, NoMinpos, SimdOps, SmallFloatOps, TreeOps, UNORDERED, binary, no_minpos,
};
use bytemuck::Pod;
use core::arch::x86_64::*;
use pulp::x86::V4;

/// What depends on the width of a lane alone.
#[rustfmt::skip]
macro_rules! by_width {
    (8, $lane:ident) => {
        by_width!($lane, u8 as i8 by u8, __mmask64, avx512bw, _mm512_set1_epi8, _mm512_add_epi8,
            _mm512_cmpgt_epu8_mask, _mm512_mask_blend_epi8, _mm512_maskz_loadu_epi8);
    };
    (16, $lane:ident) => {
        by_width!($lane, u16 as i16 by u16, __mmask32, avx512bw, _mm512_set1_epi16, _mm512_add_epi16,
            _mm512_cmpgt_epu16_mask, _mm512_mask_blend_epi16, _mm512_maskz_loadu_epi16);
    };
    (32, $lane:ident) => {
        by_width!($lane, u32 as i32 by u32, __mmask16, avx512f, _mm512_set1_epi32, _mm512_add_epi32,
            _mm512_cmpgt_epu32_mask, _mm512_mask_blend_epi32, _mm512_maskz_loadu_epi32);
    };
    (64, $lane:ident) => {
        by_width!($lane, u64 as i64 by i64, __mmask8, avx512f, _mm512_set1_epi64, _mm512_add_epi64,
            _mm512_cmpgt_epu64_mask, _mm512_mask_blend_epi64, _mm512_maskz_loadu_epi64);
    };
    ($lane:ident, $count:ident as $signed:ident by $ordered:ident, $mask:ident, $feature:ident, $splat:ident,
        $add:ident, $gt:ident, $blend:ident, $load:ident) => {
        type Vector = __m512i;
        type Mask = $mask;
        type IndexVec = __m512i;
        type IndexLane = $count;
        type IndexArray = [$count; 64 / size_of::<$count>()];

        const BITS_PER_LANE: u32 = 1;

        binary!(__m512i => __m512i: xor = _mm512_xor_si512 of avx512f, add = $add of $feature);
        binary!(__m512i => $mask: index_gt = $gt of $feature);

        #[inline(always)]
        unsafe fn load_first_n(self, at: *const $lane, n: usize) -> __m512i {
            // SAFETY: the caller promises the elements that are not masked off; the others are not read.
            unsafe { self.0.$feature.$load(<Self as SimdOps<$lane>>::first_n_mask(self, n), at.cast()) }
        }
        #[inline(always)]
        fn select<V: Pod>(self, mask: $mask, yes: V, no: V) -> V {
            cast(self.0.$feature.$blend(mask, cast(no), cast(yes)))
        }
        #[inline(always)]
        fn butterfly(self, v: __m512i, lanes: usize) -> __m512i {
            self.butterfly_bytes(v, lanes * size_of::<$count>())
        }
        #[inline(always)]
        fn rotate<V: Pod>(self, v: V, lanes: usize) -> V {
            cast(self.rotate_lanes::<{ size_of::<$count>() }>(cast(v), lanes))
        }
        #[inline(always)]
        fn or(self, a: $mask, b: $mask) -> $mask {
            a | b
        }
        #[inline(always)]
        fn and_not(self, a: $mask, b: $mask) -> $mask {
            a & !b
        }
        // The rotation keeps the compiler from joining masks before they are moved to a general register: few of the
        // registers that hold masks can be in use, and rows would wait for one. See
        // docs/tuning.md#reasons-behind-the-shape-of-the-code.
        #[inline(always)]
        fn or_nans<const V: usize>(self, mut acc: $mask, vectors: &[__m512i; V]) -> $mask {
            let mut n = 0;
            while n < V {
                let (a, b) = (vectors[n], vectors[(n + 1).min(V - 1)]);
                let pair = <Self as SimdOps<$lane>>::compare::<UNORDERED>(self, a, b);
                acc = acc.rotate_left(1) | pair;
                n += 2;
            }
            acc
        }
        #[inline(always)]
        fn movemask(self, mask: $mask) -> u64 {
            mask.into()
        }
        #[inline(always)]
        fn splat_index(self, n: u32) -> __m512i {
            self.0.avx512f.$splat(n as $count as $signed)
        }
        #[inline(always)]
        fn first_n_mask(self, n: usize) -> $mask {
            (u64::MAX.checked_shl(n as u32).map_or(u64::MAX, |beyond| !beyond)) as $mask
        }
        // Written out, because what the compiler makes of it varies, and may go lane by lane. See
        // docs/tuning.md#reasons-behind-the-shape-of-the-code.
        #[inline(always)]
        fn reduce_min_index(self, indices: __m512i) -> $count {
            cast::<_, Self::IndexArray>(<Self as SimdOps<$ordered>>::reduce_splat(self, indices, false))[0]
        }
    };
}

/// What AVX2 does better with half of a vector, for 8-bit and 16-bit integers: six or five exchanges of lanes become
/// two, and an instruction that x86 has only for 128 bits.
macro_rules! by_half {
    ((), $lane:ident) => {
        no_minpos!();
    };
    (($max:ident, $min:ident, $broadcast:ident), $lane:ident) => {
        type Minpos = Self;

        #[inline(always)]
        fn minpos_ops(self) -> Option<Self> {
            Some(self)
        }
        #[inline(always)]
        fn reduce_splat(self, v: __m512i, largest: bool) -> __m512i {
            let V4 { avx2, avx512f, avx512bw, .. } = self.0;
            let (low, high) = (avx512f._mm512_castsi512_si256(v), avx512f._mm512_extracti64x4_epi64::<1>(v));
            let half = if largest { avx2.$max(low, high) } else { avx2.$min(low, high) };
            let half = <Avx2 as SimdOps<$lane>>::reduce_splat(self.into(), half, largest);
            avx512bw.$broadcast(self.0.avx._mm256_castsi256_si128(half))
        }
    };
}

macro_rules! minpos {
    ((), $lane:ident) => {};
    ($by_half:tt, $lane:ident) => {
        // SAFETY: AVX2's, of the lower halves.
        unsafe impl MinposOps<$lane, __m512i, __m512i> for Avx512 {
            const LANES: usize = <Avx2 as MinposOps<$lane, __m256i, __m256i>>::LANES;

            #[inline(always)]
            fn minpos(self, v: __m512i, numbers: __m512i, largest: bool) -> usize {
                let low = |v| self.0.avx512f._mm512_castsi512_si256(v);
                <Avx2 as MinposOps<$lane, _, _>>::minpos(self.into(), low(v), low(numbers), largest)
            }
        }
    };
}

/// Integers: splat, and comparisons, maximum and minimum by the feature that has them.
macro_rules! integers {
    ($($lane:ident: $bits:tt, $by_half:tt, $splat:ident as $signed:ident, $mask:ident,
        $feature:ident: $gt:ident, $eq:ident, $max:ident, $min:ident;)+) => {$(
        minpos!($by_half, $lane);

        // SAFETY: the types are 512 bits of such lanes; the operations are those that Intel says of the intrinsics.
        unsafe impl SimdOps<$lane> for Avx512 {
            by_width!($bits, $lane);
            by_half!($by_half, $lane);
            binary!(__m512i => __m512i: max = $max of $feature, min = $min of $feature);

            #[inline(always)]
            fn splat(self, value: $lane) -> __m512i {
                self.0.avx512f.$splat(value as $signed)
            }
            #[inline(always)]
            fn compare<const WHAT: i32>(self, a: __m512i, b: __m512i) -> $mask {
                match WHAT {
                    EQ => self.0.$feature.$eq(a, b),
                    UNORDERED => 0,
                    _ => self.0.$feature.$gt(a, b),
                }
            }
        }
    )+};
}

#[rustfmt::skip]
integers! {
    i8:  8,  (_mm256_max_epi8, _mm256_min_epi8, _mm512_broadcastb_epi8),    _mm512_set1_epi8 as i8,   __mmask64,
        avx512bw: _mm512_cmpgt_epi8_mask,  _mm512_cmpeq_epi8_mask,  _mm512_max_epi8,  _mm512_min_epi8;
    u8:  8,  (_mm256_max_epu8, _mm256_min_epu8, _mm512_broadcastb_epi8),    _mm512_set1_epi8 as i8,   __mmask64,
        avx512bw: _mm512_cmpgt_epu8_mask,  _mm512_cmpeq_epu8_mask,  _mm512_max_epu8,  _mm512_min_epu8;
    i16: 16, (_mm256_max_epi16, _mm256_min_epi16, _mm512_broadcastw_epi16), _mm512_set1_epi16 as i16, __mmask32,
        avx512bw: _mm512_cmpgt_epi16_mask, _mm512_cmpeq_epi16_mask, _mm512_max_epi16, _mm512_min_epi16;
    u16: 16, (_mm256_max_epu16, _mm256_min_epu16, _mm512_broadcastw_epi16), _mm512_set1_epi16 as i16, __mmask32,
        avx512bw: _mm512_cmpgt_epu16_mask, _mm512_cmpeq_epu16_mask, _mm512_max_epu16, _mm512_min_epu16;
    i32: 32, (),                                                            _mm512_set1_epi32 as i32, __mmask16,
        avx512f:  _mm512_cmpgt_epi32_mask, _mm512_cmpeq_epi32_mask, _mm512_max_epi32, _mm512_min_epi32;
    u32: 32, (),                                                            _mm512_set1_epi32 as i32, __mmask16,
        avx512f:  _mm512_cmpgt_epu32_mask, _mm512_cmpeq_epu32_mask, _mm512_max_epu32, _mm512_min_epu32;
    i64: 64, (),                                                            _mm512_set1_epi64 as i64, __mmask8,
        avx512f:  _mm512_cmpgt_epi64_mask, _mm512_cmpeq_epi64_mask, _mm512_max_epi64, _mm512_min_epi64;
}

/// Floats: the same operations under the names of each width, between casts that cost nothing.
macro_rules! floats {
    ($($lane:ident: $bits:tt, $mask:ident, $splat:ident, $cmp:ident, $max:ident, $min:ident, $sub:ident,
        $abs:ident;)+) => {$(
        // SAFETY: as for integers.
        unsafe impl DistanceOps<$lane> for Avx512 {
            #[inline(always)]
            fn distance(self, a: __m512i, b: __m512i) -> __m512i {
                cast(self.0.avx512f.$abs(self.0.avx512f.$sub(cast(a), cast(b))))
            }
        }

        // SAFETY: as for integers.
        unsafe impl SimdOps<$lane> for Avx512 {
            by_width!($bits, $lane);
            no_minpos!();
            // The hardware's maximum and minimum return their second operand where both are equal or either is NaN.
            binary!(__m512i => __m512i: max = $max of avx512f, min = $min of avx512f);

            #[inline(always)]
            fn splat(self, value: $lane) -> __m512i {
                cast(self.0.avx512f.$splat(value))
            }
            #[inline(always)]
            fn compare<const WHAT: i32>(self, a: __m512i, b: __m512i) -> $mask {
                self.0.avx512f.$cmp::<WHAT>(cast(a), cast(b))
            }
        }
    )+};
}

#[rustfmt::skip]
floats! {
    f32: 32, __mmask16, _mm512_set1_ps, _mm512_cmp_ps_mask, _mm512_max_ps, _mm512_min_ps, _mm512_sub_ps, _mm512_abs_ps;
    f64: 64, __mmask8,  _mm512_set1_pd, _mm512_cmp_pd_mask, _mm512_max_pd, _mm512_min_pd, _mm512_sub_pd, _mm512_abs_pd;
}

// SAFETY: the instructions give what Intel says, and that is what the trait asks for.
unsafe impl TreeOps for Avx512 {
    /// Within quarters of 128 bits as long as there are pairs.
    #[inline(always)]
    fn deinterleave<V: Pod>(self, a: V, b: V, rows: usize) -> (V, V) {
        let V4 { avx512f, .. } = self.0;
        if rows >= 4 {
            let (a, b) = (cast(a), cast(b));
            let even = avx512f._mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
            return (cast(even), cast(avx512f._mm512_shuffle_i64x2::<0b11_01_11_01>(a, b)));
        }
        let (a, b) = (cast(a), cast(b));
        let even = cast(avx512f._mm512_shuffle_ps::<0b10_00_10_00>(a, b));
        (even, cast(avx512f._mm512_shuffle_ps::<0b11_01_11_01>(a, b)))
    }
}

macro_rules! small_floats {
    ($($t:ident: $splat:ident $sign_mask:ident $add:ident $mask_sub:ident $adds:ident $max:ident;)+) => {$(
        // SAFETY: as above.
        unsafe impl SmallFloatOps<$t> for Avx512 {
            binary!(__m512i => __m512i: max_unsigned = $max of avx512bw);

            #[inline(always)]
            fn encode_float(self, raw: __m512i, bias: $t, saturating_bias: $t) -> __m512i {
                let V4 { avx512f, avx512bw, .. } = self.0;
                // What is below zero, minus the bits, is the magnitude negated, modulo 2 to the number of bits.
                let is_negative = avx512bw.$sign_mask(raw);
                let biased = avx512bw.$add(raw, avx512f.$splat(bias));
                let biased = avx512bw.$mask_sub(biased, is_negative, avx512f.$splat(bias ^ $t::MIN), raw);
                avx512bw.$adds(biased, avx512f.$splat(saturating_bias))
            }
        }
    )+};
}

small_floats! {
    i16: _mm512_set1_epi16 _mm512_movepi16_mask _mm512_add_epi16 _mm512_mask_sub_epi16 _mm512_adds_epi16
        _mm512_max_epu16;
}
