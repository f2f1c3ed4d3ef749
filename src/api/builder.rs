//! [`ArgReduce`] collects what the caller asks for, checks it, and makes a plan of it.

use super::description::{ArgReduce, Reduced};
use super::erased::ErasedPlan;
use super::plan::Plan;
use crate::layout::{AxisError, AxisSet, Window};
use crate::planner::require_kernels;
use crate::{AxisDirection, Element, Error, Index, Isa, Key, Layout, NanPolicy, Options, ReduceFunction};
use std::marker::PhantomData;

impl<'a> ArgReduce<'a> {
    /// Of a [`Layout`], or of [`Segments`](crate::Segments), which have no axes: those are for
    /// [`ArgReduce::plan_segments`].
    ///
    /// Without axes yet: planning is an error until [`ArgReduce::axes`] or [`ArgReduce::all_axes`] says which.
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Layout, ReduceFunction};
    /// let scores = Layout::contiguous(&[2, 3])?;
    /// let error = ArgReduce::new(ReduceFunction::ArgMax, &scores).plan::<f32, u32>().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "nothing says which axes to reduce: .axes(..) names them, and .all_axes() means all; .axes(&[]) reduces \
    ///      nothing"
    /// );
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn new(function: ReduceFunction, input: impl Into<Reduced<'a>>) -> Self {
        Self::of(Some(function), input.into())
    }

    fn of(function: Option<ReduceFunction>, Reduced { input, segments }: Reduced<'a>) -> Self {
        let (axes, options) = (Err(AxisError::NoAxes), Options::new());
        ArgReduce {
            function,
            input,
            segments,
            axes,
            options,
            output: None,
            isa: None,
            window: None,
            fill: None,
            is_cumulative: false,
            is_reversed: false,
            is_absolute: false,
        }
    }

    /// The index of the largest element; otherwise as [`ArgReduce::new`].
    #[doc(alias = "argMax")]
    pub fn argmax(input: impl Into<Reduced<'a>>) -> Self {
        Self::new(ReduceFunction::ArgMax, input)
    }

    /// The index of the smallest element; otherwise as [`ArgReduce::new`].
    #[doc(alias = "argMin")]
    pub fn argmin(input: impl Into<Reduced<'a>>) -> Self {
        Self::new(ReduceFunction::ArgMin, input)
    }

    /// The indices of both the smallest and the largest element: for [`ArgReduce::plan_both`] and
    /// [`ArgReduce::plan_both_untyped`]. Otherwise as [`ArgReduce::new`].
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Layout};
    /// let both = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]);
    /// let [min, max]: [Vec<u32>; 2] = both.plan_both()?.collect(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?;
    /// assert_eq!((min, max), (vec![0, 1], vec![1, 0]));
    ///
    /// let error = both.plan::<f32, u32>().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "argminmax is two functions: plan_both or plan_both_untyped plan it, and two streams do"
    /// );
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[doc(alias = "minmax")]
    pub fn argminmax(input: impl Into<Reduced<'a>>) -> Self {
        Self::of(None, input.into())
    }

    /// The axes to reduce, in any order, which does not change the answer: an index is always row-major over the
    /// reduced axes in ascending order. Negative axes count from the end. No axes (`&[]`) reduce nothing: each output
    /// is one element, and each index 0.
    ///
    /// Sizes are `usize`, and axes `isize`: write `axis as isize` for one that was counted. For a list of such,
    /// [`ArgReduce::axes_from`] takes `list.iter().map(|&axis| axis as isize)`. A rank is at most 8.
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Layout};
    /// let scores = Layout::contiguous(&[2, 3, 4])?;
    /// let longest = (0..3).max_by_key(|&axis| scores.sizes()[axis]).unwrap_or(0);
    /// let plan = ArgReduce::argmax(&scores).axes(&[longest as isize]).plan::<f32, u32>()?;
    /// assert_eq!(plan.output_layout().sizes(), [2, 3, 1]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[doc(alias("axis", "dim"))]
    pub fn axes(self, axes: &[isize]) -> Self {
        self.axes_from(axes.iter().copied())
    }

    /// As [`ArgReduce::axes`], from anything that iterates: a range, a filter, a mapped list.
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Layout};
    /// let scores = Layout::contiguous(&[2, 3, 4])?;
    /// let plan = ArgReduce::argmax(&scores).axes_from(1..3).plan::<f32, u32>()?;
    /// assert_eq!(plan.output_layout().sizes(), [2, 1, 1]);
    ///
    /// let all_but_last = (0..3).filter(|&axis| axis != 2);
    /// let plan = ArgReduce::argmax(&scores).axes_from(all_but_last).plan::<f32, u32>()?;
    /// assert_eq!(plan.output_layout().sizes(), [1, 1, 4]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn axes_from(self, axes: impl IntoIterator<Item = isize>) -> Self {
        ArgReduce { axes: AxisSet::collect(axes, self.input.sizes().len()), ..self }
    }

    /// Reduces the whole tensor to one index.
    pub fn all_axes(self) -> Self {
        ArgReduce { axes: Ok(AxisSet::all(self.input.sizes().len())), ..self }
    }

    /// Which of equal elements to take; by default the first.
    #[doc(alias("last", "select_last_index"))]
    pub fn direction(self, direction: AxisDirection) -> Self {
        ArgReduce { options: self.options.direction(direction), ..self }
    }

    /// Where NaN stands among the numbers; by default before all of them.
    #[doc(alias("nanargmax", "nanargmin"))]
    pub fn nan_policy(self, nan_policy: NanPolicy) -> Self {
        ArgReduce { options: self.options.nan_policy(nan_policy), ..self }
    }

    /// What elements are compared by: by default they themselves. See [`Key`].
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Key, Layout};
    /// let by = |key| ArgReduce::argmax(&Layout::contiguous(&[4])?).all_axes().by(key).plan::<i8, u32>();
    /// let (indices, values): (Vec<u32>, Vec<i8>) = by(Key::Magnitude)?.collect(&[100, -128, 127, 0])?;
    /// assert_eq!((indices, values), (vec![1], vec![-128]));
    /// assert_eq!(by(Key::distance(-100_i8))?.collect::<Vec<u32>>(&[100, -128, 127, 0])?, [2]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[doc(alias("key", "abs", "absolute", "magnitude", "nearest"))]
    pub fn by(self, key: Key) -> Self {
        ArgReduce { options: self.options.by(key), ..self }
    }

    /// Direction, NaN policy and key together.
    pub fn options(self, options: impl Into<Options>) -> Self {
        ArgReduce { options: options.into(), ..self }
    }

    /// Where to write the indices: the input's sizes, 1 on each reduced axis, and any strides that keep the outputs
    /// apart. By default packed in row-major order.
    #[doc(alias = "keepdims")]
    pub fn output_layout(self, output: &'a Layout) -> Self {
        ArgReduce { output: Some(output), ..self }
    }

    /// The layout is the part of a tensor of `whole` sizes that begins at `start`, and indices are those in the whole:
    /// one number for each axis in both. By default it is the whole.
    ///
    /// The page of [`Merge`](crate::Merge) says how the answers of parts become that of the whole. On a kept axis a
    /// window changes no index. A part may be empty: see [`Plan::run`]. The sizes of the whole may multiply to
    /// more than any memory holds, but not to more than `usize` does.
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Layout};
    /// // Columns 4 to 6 of a matrix of 2 rows and 10 columns.
    /// let part = Layout::contiguous(&[2, 3])?;
    /// let plan = ArgReduce::argmax(&part).axes(&[1]).window(&[2, 10], &[0, 4]).plan::<f32, u32>()?;
    /// let indices: Vec<u32> = plan.collect(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?;
    /// assert_eq!(indices, [5, 4]);
    ///
    /// let error = ArgReduce::argmax(&part).axes(&[1]).window(&[2, 10], &[0, 8]).plan::<f32, u32>().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the window does not fit axis 1: size 3 from 8 on ends beyond the whole's 10"
    /// );
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn window(self, whole: &'a [usize], start: &'a [usize]) -> Self {
        ArgReduce { window: Some(Window { whole, start }), ..self }
    }

    /// The index of an output of which no element [is there](crate::Mask): in what runs under a mask, and in
    /// [`Plan::finish`] and [`ArgStream::finish`](crate::ArgStream::finish). Its value has bits of 0. By
    /// default there is none, and such an output is an error.
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Layout, Mask, input};
    /// let rows = Layout::contiguous(&[2, 3])?;
    /// let plan = ArgReduce::argmax(&rows).axes(&[1]).fill(-1).plan::<f32, i32>()?;
    /// let there = [true, true, false, false, false, false];
    /// let x = [1.0, 5.0, 9.0, 7.0, 0.0, 7.0];
    /// let indices: Vec<i32> = plan.collect(input(&x).masked(Mask::bools(&there)))?;
    /// assert_eq!(indices, [1, -1]);
    ///
    /// let error = ArgReduce::argmax(&rows).axes(&[1]).fill(-1).plan::<f32, u32>().unwrap_err();
    /// assert_eq!(error.to_string(), "the fill -1 does not fit u32, which holds 0 to 4294967295");
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[doc(alias = "fill_value")]
    pub fn fill(self, index: i64) -> Self {
        ArgReduce { fill: Some(index), ..self }
    }

    /// The best so far: an answer for each element, of itself and all before it along the one axis. So the output has
    /// the input's sizes. See [`ArgReduce::reverse`] for all after it.
    ///
    /// All else is as of a reduction: of equals, the first wins, or by [`ArgReduce::direction`] the last; under a
    /// [mask](crate::Mask), what is not there is left out, and before the first that is there, there is nothing: the
    /// [fill](ArgReduce::fill), or an error. Indices are those along the axis. There are no partial answers of it, and
    /// no streams.
    ///
    /// ```
    /// # use argreduce::{ArgReduce, AxisDirection, Layout};
    /// let days = ArgReduce::argmax(&Layout::contiguous(&[6])?).axes(&[0]).cumulative();
    /// let prices = [3.0, 5.0, 4.0, 5.0, 6.0, 1.0];
    /// let (best, highest): (Vec<u32>, Vec<f64>) = days.plan()?.collect(&prices)?;
    /// assert_eq!(best, [0, 1, 1, 1, 4, 4]);
    /// assert_eq!(highest, [3.0, 5.0, 5.0, 5.0, 6.0, 6.0]);
    ///
    /// // As `torch.cummax`, where the last of equals wins.
    /// let as_torch: Vec<u32> = days.direction(AxisDirection::Decreasing).plan::<f64, u32>()?.collect(&prices)?;
    /// assert_eq!(as_torch, [0, 1, 1, 3, 4, 4]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[doc(alias("cummax", "cummin", "accumulate", "running", "scan"))]
    pub fn cumulative(self) -> Self {
        ArgReduce { is_cumulative: true, ..self }
    }

    /// Of what is [`cumulative`](ArgReduce::cumulative), the best from each element on: of itself and all after it. Of
    /// equals, the one with the smallest index wins all the same, or by [`ArgReduce::direction`] that with the largest.
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Layout};
    /// let layout = Layout::contiguous(&[2, 3])?;
    /// let still_to_come = ArgReduce::argmin(&layout).axes(&[1]).cumulative().reverse().plan::<i32, u32>()?;
    /// let lowest: Vec<u32> = still_to_come.collect(&[1, 5, 2, 7, 0, 7])?;
    /// assert_eq!(lowest, [0, 2, 2, 1, 1, 2]);
    ///
    /// let error = ArgReduce::argmin(&layout).axes(&[1]).reverse().plan::<i32, u32>().unwrap_err();
    /// assert_eq!(error.to_string(), "reverse is for what is cumulative: a reduction has one answer from either end");
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn reverse(self) -> Self {
        ArgReduce { is_reversed: true, ..self }
    }

    /// Of [segments](crate::Segments), indices in the whole slice, not in the segment.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Segments};
    /// let plan = ArgReduce::argmin(&Segments::new(&[0, 2, 5])?).absolute().plan_segments::<u8, u32>()?;
    /// assert_eq!(plan.collect::<Vec<u32>>(&[7, 5, 9, 8, 8])?, [1, 3]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn absolute(self) -> Self {
        ArgReduce { is_absolute: true, ..self }
    }

    /// Forces an instruction set: all that runs is of this one. By default it is the one that the environment variable
    /// `ARGREDUCE_ISA` names (it is read once per process), forced as well, or else [`Isa::detect`], which may take
    /// kernels of narrower vectors where those are faster. The answer never depends on it.
    pub fn isa(self, isa: Isa) -> Self {
        ArgReduce { isa: Some(isa), ..self }
    }

    /// Checks all of it, and decides how to run. Takes no heap memory.
    ///
    /// # Errors
    /// - [`Error::NoAxes`], [`Error::AxisOutOfRange`], [`Error::DuplicateAxis`]: see [`ArgReduce::axes`].
    /// - [`Error::OutputRank`], [`Error::OutputSize`], [`Error::OutputOverlaps`]: see [`ArgReduce::output_layout`].
    /// - [`Error::EmptyReduction`] for a reduced axis of size 0, and [`Error::IndexTooLarge`] where `I` may not hold an
    ///   index; but not where the output is empty, because then there is no index.
    /// - [`Error::WindowRank`], [`Error::WindowOutOfRange`], [`Error::WholeTooLarge`]: see [`ArgReduce::window`]. With
    ///   one, the sizes of the reduced axes and the largest index are those of the whole.
    /// - [`Error::FillOutOfRange`]: see [`ArgReduce::fill`].
    /// - [`Error::KeyType`], [`Error::KeyIsNan`]: see [`Key::distance`].
    /// - [`Error::IsaNotAvailable`], [`Error::UnknownIsa`]: see [`ArgReduce::isa`].
    /// - [`Error::TwoFunctions`]: see [`ArgReduce::argminmax`].
    /// - [`Error::CumulativeAxes`] for other than one axis, and [`Error::NotCumulative`]: see [`ArgReduce::cumulative`]
    ///   and [`ArgReduce::reverse`]. Of what is cumulative, the output has the input's sizes, and is empty where an
    ///   axis is: that is no error.
    ///
    /// A program that calls it for elements whose kernels were left out is not built: see
    /// [features](crate#features).
    pub fn plan<T: Element, I: Index>(self) -> Result<Plan<T, I>, Error> {
        const { require_kernels::<T>() };
        let mut plan = Ok(Plan { erased: ErasedPlan::EMPTY, types: PhantomData });
        if let Ok(Plan { erased, .. }) = &mut plan
            && let Err(error) = erased.plan(&self, T::DATA_TYPE, (I::NAME, I::MAX))
        {
            plan = Err(error);
        }
        plan
    }
}
