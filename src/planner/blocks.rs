//! The reduced loops, cut into blocks of one size. Nothing here knows of elements or kernels.

use crate::MAX_RANK;
use argreduce_kernels::{LoopDim, offset_at};

/// Blocks of reduced loops, in the order of visiting.
///
/// One loop is cut: what is inside it fits a block, it as a whole does not. The last block along it overlaps the one
/// before, so that none is too small for a strategy. To see an element twice is harmless: only a better one wins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    /// First the loops outside a block, then those of a block.
    loops: [LoopDim; MAX_RANK],
    cut: usize,
    len: usize,
    /// The size of the loop that is cut, how many blocks there are along it, and how many in all.
    cut_size: usize,
    along_cut: usize,
    count: usize,
    /// How many elements a step of that loop visits.
    inside: usize,
}

impl Blocks {
    /// Cuts some loops, of which there is one at least, none of size 0, into blocks of at most `max_len` elements.
    pub(crate) fn new(reduced: &[LoopDim], max_len: usize) -> Blocks {
        let (mut cut, mut inside) = (reduced.len() - 1, 1);
        while inside * reduced[cut].size <= max_len && cut > 0 {
            inside *= reduced[cut].size;
            cut -= 1;
        }
        let cut_size = reduced[cut].size;
        let along_cut = cut_size.div_ceil((max_len / inside).clamp(1, cut_size));
        let mut loops = [LoopDim::default(); MAX_RANK];
        loops[..reduced.len()].copy_from_slice(reduced);
        // All of about the same length, rather than a last one that overlaps much.
        loops[cut].size = cut_size.div_ceil(along_cut);
        let count = along_cut * reduced[..cut].iter().map(|l| l.size).product::<usize>();
        Blocks { loops, cut, len: reduced.len(), cut_size, along_cut, count, inside }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The loops of each.
    pub(crate) fn dims(&self) -> &[LoopDim] {
        &self.loops[self.cut..self.len]
    }

    /// How many elements are visited before the first of block `n`, and where that is, in elements from the first of
    /// all.
    pub(crate) fn start(&self, n: usize) -> (u64, isize) {
        let (outer, along) = (n / self.along_cut, n % self.along_cut);
        let LoopDim { size: step, stride } = self.loops[self.cut];
        let first = (along * step).min(self.cut_size - step);
        let position = (outer * self.cut_size + first) * self.inside;
        (position as u64, offset_at(&self.loops[..self.cut], outer) + first as isize * stride)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argreduce_kernels::StridedIter;

    /// Every element is in a block, at its position; and no block is longer than allowed, or much shorter.
    #[test]
    fn blocks_are_the_loops() {
        for sizes in [&[30][..], &[7, 10], &[3, 4, 5], &[2, 1, 9], &[1]] {
            let mut stride = 1;
            let mut loops: Vec<LoopDim> = Vec::new();
            for &size in sizes.iter().rev() {
                loops.insert(0, LoopDim { size, stride: if size % 2 == 0 { stride } else { -stride } });
                stride *= 2 * size as isize;
            }
            let expected: Vec<isize> = StridedIter::new(&loops).collect();
            for max_len in 1..expected.len() + 3 {
                let blocks = Blocks::new(&loops, max_len);
                assert!(blocks.dims().iter().map(|l| l.size).product::<usize>() <= max_len, "{sizes:?}, {max_len}");
                let mut seen = vec![false; expected.len()];
                for n in 0..blocks.count() {
                    let (position, start) = blocks.start(n);
                    for (n, offset) in StridedIter::new(blocks.dims()).enumerate() {
                        let position = position as usize + n;
                        assert_eq!(start + offset, expected[position], "{sizes:?}, {max_len}");
                        seen[position] = true;
                    }
                }
                assert!(seen.iter().all(|&seen| seen), "{sizes:?}, {max_len}");
                assert!(blocks.count() <= 4 * expected.len().div_ceil(max_len), "{sizes:?}, {max_len}");
            }
        }
    }
}
