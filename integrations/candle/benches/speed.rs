//! candle's own argmax beside ours: the whole call with its allocation, on one thread and two, in one process.
//!
//!     cargo bench
//!
//! Prints the table of README.md. Rounds of the four alternate; a figure is the least of all rounds, in microseconds.

use argreduce_candle::TensorExt;
use candle_core::{DType, Device, Result, Tensor};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUND: Duration = Duration::from_millis(2);
const ROUNDS: usize = 150;

/// Microseconds for a call, in a round of as many as take [`ROUND`].
fn round(call: &dyn Fn() -> Result<Tensor>) -> Result<f64> {
    let (start, mut calls) = (Instant::now(), 0);
    while calls == 0 || start.elapsed() < ROUND {
        black_box(call()?);
        calls += 1;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / calls as f64)
}

fn row(dims: &[usize], axis: usize, dtype: DType) -> Result<()> {
    let scores = Tensor::randn(0_f32, 1., dims, &Device::Cpu)?.to_dtype(dtype)?;
    assert_eq!(
        scores.argmax_over(axis)?.flatten_all()?.to_vec1::<u32>()?,
        scores.argmax(axis)?.flatten_all()?.to_vec1::<u32>()?
    );
    let calls: [&(dyn Fn() -> Result<Tensor> + Sync); 2] = [&|| scores.argmax(axis), &|| scores.argmax_over(axis)];
    let pools = [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    let mut least = [[f64::INFINITY; 2]; 2];
    for _ in 0..ROUNDS {
        for (pool, least) in pools.iter().zip(&mut least) {
            for (call, least) in calls.iter().zip(least) {
                *least = pool.install(|| round(call))?.min(*least);
            }
        }
    }
    let [[own, ours], [own_2, ours_2]] = least;
    let (once, twice) = (own / ours, own_2 / ours_2);
    let name = format!("{} {dims:?}, axis {axis}", dtype.as_str());
    println!("| {name} | {own:.0} | {ours:.0} | {once:.1} x | {own_2:.0} | {ours_2:.0} | {twice:.1} x |");
    assert!(once > 1. && twice > 1., "candle's own is ahead");
    Ok(())
}

fn main() -> Result<()> {
    println!("| | candle, 1 thread | argreduce | | candle, 2 threads | argreduce | |\n|---|---|---|---|---|---|---|");
    row(&[1, 21, 512, 512], 1, DType::F32)?;
    row(&[8, 128_256], 1, DType::F32)?;
    row(&[8, 128_256], 1, DType::F16)?;
    row(&[8, 128_256], 1, DType::BF16)?;
    row(&[1024, 1000], 1, DType::F32)
}
