//! Segments that do not fit the registers, block by block: see `mod.rs`. A segment that is less than a block panics.

use super::accumulator::{BlockAccumulator, max_blocks};
use super::blocks::{BlockedSegment, LARGE, SMALL, block_len, has_large_blocks};
use super::segment::{self, ArgResult, Segment};
use crate::memory::row_prefetch::PREFETCH_DISTANCE_BYTES;
use crate::order::ArgOrder;
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use crate::tuning::MIN_HUGE_ROW_BYTES;
use bytemuck::Zeroable;

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
pub(super) fn find<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>, before: usize) -> ArgResult<O> {
    if const { has_large_blocks::<O>() } {
        find_by_blocks::<O, LARGE>(order, segment, before)
    } else {
        find_by_blocks::<O, SMALL>(order, segment, before)
    }
}

/// [`find`] by blocks of `V` vectors: by the fast path, if there is one, the first block has an element that it would
/// accept, and it accepts the best in the end.
#[inline(always)]
fn find_by_blocks<O: ArgOrder, const V: usize>(order: O, segment: Segment<'_, O::Lane>, before: usize) -> ArgResult<O> {
    // (Or the fast path is not worth the code size.)
    if const { !O::HAS_FAST || !O::Simd::TUNING.specializes } {
        return find_exactly::<O, V>(order, segment, before);
    }
    let fast = order.fast();
    let [first] = BlockedSegment::<O::Fast, 1>::new(segment).first().load(fast);
    if fast.accepts(first, Zeroable::zeroed()) {
        let blocks = BlockedSegment::<O::Fast, V>::aligned(segment);
        let accumulator = BlockAccumulator::of(fast, blocks, before);
        let value = order.simd().reduce_splat(accumulator.best, const { <O::Fast as ArgOrder>::IS_MAX });
        if fast.accepts(value, accumulator.nan_acc) {
            let ArgResult { value, position, .. } = accumulator.finalize(fast, blocks);
            return ArgResult { value: order.encode(fast.decode(value)), position, is_final: false };
        }
    }
    // A call of its own, to keep it out of the code and the registers of the fast path.
    order.simd().outlined(
        #[inline(always)]
        move || find_exactly::<O, V>(order, segment, before),
    )
}

/// [`find`] by blocks of `V` vectors and by the order itself, without its fast path.
#[inline(always)]
fn find_exactly<O: ArgOrder, const V: usize>(order: O, segment: Segment<'_, O::Lane>, before: usize) -> ArgResult<O> {
    let blocks = BlockedSegment::<O, V>::aligned(segment);
    BlockAccumulator::of(order, blocks, before).finalize(order, blocks)
}

/// How many vectors are read first of a row of an 8-bit type that is more than one segment. See
/// docs/tuning.md#early_end_bytes.
const SOON_VECTORS: usize = 2;

/// [`find`] of a segment of any length, part by part, each of as many blocks as a lane can count. A call too.
#[inline(always)]
pub(super) fn find_any_length<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>) -> ArgResult<O> {
    order.simd().outlined(
        #[inline(always)]
        move || {
            let mut segment = segment;
            let working_set = segment.tuning().working_set(segment.len() * size_of::<O::Lane>());
            if !segment.has_prefetch() && segment.tuning().should_prefetch(working_set, false) {
                segment = segment.with_prefetch_bytes(PREFETCH_DISTANCE_BYTES);
            }
            let longest = max_segment_len::<O>();
            let (mut best, mut start) = (ArgResult::none(order), 0);
            let soon = SOON_VECTORS * O::Simd::LANES;
            if const { O::MAY_EXIT_EARLY && size_of::<O::Lane>() == 1 } && segment.len() >= soon {
                // Most masks that have one at all have one soon.
                start = soon;
                best = segment::find::<O, SOON_VECTORS, SOON_VECTORS>(order, segment.cut(0, start));
            }
            while start < segment.len() && !best.is_final {
                let len = longest.min(segment.len() - start).max(block_len::<O>());
                // The last part may overlap the one before, as the last block may.
                start = start.min(segment.len() - len);
                best.update(order, find(order, segment.cut(start, len), start), start);
                start += len;
            }
            best
        },
    )
}
