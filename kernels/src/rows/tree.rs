//! As many rows of a few vectors as a vector has lanes: a reduction that transposes. Neighbouring elements of a row are
//! compared, then the winners of neighbouring pairs, and so on. Two rows share a vector after the first step, four
//! after the second, and in the end each lane has the winner of one row. A step takes half of the operations of the
//! one before, where a row alone takes as many; and none depends on data.
//!
//! What is unsafe here asks of its caller that the elements of the rows may be read, and where rows are shorter than a
//! vector, those that follow each of them in a vector, unless the ISA has masked loads.

use super::segment::{self, Segment};
use crate::order::{ArgOrder, IndexVec, Vec, load, padding};
use crate::simd::ops::{SimdOps, TreeOps};
use crate::simd::token::Simd;
use core::marker::PhantomData;

/// Whether lanes are of a width for which this is faster: see docs/tuning.md#transposing-tree.
pub(super) const fn takes<O: ArgOrder>() -> bool {
    O::Simd::TUNING.specializes && size_of::<O::Lane>() == 4
}

/// The longest rows, in vectors: each takes the same time here, and less for a row alone if it has more of them. See
/// docs/tuning.md#transposing-tree.
pub(super) const MAX_VECTORS: usize = 3;

/// Finds the first best elements of as many rows as a vector has lanes: their positions. Rows are `stride` elements
/// apart, each of `V` vectors at most, and no longer than a lane can count; 0 if and only if they are less than a
/// vector.
#[inline(always)]
pub(super) unsafe fn find<O: ArgOrder, const V: usize>(
    order: O,
    first: Segment<O::Lane>,
    stride: isize,
) -> IndexVec<O> {
    let (simd, lanes) = (order.simd(), O::Simd::LANES);
    if const { V <= 1 } {
        // SAFETY: the caller's promise.
        let positions = unsafe { all::<O, V>(order, first, stride) }.positions;
        if const { V == 1 } || !first.reversed {
            return positions;
        }
        // Lanes beyond a row were visited before it. Where one of them is the first best, no element is better than the
        // padding, so that all of them are equal.
        let beyond = (lanes - first.len) as u32;
        let visited = simd.splat_index(beyond);
        let positions = simd.select(simd.index_gt(positions, visited), positions, visited);
        return simd.add(positions, simd.splat_index(beyond.wrapping_neg()));
    }
    // What is no better than the least may as well be the first.
    let mut best = RowBests { values: padding(order), positions: simd.splat_index(0) };
    let mut start = 0;
    while start < first.len {
        // The last vector overlaps the previous one. Re-reading is harmless: the comparison is strict.
        let at = start.min(first.len - lanes);
        // SAFETY: the caller's promise.
        let later = unsafe { all::<O, V>(order, first.part(at, lanes), stride) };
        best = best.merge_later(order, later, at);
        start += lanes;
    }
    best.positions
}

/// The best elements of a vector of each row, and their positions.
#[inline(always)]
unsafe fn all<O: ArgOrder, const V: usize>(order: O, first: Segment<O::Lane>, stride: isize) -> RowBests<O> {
    type Four<const V: usize> = Node<Node<Leaf<V>>>;
    type Eight<const V: usize> = Node<Four<V>>;
    // SAFETY: the caller's promise.
    unsafe {
        match O::Simd::LANES {
            4 => Four::<V>::reduce(order, first, stride),
            8 => Eight::<V>::reduce(order, first, stride),
            // No vector has more lanes of 32 bits than 16.
            _ => Node::<Eight<V>>::reduce(order, first, stride),
        }
    }
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

    /// What is left when as many elements of each row have met as there are rows; it lies as [`TreeOps::deinterleave`]
    /// says.
    unsafe fn reduce<O: ArgOrder>(order: O, first: Segment<O::Lane>, stride: isize) -> RowBests<O>;
}

/// One row, of which each lane has its own element; if `V` is 0, those that it has not are the worst.
struct Leaf<const V: usize>;

impl<const V: usize> Tree for Leaf<V> {
    const ROWS: usize = 1;

    #[inline(always)]
    unsafe fn reduce<O: ArgOrder>(order: O, first: Segment<O::Lane>, _: isize) -> RowBests<O> {
        // SAFETY: the caller's promise.
        let values = unsafe {
            if const { V == 0 } { segment::load_partial::<O, true>(order, first) } else { load(order, first.at) }
        };
        RowBests { values, positions: order.simd().splat_index(0) }
    }
}

struct Node<B>(PhantomData<B>);

impl<B: Tree> Tree for Node<B> {
    const ROWS: usize = 2 * B::ROWS;

    #[inline(always)]
    unsafe fn reduce<O: ArgOrder>(order: O, first: Segment<O::Lane>, stride: isize) -> RowBests<O> {
        let simd = order.simd();
        let other = first.moved(stride * B::ROWS as isize);
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (B::reduce(order, first, stride), B::reduce(order, other, stride)) };
        let (even, odd) = simd.deinterleave(a.values, b.values, B::ROWS);
        let (earlier, later) = if first.reversed { (odd, even) } else { (even, odd) };
        if const { B::ROWS == 1 } {
            let is_later = order.gt_total_order(later, earlier);
            let positions = simd.sub_mask(is_later, simd.splat_index(0));
            return RowBests { values: simd.select(is_later, later, earlier), positions };
        }
        let (even, odd) = simd.deinterleave(a.positions, b.positions, B::ROWS);
        let positions = if first.reversed { (odd, even) } else { (even, odd) };
        let later = RowBests { values: later, positions: positions.1 };
        RowBests { values: earlier, positions: positions.0 }.merge_later(order, later, B::ROWS)
    }
}
