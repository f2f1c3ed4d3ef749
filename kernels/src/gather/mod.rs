//! Copies strided elements into a small buffer, for loops that vectors cannot load from in place. The tensor is never copied as a whole.
//! These loops have no order and no NaN: the compiler vectorises what it can, for the ISA of the kernel. (For half of
//! the widest vectors: moves of a few bytes gain nothing from more.)

pub(crate) mod transpose;

use crate::gather::transpose::Blocks;
use crate::memory::args::{Loop, Tile, Walk};
use crate::memory::prefetch::Ahead;
use crate::simd::token::{Task, Token};
use crate::simd::transpose::Zip;
use core::mem::MaybeUninit;

/// The size of the buffer: half of a small L1 cache, so that what is read through it stays too.
pub const SCRATCH_BYTES: usize = 8192;

/// What may be written after the buffer: the rest of a move that is wider than the last line.
const SLACK_BYTES: usize = 32;

/// A buffer for gathered elements.
#[repr(C, align(64))]
pub(crate) struct Scratch([MaybeUninit<u8>; SCRATCH_BYTES + SLACK_BYTES]);

impl Scratch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Scratch([const { MaybeUninit::uninit() }; SCRATCH_BYTES + SLACK_BYTES])
    }

    #[inline(always)]
    fn elements<T: Copy>(&mut self) -> &mut [MaybeUninit<T>] {
        const { assert!(align_of::<T>() <= 64) };
        let len = (SCRATCH_BYTES + SLACK_BYTES) / size_of::<T>();
        // SAFETY: the bytes of this buffer are `len` elements long by the division, aligned for them as asserted, and need not be initialised.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }

    /// Fills the buffer with as many rows as fit and are left, and tells how many: one element of each lane per step of the
    /// reduced loops, `row * lanes.len() + lane`. No more rows means no more elements.
    ///
    /// # Safety
    /// - Every element that `stretches` reaches from each `from + lane` may be read, and so may what follows each before `end`, if
    ///   there is one; they have 1, 2, 4 or 8 bytes, and are aligned.
    #[inline(always)]
    pub(crate) unsafe fn fill<S: Zip, T: Copy>(
        &mut self,
        simd: S,
        stretches: &mut Stretches<'_>,
        from: *const T,
        end: Option<*const T>,
        lanes: LaneOffsets<'_>,
    ) -> (*const T, usize) {
        let simd = simd.narrow();
        // Copies do not care for types: one instance for each size is enough, and a quarter of the code.
        // SAFETY: the caller's promise.
        let rows = unsafe {
            match size_of::<T>() {
                1 => self.fill_bits::<_, u8>(simd, stretches, from.cast(), end.map(|end| end.cast()), lanes),
                2 => self.fill_bits::<_, u16>(simd, stretches, from.cast(), end.map(|end| end.cast()), lanes),
                4 => self.fill_bits::<_, u32>(simd, stretches, from.cast(), end.map(|end| end.cast()), lanes),
                _ => self.fill_bits::<_, u64>(simd, stretches, from.cast(), end.map(|end| end.cast()), lanes),
            }
        };
        (self.0.as_ptr().cast(), rows)
    }

    /// Fills the buffer with some blocks, element by element of each of them.
    ///
    /// # Safety
    /// - As for [`Blocks::transpose`], of which elements have the size of `T`.
    #[inline(always)]
    pub(crate) unsafe fn fill_blocks<S: Zip, T>(&mut self, simd: S, blocks: Blocks) -> *const T {
        assert!(blocks.count * blocks.elements * size_of::<T>() <= SCRATCH_BYTES);
        let to = self.0.as_mut_ptr().cast();
        // SAFETY: the caller's promise, and the room that there is.
        unsafe {
            match size_of::<T>() {
                1 => blocks.transpose::<S, 1>(simd, to),
                2 => blocks.transpose::<S, 2>(simd, to),
                4 => blocks.transpose::<S, 4>(simd, to),
                _ => blocks.transpose::<S, 8>(simd, to),
            }
        }
        to.cast()
    }

    /// # Safety
    /// - As [`Scratch::fill`].
    #[inline(never)]
    unsafe fn fill_bits<S: Zip, B: Copy>(
        &mut self,
        simd: S,
        stretches: &mut Stretches<'_>,
        from: *const B,
        end: Option<*const B>,
        lanes: LaneOffsets<'_>,
    ) -> usize {
        let elements = self.elements::<B>();
        let slack = SLACK_BYTES / size_of::<B>();
        let capacity = (elements.len() - slack) / lanes.len();
        let mut filled = 0;
        while let Some((offset, rows)) = stretches.next(capacity - filled) {
            let out = &mut elements[filled * lanes.len()..(filled + rows) * lanes.len() + slack];
            let mut ahead = stretches.ahead;
            let size = size_of::<B>() as isize;
            if let LaneOffsets::Even { .. } = lanes {
                ahead = ahead.map(|ahead| ahead.moved(offset.wrapping_mul(size)));
            } else {
                stretches.ahead = ahead.map(|ahead| ahead.moved((rows * lanes.len()) as isize * size));
            }
            let (from, stride) = (from.wrapping_offset(offset), stretches.line.stride);
            // SAFETY: the caller's promise, and a borrow that nothing else uses meanwhile.
            unsafe { simd.call(Gather { simd, out: &raw mut *out, from, end, stride, rows, lanes, ahead }) };
            filled += rows;
        }
        filled
    }
}

/// Where each lane starts, in elements.
#[derive(Clone, Copy)]
pub(crate) enum LaneOffsets<'a> {
    /// So many lanes, each so far from the one before, and the first of them.
    Even { first: isize, step: isize, lanes: usize },
    /// So many lines of so many neighbours, each line so far from the one before, and the first of them.
    Lines { first: isize, step: isize, lines: usize, width: usize },
    /// One after another.
    Each(&'a [isize]),
}

impl LaneOffsets<'_> {
    /// A single lane.
    pub(crate) const ONE: Self = LaneOffsets::Even { first: 0, step: 0, lanes: 1 };

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        match self {
            LaneOffsets::Even { lanes, .. } => lanes,
            LaneOffsets::Lines { lines, width, .. } => lines * width,
            LaneOffsets::Each(offsets) => offsets.len(),
        }
    }
}

/// `out[row * lanes.len() + lane] = from[row * stride + lanes[lane]]`.
///
/// After the last row, `out` has room for what need not be written: [`SLACK_BYTES`].
///
/// To run it is safe if all of those elements may be read, and so may what follows them before `end`, and `out` may be
/// written, which nobody else uses meanwhile.
#[derive(Clone, Copy)]
struct Gather<'a, S, T> {
    simd: S,
    out: *mut [MaybeUninit<T>],
    from: *const T,
    end: Option<*const T>,
    stride: isize,
    rows: usize,
    lanes: LaneOffsets<'a>,
    ahead: Option<Ahead>,
}

impl<S: Zip, T: Copy> Task for Gather<'_, S, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        let Gather { simd, out, from, end, stride, rows, lanes, ahead } = self;
        // SAFETY: the caller's promise.
        let out = unsafe { &mut *out };
        assert!(out.len() == rows * lanes.len() + SLACK_BYTES / size_of::<T>());
        match lanes {
            LaneOffsets::Even { first, step, lanes } => {
                let from = from.wrapping_offset(first);
                // SAFETY: the caller's promise, and the length of `out`.
                unsafe {
                    match (rows, stride, step) {
                        // Pairs; against the direction of memory, the same columns, the last one first. (Row by row, 0.8 to 0.9 of the speed.)
                        (2, 1, 2) => transpose(out, from, 2, lanes, (0, lanes as isize), (1, 2)),
                        (2, -1, 2) => {
                            transpose(out, from.wrapping_sub(1), 2, lanes, (lanes, -(lanes as isize)), (1, 2))
                        }
                        _ => {
                            // Row by row, because then at least the writes are in order; of one lane, as one row.
                            let (rows, len, stride, step) =
                                if lanes == 1 { (1, rows, 0, stride) } else { (rows, lanes, stride, step) };
                            for row in 0..rows {
                                if let Some(ahead) = ahead {
                                    let to_row = (row as isize * stride).wrapping_mul(size_of::<T>() as isize);
                                    ahead.moved(to_row).prefetch(len * step.unsigned_abs() * size_of::<T>());
                                }
                                copy_line(
                                    &mut out[row * len..],
                                    from.wrapping_offset(row as isize * stride),
                                    len,
                                    step,
                                );
                            }
                        }
                    }
                }
            }
            LaneOffsets::Lines { first, step, lines, width } => {
                let (from, size) = (from.wrapping_offset(first).cast(), size_of::<T>());
                let bytes = |elements: isize| elements.wrapping_mul(size as isize);
                let lines =
                    Lines { from, step: bytes(step), lines, width: width * size, stride: bytes(stride), rows, ahead };
                let (out, end) = (out.as_mut_ptr().cast(), end.map(|end| end.cast()));
                // SAFETY: the caller's promise: elements are bytes that nobody looks at, and `out` is as long as asserted.
                unsafe { simd.call(CopyLines { lines, out, end }) };
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

/// Rows of lines of `width` neighbours: lines are `step` apart, rows `stride`. All in bytes, so that one copy of the code serves elements of any size: one for each was 25 KB more of the shared object, and no faster.
#[derive(Clone, Copy)]
struct Lines {
    from: *const u8,
    step: isize,
    lines: usize,
    width: usize,
    stride: isize,
    rows: usize,
    ahead: Option<Ahead>,
}

/// Copies lines to `out`, row by row.
///
/// To run it is safe if the lines may be read, and what follows them before `end`; there is at least one row; and `out` has
/// room for the lines, and for [`SLACK_BYTES`] more.
#[derive(Clone, Copy)]
struct CopyLines {
    lines: Lines,
    out: *mut u8,
    end: Option<*const u8>,
}

impl Task for CopyLines {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        let CopyLines { lines, out, end } = self;
        // SAFETY: the caller's promises.
        unsafe {
            match lines.width {
                // A byte alone is no line.
                ..=4 => lines.copy::<4, 2>(out, end),
                5..=8 => lines.copy::<8, 4>(out, end),
                9..=16 => lines.copy::<16, 8>(out, end),
                17..=32 => lines.copy::<32, 16>(out, end),
                _ => lines.copy::<32, 32>(out, end),
            }
        }
    }
}

impl Lines {
    /// Copies the lines, one after another: by one move of `WHOLE` bytes each, so that what it brings too much is overwritten by the next, where `memcpy`
    /// would be a call. Lines that are longer, or end too near to `end`, are copied by moves of `PART`, the last of which reaches back.
    ///
    /// # Safety
    /// - As for [`CopyLines`]. Lines are at least `PART` bytes long.
    #[inline(always)]
    unsafe fn copy<const WHOLE: usize, const PART: usize>(self, out: *mut u8, end: Option<*const u8>) {
        const { assert!(PART <= WHOLE && WHOLE <= SLACK_BYTES) };
        let Lines { from, step, lines, width, stride, rows, ahead } = self;
        assert!(width >= PART);
        // Of how many lines a whole move may be read, in each row: once for all, because it takes a division.
        let last_row = from.wrapping_offset((rows as isize - 1) * stride.max(0));
        let end = end.map(<*const u8>::addr);
        let by_whole =
            if width <= WHOLE { readable(Loop { size: lines, stride: step }, last_row.addr(), WHOLE, end) } else { 0 };
        let len = lines * width;
        for row in 0..rows {
            if let Some(ahead) = ahead {
                ahead.moved((row * len) as isize).prefetch(len);
            }
            let from = from.wrapping_offset(row as isize * stride);
            let out = out.wrapping_add(row * len);
            let place = |line: usize| (from.wrapping_offset(line as isize * step), out.wrapping_add(line * width));
            for line in 0..by_whole {
                let (from, to) = place(line);
                // SAFETY: the caller's promises: a line starts at least a line before the slack.
                unsafe { move_bytes::<WHOLE>(from, to) };
            }
            for line in by_whole..lines {
                let (from, to) = place(line);
                let last = width - PART;
                for start in (0..last).step_by(PART) {
                    // SAFETY: the caller's promises: this and what follows is within the line.
                    unsafe { move_bytes::<PART>(from.add(start), to.add(start)) };
                }
                // SAFETY: as above.
                unsafe { move_bytes::<PART>(from.add(last), to.add(last)) };
            }
        }
    }
}

/// How many of the first lines may be read by moves of `bytes` each, of which the first starts at the address `first`: none
/// may reach beyond `end`, and nothing beyond a line may be read without one.
///
/// Addresses are unsigned: of a 32-bit process, or with a tag, they may have their top bit set.
#[inline(always)]
fn readable(lines: Loop, first: usize, bytes: usize, end: Option<usize>) -> usize {
    lines.steps_within(end.and_then(|end| end.checked_sub(first)?.checked_sub(bytes)))
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

/// `out[n] = from[n * step]`: steps of a few elements as constants, for which the compiler has shuffles.
///
/// # Safety
/// - All of those elements may be read, and `out` is at least `len` long.
#[inline(always)]
unsafe fn copy_line<T: Copy>(out: &mut [MaybeUninit<T>], from: *const T, len: usize, step: isize) {
    // SAFETY: the caller's promises.
    unsafe {
        match step {
            1 => copy_every::<T, 1>(out, from, len),
            2 => copy_every::<T, 2>(out, from, len),
            3 => copy_every::<T, 3>(out, from, len),
            4 => copy_every::<T, 4>(out, from, len),
            -1 => copy_every::<T, -1>(out, from, len),
            -2 => copy_every::<T, -2>(out, from, len),
            _ => transpose(out, from, len, 1, (0, 1), (step, 0)),
        }
    }
}

/// `out[n] = from[n * STEP]`.
///
/// # Safety
/// - As for [`copy_line`].
#[inline(always)]
unsafe fn copy_every<T: Copy, const STEP: isize>(out: &mut [MaybeUninit<T>], from: *const T, len: usize) {
    for (n, element) in out[..len].iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        element.write(unsafe { *from.offset(n as isize * STEP) });
    }
}

/// `to[block * width + column] = from[column * blocks + block]`: what was found by columns of blocks, to where it belongs.
/// With a constant width, the compiler has shuffles.
#[inline(always)]
pub(crate) fn interleave<S: Zip>(simd: S, to: &mut [MaybeUninit<u32>], from: &[MaybeUninit<u32>], width: usize) {
    // SAFETY: a borrow that nothing else uses meanwhile.
    unsafe { simd.narrow().call(Interleave { to: &raw mut *to, from, width }) };
}

/// To run it is safe if `to` is a borrow that nothing else uses meanwhile.
#[derive(Clone, Copy)]
struct Interleave<'a> {
    to: *mut [MaybeUninit<u32>],
    from: &'a [MaybeUninit<u32>],
    width: usize,
}

impl Task for Interleave<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        let Interleave { to, from, width } = self;
        // SAFETY: the caller's promise.
        let to = unsafe { &mut *to };
        match width {
            2 => interleave_by::<2>(to, from),
            3 => interleave_by::<3>(to, from),
            4 => interleave_by::<4>(to, from),
            5 => interleave_by::<5>(to, from),
            6 => interleave_by::<6>(to, from),
            7 => interleave_by::<7>(to, from),
            8 => interleave_by::<8>(to, from),
            _ => {
                for (column, from) in from.chunks_exact(to.len() / width).enumerate() {
                    to[column..].iter_mut().step_by(width).zip(from).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }
}

#[inline(always)]
fn interleave_by<const WIDTH: usize>(to: &mut [MaybeUninit<u32>], from: &[MaybeUninit<u32>]) {
    let (to, _) = to.as_chunks_mut::<WIDTH>();
    let blocks = to.len();
    let from = &from[..WIDTH * blocks];
    for (block, to) in to.iter_mut().enumerate() {
        for (column, to) in to.iter_mut().enumerate() {
            *to = from[column * blocks + block];
        }
    }
}

/// `out[first + row * to_next + lane] = from[row * stride + lane * step]`.
///
/// # Safety
/// - All of those elements may be read, and those of `out` are there.
#[inline(always)]
unsafe fn transpose<T: Copy>(
    out: &mut [MaybeUninit<T>],
    from: *const T,
    rows: usize,
    lanes: usize,
    (first, to_next): (usize, isize),
    (stride, step): (isize, isize),
) {
    for lane in 0..lanes {
        for row in 0..rows {
            // SAFETY: the caller's promises.
            unsafe {
                let element = *from.wrapping_offset(row as isize * stride + lane as isize * step);
                let place = first.wrapping_add_signed(row as isize * to_next) + lane;
                out.get_unchecked_mut(place).write(element);
            }
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
    /// What to ask for meanwhile, if anything: as many bytes as are copied, or of lanes at even distances, the same elements
    /// of the lanes that start there.
    ahead: Option<Ahead>,
}

impl<'a> Stretches<'a> {
    #[inline(always)]
    pub(crate) fn new(tile: &Tile<'a>) -> Self {
        let (line, slower) = tile.split_reduced();
        Stretches { slower: Walk::new(slower), line, offset: 0, left: 0, ahead: None }
    }

    #[inline(always)]
    pub(crate) fn ahead(self, ahead: Option<Ahead>) -> Self {
        Stretches { ahead, ..self }
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

#[cfg(test)]
mod tests {
    use super::{Loop, readable};

    /// Wherever the system puts memory: at addresses with their top bit set too, as in 32-bit processes, or where addresses
    /// carry a tag.
    #[test]
    fn readable_lines_at_any_address() {
        const TOP: usize = 1 << (usize::BITS - 1);
        let tagged = usize::try_from(0xb400_0078_1234_5678_u64).unwrap_or(0xf700_1000);
        for first in [0x1000, TOP / 2, TOP - 20, TOP, TOP | 0x1000, tagged, usize::MAX - 100] {
            let up = Loop { size: 4, stride: 10 };
            for (len, expected) in [(0, 0), (15, 0), (16, 1), (25, 1), (26, 2), (45, 3), (46, 4), (100, 4)] {
                assert_eq!(readable(up, first, 16, Some(first + len)), expected, "{len} bytes from {first:#x} on");
            }
            // None before the first line, none where no end is known, and none against the direction of memory.
            assert_eq!(readable(up, first, 16, Some(first - 1)), 0);
            assert_eq!(readable(up, first, 16, None), 0);
            assert_eq!(readable(Loop { size: 4, stride: -10 }, first, 16, Some(first + 100)), 0);
            assert_eq!(readable(Loop { size: 4, stride: 0 }, first, 16, Some(first + 16)), 4);
        }
    }
}
