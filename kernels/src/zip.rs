//! Blocks of memory to lanes: the transposition of many short blocks, so that the same element of each comes to lie side by side. It has no order and no NaN,
//! and knows nothing of tiles; a unit is sixteen bytes of as many blocks as a vector has lanes.

use crate::lanes::{Task, Token};
use crate::prefetch::prefetch;

/// Bytes of a block that are taken at a time.
pub(crate) const UNIT: usize = 16;

/// What a transposition is made of, whatever the elements are.
pub(crate) trait Zip: Token {
    /// A vector.
    type Bytes: Copy;

    /// 16 bytes from each of as many places as a vector holds, one `step` bytes after the other.
    ///
    /// # Safety
    /// - They may be read.
    unsafe fn load_parts(self, at: *const u8, step: isize) -> Self::Bytes;

    /// # Safety
    /// - A vector may be written there.
    unsafe fn store(self, to: *mut u8, v: Self::Bytes);

    /// In each 16 bytes, elements of `SIZE` bytes of `a` and `b` in turn: those of the lower half, and those of the upper one.
    fn zip<const SIZE: usize>(self, a: Self::Bytes, b: Self::Bytes) -> (Self::Bytes, Self::Bytes);
}

/// Blocks of `elements` elements, `step` bytes from one to the next.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    pub(crate) first: *const u8,
    pub(crate) step: isize,
    pub(crate) count: usize,
    pub(crate) elements: usize,
    /// What to ask for meanwhile: as many bytes as are taken from the blocks; null for nothing.
    pub(crate) ahead: *const u8,
}

impl Blocks {
    /// Writes element `e` of block `n` to place `e * count + n`, in elements of `SIZE` bytes, from `to` on. A call, because it does not depend on orders.
    ///
    /// # Safety
    /// - The blocks may be read, and as many bytes written; a block has at least a [`UNIT`] of bytes, and there are some whole vectors of blocks.
    #[inline(always)]
    pub(crate) unsafe fn transpose<S: Zip, const SIZE: usize>(self, simd: S, to: *mut u8) {
        #[derive(Clone, Copy)]
        struct Call<S, const SIZE: usize> {
            simd: S,
            blocks: Blocks,
            to: *mut u8,
        }
        impl<S: Zip, const SIZE: usize> Task for Call<S, SIZE> {
            type Output = ();

            #[inline(always)]
            fn run(self) {
                let Blocks { first, step, count, elements, mut ahead } = self.blocks;
                let (unit, lanes) = (UNIT / SIZE, size_of::<S::Bytes>() / SIZE);
                for n in (0..count).step_by(lanes) {
                    let mut e = 0;
                    while e < elements {
                        // The last unit reaches back.
                        let start = e.min(elements - unit);
                        if !ahead.is_null() {
                            prefetch(ahead, lanes * UNIT);
                            ahead = ahead.wrapping_add(lanes * UNIT);
                        }
                        let from = first.wrapping_offset(n as isize * step).wrapping_add(start * SIZE);
                        let to = self.to.wrapping_add((start * count + n) * SIZE);
                        // SAFETY: the promise of the caller of `transpose`, where the only `Call` is made: a unit of some of the blocks.
                        unsafe { transpose_unit::<S, SIZE>(self.simd, from, step, to, count * SIZE) };
                        e += unit;
                    }
                }
            }
        }
        simd.call(Call::<S, SIZE> { simd, blocks: self, to });
    }
}

/// One unit of as many blocks as a vector has lanes; each element of the unit is a vector then, `row` bytes after the one before.
///
/// Each round of zips brings one more bit of the number of a block into the number of its lane. Two rounds at a time, and written out: as loops over an array,
/// they went through memory, and 21 rows of 3 u8 ran at 12 GB/s instead of 33. (Zen 5, AVX-512.)
///
/// # Safety
/// - It may be read, and the vectors written.
#[inline(always)]
unsafe fn transpose_unit<S: Zip, const SIZE: usize>(simd: S, from: *const u8, step: isize, to: *mut u8, row: usize) {
    let unit = Unit::<S, SIZE> { simd, from, step, to, row };
    // SAFETY: the caller's promise.
    unsafe {
        match SIZE {
            1 => {
                let (a, b, c, d) =
                    (unit.load_four(0, 4), unit.load_four(1, 4), unit.load_four(2, 4), unit.load_four(3, 4));
                let (a, b, c, d) = (unit.zip_four(a), unit.zip_four(b), unit.zip_four(c), unit.zip_four(d));
                unit.store_four(0, unit.zip_four([a[0], b[0], c[0], d[0]]));
                unit.store_four(4, unit.zip_four([a[1], b[1], c[1], d[1]]));
                unit.store_four(8, unit.zip_four([a[2], b[2], c[2], d[2]]));
                unit.store_four(12, unit.zip_four([a[3], b[3], c[3], d[3]]));
            }
            2 => {
                let (a, b) = (unit.load_four(0, 1), unit.load_four(4, 1));
                let (p, q) = (simd.zip::<SIZE>(a[0], b[0]), simd.zip::<SIZE>(a[1], b[1]));
                let (r, s) = (simd.zip::<SIZE>(a[2], b[2]), simd.zip::<SIZE>(a[3], b[3]));
                unit.store_four(0, unit.zip_four([p.0, q.0, r.0, s.0]));
                unit.store_four(4, unit.zip_four([p.1, q.1, r.1, s.1]));
            }
            4 => unit.store_four(0, unit.zip_four(unit.load_four(0, 1))),
            _ => {
                let (a, b) = simd.zip::<SIZE>(unit.load(0), unit.load(1));
                unit.store(0, a);
                unit.store(1, b);
            }
        }
    }
}

/// What [`transpose_unit`] takes.
#[derive(Clone, Copy)]
struct Unit<S, const SIZE: usize> {
    simd: S,
    from: *const u8,
    step: isize,
    to: *mut u8,
    row: usize,
}

impl<S: Zip, const SIZE: usize> Unit<S, SIZE> {
    /// Block `n` in the first sixteen bytes, and in the others those that are as many further on as there are elements in them.
    #[inline(always)]
    unsafe fn load(self, n: isize) -> S::Bytes {
        // SAFETY: the promise of the caller of `transpose_unit`.
        unsafe { self.simd.load_parts(self.from.wrapping_offset(n * self.step), (UNIT / SIZE) as isize * self.step) }
    }

    #[inline(always)]
    unsafe fn load_four(self, first: isize, apart: isize) -> [S::Bytes; 4] {
        // SAFETY: as above.
        unsafe {
            [self.load(first), self.load(first + apart), self.load(first + 2 * apart), self.load(first + 3 * apart)]
        }
    }

    #[inline(always)]
    unsafe fn store(self, n: usize, v: S::Bytes) {
        // SAFETY: as above.
        unsafe { self.simd.store(self.to.wrapping_add(n * self.row), v) };
    }

    #[inline(always)]
    unsafe fn store_four(self, first: usize, [a, b, c, d]: [S::Bytes; 4]) {
        // SAFETY: as above.
        unsafe {
            self.store(first, a);
            self.store(first + 1, b);
            self.store(first + 2, c);
            self.store(first + 3, d);
        }
    }

    /// Two rounds of four vectors.
    #[inline(always)]
    fn zip_four(self, [a, b, c, d]: [S::Bytes; 4]) -> [S::Bytes; 4] {
        let (p, q) = (self.simd.zip::<SIZE>(a, c), self.simd.zip::<SIZE>(b, d));
        let (r, s) = (self.simd.zip::<SIZE>(p.0, q.0), self.simd.zip::<SIZE>(p.1, q.1));
        [r.0, r.1, s.0, s.1]
    }
}
