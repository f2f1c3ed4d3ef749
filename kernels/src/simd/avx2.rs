//! AVX2 through pulp's `V3` token: vectors, masks and counts of all lane types are 256-bit integers, and the table names the
//! intrinsics that differ between lane types.

use super::Region;
use crate::simd::ops::{HalfLanes, Lanes, lane_numbers, no_traces, traces_by_mask};
use crate::simd::token::{Task, Token};
use crate::simd::transpose::{UNIT, Zip};
use crate::tuning::isa::{self, IsaTuning};
use core::arch::x86_64::*;
use pulp::x86::V3;

/// The token; pulp's, under a name of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(V3);

impl Avx2 {
    /// The token of a machine that pulp has seen to have it.
    #[inline(always)]
    pub(super) fn new(token: V3) -> Self {
        Avx2(token)
    }

    pub(crate) fn is_available() -> bool {
        V3::is_available()
    }

    #[inline(always)]
    fn all_ones(self) -> __m256i {
        self.0.avx._mm256_set1_epi32(-1)
    }

    #[inline(always)]
    fn not(self, a: __m256i) -> __m256i {
        self._mm256_xor_si256(a, self.all_ones())
    }

    // AVX2 has no unsigned comparison: `a > b` where the maximum of both is not `b`.
    #[inline(always)]
    fn gt_u8(self, a: __m256i, b: __m256i) -> __m256i {
        self.not(self._mm256_cmpeq_epi8(self._mm256_max_epu8(a, b), b))
    }
    #[inline(always)]
    fn gt_u16(self, a: __m256i, b: __m256i) -> __m256i {
        self.not(self._mm256_cmpeq_epi16(self._mm256_max_epu16(a, b), b))
    }
    #[inline(always)]
    fn gt_u32(self, a: __m256i, b: __m256i) -> __m256i {
        self.not(self._mm256_cmpeq_epi32(self._mm256_max_epu32(a, b), b))
    }

    // AVX2 has no 64-bit maximum.
    #[inline(always)]
    fn max_i64(self, new: __m256i, kept: __m256i) -> __m256i {
        self.0.avx2._mm256_blendv_epi8(kept, new, self._mm256_cmpgt_epi64(new, kept))
    }
    #[inline(always)]
    fn min_i64(self, new: __m256i, kept: __m256i) -> __m256i {
        self.0.avx2._mm256_blendv_epi8(kept, new, self._mm256_cmpgt_epi64(kept, new))
    }

    /// AVX2 compares 64-bit integers as signed only: with their top bit flipped, unsigned ones have the same order. Vectors of
    /// `u64` are kept flipped from load to mask; no other file can tell.
    #[inline(always)]
    fn flip_u64(self, a: __m256i) -> __m256i {
        self._mm256_xor_si256(a, self.0.avx._mm256_set1_epi64x(i64::MIN))
    }

    /// What the other integers are kept as.
    #[inline(always)]
    fn same(self, a: __m256i) -> __m256i {
        a
    }

    /// The best of all lanes in each of them, for 8-bit and 16-bit integers: x86 has one horizontal instruction, the minimum of eight unsigned
    /// 16-bit lanes. `flip` turns the wanted order into that one, and back before the answer is spread: after that, the compiler would rather flip each vector
    /// that the answer is compared with (rows of 21 i8 ran at 0.8 of the speed; Zen 5).
    #[inline(always)]
    fn across_8(self, v: __m256i, flip: i8) -> __m256i {
        let V3 { sse2, sse4_1, avx, avx2, .. } = self.0;
        let flipped = avx2._mm256_xor_si256(v, avx._mm256_set1_epi8(flip));
        let half = sse2._mm_min_epu8(avx._mm256_castsi256_si128(flipped), avx2._mm256_extracti128_si256::<1>(flipped));
        let pairs = sse2._mm_min_epu8(half, sse2._mm_srli_epi16::<8>(half));
        avx2._mm256_broadcastb_epi8(sse2._mm_xor_si128(sse4_1._mm_minpos_epu16(pairs), sse2._mm_set1_epi8(flip)))
    }
    #[inline(always)]
    fn across_16(self, v: __m256i, flip: i16) -> __m256i {
        let V3 { sse2, sse4_1, avx, avx2, .. } = self.0;
        let flipped = avx2._mm256_xor_si256(v, avx._mm256_set1_epi16(flip));
        let half =
            sse4_1._mm_min_epu16(avx._mm256_castsi256_si128(flipped), avx2._mm256_extracti128_si256::<1>(flipped));
        avx2._mm256_broadcastw_epi16(sse2._mm_xor_si128(sse4_1._mm_minpos_epu16(half), sse2._mm_set1_epi16(flip)))
    }

    /// With the number of the lane below the byte, one minimum finds both.
    #[inline(always)]
    fn first_best_8(self, v: __m256i, flip: i8) -> usize {
        let V3 { sse2, sse4_1, avx, .. } = self.0;
        let v = sse2._mm_xor_si128(avx._mm256_castsi256_si128(v), sse2._mm_set1_epi8(flip));
        let lanes = sse2._mm_set_epi64x(0x0f0e_0d0c_0b0a_0908, 0x0706_0504_0302_0100);
        let halves = (sse2._mm_unpacklo_epi8(lanes, v), sse2._mm_unpackhi_epi8(lanes, v));
        let first = sse4_1._mm_minpos_epu16(sse4_1._mm_min_epu16(halves.0, halves.1));
        (sse2._mm_cvtsi128_si32(first) & 0xff) as usize
    }
    /// The same of both halves, and any numbers.
    #[inline(always)]
    fn first_best_of_all_8(self, v: __m256i, numbers: __m256i, flip: i8) -> usize {
        let V3 { sse2, sse4_1, avx, avx2, .. } = self.0;
        let v = avx2._mm256_xor_si256(v, avx._mm256_set1_epi8(flip));
        let halves = (avx2._mm256_unpacklo_epi8(numbers, v), avx2._mm256_unpackhi_epi8(numbers, v));
        let first = avx2._mm256_min_epu16(halves.0, halves.1);
        let half = sse4_1._mm_min_epu16(avx._mm256_castsi256_si128(first), avx2._mm256_extracti128_si256::<1>(first));
        (sse2._mm_cvtsi128_si32(sse4_1._mm_minpos_epu16(half)) & 0xff) as usize
    }
    /// The instruction itself tells the lane.
    #[inline(always)]
    fn first_best_16(self, v: __m256i, flip: i16) -> usize {
        let V3 { sse2, sse4_1, avx, .. } = self.0;
        let v = sse2._mm_xor_si128(avx._mm256_castsi256_si128(v), sse2._mm_set1_epi16(flip));
        (sse2._mm_cvtsi128_si32(sse4_1._mm_minpos_epu16(v)) as u32 >> 16) as usize
    }

    #[inline(always)]
    fn bits_8(self, mask: __m256i) -> u64 {
        u64::from(self.0.avx2._mm256_movemask_epi8(mask) as u32)
    }
    #[inline(always)]
    fn bits_32(self, mask: __m256i) -> u64 {
        let V3 { avx, .. } = self.0;
        avx._mm256_movemask_ps(avx._mm256_castsi256_ps(mask)) as u64
    }
    #[inline(always)]
    fn bits_64(self, mask: __m256i) -> u64 {
        let V3 { avx, .. } = self.0;
        avx._mm256_movemask_pd(avx._mm256_castsi256_pd(mask)) as u64
    }

    /// Lane `i` gets lane `i ^ (bytes / size of a lane)`.
    #[inline(always)]
    fn swap_bytes(self, v: __m256i, bytes: usize) -> __m256i {
        let V3 { avx2, .. } = self.0;
        match bytes {
            16 => avx2._mm256_permute2x128_si256::<0x01>(v, v),
            8 => avx2._mm256_shuffle_epi32::<0b01_00_11_10>(v),
            4 => avx2._mm256_shuffle_epi32::<0b10_11_00_01>(v),
            // In each 128-bit half: the bytes' numbers, with the neighbouring pairs (or bytes) exchanged.
            2 => avx2._mm256_shuffle_epi8(v, self.halves(0x0504_0706_0100_0302)),
            _ => avx2._mm256_shuffle_epi8(v, self.halves(0x0607_0405_0203_0001)),
        }
    }

    /// Lane `i` gets lane `i + lanes`, and the last ones the first; of lanes of `SIZE` bytes.
    #[inline(always)]
    fn rotate_lanes<const SIZE: usize>(self, v: __m256i, lanes: usize) -> __m256i {
        let V3 { avx, avx2, .. } = self.0;
        let bytes = lanes * SIZE;
        if SIZE >= 4 {
            let first = avx._mm256_set1_epi32((bytes / 4) as i32);
            let numbers = avx2._mm256_add_epi32(bytemuck::cast(lane_numbers!(u32, 32, false)), first);
            return avx2._mm256_permutevar8x32_epi32(v, numbers);
        }
        // A byte of each half comes from the same half, or from the other one.
        let other = avx2._mm256_permute2x128_si256::<0x01>(v, v);
        let (here, there) = (self.numbers_from(UNIT + bytes), self.numbers_from(bytes));
        avx2._mm256_or_si256(avx2._mm256_shuffle_epi8(v, here), avx2._mm256_shuffle_epi8(other, there))
    }
    /// The same numbers for both halves: see [`rotation`].
    #[inline(always)]
    fn numbers_from(self, from: usize) -> __m256i {
        self.0.avx2._mm256_broadcastsi128_si256(bytemuck::cast(rotation(from)))
    }

    /// See [`Lanes::pairs`], for lanes of 32 bits: within halves of 128 bits as long as there are pairs.
    #[inline(always)]
    fn pairs_32(self, a: __m256i, b: __m256i, rows: usize) -> (__m256i, __m256i) {
        let V3 { avx, avx2, .. } = self.0;
        if rows == 4 {
            return (avx2._mm256_permute2x128_si256::<0x20>(a, b), avx2._mm256_permute2x128_si256::<0x31>(a, b));
        }
        let (a, b) = (avx._mm256_castsi256_ps(a), avx._mm256_castsi256_ps(b));
        let [even, odd] = [avx._mm256_shuffle_ps::<0b10_00_10_00>(a, b), avx._mm256_shuffle_ps::<0b11_01_11_01>(a, b)];
        (avx._mm256_castps_si256(even), avx._mm256_castps_si256(odd))
    }

    /// A byte shuffle that does to bytes 8 to 15 of each 128-bit half what `order` does to bytes 0 to 7.
    #[inline(always)]
    fn halves(self, order: i64) -> __m256i {
        const EIGHT: i64 = 0x0808_0808_0808_0808;
        self.0.avx._mm256_set_epi64x(order + EIGHT, order, order + EIGHT, order)
    }
}

/// Intrinsics as methods, so that the tables below can name them. (Closures would do, but nothing forces them inline, and one that
/// is not turns the intrinsic into a call.)
macro_rules! binary_intrinsics {
    ($($name:ident)+) => {
        impl Avx2 {$(
            #[inline(always)]
            fn $name(self, a: __m256i, b: __m256i) -> __m256i {
                self.0.avx2.$name(a, b)
            }
        )+}
    };
}
binary_intrinsics! {
    _mm256_cmpgt_epi8 _mm256_cmpgt_epi16 _mm256_cmpgt_epi32 _mm256_cmpgt_epi64
    _mm256_cmpeq_epi8 _mm256_cmpeq_epi16 _mm256_cmpeq_epi32 _mm256_cmpeq_epi64
    _mm256_max_epi8 _mm256_max_epi16 _mm256_max_epi32 _mm256_max_epu8 _mm256_max_epu16 _mm256_max_epu32
    _mm256_min_epi8 _mm256_min_epi16 _mm256_min_epi32 _mm256_min_epu8 _mm256_min_epu16 _mm256_min_epu32
    _mm256_xor_si256
}

/// 16 numbers of bytes for a shuffle: those from 0 on, with what makes zeros before and after them, and again.
#[inline(always)]
pub(super) fn rotation(from: usize) -> [u8; UNIT] {
    const NUMBERS: [u8; 4 * UNIT] = {
        let mut numbers = [0x80; 4 * UNIT];
        let mut n = 0;
        while n < UNIT {
            numbers[UNIT + n] = n as u8;
            numbers[3 * UNIT + n] = n as u8;
            n += 1;
        }
        numbers
    };
    *NUMBERS[from..].first_chunk().expect("less than a vector")
}

impl Token for Avx2 {
    const TUNING: IsaTuning = isa::AVX2;

    #[inline(always)]
    unsafe fn assume() -> Self {
        // SAFETY: the caller promises that the ISA is there.
        Avx2(unsafe { V3::new_unchecked() })
    }

    #[inline(always)]
    unsafe fn enter<T: Task>(self, task: T) -> T::Output {
        self.0.vectorize(Region(task))
    }
}

impl Zip for Avx2 {
    type Bytes = __m256i;
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn load_parts(self, at: *const u8, step: isize) -> __m256i {
        let V3 { sse2, avx, avx2, .. } = self.0;
        // SAFETY: the caller's promise; the loads are unaligned.
        let (low, high) =
            unsafe { (sse2._mm_loadu_si128(at.cast()), sse2._mm_loadu_si128(at.wrapping_offset(step).cast())) };
        avx2._mm256_inserti128_si256::<1>(avx._mm256_castsi128_si256(low), high)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, v: __m256i) {
        // SAFETY: the caller's promise.
        unsafe { self.0.avx._mm256_storeu_si256(to.cast(), v) };
    }

    #[inline(always)]
    fn zip<const SIZE: usize>(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        let V3 { avx2, .. } = self.0;
        match SIZE {
            1 => (avx2._mm256_unpacklo_epi8(a, b), avx2._mm256_unpackhi_epi8(a, b)),
            2 => (avx2._mm256_unpacklo_epi16(a, b), avx2._mm256_unpackhi_epi16(a, b)),
            4 => (avx2._mm256_unpacklo_epi32(a, b), avx2._mm256_unpackhi_epi32(a, b)),
            _ => (avx2._mm256_unpacklo_epi64(a, b), avx2._mm256_unpackhi_epi64(a, b)),
        }
    }
}

/// What depends on the width of a lane alone.
macro_rules! by_width {
    (8) => {
        by_width!(u8 as i8, _mm256_set1_epi8, _mm256_add_epi8, _mm256_sub_epi8, gt_u8, bits_8, 1);
    };
    // Two equal bits for each 16-bit lane.
    (16) => {
        by_width!(u16 as i16, _mm256_set1_epi16, _mm256_add_epi16, _mm256_sub_epi16, gt_u16, bits_8, 2);
    };
    (32) => {
        by_width!(u32 as i32, _mm256_set1_epi32, _mm256_add_epi32, _mm256_sub_epi32, gt_u32, bits_32, 1);
    };
    (64) => {
        by_width!(u64 as i64, _mm256_set1_epi64x, _mm256_add_epi64, _mm256_sub_epi64, _mm256_cmpgt_epi64, bits_64, 1);
    };
    ($count:ident as $signed:ident, $splat:ident, $add:ident, $sub:ident, $gt:ident, $bits:ident, $bits_per_lane:literal) => {
        type Vector = __m256i;
        type Mask = __m256i;
        type Count = __m256i;
        type CountLane = $count;
        type CountArray = [$count; 32 / size_of::<$count>()];

        const LANES: usize = 32 / size_of::<$count>();
        const MAX_COUNT: u32 = if $count::BITS < 32 { $count::MAX as u32 } else { u32::MAX };
        const BITS_PER_LANE: u32 = $bits_per_lane;

        #[inline(always)]
        fn select(self, mask: __m256i, yes: __m256i, no: __m256i) -> __m256i {
            self.0.avx2._mm256_blendv_epi8(no, yes, mask)
        }
        #[inline(always)]
        fn xor(self, a: __m256i, b: __m256i) -> __m256i {
            self._mm256_xor_si256(a, b)
        }
        #[inline(always)]
        fn swap(self, v: __m256i, lanes: usize) -> __m256i {
            self.swap_bytes(v, lanes * size_of::<$count>())
        }
        #[inline(always)]
        fn rotate(self, v: __m256i, lanes: usize) -> __m256i {
            self.rotate_lanes::<{ size_of::<$count>() }>(v, lanes)
        }
        #[inline(always)]
        fn rotate_counts(self, counts: __m256i, lanes: usize) -> __m256i {
            self.rotate_lanes::<{ size_of::<$count>() }>(counts, lanes)
        }
        #[inline(always)]
        fn pairs(self, a: __m256i, b: __m256i, rows: usize) -> (__m256i, __m256i) {
            self.pairs_32(a, b, rows)
        }
        #[inline(always)]
        fn pairs_of_counts(self, a: __m256i, b: __m256i, rows: usize) -> (__m256i, __m256i) {
            self.pairs_32(a, b, rows)
        }
        #[inline(always)]
        fn first(self, n: usize) -> __m256i {
            const TABLE: [[u8; 32]; 2] = [[0xff; 32], [0; 32]];
            let bytes = TABLE.as_flattened();
            let from = &bytes[32 - n * size_of::<$count>()..][..32];
            // SAFETY: the slice has 32 bytes, or slicing had panicked.
            unsafe { self.0.avx._mm256_loadu_si256(from.as_ptr().cast()) }
        }
        #[inline(always)]
        fn none(self) -> __m256i {
            self.0.avx._mm256_setzero_si256()
        }
        #[inline(always)]
        fn or(self, a: __m256i, b: __m256i) -> __m256i {
            self.0.avx2._mm256_or_si256(a, b)
        }
        #[inline(always)]
        fn and_not(self, a: __m256i, b: __m256i) -> __m256i {
            self.0.avx2._mm256_andnot_si256(b, a)
        }
        #[inline(always)]
        fn bits(self, mask: __m256i) -> u64 {
            self.$bits(mask)
        }
        #[inline(always)]
        fn count(self, n: u32) -> __m256i {
            self.0.avx.$splat(n as $count as $signed)
        }
        #[inline(always)]
        fn lane_numbers(self, from_the_end: bool) -> __m256i {
            bytemuck::cast(lane_numbers!($count, 32, from_the_end))
        }
        #[inline(always)]
        fn add(self, a: __m256i, b: __m256i) -> __m256i {
            self.0.avx2.$add(a, b)
        }
        #[inline(always)]
        fn add_one(self, mask: __m256i, count: __m256i) -> __m256i {
            self.0.avx2.$sub(count, mask)
        }
        // Of 64 bits as signed ones: counts do not come so far.
        #[inline(always)]
        fn count_gt(self, a: __m256i, b: __m256i) -> __m256i {
            self.$gt(a, b)
        }
        #[inline(always)]
        fn select_count(self, mask: __m256i, yes: __m256i, no: __m256i) -> __m256i {
            self.0.avx2._mm256_blendv_epi8(no, yes, mask)
        }
        // A selection between constants would become two instructions.
        #[inline(always)]
        fn count_where(self, mask: __m256i, count: __m256i) -> __m256i {
            self.0.avx2._mm256_and_si256(mask, count)
        }
        #[inline(always)]
        fn counts(self, counts: __m256i) -> Self::CountArray {
            bytemuck::cast(counts)
        }
        // Not left to the compiler, which makes a tree of minima of it, or one lane after another: calls on 256 f32 took 15 or 19 ns. (Zen 5.)
        #[inline(always)]
        fn smallest_count(self, counts: __m256i) -> $count {
            let smallest = if $count::BITS == 64 {
                // Their upper halves are 0, so that a minimum of 32 bits is theirs.
                let other = <Self as Lanes<$count>>::swap(self, counts, 2);
                let counts = self.0.avx2._mm256_min_epu32(other, counts);
                let other = <Self as Lanes<$count>>::swap(self, counts, 1);
                self.0.avx2._mm256_min_epu32(other, counts)
            } else {
                <Self as Lanes<$count>>::across(self, counts, false)
            };
            bytemuck::cast::<_, [$count; 32 / size_of::<$count>()]>(smallest)[0]
        }
    };
}

/// AVX2 masks loads of 32-bit and 64-bit lanes. (Not as fast as it loads whole vectors: rows of 7 f32 by masked loads alone ran at 0.9 of the speed.)
macro_rules! masked_loads {
    (8, $lane:ident, $keep:ident) => {};
    (16, $lane:ident, $keep:ident) => {};
    (32, $lane:ident, $keep:ident) => {
        masked_loads!($lane, $keep, _mm256_maskload_epi32);
    };
    (64, $lane:ident, $keep:ident) => {
        masked_loads!($lane, $keep, _mm256_maskload_epi64);
    };
    ($lane:ident, $keep:ident, $load:ident) => {
        #[inline(always)]
        unsafe fn load_first(self, at: *const $lane, n: usize) -> __m256i {
            let mask = <Self as Lanes<$lane>>::first(self, n);
            // SAFETY: the caller promises the elements that are not masked off; the others are not read.
            self.$keep(unsafe { self.0.avx2.$load(at.cast(), mask) })
        }
    };
}

/// What the one horizontal instruction of x86 serves, where it does.
macro_rules! horizontally {
    ((), $lane:ident) => {};
    (($across:ident, $first_best:ident), $lane:ident) => {
        const FEW: usize = 16 / size_of::<$lane>();

        #[inline(always)]
        fn across(self, v: __m256i, largest: bool) -> __m256i {
            // What turns the best lane into 0.
            self.$across(v, (if largest { $lane::MAX } else { $lane::MIN }) as _)
        }
        #[inline(always)]
        fn first_best(self, v: __m256i, largest: bool) -> usize {
            self.$first_best(v, (if largest { $lane::MAX } else { $lane::MIN }) as _)
        }
    };
    (($across:ident, $first_best:ident, $first_best_of_all:ident), $lane:ident) => {
        horizontally!(($across, $first_best), $lane);
        const HAS_FIRST_BEST: bool = true;

        #[inline(always)]
        fn first_best_of_all(self, v: __m256i, numbers: __m256i, largest: bool) -> usize {
            self.$first_best_of_all(v, numbers, (if largest { $lane::MAX } else { $lane::MIN }) as _)
        }
    };
}

/// Integers: how a vector is kept, splat, comparisons, maximum and minimum.
macro_rules! integers {
    ($($lane:ident: $bits:tt, $keep:ident, $horizontally:tt, $splat:ident as $signed:ident, $gt:ident, $eq:ident, $max:ident, $min:ident;)+) => {$(
        impl Lanes<$lane> for Avx2 {
            by_width!($bits);
            masked_loads!($bits, $lane, $keep);
            const HAS_MAX: bool = $bits < 64;
            const IS_FLIPPED: bool = $bits == 64 && $lane::MIN == 0;

            #[inline(always)]
            fn splat(self, value: $lane) -> __m256i {
                self.$keep(self.0.avx.$splat(value as $signed))
            }
            #[inline(always)]
            unsafe fn load(self, at: *const $lane) -> __m256i {
                // SAFETY: the caller promises `LANES` readable elements; the load is unaligned.
                self.$keep(unsafe { self.0.avx._mm256_loadu_si256(at.cast()) })
            }
            #[inline(always)]
            fn gt(self, a: __m256i, b: __m256i) -> __m256i {
                self.$gt(a, b)
            }
            #[inline(always)]
            fn gt_or_unordered(self, a: __m256i, b: __m256i) -> __m256i {
                self.$gt(a, b)
            }
            #[inline(always)]
            fn eq(self, a: __m256i, b: __m256i) -> __m256i {
                self.$eq(a, b)
            }
            #[inline(always)]
            fn unordered(self, _: __m256i, _: __m256i) -> __m256i {
                self.0.avx._mm256_setzero_si256()
            }
            #[inline(always)]
            fn max(self, new: __m256i, kept: __m256i) -> __m256i {
                self.$max(new, kept)
            }
            #[inline(always)]
            fn min(self, new: __m256i, kept: __m256i) -> __m256i {
                self.$min(new, kept)
            }
            horizontally!($horizontally, $lane);
            no_traces!();
        }
    )+};
}

#[rustfmt::skip]
integers! {
    i8:  8,  same,     (across_8, first_best_8, first_best_of_all_8), _mm256_set1_epi8 as i8,    _mm256_cmpgt_epi8,  _mm256_cmpeq_epi8,  _mm256_max_epi8,  _mm256_min_epi8;
    u8:  8,  same,     (across_8, first_best_8, first_best_of_all_8), _mm256_set1_epi8 as i8,    gt_u8,              _mm256_cmpeq_epi8,  _mm256_max_epu8,  _mm256_min_epu8;
    i16: 16, same,     (across_16, first_best_16), _mm256_set1_epi16 as i16,  _mm256_cmpgt_epi16, _mm256_cmpeq_epi16, _mm256_max_epi16, _mm256_min_epi16;
    u16: 16, same,     (across_16, first_best_16), _mm256_set1_epi16 as i16,  gt_u16,             _mm256_cmpeq_epi16, _mm256_max_epu16, _mm256_min_epu16;
    i32: 32, same,     (),                         _mm256_set1_epi32 as i32,  _mm256_cmpgt_epi32, _mm256_cmpeq_epi32, _mm256_max_epi32, _mm256_min_epi32;
    u32: 32, same,     (),                         _mm256_set1_epi32 as i32,  gt_u32,             _mm256_cmpeq_epi32, _mm256_max_epu32, _mm256_min_epu32;
    i64: 64, same,     (),                         _mm256_set1_epi64x as i64, _mm256_cmpgt_epi64, _mm256_cmpeq_epi64, max_i64,          min_i64;
    u64: 64, flip_u64, (),                         _mm256_set1_epi64x as i64, _mm256_cmpgt_epi64, _mm256_cmpeq_epi64, max_i64,          min_i64;
}

/// Floats: the same operations under the names of each width, between casts that cost nothing.
macro_rules! floats {
    ($($lane:ident: $bits:tt, $splat:ident, $cmp:ident, $max:ident, $min:ident, $from:ident, $to:ident;)+) => {$(
        impl Lanes<$lane> for Avx2 {
            by_width!($bits);
            masked_loads!($bits, $lane, same);

            #[inline(always)]
            fn splat(self, value: $lane) -> __m256i {
                self.0.avx.$to(self.0.avx.$splat(value))
            }
            #[inline(always)]
            unsafe fn load(self, at: *const $lane) -> __m256i {
                // SAFETY: the caller promises `LANES` readable elements; the load is unaligned.
                unsafe { self.0.avx._mm256_loadu_si256(at.cast()) }
            }
            #[inline(always)]
            fn gt(self, a: __m256i, b: __m256i) -> __m256i {
                let V3 { avx, .. } = self.0;
                avx.$to(avx.$cmp::<_CMP_GT_OQ>(avx.$from(a), avx.$from(b)))
            }
            #[inline(always)]
            fn gt_or_unordered(self, a: __m256i, b: __m256i) -> __m256i {
                let V3 { avx, .. } = self.0;
                avx.$to(avx.$cmp::<_CMP_NLE_UQ>(avx.$from(a), avx.$from(b)))
            }
            #[inline(always)]
            fn eq(self, a: __m256i, b: __m256i) -> __m256i {
                let V3 { avx, .. } = self.0;
                avx.$to(avx.$cmp::<_CMP_EQ_OQ>(avx.$from(a), avx.$from(b)))
            }
            #[inline(always)]
            fn unordered(self, a: __m256i, b: __m256i) -> __m256i {
                let V3 { avx, .. } = self.0;
                avx.$to(avx.$cmp::<_CMP_UNORD_Q>(avx.$from(a), avx.$from(b)))
            }
            // The hardware's maximum and minimum return their second operand where both are equal or either is NaN.
            #[inline(always)]
            fn max(self, new: __m256i, kept: __m256i) -> __m256i {
                let V3 { avx, .. } = self.0;
                avx.$to(avx.$max(avx.$from(new), avx.$from(kept)))
            }
            #[inline(always)]
            fn min(self, new: __m256i, kept: __m256i) -> __m256i {
                let V3 { avx, .. } = self.0;
                avx.$to(avx.$min(avx.$from(new), avx.$from(kept)))
            }
            traces_by_mask!($lane);
        }
    )+};
}

floats! {
    f32: 32, _mm256_set1_ps, _mm256_cmp_ps, _mm256_max_ps, _mm256_min_ps, _mm256_castsi256_ps, _mm256_castps_si256;
    f64: 64, _mm256_set1_pd, _mm256_cmp_pd, _mm256_max_pd, _mm256_min_pd, _mm256_castsi256_pd, _mm256_castpd_si256;
}

impl HalfLanes for Avx2 {
    #[inline(always)]
    fn half_keys(self, raw: __m256i, turn: i16, push: i16) -> __m256i {
        let V3 { avx, avx2, .. } = self.0;
        let magnitude = avx2._mm256_and_si256(raw, avx._mm256_set1_epi16(i16::MAX));
        let keys = avx2._mm256_sign_epi16(magnitude, raw);
        let turned = avx2._mm256_add_epi16(keys, avx._mm256_set1_epi16(turn));
        avx2._mm256_adds_epi16(turned, avx._mm256_set1_epi16(push))
    }

    #[inline(always)]
    fn max_unsigned(self, a: __m256i, b: __m256i) -> __m256i {
        self._mm256_max_epu16(a, b)
    }
}
