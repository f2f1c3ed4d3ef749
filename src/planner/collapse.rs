//! From a checked layout and a set of axes to the few loops that really differ: a [`CollapsedShape`], as the page of
//! the folder says. Nothing here knows of element types, index types, kernels or ISAs.

use super::chain::chain_in_memory_order;
use super::nest::{LoopNest, ReducedLoop, reversed};
use crate::layout::{AxisSet, Window};
use crate::mask::MaskPlaces;
use crate::{AxisDirection, Layout, MAX_RANK};
use argreduce_kernels::LoopDim;
use std::cmp::Reverse;
use std::ops::Range;

/// The loops that are left of a reduction.
///
/// Loops over the outputs are of two kinds. Along a *kept* one, each step is another output of the caller. Along a
/// *split* one, which was a reduced one, each step is another partial answer for the same output: see `split.rs`. Kept
/// ones come first; of each kind, the slowest loop of the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CollapsedShape {
    /// The loops over the outputs, in the input, the output, and the packed values: the same sizes, each with its own
    /// strides. In `input`, also the reduced loops: at least one, none of size 0. In `output`, the steps of the index
    /// along split loops, and along reduced ones: over as many elements, but they merge differently, mostly to one.
    pub(crate) input: LoopNest,
    pub(crate) output: LoopNest,
    pub(crate) values: LoopNest,
    /// Of an input under a mask, the same loops in the mask as in the input.
    pub(crate) mask: LoopNest,
    pub(super) is_masked: bool,
    /// The index of the first visited element.
    pub(crate) index_start: isize,
    /// How many loops over the outputs are kept ones.
    pub(super) kept_len: u8,
}

impl CollapsedShape {
    pub(crate) const EMPTY: CollapsedShape = CollapsedShape {
        input: LoopNest::EMPTY,
        output: LoopNest::EMPTY,
        values: LoopNest::EMPTY,
        mask: LoopNest::EMPTY,
        is_masked: false,
        index_start: 0,
        kept_len: 0,
    };

    /// What each output is chosen from.
    #[inline(always)]
    pub(crate) fn reduced_dims(&self) -> &[LoopDim] {
        self.input.reduced_dims()
    }

    /// The steps of the index along that.
    #[inline(always)]
    pub(crate) fn index_steps(&self) -> &[LoopDim] {
        self.output.reduced_dims()
    }

    /// This shape with indices packed as values are; both so many places from one to the next.
    pub(crate) fn packed(&self, steps: [usize; 2]) -> CollapsedShape {
        let mut packed = *self;
        // But the steps of the index along split loops are those of the output, and values have none.
        let outputs = usize::from(packed.values.broadcast_end + packed.kept_len);
        for (nest, step) in [&mut packed.output, &mut packed.values].into_iter().zip(steps) {
            nest.start = self.values.start * step;
            for (to, l) in nest.loops.iter_mut().zip(&self.values.loops[..outputs]) {
                *to = LoopDim { stride: l.stride * step as isize, ..*l };
            }
        }
        packed
    }

    /// Whether there are split loops.
    #[inline(always)]
    pub(crate) fn is_split(&self) -> bool {
        usize::from(self.kept_len) < self.input.output_dims().len()
    }

    /// The kept loops over the outputs, in the input.
    pub(crate) fn kept_dims(&self) -> &[LoopDim] {
        &self.input.output_dims()[..self.kept_len.into()]
    }

    /// The split ones.
    pub(crate) fn split_dims(&self) -> &[LoopDim] {
        &self.input.output_dims()[self.kept_len.into()..]
    }

    /// This shape without the split loops.
    pub(crate) fn kept(&self) -> CollapsedShape {
        let mut kept = *self;
        let len = kept.kept_len.into();
        kept.nests().for_each(|nest| nest.truncate_outputs(len));
        kept
    }

    /// Puts this shape under a mask that has the elements as far apart as the input does, from `start` on.
    pub(super) fn put_under(&mut self, start: usize) {
        (self.mask, self.is_masked) = (LoopNest { start, ..self.input }, true);
    }

    /// Restricts one of the split loops to some of its steps in `whole`.
    pub(super) fn restrict_split(&mut self, whole: &CollapsedShape, split: usize, steps: Range<usize>) {
        let at = usize::from(self.kept_len) + split;
        let along = |nest: &LoopNest| (steps.start as isize).wrapping_mul(nest.output_dims()[at].stride);
        self.input.start = whole.input.start.wrapping_add_signed(along(&whole.input));
        if self.is_masked {
            self.mask.start = whole.mask.start.wrapping_add_signed(along(&whole.mask));
        }
        self.index_start = whole.index_start.wrapping_add(along(&whole.output));
        self.nests().for_each(|nest| nest.resize_output(at, steps.len()));
    }

    /// See [`LoopNest::tail`].
    pub(crate) fn tail(&self, cut: usize) -> CollapsedShape {
        CollapsedShape {
            input: self.input.tail(cut),
            output: self.output.tail(cut),
            values: self.values.tail(cut),
            mask: if self.is_masked { self.mask.tail(cut) } else { self.mask },
            is_masked: self.is_masked,
            index_start: self.index_start,
            kept_len: self.kept_len - cut as u8,
        }
    }

    /// Some of the outputs: see [`LoopNest::move_to`].
    pub(crate) fn move_to(&mut self, whole: &CollapsedShape, cut: usize, slower: usize, steps: Range<usize>) {
        self.input.move_to(&whole.input, cut, slower, &steps);
        self.output.move_to(&whole.output, cut, slower, &steps);
        self.values.move_to(&whole.values, cut, slower, &steps);
        if self.is_masked {
            self.mask.move_to(&whole.mask, cut, slower, &steps);
        }
    }

    /// The largest index of a visited element. All steps go in one direction, so it is that of the first or the last.
    pub(crate) fn largest_index(&self) -> usize {
        let last = |l: &LoopDim| (l.size as isize - 1).wrapping_mul(l.stride);
        let end = self.index_steps().iter().map(last).fold(self.index_start, isize::wrapping_add);
        (self.index_start as usize).max(end as usize)
    }

    /// The fastest loop over the outputs, in the input: the inner loop of what a kernel is called for.
    #[inline(always)]
    pub(crate) fn inner_dim(&self) -> LoopDim {
        let loops = self.input.output_dims();
        if self.is_split() { self.inner_of_split() } else { loops.last().copied().unwrap_or(LoopDim::ONE) }
    }

    #[inline(never)]
    fn inner_of_split(&self) -> LoopDim {
        let (order, len) = self.memory_order();
        order[..len].last().map_or(LoopDim::ONE, |&n| self.input.output_dims()[n])
    }

    /// Collapses a reduction into this shape, which is [`CollapsedShape::EMPTY`]. In place, because to move a shape
    /// would take as long as to make it.
    ///
    /// Neither the input nor the output is empty. `output` has the sizes of the input, but 1 on the reduced axes. The
    /// window fits; only the indices depend on it. If there is a mask, it is of the input.
    pub(crate) fn collapse(
        &mut self,
        (input, axes, direction): (&Layout, AxisSet, AxisDirection),
        output: &Layout,
        window: Window<'_>,
        mask: Option<&MaskPlaces<'_>>,
    ) {
        const ZEROS: [isize; MAX_RANK] = [0; MAX_RANK];
        let (mask_start, mask_strides) = mask.map_or((0, &ZEROS), |mask| (mask.start, &mask.strides));
        self.is_masked = mask.is_some();
        let mut loops = AxisLoops::new([input.offset() as isize, output.offset() as isize, 0, mask_start as isize]);
        // From the last axis to the first, because the steps of indices and packed values grow that way.
        let (mut index_step, mut value_step) = (1_isize, 1);
        for axis in (0..input.sizes().len()).rev() {
            let (size, stride, step) = (input.sizes()[axis], input.strides()[axis], index_step);
            if axes.contains(axis) {
                // Wrapping, because the whole may be larger than any memory. Indices of visited elements fit.
                loops.index_start = step.wrapping_mul(window.start[axis] as isize).wrapping_add(loops.index_start);
                index_step = step.wrapping_mul(window.whole[axis] as isize);
                if size > 1 {
                    loops.reduce((size, [stride, mask_strides[axis]], step), direction);
                }
            } else if size > 1 {
                loops.keep(size, [stride, output.strides()[axis], value_step, mask_strides[axis]]);
                value_step *= size as isize;
            }
        }
        loops.split();
        self.index_start = loops.index_start;
        for (nest, start) in self.nests().zip(loops.starts) {
            nest.start = start as usize;
        }
        self.push_kept(loops.kept_in_order());
        self.push_reduced(&loops.reduced[loops.first_reduced..]);
    }

    /// Those of the input, the output and the values; and of the mask, if there is one.
    pub(super) fn nests(&mut self) -> impl Iterator<Item = &mut LoopNest> {
        let len = 3 + usize::from(self.is_masked);
        [&mut self.input, &mut self.output, &mut self.values, &mut self.mask].into_iter().take(len)
    }

    /// Adds the loops over the outputs, and merges neighbours of a kind that walk all of those as one loop would.
    fn push_kept(&mut self, kept: &[KeptLoop]) {
        let (mut before, mut kept_len) = (None, 0);
        for &(size, strides, kind) in kept {
            let is_broadcast = is_broadcast(&strides);
            let merges = before == Some((is_broadcast, kind))
                && self.nests().zip(strides).all(|(nest, stride)| nest.absorbs(size, stride));
            for (nest, stride) in self.nests().zip(strides) {
                nest.push(size, stride, merges);
                nest.output_end = nest.len;
                if is_broadcast {
                    nest.broadcast_end = nest.len;
                }
            }
            before = Some((is_broadcast, kind));
            if kind == Kind::Kept {
                kept_len = self.input.output_end - self.input.broadcast_end;
            }
        }
        self.kept_len = kept_len;
    }

    /// Adds the loops over what an output is chosen from, and the steps of its index.
    pub(super) fn push_reduced(&mut self, reduced: &[ReducedLoop]) {
        // At least one, so that outputs without a choice are written as any others are.
        let reduced = if reduced.is_empty() { &[(1, [0, 0], 0)] } else { reduced };
        for &(size, [stride, mask_stride], step) in reduced {
            let merges = self.input.absorbs_reduced(size, stride)
                && (!self.is_masked || self.mask.absorbs_reduced(size, mask_stride));
            self.input.push(size, stride, merges);
            if self.is_masked {
                self.mask.push(size, mask_stride, merges);
            }
            self.output.push(size, step, self.output.absorbs_reduced(size, step));
        }
    }
}

/// A size, the strides in the input, the output, the values and the mask, and whether it is split: then that in the
/// output is the step of the index.
type KeptLoop = (usize, [isize; 4], Kind);

/// As wide as a stride, so that a list of loops has no gaps, and begins as zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
enum Kind {
    Kept = 0,
    Split = 1,
}

/// Whether the outputs along such a loop are copies: neither the input nor the mask changes.
fn is_broadcast(&[input, .., mask]: &[isize; 4]) -> bool {
    [input, mask] == [0, 0]
}

/// One loop for each axis that is visited, before any are merged. Lists are filled from the end, because the axes are
/// visited from the last to the first.
struct AxisLoops {
    kept: [KeptLoop; MAX_RANK],
    first_kept: usize,
    reduced: [ReducedLoop; MAX_RANK],
    first_reduced: usize,
    /// Where the walk starts in the input, the output, the values and the mask, and the index there.
    starts: [isize; 4],
    index_start: isize,
}

impl AxisLoops {
    fn new(starts: [isize; 4]) -> Self {
        let (kept, reduced) = ([(0, [0; 4], Kind::Kept); MAX_RANK], [(0, [0; 2], 0); MAX_RANK]);
        AxisLoops { kept, first_kept: MAX_RANK, reduced, first_reduced: MAX_RANK, starts, index_start: 0 }
    }

    /// A reduced axis.
    fn reduce(&mut self, mut reduced: ReducedLoop, direction: AxisDirection) {
        if direction == AxisDirection::Decreasing {
            reduced = self.reversed(reduced);
        }
        // All elements along a broadcast axis tie, and the first visited one wins: the others are not visited.
        if reduced.1 != [0, 0] {
            self.first_reduced -= 1;
            self.reduced[self.first_reduced] = reduced;
        }
    }

    fn reversed(&mut self, reduced: ReducedLoop) -> ReducedLoop {
        let [input, .., mask] = &mut self.starts;
        reversed(reduced, [input, mask], &mut self.index_start)
    }

    /// A kept axis, visited upwards in the input.
    fn keep(&mut self, size: usize, mut strides: [isize; 4]) {
        if strides[0] < 0 {
            for (start, stride) in self.starts.iter_mut().zip(&mut strides) {
                *start += (size as isize - 1) * *stride;
                *stride = -*stride;
            }
        }
        self.first_kept -= 1;
        self.kept[self.first_kept] = (size, strides, Kind::Kept);
    }

    /// Where memory has the reduced loops in another order, makes some of them split loops.
    fn split(&mut self) {
        let of_kept = self.kept[self.first_kept..].iter().map(|&(size, strides, _)| (size, strides[0]));
        let Some(chain) = chain_in_memory_order(&self.reduced[self.first_reduced..], of_kept) else { return };
        let reduced = self.reduced;
        let first = std::mem::replace(&mut self.first_reduced, MAX_RANK);
        for (n, &(mut of_axis)) in reduced[first..].iter().enumerate().rev() {
            if chain & 1 << n == 0 {
                // Upwards in the input, too.
                if of_axis.1[0] < 0 {
                    of_axis = self.reversed(of_axis);
                }
                let (size, [stride, mask_stride], step) = of_axis;
                self.first_kept -= 1;
                self.kept[self.first_kept] = (size, [stride, step, 0, mask_stride], Kind::Split);
            } else {
                self.first_reduced -= 1;
                self.reduced[self.first_reduced] = of_axis;
            }
        }
    }

    /// The kept axes in the order of the input's memory, because that of the outputs is free; broadcast axes first, and
    /// split ones last.
    fn kept_in_order(&mut self) -> &[KeptLoop] {
        let kept = &mut self.kept[self.first_kept..];
        kept.sort_by_key(|(_, strides, kind)| {
            let distance = if strides[0] == 0 { isize::MAX } else { strides[0] };
            (*kind, !is_broadcast(strides), Reverse(distance))
        });
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argreduce_kernels::{StridedIter, offset_at};
    use proptest::prelude::*;

    impl CollapsedShape {
        pub(crate) fn new(input: &Layout, axes: AxisSet, direction: AxisDirection, output: &Layout) -> CollapsedShape {
            let mut shape = CollapsedShape::EMPTY;
            shape.collapse((input, axes, direction), output, Window::of_whole(input.sizes()), None);
            shape
        }
    }

    /// For each output, in the order of its place: the visited elements as (index, place in the input), by plain loops
    /// over all coordinates.
    fn naive(input: &Layout, axes: AxisSet, output: &Layout) -> Vec<(isize, Vec<(isize, isize)>)> {
        let sizes = input.sizes();
        let mut outputs = std::collections::BTreeMap::<isize, Vec<(isize, isize)>>::new();
        for mut n in 0..input.element_count() {
            let (mut from, mut to) = (input.offset() as isize, output.offset() as isize);
            let (mut index, mut index_step) = (0, 1);
            for axis in (0..sizes.len()).rev() {
                let coordinate = (n % sizes[axis]) as isize;
                n /= sizes[axis];
                from += coordinate * input.strides()[axis];
                if axes.contains(axis) {
                    index += coordinate * index_step;
                    index_step *= sizes[axis] as isize;
                } else {
                    to += coordinate * output.strides()[axis];
                }
            }
            outputs.entry(to).or_default().push((index, from));
        }
        outputs.into_iter().collect()
    }

    /// What [`naive`] gives, from the collapsed loops.
    fn collapsed(shape: &CollapsedShape) -> Vec<(isize, Vec<(isize, isize)>)> {
        let walk = |kept: &LoopNest| -> Vec<isize> {
            let copies = || StridedIter::new(kept.broadcast_dims());
            StridedIter::new(kept.output_dims())
                .flat_map(|o| copies().map(move |copy| kept.start as isize + o + copy))
                .collect()
        };
        let mut outputs = std::collections::BTreeMap::<isize, Vec<(isize, isize)>>::new();
        let kept = walk(&shape.kept().output);
        let splits: Vec<isize> = StridedIter::new(&shape.output.output_dims()[shape.kept_len.into()..]).collect();
        let copies = StridedIter::new(shape.input.broadcast_dims()).count();
        let starts = (0..kept.len() * splits.len()).map(|n| {
            // Kept loops outside, then the split ones, then the copies.
            let (kept_at, split, copy) = (n / copies / splits.len(), n / copies % splits.len(), n % copies);
            (kept[kept_at * copies + copy], shape.index_start + splits[split])
        });
        for (from, (to, start)) in walk(&shape.input).into_iter().zip(starts) {
            let visited = StridedIter::new(shape.reduced_dims()).enumerate();
            let visited = visited
                .map(|(position, offset)| (start + offset_at(shape.index_steps(), position), from + offset))
                .collect::<Vec<_>>();
            // In ascending order of the index, or in descending order.
            let is_up = shape.index_steps()[0].stride >= 0;
            assert!(visited.is_sorted_by(|a, b| if is_up { a.0 < b.0 } else { a.0 > b.0 }));
            outputs.entry(to).or_default().extend(visited);
        }
        outputs.into_iter().collect()
    }

    /// Packed, or any.
    fn any_stride() -> impl Strategy<Value = Option<isize>> {
        prop_oneof![3 => Just(None), 1 => (-7..8_isize).prop_map(Some)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn visits_what_a_naive_walk_visits(
            axes in proptest::collection::vec((1..5_usize, any_stride(), any::<bool>()), 0..=8),
            backwards in any::<bool>(),
            flip_output in any::<u8>(),
        ) {
            // Packed, but for the axes with a stride of their own.
            let sizes: Vec<usize> = axes.iter().map(|axis| axis.0).collect();
            prop_assume!(sizes.iter().product::<usize>() <= 4096);
            let mut strides: Vec<isize> = Layout::contiguous(&sizes).unwrap().strides().to_vec();
            for (stride, axis) in strides.iter_mut().zip(&axes) {
                *stride = axis.1.unwrap_or(*stride);
            }
            let reach = |(&size, &stride): (&usize, &isize)| (size as isize - 1) * stride.min(0);
            let before: isize = sizes.iter().zip(&strides).map(reach).sum();
            let input = Layout::strided(&sizes, &strides, before.unsigned_abs()).unwrap();
            let reduced: Vec<isize> = (0..axes.len()).filter(|&axis| axes[axis].2).map(|axis| axis as isize).collect();
            let set = AxisSet::new(&reduced, sizes.len()).unwrap();

            let output_sizes: Vec<usize> =
                axes.iter().map(|&(size, _, reduced)| if reduced { 1 } else { size }).collect();
            let mut output_strides: Vec<isize> = Layout::contiguous(&output_sizes).unwrap().strides().to_vec();
            let mut start = 0;
            let flipped = |&(axis, _): &(usize, _)| flip_output >> axis & 1 == 1;
            for (axis, stride) in output_strides.iter_mut().enumerate().filter(flipped) {
                start += (output_sizes[axis] - 1) * *stride as usize;
                *stride = -*stride;
            }
            let output = Layout::strided(&output_sizes, &output_strides, start).unwrap();

            let direction = if backwards { AxisDirection::Decreasing } else { AxisDirection::Increasing };
            let shape = CollapsedShape::new(&input, set, direction, &output);
            let naive = naive(&input, set, &output);
            let mut found = collapsed(&shape);
            for (output, (expected, found)) in naive.iter().zip(&mut found).enumerate() {
                prop_assert_eq!(expected.0, found.0);
                // Of a broadcast axis, one element of each group of equals is visited, and it is the one that wins.
                found.1.sort();
                let mut winners = std::collections::BTreeMap::new();
                for &(index, place) in &expected.1 {
                    if backwards { winners.insert(place, index); } else { winners.entry(place).or_insert(index); }
                }
                if axes.iter().any(|&(size, stride, reduced)| reduced && size > 1 && stride == Some(0)) {
                    prop_assert!(found.1.iter().all(|visited| expected.1.contains(visited)), "output {}", output);
                    let all_found = winners.iter().all(|(&place, &index)| found.1.contains(&(index, place)));
                    prop_assert!(all_found, "output {}", output);
                } else {
                    prop_assert_eq!(&expected.1, &found.1);
                }
            }
            prop_assert_eq!(naive.len(), found.len());
        }
    }

    #[test]
    fn collapses_to_few_loops() {
        let shape = |sizes: &[usize], strides: &[isize], axes: &[isize]| {
            let input = Layout::strided(sizes, strides, 0).unwrap();
            let set = AxisSet::new(axes, sizes.len()).unwrap();
            let kept: Vec<usize> =
                (0..sizes.len()).map(|axis| if set.contains(axis) { 1 } else { sizes[axis] }).collect();
            let shape =
                CollapsedShape::new(&input, set, AxisDirection::Increasing, &Layout::contiguous(&kept).unwrap());
            let pairs = |nest: &[LoopDim]| nest.iter().map(|l| (l.size, l.stride)).collect::<Vec<_>>();
            (pairs(shape.input.output_dims()), pairs(shape.reduced_dims()), pairs(shape.index_steps()))
        };
        // Neighbours of a kind merge, and size 1 vanishes.
        let packed = |sizes: &[usize]| Layout::contiguous(sizes).unwrap().strides().to_vec();
        let (kept, reduced, index) = shape(&[2, 3, 1, 4, 5], &packed(&[2, 3, 1, 4, 5]), &[2, 3, 4]);
        assert_eq!((kept, reduced, index), (vec![(6, 20)], vec![(20, 1)], vec![(20, 1)]));
        let (kept, reduced, index) = shape(&[2, 3, 4, 5], &packed(&[2, 3, 4, 5]), &[0, 2, 3]);
        assert_eq!((kept, reduced, index), (vec![(3, 20)], vec![(2, 60), (20, 1)], vec![(40, 1)]));
        // A broadcast reduced axis vanishes, and is counted in the index.
        let (kept, reduced, index) = shape(&[2, 3, 4], &[4, 0, 1], &[0, 1, 2]);
        assert_eq!((kept, reduced, index), (vec![], vec![(8, 1)], vec![(2, 12), (4, 1)]));
        // Nothing to reduce is a single loop, of one element.
        let (kept, reduced, index) = shape(&[2, 3], &packed(&[2, 3]), &[]);
        assert_eq!((kept, reduced, index), (vec![(6, 1)], vec![(1, 0)], vec![(1, 0)]));
        // Copies are counted from the first of them, upwards.
        let (input, set) = (Layout::strided(&[3, 4], &[0, 1], 0).unwrap(), AxisSet::new(&[], 2).unwrap());
        let broadcast =
            CollapsedShape::new(&input, set, AxisDirection::Increasing, &Layout::contiguous(&[3, 4]).unwrap());
        let output = &broadcast.output;
        assert_eq!((output.start, output.broadcast_dims()), (0, &[LoopDim { size: 3, stride: 4 }][..]));
        // A transposed view of kept axes is visited in the order of memory.
        let (kept, reduced, _) = shape(&[5, 6, 7], &[7, 35, 1], &[2]);
        assert_eq!((kept, reduced), (vec![(6, 35), (5, 7)], vec![(7, 1)]));
    }
}
