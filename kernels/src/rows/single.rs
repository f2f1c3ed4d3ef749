//! One row, for single calls: the searches of [`super::strategy`], without the loops around them, and the position in a
//! register. This file decides nothing.

use super::blocked;
use super::lane_indexed;
use super::segment::Run;
use super::strategy::{Rows, Search, Visit, in_registers};
use crate::kernel::{Body, MakeOrder};
use crate::memory::args::{Loop, Tile};
use crate::memory::prefetch::Prefetch;
use crate::order::Order;
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token};
use crate::tuning::Tuning;
use core::hint::assert_unchecked;
use core::mem::MaybeUninit;

/// See the file. A type, for the same reason as [`Body::enter`] is a method.
pub(crate) struct Row;

impl Row {
    /// What [`crate::Kernel::of_row`] calls.
    ///
    /// # Safety
    /// - As there.
    pub(crate) unsafe fn enter<M: MakeOrder>(first: *const (), len: usize, tuning: &'static Tuning) -> u32 {
        // SAFETY: the caller promises that the ISA is there.
        let order = unsafe { M::make() };
        if const { <M::Order as Order>::Simd::TUNING.specializes } {
            let row = Run::new(first.cast(), len, false, tuning);
            // SAFETY: the caller promises the elements, and each of the lengths is one that its search takes.
            return unsafe {
                if len <= MOST_VECTORS * <M::Order as Order>::Simd::LANES {
                    order.simd().enter(Short { order, row })
                } else {
                    order.simd().enter(Long { order, row })
                }
            };
        }
        // Not worth its code: as the only row of a tile.
        let once = Loop { size: 1, stride: 0 };
        let reduced = &[Loop { size: len, stride: 1 }];
        let tile = Tile { input: first, outer: once, inner: once, reduced, prefetch: Prefetch::Nothing, tuning };
        let mut position = [MaybeUninit::new(0)];
        // SAFETY: the caller's promise.
        unsafe {
            Rows::<M>::enter::<M>(&tile, &mut position);
            position[0].assume_init()
        }
    }
}

/// The most vectors of a row that is searched in registers.
const MOST_VECTORS: usize = 4;

/// Up to [`MOST_VECTORS`]. A function of its own, because to be ready to spill vectors, the other one makes a frame.
struct Short<O: Order> {
    order: O,
    row: Run<O::Lane>,
}

impl<O: Order> Task for Short<O> {
    type Output = u32;

    #[inline(always)]
    unsafe fn run(self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { in_registers(self.row.len, self) }
    }
}

impl<O: Order> Visit<O> for Short<O> {
    const REVERSED: bool = false;
    const MOST_VECTORS: usize = MOST_VECTORS;
    type Output = u32;

    #[inline(always)]
    unsafe fn search<S: Search<O>>(self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { S::find::<false>(self.order, self.row) }
    }
}

/// Any other row.
struct Long<O: Order> {
    order: O,
    row: Run<O::Lane>,
}

impl<O: Order> Task for Long<O> {
    type Output = u32;

    #[inline(always)]
    unsafe fn run(self) -> u32 {
        let Long { order, row } = self;
        // SAFETY: the caller promises the elements, and that there are more than are searched in registers (a hint, so
        // that what is for shorter ones is no part of the function).
        unsafe {
            assert_unchecked(row.len > MOST_VECTORS * O::Simd::LANES);
            if row.len <= lane_indexed::vectors::<O>().1 * O::Simd::LANES {
                lane_indexed::find(order, row)
            } else {
                blocked::find(order, row).position()
            }
        }
    }
}
