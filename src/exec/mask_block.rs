//! Which elements of a block are there: a byte for each, packed in the order of memory. Nothing here knows of elements.
#![allow(unsafe_code)]

use crate::mask::{MaskFormat, MaskPlaces};
use crate::planner::{BlockLoops, BlockStart, Blocks, MAX_BLOCK_LEN};
use argreduce_kernels::{LoopDim, MaskedCopier, StridedIter};
use std::mem::MaybeUninit;

/// A mask, cut into blocks.
#[derive(Clone, Copy)]
pub(super) struct MaskBlocks<'a> {
    mask: MaskPlaces<'a>,
    loops: BlockLoops,
    copier: &'static MaskedCopier,
}

/// Which elements of a block are there.
pub(super) enum Coverage<'b> {
    All,
    Nothing,
    /// Those whose byte is 1; that of each other is 0.
    Some(&'b [u8]),
}

impl<'a> MaskBlocks<'a> {
    pub(super) fn new(mask: MaskPlaces<'a>, blocks: &Blocks, copier: &'static MaskedCopier) -> Self {
        MaskBlocks { mask, loops: blocks.loops(&mask.strides), copier }
    }

    /// Which elements of the block that begins there are; where that is mixed, by what is written to a buffer.
    #[inline(never)]
    pub(super) fn coverage<'b>(
        &self,
        start: &BlockStart,
        buffer: &'b mut [MaybeUninit<u8>; MAX_BLOCK_LEN],
    ) -> Coverage<'b>
    where
        'a: 'b,
    {
        let MaskBlocks { mask, ref loops, copier } = *self;
        let MaskPlaces { bytes, format, start: first, ref strides } = mask;
        let offset: isize = start.iter().zip(strides).map(|(&n, &stride)| n as isize * stride).sum();
        let first = first.wrapping_add_signed(offset);
        let (slower, run) = loops.split();
        let is_contiguous = run.stride == 1 || run.size == 1;
        let there = if slower.is_empty() && is_contiguous && format != MaskFormat::Bytes {
            if format == MaskFormat::Bools {
                &bytes[first..][..run.size]
            } else if let Some(coverage) = of_bits(bytes, first, run.size) {
                return coverage;
            } else {
                return Coverage::Some(copier.expand(bytes, first, &mut buffer[..run.size]));
            }
        } else {
            let mut written = 0;
            for offset in StridedIter::new(slower) {
                let to = &mut buffer[written..][..run.size];
                written += run.size;
                write_run(mask, first.wrapping_add_signed(offset), run, to, copier);
            }
            // SAFETY: so many were written, run by run, each all of its elements.
            unsafe { &*(&raw const buffer[..written] as *const [u8]) }
        };
        match there.first() {
            Some(&first) if are_all(there, first) => {
                if first == 0 {
                    Coverage::Nothing
                } else {
                    Coverage::All
                }
            }
            _ => Coverage::Some(there),
        }
    }
}

/// Writes 1 for each element of a run that is there, and 0 for each that is not.
fn write_run(
    MaskPlaces { bytes, format, .. }: MaskPlaces<'_>,
    first: usize,
    LoopDim { size, stride }: LoopDim,
    to: &mut [MaybeUninit<u8>],
    copier: &MaskedCopier,
) {
    let at = |n: usize| first.wrapping_add_signed(n as isize * stride);
    match (format, stride) {
        (MaskFormat::Bits, 1) => {
            copier.expand(bytes, first, to);
        }
        (MaskFormat::Bits, _) => write_each(to, |n| bytes[at(n) / 8] >> (at(n) % 8) & 1),
        (_, 0) => write_each(to, |_| u8::from(bytes[first] != 0)),
        // A slice, so that the loop needs no checks.
        (_, 1) => {
            let bytes = &bytes[first..][..size];
            write_each(to, |n| u8::from(bytes[n] != 0));
        }
        _ => write_each(to, |n| u8::from(bytes[at(n)] != 0)),
    }
}

#[inline(always)]
fn write_each(to: &mut [MaybeUninit<u8>], byte: impl Fn(usize) -> u8) {
    for (n, to) in to.iter_mut().enumerate() {
        *to = MaybeUninit::new(byte(n));
    }
}

/// Whether all bytes are the same: a vector of them at a time, to the first that is not.
fn are_all(bytes: &[u8], byte: u8) -> bool {
    let (groups, rest) = bytes.as_chunks::<64>();
    groups.iter().all(|group| group.iter().fold(0, |differ, &other| differ | (other ^ byte)) == 0)
        && rest.iter().all(|&other| other == byte)
}

/// Whether all of some bits are set, or none: by words, to the first that differs.
fn of_bits<'b>(bytes: &[u8], first: usize, len: usize) -> Option<Coverage<'b>> {
    let bit = |n: usize| bytes[n / 8] >> (n % 8) & 1;
    let is_set = bit(first);
    // Whole bytes between those that are not.
    let (start, end) = ((first.div_ceil(8) * 8).min(first + len), (first + len) / 8 * 8);
    let same = |mut bits: std::ops::Range<usize>| bits.all(|n| bit(n) == is_set);
    let is_one = same(first..start)
        && same(end.max(start)..first + len)
        && (start >= end || are_all(&bytes[start / 8..end / 8], if is_set == 1 { 0xff } else { 0 }));
    is_one.then_some(if is_set == 1 { Coverage::All } else { Coverage::Nothing })
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
                let of_mask = MaskBlocks::new(places, &blocks, MaskedCopier::PORTABLE);
                let [outputs, reduced] = blocks.counts();
                for (o, r) in (0..outputs).flat_map(|o| (0..reduced).map(move |r| (o, r))) {
                    let start = blocks.start(o, r);
                    let loops = blocks.loops(&[200, 40, 1, 0, 0, 0, 0, 0]);
                    let (slower, run) = loops.split();
                    let first = start[0] * 200 + start[1] * 40 + start[2];
                    let expected: Vec<u8> = StridedIter::new(slower)
                        .flat_map(|offset| (0..run.size).map(move |n| offset as usize + n * run.stride as usize))
                        .map(|place| u8::from(bools[first + place]))
                        .collect();
                    let found = match of_mask.coverage(&start, &mut [MaybeUninit::uninit(); MAX_BLOCK_LEN]) {
                        Coverage::All => vec![1; expected.len()],
                        Coverage::Nothing => vec![0; expected.len()],
                        Coverage::Some(there) => {
                            assert!(there.contains(&0) && there.contains(&1));
                            there.to_vec()
                        }
                    };
                    assert_eq!(found, expected, "{mask:?}, {start:?}");
                }
            }
        }
    }
}
