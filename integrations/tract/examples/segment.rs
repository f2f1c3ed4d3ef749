//! A model that ends in an ArgMax, before and after the transformation: what changes, and that its answers do not.
//!
//!     cargo run --release --example segment             a model of its own: scores of 21 classes, 256 x 256 pixels
//!     cargo run --release --example segment model.onnx  or yours; sizes that are unknown are taken as 1

use argreduce_tract::{ArgReduceOp, UseArgreduce};
use std::time::Instant;
use tract_onnx::prelude::*;
use tract_onnx::tract_core::internal::DimLike;
use tract_onnx::tract_core::ops::nn::{Reduce, Reducer};
use tract_onnx::tract_core::transform::ModelTransform;

fn own_model() -> TractResult<TypedModel> {
    let mut model = TypedModel::default();
    let scores = model.add_source("scores", f32::fact([1, 21, 256, 256]))?;
    let labels = model.wire_node("labels", Reduce::new(tvec![1], Reducer::ArgMax(false)), &[scores])?;
    model.select_output_outlets(&labels)?;
    Ok(model)
}

/// Numbers that are all different, in no order.
fn sample(fact: &TypedFact) -> TractResult<Tensor> {
    let shape: Vec<usize> = fact.shape.iter().map(|size| size.to_usize().unwrap_or(1)).collect();
    let len = shape.iter().product::<usize>();
    let numbers: Vec<f32> = (0..len).map(|n| (n as f32 * 0.618_034).fract() - 0.5).collect();
    Ok(Tensor::from_shape(&shape, &numbers)?.cast_to_dt(fact.datum_type)?.into_owned())
}

fn run(name: &str, model: TypedModel, inputs: &TVec<TValue>) -> TractResult<TVec<TValue>> {
    let model = model.into_optimized()?.into_runnable()?;
    model.run(inputs.clone())?;
    let start = Instant::now();
    let outputs = model.run(inputs.clone())?;
    println!("{name}: {:.0} µs", start.elapsed().as_secs_f64() * 1e6);
    Ok(outputs)
}

fn main() -> TractResult<()> {
    let model = match std::env::args_os().nth(1) {
        Some(path) => tract_onnx::onnx().model_for_path(path)?.into_typed()?.into_decluttered()?,
        None => own_model()?,
    };
    let mut faster = model.clone();
    UseArgreduce::default().transform(&mut faster)?;
    for node in faster.nodes.iter().filter(|node| node.op_is::<ArgReduceOp>()) {
        println!("by argreduce: {node}");
    }

    let facts = (0..model.inputs.len()).map(|n| model.input_fact(n).cloned()).collect::<TractResult<Vec<_>>>()?;
    let inputs: TVec<TValue> = facts.iter().map(|fact| Ok(sample(fact)?.into())).collect::<TractResult<_>>()?;
    let own = run("as it was", model, &inputs)?;
    assert_eq!(own, run("transformed", faster, &inputs)?);
    Ok(())
}
