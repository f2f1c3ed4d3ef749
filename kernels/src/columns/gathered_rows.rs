//! Rows of gathered lanes, as many at a time as the buffer holds. Knows nothing of which lanes are gathered together,
//! and of how elements are copied.

use super::panel::{PANEL_TILES, Panel, Traversal};
use super::strided_rows::StridedRows;
use crate::gather::transpose::TransposeSource;
use crate::gather::{LaneOffsets, SCRATCH_BYTES, Scratch};
use crate::memory::walk::SegmentIter;
use crate::order::ArgOrder;
use crate::outputs::TypedOutputs;
use crate::prefetch::Hint;
use crate::simd::ops::SimdOps;
use crate::simd::transpose::CHUNK_BYTES;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// The most rows for which a transpose by chunks does not pay. See docs/tuning.md#max_run_bytes.
pub(super) const MAX_COPIED_ROWS: usize = 8;

/// Where the elements of some lanes are, and how many of them were gathered. They may be read for `'a`.
pub(super) struct GatherSource<'a, O: ArgOrder> {
    place: Place<'a, O::Lane>,
    lifetime: PhantomData<&'a [O::Lane]>,
}

enum Place<'a, T> {
    /// In runs that are transposed.
    Runs(DenseRuns),
    /// Elements of each lane. What follows each before `end` may be read too, if there is an end.
    Lanes { segments: SegmentIter<'a>, input: *const T, end: Option<*const T>, lanes: LaneOffsets<'a> },
}

/// Runs of contiguous elements: all rows of some neighbouring outputs.
#[derive(Clone, Copy)]
pub(super) struct DenseRuns {
    /// With all of their rows; the last one comes first only where all rows are gathered together.
    pub(super) runs: TransposeSource,
    /// How many outputs a run has, and how many rows of them.
    pub(super) width: usize,
    pub(super) rows: usize,
    /// How many rows are gathered at a time.
    pub(super) most: usize,
    /// How many were gathered.
    pub(super) done: usize,
}

impl<'a, O: ArgOrder> GatherSource<'a, O> {
    /// # Safety
    /// - The runs may be read for `'a`. They have the rows that are said, more than [`MAX_COPIED_ROWS`] of them, or
    ///   follow each other and are short enough for [perfect shuffles](crate::gather::transpose::is_shuffled).
    #[inline(always)]
    pub(super) unsafe fn of_runs(runs: DenseRuns) -> Self {
        assert!(runs.runs.count >= O::Simd::LANES && runs.done <= runs.rows);
        GatherSource { place: Place::Runs(runs), lifetime: PhantomData }
    }

    /// # Safety
    /// - Every element that `segments` reaches from each of the lanes, in elements from `input`, may be read for `'a`,
    ///   and so may what follows each before `end`, if there is one.
    #[inline(always)]
    pub(super) unsafe fn of_lanes(
        segments: SegmentIter<'a>,
        input: *const O::Lane,
        end: Option<*const O::Lane>,
        lanes: LaneOffsets<'a>,
    ) -> Self {
        GatherSource { place: Place::Lanes { segments, input, end, lanes }, lifetime: PhantomData }
    }

    /// The next rows, of `width` lanes each. No more rows means no more elements.
    #[inline(always)]
    pub(super) fn next<'s>(
        &mut self,
        order: O,
        scratch: &'s mut Scratch,
        width: usize,
        hint: Hint,
    ) -> StridedRows<'s, O::Lane> {
        let (elements, count) = match &mut self.place {
            // SAFETY: those of which a source was made, or what is left of them.
            Place::Runs(runs) => unsafe { runs.next(order, scratch) },
            Place::Lanes { segments, input, end, lanes } => {
                // SAFETY: those of which a source was made. The walk goes on behind what was gathered.
                unsafe { scratch.fill(order.simd(), segments, *input, *end, lanes) }
            }
        };
        StridedRows::contiguous(elements, count, width, hint)
    }

    /// Reduces all rows by a panel, as many of them at a time as the buffer holds, and tells whether bits of values are
    /// lost. There is an output for each lane.
    #[inline(always)]
    pub(super) fn reduce(
        mut self,
        order: O,
        scratch: &mut Scratch,
        outputs: TypedOutputs<'_, O::Lane>,
        hint: Hint,
    ) -> bool {
        let width = outputs.len();
        let mut tiles = [const { MaybeUninit::uninit() }; PANEL_TILES];
        let mut panel = Panel::<O, 1>::new(order, &mut tiles, outputs);
        while !panel.is_settled() {
            let rows = self.next(order, scratch, width, hint);
            if rows.count() == 0 {
                break;
            }
            panel.rows(rows, None, Traversal::Resident);
        }
        panel.finish()
    }
}

impl DenseRuns {
    /// Gathers as many rows as the buffer holds, of all runs, and tells how many.
    ///
    /// # Safety
    /// - As for [`GatherSource::of_runs`].
    #[inline(always)]
    unsafe fn next<'s, O: ArgOrder>(&mut self, order: O, scratch: &'s mut Scratch) -> (&'s [O::Lane], usize) {
        const { assert!(2 * MAX_COPIED_ROWS >= CHUNK_BYTES && DENSE_OUTPUTS * MAX_COPIED_ROWS <= SCRATCH_BYTES) };
        let DenseRuns { runs, width, rows, most, done } = *self;
        let some = (rows - done).min(most);
        if some == 0 {
            return (&[], 0);
        }
        // Fewer rows may be less than a chunk of a run: then some of the rows before are gathered again.
        let before = MAX_COPIED_ROWS.saturating_sub(some).min(done);
        let size = size_of::<O::Lane>();
        let first = runs.first.wrapping_add((done - before) * width * size);
        let bytes = some * runs.count * width * size;
        self.runs.prefetch_cursor = runs.prefetch_cursor.map(|cursor| cursor.moved(bytes as isize));
        self.done += some;
        let runs = TransposeSource { first, elements: (before + some) * width, ..runs };
        // SAFETY: rows `done - before` to `done + some` of each run. These are all, which the caller promises to be
        // short enough, or at least a chunk, because more than `MAX_COPIED_ROWS` rows have no fewer at a time.
        let elements = unsafe { scratch.fill_transposed(order.simd(), runs) };
        (&elements[before * runs.count * width..], some)
    }
}

/// The most outputs of the runs that are transposed at a time. Not measured.
pub(super) const DENSE_OUTPUTS: usize = 1024;
