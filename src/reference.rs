//! The contract as plain loops, to be read beside its table, and to check everything else against. It shares nothing
//! with the planner or the kernels: not the collapse, not the order, not the walk. (But that floats are compared in the
//! default floating-point mode.)

use crate::{AxisDirection, Layout, NanPolicy, ReduceFunction};
use argreduce_kernels::float_mode;

/// The index of the best element for each position of the kept axes, in row-major order of the kept axes.
///
/// `reduced[axis]` tells which axes are reduced. `input` holds every element of `layout`.
///
/// # Panics
/// If `reduced` is not as long as the rank, if `input` is too short, or if a reduced axis has size 0 and the output is
/// not empty.
///
/// ```
/// use argreduce::{AxisDirection, Layout, NanPolicy, ReduceFunction, reference};
/// let layout = Layout::contiguous(&[2, 3])?;
/// let input = [1.0, 9.0, 9.0, f64::NAN, 0.0, 2.0];
/// let last_max = (ReduceFunction::ArgMax, AxisDirection::Decreasing, NanPolicy::Ignore);
/// assert_eq!(reference::arg_reduce(last_max, &layout, &[false, true], &input), [2, 2]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn arg_reduce<T: Copy + PartialOrd>(
    order: (ReduceFunction, AxisDirection, NanPolicy),
    layout: &Layout,
    reduced: &[bool],
    input: &[T],
) -> Vec<usize> {
    let indices = arg_reduce_masked(order, layout, reduced, input, |_| true).into_iter();
    indices.map(|index| index.expect("a reduced axis has size 0")).collect()
}

/// As [`arg_reduce`], of the elements that are there: of number `n` in row-major order of the sizes, `is_there(n)` says
/// so. `None` where no element is.
///
/// # Panics
/// If `reduced` is not as long as the rank, or if `input` is too short.
///
/// ```
/// use argreduce::{AxisDirection, Layout, NanPolicy, ReduceFunction, reference};
/// let layout = Layout::contiguous(&[2, 3])?;
/// let (input, there) = ([1.0, 9.0, 9.0, f64::NAN, 0.0, 2.0], [true, false, true, false, false, false]);
/// let first_max = (ReduceFunction::ArgMax, AxisDirection::Increasing, NanPolicy::Propagate);
/// let indices = reference::arg_reduce_masked(first_max, &layout, &[false, true], &input, |n| there[n]);
/// assert_eq!(indices, [Some(2), None]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn arg_reduce_masked<T: Copy + PartialOrd>(
    order: (ReduceFunction, AxisDirection, NanPolicy),
    layout: &Layout,
    reduced: &[bool],
    input: &[T],
    is_there: impl Fn(usize) -> bool,
) -> Vec<Option<usize>> {
    let mut indices = Vec::new();
    float_mode::in_default(&mut || indices = in_default_mode(order, layout, reduced, input, &is_there));
    indices
}

/// As [`arg_reduce_masked`], in a thread whose floating-point mode is the default one.
#[inline(never)]
fn in_default_mode<T: Copy + PartialOrd>(
    (function, direction, nan_policy): (ReduceFunction, AxisDirection, NanPolicy),
    layout: &Layout,
    reduced: &[bool],
    input: &[T],
    is_there: &dyn Fn(usize) -> bool,
) -> Vec<Option<usize>> {
    let sizes = layout.sizes();
    assert_eq!(reduced.len(), sizes.len(), "one flag per axis");
    // How far each position of the kept axes, or of the reduced ones, is from the first: in the input, and by number.
    let offsets = |of_reduced: bool| {
        let along: Vec<usize> =
            sizes.iter().zip(reduced).map(|(&size, &reduced)| if reduced == of_reduced { size } else { 1 }).collect();
        coordinates(along).map(|coordinates| {
            let offset = coordinates.iter().zip(layout.strides()).map(|(&n, &stride)| n as isize * stride);
            (offset.sum::<isize>(), coordinates.iter().zip(sizes).fold(0, |number, (&n, &size)| number * size + n))
        })
    };
    // Where there is no output, there may be more to choose from than can be listed.
    if sizes.iter().zip(reduced).any(|(&size, &reduced)| size == 0 && !reduced) {
        return Vec::new();
    }
    let along: Vec<(isize, usize)> = offsets(true).collect();

    let mut indices = Vec::new();
    for (kept, kept_number) in offsets(false) {
        let mut best: Option<(usize, T)> = None;
        // The index counts the elements of the sub-tensor in row-major order over the reduced axes, in ascending order
        // of the axes.
        for (index, (along, number)) in along.iter().enumerate() {
            if !is_there(kept_number + number) {
                continue;
            }
            let candidate = input[(layout.offset() as isize + kept + along) as usize];
            let wins = match best {
                None => true,
                Some((_, best)) => match compare(function, nan_policy, candidate, best) {
                    Verdict::Better => true,
                    Verdict::Tie => direction == AxisDirection::Decreasing,
                    Verdict::Worse => false,
                },
            };
            if wins {
                best = Some((index, candidate));
            }
        }
        indices.push(best.map(|(index, _)| index));
    }
    indices
}

enum Verdict {
    Better,
    Tie,
    Worse,
}

/// The candidate against the best so far.
fn compare<T: Copy + PartialOrd>(function: ReduceFunction, nan_policy: NanPolicy, candidate: T, best: T) -> Verdict {
    // NaN is what differs from itself.
    #[allow(clippy::eq_op)]
    let (candidate_is_nan, best_is_nan) = (candidate != candidate, best != best);
    if candidate_is_nan && best_is_nan {
        return Verdict::Tie;
    }
    if candidate_is_nan || best_is_nan {
        let nan_wins = nan_policy == NanPolicy::Propagate;
        return if candidate_is_nan == nan_wins { Verdict::Better } else { Verdict::Worse };
    }
    if candidate == best {
        return Verdict::Tie;
    }
    let is_larger = candidate > best;
    if is_larger == (function == ReduceFunction::ArgMax) { Verdict::Better } else { Verdict::Worse }
}

/// All coordinates within `sizes`, in row-major order.
fn coordinates(sizes: Vec<usize>) -> impl Iterator<Item = Vec<usize>> {
    let count: usize = sizes.iter().product();
    (0..count).map(move |mut n| {
        let mut coordinates = vec![0; sizes.len()];
        for axis in (0..sizes.len()).rev() {
            coordinates[axis] = n % sizes[axis];
            n /= sizes[axis];
        }
        coordinates
    })
}
