//! tract's own argmax beside ours: a model of that alone, so that a figure is the whole call with its allocation; on
//! one thread and two, in one process.
//!
//!     cargo bench
//!
//! Prints the table of README.md. Rounds of the four alternate; a figure is the least of all rounds, in microseconds.

use argreduce_tract::UseArgreduce;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tract_core::internal::*;
use tract_core::ops::nn::{Reduce, Reducer};
use tract_core::prelude::multithread::{Executor, multithread_tract_scope};
use tract_core::transform::ModelTransform;

const ROUND: Duration = Duration::from_millis(2);
const ROUNDS: usize = 150;

/// Microseconds for a call, in a round of as many as take [`ROUND`].
fn round(model: &Arc<TypedRunnableModel>, input: &TValue) -> TractResult<f64> {
    let (start, mut calls) = (Instant::now(), 0);
    while calls == 0 || start.elapsed() < ROUND {
        black_box(model.run(tvec![input.clone()])?);
        calls += 1;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / calls as f64)
}

/// Uniform between -1 and 1.
fn sample(shape: &[usize], datum_type: DatumType) -> TractResult<Tensor> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.
    };
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| next()).collect();
    Ok(Tensor::from_shape(shape, &numbers)?.cast_to_dt(datum_type)?.into_owned())
}

fn row(shape: &[usize], axis: usize, datum_type: DatumType) -> TractResult<()> {
    let mut model = TypedModel::default();
    let scores = model.add_source("scores", datum_type.fact(shape))?;
    let labels = model.wire_node("labels", Reduce::new(tvec![axis], Reducer::ArgMax(false)), &[scores])?;
    model.select_output_outlets(&labels)?;
    let ours = UseArgreduce::default().transform_into(model.clone())?;
    let models = [model.into_optimized()?.into_runnable()?, ours.into_optimized()?.into_runnable()?];

    let input: TValue = sample(shape, datum_type)?.into();
    assert_eq!(models[0].run(tvec![input.clone()])?, models[1].run(tvec![input.clone()])?);
    let executors = [Executor::SingleThread, Executor::multithread(2)];
    let mut least = [[f64::INFINITY; 2]; 2];
    for _ in 0..ROUNDS {
        for (executor, least) in executors.iter().zip(&mut least) {
            for (model, least) in models.iter().zip(least) {
                *least = multithread_tract_scope(executor.clone(), || round(model, &input))?.min(*least);
            }
        }
    }
    let [[own, ours], [own_2, ours_2]] = least;
    let (once, twice) = (own / ours, own_2 / ours_2);
    let name = format!("{datum_type:?} {shape:?}, axis {axis}");
    println!("| {name} | {own:.0} | {ours:.0} | {once:.1} x | {own_2:.0} | {ours_2:.0} | {twice:.1} x |");
    ensure!(once > 1. && twice > 1., "tract's own is ahead");
    Ok(())
}

fn main() -> TractResult<()> {
    println!("| | tract, 1 thread | argreduce | | tract, 2 threads | argreduce | |\n|---|---|---|---|---|---|---|");
    row(&[1, 21, 512, 512], 1, DatumType::F32)?;
    row(&[8, 128_256], 1, DatumType::F32)?;
    row(&[8, 128_256], 1, DatumType::F16)?;
    row(&[1024, 1000], 1, DatumType::F32)
}
