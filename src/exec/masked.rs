//! A reduction of what a mask says is there, block by block: of several kilobytes, which the caches hold.
//!
//! ```text
//! for each block of outputs:
//!     for each block of what they are chosen from:
//!         all of it is there:     (value, index) = kernel(the input, there)
//!         nothing is:             NONE
//!         some is:                in place of what is not there, what never wins
//!                                 (value, index) = kernel(the input, under bits), if rows or columns take them
//!                                 (value, index) = kernel(a copy), if not
//!                                 where what never wins has won: index = the first that is there, or NONE
//!         merge, by value and index
//!     write: what has no element stays NONE; who writes knows what that is to be
//! ```
//!
//! What never wins is the worst number; or NaN, where that loses. If an output gets that, then all that is there is as
//! bad, and so the first of it is the answer: `argmax` of the mask. Or of what is NaN there, if NaN is what never wins.
//!
//! Plans for a block are made once for a call, because all blocks are of one shape: of another block, only the place in
//! the input and the first index differ. A short input is one block, whose plan is that of the call.
#![allow(unsafe_code)]

use super::call::{KernelCall, ValuePlaces, merge};
use super::input::{BoundPlan, ElementsRef, Order};
use super::mask_block::{BlockMask, Coverage, MaskBlocks, PresenceBuffer};
use super::run::run_packed;
use super::slices::{Indices, OutputSlices, for_width};
use super::tiles::for_each_tile;
use super::values::Values;
use crate::layout::{AxisSet, Window};
use crate::mask::MaskPlaces;
use crate::planner::{BLOCK_BYTES, BlockStart, Blocks, ExecPlan, MAX_BLOCK_LEN, MAX_BLOCK_OUTPUTS, PlanIsa};
use crate::threads::{Executor, for_each_part};
use crate::{AxisDirection, DataType, Element, Index, Isa, Layout, MAX_RANK, NanPolicy, ReduceFunction};
use argreduce_kernels::{IndexBits, InputMask, LoopDim, MaskedCopier, StridedIter, with_bits, with_element_type};
use bytemuck::Pod;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// What to reduce, and what is there of it.
#[derive(Clone, Copy)]
pub(crate) struct MaskedReduction<'a> {
    input: ElementsRef<'a>,
    layout: &'a Layout,
    mask: MaskPlaces<'a>,
    axes: AxisSet,
    direction: AxisDirection,
    order: Order,
    window: Window<'a>,
    isa: PlanIsa,
    /// The plan without a mask, and the bytes that it reads.
    exec: &'a ExecPlan,
}

/// What was found of a block of outputs: packed in row-major order of the kept axes, of the extents of a block.
pub(crate) struct FoundBlock<'a> {
    /// Where the block begins, and its extents; along reduced axes, 0 and 1.
    pub(crate) start: BlockStart,
    pub(crate) sizes: [usize; MAX_RANK],
    /// The indices in the whole; all bits are set where nothing is there.
    pub(crate) indices: &'a [u64],
    /// The elements there. Bits of 0 where nothing is.
    pub(crate) values: ElementsRef<'a>,
}

impl FoundBlock<'_> {
    fn elements(&self) -> [ElementsRef<'_>; 2] {
        [self.values, self.indices.into()]
    }

    /// Writes the indices of a run of outputs, and `fill` in place of none.
    pub(crate) fn write_indices(
        &self,
        outputs: Range<usize>,
        fill: i64,
        indices: &mut Indices<'_>,
        (to, step): (usize, isize),
    ) {
        let or_fill = |index: u64| (if index == u64::MAX { fill as u64 } else { index }) as isize;
        let found = self.indices[outputs].iter();
        for_width!(indices, indices => {
            indices.spread(to as isize, step, found.map(move |&index| Index::at(or_fill(index), 0, 0)));
        });
    }

    /// Writes the values of a run of outputs.
    pub(crate) fn write_values(&self, outputs: Range<usize>, values: &mut Values<'_>, (to, step): (usize, isize)) {
        assert!(values.data_type() == self.values.data_type());
        with_bits!(values.size(), B => {
            // SAFETY: they are those of a slice, not of a view; so whatever is written are elements of their type.
            unsafe {
                let found = self.values.bits::<B>(outputs).iter();
                values.bits::<B>().spread(to as isize, step, found.copied());
            }
        });
    }

    /// Calls a function for each run of outputs that are evenly apart in two layouts of all outputs: with where it
    /// begins in both, and how far its outputs are apart there; and which of the block's outputs it is.
    pub(crate) fn for_each_run(
        &self,
        layouts: [&Layout; 2],
        mut run: impl FnMut([usize; 2], [isize; 2], Range<usize>),
    ) {
        let (mut loops, mut len) = ([[LoopDim::ONE; MAX_RANK]; 2], 1);
        for (axis, &size) in self.sizes.iter().enumerate().filter(|&(_, &size)| size > 1) {
            let strides = layouts.map(|layout| layout.strides()[axis]);
            let last = loops.map(|loops| loops[len - 1]);
            let merges = last.map(|l| l.stride) == strides.map(|stride| stride * size as isize);
            let size = if merges { last[0].size * size } else { size };
            if !merges && last[0].size > 1 {
                len += 1;
            }
            for (loops, stride) in loops.iter_mut().zip(strides) {
                loops[len - 1] = LoopDim { size, stride };
            }
        }
        let first = layouts.map(|layout| {
            let along = self.start.iter().zip(layout.strides()).map(|(&n, &stride)| n as isize * stride);
            layout.offset() as isize + along.sum::<isize>()
        });
        let [slower, other_slower] = loops.each_ref().map(|loops| StridedIter::new(&loops[..len - 1]));
        let (steps, size) = (loops.map(|loops| loops[len - 1].stride), loops[0][len - 1].size);
        for (n, (offset, other)) in slower.zip(other_slower).enumerate() {
            let places = [first[0] + offset, first[1] + other].map(|place| place as usize);
            run(places, steps, n * size..(n + 1) * size);
        }
    }
}

/// Finds the best of what is there for each output, on the threads of an executor, if there is one; and hands it on.
pub(crate) fn run_masked(
    reduction: &MaskedReduction<'_>,
    executor: Option<&dyn Executor>,
    write: &mut (dyn FnMut(&FoundBlock<'_>) + Send),
) {
    let (layout, start, visited);
    let reduction = if reduction.tied_axes().next().is_some() {
        (layout, start) = reduction.without_ties();
        let window = Window { start: &start[..layout.sizes().len()], ..reduction.window };
        visited = MaskedReduction { layout: &layout, window, ..*reduction };
        &visited
    } else {
        reduction
    };
    with_bits!(reduction.input.data_type().size(), B => MaskedCall::<B>::run(reduction, executor, write));
}

impl<'a> MaskedReduction<'a> {
    /// Of a plan for that layout, and with its options.
    ///
    /// # Safety
    /// - The input has an element wherever the layout leads; if it is a view, the layout is its own.
    pub(crate) unsafe fn new(
        (input, layout, mask): (ElementsRef<'a>, &'a Layout, MaskPlaces<'a>),
        (axes, direction, function, policy): (AxisSet, AxisDirection, ReduceFunction, NanPolicy),
        window: Window<'a>,
        (isa, exec): (Isa, &'a ExecPlan),
    ) -> Self {
        assert!(input.len() >= layout.required_len());
        // All of it by the plan's ISA, as what is forced.
        let isa = PlanIsa { widest: isa, is_forced: true };
        MaskedReduction { input, layout, mask, axes, direction, order: (function, policy), window, isa, exec }
    }

    /// How many tasks the call is worth: each reads as much as an executor asks for.
    fn tasks(&self, executor: &dyn Executor) -> usize {
        let bytes = self.layout.element_count().saturating_mul(self.input.data_type().size());
        executor.width().min(bytes / executor.min_task_bytes().max(1)).max(1)
    }

    /// The plan of the call, if it has loops along all axes: as one of a block has.
    fn plan_of_all(&self) -> Option<&'a ExecPlan> {
        let is_one = |(&size, &stride): (&usize, &isize)| size == 1 || stride != 0;
        let has_all = self.layout.sizes().iter().zip(self.layout.strides()).all(is_one);
        has_all.then_some(self.exec)
    }

    /// The reduced axes along which both the input and the mask are broadcast: all elements along them tie.
    fn tied_axes(&self) -> impl Iterator<Item = usize> {
        let (sizes, strides) = (self.layout.sizes(), self.layout.strides());
        let is_tied = move |axis: &usize| [strides[*axis], self.mask.strides[*axis]] == [0, 0] && sizes[*axis] > 1;
        (0..sizes.len()).filter(|&axis| self.axes.contains(axis)).filter(is_tied)
    }

    /// The layout, and where it begins in the whole, with the first visited of elements that tie, which wins, in place
    /// of all.
    fn without_ties(&self) -> (Layout, [usize; MAX_RANK]) {
        let rank = self.layout.sizes().len();
        let [mut sizes, mut start] = [[0; MAX_RANK]; 2];
        sizes[..rank].copy_from_slice(self.layout.sizes());
        start[..rank].copy_from_slice(self.window.start);
        for axis in self.tied_axes() {
            start[axis] += if self.direction == AxisDirection::Decreasing { sizes[axis] - 1 } else { 0 };
            sizes[axis] = 1;
        }
        let layout = Layout::strided(&sizes[..rank], self.layout.strides(), self.layout.offset());
        (layout.expect("a part of a layout is one"), start)
    }

    /// From one index in the whole to the next along each axis; 0 along a kept one.
    fn index_steps(&self) -> [isize; MAX_RANK] {
        let (mut steps, mut step) = ([0; MAX_RANK], 1_isize);
        for axis in (0..self.window.whole.len()).rev().filter(|&axis| self.axes.contains(axis)) {
            steps[axis] = step;
            step = step.wrapping_mul(self.window.whole[axis] as isize);
        }
        steps
    }
}

/// The integer of an element's width.
trait Bits: IndexBits + Pod + PartialEq + Send + Sync {}

impl<B: IndexBits + Pod + PartialEq + Send + Sync> Bits for B {}

/// What all threads of a call share.
struct MaskedCall<'c, B> {
    reduction: &'c MaskedReduction<'c>,
    blocks: Blocks,
    mask: MaskBlocks<'c>,
    copier: &'static MaskedCopier,
    strides: [isize; MAX_RANK],
    index_steps: [isize; MAX_RANK],
    /// Of the blocks' outputs.
    output: Layout,
    loser: Loser<B>,
    winner: Winner<B>,
    /// Whether blocks of the same outputs come in the order of the index, and something may be unbeatable: then what
    /// comes after that need not be looked at.
    in_order: bool,
    /// What is called every some blocks.
    pause: Option<&'c (dyn Fn() + Sync)>,
}

/// About how many bytes of blocks are looked at between two pauses: what is under a mask takes much longer than what
/// is not. See docs/tuning.md#not-measured.
const PAUSE_BYTES: usize = 1 << 20;

/// As many outputs as short calls have at most. See docs/tuning.md#not-measured.
const FEW_OUTPUTS: usize = 32;

/// Of how many parts each thread has some, so that none has to wait for another that began late. See
/// docs/tuning.md#not-measured.
const PARTS_PER_TASK: usize = 4;

impl<'c, B: Bits> MaskedCall<'c, B> {
    fn run(
        reduction: &'c MaskedReduction<'c>,
        executor: Option<&'c dyn Executor>,
        write: &mut (dyn FnMut(&FoundBlock<'_>) + Send),
    ) {
        let MaskedReduction { input, layout, mask, axes, isa, .. } = *reduction;
        let copier = MaskedCopier::of(isa.widest).unwrap_or(MaskedCopier::PORTABLE);
        let blocks = Blocks::of(layout, axes, size_of::<B>());
        let mut strides = [0; MAX_RANK];
        strides[..layout.strides().len()].copy_from_slice(layout.strides());
        let mut sizes = blocks.sizes;
        (0..MAX_RANK).filter(|&axis| axes.contains(axis)).for_each(|axis| sizes[axis] = 1);
        let mut output = Layout::SCALAR;
        output.pack(&sizes[..layout.sizes().len()]).expect("no more outputs than a block has elements");
        let mask = MaskBlocks::new(mask, &blocks, &strides, copier);
        let loser = Loser::<B>::of(input.data_type(), reduction.order);
        let winner = Winner::<B>::of(input.data_type(), reduction.order);
        let (index_steps, in_order) = (reduction.index_steps(), winner != Winner::Nothing && blocks.are_in_order());
        let pause = executor.and_then(|executor| executor.pause());
        let call = MaskedCall {
            reduction,
            blocks,
            mask,
            copier,
            strides,
            index_steps,
            output,
            loser,
            winner,
            in_order,
            pause,
        };
        match executor {
            Some(executor) => call.run_on(executor, write),
            None => Worker::with(&call, |worker| {
                let [outputs, reduced] = call.blocks.counts();
                (0..outputs).for_each(|o| write(&worker.find(o, 0..reduced)));
            }),
        }
    }

    fn run_on(&self, executor: &dyn Executor, write: &mut (dyn FnMut(&FoundBlock<'_>) + Send)) {
        let ([outputs, reduced], tasks) = (self.blocks.counts(), self.reduction.tasks(executor));
        let parts = tasks.saturating_mul(PARTS_PER_TASK);
        let share = |n: usize, of: usize, parts: usize| n * (of / parts) + n.min(of % parts);
        if outputs >= parts || reduced == 1 {
            let (parts, write) = (parts.min(outputs), Mutex::new(write));
            return self.for_each_part(executor, tasks, parts, &|worker, n| {
                for o in share(n, outputs, parts)..share(n + 1, outputs, parts) {
                    let found = worker.find(o, 0..reduced);
                    write.lock().unwrap_or_else(PoisonError::into_inner)(&found);
                }
            });
        }
        // Few outputs: of each block of those, threads share what it is chosen from.
        let parts = parts.min(reduced);
        let (mut values, mut indices) = ([B::zeroed(); MAX_BLOCK_OUTPUTS], [0; MAX_BLOCK_OUTPUTS]);
        let len = self.blocks.outputs();
        let mut best = Answers { values: &mut values[..len], indices: &mut indices[..len] };
        for o in 0..outputs {
            best.clear();
            let shared = Mutex::new(&mut best);
            self.for_each_part(executor, tasks, parts, &|worker, n| {
                let found = worker.find(o, share(n, reduced, parts)..share(n + 1, reduced, parts));
                shared.lock().unwrap_or_else(PoisonError::into_inner).merge(self.reduction, found.elements());
            });
            write(&self.found(o, &best));
        }
    }

    /// What was found of these outputs.
    fn found<'b>(&self, outputs: usize, best: &'b Answers<'_, B>) -> FoundBlock<'b> {
        let (MaskedReduction { input, axes, .. }, mut start) = (*self.reduction, self.blocks.start(outputs, 0));
        let mut sizes = self.blocks.sizes;
        for axis in (0..MAX_RANK).filter(|&axis| axes.contains(axis)) {
            (start[axis], sizes[axis]) = (0, 1);
        }
        let [values, _] = best.elements(input.data_type());
        FoundBlock { start, sizes, indices: best.indices, values }
    }

    /// Does each of so many parts once, on the executor's threads and on this one, each with buffers of its own.
    fn for_each_part(
        &self,
        executor: &dyn Executor,
        tasks: usize,
        parts: usize,
        do_part: &(dyn Fn(&mut Worker<'_, B>, usize) + Sync),
    ) {
        for_each_part(executor, tasks, parts, &|claim| {
            Worker::with(self, |worker| claim(&mut |part| do_part(worker, part)));
        });
    }

    /// A plan for the blocks of the input.
    fn plan_of_input(&self) -> BlockPlan {
        let MaskedReduction { input, layout, order, exec, .. } = *self.reduction;
        if let (Some(exec), [1, 1]) = (self.reduction.plan_of_all(), self.blocks.counts()) {
            let (plan, shape) = (exec.packed([1, 1]), exec.shape());
            let start = (shape.input.start as isize).wrapping_sub_unsigned(layout.offset());
            return BlockPlan { start, index_start: shape.index_start, plan, order };
        }
        let mut block = self.plan(&self.strides, input.data_type(), order);
        // Where the elements are depends on all of them.
        block.plan.set_working_set(exec.working_set());
        block
    }

    /// A plan for copies of blocks.
    fn plan_of_copy(&self, of_input: &Option<BlockPlan>) -> BlockPlan {
        let MaskedReduction { input, order, .. } = *self.reduction;
        let packed = self.blocks.packed();
        let is_packed = (0..MAX_RANK).all(|axis| self.blocks.sizes[axis] == 1 || self.strides[axis] == packed[axis]);
        match of_input {
            Some(of_input) if is_packed => of_input.clone(),
            _ => self.plan(&packed, input.data_type(), order),
        }
    }

    /// A plan for blocks whose elements are at these strides, from the first on.
    #[inline(never)]
    fn plan(&self, strides: &[isize; MAX_RANK], data_type: DataType, order: Order) -> BlockPlan {
        let (MaskedReduction { axes, direction, window, isa, .. }, rank) = (*self.reduction, self.output.sizes().len());
        let lowest: isize = (0..rank).map(|axis| (self.blocks.sizes[axis] as isize - 1) * strides[axis].min(0)).sum();
        let layout = Layout::strided(&self.blocks.sizes[..rank], &strides[..rank], lowest.unsigned_abs());
        let mut plan = ExecPlan::EMPTY;
        let layout = &layout.expect("a part of a layout is one");
        let planned = plan.plan((layout, axes, direction), &self.output, window, isa, data_type, order);
        planned.expect("the ISA is there, as for the plan");
        let start = plan.shape().input.start as isize + lowest;
        BlockPlan { start, index_start: plan.shape().index_start, plan, order }
    }
}

/// A plan for a block, wherever one is.
#[derive(Clone)]
struct BlockPlan {
    plan: ExecPlan,
    /// From the first element of a block to where its walk begins, and the index there in the first block.
    start: isize,
    index_start: isize,
    order: Order,
}

impl BlockPlan {
    /// Answers a block whose first element is at `place` of an input, and has so much larger an index than the first of
    /// all.
    ///
    /// # Safety
    /// - The elements of the block are there in the input; of a view, its layout reaches them.
    unsafe fn run(&mut self, input: ElementsRef<'_>, place: usize, index: isize, to: (Values<'_>, Indices<'_>)) {
        let BlockPlan { plan, start, index_start, order } = self;
        plan.begin_at(place.wrapping_add_signed(*start), index_start.wrapping_add(index));
        // SAFETY: the planner has made the plan for the layout of a block, and what its loops reach from there on are
        // the elements of one in this input, as the caller promises: they need no more of it than it has.
        let bound = unsafe { BoundPlan::new(plan, *order, input.len(), input) };
        run_packed(bound.into(), [&mut OutputSlices { indices: to.1, values: Some(to.0) }], [1, 1], None);
    }

    /// Whether the kernel [takes masks](BlockPlan::run_masked).
    fn takes_masks(&self) -> bool {
        let shape = self.plan.shape();
        !shape.is_split() && self.plan.kernel().is_some_and(|(.., kernel)| kernel.takes_masks(shape.reduced_dims()))
    }

    /// As [`BlockPlan::run`], under a mask. The value of what has none is what that fills with.
    ///
    /// # Safety
    /// - As there. The plan takes masks; and this one has a bit for each element from the first of the block to the
    ///   last, with its padding, and fills with an element.
    unsafe fn run_masked<B: Bits>(
        &mut self,
        input: ElementsRef<'_>,
        place: usize,
        index: isize,
        mask: InputMask,
        (mut values, mut indices): (Values<'_>, Indices<'_>),
    ) {
        let BlockPlan { plan, start, index_start, .. } = self;
        plan.begin_at(place.wrapping_add_signed(*start), index_start.wrapping_add(index));
        let (.., kernel) = plan.kernel().expect("a kernel that takes masks");
        let mut positions = [MaybeUninit::uninit(); MAX_BLOCK_OUTPUTS];
        let mut found = [MaybeUninit::<B>::uninit(); MAX_BLOCK_OUTPUTS];
        for_each_tile(plan.shape(), MAX_BLOCK_OUTPUTS, &mut |tile| {
            let reduced = plan.shape().reduced_dims();
            // SAFETY: as in `run`: what the loops reach are elements of the block, which have bits.
            let call = unsafe { KernelCall::new(kernel, input, tile.input, reduced, plan.working_set()).under(mask) };
            let places = ValuePlaces::of_buffer(&mut found[..tile.outputs()], values.data_type());
            let (positions, found) = call.find((&mut positions[..tile.outputs()]).into(), Some(places));
            tile.write_indices(plan, positions, &mut indices);
            let found = &mut found.expect("there are places for values");
            // SAFETY: what was found are elements of that type, and nothing else is written.
            unsafe { values.bits::<B>().scatter(plan.writer(), tile.values, found.bits::<B>().all()) };
        });
    }
}

/// As many values and indices as a block has outputs, or room for more.
struct Answers<'w, B> {
    values: &'w mut [B],
    indices: &'w mut [u64],
}

impl<B: Pod> Answers<'_, B> {
    /// Nothing was found.
    fn clear(&mut self) {
        self.values.fill(B::zeroed());
        self.indices.fill(u64::MAX);
    }

    fn as_slices(&mut self, data_type: DataType) -> (Values<'_>, Indices<'_>) {
        // SAFETY: all of them are elements: bits of 0, or copies of elements.
        (unsafe { Values::of_bits(self.values, data_type) }, self.indices.as_mut().into())
    }

    fn elements(&self, data_type: DataType) -> [ElementsRef<'_>; 2] {
        // SAFETY: as in `as_slices`.
        [unsafe { ElementsRef::of_bits(self.values, data_type) }, ElementsRef::from(&*self.indices)]
    }

    /// Takes what is better of others.
    fn merge(&mut self, reduction: &MaskedReduction<'_>, [values, indices]: [ElementsRef<'_>; 2]) {
        let MaskedReduction { isa, order, direction, .. } = *reduction;
        let (mut to_values, mut to_indices) = self.as_slices(values.data_type());
        let last = direction == AxisDirection::Decreasing;
        merge(isa.widest, order, last, (&mut to_values, &mut to_indices), (values, indices));
    }
}

/// A thread's plans and buffers.
struct Worker<'w, B> {
    call: &'w MaskedCall<'w, B>,
    /// For blocks of the input, for copies of them, and for what is there.
    of_input: Option<BlockPlan>,
    of_copy: Option<BlockPlan>,
    of_mask: Option<BlockPlan>,
    elements: &'w mut [MaybeUninit<B>],
    presence: PresenceBuffer<'w>,
    best: Answers<'w, B>,
    /// Of the last block; and of it, the first that is there, where that is asked for.
    block: Answers<'w, B>,
    first: Answers<'w, B>,
    /// How many bytes of blocks were looked at since the last pause.
    since_pause: usize,
}

impl<B: Bits> Worker<'_, B> {
    /// With buffers, of which the smaller ones take less time to clear.
    fn with(call: &MaskedCall<'_, B>, work: impl FnOnce(&mut Worker<'_, B>)) {
        if call.blocks.outputs() <= FEW_OUTPUTS {
            Self::with_room_for::<FEW_OUTPUTS>(call, work);
        } else {
            Self::with_room_for::<MAX_BLOCK_OUTPUTS>(call, work);
        }
    }

    /// Outlined, because its buffers make a large frame.
    #[inline(never)]
    fn with_room_for<const N: usize>(call: &MaskedCall<'_, B>, work: impl FnOnce(&mut Worker<'_, B>)) {
        let (mut elements, mut presence) =
            ([MaybeUninit::<u64>::uninit(); BLOCK_BYTES / 8], [MaybeUninit::uninit(); MAX_BLOCK_LEN]);
        let (mut values, mut indices) = ([[B::zeroed(); N]; 3], [[0; N]; 3]);
        // SAFETY: places that need not be initialised, of integers no longer and no more aligned.
        let elements = unsafe {
            std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(&elements) / size_of::<B>())
        };
        let outputs = call.blocks.outputs();
        let [best, block, first] = values.each_mut().map(|values| &mut values[..outputs]);
        let [best_at, block_at, first_at] = indices.each_mut().map(|indices| &mut indices[..outputs]);
        work(&mut Worker {
            call,
            of_input: None,
            of_copy: None,
            of_mask: None,
            elements: &mut elements[..call.blocks.len()],
            presence: PresenceBuffer::new(&mut presence),
            best: Answers { values: best, indices: best_at },
            block: Answers { values: block, indices: block_at },
            first: Answers { values: first, indices: first_at },
            since_pause: 0,
        });
    }

    /// The best of some blocks of the same outputs.
    fn find(&mut self, outputs: usize, reduced: Range<usize>) -> FoundBlock<'_> {
        let (call, count) = (self.call, reduced.len());
        for n in 0..count {
            // In the order of visiting, in which the first of equals wins.
            let backwards = call.reduction.direction == AxisDirection::Decreasing;
            let of_reduced = if backwards { reduced.end - 1 - n } else { reduced.start + n };
            self.answer(&call.blocks.start(outputs, of_reduced));
            if n == 0 {
                std::mem::swap(&mut self.best, &mut self.block);
            } else {
                let others = self.block.elements(self.call.reduction.input.data_type());
                self.best.merge(call.reduction, others);
            }
            if call.in_order && self.best.values.iter().zip(&*self.best.indices).all(|best| call.winner.is_in(best)) {
                break;
            }
        }
        call.found(outputs, &self.best)
    }

    /// Pauses, if a call is asked to, and it is time.
    fn pause(&mut self) {
        let Some(pause) = self.call.pause else { return };
        self.since_pause += self.call.blocks.len() * size_of::<B>();
        if self.since_pause >= PAUSE_BYTES {
            self.since_pause = 0;
            pause();
        }
    }

    /// Finds the best of what is there in the block that begins there.
    fn answer(&mut self, start: &BlockStart) {
        let call = self.call;
        self.pause();
        let MaskedReduction { input, layout, .. } = *call.reduction;
        let data_type = input.data_type();
        let along = |steps: &[isize; MAX_RANK]| {
            start.iter().zip(steps).fold(0, |sum: isize, (&n, &step)| sum.wrapping_add(step.wrapping_mul(n as isize)))
        };
        let (place, index) = (layout.offset().wrapping_add_signed(along(&call.strides)), along(&call.index_steps));
        let (mask, loser) = (call.mask.of(start), &call.loser);
        match mask.coverage(&mut self.presence) {
            Coverage::Nothing => return self.block.clear(),
            Coverage::All => {
                let plan = self.of_input.get_or_insert_with(|| call.plan_of_input());
                // SAFETY: `MaskedReduction::new` was told that the layout leads to elements, and blocks are within it
                // (a test of `planner/blocks.rs`).
                return unsafe { plan.run(input, place, index, self.block.as_slices(data_type)) };
            }
            Coverage::Some => {}
        }
        let takes_masks =
            call.mask.may_have_bits() && self.of_input.get_or_insert_with(|| call.plan_of_input()).takes_masks();
        let bits = if takes_masks { mask.bits(&mut self.presence) } else { None };
        if let (Some(plan), Some((bits, first))) = (&mut self.of_input, bits) {
            let of_first_bit = input.address(place as isize).wrapping_byte_sub(first * size_of::<B>());
            let mask = InputMask::new(of_first_bit, bits, (&raw const loser.bits).cast());
            // SAFETY: as above; and each element of the block has a bit, at its place in the input.
            unsafe { plan.run_masked::<B>(input, place, index, mask, self.block.as_slices(data_type)) };
        } else {
            let plan = self.of_copy.get_or_insert_with(|| call.plan_of_copy(&self.of_input));
            // SAFETY: as above; and the copy is as many elements as a block has, packed.
            unsafe {
                let copy = copy_block(call, place, (&mask, &mut self.presence), loser.bits, self.elements);
                plan.run(copy, 0, index, self.block.as_slices(data_type));
            }
        }
        if self.block.values.iter().any(|&value| loser.is_like(value)) {
            self.settle(&mask, place, index);
        }
    }

    /// Of the block at that place, for each output that got what never wins: what is there is all as bad, so the first
    /// of it; or nothing.
    fn settle(&mut self, mask: &BlockMask<'_>, place: usize, index: isize) {
        let (call, order, data_type) = (self.call, self.call.reduction.order, self.call.reduction.input.data_type());
        let (packed, loser) = (call.blocks.packed(), &call.loser);
        let (mut is_there, first) = ([false; MAX_BLOCK_OUTPUTS], &mut self.first);
        if loser.nan.is_some() {
            let order = (order.0, NanPolicy::Propagate);
            let plan = self.of_mask.get_or_insert_with(|| call.plan(&packed, data_type, order));
            // SAFETY: as in `answer`, which this is a part of.
            unsafe {
                let copy = copy_block(call, place, (mask, &mut self.presence), B::zeroed(), self.elements);
                plan.run(copy, 0, index, first.as_slices(data_type));
            }
            is_there.iter_mut().zip(&*first.values).for_each(|(is_there, &value)| *is_there = loser.is_like(value));
        } else {
            first.values.fill(loser.bits);
            let order = (ReduceFunction::ArgMax, NanPolicy::Propagate);
            let plan = self.of_mask.get_or_insert_with(|| call.plan(&packed, DataType::U8, order));
            let (mut bytes, outputs) = ([0_u8; MAX_BLOCK_OUTPUTS], first.values.len());
            let indices = first.indices.as_mut().into();
            // SAFETY: as many bytes as a block has elements, packed as those.
            unsafe {
                plan.run(mask.bytes(&mut self.presence).into(), 0, index, (bytes[..outputs].as_mut().into(), indices))
            };
            is_there.iter_mut().zip(bytes).for_each(|(is_there, byte)| *is_there = byte != 0);
        }
        for (n, value) in self.block.values.iter_mut().enumerate().filter(|(_, value)| loser.is_like(**value)) {
            (*value, self.block.indices[n]) =
                if is_there[n] { (first.values[n], first.indices[n]) } else { (B::zeroed(), u64::MAX) };
        }
    }
}

/// Copies a block of the input, packed in the order of memory, with `fill`, which is an element, in place of what is
/// not there.
///
/// # Safety
/// - The input has the elements of a block whose first is at `place`; of a view, its layout reaches them.
unsafe fn copy_block<'b, B: Bits>(
    call: &MaskedCall<'_, B>,
    place: usize,
    (mask, buffer): (&BlockMask<'_>, &mut PresenceBuffer<'_>),
    fill: B,
    to: &'b mut [MaybeUninit<B>],
) -> ElementsRef<'b> {
    let (input, mut written) = (call.reduction.input, 0);
    mask.for_each_run(buffer, |offset, LoopDim { size, stride }, presence| {
        let from = input.address(place.wrapping_add_signed(offset) as isize).cast::<B>();
        // SAFETY: the caller's promise: a run of a block, one of the loops that visit its elements.
        unsafe { call.copier.copy(from, stride, presence, fill, &mut to[written..][..size]) };
        written += size;
    });
    assert!(written == to.len());
    // SAFETY: the runs are all of a block, as many elements as `to` has, and each was written: with elements.
    unsafe { ElementsRef::of_bits(&*(&raw const *to as *const [B]), input.data_type()) }
}

/// What nothing is better than, of types that often have it.
#[derive(Clone, Copy, PartialEq)]
enum Winner<B> {
    Nothing,
    /// These bits.
    Bits(B),
    /// All NaNs: of those bits but the sign, what is above infinity.
    Nan([u64; 2]),
}

impl<B: Bits> Winner<B> {
    fn of(data_type: DataType, (function, policy): Order) -> Self {
        let opposite = if function == ReduceFunction::ArgMax { ReduceFunction::ArgMin } else { ReduceFunction::ArgMax };
        match (Loser::<B>::of(data_type, (opposite, NanPolicy::Ignore)), policy) {
            (Loser { nan: Some(nan), .. }, NanPolicy::Propagate) => Winner::Nan(nan),
            (Loser { nan: None, bits }, _) if data_type.size() == 1 => Winner::Bits(bits),
            _ => Winner::Nothing,
        }
    }

    /// Whether what was found, with its index, is such a one.
    #[inline(always)]
    fn is_in(&self, (&value, &index): (&B, &u64)) -> bool {
        index != u64::MAX
            && match *self {
                Winner::Nothing => false,
                Winner::Bits(bits) => value == bits,
                Winner::Nan([magnitude, infinity]) => value.into() & magnitude > infinity,
            }
    }
}

/// The bits of an element.
fn bits_of<T: Element, B: Bits>(element: T) -> B {
    let mut bits = B::zeroed();
    assert!(size_of::<T>() == size_of::<B>());
    // SAFETY: there is room, as asserted; elements have no padding, and all bits are an integer.
    unsafe { (&raw mut bits).cast::<T>().write_unaligned(element) };
    bits
}

/// What never wins: the worst number, or NaN where that loses.
#[derive(Clone, Copy)]
struct Loser<B> {
    bits: B,
    /// If it is NaN: all bits but the sign, and those of infinity, above which there is NaN alone.
    nan: Option<[u64; 2]>,
}

impl<B: Bits> Loser<B> {
    fn of(data_type: DataType, (function, policy): Order) -> Self {
        with_element_type!(data_type, T => match T::ANY_NAN {
            Some(_) if policy == NanPolicy::Ignore => {
                let magnitude = u64::MAX >> (65 - 8 * data_type.size());
                let infinity: B = bits_of(T::HIGHEST);
                Loser { bits: B::of(magnitude), nan: Some([magnitude, infinity.into()]) }
            }
            _ if function == ReduceFunction::ArgMax => Loser { bits: bits_of(T::LOWEST), nan: None },
            _ => Loser { bits: bits_of(T::HIGHEST), nan: None },
        })
    }

    /// Whether that might be a copy of it, or is as bad.
    #[inline(always)]
    fn is_like(&self, value: B) -> bool {
        match self.nan {
            Some([magnitude, infinity]) => value.into() & magnitude > infinity,
            None => value == self.bits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argreduce_kernels::key;

    /// Of no type is anything worse than what never wins, which all that looks like it ties with.
    #[test]
    fn nothing_is_worse() {
        fn check<T: Element, B: Bits>(order @ (function, policy): Order) {
            let loser = Loser::<B>::of(T::DATA_TYPE, order);
            // Any bits are an element, but of a `bool`: all of short ones, and those about the ends of long ones.
            let width = 8 * size_of::<B>() as u32;
            let ends = (0..width).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, u64::MAX << bit]);
            let last = if T::DATA_TYPE == DataType::Bool { 1 } else { u64::MAX >> (64 - width) };
            let all = (0..=u64::from(u16::MAX)).chain(ends).map(|bits| bits & (u64::MAX >> (64 - width)));
            let element = |bits: B| {
                // SAFETY: any bits of that size are one, as above.
                unsafe { (&raw const bits).cast::<T>().read_unaligned() }
            };
            let worst = key(function, policy, element(loser.bits));
            for bits in all.filter(|&bits| bits <= last).map(B::of) {
                let found = key(function, policy, element(bits));
                assert!(found >= worst, "{} {order:?}: {:?}", T::DATA_TYPE, element(bits));
                assert!(found != worst || loser.is_like(bits), "{} {order:?}: {:?}", T::DATA_TYPE, element(bits));
            }
        }
        for data_type in DataType::ALL {
            for order in
                ReduceFunction::ALL.into_iter().flat_map(|function| NanPolicy::ALL.map(|policy| (function, policy)))
            {
                with_element_type!(data_type, T => with_bits!(size_of::<T>(), B => check::<T, B>(order)));
            }
        }
    }
}
