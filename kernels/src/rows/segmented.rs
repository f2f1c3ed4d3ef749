//! Outputs of several segments, or of buffers of gathered elements. Each is searched as a row is, and the results are
//! merged; but segments of a block and more are [interleaved].

use super::blocked;
use super::blocks::block_len;
use super::interleaved;
use super::segment::{self, ArgResult, MAX_VECTORS, Segment};
use crate::gather::{LaneOffsets, SCRATCH_BYTES, Scratch};
use crate::kernel::KernelImpl;
use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::walk::SegmentIter;
use crate::order::ArgOrder;
use crate::outputs::{Outputs, Written};
use crate::positions::Positions;
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use crate::strategy::Strategy;
use crate::tuning::WorkingSet;

/// The longest rows that are gathered several at a time. Not measured.
const MAX_BATCHED_BYTES: usize = SCRATCH_BYTES / 4;

pub(crate) struct SegmentedRows;

impl<O: ArgOrder> KernelImpl<O> for SegmentedRows {
    #[inline(always)]
    unsafe fn run(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        let mut positions = outputs.positions;
        let is_in_place = Strategy::SegmentedRows.is_in_place(args.reduced);
        let fastest = args.innermost_reduced();
        if is_in_place && interleaved::takes::<O>(fastest.size) {
            // SAFETY: the caller of `run` promises the elements of all outputs; the fastest loop has stride 1 or -1,
            // because segments are in place.
            unsafe { interleaved::answer(order, args, positions) };
            return Written::Nothing;
        }
        let reversed = is_in_place && fastest.stride < 0;
        let to_lowest = if reversed { 1 - fastest.size as isize } else { 0 };
        let end = args.contiguous_end().map(|end| args.input.cast::<O::Lane>().wrapping_offset(end));
        let mut scratch = Scratch::new();
        if let (false, [row]) = (is_in_place, args.reduced)
            && const { O::Simd::TUNING.has_special_cases() }
            && row.size <= MAX_BATCHED_BYTES / size_of::<O::Lane>()
        {
            // SAFETY: the caller of `run` promises the elements of all outputs.
            unsafe { answer_in_batches(order, args, *row, &mut scratch, positions) };
            return Written::Nothing;
        }
        for n in 0..positions.len() {
            let output = args.input.cast::<O::Lane>().wrapping_offset(args.offset(n));
            let mut segments = SegmentIter::new(args, None);
            let mut best = ArgResult::none(order);
            let mut reduction_len = 0;
            while !best.is_final {
                let (at, len) = if is_in_place {
                    let Some((offset, len)) = segments.next(usize::MAX) else { break };
                    (output.wrapping_offset(offset + to_lowest), len)
                } else {
                    // SAFETY: the loops reach all of these elements, which the caller says may be read, and so may what
                    // lies between them if that is one block, which `end` then ends.
                    match unsafe { scratch.fill(order.simd(), &mut segments, output, end, &LaneOffsets::ONE) } {
                        (_, 0) => break,
                        (elements, len) => (elements.as_ptr(), len),
                    }
                };
                // SAFETY: `len` elements of the fastest reduced loop, which the caller says may be read, of stride 1 or
                // -1; or as many that were gathered just now into a buffer that is written to when it is filled again.
                let segment = unsafe { Segment::new(at, len, reversed, args.tuning) };
                best.update(order, find(order, segment, args.working_set), reduction_len);
                reduction_len += len;
            }
            positions.write(n, best.position());
        }
        Written::Nothing
    }
}

/// Answers outputs of one short loop each, which are gathered several at a time: what narrow stores have written is
/// then not loaded by wide ones right after, for which a CPU waits.
///
/// # Safety
/// - As for [`KernelImpl::run`]; and `row` is the reduced loop.
#[inline(always)]
unsafe fn answer_in_batches<O: ArgOrder>(
    order: O,
    args: &KernelArgs<'_>,
    row: LoopDim,
    scratch: &mut Scratch,
    mut positions: Positions<'_>,
) {
    let input = args.input.cast::<O::Lane>();
    // Each "row" that is gathered is an output, and each of its lanes an element.
    let mut outputs = SegmentIter::of_loops(core::slice::from_ref(&args.outer), args.inner);
    let lanes = LaneOffsets::Strided { first: 0, step: row.stride, lanes: row.size };
    let mut done = 0;
    while done < positions.len() {
        // SAFETY: the loops reach all of these elements, which the caller says may be read.
        let (elements, count) = unsafe { scratch.fill(order.simd(), &mut outputs, input, None, &lanes) };
        for n in 0..count {
            let segment = Segment::of_slice(&elements[n * row.size..][..row.size], args.tuning);
            positions.write(done + n, find(order, segment, WorkingSet::L2).position());
        }
        done += count;
    }
}

/// The best of a segment, which has an element.
#[inline(always)]
fn find<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>, working_set: WorkingSet) -> ArgResult<O> {
    let lanes = O::Simd::LANES;
    if segment.len() < lanes {
        segment::find_partial(order, segment, segment::load_partial(order, segment))
    } else if segment.len() <= 4 * lanes {
        segment::find::<O, 1, 4>(order, segment)
    } else if segment.len() < block_len::<O>() {
        segment::find::<O, 4, MAX_VECTORS>(order, segment)
    } else if const { O::Simd::TUNING.has_special_cases() }
        && segment.tuning().has_read_streams(working_set)
        && blocked::is_huge::<O>(segment.len())
    {
        interleaved::find_huge(order, segment)
    } else {
        blocked::find_any_length(order, segment)
    }
}
