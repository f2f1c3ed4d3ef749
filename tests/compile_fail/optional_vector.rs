//! Values that may be there are a slice.
use argreduce::{Error, Plan};

pub fn run(plan: &Plan<f32, u32>, x: &[f32], indices: &mut [u32], values: Option<&mut Vec<f32>>) -> Result<(), Error> {
    plan.run(x, (indices, values))
}

//~ error[E0277]: `Option<&mut Vec<f32>>` is no place for values of type `f32`
