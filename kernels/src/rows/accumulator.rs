//! What is kept of the chunks of a run, while they go by, and how the answer comes of it: see `blocked.rs`. Nothing
//! here knows how a run is cut into pieces, or how many go by at a time.

use super::blocks::{Chunks, LONG, Places, SHORT, chunk, has_long_chunks, may_shift};
use super::segment::{Equals, Found, IsNan, Run, Test, first_of};
use crate::memory::prefetch::LINE;
use crate::order::{Count, Order, Vec, fold_of, load_several};
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token};

/// How many chunks a lane can count.
#[inline(always)]
pub(super) const fn most_chunks<O: Order>() -> usize {
    (O::Simd::MAX_COUNT as usize).saturating_add(1)
}

/// Chunks from one question to the next whether a NaN that wins was seen: the others need not be looked at then, nor
/// those before to find it. To ask more often costs time where there is none.
const PATIENCE: usize = 16;

/// The running state over chunks, as many as can be counted.
#[derive(Clone, Copy)]
pub(super) struct Fold<O: Order> {
    best: Vec<O>,
    chunk_of_best: Count<O>,
    chunk: Count<O>,
    /// Of all that went by.
    trace: O::Trace,
    /// From which chunk on there may be a NaN that wins: so that one at the end of a run is not looked for from its
    /// start.
    clear: usize,
}

impl<O: Order> Fold<O> {
    #[inline(always)]
    pub(super) fn new(order: O) -> Self {
        let simd = order.simd();
        let (best, chunk) = (order.worst(), simd.count(0));
        Fold { best, chunk_of_best: chunk, chunk, trace: order.no_trace(), clear: 0 }
    }

    /// A copy, field by field: as a whole, the compiler moves what is between the fields too, and later loads wait for
    /// those stores.
    #[inline(always)]
    pub(super) fn copy(&self) -> Self {
        let &Fold { best, chunk_of_best, chunk, trace, clear } = self;
        Fold { best, chunk_of_best, chunk, trace, clear }
    }

    /// The best of each lane; NaN need not be seen there.
    #[inline(always)]
    pub(super) fn best(&self) -> Vec<O> {
        self.best
    }

    /// Whether nothing that follows can be better.
    #[inline(always)]
    pub(super) fn is_final(&self, order: O) -> bool {
        O::MAY_STOP && order.is_final(self.best, self.trace)
    }

    /// Of one run: until it is final, or to the end. If `LONGER`, chunks may be several times as long as a [`chunk`].
    ///
    /// # Safety
    /// - The run may be read, and is at least a chunk.
    #[inline(always)]
    pub(super) unsafe fn of<const LONGER: bool>(order: O, run: Chunks<O::Lane>) -> Self {
        let (mut fold, first) = (Fold::new(order), run.start_of_first());
        // SAFETY: the caller's promise; the second chunk is where the run says, if there is one.
        unsafe {
            if const { may_shift::<O>() } && run.may_shift {
                // The first by itself, because the second may be nearer than others.
                fold.start(order, first);
                // (The only one is seen twice.)
                let second = (run.count() - 1).min(1);
                fold.advance_from::<LONGER>(order, run, 0, second, first.wrapping_add(run.chunk - run.shift));
            } else {
                fold.advance_from::<LONGER>(order, run, 0, 0, first);
            }
        }
        fold
    }

    /// Goes on with a run, after `seen` chunks of other runs: until it is final, or to the end.
    ///
    /// # Safety
    /// - The run may be read, and is at least a chunk.
    #[inline(always)]
    pub(super) unsafe fn advance(&mut self, order: O, run: Chunks<O::Lane>, seen: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.advance_from::<false>(order, run, seen, 0, run.start_of_first()) }
    }

    /// The same with a run that is one chunk, a longer one.
    ///
    /// # Safety
    /// - As for [`Fold::advance`].
    #[inline(always)]
    pub(super) unsafe fn advance_by_one(&mut self, order: O, run: Run<O::Lane>, seen: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.step::<true>(order, run) };
        if O::MAY_STOP && !self.is_final(order) {
            self.clear = seen + 1;
        }
    }

    /// The same from a chunk on, which is there.
    ///
    /// # Safety
    /// - As for [`Fold::advance`]; if it is not the last, the chunk is at `at`.
    #[inline(always)]
    unsafe fn advance_from<const LONGER: bool>(
        &mut self,
        order: O,
        run: Chunks<O::Lane>,
        seen: usize,
        mut chunk: usize,
        at: *const O::Lane,
    ) {
        let last = run.count() - 1;
        let patience = if O::MAY_STOP { PATIENCE } else { last };
        let mut next = Run { at, ..run.run.part(0, run.chunk) };
        loop {
            // Of longer chunks, the last one is a turn of the same loop: by itself, it would be another copy of it.
            let is_last = chunk == last;
            if const { !(LONGER && O::Simd::TUNING.blends_may_be_dear) } && is_last {
                // SAFETY: as below.
                unsafe { self.step::<false>(order, run.last()) };
                break;
            }
            let pause = if is_last { last + 1 } else { last.min(chunk + patience) };
            if is_last {
                next = run.last();
            }
            while chunk < pause {
                // SAFETY: the caller promises the run; each chunk lies in it, the last by reaching back.
                unsafe { self.step::<LONGER>(order, next) };
                next = next.moved(run.step());
                chunk += 1;
            }
            if is_last {
                break;
            }
            if O::MAY_STOP {
                if self.is_final(order) {
                    break;
                }
                self.clear = seen + chunk;
            }
        }
    }

    /// Takes in the first of all chunks.
    ///
    /// # Safety
    /// - A chunk may be read from there on.
    #[inline(always)]
    unsafe fn start(&mut self, order: O, at: *const O::Lane) {
        // Where a run may be aligned, a chunk is no longer than that.
        const {
            let may_be_longer = has_long_chunks::<O>() || O::Simd::TUNING.blends_may_be_dear;
            assert!(!may_be_longer || O::Simd::LANES * size_of::<O::Lane>() < LINE);
        }
        // SAFETY: the caller promises a chunk.
        let vectors: [_; SHORT] = unsafe { load_several(order, at) };
        self.best = fold_of(order, &vectors);
        if O::MAY_STOP {
            self.trace = order.traced(self.trace, &vectors);
        }
        self.chunk = order.simd().count(1);
    }

    /// Takes in a chunk, or if `LONGER`, several as one.
    ///
    /// # Safety
    /// - The chunk may be read: as many elements as a [`chunk`] has, or several times as many if `LONGER`.
    #[inline(always)]
    unsafe fn step<const LONGER: bool>(&mut self, order: O, all: Run<O::Lane>) {
        let simd = order.simd();
        let better = if const { LONGER && O::Simd::TUNING.blends_may_be_dear } {
            let before = self.best;
            let end = all.at.wrapping_add(all.len);
            let mut part = Run { len: chunk::<O>(), ..all };
            while part.at < end {
                // SAFETY: the caller's promise.
                self.best = order.fold(unsafe { self.take(order, part) }, self.best);
                part = part.moved(chunk::<O>() as isize);
            }
            order.above(self.best, before)
        } else {
            // SAFETY: the caller's promise.
            let best = unsafe { self.take(order, Run { len: chunk::<O>(), ..all }) };
            let better = order.above(best, self.best);
            // Not a selection: the next chunk would have to wait for the comparison too.
            self.best = order.fold(best, self.best);
            better
        };
        self.chunk_of_best = simd.select_count(better, self.chunk, self.chunk_of_best);
        self.chunk = simd.add(self.chunk, simd.count(1));
    }

    /// The best of a [`chunk`], lane by lane.
    ///
    /// # Safety
    /// - The chunk may be read.
    #[inline(always)]
    unsafe fn take(&mut self, order: O, part: Run<O::Lane>) -> Vec<O> {
        part.ask(order);
        // SAFETY: the caller's promise.
        unsafe {
            if const { has_long_chunks::<O>() } {
                self.fold::<LONG>(order, &load_several(order, part.at))
            } else {
                self.fold::<SHORT>(order, &load_several(order, part.at))
            }
        }
    }

    #[inline(always)]
    fn fold<const VECTORS: usize>(&mut self, order: O, vectors: &[Vec<O>; VECTORS]) -> Vec<O> {
        if O::MAY_STOP {
            self.trace = order.traced(self.trace, vectors);
        }
        fold_of(order, vectors)
    }

    /// The first best of the chunks that went by.
    ///
    /// # Safety
    /// - They may be read, and are all of `chunks`.
    #[inline(always)]
    pub(super) unsafe fn finish<P: Places<Lane = O::Lane>>(self, order: O, chunks: P) -> Found<O> {
        let simd = order.simd();
        let value = simd.across(self.best, O::IS_MAX);
        if O::NAN_WINS && order.is_final(value, self.trace) {
            // SAFETY: the caller's promise.
            return Found { value, position: unsafe { find_from(order, chunks, self.clear, IsNan) }, is_nan: true };
        }
        // The fold never left its start, because all elements are equal to it or NaN: no chunk number was kept, and
        // there may be nothing but NaN.
        if O::NAN_LOSES && simd.bits(simd.eq(value, order.worst())) != 0 {
            // SAFETY: the caller's promise.
            return Found { value, position: unsafe { find_from(order, chunks, 0, Equals(value)) }, is_nan: false };
        }
        let winners = simd.eq(self.best, value);
        let none = simd.count(O::Simd::MAX_COUNT);
        let number = simd.smallest_count(simd.select_count(winners, self.chunk_of_best, none)).into() as usize;
        // SAFETY: the caller's promise, and a chunk of that number was seen.
        let (position, _) = unsafe { find_in(order, chunks, number, Equals(value)) };
        Found { value, position: Some(position), is_nan: false }
    }

    /// [`Fold::finish`] of a fold by the fast path of `order`, if it accepts the best.
    ///
    /// # Safety
    /// - As there.
    #[inline(always)]
    pub(super) unsafe fn finish_fast<E: Order<Lane = O::Lane, Simd = O::Simd, Fast = O>, P: Places<Lane = O::Lane>>(
        self,
        exact: E,
        order: O,
        chunks: P,
    ) -> Option<Found<E>> {
        if !order.accepts(order.simd().across(self.best, O::IS_MAX), self.trace) {
            return None;
        }
        // SAFETY: the caller's promise.
        let Found { value, position, .. } = unsafe { self.finish(order, chunks) };
        Some(Found { value: exact.of_fast(value), position, is_nan: false })
    }
}

/// Whether an element of a chunk passes the test: one question about a mask, where to find it takes one for each
/// vector.
///
/// # Safety
/// - The chunk may be read.
#[inline(always)]
unsafe fn passes<O: Order, T: Test<O>>(order: O, chunk: Run<O::Lane>, test: T) -> bool {
    let mut passes = order.simd().none();
    let mut start = 0;
    while start < chunk.len {
        // SAFETY: the caller's promise.
        passes = order.simd().or(passes, test.holds(order, unsafe { order.load(chunk.at.add(start)) }));
        start += O::Simd::LANES;
    }
    order.simd().bits(passes) != 0
}

/// The position of the first element of chunk number `n` that passes the test, and whether there is one.
///
/// # Safety
/// - The chunks may be read; `n` is below their count.
#[inline(always)]
unsafe fn find_in<O: Order, P: Places<Lane = O::Lane>, T: Test<O>>(
    order: O,
    chunks: P,
    n: usize,
    test: T,
) -> (usize, bool) {
    let (mut start, mut part) = chunks.place(n);
    if const { O::Simd::TUNING.blends_may_be_dear } && part.len > chunk::<O>() {
        // Of a longer chunk, the first part that has one: from the last on, so that no branch depends on which it is.
        let (all, len) = (part, chunk::<O>());
        let mut at = all.len - len;
        let mut first = at;
        while at > 0 {
            at -= len;
            // SAFETY: the caller promises that the chunks may be read; a part of one.
            let passes = unsafe { passes(order, all.part(at, len), test) };
            first = core::hint::select_unpredictable(passes, at, first);
        }
        (start, part) = (start + first, all.part(first, len));
    }
    // SAFETY: the caller promises that the chunks may be read.
    let (position, is_found) = unsafe {
        if const { has_long_chunks::<O>() } {
            first_of::<O, T, LONG>(order, &load_several(order, part.at), test, part.reversed)
        } else {
            first_of::<O, T, SHORT>(order, &load_several(order, part.at), test, part.reversed)
        }
    };
    (start + position, is_found)
}

/// The same for all chunks from number `first` on. A call of its own: few runs need it.
///
/// # Safety
/// - The chunks may be read.
#[inline(always)]
unsafe fn find_from<O: Order, P: Places<Lane = O::Lane>, T: Test<O>>(
    order: O,
    chunks: P,
    first: usize,
    test: T,
) -> Option<usize> {
    #[derive(Clone, Copy)]
    struct Call<O, P, T> {
        order: O,
        chunks: P,
        first: usize,
        test: T,
    }
    impl<O: Order, P: Places<Lane = O::Lane>, T: Test<O>> Task for Call<O, P, T> {
        type Output = Option<usize>;

        #[inline(always)]
        unsafe fn run(self) -> Option<usize> {
            for n in self.first..self.chunks.count() {
                // SAFETY: the caller's promise.
                unsafe {
                    if passes(self.order, self.chunks.place(n).1, self.test) {
                        return Some(find_in(self.order, self.chunks, n, self.test).0);
                    }
                }
            }
            None
        }
    }
    // SAFETY: the caller's promise.
    unsafe { order.simd().call(Call { order, chunks, first, test }) }
}
