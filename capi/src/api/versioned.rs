//! Structs that grow: they begin with their size, as the caller's header has it, and later versions have more fields at
//! the end. Callers that know of fewer fields, or of more, are served alike. Nothing here knows what is in one.

use super::codes::*;
use super::failure::Failure;
use super::pointer;
use std::mem::MaybeUninit;

/// A struct that a caller passes by pointer, whose first field is sizeof of it in the caller's header.
///
/// # Safety
/// It is `repr(C)`, its first field is a `usize`, and zeros in all the others are a value of it, which means what was
/// so before a field was there. At each size of `SIZES` a field ends.
pub(crate) unsafe trait Versioned: Copy {
    /// Its name in C.
    const NAME: &str;
    /// How many bytes each version of it has had, the first one before all. The last one is that of this struct.
    const SIZES: &[usize];

    /// Whether `SIZES` is what it has to be, as far as it can be seen; and whether the struct ends with a field. (If it
    /// ended with padding, a field of the next version could lie there, in what callers of this one say nothing of. On
    /// systems of 32 bits, which may align 64, who adds a field has to look.)
    const IS_RIGHT: bool = {
        let sizes = Self::SIZES;
        let mut n = 1;
        while n < sizes.len() && sizes[n - 1] < sizes[n] {
            n += 1;
        }
        let (last, whole) = (sizes[n - 1], size_of::<Self>());
        let is_whole = last == whole || cfg!(not(target_pointer_width = "64")) && last.next_multiple_of(8) == whole;
        n == sizes.len() && sizes[0] >= size_of::<usize>() && is_whole
    };
}

/// The caller's struct, of the newest version that its size covers; fields that came later are zero. What lies beyond
/// is not read, and nothing is read before the size is.
///
/// # Safety
/// `from` is NULL, or misaligned, or points to a `usize`, and to as many bytes as that says.
pub(crate) unsafe fn read<T: Versioned>(from: *const T, name: &str) -> Result<T, Failure> {
    const { assert!(T::IS_RIGHT, "SIZES ascend to the size of the struct, which ends with a field") };
    pointer::check(from, name)?;
    // SAFETY: `check` has found it neither NULL nor misaligned; then a `usize` is there, as the caller promises, which
    // is aligned, because the struct has one.
    let size = unsafe { from.cast::<usize>().read() };
    let Some(&known) = T::SIZES.iter().rev().find(|&&known| known <= size) else {
        let (first, of) = (T::SIZES[0], T::NAME);
        let message = format!("{name}->size is {size}: it has to be sizeof({of}), which is at least {first}");
        return Err(Failure::new(ARGREDUCE_UNKNOWN_VALUE, message));
    };
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` is at most `size`, and as many bytes are there, as the caller promises; and it is at most the
    // size of the struct, as `IS_RIGHT` says.
    unsafe { from.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr().cast(), known) };
    // SAFETY: whole fields of the caller's struct, and zeros in place of the others: a value, as `Versioned` says.
    Ok(unsafe { value.assume_init() })
}
