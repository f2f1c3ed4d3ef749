//! The best so far: an answer for each element, of all that were visited before it along a line. Kernels scan
//! (`argreduce_kernels::Scanner`); here is what they are given, and in which parts.
//!
//! ```text
//! for each group of lines:                      some hundred, whose best so far is kept on the stack
//!     for each stretch of their steps:
//!         in place:     scan the input to the output
//!         or by tiles:  copy some steps of the input to a buffer, scan that, and write the answers at their places
//! ```
//!
//! In place is what lies as kernels take it, in the input and in the outputs, with indices of 32 or 64 bits. All else
//! goes by tiles, which L1 holds. So does what is under a mask: in place of an element that is not there, the tile has
//! a copy of the last one before it that is, or of the first after it where there is none. That is no better than what
//! is there, so it changes no value. Where the newest of equals wins, a copy may win over its original: then the index
//! is that of the original.
//!
//! On threads, groups are parts. Where they are few, a group is scanned twice: first, each part finds the best of some
//! steps; these are merged, one after the other; then each part scans again, from what is best before its first step.
#![allow(unsafe_code)]

use super::input::{ElementsRef, Order};
use super::masked::CallMask;
use super::outputs::OutputSlice;
use super::slices::{Indices, OutputSlices, for_width};
use super::tiles::{Buffer, Grid};
use crate::planner::{INDICES, INPUT, MASK, Places, ScanShape, VALUES};
use crate::threads::claims::share_start;
use crate::threads::{Executor, for_each_part, tasks_for};
use crate::{AxisDirection, Isa, Layout};
use argreduce_kernels::{IndexBits, KeyCopier, LoopDim, MergeArgs, ScanArgs, Scanner, scanner_of, with_bits};
use bytemuck::Zeroable;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::null_mut;

/// The most lines of a group: their best so far stay in L1. Not measured.
const MAX_LINES: usize = 1024;

/// The most elements of a tile. Not measured.
const TILE: usize = 1024;

/// Fewer lines make no long runs of memory where each tile goes from line to line. Not measured.
const TILE_LINES: usize = 32;

/// About so many elements are visited between two pauses. Not measured.
const STRETCH: usize = 4 << 20;

/// Fewer lines are no group, where there are more. Not measured.
const MIN_LINES: usize = 32;

/// An axis along which the best so far is asked for, and how.
pub(crate) struct ScanAxis {
    pub(crate) axis: usize,
    pub(crate) is_reversed: bool,
    /// The index of the first element along the axis.
    pub(crate) first_index: usize,
    pub(crate) direction: AxisDirection,
}

/// The best so far, of an input. What its loops reach may be read.
pub(crate) struct BoundScan<'a> {
    layouts: (&'a Layout, &'a Layout),
    of_axis: ScanAxis,
    input: ElementsRef<'a>,
    scanner: Scanner,
    /// What copies elements as their keys, where they are not their own.
    keys: Option<KeyCopier>,
    mask: Option<&'a CallMask<'a>>,
}

impl<'a> BoundScan<'a> {
    /// Of an input of the first layout, to indices at the places of the second.
    ///
    /// # Panics
    /// If the input is shorter than its layout needs.
    ///
    /// # Safety
    /// - The second layout has the same sizes, and no two places of it are one.
    /// - If the input is a view, the layout is its own. The mask is for an input of this layout, and keys are those of
    ///   its elements.
    pub(crate) unsafe fn new(
        layouts: (&'a Layout, &'a Layout),
        of_axis: ScanAxis,
        (isa, (function, policy), keys): (Isa, Order, Option<KeyCopier>),
        input: ElementsRef<'a>,
        mask: Option<&'a CallMask<'a>>,
    ) -> Self {
        assert!(input.len() >= layouts.0.required_len());
        let compared = keys.map_or(input.data_type(), |keys| keys.key_type());
        let scanner = scanner_of(compared, isa, function, policy).expect("the machine has the ISA");
        BoundScan { layouts, of_axis, input, scanner, keys, mask }
    }

    /// Writes the answers of all elements, on the threads of an executor if there is one. The slices are as long as
    /// their layouts need.
    #[inline(never)]
    pub(crate) fn run(&self, slices: &mut OutputSlices<'_>, executor: Option<&dyn Executor>) {
        let ScanAxis { axis, is_reversed, direction, first_index } = self.of_axis;
        // (Under a mask, outputs are known by the places of their values.)
        let (layouts, has_values) = (self.layouts, slices.values.is_some() || self.mask.is_some());
        assert!(layouts.0.element_count() > 0);
        let mask = self.mask.map(CallMask::places);
        let shape = ScanShape::new(layouts, (axis, is_reversed), has_values, mask);
        let (way, group_lines) = self.way(&shape, &slices.indices, has_values);
        let last = if is_reversed { shape.steps.size - 1 } else { 0 };
        let call = ScanCall {
            bound: self,
            shape,
            way,
            group_lines,
            index_bytes: if way == Way::InPlace { slices.indices.width() } else { 8 },
            first_index: (first_index + last) as u64,
            indices_fall: is_reversed,
            newest_wins: (direction == AxisDirection::Decreasing) != is_reversed,
        };
        let elements = layouts.0.element_count();
        match executor {
            None => (0..call.groups()).for_each(|n| call.run_group(n, slices, None)),
            Some(executor) => call.run_on(executor, elements.saturating_mul(self.input.data_type().size()), slices),
        }
    }

    /// Whether a kernel scans lines across, where they are neighbours.
    fn goes_across(&self, shape: &ScanShape) -> bool {
        shape.steps.strides[INPUT].abs() != 1 && shape.inner().size >= self.scanner.lanes()
    }

    /// How lines are scanned, and how many are a group.
    fn way(&self, shape: &ScanShape, indices: &Indices<'_>, has_values: bool) -> (Way, usize) {
        let (steps, inner) = (shape.steps, shape.inner());
        let packed = |strides: Places, along: isize| {
            strides[INPUT] == along && strides[INDICES] == along && (!has_values || strides[VALUES] == along)
        };
        let is_direct = self.mask.is_none() && self.keys.is_none() && matches!(indices.width(), 4 | 8);
        let is_along = steps.strides[INPUT].abs() == 1 && packed(steps.strides, steps.strides[INPUT]);
        // Lines that are shorter than a vector are scanned side by side, if there are enough.
        let is_worth_it = steps.size >= self.scanner.lanes() || inner.size < self.scanner.lanes();
        let goes_across = packed(inner.strides, 1) && self.goes_across(shape);
        if is_direct && (is_along && is_worth_it || goes_across) {
            (Way::InPlace, MAX_LINES)
        } else {
            // A tile has long lines, or lines side by side.
            let lines = if steps.strides[INPUT].abs() == 1 { TILE / steps.size.clamp(1, TILE) } else { TILE_LINES };
            let lines = if inner.strides[INPUT] == 1 { lines.max(TILE / steps.size.clamp(8, TILE)) } else { lines };
            (Way::ByTiles, lines.min(TILE))
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    InPlace,
    ByTiles,
}

/// A call: its loops, and how they are run.
struct ScanCall<'a> {
    bound: &'a BoundScan<'a>,
    shape: ScanShape,
    way: Way,
    /// Lines of a group at most.
    group_lines: usize,
    /// What kernels write.
    index_bytes: usize,
    first_index: u64,
    indices_fall: bool,
    newest_wins: bool,
}

/// Some neighbours of the fastest loop over lines.
#[derive(Clone, Copy)]
struct Group {
    /// What the first of them visits first.
    starts: Places,
    lines: usize,
}

/// What is best so far of each line of a group, on the stack. Large: to be made in an outlined function.
struct BestBuffer {
    values: [MaybeUninit<u64>; MAX_LINES],
    indices: [MaybeUninit<u64>; MAX_LINES],
    has_begun: [bool; MAX_LINES],
}

/// The same for some of the lines.
#[derive(Clone, Copy)]
struct Best {
    values: *mut u64,
    indices: *mut u64,
    /// Whether an element was there.
    has_begun: *mut bool,
}

// SAFETY: parts of a group use lines of their own, and what is merged between is not used meanwhile.
unsafe impl Send for Best {}
// SAFETY: as above.
unsafe impl Sync for Best {}

impl Best {
    /// From one line on.
    fn from(self, line: usize, [value_bytes, index_bytes]: [usize; 2]) -> Best {
        Best {
            values: self.values.wrapping_byte_add(line * value_bytes),
            indices: self.indices.wrapping_byte_add(line * index_bytes),
            has_begun: self.has_begun.wrapping_add(line),
        }
    }

    fn places(self) -> [*mut (); 2] {
        [self.values.cast(), self.indices.cast()]
    }
}

impl BestBuffer {
    #[inline(always)]
    fn new() -> BestBuffer {
        let (values, indices) = ([MaybeUninit::uninit(); _], [MaybeUninit::uninit(); _]);
        BestBuffer { values, indices, has_begun: [false; _] }
    }

    fn best(&mut self) -> Best {
        Best {
            values: self.values.as_mut_ptr().cast(),
            indices: self.indices.as_mut_ptr().cast(),
            has_begun: self.has_begun.as_mut_ptr(),
        }
    }
}

impl ScanCall<'_> {
    /// Groups along the fastest loop: of about as many lines.
    fn groups_of_inner(&self) -> usize {
        self.shape.inner().size.div_ceil(self.group_lines)
    }

    fn groups(&self) -> usize {
        self.shape.outer_count() * self.groups_of_inner()
    }

    fn group(&self, n: usize) -> Group {
        let (of_inner, size) = (self.groups_of_inner(), self.shape.inner().size);
        let (outer, n) = (n / of_inner, n % of_inner);
        let [first, end] = [n, n + 1].map(|n| share_start(n, of_inner, size));
        Group { starts: self.shape.line(outer, first), lines: end - first }
    }

    /// The bytes of a value and an index in [`BestBuffer`].
    fn best_bytes(&self) -> [usize; 2] {
        [self.bound.input.data_type().size(), self.index_bytes]
    }

    /// Scans a group, on this thread.
    #[inline(never)]
    fn run_group(&self, n: usize, slices: &mut OutputSlices<'_>, pause: Option<&(dyn Fn() + Sync)>) {
        let (group, mut buffer) = (self.group(n), BestBuffer::new());
        let best = buffer.best();
        for (begins, steps) in self.stretches(group.lines, 0..self.shape.steps.size) {
            pause.into_iter().for_each(|pause| pause());
            // SAFETY: a buffer has room for all lines of a group.
            unsafe { self.scan(group, steps, best, begins, Some(slices)) };
        }
    }

    /// Some steps, in stretches between two pauses; and whether each is the first.
    fn stretches(&self, lines: usize, steps: Range<usize>) -> impl Iterator<Item = (bool, Range<usize>)> + use<> {
        let (len, first, end) = ((STRETCH / lines).max(1), steps.start, steps.end);
        steps.step_by(len).map(move |start| (start == first, start..end.min(start.saturating_add(len))))
    }

    /// Scans all groups on threads.
    fn run_on(&self, executor: &dyn Executor, bytes: usize, slices: &mut OutputSlices<'_>) {
        let tasks = tasks_for(executor, bytes);
        let (groups, pause) = (self.groups(), executor.pause());
        if tasks > 1 && groups < tasks && self.shape.steps.size >= 2 * tasks {
            // Fewer lines, so that there is room for the best of each part; but enough to be scanned across.
            let lines = (2 * self.bound.scanner.lanes()).max(MIN_LINES).min(self.group_lines);
            let narrow = ScanCall { group_lines: lines, ..*self };
            let groups = narrow.groups();
            if groups < tasks {
                let slabs = tasks.min(MAX_LINES / lines);
                return (0..groups).for_each(|n| narrow.run_in_slabs(n, slabs, executor, slices));
            }
            return narrow.run_groups(executor, tasks, slices);
        }
        match tasks {
            1 => (0..groups).for_each(|n| self.run_group(n, slices, pause)),
            _ => self.run_groups(executor, tasks, slices),
        }
    }

    /// Each group is a part.
    fn run_groups(&self, executor: &dyn Executor, tasks: usize, slices: &OutputSlices<'_>) {
        let pause = executor.pause();
        for_each_part(executor, tasks, self.groups(), &|claim| {
            // SAFETY: a part writes the answers of its own lines, and each is claimed once.
            let mut lent = unsafe { slices.lend() };
            claim(&mut |part| self.run_group(part, &mut lent, pause));
        });
    }

    /// Scans one group twice, in so many parts of its steps.
    #[inline(never)]
    fn run_in_slabs(&self, n: usize, slabs: usize, executor: &dyn Executor, slices: &mut OutputSlices<'_>) {
        let (group, size, pause) = (self.group(n), self.shape.steps.size, executor.pause());
        let (lines, bytes) = (group.lines, self.best_bytes());
        let mut buffer = BestBuffer::new();
        let best = buffer.best();
        let slab = |n: usize| {
            let [start, end] = [n, n + 1].map(|n| share_start(n, slabs, size));
            (best.from(n * lines, bytes), start..end)
        };
        let slices = &*slices;
        // (The last one is scanned once.)
        for_each_part(executor, slabs, slabs - 1, &|claim| {
            claim(&mut |n| {
                let (best, steps) = slab(n);
                for (begins, steps) in self.stretches(lines, steps) {
                    pause.into_iter().for_each(|pause| pause());
                    // SAFETY: there is room for the best of each line and part, and each part has its own.
                    unsafe { self.scan(group, steps, best, begins, None::<&mut OutputSlices<'_>>) };
                }
            });
        });
        for n in 1..slabs - 1 {
            let [earlier, later] = [n - 1, n].map(|n| slab(n).0);
            // SAFETY: both were written, or have not begun.
            (0..lines)
                .for_each(|line| unsafe { self.merge(earlier.from(line, bytes), later.from(line, bytes), bytes) });
        }
        for_each_part(executor, slabs, slabs, &|claim| {
            // SAFETY: a part writes the answers of its own steps, and each is claimed once.
            let mut lent = unsafe { slices.lend() };
            claim(&mut |n| {
                // From what is best before; of the first part, in the place of the last, which has none.
                let (best, _) = slab(n.checked_sub(1).unwrap_or(slabs - 1));
                for (begins, steps) in self.stretches(lines, slab(n).1) {
                    pause.into_iter().for_each(|pause| pause());
                    // SAFETY: as above: that of the part before is this part's to go on with.
                    unsafe { self.scan(group, steps, best, begins && n == 0, Some(&mut lent)) };
                }
            });
        });
    }

    /// Makes the best of a line that of all steps so far, in the place of the later ones.
    ///
    /// # Safety
    /// - Both are best of a line, or have not begun.
    unsafe fn merge(&self, earlier: Best, later: Best, [value_bytes, index_bytes]: [usize; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            if !earlier.has_begun.read() {
                return;
            }
            if !later.has_begun.read() {
                let from = [earlier.values.cast::<u8>(), earlier.indices.cast::<u8>()];
                from[0].copy_to_nonoverlapping(later.values.cast(), value_bytes);
                from[1].copy_to_nonoverlapping(later.indices.cast(), index_bytes);
                return later.has_begun.write(true);
            }
            let [earlier, later] = [earlier.places(), later.places()];
            self.bound.scanner.merge(&MergeArgs {
                len: 1,
                index_bytes,
                earlier: earlier.map(<*mut ()>::cast_const),
                later: later.map(<*mut ()>::cast_const),
                better: later,
                newest_wins: self.newest_wins,
            });
        }
    }

    /// Goes on with some steps of a group, from the best before them unless they begin, and writes answers, or nothing
    /// but what is best then.
    ///
    /// # Safety
    /// - There is room for the best of each line, and nobody else uses it. Unless they begin, it is there.
    unsafe fn scan(
        &self,
        group: Group,
        steps: Range<usize>,
        best: Best,
        begins: bool,
        slices: Option<&mut OutputSlices<'_>>,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            if begins {
                (0..group.lines).for_each(|line| best.has_begun.add(line).write(self.bound.mask.is_none()));
            }
            match (self.way, slices) {
                (Way::InPlace, Some(slices)) => self.scan_in_place(group, steps, best, begins, slices),
                (_, slices) => {
                    with_bits!(self.bound.input.data_type().size(), B => {
                        self.scan_tiles::<B>(group, steps, best, begins, slices)
                    });
                }
            }
        }
    }

    /// What kernels are given for some steps, from and to where the places say, in the input, the indices and the
    /// values; `answers` are as far apart as [`ScanArgs`] has it.
    fn args(&self, group: Group, steps: &Range<usize>, best: Best, begins: bool) -> ScanArgs {
        let (inner, along) = (self.shape.inner(), self.shape.steps);
        ScanArgs {
            input: self.bound.input.address(group.starts[INPUT] + steps.start as isize * along.strides[INPUT]),
            lines: LoopDim { size: group.lines, stride: inner.strides[INPUT] },
            steps: LoopDim { size: steps.len(), stride: along.strides[INPUT] },
            index_bytes: self.index_bytes,
            indices: null_mut(),
            index_stride: 0,
            values: null_mut(),
            value_stride: 0,
            first_index: self.index_at(steps.start),
            line_index_step: 0,
            indices_fall: self.indices_fall,
            newest_wins: self.newest_wins,
            best: best.places(),
            begins,
        }
    }

    /// The index of what is visited after so many steps.
    fn index_at(&self, step: usize) -> u64 {
        let step = step as u64;
        if self.indices_fall { self.first_index - step } else { self.first_index + step }
    }

    /// # Safety
    /// - As for [`ScanCall::scan`].
    unsafe fn scan_in_place(
        &self,
        group: Group,
        steps: Range<usize>,
        best: Best,
        begins: bool,
        slices: &mut OutputSlices<'_>,
    ) {
        let (inner, along, args) = (self.shape.inner(), self.shape.steps, self.args(group, &steps, best, begins));
        let from_line_to_line =
            |of: usize| if along.strides[INPUT].abs() == 1 { inner.strides[of] } else { along.strides[of] };
        let grid = |of: usize| Grid {
            start: group.starts[of] + steps.start as isize * along.strides[of],
            dims: [
                LoopDim { size: group.lines, stride: inner.strides[of] },
                LoopDim { size: steps.len(), stride: along.strides[of] },
            ],
        };
        let args = ScanArgs {
            indices: for_width!(&mut slices.indices, indices => indices.pointer(grid(INDICES)).cast()),
            index_stride: from_line_to_line(INDICES),
            values: slices.values.as_mut().map_or(null_mut(), |values| {
                // SAFETY: what is written there are elements of their type, which were read from the input.
                with_bits!(values.size(), B => unsafe { values.bits::<B>() }.pointer(grid(VALUES)).cast())
            }),
            value_stride: from_line_to_line(VALUES),
            ..args
        };
        // SAFETY: `BoundScan::new` was told of the input, which nobody writes to, because it is borrowed. The places of
        // all answers are within the slices, as `pointer` asserts, and other tasks write to others. The caller promises
        // the best of each line.
        unsafe { self.bound.scanner.scan(&args) };
    }

    /// # Safety
    /// - As for [`ScanCall::scan`]. `B` has the size and alignment of the elements.
    #[inline(never)]
    unsafe fn scan_tiles<B: IndexBits + Zeroable>(
        &self,
        group: Group,
        steps: Range<usize>,
        best: Best,
        begins: bool,
        mut slices: Option<&mut OutputSlices<'_>>,
    ) {
        let mut buffers: [Buffer<TILE>; 4] = std::array::from_fn(|_| Buffer::new());
        let ([input, indices, values, origins], mut first_there) = (&mut buffers, [0; TILE]);
        let is_across = self.goes_across_tiles(group.lines);
        let mut begins = begins;
        let len = TILE / group.lines;
        let end = steps.end;
        for start in steps.step_by(len) {
            let steps = start..end.min(start + len);
            let (count, lines) = (steps.len(), group.lines);
            let elements = count * lines;
            let (line_stride, step_stride) = if is_across { (1, lines) } else { (count, 1) };
            let args = self.args(group, &steps, best, begins && self.bound.mask.is_none());
            let mut tile = Tile {
                group,
                steps,
                line_stride,
                step_stride,
                first_there: &mut first_there,
                input: input.places::<B>(elements),
                origins: origins.places::<u64>(elements),
            };
            let is_copied = self.way == Way::ByTiles;
            // SAFETY: the caller's promise.
            let from = if is_copied { unsafe { self.copy(&mut tile, best) } } else { args.input };
            let is_backwards = !is_copied && args.steps.stride == -1;
            let first = if is_backwards { count - 1 } else { 0 };
            let stride = if is_across { step_stride } else { line_stride } as isize;
            let (to, to_values) = (indices.places::<u64>(elements), values.places::<B>(elements));
            let index_bytes = self.index_bytes;
            let args = ScanArgs {
                input: from,
                lines: if is_copied { LoopDim { size: lines, stride: line_stride as isize } } else { args.lines },
                steps: if is_copied { LoopDim { size: count, stride: step_stride as isize } } else { args.steps },
                indices: to.as_mut_ptr().cast::<()>().wrapping_byte_add(first * index_bytes),
                index_stride: stride,
                values: match &slices {
                    Some(slices) if slices.values.is_some() && self.bound.keys.is_none() => {
                        to_values.as_mut_ptr().wrapping_add(first).cast()
                    }
                    _ => null_mut(),
                },
                value_stride: stride,
                ..args
            };
            // SAFETY: the input as in `scan_in_place`, or all of its copy was written; there is a place in the buffers
            // for each answer.
            unsafe { self.bound.scanner.scan(&args) };
            begins = false;
            if self.bound.mask.is_some() && self.newest_wins {
                // SAFETY: the kernel has written all indices of a tile that was copied, which have 64 bits.
                unsafe { self.put_origins(&tile, to, best) };
            }
            if let Some(slices) = &mut slices {
                // SAFETY: the same, and of all values, if they are wanted.
                unsafe { self.write(&tile, to, to_values, slices) };
            }
        }
    }

    /// Whether a tile is scanned across lines.
    fn goes_across_tiles(&self, lines: usize) -> bool {
        let (inner, along, lanes) = (self.shape.inner(), self.shape.steps, self.bound.scanner.lanes());
        if self.way == Way::InPlace {
            return along.strides[INPUT].abs() != 1;
        }
        // (Of one step, a tile is along and across.)
        lines >= lanes && TILE / lines > 1 && (along.size < 2 * lanes || inner.strides[INPUT] == 1)
    }

    /// Copies a tile, and tells where it is.
    ///
    /// # Safety
    /// - As for [`ScanCall::scan`]. `B` has the size and alignment of the elements.
    unsafe fn copy<B: IndexBits + Zeroable>(&self, tile: &mut Tile<'_, B>, best: Best) -> *const () {
        let (steps, along, inner) = (tile.steps.clone(), self.shape.steps.strides, self.shape.inner().strides);
        let place = |of: usize, line: usize, step: usize| {
            (tile.group.starts[of] + line as isize * inner[of] + step as isize * along[of]) as usize
        };
        for line in 0..tile.group.lines {
            for (n, step) in steps.clone().enumerate() {
                // SAFETY: `BoundScan::new` was told that the loops of its shape may be read.
                tile.input[tile.at(line, n)].write(unsafe { self.bound.input.read::<B>(place(INPUT, line, step)) });
            }
        }
        if let Some(keys) = self.bound.keys {
            let (all, copy) = (LoopDim { size: tile.input.len(), stride: 1 }, tile.input.as_mut_ptr().cast());
            // SAFETY: all of the copy was written: elements, which become their keys.
            unsafe { keys.copy(copy, &[], all, copy) };
        }
        let Some(mask) = self.bound.mask else { return tile.input.as_ptr().cast() };
        for line in 0..tile.group.lines {
            let is_there = |step: usize| mask.places().at(place(MASK, line, step));
            // SAFETY: all of the copy was written.
            let read = |tile: &Tile<'_, B>, n: usize| unsafe { tile.input[tile.at(line, n)].assume_init() };
            // SAFETY: the caller promises the best of each line, and that it is there where a line has begun.
            unsafe {
                let (value, index) = (best.values.cast::<B>().add(line), best.indices.add(line));
                tile.first_there[line] = 0;
                if !best.has_begun.add(line).read() {
                    let first = steps.clone().position(is_there);
                    tile.first_there[line] = first.unwrap_or(steps.len()) as u16;
                    value.write(first.map_or(B::zeroed(), |n| read(tile, n)));
                    index.write(first.map_or(0, |n| self.index_at(steps.start + n)));
                    best.has_begun.add(line).write(first.is_some());
                }
                let (mut last, mut origin) = (value.read(), index.read());
                for (n, step) in steps.clone().enumerate() {
                    if is_there(step) {
                        (last, origin) = (read(tile, n), self.index_at(step));
                    }
                    let at = tile.at(line, n);
                    tile.input[at].write(last);
                    tile.origins[at].write(origin);
                }
            }
        }
        tile.input.as_ptr().cast()
    }

    /// In place of the indices of copies, those of what was copied.
    ///
    /// # Safety
    /// - The tile is a copy. Its indices and the best of each line are initialised.
    unsafe fn put_origins<B>(&self, tile: &Tile<'_, B>, indices: &mut [MaybeUninit<u64>], best: Best) {
        let first = self.index_at(tile.steps.start);
        for line in 0..tile.group.lines {
            let origin = |index: u64| {
                let step = if self.indices_fall { first.wrapping_sub(index) } else { index.wrapping_sub(first) };
                let is_of_tile = step < tile.steps.len() as u64;
                // SAFETY: the copy has an origin for each element.
                if is_of_tile { unsafe { tile.origins[tile.at(line, step as usize)].assume_init() } } else { index }
            };
            for n in 0..tile.steps.len() {
                let index = &mut indices[tile.at(line, n)];
                // SAFETY: the caller's promise.
                index.write(origin(unsafe { index.assume_init() }));
            }
            // SAFETY: the caller's promise.
            unsafe { best.indices.add(line).write(origin(best.indices.add(line).read())) };
        }
    }

    /// Writes the answers of a tile.
    ///
    /// # Safety
    /// - They were written to these buffers, and values, if they are wanted.
    unsafe fn write<B: IndexBits>(
        &self,
        tile: &Tile<'_, B>,
        found: &[MaybeUninit<u64>],
        values: &[MaybeUninit<B>],
        slices: &mut OutputSlices<'_>,
    ) {
        let (along, inner) = (self.shape.steps.strides, self.shape.inner().strides);
        for line in 0..tile.group.lines {
            let place = |of: usize, n: usize| {
                tile.group.starts[of] + line as isize * inner[of] + (tile.steps.start + n) as isize * along[of]
            };
            let (first, len) = (tile.first_there[line].into(), tile.steps.len());
            if let Some(mask) = self.bound.mask {
                for n in 0..first {
                    mask.write_one_nothing(place(INDICES, n) as usize, place(VALUES, n) as usize, slices);
                }
            }
            if first == len {
                continue;
            }
            // SAFETY: the caller's promise.
            let indices = (first..len).map(|n| unsafe { found[tile.at(line, n)].assume_init() });
            for_width!(&mut slices.indices, to => {
                spread(to, place(INDICES, first), along[INDICES], indices)
            });
            if let Some(to) = &mut slices.values {
                let element = |n: usize| {
                    let at = tile.at(line, n);
                    if self.bound.keys.is_none() {
                        // SAFETY: as above; they are elements, which were read from the input.
                        return unsafe { values[at].assume_init() };
                    }
                    // SAFETY: as above.
                    let step = unsafe { found[at].assume_init() }.abs_diff(self.first_index);
                    let place = tile.group.starts[INPUT] + line as isize * inner[INPUT] + step as isize * along[INPUT];
                    // SAFETY: the index is that of a step of the line.
                    unsafe { self.bound.input.read::<B>(place as usize) }
                };
                // SAFETY: what is written are elements of their type.
                unsafe { to.bits::<B>() }.spread(place(VALUES, first), along[VALUES], (first..len).map(element));
            }
        }
    }
}

/// Some steps of a group, in buffers.
struct Tile<'b, B> {
    group: Group,
    steps: Range<usize>,
    /// From line to line, and from step to step.
    line_stride: usize,
    step_stride: usize,
    /// Under a mask, how many steps of each line come before the first of which anything was there.
    first_there: &'b mut [u16; TILE],
    input: &'b mut [MaybeUninit<B>],
    /// Under a mask, the index of what each element of the copy is a copy of.
    origins: &'b mut [MaybeUninit<u64>],
}

impl<B> Tile<'_, B> {
    /// Where a step of a line is in the buffers.
    #[inline(always)]
    fn at(&self, line: usize, step: usize) -> usize {
        line * self.line_stride + step * self.step_stride
    }
}

/// Writes indices that fit.
pub(super) fn spread<I: IndexBits>(
    to: &mut OutputSlice<'_, I>,
    first: isize,
    stride: isize,
    indices: impl ExactSizeIterator<Item = u64>,
) {
    to.spread(first, stride, indices.map(I::of));
}
