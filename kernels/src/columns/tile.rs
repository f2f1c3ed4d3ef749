//! A register tile: `U` vectors of neighbouring outputs, one in each lane, reduced over rows. For each row and vector,
//! that takes a load, a comparison, a maximum and a select. Knows nothing of panels, of the loops of a call, and of
//! what is done if there is NaN.
//!
//! What is selected is the number of the row, which is as wide as the element.

use super::nan_tracker::NanTracker;
use super::strided_rows::StridedRows;
use crate::order::{ArgOrder, IndexVec, Vec};
use crate::outputs::TypedOutputs;
use crate::positions::{Position, for_places, write_counts};
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Vectors in a tile, unless fewer are left. See docs/tuning.md#tile_vectors.
pub(super) const TILE_VECTORS: usize = 4;

/// The output that vector `u` of some outputs starts with. The last vector overlaps the previous one where their number
/// is no multiple. There are at least as many as a vector has lanes.
#[inline(always)]
pub(super) fn start_of<O: ArgOrder>(u: usize, width: usize) -> usize {
    (u * O::Simd::LANES).min(width - O::Simd::LANES)
}

/// A row of a tile: at least a vector, which may be read for `'r`.
#[derive(Clone, Copy)]
struct TileRow<'r, O: ArgOrder> {
    at: *const O::Lane,
    width: usize,
    lifetime: PhantomData<&'r [O::Lane]>,
}

impl<O: ArgOrder> TileRow<'_, O> {
    #[inline(always)]
    fn vector(self, order: O, u: usize) -> Vec<O> {
        // SAFETY: it starts a vector before the end of the row, or earlier.
        unsafe { order.load(self.at.wrapping_add(start_of::<O>(u, self.width))) }
    }
}

/// Rows of a tile that are taken one after another.
struct TileRows<'r, O: ArgOrder> {
    /// If there is one.
    next: TileRow<'r, O>,
    left: usize,
    /// In bytes: that makes for a shorter instruction than a scaled one, and keeps short loops within a cache line.
    stride: isize,
}

impl<'r, O: ArgOrder> TileRows<'r, O> {
    #[inline(always)]
    fn new(rows: StridedRows<'r, O::Lane>) -> Self {
        assert!(rows.width() >= O::Simd::LANES);
        let next = TileRow { at: rows.as_ptr(), width: rows.width(), lifetime: PhantomData };
        TileRows { next, left: rows.count(), stride: rows.stride().wrapping_mul(size_of::<O::Lane>() as isize) }
    }

    #[inline(always)]
    fn take_one(&mut self) -> Option<TileRow<'r, O>> {
        if self.left == 0 {
            return None;
        }
        let row = self.next;
        self.next.at = row.at.wrapping_byte_offset(self.stride);
        self.left -= 1;
        Some(row)
    }

    #[inline(always)]
    fn take_two(&mut self) -> Option<[TileRow<'r, O>; 2]> {
        if self.left < 2 {
            return None;
        }
        let row = self.next;
        self.next.at = row.at.wrapping_byte_offset(2 * self.stride);
        self.left -= 2;
        Some([row, TileRow { at: row.at.wrapping_byte_offset(self.stride), ..row }])
    }
}

/// `U` vectors of outputs, reduced over the rows so far. Rows are as wide as the tile, at least a vector.
#[derive(Clone, Copy)]
pub(super) struct ColumnTile<O: ArgOrder, const U: usize> {
    pub(super) best: [Vec<O>; U],
    /// The row of the best. The caller decides what row numbers count from.
    pub(super) row_of_best: [IndexVec<O>; U],
}

impl<O: ArgOrder, const U: usize> ColumnTile<O, U> {
    /// The first of some rows.
    #[inline(always)]
    pub(super) fn load(order: O, rows: StridedRows<'_, O::Lane>) -> [Vec<O>; U] {
        assert!(rows.count() > 0);
        Self::load_row(order, TileRows::new(rows).next)
    }

    #[inline(always)]
    fn load_row(order: O, row: TileRow<'_, O>) -> [Vec<O>; U] {
        let mut vectors = [order.identity(); U];
        let mut u = 0;
        while u < U {
            vectors[u] = row.vector(order, u);
            u += 1;
        }
        vectors
    }

    /// A tile after the first of some rows, which is the best so far whatever it holds, and has number 0.
    #[inline(always)]
    pub(super) fn new(order: O, rows: StridedRows<'_, O::Lane>) -> Self {
        ColumnTile { best: Self::load(order, rows), row_of_best: [order.simd().splat_index(0); U] }
    }

    /// Whether rows are taken two at a time, so that only the better one is compared with the best so far. For two rows
    /// that is an operation more and a select less, which pays where a select takes several operations, or where narrow
    /// tiles wait for the row before. See docs/tuning.md#columns-two-rows-at-a-time.
    const IN_PAIRS: bool = O::Simd::TUNING.has_few_registers;
    /// The fewest rows that are taken in pairs. See docs/tuning.md#columns-two-rows-at-a-time.
    const MIN_PAIRED_ROWS: usize = if size_of::<O::Lane>() == 1 { 4 } else { 2 };

    /// Reduces some more rows, the first of which has number `before + 1`; if `IN_PAIRS`, [in
    /// pairs](ColumnTile::IN_PAIRS) where that pays. If not `NAN_EXACT`, the answer is right only if `nan_tracker` [is
    /// exact](NanTracker::is_exact) afterwards.
    #[inline(always)]
    pub(super) fn visit<const NAN_EXACT: bool, const IN_PAIRS: bool>(
        &mut self,
        order: O,
        rows: StridedRows<'_, O::Lane>,
        before: u32,
        nan_tracker: &mut NanTracker<O>,
    ) {
        let simd = order.simd();
        // Locals, so that they stay in registers.
        let ColumnTile { mut best, mut row_of_best } = *self;
        let mut row = simd.splat_index(before + 1);
        let mut state = *nan_tracker;
        let mut left = TileRows::<O>::new(rows);
        while const { IN_PAIRS && Self::IN_PAIRS && !NAN_EXACT }
            && rows.count() >= Self::MIN_PAIRED_ROWS
            && let Some([first, second]) = left.take_two()
        {
            for u in 0..U {
                let (new, newer) = (first.vector(order, u), second.vector(order, u));
                state.observe(order, &[new, newer]);
                let row_of_new = simd.sub_mask(order.gt(newer, new), row);
                let new = order.max(newer, new);
                let better = order.gt(new, best[u]);
                best[u] = order.max(new, best[u]);
                row_of_best[u] = simd.select(better, row_of_new, row_of_best[u]);
            }
            row = simd.add(row, simd.splat_index(2));
        }
        while let Some(next) = left.take_one() {
            let new = Self::load_row(order, next);
            if !NAN_EXACT {
                state.observe(order, &new);
            }
            for u in 0..U {
                let better = if NAN_EXACT { order.gt_total_order(new[u], best[u]) } else { order.gt(new[u], best[u]) };
                best[u] = if NAN_EXACT { simd.select(better, new[u], best[u]) } else { order.max(new[u], best[u]) };
                row_of_best[u] = simd.select(better, row, row_of_best[u]);
            }
            row = simd.add(row, simd.splat_index(1));
        }
        *self = ColumnTile { best, row_of_best };
        *nan_tracker = state;
    }

    /// Whether no further row can change what was found: all lanes [are settled](ArgOrder::settled).
    #[inline(always)]
    pub(super) fn is_settled(&self, order: O) -> bool {
        // Counted by hand: the function of an iterator is not always inlined.
        let mut u = 0;
        while u < U && order.are_settled(self.best[u], O::Simd::LANES) {
            u += 1;
        }
        u == U
    }

    /// Writes the row numbers as positions and the best as values, to `width` outputs from `start` on, and tells
    /// whether bits of values are lost.
    #[inline(always)]
    pub(super) fn write(&self, order: O, outputs: &mut TypedOutputs<'_, O::Lane>, start: usize, width: usize) -> bool {
        for_places!(outputs.positions, positions => {
            self.write_positions(order, &mut positions[start..][..width]);
        });
        match &mut outputs.values {
            Some(values) => self.write_values(order, &mut values[start..][..width]),
            None => false,
        }
    }

    /// Writes the row numbers as positions, one for each output of the tile.
    #[inline(always)]
    pub(super) fn write_positions<P: Position>(&self, order: O, positions: &mut [MaybeUninit<P>]) {
        let width = positions.len();
        for (u, rows) in self.row_of_best.iter().enumerate() {
            let positions = &mut positions[start_of::<O>(u, width)..][..O::Simd::LANES];
            write_counts(positions, order.simd().index_array(*rows).as_ref());
        }
    }

    /// Writes the best of each output of the tile, and tells whether bits [are lost](ArgOrder::lost).
    #[inline(always)]
    pub(super) fn write_values(&self, order: O, values: &mut [MaybeUninit<O::Lane>]) -> bool {
        let (width, mut lost) = (values.len(), order.simd().first_n_mask(0));
        for (u, &best) in self.best.iter().enumerate() {
            store(order, best, &mut values[start_of::<O>(u, width)..]);
            lost = order.simd().or(lost, order.lost(best));
        }
        order.simd().movemask(lost) != 0
    }
}

/// Writes the elements that lanes stand for to the first places.
///
/// # Panics
/// If there are fewer places than lanes.
#[inline(always)]
pub(super) fn store<O: ArgOrder>(order: O, lanes: Vec<O>, places: &mut [MaybeUninit<O::Lane>]) {
    let places = &mut places[..O::Simd::LANES];
    // SAFETY: a vector is as many elements, as [`SimdOps`] promises.
    unsafe { places.as_mut_ptr().cast::<Vec<O>>().write_unaligned(order.decode(lanes)) };
}
