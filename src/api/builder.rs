//! [`ArgReduce`] collects what the caller asks for, checks it, and makes a plan of it.

use super::erased::ErasedPlan;
use super::plan::Plan;
use crate::layout::{AxisError, AxisSet, Window, may_overlap};
use crate::planner::{PlanIsa, require_kernels};
use crate::{AxisDirection, Element, Error, Index, Isa, Layout, MAX_RANK, NanPolicy, Options, ReduceFunction};
use std::marker::PhantomData;
use std::sync::OnceLock;

/// What to reduce and how: the input's layout, the axes, and the options, in any order; then [`ArgReduce::plan`].
///
/// ```
/// use argreduce::{ArgReduce, AxisDirection, Layout};
///
/// let scores = Layout::contiguous(&[2, 3, 4])?;
/// let plan = ArgReduce::argmax(&scores).axes(&[1]).direction(AxisDirection::Decreasing).plan::<f32, u32>()?;
/// let mut classes = [0; 8];
/// plan.run(&[1.0; 24], &mut classes)?;
/// assert_eq!(classes, [2; 8]); // all are equal: the last one
/// # Ok::<(), argreduce::Error>(())
/// ```
///
/// The axes have to be said. All else has a default. The input's layout is copied, so that a function may return what
/// it describes of a layout of its own; an [output layout](ArgReduce::output_layout) and a
/// [window](ArgReduce::window) are borrowed.
///
/// ```
/// # use argreduce::{ArgReduce, Error, Layout};
/// fn classes(images: usize) -> Result<ArgReduce<'static>, Error> {
///     let scores = Layout::contiguous(&[images, 21, 64, 64])?;
///     Ok(ArgReduce::argmax(&scores).axes(&[1]))
/// }
/// assert_eq!(classes(8)?.plan::<f32, u32>()?.output_layout().sizes(), [8, 1, 64, 64]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a description does nothing until it is planned and run"]
pub struct ArgReduce<'a> {
    pub(crate) function: ReduceFunction,
    pub(crate) input: Layout,
    pub(crate) axes: Result<AxisSet, AxisError>,
    pub(crate) options: Options,
    pub(crate) output: Option<&'a Layout>,
    pub(crate) isa: Option<Isa>,
    pub(crate) window: Option<Window<'a>>,
    pub(crate) fill: Option<i64>,
}

impl<'a> ArgReduce<'a> {
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
    pub fn new(function: ReduceFunction, input: &Layout) -> Self {
        let (input, axes, options) = (*input, Err(AxisError::NoAxes), Options::new());
        ArgReduce { function, input, axes, options, output: None, isa: None, window: None, fill: None }
    }

    /// The index of the largest element; otherwise as [`ArgReduce::new`].
    #[doc(alias = "argMax")]
    pub fn argmax(input: &Layout) -> Self {
        Self::new(ReduceFunction::ArgMax, input)
    }

    /// The index of the smallest element; otherwise as [`ArgReduce::new`].
    #[doc(alias = "argMin")]
    pub fn argmin(input: &Layout) -> Self {
        Self::new(ReduceFunction::ArgMin, input)
    }

    /// The axes to reduce, in any order, which does not change the answer: an index is always row-major over the
    /// reduced axes in ascending order. Negative axes count from the end. No axes (`&[]`) reduce nothing: each output
    /// is one element, and each index 0.
    ///
    /// Sizes are `usize`, and axes `isize`: write `axis as isize` for one that was counted. A rank is at most 8.
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

    /// Direction and NaN policy together.
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
    /// window changes no index. A part may be empty: see [`Plan::run_partials`]. The sizes of the whole may multiply to
    /// more than any memory holds, but not to more than `usize` does.
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Layout};
    /// // Columns 4 to 6 of a matrix of 2 rows and 10 columns.
    /// let part = Layout::contiguous(&[2, 3])?;
    /// let plan = ArgReduce::argmax(&part).axes(&[1]).window(&[2, 10], &[0, 4]).plan::<f32, u32>()?;
    /// assert_eq!(plan.run_to_vec(&[1.0, 5.0, 2.0, 7.0, 0.0, 7.0])?, [5, 4]);
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
    /// [`Plan::finish_partials`] and [`ArgStream::finish`](crate::ArgStream::finish). Its value has bits of 0. By
    /// default there is none, and such an output is an error.
    ///
    /// ```
    /// # use argreduce::{ArgReduce, Layout, Mask};
    /// let rows = Layout::contiguous(&[2, 3])?;
    /// let plan = ArgReduce::argmax(&rows).axes(&[1]).fill(-1).plan::<f32, i32>()?;
    /// let there = [true, true, false, false, false, false];
    /// assert_eq!(plan.run_masked_to_vec(&[1.0, 5.0, 9.0, 7.0, 0.0, 7.0], Mask::bools(&there))?, [1, -1]);
    ///
    /// let error = ArgReduce::argmax(&rows).axes(&[1]).fill(-1).plan::<f32, u32>().unwrap_err();
    /// assert_eq!(error.to_string(), "the fill -1 does not fit u32, which holds 0 to 4294967295");
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    #[doc(alias = "fill_value")]
    pub fn fill(self, index: i64) -> Self {
        ArgReduce { fill: Some(index), ..self }
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
    /// - [`Error::IsaNotAvailable`], [`Error::UnknownIsa`]: see [`ArgReduce::isa`].
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

/// The ISA that is forced, if it is available, or else the default.
pub(crate) fn plan_isa(forced: Option<Isa>) -> Result<PlanIsa, Error> {
    match forced {
        Some(isa) if isa.is_available() => Ok(PlanIsa { widest: isa, is_forced: true }),
        Some(isa) => Err(Error::IsaNotAvailable { isa }),
        None => default_isa(),
    }
}

/// The ISA for plans that do not force one.
pub(super) fn default_isa() -> Result<PlanIsa, Error> {
    static FROM_ENVIRONMENT: OnceLock<Result<PlanIsa, Error>> = OnceLock::new();
    // As with most environment variables, an empty one counts as not set.
    let from_environment = || match std::env::var_os("ARGREDUCE_ISA").filter(|name| !name.is_empty()) {
        None => Ok(PlanIsa { widest: Isa::detect(), is_forced: false }),
        Some(name) => match name.to_str().and_then(|name| name.parse::<Isa>().ok()) {
            Some(isa) => plan_isa(Some(isa)),
            None => Err(Error::UnknownIsa { name: name.to_string_lossy().into_owned() }),
        },
    };
    match FROM_ENVIRONMENT.get_or_init(from_environment) {
        Ok(isa) => Ok(*isa),
        Err(error) => Err(error.clone()),
    }
}

/// The given output layout, checked, or the default one, in place of `output`.
pub(super) fn check_output(
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
pub(super) fn check_index_range(
    sizes: &[usize],
    axes: AxisSet,
    (index_type, max): (&'static str, u64),
) -> Result<(), Error> {
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
