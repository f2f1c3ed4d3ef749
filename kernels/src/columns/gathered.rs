//! Gathered columns: outputs are not contiguous, or too few of them are. Their elements are copied into rows of a small
//! buffer, one lane for each output, and from there on they are columns. This file decides which outputs are gathered
//! together and how, and hands the rows to one pass or to a panel. Knows nothing of how elements are copied, and of how
//! rows are reduced.
//!
//! ```text
//! for each batch of lanes (outputs):
//!     while elements are left:
//!         fill the buffer: row p has element p of each lane
//!         reduce those rows
//! ```
//!
//! Lanes are in the order of the outputs, but for dense runs of several outputs: there, the first outputs of all runs
//! come first, and positions are interleaved back in the end.

use super::gathered_rows::{DENSE_OUTPUTS, DenseRuns, GatherSource, MAX_COPIED_ROWS};
use super::panel::PANEL_TILES;
use super::reduce::{ColumnState, reduce};
use super::tile::TILE_VECTORS;
use crate::gather::transpose::{TransposeSource, is_shuffled};
use crate::gather::{LaneOffsets, SCRATCH_BYTES, Scratch, interleave, interleave_values};
use crate::kernel::KernelImpl;
use crate::memory::args::KernelArgs;
use crate::memory::walk::SegmentIter;
use crate::order::ArgOrder;
use crate::outputs::{Outputs, TypedOutputs, Written};
use crate::positions::Positions;
use crate::prefetch::PrefetchCursor;
use crate::simd::ops::SimdOps;
use crate::simd::partial_load::MAX_VECTOR_BYTES;
use crate::simd::token::Simd;
use crate::simd::transpose::CHUNK_BYTES;
use core::mem::MaybeUninit;

/// The longest lanes, in bytes, that hardware prefetchers follow. See docs/tuning.md#max_followed_bytes.
const MAX_FOLLOWED_BYTES: usize = 96;

/// How far apart lanes may be, in elements, for all memory between them to be prefetched. See
/// docs/tuning.md#max_prefetched_step.
const MAX_PREFETCHED_STEP: isize = 4;

/// The widest runs of outputs, in bytes, that are transposed by chunks: half of it for few rows of 8 bits. See
/// docs/tuning.md#max_run_bytes.
const MAX_RUN_BYTES: usize = 24;

/// The widest runs that are transposed by perfect shuffles, in outputs: their positions have to be interleaved back,
/// too. See docs/tuning.md#max_shuffled_width.
const MAX_SHUFFLED_WIDTH: usize = 4;

/// The widest runs of outputs of which the buffer for gathered elements holds eight rows, one for each lane.
const MAX_BUFFERED_RUN_BYTES: usize = 32;
const _: () = assert!(MAX_RUN_BYTES <= MAX_BUFFERED_RUN_BYTES);

pub(crate) struct GatheredColumns;

impl<O: ArgOrder> KernelImpl<O> for GatheredColumns {
    #[inline(always)]
    unsafe fn run(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        // SAFETY: values are of elements, as the caller promises.
        let mut outputs = unsafe { outputs.typed() };
        let gathering = Gathering::new(order, args);
        let (mut scratch, mut offsets, mut staging) = (Scratch::new(), Offsets::new(), Staging::new());
        let (mut done, mut end_of_row, mut state) = (0, 0, ColumnState::default());
        while done < outputs.len() {
            if done == end_of_row {
                end_of_row += gathering.row_width;
            }
            let batch = gathering.batch(done, end_of_row);
            done = batch.end();
            let mut outputs = outputs.reborrow().part(batch.start, batch.width);
            // SAFETY: the caller promises all elements of the call.
            let source = unsafe { gathering.source(batch, &mut offsets) };
            let answers = staging.answers(gathering.staged_lanes(batch), outputs.reborrow());
            gathering.reduce(source, &mut scratch, answers, &mut state);
            if staging.is_used() {
                let (positions, values) = staging.found(batch.width);
                // SAFETY: a reduction writes all positions that it is given, of at least as many lanes.
                let positions = unsafe { &*(&raw const *positions as *const [u32]) };
                gathering.put_back(batch, positions, values, outputs);
            }
        }
        Written::all(state.has_lost)
    }
}

/// How the outputs of a call are gathered.
struct Gathering<'a, O: ArgOrder> {
    order: O,
    args: &'a KernelArgs<'a>,
    layout: LaneLayout,
    /// From one output to the next, if that is known without a division.
    step: Option<isize>,
    /// Where the elements of the call end, if they are contiguous.
    end: Option<*const O::Lane>,
    /// Lanes that are gathered together are of the same row of outputs, as wide as this.
    row_width: usize,
    /// How many lanes a register tile has, and how many a batch has: at least, if a row of outputs has as many, and at
    /// most.
    tile_width: usize,
    least: usize,
    most: usize,
    /// How many rows of the widest batch the buffer holds.
    most_rows: usize,
    is_one_pass: bool,
    prefetches: bool,
}

/// Outputs that are gathered together: `width` of them from `start` on. If it `is_short`, they are fewer than a tile.
#[derive(Clone, Copy)]
struct Batch {
    start: usize,
    width: usize,
    is_short: bool,
}

impl Batch {
    /// The first output after it.
    #[inline(always)]
    fn end(self) -> usize {
        self.start + self.width
    }
}

impl<'a, O: ArgOrder> Gathering<'a, O> {
    #[inline(always)]
    fn new(order: O, args: &'a KernelArgs<'a>) -> Self {
        let (step, layout) = (args.step(), LaneLayout::of::<O>(args));
        let end = args.contiguous_end().map(|end| args.input.cast::<O::Lane>().wrapping_offset(end));
        // Unless the next row of outputs continues the same step, or rows of outputs are short.
        let row_width =
            if let (LaneLayout::Strided(_), None) = (layout, step) { args.inner.size } else { args.outputs() };
        let tile_width = match layout {
            LaneLayout::Dense(dense) => O::Simd::LANES * dense.width,
            _ if row_width < TILE_VECTORS * O::Simd::LANES => O::Simd::LANES,
            _ => TILE_VECTORS * O::Simd::LANES,
        };
        // Short reductions are gathered for many lanes at a time, as long as the buffer holds all of their rows.
        let (capacity, reduction_len) = (SCRATCH_BYTES / size_of::<O::Lane>(), args.reduction_len());
        let fitting = (capacity / reduction_len / tile_width).min(PANEL_TILES - 2);
        let (least, most) = match layout {
            LaneLayout::Strided(_) => (tile_width, fitting.max(1) * tile_width),
            LaneLayout::Runs(width) => {
                let least = tile_width.next_multiple_of(width);
                (least, least.max(fitting * tile_width / width * width))
            }
            LaneLayout::Dense(dense) => (tile_width, dense.most),
            LaneLayout::Irregular => (tile_width, tile_width),
        };
        let most_rows = capacity / most;
        let is_one_pass = reduction_len <= most_rows.min(O::Simd::MAX_INDEX as usize);
        // Each lane is read a little at a time, which no hardware prefetcher follows: so the next lanes are prefetched.
        // Where all elements of a lane are close together, hardware prefetchers do follow.
        let is_known = match layout {
            LaneLayout::Strided(step) => (1..=MAX_PREFETCHED_STEP).contains(&step) && row_width >= 2 * most,
            _ => end.is_some(),
        };
        let prefetches =
            args.should_prefetch(args.reduced_bytes(size_of::<O::Lane>()) > MAX_FOLLOWED_BYTES) && is_known;
        Gathering {
            order,
            args,
            layout,
            step,
            end,
            row_width,
            tile_width,
            least,
            most,
            most_rows,
            is_one_pass,
            prefetches,
        }
    }

    /// The outputs that are gathered after the first `done`, in a row of outputs that ends at `end_of_row`. The last
    /// ones of a row overlap those before if they are fewer than a tile.
    #[inline(always)]
    fn batch(&self, done: usize, end_of_row: usize) -> Batch {
        let is_rest = end_of_row - done < self.tile_width;
        let start = if is_rest { end_of_row - self.least.min(self.row_width) } else { done };
        let mut width = (end_of_row - start).min(self.most);
        if let LaneLayout::Dense(dense) = self.layout {
            width -= width % dense.width;
        }
        Batch { start, width, is_short: width < self.tile_width }
    }

    /// Where the first element of an output is.
    #[inline(always)]
    fn first_of(&self, output: usize) -> *const O::Lane {
        let offset = self.step.map_or_else(|| self.args.offset(output), |step| output as isize * step);
        self.args.input.cast::<O::Lane>().wrapping_offset(offset)
    }

    /// The elements of a batch, and what to prefetch while they are gathered.
    ///
    /// # Safety
    /// - All elements of the call may be read while what is borrowed for is.
    #[inline(always)]
    unsafe fn source<'s>(&'s self, batch: Batch, offsets: &'s mut Offsets) -> GatherSource<'s, O> {
        let args = self.args;
        let prefetch_cursor = if self.prefetches && batch.end() < args.outputs() {
            Some(PrefetchCursor::new(self.first_of(batch.end()), args.tuning.prefetch.hint))
        } else {
            None
        };
        if let LaneLayout::Dense(dense) = self.layout
            && !batch.is_short
        {
            let runs = self.dense_runs(dense, batch, prefetch_cursor);
            // SAFETY: all rows of some outputs of the call, which `dense` has found to be such runs.
            return unsafe { GatherSource::of_runs(runs) };
        }
        let (segments, input) = (SegmentIter::new(args, prefetch_cursor), args.input.cast::<O::Lane>());
        // SAFETY: lanes are outputs of the call, whose segments these are; nothing but its elements is before its end.
        unsafe { GatherSource::of_lanes(segments, input, self.end, self.lanes(batch, offsets)) }
    }

    #[inline(always)]
    fn dense_runs(&self, dense: DenseLayout, batch: Batch, prefetch_cursor: Option<PrefetchCursor>) -> DenseRuns {
        let (rows, reversed) = (self.args.reduction_len(), self.args.innermost_reduced().stride < 0);
        let to_lowest = if reversed { 1 - rows as isize } else { 0 };
        let runs = TransposeSource {
            first: self.first_of(batch.start).wrapping_offset(to_lowest).cast(),
            step: dense.step * size_of::<O::Lane>() as isize,
            count: batch.width / dense.width,
            elements: rows * dense.width,
            reversed,
            prefetch_cursor,
        };
        DenseRuns { runs, width: dense.width, rows, most: self.most_rows, done: 0 }
    }

    /// Where the lanes of a batch begin. A short one is filled up: lanes without an output repeat the last one.
    #[inline(always)]
    fn lanes<'s>(&self, batch: Batch, offsets: &'s mut Offsets) -> LaneOffsets<'s> {
        let Batch { start, width, is_short } = batch;
        match self.layout {
            LaneLayout::Strided(step) if !is_short => {
                let first = self.step.map_or_else(|| self.args.offset(start), |step| start as isize * step);
                LaneOffsets::Strided { first, step, lanes: width }
            }
            LaneLayout::Runs(run) if !is_short => LaneOffsets::Runs {
                first: (start / run) as isize * self.args.outer.stride,
                step: self.args.outer.stride,
                runs: width / run,
                width: run,
            },
            _ => offsets.of_lanes(self.tile_width, |lane| self.args.offset(start + lane.min(width - 1))),
        }
    }

    /// How many lanes are answered to a buffer first, if lanes are not the outputs of a batch in their order.
    #[inline(always)]
    fn staged_lanes(&self, batch: Batch) -> Option<usize> {
        match self.layout {
            LaneLayout::Dense(dense) if dense.width > 1 => Some(batch.width.max(self.tile_width)),
            _ if batch.is_short => Some(self.tile_width),
            _ => None,
        }
    }

    /// Reduces the rows of a batch. There is an answer for each lane.
    #[inline(always)]
    fn reduce(
        &self,
        mut source: GatherSource<'_, O>,
        scratch: &mut Scratch,
        answers: TypedOutputs<'_, O::Lane>,
        state: &mut ColumnState,
    ) {
        let (order, hint) = (self.order, self.args.tuning.prefetch.hint);
        if self.is_one_pass {
            let rows = source.next(order, scratch, answers.len(), hint);
            *state = reduce(order, rows.into(), answers, None, false, *state);
        } else {
            state.has_lost |= source.reduce(order, scratch, answers, hint);
        }
    }

    /// Writes what was found in the lanes of a batch to its outputs.
    #[inline(always)]
    fn put_back(
        &self,
        batch: Batch,
        positions: &[u32],
        values: &[MaybeUninit<O::Lane>],
        mut outputs: TypedOutputs<'_, O::Lane>,
    ) {
        match self.layout {
            LaneLayout::Dense(dense) if !batch.is_short => {
                if let Some(places) = outputs.values {
                    interleave_values(self.order.simd(), places, values, dense.width);
                }
                interleave(self.order.simd(), outputs.positions, positions, dense.width);
            }
            _ => {
                if let Some(places) = outputs.values {
                    places.copy_from_slice(values);
                }
                outputs.positions.write_all(positions);
            }
        }
    }
}

/// Room for the answers of a batch whose lanes are not in the order of the outputs.
struct Staging<L> {
    /// How many lanes are answered here, if not to the outputs. In memory, or the compiler makes two copies of all that
    /// comes between the first test and the second.
    lanes: Option<usize>,
    positions: [MaybeUninit<u32>; DENSE_OUTPUTS],
    values: [MaybeUninit<L>; DENSE_OUTPUTS],
}

impl<L> Staging<L> {
    #[inline(always)]
    fn new() -> Self {
        let (positions, values) = ([const { MaybeUninit::uninit() }; _], [const { MaybeUninit::uninit() }; _]);
        Staging { lanes: None, positions, values }
    }

    /// Where to write the answers of a batch: here, if there are as many lanes.
    #[inline(always)]
    fn answers<'s>(&'s mut self, lanes: Option<usize>, outputs: TypedOutputs<'s, L>) -> TypedOutputs<'s, L> {
        self.lanes = lanes;
        let Some(lanes) = lanes else { return outputs };
        let values = if outputs.values.is_some() { Some(&mut self.values[..lanes]) } else { None };
        TypedOutputs { positions: Positions::from(&mut self.positions[..lanes]), values }
    }

    /// Whether a batch is answered here.
    #[inline(always)]
    fn is_used(&self) -> bool {
        self.lanes.is_some()
    }

    /// The places of the first `width` lanes.
    #[inline(always)]
    fn found(&self, width: usize) -> (&[MaybeUninit<u32>], &[MaybeUninit<L>]) {
        (&self.positions[..width], &self.values[..width])
    }
}

/// Room for the offset of each lane of a tile.
struct Offsets([MaybeUninit<isize>; TILE_VECTORS * MAX_VECTOR_BYTES]);

impl Offsets {
    #[inline(always)]
    fn new() -> Self {
        Offsets([const { MaybeUninit::uninit() }; _])
    }

    #[inline(always)]
    fn of_lanes(&mut self, lanes: usize, offset: impl Fn(usize) -> isize) -> LaneOffsets<'_> {
        let offsets = &mut self.0[..lanes];
        for (lane, place) in offsets.iter_mut().enumerate() {
            place.write(offset(lane));
        }
        // SAFETY: the loop above has written all of them.
        LaneOffsets::Each(unsafe { &*(&raw const *offsets as *const [isize]) })
    }
}

/// How the lanes of a call are laid out, as far as gathering cares.
#[derive(Clone, Copy)]
enum LaneLayout {
    /// At one distance from each other.
    Strided(isize),
    /// In runs of neighbours, each of this width.
    Runs(usize),
    /// In runs that have the elements of all of their outputs, one after another.
    Dense(DenseLayout),
    Irregular,
}

/// How dense runs are laid out, each of which has the elements of `width` outputs: contiguous rows of neighbouring
/// outputs, or the elements of one.
#[derive(Clone, Copy)]
struct DenseLayout {
    /// In outputs.
    width: usize,
    /// How many outputs to gather at a time, at most.
    most: usize,
    /// From one run to the next, in elements.
    step: isize,
}

impl LaneLayout {
    #[inline(always)]
    fn of<O: ArgOrder>(args: &KernelArgs<'_>) -> Self {
        match (args.step(), DenseLayout::of::<O>(args)) {
            (_, Some(dense)) => LaneLayout::Dense(dense),
            (Some(step), _) => LaneLayout::Strided(step),
            // Longer runs are columns, and need no gathering.
            _ if args.inner.stride == 1 && (2..=TILE_VECTORS * O::Simd::LANES).contains(&args.inner.size) => {
                LaneLayout::Runs(args.inner.size)
            }
            _ if args.inner.size >= O::Simd::LANES => LaneLayout::Strided(args.inner.stride),
            _ => LaneLayout::Irregular,
        }
    }
}

impl DenseLayout {
    /// The runs of a call that are transposed together, if it has any that are worth it. A transpose takes a few
    /// shuffles for all rows of some runs, where copying takes a load and a store for each.
    #[inline(always)]
    fn of<O: ArgOrder>(args: &KernelArgs<'_>) -> Option<Self> {
        let &[fastest] = args.reduced else { return None };
        let (size, lanes, rows) = (size_of::<O::Lane>(), O::Simd::LANES, fastest.size);
        let is_shuffled = |elements: usize| O::Simd::TUNING.has_instructions && is_shuffled(elements, size);
        let has_whole_rows = |elements: usize| {
            O::Simd::TUNING.has_instructions
                && elements > MAX_COPIED_ROWS
                && elements * size >= CHUNK_BYTES
                && elements.saturating_mul(lanes * size) <= SCRATCH_BYTES
        };
        let (width, step, count) = match args.step() {
            // Rows, all of whose elements the buffer holds.
            Some(step)
                if step == rows as isize
                    && fastest.stride.abs() == 1
                    && (is_shuffled(rows) || has_whole_rows(rows)) =>
            {
                (1, step, args.outputs())
            }
            _ if args.inner.stride == 1 && fastest.stride == args.inner.size as isize => {
                let (width, step, count) = (args.inner.size, args.outer.stride, args.outer.size);
                let longest = if size == 1 && rows <= 24 { MAX_RUN_BYTES / 2 } else { MAX_RUN_BYTES };
                let is_narrow = rows > MAX_COPIED_ROWS && (2..=longest / size).contains(&width);
                let is_short =
                    width <= MAX_SHUFFLED_WIDTH && step == (rows * width) as isize && is_shuffled(rows * width);
                if !is_narrow && !is_short {
                    return None;
                }
                (width, step, count)
            }
            _ => return None,
        };
        let fitting = (SCRATCH_BYTES / rows.saturating_mul(width).saturating_mul(lanes * size)).max(1);
        let most = if width == 1 { TILE_VECTORS * (PANEL_TILES - 2) } else { DENSE_OUTPUTS / (width * lanes) };
        let vectors = fitting.min(most).min(count / lanes);
        // Whole tiles, if there is more than one.
        let vectors = if vectors > TILE_VECTORS { vectors - vectors % TILE_VECTORS } else { vectors };
        (vectors > 0).then_some(DenseLayout { width, most: vectors * lanes * width, step })
    }
}
