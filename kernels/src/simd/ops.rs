//! The table of vector operations that an ISA fills in, once for each lane type. Knows nothing of orders, NaN policies
//! and strategies. What is above may ask a token for its constants, but not which ISA it is.

use crate::simd::partial_load::PaddedTail;
use crate::simd::transpose::TransposeOps;

/// Vectors of lanes of type `T`, with masks (a truth value for each lane) and indices (an unsigned integer for each
/// lane, as wide as the lane, so that a mask of values selects counts too).
pub(crate) trait SimdOps<T>: TransposeOps {
    /// The values.
    type Vector: Copy;
    /// A truth value per lane.
    type Mask: Copy;
    /// An unsigned integer per lane.
    type IndexVec: Copy;
    /// One lane of them.
    type IndexLane: Copy + Ord + Into<u64>;
    /// The same as an array of `LANES` integers.
    type IndexArray: AsRef<[Self::IndexLane]>;

    /// Lanes in a vector.
    const LANES: usize = size_of::<Self::Vector>() / size_of::<T>();
    /// The largest index (cut to 32 bits).
    const MAX_INDEX: u32 = if size_of::<T>() < 4 { (1 << (8 * size_of::<T>())) - 1 } else { u32::MAX };
    /// Bits per lane in [`SimdOps::movemask`].
    const BITS_PER_LANE: u32;
    /// Whether a maximum is one operation. Otherwise it is a comparison and a select, whose result takes longer to
    /// arrive.
    const HAS_MAX: bool = true;

    /// `value` in every lane.
    fn splat(self, value: T) -> Self::Vector;
    /// `LANES` consecutive elements.
    ///
    /// # Safety
    /// - `at` points to `LANES` readable elements; it need not be aligned to the vector.
    unsafe fn load(self, at: *const T) -> Self::Vector;
    /// The first `n` elements of a vector, and zeros; nothing else is read.
    ///
    /// # Safety
    /// - `at` points to `n` readable elements, and `n` is at most `LANES`.
    #[inline(always)]
    unsafe fn load_first_n(self, at: *const T, n: usize) -> Self::Vector {
        // SAFETY: the caller's promise; what was copied is as long as any vector.
        unsafe { self.load(PaddedTail::new(at, n).as_ptr()) }
    }

    /// `a > b`; false where either is NaN.
    fn gt(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
    /// `a > b`, and true where either is NaN: of floats, something else.
    #[inline(always)]
    fn gt_or_unordered(self, a: Self::Vector, b: Self::Vector) -> Self::Mask {
        self.gt(a, b)
    }
    fn eq(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
    /// True where `a` or `b` is NaN: of floats, something else.
    #[inline(always)]
    fn unordered(self, _: Self::Vector, _: Self::Vector) -> Self::Mask {
        self.first_n_mask(0)
    }
    /// True in some lane if `acc` is, or a lane of the vectors is NaN; in which, an ISA is free.
    #[inline(always)]
    fn or_nans<const V: usize>(self, acc: Self::Mask, vectors: &[Self::Vector; V]) -> Self::Mask {
        // One test for each pair of them.
        let mut nans = acc;
        let mut n = 0;
        while n < V {
            nans = self.or(nans, self.unordered(vectors[n], vectors[if n + 1 < V { n + 1 } else { n }]));
            n += 2;
        }
        nans
    }
    /// `new > kept ? new : kept`: equals and NaN in `new` leave `kept`, bit for bit.
    fn max(self, new: Self::Vector, kept: Self::Vector) -> Self::Vector;
    /// `new < kept ? new : kept`.
    fn min(self, new: Self::Vector, kept: Self::Vector) -> Self::Vector;
    fn select(self, mask: Self::Mask, yes: Self::Vector, no: Self::Vector) -> Self::Vector;
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
    /// How many lanes [`SimdOps::minpos`] looks at; 0 where it is no better than what can be made of the other
    /// operations.
    const MINPOS_LANES: usize = 0;
    /// The number of the first largest (or smallest) of the first `MINPOS_LANES` lanes.
    #[inline(always)]
    fn minpos(self, _: Self::Vector, _: bool) -> usize {
        0
    }
    /// Whether [`SimdOps::minpos_index`] is better than what can be made of the other operations.
    const HAS_MINPOS_INDEX: bool = false;
    /// The smallest number that a largest (or smallest) lane has, of those that are given to them.
    #[inline(always)]
    fn minpos_index(self, _: Self::Vector, _numbers: Self::IndexVec, _largest: bool) -> usize {
        0
    }
    /// Exchanges neighbouring groups of `lanes` lanes (a power of two, below `LANES`): lane `i` gets lane `i ^ lanes`.
    fn butterfly(self, v: Self::Vector, lanes: usize) -> Self::Vector;
    /// Lane `i` gets lane `i + lanes`, and the last of them the first; `lanes` is below `LANES`.
    fn rotate(self, v: Self::Vector, lanes: usize) -> Self::Vector;

    /// What two vectors of `rows` rows each (a power of two, below `LANES`) have, in two vectors of twice as many:
    /// the first of each two elements of a row that are neighbours there, and the second. In how a row lies, an ISA
    /// is free, but before the first of these steps, a vector is one row in its order, and after the last one, each
    /// lane is a row, in the order of all. For lanes of 32 bits; of others, an ISA may give anything.
    fn deinterleave(self, a: Self::Vector, b: Self::Vector, rows: usize) -> (Self::Vector, Self::Vector);

    /// True in the first `n` lanes; `n` is at most `LANES`.
    fn first_n_mask(self, n: usize) -> Self::Mask;
    fn or(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `a`, but not where `b`.
    fn and_not(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The mask as bits, `BITS_PER_LANE` equal ones for each lane, lane 0 lowest.
    fn movemask(self, mask: Self::Mask) -> u64;

    /// `n` in every lane; `n` is at most `MAX_INDEX`.
    fn splat_index(self, n: u32) -> Self::IndexVec;
    /// The number of each lane, or how many lanes come after it.
    fn iota(self, from_the_end: bool) -> Self::IndexVec;
    fn add(self, a: Self::IndexVec, b: Self::IndexVec) -> Self::IndexVec;
    /// `a > b`.
    fn index_gt(self, a: Self::IndexVec, b: Self::IndexVec) -> Self::Mask;
    /// The index where the mask is true, and 0 elsewhere.
    #[inline(always)]
    fn and_mask(self, mask: Self::Mask, count: Self::IndexVec) -> Self::IndexVec {
        cast_lanes(self.select(mask, cast_lanes(count), cast_lanes(self.splat_index(0))))
    }
    /// One more where the mask is true.
    #[inline(always)]
    fn sub_mask(self, mask: Self::Mask, count: Self::IndexVec) -> Self::IndexVec {
        self.add(count, self.and_mask(mask, self.splat_index(1)))
    }
    /// All lanes, as an array.
    fn index_array(self, indices: Self::IndexVec) -> Self::IndexArray;
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

/// The bits of a vector as another one, with lanes as wide: what moves lanes never looks at them, so that it moves
/// indices as it does values.
#[inline(always)]
pub(crate) fn cast_lanes<A: Copy, B: Copy>(a: A) -> B {
    const { assert!(size_of::<A>() == size_of::<B>()) };
    // SAFETY: both are vectors of one size, of plain numbers, for which any bits do.
    unsafe { core::mem::transmute_copy(&a) }
}

/// What 16-bit floats need beyond 16-bit integers.
pub(crate) trait F16KeyOps: SimdOps<i16> {
    /// Integers in the order of the floats whose bits are `raw`, in three steps:
    ///
    /// 1. With `magnitude = raw & 0x7fff`, they are `-magnitude` where the sign is set and `magnitude` elsewhere, so
    ///    that -0 equals +0.
    /// 2. Plus `bias` modulo 2^16, by which NaNs of both signs come to follow each other at the end of all integers.
    /// 3. Plus `saturating_bias`, saturating, by which all of those become the last integer.
    fn encode_f16(self, raw: Self::Vector, bias: i16, saturating_bias: i16) -> Self::Vector;
    /// `bias` less in each lane, modulo 2^16.
    fn minus(self, v: Self::Vector, bias: i16) -> Self::Vector;
    /// The larger of both as unsigned integers.
    fn max_unsigned(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
}

/// [`SimdOps::iota`] as an array, for lanes counted in `$count`s and vectors of `$bytes` bytes.
macro_rules! iota {
    ($count:ident, $bytes:expr, $from_the_end:expr) => {{
        const LANES: usize = $bytes / size_of::<$count>();
        const NUMBERS: [[$count; LANES]; 2] = {
            let mut numbers = [[0; LANES]; 2];
            let mut n = 0;
            while n < LANES {
                numbers[0][n] = n as $count;
                numbers[1][LANES - 1 - n] = n as $count;
                n += 1;
            }
            numbers
        };
        NUMBERS[$from_the_end as usize]
    }};
}
pub(crate) use iota;
