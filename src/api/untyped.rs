//! Plans whose types are values, on buffers of bytes: for callers that learn the types at run time, as descriptors,
//! foreign languages and model runtimes do. Nothing here knows of any of those.

use super::bytes::{elements, elements_mut, index_elements};
use super::description::ArgReduce;
use super::display::fmt_debug;
use super::erased::ErasedPlan;
use super::input::Input;
use super::lengths::check_len;
use super::merge::Merge;
use super::output::{Buffers, Names, PartialBuffers, Places, UntypedOutput};
use super::partials::Unfinished;
use crate::exec::Values;
use crate::index::max_index;
use crate::{DataType, Error, Executor, Isa, Layout, Partial};
use argreduce_kernels::with_bits;
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

/// A [`Plan`](crate::Plan) whose types are known at run time, on buffers of bytes in the machine's own byte order.
///
/// Buffers have to be aligned as their elements are. Bytes after the last whole element are not used.
/// A `bool` is a byte, and any byte but 0 is true; of true ones that differ, any is answered. (The example takes the
/// crate `bytemuck` to see elements as bytes: `cargo add bytemuck`.) A clone is another handle to the same plan.
///
/// ```
/// use argreduce::{ArgReduce, Buffers, DataType, Layout};
/// let layout = Layout::contiguous(&[2, 3])?;
/// let plan = ArgReduce::argmax(&layout).axes(&[1]).plan_untyped(DataType::F32, DataType::U32)?;
///
/// let (scores, mut classes) = ([1.0_f32, 5.0, 2.0, 7.0, 0.0, 7.0], [9_u32; 2]);
/// let buffers = Buffers { indices: bytemuck::cast_slice_mut(&mut classes), values: None };
/// plan.run(bytemuck::cast_slice(&scores), buffers)?;
/// assert_eq!(classes, [1, 0]);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone)]
pub struct UntypedPlan {
    erased: Arc<ErasedPlan>,
    data_type: DataType,
    index_type: DataType,
    max_index: u64,
}

impl UntypedPlan {
    /// As [`Plan::run`](crate::Plan::run): an [`Input`] of bytes, and an [`UntypedOutput`], which is [`Buffers`] for
    /// indices and values, or [`PartialBuffers`]. (A `&mut [u8]` alone is one for indices.)
    ///
    /// # Errors
    /// As [`Plan::run`](crate::Plan::run), and [`Error::Misaligned`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Buffers, DataType, Layout, Mask, input};
    /// let layout = Layout::contiguous(&[2, 3])?;
    /// let plan = ArgReduce::argmax(&layout).axes(&[1]).fill(-1).plan_untyped(DataType::U8, DataType::I32)?;
    /// let (x, mut classes, mut scores) = ([1, 5, 2, 7, 0, 7], [9_i32; 2], [9; 2]);
    /// let buffers = Buffers { indices: bytemuck::cast_slice_mut(&mut classes), values: Some(&mut scores) };
    /// plan.run(input(&x).masked(Mask::bytes(&[1, 0, 1, 0, 0, 0])), buffers)?;
    /// assert_eq!((classes, scores), ([2, -1], [2, 0]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[inline]
    pub fn run<'a, 'b>(
        &self,
        input: impl Into<Input<'a, u8>>,
        output: impl Into<UntypedOutput<'b>>,
    ) -> Result<(), Error> {
        self.run_of(input.into(), output.into())
    }

    /// One copy, whatever these were made of.
    fn run_of(&self, input: Input<'_, u8>, output: UntypedOutput<'_>) -> Result<(), Error> {
        let (data_type, index_type) = (self.data_type, self.index_type);
        let input = input.of_bytes(data_type)?;
        match output {
            UntypedOutput::Answers(Buffers { indices, values }) => {
                let indices = index_elements("output", index_type, indices)?;
                let values = values.map(|values| Values::of_bytes("values", data_type, values)).transpose()?;
                self.erased.run(&(Names::OF_ONE, index_type.name()), input, indices, values)
            }
            output => {
                let slices = output.places(Names::OF_PARTIALS, data_type, index_type)?.slices;
                self.erased.run_packed(&(Names::OF_PARTIALS, index_type.name()), &input, slices)
            }
        }
    }

    /// As [`Plan::finish`](crate::Plan::finish): partial answers, once those of all parts are merged, to indices and
    /// values. Those are only read.
    ///
    /// # Errors
    /// As [`Plan::finish`](crate::Plan::finish), and [`Error::Misaligned`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Buffers, DataType, Layout, PartialBuffers};
    /// use bytemuck::{cast_slice, cast_slice_mut};
    /// let (layout, x) = (Layout::contiguous(&[2, 3])?, [1_i16, 5, 2, 7, 0, 7]);
    /// let reduce = ArgReduce::argmax(&layout).axes(&[1]).window(&[2, 6], &[0, 3]);
    /// let plan = reduce.plan_untyped(DataType::I16, DataType::U32)?;
    /// let (mut indices, mut values) = ([0_u32; 2], [0_i16; 2]);
    /// let to = PartialBuffers { indices: cast_slice_mut(&mut indices), values: cast_slice_mut(&mut values) };
    /// plan.run(cast_slice(&x), to)?;
    /// assert_eq!((indices, values), ([4, 3], [5, 7]));
    ///
    /// let (other_indices, others) = ([2_u32, 2], [6_i16, 7]);
    /// plan.merge().arrays_untyped(
    ///     (plan.data_type(), plan.index_type()),
    ///     (cast_slice_mut(&mut values), cast_slice_mut(&mut indices)),
    ///     (cast_slice(&others), cast_slice(&other_indices)),
    /// )?;
    /// let best = PartialBuffers { indices: cast_slice_mut(&mut indices), values: cast_slice_mut(&mut values) };
    /// let mut output = [0_u32; 2];
    /// plan.finish(best, Buffers { indices: cast_slice_mut(&mut output), values: None })?;
    /// assert_eq!((output, values), ([2, 2], [6, 7]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn finish<'a>(&self, partials: PartialBuffers<'_>, output: impl Into<UntypedOutput<'a>>) -> Result<(), Error> {
        let (data_type, index_type) = (self.data_type, self.index_type);
        let PartialBuffers { indices, values } = partials;
        with_bits!(index_type.size(), I => with_bits!(data_type.size(), T => {
            let indices = elements::<I>("indices", index_type.name(), indices)?;
            let values = elements::<T>("values", data_type.name(), values)?;
            let outputs = self.output_layout().element_count();
            check_len("indices", index_type.name(), indices.len(), outputs)?;
            check_len("values", data_type.name(), values.len(), outputs)?;
            let partial = |n: usize| Partial { value: values[n], index: indices[n] };
            let from = Unfinished {
                data_type: data_type.name(),
                index_type: (index_type.name(), self.max_index),
                ..self.erased.finish_part(&partial)
            };
            match output.into() {
                UntypedOutput::Answers(Buffers { indices, values }) => {
                    let indices = elements_mut::<I>("output", index_type.name(), indices)?;
                    let of_bytes = |values| elements_mut::<T>("values", data_type.name(), values);
                    let values = values.map(of_bytes).transpose()?;
                    self.erased.finish(&from, Names::OF_ONE, Places::Answers { indices, values })
                }
                UntypedOutput::Partials(PartialBuffers { indices, values }) => {
                    let indices = elements_mut::<I>("indices", index_type.name(), indices)?;
                    let values = elements_mut::<T>("values", data_type.name(), values)?;
                    self.erased.copy_partials(&from, indices, values)
                }
            }
        }))
    }

    /// What merges the partial answers of this plan and of those for other parts: as
    /// [`Plan::merge`](crate::Plan::merge). See [`Merge::arrays_untyped`].
    pub fn merge(&self) -> Merge {
        self.erased.merge()
    }

    /// As [`Plan::division_on`](crate::Plan::division_on).
    pub fn division_on(&self, executor: &dyn Executor) -> impl fmt::Display + use<> {
        self.erased.division_on(executor, (self.data_type.size(), self.index_type.size()))
    }

    pub(crate) fn erased(&self) -> &ErasedPlan {
        &self.erased
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
        self.fmt_as(f, self.erased.function().name())
    }
}

impl UntypedPlan {
    /// As a plan for what has that name.
    pub(super) fn fmt_as(&self, f: &mut fmt::Formatter<'_>, function: &str) -> fmt::Result {
        self.erased.fmt_as(f, function, self.data_type, self.index_type.name())
    }
}

impl fmt::Debug for UntypedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UntypedPlan { erased, data_type, index_type, .. } = self;
        fmt_debug(f, "UntypedPlan", self, &[("erased", erased), ("data_type", data_type), ("index_type", index_type)])
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
