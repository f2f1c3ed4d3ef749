//! Packed rows and packed columns: no loop has stride 1 where vectors need it, so elements are gathered into a buffer that stays in the L1
//! cache, block by block, and the other two strategies run there. The tensor is never copied as a whole.

use super::Body;
use super::columns::Sweep;
use super::rows::{Best, Run};
use crate::gather::{Scratch, gather_block, gather_line};
use crate::lanes::{Lanes, MAX_VECTOR_BYTES};
use crate::order::Order;
use crate::tile::{Loop, Tile, Walk};
use core::mem::MaybeUninit;

/// The reduced loops of one output as stretches of their fastest loop, cut to the room that a buffer has.
struct Stretches<'a> {
    slower: Walk<'a>,
    line: Loop,
    /// Where the rest of the current line starts, in elements from the output, and how long it is.
    offset: isize,
    left: usize,
}

impl<'a> Stretches<'a> {
    #[inline(always)]
    fn new(tile: &Tile<'a>) -> Self {
        let (line, slower) = tile.split_reduced();
        Stretches { slower: Walk::new(slower), line, offset: 0, left: 0 }
    }

    /// The offset and length of the next stretch, of at most `room` elements; `None` at the end, or without room.
    #[inline(always)]
    fn next(&mut self, room: usize) -> Option<(isize, usize)> {
        if room == 0 {
            return None;
        }
        if self.left == 0 {
            (self.offset, self.left) = (self.slower.next()?, self.line.size);
        }
        let (offset, len) = (self.offset, room.min(self.left));
        self.offset += len as isize * self.line.stride;
        self.left -= len;
        Some((offset, len))
    }
}

/// Gathers elements of one output in the order of visiting, across all reduced loops, so that even short loops fill whole vectors.
pub(crate) struct PackedRows;

impl Body for PackedRows {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        let mut scratch = Scratch::new();
        let scratch = scratch.elements::<O::Lane>();
        for (n, position) in positions.iter_mut().enumerate() {
            let output = tile.input.cast::<O::Lane>().wrapping_offset(tile.offset(n));
            let mut stretches = Stretches::new(tile);
            let mut best = Best::new(order);
            let mut visited = 0;
            while !best.is_final {
                let mut filled = 0;
                while let Some((offset, len)) = stretches.next(scratch.len() - filled) {
                    let out = &mut scratch[filled..filled + len];
                    // SAFETY: the caller promises that all elements which the loops reach may be read.
                    unsafe { gather_line(out, output.wrapping_offset(offset), tile.line().stride) };
                    filled += len;
                }
                if filled == 0 {
                    break;
                }
                let run = Run { at: scratch.as_ptr().cast(), len: filled, reversed: false };
                // SAFETY: so far the buffer is initialised.
                unsafe { best.offer(run, visited) };
                visited += filled as u32;
            }
            position.write(best.position);
        }
    }
}

/// Gathers one element of each of many outputs next to each other, row by row.
pub(crate) struct PackedColumns;

impl Body for PackedColumns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        let mut first = 0;
        while first < positions.len() {
            let left = &mut positions[first..];
            // SAFETY: the caller's promises.
            first += unsafe {
                if left.len() > O::Simd::LANES {
                    reduce_gathered::<O, 4>(order, tile, first, left)
                } else {
                    reduce_gathered::<O, 1>(order, tile, first, left)
                }
            };
        }
    }
}

/// The most lanes that [`reduce_gathered`] may have.
const MAX_LANES: usize = 4 * MAX_VECTOR_BYTES;

/// Reduces as many outputs as fit into `U` vectors, from number `first` on, and tells how many. Lanes left over repeat the last output.
#[inline(always)]
unsafe fn reduce_gathered<O: Order, const U: usize>(
    order: O,
    tile: &Tile<'_>,
    first: usize,
    positions: &mut [MaybeUninit<u32>],
) -> usize {
    let width = U * O::Simd::LANES;
    let outputs = width.min(positions.len());
    let mut lanes = [0; MAX_LANES];
    let lanes = &mut lanes[..width];
    for (n, offset) in lanes.iter_mut().enumerate() {
        *offset = tile.offset(first + n.min(outputs - 1));
    }

    let input = tile.input.cast::<O::Lane>();
    let mut scratch = Scratch::new();
    let scratch = scratch.elements::<O::Lane>();
    let capacity = scratch.len() / width;
    let mut lane_positions = [MaybeUninit::uninit(); MAX_LANES];
    let mut sweep = Sweep::<O, U>::new(order, &mut lane_positions);
    let mut stretches = Stretches::new(tile);
    loop {
        let mut filled = 0;
        while let Some((offset, rows)) = stretches.next(capacity - filled) {
            let out = &mut scratch[filled * width..(filled + rows) * width];
            // SAFETY: the caller promises that all elements which the loops reach may be read, from each output.
            unsafe { gather_block(out, input.wrapping_offset(offset), tile.line().stride, lanes) };
            filled += rows;
        }
        if filled == 0 {
            break;
        }
        // SAFETY: so far the buffer is initialised, in rows as wide as the sweep.
        unsafe { sweep.rows(scratch.as_ptr().cast(), width as isize, filled) };
    }
    sweep.finish();
    positions[..outputs].copy_from_slice(&lane_positions[..outputs]);
    outputs
}
