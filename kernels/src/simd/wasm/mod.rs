//! The 128-bit vectors of WebAssembly through pulp's `Simd128` token: all lanes, counts and masks are one type, and the
//! table names the intrinsics of each. (Memory is little-endian there, whatever the machine.)
//!
//! What is really different from NEON:
//!
//! - A mask becomes bits by an instruction, a bit for each lane.
//! - The pseudo-maximum keeps its first operand bit for bit, for equals and NaN: it is the one that is asked for.
//! - There is no comparison for "unordered", and no maximum that is as cheap and keeps NaN.
//! - Nothing of the relaxed instructions is used: to what is done with NaN, each engine has its own answer there.
//! - A module that an engine lacks the instructions for is refused as a whole. So nothing is detected: the target has
//!   the feature, or there is no such ISA.

mod ops;

use crate::simd::cast;
use crate::simd::ops::{ByteMaskOps, SimdOps, iota};
use crate::simd::token::Simd;
use crate::simd::transpose::{CHUNK_BYTES, TransposeOps};
use crate::tuning::isa::{self, IsaTuning};
use core::arch::wasm32::v128;

/// The token; pulp's, under a name of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd128(pulp::wasm::Simd128);

impl Simd128 {
    /// Lane `i` gets lane `i ^ (bytes / size of a lane)`.
    #[inline(always)]
    fn butterfly_bytes(self, v: v128, bytes: usize) -> v128 {
        let simd = self.0.simd128;
        match bytes {
            8 => simd.i64x2_shuffle::<1, 0>(v, v),
            4 => simd.i32x4_shuffle::<1, 0, 3, 2>(v, v),
            2 => simd.i16x8_shuffle::<1, 0, 3, 2, 5, 4, 7, 6>(v, v),
            _ => simd.i8x16_shuffle::<1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14>(v, v),
        }
    }

    /// Byte `i` gets byte `i + bytes`, and the last ones the first.
    #[inline(always)]
    fn rotate_bytes(self, v: v128, bytes: usize) -> v128 {
        let numbers = iota::<u8, [u8; CHUNK_BYTES]>(false).map(|n| (n + bytes as u8) % 16);
        self.0.simd128.i8x16_swizzle(v, cast(numbers))
    }
}

// SAFETY: all bits of a lane are equal in a mask, so that its halves, saturated, are the mask of lanes of half the
// width, and twice each its bytes that of wider ones; each byte of those of bits tests the one that has its number.
unsafe impl<T> ByteMaskOps<T> for Simd128
where
    Simd128: SimdOps<T, Mask = v128>,
{
    #[inline(always)]
    fn narrow(self, mask: impl Fn(usize) -> v128) -> v128 {
        let (mut masks, mut vectors) = ([cast([0_u8; CHUNK_BYTES]); 8], 0);
        while vectors < size_of::<T>() {
            masks[vectors] = mask(vectors);
            vectors += 1;
        }
        // Half of the bytes of each lane, of two vectors.
        while vectors > 1 {
            vectors /= 2;
            let mut n = 0;
            while n < vectors {
                masks[n] = self.0.simd128.i8x16_narrow_i16x8(masks[2 * n], masks[2 * n + 1]);
                n += 1;
            }
        }
        masks[0]
    }

    #[inline(always)]
    fn byte_mask(self, bits: u64) -> v128 {
        let simd = self.0.simd128;
        let (bits, tested) = (simd.u16x8_splat(bits as u16), cast([0x8040_2010_0804_0201_u64; 2]));
        let bytes = simd.i8x16_shuffle::<0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1>(bits, bits);
        simd.i8x16_eq(simd.v128_and(bytes, tested), tested)
    }

    #[inline(always)]
    fn widen(self, &mask: &v128, n: usize) -> v128 {
        // Each byte twice, of one half of them, and again.
        let (mut mask, mut vectors) = (mask, size_of::<T>());
        while vectors > 1 {
            vectors /= 2;
            let (low, high) = self.interleave_lo_hi::<1>(mask, mask);
            mask = if n & vectors == 0 { low } else { high };
        }
        mask
    }
}

// SAFETY: only pulp's token makes one, which is such a proof, by `assume`. The module is there only where the target
// has the feature, and so whatever runs it.
unsafe impl Simd for Simd128 {
    const TUNING: IsaTuning = isa::SIMD128;

    fn is_available() -> bool {
        true
    }

    #[inline(always)]
    unsafe fn assume() -> Self {
        // SAFETY: the caller promises that the ISA is there.
        Simd128(unsafe { pulp::wasm::Simd128::new_unchecked() })
    }
}

// SAFETY: 16 bytes are a vector and one chunk; the specification says of the instructions what is asked for.
unsafe impl TransposeOps for Simd128 {
    type Bytes = v128;
    type HalfWidth = Self;

    #[inline(always)]
    unsafe fn load_chunks_strided(self, at: *const u8, _: isize) -> v128 {
        // SAFETY: the caller's promise; the instruction needs no alignment.
        unsafe { self.0.simd128.v128_load(at.cast()) }
    }

    #[inline(always)]
    #[rustfmt::skip]
    fn interleave_lo_hi<const SIZE: usize>(self, a: v128, b: v128) -> (v128, v128) {
        let simd = self.0.simd128;
        match SIZE {
            1 => (
                simd.i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b),
                simd.i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b),
            ),
            2 => (
                simd.i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a, b),
                simd.i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a, b),
            ),
            4 => (simd.i32x4_shuffle::<0, 4, 1, 5>(a, b), simd.i32x4_shuffle::<2, 6, 3, 7>(a, b)),
            _ => (simd.i64x2_shuffle::<0, 2>(a, b), simd.i64x2_shuffle::<1, 3>(a, b)),
        }
    }
}
