//! AMD's cores from Zen 3 to Zen 4.

use super::generic::GENERIC;
use super::table::{ColumnTuning, HalfVectorTuning, RowTuning, Tuning};

pub(super) static TUNING: Tuning = ZEN4.checked();

pub(super) const ZEN4: Tuning = Tuning {
    name: "zen4",
    rows: RowTuning { read_streams: 3, ..GENERIC.rows },
    columns: ColumnTuning { max_streams: 12, row_by_row: true, ..GENERIC.columns },
    half_vectors: HalfVectorTuning {
        rows_beyond_l2: true,
        columns_beyond_l3: false,
        gathers_beyond_l2: true,
        max_gathered_bytes: 2,
    },
    ..GENERIC
};
