//! How a segment is cut into blocks: how long they are, and where they lie. Nothing here compares elements.

use super::segment::Segment;
use crate::order::both::BothWith;
use crate::order::{ArgOrder, Vec, has_max};
use crate::prefetch::CACHE_LINE_BYTES;
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;

/// Vectors in a small block. A long row has large ones by `IsaTuning::min_large_block_lane_bytes`: where a select takes
/// several operations, or where each block waits for the one before for as long as four vectors take to load. Where
/// vectors are long, many a row has no more than those. Segments of several outputs have small ones. See
/// docs/tuning.md#vectors-in-a-block.
pub(super) const SMALL: usize = 4;
/// Vectors in a large block. See docs/tuning.md#vectors-in-a-block.
pub(super) const LARGE: usize = 8;

/// The elements in a block of a long row, and so the fewest of one.
#[inline(always)]
pub(super) const fn block_len<O: ArgOrder>() -> usize {
    if has_large_blocks::<O>() { Block::<O, LARGE>::LEN } else { Block::<O, SMALL>::LEN }
}

pub(super) const fn has_large_blocks<O: ArgOrder>() -> bool {
    size_of::<O::Lane>() >= O::Simd::TUNING.min_large_block_lane_bytes || !has_max::<O>()
}

/// The fewest blocks of a segment that is [aligned](BlockedSegment::aligned). A vector of 64 bytes that is not aligned
/// lies in two cache lines, which costs more than one additional block. See docs/tuning.md#min_aligned_blocks.
const MIN_ALIGNED_BLOCKS: usize = 9;

/// A segment of exactly `V` vectors.
#[derive(Clone, Copy)]
pub(super) struct Block<'a, O: ArgOrder, const V: usize>(Segment<'a, O::Lane>);

impl<'a, O: ArgOrder, const V: usize> Block<'a, O, V> {
    /// The elements in a block, and so the fewest of a segment.
    pub(super) const LEN: usize = {
        // Blocks are counted by a shift.
        assert!(V.is_power_of_two() && O::Simd::LANES.is_power_of_two());
        V * O::Simd::LANES
    };

    /// Segments of other lengths panic.
    #[inline(always)]
    pub(super) fn new(segment: Segment<'a, O::Lane>) -> Self {
        assert!(segment.len() == Self::LEN);
        Block(segment)
    }

    #[inline(always)]
    pub(super) fn segment(self) -> Segment<'a, O::Lane> {
        self.0
    }

    /// Its elements, in the order of memory, as they are there.
    #[inline(always)]
    pub(super) fn load_raw(self, order: O) -> [Vec<O>; V] {
        let mut vectors = [order.identity(); V];
        let mut n = 0;
        while n < V {
            // SAFETY: a block has as many elements as these vectors, and those of a segment may be read.
            vectors[n] = unsafe { order.simd().load(self.0.address((n * O::Simd::LANES) as isize)) };
            n += 1;
        }
        vectors
    }

    /// Its vectors, in the order of memory.
    #[inline(always)]
    pub(super) fn load(self, order: O) -> [Vec<O>; V] {
        // SAFETY: a block has as many elements as these vectors, and those of a segment may be read.
        unsafe { order.load_several(self.0.address(0)) }
    }
}

/// Where blocks lie, by their numbers in the order of visiting.
pub(super) trait BlockMap<'a, O: ArgOrder, const V: usize>: Copy {
    fn count(self) -> usize;

    /// The position of the first element of a block, and the block.
    fn block(self, n: usize) -> (usize, Block<'a, O, V>);
}

/// A segment, of at least a block, as blocks of `V` vectors; the last one overlaps the one before.
#[derive(Clone, Copy)]
pub(super) struct BlockedSegment<'a, O: ArgOrder, const V: usize> {
    segment: Segment<'a, O::Lane>,
    /// How many elements earlier all blocks but the first begin, so that they are aligned: less than a block.
    shift: usize,
}

/// Whether blocks may be [aligned](BlockedSegment::aligned).
pub(super) const fn may_shift<O: ArgOrder>() -> bool {
    O::Simd::LANES * size_of::<O::Lane>() == CACHE_LINE_BYTES
}

impl<'a, O: ArgOrder, const V: usize> BlockedSegment<'a, O, V> {
    const BLOCK_LEN: usize = Block::<O, V>::LEN;

    /// The blocks of a segment. One that is less than a block panics.
    #[inline(always)]
    pub(super) fn new(segment: Segment<'a, O::Lane>) -> Self {
        assert!(segment.len() >= Self::BLOCK_LEN);
        BlockedSegment { segment, shift: 0 }
    }

    /// [`BlockedSegment::new`], but if there are many of them, and vectors are as long as cache lines, all blocks
    /// between the first and the last begin at cache line boundaries. (Not backwards.)
    #[inline(always)]
    pub(super) fn aligned(segment: Segment<'a, O::Lane>) -> Self {
        let blocks = Self::new(segment);
        let are_many = segment.len() >= MIN_ALIGNED_BLOCKS * Self::BLOCK_LEN;
        let shifts = const { may_shift::<O>() } && !segment.is_reversed() && are_many;
        let number = segment.address(0).addr() / size_of::<O::Lane>();
        BlockedSegment { shift: if shifts { number % O::Simd::LANES } else { 0 }, ..blocks }
    }

    /// The same blocks, by another order of the same vectors.
    #[inline(always)]
    pub(super) fn of_order<B: BothWith<O>>(self) -> BlockedSegment<'a, B, V> {
        BlockedSegment { segment: self.segment, shift: self.shift }
    }

    /// As many blocks of another segment of the same length, which lie in it in the same way.
    #[inline(always)]
    pub(super) fn of_other(self, segment: Segment<'a, O::Lane>) -> Self {
        assert!(segment.len() == self.segment.len());
        BlockedSegment { segment, ..self }
    }

    #[inline(always)]
    pub(super) fn segment(self) -> Segment<'a, O::Lane> {
        self.segment
    }

    /// From one block to the next, upwards or downwards; the direction is known at run time only.
    #[inline(always)]
    pub(super) fn step(self) -> isize {
        if self.segment.is_reversed() { -(Self::BLOCK_LEN as isize) } else { Self::BLOCK_LEN as isize }
    }

    /// The lowest address of block `n`, unless it is the last, which overlaps.
    #[inline(always)]
    pub(super) fn address(self, n: usize) -> *const O::Lane {
        let shift = if n > 0 { self.shift as isize } else { 0 };
        self.first().segment().address(n as isize * self.step() - shift)
    }

    #[inline(always)]
    pub(super) fn first(self) -> Block<'a, O, V> {
        self.block_from(0)
    }

    #[inline(always)]
    pub(super) fn last(self) -> Block<'a, O, V> {
        self.block_from(self.segment.len() - Self::BLOCK_LEN)
    }

    /// The block of the elements from number `start` on, in the order of visiting; the last one if fewer are left.
    #[inline(always)]
    fn block_from(self, start: usize) -> Block<'a, O, V> {
        let rest = self.segment.len() - Self::BLOCK_LEN;
        let start = start.min(rest);
        let skipped = if self.segment.is_reversed() { rest - start } else { start };
        // SAFETY: `skipped` elements and those of a block are no more than the segment has.
        Block::new(unsafe { self.segment.elsewhere(self.segment.address(skipped as isize), Self::BLOCK_LEN) })
    }
}

impl<'a, O: ArgOrder, const V: usize> BlockMap<'a, O, V> for BlockedSegment<'a, O, V> {
    #[inline(always)]
    fn count(self) -> usize {
        // (Blocks are powers of two: a division would take longer than some of them.)
        (self.segment.len() + self.shift + Self::BLOCK_LEN - 1) >> Self::BLOCK_LEN.trailing_zeros()
    }

    #[inline(always)]
    fn block(self, n: usize) -> (usize, Block<'a, O, V>) {
        let start = (n * Self::BLOCK_LEN).saturating_sub(self.shift).min(self.segment.len() - Self::BLOCK_LEN);
        (start, self.block_from(start))
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::tests::{Order, order_and_segment};
    use super::{BlockMap, BlockedSegment};

    /// By blocks of 32 elements.
    fn blocks(elements: &[i8], reversed: bool) -> BlockedSegment<'_, Order, 2> {
        BlockedSegment::new(order_and_segment(elements, reversed).1)
    }

    #[test]
    fn counts_the_last_block() {
        assert_eq!([32, 33, 64, 65].map(|len| blocks(&[0; 65][..len], false).count()), [1, 2, 2, 3]);
    }

    /// Also where a number comes of lanes that nothing was kept in.
    #[test]
    fn blocks_lie_within_the_segment() {
        for reversed in [false, true] {
            let elements = [0; 65];
            let (blocks, lowest) = (blocks(&elements, reversed), elements.as_ptr().addr());
            let places = [0, 1, 2, 3, 255].map(|n| {
                let (start, block) = blocks.block(n);
                (start, block.segment().address(0).addr() - lowest)
            });
            let lowest_of = |start| if reversed { 33 - start } else { start };
            assert_eq!(places, [0, 32, 33, 33, 33].map(|start| (start, lowest_of(start))));
        }
    }

    #[test]
    #[should_panic(expected = "BLOCK_LEN")]
    fn less_than_a_block() {
        blocks(&[0; 31], false);
    }

    #[test]
    #[should_panic]
    fn blocks_of_another_length() {
        blocks(&[0; 33], false).of_other(order_and_segment(&[0; 32], false).1);
    }
}
