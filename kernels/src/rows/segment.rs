//! A segment of neighbours, and the search for its best element within registers. What the strategies for rows share;
//! nothing here knows of calls or loops.

use crate::order::{ArgOrder, LaneElem, Mask, Vec, load, max_all, padding};
use crate::positions::rarer;
use crate::simd::ops::{EQ, SimdOps, UNORDERED};
use crate::simd::token::Simd;
use crate::tuning::Tuning;

/// Contiguous elements, visited from the lowest address up or from the highest down.
#[derive(Clone, Copy)]
pub(super) struct Segment<L> {
    /// The lowest address.
    pub(super) at: *const L,
    pub(super) len: usize,
    pub(super) reversed: bool,
    /// How many elements further up in memory than each [block](super::blocked) to prefetch; 0 for none.
    pub(super) prefetch_distance: isize,
    pub(super) tuning: &'static Tuning,
}

impl<L: Copy> Segment<L> {
    #[inline(always)]
    pub(super) fn new(at: *const L, len: usize, reversed: bool, tuning: &'static Tuning) -> Self {
        Segment { at, len, reversed, prefetch_distance: 0, tuning }
    }

    /// Prefetches what is `bytes` further along the segment.
    #[inline(always)]
    pub(super) fn with_prefetch_bytes(self, bytes: usize) -> Self {
        let prefetch_distance = (bytes / size_of::<L>()) as isize;
        Segment { prefetch_distance: if self.reversed { -prefetch_distance } else { prefetch_distance }, ..self }
    }

    /// Prefetches what is ahead of its elements.
    #[inline(always)]
    pub(super) fn issue_prefetch<O: ArgOrder<Lane = L>>(self, _: O) {
        if self.prefetch_distance != 0 {
            self.tuning
                .prefetch
                .hint
                .prefetch(self.at.wrapping_offset(self.prefetch_distance), self.len * size_of::<L>());
        }
    }

    /// The part with elements `start` to `start + len`, in the order of visiting.
    #[inline(always)]
    pub(super) fn part(self, start: usize, len: usize) -> Self {
        let skipped = if self.reversed { self.len - start - len } else { start };
        Segment { at: self.at.wrapping_add(skipped), len, ..self }
    }

    /// As many elements elsewhere.
    #[inline(always)]
    pub(super) fn moved(self, distance: isize) -> Self {
        Segment { at: self.at.wrapping_offset(distance), ..self }
    }
}

/// The best element of a segment, or of all segments so far.
#[derive(Clone, Copy)]
pub(super) struct ArgResult<O: ArgOrder> {
    /// Its value in every lane, unless it is NaN.
    pub(super) value: Vec<O>,
    /// Its position, if there is one: there is none in a segment of nothing but NaN where NaN loses.
    pub(super) position: Option<usize>,
    /// Whether it is a NaN that wins, so that nothing can be better.
    pub(super) is_nan: bool,
}

impl<O: ArgOrder> ArgResult<O> {
    /// The position, 0 if there is none.
    #[inline(always)]
    pub(super) fn position(self) -> u32 {
        self.position.unwrap_or(0) as u32
    }

    /// Of no segment yet.
    #[inline(always)]
    pub(super) fn none(order: O) -> Self {
        ArgResult { value: order.identity(), position: None, is_nan: false }
    }

    /// Compares with what was found in a segment, the first element of which has position `first`. Segments come in the
    /// order of visiting.
    #[inline(always)]
    pub(super) fn update(&mut self, order: O, found: Self, first: usize) {
        let is_better = || order.simd().movemask(order.gt(found.value, self.value)) != 0;
        if let Some(position) = found.position
            && !self.is_nan
            && (found.is_nan || self.position.is_none() || is_better())
        {
            *self = ArgResult { position: Some(first + position), ..found };
        }
    }

    /// Whether it is known that no lane is better.
    #[inline(always)]
    pub(super) fn is_as_good(&self, order: O, lanes: Vec<O>) -> bool {
        let is_better = || order.simd().movemask(order.gt(lanes, self.value)) != 0;
        !O::Lane::HAS_NAN && self.position.is_some() && !is_better()
    }
}

/// The most vectors that [`find`] takes. See docs/tuning.md#lane-indexed-rows.
pub(super) const MAX_VECTORS: usize = 8;

/// Finds the first best element of a segment of at least `MIN` and up to `V` vectors.
///
/// # Safety
/// - The elements of the segment may be read.
#[inline(always)]
pub(super) unsafe fn find<O: ArgOrder, const MIN: usize, const V: usize>(
    order: O,
    segment: Segment<O::Lane>,
) -> ArgResult<O> {
    let row = RegisterRow::<MIN, V> { len: segment.len };
    let mut vectors = [order.identity(); V];
    let mut n = 0;
    while n < V {
        // SAFETY: the caller's promise: each start is a vector before the end of the segment.
        vectors[n] = unsafe { load(order, segment.at.add(row.start::<O>(n))) };
        n += 1;
    }
    row.find(order, vectors, segment.reversed)
}

/// Finds the first best element of a segment that is less than a vector.
///
/// # Safety
/// - The elements of the segment may be read; if `OVER_READ`, those that follow it in a vector may be too.
#[inline(always)]
pub(super) unsafe fn find_partial<O: ArgOrder, const OVER_READ: bool>(
    order: O,
    segment: Segment<O::Lane>,
) -> ArgResult<O> {
    // SAFETY: the caller's promise.
    let vector = unsafe { load_partial::<O, OVER_READ>(order, segment) };
    RegisterRow::<0, 1> { len: segment.len }.find(order, [vector], segment.reversed)
}

/// The segment that [`find_partial`] searches; the other lanes are the [padding].
#[inline(always)]
pub(super) unsafe fn load_partial<O: ArgOrder, const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> Vec<O> {
    let simd = order.simd();
    // SAFETY: the caller's promise.
    let vector = unsafe {
        if OVER_READ && !O::Simd::TUNING.has_masks {
            load(order, segment.at)
        } else {
            order.encode(simd.load_first_n(segment.at, segment.len))
        }
    };
    simd.select(simd.first_n_mask(segment.len), vector, padding(order))
}

/// How a segment lies in vectors: one after another. Vectors beyond the first `MIN` that would not fit overlap the ones
/// before, so that they end with the segment.
#[derive(Clone, Copy)]
pub(super) struct RegisterRow<const MIN: usize, const V: usize> {
    pub(super) len: usize,
}

impl<const MIN: usize, const V: usize> RegisterRow<MIN, V> {
    /// The element that vector `n` starts with.
    #[inline(always)]
    fn start<O: ArgOrder>(self, n: usize) -> usize {
        let (start, lanes) = (n * O::Simd::LANES, O::Simd::LANES);
        if n < const { if MIN == 0 { 1 } else { MIN } } || start + lanes <= self.len { start } else { self.len - lanes }
    }

    /// How many vectors' bits are in a word, and in how many words they all are.
    const fn words<O: ArgOrder>() -> (usize, usize) {
        let bits = O::Simd::LANES * O::Simd::BITS_PER_LANE as usize;
        let per_word = if bits < 64 { 64 / bits } else { 1 };
        (per_word, V.div_ceil(per_word))
    }

    /// The best value first, across all lanes; then each vector is compared with it, and the bits of the comparisons,
    /// side by side in one word or a few, tell the first. No step depends on the data (but for a row with a NaN that
    /// wins), so several rows are in flight at once: it is a mispredicted branch, more than all of this, that makes
    /// short rows slow.
    #[inline(always)]
    fn find<O: ArgOrder>(self, order: O, vectors: [Vec<O>; V], reversed: bool) -> ArgResult<O> {
        let value = order.simd().reduce_splat(max_all(order, &vectors), O::IS_MAX);
        let no_nans = order.simd().first_n_mask(0);
        let is_nan = O::NAN_WINS && order.simd().movemask(order.simd().or_nans(no_nans, &vectors)) != 0;
        let (position, is_found) = if is_nan {
            rarer();
            self.first::<O, true>(order, &vectors, value, reversed)
        } else {
            self.first::<O, false>(order, &vectors, value, reversed)
        };
        // Some element is equal to the best, unless there was nothing but NaN, and the best is still the identity.
        let position = if !O::NAN_LOSES || is_found { Some(position) } else { None };
        ArgResult { value, position, is_nan }
    }

    /// The place, in the order of visiting, of the first element that [is sought](is_sought), and whether there is one.
    #[inline(always)]
    pub(super) fn first<O: ArgOrder, const NAN: bool>(
        self,
        order: O,
        vectors: &[Vec<O>; V],
        value: Vec<O>,
        reversed: bool,
    ) -> (usize, bool) {
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
                bits |= simd.movemask(is_sought::<O, NAN>(order, vectors[v], value)) << shift;
                v += 1;
            }
            if const { MIN == 0 } {
                // Lanes beyond the segment hold the padding, which may equal the best.
                bits &= u64::MAX >> (64 - self.len as u32 * O::Simd::BITS_PER_LANE);
            }
            let bit = if reversed { 63_u32.wrapping_sub(bits.leading_zeros()) } else { bits.trailing_zeros() };
            // Without a bit, the number is not used; it may be beyond a `usize` of 32 bits.
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

/// What a search looks for: NaN, or if not `NAN`, what equals `value`.
#[inline(always)]
pub(super) fn is_sought<O: ArgOrder, const NAN: bool>(order: O, v: Vec<O>, value: Vec<O>) -> Mask<O> {
    if NAN { order.simd().compare::<UNORDERED>(v, v) } else { order.simd().compare::<EQ>(v, value) }
}
