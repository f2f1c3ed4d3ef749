//! Windows that overlap, at a cost that does not grow with their width. What a window loses, it loses at its start, and
//! what it gains, at its end: so the best of all that is in two windows is looked for once.
//!
//! ```text
//! series:     the best of a window stays the best of those that follow, until it leaves them, or a better one comes
//!     for each window that the best so far is not in:
//!         best = kernel(the window without its last element)       or if that was needed too often: by a block
//!     scan on, until the best leaves:     indices of the windows = the best so far
//!
//!     by a block, of B windows:           a window is the end of the block, what lies between, and a prefix
//!         ends     = scan(the first B elements, backwards)
//!         between  = kernel(what is in all B windows)
//!         prefixes = scan(what follows, from `between` on)
//!         indices  = merge(ends, prefixes)
//!
//! rows:       the same block by block, for many columns at a time: an end and a prefix are rows
//! ```
//!
//! A window of rows and columns is answered row by row first: what wins in a window is the winner of its row, because
//! each better element, and each equal one that is visited earlier, would win there, too. So of the winners of its rows
//! the best wins, and of equal ones that of the row that is visited first. Both steps keep the index of the element in
//! its own window, so that the same holds for any index type.
#![allow(unsafe_code)]

use super::call::{KernelCall, PositionPlaces, ValuePlaces};
use super::input::{BoundPlan, ElementsRef};
use super::masked::write_all;
use super::slices::OutputSlices;
use super::tiles::{Grid, OutputTile};
use crate::planner::{WindowWay, Windows};
use argreduce_kernels::{
    Hint, IndexBits, Kernel, LoopDim, MergeArgs, ScanArgs, Scanner, Strategy, StridedIter, Tuning, WorkingSet,
    kernel_of, scanner_of, with_bits,
};
use bytemuck::cast_slice_mut;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::slice::from_ref;

/// Windows that are answered before their indices are written. Not measured.
const PIECE: usize = 1024;

/// The longest block of a series. Not measured.
const BLOCK: usize = PIECE;

/// Where the best of a window has stayed for less than this part of it, a block follows. See docs/tuning.md#windows.
const MIN_STAY: usize = 8;

/// Up to so many elements of a window, doubling takes the place of a block. See docs/tuning.md#windows.
const MAX_DOUBLED: usize = 200;

/// Up to so many, it always does. See docs/tuning.md#windows.
const ALWAYS_DOUBLED: usize = 40;

/// The elements of a block of rows. See docs/tuning.md#windows.
const BLOCK_OF_ROWS: usize = 2048;

/// The fewest columns of such a block, unless a vector has more lanes. Not measured.
const MIN_COLUMNS: usize = 32;

/// How many rows ahead are prefetched. See docs/tuning.md#windows.
const ROWS_AHEAD: usize = 2;

/// The most columns that are answered side by side. Not measured.
const MAX_COLUMNS: usize = 256;

/// The elements of series that are not neighbours, gathered for a piece. Not measured.
const GATHERED: usize = 2048;

/// Answers those outputs that are no copies of others, of a plan for such windows.
pub(super) fn run_windows(bound: &BoundPlan<'_>, windows: &Windows, slices: &mut OutputSlices<'_>) {
    let shape = bound.plan().shape();
    let nests = [&shape.input, &shape.output, &shape.values];
    let loops = nests.map(|nest| windows.loops(nest.output_dims()));
    let [inputs, outputs, values] = nests.map(|nest| windows.others(nest.output_dims()));
    let places = StridedIter::new(&inputs.0[..inputs.1])
        .zip(StridedIter::new(&outputs.0[..outputs.1]))
        .zip(StridedIter::new(&values.0[..values.1]));
    let finder = Finder::new(bound, windows);
    for ((input, output), value) in places {
        let starts = [(shape.input.start, input), (shape.output.start, output), (shape.values.start, value)];
        let starts = starts.map(|(start, offset)| start as isize + offset);
        let part = Part { bound, windows, finder, loops, starts };
        match windows.way {
            WindowWay::Series { interleaved: 1 } if windows.stride == 1 => part.run_series(slices),
            WindowWay::Series { interleaved } => {
                (0..interleaved).for_each(|n| part.run_gathered((n, interleaved), 0, slices));
            }
            WindowWay::Rows => part.run_rows(slices),
            // Those of the last row, if it is not whole, one by one.
            WindowWay::WholeRows => {
                let [whole, rest] = [part.loops[0][0].size / windows.stride, part.loops[0][0].size % windows.stride];
                let mut rows = part;
                for loops in &mut rows.loops {
                    let [along, _] = *loops;
                    let stride = along.stride * windows.stride as isize;
                    *loops = [LoopDim { size: whole, stride }, LoopDim { size: windows.stride, ..along }];
                }
                rows.run_rows(slices);
                (0..rest).for_each(|n| part.run_gathered((n, windows.stride), whole, slices));
            }
        }
    }
}

/// An answer as scans take it: an element, from its first byte on, and an index.
#[derive(Clone, Copy)]
struct Best {
    element: u64,
    index: u32,
}

/// What finds and merges, by the plan's ISA and order.
#[derive(Clone, Copy)]
struct Finder {
    scanner: Scanner,
    /// Of rows, and of columns side by side.
    rows: &'static Kernel,
    columns: &'static Kernel,
    /// Of equals, the last in memory wins.
    last_wins: bool,
}

impl Finder {
    fn new(bound: &BoundPlan<'_>, windows: &Windows) -> Self {
        let Some((isa, ..)) = bound.kernel() else { unreachable!("windows have several elements") };
        let (element, (function, policy)) = (bound.input().data_type(), bound.order());
        let kernel = |strategy| kernel_of(element, isa, strategy, function, policy).expect("as the plan has one");
        let scanner = scanner_of(element, isa, function, policy).expect("as the plan has a kernel");
        let (rows, columns) = (kernel(Strategy::Rows), kernel(Strategy::Columns));
        Finder { scanner, rows, columns, last_wins: windows.is_backward }
    }
}

/// Windows along one loop, and where their answers go.
#[derive(Clone, Copy)]
struct Part<'a> {
    bound: &'a BoundPlan<'a>,
    windows: &'a Windows,
    finder: Finder,
    /// In the input, the output and the values: along and across.
    loops: [[LoopDim; 2]; 3],
    starts: [isize; 3],
}

/// Room for `N` answers of any type. Large: to be made in an outlined function.
struct Room<const N: usize> {
    elements: [MaybeUninit<u64>; N],
    indices: [MaybeUninit<u32>; N],
}

impl<const N: usize> Room<N> {
    fn new() -> Self {
        Room { elements: [MaybeUninit::uninit(); N], indices: [MaybeUninit::uninit(); N] }
    }

    /// So many answers, or as many as there is room for.
    fn answers(&mut self, len: usize) -> Answers<'_> {
        let len = len.min(N);
        Answers { elements: write_all(&mut self.elements[..len], 0), indices: write_all(&mut self.indices[..len], 0) }
    }
}

/// Answers side by side: places for elements of any type, and for as many indices.
struct Answers<'a> {
    elements: &'a mut [u64],
    indices: &'a mut [u32],
}

impl Answers<'_> {
    fn len(&self) -> usize {
        self.indices.len()
    }

    /// Those from one on: elements of so many bytes, and indices.
    fn from(&mut self, first: usize, bytes: usize) -> Sides {
        assert!(first <= self.len() && bytes <= 8);
        let elements = self.elements.as_mut_ptr().cast::<()>().wrapping_byte_add(first * bytes);
        [elements, self.indices.as_mut_ptr().wrapping_add(first).cast()]
    }
}

/// Indices that were counted from the lowest element of the first of some windows, `step` apart, become those in each
/// of them: from its lowest element, or down from its highest, the `last`.
fn from_their_windows(indices: &mut [u32], step: u32, last: Option<usize>) {
    let (last, falls) = last.map_or((0, 0), |last| (last as u32, u32::MAX));
    let mut lowest = 0_u32;
    for index in indices {
        let from_lowest = index.wrapping_sub(lowest);
        *index = last.wrapping_add((from_lowest ^ falls).wrapping_sub(falls));
        lowest = lowest.wrapping_add(step);
    }
}

/// Elements and indices.
type Sides = [*mut (); 2];

impl Finder {
    /// Makes each of some answers the better of itself and its counterpart, which comes after it in memory.
    ///
    /// # Safety
    /// - There are as many, all initialised, that nobody else writes. Those that are written are those of one side, or
    ///   of neither, or begin before those of the other.
    unsafe fn merge(&self, len: usize, earlier: Sides, later: Sides, better: Sides) {
        let [earlier, later] = [earlier, later].map(|sides| sides.map(<*mut ()>::cast_const));
        let (index_bytes, newest_wins) = (size_of::<u32>(), self.last_wins);
        // SAFETY: the caller's promise.
        unsafe { self.scanner.merge(&MergeArgs { len, index_bytes, earlier, later, better, newest_wins }) }
    }

    /// The best of each `width` neighbours, of windows that begin at neighbours from a place on: the elements, and how
    /// far they are from the place. Shorter windows first, and from two of those one that is up to twice as long.
    ///
    /// # Safety
    /// - All elements of the windows may be read, and have such a size; they are no more than positions count.
    /// - There are `len + width` answers.
    unsafe fn find_doubled(
        &self,
        input: ElementsRef<'_>,
        (first, len): (isize, usize),
        width: usize,
        answers: &mut Answers<'_>,
    ) {
        let mut found = width;
        while found > MAX_BASE {
            found = found.div_ceil(2);
        }
        let (count, bytes) = (len + width - found, input.data_type().size());
        let (start, stride) = if self.last_wins { (first + found as isize - 1, -1) } else { (first, 1) };
        let grid = Grid { start, dims: [LoopDim::ONE, LoopDim { size: count, stride: 1 }] };
        let reduced = [LoopDim { size: found, stride }];
        let kernel = if count >= self.scanner.lanes() { self.columns } else { self.rows };
        // SAFETY: the caller's promise; the kernel is for elements of that type.
        let call = unsafe { KernelCall::new(kernel, input, grid, &reduced, WorkingSet::L2) };
        let Answers { elements, indices } = answers;
        with_bits!(bytes, B => {
            let elements = &mut cast_slice_mut::<u64, B>(elements)[..count];
            // SAFETY: integers are not uninitialised by a kernel, which writes elements.
            let elements = unsafe { &mut *(&raw mut *elements as *mut [MaybeUninit<B>]) };
            let places = ValuePlaces::of_buffer(elements, input.data_type());
            call.find(PositionPlaces::from(&mut indices[..count]), Some(places));
        });
        let (last, falls) = if self.last_wins { (found as u32 - 1, u32::MAX) } else { (0, 0) };
        for (n, index) in indices[..count].iter_mut().enumerate() {
            *index = (n as u32 + last).wrapping_add((*index ^ falls).wrapping_sub(falls));
        }
        while found < width {
            let longer = width.min(2 * found);
            let [earlier, later] = [0, longer - found].map(|first| answers.from(first, bytes));
            // SAFETY: so many of both have been found, and are written from the first on.
            unsafe { self.merge(len + width - longer, earlier, later, earlier) };
            found = longer;
        }
    }
}

/// Up to so many elements of a window are looked at one by one. See docs/tuning.md#windows.
const MAX_BASE: usize = 8;

impl Part<'_> {
    /// Where the lowest element of the first window is, of which windows are visited upwards or downwards.
    fn lowest(&self) -> isize {
        let Windows { len, width, stride, is_backward, .. } = *self.windows;
        let below = if is_backward { (len - 1) * stride + width - 1 } else { 0 };
        self.starts[0] - below as isize
    }

    /// A series whose elements are neighbours.
    #[inline(never)]
    fn run_series(&self, slices: &mut OutputSlices<'_>) {
        let (mut room, mut more, step, along) = (Room::new(), Room::new(), self.windows.step, self.loops[0][0].size);
        let (mut answers, mut others) =
            Series::rooms(along.saturating_mul(step), self.windows.len, &mut room, &mut more);
        let mut series = Series::new(self, self.bound.input(), self.lowest(), slices.values.is_some());
        let mut first = 0;
        while first < along {
            let count = (along - first).min(PIECE / step);
            // Up to where the next piece begins: the best of that is known then.
            let is_last = first + count == along;
            let windows = if is_last { (count - 1) * step + 1 } else { count * step };
            series.answer(windows, &mut answers, &mut others);
            self.write((first, count), 1, &mut answers, slices);
            first += count;
        }
    }

    /// Series `n` of some that are interleaved, or the only one, whose elements are not neighbours: from window `first`
    /// on.
    #[inline(never)]
    fn run_gathered(&self, (n, interleaved): (usize, usize), mut first: usize, slices: &mut OutputSlices<'_>) {
        let (mut room, mut more, mut gathered) = (Room::new(), Room::new(), [MaybeUninit::uninit(); GATHERED]);
        let (Windows { len, step, stride, .. }, input) = (*self.windows, self.bound.input());
        let all = self.loops[0][0].size.saturating_sub(n).div_ceil(interleaved);
        let windows = (all - first.min(all)).saturating_mul(step);
        let (mut answers, mut others) = Series::rooms(windows, len, &mut room, &mut more);
        let gathered = write_all(&mut gathered[..GATHERED.min(windows.saturating_add(len))], 0);
        let lowest = self.lowest() + n as isize;
        while first < all {
            let most = (GATHERED - (len - 1)).min(PIECE);
            let count = (all - first).min((most - 1) / step + 1);
            let windows = (count - 1) * step + 1;
            with_bits!(self.bound.plan().element_bytes(), B => {
                let gathered = &mut cast_slice_mut::<u64, B>(gathered)[..windows + len - 1];
                for (i, to) in gathered.iter_mut().enumerate() {
                    let place = lowest + ((first * step + i) * stride) as isize;
                    // SAFETY: windows of the plan have all elements from the first to the last of these, as steps are
                    // no longer than windows; integers of their size take all bits.
                    *to = unsafe { input.read::<B>(place as usize) };
                }
                // SAFETY: these are elements of the input.
                let elements = unsafe { ElementsRef::of_bits(gathered, input.data_type()) };
                let mut series = Series::new(self, elements, 0, slices.values.is_some());
                series.answer(windows, &mut answers, &mut others);
            });
            self.write((n + first * interleaved, count), interleaved, &mut answers, slices);
            first += count;
        }
    }

    /// Writes the answers of some windows of a series, from an output on, `apart` outputs from one to the next.
    fn write(
        &self,
        (first, count): (usize, usize),
        apart: usize,
        answers: &mut Answers<'_>,
        slices: &mut OutputSlices<'_>,
    ) {
        let Windows { len, step, is_backward, .. } = *self.windows;
        let Answers { elements, indices } = answers;
        if step > 1 {
            (0..count).for_each(|n| indices[n] = indices[n * step]);
        }
        from_their_windows(&mut indices[..count], step as u32, is_backward.then_some(len - 1));
        let grid = |n: usize| {
            let stride = self.loops[n][0].stride;
            let dims = [LoopDim::ONE, LoopDim { size: count, stride: stride * apart as isize }];
            Grid { start: self.starts[n] + first as isize * stride, dims }
        };
        let tile = OutputTile { input: grid(0), output: grid(1), values: grid(2), mask: None };
        with_bits!(self.bound.plan().element_bytes(), B => {
            let elements = cast_slice_mut::<u64, B>(elements);
            if slices.values.is_some() && step > 1 {
                (0..count).for_each(|n| elements[n] = elements[n * step]);
            }
            // SAFETY: elements of the input, if they are wanted.
            unsafe { self.put(&tile, &mut indices[..count], &elements[..count], slices) };
        });
    }

    /// Writes positions, and elements where they are wanted.
    ///
    /// # Safety
    /// - Where they are wanted, these are the bits of elements of the input.
    unsafe fn put<B: IndexBits>(
        &self,
        tile: &OutputTile,
        positions: &mut [u32],
        elements: &[B],
        slices: &mut OutputSlices<'_>,
    ) {
        let plan = self.bound.plan();
        if let Some(values) = &mut slices.values {
            // SAFETY: the caller's promise, and nothing else is written.
            unsafe { values.bits::<B>() }.scatter(plan.writer(), tile.values, elements);
        }
        tile.write_indices(plan, positions, &mut slices.indices);
    }
}

/// Windows of a series of neighbours, which begin at each of them.
struct Series<'a> {
    finder: Finder,
    elements: ElementsRef<'a>,
    /// The first element of the next window.
    first: isize,
    len: usize,
    wants_elements: bool,
    /// The best of the next window without its last element, by its place from the first.
    best: Option<Best>,
    /// How many windows the last one that was looked for has answered; and of how many in a row those were few.
    stay: usize,
    short_stays: usize,
}

impl<'a> Series<'a> {
    fn new(part: &Part<'_>, elements: ElementsRef<'a>, first: isize, wants_elements: bool) -> Self {
        let (finder, len) = (part.finder, part.windows.len);

        Series { finder, elements, first, len, wants_elements, best: None, stay: len, short_stays: 0 }
    }

    /// Places for the answers of a piece of so many windows, and for others on the way.
    fn rooms<'r>(
        windows: usize,
        len: usize,
        room: &'r mut Room<PIECE>,
        more: &'r mut Room<PIECE>,
    ) -> (Answers<'r>, Answers<'r>) {
        (room.answers(windows), more.answers(windows.saturating_add(len)))
    }

    /// Answers the next windows: for each, how far the best element is from the first of all of them, and if wanted,
    /// that.
    fn answer(&mut self, count: usize, answers: &mut Answers<'_>, others: &mut Answers<'_>) {
        let mut next = 0;
        while next < count {
            let known = self.best.take().filter(|best| best.index as usize >= next);
            if known.is_none() {
                self.short_stays = if self.stay < self.len / MIN_STAY { self.short_stays + 1 } else { 0 };
            }
            if self.len <= ALWAYS_DOUBLED || known.is_none() && self.short_stays > 1 {
                next += self.answer_block(next, count, answers, others);
                (self.stay, self.short_stays) = (0, 0);
                continue;
            }
            let mut best = known.unwrap_or_else(|| {
                self.stay = 0;
                self.find(next, self.len - 1)
            });
            let steps = (count - next).min(best.index as usize - next + 1);
            let to = self.places(answers, next, self.wants_elements);
            self.scan((next + self.len - 1, steps), true, to, &mut best, false);
            self.best = Some(best);
            next += steps;
            self.stay += steps;
        }
        self.first += count as isize;
        let moved = |best: Best| Some(Best { index: best.index.checked_sub(count as u32)?, ..best });
        self.best = self.best.and_then(moved);
    }

    /// Answers some of the windows from the next on by a block, and tells how many.
    #[inline(never)]
    fn answer_block(
        &mut self,
        next: usize,
        count: usize,
        answers: &mut Answers<'_>,
        others: &mut Answers<'_>,
    ) -> usize {
        let (len, bytes) = (self.len, self.elements.data_type().size());
        if len <= MAX_DOUBLED {
            let size = (count - next).min(others.len() - len);
            let from = self.first + next as isize;
            // SAFETY: these are windows of the plan; of others, there are as many as are written.
            unsafe { self.finder.find_doubled(self.elements, (from, size), len, others) };
            let Answers { elements, indices } = answers;
            for (to, found) in indices[next..][..size].iter_mut().zip(&*others.indices) {
                *to = found + next as u32;
            }
            if self.wants_elements {
                let to = &mut cast_slice_mut::<u64, u8>(elements)[next * bytes..][..size * bytes];
                to.copy_from_slice(&cast_slice_mut::<u64, u8>(others.elements)[..size * bytes]);
            }
            return size;
        }
        let size = (len - 1).min(BLOCK).min(count - next);
        let (mut best, between) = (Best { element: 0, index: 0 }, len - 1 - size);
        let to = self.places(answers, next, true);
        self.scan((next, size), false, to, &mut best, true);
        if between > 0 {
            best = self.find(next + size, between);
        }
        let to = self.places(others, 0, true);
        self.scan((next + len - 1, size), true, to, &mut best, between == 0);
        let (earlier, later) = (answers.from(next, bytes), others.from(0, bytes));
        let better = [if self.wants_elements { earlier[0] } else { null_mut() }, earlier[1]];
        // SAFETY: both sides have been written, as many; nothing else uses them.
        unsafe { self.finder.merge(size, earlier, later, better) };
        self.best = Some(best);
        size
    }

    /// From answer `first` on, with elements or without.
    fn places(&self, answers: &mut Answers<'_>, first: usize, with_elements: bool) -> Places {
        let [elements, indices] = answers.from(first, self.elements.data_type().size());
        Places { indices: indices.cast(), elements: if with_elements { elements } else { null_mut() } }
    }

    /// The best of some neighbours.
    fn find(&self, first: usize, len: usize) -> Best {
        let Finder { rows, last_wins, .. } = self.finder;
        let (start, stride) = if last_wins { (first + len - 1, -1) } else { (first, 1) };
        let grid = Grid { start: self.first + start as isize, dims: [LoopDim::ONE; 2] };
        let row = LoopDim { size: len, stride };
        let mut position = [MaybeUninit::uninit()];
        // SAFETY: the kernel is for such elements; all of them are in windows, which are shorter than positions count.
        let position = unsafe {
            match last_wins {
                false => rows.of_row(self.elements.address(grid.start), len, Tuning::current()),
                true => {
                    let call = KernelCall::new(rows, self.elements, grid, from_ref(&row), WorkingSet::L2);
                    call.find_positions(&mut position)[0]
                }
            }
        } as usize;
        let index = if last_wins { start - position } else { start + position };
        let mut best = Best { element: 0, index: index as u32 };
        with_bits!(self.elements.data_type().size(), B => {
            // SAFETY: the element was visited; an integer of its size takes all bits.
            let element = unsafe { self.elements.read::<B>((self.first + index as isize) as usize) };
            best.element = bytes_of_element(element);
        });
        best
    }

    /// Scans some elements, upwards or downwards, and writes what is best so far.
    fn scan(&self, (first, len): (usize, usize), upwards: bool, to: Places, best: &mut Best, begins: bool) {
        let Finder { scanner, last_wins, .. } = self.finder;
        let size = self.elements.data_type().size();
        let last = if upwards { 0 } else { len - 1 };
        let args = ScanArgs {
            input: self.elements.address(self.first + (first + last) as isize),
            lines: LoopDim::ONE,
            steps: LoopDim { size: len, stride: if upwards { 1 } else { -1 } },
            index_bytes: size_of::<u32>(),
            indices: to.indices.wrapping_add(last).cast(),
            index_stride: 0,
            values: if to.elements.is_null() { null_mut() } else { to.elements.wrapping_byte_add(last * size) },
            value_stride: 0,
            first_index: (first + last) as u64,
            line_index_step: 0,
            indices_fall: !upwards,
            newest_wins: upwards == last_wins,
            best: [(&raw mut best.element).cast(), (&raw mut best.index).cast()],
            begins,
        };
        // SAFETY: the elements are in windows, and so are elements of the input; there are as many places for answers,
        // and of the best one, which are initialised.
        unsafe { scanner.scan(&args) }
    }
}

/// Places for answers: of what is visited first, and of what comes after it in memory.
#[derive(Clone, Copy)]
struct Places {
    indices: *mut u32,
    /// Of the width of elements, or null.
    elements: *mut (),
}

/// Its bytes, as the first ones of an integer.
fn bytes_of_element<B: bytemuck::Pod>(element: B) -> u64 {
    let mut bytes = [0; 8];
    bytes[..size_of::<B>()].copy_from_slice(bytemuck::bytes_of(&element));
    u64::from_ne_bytes(bytes)
}

impl Part<'_> {
    /// Rows of windows, strip by strip.
    #[inline(never)]
    fn run_rows(&self, slices: &mut OutputSlices<'_>) {
        let (mut block, mut found) = (Room::<BLOCK_OF_ROWS>::new(), Room::<PIECE>::new());
        let Some((isa, ..)) = self.bound.kernel() else { unreachable!("windows have several elements") };
        let (columns, lanes) = (self.loops[0][1].size, isa.vector_bytes() / self.bound.plan().element_bytes());
        let rows = (self.windows.len - 1).min(BLOCK_OF_ROWS / lanes.max(MIN_COLUMNS));
        let widest = (BLOCK_OF_ROWS / rows).min(MAX_COLUMNS).min(columns) / lanes * lanes;
        let mut block = block.answers(rows * widest);
        let mut found = found.answers(widest + self.windows.width);
        let mut first = 0;
        while first < columns {
            // The last one overlaps the one before.
            let width = widest.min((columns - first).next_multiple_of(lanes));
            let at = first.min(columns - width);
            Strip { part: self, first: at as isize, width, rows }.run(&mut block, &mut found, slices);
            first = at + width;
        }
    }
}

/// Some columns. An index says in which row of the part an element is, and in which column of the strip: as many for
/// each row as a window has.
struct Strip<'a> {
    part: &'a Part<'a>,
    first: isize,
    width: usize,
    /// How many rows are a block at most.
    rows: usize,
}

impl Strip<'_> {
    fn run(&self, block: &mut Answers<'_>, found: &mut Answers<'_>, slices: &mut OutputSlices<'_>) {
        let (len, along) = (self.part.windows.len, self.part.loops[0][0].size);
        let (mut of_prefix, mut of_better) = (Room::<MAX_COLUMNS>::new(), Room::<MAX_COLUMNS>::new());
        let [mut prefix, mut better] = [&mut of_prefix, &mut of_better].map(|room| room.answers(self.width));
        let bytes = self.part.bound.plan().element_bytes();
        let [prefix, of_better] = [&mut prefix, &mut better].map(|row| row.from(0, bytes));
        let mut place = |n: usize| block.from(n * self.width, bytes);
        // How many rows that come next are in their places of the block.
        let (mut next, mut known) = (0, 0);
        while next < along {
            let count = self.rows.min(along - next);
            for n in known..count {
                self.copy(self.find_row(next + n, found), place(n));
            }
            let between = len - 1 - count;
            for n in 0..between {
                let row = if count + n < known { place(count + n) } else { self.find_row(next + count + n, found) };
                self.take(n == 0, row, prefix);
            }
            for n in (0..count - 1).rev() {
                self.merge(place(n), place(n + 1), place(n));
            }
            for n in 0..count {
                let row = self.find_row(next + len - 1 + n, found);
                self.take(n == 0 && between == 0, row, prefix);
                self.merge(place(n), prefix, of_better);
                self.write(next + n, &mut better, slices);
                if between == 0 {
                    self.copy(row, place(n));
                }
            }
            next += count;
            known = if between == 0 { count } else { 0 };
        }
    }

    /// The winners of a row of windows: in place, where each has one column.
    fn find_row(&self, row: usize, found: &mut Answers<'_>) -> Sides {
        let (&Part { bound, windows: &Windows { width, stride, .. }, finder, .. }, input) =
            (self.part, self.part.bound.input());
        let (first, before) = (self.part.lowest() + (row * stride) as isize + self.first, (row * width) as u32);
        if bound.plan().working_set() != WorkingSet::L2 {
            // The hardware does not see rows that are far apart coming.
            let ahead = input.address(first + (ROWS_AHEAD * stride) as isize);
            Hint::L1.prefetch(ahead, (self.width + width - 1) * bound.plan().element_bytes());
        }
        let indices = found.from(0, 0)[1];
        if width == 1 {
            found.indices[..self.width].iter_mut().zip(0..).for_each(|(index, n)| *index = n + before);
            return [input.address(first).cast_mut(), indices];
        }
        // SAFETY: these are windows of the plan, and there is room for as many answers.
        unsafe { finder.find_doubled(input, (first, self.width), width, found) };
        found.indices[..self.width].iter_mut().for_each(|index| *index = index.wrapping_add(before));
        found.from(0, bound.plan().element_bytes())
    }

    /// Makes `best` the better of itself and what comes after it; or that alone.
    fn take(&self, begins: bool, row: Sides, best: Sides) {
        if begins { self.copy(row, best) } else { self.merge(best, row, best) }
    }

    fn copy(&self, from: Sides, to: Sides) {
        let bytes = self.width * self.part.bound.plan().element_bytes();
        // SAFETY: a row of the input or of a buffer, and one of another buffer.
        unsafe {
            to[0].cast::<u8>().copy_from_nonoverlapping(from[0].cast(), bytes);
            to[1].cast::<u32>().copy_from_nonoverlapping(from[1].cast(), self.width);
        }
    }

    fn merge(&self, earlier: Sides, later: Sides, better: Sides) {
        // SAFETY: rows of the input or of buffers, all initialised; those that are written are of buffers.
        unsafe { self.part.finder.merge(self.width, earlier, later, better) }
    }

    /// Writes a row of answers.
    fn write(&self, row: usize, answers: &mut Answers<'_>, slices: &mut OutputSlices<'_>) {
        let (Part { loops, starts, .. }, Windows { len, width, is_backward, .. }) = (self.part, *self.part.windows);
        let Answers { elements, indices } = answers;
        let (indices, before) = (&mut indices[..self.width], (row * width) as u32);
        indices.iter_mut().for_each(|index| *index = index.wrapping_sub(before));
        from_their_windows(indices, 1, is_backward.then_some(len * width - 1));
        let grid = |n: usize| {
            let [along, across] = loops[n];
            let dims = [LoopDim::ONE, LoopDim { size: self.width, ..across }];
            Grid { start: starts[n] + row as isize * along.stride + self.first * across.stride, dims }
        };
        let tile = OutputTile { input: grid(0), output: grid(1), values: grid(2), mask: None };
        with_bits!(self.part.bound.plan().element_bytes(), B => {
            // SAFETY: elements of the input.
            unsafe { self.part.put(&tile, indices, &cast_slice_mut::<u64, B>(elements)[..self.width], slices) };
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::AxisSet;
    use crate::reference::arg_reduce;
    use crate::{ArgReduce, AxisDirection, Element, Isa, Layout, NanPolicy, Plan, ReduceFunction};

    /// Windows too short to be worth it, and any others, are answered as one by one: of few values, and of many, in
    /// either direction.
    #[test]
    fn windows_of_any_length() {
        windows_of(&[1.0_f32, 1.0, -0.0, 0.0, f32::NAN, f32::INFINITY, 2.0], |n| n as f32);
        windows_of(&[1.0_f64, f64::NAN, 0.0, -0.0], |n| n as f64);
        windows_of(&[3_i16, -7, i16::MIN, i16::MAX], |n| n as i16);
        windows_of(&[3_u8, 0, 255], |n| n as u8);
        windows_of(&[7_u64, u64::MAX], |n| n as u64);
    }

    fn windows_of<T: Element>(few: &[T], of: impl Fn(usize) -> T) {
        let series = |len: usize, size: usize, step: usize| Layout::contiguous(&[len])?.windows(0, size, step);
        let dilated = |sizes: [usize; 2], strides: [isize; 2]| Layout::strided(&sizes, &strides, 1);
        let image = |sizes: [usize; 2], window: [usize; 2]| {
            Layout::contiguous(&sizes)?.windows(0, window[0], 1)?.windows(1, window[1], 1)
        };
        let cases = [
            (series(60, 2, 1), &[1][..]),
            (series(90, 7, 3), &[1]),
            (series(200, 33, 1), &[1]),
            (series(5000, 90, 1), &[1]),
            (series(3000, 250, 1), &[1]),
            (series(4000, 1500, 2), &[1]),
            (dilated([70, 9], [1, 3]), &[1]),
            (dilated([70, 9], [6, 3]), &[1]),
            (dilated([900, 6], [1, 70]), &[1]),
            (image([9, 70], [2, 1]), &[2, 3]),
            (image([20, 90], [5, 9]), &[2, 3]),
            (image([30, 400], [17, 20]), &[2, 3]),
            (image([170, 66], [140, 2]), &[2, 3]),
            (image([300, 80], [150, 1]), &[2, 3]),
        ];
        for (layout, axes) in cases {
            let layout = layout.unwrap();
            let many: Vec<T> = (0..layout.required_len()).map(|n| of(n * 7919 % 1009)).collect();
            let rising: Vec<T> = (0..layout.required_len()).map(&of).collect();
            let falling: Vec<T> = rising.iter().rev().copied().collect();
            let ties: Vec<T> = (0..layout.required_len()).map(|n| few[n * n * 31 % 47 % few.len()]).collect();
            for (direction, data) in
                AxisDirection::ALL.into_iter().flat_map(|of| [&many, &rising, &falling, &ties].map(|data| (of, data)))
            {
                for (function, policy) in ReduceFunction::ALL.into_iter().zip(NanPolicy::ALL) {
                    let reduce = ArgReduce::new(function, &layout).axes(axes).direction(direction).nan_policy(policy);
                    let set = AxisSet::new(axes, layout.sizes().len()).unwrap();
                    let reduced: Vec<bool> = (0..layout.sizes().len()).map(|axis| set.contains(axis)).collect();
                    let expected = arg_reduce((function, direction, policy), &layout, &reduced, data);
                    for isa in Isa::available() {
                        check(&reduce.isa(isa).plan().unwrap(), data, (function, policy), &expected);
                    }
                }
            }
        }
    }

    fn check<T: Element>(
        plan: &Plan<T, usize>,
        data: &[T],
        (function, policy): (ReduceFunction, NanPolicy),
        expected: &[usize],
    ) {
        let (exec, mut found, mut values) = (plan.exec(), vec![99; expected.len()], vec![data[0]; expected.len()]);
        let windows = Windows::of(exec.shape()).unwrap_or_else(|| panic!("{plan}"));
        let Some((isa, ..)) = exec.kernel() else { unreachable!("of several elements") };
        if !windows.fit(exec.shape(), isa.vector_bytes() / size_of::<T>()) {
            return;
        }
        let slices = &mut OutputSlices { indices: found[..].as_mut().into(), values: Some(values[..].as_mut().into()) };
        // SAFETY: the plan was made for a layout that needs no more elements.
        let bound = unsafe { BoundPlan::new(exec, (function, policy), data.len(), data.into()) };
        run_windows(&bound, &windows, slices);
        assert_eq!(found, expected, "{plan}");
        let (_, expected): (Vec<usize>, Vec<T>) = plan.collect(data).unwrap();
        assert!(values.iter().zip(&expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan()), "{plan}");
    }
}
