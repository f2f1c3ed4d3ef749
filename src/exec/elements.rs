//! Reading elements of the input, and seeing them as integers of their size. Of the two files with unsafe code, the one
//! that reads.
#![allow(unsafe_code)]

use super::tiles::Grid;
use crate::Element;
use crate::parts::Partial;
#[cfg(feature = "ndarray")]
use crate::{Error, Layout};
use argreduce_kernels::{LoopDim, OutputWriter};
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

/// An integer as wide as an element, of whose [`Bits`] one of two can be selected.
pub(crate) trait SelectBits: Copy {
    /// `there` if `takes` has all bits set, `here` if it has none. (No condition, of which the compiler makes branches,
    /// or stores under a mask.)
    fn select(here: Bits<Self>, there: Bits<Self>, takes: i8) -> Bits<Self>;
}

macro_rules! select_bits {
    ($($bits:ident)+) => {$(
        impl SelectBits for $bits {
            #[inline(always)]
            fn select(here: Bits<$bits>, there: Bits<$bits>, takes: i8) -> Bits<$bits> {
                // Whatever the mask, a `bool` stays one: no bit is set but where one of the two has it. All bits are a
                // value of the other types.
                Bits(here.0 ^ ((here.0 ^ there.0) & takes as $bits))
            }
        }
    )+};
}
select_bits!(u8 u16 u32 u64);

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

/// A slice that answers are written to. Unlike a `&mut` slice, it can be [lent](Outputs::lend) to several tasks at
/// once, each of which writes elements of its own: only what is being written is borrowed.
#[derive(Debug)]
pub struct Outputs<'a, T> {
    start: *mut T,
    len: usize,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: as `&mut [T]`, whose elements another thread may write.
unsafe impl<T: Send> Send for Outputs<'_, T> {}
// SAFETY: what several threads can do with a shared one is to lend it: see there.
unsafe impl<T: Send> Sync for Outputs<'_, T> {}
// SAFETY: as `&[T]`, whose elements several threads may read.
unsafe impl<T: Sync> Sync for ElementsRef<'_, T> {}

impl<'a, T> From<&'a mut [T]> for Outputs<'a, T> {
    #[inline(always)]
    fn from(slice: &'a mut [T]) -> Self {
        Outputs { start: slice.as_mut_ptr(), len: slice.len(), lifetime: PhantomData }
    }
}

impl<'a, T> Outputs<'a, T> {
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The same outputs for another task, at the same time.
    ///
    /// Only tasks may have it that write no element of another's. That is so of parts of a call (`parallel.rs`): each
    /// is done once ([`Claims`](crate::threads::Claims), tested by loom), they are disjoint parts of the loops over the
    /// outputs (a test of `planner/division.rs`), and an output layout has a place for each output (`check_output` in
    /// `api/builder.rs`).
    #[inline(always)]
    pub(crate) fn lend(&self) -> Outputs<'_, T> {
        Outputs { ..*self }
    }

    /// The same, for a shorter time.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Outputs<'_, T> {
        Outputs { ..*self }
    }

    /// As a slice of the same places, for as long as nobody else has it.
    #[inline(always)]
    pub(crate) fn part(&mut self, first: usize, len: usize) -> &mut [T] {
        assert!(first <= self.len && len <= self.len - first);
        // SAFETY: they are within the slice, which is borrowed for as long as `self` lives; other tasks have no borrow
        // of these elements, as `lend` asks for.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(first), len) }
    }

    /// Writes a row of outputs, `stride` places apart, from the first on. Borrows none of the places between them.
    ///
    /// `row` is moved, not borrowed: for all that the compiler knows, what is written might be where that lies.
    #[inline(always)]
    pub(super) fn spread(&mut self, first: isize, stride: isize, row: impl ExactSizeIterator<Item = T>) {
        let len = row.len();
        let last = first + len.saturating_sub(1) as isize * stride;
        assert!(first.min(last) >= 0 && (first.max(last) as usize) < self.len);
        let start = self.start.wrapping_offset(first);
        let write = |stride: isize, row| {
            for (i, found) in (0..len).zip(row) {
                // SAFETY: between the first place and the last, which are within the slice; else as in `part`.
                unsafe { *start.offset(i as isize * stride) = found };
            }
        };
        // A stride that is known takes fewer instructions.
        if stride == 1 { write(1, row) } else { write(stride, row) }
    }

    /// Writes what was found, packed and row by row, to the places of a grid. Borrows none of those between.
    pub(super) fn scatter(&mut self, writer: &OutputWriter, Grid { start, dims }: Grid, found: &[T])
    where
        T: Copy,
    {
        if found.is_empty() {
            return;
        }
        let reach = |LoopDim { size, stride }: LoopDim| (size - 1) as isize * stride;
        let lowest = start + dims.map(|loop_dim| reach(loop_dim).min(0)).iter().sum::<isize>();
        let highest = start + dims.map(|loop_dim| reach(loop_dim).max(0)).iter().sum::<isize>();
        assert!(lowest >= 0 && (highest as usize) < self.len);
        // SAFETY: the lowest and the highest place are within the slice; else as in `part`.
        unsafe { writer.scatter(found, self.start.wrapping_offset(start), dims) }
    }

    /// All of them.
    #[inline(always)]
    pub(crate) fn all(&mut self) -> &mut [T] {
        self.part(0, self.len)
    }

    /// With elements as bits.
    #[inline(always)]
    pub(super) fn into_bits<B>(self) -> Outputs<'a, Bits<B>> {
        assert!(size_of::<T>() == size_of::<B>() && align_of::<T>() == align_of::<B>());
        // What is written there was read from a `T`: see `Bits`.
        Outputs { start: self.start.cast(), len: self.len, lifetime: PhantomData }
    }

    /// The address of an output, for its place in a cache line.
    #[inline(always)]
    pub(crate) fn address(&self, place: usize) -> usize {
        self.start.wrapping_add(place).addr()
    }
}

impl<T: Copy, I: Copy> Outputs<'_, Partial<T, I>> {
    /// Writes a row of partials of elements and their indices, `stride` places apart, from the first on.
    ///
    /// As two words of the wider size each: padding is written too, so that a vector holds some partials.
    #[inline(always)]
    pub(super) fn write_partials(&mut self, first: isize, stride: isize, values: &[T], indices: &[I]) {
        let row = values.iter().zip(indices).map(|(&value, &index)| (value, index));
        match const { word_bytes::<T, I>() } {
            1 => self.write_words::<u8>(first, stride, row),
            2 => self.write_words::<u16>(first, stride, row),
            4 => self.write_words::<u32>(first, stride, row),
            8 => self.write_words::<u64>(first, stride, row),
            _ => self.spread(first, stride, row.map(|(value, index)| Partial { value, index })),
        }
    }

    /// The same, each as two words, of which the first begins with the value and the second with the index.
    #[inline(always)]
    fn write_words<W: Copy + Default>(
        &mut self,
        first: isize,
        stride: isize,
        row: impl ExactSizeIterator<Item = (T, I)>,
    ) {
        assert!(word_bytes::<T, I>() == size_of::<W>() && align_of::<Partial<T, I>>() == align_of::<W>());
        let mut words = Outputs::<[W; 2]> { start: self.start.cast(), len: self.len, lifetime: PhantomData };
        words.spread(first, stride, row.map(|(value, index)| [word(value), word(index)]));
    }
}

/// The bytes of each of the two words that a partial is made of: of the wider field. Or 0, where these are aligned to
/// less than their size, and the other field is smaller.
const fn word_bytes<T, I>() -> usize {
    let (value, index) = (size_of::<T>(), size_of::<I>());
    let bytes = if value > index { value } else { index };
    let is_two = std::mem::offset_of!(Partial<T, I>, index) == bytes && size_of::<Partial<T, I>>() == 2 * bytes;
    if is_two { bytes } else { 0 }
}

/// A word that begins with the bytes of an element or an index; the others are 0.
#[inline(always)]
fn word<X: Copy, W: Copy + Default>(x: X) -> W {
    assert!(size_of::<X>() <= size_of::<W>());
    let mut word = W::default();
    // SAFETY: there is room, as asserted; elements and indices have no padding, and all bits are a word.
    unsafe { (&raw mut word).cast::<X>().write_unaligned(x) };
    word
}

impl<T> std::ops::Index<usize> for Outputs<'_, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, place: usize) -> &T {
        assert!(place < self.len);
        // SAFETY: as in `part`.
        unsafe { &*self.start.add(place) }
    }
}

impl<T> std::ops::IndexMut<usize> for Outputs<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, place: usize) -> &mut T {
        assert!(place < self.len);
        // SAFETY: as in `part`.
        unsafe { &mut *self.start.add(place) }
    }
}

impl<'a, T> ElementsRef<'a, T> {
    /// With elements as bits: what only moves these exists once for each size, not for each type.
    #[inline(always)]
    pub(super) fn into_bits<B>(self) -> ElementsRef<'a, Bits<B>> {
        assert!(size_of::<T>() == size_of::<B>() && align_of::<T>() == align_of::<B>());
        ElementsRef { start: self.start.cast(), len: self.len, lifetime: PhantomData }
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
