//! Pieces: outputs whose elements come in several pieces: stretches of neighbours, or buffers of gathered elements.
//! Each piece is answered as a row is, and the answers are merged; but stretches of a chunk and more go by in turns,
//! and are answered together.

use super::blocked;
use super::blocks::chunk;
use super::interleaved;
use super::segment::{self, Best, Found, MOST_VECTORS, Run};
use crate::gather::{LaneOffsets, Scratch};
use crate::kernel::Body;
use crate::memory::args::Tile;
use crate::memory::prefetch::Prefetch;
use crate::memory::walk::Stretches;
use crate::order::Order;
use crate::positions::Positions;
use crate::simd::ops::Lanes;
use crate::simd::token::Token;
use crate::strategy::Strategy;

/// See the file.
pub(crate) struct Pieces;

impl Body for Pieces {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, mut positions: Positions<'_>) {
        let is_in_place = Strategy::Pieces.is_in_place(tile.reduced);
        let line = tile.line();
        if is_in_place && interleaved::takes::<O>(line.size) {
            // SAFETY: the caller's promise, and stretches are in place.
            return unsafe { interleaved::answer(order, tile, positions) };
        }
        let reversed = is_in_place && line.stride < 0;
        let to_lowest = if reversed { 1 - line.size as isize } else { 0 };
        let end = tile.end_of_block().map(|end| tile.input.cast::<O::Lane>().wrapping_offset(end));
        let mut scratch = Scratch::new();
        for n in 0..positions.len() {
            let output = tile.input.cast::<O::Lane>().wrapping_offset(tile.offset(n));
            let mut stretches = Stretches::new(tile);
            let mut best = Best::new(order);
            let mut visited = 0;
            while !best.is_final() {
                let (at, len) = if is_in_place {
                    let Some((offset, len)) = stretches.next(usize::MAX) else { break };
                    (output.wrapping_offset(offset + to_lowest), len)
                } else {
                    // SAFETY: the caller promises that all elements which the loops reach may be read.
                    match unsafe { scratch.fill(order.simd(), &mut stretches, output, end, LaneOffsets::ONE) } {
                        (_, 0) => break,
                        filled => filled,
                    }
                };
                // SAFETY: a stretch of the fastest reduced loop, of stride 1 or -1, or what was gathered just now; not
                // empty.
                best.offer(unsafe { find(order, Run::new(at, len, reversed, tile.tuning), tile.prefetch) }, visited);
                visited += len;
            }
            positions.write(n, best.position());
        }
    }
}

/// # Safety
/// - The elements of the run may be read; there is at least one.
#[inline(always)]
unsafe fn find<O: Order>(order: O, run: Run<O::Lane>, prefetch: Prefetch) -> Found<O> {
    let lanes = O::Simd::LANES;
    // SAFETY: the caller's promise; and each of the lengths is one that its search takes.
    unsafe {
        if run.len < lanes {
            segment::find_in_part::<O, false>(order, run)
        } else if run.len <= 4 * lanes {
            segment::find::<O, 1, 4>(order, run)
        } else if run.len < chunk::<O>() {
            segment::find::<O, 4, MOST_VECTORS>(order, run)
        } else if const { O::Simd::TUNING.specializes }
            && run.tuning.has_read_streams(prefetch)
            && blocked::is_long::<O>(run.len)
        {
            interleaved::find_in_places(order, run)
        } else {
            blocked::find_long(order, run)
        }
    }
}
