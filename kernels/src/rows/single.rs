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
use crate::positions::Positions;
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token};
use crate::tuning::Tuning;
use core::hint::assert_unchecked;

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
            let (row, lanes) = (Run::new(first.cast(), len, false, tuning), <M::Order as Order>::Simd::LANES);
            let (fewest, most) = lane_indexed::vectors::<M::Order>();
            // SAFETY: the caller promises the elements, and each of the lengths is one that its search takes.
            return unsafe {
                match len {
                    _ if len <= (fewest - 1) * lanes => order.simd().enter(Call::<_, IN_REGISTERS> { order, row }),
                    _ if len <= most * lanes => order.simd().enter(Call::<_, BY_LANE> { order, row }),
                    _ => order.simd().enter(Call::<_, BY_CHUNKS> { order, row }),
                }
            };
        }
        // Not worth its code: as the only row of a tile.
        let once = Loop { size: 1, stride: 0 };
        let reduced = &[Loop { size: len, stride: 1 }];
        let tile = Tile { input: first, outer: once, inner: once, reduced, prefetch: Prefetch::Nothing, tuning };
        let mut position = [0_u32];
        // SAFETY: the caller's promise.
        unsafe { Rows::<M>::enter::<M>(&tile, Positions::from(&mut position[..])) };
        position[0]
    }
}

const IN_REGISTERS: u8 = 0;
const BY_LANE: u8 = 1;
const BY_CHUNKS: u8 = 2;

/// The search of one row. A function for each, because one that may do any takes 1 ns more, whatever it does: to be
/// ready to spill vectors, it makes a frame.
struct Call<O: Order, const SEARCH: u8> {
    order: O,
    row: Run<O::Lane>,
}

impl<O: Order, const SEARCH: u8> Task for Call<O, SEARCH> {
    type Output = u32;

    #[inline(always)]
    unsafe fn run(self) -> u32 {
        let Call { order, row } = self;
        // SAFETY: the caller promises the elements, and that the row is longer than what is searched in registers where
        // it goes by lane (a hint, so that what is for shorter ones is no part of the function).
        unsafe {
            match SEARCH {
                IN_REGISTERS => in_registers(row.len, self),
                BY_LANE => {
                    assert_unchecked(row.len > Self::MOST_VECTORS * O::Simd::LANES);
                    lane_indexed::find(order, row)
                }
                _ => blocked::find(order, row).position(),
            }
        }
    }
}

impl<O: Order, const SEARCH: u8> Visit<O> for Call<O, SEARCH> {
    const REVERSED: bool = false;
    const MOST_VECTORS: usize = lane_indexed::vectors::<O>().0 - 1;
    type Output = u32;

    #[inline(always)]
    unsafe fn search<S: Search<O>>(self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { S::find::<false>(self.order, self.row) }
    }
}
