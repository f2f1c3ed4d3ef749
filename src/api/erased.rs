//! A plan without the types of its elements and indices. What reads and writes by a plan rests on its fields, which are
//! made for one layout together: so they are private, [`ErasedPlan::plan`] alone makes them, and [`ErasedPlan::bind`]
//! alone says that they may run.

use super::description::ArgReduce;
use super::isa::plan_isa;
use crate::exec::{BoundPlan, BoundScan, CallMask, ElementsRef, ScanAxis};
use crate::layout::{AxisSet, PerAxis, Window, may_overlap};
use crate::mask::MaskPlaces;
use crate::planner::{ExecPlan, PlanIsa};
use crate::threads::tasks_for;
use crate::{AxisDirection, DataType, Error, Executor, Isa, Key, Layout, MAX_RANK, NanPolicy, Options, ReduceFunction};
use argreduce_kernels::KeyCopier;
use std::fmt;

/// All of a plan, but for its types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErasedPlan {
    function: ReduceFunction,
    options: Options,
    /// Where elements are not their own keys.
    keys: Option<KeyCopier>,
    axes: AxisSet,
    sizes: PerAxis,
    input: Layout,
    part_start: Option<PerAxis>,
    fill: Option<i64>,
    output: Layout,
    isa: Isa,
    /// Of the best so far, which way.
    walk: Option<Walk>,
    /// [`ExecPlan::EMPTY`] where the output or the part is empty, and of the best so far.
    exec: ExecPlan,
}

/// Which way the best so far goes along its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    pub(crate) axis: usize,
    pub(crate) is_reversed: bool,
}

impl ErasedPlan {
    /// For one output of nothing.
    pub(crate) const EMPTY: ErasedPlan = ErasedPlan {
        function: ReduceFunction::ArgMin,
        options: Options::new(),
        keys: None,
        axes: AxisSet::NONE,
        sizes: PerAxis::NONE,
        input: Layout::SCALAR,
        part_start: None,
        fill: None,
        output: Layout::SCALAR,
        isa: Isa::Portable,
        walk: None,
        exec: ExecPlan::EMPTY,
    };

    /// Makes this plan, which is [`ErasedPlan::EMPTY`], the one that a description asks for. One copy for all pairs of
    /// types, and in place: to copy a plan a few times would take longer than to make it. After an error it is of no
    /// use.
    ///
    /// # Panics
    /// If it is another plan.
    #[inline(never)]
    pub(crate) fn plan(
        &mut self,
        reduce: &ArgReduce<'_>,
        element: DataType,
        (index_type, max_index): (&'static str, u64),
    ) -> Result<(), Error> {
        if !element.has_kernels() {
            return Err(Error::NoKernels { data_type: element });
        }
        let isa = plan_isa(reduce.isa)?;
        self.isa = isa.widest;
        if let Some(of) = misplaced(reduce) {
            return Err(Error::SegmentsMismatch { of, are_segments: reduce.segments.is_some() });
        }
        let sizes = reduce.input.sizes();
        self.axes = reduce.axes?;
        let Some(function) = reduce.function else { return Err(Error::TwoFunctions) };
        (self.function, self.options) = (function, reduce.options);
        if self.options.key != Key::Value {
            self.options.key.check(element)?;
            self.keys = self.options.key.copier(isa.widest, element);
        }
        (self.sizes, self.input) = (reduce.input.only_sizes(), reduce.input);
        self.fill = check_fill(reduce.fill, (index_type, max_index))?;
        self.walk = check_walk(reduce, self.axes)?;
        let reduced = if self.walk.is_some() { AxisSet::NONE } else { self.axes };
        check_output(sizes, reduced, reduce.output, &mut self.output)?;
        let window = reduce.window.unwrap_or(Window::of_whole(sizes));
        if reduce.window.is_some() {
            window.check(sizes)?;
            (self.sizes, self.part_start) = (PerAxis::of(window.whole), Some(PerAxis::of(window.start)));
        }
        // Without outputs there is no index, and so none that could be missing or too large.
        if !(0..sizes.len()).any(|axis| window.whole[axis] == 0 && !reduced.contains(axis)) {
            check_index_range(window.whole, self.axes, (index_type, max_index))?;
        }
        // Not first, where it would wait for the empty plan to be written.
        assert!(self.exec.element_bytes() == 0, "a plan is made once");
        if self.walk.is_none() && self.output.element_count() > 0 && self.empty_axis().is_none() {
            let of_input = (&reduce.input, self.axes, self.options.direction);
            let order = self.order();
            let element = self.keys().map_or(element, |keys| keys.key_type());
            if self.exec.plan(of_input, (&self.output, window), None, isa, element, order).is_none() {
                return Err(Error::IsaNotAvailable { isa: isa.widest });
            }
            if self.keys().is_some() {
                self.exec.cut_for_keys(element, order);
            }
        }
        Ok(())
    }

    /// The plan with an input.
    ///
    /// # Panics
    /// If the input is shorter than its layout needs, or has elements of another size; or for
    /// [`ErasedPlan::EMPTY`].
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn bind<'a>(&'a self, input: ElementsRef<'a>) -> BoundPlan<'a> {
        // SAFETY: `plan` alone makes plans: all of one from one layout. Views come with theirs (`of_view`).
        unsafe { BoundPlan::new(&self.exec, self.order(), self.input.required_len(), input) }
    }

    /// The best so far, of an input.
    ///
    /// # Panics
    /// If the input is shorter than its layout needs; or for a plan of a reduction.
    #[allow(unsafe_code)]
    pub(crate) fn bind_scan<'a>(&'a self, input: ElementsRef<'a>, mask: Option<&'a CallMask<'a>>) -> BoundScan<'a> {
        let Walk { axis, is_reversed } = self.walk.expect("a plan of the best so far");
        let of_axis = ScanAxis {
            axis,
            is_reversed,
            first_index: self.part_start.map_or(0, |start| start[axis]),
            direction: self.options.direction,
        };
        // SAFETY: `plan` alone makes plans, with an output layout that has the input's sizes, and a place for each
        // output. Views come with theirs.
        unsafe {
            BoundScan::new((&self.input, &self.output), of_axis, (self.isa, self.order(), self.keys()), input, mask)
        }
    }

    /// Where a mask of the input has the first element that is visited, if the mask's are as far apart as the input's.
    fn first_alongside(&self, mask: &MaskPlaces<'_>) -> Option<usize> {
        let mut axes = self.input.sizes().iter().zip(self.input.strides()).zip(mask.strides);
        let are_alongside = axes.all(|((&size, &stride), of_mask)| size == 1 || stride == of_mask);
        let first = || mask.start.wrapping_add(self.exec.shape().input.start.wrapping_sub(self.input.offset()));
        are_alongside.then(first)
    }

    /// As [`ErasedPlan::first_alongside`], if this is a plan for one row that `run_masked_row` answers.
    pub(super) fn first_of_row(&self, mask: &MaskPlaces<'_>) -> Option<usize> {
        if self.exec.is_contiguous_row() { self.first_alongside(mask) } else { None }
    }

    /// Makes `exec`, which is a copy of this plan's, what runs for elements of a type under a mask of the input, which
    /// has some. Where the mask has them as far apart as the input does, the loops are the same, and nothing is planned
    /// anew. In place, because to move a plan would take as long as to answer a short row.
    pub(crate) fn put_under(&self, mask: &MaskPlaces<'_>, element: DataType, exec: &mut ExecPlan) {
        if let Some(first) = self.first_alongside(mask) {
            exec.put_under(first);
        } else {
            let of_input = (&self.input, self.axes, self.options.direction);
            // All of it by the plan's ISA, as what is forced.
            let isa = PlanIsa { widest: self.isa, is_forced: true };
            let element = self.keys().map_or(element, |keys| keys.key_type());
            *exec = ExecPlan::EMPTY;
            let planned = exec.plan(of_input, (&self.output, self.window()), Some(mask), isa, element, self.order());
            planned.expect("the ISA is there, as for the plan");
        }
        exec.cut_for_mask(self.keys().is_none());
    }

    #[inline(always)]
    pub(crate) fn function(&self) -> ReduceFunction {
        self.function
    }

    #[inline(always)]
    pub(crate) fn direction(&self) -> AxisDirection {
        self.options.direction
    }

    #[inline(always)]
    pub(crate) fn nan_policy(&self) -> NanPolicy {
        self.options.nan_policy
    }

    /// Which elements are better.
    #[inline(always)]
    pub(crate) fn order(&self) -> (ReduceFunction, NanPolicy) {
        (self.function, self.options.nan_policy)
    }

    pub(crate) fn options(&self) -> Options {
        self.options
    }

    /// What copies elements as their keys, where they are not their own.
    #[inline(always)]
    pub(crate) fn keys(&self) -> Option<KeyCopier> {
        if cfg!(without = "keys") { None } else { self.keys }
    }

    /// Of the best so far, which way.
    #[inline(always)]
    pub(crate) fn walk(&self) -> Option<Walk> {
        // (Said here, so that the compiler makes nothing of what follows.)
        if cfg!(without = "scans") { None } else { self.walk }
    }

    /// How a call on these threads is divided, of elements and indices of so many bytes.
    pub(crate) fn division_on(
        &self,
        executor: &dyn Executor,
        (element_bytes, index_bytes): (usize, usize),
    ) -> impl fmt::Display + use<> {
        match self.walk {
            Some(_) => match tasks_for(executor, self.output.element_count().saturating_mul(element_bytes)) {
                1 => "1 task".to_string(),
                tasks => format!("{tasks} tasks, lines or steps of the best so far"),
            },
            None => self.exec.division_on(executor, index_bytes).to_string(),
        }
    }

    /// An error for what there is none of where this is the best so far.
    pub(crate) fn check_reduces(&self, of: &'static str) -> Result<(), Error> {
        if self.walk.is_some() { Err(Error::CumulativeMismatch { of }) } else { Ok(()) }
    }

    pub(crate) fn axes(&self) -> AxisSet {
        self.axes
    }

    /// Of the whole.
    pub(crate) fn sizes(&self) -> &PerAxis {
        &self.sizes
    }

    /// Of the input: the whole, or a part of it.
    #[inline(always)]
    pub(crate) fn input(&self) -> &Layout {
        &self.input
    }

    #[inline(always)]
    pub(crate) fn output(&self) -> &Layout {
        &self.output
    }

    /// Where the input begins in the whole, if it is but a part.
    pub(crate) fn part_start(&self) -> Option<&PerAxis> {
        self.part_start.as_ref()
    }

    /// The input as a part.
    pub(crate) fn window(&self) -> Window<'_> {
        const ZEROS: [usize; MAX_RANK] = [0; MAX_RANK];
        Window { whole: &self.sizes, start: self.part_start.as_deref().unwrap_or(&ZEROS[..self.sizes.len()]) }
    }

    /// What an output gets of which no element is there, where that is no error.
    pub(crate) fn fill(&self) -> Option<i64> {
        self.fill
    }

    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    #[inline(always)]
    pub(crate) fn exec(&self) -> &ExecPlan {
        &self.exec
    }

    /// The reduced axis along which the part is empty.
    pub(crate) fn empty_axis(&self) -> Option<usize> {
        self.part_start.as_ref()?;
        let sizes = self.input.sizes();
        (0..sizes.len()).find(|&axis| sizes[axis] == 0 && self.axes.contains(axis))
    }

    /// How many elements of the whole each output is chosen from. Where there are no outputs, nothing has checked the
    /// sizes: then it may be `usize::MAX` in place of more.
    pub(crate) fn index_count(&self) -> usize {
        let sizes = (0..self.sizes.len()).filter(|&axis| self.axes.contains(axis)).map(|axis| self.sizes[axis]);
        sizes.fold(1, usize::saturating_mul)
    }

    /// Makes the whole larger, or smaller: what indices are checked by, but not where the elements are.
    pub(crate) fn resize_whole(&mut self, sizes: PerAxis) {
        self.sizes = sizes;
    }
}

/// What a plan of a layout says that is for segments, or the other way round.
fn misplaced(reduce: &ArgReduce<'_>) -> Option<&'static str> {
    match reduce.segments {
        Some(_) => Some("plan of a layout"),
        None => reduce.is_absolute.then_some("absolute indices"),
    }
}

/// Which way the best so far goes, if that is what is asked for.
fn check_walk(reduce: &ArgReduce<'_>, axes: AxisSet) -> Result<Option<Walk>, Error> {
    assert!(!(reduce.is_cumulative && cfg!(without = "scans")), "this build has no scans");
    match (reduce.is_cumulative, axes.len(), axes.first()) {
        (true, 1, Some(axis)) => Ok(Some(Walk { axis, is_reversed: reduce.is_reversed })),
        (true, axes, _) => Err(Error::CumulativeAxes { axes }),
        (false, ..) if reduce.is_reversed => Err(Error::NotCumulative),
        (false, ..) => Ok(None),
    }
}

/// The given output layout, checked, or the default one, in place of `output`.
fn check_output(
    input_sizes: &[usize],
    axes: AxisSet,
    given: Option<&Layout>,
    output: &mut Layout,
) -> Result<(), Error> {
    let rank = input_sizes.len();
    let mut sizes = [1; MAX_RANK];
    for (axis, size) in sizes[..rank].iter_mut().enumerate().filter(|&(axis, _)| !axes.contains(axis)) {
        *size = input_sizes[axis];
    }
    let Some(given) = given else { return output.pack(&sizes[..rank]) };
    if given.sizes().len() != rank {
        return Err(Error::OutputRank { expected: rank, found: given.sizes().len() });
    }
    let mut axes = given.sizes().iter().zip(sizes).enumerate();
    if let Some((axis, (&found, expected))) = axes.find(|(_, (found, expected))| *found != expected) {
        return Err(Error::OutputSize { axis, expected, found });
    }
    if may_overlap(given) {
        return Err(Error::OutputOverlaps);
    }
    *output = *given;
    Ok(())
}

/// The fill, if it fits the type of the indices.
pub(super) fn check_fill(fill: Option<i64>, (index_type, max): (&'static str, u64)) -> Result<Option<i64>, Error> {
    // The largest value of a signed type is the complement of the smallest.
    let min = if index_type.starts_with('i') { !(max as i64) } else { 0 };
    match fill {
        Some(fill) if fill < min || fill > 0 && fill as u64 > max => {
            Err(Error::FillOutOfRange { fill, index_type, min, max })
        }
        _ => Ok(fill),
    }
}

/// That the largest index fits its type.
fn check_index_range(sizes: &[usize], axes: AxisSet, (index_type, max): (&'static str, u64)) -> Result<(), Error> {
    let reduced = || sizes.iter().enumerate().filter(|&(axis, _)| axes.contains(axis));
    if let Some((axis, _)) = reduced().find(|&(_, &size)| size == 0) {
        return Err(Error::EmptyReduction { axis, of: "tensor" });
    }
    // No size is 0 now, so this divides the number of elements of the whole, and cannot overflow.
    let largest = reduced().map(|(_, &size)| size).product::<usize>() - 1;
    if largest as u64 > max {
        return Err(Error::IndexTooLarge { largest, index_type, max });
    }
    Ok(())
}
