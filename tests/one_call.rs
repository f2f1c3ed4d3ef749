//! Every combination of what a call reads and where its answers go, against the reference: with and without a mask and
//! threads; indices, values, partial answers; into slices and new vectors; of one function and of both; of types and
//! of bytes.

mod common;

use argreduce::{
    ArgReduce, AxisDirection, Buffers, DataType, Executor, Input, Layout, Mask, NanPolicy, Partial, PartialBuffers,
    Plan, PlanBoth, ReduceFunction, UntypedPlan, UntypedPlanBoth, input, reference,
};
use bytemuck::{Pod, cast_slice_mut};
use common::problem::{Problem, problem};
use common::{Eager, Sample, places, rng, sample};
use proptest::prelude::*;
use rand::RngExt;

const FILL: i64 = 7;

/// What is to be found by one function: packed, and at the places of the output layout.
struct Expected {
    indices: Vec<Option<usize>>,
    bits: Vec<u64>,
    written: Vec<i64>,
}

impl Expected {
    /// Of a plan for that order.
    fn of<T: Sample>(
        order: (ReduceFunction, AxisDirection, NanPolicy),
        (layout, output, reduced): (&Layout, &Layout, &[bool]),
        (x, there): (&[T], Option<&[bool]>),
    ) -> Expected {
        let is_there = |n: usize| there.is_none_or(|there| there[n]);
        let indices = reference::arg_reduce_masked(order, layout, reduced, x, is_there);
        let mut written = vec![0; output.required_len()];
        for (place, index) in places(output).into_iter().zip(&indices) {
            written[place] = index.map_or(FILL, |index| index as i64);
        }
        let known: Vec<usize> = indices.iter().map(|index| index.unwrap_or(0)).collect();
        let bits = common::best_values(layout, reduced, &known, x);
        let bits = indices.iter().zip(bits).map(|(index, bits)| if index.is_some() { bits } else { 0 }).collect();
        Expected { indices, bits, written }
    }

    fn check(&self, what: &str, indices: &[i64]) {
        assert_eq!(indices, self.written, "{what}");
    }

    fn check_values<T: Sample>(&self, what: &str, indices: &[i64], values: &[T]) {
        self.check(what, indices);
        assert!(values.iter().map(|value| value.bits()).eq(self.bits.iter().copied()), "{what}");
    }

    fn check_partials<T: Sample>(&self, what: &str, partials: &[Partial<T, i64>]) {
        let index = |partial: &Partial<T, i64>| (!partial.is_none()).then_some(partial.index as usize);
        assert!(partials.iter().map(index).eq(self.indices.iter().copied()), "{what}");
        assert!(partials.iter().map(|partial| partial.value.bits()).eq(self.bits.iter().copied()), "{what}");
    }
}

/// All that a plan of one function writes.
fn one<T: Sample>(plan: &Plan<T, i64>, x: Input<'_, T>, expected: &Expected) {
    let (what, outputs) = (format!("{plan}, {x:?}"), expected.bits.len());
    let (mut indices, mut values) = (vec![0; expected.written.len()], vec![T::default(); outputs]);
    let mut partials = vec![Partial::NONE; outputs];
    plan.run(x, &mut indices).unwrap();
    expected.check(&what, &indices);
    indices.fill(0);
    plan.run(x, (&mut indices, &mut values)).unwrap();
    expected.check_values(&what, &indices, &values);
    indices.fill(0);
    plan.run(x, (&mut indices[..], None)).unwrap();
    expected.check(&what, &indices);
    plan.run(x, &mut partials[..]).unwrap();
    expected.check_partials(&what, &partials);

    expected.check(&what, &plan.collect::<Vec<i64>>(x).unwrap());
    let (found, best): (Vec<i64>, Vec<T>) = plan.collect(x).unwrap();
    expected.check_values(&what, &found, &best);
    expected.check_partials(&what, &plan.collect::<Vec<Partial<T, i64>>>(x).unwrap());

    indices.fill(0);
    plan.finish(&partials, (&mut indices, Some(&mut values[..]))).unwrap();
    expected.check_values(&what, &indices, &values);
    let mut copied = vec![Partial { value: T::default(), index: 3 }; outputs];
    plan.finish(&partials, &mut copied).unwrap();
    expected.check_partials(&what, &copied);
}

/// All that a plan of both functions writes.
fn both<T: Sample>(plan: &PlanBoth<T, i64>, x: Input<'_, T>, expected: &[Expected; 2]) {
    let what = format!("{plan}, {x:?}");
    let each = |indices: [&[i64]; 2]| expected.iter().zip(indices).for_each(|(of, found)| of.check(&what, found));
    let mut indices = [(); 2].map(|()| vec![0; expected[0].written.len()]);
    let [min, max] = &mut indices;
    plan.run(x, [&mut *min, &mut *max]).unwrap();
    each([min, max]);
    indices = plan.collect(x).unwrap();
    each(indices.each_ref().map(|indices| &indices[..]));
    // Values of one alone, too.
    let mut highest = vec![T::default(); expected[0].bits.len()];
    let [min, max] = &mut indices;
    plan.run(x, [(&mut *min, None), (&mut *max, Some(&mut highest[..]))]).unwrap();
    each([min, max]);
    expected[1].check_values(&what, max, &highest);
    let found: [(Vec<i64>, Vec<T>); 2] = plan.collect(x).unwrap();
    expected.iter().zip(&found).for_each(|(of, (indices, values))| of.check_values(&what, indices, values));
    let partials: [Vec<Partial<T, i64>>; 2] = plan.collect(x).unwrap();
    expected.iter().zip(&partials).for_each(|(of, partials)| of.check_partials(&what, partials));
    let [min, max] = &mut indices;
    plan.finish(partials.each_ref().map(|partials| &partials[..]), [&mut *min, &mut *max]).unwrap();
    each([min, max]);
}

/// All that plans of bytes write.
fn untyped<T: Sample + Pod>(
    (one, both): (&UntypedPlan, &UntypedPlanBoth),
    x: Input<'_, u8>,
    (expected, of_both): (&Expected, &[Expected; 2]),
) {
    let (what, outputs) = (format!("{one} of bytes, {x:?}"), expected.bits.len());
    let new = || (vec![0_i64; expected.written.len()], vec![T::default(); outputs], vec![9_i64; outputs]);
    let (mut indices, mut values, mut packed) = new();
    let partials_of = |values: &[T], indices: &[i64]| -> Vec<Partial<T, i64>> {
        values.iter().zip(indices).map(|(&value, &index)| Partial { value, index }).collect()
    };
    one.run(x, Buffers { indices: cast_slice_mut(&mut indices), values: None }).unwrap();
    expected.check(&what, &indices);
    one.run(x, Buffers { indices: cast_slice_mut(&mut indices), values: Some(cast_slice_mut(&mut values)) }).unwrap();
    expected.check_values(&what, &indices, &values);
    one.run(x, PartialBuffers { indices: cast_slice_mut(&mut packed), values: cast_slice_mut(&mut values) }).unwrap();
    expected.check_partials(&what, &partials_of(&values, &packed));
    indices.fill(0);
    let partials = PartialBuffers { indices: cast_slice_mut(&mut packed), values: cast_slice_mut(&mut values) };
    let mut finished = vec![T::default(); outputs];
    let to = Buffers { indices: cast_slice_mut(&mut indices), values: Some(cast_slice_mut(&mut finished)) };
    one.finish(partials, to).unwrap();
    expected.check_values(&what, &indices, &finished);

    // One to indices, the other to partial answers; then both to both.
    let (mut other_indices, mut other_values, mut other_packed) = new();
    let min = Buffers { indices: cast_slice_mut(&mut indices), values: None };
    let max = PartialBuffers { indices: cast_slice_mut(&mut other_packed), values: cast_slice_mut(&mut other_values) };
    both.run(x, [min.into(), max.into()]).unwrap();
    of_both[0].check(&what, &indices);
    of_both[1].check_partials(&what, &partials_of(&other_values, &other_packed));
    let min = Buffers { indices: cast_slice_mut(&mut indices), values: Some(cast_slice_mut(&mut values)) };
    let max = Buffers { indices: cast_slice_mut(&mut other_indices), values: Some(cast_slice_mut(&mut other_values)) };
    both.run(x, [min.into(), max.into()]).unwrap();
    of_both[0].check_values(&what, &indices, &values);
    of_both[1].check_values(&what, &other_indices, &other_values);
}

fn check<T: Sample>(Problem { layout, axes, output, seed, .. }: &Problem)
where
    T::Pod: Sample,
{
    let mut rng = rng(*seed);
    let x: Vec<T> = sample(&mut rng, layout.required_len());
    let there: Vec<bool> = (0..layout.element_count()).map(|_| rng.random_range(0..3) != 0).collect();
    let rank = layout.sizes().len();
    let mut reduced = vec![false; rank];
    axes.iter().for_each(|&axis| reduced[axis.rem_euclid(rank.max(1) as isize) as usize] = true);
    let (function, direction, policy) = common::orders().nth((seed / 7 % 8) as usize).unwrap();
    let reduce = ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy).fill(FILL);
    let reduce = if let Some(output) = output { reduce.output_layout(output) } else { reduce };
    let (plan, plan_both) = (reduce.plan::<T, i64>().unwrap(), reduce.plan_both::<T, i64>().unwrap());
    let bytes_of = reduce.plan_untyped(T::DATA_TYPE, DataType::I64).unwrap();
    let bytes_of_both = reduce.plan_both_untyped(T::DATA_TYPE, DataType::I64).unwrap();
    for is_masked in [false, true] {
        let mask = is_masked.then(|| Mask::bools(&there));
        let of = |function| {
            let given = (&x[..], is_masked.then_some(&there[..]));
            Expected::of((function, direction, policy), (layout, plan.output_layout(), &reduced), given)
        };
        let expected = of(function);
        let of_both = ReduceFunction::ALL.map(of);
        for threads in [None, Some(Eager(3))] {
            let read = input(&x).masked(mask);
            let read = threads.as_ref().map_or(read, |threads| read.on(threads as &dyn Executor));
            one(&plan, read, &expected);
            both(&plan_both, read, &of_both);
            // SAFETY: bits of elements, which have no padding.
            let bytes = unsafe { std::slice::from_raw_parts(x.as_ptr().cast::<u8>(), size_of_val(&x[..])) };
            let read = input::<u8>(bytes).masked(mask);
            let read = threads.as_ref().map_or(read, |threads| read.on(threads as &dyn Executor));
            untyped::<T::Pod>((&bytes_of, &bytes_of_both), read, (&expected, &of_both));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: argreduce_guard::few(0..200, 4).count() as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_combination(problem in problem()) {
        argreduce::with_element_type!(problem.data_type, T => check::<T>(&problem));
    }
}

/// A slice that is too short is named, in each way to say it, and nothing is written.
#[test]
fn names_of_what_is_short() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let reduce = ArgReduce::argmax(&layout).axes(&[1]);
    let (plan, x) = (reduce.plan::<u8, u8>().unwrap(), [1, 5, 2, 7, 0, 7]);
    let bytes = reduce.plan_untyped(DataType::U8, DataType::U8).unwrap();
    let slice = |result: Result<(), argreduce::Error>| match result {
        Err(argreduce::Error::TooShort { slice, .. }) => slice,
        other => panic!("{other:?}"),
    };
    assert_eq!(slice(plan.run(&x[1..], &mut [0; 2])), "input");
    assert_eq!(slice(plan.run(&x, &mut [0])), "output");
    assert_eq!(slice(plan.run(&x, (&mut [0; 2], &mut [0]))), "values");
    assert_eq!(slice(plan.run(&x, &mut [Partial::NONE])), "partials");
    assert_eq!(slice(plan.finish(&[Partial::NONE], &mut [0; 2])), "partials");
    assert_eq!(slice(bytes.run(&x, PartialBuffers { indices: &mut [0], values: &mut [0; 2] })), "indices");
    assert_eq!(slice(bytes.run(&x, PartialBuffers { indices: &mut [0; 2], values: &mut [0] })), "values");
    let both = reduce.plan_both::<u8, u8>().unwrap();
    assert_eq!(slice(both.run(&x, [&mut [0; 2][..], &mut [0]])), "max");
    assert_eq!(slice(both.run(&x, [(&mut [0; 2], &mut [0][..]), (&mut [0; 2], &mut [0; 2])])), "min_values");
}
