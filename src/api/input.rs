//! What a call reads, as one value: elements, which of them are there, and who does it.

use crate::exec::ElementsRef;
use crate::{DataType, Element, Error, Executor, Mask};
use std::fmt;

/// What a call reads: elements, which of them [are there](Mask), and [who does it](Executor). Made by [`input`]; a
/// reference to a slice, a vector or an array is one as it is.
///
/// What is read, where the answer goes, and how many answers there are, are told apart: each of these lines can have
/// each input, and each output.
///
/// | what | one line |
/// |---|---|
/// | elements | `plan.run(&x, &mut indices)?` |
/// | under a mask | `plan.run(input(&x).masked(mask), &mut indices)?` |
/// | under a mask, if there is one | `plan.run(input(&x).masked(validity), &mut indices)?`: an `Option` of a mask |
/// | on threads | `plan.run(input(&x).on(&pool), &mut indices)?` |
/// | both | `plan.run(input(&x).masked(mask).on(&pool), &mut indices)?` |
/// | to indices and values | `plan.run(&x, (&mut indices, &mut values))?` |
/// | to values, if there are any | `plan.run(&x, (&mut indices, values))?`: an `Option<&mut [T]>` |
/// | to partial answers | `plan.run(&x, &mut partials)?` |
/// | to new indices | `let indices: Vec<u32> = plan.collect(&x)?` |
/// | to new indices and values | `let (indices, values): (Vec<u32>, Vec<f32>) = plan.collect(&x)?` |
/// | to new partial answers | `let partials: Vec<Partial<f32, u64>> = plan.collect(&x)?` |
/// | smallest and largest | `plan.run(&x, [&mut min, &mut max])?`, of a [`PlanBoth`](crate::PlanBoth) |
/// | the same, new | `let [min, max]: [Vec<u32>; 2] = plan.collect(&x)?` |
/// | without a plan | `let indices: Vec<u32> = argmax(&x, &sizes, &axes)?` |
/// | segments, each on its own | `plan.run(&x, &mut indices)?`, of a [`SegmentPlan`](crate::SegmentPlan) |
/// | chunk by chunk | `stream.push(&layout, &chunk)?` |
/// | bytes | `plan.run(&bytes, Buffers { indices, values: None })?`, of an [`UntypedPlan`](crate::UntypedPlan) |
/// | bytes, to partial answers | `plan.run(&bytes, PartialBuffers { indices, values })?` |
///
/// ```
/// use argreduce::{ArgReduce, Layout, Mask, ScopedThreads, input};
/// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
/// let (x, there) = (vec![1.0, 5.0, 2.0, 7.0, 0.0, 7.0], [true, false, true, false, true, true]);
/// let threads = ScopedThreads::new(2);
/// let masked = input(&x).masked(Mask::bools(&there)).on(&threads);
/// let (labels, scores): (Vec<u32>, Vec<f32>) = plan.collect(masked)?;
/// assert_eq!((labels, scores), (vec![2, 2], vec![2.0, 7.0]));
/// # Ok::<(), argreduce::Error>(())
/// ```
///
/// What is no input says so:
///
/// ```compile_fail,E0277
/// # use argreduce::{ArgReduce, Layout};
/// let plan = ArgReduce::argmax(&Layout::contiguous(&[3])?).all_axes().plan::<f32, u32>()?;
/// plan.run([1.0, 5.0, 2.0], &mut [0])?; // an array, not a reference to one
/// # Ok::<(), argreduce::Error>(())
/// ```
pub struct Input<'a, T> {
    elements: &'a [T],
    mask: Option<Mask<'a>>,
    executor: Option<&'a dyn Executor>,
}

/// Elements to read: a slice, a vector, an array, or what is [`AsRef`] of a slice. All are there, and the thread that
/// calls does it, unless [`Input::masked`] or [`Input::on`] says otherwise.
///
/// ```
/// use argreduce::{Mask, argmax, input};
/// let x = [3, 9, 2, 5];
/// let best: Vec<u32> = argmax(input(&x).masked(Mask::bits(&[0b1101], 0)), &[4], &[0])?;
/// assert_eq!(best, [3]);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[inline(always)]
pub fn input<T>(elements: &(impl AsRef<[T]> + ?Sized)) -> Input<'_, T> {
    elements.as_ref().into()
}

impl<'a, T> Input<'a, T> {
    /// Of which those are there that the mask says, or all, if there is none. An output of which no element is there
    /// gets the plan's [fill](crate::ArgReduce::fill), and a value of zero bits.
    ///
    /// NaN that is not there does not count. What is there but NaN loses to every number that is there, where NaN is
    /// ignored, and wins over nothing.
    ///
    /// Calls have these errors more: [`Error::MaskRank`], [`Error::MaskSize`], [`Error::MaskTooShort`] for a mask that
    /// does not fit the input; then nothing is written. And [`Error::NothingThere`] for an output of which no element
    /// is there, if the plan has no fill; then the outputs are unspecified.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Mask, input};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
    /// let (x, mut indices) = ([1.0, 5.0, 2.0, 7.0, 0.0, 7.0], [0; 2]);
    /// plan.run(input(&x).masked(Mask::bools(&[true, false, true, false, true, true])), &mut indices)?;
    /// assert_eq!(indices, [2, 2]);
    ///
    /// let error = plan.run(input(&x).masked(Mask::bits(&[0b000_111], 0)), &mut indices).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "no element is there for output [1, 0]: without a fill, an index needs at least one"
    /// );
    /// let error = plan.run(input(&x).masked(Mask::bools(&[true; 5])), &mut indices).unwrap_err();
    /// assert_eq!(error.to_string(), "the mask has 5 elements of bool: the input needs 6");
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn masked(self, mask: impl Into<Option<Mask<'a>>>) -> Self {
        Input { mask: mask.into(), ..self }
    }

    /// On the threads of an executor. Which of them does what, and how many there are, never changes the answer.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, ScopedThreads, input};
    /// let plan = ArgReduce::argmax(&Layout::contiguous(&[8, 300_000])?).axes(&[1]).plan::<f32, u32>()?;
    /// let (x, mut indices) = (vec![1.0; 2_400_000], [9; 8]);
    /// plan.run(input(&x).on(&ScopedThreads::new(2)), &mut indices)?;
    /// assert_eq!(indices, [0; 8]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn on(self, executor: &'a dyn Executor) -> Self {
        Input { executor: Some(executor), ..self }
    }

    /// How many elements there are.
    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }
}

impl<T> Clone for Input<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Input<'_, T> {}

/// Says how many elements there are, not what they are.
impl<T> fmt::Debug for Input<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Input");
        text.field("len", &self.elements.len()).field("mask", &self.mask);
        text.field("threads", &self.executor.map_or(1, |executor| executor.width())).finish()
    }
}

macro_rules! inputs {
    ($([$($generics:tt)*] $reference:ty;)+) => {$(
        impl<'a, $($generics)*> From<$reference> for Input<'a, T> {
            #[inline(always)]
            fn from(elements: $reference) -> Self {
                Input { elements, mask: None, executor: None }
            }
        }
    )+};
}

inputs! {
    [T] &'a [T];
    [T] &'a Vec<T>;
    [T, const N: usize] &'a [T; N];
    [T] &'a Box<[T]>;
    [T] &'a mut [T];
    [T] &'a mut Vec<T>;
}

impl<'a, T: Element> Input<'a, T> {
    /// Without the type.
    #[inline(always)]
    pub(crate) fn erase(self) -> ErasedInput<'a> {
        ErasedInput { elements: self.elements.into(), mask: self.mask, executor: self.executor }
    }
}

impl<'a> Input<'a, u8> {
    /// Bytes as elements of a type.
    #[inline(always)]
    pub(crate) fn of_bytes(self, data_type: DataType) -> Result<ErasedInput<'a>, Error> {
        let elements = ElementsRef::of_bytes("input", data_type, self.elements)?;
        Ok(ErasedInput { elements, mask: self.mask, executor: self.executor })
    }

    /// How many bytes there are, and whether they are under a mask.
    pub(crate) fn bytes(&self) -> (&'a [u8], bool) {
        (self.elements, self.mask.is_some())
    }
}

/// An input whose type of elements is a value.
#[derive(Clone, Copy)]
pub(crate) struct ErasedInput<'a> {
    pub(crate) elements: ElementsRef<'a>,
    pub(crate) mask: Option<Mask<'a>>,
    pub(crate) executor: Option<&'a dyn Executor>,
}
