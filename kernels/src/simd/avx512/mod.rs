//! AVX-512 (F, BW, CD, DQ and VL) through pulp's `V4` token: vectors and counts of all lane types are 512-bit integers,
//! masks are bits, and the table names the intrinsics that differ between lane types, and the feature that each is
//! from. 16-bit floats need no FP16 here: their keys are integers.

mod ops;

use super::avx2::{Avx2, rotation};
use crate::simd::cast;
use crate::simd::ops::{ByteMaskOps, SimdOps, iota};
use crate::simd::token::{Simd, SimdOp};
use crate::simd::transpose::{CHUNK_BYTES, TransposeOps};
use crate::tuning::isa::{self, IsaTuning};
use core::arch::x86_64::*;
use core::ptr::from_ref;
use pulp::x86::V4;

/// The token; pulp's, under a name of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(V4);

impl Avx512 {
    /// Lane `i` gets lane `i ^ (bytes / size of a lane)`.
    #[inline(always)]
    fn butterfly_bytes(self, v: __m512i, bytes: usize) -> __m512i {
        let V4 { avx512f, avx512bw, .. } = self.0;
        match bytes {
            32 => avx512f._mm512_shuffle_i64x2::<0b01_00_11_10>(v, v),
            16 => avx512f._mm512_shuffle_i64x2::<0b10_11_00_01>(v, v),
            8 => avx512f._mm512_shuffle_epi32::<0b01_00_11_10>(v),
            4 => avx512f._mm512_shuffle_epi32::<0b10_11_00_01>(v),
            // In each 128-bit quarter: the bytes' numbers, with the neighbouring pairs (or bytes) exchanged.
            2 => avx512bw._mm512_shuffle_epi8(v, self.quarters(0x0504_0706_0100_0302)),
            _ => avx512bw._mm512_shuffle_epi8(v, self.quarters(0x0607_0405_0203_0001)),
        }
    }

    /// Lane `i` gets lane `i + lanes`, and the last ones the first; of lanes of `SIZE` bytes.
    #[inline(always)]
    fn rotate_lanes<const SIZE: usize>(self, v: __m512i, lanes: usize) -> __m512i {
        let V4 { avx512f, avx512bw, .. } = self.0;
        let bytes = lanes * SIZE;
        match SIZE {
            1 => {
                let (quarters, bytes) = (bytes / CHUNK_BYTES, bytes % CHUNK_BYTES);
                // A byte of each quarter comes from the one that is `quarters` further on, or from the one after that.
                let (here, there) = (self.rotate_quads(v, quarters * 4), self.rotate_quads(v, quarters * 4 + 4));
                avx512f._mm512_or_si512(
                    avx512bw._mm512_shuffle_epi8(here, self.numbers_from(CHUNK_BYTES + bytes)),
                    avx512bw._mm512_shuffle_epi8(there, self.numbers_from(bytes)),
                )
            }
            2 => {
                let first = avx512f._mm512_set1_epi16(lanes as i16);
                let numbers = avx512bw._mm512_add_epi16(iota::<u16, _>(false), first);
                avx512bw._mm512_permutexvar_epi16(numbers, v)
            }
            _ => self.rotate_quads(v, bytes / 4),
        }
    }
    /// Lanes of four bytes, from lane `quads` on, and then the first ones.
    #[inline(always)]
    fn rotate_quads(self, v: __m512i, quads: usize) -> __m512i {
        let V4 { avx512f, .. } = self.0;
        let first = avx512f._mm512_set1_epi32(quads as i32);
        let numbers = avx512f._mm512_add_epi32(iota::<u32, _>(false), first);
        avx512f._mm512_permutexvar_epi32(numbers, v)
    }
    /// Equal numbers for each quarter: see [`rotation`].
    #[inline(always)]
    fn numbers_from(self, from: usize) -> __m512i {
        self.0.avx512f._mm512_broadcast_i32x4(cast(rotation(from)))
    }

    /// A byte shuffle that does to bytes 8 to 15 of each 128-bit quarter what `order` does to bytes 0 to 7.
    #[inline(always)]
    fn quarters(self, order: i64) -> __m512i {
        const EIGHT: i64 = 0x0808_0808_0808_0808;
        self.0.avx512f._mm512_set4_epi64(order + EIGHT, order, order + EIGHT, order)
    }
}

// SAFETY: masks are a bit for each lane, the lowest first, so that those of vectors are those of bytes, one behind the
// other.
unsafe impl<T> ByteMaskOps<T> for Avx512
where
    Avx512: SimdOps<T, Mask: Into<u64>>,
{
    #[inline(always)]
    fn narrow(self, mask: impl Fn(usize) -> <Self as SimdOps<T>>::Mask) -> __mmask64 {
        let (mut bits, mut n) = (0, 0);
        while n < size_of::<T>() {
            bits |= mask(n).into() << (n * <Self as SimdOps<T>>::LANES);
            n += 1;
        }
        bits
    }

    #[inline(always)]
    fn byte_mask(self, bits: u64) -> __mmask64 {
        bits
    }

    #[inline(always)]
    fn widen(self, mask: &__mmask64, n: usize) -> <Self as SimdOps<T>>::Mask {
        assert!(n < size_of::<T>());
        // SAFETY: as many masks are as long as one of bytes, and are aligned to less.
        unsafe { from_ref(mask).cast::<<Self as SimdOps<T>>::Mask>().add(n).read() }
    }
}

/// The token of the halves of vectors.
impl From<Avx512> for Avx2 {
    #[inline(always)]
    fn from(token: Avx512) -> Avx2 {
        Avx2::new(*token.0)
    }
}

// SAFETY: only pulp's token makes one, which is such a proof, by `assume`; its `is_available` is what pulp has seen,
// and its `vectorize` runs what it is given once.
unsafe impl Simd for Avx512 {
    const TUNING: IsaTuning = isa::AVX512;

    fn is_available() -> bool {
        V4::is_available()
    }

    /// Whether the CPU runs 512-bit instructions at the frequency of others. Those that do also have VBMI2, which is
    /// not used here, and those that do not, have not. See docs/isa-selection.md.
    fn is_preferred() -> bool {
        #[cfg(feature = "std")]
        return std::is_x86_feature_detected!("avx512vbmi2");
        #[cfg(not(feature = "std"))]
        return cfg!(target_feature = "avx512vbmi2");
    }

    #[inline(always)]
    unsafe fn assume() -> Self {
        // SAFETY: the caller promises that the ISA is there.
        Avx512(unsafe { V4::new_unchecked() })
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

// SAFETY: 64 bytes are a vector, of which both halves are loaded as AVX2 does; Intel says of the instructions what is
// asked for. Stores are by masks of the even lanes, as many lanes at a time as are told, and none beyond `len`.
unsafe impl TransposeOps for Avx512 {
    type Bytes = __m512i;
    // Perfect shuffles of twice the width are not worth their code size.
    type HalfWidth = Avx2;

    #[inline(always)]
    unsafe fn load_chunks_strided(self, at: *const u8, step: isize) -> __m512i {
        let (avx512f, half) = (self.0.avx512f, Avx2::from(self));
        // SAFETY: the caller's promise.
        let (low, high) = unsafe {
            (half.load_chunks_strided(at, step), half.load_chunks_strided(at.wrapping_offset(2 * step), step))
        };
        avx512f._mm512_inserti64x4::<1>(avx512f._mm512_castsi256_si512(low), high)
    }

    #[inline(always)]
    fn interleave_lo_hi<const SIZE: usize>(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        let V4 { avx512f, avx512bw, .. } = self.0;
        match SIZE {
            1 => (avx512bw._mm512_unpacklo_epi8(a, b), avx512bw._mm512_unpackhi_epi8(a, b)),
            2 => (avx512bw._mm512_unpacklo_epi16(a, b), avx512bw._mm512_unpackhi_epi16(a, b)),
            4 => (avx512f._mm512_unpacklo_epi32(a, b), avx512f._mm512_unpackhi_epi32(a, b)),
            _ => (avx512f._mm512_unpacklo_epi64(a, b), avx512f._mm512_unpackhi_epi64(a, b)),
        }
    }

    #[inline(always)]
    unsafe fn write_every_second<B: Copy>(self, from: *const B, to: *mut B, len: usize) -> usize {
        let V4 { avx512f, avx, .. } = self.0;
        let lanes = match size_of::<B>() {
            4 => 8,
            8 => 4,
            _ => return 0,
        };
        let mut done = 0;
        while done + lanes <= len {
            // SAFETY: the caller's promise: the elements of half of a vector, and their places, which the mask selects.
            unsafe {
                let (v, to) = (avx._mm256_loadu_si256(from.add(done).cast()), to.add(2 * done));
                if lanes == 8 {
                    avx512f._mm512_mask_storeu_epi32(to.cast(), 0x5555, avx512f._mm512_cvtepu32_epi64(v));
                } else {
                    let v = avx512f._mm512_maskz_expand_epi64(0x55, avx512f._mm512_castsi256_si512(v));
                    avx512f._mm512_mask_storeu_epi64(to.cast(), 0x55, v);
                }
            }
            done += lanes;
        }
        done
    }
}
