//! Segments that do not fit the registers, block by block: see `mod.rs`. What is unsafe here asks of its caller that
//! the elements of the segment may be read.

use super::accumulator::{BlockAccumulator, max_blocks};
use super::blocks::{BlockedSegment, LONG, SHORT, block_len, has_long_blocks};
use super::segment::{ArgResult, Segment};
use crate::memory::row_prefetch::PREFETCH_DISTANCE_BYTES;
use crate::order::{ArgOrder, load};
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use crate::tuning::MIN_LONG_ROW_BYTES;
use bytemuck::Zeroable;

/// The longest segment whose blocks a lane can count. One number is left for the additional block of a segment that is
/// aligned.
#[inline(always)]
pub(super) const fn max_segment_len<O: ArgOrder>() -> usize {
    (max_blocks::<O>() - 1).saturating_mul(block_len::<O>())
}

/// Whether a segment is no longer than that, and not so long that it certainly exceeds the L2 cache.
#[inline(always)]
pub(super) const fn is_one_segment<O: ArgOrder>(len: usize) -> bool {
    len <= max_segment_len::<O>() && !is_long::<O>(len)
}

/// Whether a segment is beyond the L2 cache of current cores.
#[inline(always)]
pub(super) const fn is_long<O: ArgOrder>(len: usize) -> bool {
    len >= MIN_LONG_ROW_BYTES / size_of::<O::Lane>()
}

/// Finds the first best element of a segment of at least a [`block_len`] and at most the [`max_segment_len`].
#[inline(always)]
pub(super) unsafe fn find<O: ArgOrder>(order: O, segment: Segment<O::Lane>) -> ArgResult<O> {
    // SAFETY: the caller's promise.
    unsafe {
        if const { has_long_blocks::<O>() } {
            find_by_blocks::<O, LONG>(order, segment)
        } else {
            find_by_blocks::<O, SHORT>(order, segment)
        }
    }
}

/// [`find`] by blocks of `V` vectors: by the fast path, if there is one, the first block has an element that it would
/// accept, and it accepts the best in the end.
#[inline(always)]
unsafe fn find_by_blocks<O: ArgOrder, const V: usize>(order: O, segment: Segment<O::Lane>) -> ArgResult<O> {
    // SAFETY: the caller's promise.
    unsafe {
        // (Or the fast path is not worth the code size.)
        if const { !O::HAS_FAST || !O::Simd::TUNING.specializes } {
            return find_exactly::<O, V>(order, segment);
        }
        let fast = order.fast();
        if fast.accepts(load(fast, segment.part(0, O::Simd::LANES).at), Zeroable::zeroed()) {
            let blocks = BlockedSegment::aligned::<_, V>(fast, segment);
            let accumulator = BlockAccumulator::<_, V>::of(fast, blocks);
            let value = order.simd().reduce_splat(accumulator.best, const { <O::Fast as ArgOrder>::IS_MAX });
            if fast.accepts(value, accumulator.nan_acc) {
                let ArgResult { value, position, .. } = accumulator.finalize(fast, blocks);
                return ArgResult { value: order.encode(fast.decode(value)), position, is_nan: false };
            }
        }
        // A call of its own, to keep it out of the code and the registers of the fast path.
        order.simd().call_outlined(
            #[inline(always)]
            move || find_exactly::<O, V>(order, segment),
        )
    }
}

/// [`find`] by blocks of `V` vectors and by the order itself, without its fast path.
#[inline(always)]
unsafe fn find_exactly<O: ArgOrder, const V: usize>(order: O, segment: Segment<O::Lane>) -> ArgResult<O> {
    let blocks = BlockedSegment::aligned::<_, V>(order, segment);
    // SAFETY: the caller's promise.
    unsafe { BlockAccumulator::<_, V>::of(order, blocks).finalize(order, blocks) }
}

/// [`find`] of a segment of any length, part by part, each of as many blocks as a lane can count. A call too.
#[inline(always)]
pub(super) unsafe fn find_long<O: ArgOrder>(order: O, segment: Segment<O::Lane>) -> ArgResult<O> {
    // SAFETY: the caller's promise. Each part lies in the segment, and is at least a block.
    unsafe {
        order.simd().call_outlined(
            #[inline(always)]
            move || {
                let mut segment = segment;
                let working_set = segment.tuning.working_set(segment.len * size_of::<O::Lane>());
                if segment.prefetch_distance == 0 && segment.tuning.should_prefetch(working_set, false) {
                    segment = segment.with_prefetch_bytes(PREFETCH_DISTANCE_BYTES);
                }
                let longest = max_segment_len::<O>();
                let mut best = ArgResult::none(order);
                let mut start = 0;
                while start < segment.len && !best.is_nan {
                    let len = longest.min(segment.len - start).max(block_len::<O>());
                    // The last part may overlap the one before, as the last block may.
                    start = start.min(segment.len - len);
                    best.update(order, find(order, segment.part(start, len)), start);
                    start += len;
                }
                best
            },
        )
    }
}
