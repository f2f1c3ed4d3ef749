//! Arrays of the crate `ndarray` have strides, and so functions of their own.
use argreduce::{Error, Plan};
use ndarray::Array2;

pub fn run(plan: &Plan<f32, u32>, x: &Array2<f32>) -> Result<(), Error> {
    plan.run(x, &mut [0])
}

//~ error[E0277]: .. Input<'_, f32>
