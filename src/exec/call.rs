//! The two calls of kernels: each at a single call site. Of the two files with unsafe code, the one that calls.
#![allow(unsafe_code)]

use crate::planner::MAX_REDUCTION_LEN;
use argreduce_kernels::{Kernel, KernelArgs, LoopDim, Positions, Prefetch, Tuning};
use std::mem::MaybeUninit;

/// The position of the first best of neighbours, of which there are at most [`MAX_REDUCTION_LEN`].
#[inline(always)]
pub(super) fn find_in_row<T>(kernel: Kernel, elements: &[T]) -> u32 {
    assert!(!elements.is_empty() && elements.len() <= MAX_REDUCTION_LEN);
    // SAFETY: the ISA as in `find`; the elements are those of a slice, and as many as the assertion says.
    unsafe { kernel.of_row(elements.as_ptr().cast(), elements.len(), Tuning::current()) }
}

/// The positions of the best elements of a tile, whose first element is at `input`, in a buffer.
#[inline(always)]
pub(super) fn find<'a>(
    kernel: Kernel,
    input: *const (),
    outputs: [LoopDim; 2],
    reduced: &[LoopDim],
    prefetch: Prefetch,
    buffer: &'a mut [MaybeUninit<u32>],
) -> &'a mut [u32] {
    let positions = &mut buffer[..outputs[0].size * outputs[1].size];
    find_to(kernel, input, outputs, reduced, prefetch, Positions::from(&mut *positions));
    // SAFETY: a kernel writes every position, as `Kernel` says; the kernels' tests check it over memory that held none.
    unsafe { &mut *(&raw mut *positions as *mut [u32]) }
}

/// As [`find`], to where they are wanted.
#[inline(always)]
pub(super) fn find_to(
    kernel: Kernel,
    input: *const (),
    [outer, inner]: [LoopDim; 2],
    reduced: &[LoopDim],
    prefetch: Prefetch,
    positions: Positions<'_>,
) {
    // SAFETY:
    // - The ISA: kernels come from `argreduce_kernels::kernel`, here and in plans, which gives none for an absent ISA.
    // - The elements: `Layout` has proved that its offset and strides reach nothing but the first `required_len`
    //   elements, and `run` that the input has those. Collapsing drops, merges and reverses loops, and a tile is a part
    //   of them, so that none reaches what the layout does not (a test of `planner/collapse.rs` compares the elements).
    // - Fewer than 2^32 positions, and no reduced loop of size 0: else there is no plan for one output, and many are
    //   split (`split.rs`); empty reductions are refused when a plan is made (`check_index_range` in `api/builder.rs`).
    unsafe { kernel.run(&KernelArgs { input, outer, inner, reduced, prefetch, tuning: Tuning::current() }, positions) };
}
