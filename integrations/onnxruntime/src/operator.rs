//! `ArgMax` and `ArgMin`: attributes to a plan, tensors to bytes. Nothing here knows how a library of operators is
//! registered.

use crate::panics::caught;
use crate::threads::{SessionThreads, width};
use argreduce::{ArgReduce, AxisDirection, DataType, Layout, NanPolicy, ReduceFunction, with_element_type};
use ort::operator::{
    ComputeContext, FromKernelContext, Kernel, KernelContext, Operator, OperatorInput, OperatorOutput,
    ShapeInferenceContext,
};
use ort::value::{DynTensorValueType, IntoTensorElementType, SymbolicDimensions, TensorElementType, ValueType};
use ort::{Error, Result};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

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
        no_panic(|| self.kernel(context)).map_err(|error| {
            // When a model is loaded, unlike when it runs, the runtime does not say which node an error is of.
            let name = context.node_name().unwrap_or_default();
            let outputs = context.outputs().unwrap_or_default();
            let output = outputs.first().map_or("", |output| output.name());
            Error::new(format!("{} {name:?} with the output {output:?}: {}", self.name(), error.message()))
        })
    }

    /// Says nothing of a node that is wrong: the runtime drops errors from here. `create_kernel` gives them soon after.
    fn infer_shape(&self, context: &mut ShapeInferenceContext) -> Result<()> {
        no_panic(|| infer_shape(context))
    }
}

impl ArgOperator {
    fn kernel(&self, context: &KernelContext<'_>) -> Result<ArgKernel> {
        let attributes = Attributes::read(context)?;
        // Axes that the rank does not allow are an error when the model is loaded, if the rank is known by then.
        if let Some((shape, _)) = context.inputs()?.first().and_then(|input| known_shape(input.dtype())) {
            kept_dimensions(shape.len(), &attributes.axes)?;
        }
        Ok(ArgKernel { operator: *self, attributes, width: width() })
    }
}

/// Only errors leave for the runtime.
fn no_panic<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(body).unwrap_or_else(|message| Err(Error::new(message)))
}

/// As [`Operator::infer_shape`].
fn infer_shape(context: &mut ShapeInferenceContext) -> Result<()> {
    let inputs = context.inputs();
    let Some((shape, symbols)) = inputs.first().and_then(known_shape) else {
        return Ok(());
    };
    // As for a kernel, an attribute of any type can be read as a list of integers: see `is_given`.
    if misspelled(|name| context.attr::<Vec<i64>>(name).is_ok()).is_some() {
        return Ok(());
    }
    // Here, unlike for a kernel, a missing attribute and one of the wrong type look the same.
    let axes = context.attr("axes").or_else(|_| context.attr("axis").map(|axis: i64| vec![axis]));
    let axes = axes.unwrap_or_else(|_| vec![0]);
    let keepdims = context.attr::<i64>("keepdims").unwrap_or(1) != 0;
    let (false, Ok(kept)) = (axes.is_empty(), kept_dimensions(shape.len(), &signed(axes))) else {
        return Ok(());
    };
    let output = (0..shape.len()).filter(|dimension| keepdims || kept.contains(dimension));
    let (sizes, symbols): (Vec<i64>, Vec<String>) = output
        .map(|dimension| match (kept.contains(&dimension), shape[dimension]) {
            (false, _) => (1, String::new()),
            (true, size @ 0..) => (size, String::new()),
            // Only a symbol says that a dimension is not known: without one, -1 would be taken for its size.
            (true, _) if symbols[dimension].is_empty() => (-1, new_symbol()),
            (true, _) => (-1, symbols[dimension].clone()),
        })
        .unzip();
    let dimension_symbols = SymbolicDimensions::new(symbols);
    let output = ValueType::Tensor { ty: TensorElementType::Int64, shape: sizes.into(), dimension_symbols };
    context.set_output(0, &output)
}

/// The sizes, -1 for one that is not known, and the symbols, empty for a dimension without one. A rank that is not
/// known looks like rank 0: there is nothing to say of either.
fn known_shape(value: &ValueType) -> Option<(&[i64], &[String])> {
    match value {
        ValueType::Tensor { shape, dimension_symbols, .. } if !shape.is_empty() => Some((shape, dimension_symbols)),
        _ => None,
    }
}

/// The dimensions that are not reduced. An error if the rank does not allow the axes.
fn kept_dimensions(rank: usize, axes: &[isize]) -> Result<Vec<usize>> {
    let dimensions: Vec<usize> = (0..rank).collect();
    argreduce::drop_axes(&dimensions, axes).map_err(Error::wrap)
}

/// A symbol that no other dimension has, so that two unknown dimensions are never taken for equal. A user may write it
/// into another model, which another process reads: besides a count, it has a random number of this process.
fn new_symbol() -> String {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("argreduce_{:016x}_{}", *PROCESS, COUNT.fetch_add(1, Ordering::Relaxed))
}

/// ONNX's attributes, and two of this library's: `axes` and `nan_policy`.
struct Attributes {
    axes: Vec<isize>,
    keepdims: bool,
    direction: AxisDirection,
    nan_policy: NanPolicy,
}

impl Attributes {
    const NAMES: [&str; 5] = ["axis", "axes", "keepdims", "select_last_index", "nan_policy"];

    fn read(context: &KernelContext<'_>) -> Result<Attributes> {
        if let Some(name) = misspelled(|name| is_given(context, name)) {
            let names = Attributes::NAMES.join(", ");
            return Err(Error::new(format!("there is no attribute {name}: allowed are {names}")));
        }
        let axis: Option<i64> = attribute(context, "axis", "an integer")?;
        let axes: Option<Vec<i64>> = context.get("axes");
        let axes = match (axis, axes) {
            (_, Some(axes)) if axes.is_empty() => return Err(no_integers("axes")),
            (Some(_), Some(_)) => return Err(Error::new("both axis and axes are given: one of them is allowed")),
            (None, Some(axes)) => axes,
            (axis, None) => vec![axis.unwrap_or(0)],
        };
        let nan_policy: Option<String> = attribute(context, "nan_policy", "a string")?;
        let nan_policy = nan_policy.map_or(Ok(NanPolicy::default()), |name| {
            name.parse().map_err(|error| Error::new(format!("nan_policy is {name:?}: {error}")))
        })?;
        Ok(Attributes {
            axes: signed(axes),
            keepdims: flag(context, "keepdims", true)?,
            direction: match flag(context, "select_last_index", false)? {
                true => AxisDirection::Decreasing,
                false => AxisDirection::Increasing,
            },
            nan_policy,
        })
    }
}

/// Axes as argreduce has them. One that `isize` does not hold is out of range anyway.
fn signed(axes: Vec<i64>) -> Vec<isize> {
    axes.into_iter().map(|axis| isize::try_from(axis).unwrap_or(isize::MAX)).collect()
}

/// A name that was likely meant for one of the attributes, if it is given: what other libraries call them, and slips.
/// The interface can be asked for an attribute by its name, but does not list them: other names go unnoticed.
fn misspelled(is_given: impl Fn(&str) -> bool) -> Option<String> {
    const OF_OTHERS: &str = "dim dims dimension dimensions keep_dim keep_dims select_last select_last_idx last_index \
        nan nan_mode ignore_nan skipna";
    let known = Attributes::NAMES.into_iter().chain(OF_OTHERS.split_whitespace());
    let mut names = known.flat_map(spellings).chain(Attributes::NAMES.into_iter().flat_map(slips));
    names.find(|name| !Attributes::NAMES.contains(&name.as_str()) && is_given(name))
}

/// The name as it is, without underscores (`keepdims`), and as other languages write it (`keepDims`, `KeepDims`).
fn spellings(name: &str) -> [String; 4] {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let pascal: String = name.split('_').map(capital).collect();
    [name.to_string(), name.replace('_', ""), pascal[..1].to_lowercase() + &pascal[1..], pascal]
}

/// The name with a letter left out, a letter twice, or two letters in each other's place.
fn slips(name: &str) -> impl Iterator<Item = String> {
    (0..name.len()).flat_map(move |at| {
        let (before, letter, after) = (&name[..at], &name[at..=at], &name[at + 1..]);
        let exchanged = after.get(..1).map(|next| format!("{before}{next}{letter}{}", &after[1..]));
        [format!("{before}{after}"), format!("{before}{letter}{letter}{after}")].into_iter().chain(exchanged)
    })
}

/// An attribute, if it is given. One of another type than expected is an error, not a missing one.
fn attribute<'a, T: FromKernelContext<'a>>(
    context: &KernelContext<'a>,
    name: &str,
    expected: &str,
) -> Result<Option<T>> {
    match context.get(name) {
        None if is_given(context, name) => Err(wrong_type(name, expected)),
        value => Ok(value),
    }
}

/// Whether the attribute is given, of whatever type: the runtime reads a list of integers from any, an empty one if it
/// is something else. (So an empty one says nothing: see [`no_integers`].)
fn is_given(context: &KernelContext<'_>, name: &str) -> bool {
    context.get::<Vec<i64>>(name).is_some()
}

fn wrong_type(name: &str, expected: &str) -> Error {
    Error::new(format!("{name} has the wrong type: it has to be {expected}"))
}

/// A list of integers that is empty looks like strings, a tensor or a graph: for these, the interface of ONNX Runtime
/// 1.17 has no other reader.
fn no_integers(name: &str) -> Error {
    Error::new(format!("{name} is empty or has the wrong type: it has to be a list of integers, of one at least"))
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
    width: usize,
}

impl Kernel for ArgKernel {
    fn compute(&mut self, context: &ComputeContext) -> Result<()> {
        no_panic(|| self.run(context))
    }
}

impl ArgKernel {
    fn run(&self, context: &ComputeContext) -> Result<()> {
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
            // SAFETY: the tensor is packed and of this type, as ONNX Runtime chose the operator by it, on the CPU, as
            // no other execution provider is named, and outlives the call.
            _ => unsafe { std::slice::from_raw_parts(data.cast(), bytes) },
        };
        let threads = SessionThreads { context, width: self.width };
        let indices: &mut [u8] = bytemuck::cast_slice_mut(indices);
        plan.run(argreduce::input(data).on(&threads), indices).map_err(Error::wrap)
    }
}
