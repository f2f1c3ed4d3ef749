//! Cores that nobody has measured, of any architecture: what can hardly be wrong. Hardware prefetchers are left alone,
//! few rows are read side by side, nothing is read in several streams, and L2 is as small as any.
//!
//! The other tables say where they differ from this one.

use super::table::{ColumnTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SMALLEST_L2_BYTES, Tuning, WorkingSet};
use crate::prefetch::Hint;

pub(super) static TUNING: Tuning = GENERIC.checked();

pub(super) const GENERIC: Tuning = Tuning {
    name: "generic",
    prefetch: PrefetchTuning {
        sequential: false,
        hint: Hint::L2,
        l2_distance_bytes: 0,
        min_beyond_l2_bytes: SMALLEST_L2_BYTES,
        far_from: WorkingSet::Llc,
    },
    rows: RowTuning { read_streams: 1, stream_bytes: 2 << 10, stream_distance: 0 },
    columns: ColumnTuning {
        max_streams: 8,
        row_by_row: false,
        prefetch_next_rows: false,
        max_row_blocked_bytes: 2 << 10,
    },
    half_vectors: HalfVectorTuning {
        rows_beyond_l2: false,
        columns_beyond_l3: false,
        gathers_beyond_l2: false,
        max_gathered_bytes: 0,
    },
};
