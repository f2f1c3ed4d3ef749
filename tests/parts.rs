//! Parts of a tensor: cut into boxes, each reduced where it is, merged in any order and grouping, against the whole and
//! the reference. Windows, partial answers, merges, streams, and what is wrong with any of them.

mod common;

use argreduce::{
    ArgReduce, ArgStream, DataType, Element, Error, Index, Isa, Layout, Merge, Partial, PartialBuffers, reference,
};
use argreduce_guard::{Edge, Guarded, is_slow};
use bytemuck::{cast_slice, cast_slice_mut};
use common::problem::{Problem, problem};
use common::{Sample, best_values, orders, places, rng, sample};
use proptest::prelude::*;
use rand::RngExt;
use rand::rngs::SmallRng;

/// A box of a tensor: where it begins and how large it is.
type Part = (Vec<usize>, Vec<usize>);

/// Cuts a tensor into boxes, some of them empty.
fn cut(rng: &mut SmallRng, sizes: &[usize]) -> Vec<Part> {
    let mut parts = vec![(vec![0; sizes.len()], sizes.to_vec())];
    for _ in 0..rng.random_range(0..6) {
        let (n, axis) = (rng.random_range(0..parts.len()), rng.random_range(0..sizes.len().max(1)));
        if axis < sizes.len() {
            let (mut start, mut size) = parts.swap_remove(n);
            let at = rng.random_range(0..=size[axis]);
            let first = (start.clone(), size.clone());
            (start[axis], size[axis]) = (start[axis] + at, size[axis] - at);
            let (start_of_first, mut size_of_first) = first;
            size_of_first[axis] = at;
            parts.extend([(start_of_first, size_of_first), (start, size)]);
        }
    }
    parts
}

fn view(layout: &Layout, (start, size): &Part) -> Layout {
    (0..size.len()).fold(*layout, |layout, axis| {
        layout.slice(axis as isize, start[axis] as isize..(start[axis] + size[axis]) as isize, 1).unwrap()
    })
}

fn pick<X: Copy>(rng: &mut SmallRng, from: &[X]) -> X {
    from[rng.random_range(0..from.len())]
}

/// Merges a list of partial answers, any two of them at a time, in either way.
fn merge_all<T: Sample, I: Index>(
    rng: &mut SmallRng,
    merge: Merge,
    mut answers: Vec<Vec<Partial<T, I>>>,
) -> Vec<Partial<T, I>> {
    let isas: Vec<Isa> = Isa::available().collect();
    while answers.len() > 1 {
        let other = answers.swap_remove(rng.random_range(0..answers.len()));
        let n = rng.random_range(0..answers.len());
        let (acc, merge) = (&mut answers[n], merge.isa(pick(rng, &isas)));
        if rng.random() {
            merge.partials(acc, &other).unwrap();
        } else {
            let split = |partials: &[Partial<T, I>]| -> (Vec<T>, Vec<I>) {
                partials.iter().map(|partial| (partial.value, partial.index)).unzip()
            };
            let ((mut values, mut indices), (other_values, other_indices)) = (split(acc), split(&other));
            merge.arrays(&mut values, &mut indices, &other_values, &other_indices).unwrap();
            *acc = values.into_iter().zip(indices).map(|(value, index)| Partial { value, index }).collect();
        }
    }
    answers.pop().unwrap()
}

/// The partial answers of a part, at their places among those of the whole; `NONE` elsewhere.
fn partials_of<T: Sample, I: Index>(
    reduce: ArgReduce<'_>,
    (start, size): &Part,
    kept: &Layout,
    input: &[T],
) -> Vec<Partial<T, I>> {
    let plan = reduce.plan::<T, I>().unwrap();
    let outputs = plan.output_layout().element_count();
    // Over the answer of a part that was not empty.
    let mut found = vec![Partial { value: T::SPECIAL[1], index: I::at(7, 0, 0) }; outputs];
    plan.run(input, &mut found).unwrap();
    // The same as the other ways to run it.
    let (mut indices, mut values) =
        (vec![I::default(); plan.output_layout().required_len()], vec![T::default(); outputs]);
    if found.iter().any(Partial::is_none) {
        assert!(found.iter().all(|none| none.is_none() && none.value.bits() == 0), "{plan}");
        let error = plan.run(input, (&mut indices, &mut values)).unwrap_err();
        assert!(matches!(error, Error::EmptyReduction { .. }), "{error}");
        assert_eq!(plan.run(input, &mut indices), Err(error.clone()));
        assert_eq!(plan.finish(&found, &mut indices), Err(error));
        assert!(indices.iter().all(|&index| index == I::default()), "{plan}");
    } else {
        plan.run(input, (&mut indices, &mut values)).unwrap();
        let mut finished = vec![I::default(); indices.len()];
        plan.finish(&found, &mut finished).unwrap();
        assert_eq!(indices, finished, "{plan}");
        let bits = |value: &T| value.bits();
        let of_partials: Vec<u64> = found.iter().map(|partial| partial.value.bits()).collect();
        assert_eq!(values.iter().map(bits).collect::<Vec<_>>(), of_partials, "{plan}");
        plan.run(input, &mut indices).unwrap();
        assert_eq!(indices, finished, "{plan}");
    }
    let place = |axis: usize| if kept.sizes()[axis] == 1 { 0 } else { start[axis] };
    let at = |axis: usize| (place(axis), if kept.sizes()[axis] == 1 { size[axis].min(1) } else { size[axis] });
    let part: Part = (0..size.len()).map(at).unzip();
    let mut all = vec![Partial::NONE; kept.element_count()];
    if outputs > 0 {
        // A reduced axis of size 0 has an output all the same.
        let part = (part.0, plan.output_layout().sizes().to_vec());
        places(&view(kept, &part)).into_iter().zip(found).for_each(|(place, partial)| all[place] = partial);
    }
    all
}

/// Cuts a problem into parts and compares what they merge to with the whole and with the reference.
fn check_parts<T: Sample, I: Index>(problem: &Problem) {
    let Problem { layout, axes, output, seed, .. } = problem;
    let (mut rng, rank) = (rng(*seed), layout.sizes().len());
    let input = Guarded::copy_of(&sample::<T>(&mut rng, layout.required_len()), Edge::End);
    let mut reduced = vec![false; rank];
    axes.iter().for_each(|&axis| reduced[if axis < 0 { axis + rank as isize } else { axis } as usize] = true);
    let kept: Vec<usize> = (0..rank).map(|axis| if reduced[axis] { 1 } else { layout.sizes()[axis] }).collect();
    let kept = Layout::contiguous(&kept).unwrap();
    let isas: Vec<Isa> = Isa::available().collect();
    for order in orders() {
        let (function, direction, policy) = order;
        let parts = cut(&mut rng, layout.sizes());
        let start_of_all = vec![0; rank];
        let mut answers = vec![];
        for part in &parts {
            let view = view(layout, part);
            let reduce = ArgReduce::new(function, &view).axes(axes).direction(direction).nan_policy(policy);
            let reduce = reduce.isa(pick(&mut rng, &isas)).window(layout.sizes(), &part.0);
            answers.push(partials_of::<T, I>(reduce, part, &kept, &input));
        }
        let merge = Merge::new(function).direction(direction).nan_policy(policy);
        let merged = merge_all(&mut rng, merge, answers);

        let expected = reference::arg_reduce(order, layout, &reduced, &input);
        let wanted: Vec<I> = expected.iter().map(|&index| I::at(index as isize, 0, 0)).collect();
        let found: Vec<I> = merged.iter().map(|partial| partial.index).collect();
        assert_eq!(found, wanted, "{order:?} of {parts:?}");
        let bits: Vec<u64> = merged.iter().map(|partial| partial.value.bits()).collect();
        assert_eq!(bits, best_values(layout, &reduced, &expected, &input), "{order:?} of {parts:?}");

        let reduce = ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy);
        let reduce = reduce.window(layout.sizes(), &start_of_all);
        let plan =
            if let Some(output) = output { reduce.output_layout(output) } else { reduce }.plan::<T, I>().unwrap();
        let (mut indices, mut finished) = (vec![I::default(); plan.output_layout().required_len()], vec![]);
        finished.clone_from(&indices);
        plan.run(&input[..], &mut indices).unwrap();
        plan.finish(&merged, &mut finished).unwrap();
        assert_eq!(indices, finished, "{plan}");
        // Whatever the output layout, partials are packed.
        let mut partials = vec![Partial::NONE; merged.len()];
        plan.run(&input[..], &mut partials).unwrap();
        assert!(partials.iter().map(|p| (p.value.bits(), p.index)).eq(bits.into_iter().zip(wanted)), "{plan}");
    }
}

/// Pushes a tensor in random chunks along its first reduced axis, with chunks in between that are refused, and compares
/// with the reference on the way and at the end.
fn check_stream<T: Sample, I: Index>(problem: &Problem) {
    let Problem { layout, axes, output, seed, .. } = problem;
    let (mut rng, sizes) = (rng(*seed), layout.sizes());
    let mut reduced = vec![false; sizes.len()];
    axes.iter().for_each(|&axis| reduced[axis.rem_euclid(sizes.len() as isize) as usize] = true);
    let Some(axis) = reduced.iter().position(|&is_reduced| is_reduced) else { return };
    let order = pick(&mut rng, &orders().collect::<Vec<_>>());
    let (function, direction, policy) = order;
    let input = sample::<T>(&mut rng, layout.required_len());
    let isas: Vec<Isa> = Isa::available().collect();

    let reduce = ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy);
    let reduce = reduce.isa(pick(&mut rng, &isas));
    let reduce = if let Some(output) = output { reduce.output_layout(output) } else { reduce };
    let (zeros, is_bounded) = (vec![0; sizes.len()], rng.random());
    let reduce = if is_bounded { reduce.window(sizes, &zeros) } else { reduce };
    let wrong = (0..sizes.len()).find(|&other| other != axis);
    if let Some(wrong) = wrong {
        let error = reduce.stream::<T, I>(wrong as isize).unwrap_err();
        assert_eq!(error, Error::StreamAxis { axis: wrong, first: Some(axis) });
    }
    let mut stream = reduce.stream::<T, I>(axis as isize - pick(&mut rng, &[0, sizes.len() as isize])).unwrap();

    // What was pushed so far, in row-major order of the outputs.
    let check = |stream: &ArgStream<T, I>, end: usize| {
        let outputs = places(stream.output_layout());
        let untouched = I::at(-77, 0, 0);
        let mut indices = vec![untouched; stream.output_layout().required_len()];
        let mut values = vec![T::default(); outputs.len()];
        assert_eq!(stream.position(), end);
        if end == 0 {
            let none = Error::EmptyReduction { axis, of: "stream" };
            assert_eq!(stream.finish(&mut indices), Err(none.clone()));
            assert_eq!(stream.finish((&mut indices, &mut values)), Err(none));
            assert!(indices.iter().all(|&index| index == untouched));
            return;
        }
        stream.finish((&mut indices, &mut values)).unwrap();
        let so_far = layout.slice(axis as isize, 0..end as isize, 1).unwrap();
        let expected = reference::arg_reduce(order, &so_far, &reduced, &input);
        let bits: Vec<u64> = values.iter().map(|value| value.bits()).collect();
        assert_eq!(bits, best_values(&so_far, &reduced, &expected, &input), "{order:?} of {end} of {layout:?}");
        let mut wanted = vec![untouched; indices.len()];
        let expected = expected.iter().map(|&index| I::at(index as isize, 0, 0));
        outputs.iter().zip(expected).for_each(|(&place, index)| wanted[place] = index);
        assert_eq!(indices, wanted, "{order:?} of {end} of {layout:?}");
        indices.fill(untouched);
        stream.finish(&mut indices).unwrap();
        assert_eq!(indices, wanted, "{order:?} of {end} of {layout:?}");
    };
    let (mut end, longest) = (0, rng.random_range(1..=sizes[axis]));
    loop {
        let len = rng.random_range(0..=longest.min(sizes[axis] - end));
        let chunk = layout.slice(axis as isize, end as isize..(end + len) as isize, 1).unwrap();
        let packed: Vec<T> = places(&chunk).into_iter().map(|place| input[place]).collect();
        let packed_layout = Layout::contiguous(chunk.sizes()).unwrap();
        match rng.random_range(0..6) {
            0 => check(&stream, end),
            1 if len > 0 => {
                let error = stream.push(&packed_layout, &packed[1..]).unwrap_err();
                assert!(matches!(error, Error::TooShort { slice: "input", .. }), "{error}");
            }
            2 => {
                let error = stream.push(&Layout::contiguous(&[1; 9][sizes.len()..]).unwrap(), &input).unwrap_err();
                let (expected, found) = (sizes.len(), 9 - sizes.len());
                assert_eq!(error, Error::ChunkRank { expected, found });
            }
            3 => {
                if let Some(axis) = wrong {
                    let (mut other, expected) = (chunk.sizes().to_vec(), sizes[axis]);
                    other[axis] += 1;
                    let error = stream.push(&Layout::contiguous(&other).unwrap(), &input).unwrap_err();
                    assert_eq!(error, Error::ChunkSize { axis, expected, found: expected + 1 });
                }
            }
            4 if is_bounded => {
                let mut other = chunk.sizes().to_vec();
                other[axis] = sizes[axis] - end + 1;
                let error = stream.push(&Layout::contiguous(&other).unwrap(), &input).unwrap_err();
                assert!(matches!(error, Error::WindowOutOfRange { axis: found, .. } if found == axis), "{error}");
            }
            _ => {
                let pushed =
                    if rng.random() { stream.push(&packed_layout, &packed) } else { stream.push(&chunk, &input) };
                pushed.unwrap();
                end += len;
            }
        }
        if end == sizes[axis] {
            break check(&stream, end);
        }
    }
}

/// Checks a problem with its type of elements, and one of two types of indices, if that holds those of the whole: of
/// the elements of each width, some are checked with indices of each width.
macro_rules! check_by_types {
    ($check:ident, $problem:expr) => {
        check_by_types!($check, $problem;
            i8: u8, u8: u16, bool: i64, i16: u8, u16: u16, f16: u64, bf16: i32, i32: u8, u32: u16, f32: usize, i64: u8,
            u64: u16, f64: i64)
    };
    ($check:ident, $problem:expr; $($element:ident: $index:ident),+) => {{
        use half::{bf16, f16};
        let problem: &Problem = $problem;
        let sizes = problem.layout.sizes();
        let size = |&axis: &isize| sizes[axis.rem_euclid(sizes.len() as isize) as usize];
        let reduced: usize = problem.axes.iter().map(size).product();
        match problem.data_type {
            $($element::DATA_TYPE if problem.seed % 2 == 0 && reduced as u128 <= $index::MAX as u128 => {
                $check::<$element, $index>(problem);
            })+
            $($element::DATA_TYPE => $check::<$element, u32>(problem),)+
            other => unreachable!("{other} has no line"),
        }
    }};
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if is_slow() { 100 } else { 600 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn parts_merge_to_the_whole(problem in problem()) {
        check_by_types!(check_parts, &problem);
    }

    #[test]
    fn streams_give_the_answer_of_the_whole(problem in problem()) {
        check_by_types!(check_stream, &problem);
    }
}

/// An empty part gives values of 0, all bits of them, whatever was there; and writes nothing behind its answers.
#[test]
fn empty_parts_write_all_bits() {
    fn check<T: Sample>() {
        let layout = Layout::contiguous(&[3, 0]).unwrap();
        let reduce = ArgReduce::argmin(&layout).axes(&[1]).window(&[3, 5], &[0, 2]);
        let plan = reduce.plan_untyped(T::DATA_TYPE, DataType::U32).unwrap();
        let (mut values, mut indices) = ([u64::MAX - 1; 4], [9_u32; 4]);
        let buffers = PartialBuffers { indices: cast_slice_mut(&mut indices), values: cast_slice_mut(&mut values) };
        plan.run(&[], buffers).unwrap();
        assert_eq!(indices, [u32::MAX, u32::MAX, u32::MAX, 9]);
        let (written, left) = cast_slice::<u64, u8>(&values).split_at(3 * size_of::<T>());
        assert!(written.iter().all(|&byte| byte == 0) && left.iter().all(|&byte| byte >= 0xfe), "{values:x?}");
    }
    for_each_type!(check());
}

/// What indices cannot hold is refused when it comes, and all is as before; so is the one that says that nothing was
/// seen.
#[test]
fn streams_end_where_indices_do() {
    let bytes = |len| Layout::contiguous(&[len]).unwrap();
    let mut stream = ArgReduce::argmax(&bytes(9)).all_axes().stream::<i8, u8>(0).unwrap();
    stream.push(&bytes(200), &[1; 200]).unwrap();
    let too_large = |largest, max| Error::IndexTooLarge { largest, index_type: "u8", max };
    assert_eq!(stream.push(&bytes(57), &[2; 57]), Err(too_large(256, 255)));
    assert_eq!(stream.push(&bytes(56), &[2; 56]), Err(too_large(255, 254)));
    assert_eq!(stream.position(), 200);
    let mut index = [9];
    stream.finish(&mut index).unwrap();
    assert_eq!(index, [0]);
    stream.push(&bytes(55), &[2; 55]).unwrap();
    stream.finish(&mut index).unwrap();
    assert_eq!(index, [200]);
}

/// No stream is as long as the largest number, which says that a sum was larger.
#[test]
fn streams_end_where_numbers_do() {
    let repeated = |len| Layout::strided(&[len], &[0], 0).unwrap();
    let (half, too_long) = (usize::MAX / 2, Error::WholeTooLarge { axis: 0, size: usize::MAX });
    let mut stream = ArgReduce::argmin(&repeated(1)).all_axes().stream::<i16, u64>(0).unwrap();
    stream.push(&repeated(half), &[5]).unwrap();
    stream.push(&repeated(half), &[4]).unwrap();
    for len in [1, 2, half] {
        assert_eq!(stream.push(&repeated(len), &[3]), Err(too_long.clone()));
    }
    let mut index = [9];
    stream.finish(&mut index).unwrap();
    assert_eq!((index, stream.position()), ([half as u64], usize::MAX - 1));
}

/// A stream of a window begins where the window does, and ends with the whole.
#[test]
fn streams_of_windows() {
    let line = Layout::contiguous(&[1, 2]).unwrap();
    let reduce = ArgReduce::argmin(&line).axes(&[0]).window(&[5, 8], &[3, 4]);
    let mut stream = reduce.stream::<f32, u32>(0).unwrap();
    assert_eq!(stream.position(), 3);
    stream.push(&line, &[1.0, 2.0]).unwrap();
    let three = Layout::contiguous(&[2, 2]).unwrap();
    let error = stream.push(&three, &[0.0; 4]).unwrap_err();
    assert_eq!(error, Error::WindowOutOfRange { axis: 0, start: 4, size: 2, whole: 5 });
    stream.push(&line, &[1.0, -2.0]).unwrap();
    let mut indices = [0; 2];
    stream.finish(&mut indices).unwrap();
    assert_eq!((indices, stream.position()), ([3, 4], 5));
    // Of one that begins where the whole ends, nothing is left.
    let mut stream = reduce.window(&[5, 8], &[5, 4]).stream::<f32, u32>(0).unwrap();
    let error = stream.push(&line, &[1.0, 2.0]).unwrap_err();
    assert_eq!(error, Error::WindowOutOfRange { axis: 0, start: 5, size: 1, whole: 5 });
    assert_eq!(stream.finish(&mut indices), Err(Error::EmptyReduction { axis: 0, of: "stream" }));
}
