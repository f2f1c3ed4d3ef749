//! Cores that nobody has measured, of any architecture: what can hardly be wrong. Hardware prefetchers are left alone,
//! few rows are read side by side, nothing is read in several streams, and L2 is as small as any.
//!
//! The other tables say where they differ from this one.

use super::table::{
    ColumnTuning, GatherTuning, HalfVectorTuning, PrefetchTuning, RowTuning, SMALLEST_L2_BYTES, SelectTuning, Tuning,
};
use crate::prefetch::Hint;

pub(super) static TUNING: Tuning = GENERIC.checked();

pub(super) const GENERIC: Tuning = Tuning {
    name: "generic",
    prefetch: PrefetchTuning {
        sequential: false,
        hint: Hint::L2,
        min_beyond_l2_bytes: SMALLEST_L2_BYTES,
        min_memory_bytes: 16 << 20,
    },
    rows: RowTuning { read_streams: 1, stream_bytes: 2 << 10, stream_distance: 0 },
    columns: ColumnTuning {
        max_streams: 8,
        row_by_row: false,
        prefetch_next_rows: false,
        max_tall_block_bytes: 2 << 10,
        max_block_bytes: 2 << 10,
        row_prefetch_bytes: 1 << 10,
        min_streaming_bytes: 384,
        max_one_pass_bytes: 1 << 10,
        max_resident_bytes: 256 << 10,
        narrow_prefetch_bytes: 1 << 10,
    },
    gather: GatherTuning { max_followed_bytes: 96, max_prefetched_step: 4, max_run_bytes: 24, max_shuffled_width: 4 },
    half_vectors: HalfVectorTuning {
        rows_beyond_l2: false,
        columns_beyond_l3: false,
        gathers_beyond_l2: false,
        small_gathers: false,
    },
    select: SelectTuning {
        max_half_vector_row_bytes: 32,
        min_half_vector_columns_row_bytes: 768,
        max_half_vector_column_rows: 24,
        min_full_vector_narrow_bytes: 2048,
        min_narrow_bytes: 1024,
        min_column_rows: 4,
        min_transposed_rows: 64,
        min_transposed_bytes: 1536,
        max_transposed_f16_len: 31,
    },
};
