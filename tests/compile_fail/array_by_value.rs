//! An array is not an input, a reference to it is.
use argreduce::{Error, Plan};

pub fn run(plan: &Plan<f32, u32>) -> Result<(), Error> {
    plan.run([1.0_f32, 5.0, 2.0], &mut [0])
}

//~ error[E0277]: .. Input<'_, f32>
