//! Vectors as plain arrays: the ISA of every machine, and a way to run the control flow of wide ISAs anywhere. The
//! compiler makes of it what the target's baseline has. Knows no intrinsics.

use crate::simd::cast;
use crate::simd::ops::{
    ByteMaskOps, DistanceOps, EQ, NOT_LE, NoMinpos, SimdOps, SmallFloatOps, TreeOps, UNORDERED, no_minpos,
};
use crate::simd::token::Simd;
use crate::simd::transpose::{CHUNK_BYTES, TransposeOps};
use crate::tuning::isa::{self, IsaTuning};
use bytemuck::Pod;
use core::array::from_fn;

/// Arrays of `BYTES` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable<const BYTES: usize>;

// SAFETY: every machine has it.
unsafe impl<const BYTES: usize> Simd for Portable<BYTES> {
    const TUNING: IsaTuning = if BYTES == 64 { isa::WIDE_PORTABLE } else { isa::PORTABLE };

    fn is_available() -> bool {
        true
    }

    /// The wider ones are for tests.
    fn is_preferred() -> bool {
        BYTES == 16
    }

    #[inline(always)]
    unsafe fn assume() -> Self {
        Portable
    }
}

// SAFETY: arrays of as many bytes as vectors have; what is asked for is written here byte by byte.
unsafe impl<const BYTES: usize> TransposeOps for Portable<BYTES> {
    type Bytes = [u8; BYTES];
    type HalfWidth = Self;

    #[inline(always)]
    unsafe fn load_chunks_strided(self, at: *const u8, step: isize) -> [u8; BYTES] {
        // SAFETY: the caller's promise.
        from_fn(|i| unsafe { *at.wrapping_offset((i / CHUNK_BYTES) as isize * step).add(i % CHUNK_BYTES) })
    }

    #[inline(always)]
    fn interleave_lo_hi<const SIZE: usize>(self, a: [u8; BYTES], b: [u8; BYTES]) -> ([u8; BYTES], [u8; BYTES]) {
        let half = |half: usize| {
            from_fn(|i| {
                let (chunk, element, byte) = (i / CHUNK_BYTES * CHUNK_BYTES, i % CHUNK_BYTES / SIZE, i % SIZE);
                let from = chunk + half + element / 2 * SIZE + byte;
                if element % 2 == 0 { a[from] } else { b[from] }
            })
        };
        (half(0), half(CHUNK_BYTES / 2))
    }
}

/// All ones where `test` is true: masks are as wide as their lanes, which is what baselines without mask registers
/// compare into.
macro_rules! mask {
    ($count:ty, $test:expr) => {
        from_fn(|i| if $test(i) { <$count>::MAX } else { 0 })
    };
}

/// By lanes.
macro_rules! distance {
    ($($lane:ident)+) => {$(
        // SAFETY: written lane by lane.
        unsafe impl<const BYTES: usize> DistanceOps<$lane> for Portable<BYTES>
        where
            Self: SimdOps<$lane>,
        {
            #[inline(always)]
            fn distance(self, mut a: Self::Vector, b: Self::Vector) -> Self::Vector {
                let lanes = bytemuck::bytes_of(&b).as_chunks().0.iter().map(|&b| $lane::from_ne_bytes(b));
                for (a, b) in bytemuck::bytes_of_mut(&mut a).as_chunks_mut().0.iter_mut().zip(lanes) {
                    *a = ($lane::from_ne_bytes(*a) - b).abs().to_ne_bytes();
                }
                a
            }
        }
    )+};
}

distance!(f32 f64);

macro_rules! portable {
    ($bytes:literal) => {
        portable!($bytes: i8 as u8, u8 as u8, i16 as u16, u16 as u16, i32 as u32, u32 as u32, f32 as u32, i64 as u64,
            f64 as u64);
    };
    ($bytes:literal: $($lane:ident as $count:ident),+) => {$(
        // SAFETY: arrays of as many lanes, and what is written here lane by lane.
        unsafe impl SimdOps<$lane> for Portable<$bytes> {
            type Vector = [$lane; $bytes / size_of::<$lane>()];
            type Mask = [$count; $bytes / size_of::<$lane>()];
            type IndexVec = [$count; $bytes / size_of::<$lane>()];
            type IndexLane = $count;
            type IndexArray = [$count; $bytes / size_of::<$lane>()];

            const BITS_PER_LANE: u32 = 1;

            no_minpos!();
            #[inline(always)]
            fn splat(self, value: $lane) -> Self::Vector {
                // Hidden from the compiler where it is a float (half of one is not 0). With a constant, it makes of
                // `max` and `min` below an instruction of aarch64 that turns a signalling NaN into a quiet one, instead
                // of dropping it.
                if 0.5 as $lane != 0 as $lane { [core::hint::black_box(value); _] } else { [value; _] }
            }
            #[inline(always)]
            unsafe fn load(self, at: *const $lane) -> Self::Vector {
                // SAFETY: the caller promises `LANES` readable elements; an array has the alignment of its element.
                unsafe { at.cast::<Self::Vector>().read() }
            }
            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN makes the comparison true, on purpose")]
            #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
            fn compare<const WHAT: i32>(self, a: Self::Vector, b: Self::Vector) -> Self::Mask {
                match WHAT {
                    EQ => mask!($count, |i: usize| a[i] == b[i]),
                    NOT_LE => mask!($count, |i: usize| !(a[i] <= b[i])),
                    UNORDERED => mask!($count, |i: usize| a[i] != a[i] || b[i] != b[i]),
                    _ => mask!($count, |i: usize| a[i] > b[i]),
                }
            }
            #[inline(always)]
            fn max(self, new: Self::Vector, kept: Self::Vector) -> Self::Vector {
                from_fn(|i| if new[i] > kept[i] { new[i] } else { kept[i] })
            }
            #[inline(always)]
            fn min(self, new: Self::Vector, kept: Self::Vector) -> Self::Vector {
                from_fn(|i| if new[i] < kept[i] { new[i] } else { kept[i] })
            }
            #[inline(always)]
            fn select<V: Pod>(self, mask: Self::Mask, yes: V, no: V) -> V {
                let (yes, no): (Self::IndexVec, Self::IndexVec) = (cast(yes), cast(no));
                cast::<Self::IndexVec, V>(from_fn(|i| if mask[i] != 0 { yes[i] } else { no[i] }))
            }
            #[inline(always)]
            fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                let (a, b): (Self::IndexVec, Self::IndexVec) = (cast(a), cast(b));
                cast::<Self::IndexVec, _>(from_fn(|i| a[i] ^ b[i]))
            }
            #[inline(always)]
            fn butterfly(self, v: Self::Vector, lanes: usize) -> Self::Vector {
                from_fn(|i| v[i ^ lanes])
            }
            #[inline(always)]
            fn rotate<V: Pod>(self, v: V, lanes: usize) -> V {
                let v: Self::IndexVec = cast(v);
                cast::<Self::IndexVec, V>(from_fn(|i| v[(i + lanes) % v.len()]))
            }
            #[inline(always)]
            fn or(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
                from_fn(|i| a[i] | b[i])
            }
            #[inline(always)]
            fn and_not(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
                from_fn(|i| a[i] & !b[i])
            }
            #[inline(always)]
            fn movemask(self, mask: Self::Mask) -> u64 {
                mask.iter().rev().fold(0, |bits, &lane| bits << 1 | (lane != 0) as u64)
            }
            #[inline(always)]
            fn splat_index(self, n: u32) -> Self::IndexVec {
                [n as $count; _]
            }
            #[inline(always)]
            fn add(self, a: Self::IndexVec, b: Self::IndexVec) -> Self::IndexVec {
                from_fn(|i| a[i].wrapping_add(b[i]))
            }
            #[inline(always)]
            fn index_gt(self, a: Self::IndexVec, b: Self::IndexVec) -> Self::Mask {
                mask!($count, |i: usize| a[i] > b[i])
            }
        }

        // SAFETY: all bits of a lane or none are set in a mask, and lanes are written here one by one.
        unsafe impl ByteMaskOps<$lane> for Portable<$bytes> {
            #[inline(always)]
            fn narrow(self, mask: impl Fn(usize) -> <Self as SimdOps<$lane>>::Mask) -> [u8; $bytes] {
                let (mut masks, mut n) = ([[0; _]; size_of::<$lane>()], 0);
                while n < size_of::<$lane>() {
                    masks[n] = mask(n);
                    n += 1;
                }
                let lanes: [$count; $bytes] = cast(masks);
                from_fn(|i| lanes[i] as u8)
            }
            #[inline(always)]
            fn byte_mask(self, bits: u64) -> [u8; $bytes] {
                mask!(u8, |i: usize| bits >> i & 1 != 0)
            }
            #[inline(always)]
            fn widen(self, mask: &[u8; $bytes], n: usize) -> <Self as SimdOps<$lane>>::Mask {
                from_fn(|i| mask[n * <Self as SimdOps<$lane>>::LANES + i] as i8 as $count)
            }
        }
    )+

        // SAFETY: rows lie one after the other, and what is written here is what the trait asks for.
        unsafe impl TreeOps for Portable<$bytes> {
            #[inline(always)]
            fn deinterleave<V: Pod>(self, a: V, b: V, _: usize) -> (V, V) {
                let (a, b): ([u32; $bytes / 4], [u32; $bytes / 4]) = (cast(a), cast(b));
                let of_both = |i: usize| if i < a.len() { a[i] } else { b[i - a.len()] };
                let every_other = |first| cast::<[u32; $bytes / 4], V>(from_fn(|i| of_both(2 * i + first)));
                (every_other(0), every_other(1))
            }
        }

        small_floats!($bytes: i16 u16);
    };
}

macro_rules! small_floats {
    ($bytes:literal: $($t:ident $unsigned:ident),+) => {$(
        // SAFETY: as above.
        unsafe impl SmallFloatOps<$t> for Portable<$bytes> {
            #[inline(always)]
            fn encode_float(self, raw: Self::Vector, bias: $t, saturating_bias: $t) -> Self::Vector {
                from_fn(|i| {
                    let (magnitude, sign) = (raw[i] & $t::MAX, raw[i] >> ($t::BITS - 1));
                    let key = (magnitude ^ sign) - sign;
                    key.wrapping_add(bias).saturating_add(saturating_bias)
                })
            }
            #[inline(always)]
            fn max_unsigned(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                from_fn(|i| (a[i] as $unsigned).max(b[i] as $unsigned) as $t)
            }
        }
    )+};
}

portable!(16);
// They run the control flow of wider vectors without an emulator. Only on request, because they are slow to compile.
#[cfg(wide_portable)]
portable!(32);
#[cfg(wide_portable)]
portable!(64);
