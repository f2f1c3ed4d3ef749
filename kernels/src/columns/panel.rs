//! A panel: register tiles side by side, whose state is kept in L1. So columns of any number of rows are read some rows
//! at a time, in long runs, wherever the rows are. Knows nothing of the loops of a call, and of why a panel is as wide
//! as it is.

use super::nan_tracker::NanTracker;
use super::tile::{ColumnTile, PANEL_BLOCK_ROWS, StridedRows, TILE_VECTORS, extent_bytes};
use crate::order::{ArgOrder, LaneElem};
use crate::outputs::Outputs;
use crate::positions::{Position, for_places};
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use core::mem::MaybeUninit;

/// Tiles in a panel: 4 KiB of outputs by vectors of 32 bytes. See docs/tuning.md#streaming_panel_bytes.
pub(super) const PANEL_TILES: usize = 32;

/// Bytes of the outputs of a panel that is streamed: what is kept of it, and what was prefetched, fit in L1. See
/// docs/tuning.md#streaming_panel_bytes.
pub(super) const STREAMING_PANEL_BYTES: usize = 8 << 10;

/// Bytes of the outputs of a panel where hardware prefetchers are left alone: longer runs suit them. The widest of all.
/// See docs/tuning.md#streaming_panel_bytes.
pub const MAX_PANEL_BYTES: usize = 16 << 10;

#[repr(C, align(64))]
pub(super) struct Workspace([MaybeUninit<u8>; 2 * MAX_PANEL_BYTES]);

impl Workspace {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Workspace([const { MaybeUninit::uninit() }; _])
    }

    /// The tiles, none of them written.
    #[inline(always)]
    pub(super) fn tiles<O: ArgOrder, const U: usize>(&mut self) -> &mut [MaybeUninit<ColumnTile<O, U>>] {
        const { assert!(align_of::<ColumnTile<O, U>>() <= 64) };
        let count = size_of::<Workspace>() / size_of::<ColumnTile<O, U>>();
        // SAFETY: the bytes of this buffer are `count` tiles by the division, aligned for them as asserted, and need
        // not be initialised.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}

/// How the rows of a panel are traversed, and what is prefetched meanwhile.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Traversal {
    /// All rows of a tile before the next tile, if they stay in L1 meanwhile: for what is in L2.
    Resident,
    /// Eight rows at a time, tile by tile.
    RowBlocked,
    /// One row at a time, from end to end of the panel.
    Streaming,
}

/// The L1 cache of most cores. See docs/tuning.md#not-measured.
const L1_BYTES: usize = 32 << 10;

/// Tiles side by side, reduced over the rows so far.
///
/// Row numbers are as narrow as the elements. Before they overflow, for 8-bit elements after 255 rows, they are widened
/// into the 32-bit positions.
///
/// # Safety
/// - Of methods that are given rows: each row, as wide as the panel, may be read.
pub(super) struct Panel<'a, O: ArgOrder, const U: usize> {
    order: O,
    tiles: &'a mut [MaybeUninit<ColumnTile<O, U>>],
    /// Positions are written when row numbers are first widened, values in the end.
    outputs: Outputs<'a>,
    /// Rows since row numbers were last widened, and before that. Row numbers count from 1 since then; 0 is no change.
    rows: u32,
    widened: u32,
    has_nan: bool,
}

impl<'a, O: ArgOrder, const U: usize> Panel<'a, O, U> {
    const TILE_WIDTH: usize = U * O::Simd::LANES;

    /// Before the first row. There is a tile for each `TILE_WIDTH` of the positions, and there are at least as many
    /// positions as one tile has; for tiles of two vectors, more than one vector has.
    #[inline(always)]
    pub(super) fn new(order: O, tiles: &'a mut [MaybeUninit<ColumnTile<O, U>>], outputs: Outputs<'a>) -> Self {
        let tiles = &mut tiles[..outputs.len().div_ceil(Self::TILE_WIDTH)];
        Panel { order, tiles, outputs, rows: 0, widened: 0, has_nan: false }
    }

    /// The outputs of each tile. A constant, which makes the loop much faster, but for a single tile of two vectors: it
    /// may have fewer, and more than a vector.
    #[inline(always)]
    fn width(&self) -> usize {
        if const { U == 2 } { Self::TILE_WIDTH.min(self.outputs.len()) } else { Self::TILE_WIDTH }
    }

    /// The first output of a tile. The last tile overlaps the previous one where the width is no multiple.
    #[inline(always)]
    fn start_of(&self, tile: usize) -> usize {
        (tile * Self::TILE_WIDTH).min(self.outputs.len() - self.width())
    }

    /// Reduces some more rows, and prefetches what is `prefetch_distance` elements further on. Row numbers go on from
    /// segment to segment.
    #[inline(always)]
    pub(super) unsafe fn rows(
        &mut self,
        rows: StridedRows<O::Lane>,
        prefetch_distance: Option<isize>,
        traversal: Traversal,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            if const { U == TILE_VECTORS } {
                self.visit_rows(rows, prefetch_distance, traversal);
            } else {
                // Outlined: two strategies share it.
                self.order.simd().call_outlined(
                    #[inline(always)]
                    move || self.visit_rows(rows, prefetch_distance, traversal),
                );
            }
        }
    }

    /// [`Panel::rows`], inlined.
    #[inline(always)]
    unsafe fn visit_rows(
        &mut self,
        mut rows: StridedRows<O::Lane>,
        prefetch_distance: Option<isize>,
        traversal: Traversal,
    ) {
        let is_streaming = const { U == TILE_VECTORS } && traversal == Traversal::Streaming;
        while rows.count > 0 {
            if self.rows == O::Simd::MAX_INDEX {
                self.widen_indices();
            }
            // SAFETY: the caller's promise.
            if const { U == TILE_VECTORS } && is_streaming && unsafe { self.streaming_pass(rows, prefetch_distance) } {
                self.rows += 1;
                rows = rows.skip(1);
                continue;
            }
            // A single tile, or one whose rows stay in L1, need not make way for the next tile after eight rows: its
            // state stays in registers.
            let is_short = extent_bytes::<O::Lane>(rows.count, rows.stride) <= L1_BYTES / 2;
            let stays = traversal == Traversal::Resident && (self.tiles.len() == 1 || is_short);
            let most = match (stays, is_streaming) {
                (true, _) => usize::MAX,
                (_, true) => 1,
                _ => PANEL_BLOCK_ROWS,
            };
            let some = rows.count.min(most).min((O::Simd::MAX_INDEX - self.rows) as usize);
            for tile in 0..self.tiles.len() {
                let these = StridedRows { count: some, ..rows.at(self.start_of(tile)) };
                these.prefetch(self.width(), prefetch_distance);
                // SAFETY: the caller's promise.
                unsafe { self.visit(tile, these) };
            }
            self.rows += some as u32;
            rows = rows.skip(some);
        }
    }

    /// Reduces the first of some rows, from end to end of the panel. False if it was not read or has a NaN: then it has
    /// to be [visited](Panel::visit), which is harmless after this, because comparisons are strict.
    ///
    /// This loop is separate, because what a visit does around its rows costs more than a single row.
    #[inline(always)]
    unsafe fn streaming_pass(&mut self, rows: StridedRows<O::Lane>, prefetch_distance: Option<isize>) -> bool {
        let (order, simd) = (self.order, self.order.simd());
        if self.has_nan {
            return false;
        }
        let (is_first, number) = (self.rows + self.widened == 0, simd.splat_index(self.rows + 1));
        let mut nans = simd.first_n_mask(0);
        for tile in 0..self.tiles.len() {
            let row = StridedRows { count: 1, ..rows.at(self.start_of(tile)) };
            if let Some(prefetch_distance) = prefetch_distance {
                row.hint
                    .prefetch(row.first.wrapping_offset(prefetch_distance), Self::TILE_WIDTH * size_of::<O::Lane>());
            }
            // SAFETY: the caller's promise.
            let new = unsafe { ColumnTile::<O, U>::load(order, row.first, Self::TILE_WIDTH) };
            if O::Lane::HAS_NAN {
                nans = simd.or_nans(nans, &new);
            }
            if is_first {
                self.tiles[tile].write(ColumnTile { best: new, row_of_best: [simd.splat_index(0); U] });
                continue;
            }
            // SAFETY: the first row has written the tile.
            let tile = unsafe { self.tiles[tile].assume_init_mut() };
            for ((best, row_of_best), &new) in tile.best.iter_mut().zip(&mut tile.row_of_best).zip(&new) {
                *row_of_best = simd.select(order.gt(new, *best), number, *row_of_best);
                *best = order.max(new, *best);
            }
        }
        !O::Lane::HAS_NAN || simd.movemask(nans) == 0
    }

    /// Reduces some rows, of those that are its own, into one tile, which was written unless they are the first rows.
    #[inline(always)]
    unsafe fn visit(&mut self, tile: usize, rows: StridedRows<O::Lane>) {
        let (order, width) = (self.order, self.width());
        let is_first = self.rows + self.widened == 0;
        // SAFETY: the caller's promise, and the first rows have written the tile.
        let (before, rows, row) = unsafe {
            match is_first {
                true => (ColumnTile::new(order, rows.first, width), rows.skip(1), 1),
                false => (self.tiles[tile].assume_init(), rows, self.rows),
            }
        };
        let (mut after, mut nan_tracker) = (before, NanTracker::new(order, &before.best));
        if !O::Lane::HAS_NAN || !self.has_nan {
            // SAFETY: the caller's promise.
            unsafe { after.visit::<false, true>(order, rows, width, row, &mut nan_tracker) };
            if nan_tracker.is_exact(order) {
                self.tiles[tile].write(after);
                return;
            }
            self.has_nan = true;
            after = before;
        }
        // SAFETY: the caller's promise.
        unsafe { after.visit::<true, true>(order, rows, width, row, &mut nan_tracker) };
        self.tiles[tile].write(after);
    }

    /// Writes what was found in all rows, and tells whether bits of values are lost.
    #[inline(always)]
    pub(super) fn finish(&mut self) -> bool {
        self.widen_indices();
        let (width, mut has_lost) = (self.width(), false);
        for n in 0..self.tiles.len() {
            let start = self.start_of(n);
            // SAFETY: the first rows have written every tile; values are of elements.
            let (tile, values) = unsafe { (self.tiles[n].assume_init_ref(), self.outputs.values::<O::Lane>()) };
            let Some(values) = values else { break };
            has_lost |= tile.write_values(self.order, &mut values[start..][..width]);
        }
        has_lost
    }

    #[inline(always)]
    fn widen_indices(&mut self) {
        let simd = self.order.simd();
        for tile in 0..self.tiles.len() {
            let (start, width) = (self.start_of(tile), self.width());
            // SAFETY: the first rows, which come before, have written every tile.
            let tile = unsafe { self.tiles[tile].assume_init_mut() };
            for u in 0..U {
                let (rows, widened) = (simd.index_array(tile.row_of_best[u]), self.widened);
                let (rows, at) = (rows.as_ref(), start + ColumnTile::<O, U>::start_of(u, width));
                for_places!(self.outputs.positions, positions => {
                    widen(simd, rows, &mut positions[at..][..O::Simd::LANES], widened);
                });
            }
            tile.row_of_best = [simd.splat_index(0); U];
        }
        self.widened += self.rows;
        self.rows = 0;
    }
}

/// [`Panel::widen_indices`] of some positions. Outlined, to have one copy for each width of lanes.
#[inline(always)]
fn widen<S: Simd, C: Copy + Into<u64>, P: Position>(
    simd: S,
    rows: &[C],
    positions: &mut [MaybeUninit<P>],
    widened: u32,
) {
    // SAFETY: nothing is required.
    unsafe {
        simd.call_outlined(
            #[inline(always)]
            move || {
                for (position, &row) in positions.iter_mut().zip(rows) {
                    let row = row.into() as u32;
                    let number = P::of(widened.wrapping_add(row).wrapping_sub(1).into());
                    if widened == 0 {
                        // No change means that the first row is still the best.
                        position.write(if row == 0 { P::of(0) } else { number });
                    } else if row != 0 {
                        position.write(number);
                    }
                }
            },
        );
    }
}
