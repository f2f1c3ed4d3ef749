//! Positions that were found column by column of some blocks, back in the order of the outputs. Knows nothing of how
//! they were found.

use crate::positions::{Position, Positions, for_places};
use crate::simd::token::{Simd, SimdOp};
use crate::simd::transpose::TransposeOps;
use core::mem::MaybeUninit;

/// `to[block * width + column] = from[column * blocks + block]`. With a constant width, the compiler has shuffles.
#[inline(always)]
pub(crate) fn interleave<'a, S: TransposeOps>(simd: S, mut to: Positions<'a>, from: &'a [u32], width: usize) {
    // SAFETY: a borrow that nothing else uses meanwhile.
    unsafe { simd.half_width().call_outlined(Interleave { to: &raw mut to, from, width }) };
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
        for_places!(to, to => self.write(to));
    }
}

impl Interleave<'_> {
    #[inline(always)]
    fn write<P: Position>(self, to: &mut [MaybeUninit<P>]) {
        let Interleave { from, width, .. } = self;
        match width {
            2 => interleave_by::<2, P>(to, from),
            3 => interleave_by::<3, P>(to, from),
            4 => interleave_by::<4, P>(to, from),
            5 => interleave_by::<5, P>(to, from),
            6 => interleave_by::<6, P>(to, from),
            7 => interleave_by::<7, P>(to, from),
            8 => interleave_by::<8, P>(to, from),
            _ => {
                // Plain loops: the compiler makes a function of its own of an iterator that is not inlined.
                for (column, from) in from.chunks_exact(to.len() / width).enumerate() {
                    let mut at = column;
                    for &position in from {
                        to[at].write(P::of(position.into()));
                        at += width;
                    }
                }
            }
        }
    }
}

/// The same for a width that is a constant.
#[inline(always)]
fn interleave_by<const WIDTH: usize, P: Position>(to: &mut [MaybeUninit<P>], from: &[u32]) {
    let (to, _) = to.as_chunks_mut::<WIDTH>();
    let blocks = to.len();
    let from = &from[..WIDTH * blocks];
    for (block, to) in to.iter_mut().enumerate() {
        for (column, to) in to.iter_mut().enumerate() {
            to.write(P::of(from[column * blocks + block].into()));
        }
    }
}
