//! What benchmarks that compare calls in one process share: data, and the time of a call.

use argreduce::Layout;
use bytemuck::Pod;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Of a tensor in row-major order, or with its axes in the opposite order in memory.
pub fn layout(sizes: &[usize], is_reversed: bool) -> Layout {
    if !is_reversed {
        return Layout::contiguous(sizes).unwrap();
    }
    let reversed: Vec<usize> = sizes.iter().rev().copied().collect();
    Layout::contiguous(&reversed).unwrap().permute(&(0..sizes.len() as isize).rev().collect::<Vec<_>>()).unwrap()
}

/// Numbers without order, none of which is NaN.
pub fn random<T: Pod>(len: usize) -> Vec<T> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u8
    };
    let mut data = vec![T::zeroed(); len];
    for element in bytemuck::cast_slice_mut::<T, u8>(&mut data).chunks_exact_mut(size_of::<T>()) {
        element.fill_with(&mut next);
        // The exponent of a float that is finite; and nothing that ends a row early.
        element[size_of::<T>() - 1] &= 0x3b;
    }
    data
}

/// The shortest of many: of so many calls at a time that to read the clock does not count.
pub fn time<R>(mut run: impl FnMut() -> R) -> Duration {
    let before = Instant::now();
    black_box(run());
    let calls = (20_000 / before.elapsed().as_nanos().max(1)).max(1) as u32;
    let (mut shortest, start) = (Duration::MAX, Instant::now());
    for n in 0.. {
        let before = Instant::now();
        for _ in 0..calls {
            black_box(run());
        }
        shortest = shortest.min(before.elapsed() / calls);
        if n >= 3 && start.elapsed() > Duration::from_millis(20) {
            break;
        }
    }
    shortest
}
