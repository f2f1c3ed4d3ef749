//! Row blocking. Of each eight rows, the best of each lane is taken by maxima alone, and then compared with the best so
//! far, as [long rows](crate::rows) do with their blocks. So a comparison and a select are paid for once in eight rows.
//! What is selected is the block; in the end, each lane looks for its best in the rows of its block. Knows nothing of
//! panels, and of the loops of a call.
//!
//! ```text
//! for each block of 8 rows:
//!     m            = max(row[0], .., row[7])
//!     better       = m > best
//!     best         = max(m, best)
//!     row_of_best  = select(better, first row of the block, row_of_best)
//! in each lane: row_of_best = the first row of that block that is equal to best
//! ```

use super::nan_tracker::Seen;
use super::tile::{Group, Rows};
use crate::order::key::Lane;
use crate::order::{Count, Order, Vec, fold_of};
use crate::simd::ops::Lanes;
use crate::simd::partial_load::MAX_VECTOR_BYTES;
use crate::simd::token::{Task, Token};
use core::mem::MaybeUninit;

/// Rows in a block. Fewer make the search in the end cheaper, and the loop slower.
const CHUNK: usize = 8;

/// Whether `rows` rows, the first one among them, are worth the search in the end. It takes a load and a store for each
/// lane and row of a block. See docs/tuning.md#row-blocking-from-128-rows-on.
#[inline(always)]
pub(super) const fn are_tall<O: Order>(rows: usize) -> bool {
    has_tall::<O>() && rows >= const { fewest::<O>() }
}

/// Whether any number of rows is. None is, if that would be more than a lane can count: so never for 8-bit lanes.
#[inline(always)]
pub(super) const fn has_tall<O: Order>() -> bool {
    O::Simd::TUNING.specializes && fewest::<O>() < O::Simd::MAX_COUNT as usize
}

/// The fewest rows that are taken in blocks.
#[inline(always)]
const fn fewest<O: Order>() -> usize {
    if 12 * O::Simd::LANES < FEWEST { FEWEST } else { 12 * O::Simd::LANES }
}

/// The same, of whatever lanes.
const FEWEST: usize = 128;

impl<O: Order, const U: usize> Group<O, U> {
    /// Reduces the whole blocks of some rows, the first of which has number 1, and gives the rows that are left.
    ///
    /// The answer is right only if `seen` is sure afterwards. If `EXACT`, it is so but for one case: NaN loses, and a
    /// lane has nothing better than the worst number.
    ///
    /// # Safety
    /// - As for [`Group::load`], for each row; they are at least a block.
    #[inline(always)]
    pub(super) unsafe fn visit_chunks<const EXACT: bool>(
        &mut self,
        order: O,
        rows: Rows<O::Lane>,
        width: usize,
        seen: &mut Seen<O>,
    ) -> Rows<O::Lane> {
        // Copies: what a call writes to would not stay in registers before and after it.
        let (mut group, mut so_far) = (*self, *seen);
        let chunks = Chunks { order, rows, width, group: &raw mut group, seen: &raw mut so_far };
        // SAFETY: the caller's promise, and two locals that nothing else uses meanwhile.
        unsafe {
            if EXACT {
                chunks.visit::<true>();
            } else {
                order.simd().call(chunks);
            }
        }
        (*self, *seen) = (group, so_far);
        rows.skip(rows.count / CHUNK * CHUNK)
    }
}

/// The loop, outlined to have one copy for all callers.
#[derive(Clone, Copy)]
struct Chunks<O: Order, const U: usize> {
    order: O,
    rows: Rows<O::Lane>,
    width: usize,
    group: *mut Group<O, U>,
    seen: *mut Seen<O>,
}

impl<O: Order, const U: usize> Task for Chunks<O, U> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: the caller's promise.
        unsafe { self.visit::<false>() };
    }
}

impl<O: Order, const U: usize> Chunks<O, U> {
    /// # Safety
    /// - As for [`Group::visit_chunks`]; both pointers are borrows that nothing else uses meanwhile.
    #[inline(always)]
    unsafe fn visit<const EXACT: bool>(self) {
        let Chunks { order, rows, width, .. } = self;
        let simd = order.simd();
        // SAFETY: the caller's promise.
        let (group, seen) = unsafe { (&mut *self.group, &mut *self.seen) };
        let (Group { mut best, mut row_of_best }, mut so_far) = (*group, *seen);
        let nan_wins = order.nan_wins();
        // A mask in place of branches, for which the compiler would make two loops.
        let losing = simd.first(if nan_wins { 0 } else { O::Simd::LANES });
        if EXACT {
            so_far = Seen::nothing(order);
            // In the first row, NaN is the best there is, or no better than the worst number.
            let mut u = 0;
            while !nan_wins && u < U {
                best[u] = order.fold(best[u], order.worst());
                u += 1;
            }
        }
        let stride = rows.stride.wrapping_mul(size_of::<O::Lane>() as isize);
        let (mut at, mut row) = (rows.first, simd.count(1));
        for _ in 0..rows.count / CHUNK {
            // All vectors of a block before the next block: one vector of all blocks would read each cache line several
            // times.
            for u in 0..U {
                let mut at = at.wrapping_add(Group::<O, U>::start_of(u, width));
                let mut vectors = [order.worst(); CHUNK];
                let mut n = 0;
                while n < CHUNK {
                    // SAFETY: the caller's promise: a vector of one of the rows.
                    vectors[n] = unsafe { order.load(at) };
                    at = at.wrapping_byte_offset(stride);
                    n += 1;
                }
                if !EXACT {
                    so_far.look(order, &vectors);
                } else {
                    // Where NaN wins, the first one of a lane is kept, and no number is above it. This is not in the
                    // other loop, where it would cost data without NaN.
                    let first = simd.and_not(simd.nans_of(&vectors), simd.or(simd.unordered(best[u], best[u]), losing));
                    best[u] = simd.select(first, order.simd().splat(O::Lane::NAN), best[u]);
                    row_of_best[u] = simd.select_count(first, row, row_of_best[u]);
                    // The maximum drops NaN, if it starts with a number.
                    vectors[0] = order.fold(vectors[0], order.worst());
                }
                let new = fold_of(order, &vectors);
                let better = order.above(new, best[u]);
                best[u] = order.fold(new, best[u]);
                row_of_best[u] = simd.select_count(better, row, row_of_best[u]);
            }
            row = simd.add(row, simd.count(CHUNK as u32));
            at = at.wrapping_byte_offset(CHUNK as isize * stride);
        }
        *group = Group { best, row_of_best };
        for (u, (&best, row_of_best)) in best.iter().zip(&mut group.row_of_best).enumerate() {
            let first = rows.first.wrapping_add(Group::<O, U>::start_of(u, width));
            // SAFETY: the caller's promise: the number is that of a block of the rows, or 0.
            *row_of_best = unsafe { simd.call(Look { order, first, stride, best, first_row: *row_of_best }) };
            if EXACT && !nan_wins && simd.bits(simd.eq(best, order.worst())) != 0 {
                so_far.look(order, &[order.simd().splat(O::Lane::NAN)]);
            }
        }
        *seen = so_far;
    }
}

/// In which row of its block each lane of a vector has its best. Outlined, because all vectors of a tile share it.
#[derive(Clone, Copy)]
struct Look<O: Order> {
    order: O,
    /// Where the vector is in row 1.
    first: *const O::Lane,
    /// In bytes.
    stride: isize,
    best: Vec<O>,
    /// The first row of the block, or 0 where none was better than what came before.
    first_row: Count<O>,
}

impl<O: Order> Task for Look<O> {
    type Output = Count<O>;

    #[inline(always)]
    unsafe fn run(self) -> Count<O> {
        let Look { order, first, stride, best, first_row } = self;
        let (simd, lanes) = (order.simd(), O::Simd::LANES);
        let mut room = Room([const { MaybeUninit::uninit() }; _]);
        let elements: *mut O::Lane = room.0.as_mut_ptr().cast();
        for (lane, &row) in simd.counts(first_row).as_ref().iter().enumerate() {
            let row: u64 = row.into();
            // Where there is no such block, the first one is read, and what is found there does not matter.
            let mut at =
                first.wrapping_byte_offset((row as u32).saturating_sub(1) as isize * stride).wrapping_add(lane);
            let mut n = 0;
            while n < CHUNK {
                // SAFETY: the caller promises the rows of the block, whatever was found in them; the buffer is for a
                // block of any vectors.
                unsafe { elements.add(n * lanes + lane).write(at.read()) };
                at = at.wrapping_byte_offset(stride);
                n += 1;
            }
        }
        let finds_nan = O::Lane::HAS_NAN && order.nan_wins();
        // If it is in none of the others, it is in the last.
        let mut n = CHUNK - 1;
        let mut row_in_chunk = simd.count(n as u32);
        while n > 0 {
            n -= 1;
            // SAFETY: all of them were written above.
            let elements = unsafe { order.load(elements.add(n * lanes)) };
            let is_best = simd.eq(elements, best);
            // Where NaN wins, one is the best of its block; where it loses, none is.
            let is_best = if finds_nan { simd.or(is_best, simd.unordered(elements, elements)) } else { is_best };
            row_in_chunk = simd.select_count(is_best, simd.count(n as u32), row_in_chunk);
        }
        let is_better = simd.count_gt(first_row, simd.count(0));
        simd.add(first_row, simd.count_where(is_better, row_in_chunk))
    }
}

/// A buffer for one block of a vector.
#[repr(align(64))]
struct Room([MaybeUninit<u8>; CHUNK * MAX_VECTOR_BYTES]);
