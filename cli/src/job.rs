//! From a file to its answer, piece by piece. It must not know the command line's spelling, nor where anything is
//! written.

use crate::arguments::{Arguments, Function, IndexType};
use crate::grid::{Grid, Limits, Runs};
use crate::header::NO_DTYPE;
use crate::memory;
use crate::npy::{self, Array};
use crate::picture::Picture;
use crate::reduce::{Question, Reduce, Reducer};
use anyhow::{Result, anyhow, bail};
use argreduce::{DataType, Element, Error, Layout, ReduceFunction, UntypedPlan, drop_axes, unravel};
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
    /// If it is wanted.
    pub picture: Option<Picture>,
    plan: UntypedPlan,
    runs: usize,
    /// The sizes of the array, if there is one answer for all of it.
    whole: Option<Vec<usize>>,
    grid: Grid,
    reduce: Box<dyn Reduce>,
    /// How many blocks are done.
    done: usize,
    /// Room for what indices of a block are narrowed to.
    narrow: Vec<u64>,
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
    pub fn open(arguments: &Arguments, mut array: Array) -> Result<Self> {
        let (data_type, new) = element_type(&array.dtype)?;
        let rank = array.sizes.len();
        let axes = axes(arguments, rank);
        let question = question(arguments);
        let plan = plan(&question, &array.layout()?, &axes, data_type, arguments.index_type)?;
        let index_type = plan.index_type();
        let kept = drop_axes(&array.sizes, &axes)?;
        let is_reduced = |axis| axes.iter().any(|other| other.rem_euclid(rank as isize) as usize == axis);
        let labels = (0..rank).filter(|&axis| is_reduced(axis)).map(|axis| array.sizes[axis]).product();
        let draw = |_| Picture::new(&kept, arguments.legend.then_some(labels));
        let picture = arguments.picture.as_ref().map(draw).transpose()?;

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
        let whole = kept.is_empty().then(|| array.sizes.clone());
        let wants_values = arguments.values.is_some() || whole.is_some();
        let narrow = if index_type.size() < 8 { grid.largest().outputs.div_ceil(8 / index_type.size()) } else { 0 };
        Ok(Job {
            sizes: if arguments.keepdims { plan.output_layout().sizes().to_vec() } else { kept },
            index_dtype: npy::dtype(&format!("{}{}", &index_type.name()[..1], index_type.size()))?,
            value_dtype: npy::dtype(&format!("{}{}", array.dtype.type_char().to_str(), data_type.size()))?,
            picture,
            plan,
            runs,
            narrow: memory::defaults(narrow)?,
            reduce: new(question, grid.clone(), array, runs, wants_values)?,
            whole,
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
            let indices = narrowed(block.indices, self.plan.index_type().size(), &mut self.narrow);
            return Ok(Some(Piece { indices, values: block.values }));
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
            let indices = narrowed(block.indices, index_size, &mut self.narrow);
            scatter(indices, index_size, &runs, &mut self.indices);
            scatter(block.values, value_size, &runs, &mut self.values);
            self.done += 1;
        }
        Ok(Some(Piece { indices: &self.indices, values: &self.values }))
    }

    /// The one answer for all of the array, if that was the question: told when all is done.
    pub fn answer(&self) -> Result<Option<String>> {
        let Some((sizes, (index, value))) = self.whole.as_ref().zip(self.reduce.first()) else { return Ok(None) };
        let all: Vec<isize> = (0..sizes.len() as isize).collect();
        let place = unravel(index, sizes, &all)?;
        // Bools are bytes here.
        let value = match self.plan.data_type() {
            DataType::Bool => (format!("{value:?}") == "1").to_string(),
            _ => format!("{value:?}"),
        };
        Ok(Some(format!("index {index} at {place:?}: {value}")))
    }

    /// What to tell when all is done.
    pub fn report(self) -> String {
        let (plan, spent, bytes) = (&self.plan, self.reduce.spent(), self.grid.sizes.iter().product::<usize>());
        let rate = bytes as f64 * plan.data_type().size() as f64 / spent.as_nanos().max(1) as f64;
        let runs = if self.runs > 1 { format!("best of {} runs", self.runs) } else { "one run".to_string() };
        // The sizes of the output are those that are written.
        let plan = if self.sizes.len() == plan.output_layout().sizes().len() {
            format!("{plan}")
        } else {
            format!("{plan:#}")
        };
        format!("{plan}\n{spent:.2?} ({runs}), {rate:.2} GB/s of input")
    }
}

fn question(arguments: &Arguments) -> Question {
    let function = match arguments.function {
        Function::Argmin => ReduceFunction::ArgMin,
        Function::Argmax => ReduceFunction::ArgMax,
    };
    Question { function, direction: arguments.direction, nan_policy: arguments.nan, isa: arguments.isa }
}

/// The axes to reduce: without a word of them, all.
fn axes(arguments: &Arguments, rank: usize) -> Vec<isize> {
    arguments.axes.as_ref().map_or_else(|| (0..rank as isize).collect(), |axes| axes.0.clone())
}

/// Whether the answer has axes: without any, it is one line.
pub fn keeps_axes(arguments: &Arguments, array: &Array) -> Result<bool> {
    Ok(!drop_axes(&array.sizes, &axes(arguments, array.sizes.len()))?.is_empty())
}

/// Whether the instruction set is there, asked for or named by the environment: no matter of the file.
pub fn check_isa(arguments: &Arguments) -> Result<()> {
    question(arguments).of(&Layout::contiguous(&[])?, &[]).plan::<u8, u8>()?;
    Ok(())
}

/// The plan for all of the array, whose indices are of the type wanted.
fn plan(
    question: &Question,
    layout: &Layout,
    axes: &[isize],
    data_type: DataType,
    index_type: IndexType,
) -> Result<UntypedPlan> {
    let plan = |index_type| question.of(layout, axes).plan_untyped(data_type, index_type);
    let fits = |&index_type: &DataType| !matches!(plan(index_type), Err(Error::IndexTooLarge { .. }));
    let plan = plan(match index_type {
        IndexType::U8 => DataType::U8,
        IndexType::U16 => DataType::U16,
        IndexType::I32 => DataType::I32,
        IndexType::U32 => DataType::U32,
        IndexType::I64 => DataType::I64,
        IndexType::U64 => DataType::U64,
        IndexType::Auto => [DataType::U8, DataType::U16, DataType::U32].into_iter().find(fits).unwrap_or(DataType::U64),
    });
    let is_too_small = matches!(plan, Err(Error::IndexTooLarge { .. }));
    plan.map_err(|error| match is_too_small {
        true => anyhow!("{error}; --index-type auto is the smallest that holds them all"),
        false => error.into(),
    })
}

/// As they are in a file: of `size` bytes, in `narrow` if that is fewer than 8. The plan has checked that they fit.
fn narrowed<'a>(indices: &'a [u64], size: usize, narrow: &'a mut [u64]) -> &'a [u8] {
    fn fill<I: Pod>(narrow: &mut [u8], indices: &[u64], cast: impl Fn(u64) -> I) {
        for (narrow, &index) in bytemuck::cast_slice_mut(narrow).iter_mut().zip(indices) {
            *narrow = cast(index);
        }
    }
    if size == 8 {
        return bytemuck::cast_slice(indices);
    }
    let narrow: &mut [u8] = &mut bytemuck::cast_slice_mut(narrow)[..indices.len() * size];
    match size {
        1 => fill(narrow, indices, |index| index as u8),
        2 => fill(narrow, indices, |index| index as u16),
        _ => fill(narrow, indices, |index| index as u32),
    }
    narrow
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
        _ => bail!("dtype '{dtype}' is {NO_DTYPE}"),
    })
}
