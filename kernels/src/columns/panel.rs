//! A panel: register tiles side by side, whose state is kept in L1. So columns of any number of rows are read some rows
//! at a time, in long runs, wherever the rows are. Knows nothing of the loops of a call, and of why a panel is as wide
//! as it is.

use super::nan_tracker::NanTracker;
use super::strided_rows::StridedRows;
use super::tile::{ColumnTile, TILE_VECTORS, start_of};
use crate::order::{ArgOrder, LaneElem};
use crate::outputs::TypedOutputs;
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

/// Rows in a group, in a panel: as many streams as most hardware prefetchers follow. Not measured.
pub(super) const PANEL_GROUP_ROWS: usize = 8;

/// Room for the tiles of some panels.
#[repr(C, align(64))]
pub(super) struct Workspace([MaybeUninit<u8>; 2 * MAX_PANEL_BYTES]);

impl Workspace {
    #[inline(always)]
    pub(super) const fn new() -> Self {
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

/// The L1 cache of most cores: rows that span half of it are answered tile by tile. Not measured.
const L1_BYTES: usize = 32 << 10;

/// Tiles side by side, reduced over the rows so far.
///
/// Row numbers are as narrow as the elements. Before they overflow, for 8-bit elements after 255 rows, they are widened
/// into the 32-bit positions.
pub(super) struct Panel<'a, O: ArgOrder, const U: usize> {
    order: O,
    tiles: Tiles<'a, O, U>,
    /// Positions are written when row numbers are first widened, values in the end.
    outputs: TypedOutputs<'a, O::Lane>,
    has_nan: bool,
    /// After how many rows to look next whether it is settled.
    next_look: u32,
    is_settled: bool,
}

/// After how many rows it is looked first whether a panel is settled, and then whenever they have doubled. See
/// docs/tuning.md#early_end_bytes.
const FIRST_LOOK_ROWS: u32 = 32;

/// The tiles of a panel. The first rows write all of them.
struct Tiles<'a, O: ArgOrder, const U: usize> {
    tiles: &'a mut [MaybeUninit<ColumnTile<O, U>>],
    /// Rows since row numbers were last widened, and before that. Row numbers count from 1 since then; 0 is no change.
    rows: u32,
    widened: u32,
}

/// All tiles of a panel.
enum TilesView<'t, T> {
    New(&'t mut [MaybeUninit<T>]),
    /// By some rows.
    Written(&'t mut [T]),
}

impl<O: ArgOrder, const U: usize> Tiles<'_, O, U> {
    #[inline(always)]
    fn view(&mut self) -> TilesView<'_, ColumnTile<O, U>> {
        match self.all_rows() {
            0 => TilesView::New(self.tiles),
            // SAFETY: there were rows, and rows are counted only after every tile is written.
            _ => TilesView::Written(unsafe { &mut *(&raw mut *self.tiles as *mut [ColumnTile<O, U>]) }),
        }
    }

    /// All rows so far.
    #[inline(always)]
    fn all_rows(&self) -> u32 {
        self.rows + self.widened
    }

    /// Counts some more rows.
    ///
    /// # Safety
    /// - Every tile was written.
    #[inline(always)]
    unsafe fn add_rows(&mut self, rows: u32) {
        self.rows += rows;
    }
}

impl<'a, O: ArgOrder, const U: usize> Panel<'a, O, U> {
    const TILE_WIDTH: usize = U * O::Simd::LANES;

    /// Before the first row. There is a tile for each `TILE_WIDTH` of the positions, and there are at least as many
    /// positions as one tile has; for tiles of two vectors, more than one vector has.
    #[inline(always)]
    pub(super) fn new(
        order: O,
        tiles: &'a mut [MaybeUninit<ColumnTile<O, U>>],
        outputs: TypedOutputs<'a, O::Lane>,
    ) -> Self {
        let tiles = &mut tiles[..outputs.len().div_ceil(Self::TILE_WIDTH)];
        let tiles = Tiles { tiles, rows: 0, widened: 0 };
        Panel { order, tiles, outputs, has_nan: false, next_look: FIRST_LOOK_ROWS, is_settled: false }
    }

    /// Whether no further row can change an answer. Then none is read any more.
    #[inline(always)]
    pub(super) fn is_settled(&self) -> bool {
        O::MAY_EXIT_EARLY && self.is_settled
    }

    /// Looks whether it is settled, if it is time to.
    #[inline(always)]
    fn look(&mut self) {
        let (order, rows) = (self.order, self.tiles.all_rows());
        if !O::MAY_EXIT_EARLY || rows < self.next_look {
            return;
        }
        self.next_look = rows.saturating_mul(2);
        if O::Lane::HAS_NAN && !self.has_nan {
            return;
        }
        if let TilesView::Written(tiles) = self.tiles.view() {
            let mut settled = 0;
            while settled < tiles.len() && tiles[settled].is_settled(order) {
                settled += 1;
            }
            self.is_settled = settled == tiles.len();
        }
    }

    /// The outputs of each tile. A constant, which makes the loop much faster, but for a single tile of two vectors: it
    /// may have fewer, and more than a vector.
    #[inline(always)]
    fn width(&self) -> usize {
        if const { U == 2 } { Self::TILE_WIDTH.min(self.outputs.len()) } else { Self::TILE_WIDTH }
    }

    /// Reduces some more rows, as wide as the panel, and prefetches what is `prefetch_distance` elements further on.
    /// Row numbers go on from segment to segment.
    #[inline(always)]
    pub(super) fn rows(
        &mut self,
        rows: StridedRows<'_, O::Lane>,
        prefetch_distance: Option<isize>,
        traversal: Traversal,
    ) {
        if const { U == TILE_VECTORS } {
            self.visit_rows(rows, prefetch_distance, traversal);
        } else {
            // Outlined: two strategies share it.
            self.order.simd().outlined(
                #[inline(always)]
                move || self.visit_rows(rows, prefetch_distance, traversal),
            );
        }
    }

    /// [`Panel::rows`], inlined.
    #[inline(always)]
    fn visit_rows(
        &mut self,
        mut rows: StridedRows<'_, O::Lane>,
        prefetch_distance: Option<isize>,
        traversal: Traversal,
    ) {
        let is_streaming = const { U == TILE_VECTORS } && traversal == Traversal::Streaming;
        // So that the compiler knows it in the loops below.
        assert!(rows.width() == self.outputs.len() && rows.width() >= self.width());
        while rows.count() > 0 && !self.is_settled() {
            if self.tiles.rows == O::Simd::MAX_INDEX {
                self.widen_indices();
            }
            let some = if const { U == TILE_VECTORS } && is_streaming && self.streaming_pass(rows, prefetch_distance) {
                1
            } else {
                self.visit_some(rows, prefetch_distance, traversal)
            };
            // SAFETY: both have written every tile.
            unsafe { self.tiles.add_rows(some as u32) };
            rows = rows.split_at(some).1;
            self.look();
        }
    }

    /// Reduces the first of some rows, tile by tile, and tells how many.
    #[inline(always)]
    fn visit_some(
        &mut self,
        rows: StridedRows<'_, O::Lane>,
        prefetch_distance: Option<isize>,
        traversal: Traversal,
    ) -> usize {
        // A single tile, or one whose rows stay in L1, need not make way for the next tile after eight rows: its state
        // stays in registers.
        let is_short = rows.extent_bytes() <= L1_BYTES / 2;
        let stays = traversal == Traversal::Resident && (self.tiles.tiles.len() == 1 || is_short);
        let is_streaming = const { U == TILE_VECTORS } && traversal == Traversal::Streaming;
        let most = match (stays, is_streaming) {
            (true, _) if O::MAY_EXIT_EARLY && !is_short => {
                self.next_look.saturating_sub(self.tiles.all_rows()).max(FIRST_LOOK_ROWS) as usize
            }
            (true, _) => usize::MAX,
            (_, true) => 1,
            _ => PANEL_GROUP_ROWS,
        };
        let some = rows.count().min(most).min((O::Simd::MAX_INDEX - self.tiles.rows) as usize);
        let (these, _) = rows.split_at(some);
        for tile in 0..self.tiles.tiles.len() {
            let these = these.piece(tile * Self::TILE_WIDTH, self.width());
            these.prefetch(prefetch_distance);
            self.visit(tile, these);
        }
        some
    }

    /// Reduces the first of some rows, from end to end of the panel. False if it was not read or has a NaN: then it has
    /// to be [visited](Panel::visit), which is harmless after this, because comparisons are strict.
    ///
    /// This loop is separate, because what a visit does around its rows costs more than a single row.
    #[inline(always)]
    fn streaming_pass(&mut self, rows: StridedRows<'_, O::Lane>, prefetch_distance: Option<isize>) -> bool {
        let (order, simd) = (self.order, self.order.simd());
        if self.has_nan {
            return false;
        }
        let number = simd.splat_index(self.tiles.rows + 1);
        let mut nans = simd.first_n_mask(0);
        let count = self.tiles.tiles.len();
        let mut tiles = self.tiles.view();
        for tile in 0..count {
            let row = rows.piece(tile * Self::TILE_WIDTH, Self::TILE_WIDTH);
            row.prefetch_row(prefetch_distance);
            let new = ColumnTile::<O, U>::load(order, row);
            if O::Lane::HAS_NAN {
                nans = simd.or_nans(nans, &new);
            }
            let tile = match &mut tiles {
                TilesView::New(tiles) => {
                    tiles[tile].write(ColumnTile { best: new, row_of_best: [simd.splat_index(0); U] });
                    continue;
                }
                TilesView::Written(tiles) => &mut tiles[tile],
            };
            for ((best, row_of_best), &new) in tile.best.iter_mut().zip(&mut tile.row_of_best).zip(&new) {
                *row_of_best = simd.select(order.gt(new, *best), number, *row_of_best);
                *best = order.max(new, *best);
            }
        }
        !O::Lane::HAS_NAN || simd.movemask(nans) == 0
    }

    /// Reduces some rows, of those that are its own, into one tile.
    #[inline(always)]
    fn visit(&mut self, tile: usize, rows: StridedRows<'_, O::Lane>) {
        let (order, number) = (self.order, self.tiles.rows);
        let (before, rows, number) = match self.tiles.view() {
            TilesView::New(_) => (ColumnTile::new(order, rows), rows.split_at(1).1, 1),
            TilesView::Written(tiles) => (tiles[tile], rows, number),
        };
        let (mut after, mut nan_tracker) = (before, NanTracker::new(order, &before.best));
        if !O::Lane::HAS_NAN || !self.has_nan {
            after.visit::<false, true>(order, rows, number, &mut nan_tracker);
            if nan_tracker.is_exact(order) {
                self.tiles.tiles[tile].write(after);
                return;
            }
            self.has_nan = true;
            after = before;
        }
        after.visit::<true, true>(order, rows, number, &mut nan_tracker);
        self.tiles.tiles[tile].write(after);
    }

    /// Writes what was found in all rows, and tells whether bits of values are lost.
    #[inline(always)]
    pub(super) fn finish(&mut self) -> bool {
        self.widen_indices();
        let (width, mut has_lost) = (self.width(), false);
        if let (TilesView::Written(tiles), Some(values)) = (self.tiles.view(), &mut self.outputs.values) {
            for (n, tile) in tiles.iter().enumerate() {
                // The last tile overlaps the previous one where the width is no multiple.
                let start = (n * Self::TILE_WIDTH).min(values.len() - width);
                has_lost |= tile.write_values(self.order, &mut values[start..][..width]);
            }
        }
        has_lost
    }

    #[inline(always)]
    fn widen_indices(&mut self) {
        let (simd, widened) = (self.order.simd(), self.tiles.widened);
        let width = self.width();
        let last = self.outputs.len() - width;
        let TilesView::Written(tiles) = self.tiles.view() else { return };
        for (n, tile) in tiles.iter_mut().enumerate() {
            let start = (n * Self::TILE_WIDTH).min(last);
            for u in 0..U {
                let (rows, at) = (simd.index_array(tile.row_of_best[u]), start + start_of::<O>(u, width));
                for_places!(self.outputs.positions, positions => {
                    widen(simd, rows.as_ref(), &mut positions[at..][..O::Simd::LANES], widened);
                });
            }
            tile.row_of_best = [simd.splat_index(0); U];
        }
        self.tiles.widened += self.tiles.rows;
        self.tiles.rows = 0;
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
    simd.outlined(
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
