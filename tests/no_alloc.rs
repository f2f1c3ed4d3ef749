//! Planning and running take no heap memory, for any strategy.

use allocation_counter::measure;
use argreduce::{ArgReduce, DataType, Executor, Isa, Key, Layout, Mask, Partial, PartialBuffers, Segments, unravel};
use std::hint::black_box;

/// Several threads, as far as the library knows.
struct Several;

impl Executor for Several {
    fn width(&self) -> usize {
        7
    }

    fn min_task_bytes(&self) -> usize {
        1
    }

    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (1..tasks).for_each(task);
    }
}

#[test]
fn planning_and_running_allocate_nothing() {
    // The environment is read once per process.
    let layout = Layout::contiguous(&[1]).unwrap();
    ArgReduce::argmax(&layout).all_axes().plan::<f32, u32>().unwrap();
    assert!(measure(|| drop(black_box(vec![1]))).count_total > 0, "the counter counts");

    let views_and_coordinates = || {
        let layout = Layout::contiguous(&[4, 5, 6]).unwrap().permute(&[2, 0, 1]).unwrap();
        let layout = layout.slice(1, 1.., -2).unwrap().select(2, -1).unwrap().broadcast(&[3, 6, 2]).unwrap();
        let plan = ArgReduce::argmax(&layout).axes_from(1..3).plan::<f32, u32>().unwrap();
        plan.unravel(11).unwrap();
        unravel(5_u64, &[2, 3], &[1, 0]).unwrap();
        assert!(ArgReduce::argmax(&layout).axes_from(0..).plan::<f32, u32>().is_err());
    };
    assert_eq!(measure(views_and_coordinates).count_total, 0);

    // A stream takes memory when it is made.
    let mut stream =
        ArgReduce::argmax(&Layout::contiguous(&[1, 40]).unwrap()).axes(&[0]).stream::<f32, u32>(0).unwrap();
    let push_and_finish = || {
        for len in [3, 0, 70] {
            stream.push(&Layout::contiguous(&[len, 40]).unwrap(), &[1.0; 70 * 40]).unwrap();
            stream.finish((&mut [0; 40], &mut [0.0; 40])).unwrap();
        }
    };
    assert_eq!(measure(push_and_finish).count_total, 0);

    // Segments: many small ones, and one that threads share.
    let offsets: Vec<u32> = (0..3000).chain([90_000, 99_000]).collect();
    let (x, there, mut indices) = (vec![1.0; 100_000], vec![0b1011_0111; 12_500], vec![0_i32; 3001]);
    let segments = || {
        let segments = Segments::new(&offsets).unwrap();
        let plan = ArgReduce::argmax(&segments).fill(-1).plan_segments::<f32, i32>().unwrap();
        plan.run(&x, &mut indices).unwrap();
        plan.run(argreduce::input(&x).on(&Several), &mut indices).unwrap();
        plan.run(argreduce::input(&x).masked(Mask::bits(&there, 0)).on(&Several), &mut indices).unwrap();
    };
    assert_eq!(measure(segments).count_total, 0);

    // One output: it is the reduction that is divided. (An untyped plan is shared memory, which making it takes.)
    let row = Layout::contiguous(&[100_000]).unwrap();
    let plan = ArgReduce::argmax(&row).all_axes().plan_untyped(DataType::U8, DataType::I64).unwrap();
    assert!(plan.division_on(&Several).to_string().ends_with("slabs of the reduction"));
    let one_row = || {
        let (input, mut value, mut index) = (&[1; 100_000], [0], 0_i64);
        plan.run(argreduce::input(input).on(&Several), bytemuck::bytes_of_mut(&mut index)).unwrap();
        let buffers = PartialBuffers { indices: bytemuck::bytes_of_mut(&mut index), values: &mut value };
        plan.run(argreduce::input(input).on(&Several), buffers).unwrap();
    };
    assert_eq!(measure(one_row).count_total, 0);

    type Axis = (usize, isize, bool); // size, stride, whether it is reduced
    let cases: [(&str, [Axis; 2]); 7] = [
        ("rows", [(50, 1000, false), (1000, 1, true)]),
        ("columns", [(50, 1000, true), (1000, 1, false)]),
        ("narrow columns", [(1000, 3, true), (3, 1, false)]),
        ("gathered segmented rows", [(1, 0, false), (500, 3, true)]),
        ("gathered columns", [(100, 3, false), (3, 1, true)]),
        ("trivial", [(100, 7, false), (7, 0, true)]),
        ("rows", [(1000, 1, true), (3, 1000, true)]),
    ];
    let (input, there) = (vec![1.0_f32; 50_000], (0..50_000).map(|n| n % 3 != 0).collect::<Vec<_>>());
    let (mut indices, mut values) = (vec![0_u32; 50_000], vec![0.0; 50_000]);
    let (mut partials, others) = (vec![Partial::<f32, u32>::NONE; 50_000], vec![Partial::NONE; 50_000]);
    let (other_indices, other_values) = (indices.clone(), values.clone());
    for isa in Isa::available() {
        for (strategy, axes) in cases {
            let (sizes, strides) = (axes.map(|axis| axis.0), axes.map(|axis| axis.1));
            let reduced: &[isize] = match axes.map(|axis| axis.2) {
                [true, true] => &[0, 1],
                [true, false] => &[0],
                _ => &[1],
            };
            let info = measure(|| {
                let layout = Layout::strided(&sizes, &strides, 0).unwrap();
                let plan = ArgReduce::argmax(&layout).axes(reduced).isa(isa).fill(0).plan::<f32, u32>().unwrap();
                plan.run(&input, &mut indices).unwrap();
                plan.run(&input, (&mut indices, &mut values)).unwrap();
                plan.run(argreduce::input(&input).on(&Several), &mut indices).unwrap();
                plan.run(argreduce::input(&input).on(&Several), (&mut indices, &mut values)).unwrap();
                for mask in [Mask::bools(&there), Mask::bits(&[0xfe; 50_000], 3)] {
                    plan.run(argreduce::input(&input).masked(mask), &mut indices).unwrap();
                    plan.run(argreduce::input(&input).masked(mask).on(&Several), (&mut indices, &mut values)).unwrap();
                    plan.run(argreduce::input(&input).masked(mask), &mut partials).unwrap();
                }
                plan.run(&input, &mut partials).unwrap();
                plan.run(argreduce::input(&input).on(&Several), &mut partials).unwrap();
                plan.merge().partials(&mut partials, &others).unwrap();
                plan.finish(&partials, &mut indices).unwrap();
                plan.merge().arrays(&mut values, &mut indices, &other_values, &other_indices).unwrap();
                let plan = ArgReduce::argmin(&layout).axes(reduced).isa(isa).by(Key::distance(2.5_f32));
                let plan = plan.plan::<f32, u32>().unwrap();
                plan.run(&input, (&mut indices, &mut values)).unwrap();
                plan.run(argreduce::input(&input).on(&Several), &mut partials).unwrap();
                plan.merge().partials(&mut partials, &others).unwrap();
            });
            assert_eq!(info.count_total, 0, "{strategy} on {isa}");
            let layout = Layout::strided(&sizes, &strides, 0).unwrap();
            let so_far = ArgReduce::argmax(&layout).axes(&reduced[..1]).isa(isa).fill(0).cumulative();
            let info = measure(|| {
                let plan = so_far.plan::<f32, u32>().unwrap();
                plan.run(&input, (&mut indices, &mut values)).unwrap();
                plan.run(argreduce::input(&input).on(&Several), &mut indices).unwrap();
                plan.run(argreduce::input(&input).masked(Mask::bools(&there)).on(&Several), &mut indices).unwrap();
            });
            assert_eq!(info.count_total, 0, "{strategy} on {isa}, the best so far");
            let plan = ArgReduce::argmax(&layout).axes(reduced).isa(isa).plan::<f32, u32>().unwrap();
            // Portable vectors have no narrow columns.
            if (strategy, isa) != ("narrow columns", Isa::Portable) {
                assert!(plan.to_string().contains(&format!(", {strategy}")), "{plan} is not of {strategy}");
            }
        }
    }
}
