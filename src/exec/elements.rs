//! Elements of the input, and values, by their type at run time. Of the two files with unsafe code, the one that reads.
#![allow(unsafe_code)]

use super::tiles::Grid;
#[cfg(feature = "ndarray")]
use crate::Layout;
use crate::partial::Partial;
use crate::{DataType, Element, Error, NanPolicy, ReduceFunction};
use argreduce_kernels::{LoopDim, OutputWriter, better, with_bits, with_element_type};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::without_provenance_mut;

/// Which elements are better.
pub(super) type Order = (ReduceFunction, NanPolicy);

/// Elements that can be read, of a type that is known at run time: what is behind a plan exists once for all types.
/// All of a slice, or those of a view, without what lies between them: that may be somebody else's to write.
#[derive(Clone, Copy)]
pub struct ElementsRef<'a> {
    start: *const (),
    len: usize,
    data_type: DataType,
    lifetime: PhantomData<&'a ()>,
}

impl<'a, T: Element> From<&'a [T]> for ElementsRef<'a> {
    #[inline(always)]
    fn from(slice: &'a [T]) -> Self {
        const { assert!(align_of::<T>() == alignment(size_of::<T>())) };
        ElementsRef { start: slice.as_ptr().cast(), len: slice.len(), data_type: T::DATA_TYPE, lifetime: PhantomData }
    }
}

/// Elements that values are written to, as the bits of one type.
pub(crate) struct Values<'a> {
    start: *mut (),
    len: usize,
    /// The bytes of one.
    size: usize,
    lifetime: PhantomData<&'a mut ()>,
}

impl<'a, T: Element> From<&'a mut [T]> for Values<'a> {
    #[inline(always)]
    fn from(slice: &'a mut [T]) -> Self {
        const { assert!(align_of::<T>() == alignment(size_of::<T>())) };
        Values { start: slice.as_mut_ptr().cast(), len: slice.len(), size: size_of::<T>(), lifetime: PhantomData }
    }
}

/// That of elements of a size, which is that of an integer.
const fn alignment(size: usize) -> usize {
    with_bits!(size, B => align_of::<B>())
}

/// The whole elements of a buffer, if it is aligned as they are.
fn whole(slice: &'static str, data_type: DataType, start: *mut u8, bytes: usize) -> Result<(*mut (), usize), Error> {
    let (size, alignment) = (data_type.size(), alignment(data_type.size()));
    // A shift, because a division takes as long as some elements.
    match bytes >> size.ilog2() {
        // Nothing is read, so any address will do.
        0 => Ok((without_provenance_mut(alignment), 0)),
        len if start.addr().is_multiple_of(alignment) => Ok((start.cast(), len)),
        _ => Err(Error::Misaligned { slice, element_type: data_type.name(), alignment }),
    }
}

/// The bits of an element: `B` is an integer of its size and alignment. Only reading an element makes one, so that any
/// that is written as a value is a valid element again.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Bits<B>(B);

impl<B> Bits<B> {
    #[inline(always)]
    pub(crate) fn get(self) -> B {
        self.0
    }
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
unsafe impl Sync for ElementsRef<'_> {}
// SAFETY: as `&mut [T]`, for elements are `Send`. With a shared one, several threads can only lend it: see there.
unsafe impl Sync for Values<'_> {}
// SAFETY: as above.
unsafe impl Send for Values<'_> {}

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

    /// As a slice of the same places, for as long as nobody else has it.
    #[inline(always)]
    pub(crate) fn part(&mut self, first: usize, len: usize) -> &mut [T] {
        assert!(first <= self.len && len <= self.len - first);
        // SAFETY: they are within the slice, which is borrowed for as long as `self` lives; other tasks have no borrow
        // of these elements, as `lend` asks for.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(first), len) }
    }

    /// Writes one.
    #[inline(always)]
    pub(crate) fn set(&mut self, place: usize, output: T) {
        assert!(place < self.len);
        // SAFETY: as in `part`.
        unsafe { *self.start.add(place) = output };
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

    /// The same integers as bits, as values are.
    #[inline(always)]
    pub(crate) fn bits(&mut self) -> Outputs<'_, Bits<T>> {
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

impl<'a> ElementsRef<'a> {
    /// The whole elements of a buffer. Whether they are enough for a layout is checked by the plan.
    #[inline]
    pub(crate) fn of_bytes(slice: &'static str, data_type: DataType, bytes: &'a [u8]) -> Result<Self, Error> {
        let (start, len) = whole(slice, data_type, bytes.as_ptr().cast_mut(), bytes.len())?;
        // `u8` for `bool`: not every byte is a `bool`, but every byte is a `u8`, in the same order.
        let data_type = with_element_type!(data_type, T => <<T as Element>::Pod as Element>::DATA_TYPE);
        Ok(ElementsRef { start, len, data_type, lifetime: PhantomData })
    }

    /// The elements of a view, and where they are. Only the elements of that layout may be read.
    #[cfg(feature = "ndarray")]
    pub(crate) fn of_view<T: Element, D: ndarray::Dimension>(
        view: ndarray::ArrayView<'a, T, D>,
    ) -> Result<(Layout, ElementsRef<'a>), Error> {
        let before = |(&size, &stride): (&usize, &isize)| stride.min(0).unsigned_abs().saturating_mul(size.max(1) - 1);
        let offset = view.shape().iter().zip(view.strides()).map(before).fold(0, usize::saturating_add);
        let layout = Layout::strided(view.shape(), view.strides(), offset)?;
        let start = if layout.element_count() == 0 { view.as_ptr() } else { view.as_ptr().wrapping_sub(offset) };
        let (start, len) = (start.cast(), layout.required_len());
        Ok((layout, ElementsRef { start, len, data_type: T::DATA_TYPE, lifetime: PhantomData }))
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(crate) fn data_type(self) -> DataType {
        self.data_type
    }

    /// The address that kernels take for the first element of a tile.
    #[inline(always)]
    pub(super) fn address(self, place: isize) -> *const () {
        self.start.wrapping_byte_offset(place * self.data_type.size() as isize)
    }

    /// All of a slice, as integers of their size.
    #[inline(always)]
    pub(crate) fn bits<B: Pod>(self) -> &'a [Bits<B>] {
        assert!(size_of::<B>() == self.data_type.size() && align_of::<B>() == alignment(size_of::<B>()));
        // SAFETY: as many as there are, and all bits are a `B`. Partial answers alone are read so: no view ever is.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.len) }
    }

    /// Neighbours that the layout reaches.
    #[inline(always)]
    pub(super) fn contiguous<T: Element>(self, first: usize, len: usize) -> &'a [T] {
        assert!(T::DATA_TYPE == self.data_type && first <= self.len && len <= self.len - first);
        // SAFETY: they are of that type, and below the length; and elements as in `is_better`.
        unsafe { std::slice::from_raw_parts(self.start.cast::<T>().add(first), len) }
    }

    /// Whether the element at one place is better than that at another. The layout reaches both.
    pub(super) fn is_better(self, (function, policy): Order, a: usize, b: usize) -> bool {
        assert!(a < self.len && b < self.len);
        with_element_type!(self.data_type, T => {
            // SAFETY: of a slice, every place below its length is an element. Of a view, every place that its layout
            // reaches is one, by the invariants of `ArrayView`; and no other place is asked for: a test of
            // `planner/collapse.rs` compares the visited elements.
            let get = |place: usize| unsafe { self.start.cast::<T>().add(place).read() };
            better(function, policy, get(a), get(b))
        })
    }
}

impl<'a> Values<'a> {
    /// As [`ElementsRef::of_bytes`], to write to.
    #[inline]
    pub(crate) fn of_bytes(slice: &'static str, data_type: DataType, bytes: &'a mut [u8]) -> Result<Self, Error> {
        let (start, len) = whole(slice, data_type, bytes.as_mut_ptr(), bytes.len())?;
        Ok(Values { start, len, size: data_type.size(), lifetime: PhantomData })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes of one.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The address of the first, to write to all of them.
    pub(super) fn start(&mut self) -> *mut () {
        self.start
    }

    /// The same for another task: see [`Outputs::lend`].
    pub(super) fn lend(&self) -> Values<'_> {
        Values { ..*self }
    }

    /// # Safety
    /// - Until they are initialised, they are used as [places](Values::places) alone.
    pub(super) unsafe fn of_places<B>(places: &'a mut [MaybeUninit<Bits<B>>]) -> Self {
        let (start, len) = (places.as_mut_ptr().cast(), places.len());
        Values { start, len, size: size_of::<B>(), lifetime: PhantomData }
    }

    /// Where integers of their size are written, which need not be initialised.
    #[inline(always)]
    pub(super) fn places<B>(&mut self) -> &mut [MaybeUninit<B>] {
        assert!(size_of::<B>() == self.size && align_of::<B>() == alignment(self.size));
        // SAFETY: as in `Outputs::part`; only kernels write there, and those write elements.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.len) }
    }

    /// Some of them.
    pub(super) fn part(&mut self, first: usize, len: usize) -> Values<'_> {
        assert!(first <= self.len && len <= self.len - first);
        Values { start: self.start.wrapping_byte_add(first * self.size), len, ..*self }
    }

    /// As integers of their size.
    #[inline(always)]
    pub(crate) fn bits<B: Copy>(&mut self) -> Outputs<'_, Bits<B>> {
        assert!(size_of::<B>() == self.size && align_of::<B>() == alignment(self.size));
        // What is written there was read from elements of their type: see `Bits`.
        Outputs { start: self.start.cast(), len: self.len, lifetime: PhantomData }
    }

    /// Copies an element that the layout reaches, bit for bit.
    #[inline(always)]
    pub(super) fn copy(&mut self, to: usize, input: ElementsRef<'_>, from: usize) {
        assert!(self.size == input.data_type.size() && to < self.len && from < input.len);
        with_bits!(self.size, B => {
            // SAFETY: elements of one size, whose places are below both lengths; else as in `ElementsRef::is_better`
            // and `Outputs::part`.
            unsafe { self.start.cast::<B>().add(to).write(input.start.cast::<B>().add(from).read()) }
        });
    }

    /// Writes the element whose bits are 0, so many times.
    pub(crate) fn clear(&mut self, len: usize) {
        assert!(len <= self.len);
        // SAFETY: they are within the slice; else as in `Outputs::part`. Bits of 0 are a value of each type.
        unsafe { self.start.cast::<u8>().write_bytes(0, len * self.size) }
    }
}
