//! Copies of strided elements, and of runs of neighbours, to rows of lanes. Knows nothing of orders, and of the loops
//! of a call.

use crate::memory::args::LoopDim;
use crate::prefetch::PrefetchCursor;
use crate::simd::token::Simd;
use core::cmp::Ordering;
use core::mem::MaybeUninit;

/// What may be written after the buffer: the rest of a store that is wider than the last run.
pub(super) const OVERWRITE_PAD: usize = 32;

/// Where each lane starts, in elements.
#[derive(Clone, Copy)]
pub(crate) enum LaneOffsets<'a> {
    /// Lanes at one distance: the first, the step to the next, and how many.
    Strided { first: isize, step: isize, lanes: usize },
    /// Runs of neighbours at one distance: the first, the step to the next, how many, and the lanes in each.
    Runs { first: isize, step: isize, runs: usize, width: usize },
    /// Anywhere.
    Each(&'a [isize]),
}

impl LaneOffsets<'_> {
    /// A single lane.
    pub(crate) const ONE: Self = LaneOffsets::Strided { first: 0, step: 0, lanes: 1 };

    /// How many lanes there are.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        match self {
            LaneOffsets::Strided { lanes, .. } => lanes,
            LaneOffsets::Runs { runs, width, .. } => runs * width,
            LaneOffsets::Each(offsets) => offsets.len(),
        }
    }
}

/// Rows of elements that are copied, one after another; from one row to the next there are `stride` elements.
#[derive(Clone, Copy)]
pub(super) struct SourceRows<T> {
    pub(super) from: *const T,
    pub(super) rows: usize,
    pub(super) stride: isize,
    pub(super) prefetch_cursor: Option<PrefetchCursor>,
}

impl<T: Copy> SourceRows<T> {
    /// `out[row * lanes.len() + lane] = from[row * stride + lanes[lane]]`. After the last row, `out` has room for what
    /// need not be written: [`OVERWRITE_PAD`].
    ///
    /// # Safety
    /// - All of those elements may be read, and so may what follows them before `end`; there is at least one row.
    #[inline(always)]
    pub(super) unsafe fn gather<S: Simd>(
        self,
        simd: S,
        out: &mut [MaybeUninit<T>],
        end: Option<*const T>,
        lanes: LaneOffsets<'_>,
    ) {
        let SourceRows { from, rows, stride, .. } = self;
        assert!(out.len() == rows * lanes.len() + OVERWRITE_PAD / size_of::<T>());
        match lanes {
            LaneOffsets::Strided { first, step, lanes } => {
                let from = from.wrapping_offset(first);
                // SAFETY: the caller promises the elements of these lanes; `out` has room for two rows of pairs.
                unsafe {
                    match (rows, stride, step) {
                        // Against the direction of memory, pairs are the same two rows, the last one first.
                        (2, 1, 2) => return copy_pairs(out, from, lanes, [0, lanes]),
                        (2, -1, 2) => return copy_pairs(out, from.wrapping_sub(1), lanes, [lanes, 0]),
                        _ => {}
                    }
                    // Row by row, because then at least the writes are in order; a single lane is one row.
                    let (rows, len, stride, step) =
                        if lanes == 1 { (1, rows, 0, stride) } else { (rows, lanes, stride, step) };
                    SourceRows { from, rows, stride, ..self }.copy_strided(out, LoopDim { size: len, stride: step });
                }
            }
            LaneOffsets::Runs { first, step, runs, width } => {
                let bytes = |elements: isize| elements.wrapping_mul(size_of::<T>() as isize);
                let SourceRows { prefetch_cursor, .. } = self;
                let (from, stride) = (from.wrapping_offset(first).cast::<u8>(), bytes(stride));
                let (runs, width) = (LoopDim { size: runs, stride: bytes(step) }, width * size_of::<T>());
                let (out, end) = (out.as_mut_ptr().cast(), end.map(|end| end.cast()));
                // SAFETY: the caller promises the runs. Elements are bytes that nobody looks at, and `out` is as long
                // as asserted.
                unsafe { SourceRows { from, rows, stride, prefetch_cursor }.copy_runs(simd, out, end, runs, width) };
            }
            LaneOffsets::Each(offsets) => {
                for (row, out) in out.chunks_exact_mut(offsets.len()).enumerate().take(rows) {
                    let from = from.wrapping_offset(row as isize * stride);
                    for (element, &lane) in out.iter_mut().zip(offsets) {
                        // SAFETY: the caller promises this element, of one of the rows and lanes.
                        element.write(unsafe { *from.wrapping_offset(lane) });
                    }
                }
            }
        }
    }

    /// `out[row * lanes.size + n] = from[row * stride + n * lanes.stride]`. Small steps are constants, for which the
    /// compiler has shuffles.
    ///
    /// # Safety
    /// - Those elements may be read.
    #[inline(always)]
    unsafe fn copy_strided(self, out: &mut [MaybeUninit<T>], lanes: LoopDim) {
        // SAFETY: `each_row` gives each row once, and room for as many elements as the caller promises there.
        unsafe {
            match lanes.stride {
                1 => self.each_row(out, lanes, |out, from| copy_every(out, from, 1)),
                2 => self.each_row(out, lanes, |out, from| copy_every(out, from, 2)),
                3 => self.each_row(out, lanes, |out, from| copy_every(out, from, 3)),
                4 => self.each_row(out, lanes, |out, from| copy_every(out, from, 4)),
                -1 => self.each_row(out, lanes, |out, from| copy_every(out, from, -1)),
                -2 => self.each_row(out, lanes, |out, from| copy_every(out, from, -2)),
                step => self.each_row(out, lanes, |out, from| copy_every(out, from, step)),
            }
        }
    }

    /// Copies each row, in the order of memory, which hardware prefetchers follow.
    #[inline(always)]
    fn each_row(self, out: &mut [MaybeUninit<T>], lanes: LoopDim, copy: impl Fn(&mut [MaybeUninit<T>], *const T)) {
        let SourceRows { from, rows, stride, prefetch_cursor } = self;
        let len = lanes.size;
        for row in 0..rows {
            let row = if stride < 0 { rows - 1 - row } else { row };
            if let Some(prefetch_cursor) = prefetch_cursor {
                let to_row = (row as isize * stride).wrapping_mul(size_of::<T>() as isize);
                prefetch_cursor.moved(to_row).prefetch(len * lanes.stride.unsigned_abs() * size_of::<T>());
            }
            let mut from = from.wrapping_offset(row as isize * stride);
            if stride < 0 {
                // Hidden, or the compiler asks once for all rows whether they overlap `out`, by the range that they
                // span upwards, and then copies element by element.
                from = core::hint::black_box(from);
            }
            copy(&mut out[row * len..][..len], from);
        }
    }
}

impl SourceRows<u8> {
    /// Copies runs of `width` neighbours, all in bytes, so that one copy of the code serves elements of any size.
    ///
    /// # Safety
    /// - The runs may be read, and what follows them before `end`; there is at least one row; and `out` has room for
    ///   the runs, and for [`OVERWRITE_PAD`] more.
    #[inline(always)]
    unsafe fn copy_runs<S: Simd>(self, simd: S, out: *mut u8, end: Option<*const u8>, runs: LoopDim, width: usize) {
        // SAFETY: the caller promises the runs; each width is one that its moves are for.
        unsafe {
            simd.call_outlined(
                #[inline(always)]
                move || match width {
                    // A byte alone is no run.
                    ..=4 => self.copy_runs_by::<4, 2>(out, end, runs, width),
                    5..=8 => self.copy_runs_by::<8, 4>(out, end, runs, width),
                    9..=16 => self.copy_runs_by::<16, 8>(out, end, runs, width),
                    17..=32 => self.copy_runs_by::<32, 16>(out, end, runs, width),
                    _ => self.copy_runs_by::<32, 32>(out, end, runs, width),
                },
            );
        }
    }

    /// Copies the runs, one after another, each by one load and store of `WHOLE` bytes: what they bring too much is
    /// overwritten by the next run. (`memcpy` of a length that is not a constant would be a call.) Runs that end too
    /// close to `end`, or that are longer, are copied by two or more loads and stores of `PART` bytes, the last of
    /// which overlaps the previous one.
    ///
    /// # Panics
    /// If runs have fewer than `PART` bytes.
    ///
    /// # Safety
    /// - As for [`SourceRows::copy_runs`].
    #[inline(always)]
    unsafe fn copy_runs_by<const WHOLE: usize, const PART: usize>(
        self,
        out: *mut u8,
        end: Option<*const u8>,
        runs: LoopDim,
        width: usize,
    ) {
        const { assert!(PART <= WHOLE && WHOLE <= 2 * PART && WHOLE <= OVERWRITE_PAD) };
        let SourceRows { from, rows, stride, prefetch_cursor } = self;
        assert!(width >= PART);
        // How many runs of each row may be read by whole loads. The same for all rows, because it takes a division.
        let last_row = from.wrapping_offset((rows as isize - 1) * stride.max(0));
        let end = end.map(<*const u8>::addr);
        let whole_moves = match width.cmp(&WHOLE) {
            Ordering::Less => readable(runs, last_row.addr(), WHOLE, end),
            Ordering::Equal => runs.size,
            Ordering::Greater => 0,
        };
        let len = runs.size * width;
        for row in 0..rows {
            if let Some(prefetch_cursor) = prefetch_cursor {
                prefetch_cursor.moved((row * len) as isize).prefetch(len);
            }
            let from = from.wrapping_offset(row as isize * stride);
            let out = out.wrapping_add(row * len);
            let place = |run: usize| (from.wrapping_offset(run as isize * runs.stride), out.wrapping_add(run * width));
            for run in 0..whole_moves {
                let (from, to) = place(run);
                // SAFETY: these runs are no shorter, or are as far before `end`; what `out` gets too much is within the
                // next run, or what may be overwritten after the last.
                unsafe { move_bytes::<WHOLE>(from, to) };
            }
            for run in whole_moves..runs.size {
                let (from, to) = place(run);
                let last = width - PART;
                // One before the last is enough for runs that a whole move would hold.
                let before = if WHOLE > PART { PART } else { last };
                for start in (0..before).step_by(PART) {
                    // SAFETY: what begins there ends within the run, as does its copy.
                    unsafe { move_bytes::<PART>(from.add(start), to.add(start)) };
                }
                // SAFETY: the end of the run, which has as many bytes.
                unsafe { move_bytes::<PART>(from.add(last), to.add(last)) };
            }
        }
    }
}

/// How many of the first runs may be read by loads of `bytes` each, of which the first starts at the address `first`.
/// None may go beyond `end`, and without an `end`, nothing beyond a run may be read.
///
/// Addresses are unsigned: in a 32-bit process, or with a tag, they may have their top bit set.
#[inline(always)]
fn readable(runs: LoopDim, first: usize, bytes: usize, end: Option<usize>) -> usize {
    runs.steps_within(end.and_then(|end| end.checked_sub(first)?.checked_sub(bytes)))
}

/// A load and a store.
///
/// # Safety
/// - As many bytes may be read, and written.
#[inline(always)]
unsafe fn move_bytes<const BYTES: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller promises them, of any alignment.
    unsafe {
        to.cast::<[MaybeUninit<u8>; BYTES]>().write_unaligned(from.cast::<[MaybeUninit<u8>; BYTES]>().read_unaligned())
    };
}

/// `out[n] = from[n * step]`.
///
/// # Safety
/// - Those elements may be read.
#[inline(always)]
unsafe fn copy_every<T: Copy>(out: &mut [MaybeUninit<T>], from: *const T, step: isize) {
    for (n, element) in out.iter_mut().enumerate() {
        // SAFETY: `n` is below the length of `out`, and the caller promises as many elements.
        element.write(unsafe { *from.offset(n as isize * step) });
    }
}

/// Element `e` of pair `n` to `out[to[e] + n]`.
///
/// # Safety
/// - The pairs may be read, and those places of `out` are there.
#[inline(always)]
unsafe fn copy_pairs<T: Copy>(out: &mut [MaybeUninit<T>], from: *const T, pairs: usize, to: [usize; 2]) {
    for n in 0..pairs {
        for (element, to) in to.into_iter().enumerate() {
            // SAFETY: an element of one of the pairs, and the caller promises its place.
            unsafe { out.get_unchecked_mut(to + n).write(*from.add(2 * n + element)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LoopDim, readable};

    /// Wherever the system puts memory: at addresses with their top bit set too, as in 32-bit processes, or where
    /// addresses carry a tag.
    #[test]
    fn readable_runs_at_any_address() {
        const TOP: usize = 1 << (usize::BITS - 1);
        let tagged = usize::try_from(0xb400_0078_1234_5678_u64).unwrap_or(0xf700_1000);
        for first in [0x1000, TOP / 2, TOP - 20, TOP, TOP | 0x1000, tagged, usize::MAX - 100] {
            let up = LoopDim { size: 4, stride: 10 };
            for (len, expected) in [(0, 0), (15, 0), (16, 1), (25, 1), (26, 2), (45, 3), (46, 4), (100, 4)] {
                assert_eq!(readable(up, first, 16, Some(first + len)), expected, "{len} bytes from {first:#x} on");
            }
            // None before the first run, none where no end is known, and none against the direction of memory.
            assert_eq!(readable(up, first, 16, Some(first - 1)), 0);
            assert_eq!(readable(up, first, 16, None), 0);
            assert_eq!(readable(LoopDim { size: 4, stride: -10 }, first, 16, Some(first + 100)), 0);
            assert_eq!(readable(LoopDim { size: 4, stride: 0 }, first, 16, Some(first + 16)), 4);
        }
    }
}
