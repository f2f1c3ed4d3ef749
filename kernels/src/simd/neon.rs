//! NEON on little-endian aarch64 through pulp's `Neon` token: vectors have the type of their lanes, masks and counts are unsigned integers
//! as wide, and the table names the intrinsics of each.
//!
//! What is really different from x86: there is no movemask, so a mask becomes bits by the narrowing shift, 4 bits for each byte of a lane;
//! no 64-bit maximum, and no maximum of floats that keeps its second operand bit for bit (`fmaxnm` drops a quiet NaN but
//! returns a signalling one), so these are a comparison and a select; and no comparison for "unordered".

use crate::simd::ops::{HalfLanes, Lanes, lane_numbers, no_traces, traces_by_vector};
use crate::simd::token::{Task, Token};
use crate::simd::transpose::Zip;
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
    fn swap_bytes(self, v: uint8x16_t, bytes: usize) -> uint8x16_t {
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
        let numbers = lane_numbers!(u8, 16, false).map(|n| (n + bytes as u8) % 16);
        self.0.neon.vqtbl1q_u8(v, bytemuck::cast(numbers))
    }

    /// 4 equal bits for each byte of all ones or zeros.
    #[inline(always)]
    fn bits_of_bytes(self, mask: uint16x8_t) -> u64 {
        let neon = self.0.neon;
        neon.vget_lane_u64::<0>(neon.vreinterpret_u64_u8(neon.vshrn_n_u16::<4>(mask)))
    }

    // Unlike the maximum of `Lanes`, that of the machine is NaN if either operand is.
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

impl Token for Neon {
    const TUNING: IsaTuning = isa::NEON;

    #[inline(always)]
    unsafe fn assume() -> Self {
        // SAFETY: the caller promises that the ISA is there.
        Neon(unsafe { pulp::aarch64::Neon::new_unchecked() })
    }

    #[inline(always)]
    unsafe fn enter<T: Task>(self, task: T) -> T::Output {
        // The target has its features.
        // SAFETY: the caller's promise.
        unsafe { task.run_apart() }
    }
}

impl Zip for Neon {
    type Bytes = uint8x16_t;
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn load_parts(self, at: *const u8, _: isize) -> uint8x16_t {
        // SAFETY: the caller's promise.
        unsafe { self.0.neon.vld1q_u8(at) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, v: uint8x16_t) {
        // SAFETY: the caller's promise.
        unsafe { self.0.neon.vst1q_u8(to, v) };
    }

    #[inline(always)]
    fn zip<const SIZE: usize>(self, a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
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

/// What depends on the width of a lane alone.
macro_rules! by_width {
    (8) => {
        by_width!(
            u8,
            uint8x16_t,
            vreinterpretq_u16_u8,
            vdupq_n_u8,
            vaddq_u8,
            vcgtq_u8,
            vbslq_u8,
            vorrq_u8,
            vbicq_u8,
            (vuzp1q_u8, vuzp2q_u8)
        );
    };
    (16) => {
        by_width!(
            u16,
            uint16x8_t,
            same,
            vdupq_n_u16,
            vaddq_u16,
            vcgtq_u16,
            vbslq_u16,
            vorrq_u16,
            vbicq_u16,
            (vuzp1q_u16, vuzp2q_u16)
        );
    };
    (32) => {
        by_width!(
            u32,
            uint32x4_t,
            vreinterpretq_u16_u32,
            vdupq_n_u32,
            vaddq_u32,
            vcgtq_u32,
            vbslq_u32,
            vorrq_u32,
            vbicq_u32,
            (vuzp1q_u32, vuzp2q_u32)
        );
    };
    (64) => {
        by_width!(
            u64,
            uint64x2_t,
            vreinterpretq_u16_u64,
            vdupq_n_u64,
            vaddq_u64,
            vcgtq_u64,
            vbslq_u64,
            vorrq_u64,
            vbicq_u64,
            (vuzp1q_u64, vuzp2q_u64)
        );
    };
    ($count:ident, $unsigned:ident, $as_u16:ident, $splat:ident, $add:ident, $gt:ident, $select:ident, $or:ident, $and_not:ident, ($even:ident, $odd:ident)) => {
        type Mask = $unsigned;
        type Count = $unsigned;
        type CountLane = $count;
        type CountArray = [$count; 16 / size_of::<$count>()];

        const LANES: usize = 16 / size_of::<$count>();
        const MAX_COUNT: u32 = if $count::BITS < 32 { $count::MAX as u32 } else { u32::MAX };
        const BITS_PER_LANE: u32 = 4 * size_of::<$count>() as u32;

        #[inline(always)]
        fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            bytemuck::cast(self.0.neon.veorq_u8(bytemuck::cast(a), bytemuck::cast(b)))
        }
        #[inline(always)]
        fn swap(self, v: Self::Vector, lanes: usize) -> Self::Vector {
            bytemuck::cast(self.swap_bytes(bytemuck::cast(v), lanes * size_of::<$count>()))
        }
        #[inline(always)]
        fn rotate(self, v: Self::Vector, lanes: usize) -> Self::Vector {
            bytemuck::cast(self.rotate_bytes(bytemuck::cast(v), lanes * size_of::<$count>()))
        }
        #[inline(always)]
        fn rotate_counts(self, counts: $unsigned, lanes: usize) -> $unsigned {
            bytemuck::cast(self.rotate_bytes(bytemuck::cast(counts), lanes * size_of::<$count>()))
        }
        #[inline(always)]
        fn pairs(self, a: Self::Vector, b: Self::Vector, _: usize) -> (Self::Vector, Self::Vector) {
            let (a, b) = (bytemuck::cast(a), bytemuck::cast(b));
            (bytemuck::cast(self.0.neon.$even(a, b)), bytemuck::cast(self.0.neon.$odd(a, b)))
        }
        #[inline(always)]
        fn pairs_of_counts(self, a: $unsigned, b: $unsigned, _: usize) -> ($unsigned, $unsigned) {
            (self.0.neon.$even(a, b), self.0.neon.$odd(a, b))
        }
        #[inline(always)]
        fn none(self) -> $unsigned {
            self.0.neon.$splat(0)
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
        fn bits(self, mask: $unsigned) -> u64 {
            self.bits_of_bytes(self.$as_u16(mask))
        }
        #[inline(always)]
        fn count(self, n: u32) -> $unsigned {
            self.0.neon.$splat(n as $count)
        }
        #[inline(always)]
        fn first(self, n: usize) -> $unsigned {
            const LANES: usize = 16 / size_of::<$count>();
            const TABLE: [[$count; LANES]; 2] = [[$count::MAX; LANES], [0; LANES]];
            let from = TABLE.as_flattened()[LANES - n..].first_chunk::<LANES>();
            bytemuck::cast(*from.expect("n is at most LANES"))
        }
        #[inline(always)]
        fn lane_numbers(self, from_the_end: bool) -> $unsigned {
            bytemuck::cast(lane_numbers!($count, 16, from_the_end))
        }
        #[inline(always)]
        fn add(self, a: $unsigned, b: $unsigned) -> $unsigned {
            self.0.neon.$add(a, b)
        }
        #[inline(always)]
        fn count_gt(self, a: $unsigned, b: $unsigned) -> $unsigned {
            self.0.neon.$gt(a, b)
        }
        #[inline(always)]
        fn select_count(self, mask: $unsigned, yes: $unsigned, no: $unsigned) -> $unsigned {
            self.0.neon.$select(mask, yes, no)
        }
        #[inline(always)]
        fn counts(self, counts: $unsigned) -> Self::CountArray {
            bytemuck::cast(counts)
        }
    };
}

/// What all lanes have under a name of their own.
macro_rules! by_lane {
    ($lane:ident, $bits:tt, $vector:ident: $splat:ident, $load:ident, $gt:ident, $eq:ident, $select:ident, $max:ident, $min:ident) => {
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
        impl Lanes<$lane> for Neon {
            const HAS_MAX: bool = $bits < 64;
            integers!($lane, $bits, $($name),+);

            #[inline(always)]
            fn gt_or_unordered(self, a: Self::Vector, b: Self::Vector) -> Self::Mask {
                <Self as Lanes<$lane>>::gt(self, a, b)
            }
            #[inline(always)]
            fn unordered(self, _: Self::Vector, _: Self::Vector) -> Self::Mask {
                <Self as Lanes<$lane>>::none(self)
            }
            no_traces!();
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
    ($($lane:ident: $bits:tt, $vector:ident, $not:ident, $le:ident, $keep_nan:ident, $eq:ident, $($name:ident),+;)+) => {$(
        impl Lanes<$lane> for Neon {
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
            #[inline(always)]
            fn suspects(self, trace: $vector) -> bool {
                <Self as Lanes<$lane>>::bits(self, <Self as Lanes<$lane>>::unordered(self, trace, trace)) != 0
            }
            traces_by_vector!($lane, $keep_nan);
        }
    )+};
    ($lane:ident, $bits:tt, $vector:ident, $eq:ident, $splat:ident, $load:ident, $gt:ident, $($name:ident),+) => {
        by_lane!($lane, $bits, $vector: $splat, $load, $gt, $eq, $($name),+);
    };
}

#[rustfmt::skip]
floats! {
    f32: 32, float32x4_t, not_u32, vcleq_f32, keep_nan_f32, vceqq_f32, vdupq_n_f32, vld1q_f32, vcgtq_f32, vbslq_f32, max_f32, min_f32;
    f64: 64, float64x2_t, not_u64, vcleq_f64, keep_nan_f64, vceqq_f64, vdupq_n_f64, vld1q_f64, vcgtq_f64, vbslq_f64, max_f64, min_f64;
}

impl HalfLanes for Neon {
    #[inline(always)]
    fn half_keys(self, raw: int16x8_t, turn: i16, push: i16) -> int16x8_t {
        let neon = self.0.neon;
        // What is below zero, minus the bits, is the magnitude negated, modulo 2^16.
        let turned_below_zero = neon.vsubq_s16(neon.vdupq_n_s16(turn ^ i16::MIN), raw);
        let turned = neon.vaddq_s16(raw, neon.vdupq_n_s16(turn));
        let turned = neon.vbslq_s16(neon.vcltzq_s16(raw), turned_below_zero, turned);
        neon.vqaddq_s16(turned, neon.vdupq_n_s16(push))
    }

    #[inline(always)]
    fn max_unsigned(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        let neon = self.0.neon;
        neon.vreinterpretq_s16_u16(neon.vmaxq_u16(neon.vreinterpretq_u16_s16(a), neon.vreinterpretq_u16_s16(b)))
    }
}
