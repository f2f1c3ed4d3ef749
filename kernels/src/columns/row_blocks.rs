//! Row blocking: see `mod.rs`. Knows nothing of panels, and of the loops of a call.

use super::nan_tracker::NanTracker;
use super::tile::{ColumnTile, StridedRows};
use crate::order::{ArgOrder, IndexVec, Vec, load, max_all};
use crate::simd::ops::{EQ, SimdOps};
use crate::simd::partial_load::MAX_VECTOR_BYTES;
use crate::simd::token::{Simd, SimdOp};
use core::mem::MaybeUninit;

/// Rows in a block. Fewer make the search in the end cheaper, and the loop slower. See docs/tuning.md#min_blocked_rows.
const BLOCK_ROWS: usize = 8;

/// Whether `rows` rows, the first one among them, are worth the search in the end. It takes a load and a store for each
/// lane and row of a block. See docs/tuning.md#min_blocked_rows.
#[inline(always)]
pub(super) const fn is_row_blocked<O: ArgOrder>(rows: usize) -> bool {
    has_row_blocks::<O>() && rows >= const { min_blocked_rows::<O>() }
}

/// Whether any number of rows is. None is, if that would be more than a lane can count: so never for 8-bit lanes.
#[inline(always)]
pub(super) const fn has_row_blocks<O: ArgOrder>() -> bool {
    O::Simd::TUNING.specializes && min_blocked_rows::<O>() < O::Simd::MAX_INDEX as usize
}

/// The fewest rows that are worth the search in the end.
#[inline(always)]
const fn min_blocked_rows<O: ArgOrder>() -> usize {
    if 12 * O::Simd::LANES < MIN_BLOCKED_ROWS { MIN_BLOCKED_ROWS } else { 12 * O::Simd::LANES }
}

/// The fewest rows of whatever lanes that are row-blocked. See docs/tuning.md#min_blocked_rows.
const MIN_BLOCKED_ROWS: usize = 128;

impl<O: ArgOrder, const U: usize> ColumnTile<O, U> {
    /// Reduces the whole blocks of some rows, the first of which has number 1, and gives the rows that are left. The
    /// answer is right only if `nan_tracker` is exact afterwards. There is at least one block.
    #[inline(always)]
    pub(super) unsafe fn visit_blocks(
        &mut self,
        order: O,
        rows: StridedRows<O::Lane>,
        width: usize,
        nan_tracker: &mut NanTracker<O>,
    ) -> StridedRows<O::Lane> {
        // Copies: what a call writes to does not stay in registers before and after it.
        let (mut tile, mut tracker) = (*self, *nan_tracker);
        let blocks = RowBlocks { order, rows, width, tile: &raw mut tile, nan_tracker: &raw mut tracker };
        // SAFETY: the caller's promise, and borrows that nothing else uses meanwhile.
        unsafe { order.simd().call_outlined(blocks) };
        (*self, *nan_tracker) = (tile, tracker);
        rows.skip(rows.count / BLOCK_ROWS * BLOCK_ROWS)
    }
}

/// The loop, outlined to have one copy for all callers. By pointers: what is passed by value takes registers that the
/// loop needs.
#[derive(Clone, Copy)]
struct RowBlocks<O: ArgOrder, const U: usize> {
    order: O,
    rows: StridedRows<O::Lane>,
    width: usize,
    tile: *mut ColumnTile<O, U>,
    nan_tracker: *mut NanTracker<O>,
}

impl<O: ArgOrder, const U: usize> SimdOp for RowBlocks<O, U> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let RowBlocks { order, rows, width, .. } = self;
        let simd = order.simd();
        // SAFETY: the caller has lent both.
        let (tile, all_seen) = unsafe { (&mut *self.tile, &mut *self.nan_tracker) };
        let (ColumnTile { mut best, mut row_of_best }, mut nan_tracker) = (*tile, *all_seen);
        let stride = rows.stride.wrapping_mul(size_of::<O::Lane>() as isize);
        let (mut at, mut row) = (rows.first, simd.splat_index(1));
        for _ in 0..rows.count / BLOCK_ROWS {
            // All vectors of a block before the next block: one vector of all blocks would read each cache line several
            // times.
            for u in 0..U {
                let mut at = at.wrapping_add(ColumnTile::<O, U>::start_of(u, width));
                let mut vectors = [order.identity(); BLOCK_ROWS];
                let mut n = 0;
                while n < BLOCK_ROWS {
                    // SAFETY: the caller's promise: a vector of one of the rows.
                    vectors[n] = unsafe { load(order, at) };
                    at = at.wrapping_byte_offset(stride);
                    n += 1;
                }
                nan_tracker.observe(order, &vectors);
                let new = max_all(order, &vectors);
                let better = order.gt(new, best[u]);
                best[u] = order.max(new, best[u]);
                row_of_best[u] = simd.select(better, row, row_of_best[u]);
            }
            row = simd.add(row, simd.splat_index(BLOCK_ROWS as u32));
            at = at.wrapping_byte_offset(BLOCK_ROWS as isize * stride);
        }
        *tile = ColumnTile { best, row_of_best };
        *all_seen = nan_tracker;
        for (u, (&best, row_of_best)) in best.iter().zip(&mut tile.row_of_best).enumerate() {
            let first = rows.first.wrapping_add(ColumnTile::<O, U>::start_of(u, width));
            // SAFETY: the caller's promise: the number is that of a block of the rows, or 0.
            *row_of_best =
                unsafe { simd.call_outlined(RecoverRow { order, first, stride, best, first_row: *row_of_best }) };
        }
    }
}

/// In which row of its block each lane of a vector has its best. Outlined, because all vectors of a tile share it.
#[derive(Clone, Copy)]
struct RecoverRow<O: ArgOrder> {
    order: O,
    /// Where the vector is in row 1.
    first: *const O::Lane,
    /// In bytes.
    stride: isize,
    best: Vec<O>,
    /// The first row of the block, or 0 where none was better than what came before.
    first_row: IndexVec<O>,
}

impl<O: ArgOrder> SimdOp for RecoverRow<O> {
    type Output = IndexVec<O>;

    #[inline(always)]
    unsafe fn eval(self) -> IndexVec<O> {
        let RecoverRow { order, first, stride, best, first_row } = self;
        let (simd, lanes) = (order.simd(), O::Simd::LANES);
        let mut workspace = Workspace([const { MaybeUninit::uninit() }; _]);
        let elements: *mut O::Lane = workspace.0.as_mut_ptr().cast();
        for (lane, &row) in simd.index_array(first_row).as_ref().iter().enumerate() {
            let row: u64 = row.into();
            // Where there is no such block, the first one is read, and what is found there does not matter.
            let mut at =
                first.wrapping_byte_offset((row as u32).saturating_sub(1) as isize * stride).wrapping_add(lane);
            let mut n = 0;
            while n < BLOCK_ROWS {
                // SAFETY: the caller promises the rows of the block, whatever was found in them; the buffer is for a
                // block of any vectors.
                unsafe { elements.add(n * lanes + lane).write(at.read()) };
                at = at.wrapping_byte_offset(stride);
                n += 1;
            }
        }
        // If it is in none of the others, it is in the last.
        let mut n = BLOCK_ROWS - 1;
        let mut row_in_block = simd.splat_index(n as u32);
        while n > 0 {
            n -= 1;
            // SAFETY: all of them were written above.
            let elements = unsafe { load(order, elements.add(n * lanes)) };
            row_in_block = simd.select(simd.compare::<EQ>(elements, best), simd.splat_index(n as u32), row_in_block);
        }
        let is_better = simd.index_gt(first_row, simd.splat_index(0));
        simd.add(first_row, simd.select(is_better, row_in_block, simd.splat_index(0)))
    }
}

/// A buffer for one block of a vector.
#[repr(align(64))]
struct Workspace([MaybeUninit<u8>; BLOCK_ROWS * MAX_VECTOR_BYTES]);
