//! Plans whose types are values, on buffers of bytes: for callers that learn the types at run time, as descriptors,
//! foreign languages and model runtimes do. Nothing here knows of any of those.

use super::builder::{ArgReduce, check_fill};
use super::erased::ErasedPlan;
use crate::exec::{ElementsRef, Indices, OutputSlices, Values};
use crate::index::max_index;
use crate::{DataType, Error, Executor, Isa, Layout, Mask, Sequential};
use bytemuck::Pod;
use std::fmt;
use std::sync::Arc;

impl ArgReduce<'_> {
    /// As [`ArgReduce::plan`], with both types as values. Unlike it, takes a little heap memory; running takes none.
    ///
    /// # Errors
    /// As [`ArgReduce::plan`]; [`Error::NotAnIndexType`] for an `index_type` other than `i32`, `i64`, `u32`, `u64`,
    /// `u8` and `u16`; and [`Error::NoKernels`] for a `data_type` whose kernels were left out: see
    /// [features](crate#features).
    pub fn plan_untyped(self, data_type: DataType, index_type: DataType) -> Result<UntypedPlan, Error> {
        let Some(max_index) = max_index(index_type) else {
            return Err(Error::NotAnIndexType { data_type: index_type });
        };
        let mut erased = ErasedPlan::EMPTY;
        erased.plan(&self, data_type, (index_type.name(), max_index))?;
        Ok(UntypedPlan { erased: Arc::new(erased), data_type, index_type, max_index })
    }
}

/// The whole indices of a buffer, by their width.
pub(crate) fn index_elements<'a>(
    slice: &'static str,
    index_type: DataType,
    bytes: &'a mut [u8],
) -> Result<Indices<'a>, Error> {
    let name = index_type.name();
    Ok(match index_type.size() {
        1 => Indices::U8(bytes.into()),
        2 => Indices::U16(elements_mut(slice, name, bytes)?.into()),
        4 => Indices::U32(elements_mut(slice, name, bytes)?.into()),
        _ => Indices::U64(elements_mut(slice, name, bytes)?.into()),
    })
}

/// A [`Plan`](crate::Plan) whose types are known at run time, on buffers of bytes in the machine's own byte order.
///
/// Buffers have to be aligned as their elements are. Bytes after the last whole element are not used.
/// A `bool` is a byte, and any byte but 0 is true; of true ones that differ, any is answered. (The example takes the
/// crate `bytemuck` to see elements as bytes: `cargo add bytemuck`.) A clone is another handle to the same plan.
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
    erased: Arc<ErasedPlan>,
    data_type: DataType,
    index_type: DataType,
    max_index: u64,
}

impl UntypedPlan {
    /// As [`Plan::run`](crate::Plan::run).
    ///
    /// # Errors
    /// As [`Plan::run`](crate::Plan::run), and [`Error::Misaligned`].
    pub fn run(&self, input: &[u8], indices: &mut [u8]) -> Result<(), Error> {
        self.run_any(input, indices, None, None)
    }

    /// As [`Plan::run_on`](crate::Plan::run_on).
    ///
    /// # Errors
    /// As [`UntypedPlan::run`].
    pub fn run_on(&self, executor: &dyn Executor, input: &[u8], indices: &mut [u8]) -> Result<(), Error> {
        self.run_any(input, indices, None, Some(executor))
    }

    /// As [`Plan::run_with_values_on`](crate::Plan::run_with_values_on).
    ///
    /// # Errors
    /// As [`UntypedPlan::run`].
    pub fn run_with_values_on(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        indices: &mut [u8],
        values: &mut [u8],
    ) -> Result<(), Error> {
        self.run_any(input, indices, Some(values), Some(executor))
    }

    /// As [`Plan::division_on`](crate::Plan::division_on).
    pub fn division_on(&self, executor: &dyn Executor) -> impl fmt::Display + use<> {
        self.erased.exec().division_on(executor, self.index_type.size())
    }

    /// As [`Plan::run_with_values`](crate::Plan::run_with_values).
    ///
    /// # Errors
    /// As [`UntypedPlan::run`].
    pub fn run_with_values(&self, input: &[u8], indices: &mut [u8], values: &mut [u8]) -> Result<(), Error> {
        self.run_any(input, indices, Some(values), None)
    }

    /// As [`Plan::run_masked`](crate::Plan::run_masked).
    ///
    /// # Errors
    /// As [`Plan::run_masked`](crate::Plan::run_masked), and [`Error::Misaligned`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, DataType, Layout, Mask};
    /// let layout = Layout::contiguous(&[2, 3])?;
    /// let plan = ArgReduce::argmax(&layout).axes(&[1]).fill(-1).plan_untyped(DataType::U8, DataType::I32)?;
    /// let mut classes = [9_i32; 2];
    /// plan.run_masked(&[1, 5, 2, 7, 0, 7], Mask::bytes(&[1, 0, 1, 0, 0, 0]), bytemuck::cast_slice_mut(&mut classes))?;
    /// assert_eq!(classes, [2, -1]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_masked(&self, input: &[u8], mask: Mask<'_>, indices: &mut [u8]) -> Result<(), Error> {
        self.run_masked_on(&Sequential, input, mask, indices)
    }

    /// As [`Plan::run_masked_on`](crate::Plan::run_masked_on).
    ///
    /// # Errors
    /// As [`UntypedPlan::run_masked`].
    pub fn run_masked_on(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        mask: Mask<'_>,
        indices: &mut [u8],
    ) -> Result<(), Error> {
        self.run_masked_with_fill(executor, input, (mask, self.erased.fill()), indices, None)
    }

    /// As [`Plan::run_masked_with_values`](crate::Plan::run_masked_with_values).
    ///
    /// # Errors
    /// As [`UntypedPlan::run_masked`].
    pub fn run_masked_with_values(
        &self,
        input: &[u8],
        mask: Mask<'_>,
        indices: &mut [u8],
        values: &mut [u8],
    ) -> Result<(), Error> {
        self.run_masked_with_values_on(&Sequential, input, mask, indices, values)
    }

    /// As [`Plan::run_masked_with_values_on`](crate::Plan::run_masked_with_values_on).
    ///
    /// # Errors
    /// As [`UntypedPlan::run_masked`].
    pub fn run_masked_with_values_on(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        mask: Mask<'_>,
        indices: &mut [u8],
        values: &mut [u8],
    ) -> Result<(), Error> {
        self.run_masked_with_fill(executor, input, (mask, self.erased.fill()), indices, Some(values))
    }

    /// With values or without, and with another fill than the plan's.
    #[doc(hidden)]
    pub fn run_masked_with_fill(
        &self,
        executor: &dyn Executor,
        input: &[u8],
        (mask, fill): (Mask<'_>, Option<i64>),
        indices: &mut [u8],
        values: Option<&mut [u8]>,
    ) -> Result<(), Error> {
        let fill = check_fill(fill, (self.index_type.name(), self.max_index))?;
        let input = ElementsRef::of_bytes("input", self.data_type, input)?;
        let indices = index_elements("output", self.index_type, indices)?;
        let values = values.map(|values| Values::of_bytes("values", self.data_type, values)).transpose()?;
        let slices = OutputSlices { indices, values };
        self.erased.run_masked(self.index_type.name(), input, (mask, fill), slices, executor)
    }

    fn run_any(
        &self,
        input: &[u8],
        indices: &mut [u8],
        values: Option<&mut [u8]>,
        executor: Option<&dyn Executor>,
    ) -> Result<(), Error> {
        let input = ElementsRef::of_bytes("input", self.data_type, input)?;
        let indices = index_elements("output", self.index_type, indices)?;
        let values = values.map(|values| Values::of_bytes("values", self.data_type, values)).transpose()?;
        self.erased.run(self.index_type.name(), input, indices, values, executor)
    }

    pub(crate) fn erased(&self) -> &ErasedPlan {
        &self.erased
    }

    /// The largest index that the type holds.
    pub(crate) fn max_index(&self) -> u64 {
        self.max_index
    }

    /// How many bytes the buffers need.
    pub fn required_bytes(&self) -> RequiredBytes {
        let (input, output) = (self.erased.input(), self.erased.output());
        let (element, index) = (self.data_type.size(), self.index_type.size());
        RequiredBytes {
            input: input.required_len().saturating_mul(element),
            output: output.required_len().saturating_mul(index),
            values: output.element_count().saturating_mul(element),
        }
    }

    /// The type of the elements.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The type of the indices.
    pub fn index_type(&self) -> DataType {
        self.index_type
    }

    /// As [`Plan::input_layout`](crate::Plan::input_layout).
    pub fn input_layout(&self) -> &Layout {
        self.erased.input()
    }

    /// As [`Plan::output_layout`](crate::Plan::output_layout).
    pub fn output_layout(&self) -> &Layout {
        self.erased.output()
    }

    /// As [`Plan::isa`](crate::Plan::isa).
    pub fn isa(&self) -> Isa {
        self.erased.isa()
    }
}

impl fmt::Display for UntypedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt(f, self.data_type, self.index_type.name())
    }
}

/// How many bytes the buffers of an [`UntypedPlan`], or of a [`CompiledOperator`](crate::directml::CompiledOperator),
/// need at least: with fewer in any of them, running is an error. `usize::MAX` stands for any larger number, too: no
/// memory has so many bytes.
///
/// ```
/// use argreduce::{ArgReduce, DataType, Layout};
/// let layout = Layout::contiguous(&[2, 3])?;
/// let plan = ArgReduce::argmax(&layout).axes(&[1]).plan_untyped(DataType::F32, DataType::U64)?;
/// let required = plan.required_bytes();
/// assert_eq!((required.input, required.output, required.values), (24, 16, 8));
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequiredBytes {
    /// Of the elements.
    pub input: usize,
    /// Of the indices.
    pub output: usize,
    /// Of the best elements, where they are asked for.
    pub values: usize,
}

/// The whole elements of a buffer. Whether they are enough for the layout is checked by the plan.
pub(crate) fn elements<'a, T: Pod>(
    slice: &'static str,
    element_type: &'static str,
    bytes: &'a [u8],
) -> Result<&'a [T], Error> {
    match bytes.len() / size_of::<T>() * size_of::<T>() {
        // However it is aligned.
        0 => Ok(&[]),
        whole => bytemuck::try_cast_slice(&bytes[..whole]).map_err(|_| misaligned::<T>(slice, element_type)),
    }
}

/// As [`elements`], to write to.
pub(crate) fn elements_mut<'a, T: Pod>(
    slice: &'static str,
    element_type: &'static str,
    bytes: &'a mut [u8],
) -> Result<&'a mut [T], Error> {
    match bytes.len() / size_of::<T>() * size_of::<T>() {
        0 => Ok(&mut []),
        whole => bytemuck::try_cast_slice_mut(&mut bytes[..whole]).map_err(|_| misaligned::<T>(slice, element_type)),
    }
}

fn misaligned<T>(slice: &'static str, element_type: &'static str) -> Error {
    Error::Misaligned { slice, element_type, alignment: align_of::<T>() }
}
