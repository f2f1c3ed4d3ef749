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
        let width = tile.inner.size;
        let mut has_nan = false;
        // SAFETY: the caller promises all elements of all outputs.
        unsafe {
            if is_one_pass {
                for (o, positions) in positions.chunks_exact_mut(width).enumerate() {
                    let first = input.wrapping_offset(o as isize * tile.outer.stride);
                    let rows = Rows { first, stride: line.stride, count: line.size };
                    reduce(order, rows, positions, ahead, &mut has_nan);
                }
            } else if has_groups::<O>() && width >= GROUP * O::Simd::LANES {
                reduce_panels::<O, GROUP>(order, tile, positions);
            } else if has_groups::<O>() && width >= 2 * O::Simd::LANES {
                // (1000 rows of 64 u8 by AVX2, and of 128 by AVX-512, 58 and 97 GB/s by one vector at a time, 88 and 168 by two; Zen 5, L2.)
                reduce_panels::<O, 2>(order, tile, positions);
            } else {
                reduce_panels::<O, 1>(order, tile, positions);
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

/// The most lines that take turns.
const TURNS: usize = 16;

/// Whether lines of outputs take turns, stretch after stretch: where what follows one in memory belongs to the next line. (Images of 56 x 56 over axes 0 and 2, beyond L3, AVX2,
/// GB/s line by line and in turns: u8 12 and 19, f16 10 and 22, f32 11 and 28; of 32 x 32 in L2, u8 44 and 54, f32 55 and 63. Zen 4.)
#[inline(always)]
fn takes_turns(tile: &Tile<'_>) -> bool {
    let (_, slower) = tile.split_reduced();
    slower.last().is_some_and(|next| tile.outer.stride.unsigned_abs() < next.stride.unsigned_abs())
}

/// Reduces lines of outputs in panels of groups of `U` vectors.
///
/// # Safety
/// - As [`Body::run`]; a line is at least a group.
#[inline(always)]
unsafe fn reduce_panels<O: Order, const U: usize>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
    let (group, line, takes_turns) = (U * O::Simd::LANES, tile.inner.size, takes_turns(tile));
    let (along, sweeps) = (along::<O>(tile), U == GROUP && sweeps::<O>(tile));
    let widest =
        if tile.is_far() && !tile.prefetch.asks(false) { WIDE_BYTES / size_of::<O::Lane>() } else { PANEL * group };
    let mut room = Room::new();
    let turns = if takes_turns { (widest / line.next_multiple_of(group)).clamp(1, TURNS) } else { 1 };
    for (n, positions) in positions.chunks_mut(turns * line).enumerate() {
        let first = tile.input.cast::<O::Lane>().wrapping_offset((n * turns) as isize * tile.outer.stride);
        let mut done = 0;
        while done < line {
            // The last panel reaches back if it is shorter than a group.
            let start = done.min(line - group);
            let width = (line - start).min(widest);
            let lines = positions.len() / line;
            let mut panels = [const { MaybeUninit::uninit() }; TURNS];
            let mut groups = room.groups::<O, U>();
            for (panel, positions) in panels.iter_mut().zip(positions.chunks_exact_mut(line)) {
                let (some, others) = groups.split_at_mut(width.div_ceil(group));
                panel.write(Panel::new(order, some, &mut positions[start..][..width]));
                groups = others;
            }
            // SAFETY: the loop above has written as many.
            let panels = unsafe { &mut *(&raw mut panels[..lines] as *mut [Panel<'_, O, U>]) };
            let mut stretches = Stretches::new(tile);
            let mut next = stretches.next(usize::MAX);
            while let Some((offset, count)) = next {
                next = stretches.next(usize::MAX);
                // Prefetchers follow one stretch and stop at its end.
                let is_jump = !takes_turns && span::<O::Lane>(count, tile.line().stride) <= LONGEST_JUMP;
                let to_next =
                    next.filter(|_| tile.prefetch.asks(is_jump) && !takes_turns).map(|(next, _)| next - offset);
                let by_rows = || tile.prefetch.asks(false).then(|| by_rows::<O>(tile));
                let ahead = if sweeps { by_rows() } else { to_next.or(along).or_else(by_rows) };
                let way = match (sweeps, to_next, along) {
                    (true, ..) => Way::Sweep,
                    (_, None, Some(_)) if count > MOST_KEPT => Way::AcrossEnds,
                    _ if tile.is_far() => Way::ByGroups,
                    _ => Way::Near,
                };
                let mut first = first.wrapping_offset(start as isize + offset);
                for panel in &mut *panels {
                    let rows = Rows { first, stride: tile.line().stride, count };
                    // SAFETY: a stretch of the reduced loops, from each output of the panel (`start` and `width` stay within the line): the caller
                    // promises those elements.
                    unsafe { panel.rows(rows, ahead, way) };
                    first = first.wrapping_offset(tile.outer.stride);
                }
            }
            panels.iter_mut().for_each(Panel::flush);
            done = start + width;
        }
    }
}
