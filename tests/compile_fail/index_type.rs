//! Indices are written as the plan says.
use argreduce::{Error, Plan};

pub fn run(plan: &Plan<f32, u32>, x: &[f32], indices: &mut [u64]) -> Result<(), Error> {
    plan.run(x, indices)
}

//~ error[E0277]: answers cannot be written to `&mut [u64]`: indices of `u32`, of elements of `f32`, are
