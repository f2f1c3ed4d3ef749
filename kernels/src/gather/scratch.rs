//! The buffer that elements are gathered into, and the loop over segments that fills it. Knows nothing of how elements
//! are copied, and of types but their size.

use super::copy::{LaneOffsets, OVERWRITE_PAD, SourceRows};
use super::transpose::TransposeSource;
use crate::memory::walk::SegmentIter;
use crate::simd::transpose::TransposeOps;
use core::mem::MaybeUninit;

/// The size of the buffer: half of a small L1 cache, so that what is read through it stays there too. Not measured.
pub const SCRATCH_BYTES: usize = 8192;

#[repr(C, align(64))]
pub(crate) struct Scratch([MaybeUninit<u8>; SCRATCH_BYTES + OVERWRITE_PAD]);

impl Scratch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Scratch([const { MaybeUninit::uninit() }; SCRATCH_BYTES + OVERWRITE_PAD])
    }

    /// Fills the buffer with as many rows as fit and are left, and tells how many: one element of each lane for each
    /// step of the reduced loops, `row * lanes.len() + lane`. No more rows means no more elements.
    ///
    /// # Safety
    /// - Every element that `segments` reaches from each `from + lane` may be read, and so may what follows each
    ///   before `end`, if there is one; they have 1, 2, 4 or 8 bytes, and are aligned.
    #[inline(always)]
    pub(crate) unsafe fn fill<S: TransposeOps, T: Copy>(
        &mut self,
        simd: S,
        segments: &mut SegmentIter<'_>,
        from: *const T,
        end: Option<*const T>,
        lanes: &LaneOffsets<'_>,
    ) -> (&[T], usize) {
        let simd = S::HalfWidth::from(simd);
        // SAFETY: the caller promises the elements; of their types, nothing but the size matters.
        let rows = with_bits!(size_of::<T>(), B => unsafe {
            self.fill_bits::<_, B>(simd, segments, from.cast(), end.map(|end| end.cast()), lanes)
        });
        // SAFETY: so many were written.
        (unsafe { self.elements(rows * lanes.len()) }, rows)
    }

    /// Fills the buffer with some runs, transposed: element by element of each of them.
    ///
    /// # Safety
    /// - As for [`TransposeSource::transpose`], of which elements have the size of `T`.
    #[inline(always)]
    pub(crate) unsafe fn fill_transposed<S: TransposeOps, T: Copy>(&mut self, simd: S, runs: TransposeSource) -> &[T] {
        let len = runs.count * runs.elements;
        assert!(len * size_of::<T>() <= SCRATCH_BYTES);
        let to = self.0.as_mut_ptr().cast();
        // SAFETY: the caller promises the runs, and there is room for all of their elements.
        with_bits!(size_of::<T>(), B => unsafe { runs.transpose::<S, { size_of::<B>() }>(simd, to) });
        // SAFETY: so many were written.
        unsafe { self.elements(len) }
    }

    /// The first elements of the buffer.
    ///
    /// # Safety
    /// - They were written, as elements of type `T`, and so are in it.
    #[inline(always)]
    unsafe fn elements<T: Copy>(&self, len: usize) -> &[T] {
        const { assert!(align_of::<T>() <= 64) };
        debug_assert!(len * size_of::<T>() <= SCRATCH_BYTES);
        // SAFETY: the caller promises that they are there; the buffer is aligned for them.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), len) }
    }

    /// [`Scratch::fill`] for one size of elements.
    ///
    /// # Safety
    /// - As for [`Scratch::fill`].
    #[inline(never)]
    unsafe fn fill_bits<S: TransposeOps, B: Copy>(
        &mut self,
        simd: S,
        segments: &mut SegmentIter<'_>,
        from: *const B,
        end: Option<*const B>,
        lanes: &LaneOffsets<'_>,
    ) -> usize {
        const { assert!(align_of::<B>() <= 64) };
        let (len, pad) = (SCRATCH_BYTES / size_of::<B>(), OVERWRITE_PAD / size_of::<B>());
        let (elements, capacity) = (self.0.as_mut_ptr().cast::<MaybeUninit<B>>(), len / lanes.len());
        // SAFETY: the bytes of this buffer are as many elements by the divisions, aligned for them as asserted, and
        // need not be initialised.
        let elements = unsafe { core::slice::from_raw_parts_mut(elements, len + pad) };
        let mut filled = 0;
        while let Some((offset, rows)) = segments.next(capacity - filled) {
            let out = &mut elements[filled * lanes.len()..(filled + rows) * lanes.len() + pad];
            let mut prefetch_cursor = segments.prefetch_cursor;
            let size = size_of::<B>() as isize;
            if let LaneOffsets::Strided { .. } = lanes {
                prefetch_cursor =
                    prefetch_cursor.map(|prefetch_cursor| prefetch_cursor.moved(offset.wrapping_mul(size)));
            } else {
                segments.prefetch_cursor =
                    prefetch_cursor.map(|prefetch_cursor| prefetch_cursor.moved((rows * lanes.len()) as isize * size));
            }
            let (from, stride) = (from.wrapping_offset(offset), segments.fastest.stride);
            let (source, lanes) = (SourceRows { from, rows, stride, prefetch_cursor }, *lanes);
            simd.outlined(
                #[inline(always)]
                // SAFETY: rows of a segment of those that the caller promises; there is one, because segments are not
                // empty.
                move || unsafe { source.gather(simd, out, end, lanes) },
            );
            filled += rows;
        }
        filled
    }
}
