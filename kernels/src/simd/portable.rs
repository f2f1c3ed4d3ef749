//! Vectors as plain arrays: the ISA of every machine, and a way to run the control flow of wide ISAs anywhere. The
//! compiler makes of it what the target's baseline has. Knows no intrinsics.

use crate::simd::ops::{HalfLanes, Lanes, lane_numbers};
use crate::simd::token::{Task, Token};
use crate::simd::transpose::{UNIT, Zip};
use crate::tuning::isa::{self, IsaTuning};
use core::array::from_fn;

/// Arrays of `BYTES` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable<const BYTES: usize>;

impl<const BYTES: usize> Token for Portable<BYTES> {
    const TUNING: IsaTuning = if BYTES == 64 { isa::WIDE_PORTABLE } else { isa::PORTABLE };

    #[inline(always)]
    unsafe fn assume() -> Self {
        Portable
    }

    #[inline(always)]
    unsafe fn enter<T: Task>(self, task: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { task.run_apart() }
    }
}

impl<const BYTES: usize> Zip for Portable<BYTES> {
    type Bytes = [u8; BYTES];
    type Narrow = Self;
    // Plain loops are faster without an instruction for `zip`.
    const RIFFLES: bool = false;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn load_parts(self, at: *const u8, step: isize) -> [u8; BYTES] {
        // SAFETY: the caller's promise.
        from_fn(|i| unsafe { *at.wrapping_offset((i / UNIT) as isize * step).add(i % UNIT) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, v: [u8; BYTES]) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[u8; BYTES]>().write_unaligned(v) };
    }

    #[inline(always)]
    fn zip<const SIZE: usize>(self, a: [u8; BYTES], b: [u8; BYTES]) -> ([u8; BYTES], [u8; BYTES]) {
        let half = |half: usize| {
            from_fn(|i| {
                let (unit, element, byte) = (i / UNIT * UNIT, i % UNIT / SIZE, i % SIZE);
                let from = unit + half + element / 2 * SIZE + byte;
                if element % 2 == 0 { a[from] } else { b[from] }
            })
        };
        (half(0), half(UNIT / 2))
    }
}

/// All ones where `test` is true: masks are as wide as their lanes, which is what baselines without mask registers
/// compare into.
macro_rules! mask {
    ($count:ty, $test:expr) => {
        from_fn(|i| if $test(i) { <$count>::MAX } else { 0 })
    };
}

macro_rules! portable {
    ($bytes:literal: $($lane:ident / $count:ident x $lanes:literal),+) => {$(
        impl Lanes<$lane> for Portable<$bytes> {
            type Vector = [$lane; $lanes];
            type Mask = [$count; $lanes];
            type Count = [$count; $lanes];
            type CountLane = $count;
            type CountArray = [$count; $lanes];

            const LANES: usize = $lanes;
            const MAX_COUNT: u32 = if $count::BITS < 32 { $count::MAX as u32 } else { u32::MAX };
            const BITS_PER_LANE: u32 = 1;

            #[inline(always)]
            fn splat(self, value: $lane) -> Self::Vector {
                // Hidden from the compiler where it is a float (half of one is not 0). With a constant, it makes of
                // `max` and `min` below an instruction of aarch64 that turns a signalling NaN into a quiet one, instead
                // of dropping it.
                if 0.5 as $lane != 0 as $lane { [core::hint::black_box(value); $lanes] } else { [value; $lanes] }
            }
            #[inline(always)]
            unsafe fn load(self, at: *const $lane) -> Self::Vector {
                // SAFETY: the caller promises `LANES` readable elements; an array has the alignment of its element.
                unsafe { at.cast::<Self::Vector>().read() }
            }
            #[inline(always)]
            fn gt(self, a: Self::Vector, b: Self::Vector) -> Self::Mask {
                mask!($count, |i: usize| a[i] > b[i])
            }
            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN makes the comparison true, on purpose")]
            fn gt_or_unordered(self, a: Self::Vector, b: Self::Vector) -> Self::Mask {
                mask!($count, |i: usize| !(a[i] <= b[i]))
            }
            #[inline(always)]
            fn eq(self, a: Self::Vector, b: Self::Vector) -> Self::Mask {
                mask!($count, |i: usize| a[i] == b[i])
            }
            #[inline(always)]
            #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
            fn unordered(self, a: Self::Vector, b: Self::Vector) -> Self::Mask {
                mask!($count, |i: usize| a[i] != a[i] || b[i] != b[i])
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
            fn select(self, mask: Self::Mask, yes: Self::Vector, no: Self::Vector) -> Self::Vector {
                from_fn(|i| if mask[i] != 0 { yes[i] } else { no[i] })
            }
            #[inline(always)]
            fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                let (a, b): (Self::Count, Self::Count) = (bytemuck::cast(a), bytemuck::cast(b));
                bytemuck::cast::<Self::Count, _>(from_fn(|i| a[i] ^ b[i]))
            }
            #[inline(always)]
            fn swap(self, v: Self::Vector, lanes: usize) -> Self::Vector {
                from_fn(|i| v[i ^ lanes])
            }
            #[inline(always)]
            fn rotate(self, v: Self::Vector, lanes: usize) -> Self::Vector {
                from_fn(|i| v[(i + lanes) % $lanes])
            }
            #[inline(always)]
            fn rotate_counts(self, counts: Self::Count, lanes: usize) -> Self::Count {
                from_fn(|i| counts[(i + lanes) % $lanes])
            }
            #[inline(always)]
            fn pairs(self, a: Self::Vector, b: Self::Vector, _: usize) -> (Self::Vector, Self::Vector) {
                let of_both = |i: usize| if i < $lanes { a[i] } else { b[i - $lanes] };
                (from_fn(|i| of_both(2 * i)), from_fn(|i| of_both(2 * i + 1)))
            }
            #[inline(always)]
            fn pairs_of_counts(self, a: Self::Count, b: Self::Count, _: usize) -> (Self::Count, Self::Count) {
                let of_both = |i: usize| if i < $lanes { a[i] } else { b[i - $lanes] };
                (from_fn(|i| of_both(2 * i)), from_fn(|i| of_both(2 * i + 1)))
            }
            #[inline(always)]
            fn none(self) -> Self::Mask {
                [0; $lanes]
            }
            #[inline(always)]
            fn first(self, n: usize) -> Self::Mask {
                mask!($count, |i: usize| i < n)
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
            fn bits(self, mask: Self::Mask) -> u64 {
                mask.iter().rev().fold(0, |bits, &lane| bits << 1 | (lane != 0) as u64)
            }
            #[inline(always)]
            fn count(self, n: u32) -> Self::Count {
                [n as $count; $lanes]
            }
            #[inline(always)]
            fn lane_numbers(self, from_the_end: bool) -> Self::Count {
                lane_numbers!($count, $bytes, from_the_end)
            }
            #[inline(always)]
            fn add(self, a: Self::Count, b: Self::Count) -> Self::Count {
                from_fn(|i| a[i].wrapping_add(b[i]))
            }
            #[inline(always)]
            fn count_gt(self, a: Self::Count, b: Self::Count) -> Self::Mask {
                mask!($count, |i: usize| a[i] > b[i])
            }
            #[inline(always)]
            fn select_count(self, mask: Self::Mask, yes: Self::Count, no: Self::Count) -> Self::Count {
                from_fn(|i| if mask[i] != 0 { yes[i] } else { no[i] })
            }
            #[inline(always)]
            fn counts(self, counts: Self::Count) -> Self::CountArray {
                counts
            }
        }
    )+

        impl HalfLanes for Portable<$bytes> {
            #[inline(always)]
            fn half_keys(self, raw: Self::Vector, turn: i16, push: i16) -> Self::Vector {
                from_fn(|i| {
                    let (magnitude, sign) = (raw[i] & i16::MAX, raw[i] >> 15);
                    let key = (magnitude ^ sign) - sign;
                    key.wrapping_add(turn).saturating_add(push)
                })
            }
            #[inline(always)]
            fn max_unsigned(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                from_fn(|i| (a[i] as u16).max(b[i] as u16) as i16)
            }
        }
    };
}

portable!(16: i8 / u8 x 16, u8 / u8 x 16, i16 / u16 x 8, i32 / u32 x 4, u16 / u16 x 8, u32 / u32 x 4, f32 / u32 x 4,
    i64 / u64 x 2, u64 / u64 x 2, f64 / u64 x 2);
// They run the control flow of wider vectors without an emulator. Only on request, because they are slow to compile.
#[cfg(wide_portable)]
portable!(32: i8 / u8 x 32, u8 / u8 x 32, i16 / u16 x 16, i32 / u32 x 8, u16 / u16 x 16, u32 / u32 x 8, f32 / u32 x 8,
    i64 / u64 x 4, u64 / u64 x 4, f64 / u64 x 4);
#[cfg(wide_portable)]
portable!(64: i8 / u8 x 64, u8 / u8 x 64, i16 / u16 x 32, i32 / u32 x 16, u16 / u16 x 32, u32 / u32 x 16, f32 / u32 x 16,
    i64 / u64 x 8, u64 / u64 x 8, f64 / u64 x 8);
