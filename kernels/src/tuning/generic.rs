//! Cores that nobody has measured, of any architecture: what can hardly be wrong. Hardware prefetchers are left alone,
//! few rows are read side by side, and nothing is read in several streams.

use super::table::{
    ColumnTuning, GatherTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SMALLEST_L2_BYTES, SelectTuning, Tuning,
};
use crate::memory::prefetch::Hint;

pub(super) static TUNING: Tuning = Tuning {
    name: "generic",
    prefetch: PrefetchTuning {
        sequential: false,
        hint: Hint::L2,
        min_beyond_l2_bytes: SMALLEST_L2_BYTES,
        min_memory_bytes: 16 << 20,
    },
    rows: RowTuning { read_streams: 1, stream_bytes: 2 << 10, stream_distance: 0 },
    columns: ColumnTuning::COMMON,
    gather: GatherTuning::COMMON,
    half_vectors: HalfVectorTuning {
        rows_beyond_l2: false,
        columns_beyond_l3: false,
        gathers_beyond_l2: false,
        small_gathers: false,
    },
    select: SelectTuning::COMMON,
}
.checked();
