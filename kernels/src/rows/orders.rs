//! What rows are searched by: an order, or [two at once](Pair); and where the positions of rows are written. Knows
//! nothing of loops over rows.

use super::search::RowSearch;
use super::segment::{Followed, Segment};
use super::segment_orders::{Lane, SegmentOrders};
use super::tree::SideBySide;
use crate::order::pair::{Pair, PairedWith};
use crate::order::{ArgOrder, IndexVec};
use crate::outputs::{Outputs, Written};
use crate::simd::ops::SimdOps;
use core::mem::MaybeUninit;

pub(super) trait RowOrders: SegmentOrders {
    /// Places for the positions of the rows that follow.
    type Places: Copy;
    fn places(outputs: &mut Self::Outputs<'_>) -> Self::Places;
    /// Writes what was found in the next row.
    ///
    /// # Safety
    /// - There is a place for it.
    unsafe fn write(places: &mut Self::Places, positions: Self::Positions);
    /// Makes positions as wide as their places, and tells that no values are written.
    ///
    /// # Safety
    /// - All positions are written.
    unsafe fn finish(self, outputs: Self::Outputs<'_>) -> Self::Written;

    /// Writes what is found in the next rows, as many as a vector has lanes.
    ///
    /// # Safety
    /// - There are places for that. Lanes have 32 bits.
    unsafe fn write_group<S: RowSearch<Self::Order>>(
        self,
        places: &mut Self::Places,
        rows: SideBySide<'_, Self::Order>,
    );

    fn find<S: RowSearch<Self::Order>>(self, row: Segment<'_, Lane<Self>>) -> Self::Positions;
    /// [`RowOrders::find`], where more than the row may be read.
    fn find_followed<S: RowSearch<Self::Order>>(self, row: Followed<'_, Self::Order>) -> Self::Positions;
}

impl<O: ArgOrder> RowOrders for O {
    type Places = *mut MaybeUninit<u32>;

    #[inline(always)]
    fn places(outputs: &mut Outputs<'_>) -> Self::Places {
        // By rows, a branch on the width of positions would be paid for each.
        outputs.positions.half_width().as_mut_ptr()
    }

    #[inline(always)]
    unsafe fn write(places: &mut Self::Places, position: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            places.write(MaybeUninit::new(position));
            *places = places.add(1);
        }
    }

    #[inline(always)]
    unsafe fn finish(self, mut outputs: Outputs<'_>) -> Written {
        // SAFETY: the caller's promise.
        unsafe { outputs.positions.widen(self.simd()) };
        Written::Nothing
    }

    #[inline(always)]
    unsafe fn write_group<S: RowSearch<O>>(self, places: &mut Self::Places, rows: SideBySide<'_, O>) {
        // SAFETY: the caller's promise; lanes of 32 bits have indices of 32 bits, as a place has.
        unsafe {
            places.cast::<IndexVec<O>>().write_unaligned(S::find_group(self, rows));
            *places = places.add(O::Simd::LANES);
        }
    }

    #[inline(always)]
    fn find<S: RowSearch<O>>(self, row: Segment<'_, O::Lane>) -> u32 {
        S::find(self, row)
    }

    #[inline(always)]
    fn find_followed<S: RowSearch<O>>(self, row: Followed<'_, O>) -> u32 {
        S::find_followed(self, row)
    }
}

impl<A: ArgOrder, B: PairedWith<A>> RowOrders for Pair<A, B> {
    type Places = [*mut MaybeUninit<u32>; 2];

    #[inline(always)]
    fn places([first, second]: &mut [Outputs<'_>; 2]) -> Self::Places {
        [A::places(first), B::places(second)]
    }

    #[inline(always)]
    unsafe fn write([first, second]: &mut Self::Places, positions: [u32; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            A::write(first, positions[0]);
            B::write(second, positions[1]);
        }
    }

    #[inline(always)]
    unsafe fn finish(self, [first, second]: [Outputs<'_>; 2]) -> [Written; 2] {
        // SAFETY: the caller's promise.
        unsafe { [self.0.finish(first), self.1.finish(second)] }
    }

    #[inline(always)]
    unsafe fn write_group<S: RowSearch<A>>(self, [first, second]: &mut Self::Places, rows: SideBySide<'_, A>) {
        // SAFETY: the caller's promise.
        unsafe {
            self.0.write_group::<S>(first, rows);
            self.1.write_group::<S::Of<B>>(second, rows.of_order());
        }
    }

    #[inline(always)]
    fn find<S: RowSearch<A>>(self, row: Segment<'_, A::Lane>) -> [u32; 2] {
        S::find_both(self, row)
    }

    #[inline(always)]
    fn find_followed<S: RowSearch<A>>(self, row: Followed<'_, A>) -> [u32; 2] {
        if const { S::OVER_READS } {
            [S::find_followed(self.0, row), S::Of::<B>::find_followed(self.1, row.of_order())]
        } else {
            self.find::<S>(row.segment())
        }
    }
}
