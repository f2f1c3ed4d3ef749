//! What a table holds. No CPU is named here.

use crate::prefetch::Hint;

/// What is known to be fast on a microarchitecture: one of the tables of this crate, whose numbers were checked when it
/// was compiled. Kernels rely on that, so there are no others: no table can be made elsewhere, or copied and changed.
///
/// ```compile_fail,E0507
/// let mut tuning = *argreduce_kernels::Tuning::current();
/// tuning.rows.read_streams = 0;
/// ```
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tuning {
    /// Of the microarchitecture.
    pub name: &'static str,
    /// When to prefetch, and how.
    pub prefetch: PrefetchTuning,
    /// Outputs whose elements are neighbours.
    pub rows: RowTuning,
    /// Outputs that are neighbours.
    pub columns: ColumnTuning,
    /// Which kernels vectors of half the width take, where an ISA has wider ones.
    pub half_vectors: HalfVectorTuning,
}

/// The smallest cache that likely holds all elements of a plan: its working set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
pub enum WorkingSet {
    /// The L2 cache of a core, or its L1 cache.
    #[default]
    L2,
    /// The last-level cache.
    Llc,
    /// None: the elements are in memory.
    Dram,
}

/// When to prefetch, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefetchTuning {
    /// Whether to prefetch elements that follow each other in memory. Where hardware prefetchers do better alone, only
    /// discontinuities are prefetched.
    pub sequential: bool,
    /// The cache that elements beyond L2 are prefetched into.
    pub hint: Hint,
    /// How many bytes ahead to prefetch from L2 into L1 in long rows, by ISAs that gain by it; 0 for nothing. What is
    /// that near goes into L1 wherever it comes from.
    pub l2_distance_bytes: usize,
    /// The fewest bytes that are taken to be beyond L2.
    pub min_beyond_l2_bytes: usize,
    /// From which working set on elements are far: where they come so late that it pays to read several streams at a
    /// time, and long runs of each row. Where the hardware prefetchers do better alone, that is beyond L2.
    pub far_from: WorkingSet,
}

/// Outputs whose elements are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTuning {
    /// In how many streams a huge row beyond L2 is read: more than one where a single one leaves memory idle. At most
    /// [`MAX_READ_STREAMS`].
    pub read_streams: usize,
    /// The bytes that are read of a stream before the next one. A power of two, and at least [`MIN_STREAM_BYTES`].
    pub stream_bytes: usize,
    /// How many bytes ahead to prefetch in each stream, where [sequential](PrefetchTuning::sequential) elements are
    /// prefetched.
    pub stream_distance: usize,
}

/// Outputs that are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnTuning {
    /// The most rows beyond L2 that are read side by side: as many as hardware prefetchers follow.
    pub max_streams: usize,
    /// Whether to read long rows beyond L2 one after another, from end to end of a panel, and not eight side by side.
    pub row_by_row: bool,
    /// Whether to prefetch the rows that come next, and not what follows along the same rows.
    pub prefetch_next_rows: bool,
    /// The most bytes of contiguous rows beyond L2, none wider than a tile and so many that they are row-blocked, that
    /// are reduced in one pass.
    pub max_row_blocked_bytes: usize,
}

/// Which kernels vectors of half the width take, where an ISA has wider ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfVectorTuning {
    /// Long rows beyond L2.
    pub rows_beyond_l2: bool,
    /// Columns of long rows beyond the last-level cache.
    pub columns_beyond_l3: bool,
    /// What is gathered from beyond L2.
    pub gathers_beyond_l2: bool,
    /// Integers of at most so many bytes, wherever they are gathered from.
    pub max_gathered_bytes: usize,
}

/// The most streams that a row is read in. See docs/tuning.md#rowsread_streams.
pub const MAX_READ_STREAMS: usize = 6;

/// The longest block of any ISA: eight vectors of the longest.
pub const MIN_STREAM_BYTES: usize = 512;

/// The shortest huge rows, in bytes: a row alone counts as beyond L2 from there on. Not measured.
pub(crate) const MIN_HUGE_ROW_BYTES: usize = 1 << 20;

/// The most rows that a lane of 8 bits can count, as it does in one pass over columns.
const MAX_COUNTED_ROWS: usize = u8::MAX as usize;

/// The fewest bytes that are taken to be beyond the last-level cache: see docs/tuning.md#min_memory_bytes.
const MIN_MEMORY_BYTES: usize = 16 << 20;

/// The smallest L2 cache of current cores. See docs/tuning.md#prefetchmin_beyond_l2_bytes.
pub(super) const SMALLEST_L2_BYTES: usize = 512 << 10;

impl Tuning {
    /// Where `bytes` bytes likely are, if they were read not long ago.
    ///
    /// ```
    /// use argreduce_kernels::{Tuning, WorkingSet};
    /// assert_eq!(Tuning::current().working_set(4096), WorkingSet::L2);
    /// assert_eq!(Tuning::current().working_set(1 << 30), WorkingSet::Dram);
    /// ```
    #[inline(never)]
    pub const fn working_set(&self, bytes: usize) -> WorkingSet {
        match bytes {
            _ if bytes < self.prefetch.min_beyond_l2_bytes => WorkingSet::L2,
            _ if bytes < MIN_MEMORY_BYTES => WorkingSet::Llc,
            _ => WorkingSet::Dram,
        }
    }

    /// Whether elements are [far](PrefetchTuning::far_from).
    #[inline(always)]
    pub fn is_far(&self, working_set: WorkingSet) -> bool {
        working_set >= self.prefetch.far_from
    }

    /// Whether to prefetch what is read next; `jumps` says that it does not follow in memory. What L2 holds is not
    /// prefetched: that costs more than it gains.
    #[inline(always)]
    pub(crate) fn should_prefetch(&self, working_set: WorkingSet, jumps: bool) -> bool {
        working_set != WorkingSet::L2 && (jumps || self.prefetch.sequential)
    }

    /// Whether a huge row is read in several streams.
    #[inline(always)]
    pub(crate) fn has_read_streams(&self, working_set: WorkingSet) -> bool {
        self.rows.read_streams > 1 && self.is_far(working_set)
    }

    /// This table, if its numbers are such as kernels can take; otherwise it does not compile. Each table is the result
    /// of this.
    pub(super) const fn checked(self) -> Tuning {
        let RowTuning { read_streams, stream_bytes, .. } = self.rows;
        assert!(1 <= read_streams && read_streams <= MAX_READ_STREAMS, "there is room for the state of each stream");
        assert!(stream_bytes.is_power_of_two() && stream_bytes >= MIN_STREAM_BYTES, "a stream reads whole blocks");
        assert!(read_streams * stream_bytes <= MIN_HUGE_ROW_BYTES, "a huge row has a part for each stream");
        assert!(self.columns.max_streams <= MAX_COUNTED_ROWS, "one pass counts its rows in a lane");
        let distance = self.prefetch.l2_distance_bytes;
        assert!(distance == 0 || distance < self.rows.stream_distance, "what is beyond L2 is prefetched further ahead");
        assert!(self.prefetch.min_beyond_l2_bytes <= MIN_MEMORY_BYTES, "caches are beyond each other");
        assert!(!matches!(self.prefetch.far_from, WorkingSet::L2), "what L2 holds is near");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use WorkingSet::{Dram, L2, Llc};

    /// What each table answers, of what L2 holds, the last-level cache, and memory. No answer of a kernel depends on
    /// it, so that no other test sees a table change.
    #[test]
    fn answers_by_table() {
        let ask = |question: &dyn Fn(&Tuning, WorkingSet) -> bool| {
            Tuning::ALL.map(|tuning| (tuning.name, [L2, Llc, Dram].map(|working_set| question(tuning, working_set))))
        };
        let tables = |[zen2, zen4, zen5, intel, generic]: [[bool; 3]; 5]| {
            [("zen2", zen2), ("zen4", zen4), ("zen5", zen5), ("intel", intel), ("generic", generic)]
        };
        let (never, beyond_l2, from_memory) = ([false; 3], [false, true, true], [false, false, true]);
        assert_eq!(ask(&|tuning, of| tuning.should_prefetch(of, true)), tables([beyond_l2; 5]));
        let sequential = tables([never, never, beyond_l2, beyond_l2, never]);
        assert_eq!(ask(&|tuning, of| tuning.should_prefetch(of, false)), sequential);
        assert_eq!(
            ask(&|tuning, of| tuning.is_far(of)),
            tables([beyond_l2, beyond_l2, from_memory, from_memory, beyond_l2])
        );
        let several_streams = tables([never, beyond_l2, never, from_memory, never]);
        assert_eq!(ask(&|tuning, of| tuning.has_read_streams(of)), several_streams);
    }
}
