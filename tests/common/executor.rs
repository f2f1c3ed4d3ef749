//! Executors that do as they please. The fuzz targets have this file, too.

use argreduce::Executor;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

/// What an executor does with its tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// Runs nothing.
    Nothing,
    /// In their order, on this thread.
    InOrder,
    Twice,
    Reversed,
    /// On two threads.
    Beside,
    /// Each from eight threads at once, and some that nobody asked for.
    FromEight,
    /// In their order, with pauses of a long call.
    Pausing,
    /// After the caller has waited for a while.
    Late,
    /// One at a time, with a rest.
    Slowly,
}

impl Way {
    /// The last two take their time.
    pub const ALL: [Way; 9] = [
        Way::Nothing,
        Way::InOrder,
        Way::Twice,
        Way::Reversed,
        Way::Beside,
        Way::FromEight,
        Way::Pausing,
        Way::Late,
        Way::Slowly,
    ];
}

/// How many threads one says that it has.
pub const WIDTHS: [usize; 5] = [0, 1, 3, 64, 1000];

#[derive(Debug)]
pub struct Wayward {
    pub way: Way,
    pub width: usize,
    /// How often it was lent.
    pub calls: AtomicUsize,
}

impl Wayward {
    pub fn new(way: Way, width: usize) -> Wayward {
        Wayward { way, width, calls: AtomicUsize::new(0) }
    }
}

impl Executor for Wayward {
    fn width(&self) -> usize {
        self.width
    }

    /// So that anything is worth a task.
    fn min_task_bytes(&self) -> usize {
        1
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        self.calls.fetch_add(1, Relaxed);
        match self.way {
            Way::Nothing => {}
            Way::InOrder | Way::Pausing => (0..tasks).for_each(task),
            Way::Twice => (0..tasks).for_each(|n| (task(n), task(n)).1),
            Way::Reversed => (0..tasks).rev().for_each(task),
            Way::Beside => thread::scope(|scope| {
                let other = scope.spawn(|| (0..tasks / 2).for_each(task));
                (tasks / 2..tasks).for_each(task);
                join([other]);
            }),
            Way::FromEight => thread::scope(|scope| {
                let all = || (0..tasks).chain([tasks, usize::MAX]).for_each(task);
                join([(); 8].map(|()| scope.spawn(all)));
            }),
            Way::Late => thread::scope(|scope| {
                let late = |n| {
                    thread::sleep(Duration::from_millis(1));
                    task(n);
                };
                let threads: Vec<_> = (0..tasks.min(3)).map(|n| scope.spawn(move || late(n))).collect();
                join(threads);
            }),
            Way::Slowly => (0..tasks).for_each(|n| {
                thread::sleep(Duration::from_micros(50));
                task(n);
            }),
        }
    }

    fn pause(&self) -> Option<&(dyn Fn() + Sync)> {
        if self.way == Way::Pausing { Some(&|| ()) } else { None }
    }
}

/// Threads are joined, and not only done: a sanitizer takes for a leak what a thread frees as it ends.
fn join<'a>(threads: impl IntoIterator<Item = ScopedJoinHandle<'a, ()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("no task panics"));
}
