//! The outputs, cut into tiles, and what is written there once their positions are known. Nothing here knows of kernels, or of types but by their size.

use crate::Loop;
use crate::collapse::{Nest, Problem};
use crate::index::{Indices, for_width};
use crate::run::Memory;
use crate::work::Work;
use argreduce_kernels::{Affine, IndexBits, IndexWriter, Walk, offset_of};

/// Some of the outputs: a part of the two fastest kept loops, and where the others stand.
pub(crate) struct Place {
    pub(crate) input_start: isize,
    pub(crate) input: [Loop; 2],
    pub(crate) output_start: isize,
    pub(crate) output: [Loop; 2],
    values_start: isize,
    values: [Loop; 2],
}

/// Cuts the outputs into tiles of at most `most`. The last part of a line reaches back rather than being too short for a vector: some outputs are
/// answered twice, and the same.
///
/// One copy for all types, and so a pointer to what answers.
pub(crate) fn for_each_tile(problem: &Problem, most: usize, answer: &mut dyn FnMut(&Place)) {
    let (input, output, values) = (&problem.input, &problem.output, &problem.values);
    let ((slower, [outer, inner]), (slower_output, fast_output), (slower_values, fast_values)) =
        (split(input.kept()), split(output.kept()), split(values.kept()));
    let inner_step = inner.size.min(most);
    let outer_step = if outer.size == 1 || inner.size > most { 1 } else { (most / inner.size).min(outer.size) };
    for ((i, o), v) in Walk::new(slower).zip(Walk::new(slower_output)).zip(Walk::new(slower_values)) {
        // Not `step_by`, which divides: a call for one output has no time for it.
        let mut first_outer = 0;
        while first_outer < outer.size {
            let mut first_inner = 0;
            while first_inner < inner.size {
                let width = (inner.size - first_inner).max(NARROWEST.min(inner.size)).min(inner_step);
                first_inner = first_inner.min(inner.size - width);
                let sizes = [outer_step.min(outer.size - first_outer), width];
                let part = |start: usize, offset: isize, [outer, inner]: [Loop; 2]| {
                    let first = first_outer as isize * outer.stride + first_inner as isize * inner.stride;
                    let loops = [Loop { size: sizes[0], ..outer }, Loop { size: sizes[1], ..inner }];
                    (start as isize + offset + first, loops)
                };
                let (input_start, input) = part(input.start, i, [outer, inner]);
                let (output_start, output) = part(output.start, o, fast_output);
                let (values_start, values) = part(values.start, v, fast_values);
                answer(&Place { input_start, input, output_start, output, values_start, values });
                first_inner += width;
            }
            first_outer += outer_step;
        }
    }
}

/// Whether neighbours in the output are of different lines. (A call: one copy for all types.)
#[inline(never)]
pub(crate) fn is_across(problem: &Problem) -> bool {
    let (_, [outer, inner]) = split(problem.output.kept());
    outer.size > 1 && outer.stride.unsigned_abs() < inner.stride.unsigned_abs()
}

/// The shortest part of a line: a group of the longest vectors of the narrowest elements.
const NARROWEST: usize = 256;

pub(crate) const ONCE: Loop = Loop { size: 1, stride: 0 };

/// The fastest loop of a nest, and the others.
fn split_line(nest: &[Loop]) -> (&[Loop], Loop) {
    nest.split_last().map_or((&[], ONCE), |(line, slower)| (slower, *line))
}

/// The two fastest loops of a nest, and the others.
pub(crate) fn split(nest: &[Loop]) -> (&[Loop], [Loop; 2]) {
    match *nest {
        [] => (&[], [ONCE, ONCE]),
        [inner] => (&[], [ONCE, inner]),
        [ref slower @ .., outer, inner] => (slower, [outer, inner]),
    }
}

impl Place {
    pub(crate) fn outputs(&self) -> usize {
        self.input[0].size * self.input[1].size
    }

    /// Writes the answers of the tile: indices from positions, and the elements at those positions. (Each by itself,
    /// because an index does not depend on the type of the elements, nor they on the type of the index.)
    pub(crate) fn write<T: Copy>(
        &self,
        work: &Work,
        positions: &mut [u32],
        input: Memory<'_, T>,
        indices: &mut Indices<'_>,
        values: Option<&mut [T]>,
    ) {
        let problem = &work.problem;
        self.write_values(problem, positions, input, values);
        let map = match affine(problem) {
            Some(map) => map,
            None if fits_32_bits(problem) => {
                for position in &mut *positions {
                    *position = (problem.index_start + offset_of(problem.index(), *position as usize)) as u32;
                }
                Affine::IDENTITY
            }
            None => return self.write_each(problem, positions, indices),
        };
        for_width!(indices, indices => self.write_lines(work.writer, map, is_across(problem), positions, indices));
    }

    /// Writes indices that fit 32 bits.
    fn write_lines<I: IndexBits>(
        &self,
        writer: &IndexWriter,
        map: Affine,
        is_across: bool,
        positions: &[u32],
        indices: &mut [I],
    ) {
        let (width, [outer, inner]) = (self.input[1].size, self.output);
        if is_across {
            // Neighbours after each other, so that a line of the cache is written at once.
            for i in 0..width {
                let first = self.output_start + i as isize * inner.stride;
                for (o, line) in positions.chunks_exact(width).enumerate() {
                    indices[(first + o as isize * outer.stride) as usize] = I::of(map.at(line[i]));
                }
            }
            return;
        }
        let is_packed = inner.stride == 1 && (outer.size == 1 || outer.stride == width as isize);
        let line_len = if is_packed { positions.len() } else { width };
        for (o, line) in positions.chunks_exact(line_len).enumerate() {
            let first = self.output_start + o as isize * outer.stride;
            if inner.stride == 1 && line_len >= SHORTEST_LINE {
                writer.write(map, line, &mut indices[first as usize..][..line_len]);
            } else {
                for (i, &position) in line.iter().enumerate() {
                    indices[(first + i as isize * inner.stride) as usize] = I::of(map.at(position));
                }
            }
        }
    }

    /// Writes any indices, one by one.
    #[cold]
    pub(crate) fn write_each<P: Copy + Into<u64>>(
        &self,
        problem: &Problem,
        positions: &[P],
        indices: &mut Indices<'_>,
    ) {
        let (width, [outer, inner]) = (self.input[1].size, self.output);
        for (o, line) in positions.chunks_exact(width).enumerate() {
            let first = self.output_start + o as isize * outer.stride;
            for (i, &position) in line.iter().enumerate() {
                let index = problem.index_start + offset_of(problem.index(), position.into() as usize);
                indices.set((first + i as isize * inner.stride) as usize, index, 0, 0);
            }
        }
    }

    pub(crate) fn write_values<T: Copy, P: Copy + Into<u64>>(
        &self,
        problem: &Problem,
        positions: &[P],
        input: Memory<'_, T>,
        values: Option<&mut [T]>,
    ) {
        let Some(values) = values else { return };
        for (o, positions) in positions.chunks_exact(self.input[1].size).enumerate() {
            let first = |start: isize, [outer, _]: [Loop; 2]| start + o as isize * outer.stride;
            let (from, to) = (first(self.input_start, self.input), first(self.values_start, self.values));
            for (i, &position) in positions.iter().enumerate() {
                let reduced = offset_of(problem.reduced(), position.into() as usize);
                let from = from + i as isize * self.input[1].stride + reduced;
                values[(to + i as isize * self.values[1].stride) as usize] = input.get(from as usize);
            }
        }
    }
}

/// Shorter lines are not worth a call.
const SHORTEST_LINE: usize = 16;

/// How positions become indices, where those fit 32 bits and their steps are even. (Where broadcast axes were left out
/// between others, they are not.)
pub(crate) fn affine(problem: &Problem) -> Option<Affine> {
    match *problem.index() {
        [Loop { stride, .. }] if fits_32_bits(problem) => {
            Some(Affine { start: problem.index_start as u32, step: stride as u32 })
        }
        _ => None,
    }
}

/// Whether the largest index does: of the reduced loops, those that are left out because they are broadcast count too.
fn fits_32_bits(problem: &Problem) -> bool {
    let last = |l: &Loop| (l.size - 1) as isize * l.stride.max(0);
    let largest = problem.index_start + problem.index().iter().map(last).sum::<isize>();
    u32::try_from(largest).is_ok()
}

/// Positions to indices, in place. (By the vectors that every machine of the target has: memory is slower.)
pub(crate) fn turn<I: IndexBits + Into<u64>>(map: Affine, positions: &mut [I]) {
    if map == Affine::IDENTITY {
        return;
    }
    // The last of equals: many targets have no multiplication of such lanes.
    if map.step == u32::MAX {
        turn_each(positions, |position| map.start.wrapping_sub(position));
    } else {
        turn_each(positions, |position| map.at(position));
    }
}

#[inline(always)]
fn turn_each<I: IndexBits + Into<u64>>(positions: &mut [I], index: impl Fn(u32) -> u32) {
    positions.iter_mut().for_each(|position| *position = I::of(index((*position).into() as u32)));
}

/// Writes each output to the places of its copies too.
pub(crate) fn copy<X: Copy>(nest: &Nest, outputs: &mut [X]) {
    let ((slower, line), (slower_copies, copies)) = (split_line(nest.kept()), split_line(nest.copies()));
    for first in Walk::new(slower).map(|offset| nest.start as isize + offset) {
        for to in Walk::new(slower_copies).map(|offset| first + offset) {
            let place = |first: isize, n: usize, step: isize| (first + n as isize * step) as usize;
            if copies.stride == 1 {
                for n in 0..line.size {
                    let output = outputs[place(first, n, line.stride)];
                    outputs[place(to, n, line.stride)..][..copies.size].fill(output);
                }
                continue;
            }
            for to in (0..copies.size).map(|n| to + n as isize * copies.stride) {
                if line.stride == 1 {
                    outputs.copy_within(place(first, 0, 1)..place(first, line.size, 1), to as usize);
                } else {
                    for n in 0..line.size {
                        outputs[place(to, n, line.stride)] = outputs[place(first, n, line.stride)];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::AxisSet;
    use crate::{AxisDirection, Layout};

    /// Tiles hold as many outputs as allowed, stay within the outputs, and together are all of them.
    #[test]
    fn tiles_are_the_outputs() {
        let places = |start: isize, [outer, inner]: [Loop; 2]| {
            (0..outer.size * inner.size).map(move |n| {
                start + (n / inner.size) as isize * outer.stride + (n % inner.size) as isize * inner.stride
            })
        };
        // Lines that are shorter than a tile, a little longer, and so that the last part reaches back; several lines, and more than two loops.
        for sizes in
            [[1, 1, 1], [1, 1, 300], [1, 1, 700], [1, 1, 900], [1, 7, 400], [1, 1, 1025], [2, 50, 3], [3, 2, 530]]
        {
            // Twice as far apart as packed, so that loops do not merge and places between them are seen.
            let strides = [4 * (sizes[1] * sizes[2]) as isize, 2 * sizes[2] as isize, 1];
            let input = Layout::strided(&sizes, &strides, 5).unwrap();
            let output = Layout::contiguous(&sizes).unwrap();
            let problem = Problem::new(&input, AxisSet::NONE, AxisDirection::Increasing, &output);
            for most in [256, 299, 512, 1024] {
                let (mut seen, mut from) = (vec![false; output.required_len()], vec![0; output.required_len()]);
                for_each_tile(&problem, most, &mut |tile| {
                    assert!(tile.outputs() <= most, "{sizes:?}, {most}");
                    let inputs = places(tile.input_start, tile.input);
                    for (to, place) in places(tile.output_start, tile.output).zip(inputs) {
                        (seen[to as usize], from[to as usize]) = (true, place);
                    }
                });
                assert!(seen.iter().all(|&seen| seen), "{sizes:?}, {most}");
                let expected: Vec<isize> =
                    Walk::new(&[0, 1, 2].map(|n| Loop { size: sizes[n], stride: strides[n] })).map(|o| 5 + o).collect();
                assert_eq!(from, expected, "{sizes:?}, {most}");
            }
        }
    }
}
