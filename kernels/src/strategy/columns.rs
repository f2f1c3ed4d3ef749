//! Columns: neighbouring outputs are contiguous, and each lane is one output. Per row of the reduced loops: one load, one comparison,
//! two blends.
//!
//! What the second blend keeps is the number of the row, counted in lanes as wide as the element. Before the count overflows (255 rows
//! of 8-bit elements), the numbers are flushed to the 32-bit positions. The last vector of a line of outputs overlaps the one
//! before: its outputs are answered twice, and the same.

use super::Body;
use crate::lanes::Lanes;
use crate::order::{Count, Order, Vec};
use crate::tile::{Tile, Walk};
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct Columns;

impl Body for Columns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        let lanes = O::Simd::LANES;
        let width = tile.inner.size;
        assert!(tile.inner.stride == 1 && width >= lanes, "columns are contiguous, and a vector wide");
        let input = tile.input.cast::<O::Lane>();
        for (o, positions) in positions.chunks_exact_mut(width).enumerate() {
            let line = input.wrapping_offset(o as isize * tile.outer.stride);
            let mut done = 0;
            while done < width {
                let left = width - done;
                let start = if left < lanes { width - lanes } else { done };
                // SAFETY: `start` leaves at least as many outputs as the group of vectors has lanes, and the caller promises that all elements
                // of all outputs may be read.
                done = start
                    + unsafe {
                        if left >= 4 * lanes {
                            reduce_in_place::<O, 4>(order, tile, line.add(start), &mut positions[start..])
                        } else {
                            reduce_in_place::<O, 1>(order, tile, line.add(start), &mut positions[start..])
                        }
                    };
            }
        }
    }
}

/// Reduces `U` vectors of neighbouring outputs, and tells how many outputs that is.
#[inline(always)]
unsafe fn reduce_in_place<O: Order, const U: usize>(
    order: O,
    tile: &Tile<'_>,
    at: *const O::Lane,
    positions: &mut [MaybeUninit<u32>],
) -> usize {
    let (line, slower) = tile.split_reduced();
    let mut sweep = Sweep::<O, U>::new(order, positions);
    for offset in Walk::new(slower) {
        // SAFETY: the caller promises that each row of `U` vectors, which the reduced loops reach from `at`, may be read.
        unsafe { sweep.rows(at.wrapping_offset(offset), line.stride, line.size) };
    }
    sweep.finish();
    U * O::Simd::LANES
}

/// The best element of each of `U` vectors of outputs, over the rows so far.
pub(super) struct Sweep<'a, O: Order, const U: usize> {
    order: O,
    best: [Vec<O>; U],
    /// The number of the row of the best, from 1; 0 where it has not changed since the last flush.
    row_of_best: [Count<O>; U],
    /// The number of the last row, in every lane.
    row: Count<O>,
    /// The same as an integer.
    rows: u32,
    /// Rows before the last flush.
    flushed: u32,
    positions: &'a mut [u32],
}

impl<'a, O: Order, const U: usize> Sweep<'a, O, U> {
    /// Before the first row, for the first `U` vectors of `positions`.
    ///
    /// # Panics
    /// If `positions` is shorter.
    #[inline(always)]
    pub(super) fn new(order: O, positions: &'a mut [MaybeUninit<u32>]) -> Self {
        let positions = &mut positions[..U * O::Simd::LANES];
        positions.fill(MaybeUninit::new(0));
        // SAFETY: each element was written just now.
        let positions = unsafe { &mut *(positions as *mut [MaybeUninit<u32>] as *mut [u32]) };
        let none = order.simd().count(0);
        let best = [order.worst(); U];
        Sweep { order, best, row_of_best: [none; U], row: none, rows: 0, flushed: 0, positions }
    }

    /// Goes on with `rows` rows, `stride` elements apart, from `first`.
    ///
    /// # Safety
    /// - Each row, `U` vectors wide, may be read.
    #[inline(always)]
    pub(super) unsafe fn rows(&mut self, first: *const O::Lane, stride: isize, mut rows: usize) {
        let (order, simd) = (self.order, self.order.simd());
        let mut at = first;
        if self.rows + self.flushed == 0 && rows > 0 {
            // The first row is the best so far whatever it holds, and its position, 0, is there already.
            for (u, best) in self.best.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                *best = unsafe { order.load(at.add(u * O::Simd::LANES)) };
            }
            (self.row, self.rows) = (simd.count(1), 1);
            at = at.wrapping_offset(stride);
            rows -= 1;
        }
        while rows > 0 {
            if self.rows == O::Simd::MAX_COUNT {
                self.flush();
            }
            let some = rows.min((O::Simd::MAX_COUNT - self.rows) as usize);
            // Locals, so that they stay in registers.
            let (mut best, mut row_of_best, mut row) = (self.best, self.row_of_best, self.row);
            for _ in 0..some {
                row = simd.add(row, simd.count(1));
                for u in 0..U {
                    // SAFETY: the caller's promise.
                    let new = unsafe { order.load(at.add(u * O::Simd::LANES)) };
                    let better = order.better(new, best[u]);
                    best[u] = simd.select(better, new, best[u]);
                    row_of_best[u] = simd.select_count(better, row, row_of_best[u]);
                }
                at = at.wrapping_offset(stride);
            }
            (self.best, self.row_of_best, self.row) = (best, row_of_best, row);
            self.rows += some as u32;
            rows -= some;
        }
    }

    /// Moves the row numbers to the positions.
    #[inline(always)]
    fn flush(&mut self) {
        let simd = self.order.simd();
        for u in 0..U {
            let rows = simd.counts(self.row_of_best[u]);
            let positions = &mut self.positions[u * O::Simd::LANES..][..O::Simd::LANES];
            for (position, &row) in positions.iter_mut().zip(rows.as_ref()) {
                let row: u64 = row.into();
                *position = if row == 0 { *position } else { self.flushed + row as u32 - 1 };
            }
        }
        self.row_of_best = [simd.count(0); U];
        self.row = simd.count(0);
        self.flushed += self.rows;
        self.rows = 0;
    }

    /// Completes the positions.
    #[inline(always)]
    pub(super) fn finish(mut self) {
        self.flush();
    }
}
