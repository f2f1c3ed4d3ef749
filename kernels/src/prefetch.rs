//! The instruction that prefetches, and into which cache. Knows nothing of loops, and of what is worth prefetching
//! where.
//! What is prefetched need not exist; no answer depends on it.

/// The bytes of a cache line. (Where lines are longer, they are prefetched twice.)
pub(crate) const CACHE_LINE_BYTES: usize = 64;

/// The cache that elements are prefetched into. See docs/tuning.md#prefetchhint-prefetchl2_distance_bytes.
///
/// A few lines at a time, for as many bytes as are read, come at the speed of memory. Many at a time wait in the queue
/// of misses, and so does every load after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The L1 cache.
    L1,
    /// The L2 cache: what waits in L1 would evict what is being read.
    L2,
}

impl Hint {
    /// Prefetches each cache line of some bytes, which need not exist. It does nothing on other machines than x86-64,
    /// where it was not measured.
    #[inline(always)]
    pub fn prefetch<T>(self, at: *const T, bytes: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
            let mut line = 0;
            while line < bytes {
                let at = at.cast::<u8>().wrapping_add(line).cast();
                // SAFETY: every x86-64 has SSE, and no address is wrong.
                unsafe {
                    match self {
                        Hint::L1 => _mm_prefetch::<_MM_HINT_T0>(at),
                        Hint::L2 => _mm_prefetch::<_MM_HINT_T1>(at),
                    }
                }
                line += CACHE_LINE_BYTES;
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (at, bytes);
    }
}

/// What to prefetch meanwhile: from where on, and into which cache. It need not exist.
#[derive(Clone, Copy)]
pub(crate) struct PrefetchCursor {
    at: *const u8,
    hint: Hint,
}

impl PrefetchCursor {
    #[inline(always)]
    pub(crate) fn new<T>(at: *const T, hint: Hint) -> Self {
        PrefetchCursor { at: at.cast(), hint }
    }

    /// A cursor `bytes` bytes further on.
    #[inline(always)]
    pub(crate) fn moved(self, bytes: isize) -> Self {
        PrefetchCursor { at: self.at.wrapping_offset(bytes), ..self }
    }

    #[inline(always)]
    pub(crate) fn prefetch(self, bytes: usize) {
        self.hint.prefetch(self.at, bytes);
    }

    /// Prefetches some bytes, and goes on behind them.
    #[inline(always)]
    pub(crate) fn take(&mut self, bytes: usize) {
        self.prefetch(bytes);
        self.at = self.at.wrapping_add(bytes);
    }
}
