//! Segments that do not fit the registers, block by block: see `mod.rs`. A segment that is less than a block panics.

use super::accumulator::{accumulate_from_first, max_blocks};
use super::blocks::{BlockedSegment, LARGE, SMALL, block_len, has_large_blocks};
use super::orders::{Lane, RowOrders};
use super::segment::Segment;
use crate::memory::row_prefetch::PREFETCH_DISTANCE_BYTES;
use crate::order::ArgOrder;
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

/// Finds the first best element of a segment of at least a [`block_len`] and at most the [`max_segment_len`], before
/// which so many elements were read.
#[inline(always)]
pub(super) fn find<P: RowOrders>(orders: P, segment: Segment<'_, Lane<P>>, before: usize) -> P::Results {
    if const { has_large_blocks::<P::Order>() } {
        find_by_blocks::<P, LARGE>(orders, segment, before)
    } else {
        find_by_blocks::<P, SMALL>(orders, segment, before)
    }
}

/// [`find`] by blocks of `V` vectors: by the fast path, if there is one, the first block has an element that it would
/// accept, and it accepts the best in the end.
#[inline(always)]
fn find_by_blocks<P: RowOrders, const V: usize>(orders: P, segment: Segment<'_, Lane<P>>, before: usize) -> P::Results {
    // (Or the fast path is not worth the code size.)
    if const { !P::HAS_FAST || !P::Simd::TUNING.specializes } {
        return find_exactly::<P, V>(orders, segment, before);
    }
    if let Some(found) = orders.find_fast::<V>(segment, before) {
        return found;
    }
    // A call of its own, to keep it out of the code and the registers of the fast path.
    orders.token().outlined(
        #[inline(always)]
        move || orders.find_without_fast::<V>(segment, before),
    )
}

/// [`find`] by blocks of `V` vectors and by the orders themselves, without their fast paths.
#[inline(always)]
pub(super) fn find_exactly<P: RowOrders, const V: usize>(
    orders: P,
    segment: Segment<'_, Lane<P>>,
    before: usize,
) -> P::Results {
    let blocks = BlockedSegment::aligned(segment);
    orders.finalize::<V>(accumulate_from_first(orders, blocks, before), blocks)
}

/// How many vectors are read first of a row of an 8-bit type that is more than one segment. See
/// docs/tuning.md#early_end_bytes.
const SOON_VECTORS: usize = 2;

/// [`find`] of a segment of any length, part by part, each of as many blocks as a lane can count. A call too.
#[inline(always)]
pub(super) fn find_any_length<P: RowOrders>(orders: P, segment: Segment<'_, Lane<P>>) -> P::Results {
    orders.token().outlined(
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
