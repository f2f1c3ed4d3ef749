//! Segments that do not fit the registers, block by block: see `mod.rs`. A segment beyond the L1 or the L2 cache is
//! prefetched where that helps; one beyond all of them is read by `interleaved.rs` in several streams where that is
//! faster.

use super::accumulator::{BlockAccumulator, max_blocks};
use super::blocks::{BlockedSegment, block_len};
use super::segment::{ArgBest, ArgResult, Segment, has_fast_path};
use crate::order::{ArgOrder, load};
use crate::simd::ops::SimdOps;
use crate::simd::token::{Simd, SimdOp};

/// The longest segment whose blocks a lane can count. One number is left for the additional block of a segment that is
/// aligned.
#[inline(always)]
const fn max_segment_len<O: ArgOrder>() -> usize {
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
    len >= (1 << 20) / size_of::<O::Lane>()
}

/// Finds the first best element of a segment of at least a [`block_len`].
///
/// # Safety
/// - The elements of the segment may be read.
#[inline(always)]
pub(super) unsafe fn find<O: ArgOrder>(order: O, segment: Segment<O::Lane>) -> ArgResult<O> {
    // SAFETY: the caller's promise.
    unsafe {
        let is_short = is_one_segment::<O>(segment.len) && block_factor::<O>(segment) == 1;
        if (const { O::Simd::TUNING.specializes } || !segment.reversed) && is_short {
            find_segment::<O, false>(order, segment, 1)
        } else {
            find_long(order, segment)
        }
    }
}

/// Finds the first best element of a segment of at least a block and at most the [`max_segment_len`]. The fast path is
/// tried if there is one and it would accept the best of the first vector; its answer counts if it accepts the best of
/// all. If `SCALED`, blocks are `block_factor` times as long.
///
/// # Safety
/// - The elements of the segment may be read.
#[inline(always)]
unsafe fn find_segment<O: ArgOrder, const SCALED: bool>(
    order: O,
    segment: Segment<O::Lane>,
    block_factor: usize,
) -> ArgResult<O> {
    // SAFETY: the caller's promise.
    unsafe {
        if const { !has_fast_path::<O>() } {
            return accumulate::<_, SCALED>(order, BlockedSegment::aligned(order, segment).scaled(block_factor));
        }
        let fast = order.fast();
        if fast.accepts(load(fast, segment.part(0, O::Simd::LANES).at), fast.empty_nan_acc()) {
            let blocks = BlockedSegment::aligned(fast, segment).scaled(block_factor);
            if let Some(found) = BlockAccumulator::of::<SCALED>(fast, blocks).finalize_speculative(order, fast, blocks)
            {
                return found;
            }
        }
        order.simd().call_outlined(Exact::<_, SCALED> { order, segment, block_factor })
    }
}

/// The same by the order itself, where the fast path does not do. A call of its own, to keep it out of the code and the
/// registers of the fast path.
#[derive(Clone, Copy)]
struct Exact<O: ArgOrder, const SCALED: bool> {
    order: O,
    segment: Segment<O::Lane>,
    block_factor: usize,
}

impl<O: ArgOrder, const SCALED: bool> SimdOp for Exact<O, SCALED> {
    type Output = ArgResult<O>;

    #[inline(always)]
    unsafe fn eval(self) -> ArgResult<O> {
        // SAFETY: the promise of the caller of `find_segment`.
        unsafe {
            accumulate::<_, SCALED>(self.order, BlockedSegment::new(self.order, self.segment).scaled(self.block_factor))
        }
    }
}

/// The same by one order, of blocks.
///
/// # Safety
/// - As for [`find_segment`].
#[inline(always)]
unsafe fn accumulate<O: ArgOrder, const SCALED: bool>(order: O, blocks: BlockedSegment<O::Lane>) -> ArgResult<O> {
    // SAFETY: the caller's promise.
    unsafe { BlockAccumulator::of::<SCALED>(order, blocks).finalize(order, blocks) }
}

/// [`find`], outlined, in several segments if one is too long to count its blocks.
///
/// # Safety
/// - The elements of the segment may be read.
#[inline(always)]
pub(super) unsafe fn find_long<O: ArgOrder>(order: O, segment: Segment<O::Lane>) -> ArgResult<O> {
    #[derive(Clone, Copy)]
    struct Call<O: ArgOrder> {
        order: O,
        segment: Segment<O::Lane>,
    }
    impl<O: ArgOrder> SimdOp for Call<O> {
        type Output = ArgResult<O>;

        #[inline(always)]
        unsafe fn eval(self) -> ArgResult<O> {
            let Call { order, mut segment } = self;
            if segment.prefetch_distance == 0 {
                segment = segment.with_prefetch(segment.tuning.prefetch(segment.len * size_of::<O::Lane>()));
            }
            let block_factor = block_factor::<O>(segment);
            let longest = max_segment_len::<O>().saturating_mul(block_factor);
            let mut best = ArgBest::new(order);
            let mut start = 0;
            while start < segment.len && !best.is_absorbing() {
                let len = longest.min(segment.len - start).max(block_len::<O>() * block_factor);
                // The last part overlaps the previous one, as the last block does.
                start = start.min(segment.len - len);
                let part = segment.part(start, len);
                // SAFETY: `start` leaves room for the part in the segment, which the caller promises, and `len` was
                // chosen to be at least a block.
                best.update(
                    unsafe {
                        if const { O::Simd::TUNING.blends_may_be_slow } {
                            find_segment::<O, true>(order, part, block_factor)
                        } else {
                            find_segment::<O, false>(order, part, 1)
                        }
                    },
                    start,
                );
                start += len;
            }
            best.found()
        }
    }
    // SAFETY: the caller's promise.
    unsafe { order.simd().call_outlined(Call { order, segment }) }
}

/// The shortest segments, in bytes, whose blocks are joined where that is faster. In shorter ones, the outlined call
/// and the search within a longer block take longer than the selects that are saved.
const MIN_SCALED_BYTES: usize = 16 << 10;

/// How many times as long as a [`block_len`] those of a segment are: [more than
/// once](crate::tuning::RowTuning::block_factor) where a blend takes several operations.
#[inline(always)]
fn block_factor<O: ArgOrder>(segment: Segment<O::Lane>) -> usize {
    let is_long = segment.len >= MIN_SCALED_BYTES / size_of::<O::Lane>();
    if const { O::Simd::TUNING.blends_may_be_slow } && is_long { segment.tuning.rows.block_factor } else { 1 }
}
