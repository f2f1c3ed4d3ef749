//! How many cases a test takes: all, or where the machine is slow, some of each kind. It knows nothing of what a case
//! is.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Whether to take fewer cases, because `ARGREDUCE_TESTS` is `few`: on an emulated machine, a tenth to a hundredth as
/// fast.
///
/// ```
/// let cases = if argreduce_guard::is_slow() { 300 } else { 1500 };
/// ```
pub fn is_slow() -> bool {
    std::env::var_os("ARGREDUCE_TESTS").is_some_and(|value| value == "few")
}

/// The numbers of a range; where it [`is_slow`], every `part`th, starting elsewhere each time, so that all have their
/// turn, also in loops in loops.
///
/// # Panics
/// If the range is empty.
///
/// ```
/// for len in argreduce_guard::few(1..100, 7) {
///     assert!((1..100).contains(&len));
/// }
/// ```
pub fn few(range: Range<usize>, part: usize) -> impl Iterator<Item = usize> {
    static TURN: AtomicU32 = AtomicU32::new(0);
    assert!(!range.is_empty(), "a loop without a case");
    let part = if is_slow() { part } else { 1 };
    // Multiples of the golden ratio, modulo 1: evenly spread, and no loop's length keeps step with them.
    let turn = TURN.fetch_add(1, Relaxed).wrapping_mul(0x9e37_79b9);
    let skipped = ((u64::from(turn) * part.min(range.len()) as u64) >> 32) as usize;
    range.skip(skipped).step_by(part)
}
