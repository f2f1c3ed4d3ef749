//! What tables of tuning say of themselves.

use argreduce_kernels::tuning::PrefetchTuning;
use argreduce_kernels::{Prefetch, Tuning};

/// No answer depends on it: of more bytes never less is prefetched.
#[test]
fn prefetches_what_is_far() {
    for tuning in Tuning::ALL {
        let PrefetchTuning { sequential, min_beyond_l2_bytes, min_memory_bytes, .. } = tuning.prefetch;
        let (far, from_memory) =
            if sequential { (Prefetch::FromL3, Prefetch::Everything) } else { (Prefetch::Jumps, Prefetch::Jumps) };
        assert_eq!(tuning.prefetch(min_beyond_l2_bytes - 1), Prefetch::Nothing, "{}", tuning.name);
        assert_eq!(tuning.prefetch(min_beyond_l2_bytes), far, "{}", tuning.name);
        assert_eq!(tuning.prefetch(min_memory_bytes - 1), far, "{}", tuning.name);
        assert_eq!(tuning.prefetch(min_memory_bytes), from_memory, "{}", tuning.name);
        assert_eq!(tuning.prefetch_from_memory(), from_memory, "{}", tuning.name);
    }
}
