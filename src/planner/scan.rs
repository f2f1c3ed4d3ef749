//! The loops of the best so far: one along the axis, in the order of visiting, and as few as there can be over lines,
//! each of which is a scan of its own. Sizes and strides alone.

use crate::mask::MaskPlaces;
use crate::{Layout, MAX_RANK};
use std::cmp::Reverse;

/// Where something is, or how far apart: in the input, in the indices, in the values, and in the mask.
pub(crate) type Places = [isize; 4];

/// The numbers of [`Places`].
pub(crate) const INPUT: usize = 0;
pub(crate) const INDICES: usize = 1;
pub(crate) const VALUES: usize = 2;
pub(crate) const MASK: usize = 3;

/// A loop over all of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScanLoop {
    pub(crate) size: usize,
    pub(crate) strides: Places,
}

impl ScanLoop {
    const ONE: ScanLoop = ScanLoop { size: 1, strides: [0; 4] };

    /// Backwards, from the last to the first, whose places are given and become those of the last.
    fn reverse(&mut self, starts: &mut Places) {
        for (start, stride) in starts.iter_mut().zip(&mut self.strides) {
            *start += (self.size as isize - 1) * *stride;
            *stride = -*stride;
        }
    }
}

/// The loops of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanShape {
    /// What the first line visits first.
    pub(crate) starts: Places,
    /// Along a line, in the order of visiting.
    pub(crate) steps: ScanLoop,
    /// From line to line, the fastest last.
    loops: [ScanLoop; MAX_RANK],
    len: usize,
}

impl ScanShape {
    /// Along an axis of an input that has elements. Values are packed; they and the mask may be left out.
    pub(crate) fn new(
        (input, output): (&Layout, &Layout),
        (axis, is_reversed): (usize, bool),
        has_values: bool,
        mask: Option<&MaskPlaces<'_>>,
    ) -> ScanShape {
        let sizes = input.sizes();
        let mut starts =
            [input.offset() as isize, output.offset() as isize, 0, mask.map_or(0, |mask| mask.start as isize)];
        let (mut loops, mut len, mut steps, mut packed) = ([ScanLoop::ONE; MAX_RANK], 0, ScanLoop::ONE, 1);
        for (at, &size) in sizes.iter().enumerate().rev() {
            let of_mask = mask.map_or(0, |mask| mask.strides[at]);
            let strides = [input.strides()[at], output.strides()[at], if has_values { packed } else { 0 }, of_mask];
            packed *= size as isize;
            let mut one = ScanLoop { size, strides };
            if at == axis {
                if is_reversed {
                    one.reverse(&mut starts);
                }
                steps = one;
            } else if size > 1 {
                // The order of lines is free: that of memory.
                if strides[INPUT] < 0 {
                    one.reverse(&mut starts);
                }
                loops[len] = one;
                len += 1;
            }
        }
        // Where an element is repeated, outside.
        loops[..len].sort_by_key(|l| Reverse(if l.strides[INPUT] == 0 { isize::MAX } else { l.strides[INPUT] }));
        let mut shape = ScanShape { starts, steps, loops: [ScanLoop::ONE; MAX_RANK], len: 0 };
        loops[..len].iter().for_each(|&one| shape.push(one));
        shape
    }

    /// Adds a faster loop, or makes the last one faster, where both walk as one would.
    fn push(&mut self, one: ScanLoop) {
        if let Some(last) = self.loops[..self.len].last_mut() {
            let size = one.size as isize;
            if last.strides.iter().zip(one.strides).all(|(&slower, stride)| stride.checked_mul(size) == Some(slower)) {
                *last = ScanLoop { size: last.size * one.size, ..one };
                return;
            }
        }
        self.loops[self.len] = one;
        self.len += 1;
    }

    /// From line to line: the fastest loop.
    pub(crate) fn inner(&self) -> ScanLoop {
        self.loops[..self.len].last().copied().unwrap_or(ScanLoop::ONE)
    }

    /// How many times the fastest loop is run.
    pub(crate) fn outer_count(&self) -> usize {
        self.loops[..self.len.saturating_sub(1)].iter().map(|l| l.size).product()
    }

    /// What line `first` visits first, of those that the fastest loop has the `outer`th time.
    pub(crate) fn line(&self, mut outer: usize, first: usize) -> Places {
        let mut places = self.starts;
        let slower = &self.loops[..self.len.saturating_sub(1)];
        let mut add = |l: &ScanLoop, n: usize| {
            places.iter_mut().zip(l.strides).for_each(|(place, stride)| *place += n as isize * stride);
        };
        for l in slower.iter().rev() {
            add(l, outer % l.size);
            outer /= l.size;
        }
        add(&self.inner(), first);
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_merge_and_turn() {
        let packed = |sizes: &[usize]| Layout::contiguous(sizes).unwrap();
        let of = |input: &Layout, axis, is_reversed| {
            ScanShape::new((input, &packed(input.sizes())), (axis, is_reversed), true, None)
        };
        // Lines of rows are one loop, those of the axis between are two, whatever the direction.
        let shape = of(&packed(&[3, 4, 5]), 2, false);
        assert_eq!((shape.inner().size, shape.outer_count(), shape.steps.strides), (12, 1, [1, 1, 1, 0]));
        let shape = of(&packed(&[3, 4, 5]), 1, true);
        assert_eq!((shape.inner().size, shape.outer_count(), shape.steps.strides), (5, 3, [-5, -5, -5, 0]));
        assert_eq!((shape.starts, shape.line(2, 4)), ([15, 15, 15, 0], [59, 59, 59, 0]));
        // A kept axis that goes down in the input goes down in the output instead.
        let flipped = Layout::strided(&[4, 5], &[5, -1], 4).unwrap();
        let shape = of(&flipped, 0, false);
        assert_eq!((shape.starts, shape.inner().strides), ([0, 4, 4, 0], [1, -1, -1, 0]));
        // One line, and one element.
        let shape = of(&packed(&[7]), 0, false);
        assert_eq!((shape.inner(), shape.outer_count(), shape.steps.size), (ScanLoop::ONE, 1, 7));
        assert_eq!(of(&packed(&[1, 1]), 1, true).line(0, 0), [0; 4]);
    }
}
