//! Cores that nobody has measured, of any architecture: what can hardly be wrong. Hardware prefetchers are left alone,
//! few rows are read side by side, and nothing is done in several places at once.

use super::table::{
    ColumnTuning, GatherTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SMALLEST_L2_BYTES, SelectTuning, Tuning,
};
use crate::memory::prefetch::Hint;

pub(super) static TUNING: Tuning = Tuning {
    name: "generic",
    prefetch: PrefetchTuning {
        sequential: false,
        hint: Hint::L2,
        min_far_bytes: SMALLEST_L2_BYTES,
        min_memory_bytes: 16 << 20,
    },
    rows: RowTuning { read_streams: 1, stream_bytes: 2 << 10, stream_distance: 0 },
    columns: ColumnTuning::COMMON,
    gather: GatherTuning::COMMON,
    half_vectors: HalfVectorTuning { far_rows: false, far_columns: false, far_gathers: false, small_gathers: false },
    select: SelectTuning::COMMON,
}
.checked();
