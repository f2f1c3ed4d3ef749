//! The smallest and the largest at once: one plan, and two outputs of everything.

use super::description::ArgReduce;
use super::display::fmt_debug;
use super::input::{ErasedInput, Input};
use super::lengths::check_len;
use super::merge::Merge;
use super::output::{Collect, Names, Output, Places, UntypedOutput};
use super::plan::Plan;
use super::run::Plans;
use super::untyped::UntypedPlan;
use crate::exec::{OutputSlices, both_kernel};
use crate::{DataType, Element, Error, Index, Isa, Layout, Partial, ReduceFunction};
use argreduce_kernels::BothKernel;
use std::fmt;

impl<'a> ArgReduce<'a> {
    /// A plan for both the smallest and the largest element, whatever function this describes.
    ///
    /// # Errors
    /// As [`ArgReduce::plan`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    /// let plan = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan_both::<f32, u32>()?;
    /// let [min, max]: [Vec<u32>; 2] = plan.collect(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?;
    /// assert_eq!((min, max), (vec![0, 1], vec![1, 0]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn plan_both<T: Element, I: Index>(self) -> Result<PlanBoth<T, I>, Error> {
        let [min, max] = self.each();
        let (min, max) = (min.plan::<T, I>()?, max.plan::<T, I>()?);
        let kernel = both_kernel(min.erased().exec(), T::DATA_TYPE, min.erased().nan_policy());
        Ok(PlanBoth { min, max, kernel })
    }

    /// As [`ArgReduce::plan_both`], with both types as values.
    ///
    /// # Errors
    /// As [`ArgReduce::plan_untyped`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Buffers, DataType, Layout};
    /// use bytemuck::cast_slice_mut;
    /// let reduce = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]);
    /// let plan = reduce.plan_both_untyped(DataType::U8, DataType::U16)?;
    /// let (mut min, mut max) = ([9_u16; 2], [9_u16; 2]);
    /// let to_min = Buffers { indices: cast_slice_mut(&mut min), values: None };
    /// let to_max = Buffers { indices: cast_slice_mut(&mut max), values: None };
    /// plan.run(&[1, 5, 2, 7, 0, 7], [to_min.into(), to_max.into()])?;
    /// assert_eq!((min, max), ([0, 1], [1, 0]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn plan_both_untyped(self, data_type: DataType, index_type: DataType) -> Result<UntypedPlanBoth, Error> {
        let [min, max] = self.each();
        let (min, max) = (min.plan_untyped(data_type, index_type)?, max.plan_untyped(data_type, index_type)?);
        let kernel = both_kernel(min.erased().exec(), data_type, min.erased().nan_policy());
        Ok(UntypedPlanBoth { min, max, kernel })
    }

    /// For the smallest, and for the largest.
    fn each(self) -> [ArgReduce<'a>; 2] {
        ReduceFunction::ALL.map(|function| ArgReduce { function: Some(function), ..self })
    }
}

/// A [`Plan`] for the smallest and the largest at once: made by [`ArgReduce::plan_both`]. There are two outputs of one
/// kind, that of the smallest first; what is in each is what a [`Plan`] of either function writes. Messages call them
/// `min` and `max`, and values `min_values` and `max_values`.
///
/// ```
/// use argreduce::{ArgReduce, Layout};
/// let plan = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan_both::<f32, u32>()?;
/// let (mut min, mut max, mut lowest, mut highest) = ([0; 2], [0; 2], [0.0; 2], [0.0; 2]);
/// let x = [1.0, 5.0, 2.0, 7.0, 0.0, 7.0];
/// plan.run(&x, [(&mut min, &mut lowest), (&mut max, &mut highest)])?;
/// assert_eq!((min, lowest, max, highest), ([0, 1], [1.0, 0.0], [1, 0], [5.0, 7.0]));
///
/// let error = plan.run(&x, [&mut min[..], &mut max[..1]]).unwrap_err();
/// assert_eq!(error.to_string(), "the max slice has 1 elements of u32: the layout needs 2");
/// # Ok::<(), argreduce::Error>(())
/// ```
pub struct PlanBoth<T, I> {
    min: Plan<T, I>,
    max: Plan<T, I>,
    /// For both at once.
    kernel: Option<BothKernel>,
}

impl<T, I> Clone for PlanBoth<T, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, I> Copy for PlanBoth<T, I> {}

impl<T: Element, I: Index> PlanBoth<T, I> {
    /// As [`Plan::run`], to two outputs. All of it is checked before one is written.
    ///
    /// # Errors
    /// As [`Plan::run`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Mask, input};
    /// let plan = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).fill(-1).plan_both::<f32, i32>()?;
    /// let (x, mut min, mut max) = ([1.0, 5.0, 2.0, 7.0, 0.0, 7.0], [0; 2], [0; 2]);
    /// plan.run(input(&x).masked(Mask::bits(&[0b000_110], 0)), [&mut min, &mut max])?;
    /// assert_eq!((min, max), ([2, -1], [1, -1]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[inline(always)]
    pub fn run<'a, O: Output<T, I>>(&self, input: impl Into<Input<'a, T>>, outputs: [O; 2]) -> Result<(), Error> {
        let [mut min, mut max] = outputs;
        self.run_places(input.into().erase(), [min.places(), max.places()])
    }

    #[inline(always)]
    fn run_places(&self, input: ErasedInput<'_>, places: [Places<'_, T, I>; 2]) -> Result<(), Error> {
        match places {
            [Places::Answers { indices: min, values: lowest }, Places::Answers { indices: max, values: highest }] => {
                let named = const { [&(Names::OF_BOTH[0], I::NAME), &(Names::OF_BOTH[1], I::NAME)] };
                let to_min = &mut OutputSlices { indices: min.into(), values: lowest.map(Into::into) };
                let to_max = &mut OutputSlices { indices: max.into(), values: highest.map(Into::into) };
                self.erased().run(named, &input, [to_min, to_max])
            }
            [Places::Partials(min), Places::Partials(max)] => {
                self.min.erased().check_typed_partials::<I>(&input)?;
                self.check_partials([min.len(), max.len()])?;
                let outputs = self.output_layout().element_count();
                let [(min, steps), (max, _)] = [min, max].map(|p| OutputSlices::of_partials(&mut p[..outputs]));
                self.erased().run_apart(&input, [min, max], steps)
            }
            _ => unreachable!("two outputs of one type are of one kind"),
        }
    }

    /// As [`Plan::collect`]: what holds the answers of the smallest, and of the largest.
    ///
    /// # Errors
    /// As [`Plan::collect`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, ScopedThreads, input};
    /// let plan = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan_both::<f32, u32>()?;
    /// let (x, threads) = ([1.0, 5.0, 2.0, 7.0, 0.0, 7.0], ScopedThreads::new(2));
    /// let [min, max]: [(Vec<u32>, Vec<f32>); 2] = plan.collect(input(&x).on(&threads))?;
    /// assert_eq!((min, max), ((vec![0, 1], vec![1.0, 0.0]), (vec![1, 0], vec![5.0, 7.0])));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn collect<'a, C: Collect<T, I>>(&self, input: impl Into<Input<'a, T>>) -> Result<[C; 2], Error> {
        let (input, plan) = (input.into().erase(), self.min.erased());
        plan.check_collect::<I>(&input, C::ARE_PARTIAL)?;
        let [mut min, mut max] = [C::new(plan.output())?, C::new(plan.output())?];
        self.run_places(input, [min.places(), max.places()])?;
        Ok([min, max])
    }

    /// What merges the partial answers of the smallest, and what those of the largest.
    pub fn merge(&self) -> [Merge; 2] {
        [self.min.merge(), self.max.merge()]
    }

    /// As [`Plan::finish`], of the partial answers of the smallest and of the largest.
    ///
    /// # Errors
    /// As [`Plan::finish`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Partial};
    /// // Two parts of a row.
    /// let (part, whole) = (Layout::contiguous(&[3])?, [6]);
    /// let plan = |start| ArgReduce::argminmax(&part).all_axes().window(&whole, start).plan_both::<f32, u32>();
    /// let (first, second) = (plan(&[0])?, plan(&[3])?);
    /// let [mut min, mut max]: [Vec<Partial<f32, u32>>; 2] = first.collect(&[3.0, 1.0, 2.0])?;
    /// let [other_min, other_max]: [Vec<Partial<f32, u32>>; 2] = second.collect(&[5.0, 2.0, 4.0])?;
    ///
    /// let [merge_min, merge_max] = first.merge();
    /// merge_min.partials(&mut min, &other_min)?;
    /// merge_max.partials(&mut max, &other_max)?;
    /// let (mut smallest, mut largest) = ([0], [0]);
    /// first.finish([&min, &max], [&mut smallest, &mut largest])?;
    /// assert_eq!((smallest, largest), ([1], [3]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn finish<O: Output<T, I>>(&self, partials: [&[Partial<T, I>]; 2], outputs: [O; 2]) -> Result<(), Error> {
        let ([min, max], [mut to_min, mut to_max]) = (partials, outputs);
        self.check_partials([min.len(), max.len()])?;
        let (of_min, of_max) = (|n: usize| min[n], |n: usize| max[n]);
        let (plan, places) = (self.min.erased(), [to_min.places(), to_max.places()]);
        let from = [plan.finish_part(&of_min), plan.finish_part(&of_max)];
        for ((from, places), names) in from.iter().zip(&places).zip(Names::OF_BOTH) {
            plan.check_finish(from, names, places)?;
        }
        let each = from.iter().zip(places).zip(Names::OF_BOTH);
        each.into_iter().try_for_each(|((from, places), names)| plan.finish(from, names, places))
    }

    fn check_partials(&self, partials: [usize; 2]) -> Result<(), Error> {
        let outputs = self.output_layout().element_count();
        let mut each = Names::OF_BOTH.into_iter().zip(partials);
        each.try_for_each(|(names, len)| check_len(names.partials, "Partial", len, outputs))
    }

    #[allow(unsafe_code)]
    #[inline(always)]
    fn erased(&self) -> Plans<'_, 2> {
        // SAFETY: `plan_both` alone makes them, of one description.
        unsafe { Plans::of_both([&self.min.erased, &self.max.erased], self.kernel) }
    }

    /// As [`Plan::input_layout`].
    pub fn input_layout(&self) -> &Layout {
        self.min.input_layout()
    }

    /// As [`Plan::output_layout`], of either.
    pub fn output_layout(&self) -> &Layout {
        self.min.output_layout()
    }

    /// As [`Plan::isa`].
    pub fn isa(&self) -> Isa {
        self.min.isa()
    }
}

/// What the plan for either displays, but for the function.
///
/// ```
/// use argreduce::{ArgReduce, Isa, Layout};
/// let reduce = ArgReduce::argminmax(&Layout::contiguous(&[2, 30])?).axes(&[1]).isa(Isa::Portable);
/// assert_eq!(
///     reduce.plan_both::<f32, u32>()?.to_string(),
///     "argminmax of f32 [2, 30] over axes [1] to u32 [2, 1], increasing, nan propagate: \
///      outputs [2] of [30], rows, portable"
/// );
/// # Ok::<(), argreduce::Error>(())
/// ```
impl<T: Element, I: Index> fmt::Display for PlanBoth<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.min.erased.fmt_as(f, "argminmax", T::DATA_TYPE, I::NAME)
    }
}

/// As that of [`Plan`] and [`UntypedPlan`]: what it displays, and all of it as `{:#?}`.
impl<T: Element, I: Index> fmt::Debug for PlanBoth<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_debug(f, "PlanBoth", self, &[("min", &self.min), ("max", &self.max), ("kernel", &self.kernel)])
    }
}

/// A [`PlanBoth`] whose types are known at run time, on buffers of bytes, as an [`UntypedPlan`] has them. Errors call
/// the buffers `min_indices` and `max_indices`, `min_values` and `max_values`.
#[derive(Clone)]
pub struct UntypedPlanBoth {
    min: UntypedPlan,
    max: UntypedPlan,
    /// For both at once.
    kernel: Option<BothKernel>,
}

impl UntypedPlanBoth {
    /// As [`UntypedPlan::run`], to two outputs: of the smallest, and of the largest. All of it is checked before one is
    /// written.
    ///
    /// # Errors
    /// As [`UntypedPlan::run`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, DataType, Layout, PartialBuffers};
    /// use bytemuck::{cast_slice, cast_slice_mut};
    /// let (layout, x) = (Layout::contiguous(&[2, 3])?, [1_i16, 5, 2, 7, 0, 7]);
    /// let reduce = ArgReduce::argminmax(&layout).axes(&[1]).window(&[2, 6], &[0, 3]);
    /// let plan = reduce.plan_both_untyped(DataType::I16, DataType::U32)?;
    /// let ([mut lowest, mut highest], [mut min, mut max]) = ([[0_i16; 2]; 2], [[0_u32; 2]; 2]);
    /// let to_min = PartialBuffers { indices: cast_slice_mut(&mut min), values: cast_slice_mut(&mut lowest) };
    /// let to_max = PartialBuffers { indices: cast_slice_mut(&mut max), values: cast_slice_mut(&mut highest) };
    /// plan.run(cast_slice(&x), [to_min.into(), to_max.into()])?;
    /// assert_eq!((lowest, min), ([1, 0], [3, 4]));
    /// assert_eq!((highest, max), ([5, 7], [4, 3]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run<'a>(&self, input: impl Into<Input<'a, u8>>, outputs: [UntypedOutput<'_>; 2]) -> Result<(), Error> {
        let (data_type, index_type) = (self.min.data_type(), self.min.index_type());
        let (input, [min, max]) = (input.into().of_bytes(data_type)?, outputs);
        let [of_min, of_max] = Names::OF_BOTH_BUFFERS;
        let min = min.places(of_min, data_type, index_type)?;
        let max = max.places(of_max, data_type, index_type)?;
        // SAFETY: `plan_both_untyped` alone makes them, of one description.
        #[allow(unsafe_code)]
        let both = unsafe { Plans::of_both([self.min.erased(), self.max.erased()], self.kernel) };
        let named = [&(of_min, index_type.name()), &(of_max, index_type.name())];
        both.run_untyped(named, input, [min, max])
    }

    /// The plans for the smallest and the largest: what both have, and what merges and finishes the partial answers of
    /// each.
    ///
    /// ```
    /// use argreduce::{ArgReduce, DataType, Layout};
    /// let reduce = ArgReduce::argminmax(&Layout::contiguous(&[2, 3])?).axes(&[1]);
    /// let plan = reduce.plan_both_untyped(DataType::U8, DataType::U16)?;
    /// let [min, max] = plan.each();
    /// assert_eq!((min.required_bytes().output, max.index_type()), (4, DataType::U16));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn each(&self) -> [&UntypedPlan; 2] {
        [&self.min, &self.max]
    }
}

impl fmt::Display for UntypedPlanBoth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.min.fmt_as(f, "argminmax")
    }
}

impl fmt::Debug for UntypedPlanBoth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_debug(f, "UntypedPlanBoth", self, &[("min", &self.min), ("max", &self.max), ("kernel", &self.kernel)])
    }
}
