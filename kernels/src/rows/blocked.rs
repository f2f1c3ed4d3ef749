//! Runs that do not fit the registers. A chunk of four or eight vectors is folded with maxima, and only the fold is compared with the best
//! so far: one comparison and two blends per chunk, not per vector, which is what lets this run at the speed of a plain maximum. What the
//! blends keep is the *number of the chunk*, per lane. At the end the best lane with the smallest chunk number wins, and one look into
//! that chunk gives the position.
//!
//! Chunk numbers are as wide as the elements, so a run of 8-bit elements is answered in pieces of 256 chunks.
//!
//! Where a blend takes several operations, a chunk of a long run is several such chunks, one after another. The best of them is found once the run is, by one question for each.
//!
//! A run beyond the L1 or the L2 cache asks for what is ahead where that helps; one that is far enough, `interleaved.rs` reads in several places at once where that is faster.
//!
//! The last chunk overlaps the one before instead of leaving a remainder: what is seen twice is never strictly better than itself. A run
//! against the direction of memory is read chunk by chunk from its end; only the look into the chunk has to know.

use super::accumulator::{Fold, most_chunks, settle};
use super::blocks::{Chunks, chunk};
use super::luck::Ways;
use super::segment::{Apart, Best, Found, Run, apart, has_bits};
use crate::order::Order;
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token};
use core::ptr::NonNull;

/// The longest run that chunk numbers suffice for, one of which may be for what is seen twice so that others are aligned.
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

/// Finds the first best element of a run of at least a [`chunk`]; `ways` is what came of others. (Portable kernels against the direction of memory make a call of it: it was 25 KB of the
/// shared object, and rows of 21, 64 and 1000 run at 0.6 to 0.8, 0.8 and 0.9 to 1.1 of the speed without one.)
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find<O: Order>(order: O, run: Run<O::Lane>, ways: &mut Ways) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe {
        let is_short = is_one_piece::<O>(run.len) && longer::<O>(run) == 1;
        if (O::Simd::SPECIALIZES || !run.reversed) && is_short {
            find_piece::<O, true, false>(order, run, 1, ways)
        } else {
            find_long(order, run, if const { has_bits::<O>() } { Some(ways) } else { None })
        }
    }
}

/// Finds the first best element of a run of at least a chunk and at most the [`longest_piece`]: by an order that takes fewer operations, if there is one
/// and it is likely to have no doubts. If `LONGER`, chunks are so many times longer.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
unsafe fn find_piece<O: Order, const ALIGNS: bool, const LONGER: bool>(
    order: O,
    run: Run<O::Lane>,
    longer: usize,
    ways: &mut Ways,
) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe {
        if const { !has_bits::<O>() } {
            return fold::<_, LONGER>(order, Chunks::aligned(order, run, ALIGNS).longer(longer));
        }
        let bits = order.bits();
        // Only of the first row both ends are looked at: beyond the caches, that is out of the order of memory. (Of each row and of the first, GB/s: 1000, 2000 and 4096 f16 23, 24 and
        // 18, and 26, 26 and 25; Zen 4, AVX2. In L2, up to a tenth.)
        if ways.bits.is_unknown() && !is_promising(bits, run) {
            ways.bits.wait();
        } else if ways.bits.tries() {
            let settled = settle_by::<_, _, LONGER>(order, bits, Chunks::aligned(bits, run, ALIGNS).longer(longer));
            ways.bits.learn(settled.is_some());
            if let Some(found) = settled {
                return found;
            }
        }
        if ways.below_zero.tries() {
            let below = order.bits_below_zero();
            let found = apart(below, run, Folding);
            ways.below_zero.learn(found.position.is_some());
            if found.position.is_some() {
                return Found { value: order.of_other(below, found.value), position: found.position, is_nan: false };
            }
        }
        apart(order, run, WithoutDoubts)
    }
}

/// The same of a piece of a run that is beyond the L2 cache, unless its elements have 8 bits: then it is not worth it to align chunks. (18 KB of the shared object.)
///
/// # Safety
/// - As for [`find_piece`].
#[inline(always)]
unsafe fn find_piece_of_long<O: Order>(order: O, run: Run<O::Lane>, longer: usize, ways: &mut Ways) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe {
        if const { size_of::<O::Lane>() == 1 } {
            find_piece::<O, true, true>(order, run, longer, ways)
        } else {
            find_piece::<O, false, true>(order, run, longer, ways)
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

/// The same as a call.
#[derive(Clone, Copy)]
struct Folding;
impl<O: Order> Apart<O> for Folding {
    type Output = Found<O>;

    #[inline(always)]
    unsafe fn search(order: O, run: Run<O::Lane>) -> Found<O> {
        // SAFETY: the caller's promise.
        unsafe { fold::<_, false>(order, Chunks::new(order, run)) }
    }
}

/// The same by another order of the same elements, if it has no doubts in the end.
///
/// # Safety
/// - As for [`find_piece`].
#[inline(always)]
unsafe fn settle_by<O: Order, B: Order<Lane = O::Lane, Simd = O::Simd>, const LONGER: bool>(
    order: O,
    other: B,
    chunks: Chunks<O::Lane>,
) -> Option<Found<O>> {
    // SAFETY: the caller's promise.
    unsafe { settle(order, other, Fold::of::<LONGER>(other, chunks), chunks) }
}

/// Whether the bits are likely to know the best: they do in the first and the last vector of the run. (Of ascending data, the first may be of no use,
/// and of descending data the last.)
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
pub(super) unsafe fn is_promising<O: Order>(bits: O, run: Run<O::Lane>) -> bool {
    // SAFETY: the caller promises that a run may be read and is at least a chunk long, so that it holds a vector at either end.
    let ends = unsafe { [bits.load(run.at), bits.load(run.at.add(run.len - O::Simd::LANES))] };
    bits.knows(bits.best_of(bits.fold_of(&ends), bits.trace_of(&ends)))
}

/// [`find`] for an order whose bits would have doubts: a call too, for it is rare. Where NaN loses, it is likely the reason, and not met if bits are
/// [shifted](Order::Shifted). (Rows of 1000 f16 with 5 % of NaN by keys, 33 GB/s, without NaN 104; Zen 5, AVX-512.)
#[derive(Clone, Copy)]
struct WithoutDoubts;
impl<O: Order> Apart<O> for WithoutDoubts {
    type Output = Found<O>;

    #[inline(always)]
    unsafe fn search(order: O, run: Run<O::Lane>) -> Found<O> {
        // SAFETY: the caller's promise.
        unsafe {
            let settled = match order.shifted() {
                Some(shifted) => settle_by::<_, _, false>(order, shifted, Chunks::new(shifted, run)),
                None => None,
            };
            match settled {
                Some(found) => found,
                None => fold::<_, false>(order, Chunks::new(order, run)),
            }
        }
    }
}

/// [`find`] piece by piece; `ways` is what came of other runs, if that may matter. A call too.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find_long<O: Order>(order: O, run: Run<O::Lane>, ways: Option<&mut Ways>) -> Found<O> {
    #[derive(Clone, Copy)]
    struct Call<O: Order> {
        order: O,
        run: Run<O::Lane>,
        ways: Option<NonNull<Ways>>,
    }
    impl<O: Order> Task for Call<O> {
        type Output = Found<O>;

        #[inline(always)]
        unsafe fn run(self) -> Found<O> {
            let Call { order, mut run, ways } = self;
            if run.ahead == 0 {
                run = run.asking(order, run.tuning.prefetch(run.len * size_of::<O::Lane>()));
            }
            let longer = longer::<O>(run);
            let longest = longest_piece::<O>().saturating_mul(longer);
            let mut best = Best::new(order);
            let mut start = 0;
            while start < run.len && !best.is_final() {
                let len = longest.min(run.len - start).max(chunk::<O>() * longer);
                // The last piece may reach back, for the same reason as the last chunk.
                start = start.min(run.len - len);
                let mut own = Ways::default();
                // What the piece before was like says less than its own ends, which are soon looked at: 64 MiB of f16 that go down through zero ran at 0.76 of the speed, because some
                // pieces were gone through twice. (Zen 5, AVX-512.)
                let ways = match ways {
                    // SAFETY: it was lent for the call.
                    Some(ways) if len == run.len => unsafe { &mut *ways.as_ptr() },
                    _ => &mut own,
                };
                // SAFETY: `start` leaves room for the piece in the run, which the caller promises, and `len` was chosen to be at least a chunk.
                best.offer(unsafe { find_piece_of_long(order, run.part(start, len), longer, ways) }, start);
                start += len;
            }
            best.found()
        }
    }
    // SAFETY: the caller's promise.
    unsafe { order.simd().call(Call { order, run, ways: ways.map(NonNull::from) }) }
}

/// The shortest runs, in bytes, whose chunks are several times as long where that is faster: a call, and to look for the best
/// chunk in so many, take as long as some blends.
const SHORTEST_OF_LONGER: usize = 16 << 10;

/// How many times as long as a [`chunk`] those of a run are: [more than once](crate::tuning::RowTuning::block_factor) where a
/// blend takes several operations.
#[inline(always)]
fn longer<O: Order>(run: Run<O::Lane>) -> usize {
    let is_long = run.len >= SHORTEST_OF_LONGER / size_of::<O::Lane>();
    if O::Simd::BLENDS_MAY_BE_DEAR && is_long { run.tuning.rows.block_factor } else { 1 }
}
