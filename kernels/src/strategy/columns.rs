//! Columns: neighbouring outputs are contiguous, and each lane is one output. Per row of the reduced loops: one load, one comparison,
//! two blends.
//!
//! What the second blend keeps is the number of the row, counted in lanes as wide as the element. Before the count overflows (255 rows
//! of 8-bit elements), the numbers are flushed to the 32-bit positions. The last vector of a line of outputs overlaps the one
//! before: its outputs are answered twice, and the same.

use super::{Body, Strategy};
use crate::gather::{Scratch, Stretches};
use crate::lanes::{Lanes, MAX_VECTOR_BYTES};
use crate::order::{Count, Order, Vec};
use crate::tile::Tile;
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct Columns;

impl Body for Columns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        let lanes = O::Simd::LANES;
        let is_in_place = Strategy::Columns.is_in_place(tile.inner, tile.reduced, lanes);
        // In place, a group of vectors must not leave its line of outputs; gathered, the lines make one.
        let width = if is_in_place { tile.inner.size } else { positions.len() };
        for (line, positions) in positions.chunks_exact_mut(width).enumerate() {
            let mut done = 0;
            while done < width {
                let left = width - done;
                let start = if left < lanes { width.saturating_sub(lanes) } else { done };
                let at = is_in_place.then_some(line as isize * tile.outer.stride + start as isize);
                let positions = &mut positions[start..];
                // SAFETY: the caller promises that all elements of all outputs may be read, and in place there are as many outputs from
                // `start` on as the group has lanes.
                unsafe {
                    if left >= 4 * lanes {
                        reduce::<O, 4>(order, tile, at, start, positions);
                        done = start + 4 * lanes;
                    } else {
                        reduce::<O, 1>(order, tile, at, start, positions);
                        done = start + lanes;
                    }
                }
            }
        }
    }
}

/// The most lanes of a group.
const MAX_LANES: usize = 4 * MAX_VECTOR_BYTES;

/// Reduces a group of `U` vectors of outputs, from the first of `positions` on: in place from offset `at`, or gathered, from output
/// number `first` of the tile.
#[inline(always)]
unsafe fn reduce<O: Order, const U: usize>(
    order: O,
    tile: &Tile<'_>,
    at: Option<isize>,
    first: usize,
    positions: &mut [MaybeUninit<u32>],
) {
    let width = U * O::Simd::LANES;
    let input = tile.input.cast::<O::Lane>();
    let mut scratch = Scratch::new();
    let mut offsets = [const { MaybeUninit::uninit() }; MAX_LANES];
    let offsets = &mut offsets[..width];
    if at.is_none() {
        for (lane, offset) in offsets.iter_mut().enumerate() {
            // Lanes without an output repeat the last one.
            offset.write(tile.offset(first + lane.min(positions.len() - 1)));
        }
    }
    let mut lane_positions = [const { MaybeUninit::uninit() }; MAX_VECTOR_BYTES];
    let (outputs, positions) = if positions.len() < width {
        // Fewer outputs than lanes happen to a single vector only.
        (Some(positions), &mut lane_positions[..])
    } else {
        (None, positions)
    };

    let mut sweep = Sweep::<O, U>::new(order, positions);
    let mut stretches = Stretches::new(tile);
    loop {
        let (rows_at, stride, rows) = if let Some(at) = at {
            let Some((offset, rows)) = stretches.next(usize::MAX) else { break };
            (input.wrapping_offset(at + offset), tile.line().stride, rows)
        } else {
            // SAFETY: the offsets were written above; the caller promises that all elements of all outputs may be read.
            let filled = unsafe {
                let offsets = &*(&raw const *offsets as *const [isize]);
                scratch.fill(&mut stretches, input, offsets)
            };
            if filled.1 == 0 {
                break;
            }
            (filled.0, width as isize, filled.1)
        };
        // SAFETY: rows of `U` vectors: a stretch of the reduced loops, in place, or what was gathered just now.
        unsafe { sweep.rows(rows_at, stride, rows) };
    }
    sweep.finish();
    if let Some(outputs) = outputs {
        outputs.copy_from_slice(&lane_positions[..outputs.len()]);
    }
}

/// The best element of each of `U` vectors of outputs, over the rows so far.
struct Sweep<'a, O: Order, const U: usize> {
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
    fn new(order: O, positions: &'a mut [MaybeUninit<u32>]) -> Self {
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
    unsafe fn rows(&mut self, first: *const O::Lane, stride: isize, mut rows: usize) {
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
    fn finish(mut self) {
        self.flush();
    }
}
