//! `ArgMax` and `ArgMin`: attributes to a plan, tensors to bytes. Nothing here knows how a library of operators is registered.

use argreduce::{ArgReduce, AxisDirection, DataType, Layout, NanPolicy, ReduceFunction, with_element_type};
use ort::operator::{
    ComputeContext, FromKernelContext, Kernel, KernelContext, Operator, OperatorInput, OperatorOutput,
    ShapeInferenceContext,
};
use ort::value::{DynTensorValueType, IntoTensorElementType, SymbolicDimensions, TensorElementType, ValueType};
use ort::{Error, Result};

/// One of the operators for one of the types: ONNX Runtime chooses by the type of the input.
#[derive(Clone, Copy)]
pub struct ArgOperator {
    function: ReduceFunction,
    data_type: DataType,
    element_type: TensorElementType,
}

impl ArgOperator {
    pub fn for_each_type(function: ReduceFunction) -> impl Iterator<Item = ArgOperator> {
        DataType::ALL.into_iter().map(move |data_type| {
            let element_type = with_element_type!(data_type, T => T::into_tensor_element_type());
            ArgOperator { function, data_type, element_type }
        })
    }
}

impl Operator for ArgOperator {
    type Kernel<'attr> = ArgKernel;

    fn name(&self) -> &str {
        match self.function {
            ReduceFunction::ArgMax => "ArgMax",
            ReduceFunction::ArgMin => "ArgMin",
            _ => unreachable!("no other function is registered"),
        }
    }

    fn inputs(&self) -> impl IntoIterator<Item = OperatorInput> {
        [OperatorInput::required(self.element_type)]
    }

    fn outputs(&self) -> impl IntoIterator<Item = OperatorOutput> {
        [OperatorOutput::required(TensorElementType::Int64)]
    }

    fn create_kernel<'attr>(&self, context: &KernelContext<'attr>) -> Result<ArgKernel> {
        Ok(ArgKernel { operator: *self, attributes: Attributes::read(context)? })
    }

    fn infer_shape(&self, context: &mut ShapeInferenceContext) -> Result<()> {
        let inputs = context.inputs();
        // A rank that is not known looks like rank 0: then nothing is said of the output.
        let Some(ValueType::Tensor { shape, .. }) = inputs.first().filter(|input| !rank_0(input)) else {
            return Ok(());
        };
        // Here, unlike for a kernel, a missing attribute and one of the wrong type look the same: the kernel will complain.
        let axes = context.attr("axes").or_else(|_| context.attr("axis").map(|axis: i64| vec![axis]));
        let keepdims = context.attr::<i64>("keepdims").unwrap_or(1) != 0;
        let axes: Vec<i64> = axes.unwrap_or_else(|_| vec![0]);
        let rank = shape.len() as i64;
        if axes.iter().any(|axis| !(-rank..rank).contains(axis)) {
            return Ok(());
        }
        let is_reduced = |&(axis, _): &(usize, &i64)| axes.iter().any(|&a| a.rem_euclid(rank) == axis as i64);
        let output: Vec<i64> = shape
            .iter()
            .enumerate()
            .filter(|axis| keepdims || !is_reduced(axis))
            .map(|axis| if is_reduced(&axis) { 1 } else { *axis.1 })
            .collect();
        let dimension_symbols = SymbolicDimensions::empty(output.len());
        let output = ValueType::Tensor { ty: TensorElementType::Int64, shape: output.into(), dimension_symbols };
        context.set_output(0, &output)
    }
}

fn rank_0(value: &ValueType) -> bool {
    matches!(value, ValueType::Tensor { shape, .. } if shape.is_empty())
}

/// ONNX's attributes, and two of this library's: `axes` and `nan_policy`.
struct Attributes {
    axes: Vec<isize>,
    keepdims: bool,
    direction: AxisDirection,
    nan_policy: NanPolicy,
}

impl Attributes {
    fn read(context: &KernelContext<'_>) -> Result<Attributes> {
        let axis: Option<i64> = attribute(context, "axis", "an integer")?;
        let axes: Option<Vec<i64>> = attribute(context, "axes", "a list of integers")?;
        let axes = match (axis, axes) {
            (Some(_), Some(_)) => return Err(Error::new("both axis and axes are given: one of them is allowed")),
            (None, Some(axes)) => axes,
            (axis, None) => vec![axis.unwrap_or(0)],
        };
        let nan_policy: Option<String> = attribute(context, "nan_policy", "a string")?;
        let nan_policy = nan_policy.map_or(Ok(NanPolicy::default()), |name| {
            name.parse().map_err(|error| Error::new(format!("nan_policy is {name:?}: {error}")))
        })?;
        Ok(Attributes {
            // An axis that `isize` does not hold is out of range anyway.
            axes: axes.into_iter().map(|axis| isize::try_from(axis).unwrap_or(isize::MAX)).collect(),
            keepdims: flag(context, "keepdims", true)?,
            direction: match flag(context, "select_last_index", false)? {
                true => AxisDirection::Decreasing,
                false => AxisDirection::Increasing,
            },
            nan_policy,
        })
    }
}

/// An attribute, if it is given. One of another type than expected is an error, not a missing one.
fn attribute<'a, T: FromKernelContext<'a>>(
    context: &KernelContext<'a>,
    name: &str,
    expected: &str,
) -> Result<Option<T>> {
    let value = context.get::<T>(name);
    let is_given = || {
        context.get::<i64>(name).is_some()
            || context.get::<f32>(name).is_some()
            || context.get::<String>(name).is_some()
            || context.get::<Vec<i64>>(name).is_some()
            || context.get::<Vec<f32>>(name).is_some()
    };
    if value.is_none() && is_given() {
        return Err(Error::new(format!("{name} has the wrong type: it has to be {expected}")));
    }
    Ok(value)
}

fn flag(context: &KernelContext<'_>, name: &str, default: bool) -> Result<bool> {
    match attribute::<i64>(context, name, "an integer")? {
        None => Ok(default),
        Some(value @ (0 | 1)) => Ok(value == 1),
        Some(value) => Err(Error::new(format!("{name} is {value}: 0 and 1 are allowed"))),
    }
}

/// Holds nothing that changes, because ONNX Runtime computes with one kernel from several threads.
pub struct ArgKernel {
    operator: ArgOperator,
    attributes: Attributes,
}

impl Kernel for ArgKernel {
    fn compute(&mut self, context: &ComputeContext) -> Result<()> {
        let Attributes { axes, keepdims, direction, nan_policy } = &self.attributes;
        let data_type = self.operator.data_type;
        let input = context.input(0)?.ok_or_else(|| Error::new("the input is missing"))?;
        let input = input.downcast::<DynTensorValueType>()?;

        let sizes = input.shape().iter().map(|&size| usize::try_from(size));
        let sizes = sizes.collect::<std::result::Result<Vec<_>, _>>().map_err(Error::wrap)?;
        let layout = Layout::contiguous(&sizes).map_err(Error::wrap)?;
        let reduce = ArgReduce::new(self.operator.function, &layout).axes(axes);
        let reduce = reduce.direction(*direction).nan_policy(*nan_policy);
        // Plans are cheap, and the shape may be another one next time.
        let plan = reduce.plan_untyped(data_type, DataType::I64).map_err(Error::wrap)?;

        let output_sizes = match keepdims {
            true => plan.output_layout().sizes().to_vec(),
            false => argreduce::drop_axes(&sizes, axes).map_err(Error::wrap)?,
        };
        let mut output = context.output(0, output_sizes)?.ok_or_else(|| Error::new("the output is missing"))?;
        let (_, indices) = output.try_extract_tensor_mut::<i64>()?;
        let (data, bytes) = (input.data_ptr(), layout.required_len() * data_type.size());
        let data: &[u8] = match bytes {
            // The pointer of an empty tensor may be null.
            0 => &[],
            // SAFETY: the tensor is packed and of this type, as ONNX Runtime chose the operator by it, on the CPU, as no other
            // execution provider is named, and outlives the call.
            _ => unsafe { std::slice::from_raw_parts(data.cast(), bytes) },
        };
        plan.run(data, bytemuck::cast_slice_mut(indices)).map_err(Error::wrap)
    }
}
