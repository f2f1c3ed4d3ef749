//! Planning and running take no heap memory, for any strategy.

use allocation_counter::measure;
use argreduce::{ArgReduce, Isa, Layout};

#[test]
fn planning_and_running_allocate_nothing() {
    // The environment is read once per process.
    let layout = Layout::contiguous(&[1]).unwrap();
    ArgReduce::argmax(&layout).plan::<f32, u32>().unwrap();
    assert!(measure(|| drop(vec![1])).count_total > 0, "the counter counts");

    let cases: [(&str, &[usize], &[isize], &[isize]); 5] = [
        ("rows", &[50, 1000], &[1000, 1], &[1]),
        ("columns", &[50, 1000], &[1000, 1], &[0]),
        ("packed rows", &[500], &[3], &[0]),
        ("packed columns", &[100, 7], &[7, 1], &[1]),
        ("known", &[100, 7], &[7, 0], &[1]),
    ];
    let input = vec![1.0_f32; 50_000];
    let (mut indices, mut values) = (vec![0_u32; 50_000], vec![0.0; 50_000]);
    for isa in Isa::available() {
        for (strategy, sizes, strides, axes) in cases {
            let info = measure(|| {
                let layout = Layout::strided(sizes, strides, 0).unwrap();
                let plan = ArgReduce::argmax(&layout).axes(axes).isa(isa).plan::<f32, u32>().unwrap();
                plan.run_with_values(&input, &mut indices, &mut values).unwrap();
            });
            assert_eq!(info.count_total, 0, "{strategy} on {isa}");
            let layout = Layout::strided(sizes, strides, 0).unwrap();
            let plan = ArgReduce::argmax(&layout).axes(axes).isa(isa).plan::<f32, u32>().unwrap();
            assert!(plan.to_string().contains(&format!(", {strategy}")), "{plan} is not of {strategy}");
        }
    }
}
