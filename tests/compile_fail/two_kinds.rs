//! Both outputs are of one kind.
use argreduce::{Error, PlanBoth};

pub fn run(plan: &PlanBoth<f32, u32>, x: &[f32], [min, max]: [&mut [u32]; 2], values: &mut [f32]) -> Result<(), Error> {
    plan.run(x, [min, (max, values)])
}

//~ error[E0308]:
