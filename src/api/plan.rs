//! A plan: a checked reduction, with its shape collapsed and its kernel selected. Running it checks the slices.

use super::erased::ErasedPlan;
use super::input::{ErasedInput, Input};
use super::lengths::check_len;
use super::merge::Merge;
use super::output::{Collect, Names, Output, Places};
use crate::layout::{Coordinates, coordinates_of};
#[cfg(test)]
use crate::planner::ExecPlan;
use crate::{Element, Error, Executor, Index, Isa, Layout, Partial};
use std::fmt;
use std::marker::PhantomData;

/// A reduction that is ready to run, as often as wanted, from any number of threads: checked, collapsed, with its
/// kernel chosen.
///
/// Holds no heap memory, and running it allocates nothing. (An [`Executor`] may: rayon does for each task.) It is
/// `Copy`, but large: better borrowed than copied. It is for one layout: where an extent changes from call to call, as
/// that of a batch, make a plan for each call. That looks at no element, and allocates nothing either.
///
/// Displays what it reduces, what that collapsed to, and how it will run (`{:#}` shows the output's sizes without the
/// reduced axes):
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
/// assert_eq!(format!("{plan:?}"), format!("Plan({plan})")); // `{:#?}` has all of it
/// # Ok::<(), argreduce::Error>(())
/// ```
pub struct Plan<T, I> {
    pub(super) erased: ErasedPlan,
    pub(super) types: PhantomData<fn(T) -> I>,
}

impl<T, I> Clone for Plan<T, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, I> Copy for Plan<T, I> {}

impl<T: Element, I: Index> Plan<T, I> {
    /// Answers what an [`Input`] asks: elements, under a mask, on threads; and writes it to an [`Output`]: indices,
    /// indices and values, or partial answers.
    ///
    /// An empty part, which has a reduced axis of size 0 and a [window](crate::ArgReduce::window), has partial answers
    /// alone: [`Partial::NONE`](crate::Partial::NONE).
    ///
    /// # Errors
    /// [`Error::TooShort`] for a slice shorter than [`Layout::required_len`] of its layout, and
    /// [`Error::EmptyReduction`] for an empty part; then nothing is written. Of partial answers,
    /// [`Error::IndexTooLarge`] if the largest index of the whole has all bits set, because that index means that
    /// nothing was seen. Under a mask, those of [`Input::masked`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, ScopedThreads, input};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let (x, mut indices, mut values) = ([1.0, 5.0, 2.0, 7.0, 0.0, 7.0], [0; 2], [0.0; 2]);
    /// plan.run(&x, &mut indices)?;
    /// assert_eq!(indices, [1, 0]);
    /// plan.run(input(&x).on(&ScopedThreads::new(2)), (&mut indices, &mut values))?;
    /// assert_eq!(values, [5.0, 7.0]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    ///
    /// Values are of the elements' type, and what else is wrong is said as well:
    ///
    /// ```compile_fail,E0277
    /// # use argreduce::{ArgReduce, Layout};
    /// # let plan = ArgReduce::argmax(&Layout::contiguous(&[3])?).all_axes().plan::<f32, u32>()?;
    /// plan.run(&[1.0, 5.0, 2.0], &mut [0_i64])?; // the plan's indices are `u32`
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[inline(always)]
    pub fn run<'a>(&self, input: impl Into<Input<'a, T>>, mut output: impl Output<T, I>) -> Result<(), Error> {
        self.run_places(input.into().erase(), output.places())
    }

    #[inline(always)]
    fn run_places(&self, input: ErasedInput<'_>, places: Places<'_, T, I>) -> Result<(), Error> {
        match places {
            Places::Answers { indices, values } => {
                self.erased.run(const { &(Names::OF_ONE, I::NAME) }, input, indices.into(), values.map(Into::into))
            }
            Places::Partials(partials) => self.erased.run_partials(Names::OF_ONE, &input, partials),
        }
    }

    /// As [`Plan::run`], to new vectors: see [`Collect`].
    ///
    /// # Errors
    /// As [`Plan::run`], and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Partial};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let labels: Vec<u32> = plan.collect(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?;
    /// assert_eq!(labels, [1, 0]);
    /// let partials: Vec<Partial<f32, u32>> = plan.collect(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?;
    /// assert_eq!(partials[0], Partial { value: 5.0, index: 1 });
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn collect<'a, C: Collect<T, I>>(&self, input: impl Into<Input<'a, T>>) -> Result<C, Error> {
        self.collect_erased(input.into().erase())
    }

    pub(super) fn collect_erased<C: Collect<T, I>>(&self, input: ErasedInput<'_>) -> Result<C, Error> {
        // First, so that a hostile shape is refused before anything of its size is allocated.
        self.erased.check_collect::<I>(&input, C::ARE_PARTIAL)?;
        let mut collected = C::new(self.erased.output())?;
        self.run_places(input, collected.places())?;
        Ok(collected)
    }

    /// What [partial answers](Partial) come to, once those of all parts are [merged](Plan::merge): indices at the
    /// places of [`Plan::output_layout`], and values. (Into partial answers they are copied.)
    ///
    /// # Errors
    /// [`Error::TooShort`] for a short slice, [`Error::NothingThere`] for a [`Partial::NONE`] if the plan has no
    /// [fill](crate::ArgReduce::fill) ([`Error::EmptyReduction`] where its own part is empty), and
    /// [`Error::IndexOutOfRange`] for an index that the whole does not have; then nothing is written.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Partial};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let (mut indices, mut values) = ([0; 2], [0.0; 2]);
    /// let best = [Partial { value: 5.0, index: 1 }, Partial { value: 7.0, index: 0 }];
    /// plan.finish(&best, (&mut indices, &mut values))?;
    /// assert_eq!((indices, values), ([1, 0], [5.0, 7.0]));
    /// assert!(plan.finish(&[Partial::NONE; 2], &mut indices).is_err());
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn finish(&self, partials: &[Partial<T, I>], mut output: impl Output<T, I>) -> Result<(), Error> {
        check_len("partials", "Partial", partials.len(), self.erased.output().element_count())?;
        let partial = |n: usize| partials[n];
        self.erased.finish(&self.erased.finish_part(&partial), Names::OF_ONE, output.places())
    }

    /// What merges the partial answers of this plan and of those for other parts: with its function, direction, NaN
    /// policy and ISA.
    pub fn merge(&self) -> Merge {
        self.erased.merge()
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
    /// let brightest: Vec<u32> = plan.collect(&images)?;
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

    pub(crate) fn erased(&self) -> &ErasedPlan {
        &self.erased
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
        self.erased.division_on(executor, (T::DATA_TYPE.size(), size_of::<I>()))
    }

    /// The instruction set that was forced, or [detected](Isa::detect). Without forcing, the kernel may be one of
    /// narrower vectors: the plan displays its kernel's.
    pub fn isa(&self) -> Isa {
        self.erased.isa()
    }
}
