//! Split loops: reduced loops that are walked as loops over outputs, each step of which gives a partial answer. Nothing
//! here knows of elements or kernels.
//!
//! ```text
//! memory has them in another order than the index:   those of the best chain stay, all others are split (`chain.rs`)
//! positions cannot count them; threads share them:   one is cut: into a split loop over slabs, and one along a slab
//! ```
//!
//! What is left is visited in the order of the index. Slabs overlap, so that all are as long: to see an element twice
//! is harmless, because only a better one wins.

use super::collapse::CollapsedShape;
use super::nest::{MAX_LOOPS, ReducedLoop, count, reversed};
use argreduce_kernels::LoopDim;
use std::cmp::Reverse;

/// How far apart the slabs of a loop begin, which are all as long: at most `max_len`, but one step at least. What is
/// left after the last whole one makes all of them longer. So that they overlap by little, tries some distances.
fn apart_within(size: usize, max_len: usize) -> usize {
    let longest = max_len - max_len / MIN_OVERLAP;
    let tried = [size / size.div_ceil(max_len)].into_iter().chain((1..=longest).rev().take(MAX_TRIES));
    let (mut best, mut least) = ((max_len / 2).max(1), usize::MAX);
    for apart in tried {
        let left = size % apart;
        if left < least && apart + left <= max_len {
            (best, least) = (apart, left);
            if left <= apart / MIN_OVERLAP {
                break;
            }
        }
    }
    best
}

/// Slabs share one step of so many, or fewer, if that can be had. Not measured.
const MIN_OVERLAP: usize = 16;

/// By trying so many distances: each takes a division. Not measured.
const MAX_TRIES: usize = 64;

/// How many slabs a loop is cut into: as many as are wanted, or fewer, so that they overlap by no more than a quarter
/// of the loop. All are equally long, and together they may have as many steps more than the loop as the square of
/// their number.
fn with_little_overlap(size: usize, wanted: usize) -> usize {
    (1..=wanted).rev().find(|slabs| (slabs - 1) * (size % slabs) <= size.div_ceil(4)).unwrap_or(1)
}

impl CollapsedShape {
    /// Cuts the reduced loops so that at most `max_len` elements are left to each partial answer.
    pub(crate) fn limit_reduction(&mut self, max_len: usize) {
        let (loops, len) = self.loops_of_reduction();
        let mut inside = count(self.reduced_dims());
        for &(size, ..) in &loops[..len] {
            if inside <= max_len {
                return;
            }
            inside /= size;
            let apart = apart_within(size, (max_len / inside).max(1));
            self.cut_reduction(0, size / apart, apart);
        }
    }

    /// Cuts the slowest reduced loop along which there are `slabs` steps, or the longest loop. What is one loop in the
    /// input stays one. Of more than one slab, each has at least `min_len` elements.
    pub(super) fn cut_in_slabs(&mut self, slabs: usize, min_len: usize) {
        let (loops, len) = self.loops_of_reduction();
        let len = if self.reduced_dims().len() == 1 { 1 } else { len };
        let sizes = || loops[..len].iter().map(|&(size, ..)| size).enumerate();
        let slowest = sizes().find(|&(_, size)| size >= slabs);
        let longest = sizes().max_by_key(|&(_, size)| size);
        if let Some((n, size)) = slowest.or(longest) {
            let most = count(self.reduced_dims()) / min_len;
            let slabs = with_little_overlap(size, slabs.min(size).min(most).max(1));
            self.cut_reduction(n, slabs, size / slabs);
        }
    }

    /// Which of the kept and the split loops are walked, from the slowest in the input's memory to the fastest: all of
    /// more than one step. Of those that are equally far apart, as those of windows are, kept ones are faster than
    /// split ones, and later ones than earlier ones.
    pub(super) fn memory_order(&self) -> ([usize; MAX_LOOPS], usize) {
        let (loops, kept) = (self.input.output_dims(), usize::from(self.kept_len));
        let (mut order, mut len) = ([0; MAX_LOOPS], 0);
        for n in (kept..loops.len()).chain(0..kept).filter(|&n| loops[n].size > 1) {
            order[len] = n;
            len += 1;
        }
        // Where one element is repeated under a mask, outside.
        order[..len].sort_by_key(|&n| Reverse(if loops[n].stride == 0 { isize::MAX } else { loops[n].stride }));
        (order, len)
    }

    /// The kept and the split loops together, in the order of the input's memory. In place of the output, there are
    /// places that are packed in the order of the kept loops; in place of the values, indices.
    pub(crate) fn in_memory_order(&self) -> CollapsedShape {
        let (input, output, kept) = (self.input.output_dims(), self.output.output_dims(), usize::from(self.kept_len));
        let (mut place_steps, mut place_step) = ([0; MAX_LOOPS], 1);
        for n in (0..kept).rev() {
            place_steps[n] = place_step;
            place_step *= input[n].size as isize;
        }
        let mut walk = CollapsedShape { is_masked: self.is_masked, ..CollapsedShape::EMPTY };
        (walk.input.start, walk.values.start) = (self.input.start, self.index_start as usize);
        walk.mask.start = self.mask.start;
        let (order, len) = self.memory_order();
        for &n in &order[..len] {
            let index_step = if n < kept { 0 } else { output[n].stride };
            let mask_step = if self.is_masked { self.mask.output_dims()[n].stride } else { 0 };
            let strides = [input[n].stride, place_steps[n], index_step, mask_step];
            for (nest, stride) in walk.nests().zip(strides) {
                nest.push(input[n].size, stride, false);
                nest.output_end = nest.len;
            }
        }
        self.reduced_dims().iter().for_each(|l| walk.input.push(l.size, l.stride, false));
        self.mask.reduced_dims().iter().for_each(|l| walk.mask.push(l.size, l.stride, false));
        walk
    }

    /// Cuts reduced loop `n` into slabs that begin so many steps apart, and makes the loop over them the first of the
    /// split ones.
    fn cut_reduction(&mut self, n: usize, slabs: usize, apart: usize) {
        let (mut loops, len) = self.loops_of_reduction();
        let (size, strides, step) = loops[n];
        loops[n].0 = size - (slabs - 1) * apart;
        let far = |stride: isize| stride.wrapping_mul(apart as isize);
        let mut split = (slabs, strides.map(far), far(step));
        if strides[0] < 0 {
            // Upwards in the input, as all loops over the outputs.
            let [mut start, mut mask_start] = [self.input.start, self.mask.start].map(|start| start as isize);
            split = reversed(split, [&mut start, &mut mask_start], &mut self.index_start);
            (self.input.start, self.mask.start) = (start as usize, mask_start as usize);
        }
        let at = self.kept_len.into();
        let (_, [stride, mask_stride], step) = split;
        for (nest, stride) in self.nests().zip([stride, step, 0, mask_stride]) {
            nest.insert_output(at, slabs, stride);
            nest.clear_reduced();
        }
        // One step is left of a loop that is split as a whole. It is left out, unless there is no other.
        let mut left = 0;
        for n in 0..len {
            if loops[n].0 > 1 || len == 1 {
                loops[left] = loops[n];
                left += 1;
            }
        }
        self.push_reduced(&loops[..left]);
    }

    /// The reduced loops before those of the input and those of the index were merged, each in its own way: as few as
    /// walk both.
    fn loops_of_reduction(&self) -> ([ReducedLoop; MAX_LOOPS], usize) {
        let (mut loops, mut first) = ([(0, [0; 2], 0); MAX_LOOPS], MAX_LOOPS);
        let [mut of_input, mut of_mask, mut of_index] = [[LoopDim::ONE; MAX_LOOPS]; 3];
        let (mut input, mut index) = (self.reduced_dims().len(), self.index_steps().len());
        of_input[..input].copy_from_slice(self.reduced_dims());
        of_mask[..self.mask.reduced_dims().len()].copy_from_slice(self.mask.reduced_dims());
        of_index[..index].copy_from_slice(self.index_steps());
        // From the fastest on. All visit as many elements, so that the smaller size divides the other.
        while input > 0 && index > 0 {
            let all = [&mut of_input[input - 1], &mut of_mask[input - 1], &mut of_index[index - 1]];
            let size = all[0].size.min(all[2].size);
            first -= 1;
            loops[first] = (size, [all[0].stride, all[1].stride], all[2].stride);
            let [is_input_done, _, is_index_done] = all.map(|l| {
                *l = LoopDim { size: l.size / size, stride: l.stride.wrapping_mul(size as isize) };
                l.size == 1
            });
            input -= usize::from(is_input_done);
            index -= usize::from(is_index_done);
        }
        loops.rotate_left(first);
        (loops, MAX_LOOPS - first)
    }
}

#[cfg(test)]
mod tests {
    use super::{apart_within, with_little_overlap};

    #[test]
    fn slabs_within_a_length() {
        for size in (1..400).chain([1000, 1024, 2047, 2048, 2049, 8191, 10_007, 100_003, 1 << 20, 1_000_003]) {
            for max_len in [1, 2, 3, 5, 16, 24, 64, 333, 768, 1000, 6144] {
                let apart = apart_within(size, max_len);
                let (slabs, len) = (size / apart, apart + size % apart);
                assert_eq!((slabs - 1) * apart + len, size);
                assert!((1..=max_len).contains(&len), "{size}, {max_len}: {apart}");
                // Of more than a few steps, most slabs overlap by little.
                assert!(max_len < 64 || slabs * len * 10 <= size * 12, "{size}, {max_len}: {apart}");
            }
        }
    }

    #[test]
    fn slabs_overlap_by_little() {
        for size in (1..300).chain([1000, 1024, 2047, 2048, 2049, 8191, 10_007, 100_003, 1 << 20]) {
            for wanted in [1, 2, 3, 5, 16, 64, 333, 768, 1000, 4096].map(|wanted: usize| wanted.min(size)) {
                let slabs = with_little_overlap(size, wanted);
                let len = size - (slabs - 1) * (size / slabs);
                assert!((1..=wanted).contains(&slabs) && slabs * len * 4 <= size * 5 + 3, "{size}, {wanted}: {slabs}");
                // Few threads get what they want, and many not much less than the square root of the loop.
                let least =
                    if wanted * wanted <= size / 4 || wanted <= 2 { wanted } else { wanted.min(size.isqrt() / 3) };
                assert!(slabs >= least, "{size}, {wanted}: {slabs}");
            }
        }
        assert_eq!([(2048, 768), (61, 3), (5, 2)].map(|(size, wanted)| with_little_overlap(size, wanted)), [512, 3, 2]);
    }
}
