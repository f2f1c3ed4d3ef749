//! Plans whose types are values, on buffers of bytes: for callers that learn the types at run time, as descriptors, foreign languages and
//! model runtimes do. Nothing here knows of any of those.

use crate::{ArgReduce, DataType, Element, Error, Index, Isa, Layout, Plan};
use bytemuck::Pod;
use half::{bf16, f16};
use std::fmt;
use std::sync::Arc;

impl ArgReduce<'_> {
    /// As [`ArgReduce::plan`], with both types as values. Unlike it, takes a little heap memory; running takes none.
    ///
    /// # Errors
    /// As [`ArgReduce::plan`], and [`Error::NotAnIndexType`] for an `index_type` other than `i32`, `i64`, `u32` and `u64`.
    pub fn plan_untyped(self, data_type: DataType, index_type: DataType) -> Result<UntypedPlan, Error> {
        let plan = match data_type {
            DataType::F32 => self.typed::<f32>(index_type),
            DataType::F16 => self.typed::<f16>(index_type),
            DataType::Bf16 => self.typed::<bf16>(index_type),
            DataType::F64 => self.typed::<f64>(index_type),
            DataType::I8 => self.typed::<i8>(index_type),
            DataType::I16 => self.typed::<i16>(index_type),
            DataType::I32 => self.typed::<i32>(index_type),
            DataType::I64 => self.typed::<i64>(index_type),
            // Not every byte is a `bool`, and all of them have an order as numbers.
            DataType::U8 | DataType::Bool => self.typed::<u8>(index_type),
            DataType::U16 => self.typed::<u16>(index_type),
            DataType::U32 => self.typed::<u32>(index_type),
            DataType::U64 => self.typed::<u64>(index_type),
        };
        Ok(UntypedPlan { plan: plan?, data_type, index_type })
    }

    fn typed<T: Element + Pod>(self, index_type: DataType) -> Result<Arc<dyn OnBytes>, Error> {
        Ok(match index_type {
            DataType::I32 => Arc::new(self.plan::<T, i32>()?),
            DataType::I64 => Arc::new(self.plan::<T, i64>()?),
            DataType::U32 => Arc::new(self.plan::<T, u32>()?),
            DataType::U64 => Arc::new(self.plan::<T, u64>()?),
            data_type => return Err(Error::NotAnIndexType { data_type }),
        })
    }
}

/// A [`Plan`] whose types are known at run time, on buffers of bytes in the machine's own byte order.
///
/// Buffers have to be aligned as their elements are; what is left over behind the last whole element is not looked at. `bool` is ordered
/// as unsigned bytes, so that every byte is a value. A clone is another handle to the same plan.
///
/// ```
/// use argreduce::{ArgReduce, DataType, Layout};
/// let layout = Layout::contiguous(&[2, 3])?;
/// let plan = ArgReduce::argmax(&layout).axes(&[1]).plan_untyped(DataType::F32, DataType::U32)?;
///
/// let (scores, mut classes) = ([1.0_f32, 5.0, 2.0, 7.0, 0.0, 7.0], [9_u32; 2]);
/// plan.run(bytemuck::cast_slice(&scores), bytemuck::cast_slice_mut(&mut classes))?;
/// assert_eq!(classes, [1, 0]);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct UntypedPlan {
    plan: Arc<dyn OnBytes>,
    data_type: DataType,
    index_type: DataType,
}

impl UntypedPlan {
    /// As [`Plan::run`].
    ///
    /// # Errors
    /// As [`Plan::run`], and [`Error::Misaligned`].
    pub fn run(&self, input: &[u8], indices: &mut [u8]) -> Result<(), Error> {
        self.plan.run_bytes(input, indices, None)
    }

    /// As [`Plan::run_with_values`].
    ///
    /// # Errors
    /// As [`UntypedPlan::run`].
    pub fn run_with_values(&self, input: &[u8], indices: &mut [u8], values: &mut [u8]) -> Result<(), Error> {
        self.plan.run_bytes(input, indices, Some(values))
    }

    /// The type of the elements.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The type of the indices.
    pub fn index_type(&self) -> DataType {
        self.index_type
    }

    /// As [`Plan::output_layout`].
    pub fn output_layout(&self) -> &Layout {
        self.plan.output_layout()
    }

    /// As [`Plan::isa`].
    pub fn isa(&self) -> Isa {
        self.plan.isa()
    }
}

impl fmt::Display for UntypedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}

trait OnBytes: fmt::Debug + fmt::Display + Send + Sync {
    fn run_bytes(&self, input: &[u8], indices: &mut [u8], values: Option<&mut [u8]>) -> Result<(), Error>;
    fn output_layout(&self) -> &Layout;
    fn isa(&self) -> Isa;
}

impl<T: Element + Pod, I: Index + Pod> OnBytes for Plan<T, I> {
    fn run_bytes(&self, input: &[u8], indices: &mut [u8], values: Option<&mut [u8]>) -> Result<(), Error> {
        let input = elements::<T>("input", T::DATA_TYPE.name(), input)?;
        let indices = elements_mut::<I>("output", I::NAME, indices)?;
        match values {
            None => self.run(input, indices),
            Some(values) => self.run_with_values(input, indices, elements_mut("values", T::DATA_TYPE.name(), values)?),
        }
    }

    fn output_layout(&self) -> &Layout {
        Plan::output_layout(self)
    }

    fn isa(&self) -> Isa {
        Plan::isa(self)
    }
}

/// The whole elements of a buffer. That it is too short for a layout, the plan will say.
fn elements<'a, T: Pod>(slice: &'static str, element_type: &'static str, bytes: &'a [u8]) -> Result<&'a [T], Error> {
    let whole = bytes.len() / size_of::<T>() * size_of::<T>();
    if whole == 0 {
        // Where nothing is read, any address will do.
        return Ok(&[]);
    }
    bytemuck::try_cast_slice(&bytes[..whole]).map_err(|_| misaligned::<T>(slice, element_type))
}

/// As [`elements`], to write to.
fn elements_mut<'a, T: Pod>(
    slice: &'static str,
    element_type: &'static str,
    bytes: &'a mut [u8],
) -> Result<&'a mut [T], Error> {
    let whole = bytes.len() / size_of::<T>() * size_of::<T>();
    if whole == 0 {
        return Ok(&mut []);
    }
    bytemuck::try_cast_slice_mut(&mut bytes[..whole]).map_err(|_| misaligned::<T>(slice, element_type))
}

fn misaligned<T>(slice: &'static str, element_type: &'static str) -> Error {
    Error::Misaligned { slice, element_type, alignment: align_of::<T>() }
}
