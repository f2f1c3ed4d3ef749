//! Arrays in `.npy` files, bytes to elements and back. It must not know what is computed from them, nor where the bytes
//! come from or go.

use crate::{header, memory};
use anyhow::{Context, Result, ensure};
use argreduce::Layout;
use npyz::{AutoSerialize, DType, Deserialize, TypeRead, TypeStr, WriteOptions, WriterBuilder};
use std::io::{Read, Write};

/// How many elements are decoded at a time: enough to forget the calls, and no second copy of the file in memory.
const CHUNK: usize = 1 << 16;

/// A file whose header has been read; its elements are still to come.
pub struct Array<'a> {
    pub layout: Layout,
    pub dtype: TypeStr,
    file: &'a mut dyn Read,
}

impl<'a> Array<'a> {
    pub fn open(file: &'a mut dyn Read) -> Result<Self> {
        let header = header::read(file)?;
        let layout = layout(&header.sizes, header.fortran_order)?;
        Ok(Array { layout, dtype: header.dtype, file })
    }

    /// The elements in the order of the file, which is that of the layout's strides. Either byte order will do.
    pub fn elements<T: Deserialize>(self) -> Result<Vec<T>> {
        let count = self.layout.element_count();
        let size = self.dtype.num_bytes().context("elements of unknown size")?;
        let reader = T::reader(&DType::Plain(self.dtype))?;
        // A header can promise any number of elements: memory is taken for those that came.
        let mut elements = Vec::new();
        let mut chunk = Vec::new();
        while elements.len() < count {
            let missing = count - elements.len();
            if elements.capacity() - elements.len() < CHUNK.min(missing) {
                // As much again, so that few elements are moved twice; and no more than was promised.
                let more = missing.min(CHUNK.max(elements.len()));
                memory::reserve(&mut elements, more)?;
            }
            let wanted = size * CHUNK.min(missing);
            chunk.clear();
            let got = self.file.take(wanted as u64).read_to_end(&mut chunk)?;
            ensure!(got == wanted, "the file ends after {} of {count} elements", elements.len() + got / size);
            let mut bytes = &chunk[..];
            while !bytes.is_empty() {
                elements.push(reader.read_one(&mut bytes)?);
            }
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
pub fn encode<T: AutoSerialize>(sizes: &[usize], elements: &[T], file: &mut dyn Write) -> Result<()> {
    let shape: Vec<u64> = sizes.iter().map(|&size| size as u64).collect();
    let mut writer = WriteOptions::new().default_dtype().shape(&shape).writer(file).begin_nd()?;
    for element in elements {
        writer.push(element)?;
    }
    Ok(writer.finish()?)
}
