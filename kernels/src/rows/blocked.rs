//! Runs that do not fit the registers. A chunk of four or eight vectors is folded with maxima, and only the fold is
//! compared with the best so far: one comparison and two blends per chunk, not per vector, which is what lets this run
//! at the speed of a plain maximum. What the blends keep is the *number of the chunk*, per lane. At the end the best
//! lane with the smallest chunk number wins, and one look into that chunk gives the position.
//!
//! Chunk numbers are as wide as the elements, so a run of 8-bit elements is answered in pieces of 256 chunks.
//!
//! Where a blend takes several operations, a chunk of a long run is several such chunks, one after another. The best of
//! them is found once the run is, by one question for each.
//!
//! A run beyond the L1 or the L2 cache asks for what is ahead where that helps; one that is far enough,
//! `interleaved.rs` reads in several places at once where that is faster.
//!
//! The last chunk overlaps the one before instead of leaving a remainder: what is seen twice is never strictly better
//! than itself. A run against the direction of memory is read chunk by chunk from its end; only the look into the chunk
//! has to know.

use super::accumulator::{Fold, most_chunks};
use super::blocks::{Chunks, chunk};
use super::segment::{Best, Found, Run, has_fast_path};
use crate::order::Order;
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token};

/// The longest run that chunk numbers suffice for, one of which may be for what is seen twice so that others are
/// aligned.
#[inline(always)]
const fn longest_piece<O: Order>() -> usize {
    (most_chunks::<O>() - 1).saturating_mul(chunk::<O>())
}

/// Whether a run is no longer than that, and not so long that it is known to be far.
#[inline(always)]
pub(super) const fn is_one_piece<O: Order>(len: usize) -> bool {
    len <= longest_piece::<O>() && !is_long::<O>(len)
}

/// Whether a run is beyond the L2 cache of current cores.
#[inline(always)]
pub(super) const fn is_long<O: Order>(len: usize) -> bool {
    len >= (1 << 20) / size_of::<O::Lane>()
}

/// Finds the first best element of a run of at least a [`chunk`].
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe {
        let is_short = is_one_piece::<O>(run.len) && longer::<O>(run) == 1;
        if (const { O::Simd::TUNING.specializes } || !run.reversed) && is_short {
            find_piece::<O, true, false>(order, run, 1)
        } else {
            find_long(order, run)
        }
    }
}

/// Finds the first best element of a run of at least a chunk and at most the [`longest_piece`]: by the fast path, if
/// there is one, the first chunk has an element that it would accept, and it accepts the best in the end. If `LONGER`,
/// chunks are so many times longer.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
unsafe fn find_piece<O: Order, const ALIGNS: bool, const LONGER: bool>(
    order: O,
    run: Run<O::Lane>,
    longer: usize,
) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe {
        if const { !has_fast_path::<O>() } {
            return fold::<_, LONGER>(order, Chunks::aligned(order, run, ALIGNS).longer(longer));
        }
        let fast = order.fast();
        if fast.accepts(fast.load(run.part(0, O::Simd::LANES).at), fast.no_trace()) {
            let chunks = Chunks::aligned(fast, run, ALIGNS).longer(longer);
            if let Some(found) = Fold::of::<LONGER>(fast, chunks).finish_fast(order, fast, chunks) {
                return found;
            }
        }
        order.simd().call(Exact::<_, LONGER> { order, run, longer })
    }
}

/// The same by the order itself, where the fast path does not do. A call of its own, to keep it out of the code and the
/// registers of the fast path.
#[derive(Clone, Copy)]
struct Exact<O: Order, const LONGER: bool> {
    order: O,
    run: Run<O::Lane>,
    longer: usize,
}

impl<O: Order, const LONGER: bool> Task for Exact<O, LONGER> {
    type Output = Found<O>;

    #[inline(always)]
    unsafe fn run(self) -> Found<O> {
        // SAFETY: the promise of the caller of `find_piece`.
        unsafe { fold::<_, LONGER>(self.order, Chunks::new(self.order, self.run).longer(self.longer)) }
    }
}

/// The same of a piece of a run that is beyond the L2 cache, unless its elements have 8 bits: then it is not worth it
/// to align chunks.
///
/// # Safety
/// - As for [`find_piece`].
#[inline(always)]
unsafe fn find_piece_of_long<O: Order>(order: O, run: Run<O::Lane>, longer: usize) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe {
        if const { size_of::<O::Lane>() == 1 } {
            find_piece::<O, true, true>(order, run, longer)
        } else {
            find_piece::<O, false, true>(order, run, longer)
        }
    }
}

/// The same by one order, of chunks.
///
/// # Safety
/// - As for [`find_piece`].
#[inline(always)]
unsafe fn fold<O: Order, const LONGER: bool>(order: O, chunks: Chunks<O::Lane>) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe { Fold::of::<LONGER>(order, chunks).finish(order, chunks) }
}

/// [`find`] piece by piece. A call too.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find_long<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    #[derive(Clone, Copy)]
    struct Call<O: Order> {
        order: O,
        run: Run<O::Lane>,
    }
    impl<O: Order> Task for Call<O> {
        type Output = Found<O>;

        #[inline(always)]
        unsafe fn run(self) -> Found<O> {
            let Call { order, mut run } = self;
            if run.ahead == 0 {
                run = run.asking(run.tuning.prefetch(run.len * size_of::<O::Lane>()));
            }
            let longer = longer::<O>(run);
            let longest = longest_piece::<O>().saturating_mul(longer);
            let mut best = Best::new(order);
            let mut start = 0;
            while start < run.len && !best.is_final() {
                let len = longest.min(run.len - start).max(chunk::<O>() * longer);
                // The last piece may reach back, for the same reason as the last chunk.
                start = start.min(run.len - len);
                // SAFETY: `start` leaves room for the piece in the run, which the caller promises, and `len` was chosen
                // to be at least a chunk.
                best.offer(unsafe { find_piece_of_long(order, run.part(start, len), longer) }, start);
                start += len;
            }
            best.found()
        }
    }
    // SAFETY: the caller's promise.
    unsafe { order.simd().call(Call { order, run }) }
}

/// The shortest runs, in bytes, whose chunks are several times as long where that is faster: a call, and to look for
/// the best chunk in so many, take as long as some blends.
const SHORTEST_OF_LONGER: usize = 16 << 10;

/// How many times as long as a [`chunk`] those of a run are: [more than once](crate::tuning::RowTuning::block_factor)
/// where a blend takes several operations.
#[inline(always)]
fn longer<O: Order>(run: Run<O::Lane>) -> usize {
    let is_long = run.len >= SHORTEST_OF_LONGER / size_of::<O::Lane>();
    if const { O::Simd::TUNING.blends_may_be_dear } && is_long { run.tuning.rows.block_factor } else { 1 }
}
