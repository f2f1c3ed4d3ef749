//! Which axes: lists of them, checked, and numbers for each.

use crate::{Error, MAX_RANK};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// One number for each of up to eight axes, in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PerAxis {
    rank: usize,
    numbers: [usize; MAX_RANK],
}

impl PerAxis {
    pub(crate) const NONE: PerAxis = PerAxis { rank: 0, numbers: [0; MAX_RANK] };

    /// `rank` zeros. There are at most eight.
    pub(crate) fn zeros(rank: usize) -> PerAxis {
        PerAxis { rank, ..PerAxis::NONE }
    }

    /// These numbers. There are at most eight.
    pub(crate) fn of(numbers: &[usize]) -> PerAxis {
        let mut per_axis = PerAxis::zeros(numbers.len());
        per_axis.copy_from_slice(numbers);
        per_axis
    }
}

impl Deref for PerAxis {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.numbers[..self.rank]
    }
}

impl DerefMut for PerAxis {
    fn deref_mut(&mut self) -> &mut [usize] {
        &mut self.numbers[..self.rank]
    }
}

impl fmt::Debug for PerAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The position that `n` means along an extent of `len`; negative numbers count from the end. `None` before the start;
/// beyond the end is left to the caller.
pub(crate) fn from_start(n: isize, len: usize) -> Option<usize> {
    if n < 0 { len.checked_add_signed(n) } else { Some(n as usize) }
}

/// The dimension that `axis` means in a tensor of rank `rank`; negative axes count from the end.
pub(crate) fn dimension(axis: isize, rank: usize) -> Result<usize, AxisError> {
    from_start(axis, rank).filter(|&dimension| dimension < rank).ok_or(AxisError::OutOfRange { axis, rank })
}

/// What can be wrong with a list of axes: an [`Error`] that can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisError {
    /// [`Error::NoAxes`]
    NoAxes,
    /// [`Error::AxisOutOfRange`]
    OutOfRange { axis: isize, rank: usize },
    /// [`Error::DuplicateAxis`]
    Duplicate { axis: isize, dimension: usize },
}

impl From<AxisError> for Error {
    fn from(error: AxisError) -> Error {
        match error {
            AxisError::NoAxes => Error::NoAxes,
            AxisError::OutOfRange { axis, rank } => Error::AxisOutOfRange { axis, rank },
            AxisError::Duplicate { axis, dimension } => Error::DuplicateAxis { axis, dimension },
        }
    }
}

/// A set of dimensions, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AxisSet(u8);

impl AxisSet {
    pub(crate) const NONE: AxisSet = AxisSet(0);

    /// The dimensions that `axes` means in a tensor of rank `rank`, in any order; negative axes count from the end.
    pub(crate) fn new(axes: &[isize], rank: usize) -> Result<AxisSet, AxisError> {
        AxisSet::collect(axes.iter().copied(), rank)
    }

    /// As [`AxisSet::new`]. The iterator may be endless: of more axes than the rank, one is wrong.
    pub(crate) fn collect(axes: impl IntoIterator<Item = isize>, rank: usize) -> Result<AxisSet, AxisError> {
        let mut set = AxisSet::NONE;
        for axis in axes {
            let dimension = dimension(axis, rank)?;
            if set.contains(dimension) {
                return Err(AxisError::Duplicate { axis, dimension });
            }
            set.0 |= 1 << dimension;
        }
        Ok(set)
    }

    pub(crate) fn all(rank: usize) -> AxisSet {
        AxisSet(((1_u32 << rank) - 1) as u8)
    }

    /// The lowest of them.
    pub(crate) fn first(self) -> Option<usize> {
        (self.0 != 0).then_some(self.0.trailing_zeros() as usize)
    }

    /// How many they are.
    pub(crate) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) fn contains(self, dimension: usize) -> bool {
        self.0 >> dimension & 1 != 0
    }
}

/// The sizes without the reduced axes: the shape that NumPy gives without `keepdims`. The elements of a packed output
/// are the same.
///
/// # Errors
/// [`Error::RankTooHigh`], [`Error::AxisOutOfRange`], [`Error::DuplicateAxis`].
///
/// ```
/// assert_eq!(argreduce::drop_axes(&[8, 21, 64, 64], &[1, -1])?, [8, 64]);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[doc(alias("keepdims", "squeeze"))]
pub fn drop_axes(sizes: &[usize], axes: &[isize]) -> Result<Vec<usize>, Error> {
    if sizes.len() > MAX_RANK {
        return Err(Error::RankTooHigh { rank: sizes.len() });
    }
    let dropped = AxisSet::new(axes, sizes.len())?;
    Ok(sizes.iter().enumerate().filter(|&(axis, _)| !dropped.contains(axis)).map(|(_, &size)| size).collect())
}
