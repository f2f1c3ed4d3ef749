//! Outputs of several segments, searched as if they were one: see `mod.rs`. An accumulator is carried over from one
//! segment to the next, and the place of the best is looked up in the end only.
//!
//! ```text
//! images [2, 3, 4] over axes 0 and 2: output o has the segments (0, o) and (1, o)
//!
//! memory:       | 0,0 | 0,1 | 0,2 | 1,0 | 1,1 | 1,2 |
//! output:          0     1     2     0     1     2        visited in this order, not 0 0 1 1 2 2
//! ```

use super::accumulator::{BlockAccumulator, max_blocks};
use super::blocked::{self, is_one_segment};
use super::blocks::{Block, BlockMap, BlockedSegment, SMALL};
use super::segment::{ArgResult, Segment};
use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::row_prefetch::PREFETCH_DISTANCE_BYTES;
use crate::memory::walk::offset_at;
use crate::order::ArgOrder;
use crate::positions::Positions;
use crate::simd::token::Simd;
use crate::tuning::{MAX_READ_STREAMS, MIN_HUGE_ROW_BYTES, MIN_STREAM_BYTES};
use core::mem::MaybeUninit;

/// The most outputs that are interleaved: 6 KiB of state by vectors of 32 bytes, twice as much by those of 64. See
/// docs/tuning.md#max_interleaved.
const MAX_INTERLEAVED: usize = 32;

/// Whether [`answer`] takes segments of `len` neighbours: where that is worth the code size.
#[inline(always)]
pub(super) fn takes<O: ArgOrder>(len: usize) -> bool {
    (const { O::Simd::TUNING.has_special_cases() }) && len >= Block::<O, SMALL>::LEN && is_one_segment::<O>(len)
}

/// Answers all outputs of a call.
///
/// # Safety
/// - As [`crate::kernel::KernelImpl::run`]; and the fastest reduced loop has stride 1 or -1.
#[inline(always)]
pub(super) unsafe fn answer<O: ArgOrder>(order: O, args: &KernelArgs<'_>, mut positions: Positions<'_>) {
    let (fastest, slower) = args.split_reduced();
    let reversed = fastest.stride < 0;
    let to_lowest = if reversed { 1 - fastest.size as isize } else { 0 };
    let lowest = args.input.cast::<O::Lane>().wrapping_offset(to_lowest);
    let segment_count = args.reduction_len() / fastest.size;
    let outputs = if args.is_interleaved(args.inner) { MAX_INTERLEAVED } else { 1 };
    let bytes = fastest.size * size_of::<O::Lane>();
    let prefetch_distance = args.should_prefetch(false).then_some(PREFETCH_DISTANCE_BYTES / bytes);
    let mut best = Workspace::new();
    let mut done = 0;
    while done < positions.len() {
        let mut offsets = [0; MAX_INTERLEAVED];
        let count = outputs.min(positions.len() - done);
        for (n, offset) in offsets[..count].iter_mut().enumerate() {
            *offset = args.offset(done + n);
        }
        // SAFETY: the caller says that the elements of each output may be read: those of the fastest loop at each
        // offset of the slower ones. `lowest` is of the first output, and the offsets are those of some outputs.
        let interleaved = unsafe {
            let first = Segment::new(lowest, fastest.size, reversed, args.tuning);
            Interleaved::new(order, first, &offsets[..count], slower, segment_count)
        };
        let prefetch_distance = prefetch_distance.map(|prefetch_distance| prefetch_distance.min(count));
        let found = Interleaved { prefetch_distance, ..interleaved }.find(&mut best);
        for (n, best) in found.iter().enumerate() {
            positions.write(done + n, best.position());
        }
        done += count;
    }
}

/// Something of each output that is interleaved. What is not there yet is not initialised.
struct Workspace<T> {
    items: [MaybeUninit<T>; MAX_INTERLEAVED],
    len: usize,
}

impl<T: Copy> Workspace<T> {
    #[inline(always)]
    fn new() -> Self {
        Workspace { items: [const { MaybeUninit::uninit() }; MAX_INTERLEAVED], len: 0 }
    }

    #[inline(always)]
    fn push(&mut self, item: T) {
        self.items[self.len].write(item);
        self.len += 1;
    }

    /// Puts one item there for each of some outputs.
    #[inline(always)]
    fn fill(&mut self, item: T, len: usize) {
        for place in &mut self.items[..len] {
            place.write(item);
        }
        self.len = len;
    }

    #[inline(always)]
    fn items(&mut self) -> &mut [T] {
        let items = &raw mut self.items[..self.len];
        // SAFETY: `push` and `fill` have written so many.
        unsafe { &mut *(items as *mut [T]) }
    }
}

/// Some segments of some outputs, as many of each.
#[derive(Clone, Copy)]
struct Interleaved<'a, O: ArgOrder> {
    order: O,
    /// The first segment of the first output; not too long to count its blocks.
    first_segment: BlockedSegment<'a, O, SMALL>,
    /// From there to the first segment of each output, in elements.
    outputs: &'a [isize],
    /// From the first segment of an output to the others.
    slower: &'a [LoopDim],
    /// The number of the first of these segments.
    first: usize,
    segment_count: usize,
    /// How many segments ahead to prefetch, if any: at most one of each output.
    prefetch_distance: Option<usize>,
    /// Whether the outputs follow each other in one row, of which the first best is sought.
    is_one_row: bool,
}

/// Where a segment is, from the first one of its output, and whether there is one.
#[derive(Clone, Copy)]
struct Walk {
    offset: isize,
    is_there: bool,
}

impl<'a, O: ArgOrder> Interleaved<'a, O> {
    /// The segments of outputs, `segment_count` of each; they are at least a block. Nothing is prefetched.
    ///
    /// # Safety
    /// - Within what may be read for `'a`, as [`Segment::new`] asks: each of these segments, which is `first_segment`,
    ///   moved by an offset of `outputs` and by one of the first `segment_count` offsets of `slower`.
    #[inline(always)]
    unsafe fn new(
        order: O,
        first_segment: Segment<'a, O::Lane>,
        outputs: &'a [isize],
        slower: &'a [LoopDim],
        segment_count: usize,
    ) -> Self {
        let first_segment = BlockedSegment::new(first_segment);
        let (first, prefetch_distance, is_one_row) = (0, None, false);
        Interleaved { order, first_segment, outputs, slower, first, segment_count, prefetch_distance, is_one_row }
    }

    /// Finds the best of each output. Outlined, because there are several callers.
    #[inline(always)]
    fn find(self, best: &mut Workspace<ArgResult<O>>) -> &[ArgResult<O>] {
        best.fill(ArgResult::none(self.order), self.outputs.len());
        let (best, most) = (best.items(), max_blocks::<O>() / self.blocks_per_segment());
        let found = &mut *best;
        self.order.simd().outlined(
            #[inline(always)]
            move || {
                let (all, mut first) = (self, 0);
                while first < all.segment_count && !found.iter().all(|best| best.is_final) {
                    let segment_count = most.min(all.segment_count - first);
                    Interleaved { first, segment_count, ..all }.update(found);
                    first += segment_count;
                }
            },
        );
        best
    }

    /// Finds the best of each output in these segments, whose blocks a lane can count, and updates its best with it.
    #[inline(always)]
    fn update(self, best: &mut [ArgResult<O>]) {
        let before = self.first * self.first_segment.segment().len();
        let mut accumulators = Workspace::new();
        self.accumulate(&mut accumulators);
        for (n, (best, accumulator)) in best.iter_mut().zip(accumulators.items()).enumerate() {
            let accumulator = accumulator.copy();
            if !best.is_as_good(self.order, accumulator.best) {
                let output = Interleaved { outputs: &self.outputs[n..n + 1], ..self };
                best.update(self.order, accumulator.finalize(self.order, output), before);
            }
        }
    }

    #[inline(always)]
    fn accumulate(self, accumulators: &mut Workspace<BlockAccumulator<O, SMALL>>) {
        let Interleaved { order, first_segment, outputs, segment_count, prefetch_distance, is_one_row, .. } = self;
        let blocks_per_segment = self.blocks_per_segment();
        let (mut next, mut are_absorbing, mut sought) = (self.walk_to(0), false, outputs.len());
        for n in 0..segment_count {
            if O::MAY_EXIT_EARLY && are_absorbing {
                break;
            }
            are_absorbing = true;
            let this = next;
            next = self.walk_to(n + 1);
            for o in 0..outputs.len() {
                if O::MAY_EXIT_EARLY && n > 0 && o >= sought {
                    break;
                }
                let segment = self.segment(o, this);
                let segment = match prefetch_distance {
                    None => segment,
                    Some(0) => segment.with_prefetch_bytes(PREFETCH_DISTANCE_BYTES),
                    Some(prefetch_distance) => {
                        // Wrapping: a prefetched address need not exist.
                        let other = match outputs.get(o + prefetch_distance) {
                            Some(other) => other.wrapping_add(this.offset),
                            None => outputs[o + prefetch_distance - outputs.len()].wrapping_add(next.offset),
                        };
                        segment.with_prefetch_distance(other.wrapping_sub(outputs[o] + this.offset))
                    }
                };
                let mut accumulator =
                    if n == 0 { BlockAccumulator::new(order) } else { accumulators.items()[o].copy() };
                if n > 0 && accumulator.is_absorbing(order) {
                    // What is behind that in a row cannot come first.
                    sought = if is_one_row { o } else { sought };
                    continue;
                }
                let before = n * blocks_per_segment;
                blocked::accumulate(order, &mut accumulator, first_segment.of_other(segment), before, 0, before);
                are_absorbing = false;
                if n == 0 {
                    accumulators.push(accumulator);
                } else {
                    accumulators.items()[o] = accumulator;
                }
            }
        }
    }

    /// The walk from the first segment of an output to segment number `n` of these.
    #[inline(always)]
    fn walk_to(self, n: usize) -> Walk {
        Walk { offset: offset_of_segment(self.slower, self.first + n), is_there: n < self.segment_count }
    }

    /// The segment of an output at the end of a walk. One that is not there panics.
    #[inline(always)]
    fn segment(self, output: usize, walk: Walk) -> Segment<'a, O::Lane> {
        assert!(walk.is_there);
        // SAFETY: one of those that `new` was told of: it is moved by the offset of one of the outputs, and by that of
        // a walk to one of as many segments as there are.
        unsafe { self.first_segment.segment().moved(self.outputs[output] + walk.offset) }
    }

    #[inline(always)]
    fn blocks_per_segment(self) -> usize {
        self.first_segment.count()
    }
}

/// The segments of the only output.
impl<'a, O: ArgOrder> BlockMap<'a, O, SMALL> for Interleaved<'a, O> {
    #[inline(always)]
    fn count(self) -> usize {
        self.segment_count * self.blocks_per_segment()
    }

    #[inline(always)]
    fn block(self, n: usize) -> (usize, Block<'a, O, SMALL>) {
        let (segment_number, n) = (n / self.blocks_per_segment(), n % self.blocks_per_segment());
        let segment = self.segment(0, self.walk_to(segment_number));
        let (start, block) = self.first_segment.of_other(segment).block(n);
        (segment_number * segment.len() + start, block)
    }
}

/// Finds the first best of a huge segment, in several read streams. Where it may end early, in parts, each as long as
/// all before it: because what is found in a stream says nothing of those before it.
#[inline(always)]
pub(super) fn find_huge<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>) -> ArgResult<O> {
    if const { !O::MAY_EXIT_EARLY } {
        return find_by_read_streams(order, segment);
    }
    let mut start = MIN_HUGE_ROW_BYTES / size_of::<O::Lane>();
    if segment.len() < 2 * start {
        return blocked::find_any_length(order, segment);
    }
    let mut best = blocked::find_any_length(order, segment.cut(0, start));
    while start < segment.len() && !best.is_final {
        let rest = segment.len() - start;
        let len = if rest < 2 * start { rest } else { start };
        best.update(order, find_by_read_streams(order, segment.cut(start, len)), start);
        start += len;
    }
    best
}

/// Finds the first best of a segment in several read streams. One that has too few elements for them panics.
#[inline(always)]
fn find_by_read_streams<O: ArgOrder>(order: O, segment: Segment<'_, O::Lane>) -> ArgResult<O> {
    let rows = &segment.tuning().rows;
    let (count, prefetches) = (rows.read_streams, segment.tuning().prefetch.sequential);
    let slice_len = rows.stream_bytes / size_of::<O::Lane>();
    // What is read of a stream at a time is a block, or several.
    const { assert!(MIN_STREAM_BYTES.is_multiple_of(Block::<O, SMALL>::LEN * size_of::<O::Lane>())) };
    let segment_count = segment.len().div_ceil(count * slice_len);
    let (share, step) = (segment_count * slice_len, if segment.is_reversed() { -1 } else { 1 });
    assert!(share <= segment.len());
    let segment = if prefetches { segment.with_prefetch_bytes(rows.stream_distance) } else { segment };
    // The last stream overlaps the previous one. Re-reading is harmless: the comparison is strict.
    let start = |n: usize| (n * share).min(segment.len() - share);
    let mut offsets = [0; MAX_READ_STREAMS];
    for (n, offset) in offsets[..count].iter_mut().enumerate() {
        *offset = start(n) as isize * step;
    }
    let (offsets, slower) = (&offsets[..count], [LoopDim { size: segment_count, stride: slice_len as isize * step }]);
    // SAFETY: a stream is `share` elements of the segment, from one of the offsets on. Its slices follow each other in
    // the order of visiting, as many as are `share` elements.
    let interleaved = unsafe { Interleaved::new(order, segment.cut(0, slice_len), offsets, &slower, segment_count) };
    let (mut workspace, mut best) = (Workspace::new(), ArgResult::none(order));
    let interleaved = Interleaved { is_one_row: true, ..interleaved };
    for (n, found) in interleaved.find(&mut workspace).iter().enumerate() {
        best.update(order, *found, start(n));
    }
    best
}

/// Outlined, because it is called in many places.
#[inline(never)]
fn offset_of_segment(slower: &[LoopDim], n: usize) -> isize {
    offset_at(slower, n)
}
