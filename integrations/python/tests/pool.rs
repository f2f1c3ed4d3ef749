//! The pool of threads, without Python: that each task runs once, whatever else goes on, and what a panic does.

#[path = "../src/threads.rs"]
mod threads;

use argreduce::Executor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};
use threads::Threads;

#[test]
fn each_task_runs_once() {
    for tasks in [0, 1, 2, 3, 17, 100] {
        let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
        Threads { count: 4 }.parallel_for(tasks, &|n| {
            counts[n].fetch_add(1, Relaxed);
        });
        assert!(counts.iter().all(|count| count.load(Relaxed) == 1), "{tasks} tasks: {counts:?}");
    }
}

#[test]
fn tasks_run_at_the_same_time() {
    // None gets past the barrier before all are there.
    let (barrier, ids) = (Barrier::new(3), Mutex::new(Vec::new()));
    Threads { count: 3 }.parallel_for(3, &|_| {
        barrier.wait();
        ids.lock().unwrap().push(std::thread::current().id());
    });
    let mut ids = ids.into_inner().unwrap();
    assert!(ids.contains(&std::thread::current().id()));
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
fn calls_in_calls_and_beside_calls() {
    let sum = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    Threads { count: 3 }.parallel_for(3, &|_| {
                        Threads { count: 2 }.parallel_for(2, &|_| {
                            sum.fetch_add(1, Relaxed);
                        });
                    });
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 4 * 200 * 6);
}

#[test]
fn calls_while_threads_fall_asleep() {
    // Threads stay awake for some microseconds: each call comes a little later than the one before.
    for pause in 0..300 {
        let end = Instant::now() + Duration::from_nanos(500 * pause);
        let sum = AtomicUsize::new(0);
        Threads { count: 3 }.parallel_for(5, &|n| {
            sum.fetch_add(n, Relaxed);
        });
        assert_eq!(sum.into_inner(), 10);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }
}

#[test]
fn a_panic_resumes_on_the_caller_once_all_tasks_are_done() {
    for culprit in 0..4 {
        let done = AtomicUsize::new(0);
        let run = || {
            Threads { count: 4 }.parallel_for(4, &|n| {
                if n == culprit {
                    // Not by `panic!`, which would be printed.
                    std::panic::resume_unwind(Box::new("a task"));
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
                done.fetch_add(1, Relaxed);
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"a task"));
        assert_eq!(done.load(Relaxed), 3);
    }
    // And the threads are still there.
    tasks_run_at_the_same_time();
}
