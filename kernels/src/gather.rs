//! Copies strided elements into a small buffer, for loops that vectors cannot load from in place. The tensor is never copied as a whole.
//! These loops have no order and no NaN, so their result cannot depend on the ISA: the compiler vectorises what it can, per
//! target (`multiversion`).

use crate::tile::{Loop, Tile, Walk};
use core::mem::MaybeUninit;
use multiversion::multiversion;

/// The size of the buffer: half of a small L1 cache, so that what is read through it stays too.
pub(crate) const SCRATCH_BYTES: usize = 8192;

/// A buffer for gathered elements.
#[repr(C, align(64))]
pub(crate) struct Scratch([MaybeUninit<u8>; SCRATCH_BYTES]);

impl Scratch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Scratch([const { MaybeUninit::uninit() }; SCRATCH_BYTES])
    }

    #[inline(always)]
    fn elements<T: Copy>(&mut self) -> &mut [MaybeUninit<T>] {
        const { assert!(align_of::<T>() <= 64) };
        let len = SCRATCH_BYTES / size_of::<T>();
        // SAFETY: the bytes are `len` elements long and aligned for them, and need not be initialised.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }

    /// Fills the buffer with as many rows as fit and are left, and tells how many: one element of each lane per step of the
    /// reduced loops, `row * lanes.len() + lane`. No more rows means no more elements.
    ///
    /// # Safety
    /// - Every element that `stretches` reaches from each `from + lane` may be read.
    pub(crate) unsafe fn fill<T: Copy>(
        &mut self,
        stretches: &mut Stretches<'_>,
        from: *const T,
        lanes: &[isize],
    ) -> (*const T, usize) {
        let elements = self.elements::<T>();
        let capacity = elements.len() / lanes.len();
        let mut filled = 0;
        while let Some((offset, rows)) = stretches.next(capacity - filled) {
            let out = &mut elements[filled * lanes.len()..(filled + rows) * lanes.len()];
            // SAFETY: the caller's promise.
            unsafe { gather(out, from.wrapping_offset(offset), stretches.line.stride, lanes) };
            filled += rows;
        }
        (elements.as_ptr().cast(), filled)
    }
}

/// `out[row * lanes.len() + lane] = from[row * stride + lanes[lane]]`.
///
/// # Safety
/// - All of those elements may be read.
#[multiversion(targets("x86_64+avx2"))]
unsafe fn gather<T: Copy>(out: &mut [MaybeUninit<T>], from: *const T, stride: isize, lanes: &[isize]) {
    if let &[lane] = lanes {
        for (row, element) in out.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            element.write(unsafe { *from.wrapping_offset(lane + row as isize * stride) });
        }
        return;
    }
    for (row, out) in out.chunks_exact_mut(lanes.len()).enumerate() {
        let from = from.wrapping_offset(row as isize * stride);
        for (element, &lane) in out.iter_mut().zip(lanes) {
            // SAFETY: the caller's promise.
            element.write(unsafe { *from.wrapping_offset(lane) });
        }
    }
}

/// The reduced loops as stretches of the fastest one, cut to the room that there is.
pub(crate) struct Stretches<'a> {
    slower: Walk<'a>,
    line: Loop,
    /// Where the rest of the current line starts, in elements, and how long it is.
    offset: isize,
    left: usize,
}

impl<'a> Stretches<'a> {
    #[inline(always)]
    pub(crate) fn new(tile: &Tile<'a>) -> Self {
        let (line, slower) = tile.split_reduced();
        Stretches { slower: Walk::new(slower), line, offset: 0, left: 0 }
    }

    /// The offset and length of the next stretch, of at most `room` elements; `None` at the end, or without room.
    #[inline(always)]
    pub(crate) fn next(&mut self, room: usize) -> Option<(isize, usize)> {
        if room == 0 {
            return None;
        }
        if self.left == 0 {
            (self.offset, self.left) = (self.slower.next()?, self.line.size);
        }
        let (offset, len) = (self.offset, room.min(self.left));
        self.offset += len as isize * self.line.stride;
        self.left -= len;
        Some((offset, len))
    }
}
