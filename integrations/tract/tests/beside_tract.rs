//! Beside tract's own reduction, without a model: every type, order and set of axes; what is different, and what is
//! refused.

use argreduce::reference;
use argreduce_tract::{ArgReduceOp, NanPolicy, UseArgreduce};
use tract_core::internal::*;
use tract_core::ops::nn::{Reduce, Reducer};
use tract_core::prelude::multithread::{Executor, multithread_tract_scope};
use tract_core::transform::ModelTransform;

const ORDERS: [Reducer; 4] =
    [Reducer::ArgMin(false), Reducer::ArgMin(true), Reducer::ArgMax(false), Reducer::ArgMax(true)];

/// Numbers from 0 to 6, full of ties, as this type.
fn sample(shape: &[usize], datum_type: DatumType) -> Tensor {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 16) % 7) as i64
    };
    let numbers: Vec<i64> = (0..shape.iter().product()).map(|_| next()).collect();
    let numbers = Tensor::from_shape(shape, &numbers).unwrap();
    let mut tensor = numbers.cast_to_dt(datum_type.unquantized()).unwrap().into_owned();
    if datum_type.is_quantized() {
        tensor = tensor.cast_to_dt(datum_type).unwrap().into_owned();
    }
    tensor
}

fn by_argreduce(reducer: Reducer, axes: &[usize], input: &Tensor, nan_policy: NanPolicy) -> TractResult<Tensor> {
    let reduce = Reduce::new(axes.into(), reducer);
    let fact = input.datum_type().fact(input.shape());
    let op = ArgReduceOp::replacing(&reduce, &fact, nan_policy).expect("a reduction that argreduce has");
    Ok(op.eval(&EvalContext::out_of_plan(), tvec![input.clone().into()])?.remove(0).into_tensor())
}

/// Each list of axes of this rank, ascending.
fn subsets(rank: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1 << rank).map(move |set: usize| (0..rank).filter(|axis| set >> axis & 1 == 1).collect())
}

#[test]
fn every_type_order_and_set_of_axes_as_tract_has_it() -> TractResult<()> {
    let quantized = QParams::ZpScale { zero_point: 3, scale: 0.5 };
    let types = [
        DatumType::U8,
        DatumType::U16,
        DatumType::I8,
        DatumType::I16,
        DatumType::I32,
        DatumType::I64,
        DatumType::F16,
        DatumType::F32,
        DatumType::F64,
        DatumType::QI8(quantized),
        DatumType::QU8(quantized),
    ];
    let mut compared = 0;
    for datum_type in types {
        for shape in [&[][..], &[1], &[300], &[5, 70], &[3, 4, 33], &[2, 3, 4, 9], &[0, 5]] {
            let input = sample(shape, datum_type);
            for axes in subsets(shape.len()).filter(|axes| axes.iter().all(|&axis| shape[axis] > 0)) {
                for reducer in ORDERS {
                    let ours = by_argreduce(reducer, &axes, &input, NanPolicy::Ignore)?;
                    let own = reducer.reduce(&axes, &input)?;
                    assert_eq!(ours, own, "{reducer:?} of {datum_type:?} {shape:?} over {axes:?}");
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} reductions as tract has them");
    assert_eq!(compared, COMPARED);
    Ok(())
}

/// See docs/conformance.md.
const COMPARED: usize = 1540;

/// The rows of the table in docs/conformance.md.
#[test]
fn where_tract_is_different() -> TractResult<()> {
    let (nan, inf, max) = (f32::NAN, f32::INFINITY, f32::MAX);
    // The input; of equals the first, by tract and here, then the last, by tract and here; and if NaN is propagated.
    let rows = [
        ([nan, 1., 3., 3.], [2, 2, 3, 3], [0, 0]),
        ([1., nan, 3., nan], [2, 2, 2, 2], [1, 3]),
        ([nan; 4], [0, 0, 0, 3], [0, 3]),
        ([-inf; 4], [0, 0, 0, 3], [0, 3]),
        ([-inf, -max, -inf, -inf], [0, 1, 1, 1], [1, 1]),
        ([nan, -max, -max, -inf], [0, 1, 2, 2], [0, 0]),
    ];
    let scalar = |tensor: Tensor| tensor.try_as_plain_ram()?.as_slice::<i64>().map(|slice| slice[0]);
    for (row, [own, ours, own_last, ours_last], propagated) in rows {
        for (last, own, ours) in [(false, own, ours), (true, own_last, ours_last)] {
            for (reducer, sign) in [(Reducer::ArgMax(last), 1.), (Reducer::ArgMin(last), -1.)] {
                let input = tensor1(&row.map(|x| x * sign));
                assert_eq!(scalar(reducer.reduce(&[0], &input)?)?, own, "{reducer:?} of {input:?}, tract's own");
                let ignore = by_argreduce(reducer, &[0], &input, NanPolicy::Ignore)?;
                assert_eq!(scalar(ignore)?, ours, "{reducer:?} of {input:?}");
                let propagate = by_argreduce(reducer, &[0], &input, NanPolicy::Propagate)?;
                assert_eq!(scalar(propagate)?, propagated[last as usize], "{reducer:?} of {input:?}, propagated");
            }
        }
    }
    Ok(())
}

/// With NaN, infinities and both zeros, over every set of axes; and the types that tract does not reduce.
#[test]
fn as_the_reference_has_it() -> TractResult<()> {
    let shape = [3, 4, 50];
    let special = [f32::NAN, f32::NEG_INFINITY, f32::INFINITY, -0., 0., 1., -1.];
    let numbers = sample(&shape, DatumType::I64);
    let floats: Vec<f32> =
        numbers.try_as_plain_ram()?.as_slice::<i64>()?.iter().map(|&n| special[n as usize]).collect();
    against_reference(&Tensor::from_shape(&shape, &floats)?, &floats)?;
    let flags: Vec<bool> = floats.iter().map(|&x| x > 0.).collect();
    against_reference(&Tensor::from_shape(&shape, &flags)?, &flags)?;
    let words = sample(&shape, DatumType::U32);
    against_reference(&words, words.try_as_plain_ram()?.as_slice::<u32>()?)?;
    let words = sample(&shape, DatumType::U64);
    against_reference(&words, words.try_as_plain_ram()?.as_slice::<u64>()?)
}

fn against_reference<T: Copy + PartialOrd>(input: &Tensor, elements: &[T]) -> TractResult<()> {
    use argreduce::{AxisDirection, ReduceFunction};
    let layout = argreduce::Layout::contiguous(input.shape())?;
    for axes in subsets(input.rank()) {
        let reduced: Vec<bool> = (0..input.rank()).map(|axis| axes.contains(&axis)).collect();
        for nan_policy in [NanPolicy::Propagate, NanPolicy::Ignore] {
            for reducer in ORDERS {
                let order = match reducer {
                    Reducer::ArgMin(false) => (ReduceFunction::ArgMin, AxisDirection::Increasing, nan_policy),
                    Reducer::ArgMin(true) => (ReduceFunction::ArgMin, AxisDirection::Decreasing, nan_policy),
                    Reducer::ArgMax(false) => (ReduceFunction::ArgMax, AxisDirection::Increasing, nan_policy),
                    _ => (ReduceFunction::ArgMax, AxisDirection::Decreasing, nan_policy),
                };
                let ours = by_argreduce(reducer, &axes, input, nan_policy)?;
                let ours = ours.try_as_plain_ram()?.as_slice::<i64>()?.iter().map(|&index| index as usize);
                assert!(ours.eq(reference::arg_reduce(order, &layout, &reduced, elements)), "{order:?} over {axes:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn threads_of_tracts_executor_change_no_answer() -> TractResult<()> {
    // Beyond the size from which on a call is divided.
    let input = sample(&[21, 400, 512], DatumType::F32);
    for axis in 0..3 {
        for reducer in ORDERS {
            let own = reducer.reduce(&[axis], &input)?;
            for executor in [Executor::SingleThread, Executor::multithread(3), Executor::RayonGlobal] {
                let ours =
                    multithread_tract_scope(executor, || by_argreduce(reducer, &[axis], &input, NanPolicy::Ignore));
                assert_eq!(ours?, own, "{reducer:?} over {axis}");
            }
        }
    }
    Ok(())
}

/// A model of one reduction, transformed: how many operators of argreduce it has.
fn replaced(reducer: Reducer, fact: TypedFact) -> TractResult<usize> {
    let mut model = TypedModel::default();
    let input = model.add_source("input", fact)?;
    let output = model.wire_node("output", Reduce::new(tvec![0], reducer), &[input])?;
    model.select_output_outlets(&output)?;
    UseArgreduce::default().transform(&mut model)?;
    model.check_consistency()?;
    Ok(model.nodes.iter().filter(|node| node.op_is::<ArgReduceOp>()).count())
}

#[test]
fn what_argreduce_does_not_have_is_left_alone() -> TractResult<()> {
    assert_eq!(replaced(Reducer::ArgMax(false), f32::fact([2, 3]))?, 1);
    assert_eq!(replaced(Reducer::ArgMax(false), f32::fact([2; 8]))?, 1);
    assert_eq!(replaced(Reducer::ArgMax(false), f32::fact([2; 9]))?, 0);
    assert_eq!(replaced(Reducer::Max, f32::fact([2, 3]))?, 0);
    assert_eq!(replaced(Reducer::ArgMin(true), String::fact([2, 3]))?, 0);
    Ok(())
}

#[test]
fn an_empty_axis_is_an_error_that_names_it() {
    let empty = Tensor::zero::<f32>(&[2, 0]).unwrap();
    let error = by_argreduce(Reducer::ArgMax(false), &[1], &empty, NanPolicy::Ignore).unwrap_err();
    let message = format!("{error:#}");
    assert!(message.starts_with("argmax of [2, 0] over axes [1]: ") && message.contains("axis 1"), "{message}");
}
