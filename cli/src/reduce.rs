//! Reduces an array block by block: the part that uses argreduce. It must not know the command line, nor where the
//! answers go.
//!
//! ```text
//! for each block of outputs:
//!     chunks along the first reduced axis:   pushed to a stream of the block
//!     chunks along others, or only one:      a plan with a window each, merged
//! ```

use crate::grid::{Grid, Part};
use crate::memory;
use crate::npy::Array;
use crate::progress::Progress;
use anyhow::Result;
use argreduce::{ArgReduce, ArgStream, AxisDirection, Element, Isa, Layout, NanPolicy, ReduceFunction};
use bytemuck::Pod;
use std::fmt::Debug;
use std::time::{Duration, Instant};

/// What is asked of the array, whatever its axes.
pub struct Question {
    pub function: ReduceFunction,
    pub direction: AxisDirection,
    pub nan_policy: NanPolicy,
    pub isa: Option<Isa>,
}

impl Question {
    pub fn of<'a>(&self, layout: &'a Layout, axes: &[isize]) -> ArgReduce<'a> {
        let request = ArgReduce::new(self.function, layout).axes(axes);
        let request = request.direction(self.direction).nan_policy(self.nan_policy);
        self.isa.map_or(request, |isa| request.isa(isa))
    }
}

/// The outputs of a block, packed in the order of the file: indices in the whole, and the bytes of the elements there,
/// if they are wanted.
pub struct Block<'a> {
    pub indices: &'a [u64],
    pub values: &'a [u8],
}

/// A [`Reducer`] of any element type.
pub trait Reduce {
    fn block(&mut self, block: usize) -> Result<Block<'_>>;
    /// The first output of the block that was reduced last, and its element, which was wanted.
    fn first(&self) -> Option<(u64, &dyn Debug)>;
    /// The time that was spent, without reading.
    fn spent(&self) -> Duration;
}

pub struct Reducer<T> {
    question: Question,
    axes: Vec<isize>,
    grid: Grid,
    array: Array,
    /// How often each chunk is reduced; the best time counts.
    runs: usize,
    spent: Duration,
    progress: Progress,
    wants_values: bool,
    /// Of a chunk.
    elements: Vec<T>,
    best: Outputs<T>,
    /// Of the last chunk, where several are merged.
    other: Outputs<T>,
}

/// Of a block.
struct Outputs<T> {
    indices: Vec<u64>,
    values: Vec<T>,
}

impl<T: Copy + Default> Outputs<T> {
    fn new(indices: usize, values: usize) -> Result<Self> {
        Ok(Outputs { indices: memory::defaults(indices)?, values: memory::defaults(values)? })
    }
}

impl<T: Element + Pod> Reducer<T> {
    pub fn new(question: Question, grid: Grid, mut array: Array, runs: usize, wants_values: bool) -> Result<Self> {
        let (largest, chunks) = (grid.largest(), grid.chunks());
        let values = if wants_values || chunks > 1 { largest.outputs } else { 0 };
        let others = if chunks > 1 && !grid.is_stream() { largest.outputs } else { 0 };
        let (elements, best, other) = memory::large(|| {
            let elements = memory::defaults(largest.elements)?;
            Ok((elements, Outputs::new(largest.outputs, values)?, Outputs::new(others, others)?))
        })?;
        if !grid.is_sequential() {
            array.keep()?;
        }
        let bytes = grid.sizes.iter().product::<usize>().saturating_mul(size_of::<T>());
        let progress = Progress::new(bytes as u64);
        let (axes, spent) = ((0..grid.reduced as isize).collect(), Duration::ZERO);
        Ok(Reducer { question, axes, grid, array, runs, spent, progress, wants_values, elements, best, other })
    }

    /// Reads a part, and tells how its elements lie.
    fn read(&mut self, part: &Part) -> Result<Layout> {
        let layout = self.grid.layout(part)?;
        let runs = self.grid.elements(part);
        let elements = &mut self.elements[..layout.required_len()];
        for (at, run) in runs.starts().zip(elements.chunks_exact_mut(runs.len)) {
            self.array.read(at, run)?;
            self.progress.add(size_of_val(run) as u64);
        }
        Ok(layout)
    }

    /// A stream that begins with this chunk.
    fn open_stream(&self, chunk: &Part) -> Result<ArgStream<T, u64>> {
        let layout = self.grid.layout(chunk)?;
        let question = self.question.of(&layout, &self.axes).window(&self.grid.sizes, &chunk.start);
        memory::large(|| Ok(question.stream(0)?))
    }

    fn stream(&mut self, block: usize, len: usize) -> Result<()> {
        let mut stream = self.open_stream(&self.grid.part(block, 0))?;
        for chunk in 0..self.grid.chunks() {
            let part = self.grid.part(block, chunk);
            let layout = self.read(&part)?;
            let best = best_time(self.runs, |run| {
                // The other runs leave the answer alone.
                let mut other = (run > 0).then(|| self.open_stream(&part)).transpose()?;
                let start = Instant::now();
                other.as_mut().unwrap_or(&mut stream).push(&layout, &self.elements[..])?;
                Ok(start.elapsed())
            })?;
            self.spent += best;
        }
        Ok(stream.finish((&mut self.best.indices[..len], &mut self.best.values[..len]))?)
    }

    fn windows(&mut self, block: usize, len: usize) -> Result<()> {
        for chunk in 0..self.grid.chunks() {
            let part = self.grid.part(block, chunk);
            let layout = self.read(&part)?;
            let plan = self.question.of(&layout, &self.axes).window(&self.grid.sizes, &part.start).plan::<T, u64>()?;
            let Outputs { indices, values } = if chunk == 0 { &mut self.best } else { &mut self.other };
            self.spent += best_time(self.runs, |_| {
                let start = Instant::now();
                plan.run(&self.elements[..], (&mut indices[..len], values.get_mut(..len)))?;
                Ok(start.elapsed())
            })?;
            if chunk > 0 {
                let (best, other) = (&mut self.best, &self.other);
                let (indices, values) = (&mut best.indices[..len], &mut best.values[..len]);
                plan.merge().arrays(values, indices, &other.values[..len], &other.indices[..len])?;
            }
        }
        Ok(())
    }
}

impl<T: Element + Pod> Reduce for Reducer<T> {
    fn block(&mut self, block: usize) -> Result<Block<'_>> {
        let len = self.grid.part(block, 0).sizes[self.grid.reduced..].iter().product();
        if self.grid.is_stream() {
            self.stream(block, len)?;
        } else {
            self.windows(block, len)?;
        }
        let values = if self.wants_values { bytemuck::cast_slice(&self.best.values[..len]) } else { &[] };
        Ok(Block { indices: &self.best.indices[..len], values })
    }

    fn first(&self) -> Option<(u64, &dyn Debug)> {
        self.best.indices.first().copied().zip(self.best.values.first().map(|value| value as &dyn Debug))
    }

    fn spent(&self) -> Duration {
        self.spent
    }
}

fn best_time(runs: usize, mut time: impl FnMut(usize) -> Result<Duration>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for run in 0..runs {
        best = best.min(time(run)?);
    }
    Ok(best)
}
