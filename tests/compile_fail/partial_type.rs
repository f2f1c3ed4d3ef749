//! Partial answers are of the plan's types, both.
use argreduce::{Error, Partial, Plan};

pub fn run(plan: &Plan<f32, u32>, x: &[f32], partials: &mut [Partial<f32, u64>]) -> Result<(), Error> {
    plan.run(x, partials)
}

//~ error[E0277]: answers cannot be written to `&mut [Partial<f32, u64>]`: indices of `u32`, of elements of `f32`, are
