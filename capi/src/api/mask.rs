//! Masks: which elements of an input are there.

use super::codes::*;
use super::desc;
use super::failure::Failure;
use super::pointer::{Buffer, Need};
use super::versioned::{self, Versioned};
use ::argreduce::{Layout, Mask};
use std::ffi::c_void;
use std::mem::offset_of;

/// Which elements of an input are there: those that are not are left out, and indices count them all the same. What is
/// not there may be read, but is never compared.
///
/// Later versions may have more fields at the end, as of argreduce_desc.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct argreduce_mask {
    /// sizeof(argreduce_mask), as the header has it that the program is built with.
    pub size: usize,
    /// The bits or bytes.
    pub data: *const c_void,
    /// How many bytes there are.
    pub bytes: usize,
    /// Of ARGREDUCE_MASK_BITS, the number of the first element's bit; of ARGREDUCE_MASK_BYTES, how many bytes from
    /// `data` to that of element [0, .., 0].
    pub offset: i64,
    /// Of ARGREDUCE_MASK_BYTES, from one element to the next along each axis, in bytes, of any sign; 0 broadcasts. NULL
    /// means packed in row-major order of the input's sizes. Of ARGREDUCE_MASK_BITS, NULL.
    pub strides: *const i64,
    /// ARGREDUCE_MASK_BITS or ARGREDUCE_MASK_BYTES.
    pub kind: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: `repr(C)`, with `size` first; zeros are a value of each of its types, and each size ends with a field.
unsafe impl Versioned for argreduce_mask {
    const NAME: &str = "argreduce_mask";
    // By the last field of each version, so that none of them changes when there is another.
    const SIZES: &[usize] = &[offset_of!(argreduce_mask, reserved) + size_of::<u32>()];
}

/// What is there of an input of some layout.
pub(super) enum Given<'a> {
    Bits(&'a [u8], usize),
    Bytes(&'a [u8], Layout),
}

/// None, for NULL.
///
/// # Safety
/// `mask` is NULL, or misaligned, or points to a struct of as many bytes as its `size` says.
pub(super) unsafe fn read(mask: *const argreduce_mask) -> Result<Option<argreduce_mask>, Failure> {
    if mask.is_null() {
        return Ok(None);
    }
    // SAFETY: what is asked for above is what `read` asks for.
    let mask = unsafe { versioned::read(mask, "mask") }?;
    desc::check_reserved(mask.reserved, "mask->reserved")?;
    Ok(Some(mask))
}

impl argreduce_mask {
    pub(super) fn buffer(&self) -> Buffer<'static> {
        Buffer { name: "mask->data", start: self.data, bytes: self.bytes }
    }

    /// # Safety
    /// Its data are NULL or as many bytes as it says, which nobody writes during `'a`, and its strides NULL or as many
    /// as the input has axes.
    pub(super) unsafe fn given<'a>(&self, input: &Layout) -> Result<Given<'a>, Failure> {
        let mismatch = |message: String| Failure::new(ARGREDUCE_MASK_MISMATCH, message);
        let offset = usize::try_from(self.offset)
            .map_err(|_| mismatch(format!("mask->offset is {}: 0 to {} are allowed", self.offset, isize::MAX)))?;
        // SAFETY: as is asked for above. (How many are needed is for the plan to say.)
        let data = unsafe { self.buffer().read(Need { bytes: 0, alignment: 1 }) }?;
        let sizes = input.sizes();
        match self.kind {
            ARGREDUCE_MASK_BITS if self.strides.is_null() => Ok(Given::Bits(data, offset)),
            ARGREDUCE_MASK_BITS => Err(mismatch("mask->strides is not NULL: a mask of bits is packed".into())),
            ARGREDUCE_MASK_BYTES => {
                let layout = if self.strides.is_null() {
                    Layout::strided(sizes, Layout::contiguous(sizes)?.strides(), offset)
                } else {
                    let (rank, status) = (sizes.len() as u32, ARGREDUCE_MASK_MISMATCH);
                    // SAFETY: as many as the input has axes, as is asked for above.
                    let strides = unsafe { desc::numbers(self.strides, rank, "mask->strides", status) }?;
                    Layout::strided(sizes, &strides, offset)
                };
                Ok(Given::Bytes(data, layout.map_err(|error| mismatch(format!("the mask: {error}")))?))
            }
            kind => Err(desc::unknown(kind, "mask->kind", "0 (bits) and 1 (bytes)")),
        }
    }
}

impl Given<'_> {
    pub(super) fn mask(&self) -> Mask<'_> {
        match self {
            Given::Bits(bits, offset) => Mask::bits(bits, *offset),
            Given::Bytes(bytes, layout) => Mask::bytes_strided(bytes, layout),
        }
    }
}
