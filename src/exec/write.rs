//! What is written once the positions of a tile are known: indices, values, and copies of both.

use super::elements::Outputs;
use super::slices::Slices;
use super::tiles::{Grid, ONE, OutputTile, are_packed, is_transposed};
use crate::index::{Indices, for_width};
use crate::planner::{CollapsedShape, ExecPlan, LoopNest};
use argreduce_kernels::{Affine, IndexBits, IndexWriter, LoopDim, StridedIter, offset_at};

impl OutputTile {
    /// Writes the indices of the tile from its positions.
    pub(super) fn write_indices(&self, plan: &ExecPlan, positions: &mut [u32], indices: &mut Indices<'_>) {
        let shape = &plan.shape;
        let map = match affine(shape) {
            Some(map) => map,
            None if fits_32_bits(shape) => {
                for position in &mut *positions {
                    *position = shape.index_at(*position as usize) as u32;
                }
                Affine::IDENTITY
            }
            None => return self.write_each(shape, positions, indices),
        };
        for_width!(indices, indices => self.write_rows(plan.writer, map, positions, indices));
    }

    /// Writes indices that fit 32 bits.
    fn write_rows<I: IndexBits>(
        &self,
        writer: &IndexWriter,
        map: Affine,
        positions: &[u32],
        indices: &mut Outputs<'_, I>,
    ) {
        let Grid { start, dims: dims @ [outer, inner] } = self.output;
        let row_len = if are_packed(dims) { positions.len() } else { inner.size };
        if inner.stride != 1 || row_len < MIN_VECTOR_WRITE {
            return write_strided(self.output, positions, indices, move |position| I::of(map.at(position)));
        }
        for (o, row) in positions.chunks_exact(row_len).enumerate() {
            let first = start + o as isize * outer.stride;
            writer.write(map, row, indices.part(first as usize, row_len));
        }
    }

    /// Writes any indices, one after another.
    #[cold]
    pub(super) fn write_each<P: Copy + Into<u64>>(
        &self,
        shape: &CollapsedShape,
        positions: &[P],
        indices: &mut Indices<'_>,
    ) {
        let Grid { start, dims: [outer, inner] } = self.output;
        for (o, row) in positions.chunks_exact(inner.size).enumerate() {
            let first = start + o as isize * outer.stride;
            for (i, &position) in row.iter().enumerate() {
                let index = shape.index_at(position.into() as usize);
                indices.set((first + i as isize * inner.stride) as usize, index, 0, 0);
            }
        }
    }

    /// Writes the elements at the positions, if there are values to write.
    pub(super) fn read_values<T: Copy, P: Copy + Into<u64>>(
        &self,
        shape: &CollapsedShape,
        positions: &[P],
        slices: &mut Slices<'_, T>,
    ) {
        let Slices { input, values: Some(values), .. } = slices else { return };
        for (o, row) in positions.chunks_exact(self.input.dims[1].size).enumerate() {
            let first = |grid: &Grid| grid.start + o as isize * grid.dims[0].stride;
            let (from, to) = (first(&self.input), first(&self.values));
            for (i, &position) in row.iter().enumerate() {
                let reduced = offset_at(shape.reduced_dims(), position.into() as usize);
                let from = from + i as isize * self.input.dims[1].stride + reduced;
                values[(to + i as isize * self.values.dims[1].stride) as usize] = input.get(from as usize);
            }
        }
    }
}

/// Writes what was found, output by output of a tile, to the places of a grid. If it is transposed, some lines at a
/// time, so that a cache line is not written place by place.
pub(super) fn write_strided<X: Copy, Y>(grid: Grid, found: &[X], to: &mut Outputs<'_, Y>, of: impl Fn(X) -> Y + Copy) {
    const LINES: usize = 4;
    let Grid { start, dims: [outer, inner] } = grid;
    let (mut found, mut first) = (found, start);
    if is_transposed(grid.dims) {
        while let Some((lines, others)) = found.split_at_checked(LINES * inner.size) {
            let lines: [&[X]; LINES] = std::array::from_fn(|n| &lines[n * inner.size..][..inner.size]);
            let mut at = first;
            for i in 0..inner.size {
                for (n, line) in lines.iter().enumerate() {
                    to[(at + n as isize * outer.stride) as usize] = of(line[i]);
                }
                at += inner.stride;
            }
            (found, first) = (others, first + LINES as isize * outer.stride);
        }
    }
    for line in found.chunks_exact(inner.size) {
        to.spread(first, inner.stride, line, of);
        first += outer.stride;
    }
}

/// Fewer indices than this are written one after another: a call takes longer.
const MIN_VECTOR_WRITE: usize = 16;

/// How positions become indices, where those fit 32 bits and their steps are even. (They are not where broadcast axes
/// were left out between others.)
pub(super) fn affine(shape: &CollapsedShape) -> Option<Affine> {
    match *shape.index_steps() {
        [LoopDim { stride, .. }] if fits_32_bits(shape) => {
            Some(Affine { start: shape.index_start as u32, step: stride as u32 })
        }
        _ => None,
    }
}

/// Whether the largest index does.
fn fits_32_bits(shape: &CollapsedShape) -> bool {
    u32::try_from(shape.largest_index()).is_ok()
}

/// Copies each output along the axes that are broadcast in the input.
pub(super) fn copy_to_broadcast<X: Copy>(nest: &LoopNest, outputs: &mut [X]) {
    let ((slower, row), (slower_copies, copies)) = (split_last(nest.output_dims()), split_last(nest.broadcast_dims()));
    for first in StridedIter::new(slower).map(|offset| nest.start as isize + offset) {
        for to in StridedIter::new(slower_copies).map(|offset| first + offset) {
            let place = |first: isize, n: usize, step: isize| (first + n as isize * step) as usize;
            if copies.stride == 1 {
                for n in 0..row.size {
                    let output = outputs[place(first, n, row.stride)];
                    outputs[place(to, n, row.stride)..][..copies.size].fill(output);
                }
                continue;
            }
            for to in (0..copies.size).map(|n| to + n as isize * copies.stride) {
                if row.stride == 1 {
                    outputs.copy_within(place(first, 0, 1)..place(first, row.size, 1), to as usize);
                } else {
                    for n in 0..row.size {
                        outputs[place(to, n, row.stride)] = outputs[place(first, n, row.stride)];
                    }
                }
            }
        }
    }
}

/// The fastest of some loops, and the others.
fn split_last(loops: &[LoopDim]) -> (&[LoopDim], LoopDim) {
    loops.split_last().map_or((&[], ONE), |(last, slower)| (slower, *last))
}
