//! Who does what: parts that are claimed, each once, by atomic counters. Knows nothing of what a part is.
//!
//! The file is compiled a second time by `guard/tests/claims.rs`, with the counters of loom.

use super::atomic::{AtomicUsize, Ordering::Relaxed};

/// The most shares that parts are divided into. More tasks than that begin with the share of another. Not measured.
const MAX_SHARES: usize = 32;

/// Parts of a call, numbered from 0, in contiguous shares: one for each task to begin with.
pub(crate) struct Claims<'a> {
    shares: &'a [Share],
    parts: usize,
}

/// How many parts of a share are claimed, or more. On two cache lines of its own: lines come in pairs.
#[repr(align(128))]
pub(crate) struct Share(AtomicUsize);

impl Share {
    /// None of its parts is claimed.
    pub(crate) fn new() -> Share {
        Share(AtomicUsize::new(0))
    }
}

/// The first part of share `n`, and so the end of the share before it: the first shares have one more, if some have.
pub(crate) fn share_start(n: usize, shares: usize, parts: usize) -> usize {
    n * (parts / shares) + n.min(parts % shares)
}

impl<'a> Claims<'a> {
    /// So many parts, in shares that are new.
    pub(crate) fn new(parts: usize, shares: &'a [Share]) -> Claims<'a> {
        Claims { shares, parts }
    }

    /// So many parts for so many tasks, none of which is claimed, while a function runs.
    pub(crate) fn with(parts: usize, tasks: usize, run: impl FnOnce(&Claims<'_>)) {
        /// How many there are changes no answer, only how often threads meet at a counter. Of the many, a short call
        /// would take longer to begin. Not measured.
        const FEW: usize = 4;
        let (few, many): ([Share; FEW], [Share; MAX_SHARES]);
        let shares = if tasks <= FEW {
            few = std::array::from_fn(|_| Share::new());
            &few[..tasks.max(1)]
        } else {
            many = std::array::from_fn(|_| Share::new());
            &many[..tasks.min(MAX_SHARES)]
        };
        run(&Claims::new(parts, shares));
    }

    /// Claims parts until all are, and does each: those of the task's own share first, then what others have left.
    ///
    /// Any task may do so any number of times, on any thread. The counters order nothing else (hence `Relaxed`): a part
    /// is claimed once because a counter never goes back. That what was done is seen by whoever waits for it is up to
    /// whoever runs the tasks.
    pub(crate) fn work(&self, task: usize, mut do_part: impl FnMut(usize)) {
        let shares = self.shares.len();
        for share in (0..shares).map(|n| (task % shares + n) % shares) {
            let (start, end) = (share_start(share, shares, self.parts), share_start(share + 1, shares, self.parts));
            let Share(claimed) = &self.shares[share];
            // Asked first, so that no number of calls makes a counter overflow.
            while claimed.load(Relaxed) < end - start {
                let part = start + claimed.fetch_add(1, Relaxed);
                // Others may have claimed since: a race that loom's tests reach, and no other.
                if part >= end {
                    break;
                }
                do_part(part);
            }
        }
    }
}
