//! Threads: the library has none of its own, and a call runs on those that it is lent. The answer is the same on any
//! number of them.
//!
//! ```text
//! cargo run --release --features rayon --example threads
//! ```

use argreduce::{ArgReduce, Executor, Layout, Plan, Rayon, ScopedThreads, Sequential, input};
use std::time::Instant;

/// The tokens of a vocabulary, for each row of a batch: what a language model ends with.
const SIZES: [usize; 2] = [128, 128_256];

fn main() -> Result<(), argreduce::Error> {
    let logits = logits();
    let plan = ArgReduce::argmax(&Layout::contiguous(&SIZES)?).axes(&[1]).plan::<f32, u32>()?;
    let tokens: Vec<u32> = plan.collect(&logits)?;

    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    run("the caller alone", &Sequential, &plan, &logits, &tokens)?;
    // Started for each call: for work that takes much longer than that.
    run("scoped threads", &ScopedThreads::new(threads), &plan, &logits, &tokens)?;
    // The pool that the rest of the program uses too.
    run("rayon's pool", &Rayon, &plan, &logits, &tokens)?;

    // One answer may be divided, too.
    let plan = ArgReduce::argmax(&Layout::contiguous(&SIZES)?).all_axes().plan::<f32, u32>()?;
    let mut best = [0];
    plan.run(input(&logits).on(&Rayon), &mut best)?;
    assert_eq!([best[0] as usize], [(0..logits.len()).fold(0, |a, b| if logits[b] > logits[a] { b } else { a })]);
    println!("of the whole tensor: {}", best[0]);
    Ok(())
}

/// Runs a plan on threads, twice, and tells how long the second time took and how it was divided.
fn run(
    name: &str,
    executor: &dyn Executor,
    plan: &Plan<f32, u32>,
    logits: &[f32],
    expected: &[u32],
) -> Result<(), argreduce::Error> {
    let mut tokens = vec![0; expected.len()];
    plan.run(input(logits).on(executor), &mut tokens)?;
    tokens.fill(0);
    let start = Instant::now();
    plan.run(input(logits).on(executor), &mut tokens)?;
    println!("{name}: {:.2?}, {}", start.elapsed(), plan.division_on(executor));
    assert_eq!(tokens, expected);
    Ok(())
}

/// Numbers that are as good as random.
fn logits() -> Vec<f32> {
    let hash = |n: u32| n.wrapping_mul(0x9e37_79b9).rotate_left(13).wrapping_mul(0x85eb_ca6b) >> 8;
    (0..(SIZES[0] * SIZES[1]) as u32).map(|n| hash(n) as f32).collect()
}
