//! Argmin and argmax in tract's models, by argreduce: [`UseArgreduce`] replaces what reduces to an index in a typed
//! model. Everything else stays as it is.
//!
//! ```
//! use argreduce_tract::UseArgreduce;
//! use tract_core::ops::nn::{Reduce, Reducer};
//! use tract_core::prelude::*;
//! use tract_core::transform::ModelTransform;
//!
//! # fn main() -> TractResult<()> {
//! let mut model = TypedModel::default();
//! let scores = model.add_source("scores", f32::fact([2, 3]))?;
//! let labels = model.wire_node("labels", Reduce::new(tvec![1], Reducer::ArgMax(false)), &[scores])?;
//! model.select_output_outlets(&labels)?;
//! UseArgreduce::default().transform(&mut model)?;
//! let scores = tensor2(&[[1_f32, 5., 5.], [7., 0., 7.]]);
//! let labels = model.into_runnable()?.run(tvec![scores.into()])?;
//! assert_eq!(*labels[0], tensor2(&[[1_i64], [0]]));
//! # Ok(())
//! # }
//! ```

/// The README's program is a test too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod op;

use argreduce::MAX_RANK;
pub use argreduce::NanPolicy;
pub use op::ArgReduceOp;

use tract_core::internal::*;
use tract_core::model::Rewriter;
use tract_core::ops::nn::Reduce;
use tract_core::transform::ModelTransform;

/// A transformation of typed models: each `Reduce` by ArgMax or ArgMin becomes an [`ArgReduceOp`], and one after a
/// `Reshape` that merges axes takes over these axes.
///
/// Indices, ties and types of results stay as they were. What reduces elements of a type that is none of argreduce's,
/// or has more than 8 axes, is left alone. After it, `model.into_optimized()` as ever.
#[derive(Clone, Debug)]
pub struct UseArgreduce {
    /// Where NaN stands. By default it is ignored, as tract does it; ONNX's reference, NumPy and PyTorch propagate it.
    pub nan_policy: NanPolicy,
}

impl Default for UseArgreduce {
    fn default() -> Self {
        UseArgreduce { nan_policy: NanPolicy::Ignore }
    }
}

impl ModelTransform for UseArgreduce {
    fn name(&self) -> StaticName {
        "use-argreduce".into()
    }

    fn transform(&self, model: &mut TypedModel) -> TractResult<()> {
        Rewriter::default()
            .with_rule_for("reduce-to-argreduce", replace)
            .with_rule_for("merged-axes-to-argreduce", take_over_axes)
            .rewrite(self, model)
    }
}

type Patched = TractResult<Option<TypedModelPatch>>;

/// The rule: a `Reduce` that argreduce has.
fn replace(context: &UseArgreduce, model: &TypedModel, node: &TypedNode, _: &str, reduce: &Reduce) -> Patched {
    let input = model.outlet_fact(node.inputs[0])?;
    rule_if_some!(op = ArgReduceOp::replacing(reduce, input, context.nan_policy));
    TypedModelPatch::replace_single_op(model, node, &node.inputs, op).map(Some)
}

/// The other rule: an index over several axes is that over one merged of them, so that a `Reshape` before the operator
/// need not merge them. `[n, h, w] -> [n, h * w] -> [n, 1]` becomes `[n, h, w] -> [n, 1, 1] -> [n, 1]`. Then tract
/// moves a transposition past the operator, and copies nothing.
fn take_over_axes(_: &UseArgreduce, model: &TypedModel, node: &TypedNode, name: &str, op: &ArgReduceOp) -> Patched {
    rule_if_some!(merge = model.single_prec(node.id)?);
    rule_if_let!(Some(AxisOp::Reshape(at, from, to)) = merge.op_as::<AxisOp>());
    rule_if!(from.len() > 1 && to.len() == 1 && op.axes().contains(at));
    rule_if!(model.outlet_fact(merge.inputs[0])?.rank() <= MAX_RANK);
    let more = from.len() - 1;
    let before = op.axes().iter().copied().filter(|axis| axis < at);
    let after = op.axes().iter().copied().filter(|axis| axis > at).map(|axis| axis + more);
    let axes = before.chain(*at..=at + more).chain(after).collect();

    let mut patch = TypedModelPatch::default();
    let mut wire = patch.taps(model, &merge.inputs)?;
    wire = patch.wire_node(name, op.over(axes), &wire)?;
    for n in 0..more {
        wire = patch.wire_node(format!("{name}.merged-{n}"), AxisOp::Rm(*at), &wire)?;
    }
    patch.shunt_outside(model, node.id.into(), wire[0])?;
    Ok(Some(patch))
}
