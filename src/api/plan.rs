//! A plan: a checked reduction, with its shape collapsed and its kernel selected. Running it checks the slices.

use super::erased::ErasedPlan;
use crate::exec::{ElementsRef, Indices, OutputSlices, Values, run, run_on, run_one_output};
use crate::layout::{Coordinates, coordinates_of};
#[cfg(test)]
use crate::planner::ExecPlan;
use crate::{Element, Error, Executor, Index, Isa, Layout, Sequential};
use std::fmt;
use std::marker::PhantomData;

/// A reduction that is ready to run, as often as wanted, from any number of threads: checked, collapsed, with its
/// kernel chosen.
///
/// Holds no heap memory, and running it allocates nothing. (An [`Executor`] may: rayon does for each task.) It is
/// `Copy`, but large: better borrowed than copied. Displays what it reduces, what that collapsed to, and how it will
/// run:
///
/// ```
/// use argreduce::{ArgReduce, Isa, Layout};
/// let layout = Layout::contiguous(&[8, 21, 512, 512])?;
/// let plan = ArgReduce::argmax(&layout).axes(&[1]).isa(Isa::Portable).plan::<f32, u32>()?;
/// assert_eq!(
///     plan.to_string(),
///     "argmax of f32 [8, 21, 512, 512] over axes [1] to u32 [8, 1, 512, 512], increasing, nan propagate: \
///      outputs [8, 262144] of [21], columns, portable"
/// );
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Debug)]
pub struct Plan<T, I> {
    pub(crate) erased: ErasedPlan,
    pub(super) types: PhantomData<fn(T) -> I>,
}

impl<T, I> Clone for Plan<T, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, I> Copy for Plan<T, I> {}

impl<T: Element, I: Index> Plan<T, I> {
    /// Writes the index of the best element of each output, at the places of [`Plan::output_layout`]. What lies between
    /// those places is left alone.
    ///
    /// # Errors
    /// [`Error::TooShort`] for a slice shorter than [`Layout::required_len`] of its layout, and
    /// [`Error::EmptyReduction`] for an empty [part](crate::ArgReduce::window); then nothing is written.
    #[inline]
    pub fn run(&self, input: &[T], indices: &mut [I]) -> Result<(), Error> {
        self.erased.run(I::NAME, input.into(), indices.into(), None, None)
    }

    /// As [`Plan::run`], and also copies the best elements themselves, bit for bit, to `values`: packed in row-major
    /// order.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_with_values(&self, input: &[T], indices: &mut [I], values: &mut [T]) -> Result<(), Error> {
        self.run_checked(None, input.into(), indices, Some(values))
    }

    /// As [`Plan::run`], on the threads of an executor. Which of them does what, and how many there are, never changes
    /// the answer.
    ///
    /// # Errors
    /// As [`Plan::run`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, ScopedThreads};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[8, 300_000])?).axes(&[1]).plan::<f32, u32>()?;
    /// let (input, mut indices) = (vec![1.0; 2_400_000], [9; 8]);
    /// plan.run_on(&ScopedThreads::new(2), &input, &mut indices)?;
    /// assert_eq!(indices, [0; 8]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[inline]
    pub fn run_on(&self, executor: &dyn Executor, input: &[T], indices: &mut [I]) -> Result<(), Error> {
        self.erased.run(I::NAME, input.into(), indices.into(), None, Some(executor))
    }

    /// As [`Plan::run_with_values`], on the threads of an executor.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_with_values_on(
        &self,
        executor: &dyn Executor,
        input: &[T],
        indices: &mut [I],
        values: &mut [T],
    ) -> Result<(), Error> {
        self.run_checked(Some(executor), input.into(), indices, Some(values))
    }

    /// As [`Plan::run`], into a new vector, as long as [`Plan::output_layout`] needs: by default packed, one index for
    /// each output. What lies between the places of another output layout is 0.
    ///
    /// # Errors
    /// [`Error::TooShort`] as [`Plan::run`], and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// assert_eq!(plan.run_to_vec(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?, [1, 0]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_to_vec(&self, input: &[T]) -> Result<Vec<I>, Error> {
        self.run_to_vec_on(&Sequential, input)
    }

    /// As [`Plan::run_to_vec`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`Plan::run_to_vec`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, ScopedThreads};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// assert_eq!(plan.run_to_vec_on(&ScopedThreads::new(2), &[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?, [1, 0]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_to_vec_on(&self, executor: &dyn Executor, input: &[T]) -> Result<Vec<I>, Error> {
        Ok(self.run_to_vecs(executor, input.into(), false)?.0)
    }

    /// As [`Plan::run_with_values`], into new vectors: the indices as [`Plan::run_to_vec`] has them, and the values,
    /// packed.
    ///
    /// # Errors
    /// As [`Plan::run_to_vec`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let (classes, scores) = plan.run_to_vec_with_values(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?;
    /// assert_eq!((classes, scores), (vec![1, 0], vec![5.0, 7.0]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_to_vec_with_values(&self, input: &[T]) -> Result<(Vec<I>, Vec<T>), Error> {
        self.run_to_vec_with_values_on(&Sequential, input)
    }

    /// As [`Plan::run_to_vec_with_values`], on the threads of an executor, as [`Plan::run_on`].
    ///
    /// # Errors
    /// As [`Plan::run_to_vec`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, ScopedThreads};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let (input, threads) = ([1.0, 5.0, 2.0, 7.0, 0.0, 7.0], ScopedThreads::new(2));
    /// let (classes, scores) = plan.run_to_vec_with_values_on(&threads, &input)?;
    /// assert_eq!((classes, scores), (vec![1, 0], vec![5.0, 7.0]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run_to_vec_with_values_on(&self, executor: &dyn Executor, input: &[T]) -> Result<(Vec<I>, Vec<T>), Error> {
        self.run_to_vecs(executor, input.into(), true)
    }

    /// The indices, and the values or none.
    pub(crate) fn run_to_vecs(
        &self,
        executor: &dyn Executor,
        input: ElementsRef<'_>,
        with_values: bool,
    ) -> Result<(Vec<I>, Vec<T>), Error> {
        // First, so that a hostile shape is refused before anything of its size is allocated.
        self.erased.check_input(input)?;
        let mut indices = new_vec("output", I::NAME, self.erased.output().required_len())?;
        let outputs = if with_values { self.erased.output().element_count() } else { 0 };
        let mut values = new_vec("values", T::DATA_TYPE.name(), outputs)?;
        self.run_checked(Some(executor), input, &mut indices, with_values.then_some(&mut values))?;
        Ok((indices, values))
    }

    /// The coordinates of an index of this plan along its reduced axes, in ascending order of the axes, as
    /// [`unravel`](crate::unravel) has them.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    /// // Where in each of 2 images of 3 x 4 pixels is the brightest pixel?
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3, 4])?).axes(&[1, 2]).plan::<u8, u32>()?;
    /// let mut images = [0; 24];
    /// (images[6], images[12 + 11]) = (200, 100);
    /// let brightest = plan.run_to_vec(&images)?;
    /// assert_eq!(*plan.unravel(brightest[0])?, [1, 2]);
    /// assert_eq!(*plan.unravel(brightest[1])?, [2, 3]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn unravel(&self, index: impl TryInto<i128>) -> Result<Coordinates, Error> {
        coordinates_of(index, self.erased.sizes(), self.erased.axes())
    }

    #[cfg(test)]
    pub(crate) fn exec(&self) -> &ExecPlan {
        self.erased.exec()
    }

    fn run_checked(
        &self,
        executor: Option<&dyn Executor>,
        input: ElementsRef<'_>,
        indices: &mut [I],
        values: Option<&mut [T]>,
    ) -> Result<(), Error> {
        let slices = &mut OutputSlices { indices: indices.into(), values: values.map(Into::into) };
        self.erased.run_outlined(I::NAME, input, slices, self.erased.for_several(executor))
    }

    /// Where the elements are.
    pub fn input_layout(&self) -> &Layout {
        self.erased.input()
    }

    /// Where indices are written. Reduced axes have size 1; [`drop_axes`](crate::drop_axes) drops them from a list of
    /// sizes.
    pub fn output_layout(&self) -> &Layout {
        self.erased.output()
    }

    /// How a call on these threads is divided among them, to print: `2 tasks, 4 parts of the outputs`, or `1 task`.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, ScopedThreads};
    /// let threads = ScopedThreads::new(2);
    /// let how = |sizes: &[usize]| -> Result<String, argreduce::Error> {
    ///     let layout = Layout::contiguous(sizes)?;
    ///     let plan = ArgReduce::argmax(&layout).axes(&[1]).plan::<f32, u32>()?;
    ///     Ok(plan.division_on(&threads).to_string())
    /// };
    /// assert_eq!(how(&[8, 100])?, "1 task");
    /// assert_eq!(how(&[70_000, 1000])?, "2 tasks, 4 parts of the outputs");
    /// assert_eq!(how(&[1, 70_000_000])?, "2 tasks, 4 slabs of the reduction");
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn division_on(&self, executor: &dyn Executor) -> impl fmt::Display + use<T, I> {
        self.erased.exec().division_on(executor, size_of::<I>())
    }

    /// The instruction set that was forced, or [detected](Isa::detect). Without forcing, the kernel may be one of
    /// narrower vectors: the plan displays its kernel's.
    pub fn isa(&self) -> Isa {
        self.erased.isa()
    }
}

/// A vector to write answers to. A layout may have more outputs than memory, because a broadcast input has far fewer
/// elements: then this is an error.
pub(crate) fn new_vec<T: Copy + Default>(
    slice: &'static str,
    element_type: &'static str,
    len: usize,
) -> Result<Vec<T>, Error> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { slice, element_type, len })?;
    vec.resize(len, T::default());
    Ok(vec)
}

pub(crate) fn check_len(
    slice: &'static str,
    element_type: &'static str,
    len: usize,
    required: usize,
) -> Result<(), Error> {
    if len < required { Err(Error::TooShort { slice, element_type, required, len }) } else { Ok(()) }
}

impl ErasedPlan {
    pub(crate) fn check_input(&self, input: ElementsRef<'_>) -> Result<(), Error> {
        check_len("input", input.data_type().name(), input.len(), self.input().required_len())
    }

    /// As [`Plan::run`], or [`Plan::run_with_values`] if there are values, for any index type of that width; on the
    /// threads of an executor, if there is one.
    #[inline(always)]
    pub(super) fn run(
        &self,
        index_type: &'static str,
        input: ElementsRef<'_>,
        indices: Indices<'_>,
        values: Option<Values<'_>>,
        executor: Option<&dyn Executor>,
    ) -> Result<(), Error> {
        let (layout, output, exec) = (self.input(), self.output(), self.exec());
        let executor = self.for_several(executor);
        let is_fast = exec.is_contiguous_row() && values.is_none() && executor.is_none();
        // One contiguous row is answered here, without an outlined call: that would take as long as a few elements.
        if is_fast && input.len() >= layout.required_len() && indices.len() >= output.required_len() {
            run_one_output(&self.bind(input), exec.shape().output.start, &mut OutputSlices { indices, values: None });
            return Ok(());
        }
        self.run_outlined(index_type, input, &mut OutputSlices { indices, values }, executor)
    }

    /// The executor, unless the call is one task.
    #[inline(always)]
    pub(super) fn for_several<'e>(&self, executor: Option<&'e dyn Executor>) -> Option<&'e dyn Executor> {
        executor.filter(|executor| !self.exec().is_one_task(executor.min_task_bytes()))
    }

    /// On the threads of an executor, if there is one.
    #[inline(never)]
    pub(super) fn run_outlined(
        &self,
        index_type: &'static str,
        input: ElementsRef<'_>,
        slices: &mut OutputSlices<'_>,
        executor: Option<&dyn Executor>,
    ) -> Result<(), Error> {
        if self.has_outputs(index_type, input, slices)? {
            let bound = &self.bind(input);
            match executor {
                Some(executor) => run_on(bound, slices, executor),
                None => run(bound, slices),
            }
        }
        Ok(())
    }

    /// Checks the slices. Whether there is anything to do.
    pub(super) fn has_outputs(
        &self,
        index_type: &'static str,
        input: ElementsRef<'_>,
        slices: &OutputSlices<'_>,
    ) -> Result<bool, Error> {
        let output = self.output();
        if let Some(values) = &slices.values {
            check_len("values", input.data_type().name(), values.len(), output.element_count())?;
        }
        self.check_input(input)?;
        check_len("output", index_type, slices.indices.len(), output.required_len())?;
        let has_outputs = output.element_count() > 0;
        match self.empty_axis() {
            Some(axis) if has_outputs => Err(Error::EmptyReduction { axis, of: "part" }),
            _ => Ok(has_outputs),
        }
    }
}
