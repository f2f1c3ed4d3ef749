//! AMD's cores from Zen 5 on.

use super::generic::GENERIC;
use super::table::{ColumnTuning, HalfVectorTuning, PrefetchTuning, Tuning, WorkingSet};
use crate::prefetch::Hint;

pub(super) static TUNING: Tuning = Tuning {
    name: "zen5",
    prefetch: PrefetchTuning { sequential: true, hint: Hint::L1, far_from: WorkingSet::Dram, ..GENERIC.prefetch },
    columns: ColumnTuning { row_by_row: true, ..GENERIC.columns },
    half_vectors: HalfVectorTuning { columns_beyond_l3: true, ..GENERIC.half_vectors },
    ..GENERIC
}
.checked();
