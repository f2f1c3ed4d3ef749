//! Folded columns: a line of outputs is too short for a vector, but its rows follow each other in memory, and are many. So rows of `width`
//! outputs are looked at as a `fold`-th as many rows of `fold * width` lanes, each a candidate for its column; in the end, each column takes the best of
//! its candidates: vectors of neighbouring candidates again, `width` lanes apart.
//!
//! Gathering such lines instead costs a load and a store for each, a few bytes long: 3 columns of 1000 rows ran at 0.03 (u8) and 0.10
//! (f32) of `read` (Zen 3, AVX2, L2).

use super::group::{Group, Rows, reduce_group};
use super::{Body, Strategy};
use crate::lanes::{Lanes, MAX_VECTOR_BYTES};
use crate::order::{Count, Order, Vec};
use crate::tile::Tile;
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct FoldedColumns;

/// Vectors that rows are put side by side to fill, at most.
const VECTORS: usize = 2;

/// How many rows of `width` outputs are put side by side: less than two vectors, and more than one.
pub(super) const fn fold(width: usize, lanes: usize) -> usize {
    VECTORS * lanes / width
}

impl Body for FoldedColumns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        assert!(Strategy::FoldedColumns.takes(tile.inner, tile.reduced, O::Simd::LANES));
        let width = tile.inner.size;
        let input = tile.input.cast::<O::Lane>();
        let mut has_nan = false;
        for (o, positions) in positions.chunks_exact_mut(width).enumerate() {
            let first = input.wrapping_offset(o as isize * tile.outer.stride);
            let columns = Columns { order, first, width, fold: fold(width, O::Simd::LANES) };
            // SAFETY: the caller promises all elements of all outputs.
            unsafe { columns.reduce(tile.line().size, positions, &mut has_nan) };
        }
    }
}

/// Neighbouring columns whose rows follow each other.
#[derive(Clone, Copy)]
struct Columns<O: Order> {
    order: O,
    first: *const O::Lane,
    /// How many columns, and how many rows of them are put side by side.
    width: usize,
    fold: usize,
}

/// The position that was found for each column.
type Positions = [u32; MAX_VECTOR_BYTES];

impl<O: Order> Columns<O> {
    /// # Safety
    /// - The rows may be read; they are enough for one folded row.
    #[inline(always)]
    unsafe fn reduce(self, rows: usize, positions: &mut [MaybeUninit<u32>], has_nan: &mut bool) {
        let most = self.fold.saturating_mul(O::Simd::MAX_COUNT as usize);
        // SAFETY: the caller's promise; of several blocks, the last reaches back: what is seen twice is never better than itself.
        unsafe {
            let block = self.reduce_block(0, rows.min(most), has_nan);
            if rows <= most {
                for (column, position) in positions.iter_mut().enumerate() {
                    position.write(block.position(column));
                }
                return;
            }
            let mut best = self.positions(block);
            let mut start = most;
            while start < rows {
                let from = start.min(rows - self.fold);
                let found = self.positions(self.reduce_block(from, (rows - from).min(most), has_nan));
                self.merge(&mut best, &found);
                start = start.saturating_add(most);
            }
            for (position, best) in positions.iter_mut().zip(best) {
                position.write(best);
            }
        }
    }

    /// The first best of each column in some rows, as many as can be counted.
    ///
    /// # Safety
    /// - The rows from `start` on may be read, and are at least one folded row.
    #[inline(always)]
    unsafe fn reduce_block(self, start: usize, rows: usize, has_nan: &mut bool) -> Block<O> {
        let Columns { order, width, fold, .. } = self;
        let lanes = fold * width;
        let first = self.first.wrapping_add(start * width);
        let (folded, stride) = (rows / fold, lanes as isize);
        // What is left reaches back to be a folded row too.
        let last = Rows {
            first: first.wrapping_add((rows - fold) * width),
            stride,
            count: usize::from(!rows.is_multiple_of(fold)),
        };
        let parts = [Rows { first, stride, count: folded }, last];
        // SAFETY: the caller promises the rows, of which these are all; what is left reaches back by one folded row, and there is one.
        let group = unsafe { reduce_group::<O, VECTORS, 2>(order, parts, lanes, has_nan) };
        let (folded_rows, row_in_fold) = Candidates::new(self, &group).first_best();
        let simd = order.simd();
        Block { start, rows, fold, folded_rows: simd.counts(folded_rows), row_in_fold: simd.counts(row_in_fold) }
    }

    #[inline(always)]
    fn positions(self, block: Block<O>) -> Positions {
        let mut positions = [0; MAX_VECTOR_BYTES];
        for (column, position) in positions[..self.width].iter_mut().enumerate() {
            *position = block.position(column);
        }
        positions
    }

    /// Takes what was found later, where it is better.
    ///
    /// # Safety
    /// - The positions are of rows.
    #[inline(always)]
    unsafe fn merge(self, best: &mut Positions, found: &Positions) {
        // SAFETY: the caller's promise.
        let (new, kept) = unsafe { (self.values(found), self.values(best)) };
        let bits = self.order.simd().bits(self.order.better(new, kept));
        for column in 0..self.width {
            if bits >> (column as u32 * O::Simd::BITS_PER_LANE) & 1 == 1 {
                best[column] = found[column];
            }
        }
    }

    /// The elements at these positions, side by side; lanes that have no column repeat the last one.
    ///
    /// # Safety
    /// - The positions are of rows.
    #[inline(always)]
    unsafe fn values(self, positions: &Positions) -> Vec<O> {
        let mut values = [const { MaybeUninit::<O::Lane>::uninit() }; MAX_VECTOR_BYTES];
        // SAFETY: the caller's promise; a vector of them was written.
        unsafe {
            for (lane, value) in values[..O::Simd::LANES].iter_mut().enumerate() {
                let column = lane.min(self.width - 1);
                value.write(self.first.add(positions[column] as usize * self.width + column).read());
            }
            self.order.load(values.as_ptr().cast())
        }
    }
}

/// What was found in some rows.
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
    #[inline(always)]
    fn position(&self, column: usize) -> u32 {
        let folded_row: u64 = self.folded_rows.as_ref()[column].into();
        let row_in_fold: u64 = self.row_in_fold.as_ref()[column].into();
        // The last folded row reaches back.
        let before = (folded_row as usize * self.fold).min(self.rows - self.fold);
        (self.start + before + row_in_fold as usize) as u32
    }
}

/// One vector of candidates: neighbouring lanes are of neighbouring columns.
#[derive(Clone, Copy)]
struct Part<O: Order> {
    values: Vec<O>,
    folded_rows: Count<O>,
    /// Which of the rows side by side it is, counted from that of the lane on.
    row_in_fold: Count<O>,
}

/// The best of a folded row side by side, and what makes it whole vectors. Those of one column are `width` lanes apart.
struct Candidates<O: Order> {
    columns: Columns<O>,
    values: [Vec<O>; VECTORS + 1],
    folded_rows: [Count<O>; VECTORS + 1],
    row_in_fold: [Count<O>; VECTORS + 1],
}

impl<O: Order> Candidates<O> {
    #[inline(always)]
    fn new(columns: Columns<O>, group: &Group<O, VECTORS>) -> Self {
        let (order, lanes) = (columns.order, O::Simd::LANES);
        let none = order.simd().count(0);
        let mut candidates = Candidates {
            columns,
            values: [order.worst(); VECTORS + 1],
            folded_rows: [none; VECTORS + 1],
            row_in_fold: [none; VECTORS + 1],
        };
        let end = columns.fold * columns.width;
        for (n, start) in [0, end - lanes].into_iter().enumerate() {
            let part = Part { values: group.best[n], folded_rows: group.row_of_best[n], row_in_fold: none };
            candidates.set(start, part);
        }
        // Beyond, those of the same columns once more, but later than any, however often a part of the rows is added: no other value would lose to
        // nothing but NaN under either rule.
        let row_in_fold = order.simd().count(O::Simd::MAX_COUNT - columns.fold as u32);
        candidates.set(end, Part { values: group.best[0], folded_rows: group.row_of_best[0], row_in_fold });
        candidates
    }

    /// The vector from a lane on.
    #[inline(always)]
    fn get(&self, lane: usize) -> Part<O> {
        Part {
            values: get::<O::Lane, _>(&self.values, lane),
            folded_rows: get::<O::Lane, _>(&self.folded_rows, lane),
            row_in_fold: get::<O::Lane, _>(&self.row_in_fold, lane),
        }
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, part: Part<O>) {
        set::<O::Lane, _>(&mut self.values, lane, part.values);
        set::<O::Lane, _>(&mut self.folded_rows, lane, part.folded_rows);
        set::<O::Lane, _>(&mut self.row_in_fold, lane, part.row_in_fold);
    }

    /// The folded row of the first best candidate of each column, and which of the rows side by side it is.
    ///
    /// No branch depends on the data: looking at each candidate that has the best value, one after another, ran 100 rows of 31 u8 at half of the speed,
    /// and 64 rows of 7 f32 at 0.75 of it. (Zen 3, AVX2, L2.)
    #[inline(always)]
    fn first_best(mut self) -> (Count<O>, Count<O>) {
        let Columns { order, width, fold, .. } = self.columns;
        let simd = order.simd();
        let mut kept = self.get(0);
        let mut rows = fold;
        while rows > 1 {
            // The second half of the rows onto the first, in one vector. Lanes beyond them meet lanes of their own column too, or no candidate.
            rows = rows.div_ceil(2);
            let mut new = self.get(rows * width);
            new.row_in_fold = simd.add(new.row_in_fold, simd.count(rows as u32));
            // Of equals the first: of the earlier folded row, or of the same one, but earlier in it.
            let is_earlier = simd.or(
                simd.count_gt(kept.folded_rows, new.folded_rows),
                simd.and_not(
                    simd.count_gt(kept.row_in_fold, new.row_in_fold),
                    simd.count_gt(new.folded_rows, kept.folded_rows),
                ),
            );
            let is_first = simd.or(
                order.better(new.values, kept.values),
                simd.and_not(is_earlier, order.better(kept.values, new.values)),
            );
            kept = Part {
                values: simd.select(is_first, new.values, kept.values),
                folded_rows: simd.select_count(is_first, new.folded_rows, kept.folded_rows),
                row_in_fold: simd.select_count(is_first, new.row_in_fold, kept.row_in_fold),
            };
            self.set(0, kept);
        }
        (kept.folded_rows, kept.row_in_fold)
    }
}

/// The vector from a lane of type `L` on.
#[inline(always)]
fn get<L, V: Copy>(vectors: &[V; VECTORS + 1], lane: usize) -> V {
    assert!(lane * size_of::<L>() <= VECTORS * size_of::<V>());
    // SAFETY: as asserted, a vector from there on ends within the three, and is as many lanes of an integer or a float, any of whose bits are values.
    unsafe { vectors.as_ptr().cast::<L>().add(lane).cast::<V>().read_unaligned() }
}

#[inline(always)]
fn set<L, V: Copy>(vectors: &mut [V; VECTORS + 1], lane: usize, vector: V) {
    assert!(lane * size_of::<L>() <= VECTORS * size_of::<V>());
    // SAFETY: as in `get`.
    unsafe { vectors.as_mut_ptr().cast::<L>().add(lane).cast::<V>().write_unaligned(vector) };
}
