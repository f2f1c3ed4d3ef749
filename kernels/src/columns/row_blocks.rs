//! Many rows of columns, eight at a time: of such a chunk, the best of each lane is taken first, by maxima alone, and then compared with what is kept, as in [long rows](crate::rows::blocked). So a
//! comparison and a blend are paid for each chunk, not for each row. What the blend keeps is the chunk; in the end, each lane looks for its best in the rows of its own.
//! Nothing here knows of tiles.
//!
//! (In L2, GB/s row by row and this way, a Xeon: AVX2, 1000 rows of 16 f32 38 and 71, f64 43 and 71, i32 50 and 82, i64 39 and 55, of 64 f16 52 and 72, u16 53 and 87, of 3 f64, which are folded, 29 and 50;
//! AVX-512, 1000 rows of 16 f32 72 and 99, i64 76 and 110.)

use super::nan_tracker::Seen;
use super::tile::{Group, Rows};
use crate::order::key::Lane;
use crate::order::{Count, Order, Vec, fold_of};
use crate::simd::ops::Lanes;
use crate::simd::partial_load::MAX_VECTOR_BYTES;
use crate::simd::token::{Task, Token};
use core::mem::MaybeUninit;

/// Rows in a chunk. (Four, which are looked at sooner in the end, were 0.85 to 1.0 of the speed over 1000 rows.)
const CHUNK: usize = 8;

/// Whether so many rows, the first one among them, are worth the look in the end, which takes a load and a store for each lane and row of a chunk. (64 rows were as fast as in [pairs](Group::visit), or 0.9 of that; over 100 rows
/// 16-bit lanes by AVX2 were 0.9, over 166 1.0; over 250 rows, the same by AVX-512 0.8, 32-bit ones 1.2. So 8-bit lanes, which count to 255, do not.)
#[inline(always)]
pub(super) const fn are_tall<O: Order>(rows: usize) -> bool {
    has_tall::<O>() && rows >= const { fewest::<O>() }
}

/// Whether any number is: not if they are more than a lane can count, which do not come.
#[inline(always)]
pub(super) const fn has_tall<O: Order>() -> bool {
    O::Simd::TUNING.specializes && fewest::<O>() < O::Simd::MAX_COUNT as usize
}

#[inline(always)]
const fn fewest<O: Order>() -> usize {
    if 12 * O::Simd::LANES < FEWEST { FEWEST } else { 12 * O::Simd::LANES }
}

/// The fewest rows that are tall, of whatever lanes.
const FEWEST: usize = 128;

impl<O: Order, const U: usize> Group<O, U> {
    /// Goes on with those of some rows, the first of which has number 1, that are whole chunks, and gives the others. The answer holds only if what is seen leaves it sure: if `EXACT`, NaN does,
    /// unless it loses, and a lane has nothing that is better than the worst number.
    ///
    /// # Safety
    /// - As for [`Group::load`], each row; they are at least a chunk.
    #[inline(always)]
    pub(super) unsafe fn visit_chunks<const EXACT: bool>(
        &mut self,
        order: O,
        rows: Rows<O::Lane>,
        width: usize,
        seen: &mut Seen<O>,
    ) -> Rows<O::Lane> {
        // Copies: what a call writes to does not stay in registers before and after it.
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

/// A call, one for all places that have it: inlined, it was 200 KB of the shared object.
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
        // In place of branches, for which there would be two of the loop.
        let losing = simd.first(if nan_wins { 0 } else { O::Simd::LANES });
        if EXACT {
            so_far = Seen::nothing(order);
            // Of the first row, NaN is the best there is, or no better than the worst number.
            let mut u = 0;
            while !nan_wins && u < U {
                best[u] = order.fold(best[u], order.worst());
                u += 1;
            }
        }
        let stride = rows.stride.wrapping_mul(size_of::<O::Lane>() as isize);
        let (mut at, mut row) = (rows.first, simd.count(1));
        for _ in 0..rows.count / CHUNK {
            // Vectors side by side, a chunk each, although all but the first could follow later: their lines are here now. (With sixteen chunks of one vector before the next, 1000 rows of 64 f32 and i32 ran
            // at 0.7 and 0.6 of the speed; with what is kept in memory, for one loop for any number of vectors, at 0.8.)
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
                    // Where NaN wins, the first one of a lane, before the numbers: those are never above it. (Not here in the loop for what has none: f32 and f64 ran at 0.8 to 0.95 of the speed with
                    // it, and 16-bit floats, which have no use for it, too.)
                    let first = simd.and_not(simd.nans_of(&vectors), simd.or(simd.unordered(best[u], best[u]), losing));
                    best[u] = simd.select(first, order.simd().splat(O::Lane::NAN), best[u]);
                    row_of_best[u] = simd.select_count(first, row, row_of_best[u]);
                    // A fold drops NaN, if it starts with a number.
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
            // SAFETY: the caller's promise: the number is that of a chunk of the rows, or 0.
            *row_of_best = unsafe { simd.call(Look { order, first, stride, best, first_row: *row_of_best }) };
            if EXACT && !nan_wins && simd.bits(simd.eq(best, order.worst())) != 0 {
                so_far.look(order, &[order.simd().splat(O::Lane::NAN)]);
            }
        }
        *seen = so_far;
    }
}

/// In which row of its chunk each lane of a vector has its best. A call, because vectors of other groups look for it, too.
#[derive(Clone, Copy)]
struct Look<O: Order> {
    order: O,
    /// Where the vector is in row 1.
    first: *const O::Lane,
    /// In bytes.
    stride: isize,
    best: Vec<O>,
    /// The number of the first row of the chunk; or 0 where none was better than what came before.
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
            // Where there is none, what is in the first chunk does not matter.
            let mut at =
                first.wrapping_byte_offset((row as u32).saturating_sub(1) as isize * stride).wrapping_add(lane);
            let mut n = 0;
            while n < CHUNK {
                // SAFETY: the caller promises the rows of the chunk, whatever was found in them; the room is for a chunk of any vectors.
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
            // Where NaN wins, one is the best of its chunk; where it loses, none is.
            let is_best = if finds_nan { simd.or(is_best, simd.unordered(elements, elements)) } else { is_best };
            row_in_chunk = simd.select_count(is_best, simd.count(n as u32), row_in_chunk);
        }
        let is_better = simd.count_gt(first_row, simd.count(0));
        simd.add(first_row, simd.count_where(is_better, row_in_chunk))
    }
}

/// Room for a chunk of any vectors.
#[repr(align(64))]
struct Room([MaybeUninit<u8>; CHUNK * MAX_VECTOR_BYTES]);
