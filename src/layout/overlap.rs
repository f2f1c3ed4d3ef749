//! Whether two elements of a layout can share one place. Nothing here knows what the layout is for.

use super::strided::Layout;
use crate::MAX_RANK;

/// Whether different coordinates of `layout` may mean the same place.
///
/// Exact, but for layouts so contrived that a search of [`MAX_STEPS`] steps does not settle them: for those, true. (The
/// question is a subset-sum problem in disguise; NumPy's `may_share_memory` bounds its search for the same reason.)
pub(crate) fn may_overlap(layout: &Layout) -> bool {
    let mut axes = [(0_usize, 0_usize); MAX_RANK];
    let mut rank = 0;
    for (&size, &stride) in layout.sizes().iter().zip(layout.strides()) {
        if size > 1 {
            // A negative stride visits the places of its opposite, from the other end.
            axes[rank] = (stride.unsigned_abs(), size - 1);
            rank += 1;
        }
    }
    let axes = &mut axes[..rank];
    if layout.element_count() == 0 || rank == 0 {
        return false;
    }
    axes.sort_unstable_by(|a, b| b.cmp(a));
    // Axes of stride 0 come last.
    if axes[rank - 1].0 == 0 {
        return true;
    }
    let reach = |axes: &[(usize, usize)]| axes.iter().map(|&(stride, last)| stride * last).sum::<usize>();

    // The usual case: each step is longer than all that the smaller ones reach together.
    if (0..rank).all(|n| axes[n].0 > reach(&axes[n + 1..])) {
        return false;
    }
    // Pigeonhole: more elements than places.
    if layout.element_count() - 1 > reach(axes) {
        return true;
    }
    // Two coordinates share a place where a difference of coordinates, not all 0, has offset 0.
    let mut steps = MAX_STEPS;
    (0..rank).any(|first| {
        // The first axis with a difference; of a difference and its opposite, the positive one is enough.
        let ((stride, last), rest) = (axes[first], &axes[first + 1..]);
        let most = (reach(rest) / stride).min(last);
        (1..=most).any(|n| can_reach(rest, (stride * n) as i128, &mut steps))
    })
}

/// How many differences are tried.
const MAX_STEPS: usize = 100_000;

/// Whether the axes, by coordinate differences of either sign, can reach `-offset`. True if it takes too long to tell.
fn can_reach(axes: &[(usize, usize)], offset: i128, steps: &mut usize) -> bool {
    *steps = steps.saturating_sub(1);
    if *steps == 0 {
        return true;
    }
    let Some((&(stride, last), rest)) = axes.split_first() else { return offset == 0 };
    let (stride, last) = (stride as i128, last as i128);
    let reach: i128 = rest.iter().map(|&(stride, last)| stride as i128 * last as i128).sum();
    // Differences n with |offset + n * stride| within the reach of the rest.
    let lowest = (-reach - offset).div_euclid(stride) + i128::from((-reach - offset).rem_euclid(stride) != 0);
    let highest = (reach - offset).div_euclid(stride);
    (lowest.max(-last)..=highest.min(last)).any(|n| can_reach(rest, offset + n * stride, steps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// By brute force: whether two coordinates share a place.
    fn overlaps(layout: &Layout) -> bool {
        let mut places = vec![layout.offset() as isize];
        for (&size, &stride) in layout.sizes().iter().zip(layout.strides()) {
            places = places.iter().flat_map(|place| (0..size as isize).map(move |n| place + n * stride)).collect();
        }
        let mut seen = HashSet::new();
        !places.into_iter().all(|place| seen.insert(place))
    }

    #[test]
    fn agrees_with_brute_force_on_all_small_layouts() {
        let mut counts = [0, 0];
        for sizes in [[2, 3, 4], [1, 5, 2], [3, 3, 3], [2, 2, 6], [2, 2, 0], [7, 1, 2]] {
            for code in 0..21_isize.pow(3) {
                let strides = [code % 21 - 10, code / 21 % 21 - 10, code / 441 - 10];
                let layout = Layout::strided(&sizes, &strides, 100).unwrap();
                let expected = overlaps(&layout);
                assert_eq!(may_overlap(&layout), expected, "{layout:?}");
                counts[expected as usize] += 1;
            }
        }
        assert!(counts[0] > 5000 && counts[1] > 5000, "both answers are common: {counts:?}");
    }

    #[test]
    fn hostile_layouts_end_soon() {
        let large = [1 << 7; 8];
        let primes = [1_000_003, 1_000_033, 1_000_037, 1_000_039, 1_000_081, 1_000_099, 1_000_117, 1_000_121];
        assert!(may_overlap(&Layout::strided(&large, &primes, 0).unwrap()));
        assert!(may_overlap(&Layout::strided(&[1 << 40, 2], &[1, 1 << 39], 0).unwrap()));
        assert!(!may_overlap(&Layout::strided(&[1 << 39, 2], &[1, 1 << 39], 0).unwrap()));
        assert!(!may_overlap(&Layout::strided(&[1 << 20, 1 << 20], &[2, (1 << 21) + 1], 0).unwrap()));
    }
}
