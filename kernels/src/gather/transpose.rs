//! The transposes of many short runs, so that the same element of each comes to lie side by side. The module above
//! derives them. Knows nothing of orders, of NaN, and of the loops of a call.

use crate::prefetch::PrefetchCursor;
use crate::simd::transpose::{CHUNK_BYTES, TransposeOps};

/// Runs of `elements` elements, `step` bytes from one to the next.
#[derive(Clone, Copy)]
pub(crate) struct TransposeSource {
    pub(crate) first: *const u8,
    pub(crate) step: isize,
    pub(crate) count: usize,
    pub(crate) elements: usize,
    /// Whether the last element of each run comes first.
    pub(crate) reversed: bool,
    /// What to prefetch meanwhile, if anything: as many bytes as are read from the runs.
    pub(crate) prefetch_cursor: Option<PrefetchCursor>,
}

/// The longest runs that are transposed by perfect shuffles, in bytes. See docs/tuning.md#max_shuffled_bytes.
const MAX_SHUFFLED_BYTES: usize = 40;

/// Whether runs of `elements` elements are short enough to be transposed by perfect shuffles, if they follow each
/// other.
pub(crate) const fn is_shuffled(elements: usize, size: usize) -> bool {
    matches!(elements, 3..=12 | 14) && elements * size <= MAX_SHUFFLED_BYTES
}

impl TransposeSource {
    /// Writes element `e` of run `n` to place `e * count + n`, in elements of `SIZE` bytes, from `to` on. Outlined,
    /// because it does not depend on orders.
    ///
    /// # Safety
    /// - The runs may be read, and as many bytes written; there are at least as many as a vector has lanes. They
    ///   follow each other and are short enough for [`is_shuffled`], or a run has at least [`CHUNK_BYTES`].
    #[inline(always)]
    pub(crate) unsafe fn transpose<S: TransposeOps, const SIZE: usize>(self, simd: S, to: *mut u8) {
        // SAFETY: the caller promises runs that one of both takes: short ones that follow each other, or whole chunks.
        unsafe {
            if const { S::TUNING.has_instructions }
                && self.step == (self.elements * SIZE) as isize
                && is_shuffled(self.elements, SIZE)
            {
                self.by_shuffles::<_, SIZE>(S::HalfWidth::from(simd), to);
            } else {
                simd.call_outlined(
                    #[inline(always)]
                    move || self.by_chunks::<S, SIZE>(simd, to, (self.count * SIZE) as isize),
                );
            }
        }
    }

    /// [`TransposeSource::transpose`] of runs that are short and follow each other. A function of its own: tokens
    /// with the same vectors of half the width share the outlined one.
    ///
    /// # Safety
    /// - As for [`TransposeSource::transpose`], and the runs are such.
    #[inline(always)]
    unsafe fn by_shuffles<S: TransposeOps, const SIZE: usize>(self, simd: S, to: *mut u8) {
        // SAFETY: the caller promises runs of one of the lengths for which [`is_shuffled`], and each has its function.
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

    /// [`TransposeSource::transpose`] of runs of `LEN` elements, `groups` vectors of runs at a time: the module
    /// above derives it. The same 16 bytes of all vectors are shuffled among themselves, and have runs of their own.
    ///
    /// With a constant number of elements, the compiler has shuffles for the plain loop, too, but slower ones.
    ///
    /// # Safety
    /// - As for [`TransposeSource::by_shuffles`]; runs have `LEN` elements.
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
            // The last runs overlap the previous ones.
            let runs = [done.min(last), (done + lanes).min(last)];
            // Each 16 bytes of a vector have the runs that follow those of the 16 bytes before.
            let place = |n: usize| self.first.wrapping_add(runs[n / LEN] * LEN * SIZE + n % LEN * CHUNK_BYTES);
            // SAFETY: `LEN` chunks for each 16 bytes of a vector are as many runs as those have elements, and as many
            // runs as a vector has lanes begin at each of `runs`.
            let mut v = [unsafe { simd.load_chunks_strided(place(0), (LEN * CHUNK_BYTES) as isize) }; V];
            let mut n = 1;
            while n < V {
                // SAFETY: chunk `n % LEN` of each of those.
                v[n] = unsafe { simd.load_chunks_strided(place(n), (LEN * CHUNK_BYTES) as isize) };
                n += 1;
            }
            shuffle::<S, SIZE, V>(simd, &mut v, (groups * CHUNK_BYTES / SIZE).ilog2());
            let mut n = 0;
            while n < V {
                let element = if self.reversed { LEN - 1 - n / groups } else { n / groups };
                // SAFETY: a vector of those places that one element of all runs has.
                unsafe {
                    to.wrapping_add((element * self.count + runs[n % groups]) * SIZE)
                        .cast::<S::Bytes>()
                        .write_unaligned(v[n])
                };
                n += 1;
            }
            done += groups * lanes;
        }
    }

    /// Writes element `e` of run `n` to place `e * step + n`, from `to` on.
    ///
    /// # Safety
    /// - The runs may be read, and those places written; there are at least as many runs as a vector has lanes, and
    ///   each has at least [`CHUNK_BYTES`].
    #[inline(always)]
    pub(crate) unsafe fn transpose_to<S: TransposeOps, B>(self, simd: S, to: *mut B, step: isize) {
        let (to, row) = (to.cast(), step * size_of::<B>() as isize);
        // SAFETY: the caller promises the runs, and the places of each element.
        with_bits!(size_of::<B>(), B => unsafe { self.by_chunks::<S, { size_of::<B>() }>(simd, to, row) });
    }

    /// 16 bytes at a time, of as many runs as a vector has lanes. From one element to the next there are `row` bytes
    /// between the places of each run.
    ///
    /// # Safety
    /// - As for [`TransposeSource::transpose_to`].
    #[inline(always)]
    unsafe fn by_chunks<S: TransposeOps, const SIZE: usize>(self, simd: S, to: *mut u8, row: isize) {
        let TransposeSource { first, step, count, elements, reversed, mut prefetch_cursor } = self;
        let (chunk, lanes) = (CHUNK_BYTES / SIZE, size_of::<S::Bytes>() / SIZE);
        let (to, row) = if reversed { (to.wrapping_offset((elements - 1) as isize * row), -row) } else { (to, row) };
        for n in (0..count).step_by(lanes) {
            // The last runs overlap the previous ones.
            let n = n.min(count - lanes);
            let mut e = 0;
            while e < elements {
                let start = e.min(elements - chunk);
                if let Some(prefetch_cursor) = &mut prefetch_cursor {
                    prefetch_cursor.take(lanes * CHUNK_BYTES);
                }
                let from = first.wrapping_offset(n as isize * step).wrapping_add(start * SIZE);
                let to = to.wrapping_offset(start as isize * row).wrapping_add(n * SIZE);
                let chunks = ChunkTransposer { from, step, to, row };
                // SAFETY: a chunk of each of as many runs as a vector has lanes: `n` and `start` leave as many.
                unsafe {
                    match SIZE {
                        1 => chunks.transpose::<S, SIZE, 16>(simd),
                        2 => chunks.transpose::<S, SIZE, 8>(simd),
                        4 => chunks.transpose::<S, SIZE, 4>(simd),
                        _ => chunks.transpose::<S, SIZE, 2>(simd),
                    }
                };
                e += chunk;
            }
        }
    }
}

/// Some rounds of a perfect shuffle of `V` vectors: the first half of them, interleaved with the second half.
#[inline(always)]
fn shuffle<S: TransposeOps, const SIZE: usize, const V: usize>(simd: S, v: &mut [S::Bytes; V], rounds: u32) {
    let mut round = 0;
    while round < rounds {
        let halves = *v;
        let mut n = 0;
        while n < V / 2 {
            (v[2 * n], v[2 * n + 1]) = simd.interleave_lo_hi::<SIZE>(halves[n], halves[n + V / 2]);
            n += 1;
        }
        round += 1;
    }
}

/// 16 bytes of as many runs as a vector has lanes, `step` bytes from one to the next. Each element is to be a vector,
/// `row` bytes after the one before.
struct ChunkTransposer {
    from: *const u8,
    step: isize,
    to: *mut u8,
    row: isize,
}

impl ChunkTransposer {
    /// Each round of interleaving moves one more bit of the number of a run into the number of its lane. There are
    /// `V` elements.
    ///
    /// # Safety
    /// - The runs may be read, and the vectors written.
    #[inline(always)]
    unsafe fn transpose<S: TransposeOps, const SIZE: usize, const V: usize>(self, simd: S) {
        let ChunkTransposer { from, step, to, row } = self;
        // Run `n` in the first 16 bytes. Each further 16 bytes are of the run that is as many further on as 16
        // bytes have elements.
        let place = |n: usize| from.wrapping_offset(n as isize * step);
        // SAFETY: a chunk of every run whose number is a multiple of `V`.
        let mut v = [unsafe { simd.load_chunks_strided(place(0), V as isize * step) }; V];
        let mut n = 1;
        while n < V {
            // SAFETY: a chunk of each `n`-th run after those.
            v[n] = unsafe { simd.load_chunks_strided(place(n), V as isize * step) };
            n += 1;
        }
        shuffle::<S, SIZE, V>(simd, &mut v, V.ilog2());
        let mut n = 0;
        while n < V {
            // SAFETY: the caller promises a vector of places for each of `V` elements.
            unsafe { to.wrapping_offset(n as isize * row).cast::<S::Bytes>().write_unaligned(v[n]) };
            n += 1;
        }
    }
}
