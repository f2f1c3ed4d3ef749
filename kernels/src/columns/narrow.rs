//! Narrow columns: a row of outputs is no longer than a vector, but the rows are contiguous and many. Knows nothing of
//! how a tile is reduced.
//!
//! Several rows, `fold` of them, lie side by side in two vectors, as one wide row of `fold * width` lanes. A tile is
//! reduced over the wide rows. Then each column has `fold` candidates, `width` lanes apart, and the best of them wins:
//!
//! ```text
//! width 3, fold 5, two vectors of 8 lanes (the third row begins in the first vector and ends in the second):
//!     a b c a b c a b    b c a b c a b c              the second vector overlaps the first
//! wide row r, candidate k, is row r * fold + k of the tensor
//! ```
//!
//! Candidates are merged by halves: vectors are rotated by multiples of `width` lanes, and compared lane by lane.
//! Gathering such rows would cost a load and a store for each, a few bytes long.

use super::reduce::{Groups, reduce_group};
use super::tile::{Group, Rows};
use crate::kernel::Body;
use crate::memory::args::Tile;
use crate::memory::prefetch::Hint;
use crate::order::{Count, Mask, Order, Vec};
use crate::positions::{Positions, for_places, write_all};
use crate::simd::ops::Lanes;
use crate::simd::partial_load::MAX_VECTOR_BYTES;
use crate::simd::token::{Task, Token};
use crate::strategy::{FOLDED_VECTORS, Strategy, fold};
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct FoldedColumns;

/// How many bytes to prefetch at a time, of columns beyond L2. See docs/tuning.md#narrow-columns-1-kib-at-a-time.
const ASKED_BYTES: usize = 1024;

impl Body for FoldedColumns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, mut positions: Positions<'_>) {
        assert!(Strategy::FoldedColumns.takes(tile.inner, tile.reduced, O::Simd::LANES));
        let (width, line) = (tile.inner.size, tile.line());
        let input = tile.input.cast::<O::Lane>();
        let fold = fold(width, O::Simd::LANES);
        let asked =
            if tile.prefetch.asks(false) { ASKED_BYTES / (fold * width * size_of::<O::Lane>()) } else { usize::MAX };
        let mut so_far = Groups::default();
        for o in 0..tile.outer.size {
            let first = input.wrapping_offset(o as isize * tile.outer.stride);
            let columns =
                Columns { order, first, stride: line.stride, width, fold, asked, hint: tile.tuning.prefetch.hint };
            // SAFETY: the caller promises all elements of all outputs.
            unsafe { columns.reduce(line.size, positions.take(width), &mut so_far) };
        }
    }
}

/// Neighbouring columns with contiguous rows, upwards or downwards.
#[derive(Clone, Copy)]
struct Columns<O: Order> {
    order: O,
    first: *const O::Lane,
    /// From one row to the next: the width, or minus that.
    stride: isize,
    /// How many columns there are, and how many rows of them lie side by side.
    width: usize,
    fold: usize,
    /// How many wide rows to prefetch at a time; `usize::MAX` for none.
    asked: usize,
    hint: Hint,
}

impl<O: Order> Columns<O> {
    /// Writes the position of the first best of each column.
    ///
    /// # Safety
    /// - The rows may be read; they are enough for one wide row.
    #[inline(always)]
    unsafe fn reduce(self, rows: usize, mut positions: Positions<'_>, so_far: &mut Groups) {
        let most = self.fold.saturating_mul(O::Simd::MAX_COUNT as usize);
        let mut best = [const { MaybeUninit::<u32>::uninit() }; MAX_VECTOR_BYTES];
        let best = &mut best[..self.width];
        let mut start = 0;
        loop {
            // The last of several blocks overlaps the previous one, which is harmless: comparisons are strict.
            let from = start.min(rows - self.fold);
            // SAFETY: the caller's promise.
            let block = unsafe { self.reduce_block(from, (rows - from).min(most), so_far) };
            if rows <= most {
                return for_places!(positions, positions => write_all(positions, block.positions()));
            }
            if start == 0 {
                write_all(best, block.positions());
            } else {
                // SAFETY: all of them were written after the first block; they are of rows.
                unsafe { self.merge(&mut *(&raw mut *best as *mut [u32]), &block) };
            }
            start = start.saturating_add(most);
            if start >= rows {
                break;
            }
        }
        // SAFETY: as above.
        positions.write_all(unsafe { &*(&raw const *best as *const [u32]) });
    }

    /// The first best of each column in some rows, as many as can be counted.
    ///
    /// # Safety
    /// - The rows from `start` on may be read, and are at least one wide row.
    #[inline(always)]
    unsafe fn reduce_block(self, start: usize, rows: usize, so_far: &mut Groups) -> Block<O> {
        let Columns { order, width, fold, hint, .. } = self;
        let (folded, stride) = (rows / fold, fold as isize * self.stride);
        let first = self.folded_row(start);
        // The rows that are left are one more wide row, which overlaps the previous one.
        let last = Rows {
            first: self.folded_row(start + rows - fold),
            stride,
            count: usize::from(folded * fold < rows),
            hint,
        };
        let parts = [Rows { first, stride, count: folded, hint }, last];
        // SAFETY: the caller promises the rows, of which these are all; what is left overlaps by one wide row, and
        // there is one.
        let group =
            unsafe { reduce_group::<O, FOLDED_VECTORS, 2, true>(order, parts, fold * width, self.asked, so_far) };
        let (simd, best) = (order.simd(), self.first_best(&group));
        Block {
            start,
            rows,
            fold,
            folded_rows: simd.counts(best.folded_rows),
            row_in_fold: simd.counts(best.row_in_fold),
        }
    }

    /// Where `fold` rows from `row` on begin: at their lowest address.
    #[inline(always)]
    fn folded_row(self, row: usize) -> *const O::Lane {
        let lowest = if self.goes_down() { row + self.fold - 1 } else { row };
        self.first.wrapping_offset(lowest as isize * self.stride)
    }

    /// Whether each row is below the one before it.
    #[inline(always)]
    fn goes_down(self) -> bool {
        self.stride < 0
    }

    /// The first best candidate of each column.
    ///
    /// No branch depends on the data: testing the candidates one by one would be much slower.
    #[inline(always)]
    fn first_best(self, group: &Group<O, FOLDED_VECTORS>) -> Candidates<O> {
        let Columns { order, width, fold, .. } = self;
        let (simd, lanes) = (order.simd(), O::Simd::LANES);
        let mut rows = fold / FOLDED_VECTORS;
        // The lowest number, in order of visit, of the rows of a vector; `row` is the one at the lowest address. The
        // others get theirs when they are merged.
        let all = rows;
        let number = |row: usize| if self.goes_down() { fold - all - row } else { row };
        let mut kept = Candidates::new(order, group, 0, 0, number(0));
        if fold % FOLDED_VECTORS > 0 {
            // The row in the middle begins in the first vector and ends in the second. (The rows after it follow there,
            // each in its place too.)
            let begin = Candidates::new(order, group, 0, rows * width, number(rows));
            let end = Candidates::new(order, group, 1, FOLDED_VECTORS * lanes - (rows + 1) * width, number(rows));
            let between = begin.or_where(order, simd.first(lanes - rows * width), end);
            kept = kept.or(order, between);
        }
        // The rows of the second vector are at its end.
        kept = kept.or(order, Candidates::new(order, group, 1, lanes - rows * width, number(fold - rows)));
        while rows > 1 {
            // Merges the second half of the rows, by address, into the first. If their number is odd, the middle one is
            // in both.
            let half = rows / 2;
            let (low, high) = if self.goes_down() { (half, 0) } else { (0, half) };
            kept = kept.after(order, low).or(order, kept.skip(order, half * width).after(order, high));
            rows -= half;
        }
        kept
    }

    /// Takes what was found in a later block, where it is better.
    ///
    /// # Safety
    /// - The positions are of rows.
    #[inline(always)]
    unsafe fn merge(self, best: &mut [u32], block: &Block<O>) {
        let mut found = [0; MAX_VECTOR_BYTES];
        found.iter_mut().zip(block.positions()).for_each(|(position, found)| *position = found);
        // Outlined, because it is rare: inlined, it slows down what is not.
        // SAFETY: the caller's promise.
        let bits = unsafe { self.order.simd().call(Merge { columns: self, found: &found, best }) };
        for (column, (best, found)) in best.iter_mut().zip(found).enumerate() {
            if bits >> (column as u32 * O::Simd::BITS_PER_LANE) & 1 == 1 {
                *best = found;
            }
        }
    }

    /// The elements at these positions, side by side. Lanes without a column repeat the last one.
    ///
    /// # Safety
    /// - The positions are of rows.
    #[inline(always)]
    unsafe fn values(self, positions: &[u32]) -> Vec<O> {
        let mut values = [const { MaybeUninit::<O::Lane>::uninit() }; MAX_VECTOR_BYTES];
        // SAFETY: the caller's promise; a vector of them was written.
        unsafe {
            for (lane, value) in values[..O::Simd::LANES].iter_mut().enumerate() {
                let column = lane.min(self.width - 1);
                value.write(self.first.offset(positions[column] as isize * self.stride).add(column).read());
            }
            self.order.load(values.as_ptr().cast())
        }
    }
}

/// Where what was found later is better, as bits.
#[derive(Clone, Copy)]
struct Merge<'a, O: Order> {
    columns: Columns<O>,
    found: &'a [u32],
    best: &'a [u32],
}

impl<O: Order> Task for Merge<'_, O> {
    type Output = u64;

    #[inline(always)]
    unsafe fn run(self) -> u64 {
        let Merge { columns, found, best } = self;
        // SAFETY: the caller's promise.
        let (found, best) = unsafe { (columns.values(found), columns.values(best)) };
        columns.order.simd().bits(columns.order.better(found, best))
    }
}

/// What was found in one block.
struct Block<O: Order> {
    start: usize,
    rows: usize,
    fold: usize,
    /// For each column.
    folded_rows: CountArray<O>,
    row_in_fold: CountArray<O>,
}

type CountArray<O> = <<O as Order>::Simd as Lanes<<O as Order>::Lane>>::CountArray;

impl<O: Order> Block<O> {
    /// The positions of all lanes, of which the first `width` are columns. (As 32 bits, which hold any position.)
    #[inline(always)]
    fn positions(&self) -> impl Iterator<Item = u32> {
        let (start, fold, last) = (self.start as u32, self.fold as u32, (self.rows - self.fold) as u32);
        let found = self.folded_rows.as_ref().iter().zip(self.row_in_fold.as_ref());
        found.map(move |(&folded_row, &row_in_fold)| {
            let (folded_row, row_in_fold): (u64, u64) = (folded_row.into(), row_in_fold.into());
            // The last wide row overlaps the previous one.
            start + (folded_row as u32 * fold).min(last) + row_in_fold as u32
        })
    }
}

/// The best candidates in one vector. Neighbouring lanes are neighbouring columns; those of one column are `width`
/// lanes apart.
#[derive(Clone, Copy)]
struct Candidates<O: Order> {
    values: Vec<O>,
    folded_rows: Count<O>,
    /// Which of the rows side by side it is from, counted from the row of its lane.
    row_in_fold: Count<O>,
}

impl<O: Order> Candidates<O> {
    /// Those of one vector from a lane on, which is in row `row` of those side by side.
    #[inline(always)]
    fn new(order: O, group: &Group<O, FOLDED_VECTORS>, vector: usize, lane: usize, row: usize) -> Self {
        let simd = order.simd();
        Candidates {
            values: simd.rotate(group.best[vector], lane),
            folded_rows: simd.rotate_counts(group.row_of_best[vector], lane),
            row_in_fold: simd.count(row as u32),
        }
    }

    /// From a lane on.
    #[inline(always)]
    fn skip(self, order: O, lanes: usize) -> Self {
        let simd = order.simd();
        Candidates {
            values: simd.rotate(self.values, lanes),
            folded_rows: simd.rotate_counts(self.folded_rows, lanes),
            row_in_fold: simd.rotate_counts(self.row_in_fold, lanes),
        }
    }

    /// The same, `rows` rows further on.
    #[inline(always)]
    fn after(self, order: O, rows: usize) -> Self {
        let simd = order.simd();
        Candidates { row_in_fold: simd.add(self.row_in_fold, simd.count(rows as u32)), ..self }
    }

    /// The first best of both, lane by lane. Of equals, the one of the earlier wide row is first, then the one that is
    /// earlier in it.
    #[inline(always)]
    fn or(self, order: O, new: Self) -> Self {
        let simd = order.simd();
        let is_earlier = simd.or(
            simd.count_gt(self.folded_rows, new.folded_rows),
            simd.and_not(
                simd.count_gt(self.row_in_fold, new.row_in_fold),
                simd.count_gt(new.folded_rows, self.folded_rows),
            ),
        );
        let is_first = simd
            .or(order.better(new.values, self.values), simd.and_not(is_earlier, order.better(self.values, new.values)));
        new.or_where(order, is_first, self)
    }

    /// `self` where the mask is true, `other` elsewhere.
    #[inline(always)]
    fn or_where(self, order: O, mask: Mask<O>, other: Self) -> Self {
        let simd = order.simd();
        Candidates {
            values: simd.select(mask, self.values, other.values),
            folded_rows: simd.select_count(mask, self.folded_rows, other.folded_rows),
            row_in_fold: simd.select_count(mask, self.row_in_fold, other.row_in_fold),
        }
    }
}
