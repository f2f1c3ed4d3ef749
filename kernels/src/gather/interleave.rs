//! What was found column by column of some blocks, back in the order of the outputs. Knows nothing of how it was found.

use crate::positions::{Position, Positions, for_places};
use crate::simd::token::{Simd, SimdOp};
use crate::simd::transpose::TransposeOps;
use core::mem::MaybeUninit;

/// `to[block * width + column] = from[column * blocks + block]`. With a constant width, the compiler has shuffles.
#[inline(always)]
pub(crate) fn interleave<'a, S: TransposeOps>(simd: S, mut to: Positions<'a>, from: &'a [u32], width: usize) {
    // SAFETY: a borrow that nothing else uses meanwhile.
    unsafe { S::HalfWidth::from(simd).call_outlined(Interleave { to: &raw mut to, from, width }) };
}

/// The same of values.
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
        unsafe { S::HalfWidth::from(simd).call_outlined(InterleaveValues { to, from, width }) };
    });
}

/// To run it is safe if `to` is a borrow that nothing else uses meanwhile.
#[derive(Clone, Copy)]
struct Interleave<'a> {
    to: *mut Positions<'a>,
    from: &'a [u32],
    width: usize,
}

impl SimdOp for Interleave<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        // SAFETY: the caller's promise.
        let to = unsafe { &mut *self.to };
        for_places!(to, to => write(to, self.from, self.width, place_of));
    }
}

#[inline(always)]
fn place_of<P: Position>(position: u32) -> MaybeUninit<P> {
    MaybeUninit::new(P::of(position.into()))
}

/// To run it is safe if both are borrows, and nothing else uses `to` meanwhile.
#[derive(Clone, Copy)]
struct InterleaveValues<B> {
    to: *mut [MaybeUninit<B>],
    from: *const [MaybeUninit<B>],
    width: usize,
}

impl<B: Copy> SimdOp for InterleaveValues<B> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        // SAFETY: the caller's promise.
        unsafe { write(&mut *self.to, &*self.from, self.width, |value| value) };
    }
}

#[inline(always)]
fn write<F: Copy, P>(to: &mut [P], from: &[F], width: usize, of: impl Fn(F) -> P + Copy) {
    match width {
        2 => write_by::<2, F, P>(to, from, of),
        3 => write_by::<3, F, P>(to, from, of),
        4 => write_by::<4, F, P>(to, from, of),
        5 => write_by::<5, F, P>(to, from, of),
        6 => write_by::<6, F, P>(to, from, of),
        7 => write_by::<7, F, P>(to, from, of),
        8 => write_by::<8, F, P>(to, from, of),
        _ => {
            // Plain loops: the compiler makes a function of its own of an iterator that is not inlined.
            for (column, from) in from.chunks_exact(to.len() / width).enumerate() {
                let mut at = column;
                for &found in from {
                    to[at] = of(found);
                    at += width;
                }
            }
        }
    }
}

/// The same for a width that is a constant.
#[inline(always)]
fn write_by<const WIDTH: usize, F: Copy, P>(to: &mut [P], from: &[F], of: impl Fn(F) -> P) {
    let (to, _) = to.as_chunks_mut::<WIDTH>();
    let blocks = to.len();
    let from = &from[..WIDTH * blocks];
    for (block, to) in to.iter_mut().enumerate() {
        for (column, to) in to.iter_mut().enumerate() {
            *to = of(from[column * blocks + block]);
        }
    }
}
