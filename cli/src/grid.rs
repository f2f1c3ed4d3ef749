//! How a tensor is cut into parts that fit in memory: for each *block* of outputs, *chunks* of the elements they are
//! chosen from. It must not know files or elements.
//!
//! ```text
//! fastest axis of the file first: as much of it as the chunk has room for, in even steps
//!     a kept axis also takes room among the outputs of a block
//!     so a chunk is long runs of the file, and the blocks follow each other in the order of the kept axes
//! ```
//!
//! Axes have an order of their own here: first the reduced ones, in ascending order, so that indices stay what they
//! are; then the kept ones, in the order of the file, so that no block is transposed before it is complete.

use anyhow::Result;
use argreduce::Layout;

/// A box within the whole, one number for each axis.
pub struct Part {
    pub start: Vec<usize>,
    pub sizes: Vec<usize>,
}

#[derive(Clone)]
pub struct Grid {
    pub sizes: Vec<usize>,
    /// How many axes are reduced.
    pub reduced: usize,
    /// Which axis of the array each of its own is.
    axes: Vec<usize>,
    /// The axes from the slowest to the fastest one in the file.
    order: Vec<usize>,
    /// How far apart elements are in the file, and outputs in C order (0 along reduced axes).
    strides: Vec<usize>,
    output_strides: Vec<usize>,
    /// The sizes of a part, but for the last one along each axis.
    steps: Vec<usize>,
}

/// The most that a part may have.
#[derive(Clone, Copy)]
pub struct Limits {
    pub elements: usize,
    pub outputs: usize,
}

impl Grid {
    /// `order` has the axes from the slowest to the fastest one in the file.
    pub fn new(sizes: &[usize], order: &[usize], is_reduced: impl Fn(usize) -> bool, limits: Limits) -> Self {
        let ascending = 0..sizes.len();
        let kept = order.iter().copied().filter(|&axis| !is_reduced(axis));
        let axes: Vec<usize> = ascending.clone().filter(|&axis| is_reduced(axis)).chain(kept).collect();
        let reduced = ascending.clone().filter(|&axis| is_reduced(axis)).count();
        let order = places(&axes, order.iter().copied());
        let outputs = places(&axes, ascending.filter(|&axis| !is_reduced(axis)));
        let sizes: Vec<usize> = axes.iter().map(|&axis| sizes[axis]).collect();

        let mut steps = vec![1; sizes.len()];
        let (mut elements, mut block) = (1, 1);
        for &axis in order.iter().rev() {
            let mut room = limits.elements / elements;
            if axis >= reduced {
                room = room.min(limits.outputs / block);
            }
            // More than half of the room: so there is none for two steps of another axis behind one that is cut.
            let size = sizes[axis].max(1);
            steps[axis] = size.div_ceil(size.div_ceil(room.max(1)));
            elements *= steps[axis];
            block *= if axis >= reduced { steps[axis] } else { 1 };
        }
        let (strides, output_strides) = (packed(&sizes, &order), packed(&sizes, &outputs));
        Grid { sizes, reduced, axes, order, strides, output_strides, steps }
    }

    /// That of another array, which broadcasts to this one, in a file of its own: its sizes are 1 along other axes.
    pub fn broadcast(&self, sizes: &[usize], order: &[usize]) -> Self {
        let sizes: Vec<usize> = self.axes.iter().map(|&axis| sizes[axis]).collect();
        let order = places(&self.axes, order.iter().copied());
        let steps = sizes.iter().zip(&self.steps).map(|(&size, &step)| size.min(step)).collect();
        Grid { strides: packed(&sizes, &order), sizes, order, steps, ..self.clone() }
    }

    /// What such an array has of a part.
    pub fn own(&self, part: &Part) -> Part {
        let own = |numbers: &[usize], one| {
            let each = numbers.iter().zip(&self.sizes);
            each.map(|(&number, &size)| if size == 1 { one } else { number }).collect()
        };
        Part { start: own(&part.start, 0), sizes: own(&part.sizes, 1) }
    }

    fn cuts(&self, axis: usize) -> usize {
        self.sizes[axis].div_ceil(self.steps[axis])
    }

    /// How many blocks of outputs there are.
    pub fn blocks(&self) -> usize {
        (self.reduced..self.sizes.len()).map(|axis| self.cuts(axis)).product()
    }

    /// How many chunks there are for each block.
    pub fn chunks(&self) -> usize {
        (0..self.reduced).map(|axis| self.cuts(axis)).product()
    }

    /// The elements and the outputs of the largest part.
    pub fn largest(&self) -> Limits {
        Limits { elements: self.steps.iter().product(), outputs: self.steps[self.reduced..].iter().product() }
    }

    /// Both numbers count in the order of the file.
    pub fn part(&self, block: usize, chunk: usize) -> Part {
        let (mut start, mut sizes) = (vec![0; self.sizes.len()], self.steps.clone());
        let (mut block, mut chunk) = (block, chunk);
        for &axis in self.order.iter().rev() {
            let number = if axis < self.reduced { &mut chunk } else { &mut block };
            start[axis] = *number % self.cuts(axis) * self.steps[axis];
            sizes[axis] = self.steps[axis].min(self.sizes[axis] - start[axis]);
            *number /= self.cuts(axis);
        }
        Part { start, sizes }
    }

    /// Whether blocks, and the chunks of each of them, follow each other in the file.
    pub fn is_sequential(&self) -> bool {
        let Some(fastest) = self.order.iter().rposition(|&axis| self.cuts(axis) > 1) else { return true };
        let long = self.order[..=fastest].iter().copied().filter(|&axis| self.sizes[axis] > 1);
        let is_one_run = self.order[..fastest].iter().all(|&axis| self.steps[axis] == 1);
        is_one_run && long.is_sorted_by_key(|axis| axis < self.reduced)
    }

    /// Whether the outputs of the blocks follow each other in C order.
    pub fn is_in_order(&self) -> bool {
        let long = (self.reduced..self.sizes.len()).filter(|&axis| self.sizes[axis] > 1);
        long.is_sorted_by(|&slow, &fast| self.output_strides[slow] > self.output_strides[fast])
    }

    /// A part by itself, packed in the order of the file.
    pub fn layout(&self, part: &Part) -> Result<Layout> {
        let strides: Vec<isize> = packed(&part.sizes, &self.order).into_iter().map(|stride| stride as isize).collect();
        Ok(Layout::strided(&part.sizes, &strides, 0)?)
    }

    /// Where the elements of a part are in the file, in its order.
    pub fn elements(&self, part: &Part) -> Runs {
        let mut runs = Runs { first: offset(part, &self.strides), len: 1, step: 1, outer: Vec::new() };
        let mut is_whole = true;
        for &axis in self.order.iter().rev() {
            if is_whole {
                runs.len *= part.sizes[axis];
            } else {
                runs.outer.push((part.sizes[axis], self.strides[axis]));
            }
            is_whole &= part.sizes[axis] == self.sizes[axis];
        }
        runs
    }

    /// Where the outputs of a part are among all of them in C order.
    pub fn outputs(&self, part: &Part) -> Runs {
        let mut axes = (self.reduced..self.sizes.len()).rev().map(|axis| (part.sizes[axis], self.output_strides[axis]));
        let (len, step) = axes.next().unwrap_or((1, 1));
        Runs { first: offset(part, &self.output_strides), len, step, outer: axes.collect() }
    }
}

/// Where each of some axes of the array is among those of a grid.
fn places(axes: &[usize], some: impl Iterator<Item = usize>) -> Vec<usize> {
    some.map(|axis| axes.iter().position(|&other| other == axis).unwrap_or(0)).collect()
}

/// Strides of these axes, packed in this order; 0 along others.
fn packed(sizes: &[usize], order: &[usize]) -> Vec<usize> {
    let (mut strides, mut stride) = (vec![0; sizes.len()], 1);
    for &axis in order.iter().rev() {
        strides[axis] = stride;
        stride *= sizes[axis];
    }
    strides
}

fn offset(part: &Part, strides: &[usize]) -> usize {
    part.start.iter().zip(strides).map(|(start, stride)| start * stride).sum()
}

/// Stretches of one length.
pub struct Runs {
    first: usize,
    pub len: usize,
    /// From one to the next in a stretch.
    pub step: usize,
    /// Sizes and strides of the axes along which they are repeated, the fastest first.
    outer: Vec<(usize, usize)>,
}

impl Runs {
    /// Where each begins.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        let count = self.outer.iter().map(|(size, _)| size).product::<usize>();
        (0..count).map(|mut number| {
            let mut start = self.first;
            for (size, stride) in &self.outer {
                start += number % size * stride;
                number /= size;
            }
            start
        })
    }

    /// Where each of their elements is.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.starts().flat_map(move |start| (0..self.len).map(move |n| start + n * self.step))
    }
}
