//! Copies of strided elements, and of runs of neighbours, to rows of lanes. Knows nothing of orders, and of the loops
//! of a call.

use crate::memory::args::LoopDim;
use crate::memory::prefetch::PrefetchCursor;
use crate::simd::token::SimdOp;
use crate::simd::transpose::TransposeOps;
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

/// `out[row * lanes.len() + lane] = from[row * stride + lanes[lane]]`.
///
/// After the last row, `out` has room for what need not be written: [`OVERWRITE_PAD`].
///
/// To run it is safe if all of those elements may be read, and so may what follows them before `end`, and `out` may be
/// written, which nobody else uses meanwhile.
#[derive(Clone, Copy)]
pub(super) struct Gather<'a, S, T> {
    pub(super) simd: S,
    pub(super) out: *mut [MaybeUninit<T>],
    pub(super) from: *const T,
    pub(super) end: Option<*const T>,
    pub(super) stride: isize,
    pub(super) rows: usize,
    pub(super) lanes: LaneOffsets<'a>,
    pub(super) prefetch_cursor: Option<PrefetchCursor>,
}

impl<S: TransposeOps, T: Copy> SimdOp for Gather<'_, S, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let Gather { simd, out, from, end, stride, rows, lanes, prefetch_cursor } = self;
        // SAFETY: the caller's promise.
        let out = unsafe { &mut *out };
        assert!(out.len() == rows * lanes.len() + OVERWRITE_PAD / size_of::<T>());
        match lanes {
            LaneOffsets::Strided { first, step, lanes } => {
                let from = from.wrapping_offset(first);
                // SAFETY: the caller's promise, and the length of `out`.
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
                    StridedCopy { from, len, step, rows, stride, prefetch_cursor }.copy(out);
                }
            }
            LaneOffsets::Runs { first, step, runs, width } => {
                let bytes = |elements: isize| elements.wrapping_mul(size_of::<T>() as isize);
                let runs = Runs {
                    from: from.wrapping_offset(first).cast(),
                    step: bytes(step),
                    runs,
                    width: width * size_of::<T>(),
                    stride: bytes(stride),
                    rows,
                    prefetch_cursor,
                    out: out.as_mut_ptr().cast(),
                    end: end.map(|end| end.cast()),
                };
                // SAFETY: the caller's promise: elements are bytes that nobody looks at, and `out` is as long as
                // asserted.
                unsafe { simd.call_outlined(runs) };
            }
            LaneOffsets::Each(offsets) => {
                for (row, out) in out.chunks_exact_mut(offsets.len()).enumerate().take(rows) {
                    let from = from.wrapping_offset(row as isize * stride);
                    for (element, &lane) in out.iter_mut().zip(offsets) {
                        // SAFETY: the caller's promise.
                        element.write(unsafe { *from.wrapping_offset(lane) });
                    }
                }
            }
        }
    }
}

/// Copies rows of runs of `width` neighbours, row by row: runs are `step` apart, rows `stride`. All in bytes, so that
/// one copy of the code serves elements of any size.
///
/// To run it is safe if the runs may be read, and what follows them before `end`; there is at least one row; and `out`
/// has room for the runs, and for [`OVERWRITE_PAD`] more.
#[derive(Clone, Copy)]
struct Runs {
    from: *const u8,
    step: isize,
    runs: usize,
    width: usize,
    stride: isize,
    rows: usize,
    prefetch_cursor: Option<PrefetchCursor>,
    out: *mut u8,
    end: Option<*const u8>,
}

impl SimdOp for Runs {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        // SAFETY: the caller's promises.
        unsafe {
            match self.width {
                // A byte alone is no run.
                ..=4 => self.copy::<4, 2>(),
                5..=8 => self.copy::<8, 4>(),
                9..=16 => self.copy::<16, 8>(),
                17..=32 => self.copy::<32, 16>(),
                _ => self.copy::<32, 32>(),
            }
        }
    }
}

impl Runs {
    /// Copies the runs, one after another, each by one load and store of `WHOLE` bytes: what they bring too much is
    /// overwritten by the next run. (`memcpy` of a length that is not a constant would be a call.) Runs that end too
    /// close to `end`, or that are longer, are copied by two or more loads and stores of `PART` bytes, the last of
    /// which overlaps the previous one.
    ///
    /// # Safety
    /// - As to run it. Runs are at least `PART` bytes long.
    #[inline(always)]
    unsafe fn copy<const WHOLE: usize, const PART: usize>(self) {
        const { assert!(PART <= WHOLE && WHOLE <= 2 * PART && WHOLE <= OVERWRITE_PAD) };
        let Runs { from, step, runs, width, stride, rows, prefetch_cursor, out, end } = self;
        assert!(width >= PART);
        // How many runs of each row may be read by whole loads. The same for all rows, because it takes a division.
        let last_row = from.wrapping_offset((rows as isize - 1) * stride.max(0));
        let end = end.map(<*const u8>::addr);
        let whole_moves = match width.cmp(&WHOLE) {
            Ordering::Less => readable(LoopDim { size: runs, stride: step }, last_row.addr(), WHOLE, end),
            Ordering::Equal => runs,
            Ordering::Greater => 0,
        };
        let len = runs * width;
        for row in 0..rows {
            if let Some(prefetch_cursor) = prefetch_cursor {
                prefetch_cursor.moved((row * len) as isize).prefetch(len);
            }
            let from = from.wrapping_offset(row as isize * stride);
            let out = out.wrapping_add(row * len);
            let place = |line: usize| (from.wrapping_offset(line as isize * step), out.wrapping_add(line * width));
            for line in 0..whole_moves {
                let (from, to) = place(line);
                // SAFETY: the caller's promises: a run starts at least a run before the slack.
                unsafe { move_bytes::<WHOLE>(from, to) };
            }
            for line in whole_moves..runs {
                let (from, to) = place(line);
                let last = width - PART;
                // One before the last is enough for runs that a whole move would hold.
                let before = if WHOLE > PART { PART } else { last };
                for start in (0..before).step_by(PART) {
                    // SAFETY: the caller's promises: this and what follows is within the run.
                    unsafe { move_bytes::<PART>(from.add(start), to.add(start)) };
                }
                // SAFETY: as above.
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
    // SAFETY: the caller's promise.
    unsafe {
        to.cast::<[MaybeUninit<u8>; BYTES]>().write_unaligned(from.cast::<[MaybeUninit<u8>; BYTES]>().read_unaligned())
    };
}

/// Rows of `len` elements, which are `step` apart; from one row to the next, `stride`.
#[derive(Clone, Copy)]
struct StridedCopy<T> {
    from: *const T,
    len: usize,
    step: isize,
    rows: usize,
    stride: isize,
    prefetch_cursor: Option<PrefetchCursor>,
}

impl<T: Copy> StridedCopy<T> {
    /// `out[row * len + n] = from[row * stride + n * step]`. Small steps are constants, for which the compiler has
    /// shuffles.
    ///
    /// # Safety
    /// - All of those elements may be read.
    #[inline(always)]
    unsafe fn copy(self, out: &mut [MaybeUninit<T>]) {
        // SAFETY: the caller's promises.
        unsafe {
            match self.step {
                1 => self.each_row(out, |out, from| copy_every(out, from, 1)),
                2 => self.each_row(out, |out, from| copy_every(out, from, 2)),
                3 => self.each_row(out, |out, from| copy_every(out, from, 3)),
                4 => self.each_row(out, |out, from| copy_every(out, from, 4)),
                -1 => self.each_row(out, |out, from| copy_every(out, from, -1)),
                -2 => self.each_row(out, |out, from| copy_every(out, from, -2)),
                step => self.each_row(out, |out, from| copy_every(out, from, step)),
            }
        }
    }

    /// Copies each row, in the order of memory, which hardware prefetchers follow.
    #[inline(always)]
    fn each_row(self, out: &mut [MaybeUninit<T>], copy: impl Fn(&mut [MaybeUninit<T>], *const T)) {
        let StridedCopy { from, len, step, rows, stride, prefetch_cursor } = self;
        for row in 0..rows {
            let row = if stride < 0 { rows - 1 - row } else { row };
            if let Some(prefetch_cursor) = prefetch_cursor {
                let to_row = (row as isize * stride).wrapping_mul(size_of::<T>() as isize);
                prefetch_cursor.moved(to_row).prefetch(len * step.unsigned_abs() * size_of::<T>());
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

/// `out[n] = from[n * step]`.
///
/// # Safety
/// - All of those elements may be read.
#[inline(always)]
unsafe fn copy_every<T: Copy>(out: &mut [MaybeUninit<T>], from: *const T, step: isize) {
    for (n, element) in out.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
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
            // SAFETY: the caller's promise.
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
    fn readable_lines_at_any_address() {
        const TOP: usize = 1 << (usize::BITS - 1);
        let tagged = usize::try_from(0xb400_0078_1234_5678_u64).unwrap_or(0xf700_1000);
        for first in [0x1000, TOP / 2, TOP - 20, TOP, TOP | 0x1000, tagged, usize::MAX - 100] {
            let up = LoopDim { size: 4, stride: 10 };
            for (len, expected) in [(0, 0), (15, 0), (16, 1), (25, 1), (26, 2), (45, 3), (46, 4), (100, 4)] {
                assert_eq!(readable(up, first, 16, Some(first + len)), expected, "{len} bytes from {first:#x} on");
            }
            // None before the first line, none where no end is known, and none against the direction of memory.
            assert_eq!(readable(up, first, 16, Some(first - 1)), 0);
            assert_eq!(readable(up, first, 16, None), 0);
            assert_eq!(readable(LoopDim { size: 4, stride: -10 }, first, 16, Some(first + 100)), 0);
            assert_eq!(readable(LoopDim { size: 4, stride: 0 }, first, 16, Some(first + 16)), 4);
        }
    }
}
