//! NEON on little-endian aarch64 through pulp's `Neon` token: vectors have the type of their lanes, masks and counts
//! are unsigned integers as wide, and the table names the intrinsics of each.
//!
//! What is really different from x86:
//!
//! - There is no movemask: a mask becomes bits by the narrowing shift, 4 bits for each byte of a lane.
//! - There is no 64-bit maximum, and no maximum of floats that keeps its second operand bit for bit (`fmaxnm` drops a
//!   quiet NaN but returns a signalling one). These are a comparison and a select.
//! - There is no comparison for "unordered".

mod ops;

use crate::simd::ops::iota;
use crate::simd::token::{Simd, SimdOp};
use crate::simd::transpose::TransposeOps;
use crate::tuning::isa::{self, IsaTuning};
use core::arch::aarch64::*;

/// The token; pulp's, under a name of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(pulp::aarch64::Neon);

impl Neon {
    pub(crate) fn is_available() -> bool {
        pulp::aarch64::Neon::is_available()
    }

    /// Lane `i` gets lane `i ^ (bytes / size of a lane)`.
    #[inline(always)]
    fn butterfly_bytes(self, v: uint8x16_t, bytes: usize) -> uint8x16_t {
        let neon = self.0.neon;
        match bytes {
            8 => neon.vextq_u8::<8>(v, v),
            4 => neon.vreinterpretq_u8_u32(neon.vrev64q_u32(neon.vreinterpretq_u32_u8(v))),
            2 => neon.vreinterpretq_u8_u16(neon.vrev32q_u16(neon.vreinterpretq_u16_u8(v))),
            _ => neon.vrev16q_u8(v),
        }
    }

    /// Byte `i` gets byte `i + bytes`, and the last ones the first.
    #[inline(always)]
    fn rotate_bytes(self, v: uint8x16_t, bytes: usize) -> uint8x16_t {
        let numbers = iota!(u8, 16, false).map(|n| (n + bytes as u8) % 16);
        self.0.neon.vqtbl1q_u8(v, bytemuck::cast(numbers))
    }

    /// 4 equal bits for each byte of all ones or zeros.
    #[inline(always)]
    fn movemask_bytes(self, mask: uint16x8_t) -> u64 {
        let neon = self.0.neon;
        neon.vget_lane_u64::<0>(neon.vreinterpret_u64_u8(neon.vshrn_n_u16::<4>(mask)))
    }

    // Unlike the maximum of `SimdOps`, that of the machine is NaN if either operand is.
    #[inline(always)]
    fn keep_nan_f32(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        self.0.neon.vmaxq_f32(a, b)
    }
    #[inline(always)]
    fn keep_nan_f64(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        self.0.neon.vmaxq_f64(a, b)
    }

    #[inline(always)]
    fn not_u32(self, mask: uint32x4_t) -> uint32x4_t {
        self.0.neon.vmvnq_u32(mask)
    }
    #[inline(always)]
    fn not_u64(self, mask: uint64x2_t) -> uint64x2_t {
        let neon = self.0.neon;
        neon.vreinterpretq_u64_u32(neon.vmvnq_u32(neon.vreinterpretq_u32_u64(mask)))
    }

    /// What a mask of 16-bit lanes is to the narrowing shift.
    #[inline(always)]
    fn same(self, mask: uint16x8_t) -> uint16x8_t {
        mask
    }
}

/// Intrinsics as methods, so that the tables below can name them beside those of ours.
macro_rules! intrinsics {
    ($($name:ident: $from:ty => $to:ty;)+) => {
        impl Neon {$(
            #[inline(always)]
            fn $name(self, a: $from) -> $to {
                self.0.neon.$name(a)
            }
        )+}
    };
}
intrinsics! {
    vreinterpretq_u16_u8: uint8x16_t => uint16x8_t;
    vreinterpretq_u16_u32: uint32x4_t => uint16x8_t;
    vreinterpretq_u16_u64: uint64x2_t => uint16x8_t;
}

/// The maximum and minimum of lanes that have none.
macro_rules! by_selection {
    ($($max:ident, $min:ident: $vector:ident, $gt:ident, $select:ident;)+) => {
        impl Neon {$(
            #[inline(always)]
            fn $max(self, new: $vector, kept: $vector) -> $vector {
                self.0.neon.$select(self.0.neon.$gt(new, kept), new, kept)
            }
            #[inline(always)]
            fn $min(self, new: $vector, kept: $vector) -> $vector {
                self.0.neon.$select(self.0.neon.$gt(kept, new), new, kept)
            }
        )+}
    };
}
by_selection! {
    max_i64, min_i64: int64x2_t, vcgtq_s64, vbslq_s64;
    max_u64, min_u64: uint64x2_t, vcgtq_u64, vbslq_u64;
    max_f32, min_f32: float32x4_t, vcgtq_f32, vbslq_f32;
    max_f64, min_f64: float64x2_t, vcgtq_f64, vbslq_f64;
}

/// The others, as methods too.
macro_rules! by_instruction {
    ($($vector:ident: $max:ident $min:ident;)+) => {
        impl Neon {$(
            #[inline(always)]
            fn $max(self, new: $vector, kept: $vector) -> $vector {
                self.0.neon.$max(new, kept)
            }
            #[inline(always)]
            fn $min(self, new: $vector, kept: $vector) -> $vector {
                self.0.neon.$min(new, kept)
            }
        )+}
    };
}
by_instruction! {
    int8x16_t: vmaxq_s8 vminq_s8;
    int16x8_t: vmaxq_s16 vminq_s16;
    int32x4_t: vmaxq_s32 vminq_s32;
    uint8x16_t: vmaxq_u8 vminq_u8;
    uint16x8_t: vmaxq_u16 vminq_u16;
    uint32x4_t: vmaxq_u32 vminq_u32;
}

impl Simd for Neon {
    const TUNING: IsaTuning = isa::NEON;

    #[inline(always)]
    unsafe fn assume() -> Self {
        // SAFETY: the caller promises that the ISA is there.
        Neon(unsafe { pulp::aarch64::Neon::new_unchecked() })
    }

    #[inline(always)]
    unsafe fn vectorize<T: SimdOp>(self, op: T) -> T::Output {
        // The target has its features.
        // SAFETY: the caller's promise.
        unsafe { op.eval_outlined() }
    }
}

impl TransposeOps for Neon {
    type Bytes = uint8x16_t;
    type HalfWidth = Self;

    #[inline(always)]
    fn half_width(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn load_blocks_strided(self, at: *const u8, _: isize) -> uint8x16_t {
        // SAFETY: the caller's promise.
        unsafe { self.0.neon.vld1q_u8(at) }
    }

    #[inline(always)]
    fn interleave_lo_hi<const SIZE: usize>(self, a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        let neon = self.0.neon;
        match SIZE {
            1 => (neon.vzip1q_u8(a, b), neon.vzip2q_u8(a, b)),
            2 => {
                let (a, b) = (neon.vreinterpretq_u16_u8(a), neon.vreinterpretq_u16_u8(b));
                (neon.vreinterpretq_u8_u16(neon.vzip1q_u16(a, b)), neon.vreinterpretq_u8_u16(neon.vzip2q_u16(a, b)))
            }
            4 => {
                let (a, b) = (neon.vreinterpretq_u32_u8(a), neon.vreinterpretq_u32_u8(b));
                (neon.vreinterpretq_u8_u32(neon.vzip1q_u32(a, b)), neon.vreinterpretq_u8_u32(neon.vzip2q_u32(a, b)))
            }
            _ => {
                let (a, b) = (neon.vreinterpretq_u64_u8(a), neon.vreinterpretq_u64_u8(b));
                (neon.vreinterpretq_u8_u64(neon.vzip1q_u64(a, b)), neon.vreinterpretq_u8_u64(neon.vzip2q_u64(a, b)))
            }
        }
    }
}
