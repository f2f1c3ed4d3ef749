//! Intel's cores. All was measured on Granite Rapids.

use super::table::{
    ColumnTuning, GatherTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SMALLEST_L2_BYTES, SelectTuning, Tuning,
};
use crate::memory::prefetch::Hint;

/// By what [`with_far_bytes`] takes, in rising order: the smallest L2, then three quarters of an L2 of 1, 1.25, 2, 3
/// and 4 MiB.
pub(super) static TUNINGS: [Tuning; 6] = [
    with_far_bytes(SMALLEST_L2_BYTES),
    with_far_bytes(768 << 10),
    with_far_bytes(960 << 10),
    with_far_bytes(1536 << 10),
    with_far_bytes(2304 << 10),
    with_far_bytes(3 << 20),
];

const fn with_far_bytes(min_far_bytes: usize) -> Tuning {
    Tuning {
        name: "intel",
        prefetch: PrefetchTuning { sequential: true, hint: Hint::L2, min_far_bytes, min_memory_bytes: 16 << 20 },
        rows: RowTuning { read_streams: 6, stream_bytes: 512, stream_distance: 1 << 10 },
        columns: ColumnTuning {
            max_streams: 24,
            prefetch_next_rows: true,
            max_tall_block_bytes: 128 << 10,
            ..ColumnTuning::COMMON
        },
        gather: GatherTuning::COMMON,
        half_vectors: HalfVectorTuning {
            far_rows: false,
            far_columns: false,
            far_gathers: false,
            small_gathers: false,
        },
        select: SelectTuning::COMMON,
    }
    .checked()
}
