//! What threads bring: calls on two threads, or more, beside the same calls on one, by each way to lend them; and from
//! which size on more threads bring more, by a formula. Beside that, what the machine gives: as many calls, each of its
//! own thread for its own part, and as many plain readers, both by the spinning pool.
//!
//! ```text
//! cargo bench --bench threads                               # not pinned: it needs two cores
//! cargo bench --bench threads -- row                        # shapes with that in their name
//! ARGREDUCE_BENCH_THREADS=16 cargo bench --bench threads    # sixteen threads, on as many cores
//! ci/instructions                                           # what a call pays that is too small to be divided
//! ```
//!
//! The fastest of several calls counts, one thread and several in turn: what else the machine does makes some slower.
//! In a table of its own, the median of calls with a pause before each.

use argreduce::{ArgReduce, Executor, Layout, Plan, Rayon, ScopedThreads};
use multiversion::multiversion;
use std::cell::UnsafeCell;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How many are measured.
static THREADS: LazyLock<usize> = LazyLock::new(|| match std::env::var("ARGREDUCE_BENCH_THREADS") {
    Ok(number) => number.parse().ok().filter(|&threads| threads >= 2).expect("ARGREDUCE_BENCH_THREADS: 2 or more"),
    Err(_) => 2,
});
const MIB: usize = 1 << 20;

/// A pool whose threads wait by asking over and over, so that a call costs least.
struct Spinning {
    call: Call,
    left: Left,
}

/// What to do, on one cache line, so that a thread has all of it when it sees that there is something.
#[repr(align(128))]
struct Call {
    job: UnsafeCell<Job>,
    /// Two more for each call; the lowest bit is set when the pool ends.
    epoch: AtomicUsize,
}

// SAFETY: the job is written while no other thread reads it: when all of the last call are done, before the epoch says
// that there is one.
unsafe impl Sync for Call {}

/// How many threads are not done.
#[repr(align(128))]
struct Left(AtomicUsize);

type Task = &'static (dyn Fn(usize) + Sync);

#[derive(Clone, Copy)]
struct Job {
    task: Task,
    tasks: usize,
}

impl Spinning {
    /// A pool for as long as a function runs.
    fn with<R>(function: impl FnOnce(&Spinning) -> R) -> R {
        let job = UnsafeCell::new(Job { task: &|_| (), tasks: 0 });
        let pool = Spinning { call: Call { job, epoch: AtomicUsize::new(0) }, left: Left(AtomicUsize::new(0)) };
        thread::scope(|scope| {
            for n in 1..*THREADS {
                let pool = &pool;
                scope.spawn(move || pool.wait(n));
            }
            let result = function(&pool);
            pool.call.epoch.fetch_or(1, Release);
            result
        })
    }

    fn wait(&self, n: usize) {
        let mut seen = 0;
        loop {
            let epoch = self.call.epoch.load(Acquire);
            if epoch & 1 == 1 {
                return;
            }
            if epoch == seen {
                spin_loop();
                continue;
            }
            seen = epoch;
            // SAFETY: the epoch says so, and until this thread is done, nobody writes it.
            let Job { task, tasks } = unsafe { *self.call.job.get() };
            (n..tasks).step_by(*THREADS).for_each(task);
            self.left.0.fetch_sub(1, Release);
        }
    }
}

impl Executor for Spinning {
    fn width(&self) -> usize {
        *THREADS
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        // SAFETY: no thread calls it any more when this returns: each has said so by then.
        let task: Task = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), Task>(task) };
        self.left.0.store(*THREADS - 1, Relaxed);
        // SAFETY: no thread reads it: all are done with the last call, and this one alone calls.
        unsafe { *self.call.job.get() = Job { task, tasks } };
        self.call.epoch.store(self.call.epoch.load(Relaxed) + 2, Release);
        (0..tasks).step_by(*THREADS).for_each(task);
        while self.left.0.load(Acquire) > 0 {
            spin_loop();
        }
    }
}

/// Loads every byte, and computes next to nothing.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn read(words: &[f32]) -> u32 {
    let mut sums = [0_u32; 64];
    for chunk in words.chunks_exact(64) {
        for (sum, word) in sums.iter_mut().zip(chunk) {
            *sum |= word.to_bits();
        }
    }
    sums.into_iter().fold(0, |a, b| a | b)
}

/// The fastest of several rounds of each, in turn.
fn fastest<const N: usize>(is_test: bool, bytes: usize, mut runs: [&mut dyn FnMut(); N]) -> [Duration; N] {
    // Of small ones as many rounds as last longer than others keep a core.
    let (rounds, times) =
        if is_test { (1, 1) } else { (2048 * MIB / bytes.max(16 * MIB) + 5, (8 * MIB / bytes).max(1)) };
    let mut best = [Duration::MAX; N];
    for _ in 0..rounds {
        for (run, best) in runs.iter_mut().zip(&mut best) {
            // What the others left in caches does not count. (One call does not drive all of it out.)
            (0..times.min(4)).for_each(|_| run());
            let start = Instant::now();
            (0..times).for_each(|_| run());
            *best = (*best).min(start.elapsed() / times as u32);
        }
    }
    best
}

struct Shape {
    name: &'static str,
    sizes: &'static [usize],
    axis: isize,
}

const SHAPES: [Shape; 19] = [
    // A share for each of two threads that fits an L2 cache of 1 MiB.
    Shape { name: "L2 rows [384, 1000]", sizes: &[384, 1000], axis: 1 },
    Shape { name: "L2 images [21, 136, 136]", sizes: &[21, 136, 136], axis: 0 },
    Shape { name: "L2 columns [192, 2048]", sizes: &[192, 2048], axis: 0 },
    Shape { name: "L2 narrow columns [78000, 5]", sizes: &[78_000, 5], axis: 0 },
    Shape { name: "L2 one row", sizes: &[3 * MIB / 8], axis: 0 },
    // Where one cache holds the whole too, what a call costs weighs more.
    Shape { name: "512 KiB, one row", sizes: &[MIB / 8], axis: 0 },
    Shape { name: "768 KiB, rows [192, 1024]", sizes: &[192, 1024], axis: 1 },
    Shape { name: "1 MiB, one row", sizes: &[MIB / 4], axis: 0 },
    // What rayon and scoped threads take for worth two tasks.
    Shape { name: "2 MiB, rows [1024, 512]", sizes: &[1024, 512], axis: 1 },
    Shape { name: "8 MiB, rows [1024, 2048]", sizes: &[1024, 2048], axis: 1 },
    Shape { name: "8 MiB, one row", sizes: &[2 * MIB], axis: 0 },
    // Beyond the last cache.
    Shape { name: "far rows [16384, 2000]", sizes: &[16384, 2000], axis: 1 },
    Shape { name: "far images [8, 21, 512, 512]", sizes: &[8, 21, 512, 512], axis: 1 },
    Shape { name: "far pixels [8, 512, 512, 21]", sizes: &[8, 512, 512, 21], axis: 3 },
    Shape { name: "far columns [4096, 8192]", sizes: &[4096, 8192], axis: 0 },
    Shape { name: "far columns [64, 524288]", sizes: &[64, 524_288], axis: 0 },
    Shape { name: "far narrow columns [6000000, 5]", sizes: &[6_000_000, 5], axis: 0 },
    Shape { name: "64 MiB, one row", sizes: &[16 * MIB], axis: 0 },
    Shape { name: "128 MiB, five rows", sizes: &[5, 6 * MIB], axis: 1 },
];

/// Those that are measured with pauses.
const APART: [Shape; 3] = [
    Shape { name: "8 MiB, rows [1024, 2048]", sizes: &[1024, 2048], axis: 1 },
    Shape { name: "images [1, 21, 512, 512]", sizes: &[1, 21, 512, 512], axis: 1 },
    Shape { name: "far columns [64, 524288]", sizes: &[64, 524_288], axis: 0 },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_test = arguments.iter().any(|argument| argument == "--test");
    if let Some(name) = arguments.iter().find_map(|argument| argument.strip_prefix("--small=")) {
        return small_calls(name);
    }
    let filter = arguments.into_iter().find(|argument| !argument.starts_with("--")).unwrap_or_default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(*THREADS).build().unwrap();
    pool.install(|| measure(is_test, &filter));
    measure_apart(is_test, &filter, &pool);
}

/// Calls with a pause before each: threads that wait for work are asleep then. By a thread that is none of the pool's,
/// and by one that is.
fn measure_apart(is_test: bool, filter: &str, pool: &rayon::ThreadPool) {
    let scoped = ScopedThreads::new(*THREADS);
    println!("\nThe same, each call 5 ms after the one before, the median of 100:\n");
    println!("| shape | one thread | rayon, from outside | from inside | scoped |\n|---|---|---|---|---|");
    for Shape { name, sizes, axis } in &APART {
        if !name.contains(filter) || is_test && sizes.iter().product::<usize>() > 4 * MIB {
            continue;
        }
        let plan: Plan<f32, i64> =
            ArgReduce::argmax(&Layout::contiguous(sizes).unwrap()).axes(&[*axis]).plan().unwrap();
        let input = vec![1.0; sizes.iter().product()];
        let mut indices = vec![0; plan.output_layout().required_len()];
        let mut alone = || plan.run(&input, &mut indices).unwrap();
        let one = median_apart(is_test, &mut alone);
        let mut of = |executor: &(dyn Executor + Sync)| match plan.division_on(executor).to_string().as_str() {
            "1 task" => "-".to_string(),
            _ => {
                let all = median_apart(is_test, &mut || {
                    plan.run(argreduce::input(&input).on(executor), &mut indices).unwrap()
                });
                format!("{:.2}", one / all)
            }
        };
        let outside = of(pool);
        let inside = pool.install(|| of(&Rayon));
        println!("| {name} | {one:.1} | {outside} | {inside} | {} |", of(&scoped));
    }
}

/// Microseconds.
fn median_apart(is_test: bool, run: &mut dyn FnMut()) -> f64 {
    let mut times: Vec<Duration> = (0..if is_test { 1 } else { 100 })
        .map(|_| {
            // The caller is busy: with its thread asleep, its core would be.
            let pause = Instant::now();
            while pause.elapsed() < Duration::from_millis(5) {
                spin_loop();
            }
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// Calls that are too small to be divided, on threads and on none, for `ci/instructions` to count.
fn small_calls(name: &str) {
    const SMALL: [(&str, &[usize], isize); 5] = [
        ("one row", &[100], 0),
        ("rows", &[8, 16], 1),
        ("columns", &[8, 16], 0),
        ("images", &[2, 3, 64], 1),
        ("narrow columns", &[100, 5], 0),
    ];
    let Some((_, sizes, axis)) = SMALL.iter().find(|small| small.0 == name) else {
        return SMALL.iter().for_each(|small| println!("{}", small.0));
    };
    let plan: Plan<f32, i64> = ArgReduce::argmax(&Layout::contiguous(sizes).unwrap()).axes(&[*axis]).plan().unwrap();
    let input = vec![0.0; sizes.iter().product()];
    let mut indices = vec![0; plan.output_layout().required_len()];
    let executor = ScopedThreads::new(*THREADS);
    for _ in 0..100 {
        call_alone(&plan, &input, &mut indices);
        // As a caller has it: of any type.
        call_with_threads(&plan, black_box(&executor as &dyn Executor), &input, &mut indices);
    }
}

#[inline(never)]
fn call_alone(plan: &Plan<f32, i64>, input: &[f32], indices: &mut [i64]) {
    plan.run(black_box(input), indices).unwrap();
}

#[inline(never)]
fn call_with_threads(plan: &Plan<f32, i64>, executor: &dyn Executor, input: &[f32], indices: &mut [i64]) {
    plan.run(argreduce::input(black_box(input)).on(executor), indices).unwrap();
}

fn measure(is_test: bool, filter: &str) {
    let scoped = ScopedThreads::new(*THREADS);
    let costs_of = |executor: &dyn Executor| {
        let mut empty = || executor.parallel_for(*THREADS, &|n| _ = black_box(n));
        let mut meeting = || {
            let begun = AtomicUsize::new(0);
            executor.parallel_for(*THREADS, &|_| {
                begun.fetch_add(1, Relaxed);
                while begun.load(Relaxed) < *THREADS {
                    spin_loop();
                }
            });
        };
        fastest(is_test, 64 << 10, [&mut empty, &mut meeting]).map(|time| time.as_secs_f64() * 1e6)
    };
    // A pool that spins is there only while it is measured: it keeps its core from the others.
    let costs = [Spinning::with(|spinning| costs_of(spinning)), costs_of(&Rayon), costs_of(&scoped)];
    println!(
        "A parallel_for of {} tasks, in microseconds: empty ones, and such as wait until all have begun.\n",
        *THREADS
    );
    println!("| | spinning | rayon | scoped |\n|---|---|---|---|");
    for (n, name) in ["empty", "until all have begun"].into_iter().enumerate() {
        println!("| {name} | {:.2} | {:.2} | {:.2} |", costs[0][n], costs[1][n], costs[2][n]);
    }

    println!("\n{} threads over one, f32 to i64; microseconds for one:\n", *THREADS);
    println!("| shape | divided | one thread | spinning | rayon | scoped | a part for each | plain reading |");
    println!("|---|---|---|---|---|---|---|---|");
    let (mut rates, largest) = ([0.0_f64; 2], 176 * MIB / 4);
    let input: Vec<f32> = (0..largest as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 8) as f32).collect();
    for Shape { name, sizes, axis } in SHAPES.iter().filter(|shape| shape.name.contains(filter)) {
        let input = &input[..sizes.iter().product()];
        let bytes = size_of_val(input);
        if is_test && bytes > 16 * MIB {
            continue;
        }
        let plan: Plan<f32, i64> =
            ArgReduce::argmax(&Layout::contiguous(sizes).unwrap()).axes(&[*axis]).plan().unwrap();
        let expected = plan.collect::<Vec<i64>>(input).unwrap();
        let mut outputs = [(); 4].map(|()| vec![0; expected.len()]);
        let [alone, a, b, c] = &mut outputs;
        let mut run_alone = || plan.run(input, &mut *alone).unwrap();
        let words = input.len() / *THREADS;
        let with_outputs = |part: Plan<f32, i64>| {
            let output = vec![0; part.output_layout().required_len()];
            (part, Mutex::new(output))
        };
        let parts: Vec<_> = (0..*THREADS).filter_map(|n| part_of(sizes, *axis, n)).map(with_outputs).collect();
        let (times, readers, division) = Spinning::with(|spinning| {
            let mut run = || plan.run(argreduce::input(input).on(spinning), &mut *a).unwrap();
            let run_part = |n: usize| parts[n].0.run(input, &mut parts[n].1.lock().unwrap()[..]).unwrap();
            let mut run_parts = || spinning.parallel_for(parts.len(), &run_part);
            let read_part = |n: usize| _ = black_box(read(&input[n * words..][..words]));
            let mut read_parts = || spinning.parallel_for(*THREADS, &read_part);
            let times = fastest(is_test, bytes, [&mut run_alone, &mut run, &mut run_parts]);
            let readers = fastest(is_test, bytes, [&mut || _ = black_box(read(input)), &mut read_parts]);
            (times, readers, plan.division_on(spinning).to_string())
        });
        let mut on_rayon = || plan.run(argreduce::input(input).on(&Rayon), &mut *b).unwrap();
        let mut on_scoped = || plan.run(argreduce::input(input).on(&scoped), &mut *c).unwrap();
        let beside = fastest(is_test, bytes, [&mut run_alone, &mut on_rayon, &mut on_scoped]);
        assert!(outputs.iter().all(|output| *output == expected), "{plan}");
        let ratio = |one: Duration, all: Duration| one.as_secs_f64() / all.as_secs_f64();
        let of = |executor: &dyn Executor, all: Duration| match plan.division_on(executor).to_string().as_str() {
            "1 task" => "-".to_string(),
            _ => format!("{:.2}", ratio(beside[0], all)),
        };
        println!(
            "| {name} | {division} | {:.1} | {:.2} | {} | {} | {} | {:.2} |",
            times[0].as_secs_f64() * 1e6,
            ratio(times[0], times[1]),
            of(&Rayon, beside[1]),
            of(&scoped, beside[2]),
            if parts.is_empty() { "-".to_string() } else { format!("{:.2}", ratio(times[0], times[2])) },
            ratio(readers[0], readers[1]),
        );
        // Bytes in a microsecond, and how much more several readers get.
        if name.starts_with("L2 rows") && rates[0] == 0.0 {
            rates[0] = bytes as f64 / (times[0].as_secs_f64() * 1e6);
        }
        if name.starts_with("64 MiB") {
            rates[1] = ratio(readers[0], readers[1]);
        }
    }
    model([256 << 10, Rayon.min_task_bytes(), scoped.min_task_bytes()], costs.map(|[_, both]| both), rates);
}

/// Part `n` of a tensor that is cut into as many equal parts as there are threads, along its first axis that can be.
fn part_of(sizes: &[usize], axis: isize, n: usize) -> Option<Plan<f32, i64>> {
    let along = sizes.iter().position(|size| size.is_multiple_of(*THREADS))?;
    let size = sizes[along] / *THREADS;
    let range = (n * size) as isize..((n + 1) * size) as isize;
    let part = Layout::contiguous(sizes).unwrap().slice(along as isize, range, 1);
    Some(ArgReduce::argmax(&part.unwrap()).axes(&[axis]).plan().unwrap())
}

/// From which size on twice as many threads are faster, if each costs as much to begin as the second, and reads from
/// its own L2 cache: `bytes / rate * (2 / n - 1 / n) = cost * n / 2`.
fn model(min_task_bytes: [usize; 3], costs: [f64; 3], [rate, readers]: [f64; 2]) {
    // (More threads tell nothing of the second.)
    if rate == 0.0 || *THREADS != 2 {
        return;
    }
    println!(
        "\nBy the formula `bytes = rate * cost * n^2 / 2`: KiB from which on n threads are faster than half as many,"
    );
    println!(
        "at {:.1} bytes in a nanosecond for each; and what the plan asks for, n times `min_task_bytes`:\n",
        rate / 1e3
    );
    println!(
        "| threads | spinning | rayon | scoped | asked for: spinning | rayon | scoped |\n|---|---|---|---|---|---|---|"
    );
    for n in [2, 4, 8, 16, 32, 64] {
        let from = costs.map(|cost| format!("{:.0}", rate * cost * (n * n) as f64 / 2.0 / 1024.0));
        let asked = min_task_bytes.map(|bytes| ((n * bytes) >> 10).to_string());
        println!("| {n} | {} | {} |", from.join(" | "), asked.join(" | "));
    }
    if readers > 0.0 {
        println!("\nBeyond the last cache, memory is shared: two plain readers of 64 MiB are {readers:.2} times one.");
    }
}
