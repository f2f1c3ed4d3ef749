//! The running state over the blocks of a segment, and how the answer comes of it: see `mod.rs`. `blocks.rs` says where
//! blocks lie. Knows nothing of how many segments are interleaved.

use super::blocks::{Block, BlockMap, BlockedSegment, may_shift};
use super::segment::{ArgResult, RegisterRow};
use crate::order::{ArgOrder, IndexVec, Vec, max_all};
use crate::simd::ops::{EQ, SimdOps};
use crate::simd::token::Simd;
use bytemuck::Zeroable;

#[inline(always)]
pub(super) const fn max_blocks<O: ArgOrder>() -> usize {
    (O::Simd::MAX_INDEX as usize).saturating_add(1)
}

/// Vectors between two checks whether a NaN that wins was seen: those after it need not be read then, nor those before
/// it to find it. More checks cost time where there is none. See docs/tuning.md#nan_check_interval.
const NAN_CHECK_INTERVAL: usize = 64;

/// The running state over blocks of `V` vectors, as many as can be counted. [`accumulate_block`] takes one more,
/// [`finalize`] finds the answer.
///
/// [`accumulate_block`]: BlockAccumulator::accumulate_block
/// [`finalize`]: BlockAccumulator::finalize
#[derive(Clone, Copy)]
pub(super) struct BlockAccumulator<O: ArgOrder, const V: usize> {
    /// The best of each lane; NaN need not be seen there.
    pub(super) best: Vec<O>,
    block_of_best: IndexVec<O>,
    block: IndexVec<O>,
    pub(super) nan_acc: O::NanAcc,
    /// From which block on there may be a NaN that wins: so that one at the end of a segment is not looked for from its
    /// start.
    nan_free_blocks: usize,
}

impl<O: ArgOrder, const V: usize> BlockAccumulator<O, V> {
    #[inline(always)]
    pub(super) fn new(order: O) -> Self {
        let simd = order.simd();
        let (best, block) = (order.identity(), simd.splat_index(0));
        BlockAccumulator { best, block_of_best: block, block, nan_acc: Zeroable::zeroed(), nan_free_blocks: 0 }
    }

    /// A copy, field by field: as a whole, the compiler moves what is between the fields too, and later loads wait for
    /// those stores.
    #[inline(always)]
    pub(super) fn copy(&self) -> Self {
        let &BlockAccumulator { best, block_of_best, block, nan_acc, nan_free_blocks } = self;
        BlockAccumulator { best, block_of_best, block, nan_acc, nan_free_blocks }
    }

    /// Whether nothing that follows can be better.
    #[inline(always)]
    pub(super) fn is_absorbing(&self, order: O) -> bool {
        O::MAY_EXIT_EARLY && order.is_absorbing(self.best, self.nan_acc)
    }

    /// Of one segment: until it is final, or to the end.
    #[inline(always)]
    pub(super) fn of(order: O, segment: BlockedSegment<'_, O, V>) -> Self {
        let (mut accumulator, mut block) = (BlockAccumulator::new(order), 0);
        if const { may_shift::<O>() } {
            // The first by itself, because the second may be nearer than others. (The only one is read twice.)
            accumulator.accumulate_block(order, segment.first());
            block = (segment.count() - 1).min(1);
        }
        accumulator.accumulate(order, segment, 0, block);
        accumulator
    }

    /// Goes on with a segment from a block on, after `blocks_before` blocks of other segments: until it is final, or to
    /// the end.
    #[inline(always)]
    pub(super) fn accumulate(
        &mut self,
        order: O,
        segment: BlockedSegment<'_, O, V>,
        blocks_before: usize,
        mut block: usize,
    ) {
        let last = segment.count() - 1;
        let interval = if O::MAY_EXIT_EARLY { NAN_CHECK_INTERVAL / V } else { last };
        let mut next = segment.address(block);
        loop {
            // The last block is an iteration of the same loop: by itself, it would be another copy of it.
            let end = if block == last { last + 1 } else { last.min(block + interval) };
            if block == last {
                next = segment.last().segment().address(0);
            }
            while block < end {
                // SAFETY: the last block begins where `last` does. Each other begins a step after the one before, as
                // `address` counts; it is not the last, so that the segment does not end before it does.
                let block_segment = unsafe { segment.segment().elsewhere(next, Block::<O, V>::LEN) };
                self.accumulate_block(order, Block::new(block_segment));
                next = next.wrapping_offset(segment.step());
                block += 1;
            }
            if block > last {
                break;
            }
            if O::MAY_EXIT_EARLY {
                if self.is_absorbing(order) {
                    break;
                }
                self.nan_free_blocks = blocks_before + block;
            }
        }
    }

    /// Takes the next block, with one comparison and one select for all its vectors:
    ///
    /// ```text
    /// new           = max of the vectors of the block         lane by lane
    /// better        = new > best                              strictly: of equals, the first one stays
    /// best          = max(new, best)
    /// block_of_best = select(better, block, block_of_best)
    /// nan_acc      |= is any lane of the block NaN
    /// block        += 1
    /// ```
    #[inline(always)]
    fn accumulate_block(&mut self, order: O, block: Block<'_, O, V>) {
        block.segment().issue_prefetch();
        let vectors = block.load(order);
        if O::MAY_EXIT_EARLY {
            self.nan_acc = order.accumulate_nan(self.nan_acc, &vectors);
        }
        let (simd, best) = (order.simd(), max_all(order, &vectors));
        let better = order.gt(best, self.best);
        // Not a selection: the next block would have to wait for the comparison too.
        self.best = order.max(best, self.best);
        self.block_of_best = simd.select(better, self.block, self.block_of_best);
        self.block = simd.add(self.block, simd.splat_index(1));
    }

    /// The first best of the blocks that went by, which are all of `blocks`. If there was no NaN, and something better
    /// than the identity:
    ///
    /// ```text
    /// value  = max of all lanes of best
    /// number = smallest block_of_best among the lanes equal to value
    /// the first element of that block that is equal to value
    /// ```
    #[inline(always)]
    pub(super) fn finalize<'a, B: BlockMap<'a, O, V>>(self, order: O, blocks: B) -> ArgResult<O> {
        let simd = order.simd();
        let value = simd.reduce_splat(self.best, O::IS_MAX);
        if O::NAN_WINS && order.is_absorbing(value, self.nan_acc) {
            let position = find_from_block::<O, B, V, true>(order, blocks, self.nan_free_blocks, value);
            return ArgResult { value, position, is_nan: true };
        }
        // No element was better than the identity, because all are equal to it or NaN: no block number was kept, and
        // there may be nothing but NaN.
        if O::NAN_LOSES && simd.movemask(simd.compare::<EQ>(value, order.identity())) != 0 {
            let position = find_from_block::<O, B, V, false>(order, blocks, 0, value);
            return ArgResult { value, position, is_nan: false };
        }
        let winners = simd.compare::<EQ>(self.best, value);
        let none = simd.splat_index(O::Simd::MAX_INDEX);
        let number = simd.reduce_min_index(simd.select(winners, self.block_of_best, none)).into() as usize;
        let (position, _) = find_in_block::<O, B, V, false>(order, blocks, number, value);
        ArgResult { value, position: Some(position), is_nan: false }
    }
}

/// The position of the first element of block number `n` that [is sought](super::segment::is_sought), and whether there
/// is one.
#[inline(always)]
fn find_in_block<'a, O: ArgOrder, B: BlockMap<'a, O, V>, const V: usize, const NAN: bool>(
    order: O,
    blocks: B,
    n: usize,
    value: Vec<O>,
) -> (usize, bool) {
    let (start, block) = blocks.block(n);
    let row = RegisterRow::<V, V> { len: V * O::Simd::LANES };
    let (position, is_found) = row.first::<O, NAN>(order, &block.load(order), value, block.segment().is_reversed());
    (start + position, is_found)
}

/// The position of the first element that is sought in the blocks from number `first` on, if there is one. A call of
/// its own: few segments need it.
#[inline(always)]
fn find_from_block<'a, O: ArgOrder, B: BlockMap<'a, O, V>, const V: usize, const NAN: bool>(
    order: O,
    blocks: B,
    first: usize,
    value: Vec<O>,
) -> Option<usize> {
    order.simd().outlined(
        #[inline(always)]
        move || {
            for n in first..blocks.count() {
                if let (position, true) = find_in_block::<O, B, V, NAN>(order, blocks, n, value) {
                    return Some(position);
                }
            }
            None
        },
    )
}
