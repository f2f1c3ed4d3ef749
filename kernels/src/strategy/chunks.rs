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

use super::run::{Best, Equals, Found, IsNan, Run, Test, first_of};
use crate::lanes::{Lanes, Task, Token};
use crate::order::{Count, Mask, Order, Vec};

/// Vectors in a chunk, by [`Token::HAS_LONG_CHUNKS`]: where a CPU loads about as many vectors per cycle as it has operations for, the operations of
/// a chunk weigh more. On Zen 3 (AVX2), eight were no faster than four, and f32 was slower. Of vectors of 64 bytes, eight are also more than many a row has:
/// with four, rows of 300 f16 went from 38 to 52 GB/s, of 600 u8 from 49 to 80, of 100 i64 from 59 to 77, of 1000 f64 from 117 to 135; only f16 lost 5 % in
/// long rows (Zen 5, AVX-512, L2). For NEON, docs/throughput.md has a model.
const SHORT: usize = 4;
const LONG: usize = 8;

/// The elements in a chunk, and so the fewest of a run.
#[inline(always)]
pub(super) const fn chunk<O: Order>() -> usize {
    (if O::Simd::HAS_LONG_CHUNKS { LONG } else { SHORT }) * O::Simd::LANES
}

/// The longest run that chunk numbers suffice for.
#[inline(always)]
const fn longest_piece<O: Order>() -> usize {
    (O::Simd::MAX_COUNT as usize).saturating_add(1).saturating_mul(chunk::<O>())
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

/// Chunks from one question to the next whether a NaN that wins was seen, so that the others need not be, nor those before to find it: with one NaN at its
/// end, a row of 64 K f32 went from 98 to 197 GB/s, of 128 K f16 from 59 to 240, as fast as others (Zen 5, AVX-512). (Zen 3: 64 K elements of f32 with 5 % of NaN
/// went from 83 GB/s to 5000, of f16 from 46 to 1050, rows of 1000 f32 from 65 to 100. Without NaN, it costs 0 to 2 %, and every 8 chunks up to 7.)
const PATIENCE: usize = 16;

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
        if !(O::HAS_BITS && O::Simd::SPECIALIZES) {
            return fold_side_by_side(order, runs).0;
        }
        let bits = order.bits();
        let is_promising = is_promising(bits, &runs);
        let (by_bits, clear) =
            if is_promising { fold_side_by_side(bits, runs) } else { ([Found::nothing(bits); N], [0; N]) };
        let mut found = [Found::nothing(order); N];
        let mut n = 0;
        while n < N {
            let Found { value, mut position, is_nan } = by_bits[n];
            let of_bits = order.of_bits(value);
            found[n] = if position.is_none() && !(is_promising && bits.knows(value)) {
                find_without_doubts(order, runs[n])
            } else {
                if position.is_none() {
                    let (chunks, test) = (Chunks::<O>(runs[n]), Equals(of_bits));
                    let start = if is_nan { clear[n] } else { 0 };
                    let (first, is_found) = chunks.find_in(order, start, test);
                    position = if is_found { Some(first) } else { chunks.find_from(start + 1, order, test) };
                }
                Found { value: of_bits, position, is_nan: false }
            };
            n += 1;
        }
        found
    }
}

/// Whether the bits are likely to know the best: they do in the first and the last vector of each run. (Of ascending data, the first may be of no use,
/// and of descending data the last.)
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn is_promising<O: Order, const N: usize>(bits: O, runs: &[Run<O::Lane>; N]) -> bool {
    let mut is_promising = true;
    for run in runs {
        // SAFETY: the caller promises that a run may be read and is at least a chunk long, so that it holds a vector at either end.
        let ends = unsafe { [bits.load(run.at), bits.load(run.at.add(run.len - O::Simd::LANES))] };
        is_promising &= bits.knows(bits.best_of(bits.fold_of(&ends), bits.nans_of(&ends)));
    }
    is_promising
}

/// [`find`] for an order whose bits would have doubts: a call too, for it is rare.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn find_without_doubts<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    struct Call<O: Order> {
        order: O,
        run: Run<O::Lane>,
    }
    impl<O: Order> Task for Call<O> {
        type Output = Found<O>;

        #[inline(always)]
        fn run(self) -> Found<O> {
            // SAFETY: the promise of the caller of `find_without_doubts`, where the only `Call` is made.
            let ([found], _) = unsafe { fold_side_by_side(self.order, [self.run]) };
            found
        }
    }
    order.simd().call(Call { order, run })
}

/// The same by one order, and from which chunk on there may be a NaN that wins: the question whether to go on tells that before others there is none, so
/// that one at the end of a run is not looked for from its start. If the order has doubts about a run, there is a value, and whether it is NaN, but no
/// position.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn fold_side_by_side<O: Order, const N: usize>(
    order: O,
    runs: [Run<O::Lane>; N],
) -> ([Found<O>; N], [usize; N]) {
    let mut folds = [Fold::new(order); N];
    let mut found = [Found::nothing(order); N];
    let mut clear = [0; N];
    // SAFETY: the caller promises the runs; each chunk lies in its run, the last by reaching back.
    unsafe {
        let last = Chunks::<O>(runs[0]).count() - 1;
        let patience = if O::MAY_STOP { PATIENCE } else { last };
        let (mut chunk, mut is_final) = (0, false);
        while chunk < last && !is_final {
            let pause = last.min(chunk + patience);
            while chunk < pause {
                let mut n = 0;
                while n < N {
                    folds[n].step(order, Chunks::<O>(runs[n]).start_of_whole(chunk));
                    n += 1;
                }
                chunk += 1;
            }
            is_final = O::MAY_STOP && chunk < last;
            let mut n = 0;
            while O::MAY_STOP && n < N {
                let has_nan = order.is_final(folds[n].best, folds[n].nans);
                is_final &= has_nan;
                clear[n] = if has_nan { clear[n] } else { chunk };
                n += 1;
            }
        }
        let mut n = 0;
        while n < N {
            let (mut fold, chunks) = (folds[n], Chunks::<O>(runs[n]));
            if !is_final {
                fold.step(order, chunks.start_of_last());
            }
            found[n] = fold.finish(order, chunks, clear[n]);
            n += 1;
        }
    }
    (found, clear)
}

/// The same for as many runs as there are streams. A call, unlike the others, so that the code is not there twice: it is only worth its size beyond
/// the caches.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
pub(super) unsafe fn find_streams<O: Order>(order: O, runs: [Run<O::Lane>; STREAMS]) -> [Found<O>; STREAMS] {
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

    /// # Safety
    /// - A chunk may be read from there on.
    #[inline(always)]
    unsafe fn step(&mut self, order: O, at: *const O::Lane) {
        // SAFETY: the caller promises a chunk.
        unsafe {
            if O::Simd::HAS_LONG_CHUNKS { self.step_by::<LONG>(order, at) } else { self.step_by::<SHORT>(order, at) }
        }
    }

    /// # Safety
    /// - `VECTORS` vectors may be read from there on.
    #[inline(always)]
    unsafe fn step_by<const VECTORS: usize>(&mut self, order: O, at: *const O::Lane) {
        let simd = order.simd();
        // SAFETY: the caller promises a chunk.
        let vectors: [_; VECTORS] = unsafe { order.load_several(at) };
        let best = order.fold_of(&vectors);
        if O::NAN_WINS || O::DOUBTS {
            self.nans = simd.or(self.nans, order.nans_of(&vectors));
        }
        let better = order.above(best, self.best);
        // Not a selection: the next chunk would have to wait for the comparison too.
        self.best = order.fold(best, self.best);
        self.chunk_of_best = simd.select_count(better, self.chunk, self.chunk_of_best);
        self.chunk = simd.add(self.chunk, simd.count(1));
    }

    /// What the fold found in the chunks that it has seen, of which no NaN that wins is in those before `clear`.
    ///
    /// # Safety
    /// - They may be read, and are all of `chunks`.
    #[inline(always)]
    unsafe fn finish(self, order: O, chunks: Chunks<O>, clear: usize) -> Found<O> {
        let simd = order.simd();
        let value = order.best_of(self.best, self.nans);
        if O::DOUBTS && order.is_in_doubt(value) {
            return Found { value, position: None, is_nan: order.is_final(self.best, self.nans) };
        }
        if O::NAN_WINS && simd.bits(self.nans) != 0 {
            // SAFETY: the caller's promise.
            return Found { value, position: unsafe { chunks.find_from(clear, order, IsNan) }, is_nan: true };
        }
        // The fold never left its start, because all elements are equal to it or NaN: no chunk number was kept, and there may be nothing
        // but NaN.
        if O::NAN_LOSES && simd.bits(simd.eq(value, order.worst())) != 0 {
            // SAFETY: the caller's promise.
            return Found { value, position: unsafe { chunks.find_from(0, order, Equals(value)) }, is_nan: false };
        }
        let winners = simd.eq(self.best, value);
        let none = simd.count(O::Simd::MAX_COUNT);
        let number = smallest::<O>(simd.select_count(winners, self.chunk_of_best, none), order);
        // SAFETY: the caller's promise, and a chunk of that number was seen.
        let (position, _) = unsafe { chunks.find_in(order, number, Equals(value)) };
        Found { value, position: Some(position), is_nan: false }
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

/// A run as chunks, numbered in the order of visiting; the last one reaches back.
#[derive(Clone, Copy)]
struct Chunks<O: Order>(Run<O::Lane>);

impl<O: Order> Chunks<O> {
    #[inline(always)]
    fn count(self) -> usize {
        self.0.len.div_ceil(chunk::<O>())
    }

    /// By a step, up or down, because the direction is not known when this is compiled.
    #[inline(always)]
    fn start_of_whole(self, n: usize) -> *const O::Lane {
        let (first, chunk) = (self.0.part(0, chunk::<O>()).at, chunk::<O>() as isize);
        first.wrapping_offset(n as isize * if self.0.reversed { -chunk } else { chunk })
    }

    #[inline(always)]
    fn start_of_last(self) -> *const O::Lane {
        self.0.part(self.0.len - chunk::<O>(), chunk::<O>()).at
    }

    #[inline(always)]
    fn start(self, n: usize) -> usize {
        (n * chunk::<O>()).min(self.0.len - chunk::<O>())
    }

    /// Whether an element of chunk number `n` passes the test: one question about a mask, where to find it takes one for each vector. (The second
    /// look at 256 KiB of f32, with one NaN at their end, went from 70 to 87 GB/s; Zen 3.)
    ///
    /// # Safety
    /// - As for [`Chunks::find_in`].
    #[inline(always)]
    unsafe fn is_in<T: Test<O>>(self, order: O, n: usize, test: T) -> bool {
        let chunk = self.0.part(self.start(n), chunk::<O>());
        let mut passes = order.simd().none();
        let mut start = 0;
        while start < chunk.len {
            // SAFETY: the caller promises that the run, and so each of its chunks, may be read.
            passes = order.simd().or(passes, test.holds(order, unsafe { order.load(chunk.at.add(start)) }));
            start += O::Simd::LANES;
        }
        order.simd().bits(passes) != 0
    }

    /// The position, in the run, of the first element of chunk number `n` that passes the test, and whether there is one.
    ///
    /// # Safety
    /// - The elements of the run may be read; `n` is below [`Chunks::count`].
    #[inline(always)]
    unsafe fn find_in<T: Test<O>>(self, order: O, n: usize, test: T) -> (usize, bool) {
        let start = self.start(n);
        let chunk = self.0.part(start, chunk::<O>());
        // SAFETY: the caller promises that the run, and so each of its chunks, may be read.
        let (position, is_found) = unsafe {
            if O::Simd::HAS_LONG_CHUNKS {
                first_of::<O, T, LONG>(order, &order.load_several(chunk.at), test, chunk.reversed)
            } else {
                first_of::<O, T, SHORT>(order, &order.load_several(chunk.at), test, chunk.reversed)
            }
        };
        (start + position, is_found)
    }

    /// The same for all chunks from number `first` on. A call of its own: few runs need it.
    ///
    /// # Safety
    /// - The elements of the run may be read.
    #[inline(always)]
    unsafe fn find_from<T: Test<O>>(self, first: usize, order: O, test: T) -> Option<usize> {
        struct Call<O: Order, T> {
            first: usize,
            order: O,
            chunks: Chunks<O>,
            test: T,
        }
        impl<O: Order, T: Test<O>> Task for Call<O, T> {
            type Output = Option<usize>;

            #[inline(always)]
            fn run(self) -> Option<usize> {
                for n in self.first..self.chunks.count() {
                    // SAFETY: the promise of the caller of `find_from`, where the only `Call` is made.
                    unsafe {
                        if self.chunks.is_in(self.order, n, self.test) {
                            return Some(self.chunks.find_in(self.order, n, self.test).0);
                        }
                    }
                }
                None
            }
        }
        order.simd().call(Call { first, order, chunks: self, test })
    }
}
