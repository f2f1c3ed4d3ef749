//! Where a part lies in the whole, checked.

use crate::{Error, MAX_RANK};

/// The sizes of the whole, and where the part begins: one number for each axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    pub(crate) whole: &'a [usize],
    pub(crate) start: &'a [usize],
}

impl<'a> Window<'a> {
    /// A tensor that is no part of another.
    pub(crate) fn of_whole(sizes: &'a [usize]) -> Window<'a> {
        const ZEROS: [usize; MAX_RANK] = [0; MAX_RANK];
        Window { whole: sizes, start: &ZEROS[..sizes.len()] }
    }

    /// Whether a part of `sizes` fits, and the elements of the whole can be counted.
    pub(crate) fn check(&self, sizes: &[usize]) -> Result<(), Error> {
        for (list, numbers) in [("whole", self.whole), ("start", self.start)] {
            if numbers.len() != sizes.len() {
                return Err(Error::WindowRank { list, len: numbers.len(), rank: sizes.len() });
            }
        }
        let mut axes = self.whole.iter().zip(self.start).zip(sizes).enumerate();
        let does_not_fit = |&(_, ((&whole, &start), &size)): &(usize, ((&usize, &usize), &usize))| {
            start.checked_add(size).is_none_or(|end| end > whole)
        };
        if let Some((axis, ((&whole, &start), &size))) = axes.find(does_not_fit) {
            return Err(Error::WindowOutOfRange { axis, start, size, whole });
        }
        // An empty whole has no index that could be too large.
        if !self.whole.contains(&0) {
            let mut count = 1_usize;
            for (axis, &size) in self.whole.iter().enumerate() {
                count = count.checked_mul(size).ok_or(Error::WholeTooLarge { axis, size })?;
            }
        }
        Ok(())
    }
}
