//! What the way through C costs: `argreduce_execute` and `argreduce_run` on 16 floats, beside `Plan::run` on them.
//!
//!     cargo bench -p argreduce-capi

use argreduce::{ArgReduce, Layout};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::ptr::{null, null_mut};

// The library of this package is no Rust library: its source, once more.
#[path = "../src/api/mod.rs"]
#[allow(dead_code, non_camel_case_types, reason = "the benchmark uses its part of what is named as C names it")]
mod c;

fn overhead(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("argmax of 16 f32");
    let input: [f32; 16] = std::array::from_fn(|n| (n * 7 % 16) as f32);
    let mut index = [0_u32];

    let plan = ArgReduce::argmax(&Layout::contiguous(&[16]).unwrap()).axes(&[0]).plan::<f32, u32>().unwrap();
    group.bench_function("Plan::run", |bencher| bencher.iter(|| plan.run(black_box(&input), black_box(&mut index))));

    let (sizes, axes) = ([16], [0]);
    let packed = c::argreduce_layout { rank: 0, sizes: null(), strides: null(), offset: 0 };
    let desc = c::argreduce_desc {
        size: size_of::<c::argreduce_desc>(),
        function: c::ARGREDUCE_ARGMAX,
        input_type: c::ARGREDUCE_FLOAT32,
        input: c::argreduce_layout { rank: 1, sizes: sizes.as_ptr(), ..packed },
        index_type: c::ARGREDUCE_UINT32,
        output: packed,
        axis_count: 1,
        axes: axes.as_ptr(),
        axis_direction: c::ARGREDUCE_INCREASING,
        nan_policy: c::ARGREDUCE_PROPAGATE,
        whole_sizes: null(),
        start: null(),
        fill: 0,
        has_fill: 0,
        reserved: 0,
        isa: null(),
        cumulative: 0,
        reserved_2: 0,
        key: 0,
        key_value: null(),
    };
    let mut operator = null_mut();
    // SAFETY: the description points to arrays that are still there.
    assert_eq!(unsafe { c::argreduce_compile(&desc, &mut operator) }, c::ARGREDUCE_OK);
    group.bench_function("argreduce_execute", |bencher| {
        bencher.iter(|| {
            let (input, indices) = (black_box(&input).as_ptr().cast(), black_box(&mut index).as_mut_ptr().cast());
            // SAFETY: buffers of 64 and 4 bytes.
            unsafe { c::argreduce_execute(black_box(operator), input, 64, indices, 4) }
        });
    });
    group.bench_function("argreduce_run", |bencher| {
        bencher.iter(|| {
            let call = c::argreduce_call {
                size: size_of::<c::argreduce_call>(),
                input: black_box(&input).as_ptr().cast(),
                input_bytes: 64,
                executor: null(),
                mask: null(),
                indices: [black_box(&mut index).as_mut_ptr().cast(), null_mut()],
                index_bytes: [4, 0],
                values: [null_mut(); 2],
                value_bytes: [0; 2],
                is_partial: 0,
                reserved: 0,
                offsets: std::ptr::null(),
                offset_count: 0,
                offset_type: 0,
                is_absolute: 0,
            };
            // SAFETY: as above.
            unsafe { c::argreduce_run(black_box(operator), black_box(&call)) }
        });
    });
    assert_eq!(index, [input.iter().position(|&x| x == 15.0).unwrap() as u32]);
    // SAFETY: compiled above, and not used any more.
    unsafe { c::argreduce_release(operator) };
}

criterion_group!(benches, overhead);
criterion_main!(benches);
