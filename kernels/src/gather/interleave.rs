//! Positions that were found column by column of some blocks, back in the order of the outputs. Knows nothing of how
//! they were found.

use crate::simd::token::{Task, Token};
use crate::simd::transpose::Zip;
use core::mem::MaybeUninit;

/// `to[block * width + column] = from[column * blocks + block]`. With a constant width, the compiler has shuffles.
#[inline(always)]
pub(crate) fn interleave<S: Zip>(simd: S, to: &mut [MaybeUninit<u32>], from: &[MaybeUninit<u32>], width: usize) {
    // SAFETY: a borrow that nothing else uses meanwhile.
    unsafe { simd.narrow().call(Interleave { to: &raw mut *to, from, width }) };
}

/// To run it is safe if `to` is a borrow that nothing else uses meanwhile.
#[derive(Clone, Copy)]
struct Interleave<'a> {
    to: *mut [MaybeUninit<u32>],
    from: &'a [MaybeUninit<u32>],
    width: usize,
}

impl Task for Interleave<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        let Interleave { to, from, width } = self;
        // SAFETY: the caller's promise.
        let to = unsafe { &mut *to };
        match width {
            2 => interleave_by::<2>(to, from),
            3 => interleave_by::<3>(to, from),
            4 => interleave_by::<4>(to, from),
            5 => interleave_by::<5>(to, from),
            6 => interleave_by::<6>(to, from),
            7 => interleave_by::<7>(to, from),
            8 => interleave_by::<8>(to, from),
            _ => {
                for (column, from) in from.chunks_exact(to.len() / width).enumerate() {
                    to[column..].iter_mut().step_by(width).zip(from).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }
}

/// The same for a width that is a constant.
#[inline(always)]
fn interleave_by<const WIDTH: usize>(to: &mut [MaybeUninit<u32>], from: &[MaybeUninit<u32>]) {
    let (to, _) = to.as_chunks_mut::<WIDTH>();
    let blocks = to.len();
    let from = &from[..WIDTH * blocks];
    for (block, to) in to.iter_mut().enumerate() {
        for (column, to) in to.iter_mut().enumerate() {
            *to = from[column * blocks + block];
        }
    }
}
