//! From a file to its answer, piece by piece. It must not know the command line's spelling, nor where anything is
//! written.

use crate::arguments::{Arguments, IndexType};
use crate::grid::{Grid, Limits, Runs};
use crate::header::NO_DTYPE;
use crate::mask::MaskFile;
use crate::memory;
use crate::npy::{self, Array};
use crate::picture::Picture;
use crate::reduce::{Block, Means, NOTHING, Question, Reducer};
use anyhow::{Context, Result, anyhow, bail};
use argreduce::{
    DataType, Element, Error, Executor, Layout, Sequential, UntypedPlan, drop_axes, unravel, with_element_type,
};
use bytemuck::{AnyBitPattern, Pod, bytes_of, pod_read_unaligned};
use half::f16;
use npyz::{TypeChar, TypeStr};
use rayon::ThreadPoolBuilder;
use std::fmt::Debug;

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
    /// What is asked, and how it is answered.
    text: String,
    threads: usize,
    runs: usize,
    /// The sizes of the array, if there is one answer for all of it; and how its value is shown.
    whole: Option<Vec<usize>>,
    shown: Shown,
    blocks: Blocks,
    /// All outputs of each function, where blocks do not come in their order: indices and values.
    held: Vec<[Vec<u8>; 2]>,
}

/// Outputs of a function as they are in a file, the next in C order.
pub struct Piece<'a> {
    pub indices: &'a [u8],
    pub values: &'a [u8],
}

/// The bytes of an element as text.
type Shown = fn(&[u8]) -> String;

impl Job {
    /// All that can be refused without the elements is refused here.
    pub fn open(arguments: &Arguments, threads: usize, mut array: Array, mask: Option<MaskFile>) -> Result<Self> {
        let (data_type, shown) = element_type(&array.dtype)?;
        let rank = array.sizes.len();
        let axes = axes(arguments, rank);
        let question = question(arguments);
        let plan = plan(&question, &array.layout()?, &axes, data_type, arguments)?;
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
        let chunk = arguments.chunk(threads);
        let mut grid = cut(chunk);
        if !grid.is_sequential() {
            grid = cut(chunk.saturating_mul(MORE));
        }
        array.check_length()?;
        let runs = if arguments.bench { RUNS } else { 1 };
        let whole = kept.is_empty().then(|| array.sizes.clone());
        let wants_values = arguments.values.is_some() || whole.is_some();
        // The sizes of the output are those that are written, and the function is the one that was asked for.
        let text = if kept.len() == rank || arguments.keepdims { format!("{plan}") } else { format!("{plan:#}") };
        let (_, text) = text.split_once(' ').unwrap_or_default();
        let text = format!("{} {text}", arguments.function.name());
        let value_dtype = npy::dtype(&format!("{}{}", array.dtype.type_char().to_str(), data_type.size()))?;
        let narrow = if index_type.size() < 8 { grid.largest().outputs.saturating_mul(index_type.size()) } else { 0 };
        let narrow = question.functions.iter().map(|_| memory::bytes(narrow)).collect::<Result<_>>()?;
        let means = Means { mask, executor: executor(threads)?, runs, wants_values };
        let reducer = Reducer::new(question, grid.clone(), array, data_type, means)?;
        Ok(Job {
            sizes: if arguments.keepdims { plan.output_layout().sizes().to_vec() } else { kept },
            index_dtype: npy::dtype(&format!("{}{}", &index_type.name()[..1], index_type.size()))?,
            value_dtype,
            picture,
            text,
            threads,
            runs,
            whole,
            shown,
            blocks: Blocks { plan, grid, reducer, narrow, fill: arguments.fill, nothing_at: None, done: 0 },
            held: Vec::new(),
        })
    }

    /// The next outputs of each function, if there are more.
    pub fn next(&mut self) -> Result<Option<Vec<Piece<'_>>>> {
        let Job { blocks, held, .. } = self;
        let count = blocks.grid.blocks();
        if blocks.done == count {
            return Ok(None);
        }
        if blocks.grid.is_in_order() {
            return Ok(Some(blocks.next()?.1));
        }
        let outputs = blocks.plan.output_layout().element_count();
        let sizes = [blocks.plan.index_type().size(), blocks.plan.data_type().size()];
        while blocks.done < count {
            let (runs, pieces) = blocks.next()?;
            for (n, Piece { indices, values }) in pieces.into_iter().enumerate() {
                let parts = [indices, values];
                if held.len() == n {
                    // Not before there are elements: a header can promise any number of them.
                    let room = |part: usize| outputs.saturating_mul(sizes[part]) * usize::from(!parts[part].is_empty());
                    held.push([memory::defaults(room(0))?, memory::defaults(room(1))?]);
                }
                for (part, held) in held[n].iter_mut().enumerate() {
                    scatter(parts[part], sizes[part], &runs, held);
                }
            }
        }
        Ok(Some(held.iter().map(|[indices, values]| Piece { indices, values }).collect()))
    }

    /// The one answer for all of the array, if that was the question: told when all is done. Of two functions, each in
    /// a line of its own.
    pub fn answer(&mut self) -> Result<Option<String>> {
        let Job { whole: Some(sizes), shown, blocks, .. } = self else { return Ok(None) };
        let all: Vec<isize> = (0..sizes.len() as isize).collect();
        let functions = blocks.reducer.functions();
        let mut lines = Vec::new();
        for (n, function) in functions.iter().enumerate() {
            let (index, value) = blocks.reducer.first(n);
            let found = match blocks.fill.filter(|_| blocks.nothing_at.is_some()) {
                Some(fill) => format!("index {fill}: nothing is there"),
                None => format!("index {index} at {:?}: {}", unravel(index, sizes, &all)?, shown(value)),
            };
            lines.push(if functions.len() > 1 { format!("{function}: {found}") } else { found });
        }
        Ok(Some(lines.join("\n")))
    }

    /// What to tell when all is done.
    pub fn report(self) -> String {
        let Blocks { plan, grid, reducer, .. } = &self.blocks;
        let (spent, elements) = (reducer.spent(), grid.sizes.iter().product::<usize>());
        let rate = elements as f64 * plan.data_type().size() as f64 / spent.as_nanos().max(1) as f64;
        let runs = if self.runs > 1 { format!("best of {} runs", self.runs) } else { "one run".to_string() };
        let threads = if self.threads > 1 { format!(", {} threads", self.threads) } else { String::new() };
        format!("{}\n{spent:.2?} ({runs}{threads}), {rate:.2} GB/s of input", self.text)
    }
}

/// The outputs, block by block.
struct Blocks {
    /// Of the first function.
    plan: UntypedPlan,
    grid: Grid,
    reducer: Reducer,
    /// Room for what indices of a block are narrowed to, for each function.
    narrow: Vec<Vec<u64>>,
    fill: Option<i64>,
    /// The first output of which nothing is there, by its number in C order; of those that are done.
    nothing_at: Option<usize>,
    /// How many blocks are.
    done: usize,
}

impl Blocks {
    /// The next one, and where its outputs are among all of them.
    fn next(&mut self) -> Result<(Runs, Vec<Piece<'_>>)> {
        let Blocks { plan, grid, reducer, narrow, fill, nothing_at, done } = self;
        let runs = grid.outputs(&grid.part(*done, 0));
        // Without a mask, everything is there.
        let looked_at = if reducer.is_masked() { usize::MAX } else { 0 };
        let found = reducer.block(*done)?;
        *done += 1;
        let mut pieces = Vec::new();
        for (Block { indices, values }, narrow) in found.into_iter().zip(narrow) {
            let nothing = runs.places().zip(indices.iter_mut()).enumerate().take(looked_at);
            for (n, (place, index)) in nothing.filter(|(_, (_, index))| **index == NOTHING) {
                *nothing_at = Some(nothing_at.map_or(place, |first| first.min(place)));
                // The bits of a negative one, which are narrowed as well.
                *index = fill.unwrap_or(0) as u64;
                if !values.is_empty() {
                    put_no_value(plan.data_type(), n, values);
                }
            }
            pieces.push(Piece { indices: narrowed(indices, plan.index_type().size(), narrow), values });
        }
        // Where blocks are not in order, a later one may have an earlier output.
        if fill.is_none() && (grid.is_in_order() || *done == grid.blocks()) {
            nothing_at.map_or(Ok(()), |place| nothing_there(place, plan.output_layout()))?;
        }
        Ok((runs, pieces))
    }
}

/// The error for an output, by its number in C order.
fn nothing_there(place: usize, outputs: &Layout) -> Result<()> {
    let rank = if outputs.element_count() == 1 { 0 } else { outputs.sizes().len() };
    let all: Vec<isize> = (0..rank as isize).collect();
    let output = unravel(place, &outputs.sizes()[..rank], &all)?.to_vec();
    bail!("{}; --fill says which", Error::NothingThere { output })
}

fn executor(threads: usize) -> Result<Box<dyn Executor>> {
    if threads == 1 {
        return Ok(Box::new(Sequential));
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(Box::new(pool.with_context(|| format!("{threads} threads"))?))
}

fn question(arguments: &Arguments) -> Question {
    let functions = arguments.function.each();
    Question { functions, direction: arguments.direction, nan_policy: arguments.nan, isa: arguments.isa }
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
    let question = question(arguments);
    question.of(question.functions[0], &Layout::contiguous(&[])?, &[]).plan::<u8, u8>()?;
    Ok(())
}

/// The plan of the first function for all of the array, whose indices are of the type wanted.
fn plan(
    question: &Question,
    layout: &Layout,
    axes: &[isize],
    data_type: DataType,
    arguments: &Arguments,
) -> Result<UntypedPlan> {
    let question = question.of(question.functions[0], layout, axes);
    let question = arguments.fill.map_or(question, |fill| question.fill(fill));
    let plan = |index_type| question.plan_untyped(data_type, index_type);
    let is_too_small =
        |plan: &Result<_, Error>| matches!(plan, Err(Error::IndexTooLarge { .. } | Error::FillOutOfRange { .. }));
    let fits = |&index_type: &DataType| !is_too_small(&plan(index_type));
    const ALL: [DataType; 6] =
        [DataType::U8, DataType::U16, DataType::U32, DataType::U64, DataType::I32, DataType::I64];
    let plan = plan(match arguments.index_type {
        IndexType::U8 => DataType::U8,
        IndexType::U16 => DataType::U16,
        IndexType::I32 => DataType::I32,
        IndexType::U32 => DataType::U32,
        IndexType::I64 => DataType::I64,
        IndexType::U64 => DataType::U64,
        IndexType::Auto => ALL.into_iter().find(fits).unwrap_or(DataType::I64),
    });
    let is_too_small = is_too_small(&plan);
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

/// Copies packed elements of this size, if there are any, to their places.
fn scatter(from: &[u8], size: usize, runs: &Runs, to: &mut [u8]) {
    for (place, element) in runs.places().zip(from.chunks_exact(size)) {
        to[place * size..][..size].copy_from_slice(element);
    }
}

/// What stands for a value where nothing is there: NaN, or 0 of a type without one.
fn put_no_value(data_type: DataType, n: usize, values: &mut [u8]) {
    let value = &mut values[n * data_type.size()..][..data_type.size()];
    with_element_type!(data_type, T => {
        type Pod = <T as Element>::Pod;
        value.copy_from_slice(bytes_of(&Pod::ANY_NAN.unwrap_or(Pod::ZERO)));
    });
}

/// The type of such elements, and how one of them is shown.
fn element_type(dtype: &TypeStr) -> Result<(DataType, Shown)> {
    fn shown<T: Debug + AnyBitPattern>(bytes: &[u8]) -> String {
        format!("{:?}", pod_read_unaligned::<T>(bytes))
    }
    Ok(match (dtype.type_char(), dtype.size_field()) {
        (TypeChar::Float, 2) => (DataType::F16, shown::<f16>),
        (TypeChar::Float, 4) => (DataType::F32, shown::<f32>),
        (TypeChar::Float, 8) => (DataType::F64, shown::<f64>),
        (TypeChar::Int, 1) => (DataType::I8, shown::<i8>),
        (TypeChar::Int, 2) => (DataType::I16, shown::<i16>),
        (TypeChar::Int, 4) => (DataType::I32, shown::<i32>),
        (TypeChar::Int, 8) => (DataType::I64, shown::<i64>),
        (TypeChar::Uint, 1) => (DataType::U8, shown::<u8>),
        (TypeChar::Uint, 2) => (DataType::U16, shown::<u16>),
        (TypeChar::Uint, 4) => (DataType::U32, shown::<u32>),
        (TypeChar::Uint, 8) => (DataType::U64, shown::<u64>),
        (TypeChar::Bool, 1) => (DataType::Bool, |bytes| (bytes != [0]).to_string()),
        _ => bail!("dtype '{dtype}' is {NO_DTYPE}"),
    })
}
