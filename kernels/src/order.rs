//! The one order of the contract, as vectors see it: a [`Ranking`] is an ISA, an element type, a function and a NaN policy, and answers
//! which of two vectors is better in each lane. Strategies see nothing else of any of the four.

use crate::element::Element;
use crate::lanes::{HalfLanes, Lanes, Token};
use core::marker::PhantomData;
use half::{bf16, f16};

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceFunction {
    /// The smallest element.
    ArgMin,
    /// The largest element.
    ArgMax,
}

/// Where NaN stands among the numbers. All NaNs, of any sign and payload, are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NanPolicy {
    /// A NaN is better than every number, for ArgMin and ArgMax alike: what NumPy, PyTorch and JAX do.
    #[default]
    Propagate,
    /// Every number is better than a NaN.
    Ignore,
}

crate::names!(ReduceFunction: ArgMin = "argmin", ArgMax = "argmax");
crate::names!(NanPolicy: Propagate = "propagate", Ignore = "ignore");

/// Whether `a` is strictly better than `b`: the total preorder (class, value) by which two partial answers are merged. With an earlier `b`
/// and a later `a`, keeping `b` unless this is true is associative and gives the first of equals.
///
/// ```
/// use argreduce_kernels::{NanPolicy::*, ReduceFunction::*, better};
/// assert!(better(ArgMax, Propagate, f32::NAN, f32::INFINITY));
/// assert!(better(ArgMin, Ignore, 1.0, f32::NAN));
/// assert!(!better(ArgMin, Ignore, -0.0, 0.0));
/// ```
#[inline]
pub fn better<T: Element>(function: ReduceFunction, policy: NanPolicy, a: T, b: T) -> bool {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => match function {
            ReduceFunction::ArgMin => a < b,
            ReduceFunction::ArgMax => a > b,
        },
        (true, false) => policy == NanPolicy::Propagate,
        (false, true) => policy == NanPolicy::Ignore,
        (true, true) => false,
    }
}

/// A [`ReduceFunction`] as a type.
pub(crate) trait Function: Copy + 'static {
    const IS_MAX: bool;
}
#[derive(Clone, Copy)]
pub(crate) struct Max;
#[derive(Clone, Copy)]
pub(crate) struct Min;
impl Function for Max {
    const IS_MAX: bool = true;
}
impl Function for Min {
    const IS_MAX: bool = false;
}

/// A [`NanPolicy`] as a type.
pub(crate) trait Policy: Copy + 'static {
    const PROPAGATES: bool;
}
#[derive(Clone, Copy)]
pub(crate) struct Propagate;
#[derive(Clone, Copy)]
pub(crate) struct Ignore;
impl Policy for Propagate {
    const PROPAGATES: bool = true;
}
impl Policy for Ignore {
    const PROPAGATES: bool = false;
}

/// How elements become lanes on the ISA `S`: as they are, or as keys with the same order.
pub(crate) trait Key<S>: Copy + 'static {
    /// The lane type.
    type Lane: Copy + 'static;
    /// `S`, known to have such lanes.
    type Simd: Lanes<Self::Lane>;
    /// The policy to rank by when NaN is propagated: one and the same for types without NaN, so that they have one kernel.
    type Propagate: Policy;
    /// Whether lanes can be NaN. A 16-bit float can, but its key, an integer, cannot.
    const LANES_HAVE_NAN: bool;
    /// No lane is below.
    const LOWEST: Self::Lane;
    /// No lane is above.
    const HIGHEST: Self::Lane;

    /// Turns what was loaded into lanes; `nan` is where the policy wants NaN: above all numbers or below.
    fn key(simd: Self::Simd, raw: Vector<S, Self>, nan: Self::Lane) -> Vector<S, Self>;
}

type Vector<S, K> = <<K as Key<S>>::Simd as Lanes<<K as Key<S>>::Lane>>::Vector;

macro_rules! keys {
    ($($t:ident: $lowest:expr, $highest:expr, $nan:literal, $propagate:ident;)+) => {$(
        impl<S: Lanes<$t>> Key<S> for $t {
            type Lane = $t;
            type Simd = S;
            type Propagate = $propagate;
            const LANES_HAVE_NAN: bool = $nan;
            const LOWEST: $t = $lowest;
            const HIGHEST: $t = $highest;

            #[inline(always)]
            fn key(_: S, raw: S::Vector, _: $t) -> S::Vector {
                raw
            }
        }
    )+};
}

keys! {
    i8: i8::MIN, i8::MAX, false, Ignore;
    u8: u8::MIN, u8::MAX, false, Ignore;
    i16: i16::MIN, i16::MAX, false, Ignore;
    u16: u16::MIN, u16::MAX, false, Ignore;
    i32: i32::MIN, i32::MAX, false, Ignore;
    u32: u32::MIN, u32::MAX, false, Ignore;
    i64: i64::MIN, i64::MAX, false, Ignore;
    u64: u64::MIN, u64::MAX, false, Ignore;
    f32: f32::NEG_INFINITY, f32::INFINITY, true, Propagate;
    f64: f64::NEG_INFINITY, f64::INFINITY, true, Propagate;
}

macro_rules! half_keys {
    ($($t:ident),+) => {$(
        impl<S: HalfLanes> Key<S> for $t {
            type Lane = i16;
            type Simd = S;
            type Propagate = Propagate;
            const LANES_HAVE_NAN: bool = false;
            const LOWEST: i16 = i16::MIN;
            const HIGHEST: i16 = i16::MAX;

            #[inline(always)]
            fn key(simd: S, raw: S::Vector, nan: i16) -> S::Vector {
                simd.half_keys(raw, $t::INFINITY.to_bits() as i16, nan)
            }
        }
    )+};
}

half_keys!(f16, bf16);

/// What a strategy sees: vectors of some lanes, and which of two is better. "Better" is strict, total, and the same for all of a
/// kernel's life.
pub(crate) trait Order: Copy {
    type Lane: Copy;
    type Simd: Lanes<Self::Lane>;

    /// True where the fold of [`Order::fold`] loses a NaN that should win: look for it in [`Order::nans`].
    const NAN_WINS: bool;
    /// True where a vector of nothing but NaN leaves [`Order::worst`] in a fold, although a number equal to it may be there.
    const NAN_LOSES: bool;
    /// Whether lanes can be NaN.
    const HAS_NAN: bool = Self::NAN_WINS || Self::NAN_LOSES;

    fn simd(self) -> Self::Simd;
    /// `LANES` consecutive elements, ready to be ranked.
    ///
    /// # Safety
    /// - `at` points to `LANES` readable elements.
    unsafe fn load(self, at: *const Self::Lane) -> Vec<Self>;
    /// `V` vectors of consecutive elements.
    ///
    /// # Safety
    /// - `at` points to `V * LANES` readable elements.
    #[inline(always)]
    unsafe fn load_several<const V: usize>(self, at: *const Self::Lane) -> [Vec<Self>; V] {
        let mut vectors = [self.worst(); V];
        for (n, vector) in vectors.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *vector = unsafe { self.load(at.add(n * Self::Simd::LANES)) };
        }
        vectors
    }
    /// Where `a` is strictly better than `b`.
    fn better(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self>;
    /// Where `a` is strictly better than `b`, and neither is NaN.
    fn above(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self>;
    /// The better of both, in the fewest operations: `kept` must not be NaN, NaN in `new` is dropped.
    fn fold(self, new: Vec<Self>, kept: Vec<Self>) -> Vec<Self>;
    /// The best of some vectors, lane by lane, if there is none of [`Order::nans_of`] them, or they lose.
    #[inline(always)]
    fn fold_of<const V: usize>(self, vectors: &[Vec<Self>; V]) -> Vec<Self> {
        // Where NaN loses, the fold has to start with a number; where it wins, one in the first vector may spoil the fold, because the
        // mask tells.
        let mut best = if Self::NAN_LOSES { self.fold(vectors[0], self.worst()) } else { vectors[0] };
        for &vector in &vectors[1..] {
            best = self.fold(vector, best);
        }
        best
    }
    /// The best of all lanes in each of them; none may be NaN.
    fn across(self, v: Vec<Self>) -> Vec<Self>;
    /// The number of the first best of the first [`Lanes::FEW`] lanes.
    fn first_best(self, v: Vec<Self>) -> usize;
    /// A number that no number is worse than, to start a fold with.
    fn worst(self) -> Vec<Self>;
    /// True where `a` or `b` is a NaN that [`Order::fold`] drops.
    fn nans(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self>;
    /// True where one of some vectors is such a NaN: one test for each pair of them.
    #[inline(always)]
    fn nans_of<const V: usize>(self, vectors: &[Vec<Self>; V]) -> Mask<Self> {
        let mut nans = self.simd().none();
        for pair in vectors.chunks(2) {
            nans = self.simd().or(nans, self.nans(pair[0], pair[pair.len() - 1]));
        }
        nans
    }
}

pub(crate) type Vec<O> = <<O as Order>::Simd as Lanes<<O as Order>::Lane>>::Vector;
pub(crate) type Mask<O> = <<O as Order>::Simd as Lanes<<O as Order>::Lane>>::Mask;
pub(crate) type Count<O> = <<O as Order>::Simd as Lanes<<O as Order>::Lane>>::Count;

/// The order of elements `K` on ISA `S`, by function `F` and policy `P`.
pub(crate) struct Ranking<S, K: Key<S>, F, P> {
    simd: K::Simd,
    order: PhantomData<(F, P)>,
}

impl<S, K: Key<S>, F, P> Clone for Ranking<S, K, F, P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S, K: Key<S>, F, P> Copy for Ranking<S, K, F, P> {}

impl<S, K: Key<S>, F: Function, P: Policy> Ranking<S, K, F, P> {
    /// Where the policy wants NaN among the keys.
    const NAN_KEY: K::Lane = if F::IS_MAX == P::PROPAGATES { K::HIGHEST } else { K::LOWEST };

    /// The ranking, for an ISA that is there.
    ///
    /// # Safety
    /// - The machine has the ISA `S`.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        // SAFETY: the caller's promise.
        Ranking { simd: unsafe { K::Simd::assume() }, order: PhantomData }
    }
}

impl<S, K: Key<S>, F: Function, P: Policy> Order for Ranking<S, K, F, P> {
    type Lane = K::Lane;
    type Simd = K::Simd;

    const NAN_WINS: bool = K::LANES_HAVE_NAN && P::PROPAGATES;
    const NAN_LOSES: bool = K::LANES_HAVE_NAN && !P::PROPAGATES;

    #[inline(always)]
    fn simd(self) -> K::Simd {
        self.simd
    }

    #[inline(always)]
    unsafe fn load(self, at: *const K::Lane) -> Vec<Self> {
        // SAFETY: the caller's promise.
        K::key(self.simd, unsafe { self.simd.load(at) }, Self::NAN_KEY)
    }

    #[inline(always)]
    fn better(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
        let (high, low) = if F::IS_MAX { (a, b) } else { (b, a) };
        if !K::LANES_HAVE_NAN {
            return self.simd.gt(high, low);
        }
        // Better or not to be compared, unless the NaN is on the side where it does not count: one NaN in `b` under Propagate keeps `b`, one
        // in `a` under Ignore drops `a`. Three operations, where a test of both classes takes five.
        let excluded = if P::PROPAGATES { b } else { a };
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
    fn across(self, v: Vec<Self>) -> Vec<Self> {
        self.simd.across(v, F::IS_MAX)
    }

    #[inline(always)]
    fn first_best(self, v: Vec<Self>) -> usize {
        self.simd.first_best(v, F::IS_MAX)
    }

    #[inline(always)]
    fn worst(self) -> Vec<Self> {
        self.simd.splat(if F::IS_MAX { K::LOWEST } else { K::HIGHEST })
    }

    #[inline(always)]
    fn nans(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
        self.simd.unordered(a, b)
    }
}
