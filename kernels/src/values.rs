//! Values that a kernel does not write by itself: the elements at the positions that it has found, read from memory.
//! Knows nothing of strategies, orders and vectors.

use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::mask::InputMask;
use crate::memory::walk::offset_at;
use crate::outputs::{Outputs, Written};
use crate::positions::{Position, for_places};
use crate::types::DataType;
use core::mem::MaybeUninit;
use core::ops::BitOr;
use half::{bf16, f16};

/// Writes the values of a call whose positions are written: all of them, or those of which bits are lost.
///
/// # Safety
/// - All positions are written, and of the values those that `written` says; there are places for values.
/// - The elements of the call may be read; they are of that type, and have the size and alignment of the values.
#[inline(never)]
pub(crate) unsafe fn read_values(
    element: DataType,
    args: &KernelArgs<'_>,
    mask: Option<InputMask>,
    outputs: Outputs<'_>,
    written: Written,
) {
    use DataType::{Bf16, F16, F32, F64};
    // SAFETY: the caller promises the call and its outputs; each type is read as integers of its size.
    unsafe {
        match (written, element) {
            (Written::All, _) => {}
            (Written::SomeBits, F16) => read_lost::<u16, true, { f16::MANTISSA_DIGITS }>(args, mask, outputs),
            (Written::SomeBits, Bf16) => read_lost::<u16, true, { bf16::MANTISSA_DIGITS }>(args, mask, outputs),
            (Written::SomeBits, F32) => read_lost::<u32, false, { f32::MANTISSA_DIGITS }>(args, mask, outputs),
            (Written::SomeBits, F64) => read_lost::<u64, false, { f64::MANTISSA_DIGITS }>(args, mask, outputs),
            _ => with_bits!(element.size(), B => match mask {
                None => read_all::<B, SOME>(args, outputs, |at| at.read()),
                Some(mask) => read_all::<B, 1>(args, outputs, |at| mask.read(at)),
            }),
        }
    }
}

/// Unsigned integers as wide as elements.
trait FloatBits: Copy + BitOr<Output = Self> {
    /// Of the bits of a float with `DIGITS` digits: the top bit is set where it is NaN, or if `ZEROS`, a zero.
    fn lost<const ZEROS: bool, const DIGITS: u32>(self) -> Self;
    fn has_top_bit(self) -> bool;
}

macro_rules! bits {
    ($($t:ident)+) => {$(
        impl FloatBits for $t {
            #[inline(always)]
            fn lost<const ZEROS: bool, const DIGITS: u32>(self) -> Self {
                // Additions alone, which every vector has. (Of the digits, one has no bit.)
                let (magnitude, most_nans) = (self & $t::MAX >> 1, (1 << (DIGITS - 1)) - 1);
                let is_nan = magnitude + most_nans;
                if ZEROS { is_nan | magnitude.wrapping_sub(1) } else { is_nan }
            }
            #[inline(always)]
            fn has_top_bit(self) -> bool {
                self > $t::MAX >> 1
            }
        }
    )+};
}

bits!(u16 u32 u64);

/// How many written values are checked at a time for one that is lost. Not measured.
const CHECKED: usize = 64;

/// Those of which bits are lost: of floats with `DIGITS` digits, NaN, and if `ZEROS`, zeros.
///
/// # Safety
/// - As for [`read_values`].
unsafe fn read_lost<B: FloatBits, const ZEROS: bool, const DIGITS: u32>(
    args: &KernelArgs<'_>,
    mask: Option<InputMask>,
    outputs: Outputs<'_>,
) {
    // SAFETY: values are wanted, and as wide as `B`.
    let (mut positions, values) = unsafe { outputs.split::<B>() };
    for (chunk, values) in values.chunks_mut(CHECKED).enumerate() {
        // SAFETY: the caller promises that they are written.
        let values = unsafe { &mut *(&raw mut *values as *mut [B]) };
        let lost = values.iter().map(|value| value.lost::<ZEROS, DIGITS>());
        if !lost.reduce(B::bitor).is_some_and(B::has_top_bit) {
            continue;
        }
        for (n, value) in values.iter_mut().enumerate() {
            if value.lost::<ZEROS, DIGITS>().has_top_bit() {
                let n = chunk * CHECKED + n;
                // SAFETY: the caller promises that positions are written, and the elements.
                *value = unsafe {
                    let offset = args.offset(n) + offset_at(args.reduced, positions.read(n) as usize);
                    let at = args.input.cast::<B>().offset(offset);
                    mask.map_or_else(|| at.read(), |mask| mask.read(at))
                };
            }
        }
    }
}

/// All of them, of one loop `N` at a time.
///
/// # Safety
/// - As for [`read_values`]; `read` reads any of those elements.
unsafe fn read_all<B: Copy, const N: usize>(
    args: &KernelArgs<'_>,
    outputs: Outputs<'_>,
    read: impl Fn(*const B) -> B + Copy,
) {
    // SAFETY: values are wanted, and as wide as `B`.
    let (mut positions, values) = unsafe { outputs.split::<B>() };
    let (outer, inner) = match args.step() {
        Some(step) => (LoopDim::ONE, LoopDim { size: values.len(), stride: step }),
        None => (args.outer, args.inner),
    };
    let input = args.input.cast::<B>();
    for (o, values) in values.chunks_mut(inner.size).enumerate() {
        let row = input.wrapping_offset(o as isize * outer.stride);
        for_places!(positions.take(inner.size), positions => {
            // SAFETY: the caller promises that positions are written, and the elements.
            unsafe {
                match *args.reduced {
                    [fastest] => read_row::<B, _, N>((row, inner.stride), values, positions, read, |position| {
                        position * fastest.stride
                    }),
                    _ => read_row::<B, _, 1>((row, inner.stride), values, positions, read, |position| {
                        offset_at(args.reduced, position as usize)
                    }),
                }
            }
        });
    }
}

/// How many values are read at a time, where an iteration of the loop costs as much as one of them. Not measured.
const SOME: usize = 8;

/// The values of outputs that are `step` elements apart, from `first` on, `N` at a time.
///
/// # Safety
/// - The positions are written; the element at the offset of each may be read.
#[inline(always)]
unsafe fn read_row<B: Copy, P: Position, const N: usize>(
    (first, step): (*const B, isize),
    values: &mut [MaybeUninit<B>],
    positions: &mut [MaybeUninit<P>],
    read: impl Fn(*const B) -> B,
    offset: impl Fn(isize) -> isize,
) {
    let mut n = 0;
    let mut read_one = |(value, position): (&mut MaybeUninit<B>, &MaybeUninit<P>)| {
        // SAFETY: the caller promises the position of each output, and the element there.
        value.write(unsafe {
            let position: u64 = position.assume_init().into();
            read(first.wrapping_offset(n * step).offset(offset(position as isize)))
        });
        n += 1;
    };
    let (some_values, last_values) = values.as_chunks_mut::<N>();
    let (some_positions, last_positions) = positions.as_chunks::<N>();
    for (values, positions) in some_values.iter_mut().zip(some_positions) {
        values.iter_mut().zip(positions).for_each(&mut read_one);
    }
    last_values.iter_mut().zip(last_positions).for_each(read_one);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::positions::Positions;
    use crate::tuning::{Tuning, WorkingSet};

    /// Of which bits a kernel cannot know all.
    #[test]
    fn lost_bits() {
        fn check<B: FloatBits, const ZEROS: bool, const DIGITS: u32>(kept: &[B], lost: &[B]) {
            assert!(kept.iter().all(|bits| !bits.lost::<ZEROS, DIGITS>().has_top_bit()));
            assert!(lost.iter().all(|bits| bits.lost::<ZEROS, DIGITS>().has_top_bit()));
        }
        fn halves<const DIGITS: u32>(infinity: u16) {
            let kept = [1, 2, 0x3c00, infinity - 1, infinity].map(|bits| [bits, bits | 0x8000]);
            let lost = [0, infinity + 1, infinity + 2, 0x7fff].map(|bits| [bits, bits | 0x8000]);
            check::<u16, true, DIGITS>(kept.as_flattened(), lost.as_flattened());
        }
        halves::<{ f16::MANTISSA_DIGITS }>(f16::INFINITY.to_bits());
        halves::<{ bf16::MANTISSA_DIGITS }>(bf16::INFINITY.to_bits());
        let kept = [0.0, f32::MIN_POSITIVE, 1.0, f32::MAX, f32::INFINITY].map(|x| [x, -x].map(f32::to_bits));
        let lost = [0x7f80_0001, 0x7fc0_0000, 0x7fff_ffff].map(|bits| [bits, bits | 1 << 31]);
        check::<u32, false, { f32::MANTISSA_DIGITS }>(kept.as_flattened(), lost.as_flattened());
        let kept = [0.0, f64::MIN_POSITIVE, 1.0, f64::MAX, f64::INFINITY].map(|x| [x, -x].map(f64::to_bits));
        let lost = [f64::INFINITY.to_bits() + 1, f64::NAN.to_bits(), u64::MAX >> 1].map(|bits| [bits, bits | 1 << 63]);
        check::<u64, false, { f64::MANTISSA_DIGITS }>(kept.as_flattened(), lost.as_flattened());
    }

    /// All of them, or the lost ones alone, are the elements at the positions: of even steps, of rows, and of several
    /// reduced loops.
    #[test]
    fn values_are_elements() {
        let input: Vec<u32> = (0..4000).map(|n| n * 7 + 1).collect();
        let of = |size, stride| LoopDim { size, stride };
        for (outer, inner, reduced) in [
            (of(1, 0), of(150, 3), &[of(3, 1)][..]),
            (of(5, 60), of(20, 3), &[of(3, 1)]),
            (of(5, 70), of(20, 2), &[of(4, -1)]),
            (of(3, 50), of(2, 13), &[of(3, 100), of(2, 5)]),
        ] {
            let args = KernelArgs {
                input: input[500..].as_ptr().cast(),
                outer,
                inner,
                reduced,
                working_set: WorkingSet::L2,
                tuning: Tuning::current(),
            };
            let mut positions: Vec<u64> =
                (0..args.outputs() as u64).map(|n| n * n % args.reduction_len() as u64).collect();
            let place = |n: usize, position: u64| 500 + args.offset(n) + offset_at(reduced, position as usize);
            let expected: Vec<u32> =
                positions.iter().enumerate().map(|(n, &position)| input[place(n, position) as usize]).collect();
            for written in [Written::Nothing, Written::SomeBits] {
                // Every third is a NaN.
                let mut values: Vec<u32> =
                    expected.iter().enumerate().map(|(n, &x)| if n % 3 == 0 { u32::MAX } else { x }).collect();
                let outputs = Outputs::with_values(Positions::from(&mut positions[..]), &mut values);
                // SAFETY: the places above are in the input.
                unsafe { read_values(DataType::F32, &args, None, outputs, written) };
                assert_eq!(values, expected, "{written:?}, {args:?}");
            }
        }
    }
}
