//! The table of vector operations that an ISA fills in, once for each lane type. Knows nothing of orders, NaN policies
//! and strategies. What is above may read the constants of a token, but not which ISA it is.

use super::cast;
use crate::simd::partial_load::{MAX_VECTOR_BYTES, PaddedTail};
use crate::simd::token::Simd;
use crate::simd::transpose::TransposeOps;
use bytemuck::Pod;

/// What [`SimdOps::compare`] tests, by the numbers that x86 has for it: whether `a > b`, false where either is NaN;
pub(crate) const GT: i32 = 0x1e;
/// whether not `a <= b`, so that it is true where either is NaN;
pub(crate) const NOT_LE: i32 = 0x16;
/// whether `a == b`;
pub(crate) const EQ: i32 = 0;
/// and whether either is NaN.
pub(crate) const UNORDERED: i32 = 3;

/// Vectors of lanes of type `T`, with masks (a truth value for each lane) and indices (an unsigned integer for each
/// lane, as wide as the lane, so that a mask of values selects counts too).
///
/// A `V` is either of values or of indices: what moves lanes does not look at them.
///
/// # Safety
/// Kernels step through memory by [`LANES`](SimdOps::LANES), and read an element at a position that came of masks and
/// indices. So an implementor promises that
/// - a `Vector` is `LANES` elements, an `IndexVec` and an `IndexArray` as many integers, in order and without gaps, and
///   no longer than [`MAX_VECTOR_BYTES`]; `LANES` and `MAX_INDEX` are left as they are here;
/// - loads read what they say, and nothing else;
/// - each operation gives what is said of it, whatever the lanes hold.
pub(crate) unsafe trait SimdOps<T>: TransposeOps + TreeOps {
    type Vector: Pod;
    /// A truth value per lane; zeros are false.
    type Mask: Pod;
    /// An unsigned integer per lane.
    type IndexVec: Pod;
    /// One lane of them.
    type IndexLane: Copy + Ord + Into<u64>;
    /// Such integers as an array, `LANES` of them.
    type IndexArray: AsRef<[Self::IndexLane]> + Pod;
    /// What has [`MinposOps`] for these lanes; [`NoMinpos`] where they would be no better than what can be made of the
    /// other operations.
    type Minpos: MinposOps<T, Self::Vector, Self::IndexVec>;

    /// Lanes in a vector.
    const LANES: usize = size_of::<Self::Vector>() / size_of::<T>();
    /// The largest index (cut to 32 bits).
    const MAX_INDEX: u32 = if size_of::<T>() < 4 { (1 << (8 * size_of::<T>())) - 1 } else { u32::MAX };
    /// Bits per lane in [`SimdOps::movemask`].
    const BITS_PER_LANE: u32;

    /// `value` in every lane.
    fn splat(self, value: T) -> Self::Vector;
    /// `LANES` consecutive elements.
    ///
    /// # Safety
    /// - `at` points to `LANES` readable elements; it need not be aligned to the vector.
    #[inline(always)]
    unsafe fn load(self, at: *const T) -> Self::Vector {
        // SAFETY: the caller's promise: a vector is its lanes.
        unsafe { at.cast::<Self::Vector>().read_unaligned() }
    }
    /// The first `n` elements of a vector, and zeros; nothing else is read.
    ///
    /// # Safety
    /// - `at` points to `n` readable elements, and `n` is at most `LANES`.
    #[inline(always)]
    unsafe fn load_first_n(self, at: *const T, n: usize) -> Self::Vector {
        // SAFETY: the caller's promise; what was copied is as long as any vector.
        unsafe { self.load(PaddedTail::new(at, n).as_ptr()) }
    }

    /// Where [`GT`], [`NOT_LE`], [`EQ`] or [`UNORDERED`] is true of both. Of integers, [`NOT_LE`] may be anything.
    fn compare<const WHAT: i32>(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
    /// Not zero if `acc` is not, or a lane of the vectors is NaN; the lanes may be any.
    #[inline(always)]
    fn or_nans<const V: usize>(self, acc: Self::Mask, vectors: &[Self::Vector; V]) -> Self::Mask {
        // One test for each pair of them.
        let mut nans = self.compare::<UNORDERED>(vectors[0], vectors[if V > 1 { 1 } else { 0 }]);
        let mut n = 2;
        while n < V {
            nans = self.or(nans, self.compare::<UNORDERED>(vectors[n], vectors[if n + 1 < V { n + 1 } else { n }]));
            n += 2;
        }
        self.or(acc, nans)
    }
    /// `new > kept ? new : kept`: equals and NaN in `new` leave `kept`, bit for bit.
    #[inline(always)]
    fn max(self, new: Self::Vector, kept: Self::Vector) -> Self::Vector {
        self.select(self.compare::<GT>(new, kept), new, kept)
    }
    /// `new < kept ? new : kept`.
    #[inline(always)]
    fn min(self, new: Self::Vector, kept: Self::Vector) -> Self::Vector {
        self.select(self.compare::<GT>(kept, new), new, kept)
    }
    /// The bits that differ.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The largest (or smallest) of all lanes, none of which is NaN, in each of them.
    #[inline(always)]
    fn reduce_splat(self, mut v: Self::Vector, largest: bool) -> Self::Vector {
        let mut lanes = Self::LANES / 2;
        while lanes > 0 {
            let other = self.butterfly(v, lanes);
            v = if largest { self.max(other, v) } else { self.min(other, v) };
            lanes /= 2;
        }
        v
    }
    /// Not there for [`NoMinpos`], and nowhere else.
    fn minpos_ops(self) -> Option<Self::Minpos>;

    fn select<V: Pod>(self, mask: Self::Mask, yes: V, no: V) -> V;
    /// Exchanges neighbouring groups of `lanes` lanes (a power of two, below `LANES`): lane `i` gets lane `i ^ lanes`.
    fn butterfly(self, v: Self::Vector, lanes: usize) -> Self::Vector;
    /// Lane `i` gets lane `i + lanes`, and the last of them the first; `lanes` is below `LANES`.
    fn rotate<V: Pod>(self, v: V, lanes: usize) -> V;

    /// True in the first `n` lanes; `n` is at most `LANES`.
    #[inline(always)]
    fn first_n_mask(self, n: usize) -> Self::Mask {
        const TABLE: [[u8; MAX_VECTOR_BYTES]; 2] = [[0xff; MAX_VECTOR_BYTES], [0; MAX_VECTOR_BYTES]];
        let bytes = &TABLE.as_flattened()[MAX_VECTOR_BYTES - n * size_of::<T>()..][..size_of::<Self::Mask>()];
        // SAFETY: the slice has as many, or slicing had panicked.
        unsafe { bytes.as_ptr().cast::<Self::Mask>().read_unaligned() }
    }
    fn or(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `a`, but not where `b`.
    fn and_not(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The mask as bits, `BITS_PER_LANE` equal ones for each lane, lane 0 lowest.
    fn movemask(self, mask: Self::Mask) -> u64;

    /// `n` in every lane; `n` is at most `MAX_INDEX`.
    fn splat_index(self, n: u32) -> Self::IndexVec;
    fn add(self, a: Self::IndexVec, b: Self::IndexVec) -> Self::IndexVec;
    /// One more where the mask is true.
    #[inline(always)]
    fn sub_mask(self, mask: Self::Mask, count: Self::IndexVec) -> Self::IndexVec {
        self.add(count, self.select(mask, self.splat_index(1), self.splat_index(0)))
    }
    /// `a > b`.
    fn index_gt(self, a: Self::IndexVec, b: Self::IndexVec) -> Self::Mask;
    /// All lanes, as an array.
    #[inline(always)]
    fn index_array(self, indices: Self::IndexVec) -> Self::IndexArray {
        cast(indices)
    }
    /// The smallest of all lanes.
    #[inline(always)]
    fn reduce_min_index(self, indices: Self::IndexVec) -> Self::IndexLane {
        let indices = self.index_array(indices);
        let mut smallest = indices.as_ref()[0];
        for &count in indices.as_ref() {
            smallest = if count < smallest { count } else { smallest };
        }
        smallest
    }
}

/// Masks of lanes of any width as masks of bytes, a byte for each lane: what goes from lanes of one width to those of
/// another.
///
/// # Safety
/// Each operation gives what is said of it, for whatever bits and masks: by masks, lanes are replaced that are no
/// elements, or that have positions where elements are read.
pub(crate) unsafe trait ByteMaskOps<T>: SimdOps<T> + SimdOps<u8> {
    /// The masks of as many vectors as a lane has bytes, one after the other: `mask(n)` is that of vector `n`.
    fn narrow(self, mask: impl Fn(usize) -> <Self as SimdOps<T>>::Mask) -> <Self as SimdOps<u8>>::Mask;
    /// A mask of bytes that is true where a bit is set, the lowest first: of as many bits as there are lanes.
    fn byte_mask(self, bits: u64) -> <Self as SimdOps<u8>>::Mask;
    /// The mask of vector `n` of those again.
    fn widen(self, mask: &<Self as SimdOps<u8>>::Mask, n: usize) -> <Self as SimdOps<T>>::Mask;
    /// Of vector `n` of some, lanes of `a` where the bit of the lane is set, and else those of `b`. All of the vectors
    /// have a lane for each of 64 bits, the lowest first.
    #[inline(always)]
    fn select_by_bits(
        self,
        bits: u64,
        n: usize,
        a: <Self as SimdOps<T>>::Vector,
        b: <Self as SimdOps<T>>::Vector,
    ) -> <Self as SimdOps<T>>::Vector {
        let bytes = self.byte_mask(bits >> (n / size_of::<T>() * <Self as SimdOps<u8>>::LANES));
        SimdOps::<T>::select(self, self.widen(&bytes, n % size_of::<T>()), a, b)
    }
}

/// What a reduction of many rows at a time needs, which transposes: for vectors of lanes of 32 bits.
///
/// # Safety
/// Each operation gives what is said of it: what is in a lane is where an element is read.
pub(crate) unsafe trait TreeOps: Simd {
    /// Sorts two vectors of `rows` rows each, a power of two below the number of lanes, into two of twice as many: the
    /// rows of `a`, and then those of `b`. The first one has elements 0, 2, 4, .. of each row, and the second one
    /// elements 1, 3, 5, ..; so each has half of the row, in order.
    ///
    /// Of `n` lanes, each row has `n / rows`. Which lane has which element of which row is up to the ISA, but depends
    /// on the number of rows alone. In a vector of one row, lane `i` has element `i`; in one of `n` rows, lane `i` has
    /// row `i`. One way to do it, with four lanes, and rows p, q, r and s:
    ///
    /// ```text
    /// rows = 1    of p0 p1 p2 p3    and q0 q1 q2 q3    are made p0 p2 q0 q2    and p1 p3 q1 q3
    /// rows = 2    of p0 p1 q0 q1    and r0 r1 s0 s1    are made p0 q0 r0 s0    and p1 q1 r1 s1
    /// ```
    fn deinterleave<V: Pod>(self, a: V, b: V, rows: usize) -> (V, V);
}

/// An operation that finds the first best of a few lanes, for vectors `V` of lanes of type `T`, and their indices `I`.
///
/// # Safety
/// As for [`SimdOps`].
pub(crate) unsafe trait MinposOps<T, V, I> {
    /// How many lanes it looks at, if there is a value of the type at all.
    const LANES: usize;

    /// Of the first `LANES` lanes, the smallest number that a largest (or smallest) one has: lanes of 8 bits have the
    /// given numbers, others are counted from 0.
    fn minpos(self, v: V, numbers: I, largest: bool) -> usize;
}

/// For lanes without such an operation: there is no value of it.
pub(crate) enum NoMinpos {}

// SAFETY: nothing is ever done.
unsafe impl<T, V, I> MinposOps<T, V, I> for NoMinpos {
    /// See docs/tuning.md#the-minimum-instruction-of-x86.
    const LANES: usize = 0;

    #[inline(always)]
    fn minpos(self, _: V, _: I, _: bool) -> usize {
        match self {}
    }
}

/// For lanes without [`MinposOps`].
macro_rules! no_minpos {
    () => {
        type Minpos = NoMinpos;

        #[inline(always)]
        fn minpos_ops(self) -> Option<NoMinpos> {
            None
        }
    };
}
pub(crate) use no_minpos;

/// Operations on two vectors that are one method of the token, or of one of its features, whatever types that has.
#[allow(unused_macros, reason = "some targets have no ISA with intrinsics")]
macro_rules! binary {
    ($vector:ty => $output:ty: $($name:ident = $method:ident $(of $feature:ident)?),+) => {$(
        #[inline(always)]
        fn $name(self, a: $vector, b: $vector) -> $output {
            cast(self$(.0.$feature)?.$method(cast(a), cast(b)))
        }
    )+};
}
#[allow(unused_imports, reason = "the same")]
pub(crate) use binary;

/// The number of each of some lanes as wide as a `T`, or how many of them come after it.
#[inline(always)]
pub(crate) fn iota<T, V: Pod>(from_the_end: bool) -> V {
    let numbers = const { &[numbers::<T, V>(false), numbers::<T, V>(true)] };
    // SAFETY: as many bytes are there, and may have any bits.
    unsafe { numbers[usize::from(from_the_end)].as_ptr().cast::<V>().read_unaligned() }
}

const fn numbers<T, V>(from_the_end: bool) -> [u8; MAX_VECTOR_BYTES] {
    let (size, lanes) = (size_of::<T>(), size_of::<V>() / size_of::<T>());
    let (mut bytes, mut n) = ([0; MAX_VECTOR_BYTES], 0);
    while n < lanes {
        // They are smaller than a byte; which of its bytes that is depends on the machine.
        let at = n * size + if cfg!(target_endian = "big") { size - 1 } else { 0 };
        bytes[at] = if from_the_end { lanes - 1 - n } else { n } as u8;
        n += 1;
    }
    bytes
}

/// What floats need to be compared by how far they are from a value.
///
/// # Safety
/// As for [`SimdOps`].
pub(crate) unsafe trait DistanceOps<T>: SimdOps<T> {
    /// The difference without its sign, rounded to the nearest.
    fn distance(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
}

/// What small floats need beyond integers `L` as wide.
///
/// # Safety
/// As for [`SimdOps`].
pub(crate) unsafe trait SmallFloatOps<L>: SimdOps<L> {
    /// Integers in the order of the floats whose bits are `raw`, in three steps:
    ///
    /// 1. With the `magnitude`, all bits but the sign, they are `-magnitude` where the sign is set and `magnitude`
    ///    elsewhere, so that -0 equals +0.
    /// 2. Plus `bias`, modulo 2 to the number of bits, by which NaNs of both signs come to follow each other at the end
    ///    of all integers.
    /// 3. Plus `saturating_bias`, saturating, by which all of those become the last integer.
    fn encode_float(self, raw: Self::Vector, bias: L, saturating_bias: L) -> Self::Vector;
    /// The larger of both as unsigned integers.
    fn max_unsigned(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
}
