//! The counters by which threads share a call, in every order that loom finds:
//!
//! ```sh
//! RUSTFLAGS='--cfg loom' cargo test -p argreduce-guard --test claims --release
//! ```
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;

/// What it counts with, here.
mod atomic {
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering};
}

#[path = "../../src/threads/claims.rs"]
mod claims;

use claims::{Claims, Share};

/// More steps than any order of these tests takes: a loop that never ends is a failure.
const MAX_BRANCHES: usize = 200;

/// Each part is done once, before the caller is done with its own call, whichever tasks run beside each other.
fn check(parts: usize, tasks: usize, running: &'static [usize]) {
    // The stacks of loom's threads have no room for a backtrace: it overflows them, and the test hangs.
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    let mut model = loom::model::Builder::new();
    model.max_branches = MAX_BRANCHES;
    model.check(move || {
        // Of each order, which are few enough for all to stay in memory.
        let shares: &'static [Share] = Box::leak((0..tasks).map(|_| Share::new()).collect());
        let claims = Arc::new(Claims::new(parts, shares));
        // Not those of loom: that a part is done twice is what they would show, not a reason to try another order.
        let done: std::sync::Arc<Vec<_>> =
            std::sync::Arc::new((0..parts).map(|_| std::sync::atomic::AtomicUsize::new(0)).collect());
        let work = |task: usize| {
            let (claims, done) = (claims.clone(), done.clone());
            move || {
                claims.work(task, |part| {
                    // At once: a wrong counter may have more orders than anybody waits for.
                    assert_eq!(
                        done[part].fetch_add(1, std::sync::atomic::Ordering::Relaxed),
                        0,
                        "part {part} is done twice"
                    );
                });
            }
        };
        let threads: Vec<_> = running.iter().map(|&task| thread::spawn(work(task))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        work(0)();
        assert!(done.iter().all(|done| done.load(std::sync::atomic::Ordering::Relaxed) == 1), "a part is not done");
    });
}

#[test]
fn nobody_runs() {
    check(5, 2, &[]);
}

#[test]
fn each_task_runs() {
    check(4, 2, &[0, 1]);
}

#[test]
fn one_task_runs_twice_at_once() {
    check(3, 2, &[1, 1]);
}

#[test]
fn a_task_that_nobody_asked_for() {
    check(3, 2, &[0, usize::MAX]);
}
