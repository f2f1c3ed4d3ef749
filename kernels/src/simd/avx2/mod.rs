//! AVX2 through pulp's `V3` token: vectors, masks and counts of all lane types are 256-bit integers, and the table
//! names the intrinsics that differ between lane types.

mod ops;

use crate::simd::cast;
use crate::simd::ops::{ByteMaskOps, SimdOps, iota};
use crate::simd::token::{Simd, SimdOp};
use crate::simd::transpose::{CHUNK_BYTES, TransposeOps};
use crate::tuning::isa::{self, IsaTuning};
use core::arch::x86_64::*;
use core::ops::Deref;
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

    /// The best of all lanes in each of them, for 8-bit and 16-bit integers. x86 has one horizontal instruction: the
    /// minimum of eight unsigned 16-bit lanes. `flip` turns the wanted order into that one, and back before the answer
    /// is broadcast: otherwise, the compiler flips each vector that the answer is compared with.
    #[inline(always)]
    fn reduce_splat_8(self, v: __m256i, flip: i8) -> __m256i {
        let V3 { sse2, sse4_1, avx, .. } = self.0;
        let flipped = self._mm256_xor_si256(v, avx._mm256_set1_epi8(flip));
        let half = sse2._mm_min_epu8(avx._mm256_castsi256_si128(flipped), self._mm256_extracti128_si256::<1>(flipped));
        let pairs = sse2._mm_min_epu8(half, sse2._mm_srli_epi16::<8>(half));
        self._mm256_broadcastb_epi8(sse2._mm_xor_si128(sse4_1._mm_minpos_epu16(pairs), sse2._mm_set1_epi8(flip)))
    }
    #[inline(always)]
    fn reduce_splat_16(self, v: __m256i, flip: i16) -> __m256i {
        let V3 { sse2, sse4_1, avx, .. } = self.0;
        let flipped = self._mm256_xor_si256(v, avx._mm256_set1_epi16(flip));
        let half =
            sse4_1._mm_min_epu16(avx._mm256_castsi256_si128(flipped), self._mm256_extracti128_si256::<1>(flipped));
        self._mm256_broadcastw_epi16(sse2._mm_xor_si128(sse4_1._mm_minpos_epu16(half), sse2._mm_set1_epi16(flip)))
    }

    /// With a number below each byte, one minimum finds both.
    #[inline(always)]
    fn minpos_8(self, v: __m256i, numbers: __m256i, flip: i8) -> usize {
        let V3 { sse2, sse4_1, avx, .. } = self.0;
        let v = self._mm256_xor_si256(v, avx._mm256_set1_epi8(flip));
        let halves = (self._mm256_unpacklo_epi8(numbers, v), self._mm256_unpackhi_epi8(numbers, v));
        let first = self._mm256_min_epu16(halves.0, halves.1);
        let half = sse4_1._mm_min_epu16(avx._mm256_castsi256_si128(first), self._mm256_extracti128_si256::<1>(first));
        (sse2._mm_cvtsi128_si32(sse4_1._mm_minpos_epu16(half)) & 0xff) as usize
    }
    /// The instruction itself tells the lane.
    #[inline(always)]
    fn minpos_16(self, v: __m256i, _: __m256i, flip: i16) -> usize {
        let V3 { sse2, sse4_1, avx, .. } = self.0;
        let v = sse2._mm_xor_si128(avx._mm256_castsi256_si128(v), sse2._mm_set1_epi16(flip));
        (sse2._mm_cvtsi128_si32(sse4_1._mm_minpos_epu16(v)) as u32 >> 16) as usize
    }

    #[inline(always)]
    fn movemask_8(self, mask: __m256i) -> u64 {
        u64::from(self._mm256_movemask_epi8(mask) as u32)
    }
    #[inline(always)]
    fn movemask_32(self, mask: __m256i) -> u64 {
        self.0.avx._mm256_movemask_ps(cast(mask)) as u64
    }
    #[inline(always)]
    fn movemask_64(self, mask: __m256i) -> u64 {
        self.0.avx._mm256_movemask_pd(cast(mask)) as u64
    }

    /// Lane `i` gets lane `i ^ (bytes / size of a lane)`.
    #[inline(always)]
    fn butterfly_bytes(self, v: __m256i, bytes: usize) -> __m256i {
        match bytes {
            16 => self._mm256_permute2x128_si256::<0x01>(v, v),
            8 => self._mm256_shuffle_epi32::<0b01_00_11_10>(v),
            4 => self._mm256_shuffle_epi32::<0b10_11_00_01>(v),
            // In each 128-bit half: the bytes' numbers, with the neighbouring pairs (or bytes) exchanged.
            2 => self._mm256_shuffle_epi8(v, self.halves(0x0504_0706_0100_0302)),
            _ => self._mm256_shuffle_epi8(v, self.halves(0x0607_0405_0203_0001)),
        }
    }

    /// Lane `i` gets lane `i + lanes`, and the last ones the first; of lanes of `SIZE` bytes.
    #[inline(always)]
    fn rotate_lanes<const SIZE: usize>(self, v: __m256i, lanes: usize) -> __m256i {
        let V3 { avx, .. } = self.0;
        let bytes = lanes * SIZE;
        if SIZE >= 4 {
            let first = avx._mm256_set1_epi32((bytes / 4) as i32);
            let numbers = self._mm256_add_epi32(iota::<u32, _>(false), first);
            return self._mm256_permutevar8x32_epi32(v, numbers);
        }
        // A byte of each half comes from the same half, or from the other one.
        let other = self._mm256_permute2x128_si256::<0x01>(v, v);
        let (here, there) = (self.numbers_from(CHUNK_BYTES + bytes), self.numbers_from(bytes));
        self._mm256_or_si256(self._mm256_shuffle_epi8(v, here), self._mm256_shuffle_epi8(other, there))
    }
    /// Equal numbers for both halves: see [`rotation`].
    #[inline(always)]
    fn numbers_from(self, from: usize) -> __m256i {
        self._mm256_broadcastsi128_si256(cast(rotation(from)))
    }

    /// Masks of 32 bits as masks of bytes, in each half.
    #[inline(always)]
    fn pack_32(self, [a, b, c, d]: [__m256i; 4]) -> __m256i {
        self._mm256_packs_epi16(self._mm256_packs_epi32(a, b), self._mm256_packs_epi32(c, d))
    }

    /// A byte shuffle that does to bytes 8 to 15 of each 128-bit half what `order` does to bytes 0 to 7.
    #[inline(always)]
    fn halves(self, order: i64) -> __m256i {
        const EIGHT: i64 = 0x0808_0808_0808_0808;
        self.0.avx._mm256_set_epi64x(order + EIGHT, order, order + EIGHT, order)
    }
}

// SAFETY: masks have all bits of a lane set, or none: so do packed and extended ones, and they come in order, as Intel
// says of the instructions. Each lane of those of bits is compared with the bit that has its number.
unsafe impl<T> ByteMaskOps<T> for Avx2
where
    Avx2: SimdOps<T, Mask = __m256i>,
{
    #[inline(always)]
    fn narrow(self, mask: impl Fn(usize) -> __m256i) -> __m256i {
        let (mut masks, mut n) = ([self.0.avx._mm256_setzero_si256(); 8], 0);
        while n < size_of::<T>() {
            masks[n] = mask(n);
            n += 1;
        }
        let [a, b, c, d, e, f, g, h] = masks;
        // Packing works in each half of a vector, so that what comes out has to be put in order.
        match size_of::<T>() {
            1 => a,
            2 => self._mm256_permute4x64_epi64::<0b11_01_10_00>(self._mm256_packs_epi16(a, b)),
            4 => self._mm256_permutevar8x32_epi32(self.pack_32([a, b, c, d]), cast([0, 4, 1, 5, 2, 6, 3, 7])),
            // Two halves of a lane of 64 bits, packed, are a lane of 32.
            _ => {
                let (ab, cd) = (self._mm256_packs_epi32(a, b), self._mm256_packs_epi32(c, d));
                let (ef, gh) = (self._mm256_packs_epi32(e, f), self._mm256_packs_epi32(g, h));
                let bytes = self._mm256_permute4x64_epi64::<0b11_01_10_00>(self.pack_32([ab, cd, ef, gh]));
                self._mm256_shuffle_epi8(bytes, cast([[0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15_u8]; 2]))
            }
        }
    }

    #[inline(always)]
    fn byte_mask(self, bits: u64) -> __m256i {
        // Each byte gets the one that has its bit: within each half of a vector.
        let bits = self.0.avx._mm256_set1_epi32(bits as i32);
        const BYTES: [i64; 2] = [0x0101_0101_0101_0101, 0x0202_0202_0202_0202];
        let spread = self._mm256_shuffle_epi8(bits, cast([0, BYTES[0], BYTES[1], BYTES[0] + BYTES[1]]));
        let own = self.0.avx._mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        self._mm256_cmpeq_epi8(self._mm256_and_si256(spread, own), own)
    }

    #[inline(always)]
    fn widen(self, mask: &__m256i, n: usize) -> __m256i {
        match size_of::<T>() {
            1 => *mask,
            2 => self._mm256_cvtepi8_epi16(cast::<_, [__m128i; 2]>(*mask)[n]),
            4 => self._mm256_cvtepi8_epi32(cast([cast::<_, [i64; 4]>(*mask)[n], 0])),
            _ => self._mm256_cvtepi8_epi64(cast([cast::<_, [i32; 8]>(*mask)[n], 0, 0, 0])),
        }
    }

    /// Each lane of more than a byte has all bits, and looks for its own: an operation less than by bytes.
    #[inline(always)]
    fn select_by_bits(
        self,
        bits: u64,
        n: usize,
        a: <Self as SimdOps<T>>::Vector,
        b: <Self as SimdOps<T>>::Vector,
    ) -> <Self as SimdOps<T>>::Vector {
        let (V3 { avx, .. }, first) = (self.0, n * <Self as SimdOps<T>>::LANES);
        let mask = match size_of::<T>() {
            2 => {
                let own = cast([1_u16, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768]);
                let bits = avx._mm256_set1_epi16((bits >> first) as i16);
                self._mm256_cmpeq_epi16(self._mm256_and_si256(bits, own), own)
            }
            4 => {
                let own = cast([1_u32, 2, 4, 8, 16, 32, 64, 128].map(|bit| bit << (first % 32)));
                let bits = avx._mm256_set1_epi32((bits >> (first / 32 * 32)) as i32);
                self._mm256_cmpeq_epi32(self._mm256_and_si256(bits, own), own)
            }
            8 => {
                let own = cast([1_u64, 2, 4, 8].map(|bit| bit << first));
                self._mm256_cmpeq_epi64(self._mm256_and_si256(avx._mm256_set1_epi64x(bits as i64), own), own)
            }
            _ => self.byte_mask(bits >> first),
        };
        SimdOps::<T>::select(self, mask, a, b)
    }
}

/// Intrinsics are methods of the token, as what is made of them is, so that the tables can name both.
impl Deref for Avx2 {
    type Target = pulp::core_arch::x86::Avx2;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0.avx2
    }
}

/// 16 numbers of bytes for a shuffle: those from 0 on, with what makes zeros before and after them, and again.
#[inline(always)]
pub(super) fn rotation(from: usize) -> [u8; CHUNK_BYTES] {
    const NUMBERS: [u8; 4 * CHUNK_BYTES] = {
        let mut numbers = [0x80; 4 * CHUNK_BYTES];
        let mut n = 0;
        while n < CHUNK_BYTES {
            numbers[CHUNK_BYTES + n] = n as u8;
            numbers[3 * CHUNK_BYTES + n] = n as u8;
            n += 1;
        }
        numbers
    };
    *NUMBERS[from..].first_chunk().expect("less than a vector")
}

// SAFETY: only pulp's token makes one, which is such a proof, by `new` and `assume`; its `is_available` is what pulp
// has seen, and its `vectorize` runs what it is given once.
unsafe impl Simd for Avx2 {
    const TUNING: IsaTuning = isa::AVX2;

    fn is_available() -> bool {
        V3::is_available()
    }

    #[inline(always)]
    unsafe fn assume() -> Self {
        // SAFETY: the caller promises that the ISA is there.
        Avx2(unsafe { V3::new_unchecked() })
    }

    #[inline(always)]
    unsafe fn vectorize<T: SimdOp>(self, op: T) -> T::Output {
        self.0.vectorize(
            #[inline(always)]
            // SAFETY: the caller's promise.
            move || unsafe { op.eval() },
        )
    }
}

// SAFETY: 32 bytes are a vector; the loads are of 16 bytes each, and Intel says of the instructions what is asked for.
unsafe impl TransposeOps for Avx2 {
    type Bytes = __m256i;
    type HalfWidth = Self;

    #[inline(always)]
    unsafe fn load_chunks_strided(self, at: *const u8, step: isize) -> __m256i {
        let V3 { sse2, avx, .. } = self.0;
        // SAFETY: the caller's promise; the loads are unaligned.
        let (low, high) =
            unsafe { (sse2._mm_loadu_si128(at.cast()), sse2._mm_loadu_si128(at.wrapping_offset(step).cast())) };
        self._mm256_inserti128_si256::<1>(avx._mm256_castsi128_si256(low), high)
    }

    #[inline(always)]
    fn interleave_lo_hi<const SIZE: usize>(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        match SIZE {
            1 => (self._mm256_unpacklo_epi8(a, b), self._mm256_unpackhi_epi8(a, b)),
            2 => (self._mm256_unpacklo_epi16(a, b), self._mm256_unpackhi_epi16(a, b)),
            4 => (self._mm256_unpacklo_epi32(a, b), self._mm256_unpackhi_epi32(a, b)),
            _ => (self._mm256_unpacklo_epi64(a, b), self._mm256_unpackhi_epi64(a, b)),
        }
    }
}
