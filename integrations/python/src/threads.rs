//! The threads that calls work on where more than one is asked for: a pool of the process, which grows to the most that
//! was asked for, and stays. Knows nothing of Python, nor of what a task does.
//!
//! ```text
//! parallel_for(tasks, task):
//!     starts the threads that are missing; puts tasks 1, 2, .. into the queue
//!     does task 0, and then what nobody has taken from the queue
//!     waits for those that others have taken
//! ```
//!
//! So a call needs no thread of the pool to make progress: calls may be nested, several may run at once, and if the
//! system gives no more threads, fewer do the work.

use argreduce::Executor;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// So many threads of the process's pool, that of the caller among them.
pub(crate) struct Threads {
    pub(crate) count: usize,
}

/// The least that is worth a task: to wake a thread that sleeps takes as long as reading some hundred kilobytes.
pub(crate) const MIN_TASK_BYTES: usize = 1 << 20;

impl Executor for Threads {
    fn width(&self) -> usize {
        self.count
    }

    /// One thread divides nothing.
    fn min_task_bytes(&self) -> usize {
        if self.count == 1 { usize::MAX } else { MIN_TASK_BYTES }
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        Pool::of_process().run(tasks, task);
    }
}

/// The most threads of a pool: a number that is larger is a mistake, and no reason to fill the system.
const MAX_THREADS: usize = 256;

/// Threads that wait for tasks.
struct Pool {
    process: u32,
    state: Mutex<State>,
    has_tasks: Condvar,
}

struct State {
    threads: usize,
    queue: VecDeque<(Arc<Call>, usize)>,
}

/// The pool of this process, or that of the one that it was forked from.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

impl Pool {
    /// A fork has none of the threads, and a lock that it finds taken stays so. So it gets a pool of its own.
    fn of_process() -> &'static Pool {
        let process = std::process::id();
        let mut pool = POOL.load(Ordering::Acquire);
        loop {
            // SAFETY: if it is not null, it was leaked below, and so it lives as long as the process and its forks.
            match unsafe { pool.as_ref() } {
                Some(pool) if pool.process == process => return pool,
                _ => {}
            }
            let state = State { threads: 0, queue: VecDeque::new() };
            // Never dropped: its threads, and forks, may look at it at any time. If another thread was faster, it is
            // just a few bytes.
            let new = Box::leak(Box::new(Pool { process, state: Mutex::new(state), has_tasks: Condvar::new() }));
            match POOL.compare_exchange(pool, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return new,
                Err(other) => pool = other,
            }
        }
    }

    fn run(&'static self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        if tasks == 0 {
            return;
        }
        // SAFETY: nothing of the call is left when this returns. A task is only called before it is counted as done,
        // and this returns, or unwinds, after all were. Nothing in between can panic: those of tasks are caught.
        let task = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(task) };
        let progress = Progress { unfinished: tasks, panic: None };
        let call = Arc::new(Call { task, progress: Mutex::new(progress), is_done: Condvar::new() });
        self.offer(&call, tasks);
        call.run(0);
        while let Some(n) = self.take_back(&call) {
            call.run(n);
        }
        call.wait();
    }

    /// Puts all tasks but the first one into the queue.
    fn offer(&'static self, call: &Arc<Call>, tasks: usize) {
        let mut state = lock(&self.state);
        while state.threads < (tasks - 1).min(MAX_THREADS - 1) {
            let thread = std::thread::Builder::new().name("argreduce".into());
            if thread.spawn(|| self.work()).is_err() {
                break;
            }
            state.threads += 1;
        }
        for n in 1..tasks {
            state.queue.push_back((call.clone(), n));
            self.has_tasks.notify_one();
        }
    }

    /// A task of the call that no thread has taken.
    fn take_back(&self, call: &Arc<Call>) -> Option<usize> {
        let queue = &mut lock(&self.state).queue;
        let place = queue.iter().position(|(other, _)| Arc::ptr_eq(other, call))?;
        queue.remove(place).map(|(_, n)| n)
    }

    /// What each thread of the pool does.
    fn work(&self) {
        loop {
            let mut state = lock(&self.state);
            let (call, n) = loop {
                match state.queue.pop_front() {
                    Some(task) => break task,
                    None => state = self.has_tasks.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(state);
            call.run(n);
        }
    }
}

/// What is known of a call.
struct Call {
    /// Not to be called once all tasks are done: it is borrowed from whoever waits for that.
    task: &'static (dyn Fn(usize) + Sync),
    progress: Mutex<Progress>,
    is_done: Condvar,
}

struct Progress {
    unfinished: usize,
    /// What a task panicked with, the first one.
    panic: Option<Box<dyn Any + Send>>,
}

impl Call {
    /// Runs a task that nobody else runs.
    fn run(&self, n: usize) {
        let result = catch_unwind(AssertUnwindSafe(|| (self.task)(n)));
        let mut progress = lock(&self.progress);
        if let Err(panic) = result {
            progress.panic.get_or_insert(panic);
        }
        progress.unfinished -= 1;
        if progress.unfinished == 0 {
            self.is_done.notify_all();
        }
    }

    /// Waits until all tasks are done; a panic of one resumes here.
    fn wait(&self) {
        let mut progress = lock(&self.progress);
        while progress.unfinished > 0 {
            progress = self.is_done.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(panic) = progress.panic.take() {
            drop(progress);
            resume_unwind(panic);
        }
    }
}

/// No panic leaves what a lock guards half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
