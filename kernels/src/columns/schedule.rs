//! The schedule of columns: one pass or panels, which rows at a time, how wide a panel is, and what is prefetched
//! meanwhile. It is decided from the loops of a call, its tuning, and the sizes of elements and vectors. So there is
//! one copy for all types and orders, which this file knows nothing of. No answer depends on it.

use super::panel::{PANEL, SWEPT_BYTES, WIDE_BYTES, Way};
use super::tile::{GROUP, ROWS};
use crate::memory::args::Tile;
use crate::memory::prefetch::{LINE, Prefetch};
use crate::memory::row_prefetch::{AHEAD_BYTES, ahead};

/// What the vectors of a kernel are like.
#[derive(Clone, Copy)]
pub(super) struct Vectors {
    /// The bytes of an element.
    pub(super) size: usize,
    pub(super) lanes: usize,
    /// How many rows a lane can count.
    pub(super) most_rows: usize,
    /// See [`super::reduce::has_groups`].
    pub(super) has_groups: bool,
    /// Whether the rows [are many](super::row_blocks::are_tall), and longer than a vector.
    pub(super) are_tall: bool,
}

/// What is decided. Lengths and distances are in elements.
#[derive(Clone, Copy)]
pub(super) struct Course {
    /// Whether each register tile is reduced over all rows before the next one is. Otherwise there are panels.
    pub(super) is_one_pass: bool,
    /// The widest panel.
    pub(super) widest: usize,
    /// How many rows of outputs are interleaved, segment after segment.
    pub(super) turns: usize,
    /// How far ahead to prefetch, and whether to prefetch the next segment instead.
    pub(super) ahead: Option<isize>,
    pub(super) asks_next: bool,
    pub(super) way: Way,
}

/// How far ahead to prefetch along rows that are long and not contiguous, in bytes. Further ahead is slower. See
/// docs/tuning.md#columnsprefetch_next_rows.
const ALONG_BYTES: usize = 1024;

/// The largest blocks of few contiguous rows, none wider than a tile, that are reduced in one pass, each prefetched as
/// a whole; in bytes. See docs/tuning.md#columnsmax_tall_block_bytes.
const LARGEST_BLOCK: usize = 2 << 10;

/// The longest segments, in bytes, at whose end the next one is prefetched. In longer ones, the hardware prefetcher
/// finds more on the way than it loses at the end. See docs/tuning.md#segments-of-columns-up-to-8-kib.
const LONGEST_JUMP: usize = 8 << 10;

/// Rows of interleaved segments are streamed if they are longer, in bytes. Of shorter ones, the hardware prefetchers
/// can follow eight at a time. See docs/tuning.md#interleaved-segments-are-streamed-from-384-bytes-on.
const SHORTEST_SWEPT: usize = 384;

/// Contiguous rows of at most this many bytes are reduced in one pass, even where longer ones would be streamed.
const LARGEST_LINE: usize = 1024;

/// The most rows of outputs that are interleaved.
pub(super) const TURNS: usize = 16;

/// Columns that span no more bytes are taken to be in the L2 cache of current cores.
const NEAR_BYTES: usize = 256 << 10;

impl Course {
    /// The schedule of a call. Not inlined: nothing in it depends on types.
    #[inline(never)]
    pub(super) fn new(tile: &Tile<'_>, vectors: Vectors) -> Course {
        let (line, slower) = tile.split_reduced();
        let (width, is_far) = (tile.inner.size, tile.is_far());
        // If rows go down in memory while outputs go up, each row is a discontinuity, which hardware prefetchers do not
        // follow.
        let asks = tile.prefetch.asks(line.stride < 0);
        let span = tile.span(vectors.size);
        let group = vectors.group(width);
        // The next segment in memory may belong to the next row of outputs.
        let takes_turns = tile.takes_turns(tile.outer);
        let tuning = &tile.tuning.columns;
        let sweeps = vectors.sweeps(tile, takes_turns);
        // Rows beyond L2 are reduced by panels if they are more than can be read side by side, or are streamed; but not
        // where rows are contiguous and none is longer than a tile.
        let is_block = slower.is_empty() && vectors.is_block(tile, span);
        let most_rows = if is_far { tuning.max_streams } else { ROWS };
        let is_for_panels = is_far && !is_block && (line.size > most_rows || span > LARGEST_LINE && sweeps);
        // A tile reads a few cache lines of each row. Of many rows beyond L2, that is another page each time, which is
        // much slower than reading in long runs.
        let is_near = line.size <= most_rows || line.size <= vectors.most_rows && span <= NEAR_BYTES;
        let widest = match is_far {
            true if !tile.prefetch.asks(false) => WIDE_BYTES / vectors.size,
            true if sweeps => SWEPT_BYTES / vectors.size,
            _ => PANEL * group,
        };
        let is_one_pass = slower.is_empty() && is_near && !is_for_panels;
        let next_rows = tuning.prefetch_next_rows;
        let is_in_order = is_one_pass && is_far && line.stride.unsigned_abs() == width && next_rows;
        let is_across = width > widest;
        let along = ALONG_BYTES / vectors.size;
        let asks_rows = !is_one_pass && next_rows;
        let ahead = match sweeps {
            true if is_across => line.stride,
            // The next rows, because hardware prefetchers begin anew at each row. See
            // docs/tuning.md#columnsprefetch_next_rows.
            false if asks_rows && width >= 2 * along => line.stride.wrapping_mul(ROWS as isize),
            // A little further along the same rows.
            false if width >= 2 * along && !is_in_order => along as isize,
            _ => by_rows(tile, span, vectors.size),
        };
        Course {
            is_one_pass,
            widest,
            turns: if takes_turns { (widest / width.next_multiple_of(group)).clamp(1, TURNS) } else { 1 },
            ahead: asks.then_some(ahead),
            // Hardware prefetchers follow one segment, and stop at its end.
            asks_next: tile.prefetch.asks(span <= LONGEST_JUMP) && !takes_turns && !sweeps,
            way: match is_far {
                _ if sweeps && is_across => Way::SweepAcross,
                _ if sweeps => Way::Sweep,
                true if asks_rows && is_across => Way::ByGroupsAcross,
                true => Way::ByGroups,
                false => Way::Near,
            },
        }
    }
}

/// How far ahead to prefetch for rows that are not long. Later rows of outputs are prefetched if a column spans no more
/// than the prefetch distance, or some more if its rows go down while outputs go up; otherwise, later rows of the
/// column.
///
/// In crops of images, the next row of outputs is nearer in memory than the next row of a column. It is prefetched, but
/// not many rows of outputs further on, because there may be few before the next image.
fn by_rows(tile: &Tile<'_>, span: usize, size: usize) -> isize {
    let (line, outer) = (tile.line(), tile.outer);
    let apart = outer.stride.unsigned_abs();
    if outer.size >= FEWEST_LINES && apart * size > LINE && apart < line.stride.unsigned_abs() {
        let lines = AHEAD_BYTES / 8 / (apart * size);
        return outer.stride * lines.clamp(1, outer.size / FEWEST_LINES) as isize;
    }
    let is_near = span <= if line.stride < 0 { 8 * AHEAD_BYTES } else { AHEAD_BYTES };
    ahead(if is_near { outer.stride } else { line.stride }, size, AHEAD_BYTES)
}

/// The fewest rows of outputs for each that is prefetched ahead, so that few of those are beyond the last.
const FEWEST_LINES: usize = 12;

impl Vectors {
    /// The outputs of a tile in a panel of rows as wide.
    fn group(self, width: usize) -> usize {
        match width {
            _ if !self.has_groups || width <= self.lanes => self.lanes,
            _ if width < GROUP * self.lanes => 2 * self.lanes,
            _ => GROUP * self.lanes,
        }
    }

    /// Whether to stream rows that are beyond L2, one after another, from end to end of a panel. Contiguous rows are
    /// then read in the order of memory. Others are streamed too where the hardware reads one stream as fast as
    /// several. See docs/tuning.md#columnsrow_by_row.
    fn sweeps(self, tile: &Tile<'_>, takes_turns: bool) -> bool {
        let (width, line, group) = (tile.inner.size, tile.line(), GROUP * self.lanes);
        let panel = PANEL * group * self.size;
        // What L3 holds is as fast eight rows at a time, where a panel is narrower.
        let longest = if tile.prefetch == Prefetch::Everything { SWEPT_BYTES } else { panel };
        let is_whole = tile.reduced.len() == 1 || takes_turns && width * self.size > SHORTEST_SWEPT;
        let is_sequence = is_whole && line.stride.unsigned_abs() == width && width * self.size <= longest;
        let is_one_place = tile.prefetch.asks(false)
            && longest >= SWEPT_BYTES
            && line.size > ROWS
            && width * self.size > SHORTEST_SWEPT;
        let is_wide = self.has_groups && width > group;
        tile.is_far() && tile.tuning.columns.row_by_row && is_wide && (is_sequence || is_one_place)
    }

    /// Whether the rows are contiguous, and none is longer than a tile: then one pass reads memory in its order, or
    /// within what is prefetched.
    fn is_block(self, tile: &Tile<'_>, span: usize) -> bool {
        let (width, line) = (tile.inner.size, tile.line());
        let is_sequence = line.stride.unsigned_abs() == width && line.size > 1;
        let largest = if self.are_tall { tile.tuning.columns.max_tall_block_bytes } else { LARGEST_BLOCK };
        self.has_groups && is_sequence && width <= GROUP * self.lanes && span <= largest
    }
}
