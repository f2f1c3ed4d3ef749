//! The running state over the blocks of a segment, and how the answer comes of it: see `mod.rs`. `blocks.rs` says where
//! blocks lie. Knows nothing of how many segments are interleaved.

use super::blocks::BlockMap;
use super::segment::{ArgResult, RegisterRow};
use crate::order::both::BothWith;
use crate::order::{ArgOrder, IndexVec, Vec, max_all};
use crate::simd::ops::{EQ, SimdOps};
use crate::simd::token::Simd;
use bytemuck::Zeroable;

#[inline(always)]
pub(super) const fn max_blocks<O: ArgOrder>() -> usize {
    (O::Simd::MAX_INDEX as usize).saturating_add(1)
}

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
    pub(super) fn count_as<B: BothWith<O>>(&mut self, other: &BlockAccumulator<B, V>) {
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
