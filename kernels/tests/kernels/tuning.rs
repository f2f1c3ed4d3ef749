//! What tables of tuning say of themselves.

use argreduce_kernels::tuning::PrefetchTuning;
use argreduce_kernels::{Prefetch, Tuning};

/// No answer depends on it: of more bytes never less is prefetched.
#[test]
fn prefetches_what_is_beyond_l2() {
    for tuning in Tuning::ALL {
        let PrefetchTuning { sequential, min_beyond_l2_bytes, min_memory_bytes, .. } = tuning.prefetch;
        let (beyond_l2, from_memory) =
            if sequential { (Prefetch::FromL3, Prefetch::Everything) } else { (Prefetch::Jumps, Prefetch::Jumps) };
        assert_eq!(tuning.prefetch(min_beyond_l2_bytes - 1), Prefetch::Nothing, "{}", tuning.name);
        assert_eq!(tuning.prefetch(min_beyond_l2_bytes), beyond_l2, "{}", tuning.name);
        assert_eq!(tuning.prefetch(min_memory_bytes - 1), beyond_l2, "{}", tuning.name);
        assert_eq!(tuning.prefetch(min_memory_bytes), from_memory, "{}", tuning.name);
        assert_eq!(tuning.prefetch(usize::MAX), from_memory, "{}", tuning.name);
    }
}
