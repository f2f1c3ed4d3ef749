//! From a checked layout and a set of axes to the few loops that really differ: a [`Problem`]. Nothing here knows of element types, index
//! types, kernels or ISAs.
//!
//! What is gone afterwards: axes of size 1; neighbours that walk memory as one; broadcast reduced axes (all their elements tie);
//! negative strides of kept axes; and the direction, because taking the last of equals is taking the first while walking every
//! reduced axis backwards. What is left of the semantics is one sentence: *the first best element in the order of visiting wins.*

use crate::layout::AxisSet;
use crate::{AxisDirection, Layout, Loop, MAX_RANK};
use std::cmp::Reverse;
use std::ops::Deref;

/// Up to eight loops, from the slowest to the fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nest {
    len: usize,
    loops: [Loop; MAX_RANK],
}

impl Nest {
    /// Whether the last loop, with one more of `size` and `stride` inside, walks as a single loop would.
    fn absorbs(&self, size: usize, stride: isize) -> bool {
        self.last().is_some_and(|slower| stride.checked_mul(size as isize) == Some(slower.stride))
    }

    /// Adds a faster loop, or makes the last one faster.
    fn push_merged(&mut self, size: usize, stride: isize) {
        if self.absorbs(size, stride) {
            self.merge(size, stride);
        } else {
            self.push(size, stride);
        }
    }

    fn merge(&mut self, size: usize, stride: isize) {
        let last = &mut self.loops[self.len - 1];
        *last = Loop { size: last.size * size, stride };
    }

    pub(crate) fn push(&mut self, size: usize, stride: isize) {
        self.loops[self.len] = Loop { size, stride };
        self.len += 1;
    }

    /// How many elements the nest visits.
    pub(crate) fn count(&self) -> usize {
        self.iter().map(|l| l.size).product()
    }
}

impl Deref for Nest {
    type Target = [Loop];
    fn deref(&self) -> &[Loop] {
        &self.loops[..self.len]
    }
}

/// A tensor that the kept loops walk over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeptNest {
    /// Where the walk starts, in elements.
    pub(crate) start: usize,
    pub(crate) loops: Nest,
}

/// The loops that are left. Element `n` of the walk over `reduced` has index `index_start + offset_of(index, n)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem {
    /// The kept loops over the input, the output, and the packed values: the same sizes, each with its own strides.
    pub(crate) input: KeptNest,
    pub(crate) output: KeptNest,
    pub(crate) values: KeptNest,
    /// The reduced loops over the input: at least one, none of size 0.
    pub(crate) reduced: Nest,
    /// The index of the first visited element, and index steps as loops: they visit as many elements as `reduced`, but merge
    /// differently, mostly to a single loop.
    pub(crate) index_start: isize,
    pub(crate) index: Nest,
}

impl Problem {
    /// Collapses. Neither the input nor the output is empty, and `output` has the sizes of the input, 1 on the reduced axes.
    pub(crate) fn new(input: &Layout, axes: AxisSet, direction: AxisDirection, output: &Layout) -> Problem {
        let mut kept = [(0_usize, [0_isize; 3]); MAX_RANK];
        let mut kept_len = 0;
        let mut reduced = [(0_usize, 0_isize, 0_isize); MAX_RANK];
        let mut reduced_len = 0;
        let mut starts = [input.offset() as isize, output.offset() as isize, 0];
        let mut index_start = 0;

        // From the last axis to the first, because the steps of indices and packed values grow that way.
        let (mut index_step, mut value_step) = (1, 1);
        for axis in (0..input.sizes().len()).rev() {
            let (size, stride) = (input.sizes()[axis], input.strides()[axis]);
            let last = size as isize - 1;
            if size == 1 {
                continue;
            }
            if axes.contains(axis) {
                let mut steps = (size, stride, index_step);
                index_step *= size as isize;
                if direction == AxisDirection::Decreasing {
                    starts[0] += last * steps.1;
                    index_start += last * steps.2;
                    steps = (size, -steps.1, -steps.2);
                }
                // All elements of a broadcast axis tie, and the first visited one wins: no need to visit the others.
                if stride != 0 {
                    reduced[reduced_len] = steps;
                    reduced_len += 1;
                }
            } else {
                let mut strides = [stride, output.strides()[axis], value_step];
                value_step *= size as isize;
                if stride < 0 {
                    for (start, stride) in starts.iter_mut().zip(&mut strides) {
                        *start += last * *stride;
                        *stride = -*stride;
                    }
                }
                kept[kept_len] = (size, strides);
                kept_len += 1;
            }
        }

        // The order of the outputs is free: visit them in that of the input's memory, repeated ones slowest.
        let kept = &mut kept[..kept_len];
        kept.reverse();
        kept.sort_by_key(|(_, strides)| Reverse(if strides[0] == 0 { isize::MAX } else { strides[0] }));
        let mut nests = [Nest::default(); 3];
        for &mut (size, strides) in kept {
            let merges = nests.iter().zip(strides).all(|(nest, stride)| nest.absorbs(size, stride));
            for (nest, stride) in nests.iter_mut().zip(strides) {
                if merges { nest.merge(size, stride) } else { nest.push(size, stride) }
            }
        }
        let nest = |n: usize| KeptNest { start: starts[n] as usize, loops: nests[n] };

        let (mut loops, mut index) = (Nest::default(), Nest::default());
        for &(size, stride, step) in reduced[..reduced_len].iter().rev() {
            loops.push_merged(size, stride);
            index.push_merged(size, step);
        }
        if loops.is_empty() {
            loops.push(1, 0);
            index.push(1, 0);
        }
        Problem { input: nest(0), output: nest(1), values: nest(2), reduced: loops, index_start, index }
    }
}
