//! The searches of a row, as types, and which of them takes a length. Knows nothing of loops over rows.

use super::blocked;
use super::lane_indexed;
use super::segment::{self, MAX_VECTORS, Segment};
use super::tree;
use crate::order::{ArgOrder, IndexVec, Minpos};
use crate::simd::ops::{MinposOps, SimdOps, iota};
use crate::simd::token::Simd;

/// Takes the search for rows of a length, up to [`RowLoop::MAX_VECTORS`]. (It compares elements: to count the vectors
/// takes as many instructions as there are to load one and compare it.)
///
/// # Safety
/// - The caller may [search](RowLoop::search) rows of that length.
#[inline(always)]
pub(super) unsafe fn in_registers<O: ArgOrder, V: RowLoop<O>>(len: usize, visit: V) -> V::Output {
    let lanes = O::Simd::LANES;
    // SAFETY: the caller's promise, and each of the lengths is one that its search takes.
    unsafe {
        match len {
            _ if const { Minpos::<O>::LANES > 0 && (V::FORWARD || size_of::<O::Lane>() == 1) }
                && len <= Minpos::<O>::LANES.min(lanes - 1) =>
            {
                visit.search::<MinposRow>()
            }
            _ if len < lanes => visit.search::<InRegisters<0, 0>>(),
            // Fewer copies of the loop for other rows.
            _ if V::FORWARD && len <= lanes => visit.search::<InRegisters<1, 1>>(),
            // Most rows are answered side by side, which all these lengths share.
            _ if const { tree::takes::<O>() && !V::IS_ALONE } && len <= 4 * lanes => {
                visit.search::<InRegisters<1, 4>>()
            }
            _ if len <= 2 * lanes => visit.search::<InRegisters<1, 2>>(),
            _ if const { V::MAX_VECTORS <= 4 } || len <= 4 * lanes => visit.search::<InRegisters<2, 4>>(),
            _ => visit.search::<InRegisters<4, MAX_VECTORS>>(),
        }
    }
}

/// What is done with a search: a closure, but generic.
pub(super) trait RowLoop<O: ArgOrder> {
    /// Whether it is known that rows run in the direction of memory.
    const FORWARD: bool;
    /// Whether there is never more than one.
    const IS_ALONE: bool;
    /// The most vectors that are searched in registers.
    const MAX_VECTORS: usize;
    type Output;

    /// # Safety
    /// - The elements of the rows may be read, and rows have a length that `S` takes.
    unsafe fn search<S: RowSearch<O>>(self) -> Self::Output;
}

/// A way to find the best element of a row.
pub(super) trait RowSearch<O: ArgOrder> {
    /// Whether a row is shorter than the vector that it is loaded as, and so needs more elements to follow it.
    const OVER_READS: bool = false;
    /// Whether it takes a row block by block, and prefetches by itself.
    const IS_BLOCKED: bool = false;
    /// Whether it takes rows of any length, which run in either direction where none is known.
    const IS_LONG: bool = false;
    /// Whether a search is as short as a [loop that is unrolled](crate::simd::token::repeat).
    const IS_SHORT: bool = false;
    /// The most vectors of a row, 0 if they are less than one: where as many rows as a vector has lanes may be
    /// answered side by side.
    const VECTORS: Option<usize> = None;

    /// The position, 0 if there is none.
    ///
    /// # Safety
    /// - The elements of the segment may be read; if `OVER_READ`, those that follow it in a vector may be too.
    /// - It has a length that the search takes.
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32;

    /// The positions in as many rows as a vector has lanes, from one to the next `stride` elements.
    ///
    /// # Safety
    /// - As for [`RowSearch::find`] with `OVER_READ`, of each row.
    #[inline(always)]
    unsafe fn find_group(order: O, _first: Segment<O::Lane>, _stride: isize) -> IndexVec<O> {
        order.simd().splat_index(0)
    }
}

/// So few that one operation finds the first best of them; the other lanes of the vector hold the worst value.
struct MinposRow;
impl<O: ArgOrder> RowSearch<O> for MinposRow {
    const IS_SHORT: bool = true;
    const OVER_READS: bool = !O::Simd::TUNING.has_masks;

    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        let (simd, value) = (order.simd(), unsafe { segment::load_partial::<O, OVER_READ>(order, segment) });
        // Lanes beyond the row are no better, and their numbers are larger.
        let beyond = simd.splat_index(O::Simd::MAX_INDEX);
        let numbers = simd.select(simd.first_n_mask(segment.len), iota::<O::Lane, _>(segment.reversed), beyond);
        let minpos = simd.minpos_ops().expect("taken where it is there");
        let number = minpos.minpos(value, numbers, O::IS_MAX);
        (if segment.reversed { number - (O::Simd::LANES - segment.len) } else { number }) as u32
    }
}

/// At least `MIN` vectors, and at most `V`; if that is 0, less than one.
struct InRegisters<const MIN: usize, const V: usize>;
impl<O: ArgOrder, const MIN: usize, const V: usize> RowSearch<O> for InRegisters<MIN, V> {
    const OVER_READS: bool = V == 0 && !O::Simd::TUNING.has_masks;
    const IS_SHORT: bool = V == 1 || V == 2;
    const VECTORS: Option<usize> = Some(V);

    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        let found = unsafe {
            if const { V == 0 } {
                segment::find_partial::<O, OVER_READ>(order, segment)
            } else {
                segment::find::<O, MIN, V>(order, segment)
            }
        };
        found.position()
    }

    #[inline(always)]
    unsafe fn find_group(order: O, first: Segment<O::Lane>, stride: isize) -> IndexVec<O> {
        // SAFETY: the caller's promise.
        unsafe { tree::find::<O, V>(order, first, stride) }
    }
}

pub(super) struct LaneIndexed;
impl<O: ArgOrder> RowSearch<O> for LaneIndexed {
    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { lane_indexed::find(order, segment) }
    }
}

/// Any row of a block and more.
pub(super) struct LongSearch;
impl<O: ArgOrder> RowSearch<O> for LongSearch {
    const IS_BLOCKED: bool = true;
    const IS_LONG: bool = true;

    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { blocked::find_long(order, segment) }.position()
    }
}

pub(super) struct BlockedSearch;
impl<O: ArgOrder> RowSearch<O> for BlockedSearch {
    const IS_BLOCKED: bool = true;

    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { blocked::find(order, segment) }.position()
    }
}
