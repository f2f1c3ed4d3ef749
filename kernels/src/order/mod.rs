//! Which of two elements is better, as vectors see it. An [`ArgOrder`] is an ISA, an element type, a function and a NaN
//! policy in one type, and strategies see nothing else of the four. Nothing here knows of strategies.
//!
//! # The order
//!
//! Elements are ordered first by class, number or NaN, and then by value:
//!
//! ```text
//! a is better than b    both are numbers    ArgMax: a > b                     ArgMin: a < b
//!                       one is NaN          Propagate: a is the NaN           Ignore: b is the NaN
//!                       both are NaN        never
//! ```
//!
//! So -0 and +0 tie, and so do all NaNs. "Better" is strict. A strategy visits the elements of an output in their
//! order, and keeps the best so far unless the new one is better: of elements that tie, the first one stays. To visit
//! an element twice is harmless for the same reason. (If ties go to the last one, the caller reverses the loops.)
//!
//! # Keys (`number.rs`, `elements.rs`)
//!
//! What is loaded is encoded as keys, lanes that the ISA compares, and in the end the best key is decoded. An order of
//! its own has the elements themselves as keys, and the best is the largest or the smallest one. An order that is
//! shared by several types or functions flips bits, so that the best key is always the largest:
//!
//! ```text
//! unsigned integers    flip the top bit: they compare as signed ones
//! integers, ArgMin     flip all (other) bits
//! floats, ArgMin       flip the sign
//! ```
//!
//! # NaN (`number.rs`)
//!
//! To compare with NaN in its place takes three operations. So loops take the maximum instead, which drops a NaN in
//! what is new, and notice NaN in another way. For ArgMax:
//!
//! ```text
//! best = -infinity (identity)
//! for each vector v:
//!     best     = max(v, best)
//!     nan_acc |= is v NaN                            only if NaN wins
//!
//! Propagate: a NaN is in nan_acc                     the answer is the first NaN
//! Ignore:    best is -infinity in all lanes          the answer is the first element equal to it, or if all are NaN,
//!                                                    the first of all
//! otherwise                                          best is right
//! ```
//!
//! How the element is found then is up to the strategy. One that keeps an answer for each lane, as columns do, repeats
//! its rows by [`ArgOrder::gt_total_order`], the comparison that knows NaN.
//!
//! # Small floats (`small_float.rs`)
//!
//! No ISA compares floats of 16 bits, so their keys are integers, in the order of the floats. Such a key is exact: NaN
//! is one more integer, and loops need not look for it.
//!
//! ```text
//! key = if the sign is set { -magnitude } else { magnitude }     -0 equals +0
//! key = key + bias, modulo 2^bits                                NaNs of both signs lie together, at one end
//! key = key + saturating_bias, saturating                        and are the last integer there
//! ```
//!
//! Long rows first take a fast path, on the raw bits as integers (for ArgMin, with the sign flipped). It costs less
//! than the key, and is right for data like scores, some of which are above zero:
//!
//! ```text
//! if a float of the first vector is above zero:
//!     best    = maximum of all bits as signed integers
//!     largest = maximum of all bits as unsigned integers         (the NaN accumulator)
//!     if 0 < best <= infinity, and largest is no NaN with a sign:
//!         return the first element with the bits of best
//! search again, by exact keys
//! ```
//!
//! Bits can be wrong in two ways, and the last test finds both. If no float is above zero, the largest integer is not
//! the largest float: those below zero are in the reverse order, and zeros of both signs differ. If there is a NaN, it
//! is above infinity without a sign, and the largest unsigned integer with one.
//!
//! # Both functions at once (`both.rs`)
//!
//! One search, that of long rows, is generic over its orders: one, or both of the same vectors.
//!
//! # Masks (`masked.rs`)
//!
//! Strategies load by their order. One that wraps another selects by bits as it loads: what is not there looks like
//! some other element. That is all that strategies under a mask differ in.

pub(crate) mod both;
pub(crate) mod elements;
pub(crate) mod masked;
pub(crate) mod number;
mod small_float;

use crate::simd::ops::{GT, SimdOps};
use crate::simd::token::Simd;
use bytemuck::Zeroable;

pub(crate) trait LaneElem: Copy + 'static {
    /// No lane is below.
    const LOWEST: Self;
    /// No lane is above.
    const HIGHEST: Self;
    const HAS_NAN: bool;
    const NAN: Self;
}

/// What a strategy sees: vectors of some lanes, and which of two is better.
pub(crate) trait ArgOrder: Copy {
    type Lane: LaneElem;
    type Simd: SimdOps<Self::Lane>;
    /// Whether the largest is the best, by the numbers that lanes hold.
    const IS_MAX: bool;

    /// True where [`ArgOrder::max`] may drop a NaN that should win: the [NaN accumulator](ArgOrder::NanAcc) tells of
    /// it.
    const NAN_WINS: bool = false;
    /// True where the maximum of nothing but NaN may have to be [`ArgOrder::identity`], which may be a number that is
    /// there, too.
    const NAN_LOSES: bool = false;
    /// Which of both, where it is known at run time alone.
    #[inline(always)]
    fn nan_wins(self) -> bool {
        Self::NAN_WINS
    }

    fn simd(self) -> Self::Simd;

    /// An element as it is in memory.
    ///
    /// # Safety
    /// - It may be read.
    #[inline(always)]
    unsafe fn read(self, at: *const Self::Lane) -> Self::Lane {
        // SAFETY: the caller's promise.
        unsafe { at.read() }
    }
    /// `LANES` consecutive elements, as lanes that compare.
    ///
    /// # Safety
    /// - `at` points to `LANES` readable elements.
    #[inline(always)]
    unsafe fn load(self, at: *const Self::Lane) -> Vec<Self> {
        // SAFETY: the caller's promise.
        self.encode(unsafe { self.simd().load(at) })
    }
    /// `V` vectors of consecutive elements.
    ///
    /// # Safety
    /// - `at` points to `V * LANES` readable elements.
    #[inline(always)]
    unsafe fn load_several<const V: usize>(self, at: *const Self::Lane) -> [Vec<Self>; V] {
        let mut vectors = [self.identity(); V];
        let mut n = 0;
        while n < V {
            // SAFETY: the caller's promise.
            vectors[n] = unsafe { self.load(at.add(n * Self::Simd::LANES)) };
            n += 1;
        }
        vectors
    }
    /// The first `n` elements of a vector; the other lanes may be any. Nothing else is read.
    ///
    /// # Safety
    /// - `at` points to `n` readable elements, and `n` is at most `LANES`.
    #[inline(always)]
    unsafe fn load_first_n(self, at: *const Self::Lane, n: usize) -> Vec<Self> {
        // SAFETY: the caller's promise.
        self.encode(unsafe { self.simd().load_first_n(at, n) })
    }

    /// Of elements as they are in memory, lanes that are in this order.
    fn encode(self, raw: Vec<Self>) -> Vec<Self>;
    /// The elements that became these lanes, bit for bit where they are not [lost](ArgOrder::lost). What flips bits
    /// flips them back.
    #[inline(always)]
    fn decode(self, lanes: Vec<Self>) -> Vec<Self> {
        self.encode(lanes)
    }
    /// Where lanes, or the best that came of some, may not have all bits of the element: a NaN is some NaN then, and a
    /// zero of a small float has some sign.
    fn lost(self, lanes: Vec<Self>) -> Mask<Self>;

    /// Where `a` is strictly better than `b`.
    #[inline(always)]
    fn gt_total_order(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
        self.gt(a, b)
    }
    /// Where `a` is strictly better than `b`, and neither is NaN.
    #[inline(always)]
    fn gt(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
        if Self::IS_MAX { self.simd().compare::<GT>(a, b) } else { self.simd().compare::<GT>(b, a) }
    }
    /// The better of both, in the fewest operations: `kept` must not be NaN, NaN in `new` is dropped.
    #[inline(always)]
    fn max(self, new: Vec<Self>, kept: Vec<Self>) -> Vec<Self> {
        if Self::IS_MAX { self.simd().max(new, kept) } else { self.simd().min(new, kept) }
    }
    /// A number that no number is worse than, to start a maximum with.
    #[inline(always)]
    fn identity(self) -> Vec<Self> {
        self.simd().splat(const { if Self::IS_MAX { Self::Lane::LOWEST } else { Self::Lane::HIGHEST } })
    }

    /// What is kept of vectors to tell later whether their maximum is the best: where there was a NaN that it drops, or
    /// what the fast path may be wrong about. Zeros are that of no vectors.
    type NanAcc: Copy + Zeroable;
    /// The NaN accumulator of some more vectors.
    fn accumulate_nan<const V: usize>(self, nan_acc: Self::NanAcc, vectors: &[Vec<Self>; V]) -> Self::NanAcc;
    /// Whether [`ArgOrder::settled`] and [`ArgOrder::is_absorbing`] may be true, and so a NaN accumulator is kept.
    const MAY_EXIT_EARLY: bool;
    /// Of lanes that are exact, where no element is better: a NaN that wins, or the extreme of the type.
    fn settled(self, best: Vec<Self>) -> Mask<Self>;
    /// Whether the first `lanes` lanes are settled: none of them can change any more.
    #[inline(always)]
    fn are_settled(self, best: Vec<Self>, lanes: usize) -> bool {
        let asked = self.simd().movemask(self.simd().first_n_mask(lanes));
        self.simd().movemask(self.settled(best)) & asked == asked
    }
    /// Whether nothing that follows can change the answer: a lane [is settled](ArgOrder::settled), or the fast path
    /// will not accept its best.
    fn is_absorbing(self, best: Vec<Self>, nan_acc: Self::NanAcc) -> bool;

    /// A fast path: an order of the same elements that takes fewer operations. Its best is the best by this order too,
    /// if it [accepts](ArgOrder::accepts) it.
    type Fast: ArgOrder<Lane = Self::Lane, Simd = Self::Simd, Fast = Self::Fast>;
    /// Whether there is one. See docs/tuning.md#16-bit-floats-on-raw-bits.
    const HAS_FAST: bool = false;
    fn fast(self) -> Self::Fast;
    /// Of a fast path: whether the best of the lanes of `best` is the best of all elements that `nan_acc` is of.
    #[inline(always)]
    fn accepts(self, _best: Vec<Self>, _: Self::NanAcc) -> bool {
        true
    }
}

pub(crate) type Vec<O> = <<O as ArgOrder>::Simd as SimdOps<<O as ArgOrder>::Lane>>::Vector;
pub(crate) type Mask<O> = <<O as ArgOrder>::Simd as SimdOps<<O as ArgOrder>::Lane>>::Mask;
pub(crate) type Minpos<O> = <<O as ArgOrder>::Simd as SimdOps<<O as ArgOrder>::Lane>>::Minpos;
pub(crate) type IndexVec<O> = <<O as ArgOrder>::Simd as SimdOps<<O as ArgOrder>::Lane>>::IndexVec;

/// What nothing is worse than.
#[inline(always)]
pub(crate) fn padding<O: ArgOrder>(order: O) -> Vec<O> {
    if O::NAN_LOSES && !order.nan_wins() { order.simd().splat(O::Lane::NAN) } else { order.identity() }
}

/// Whether a maximum is one operation. Otherwise it is a comparison and a select, whose result takes longer to arrive.
pub(crate) const fn has_max<O: ArgOrder>() -> bool {
    O::Simd::TUNING.has_max_64 || size_of::<O::Lane>() < 8 || O::Lane::HAS_NAN
}

/// The best of some vectors, lane by lane, if there is no NaN in them, or it loses.
#[inline(always)]
pub(crate) fn max_all<O: ArgOrder, const V: usize>(order: O, vectors: &[Vec<O>; V]) -> Vec<O> {
    let mut vectors = *vectors;
    // Where NaN loses, the maximum has to start with a number; where it wins, one in the first vector may spoil it,
    // because the NaN accumulator tells.
    if O::NAN_LOSES {
        vectors[0] = order.max(vectors[0], order.identity());
    }
    max_numbers(order, &vectors)
}

/// The best of some vectors, lane by lane, if the first has no NaN.
#[inline(always)]
pub(crate) fn max_numbers<O: ArgOrder, const V: usize>(order: O, vectors: &[Vec<O>; V]) -> Vec<O> {
    if const { !has_max::<O>() } {
        // A maximum is a comparison and a blend, and the next one waits for both: in pairs of pairs, few wait for
        // others. (Not by a loop, which would not be unrolled.)
        const { assert!(V <= 8) };
        let mut bests = *vectors;
        max_pairs(order, &mut bests, 1);
        max_pairs(order, &mut bests, 2);
        max_pairs(order, &mut bests, 4);
        return bests[0];
    }
    let (mut best, mut n) = (vectors[0], 1);
    while n < V {
        best = order.max(vectors[n], best);
        n += 1;
    }
    best
}

/// Takes into every other vector, of those that are so far apart, the one after it.
#[inline(always)]
fn max_pairs<O: ArgOrder, const V: usize>(order: O, vectors: &mut [Vec<O>; V], distance: usize) {
    let mut n = 0;
    while n + distance < V {
        vectors[n] = order.max(vectors[n + distance], vectors[n]);
        n += 2 * distance;
    }
}
