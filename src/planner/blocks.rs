//! A tensor cut into blocks of a few kilobytes, for what is looked at block by block: sizes and strides are all.
//!
//! ```text
//! a run:      from the innermost axis in memory outwards, until contiguous reads are long enough
//! reduced:    then as much of the reduced axes as there is room for, because answers of blocks have to be merged
//! outputs:    then the kept axes
//! ```
//!
//! Along an axis that is cut, the last block overlaps the one before, so that all blocks are of one shape: to see an
//! element twice is harmless, because only a better one wins.

use crate::layout::AxisSet;
use crate::{Layout, MAX_RANK};
use argreduce_kernels::LoopDim;
use std::array;
use std::cmp::Reverse;

/// The most outputs of a block. See docs/tuning.md#not-measured.
pub(crate) const MAX_BLOCK_OUTPUTS: usize = 256;

/// The most bytes of a block's elements, which L1 or L2 holds. See docs/tuning.md#not-measured.
pub(crate) const BLOCK_BYTES: usize = 24 << 10;

/// The most elements of a block: a row of so many bytes is one segment for vectors of 16 bytes, too. See
/// docs/tuning.md#not-measured.
pub(crate) const MAX_BLOCK_LEN: usize = 190 * WORD_BITS;

/// How many contiguous bytes are enough. See docs/tuning.md#not-measured.
const RUN_BYTES: usize = 1 << 10;

/// Bits of a mask that are taken at once, where they are those of a word. See docs/tuning.md#not-measured.
const WORD_BITS: usize = 64;

/// How a tensor is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    /// The extents of a block.
    pub(crate) sizes: [usize; MAX_RANK],
    /// The axes from the slowest in memory to the fastest.
    order: [u8; MAX_RANK],
    extents: [usize; MAX_RANK],
    rank: usize,
    axes: AxisSet,
}

/// Where a block begins, along each axis.
pub(crate) type BlockStart = [usize; MAX_RANK];

impl Blocks {
    /// Of a layout with elements, of so many bytes each, of which these axes are reduced.
    pub(crate) fn of(layout: &Layout, axes: AxisSet, element_bytes: usize) -> Blocks {
        let (rank, mut extents) = (layout.sizes().len(), [1; MAX_RANK]);
        extents[..rank].copy_from_slice(layout.sizes());
        let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
        // Where one element is repeated, outside.
        let distance = |axis: u8| match layout.strides()[usize::from(axis)].unsigned_abs() {
            0 => usize::MAX,
            stride => stride,
        };
        order[..rank].sort_by_key(|&axis| Reverse(distance(axis)));
        let most = (BLOCK_BYTES / element_bytes).min(MAX_BLOCK_LEN);
        let whole = Blocks { sizes: extents, order, extents, rank, axes };
        if layout.element_count() <= most && whole.outputs() <= MAX_BLOCK_OUTPUTS {
            return whole;
        }
        let mut blocks = Blocks { sizes: [1; MAX_RANK], ..whole };
        blocks.grow(RUN_BYTES / element_bytes, |_| true);
        blocks.grow(most, |axis| axes.contains(axis));
        blocks.grow(most, |_| true);
        blocks
    }

    /// One block, of all elements of a layout that are apart where there are other strides: one of what is broadcast.
    pub(crate) fn whole(layout: &Layout, strides: &[isize; MAX_RANK]) -> Blocks {
        let blocks = Blocks::of(layout, AxisSet::NONE, 1);
        Blocks { sizes: array::from_fn(|axis| if strides[axis] == 0 { 1 } else { blocks.extents[axis] }), ..blocks }
    }

    /// Makes blocks longer along some axes, the fastest first, as long as they have at most so many elements.
    fn grow(&mut self, most: usize, grows: impl Fn(usize) -> bool) {
        for n in (0..self.rank).rev() {
            let axis = usize::from(self.order[n]);
            let (len, outputs) = (self.len(), self.outputs());
            let is_kept = !self.axes.contains(axis);
            let mut times = most / len;
            if is_kept {
                times = times.min(MAX_BLOCK_OUTPUTS / outputs);
            }
            if grows(axis) && times > 1 {
                let longest = (self.sizes[axis] * times).min(self.extents[axis]);
                // As many blocks, but all as long, so that they overlap less; cut where words of a mask end.
                let size = self.extents[axis].div_ceil(self.extents[axis].div_ceil(longest));
                let is_cut = n + 1 == self.rank && size < self.extents[axis];
                self.sizes[axis] = if is_cut { size.next_multiple_of(WORD_BITS).min(longest) } else { size };
            }
        }
    }

    /// How many elements a block has.
    pub(crate) fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    /// How many outputs a block has.
    pub(crate) fn outputs(&self) -> usize {
        (0..self.rank).filter(|&axis| !self.axes.contains(axis)).map(|axis| self.sizes[axis]).product()
    }

    /// How many blocks of different outputs there are; and how many of the same.
    pub(crate) fn counts(&self) -> [usize; 2] {
        let count = |reduced: bool| {
            let axes = (0..self.rank).filter(|&axis| self.axes.contains(axis) == reduced);
            axes.map(|axis| self.extents[axis].div_ceil(self.sizes[axis])).product()
        };
        [count(false), count(true)]
    }

    /// Whether blocks of the same outputs come in the order of the index: one after another, each has larger ones than
    /// those before, but for what overlaps.
    pub(crate) fn are_in_order(&self) -> bool {
        // In memory, the reduced axes come in ascending order. All but one are whole, or of one step.
        let reduced = self.order[..self.rank].iter().map(|&axis| usize::from(axis));
        let is_longer = |axis: &usize| self.axes.contains(*axis) && self.extents[*axis] > 1;
        let whole = |axis: usize| self.sizes[axis] == self.extents[axis];
        let (mut last, mut is_cut) = (0, false);
        reduced.filter(is_longer).all(|axis| {
            let fits = axis >= last && (!is_cut || whole(axis));
            (last, is_cut) = (axis, is_cut || self.sizes[axis] > 1);
            fits
        })
    }

    /// Where a block begins, of outputs number `of_outputs` and elements number `of_reduced`: in the order of memory.
    pub(crate) fn start(&self, mut of_outputs: usize, mut of_reduced: usize) -> BlockStart {
        let mut start = [0; MAX_RANK];
        for &axis in self.order[..self.rank].iter().rev() {
            let axis = usize::from(axis);
            let n = if self.axes.contains(axis) { &mut of_reduced } else { &mut of_outputs };
            let (extent, size) = (self.extents[axis], self.sizes[axis]);
            let blocks = extent.div_ceil(size);
            start[axis] = ((*n % blocks) * size).min(extent - size);
            *n /= blocks;
        }
        start
    }

    /// A block packed in the order of memory.
    pub(crate) fn packed(&self) -> [isize; MAX_RANK] {
        let (mut strides, mut stride) = ([0; MAX_RANK], 1);
        for &axis in self.order[..self.rank].iter().rev() {
            strides[usize::from(axis)] = stride;
            stride *= self.sizes[usize::from(axis)] as isize;
        }
        strides
    }

    /// The loops over a block in that order, in several places at once, each with its strides along the axes: as few as
    /// walk all of them, at least one.
    pub(crate) fn loops<const N: usize>(&self, strides: [&[isize; MAX_RANK]; N]) -> [BlockLoops; N] {
        let mut loops = [BlockLoops { dims: [LoopDim::ONE; MAX_RANK], len: 1 }; N];
        let is_longer = |&&axis: &&u8| self.sizes[usize::from(axis)] > 1;
        for &axis in self.order[..self.rank].iter().filter(is_longer) {
            let (axis, size) = (usize::from(axis), self.sizes[usize::from(axis)]);
            let absorbs = |(loops, strides): (&BlockLoops, &&[isize; MAX_RANK])| {
                strides[axis].checked_mul(size as isize) == Some(loops.split().1.stride)
            };
            let (is_first, merges) = (loops[0].split().1.size == 1, loops.iter().zip(&strides).all(absorbs));
            for (loops, strides) in loops.iter_mut().zip(strides) {
                if !is_first && !merges {
                    loops.len += 1;
                }
                let last = &mut loops.dims[loops.len - 1];
                let size = if !is_first && merges { last.size * size } else { size };
                *last = LoopDim { size, stride: strides[axis] };
            }
        }
        loops
    }
}

/// Some loops over a block, the fastest last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockLoops {
    dims: [LoopDim; MAX_RANK],
    len: usize,
}

impl BlockLoops {
    /// The slower ones, and the fastest.
    pub(crate) fn split(&self) -> (&[LoopDim], LoopDim) {
        (&self.dims[..self.len - 1], self.dims[self.len - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argreduce_kernels::StridedIter;

    /// Blocks are within the tensor, and together all of it, each with all of its outputs; and are no larger than
    /// allowed.
    #[test]
    fn blocks_are_the_tensor() {
        for (sizes, axes) in [
            (&[7_usize, 300, 5][..], &[1_isize][..]),
            (&[7, 300, 5], &[0, 2]),
            (&[2, 3, 4, 5, 6, 7], &[0, 3, 5]),
            (&[40_000], &[0]),
            (&[40_000], &[]),
            (&[9, 20_000], &[0]),
            (&[3, 1, 20_000], &[2]),
            (&[], &[]),
        ] {
            let rank = sizes.len();
            let axes = AxisSet::new(axes, rank).unwrap();
            let packed = Layout::contiguous(sizes).unwrap();
            let reversed: Vec<isize> = (0..rank as isize).rev().collect();
            for layout in [packed, packed.permute(&reversed).unwrap()] {
                let axes = if layout == packed { axes } else { AxisSet::NONE };
                for bytes in [1, 8] {
                    let blocks = Blocks::of(&layout, axes, bytes);
                    assert!(blocks.len() * bytes <= BLOCK_BYTES && blocks.outputs() <= MAX_BLOCK_OUTPUTS);
                    let mut seen = vec![false; layout.required_len()];
                    let [outputs, reduced] = blocks.counts();
                    for (o, r) in (0..outputs).flat_map(|o| (0..reduced).map(move |r| (o, r))) {
                        let start = blocks.start(o, r);
                        let mut strides = [0; MAX_RANK];
                        strides[..rank].copy_from_slice(layout.strides());
                        let first: isize = (0..rank).map(|axis| start[axis] as isize * strides[axis]).sum();
                        let [loops] = blocks.loops([&strides]);
                        let (slower, fastest) = loops.split();
                        let mut visited = 0;
                        for offset in StridedIter::new(slower) {
                            for n in 0..fastest.size as isize {
                                seen[(first + offset + n * fastest.stride) as usize] = true;
                                visited += 1;
                            }
                        }
                        assert_eq!(visited, blocks.len());
                    }
                    assert!(seen.iter().all(|&seen| seen), "{sizes:?}, {blocks:?}");
                }
            }
        }
    }

    /// Rows are contiguous; columns have some contiguous outputs, and as many rows as there is room for.
    #[test]
    fn long_runs_and_few_merges() {
        let sizes = |sizes: &[usize], axis: isize| {
            let axes = AxisSet::new(&[axis], sizes.len()).unwrap();
            Blocks::of(&Layout::contiguous(sizes).unwrap(), axes, 4).sizes[..sizes.len()].to_vec()
        };
        assert_eq!(sizes(&[100_000], 0), [5888]);
        assert_eq!(sizes(&[1000, 1000], 1), [6, 1000]);
        assert_eq!(sizes(&[1000, 1000], 0), [24, 256]);
        assert_eq!(sizes(&[1_000_000, 3], 1), [255, 3]);
        assert_eq!(sizes(&[8, 21, 512, 512], 1), [1, 21, 1, 256]);
    }
}
