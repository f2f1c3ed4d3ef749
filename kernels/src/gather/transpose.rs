//! The transposes of many short blocks, so that the same element of each comes to lie side by side. The module above
//! derives them. Knows nothing of orders, of NaN, and of the loops of a call.

use crate::memory::prefetch::Ahead;
use crate::simd::token::{Task, Token};
use crate::simd::transpose::{UNIT, Zip};

/// Blocks of `elements` elements, `step` bytes from one to the next.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    pub(crate) first: *const u8,
    pub(crate) step: isize,
    pub(crate) count: usize,
    pub(crate) elements: usize,
    /// Whether the last element of each block comes first.
    pub(crate) reversed: bool,
    /// What to prefetch meanwhile, if anything: as many bytes as are read from the blocks.
    pub(crate) ahead: Option<Ahead>,
}

/// The longest blocks that are transposed by perfect shuffles, in bytes. See
/// docs/tuning.md#rows-by-perfect-shuffles-3-to-12-or-14-elements-up-to-40-bytes.
const LONGEST_RIFFLED: usize = 40;

/// Whether blocks of `elements` elements are short enough to be transposed by perfect shuffles, if they follow each
/// other.
pub(crate) const fn riffles(elements: usize, size: usize) -> bool {
    matches!(elements, 3..=12 | 14) && elements * size <= LONGEST_RIFFLED
}

impl Blocks {
    /// Writes element `e` of block `n` to place `e * count + n`, in elements of `SIZE` bytes, from `to` on. Outlined,
    /// because it does not depend on orders.
    ///
    /// # Safety
    /// - The blocks may be read, and as many bytes written; there are at least as many as a vector has lanes. They
    ///   follow each other and are short enough for [`riffles`], or a block has at least a [`UNIT`] of bytes.
    #[inline(always)]
    pub(crate) unsafe fn transpose<S: Zip, const SIZE: usize>(self, simd: S, to: *mut u8) {
        #[derive(Clone, Copy)]
        struct Call<S, const SIZE: usize, const RIFFLES: bool> {
            simd: S,
            blocks: Blocks,
            to: *mut u8,
        }
        impl<S: Zip, const SIZE: usize, const RIFFLES: bool> Task for Call<S, SIZE, RIFFLES> {
            type Output = ();

            #[inline(always)]
            unsafe fn run(self) {
                let Call { simd, blocks, to } = self;
                // SAFETY: the caller's promise.
                unsafe {
                    if RIFFLES {
                        blocks.by_riffles::<S, SIZE>(simd, to);
                    } else {
                        blocks.by_units::<S, SIZE>(simd, to);
                    }
                }
            }
        }
        // SAFETY: the caller's promise.
        unsafe {
            if S::RIFFLES && self.step == (self.elements * SIZE) as isize && riffles(self.elements, SIZE) {
                simd.narrow().call(Call::<_, SIZE, true> { simd: simd.narrow(), blocks: self, to });
            } else {
                simd.call(Call::<_, SIZE, false> { simd, blocks: self, to });
            }
        }
    }

    /// By perfect shuffles.
    ///
    /// # Safety
    /// - As for [`Blocks::transpose`], of blocks that follow each other and are short enough for [`riffles`].
    #[inline(always)]
    unsafe fn by_riffles<S: Zip, const SIZE: usize>(self, simd: S, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.elements {
                3 => self.riffle::<S, SIZE, 3, 6>(simd, to),
                4 => self.riffle::<S, SIZE, 4, 4>(simd, to),
                5 => self.riffle::<S, SIZE, 5, 10>(simd, to),
                6 => self.riffle::<S, SIZE, 6, 6>(simd, to),
                7 => self.riffle::<S, SIZE, 7, 14>(simd, to),
                8 => self.riffle::<S, SIZE, 8, 8>(simd, to),
                9 => self.riffle::<S, SIZE, 9, 18>(simd, to),
                10 => self.riffle::<S, SIZE, 10, 10>(simd, to),
                11 => self.riffle::<S, SIZE, 11, 22>(simd, to),
                12 => self.riffle::<S, SIZE, 12, 12>(simd, to),
                _ => self.riffle::<S, SIZE, 14, 14>(simd, to),
            }
        }
    }

    /// 16 bytes at a time, of as many blocks as a vector has lanes.
    ///
    /// # Safety
    /// - As for [`Blocks::transpose`], of blocks of at least a [`UNIT`].
    #[inline(always)]
    unsafe fn by_units<S: Zip, const SIZE: usize>(self, simd: S, to: *mut u8) {
        let Blocks { first, step, count, elements, reversed, mut ahead } = self;
        let (unit, lanes, row) = (UNIT / SIZE, size_of::<S::Bytes>() / SIZE, (count * SIZE) as isize);
        let (to, row) = if reversed { (to.wrapping_offset((elements - 1) as isize * row), -row) } else { (to, row) };
        for n in (0..count).step_by(lanes) {
            // The last blocks overlap the previous ones.
            let n = n.min(count - lanes);
            let mut e = 0;
            while e < elements {
                let start = e.min(elements - unit);
                if let Some(ahead) = &mut ahead {
                    ahead.take(lanes * UNIT);
                }
                let from = first.wrapping_offset(n as isize * step).wrapping_add(start * SIZE);
                let to = to.wrapping_offset(start as isize * row).wrapping_add(n * SIZE);
                // SAFETY: the caller's promise: 16 bytes of some of the blocks.
                unsafe { transpose_unit::<S, SIZE>(simd, from, step, to, row) };
                e += unit;
            }
        }
    }

    /// Transposes `decks` vectors of blocks at a time by perfect shuffles, which the module above derives. The same 16
    /// bytes of all vectors are shuffled among themselves, and have blocks of their own.
    ///
    /// With a constant number of elements, the compiler has shuffles for the plain loop, too, but slower ones.
    ///
    /// # Safety
    /// - As for [`Blocks::transpose`], of blocks of `LEN` elements, which follow each other.
    #[inline(always)]
    unsafe fn riffle<S: Zip, const SIZE: usize, const LEN: usize, const V: usize>(self, simd: S, to: *mut u8) {
        const { assert!((V == LEN || V == 2 * LEN) && V.is_multiple_of(2)) };
        if !const { riffles(LEN, SIZE) } {
            return;
        }
        let lanes = size_of::<S::Bytes>() / SIZE;
        let (decks, mut ahead, last) = (V / LEN, self.ahead, self.count - lanes);
        let mut done = 0;
        while done < self.count {
            if let Some(ahead) = &mut ahead {
                ahead.take(V * size_of::<S::Bytes>());
            }
            // The last blocks overlap the previous ones.
            let blocks = [done.min(last), (done + lanes).min(last)];
            // Each 16 bytes of a vector have the blocks that follow those of the 16 bytes before.
            let place = |n: usize| self.first.wrapping_add(blocks[n / LEN] * LEN * SIZE + n % LEN * UNIT);
            // SAFETY: the caller's promise.
            let mut v = [unsafe { simd.load_parts(place(0), (LEN * UNIT) as isize) }; V];
            let mut n = 1;
            while n < V {
                // SAFETY: as above.
                v[n] = unsafe { simd.load_parts(place(n), (LEN * UNIT) as isize) };
                n += 1;
            }
            let mut left = decks * UNIT / SIZE;
            while left > 1 {
                v = riffled::<S, SIZE, V>(simd, v);
                left /= 2;
            }
            let mut n = 0;
            while n < V {
                let element = if self.reversed { LEN - 1 - n / decks } else { n / decks };
                // SAFETY: the caller's promise.
                unsafe { simd.store(to.wrapping_add((element * self.count + blocks[n % decks]) * SIZE), v[n]) };
                n += 1;
            }
            done += decks * lanes;
        }
    }
}

/// A perfect shuffle: the first half of the vectors, interleaved with the second half.
#[inline(always)]
fn riffled<S: Zip, const SIZE: usize, const V: usize>(simd: S, v: [S::Bytes; V]) -> [S::Bytes; V] {
    let mut riffled = v;
    let mut n = 0;
    while n < V / 2 {
        (riffled[2 * n], riffled[2 * n + 1]) = simd.zip::<SIZE>(v[n], v[n + V / 2]);
        n += 1;
    }
    riffled
}

/// Transposes 16 bytes of as many blocks as a vector has lanes. Each element is a vector then, `row` bytes after the
/// one before.
///
/// Each round of `zip`s moves one more bit of the number of a block into the number of its lane. Rounds are written
/// out, two at a time, so that vectors stay in registers: loops over an array would go through memory.
///
/// # Safety
/// - It may be read, and the vectors written.
#[inline(always)]
unsafe fn transpose_unit<S: Zip, const SIZE: usize>(simd: S, from: *const u8, step: isize, to: *mut u8, row: isize) {
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
    row: isize,
}

impl<S: Zip, const SIZE: usize> Unit<S, SIZE> {
    /// Block `n` in the first 16 bytes. Each further 16 bytes are of the block that is as many further on as 16 bytes
    /// have elements.
    #[inline(always)]
    unsafe fn load(self, n: isize) -> S::Bytes {
        // SAFETY: the promise of the caller of `transpose_unit`.
        unsafe { self.simd.load_parts(self.from.wrapping_offset(n * self.step), (UNIT / SIZE) as isize * self.step) }
    }

    /// Blocks `first`, `first + apart`, and so on.
    #[inline(always)]
    unsafe fn load_four(self, first: isize, apart: isize) -> [S::Bytes; 4] {
        // SAFETY: as above.
        unsafe {
            [self.load(first), self.load(first + apart), self.load(first + 2 * apart), self.load(first + 3 * apart)]
        }
    }

    #[inline(always)]
    unsafe fn store(self, n: isize, v: S::Bytes) {
        // SAFETY: as above.
        unsafe { self.simd.store(self.to.wrapping_offset(n * self.row), v) };
    }

    #[inline(always)]
    unsafe fn store_four(self, first: isize, [a, b, c, d]: [S::Bytes; 4]) {
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
