//! What is collected is of the plan's types.
use argreduce::{Error, Plan};

pub fn collect(plan: &Plan<f32, u32>, x: &[f32]) -> Result<Vec<f32>, Error> {
    plan.collect(x)
}

//~ error[E0277]: answers cannot be collected as `Vec<f32>`: indices of `u32`, of elements of `f32`, are
