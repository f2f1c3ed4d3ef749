//! What was found column by column of some runs, back in the order of the outputs. Knows nothing of how it was found.

use crate::positions::Positions;
use crate::simd::token::Simd;
use crate::simd::transpose::TransposeOps;
use core::mem::MaybeUninit;

/// `to[run * width + column] = from[column * runs + run]`. These are whole runs.
#[inline(always)]
pub(crate) fn interleave<S: TransposeOps>(simd: S, mut to: Positions<'_>, from: &[u32], width: usize) {
    assert!(from.len() == to.len() && to.len().is_multiple_of(width));
    // SAFETY: what is initialised is a `MaybeUninit` too.
    let from = unsafe { &*(&raw const *from as *const [MaybeUninit<u32>]) };
    interleave_values(simd, to.half_width(), from, width);
    // SAFETY: each place of each whole run was written.
    unsafe { to.widen(simd) };
}

/// `to[run * width + column] = from[column * runs + run]`, of values.
#[inline(always)]
pub(crate) fn interleave_values<S: TransposeOps, T: Copy>(
    simd: S,
    to: &mut [MaybeUninit<T>],
    from: &[MaybeUninit<T>],
    width: usize,
) {
    const { assert!(align_of::<T>() <= 8 && size_of::<T>() <= 8) };
    with_bits!(size_of::<T>(), B => {
        let (to, from) = (&raw mut *to as *mut [MaybeUninit<B>], &raw const *from as *const [MaybeUninit<B>]);
        // SAFETY: elements of the same size and alignment, and borrows that nothing else uses meanwhile.
        unsafe { interleave_bits(S::HalfWidth::from(simd), &mut *to, &*from, width) };
    });
}

/// Outlined. With a constant width, the compiler has shuffles, where the ISA has them.
#[inline(always)]
fn interleave_bits<S: Simd, B: Copy>(simd: S, to: &mut [MaybeUninit<B>], from: &[MaybeUninit<B>], width: usize) {
    simd.outlined(
        #[inline(always)]
        move || match if S::TUNING.has_special_cases() { width } else { 0 } {
            2 => interleave_by::<2, B>(to, from),
            3 => interleave_by::<3, B>(to, from),
            4 => interleave_by::<4, B>(to, from),
            5 => interleave_by::<5, B>(to, from),
            6 => interleave_by::<6, B>(to, from),
            7 => interleave_by::<7, B>(to, from),
            8 => interleave_by::<8, B>(to, from),
            _ => {
                // Plain loops: the compiler makes a function of its own of an iterator that is not inlined.
                for (column, from) in from.chunks_exact(to.len() / width).enumerate() {
                    let mut at = column;
                    for &found in from {
                        to[at] = found;
                        at += width;
                    }
                }
            }
        },
    );
}

#[inline(always)]
fn interleave_by<const WIDTH: usize, B: Copy>(to: &mut [MaybeUninit<B>], from: &[MaybeUninit<B>]) {
    let (to, _) = to.as_chunks_mut::<WIDTH>();
    let runs = to.len();
    let from = &from[..WIDTH * runs];
    for (run, to) in to.iter_mut().enumerate() {
        for (column, to) in to.iter_mut().enumerate() {
            *to = from[column * runs + run];
        }
    }
}
