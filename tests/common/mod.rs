//! What the tests share: data full of ties and special values for each type, and one check of a reduction, by every
//! ISA, function, direction and policy, against the reference.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod problem;

use argreduce::{
    ArgReduce, AxisDirection, Element, Executor, Index, Isa, Layout, NanPolicy, ReduceFunction, ScopedThreads,
    reference,
};
use argreduce_guard::{Edge, Guarded, is_slow};
use half::{bf16, f16};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// A type with test data.
pub trait Sample: Element {
    /// The extremes, their neighbours, both zeros, subnormals, infinities, and NaNs of either sign, quiet and
    /// signalling.
    const SPECIAL: &'static [Self];
    /// The bits, to compare values that may be NaN.
    fn bits(self) -> u64;
}

macro_rules! integers {
    ($($t:ident)+) => {$(
        impl Sample for $t {
            const SPECIAL: &'static [$t] =
                &[0, 1, 2, $t::MIN, $t::MIN + 1, $t::MAX, $t::MAX - 1, $t::MAX / 2, $t::MAX / 2 + 1];
            fn bits(self) -> u64 {
                self as u64
            }
        }
    )+};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($t:ident: $quiet:literal, $signalling:literal, $negative:literal;)+) => {$(
        impl Sample for $t {
            const SPECIAL: &'static [$t] = {
                const SIGN: u32 = size_of::<$t>() as u32 * 8 - 1;
                &[
                    $t::from_bits(0), $t::from_bits(1 << SIGN), $t::from_bits(1), $t::from_bits(1 << SIGN | 1),
                    $t::MAX, $t::MIN,
                    $t::INFINITY, $t::NEG_INFINITY, $t::from_bits($quiet), $t::from_bits($signalling),
                    $t::from_bits($negative),
                ]
            };
            fn bits(self) -> u64 {
                self.to_bits() as u64
            }
        }
    )+};
}
floats! {
    f32: 0x7fc0_0000, 0x7f80_0001, 0xffff_ffff;
    f64: 0x7ff8_0000_0000_0000, 0x7ff0_0000_0000_0001, 0xffff_ffff_ffff_ffff;
    f16: 0x7e00, 0x7c01, 0xffff;
    bf16: 0x7fc0, 0x7f81, 0xffff;
}

impl Sample for bool {
    const SPECIAL: &'static [bool] = &[false, true];
    fn bits(self) -> u64 {
        self as u64
    }
}

/// Runs a generic function for each type that there is, or for some.
#[macro_export]
macro_rules! for_each_type {
    ($function:ident $arguments:tt) => {
        for data_type in argreduce::DataType::ALL {
            argreduce::with_element_type!(data_type, T => $function::<T>$arguments);
        }
    };
    ($function:ident $arguments:tt: $($t:ident)+) => {{
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

/// Threads that share whatever there is.
pub struct Eager(pub usize);

impl Executor for Eager {
    fn width(&self) -> usize {
        self.0
    }
    fn min_task_bytes(&self) -> usize {
        1
    }
    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        ScopedThreads::new(self.0).parallel_for(tasks, task);
    }
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
pub fn check<T: Sample, I: Index>(input: &[T], layout: &Layout, axes: &[isize], output: Option<&Layout>) {
    let rank = layout.sizes().len();
    let mut reduced = vec![false; rank];
    for &axis in axes {
        reduced[if axis < 0 { axis + rank as isize } else { axis } as usize] = true;
    }
    // In front of a guard page; and behind one, from the lowest element of the layout on.
    let skipped = places(layout).into_iter().min().unwrap_or(0);
    let moved = Layout::strided(layout.sizes(), layout.strides(), layout.offset() - skipped).unwrap();
    let whole = Guarded::copy_of(&input[..layout.required_len()], Edge::End);
    let after_skipped = Guarded::copy_of(&input[skipped..layout.required_len()], Edge::Start);
    for order in orders() {
        let expected = reference::arg_reduce(order, layout, &reduced, input);
        let best = best_values(layout, &reduced, &expected, input);
        let wanted: Vec<I> = expected.iter().map(|&index| I::at(index as isize, 0, 0)).collect();
        for isa in Isa::available() {
            for (edge, layout, input) in [(Edge::End, layout, &whole), (Edge::Start, &moved, &after_skipped)] {
                let (function, direction, policy) = order;
                let reduce =
                    ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy).isa(isa);
                let reduce = if let Some(output) = output { reduce.output_layout(output) } else { reduce };
                let plan = reduce.plan::<T, I>().unwrap();
                let untouched = I::at(-77, 0, 0);
                let mut indices = Guarded::filled(untouched, plan.output_layout().required_len(), edge);
                // The shortest way of the answers to the output, and the one by way of the values. (On a slow machine,
                // one on each side.)
                let without_values = if !is_slow() || edge == Edge::Start {
                    plan.run(&input[..], &mut indices[..]).unwrap();
                    Some(indices.to_vec())
                } else {
                    None
                };
                indices.fill(untouched);
                let mut values = Guarded::filled(T::default(), expected.len(), edge);
                plan.run(&input[..], (&mut indices[..], &mut values[..])).unwrap();
                assert!(without_values.is_none_or(|found| found == *indices), "{plan}\n{layout:?}\n{:?}", &**input);

                // Read as the contract says: at the places of the output layout, by a walk of this test's own.
                let places = places(plan.output_layout());
                let found: Vec<I> = places.iter().map(|&place| indices[place]).collect();
                assert_eq!(found, wanted, "{plan}\n{layout:?}\n{:?}", &**input);
                let mut is_output = vec![false; indices.len()];
                places.iter().for_each(|&place| is_output[place] = true);
                for (place, &index) in indices.iter().enumerate().filter(|&(place, _)| !is_output[place]) {
                    assert_eq!(index, untouched, "place {place} is not an output\n{plan}");
                }
                assert_eq!(values.iter().map(|v| v.bits()).collect::<Vec<_>>(), best, "{plan}\n{layout:?}");
            }
        }
    }
}

/// Where the elements of a layout are, in row-major order.
pub fn places(layout: &Layout) -> Vec<usize> {
    let mut places = vec![layout.offset() as isize];
    for (&size, &stride) in layout.sizes().iter().zip(layout.strides()) {
        places = places.iter().flat_map(|place| (0..size as isize).map(move |n| place + n * stride)).collect();
    }
    places.into_iter().map(|place| place as usize).collect()
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
