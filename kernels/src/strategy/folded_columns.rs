//! Folded columns: a line of outputs is too short for a vector, but its rows follow each other in memory, and are many. So rows of `width`
//! outputs are looked at as a `fold`-th as many rows of `fold * width` lanes, each a candidate for its column; in the end, each column takes the best of
//! its candidates.
//!
//! Gathering such lines instead costs a load and a store for each, a few bytes long: 3 columns of 1000 rows ran at 0.03 (u8) and 0.10
//! (f32) of `read` (Zen 3, AVX2, L2).

use super::panel::{Rows, reduce};
use super::run::{Equals, IsNan, Test};
use super::{Body, Strategy};
use crate::lanes::{Lanes, MAX_VECTOR_BYTES};
use crate::order::{Order, Vec};
use crate::tile::Tile;
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct FoldedColumns;

/// Vectors that rows are put side by side to fill, at most.
const VECTORS: usize = 2;

/// How many rows of `width` outputs are put side by side: less than two vectors, and more than one.
pub(super) const fn fold(width: usize, lanes: usize) -> usize {
    VECTORS * lanes / width
}

/// Blocks of rows whose candidates wait to be compared: most columns are one block, and what is left of it.
const BLOCKS: usize = 2;

/// Vectors that the candidates of a column fit: one lane in two of each waiting block, and the best of the blocks before.
const CANDIDATES: usize = BLOCKS * VECTORS / 2 + 1;

impl Body for FoldedColumns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        assert!(Strategy::FoldedColumns.takes(tile.inner, tile.reduced, O::Simd::LANES));
        let input = tile.input.cast::<O::Lane>();
        let mut has_nan = false;
        for (o, positions) in positions.chunks_exact_mut(tile.inner.size).enumerate() {
            let first = input.wrapping_offset(o as isize * tile.outer.stride);
            // SAFETY: the caller promises all elements of all outputs.
            unsafe { reduce_line(order, first, tile.line().size, positions, &mut has_nan) };
        }
    }
}

/// Some rows, from row `start` on, and the position of each lane's best in them, in folded rows.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    best: [MaybeUninit<u32>; VECTORS * MAX_VECTOR_BYTES],
}

/// # Safety
/// - `rows` rows as wide as there are positions may be read, one after another.
#[inline(always)]
unsafe fn reduce_line<O: Order>(
    order: O,
    first: *const O::Lane,
    rows: usize,
    positions: &mut [MaybeUninit<u32>],
    has_nan: &mut bool,
) {
    let width = positions.len();
    let fold = fold(width, O::Simd::LANES);
    let mut blocks = [Block { start: 0, best: [const { MaybeUninit::uninit() }; VECTORS * MAX_VECTOR_BYTES] }; BLOCKS];
    let (mut start, mut waiting, mut is_first) = (0, 0, true);
    while start < rows {
        // The last block may reach back to have a folded row: what is seen twice is never better than itself.
        start = start.min(rows - fold);
        let count = ((rows - start) / fold).min(O::Simd::MAX_COUNT as usize);
        let block = &mut blocks[waiting];
        block.start = start;
        let folded = Rows { first: first.wrapping_add(start * width), stride: (fold * width) as isize, count };
        // SAFETY: rows of the line.
        unsafe { reduce::<O, 1>(order, folded, &mut block.best[..fold * width], has_nan) };
        start += count * fold;
        waiting += 1;
        if waiting == BLOCKS || start == rows {
            for (column, best) in positions.iter_mut().enumerate() {
                // SAFETY: the blocks have been reduced, and the best was written before, unless these are the first.
                unsafe { settle(order, first, &blocks[..waiting], (column, width), best, is_first) };
            }
            (waiting, is_first) = (0, false);
        }
    }
}

/// Takes the best of the candidates for one column.
#[inline(always)]
unsafe fn settle<O: Order>(
    order: O,
    first: *const O::Lane,
    blocks: &[Block],
    (column, width): (usize, usize),
    best: &mut MaybeUninit<u32>,
    is_first: bool,
) {
    let (simd, lanes) = (order.simd(), O::Simd::LANES);
    let fold = fold(width, lanes);
    let mut candidates = [const { MaybeUninit::<u32>::uninit() }; CANDIDATES * MAX_VECTOR_BYTES];
    let mut values = [const { MaybeUninit::<O::Lane>::uninit() }; CANDIDATES * MAX_VECTOR_BYTES];
    let mut count = 0;
    let mut add = |position: u32| {
        candidates[count].write(position);
        // SAFETY: a position in the column.
        values[count].write(unsafe { first.add(position as usize * width + column).read() });
        count += 1;
    };
    // SAFETY: the caller's promises: all of these were written.
    unsafe {
        if !is_first {
            add(best.assume_init());
        }
        for block in blocks {
            for lane in 0..fold {
                let row = block.best[lane * width + column].assume_init() as usize;
                add((block.start + row * fold + lane) as u32);
            }
        }
    }
    // Filled up with the last one, which changes no answer.
    let last = values[count - 1];
    values[count..CANDIDATES * lanes].fill(last);

    // SAFETY: vectors of values that were written just now.
    let vectors: [_; CANDIDATES] = unsafe { order.load_several(values.as_ptr().cast()) };
    // SAFETY: as many candidates have been written.
    let candidates = unsafe { &*(&raw const candidates[..count] as *const [u32]) };
    let smallest = if O::NAN_WINS && simd.bits(order.nans_of(&vectors)) != 0 {
        smallest_of(order, &vectors, candidates, IsNan)
    } else {
        smallest_of(order, &vectors, candidates, Equals(order.across(order.fold_of(&vectors))))
    };
    // Where NaN loses and there is nothing else, the first.
    best.write(smallest.unwrap_or(0));
}

/// The smallest of the candidates whose values pass the test.
#[inline(always)]
fn smallest_of<O: Order, T: Test<O>>(order: O, vectors: &[Vec<O>], candidates: &[u32], test: T) -> Option<u32> {
    let (simd, per_lane) = (order.simd(), O::Simd::BITS_PER_LANE);
    let mut smallest = None;
    for (vector, candidates) in vectors.iter().zip(candidates.chunks(O::Simd::LANES)) {
        let mut bits = simd.bits(test.holds(order, *vector));
        while bits != 0 {
            let lane = bits.trailing_zeros() / per_lane;
            bits &= !(((1 << per_lane) - 1) << (lane * per_lane));
            // Lanes that were filled up have no candidate of their own.
            let candidate = candidates.get(lane as usize).copied();
            smallest = [smallest, candidate].into_iter().flatten().min();
        }
    }
    smallest
}
