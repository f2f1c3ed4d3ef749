//! NEON on little-endian aarch64 through pulp's `Neon` token: vectors have the type of their lanes, counts are
//! unsigned integers as wide, masks are bytes, and the table names the intrinsics of each.
//!
//! What is really different from x86:
//!
//! - There is no movemask: a mask becomes bits by the narrowing shift, 4 bits for each byte of a lane.
//! - There is no 64-bit maximum, and no maximum of floats that keeps its second operand bit for bit (`fmaxnm` drops a
//!   quiet NaN but returns a signalling one). These are a comparison and a select.
//! - There is no comparison for "unordered".

mod ops;

use crate::simd::cast;
use crate::simd::ops::{ByteMaskOps, SimdOps, iota};
use crate::simd::token::Simd;
use crate::simd::transpose::{CHUNK_BYTES, TransposeOps};
use crate::tuning::isa::{self, IsaTuning};
use core::arch::aarch64::*;

/// The token; pulp's, under a name of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(pulp::aarch64::Neon);

impl Neon {
    /// Lane `i` gets lane `i ^ (bytes / size of a lane)`.
    #[inline(always)]
    fn butterfly_bytes(self, v: uint8x16_t, bytes: usize) -> uint8x16_t {
        let neon = self.0.neon;
        match bytes {
            8 => neon.vextq_u8::<8>(v, v),
            4 => cast(neon.vrev64q_u32(cast(v))),
            2 => cast(neon.vrev32q_u16(cast(v))),
            _ => neon.vrev16q_u8(v),
        }
    }

    /// Byte `i` gets byte `i + bytes`, and the last ones the first.
    #[inline(always)]
    fn rotate_bytes(self, v: uint8x16_t, bytes: usize) -> uint8x16_t {
        let numbers = iota::<u8, [u8; CHUNK_BYTES]>(false).map(|n| (n + bytes as u8) % 16);
        self.0.neon.vqtbl1q_u8(v, cast(numbers))
    }
}

// SAFETY: all bytes of a lane are equal in a mask, so that every other one of them is the mask of narrower lanes, and
// twice each that of wider ones; each byte of those of bits tests the one that has its number.
unsafe impl<T> ByteMaskOps<T> for Neon
where
    Neon: SimdOps<T, Mask = uint8x16_t>,
{
    #[inline(always)]
    fn narrow(self, mask: impl Fn(usize) -> uint8x16_t) -> uint8x16_t {
        let (mut masks, mut vectors) = ([self.0.neon.vdupq_n_u8(0); 8], 0);
        while vectors < size_of::<T>() {
            masks[vectors] = mask(vectors);
            vectors += 1;
        }
        // The bytes of a lane are equal: every other one of two vectors.
        while vectors > 1 {
            vectors /= 2;
            let mut n = 0;
            while n < vectors {
                masks[n] = self.0.neon.vuzp1q_u8(masks[2 * n], masks[2 * n + 1]);
                n += 1;
            }
        }
        masks[0]
    }

    #[inline(always)]
    fn byte_mask(self, bits: u64) -> uint8x16_t {
        let [low, high, ..] = bits.to_le_bytes();
        let bytes: uint8x16_t = cast([[low; 8], [high; 8]]);
        self.0.neon.vtstq_u8(bytes, cast([0x8040_2010_0804_0201_u64; 2]))
    }

    #[inline(always)]
    fn widen(self, &mask: &uint8x16_t, n: usize) -> uint8x16_t {
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

// SAFETY: only pulp's token makes one, which is such a proof, by `assume`; its `is_available` is what pulp has seen.
unsafe impl Simd for Neon {
    const TUNING: IsaTuning = isa::NEON;

    fn is_available() -> bool {
        pulp::aarch64::Neon::is_available()
    }

    #[inline(always)]
    unsafe fn assume() -> Self {
        // SAFETY: the caller promises that the ISA is there.
        Neon(unsafe { pulp::aarch64::Neon::new_unchecked() })
    }
}

// SAFETY: 16 bytes are a vector and one chunk; Arm says of the instructions what is asked for.
unsafe impl TransposeOps for Neon {
    type Bytes = uint8x16_t;
    type HalfWidth = Self;

    #[inline(always)]
    unsafe fn load_chunks_strided(self, at: *const u8, _: isize) -> uint8x16_t {
        // SAFETY: the caller's promise.
        unsafe { self.0.neon.vld1q_u8(at) }
    }

    #[inline(always)]
    fn interleave_lo_hi<const SIZE: usize>(self, a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        let neon = self.0.neon;
        match SIZE {
            1 => (neon.vzip1q_u8(a, b), neon.vzip2q_u8(a, b)),
            2 => (cast(neon.vzip1q_u16(cast(a), cast(b))), cast(neon.vzip2q_u16(cast(a), cast(b)))),
            4 => (cast(neon.vzip1q_u32(cast(a), cast(b))), cast(neon.vzip2q_u32(cast(a), cast(b)))),
            _ => (cast(neon.vzip1q_u64(cast(a), cast(b))), cast(neon.vzip2q_u64(cast(a), cast(b)))),
        }
    }
}
