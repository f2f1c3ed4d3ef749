//! Threads that are lent: how a call is divided, who does what, panics and pauses, errors. (The differential test has
//! whatever an executor does, and the answers.)

mod common;

use argreduce::{
    ArgReduce, AxisDirection, Buffers, DataType, Error, Executor, Isa, Layout, Mask, Options, Partial, PartialBuffers,
    Rayon, ReduceFunction, ScopedThreads, Sequential, argmax, argmin, input, reference,
};
use argreduce_guard::{few, is_slow};
use bytemuck::{cast_slice, cast_slice_mut};
use common::executor::{Way, Wayward};
use common::shapes::{SHAPES, layout, reduced_axes};
use common::{Sample, dense_or_sparse, orders, rng, sample};
use rand::RngExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// What nothing can beat, at a few places: parts of a reduction that come after one are not read, whichever is done
/// first.
#[test]
fn parts_that_do_not_matter() {
    let mut rng = rng(9);
    for (name, axes) in SHAPES.into_iter().filter(|(_, axes)| axes.iter().all(|axis| axis.2)) {
        let layout = layout(axes);
        for n in 0..few(0..60, 6).count() {
            let mut input = vec![0_u8; layout.required_len()];
            for _ in 0..rng.random_range(1..4) {
                input[rng.random_range(0..layout.required_len())] = 255;
            }
            let (function, direction, policy) = orders().nth(n % 8).unwrap();
            if function == ReduceFunction::ArgMin {
                input.iter_mut().for_each(|element| *element = !*element);
            }
            let reduce = ArgReduce::new(function, &layout).all_axes().direction(direction).nan_policy(policy);
            let plan = reduce.plan::<u8, u32>().unwrap();
            let flags = vec![true; axes.len()];
            let expected = reference::arg_reduce((function, direction, policy), &layout, &flags, &input)[0];
            for way in [Way::InOrder, Way::Reversed, Way::Beside, Way::FromEight] {
                let mut index = [77];
                plan.run(argreduce::input(&input).on(&Wayward::new(way, [3, 64][n % 2])), &mut index).unwrap();
                assert_eq!(index[0] as usize, expected, "{name}, {plan}, {way:?}");
            }
        }
    }
}

/// Indices of a window that no `isize` holds.
#[test]
#[cfg(target_pointer_width = "64")]
fn parts_of_huge_indices() {
    let layout = Layout::strided(&[3, 10_000], &[1, 3], 0).unwrap();
    let mut input = vec![false; 30_000];
    (input[3 * 6000], input[3 * 10], input[2]) = (true, true, true);
    for direction in argreduce::AxisDirection::ALL {
        let reduce = ArgReduce::argmax(&layout).all_axes().direction(direction).window(&[3, 1 << 62], &[0, 0]);
        let plan = reduce.plan::<bool, u64>().unwrap();
        let expected = if direction == argreduce::AxisDirection::Increasing { 10 } else { 2 << 62 };
        for way in [Way::Nothing, Way::InOrder, Way::Reversed, Way::Beside] {
            let mut index = [77];
            plan.run(argreduce::input(&input).on(&Wayward::new(way, 3)), &mut index).unwrap();
            assert_eq!(index[0], expected, "{plan}, {way:?}");
        }
        let mut index = [77];
        plan.run(&input, &mut index).unwrap();
        assert_eq!(index[0], expected, "{plan}");
    }
}

/// What answers by new vectors, and streams: each call is lent the executor once, and gives the answer of one thread.
#[test]
fn vectors_and_streams() {
    type Answer<T> = Result<(Vec<u32>, Vec<T>), Error>;
    fn bits<T: Sample>(answer: Answer<T>) -> (Vec<u32>, Vec<u64>) {
        let (indices, values) = answer.unwrap();
        (indices, values.into_iter().map(|value| value.bits()).collect())
    }
    fn check_lent<T: Sample>(way: Way, alone: Answer<T>, run: impl Fn(&dyn Executor) -> Answer<T>) {
        let (executor, alone) = (Wayward::new(way, 3), bits(alone));
        let (indices, values) = bits(run(&executor));
        assert_eq!(indices, alone.0, "{executor:?}");
        assert!(values.is_empty() || values == alone.1, "{executor:?}");
        assert_eq!(executor.calls.load(Relaxed), 1);
    }
    fn agree<T: Sample>() {
        let sizes = [3, 700, 5];
        let layout = Layout::contiguous(&sizes).unwrap();
        for (n, (function, direction, policy)) in orders().enumerate() {
            let options = Options::new().direction(direction).nan_policy(policy);
            let input = &dense_or_sparse::<T>(&mut rng(n as u64), layout.required_len(), n % 2 == 1);
            let way = Way::ALL[n % Way::ALL.len()];
            for axes in [&[1][..], &[0, 2], &[0, 1, 2]] {
                let indices = |answer: Result<_, Error>| answer.map(|indices| (indices, vec![]));
                let reduce = ArgReduce::new(function, &layout).axes(axes).options(options);
                let plan = reduce.plan::<T, u32>().unwrap();
                let alone = || plan.collect::<(Vec<u32>, Vec<T>)>(input);
                assert_eq!(plan.collect::<Vec<u32>>(input).unwrap(), alone().unwrap().0);
                check_lent(way, alone(), |executor| indices(plan.collect(argreduce::input(input).on(executor))));
                check_lent(way, alone(), |executor| plan.collect(argreduce::input(input).on(executor)));
                if options == Options::new() {
                    check_lent(way, alone(), |executor| {
                        let input = argreduce::input(input).on(executor);
                        match function {
                            ReduceFunction::ArgMin => argmin(input, &sizes, axes),
                            _ => argmax(input, &sizes, axes),
                        }
                    });
                }
            }
            // The first chunk is what the executor is lent to.
            let lines = Layout::contiguous(&[2000, 5]).unwrap();
            let reduce = ArgReduce::new(function, &lines).axes(&[0]).options(options);
            let alone = reduce.plan::<T, u32>().unwrap().collect(input);
            check_lent(way, alone, |executor| {
                let mut stream = reduce.stream::<T, u32>(0)?;
                stream.push(&Layout::contiguous(&[1500, 5])?, argreduce::input(&input[..7500]).on(executor))?;
                stream.push(&Layout::contiguous(&[500, 5])?, &input[7500..])?;
                assert_eq!(stream.collect::<Vec<u32>>()?, stream.collect::<(Vec<u32>, Vec<T>)>()?.0);
                stream.collect()
            });
        }
    }
    for_each_type!(agree(): u8 f32 i64);
}

/// What the shapes of the differential test are divided into, so that none of the ways goes untested.
#[test]
fn what_is_divided() {
    let expected = [
        ["3 tasks, 3 parts of the outputs", "4 tasks, 4 parts of the outputs"],
        ["3 tasks, 3 slabs of the reduction", "4 tasks, 4 slabs of the reduction"],
        ["3 tasks, 21 slabs of the reduction", "22 tasks, 22 slabs of the reduction"],
        ["3 tasks, 24 slabs of the reduction", "64 tasks, 64 slabs of the reduction"],
        ["3 tasks, 24 slabs of the reduction", "64 tasks, 64 slabs of the reduction"],
        ["3 tasks, 24 slabs of the reduction", "53 tasks, 53 slabs of the reduction"],
        ["3 tasks, 18 slabs of the reduction", "50 tasks, 50 slabs of the reduction"],
        ["3 tasks, 18 slabs of the reduction", "50 tasks, 50 slabs of the reduction"],
        ["3 tasks, 6 slabs of the reduction", "7 tasks, 7 slabs of the reduction"],
        ["3 tasks, 9 parts of the outputs", "9 tasks, 9 parts of the outputs"],
        ["3 tasks, 24 parts of the outputs", "35 tasks, 35 parts of the outputs"],
        ["3 tasks, 3 slabs of the reduction", "3 tasks, 3 slabs of the reduction"],
        ["3 tasks, 3 slabs of the reduction", "4 tasks, 4 slabs of the reduction"],
        ["3 tasks, 21 slabs of the reduction", "23 tasks, 23 slabs of the reduction"],
        ["3 tasks, 3 parts of the outputs", "5 tasks, 5 parts of the outputs"],
        ["3 tasks, 24 parts of the outputs", "43 tasks, 43 parts of the outputs"],
        ["2 tasks, 2 parts of the outputs", "2 tasks, 2 parts of the outputs"],
        ["3 tasks, 24 slabs of the reduction", "64 tasks, 64 slabs of the reduction"],
        ["3 tasks, 6 slabs of the reduction", "7 tasks, 7 slabs of the reduction"],
        ["3 tasks, 21 slabs of the reduction", "23 tasks, 23 slabs of the reduction"],
        ["3 tasks, 3 slabs of the reduction", "5 tasks, 5 slabs of the reduction"],
    ];
    for ((name, axes), expected) in SHAPES.into_iter().zip(expected) {
        let layout = layout(axes);
        let reduce = ArgReduce::argmax(&layout).axes(&reduced_axes(axes)).isa(Isa::Portable);
        let (plan, untyped) =
            (reduce.plan::<f32, u32>().unwrap(), reduce.plan_untyped(DataType::F32, DataType::U32).unwrap());
        for (width, expected) in [3, 64].into_iter().zip(expected) {
            let executor = Wayward::new(Way::Nothing, width);
            assert_eq!(plan.division_on(&executor).to_string(), expected, "{name}");
            assert_eq!(untyped.division_on(&executor).to_string(), expected, "{name}");
        }
        for width in [0, 1] {
            assert_eq!(plan.division_on(&Wayward::new(Way::Nothing, width)).to_string(), "1 task");
        }
    }
}

/// The panic is that of the executor, and the outputs are some or others.
/// The first and the last index whose element is one of those that are looked for: by which places, from each axis on,
/// lead to one.
fn first_and_last(sizes: &[usize], strides: &[usize], is_one: Vec<bool>) -> [usize; 2] {
    let mut lead = vec![is_one];
    for (&size, &stride) in sizes.iter().zip(strides).rev() {
        let inside = &lead[0];
        let leads = |place: usize| (0..size).any(|n| inside.get(place + n * stride) == Some(&true));
        lead.insert(0, (0..inside.len()).map(leads).collect());
    }
    [false, true].map(|is_last| {
        let (mut place, mut index) = (0, 0);
        for ((&size, &stride), inside) in sizes.iter().zip(strides).zip(&lead[1..]) {
            let leads = |&n: &usize| inside[place + n * stride];
            let n = if is_last { (0..size).rev().find(leads) } else { (0..size).find(leads) };
            let n = n.expect("coordinates that lead to one");
            (place, index) = (place + n * stride, index * size + n);
        }
        index
    })
}

/// More elements than positions count, by strides that overlap, so that few of them are in memory: along up to eight
/// axes of which none is as far apart as the steps of another. That is as many loops as there can be, and some are cut.
/// (What nothing beats is all over, so that each part has some soon.)
#[test]
fn more_than_positions_count() {
    let mut rng = rng(23);
    let mut cases = vec![(vec![32, 10, 18, 34, 17, 10, 33, 4], vec![1; 8])];
    while cases.len() < if is_slow() { 5 } else { 50 } {
        let rank = 6 + cases.len() % 3;
        let sizes: Vec<usize> = (0..rank).map(|_| rng.random_range(2..120)).collect();
        if (1 << 32..1 << 40).contains(&sizes.iter().product::<usize>()) {
            cases.push((sizes, (0..rank).map(|_| rng.random_range(1..4)).collect()));
        }
    }
    for (sizes, strides) in cases {
        let of_layout: Vec<isize> = strides.iter().map(|&stride| stride as isize).collect();
        let layout = Layout::strided(&sizes, &of_layout, 0).unwrap();
        let mut x: Vec<u8> = (0..layout.required_len()).map(|_| rng.random_range(0..8)).collect();
        x.iter_mut().filter(|element| **element == 7).for_each(|element| *element = u8::MAX);
        let expected = first_and_last(&sizes, &strides, x.iter().map(|&element| element == u8::MAX).collect());
        for (direction, expected) in AxisDirection::ALL.into_iter().zip(expected) {
            let plan = ArgReduce::argmax(&layout).all_axes().direction(direction).plan::<u8, u64>().unwrap();
            for way in [Way::InOrder, Way::Reversed, Way::Nothing] {
                let found: Vec<u64> = plan.collect(input(&x).on(&Wayward::new(way, 3))).unwrap();
                assert_eq!(found, [expected as u64], "{plan}, {way:?}, {strides:?}");
            }
        }
    }
}

#[test]
fn a_panic_resumes_on_the_caller() {
    struct Panics(usize);
    impl Executor for Panics {
        fn width(&self) -> usize {
            4
        }
        fn min_task_bytes(&self) -> usize {
            1
        }
        fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            thread::scope(|scope| {
                scope.spawn(|| (0..tasks).take(self.0).for_each(task)).join().unwrap();
                panic!("in the middle")
            })
        }
    }
    for (_, axes) in SHAPES {
        let layout = layout(axes);
        let input = sample::<f32>(&mut rng(9), layout.required_len());
        let axes = reduced_axes(axes);
        let reduce = ArgReduce::argmax(&layout).axes(&axes);
        let plan = reduce.plan::<f32, u32>().unwrap();
        let untyped = reduce.plan_untyped(DataType::F32, DataType::U32).unwrap();
        let count = plan.output_layout().required_len();
        let (mut indices, mut values, mut partials) = (vec![0; count], vec![0.0; count], vec![Partial::NONE; count]);
        let panics = |run: &mut dyn FnMut() -> Result<(), Error>| {
            let panic = catch_unwind(AssertUnwindSafe(run));
            assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"in the middle"));
        };
        for e in [0, 2, 4].map(Panics) {
            panics(&mut || plan.run(argreduce::input(&input).on(&e), &mut indices));
            panics(&mut || plan.run(argreduce::input(&input).on(&e), (&mut indices, &mut values)));
            panics(&mut || plan.run(argreduce::input(&input).on(&e), &mut partials));
            panics(&mut || plan.collect::<Vec<u32>>(argreduce::input(&input).on(&e)).map(drop));
            panics(&mut || plan.collect::<(Vec<u32>, Vec<f32>)>(argreduce::input(&input).on(&e)).map(drop));
            let bytes = argreduce::input::<u8>(cast_slice(&input)).on(&e);
            let (indices, values): (&mut [u8], &mut [u8]) = (cast_slice_mut(&mut indices), cast_slice_mut(&mut values));
            panics(&mut || untyped.run(bytes, &mut *indices));
            panics(&mut || untyped.run(bytes, Buffers { indices, values: Some(values) }));
            panics(&mut || untyped.run(bytes, PartialBuffers { indices, values }));
        }
    }
}

/// What a long call calls on its way.
struct Pausing<'a> {
    width: usize,
    pause: &'a (dyn Fn() + Sync),
}

impl Executor for Pausing<'_> {
    fn width(&self) -> usize {
        self.width
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(task);
    }

    fn pause(&self) -> Option<&(dyn Fn() + Sync)> {
        Some(self.pause)
    }
}

/// A long call pauses, and gives the same answer; and a panic in a pause ends it.
#[test]
fn long_calls_pause() {
    // No less, or some of these are too short to pause.
    let len = 1 << 26;
    // Rows, columns and segments, of windows that overlap: of little memory, and looked at one by one.
    let cases: [(&[usize], &[isize], &[isize]); 6] = [
        (&[len >> 10, 1 << 10], &[65, 1], &[1]),
        (&[16, len >> 4], &[1, 1], &[0, 1]),
        (&[1 << 11, len >> 11], &[5, 1], &[0]),
        (&[3, 64, len >> 8], &[7, 1 << 10, 3], &[0, 2]),
        (&[len >> 2, 4], &[2, 1], &[0]),
        (&[1 << 9, 2, len >> 10], &[11, 3, 5], &[0, 2]),
    ];
    for (sizes, strides, axes) in cases {
        let reach: usize = sizes.iter().zip(strides).map(|(&size, &stride)| (size - 1) * stride as usize).sum();
        let x: Vec<u8> = (0..=reach as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 25) as u8).collect();
        let layout = Layout::strided(sizes, strides, 0).unwrap();
        let plan = ArgReduce::argmax(&layout).axes(axes).plan::<u8, u64>().unwrap();
        let both = ArgReduce::argminmax(&layout).axes(axes).plan_both::<u8, u64>().unwrap();
        let expected: Vec<u64> = plan.collect(&x).unwrap();
        let expected_both: [Vec<u64>; 2] = both.collect(&x).unwrap();
        for width in [1, 3] {
            let pauses = AtomicUsize::new(0);
            let executor = Pausing { width, pause: &|| _ = pauses.fetch_add(1, Relaxed) };
            let paused = input(&x).on(&executor);
            assert_eq!(plan.collect::<Vec<u64>>(paused).unwrap(), expected, "{plan}");
            assert!(pauses.swap(0, Relaxed) > 1, "{plan}");
            assert_eq!(both.collect::<Vec<u64>>(paused).unwrap(), expected_both, "{plan}");
            // On one thread, both of up to two gigabytes may be one pass.
            assert!(pauses.swap(0, Relaxed) > 1 || width == 1, "{plan}");
            let mut partials = vec![Partial::NONE; expected.len()];
            plan.run(paused, &mut partials).unwrap();
            assert!(partials.iter().map(|partial| partial.index).eq(expected.iter().copied()), "{plan}");
            assert!(pauses.swap(0, Relaxed) > 1, "{plan}");
        }
        let ends = Pausing { width: 2, pause: &|| resume_unwind(Box::new(17)) };
        let mut indices = vec![0; expected.len()];
        let ended = |run: &mut dyn FnMut() -> Result<(), Error>| {
            let panic = catch_unwind(AssertUnwindSafe(run));
            assert_eq!(panic.expect_err("it does not end").downcast_ref(), Some(&17), "{plan}");
        };
        let ending = input(&x).on(&ends);
        ended(&mut || plan.run(ending, &mut indices));
        ended(&mut || plan.run(ending, (&mut indices, &mut vec![0; expected.len()])));
        ended(&mut || both.collect::<Vec<u64>>(ending).map(drop));
        let mut mask = vec![true; layout.element_count()];
        mask[1] = false;
        ended(&mut || plan.run(ending.masked(Mask::bools(&mask)), &mut indices));
        plan.run(&x, &mut indices).unwrap();
        assert_eq!(indices, expected);
    }
}

/// Short ones do not.
#[test]
fn short_calls_do_not_pause() {
    let executor = Pausing { width: 4, pause: &|| panic!("a pause") };
    let plan = ArgReduce::argmax(&Layout::contiguous(&[1 << 20]).unwrap()).all_axes().plan::<f32, u64>().unwrap();
    let x = vec![0.0; 1 << 20];
    assert_eq!(plan.collect(input(&x).on(&Pausing { width: 1, ..executor })), Ok(vec![0]));
    let (plan, mask) = (ArgReduce::argmax(&Layout::contiguous(&[100]).unwrap()).all_axes(), [[false, true]; 50]);
    let plan = plan.plan::<f32, u64>().unwrap();
    let short = input(&x[..100]).on(&executor);
    assert_eq!(plan.collect(short), Ok(vec![0]));
    assert_eq!(plan.collect(short.masked(Mask::bools(mask.as_flattened()))), Ok(vec![1]));
}

/// A chunk whose executor panics was not taken.
#[test]
fn a_stream_outlives_a_panic() {
    struct Panics;
    impl Executor for Panics {
        fn width(&self) -> usize {
            4
        }
        fn min_task_bytes(&self) -> usize {
            1
        }
        fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            (0..tasks).for_each(task);
            panic!("after all tasks")
        }
    }
    let chunk = Layout::contiguous(&[3000, 3]).unwrap();
    let mut stream = ArgReduce::argmax(&chunk).axes(&[0]).stream::<f32, u32>(0).unwrap();
    stream.push(&chunk, &[1.0; 9000]).unwrap();
    catch_unwind(AssertUnwindSafe(|| stream.push(&chunk, argreduce::input(&[9.0; 9000]).on(&Panics)))).unwrap_err();
    assert_eq!((stream.position(), stream.collect::<(Vec<u32>, Vec<f32>)>()), (3000, Ok((vec![0; 3], vec![1.0; 3]))));
    stream.push(&chunk, argreduce::input(&[2.0; 9000]).on(&Sequential)).unwrap();
    assert_eq!(
        (stream.position(), stream.collect::<(Vec<u32>, Vec<f32>)>()),
        (6000, Ok((vec![3000; 3], vec![2.0; 3])))
    );
}

/// Those that the library brings, on what is worth several threads to them.
#[test]
fn threads_of_the_library() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for sizes in [[64, 1 << 20], [1, 1 << 26], [1 << 17, 512]] {
        let layout = Layout::contiguous(&sizes).unwrap();
        let input = dense_or_sparse::<u8>(&mut rng(5), layout.required_len(), true);
        let plan = ArgReduce::argmin(&layout).axes(&[1]).plan::<u8, u32>().unwrap();
        let alone: Vec<u32> = plan.collect(&input).unwrap();
        for executor in [&Sequential as &dyn Executor, &ScopedThreads::new(0), &ScopedThreads::new(3), &Rayon, &pool] {
            let mut indices = vec![77; sizes[0]];
            plan.run(argreduce::input(&input).on(executor), &mut indices).unwrap();
            assert!(indices == alone, "{sizes:?}");
        }
        assert_eq!(plan.division_on(&Sequential).to_string(), "1 task");
        for executor in [&ScopedThreads::new(3) as &dyn Executor, &pool] {
            assert!(plan.division_on(executor).to_string().starts_with("3 tasks"));
        }
    }
    // Each task once, also of more tasks than threads.
    for executor in [&Sequential as &dyn Executor, &ScopedThreads::new(0), &ScopedThreads::new(3), &Rayon, &pool] {
        for tasks in [0, 1, 2, 7] {
            let calls: [AtomicUsize; 8] = Default::default();
            executor.parallel_for(tasks, &|n| _ = calls[n].fetch_add(1, Relaxed));
            assert!(calls.iter().enumerate().all(|(n, calls)| calls.load(Relaxed) == usize::from(n < tasks)));
        }
    }
}

/// The caller does the first task, and threads of the pool the others, at the same time; from outside, from within, and
/// from another pool. A panic of any task resumes on the caller.
#[test]
fn rayon_shares_with_the_caller() {
    let [pool, other] = [3, 1].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    let check = |executor: &dyn Executor| {
        let (meeting, caller) = (Barrier::new(3), thread::current().id());
        executor.parallel_for(3, &|n| {
            meeting.wait();
            assert_eq!(thread::current().id() == caller, n == 0);
            assert!(n == 0 || pool.current_thread_index().is_some());
        });
        for panics in 0..3 {
            let call = || executor.parallel_for(3, &|n| assert!(n != panics, "task {n}"));
            catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        }
    };
    check(&pool);
    pool.install(|| check(&pool));
    pool.install(|| check(&Rayon));
    other.install(|| check(&pool));
    assert_eq!((pool.width(), pool.install(|| Rayon.width()), other.width()), (3, 3, 1));
}

#[test]
#[ignore = "run by the next test, in a process of its own"]
fn child_without_threads() {
    thread::Builder::new().spawn(|| ()).expect_err("no memory has such a stack");
    for tasks in [1, 2, 7] {
        let calls: [AtomicUsize; 7] = Default::default();
        ScopedThreads::new(3).parallel_for(tasks, &|n| _ = calls[n].fetch_add(1, Relaxed));
        assert!(calls.iter().enumerate().all(|(n, calls)| calls.load(Relaxed) == usize::from(n < tasks)));
    }
}

/// Where the system gives no thread, the caller's does each task, once.
#[test]
fn the_system_gives_no_threads() {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_without_threads", "--ignored", "--test-threads=1"])
        // The stack of each thread, in bytes.
        .env("RUST_MIN_STACK", (usize::MAX / 4 + 1).to_string())
        .output()
        .unwrap();
    let text = String::from_utf8(child.stdout).unwrap();
    assert!(child.status.success() && text.contains("1 passed"), "{text}");
}

/// Slices that are too short are an error before any task begins; an empty output is none.
#[test]
fn errors_come_before_tasks() {
    let executor = Wayward::new(Way::InOrder, 4);
    let plan = ArgReduce::argmax(&Layout::contiguous(&[100, 100]).unwrap()).axes(&[1]).plan::<u8, u8>().unwrap();
    let (input, mut indices, mut values) = ([1; 10_000], [7; 100], [7; 100]);
    plan.run(argreduce::input(&input[1..]).on(&executor), &mut indices).unwrap_err();
    plan.run(argreduce::input(&input).on(&executor), &mut indices[1..]).unwrap_err();
    plan.run(argreduce::input(&input).on(&executor), (&mut indices, &mut values[1..])).unwrap_err();
    assert_eq!((indices, values), ([7; 100], [7; 100]));
    let empty = ArgReduce::argmax(&Layout::contiguous(&[0, 100]).unwrap()).axes(&[1]).plan::<u8, u8>().unwrap();
    empty.run(argreduce::input(&[]).on(&executor), &mut [0; 0]).unwrap();
    plan.collect::<Vec<u8>>(argreduce::input(&input[1..]).on(&executor)).unwrap_err();
    let on = argreduce::input(&input).on(&executor);
    argmax::<Vec<u32>, _, _>(on, &[100, 99], &[1]).unwrap_err();
    argmax::<(Vec<u32>, Vec<u8>), _, _>(on, &[100, 100], &[2]).unwrap_err();
    let mut stream = ArgReduce::argmax(&Layout::contiguous(&[1, 100]).unwrap()).axes(&[0]).stream::<u8, u8>(0).unwrap();
    stream.push(&Layout::contiguous(&[100, 100]).unwrap(), argreduce::input(&input[1..]).on(&executor)).unwrap_err();
    stream.push(&Layout::contiguous(&[100, 99]).unwrap(), argreduce::input(&input).on(&executor)).unwrap_err();
    assert_eq!(stream.position(), 0);
    assert_eq!(executor.calls.load(Relaxed), 0);
}

/// An executor that swallows the panic of a task: the part that it was in is not done, and that is no answer.
#[test]
fn what_is_swallowed_is_no_answer() {
    struct Swallows<'a>(&'a (dyn Fn() + Sync));
    impl Executor for Swallows<'_> {
        fn width(&self) -> usize {
            2
        }

        fn min_task_bytes(&self) -> usize {
            1
        }

        fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            (0..tasks).for_each(|n| _ = catch_unwind(AssertUnwindSafe(|| task(n))));
        }

        fn pause(&self) -> Option<&(dyn Fn() + Sync)> {
            Some(self.0)
        }
    }
    let x = vec![1_u8; 8 << 20];
    let mask: Vec<bool> = (0..x.len()).map(|n| n % 3 > 0).collect();
    for (sizes, axis) in [([8 << 20, 1], 0), ([1 << 10, 8 << 10], 1)] {
        let layout = Layout::contiguous(&sizes).unwrap();
        let plan = ArgReduce::argmin(&layout).axes(&[axis]).plan::<u8, u32>().unwrap();
        for mask in [None, Some(Mask::bools(&mask))] {
            let first = AtomicUsize::new(0);
            let pause = || {
                if first.fetch_add(1, Relaxed) == 0 {
                    resume_unwind(Box::new(17));
                }
            };
            let run = || plan.collect::<Vec<u32>>(input(&x).masked(mask).on(&Swallows(&pause)));
            let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("an answer that is not complete");
            let said = panic.downcast_ref::<String>().expect("a message");
            assert!(said.contains("a task has panicked"), "{said}");
        }
    }
}
