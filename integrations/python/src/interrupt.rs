//! Long calls can be ended from Python: by Ctrl-C, and by whatever else raises in a signal's handler.
//!
//! ```text
//! without the lock of the interpreter:
//!     the library works, and pauses every some megabytes
//!         the thread that called: now and then takes the lock, and has signals handled
//!                                 if that raises: keeps the error, and unwinds
//!         any other thread:       unwinds, if there is an error
//! with the lock: the error, if that is why the work has ended
//! ```
//!
//! Python handles signals on the main thread alone. So calls of other threads take the lock once, to find that out.

use crate::threads::{MIN_TASK_BYTES, Threads};
use argreduce::Executor;
use pyo3::intern;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Below this many bytes the lock of the interpreter is kept: to release and take it again costs more than the work.
const MIN_BYTES_WITHOUT_LOCK: usize = 32 << 10;

/// Work on so many bytes may take as long as a person notices, under a mask, say. It can be ended.
const LONG_BYTES: usize = 4 << 20;

/// How often signals are handled: seldom enough that taking the lock costs nothing beside the work, and nobody waits.
const INTERVAL: Duration = Duration::from_millis(100);

/// Runs something that works on so many bytes, on threads that it is given: without the lock of the interpreter, if
/// they are many; and if they are very many, until a signal's handler raises.
///
/// # Errors
/// What the handler raised: what the work writes is then unspecified, but initialised. Or what the work says: by one
/// result, because to wrap it in another, and to move it, takes longer than a short row.
#[inline(always)]
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    bytes: usize,
    threads: &Threads,
    work: impl FnOnce(&dyn Executor) -> PyResult<T> + Send,
) -> PyResult<T> {
    if bytes < MIN_BYTES_WITHOUT_LOCK { work(threads) } else { run_without_lock(py, bytes, threads, work) }
}

/// Outlined, because it takes much of the stack.
#[inline(never)]
fn run_without_lock<T: Send>(
    py: Python<'_>,
    bytes: usize,
    threads: &Threads,
    work: impl FnOnce(&dyn Executor) -> PyResult<T> + Send,
) -> PyResult<T> {
    if bytes < LONG_BYTES {
        return py.detach(|| work(threads));
    }
    let watch = Watch {
        caller: thread::current().id(),
        next: Mutex::new(Some(Instant::now() + INTERVAL)),
        has_raised: AtomicBool::new(false),
        raised: Mutex::new(None),
    };
    let pause = || watch.pause();
    let result = py.detach(|| {
        let watched = Watched { threads, pause: &pause };
        catch_unwind(AssertUnwindSafe(|| work(&watched)))
    });
    match result {
        Ok(result) => result,
        Err(payload) => match watch.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) if payload.is::<Ended>() => Err(error),
            _ => resume_unwind(payload),
        },
    }
}

/// Python handles signals there alone.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let main = threading.call_method0(intern!(py, "main_thread"))?.getattr(intern!(py, "ident"))?;
    main.eq(threading.call_method0(intern!(py, "get_ident"))?)
}

/// With what the work unwinds.
struct Ended;

/// What is known of signals during a call.
struct Watch {
    caller: ThreadId,
    /// When they are handled next: never, if the caller is not the thread that does it.
    next: Mutex<Option<Instant>>,
    has_raised: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    /// Unwinds, if the call is to end.
    fn pause(&self) {
        if thread::current().id() == self.caller {
            self.handle_signals();
        }
        if self.has_raised.load(Relaxed) {
            resume_unwind(Box::new(Ended));
        }
    }

    /// If it is time.
    fn handle_signals(&self) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.is_none_or(|next| Instant::now() < next) {
            return;
        }
        let handled = Python::try_attach(|py| {
            let is_main_thread = is_main_thread(py)?;
            py.check_signals().map(|()| is_main_thread)
        });
        match handled {
            Some(Ok(true)) => *next = Some(Instant::now() + INTERVAL),
            Some(Ok(false)) | None => *next = None,
            Some(Err(error)) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.has_raised.store(true, Relaxed);
            }
        }
    }
}

/// Threads, and what they do every some megabytes.
struct Watched<'a> {
    threads: &'a Threads,
    pause: &'a (dyn Fn() + Sync),
}

impl Executor for Watched<'_> {
    fn width(&self) -> usize {
        self.threads.width()
    }

    /// Also for one thread: between tasks it pauses.
    fn min_task_bytes(&self) -> usize {
        MIN_TASK_BYTES
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        self.threads.parallel_for(tasks, task);
    }

    fn pause(&self) -> Option<&(dyn Fn() + Sync)> {
        Some(self.pause)
    }
}
