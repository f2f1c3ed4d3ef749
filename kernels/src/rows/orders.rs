//! What rows are searched by: an order, or [two at once](Pair), which share what is loaded. Knows nothing of loops over
//! rows.

use super::accumulator::{BlockAccumulator, accumulate_from_first};
use super::blocked;
use super::blocks::{Block, BlockMap, BlockedSegment};
use super::lane_indexed::{self, LaneAccumulators, Vectors};
use super::search::{Loops, RowSearch};
use super::segment::{self, ArgResult, Followed, Segment};
use super::tree::SideBySide;
use crate::order::pair::{Orders, Pair, PairedWith};
use crate::order::{ArgOrder, IndexVec, LaneElem, Vec};
use crate::outputs::{Outputs, Written};
use crate::simd::ops::SimdOps;
use bytemuck::Zeroable;
use core::mem::MaybeUninit;

/// The lanes that rows are loaded as.
pub(super) type Lane<P> = <<P as RowOrders>::Order as ArgOrder>::Lane;

/// Each type below has one for each order.
pub(super) trait RowOrders: Orders<Simd = <Self::Order as ArgOrder>::Simd> {
    /// By which rows are loaded: of two, the first.
    type Order: ArgOrder;
    const ARE_TWO: bool;

    /// Places for the positions of the rows that follow.
    type Places: Copy;
    fn places(outputs: &mut Self::Outputs<'_>) -> Self::Places;
    /// What is found in a row.
    type Positions: Copy;
    /// Writes what was found in the next row.
    ///
    /// # Safety
    /// - There is a place for it.
    unsafe fn write(places: &mut Self::Places, positions: Self::Positions);
    /// Makes positions as wide as their places, and tells that no values are written.
    ///
    /// # Safety
    /// - All positions are written.
    unsafe fn finish(self, outputs: Self::Outputs<'_>) -> Self::Written;

    /// Writes what is found in the next rows, as many as a vector has lanes.
    ///
    /// # Safety
    /// - There are places for that. Lanes have 32 bits.
    unsafe fn write_group<S: RowSearch<Self::Order>>(
        self,
        places: &mut Self::Places,
        rows: SideBySide<'_, Self::Order>,
    );

    fn find<S: RowSearch<Self::Order>>(self, row: Segment<'_, Lane<Self>>) -> Self::Positions;
    /// [`RowOrders::find`], where more than the row may be read.
    fn find_followed<S: RowSearch<Self::Order>>(self, row: Followed<'_, Self::Order>) -> Self::Positions;

    /// The best of a segment, or of all segments so far.
    type Results: Copy;
    fn no_results(self) -> Self::Results;
    fn find_in_registers<const V: usize>(self, segment: Segment<'_, Lane<Self>>) -> Self::Results;
    /// As [`ArgResult::update`].
    fn update(self, best: &mut Self::Results, found: Self::Results, first: usize);
    /// Whether nothing can be better.
    fn are_final(results: Self::Results) -> bool;
    fn positions(results: Self::Results) -> Self::Positions;

    /// A vector as each order takes it.
    ///
    /// # Safety
    /// - `at` points to `LANES` readable elements.
    unsafe fn load(self, at: *const Lane<Self>) -> Vec<Self::Order>;
    /// The running state of [lane-indexed](super::lane_indexed) segments.
    type Chains: Copy;
    fn chains(self, first: [Vec<Self::Order>; 2], position: IndexVec<Self::Order>) -> Self::Chains;
    fn update_chains(self, chains: &mut Self::Chains, vectors: [Vec<Self::Order>; 2], position: IndexVec<Self::Order>);
    fn finish_chains(self, chains: Self::Chains, vectors: Vectors<'_, Self::Order>, second: usize) -> Self::Positions;

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

    /// What is found where the fast path did not accept what it found.
    fn find_without_fast<const V: usize>(self, segment: Segment<'_, Lane<Self>>, before: usize) -> Self::Results;

    const HAS_FAST: bool;
    /// What the fast path finds, if it accepts that. Each has to.
    fn find_fast<const V: usize>(self, segment: Segment<'_, Lane<Self>>, before: usize) -> Option<Self::Results>;
}

impl<O: ArgOrder> RowOrders for O {
    type Order = O;
    const ARE_TWO: bool = false;

    type Places = *mut MaybeUninit<u32>;

    #[inline(always)]
    fn places(outputs: &mut Outputs<'_>) -> Self::Places {
        // By rows, a branch on the width of positions would be paid for each.
        outputs.positions.half_width().as_mut_ptr()
    }

    type Positions = u32;

    #[inline(always)]
    unsafe fn write(places: &mut Self::Places, position: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            places.write(MaybeUninit::new(position));
            *places = places.add(1);
        }
    }

    #[inline(always)]
    unsafe fn finish(self, mut outputs: Outputs<'_>) -> Written {
        // SAFETY: the caller's promise.
        unsafe { outputs.positions.widen(self.simd()) };
        Written::Nothing
    }

    #[inline(always)]
    unsafe fn write_group<S: RowSearch<O>>(self, places: &mut Self::Places, rows: SideBySide<'_, O>) {
        // SAFETY: the caller's promise; lanes of 32 bits have indices of 32 bits, as a place has.
        unsafe {
            places.cast::<IndexVec<O>>().write_unaligned(S::find_group(self, rows));
            *places = places.add(O::Simd::LANES);
        }
    }

    #[inline(always)]
    fn find<S: RowSearch<O>>(self, row: Segment<'_, O::Lane>) -> u32 {
        S::find(self, row)
    }

    #[inline(always)]
    fn find_followed<S: RowSearch<O>>(self, row: Followed<'_, O>) -> u32 {
        S::find_followed(self, row)
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

    #[inline(always)]
    fn positions(result: ArgResult<O>) -> u32 {
        result.position()
    }

    #[inline(always)]
    unsafe fn load(self, at: *const O::Lane) -> Vec<O> {
        // SAFETY: the caller's promise.
        unsafe { ArgOrder::load(self, at) }
    }

    type Chains = LaneAccumulators<O>;

    #[inline(always)]
    fn chains(self, first: [Vec<O>; 2], position: IndexVec<O>) -> LaneAccumulators<O> {
        LaneAccumulators::new(self, first, position)
    }

    #[inline(always)]
    fn update_chains(self, chains: &mut LaneAccumulators<O>, vectors: [Vec<O>; 2], position: IndexVec<O>) {
        chains.update(self, vectors, position);
    }

    #[inline(always)]
    fn finish_chains(self, chains: LaneAccumulators<O>, vectors: Vectors<'_, O>, second: usize) -> u32 {
        chains.finish(self, vectors, second)
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

    #[inline(always)]
    fn find_without_fast<const V: usize>(self, segment: Segment<'_, O::Lane>, before: usize) -> ArgResult<O> {
        blocked::find_exactly::<O, V>(self, segment, before)
    }

    const HAS_FAST: bool = <O as ArgOrder>::HAS_FAST;

    #[inline(always)]
    fn find_fast<const V: usize>(self, segment: Segment<'_, O::Lane>, before: usize) -> Option<ArgResult<O>> {
        let (fast, blocks) = (ArgOrder::fast(self), BlockedSegment::aligned(segment));
        let [first] = BlockedSegment::<O::Fast, 1>::new(segment).first().load(fast);
        if !fast.accepts(first, Zeroable::zeroed()) {
            return None;
        }
        let accumulator = accumulate_from_first::<O::Fast, V>(fast, blocks, before);
        accepted(self, accumulator, blocks)
    }
}

/// Of the blocks that went by a fast path, the best, if it accepts that.
#[inline(always)]
fn accepted<'a, O: ArgOrder, const V: usize>(
    order: O,
    accumulator: BlockAccumulator<O::Fast, V>,
    blocks: impl BlockMap<'a, O::Fast, V>,
) -> Option<ArgResult<O>> {
    let fast = order.fast();
    let value = order.simd().reduce_splat(accumulator.best, const { <O::Fast as ArgOrder>::IS_MAX });
    if !fast.accepts(value, accumulator.nan_acc) {
        return None;
    }
    let ArgResult { value, position, .. } = accumulator.finalize(fast, blocks);
    Some(ArgResult { value: order.encode(fast.decode(value)), position, is_final: false })
}

impl<A: ArgOrder, B: PairedWith<A>> RowOrders for Pair<A, B> {
    type Order = A;
    const ARE_TWO: bool = true;

    type Places = [*mut MaybeUninit<u32>; 2];

    #[inline(always)]
    fn places(outputs: &mut [Outputs<'_>; 2]) -> Self::Places {
        outputs.each_mut().map(A::places)
    }

    type Positions = [u32; 2];

    #[inline(always)]
    unsafe fn write([first, second]: &mut Self::Places, positions: [u32; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            A::write(first, positions[0]);
            B::write(second, positions[1]);
        }
    }

    #[inline(always)]
    unsafe fn finish(self, [first, second]: [Outputs<'_>; 2]) -> [Written; 2] {
        // SAFETY: the caller's promise.
        unsafe { [self.0.finish(first), self.1.finish(second)] }
    }

    #[inline(always)]
    unsafe fn write_group<S: RowSearch<A>>(self, [first, second]: &mut Self::Places, rows: SideBySide<'_, A>) {
        // SAFETY: the caller's promise.
        unsafe {
            self.0.write_group::<S>(first, rows);
            self.1.write_group::<S::Of<B>>(second, rows.of_order());
        }
    }

    #[inline(always)]
    fn find<S: RowSearch<A>>(self, row: Segment<'_, A::Lane>) -> [u32; 2] {
        match const { S::LOOPS } {
            Some(Loops::Lanes) => lane_indexed::find(self, row),
            Some(Loops::Blocks) => Self::positions(blocked::find(self, row, 0)),
            Some(Loops::Parts) => Self::positions(blocked::find_any_length(self, row)),
            // The compiler loads once what both begin with.
            None => [S::find(self.0, row), S::Of::<B>::find(self.1, row)],
        }
    }

    #[inline(always)]
    fn find_followed<S: RowSearch<A>>(self, row: Followed<'_, A>) -> [u32; 2] {
        match const { S::LOOPS.is_some() } {
            true => self.find::<S>(row.segment()),
            false => [S::find_followed(self.0, row), S::Of::<B>::find_followed(self.1, row.of_order())],
        }
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

    #[inline(always)]
    fn positions(results: Self::Results) -> [u32; 2] {
        [results.0.position(), results.1.position()]
    }

    #[inline(always)]
    unsafe fn load(self, at: *const A::Lane) -> Vec<A> {
        // SAFETY: the caller's promise.
        unsafe { self.0.simd().load(at) }
    }

    type Chains = (LaneAccumulators<A>, LaneAccumulators<B>);

    #[inline(always)]
    fn chains(self, first: [Vec<A>; 2], position: IndexVec<A>) -> Self::Chains {
        let a = [self.0.encode(first[0]), self.0.encode(first[1])];
        let b = [self.1.encode(first[0]), self.1.encode(first[1])];
        (LaneAccumulators::new(self.0, a, position), LaneAccumulators::new(self.1, b, position))
    }

    #[inline(always)]
    fn update_chains(self, (first, second): &mut Self::Chains, vectors: [Vec<A>; 2], position: IndexVec<A>) {
        first.update(self.0, [self.0.encode(vectors[0]), self.0.encode(vectors[1])], position);
        second.update(self.1, [self.1.encode(vectors[0]), self.1.encode(vectors[1])], position);
    }

    #[inline(always)]
    fn finish_chains(self, (a, b): Self::Chains, vectors: Vectors<'_, A>, second: usize) -> [u32; 2] {
        [a.finish(self.0, vectors, second), b.finish(self.1, vectors.of_order(), second)]
    }

    type Accumulators<const V: usize> = (BlockAccumulator<A, V>, BlockAccumulator<B, V>);

    #[inline(always)]
    fn accumulators<const V: usize>(self) -> Self::Accumulators<V> {
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

    /// Of elements that are all above zero, or all below, one accepts what the other does not. By itself, each may be
    /// fast; exact keys of both would take longer.
    #[inline(always)]
    fn find_without_fast<const V: usize>(self, segment: Segment<'_, A::Lane>, before: usize) -> Self::Results {
        (blocked::find(self.0, segment, before), blocked::find(self.1, segment, before))
    }

    const HAS_FAST: bool = A::HAS_FAST && B::HAS_FAST;

    #[inline(always)]
    fn find_fast<const V: usize>(self, segment: Segment<'_, A::Lane>, before: usize) -> Option<Self::Results> {
        let fast = Pair(ArgOrder::fast(self.0), ArgOrder::fast(self.1));
        let [first] = BlockedSegment::<A::Fast, 1>::new(segment).first().load_raw(fast.0);
        if !fast.0.accepts(fast.0.encode(first), Zeroable::zeroed())
            || !fast.1.accepts(fast.1.encode(first), Zeroable::zeroed())
        {
            return None;
        }
        let blocks = BlockedSegment::<A::Fast, V>::aligned(segment);
        let (first, second) = accumulate_from_first(fast, blocks, before);
        Some((accepted(self.0, first, blocks)?, accepted(self.1, second, blocks.of_order())?))
    }
}
