//! Intel's cores. All was measured on Granite Rapids.

use super::generic::GENERIC;
use super::table::{ColumnTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SMALLEST_L2_BYTES, Tuning, WorkingSet};

/// By what [`with_l2_limit`] takes, in rising order: the smallest L2, then three quarters of an L2 of 1, 1.25, 2, 3
/// and 4 MiB.
pub(super) static TUNINGS: [Tuning; 6] = [
    with_l2_limit(SMALLEST_L2_BYTES),
    with_l2_limit(768 << 10),
    with_l2_limit(960 << 10),
    with_l2_limit(1536 << 10),
    with_l2_limit(2304 << 10),
    with_l2_limit(3 << 20),
];

const fn with_l2_limit(min_beyond_l2_bytes: usize) -> Tuning {
    Tuning {
        name: "intel",
        prefetch: PrefetchTuning {
            sequential: true,
            l2_distance_bytes: 960,
            min_beyond_l2_bytes,
            far_from: WorkingSet::Dram,
            ..GENERIC.prefetch
        },
        rows: RowTuning { read_streams: 6, stream_bytes: 512, stream_distance: 1 << 10 },
        columns: ColumnTuning {
            max_streams: 24,
            prefetch_next_rows: true,
            max_row_blocked_bytes: 128 << 10,
            ..GENERIC.columns
        },
        half_vectors: HalfVectorTuning { rows_beyond_l2: true, max_gathered_bytes: 1, ..GENERIC.half_vectors },
        ..GENERIC
    }
    .checked()
}
