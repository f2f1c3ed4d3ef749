//! From the positions that kernels find to indices, as wide as the caller wants them. Knows nothing of strategies,
//! orders and element types.

use crate::dispatch::{Isa, with_isa};
use crate::simd::portable::Portable;
use crate::simd::token::{Simd, SimdOp};
use core::marker::PhantomData;
use core::ops::Range;

/// From a position to an index of 32 bits: `start + position * step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// The index of position 0.
    pub start: u32,
    /// From one index to the next.
    pub step: isize,
}

impl Affine {
    /// Positions are indices.
    pub const IDENTITY: Affine = Affine { start: 0, step: 1 };

    /// The index at a position.
    #[inline(always)]
    pub fn at(self, position: u32) -> u32 {
        self.start.wrapping_add(position.wrapping_mul(self.step as u32))
    }
}

mod sealed {
    pub trait Sealed {}
}

/// What indices are written as: `u8`, `u16`, `u32` and `u64`, the same bits as the signed types. Sealed.
pub trait IndexBits: sealed::Sealed + Copy + 'static {
    /// An index that fits.
    #[doc(hidden)]
    fn of(index: u32) -> Self;

    /// The position that was written in its place.
    #[doc(hidden)]
    fn position(self) -> u32;

    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;

    #[doc(hidden)]
    fn minus(self, other: Self) -> Self;

    #[doc(hidden)]
    fn loops_of(writer: &IndexWriter) -> Loops<Self>;
}

/// The loops of an ISA for one width.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Loops<I> {
    write: unsafe fn(map: Affine, positions: &[u32], indices: &mut [I]),
    write_in_place: unsafe fn(map: Affine, positions: &mut [I]),
}

macro_rules! widths {
    ($($t:ident)+) => {
        /// Writes lines of indices by the vectors of an ISA.
        ///
        /// ```
        /// use argreduce_kernels::{Affine, IndexWriter, Isa};
        /// let writer = IndexWriter::of(Isa::detect()).unwrap();
        /// let mut indices = [0_u64; 3];
        /// writer.write(Affine { start: 100, step: 10 }, &[2, 0, 5], &mut indices);
        /// assert_eq!(indices, [120, 100, 150]);
        /// ```
        #[derive(Clone, Copy, Debug)]
        pub struct IndexWriter {
            $($t: Loops<$t>,)+
        }

        impl<S: Simd> Of<S> {
            const WRITER: &'static IndexWriter = &IndexWriter {
                $($t: Loops { write: enter::<S, $t>, write_in_place: enter_in_place::<S, $t> },)+
            };
        }

        $(
            impl sealed::Sealed for $t {}
            impl IndexBits for $t {
                #[inline(always)]
                fn of(index: u32) -> $t {
                    index as $t
                }

                #[inline(always)]
                fn position(self) -> u32 {
                    self as u32
                }

                #[inline(always)]
                fn plus(self, other: $t) -> $t {
                    self.wrapping_add(other)
                }

                #[inline(always)]
                fn minus(self, other: $t) -> $t {
                    self.wrapping_sub(other)
                }

                #[inline(always)]
                fn loops_of(writer: &IndexWriter) -> Loops<$t> {
                    writer.$t
                }
            }
        )+
    };
}

widths!(u8 u16 u32 u64);

/// The writer of an ISA.
struct Of<S>(PhantomData<S>);

impl IndexWriter {
    /// The one that every machine can run.
    pub const PORTABLE: &'static IndexWriter = Of::<Portable<16>>::WRITER;

    /// That of an ISA, or `None` where this machine or this build does not have it.
    pub fn of(isa: Isa) -> Option<&'static IndexWriter> {
        if isa.is_available() { with_isa!(isa, S => Of::<S>::WRITER) } else { None }
    }

    /// Writes the index of each position. All of them fit.
    ///
    /// # Panics
    /// If `positions` and `indices` differ in length.
    #[inline]
    pub fn write<I: IndexBits>(&self, map: Affine, positions: &[u32], indices: &mut [I]) {
        assert_eq!(positions.len(), indices.len());
        // SAFETY: the ISA is there: `of` gives no writer without, and nothing else but `PORTABLE` does.
        unsafe { (I::loops_of(self).write)(map, positions, indices) }
    }

    /// Writes the index of each position in its place. All of both fit.
    ///
    /// ```
    /// use argreduce_kernels::{Affine, IndexWriter};
    /// let mut indices = [2_u64, 0, 5];
    /// IndexWriter::PORTABLE.write_in_place(Affine { start: 100, step: 10 }, &mut indices);
    /// assert_eq!(indices, [120, 100, 150]);
    /// ```
    #[inline]
    pub fn write_in_place<I: IndexBits>(&self, map: Affine, positions: &mut [I]) {
        if map != Affine::IDENTITY {
            // SAFETY: as in `write`.
            unsafe { (I::loops_of(self).write_in_place)(map, positions) }
        }
    }
}

/// # Safety
/// - The machine has the ISA.
unsafe fn enter<S: Simd, I: IndexBits>(map: Affine, positions: &[u32], indices: &mut [I]) {
    // SAFETY: the caller's promise.
    let simd = unsafe { S::assume() };
    // SAFETY: the operation requires nothing.
    unsafe { simd.vectorize(IndexRow { map, positions, indices }) };
}

/// # Safety
/// - The machine has the ISA.
unsafe fn enter_in_place<S: Simd, I: IndexBits>(map: Affine, positions: &mut [I]) {
    // SAFETY: the caller's promise.
    let simd = unsafe { S::assume() };
    // SAFETY: the operation requires nothing.
    unsafe { simd.vectorize(InPlace { map, positions }) };
}

struct InPlace<'a, I> {
    map: Affine,
    positions: &'a mut [I],
}

impl<I: IndexBits> SimdOp for InPlace<'_, I> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let InPlace { map, positions } = self;
        let start = I::of(map.start);
        // As wide as they are: nothing to narrow and to widen.
        match map.step {
            1 => each_in_place(positions, |position| start.plus(position)),
            -1 => each_in_place(positions, |position| start.minus(position)),
            _ => each_in_place(positions, |position| I::of(map.at(position.position()))),
        }
    }
}

struct IndexRow<'a, I> {
    map: Affine,
    positions: &'a [u32],
    indices: &'a mut [I],
}

impl<I: IndexBits> SimdOp for IndexRow<'_, I> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let IndexRow { map, positions, indices } = self;
        // Without a multiplication, which takes several operations, in a window and backwards.
        match map {
            Affine::IDENTITY => each(positions, indices, I::of),
            Affine { start, step: 1 } => each(positions, indices, |position| I::of(start.wrapping_add(position))),
            Affine { start, step: -1 } => each(positions, indices, |position| I::of(start.wrapping_sub(position))),
            _ => each(positions, indices, |position| I::of(map.at(position))),
        }
    }
}

/// The plain loop, which the compiler vectorises.
#[inline(always)]
fn each<I: Copy>(positions: &[u32], indices: &mut [I], index: impl Fn(u32) -> I) {
    for part in aligned_parts(indices) {
        for (index_of, &position) in indices[part.clone()].iter_mut().zip(&positions[part]) {
            *index_of = index(position);
        }
    }
}

/// The same, in place.
#[inline(always)]
fn each_in_place<I: Copy>(positions: &mut [I], index: impl Fn(I) -> I) {
    for part in aligned_parts(positions) {
        positions[part].iter_mut().for_each(|position| *position = index(*position));
    }
}

/// Two parts, of which the second is aligned to any vector, because a store across two cache lines takes as long as
/// two.
#[inline(always)]
fn aligned_parts<I>(slice: &[I]) -> [Range<usize>; 2] {
    let first = slice.as_ptr().align_offset(crate::simd::partial_load::MAX_VECTOR_BYTES).min(slice.len());
    [0..first, first..slice.len()]
}
