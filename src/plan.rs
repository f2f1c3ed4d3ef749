//! The caller's words, checked and decided: [`ArgReduce`] collects them, [`Plan`] holds what came of them. No element is looked at here.

use crate::collapse::{Nest, Problem};
use crate::layout::AxisSet;
use crate::overlap;
use crate::run::{self, Memory};
use crate::{AxisDirection, Element, Error, Index, Isa, Layout, MAX_RANK, NanPolicy, ReduceFunction, Strategy};
use argreduce_kernels::Kernel;
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
    axes: Axes<'a>,
    direction: AxisDirection,
    nan_policy: NanPolicy,
    output: Option<&'a Layout>,
    isa: Option<Isa>,
}

#[derive(Clone, Copy, Debug)]
enum Axes<'a> {
    All,
    These(&'a [isize]),
}

impl<'a> ArgReduce<'a> {
    /// A reduction over no axes yet: each output is one element, and each index 0.
    pub fn new(function: ReduceFunction, input: &'a Layout) -> Self {
        ArgReduce {
            function,
            input,
            axes: Axes::These(&[]),
            direction: AxisDirection::default(),
            nan_policy: NanPolicy::default(),
            output: None,
            isa: None,
        }
    }

    /// The index of the largest element; otherwise as [`ArgReduce::new`].
    pub fn argmax(input: &'a Layout) -> Self {
        Self::new(ReduceFunction::ArgMax, input)
    }

    /// The index of the smallest element; otherwise as [`ArgReduce::new`].
    pub fn argmin(input: &'a Layout) -> Self {
        Self::new(ReduceFunction::ArgMin, input)
    }

    /// The axes to reduce, in any order, which does not change the answer: an index is always row-major over the reduced axes in
    /// ascending order. Negative axes count from the end.
    pub fn axes(self, axes: &'a [isize]) -> Self {
        ArgReduce { axes: Axes::These(axes), ..self }
    }

    /// Reduces the whole tensor to one index.
    pub fn all_axes(self) -> Self {
        ArgReduce { axes: Axes::All, ..self }
    }

    /// Which of equal elements to take; by default the first.
    pub fn direction(self, direction: AxisDirection) -> Self {
        ArgReduce { direction, ..self }
    }

    /// Where NaN stands among the numbers; by default before all of them.
    pub fn nan_policy(self, nan_policy: NanPolicy) -> Self {
        ArgReduce { nan_policy, ..self }
    }

    /// Where to write the indices: the input's sizes, 1 on each reduced axis, and any strides that keep the outputs apart. By default
    /// packed in row-major order.
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
        let isa = match self.isa {
            Some(isa) if isa.is_available() => isa,
            Some(isa) => return Err(Error::IsaNotAvailable { isa }),
            None => default_isa()?,
        };
        let sizes = self.input.sizes();
        let axes = match self.axes {
            Axes::All => AxisSet::all(sizes.len()),
            Axes::These(axes) => AxisSet::new(axes, sizes.len())?,
        };
        let output = output_layout(sizes, axes, self.output)?;
        let mut plan = Plan {
            function: self.function,
            direction: self.direction,
            nan_policy: self.nan_policy,
            axes,
            input: *self.input,
            output,
            isa,
            work: None,
            types: PhantomData,
        };
        if output.element_count() > 0 {
            check_index_range::<I>(sizes, axes)?;
            let problem = Problem::new(self.input, axes, self.direction, &output);
            plan.work = Some(Work::choose::<T>(problem, isa, self.function, self.nan_policy)?);
        }
        Ok(plan)
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

/// The given output layout, checked, or the default one.
fn output_layout(input_sizes: &[usize], axes: AxisSet, given: Option<&Layout>) -> Result<Layout, Error> {
    let rank = input_sizes.len();
    let mut sizes = [1; MAX_RANK];
    for (axis, size) in sizes[..rank].iter_mut().enumerate().filter(|&(axis, _)| !axes.contains(axis)) {
        *size = input_sizes[axis];
    }
    let Some(&output) = given else { return Layout::contiguous(&sizes[..rank]) };
    if output.sizes().len() != rank {
        return Err(Error::OutputRank { expected: rank, found: output.sizes().len() });
    }
    let mut axes = output.sizes().iter().zip(sizes).enumerate();
    if let Some((axis, (&found, expected))) = axes.find(|(_, (found, expected))| *found != expected) {
        return Err(Error::OutputSize { axis, expected, found });
    }
    if overlap::is_possible(&output) { Err(Error::OutputOverlaps) } else { Ok(output) }
}

fn check_index_range<I: Index>(sizes: &[usize], axes: AxisSet) -> Result<(), Error> {
    let reduced = || sizes.iter().enumerate().filter(|&(axis, _)| axes.contains(axis));
    if let Some((axis, _)) = reduced().find(|&(_, &size)| size == 0) {
        return Err(Error::EmptyReduction { axis });
    }
    // No size is 0 now, so this divides the number of elements, and cannot overflow.
    let largest = reduced().map(|(_, &size)| size).product::<usize>() - 1;
    if largest as u64 > I::MAX {
        return Err(Error::IndexTooLarge { largest, index_type: I::NAME, max: I::MAX });
    }
    Ok(())
}

/// What there is to do where the output is not empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) problem: Problem,
    /// How many elements each output is chosen from, as far as they are looked at.
    pub(crate) visited: usize,
    /// `None` where each output has a single element to choose from.
    pub(crate) kernel: Option<(Strategy, Kernel)>,
}

impl Work {
    fn choose<T: Element>(
        problem: Problem,
        isa: Isa,
        function: ReduceFunction,
        nan_policy: NanPolicy,
    ) -> Result<Work, Error> {
        let visited = problem.reduced.count();
        let strategy = choose_strategy(&problem, visited, isa.vector_bytes(), size_of::<T>());
        let with_kernel = |strategy| {
            let kernel = argreduce_kernels::kernel::<T>(isa, strategy, function, nan_policy);
            kernel.map(|kernel| (strategy, kernel)).ok_or(Error::IsaNotAvailable { isa })
        };
        Ok(Work { problem, visited, kernel: strategy.map(with_kernel).transpose()? })
    }
}

/// The one place where shapes are told apart; sizes in bytes. `None` where there is nothing to choose from.
fn choose_strategy(problem: &Problem, visited: usize, vector_size: usize, element_size: usize) -> Option<Strategy> {
    let (lanes, shortest_row) = (vector_size / element_size, shortest_row(element_size));
    if visited == 1 {
        return None;
    }
    let takes = |strategy: Strategy| strategy.takes(problem.inner(), &problem.reduced, lanes);
    // Narrow lines of few rows are gathered side by side first.
    let has_columns = takes(Strategy::Columns) && (problem.inner().size >= 2 * lanes || visited > SHORTEST_COLUMN);
    let block = visited.saturating_mul(problem.inner().size).saturating_mul(element_size);
    let has_lanes = problem.input.loops.count() >= lanes.div_ceil(2);
    Some(if takes(Strategy::Rows) && (visited >= shortest_row || !has_lanes) {
        Strategy::Rows
    } else if has_columns {
        Strategy::Columns
    } else if takes(Strategy::FoldedColumns) && block >= SMALLEST_FOLDED {
        Strategy::FoldedColumns
    } else if has_lanes && !Strategy::Pieces.is_near(&problem.reduced) {
        Strategy::PackedColumns
    } else {
        Strategy::Pieces
    })
}

/// Bytes of columns from which on folding them is faster than packing: comparing the candidates takes 60 to 80 ns, and the rest is three times as
/// fast. (Zen 3, AVX2, in L2, of `read`, packed and folded: 40 rows of 5 f32 0.12 and 0.12, of 3 f32 0.12 and 0.08; 1000 rows of 8 u8 0.08
/// and 0.32, 100 rows of 31 u8 0.24 and 0.26, of 5 u8 0.07 and 0.05.)
const SMALLEST_FOLDED: usize = 1024;

/// A line of outputs costs a few ns however few rows it has.
const SHORTEST_COLUMN: usize = 8;

/// From how many elements on a row on its own is faster than its share of packed columns, by the size of an element. Transposing 2, 3, 4 or 6
/// columns is a few shuffles, and a row takes the time of some 20 instructions, however short. (Zen 3, AVX2, in L2, of `read`: u8 rows
/// of 4, 6, 7 and 8 packed 0.24, 0.19, 0.06 and 0.08, as rows 0.08, 0.10, 0.09 and 0.13; f32 rows of 4, 6, 7 and 8 packed 0.21, 0.22, 0.12
/// and 0.22, as rows 0.12, 0.18, 0.20 and 0.26.)
const fn shortest_row(size: usize) -> usize {
    match size {
        2 | 8 => 5,
        _ => 7,
    }
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
    function: ReduceFunction,
    direction: AxisDirection,
    nan_policy: NanPolicy,
    axes: AxisSet,
    input: Layout,
    output: Layout,
    isa: Isa,
    work: Option<Work>,
    types: PhantomData<fn(T) -> I>,
}

impl<T, I> Clone for Plan<T, I> {
    fn clone(&self) -> Self {
        Plan { types: PhantomData, ..*self }
    }
}

impl<T: Element, I: Index> Plan<T, I> {
    /// Writes the index of the best element of each output, at the places of [`Plan::output_layout`]. What lies between those
    /// places is left alone.
    ///
    /// # Errors
    /// [`Error::TooShort`] for a slice shorter than [`Layout::required_len`] of its layout; then nothing is written.
    pub fn run(&self, input: &[T], indices: &mut [I]) -> Result<(), Error> {
        self.run_checked(input.into(), indices, None)
    }

    /// As [`Plan::run`], and also copies the best elements themselves, bit for bit, to `values`: packed in row-major order.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_with_values(&self, input: &[T], indices: &mut [I], values: &mut [T]) -> Result<(), Error> {
        let required = self.output.element_count();
        check_len("values", T::DATA_TYPE.name(), values.len(), required)?;
        self.run_checked(input.into(), indices, Some(values))
    }

    pub(crate) fn check_input(&self, input: Memory<'_, T>) -> Result<(), Error> {
        check_len("input", T::DATA_TYPE.name(), input.len(), self.input.required_len())
    }

    #[cfg(test)]
    pub(crate) fn work(&self) -> Option<&Work> {
        self.work.as_ref()
    }

    pub(crate) fn run_checked(
        &self,
        input: Memory<'_, T>,
        indices: &mut [I],
        values: Option<&mut [T]>,
    ) -> Result<(), Error> {
        self.check_input(input)?;
        check_len("output", I::NAME, indices.len(), self.output.required_len())?;
        if let Some(work) = &self.work {
            run::run(work, self.function, self.nan_policy, &self.input, input, indices, values);
        }
        Ok(())
    }

    /// Where indices are written. Reduced axes have size 1; [`drop_axes`](crate::drop_axes) drops them from a list of sizes.
    pub fn output_layout(&self) -> &Layout {
        &self.output
    }

    /// The instruction set that was chosen.
    pub fn isa(&self) -> Isa {
        self.isa
    }
}

fn check_len(slice: &'static str, element_type: &'static str, len: usize, required: usize) -> Result<(), Error> {
    if len < required { Err(Error::TooShort { slice, element_type, required, len }) } else { Ok(()) }
}

impl<T: Element, I: Index> fmt::Display for Plan<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: &mut dyn Iterator<Item = usize> =
            &mut (0..self.input.sizes().len()).filter(|&axis| self.axes.contains(axis));
        write!(f, "{} of {} {:?} over axes ", self.function, T::DATA_TYPE, self.input.sizes())?;
        f.debug_list().entries(axes).finish()?;
        write!(f, " to {} {:?}, {}, nan {}: ", I::NAME, self.output.sizes(), self.direction, self.nan_policy)?;
        let Some(Work { problem, kernel, .. }) = &self.work else { return f.write_str("no outputs") };
        write!(f, "outputs ")?;
        fmt_sizes(f, &problem.input.loops)?;
        f.write_str(" of ")?;
        fmt_sizes(f, &problem.reduced)?;
        if !problem.output.copies.is_empty() {
            f.write_str(", copied to ")?;
            fmt_sizes(f, &problem.output.copies)?;
        }
        match kernel {
            Some((Strategy::Pieces, _)) if !Strategy::Pieces.is_in_place(&problem.reduced) => {
                write!(f, ", packed pieces, {}", self.isa)
            }
            Some((strategy, _)) => write!(f, ", {strategy}, {}", self.isa),
            None => f.write_str(", known without a look"),
        }
    }
}

fn fmt_sizes(f: &mut fmt::Formatter<'_>, nest: &Nest) -> fmt::Result {
    f.debug_list().entries(nest.iter().map(|l| l.size)).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each limit from both sides, by vectors of 32 bytes. No answer depends on what is chosen, so that no other test sees a limit move.
    #[test]
    fn tells_shapes_apart() {
        use Strategy::{Columns, FoldedColumns, PackedColumns, Pieces, Rows};
        let chosen = |sizes: &[usize], axes: &[isize], element_size| {
            let input = Layout::contiguous(sizes).unwrap();
            let set = AxisSet::new(axes, sizes.len()).unwrap();
            let output = output_layout(sizes, set, None).unwrap();
            let problem = Problem::new(&input, set, AxisDirection::Increasing, &output);
            choose_strategy(&problem, problem.reduced.count(), 32, element_size)
        };
        type Case = (&'static [usize], &'static [isize], usize, Option<Strategy>);
        let cases: [Case; 33] = [
            (&[100, 1], &[1], 4, None),
            (&[100, 2], &[1], 4, Some(PackedColumns)),
            // Rows, or so many short ones that they fill half a vector.
            (&[100, 6], &[1], 4, Some(PackedColumns)),
            (&[100, 7], &[1], 4, Some(Rows)),
            (&[100, 6], &[1], 1, Some(PackedColumns)),
            (&[100, 7], &[1], 1, Some(Rows)),
            (&[100, 4], &[1], 2, Some(PackedColumns)),
            (&[100, 5], &[1], 2, Some(Rows)),
            (&[100, 4], &[1], 8, Some(PackedColumns)),
            (&[100, 5], &[1], 8, Some(Rows)),
            (&[3, 6], &[1], 4, Some(Rows)),
            (&[4, 6], &[1], 4, Some(PackedColumns)),
            (&[15, 6], &[1], 1, Some(Rows)),
            (&[16, 6], &[1], 1, Some(PackedColumns)),
            // Columns, unless they are both narrow and short.
            (&[2, 16], &[0], 4, Some(Columns)),
            (&[2, 15], &[0], 4, Some(PackedColumns)),
            (&[8, 15], &[0], 4, Some(PackedColumns)),
            (&[9, 15], &[0], 4, Some(Columns)),
            (&[9, 8], &[0], 4, Some(Columns)),
            (&[9, 7], &[0], 4, Some(PackedColumns)),
            // Folded from 1 KiB on.
            (&[63, 4], &[0], 4, Some(PackedColumns)),
            (&[64, 4], &[0], 4, Some(FoldedColumns)),
            (&[85, 3], &[0], 4, Some(Pieces)),
            (&[86, 3], &[0], 4, Some(FoldedColumns)),
            (&[511, 2], &[0], 1, Some(Pieces)),
            (&[512, 2], &[0], 1, Some(FoldedColumns)),
            (&[1000, 8], &[0], 4, Some(Columns)),
            // Stretches that are long, or elements that are near each other; of few outputs, any.
            (&[2, 100, 31], &[0, 2], 4, Some(PackedColumns)),
            (&[2, 100, 32], &[0, 2], 4, Some(Pieces)),
            (&[2, 3, 31], &[0, 2], 4, Some(Pieces)),
            (&[50, 2, 100, 2], &[0, 2], 4, Some(PackedColumns)),
            (&[3, 100, 256, 4], &[0, 2], 4, Some(Pieces)),
            (&[3, 100, 255, 4], &[0, 2], 4, Some(PackedColumns)),
        ];
        for (sizes, axes, element_size, expected) in cases {
            assert_eq!(chosen(sizes, axes, element_size), expected, "{sizes:?} over {axes:?}, {element_size} bytes");
        }
    }
}
