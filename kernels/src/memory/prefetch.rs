//! Asking for memory ahead of its use. What is asked for need not exist; no answer depends on it.

/// What to ask for ahead of its use. No answer depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefetch {
    /// Nothing, because the elements are likely in the L2 cache: rows would lose up to a sixth of their speed.
    #[default]
    Nothing,
    /// What the prefetchers of the CPU do not follow: jumps.
    Jumps,
    /// Everything, of elements that the L3 cache likely holds.
    FromL3,
    /// Everything, of elements that it does not.
    Everything,
}

impl Prefetch {
    /// Whether to ask for what follows in memory, or jumps.
    #[inline(always)]
    pub(crate) fn asks(self, jumps: bool) -> bool {
        match self {
            Prefetch::Nothing => false,
            Prefetch::Jumps => jumps,
            Prefetch::FromL3 | Prefetch::Everything => true,
        }
    }
}

/// Bytes that come together. (Some CPUs have longer lines: those are asked for twice.)
pub(crate) const LINE: usize = 64;

/// The cache that elements are prefetched into.
///
/// What is asked for along the way, a few lines for as many bytes as are read, comes at the speed of memory; what is
/// asked for at once waits for room in the queue of misses, and so does what comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// As near as can be.
    L1,
    /// Not so near that what waits for L1 takes the room of what is read.
    L2,
}

impl Hint {
    /// Asks for each cache line of some bytes. On other machines than x86-64, where nobody has measured what it is good
    /// for, it does nothing.
    #[inline(always)]
    pub(crate) fn prefetch<T>(self, at: *const T, bytes: usize) {
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
                line += LINE;
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (at, bytes);
    }
}

/// What to ask for meanwhile: from where on, and into which cache. It need not exist.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    at: *const u8,
    hint: Hint,
}

impl Ahead {
    #[inline(always)]
    pub(crate) fn new<T>(at: *const T, hint: Hint) -> Self {
        Ahead { at: at.cast(), hint }
    }

    /// So many bytes further on.
    #[inline(always)]
    pub(crate) fn moved(self, bytes: isize) -> Self {
        Ahead { at: self.at.wrapping_offset(bytes), ..self }
    }

    /// Asks for some bytes.
    #[inline(always)]
    pub(crate) fn prefetch(self, bytes: usize) {
        self.hint.prefetch(self.at, bytes);
    }

    /// Asks for some bytes, and goes on behind them.
    #[inline(always)]
    pub(crate) fn take(&mut self, bytes: usize) {
        self.prefetch(bytes);
        self.at = self.at.wrapping_add(bytes);
    }
}
