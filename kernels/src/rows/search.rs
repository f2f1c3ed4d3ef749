//! The searches of a row, as types, and which of them takes a length. Knows nothing of loops over rows.

use super::blocked;
use super::blocks::block_len;
use super::lane_indexed;
use super::segment::{self, Followed, MAX_VECTORS, Segment};
use super::tree::{self, SideBySide};
use crate::order::{ArgOrder, IndexVec, Minpos, Vec};
use crate::simd::ops::{MinposOps, SimdOps, iota};
use crate::simd::token::Simd;

/// Takes the search for rows of a length, up to [`RowLoop::MAX_VECTORS`]. (It compares elements: to count the vectors
/// takes as many instructions as there are to load one and compare it.)
#[inline(always)]
pub(super) fn in_registers<O: ArgOrder, V: RowLoop<O>>(len: usize, visit: V) -> V::Output {
    let lanes = O::Simd::LANES;
    match len {
        _ if const { Minpos::<O>::LANES > 0 && (V::FORWARD || size_of::<O::Lane>() == 1) }
            && len <= Minpos::<O>::LANES.min(lanes - 1) =>
        {
            visit.search::<MinposRow>()
        }
        _ if len < lanes => visit.search::<InRegisters<0, 0>>(),
        // Fewer copies of the loop for other rows; but those that are answered side by side have one of their own.
        _ if (const { V::FORWARD || V::HAS_GROUPS && tree::max_vectors::<O>() == 1 }) && len <= lanes => {
            visit.search::<InRegisters<1, 1>>()
        }
        // Most rows are answered side by side, which all these lengths share.
        _ if const { V::HAS_GROUPS && tree::max_vectors::<O>() > 1 } && len <= 4 * lanes => {
            visit.search::<InRegisters<1, 4>>()
        }
        _ if len <= 2 * lanes => visit.search::<InRegisters<1, 2>>(),
        _ if const { V::MAX_VECTORS <= 4 } || len <= 4 * lanes => visit.search::<InRegisters<2, 4>>(),
        _ => visit.search::<InRegisters<4, MAX_VECTORS>>(),
    }
}

/// What is done with a search: a closure, but generic.
pub(super) trait RowLoop<O: ArgOrder> {
    /// Whether it is known that rows run in the direction of memory.
    const FORWARD: bool;
    /// Whether rows may be answered side by side.
    const HAS_GROUPS: bool;
    /// The most vectors that are searched in registers.
    const MAX_VECTORS: usize;
    type Output;

    fn search<S: RowSearch<O>>(self) -> Self::Output;
}

/// A way to find the best element of a row.
pub(super) trait RowSearch<O: ArgOrder> {
    /// The fewest and the most elements of a row that is searched: others panic. (A loop over rows tests that before
    /// the first one, so that the compiler leaves it out for each.)
    const LENGTHS: [usize; 2];
    /// Whether a row is loaded as a vector that is longer, and so needs to be [`Followed`].
    const OVER_READS: bool = false;
    /// Whether it takes a row block by block, and prefetches by itself.
    const IS_BLOCKED: bool = false;
    /// Whether it takes rows of any length from a block on, which run in either direction where none is known.
    const TAKES_ANY_LENGTH: bool = false;
    /// Whether a search is as short as a [loop that is unrolled](crate::simd::token::repeat).
    const IS_SHORT: bool = false;
    /// Whether as many rows as a vector has lanes may be answered side by side.
    const HAS_GROUPS: bool = false;

    /// The position, 0 if there is none.
    fn find(order: O, row: Segment<'_, O::Lane>) -> u32;

    /// [`RowSearch::find`], where more than the row may be read.
    #[inline(always)]
    fn find_followed(order: O, row: Followed<'_, O>) -> u32 {
        Self::find(order, row.segment())
    }

    /// The positions in as many rows as a vector has lanes, where it [has such groups](RowSearch::HAS_GROUPS).
    #[inline(always)]
    fn find_group(order: O, _: SideBySide<'_, O>) -> IndexVec<O> {
        order.simd().splat_index(0)
    }
}

/// So few that one operation finds the first best of them; the other lanes of the vector hold the worst value.
struct MinposRow;

impl MinposRow {
    #[inline(always)]
    fn find_in<O: ArgOrder>(order: O, row: Segment<'_, O::Lane>, value: Vec<O>) -> u32 {
        let simd = order.simd();
        // Lanes beyond the row are no better, and their numbers are larger.
        let beyond = simd.splat_index(O::Simd::MAX_INDEX);
        let numbers = simd.select(simd.first_n_mask(row.len()), iota::<O::Lane, _>(row.is_reversed()), beyond);
        let minpos = simd.minpos_ops().expect("taken where it is there");
        let number = minpos.minpos(value, numbers, O::IS_MAX);
        (if row.is_reversed() { number - (O::Simd::LANES - row.len()) } else { number }) as u32
    }
}

impl<O: ArgOrder> RowSearch<O> for MinposRow {
    const LENGTHS: [usize; 2] = [0, O::Simd::LANES - 1];
    const IS_SHORT: bool = true;
    const OVER_READS: bool = !O::Simd::TUNING.has_masks;

    #[inline(always)]
    fn find(order: O, row: Segment<'_, O::Lane>) -> u32 {
        Self::find_in(order, row, segment::load_partial(order, row))
    }

    #[inline(always)]
    fn find_followed(order: O, row: Followed<'_, O>) -> u32 {
        Self::find_in(order, row.segment(), row.load_partial(order))
    }
}

/// At least `MIN` vectors, and at most `V`; if that is 0, less than one.
struct InRegisters<const MIN: usize, const V: usize>;

impl<O: ArgOrder, const MIN: usize, const V: usize> RowSearch<O> for InRegisters<MIN, V> {
    const LENGTHS: [usize; 2] = if V == 0 { [0, O::Simd::LANES - 1] } else { [MIN * O::Simd::LANES, usize::MAX] };
    const OVER_READS: bool = V == 0 && !O::Simd::TUNING.has_masks;
    const IS_SHORT: bool = V == 1 || V == 2;
    // What `in_registers` takes for the shortest of them.
    const HAS_GROUPS: bool = match tree::max_vectors::<O>() {
        0 => false,
        1 => V <= 1,
        _ => V <= 4,
    };

    #[inline(always)]
    fn find(order: O, row: Segment<'_, O::Lane>) -> u32 {
        if const { V == 0 } {
            segment::find_partial(order, row, segment::load_partial(order, row)).position()
        } else {
            segment::find::<O, MIN, V>(order, row).position()
        }
    }

    #[inline(always)]
    fn find_followed(order: O, row: Followed<'_, O>) -> u32 {
        if const { V == 0 } {
            segment::find_partial(order, row.segment(), row.load_partial(order)).position()
        } else {
            Self::find(order, row.segment())
        }
    }

    #[inline(always)]
    fn find_group(order: O, rows: SideBySide<'_, O>) -> IndexVec<O> {
        tree::find::<O, V>(order, rows)
    }
}

pub(super) struct LaneIndexed;

impl<O: ArgOrder> RowSearch<O> for LaneIndexed {
    const LENGTHS: [usize; 2] = [O::Simd::LANES, usize::MAX];

    #[inline(always)]
    fn find(order: O, row: Segment<'_, O::Lane>) -> u32 {
        lane_indexed::find(order, row)
    }
}

/// Any row of a block and more.
pub(super) struct AnyLengthSearch;

impl<O: ArgOrder> RowSearch<O> for AnyLengthSearch {
    const LENGTHS: [usize; 2] = [block_len::<O>(), usize::MAX];
    const IS_BLOCKED: bool = true;
    const TAKES_ANY_LENGTH: bool = true;

    #[inline(always)]
    fn find(order: O, row: Segment<'_, O::Lane>) -> u32 {
        blocked::find_any_length(order, row).position()
    }
}

/// Rows of a block and more that are [one segment](blocked::is_one_segment).
pub(super) struct BlockedSearch;

impl<O: ArgOrder> RowSearch<O> for BlockedSearch {
    const LENGTHS: [usize; 2] = [block_len::<O>(), usize::MAX];
    const IS_BLOCKED: bool = true;

    #[inline(always)]
    fn find(order: O, row: Segment<'_, O::Lane>) -> u32 {
        blocked::find(order, row, 0).position()
    }
}
