//! As many rows of a few vectors as a vector has lanes: a reduction that transposes. Neighbouring elements of a row are
//! compared, then the winners of neighbouring pairs, and so on. Two rows share a vector after the first step, four
//! after the second, and in the end each lane has the winner of one row. A step takes half of the operations of the
//! one before, where a row alone takes as many; and none depends on data.
//!
//! ```text
//! row a:  a0 a1 a2 a3  \   a01 a23 b01 b23  \
//! row b:  b0 b1 b2 b3  /                     >   a  b  c  d
//! row c:  c0 c1 c2 c3  \   c01 c23 d01 d23  /
//! row d:  d0 d1 d2 d3  /
//! ```

use super::blocks::BlockedSegment;
use super::segment::{Followed, Segment};
use crate::order::{ArgOrder, IndexVec, Vec, padding};
use crate::simd::ops::{SimdOps, TreeOps};
use crate::simd::token::Simd;
use core::marker::PhantomData;

/// The longest rows for which this is faster, in vectors; 0 if there are none. Each vector takes the same time here,
/// and less for a row alone if it has more of them. See docs/tuning.md#transposing-tree.
pub(super) const fn max_vectors<O: ArgOrder>() -> usize {
    match O::Simd::TUNING.has_masks {
        _ if !O::Simd::TUNING.has_instructions || size_of::<O::Lane>() != 4 => 0,
        true => 1,
        false => 3,
    }
}

/// Some rows of the same length, a power of two of them; at first, as many as a vector has lanes.
#[derive(Clone, Copy)]
pub(super) struct SideBySide<'a, O: ArgOrder> {
    first: Followed<'a, O>,
    /// From one to the next.
    stride: isize,
    count: usize,
}

impl<'a, O: ArgOrder> SideBySide<'a, O> {
    /// As many rows as a vector has lanes, from one to the next `stride` elements.
    ///
    /// # Safety
    /// - Each of the others, [moved](Segment::moved) by a multiple of `stride`, may be read and is [`Followed`], as the
    ///   first one is.
    #[inline(always)]
    pub(super) unsafe fn new(first: Followed<'a, O>, stride: isize) -> Self {
        SideBySide { first, stride, count: O::Simd::LANES }
    }

    #[inline(always)]
    fn row(self) -> Segment<'a, O::Lane> {
        self.first.segment()
    }

    /// Of each row, a vector from element `start` on.
    #[inline(always)]
    fn cut_vectors(self, start: usize) -> Self {
        SideBySide { first: self.first.cut_vector(start), ..self }
    }

    #[inline(always)]
    fn halves(self) -> [Self; 2] {
        assert!(self.count > 1);
        let count = self.count / 2;
        // SAFETY: there are more than `count` rows; the second half begins with the one that is so many further on.
        let first = unsafe { Followed::new(self.row().moved(self.stride * count as isize)) };
        [SideBySide { count, ..self }, SideBySide { first, count, ..self }]
    }
}

/// Finds the first best elements of rows: their positions. Each has `V` vectors at most, and no more elements than a
/// lane can count; `V` is 0 if and only if they are less than a vector.
#[inline(always)]
pub(super) fn find<O: ArgOrder, const V: usize>(order: O, rows: SideBySide<'_, O>) -> IndexVec<O> {
    let (simd, lanes, row) = (order.simd(), O::Simd::LANES, rows.row());
    if const { V == 1 } {
        return all::<O, false>(order, rows.cut_vectors(0)).positions;
    }
    if const { V == 0 } {
        let positions = all::<O, true>(order, rows).positions;
        if !row.is_reversed() {
            return positions;
        }
        // Lanes beyond a row were visited before it. Where one of them is the first best, no element is better than the
        // padding, so that all of them are equal.
        let beyond = (lanes - row.len()) as u32;
        let visited = simd.splat_index(beyond);
        let positions = simd.select(simd.index_gt(positions, visited), positions, visited);
        return simd.add(positions, simd.splat_index(beyond.wrapping_neg()));
    }
    // What is no better than the least may as well be the first.
    let mut best = RowBests { values: padding(order), positions: simd.splat_index(0) };
    let mut start = 0;
    while start < row.len() {
        // The last vector overlaps the previous one. Re-reading is harmless: the comparison is strict.
        let at = start.min(row.len() - lanes);
        best = best.merge_later(order, all::<O, false>(order, rows.cut_vectors(at)), at);
        start += lanes;
    }
    best.positions
}

/// The best elements of a vector of each row, and their positions. If `PARTIAL`, rows are less than that.
#[inline(always)]
fn all<O: ArgOrder, const PARTIAL: bool>(order: O, rows: SideBySide<'_, O>) -> RowBests<O> {
    type Four<const PARTIAL: bool> = Node<Node<Leaf<PARTIAL>>>;
    type Eight<const PARTIAL: bool> = Node<Four<PARTIAL>>;
    match O::Simd::LANES {
        4 => Four::<PARTIAL>::reduce(order, rows),
        8 => Eight::<PARTIAL>::reduce(order, rows),
        // No vector has more lanes of 32 bits than 16.
        _ => Node::<Eight<PARTIAL>>::reduce(order, rows),
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

/// A reduction of some rows, a power of two of them.
trait Tree {
    const ROWS: usize;

    /// What is left when as many elements of each row have met as there are rows; it lies as [`TreeOps::deinterleave`]
    /// says.
    fn reduce<O: ArgOrder>(order: O, rows: SideBySide<'_, O>) -> RowBests<O>;
}

/// One row, of which each lane has its own element; if `PARTIAL`, those that it has not are the worst.
struct Leaf<const PARTIAL: bool>;

impl<const PARTIAL: bool> Tree for Leaf<PARTIAL> {
    const ROWS: usize = 1;

    #[inline(always)]
    fn reduce<O: ArgOrder>(order: O, rows: SideBySide<'_, O>) -> RowBests<O> {
        let values = if const { PARTIAL } {
            rows.first.load_partial(order)
        } else {
            let [vector] = BlockedSegment::<O, 1>::new(rows.row()).first().load(order);
            vector
        };
        RowBests { values, positions: order.simd().splat_index(0) }
    }
}

/// Two trees of half of the rows each.
struct Node<B>(PhantomData<B>);

impl<B: Tree> Tree for Node<B> {
    const ROWS: usize = 2 * B::ROWS;

    #[inline(always)]
    fn reduce<O: ArgOrder>(order: O, rows: SideBySide<'_, O>) -> RowBests<O> {
        let (simd, reversed) = (order.simd(), rows.row().is_reversed());
        let [a, b] = rows.halves();
        let (a, b) = (B::reduce(order, a), B::reduce(order, b));
        let (even, odd) = simd.deinterleave(a.values, b.values, B::ROWS);
        let (earlier, later) = if reversed { (odd, even) } else { (even, odd) };
        if const { B::ROWS == 1 } {
            let is_later = order.gt_total_order(later, earlier);
            let positions = simd.sub_mask(is_later, simd.splat_index(0));
            return RowBests { values: simd.select(is_later, later, earlier), positions };
        }
        let (even, odd) = simd.deinterleave(a.positions, b.positions, B::ROWS);
        let positions = if reversed { (odd, even) } else { (even, odd) };
        let later = RowBests { values: later, positions: positions.1 };
        RowBests { values: earlier, positions: positions.0 }.merge_later(order, later, B::ROWS)
    }
}
