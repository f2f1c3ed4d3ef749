//! Rows: the elements of one output are contiguous (or gathered, to be so), and vectors run along them.
//!
//! A chunk of four vectors is folded with three maxima, and only the fold is compared with the best so far: one comparison and two
//! blends per chunk, not per vector, which is what lets this run at the speed of a plain maximum. What the blends keep is the
//! *number of the chunk*, per lane. At the end the best lane with the smallest chunk number wins, and one look into that chunk gives
//! the position. Chunk numbers are as wide as the elements, so a row of 8-bit elements is answered in pieces of 256 chunks.
//! Rows of a mebibyte and more are read in four pieces at a time.
//!
//! That look costs as much as 8 vectors, so rows of up to 8 keep a position per lane instead, and do not look anything up.
//!
//! The last chunk of a row overlaps the one before instead of leaving a remainder: what is seen twice is never strictly better than
//! itself. A row against the direction of memory is read chunk by chunk from its end; only the look into the chunk has to know.

use super::{Body, Strategy};
use crate::gather::{LaneOffsets, Scratch, Stretches};
use crate::lanes::{Lanes, MAX_VECTOR_BYTES};
use crate::order::{Count, Mask, Order, Vec};
use crate::tile::Tile;
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct Rows;

impl Body for Rows {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        let is_in_place = Strategy::Rows.is_in_place(tile.inner, tile.reduced, O::Simd::LANES);
        let reversed = is_in_place && tile.line().stride < 0;
        let mut scratch = Scratch::new();
        let mut positions = positions.iter_mut();
        for o in 0..tile.outer.size as isize {
            for i in 0..tile.inner.size as isize {
                let offset = o * tile.outer.stride + i * tile.inner.stride;
                let output = tile.input.cast::<O::Lane>().wrapping_offset(offset);
                let mut stretches = Stretches::new(tile);
                let mut best = Best::new(order);
                let mut visited = 0;
                while !best.is_final {
                    let (at, len) = if is_in_place {
                        let Some((offset, len)) = stretches.next(usize::MAX) else { break };
                        let to_lowest = if reversed { 1 - len as isize } else { 0 };
                        (output.wrapping_offset(offset + to_lowest), len)
                    } else {
                        // SAFETY: the caller promises that all elements which the loops reach may be read.
                        match unsafe { scratch.fill(&mut stretches, output, LaneOffsets::ONE) } {
                            (_, 0) => break,
                            filled => filled,
                        }
                    };
                    // SAFETY: a stretch of the fastest reduced loop, of stride 1 or -1, or what was gathered just now; not empty.
                    unsafe { best.offer(Run { at, len, reversed }, visited) };
                    visited += len as u32;
                }
                if let Some(position) = positions.next() {
                    position.write(best.position);
                }
            }
        }
    }
}

/// Contiguous elements, visited from the lowest address up or from the highest down.
#[derive(Clone, Copy)]
struct Run<L> {
    /// The lowest address.
    at: *const L,
    len: usize,
    reversed: bool,
}

impl<L: Copy> Run<L> {
    /// The part with elements `start` to `start + len`, in the order of visiting.
    #[inline(always)]
    fn part(self, start: usize, len: usize) -> Self {
        let skipped = if self.reversed { self.len - start - len } else { start };
        Run { at: self.at.wrapping_add(skipped), len, ..self }
    }
}

/// The best element of all runs that were offered so far.
struct Best<O: Order> {
    order: O,
    /// Its value in every lane; only meaningful once one was found.
    value: Vec<O>,
    is_found: bool,
    /// Its position; 0 until one was found.
    position: u32,
    /// Whether nothing can be better: a NaN where NaN wins.
    is_final: bool,
}

impl<O: Order> Best<O> {
    #[inline(always)]
    fn new(order: O) -> Self {
        Best { order, value: order.worst(), is_found: false, position: 0, is_final: false }
    }

    /// Compares with the elements of a run, the first of which has position `first`. Runs are offered in the order of visiting.
    ///
    /// # Safety
    /// - The elements of the run may be read; there is at least one.
    #[inline(always)]
    unsafe fn offer(&mut self, run: Run<O::Lane>, first: u32) {
        let lanes = O::Simd::LANES;
        let mut filled = [const { MaybeUninit::<O::Lane>::uninit() }; MAX_VECTOR_BYTES];
        let run = if run.len < lanes {
            // Copied in the order of visiting, and filled up with its first element, which changes no answer.
            for (n, element) in filled[..lanes].iter_mut().enumerate() {
                let part = run.part(if n < run.len { n } else { 0 }, 1);
                // SAFETY: the part is one element of the run, which the caller promises may be read.
                element.write(unsafe { part.at.read() });
            }
            Run { at: filled.as_ptr().cast(), len: lanes, reversed: false }
        } else {
            run
        };
        // SAFETY: the caller's promise, or one vector of elements that were written just now; either is at least a vector long, and more
        // than the longest short run is longer than a chunk.
        unsafe {
            if run.len <= Self::LONGEST_SHORT {
                self.offer_short(run, first);
            } else {
                self.offer_pieces(run, first);
            }
        }
    }

    /// The longest run for [`Best::offer_short`]: positions in it have to fit a narrow lane, and leave one number free.
    const LONGEST_SHORT: usize = {
        let (wanted, counted) = (8 * O::Simd::LANES, O::Simd::MAX_COUNT as usize);
        let longest = if wanted < counted { wanted } else { counted };
        assert!(longest + 1 >= Self::CHUNK);
        longest
    };

    /// A short run: the position of the best so far is kept in each lane, so that nothing has to be looked up at the end. More work per
    /// vector, but less per run, and nothing in it that depends on the data.
    #[inline(always)]
    unsafe fn offer_short(&mut self, run: Run<O::Lane>, first: u32) {
        let order = self.order;
        let simd = order.simd();
        let lanes = O::Simd::LANES;
        let nowhere = simd.count(O::Simd::MAX_COUNT);
        let (mut best, mut position_of_best) = (order.bottom(), nowhere);
        let mut position = simd.iota(run.reversed);
        let vectors = run.len.div_ceil(lanes);
        for n in 0..vectors {
            // The last vector reaches back.
            let start = (n * lanes).min(run.len - lanes);
            if n + 1 == vectors {
                position = simd.add(simd.iota(run.reversed), simd.count(start as u32));
            }
            // SAFETY: a part of the run, one vector long.
            let new = unsafe { order.load(run.part(start, lanes).at) };
            let better = order.better(new, best);
            best = simd.select(better, new, best);
            position_of_best = simd.select_count(better, position, position_of_best);
            position = simd.add(position, simd.count(lanes as u32));
        }
        let mut value = best;
        let mut distance = lanes / 2;
        while distance > 0 {
            let other = simd.swap(value, distance);
            value = simd.select(order.better(other, value), other, value);
            distance /= 2;
        }
        let position = smallest::<O>(simd.select_count(order.better(value, best), nowhere, position_of_best), order);
        let position = match position == O::Simd::MAX_COUNT as usize {
            false => position,
            // Nothing was better than the bottom: there is nothing but NaN, which is never found, or all elements tie.
            true if O::NAN_LOSES => return,
            true => 0,
        };
        if !self.is_found || simd.bits(order.better(value, self.value)) != 0 {
            (self.value, self.position, self.is_found) = (value, first + position as u32, true);
        }
    }

    /// Elements in a chunk.
    const CHUNK: usize = VECTORS * O::Simd::LANES;

    /// Elements in a piece of a long run: as many chunks as a lane can count, or enough to forget what a piece costs.
    const PIECE: usize = {
        let counted = (O::Simd::MAX_COUNT as usize).saturating_add(1);
        Self::CHUNK * if counted < 1024 { counted } else { 1024 }
    };

    /// A run in pieces of as many chunks as a lane can count, and a long one in several pieces at a time.
    #[inline(always)]
    unsafe fn offer_pieces(&mut self, run: Run<O::Lane>, first: u32) {
        let order = self.order;
        let counted = (O::Simd::MAX_COUNT as usize).saturating_add(1).saturating_mul(Self::CHUNK);
        let is_long = run.len >= LONG_RUN_BYTES / size_of::<O::Lane>();
        let mut start = 0;
        while start < run.len && !self.is_final {
            let left = run.len - start;
            let (streams, len) = if is_long && left >= STREAMS * Self::PIECE {
                (STREAMS, Self::PIECE)
            } else {
                (1, counted.min(left).max(Self::CHUNK))
            };
            // The last piece may reach back, for the same reason as the last chunk.
            start = start.min(run.len - streams * len);
            let piece = |stream: usize| Chunks { piece: run.part(start + stream * len, len), chunk: Self::CHUNK };
            let mut folds = [Fold::new(order); STREAMS];
            // SAFETY: parts of a readable run, at least a chunk long, so that each chunk lies in its piece, the last by reaching back.
            unsafe {
                if streams == STREAMS {
                    let pieces = [piece(0), piece(1), piece(2), piece(3)];
                    // Locals, so that they stay in registers.
                    let mut streams = folds;
                    for n in 0..pieces[0].count() {
                        for (fold, piece) in streams.iter_mut().zip(&pieces) {
                            fold.step(order, piece.start_of_whole(n));
                        }
                    }
                    folds = streams;
                } else {
                    let piece = piece(0);
                    let mut fold = folds[0];
                    for n in 0..piece.count() - 1 {
                        fold.step(order, piece.start_of_whole(n));
                    }
                    fold.step(order, piece.start_of_last());
                    folds[0] = fold;
                }
                for (stream, fold) in folds.iter().enumerate().take(streams) {
                    if !self.is_final {
                        self.offer_folded(piece(stream), fold, first + (start + stream * len) as u32);
                    }
                }
            }
            start += streams * len;
        }
    }

    /// Compares with the elements of a piece that has been folded.
    #[inline(always)]
    unsafe fn offer_folded(&mut self, chunks: Chunks<O::Lane>, fold: &Fold<O>, first: u32) {
        let order = self.order;
        let simd = order.simd();
        if O::NAN_WINS && simd.bits(fold.nans) != 0 {
            // SAFETY: as above.
            if let Some(position) = unsafe { chunks.find::<O, _>(order, 0..chunks.count(), IsNan) } {
                (self.position, self.is_final) = (first + position as u32, true);
            }
            return;
        }

        let mut value = fold.best;
        let mut lanes = O::Simd::LANES / 2;
        while lanes > 0 {
            value = order.fold(simd.swap(value, lanes), value);
            lanes /= 2;
        }
        if self.is_found && simd.bits(order.above(value, self.value)) == 0 {
            return;
        }
        let candidates = if O::NAN_LOSES && simd.bits(simd.eq(value, order.worst())) != 0 {
            // The fold never left its start, because all elements are equal to it or NaN: no chunk number was kept, and there may be
            // nothing but NaN.
            0..chunks.count()
        } else {
            let winners = simd.eq(fold.best, value);
            let none = simd.count(O::Simd::MAX_COUNT);
            let number = smallest::<O>(simd.select_count(winners, fold.chunk_of_best, none), order);
            number..number + 1
        };
        // SAFETY: as above, and the numbers are those of chunks.
        if let Some(position) = unsafe { chunks.find::<O, _>(order, candidates, Equals(value)) } {
            (self.value, self.position, self.is_found) = (value, first + position as u32, true);
        }
    }
}

/// The smallest of the counts.
#[inline(always)]
fn smallest<O: Order>(counts: Count<O>, order: O) -> usize {
    let counts = order.simd().counts(counts);
    let mut smallest = counts.as_ref()[0];
    for &count in counts.as_ref() {
        smallest = if count < smallest { count } else { smallest };
    }
    smallest.into() as usize
}

/// Vectors in a chunk.
const VECTORS: usize = 4;

/// Pieces that a long run is read in at once. Beyond the caches, one place at a time is as fast as a plain read, and four are faster,
/// because prefetchers stop at the end of each page: a row of 256 MiB of f32 went from 0.96 of a read to 1.28 (Zen 3).
const STREAMS: usize = 4;

/// The shortest long run: beyond the L2 cache of current cores.
const LONG_RUN_BYTES: usize = 1 << 20;

/// The running state over the chunks of a piece.
#[derive(Clone, Copy)]
struct Fold<O: Order> {
    best: Vec<O>,
    chunk_of_best: Count<O>,
    chunk: Count<O>,
    nans: Mask<O>,
}

impl<O: Order> Fold<O> {
    #[inline(always)]
    fn new(order: O) -> Self {
        let simd = order.simd();
        Fold { best: order.worst(), chunk_of_best: simd.count(0), chunk: simd.count(0), nans: simd.none() }
    }

    #[inline(always)]
    unsafe fn step(&mut self, order: O, at: *const O::Lane) {
        let simd = order.simd();
        let mut vectors = [order.worst(); VECTORS];
        for (u, vector) in vectors.iter_mut().enumerate() {
            // SAFETY: the caller promises a chunk.
            *vector = unsafe { order.load(at.add(u * O::Simd::LANES)) };
        }
        // Where NaN loses, the fold has to start with a number; where it wins, one in the first vector may spoil the fold, because the
        // mask tells.
        let mut best = if O::NAN_LOSES { order.fold(vectors[0], order.worst()) } else { vectors[0] };
        for &vector in &vectors[1..] {
            best = order.fold(vector, best);
        }
        if O::NAN_WINS {
            for pair in vectors.chunks(2) {
                self.nans = simd.or(self.nans, order.nans(pair[0], pair[pair.len() - 1]));
            }
        }
        let better = order.above(best, self.best);
        self.best = simd.select(better, best, self.best);
        self.chunk_of_best = simd.select_count(better, self.chunk, self.chunk_of_best);
        self.chunk = simd.add(self.chunk, simd.count(1));
    }
}

/// A piece as chunks, numbered in the order of visiting; the last one reaches back.
#[derive(Clone, Copy)]
struct Chunks<L> {
    piece: Run<L>,
    chunk: usize,
}

impl<L: Copy> Chunks<L> {
    #[inline(always)]
    fn count(self) -> usize {
        self.piece.len.div_ceil(self.chunk)
    }

    #[inline(always)]
    fn start_of_whole(self, n: usize) -> *const L {
        let forward = n * self.chunk;
        let start = if self.piece.reversed { self.piece.len - self.chunk - forward } else { forward };
        self.piece.at.wrapping_add(start)
    }

    #[inline(always)]
    fn start_of_last(self) -> *const L {
        self.piece.at.wrapping_add(if self.piece.reversed { 0 } else { self.piece.len - self.chunk })
    }

    /// The position, in the piece, of the first element of chunks number `among` that passes the test.
    #[inline(always)]
    unsafe fn find<O: Order<Lane = L>, T: Test<O>>(
        self,
        order: O,
        among: core::ops::Range<usize>,
        test: T,
    ) -> Option<usize> {
        let simd = order.simd();
        for n in among {
            let is_last = n + 1 >= self.count();
            let start = if is_last { self.start_of_last() } else { self.start_of_whole(n) };
            let mut found = usize::MAX;
            for u in 0..VECTORS {
                // The vector that is visited first comes last here, and overwrites the others. No branch here: which vector has the element
                // is nothing that a branch predictor could know, and a miss costs more than all of this.
                let u = if self.piece.reversed { u } else { VECTORS - 1 - u };
                // SAFETY: the caller promises that the piece, and so each of its chunks, may be read.
                let vector = unsafe { order.load(start.add(u * O::Simd::LANES)) };
                let bits = simd.bits(test.holds(order, vector));
                let bit =
                    if self.piece.reversed { 63_u32.wrapping_sub(bits.leading_zeros()) } else { bits.trailing_zeros() };
                // No bit is no place, and not used; its number is beyond a `usize` of 32 bits.
                let here = (u * O::Simd::LANES).wrapping_add((bit / O::Simd::BITS_PER_LANE) as usize);
                found = core::hint::select_unpredictable(bits != 0, here, found);
            }
            if found != usize::MAX {
                let in_memory = found + (start as usize - self.piece.at as usize) / size_of::<L>();
                return Some(if self.piece.reversed { self.piece.len - 1 - in_memory } else { in_memory });
            }
        }
        None
    }
}

/// A test of elements: a closure, but forced inline.
trait Test<O: Order>: Copy {
    fn holds(self, order: O, v: Vec<O>) -> Mask<O>;
}

#[derive(Clone, Copy)]
struct IsNan;
impl<O: Order> Test<O> for IsNan {
    #[inline(always)]
    fn holds(self, order: O, v: Vec<O>) -> Mask<O> {
        order.nans(v, v)
    }
}

#[derive(Clone, Copy)]
struct Equals<V>(V);
impl<O: Order> Test<O> for Equals<Vec<O>> {
    #[inline(always)]
    fn holds(self, order: O, v: Vec<O>) -> Mask<O> {
        order.simd().eq(v, self.0)
    }
}
