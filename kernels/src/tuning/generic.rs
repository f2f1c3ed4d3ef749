//! Cores that nobody has measured, of any architecture: what can hardly be wrong. Hardware prefetchers are left alone,
//! few rows are read side by side, and nothing is read in several streams.

use super::table::{ColumnTuning, GatherTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SelectTuning, Tuning};

pub(super) static TUNING: Tuning = Tuning {
    name: "generic",
    prefetch: PrefetchTuning::COMMON,
    rows: RowTuning { read_streams: 1, stream_bytes: 2 << 10, stream_distance: 0 },
    columns: ColumnTuning::COMMON,
    gather: GatherTuning::COMMON,
    half_vectors: HalfVectorTuning::NONE,
    select: SelectTuning::COMMON,
}
.checked();
