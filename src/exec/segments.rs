//! Segments of one slice: answered some at a time, as many as the caches hold, or in parts on threads.
//!
//! ```text
//! for each block of offsets, which are copied and checked:
//!     for each group of segments, near each other:
//!         all are there:    positions = kernel(the input, bounds)
//!         some are:         positions = kernel(a copy, bounds), with what never wins for what is not there
//!         write where they are in their segments, or in the whole; the fill where nothing is
//!     a segment that is no part of a group:  a plan of one row
//! ```
//!
//! Threads take parts of the segments, by the bytes of their elements. A segment that is large for a part is left out,
//! and answered by all threads when the others are.
#![allow(unsafe_code)]

use super::input::{ElementsRef, Order};
use super::masked::{Bits, CallMask, Loser, write_all};
use super::presence::Coverage;
use super::scan::spread;
use super::slices::{OutputSlices, for_width};
use super::tiles::{Buffer, NEAR_BYTES};
use crate::planner::{MASKED_BYTES, MAX_MASKED_LEN, PAUSE_BYTES};
use crate::segments::{BLOCK, Segments};
use crate::threads::{Executor, Sequential, for_each_part, tasks_for};
use crate::{Error, Isa};
use argreduce_kernels::{Affine, Kernel, KeyCopier, LoopDim, OutputWriter, RaggedRows, with_element_bits};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// What a segment takes beside its elements, in the time of so many bytes. Not measured.
const SEGMENT_BYTES: usize = 32;

/// The most parts of a call, as many as a word has bits. Not measured.
const MAX_PARTS: usize = 64;

/// The parts of each task. Not measured.
const PARTS_OF_A_TASK: usize = 4;

/// The position of a segment of which nothing is there: none has so many elements.
const NOTHING: u32 = u32::MAX;

/// Where in a segment the best is, by a plan of one row, on the threads of an executor or not.
type FindInRow<'a> = dyn Fn(Range<usize>, Option<&dyn Executor>) -> Option<usize> + Sync + 'a;

/// Segments of an input.
pub(crate) struct SegmentSearch<'a> {
    pub(crate) segments: Segments<'a>,
    pub(crate) isa: Isa,
    pub(crate) kernel: &'static Kernel,
    pub(crate) order: Order,
    pub(crate) input: ElementsRef<'a>,
    /// Of as many elements as the input has, along one axis.
    pub(crate) mask: Option<&'a CallMask<'a>>,
    /// What copies elements as their keys, where they are not their own. The kernel is for those.
    pub(crate) keys: Option<KeyCopier>,
    pub(crate) last_wins: bool,
    pub(crate) is_absolute: bool,
    /// The index of nothing.
    pub(crate) fill: i64,
    pub(crate) row: &'a FindInRow<'a>,
}

/// A call, while it runs.
struct Call<'a> {
    search: &'a SegmentSearch<'a>,
    /// The most elements of a group, and of a segment that a task answers.
    group: usize,
    limit: usize,
    writer: &'static OutputWriter,
    first_nothing: AtomicUsize,
    /// What was wrong with an offset.
    error: Mutex<Option<Error>>,
    pause: Option<&'a (dyn Fn() + Sync)>,
}

impl SegmentSearch<'_> {
    /// Answers all segments. The first of which nothing is there.
    ///
    /// # Panics
    /// If the input has not as many elements, or the kernel is for others.
    pub(crate) fn run(
        &self,
        slices: &mut OutputSlices<'_>,
        executor: Option<&dyn Executor>,
    ) -> Result<Option<usize>, Error> {
        let (size, count) = (self.input.data_type().size(), self.segments.count());
        assert!(self.segments.ends[1] <= self.input.len() && self.kernel.data_type().size() == size);
        let executor = executor.unwrap_or(&Sequential);
        let (bytes, tasks) = (self.weight(count), tasks_for(executor, self.weight(count)).min(MAX_PARTS));
        let group = match self.mask {
            None if self.keys.is_none() => NEAR_BYTES / size,
            mask if mask.is_none_or(|mask| mask.places().strides[0] == 1) => MAX_MASKED_LEN.min(MASKED_BYTES / size),
            // Each by a plan of its own.
            _ => 0,
        };
        let shared = (bytes / (2 * tasks)).max(executor.min_task_bytes().saturating_mul(2)) / size;
        let call = Call {
            search: self,
            group,
            limit: if tasks > 1 { shared.max(group) } else { usize::MAX },
            writer: OutputWriter::of(self.isa).expect("as there is a kernel"),
            first_nothing: AtomicUsize::new(usize::MAX),
            error: Mutex::new(None),
            pause: executor.pause(),
        };
        if tasks > 1 {
            call.run_divided(executor, tasks, slices);
        } else {
            call.answer(0..count, Some(executor), false, slices);
        }
        let first = call.first_nothing.into_inner();
        let error = call.error.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok((first != usize::MAX).then_some(first)), Err)
    }

    /// What the segments before one take, in the time of bytes; of offsets that are wrong, anything.
    fn weight(&self, segment: usize) -> usize {
        let (mut offset, Segments { offsets, ends, longest }) = ([0], self.segments);
        let elements = offsets.read(segment, &mut offset, ends, longest).map_or(0, |_| offset[0] - ends[0]);
        elements.saturating_mul(self.input.data_type().size()).saturating_add(segment.saturating_mul(SEGMENT_BYTES))
    }
}

impl Call<'_> {
    /// Answers all, on the threads of an executor.
    fn run_divided(&self, executor: &dyn Executor, tasks: usize, slices: &mut OutputSlices<'_>) {
        let count = self.search.segments.count();
        let parts = (tasks * PARTS_OF_A_TASK).min(MAX_PARTS);
        // Once for all: who looked again might see other offsets.
        let (mut cuts, each) = ([0; MAX_PARTS + 1], self.search.weight(count) / parts);
        cuts[parts] = count;
        for part in 1..parts {
            let (mut from, mut to) = (cuts[part - 1], count);
            while from < to {
                let middle = from + (to - from) / 2;
                (from, to) = if self.search.weight(middle) < each * part { (middle + 1, to) } else { (from, middle) };
            }
            cuts[part] = from;
        }
        let (left, shared) = (AtomicU64::new(0), &*slices);
        for_each_part(executor, tasks, parts, &|claim| {
            // SAFETY: a task writes the answers of the parts that it claims, each of which is claimed once. No two have
            // a segment in common, and each segment has places of its own.
            let mut lent = unsafe { shared.lend() };
            claim(&mut |part| {
                self.pause.into_iter().for_each(|pause| pause());
                let is_left = self.answer(cuts[part]..cuts[part + 1], None, false, &mut lent);
                left.fetch_or(u64::from(is_left) << part, Relaxed);
            });
        });
        for part in (0..parts).filter(|part| left.load(Relaxed) >> part & 1 != 0) {
            self.answer(cuts[part]..cuts[part + 1], Some(executor), true, slices);
        }
    }

    /// Answers some segments, one after another: all but the large ones, if there is no executor for those; or those
    /// alone. Whether large ones are left.
    #[inline(never)]
    fn answer(
        &self,
        segments: Range<usize>,
        executor: Option<&dyn Executor>,
        only_large: bool,
        slices: &mut OutputSlices<'_>,
    ) -> bool {
        let (mut bounds, mut is_left, mut unpaused) = ([0; BLOCK + 1], false, 0);
        let Segments { offsets, ends, longest } = self.search.segments;
        for start in segments.clone().step_by(BLOCK) {
            let len = BLOCK.min(segments.end - start);
            let bounds = &mut bounds[..=len];
            if let Err(error) = offsets.read(start, bounds, ends, longest) {
                *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                return false;
            }
            let mut first = 0;
            while first < len {
                let (from, mut end) = (bounds[first], len);
                if bounds[len] - from > self.group {
                    end = first + 1 + bounds[first + 2..].partition_point(|&bound| bound - from <= self.group);
                }
                let (group, elements) = (&bounds[first..=end], bounds[end] - from);
                unpaused += elements * self.search.input.data_type().size();
                if unpaused >= PAUSE_BYTES {
                    self.pause.into_iter().for_each(|pause| pause());
                    unpaused = 0;
                }
                let is_large = elements > self.limit;
                is_left |= is_large && executor.is_none();
                if if is_large { executor.is_some() } else { !only_large } {
                    if elements > self.group {
                        let position = (self.search.row)(from..bounds[end], executor);
                        self.write(start + first, group, slices, |_| position);
                    } else {
                        self.answer_group(start + first, group, slices);
                    }
                }
                first = end;
            }
        }
        is_left
    }

    /// Answers a group of segments from one on.
    fn answer_group(&self, first: usize, bounds: &[usize], slices: &mut OutputSlices<'_>) {
        let (mut positions, len) = ([MaybeUninit::uninit(); BLOCK], bounds.len() - 1);
        let positions = self.find(bounds, &mut positions[..len]);
        let is_nothing = |(ends, &position): (&[usize], &u32)| (ends[0] == ends[1]) | (position == NOTHING);
        let has_nothing = bounds.windows(2).zip(&*positions).fold(false, |has, found| has | is_nothing(found));
        if self.search.is_absolute || slices.values.is_some() || has_nothing {
            let found = |n: usize| (!is_nothing((&bounds[n..n + 2], &positions[n]))).then_some(positions[n] as usize);
            return self.write(first, bounds, slices, found);
        }
        for_width!(&mut slices.indices, indices => {
            self.writer.write(Affine::IDENTITY, positions, indices.range(first, len));
        });
    }

    /// Writes the answers of some segments, of which one after the other was found.
    #[inline(always)]
    fn write(
        &self,
        first: usize,
        bounds: &[usize],
        slices: &mut OutputSlices<'_>,
        found: impl Fn(usize) -> Option<usize>,
    ) {
        let (&SegmentSearch { is_absolute, fill, input, .. }, len) = (self.search, bounds.len() - 1);
        let start = |n: usize| if is_absolute { bounds[n] } else { 0 };
        let indices = (0..len).map(|n| found(n).map_or(fill as u64, |position| (start(n) + position) as u64));
        for_width!(&mut slices.indices, to => spread(to, first as isize, 1, indices));
        if let Some(nothing) = (0..len).find(|&n| found(n).is_none()) {
            self.first_nothing.fetch_min(first + nothing, Relaxed);
        }
        let Some(values) = &mut slices.values else { return };
        with_element_bits!(values.size(), B => {
            // SAFETY: positions are within their segments, and these within the input.
            let read = |n: usize, position: usize| unsafe { input.read(bounds[n] + position) };
            let value = |n: usize| found(n).map_or(B::default(), |position| read(n, position));
            // SAFETY: elements of the input, which are of that type, or bits of 0.
            unsafe { values.bits::<B>() }.spread(first as isize, 1, (0..len).map(value));
        });
    }

    /// Where in each segment of a group its best is; or [`NOTHING`], or where it is empty, anything.
    fn find<'p>(&self, bounds: &[usize], positions: &'p mut [MaybeUninit<u32>]) -> &'p mut [u32] {
        let SegmentSearch { input, mask, keys, last_wins, kernel, .. } = *self.search;
        let (within, size) = (bounds[0]..bounds[positions.len()], input.data_type().size());
        let is_some_there = |mask: &&CallMask<'_>| {
            let (places, run) = (mask.places(), LoopDim { size: within.len(), stride: 1 });
            !within.is_empty() && places.coverage(places.start + within.start, (&[], run)) != Coverage::All
        };
        let mask = mask.filter(is_some_there);
        if mask.is_none() && self.search.segments.longest <= 1 {
            return write_all(positions, 0);
        }
        if mask.is_some() || keys.is_some() {
            return with_element_bits!(size, B => self.find_in_copy::<B>(mask, bounds, positions));
        }
        let rows = RaggedRows { input: input.address(0), len: input.len(), bounds, last_wins };
        // SAFETY: offsets ascend, as was checked, up to what the last of them was, for which the input is long enough.
        // The kernel is for its elements, and a group has fewer than positions count.
        unsafe { kernel.of_ragged(&rows, positions) }
    }

    /// As [`Call::find`], of what is there, or of keys: both are copied.
    #[inline(never)]
    fn find_in_copy<'p, B: Bits>(
        &self,
        mask: Option<&CallMask<'_>>,
        bounds: &[usize],
        positions: &'p mut [MaybeUninit<u32>],
    ) -> &'p mut [u32] {
        let SegmentSearch { input, keys, order, last_wins, kernel, .. } = *self.search;
        let (first, end) = (bounds[0], bounds[positions.len()]);
        let (loser, mut buffer) = (Loser::<B>::of(kernel.data_type(), order), Buffer::<{ MASKED_BYTES / 8 }>::new());
        let (from, to) = (input.address(first as isize), buffer.places::<B>(end - first));
        let there = mask.map(|mask| (mask.copier(), mask.places().from(mask.places().start + first)));
        // What is searched in place of the input.
        // SAFETY: elements of the input, as in `find`, and as many places, each of which is written.
        let copy = unsafe {
            match (keys, there) {
                (None, None) => unreachable!("then nothing is copied"),
                (None, Some((copier, there))) => copier.copy(from.cast(), 1, there, loser.bits, to),
                (Some(keys), there) => {
                    keys.copy(from, &[], LoopDim { size: to.len(), stride: 1 }, to.as_mut_ptr().cast());
                    let copy = &mut *(&raw mut *to as *mut [B]);
                    there.inspect(|(copier, there)| copier.fill(*there, loser.bits, copy));
                    copy
                }
            }
        };
        // It begins with the first bound.
        let rows = RaggedRows { input: copy.as_ptr().wrapping_sub(first).cast(), len: end, bounds, last_wins };
        // SAFETY: as in `find`, and it ends with the last.
        let positions = unsafe { kernel.of_ragged(&rows, positions) };
        let Some(places) = mask.map(|mask| mask.places()) else { return positions };
        for (segment, position) in bounds.windows(2).zip(&mut *positions) {
            if segment[0] < segment[1] && loser.is_like(copy[segment[0] - first + *position as usize]) {
                // All that is there is as bad.
                let (mut each, is_there) = (segment[0]..segment[1], |&n: &usize| places.at(places.start + n));
                let there = if last_wins { each.rfind(is_there) } else { each.find(is_there) };
                *position = there.map_or(NOTHING, |there| (there - segment[0]) as u32);
            }
        }
        positions
    }
}
