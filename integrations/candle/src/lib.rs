//! Argmin and argmax of candle's tensors, by argreduce, on the CPU: over one axis or several, with ties to the first or
//! the last, one rule for NaN, and on the threads of rayon. Strides and offset are used as they are: no copy is made.
//!
//! ```
//! use argreduce_candle::{ArgReduction, AxisDirection, TensorExt};
//! use candle_core::{D, Device, Tensor};
//!
//! # fn main() -> candle_core::Result<()> {
//! let scores = Tensor::new(&[[1_f32, 5., 5.], [7., 0., 7.]], &Device::Cpu)?;
//! assert_eq!(scores.argmax_over(D::Minus1)?.to_vec1::<u32>()?, [1, 0]);
//! assert_eq!(scores.t()?.argmax_over((0, 1))?.to_scalar::<u32>()?, 1); // of the transposed: row 0, column 1
//!
//! // Of equals the last, and the values too.
//! let last = ArgReduction::argmax(&[-1]).keepdim().options(AxisDirection::Decreasing);
//! let (indices, values) = scores.arg_reduce_with_values(&last)?;
//! assert_eq!(indices.to_vec2::<u32>()?, [[2], [2]]);
//! assert_eq!(values.to_vec2::<f32>()?, [[5.], [7.]]);
//! # Ok(())
//! # }
//! ```

/// The README's program is a test too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use argreduce::{ArgReduce, Element, Plan, Rayon, input};
pub use argreduce::{AxisDirection, NanPolicy, Options, ReduceFunction};
use candle_core::backend::BackendStorage;
use candle_core::op::BackpropOp;
use candle_core::shape::Dims;
use candle_core::{CpuStorage, CustomOp1, DType, Error, Layout, Result, Shape, Storage, Tensor, WithDType};

/// What to reduce, and how: a custom operator of candle, whose result are the indices, as `u32`.
///
/// `tensor.apply_op1_no_bwd(&reduction)` and [`TensorExt::arg_reduce`] run it. An index has no gradient. It is
/// row-major over the reduced axes in ascending order, whatever order they are given in.
#[derive(Clone, Debug)]
pub struct ArgReduction {
    function: ReduceFunction,
    axes: Vec<isize>,
    keepdim: bool,
    options: Options,
}

impl ArgReduction {
    /// Over these axes; a negative one counts from the end. No axes reduce nothing, and each index is 0.
    pub fn new(function: ReduceFunction, axes: &[isize]) -> Self {
        ArgReduction { function, axes: axes.to_vec(), keepdim: false, options: Options::default() }
    }

    /// The index of the largest element.
    pub fn argmax(axes: &[isize]) -> Self {
        Self::new(ReduceFunction::ArgMax, axes)
    }

    /// The index of the smallest element.
    pub fn argmin(axes: &[isize]) -> Self {
        Self::new(ReduceFunction::ArgMin, axes)
    }

    /// Reduced axes keep size 1. By default they are dropped.
    pub fn keepdim(self) -> Self {
        ArgReduction { keepdim: true, ..self }
    }

    /// An [`AxisDirection`] (which of equals: by default the first), a [`NanPolicy`] (by default NaN is better than
    /// every number), or both as [`Options`].
    pub fn options(self, options: impl Into<Options>) -> Self {
        ArgReduction { options: options.into(), ..self }
    }

    /// The plan for elements of this type, and the shape of the result.
    fn plan<T: Element>(&self, layout: &Layout) -> Result<(Plan<T, u32>, Shape)> {
        let plan = || {
            // No stride of a tensor in memory is that large; an offset that is not in the storage is found when run.
            let strides: Vec<isize> = layout.stride().iter().map(|&stride| stride as isize).collect();
            let input = argreduce::Layout::strided(layout.dims(), &strides, layout.start_offset())?;
            let plan = ArgReduce::new(self.function, &input).axes(&self.axes).options(self.options).plan()?;
            let kept = if self.keepdim {
                plan.output_layout().sizes().to_vec()
            } else {
                argreduce::drop_axes(layout.dims(), &self.axes)?
            };
            Ok((plan, Shape::from(kept)))
        };
        plan().map_err(|error: argreduce::Error| self.error(layout, error))
    }

    fn indices<T: Element>(&self, elements: &[T], layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (plan, shape) = self.plan(layout)?;
        let indices = plan.collect(input(elements).on(&Rayon)).map_err(|error| self.error(layout, error))?;
        Ok((CpuStorage::U32(indices), shape))
    }

    fn indices_and_values<T: Element + WithDType>(&self, elements: &[T], layout: &Layout) -> Result<(Tensor, Tensor)> {
        let (plan, shape) = self.plan(layout)?;
        let found = plan.collect(input(elements).on(&Rayon)).map_err(|error| self.error(layout, error))?;
        let (indices, values): (Vec<u32>, Vec<T>) = found;
        let tensor = |storage| Tensor::from_storage(Storage::Cpu(storage), shape.clone(), BackpropOp::none(), false);
        Ok((tensor(CpuStorage::U32(indices)), tensor(T::to_cpu_storage_owned(values))))
    }

    fn error(&self, layout: &Layout, error: argreduce::Error) -> Error {
        Error::msg(format!("{} of a tensor of {:?}: {error}", self.function, layout.dims()))
    }

    fn unsupported(&self, dtype: DType) -> Error {
        Error::msg(format!(
            "{} of {}: allowed are u8, u32, i16, i32, i64, bf16, f16, f32, f64 and f8e4m3",
            self.function,
            dtype.as_str()
        ))
    }
}

/// Calls the method of `ArgReduction` for the elements of a storage.
macro_rules! for_elements {
    ($reduction:expr, $method:ident, $storage:expr, $layout:expr) => {
        match $storage {
            CpuStorage::U8(input) => $reduction.$method(input, $layout),
            CpuStorage::U32(input) => $reduction.$method(input, $layout),
            CpuStorage::I16(input) => $reduction.$method(input, $layout),
            CpuStorage::I32(input) => $reduction.$method(input, $layout),
            CpuStorage::I64(input) => $reduction.$method(input, $layout),
            CpuStorage::BF16(input) => $reduction.$method(input, $layout),
            CpuStorage::F16(input) => $reduction.$method(input, $layout),
            CpuStorage::F32(input) => $reduction.$method(input, $layout),
            CpuStorage::F64(input) => $reduction.$method(input, $layout),
            other => Err($reduction.unsupported(other.dtype())),
        }
    };
}

impl CustomOp1 for ArgReduction {
    fn name(&self) -> &'static str {
        self.function.name()
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        if let CpuStorage::F8E4M3(_) = storage {
            let wider = storage.to_dtype(layout, DType::F16)?;
            return self.cpu_fwd(&wider, &Layout::contiguous(layout.shape()));
        }
        for_elements!(self, indices, storage, layout)
    }
}

/// Methods for candle's tensors.
///
/// They run on the threads of rayon's pool, that of the thread which calls or else the global one, where a call is
/// large enough. A tensor of a rank over 8, of another device than the CPU, or of a type without kernels of candle's
/// (f4, f6e2m3, f6e3m2, f8e8m0) is an error. Of all others none is copied but f8e4m3, which becomes f16, where each of
/// its values is.
pub trait TensorExt {
    /// The index of the largest element over these axes; they are dropped.
    fn argmax_over<D: Dims>(&self, dims: D) -> Result<Tensor>;

    /// The index of the smallest element over these axes; they are dropped.
    fn argmin_over<D: Dims>(&self, dims: D) -> Result<Tensor>;

    /// The indices, as `u32`.
    fn arg_reduce(&self, reduction: &ArgReduction) -> Result<Tensor>;

    /// The indices, as `u32`, and the best elements themselves: both in one pass. Neither has a gradient.
    fn arg_reduce_with_values(&self, reduction: &ArgReduction) -> Result<(Tensor, Tensor)>;
}

impl TensorExt for Tensor {
    fn argmax_over<D: Dims>(&self, dims: D) -> Result<Tensor> {
        self.arg_reduce(&over(ReduceFunction::ArgMax, dims, self)?)
    }

    fn argmin_over<D: Dims>(&self, dims: D) -> Result<Tensor> {
        self.arg_reduce(&over(ReduceFunction::ArgMin, dims, self)?)
    }

    fn arg_reduce(&self, reduction: &ArgReduction) -> Result<Tensor> {
        self.apply_op1_no_bwd(reduction)
    }

    fn arg_reduce_with_values(&self, reduction: &ArgReduction) -> Result<(Tensor, Tensor)> {
        if let DType::F8E4M3 = self.dtype() {
            let (indices, values) = self.to_dtype(DType::F16)?.arg_reduce_with_values(reduction)?;
            return Ok((indices, values.to_dtype(DType::F8E4M3)?));
        }
        let (storage, layout) = self.storage_and_layout();
        match &*storage {
            Storage::Cpu(storage) => for_elements!(reduction, indices_and_values, storage, layout),
            _ => Err(Error::msg(format!("{} is for the CPU; the tensor is elsewhere", reduction.function))),
        }
    }
}

fn over<D: Dims>(function: ReduceFunction, dims: D, tensor: &Tensor) -> Result<ArgReduction> {
    let dims = dims.to_indexes(tensor.shape(), function.name())?;
    let axes: Vec<isize> = dims.into_iter().map(|dim| dim as isize).collect();
    Ok(ArgReduction::new(function, &axes))
}

/// The programs of the page for other projects are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Embedding;
