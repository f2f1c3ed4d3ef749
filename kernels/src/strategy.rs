//! The five strategies as values, and which calls they take. Knows nothing of how they work, and not which one is
//! fastest: the facade chooses.

use crate::memory::args::LoopDim;

/// How a kernel lays elements out in vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Along one reduced loop over neighbours: one output at a time. Takes no other call: see [`Strategy::takes`].
    Rows,
    /// Along any reduced loops, segment after segment: one output at a time, or some interleaved. Huge segments
    /// beyond L2 are read in several streams.
    SegmentedRows,
    /// Across neighbouring outputs: each lane is one. Takes only calls whose inner loop is at least a vector of
    /// neighbours.
    Columns,
    /// Across neighbouring outputs that are at most a vector, and have many contiguous rows: several rows share a
    /// vector. Takes no other calls.
    NarrowColumns,
    /// Across any outputs: elements are gathered first.
    GatheredColumns,
}

crate::names!(Strategy: Rows = "rows", SegmentedRows = "segmented rows", Columns = "columns",
    NarrowColumns = "narrow columns", GatheredColumns = "gathered columns");

impl Strategy {
    /// Whether the kernel answers calls of such loops at all; `lanes` is the length of a vector.
    #[inline(always)]
    pub fn takes(self, inner: LoopDim, reduced: &[LoopDim], lanes: usize) -> bool {
        match (self, reduced) {
            (Strategy::Rows, [fastest]) => fastest.stride.abs() == 1,
            (Strategy::Rows, _) => false,
            (Strategy::Columns, _) => inner.stride == 1 && inner.size >= lanes,
            (Strategy::NarrowColumns, [fastest]) => {
                let is_contiguous = inner.stride == 1 && fastest.stride.unsigned_abs() == inner.size;
                (2..=lanes).contains(&inner.size) && is_contiguous && fastest.size >= rows_per_wide(inner.size, lanes)
            }
            (Strategy::NarrowColumns, _) => false,
            (Strategy::SegmentedRows | Strategy::GatheredColumns, _) => true,
        }
    }

    /// Whether the kernel then loads vectors from where the elements are.
    #[inline(always)]
    pub fn is_in_place(self, reduced: &[LoopDim]) -> bool {
        let lies_in_place = |fastest: &LoopDim| fastest.stride.abs() == 1 && fastest.size >= MIN_SEGMENT_LEN;
        match self {
            Strategy::Rows | Strategy::Columns | Strategy::NarrowColumns => true,
            // Shorter segments are gathered.
            Strategy::SegmentedRows => reduced.last().is_some_and(lies_in_place),
            Strategy::GatheredColumns => false,
        }
    }

    /// Whether it does, or gathers each output well, of elements of `size` bytes: by a few shuffles, or where the next
    /// element is nearer than the next output of the `inner` loop; short ones if both is so, and several are gathered
    /// at a time. They are so `in_batches` unless code is to be small.
    #[inline(always)]
    pub fn is_near(self, inner: LoopDim, reduced: &[LoopDim], size: usize, in_batches: bool) -> bool {
        let is_gathered_well = |fastest: &LoopDim| {
            let step = fastest.stride.unsigned_abs();
            let (is_shuffled, is_nearer) =
                ((2..=MAX_SHUFFLED_STEP).contains(&step), step < inner.stride.unsigned_abs());
            match fastest.size {
                MIN_GATHERED_LEN.. => is_shuffled || is_nearer,
                len => {
                    let is_enough = len >= MIN_BATCHED_LEN.max(MIN_BATCHED_BYTES / size);
                    in_batches && reduced.len() == 1 && is_enough && is_shuffled && is_nearer
                }
            }
        };
        self.is_in_place(reduced) || self == Strategy::SegmentedRows && reduced.last().is_some_and(is_gathered_well)
    }
}

/// The shortest segments, in elements, that are read in place: a shorter one costs as much time as this one. See
/// docs/tuning.md#min_segment_len.
const MIN_SEGMENT_LEN: usize = 32;

/// The largest step from one element to the next for which `gather/copy.rs` has shuffles. See
/// docs/tuning.md#min_segment_len.
const MAX_SHUFFLED_STEP: usize = 4;

/// The fewest elements for which those shuffles pay, or to gather what is nearer along an output: fewer are faster side
/// by side. See docs/tuning.md#min_segment_len.
const MIN_GATHERED_LEN: usize = 192;

/// The same of shuffles for several outputs at a time. See docs/tuning.md#min_segment_len.
const MIN_BATCHED_LEN: usize = 24;

/// The same in bytes. See docs/tuning.md#min_segment_len.
const MIN_BATCHED_BYTES: usize = 48;

/// Vectors that the rows of narrow columns lie side by side in. Not measured.
pub(crate) const NARROW_VECTORS: usize = 2;

/// How many rows of `width` outputs lie side by side: as many as are whole in each vector, and one more that is in
/// both, if there is room for it and it is a third or a fifth of them.
pub(crate) const fn rows_per_wide(width: usize, lanes: usize) -> usize {
    let whole = lanes / width;
    if whole <= 2 { NARROW_VECTORS * lanes / width } else { NARROW_VECTORS * whole }
}
