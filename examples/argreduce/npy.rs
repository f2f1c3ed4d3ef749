//! Arrays in `.npy` files, bytes to elements and back. It must not know what is computed from them, nor where the bytes
//! come from or go.

use crate::header;
use anyhow::{Context, Result};
use argreduce::Layout;
use npyz::{AutoSerialize, DType, Deserialize, TypeRead, TypeStr, WriteOptions, WriterBuilder};

/// A file whose header has been read; its elements are still bytes.
pub struct Array<'a> {
    pub layout: Layout,
    pub dtype: TypeStr,
    data: &'a [u8],
}

impl<'a> Array<'a> {
    pub fn open(file: &'a [u8]) -> Result<Self> {
        let (header, data) = header::split(file)?;
        let layout = layout(&header.sizes, header.fortran_order)?;
        Ok(Array { layout, dtype: header.dtype, data })
    }

    /// The elements in the order of the file, which is that of the layout's strides. Either byte order will do.
    pub fn elements<T: Deserialize>(&self) -> Result<Vec<T>> {
        let count = self.layout.element_count();
        let size = self.dtype.num_bytes().context("the dtype has no fixed size")?;
        // Before anything is allocated: a header can promise any size. Bytes too many are ignored, as NumPy does.
        let needed = count.saturating_mul(size);
        let mut data = self
            .data
            .get(..needed)
            .with_context(|| format!("the file ends after {} of {needed} bytes of elements", self.data.len()))?;
        let reader = T::reader(&DType::Plain(self.dtype.clone()))?;
        let mut elements = Vec::with_capacity(count);
        for _ in 0..count {
            elements.push(reader.read_one(&mut data)?);
        }
        Ok(elements)
    }
}

/// Fortran order is C order with the axes reversed: a matter of strides, so that no element has to move.
fn layout(sizes: &[usize], fortran_order: bool) -> Result<Layout> {
    if !fortran_order {
        return Ok(Layout::contiguous(sizes)?);
    }
    let reversed: Vec<usize> = sizes.iter().rev().copied().collect();
    let packed = Layout::contiguous(&reversed)?;
    let strides: Vec<isize> = packed.strides().iter().rev().copied().collect();
    Ok(Layout::strided(sizes, &strides, 0)?)
}

/// A whole file in C order.
pub fn encode<T: AutoSerialize>(sizes: &[usize], elements: &[T]) -> Result<Vec<u8>> {
    let shape: Vec<u64> = sizes.iter().map(|&size| size as u64).collect();
    let mut file = Vec::with_capacity(128 + size_of_val(elements));
    let mut writer = WriteOptions::new().default_dtype().shape(&shape).writer(&mut file).begin_nd()?;
    for element in elements {
        writer.push(element)?;
    }
    writer.finish()?;
    Ok(file)
}
