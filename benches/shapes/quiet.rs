//! Whether the core is ours alone at this moment, and its clock. Knows nothing of what is measured.
//!
//! On a host that is shared, another thread of the same core may run beside ours: what is bound by operations takes up
//! to twice as long then, for a second or so, and a plain read of memory hardly longer, so that no ratio of the two
//! means anything. (Zen 4, virtual: of 10 s, 2 to 3.) A loop that leaves no operation of a cycle unused tells the one
//! from the other.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Iterations of the loop: two microseconds.
const TURNS: u64 = 1000;

/// How much longer than ever before the loop may take: the clock alone makes it 2 %, another thread 30 % and more.
const TOLERANCE: f64 = 1.1;

/// The shortest time so far, in nanoseconds.
static SHORTEST: AtomicU64 = AtomicU64::new(u64::MAX);

pub fn is_quiet() -> bool {
    let start = Instant::now();
    keep_busy();
    let time = start.elapsed().as_nanos() as u64;
    let shortest = SHORTEST.fetch_min(time, Relaxed).min(time);
    time as f64 <= shortest as f64 * TOLERANCE
}

/// Sixteen chains of operations, so that none has to wait for the one before, and the units are what is scarce.
fn keep_busy() {
    let mut chains = black_box([1_u64; 16]);
    for turn in 0..TURNS {
        for chain in &mut chains {
            *chain = (*chain ^ turn).wrapping_add(*chain << 3);
        }
    }
    black_box(chains);
}

/// Cycles per nanosecond, by a chain of operations that take one each.
pub fn gigahertz() -> f64 {
    const STEPS: u32 = 50_000;
    let flip = black_box(0x9e37_79b9_7f4a_7c15_u64);
    let nanoseconds = (0..200).map(|_| {
        let (start, mut chain) = (Instant::now(), black_box(1));
        (0..STEPS).for_each(|_| chain = (chain ^ flip).rotate_left(7));
        black_box(chain);
        start.elapsed().as_nanos()
    });
    f64::from(2 * STEPS) / nanoseconds.min().unwrap_or(1) as f64
}
