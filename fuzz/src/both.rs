//! The smallest and the largest at once, against the reference: of the whole or of a window, with values or without,
//! under a mask or not, by executors that do as they please; as a plan with types on every ISA, and by the C interface.
//! What is refused is what a plan for one function refuses.

use crate::api::*;
use crate::masks::{Drawn, Formats};
use crate::sample::Sample;
use crate::{Outcome, Problem, model};
use arbitrary::{Arbitrary, Result, Unstructured};
use argreduce::{
    ArgReduce, DataType, Error, Executor, Index, Input, Isa, Layout, Mask, NanPolicy, Partial, PlanBoth,
    ReduceFunction, reference, with_element_type,
};
use argreduce_guard::directml::type_number;
use argreduce_guard::{Edge, Guarded};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use std::thread::scope;

/// See the file.
pub fn both(bytes: &[u8]) -> Outcome {
    let u = &mut Unstructured::new(bytes);
    let Ok((choices, mut problem)) = draw(u) else { return Outcome::Rejected };
    // Three index types: other targets ask for all of them, and each takes as long to compile as all types of elements.
    let (index_type, check): (_, fn(&Choices, &Problem)) = match problem.index_type {
        DataType::U8 | DataType::U16 => (DataType::U8, check_as::<u8>),
        DataType::I32 | DataType::U32 => (DataType::I32, check_as::<i32> as _),
        _ => (DataType::U64, check_as::<u64> as _),
    };
    problem.index_type = index_type;
    check(&choices, &problem);
    let kind = u64::from(choices.mask.is_some()) * 2 + u64::from(choices.window.is_some());
    Outcome::Checked((problem.class() * 4 + kind) * 4 + u64::from(choices.tasks.way % 4))
}

fn check_as<I: Index>(choices: &Choices, problem: &Problem) {
    with_element_type!(problem.data_type, T => check::<T, I>(choices, problem));
}

/// What a reduction of one function does not have.
#[derive(Debug)]
struct Choices {
    tasks: Tasks,
    mask: Option<Drawn>,
    /// How much of the whole lies before and behind the part, two bits each for each axis.
    window: Option<u32>,
}

fn draw(u: &mut Unstructured<'_>) -> Result<(Choices, Problem)> {
    let (kind, way): (u8, u8) = u.arbitrary()?;
    let tasks = Tasks { width: usize::from(way >> 4) % 5, way };
    let mask = if kind & 1 != 0 { Some(Drawn::arbitrary(u)?) } else { None };
    let window = if kind & 6 == 0 { Some(u.arbitrary()?) } else { None };
    Ok((Choices { tasks, mask, window }, Problem::arbitrary(u)?))
}

/// An executor: with threads, in reverse, everything twice, or nothing at all.
#[derive(Clone, Copy, Debug)]
struct Tasks {
    width: usize,
    way: u8,
}

impl Executor for Tasks {
    fn width(&self) -> usize {
        self.width
    }

    fn min_task_bytes(&self) -> usize {
        1
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        match self.way % 4 {
            0 => on_threads(self.width.clamp(1, tasks.max(1)), tasks, task),
            1 => (0..tasks).rev().for_each(task),
            2 => (0..tasks).chain(0..tasks).for_each(task),
            _ => {}
        }
    }
}

/// Each thread has every so many tasks. All are joined, and not only done: the sanitizer takes for a leak what a thread
/// frees as it ends.
fn on_threads(threads: usize, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
    let run = |first: usize| (first..tasks).step_by(threads).for_each(task);
    scope(|scope| {
        let others: Vec<_> = (1..threads).map(|first| scope.spawn(move || run(first))).collect();
        run(0);
        others.into_iter().for_each(|thread| thread.join().expect("no task panics"));
    });
}

/// The answers, the smallest first: indices in the whole, and the bits of the elements.
struct Expected {
    indices: [Vec<Option<usize>>; 2],
    bits: [Vec<u64>; 2],
    /// Of an empty part there is no answer, only partial ones.
    is_empty: bool,
}

/// Where the input lies in the whole, if it is a part.
struct Window {
    whole: Vec<usize>,
    start: Vec<usize>,
}

impl Choices {
    fn window(&self, sizes: &[usize]) -> Option<Window> {
        let margin = |axis: usize, side: usize| (self.window.unwrap_or(0) >> (4 * axis + 2 * side) & 3) as usize;
        let start: Vec<usize> = (0..sizes.len()).map(|axis| margin(axis, 0)).collect();
        let whole = (0..sizes.len()).map(|axis| start[axis] + sizes[axis] + margin(axis, 1)).collect();
        self.window.map(|_| Window { whole, start })
    }

    fn is_there(&self, n: usize) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask.is_there(n))
    }

    /// What the reference says of both functions.
    fn expected<T: Sample>(&self, problem: &Problem, window: Option<&Window>, input: &[T]) -> Expected {
        let Problem { order: (_, direction, policy), ref layout, ref axes, .. } = *problem;
        let sizes = layout.sizes();
        let reduced = model::reduced(axes, sizes.len()).expect("axes that were planned");
        let part = |wanted: bool| -> Vec<usize> {
            sizes.iter().zip(&reduced).map(|(&size, &reduced)| if reduced == wanted { size } else { 1 }).collect()
        };
        let places = |sizes: &[usize]| model::places(sizes, layout.strides()).collect::<Vec<_>>();
        let (kept, along) = (places(&part(false)), places(&part(true)));
        // An index counts along the reduced axes of the whole.
        let (mut steps, mut step, mut first) = (vec![0; sizes.len()], 1, 0);
        for axis in (0..sizes.len()).rev().filter(|&axis| reduced[axis]) {
            steps[axis] = step as isize;
            first += step * window.map_or(0, |window| window.start[axis]);
            step *= window.map_or(sizes[axis], |window| window.whole[axis]);
        }
        let in_whole: Vec<usize> = model::places(&part(true), &steps).map(|place| first + place as usize).collect();
        let found = [ReduceFunction::ArgMin, ReduceFunction::ArgMax].map(|function| {
            let order = (function, direction, policy);
            reference::arg_reduce_masked(order, layout, &reduced, input, |n| self.is_there(n))
        });
        let bits = |(place, &index): (&i128, &Option<usize>)| {
            index.map_or(0, |index| input[(layout.offset() as i128 + place + along[index]) as usize].bits())
        };
        Expected {
            bits: found.each_ref().map(|found| kept.iter().zip(found).map(bits).collect()),
            indices: found.map(|found| found.into_iter().map(|index| index.map(|index| in_whole[index])).collect()),
            is_empty: along.is_empty() && !kept.is_empty(),
        }
    }
}

/// What an output gets that has no element.
const FILL: isize = 7;
const UNTOUCHED: isize = -77;

/// All of an output, with what lies between the indices.
fn written<I: Index>(output: &Layout, indices: &[Option<usize>], none: isize) -> Vec<I> {
    let mut written = vec![I::at(UNTOUCHED, 0, 0); output.required_len()];
    for (place, index) in model::places(output.sizes(), output.strides()).zip(indices) {
        let index = index.map_or(none, |index| index as isize);
        written[(output.offset() as i128 + place) as usize] = I::at(index, 0, 0);
    }
    written
}

/// Places to write to: the indices and the values, the smallest first.
struct Outputs<I, T> {
    indices: [Guarded<I>; 2],
    values: [Guarded<T>; 2],
}

impl<I: Index, T: Sample> Outputs<I, T> {
    fn new(len: usize, values: usize, edge: Edge) -> Outputs<I, T> {
        Outputs {
            indices: [(); 2].map(|()| Guarded::filled(I::at(UNTOUCHED, 0, 0), len, edge)),
            values: [(); 2].map(|()| Guarded::filled(T::of_bits(u64::MAX), values, edge)),
        }
    }

    fn bits(&self) -> [Vec<u64>; 2] {
        self.values.each_ref().map(|values| values.iter().map(|value| value.bits()).collect())
    }

    fn is_untouched(&self) -> bool {
        let untouched = T::of_bits(u64::MAX).bits();
        self.indices.iter().all(|indices| indices.iter().all(|&index| index == I::at(UNTOUCHED, 0, 0)))
            && self.bits().iter().flatten().all(|&bits| bits == untouched)
    }
}

fn check<T: Sample, I: Index>(choices: &Choices, problem: &Problem) {
    let Problem { order: (_, direction, policy), ref layout, ref axes, ref output, edge, .. } = *problem;
    let input = Guarded::copy_of(&problem.data.elements::<T>(layout.required_len()), edge);
    let window = choices.window(layout.sizes());
    let formats = choices.mask.as_ref().map(|mask| mask.formats(layout.sizes(), edge));
    let mask = choices.mask.as_ref().zip(formats.as_ref()).map(|(mask, formats)| mask.mask(formats));
    let mut expected = None;
    for isa in Isa::available() {
        let mut both = ArgReduce::argminmax(layout).axes(axes).direction(direction).nan_policy(policy).isa(isa);
        let mut one = ArgReduce::argmax(layout).axes(axes).direction(direction).nan_policy(policy).isa(isa);
        if let Some(output) = output {
            (both, one) = (both.output_layout(output), one.output_layout(output));
        }
        if let Some(Window { whole, start }) = &window {
            (both, one) = (both.window(whole, start), one.window(whole, start));
        }
        let plan = match (both.plan_both::<T, I>(), one.plan::<T, I>()) {
            (Ok(both), Ok(_)) => both,
            (Err(both), Err(one)) => {
                assert_eq!(both.to_string(), one.to_string(), "{problem:?}");
                continue;
            }
            (both, one) => panic!("{both:?}, but {one:?}: {problem:?}"),
        };
        let expected = expected.get_or_insert_with(|| choices.expected(problem, window.as_ref(), &input));
        let with_fill = both.fill(FILL as i64).plan_both::<T, I>().expect("a fill of every type");
        let run = Run { plan: &with_fill, tasks: &choices.tasks, mask, input: &input, edge };
        run.answers(expected, problem);
        run.partials(expected, problem);
        if expected.is_empty || expected.indices[0].contains(&None) {
            let mut found = Outputs::new(plan.output_layout().required_len(), 0, edge);
            let error = Run { plan: &plan, ..run }.run(&mut found).expect_err("an output has no element");
            let is_right = matches!(error, Error::NothingThere { .. } | Error::EmptyReduction { .. });
            assert!(is_right, "{plan} of {problem:?}: {error}");
        }
    }
    by_c::<T, I>(choices, problem, (window.as_ref(), formats.as_ref()), &input, expected.as_ref());
}

/// A plan, and what it is run with.
#[derive(Clone, Copy)]
struct Run<'a, T, I> {
    plan: &'a PlanBoth<T, I>,
    tasks: &'a Tasks,
    mask: Option<Mask<'a>>,
    input: &'a [T],
    edge: Edge,
}

impl<T: Sample, I: Index> Run<'_, T, I> {
    fn read(&self) -> Input<'_, T> {
        argreduce::input(self.input).masked(self.mask).on(self.tasks)
    }

    /// With values, if there are places for them.
    fn run(&self, found: &mut Outputs<I, T>) -> std::result::Result<(), Error> {
        let ([min, max], [lowest, highest]) = (&mut found.indices, &mut found.values);
        let has_values = !lowest.is_empty() || self.plan.output_layout().element_count() == 0;
        let min = (&mut min[..], has_values.then_some(&mut lowest[..]));
        self.plan.run(self.read(), [min, (&mut max[..], has_values.then_some(&mut highest[..]))])
    }

    fn answers(&self, expected: &Expected, problem: &Problem) {
        let (plan, output) = (self.plan, self.plan.output_layout());
        let wanted = expected.indices.each_ref().map(|indices| written::<I>(output, indices, FILL));
        for values in [output.element_count(), 0] {
            let mut found = Outputs::new(output.required_len(), values, self.edge);
            let result = self.run(&mut found);
            if expected.is_empty {
                assert!(matches!(result, Err(Error::EmptyReduction { .. })), "{plan} of {problem:?}: {result:?}");
                assert!(found.is_untouched(), "{plan} wrote, and failed: {problem:?}");
                continue;
            }
            result.expect("slices are long enough");
            assert_eq!(found.indices.each_ref().map(|x| x.to_vec()), wanted, "{plan} of {problem:?}");
            if values > 0 {
                assert_eq!(found.bits(), expected.bits, "{plan}, values, of {problem:?}");
            }
        }
        self.is_refused(problem);
    }

    /// One element less in any of the slices, and nothing is written.
    fn is_refused(&self, problem: &Problem) {
        let (plan, output) = (self.plan, self.plan.output_layout());
        if output.element_count() == 0 || self.input.is_empty() {
            return;
        }
        for short in 0..4 {
            let (mut len, mut values) = ([output.required_len(); 2], [output.element_count(); 2]);
            match short {
                0 => {}
                1 | 2 => len[short - 1] -= 1,
                _ => values[1] -= 1,
            }
            let [min, max] = len.map(|len| Outputs::<I, T>::new(len, 0, self.edge).indices).map(|[first, _]| first);
            let [lowest, highest] =
                values.map(|n| Outputs::<I, T>::new(0, n, self.edge).values).map(|[first, _]| first);
            let mut found = Outputs { indices: [min, max], values: [lowest, highest] };
            let input = if short == 0 { &self.input[1..] } else { self.input };
            Run { input, ..*self }.run(&mut found).expect_err("a slice is too short");
            assert!(found.is_untouched(), "{plan} wrote, and failed: {problem:?}");
        }
    }

    fn partials(&self, expected: &Expected, problem: &Problem) {
        let plan = self.plan;
        let output = plan.output_layout();
        let [min, max]: [Vec<Partial<T, I>>; 2] = match plan.collect(self.read()) {
            Ok(partials) => partials,
            Err(error) => {
                // The index of the last element would say that there is none.
                assert!(matches!(error, Error::IndexTooLarge { .. }), "{plan} of {problem:?}: {error}");
                return;
            }
        };
        for (n, partials) in [&min, &max].into_iter().enumerate() {
            let found: Vec<_> = partials.iter().map(|partial| (partial.index, partial.value.bits())).collect();
            let index = |index: &Option<usize>| index.map_or(I::NONE, |index| I::at(index as isize, 0, 0));
            let wanted = expected.indices[n].iter().map(index).zip(expected.bits[n].iter().copied());
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{plan}, partials, of {problem:?}");
        }
        let mut found = Outputs::<I, T>::new(output.required_len(), 0, self.edge);
        let [of_min, of_max] = &mut found.indices;
        plan.finish([&min, &max], [&mut of_min[..], &mut of_max[..]]).expect("indices of the whole");
        let wanted = expected.indices.each_ref().map(|indices| written::<I>(output, indices, FILL));
        assert_eq!(found.indices.each_ref().map(|x| x.to_vec()), wanted, "{plan}, finished, of {problem:?}");
    }
}

unsafe extern "C" fn parallel_for(context: *mut c_void, task: argreduce_task, tasks: usize, data: *mut c_void) {
    // As the header says, tasks run on any threads: so what they are handed crosses them.
    let data = AtomicPtr::new(data);
    // SAFETY: the context of `by_c`.
    let executor = unsafe { &*context.cast::<Tasks>() };
    // SAFETY: within the call.
    executor.parallel_for(tasks, &|n| unsafe { task(data.load(Relaxed), n) });
}

/// The same by the C interface: it compiles if there are answers, and has these.
fn by_c<T: Sample, I: Index>(
    choices: &Choices,
    problem: &Problem,
    (window, formats): (Option<&Window>, Option<&Formats>),
    input: &[T],
    expected: Option<&Expected>,
) {
    let op = compile(problem, window);
    assert_eq!(!op.0.is_null(), expected.is_some(), "{problem:?}");
    let Some(expected) = expected else { return };
    let strides: Vec<i64> =
        formats.iter().flat_map(|formats| formats.backwards.strides()).map(|&stride| stride as i64).collect();
    let mask = formats.map(|formats| c_mask(choices.mask.as_ref().map_or(0, |mask| mask.format), formats, &strides));
    let executor = argreduce_executor {
        size: size_of::<argreduce_executor>(),
        context: (&raw const choices.tasks).cast_mut().cast(),
        parallel_for: Some(parallel_for),
        width: choices.tasks.width as u32,
        min_task_kib: 1,
    };
    let with = (&raw const executor, mask.as_ref().map_or(null(), |mask| &raw const *mask));
    let output = problem.output.unwrap_or_else(|| {
        let reduced = model::reduced(&problem.axes, problem.layout.sizes().len()).expect("axes that were planned");
        Layout::contiguous(&model::output_sizes(problem.layout.sizes(), &reduced)).expect("a part of the input's")
    });
    let (len, count) = (output.required_len(), output.element_count());
    let wanted = expected.indices.each_ref().map(|indices| written::<I>(&output, indices, FILL));
    for values in [count, 0] {
        let mut found = Outputs::<I, T>::new(len, values, problem.edge);
        let status = run(&op, 0, with, input, &mut found);
        assert_eq!(status, if expected.is_empty { ARGREDUCE_EMPTY_REDUCTION } else { ARGREDUCE_OK }, "{problem:?}");
        if expected.is_empty {
            assert!(found.is_untouched(), "{problem:?}");
            continue;
        }
        assert_eq!(found.indices.each_ref().map(|x| x.to_vec()), wanted, "{problem:?}");
        if values > 0 {
            assert_eq!(found.bits(), expected.bits, "{problem:?}");
        }
    }
    let mut found = Outputs::<I, T>::new(count, count, problem.edge);
    match run(&op, 1, with, input, &mut found) {
        ARGREDUCE_OK => {
            let index = |index: &Option<usize>| index.map_or(I::NONE, |index| I::at(index as isize, 0, 0));
            let wanted = expected.indices.each_ref().map(|indices| indices.iter().map(index).collect::<Vec<_>>());
            assert_eq!(found.indices.each_ref().map(|x| x.to_vec()), wanted, "{problem:?}");
            assert_eq!(found.bits(), expected.bits, "{problem:?}");
        }
        status => assert!(status == ARGREDUCE_INDEX_TOO_LARGE && found.is_untouched(), "{status}: {problem:?}"),
    }
    if count > 0 && !input.is_empty() {
        let mut found = Outputs::<I, T>::new(len, count, problem.edge);
        let status = run(&op, 0, with, &input[1..], &mut found);
        assert!(status == ARGREDUCE_BUFFER_TOO_SHORT && found.is_untouched(), "{status}: {problem:?}");
    }
}

/// Released when dropped; NULL where nothing was compiled.
struct Operator(*mut argreduce_operator);

impl Drop for Operator {
    fn drop(&mut self) {
        // SAFETY: NULL or compiled, and nothing else releases it.
        unsafe { argreduce_release(self.0) };
    }
}

fn compile(problem: &Problem, window: Option<&Window>) -> Operator {
    let Problem { data_type, index_type, order: (_, direction, policy), ref layout, ref output, ref axes, .. } =
        *problem;
    let numbers = |numbers: &[isize]| numbers.iter().map(|&n| n as i64).collect::<Vec<_>>();
    let sizes = |sizes: &[usize]| sizes.iter().map(|&n| n as i64).collect::<Vec<_>>();
    let arrays = |layout: &Layout| (sizes(layout.sizes()), numbers(layout.strides()), layout.offset() as i64);
    let (input, output) = (arrays(layout), output.as_ref().map(arrays));
    let described = |(sizes, strides, offset): &(Vec<i64>, Vec<i64>, i64)| argreduce_layout {
        rank: sizes.len() as u32,
        sizes: sizes.as_ptr(),
        strides: strides.as_ptr(),
        offset: *offset,
    };
    let packed = argreduce_layout { rank: 0, sizes: null(), strides: null(), offset: 0 };
    let axes = numbers(axes);
    let window = window.map(|Window { whole, start }| [sizes(whole), sizes(start)]);
    let [whole_sizes, start] = window.as_ref().map_or([null(); 2], |window| window.each_ref().map(|x| x.as_ptr()));
    let desc = argreduce_desc {
        size: size_of::<argreduce_desc>(),
        function: ARGREDUCE_ARGMINMAX,
        input_type: type_number(data_type.name()),
        input: described(&input),
        index_type: type_number(index_type.name()),
        output: output.as_ref().map_or(packed, described),
        axis_count: axes.len() as u32,
        axes: axes.as_ptr(),
        axis_direction: direction.ordinal() as u32,
        nan_policy: u32::from(policy == NanPolicy::Ignore),
        whole_sizes,
        start,
        fill: FILL as i64,
        has_fill: 1,
        reserved: 0,
        isa: null(),
    };
    let mut op = null_mut();
    // SAFETY: the description points to arrays that are as long as said.
    let status = unsafe { argreduce_compile(&desc, &mut op) };
    assert_ne!(status, ARGREDUCE_INTERNAL, "a panic");
    assert_eq!(status == ARGREDUCE_OK, !op.is_null());
    Operator(op)
}

/// A mask as C has it: bools are bytes.
fn c_mask(format: u8, formats: &Formats, strides: &[i64]) -> argreduce_mask {
    let packed = argreduce_mask {
        size: size_of::<argreduce_mask>(),
        data: formats.bytes.as_ptr().cast(),
        bytes: formats.bytes.len(),
        offset: 0,
        strides: null(),
        kind: ARGREDUCE_MASK_BYTES,
        reserved: 0,
    };
    let Formats { bits, apart, backwards, offset, .. } = formats;
    match format % 4 {
        0 => argreduce_mask {
            data: bits.as_ptr().cast(),
            bytes: bits.len(),
            offset: *offset as i64,
            kind: ARGREDUCE_MASK_BITS,
            ..packed
        },
        3 => argreduce_mask {
            data: apart.as_ptr().cast(),
            bytes: apart.len(),
            offset: backwards.offset() as i64,
            strides: strides.as_ptr(),
            ..packed
        },
        _ => packed,
    }
}

fn run<T: Sample, I: Index>(
    op: &Operator,
    is_partial: u32,
    (executor, mask): (*const argreduce_executor, *const argreduce_mask),
    input: &[T],
    found: &mut Outputs<I, T>,
) -> argreduce_status {
    fn place<X>(slice: &mut [X]) -> (*mut c_void, usize) {
        // No element is no pointer.
        if slice.is_empty() { (null_mut(), 0) } else { (slice.as_mut_ptr().cast(), size_of_val(slice)) }
    }
    let indices = found.indices.each_mut().map(|x| place(x));
    let values = found.values.each_mut().map(|x| place(x));
    let call = argreduce_call {
        size: size_of::<argreduce_call>(),
        input: input.as_ptr().cast(),
        input_bytes: size_of_val(input),
        executor,
        mask,
        indices: indices.map(|(start, _)| start),
        index_bytes: indices.map(|(_, bytes)| bytes),
        values: values.map(|(start, _)| start),
        value_bytes: values.map(|(_, bytes)| bytes),
        is_partial,
        reserved: 0,
    };
    // SAFETY: compiled; the buffers are as long as said, and share nothing; the executor returns when all tasks have.
    unsafe { argreduce_run(op.0, &call) }
}
