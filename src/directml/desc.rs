//! A tensor as DirectML describes it, and the rules for one alone.

use crate::error::{BrokenRule, Tensor};
use crate::{DataType, Error, Layout, MAX_RANK};

/// A tensor in a buffer: `DML_BUFFER_TENSOR_DESC`. Its `DimensionCount` is the number of `sizes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorDesc<'a> {
    /// The type of the elements.
    pub data_type: DataType,
    /// The extent of each dimension, at least 1. 1 to 8 dimensions.
    pub sizes: &'a [u32],
    /// From one element to the next along each dimension, in elements; `None` means packed in row-major order.
    pub strides: Option<&'a [u32]>,
    /// The size of the buffer: at least [`buffer_tensor_size`], and a multiple of 4.
    pub total_tensor_size_in_bytes: u64,
}

impl<'a> TensorDesc<'a> {
    /// Packed in row-major order, in the smallest buffer.
    pub fn packed(data_type: DataType, sizes: &'a [u32]) -> Self {
        Self::smallest(data_type, sizes, None)
    }

    /// With strides, in the smallest buffer.
    pub fn strided(data_type: DataType, sizes: &'a [u32], strides: &'a [u32]) -> Self {
        Self::smallest(data_type, sizes, Some(strides))
    }

    fn smallest(data_type: DataType, sizes: &'a [u32], strides: Option<&'a [u32]>) -> Self {
        // A tensor beyond 64 bits breaks rules, whatever its buffer's size is said to be.
        let total_tensor_size_in_bytes = buffer_tensor_size(data_type, sizes, strides).unwrap_or(0);
        TensorDesc { data_type, sizes, strides, total_tensor_size_in_bytes }
    }

    /// The rules for one tensor, and its layout.
    pub(super) fn check(&self, tensor: Tensor) -> Result<Layout, Error> {
        let count = self.sizes.len();
        if !(1..=MAX_RANK).contains(&count) {
            return Err(BrokenRule::DimensionCount { tensor, count }.into());
        }
        if let Some(dimension) = self.sizes.iter().position(|&size| size == 0) {
            return Err(BrokenRule::SizeZero { tensor, dimension }.into());
        }
        let elements = self.sizes.iter().map(|&size| u128::from(size)).try_fold(1, u128::checked_mul);
        if elements.is_none_or(|elements| elements > u128::from(u32::MAX)) {
            return Err(BrokenRule::TooManyElements { tensor }.into());
        }
        if let Some(strides) = self.strides.filter(|strides| strides.len() != count) {
            return Err(BrokenRule::StrideCount { tensor, expected: count, found: strides.len() }.into());
        }
        let total = self.total_tensor_size_in_bytes;
        let required = buffer_tensor_size(self.data_type, self.sizes, self.strides);
        if required.is_none_or(|required| required > total) {
            return Err(BrokenRule::TotalTensorSizeTooSmall { tensor, total, required }.into());
        }
        if !total.is_multiple_of(4) {
            return Err(BrokenRule::TotalTensorSizeNotMultipleOf4 { tensor, total }.into());
        }
        let sizes: Vec<usize> = self.sizes.iter().map(|&size| size as usize).collect();
        match self.strides {
            None => Layout::contiguous(&sizes),
            Some(strides) => {
                let strides: Vec<isize> = strides.iter().map(|&stride| stride as isize).collect();
                Layout::strided(&sizes, &strides, 0)
            }
        }
    }
}

/// The bytes that a buffer needs for a tensor: up to its last element, rounded up to a multiple of 4, as DirectML's
/// `DMLCalcBufferTensorSize`; but computed in 64 bits, where that helper's 32 overflow. `None` beyond 64 bits.
///
/// ```
/// use argreduce::{DataType, directml::buffer_tensor_size};
/// assert_eq!(buffer_tensor_size(DataType::U8, &[3, 5], None), Some(16));
/// assert_eq!(buffer_tensor_size(DataType::F32, &[2, 2], Some(&[1 << 31, 1 << 31])), Some(4 * ((1 << 32) + 1)));
/// ```
pub fn buffer_tensor_size(data_type: DataType, sizes: &[u32], strides: Option<&[u32]>) -> Option<u64> {
    let elements = match strides {
        None => sizes.iter().try_fold(1, |count: u64, &size| count.checked_mul(size.into()))?,
        Some(strides) => {
            let reach = |(&size, &stride): (&u32, &u32)| u64::from(size.saturating_sub(1)) * u64::from(stride);
            sizes.iter().zip(strides).map(reach).try_fold(1, u64::checked_add)?
        }
    };
    elements.checked_mul(data_type.size() as u64)?.checked_next_multiple_of(4)
}
