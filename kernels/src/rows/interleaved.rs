//! Outputs of several segments, searched as if they were one: see `mod.rs`. An accumulator is carried over from one
//! segment to the next, and the place of the best is looked up in the end only.

use super::accumulator::{BlockAccumulator, max_blocks};
use super::blocked::is_one_segment;
use super::blocks::{BlockMap, BlockedSegment, SHORT, len_of_blocks};
use super::segment::{ArgResult, Segment};
use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::row_prefetch::PREFETCH_DISTANCE_BYTES;
use crate::memory::walk::offset_at;
use crate::order::ArgOrder;
use crate::positions::Positions;
use crate::simd::token::Simd;
use crate::tuning::{MAX_READ_STREAMS, MIN_STREAM_BYTES};
use core::mem::MaybeUninit;

/// The most outputs that are interleaved: 6 KiB of state by vectors of 32 bytes, twice as much by those of 64. See
/// docs/tuning.md#max_interleaved.
const MAX_INTERLEAVED: usize = 32;

#[inline(always)]
const fn block_len<O: ArgOrder>() -> usize {
    len_of_blocks::<O, SHORT>()
}

/// Whether [`answer`] takes segments of `len` neighbours: where that is worth the code size.
#[inline(always)]
pub(super) fn takes<O: ArgOrder>(len: usize) -> bool {
    (const { O::Simd::TUNING.specializes }) && len >= block_len::<O>() && is_one_segment::<O>(len)
}

/// Answers all outputs of a call.
///
/// # Safety
/// - As [`crate::kernel::KernelImpl::run`]; the fastest reduced loop has stride 1 or -1, and segments that this
///   [takes].
#[inline(always)]
pub(super) unsafe fn answer<O: ArgOrder>(order: O, args: &KernelArgs<'_>, mut positions: Positions<'_>) {
    let (fastest, slower) = args.split_reduced();
    let reversed = fastest.stride < 0;
    let to_lowest = if reversed { 1 - fastest.size as isize } else { 0 };
    let first_segment =
        Segment::new(args.input.cast::<O::Lane>().wrapping_offset(to_lowest), fastest.size, reversed, args.tuning);
    let outputs = if args.is_interleaved(args.inner) { MAX_INTERLEAVED } else { 1 };
    let bytes = fastest.size * size_of::<O::Lane>();
    let prefetch_distance = args.should_prefetch(false).then_some(PREFETCH_DISTANCE_BYTES / bytes);
    let mut best = [const { MaybeUninit::uninit() }; MAX_INTERLEAVED];
    let mut done = 0;
    while done < positions.len() {
        let mut offsets = [0; MAX_INTERLEAVED];
        let count = outputs.min(positions.len() - done);
        for (n, offset) in offsets[..count].iter_mut().enumerate() {
            *offset = args.offset(done + n);
        }
        let interleaved = Interleaved {
            order,
            first_segment,
            outputs: &offsets[..count],
            slower,
            first: 0,
            segment_count: args.reduction_len() / fastest.size,
            prefetch_distance: prefetch_distance.map(|prefetch_distance| prefetch_distance.min(count)),
        };
        // SAFETY: the caller promises the elements of all outputs, of which these are some.
        let found = unsafe { interleaved.find(&mut best) };
        for (n, best) in found.iter().enumerate() {
            positions.write(done + n, best.position());
        }
        done += count;
    }
}

/// Some segments of some outputs, as many of each. Its methods ask of their callers that they may be read.
#[derive(Clone, Copy)]
struct Interleaved<'a, O: ArgOrder> {
    order: O,
    /// At least a block, and not too long to count its blocks.
    first_segment: Segment<O::Lane>,
    /// From there to the first segment of each output, in elements.
    outputs: &'a [isize],
    /// From the first segment of an output to the others.
    slower: &'a [LoopDim],
    /// The number of the first of these segments.
    first: usize,
    segment_count: usize,
    /// How many segments ahead to prefetch, if any: at most one of each output.
    prefetch_distance: Option<usize>,
}

impl<O: ArgOrder> Interleaved<'_, O> {
    /// Finds the best of each output. Outlined, because there are several callers.
    #[inline(always)]
    unsafe fn find(self, workspace: &mut [MaybeUninit<ArgResult<O>>; MAX_INTERLEAVED]) -> &[ArgResult<O>] {
        let best = &mut workspace[..self.outputs.len()];
        for best in &mut *best {
            best.write(ArgResult::none(self.order));
        }
        // SAFETY: they were written just now.
        let found = unsafe { &mut *(&raw mut *best as *mut [ArgResult<O>]) };
        let (best, most) = (&mut *found, max_blocks::<O>() / self.blocks_per_segment());
        // SAFETY: the caller's promise.
        unsafe {
            self.order.simd().call_outlined(
                #[inline(always)]
                move || {
                    let mut first = 0;
                    while first < self.segment_count {
                        let segment_count = most.min(self.segment_count - first);
                        Interleaved { first, segment_count, ..self }.update(best);
                        first += segment_count;
                    }
                },
            );
        }
        found
    }

    /// Finds the best of each output in these segments, whose blocks a lane can count, and updates its best with it.
    #[inline(always)]
    unsafe fn update(self, best: &mut [ArgResult<O>]) {
        let before = self.first * self.first_segment.len;
        // SAFETY: the caller's promise; each accumulator was written.
        unsafe {
            let mut accumulators = [const { MaybeUninit::uninit() }; MAX_INTERLEAVED];
            self.accumulate(&mut accumulators);
            for (n, best) in best.iter_mut().enumerate() {
                let accumulator = accumulators[n].assume_init_ref().copy();
                if !best.is_as_good(self.order, accumulator.best) {
                    let output = Interleaved { outputs: &self.outputs[n..n + 1], ..self };
                    best.update(self.order, accumulator.finalize(self.order, output), before);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn accumulate(self, accumulators: &mut [MaybeUninit<BlockAccumulator<O, SHORT>>; MAX_INTERLEAVED]) {
        let Interleaved { order, first_segment, outputs, slower, segment_count, prefetch_distance, .. } = self;
        let blocks_per_segment = self.blocks_per_segment();
        let (mut next, mut are_absorbing) = (offset_of_segment(slower, self.first), false);
        for n in 0..segment_count {
            if O::MAY_EXIT_EARLY && are_absorbing {
                break;
            }
            are_absorbing = true;
            let this = next;
            next = offset_of_segment(slower, self.first + n + 1);
            for (o, state) in accumulators[..outputs.len()].iter_mut().enumerate() {
                let offset = outputs[o] + this;
                let segment = first_segment.moved(offset);
                let segment = match prefetch_distance {
                    None => segment,
                    Some(0) => segment.with_prefetch_bytes(PREFETCH_DISTANCE_BYTES),
                    Some(prefetch_distance) => {
                        // Wrapping: a prefetched address need not exist.
                        let other = match outputs.get(o + prefetch_distance) {
                            Some(other) => other.wrapping_add(this),
                            None => outputs[o + prefetch_distance - outputs.len()].wrapping_add(next),
                        };
                        Segment { prefetch_distance: other.wrapping_sub(offset), ..segment }
                    }
                };
                // SAFETY: the first segment writes it.
                let mut accumulator =
                    unsafe { if n == 0 { BlockAccumulator::new(order) } else { state.assume_init_ref().copy() } };
                if n > 0 && accumulator.is_absorbing(order) {
                    continue;
                }
                let blocks = BlockedSegment::of_length(segment, block_len::<O>());
                // SAFETY: the caller's promise.
                unsafe { accumulator.accumulate(order, blocks, n * blocks_per_segment, 0, blocks.first()) };
                are_absorbing = false;
                state.write(accumulator);
            }
        }
    }

    #[inline(always)]
    fn blocks_per_segment(self) -> usize {
        self.first_segment.len.div_ceil(block_len::<O>())
    }
}

/// The segments of the only output.
impl<O: ArgOrder> BlockMap<O::Lane> for Interleaved<'_, O> {
    #[inline(always)]
    fn count(self) -> usize {
        self.segment_count * self.blocks_per_segment()
    }

    #[inline(always)]
    fn block(self, n: usize) -> (usize, Segment<O::Lane>) {
        let (segment_number, n) = (n / self.blocks_per_segment(), n % self.blocks_per_segment());
        let offset = self.outputs[0] + offset_of_segment(self.slower, self.first + segment_number);
        let segment = self.first_segment.moved(offset);
        let (start, block) = BlockedSegment::of_length(segment, block_len::<O>()).block(n);
        (segment_number * segment.len + start, block)
    }
}

/// Finds the first best of a segment that exceeds the caches, in several read streams.
///
/// # Safety
/// - The elements of the segment may be read; it is much longer than `stream_bytes` of each stream.
#[inline(always)]
pub(super) unsafe fn find_by_read_streams<O: ArgOrder>(order: O, segment: Segment<O::Lane>) -> ArgResult<O> {
    let rows = &segment.tuning.rows;
    let (count, prefetches) = (rows.read_streams, segment.tuning.prefetch.sequential);
    let slice_len = rows.stream_bytes / size_of::<O::Lane>();
    // What is read of a stream at a time is a block, or several.
    const { assert!(MIN_STREAM_BYTES.is_multiple_of(block_len::<O>() * size_of::<O::Lane>())) };
    let segment_count = segment.len.div_ceil(count * slice_len);
    let (share, step) = (segment_count * slice_len, if segment.reversed { -1 } else { 1 });
    let segment = if prefetches { segment.with_prefetch_bytes(rows.stream_distance) } else { segment };
    // The last stream overlaps the previous one. Re-reading is harmless: the comparison is strict.
    let start = |n: usize| (n * share).min(segment.len - share);
    let mut offsets = [0; MAX_READ_STREAMS];
    for (n, offset) in offsets[..count].iter_mut().enumerate() {
        *offset = start(n) as isize * step;
    }
    let interleaved = Interleaved {
        order,
        first_segment: segment.part(0, slice_len),
        outputs: &offsets[..count],
        slower: &[LoopDim { size: segment_count, stride: slice_len as isize * step }],
        first: 0,
        segment_count,
        prefetch_distance: None,
    };
    let mut workspace = [const { MaybeUninit::uninit() }; MAX_INTERLEAVED];
    let mut best = ArgResult::none(order);
    // SAFETY: the caller promises the segment, of which the streams are parts.
    for (n, found) in unsafe { interleaved.find(&mut workspace) }.iter().enumerate() {
        best.update(order, *found, start(n));
    }
    best
}

/// Outlined, because it is called in many places.
#[inline(never)]
fn offset_of_segment(slower: &[LoopDim], n: usize) -> isize {
    offset_at(slower, n)
}
