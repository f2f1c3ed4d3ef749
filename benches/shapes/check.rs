//! Is the answer right? Asked of every cell before it is timed, so that no wrong kernel looks fast. Where there are too
//! many outputs for a scalar check, it takes some, from the first to the last; the tests of the crate are what proves
//! it.

use crate::cell::{Geometry, Options};
use crate::element::Sample;
use argreduce::{AxisDirection, Layout, NanPolicy, ReduceFunction, reference};

/// How many elements of one cell are checked, and in how many outputs, but at least three.
const ELEMENTS: usize = 1 << 17;
const OUTPUTS: usize = 1 << 12;

/// From here on a plain loop is asked in place of the reference, which takes some 50 ns per element.
const LONG: usize = 1 << 14;

/// What is wrong, if anything is.
pub fn mistake<T: Sample>(
    geometry: &Geometry,
    options: Options,
    input: &[T],
    index: impl Fn(usize) -> usize,
    values: Option<&[T]>,
) -> Option<String> {
    let (sizes, strides) = (geometry.layout.sizes(), geometry.layout.strides());
    let reduced: Vec<bool> = (0..sizes.len()).map(|axis| geometry.axes.contains(&(axis as isize))).collect();
    let one_size: Vec<usize> =
        sizes.iter().zip(&reduced).map(|(&size, &reduced)| if reduced { size } else { 1 }).collect();
    let len: usize = one_size.iter().product();
    let samples = (ELEMENTS / len).clamp(3, OUTPUTS).min(geometry.outputs);
    for sample in 0..samples {
        let output = if samples == 1 { 0 } else { (geometry.outputs - 1) * sample / (samples - 1) };
        let (mut start, mut rest) = (geometry.layout.offset() as isize, output);
        for axis in (0..sizes.len()).rev().filter(|&axis| !reduced[axis]) {
            start += (rest % sizes[axis]) as isize * strides[axis];
            rest /= sizes[axis];
        }
        let one = Layout::strided(&one_size, strides, start as usize).expect("a part of a layout");
        let expected = if len < LONG {
            let how = (options.function(), options.direction(), options.nan_policy());
            reference::arg_reduce(how, &one, &reduced, input)[0]
        } else {
            by_loop(options, &one, input)
        };
        let found = index(output);
        if found != expected {
            return Some(format!("output {output} is {found}, not {expected}"));
        }
        let best = input[place(&one, expected)];
        if let Some(value) = values.map(|values| values[output])
            && value != best
            && !(value.is_nan() && best.is_nan())
        {
            return Some(format!("value {output} is {value:?}, not {best:?}"));
        }
    }
    None
}

/// Where element `index` of a layout is, in row-major order.
pub fn place(layout: &Layout, mut index: usize) -> usize {
    let mut place = layout.offset() as isize;
    for (&size, &stride) in layout.sizes().iter().zip(layout.strides()).rev() {
        place += (index % size) as isize * stride;
        index /= size;
    }
    place as usize
}

/// The best of a whole layout.
fn by_loop<T: Sample>(options: Options, layout: &Layout, input: &[T]) -> usize {
    let takes_ties = options.direction() == AxisDirection::Decreasing;
    let nan_wins = options.nan_policy() == NanPolicy::Propagate;
    let is_max = options.function() == ReduceFunction::ArgMax;
    // The innermost axis that is not 1, and how often it is run through.
    let inner = layout.sizes().iter().rposition(|&size| size > 1).unwrap_or(0);
    let (len, stride) = (layout.sizes()[inner], layout.strides()[inner]);
    let (mut best_index, mut best) = (0, input[layout.offset()]);
    for first in (0..layout.element_count()).step_by(len) {
        let start = place(layout, first) as isize;
        for n in 0..len {
            let candidate = input[(start + n as isize * stride) as usize];
            let wins = match (candidate.is_nan(), best.is_nan()) {
                (false, false) => {
                    (if is_max { candidate > best } else { candidate < best }) || takes_ties && candidate == best
                }
                (true, true) => takes_ties,
                (candidate_is_nan, _) => candidate_is_nan == nan_wins,
            };
            if wins {
                (best_index, best) = (first + n, candidate);
            }
        }
    }
    best_index
}
