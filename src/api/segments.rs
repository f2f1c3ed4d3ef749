//! Plans of segments: what is asked of them, checked; and a call, whose slices and offsets are. One copy for all types.

use super::description::ArgReduce;
use super::erased::{ErasedPlan, check_fill};
use super::input::{ErasedInput, Input};
use super::isa::plan_isa;
use super::lengths::check_len;
use super::output::{Collect, Named, Names, Output, Places, UntypedOutput};
use super::run::Plans;
use crate::exec::{CallMask, Indices, OutputSlices, Search, SegmentSearch, are_all_there, run};
use crate::index::max_index;
use crate::layout::AxisError;
use crate::mask::MaskPlaces;
use crate::planner::require_kernels;
use crate::{AxisDirection, DataType, Element, Error, Index, Isa, Layout, Options, ReduceFunction, Segments};
use argreduce_kernels::{Kernel, KeyCopier, Strategy, kernel_of};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

impl<'a> ArgReduce<'a> {
    /// A plan of [`Segments`]: as [`ArgReduce::plan`], with an answer for each of them. Options and
    /// [`fill`](ArgReduce::fill) are those of every plan, and [`isa`](ArgReduce::isa);
    /// [`absolute`](ArgReduce::absolute) is for segments alone. Offsets are borrowed. Takes no heap memory.
    ///
    /// # Errors
    /// - [`Error::SegmentsMismatch`] for what segments do not have, axes among it, and of a layout.
    /// - [`Error::IndexTooLarge`] where `I` may not hold an index: in the longest segment, or in the whole.
    /// - [`Error::FillOutOfRange`], [`Error::IsaNotAvailable`], [`Error::UnknownIsa`], [`Error::TwoFunctions`]: as
    ///   [`ArgReduce::plan`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, AxisDirection, Layout, Mask, Segments, input};
    /// let offsets = [0_i64, 3, 3, 6];
    /// let best = ArgReduce::argmax(&Segments::new(&offsets)?).direction(AxisDirection::Decreasing).fill(-1);
    /// let (x, plan) = ([1.0, 5.0, 5.0, 7.0, 0.0, 7.0], best.plan_segments::<f64, i32>()?);
    /// let (indices, values): (Vec<i32>, Vec<f64>) = plan.collect(&x)?;
    /// assert_eq!((indices, values), (vec![2, -1, 2], vec![5.0, 0.0, 7.0]));
    /// // The mask is that of all elements.
    /// let there = Mask::bits(&[0b01_0011], 0);
    /// assert_eq!(plan.collect::<Vec<i32>>(input(&x).masked(there))?, [1, -1, 1]);
    ///
    /// let error = ArgReduce::argmax(&Layout::contiguous(&[6])?).plan_segments::<f64, i32>().unwrap_err();
    /// assert_eq!(error.to_string(), "a layout has no plan_segments: that is for segments");
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn plan_segments<T: Element, I: Index>(self) -> Result<SegmentPlan<'a, T, I>, Error> {
        const { require_kernels::<T>() };
        let erased = UntypedSegmentPlan::new(&self, T::DATA_TYPE, (I::NAME, I::MAX))?;
        Ok(SegmentPlan { erased, types: PhantomData })
    }

    /// As [`ArgReduce::plan_segments`], for the smallest and for the largest, whatever function this describes: each is
    /// a plan of its own, as both have the same segments.
    ///
    /// # Errors
    /// As [`ArgReduce::plan_segments`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Segments};
    /// let [min, max] = ArgReduce::argminmax(&Segments::new(&[0, 3, 5])?).plan_both_segments::<i8, u8>()?;
    /// let x = [3, 1, 2, 8, 9];
    /// assert_eq!((min.collect::<Vec<u8>>(&x)?, max.collect::<Vec<u8>>(&x)?), (vec![1, 0], vec![0, 1]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn plan_both_segments<T: Element, I: Index>(self) -> Result<[SegmentPlan<'a, T, I>; 2], Error> {
        let [min, max] = ReduceFunction::ALL.map(|function| ArgReduce { function: Some(function), ..self });
        Ok([min.plan_segments()?, max.plan_segments()?])
    }

    /// As [`ArgReduce::plan_segments`], with both types as values.
    ///
    /// # Errors
    /// As [`ArgReduce::plan_segments`] and [`ArgReduce::plan_untyped`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, DataType, Segments};
    /// let reduce = ArgReduce::argmax(&Segments::new(&[0, 3, 5])?);
    /// let (plan, mut best) = (reduce.plan_segments_untyped(DataType::U8, DataType::U16)?, [9_u16; 2]);
    /// plan.run(&[3, 1, 2, 8, 9], bytemuck::cast_slice_mut(&mut best))?;
    /// assert_eq!(best, [0, 1]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn plan_segments_untyped(
        self,
        data_type: DataType,
        index_type: DataType,
    ) -> Result<UntypedSegmentPlan<'a>, Error> {
        let max = max_index(index_type).ok_or(Error::NotAnIndexType { data_type: index_type })?;
        UntypedSegmentPlan::new(&self, data_type, (index_type.name(), max))
    }
}

/// A [`Plan`](crate::Plan) of [`Segments`], made by [`ArgReduce::plan_segments`]: an answer for each of them.
///
/// What it reads and writes is what every plan does. Of an empty segment, or one of which nothing is there, an index is
/// the [fill](ArgReduce::fill), and its value has bits of 0. A [mask](crate::Mask) is that of the whole input, of one
/// axis. On [threads](crate::Executor), the elements are shared, however long segments are. There are no [partial
/// answers](crate::Partial): a segment is answered as a whole, and an array may be cut between two.
///
/// ```
/// use argreduce::{ArgReduce, Isa, Segments};
/// let offsets = [0, 2, 5];
/// let plan = ArgReduce::argmax(&Segments::new(&offsets)?).isa(Isa::Portable).plan_segments::<f32, u32>()?;
/// assert_eq!(
///     plan.to_string(),
///     "argmax of f32 in 2 segments, the longest of 3, to u32, increasing, nan propagate: portable"
/// );
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SegmentPlan<'a, T, I> {
    erased: UntypedSegmentPlan<'a>,
    types: PhantomData<fn(T) -> I>,
}

impl<T: Element, I: Index> SegmentPlan<'_, T, I> {
    /// As [`Plan::run`](crate::Plan::run). Slices are packed, a place for each segment.
    ///
    /// # Errors
    /// [`Error::TooShort`] for a short output, [`Error::OffsetOutOfRange`] for a segment that ends beyond the input,
    /// [`Error::SegmentsMismatch`] for partial answers, and those of [`Input::masked`]; then nothing is written.
    /// [`Error::NothingThere`] for a segment that is empty, or of which nothing is there, without a
    /// [fill](ArgReduce::fill).
    ///
    /// ```
    /// use argreduce::{ArgReduce, Segments};
    /// let plan = ArgReduce::argmin(&Segments::new(&[0, 2, 2, 5])?).plan_segments::<f32, u32>()?;
    /// let error = plan.run(&[2.0, 1.0, 3.0], &mut [0; 3]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "offset 5 at position 3, where segment 2 ends, is out of range: 2 to 3 are allowed"
    /// );
    /// let error = plan.run(&[2.0, 1.0, 3.0, 4.0, 5.0], &mut [0; 3]).unwrap_err();
    /// assert_eq!(error, argreduce::Error::NothingThere { output: vec![1] });
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn run<'a>(&self, input: impl Into<Input<'a, T>>, mut output: impl Output<T, I>) -> Result<(), Error> {
        let Places::Answers { indices, values } = output.places() else { return Err(no_partial_answers()) };
        let slices = OutputSlices { indices: indices.into(), values: values.map(Into::into) };
        self.erased.run_erased(&(Names::OF_ONE, I::NAME), &input.into().erase(), slices)
    }

    /// As [`Plan::collect`](crate::Plan::collect).
    ///
    /// # Errors
    /// As [`SegmentPlan::run`], and [`Error::OutOfMemory`].
    pub fn collect<'a, C: Collect<T, I>>(&self, input: impl Into<Input<'a, T>>) -> Result<C, Error> {
        let mut collected = C::new(&self.erased.output)?;
        let Places::Answers { indices, values } = collected.places() else { return Err(no_partial_answers()) };
        let slices = OutputSlices { indices: indices.into(), values: values.map(Into::into) };
        self.erased.run_erased(&(Names::OF_ONE, I::NAME), &input.into().erase(), slices)?;
        Ok(collected)
    }
}

impl<T, I> fmt::Display for SegmentPlan<'_, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt(f)
    }
}

fn no_partial_answers() -> Error {
    Error::SegmentsMismatch { of: "partial answers", are_segments: true }
}

/// A [`SegmentPlan`] whose types are known at run time, on buffers of bytes, as an [`UntypedPlan`](crate::UntypedPlan)
/// has them: made by [`ArgReduce::plan_segments_untyped`].
#[derive(Clone, Copy, Debug)]
pub struct UntypedSegmentPlan<'a> {
    segments: Segments<'a>,
    function: ReduceFunction,
    kernel: &'static Kernel,
    /// Where elements are not their own keys.
    keys: Option<KeyCopier>,
    options: Options,
    fill: Option<i64>,
    is_absolute: bool,
    data_type: DataType,
    index_type: &'static str,
    isa: Isa,
    /// A place for each segment.
    output: Layout,
}

impl<'a> UntypedSegmentPlan<'a> {
    fn new(reduce: &ArgReduce<'a>, data_type: DataType, (index_type, max): (&'static str, u64)) -> Result<Self, Error> {
        if !data_type.has_kernels() {
            return Err(Error::NoKernels { data_type });
        }
        let &ArgReduce { options, is_absolute, input: output, .. } = reduce;
        let function = reduce.function.ok_or(Error::TwoFunctions)?;
        let mismatch = |of| Error::SegmentsMismatch { of, are_segments: reduce.segments.is_some() };
        let segments = reduce.segments.ok_or(mismatch("plan_segments"))?;
        let is_said = [
            (!matches!(reduce.axes, Err(AxisError::NoAxes)), "axes"),
            (reduce.output.is_some(), "output layout"),
            (reduce.window.is_some(), "window"),
            (reduce.is_cumulative || reduce.is_reversed, "best so far"),
        ];
        if let Some((_, of)) = is_said.into_iter().find(|(is_said, _)| *is_said) {
            return Err(mismatch(of));
        }
        let fill = check_fill(reduce.fill, (index_type, max))?;
        let indices = if is_absolute { segments.ends[1] } else { segments.longest };
        if indices as u64 > max.saturating_add(1) {
            return Err(Error::IndexTooLarge { largest: indices - 1, index_type, max });
        }
        let isa = plan_isa(reduce.isa)?.widest;
        options.key.check(data_type)?;
        let keys = options.key.copier(isa, data_type);
        let compared = keys.map_or(data_type, |keys| keys.key_type());
        let kernel = kernel_of(compared, isa, Strategy::Rows, function, options.nan_policy);
        let kernel = kernel.ok_or(Error::IsaNotAvailable { isa })?;
        #[rustfmt::skip]
        let plan = UntypedSegmentPlan {
            segments, function, kernel, keys, options, fill, is_absolute, data_type, index_type, isa, output,
        };
        Ok(plan)
    }

    /// As [`SegmentPlan::run`], on bytes.
    ///
    /// # Errors
    /// As [`SegmentPlan::run`], and [`Error::Misaligned`].
    pub fn run<'i, 'o>(
        &self,
        input: impl Into<Input<'i, u8>>,
        output: impl Into<UntypedOutput<'o>>,
    ) -> Result<(), Error> {
        let (output, types) = (output.into(), DataType::ALL.into_iter());
        let index_type = types.into_iter().find(|of| of.name() == self.index_type).expect("made of one");
        let places = output.places(Names::OF_ONE, self.data_type, index_type)?;
        if places.are_partial {
            return Err(no_partial_answers());
        }
        let input = input.into().of_bytes(self.data_type)?;
        self.run_erased(&(Names::OF_ONE, self.index_type), &input, places.slices)
    }

    /// Writes indices and values. All of it is checked before one is written.
    fn run_erased(
        &self,
        named: &Named,
        &ErasedInput { elements, mask, executor }: &ErasedInput<'_>,
        mut slices: OutputSlices<'_>,
    ) -> Result<(), Error> {
        let (segments, count) = (self.segments, self.segments.count());
        if let Some(values) = &slices.values {
            check_len(named.0.values, self.data_type.name(), values.len(), count)?;
        }
        check_len(named.0.indices, named.1, slices.indices.len(), count)?;
        if segments.ends[1] > elements.len() {
            segments.offsets.segments(elements.len())?;
        }
        let whole = Layout::contiguous(&[elements.len()])?;
        let mask = mask.map(|mask| mask.places(&whole)).transpose()?;
        let mask = mask.filter(|mask| elements.len() > 0 && !are_all_there(mask, whole.sizes()));
        let fill = self.fill.unwrap_or(0);
        let call_mask = mask.map(|mask| CallMask::new(mask, self.isa, fill, None));
        let search = SegmentSearch {
            segments,
            isa: self.isa,
            kernel: self.kernel,
            order: (self.function, self.options.nan_policy),
            input: elements,
            mask: call_mask.as_ref(),
            keys: self.keys,
            last_wins: self.options.direction == AxisDirection::Decreasing,
            is_absolute: self.is_absolute,
            fill,
            row: &|segment, executor| self.find_in_row(segment, &ErasedInput { elements, mask: None, executor }, mask),
        };
        match search.run(&mut slices, executor)? {
            Some(output) if self.fill.is_none() => Err(Error::NothingThere { output: vec![output] }),
            _ => Ok(()),
        }
    }

    /// Where in a segment the best is: by a plan for it alone, which threads may share. `None` if nothing is there.
    #[inline(never)]
    fn find_in_row(
        &self,
        segment: Range<usize>,
        input: &ErasedInput<'_>,
        mask: Option<MaskPlaces<'_>>,
    ) -> Option<usize> {
        let (mut plan, mut found) = (ErasedPlan::EMPTY, [0_u64]);
        let layout = Layout::strided(&[segment.len()], &[1], segment.start).expect("a part of a slice");
        let reduce = ArgReduce::new(self.function, &layout).all_axes().options(self.options).isa(self.isa);
        plan.plan(&reduce, self.data_type, (u64::NAME, u64::MAX)).expect("of the same options");
        let start = |mask: &MaskPlaces<'_>| mask.start.wrapping_add_signed(segment.start as isize * mask.strides[0]);
        let mask = mask.map(|mask| MaskPlaces { start: start(&mask), ..mask });
        let mut slices = OutputSlices { indices: Indices::from(&mut found[..]), values: None };
        let search = |search: Search<'_, 1>| run(search, [&mut slices], input.executor);
        let nothing = Plans::from(&plan).search(input.elements, mask, -1, search);
        nothing.is_none().then_some(found[0] as usize)
    }
}

impl fmt::Display for UntypedSegmentPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UntypedSegmentPlan { segments, data_type, index_type, isa, options, .. } = self;
        let (name, count, longest) = (self.function.name(), segments.count(), segments.longest);
        write!(f, "{name} of {data_type} in {count} segments, the longest of {longest}, to {index_type}")?;
        f.write_str(", ")?;
        options.fmt_words(f)?;
        write!(f, ": {isa}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Executor, NanPolicy, ScopedThreads, input};

    /// What offsets become that somebody changes between planning and running, as only foreign memory can: they are
    /// looked at again, and nothing beyond the input is read.
    #[test]
    fn offsets_that_have_changed() {
        let x = vec![1.0_f32; 10_000];
        let planned: Vec<i64> = (0..=2000).map(|n| 5 * n).collect();
        let threads: [&dyn Executor; 2] = [&crate::Sequential, &ScopedThreads::new(3)];
        for (position, offset, most) in [
            (0, -1, 10_000),
            (0, 7, 10_000),
            (0, 10_001, 10_000),
            (2000, 10_001, 10_000),
            (2000, i64::MAX, 10_000),
            (1024, 5121, 5120),
            (700, 3501, 3500),
            (700, i64::MIN, 3500),
        ] {
            let mut changed = planned.clone();
            changed[position] = offset;
            for executor in threads {
                let mut plan = ArgReduce::argmax(&Segments::new(&planned).unwrap())
                    .nan_policy(NanPolicy::Ignore)
                    .plan_segments::<f32, u32>()
                    .unwrap();
                plan.erased.segments.offsets = crate::Offset::offsets(&changed);
                let error = plan.run(input(&x).on(executor), &mut vec![7; 2000]).unwrap_err();
                let Error::OffsetOutOfRange { position: found, offset: read, max, .. } = error else {
                    panic!("{error}")
                };
                // Of the first one, it is the next that is less.
                let expected = if offset == 7 { (1, 5, 12) } else { (position, offset as isize, most) };
                assert_eq!((found, read, max), expected);
            }
        }
    }
}
