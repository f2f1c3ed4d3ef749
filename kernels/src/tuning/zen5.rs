//! AMD's cores from Zen 5 on.

use super::table::{ColumnTuning, GatherTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SelectTuning, Tuning};
use crate::memory::prefetch::Hint;

pub(super) static TUNING: Tuning = Tuning {
    name: "zen5",
    prefetch: PrefetchTuning { sequential: true, hint: Hint::L1, ..PrefetchTuning::COMMON },
    rows: RowTuning { read_streams: 1, stream_bytes: 2 << 10, stream_distance: 0 },
    columns: ColumnTuning { row_by_row: true, ..ColumnTuning::COMMON },
    gather: GatherTuning::COMMON,
    half_vectors: HalfVectorTuning { columns_beyond_l3: true, ..HalfVectorTuning::NONE },
    select: SelectTuning::COMMON,
}
.checked();
