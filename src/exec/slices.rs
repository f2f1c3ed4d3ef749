//! The slices that a call writes to, and indices by their width.
#![allow(unsafe_code)]

use super::outputs::OutputSlice;
use super::values::Values;
use crate::{Element, Index, Partial};
use bytemuck::cast_slice_mut;

/// The slices that a call writes to. (Passed by reference: moved, its fields would be read again while they are still
/// being written.)
pub(crate) struct OutputSlices<'a> {
    pub(crate) indices: Indices<'a>,
    /// Where the best elements themselves go, if they are asked for.
    pub(crate) values: Option<Values<'a>>,
}

/// From one place to the next, of indices and of values.
pub(crate) type Steps = [usize; 2];

impl<'a> OutputSlices<'a> {
    /// The fields of partial answers, which lie side by side; and how far those of neighbours are apart.
    pub(crate) fn of_partials<T: Element, I: Index>(partials: &'a mut [Partial<T, I>]) -> (Self, Steps) {
        type Of<T, I> = Partial<T, I>;
        let (bytes, start) = (size_of_val(partials), partials.as_mut_ptr());
        let field = |offset: usize, size: usize| (start.wrapping_byte_add(offset), bytes.saturating_sub(offset) / size);
        let (indices, len) = field(std::mem::offset_of!(Of<T, I>, index), size_of::<I>());
        // SAFETY: so many integers of an index fit from the first one on, which is aligned as they are: as the fields,
        // whose size divides that of a partial answer. Who is given steps reads and writes at multiples of them, where
        // the fields are, and nothing else.
        let indices = unsafe { Indices::of_width(indices.cast(), len, size_of::<I>()) };
        let (values, len) = field(std::mem::offset_of!(Of<T, I>, value), size_of::<T>());
        // SAFETY: as of the indices.
        let values = unsafe { Values::of_raw::<T>(values.cast(), len) };
        let bytes = const { size_of::<Of<T, I>>() };
        assert!(bytes.is_multiple_of(size_of::<I>()) && bytes.is_multiple_of(size_of::<T>()));
        let steps = [size_of::<Of<T, I>>() / size_of::<I>(), size_of::<Of<T, I>>() / size_of::<T>()];
        (OutputSlices { indices, values: Some(values) }, steps)
    }

    /// As others of the same places, for another task.
    ///
    /// # Safety
    /// - As for [`OutputSlice::lend`].
    pub(super) unsafe fn lend(&self) -> OutputSlices<'_> {
        // SAFETY: the caller promises of all indices and values what it would of each.
        unsafe { OutputSlices { indices: self.indices.lend(), values: self.values.as_ref().map(|v| v.lend()) } }
    }
}

/// A slice to write indices to, by their width alone: so the code behind a plan exists once for each width, not for
/// each type.
pub(crate) enum Indices<'a> {
    U8(OutputSlice<'a, u8>),
    U16(OutputSlice<'a, u16>),
    U32(OutputSlice<'a, u32>),
    U64(OutputSlice<'a, u64>),
}

/// An expression for indices of each width.
macro_rules! for_width {
    ($indices:expr, $slice:ident => $body:expr) => {
        match $indices {
            $crate::exec::Indices::U8($slice) => $body,
            $crate::exec::Indices::U16($slice) => $body,
            $crate::exec::Indices::U32($slice) => $body,
            $crate::exec::Indices::U64($slice) => $body,
        }
    };
}
pub(crate) use for_width;

impl<'a, I: Index> From<&'a mut [I]> for Indices<'a> {
    #[inline(always)]
    fn from(indices: &'a mut [I]) -> Self {
        let bits = I::bits_mut(indices);
        match size_of::<I>() {
            1 => Indices::U8(cast_slice_mut(bits).into()),
            2 => Indices::U16(cast_slice_mut(bits).into()),
            4 => Indices::U32(cast_slice_mut(bits).into()),
            _ => Indices::U64(cast_slice_mut(bits).into()),
        }
    }
}

impl<'a> Indices<'a> {
    /// Integers of so many bytes.
    ///
    /// # Safety
    /// - As for [`OutputSlice::from_raw`].
    unsafe fn of_width(start: *mut (), len: usize, width: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            match width {
                1 => Indices::U8(OutputSlice::from_raw(start.cast(), len)),
                2 => Indices::U16(OutputSlice::from_raw(start.cast(), len)),
                4 => Indices::U32(OutputSlice::from_raw(start.cast(), len)),
                _ => Indices::U64(OutputSlice::from_raw(start.cast(), len)),
            }
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        for_width!(self, indices => indices.len())
    }

    /// The bytes of each.
    pub(crate) fn width(&self) -> usize {
        match self {
            Indices::U8(_) => 1,
            Indices::U16(_) => 2,
            Indices::U32(_) => 4,
            Indices::U64(_) => 8,
        }
    }

    /// The address of one.
    pub(crate) fn address(&self, place: usize) -> usize {
        for_width!(self, indices => indices.address(place))
    }

    /// As others of the same places, for another task.
    ///
    /// # Safety
    /// - As for [`OutputSlice::lend`].
    pub(super) unsafe fn lend(&self) -> Indices<'_> {
        // SAFETY: the caller's promise is that of each width.
        unsafe {
            match self {
                Indices::U8(indices) => Indices::U8(indices.lend()),
                Indices::U16(indices) => Indices::U16(indices.lend()),
                Indices::U32(indices) => Indices::U32(indices.lend()),
                Indices::U64(indices) => Indices::U64(indices.lend()),
            }
        }
    }

    /// All bits set: the index of nothing.
    pub(crate) fn none(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.width())
    }

    /// All bits set, at so many places that are `step` apart.
    pub(crate) fn fill_none(&mut self, count: usize, step: usize) {
        for_width!(self, indices => indices.spread(0, step as isize, (0..count).map(|_| Index::NONE)));
    }

    /// Writes one: see [`Index::at`].
    #[inline(always)]
    pub(crate) fn set(&mut self, place: usize, start: isize, position: u64, step: isize) {
        for_width!(self, indices => indices.set(place, Index::at(start, position, step)));
    }
}
