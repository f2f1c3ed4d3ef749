//! Loops over a tensor, by what they are over: copies, outputs, or what is reduced. Nothing here knows how they were
//! found.

use crate::MAX_RANK;
use argreduce_kernels::{LoopDim, offset_at};
use std::ops::Range;

/// Loops over a tensor, of three kinds in this order: over kept axes that are broadcast in the input, over the other
/// kept axes, over reduced axes. Within a kind, the slowest loop comes first. All are in one list, which keeps plans
/// small: they are copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopNest {
    /// Where the walk starts, in elements.
    pub(crate) start: usize,
    pub(super) loops: [LoopDim; MAX_LOOPS],
    /// Where each kind ends.
    pub(super) broadcast_end: u8,
    pub(super) output_end: u8,
    pub(super) len: u8,
}

/// One for each axis, and one more for each loop that is cut in two: a reduction is cut where positions cannot count
/// it, again under a mask (`limit_reduction`), and once more where threads share it (`cut_in_slabs`). If no axis is
/// reduced, nothing is cut, and there is a loop of one step over the element itself.
pub(super) const MAX_LOOPS: usize = MAX_RANK + 3;

/// A size, the strides in the input and the mask, and the step of the index.
pub(super) type ReducedLoop = (usize, [isize; 2], isize);

/// The loop from its last step to its first, and where it starts then: in the input and the mask, and in the index.
/// Indices wrap, because the whole may be larger than any memory.
pub(super) fn reversed(
    (size, strides, step): ReducedLoop,
    starts: [&mut isize; 2],
    index_start: &mut isize,
) -> ReducedLoop {
    let last = size as isize - 1;
    starts.into_iter().zip(strides).for_each(|(start, stride)| *start += last * stride);
    *index_start = step.wrapping_mul(last).wrapping_add(*index_start);
    (size, strides.map(|stride| -stride), step.wrapping_neg())
}

impl LoopNest {
    pub(super) const EMPTY: LoopNest = LoopNest {
        start: 0,
        loops: [LoopDim { size: 0, stride: 0 }; MAX_LOOPS],
        broadcast_end: 0,
        output_end: 0,
        len: 0,
    };

    /// The loops over kept axes that are broadcast in the input: the outputs along them are copies of the first.
    #[inline(always)]
    pub(crate) fn broadcast_dims(&self) -> &[LoopDim] {
        &self.loops[..self.broadcast_end.into()]
    }

    /// The loops over the outputs, but for copies.
    #[inline(always)]
    pub(crate) fn output_dims(&self) -> &[LoopDim] {
        &self.loops[self.broadcast_end.into()..self.output_end.into()]
    }

    /// The loops over what one output is chosen from.
    #[inline(always)]
    pub(crate) fn reduced_dims(&self) -> &[LoopDim] {
        &self.loops[self.output_end.into()..self.len.into()]
    }

    /// Whether there are no loops.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first of the loops: the only one, where there is one.
    #[inline(always)]
    pub(crate) fn first(&self) -> LoopDim {
        self.loops[0]
    }

    /// Whether the last loop and one more inside, of `size` and `stride`, walk memory as a single loop would.
    pub(super) fn absorbs(&self, size: usize, stride: isize) -> bool {
        stride.checked_mul(size as isize) == Some(self.loops[usize::from(self.len) - 1].stride)
    }

    /// The loops from output loop `cut` on, without copies.
    pub(super) fn tail(&self, cut: usize) -> LoopNest {
        let mut tail = LoopNest { start: self.start, ..LoopNest::EMPTY };
        tail.output_end = self.output_end - self.broadcast_end - cut as u8;
        tail.len = self.len - self.broadcast_end - cut as u8;
        let first = usize::from(self.broadcast_end) + cut;
        tail.loops[..tail.len.into()].copy_from_slice(&self.loops[first..self.len.into()]);
        tail
    }

    /// Those, at some steps of the first of them, and at step `slower` of the walk along those before it.
    pub(super) fn move_to(&mut self, whole: &LoopNest, cut: usize, slower: usize, steps: &Range<usize>) {
        let offset = offset_at(&whole.output_dims()[..cut], slower) + steps.start as isize * self.loops[0].stride;
        self.start = (whole.start as isize + offset) as usize;
        self.loops[0].size = steps.len();
    }

    /// Adds a faster loop, or makes the last one faster.
    pub(super) fn push(&mut self, size: usize, stride: isize, merges: bool) {
        if merges {
            let last = &mut self.loops[usize::from(self.len) - 1];
            *last = LoopDim { size: last.size * size, stride };
        } else {
            self.loops[usize::from(self.len)] = LoopDim { size, stride };
            self.len += 1;
        }
    }

    /// Adds a loop over the outputs, before the one that is `at` now.
    pub(super) fn insert_output(&mut self, at: usize, size: usize, stride: isize) {
        let (at, len) = (usize::from(self.broadcast_end) + at, usize::from(self.len));
        self.loops.copy_within(at..len, at + 1);
        self.loops[at] = LoopDim { size, stride };
        (self.output_end, self.len) = (self.output_end + 1, self.len + 1);
    }

    /// Leaves out all loops over the outputs but the first few.
    pub(super) fn truncate_outputs(&mut self, len: usize) {
        let (end, left) = (usize::from(self.output_end), usize::from(self.broadcast_end) + len);
        self.loops.copy_within(end..self.len.into(), left);
        (self.output_end, self.len) = (left as u8, self.len - (end - left) as u8);
    }

    /// Gives one of the loops over the outputs another size.
    pub(super) fn resize_output(&mut self, at: usize, size: usize) {
        self.loops[usize::from(self.broadcast_end) + at].size = size;
    }

    /// Leaves out the loops over what is reduced.
    pub(super) fn clear_reduced(&mut self) {
        self.len = self.output_end;
    }

    /// Whether there are loops over what is reduced, the last of which [absorbs](LoopNest::absorbs) one more.
    pub(super) fn absorbs_reduced(&self, size: usize, stride: isize) -> bool {
        self.len > self.output_end && self.absorbs(size, stride)
    }
}

/// How many elements some loops visit.
pub(crate) fn count(loops: &[LoopDim]) -> usize {
    loops.iter().map(|l| l.size).product()
}
