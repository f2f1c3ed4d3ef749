//! Segments of five vectors and more, up to a limit for each ISA, with a position for each lane: see `mod.rs`. Knows
//! nothing of calls.

use super::lane_accumulator::{LaneAccumulators, Vectors};
use super::segment::{MAX_VECTORS, Segment};
use crate::order::{ArgOrder, has_max};
use crate::simd::ops::{SimdOps, iota};
use crate::simd::token::{Simd, repeat};

/// The fewest and the most vectors of a segment that is faster this way. Positions have to fit a lane; beyond the
/// limit, blocks are as fast. See docs/tuning.md#lane-indexed-rows.
#[inline(always)]
pub(super) const fn vectors<O: ArgOrder>() -> (usize, usize) {
    let most = match O::Simd::TUNING.has_masks {
        // The blocks that these would be wait longer for each other.
        _ if !has_max::<O>() => 64,
        true => 25,
        false => 16,
    };
    let positions = (O::Simd::MAX_INDEX as usize).saturating_add(1) / O::Simd::LANES;
    let most = if positions < most { positions } else { most };
    if O::Simd::TUNING.has_instructions { (5, most) } else { (1, 0) }
}

/// Whether a segment of `number` vectors is searched so. 7 and 8 vectors fill a [search in
/// registers](super::segment::find), which may then be as fast.
#[inline(always)]
pub(super) const fn takes<O: ArgOrder>(number: usize) -> bool {
    let (fewest, most) = vectors::<O>();
    let fills_registers = 7 <= number && number <= MAX_VECTORS;
    let has_registers = !O::Simd::TUNING.has_masks && has_max::<O>() && size_of::<O::Lane>() >= 4;
    fewest <= number && number <= most && !(fills_registers && has_registers)
}

/// The position of the first best element, 0 if there is none, of a segment of not more than [`takes`] allows. One that
/// is less than a vector panics.
#[inline(always)]
pub(super) fn find<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>) -> u32 {
    let (simd, lanes) = (order.simd(), O::Simd::LANES);
    let (vectors, reversed) = (Vectors::<O>::new(segment), segment.is_reversed());
    // Two spans of the segment, equally long, of whole vectors: one from its start, and one to its end. They may
    // overlap. Re-reading is harmless: the comparison is strict.
    let len = segment.len().div_ceil(2 * lanes) * lanes;
    let second = segment.len() - len;
    let (lowest, step) = (vectors.first().segment(), if reversed { -1 } else { 1 });
    let vector = |start: usize| lowest.address(start as isize * step);
    // SAFETY: a segment of at least a vector has one at its start, and one `len` before its end: that is at least a
    // vector, and no more than the segment.
    let first = unsafe { [order.load(vector(0)), order.load(vector(second))] };
    let mut position = iota::<O::Lane, _>(reversed);
    let mut chains = LaneAccumulators::new(order, first, position);
    let mut at = lanes;
    let unrolls = const { O::Simd::TUNING.has_few_registers } && !reversed;
    repeat!(unrolls, at < len, at + lanes < len, at += lanes, {
        position = simd.add(position, simd.splat_index(lanes as u32));
        // SAFETY: both spans are whole vectors, `len` elements of the segment, and `at` is below that.
        let vectors = unsafe { [order.load(vector(at)), order.load(vector(second + at))] };
        chains.update(order, vectors, position);
    });
    chains.finish(order, vectors, second)
}
