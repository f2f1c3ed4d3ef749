//! One pass: a row of outputs is cut into register tiles, and each is reduced over all rows before the next one. All
//! three strategies for columns share this. Knows nothing of the loops of a call, and of panels.
//! Once a NaN was found, tiles are reduced by exact comparisons.

use super::nan_tracker::NanTracker;
use super::row_blocks::{has_row_blocks, is_row_blocked};
use super::tile::{ColumnTile, StridedRows, TILE_VECTORS};
use crate::memory::row_prefetch::PREFETCH_DISTANCE_BYTES;
use crate::order::{ArgOrder, LaneElem};
use crate::outputs::Outputs;
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use core::mem::MaybeUninit;

#[derive(Clone, Copy)]
pub(super) struct OutputRows {
    pub(super) count: usize,
    /// Of each.
    pub(super) width: usize,
    /// From the elements of one to those of the next.
    pub(super) step: isize,
}

/// Answers rows of outputs, each at least a vector of them, by one pass over the rows of elements of each; `rows` are
/// those of the first. Prefetches what is `prefetch_distance` elements further on. If `is_row_blocked`, rows [are
/// many](is_row_blocked), and outputs more than a vector. `state` says whether to expect NaN, and what is returned,
/// whether there was one.
///
/// # Safety
/// - Each row of elements, as wide as a row of outputs, may be read. There is at least one, and at most as many as a
///   lane can count. There are as many outputs as those rows have, and values are of elements.
#[inline(always)]
pub(super) unsafe fn reduce<O: ArgOrder>(
    order: O,
    (rows, output_rows): (StridedRows<O::Lane>, OutputRows),
    mut outputs: Outputs<'_>,
    prefetch_distance: Option<isize>,
    is_row_blocked: bool,
    state: ColumnState,
) -> ColumnState {
    let simd = order.simd();
    let is_whole = output_rows.width.is_multiple_of(TILE_VECTORS * O::Simd::LANES);
    let is_plain = const { has_tiles::<O>() } && is_whole && prefetch_distance.is_none() && !is_row_blocked;
    let pass = OnePass { order, rows, output_rows, prefetch_distance };
    // Outlined, because strategies share it. Three functions: to decide at each tile what is to be done would slow few
    // rows down.
    // SAFETY: the caller's promise.
    unsafe {
        if const { has_row_blocks::<O>() } && is_row_blocked {
            simd.call_outlined(
                #[inline(always)]
                move || pass.reduce::<true>(&mut outputs, state),
            )
        } else if const { has_tiles::<O>() }
            && is_plain
            && let Some(positions) = outputs.only_positions()
        {
            simd.call_outlined(
                #[inline(always)]
                move || pass.reduce_whole_tiles(positions, state),
            )
        } else {
            simd.call_outlined(
                #[inline(always)]
                move || pass.reduce::<false>(&mut outputs, state),
            )
        }
    }
}

/// What [`reduce`] is given. Its methods ask of their callers what that does.
#[derive(Clone, Copy)]
struct OnePass<O: ArgOrder> {
    order: O,
    rows: StridedRows<O::Lane>,
    output_rows: OutputRows,
    prefetch_distance: Option<isize>,
}

impl<O: ArgOrder> OnePass<O> {
    /// Where rows of outputs are whole tiles, and nothing but their positions is wanted, as 32 bits.
    #[inline(always)]
    unsafe fn reduce_whole_tiles(self, mut positions: &mut [MaybeUninit<u32>], mut state: ColumnState) -> ColumnState {
        let OnePass { order, mut rows, output_rows, .. } = self;
        let tile_width = TILE_VECTORS * O::Simd::LANES;
        for _ in 0..output_rows.count {
            let mut start = 0;
            while start < output_rows.width {
                let (places, others) = positions.split_at_mut(tile_width);
                // SAFETY: the caller's promise: the tile lies within the rows.
                let tile = unsafe {
                    reduce_tile::<O, TILE_VECTORS, 1, false>(
                        order,
                        [rows.at(start)],
                        tile_width,
                        usize::MAX,
                        &mut state,
                    )
                };
                tile.write_positions(order, places);
                positions = others;
                start += tile_width;
            }
            rows.first = rows.first.wrapping_offset(output_rows.step);
        }
        state
    }

    #[inline(always)]
    unsafe fn reduce<const ROW_BLOCKED: bool>(
        mut self,
        outputs: &mut Outputs<'_>,
        mut state: ColumnState,
    ) -> ColumnState {
        for n in 0..self.output_rows.count {
            let first = n * self.output_rows.width;
            // SAFETY: the caller's promise.
            unsafe {
                if const { has_tiles::<O>() } {
                    self.reduce_row::<TILE_VECTORS, ROW_BLOCKED>(outputs, first, &mut state);
                } else {
                    self.reduce_row::<1, ROW_BLOCKED>(outputs, first, &mut state);
                }
            }
            self.rows.first = self.rows.first.wrapping_offset(self.output_rows.step);
        }
        state
    }

    /// Cuts a row of outputs, those from `first` on, into tiles of up to `U` vectors. If `ROW_BLOCKED`, rows that are
    /// many are taken in row blocks.
    #[inline(always)]
    unsafe fn reduce_row<const U: usize, const ROW_BLOCKED: bool>(
        self,
        outputs: &mut Outputs<'_>,
        first: usize,
        state: &mut ColumnState,
    ) {
        let (width, lanes) = (self.output_rows.width, O::Simd::LANES);
        assert!(width >= lanes);
        let mut start = 0;
        // SAFETY: the caller's promise; each tile lies within the rows.
        unsafe {
            // Most tiles are in a loop of their own, where the compiler knows their width: of few rows, that is much
            // faster.
            while !ROW_BLOCKED && start + U * lanes <= width {
                self.reduce_part::<U, ROW_BLOCKED>(outputs, first, start, U * lanes, state);
                start += U * lanes;
            }
            // The last tile overlaps the previous one: those outputs are answered twice, and the same. What is left
            // goes into one tile if it fills more than half of it, because vectors side by side need not wait for each
            // other.
            while const { U > 1 } && width - start > U / 2 * lanes {
                let at = start.min(width.saturating_sub(U * lanes));
                let tile_width = (width - at).min(U * lanes);
                self.reduce_part::<U, ROW_BLOCKED>(outputs, first, at, tile_width, state);
                start = at + tile_width;
                if const { !ROW_BLOCKED } {
                    return;
                }
            }
            if const { U > 1 } && width - start > if ROW_BLOCKED { 0 } else { lanes } {
                let at = width.saturating_sub(2 * lanes);
                self.reduce_part::<2, ROW_BLOCKED>(outputs, first, at, width - at, state);
            } else if !ROW_BLOCKED && start < width {
                self.reduce_part::<1, ROW_BLOCKED>(outputs, first, width - lanes, lanes, state);
            }
        }
    }

    /// Answers the outputs from `start` on, at least a vector of them, by one tile of `U` vectors; the row begins with
    /// output `first`.
    #[inline(always)]
    unsafe fn reduce_part<const U: usize, const ROW_BLOCKED: bool>(
        self,
        outputs: &mut Outputs<'_>,
        first: usize,
        start: usize,
        width: usize,
        state: &mut ColumnState,
    ) {
        let (order, rows) = (self.order, self.rows.at(start));
        rows.prefetch(width, self.prefetch_distance);
        // SAFETY: the caller's promise.
        unsafe {
            let tile = reduce_tile::<O, U, 1, ROW_BLOCKED>(order, [rows], width, usize::MAX, state);
            if const { ROW_BLOCKED } {
                // One copy is enough: many rows take longer than a call.
                order.simd().call_outlined(
                    #[inline(always)]
                    move || tile.write(order, rows, outputs, first + start, width),
                );
            } else {
                tile.write(order, rows, outputs, first + start, width);
            }
        }
    }
}

/// Whether a tile is more than one vector. Of arrays, which the portable ISA has for vectors, the compiler makes better
/// code one at a time. See docs/tuning.md#tile_vectors.
#[inline(always)]
pub(super) const fn has_tiles<O: ArgOrder>() -> bool {
    O::Simd::TUNING.specializes
}

/// A tile of `width` outputs, at least a vector of them, over some rows and then some others.
///
/// Unless `most` is `usize::MAX`, the rows are contiguous, are taken `most` at a time, and what comes later is
/// prefetched meanwhile. `state` is as for [`reduce`], `ROW_BLOCKED` as for
/// [`ColumnTile::reduce_rows`].
///
/// # Safety
/// - Each row, `width` wide, may be read. There is at least one of the first rows, and all together are at most one
///   more than a lane can count.
#[inline(always)]
pub(super) unsafe fn reduce_tile<O: ArgOrder, const U: usize, const P: usize, const ROW_BLOCKED: bool>(
    order: O,
    parts: [StridedRows<O::Lane>; P],
    width: usize,
    most: usize,
    state: &mut ColumnState,
) -> ColumnTile<O, U> {
    // SAFETY: the caller's promise.
    unsafe {
        if !O::Lane::HAS_NAN || !state.has_nan {
            let (tile, nan_tracker) = ColumnTile::reduce_rows::<false, P, ROW_BLOCKED>(order, parts, width, most);
            if nan_tracker.is_exact(order) {
                return tile;
            }
            state.has_nan = true;
        }
        let exact = reduce_exactly::<O, U, P>(order, parts, width);
        // Copied vector by vector. Otherwise, the tile above would not stay in registers, because the call writes to
        // memory.
        let mut tile = ColumnTile { best: [order.identity(); U], row_of_best: [order.simd().splat_index(0); U] };
        for u in 0..U {
            tile.best[u] = exact.best[u];
            tile.row_of_best[u] = exact.row_of_best[u];
        }
        tile
    }
}

impl<O: ArgOrder, const U: usize> ColumnTile<O, U> {
    /// A tile over some rows, then some others. If `ROW_BLOCKED`, the first of them are taken in row blocks, where they
    /// are many and nothing is prefetched. If not `NAN_EXACT`, the answer is right only if what was seen [is
    /// exact](NanTracker::is_exact).
    ///
    /// # Safety
    /// - As for [`reduce_tile`].
    #[inline(always)]
    pub(super) unsafe fn reduce_rows<const NAN_EXACT: bool, const P: usize, const ROW_BLOCKED: bool>(
        order: O,
        parts: [StridedRows<O::Lane>; P],
        width: usize,
        most: usize,
    ) -> (Self, NanTracker<O>) {
        // SAFETY: the caller's promise.
        let mut tile = unsafe { Self::new(order, parts[0].first, width) };
        let (mut before, mut nan_tracker) = (0, NanTracker::new(order, &tile.best));
        for (part, rows) in parts.into_iter().enumerate() {
            let mut rows = if part == 0 { rows.skip(1) } else { rows };
            if const { ROW_BLOCKED && has_row_blocks::<O>() }
                && part == 0
                && most == usize::MAX
                && is_row_blocked::<O>(parts[0].count)
            {
                let all_rows = rows.count;
                // SAFETY: the caller's promise.
                rows = unsafe { tile.visit_blocks(order, rows, width, &mut nan_tracker) };
                before = (all_rows - rows.count) as u32;
            }
            loop {
                let count = rows.count.min(most);
                let these = StridedRows { count, ..rows };
                if most < usize::MAX {
                    let prefetch_distance = (PREFETCH_DISTANCE_BYTES / size_of::<O::Lane>()) as isize;
                    these.prefetch(width, Some(prefetch_distance * rows.stride.signum()));
                }
                // SAFETY: the caller's promise.
                unsafe {
                    // Row blocks leave few rows: no pairs.
                    match const { ROW_BLOCKED && P == 1 } {
                        true => tile.visit::<NAN_EXACT, false>(order, these, width, before, &mut nan_tracker),
                        false => tile.visit::<NAN_EXACT, true>(order, these, width, before, &mut nan_tracker),
                    }
                }
                before += count as u32;
                rows = rows.skip(count);
                if rows.count == 0 {
                    break;
                }
            }
        }
        (tile, nan_tracker)
    }
}

/// The exact way, outlined, because NaN is rare. It asks of its callers what [`reduce_tile`] does.
#[inline(always)]
unsafe fn reduce_exactly<O: ArgOrder, const U: usize, const P: usize>(
    order: O,
    parts: [StridedRows<O::Lane>; P],
    width: usize,
) -> ColumnTile<O, U> {
    // SAFETY: the caller's promise.
    unsafe {
        order.simd().call_outlined(
            #[inline(always)]
            move || ColumnTile::reduce_rows::<true, P, false>(order, parts, width, usize::MAX).0,
        )
    }
}

/// What the tiles so far were like.
#[derive(Clone, Copy, Default)]
pub(super) struct ColumnState {
    has_nan: bool,
    /// Whether bits of values [are lost](ArgOrder::lost), of those that [`reduce`] did not write.
    pub(super) has_lost: bool,
}
