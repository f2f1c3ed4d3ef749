//! Random reductions: views of a block of memory, of any rank, axes and strides.

use argreduce::{DataType, Layout};
use proptest::prelude::*;

/// A random problem: a block of memory, a view of it, axes, and where to write.
#[derive(Debug, Clone)]
pub struct Problem {
    pub layout: Layout,
    pub axes: Vec<isize>,
    pub output: Option<Layout>,
    pub data_type: DataType,
    pub seed: u64,
}

/// One axis: its size, how its step relates to that of a packed tensor, and whether it is reduced.
fn axis() -> impl Strategy<Value = (usize, isize, bool)> {
    let size = prop_oneof![4 => 1..6_usize, 2 => 6..40_usize, 1 => Just(1), 1 => 60..140_usize];
    let step = prop_oneof![6 => Just(1_isize), 2 => Just(-1), 1 => Just(0), 1 => Just(2), 1 => Just(-3)];
    (size, step, any::<bool>())
}

pub fn problem() -> impl Strategy<Value = Problem> {
    let axes = proptest::collection::vec(axis(), 0..=8);
    let orders =
        (Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle(), Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle());
    let output_steps = proptest::option::of(proptest::collection::vec(prop_oneof![Just(1), Just(-1), Just(2)], 8));
    (axes, orders, output_steps, 0..70_usize, any::<u8>(), 0..13_usize, any::<u64>()).prop_map(
        |(mut axes, (memory_order, axis_order), output_steps, offset, negative, data_type, seed)| {
            // Large tensors would only be slow.
            let mut count = 1;
            for (size, ..) in &mut axes {
                if count * *size > 3000 {
                    *size = 1 + *size % 3;
                }
                if count * *size > 6000 {
                    *size = 1;
                }
                count *= *size;
            }
            let rank = axes.len();
            let sizes: Vec<usize> = axes.iter().map(|&(size, ..)| size).collect();
            let steps: Vec<isize> = axes.iter().map(|&(_, step, _)| step).collect();
            // Most tensors are in memory in the order of their axes.
            let memory_order: Vec<usize> = if seed % 2 == 0 { (0..8).collect() } else { memory_order };
            let layout = strided(&sizes, &steps, &memory_order, offset);
            let reduced: Vec<usize> = axis_order.into_iter().filter(|&axis| axis < rank && axes[axis].2).collect();
            let output = output_steps.map(|steps| {
                let sizes: Vec<usize> =
                    (0..rank).map(|axis| if reduced.contains(&axis) { 1 } else { sizes[axis] }).collect();
                strided(&sizes, &steps[..rank], &memory_order, offset)
            });
            let from_end =
                |axis: usize| if negative >> axis & 1 == 1 { axis as isize - rank as isize } else { axis as isize };
            let axes = reduced.into_iter().map(from_end).collect();
            Problem { layout, axes, output, data_type: DataType::ALL[data_type], seed }
        },
    )
}

/// A layout with its axes in the given order in memory, each axis `step` times as far apart as it would be packed.
fn strided(sizes: &[usize], steps: &[isize], memory_order: &[usize], extra: usize) -> Layout {
    let (mut strides, mut stride, mut offset) = (vec![0; sizes.len()], 1, extra);
    for &axis in memory_order.iter().rev().filter(|&&axis| axis < sizes.len()) {
        strides[axis] = stride * steps[axis];
        if steps[axis] < 0 {
            offset += (sizes[axis] - 1) * strides[axis].unsigned_abs();
        }
        stride *= sizes[axis] as isize * steps[axis].abs().max(1);
    }
    Layout::strided(sizes, &strides, offset).unwrap()
}
