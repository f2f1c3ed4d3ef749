//! Rows: the elements of one output are neighbours, and vectors run along them, one row after another. Which search a row takes depends
//! on nothing but its length.

use super::chunks::{self, STREAMS};
use super::run::{self, Best, Found, MOST_VECTORS, Run};
use super::{Body, Strategy, is_large};
use crate::lanes::{Lanes, Token};
use crate::order::Order;
use crate::tile::Tile;
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct Rows;

impl Body for Rows {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        assert!(Strategy::Rows.takes(tile.inner, tile.reduced, O::Simd::LANES));
        // SAFETY: the caller's promise.
        unsafe {
            if tile.line().stride < 0 {
                by_length::<O, true>(order, tile, positions);
            } else {
                by_length::<O, false>(order, tile, positions);
            }
        }
    }
}

/// # Safety
/// - As [`Body::run`].
#[inline(always)]
unsafe fn by_length<O: Order, const REVERSED: bool>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
    let (len, lanes) = (tile.line().size, O::Simd::LANES);
    // SAFETY: the caller's promise, and each of the lengths is one that its search takes.
    unsafe {
        match len.div_ceil(lanes) {
            1 if len <= O::Simd::FEW && !REVERSED => each_row::<O, REVERSED, Few>(order, tile, positions),
            1 if len < lanes => each_row::<O, REVERSED, PartOfVector>(order, tile, positions),
            // Fewer copies of the loop where they are not worth their code, and for rows against the direction of memory.
            1..=4 if !O::Simd::SPECIALIZES => each_row::<O, REVERSED, VectorByVector>(order, tile, positions),
            1 if !REVERSED => each_row::<O, REVERSED, Vectors<1, 1>>(order, tile, positions),
            1..=2 if O::Simd::SPECIALIZES => each_row::<O, REVERSED, Vectors<1, 2>>(order, tile, positions),
            3..=4 if O::Simd::SPECIALIZES && !REVERSED => {
                each_row::<O, REVERSED, Vectors<2, 4>>(order, tile, positions)
            }
            3..=MOST_VECTORS if O::Simd::SPECIALIZES => {
                each_row::<O, REVERSED, Vectors<2, MOST_VECTORS>>(order, tile, positions);
            }
            _ if chunks::is_one_piece::<O>(len) => {
                each_row::<O, REVERSED, Piece>(order, tile, positions);
            }
            _ => each_row::<O, REVERSED, Pieces>(order, tile, positions),
        }
    }
}

/// A way to find the best element of a row.
trait Search<O: Order> {
    /// Whether a row is shorter than the vector that it is loaded as, and so needs more elements to follow it.
    const READS_ON: bool = false;
    /// Whether to ask for rows further on, or to look at several at once, in large tiles.
    const PREFETCHES: bool = false;
    const STREAMS: bool = false;

    /// # Safety
    /// - The elements of the run may be read; if `ON`, those that follow it in a vector may be too.
    /// - It is as long as the search asks for.
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> Found<O>;

    /// # Safety
    /// - As for [`Search::find`].
    #[inline(always)]
    unsafe fn find_streams(order: O, _: [Run<O::Lane>; STREAMS]) -> [Found<O>; STREAMS] {
        [Found::nothing(order); STREAMS]
    }
}

/// So few that one operation finds the first best of them; the other lanes of the vector hold the worst value.
struct Few;
impl<O: Order> Search<O> for Few {
    const READS_ON: bool = !O::Simd::LOADS_PARTS;

    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> Found<O> {
        // SAFETY: the caller's promise.
        let value = unsafe { run::load_part::<O, ON>(order, run) };
        Found { value, position: Some(order.first_best(value)), is_nan: false }
    }
}

/// Less than a vector.
struct PartOfVector;
impl<O: Order> Search<O> for PartOfVector {
    const READS_ON: bool = !O::Simd::LOADS_PARTS;

    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> Found<O> {
        // SAFETY: the caller's promise.
        unsafe { run::find_in_part::<O, ON>(order, run) }
    }
}

/// At least `WHOLE` vectors, and at most `V`.
struct Vectors<const WHOLE: usize, const V: usize>;
impl<O: Order, const WHOLE: usize, const V: usize> Search<O> for Vectors<WHOLE, V> {
    const PREFETCHES: bool = V > 1;

    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> Found<O> {
        // SAFETY: the caller's promise.
        unsafe { run::find::<O, WHOLE, V>(order, run) }
    }
}

/// A few vectors, one after another.
struct VectorByVector;
impl<O: Order> Search<O> for VectorByVector {
    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> Found<O> {
        let lanes = O::Simd::LANES;
        let mut best = Best::new(order);
        for start in (0..run.len).step_by(lanes) {
            // The last one reaches back: what is seen twice is never better than itself.
            let start = start.min(run.len - lanes);
            // SAFETY: the caller's promise: a part of the run, one vector long.
            best.offer(unsafe { run::find::<O, 1, 1>(order, run.part(start, lanes)) }, start);
        }
        best.found()
    }
}

/// As many chunks as can be counted.
struct Piece;
impl<O: Order> Search<O> for Piece {
    const STREAMS: bool = O::Simd::SPECIALIZES;

    #[inline(always)]
    unsafe fn find_streams(order: O, rows: [Run<O::Lane>; STREAMS]) -> [Found<O>; STREAMS] {
        // SAFETY: the caller's promise.
        unsafe { chunks::find_streams(order, rows) }
    }
    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> Found<O> {
        // SAFETY: the caller's promise.
        unsafe { chunks::find(order, run) }
    }
}

/// Any number of chunks.
struct Pieces;
impl<O: Order> Search<O> for Pieces {
    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> Found<O> {
        // SAFETY: the caller's promise.
        unsafe { chunks::find_long(order, run) }
    }
}

/// How far ahead to ask for rows of a few vectors, in large tiles: the work on a row, in between its loads, leaves the memory idle. Beyond
/// L3, rows of 64 f32 went from 0.71 to 0.84 of `read`, rows of 16 from 0.74 to 0.89; but in L2, rows of 64 lost a sixth. Longer rows gained
/// nothing. (Zen 3.)
const PREFETCH_BYTES: usize = 2048;

/// How long rows are of which several are looked at side by side, in large tiles: beyond L3, of `read`, rows of 4096 f16 went from 0.74 to
/// 0.94, of 4096 f32 from 0.83 to 1.18; but of 1000 f32 from 0.84 to 0.74. (Zen 3.)
const STREAM_BYTES: usize = 6 << 10;

/// # Safety
/// - As [`Body::run`]; the rows are as long as `S` asks for.
#[inline(always)]
unsafe fn each_row<O: Order, const REVERSED: bool, S: Search<O>>(
    order: O,
    tile: &Tile<'_>,
    positions: &mut [MaybeUninit<u32>],
) {
    let (len, lanes) = (tile.line().size, O::Simd::LANES);
    let to_lowest = if REVERSED { 1 - len as isize } else { 0 };
    // From here on, a vector reaches beyond the rows; the only row is always the last.
    let last =
        if S::READS_ON && tile.outputs() > 1 { tile.end_of_block().map(|end| end - lanes as isize) } else { None };
    let is_large = (S::PREFETCHES || S::STREAMS) && is_large::<O::Lane>(tile);
    let input = tile.input.cast::<O::Lane>();
    // Not `chunks_exact_mut`, which divides: a call for one output has no time for it.
    let mut rest = positions;
    for o in 0..tile.outer.size {
        let (positions, others) = rest.split_at_mut(tile.inner.size);
        rest = others;
        let mut start = o as isize * tile.outer.stride + to_lowest;
        let (in_block, at_end) = if S::READS_ON {
            positions.split_at_mut(last.map_or(0, |last| tile.inner.steps_up_to(last, start)))
        } else {
            (positions, [].as_mut_slice())
        };
        let row = |start: isize| Run { at: input.wrapping_offset(start), len, reversed: REVERSED };
        let (several, in_block) = if S::STREAMS && is_large && len >= STREAM_BYTES / size_of::<O::Lane>() {
            in_block.as_chunks_mut::<STREAMS>()
        } else {
            ([].as_mut_slice(), in_block)
        };
        for positions in several {
            let mut rows = [row(start); STREAMS];
            for row_of_stream in &mut rows {
                *row_of_stream = row(start);
                start += tile.inner.stride;
            }
            // SAFETY: the caller promises the elements of the rows.
            let found = unsafe { S::find_streams(order, rows) };
            for (position, found) in positions.iter_mut().zip(found) {
                position.write(found.position.unwrap_or(0) as u32);
            }
        }
        for position in in_block {
            let run = row(start);
            if S::PREFETCHES && is_large {
                for line in (0..len * size_of::<O::Lane>()).step_by(64) {
                    order.simd().prefetch(run.at.cast::<u8>().wrapping_add(PREFETCH_BYTES + line));
                }
            }
            // SAFETY: the caller promises the elements of the row, and what follows it are those of other rows.
            let found = unsafe { S::find::<true>(order, run) };
            position.write(found.position.unwrap_or(0) as u32);
            start += tile.inner.stride;
        }
        for position in at_end {
            let run = row(start);
            // SAFETY: the caller promises the elements of the row.
            let found = unsafe { S::find::<false>(order, run) };
            position.write(found.position.unwrap_or(0) as u32);
            start += tile.inner.stride;
        }
    }
}
