//! A slice that outputs are written to, also from several threads. Knows nothing of inputs, and not what is written.
#![allow(unsafe_code)]

use super::tiles::Grid;
use argreduce_kernels::{LoopDim, OutputWriter};
use std::marker::PhantomData;

/// A slice that answers are written to. Unlike a `&mut` slice, it can be [lent](OutputSlice::lend) to several tasks at
/// once, each of which writes elements of its own: only what is being written is borrowed.
#[derive(Debug)]
pub(crate) struct OutputSlice<'a, T> {
    start: *mut T,
    len: usize,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: as `&mut [T]`, whose elements another thread may write.
unsafe impl<T: Send> Send for OutputSlice<'_, T> {}
// SAFETY: what several threads can do with a shared one is to read its address and length, and to lend it: see there.
unsafe impl<T: Send> Sync for OutputSlice<'_, T> {}

impl<'a, T> From<&'a mut [T]> for OutputSlice<'a, T> {
    #[inline(always)]
    fn from(slice: &'a mut [T]) -> Self {
        OutputSlice { start: slice.as_mut_ptr(), len: slice.len(), lifetime: PhantomData }
    }
}

impl<'a, T> OutputSlice<'a, T> {
    /// # Safety
    /// - From `start` on there are `len` places for elements, aligned, each of which is one or is read by nobody. They
    ///   are borrowed for `'a`, as by a `&mut` slice, or lent as [here](OutputSlice::lend).
    #[inline(always)]
    pub(super) unsafe fn from_raw(start: *mut T, len: usize) -> Self {
        OutputSlice { start, len, lifetime: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// As another slice of the same places, for another task.
    ///
    /// # Safety
    /// - Until the last of the two is used, no element is written or borrowed through both.
    #[inline(always)]
    pub(crate) unsafe fn lend(&self) -> OutputSlice<'_, T> {
        OutputSlice { ..*self }
    }

    /// Some neighbours, as a slice.
    #[inline(always)]
    pub(crate) fn range(&mut self, first: usize, len: usize) -> &mut [T] {
        assert!(first <= self.len && len <= self.len - first);
        // SAFETY: they are within the slice, which is borrowed for as long as `self` lives; other tasks have no borrow
        // of these elements, as `lend` asks for.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(first), len) }
    }

    /// All of them.
    #[inline(always)]
    pub(crate) fn all(&mut self) -> &mut [T] {
        self.range(0, self.len)
    }

    /// Writes one.
    #[inline(always)]
    pub(crate) fn set(&mut self, place: usize, output: T) {
        assert!(place < self.len);
        // SAFETY: it is within the slice; else as in `range`.
        unsafe { *self.start.add(place) = output };
    }

    /// Copies some neighbours to another place.
    #[inline(always)]
    pub(super) fn copy(&mut self, from: usize, to: usize, len: usize)
    where
        T: Copy,
    {
        assert!(len <= self.len && from <= self.len - len && to <= self.len - len);
        // SAFETY: both are within the slice; else as in `range`.
        unsafe { self.start.add(from).copy_to(self.start.add(to), len) };
    }

    /// Writes some outputs, `stride` places apart, from the first on. Borrows none of the places between them.
    ///
    /// `found` is moved, not borrowed: for all that the compiler knows, what is written might be where that lies.
    #[inline(always)]
    pub(super) fn spread(&mut self, first: isize, stride: isize, found: impl ExactSizeIterator<Item = T>) {
        let len = found.len();
        let last = first + len.saturating_sub(1) as isize * stride;
        assert!(first.min(last) >= 0 && (first.max(last) as usize) < self.len);
        let start = self.start.wrapping_offset(first);
        let write = |stride: isize, found| {
            for (i, output) in (0..len).zip(found) {
                // SAFETY: between the first place and the last, which are within the slice; else as in `range`.
                unsafe { *start.offset(i as isize * stride) = output };
            }
        };
        // A stride that is known takes fewer instructions.
        if stride == 1 { write(1, found) } else { write(stride, found) }
    }

    /// Writes what was found, packed and row by row, to the places of a grid. Borrows none of those between.
    pub(super) fn scatter(&mut self, writer: &OutputWriter, grid: Grid, found: &[T])
    where
        T: Copy,
    {
        if found.is_empty() {
            return;
        }
        // SAFETY: all places are within the slice; else as in `range`.
        unsafe { writer.scatter(found, self.pointer(grid), grid.dims) }
    }

    /// The first of the places of a grid, to write to all of them. There is one.
    ///
    /// # Panics
    /// If one is beyond the slice.
    pub(super) fn pointer(&mut self, Grid { start, dims }: Grid) -> *mut T {
        let reach = |LoopDim { size, stride }: LoopDim| (size - 1) as isize * stride;
        let lowest = start + dims.map(|loop_dim| reach(loop_dim).min(0)).iter().sum::<isize>();
        let highest = start + dims.map(|loop_dim| reach(loop_dim).max(0)).iter().sum::<isize>();
        assert!(lowest >= 0 && (highest as usize) < self.len);
        self.start.wrapping_offset(start)
    }

    /// The address of an output, for its place in a cache line.
    #[inline(always)]
    pub(crate) fn address(&self, place: usize) -> usize {
        self.start.wrapping_add(place).addr()
    }
}
