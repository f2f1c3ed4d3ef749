//! Lengths of slices: whether they are enough, and new ones.

use crate::Error;

/// A vector to write answers to. A layout may have more outputs than memory, because a broadcast input has far fewer
/// elements: then this is an error.
pub(crate) fn new_vec<T: Copy + Default>(
    slice: &'static str,
    element_type: &'static str,
    len: usize,
) -> Result<Vec<T>, Error> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { slice, element_type, len })?;
    vec.resize(len, T::default());
    Ok(vec)
}

pub(crate) fn check_len(
    slice: &'static str,
    element_type: &'static str,
    len: usize,
    required: usize,
) -> Result<(), Error> {
    if len < required { Err(Error::TooShort { slice, element_type, required, len }) } else { Ok(()) }
}
