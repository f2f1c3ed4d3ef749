//! What the tests share: data full of ties and special values for each type, calls as values, executors, and the check
//! of a reduction by every order.
#![allow(dead_code, unused_imports, reason = "each test file uses its part")]

pub mod call;
pub mod case;
pub mod executor;
pub mod problem;
pub mod ragged;
pub mod shapes;

use argreduce::{AxisDirection, DataType, Layout, NanPolicy, ReduceFunction};
use argreduce_guard::{Edge, is_slow};
use call::typed_indices;
use case::{Asked, Case, Data};
pub use case::{Sample, places, reduced};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Runs a generic function for each type that there is, or for some.
#[macro_export]
macro_rules! for_each_type {
    ($function:ident $arguments:tt) => {
        for data_type in argreduce::DataType::ALL {
            argreduce::with_element_type!(data_type, T => $function::<T>$arguments);
        }
    };
    ($function:ident $arguments:tt: $($t:ident)+) => {{
        #[allow(unused_imports, reason = "not all of them are asked for")]
        use half::{bf16, f16};
        $($function::<$t>$arguments;)+
    }};
}

pub fn rng(seed: u64) -> SmallRng {
    SmallRng::seed_from_u64(seed)
}

/// Elements of very few values, drawn anew each time, so that ties and special values are everywhere.
pub fn sample<T: Sample>(rng: &mut SmallRng, len: usize) -> Vec<T> {
    let kinds = rng.random_range(1..=4);
    let values: Vec<T> = (0..kinds).map(|_| T::SPECIAL[rng.random_range(0..T::SPECIAL.len())]).collect();
    (0..len).map(|_| values[rng.random_range(0..kinds)]).collect()
}

/// Of few values that are everywhere, or of one, and a few others anywhere: so that the best is in any slab of a
/// reduction, and not always in the first.
pub fn dense_or_sparse<T: Sample>(rng: &mut SmallRng, len: usize, is_sparse: bool) -> Vec<T> {
    if !is_sparse || len == 0 {
        return sample(rng, len);
    }
    let mut input = vec![T::SPECIAL[rng.random_range(0..T::SPECIAL.len())]; len];
    for _ in 0..rng.random_range(1..20) {
        input[rng.random_range(0..len)] = T::SPECIAL[rng.random_range(0..T::SPECIAL.len())];
    }
    input
}

/// Every combination of the three choices that the order of the contract has.
pub fn orders() -> impl Iterator<Item = (ReduceFunction, AxisDirection, NanPolicy)> {
    ReduceFunction::ALL.into_iter().flat_map(|function| {
        AxisDirection::ALL
            .into_iter()
            .flat_map(move |direction| NanPolicy::ALL.map(|policy| (function, direction, policy)))
    })
}

/// Holds a reduction against the reference, by every order and on every ISA: the indices at the places of the output
/// layout, the values bit for bit, and nothing between the places.
///
/// All slices lie flush against pages that nobody may touch, on either side: an element too far is a crash.
pub fn check<T: Sample>(x: &[T], layout: &Layout, (axes, index_type): (&[isize], DataType), output: Option<&Layout>) {
    let case = Case { output: output.copied(), ..Case::new(layout, axes, T::DATA_TYPE, index_type) };
    check_by_every_order(&Data::new(x, vec![]), &case);
}

fn check_by_every_order(data: &Data, case: &Case) {
    for order in orders() {
        let case = Case { order, ..case.clone() };
        let expected = case.expected(data);
        // The shortest way of the answers to the output, and the one by way of the values. (On a slow machine, one on
        // each side.)
        for (edge, asked) in Edge::ALL.into_iter().flat_map(|edge| [Asked::Indices, Asked::Values].map(|a| (edge, a))) {
            if !is_slow() || edge == Edge::Start || asked == Asked::Values {
                let is_typed = edge == Edge::End && typed_indices(case.data_type).contains(&case.index_type);
                Case { edge, asked, is_typed, ..case.clone() }.check(data, &expected);
            }
        }
    }
}

/// The bits of the elements that `indices` name.
pub fn best_values<T: Sample>(layout: &Layout, reduced: &[bool], indices: &[usize], input: &[T]) -> Vec<u64> {
    let part = |keep: bool| {
        let sizes: Vec<usize> = layout
            .sizes()
            .iter()
            .zip(reduced)
            .map(|(&size, &reduced)| if reduced != keep { size } else { 1 })
            .collect();
        Layout::strided(&sizes, layout.strides(), layout.offset()).unwrap()
    };
    let (kept, along) = (places(&part(true)), places(&part(false)));
    kept.iter().zip(indices).map(|(place, &index)| input[place + along[index] - layout.offset()].bits()).collect()
}
