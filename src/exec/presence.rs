//! Which elements of a tile are there: as bytes packed in the order of memory, as bits at the places of the elements,
//! or run by run. Nothing here knows of elements.
#![allow(unsafe_code)]

use super::tiles::{Grid, OutputTile};
use crate::MAX_RANK;
use crate::mask::{MaskFormat, MaskPlaces};
use crate::planner::{CollapsedShape, MAX_MASKED_LEN, MAX_MASKED_OUTPUTS};
use argreduce_kernels::{InputMask, LoopDim, MaskedCopier, Presence, StridedIter};
use std::cmp::Reverse;
use std::mem::MaybeUninit;

/// Whether all elements of an input of these sizes are there, of which there are some: looks up to the first that is
/// not, and along an axis along which the mask is broadcast, at one.
pub(crate) fn are_all_there(mask: &MaskPlaces<'_>, sizes: &[usize]) -> bool {
    let (mut loops, mut len, mut first) = ([LoopDim::ONE; MAX_RANK], 0, mask.start as isize);
    for (&size, &stride) in sizes.iter().zip(&mask.strides).filter(|(size, stride)| **size > 1 && **stride != 0) {
        first += (size as isize - 1) * stride.min(0);
        loops[len] = LoopDim { size, stride: stride.abs() };
        len += 1;
    }
    loops[..len].sort_by_key(|l| Reverse(l.stride));
    let mut runs = Runs::<1>::EMPTY;
    loops[..len].iter().for_each(|l| runs.push(l.size, [l.stride]));
    let ([slower], [run]) = runs.split();
    mask.coverage(first as usize, (slower, run)) == Coverage::All
}

/// Which elements are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    All,
    Nothing,
    Some,
}

impl<'a> MaskPlaces<'a> {
    /// Which elements are there from this place on.
    #[inline(always)]
    pub(super) fn from(&self, place: usize) -> Presence<'a> {
        match self.format {
            MaskFormat::Bits => Presence::Bits(self.bytes, place),
            MaskFormat::Bytes => Presence::Bytes(&self.bytes[place..]),
        }
    }

    #[inline(always)]
    pub(super) fn at(&self, place: usize) -> bool {
        self.from(place).at(0)
    }

    /// How much is there along some loops from a place on: looks up to the first that differs from those before.
    pub(super) fn coverage(&self, first: usize, (slower, run): (&[LoopDim], LoopDim)) -> Coverage {
        let is_there = self.at(first);
        let mut offsets = StridedIter::new(slower).map(|offset| first.wrapping_add_signed(offset));
        match (offsets.all(|first| self.is_all(first, run, is_there)), is_there) {
            (false, _) => Coverage::Some,
            (true, true) => Coverage::All,
            (true, false) => Coverage::Nothing,
        }
    }

    /// Whether all of a run are there, or if not `is_there`, none.
    fn is_all(&self, first: usize, LoopDim { size, stride }: LoopDim, is_there: bool) -> bool {
        match (self.format, stride) {
            (_, 0) => self.at(first) == is_there,
            (MaskFormat::Bits, 1) => {
                // Whole bytes between those that are not.
                let end = first + size;
                let (start, whole_end) = ((first.div_ceil(8) * 8).min(end), end / 8 * 8);
                let same = |mut places: std::ops::Range<usize>| places.all(|place| self.at(place) == is_there);
                let all = if is_there { 0xff } else { 0 };
                same(first..start)
                    && same(whole_end.max(start)..end)
                    && (start >= whole_end || are_all(&self.bytes[start / 8..whole_end / 8], |byte| byte == all))
            }
            (MaskFormat::Bytes, 1) => are_all(&self.bytes[first..][..size], |byte| (byte != 0) == is_there),
            _ => (0..size as isize).all(|n| self.at(first.wrapping_add_signed(n * stride)) == is_there),
        }
    }
}

/// Some loops, in several places at once: the slowest first, and as few as walk all of them.
struct Runs<const N: usize> {
    loops: [[LoopDim; MAX_TILE_LOOPS]; N],
    len: usize,
}

/// Over a tile: the two over its outputs, and one for each reduced axis.
const MAX_TILE_LOOPS: usize = MAX_RANK + 2;

impl<const N: usize> Runs<N> {
    const EMPTY: Self = Runs { loops: [[LoopDim { size: 0, stride: 0 }; MAX_TILE_LOOPS]; N], len: 0 };

    /// Adds a faster loop, or makes the last one faster.
    #[inline(always)]
    fn push(&mut self, size: usize, strides: [isize; N]) {
        let last = self.len.wrapping_sub(1);
        let absorbs = |(loops, stride): (&[LoopDim; MAX_TILE_LOOPS], isize)| {
            stride.checked_mul(size as isize) == Some(loops[last].stride)
        };
        let merges = self.len > 0 && self.loops.iter().zip(strides).all(absorbs);
        let at = if merges { last } else { self.len };
        for (loops, stride) in self.loops.iter_mut().zip(strides) {
            loops[at] = LoopDim { size: if merges { loops[at].size * size } else { size }, stride };
        }
        self.len = at + 1;
    }

    /// The slower ones, and the fastest: one of one step if there are none.
    #[inline(always)]
    fn split(&self) -> ([&[LoopDim]; N], [LoopDim; N]) {
        match self.len.checked_sub(1) {
            Some(last) => (self.loops.each_ref().map(|l| &l[..last]), self.loops.each_ref().map(|l| l[last])),
            None => ([&[]; N], [LoopDim::ONE; N]),
        }
    }
}

/// The loops over all elements of a tile.
pub(super) struct TileLoops {
    /// In the input, upwards; in the mask; and in a packed copy in the order of the input's memory.
    runs: Runs<3>,
    /// Where the lowest element is in the input, and what says of it whether it is there.
    pub(super) start: isize,
    mask_start: usize,
    /// How many elements there are.
    pub(super) len: usize,
    /// The first elements of the outputs in the copy, and the loops from there.
    pub(super) packed: Grid,
    reduced: Runs<1>,
}

impl TileLoops {
    /// Of a tile of a shape under a mask. Where several loops have the same stride, as those over windows do, that over
    /// neighbouring outputs is the fastest for columns, and one over what they are chosen from for all others.
    #[cfg_attr(not(without = "fast_masks"), inline(always))]
    pub(super) fn of(tile: &OutputTile, shape: &CollapsedShape, are_columns: bool) -> Self {
        let mask = tile.mask.expect("under a mask");
        let [of_input, of_mask] = [(&tile.input, shape.reduced_dims()), (&mask, shape.mask.reduced_dims())];
        let all = |(grid, reduced): (&Grid, &[LoopDim]), n: usize| if n < 2 { grid.dims[n] } else { reduced[n - 2] };
        let (mut order, mut len) = ([0_u8; MAX_TILE_LOOPS], 0);
        for n in (0..2 + of_input.1.len()).filter(|&n| all(of_input, n).size > 1) {
            order[len] = n as u8;
            len += 1;
        }
        order[..len].sort_by_key(|&n| {
            // Where one element is repeated, outside.
            let distance = match all(of_input, n.into()).stride.unsigned_abs() {
                0 => usize::MAX,
                distance => distance,
            };
            (Reverse(distance), are_columns && n == 1)
        });
        let (mut packed, mut step) = ([0; MAX_TILE_LOOPS], 1);
        for n in order[..len].iter().rev().map(|&n| usize::from(n)) {
            packed[n] = step;
            step *= all(of_input, n).size as isize;
        }
        let (mut starts, mut runs) = ([tile.input.start, mask.start, 0], Runs::<3>::EMPTY);
        for n in order[..len].iter().map(|&n| usize::from(n)) {
            let LoopDim { size, stride } = all(of_input, n);
            let mut strides = [stride, all(of_mask, n).stride, packed[n]];
            if stride < 0 {
                // To the lowest; and in the copy, the first is the last.
                let last = size as isize - 1;
                starts = [starts[0] + last * stride, starts[1] + last * strides[1], starts[2] + last * packed[n]];
                strides = [-stride, -strides[1], packed[n]];
                packed[n] = -packed[n];
            }
            runs.push(size, strides);
        }
        let mut reduced = Runs::EMPTY;
        for (l, &stride) in of_input.1.iter().zip(&packed[2..]) {
            reduced.push(l.size, [stride]);
        }
        let dims = [0, 1].map(|n| LoopDim { size: tile.input.dims[n].size, stride: packed[n] });
        let packed = Grid { start: starts[2], dims };
        TileLoops { runs, start: starts[0], mask_start: starts[1] as usize, len: step as usize, packed, reduced }
    }

    /// Those in the input: the slower ones, and the fastest.
    pub(super) fn of_input(&self) -> (&[LoopDim], LoopDim) {
        let ([slower, ..], [run, ..]) = self.runs.split();
        (slower, run)
    }

    /// The loops over what an output is chosen from, in the copy.
    pub(super) fn reduced(&self) -> &[LoopDim] {
        &self.reduced.loops[0][..self.reduced.len]
    }
}

/// What a mask says of a tile.
pub(super) struct TilePresence<'a> {
    pub(super) mask: &'a MaskPlaces<'a>,
    pub(super) copier: &'static MaskedCopier,
    pub(super) loops: &'a TileLoops,
}

/// A buffer for what is there of a tile, a byte for each element; and what it has, because where a mask is broadcast,
/// tiles have the same.
pub(super) struct PresenceBuffer<'b> {
    bytes: &'b mut [MaybeUninit<u8>; MAX_MASKED_LEN],
    /// Of a tile, how much is there.
    covered: Option<(TileKey, Coverage)>,
    held: Held,
    /// How many bytes have been initialised for bits: they stay so, because nothing writes places without a value.
    initialized: usize,
}

/// The first place of a tile in the mask, and its size: others with the same have the same there.
type TileKey = (usize, [usize; 2]);

/// What a buffer has of a tile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Nothing,
    Bytes(TileKey),
    Bits(TileKey),
}

impl<'b> PresenceBuffer<'b> {
    pub(super) fn new(bytes: &'b mut [MaybeUninit<u8>; MAX_MASKED_LEN]) -> Self {
        PresenceBuffer { bytes, covered: None, held: Held::Nothing, initialized: 0 }
    }
}

/// Runs of fewer elements are copied as one, where the input alone would be: first what is there of all. Not measured.
const MIN_MASK_RUN: usize = 64;

/// Of shorter runs, it takes as long to tell of which outputs something is there as to search for that. Not measured.
const MIN_TOLD_RUN: usize = 64;

/// Of shorter runs, elements are copied rather than bits put at their places. Not measured.
const MIN_PUT_RUN: usize = 256;

impl TilePresence<'_> {
    fn key(&self) -> TileKey {
        (self.loops.mask_start, self.loops.packed.dims.map(|l| l.size))
    }

    /// Whether all elements are there, or none, or some: looks up to the first that differs from those before.
    pub(super) fn coverage(&self, buffer: &mut PresenceBuffer<'_>) -> Coverage {
        match buffer.covered {
            Some((key, coverage)) if key == self.key() => coverage,
            _ => {
                let ([_, slower, _], [_, run, _]) = self.loops.runs.split();
                let coverage = self.mask.coverage(self.loops.mask_start, (slower, run));
                buffer.covered = Some((self.key(), coverage));
                coverage
            }
        }
    }

    /// Calls a function for each run, in the order of memory: with its place from the lowest element of the tile in the
    /// input, how far its elements are apart there, how many they are, and which of them are there.
    pub(super) fn for_each_run(
        &self,
        buffer: &mut PresenceBuffer<'_>,
        mut run: impl FnMut(isize, LoopDim, Presence<'_>),
    ) {
        let ([slower, slower_mask, slower_packed], [of_input, of_mask, of_copy]) = self.loops.runs.split();
        let is_turned = |rows: &LoopDim| !cfg!(without = "fast_masks") && of_mask.stride != 1 && rows.stride == 1;
        if (of_mask.size < MIN_MASK_RUN || slower_mask.last().is_some_and(is_turned)) && !slower.is_empty() {
            // As the input alone would be.
            let mut whole = Runs::<2>::EMPTY;
            for (from, to) in slower.iter().zip(slower_packed).chain([(&of_input, &of_copy)]) {
                whole.push(from.size, [from.stride, to.stride]);
            }
            let ([slower_whole, slower_packed], [of_whole, _]) = whole.split();
            let bytes = self.bytes(buffer);
            for_each_offset(slower_whole, slower_packed, |offset, packed| {
                run(offset, of_whole, Presence::Bytes(&bytes[packed as usize..][..of_whole.size]));
            });
            return;
        }
        for_each_offset(slower, slower_mask, |offset, mask_offset| {
            let first = self.loops.mask_start.wrapping_add_signed(mask_offset);
            let presence = if of_mask.stride == 1 || of_mask.size == 1 {
                self.mask.from(first)
            } else {
                buffer.held = Held::Nothing;
                Presence::Bytes(self.write_run(first, of_mask, buffer.bytes))
            };
            run(offset, of_input, presence);
        });
    }

    /// A bit for each element of the tile, as far from that of the lowest as it lies from that in the input, with the
    /// padding that kernels ask for; and which bit is that of the lowest. `None` where a copy is better; where runs are
    /// short, only unless bits are wanted.
    pub(super) fn bits<'b>(
        &'b self,
        buffer: &'b mut PresenceBuffer<'_>,
        are_wanted: bool,
    ) -> Option<(&'b [u8], usize)> {
        let ([slower, slower_mask, _], [of_input, of_mask, _]) = self.loops.runs.split();
        if [of_input.stride, of_mask.stride] != [1, 1] {
            return None;
        }
        let reach = |span: usize, l: &LoopDim| (l.size - 1).checked_mul(l.stride as usize)?.checked_add(span);
        let (span, first) = (slower.iter().try_fold(of_input.size, reach)?, self.loops.mask_start);
        if self.mask.format == MaskFormat::Bits && slower == slower_mask {
            // But of the last ones, whose padding may not be there.
            let from = &self.mask.bytes[first / 8..];
            if bytes_of_bits(span.saturating_add(first % 8)) <= from.len() {
                return Some((from, first % 8));
            }
        }
        // Each element needs a bit of its own, in runs that are worth it; and there has to be room.
        let is_apart = |span: usize, l: &LoopDim| if l.stride as usize >= span { reach(span, l) } else { None };
        let are_apart = slower.iter().rev().try_fold(of_input.size, is_apart).is_some();
        let can_be_put = are_apart && (are_wanted || of_input.size >= MIN_PUT_RUN || slower.is_empty());
        (can_be_put && bytes_of_bits(span) <= MAX_MASKED_LEN).then(|| (self.put_bits(span, buffer), 0))
    }

    /// Bits at those places in a buffer.
    #[inline(never)]
    fn put_bits<'b>(&self, span: usize, buffer: &'b mut PresenceBuffer<'_>) -> &'b [u8] {
        let len = bytes_of_bits(span);
        let to = &mut buffer.bytes[..len];
        to[buffer.initialized.min(len)..].fill(MaybeUninit::new(0));
        buffer.initialized = buffer.initialized.max(len);
        // SAFETY: all of them have been initialised, and whatever is written there is a byte.
        let to = unsafe { &mut *(&raw mut *to as *mut [u8]) };
        if buffer.held != Held::Bits(self.key()) {
            let ([slower, slower_mask, _], [_, run, _]) = self.loops.runs.split();
            for_each_offset(slower, slower_mask, |offset, mask_offset| {
                let first = self.loops.mask_start.wrapping_add_signed(mask_offset);
                self.write_bits(first, run.size, to, offset as usize);
            });
            buffer.held = Held::Bits(self.key());
        }
        to
    }

    /// Writes bits of a run from bit `at` on: whole words of them, of which the last bits are of no element.
    fn write_bits(&self, first: usize, len: usize, to: &mut [u8], at: usize) {
        let mut put = |n: usize, word: u64| {
            let (to, shift) = (&mut to[(at + n) / 8..][..9], (at + n) % 8);
            let kept = u64::from(to[0]) & ((1 << shift) - 1);
            to[..8].copy_from_slice(&(word << shift | kept).to_le_bytes());
            to[8] = (word >> 1 >> (63 - shift)) as u8;
        };
        let mut words = [0; 8];
        for start in (0..len).step_by(64 * words.len()) {
            let count = (len - start).min(64 * words.len());
            let words = &mut words[..count.div_ceil(64)];
            self.copier.pack(self.mask.from(first + start), count, words);
            words.iter().enumerate().for_each(|(n, &word)| put(start + 64 * n, word));
        }
    }

    /// A bit for each output of the tile: set where something of it is there, or where that takes long to tell. The
    /// loops are those over what an output is chosen from, in the mask; only some outputs are asked for.
    #[inline(never)]
    pub(super) fn outputs(
        &self,
        tile: &OutputTile,
        reduced: &[LoopDim],
        is_asked_for: &dyn Fn(usize) -> bool,
    ) -> [u64; MAX_MASKED_OUTPUTS / 64] {
        let (grid, mut there) = (tile.mask.expect("under a mask"), [0; MAX_MASKED_OUTPUTS / 64]);
        let inner = grid.dims[1];
        let mut put = |at: usize, word: u64| {
            there[at / 64] |= word << (at % 64);
            let beyond = word >> 1 >> (63 - at % 64);
            if beyond != 0 {
                there[at / 64 + 1] |= beyond;
            }
        };
        match reduced {
            // Row by row, all outputs that are side by side.
            _ if inner.stride == 1 && inner.size >= MIN_TOLD_RUN => {
                let mut words = [0; MAX_MASKED_OUTPUTS / 64];
                let words = &mut words[..inner.size.div_ceil(64)];
                for o in (0..tile.outputs()).step_by(inner.size) {
                    let first = grid.place(o);
                    for offset in StridedIter::new(reduced) {
                        self.copier.pack(self.mask.from(first.wrapping_add_signed(offset)), inner.size, words);
                        words.iter().enumerate().for_each(|(n, &word)| put(o + 64 * n, word));
                    }
                }
            }
            [slower @ .., run] if run.stride == 1 && run.size >= MIN_TOLD_RUN => {
                for n in (0..tile.outputs()).filter(|&n| is_asked_for(n)) {
                    let is_there = self.mask.coverage(grid.place(n), (slower, *run)) != Coverage::Nothing;
                    put(n, u64::from(is_there));
                }
            }
            _ => there = [u64::MAX; _],
        }
        there
    }

    /// 1 for each element of the tile that is there, and 0 for each that is not, packed.
    #[inline(never)]
    pub(super) fn bytes<'b>(&self, buffer: &'b mut PresenceBuffer<'_>) -> &'b [u8] {
        let (([_, slower, _], [_, run, _]), mut written) = (self.loops.runs.split(), 0);
        let (is_written, mask_start) = (buffer.held == Held::Bytes(self.key()), self.loops.mask_start);
        // Where the mask goes along the runs in larger steps than from one to the next.
        let is_turned = |rows: &LoopDim| {
            !cfg!(without = "fast_masks") && rows.stride == 1 && run.stride != 1 && rows.size.min(run.size) >= TURNED
        };
        let (slower, turned_rows) = match slower {
            [slower @ .., rows] if is_turned(rows) => (slower, Some(rows.size)),
            _ => (slower, None),
        };
        for offset in StridedIter::new(slower) {
            let (first, to) = (mask_start.wrapping_add_signed(offset), &mut buffer.bytes[written..]);
            match turned_rows {
                _ if is_written => (),
                Some(rows) => self.turn(first, rows, run, to),
                None => _ = self.write_run(first, run, to),
            }
            written += turned_rows.unwrap_or(1) * run.size;
        }
        buffer.held = Held::Bytes(self.key());
        // SAFETY: so many were written, run by run, each all of its elements: now, or when they were asked for last.
        unsafe { &*(&raw const buffer.bytes[..written] as *const [u8]) }
    }

    /// Those of so many runs, which are neighbours in the mask: turned by squares, of which the last ones overlap.
    fn turn(&self, first: usize, rows: usize, run: LoopDim, to: &mut [MaybeUninit<u8>]) {
        let to = &mut to[..rows * run.size];
        for n in (0..run.size).step_by(TURNED).map(|n| n.min(run.size - TURNED)) {
            for row in (0..rows).step_by(TURNED).map(|row| row.min(rows - TURNED)) {
                let column = |i: usize| first.wrapping_add_signed((n + i) as isize * run.stride) + row;
                let turned = turned(std::array::from_fn(|i| self.mask.from(column(i)).first_eight()));
                for (i, eight) in turned.into_iter().enumerate() {
                    let to = &mut to[(row + i) * run.size + n..][..TURNED];
                    to.copy_from_slice(&eight.to_le_bytes().map(MaybeUninit::new));
                }
            }
        }
    }

    /// Those of one run.
    fn write_run<'b>(&self, first: usize, run: LoopDim, to: &'b mut [MaybeUninit<u8>]) -> &'b [u8] {
        let (to, at) = (&mut to[..run.size], |n: usize| first.wrapping_add_signed(n as isize * run.stride));
        let byte = |n: usize| MaybeUninit::new(u8::from(self.mask.at(at(n))));
        match run.stride {
            0 => to.fill(byte(0)),
            // By vectors, as a copy of ones.
            1 => {
                for (n, to) in to.chunks_mut(ONES.len()).enumerate() {
                    let presence = self.mask.from(first + n * ONES.len());
                    // SAFETY: there are as many ones as a chunk has places.
                    unsafe { self.copier.copy(ONES.as_ptr(), 1, presence, 0, to) };
                }
            }
            _ => to.iter_mut().enumerate().for_each(|(n, to)| *to = byte(n)),
        }
        // SAFETY: all of them were written.
        unsafe { &*(&raw const *to as *const [u8]) }
    }
}

/// The sides of the squares that are turned: as many as bytes of a word. Not measured.
const TURNED: usize = 8;

/// Byte `m` of word `n` is byte `n` of word `m`.
fn turned(mut words: [u64; TURNED]) -> [u64; TURNED] {
    for (distance, kept) in [(4, 0xffff_ffff_u64), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)] {
        for n in (0..TURNED).filter(|n| n & distance == 0) {
            let swapped = (words[n] >> (8 * distance) ^ words[n + distance]) & kept;
            words[n + distance] ^= swapped;
            words[n] ^= swapped << (8 * distance);
        }
    }
    words
}

/// Calls a function with each offset along some loops, and with that along as many of the same sizes. The fastest are
/// plain loops: by iterators alone, a step took as long as a short run.
#[inline(always)]
fn for_each_offset(loops: &[LoopDim], others: &[LoopDim], mut call: impl FnMut(isize, isize)) {
    let (Some((fast, loops)), Some((other_fast, others))) = (loops.split_last(), others.split_last()) else {
        return call(0, 0);
    };
    for (offset, other) in StridedIter::new(loops).zip(StridedIter::new(others)) {
        for n in 0..fast.size as isize {
            call(offset + n * fast.stride, other + n * other_fast.stride);
        }
    }
}

/// How many bytes bits of so many elements take, with their padding.
fn bytes_of_bits(elements: usize) -> usize {
    elements.div_ceil(8).saturating_add(InputMask::PADDING)
}

/// What is copied, to have a byte of 1 for each element that is there.
static ONES: [u8; 512] = [1; 512];

/// Whether something is true of all bytes: a cache line of them at a time, to the first of which it is not.
#[inline(always)]
fn are_all(bytes: &[u8], is: impl Fn(u8) -> bool) -> bool {
    let (lines, rest) = bytes.as_chunks::<64>();
    lines.iter().all(|line| line.iter().fold(true, |all, &byte| all & is(byte))) && rest.iter().all(|&byte| is(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::tiles::for_each_tile;
    use crate::layout::{AxisSet, Window};
    use crate::{AxisDirection, Layout, Mask};

    /// Bits of any offset, bytes, and bytes at strides say the same of each element, as runs, as bytes and as bits; and
    /// whether that is one answer for all.
    #[test]
    fn all_formats_say_the_same() {
        let sizes = [2, 11, 80];
        for density in [0, 1, 50, 99, 100] {
            let bools: Vec<bool> = (0..1760_u64).map(|n| n * n * 7919 % 101 % 100 < density).collect();
            let bytes: Vec<u8> = bools.iter().enumerate().map(|(n, &is)| if is { n as u8 | 1 } else { 0 }).collect();
            let spread: Vec<bool> = bools.iter().flat_map(|&is| [is, !is]).collect();
            let strided = Layout::strided(&sizes, &[1760, 160, 2], 0).unwrap();
            let mut masks = vec![Mask::bools(&bools), Mask::bytes(&bytes), Mask::strided(&spread, &strided)];
            let bits: Vec<Vec<u8>> = (0..9)
                .map(|offset| {
                    let mut bits = vec![if density == 100 { 0xff } else { 0 }; (1760_usize + offset).div_ceil(8)];
                    for (n, &is) in bools.iter().enumerate() {
                        bits[(n + offset) / 8] =
                            bits[(n + offset) / 8] & !(1 << ((n + offset) % 8)) | u8::from(is) << ((n + offset) % 8);
                    }
                    bits
                })
                .collect();
            masks.extend(bits.iter().enumerate().map(|(offset, bits)| Mask::bits(bits, offset)));
            let layouts = [[880, 80, 1], [1, 2, 22], [880, 1, 11], [1760, 160, 2]];
            for (mask, strides) in masks.iter().flat_map(|mask| layouts.map(|strides| (mask, strides))) {
                let layout = Layout::strided(&sizes, &strides, 7).unwrap();
                let mask = mask.places(&layout).unwrap();
                assert_eq!(are_all_there(&mask, &sizes), density == 100);
                for (axes, direction) in [&[1_isize][..], &[0, 2], &[2], &[0, 1, 2]]
                    .into_iter()
                    .flat_map(|axes| AxisDirection::ALL.map(|direction| (axes, direction)))
                {
                    says_the_same(&bools, &mask, (&layout, AxisSet::new(axes, 3).unwrap(), direction));
                }
            }
        }
    }

    fn says_the_same(
        bools: &[bool],
        mask: &MaskPlaces<'_>,
        of_input @ (layout, axes, _): (&Layout, AxisSet, AxisDirection),
    ) {
        let sizes = layout.sizes();
        // By the place in the input.
        let mut is_there = vec![false; layout.required_len()];
        for (n, &is) in bools.iter().enumerate() {
            let at = [n / (sizes[1] * sizes[2]), n / sizes[2] % sizes[1], n % sizes[2]];
            let along: isize = at.iter().zip(layout.strides()).map(|(&n, &stride)| n as isize * stride).sum();
            is_there[(layout.offset() as isize + along) as usize] = is;
        }
        let kept: Vec<usize> = (0..3).map(|axis| if axes.contains(axis) { 1 } else { sizes[axis] }).collect();
        let mut shape = CollapsedShape::EMPTY;
        shape.collapse(of_input, &Layout::contiguous(&kept).unwrap(), Window::of_whole(sizes), Some(mask));
        let mut bytes = [MaybeUninit::uninit(); MAX_MASKED_LEN];
        let mut buffer = PresenceBuffer::new(&mut bytes);
        for_each_tile(&shape, 90, &mut |tile| {
            let loops = &TileLoops::of(tile, &shape, false);
            let presence = TilePresence { mask, copier: MaskedCopier::PORTABLE, loops };
            let (mut places, mut by_runs) = (Vec::new(), Vec::new());
            presence.for_each_run(&mut buffer, |offset, run, presence| {
                for n in 0..run.size {
                    places.push((loops.start + offset + n as isize * run.stride) as usize);
                    by_runs.push(u8::from(presence.at(n)));
                }
            });
            let expected: Vec<u8> = places.iter().map(|&place| u8::from(is_there[place])).collect();
            assert_eq!(places.len(), tile.outputs() * shape.reduced_dims().iter().map(|l| l.size).product::<usize>());
            assert_eq!(by_runs, expected, "{mask:?}, {of_input:?}");
            assert_eq!(presence.bytes(&mut buffer), expected, "{mask:?}, {of_input:?}");
            let coverage = match (expected.contains(&0), expected.contains(&1)) {
                (false, _) => Coverage::All,
                (_, false) => Coverage::Nothing,
                _ => Coverage::Some,
            };
            assert_eq!(presence.coverage(&mut buffer), coverage, "{mask:?}, {of_input:?}");
            let there = presence.outputs(tile, shape.mask.reduced_dims(), &|_| true);
            for n in 0..tile.outputs() {
                let first = tile.input.place(n);
                let mut places = StridedIter::new(shape.reduced_dims()).map(|offset| first.wrapping_add_signed(offset));
                let (says, is) = (there[n / 64] >> (n % 64) & 1 != 0, places.any(|place| is_there[place]));
                let of_mask = (tile.mask.unwrap().dims[1], shape.mask.reduced_dims().last());
                let is_told = |l: &LoopDim| l.stride == 1 && l.size >= MIN_TOLD_RUN;
                let is_exact = is_told(&of_mask.0) || of_mask.1.is_some_and(is_told);
                assert!(says == is || says && !is_exact, "output {n}, {mask:?}, {of_input:?}");
            }
            if let Some((bits, first)) = presence.bits(&mut buffer, true) {
                for (&place, &byte) in places.iter().zip(&expected) {
                    let n = first + place - loops.start as usize;
                    assert_eq!(bits[n / 8] >> (n % 8) & 1, byte, "{mask:?}, {of_input:?}");
                }
            }
        });
    }
}
