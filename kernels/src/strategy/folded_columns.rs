//! Folded columns: a line of outputs is too short for a vector, but its rows follow each other in memory, and are many. So rows of `width`
//! outputs are looked at as a `fold`-th as many rows of `fold * width` lanes, each a candidate for its column; in the end, each column takes the best of
//! its candidates: vectors of neighbouring candidates again, `width` lanes apart.
//!
//! Gathering such lines instead costs a load and a store for each, a few bytes long: 3 columns of 1000 rows ran at 0.03 (u8) and 0.10
//! (f32) of `read` (Zen 3, AVX2, L2).

use super::panel::{Group, Rows, reduce_group};
use super::run::{Equals, IsNan, Test};
use super::{Body, Strategy};
use crate::lanes::{Lanes, MAX_VECTOR_BYTES};
use crate::order::{Order, Vec};
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

/// The smallest position that was found for each column, if any.
type Positions = [u32; MAX_VECTOR_BYTES];
const NONE: u32 = u32::MAX;

impl<O: Order> Columns<O> {
    /// # Safety
    /// - The rows may be read; they are enough for one folded row.
    #[inline(always)]
    unsafe fn reduce(self, rows: usize, positions: &mut [MaybeUninit<u32>], has_nan: &mut bool) {
        let most = self.fold.saturating_mul(O::Simd::MAX_COUNT as usize);
        // SAFETY: the caller's promise; of several blocks, the last reaches back: what is seen twice is never better than itself.
        unsafe {
            let mut best = self.reduce_block(0, rows.min(most), has_nan);
            let mut start = most;
            while start < rows {
                let from = start.min(rows - self.fold);
                let found = self.reduce_block(from, (rows - from).min(most), has_nan);
                self.merge(&mut best, &found);
                start = start.saturating_add(most);
            }
            for (position, best) in positions.iter_mut().zip(best) {
                position.write(best);
            }
        }
    }

    /// The first best of each column in some rows, as many as can be counted.
    #[inline(always)]
    unsafe fn reduce_block(self, start: usize, rows: usize, has_nan: &mut bool) -> Positions {
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
        // SAFETY: rows of the columns.
        let group = unsafe { reduce_group::<O, VECTORS, 2>(order, parts, lanes, has_nan) };

        let mut folded_rows = [const { MaybeUninit::uninit() }; VECTORS * MAX_VECTOR_BYTES];
        let folded_rows = &mut folded_rows[..lanes];
        group.write(order, folded_rows);
        // SAFETY: all were written.
        let folded_rows = unsafe { &*(&raw const *folded_rows as *const [u32]) };
        let row = |folded_row: usize, lane: usize| {
            let before = (folded_row * fold).min(rows - fold);
            (start + before + lane) as u32
        };

        let candidates = Candidates::new(self, &group);
        let mut found = candidates.smallest(Equals(candidates.best()), folded_rows, row);
        if O::NAN_WINS && order.simd().bits(order.nans_of(&group.best)) != 0 {
            let nans = candidates.smallest(IsNan, folded_rows, row);
            for (found, nan) in found.iter_mut().zip(nans).take(width) {
                *found = if nan == NONE { *found } else { nan };
            }
        }
        if O::NAN_LOSES {
            // Nothing but NaN: the first.
            for found in &mut found[..width] {
                *found = if *found == NONE { start as u32 } else { *found };
            }
        }
        found
    }

    /// Takes what was found later, where it is better.
    #[inline(always)]
    unsafe fn merge(self, best: &mut Positions, found: &Positions) {
        // SAFETY: positions in the columns.
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

/// The best values of a folded row side by side, and what makes it whole vectors. Those of one column are `width` lanes apart.
struct Candidates<O: Order> {
    columns: Columns<O>,
    values: [Vec<O>; VECTORS + 1],
}

impl<O: Order> Candidates<O> {
    #[inline(always)]
    fn new(columns: Columns<O>, group: &Group<O, VECTORS>) -> Self {
        let lanes = O::Simd::LANES;
        let end = columns.fold * columns.width;
        let mut candidates = Candidates { columns, values: [columns.order.worst(); VECTORS + 1] };
        // The worst value stays from `end` on; the second vector reaches back to end there.
        candidates.set(0, group.best[0]);
        candidates.set(end - lanes, group.best[1]);
        candidates.set(end, columns.order.worst());
        candidates
    }

    /// The vector from a lane on.
    #[inline(always)]
    fn get(&self, lane: usize) -> Vec<O> {
        assert!(lane <= VECTORS * O::Simd::LANES);
        // SAFETY: a vector from there on ends within the three, and is as many lanes of one of the lane types, any of whose bits are values.
        unsafe { self.values.as_ptr().cast::<O::Lane>().add(lane).cast::<Vec<O>>().read_unaligned() }
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, vector: Vec<O>) {
        assert!(lane <= VECTORS * O::Simd::LANES);
        // SAFETY: as in `get`.
        unsafe { self.values.as_mut_ptr().cast::<O::Lane>().add(lane).cast::<Vec<O>>().write_unaligned(vector) };
    }

    /// The best value of each column, in as many lanes; unless it is NaN.
    #[inline(always)]
    fn best(&self) -> Vec<O> {
        let Columns { order, width, fold, .. } = self.columns;
        let mut halves = Candidates { ..*self };
        let mut best = order.fold_of(&[halves.get(0)]);
        let mut rows = fold;
        while rows > 1 {
            // The second half of the rows onto the first, in one vector. Lanes beyond them meet lanes of their own column too, or the worst value.
            rows = rows.div_ceil(2);
            best = order.fold(halves.get(rows * width), best);
            halves.set(0, best);
        }
        best
    }

    /// For each column, the smallest of the rows whose candidates pass the test, which is made for the columns side by side.
    #[inline(always)]
    fn smallest<T: Test<O>>(&self, test: T, folded_rows: &[u32], row: impl Fn(usize, usize) -> u32) -> Positions {
        let Columns { order, width, fold, .. } = self.columns;
        let per_lane = O::Simd::BITS_PER_LANE;
        let of_columns = (1 << (width as u32 * per_lane)) - 1;
        let mut smallest = [NONE; MAX_VECTOR_BYTES];
        for lane in 0..fold {
            let mut bits = order.simd().bits(test.holds(order, self.get(lane * width))) & of_columns;
            while bits != 0 {
                let column = (bits.trailing_zeros() / per_lane) as usize;
                bits &= !(((1 << per_lane) - 1) << (column as u32 * per_lane));
                let row = row(folded_rows[lane * width + column] as usize, lane);
                smallest[column] = smallest[column].min(row);
            }
        }
        smallest
    }
}
