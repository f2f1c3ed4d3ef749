//! The threads that calls work on where more than one is asked for: a pool of the process, which grows to the most that
//! was asked for, and stays. Knows nothing of Python, nor of what a task does.
//!
//! ```text
//! parallel_for(tasks, task):
//!     starts the threads that are missing; puts tasks 1, 2, .. into the queue; wakes as many as are not awake
//!     does task 0, and then what nobody has taken from the queue
//!     waits for those that others have taken
//! ```
//!
//! To wake a thread takes as long as reading some hundred kilobytes. So one that has nothing to do stays awake for some
//! microseconds, in which the next call of a loop comes, and then sleeps. What else wants the core meanwhile gets it.
//!
//! So a call needs no thread of the pool to make progress: calls may be nested, several may run at once, and if the
//! system gives no more threads, fewer do the work.

use argreduce::Executor;
use std::any::Any;
use std::collections::VecDeque;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::yield_now;
use std::time::{Duration, Instant};

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

/// How long a thread that waits stays awake.
const AWAKE: Duration = Duration::from_micros(50);

/// Waits awake until something is so, but not for long: whether it is.
fn awaits(is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        // To look at the clock takes longer than to look at memory.
        for _ in 0..32 {
            if is_so() {
                return true;
            }
            spin_loop();
        }
        // Where there are more threads than cores, others have something to do.
        yield_now();
        if start.elapsed() > AWAKE {
            return false;
        }
    }
}

/// Threads that wait for tasks.
struct Pool {
    process: u32,
    state: Mutex<State>,
    has_tasks: Condvar,
    /// How many tasks are in the queue: for those that wait awake, and do not take the lock meanwhile.
    queued: AtomicUsize,
}

struct State {
    threads: usize,
    asleep: usize,
    /// Those that wait awake.
    awake: usize,
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
            let state = State { threads: 0, asleep: 0, awake: 0, queue: VecDeque::new() };
            // Never dropped: its threads, and forks, may look at it at any time. If another thread was faster, it is
            // just a few bytes.
            let (state, has_tasks, queued) = (Mutex::new(state), Condvar::new(), AtomicUsize::new(0));
            let new = Box::leak(Box::new(Pool { process, state, has_tasks, queued }));
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
        let progress = Mutex::new(Progress { is_waited_for: false, panic: None });
        let call = Arc::new(Call { task, unfinished: AtomicUsize::new(tasks), progress, is_done: Condvar::new() });
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
        let others = (1..tasks).map(|n| (call.clone(), n));
        state.queue.extend(others);
        self.queued.store(state.queue.len(), Ordering::Relaxed);
        // Those of other calls, too: who is awake for them is not for these.
        let missing = state.queue.len().saturating_sub(state.awake).min(state.asleep);
        drop(state);
        for _ in 0..missing {
            self.has_tasks.notify_one();
        }
    }

    /// A task of the call that no thread has taken.
    fn take_back(&self, call: &Arc<Call>) -> Option<usize> {
        if self.queued.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let queue = &mut lock(&self.state).queue;
        let place = queue.iter().position(|(other, _)| Arc::ptr_eq(other, call))?;
        let taken = queue.remove(place).map(|(_, n)| n);
        self.queued.store(queue.len(), Ordering::Relaxed);
        taken
    }

    /// What each thread of the pool does.
    fn work(&self) {
        let mut state = lock(&self.state);
        let mut may_sleep = false;
        loop {
            if let Some((call, n)) = state.queue.pop_front() {
                self.queued.store(state.queue.len(), Ordering::Relaxed);
                drop(state);
                call.run(n);
                drop(call);
                (state, may_sleep) = (lock(&self.state), false);
            } else if may_sleep {
                state.asleep += 1;
                state = self.has_tasks.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.asleep -= 1;
                // Even if another one has taken what it was woken for: in a loop of calls, that is what it is late for.
                may_sleep = false;
            } else {
                state.awake += 1;
                drop(state);
                may_sleep = !awaits(|| self.queued.load(Ordering::Relaxed) > 0);
                state = lock(&self.state);
                state.awake -= 1;
            }
        }
    }
}

/// What is known of a call.
struct Call {
    /// Not to be called once all tasks are done: it is borrowed from whoever waits for that.
    task: &'static (dyn Fn(usize) + Sync),
    unfinished: AtomicUsize,
    progress: Mutex<Progress>,
    is_done: Condvar,
}

struct Progress {
    /// Asleep, by whoever has called.
    is_waited_for: bool,
    /// What a task panicked with, the first one.
    panic: Option<Box<dyn Any + Send>>,
}

impl Call {
    /// Runs a task that nobody else runs.
    fn run(&self, n: usize) {
        let result = catch_unwind(AssertUnwindSafe(|| (self.task)(n)));
        if let Err(panic) = result {
            lock(&self.progress).panic.get_or_insert(panic);
        }
        // What the task has written is seen by who sees that it is done.
        if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 && lock(&self.progress).is_waited_for {
            self.is_done.notify_all();
        }
    }

    /// Waits until all tasks are done; a panic of one resumes here.
    fn wait(&self) {
        let is_done = || self.unfinished.load(Ordering::Acquire) == 0;
        awaits(is_done);
        let mut progress = lock(&self.progress);
        // Whoever does the last task takes the lock after it has said so: it sees this, or is seen here.
        progress.is_waited_for = true;
        while !is_done() {
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
