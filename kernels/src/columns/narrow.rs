//! Narrow columns: a row of outputs is no longer than a vector, but the rows are contiguous and many. Knows nothing of
//! how a tile is reduced.
//!
//! Several rows, `rows_per_wide` of them, lie side by side in two vectors, as one wide row of `rows_per_wide * width`
//! lanes. A tile is reduced over the wide rows. Then each column has `rows_per_wide` candidates, `width` lanes apart,
//! and the best of them wins:
//!
//! ```text
//! width 3, rows_per_wide 5, two vectors of 8 lanes (the third row begins in the first vector and ends in the second):
//!     a b c a b c a b    b c a b c a b c              the second vector overlaps the first
//! wide row r, candidate k, is row r * rows_per_wide + k of the tensor
//! ```
//!
//! Candidates are merged by halves: vectors are rotated by multiples of `width` lanes, and compared lane by lane.
//! Gathering such rows would cost a load and a store for each, a few bytes long.

use super::reduce::{ColumnState, reduce_tile};
use super::strided_rows::{CallRows, StridedRows};
use super::tile::{ColumnTile, store};
use crate::kernel::KernelImpl;
use crate::memory::args::KernelArgs;
use crate::order::{ArgOrder, IndexVec, Mask, Vec};
use crate::outputs::{Outputs, TypedOutputs, Written};
use crate::positions::{Positions, for_places, write_all};
use crate::simd::ops::SimdOps;
use crate::simd::partial_load::MAX_VECTOR_BYTES;
use crate::simd::token::Simd;
use crate::strategy::{NARROW_VECTORS, Strategy, rows_per_wide};
use core::mem::MaybeUninit;

/// How many bytes of narrow columns beyond L2 are prefetched at a time. See docs/tuning.md#narrow_prefetch_bytes.
const NARROW_PREFETCH_BYTES: usize = 1 << 10;

pub(crate) struct NarrowColumns;

impl<O: ArgOrder> KernelImpl<O> for NarrowColumns {
    #[inline(always)]
    unsafe fn run(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        assert!(Strategy::NarrowColumns.takes(args.inner, args.reduced, O::Simd::LANES));
        // SAFETY: the caller promises all elements of the call, and that lanes have their size.
        let output_rows = unsafe { CallRows::new(args) }.one_segment();
        // SAFETY: values are of elements, as the caller promises.
        let mut outputs = unsafe { outputs.typed() };
        let width = output_rows.width();
        let rows_per_wide = rows_per_wide(width, O::Simd::LANES);
        const { assert!(NARROW_VECTORS * size_of::<Vec<O>>() <= NARROW_PREFETCH_BYTES, "a wide row at a time") };
        let prefetched_rows = if args.should_prefetch(false) {
            NARROW_PREFETCH_BYTES / (rows_per_wide * width * size_of::<O::Lane>())
        } else {
            usize::MAX
        };
        let mut state = ColumnState::default();
        for o in 0..output_rows.len() {
            let columns = ContiguousColumns { order, rows: output_rows.get(o), rows_per_wide, prefetched_rows };
            columns.reduce(outputs.take(width), &mut state);
        }
        Written::all(state.has_lost)
    }
}

/// Neighbouring columns with contiguous rows, upwards or downwards.
#[derive(Clone, Copy)]
struct ContiguousColumns<'r, O: ArgOrder> {
    order: O,
    /// Enough of them for a wide row.
    rows: StridedRows<'r, O::Lane>,
    /// How many of them lie side by side.
    rows_per_wide: usize,
    /// How many wide rows to prefetch at a time; `usize::MAX` for none.
    prefetched_rows: usize,
}

impl<O: ArgOrder> ContiguousColumns<'_, O> {
    /// Writes the position of the first best of each column, and the value, if values are wanted.
    #[inline(always)]
    fn reduce(self, mut outputs: TypedOutputs<'_, O::Lane>, state: &mut ColumnState) {
        let rows = self.rows.count();
        let most = self.rows_per_wide.saturating_mul(O::Simd::MAX_INDEX as usize);
        let (mut values, mut start) = (self.order.identity(), 0);
        loop {
            // Where they are counted several times, the last rows overlap those before, which is harmless: comparisons
            // are strict.
            let from = start.min(rows - self.rows_per_wide);
            let found = self.reduce_rows(from, (rows - from).min(most), state);
            if start == 0 {
                for_places!(outputs.positions, positions => write_all(positions, found.positions()));
                values = found.values;
            } else {
                values = self.merge(&mut outputs.positions, values, &found);
            }
            start = start.saturating_add(most);
            // No position is larger than the largest index of 32 bits.
            if const { O::Simd::MAX_INDEX == u32::MAX } || start >= rows {
                break;
            }
            if O::MAY_EXIT_EARLY && self.order.are_settled(values, self.rows.width()) {
                break;
            }
        }
        if let Some(places) = outputs.values {
            let mut lanes = [const { MaybeUninit::uninit() }; MAX_VECTOR_BYTES];
            store(self.order, values, &mut lanes);
            places.copy_from_slice(&lanes[..places.len()]);
            state.has_lost |= self.order.simd().movemask(self.order.lost(values)) != 0;
        }
    }

    /// The first best of each column in `rows` rows from row `start` on: as many as can be counted, and at least one
    /// wide row.
    #[inline(always)]
    fn reduce_rows(self, start: usize, rows: usize, state: &mut ColumnState) -> Found<O> {
        let ContiguousColumns { order, rows_per_wide, .. } = self;
        let wide = rows / rows_per_wide;
        // The rows that are left are one more wide row, which overlaps the previous one.
        let left = usize::from(wide * rows_per_wide < rows);
        let wide_rows = [
            self.rows.wide_rows(start, rows_per_wide, wide),
            self.rows.wide_rows(start + rows - rows_per_wide, rows_per_wide, left),
        ];
        let tile = reduce_tile::<O, NARROW_VECTORS, 2, true>(order, wide_rows, self.prefetched_rows, state);
        let (simd, best) = (order.simd(), self.first_best(&tile));
        Found {
            start,
            rows,
            rows_per_wide,
            values: best.values,
            wide_rows: simd.index_array(best.wide_rows),
            row_in_wide: simd.index_array(best.row_in_wide),
        }
    }

    /// No branch depends on the data: testing the candidates one by one would be much slower.
    #[inline(always)]
    fn first_best(self, tile: &ColumnTile<O, NARROW_VECTORS>) -> LaneBest<O> {
        let ContiguousColumns { order, rows_per_wide, .. } = self;
        let (simd, lanes, width) = (order.simd(), O::Simd::LANES, self.rows.width());
        let mut rows = rows_per_wide / NARROW_VECTORS;
        // The lowest number, in order of visit, of the rows of a vector; `row` is the one at the lowest address. The
        // others get theirs when they are merged.
        let all = rows;
        let number = |row: usize| if self.rows.stride() < 0 { rows_per_wide - all - row } else { row };
        let mut kept = LaneBest::new(order, tile, 0, 0, number(0));
        if rows_per_wide % NARROW_VECTORS > 0 {
            // The row in the middle begins in the first vector and ends in the second. (The rows after it follow there,
            // each in its place too.)
            let begin = LaneBest::new(order, tile, 0, rows * width, number(rows));
            let end = LaneBest::new(order, tile, 1, NARROW_VECTORS * lanes - (rows + 1) * width, number(rows));
            let between = begin.select(order, simd.first_n_mask(lanes - rows * width), end);
            kept = kept.merge(order, between);
        }
        // The rows of the second vector are at its end.
        kept = kept.merge(order, LaneBest::new(order, tile, 1, lanes - rows * width, number(rows_per_wide - rows)));
        while rows > 1 {
            // Merges the second half of the rows, by address, into the first. If their number is odd, the middle one is
            // in both.
            let half = rows / 2;
            let (low, high) = if self.rows.stride() < 0 { (half, 0) } else { (0, half) };
            kept = kept.advanced_by(order, low).merge(order, kept.skip(order, half * width).advanced_by(order, high));
            rows -= half;
        }
        kept
    }

    /// Takes what was found in later rows, where it is better, and gives the values of what is best then.
    #[inline(always)]
    fn merge(self, positions: &mut Positions<'_>, values: Vec<O>, later: &Found<O>) -> Vec<O> {
        let (order, found) = (self.order, later.values);
        // Outlined, because it is rare: inlined, it slows down what is not.
        let (bits, values) = order.simd().outlined(
            #[inline(always)]
            move || {
                let better = order.gt_total_order(found, values);
                (order.simd().movemask(better), order.simd().select(better, found, values))
            },
        );
        for_places!(positions, positions => {
            for ((column, position), found) in positions.iter_mut().enumerate().zip(later.positions()) {
                if bits >> (column as u32 * O::Simd::BITS_PER_LANE) & 1 == 1 {
                    write_all(core::slice::from_mut(position), [found]);
                }
            }
        });
        values
    }
}

/// What was found in some rows, as many as can be counted.
struct Found<O: ArgOrder> {
    start: usize,
    rows: usize,
    rows_per_wide: usize,
    /// For each column.
    values: Vec<O>,
    wide_rows: IndexArray<O>,
    row_in_wide: IndexArray<O>,
}

type IndexArray<O> = <<O as ArgOrder>::Simd as SimdOps<<O as ArgOrder>::Lane>>::IndexArray;

impl<O: ArgOrder> Found<O> {
    /// The positions of all lanes, of which the first `width` are columns. (As 32 bits, which hold any position.)
    #[inline(always)]
    fn positions(&self) -> impl Iterator<Item = u32> {
        let (start, rows_per_wide, last) =
            (self.start as u32, self.rows_per_wide as u32, (self.rows - self.rows_per_wide) as u32);
        let found = self.wide_rows.as_ref().iter().zip(self.row_in_wide.as_ref());
        found.map(move |(&wide_row, &row_in_wide)| {
            let (wide_row, row_in_wide): (u64, u64) = (wide_row.into(), row_in_wide.into());
            // The last wide row overlaps the previous one.
            start + (wide_row as u32 * rows_per_wide).min(last) + row_in_wide as u32
        })
    }
}

/// The best candidates in one vector. Neighbouring lanes are neighbouring columns; those of one column are `width`
/// lanes apart.
#[derive(Clone, Copy)]
struct LaneBest<O: ArgOrder> {
    values: Vec<O>,
    wide_rows: IndexVec<O>,
    /// Which of the rows side by side it is from, counted from the row of its lane.
    row_in_wide: IndexVec<O>,
}

impl<O: ArgOrder> LaneBest<O> {
    /// Those of one vector from a lane on, which is in row `row` of those side by side.
    #[inline(always)]
    fn new(order: O, tile: &ColumnTile<O, NARROW_VECTORS>, vector: usize, lane: usize, row: usize) -> Self {
        let simd = order.simd();
        LaneBest {
            values: simd.rotate(tile.best[vector], lane),
            wide_rows: simd.rotate(tile.row_of_best[vector], lane),
            row_in_wide: simd.splat_index(row as u32),
        }
    }

    /// From a lane on.
    #[inline(always)]
    fn skip(self, order: O, lanes: usize) -> Self {
        let simd = order.simd();
        LaneBest {
            values: simd.rotate(self.values, lanes),
            wide_rows: simd.rotate(self.wide_rows, lanes),
            row_in_wide: simd.rotate(self.row_in_wide, lanes),
        }
    }

    /// These bests, if their rows were numbered from `rows` rows earlier on.
    #[inline(always)]
    fn advanced_by(self, order: O, rows: usize) -> Self {
        let simd = order.simd();
        LaneBest { row_in_wide: simd.add(self.row_in_wide, simd.splat_index(rows as u32)), ..self }
    }

    /// The first best of both, lane by lane. Of equals, the one of the earlier wide row is first, then the one that is
    /// earlier in it.
    #[inline(always)]
    fn merge(self, order: O, new: Self) -> Self {
        let simd = order.simd();
        let is_earlier = simd.or(
            simd.index_gt(self.wide_rows, new.wide_rows),
            simd.and_not(
                simd.index_gt(self.row_in_wide, new.row_in_wide),
                simd.index_gt(new.wide_rows, self.wide_rows),
            ),
        );
        let is_first = simd.or(
            order.gt_total_order(new.values, self.values),
            simd.and_not(is_earlier, order.gt_total_order(self.values, new.values)),
        );
        new.select(order, is_first, self)
    }

    /// `self` where the mask is true, `other` elsewhere.
    #[inline(always)]
    fn select(self, order: O, mask: Mask<O>, other: Self) -> Self {
        let simd = order.simd();
        LaneBest {
            values: simd.select(mask, self.values, other.values),
            wide_rows: simd.select(mask, self.wide_rows, other.wide_rows),
            row_in_wide: simd.select(mask, self.row_in_wide, other.row_in_wide),
        }
    }
}
