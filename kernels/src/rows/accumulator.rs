//! The running state over the blocks of a segment, and how the answer comes of it: see `mod.rs`. `blocks.rs` says where
//! blocks lie. Knows nothing of how many segments are interleaved.

use super::blocks::{Block, BlockMap, BlockedSegment, may_shift};
use super::orders::RowOrders;
use super::segment::{ArgResult, RegisterRow};
use crate::order::pair::PairedWith;
use crate::order::{ArgOrder, IndexVec, Vec, max_all};
use crate::simd::ops::{EQ, SimdOps};
use crate::simd::token::Simd;
use bytemuck::Zeroable;

#[inline(always)]
pub(super) const fn max_blocks<O: ArgOrder>() -> usize {
    (O::Simd::MAX_INDEX as usize).saturating_add(1)
}

/// How many bytes of a long row are read before it is first checked whether nothing that follows can be better. From
/// there, distances double: so what is read beyond the answer is about as much again, and there are few checks where
/// there is none. See docs/tuning.md#early_end_bytes.
const FIRST_CHECK_BYTES: usize = 256;

/// How many of a shorter row. See docs/tuning.md#early_end_bytes.
const LATER_CHECK_BYTES: usize = 1 << 10;

/// The shortest rows that are long. See docs/tuning.md#early_end_bytes.
const MIN_EARLY_CHECKED_BYTES: usize = 16 << 10;

/// The shortest rows that are checked before their end. See docs/tuning.md#early_end_bytes.
const MIN_CHECKED_BYTES: usize = 2 << 10;

/// The longest distance from one check to the next, of 8-bit types and others. See docs/tuning.md#early_end_bytes.
const MAX_CHECK_BYTES: [usize; 2] = [8 << 10, 64 << 10];

/// The running state over blocks of `V` vectors, as many as can be counted. [`accumulate_vectors`] takes one more,
/// [`finalize`] finds the answer.
///
/// [`accumulate_vectors`]: BlockAccumulator::accumulate_vectors
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

/// How many blocks of a segment there are to the next check, if so many were read before.
#[inline(always)]
fn blocks_to_check<O: ArgOrder, const V: usize>(segment: BlockedSegment<'_, O, V>, before: usize) -> usize {
    // (A power of two: this is a shift.)
    let block_bytes = V * size_of::<Vec<O>>();
    let most = MAX_CHECK_BYTES[usize::from(size_of::<O::Lane>() > 1)] / block_bytes;
    let first = match segment.segment().len() * size_of::<O::Lane>() {
        MIN_EARLY_CHECKED_BYTES.. => FIRST_CHECK_BYTES / block_bytes,
        MIN_CHECKED_BYTES.. => LATER_CHECK_BYTES / block_bytes,
        _ => most,
    };
    (before + first.max(1)).min(most)
}

/// The state over one segment, before which so many elements were read: until it is final, or to the end.
#[inline(always)]
pub(super) fn accumulate_from_first<P: RowOrders, const V: usize>(
    orders: P,
    segment: BlockedSegment<'_, P::Order, V>,
    before: usize,
) -> P::Accumulators<V> {
    let (mut accumulators, mut block) = (orders.accumulators::<V>(), 0);
    if const { may_shift::<P::Order>() } {
        // The first by itself, because the second may be nearer than others. (The only one is read twice.)
        segment.first().segment().issue_prefetch();
        orders.accumulate_block(&mut accumulators, segment.first());
        block = (segment.count() - 1).min(1);
    }
    let read_before = before >> Block::<P::Order, V>::LEN.trailing_zeros();
    accumulate(orders, &mut accumulators, segment, 0, block, read_before);
    accumulators
}

/// Goes on with a segment from a block on, after `blocks_before` blocks of other segments: until it is final, or to the
/// end. `read_before` blocks, about, were read before.
#[inline(always)]
pub(super) fn accumulate<P: RowOrders, const V: usize>(
    orders: P,
    accumulators: &mut P::Accumulators<V>,
    segment: BlockedSegment<'_, P::Order, V>,
    blocks_before: usize,
    mut block: usize,
    read_before: usize,
) {
    let last = segment.count() - 1;
    let mut next = segment.address(block);
    let may_exit_early = const { <P::Order as ArgOrder>::MAY_EXIT_EARLY };
    loop {
        // The last block is an iteration of the same loop: by itself, it would be another copy of it.
        let to_check = if may_exit_early { blocks_to_check(segment, read_before + block) } else { last };
        let end = if block == last { last + 1 } else { last.min(block + to_check) };
        if block == last {
            next = segment.last().segment().address(0);
        }
        while block < end {
            // SAFETY: the last block begins where `last` does. Each other begins a step after the one before, as
            // `address` counts; it is not the last, so that the segment does not end before it does.
            let block_segment = unsafe { segment.segment().elsewhere(next, Block::<P::Order, V>::LEN) };
            block_segment.issue_prefetch();
            orders.accumulate_block(accumulators, Block::new(block_segment));
            next = next.wrapping_offset(segment.step());
            block += 1;
        }
        if block > last {
            break;
        }
        if may_exit_early {
            if orders.are_absorbing(accumulators) {
                break;
            }
            orders.set_nan_free(accumulators, blocks_before + block);
        }
    }
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

    /// Tells that so many blocks have no NaN that wins.
    #[inline(always)]
    pub(super) fn set_nan_free(&mut self, blocks: usize) {
        self.nan_free_blocks = blocks;
    }

    /// Has the block number of another accumulator, which takes the same blocks: so they share a register.
    #[inline(always)]
    pub(super) fn count_as<B: PairedWith<O>>(&mut self, other: &BlockAccumulator<B, V>) {
        self.block = other.block;
    }

    /// Takes the NaN of the next block.
    #[inline(always)]
    pub(super) fn accumulate_nan(&mut self, order: O, vectors: &[Vec<O>; V]) {
        if O::MAY_EXIT_EARLY {
            self.nan_acc = order.accumulate_nan(self.nan_acc, vectors);
        }
    }

    /// Takes the next block, with one comparison and one select for all its vectors:
    ///
    /// ```text
    /// new           = max of the vectors of the block         lane by lane
    /// better        = new > best                              strictly: of equals, the first one stays
    /// best          = max(new, best)
    /// block_of_best = select(better, block, block_of_best)
    /// block        += 1
    /// ```
    #[inline(always)]
    pub(super) fn accumulate_vectors(&mut self, order: O, vectors: &[Vec<O>; V]) {
        let (simd, best) = (order.simd(), max_all(order, vectors));
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
            return ArgResult { value, position, is_final: true };
        }
        // No element was better than the identity, because all are equal to it or NaN: no block number was kept, and
        // there may be nothing but NaN.
        if O::NAN_LOSES && simd.movemask(simd.compare::<EQ>(value, order.identity())) != 0 {
            let position = find_from_block::<O, B, V, false>(order, blocks, 0, value);
            return ArgResult { value, position, is_final: false };
        }
        let winners = simd.compare::<EQ>(self.best, value);
        let none = simd.splat_index(O::Simd::MAX_INDEX);
        let number = simd.reduce_min_index(simd.select(winners, self.block_of_best, none)).into() as usize;
        let (position, _) = find_in_block::<O, B, V, false>(order, blocks, number, value);
        let is_final = O::MAY_EXIT_EARLY && !O::NAN_WINS && order.is_absorbing(value, self.nan_acc);
        ArgResult { value, position: Some(position), is_final }
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
