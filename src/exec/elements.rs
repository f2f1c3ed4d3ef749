//! Reading elements of the input, and seeing them as integers of their size. Of the two files with unsafe code, the one
//! that reads.
#![allow(unsafe_code)]

use crate::Element;
use crate::index::Indices;
#[cfg(feature = "ndarray")]
use crate::{Error, Layout};
use std::marker::PhantomData;

/// Elements that can be read: all of a slice, or those of a view, without what lies between them. (A view of another
/// array has no slice: what lies between its elements may be somebody else's to write.)
#[derive(Clone, Copy)]
pub(crate) struct ElementsRef<'a, T> {
    start: *const T,
    len: usize,
    lifetime: PhantomData<&'a [T]>,
}

impl<'a, T> From<&'a [T]> for ElementsRef<'a, T> {
    fn from(slice: &'a [T]) -> Self {
        ElementsRef { start: slice.as_ptr(), len: slice.len(), lifetime: PhantomData }
    }
}

/// The element whose bits are 0.
pub(crate) const fn zero<T: Element>() -> T {
    // SAFETY: `Element` is sealed, and bits of 0 are a value of each of its types: 0, +0 or `false`.
    unsafe { std::mem::zeroed() }
}

/// The bits of an element: `B` is an integer of its size and alignment. Only reading an element makes one, so that any
/// that is written as a value is a valid element again.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Bits<B>(B);

impl<B: Copy> Bits<B> {
    #[inline(always)]
    pub(crate) fn get(self) -> B {
        self.0
    }
}

/// Elements as bits.
#[inline(always)]
pub(crate) fn as_bits<T: Element, B: Copy>(elements: &[T]) -> &[Bits<B>] {
    assert!(size_of::<T>() == size_of::<B>() && align_of::<T>() == align_of::<B>());
    // SAFETY: `Bits<B>` has the size and alignment of `T`, and all bits are an integer.
    unsafe { &*(&raw const *elements as *const [Bits<B>]) }
}

/// The same, to write to.
#[inline(always)]
pub(crate) fn as_bits_mut<T: Element, B: Copy>(elements: &mut [T]) -> &mut [Bits<B>] {
    assert!(size_of::<T>() == size_of::<B>() && align_of::<T>() == align_of::<B>());
    // SAFETY: `Bits<B>` has the size and alignment of `T`. What is written there was read from elements of the same
    // call, all of which are of one type.
    unsafe { &mut *(&raw mut *elements as *mut [Bits<B>]) }
}

/// The slices of one call. (Passed by reference: moved, its parts would be read again while they are still being
/// written.)
pub(crate) struct Slices<'a, T> {
    pub(crate) input: ElementsRef<'a, T>,
    pub(crate) indices: Indices<'a>,
    /// Where the best elements themselves go, if they are asked for.
    pub(crate) values: Option<&'a mut [T]>,
}

impl<'a, T: Element> Slices<'a, T> {
    /// Takes them, with elements as bits: what only moves these exists once for each size, not for each type.
    #[inline(always)]
    pub(super) fn take_as_bits<B: Copy>(&mut self) -> Slices<'a, Bits<B>> {
        let values = self.values.take().map(as_bits_mut);
        let input = ElementsRef { start: self.input.start.cast(), len: self.input.len, lifetime: PhantomData };
        Slices { input, indices: std::mem::replace(&mut self.indices, Indices::U8(&mut [])), values }
    }
}

impl<'a, T: Copy> ElementsRef<'a, T> {
    /// The elements of a view, and where they are. Only the elements of that layout may be read.
    #[cfg(feature = "ndarray")]
    pub(crate) fn of_view<D: ndarray::Dimension>(
        view: ndarray::ArrayView<'a, T, D>,
    ) -> Result<(Layout, ElementsRef<'a, T>), Error> {
        let before =
            |(&size, &stride): (&usize, &isize)| stride.min(0).unsigned_abs().saturating_mul(size.saturating_sub(1));
        let offset = view.shape().iter().zip(view.strides()).map(before).fold(0, usize::saturating_add);
        let layout = Layout::strided(view.shape(), view.strides(), offset)?;
        let start = if layout.element_count() == 0 { view.as_ptr() } else { view.as_ptr().wrapping_sub(offset) };
        Ok((layout, ElementsRef { start, len: layout.required_len(), lifetime: PhantomData }))
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// The address that kernels take for the first element of a tile.
    #[inline(always)]
    pub(super) fn address(self, place: isize) -> *const () {
        self.start.wrapping_offset(place).cast()
    }

    /// Neighbours that the layout reaches.
    #[inline(always)]
    pub(super) fn contiguous(self, first: usize, len: usize) -> &'a [T] {
        assert!(first <= self.len && len <= self.len - first);
        // SAFETY: they are below the length, and elements as in `get`.
        unsafe { std::slice::from_raw_parts(self.start.add(first), len) }
    }

    /// An element that the layout reaches.
    #[inline(always)]
    pub(super) fn get(self, place: usize) -> T {
        assert!(place < self.len);
        // SAFETY: of a slice, every place below its length is an element. Of a view, every place that its layout
        // reaches is one, by the invariants of `ArrayView`; and no other place is asked for: a test of
        // `planner/collapse.rs` compares the visited elements.
        unsafe { self.start.add(place).read() }
    }
}
