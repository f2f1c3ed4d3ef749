//! Which elements of an array are there: another array, read beside it, part by part. It must not know what is reduced.

use crate::grid::{Grid, Part};
use crate::input::Input;
use crate::memory;
use crate::npy::Array;
use anyhow::{Context, Result, ensure};
use argreduce::{Layout, Mask};
use npyz::TypeChar;

/// A mask that fits an array; its elements are still to come.
pub struct MaskFile {
    /// For messages.
    name: String,
    array: Array,
    /// As many as the array has; 1 where it is broadcast.
    sizes: Vec<usize>,
    /// Its axes among those, from the slowest to the fastest one in the file.
    order: Vec<usize>,
    /// All of it, if it is in another order than the array: what is read together is far apart in the file then.
    held: Option<Vec<u8>>,
}

impl MaskFile {
    pub fn open(input: Input, masked: &Array) -> Result<Self> {
        let Input { name, source } = input;
        let open = || {
            let mut array = Array::open(source)?;
            let is_mask = matches!(array.dtype.type_char(), TypeChar::Bool | TypeChar::Uint) && array.size()? == 1;
            ensure!(is_mask, "dtype '{}' says of no element whether it is there: bool and u1 do", array.dtype);
            let missing = masked.sizes.len().checked_sub(array.sizes.len());
            let sizes = [&vec![1; missing.unwrap_or(0)][..], &array.sizes].concat();
            let fits = missing.is_some() && sizes.iter().zip(&masked.sizes).all(|(&size, &of)| size == 1 || size == of);
            ensure!(fits, "sizes {:?} do not broadcast to those of the array, {:?}", array.sizes, masked.sizes);
            array.check_length()?;
            array.keep()?;
            let order = array.order().into_iter().map(|axis| axis + missing.unwrap_or(0));
            let order: Vec<usize> = (0..missing.unwrap_or(0)).chain(order).collect();
            let long = |order: &[usize]| order.iter().copied().filter(|&axis| sizes[axis] > 1).collect::<Vec<_>>();
            let mut held = None;
            if long(&order) != long(&masked.order()) {
                array.read(0, held.insert(memory::defaults(array.count())?))?;
            }
            Ok((array, sizes, order, held))
        };
        let (array, sizes, order, held) = open().with_context(|| name.clone())?;
        Ok(MaskFile { name, array, sizes, order, held })
    }

    /// To be read in the parts of the array's grid.
    pub fn beside(self, grid: &Grid) -> Result<Beside> {
        let grid = grid.broadcast(&self.sizes, &self.order);
        let bytes = memory::defaults(grid.largest().elements)?;
        Ok(Beside { file: self, grid, bytes, layout: Layout::contiguous(&[])? })
    }
}

pub struct Beside {
    file: MaskFile,
    grid: Grid,
    /// Those of a part, and how they lie.
    bytes: Vec<u8>,
    layout: Layout,
}

impl Beside {
    /// Reads what there is of a part of the array.
    pub fn read(&mut self, part: &Part) -> Result<()> {
        let own = self.grid.own(part);
        let (layout, runs) = (self.grid.layout(&own)?, self.grid.elements(&own));
        let bytes = &mut self.bytes[..layout.required_len()];
        for (at, run) in runs.starts().zip(bytes.chunks_exact_mut(runs.len)) {
            match &self.file.held {
                Some(held) => run.copy_from_slice(&held[at..][..runs.len]),
                None => self.file.array.read(at, run).with_context(|| self.file.name.clone())?,
            }
        }
        self.layout = layout.broadcast(&part.sizes)?;
        Ok(())
    }

    /// Of the part that was read last.
    pub fn mask(&self) -> Mask<'_> {
        Mask::bytes_strided(&self.bytes, &self.layout)
    }
}
