//! What a table holds. No CPU is named here.

use crate::memory::prefetch::{Hint, Prefetch};

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
    /// Outputs whose elements are gathered.
    pub gather: GatherTuning,
    /// Which kernels vectors of half the width take, where an ISA has wider ones.
    pub half_vectors: HalfVectorTuning,
    /// From where on one strategy is faster than another.
    pub select: SelectTuning,
}

/// When to prefetch, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefetchTuning {
    /// Whether to prefetch elements that follow each other in memory. Where hardware prefetchers do better alone, only
    /// discontinuities are prefetched.
    pub sequential: bool,
    /// The cache that elements beyond L2 are prefetched into.
    pub hint: Hint,
    /// The fewest bytes that are taken to be beyond L2.
    pub min_beyond_l2_bytes: usize,
    /// The fewest bytes that are taken to be beyond the last-level cache, too.
    pub min_memory_bytes: usize,
}

/// Outputs whose elements are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTuning {
    /// In how many streams a long row beyond L2 is read: more than one where a single one leaves memory idle. At most
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
    /// The most bytes of tall blocks of rows beyond L2, none wider than a tile, that are reduced in one pass.
    pub max_tall_block_bytes: usize,
    /// The most bytes of blocks of few rows beyond L2 that are reduced in one pass.
    pub max_block_bytes: usize,
    /// How far ahead to prefetch along rows that are long and not contiguous.
    pub row_prefetch_bytes: usize,
    /// Rows of interleaved segments are streamed if they have more bytes. Of shorter ones, hardware prefetchers can
    /// follow eight at a time.
    pub min_streaming_bytes: usize,
    /// The most bytes of contiguous rows that are reduced in one pass even where longer ones would be streamed.
    pub max_one_pass_bytes: usize,
    /// The most bytes that many rows span which are reduced in one pass.
    pub max_resident_bytes: usize,
    /// How many bytes of narrow columns beyond L2 are prefetched at a time.
    pub narrow_prefetch_bytes: usize,
}

/// Outputs whose elements are gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherTuning {
    /// The longest lanes, in bytes, that hardware prefetchers follow.
    pub max_followed_bytes: usize,
    /// How far apart lanes may be, in elements, for all memory between them to be prefetched.
    pub max_prefetched_step: isize,
    /// The widest runs of outputs, in bytes, that are transposed in 128-bit blocks: half of it for few rows of 8 bits.
    pub max_run_bytes: usize,
    /// The widest runs that are transposed by perfect shuffles, in outputs: their positions have to be interleaved
    /// back, too.
    pub max_shuffled_width: usize,
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
    /// Integers of 8 and 16 bits that are gathered.
    pub small_gathers: bool,
}

/// From where on one strategy is faster than another. Where two curves cross; the same on all CPUs so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectTuning {
    /// The longest rows of several, in bytes, that vectors of half the width take.
    pub max_half_vector_row_bytes: usize,
    /// The shortest rows of columns, in bytes, that they take where memory is slower than either.
    pub min_half_vector_columns_row_bytes: usize,
    /// Up to how many rows columns that are narrow in whole vectors, and fill those of half the width, take the latter.
    pub max_half_vector_column_rows: usize,
    /// The fewest bytes of narrow columns that take whole vectors, not those of half the width.
    pub min_full_vector_narrow_bytes: usize,
    /// The fewest bytes of narrow columns that are not gathered: half of it for rows of half a vector and more.
    pub min_narrow_bytes: usize,
    /// The fewest rows of columns of one vector that are not gathered.
    pub min_column_rows: usize,
    /// The fewest rows that are transposed.
    pub min_transposed_rows: usize,
    /// The fewest bytes of rows that are transposed where they are not much slower one by one.
    pub min_transposed_bytes: usize,
    /// The longest rows of 16-bit floats that are transposed, in elements.
    pub max_transposed_f16_len: usize,
}

/// The most streams that a row is read in.
pub const MAX_READ_STREAMS: usize = 6;

/// The longest block of any ISA: eight vectors of the longest.
pub const MIN_STREAM_BYTES: usize = 512;

/// The shortest long rows, in bytes: see docs/tuning.md#a-single-row-is-long-from-1-mib-on.
pub(crate) const MIN_LONG_ROW_BYTES: usize = 1 << 20;

/// The most rows that a lane of 8 bits can count, as it does in one pass over columns.
const MAX_COUNTED_ROWS: usize = u8::MAX as usize;

/// The longest wide row of narrow columns: two vectors of the longest.
pub(crate) const MAX_WIDE_ROW_BYTES: usize = 128;

/// The widest runs of outputs of which the buffer for gathered elements holds eight rows, one for each lane.
const MAX_BUFFERED_RUN_BYTES: usize = 32;

/// The smallest L2 cache of current cores.
pub(super) const SMALLEST_L2_BYTES: usize = 512 << 10;

impl Tuning {
    /// What to prefetch of `bytes` bytes.
    ///
    /// ```
    /// use argreduce_kernels::{Prefetch, Tuning};
    /// assert_eq!(Tuning::current().prefetch(4096), Prefetch::Nothing);
    /// ```
    #[inline(never)]
    pub const fn prefetch(&self, bytes: usize) -> Prefetch {
        let PrefetchTuning { sequential, min_beyond_l2_bytes, min_memory_bytes, .. } = self.prefetch;
        match sequential {
            _ if bytes < min_beyond_l2_bytes => Prefetch::Nothing,
            false => Prefetch::Jumps,
            true if bytes < min_memory_bytes => Prefetch::FromL3,
            true => Prefetch::Everything,
        }
    }

    /// Whether a long row is read in several streams.
    #[inline(always)]
    pub(crate) fn has_read_streams(&self, prefetch: Prefetch) -> bool {
        self.rows.read_streams > 1 && matches!(prefetch, Prefetch::Jumps | Prefetch::Everything)
    }

    /// This table, if its numbers are such as kernels can take; otherwise it does not compile. Each table is the result
    /// of this.
    pub(super) const fn checked(self) -> Tuning {
        let RowTuning { read_streams, stream_bytes, .. } = self.rows;
        assert!(1 <= read_streams && read_streams <= MAX_READ_STREAMS, "there is room for the state of each stream");
        assert!(stream_bytes.is_power_of_two() && stream_bytes >= MIN_STREAM_BYTES, "a stream reads whole blocks");
        assert!(read_streams * stream_bytes <= MIN_LONG_ROW_BYTES, "a long row has a part for each stream");
        assert!(self.columns.max_streams <= MAX_COUNTED_ROWS, "one pass counts its rows in a lane");
        assert!(self.columns.narrow_prefetch_bytes >= MAX_WIDE_ROW_BYTES, "a wide row at a time");
        assert!(self.gather.max_run_bytes <= MAX_BUFFERED_RUN_BYTES, "the buffer holds eight rows of runs");
        assert!(self.prefetch.min_beyond_l2_bytes <= self.prefetch.min_memory_bytes, "caches are beyond each other");
        self
    }
}
