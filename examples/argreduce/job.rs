//! From a file to its answer, piece by piece. It must not know the command line's spelling, nor where anything is
//! written.

use crate::arguments::{Arguments, Function, IndexType};
use crate::grid::{Grid, Limits, Runs};
use crate::input::Source;
use crate::npy::{self, Array};
use crate::reduce::{Question, Reduce, Reducer};
use crate::{memory, picture};
use anyhow::{Result, bail};
use argreduce::{DataType, Element, ReduceFunction, UntypedPlan, drop_axes};
use bytemuck::Pod;
use half::f16;
use npyz::{TypeChar, TypeStr};

/// How often each chunk is reduced with `--bench`: the first time pays for cold memory, the best one is told.
const RUNS: usize = 5;

/// The fewest bytes of a chunk for each output of a block: an output takes a few times as much memory as an index.
const BYTES_PER_OUTPUT: usize = 32;

/// How much larger chunks are if the file would not be read from first to last otherwise: then its runs are longer at
/// least. Disks and pipes want one or the other, and caches want small chunks.
const MORE: usize = 8;

pub struct Job {
    /// Of the answer.
    pub sizes: Vec<usize>,
    pub index_dtype: TypeStr,
    pub value_dtype: TypeStr,
    /// Of the picture, if it is wanted.
    pub pixels: Option<[u32; 2]>,
    plan: UntypedPlan,
    runs: usize,
    grid: Grid,
    reduce: Box<dyn Reduce>,
    /// How many blocks are done.
    done: usize,
    /// What indices of a block are narrowed to.
    narrow: Vec<u32>,
    /// All outputs, where blocks do not come in their order.
    indices: Vec<u8>,
    values: Vec<u8>,
}

/// Outputs as they are in a file, the next in C order.
pub struct Piece<'a> {
    pub indices: &'a [u8],
    pub values: &'a [u8],
}

/// One instance of [`reducer`].
type New = fn(Question, Grid, Array, usize, bool) -> Result<Box<dyn Reduce>>;

fn reducer<T: Element + Pod>(
    question: Question,
    grid: Grid,
    array: Array,
    runs: usize,
    wants_values: bool,
) -> Result<Box<dyn Reduce>> {
    Ok(Box::new(Reducer::<T>::new(question, grid, array, runs, wants_values)?))
}

impl Job {
    /// All that can be refused without the elements is refused here.
    pub fn open(arguments: &Arguments, source: Source) -> Result<Self> {
        let mut array = Array::open(source)?;
        let (data_type, new) = element_type(&array.dtype)?;
        let (index_type, index_kind) = match arguments.index_type {
            IndexType::I32 => (DataType::I32, "i4"),
            IndexType::I64 => (DataType::I64, "i8"),
            IndexType::U32 => (DataType::U32, "u4"),
            IndexType::U64 => (DataType::U64, "u8"),
        };
        let rank = array.sizes.len();
        let axes = match &arguments.axes {
            Some(axes) => axes.0.clone(),
            None => (0..rank as isize).collect(),
        };
        let function = match arguments.function {
            Function::Argmin => ReduceFunction::ArgMin,
            Function::Argmax => ReduceFunction::ArgMax,
        };
        let (direction, nan_policy, isa) = (arguments.direction, arguments.nan, arguments.isa);
        let question = Question { function, direction, nan_policy, isa };
        let plan = question.of(&array.layout()?, &axes).plan_untyped(data_type, index_type)?;
        let kept = drop_axes(&array.sizes, &axes)?;
        let pixels = arguments.picture.as_ref().map(|_| picture::pixels(&kept)).transpose()?;

        let is_reduced = |axis| axes.iter().any(|other| other.rem_euclid(rank as isize) as usize == axis);
        let cut = |chunk: usize| {
            let limits =
                Limits { elements: (chunk / data_type.size()).max(1), outputs: (chunk / BYTES_PER_OUTPUT).max(1) };
            Grid::new(&array.sizes, &array.order(), is_reduced, limits)
        };
        let mut grid = cut(arguments.chunk);
        if !grid.is_sequential() {
            grid = cut(arguments.chunk.saturating_mul(MORE));
        }
        array.check_length()?;
        let runs = if arguments.bench { RUNS } else { 1 };
        let narrow = if index_type.size() == 4 { grid.largest().outputs } else { 0 };
        Ok(Job {
            sizes: if arguments.keepdims { plan.output_layout().sizes().to_vec() } else { kept },
            index_dtype: npy::dtype(index_kind)?,
            value_dtype: npy::dtype(&format!("{}{}", array.dtype.type_char().to_str(), data_type.size()))?,
            pixels,
            plan,
            runs,
            narrow: memory::room(narrow)?,
            reduce: new(question, grid.clone(), array, runs, arguments.values.is_some())?,
            grid,
            done: 0,
            indices: Vec::new(),
            values: Vec::new(),
        })
    }

    /// The next outputs, if there are more.
    pub fn next(&mut self) -> Result<Option<Piece<'_>>> {
        let blocks = self.grid.blocks();
        if self.done == blocks {
            return Ok(None);
        }
        if self.grid.is_in_order() {
            self.done += 1;
            let block = self.reduce.block(self.done - 1)?;
            return Ok(Some(Piece { indices: narrowed(block.indices, &mut self.narrow), values: block.values }));
        }
        let outputs = self.plan.output_layout().element_count();
        let (index_size, value_size) = (self.plan.index_type().size(), self.plan.data_type().size());
        while self.done < blocks {
            let block = self.reduce.block(self.done)?;
            if self.done == 0 {
                // Not before there are elements: a header can promise any number of them.
                let value_bytes = if block.values.is_empty() { 0 } else { outputs.saturating_mul(value_size) };
                self.indices = memory::defaults(outputs.saturating_mul(index_size))?;
                self.values = memory::defaults(value_bytes)?;
            }
            let runs = self.grid.outputs(&self.grid.part(self.done, 0));
            scatter(narrowed(block.indices, &mut self.narrow), index_size, &runs, &mut self.indices);
            scatter(block.values, value_size, &runs, &mut self.values);
            self.done += 1;
        }
        Ok(Some(Piece { indices: &self.indices, values: &self.values }))
    }

    /// What to tell when all is done.
    pub fn report(self) -> String {
        let (plan, spent, bytes) = (&self.plan, self.reduce.spent(), self.grid.sizes.iter().product::<usize>());
        let rate = bytes as f64 * plan.data_type().size() as f64 / spent.as_nanos().max(1) as f64;
        let runs = if self.runs > 1 { format!("best of {} runs", self.runs) } else { "one run".to_string() };
        format!("{plan}\n{spent:.2?} ({runs}), {rate:.2} GB/s of input")
    }
}

/// As they are in a file: of 4 bytes if there is room for such, and else of 8. The plan has checked that they fit.
fn narrowed<'a>(indices: &'a [u64], narrow: &'a mut Vec<u32>) -> &'a [u8] {
    if narrow.capacity() == 0 {
        return bytemuck::cast_slice(indices);
    }
    narrow.clear();
    narrow.extend(indices.iter().map(|&index| index as u32));
    bytemuck::cast_slice(narrow)
}

/// Copies packed elements of this size to their places.
fn scatter(from: &[u8], size: usize, runs: &Runs, to: &mut [u8]) {
    for (start, run) in runs.starts().zip(from.chunks_exact(runs.len * size)) {
        for (n, element) in run.chunks_exact(size).enumerate() {
            to[(start + n * runs.step) * size..][..size].copy_from_slice(element);
        }
    }
}

/// How elements of this kind are reduced. Bools are bytes, in the same order.
fn element_type(dtype: &TypeStr) -> Result<(DataType, New)> {
    Ok(match (dtype.type_char(), dtype.size_field()) {
        (TypeChar::Float, 2) => (DataType::F16, reducer::<f16>),
        (TypeChar::Float, 4) => (DataType::F32, reducer::<f32>),
        (TypeChar::Float, 8) => (DataType::F64, reducer::<f64>),
        (TypeChar::Int, 1) => (DataType::I8, reducer::<i8>),
        (TypeChar::Int, 2) => (DataType::I16, reducer::<i16>),
        (TypeChar::Int, 4) => (DataType::I32, reducer::<i32>),
        (TypeChar::Int, 8) => (DataType::I64, reducer::<i64>),
        (TypeChar::Uint, 1) => (DataType::U8, reducer::<u8>),
        (TypeChar::Uint, 2) => (DataType::U16, reducer::<u16>),
        (TypeChar::Uint, 4) => (DataType::U32, reducer::<u32>),
        (TypeChar::Uint, 8) => (DataType::U64, reducer::<u64>),
        (TypeChar::Bool, 1) => (DataType::Bool, reducer::<u8>),
        _ => bail!("dtype '{dtype}' is none of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 and bool"),
    })
}
