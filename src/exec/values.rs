//! Where values are written, of a type that is known at run time. What is written there are elements, bit for bit.
#![allow(unsafe_code)]

use super::input::{ElementsRef, alignment, type_in_bytes, whole};
use super::outputs::OutputSlice;
use crate::{DataType, Element, Error};
use argreduce_kernels::with_element_bits;
use bytemuck::Zeroable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Elements that values are written to.
pub(crate) struct Values<'a> {
    start: *mut (),
    len: usize,
    data_type: DataType,
    /// The bytes of one: to look them up takes longer.
    size: u8,
    lifetime: PhantomData<&'a mut ()>,
}

// SAFETY: as `&mut [T]`, for elements are `Send`.
unsafe impl Send for Values<'_> {}
// SAFETY: what several threads can do with a shared one is to ask for its type and length, and to lend it: see there.
unsafe impl Sync for Values<'_> {}

impl<'a, T: Element> From<&'a mut [T]> for Values<'a> {
    #[inline(always)]
    fn from(slice: &'a mut [T]) -> Self {
        const { assert!(align_of::<T>() == alignment(size_of::<T>())) };
        let (data_type, size) = (T::DATA_TYPE, size_of::<T>() as u8);
        Values { start: slice.as_mut_ptr().cast(), len: slice.len(), data_type, size, lifetime: PhantomData }
    }
}

impl<'a> Values<'a> {
    /// As [`ElementsRef::of_bytes`], to write to.
    #[inline]
    pub(crate) fn of_bytes(slice: &'static str, data_type: DataType, bytes: &'a mut [u8]) -> Result<Self, Error> {
        let (start, len) = whole(slice, data_type, bytes.as_mut_ptr(), bytes.len())?;
        let (data_type, size) = (type_in_bytes(data_type), data_type.size() as u8);
        Ok(Values { start, len, data_type, size, lifetime: PhantomData })
    }

    /// From a place on.
    ///
    /// # Safety
    /// - As for [`OutputSlice::from_raw`].
    pub(super) unsafe fn of_raw<T: Element>(start: *mut T, len: usize) -> Self {
        let (data_type, size) = (T::DATA_TYPE, size_of::<T>() as u8);
        Values { start: start.cast(), len, data_type, size, lifetime: PhantomData }
    }

    /// A buffer for elements of that type: of integers as large as they are, which need not be initialised.
    ///
    /// # Safety
    /// - Until they are initialised, they are used as [places](Values::places) alone.
    pub(super) unsafe fn of_buffer<B>(buffer: &'a mut [MaybeUninit<B>], data_type: DataType) -> Self {
        assert!(size_of::<B>() == data_type.size() && align_of::<B>() == alignment(size_of::<B>()));
        let (start, len, size) = (buffer.as_mut_ptr().cast(), buffer.len(), size_of::<B>() as u8);
        Values { start, len, data_type, size, lifetime: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The bytes of one.
    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        self.size.into()
    }

    /// The address of the first, to write to all of them.
    pub(super) fn start(&mut self) -> *mut () {
        self.start
    }

    /// As other values at the same places, for another task.
    ///
    /// # Safety
    /// - As for [`OutputSlice::lend`].
    pub(super) unsafe fn lend(&self) -> Values<'_> {
        Values { ..*self }
    }

    /// Some neighbours.
    pub(super) fn range(&mut self, first: usize, len: usize) -> Values<'_> {
        assert!(first <= self.len && len <= self.len - first);
        Values { start: self.start.wrapping_byte_add(first * self.size()), len, ..*self }
    }

    /// As integers of their size, which need not be initialised.
    ///
    /// # Safety
    /// - Whatever is written there are elements of their type.
    #[inline(always)]
    pub(super) unsafe fn places<B>(&mut self) -> &mut [MaybeUninit<B>] {
        assert!(size_of::<B>() == self.size() && align_of::<B>() == alignment(self.size()));
        // SAFETY: as many are borrowed for as long as `self` lives, and no other task has a borrow of them, as `lend`
        // asks for. The caller promises that none becomes uninitialised.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.len) }
    }

    /// As integers of their size.
    ///
    /// # Safety
    /// - Whatever is written there are bits of elements of their type.
    #[inline(always)]
    pub(crate) unsafe fn bits<B: Copy>(&mut self) -> OutputSlice<'_, B> {
        assert!(size_of::<B>() == self.size() && align_of::<B>() == alignment(self.size()));
        // SAFETY: as many are there, of that size and alignment, and lent as these are.
        unsafe { OutputSlice::from_raw(self.start.cast(), self.len) }
    }

    /// Copies an element, bit for bit.
    ///
    /// # Safety
    /// - If the input is a view, its layout reaches the element.
    #[inline(always)]
    pub(super) unsafe fn copy(&mut self, to: usize, input: ElementsRef<'_>, from: usize) {
        assert!(self.data_type == input.data_type() && to < self.len);
        with_element_bits!(self.size(), B => {
            // SAFETY: elements of one type, as their bits; the place is within the slice, and no other task's, as
            // `lend` asks for. The caller promises that the other may be read.
            unsafe { self.start.cast::<B>().add(to).write(input.read::<B>(from)) }
        });
    }

    /// Writes the element whose bits are 0 to so many places from the `first` on, which are `step` apart.
    pub(crate) fn clear(&mut self, first: usize, count: usize, step: usize) {
        with_element_bits!(self.size(), B => {
            // SAFETY: bits of 0 are a value of each type.
            unsafe { self.bits::<B>() }.spread(first as isize, step as isize, (0..count).map(|_| B::zeroed()));
        });
    }
}
