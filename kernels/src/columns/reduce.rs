//! One pass: a row of outputs is cut into register tiles, and each is reduced over all rows before the next one. All
//! three strategies for columns share this. Knows nothing of the loops of a call, and of panels.
//! Once a NaN was found, tiles are reduced by exact comparisons.

use super::nan_tracker::NanTracker;
use super::row_groups::{has_row_blocked_passes, has_row_groups, is_row_blocked};
use super::strided_rows::{OutputRows, StridedRows};
use super::tile::{ColumnTile, TILE_VECTORS};
use crate::memory::row_prefetch::PREFETCH_DISTANCE_BYTES;
use crate::order::{ArgOrder, LaneElem};
use crate::outputs::TypedOutputs;
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use core::mem::MaybeUninit;

/// Answers rows of outputs, each at least a vector of them, by one pass over the rows of elements of each: one or more,
/// and at most as many as a lane can count. Prefetches what is `prefetch_distance` elements further on. If
/// `is_row_blocked`, rows [are many](is_row_blocked), and outputs more than a vector. `state` says whether to expect
/// NaN, and what is returned, whether there was one.
#[inline(always)]
pub(super) fn reduce<O: ArgOrder>(
    order: O,
    rows: OutputRows<'_, O::Lane>,
    mut outputs: TypedOutputs<'_, O::Lane>,
    prefetch_distance: Option<isize>,
    is_row_blocked: bool,
    state: ColumnState,
) -> ColumnState {
    let simd = order.simd();
    let is_whole = rows.width().is_multiple_of(TILE_VECTORS * O::Simd::LANES);
    let is_plain = const { has_tiles::<O>() } && is_whole && prefetch_distance.is_none() && !is_row_blocked;
    let pass = OnePass { order, rows, prefetch_distance };
    // Outlined, because strategies share it. Three functions: to decide at each tile what is to be done would slow few
    // rows down.
    if const { has_row_blocked_passes::<O>() } && is_row_blocked {
        simd.outlined(
            #[inline(always)]
            move || pass.reduce::<true>(&mut outputs, state),
        )
    } else if const { has_tiles::<O>() }
        && is_plain
        && let Some(positions) = outputs.only_positions()
    {
        simd.outlined(
            #[inline(always)]
            move || pass.reduce_whole_tiles(positions, state),
        )
    } else {
        simd.outlined(
            #[inline(always)]
            move || pass.reduce::<false>(&mut outputs, state),
        )
    }
}

/// As [`reduce`], without prefetching, and by one function alone.
#[inline(always)]
pub(super) fn reduce_any<O: ArgOrder>(
    order: O,
    rows: OutputRows<'_, O::Lane>,
    mut outputs: TypedOutputs<'_, O::Lane>,
) -> ColumnState {
    OnePass { order, rows, prefetch_distance: None }.reduce::<false>(&mut outputs, ColumnState::default())
}

/// What [`reduce`] is given.
#[derive(Clone, Copy)]
struct OnePass<'r, O: ArgOrder> {
    order: O,
    rows: OutputRows<'r, O::Lane>,
    prefetch_distance: Option<isize>,
}

impl<O: ArgOrder> OnePass<'_, O> {
    /// Where rows of outputs are whole tiles, and nothing but their positions is wanted, as 32 bits.
    #[inline(always)]
    fn reduce_whole_tiles(self, mut positions: &mut [MaybeUninit<u32>], mut state: ColumnState) -> ColumnState {
        let OnePass { order, rows: output_rows, .. } = self;
        let tile_width = TILE_VECTORS * O::Simd::LANES;
        for n in 0..output_rows.len() {
            let (rows, mut start) = (output_rows.get(n), 0);
            while rows.contains(start, tile_width) {
                let (places, others) = positions.split_at_mut(tile_width);
                let tile_rows = rows.piece(start, tile_width);
                let tile = reduce_tile::<O, TILE_VECTORS, 1, false>(order, [tile_rows], usize::MAX, &mut state);
                tile.write_positions(order, places);
                positions = others;
                start += tile_width;
            }
        }
        state
    }

    #[inline(always)]
    fn reduce<const ROW_BLOCKED: bool>(
        self,
        outputs: &mut TypedOutputs<'_, O::Lane>,
        mut state: ColumnState,
    ) -> ColumnState {
        for n in 0..self.rows.len() {
            if const { has_tiles::<O>() } {
                self.reduce_row::<TILE_VECTORS, ROW_BLOCKED>(n, outputs, &mut state);
            } else {
                self.reduce_row::<1, ROW_BLOCKED>(n, outputs, &mut state);
            }
        }
        state
    }

    /// Cuts row `n` of the outputs into tiles of up to `U` vectors. If `ROW_BLOCKED`, rows that are many are taken in
    /// groups.
    #[inline(always)]
    fn reduce_row<const U: usize, const ROW_BLOCKED: bool>(
        self,
        n: usize,
        outputs: &mut TypedOutputs<'_, O::Lane>,
        state: &mut ColumnState,
    ) {
        let (rows, lanes) = (self.rows.get(n), O::Simd::LANES);
        let width = rows.width();
        let first = n * width;
        assert!(width >= lanes);
        let mut start = 0;
        // Most tiles are in a loop of their own, where the compiler knows their width: of few rows, that is much
        // faster.
        while !ROW_BLOCKED && rows.contains(start, U * lanes) {
            self.answer_tile::<U, ROW_BLOCKED>(rows.piece(start, U * lanes), outputs, first + start, state);
            start += U * lanes;
        }
        // The last tile overlaps the previous one: those outputs are answered twice, and the same. What is left
        // goes into one tile if it fills more than half of it, because vectors side by side need not wait for each
        // other.
        while const { U > 1 } && width - start > U / 2 * lanes {
            let at = start.min(width.saturating_sub(U * lanes));
            let tile_rows = rows.piece(at, U * lanes);
            self.answer_tile::<U, ROW_BLOCKED>(tile_rows, outputs, first + at, state);
            start = at + tile_rows.width();
            if const { !ROW_BLOCKED } {
                return;
            }
        }
        if const { U > 1 } && width - start > if ROW_BLOCKED { 0 } else { lanes } {
            let at = width.saturating_sub(2 * lanes);
            self.answer_tile::<2, ROW_BLOCKED>(rows.piece(at, 2 * lanes), outputs, first + at, state);
        } else if !ROW_BLOCKED && start < width {
            let at = width - lanes;
            self.answer_tile::<1, ROW_BLOCKED>(rows.piece(at, lanes), outputs, first + at, state);
        }
    }

    /// Answers as many outputs as rows are wide, at least a vector, from output `first` on, by one tile of `U` vectors.
    #[inline(always)]
    fn answer_tile<const U: usize, const ROW_BLOCKED: bool>(
        self,
        rows: StridedRows<'_, O::Lane>,
        outputs: &mut TypedOutputs<'_, O::Lane>,
        first: usize,
        state: &mut ColumnState,
    ) {
        let (order, width) = (self.order, rows.width());
        rows.prefetch(self.prefetch_distance);
        let tile = reduce_tile::<O, U, 1, ROW_BLOCKED>(order, [rows], usize::MAX, state);
        state.has_lost |= if const { ROW_BLOCKED } {
            // One copy is enough: many rows take longer than a call.
            order.simd().outlined(
                #[inline(always)]
                move || tile.write(order, outputs, first, width),
            )
        } else {
            tile.write(order, outputs, first, width)
        };
    }
}

/// Whether a tile is more than one vector. Of arrays, which the portable ISA has for vectors, the compiler makes better
/// code one at a time. See docs/tuning.md#tile_vectors.
#[inline(always)]
pub(super) const fn has_tiles<O: ArgOrder>() -> bool {
    O::Simd::TUNING.has_instructions
}

/// A tile over some rows and then some others, at least a vector wide. There is at least one of the first rows, and all
/// together are at most one more than a lane can count.
///
/// Unless `most` is `usize::MAX`, the rows are contiguous, are taken `most` at a time, and what comes later is
/// prefetched meanwhile. `state` is as for [`reduce`], `ROW_BLOCKED` as for
/// [`ColumnTile::reduce_rows`].
#[inline(always)]
pub(super) fn reduce_tile<O: ArgOrder, const U: usize, const P: usize, const ROW_BLOCKED: bool>(
    order: O,
    rows: [StridedRows<'_, O::Lane>; P],
    most: usize,
    state: &mut ColumnState,
) -> ColumnTile<O, U> {
    if !O::Lane::HAS_NAN || !state.has_nan {
        let (tile, nan_tracker) = ColumnTile::reduce_rows::<false, P, ROW_BLOCKED>(order, rows, most);
        if nan_tracker.is_exact(order) {
            return tile;
        }
        state.has_nan = true;
    }
    let exact = reduce_exactly::<O, U, P>(order, rows);
    // Copied vector by vector. Otherwise, the tile above would not stay in registers, because the call writes to
    // memory.
    let mut tile = ColumnTile { best: [order.identity(); U], row_of_best: [order.simd().splat_index(0); U] };
    for u in 0..U {
        tile.best[u] = exact.best[u];
        tile.row_of_best[u] = exact.row_of_best[u];
    }
    tile
}

impl<O: ArgOrder, const U: usize> ColumnTile<O, U> {
    /// A tile over some rows, then some others. If `ROW_BLOCKED`, the first of them are taken in groups, where they are
    /// many and nothing is prefetched. If not `NAN_EXACT`, the answer is right only if what was seen [is
    /// exact](NanTracker::is_exact).
    #[inline(always)]
    fn reduce_rows<const NAN_EXACT: bool, const P: usize, const ROW_BLOCKED: bool>(
        order: O,
        all_rows: [StridedRows<'_, O::Lane>; P],
        most: usize,
    ) -> (Self, NanTracker<O>) {
        let mut tile = Self::new(order, all_rows[0]);
        let (mut before, mut nan_tracker) = (0, NanTracker::new(order, &tile.best));
        for (n, rows) in all_rows.into_iter().enumerate() {
            let mut rows = if n == 0 { rows.split_at(1).1 } else { rows };
            if const { ROW_BLOCKED && has_row_groups::<O>() }
                && n == 0
                && most == usize::MAX
                && is_row_blocked::<O>(all_rows[0].count())
            {
                let count = rows.count();
                rows = tile.visit_groups(order, rows, &mut nan_tracker);
                before = (count - rows.count()) as u32;
            }
            loop {
                let (these, others) = rows.split_at(rows.count().min(most));
                if most < usize::MAX {
                    let prefetch_distance = (PREFETCH_DISTANCE_BYTES / size_of::<O::Lane>()) as isize;
                    these.prefetch(Some(prefetch_distance * rows.stride().signum()));
                }
                // Row groups leave few rows: no pairs.
                match const { ROW_BLOCKED && P == 1 } {
                    true => tile.visit::<NAN_EXACT, false>(order, these, before, &mut nan_tracker),
                    false => tile.visit::<NAN_EXACT, true>(order, these, before, &mut nan_tracker),
                }
                before += these.count() as u32;
                rows = others;
                if rows.count() == 0 {
                    break;
                }
            }
        }
        (tile, nan_tracker)
    }
}

/// [`ColumnTile::reduce_rows`] by exact comparisons. Outlined, because NaN is rare.
#[inline(always)]
fn reduce_exactly<O: ArgOrder, const U: usize, const P: usize>(
    order: O,
    rows: [StridedRows<'_, O::Lane>; P],
) -> ColumnTile<O, U> {
    order.simd().outlined(
        #[inline(always)]
        move || ColumnTile::reduce_rows::<true, P, false>(order, rows, usize::MAX).0,
    )
}

/// What the tiles so far were like.
#[derive(Clone, Copy, Default)]
pub(super) struct ColumnState {
    has_nan: bool,
    /// Whether bits of values [are lost](ArgOrder::lost).
    pub(super) has_lost: bool,
}
