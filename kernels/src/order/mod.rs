//! The one order of the contract, as vectors see it: a [`KeyedOrder`] is an ISA, an element type, a function and a NaN
//! policy, and answers which of two vectors is better in each lane. Strategies know none of the four by name. They take
//! vector operations and the numbers that shape code from the order's ISA, and from its lane type whether it has NaN.

pub(crate) mod elements;
pub(crate) mod f16;
pub(crate) mod key;

use crate::order::key::{Function, Ignore, LaneElem, Max, Policy, SortKey};
use crate::simd::ops::{SimdOps, cast_lanes};
use core::marker::PhantomData;

/// What a strategy sees: vectors of some lanes, and which of two is better. "Better" is strict, total, and the same for
/// all of a kernel's life.
pub(crate) trait ArgOrder: Copy {
    type Lane: LaneElem;
    type Simd: SimdOps<Self::Lane>;
    /// Whether the largest is the best, by the numbers that lanes hold.
    const IS_MAX: bool;

    /// True where the fold of [`ArgOrder::max`] loses a NaN that should win: the [NaN accumulator](ArgOrder::NanAcc)
    /// tells of it.
    const NAN_WINS: bool;
    /// True where a vector of nothing but NaN leaves [`ArgOrder::identity`] in a fold, although a number equal to it
    /// may be there.
    const NAN_LOSES: bool;

    /// A fast path: an order of the same elements that takes fewer operations. Its best is the best by this order too,
    /// if it [accepts](ArgOrder::accepts) it.
    type Fast: ArgOrder<Lane = Self::Lane, Simd = Self::Simd>;
    /// Whether there is one.
    const HAS_FAST: bool;
    fn fast(self) -> Self::Fast;
    /// Of a fast path: whether the best of the lanes of `best` is the best of all elements that `nan_acc` is of.
    fn accepts(self, best: Vec<Self>, nan_acc: Self::NanAcc) -> bool;

    fn simd(self) -> Self::Simd;
    /// Lanes that compare as the elements do that were loaded.
    fn encode(self, elements: Vec<Self>) -> Vec<Self>;
    /// The elements that became these lanes, bit for bit where they are not [lost](ArgOrder::lost).
    fn decode(self, lanes: Vec<Self>) -> Vec<Self>;
    /// Where lanes, or the best that came of some, may not have all bits of the element: a NaN is some NaN then, and a
    /// zero of a 16-bit float has some sign.
    fn lost(self, lanes: Vec<Self>) -> Mask<Self>;
    /// Where `a` is strictly better than `b`.
    fn gt_total_order(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self>;
    /// Where `a` is strictly better than `b`, and neither is NaN.
    fn gt(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self>;
    /// The better of both, in the fewest operations: `kept` must not be NaN, NaN in `new` is dropped.
    fn max(self, new: Vec<Self>, kept: Vec<Self>) -> Vec<Self>;
    /// A number that no number is worse than, to start a fold with.
    fn identity(self) -> Vec<Self>;
    /// What nothing is worse than.
    fn padding(self) -> Vec<Self>;
    /// What is kept of vectors to tell later whether the best that was folded is the best: where there was a NaN that
    /// the fold drops, or what the fast path may be wrong about.
    type NanAcc: Copy;
    /// The NaN accumulator of nothing.
    fn empty_nan_acc(self) -> Self::NanAcc;
    /// And of some vectors.
    fn accumulate_nan<const V: usize>(self, nan_acc: Self::NanAcc, vectors: &[Vec<Self>; V]) -> Self::NanAcc;
    /// Whether [`ArgOrder::is_absorbing`] may be true, and so a NaN accumulator is to be kept.
    const MAY_EXIT_EARLY: bool;
    /// Whether nothing that follows can change the answer: a NaN that wins was met, or the fast path will not accept
    /// its best.
    fn is_absorbing(self, best: Vec<Self>, nan_acc: Self::NanAcc) -> bool;
}

pub(crate) type Vec<O> = <<O as ArgOrder>::Simd as SimdOps<<O as ArgOrder>::Lane>>::Vector;
pub(crate) type Mask<O> = <<O as ArgOrder>::Simd as SimdOps<<O as ArgOrder>::Lane>>::Mask;
pub(crate) type IndexVec<O> = <<O as ArgOrder>::Simd as SimdOps<<O as ArgOrder>::Lane>>::IndexVec;

/// `yes` where the mask is true, and `no` elsewhere.
#[inline(always)]
pub(crate) fn select_index<O: ArgOrder>(order: O, mask: Mask<O>, yes: IndexVec<O>, no: IndexVec<O>) -> IndexVec<O> {
    cast_lanes(order.simd().select(mask, cast_lanes(yes), cast_lanes(no)))
}

/// The best of some vectors, lane by lane, if there is no NaN in them, or it loses.
#[inline(always)]
pub(crate) fn max_all<O: ArgOrder, const V: usize>(order: O, vectors: &[Vec<O>; V]) -> Vec<O> {
    if const { !O::Simd::HAS_MAX } {
        // A maximum is a comparison and a blend, and the next one waits for both: in pairs of pairs, few wait for
        // others. (Not by a loop, which would not be unrolled.)
        const { assert!(V <= 8) };
        let mut bests = *vectors;
        max_pairs(order, &mut bests, 1);
        max_pairs(order, &mut bests, 2);
        max_pairs(order, &mut bests, 4);
        return bests[0];
    }
    // Where NaN loses, the fold has to start with a number; where it wins, one in the first vector may spoil the fold,
    // because the NaN accumulator tells.
    let mut best = if O::NAN_LOSES { order.max(vectors[0], order.identity()) } else { vectors[0] };
    let mut n = 1;
    while n < V {
        best = order.max(vectors[n], best);
        n += 1;
    }
    best
}

/// Folds to every other vector, of those that are so far apart, the one after it.
#[inline(always)]
fn max_pairs<O: ArgOrder, const V: usize>(order: O, vectors: &mut [Vec<O>; V], distance: usize) {
    let mut n = 0;
    while n + distance < V {
        vectors[n] = order.max(vectors[n + distance], vectors[n]);
        n += 2 * distance;
    }
}

/// `LANES` consecutive elements, as lanes that compare.
///
/// # Safety
/// - `at` points to `LANES` readable elements.
#[inline(always)]
pub(crate) unsafe fn load<O: ArgOrder>(order: O, at: *const O::Lane) -> Vec<O> {
    // SAFETY: the caller's promise.
    order.encode(unsafe { order.simd().load(at) })
}

/// `V` vectors of consecutive elements.
///
/// # Safety
/// - `at` points to `V * LANES` readable elements.
#[inline(always)]
pub(crate) unsafe fn load_several<O: ArgOrder, const V: usize>(order: O, at: *const O::Lane) -> [Vec<O>; V] {
    let mut vectors = [order.identity(); V];
    let mut n = 0;
    while n < V {
        // SAFETY: the caller's promise.
        vectors[n] = unsafe { load(order, at.add(n * O::Simd::LANES)) };
        n += 1;
    }
    vectors
}

/// The order on ISA `S` of what `K` makes of the elements, by function `F` and policy `P`.
pub(crate) struct KeyedOrder<S, K, F, P> {
    simd: S,
    key: K,
    policy: P,
    function: PhantomData<F>,
}

impl<S, K, F, P> KeyedOrder<S, K, F, P> {
    #[inline(always)]
    pub(crate) fn new(simd: S, key: K, policy: P) -> Self {
        KeyedOrder { simd, key, policy, function: PhantomData }
    }
}

impl<S: Copy, K: Copy, F, P: Copy> Clone for KeyedOrder<S, K, F, P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Copy, K: Copy, F, P: Copy> Copy for KeyedOrder<S, K, F, P> {}

impl<S: SimdOps<K::Lane>, K: SortKey<S>, F: Function, P: Policy> ArgOrder for KeyedOrder<S, K, F, P> {
    type Lane = K::Lane;
    type Simd = S;

    const IS_MAX: bool = F::IS_MAX;

    const NAN_WINS: bool = K::Lane::HAS_NAN && P::NAN_WINS;
    const NAN_LOSES: bool = K::Lane::HAS_NAN && P::NAN_LOSES;
    type NanAcc = K::NanAcc;

    type Fast = KeyedOrder<S, K::Fast, Max, Ignore>;
    const HAS_FAST: bool = K::HAS_FAST;
    const MAY_EXIT_EARLY: bool = Self::NAN_WINS || K::MAY_EXIT_EARLY;

    #[inline(always)]
    fn fast(self) -> Self::Fast {
        KeyedOrder::new(self.simd, self.key.fast(F::IS_MAX), Ignore)
    }

    #[inline(always)]
    fn accepts(self, best: Vec<Self>, nan_acc: K::NanAcc) -> bool {
        self.key.accepts(self.simd, best, nan_acc)
    }

    #[inline(always)]
    fn simd(self) -> S {
        self.simd
    }

    #[inline(always)]
    fn encode(self, elements: Vec<Self>) -> Vec<Self> {
        self.key.encode(self.simd, elements)
    }

    #[inline(always)]
    fn decode(self, lanes: Vec<Self>) -> Vec<Self> {
        self.key.decode(self.simd, lanes)
    }

    #[inline(always)]
    fn lost(self, lanes: Vec<Self>) -> Mask<Self> {
        self.key.lost(self.simd, lanes)
    }

    #[inline(always)]
    fn gt_total_order(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
        let (high, low) = if F::IS_MAX { (a, b) } else { (b, a) };
        if !K::Lane::HAS_NAN {
            return self.simd.gt(high, low);
        }
        // Better or not to be compared, unless the NaN is on the side where it does not count: one NaN in `b` under
        // Propagate keeps `b`, one in `a` under Ignore drops `a`. Three operations, where a test of both classes takes
        // five.
        let excluded = match (P::NAN_WINS, P::NAN_LOSES) {
            (true, _) => b,
            (_, true) => a,
            // Not known when this is compiled. Without a branch, for which there would be two copies of each loop.
            _ => self.simd.select(self.simd.first_n_mask(if self.policy.nan_wins() { S::LANES } else { 0 }), b, a),
        };
        self.simd.and_not(self.simd.gt_or_unordered(high, low), self.simd.unordered(excluded, excluded))
    }

    #[inline(always)]
    fn gt(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
        if F::IS_MAX { self.simd.gt(a, b) } else { self.simd.gt(b, a) }
    }

    #[inline(always)]
    fn max(self, new: Vec<Self>, kept: Vec<Self>) -> Vec<Self> {
        if F::IS_MAX { self.simd.max(new, kept) } else { self.simd.min(new, kept) }
    }

    #[inline(always)]
    fn identity(self) -> Vec<Self> {
        self.simd.splat(const { if F::IS_MAX { K::Lane::LOWEST } else { K::Lane::HIGHEST } })
    }

    #[inline(always)]
    fn padding(self) -> Vec<Self> {
        if Self::NAN_LOSES { self.simd.splat(K::Lane::NAN) } else { self.identity() }
    }

    #[inline(always)]
    fn empty_nan_acc(self) -> K::NanAcc {
        self.key.empty_nan_acc(self.simd)
    }

    #[inline(always)]
    fn accumulate_nan<const V: usize>(self, nan_acc: K::NanAcc, vectors: &[Vec<Self>; V]) -> K::NanAcc {
        self.key.accumulate_nan(self.simd, nan_acc, vectors)
    }

    #[inline(always)]
    fn is_absorbing(self, best: Vec<Self>, nan_acc: Self::NanAcc) -> bool {
        self.key.is_absorbing(self.simd, best, nan_acc, F::IS_MAX)
    }
}
