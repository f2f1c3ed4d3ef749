//! What tables of tuning say of themselves.

use argreduce_kernels::{Tuning, WorkingSet};

/// Of more bytes, the working set is never a smaller one.
#[test]
fn working_sets_by_bytes() {
    for tuning in Tuning::ALL {
        let beyond_l2 = tuning.prefetch.min_beyond_l2_bytes;
        assert_eq!(tuning.working_set(0), WorkingSet::L2, "{}", tuning.name);
        assert_eq!(tuning.working_set(beyond_l2 - 1), WorkingSet::L2, "{}", tuning.name);
        assert_eq!(tuning.working_set(beyond_l2), WorkingSet::Llc, "{}", tuning.name);
        assert_eq!(tuning.working_set((16 << 20) - 1), WorkingSet::Llc, "{}", tuning.name);
        assert_eq!(tuning.working_set(16 << 20), WorkingSet::Dram, "{}", tuning.name);
        assert_eq!(tuning.working_set(usize::MAX), WorkingSet::Dram, "{}", tuning.name);
        let by_bytes = (0..60).map(|n| tuning.working_set(1 << n));
        assert!(by_bytes.is_sorted(), "{}", tuning.name);
    }
}
