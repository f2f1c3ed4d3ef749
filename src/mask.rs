//! Which elements are there: what callers say, and where the answer for each element is. Nothing here knows of
//! reductions.

use crate::{Error, Layout, MAX_RANK};
use bytemuck::cast_slice;

/// Which elements of an input are there: those that are not, because they are masked, null or missing, are left out of
/// a reduction. Indices count them all the same.
///
/// A mask has the sizes of the input: of the part, where that is one of a larger tensor. Packed masks are in row-major
/// order of the sizes, whatever the strides of the input.
///
/// ```
/// use argreduce::{ArgReduce, Layout, Mask, input};
/// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).fill(-1).plan::<f32, i64>()?;
/// let x = [1.0, 9.0, 2.0, 7.0, 0.0, 7.0];
/// let best = |mask| plan.collect::<Vec<i64>>(input(&x).masked(mask));
///
/// let there = [true, false, true, false, false, false];
/// assert_eq!(best(Mask::bools(&there))?, [2, -1]);
/// // The same as Arrow's validity bitmap, least significant bit first.
/// assert_eq!(best(Mask::bits(&[0b00_0101], 0))?, [2, -1]);
/// // One row for both: a stride of 0.
/// let row = Layout::contiguous(&[3])?.broadcast(&[2, 3])?;
/// assert_eq!(best(Mask::strided(&[false, true, true], &row))?, [1, 2]);
/// # Ok::<(), argreduce::Error>(())
/// ```
///
/// What is not there may be read, but is never compared; it has to be initialised, as any element of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a> {
    bytes: &'a [u8],
    kind: Kind<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    /// From this bit on, packed.
    Bits(usize),
    /// A byte for each element, packed or at places of their own; and what messages call one.
    Bytes { layout: Option<&'a Layout>, unit: &'static str },
}

const BOOLS: &str = "elements of bool";

impl<'a> Mask<'a> {
    /// A bit for each element, packed: bit number `offset + n` for element `n` in row-major order of the sizes, the
    /// least significant bit of each byte first, as in Arrow's validity bitmaps. 1 is there.
    ///
    /// ```
    /// use argreduce::{Mask, argmax, input};
    /// let there = Mask::bits(&[0b0001_0100], 2);
    /// let best: Vec<u32> = argmax(input(&[5, 9, 7]).masked(there), &[3], &[0])?;
    /// assert_eq!(best, [2]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn bits(bytes: &'a [u8], offset: usize) -> Mask<'a> {
        Mask { bytes, kind: Kind::Bits(offset) }
    }

    /// A `bool` for each element, packed in row-major order of the sizes; true is there.
    ///
    /// ```
    /// use argreduce::{Error, Mask, argmax, input};
    /// let best = |there| argmax::<Vec<u32>, _, _>(input(&[5, 9, 7]).masked(Mask::bools(there)), &[3], &[0]);
    /// assert_eq!(best(&[true, false, true])?, [2]);
    /// assert!(matches!(best(&[false; 3]), Err(Error::NothingThere { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn bools(there: &'a [bool]) -> Mask<'a> {
        Mask { bytes: cast_slice(there), kind: Kind::Bytes { layout: None, unit: BOOLS } }
    }

    /// A `bool` for each element, at places of their own: a stride of 0 broadcasts. The sizes are the input's, which is
    /// checked when a plan runs.
    pub fn strided(there: &'a [bool], layout: &'a Layout) -> Mask<'a> {
        Mask { bytes: cast_slice(there), kind: Kind::Bytes { layout: Some(layout), unit: BOOLS } }
    }

    /// As [`Mask::bools`], of bytes: any but 0 is there.
    ///
    /// ```
    /// use argreduce::{Mask, argmax, input};
    /// let best: Vec<u32> = argmax(input(&[5, 9, 7]).masked(Mask::bytes(&[1, 0, 255])), &[3], &[0])?;
    /// assert_eq!(best, [2]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn bytes(there: &'a [u8]) -> Mask<'a> {
        Mask { bytes: there, kind: Kind::Bytes { layout: None, unit: "bytes" } }
    }

    /// As [`Mask::strided`], of bytes: any but 0 is there.
    pub fn bytes_strided(there: &'a [u8], layout: &'a Layout) -> Mask<'a> {
        Mask { bytes: there, kind: Kind::Bytes { layout: Some(layout), unit: "bytes" } }
    }

    /// Where the mask of an input with this layout is, if it is long enough.
    pub(crate) fn places(self, input: &Layout) -> Result<MaskPlaces<'a>, Error> {
        let (sizes, mut strides) = (input.sizes(), [0; MAX_RANK]);
        let (format, start, unit) = match self.kind {
            Kind::Bits(offset) => (MaskFormat::Bits, offset, "bits"),
            Kind::Bytes { layout, unit } => (MaskFormat::Bytes, layout.map_or(0, Layout::offset), unit),
        };
        let required = if let Kind::Bytes { layout: Some(layout), .. } = self.kind {
            let found = layout.sizes();
            if found.len() != sizes.len() {
                return Err(Error::MaskRank { expected: sizes.len(), found: found.len() });
            }
            if let Some(axis) = (0..sizes.len()).find(|&axis| found[axis] != sizes[axis]) {
                return Err(Error::MaskSize { axis, expected: sizes[axis], found: found[axis] });
            }
            strides[..sizes.len()].copy_from_slice(layout.strides());
            layout.required_len()
        } else {
            // Packed. A layout that has elements has no more than an `isize` counts.
            let mut step = 1_isize;
            for (stride, &size) in strides[..sizes.len()].iter_mut().zip(sizes).rev() {
                *stride = step;
                step = step.wrapping_mul(size as isize);
            }
            input.element_count().saturating_add(start)
        };
        let len = self.bytes.len().saturating_mul(if format == MaskFormat::Bits { 8 } else { 1 });
        if len < required && input.element_count() > 0 {
            return Err(Error::MaskTooShort { unit, required, len });
        }
        Ok(MaskPlaces { bytes: self.bytes, format, start, strides })
    }
}

/// What says of each element whether it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskFormat {
    Bits,
    Bytes,
}

/// Where the mask of an input is, of the same sizes, in bits or in bytes: long enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaskPlaces<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) format: MaskFormat,
    /// Of element `[0, .., 0]`.
    pub(crate) start: usize,
    pub(crate) strides: [isize; MAX_RANK],
}
