//! What was found, to places that are not neighbours. Knows nothing of orders and indices: it moves elements of a size.
//!
//! ```text
//! if neighbouring places belong to different rows:
//!     transpose the rows, a vector of places at a time; a few packed rows, by interleaving
//! else
//!     for each row, for each element: write it; to every second place, by stores under a mask, if there are any
//! ```
//!
//! A call has a tile of some kilobytes, so that cache lines are complete before they leave L1 or L2.

use crate::gather::interleave_values;
use crate::gather::transpose::TransposeSource;
use crate::memory::args::LoopDim;
use crate::simd::token::{Simd, SimdOp};
use crate::simd::transpose::{CHUNK_BYTES, TransposeOps};
use core::ops::Range;
use core::slice::{from_raw_parts, from_raw_parts_mut};

/// The loops of an ISA for elements of 1, 2, 4 and 8 bytes.
pub(crate) type ScatterLoops = [unsafe fn(rows: PackedRows); 4];

/// The loops of an ISA.
pub(crate) const fn loops<S: TransposeOps>() -> ScatterLoops {
    [enter::<S, u8>, enter::<S, u16>, enter::<S, u32>, enter::<S, u64>]
}

/// Packed rows, and the places of their elements: row by row, in elements.
#[derive(Clone, Copy)]
pub(crate) struct PackedRows {
    pub(crate) from: *const (),
    pub(crate) to: *mut (),
    pub(crate) places: [LoopDim; 2],
}

/// # Safety
/// - The machine has the ISA.
/// - As for [`Scatter`].
unsafe fn enter<S: TransposeOps, B: Copy>(rows: PackedRows) {
    let PackedRows { from, to, places: [outer, inner] } = rows;
    let (from, to) = (from.cast::<B>(), to.cast::<B>());
    // SAFETY: the caller promises the ISA.
    let simd = unsafe { S::assume() };
    // SAFETY: the caller promises the elements and their places.
    unsafe {
        if inner.stride == 2 && outer.stride != 1 {
            simd.vectorize(EverySecond(Scatter { simd, from, to, outer, inner }));
        } else {
            // Copies gain nothing from wider vectors; and where an ISA can scatter, the compiler does, which takes
            // longer.
            let simd = S::HalfWidth::from(simd);
            simd.vectorize(Scatter { simd, from, to, outer, inner });
        }
    }
}

/// To run it is safe if there are as many elements as places, and the places may be written.
struct Scatter<S, B> {
    simd: S,
    from: *const B,
    to: *mut B,
    outer: LoopDim,
    inner: LoopDim,
}

impl<S, B> Scatter<S, B> {
    /// The elements of a row, and where the first of them goes.
    #[inline(always)]
    fn row(&self, o: usize) -> (*const B, *mut B) {
        (self.from.wrapping_add(o * self.inner.size), self.to.wrapping_offset(o as isize * self.outer.stride))
    }
}

impl<S: TransposeOps, B: Copy> SimdOp for Scatter<S, B> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let Scatter { simd, from, to, outer, inner } = self;
        let (size, lanes) = const { (size_of::<B>(), size_of::<S::Bytes>() / size_of::<B>()) };
        // SAFETY: the caller promises all elements and places. Each row is a run that is transposed, a chunk or longer;
        // or places are as many neighbours as elements; or each row has its own.
        unsafe {
            if outer.stride == 1 && outer.size >= lanes && inner.size * size >= CHUNK_BYTES {
                let rows = TransposeSource {
                    first: from.cast(),
                    step: (inner.size * size) as isize,
                    count: outer.size,
                    elements: inner.size,
                    reversed: false,
                    prefetch_cursor: None,
                };
                rows.transpose_to(simd, to, inner.stride);
            } else if outer.stride == 1 && inner.stride == outer.size as isize {
                let len = outer.size * inner.size;
                let (to, from) = (from_raw_parts_mut(to.cast(), len), from_raw_parts(from.cast(), len));
                interleave_values::<S, B>(simd, to, from, outer.size);
            } else {
                for o in 0..outer.size {
                    let (from, to) = self.row(o);
                    spread(from, to, 0..inner.size, inner.stride);
                }
            }
        }
    }
}

/// A [`Scatter`] to every second place of each row: that of index types which are half as wide as what the caller keeps
/// them in.
struct EverySecond<S, B>(Scatter<S, B>);

impl<S: TransposeOps, B: Copy> SimdOp for EverySecond<S, B> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let Scatter { simd, outer, inner, .. } = self.0;
        for o in 0..outer.size {
            let (from, to) = self.0.row(o);
            // SAFETY: the caller promises the elements and the places of this row, the first ones, and then the others.
            unsafe {
                let done = simd.write_every_second(from, to, inner.size);
                spread(from, to, done..inner.size, 2);
            }
        }
    }
}

/// # Safety
/// - As for [`Scatter`], of these elements of a row.
#[inline(always)]
unsafe fn spread<B: Copy>(from: *const B, to: *mut B, elements: Range<usize>, stride: isize) {
    for n in elements {
        // SAFETY: one of the elements that the caller promises, and its place.
        unsafe { to.wrapping_offset(n as isize * stride).write(from.add(n).read()) };
    }
}
