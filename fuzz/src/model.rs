//! What is valid, said once more and in numbers that cannot overflow, and what is the answer, said once more and fast:
//! written from the documentation of `Layout` and `ArgReduce`, not from their code.

use crate::case::{Case, Data, Expected, Sample};
use argreduce::{AxisDirection, Layout, NanPolicy, ReduceFunction, reference};
use bytemuck::checked::cast_slice;

/// The length that a slice needs for a layout, or `None` if there is no such layout.
pub(crate) fn required_len(sizes: &[usize], strides: &[isize], offset: usize) -> Option<usize> {
    if sizes.len() > 8 || strides.len() != sizes.len() {
        return None;
    }
    if sizes.contains(&0) {
        return Some(0);
    }
    count(sizes)?;
    let (mut lowest, mut highest) = (offset as i128, offset as i128);
    for (&size, &stride) in sizes.iter().zip(strides) {
        // Below 2^126, and eight of them below 2^129: so each is cut to what is wrong in any case.
        let reach = ((size as i128 - 1) * stride as i128).clamp(-(1 << 100), 1 << 100);
        if reach < 0 { lowest += reach } else { highest += reach }
    }
    (lowest >= 0 && highest < isize::MAX as i128).then(|| highest as usize + 1)
}

/// The product, if it is the number of elements of a tensor.
pub(crate) fn count(sizes: &[usize]) -> Option<usize> {
    if sizes.contains(&0) {
        return Some(0);
    }
    sizes.iter().try_fold(1_usize, |count, &size| count.checked_mul(size).filter(|&count| count <= isize::MAX as usize))
}

/// Which axes are reduced, or `None` if one of them is not there, or is there twice.
pub(crate) fn reduced(axes: &[isize], rank: usize) -> Option<Vec<bool>> {
    let mut reduced = vec![false; rank];
    for &axis in axes {
        let axis = if axis < 0 { axis as i128 + rank as i128 } else { axis as i128 };
        let flag = reduced.get_mut(usize::try_from(axis).ok()?)?;
        if *flag {
            return None;
        }
        *flag = true;
    }
    Some(reduced)
}

/// The sizes of the output.
pub(crate) fn output_sizes(sizes: &[usize], reduced: &[bool]) -> Vec<usize> {
    sizes.iter().zip(reduced).map(|(&size, &reduced)| if reduced { 1 } else { size }).collect()
}

/// Whether every index of a reduction exists and fits: there is something to reduce, or nothing to write.
pub(crate) fn indices_fit(sizes: &[usize], reduced: &[bool], max: u64) -> bool {
    let along: Vec<usize> = sizes.iter().zip(reduced).filter(|&(_, &reduced)| reduced).map(|(&size, _)| size).collect();
    output_sizes(sizes, reduced).contains(&0)
        || !along.contains(&0) && along.iter().map(|&size| size as u128).product::<u128>() - 1 <= max.into()
}

/// Whether elements share a place: `None` where there are too many to look at each.
pub(crate) fn overlaps(sizes: &[usize], strides: &[isize]) -> Option<bool> {
    let count = count(sizes).filter(|&count| count <= 4096)?;
    let mut places: Vec<i128> = places(sizes, strides).collect();
    places.sort_unstable();
    debug_assert_eq!(places.len(), count);
    Some(places.windows(2).any(|pair| pair[0] == pair[1]))
}

/// From the first element to each, in row-major order.
pub(crate) fn places(sizes: &[usize], strides: &[isize]) -> impl Iterator<Item = i128> {
    let mut coordinates = vec![0; sizes.len()];
    let mut next = 0;
    (0..count(sizes).expect("too many places to list")).map(move |_| {
        let place = next;
        for axis in (0..sizes.len()).rev() {
            coordinates[axis] += 1;
            next += strides[axis] as i128;
            if coordinates[axis] < sizes[axis] {
                break;
            }
            next -= sizes[axis] as i128 * strides[axis] as i128;
            coordinates[axis] = 0;
        }
        place
    })
}

/// The best element of each output, in row-major order: its index, and its place in the input. The answer of
/// `reference`, with which it is compared.
pub(crate) fn best<T: Sample>(
    order: (ReduceFunction, AxisDirection, NanPolicy),
    layout: &Layout,
    reduced: &[bool],
    input: &[T],
) -> Vec<(usize, usize)> {
    let (function, direction, policy) = order;
    let flip = if function == ReduceFunction::ArgMin { u64::MAX } else { 0 };
    let nan = if policy == NanPolicy::Propagate { u64::MAX } else { 0 };
    let standing = |value: T| value.rank().map_or(nan, |rank| rank ^ flip);
    let takes_last = direction == AxisDirection::Decreasing;
    let part = |wanted: bool| -> Vec<usize> {
        let sizes = layout.sizes().iter().zip(reduced);
        sizes.map(|(&size, &reduced)| if reduced == wanted { size } else { 1 }).collect()
    };
    let (kept, along) = (part(false), part(true));
    // Then there may be more to choose from than can be listed.
    if kept.contains(&0) {
        return Vec::new();
    }
    let along: Vec<isize> = places(&along, layout.strides()).map(|place| place as isize).collect();
    let best_from = |first: isize| {
        let mut best = (0, standing(input[(first + along[0]) as usize]));
        for (index, place) in along.iter().enumerate().skip(1) {
            let standing = standing(input[(first + place) as usize]);
            if (standing > best.1) | (standing == best.1) & takes_last {
                best = (index, standing);
            }
        }
        (best.0, (first + along[best.0]) as usize)
    };
    let answers: Vec<_> =
        places(&kept, layout.strides()).map(|place| best_from(layout.offset() as isize + place as isize)).collect();
    let indices = answers.iter().map(|&(index, _)| index);
    assert!(indices.eq(reference::arg_reduce(order, layout, reduced, input)), "{order:?} of {layout:?}, {reduced:?}");
    answers
}

/// Compares what a case is to find with what the model does.
pub(crate) fn compare<T: Sample>(case: &Case, data: &Data, expected: &[Expected]) {
    let x: &[T] = cast_slice(&data.x);
    for (&function, expected) in case.functions().iter().zip(expected) {
        let best = best((function, case.order.1, case.order.2), &case.layout, &case.reduced(), x);
        let indices = best.iter().map(|&(index, _)| Some(index as u64));
        assert!(indices.eq(expected.indices.iter().copied()), "{case:?}");
        let values: Vec<T> = best.iter().map(|&(_, place)| x[place]).collect();
        assert_eq!(cast_slice::<T, u8>(&values), expected.values, "{case:?}");
    }
}
