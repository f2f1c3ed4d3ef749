//! Rows of columns as types that say: these elements may be read. What cuts rows stays within them, so that who passes
//! rows on promises nothing. Fields are private to this file, for that reason. Knows nothing of vectors, of orders, and
//! of how rows are reduced.
//!
//! ```text
//! CallRows       all elements of a call
//!   OutputRows   a segment of each row of outputs
//!     StridedRows  a segment of one row of outputs, or of some neighbours in it
//! ```

use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::row_prefetch::prefetch_rows;
use crate::memory::walk::SegmentIter;
use crate::prefetch::Hint;
use core::marker::PhantomData;

/// Rows with one stride between them, each of as many elements as there are outputs. All of those may be read for `'a`.
#[derive(Clone, Copy)]
pub(super) struct StridedRows<'a, L> {
    first: *const L,
    rows: LoopDim,
    width: usize,
    hint: Hint,
    lifetime: PhantomData<&'a [L]>,
}

impl<'a, L: Copy> StridedRows<'a, L> {
    /// As many rows as `rows` says, each of `width` elements; other rows are prefetched by `hint`.
    ///
    /// # Safety
    /// - All of those elements, the first of them at `first`, may be read for `'a`.
    #[inline(always)]
    unsafe fn new(first: *const L, rows: LoopDim, width: usize, hint: Hint) -> Self {
        StridedRows { first, rows, width, hint, lifetime: PhantomData }
    }

    /// As many rows as those elements are, one after another.
    #[inline(always)]
    pub(super) fn contiguous(elements: &'a [L], count: usize, width: usize, hint: Hint) -> Self {
        assert!(count.checked_mul(width) == Some(elements.len()));
        let rows = LoopDim { size: count, stride: width as isize };
        // SAFETY: the rows are all of the slice, as asserted.
        unsafe { Self::new(elements.as_ptr(), rows, width, hint) }
    }

    /// Where the first row begins.
    #[inline(always)]
    pub(super) fn as_ptr(self) -> *const L {
        self.first
    }

    /// How many rows there are.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        self.rows.size
    }

    /// From one row to the next, in elements.
    #[inline(always)]
    pub(super) fn stride(self) -> isize {
        self.rows.stride
    }

    /// How many elements each row has.
    #[inline(always)]
    pub(super) fn width(self) -> usize {
        self.width
    }

    /// The first `count` rows, and the others.
    #[inline(always)]
    pub(super) fn split_at(self, count: usize) -> (Self, Self) {
        assert!(count <= self.rows.size);
        let LoopDim { size, stride } = self.rows;
        // Within: each has the rows from where it begins on, and no more than there are then.
        let first = self.first.wrapping_offset(count as isize * stride);
        (
            StridedRows { rows: LoopDim { size: count, stride }, ..self },
            StridedRows { first, rows: LoopDim { size: size - count, stride }, ..self },
        )
    }

    /// Whether rows have `width` elements from `start` on.
    #[inline(always)]
    pub(super) fn contains(self, start: usize, width: usize) -> bool {
        width <= self.width && start <= self.width - width
    }

    /// `width` elements of each row, from `start` on; where rows have fewer from there on, the last that they have.
    #[inline(always)]
    pub(super) fn piece(self, start: usize, width: usize) -> Self {
        let width = width.min(self.width);
        let start = start.min(self.width - width);
        // Within: the piece begins at least `width` elements before the end of a row.
        StridedRows { first: self.first.wrapping_add(start), width, ..self }
    }

    /// From row `start` on, contiguous rows `side_by_side` at a time as one wide row each; `count` wide rows.
    #[inline(always)]
    pub(super) fn wide_rows(self, start: usize, side_by_side: usize, count: usize) -> Self {
        let LoopDim { size, stride } = self.rows;
        assert!(stride.unsigned_abs() == self.width);
        assert!(start <= size && count.saturating_mul(side_by_side) <= size - start);
        // At their lowest address, which is that of the last one if they go down in memory. Within: they are so many
        // rows, without gaps.
        let lowest = if stride < 0 { start.wrapping_add(side_by_side).wrapping_sub(1) } else { start };
        StridedRows {
            first: self.first.wrapping_offset((lowest as isize).wrapping_mul(stride)),
            rows: LoopDim { size: count, stride: stride.wrapping_mul(side_by_side as isize) },
            width: self.width.wrapping_mul(side_by_side),
            ..self
        }
    }

    /// The bytes from the first row to where one more would begin.
    #[inline(always)]
    pub(super) fn extent_bytes(self) -> usize {
        self.rows.size.saturating_mul(self.rows.stride.unsigned_abs()).saturating_mul(size_of::<L>())
    }

    /// Prefetches as many elements, `distance` elements further on, if that is not `None`. They need not exist.
    #[inline(always)]
    pub(super) fn prefetch(self, distance: Option<isize>) {
        let Some(distance) = distance else { return };
        let (size, at) = (size_of::<L>(), self.first.wrapping_offset(distance));
        let stride = self.rows.stride.wrapping_mul(size as isize);
        prefetch_rows(self.hint, at.cast(), stride, self.rows.size, self.width * size);
    }

    /// [`StridedRows::prefetch`] of a single row, in place.
    #[inline(always)]
    pub(super) fn prefetch_row(self, distance: Option<isize>) {
        let Some(distance) = distance else { return };
        self.hint.prefetch(self.first.wrapping_offset(distance), self.width * size_of::<L>());
    }
}

/// As many [rows](StridedRows) for each of several rows of outputs.
#[derive(Clone, Copy)]
pub(super) struct OutputRows<'a, L> {
    /// Those of the first row of outputs, if there is one.
    first: StridedRows<'a, L>,
    outer: LoopDim,
}

impl<'a, L: Copy> OutputRows<'a, L> {
    /// How many rows of outputs there are.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.outer.size
    }

    /// How many outputs each of them has.
    #[inline(always)]
    pub(super) fn width(self) -> usize {
        self.first.width
    }

    /// The rows of one row of outputs.
    #[inline(always)]
    pub(super) fn get(self, n: usize) -> StridedRows<'a, L> {
        assert!(n < self.outer.size);
        // One of the rows of outputs, all of which have rows that may be read.
        let first = self.first.first.wrapping_offset((n as isize).wrapping_mul(self.outer.stride));
        StridedRows { first, ..self.first }
    }
}

impl<'a, L: Copy> From<StridedRows<'a, L>> for OutputRows<'a, L> {
    /// Of one row of outputs.
    #[inline(always)]
    fn from(first: StridedRows<'a, L>) -> Self {
        OutputRows { first, outer: LoopDim::ONE }
    }
}

/// All elements of a call whose outputs are contiguous. They may be read for `'a`.
#[derive(Clone, Copy)]
pub(super) struct CallRows<'a, L> {
    args: &'a KernelArgs<'a>,
    lifetime: PhantomData<&'a [L]>,
}

impl<'a, L: Copy> CallRows<'a, L> {
    /// # Panics
    /// If neighbouring outputs are not neighbours in memory.
    ///
    /// # Safety
    /// - All elements of the call may be read for `'a`, as `L`.
    #[inline(always)]
    pub(super) unsafe fn new(args: &'a KernelArgs<'a>) -> Self {
        assert!(args.inner.stride == 1);
        CallRows { args, lifetime: PhantomData }
    }

    /// How many rows of outputs there are.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.args.outer.size
    }

    /// How many outputs each of them has.
    #[inline(always)]
    pub(super) fn width(self) -> usize {
        self.args.inner.size
    }

    /// All segments of the reduced loops.
    #[inline(always)]
    pub(super) fn segments(self) -> RowSegments<'a, L> {
        RowSegments { call: self, segments: SegmentIter::new(self.args, None) }
    }

    /// All rows, of which there is one segment.
    ///
    /// # Panics
    /// If there are more.
    #[inline(always)]
    pub(super) fn one_segment(self) -> OutputRows<'a, L> {
        let (fastest, slower) = self.args.split_reduced();
        assert!(slower.is_empty());
        // SAFETY: without slower loops, the one segment begins at the first element.
        unsafe { self.rows(0, fastest.size) }
    }

    /// `count` rows of each row of outputs, from an offset on, in elements from the first one of the call.
    ///
    /// # Safety
    /// - The reduced loops have a segment there, of as many rows or more.
    #[inline(always)]
    unsafe fn rows(self, offset: isize, count: usize) -> OutputRows<'a, L> {
        let KernelArgs { input, outer, inner, tuning, .. } = *self.args;
        let first = input.cast::<L>().wrapping_offset(offset);
        let rows = LoopDim { size: count, ..self.args.innermost_reduced() };
        // SAFETY: such a segment, from each output of the first row. (If there is no row, nobody gets this one.)
        OutputRows { first: unsafe { StridedRows::new(first, rows, inner.size, tuning.prefetch.hint) }, outer }
    }
}

/// The segments of the reduced loops, in the order of visiting.
pub(super) struct RowSegments<'a, L> {
    call: CallRows<'a, L>,
    segments: SegmentIter<'a>,
}

impl<'a, L: Copy> RowSegments<'a, L> {
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<OutputRows<'a, L>> {
        match self.segments.next(usize::MAX) {
            // SAFETY: it is a segment of these loops.
            Some((offset, count)) => Some(unsafe { self.call.rows(offset, count) }),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements have their places as values, so that this is where the rows are, and what is in them.
    fn elements(input: &[u32], rows: StridedRows<'_, u32>) -> Vec<Vec<u32>> {
        let start = (rows.as_ptr().addr() - input.as_ptr().addr()) / size_of::<u32>();
        let row = |n: usize| &input[start.wrapping_add_signed(n as isize * rows.stride())..][..rows.width()];
        (0..rows.count()).map(|n| row(n).to_vec()).collect()
    }

    #[test]
    fn cuts_have_the_elements_that_they_say() {
        let input: Vec<u32> = (0..15).collect();
        let elements = |rows| elements(&input, rows);
        let rows = StridedRows::contiguous(&input, 5, 3, Hint::L1);
        let downwards = StridedRows { first: &raw const input[12], rows: LoopDim { size: 5, stride: -3 }, ..rows };
        let (first, others) = rows.split_at(2);
        assert_eq!(elements(first), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(elements(others), [[6, 7, 8], [9, 10, 11], [12, 13, 14]]);
        assert_eq!(elements(first.piece(1, 1)), [[1], [4]]);
        // The last ones where there are no more, and all where there are fewer.
        assert_eq!(elements(first.piece(2, 2)), [[1, 2], [4, 5]]);
        assert_eq!(elements(first.piece(usize::MAX, usize::MAX)), elements(first));
        assert!(rows.contains(1, 2) && !rows.contains(2, 2) && !rows.contains(0, 4) && !rows.contains(usize::MAX, 1));
        assert_eq!(elements(rows.wide_rows(1, 2, 2)), [[3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 13, 14]]);
        // At their lowest address, where rows go down in memory.
        assert_eq!(elements(downwards.wide_rows(1, 2, 2)), [[6, 7, 8, 9, 10, 11], [0, 1, 2, 3, 4, 5]]);
        assert_eq!(elements(downwards.split_at(4).1), [[0, 1, 2]]);
        assert_eq!(elements(OutputRows::from(first).get(0)), elements(first));
    }

    #[test]
    fn no_cut_reaches_beyond_its_rows() {
        fn fails(what: impl FnOnce(StridedRows<'_, u32>) + std::panic::UnwindSafe) {
            let failed = std::panic::catch_unwind(|| what(StridedRows::contiguous(&[0; 6], 2, 3, Hint::L1)));
            assert!(failed.is_err());
        }
        fails(|_| _ = StridedRows::contiguous(&[0_u32; 6], 2, 4, Hint::L1));
        fails(|_| _ = StridedRows::contiguous(&[0_u32; 6], usize::MAX, usize::MAX, Hint::L1));
        fails(|rows| _ = rows.split_at(3));
        fails(|rows| _ = rows.wide_rows(1, 2, 1));
        fails(|rows| _ = rows.wide_rows(0, 2, usize::MAX));
        fails(|rows| _ = rows.piece(0, 2).wide_rows(0, 1, 1));
        fails(|rows| _ = OutputRows::from(rows).get(1));
    }
}
