//! Values are elements of the input.
use argreduce::{Error, Plan};

pub fn run(plan: &Plan<f32, u32>, x: &[f32], indices: &mut [u32], values: &mut Vec<f64>) -> Result<(), Error> {
    plan.run(x, (indices, values))
}

//~ error[E0277]: `&mut Vec<f64>` is no place for values of type `f32`
