//! A segment of neighbours, and the search for its best element within registers. What the strategies for rows share;
//! nothing here knows of calls or loops.

use crate::order::{ArgOrder, LaneElem, Mask, Vec, max_all, padding};
use crate::positions::rarer;
use crate::prefetch::Hint;
use crate::simd::ops::{EQ, SimdOps, UNORDERED};
use crate::simd::token::Simd;
use crate::tuning::{PrefetchTuning, Tuning};
use bytemuck::Zeroable;
use core::marker::PhantomData;

/// Contiguous elements that may be read for `'a`, visited from the lowest address up or from the highest down.
#[derive(Clone, Copy)]
pub(super) struct Segment<'a, L> {
    /// The lowest address.
    at: *const L,
    len: usize,
    reversed: bool,
    /// How many elements further up in memory than each [block](super::blocked) to prefetch; 0 for none.
    prefetch_distance: isize,
    tuning: &'static Tuning,
    elements: PhantomData<&'a [L]>,
}

impl<'a, L: Copy> Segment<'a, L> {
    /// The elements from the lowest address on.
    ///
    /// # Safety
    /// - These elements may be read for `'a`, and nothing is written there meanwhile.
    #[inline(always)]
    pub(super) unsafe fn new(at: *const L, len: usize, reversed: bool, tuning: &'static Tuning) -> Self {
        Segment { at, len, reversed, prefetch_distance: 0, tuning, elements: PhantomData }
    }

    /// The elements of a slice, upwards.
    #[inline(always)]
    pub(super) fn of_slice(elements: &'a [L], tuning: &'static Tuning) -> Self {
        // SAFETY: a slice that is borrowed may be read, and nothing is written there.
        unsafe { Segment::new(elements.as_ptr(), elements.len(), false, tuning) }
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn is_reversed(self) -> bool {
        self.reversed
    }

    #[inline(always)]
    pub(super) fn tuning(self) -> &'static Tuning {
        self.tuning
    }

    /// The address that is so many elements from the lowest one.
    #[inline(always)]
    pub(super) fn address(self, distance: isize) -> *const L {
        self.at.wrapping_offset(distance)
    }

    /// Visits the elements in this direction.
    #[inline(always)]
    pub(super) fn with_direction(self, reversed: bool) -> Self {
        Segment { reversed, ..self }
    }

    /// Prefetches what is `bytes` further along the segment.
    #[inline(always)]
    pub(super) fn with_prefetch_bytes(self, bytes: usize) -> Self {
        let distance = (bytes / size_of::<L>()) as isize;
        self.with_prefetch_distance(if self.reversed { -distance } else { distance })
    }

    /// Prefetches what is so many elements further up in memory, which need not exist; nothing, if that is 0.
    #[inline(always)]
    pub(super) fn with_prefetch_distance(self, prefetch_distance: isize) -> Self {
        Segment { prefetch_distance, ..self }
    }

    #[inline(always)]
    pub(super) fn has_prefetch(self) -> bool {
        self.prefetch_distance != 0
    }

    /// Into which cache: what is [near](crate::tuning::PrefetchTuning::l2_distance_bytes) into L1.
    #[inline(always)]
    fn hint(self) -> Hint {
        let PrefetchTuning { hint, l2_distance_bytes, .. } = self.tuning.prefetch;
        let is_near = self.prefetch_distance.unsigned_abs() * size_of::<L>() <= l2_distance_bytes;
        if is_near { Hint::L1 } else { hint }
    }

    /// Prefetches what is ahead of its elements.
    #[inline(always)]
    pub(super) fn issue_prefetch(self) {
        if self.has_prefetch() {
            self.hint().prefetch(self.address(self.prefetch_distance), self.len * size_of::<L>());
        }
    }

    /// Of its elements, in the order of visiting, `len` from number `start` on.
    #[inline(always)]
    pub(super) fn cut(self, start: usize, len: usize) -> Self {
        assert!(start <= self.len && len <= self.len - start);
        let skipped = if self.reversed { self.len - start - len } else { start };
        Segment { at: self.at.wrapping_add(skipped), len, ..self }
    }

    /// As many elements elsewhere.
    ///
    /// # Safety
    /// - Within what may be read for `'a`: these elements, so far from those of the segment, as [`Segment::new`] asks.
    #[inline(always)]
    pub(super) unsafe fn moved(self, distance: isize) -> Self {
        Segment { at: self.address(distance), ..self }
    }

    /// Elements elsewhere, from their lowest address on.
    ///
    /// # Safety
    /// - Within what may be read for `'a`: these elements, as [`Segment::new`] asks.
    #[inline(always)]
    pub(super) unsafe fn elsewhere(self, at: *const L, len: usize) -> Self {
        Segment { at, len, ..self }
    }
}

/// A segment that may be loaded as a vector: it is as long as one, or others follow that may be read too, or an ISA
/// [has masks](crate::tuning::isa::IsaTuning::has_masks), by which nothing beyond it is read.
#[derive(Clone, Copy)]
pub(super) struct Followed<'a, O: ArgOrder>(Segment<'a, O::Lane>);

impl<'a, O: ArgOrder> Followed<'a, O> {
    /// # Safety
    /// - If the segment is less than a vector, and the ISA has no masks, the elements of a vector from its lowest
    ///   address on may be read for `'a`, and nothing is written there meanwhile.
    #[inline(always)]
    pub(super) unsafe fn new(segment: Segment<'a, O::Lane>) -> Self {
        Followed(segment)
    }

    #[inline(always)]
    pub(super) fn segment(self) -> Segment<'a, O::Lane> {
        self.0
    }

    /// Of its elements, in the order of visiting, a vector from number `start` on.
    #[inline(always)]
    pub(super) fn cut_vector(self, start: usize) -> Self {
        Followed(self.0.cut(start, O::Simd::LANES))
    }

    /// The elements, if they are less than a vector; the other lanes are the [padding].
    #[inline(always)]
    pub(super) fn load_partial(self, order: O) -> Vec<O> {
        if const { O::Simd::TUNING.has_masks } {
            return load_partial(order, self.0);
        }
        // SAFETY: without masks, a vector may be read from there on: all of them are of the segment, or else
        // `Followed::new` was told of those that follow.
        let vector = unsafe { order.load(self.0.at) };
        pad(order, vector, self.0.len)
    }
}

/// The best element of a segment, or of all segments so far.
#[derive(Clone, Copy)]
pub(super) struct ArgResult<O: ArgOrder> {
    /// Its value in every lane, unless it is NaN.
    pub(super) value: Vec<O>,
    /// Its position, if there is one: there is none in a segment of nothing but NaN where NaN loses.
    pub(super) position: Option<usize>,
    /// Whether it is known that nothing can be better: of a NaN that wins, always.
    pub(super) is_final: bool,
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
        ArgResult { value: order.identity(), position: None, is_final: false }
    }

    /// Compares with what was found in a segment, the first element of which has position `first`. Segments come in the
    /// order of visiting.
    #[inline(always)]
    pub(super) fn update(&mut self, order: O, found: Self, first: usize) {
        let is_better = || order.simd().movemask(order.gt(found.value, self.value)) != 0;
        if let Some(position) = found.position
            && !self.is_final
            && (O::NAN_WINS && found.is_final || self.position.is_none() || is_better())
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

/// Finds the first best element of a segment of at least `MIN` and up to `V` vectors. Shorter ones panic.
#[inline(always)]
pub(super) fn find<O: ArgOrder, const MIN: usize, const V: usize>(
    order: O,
    segment: Segment<'_, O::Lane>,
) -> ArgResult<O> {
    assert!(MIN > 0 && segment.len >= MIN * O::Simd::LANES);
    let row = RegisterRow::<MIN, V> { len: segment.len };
    let mut vectors = [order.identity(); V];
    let mut n = 0;
    while n < V {
        // SAFETY: the first `MIN` vectors are within the segment, which is that long; any other is too, or it ends with
        // the segment, which has at least one.
        vectors[n] = unsafe { order.load(segment.at.add(row.start::<O>(n))) };
        n += 1;
    }
    row.find(order, vectors, segment.reversed)
}

/// Finds the first best element of a segment that is less than a vector, and was loaded as one with the [padding].
#[inline(always)]
pub(super) fn find_partial<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>, vector: Vec<O>) -> ArgResult<O> {
    RegisterRow::<0, 1> { len: segment.len }.find(order, [vector], segment.reversed)
}

/// Where the best of the first `len` lanes is: of equals the first, or if `LAST`, the last. Anything, if `len` is 0.
#[inline(always)]
pub(super) fn find_in_vector<O: ArgOrder, const LAST: bool>(order: O, vector: Vec<O>, len: usize) -> u32 {
    let vectors = [pad(order, vector, len)];
    let value = order.simd().reduce_splat(max_all(order, &vectors), O::IS_MAX);
    let is_nan = O::NAN_WINS && order.is_absorbing(value, order.accumulate_nan(Zeroable::zeroed(), &vectors));
    let sought = if is_nan {
        rarer();
        is_sought::<O, true>(order, vectors[0], value)
    } else {
        is_sought::<O, false>(order, vectors[0], value)
    };
    let mut bits = order.simd().movemask(sought);
    if LAST {
        // The padding may equal the best, but after the first that does.
        bits &= u64::MAX >> (64 - len.max(1) as u32 * O::Simd::BITS_PER_LANE);
    }
    if O::NAN_LOSES && bits == 0 {
        // There is nothing but NaN.
        return if LAST { (len as u32).wrapping_sub(1) } else { 0 };
    }
    let bit = if LAST { 63_u32.wrapping_sub(bits.leading_zeros()) } else { bits.trailing_zeros() };
    bit / O::Simd::BITS_PER_LANE
}

/// The elements of a segment that is less than a vector, and nothing beyond them is read; the other lanes are the
/// [padding]. Longer segments panic.
#[inline(always)]
pub(super) fn load_partial<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>) -> Vec<O> {
    assert!(segment.len < O::Simd::LANES);
    // SAFETY: as many elements as the segment has, and they are fewer than lanes.
    let vector = unsafe { order.load_first_n(segment.at, segment.len) };
    pad(order, vector, segment.len)
}

/// The first `len` lanes, and the [padding] in the others.
#[inline(always)]
fn pad<O: ArgOrder>(order: O, vector: Vec<O>, len: usize) -> Vec<O> {
    order.simd().select(order.simd().first_n_mask(len), vector, padding(order))
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
        let is_nan = O::NAN_WINS && order.is_absorbing(value, order.accumulate_nan(Zeroable::zeroed(), &vectors));
        let (position, is_found) = if is_nan {
            rarer();
            self.first::<O, true>(order, &vectors, value, reversed)
        } else {
            self.first::<O, false>(order, &vectors, value, reversed)
        };
        // Some element is equal to the best, unless there was nothing but NaN, and the best is still the identity.
        let position = if !O::NAN_LOSES || is_found { Some(position) } else { None };
        let is_extreme = O::MAY_EXIT_EARLY && !O::NAN_WINS && order.is_absorbing(value, Zeroable::zeroed());
        ArgResult { value, position, is_final: is_nan || is_extreme }
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::order::elements::{OrderFactory, Shared};
    use crate::order::number::PROPAGATE;
    use crate::simd::portable::Portable;

    /// Of vectors of 16 elements, on every machine.
    pub(in super::super) type Order = <Shared<Portable<16>, i8, true, PROPAGATE> as OrderFactory>::Order;

    pub(in super::super) fn order_and_segment(elements: &[i8], reversed: bool) -> (Order, Segment<'_, i8>) {
        let (at, len) = (elements.as_ptr(), elements.len());
        // SAFETY: arrays need no ISA, and the slice is borrowed for as long as the segment.
        unsafe {
            (Shared::<Portable<16>, i8, true, PROPAGATE>::make(()), Segment::new(at, len, reversed, Tuning::current()))
        }
    }

    #[test]
    fn cuts_in_the_order_of_visiting() {
        let elements = [7_i8; 8];
        let start_of = |reversed, start, len| {
            order_and_segment(&elements, reversed).1.cut(start, len).address(0).addr() - elements.as_ptr().addr()
        };
        assert_eq!(
            [start_of(false, 1, 3), start_of(true, 1, 3), start_of(false, 8, 0), start_of(true, 8, 0)],
            [1, 4, 8, 0]
        );
    }

    #[test]
    #[should_panic]
    fn cut_beyond_the_end() {
        order_and_segment(&[0; 8], false).1.cut(6, 3);
    }

    #[test]
    #[should_panic]
    fn cut_by_numbers_that_overflow() {
        order_and_segment(&[0; 8], true).1.cut(usize::MAX, 2);
    }

    #[test]
    #[should_panic(expected = "segment.len >= ")]
    fn fewer_vectors_than_are_searched() {
        let (order, segment) = order_and_segment(&[0; 31], false);
        find::<Order, 2, 4>(order, segment);
    }

    #[test]
    #[should_panic(expected = "segment.len < ")]
    fn more_than_a_partial_vector() {
        let (order, segment) = order_and_segment(&[0; 17], false);
        load_partial(order, segment);
    }
}
