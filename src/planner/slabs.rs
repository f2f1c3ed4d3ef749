//! The reduced loops, cut into slabs of one size. Nothing here knows of elements or kernels.

use crate::MAX_RANK;
use argreduce_kernels::{LoopDim, offset_at};

/// Slabs of reduced loops, in the order of visiting.
///
/// One loop is cut: what is inside it fits a slab, it as a whole does not. The last slab along it overlaps the one
/// before, so that none is too small for a strategy. To see an element twice is harmless: only a better one wins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slabs {
    /// First the loops outside a slab, then those of a slab.
    loops: [LoopDim; MAX_RANK],
    cut: usize,
    loops_len: usize,
    /// The size of the loop that is cut, how many slabs there are along it, and how many in all.
    cut_size: usize,
    along_cut: usize,
    count: usize,
    /// How many elements a step of that loop visits.
    inside: usize,
}

impl Slabs {
    /// Cuts some loops, of which there is one at least, none of size 0, into slabs of at most `max_len` elements.
    pub(crate) fn new(reduced: &[LoopDim], max_len: usize) -> Slabs {
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
        Slabs { loops, cut, loops_len: reduced.len(), cut_size, along_cut, count, inside }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How many elements each has.
    pub(crate) fn len(&self) -> usize {
        self.dims().iter().map(|l| l.size).product()
    }

    /// The loops of each.
    pub(crate) fn dims(&self) -> &[LoopDim] {
        &self.loops[self.cut..self.loops_len]
    }

    /// How many elements are visited before the first of slab `n`, and where that is, in elements from the first of
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

    /// Every element is in a slab, at its position; and no slab is longer than allowed, or much shorter.
    #[test]
    fn slabs_are_the_loops() {
        for sizes in [&[30][..], &[7, 10], &[3, 4, 5], &[2, 1, 9], &[1]] {
            let mut stride = 1;
            let mut loops: Vec<LoopDim> = Vec::new();
            for &size in sizes.iter().rev() {
                loops.insert(0, LoopDim { size, stride: if size % 2 == 0 { stride } else { -stride } });
                stride *= 2 * size as isize;
            }
            let expected: Vec<isize> = StridedIter::new(&loops).collect();
            for max_len in 1..expected.len() + 3 {
                let slabs = Slabs::new(&loops, max_len);
                assert!(slabs.len() <= max_len, "{sizes:?}, {max_len}");
                let mut seen = vec![false; expected.len()];
                for n in 0..slabs.count() {
                    let (position, start) = slabs.start(n);
                    for (n, offset) in StridedIter::new(slabs.dims()).enumerate() {
                        let position = position as usize + n;
                        assert_eq!(start + offset, expected[position], "{sizes:?}, {max_len}");
                        seen[position] = true;
                    }
                }
                assert!(seen.iter().all(|&seen| seen), "{sizes:?}, {max_len}");
                assert!(slabs.count() <= 4 * expected.len().div_ceil(max_len), "{sizes:?}, {max_len}");
            }
        }
    }
}
