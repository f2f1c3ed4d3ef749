//! What a caller lends: the trait, and the one that lends nothing.

/// Threads that a caller lends to a call, as part of [what it reads](crate::Input::on).
///
/// Safe to implement: a wrong one may cost speed, never memory or the answer. One that runs nothing leaves all work to
/// the caller; tasks may run twice, in any order, on any threads, with numbers that nobody asked for.
///
/// A call is divided into as many tasks as there are threads ([`width`](Executor::width)), but not into tasks that read
/// less than [`min_task_bytes`](Executor::min_task_bytes) each. Where that leaves one task, the call runs on the
/// caller's thread, and `parallel_for` is not called.
///
/// A panic in `parallel_for` resumes on the caller. The outputs are then unspecified, but initialised. So a call can be
/// ended before it is done: by a panic in what [`pause`](Executor::pause) gives.
///
/// # A pool of your own
///
/// Threads that wait for work, and a call that hands it to them. That they wait for more than one call is what takes
/// `unsafe`: a task is borrowed for one. So the call waits for all that it has handed out before it returns, or resumes
/// a panic, whichever thread that was on.
///
/// ```
/// use argreduce::{ArgReduce, Executor, Layout, input};
/// use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
/// use std::sync::{Mutex, PoisonError, mpsc};
/// use std::thread;
///
/// type Task = &'static (dyn Fn(usize) + Sync);
///
/// /// Each thread takes tasks from a channel of its own, and says how each has ended.
/// struct Pool(Vec<mpsc::Sender<(Task, usize)>>, Mutex<mpsc::Receiver<thread::Result<()>>>);
///
/// /// A task that panics ends neither a thread nor a call.
/// fn run(task: &(dyn Fn(usize) + Sync), n: usize) -> thread::Result<()> {
///     catch_unwind(AssertUnwindSafe(|| task(n)))
/// }
///
/// impl Pool {
///     fn new(threads: usize) -> Pool {
///         let (say_done, done) = mpsc::channel();
///         let start = |_| {
///             let ((sender, tasks), say_done) = (mpsc::channel::<(Task, usize)>(), say_done.clone());
///             thread::spawn(move || tasks.iter().try_for_each(|(task, n)| say_done.send(run(task, n))));
///             sender
///         };
///         Pool((1..threads).map(start).collect(), Mutex::new(done))
///     }
/// }
///
/// impl Executor for Pool {
///     fn width(&self) -> usize {
///         self.0.len() + 1
///     }
///
///     fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
///         let done = self.1.lock().unwrap_or_else(PoisonError::into_inner);
///         // SAFETY: nothing from here on panics until each task that was sent is done: `run` does not, and a thread
///         // ends no sooner than the pool, so that what it is sent arrives.
///         let sent: Task = unsafe { std::mem::transmute(task) };
///         let sent = self.0.iter().cycle().zip(1..tasks).map(|(thread, n)| thread.send((sent, n)).is_ok());
///         let sent = sent.filter(|&is_sent| is_sent).count();
///         let mine = run(task, 0);
///         let all = (0..sent).fold(mine, |all, _| all.and(done.recv().expect("a thread for each task")));
///         drop(done);
///         all.unwrap_or_else(|panic| resume_unwind(panic));
///     }
/// }
///
/// let plan = ArgReduce::argmax(&Layout::contiguous(&[4, 250_000])?).axes(&[1]).plan::<f32, u32>()?;
/// let (pool, x, mut indices) = (Pool::new(2), vec![1.0; 1_000_000], [9; 4]);
/// plan.run(input(&x).on(&pool), &mut indices)?;
/// assert_eq!(indices, [0; 4]);
/// # // Whichever task panics, all are done, and the pool goes on.
/// # for panics in 0..5 {
/// #     let done = std::sync::atomic::AtomicUsize::new(0);
/// #     let task = |n| {
/// #         thread::sleep(std::time::Duration::from_millis(20 * n as u64));
/// #         assert!(n != panics);
/// #         done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
/// #     };
/// #     assert_eq!(catch_unwind(AssertUnwindSafe(|| pool.parallel_for(4, &task))).is_err(), panics < 4);
/// #     assert_eq!(done.into_inner(), if panics < 4 { 3 } else { 4 });
/// # }
/// # assert_eq!(plan.collect::<Vec<u32>>(input(&x).on(&Pool::new(3)))?, [0; 4]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub trait Executor {
    /// How many threads may run at once, that of the caller among them.
    fn width(&self) -> usize;

    /// The fewest bytes of input that are worth a task: below that, another task costs more than it brings.
    fn min_task_bytes(&self) -> usize {
        256 << 10
    }

    /// Calls `task(0)`, .. `task(tasks - 1)`, in any order, on any threads, and returns when all have returned.
    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));

    /// What a long call calls on its way, by each thread that works on it: every some ten megabytes of input, or more
    /// often. A call that is one task, by [`min_task_bytes`](Executor::min_task_bytes), does so under a mask alone.
    ///
    /// It may take its time, and it may panic: that ends the call, as a panic in
    /// [`parallel_for`](Executor::parallel_for) does. (`std::panic::resume_unwind` does not print anything.) If
    /// `parallel_for` does not pass it on, the call panics itself: there is no answer.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Executor, Layout, input};
    /// use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// /// The caller's thread alone, until somebody says that it is enough.
    /// struct Until<'a>(&'a (dyn Fn() + Sync));
    ///
    /// impl Executor for Until<'_> {
    ///     fn width(&self) -> usize {
    ///         1
    ///     }
    ///
    ///     fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
    ///         (0..tasks).for_each(task);
    ///     }
    ///
    ///     fn pause(&self) -> Option<&(dyn Fn() + Sync)> {
    ///         Some(self.0)
    ///     }
    /// }
    ///
    /// struct Enough;
    ///
    /// let (x, is_enough) = (vec![0_u8; 64 << 20], AtomicBool::new(true));
    /// let plan = ArgReduce::argmin(&Layout::contiguous(&[64, 1 << 20])?).axes(&[1]).plan::<u8, u32>()?;
    /// let pause = || {
    ///     if is_enough.load(Ordering::Relaxed) {
    ///         resume_unwind(Box::new(Enough));
    ///     }
    /// };
    /// let mut indices = [9; 64];
    /// let ended = catch_unwind(AssertUnwindSafe(|| plan.run(input(&x).on(&Until(&pause)), &mut indices)));
    /// assert!(ended.is_err_and(|payload| payload.is::<Enough>()));
    /// is_enough.store(false, Ordering::Relaxed);
    /// plan.run(input(&x).on(&Until(&pause)), &mut indices)?;
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    fn pause(&self) -> Option<&(dyn Fn() + Sync)> {
        None
    }
}

/// No other thread: everything runs on that of the caller.
///
/// ```
/// use argreduce::{ArgReduce, Layout, Sequential, input};
/// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
/// let mut indices = [0; 2];
/// plan.run(input(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0]).on(&Sequential), &mut indices)?;
/// assert_eq!(indices, [1, 0]);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Executor for Sequential {
    fn width(&self) -> usize {
        1
    }

    fn min_task_bytes(&self) -> usize {
        usize::MAX
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(task);
    }
}
