//! How a segment is cut into blocks: how long they are, and where they lie. Nothing here looks at elements.

use super::segment::Segment;
use crate::order::{ArgOrder, has_max};
use crate::prefetch::CACHE_LINE_BYTES;
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;

/// Vectors in a block of a long row, by `IsaTuning::min_long_block_lane_bytes`: more where a select takes several
/// operations, or where each block waits for the one before for as long as four vectors take to load; fewer where
/// vectors are long, because many a row has no more of them. Segments of several outputs have short ones. See
/// docs/tuning.md#vectors-in-a-block.
pub(super) const SHORT: usize = 4;
/// Vectors in the longer blocks. See docs/tuning.md#vectors-in-a-block.
pub(super) const LONG: usize = 8;

/// The elements in a block of `V` vectors, and so the fewest of a segment.
#[inline(always)]
pub(super) const fn len_of_blocks<O: ArgOrder, const V: usize>() -> usize {
    const { assert!(V.is_power_of_two() && O::Simd::LANES.is_power_of_two()) };
    V * O::Simd::LANES
}

/// The elements in a block of a long row, and so the fewest of one.
#[inline(always)]
pub(super) const fn block_len<O: ArgOrder>() -> usize {
    if has_long_blocks::<O>() { len_of_blocks::<O, LONG>() } else { len_of_blocks::<O, SHORT>() }
}

pub(super) const fn has_long_blocks<O: ArgOrder>() -> bool {
    size_of::<O::Lane>() >= O::Simd::TUNING.min_long_block_lane_bytes || !has_max::<O>()
}

/// The fewest blocks of a segment that is [aligned](BlockedSegment::aligned). A vector of 64 bytes that is not aligned
/// lies in two cache lines, which costs more than one additional block. See docs/tuning.md#min_aligned_blocks.
const MIN_ALIGNED_BLOCKS: usize = 9;

/// Where blocks lie, by their numbers in the order of visiting.
pub(super) trait BlockMap<L>: Copy {
    fn count(self) -> usize;

    /// The position of the first element of a block, and the block.
    fn block(self, n: usize) -> (usize, Segment<L>);
}

/// A segment, of at least a block, as blocks of `block_len` elements; the last one overlaps the one before.
#[derive(Clone, Copy)]
pub(super) struct BlockedSegment<L> {
    pub(super) segment: Segment<L>,
    pub(super) block_len: usize,
    /// How many elements earlier all blocks but the first begin, so that they are aligned.
    pub(super) shift: usize,
}

/// Whether blocks may be [aligned](BlockedSegment::aligned).
pub(super) const fn may_shift<O: ArgOrder>() -> bool {
    O::Simd::LANES * size_of::<O::Lane>() == CACHE_LINE_BYTES
}

impl<L: Copy> BlockedSegment<L> {
    /// Of `block_len` elements each: a power of two, as callers assert when they are compiled.
    #[inline(always)]
    pub(super) fn of_length(segment: Segment<L>, block_len: usize) -> Self {
        debug_assert!(block_len.is_power_of_two());
        BlockedSegment { segment, block_len, shift: 0 }
    }

    /// Of `V` vectors each. If the segment is long, and vectors are as long as cache lines, all blocks between the
    /// first and the last begin at cache line boundaries. (Not backwards.)
    #[inline(always)]
    pub(super) fn aligned<O: ArgOrder<Lane = L>, const V: usize>(_: O, segment: Segment<L>) -> Self {
        let blocks = BlockedSegment::of_length(segment, len_of_blocks::<O, V>());
        let is_long = segment.len >= MIN_ALIGNED_BLOCKS * blocks.block_len;
        let shifts = const { may_shift::<O>() } && !segment.reversed && is_long;
        BlockedSegment { shift: if shifts { segment.at.addr() / size_of::<L>() % O::Simd::LANES } else { 0 }, ..blocks }
    }

    /// From one block to the next, upwards or downwards; the direction is known at run time only.
    #[inline(always)]
    pub(super) fn step(self) -> isize {
        if self.segment.reversed { -(self.block_len as isize) } else { self.block_len as isize }
    }

    #[inline(always)]
    pub(super) fn first(self) -> Segment<L> {
        self.segment.part(0, self.block_len)
    }

    #[inline(always)]
    pub(super) fn last(self) -> Segment<L> {
        self.segment.part(self.segment.len - self.block_len, self.block_len)
    }
}

impl<L: Copy> BlockMap<L> for BlockedSegment<L> {
    #[inline(always)]
    fn count(self) -> usize {
        // (Blocks are powers of two: a division would take longer than some of them.)
        (self.segment.len + self.shift + self.block_len - 1) >> self.block_len.trailing_zeros()
    }

    #[inline(always)]
    fn block(self, n: usize) -> (usize, Segment<L>) {
        let start = (n * self.block_len).saturating_sub(self.shift).min(self.segment.len - self.block_len);
        (start, self.segment.part(start, self.block_len))
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockMap, BlockedSegment, Segment};
    use crate::tuning::Tuning;

    fn count(len: usize, block_len: usize) -> usize {
        BlockedSegment::of_length(Segment::new(core::ptr::null::<u8>(), len, false, Tuning::current()), block_len)
            .count()
    }

    #[test]
    fn counts_the_last_block() {
        assert_eq!([512, 513, 1024, 1025].map(|len| count(len, 512)), [1, 2, 2, 3]);
    }

    /// Blocks are counted by a shift, which is wrong for other numbers.
    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "is_power_of_two")]
    fn blocks_are_powers_of_two() {
        count(1536, 768);
    }
}
