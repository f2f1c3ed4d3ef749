//! As many rows of a few vectors as a vector has lanes: a reduction that transposes. Neighbouring elements of a row are
//! compared, then the winners of neighbouring pairs, and so on. Two rows share a vector after the first step, four
//! after the second, and in the end each lane has the winner of one row. A step takes half of the operations of the
//! one before, where a row alone takes as many; and none depends on data.

use super::segment::{self, Segment};
use crate::order::{ArgOrder, IndexVec, Vec, load, padding};
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use core::marker::PhantomData;

/// Whether lanes are of a width for which this is faster: see docs/tuning.md.
pub(super) const fn takes<O: ArgOrder>() -> bool {
    O::Simd::TUNING.specializes && size_of::<O::Lane>() == 4
}

/// The longest rows, in vectors: each takes the same time here, and less for a row alone if it has more of them.
pub(super) const MAX_VECTORS: usize = 3;

/// Finds the first best elements of as many rows as a vector has lanes: their positions. Rows are `stride` elements
/// apart, each of `V` vectors at most; 0 if they are less than a vector.
///
/// # Safety
/// - The elements of the rows may be read, and if `V` is 0, those that follow each of them in a vector; otherwise, a
///   row is at least a vector.
/// - A row is no longer than a lane can count.
#[inline(always)]
pub(super) unsafe fn find<O: ArgOrder, const V: usize>(
    order: O,
    first: Segment<O::Lane>,
    stride: isize,
) -> IndexVec<O> {
    let (simd, lanes) = (order.simd(), O::Simd::LANES);
    let mut rows = TreeRows { first, stride };
    if const { V == 0 } {
        // SAFETY: the caller's promise.
        let positions = unsafe { all::<O, true>(order, rows) }.positions;
        if !first.reversed {
            return positions;
        }
        // Lanes beyond a row were visited before it. Where one of them is the first best, no element is better than the
        // padding, so that all of them are equal.
        let beyond = (lanes - first.len) as u32;
        let visited = simd.splat_index(beyond);
        let positions = simd.select(simd.index_gt(positions, visited), positions, visited);
        return simd.add(positions, simd.splat_index(beyond.wrapping_neg()));
    }
    if const { V == 1 } {
        // SAFETY: the caller's promise.
        return unsafe { all::<O, false>(order, rows) }.positions;
    }
    // What is no better than the least may as well be the first.
    let mut best = RowBests { values: padding(order), positions: simd.splat_index(0) };
    let mut start = 0;
    while start < first.len {
        // The last vector overlaps the previous one. Re-reading is harmless: the comparison is strict.
        let at = start.min(first.len - lanes);
        rows.first = first.part(at, lanes);
        // SAFETY: the caller's promise.
        let later = unsafe { all::<O, false>(order, rows) };
        best = best.merge_later(order, later, at);
        start += lanes;
    }
    best.positions
}

/// # Safety
/// - As for [`Tree::reduce`].
#[inline(always)]
unsafe fn all<O: ArgOrder, const PART: bool>(order: O, rows: TreeRows<O::Lane>) -> RowBests<O> {
    type Four<const PART: bool> = Node<Node<Leaf<PART>>>;
    type Eight<const PART: bool> = Node<Four<PART>>;
    // SAFETY: the caller's promise.
    unsafe {
        match O::Simd::LANES {
            4 => Four::<PART>::reduce(order, rows),
            8 => Eight::<PART>::reduce(order, rows),
            // No vector has more lanes of 32 bits than 16.
            _ => Node::<Eight<PART>>::reduce(order, rows),
        }
    }
}

/// A vector of each of some rows.
#[derive(Clone, Copy)]
struct TreeRows<L> {
    first: Segment<L>,
    /// From one row to the next.
    stride: isize,
}

/// The best of some elements of a row, and its position among them, in each lane.
#[derive(Clone, Copy)]
struct RowBests<O: ArgOrder> {
    values: Vec<O>,
    positions: IndexVec<O>,
}

impl<O: ArgOrder> RowBests<O> {
    /// The better of these and others, which are `distance` elements later.
    #[inline(always)]
    fn merge_later(self, order: O, later: Self, distance: usize) -> Self {
        let simd = order.simd();
        let is_later = order.gt_total_order(later.values, self.values);
        let positions = simd.add(later.positions, simd.splat_index(distance as u32));
        RowBests {
            values: simd.select(is_later, later.values, self.values),
            positions: simd.select(is_later, positions, self.positions),
        }
    }
}

/// Some rows, a power of two of them.
trait Tree {
    const ROWS: usize;

    /// What is left when as many elements of each row have met as there are rows; it lies as [`SimdOps::deinterleave`]
    /// says.
    ///
    /// # Safety
    /// - A vector of each row may be read. If rows are shorter, that is what follows them, unless the ISA has masked
    ///   loads.
    unsafe fn reduce<O: ArgOrder>(order: O, rows: TreeRows<O::Lane>) -> RowBests<O>;
}

/// One row, of which each lane has its own element; if `PART`, those that it has not are the worst.
struct Leaf<const PART: bool>;

impl<const PART: bool> Tree for Leaf<PART> {
    const ROWS: usize = 1;

    #[inline(always)]
    unsafe fn reduce<O: ArgOrder>(order: O, rows: TreeRows<O::Lane>) -> RowBests<O> {
        // SAFETY: the caller's promise.
        let values = unsafe {
            if PART { segment::load_partial::<O, true>(order, rows.first) } else { load(order, rows.first.at) }
        };
        RowBests { values, positions: order.simd().splat_index(0) }
    }
}

struct Node<B>(PhantomData<B>);

impl<B: Tree> Tree for Node<B> {
    const ROWS: usize = 2 * B::ROWS;

    #[inline(always)]
    unsafe fn reduce<O: ArgOrder>(order: O, rows: TreeRows<O::Lane>) -> RowBests<O> {
        let simd = order.simd();
        let others = TreeRows { first: rows.first.moved(rows.stride * B::ROWS as isize), ..rows };
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (B::reduce(order, rows), B::reduce(order, others)) };
        let (even, odd) = simd.deinterleave(a.values, b.values, B::ROWS);
        let (first, second) = if rows.first.reversed { (odd, even) } else { (even, odd) };
        if const { B::ROWS == 1 } {
            let is_second = order.gt_total_order(second, first);
            let positions = simd.sub_mask(is_second, simd.splat_index(0));
            return RowBests { values: simd.select(is_second, second, first), positions };
        }
        let (even, odd) = simd.deinterleave(a.positions, b.positions, B::ROWS);
        let positions = if rows.first.reversed { (odd, even) } else { (even, odd) };
        let second = RowBests { values: second, positions: positions.1 };
        RowBests { values: first, positions: positions.0 }.merge_later(order, second, B::ROWS)
    }
}
