//! From the positions that kernels find to indices, as wide as the caller wants them. Knows nothing of strategies,
//! orders and element types.

use crate::dispatch::{Everywhere, Isa, with_isa};
use crate::memory::args::LoopDim;
use crate::positions::Position;
use crate::scatter::{self, PackedRows, ScatterLoops};
use crate::simd::token::Simd;
use crate::simd::transpose::TransposeOps;
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

/// What indices are written as: `u8`, `u16`, `u32` and `u64`, the same bits as the signed types. Sealed.
pub trait IndexBits: Position + 'static {
    /// Makes indices of the positions in their places.
    #[doc(hidden)]
    fn map_in_place(map: Affine, positions: &mut [Self]);

    #[doc(hidden)]
    fn loops_of(writer: &OutputWriter) -> Loops<Self>;
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
        /// Writes outputs by the vectors of an ISA: rows of indices, and whatever goes to places at strides.
        ///
        /// ```
        /// use argreduce_kernels::{Affine, OutputWriter, Isa};
        /// let writer = OutputWriter::of(Isa::detect()).unwrap();
        /// let mut indices = [0_u64; 3];
        /// writer.write(Affine { start: 100, step: 10 }, &[2, 0, 5], &mut indices);
        /// assert_eq!(indices, [120, 100, 150]);
        /// ```
        #[derive(Clone, Copy, Debug)]
        pub struct OutputWriter {
            $($t: Loops<$t>,)+
            scatter: ScatterLoops,
        }

        /// The writer of an ISA.
        const fn writer<S: TransposeOps>() -> &'static OutputWriter {
            const {
                &OutputWriter {
                    $($t: Loops { write: write::<S, $t>, write_in_place: write_in_place::<S, $t> },)+
                    scatter: scatter::loops::<S>(),
                }
            }
        }

        $(impl IndexBits for $t {
            #[inline(always)]
            fn map_in_place(map: Affine, positions: &mut [$t]) {
                let start = map.start as $t;
                // As wide as they are: nothing to narrow and to widen.
                match map.step {
                    1 => each_in_place(positions, |position| start.wrapping_add(position)),
                    -1 => each_in_place(positions, |position| start.wrapping_sub(position)),
                    _ => each_in_place(positions, |position| map.at(position as u32) as $t),
                }
            }

            #[inline(always)]
            fn loops_of(writer: &OutputWriter) -> Loops<$t> {
                writer.$t
            }
        })+
    };
}

widths!(u8 u16 u32 u64);

impl OutputWriter {
    /// The one that every machine can run.
    pub const PORTABLE: &'static OutputWriter = writer::<Everywhere>();

    /// That of an ISA, or `None` where this machine or this build does not have it.
    pub fn of(isa: Isa) -> Option<&'static OutputWriter> {
        if isa.is_available() { with_isa!(isa, S => writer::<S>()) } else { None }
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
    /// use argreduce_kernels::{Affine, OutputWriter};
    /// let mut indices = [2_u64, 0, 5];
    /// OutputWriter::PORTABLE.write_in_place(Affine { start: 100, step: 10 }, &mut indices);
    /// assert_eq!(indices, [120, 100, 150]);
    /// ```
    #[inline]
    pub fn write_in_place<I: IndexBits>(&self, map: Affine, positions: &mut [I]) {
        if map != Affine::IDENTITY {
            // SAFETY: as in `write`.
            unsafe { (I::loops_of(self).write_in_place)(map, positions) }
        }
    }

    /// Writes what was found, packed and row by row, to places: `places` are the loops over rows and along each, with
    /// strides in elements, from `to` on. Touches nothing between them.
    ///
    /// ```
    /// use argreduce_kernels::{LoopDim, OutputWriter};
    /// let (rows, mut places) = ([[1, 2, 3], [4, 5, 6]], [0; 6]);
    /// let columns = [LoopDim { size: 2, stride: 1 }, LoopDim { size: 3, stride: 2 }];
    /// // SAFETY: all places are in the array.
    /// unsafe { OutputWriter::PORTABLE.scatter(rows.as_flattened(), places.as_mut_ptr(), columns) };
    /// assert_eq!(places, [1, 4, 2, 5, 3, 6]);
    /// ```
    ///
    /// # Panics
    /// If there are not as many elements as places, or elements have not the size and alignment of an unsigned integer.
    ///
    /// # Safety
    /// - All places may be written, and nobody else uses them meanwhile.
    #[inline]
    pub unsafe fn scatter<T: Copy>(&self, found: &[T], to: *mut T, places: [LoopDim; 2]) {
        assert_eq!(found.len(), places[0].size * places[1].size);
        let size = [1, 2, 4, 8].iter().position(|&size| size == size_of::<T>());
        let size = size.expect("elements have 1, 2, 4 or 8 bytes");
        assert_eq!(align_of::<T>(), [align_of::<u8>(), align_of::<u16>(), align_of::<u32>(), align_of::<u64>()][size]);
        let rows = PackedRows { from: found.as_ptr().cast(), to: to.cast(), places };
        // SAFETY: the ISA as in `write`; the caller's promise.
        unsafe { (self.scatter[size])(rows) }
    }
}

/// # Safety
/// - The machine has the ISA.
unsafe fn write<S: Simd, I: IndexBits>(map: Affine, positions: &[u32], indices: &mut [I]) {
    // SAFETY: the caller's promise; the closure requires nothing.
    unsafe {
        S::assume().vectorize(
            #[inline(always)]
            // Without a multiplication, which takes several operations, in a window and backwards.
            move || match map {
                Affine::IDENTITY => each(positions, indices, |position| position),
                Affine { start, step: 1 } => each(positions, indices, |position| start.wrapping_add(position)),
                Affine { start, step: -1 } => each(positions, indices, |position| start.wrapping_sub(position)),
                _ => each(positions, indices, |position| map.at(position)),
            },
        )
    }
}

/// # Safety
/// - The machine has the ISA.
unsafe fn write_in_place<S: Simd, I: IndexBits>(map: Affine, positions: &mut [I]) {
    // SAFETY: the caller's promise; the closure requires nothing.
    unsafe {
        S::assume().vectorize(
            #[inline(always)]
            move || I::map_in_place(map, positions),
        )
    }
}

/// The plain loop, which the compiler vectorises.
#[inline(always)]
fn each<I: Position>(positions: &[u32], indices: &mut [I], index: impl Fn(u32) -> u32) {
    for part in aligned_parts(indices) {
        for (index_of, &position) in indices[part.clone()].iter_mut().zip(&positions[part]) {
            *index_of = I::of(index(position).into());
        }
    }
}

/// The plain loop of [`each`], in place.
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
