//! A run of neighbours, and the search for its best element within registers. What the strategies for rows share; nothing here knows of
//! tiles or loops.

use crate::lanes::{Lanes, MAX_VECTOR_BYTES};
use crate::order::{Mask, Order, Vec};

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
    pub(super) fn part(self, start: usize, len: usize) -> Self {
        let skipped = if self.reversed { self.len - start - len } else { start };
        Run { at: self.at.wrapping_add(skipped), len, ..self }
    }
}

/// The best element of a run that is not empty.
pub(super) struct Found<O: Order> {
    /// Its value in every lane, unless it is NaN.
    pub(super) value: Vec<O>,
    /// Its position, if there is one: there is none in a run of nothing but NaN where NaN loses.
    pub(super) position: Option<usize>,
    /// Whether it is a NaN, and wins.
    pub(super) is_nan: bool,
}

/// The best of all runs that were offered so far.
pub(super) struct Best<O: Order> {
    order: O,
    found: Found<O>,
}

impl<O: Order> Best<O> {
    #[inline(always)]
    pub(super) fn new(order: O) -> Self {
        Best { order, found: Found { value: order.worst(), position: None, is_nan: false } }
    }

    /// Compares with what was found in a run, the first element of which has position `first`. Runs are offered in the order of visiting.
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

    /// Whether nothing can be better: a NaN where NaN wins.
    #[inline(always)]
    pub(super) fn is_final(&self) -> bool {
        self.found.is_nan
    }

    #[inline(always)]
    pub(super) fn found(self) -> Found<O> {
        self.found
    }
}

/// The most vectors that [`find`] takes.
pub(super) const MOST_VECTORS: usize = 8;

/// Finds the first best element of a run of at least `WHOLE` and up to `V` vectors; of a part of a vector, if `WHOLE` is 0.
///
/// The best value first, across all lanes; then each vector is compared with it, and the bits of the comparisons, side by side in one
/// word or a few, tell the first. No step depends on the data (but for a row with a NaN that wins), so several rows are in flight at once: it is
/// a mispredicted branch, more than all of this, that makes short rows slow.
///
/// # Safety
/// - The elements of the run may be read; with `WHOLE` of 0, a whole vector from its lowest address on.
#[inline(always)]
pub(super) unsafe fn find<O: Order, const WHOLE: usize, const V: usize>(order: O, run: Run<O::Lane>) -> Found<O> {
    let simd = order.simd();
    let row = Row::<WHOLE, V> { len: run.len, lanes: O::Simd::LANES, bits_per_lane: O::Simd::BITS_PER_LANE };
    let mut vectors = [order.worst(); V];
    for (n, vector) in vectors.iter_mut().enumerate() {
        // SAFETY: the caller's promise: each start is a vector before the end of the run, or there is but one vector.
        *vector = unsafe { order.load(run.at.add(row.start(n))) };
    }
    if WHOLE == 0 {
        vectors[0] = simd.select(simd.first(run.len), vectors[0], order.worst());
    }

    let value = order.across(order.fold_of(&vectors));
    let is_nan = O::NAN_WINS && simd.bits(order.nans_of(&vectors)) != 0;
    let (position, is_found) = if is_nan {
        row.first(order, &vectors, IsNan, run.reversed)
    } else {
        row.first(order, &vectors, Equals(value), run.reversed)
    };
    // Something is equal to the best, unless there was nothing but NaN, and the best is what the fold started with.
    let position = if !O::NAN_LOSES || is_found { Some(position) } else { None };
    Found { value, position, is_nan }
}

/// How a run lies in vectors: one after another, but those that need not be there reach back to the last place that the run has.
#[derive(Clone, Copy)]
struct Row<const WHOLE: usize, const V: usize> {
    len: usize,
    lanes: usize,
    bits_per_lane: u32,
}

impl<const WHOLE: usize, const V: usize> Row<WHOLE, V> {
    /// The element that vector `n` starts with.
    #[inline(always)]
    fn start(self, n: usize) -> usize {
        if n < WHOLE.max(1) { n * self.lanes } else { (n * self.lanes).min(self.len - self.lanes) }
    }

    /// The place, in the order of visiting, of the first element that passes the test, and whether there is one.
    #[inline(always)]
    fn first<O: Order, T: Test<O>>(self, order: O, vectors: &[Vec<O>; V], test: T, reversed: bool) -> (usize, bool) {
        let simd = order.simd();
        let per_word = (64 / (self.lanes * self.bits_per_lane as usize)).max(1);
        let words = V.div_ceil(per_word);
        let (mut first, mut is_found) = (0, false);
        for n in 0..words {
            // The word visited first comes last here, and overwrites the others: no branch.
            let word = if reversed { n } else { words - 1 - n };
            let base = self.start(word * per_word);
            let mut bits = 0;
            for (n, &vector) in vectors.iter().enumerate().skip(word * per_word).take(per_word) {
                let shift = (self.start(n) - base) as u32 * self.bits_per_lane;
                bits |= simd.bits(test.holds(order, vector)) << shift;
            }
            if WHOLE == 0 {
                // Lanes beyond the run hold the worst value, which may be the best.
                bits &= u64::MAX >> (64 - self.len as u32 * self.bits_per_lane);
            }
            let bit = if reversed { 63_u32.wrapping_sub(bits.leading_zeros()) } else { bits.trailing_zeros() };
            // No bit is no place, and not used; its number may be beyond a `usize` of 32 bits.
            let here = base.wrapping_add((bit / self.bits_per_lane) as usize);
            first = if n == 0 { here } else { core::hint::select_unpredictable(bits != 0, here, first) };
            is_found |= bits != 0;
        }
        (if reversed { self.len.wrapping_sub(1).wrapping_sub(first) } else { first }, is_found)
    }
}

/// The place, in the order of visiting, of the first element of some vectors that passes the test, and whether there is one.
#[inline(always)]
pub(super) fn first_of<O: Order, T: Test<O>, const V: usize>(
    order: O,
    vectors: &[Vec<O>; V],
    test: T,
    reversed: bool,
) -> (usize, bool) {
    let lanes = O::Simd::LANES;
    Row::<V, V> { len: V * lanes, lanes, bits_per_lane: O::Simd::BITS_PER_LANE }.first(order, vectors, test, reversed)
}

/// A copy of a run, where a whole vector may be read: what follows the run is zero.
///
/// By words, which stay in registers, because a vector load that has to wait for the stores of single elements takes longer than all else
/// that is done with so short a run.
///
/// # Safety
/// - The elements of the run may be read, and no more of them are there than the copy has place for.
#[inline(always)]
pub(super) unsafe fn copied<L: Copy>(run: Run<L>, copy: &mut Copied) -> Run<L> {
    let (from, bytes) = (run.at.cast::<u8>(), run.len * size_of::<L>());
    // SAFETY: each read lies within the run, and they are as long as their types. Zero is a value of all lanes.
    unsafe {
        let read = |at: usize| u64::from_le(from.add(at).cast::<u64>().read_unaligned());
        for (n, word) in copy.0.iter_mut().enumerate() {
            let at = 8 * n;
            let value = if at + 8 <= bytes {
                read(at)
            } else if at >= bytes {
                0
            } else if bytes >= 8 {
                // The last bytes, at the end of a word that reaches back.
                read(bytes - 8) >> (8 * (at + 8 - bytes))
            } else if bytes >= 4 {
                let half = |at: usize| u64::from(u32::from_le(from.add(at).cast::<u32>().read_unaligned()));
                half(0) | half(bytes - 4) << (8 * (bytes - 4))
            } else {
                let byte = |at: usize| u64::from(from.add(at).read()) << (8 * at);
                byte(0) | byte(bytes / 2) | byte(bytes - 1)
            };
            *word = value.to_le();
        }
    }
    Run { at: copy.0.as_ptr().cast(), ..run }
}

/// Room for a vector.
#[repr(align(64))]
pub(super) struct Copied([u64; MAX_VECTOR_BYTES / 8]);

impl Copied {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Copied([0; MAX_VECTOR_BYTES / 8])
    }
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
        order.nans(v, v)
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
