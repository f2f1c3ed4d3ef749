//! Reduces an array block by block: the part that uses argreduce. It must not know the command line, nor where the
//! answers go.
//!
//! ```text
//! for each block of outputs:
//!     for each chunk of the elements they are chosen from:
//!         for each function: a plan with a window, and partial answers; those of other chunks merged into them
//! ```

use crate::grid::{Grid, Part};
use crate::mask::{Beside, MaskFile};
use crate::memory;
use crate::npy::Array;
use crate::progress::Progress;
use anyhow::Result;
use argreduce::{
    ArgReduce, AxisDirection, Buffers, DataType, Executor, Isa, Layout, NanPolicy, PartialBuffers, ReduceFunction,
    UntypedOutput, input,
};
use bytemuck::{cast_slice, cast_slice_mut};
use std::time::{Duration, Instant};

/// What is asked of the array, whatever its axes.
pub struct Question {
    pub functions: &'static [ReduceFunction],
    pub direction: AxisDirection,
    pub nan_policy: NanPolicy,
    pub isa: Option<Isa>,
}

impl Question {
    pub fn of<'a>(&self, function: ReduceFunction, layout: &'a Layout, axes: &[isize]) -> ArgReduce<'a> {
        let request = ArgReduce::new(function, layout).axes(axes);
        let request = request.direction(self.direction).nan_policy(self.nan_policy);
        self.isa.map_or(request, |isa| request.isa(isa))
    }
}

/// The index of an output of which nothing is there.
pub const NOTHING: u64 = u64::MAX;

/// The outputs of a block for one function, packed in the order of the file: indices in the whole, and the bytes of the
/// elements there, if they are wanted.
pub struct Block<'a> {
    pub indices: &'a mut [u64],
    pub values: &'a mut [u8],
}

/// With what an array is reduced.
pub struct Means {
    pub mask: Option<MaskFile>,
    pub executor: Box<dyn Executor>,
    /// How often each chunk is reduced; the best time counts.
    pub runs: usize,
    pub wants_values: bool,
}

pub struct Reducer {
    question: Question,
    axes: Vec<isize>,
    grid: Grid,
    array: Array,
    data_type: DataType,
    mask: Option<Beside>,
    executor: Box<dyn Executor>,
    runs: usize,
    spent: Duration,
    progress: Progress,
    wants_values: bool,
    /// Of a chunk.
    elements: Vec<u64>,
    /// For each function.
    best: Vec<Found>,
    /// Of the last chunk, where several are merged.
    other: Found,
}

impl Reducer {
    pub fn new(question: Question, grid: Grid, mut array: Array, data_type: DataType, means: Means) -> Result<Self> {
        let Means { mask, executor, runs, wants_values } = means;
        let (largest, is_cut) = (grid.largest(), grid.chunks() > 1);
        // Partial answers have them.
        let has_values = wants_values || is_cut || mask.is_some();
        let found = |outputs| Found::new(outputs, if has_values { data_type.size() } else { 0 });
        let (elements, mask, best, other) = memory::large(|| {
            let elements = memory::bytes(largest.elements.saturating_mul(data_type.size()))?;
            let mask = mask.map(|mask| mask.beside(&grid)).transpose()?;
            let best = question.functions.iter().map(|_| found(largest.outputs)).collect::<Result<_>>()?;
            Ok((elements, mask, best, found(if is_cut { largest.outputs } else { 0 })?))
        })?;
        if !grid.is_sequential() {
            array.keep()?;
        }
        let bytes = grid.sizes.iter().product::<usize>().saturating_mul(data_type.size());
        let (axes, spent, progress) =
            ((0..grid.reduced as isize).collect(), Duration::ZERO, Progress::new(bytes as u64));
        #[rustfmt::skip]
        let reducer = Reducer {
            question, axes, grid, array, data_type, mask, executor, runs, spent, progress, wants_values, elements, best,
            other,
        };
        Ok(reducer)
    }

    /// Reads a part, and tells how its elements lie.
    fn read(&mut self, part: &Part) -> Result<Layout> {
        let layout = self.grid.layout(part)?;
        let (runs, size) = (self.grid.elements(part), self.data_type.size());
        let elements = &mut cast_slice_mut(&mut self.elements)[..layout.required_len() * size];
        for (at, run) in runs.starts().zip(elements.chunks_exact_mut(runs.len * size)) {
            self.array.read(at, run)?;
            self.progress.add(run.len() as u64);
        }
        if let Some(mask) = &mut self.mask {
            mask.read(part)?;
        }
        Ok(layout)
    }

    /// Reduces a block of outputs, whose indices may be [`NOTHING`] where there is a mask: one for each function.
    pub fn block(&mut self, block: usize) -> Result<Vec<Block<'_>>> {
        let outputs = self.grid.part(block, 0).sizes[self.grid.reduced..].iter().product();
        for chunk in 0..self.grid.chunks() {
            let part = self.grid.part(block, chunk);
            let layout = self.read(&part)?;
            let input = input(cast_slice::<_, u8>(&self.elements)).on(&*self.executor);
            let input = input.masked(self.mask.as_ref().map(Beside::mask));
            for (&function, best) in self.question.functions.iter().zip(&mut self.best) {
                let question = self.question.of(function, &layout, &self.axes).window(&self.grid.sizes, &part.start);
                let plan = question.plan_untyped(self.data_type, DataType::U64)?;
                let found = if chunk == 0 { &mut *best } else { &mut self.other };
                let mut time = Duration::MAX;
                for _ in 0..self.runs {
                    let start = Instant::now();
                    plan.run(input, found.output(outputs))?;
                    time = time.min(start.elapsed());
                }
                self.spent += time;
                if chunk > 0 {
                    let (best, (indices, values)) = (best.bytes(outputs), self.other.bytes(outputs));
                    let types = (self.data_type, DataType::U64);
                    plan.merge().arrays_untyped(types, (best.1, best.0), (values, indices))?;
                }
            }
        }
        let wants_values = self.wants_values;
        Ok(self.best.iter_mut().map(|found| found.block(outputs, wants_values)).collect())
    }

    pub fn is_masked(&self) -> bool {
        self.mask.is_some()
    }

    pub fn functions(&self) -> &'static [ReduceFunction] {
        self.question.functions
    }

    /// Of the block that was reduced last: the first output of a function, and its element, which was wanted.
    pub fn first(&mut self, function: usize) -> (u64, &[u8]) {
        let Block { indices, values } = self.best[function].block(1, true);
        (indices[0], values)
    }

    /// The time that was spent, without reading.
    pub fn spent(&self) -> Duration {
        self.spent
    }
}

/// What one function finds in a block.
struct Found {
    indices: Vec<u64>,
    values: Vec<u64>,
    /// The bytes of a value; 0 if there are none.
    size: usize,
}

impl Found {
    fn new(outputs: usize, size: usize) -> Result<Self> {
        Ok(Found { indices: memory::defaults(outputs)?, values: memory::bytes(outputs.saturating_mul(size))?, size })
    }

    fn block(&mut self, outputs: usize, with_values: bool) -> Block<'_> {
        let bytes = if with_values { outputs * self.size } else { 0 };
        Block { indices: &mut self.indices[..outputs], values: &mut cast_slice_mut(&mut self.values)[..bytes] }
    }

    fn bytes(&mut self, outputs: usize) -> (&mut [u8], &mut [u8]) {
        let Block { indices, values } = self.block(outputs, true);
        (cast_slice_mut(indices), values)
    }

    /// Where it is written to: as partial answers, which may be of nothing, if there is room for values.
    fn output(&mut self, outputs: usize) -> UntypedOutput<'_> {
        let has_values = self.size > 0;
        let (indices, values) = self.bytes(outputs);
        if has_values { PartialBuffers { indices, values }.into() } else { Buffers { indices, values: None }.into() }
    }
}
