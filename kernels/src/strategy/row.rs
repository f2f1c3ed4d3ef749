//! One row, for single calls: the searches of [`super::rows`], without the loops around them, and the position in a register. (Zen 3, AVX2: 16
//! i32 took 177 instructions by a tile, and take 76 this way.) This file decides nothing.

use super::by_lane;
use super::luck::Ways;
use super::rows::{Rows, Search, Visit, by_length};
use super::run::Run;
use super::{Body, MakeOrder};
use crate::lanes::{Lanes, Task, Token};
use crate::order::Order;
use crate::prefetch::Prefetch;
use crate::tile::{Loop, Tile};
use core::mem::MaybeUninit;

/// See the file. A type, for the same reason as [`Body::enter`] is a method.
pub(crate) struct Row;

impl Row {
    /// What [`crate::Kernel::of_row`] calls.
    ///
    /// # Safety
    /// - As there.
    pub(crate) unsafe fn enter<M: MakeOrder>(first: *const (), len: usize) -> u32 {
        // SAFETY: the caller promises that the ISA is there.
        let order = unsafe { M::make() };
        if <M::Order as Order>::Simd::SPECIALIZES {
            let (row, lanes) = (Run::new(first.cast(), len, false), <M::Order as Order>::Simd::LANES);
            let (fewest, most) = by_lane::vectors_alone::<M::Order>();
            return if len > (fewest - 1) * lanes && len <= most * lanes {
                order.simd().enter(Call::<_, true> { order, row })
            } else {
                order.simd().enter(Call::<_, false> { order, row })
            };
        }
        // Not worth its code: as the only row of a tile.
        let once = Loop { size: 1, stride: 0 };
        let reduced = &[Loop { size: len, stride: 1 }];
        let tile = Tile { input: first, outer: once, inner: once, reduced, prefetch: Prefetch::Nothing };
        let mut position = [MaybeUninit::new(0)];
        // SAFETY: the caller's promise.
        unsafe {
            Rows::enter::<M>(&tile, &mut position);
            position[0].assume_init()
        }
    }
}

/// The search of one row: lane by lane, or by its length. Two functions, because one that may do either takes 1 ns more, whatever it does. (Zen 5.)
struct Call<O: Order, const BY_LANE: bool> {
    order: O,
    row: Run<O::Lane>,
}

impl<O: Order, const BY_LANE: bool> Task for Call<O, BY_LANE> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        // SAFETY: only `Row::enter` makes a `Call`, and its caller promises the elements.
        unsafe {
            if BY_LANE {
                by_lane::find(self.order, self.row, &mut Ways::default())
            } else {
                by_length(self.row.len, self)
            }
        }
    }
}

impl<O: Order, const BY_LANE: bool> Visit<O> for Call<O, BY_LANE> {
    const REVERSED: bool = false;
    const IS_ALONE: bool = true;
    type Output = u32;

    #[inline(always)]
    unsafe fn search<S: Search<O>>(self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { S::find::<false>(self.order, self.row, &mut Ways::default()) }
    }
}
