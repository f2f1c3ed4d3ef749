//! Partial answers, packed in the order of the default output: value and index of each output side by side, or in two
//! slices. Tile by tile; pairs go through buffers that the L1 cache holds.
//!
//! ```text
//! for each tile of the outputs:
//!     values, indices = answer(tile)        to buffers, as anywhere else
//!     partials of the tile = the two, interleaved
//! ```
#![allow(unsafe_code)]

use super::input::{BoundPlan, ElementsRef};
use super::outputs::OutputSlice;
use super::run::{run, run_one, run_tile};
use super::slices::OutputSlices;
use super::split::{Best, answers, run_split};
use super::tiles::{Grid, OutputTile, TILE, are_packed, for_each_tile};
use super::write::copy_packed;
use crate::partial::Partial;
use crate::planner::CollapsedShape;
use crate::{Element, Index};
use argreduce_kernels::{LoopDim, StridedIter};
use bytemuck::Pod;

/// Answers every output, each with one partial; there are as many.
pub(crate) fn run_partials<T: Element, I: Index>(bound: &BoundPlan<'_>, partials: &mut [Partial<T, I>]) {
    let plan = bound.plan();
    if plan.has_one_output() {
        let (mut index, mut value) = ([I::NONE], [T::ZERO]);
        let slices = &mut OutputSlices { indices: index[..].as_mut().into(), values: Some(value[..].as_mut().into()) };
        run_one(bound, 0, slices);
        partials[0] = Partial { value: value[0], index: index[0] };
    } else {
        run_interleaved(bound, &mut (&mut *partials).into());
        copy_packed(plan.shape(), partials);
    }
}

/// As [`run_partials`], for any number of outputs, without copies. Outlined, because its buffers make a large frame.
#[inline(never)]
pub(super) fn run_interleaved<T: Element, I: Index>(
    bound: &BoundPlan<'_>,
    partials: &mut OutputSlice<'_, Partial<T, I>>,
) {
    if bound.plan().shape().is_split() {
        // SAFETY: they are outputs of the plan, all of which are found.
        return run_split(bound, &mut |outputs, best| unsafe {
            write_partials(bound.input(), outputs, best, partials)
        });
    }
    let (mut indices, mut values) = ([I::NONE; TILE], [T::ZERO; TILE]);
    for_each_tile(bound.plan().shape(), TILE, &mut |tile| {
        let [height, width] = tile.input.dims.map(|l| l.size);
        let rows = LoopDim { size: height, stride: width as isize };
        let packed = Grid { start: 0, dims: [rows, LoopDim { size: width, stride: 1 }] };
        let buffered = OutputTile { input: tile.input, output: packed, values: packed };
        let slices =
            &mut OutputSlices { indices: indices[..].as_mut().into(), values: Some(values[..].as_mut().into()) };
        // SAFETY: each tile is some of the plan's outputs (a test of `tiles.rs`).
        unsafe { run_tile(bound, &buffered, slices) };

        let Grid { start, dims: dims @ [outer, inner] } = tile.values;
        // Neighbours are one row.
        let (rows, row_len) = if are_packed(dims) { (1, height * width) } else { (height, width) };
        let rows = values.chunks_exact(row_len).zip(indices.chunks_exact(row_len)).take(rows);
        for (o, (values, indices)) in rows.enumerate() {
            write_row(partials, start + o as isize * outer.stride, inner.stride, values, indices);
        }
    });
}

/// As [`run_partials`], with values and indices in two slices, whatever the plan's output layout.
pub(crate) fn run_packed(bound: &BoundPlan<'_>, slices: &mut OutputSlices<'_>) {
    let plan = bound.plan();
    if plan.has_one_output() {
        return run_one(bound, 0, slices);
    }
    let packed = &plan.packed();
    // SAFETY: packed are only the outputs: the loops over the input are the plan's.
    run(&unsafe { bound.with_plan(packed) }, slices);
}

/// Writes the best elements of the outputs of a shape to where values are packed, each with its index.
///
/// # Safety
/// - As for [`write_best`](super::split::write_best).
pub(super) unsafe fn write_partials<T: Element, I: Index>(
    input: ElementsRef<'_>,
    outputs: &CollapsedShape,
    best: &[Best],
    partials: &mut OutputSlice<'_, Partial<T, I>>,
) {
    let nest = &outputs.values;
    for (offset, (index, place)) in StridedIter::new(nest.output_dims()).zip(answers(outputs, best)) {
        // SAFETY: the caller's promise: it was found where the loops of a bound plan reach.
        let value = unsafe { input.read::<T>(place) };
        partials.set((nest.start as isize + offset) as usize, Partial { value, index: I::at(index as isize, 0, 0) });
    }
}

/// Writes a row of partials of values and their indices, `stride` places apart, from the first on.
///
/// As two words of the wider size each: padding is written too, so that a vector holds some partials.
#[inline(always)]
fn write_row<T: Element, I: Index>(
    partials: &mut OutputSlice<'_, Partial<T, I>>,
    first: isize,
    stride: isize,
    values: &[T],
    indices: &[I],
) {
    let row = values.iter().zip(indices).map(|(&value, &index)| (value, index));
    match const { word_bytes::<T, I>() } {
        1 => write_words::<u8, T, I>(partials, first, stride, row),
        2 => write_words::<u16, T, I>(partials, first, stride, row),
        4 => write_words::<u32, T, I>(partials, first, stride, row),
        8 => write_words::<u64, T, I>(partials, first, stride, row),
        _ => partials.spread(first, stride, row.map(|(value, index)| Partial { value, index })),
    }
}

/// Writes partials, each as two words: the first begins with the value, the second with the index.
#[inline(always)]
fn write_words<W: Pod, T: Element, I: Index>(
    partials: &mut OutputSlice<'_, Partial<T, I>>,
    first: isize,
    stride: isize,
    row: impl ExactSizeIterator<Item = (T, I)>,
) {
    assert!(word_bytes::<T, I>() == size_of::<W>());
    // SAFETY: two words are as large as a partial, and begin with its fields, where it has them; that they are as
    // aligned is asserted there.
    let mut words = unsafe { partials.cast::<[W; 2]>() };
    words.spread(first, stride, row.map(|(value, index)| [word(value), word(index)]));
}

/// The bytes of each of the two words that a partial is made of: of the wider field. Or 0, where these are aligned to
/// less than their size, and the other field is smaller.
const fn word_bytes<T, I>() -> usize {
    let (value, index) = (size_of::<T>(), size_of::<I>());
    let bytes = if value > index { value } else { index };
    let is_two = std::mem::offset_of!(Partial<T, I>, index) == bytes && size_of::<Partial<T, I>>() == 2 * bytes;
    if is_two { bytes } else { 0 }
}

/// A word that begins with the bytes of an element or an index; the others are 0.
#[inline(always)]
fn word<X: Copy, W: Pod>(x: X) -> W {
    assert!(size_of::<X>() <= size_of::<W>());
    let mut word = W::zeroed();
    // SAFETY: there is room, as asserted; elements and indices have no padding, and all bits are a word.
    unsafe { (&raw mut word).cast::<X>().write_unaligned(x) };
    word
}
