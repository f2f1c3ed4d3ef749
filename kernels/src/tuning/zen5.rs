//! AMD's cores from Zen 5 on.

use super::table::{
    ColumnTuning, GatherTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SMALLEST_L2_BYTES, SelectTuning, Tuning,
};
use crate::memory::prefetch::Hint;

pub(super) static TUNING: Tuning = Tuning {
    name: "zen5",
    prefetch: PrefetchTuning {
        sequential: true,
        hint: Hint::L1,
        min_beyond_l2_bytes: SMALLEST_L2_BYTES,
        min_memory_bytes: 16 << 20,
    },
    rows: RowTuning { read_streams: 1, stream_bytes: 2 << 10, stream_distance: 0 },
    columns: ColumnTuning { row_by_row: true, ..ColumnTuning::COMMON },
    gather: GatherTuning::COMMON,
    half_vectors: HalfVectorTuning {
        rows_beyond_l2: false,
        columns_beyond_l3: true,
        gathers_beyond_l2: false,
        small_gathers: false,
    },
    select: SelectTuning::COMMON,
}
.checked();
