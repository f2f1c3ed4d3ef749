//! What blocks are searched by: an order, or [two at once](Both), which share what is loaded. Knows nothing of what is
//! done with the positions.

use super::accumulator::BlockAccumulator;
use super::blocks::{Block, BlockedSegment};
use super::segment::{self, ArgResult, Segment};
use crate::order::both::{Both, BothWith};
use crate::order::{ArgOrder, LaneElem};
use crate::simd::ops::SimdOps;
use bytemuck::Zeroable;

/// The lanes that segments are loaded as.
pub(super) type Lane<P> = <<P as BlockOrders>::Order as ArgOrder>::Lane;

/// A search by one order.
pub(super) trait OneOrder {
    /// Of a segment before which so many elements were read.
    fn find<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>, before: usize) -> ArgResult<O>;
}

/// Each type below has one for each order.
pub(super) trait BlockOrders: Copy {
    /// By which segments are loaded: of two, the first.
    type Order: ArgOrder;
    const ARE_TWO: bool;
    fn simd(self) -> <Self::Order as ArgOrder>::Simd;

    /// The best of a segment, or of all segments so far.
    type Results: Copy;
    fn no_results(self) -> Self::Results;
    fn find_in_registers<const V: usize>(self, segment: Segment<'_, Lane<Self>>) -> Self::Results;
    /// By a search that knows of one order.
    fn each_by<S: OneOrder>(self, segment: Segment<'_, Lane<Self>>, before: usize) -> Self::Results;
    /// As [`ArgResult::update`].
    fn update(self, best: &mut Self::Results, found: Self::Results, first: usize);
    /// Whether nothing can be better.
    fn are_final(results: Self::Results) -> bool;

    /// The running state over blocks.
    type Accumulators<const V: usize>: Copy;
    fn accumulators<const V: usize>(self) -> Self::Accumulators<V>;
    fn accumulate_block<const V: usize>(
        self,
        accumulators: &mut Self::Accumulators<V>,
        block: Block<'_, Self::Order, V>,
    );
    /// Whether nothing that follows can be better.
    fn are_absorbing<const V: usize>(self, accumulators: &Self::Accumulators<V>) -> bool;
    /// Tells that so many blocks have no NaN that wins.
    fn set_nan_free<const V: usize>(self, accumulators: &mut Self::Accumulators<V>, blocks: usize);
    /// As [`BlockAccumulator::finalize`].
    fn finalize<const V: usize>(
        self,
        accumulators: Self::Accumulators<V>,
        blocks: BlockedSegment<'_, Self::Order, V>,
    ) -> Self::Results;

    /// Whether there are [fast paths](ArgOrder::Fast).
    const HAS_FAST: bool;
    type Fast: BlockOrders<Order = <Self::Order as ArgOrder>::Fast>;
    fn fast(self) -> Self::Fast;
    /// Of fast paths: whether what the first vector has does not keep each from accepting what it finds.
    fn may_accept(self, first: Block<'_, Self::Order, 1>) -> bool;
    /// Of the blocks that went by the fast paths, the best, if each accepts what it found.
    fn accepted<const V: usize>(
        self,
        accumulators: <Self::Fast as BlockOrders>::Accumulators<V>,
        blocks: BlockedSegment<'_, <Self::Order as ArgOrder>::Fast, V>,
    ) -> Option<Self::Results>;
}

impl<O: ArgOrder> BlockOrders for O {
    type Order = O;
    const ARE_TWO: bool = false;

    #[inline(always)]
    fn simd(self) -> O::Simd {
        ArgOrder::simd(self)
    }

    type Results = ArgResult<O>;

    #[inline(always)]
    fn no_results(self) -> ArgResult<O> {
        ArgResult::none(self)
    }

    #[inline(always)]
    fn find_in_registers<const V: usize>(self, segment: Segment<'_, O::Lane>) -> ArgResult<O> {
        segment::find::<O, V, V>(self, segment)
    }

    #[inline(always)]
    fn update(self, best: &mut ArgResult<O>, found: ArgResult<O>, first: usize) {
        best.update(self, found, first);
    }

    #[inline(always)]
    fn are_final(result: ArgResult<O>) -> bool {
        result.is_final
    }

    type Accumulators<const V: usize> = BlockAccumulator<O, V>;

    #[inline(always)]
    fn accumulators<const V: usize>(self) -> BlockAccumulator<O, V> {
        BlockAccumulator::new(self)
    }

    #[inline(always)]
    fn accumulate_block<const V: usize>(self, accumulator: &mut BlockAccumulator<O, V>, block: Block<'_, O, V>) {
        let vectors = block.load(self);
        accumulator.accumulate_nan(self, &vectors);
        accumulator.accumulate_vectors(self, &vectors);
    }

    #[inline(always)]
    fn are_absorbing<const V: usize>(self, accumulator: &BlockAccumulator<O, V>) -> bool {
        accumulator.is_absorbing(self)
    }

    #[inline(always)]
    fn set_nan_free<const V: usize>(self, accumulator: &mut BlockAccumulator<O, V>, blocks: usize) {
        accumulator.set_nan_free(blocks);
    }

    #[inline(always)]
    fn finalize<const V: usize>(
        self,
        accumulator: BlockAccumulator<O, V>,
        blocks: BlockedSegment<'_, O, V>,
    ) -> ArgResult<O> {
        accumulator.finalize(self, blocks)
    }

    const HAS_FAST: bool = <O as ArgOrder>::HAS_FAST;
    type Fast = O::Fast;

    #[inline(always)]
    fn fast(self) -> O::Fast {
        ArgOrder::fast(self)
    }

    #[inline(always)]
    fn may_accept(self, first: Block<'_, O, 1>) -> bool {
        let [first] = first.load(self);
        self.accepts(first, Zeroable::zeroed())
    }

    #[inline(always)]
    fn accepted<const V: usize>(
        self,
        accumulator: BlockAccumulator<O::Fast, V>,
        blocks: BlockedSegment<'_, O::Fast, V>,
    ) -> Option<ArgResult<O>> {
        let fast = ArgOrder::fast(self);
        let value = self.simd().reduce_splat(accumulator.best, const { <O::Fast as ArgOrder>::IS_MAX });
        if !fast.accepts(value, accumulator.nan_acc) {
            return None;
        }
        let ArgResult { value, position, .. } = accumulator.finalize(fast, blocks);
        Some(ArgResult { value: self.encode(fast.decode(value)), position, is_final: false })
    }

    #[inline(always)]
    fn each_by<S: OneOrder>(self, segment: Segment<'_, O::Lane>, before: usize) -> ArgResult<O> {
        S::find(self, segment, before)
    }
}

impl<A: ArgOrder, B: BothWith<A>> BlockOrders for Both<A, B> {
    type Order = A;
    const ARE_TWO: bool = true;

    #[inline(always)]
    fn simd(self) -> A::Simd {
        self.0.simd()
    }

    type Results = (ArgResult<A>, ArgResult<B>);

    #[inline(always)]
    fn no_results(self) -> Self::Results {
        (self.0.no_results(), self.1.no_results())
    }

    #[inline(always)]
    fn find_in_registers<const V: usize>(self, segment: Segment<'_, A::Lane>) -> Self::Results {
        (self.0.find_in_registers::<V>(segment), self.1.find_in_registers::<V>(segment))
    }

    #[inline(always)]
    fn update(self, best: &mut Self::Results, found: Self::Results, first: usize) {
        best.0.update(self.0, found.0, first);
        best.1.update(self.1, found.1, first);
    }

    #[inline(always)]
    fn are_final(results: Self::Results) -> bool {
        results.0.is_final && results.1.is_final
    }

    type Accumulators<const V: usize> = (BlockAccumulator<A, V>, BlockAccumulator<B, V>);

    #[inline(always)]
    fn accumulators<const V: usize>(self) -> Self::Accumulators<V> {
        const { assert!(A::NAN_WINS == B::NAN_WINS && A::MAY_EXIT_EARLY == B::MAY_EXIT_EARLY) };
        (BlockAccumulator::new(self.0), BlockAccumulator::new(self.1))
    }

    #[inline(always)]
    fn accumulate_block<const V: usize>(self, (first, second): &mut Self::Accumulators<V>, block: Block<'_, A, V>) {
        let raw = block.load_raw(self.0);
        let (mut vectors, mut others) = (raw, raw);
        let mut n = 0;
        while n < V {
            (vectors[n], others[n]) = (self.0.encode(raw[n]), self.1.encode(raw[n]));
            n += 1;
        }
        second.count_as(first);
        first.accumulate_nan(self.0, &vectors);
        // What is NaN is so by both.
        match const { A::Lane::HAS_NAN } {
            true => second.nan_acc = first.nan_acc,
            false => second.accumulate_nan(self.1, &others),
        }
        first.accumulate_vectors(self.0, &vectors);
        second.accumulate_vectors(self.1, &others);
    }

    #[inline(always)]
    fn are_absorbing<const V: usize>(self, (first, second): &Self::Accumulators<V>) -> bool {
        first.is_absorbing(self.0) && second.is_absorbing(self.1)
    }

    #[inline(always)]
    fn set_nan_free<const V: usize>(self, (first, second): &mut Self::Accumulators<V>, blocks: usize) {
        first.set_nan_free(blocks);
        second.set_nan_free(blocks);
    }

    #[inline(always)]
    fn finalize<const V: usize>(
        self,
        (first, second): Self::Accumulators<V>,
        blocks: BlockedSegment<'_, A, V>,
    ) -> Self::Results {
        (first.finalize(self.0, blocks), second.finalize(self.1, blocks.of_order()))
    }

    const HAS_FAST: bool = A::HAS_FAST && B::HAS_FAST;
    type Fast = Both<A::Fast, B::Fast>;

    #[inline(always)]
    fn fast(self) -> Self::Fast {
        Both(ArgOrder::fast(self.0), ArgOrder::fast(self.1))
    }

    #[inline(always)]
    fn may_accept(self, first: Block<'_, A, 1>) -> bool {
        let [raw] = first.load_raw(self.0);
        self.0.accepts(self.0.encode(raw), Zeroable::zeroed()) && self.1.accepts(self.1.encode(raw), Zeroable::zeroed())
    }

    #[inline(always)]
    fn accepted<const V: usize>(
        self,
        (first, second): (BlockAccumulator<A::Fast, V>, BlockAccumulator<B::Fast, V>),
        blocks: BlockedSegment<'_, A::Fast, V>,
    ) -> Option<Self::Results> {
        Some((self.0.accepted(first, blocks)?, self.1.accepted(second, blocks.of_order())?))
    }

    #[inline(always)]
    fn each_by<S: OneOrder>(self, segment: Segment<'_, A::Lane>, before: usize) -> Self::Results {
        (S::find(self.0, segment, before), S::find(self.1, segment, before))
    }
}
