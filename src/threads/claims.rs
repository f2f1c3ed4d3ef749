//! Who does what: parts that are claimed, each once, by atomic counters. Knows nothing of what a part is.
//!
//! The file is compiled a second time by `guard/tests/claims.rs`, with the counters of loom.

use super::atomic::{AtomicUsize, Ordering::Relaxed};

/// The most shares that parts are divided into. More tasks than that begin with the share of another.
const MAX_SHARES: usize = 64;

/// Parts of a call, numbered from 0, in contiguous shares: one for each task to begin with.
pub(crate) struct Claims {
    /// How many of a share are claimed, or more.
    claimed: [Counter; MAX_SHARES],
    shares: usize,
    parts: usize,
}

/// On two cache lines of its own: lines come in pairs.
#[repr(align(128))]
struct Counter(AtomicUsize);

impl Claims {
    /// So many parts, none of which is claimed, for so many tasks.
    pub(crate) fn new(parts: usize, tasks: usize) -> Claims {
        let claimed = std::array::from_fn(|_| Counter(AtomicUsize::new(0)));
        Claims { claimed, shares: tasks.clamp(1, MAX_SHARES), parts }
    }

    /// Claims parts until all are, and does each: those of the task's own share first, then what others have left.
    ///
    /// Any task may do so any number of times, on any thread. The counters order nothing else (hence `Relaxed`): a part
    /// is claimed once because a counter never goes back. That what was done is seen by whoever waits for it is up to
    /// whoever runs the tasks.
    pub(crate) fn work(&self, task: usize, mut do_part: impl FnMut(usize)) {
        for share in (0..self.shares).map(|n| (task % self.shares + n) % self.shares) {
            let bound = |n: usize| (n as u128 * self.parts as u128 / self.shares as u128) as usize;
            let (start, end) = (bound(share), bound(share + 1));
            let claimed = &self.claimed[share].0;
            // Asked first, so that no number of calls makes a counter overflow.
            while claimed.load(Relaxed) < end - start {
                let part = start + claimed.fetch_add(1, Relaxed);
                if part >= end {
                    break;
                }
                do_part(part);
            }
        }
    }
}
