//! Values that a kernel does not write by itself: the elements at the positions that it has found, read from memory.
//! Knows nothing of strategies, orders and vectors.

use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::mask::InputMask;
use crate::memory::walk::offset_at;
use crate::outputs::{Outputs, Written};
use crate::positions::{Position, for_places};
use crate::types::{DataType, Element};
use core::mem::MaybeUninit;
use core::ops::BitOr;

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
    with_element_bits!(element.size(), B => {
        let lost = match written {
            Written::All => return,
            Written::Nothing => None,
            Written::SomeBits => {
                let (infinity, is_small) = largest_float(element);
                Some(Lost { most_nans: B::MAX / 2 - infinity as B, zero: B::from(is_small) })
            }
        };
        // SAFETY: the caller promises the call and its outputs; each type is read as integers of its size.
        unsafe { read::<B>(args, mask, outputs, lost) }
    });
}

/// The bits of the largest number of a type of floats, and whether those are compared by a key.
fn largest_float(element: DataType) -> (u64, bool) {
    with_element_type!(element, T => (T::HIGHEST.key(0) as u64, size_of::<T>() < 4))
}

/// Of which floats a kernel loses bits, by the bits: of NaN; and of zeros, where floats are compared by a key.
#[derive(Clone, Copy)]
struct Lost<B> {
    /// How many magnitudes are NaN.
    most_nans: B,
    /// 1 if zeros are.
    zero: B,
}

/// Unsigned integers as wide as elements.
trait FloatBits: Copy + BitOr<Output = Self> {
    /// The top bit is set where the float with these bits is such a one.
    fn lost(self, lost: Lost<Self>) -> Self;
    fn has_top_bit(self) -> bool;
}

macro_rules! bits {
    ($($t:ident)+) => {$(
        impl FloatBits for $t {
            #[inline(always)]
            fn lost(self, Lost { most_nans, zero }: Lost<$t>) -> $t {
                // Additions alone, which every vector has.
                let magnitude = self & $t::MAX >> 1;
                magnitude + most_nans | magnitude.wrapping_sub(zero)
            }
            #[inline(always)]
            fn has_top_bit(self) -> bool {
                self > $t::MAX >> 1
            }
        }
    )+};
}

bits!(u8 u16 u32 u64);

/// How many written values are checked at a time for one that is lost. Not measured.
const CHECKED: usize = 64;
/// How many values are read at a time, where an iteration of the loop costs as much as one of them. See
/// docs/tuning.md#values-read-at-a-time.
const SOME: usize = 8;

/// All of them, or those that are lost.
///
/// # Safety
/// - As for [`read_values`]; all are written if some are lost.
unsafe fn read<B: FloatBits>(
    args: &KernelArgs<'_>,
    mask: Option<InputMask>,
    outputs: Outputs<'_>,
    lost: Option<Lost<B>>,
) {
    // SAFETY: values are wanted, and as wide as `B`.
    let (mut positions, values) = unsafe { outputs.split::<B>() };
    let (outer, inner) = match args.step() {
        Some(step) => (LoopDim::ONE, LoopDim { size: values.len(), stride: step }),
        None => (args.outer, args.inner),
    };
    for (o, values) in values.chunks_mut(inner.size).enumerate() {
        let (mut positions, step) = (positions.take(values.len()), inner.stride);
        let mut first = args.input.cast::<B>().wrapping_offset(o as isize * outer.stride);
        if let ([fastest], None, None) = (args.reduced, mask, lost) {
            // SAFETY: the caller promises that positions are written, and the elements.
            for_places!(positions, positions => unsafe { read_row(first, [step, fastest.stride], values, positions) });
            continue;
        }
        for values in values.chunks_mut(CHECKED) {
            let mut positions = positions.take(values.len());
            // SAFETY: the caller promises that they are written.
            let is_lost = |value: &MaybeUninit<B>, lost| unsafe { value.assume_init_read() }.lost(lost);
            let some = |lost| values.iter().map(|value| is_lost(value, lost)).reduce(B::bitor);
            if lost.is_none_or(|lost| some(lost).is_some_and(B::has_top_bit)) {
                for (n, value) in values.iter_mut().enumerate() {
                    if lost.is_none_or(|lost| is_lost(value, lost).has_top_bit()) {
                        // SAFETY: the caller promises that positions are written, and the elements.
                        value.write(unsafe {
                            let at = first.wrapping_offset(n as isize * step);
                            let at = at.offset(offset_at(args.reduced, positions.read(n) as usize));
                            mask.map_or_else(|| at.read(), |mask| mask.read(at))
                        });
                    }
                }
            }
            first = first.wrapping_offset(values.len() as isize * step);
        }
    }
}

/// The values of outputs that are `step` elements apart, whose elements are `stride` apart.
///
/// # Safety
/// - The positions are written; the element at each of them may be read.
#[inline(always)]
unsafe fn read_row<B: Copy, P: Position>(
    first: *const B,
    [step, stride]: [isize; 2],
    values: &mut [MaybeUninit<B>],
    positions: &[MaybeUninit<P>],
) {
    assert_eq!(values.len(), positions.len());
    let mut read = |n: usize| {
        // SAFETY: the caller promises the position of each output, and the element there.
        values[n].write(unsafe {
            let position: u64 = positions[n].assume_init().into();
            first.wrapping_offset(n as isize * step).offset(position as isize * stride).read()
        });
    };
    let mut n = 0;
    while n + SOME <= positions.len() {
        (n..n + SOME).for_each(&mut read);
        n += SOME;
    }
    (n..positions.len()).for_each(read);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::positions::Positions;
    use crate::tuning::{Tuning, WorkingSet};
    use half::{bf16, f16};

    fn call(input: *const (), [outer, inner]: [LoopDim; 2], reduced: &[LoopDim]) -> KernelArgs<'_> {
        let (working_set, tuning) = (WorkingSet::L2, Tuning::current());
        KernelArgs { input, outer, inner, reduced, working_set, tuning }
    }

    /// Of which bits a kernel cannot know all: those alone are read.
    #[test]
    fn lost_bits() {
        let check = |element: DataType, kept: &[u64], lost: &[u64]| {
            if !element.has_kernels() {
                return;
            }
            with_bits!(element.size(), B => {
                let of_both_signs = |bits: &u64| [*bits as B, *bits as B | 1 << (B::BITS - 1)];
                let [kept, lost]: [Vec<B>; 2] = [kept, lost].map(|bits| bits.iter().flat_map(of_both_signs).collect());
                let (input, mut values) = ([0x15 as B], [&kept[..], &lost].concat());
                let (reduced, inner) = ([LoopDim::ONE], LoopDim { size: values.len(), stride: 0 });
                let args = call(input.as_ptr().cast(), [LoopDim::ONE, inner], &reduced);
                let mut positions = vec![0_u32; values.len()];
                let outputs = Outputs::with_values(Positions::from(&mut positions[..]), &mut values);
                // SAFETY: the only element is there.
                unsafe { read_values(element, &args, None, outputs, Written::SomeBits) };
                assert_eq!(values, [&kept[..], &vec![input[0]; lost.len()]].concat(), "{element}");
            })
        };
        for (element, infinity) in
            [(DataType::F16, f16::INFINITY.to_bits()), (DataType::Bf16, bf16::INFINITY.to_bits())]
        {
            let infinity = infinity.into();
            check(element, &[1, 2, 0x3c00, infinity - 1, infinity], &[0, infinity + 1, infinity + 2, 0x7fff]);
        }
        let kept = [0.0, f32::MIN_POSITIVE, 1.0, f32::MAX, f32::INFINITY].map(|x| x.to_bits().into());
        check(DataType::F32, &kept, &[0x7f80_0001, 0x7fc0_0000, 0x7fff_ffff]);
        let kept = [0.0, f64::MIN_POSITIVE, 1.0, f64::MAX, f64::INFINITY].map(f64::to_bits);
        check(DataType::F64, &kept, &[f64::INFINITY.to_bits() + 1, f64::NAN.to_bits(), u64::MAX >> 1]);
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
            let args = call(input[500..].as_ptr().cast(), [outer, inner], reduced);
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
