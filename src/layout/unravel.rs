//! From an index over several axes to its coordinates.

use super::axes::{AxisSet, PerAxis};
use crate::{Error, MAX_RANK};
use std::fmt;
use std::ops::Deref;

/// The coordinates of an index: one for each reduced axis, in ascending order of the axes. A slice, without heap
/// memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Coordinates(PerAxis);

impl Deref for Coordinates {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Debug for Coordinates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The coordinates along `axes` of an index that a reduction over them has given: one for each of the axes, in
/// ascending order of dimensions, whatever order they are given in. Takes any integer, and no heap memory.
///
/// It is what NumPy's `unravel_index` gives for the sizes of the reduced axes. See
/// [`Plan::unravel`](crate::Plan::unravel) too.
///
/// # Errors
/// [`Error::RankTooHigh`], [`Error::AxisOutOfRange`], [`Error::DuplicateAxis`], and [`Error::IndexOutOfRange`] for an
/// index that is negative or not below the product of the sizes of `axes`.
///
/// ```
/// let scores = [[[0, 3], [1, 9]], [[8, 0], [2, 0]]];
/// let (sizes, axes) = ([2, 2, 2], [2, 1]);
/// let best: Vec<u32> = argreduce::argmax(scores.as_flattened().as_flattened(), &sizes, &axes)?;
/// assert_eq!(best, [3, 0]);
/// assert_eq!(*argreduce::unravel(best[0], &sizes, &axes)?, [1, 1]);
/// assert_eq!(*argreduce::unravel(best[1], &sizes, &axes)?, [0, 0]);
/// # Ok::<(), argreduce::Error>(())
/// ```
pub fn unravel(index: impl TryInto<i128>, sizes: &[usize], axes: &[isize]) -> Result<Coordinates, Error> {
    if sizes.len() > MAX_RANK {
        return Err(Error::RankTooHigh { rank: sizes.len() });
    }
    coordinates_of(index, sizes, AxisSet::new(axes, sizes.len())?)
}

/// As [`unravel`], of checked axes.
pub(crate) fn coordinates_of(index: impl TryInto<i128>, sizes: &[usize], axes: AxisSet) -> Result<Coordinates, Error> {
    let reduced = || (0..sizes.len()).filter(|&axis| axes.contains(axis)).map(|axis| sizes[axis]);
    // What does not fit is larger than any index.
    let index = index.try_into().unwrap_or(i128::MAX);
    let out_of_range = || {
        let is_empty = reduced().any(|size| size == 0);
        let count = reduced().fold(1, |count: u64, size| count.saturating_mul(size as u64));
        Error::IndexOutOfRange { index, count: if is_empty { 0 } else { count } }
    };
    let mut rest = u64::try_from(index).map_err(|_| out_of_range())?;
    let mut coordinates = PerAxis::zeros(reduced().count());
    for (coordinate, size) in coordinates.iter_mut().rev().zip(reduced().rev()) {
        *coordinate = rest.checked_rem(size as u64).ok_or_else(out_of_range)? as usize;
        rest /= size as u64;
    }
    if rest == 0 { Ok(Coordinates(coordinates)) } else { Err(out_of_range()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every index of every set of axes, against counting.
    #[test]
    fn counts_as_nested_loops_do() {
        let sizes = [2, 3, 1, 4];
        for set in 0..16 {
            let mut axes: Vec<isize> = (0..4).filter(|axis| set >> axis & 1 == 1).collect();
            let mut expected = vec![vec![]];
            for &axis in &axes {
                let longer =
                    |prefix: &Vec<usize>| (0..sizes[axis as usize]).map(|n| [&prefix[..], &[n]].concat()).collect();
                expected = expected.iter().flat_map::<Vec<_>, _>(longer).collect();
            }
            // The order of the axes does not matter.
            axes.reverse();
            for (index, coordinates) in expected.iter().enumerate() {
                assert_eq!(*unravel(index, &sizes, &axes).unwrap(), coordinates[..], "{axes:?}");
            }
            let count = expected.len() as u64;
            assert_eq!(unravel(count, &sizes, &axes), Err(Error::IndexOutOfRange { index: count.into(), count }));
        }
    }

    #[test]
    fn refuses_what_is_no_index() {
        let refused = |index, count| Err(Error::IndexOutOfRange { index, count });
        assert_eq!(unravel(-1_i64, &[2, 3], &[0]), refused(-1, 2));
        assert_eq!(unravel(u64::MAX, &[2, 3], &[0, 1]), refused(u64::MAX.into(), 6));
        assert_eq!(unravel(u128::MAX, &[2, 3], &[1]), refused(i128::MAX, 3));
        assert_eq!(unravel(i128::MIN, &[2, 3], &[1]), refused(i128::MIN, 3));
        assert_eq!(unravel(1_u8, &[], &[]), refused(1, 1));
        assert_eq!(unravel(1_usize, &[2], &[]), refused(1, 1));
        // Nothing is in an empty extent, also of one that is too large to be counted.
        assert_eq!(unravel(0, &[2, 0], &[1]), refused(0, 0));
        assert_eq!(unravel(0, &[usize::MAX, 0, usize::MAX], &[0, 1, 2]), refused(0, 0));
        assert_eq!(unravel(-1, &[usize::MAX, 7, usize::MAX], &[0, 2]), refused(-1, u64::MAX));
        assert_eq!(unravel(0, &[2, 3], &[2]), Err(Error::AxisOutOfRange { axis: 2, rank: 2 }));
        assert_eq!(unravel(0, &[2, 3], &[1, -1]), Err(Error::DuplicateAxis { axis: -1, dimension: 1 }));
        assert_eq!(unravel(0, &[1; 9], &[1]), Err(Error::RankTooHigh { rank: 9 }));
    }

    /// More elements than memory has, but an index.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn indices_of_64_bits() {
        assert_eq!(*unravel(u64::MAX, &[1 << 31, 5, 1 << 33], &[0, 2]).unwrap(), [(1 << 31) - 1, (1 << 33) - 1]);
        assert_eq!(*unravel(i64::MAX, &[usize::MAX], &[0]).unwrap(), [i64::MAX as usize]);
    }
}
