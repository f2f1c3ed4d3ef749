//! Runs that do not fit the registers. A chunk of four or eight vectors is folded with maxima, and only the fold is compared with the best
//! so far: one comparison and two blends per chunk, not per vector, which is what lets this run at the speed of a plain maximum. What the
//! blends keep is the *number of the chunk*, per lane. At the end the best lane with the smallest chunk number wins, and one look into
//! that chunk gives the position.
//!
//! Chunk numbers are as wide as the elements, so a run of 8-bit elements is answered in pieces of 256 chunks.
//!
//! A run beyond the L2 cache asks for what is ahead where that helps; one that is far enough, `turns.rs` reads in several places at once where that is faster.
//!
//! The last chunk overlaps the one before instead of leaving a remainder: what is seen twice is never strictly better than itself. A run
//! against the direction of memory is read chunk by chunk from its end; only the look into the chunk has to know.

use super::fold::{Chunks, Fold, chunk, most_chunks, settle};
use super::luck::Ways;
use super::run::{Apart, Best, Found, Run, apart, has_bits};
use crate::lanes::{Lanes, Token};
use crate::order::Order;
use crate::prefetch::{AHEAD_BYTES, Prefetch};

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
        if (O::Simd::SPECIALIZES || !run.reversed) && is_one_piece::<O>(run.len) {
            find_piece::<O, true>(order, run, ways)
        } else {
            find_long(order, run)
        }
    }
}

/// Finds the first best element of a run of at least a [`chunk`] and at most the [`longest_piece`]: by an order that takes fewer operations, if there is one
/// and it is likely to have no doubts.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
unsafe fn find_piece<O: Order, const ALIGNS: bool>(order: O, run: Run<O::Lane>, ways: &mut Ways) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe {
        if !has_bits::<O>() {
            return fold(order, Chunks::aligned(order, run, ALIGNS));
        }
        let bits = order.bits();
        // Only of the first row both ends are looked at: beyond the caches, that is out of the order of memory. (Of each row and of the first, GB/s: 1000, 2000 and 4096 f16 23, 24 and
        // 18, and 26, 26 and 25; Zen 4, AVX2. In L2, up to a tenth.)
        if ways.bits.is_unknown() && !is_promising(bits, run) {
            ways.bits.wait();
        } else if ways.bits.tries() {
            let settled = settle_by(order, bits, run, ALIGNS);
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
unsafe fn find_piece_of_long<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    let mut ways = Ways::default();
    // SAFETY: the caller's promise.
    unsafe {
        if size_of::<O::Lane>() == 1 {
            find_piece::<O, true>(order, run, &mut ways)
        } else {
            find_piece::<O, false>(order, run, &mut ways)
        }
    }
}

/// The same by one order, of chunks.
///
/// # Safety
/// - As for [`find_piece`].
#[inline(always)]
unsafe fn fold<O: Order>(order: O, chunks: Chunks<O::Lane>) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe { Fold::of(order, chunks).finish(order, chunks) }
}

/// The same as a call.
#[derive(Clone, Copy)]
struct Folding;
impl<O: Order> Apart<O> for Folding {
    type Output = Found<O>;

    #[inline(always)]
    unsafe fn search(order: O, run: Run<O::Lane>) -> Found<O> {
        // SAFETY: the caller's promise.
        unsafe { fold(order, Chunks::new(order, run)) }
    }
}

/// The same by another order of the same elements, if it has no doubts in the end.
///
/// # Safety
/// - As for [`find_piece`].
#[inline(always)]
unsafe fn settle_by<O: Order, B: Order<Lane = O::Lane, Simd = O::Simd>>(
    order: O,
    other: B,
    run: Run<O::Lane>,
    aligns: bool,
) -> Option<Found<O>> {
    let chunks = Chunks::aligned(other, run, aligns);
    // SAFETY: the caller's promise.
    unsafe { settle(order, other, Fold::of(other, chunks), chunks) }
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
                Some(shifted) => settle_by(order, shifted, run, false),
                None => None,
            };
            match settled {
                Some(found) => found,
                None => fold(order, Chunks::new(order, run)),
            }
        }
    }
}

/// [`find`] piece by piece. A call too.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find_long<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe { apart(order, run, InPieces) }
}

#[derive(Clone, Copy)]
struct InPieces;
impl<O: Order> Apart<O> for InPieces {
    type Output = Found<O>;

    #[inline(always)]
    unsafe fn search(order: O, run: Run<O::Lane>) -> Found<O> {
        let run =
            if Prefetch::of(run.len * size_of::<O::Lane>()).asks(false) { run.asking_along(AHEAD_BYTES) } else { run };
        let mut best = Best::new(order);
        let mut start = 0;
        while start < run.len && !best.is_final() {
            let len = longest_piece::<O>().min(run.len - start).max(chunk::<O>());
            // The last piece may reach back, for the same reason as the last chunk.
            start = start.min(run.len - len);
            // What the piece before was like says less than its own ends, which are soon looked at: 64 MiB of f16 that go down through zero ran at 0.76 of the speed, because some
            // pieces were gone through twice. (Zen 5, AVX-512.)
            // SAFETY: `start` leaves room for the piece in the run, which the caller promises, and `len` was chosen to be at least a chunk.
            best.offer(unsafe { find_piece_of_long(order, run.part(start, len)) }, start);
            start += len;
        }
        best.found()
    }
}
