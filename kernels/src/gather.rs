//! Copies strided elements into a small buffer, for the strategies that cannot load vectors where the elements are. These loops
//! have no order and no NaN, so their result cannot depend on the ISA: the compiler vectorises what it can, per target
//! (`multiversion`).

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
        Scratch([MaybeUninit::uninit(); SCRATCH_BYTES])
    }

    /// The buffer as elements. They are plain numbers of a power of two bytes up to eight: the buffer is aligned for each.
    #[inline(always)]
    pub(crate) fn elements<T: Copy>(&mut self) -> &mut [MaybeUninit<T>] {
        const { assert!(align_of::<T>() <= 64) };
        let len = SCRATCH_BYTES / size_of::<T>();
        // SAFETY: the bytes are `len` elements long and aligned for them, and need not be initialised.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }
}

/// Copies one line: `out[n] = from[n * stride]`.
///
/// # Safety
/// - Each `from + n * stride`, for `n` below `out.len()`, may be read.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) unsafe fn gather_line<T: Copy>(out: &mut [MaybeUninit<T>], from: *const T, stride: isize) {
    for (n, element) in out.iter_mut().enumerate() {
        // SAFETY: the caller promises that this element may be read.
        element.write(unsafe { *from.offset(n as isize * stride) });
    }
}

/// Copies a block of lines, of one element per lane: `out[row][lane] = from[row * stride + lanes[lane]]`.
///
/// # Safety
/// - Each `from + row * stride + lanes[lane]`, for each row in `out`, may be read.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) unsafe fn gather_block<T: Copy>(out: &mut [MaybeUninit<T>], from: *const T, stride: isize, lanes: &[isize]) {
    for (row, out) in out.chunks_exact_mut(lanes.len()).enumerate() {
        let from = from.wrapping_offset(row as isize * stride);
        for (element, &lane) in out.iter_mut().zip(lanes) {
            // SAFETY: the caller promises that this element may be read.
            element.write(unsafe { *from.wrapping_offset(lane) });
        }
    }
}
