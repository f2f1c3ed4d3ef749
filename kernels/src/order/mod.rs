//! The one order of the contract, as vectors see it: a [`Ranking`] is an ISA, an element type, a function and a NaN
//! policy, and answers which of two vectors is better in each lane. Strategies see nothing else of any of the four.

pub(crate) mod elements;
pub(crate) mod f16;
pub(crate) mod key;

use crate::order::key::{Function, Ignore, Key, Lane, Max, Policy};
use crate::simd::ops::Lanes;
use core::marker::PhantomData;

/// What a strategy sees: vectors of some lanes, and which of two is better. "Better" is strict, total, and the same for
/// all of a kernel's life.
pub(crate) trait Order: Copy {
    type Lane: Lane;
    type Simd: Lanes<Self::Lane>;
    /// Whether the largest is the best, by the numbers that lanes hold.
    const IS_MAX: bool;

    /// True where the fold of [`Order::fold`] loses a NaN that should win: the [trace](Order::Trace) tells of it.
    const NAN_WINS: bool;
    /// True where a vector of nothing but NaN leaves [`Order::worst`] in a fold, although a number equal to it may be
    /// there.
    const NAN_LOSES: bool;

    /// A fast path: an order of the same elements that takes fewer operations. Its best is the best by this order too,
    /// if it [accepts](Order::accepts) it.
    type Fast: Order<Lane = Self::Lane, Simd = Self::Simd>;
    /// Whether there is one.
    const HAS_FAST: bool;
    fn fast(self) -> Self::Fast;
    /// A vector of the fast path in this order.
    fn of_fast(self, v: Vec<Self>) -> Vec<Self>;
    /// Of a fast path: whether the best of the lanes of `best` is the best of all elements that `trace` is of.
    fn accepts(self, best: Vec<Self>, trace: Self::Trace) -> bool;

    fn simd(self) -> Self::Simd;
    /// `LANES` consecutive elements, ready to be ranked.
    ///
    /// # Safety
    /// - `at` points to `LANES` readable elements.
    unsafe fn load(self, at: *const Self::Lane) -> Vec<Self>;
    /// The first `n` elements of a vector: see [`Lanes::load_first`]. The other lanes hold anything.
    ///
    /// # Safety
    /// - `at` points to `n` readable elements, and `n` is at most `LANES`.
    unsafe fn load_first(self, at: *const Self::Lane, n: usize) -> Vec<Self>;
    /// Where `a` is strictly better than `b`.
    fn better(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self>;
    /// Where `a` is strictly better than `b`, and neither is NaN.
    fn above(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self>;
    /// The better of both, in the fewest operations: `kept` must not be NaN, NaN in `new` is dropped.
    fn fold(self, new: Vec<Self>, kept: Vec<Self>) -> Vec<Self>;
    /// Whether NaN wins, also of an order of [either policy](crate::order::key::Either).
    fn nan_wins(self) -> bool;
    /// A number that no number is worse than, to start a fold with.
    fn worst(self) -> Vec<Self>;
    /// What nothing is worse than.
    fn least(self) -> Vec<Self>;
    /// What is kept of vectors to tell later whether the best that was folded is the best: where there was a NaN that
    /// the fold drops, or what the fast path may be wrong about.
    type Trace: Copy;
    /// The trace of nothing.
    fn no_trace(self) -> Self::Trace;
    /// And of some vectors.
    fn traced<const V: usize>(self, trace: Self::Trace, vectors: &[Vec<Self>; V]) -> Self::Trace;
    /// Whether [`Order::is_final`] may be true, and so a trace is to be kept.
    const MAY_STOP: bool;
    /// Whether nothing that follows can change the answer: a NaN that wins was met, or the fast path will not accept
    /// its best.
    fn is_final(self, best: Vec<Self>, trace: Self::Trace) -> bool;
}

pub(crate) type Vec<O> = <<O as Order>::Simd as Lanes<<O as Order>::Lane>>::Vector;
pub(crate) type Mask<O> = <<O as Order>::Simd as Lanes<<O as Order>::Lane>>::Mask;
pub(crate) type Count<O> = <<O as Order>::Simd as Lanes<<O as Order>::Lane>>::Count;

/// The best of some vectors, lane by lane, if there is no NaN in them, or it loses.
#[inline(always)]
pub(crate) fn fold_of<O: Order, const V: usize>(order: O, vectors: &[Vec<O>; V]) -> Vec<O> {
    if const { !O::Simd::HAS_MAX } {
        // A maximum is a comparison and a blend, and the next one waits for both: in pairs of pairs, few wait for
        // others. (Not by a loop, which would not be unrolled.)
        const { assert!(V <= 8) };
        let mut bests = *vectors;
        fold_pairs(order, &mut bests, 1);
        fold_pairs(order, &mut bests, 2);
        fold_pairs(order, &mut bests, 4);
        return bests[0];
    }
    // Where NaN loses, the fold has to start with a number; where it wins, one in the first vector may spoil the fold,
    // because the trace tells.
    let mut best = if O::NAN_LOSES { order.fold(vectors[0], order.worst()) } else { vectors[0] };
    let mut n = 1;
    while n < V {
        best = order.fold(vectors[n], best);
        n += 1;
    }
    best
}

/// Folds to every other vector, of those that are so far apart, the one after it.
#[inline(always)]
fn fold_pairs<O: Order, const V: usize>(order: O, vectors: &mut [Vec<O>; V], distance: usize) {
    let mut n = 0;
    while n + distance < V {
        vectors[n] = order.fold(vectors[n + distance], vectors[n]);
        n += 2 * distance;
    }
}

/// `V` vectors of consecutive elements.
///
/// # Safety
/// - `at` points to `V * LANES` readable elements.
#[inline(always)]
pub(crate) unsafe fn load_several<O: Order, const V: usize>(order: O, at: *const O::Lane) -> [Vec<O>; V] {
    let mut vectors = [order.worst(); V];
    let mut n = 0;
    while n < V {
        // SAFETY: the caller's promise.
        vectors[n] = unsafe { order.load(at.add(n * O::Simd::LANES)) };
        n += 1;
    }
    vectors
}

/// The order on ISA `S` of what `K` makes of the elements, by function `F` and policy `P`.
pub(crate) struct Ranking<S, K, F, P> {
    simd: S,
    key: K,
    policy: P,
    function: PhantomData<F>,
}

impl<S, K, F, P> Ranking<S, K, F, P> {
    #[inline(always)]
    pub(crate) fn new(simd: S, key: K, policy: P) -> Self {
        Ranking { simd, key, policy, function: PhantomData }
    }
}

impl<S: Copy, K: Copy, F, P: Copy> Clone for Ranking<S, K, F, P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Copy, K: Copy, F, P: Copy> Copy for Ranking<S, K, F, P> {}

impl<S: Lanes<K::Lane>, K: Key<S>, F: Function, P: Policy> Order for Ranking<S, K, F, P> {
    type Lane = K::Lane;
    type Simd = S;

    const IS_MAX: bool = F::IS_MAX;

    const NAN_WINS: bool = K::Lane::HAS_NAN && P::NAN_WINS;
    const NAN_LOSES: bool = K::Lane::HAS_NAN && P::NAN_LOSES;
    type Trace = K::Trace;

    type Fast = Ranking<S, K::Fast, Max, Ignore>;
    const HAS_FAST: bool = K::HAS_FAST;
    const MAY_STOP: bool = Self::NAN_WINS || K::MAY_STOP;

    #[inline(always)]
    fn fast(self) -> Self::Fast {
        Ranking::new(self.simd, self.key.fast(F::IS_MAX), Ignore)
    }

    #[inline(always)]
    fn of_fast(self, v: Vec<Self>) -> Vec<Self> {
        // A fast path flips bits, and so its inverse does.
        self.key.of(self.simd, self.key.fast(F::IS_MAX).of(self.simd, v))
    }

    #[inline(always)]
    fn accepts(self, best: Vec<Self>, trace: K::Trace) -> bool {
        self.key.accepts(self.simd, best, trace)
    }

    #[inline(always)]
    fn simd(self) -> S {
        self.simd
    }

    #[inline(always)]
    unsafe fn load(self, at: *const K::Lane) -> Vec<Self> {
        // SAFETY: the caller's promise.
        self.key.of(self.simd, unsafe { self.simd.load(at) })
    }

    #[inline(always)]
    unsafe fn load_first(self, at: *const K::Lane, n: usize) -> Vec<Self> {
        // SAFETY: the caller's promise.
        self.key.of(self.simd, unsafe { self.simd.load_first(at, n) })
    }

    #[inline(always)]
    fn better(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
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
            _ => self.simd.select(self.simd.first(if self.policy.nan_wins() { S::LANES } else { 0 }), b, a),
        };
        self.simd.and_not(self.simd.gt_or_unordered(high, low), self.simd.unordered(excluded, excluded))
    }

    #[inline(always)]
    fn above(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
        if F::IS_MAX { self.simd.gt(a, b) } else { self.simd.gt(b, a) }
    }

    #[inline(always)]
    fn fold(self, new: Vec<Self>, kept: Vec<Self>) -> Vec<Self> {
        if F::IS_MAX { self.simd.max(new, kept) } else { self.simd.min(new, kept) }
    }

    #[inline(always)]
    fn worst(self) -> Vec<Self> {
        self.simd.splat(const { if F::IS_MAX { K::Lane::LOWEST } else { K::Lane::HIGHEST } })
    }

    #[inline(always)]
    fn least(self) -> Vec<Self> {
        if Self::NAN_LOSES { self.simd.splat(K::Lane::NAN) } else { self.worst() }
    }

    #[inline(always)]
    fn nan_wins(self) -> bool {
        self.policy.nan_wins()
    }

    #[inline(always)]
    fn no_trace(self) -> K::Trace {
        self.key.no_trace(self.simd)
    }

    #[inline(always)]
    fn traced<const V: usize>(self, trace: K::Trace, vectors: &[Vec<Self>; V]) -> K::Trace {
        self.key.traced(self.simd, trace, vectors)
    }

    #[inline(always)]
    fn is_final(self, best: Vec<Self>, trace: Self::Trace) -> bool {
        self.key.is_final(self.simd, best, trace, F::IS_MAX)
    }
}
