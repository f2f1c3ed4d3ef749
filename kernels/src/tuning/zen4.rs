//! AMD's cores from Zen to Zen 4, and those that others make by its licence.

use super::table::{ColumnTuning, GatherTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SelectTuning, Tuning};

pub(super) static TUNING: Tuning = Tuning {
    name: "zen4",
    prefetch: PrefetchTuning::COMMON,
    rows: RowTuning { read_streams: 3, stream_bytes: 2 << 10, stream_distance: 0 },
    columns: ColumnTuning { max_streams: 12, row_by_row: true, ..ColumnTuning::COMMON },
    gather: GatherTuning::COMMON,
    half_vectors: HalfVectorTuning {
        rows_beyond_l2: true,
        columns_beyond_l3: false,
        gathers_beyond_l2: true,
        small_gathers: true,
    },
    select: SelectTuning::COMMON,
}
.checked();
