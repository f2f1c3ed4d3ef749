//! ONNX models, as tract loads them: what tract computes by itself, and after the transformation. `ci/integrations`
//! makes them (tests/models.py), and says in ARGREDUCE_TRACT_MODELS where they are.

use argreduce_tract::{ArgReduceOp, UseArgreduce};
use std::path::{Path, PathBuf};
use tract_onnx::prelude::*;
use tract_onnx::tract_core::internal::{AxisOp, Op};
use tract_onnx::tract_core::ops::nn::{Reduce, Reducer};
use tract_onnx::tract_core::transform::ModelTransform;

/// The models whose names begin so.
fn models(kind: &str) -> Vec<PathBuf> {
    let root = std::env::var("ARGREDUCE_TRACT_MODELS").expect("ARGREDUCE_TRACT_MODELS is not set: run ci/integrations");
    let folders = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(kind)).collect()
}

/// The tensors of a model's folder: of the inputs, or of the answers.
fn tensors(folder: &Path, name: &str) -> TractResult<Vec<Tensor>> {
    let files = (0..).map(|number| folder.join(format!("{name}_{number}.pb")));
    files.take_while(|file| file.exists()).map(|file| tensor(&file)).collect()
}

fn tensor(file: &Path) -> TractResult<Tensor> {
    let proto = tract_onnx::tensor::proto_from_reader(std::fs::File::open(file)?)?;
    tract_onnx::tensor::load_tensor(&*tract_onnx::data_resolver::default(), &proto, None)
}

/// As ONNX has it; with the sizes of this input, if there is one.
fn load(folder: &Path, input: Option<&Tensor>) -> TractResult<TypedModel> {
    let mut model = tract_onnx::onnx().model_for_path(folder.join("model.onnx"))?;
    if let Some(input) = input {
        model.set_input_fact(0, input.datum_type().fact(input.shape()).into())?;
    }
    model.into_typed()?.into_decluttered()
}

/// How many nodes of this kind there are.
fn count<O: Op>(model: &TypedModel, is: impl Fn(&O) -> bool) -> usize {
    let ops = model.nodes.iter().filter_map(|node| node.op_as::<O>());
    ops.filter(|op| is(op)).count()
}

fn reductions(model: &TypedModel) -> usize {
    count(model, |reduce: &Reduce| matches!(reduce.reducer, Reducer::ArgMax(_) | Reducer::ArgMin(_)))
}

/// The model without what it has to reduce to an index, which this crate does now.
fn transformed(model: &TypedModel) -> TractResult<TypedModel> {
    let mut model = model.clone();
    let before = reductions(&model);
    UseArgreduce::default().transform(&mut model)?;
    assert!(before > 0 && reductions(&model) == 0 && count(&model, |_: &ArgReduceOp| true) == before);
    Ok(model)
}

fn run(model: TypedModel, inputs: &[Tensor]) -> TractResult<Vec<Tensor>> {
    let model = model.into_optimized()?.into_runnable()?;
    let run = |input: &Tensor| Ok(model.run(tvec![input.clone().into()])?.remove(0).into_tensor());
    inputs.iter().map(run).collect()
}

/// Of one model: by tract's own, and after the transformation, for each input. Then the model as it runs.
fn compare(folder: &Path, is_symbolic: bool) -> TractResult<TypedModel> {
    let (inputs, expected) = (tensors(folder, "input")?, tensors(folder, "output")?);
    assert!(!inputs.is_empty() && inputs.len() == expected.len(), "{folder:?}");
    let model = load(folder, (!is_symbolic).then(|| &inputs[0]))?;
    let ours = transformed(&model)?;
    assert_eq!(run(ours.clone(), &inputs)?, expected, "{folder:?}, by argreduce");
    assert_eq!(run(model, &inputs)?, expected, "{folder:?}, by tract");
    ours.into_optimized()
}

#[test]
#[ignore = "ci/integrations makes the models"]
fn the_node_tests_of_onnx() -> TractResult<()> {
    let folders = models("node-");
    assert_eq!(folders.len(), 32);
    folders.iter().try_for_each(|folder| compare(folder, false).map(drop))
}

#[test]
#[ignore = "ci/integrations makes the models"]
fn one_axis_of_each_type() -> TractResult<()> {
    let folders = models("single-");
    assert_eq!(folders.len(), 48);
    folders.iter().try_for_each(|folder| compare(folder, false).map(drop))
}

/// The Reshape that merges axes is gone; so is a Transpose before it, unless it swaps the merged axes.
#[test]
#[ignore = "ci/integrations makes the models"]
fn several_axes_after_a_reshape_that_merged_them() -> TractResult<()> {
    let folders = models("several-");
    assert_eq!(folders.len(), 12);
    for folder in folders {
        let optimized = compare(&folder, false)?;
        let name = folder.file_name().unwrap().to_str().unwrap();
        let merged = if name.contains("flat") { 3 } else { 2 };
        assert_eq!(count(&optimized, |op: &ArgReduceOp| op.axes().len() == merged), 1, "{name}\n{optimized}");
        assert_eq!(count(&optimized, |op: &AxisOp| matches!(op, AxisOp::Reshape(..))), 0, "{name}\n{optimized}");
        let moves = count(&optimized, |op: &AxisOp| matches!(op, AxisOp::Move(..)));
        assert_eq!(moves > 0, name.contains("swapped"), "{name}\n{optimized}");
    }
    Ok(())
}

#[test]
#[ignore = "ci/integrations makes the models"]
fn a_batch_of_any_size() -> TractResult<()> {
    let folders = models("symbolic-");
    assert_eq!(folders.len(), 2);
    for folder in folders {
        let optimized = compare(&folder, true)?;
        assert!(optimized.output_fact(0)?.shape.as_concrete().is_none());
    }
    Ok(())
}

/// A recogniser of text reads a word, and an ArgMax at its end says which.
#[test]
#[ignore = "ci/integrations makes the models"]
fn a_real_model() -> TractResult<()> {
    let folder = models("real").remove(0);
    let inputs = tensors(&folder, "input")?;
    let model = load(&folder, Some(&inputs[0]))?;
    let ours = run(transformed(&model)?, &inputs)?.remove(0);
    assert_eq!(ours, run(model, &inputs)?.remove(0));

    // A label counts once until another one comes, and label 0 is none.
    let mut labels = ours.try_as_plain_ram()?.as_slice::<i64>()?.to_vec();
    labels.dedup();
    labels.retain(|&label| label != 0);
    let expected = std::fs::read_to_string(folder.join("hello.txt"))?;
    assert_eq!(labels.iter().map(|label| label.to_string()).collect::<Vec<_>>().join(" "), expected);
    Ok(())
}
