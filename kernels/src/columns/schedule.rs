//! The schedule of columns: one pass or panels, which rows at a time, how wide a panel is, and what is prefetched
//! meanwhile. It is decided from the loops of a call, its tuning, and the sizes of elements and vectors. So there is
//! one copy for all types and orders, which this file knows nothing of. No answer depends on it.

use super::panel::{MAX_PANEL_BYTES, PANEL_GROUP_ROWS, PANEL_TILES, STREAMING_PANEL_BYTES, Traversal};
use super::tile::TILE_VECTORS;
use crate::memory::args::KernelArgs;
use crate::memory::row_prefetch::{PREFETCH_DISTANCE_BYTES, prefetch_distance};
use crate::tuning::WorkingSet;

#[derive(Clone, Copy)]
pub(super) struct KernelGeometry {
    /// The bytes of an element.
    pub(super) size: usize,
    pub(super) lanes: usize,
    /// How many rows a lane can count.
    pub(super) most_rows: usize,
    /// See [`super::reduce::has_tiles`].
    pub(super) has_tiles: bool,
    /// Whether the rows [are many](super::row_groups::is_row_blocked), and longer than a vector.
    pub(super) is_row_blocked: bool,
}

/// What is decided. Lengths and distances are in elements.
#[derive(Clone, Copy)]
pub(super) struct ColumnSchedule {
    /// Whether each register tile is reduced over all rows before the next one is. Otherwise there are panels.
    pub(super) is_one_pass: bool,
    pub(super) widest: usize,
    /// How many rows of outputs are interleaved, segment after segment.
    pub(super) interleaved_rows: usize,
    pub(super) prefetch_distance: Option<isize>,
    pub(super) traversal: Traversal,
}

/// The most rows of outputs that are interleaved. See docs/tuning.md#max_interleaved_rows.
pub(super) const MAX_INTERLEAVED_ROWS: usize = 16;

/// How far ahead to prefetch along rows that are long and not contiguous. See docs/tuning.md#row_prefetch_bytes.
const ROW_PREFETCH_BYTES: usize = 1 << 10;

/// The most bytes of contiguous rows beyond L2, few and none wider than a tile, that are reduced in one pass. See
/// docs/tuning.md#max_contiguous_bytes.
const MAX_CONTIGUOUS_BYTES: usize = 2 << 10;

/// Rows of interleaved segments are streamed if they have more bytes. Of shorter ones, hardware prefetchers can follow
/// eight at a time. See docs/tuning.md#min_streaming_bytes.
const MIN_STREAMING_BYTES: usize = 384;

/// The most bytes of contiguous rows that are reduced in one pass even where longer ones would be streamed.
/// Not measured.
const MAX_ONE_PASS_BYTES: usize = 1 << 10;

/// The most bytes that many rows span which are reduced in one pass: any L2 cache holds them. Not measured.
const MAX_RESIDENT_BYTES: usize = 256 << 10;

impl ColumnSchedule {
    /// The schedule of a call. Not inlined: nothing in it depends on types.
    #[inline(never)]
    pub(super) fn new(args: &KernelArgs<'_>, geometry: KernelGeometry) -> ColumnSchedule {
        let (fastest, slower) = args.split_reduced();
        let (width, exceeds_l2) = (args.inner.size, args.exceeds_l2());
        // If rows go down in memory while outputs go up, each row is a discontinuity, which hardware prefetchers do not
        // follow.
        let prefetches = args.should_prefetch(fastest.stride < 0);
        let reduced_bytes = args.reduced_bytes(geometry.size);
        let tile_width = geometry.tile_width(width);
        // The next segment in memory may belong to the next row of outputs.
        let is_interleaved = args.is_interleaved(args.outer);
        let tuning = &args.tuning.columns;
        let is_streaming = geometry.is_streaming(args, is_interleaved);
        // Rows beyond L2 are reduced by panels if they are more than can be read side by side, or are streamed; but not
        // where rows are contiguous and none is longer than a tile, nor where they overlap, as windows do: there, one
        // pass reads memory in its order.
        let overlap = fastest.stride.unsigned_abs() < width;
        let is_contiguous = slower.is_empty() && (overlap || geometry.is_contiguous(args, reduced_bytes));
        let most_rows = if exceeds_l2 { tuning.max_streams } else { PANEL_GROUP_ROWS };
        let is_for_panels = exceeds_l2
            && !is_contiguous
            && (fastest.size > most_rows || reduced_bytes > MAX_ONE_PASS_BYTES && is_streaming);
        // A tile reads a few cache lines of each row. Of many rows beyond L2, that is another page each time, which is
        // much slower than reading in long runs.
        let is_near =
            fastest.size <= most_rows || fastest.size <= geometry.most_rows && reduced_bytes <= MAX_RESIDENT_BYTES;
        let widest = match exceeds_l2 {
            true if !args.should_prefetch(false) => MAX_PANEL_BYTES / geometry.size,
            true if is_streaming => STREAMING_PANEL_BYTES / geometry.size,
            _ => PANEL_TILES * tile_width,
        };
        let is_one_pass = slower.is_empty() && is_near && !is_for_panels;
        let row_distance = ROW_PREFETCH_BYTES / geometry.size;
        let (goes_along, next_rows) = (width >= 2 * row_distance, tuning.prefetch_next_rows);
        let is_in_order = is_one_pass && exceeds_l2 && fastest.stride.unsigned_abs() == width;
        let prefetch_distance = match is_streaming {
            true if width > widest => fastest.stride,
            // The next rows, because hardware prefetchers begin anew at each row.
            false if goes_along && next_rows && !is_one_pass => fastest.stride.wrapping_mul(PANEL_GROUP_ROWS as isize),
            // A little further along the same rows.
            false if goes_along && !(next_rows && is_in_order) => row_distance as isize,
            _ => by_rows(args, reduced_bytes, geometry.size),
        };
        ColumnSchedule {
            is_one_pass,
            widest,
            interleaved_rows: if is_interleaved {
                (widest / width.next_multiple_of(tile_width)).clamp(1, MAX_INTERLEAVED_ROWS)
            } else {
                1
            },
            prefetch_distance: (prefetches && !overlap).then_some(prefetch_distance),
            traversal: match exceeds_l2 {
                _ if is_streaming => Traversal::Streaming,
                true => Traversal::RowBlocked,
                false => Traversal::Resident,
            },
        }
    }
}

/// How far ahead to prefetch, where it is not along the same rows. Later rows of outputs are prefetched if a column
/// spans no more than the prefetch distance, or some more if its rows go down while outputs go up; otherwise, later
/// rows of the column.
fn by_rows(args: &KernelArgs<'_>, reduced_bytes: usize, size: usize) -> isize {
    let (fastest, outer) = (args.innermost_reduced(), args.outer);
    let is_near =
        reduced_bytes <= if fastest.stride < 0 { 8 * PREFETCH_DISTANCE_BYTES } else { PREFETCH_DISTANCE_BYTES };
    prefetch_distance(if is_near { outer.stride } else { fastest.stride }, size, PREFETCH_DISTANCE_BYTES)
}

impl KernelGeometry {
    /// The outputs of a tile in a panel of rows as wide.
    fn tile_width(self, width: usize) -> usize {
        match width {
            _ if !self.has_tiles || width <= self.lanes => self.lanes,
            _ if width < TILE_VECTORS * self.lanes => 2 * self.lanes,
            _ => TILE_VECTORS * self.lanes,
        }
    }

    /// Whether to stream rows that are beyond L2, one after another, from end to end of a panel. Contiguous rows are
    /// then read in the order of memory. Others are streamed too where the hardware reads one stream as fast as
    /// several. See docs/tuning.md#columnsrow_by_row.
    fn is_streaming(self, args: &KernelArgs<'_>, is_interleaved: bool) -> bool {
        let (width, fastest, tile_width) = (args.inner.size, args.innermost_reduced(), TILE_VECTORS * self.lanes);
        let panel = PANEL_TILES * tile_width * self.size;
        let can_stream = width * self.size > MIN_STREAMING_BYTES;
        // What L3 holds is as fast eight rows at a time, where a panel is narrower.
        let streams = args.working_set == WorkingSet::Dram && args.should_prefetch(false);
        let longest = if streams { STREAMING_PANEL_BYTES } else { panel };
        let is_whole = args.reduced.len() == 1 || is_interleaved && can_stream;
        let is_sequence = is_whole && fastest.stride.unsigned_abs() == width && width * self.size <= longest;
        let is_one_place = args.should_prefetch(false)
            && longest >= STREAMING_PANEL_BYTES
            && fastest.size > PANEL_GROUP_ROWS
            && can_stream;
        let is_wide = self.has_tiles && width > tile_width;
        args.exceeds_l2() && args.tuning.columns.row_by_row && is_wide && (is_sequence || is_one_place)
    }

    /// Whether the rows are contiguous, few bytes in all, and none is longer than a tile: then one pass reads memory in
    /// its order, or within what is prefetched.
    fn is_contiguous(self, args: &KernelArgs<'_>, reduced_bytes: usize) -> bool {
        let (width, fastest) = (args.inner.size, args.innermost_reduced());
        let is_sequence = fastest.stride.unsigned_abs() == width && fastest.size > 1;
        let tuning = &args.tuning.columns;
        let largest = if self.is_row_blocked { tuning.max_row_blocked_bytes } else { MAX_CONTIGUOUS_BYTES };
        self.has_tiles && is_sequence && width <= TILE_VECTORS * self.lanes && reduced_bytes <= largest
    }
}
