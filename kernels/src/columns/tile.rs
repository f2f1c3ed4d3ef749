//! A register tile: `U` vectors of neighbouring outputs, one in each lane, reduced over rows. For each row and vector,
//! that takes a load, a comparison, a maximum and a select. Knows nothing of panels, of the loops of a call, and of
//! what is done if there is NaN.
//!
//! What is selected is the number of the row, which is as wide as the element.

use super::nan_tracker::NanTracker;
use crate::memory::row_prefetch::prefetch_rows;
use crate::order::{ArgOrder, IndexVec, Vec, load};
use crate::outputs::Outputs;
use crate::positions::{Position, for_places, write_counts};
use crate::prefetch::Hint;
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use core::mem::MaybeUninit;

/// Vectors in a tile, unless fewer are left. See docs/tuning.md#tile_vectors.
pub(super) const TILE_VECTORS: usize = 4;
/// Rows in a block of rows: as many streams as most hardware prefetchers follow. See docs/tuning.md#not-measured.
pub(super) const PANEL_BLOCK_ROWS: usize = 8;

/// Rows with one stride between them, of as many elements as there are outputs.
#[derive(Clone, Copy)]
pub(super) struct StridedRows<L> {
    pub(super) first: *const L,
    /// From one row to the next, in elements.
    pub(super) stride: isize,
    pub(super) count: usize,
    /// Which cache other rows are prefetched into.
    pub(super) hint: Hint,
}

impl<L: Copy> StridedRows<L> {
    /// Prefetches `width` elements of each row, `prefetch_distance` elements further on, if that is not `None`. They
    /// need not exist.
    #[inline(always)]
    pub(super) fn prefetch(self, width: usize, prefetch_distance: Option<isize>) {
        let Some(prefetch_distance) = prefetch_distance else { return };
        let (size, at) = (size_of::<L>(), self.first.wrapping_offset(prefetch_distance));
        prefetch_rows(self.hint, at.cast(), self.stride.wrapping_mul(size as isize), self.count, width * size);
    }

    /// These rows from output `output` on.
    #[inline(always)]
    pub(super) fn at(self, output: usize) -> Self {
        StridedRows { first: self.first.wrapping_add(output), ..self }
    }

    /// All rows but the first `rows`.
    #[inline(always)]
    pub(super) fn skip(self, rows: usize) -> Self {
        let first = self.first.wrapping_offset(rows as isize * self.stride);
        StridedRows { first, count: self.count - rows, ..self }
    }
}

/// The bytes from the first of some rows to where the next one would be.
#[inline(always)]
pub(super) fn extent_bytes<L>(rows: usize, stride: isize) -> usize {
    rows.saturating_mul(stride.unsigned_abs()).saturating_mul(size_of::<L>())
}

/// `U` vectors of outputs, reduced over the rows so far.
///
/// # Safety
/// - Of methods that are given a row, or rows: `width` elements of each, at least a vector, may be read.
#[derive(Clone, Copy)]
pub(super) struct ColumnTile<O: ArgOrder, const U: usize> {
    pub(super) best: [Vec<O>; U],
    /// The row of the best. The caller decides what row numbers count from.
    pub(super) row_of_best: [IndexVec<O>; U],
}

impl<O: ArgOrder, const U: usize> ColumnTile<O, U> {
    /// The output that vector `u` starts with. The last vector overlaps the previous one where the width is no
    /// multiple.
    #[inline(always)]
    pub(super) fn start_of(u: usize, width: usize) -> usize {
        (u * O::Simd::LANES).min(width - O::Simd::LANES)
    }

    /// The part of a row that this tile is for.
    #[inline(always)]
    pub(super) unsafe fn load(order: O, at: *const O::Lane, width: usize) -> [Vec<O>; U] {
        let mut vectors = [order.identity(); U];
        let mut u = 0;
        while u < U {
            // SAFETY: the caller promises a row of that width.
            vectors[u] = unsafe { load(order, at.add(Self::start_of(u, width))) };
            u += 1;
        }
        vectors
    }

    /// A tile after its first row, which is the best so far whatever it holds, and has number 0.
    #[inline(always)]
    pub(super) unsafe fn new(order: O, first: *const O::Lane, width: usize) -> Self {
        // SAFETY: the caller's promise.
        ColumnTile { best: unsafe { Self::load(order, first, width) }, row_of_best: [order.simd().splat_index(0); U] }
    }

    /// Whether rows are taken two at a time, so that only the better one is compared with the best so far. For two rows
    /// that is an operation more and a select less, which pays where a select takes several operations, or where narrow
    /// tiles wait for the row before. See docs/tuning.md#columns-two-rows-at-a-time.
    const IN_PAIRS: bool = O::Simd::TUNING.pairs_rows;
    /// The fewest rows that are taken in pairs. See docs/tuning.md#columns-two-rows-at-a-time.
    const MIN_PAIRED_ROWS: usize = if size_of::<O::Lane>() == 1 { 4 } else { 2 };

    /// Reduces some more rows, the first of which has number `before + 1`; if `IN_PAIRS`, [in
    /// pairs](ColumnTile::IN_PAIRS) where that pays. If not `NAN_EXACT`, the answer is right only if `nan_tracker` [is
    /// exact](NanTracker::is_exact) afterwards.
    #[inline(always)]
    pub(super) unsafe fn visit<const NAN_EXACT: bool, const IN_PAIRS: bool>(
        &mut self,
        order: O,
        rows: StridedRows<O::Lane>,
        width: usize,
        before: u32,
        nan_tracker: &mut NanTracker<O>,
    ) {
        let simd = order.simd();
        // Locals, so that they stay in registers.
        let ColumnTile { mut best, mut row_of_best } = *self;
        let mut row = simd.splat_index(before + 1);
        let mut state = *nan_tracker;
        // A stride in bytes makes for a shorter instruction than a scaled one, and keeps short loops within a cache
        // line.
        let stride = rows.stride.wrapping_mul(size_of::<O::Lane>() as isize);
        let mut at = rows.first;
        let mut left = rows.count;
        while const { IN_PAIRS && Self::IN_PAIRS && !NAN_EXACT } && rows.count >= Self::MIN_PAIRED_ROWS && left >= 2 {
            for u in 0..U {
                let at = at.wrapping_add(Self::start_of(u, width));
                // SAFETY: the caller's promise.
                let (new, newer) = unsafe { (load(order, at), load(order, at.wrapping_byte_offset(stride))) };
                state.observe(order, &[new, newer]);
                let row_of_new = simd.sub_mask(order.gt(newer, new), row);
                let new = order.max(newer, new);
                let better = order.gt(new, best[u]);
                best[u] = order.max(new, best[u]);
                row_of_best[u] = simd.select(better, row_of_new, row_of_best[u]);
            }
            row = simd.add(row, simd.splat_index(2));
            at = at.wrapping_byte_offset(2 * stride);
            left -= 2;
        }
        for _ in 0..left {
            // SAFETY: the caller's promise.
            let new = unsafe { Self::load(order, at, width) };
            if !NAN_EXACT {
                state.observe(order, &new);
            }
            for u in 0..U {
                let better = if NAN_EXACT { order.gt_total_order(new[u], best[u]) } else { order.gt(new[u], best[u]) };
                best[u] = if NAN_EXACT { simd.select(better, new[u], best[u]) } else { order.max(new[u], best[u]) };
                row_of_best[u] = simd.select(better, row, row_of_best[u]);
            }
            row = simd.add(row, simd.splat_index(1));
            at = at.wrapping_byte_offset(stride);
        }
        *self = ColumnTile { best, row_of_best };
        *nan_tracker = state;
    }

    /// Writes the row numbers as positions, one for each output of the tile, and the best as values, which are of the
    /// numbered rows. Values are of elements.
    #[inline(always)]
    pub(super) unsafe fn write(
        &self,
        order: O,
        rows: StridedRows<O::Lane>,
        outputs: &mut Outputs<'_>,
        start: usize,
        width: usize,
    ) {
        for_places!(outputs.positions, positions => {
            self.write_positions(order, &mut positions[start..][..width]);
        });
        // SAFETY: the caller's promise.
        let Some(values) = (unsafe { outputs.values::<O::Lane>() }) else { return };
        let values = &mut values[start..][..width];
        if self.write_values(order, values) {
            for (u, &best) in self.best.iter().enumerate() {
                let start = Self::start_of(u, width);
                let lost = (order.simd().movemask(order.lost(best)), O::Simd::BITS_PER_LANE);
                let numbers = order.simd().index_array(self.row_of_best[u]);
                // SAFETY: the caller's promise, and the numbers are of rows.
                unsafe { read_lost(lost, rows.at(start), numbers.as_ref(), &mut values[start..]) };
            }
        }
    }

    /// Writes the row numbers as positions, one for each output of the tile.
    #[inline(always)]
    pub(super) fn write_positions<P: Position>(&self, order: O, positions: &mut [MaybeUninit<P>]) {
        let width = positions.len();
        for (u, rows) in self.row_of_best.iter().enumerate() {
            let positions = &mut positions[Self::start_of(u, width)..][..O::Simd::LANES];
            write_counts(positions, order.simd().index_array(*rows).as_ref());
        }
    }

    /// Writes the best of each output of the tile, and tells whether bits are lost.
    #[inline(always)]
    pub(super) fn write_values(&self, order: O, values: &mut [MaybeUninit<O::Lane>]) -> bool {
        let mut lost = order.simd().first_n_mask(0);
        for (u, &best) in self.best.iter().enumerate() {
            let start = Self::start_of(u, values.len());
            let values = &mut values[start..][..O::Simd::LANES];
            // SAFETY: a vector may be written there.
            unsafe { values.as_mut_ptr().cast::<Vec<O>>().write_unaligned(order.decode(best)) };
            lost = order.simd().or(lost, order.lost(best));
        }
        order.simd().movemask(lost) != 0
    }
}

/// Reads the values of those lanes of a vector of which bits are lost, as [`SimdOps::movemask`] has them, from the rows
/// of those numbers. A function, because it is rare.
///
/// # Safety
/// - The rows may be read, from the lane 0 of the vector on.
#[cold]
#[inline(never)]
unsafe fn read_lost<L: Copy, C: Copy + Into<u64>>(
    (mut bits, bits_per_lane): (u64, u32),
    rows: StridedRows<L>,
    numbers: &[C],
    values: &mut [MaybeUninit<L>],
) {
    while bits != 0 {
        let lane = (bits.trailing_zeros() / bits_per_lane) as usize;
        let row: u64 = numbers[lane].into();
        // SAFETY: the caller's promise.
        values[lane].write(unsafe { rows.first.offset(row as isize * rows.stride).add(lane).read() });
        bits &= !(((1 << bits_per_lane) - 1) << (lane as u32 * bits_per_lane));
    }
}
