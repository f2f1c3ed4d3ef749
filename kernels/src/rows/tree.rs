//! Rows of a few vectors, as many side by side as a vector has lanes: a tournament. Neighbouring elements of a row
//! meet, then the winners of neighbouring pairs, and so on; two rows share a vector after the first round, four after
//! the second, and in the end each lane has the winner of one row. A round takes half of the operations of the one
//! before, where a row alone fills fewer of its lanes with each round and takes as many, and no step depends on data:
//! with NaN, rows take as long as without.

use super::segment::{self, Run};
use crate::order::{Count, Order, Vec};
use crate::simd::ops::Lanes;
use crate::simd::token::Token;
use core::marker::PhantomData;

/// Whether lanes are of a width for which this is faster: see docs/tuning.md.
pub(super) const fn takes<O: Order>() -> bool {
    O::Simd::TUNING.specializes && size_of::<O::Lane>() == 4
}

/// The longest rows, in vectors: each takes the same time here, and less for a row alone if it has more of them.
pub(super) const MOST_VECTORS: usize = 3;

/// Finds the first best elements of as many rows as a vector has lanes: their positions. Rows are `stride` elements
/// apart, each of `V` vectors at most; 0 if they are less than a vector.
///
/// # Safety
/// - The elements of the rows may be read, and if `V` is 0, those that follow each of them in a vector; otherwise, a
///   row is at least a vector. If `V` is 0, rows are not reversed: lanes beyond them would come first among equals.
/// - A row is no longer than a lane can count.
#[inline(always)]
pub(super) unsafe fn find<O: Order, const V: usize>(order: O, first: Run<O::Lane>, stride: isize) -> Count<O> {
    let (simd, lanes) = (order.simd(), O::Simd::LANES);
    let mut rows = Rows { first, stride };
    if const { V == 0 } {
        // SAFETY: the caller's promise.
        return unsafe { all::<O, true>(order, rows) }.positions;
    }
    if const { V == 1 } {
        // SAFETY: the caller's promise.
        return unsafe { all::<O, false>(order, rows) }.positions;
    }
    // What is no better than the least may as well be the first.
    let mut best = Winners { values: order.least(), positions: simd.count(0) };
    let mut start = 0;
    while start < first.len {
        // The last vector reaches back: what is seen twice is never better than itself.
        let at = start.min(first.len - lanes);
        rows.first = first.part(at, lanes);
        // SAFETY: the caller's promise.
        let later = unsafe { all::<O, false>(order, rows) };
        best = best.or_later(order, later, at);
        start += lanes;
    }
    best.positions
}

/// As many rows as a vector has lanes.
///
/// # Safety
/// - As for [`Bracket::winners`].
#[inline(always)]
unsafe fn all<O: Order, const PART: bool>(order: O, rows: Rows<O::Lane>) -> Winners<O> {
    type Four<const PART: bool> = Pair<Pair<One<PART>>>;
    type Eight<const PART: bool> = Pair<Four<PART>>;
    // SAFETY: the caller's promise.
    unsafe {
        match O::Simd::LANES {
            4 => Four::<PART>::winners(order, rows),
            8 => Eight::<PART>::winners(order, rows),
            // No vector has more lanes of 32 bits than 16.
            _ => Pair::<Eight<PART>>::winners(order, rows),
        }
    }
}

/// A vector of each of some rows.
#[derive(Clone, Copy)]
struct Rows<L> {
    first: Run<L>,
    /// From one row to the next.
    stride: isize,
}

/// The best of some elements of a row, and its position among them, in each lane.
#[derive(Clone, Copy)]
struct Winners<O: Order> {
    values: Vec<O>,
    positions: Count<O>,
}

impl<O: Order> Winners<O> {
    /// The better of these and others, which are so many elements later.
    #[inline(always)]
    fn or_later(self, order: O, later: Self, distance: usize) -> Self {
        let simd = order.simd();
        let is_later = order.better(later.values, self.values);
        let positions = simd.add(later.positions, simd.count(distance as u32));
        Winners {
            values: simd.select(is_later, later.values, self.values),
            positions: simd.select_count(is_later, positions, self.positions),
        }
    }
}

/// Some rows, a power of two of them.
trait Bracket {
    const ROWS: usize;

    /// What is left when as many elements of each row have met as there are rows; it lies as [`Lanes::pairs`] says.
    ///
    /// # Safety
    /// - A vector of each row may be read; if they are less than that, but an ISA does not [load
    ///   parts](Lanes::LOADS_PARTS), what follows too.
    unsafe fn winners<O: Order>(order: O, rows: Rows<O::Lane>) -> Winners<O>;
}

/// One row, of which each lane has its own element; if `PART`, those that it has not are the worst.
struct One<const PART: bool>;

impl<const PART: bool> Bracket for One<PART> {
    const ROWS: usize = 1;

    #[inline(always)]
    unsafe fn winners<O: Order>(order: O, rows: Rows<O::Lane>) -> Winners<O> {
        // SAFETY: the caller's promise.
        let values =
            unsafe { if PART { segment::load_part::<O, true>(order, rows.first) } else { order.load(rows.first.at) } };
        Winners { values, positions: order.simd().count(0) }
    }
}

/// Twice as many.
struct Pair<B>(PhantomData<B>);

impl<B: Bracket> Bracket for Pair<B> {
    const ROWS: usize = 2 * B::ROWS;

    #[inline(always)]
    unsafe fn winners<O: Order>(order: O, rows: Rows<O::Lane>) -> Winners<O> {
        let simd = order.simd();
        let others = Rows { first: rows.first.moved(rows.stride * B::ROWS as isize), ..rows };
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (B::winners(order, rows), B::winners(order, others)) };
        let (even, odd) = simd.pairs(a.values, b.values, B::ROWS);
        let (first, second) = if rows.first.reversed { (odd, even) } else { (even, odd) };
        if const { B::ROWS == 1 } {
            let is_second = order.better(second, first);
            let positions = simd.count_where(is_second, simd.count(1));
            return Winners { values: simd.select(is_second, second, first), positions };
        }
        let (even, odd) = simd.pairs_of_counts(a.positions, b.positions, B::ROWS);
        let positions = if rows.first.reversed { (odd, even) } else { (even, odd) };
        let second = Winners { values: second, positions: positions.1 };
        Winners { values: first, positions: positions.0 }.or_later(order, second, B::ROWS)
    }
}
