//! What is written once the positions of a tile are known: indices, values, and copies of both.
#![allow(unsafe_code)]

use super::input::BoundPlan;
use super::outputs::OutputSlice;
use super::slices::{Indices, OutputSlices, for_width};
use super::tiles::{Grid, OutputTile, are_packed};
use super::values::Values;
use crate::MAX_RANK;
use crate::planner::{CollapsedShape, ExecPlan, LoopNest};
use argreduce_kernels::{Affine, IndexBits, LoopDim, OutputWriter, StridedIter, offset_at, with_element_bits};

/// Writes the position of the only output.
#[inline(always)]
pub(super) fn write_one(bound: &BoundPlan<'_>, position: u32, output: usize, slices: &mut OutputSlices<'_>) {
    let (shape, input, OutputSlices { indices, values }) = (bound.plan().shape(), bound.input(), slices);
    indices.set(output, shape.index_start, position.into(), shape.output.first().stride);
    if let Some(values) = values {
        let from = shape.input.start as isize + position as isize * shape.input.first().stride;
        // SAFETY: the position is one of that loop, and what a bound plan reaches, the input's layout does.
        unsafe { values.copy(shape.values.start, input, from as usize) };
    }
}

impl OutputTile {
    /// Writes the indices of the tile from its positions.
    pub(super) fn write_indices(&self, plan: &ExecPlan, positions: &mut [u32], indices: &mut Indices<'_>) {
        let shape = plan.shape();
        let map = match affine(shape) {
            Some(map) => map,
            None => {
                let steps = IndexSteps::of(shape);
                if !fits_32_bits(shape) {
                    return self.write_each(positions, indices, |position| steps.index_at(position, steps.len));
                }
                // Numbers that the compiler knows, for loops without one inside.
                match steps.len {
                    2 => positions.iter_mut().for_each(|n| *n = steps.index_at(*n, 2) as u32),
                    3 => positions.iter_mut().for_each(|n| *n = steps.index_at(*n, 3) as u32),
                    len => positions.iter_mut().for_each(|n| *n = steps.index_at(*n, len) as u32),
                }
                Affine::IDENTITY
            }
        };
        for_width!(indices, indices => self.write_rows(plan.writer(), map, positions, indices));
    }

    /// Writes indices that fit 32 bits.
    fn write_rows<I: IndexBits>(
        &self,
        writer: &OutputWriter,
        map: Affine,
        positions: &[u32],
        indices: &mut OutputSlice<'_, I>,
    ) {
        let Grid { start, dims: dims @ [outer, inner] } = self.output;
        let row_len = if are_packed(dims) { positions.len() } else { inner.size };
        for (o, row) in positions.chunks_exact(row_len).enumerate() {
            let first = start + o as isize * outer.stride;
            if inner.stride != 1 || row_len < MIN_VECTOR_WRITE {
                indices.spread(first, inner.stride, row.iter().map(move |&position| I::of(map.at(position).into())));
            } else {
                writer.write(map, row, indices.range(first as usize, row_len));
            }
        }
    }

    /// Writes any indices, one after another.
    pub(super) fn write_each<P: Copy>(
        &self,
        positions: &[P],
        indices: &mut Indices<'_>,
        index_at: impl Fn(P) -> isize,
    ) {
        let Grid { start, dims: [outer, inner] } = self.output;
        for (o, row) in positions.chunks_exact(inner.size).enumerate() {
            let first = start + o as isize * outer.stride;
            for (i, &position) in row.iter().enumerate() {
                indices.set((first + i as isize * inner.stride) as usize, index_at(position), 0, 0);
            }
        }
    }

    /// Writes the elements at the positions, if there are values to write.
    ///
    /// # Safety
    /// - The tile is some of the plan's outputs, and each of those has an element at its position.
    pub(super) unsafe fn read_values<P: Copy + Into<u64>>(
        &self,
        bound: &BoundPlan<'_>,
        positions: &[P],
        values: &mut Option<Values<'_>>,
    ) {
        let (Some(values), input, reduced) = (values, bound.input(), bound.plan().shape().reduced_dims()) else {
            return;
        };
        for (o, row) in positions.chunks_exact(self.input.dims[1].size).enumerate() {
            let first = |grid: &Grid| grid.start + o as isize * grid.dims[0].stride;
            let (from, to) = (first(&self.input), first(&self.values));
            for (i, &position) in row.iter().enumerate() {
                let offset = offset_at(reduced, position.into() as usize);
                let from = from + i as isize * self.input.dims[1].stride + offset;
                let to = (to + i as isize * self.values.dims[1].stride) as usize;
                // SAFETY: what the loops of a bound plan reach from one of its outputs, the input's layout does.
                unsafe { values.copy(to, input, from as usize) };
            }
        }
    }
}

/// The steps of the index, for positions of 32 bits: divides by multiplying, because there is a division for each
/// output and step.
struct IndexSteps {
    start: isize,
    steps: [LoopDim; MAX_RANK],
    len: usize,
    /// Of the size of each step, 2^64 over it, rounded up.
    inverses: [u64; MAX_RANK],
}

impl IndexSteps {
    fn of(shape: &CollapsedShape) -> Self {
        let (of, start) = (shape.index_steps(), shape.index_start);
        let (mut steps, mut inverses) = ([LoopDim::ONE; MAX_RANK], [0; MAX_RANK]);
        steps[..of.len()].copy_from_slice(of);
        for (inverse, step) in inverses.iter_mut().zip(of) {
            *inverse = (u64::MAX / step.size as u64).wrapping_add(1);
        }
        IndexSteps { start, steps, len: of.len(), inverses }
    }

    /// As [`CollapsedShape::index_at`], of so many steps: all that there are.
    #[inline(always)]
    fn index_at(&self, position: u32, len: usize) -> isize {
        let (mut index, mut left) = (self.start, u64::from(position));
        for (step, &inverse) in self.steps[1..len].iter().zip(&self.inverses[1..len]).rev() {
            // Exact: what the inverse is too large by, times the position, is less than 2^64 over the size.
            let quotient = ((u128::from(left) * u128::from(inverse)) >> 64) as u64;
            let coordinate = (left - quotient * step.size as u64) as isize;
            index = index.wrapping_add(coordinate.wrapping_mul(step.stride));
            left = quotient;
        }
        index.wrapping_add((left as isize).wrapping_mul(self.steps[0].stride))
    }
}

/// Fewer indices than this are written one after another: a call takes longer. Not measured.
const MIN_VECTOR_WRITE: usize = 16;

/// How positions become indices, where those fit 32 bits and their steps are even. (They are not where broadcast axes
/// were left out between others.)
pub(super) fn affine(shape: &CollapsedShape) -> Option<Affine> {
    match *shape.index_steps() {
        [LoopDim { stride, .. }] if fits_32_bits(shape) => {
            Some(Affine { start: shape.index_start as u32, step: stride })
        }
        _ => None,
    }
}

/// Whether the largest index does.
fn fits_32_bits(shape: &CollapsedShape) -> bool {
    u32::try_from(shape.largest_index()).is_ok()
}

/// Copies each output along the axes that are broadcast in the input, if there are any.
fn copy_to_broadcast<X: Copy>(nest: &LoopNest, outputs: &mut OutputSlice<'_, X>) {
    for_each_copied_row(nest, &mut |[first, to], [row, copies]| {
        let place = |first: isize, n: usize, step: isize| (first + n as isize * step) as usize;
        if copies.stride == 1 {
            for n in 0..row.size {
                let [output] = *outputs.range(place(first, n, row.stride), 1) else { unreachable!("one output") };
                outputs.range(place(to, n, row.stride), copies.size).fill(output);
            }
            return;
        }
        for to in (0..copies.size).map(|n| to + n as isize * copies.stride) {
            if row.stride == 1 {
                outputs.copy(place(first, 0, 1), place(to, 0, 1), row.size);
            } else {
                (0..row.size).for_each(|n| outputs.copy(place(first, n, row.stride), place(to, n, row.stride), 1));
            }
        }
    });
}

/// Where a row of outputs begins, and where copies of it do; the loop along the row, and the fastest over its copies.
/// One copy for all types, and so a pointer to what copies.
fn for_each_copied_row(nest: &LoopNest, copy: &mut dyn FnMut([isize; 2], [LoopDim; 2])) {
    if nest.broadcast_dims().is_empty() {
        return;
    }
    let ((slower, row), (slower_copies, copies)) = (split_last(nest.output_dims()), split_last(nest.broadcast_dims()));
    for first in StridedIter::new(slower).map(|offset| nest.start as isize + offset) {
        for to in StridedIter::new(slower_copies).map(|offset| first + offset) {
            copy([first, to], [row, copies]);
        }
    }
}

/// Copies the indices and values of a shape along the axes that are broadcast in the input.
pub(super) fn copy_answers(shape: &CollapsedShape, slices: &mut OutputSlices<'_>) {
    if shape.is_split() {
        return copy_answers(&shape.kept(), slices);
    }
    let CollapsedShape { output, values, .. } = shape;
    for_width!(&mut slices.indices, indices => copy_to_broadcast(output, indices));
    if let Some(slice) = &mut slices.values {
        // SAFETY: what is written is a copy of another value.
        with_element_bits!(slice.size(), B => copy_to_broadcast(values, &mut unsafe { slice.bits::<B>() }));
    }
}

/// The fastest of some loops, and the others.
pub(super) fn split_last(loops: &[LoopDim]) -> (&[LoopDim], LoopDim) {
    loops.split_last().map_or((&[], LoopDim::ONE), |(last, slower)| (slower, *last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::AxisSet;
    use crate::layout::Window;
    use crate::{AxisDirection, Layout};

    /// Multiplying gives what dividing gives: small and large steps, and positions up to the last one.
    #[test]
    fn steps_of_any_size() {
        let inner = [1, 2, 3, 5, 7, 641, 65_535, 65_536, 65_537, (1 << 31) - 1, 1 << 31, 3 << 30];
        for sizes in inner.iter().flat_map(|&b| [[3, b, 1], [1, 7, b], [2, b, 3], [70_000, b, 2]]) {
            let Some(count) = sizes.iter().try_fold(1_usize, |count, &size: &usize| count.checked_mul(size)) else {
                continue;
            };
            // Not packed, so that no loops merge, and in the order of the index.
            let strides = [5, 3, 1];
            let whole = sizes.map(|size| size + 2);
            for direction in AxisDirection::ALL {
                let input = Layout::strided(&sizes, &strides, 0).unwrap();
                let mut shape = CollapsedShape::EMPTY;
                let (axes, output) = (AxisSet::new(&[0, 1, 2], 3).unwrap(), Layout::contiguous(&[1; 3]).unwrap());
                let window = Window { whole: &whole, start: &[1, 2, 1] };
                shape.collapse((&input, axes, direction), &output, window, None);
                let steps = IndexSteps::of(&shape);
                let last = (count - 1).min(u32::MAX as usize);
                let near = |n: usize| [n.saturating_sub(1), n, n + 1];
                let some = (0..100).chain(sizes.into_iter().flat_map(near)).chain(near(last)).chain(near(last / 3 * 2));
                for position in some.filter(|&position| position <= last) {
                    let expected = shape.index_start + offset_at(shape.index_steps(), position);
                    assert_eq!(steps.index_at(position as u32, steps.len), expected, "{sizes:?} at {position}");
                }
            }
        }
    }
}
