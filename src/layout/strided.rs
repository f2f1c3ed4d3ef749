//! Sizes, strides and offset that have passed every check which needs no data: from here on, arithmetic on them cannot
//! overflow. Nothing here knows about reduction.

use super::axes::PerAxis;
use crate::{Error, MAX_RANK};
use std::fmt;

/// Where the elements of a tensor are in a slice: sizes, strides in elements, and the offset of element `[0, .., 0]`.
///
/// Rank 0 to 8. Strides have any sign; a stride of 0 repeats one element, and elements may overlap. Sizes may be 0.
///
/// ```
/// use argreduce::Layout;
/// let rows = Layout::contiguous(&[2, 3])?;
/// assert_eq!((rows.strides(), rows.required_len()), (&[3, 1][..], 6));
///
/// // The same matrix, rows from the last to the first.
/// let flipped = Layout::strided(&[2, 3], &[-3, 1], 3)?;
/// assert_eq!(flipped.required_len(), 6);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    sizes: PerAxis,
    strides: [isize; MAX_RANK],
    offset: usize,
    element_count: usize,
    required_len: usize,
}

/// What it was made from: the rest follows.
impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { sizes, offset, .. } = self;
        let strides = self.strides();
        f.debug_struct("Layout").field("sizes", sizes).field("strides", &strides).field("offset", offset).finish()
    }
}

impl Layout {
    /// Rank 0 and one element, the first of the slice.
    pub(crate) const SCALAR: Layout =
        Layout { sizes: PerAxis::NONE, strides: [0; MAX_RANK], offset: 0, element_count: 1, required_len: 1 };

    /// Packed in row-major order, from the start of the slice.
    ///
    /// # Errors
    /// [`Error::RankTooHigh`] for more than 8 sizes, [`Error::TooManyElements`] for more than `isize::MAX` elements.
    pub fn contiguous(sizes: &[usize]) -> Result<Layout, Error> {
        let mut layout = Layout::SCALAR;
        layout.pack(sizes)?;
        Ok(layout)
    }

    /// Makes this, which is [`Layout::SCALAR`], the [`Layout::contiguous`] of these sizes.
    pub(crate) fn pack(&mut self, sizes: &[usize]) -> Result<(), Error> {
        self.set_sizes(sizes)?;
        let mut stride: isize = 1;
        for (axis, &size) in sizes.iter().enumerate().rev() {
            self.strides[axis] = stride;
            // It overflows only if another size is 0: then there are no elements.
            stride = stride.wrapping_mul(size.max(1) as isize);
        }
        self.required_len = self.element_count;
        Ok(())
    }

    /// The sizes, and how many elements that makes.
    fn set_sizes(&mut self, sizes: &[usize]) -> Result<(), Error> {
        if sizes.len() > MAX_RANK {
            return Err(Error::RankTooHigh { rank: sizes.len() });
        }
        self.sizes = PerAxis::zeros(sizes.len());
        let is_empty = sizes.contains(&0);
        let mut count: isize = 1;
        for (axis, &size) in sizes.iter().enumerate() {
            self.sizes[axis] = size;
            if !is_empty {
                let product = isize::try_from(size).ok().and_then(|size| count.checked_mul(size));
                count = product.ok_or(Error::TooManyElements { axis, size })?;
            }
        }
        self.element_count = if is_empty { 0 } else { count as usize };
        Ok(())
    }

    /// With strides of any sign, in elements, and element `[0, .., 0]` at `offset` of the slice.
    ///
    /// # Errors
    /// As [`Layout::contiguous`], and [`Error::StrideCount`] for strides that are not as many as the sizes,
    /// [`Error::BeforeStart`], [`Error::OffsetTooLarge`] and [`Error::OffsetOverflow`] where the offset or the strides
    /// lead to places that no slice has. Strides of a tensor without elements are not looked at.
    pub fn strided(sizes: &[usize], strides: &[isize], offset: usize) -> Result<Layout, Error> {
        let mut layout = Layout { offset, ..Layout::SCALAR };
        layout.set_sizes(sizes)?;
        if strides.len() != sizes.len() {
            return Err(Error::StrideCount { sizes: sizes.len(), strides: strides.len() });
        }
        layout.strides[..strides.len()].copy_from_slice(strides);
        if layout.element_count == 0 {
            layout.required_len = 0;
            return Ok(layout);
        }

        if offset >= isize::MAX as usize {
            return Err(Error::OffsetTooLarge { offset });
        }
        let (mut lowest, mut highest) = (0_isize, offset);
        for (axis, (&size, &stride)) in sizes.iter().zip(strides).enumerate() {
            let beyond = Error::OffsetOverflow { axis, stride };
            let Some(reach) = (size as isize - 1).checked_mul(stride) else { return Err(beyond) };
            if reach < 0 {
                lowest = lowest.checked_add(reach).ok_or(beyond)?;
            } else {
                highest = highest.checked_add_signed(reach).filter(|&at| at < isize::MAX as usize).ok_or(beyond)?;
            }
        }
        let before = lowest.unsigned_abs();
        if before > offset {
            return Err(Error::BeforeStart { elements: before - offset, offset });
        }
        layout.required_len = highest + 1;
        Ok(layout)
    }

    /// The extent of each axis.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// From one element to the next along each axis, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides[..self.sizes.len()]
    }

    /// Where element `[0, .., 0]` is in the slice.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The extents alone.
    pub(crate) fn only_sizes(&self) -> PerAxis {
        self.sizes
    }

    /// The product of the sizes: 1 for rank 0, 0 where any size is.
    pub fn element_count(&self) -> usize {
        self.element_count
    }

    /// The length of the shortest slice that holds every element; 0 where there is none.
    pub fn required_len(&self) -> usize {
        self.required_len
    }
}
