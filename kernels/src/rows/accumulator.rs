//! The running state over the blocks of a segment, and how the answer comes of it: see `mod.rs`. `blocks.rs` says where
//! blocks lie. Knows nothing of how many segments are interleaved. What is unsafe here asks of its caller that the
//! segment or the blocks that it is given may be read, and that a segment is at least a block.

use super::blocks::{BlockMap, BlockedSegment, may_shift};
use super::segment::{ArgResult, RegisterRow, Segment};
use crate::order::{ArgOrder, IndexVec, Vec, load_several, max_all};
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
    pub(super) unsafe fn of(order: O, segment: BlockedSegment<O::Lane>) -> Self {
        let (mut accumulator, first, mut block) = (BlockAccumulator::new(order), segment.first(), 0);
        let mut next = first;
        // SAFETY: the caller's promise; the second block is where the segment says, if there is one.
        unsafe {
            if const { may_shift::<O>() } {
                // The first by itself, because the second may be nearer than others. (The only one is read twice.)
                accumulator.accumulate_block(order, first);
                next = first.moved(segment.step() - segment.shift as isize);
                block = (segment.count() - 1).min(1);
            }
            accumulator.accumulate(order, segment, 0, block, next);
        }
        accumulator
    }

    /// Goes on with a segment from a block on, which is there, after `blocks_before` blocks of other segments: until it
    /// is final, or to the end. If it is not the last, that block is `next`.
    #[inline(always)]
    pub(super) unsafe fn accumulate(
        &mut self,
        order: O,
        segment: BlockedSegment<O::Lane>,
        blocks_before: usize,
        mut block: usize,
        mut next: Segment<O::Lane>,
    ) {
        let last = segment.count() - 1;
        let interval = if O::MAY_EXIT_EARLY { NAN_CHECK_INTERVAL / V } else { last };
        loop {
            // The last block is an iteration of the same loop: by itself, it would be another copy of it.
            let end = if block == last { last + 1 } else { last.min(block + interval) };
            if block == last {
                next = segment.last();
            }
            while block < end {
                // SAFETY: the caller promises the segment; each block lies in it, the last one at its end.
                unsafe { self.accumulate_block(order, next) };
                next = next.moved(segment.step());
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
    unsafe fn accumulate_block(&mut self, order: O, block: Segment<O::Lane>) {
        block.issue_prefetch(order);
        // SAFETY: the caller's promise.
        let vectors: [_; V] = unsafe { load_several(order, block.at) };
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
    pub(super) unsafe fn finalize<P: BlockMap<O::Lane>>(self, order: O, blocks: P) -> ArgResult<O> {
        let simd = order.simd();
        let value = simd.reduce_splat(self.best, O::IS_MAX);
        if O::NAN_WINS && order.is_absorbing(value, self.nan_acc) {
            // SAFETY: the caller's promise.
            let position = unsafe { find_from_block::<O, P, V, true>(order, blocks, self.nan_free_blocks, value) };
            return ArgResult { value, position, is_nan: true };
        }
        // No element was better than the identity, because all are equal to it or NaN: no block number was kept, and
        // there may be nothing but NaN.
        if O::NAN_LOSES && simd.movemask(simd.compare::<EQ>(value, order.identity())) != 0 {
            // SAFETY: the caller's promise.
            let position = unsafe { find_from_block::<O, P, V, false>(order, blocks, 0, value) };
            return ArgResult { value, position, is_nan: false };
        }
        let winners = simd.compare::<EQ>(self.best, value);
        let none = simd.splat_index(O::Simd::MAX_INDEX);
        let number = simd.reduce_min_index(simd.select(winners, self.block_of_best, none)).into() as usize;
        // SAFETY: the caller's promise, and a block of that number was seen.
        let (position, _) = unsafe { find_in_block::<O, P, V, false>(order, blocks, number, value) };
        ArgResult { value, position: Some(position), is_nan: false }
    }
}

/// The position of the first element of block number `n`, which is there, that [is
/// sought](super::segment::is_sought), and whether there is one.
#[inline(always)]
unsafe fn find_in_block<O: ArgOrder, P: BlockMap<O::Lane>, const V: usize, const NAN: bool>(
    order: O,
    blocks: P,
    n: usize,
    value: Vec<O>,
) -> (usize, bool) {
    let (start, block) = blocks.block(n);
    // SAFETY: the caller promises that the blocks may be read.
    let vectors: [_; V] = unsafe { load_several(order, block.at) };
    let row = RegisterRow::<V, V> { len: V * O::Simd::LANES };
    let (position, is_found) = row.first::<O, NAN>(order, &vectors, value, block.reversed);
    (start + position, is_found)
}

/// The position of the first element that is sought in the blocks from number `first` on, if there is one. A call of
/// its own: few segments need it.
#[inline(always)]
unsafe fn find_from_block<O: ArgOrder, P: BlockMap<O::Lane>, const V: usize, const NAN: bool>(
    order: O,
    blocks: P,
    first: usize,
    value: Vec<O>,
) -> Option<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        order.simd().call_outlined(
            #[inline(always)]
            move || {
                for n in first..blocks.count() {
                    if let (position, true) = find_in_block::<O, P, V, NAN>(order, blocks, n, value) {
                        return Some(position);
                    }
                }
                None
            },
        )
    }
}
