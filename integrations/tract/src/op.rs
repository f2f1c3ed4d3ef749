//! The operator: what is reduced, and how it runs.

use argreduce::{ArgReduce, AxisDirection, DataType, Layout, MAX_RANK, NanPolicy, Rayon, ReduceFunction, UntypedPlan};
use tract_core::internal::*;
use tract_core::ops::nn::{Reduce, Reducer};
use tract_linalg::multithread::{Executor, current_tract_executor};

/// The index of the smallest or largest element over one axis or several, as `i64`. Reduced axes keep size 1.
///
/// It runs on the threads of tract's executor, where a call is large enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgReduceOp {
    /// By ArgMax or ArgMin. It answers for the facts.
    reduce: Reduce,
    function: ReduceFunction,
    direction: AxisDirection,
    nan_policy: NanPolicy,
}

impl ArgReduceOp {
    /// In the place of this `Reduce`; nothing if it is another one than ArgMax or ArgMin, or if argreduce does not have
    /// the type or the rank of its input.
    pub fn replacing(reduce: &Reduce, input: &TypedFact, nan_policy: NanPolicy) -> Option<Self> {
        let (function, last) = match reduce.reducer {
            Reducer::ArgMax(last) => (ReduceFunction::ArgMax, last),
            Reducer::ArgMin(last) => (ReduceFunction::ArgMin, last),
            _ => return None,
        };
        let direction = if last { AxisDirection::Decreasing } else { AxisDirection::Increasing };
        let is_supported = data_type(input.datum_type).is_some() && input.rank() <= MAX_RANK;
        is_supported.then(|| ArgReduceOp { reduce: reduce.clone(), function, direction, nan_policy })
    }

    /// The reduced axes, in ascending order.
    pub fn axes(&self) -> &[usize] {
        &self.reduce.axes
    }

    /// The same over other axes, given in ascending order.
    pub(crate) fn over(&self, axes: TVec<usize>) -> Self {
        ArgReduceOp { reduce: Reduce::new(axes, self.reduce.reducer), ..self.clone() }
    }

    fn plan(&self, input: &Tensor) -> TractResult<UntypedPlan> {
        let data_type = data_type(input.datum_type())
            .with_context(|| format!("{} of {:?}, which is no type of argreduce", self.function, input.datum_type()))?;
        let axes = self.reduce.axes.iter().map(|&axis| axis as isize);
        let plan = Layout::contiguous(input.shape()).and_then(|layout| {
            let reduction = ArgReduce::new(self.function, &layout).axes_from(axes);
            reduction.direction(self.direction).nan_policy(self.nan_policy).plan_untyped(data_type, DataType::I64)
        });
        plan.with_context(|| format!("{} of {:?} over axes {:?}", self.function, input.shape(), self.reduce.axes))
    }
}

/// The type of argreduce whose order is that of the type's bytes; quantized ones are compared as they are stored.
fn data_type(datum_type: DatumType) -> Option<DataType> {
    Some(match datum_type {
        DatumType::Bool => DataType::Bool,
        DatumType::U8 | DatumType::QU8(_) => DataType::U8,
        DatumType::U16 => DataType::U16,
        DatumType::U32 => DataType::U32,
        DatumType::U64 => DataType::U64,
        DatumType::I8 | DatumType::QI8(_) => DataType::I8,
        DatumType::I16 => DataType::I16,
        DatumType::I32 => DataType::I32,
        DatumType::I64 => DataType::I64,
        DatumType::F16 => DataType::F16,
        DatumType::F32 => DataType::F32,
        DatumType::F64 => DataType::F64,
        _ => return None,
    })
}

impl Op for ArgReduceOp {
    fn name(&self) -> StaticName {
        format!("Argreduce<{:?}>", self.reduce.reducer).into()
    }

    fn info(&self) -> TractResult<Vec<String>> {
        Ok(vec![format!("axes: {:?}, nan {}", self.reduce.axes, self.nan_policy)])
    }

    op_as_typed_op!();
}

impl EvalOp for ArgReduceOp {
    op_out_of_plan!();

    fn eval(&self, _: &EvalContext, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let input = args_1!(inputs);
        let plan = self.plan(&input)?;
        let mut output = Tensor::zero::<i64>(plan.output_layout().sizes())?;
        let input = input.try_as_plain_ram()?.as_bytes();
        let mut indices = output.try_as_plain_ram_mut()?;
        let indices = indices.as_bytes_mut();
        match current_tract_executor() {
            Executor::SingleThread => plan.run(input, indices)?,
            Executor::MultiThread(pool) => plan.run(argreduce::input(input).on(&*pool), indices)?,
            Executor::RayonGlobal => plan.run(argreduce::input(input).on(&Rayon), indices)?,
        }
        Ok(tvec!(output.into_tvalue()))
    }
}

impl TypedOp for ArgReduceOp {
    fn output_facts(&self, inputs: &[&TypedFact]) -> TractResult<TVec<TypedFact>> {
        self.reduce.output_facts(inputs)
    }

    fn axes_mapping(&self, inputs: &[&TypedFact], outputs: &[&TypedFact]) -> TractResult<AxesMapping> {
        self.reduce.axes_mapping(inputs, outputs)
    }

    fn cost(&self, inputs: &[&TypedFact]) -> TractResult<TVec<(Cost, TDim)>> {
        self.reduce.cost(inputs)
    }

    /// An index counts along the reduced axes, so that a change which swaps two of them is refused.
    fn change_axes(
        &self,
        model: &TypedModel,
        node: &TypedNode,
        _: InOut,
        change: &AxisOp,
    ) -> TractResult<Option<AxisChangeConsequence>> {
        let axes: Option<TVec<usize>> = self.axes().iter().map(|&axis| change.transform_axis(axis)).collect();
        rule_if_some!(axes = axes);
        rule_if!(axes.is_sorted());
        let op = Some(Box::new(self.over(axes)) as _);
        Ok(Some(AxisChangeConsequence::new(model, node, op, change)))
    }

    fn slice(
        &self,
        patch: &mut TypedModelPatch,
        _: &TypedModel,
        node: &TypedNode,
        _: &str,
        inputs: &[OutletId],
        output_axis: usize,
        _: &TDim,
        _: &TDim,
    ) -> TractResult<Option<TVec<OutletId>>> {
        rule_if!(!self.axes().contains(&output_axis));
        patch.wire_node(&node.name, self.clone(), inputs).map(Some)
    }

    as_op!();
}
