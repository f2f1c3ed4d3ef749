//! How a run is cut into chunks: how long they are, and where they lie. Nothing here looks at elements.

use super::segment::Run;
use crate::memory::prefetch::LINE;
use crate::order::Order;
use crate::simd::ops::Lanes;
use crate::simd::token::Token;

/// Vectors in a chunk, by `IsaTuning::has_long_chunks`: more where a CPU loads about as many vectors per cycle as it
/// has operations for, because the operations of a chunk then weigh more; fewer where vectors are long, because many
/// a row has no more of them.
pub(super) const SHORT: usize = 4;
pub(super) const LONG: usize = 8;

/// The elements in a chunk, and so the fewest of a run.
#[inline(always)]
pub(super) const fn chunk<O: Order>() -> usize {
    const { assert!(SHORT.is_power_of_two() && LONG.is_power_of_two() && O::Simd::LANES.is_power_of_two()) };
    (if has_long_chunks::<O>() { LONG } else { SHORT }) * O::Simd::LANES
}

/// Also where each chunk waits for the one before for as long as four vectors take to load.
pub(super) const fn has_long_chunks<O: Order>() -> bool {
    O::Simd::TUNING.has_long_chunks || !O::Simd::HAS_MAX
}

/// From how many chunks on runs are [aligned](Chunks::aligned): a vector of 64 bytes that is not lies in two cache
/// lines, and one chunk more is soon paid for.
const SHORTEST_ALIGNED: usize = 9;

/// Where chunks lie, by their numbers in the order of visiting.
pub(super) trait Places: Copy {
    type Lane: Copy;

    /// How many there are.
    fn count(self) -> usize;

    /// The position of the first element of a chunk, and the chunk.
    fn place(self, n: usize) -> (usize, Run<Self::Lane>);
}

/// A run as chunks of so many elements; the last one reaches back.
#[derive(Clone, Copy)]
pub(super) struct Chunks<L> {
    pub(super) run: Run<L>,
    pub(super) chunk: usize,
    /// Whether all but the first may reach back, too, and how far.
    pub(super) may_shift: bool,
    pub(super) shift: usize,
}

/// Whether chunks may be [aligned](Chunks::aligned).
pub(super) const fn may_shift<O: Order>() -> bool {
    O::Simd::LANES * size_of::<O::Lane>() == LINE
}

impl<L: Copy> Chunks<L> {
    /// Of a run that is at least a chunk.
    #[inline(always)]
    pub(super) fn new<O: Order<Lane = L>>(_: O, run: Run<L>) -> Self {
        Chunks::of_length(run, chunk::<O>())
    }

    /// So many times as long.
    #[inline(always)]
    pub(super) fn longer(self, times: usize) -> Self {
        debug_assert!(times.is_power_of_two());
        Chunks { chunk: self.chunk * times, ..self }
    }

    /// Of so many elements each: a power of two, as whoever calls this asserts when it is compiled.
    #[inline(always)]
    pub(super) fn of_length(run: Run<L>, chunk: usize) -> Self {
        debug_assert!(chunk.is_power_of_two());
        Chunks { run, chunk, may_shift: false, shift: 0 }
    }

    /// The same, but if asked for, the run is long, and vectors as long as cache lines, all chunks between the first
    /// and the last begin where lines do. (Not against the direction of memory.)
    #[inline(always)]
    pub(super) fn aligned<O: Order<Lane = L>>(order: O, run: Run<L>, aligns: bool) -> Self {
        let (chunks, lanes) = (Chunks::new(order, run), O::Simd::LANES);
        let may_shift = const { may_shift::<O>() } && aligns && !run.reversed;
        let shifts = may_shift && run.len >= SHORTEST_ALIGNED * chunks.chunk;
        Chunks { may_shift, shift: if shifts { run.at.addr() / size_of::<L>() % lanes } else { 0 }, ..chunks }
    }

    /// From one chunk to the next, up or down, because the direction is not known when this is compiled.
    #[inline(always)]
    pub(super) fn step(self) -> isize {
        if self.run.reversed { -(self.chunk as isize) } else { self.chunk as isize }
    }

    #[inline(always)]
    pub(super) fn start_of_first(self) -> *const L {
        self.run.part(0, self.chunk).at
    }

    #[inline(always)]
    pub(super) fn last(self) -> Run<L> {
        self.run.part(self.run.len - self.chunk, self.chunk)
    }
}

impl<L: Copy> Places for Chunks<L> {
    type Lane = L;

    #[inline(always)]
    fn count(self) -> usize {
        // (Chunks are powers of two: a division would take longer than some of them.)
        (self.run.len + self.shift + self.chunk - 1) >> self.chunk.trailing_zeros()
    }

    #[inline(always)]
    fn place(self, n: usize) -> (usize, Run<L>) {
        let start = (n * self.chunk).saturating_sub(self.shift).min(self.run.len - self.chunk);
        (start, self.run.part(start, self.chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunks, Places, Run};
    use crate::tuning::Tuning;

    fn count(len: usize, chunk: usize) -> usize {
        Chunks::of_length(Run::new(core::ptr::null::<u8>(), len, false, Tuning::current()), chunk).count()
    }

    #[test]
    fn counts_the_last_chunk() {
        assert_eq!([512, 513, 1024, 1025].map(|len| count(len, 512)), [1, 2, 2, 3]);
    }

    /// Chunks are counted by a shift, which is wrong for other numbers.
    #[test]
    #[should_panic(expected = "is_power_of_two")]
    fn chunks_are_powers_of_two() {
        count(1536, 768);
    }
}
