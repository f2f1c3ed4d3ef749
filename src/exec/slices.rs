//! The slices that a call writes to, and indices by their width.
#![allow(unsafe_code)]

use super::outputs::OutputSlice;
use super::values::Values;
use crate::Index;
use bytemuck::cast_slice_mut;

/// The slices that a call writes to. (Passed by reference: moved, its fields would be read again while they are still
/// being written.)
pub(crate) struct OutputSlices<'a> {
    pub(crate) indices: Indices<'a>,
    /// Where the best elements themselves go, if they are asked for.
    pub(crate) values: Option<Values<'a>>,
}

impl OutputSlices<'_> {
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

impl Indices<'_> {
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

    /// Writes one: see [`Index::at`].
    #[inline(always)]
    pub(crate) fn set(&mut self, place: usize, start: isize, position: u64, step: isize) {
        for_width!(self, indices => indices.set(place, Index::at(start, position, step)));
    }
}
