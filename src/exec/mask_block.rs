//! Which elements of a block are there: run by run, as bytes packed in the order of memory, or as bits at the places of
//! the elements in the input. Nothing here knows of elements.
#![allow(unsafe_code)]

use crate::mask::{MaskFormat, MaskPlaces};
use crate::planner::{BlockLoops, BlockStart, Blocks, MAX_BLOCK_LEN};
use crate::{Layout, MAX_RANK};
use argreduce_kernels::{InputMask, LoopDim, MaskedCopier, Presence, StridedIter};
use std::mem::MaybeUninit;

/// A mask, cut into blocks.
#[derive(Clone, Copy)]
pub(super) struct MaskBlocks<'a> {
    mask: MaskPlaces<'a>,
    /// Over a block in the input and in the mask: of the same sizes.
    loops: [BlockLoops; 2],
    /// Over a block in the input and packed.
    of_input: [BlockLoops; 2],
    bits: Option<BitPlaces>,
    copier: &'static MaskedCopier,
}

/// Bits of a block that are as far from that of the first element as the elements are in the input, which is the lowest
/// of them.
#[derive(Clone, Copy)]
struct BitPlaces {
    /// From the first element to the last, and one more.
    span: usize,
    /// Whether the mask is bits that lie so.
    are_the_masks: bool,
}

/// Whether all elements of a layout are there, and there are some: looks up to the first that is not, and along an axis
/// along which the mask is broadcast, at one.
pub(crate) fn are_all_there(mask: MaskPlaces<'_>, layout: &Layout) -> bool {
    let [loops] = Blocks::whole(layout, &mask.strides).loops([&mask.strides]);
    mask.at(mask.start) && mask.coverage(mask.start, &loops) == Coverage::All
}

impl<'a> MaskPlaces<'a> {
    /// Which elements are there from this place on.
    #[inline(always)]
    fn from(&self, place: usize) -> Presence<'a> {
        match self.format {
            MaskFormat::Bits => Presence::Bits(self.bytes, place),
            MaskFormat::Bytes => Presence::Bytes(&self.bytes[place..]),
        }
    }

    #[inline(always)]
    fn at(&self, place: usize) -> bool {
        self.from(place).at(0)
    }

    /// How much is there along some loops from a place on: looks up to the first that differs from those before.
    fn coverage(&self, first: usize, loops: &BlockLoops) -> Coverage {
        let ((slower, run), is_there) = (loops.split(), self.at(first));
        let is_one =
            StridedIter::new(slower).all(|offset| self.is_all(first.wrapping_add_signed(offset), run, is_there));
        match (is_one, is_there) {
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

/// A buffer for what is there of a block, a byte for each element; and what it has, because where a mask is broadcast,
/// blocks have the same.
pub(super) struct PresenceBuffer<'b> {
    bytes: &'b mut [MaybeUninit<u8>; MAX_BLOCK_LEN],
    /// Of the block with this first place in the mask, how much is there.
    covered: Option<(usize, Coverage)>,
    held: Held,
    /// How many bytes have been initialised for bits: they stay so, because nothing writes places without a value.
    initialized: usize,
}

/// What a buffer has of the block with this first place in the mask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Nothing,
    Bytes(usize),
    Bits(usize),
}

impl<'b> PresenceBuffer<'b> {
    pub(super) fn new(bytes: &'b mut [MaybeUninit<u8>; MAX_BLOCK_LEN]) -> Self {
        PresenceBuffer { bytes, covered: None, held: Held::Nothing, initialized: 0 }
    }
}

/// Runs of fewer elements are copied as one, where the input alone would be: first what is there of all. See
/// docs/tuning.md#not-measured.
const MIN_MASK_RUN: usize = 64;

/// Which elements of a block are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    All,
    Nothing,
    Some,
}

/// What a mask says of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockMask<'b> {
    of_all: &'b MaskBlocks<'b>,
    /// The place of the first element in the mask.
    first: usize,
}

impl<'a> MaskBlocks<'a> {
    /// Of an input with these strides.
    pub(super) fn new(
        mask: MaskPlaces<'a>,
        blocks: &Blocks,
        strides: &[isize; MAX_RANK],
        copier: &'static MaskedCopier,
    ) -> Self {
        let loops = blocks.loops([strides, &mask.strides]);
        let of_input = blocks.loops([strides, &blocks.packed()]);
        MaskBlocks { mask, loops, of_input, bits: BitPlaces::of(mask.format, &loops), copier }
    }

    /// Whether [`BlockMask::bits`] may have any.
    pub(super) fn may_have_bits(&self) -> bool {
        self.bits.is_some()
    }

    /// Of the block that begins there.
    pub(super) fn of(&self, start: &BlockStart) -> BlockMask<'_> {
        let offset: isize = start.iter().zip(&self.mask.strides).map(|(&n, &stride)| n as isize * stride).sum();
        BlockMask { of_all: self, first: self.mask.start.wrapping_add_signed(offset) }
    }
}

impl BitPlaces {
    /// Of loops over the input and the mask. `None` where bits can neither serve as they are, nor be put: then each
    /// element needs one of its own, in runs that are worth it, and there has to be room.
    fn of(format: MaskFormat, loops: &[BlockLoops; 2]) -> Option<BitPlaces> {
        let [(slower, of_input), (slower_mask, of_mask)] = loops.each_ref().map(BlockLoops::split);
        if [of_input.stride, of_mask.stride] != [1, 1] || slower.iter().any(|l| l.stride < 0) {
            return None;
        }
        let reach = |span: usize, l: &LoopDim| (l.size - 1).checked_mul(l.stride.unsigned_abs())?.checked_add(span);
        let span = slower.iter().try_fold(of_input.size, reach)?;
        let are_the_masks = format == MaskFormat::Bits && slower == slower_mask;
        let is_apart = |span: usize, l: &LoopDim| {
            if l.stride.unsigned_abs() >= span { reach(span, l) } else { None }
        };
        let are_apart = slower.iter().rev().try_fold(of_input.size, is_apart).is_some();
        let can_be_put = are_apart && of_input.size >= MIN_MASK_RUN && bytes_of_bits(span) <= MAX_BLOCK_LEN;
        (are_the_masks || can_be_put).then_some(BitPlaces { span, are_the_masks })
    }
}

impl BlockMask<'_> {
    /// Whether all elements are there, or none, or some: looks up to the first that differs from those before.
    #[inline(never)]
    pub(super) fn coverage(&self, buffer: &mut PresenceBuffer<'_>) -> Coverage {
        match buffer.covered {
            Some((first, coverage)) if first == self.first => coverage,
            _ => {
                let coverage = self.of_all.mask.coverage(self.first, &self.of_all.loops[1]);
                buffer.covered = Some((self.first, coverage));
                coverage
            }
        }
    }

    /// Calls a function for each run, in the order of memory: with its place from the first element of the block in the
    /// input, how far its elements are apart there, how many they are, and which of them are there.
    pub(super) fn for_each_run(
        &self,
        buffer: &mut PresenceBuffer<'_>,
        mut run: impl FnMut(isize, LoopDim, Presence<'_>),
    ) {
        let [(slower, of_input), (slower_mask, of_mask)] = self.of_all.loops.each_ref().map(BlockLoops::split);
        let [(slower_input, whole), (slower_packed, _)] = self.of_all.of_input.each_ref().map(BlockLoops::split);
        if of_mask.size < MIN_MASK_RUN.min(whole.size) {
            let bytes = self.bytes(buffer);
            for (offset, packed) in StridedIter::new(slower_input).zip(StridedIter::new(slower_packed)) {
                run(offset, whole, Presence::Bytes(&bytes[packed as usize..][..whole.size]));
            }
            return;
        }
        for (offset, mask_offset) in StridedIter::new(slower).zip(StridedIter::new(slower_mask)) {
            let first = self.first.wrapping_add_signed(mask_offset);
            let presence = if of_mask.stride == 1 || of_mask.size == 1 {
                self.of_all.mask.from(first)
            } else {
                buffer.held = Held::Nothing;
                Presence::Bytes(self.write_run(first, of_mask, buffer.bytes))
            };
            run(offset, of_input, presence);
        }
    }

    /// A bit for each element of the block, as far from that of the first as it lies from that in the input, with the
    /// padding that kernels ask for; and which bit is that of the first. `None` where a copy is better.
    #[inline(always)]
    pub(super) fn bits<'b>(&'b self, buffer: &'b mut PresenceBuffer<'_>) -> Option<(&'b [u8], usize)> {
        let MaskBlocks { bits, mask, .. } = self.of_all;
        let (BitPlaces { span, are_the_masks }, place) = ((*bits)?, self.first);
        if are_the_masks {
            let (from, first) = (&mask.bytes[place / 8..], place % 8);
            if bytes_of_bits(first.saturating_add(span)) <= from.len() {
                return Some((from, first));
            }
        }
        // As one of the last blocks, whose padding is not there.
        (bytes_of_bits(span) <= MAX_BLOCK_LEN).then(|| (self.put_bits(span, buffer), 0))
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
        if buffer.held != Held::Bits(self.first) {
            let [(slower, _), (slower_mask, run)] = self.of_all.loops.each_ref().map(BlockLoops::split);
            for (offset, mask_offset) in StridedIter::new(slower).zip(StridedIter::new(slower_mask)) {
                self.write_bits(self.first.wrapping_add_signed(mask_offset), run.size, to, offset as usize);
            }
            buffer.held = Held::Bits(self.first);
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
            self.of_all.copier.pack(self.of_all.mask.from(first + start), count, words);
            words.iter().enumerate().for_each(|(n, &word)| put(start + 64 * n, word));
        }
    }

    /// 1 for each element of the block that is there, and 0 for each that is not.
    #[inline(never)]
    pub(super) fn bytes<'b>(&self, buffer: &'b mut PresenceBuffer<'_>) -> &'b [u8] {
        let ((slower, run), mut written) = (self.of_all.loops[1].split(), 0);
        let is_written = buffer.held == Held::Bytes(self.first);
        for offset in StridedIter::new(slower) {
            if !is_written {
                self.write_run(self.first.wrapping_add_signed(offset), run, &mut buffer.bytes[written..]);
            }
            written += run.size;
        }
        buffer.held = Held::Bytes(self.first);
        // SAFETY: so many were written, run by run, each all of its elements: now, or when they were asked for last.
        unsafe { &*(&raw const buffer.bytes[..written] as *const [u8]) }
    }

    /// Those of one run.
    fn write_run<'b>(&self, first: usize, run: LoopDim, to: &'b mut [MaybeUninit<u8>]) -> &'b [u8] {
        let to = &mut to[..run.size];
        self.write(first, run.stride, to);
        // SAFETY: all of them were written.
        unsafe { &*(&raw const *to as *const [u8]) }
    }

    fn write(&self, first: usize, stride: isize, to: &mut [MaybeUninit<u8>]) {
        match stride {
            0 => to.fill(MaybeUninit::new(u8::from(self.of_all.mask.at(first)))),
            // By vectors, as a copy of ones.
            1 => {
                for (n, to) in to.chunks_mut(ONES.len()).enumerate() {
                    let presence = self.of_all.mask.from(first + n * ONES.len());
                    // SAFETY: there are as many ones as a chunk has places.
                    unsafe { self.of_all.copier.copy(ONES.as_ptr(), 1, presence, 0, to) };
                }
            }
            _ => {
                for (n, to) in to.iter_mut().enumerate() {
                    *to =
                        MaybeUninit::new(u8::from(self.of_all.mask.at(first.wrapping_add_signed(n as isize * stride))));
                }
            }
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
    use crate::layout::AxisSet;
    use crate::{Layout, Mask};

    /// Bits of any offset, bytes, and bytes at strides say the same of each element; and whether that is one answer
    /// for all.
    #[test]
    fn all_formats_say_the_same() {
        let sizes = [3, 5, 40];
        let layout = Layout::contiguous(&sizes).unwrap();
        for density in [0, 1, 50, 99, 100] {
            let bools: Vec<bool> = (0..600_u64).map(|n| n * n * 7919 % 101 % 100 < density).collect();
            let bytes: Vec<u8> = bools.iter().enumerate().map(|(n, &is)| if is { n as u8 | 1 } else { 0 }).collect();
            let spread: Vec<bool> = bools.iter().flat_map(|&is| [is, !is]).collect();
            let strided = Layout::strided(&sizes, &[400, 80, 2], 0).unwrap();
            let blocks = Blocks::of(&layout, AxisSet::new(&[1], 3).unwrap(), 8);
            let mut masks = vec![Mask::bools(&bools), Mask::bytes(&bytes), Mask::strided(&spread, &strided)];
            let bits: Vec<Vec<u8>> = (0..9)
                .map(|offset| {
                    let mut bits = vec![if density == 100 { 0xff } else { 0 }; (600_usize + offset).div_ceil(8)];
                    for (n, &is) in bools.iter().enumerate() {
                        bits[(n + offset) / 8] =
                            bits[(n + offset) / 8] & !(1 << ((n + offset) % 8)) | u8::from(is) << ((n + offset) % 8);
                    }
                    bits
                })
                .collect();
            masks.extend(bits.iter().enumerate().map(|(offset, bits)| Mask::bits(bits, offset)));
            for mask in masks {
                let places = mask.places(&sizes).unwrap();
                let of_mask = MaskBlocks::new(places, &blocks, &[200, 40, 1, 0, 0, 0, 0, 0], MaskedCopier::PORTABLE);
                let [outputs, reduced] = blocks.counts();
                for (o, r) in (0..outputs).flat_map(|o| (0..reduced).map(move |r| (o, r))) {
                    let start = blocks.start(o, r);
                    let [loops] = blocks.loops([&[200, 40, 1, 0, 0, 0, 0, 0]]);
                    let (slower, run) = loops.split();
                    let first = start[0] * 200 + start[1] * 40 + start[2];
                    let expected: Vec<u8> = StridedIter::new(slower)
                        .flat_map(|offset| (0..run.size).map(move |n| offset as usize + n * run.stride as usize))
                        .map(|place| u8::from(bools[first + place]))
                        .collect();
                    let (of_block, mut bytes) = (of_mask.of(&start), [MaybeUninit::uninit(); MAX_BLOCK_LEN]);
                    let mut buffer = PresenceBuffer::new(&mut bytes);
                    let is_any = |byte| expected.contains(&byte);
                    let coverage = match (is_any(0), is_any(1)) {
                        (false, _) => Coverage::All,
                        (_, false) => Coverage::Nothing,
                        _ => Coverage::Some,
                    };
                    assert_eq!(of_block.coverage(&mut buffer), coverage, "{mask:?}, {start:?}");
                    let mut by_runs = Vec::new();
                    of_block.for_each_run(&mut buffer, |_, run, presence| {
                        by_runs.extend((0..run.size).map(|n| u8::from(presence.at(n))));
                    });
                    assert_eq!(by_runs, expected, "{mask:?}, {start:?}");
                    let found = of_block.bytes(&mut buffer);
                    assert_eq!(found, expected, "{mask:?}, {start:?}");
                }
            }
        }
    }
}
