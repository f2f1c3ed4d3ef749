//! Buffers of bytes as elements and indices of a type.

use crate::exec::Indices;
use crate::{DataType, Error};
use bytemuck::Pod;

/// The whole indices of a buffer, by their width.
pub(crate) fn index_elements<'a>(
    slice: &'static str,
    index_type: DataType,
    bytes: &'a mut [u8],
) -> Result<Indices<'a>, Error> {
    let name = index_type.name();
    Ok(match index_type.size() {
        1 => Indices::U8(bytes.into()),
        2 => Indices::U16(elements_mut(slice, name, bytes)?.into()),
        4 => Indices::U32(elements_mut(slice, name, bytes)?.into()),
        _ => Indices::U64(elements_mut(slice, name, bytes)?.into()),
    })
}

/// The whole elements of a buffer. Whether they are enough for the layout is checked by the plan.
pub(crate) fn elements<'a, T: Pod>(
    slice: &'static str,
    element_type: &'static str,
    bytes: &'a [u8],
) -> Result<&'a [T], Error> {
    match bytes.len() / size_of::<T>() * size_of::<T>() {
        // However it is aligned.
        0 => Ok(&[]),
        whole => bytemuck::try_cast_slice(&bytes[..whole]).map_err(|_| misaligned::<T>(slice, element_type)),
    }
}

/// As [`elements`], to write to.
pub(crate) fn elements_mut<'a, T: Pod>(
    slice: &'static str,
    element_type: &'static str,
    bytes: &'a mut [u8],
) -> Result<&'a mut [T], Error> {
    match bytes.len() / size_of::<T>() * size_of::<T>() {
        0 => Ok(&mut []),
        whole => bytemuck::try_cast_slice_mut(&mut bytes[..whole]).map_err(|_| misaligned::<T>(slice, element_type)),
    }
}

fn misaligned<T>(slice: &'static str, element_type: &'static str) -> Error {
    Error::Misaligned { slice, element_type, alignment: align_of::<T>() }
}
