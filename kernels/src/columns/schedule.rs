//! The course that columns take through memory: what goes by at a time, and what is asked for meanwhile. It is decided by the loops of a tile and the sizes of
//! elements and vectors, once for all types and orders; nothing here knows of those.

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
    /// Whether the rows of the tile [are tall](super::row_blocks::are_tall), and lines are more than a vector.
    pub(super) are_tall: bool,
}

/// Lengths and distances are in elements.
#[derive(Clone, Copy)]
pub(super) struct Course {
    /// Whether each group goes over all rows of its line before the next one does. Otherwise, lines go by panels.
    pub(super) is_one_pass: bool,
    /// The widest panel.
    pub(super) widest: usize,
    /// How many lines take turns, stretch after stretch.
    pub(super) turns: usize,
    /// How far ahead to ask, and whether to ask for the next stretch instead.
    pub(super) ahead: Option<isize>,
    pub(super) asks_next: bool,
    pub(super) way: Way,
}

/// How far ahead to ask for the few lines that are long and do not go one after another. (Zen 5, beyond L3, GB/s without it, and with it: 1000 rows of 1000 f32 by eights 12 and 23, 17 and
/// 25 by AVX2 and AVX-512. By AVX-512, twice and four times as far, 4 rows of 50176 f32 0.84, 3 rows 0.9. Shorter lines are asked for a few
/// blocks of rows ahead: 3 rows of 64 f32 26 and 31, 15 and 32.)
const ALONG_BYTES: usize = 1024;

/// The largest blocks of rows that follow each other, none wider than a group, that go by in one pass, each asked for at once; in bytes. (Beyond L3, AVX2, GB/s by panels, where each row was asked for by
/// itself, and in one pass: 10 rows of 8 f32 16 and 45, of 16 f16 17 and 43, of 5 f64 12 and 44, 21 rows of 8 f32 20 and 44, which is what a plain read takes; but 21 rows of 31 f32 42 and 38, 64 rows
/// of 31 f32 40 and 29. Zen 5.)
const LARGEST_BLOCK: usize = 2 << 10;

/// The longest stretches, in bytes, in which prefetchers lose more at the end than they find on the way. (Images of 56 x 56 over axes 0 and 2, beyond L3, GB/s without and
/// with the next stretch asked for: u8 9 and 13, f16 8 and 12, f32 12 and 10, i64 9 and 9; Zen 4.)
const LONGEST_JUMP: usize = 8 << 10;

/// The longest rows of stretches that take turns, in bytes, of which eight at a time are no more than prefetchers follow. (Images over axes 0 and 2, beyond L3, GB/s of eight rows
/// at a time and of one: 56 x 56 i64 14 and 20, 56 x 112 f32 13 and 20; but 80 x 80 f32 23 and 20, 64 x 64 30 and 30, 112 x 112 f16 27 and 27; Zen 4, AVX2.)
const SHORTEST_SWEPT: usize = 384;

/// The most bytes of the rows of a line of outputs that go by in one pass though they follow each other far away.
const LARGEST_LINE: usize = 1024;

/// The most lines that take turns.
pub(super) const TURNS: usize = 16;

/// Rows that are near each other: within the L2 cache of current cores.
const NEAR_BYTES: usize = 256 << 10;

impl Course {
    /// Of a tile of lines of neighbours. (A call: it was 50 KB of the shared object, and nothing in it depends on vectors.)
    #[inline(never)]
    pub(super) fn new(tile: &Tile<'_>, vectors: Vectors) -> Course {
        let (line, slower) = tile.split_reduced();
        let (width, is_far) = (tile.inner.size, tile.is_far());
        // Rows that go down are a jump each, because their elements go up. (Beyond L3, without and with it, GB/s of 21 rows of 64 f32 8 and 24, of 1000 u8 9 and 22, of 1000 f16 11 and
        // 24, of 1000 f32 15 and 27, of 1000 i64 20 and 21, of 50176 f32 21 and 22; Zen 4, AVX2.)
        let asks = tile.prefetch.asks(line.stride < 0);
        let span = tile.span(vectors.size);
        let group = vectors.group(width);
        // What follows a stretch in memory may belong to the next line. (Images of 56 x 56 over axes 0 and 2, beyond L3, AVX2, GB/s line by line and in turns: u8 12 and
        // 19, f16 10 and 22, f32 11 and 28; of 32 x 32 in L2, u8 44 and 54, f32 55 and 63. Zen 4.)
        let takes_turns = tile.takes_turns(tile.outer);
        let tuning = &tile.tuning.columns;
        let sweeps = vectors.sweeps(tile, takes_turns);
        // Rows that are far go by panels, which ask for some of them at a time, or go along one after another; but not where a group is all of a row, and the next one follows.
        // (Beyond L3, GB/s in one pass and by panels, by AVX-512 and AVX2: 3 rows of 1000 f32 19 and 28, 17 and 32, of 64 f32 31 and 32, 38 and 20; Zen 5.)
        let is_block = slower.is_empty() && vectors.is_block(tile, span);
        let most_rows = if is_far { tuning.max_streams } else { ROWS };
        let is_for_panels = is_far && !is_block && (line.size > most_rows || span > LARGEST_LINE && sweeps);
        // A group reads 128 bytes of each row before the next group does. Over tall columns beyond the caches that is another page each time, and less
        // than half the speed of memory read in long runs.
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
            // What comes after the rows that go by now: prefetchers begin anew at each row. (With nothing kept but the best of each column and its row, AVX2, of a plain read, by eights across 4 KiB, 1 KiB along asked for, and
            // the next eight rows: of 16 KiB 0.70 and 1.22, of 64 KiB 0.94 and 1.01, of 200 KiB 1.08 and 1.18, of 1 MiB 1.21 and 1.27, of 2 and 4 KiB 0.76 and 1.05, 0.97 and 1.22; a Xeon with 480 MiB of L3.)
            false if asks_rows && width >= 2 * along => line.stride.wrapping_mul(ROWS as isize),
            // (In one pass, AVX2, a little ahead along each row and by rows: 21 rows of 1000 f32 0.78 and 0.92 of a plain read, of i64 0.89 and 0.95.)
            false if width >= 2 * along && !is_in_order => along as isize,
            _ => by_rows(tile, span, vectors.size),
        };
        Course {
            is_one_pass,
            widest,
            turns: if takes_turns { (widest / width.next_multiple_of(group)).clamp(1, TURNS) } else { 1 },
            ahead: asks.then_some(ahead),
            // Prefetchers follow one stretch and stop at its end.
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

/// How far ahead to ask for rows that are not long: at the same place of a row further on, or of the next lines of outputs where those are nearer; or if
/// rows go down while lines go up, where they are near at all. (21 rows of 1000 u8 downwards, beyond L3, by rows 9 GB/s; Zen 5.)
///
/// Of a part of each image, the next line of outputs is nearer than the next row, but there may be few before the next image. (Crops of 48 x 48 of 64 x 64, of 4 planes, beyond L3, GB/s by rows and by
/// lines: f64 16 and 22, f32 16 and 17, f16 14 and 17; with twice as many lines ahead 20, 16, 15. Of u8, whose lines are neighbours in memory, 23 and 17. Zen 5, AVX2.)
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

/// So many lines of outputs for each that is asked for ahead, so that few of those are beyond the last.
const FEWEST_LINES: usize = 12;

impl Vectors {
    /// The outputs of a group in a panel of such lines.
    fn group(self, width: usize) -> usize {
        match width {
            _ if !self.has_groups || width <= self.lanes => self.lanes,
            _ if width < GROUP * self.lanes => 2 * self.lanes,
            _ => GROUP * self.lanes,
        }
    }

    /// Whether to go through far rows one after another, from end to end of a panel: those that follow each other are so read in the order of memory,
    /// and others too where one place is as fast as several. (Zen 5, beyond L3, GB/s of eight rows at a time and of one: by AVX-512, 1000 rows of 500, 1000
    /// and 2048 f32 21 and 46, 24 and 41, 28 and 46, 21 rows of 1000 f16 21 and 37, of 50176 f32 24 and 29, but 3 rows of those 23 and 19; by AVX2, 1000 rows
    /// of 500 and 1000 f32 11 and 36, 22 and 35, 21 rows of 1000 f32, f16 and f64 17 and 32, 19 and 33, 25 and 40, of 50176 f32 25 and 34, 64 rows of 16384 f16 25 and 34. Of two to
    /// eight rows at a time, with 4 to 16 KiB of them asked for, in panels of 4 to 64 KiB, only two rows in panels of 64 KiB were faster: floats 36 to 39, but integers 31.)
    fn sweeps(self, tile: &Tile<'_>, takes_turns: bool) -> bool {
        let (width, line, group) = (tile.inner.size, tile.line(), GROUP * self.lanes);
        let panel = PANEL * group * self.size;
        // What L3 holds comes as fast by eights, where a panel is narrower. (21 rows of 65536 f32, 64 of 4096 u8, 21 of 1000 i64, GB/s of one row at a time and of eight: AVX2, 47 and 62, 47 and 51, 46 and 67;
        // by AVX-512, whose panels have 8 KiB, 73, 68 and 66 one at a time. Zen 5.)
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

    /// Whether some rows follow each other, each of which is no more than a group: so all that is read is in the order of memory, or within what is asked for.
    fn is_block(self, tile: &Tile<'_>, span: usize) -> bool {
        let (width, line) = (tile.inner.size, tile.line());
        let is_sequence = line.stride.unsigned_abs() == width && line.size > 1;
        let largest = if self.are_tall { tile.tuning.columns.max_tall_block_bytes } else { LARGEST_BLOCK };
        self.has_groups && is_sequence && width <= GROUP * self.lanes && span <= largest
    }
}
