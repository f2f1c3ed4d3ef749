//! Rows: the elements of one output are contiguous, and vectors run along them.
//!
//! A chunk of four vectors is folded with three maxima, and only the fold is compared with the best so far: one comparison and two
//! blends per chunk, not per vector, which is what lets this run at the speed of a plain maximum. What the blends keep is the
//! *number of the chunk*, per lane. At the end the best lane with the smallest chunk number wins, and one look into that chunk gives
//! the position. Chunk numbers are as wide as the elements, so a row of 8-bit elements is answered in pieces of 256 chunks.
//!
//! The last chunk of a row overlaps the one before instead of leaving a remainder: what is seen twice is never strictly better than
//! itself. A row against the direction of memory is read chunk by chunk from its end; only the look into the chunk has to know.

use super::Body;
use crate::lanes::{Lanes, MAX_VECTOR_BYTES};
use crate::order::{Count, Mask, Order, Vec};
use crate::tile::{Tile, Walk};
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct Rows;

impl Body for Rows {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        let (line, slower) = tile.split_reduced();
        assert!(line.stride == 1 || line.stride == -1, "rows are contiguous");
        let reversed = line.stride < 0;
        let to_lowest = if reversed { 1 - line.size as isize } else { 0 };
        let input = tile.input.cast::<O::Lane>();
        let mut positions = positions.iter_mut();
        for o in 0..tile.outer.size as isize {
            for i in 0..tile.inner.size as isize {
                let output = input.wrapping_offset(o * tile.outer.stride + i * tile.inner.stride);
                let mut best = Best::new(order);
                let mut visited = 0;
                for offset in Walk::new(slower) {
                    let run = Run { at: output.wrapping_offset(offset + to_lowest), len: line.size, reversed };
                    // SAFETY: the caller promises that all elements which the loops reach may be read, and a run has the elements
                    // of one pass of the fastest loop.
                    unsafe { best.offer(run, visited) };
                    if best.is_final {
                        break;
                    }
                    visited += line.size as u32;
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
pub(super) struct Run<L> {
    /// The lowest address.
    pub(super) at: *const L,
    pub(super) len: usize,
    pub(super) reversed: bool,
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
pub(super) struct Best<O: Order> {
    order: O,
    /// Its value in every lane; a number. Only meaningful once one was found.
    value: Vec<O>,
    is_found: bool,
    /// Its position; 0 until one was found.
    pub(super) position: u32,
    /// Whether nothing can be better: a NaN where NaN wins.
    pub(super) is_final: bool,
}

impl<O: Order> Best<O> {
    #[inline(always)]
    pub(super) fn new(order: O) -> Self {
        Best { order, value: order.worst(), is_found: false, position: 0, is_final: false }
    }

    /// Compares with the elements of a run, the first of which has position `first`. Runs are offered in the order of visiting.
    ///
    /// # Safety
    /// - The elements of the run may be read; there is at least one.
    #[inline(always)]
    pub(super) unsafe fn offer(&mut self, run: Run<O::Lane>, first: u32) {
        let lanes = O::Simd::LANES;
        // SAFETY: the caller's promise, and each piece is as long as a chunk of its kind.
        unsafe {
            if run.len >= 4 * lanes {
                self.offer_pieces::<4>(run, first);
            } else if run.len >= lanes {
                self.offer_pieces::<1>(run, first);
            } else {
                self.offer_short(run, first);
            }
        }
    }

    /// A run shorter than a vector: copied in the order of visiting, and filled up with its first element, which changes no answer.
    #[inline(always)]
    unsafe fn offer_short(&mut self, run: Run<O::Lane>, first: u32) {
        let mut buffer = [MaybeUninit::<O::Lane>::uninit(); MAX_VECTOR_BYTES];
        for (n, element) in buffer[..O::Simd::LANES].iter_mut().enumerate() {
            let part = run.part(if n < run.len { n } else { 0 }, 1);
            // SAFETY: the part is one element of the run, which the caller promises may be read.
            element.write(unsafe { part.at.read() });
        }
        let filled = Run { at: buffer.as_ptr().cast(), len: O::Simd::LANES, reversed: false };
        // SAFETY: the buffer has one vector of initialised elements.
        unsafe { self.offer_pieces::<1>(filled, first) };
    }

    /// A run in pieces of as many chunks of `U` vectors as a lane can count.
    #[inline(always)]
    unsafe fn offer_pieces<const U: usize>(&mut self, run: Run<O::Lane>, first: u32) {
        let chunk = U * O::Simd::LANES;
        let longest = (O::Simd::MAX_COUNT as usize).saturating_add(1).saturating_mul(chunk);
        let mut start = 0;
        while start < run.len && !self.is_final {
            let len = longest.min(run.len - start).max(chunk);
            // The last piece may reach back, for the same reason as the last chunk.
            start = start.min(run.len - len);
            // SAFETY: a part of a readable run, at least a chunk long.
            unsafe { self.offer_piece::<U>(run.part(start, len), first + start as u32) };
            start += len;
        }
    }

    #[inline(always)]
    unsafe fn offer_piece<const U: usize>(&mut self, piece: Run<O::Lane>, first: u32) {
        let order = self.order;
        let simd = order.simd();
        let chunk = U * O::Simd::LANES;
        let chunks = Chunks { piece, chunk };
        let mut fold =
            Fold::<O> { best: order.worst(), chunk_of_best: simd.count(0), chunk: simd.count(0), nans: simd.none() };
        // SAFETY: the piece is at least a chunk long, and so each chunk lies in it, the last by reaching back.
        unsafe {
            for n in 0..chunks.count() - 1 {
                fold.step::<U>(order, chunks.start_of_whole(n));
            }
            fold.step::<U>(order, chunks.start_of_last());
        }

        if O::NAN_WINS && simd.bits(fold.nans) != 0 {
            // SAFETY: as above.
            if let Some(position) = unsafe { chunks.find::<O, U, _>(order, IsNan) } {
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
        let equals = Equals(value);
        let position = if O::NAN_LOSES && simd.bits(simd.eq(value, order.worst())) != 0 {
            // The fold never left its start, because all elements are equal to it or NaN, and no chunk number was kept.
            // SAFETY: as above.
            let Some(position) = (unsafe { chunks.find::<O, U, _>(order, equals) }) else { return };
            position
        } else {
            let winners = simd.eq(fold.best, value);
            let numbers = simd.counts(simd.select_count(winners, fold.chunk_of_best, simd.count(O::Simd::MAX_COUNT)));
            let mut number = u64::MAX;
            for &n in numbers.as_ref() {
                number = number.min(n.into());
            }
            // SAFETY: as above; the number is that of a chunk.
            unsafe { chunks.find_in::<O, U, _>(order, number as usize, equals) }.unwrap_or(0)
        };
        (self.value, self.position, self.is_found) = (value, first + position as u32, true);
    }
}

/// The running state over the chunks of a piece.
struct Fold<O: Order> {
    best: Vec<O>,
    chunk_of_best: Count<O>,
    chunk: Count<O>,
    nans: Mask<O>,
}

impl<O: Order> Fold<O> {
    #[inline(always)]
    unsafe fn step<const U: usize>(&mut self, order: O, at: *const O::Lane) {
        let simd = order.simd();
        let mut vectors = [order.worst(); U];
        for (u, vector) in vectors.iter_mut().enumerate() {
            // SAFETY: the caller promises `U` vectors.
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

    /// The position, in the piece, of the first element that passes the test.
    #[inline(always)]
    unsafe fn find<O: Order<Lane = L>, const U: usize, T: Test<O>>(self, order: O, test: T) -> Option<usize> {
        for n in 0..self.count() {
            // SAFETY: the caller's promise.
            let found = unsafe { self.find_in::<O, U, T>(order, n, test) };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The position, in the piece, of the first element of chunk `n` that passes the test.
    #[inline(always)]
    unsafe fn find_in<O: Order<Lane = L>, const U: usize, T: Test<O>>(
        self,
        order: O,
        n: usize,
        test: T,
    ) -> Option<usize> {
        let simd = order.simd();
        let last = n + 1 >= self.count();
        let start = if last { self.start_of_last() } else { self.start_of_whole(n) };
        let mut found = None;
        for u in 0..U {
            // The vector that is visited first comes last here, and overwrites the others: no early exit to mispredict.
            let u = if self.piece.reversed { u } else { U - 1 - u };
            // SAFETY: the caller promises that the piece, and so each of its chunks, may be read.
            let vector = unsafe { order.load(start.add(u * O::Simd::LANES)) };
            let bits = simd.bits(test.holds(order, vector));
            if bits != 0 {
                let lowest_bit = if self.piece.reversed { 63 - bits.leading_zeros() } else { bits.trailing_zeros() };
                found = Some(u * O::Simd::LANES + (lowest_bit / O::Simd::BITS_PER_LANE) as usize);
            }
        }
        let in_memory = found? + (start as usize - self.piece.at as usize) / size_of::<L>();
        Some(if self.piece.reversed { self.piece.len - 1 - in_memory } else { in_memory })
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
