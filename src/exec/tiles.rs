//! The outputs, cut into tiles. Nothing here knows of elements, indices or kernels: sizes and strides are all.
#![allow(unsafe_code)]

use crate::planner::{CollapsedShape, MIN_TILE_WIDTH};
use argreduce_kernels::{IndexBits, LoopDim, StridedIter, offset_at};
use std::mem::MaybeUninit;

pub(super) use crate::planner::TILE;

/// Outputs per tile where no values are read: fewer calls, and the L1 cache has room for positions and indices. See
/// docs/tuning.md#tile.
pub(super) const INDEX_TILE: usize = 2048;

/// How many bytes of positions a tile has at most that go through a buffer. Where the output is transposed, that is as
/// many rows as a cache line has indices, each [`MIN_TILE_WIDTH`] wide. See docs/tuning.md#tile.
pub(super) const POSITION_BUFFER_BYTES: usize = 16 << 10;

/// How many bytes of values a tile has at most that go through a buffer. See docs/tuning.md#tile.
pub(super) const VALUE_BUFFER_BYTES: usize = 16 << 10;

/// A buffer for what goes to places that are not packed: the positions of a tile, or its values.
pub(super) struct Buffer<const WORDS: usize>([MaybeUninit<u64>; WORDS]);

/// For positions of any width.
pub(super) type PositionBuffer = Buffer<{ POSITION_BUFFER_BYTES / 8 }>;

pub(super) type ValueBuffer = Buffer<{ VALUE_BUFFER_BYTES / 8 }>;

impl<const WORDS: usize> Buffer<WORDS> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Buffer([MaybeUninit::uninit(); _])
    }

    /// So many places for integers of any width.
    #[inline(always)]
    pub(super) fn places<B: IndexBits>(&mut self, len: usize) -> &mut [MaybeUninit<B>] {
        assert!(len <= 8 * WORDS / size_of::<B>());
        // SAFETY: so many fit, as asserted; integers of 64 bits are aligned for all; and none need be initialised.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }
}

/// Outputs per tile, where their positions go straight to the output: few calls. See docs/tuning.md#tile.
pub(super) const DIRECT_TILE: usize = 1 << 14;

/// Outputs per tile, where their positions go there but have to be turned into indices, in the L1 cache. See
/// docs/tuning.md#tile.
pub(super) const MAPPED_TILE: usize = 1 << 12;

/// The elements that outputs are chosen from, in bytes, for the best of them to be read again while they are near.
/// Not measured.
pub(super) const NEAR_BYTES: usize = 128 << 10;

/// The fewest outputs of such a tile: with fewer, a call would be much of its time. Not measured.
pub(super) const MIN_READ_OUTPUTS: usize = 64;

/// Of rows of so many bytes each, `width` of them side by side: the outputs of a tile for what was read to be read
/// again while it is near, at most `most`, and about `least` where that is more than what is near.
pub(super) fn near_outputs(row_bytes: usize, width: usize, least: usize, most: usize) -> usize {
    let most = most.min((NEAR_BYTES / row_bytes).max(least));
    // As many in each tile, because the last one is as wide.
    if width > most { width.div_ceil(width.div_ceil(most)) } else { most }
}

/// Some of the outputs: some steps of the two fastest loops over them.
pub(super) struct OutputTile {
    /// Where the first visited elements of the outputs are in the input.
    pub(super) input: Grid,
    /// Where the indices go.
    pub(super) output: Grid,
    /// Where the values go.
    pub(super) values: Grid,
    /// Under a mask, what says of the first visited elements whether they are there.
    pub(super) mask: Option<Grid>,
}

/// The place of each output of a tile, in elements of one slice: where the first is, and two loops from there.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    pub(super) start: isize,
    pub(super) dims: [LoopDim; 2],
}

impl Grid {
    /// The same places as one loop, where memory has one.
    pub(super) fn joined(self) -> Grid {
        let [outer, inner] = self.dims;
        if outer.stride != inner.stride.wrapping_mul(inner.size as isize) {
            return self;
        }
        Grid { dims: [LoopDim::ONE, LoopDim { size: outer.size * inner.size, ..inner }], ..self }
    }

    /// That of output `n`.
    pub(super) fn place(&self, n: usize) -> usize {
        (self.start + offset_at(&self.dims, n)) as usize
    }
}

/// Cuts the outputs into tiles of at most `max_outputs`. The last tile of a row overlaps the one before rather than
/// being too short for a vector: some outputs are answered twice, and the same.
///
/// One copy for all types, and so a pointer to what answers.
pub(super) fn for_each_tile(shape: &CollapsedShape, max_outputs: usize, answer: &mut dyn FnMut(&OutputTile)) {
    let CollapsedShape { input, output, values, mask, .. } = shape;
    let ((slower, [outer, inner]), (slower_output, fast_output), (slower_values, fast_values)) =
        (split(input.output_dims()), split(output.output_dims()), split(values.output_dims()));
    let mut of_mask =
        (!mask.is_empty()).then(|| split(mask.output_dims())).map(|(l, fast)| (StridedIter::new(l), fast));
    let max_width = if is_transposed(fast_output) { MIN_TILE_WIDTH } else { usize::MAX };
    let inner_step = inner.size.min(max_outputs).min(max_width);
    let outer_step = if outer.size == 1 { 1 } else { (max_outputs / inner_step).min(outer.size) };
    for ((i, o), v) in
        StridedIter::new(slower).zip(StridedIter::new(slower_output)).zip(StridedIter::new(slower_values))
    {
        let of_mask = of_mask.as_mut().map(|(offsets, fast)| (offsets.next().unwrap_or(0), *fast));
        // Not `step_by`, which divides: a call for one output has no time for it.
        let mut first_outer = 0;
        while first_outer < outer.size {
            let mut first_inner = 0;
            while first_inner < inner.size {
                let width = (inner.size - first_inner).max(MIN_TILE_WIDTH.min(inner.size)).min(inner_step);
                first_inner = first_inner.min(inner.size - width);
                let height = outer_step.min(outer.size - first_outer);
                let grid = |start: usize, offset: isize, [outer, inner]: [LoopDim; 2]| Grid {
                    start: start as isize
                        + offset
                        + (first_outer as isize * outer.stride + first_inner as isize * inner.stride),
                    dims: [LoopDim { size: height, ..outer }, LoopDim { size: width, ..inner }],
                };
                answer(&OutputTile {
                    input: grid(input.start, i, [outer, inner]),
                    output: grid(output.start, o, fast_output),
                    values: grid(values.start, v, fast_values),
                    mask: of_mask.map(|(offset, fast)| grid(mask.start, offset, fast)),
                });
                first_inner += width;
            }
            first_outer += outer_step;
        }
    }
}

/// The two fastest of some loops, and the others.
pub(super) fn split(loops: &[LoopDim]) -> (&[LoopDim], [LoopDim; 2]) {
    match *loops {
        [] => (&[], [LoopDim::ONE; 2]),
        [inner] => (&[], [LoopDim::ONE, inner]),
        [ref slower @ .., outer, inner] => (slower, [outer, inner]),
    }
}

/// Whether places have another order than the input: neighbours along the fastest loop are farther apart than those
/// along the second.
pub(super) fn is_transposed([outer, inner]: [LoopDim; 2]) -> bool {
    outer.size > 1 && (1..inner.stride.unsigned_abs()).contains(&outer.stride.unsigned_abs())
}

/// Whether two loops walk over neighbours.
pub(super) fn are_packed([outer, inner]: [LoopDim; 2]) -> bool {
    inner.stride == 1 && (outer.size == 1 || outer.stride == inner.size as isize)
}

impl OutputTile {
    /// How many there are.
    pub(super) fn outputs(&self) -> usize {
        self.input.dims[0].size * self.input.dims[1].size
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
        let places = |grid: Grid| {
            let [outer, inner] = grid.dims;
            (0..outer.size * inner.size).map(move |n| {
                grid.start + (n / inner.size) as isize * outer.stride + (n % inner.size) as isize * inner.stride
            })
        };
        // Rows that are shorter than a tile, a little longer, and so that the last tile overlaps; several rows, and
        // more than two loops.
        for sizes in
            [[1, 1, 1], [1, 1, 300], [1, 1, 700], [1, 1, 900], [1, 7, 400], [1, 1, 1025], [2, 50, 3], [3, 2, 530]]
        {
            // Twice as far apart as packed, so that loops do not merge and places between them are seen.
            let strides = [4 * (sizes[1] * sizes[2]) as isize, 2 * sizes[2] as isize, 1];
            let input = Layout::strided(&sizes, &strides, 5).unwrap();
            // And in the other order of the two fastest axes.
            let packed = [(sizes[1] * sizes[2]) as isize, sizes[2] as isize, 1];
            let transposed = [packed[0], 1, sizes[1] as isize];
            for (output_strides, max_outputs) in
                [packed, transposed].into_iter().flat_map(|strides| [1, 64, 256, 299, 512, 1024].map(|n| (strides, n)))
            {
                let output = Layout::strided(&sizes, &output_strides, 0).unwrap();
                let shape = CollapsedShape::new(&input, AxisSet::NONE, AxisDirection::Increasing, &output);
                let (mut seen, mut from) = (vec![false; output.required_len()], vec![0; output.required_len()]);
                for_each_tile(&shape, max_outputs, &mut |tile| {
                    assert!(tile.outputs() <= max_outputs, "{sizes:?}, {max_outputs}");
                    let inputs = places(tile.input);
                    for (to, place) in places(tile.output).zip(inputs) {
                        (seen[to as usize], from[to as usize]) = (true, place);
                    }
                });
                assert!(seen.iter().all(|&seen| seen), "{sizes:?}, {max_outputs}");
                let loops = |strides: [isize; 3]| [0, 1, 2].map(|n| LoopDim { size: sizes[n], stride: strides[n] });
                for (to, place) in StridedIter::new(&loops(output_strides)).zip(StridedIter::new(&loops(strides))) {
                    assert_eq!(from[to as usize], 5 + place, "{sizes:?}, {output_strides:?}, {max_outputs}");
                }
            }
        }
    }
}
