//! The caller's words, checked and decided: [`ArgReduce`] collects them, [`Plan`] holds what came of them. No element is looked at here.

use crate::index::Indices;
use crate::layout::{AxisError, AxisSet, PerAxis};
use crate::overlap;
use crate::run::{self, Memory};
use crate::unravel::{Coordinates, coordinates_of};
use crate::work::Work;
use crate::{
    AxisDirection, DataType, Element, Error, Index, Isa, Layout, Loop, MAX_RANK, NanPolicy, Options, ReduceFunction,
    Strategy,
};
use std::fmt;
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
/// assert_eq!(classes, [2; 8]); // the last of equals
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a description does nothing until it is planned and run"]
pub struct ArgReduce<'a> {
    function: ReduceFunction,
    input: &'a Layout,
    axes: Result<AxisSet, AxisError>,
    options: Options,
    output: Option<&'a Layout>,
    isa: Option<Isa>,
}

impl<'a> ArgReduce<'a> {
    /// A reduction over no axes yet: each output is one element, and each index 0.
    pub fn new(function: ReduceFunction, input: &'a Layout) -> Self {
        ArgReduce { function, input, axes: Ok(AxisSet::NONE), options: Options::new(), output: None, isa: None }
    }

    /// The index of the largest element; otherwise as [`ArgReduce::new`].
    #[doc(alias = "argMax")]
    pub fn argmax(input: &'a Layout) -> Self {
        Self::new(ReduceFunction::ArgMax, input)
    }

    /// The index of the smallest element; otherwise as [`ArgReduce::new`].
    #[doc(alias = "argMin")]
    pub fn argmin(input: &'a Layout) -> Self {
        Self::new(ReduceFunction::ArgMin, input)
    }

    /// The axes to reduce, in any order, which does not change the answer: an index is always row-major over the reduced axes in
    /// ascending order. Negative axes count from the end.
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

    /// Both of these at once.
    pub fn options(self, options: impl Into<Options>) -> Self {
        ArgReduce { options: options.into(), ..self }
    }

    /// Where to write the indices: the input's sizes, 1 on each reduced axis, and any strides that keep the outputs apart. By default
    /// packed in row-major order.
    #[doc(alias = "keepdims")]
    pub fn output_layout(self, output: &'a Layout) -> Self {
        ArgReduce { output: Some(output), ..self }
    }

    /// Forces an instruction set. By default the one that the environment variable `ARGREDUCE_ISA` names (it is read once per
    /// process), or else [`Isa::detect`]. The answer never depends on it.
    pub fn isa(self, isa: Isa) -> Self {
        ArgReduce { isa: Some(isa), ..self }
    }

    /// Checks all of it, and decides how to run. Takes no heap memory.
    ///
    /// # Errors
    /// - [`Error::AxisOutOfRange`], [`Error::DuplicateAxis`]: see [`ArgReduce::axes`].
    /// - [`Error::OutputRank`], [`Error::OutputSize`], [`Error::OutputOverlaps`]: see [`ArgReduce::output_layout`].
    /// - [`Error::EmptyReduction`] for a reduced axis of size 0, and [`Error::IndexTooLarge`] where `I` may not hold an index; but not
    ///   where the output is empty, because then there is no index.
    /// - [`Error::IsaNotAvailable`], [`Error::UnknownIsa`]: see [`ArgReduce::isa`].
    pub fn plan<T: Element, I: Index>(self) -> Result<Plan<T, I>, Error> {
        // In place: to move a plan as often as is easily written takes longer than all else.
        let mut plan = Ok(Plan { decided: Decided::EMPTY, types: PhantomData });
        if let Ok(Plan { decided, .. }) = &mut plan
            && let Err(error) = self.decide(T::DATA_TYPE, (I::NAME, I::MAX), decided)
        {
            plan = Err(error);
        }
        plan
    }

    /// One copy for all types, of which there are 52 pairs.
    #[inline(never)]
    pub(crate) fn decide(
        self,
        element: DataType,
        (index_type, max_index): (&'static str, u64),
        decided: &mut Decided,
    ) -> Result<(), Error> {
        decided.isa = match self.isa {
            Some(isa) if isa.is_available() => isa,
            Some(isa) => return Err(Error::IsaNotAvailable { isa }),
            None => default_isa()?,
        };
        let sizes = self.input.sizes();
        decided.axes = self.axes?;
        let (direction, nan_policy) = (self.options.direction, self.options.nan_policy);
        (decided.function, decided.direction, decided.nan_policy) = (self.function, direction, nan_policy);
        (decided.sizes, decided.required_len) = (self.input.only_sizes(), self.input.required_len());
        decide_output(sizes, decided.axes, self.output, &mut decided.output)?;
        if decided.output.element_count() > 0 {
            check_index_range(sizes, decided.axes, (index_type, max_index))?;
            let work = &mut decided.work;
            work.problem.collapse(self.input, decided.axes, direction, &decided.output);
            let isa = decided.isa;
            work.choose(isa, element, (self.function, nan_policy)).ok_or(Error::IsaNotAvailable { isa })?;
        }
        Ok(())
    }
}

/// The ISA for plans that do not force one.
pub(crate) fn default_isa() -> Result<Isa, Error> {
    static FROM_ENVIRONMENT: OnceLock<Result<Isa, Error>> = OnceLock::new();
    // As with most variables, an empty one is as good as none.
    let from_environment = || match std::env::var_os("ARGREDUCE_ISA").filter(|name| !name.is_empty()) {
        None => Ok(Isa::detect()),
        Some(name) => match name.to_str().and_then(|name| name.parse::<Isa>().ok()) {
            Some(isa) if isa.is_available() => Ok(isa),
            Some(isa) => Err(Error::IsaNotAvailable { isa }),
            None => Err(Error::UnknownIsa { name: name.to_string_lossy().into_owned() }),
        },
    };
    match FROM_ENVIRONMENT.get_or_init(from_environment) {
        Ok(isa) => Ok(*isa),
        Err(error) => Err(error.clone()),
    }
}

/// The given output layout, checked, or the default one, in place of `output`.
fn decide_output(
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
    if overlap::is_possible(given) {
        return Err(Error::OutputOverlaps);
    }
    *output = *given;
    Ok(())
}

fn check_index_range(sizes: &[usize], axes: AxisSet, (index_type, max): (&'static str, u64)) -> Result<(), Error> {
    let reduced = || sizes.iter().enumerate().filter(|&(axis, _)| axes.contains(axis));
    if let Some((axis, _)) = reduced().find(|&(_, &size)| size == 0) {
        return Err(Error::EmptyReduction { axis });
    }
    // No size is 0 now, so this divides the number of elements, and cannot overflow.
    let largest = reduced().map(|(_, &size)| size).product::<usize>() - 1;
    if largest as u64 > max {
        return Err(Error::IndexTooLarge { largest, index_type, max });
    }
    Ok(())
}

/// A reduction that is ready to run, as often as wanted, from any number of threads: checked, collapsed, with its kernel chosen.
///
/// Holds no heap memory, and running it allocates nothing. Displays what was asked, what it collapsed to, and how it will run:
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
    decided: Decided,
    types: PhantomData<fn(T) -> I>,
}

/// All of a plan, but for its types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    function: ReduceFunction,
    direction: AxisDirection,
    nan_policy: NanPolicy,
    axes: AxisSet,
    /// Of the input, and how long a slice it needs.
    sizes: PerAxis,
    pub(crate) required_len: usize,
    pub(crate) output: Layout,
    pub(crate) isa: Isa,
    /// [`Work::EMPTY`] where the output is.
    work: Work,
}

impl<T, I> Clone for Plan<T, I> {
    fn clone(&self) -> Self {
        Plan { ..*self }
    }
}

impl<T: Element, I: Index> Plan<T, I> {
    /// Writes the index of the best element of each output, at the places of [`Plan::output_layout`]. What lies between those
    /// places is left alone.
    ///
    /// # Errors
    /// [`Error::TooShort`] for a slice shorter than [`Layout::required_len`] of its layout; then nothing is written.
    #[inline]
    pub fn run(&self, input: &[T], indices: &mut [I]) -> Result<(), Error> {
        self.decided.run_for_indices(input.into(), I::NAME, I::as_bits(indices))
    }

    /// As [`Plan::run`], and also copies the best elements themselves, bit for bit, to `values`: packed in row-major order.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_with_values(&self, input: &[T], indices: &mut [I], values: &mut [T]) -> Result<(), Error> {
        self.run_checked(input.into(), indices, Some(values))
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
        Ok(self.run_to_vecs(input.into(), false)?.0)
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
        self.run_to_vecs(input.into(), true)
    }

    /// The indices, and the values or none.
    pub(crate) fn run_to_vecs(&self, input: Memory<'_, T>, with_values: bool) -> Result<(Vec<I>, Vec<T>), Error> {
        // First, so that a hostile shape is refused before anything of its size is allocated.
        self.decided.check_input(input)?;
        let mut indices = new_vec("output", I::NAME, self.decided.output.required_len())?;
        let outputs = if with_values { self.decided.output.element_count() } else { 0 };
        let mut values = new_vec("values", T::DATA_TYPE.name(), outputs)?;
        self.run_checked(input, &mut indices, with_values.then_some(&mut values))?;
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
        coordinates_of(index, &self.decided.sizes, self.decided.axes)
    }

    #[cfg(test)]
    pub(crate) fn work(&self) -> &Work {
        &self.decided.work
    }

    pub(crate) fn run_checked(
        &self,
        input: Memory<'_, T>,
        indices: &mut [I],
        values: Option<&mut [T]>,
    ) -> Result<(), Error> {
        self.decided.run(input, I::NAME, I::as_bits(indices), values)
    }

    /// Where indices are written. Reduced axes have size 1; [`drop_axes`](crate::drop_axes) drops them from a list of sizes.
    pub fn output_layout(&self) -> &Layout {
        &self.decided.output
    }

    /// The instruction set that was chosen.
    pub fn isa(&self) -> Isa {
        self.decided.isa
    }
}

/// A vector to write answers to. Sizes of which no element need exist, as those of broadcast layouts, may ask for any
/// amount of memory.
fn new_vec<T: Copy + Default>(slice: &'static str, element_type: &'static str, len: usize) -> Result<Vec<T>, Error> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { slice, element_type, len })?;
    vec.resize(len, T::default());
    Ok(vec)
}

fn check_len(slice: &'static str, element_type: &'static str, len: usize, required: usize) -> Result<(), Error> {
    if len < required { Err(Error::TooShort { slice, element_type, required, len }) } else { Ok(()) }
}

impl<T: Element, I: Index> fmt::Display for Plan<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.decided.fmt(f, T::DATA_TYPE, I::NAME)
    }
}

impl Decided {
    pub(crate) const EMPTY: Decided = Decided {
        function: ReduceFunction::ArgMin,
        direction: AxisDirection::Increasing,
        nan_policy: NanPolicy::Propagate,
        axes: AxisSet::NONE,
        sizes: PerAxis::NONE,
        required_len: 0,
        output: Layout::SCALAR,
        isa: Isa::Portable,
        work: Work::EMPTY,
    };

    fn check_input<T: Element>(&self, input: Memory<'_, T>) -> Result<(), Error> {
        check_len("input", T::DATA_TYPE.name(), input.len(), self.required_len)
    }

    /// As [`Plan::run`], for any index type of that width.
    #[inline(always)]
    pub(crate) fn run_for_indices<T: Element>(
        &self,
        input: Memory<'_, T>,
        index_type: &'static str,
        indices: Indices<'_>,
    ) -> Result<(), Error> {
        let Decided { function, nan_policy, required_len, output, work, .. } = self;
        // A row that a loop or a kernel answers at once: what is done here, beside that, takes as long as 4 elements.
        if work.is_packed_row && input.len() >= *required_len && indices.len() >= output.required_len() {
            run::run_single(work, (*function, *nan_policy), input, indices, None);
            Ok(())
        } else {
            self.run(input, index_type, indices, None)
        }
    }

    /// As [`Plan::run_with_values`], if there are values, for any index type of that width.
    #[inline(never)]
    pub(crate) fn run<T: Element>(
        &self,
        input: Memory<'_, T>,
        index_type: &'static str,
        indices: Indices<'_>,
        values: Option<&mut [T]>,
    ) -> Result<(), Error> {
        let Decided { function, nan_policy, required_len, output, work, .. } = self;
        if let Some(values) = &values {
            check_len("values", T::DATA_TYPE.name(), values.len(), output.element_count())?;
        }
        self.check_input(input)?;
        check_len("output", index_type, indices.len(), output.required_len())?;
        if output.element_count() > 0 {
            run::run(work, (*function, *nan_policy), *required_len, input, indices, values);
        }
        Ok(())
    }

    pub(crate) fn fmt(&self, f: &mut fmt::Formatter<'_>, data_type: DataType, index_type: &str) -> fmt::Result {
        let axes: &mut dyn Iterator<Item = usize> = &mut (0..self.sizes.len()).filter(|&axis| self.axes.contains(axis));
        write!(f, "{} of {} {:?} over axes ", self.function, data_type, self.sizes)?;
        f.debug_list().entries(axes).finish()?;
        write!(f, " to {} {:?}, {}, nan {}: ", index_type, self.output.sizes(), self.direction, self.nan_policy)?;
        if self.output.element_count() == 0 {
            return f.write_str("no outputs");
        }
        let Work { problem, kernel, .. } = &self.work;
        write!(f, "outputs ")?;
        fmt_sizes(f, problem.input.kept())?;
        f.write_str(" of ")?;
        fmt_sizes(f, problem.reduced())?;
        if !problem.output.copies().is_empty() {
            f.write_str(", copied to ")?;
            fmt_sizes(f, problem.output.copies())?;
        }
        match kernel {
            Some((Strategy::Pieces, _)) if !Strategy::Pieces.is_in_place(problem.reduced()) => {
                write!(f, ", packed pieces, {}", self.isa)
            }
            Some((strategy, _)) => write!(f, ", {strategy}, {}", self.isa),
            None => f.write_str(", known without a look"),
        }
    }
}

fn fmt_sizes(f: &mut fmt::Formatter<'_>, loops: &[Loop]) -> fmt::Result {
    f.debug_list().entries(loops.iter().map(|l| l.size)).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a plan says of how it will run.
    #[test]
    fn says_how_it_runs() {
        let how = |sizes: &[usize], strides: &[isize], axes: &[isize]| {
            let layout = Layout::strided(sizes, strides, 0).unwrap();
            let plan = ArgReduce::argmax(&layout).axes(axes).isa(Isa::Portable).plan::<f32, u32>().unwrap();
            plan.to_string().split_once("propagate: ").unwrap().1.to_string()
        };
        assert_eq!(how(&[3, 40], &[40, 1], &[1]), "outputs [3] of [40], rows, portable");
        assert_eq!(how(&[2, 100, 32], &[3200, 32, 1], &[0, 2]), "outputs [100] of [2, 32], pieces, portable");
        assert_eq!(how(&[2, 31], &[40, 1], &[0, 1]), "outputs [] of [2, 31], packed pieces, portable");
        assert_eq!(how(&[3, 40], &[0, 1], &[1]), "outputs [] of [40], copied to [3], rows, portable");
        assert_eq!(how(&[3, 40], &[1, 0], &[1]), "outputs [3] of [1], known without a look");
        assert_eq!(how(&[0, 40], &[40, 1], &[1]), "no outputs");
    }
}
