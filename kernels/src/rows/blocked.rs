//! Segments that do not fit the registers, block by block: see `mod.rs`. A segment that is less than a block panics.

use super::accumulator::max_blocks;
use super::block_orders::{BlockOrders, Lane, OneOrder};
use super::blocks::{Block, BlockMap, BlockedSegment, LARGE, SMALL, block_len, has_large_blocks, may_shift};
use super::segment::{ArgResult, Segment};
use crate::memory::row_prefetch::PREFETCH_DISTANCE_BYTES;
use crate::order::{ArgOrder, Vec};
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use crate::tuning::MIN_HUGE_ROW_BYTES;

/// The longest segment whose blocks a lane can count. One number is left for the additional block of a segment that is
/// aligned.
#[inline(always)]
pub(super) const fn max_segment_len<O: ArgOrder>() -> usize {
    (max_blocks::<O>() - 1).saturating_mul(block_len::<O>())
}

/// Whether a segment is no longer than that, and not huge.
#[inline(always)]
pub(super) const fn is_one_segment<O: ArgOrder>(len: usize) -> bool {
    len <= max_segment_len::<O>() && !is_huge::<O>(len)
}

/// Whether a segment is beyond the L2 cache of current cores.
#[inline(always)]
pub(super) const fn is_huge<O: ArgOrder>(len: usize) -> bool {
    len >= MIN_HUGE_ROW_BYTES / size_of::<O::Lane>()
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

/// Finds the first best element of a segment of at least a [`block_len`] and at most the [`max_segment_len`], before
/// which so many elements were read.
#[inline(always)]
pub(super) fn find<P: BlockOrders>(orders: P, segment: Segment<'_, Lane<P>>, before: usize) -> P::Results {
    if const { has_large_blocks::<P::Order>() } {
        find_by_blocks::<P, LARGE>(orders, segment, before)
    } else {
        find_by_blocks::<P, SMALL>(orders, segment, before)
    }
}

/// [`find`] by blocks of `V` vectors: by the fast path, if there is one, the first block has an element that it would
/// accept, and it accepts the best in the end.
#[inline(always)]
fn find_by_blocks<P: BlockOrders, const V: usize>(
    orders: P,
    segment: Segment<'_, Lane<P>>,
    before: usize,
) -> P::Results {
    // (Or the fast path is not worth the code size.)
    if const { !P::HAS_FAST || !<P::Order as ArgOrder>::Simd::TUNING.has_instructions } {
        return find_exactly::<P, V>(orders, segment, before);
    }
    let (fast, blocks) = (orders.fast(), BlockedSegment::aligned(segment));
    if fast.may_accept(BlockedSegment::new(segment).first())
        && let Some(found) = orders.accepted::<V>(accumulate_from_first(fast, blocks, before), blocks)
    {
        return found;
    }
    // A call of its own, to keep it out of the code and the registers of the fast path.
    orders.simd().outlined(
        #[inline(always)]
        move || match const { P::ARE_TWO } {
            // Of elements that are all above zero, or all below, one accepts what the other does not. By itself, each
            // may be fast; exact keys of both would take longer.
            true => orders.each_by::<FindOne>(segment, before),
            false => find_exactly::<P, V>(orders, segment, before),
        },
    )
}

/// [`find`] by one order.
struct FindOne;

impl OneOrder for FindOne {
    #[inline(always)]
    fn find<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>, before: usize) -> ArgResult<O> {
        find(order, segment, before)
    }
}

/// [`find`] by blocks of `V` vectors and by the orders themselves, without their fast paths.
#[inline(always)]
fn find_exactly<P: BlockOrders, const V: usize>(orders: P, segment: Segment<'_, Lane<P>>, before: usize) -> P::Results {
    let blocks = BlockedSegment::aligned(segment);
    orders.finalize::<V>(accumulate_from_first(orders, blocks, before), blocks)
}

/// How many vectors are read first of a row of an 8-bit type that is more than one segment. See
/// docs/tuning.md#early_end_bytes.
const SOON_VECTORS: usize = 2;

/// [`find`] of a segment of any length, part by part, each of as many blocks as a lane can count. A call too.
#[inline(always)]
pub(super) fn find_any_length<P: BlockOrders>(orders: P, segment: Segment<'_, Lane<P>>) -> P::Results {
    orders.simd().outlined(
        #[inline(always)]
        move || {
            let mut segment = segment;
            let working_set = segment.tuning().working_set(segment.len() * size_of::<Lane<P>>());
            if !segment.has_prefetch() && segment.tuning().should_prefetch(working_set, false) {
                segment = segment.with_prefetch_bytes(PREFETCH_DISTANCE_BYTES);
            }
            let (longest, shortest) = (max_segment_len::<P::Order>(), block_len::<P::Order>());
            let (mut best, mut start) = (orders.no_results(), 0);
            let soon = SOON_VECTORS * <P::Order as ArgOrder>::Simd::LANES;
            if const { <P::Order as ArgOrder>::MAY_EXIT_EARLY && size_of::<Lane<P>>() == 1 } && segment.len() >= soon {
                // Most masks that have one at all have one soon.
                start = soon;
                best = orders.find_in_registers::<SOON_VECTORS>(segment.cut(0, start));
            }
            while start < segment.len() && !P::are_final(best) {
                let len = longest.min(segment.len() - start).max(shortest);
                // The last part may overlap the one before, as the last block may.
                start = start.min(segment.len() - len);
                orders.update(&mut best, find(orders, segment.cut(start, len), start), start);
                start += len;
            }
            best
        },
    )
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
pub(super) fn accumulate_from_first<P: BlockOrders, const V: usize>(
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
pub(super) fn accumulate<P: BlockOrders, const V: usize>(
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
