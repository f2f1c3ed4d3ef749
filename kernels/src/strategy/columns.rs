//! Columns: neighbouring outputs are contiguous, and each lane is one output; rows of them are loaded where they are.

use super::group::{GROUP, ROWS, Rows, has_groups, is_one_pass, reduce, span};
use super::panel::{PANEL, Panel, Room, WIDE_BYTES, Way};
use super::{Body, Strategy};
use crate::gather::Stretches;
use crate::lanes::{Lanes, Token};
use crate::order::Order;
use crate::prefetch::{AHEAD_BYTES, ahead};
use crate::tile::Tile;
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct Columns;

impl Body for Columns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        assert!(Strategy::Columns.takes(tile.inner, tile.reduced, O::Simd::LANES));
        let input = tile.input.cast::<O::Lane>();
        let line = tile.line();
        // Rows that are far go by panels, which ask for some of them at a time, or go along one after another.
        // (Beyond L3, GB/s in one pass and by panels, by AVX-512 and AVX2: 3 rows of 1000 f32 19 and 28, 17 and 32, of 64 f32 31 and 32, 38 and 20; Zen 5.)
        let is_block = span::<O::Lane>(line.size, line.stride) > LARGEST_LINE;
        let is_for_panels = tile.is_far() && (line.size > ROWS || is_block && sweeps::<O>(tile));
        let is_one_pass = tile.reduced.len() == 1 && is_one_pass::<O>(line.size, line.stride) && !is_for_panels;
        let along = along::<O>(tile);
        let ahead = along.or(tile.prefetch.asks(false).then(|| by_rows::<O>(tile)));
        let mut has_nan = false;
        for (o, positions) in positions.chunks_exact_mut(tile.inner.size).enumerate() {
            let first = input.wrapping_offset(o as isize * tile.outer.stride);
            // SAFETY: the caller promises all elements of all outputs.
            unsafe {
                if is_one_pass {
                    let rows = Rows { first, stride: line.stride, count: line.size };
                    reduce(order, rows, positions, ahead, &mut has_nan);
                } else if has_groups::<O>() && positions.len() >= GROUP * O::Simd::LANES {
                    reduce_panels::<O, GROUP>(order, tile, first, positions);
                } else if has_groups::<O>() && positions.len() >= 2 * O::Simd::LANES {
                    // (1000 rows of 64 u8 by AVX2, and of 128 by AVX-512, 58 and 97 GB/s by one vector at a time, 88 and 168 by two; Zen 5, L2.)
                    reduce_panels::<O, 2>(order, tile, first, positions);
                } else {
                    reduce_panels::<O, 1>(order, tile, first, positions);
                }
            }
        }
    }
}

/// How far ahead to ask for lines that are long. (Zen 5, beyond L3, GB/s without and with it: 21 rows of 50176 f32 15 and 24 by AVX2, 18 and 25 by
/// AVX-512; of f16 14 and 27, 14 and 23; 1000 rows of 1000 f32 12 and 23, 17 and 25; twice as far was no better. Shorter lines are asked for a few
/// blocks of rows ahead: 3 rows of 64 f32 26 and 31, 15 and 32.)
const ALONG_BYTES: usize = 1024;

/// The longest stretches, in bytes, in which prefetchers lose more at the end than they find on the way. (Images of 56 x 56 over axes 0 and 2, beyond L3, GB/s without and
/// with the next stretch asked for: u8 9 and 13, f16 8 and 12, f32 12 and 10, i64 9 and 9; Zen 3.)
const LONGEST_JUMP: usize = 8 << 10;

/// The most bytes of the rows of a line of outputs that go by in one pass though they follow each other far away.
const LARGEST_LINE: usize = 1024;

/// So many rows of a panel, of 4 or 8 KiB each, stay in any L2 cache until the next panel.
const MOST_KEPT: usize = 32;

/// How far ahead to ask for elements along a line, in elements, where that is worth it.
#[inline(always)]
fn along<O: Order>(tile: &Tile<'_>) -> Option<isize> {
    let ahead = ALONG_BYTES / size_of::<O::Lane>();
    (tile.prefetch.asks(false) && tile.inner.size >= 2 * ahead).then_some(ahead as isize)
}

/// How far ahead to ask for rows that are not long, in elements: at the same place of a row further on, or of the next lines of outputs where those are nearer; or if
/// rows go down while lines go up, where they are near at all. (21 rows of 1000 u8 downwards, beyond L3, by rows 9 GB/s; Zen 5.)
#[inline(always)]
fn by_rows<O: Order>(tile: &Tile<'_>) -> isize {
    let line = tile.line();
    let near = if line.stride < 0 { 8 * AHEAD_BYTES } else { AHEAD_BYTES };
    let is_near = span::<O::Lane>(line.size, line.stride) <= near;
    ahead(if is_near { tile.outer.stride } else { line.stride }, size_of::<O::Lane>(), AHEAD_BYTES)
}

/// Whether to go through far rows one after another, from end to end of a panel: those that follow each other are so read in the order of memory,
/// and others too where one place is as fast as several. (Zen 5, beyond L3, GB/s of eight rows at a time and of one: by AVX-512, 1000 rows of 500, 1000
/// and 2048 f32 21 and 46, 24 and 41, 28 and 46, 21 rows of 1000 f16 21 and 37, of 50176 f32 24 and 29, but 3 rows of those 23 and 19; by AVX2, 1000 rows
/// of 500 and 1000 f32 11 and 36, 22 and 35, 21 rows of 1000 f32 and f16 17 and 32, 19 and 33, of 50176 f32 23 and 21.)
#[inline(always)]
fn sweeps<O: Order>(tile: &Tile<'_>) -> bool {
    let (width, line, group) = (tile.inner.size, tile.line(), GROUP * O::Simd::LANES);
    let is_sequence = tile.reduced.len() == 1 && line.stride.unsigned_abs() == width && width <= PANEL * group;
    let is_one_place = O::Simd::HAS_MASKS && tile.prefetch.asks(false) && line.size > ROWS;
    has_groups::<O>() && tile.is_far() && width > group && (is_sequence || is_one_place)
}

/// Reduces a line of outputs in panels of groups of `U` vectors.
///
/// # Safety
/// - As [`Body::run`], for the line that starts at `first`, as long as there are positions; they are at least as many as a panel's group has.
#[inline(always)]
unsafe fn reduce_panels<O: Order, const U: usize>(
    order: O,
    tile: &Tile<'_>,
    first: *const O::Lane,
    positions: &mut [MaybeUninit<u32>],
) {
    let group = U * O::Simd::LANES;
    let (along, sweeps) = (along::<O>(tile), U == GROUP && sweeps::<O>(tile));
    let widest =
        if tile.is_far() && !tile.prefetch.asks(false) { WIDE_BYTES / size_of::<O::Lane>() } else { PANEL * group };
    let mut room = Room::new();
    let mut done = 0;
    while done < positions.len() {
        // The last panel reaches back if it is shorter than a group.
        let start = done.min(positions.len() - group);
        let width = (positions.len() - start).min(widest);
        let mut panel = Panel::<O, U>::new(order, room.groups(), &mut positions[start..][..width]);
        let mut stretches = Stretches::new(tile);
        let mut next = stretches.next(usize::MAX);
        while let Some((offset, count)) = next {
            next = stretches.next(usize::MAX);
            let rows =
                Rows { first: first.wrapping_offset(start as isize + offset), stride: tile.line().stride, count };
            // Prefetchers follow one stretch and stop at its end.
            let is_jump = span::<O::Lane>(count, tile.line().stride) <= LONGEST_JUMP;
            let to_next = next.filter(|_| tile.prefetch.asks(is_jump)).map(|(next, _)| next - offset);
            let by_rows = || tile.prefetch.asks(false).then(|| by_rows::<O>(tile));
            let ahead = if sweeps { by_rows() } else { to_next.or(along).or_else(by_rows) };
            let way = match (sweeps, to_next, along) {
                (true, ..) => Way::Sweep,
                (_, None, Some(_)) if count > MOST_KEPT => Way::AcrossEnds,
                _ if tile.is_far() => Way::ByGroups,
                _ => Way::Near,
            };
            // SAFETY: a stretch of the reduced loops, from each output of the panel (`start` and `width` stay within the outputs): the caller
            // promises those elements.
            unsafe { panel.rows(rows, ahead, way) };
        }
        panel.flush();
        done = start + width;
    }
}
