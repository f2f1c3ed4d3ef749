//! The running state over the blocks of a segment, and how the answer comes of it: see `mod.rs`. `blocks.rs` says where
//! blocks lie. Knows nothing of how many segments are interleaved.

use super::blocks::{BlockMap, BlockedSegment, LONG, SHORT, block_len, has_long_blocks, may_shift};
use super::segment::{ArgResult, Equals, IsNan, LanePredicate, Segment, first_of};
use crate::memory::prefetch::CACHE_LINE_BYTES;
use crate::order::{ArgOrder, IndexVec, Vec, load, load_several, max_all, select_index};
use crate::simd::ops::SimdOps;
use crate::simd::token::{Simd, SimdOp};

/// How many blocks a lane can count.
#[inline(always)]
pub(super) const fn max_blocks<O: ArgOrder>() -> usize {
    (O::Simd::MAX_INDEX as usize).saturating_add(1)
}

/// Blocks from one question to the next whether a NaN that wins was seen: the others need not be looked at then, nor
/// those before to find it. To ask more often costs time where there is none.
const NAN_CHECK_INTERVAL: usize = 16;

/// The running state over blocks, as many as can be counted.
#[derive(Clone, Copy)]
pub(super) struct BlockAccumulator<O: ArgOrder> {
    best: Vec<O>,
    block_of_best: IndexVec<O>,
    block: IndexVec<O>,
    /// Of all that went by.
    nan_acc: O::NanAcc,
    /// From which block on there may be a NaN that wins: so that one at the end of a segment is not looked for from its
    /// start.
    nan_free_blocks: usize,
}

impl<O: ArgOrder> BlockAccumulator<O> {
    #[inline(always)]
    pub(super) fn new(order: O) -> Self {
        let simd = order.simd();
        let (best, block) = (order.identity(), simd.splat_index(0));
        BlockAccumulator { best, block_of_best: block, block, nan_acc: order.empty_nan_acc(), nan_free_blocks: 0 }
    }

    /// A copy, field by field: as a whole, the compiler moves what is between the fields too, and later loads wait for
    /// those stores.
    #[inline(always)]
    pub(super) fn copy(&self) -> Self {
        let &BlockAccumulator { best, block_of_best, block, nan_acc, nan_free_blocks } = self;
        BlockAccumulator { best, block_of_best, block, nan_acc, nan_free_blocks }
    }

    /// The best of each lane; NaN need not be seen there.
    #[inline(always)]
    pub(super) fn best(&self) -> Vec<O> {
        self.best
    }

    /// Whether nothing that follows can be better.
    #[inline(always)]
    pub(super) fn is_absorbing(&self, order: O) -> bool {
        O::MAY_EXIT_EARLY && order.is_absorbing(self.best, self.nan_acc)
    }

    /// Of one segment: until it is final, or to the end. If `SCALED`, blocks may be several times as long as a
    /// [`block_len`].
    ///
    /// # Safety
    /// - The segment may be read, and is at least a block.
    #[inline(always)]
    pub(super) unsafe fn of<const SCALED: bool>(order: O, segment: BlockedSegment<O::Lane>) -> Self {
        let (mut accumulator, mut at, mut block) = (BlockAccumulator::new(order), segment.start_of_first(), 0);
        // SAFETY: the caller's promise; the second block is where the segment says, if there is one.
        unsafe {
            if const { may_shift::<O>() } {
                // The first by itself, because the second may be nearer than others. (The only one is seen twice.)
                accumulator.init(order, at);
                at = at.wrapping_offset(segment.step()).wrapping_sub(segment.shift);
                block = (segment.count() - 1).min(1);
            }
            accumulator.accumulate_from::<SCALED>(order, segment, 0, block, at);
        }
        accumulator
    }

    /// Goes on with a segment, after `blocks_before` blocks of other segments: until it is final, or to the end.
    ///
    /// # Safety
    /// - The segment may be read, and is at least a block.
    #[inline(always)]
    pub(super) unsafe fn accumulate(&mut self, order: O, segment: BlockedSegment<O::Lane>, blocks_before: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.accumulate_from::<false>(order, segment, blocks_before, 0, segment.start_of_first()) }
    }

    /// The same with a segment that is one block, a longer one.
    ///
    /// # Safety
    /// - As for [`BlockAccumulator::accumulate`].
    #[inline(always)]
    pub(super) unsafe fn accumulate_one(&mut self, order: O, segment: Segment<O::Lane>, blocks_before: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.accumulate_block::<true>(order, segment) };
        if O::MAY_EXIT_EARLY && !self.is_absorbing(order) {
            self.nan_free_blocks = blocks_before + 1;
        }
    }

    /// The same from a block on, which is there.
    ///
    /// # Safety
    /// - As for [`BlockAccumulator::accumulate`]; if it is not the last, the block is at `at`.
    #[inline(always)]
    unsafe fn accumulate_from<const SCALED: bool>(
        &mut self,
        order: O,
        segment: BlockedSegment<O::Lane>,
        blocks_before: usize,
        mut block: usize,
        at: *const O::Lane,
    ) {
        let last = segment.count() - 1;
        let interval = if O::MAY_EXIT_EARLY { NAN_CHECK_INTERVAL } else { last };
        let mut next = Segment { at, ..segment.segment.part(0, segment.block_len) };
        loop {
            // The last one is a turn of the same loop: by itself, it would be another copy of it.
            let end = if block == last { last + 1 } else { last.min(block + interval) };
            if block == last {
                next = segment.last();
            }
            while block < end {
                // SAFETY: the caller promises the segment; each block lies in it, the last by reaching back.
                unsafe { self.accumulate_block::<SCALED>(order, next) };
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

    /// Takes in the first of all blocks.
    ///
    /// # Safety
    /// - A block may be read from there on.
    #[inline(always)]
    unsafe fn init(&mut self, order: O, at: *const O::Lane) {
        // Where a segment may be aligned, a block is no longer than that.
        const {
            let may_be_longer = has_long_blocks::<O>() || O::Simd::TUNING.blends_may_be_slow;
            assert!(!may_be_longer || O::Simd::LANES * size_of::<O::Lane>() < CACHE_LINE_BYTES);
        }
        // SAFETY: the caller promises a block.
        let vectors: [_; SHORT] = unsafe { load_several(order, at) };
        self.best = max_all(order, &vectors);
        if O::MAY_EXIT_EARLY {
            self.nan_acc = order.accumulate_nan(self.nan_acc, &vectors);
        }
        self.block = order.simd().splat_index(1);
    }

    /// Takes in a block, or if `SCALED`, several as one.
    ///
    /// # Safety
    /// - The block may be read: as many elements as a [`block_len`] has, or several times as many if `SCALED`.
    #[inline(always)]
    unsafe fn accumulate_block<const SCALED: bool>(&mut self, order: O, all: Segment<O::Lane>) {
        let simd = order.simd();
        let better = if const { SCALED && O::Simd::TUNING.blends_may_be_slow } {
            let before = self.best;
            let end = all.at.wrapping_add(all.len);
            let mut part = Segment { len: block_len::<O>(), ..all };
            while part.at < end {
                // SAFETY: the caller's promise.
                self.best = order.max(unsafe { self.reduce_block(order, part) }, self.best);
                part = part.moved(block_len::<O>() as isize);
            }
            order.gt(self.best, before)
        } else {
            // SAFETY: the caller's promise.
            let best = unsafe { self.reduce_block(order, Segment { len: block_len::<O>(), ..all }) };
            let better = order.gt(best, self.best);
            // Not a selection: the next block would have to wait for the comparison too.
            self.best = order.max(best, self.best);
            better
        };
        self.block_of_best = select_index(order, better, self.block, self.block_of_best);
        self.block = simd.add(self.block, simd.splat_index(1));
    }

    /// The best of a [`block_len`], lane by lane.
    ///
    /// # Safety
    /// - The block may be read.
    #[inline(always)]
    unsafe fn reduce_block(&mut self, order: O, part: Segment<O::Lane>) -> Vec<O> {
        part.issue_prefetch(order);
        // SAFETY: the caller's promise.
        unsafe {
            if const { has_long_blocks::<O>() } {
                self.reduce_vectors::<LONG>(order, &load_several(order, part.at))
            } else {
                self.reduce_vectors::<SHORT>(order, &load_several(order, part.at))
            }
        }
    }

    #[inline(always)]
    fn reduce_vectors<const VECTORS: usize>(&mut self, order: O, vectors: &[Vec<O>; VECTORS]) -> Vec<O> {
        if O::MAY_EXIT_EARLY {
            self.nan_acc = order.accumulate_nan(self.nan_acc, vectors);
        }
        max_all(order, vectors)
    }

    /// The first best of the blocks that went by.
    ///
    /// # Safety
    /// - They may be read, and are all of `blocks`.
    #[inline(always)]
    pub(super) unsafe fn finalize<P: BlockMap<Lane = O::Lane>>(self, order: O, blocks: P) -> ArgResult<O> {
        let simd = order.simd();
        let value = simd.reduce_splat(self.best, O::IS_MAX);
        if O::NAN_WINS && order.is_absorbing(value, self.nan_acc) {
            // SAFETY: the caller's promise.
            let position = unsafe { find_from_block(order, blocks, self.nan_free_blocks, IsNan) };
            return ArgResult { value, position, is_nan: true };
        }
        // The fold never left its start, because all elements are equal to it or NaN: no block number was kept, and
        // there may be nothing but NaN.
        if O::NAN_LOSES && simd.movemask(simd.eq(value, order.identity())) != 0 {
            // SAFETY: the caller's promise.
            let position = unsafe { find_from_block(order, blocks, 0, Equals(value)) };
            return ArgResult { value, position, is_nan: false };
        }
        let winners = simd.eq(self.best, value);
        let none = simd.splat_index(O::Simd::MAX_INDEX);
        let number = simd.reduce_min_index(select_index(order, winners, self.block_of_best, none)).into() as usize;
        // SAFETY: the caller's promise, and a block of that number was seen.
        let (position, _) = unsafe { find_in_block(order, blocks, number, Equals(value)) };
        ArgResult { value, position: Some(position), is_nan: false }
    }

    /// [`BlockAccumulator::finalize`] of a fold by the fast path of `order`, if it accepts the best.
    ///
    /// # Safety
    /// - As there.
    #[inline(always)]
    pub(super) unsafe fn finalize_speculative<
        E: ArgOrder<Lane = O::Lane, Simd = O::Simd, Fast = O>,
        P: BlockMap<Lane = O::Lane>,
    >(
        self,
        exact: E,
        order: O,
        blocks: P,
    ) -> Option<ArgResult<E>> {
        if !order.accepts(order.simd().reduce_splat(self.best, O::IS_MAX), self.nan_acc) {
            return None;
        }
        // SAFETY: the caller's promise.
        let ArgResult { value, position, .. } = unsafe { self.finalize(order, blocks) };
        Some(ArgResult { value: exact.encode(order.decode(value)), position, is_nan: false })
    }
}

/// Whether an element of a block passes the test: one question about a mask, where to find it takes one for each
/// vector.
///
/// # Safety
/// - The block may be read.
#[inline(always)]
unsafe fn passes<O: ArgOrder, T: LanePredicate<O>>(order: O, block: Segment<O::Lane>, test: T) -> bool {
    let mut passes = order.simd().first_n_mask(0);
    let mut start = 0;
    while start < block.len {
        // SAFETY: the caller's promise.
        passes = order.simd().or(passes, test.mask(order, unsafe { load(order, block.at.add(start)) }));
        start += O::Simd::LANES;
    }
    order.simd().movemask(passes) != 0
}

/// The position of the first element of block number `n` that passes the test, and whether there is one.
///
/// # Safety
/// - The blocks may be read; `n` is below their count.
#[inline(always)]
unsafe fn find_in_block<O: ArgOrder, P: BlockMap<Lane = O::Lane>, T: LanePredicate<O>>(
    order: O,
    blocks: P,
    n: usize,
    test: T,
) -> (usize, bool) {
    let (mut start, mut part) = blocks.block(n);
    if const { O::Simd::TUNING.blends_may_be_slow } && part.len > block_len::<O>() {
        // Of a longer block, the first part that has one: from the last on, so that no branch depends on which it is.
        let (all, len) = (part, block_len::<O>());
        let mut at = all.len - len;
        let mut first = at;
        while at > 0 {
            at -= len;
            // SAFETY: the caller promises that the blocks may be read; a part of one.
            let passes = unsafe { passes(order, all.part(at, len), test) };
            first = core::hint::select_unpredictable(passes, at, first);
        }
        (start, part) = (start + first, all.part(first, len));
    }
    // SAFETY: the caller promises that the blocks may be read.
    let (position, is_found) = unsafe {
        if const { has_long_blocks::<O>() } {
            first_of::<O, T, LONG>(order, &load_several(order, part.at), test, part.reversed)
        } else {
            first_of::<O, T, SHORT>(order, &load_several(order, part.at), test, part.reversed)
        }
    };
    (start + position, is_found)
}

/// The same for all blocks from number `first` on. A call of its own: few segments need it.
///
/// # Safety
/// - The blocks may be read.
#[inline(always)]
unsafe fn find_from_block<O: ArgOrder, P: BlockMap<Lane = O::Lane>, T: LanePredicate<O>>(
    order: O,
    blocks: P,
    first: usize,
    test: T,
) -> Option<usize> {
    #[derive(Clone, Copy)]
    struct Call<O, P, T> {
        order: O,
        blocks: P,
        first: usize,
        test: T,
    }
    impl<O: ArgOrder, P: BlockMap<Lane = O::Lane>, T: LanePredicate<O>> SimdOp for Call<O, P, T> {
        type Output = Option<usize>;

        #[inline(always)]
        unsafe fn eval(self) -> Option<usize> {
            for n in self.first..self.blocks.count() {
                // SAFETY: the caller's promise.
                unsafe {
                    if passes(self.order, self.blocks.block(n).1, self.test) {
                        return Some(find_in_block(self.order, self.blocks, n, self.test).0);
                    }
                }
            }
            None
        }
    }
    // SAFETY: the caller's promise.
    unsafe { order.simd().call_outlined(Call { order, blocks, first, test }) }
}
