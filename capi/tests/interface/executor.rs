//! Threads that the caller lends, as C lends them.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts its calls in the context, and runs every task twice, on two threads.
unsafe extern "C" fn twice(context: *mut c_void, task: argreduce_task, tasks: usize, data: *mut c_void) {
    // SAFETY: the context of these tests.
    unsafe { &*context.cast::<AtomicUsize>() }.fetch_add(1, Relaxed);
    struct Data(*mut c_void);
    // SAFETY: as the header says, tasks run on any threads.
    unsafe impl Sync for Data {}
    let data = Data(data);
    // SAFETY: within the call.
    let run = |data: &Data| (0..tasks).for_each(|n| unsafe { task(data.0, n) });
    std::thread::scope(|scope| {
        scope.spawn(|| run(&data));
        run(&data);
    });
}

unsafe extern "C" fn nothing(_: *mut c_void, _: argreduce_task, _: usize, _: *mut c_void) {}

pub(super) fn executor(calls: &AtomicUsize, width: u32) -> argreduce_executor {
    argreduce_executor {
        size: size_of::<argreduce_executor>(),
        context: (&raw const *calls).cast_mut().cast(),
        parallel_for: Some(twice),
        width,
        min_task_kib: 1,
    }
}

#[test]
fn every_executor_has_the_answer() {
    let operator = compile(&desc(&[3, 5000], &[1])).unwrap();
    let mut input = [0.0_f32; 15_000];
    (input[4999], input[5000], input[12_345]) = (1.0, 2.0, 3.0);
    let calls = AtomicUsize::new(0);
    let threads = executor(&calls, 4);
    let too_few_bytes = argreduce_executor { min_task_kib: 0, ..threads };
    let cases: [(*const argreduce_executor, usize); 5] = [
        (&threads, 3),
        (&argreduce_executor { parallel_for: Some(nothing), ..threads }, 0),
        (&argreduce_executor { width: 0, ..threads }, 0),
        (&too_few_bytes, 0),
        (null(), 0),
    ];
    for (executor, expected_calls) in cases {
        calls.store(0, Relaxed);
        for (values, is_partial) in [(0, 0), (3, 0), (3, 1)] {
            let mut found = Found::<u32, f32>::new(1, 3, values);
            let call = argreduce_call { executor, is_partial, ..found.call(&input) };
            assert_eq!(operator.run(&call), ARGREDUCE_OK, "{}", message());
            assert_eq!(
                (&found.indices[0][..], &found.values[0][..]),
                (&[4999, 0, 2345][..], &[1.0, 2.0, 3.0][..values])
            );
        }
        assert_eq!(calls.load(Relaxed), expected_calls);
    }
}
