//! The shapes that a reader would recognise, by criterion: for its statistics, its report and its comparison with the
//! last run. The table is not made by criterion, see `main.rs`.

use crate::ceiling;
use crate::cell::{Cell, Options, Shape, Size};
use crate::data::{Buffer, fill, seeded};
use crate::element::Sample;
use crate::grid::NAMED;
use crate::pattern::Pattern;
use argreduce::{ArgReduce, DataType, Element, NanPolicy, ReduceFunction, with_element_type};
use criterion::{BenchmarkId, Criterion, Throughput};
use std::time::Duration;

/// Runs, prints and reports what the command line selects.
pub fn run() {
    let settings = Criterion::default().sample_size(10);
    let settings = settings.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_millis(1000));
    let mut criterion = settings.configure_from_args();
    for (data_type, shape) in NAMED {
        with_element_type!(data_type, T => group::<<T as Element>::Pod>(&mut criterion, data_type, shape));
    }
    criterion.final_summary();
}

fn group<T: Sample>(criterion: &mut Criterion, data_type: DataType, shape: Shape) {
    let cell = Cell { data_type, shape, pattern: Pattern::Random, options: Options::Plain, size: Size::Own };
    let geometry = cell.geometry(false).expect("a named shape has one size");
    let reduce = ArgReduce::argmax(&geometry.layout).axes(&geometry.axes);
    let plan = reduce.plan::<T, u32>().expect("a plan for a named shape");
    let wide = reduce.plan::<T, i64>().expect("a plan for a named shape");
    let (mut indices, mut wide_indices) = (vec![0_u32; geometry.outputs], vec![0_i64; geometry.outputs]);
    let mut input = Buffer::default();

    let mut group = criterion.benchmark_group(shape.to_string());
    let bytes = size_of::<T>() * geometry.touched + size_of_val(&indices[..]);
    group.throughput(Throughput::Bytes(bytes as u64));
    // Inside the closures, which criterion does not call for what is filtered out.
    let prepared = |input: &mut Buffer<T>| {
        if input.is_empty() {
            input.grow_to(geometry.touched);
            fill(Pattern::Random, geometry.row, &mut seeded(), input);
        }
    };
    let id = |name: &str| BenchmarkId::new(name, data_type);
    group.bench_function(id("argreduce-u32"), |bencher| {
        prepared(&mut input);
        bencher.iter(|| plan.run(&input[..], &mut indices));
    });
    group.bench_function(id("argreduce-i64"), |bencher| {
        prepared(&mut input);
        bencher.iter(|| wide.run(&input[..], &mut wide_indices));
    });
    if let Some(row) = geometry.peer_row {
        group.bench_function(id("argminmax"), |bencher| {
            prepared(&mut input);
            bencher.iter(|| {
                T::peer(input.chunks_exact(row), ReduceFunction::ArgMax, NanPolicy::Propagate, &mut indices);
            });
        });
    }
    group.bench_function(id("read"), |bencher| {
        prepared(&mut input);
        bencher.iter(|| {
            ceiling::read(&input);
            ceiling::read(&indices);
        });
    });
    group.finish();
}
