//! The contract as plain loops, to be read beside its table, and to check everything else against. It shares nothing
//! with the planner or the kernels: not the collapse, not the order, not the walk. (But that floats are compared in the
//! default floating-point mode.) A [`Key`] is an array of keys.

use crate::{AxisDirection, DataType, Element, Key, Layout, NanPolicy, ReduceFunction, bf16, f16};
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

/// The best so far: for each element, in row-major order of the sizes, the index along `axis` of the best of itself and
/// all before it there, or if it `is_reversed`, of all after it; of the elements that are there, as in
/// [`arg_reduce_masked`]. `None` where no element is yet.
///
/// # Panics
/// If the layout has no such axis, or if `input` is too short.
///
/// ```
/// use argreduce::{AxisDirection, Layout, NanPolicy, ReduceFunction, reference};
/// let layout = Layout::contiguous(&[2, 3])?;
/// let (input, there) = ([1.0, 9.0, 9.0, 0.0, f64::NAN, 2.0], [true, false, true, false, true, true]);
/// let first_max = (ReduceFunction::ArgMax, AxisDirection::Increasing, NanPolicy::Propagate);
/// let indices = reference::arg_cumulative_masked(first_max, &layout, (1, false), &input, |n| there[n]);
/// assert_eq!(indices, [Some(0), Some(0), Some(2), None, Some(1), Some(1)]);
/// let indices = reference::arg_cumulative_masked(first_max, &layout, (1, true), &input, |n| there[n]);
/// assert_eq!(indices, [Some(2), Some(2), Some(2), Some(1), Some(1), Some(2)]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn arg_cumulative_masked<T: Copy + PartialOrd>(
    order: (ReduceFunction, AxisDirection, NanPolicy),
    layout: &Layout,
    (axis, is_reversed): (usize, bool),
    input: &[T],
    is_there: impl Fn(usize) -> bool,
) -> Vec<Option<usize>> {
    assert!(axis < layout.sizes().len(), "no axis {axis} of {:?}", layout.sizes());
    let mut indices = vec![None; layout.element_count()];
    float_mode::in_default(&mut || {
        cumulative_in_default_mode(order, layout, (axis, is_reversed), input, &is_there, &mut indices);
    });
    indices
}

/// As [`arg_cumulative_masked`], in a thread whose floating-point mode is the default one.
#[inline(never)]
fn cumulative_in_default_mode<T: Copy + PartialOrd>(
    (function, direction, nan_policy): (ReduceFunction, AxisDirection, NanPolicy),
    layout: &Layout,
    (axis, is_reversed): (usize, bool),
    input: &[T],
    is_there: &dyn Fn(usize) -> bool,
    indices: &mut [Option<usize>],
) {
    let (sizes, strides) = (layout.sizes(), layout.strides());
    // From one element along the axis to the next, by number.
    let step: usize = sizes[axis + 1..].iter().product();
    for (number, first) in coordinates(sizes.to_vec()).enumerate().filter(|(_, first)| first[axis] == 0) {
        let offset: isize = first.iter().zip(strides).map(|(&n, &stride)| n as isize * stride).sum();
        let mut best: Option<(usize, T)> = None;
        for visited in 0..sizes[axis] {
            let index = if is_reversed { sizes[axis] - 1 - visited } else { visited };
            if is_there(number + index * step) {
                let place = layout.offset() as isize + offset + index as isize * strides[axis];
                let candidate = input[place as usize];
                let wins = best.is_none_or(|(best_index, best)| match compare(function, nan_policy, candidate, best) {
                    Verdict::Better => true,
                    Verdict::Tie => (index > best_index) == (direction == AxisDirection::Decreasing),
                    Verdict::Worse => false,
                });
                if wins {
                    best = Some((index, candidate));
                }
            }
            indices[number + index * step] = best.map(|(index, _)| index);
        }
    }
}

/// What elements are compared by: what any function here is given in place of them, if there is a [`Key`]. Numbers that
/// compare as keys do.
///
/// # Panics
/// If the key is a distance to an element of another type.
///
/// ```
/// use argreduce::{AxisDirection, Key, Layout, NanPolicy, ReduceFunction, reference};
/// let first_max = (ReduceFunction::ArgMax, AxisDirection::Increasing, NanPolicy::Propagate);
/// let keys = reference::keys(Key::distance(100_i8), &[0_i8, -128, 127, 100]);
/// assert_eq!(reference::arg_reduce(first_max, &Layout::contiguous(&[4])?, &[true], &keys), [1]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn keys<T: Element>(key: Key, elements: &[T]) -> Vec<impl Copy + PartialOrd + std::fmt::Debug + use<T>> {
    let mut keys = Vec::new();
    float_mode::in_default(&mut || keys = elements.iter().map(|&x| key_of(key, x)).collect());
    keys
}

/// A number, exact.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Number {
    Integer(i128),
    Float(f64),
}

#[inline(never)]
fn key_of<T: Element>(key: Key, x: T) -> Number {
    let (x, q) = match (key, number(Key::distance(x))) {
        (Key::Value, x) => return x,
        (Key::Magnitude, x @ Number::Integer(_)) => (x, Number::Integer(0)),
        (Key::Magnitude, x) => (x, Number::Float(0.0)),
        (Key::Distance { data_type, .. }, x) => {
            assert_eq!(data_type, T::DATA_TYPE);
            (x, number(key))
        }
    };
    match (x, q) {
        (Number::Integer(x), Number::Integer(q)) => Number::Integer((x - q).abs()),
        (Number::Float(x), Number::Float(q)) => Number::Float(rounded(T::DATA_TYPE, x, q).abs()),
        _ => unreachable!("both are of one type"),
    }
}

/// The element that a key is the distance to.
fn number(key: Key) -> Number {
    let Key::Distance { data_type, bits } = key else { unreachable!("it is a distance") };
    match data_type {
        DataType::F32 => Number::Float(f32::from_bits(bits as u32).into()),
        DataType::F16 => Number::Float(f16::from_bits(bits as u16).into()),
        DataType::Bf16 => Number::Float(bf16::from_bits(bits as u16).into()),
        DataType::F64 => Number::Float(f64::from_bits(bits)),
        DataType::I8 => Number::Integer((bits as i8).into()),
        DataType::I16 => Number::Integer((bits as i16).into()),
        DataType::I32 => Number::Integer((bits as i32).into()),
        DataType::I64 => Number::Integer((bits as i64).into()),
        _ => Number::Integer(bits.into()),
    }
}

/// A difference, rounded to a type. (That of 16-bit floats is exact before, or one is so small beside the other that it
/// changes nothing.)
fn rounded(data_type: DataType, x: f64, q: f64) -> f64 {
    match data_type {
        DataType::F32 => (x as f32 - q as f32).into(),
        DataType::F16 => f16::from_f64(x - q).into(),
        DataType::Bf16 => bf16::from_f64(x - q).into(),
        _ => x - q,
    }
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
