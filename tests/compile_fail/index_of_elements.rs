//! Not every integer is a type of indices, nor every type one of elements.
use argreduce::{ArgReduce, Error, Plan};

pub fn of_indices(reduce: ArgReduce<'_>) -> Result<Plan<f32, i16>, Error> {
    reduce.plan()
}

pub fn of_elements(reduce: ArgReduce<'_>) -> Result<Plan<char, u32>, Error> {
    reduce.plan()
}

//~ error[E0277]: `i16` is not a type for indices
//~ error[E0277]: `char` is not an element type
