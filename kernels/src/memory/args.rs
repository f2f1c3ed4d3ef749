//! What a kernel is given: the loops that it runs over, and what is known of the memory. Knows nothing of element
//! types, of vectors, and of how a kernel traverses its loops.

use crate::tuning::{Tuning, WorkingSet};

/// The highest rank of a tensor, and so the largest number of loops in a nest.
pub const MAX_RANK: usize = 8;

/// One loop over memory: `size` steps of `stride` elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopDim {
    /// How many elements the loop visits.
    pub size: usize,
    /// From one element to the next, in elements; any sign.
    pub stride: isize,
}

impl LoopDim {
    /// A loop of one step.
    pub const ONE: LoopDim = LoopDim { size: 1, stride: 0 };

    /// How many of the first steps start at most `room` beyond the first of all; none where there is no room. Only
    /// loops upwards are worth the count.
    #[inline(always)]
    pub(crate) fn steps_within(self, room: Option<usize>) -> usize {
        match (room, self.stride) {
            (None, _) | (_, ..0) => 0,
            (_, 0) => self.size,
            (Some(room), stride) => self.size.min(room / stride.unsigned_abs() + 1),
        }
    }
}

/// What one call of a kernel answers: `outer.size * inner.size` outputs, each the reduction of the same nest of loops.
///
/// Output `o * inner.size + i` reduces the elements at `input + o * outer.stride + i * inner.stride + walk`, where
/// `walk` takes the offsets of `reduced` in row-major order, the last loop fastest; the `n`-th of them has position
/// `n`.
#[derive(Clone, Copy, Debug)]
pub struct KernelArgs<'a> {
    /// The first element of the first output, of the type that the kernel was made for, cast.
    pub input: *const (),
    /// The slower loop over the outputs.
    pub outer: LoopDim,
    /// The faster loop over the outputs.
    pub inner: LoopDim,
    /// The reduced loops, from the slowest to the fastest; at least one.
    pub reduced: &'a [LoopDim],
    /// In which cache the elements likely are. No answer depends on it.
    pub working_set: WorkingSet,
    /// What is fast on this machine, or on another one. No answer depends on it.
    pub tuning: &'static Tuning,
}

impl<'a> KernelArgs<'a> {
    /// Whether the elements are likely beyond the L2 cache.
    #[inline(always)]
    pub(crate) fn exceeds_l2(&self) -> bool {
        self.working_set != WorkingSet::L2
    }

    /// Whether to prefetch what is read next; `jumps` says that it does not follow in memory.
    #[inline(always)]
    pub(crate) fn should_prefetch(&self, jumps: bool) -> bool {
        self.tuning.should_prefetch(self.working_set, jumps)
    }

    /// The number of outputs.
    #[inline(always)]
    pub fn outputs(&self) -> usize {
        self.outer.size * self.inner.size
    }

    /// The offset of output `n`, in elements from `input`.
    #[inline(always)]
    pub(crate) fn offset(&self, n: usize) -> isize {
        (n / self.inner.size) as isize * self.outer.stride + (n % self.inner.size) as isize * self.inner.stride
    }

    /// From one output to the next, if that is the same for all of them.
    #[inline(always)]
    pub(crate) fn step(&self) -> Option<isize> {
        let is_even = self.outer.size == 1 || self.outer.stride == self.inner.stride * self.inner.size as isize;
        is_even.then_some(self.inner.stride)
    }

    /// Where the last of `lanes` elements starts, in elements from `input`, that [end](KernelArgs::contiguous_end) with
    /// those of the call, if that is known.
    #[inline(never)]
    pub(crate) fn last_start(&self, lanes: usize) -> Option<isize> {
        self.contiguous_end().map(|end| end - lanes as isize)
    }

    /// Where, in elements from `input`, the elements of the call end, if they are contiguous in memory. Loads may go
    /// from one element into those that follow then. What lies between the elements of other calls is out of bounds.
    #[inline(never)]
    pub(crate) fn contiguous_end(&self) -> Option<isize> {
        let mut loops = [LoopDim::default(); MAX_RANK + 2];
        let mut len = 0;
        for l in self.reduced.iter().chain([&self.outer, &self.inner]).filter(|l| l.size > 1) {
            loops[len] = *l;
            len += 1;
        }
        let loops = &mut loops[..len];
        loops.sort_unstable_by_key(|l| l.stride.unsigned_abs());
        let (mut dense, mut end) = (1, 1);
        for l in loops {
            if l.stride.unsigned_abs() != dense {
                return None;
            }
            dense *= l.size;
            end += (l.size as isize - 1) * l.stride.max(0);
        }
        Some(end)
    }

    /// How many elements each output is chosen from. Not inlined: the compiler makes a loop over vectors of it.
    #[inline(never)]
    pub(crate) fn reduction_len(&self) -> usize {
        self.reduced.iter().map(|l| l.size).product()
    }

    /// Whether the next output of a loop over outputs is nearer in memory than the next segment of the same output. If
    /// so, outputs are interleaved, to read memory in its order.
    #[inline(always)]
    pub(crate) fn is_interleaved(&self, outputs: LoopDim) -> bool {
        let (_, slower) = self.split_reduced();
        let is_nearer = |next: &LoopDim| outputs.stride.unsigned_abs() < next.stride.unsigned_abs();
        outputs.size > 1 && slower.last().is_some_and(is_nearer)
    }

    /// The bytes from the first element of the fastest reduced loop to where one more would be, for elements of `size`
    /// bytes.
    #[inline(never)]
    pub(crate) fn reduced_bytes(&self, size: usize) -> usize {
        let fastest = self.innermost_reduced();
        fastest.size.saturating_mul(fastest.stride.unsigned_abs()).saturating_mul(size)
    }

    #[inline(always)]
    pub(crate) fn innermost_reduced(&self) -> LoopDim {
        self.split_reduced().0
    }

    /// The fastest reduced loop, and the walk along the slower ones.
    #[inline(always)]
    pub(crate) fn split_reduced(&self) -> (LoopDim, &'a [LoopDim]) {
        match self.reduced {
            [slower @ .., fastest] => (*fastest, slower),
            [] => (LoopDim::ONE, &[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KernelArgs, LoopDim, Tuning, WorkingSet};

    /// No guard page fits into a gap of one element, so that no kernel can be seen to read it.
    #[test]
    fn a_gap_of_one_element_is_seen() {
        let contiguous_end = |outer: isize, row: isize| {
            let reduced = [LoopDim { size: 3, stride: row }];
            let (outer, inner) = (LoopDim { size: 2, stride: outer }, LoopDim::ONE);
            let (input, tuning) = (core::ptr::null(), Tuning::current());
            KernelArgs { input, outer, inner, reduced: &reduced, working_set: WorkingSet::L2, tuning }.contiguous_end()
        };
        assert_eq!(contiguous_end(3, 1), Some(6));
        assert_eq!(contiguous_end(4, 1), None);
        assert_eq!(contiguous_end(1, 2), Some(6));
        assert_eq!(contiguous_end(1, 3), None);
        // From the first element, which is not the one at the lowest address.
        assert_eq!(contiguous_end(-3, 1), Some(3));
        assert_eq!(contiguous_end(-3, -1), Some(1));
    }
}
