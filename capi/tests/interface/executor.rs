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

/// sizeof(argreduce_executor) in the first header, for ever: three words and two numbers of 32 bits.
const FIRST_BYTES: usize = 3 * size_of::<usize>() + 8;

#[test]
fn every_executor_has_the_answer() {
    let operator = compile(&desc(&[3, 5000], &[1])).unwrap();
    let mut input = [0.0_f32; 15_000];
    (input[4999], input[5000], input[12_345]) = (1.0, 2.0, 3.0);
    let calls = AtomicUsize::new(0);
    let threads = executor(&calls, 4);
    let too_few_bytes = argreduce_executor { min_task_kib: 0, ..threads };
    let cases: [(*const argreduce_executor, usize); 7] = [
        (&threads, 3),
        // As a program of the first version says, and of versions to come: what else they have is not read.
        (&argreduce_executor { size: FIRST_BYTES, ..threads }, 3),
        (&argreduce_executor { size: usize::MAX, ..threads }, 3),
        (&argreduce_executor { parallel_for: Some(nothing), ..threads }, 0),
        (&argreduce_executor { width: 0, ..threads }, 0),
        (&too_few_bytes, 0),
        (null(), 0),
    ];
    for (executor, expected_calls) in cases {
        let (mut output, mut again, mut values) = ([9_u32; 3], [9_u32; 3], [9.0_f32; 3]);
        let (mut part, mut part_values) = ([9_u32; 3], [9.0_f32; 3]);
        calls.store(0, Relaxed);
        let (from, bytes) = (input.as_ptr().cast(), size_of_val(&input));
        // SAFETY: the buffers are as long as said.
        unsafe {
            let to = output.as_mut_ptr().cast();
            assert_eq!(argreduce_execute_on(operator.0, executor, from, bytes, to, 12), ARGREDUCE_OK);
            let (to, values) = (again.as_mut_ptr().cast(), values.as_mut_ptr().cast());
            let status = argreduce_execute_with_values_on(operator.0, executor, from, bytes, to, 12, values, 12);
            assert_eq!(status, ARGREDUCE_OK);
            let (to, values) = (part.as_mut_ptr().cast(), part_values.as_mut_ptr().cast());
            let status = argreduce_execute_partials_on(operator.0, executor, from, bytes, values, 12, to, 12);
            assert_eq!(status, ARGREDUCE_OK);
        }
        let (indices, bests) = ([4999, 0, 2345], [1.0, 2.0, 3.0]);
        assert_eq!((output, again, values, part, part_values), (indices, indices, bests, indices, bests));
        assert_eq!(calls.load(Relaxed), expected_calls);
    }
}

#[test]
fn a_wrong_executor_is_refused() {
    let operator = compile(&desc(&[2, 3], &[1])).unwrap();
    let calls = AtomicUsize::new(0);
    let good = executor(&calls, 2);
    let refused = |executor: *const argreduce_executor, status: argreduce_status, expected: &str| {
        let (input, mut output, mut values) = ([0.0_f32; 6], [9_u32; 2], [9.0_f32; 2]);
        let (from, to, values_to) = (input.as_ptr().cast(), output.as_mut_ptr().cast(), values.as_mut_ptr().cast());
        // SAFETY: the buffers are as long as said; of the executor, no more is read than is checked.
        unsafe {
            refused(argreduce_execute_on(operator.0, executor, from, 24, to, 8), status, expected);
            let found = argreduce_execute_with_values_on(operator.0, executor, from, 24, to, 8, values_to, 8);
            refused(found, status, expected);
            let found = argreduce_execute_partials_on(operator.0, executor, from, 24, values_to, 8, to, 8);
            refused(found, status, expected);
        }
        assert_eq!((output, values), ([9; 2], [9.0; 2]));
    };
    let first = FIRST_BYTES;
    for size in [0, 1, size_of::<usize>(), first - 4, first - 1] {
        let message =
            format!("executor->size is {size}: it has to be sizeof(argreduce_executor), which is at least {first}");
        refused(&argreduce_executor { size, ..good }, ARGREDUCE_UNKNOWN_VALUE, &message);
    }
    refused(
        &argreduce_executor { parallel_for: None, ..good },
        ARGREDUCE_NULL_POINTER,
        "executor->parallel_for is NULL",
    );
    let misaligned = (&raw const good).cast::<u8>().wrapping_add(1).cast();
    refused(misaligned, ARGREDUCE_MISALIGNED, "executor is misaligned: its address has to be a multiple of 8");
}
