//! The transposes of many short blocks, so that the same element of each comes to lie side by side. The module above
//! derives them. Knows nothing of orders, of NaN, and of the loops of a call.

use crate::memory::prefetch::PrefetchCursor;
use crate::simd::transpose::{BLOCK_BYTES, TransposeOps};

/// Blocks of `elements` elements, `step` bytes from one to the next.
#[derive(Clone, Copy)]
pub(crate) struct TransposeSource {
    pub(crate) first: *const u8,
    pub(crate) step: isize,
    pub(crate) count: usize,
    pub(crate) elements: usize,
    /// Whether the last element of each block comes first.
    pub(crate) reversed: bool,
    /// What to prefetch meanwhile, if anything: as many bytes as are read from the blocks.
    pub(crate) prefetch_cursor: Option<PrefetchCursor>,
}

/// The longest blocks that are transposed by perfect shuffles, in bytes. See
/// docs/tuning.md#rows-by-perfect-shuffles-3-to-12-or-14-elements-up-to-40-bytes.
const MAX_SHUFFLED_BYTES: usize = 40;

/// Whether blocks of `elements` elements are short enough to be transposed by perfect shuffles, if they follow each
/// other.
pub(crate) const fn is_shuffled(elements: usize, size: usize) -> bool {
    matches!(elements, 3..=12 | 14) && elements * size <= MAX_SHUFFLED_BYTES
}

impl TransposeSource {
    /// Writes element `e` of block `n` to place `e * count + n`, in elements of `SIZE` bytes, from `to` on. Outlined,
    /// because it does not depend on orders.
    ///
    /// # Safety
    /// - The blocks may be read, and as many bytes written; there are at least as many as a vector has lanes. They
    ///   follow each other and are short enough for [`is_shuffled`], or a block has at least a [`BLOCK_BYTES`] of
    ///   bytes.
    #[inline(always)]
    pub(crate) unsafe fn transpose<S: TransposeOps, const SIZE: usize>(self, simd: S, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            if const { S::TUNING.has_shuffles }
                && self.step == (self.elements * SIZE) as isize
                && is_shuffled(self.elements, SIZE)
            {
                self.shuffle::<_, SIZE>(S::HalfWidth::from(simd), to);
            } else {
                simd.call_outlined(
                    #[inline(always)]
                    move || self.by_blocks::<S, SIZE>(simd, to, (self.count * SIZE) as isize),
                );
            }
        }
    }

    /// [`TransposeSource::transpose`] of blocks that are short and follow each other. A function of its own: tokens
    /// with the same vectors of half the width share the outlined one.
    #[inline(always)]
    unsafe fn shuffle<S: TransposeOps, const SIZE: usize>(self, simd: S, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            simd.call_outlined(
                #[inline(always)]
                move || match self.elements {
                    3 => self.transpose_perfect_shuffle::<S, SIZE, 3, 6>(simd, to),
                    4 => self.transpose_perfect_shuffle::<S, SIZE, 4, 4>(simd, to),
                    5 => self.transpose_perfect_shuffle::<S, SIZE, 5, 10>(simd, to),
                    6 => self.transpose_perfect_shuffle::<S, SIZE, 6, 6>(simd, to),
                    7 => self.transpose_perfect_shuffle::<S, SIZE, 7, 14>(simd, to),
                    8 => self.transpose_perfect_shuffle::<S, SIZE, 8, 8>(simd, to),
                    9 => self.transpose_perfect_shuffle::<S, SIZE, 9, 18>(simd, to),
                    10 => self.transpose_perfect_shuffle::<S, SIZE, 10, 10>(simd, to),
                    11 => self.transpose_perfect_shuffle::<S, SIZE, 11, 22>(simd, to),
                    12 => self.transpose_perfect_shuffle::<S, SIZE, 12, 12>(simd, to),
                    _ => self.transpose_perfect_shuffle::<S, SIZE, 14, 14>(simd, to),
                },
            );
        }
    }

    /// The same of blocks of `LEN` elements, `groups` vectors of blocks at a time: the module above derives it. The
    /// same 16 bytes of all vectors are shuffled among themselves, and have blocks of their own.
    ///
    /// With a constant number of elements, the compiler has shuffles for the plain loop, too, but slower ones.
    #[inline(always)]
    unsafe fn transpose_perfect_shuffle<S: TransposeOps, const SIZE: usize, const LEN: usize, const V: usize>(
        self,
        simd: S,
        to: *mut u8,
    ) {
        const { assert!((V == LEN || V == 2 * LEN) && V.is_multiple_of(2)) };
        if !const { is_shuffled(LEN, SIZE) } {
            return;
        }
        let lanes = size_of::<S::Bytes>() / SIZE;
        let (groups, mut prefetch_cursor, last) = (V / LEN, self.prefetch_cursor, self.count - lanes);
        let mut done = 0;
        while done < self.count {
            if let Some(prefetch_cursor) = &mut prefetch_cursor {
                prefetch_cursor.take(V * size_of::<S::Bytes>());
            }
            // The last blocks overlap the previous ones.
            let blocks = [done.min(last), (done + lanes).min(last)];
            // Each 16 bytes of a vector have the blocks that follow those of the 16 bytes before.
            let place = |n: usize| self.first.wrapping_add(blocks[n / LEN] * LEN * SIZE + n % LEN * BLOCK_BYTES);
            // SAFETY: the caller's promise.
            let mut v = [unsafe { simd.load_blocks_strided(place(0), (LEN * BLOCK_BYTES) as isize) }; V];
            let mut n = 1;
            while n < V {
                // SAFETY: as above.
                v[n] = unsafe { simd.load_blocks_strided(place(n), (LEN * BLOCK_BYTES) as isize) };
                n += 1;
            }
            let mut left = groups * BLOCK_BYTES / SIZE;
            while left > 1 {
                // The first half of the vectors, interleaved with the second half.
                let halves = v;
                let mut n = 0;
                while n < V / 2 {
                    (v[2 * n], v[2 * n + 1]) = simd.interleave_lo_hi::<SIZE>(halves[n], halves[n + V / 2]);
                    n += 1;
                }
                left /= 2;
            }
            let mut n = 0;
            while n < V {
                let element = if self.reversed { LEN - 1 - n / groups } else { n / groups };
                // SAFETY: the caller's promise.
                unsafe {
                    to.wrapping_add((element * self.count + blocks[n % groups]) * SIZE)
                        .cast::<S::Bytes>()
                        .write_unaligned(v[n])
                };
                n += 1;
            }
            done += groups * lanes;
        }
    }

    /// Writes element `e` of block `n` to place `e * step + n`, from `to` on.
    ///
    /// # Safety
    /// - The blocks may be read, and those places written; there are at least as many blocks as a vector has lanes, and
    ///   each has at least a [`BLOCK_BYTES`] of bytes.
    #[inline(always)]
    pub(crate) unsafe fn transpose_to<S: TransposeOps, B>(self, simd: S, to: *mut B, step: isize) {
        let (to, row) = (to.cast(), step * size_of::<B>() as isize);
        // SAFETY: the caller's promise.
        with_bits!(size_of::<B>(), B => unsafe { self.by_blocks::<S, { size_of::<B>() }>(simd, to, row) });
    }

    /// 16 bytes at a time, of as many blocks as a vector has lanes. From one element to the next there are `row` bytes
    /// between the places of each block. The caller promises what that of [`TransposeSource::transpose_to`] does.
    #[inline(always)]
    unsafe fn by_blocks<S: TransposeOps, const SIZE: usize>(self, simd: S, to: *mut u8, row: isize) {
        let TransposeSource { first, step, count, elements, reversed, mut prefetch_cursor } = self;
        let (block, lanes) = (BLOCK_BYTES / SIZE, size_of::<S::Bytes>() / SIZE);
        let (to, row) = if reversed { (to.wrapping_offset((elements - 1) as isize * row), -row) } else { (to, row) };
        for n in (0..count).step_by(lanes) {
            // The last blocks overlap the previous ones.
            let n = n.min(count - lanes);
            let mut e = 0;
            while e < elements {
                let start = e.min(elements - block);
                if let Some(prefetch_cursor) = &mut prefetch_cursor {
                    prefetch_cursor.take(lanes * BLOCK_BYTES);
                }
                let from = first.wrapping_offset(n as isize * step).wrapping_add(start * SIZE);
                let to = to.wrapping_offset(start as isize * row).wrapping_add(n * SIZE);
                // SAFETY: the caller's promise: 16 bytes of some of the blocks.
                unsafe { BlockTransposer::<S, SIZE> { simd, from, step, to, row }.transpose() };
                e += block;
            }
        }
    }
}

/// 16 bytes of as many blocks as a vector has lanes, `step` bytes from one to the next. Each element is to be a vector,
/// `row` bytes after the one before. Its methods ask of their callers that they may be read, and the vectors written.
#[derive(Clone, Copy)]
struct BlockTransposer<S, const SIZE: usize> {
    simd: S,
    from: *const u8,
    step: isize,
    to: *mut u8,
    row: isize,
}

impl<S: TransposeOps, const SIZE: usize> BlockTransposer<S, SIZE> {
    /// Each round of interleaving moves one more bit of the number of a block into the number of its lane. Rounds are
    /// written out, two at a time, so that vectors stay in registers: loops over an array would go through memory.
    #[inline(always)]
    unsafe fn transpose(self) {
        // SAFETY: the caller's promise.
        unsafe {
            match SIZE {
                1 => {
                    let a = self.interleave_four(self.load_four(0, 4));
                    let b = self.interleave_four(self.load_four(1, 4));
                    let c = self.interleave_four(self.load_four(2, 4));
                    let d = self.interleave_four(self.load_four(3, 4));
                    self.store_four(0, self.interleave_four([a[0], b[0], c[0], d[0]]));
                    self.store_four(4, self.interleave_four([a[1], b[1], c[1], d[1]]));
                    self.store_four(8, self.interleave_four([a[2], b[2], c[2], d[2]]));
                    self.store_four(12, self.interleave_four([a[3], b[3], c[3], d[3]]));
                }
                2 => {
                    let (a, b) = (self.load_four(0, 1), self.load_four(4, 1));
                    let p = self.simd.interleave_lo_hi::<SIZE>(a[0], b[0]);
                    let q = self.simd.interleave_lo_hi::<SIZE>(a[1], b[1]);
                    let r = self.simd.interleave_lo_hi::<SIZE>(a[2], b[2]);
                    let s = self.simd.interleave_lo_hi::<SIZE>(a[3], b[3]);
                    self.store_four(0, self.interleave_four([p.0, q.0, r.0, s.0]));
                    self.store_four(4, self.interleave_four([p.1, q.1, r.1, s.1]));
                }
                4 => self.store_four(0, self.interleave_four(self.load_four(0, 1))),
                _ => {
                    let (a, b) = self.simd.interleave_lo_hi::<SIZE>(self.load(0), self.load(1));
                    self.store(0, a);
                    self.store(1, b);
                }
            }
        }
    }

    /// Block `n` in the first 16 bytes. Each further 16 bytes are of the block that is as many further on as 16 bytes
    /// have elements.
    #[inline(always)]
    unsafe fn load(self, n: isize) -> S::Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            self.simd.load_blocks_strided(
                self.from.wrapping_offset(n * self.step),
                (BLOCK_BYTES / SIZE) as isize * self.step,
            )
        }
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
        unsafe { self.to.wrapping_offset(n * self.row).cast::<S::Bytes>().write_unaligned(v) };
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
    fn interleave_four(self, [a, b, c, d]: [S::Bytes; 4]) -> [S::Bytes; 4] {
        let (p, q) = (self.simd.interleave_lo_hi::<SIZE>(a, c), self.simd.interleave_lo_hi::<SIZE>(b, d));
        let (r, s) = (self.simd.interleave_lo_hi::<SIZE>(p.0, q.0), self.simd.interleave_lo_hi::<SIZE>(p.1, q.1));
        [r.0, r.1, s.0, s.1]
    }
}
