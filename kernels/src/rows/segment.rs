//! A run of neighbours, and the search for its best element within registers. What the strategies for rows share;
//! nothing here knows of tiles or loops.

use crate::memory::prefetch::Prefetch;
use crate::memory::row_prefetch::AHEAD_BYTES;
use crate::order::key::Lane;
use crate::order::{Mask, Order, Vec, fold_of};
use crate::simd::ops::Lanes;
use crate::simd::token::Token;
use crate::tuning::Tuning;

/// Contiguous elements, visited from the lowest address up or from the highest down.
#[derive(Clone, Copy)]
pub(super) struct Run<L> {
    /// The lowest address.
    pub(super) at: *const L,
    pub(super) len: usize,
    pub(super) reversed: bool,
    /// How far from each element that is, in elements, which to ask for meanwhile; 0 for none. Only runs that are
    /// [folded](super::accumulator) ask.
    pub(super) ahead: isize,
    pub(super) tuning: &'static Tuning,
}

impl<L: Copy> Run<L> {
    /// Asks for nothing.
    #[inline(always)]
    pub(super) fn new(at: *const L, len: usize, reversed: bool, tuning: &'static Tuning) -> Self {
        Run { at, len, reversed, ahead: 0, tuning }
    }

    /// Asks for what is `bytes` further along the run.
    #[inline(always)]
    pub(super) fn asking_along(self, bytes: usize) -> Self {
        let ahead = (bytes / size_of::<L>()) as isize;
        self.asking_at(if self.reversed { -ahead } else { ahead })
    }

    /// Asks for what is so many elements from there.
    #[inline(always)]
    pub(super) fn asking_at(self, ahead: isize) -> Self {
        Run { ahead, ..self }
    }

    /// Asks for what is further along the run, if that is to be asked for.
    #[inline(always)]
    pub(super) fn asking(self, prefetch: Prefetch) -> Self {
        if prefetch.asks(false) { self.asking_along(AHEAD_BYTES) } else { self }
    }

    /// Asks for what is ahead of its elements, if anything is.
    #[inline(always)]
    pub(super) fn ask<O: Order<Lane = L>>(self, _: O) {
        if self.ahead != 0 {
            self.tuning.prefetch.hint.prefetch(self.at.wrapping_offset(self.ahead), self.len * size_of::<L>());
        }
    }

    /// The part with elements `start` to `start + len`, in the order of visiting.
    #[inline(always)]
    pub(super) fn part(self, start: usize, len: usize) -> Self {
        let skipped = if self.reversed { self.len - start - len } else { start };
        Run { at: self.at.wrapping_add(skipped), len, ..self }
    }

    /// As many elements elsewhere.
    #[inline(always)]
    pub(super) fn moved(self, distance: isize) -> Self {
        Run { at: self.at.wrapping_offset(distance), ..self }
    }
}

/// The best element of a run that is not empty.
#[derive(Clone, Copy)]
pub(super) struct Found<O: Order> {
    /// Its value in every lane, unless it is NaN.
    pub(super) value: Vec<O>,
    /// Its position, if there is one: there is none in a run of nothing but NaN where NaN loses.
    pub(super) position: Option<usize>,
    /// Whether it is a NaN, and wins.
    pub(super) is_nan: bool,
}

impl<O: Order> Found<O> {
    /// Before anything was looked at.
    #[inline(always)]
    pub(super) fn nothing(order: O) -> Self {
        Found { value: order.worst(), position: None, is_nan: false }
    }

    /// The position, 0 if there is none.
    #[inline(always)]
    pub(super) fn position(self) -> u32 {
        self.position.unwrap_or(0) as u32
    }
}

/// The best of all runs that were offered so far.
pub(super) struct Best<O: Order> {
    order: O,
    found: Found<O>,
}

impl<O: Order> Best<O> {
    #[inline(always)]
    pub(super) fn new(order: O) -> Self {
        Best { order, found: Found::nothing(order) }
    }

    /// Compares with what was found in a run, the first element of which has position `first`. Runs are offered in the
    /// order of visiting.
    #[inline(always)]
    pub(super) fn offer(&mut self, found: Found<O>, first: usize) {
        let simd = self.order.simd();
        let is_better = || simd.bits(self.order.above(found.value, self.found.value)) != 0;
        if let Some(position) = found.position
            && !self.is_final()
            && (found.is_nan || self.found.position.is_none() || is_better())
        {
            self.found = Found { position: Some(first + position), ..found };
        }
    }

    /// Whether it is known that no lane is better.
    #[inline(always)]
    pub(super) fn is_as_good(&self, lanes: Vec<O>) -> bool {
        let is_better = || self.order.simd().bits(self.order.above(lanes, self.found.value)) != 0;
        !O::Lane::HAS_NAN && self.found.position.is_some() && !is_better()
    }

    /// Whether nothing can be better: a NaN where NaN wins.
    #[inline(always)]
    pub(super) fn is_final(&self) -> bool {
        self.found.is_nan
    }

    #[inline(always)]
    pub(super) fn found(&self) -> Found<O> {
        self.found
    }

    /// The position, 0 if there is none.
    #[inline(always)]
    pub(super) fn position(&self) -> u32 {
        self.found.position()
    }
}

/// The most vectors that [`find`] takes.
pub(super) const MOST_VECTORS: usize = 8;

/// Finds the first best element of a run of at least `WHOLE` and up to `V` vectors.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find<O: Order, const WHOLE: usize, const V: usize>(order: O, run: Run<O::Lane>) -> Found<O> {
    let row = Row::<WHOLE, V> { len: run.len };
    // SAFETY: the caller's promise.
    row.find(order, unsafe { row.load(order, run) }, run.reversed)
}

/// Whether there is a [fast path](Order::Fast), and it is worth its code.
#[inline(always)]
pub(super) const fn has_fast_path<O: Order>() -> bool {
    O::HAS_FAST && O::Simd::TUNING.specializes
}

/// Finds the first best element of a run that is less than a vector.
///
/// # Safety
/// - The elements of the run may be read; if `ON`, those that follow it in a vector may be too.
#[inline(always)]
pub(super) unsafe fn find_in_part<O: Order, const ON: bool>(order: O, run: Run<O::Lane>) -> Found<O> {
    // SAFETY: the caller's promise.
    let vector = unsafe { load_part::<O, ON>(order, run) };
    Row::<0, 1> { len: run.len }.find(order, [vector], run.reversed)
}

/// A run that is less than a vector, and what nothing is worse than.
///
/// # Safety
/// - As for [`find_in_part`].
#[inline(always)]
pub(super) unsafe fn load_part<O: Order, const ON: bool>(order: O, run: Run<O::Lane>) -> Vec<O> {
    let simd = order.simd();
    // SAFETY: the caller's promise.
    let vector =
        unsafe { if ON && !O::Simd::LOADS_PARTS { order.load(run.at) } else { order.load_first(run.at, run.len) } };
    simd.select(simd.first(run.len), vector, order.least())
}

/// Where it is called, the compiler does not expect to come.
#[cold]
#[inline]
pub(super) fn rarely() {}

/// How a run lies in vectors: one after another, but those that need not be there reach back to the last place that the
/// run has.
#[derive(Clone, Copy)]
struct Row<const WHOLE: usize, const V: usize> {
    len: usize,
}

impl<const WHOLE: usize, const V: usize> Row<WHOLE, V> {
    /// # Safety
    /// - The elements of the run may be read, at least `WHOLE` vectors of them.
    #[inline(always)]
    unsafe fn load<O: Order>(self, order: O, run: Run<O::Lane>) -> [Vec<O>; V] {
        let mut vectors = [order.worst(); V];
        let mut n = 0;
        while n < V {
            // SAFETY: the caller's promise: each start is a vector before the end of the run.
            vectors[n] = unsafe { order.load(run.at.add(self.start::<O>(n))) };
            n += 1;
        }
        vectors
    }

    /// The element that vector `n` starts with.
    #[inline(always)]
    fn start<O: Order>(self, n: usize) -> usize {
        let (start, lanes) = (n * O::Simd::LANES, O::Simd::LANES);
        if n < const { if WHOLE == 0 { 1 } else { WHOLE } } || start + lanes <= self.len {
            start
        } else {
            self.len - lanes
        }
    }

    /// How many vectors' bits are in a word, and in how many words they all are.
    const fn words<O: Order>() -> (usize, usize) {
        let bits = O::Simd::LANES * O::Simd::BITS_PER_LANE as usize;
        let per_word = if bits < 64 { 64 / bits } else { 1 };
        (per_word, V.div_ceil(per_word))
    }

    /// Finds the first best element.
    ///
    /// The best value first, across all lanes; then each vector is compared with it, and the bits of the comparisons,
    /// side by side in one word or a few, tell the first. No step depends on the data (but for a row with a NaN that
    /// wins), so several rows are in flight at once: it is a mispredicted branch, more than all of this, that makes
    /// short rows slow.
    #[inline(always)]
    fn find<O: Order>(self, order: O, vectors: [Vec<O>; V], reversed: bool) -> Found<O> {
        let value = order.simd().across(fold_of(order, &vectors), O::IS_MAX);
        let is_nan = O::NAN_WINS && order.simd().bits(order.simd().nans_of(&vectors)) != 0;
        let (position, is_found) = if is_nan {
            rarely();
            self.first(order, &vectors, IsNan, reversed)
        } else {
            self.first(order, &vectors, Equals(value), reversed)
        };
        // Something is equal to the best, unless there was nothing but NaN, and the best is what the fold started with.
        let position = if !O::NAN_LOSES || is_found { Some(position) } else { None };
        Found { value, position, is_nan }
    }

    /// The place, in the order of visiting, of the first element that passes the test, and whether there is one.
    #[inline(always)]
    fn first<O: Order, T: Test<O>>(self, order: O, vectors: &[Vec<O>; V], test: T, reversed: bool) -> (usize, bool) {
        let simd = order.simd();
        let (per_word, words) = const { Self::words::<O>() };
        let (mut first, mut is_found) = (0, false);
        // Counted by hand: before it is optimised, an iterator is several times the code, and this is compiled hundreds
        // of times.
        let mut n = 0;
        while n < words {
            // The word visited first comes last here, and overwrites the others: no branch.
            let word = if const { Self::words::<O>().1 == 1 } || reversed { n } else { words - 1 - n };
            let mut v = word * per_word;
            let (base, end) = (self.start::<O>(v), if word + 1 == words { V } else { v + per_word });
            let mut bits = 0;
            while v < end {
                let shift = (self.start::<O>(v) - base) as u32 * O::Simd::BITS_PER_LANE;
                bits |= simd.bits(test.holds(order, vectors[v])) << shift;
                v += 1;
            }
            if const { WHOLE == 0 } {
                // Lanes beyond the run hold the worst value, which may be the best.
                bits &= u64::MAX >> (64 - self.len as u32 * O::Simd::BITS_PER_LANE);
            }
            let bit = if reversed { 63_u32.wrapping_sub(bits.leading_zeros()) } else { bits.trailing_zeros() };
            // No bit is no place, and not used; its number may be beyond a `usize` of 32 bits.
            let here = base.wrapping_add((bit / O::Simd::BITS_PER_LANE) as usize);
            first = if const { Self::words::<O>().1 == 1 } || n == 0 {
                here
            } else {
                core::hint::select_unpredictable(bits != 0, here, first)
            };
            is_found |= bits != 0;
            n += 1;
        }
        (if reversed { self.len.wrapping_sub(1).wrapping_sub(first) } else { first }, is_found)
    }
}

/// The place, in the order of visiting, of the first element of some vectors that passes the test, and whether there is
/// one.
#[inline(always)]
pub(super) fn first_of<O: Order, T: Test<O>, const V: usize>(
    order: O,
    vectors: &[Vec<O>; V],
    test: T,
    reversed: bool,
) -> (usize, bool) {
    Row::<V, V> { len: V * O::Simd::LANES }.first(order, vectors, test, reversed)
}

/// A test of elements: a closure, but forced inline.
pub(super) trait Test<O: Order>: Copy {
    fn holds(self, order: O, v: Vec<O>) -> Mask<O>;
}

#[derive(Clone, Copy)]
pub(super) struct IsNan;
impl<O: Order> Test<O> for IsNan {
    #[inline(always)]
    fn holds(self, order: O, v: Vec<O>) -> Mask<O> {
        order.simd().unordered(v, v)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Equals<V>(pub(super) V);
impl<O: Order> Test<O> for Equals<Vec<O>> {
    #[inline(always)]
    fn holds(self, order: O, v: Vec<O>) -> Mask<O> {
        order.simd().eq(v, self.0)
    }
}
