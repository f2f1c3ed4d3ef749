//! Runs that do not fit the registers. A chunk of four or eight vectors is folded with maxima, and only the fold is compared with the best
//! so far: one comparison and two blends per chunk, not per vector, which is what lets this run at the speed of a plain maximum. What the
//! blends keep is the *number of the chunk*, per lane. At the end the best lane with the smallest chunk number wins, and one look into
//! that chunk gives the position.
//!
//! Chunk numbers are as wide as the elements, so a run of 8-bit elements is answered in pieces of 256 chunks. Runs of a mebibyte
//! and more are read in four pieces at a time.
//!
//! The last chunk overlaps the one before instead of leaving a remainder: what is seen twice is never strictly better than itself. A run
//! against the direction of memory is read chunk by chunk from its end; only the look into the chunk has to know.

use super::AHEAD_BYTES;
use super::fold::{Chunks, Fold, chunk, most_chunks, settle};
use super::run::{Best, Found, Run};
use crate::lanes::{Lanes, Task, Token};
use crate::order::Order;

/// The longest run that chunk numbers suffice for.
#[inline(always)]
const fn longest_piece<O: Order>() -> usize {
    most_chunks::<O>().saturating_mul(chunk::<O>())
}

/// Whether a run is no longer than that, nor is to be read in several places at once.
#[inline(always)]
pub(super) const fn is_one_piece<O: Order>(len: usize) -> bool {
    len <= longest_piece::<O>() && len < LONG_RUN_BYTES / size_of::<O::Lane>()
}

/// Runs, or pieces of a long run, that are read at once. Beyond the caches, one place at a time is as fast as a plain read, and four are faster,
/// because prefetchers stop at the end of each page: a row of 256 MiB of f32 went from 0.96 of a read to 1.28 (Zen 3). Those of Zen 5 go on, and four places
/// are no faster for one row, and take up to twice the time for rows of 8 to 64 KiB: so not by AVX-512, which is what such CPUs run.
pub(super) const STREAMS: usize = 4;

/// Whether they are worth it.
#[inline(always)]
pub(super) const fn has_streams<O: Order>() -> bool {
    O::Simd::SPECIALIZES && O::Simd::HAS_STREAMS
}

/// The shortest long run: beyond the L2 cache of current cores.
const LONG_RUN_BYTES: usize = 1 << 20;

/// Finds the first best element of a run of at least a [`chunk`].
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    // SAFETY: the caller's promise.
    unsafe { if is_one_piece::<O>(run.len) { find_piece(order, run) } else { find_long(order, run) } }
}

/// Finds the first best element of a run of at least a [`chunk`] and at most the [`longest_piece`].
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
unsafe fn find_piece<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    // SAFETY: the caller's promise.
    let [found] = unsafe { find_side_by_side(order, [run]) };
    found
}

/// The same for several runs of one length, in as many streams: by an order that takes fewer operations, if there is one and it is likely to have no
/// doubts.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn find_side_by_side<O: Order, const N: usize>(order: O, runs: [Run<O::Lane>; N]) -> [Found<O>; N] {
    // SAFETY: the caller's promise.
    unsafe {
        if !has_bits::<O>() {
            return fold_side_by_side(order, runs);
        }
        let bits = order.bits();
        let is_promising = is_promising(bits, &runs);
        let (mut folds, chunks) = ([Fold::new(bits); N], runs.map(|run| Chunks::new(order, run)));
        if is_promising {
            Fold::advance(&mut folds, bits, chunks, 0);
        }
        let mut found = [Found::nothing(order); N];
        let mut n = 0;
        while n < N {
            let settled = if is_promising { settle(order, bits, folds[n], chunks[n]) } else { None };
            found[n] = match settled {
                Some(found) => found,
                None => find_without_doubts(order, runs[n]),
            };
            n += 1;
        }
        found
    }
}

/// Whether there is an order that takes fewer operations, and is worth its code.
#[inline(always)]
pub(super) const fn has_bits<O: Order>() -> bool {
    O::HAS_BITS && O::Simd::SPECIALIZES
}

/// Whether the bits are likely to know the best: they do in the first and the last vector of each run. (Of ascending data, the first may be of no use,
/// and of descending data the last.)
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
pub(super) unsafe fn is_promising<O: Order, const N: usize>(bits: O, runs: &[Run<O::Lane>; N]) -> bool {
    let mut is_promising = true;
    for run in runs {
        // SAFETY: the caller promises that a run may be read and is at least a chunk long, so that it holds a vector at either end.
        let ends = unsafe { [bits.load(run.at), bits.load(run.at.add(run.len - O::Simd::LANES))] };
        is_promising &= bits.knows(bits.best_of(bits.fold_of(&ends), bits.nans_of(&ends)));
    }
    is_promising
}

/// [`find`] for an order whose bits would have doubts: a call too, for it is rare. Where NaN loses, it is likely the reason, and not met if bits are
/// [shifted](Order::Shifted). (Rows of 1000 f16 with 5 % of NaN by keys, 33 GB/s, without NaN 104; Zen 5, AVX-512.)
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn find_without_doubts<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    #[derive(Clone, Copy)]
    struct Call<O: Order> {
        order: O,
        run: Run<O::Lane>,
    }
    impl<O: Order> Task for Call<O> {
        type Output = Found<O>;

        #[inline(always)]
        fn run(self) -> Found<O> {
            let Call { order, run } = self;
            // SAFETY: the promise of the caller of `find_without_doubts`, where the only `Call` is made.
            unsafe {
                if let Some(shifted) = order.shifted() {
                    let (mut fold, chunks) = ([Fold::new(shifted)], Chunks::new(order, run));
                    Fold::advance(&mut fold, shifted, [chunks], 0);
                    let [fold] = fold;
                    if let Some(found) = settle(order, shifted, fold, chunks) {
                        return found;
                    }
                }
                let [found] = fold_side_by_side(order, [run]);
                found
            }
        }
    }
    order.simd().call(Call { order, run })
}

/// The same by one order.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn fold_side_by_side<O: Order, const N: usize>(order: O, runs: [Run<O::Lane>; N]) -> [Found<O>; N] {
    let (mut folds, chunks) = ([Fold::new(order); N], runs.map(|run| Chunks::new(order, run)));
    let mut found = [Found::nothing(order); N];
    // SAFETY: the caller's promise.
    unsafe {
        Fold::advance(&mut folds, order, chunks, 0);
        let mut n = 0;
        while n < N {
            found[n] = folds[n].finish(order, chunks[n]);
            n += 1;
        }
    }
    found
}

/// The same for as many runs as there are streams. A call, unlike the others, so that the code is not there twice: it is only worth its size beyond
/// the caches.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
pub(super) unsafe fn find_streams<O: Order>(order: O, runs: [Run<O::Lane>; STREAMS]) -> [Found<O>; STREAMS] {
    #[derive(Clone, Copy)]
    struct Call<O: Order> {
        order: O,
        runs: [Run<O::Lane>; STREAMS],
    }
    impl<O: Order> Task for Call<O> {
        type Output = [Found<O>; STREAMS];

        #[inline(always)]
        fn run(self) -> [Found<O>; STREAMS] {
            // SAFETY: the promise of the caller of `find_streams`, where the only `Call` is made.
            unsafe { find_side_by_side(self.order, self.runs) }
        }
    }
    order.simd().call(Call { order, runs })
}

/// [`find`] piece by piece, and in several streams where the run is long. A call too.
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
        fn run(self) -> Found<O> {
            // SAFETY: the promise of the caller of `find_long`, where the only `Call` is made.
            unsafe { find_in_pieces(self.order, self.run) }
        }
    }
    order.simd().call(Call { order, run })
}

/// # Safety
/// - As for [`find_long`].
#[inline(always)]
unsafe fn find_in_pieces<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    // As many chunks as a lane can count, or enough to forget what a piece costs.
    let piece_of_stream = longest_piece::<O>().min(1024 * chunk::<O>());
    let is_long = run.len >= LONG_RUN_BYTES / size_of::<O::Lane>();
    let streams = if is_long && has_streams::<O>() { STREAMS } else { 1 };
    let run = if is_long { run.asking_along(AHEAD_BYTES / streams) } else { run };
    let mut best = Best::new(order);
    let mut start = 0;
    while start < run.len && !best.is_final() {
        let left = run.len - start;
        let (streams, len) = if has_streams::<O>() && is_long && left >= STREAMS * piece_of_stream {
            (STREAMS, piece_of_stream)
        } else {
            (1, longest_piece::<O>().min(left).max(chunk::<O>()))
        };
        // The last piece may reach back, for the same reason as the last chunk.
        start = start.min(run.len - streams * len);
        let piece = |stream: usize| run.part(start + stream * len, len);
        // SAFETY: `start` leaves room for the pieces in the run, which the caller promises, and `len` was chosen to be at least a chunk.
        unsafe {
            if has_streams::<O>() && streams == STREAMS {
                let found = find_streams(order, [piece(0), piece(1), piece(2), piece(3)]);
                for (stream, found) in found.into_iter().enumerate() {
                    best.offer(found, start + stream * len);
                }
            } else {
                best.offer(find_piece(order, piece(0)), start);
            }
        }
        start += streams * len;
    }
    best.found()
}
