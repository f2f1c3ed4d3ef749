//! Arrays in `.npy` files, bytes to elements and back. It must not know what is computed from them, nor where the bytes
//! come from or go.

use crate::header;
use crate::input::Source;
use anyhow::{Context, Result, bail, ensure};
use argreduce::Layout;
use npyz::{DType, Endianness, TypeChar, TypeStr, WriteOptions, WriterBuilder};
use std::io::Write;

/// A file whose header has been read; its elements are still to come.
pub struct Array {
    pub sizes: Vec<usize>,
    pub dtype: TypeStr,
    is_fortran: bool,
    file: Source,
    /// Where the elements begin.
    start: u64,
}

impl Array {
    pub fn open(mut file: Source) -> Result<Self> {
        let header = header::read(&mut file)?;
        let start = file.position();
        Ok(Array { sizes: header.sizes, dtype: header.dtype, is_fortran: header.fortran_order, file, start })
    }

    /// The axes in the order of the file, the slowest first.
    pub fn order(&self) -> Vec<usize> {
        let axes = 0..self.sizes.len();
        if self.is_fortran { axes.rev().collect() } else { axes.collect() }
    }

    /// How the elements lie in the file: a matter of strides, so that none has to move.
    pub fn layout(&self) -> Result<Layout> {
        // Either order is its own inverse.
        let order: Vec<isize> = self.order().into_iter().map(|axis| axis as isize).collect();
        let packed: Vec<usize> = self.order().into_iter().map(|axis| self.sizes[axis]).collect();
        Ok(Layout::contiguous(&packed)?.permute(&order)?)
    }

    /// How many bytes an element has.
    pub fn size(&self) -> Result<usize> {
        self.dtype.num_bytes().context("elements of unknown size")
    }

    /// From now on, elements may be read in any order.
    pub fn keep(&mut self) -> Result<()> {
        self.file.keep((self.count() as u64).saturating_mul(self.size()? as u64))
    }

    /// Whether a file has as many elements as its header promises; of a pipe, nobody knows.
    pub fn check_length(&mut self) -> Result<()> {
        let size = self.size()?;
        let found = self.file.len()?.map_or(u64::MAX, |len| len.saturating_sub(self.start) / size as u64);
        ensure!(found >= self.count() as u64, self.ends_after(found));
        Ok(())
    }

    fn ends_after(&self, found: u64) -> String {
        format!("the file ends after {found} of {} elements", self.count())
    }

    pub fn count(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Reads the bytes of elements from number `at` on, counted in the order of the file. Either byte order will do.
    pub fn read(&mut self, at: usize, bytes: &mut [u8]) -> Result<()> {
        let size = self.size()?;
        let place = at.checked_mul(size).and_then(|place| self.start.checked_add(place as u64));
        let got = self.file.read_at(place.context("more bytes than can be counted")?, bytes)?;
        if got < bytes.len() {
            // Others may have cut the file short, also before this place.
            self.check_length()?;
            bail!(self.ends_after((at + got / size) as u64));
        }
        if ![Endianness::Irrelevant, Endianness::of_machine()].contains(&self.dtype.endianness()) {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        if self.dtype.type_char() == TypeChar::Bool {
            let wrong = bytes.iter().find(|&&byte| byte > 1);
            ensure!(wrong.is_none(), "a bool is {}: 0 and 1 are allowed", wrong.unwrap_or(&0));
        }
        Ok(())
    }
}

/// Bytes of elements as this machine has them, the kind given as in `f4`.
pub fn dtype(kind: &str) -> Result<TypeStr> {
    let order = if kind.ends_with('1') { Endianness::Irrelevant } else { Endianness::of_machine() };
    Ok(format!("{}{kind}", order.to_str()).parse()?)
}

/// Writes what stands before elements in C order, and tells how many bytes that is.
pub fn write_header(sizes: &[usize], dtype: TypeStr, file: &mut dyn Write) -> Result<u64> {
    let shape: Vec<u64> = sizes.iter().map(|&size| size as u64).collect();
    let options = WriteOptions::new_header_only().dtype(DType::Plain(dtype)).shape(&shape);
    let header = options.writer(Vec::new()).write_header_only()?;
    file.write_all(&header)?;
    Ok(header.len() as u64)
}
