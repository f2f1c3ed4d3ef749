//! The walk along nests of loops: one offset after another, or segments of the fastest loop. Knows nothing of what is
//! at the offsets.

use super::args::{KernelArgs, LoopDim, MAX_RANK};
use crate::prefetch::PrefetchCursor;

/// Walks a nest of loops in row-major order (the last loop fastest), one offset after another.
///
/// A nest without loops has one offset, 0; a nest with a loop of size 0 has none.
///
/// ```
/// use argreduce_kernels::{LoopDim, StridedIter};
/// let nest = [LoopDim { size: 2, stride: 10 }, LoopDim { size: 3, stride: -1 }];
/// assert!(StridedIter::new(&nest).eq([0, -1, -2, 10, 9, 8]));
/// ```
#[derive(Clone, Debug)]
pub struct StridedIter<'a> {
    loops: &'a [LoopDim],
    coordinates: [usize; MAX_RANK],
    offset: isize,
    done: bool,
}

impl<'a> StridedIter<'a> {
    /// A walk at its first offset.
    ///
    /// # Panics
    /// If `loops` has more than [`MAX_RANK`] loops.
    #[inline(always)]
    pub fn new(loops: &'a [LoopDim]) -> Self {
        assert!(loops.len() <= MAX_RANK);
        let done = loops.iter().any(|l| l.size == 0);
        StridedIter { loops, coordinates: [0; MAX_RANK], offset: 0, done }
    }

    /// Goes to the next offset, if there is one. Not inlined: the nests of most tensors collapse to none, and this one
    /// copy serves all kernels.
    #[inline(never)]
    fn advance(&mut self) -> bool {
        for (l, c) in self.loops.iter().zip(&mut self.coordinates).rev() {
            *c += 1;
            self.offset += l.stride;
            if *c < l.size {
                return true;
            }
            // Back to the start of this loop; the next slower one advances.
            self.offset -= l.stride * l.size as isize;
            *c = 0;
        }
        false
    }
}

impl Iterator for StridedIter<'_> {
    type Item = isize;

    #[inline(always)]
    fn next(&mut self) -> Option<isize> {
        if self.done {
            return None;
        }
        let here = self.offset;
        self.done = self.loops.is_empty() || !self.advance();
        Some(here)
    }
}

/// The offset that a [`StridedIter`] over `loops` reaches at `position`, found without walking.
///
/// ```
/// use argreduce_kernels::{LoopDim, offset_at};
/// let nest = [LoopDim { size: 2, stride: 10 }, LoopDim { size: 3, stride: -1 }];
/// assert_eq!(offset_at(&nest, 5), 8);
/// ```
#[inline]
pub fn offset_at(loops: &[LoopDim], mut position: usize) -> isize {
    let mut offset = 0;
    for (depth, l) in loops.iter().enumerate().rev() {
        // The slowest loop needs no division, and most nests have only that one.
        let (coordinate, rest) = if depth == 0 { (position, 0) } else { (position % l.size, position / l.size) };
        offset += coordinate as isize * l.stride;
        position = rest;
    }
    offset
}

/// The reduced loops as segments of the fastest one, each cut to the room that the caller has.
pub(crate) struct SegmentIter<'a> {
    slower: StridedIter<'a>,
    pub(crate) fastest: LoopDim,
    /// Where the rest of the current segment starts, in elements, and how long it is.
    offset: isize,
    left: usize,
    /// What to prefetch meanwhile, if anything: as many bytes as are copied, or of lanes at one distance, the same
    /// elements of the lanes that start there.
    pub(crate) prefetch_cursor: Option<PrefetchCursor>,
}

impl<'a> SegmentIter<'a> {
    #[inline(always)]
    pub(crate) fn new(args: &KernelArgs<'a>, prefetch_cursor: Option<PrefetchCursor>) -> Self {
        let (fastest, slower) = args.split_reduced();
        SegmentIter { prefetch_cursor, ..SegmentIter::of_loops(slower, fastest) }
    }

    /// The segments of any loops.
    #[inline(always)]
    pub(crate) fn of_loops(slower: &'a [LoopDim], fastest: LoopDim) -> Self {
        SegmentIter { slower: StridedIter::new(slower), fastest, offset: 0, left: 0, prefetch_cursor: None }
    }

    /// The offset and length of the next segment, of at most `max_len` elements; `None` at the end, or without room.
    #[inline(always)]
    pub(crate) fn next(&mut self, max_len: usize) -> Option<(isize, usize)> {
        if max_len == 0 {
            return None;
        }
        if self.left == 0 {
            (self.offset, self.left) = (self.slower.next()?, self.fastest.size);
        }
        let (offset, len) = (self.offset, max_len.min(self.left));
        self.offset += len as isize * self.fastest.stride;
        self.left -= len;
        Some((offset, len))
    }
}
