//! One row, for single calls: the searches of [`super::rows`], without the loops around them, and the position in a register. (Zen 3, AVX2: 16
//! i32 took 177 instructions by a tile, and take 76 this way.) This file decides nothing.

use super::rows::{Rows, Search, Visit, by_length};
use super::run::Run;
use super::{Body, MakeOrder};
use crate::lanes::{Task, Token};
use crate::order::Order;
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
            return order.simd().enter(Call { order, row: Run::new(first.cast(), len, false) });
        }
        // Not worth its code: as the only row of a tile.
        let once = Loop { size: 1, stride: 0 };
        let reduced = &[Loop { size: len, stride: 1 }];
        let tile = Tile { input: first, outer: once, inner: once, reduced, is_far: false };
        let mut position = [MaybeUninit::new(0)];
        // SAFETY: the caller's promise.
        unsafe {
            Rows::enter::<M>(&tile, &mut position);
            position[0].assume_init()
        }
    }
}

struct Call<O: Order> {
    order: O,
    row: Run<O::Lane>,
}

impl<O: Order> Task for Call<O> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        // SAFETY: only `Row::enter` makes a `Call`, and its caller promises the elements.
        unsafe { by_length(self.row.len, self) }
    }
}

impl<O: Order> Visit<O> for Call<O> {
    const REVERSED: bool = false;
    type Output = u32;

    #[inline(always)]
    unsafe fn search<S: Search<O>>(self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { S::find::<false>(self.order, self.row) }.position.unwrap_or(0) as u32
    }
}
