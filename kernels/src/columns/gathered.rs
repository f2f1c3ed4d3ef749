//! Gathered columns: outputs are not contiguous, or too few of them are. Their elements are copied into rows of a small
//! buffer, one lane for each output, and from there on they are columns. This file decides which outputs are gathered
//! together and how, and hands the rows to one pass or to a panel. Knows nothing of how elements are copied, and of how
//! rows are reduced.
//!
//! ```text
//! for some lanes (outputs) at a time:
//!     while elements are left:
//!         fill the buffer: row p has element p of each lane
//!         reduce those rows
//! ```
//!
//! Lanes are in the order of the outputs, but for blocks: there, all lanes of the first column of a block come first,
//! and positions are interleaved back in the end.

use super::panel::{PANEL_TILES, Panel, Traversal};
use super::reduce::{ColumnState, OutputRows, reduce};
use super::tile::{StridedRows, TILE_VECTORS};
use crate::gather::transpose::{TransposeSource, is_shuffled};
use crate::gather::{LaneOffsets, SCRATCH_BYTES, Scratch, interleave, interleave_values};
use crate::kernel::KernelImpl;
use crate::memory::args::KernelArgs;
use crate::memory::walk::SegmentIter;
use crate::order::ArgOrder;
use crate::outputs::{Outputs, Written};
use crate::positions::Positions;
use crate::prefetch::{Hint, PrefetchCursor};
use crate::simd::ops::SimdOps;
use crate::simd::partial_load::MAX_VECTOR_BYTES;
use crate::simd::token::Simd;
use crate::simd::transpose::{BLOCK_BYTES, TransposeOps};
use core::mem::MaybeUninit;
use core::ptr::null;

/// The longest lanes, in bytes, that hardware prefetchers follow. See docs/tuning.md#max_followed_bytes.
const MAX_FOLLOWED_BYTES: usize = 96;

/// How far apart lanes may be, in elements, for all memory between them to be prefetched. See
/// docs/tuning.md#max_prefetched_step.
const MAX_PREFETCHED_STEP: isize = 4;

/// The widest runs of outputs, in bytes, that are transposed in 128-bit blocks: half of it for few rows of 8 bits. See
/// docs/tuning.md#max_run_bytes.
const MAX_RUN_BYTES: usize = 24;

/// The widest runs that are transposed by perfect shuffles, in outputs: their positions have to be interleaved back,
/// too. See docs/tuning.md#max_shuffled_width.
const MAX_SHUFFLED_WIDTH: usize = 4;

/// The widest runs of outputs of which the buffer for gathered elements holds eight rows, one for each lane.
const MAX_BUFFERED_RUN_BYTES: usize = 32;
const _: () = assert!(MAX_RUN_BYTES <= MAX_BUFFERED_RUN_BYTES);

pub(crate) struct GatheredColumns;

impl KernelImpl for GatheredColumns {
    #[inline(always)]
    unsafe fn run<O: ArgOrder>(order: O, args: &KernelArgs<'_>, mut all_outputs: Outputs<'_>) -> Written {
        let input = args.input.cast::<O::Lane>();
        let end = args.end_of_block().map(|end| input.wrapping_offset(end));
        let layout = match (args.step(), blocks::<O>(args)) {
            (_, Some(blocks)) => LaneLayout::Blocks(blocks),
            (Some(step), _) => LaneLayout::Strided(step),
            // Longer runs are columns, and need no gathering.
            _ if args.inner.stride == 1 && (2..=TILE_VECTORS * O::Simd::LANES).contains(&args.inner.size) => {
                LaneLayout::Runs(args.inner.size)
            }
            _ if args.inner.size >= O::Simd::LANES => LaneLayout::Strided(args.inner.stride),
            _ => LaneLayout::Irregular,
        };
        // Lanes that are gathered together are of the same row of outputs, unless the next one continues the same step,
        // or rows of outputs are short.
        let row_width = if let (LaneLayout::Strided(_), None) = (layout, args.step()) {
            args.inner.size
        } else {
            all_outputs.len()
        };
        let tile_width = match layout {
            LaneLayout::Blocks(blocks) => O::Simd::LANES * blocks.width,
            _ if row_width < TILE_VECTORS * O::Simd::LANES => O::Simd::LANES,
            _ => TILE_VECTORS * O::Simd::LANES,
        };
        // Short reductions are gathered for many lanes at a time, as long as the buffer holds all of their rows.
        let capacity = SCRATCH_BYTES / size_of::<O::Lane>();
        let fitting = (capacity / args.reduction_len() / tile_width).min(PANEL_TILES - 2);
        let (least, most) = match layout {
            LaneLayout::Strided(_) => (tile_width, fitting.max(1) * tile_width),
            LaneLayout::Runs(width) => {
                let least = tile_width.next_multiple_of(width);
                (least, least.max(fitting * tile_width / width * width))
            }
            LaneLayout::Blocks(blocks) => (tile_width, blocks.most),
            LaneLayout::Irregular => (tile_width, tile_width),
        };
        let most_rows = capacity / most;
        let is_one_pass = args.reduction_len() <= most_rows.min(O::Simd::MAX_INDEX as usize);
        let mut scratch = Scratch::new();
        let mut offsets = [const { MaybeUninit::uninit() }; TILE_VECTORS * MAX_VECTOR_BYTES];
        let mut lane_positions = [const { MaybeUninit::<u32>::uninit() }; BLOCK_OUTPUTS];
        let mut lane_values = [const { MaybeUninit::<O::Lane>::uninit() }; BLOCK_OUTPUTS];
        // Each lane is read a little at a time, which no hardware prefetcher follows: so the next lanes are prefetched.
        // Where all elements of a lane are close together, hardware prefetchers do follow.
        let is_known = match layout {
            LaneLayout::Strided(step) => (1..=MAX_PREFETCHED_STEP).contains(&step) && row_width >= 2 * most,
            _ => end.is_some(),
        };
        let prefetches =
            args.should_prefetch(args.reduced_bytes(size_of::<O::Lane>()) > MAX_FOLLOWED_BYTES) && is_known;
        let mut state = ColumnState::default();
        let (mut done, mut end_of_row, hint) = (0, 0, args.tuning.prefetch.hint);
        // Without a division, where that is known.
        let step = args.step();
        let offset_of = |n: usize| step.map_or_else(|| args.offset(n), |step| n as isize * step);
        while done < all_outputs.len() {
            if done == end_of_row {
                end_of_row += row_width;
            }
            // The last lanes of a row of outputs overlap the previous ones if they are fewer than a tile.
            let is_rest = end_of_row - done < tile_width;
            let start = if is_rest { end_of_row - least.min(row_width) } else { done };
            let mut width = (end_of_row - start).min(most);
            if let LaneLayout::Blocks(blocks) = layout {
                width -= width % blocks.width;
            }
            let mut outputs = all_outputs.reborrow().part(start, width);
            done = start + width;

            let is_short = width < tile_width;
            let lanes = match layout {
                LaneLayout::Strided(step) if !is_short => {
                    LaneOffsets::Strided { first: offset_of(start), step, lanes: width }
                }
                LaneLayout::Runs(run) if !is_short => LaneOffsets::Runs {
                    first: (start / run) as isize * args.outer.stride,
                    step: args.outer.stride,
                    runs: width / run,
                    width: run,
                },
                LaneLayout::Blocks(_) if !is_short => LaneOffsets::ONE,
                _ => {
                    for (lane, offset) in offsets[..tile_width].iter_mut().enumerate() {
                        // Lanes without an output repeat the last one.
                        offset.write(args.offset(start + lane.min(width - 1)));
                    }
                    // SAFETY: the loop above has written all of them.
                    LaneOffsets::Each(unsafe { &*(&raw const offsets[..tile_width] as *const [isize]) })
                }
            };
            let is_staged = is_short || matches!(layout, LaneLayout::Blocks(blocks) if blocks.width > 1);
            let answers = match is_staged {
                true => {
                    let staged = width.max(tile_width);
                    let positions = Positions::from(&mut lane_positions[..staged]);
                    match outputs.value_bytes {
                        0 => positions.into(),
                        _ => Outputs::with_values(positions, &mut lane_values[..staged]),
                    }
                }
                false => outputs.reborrow(),
            };
            let prefetch_cursor = match prefetches && done < args.outputs() {
                true => Some(PrefetchCursor::new(input.wrapping_offset(offset_of(done)), hint)),
                false => None,
            };
            let mut source = match layout {
                LaneLayout::Blocks(blocks) if !is_short => {
                    let (rows, reversed) = (args.reduction_len(), args.innermost_reduced().stride < 0);
                    let to_lowest = if reversed { 1 - rows as isize } else { 0 };
                    let block_width = blocks.width;
                    let blocks = TransposeSource {
                        first: input.wrapping_offset(offset_of(start) + to_lowest).cast(),
                        step: blocks.step * size_of::<O::Lane>() as isize,
                        count: width / blocks.width,
                        elements: rows * blocks.width,
                        reversed,
                        prefetch_cursor,
                    };
                    GatherSource::Blocks(BlockRows { blocks, width: block_width, rows, most: most_rows, done: 0 })
                }
                _ => GatherSource::Lanes { segments: SegmentIter::new(args, prefetch_cursor), input, end, lanes },
            };
            let stride = answers.len() as isize;
            // SAFETY: the caller promises that all elements which the reduced loops reach from each output may be read;
            // the rows were gathered just now.
            unsafe {
                if is_one_pass {
                    let (first, count) = source.next(order.simd(), &mut scratch);
                    let rows = StridedRows { first, stride, count, hint };
                    let output_rows = OutputRows { count: 1, width: answers.len(), step: 0 };
                    state = reduce(order, (rows, output_rows), answers, None, false, state);
                } else {
                    state.has_lost |= source.reduce(order, &mut scratch, answers, hint);
                }
            }
            if is_staged {
                // SAFETY: the reduction has written at least as many.
                let found = unsafe { &*(&raw const lane_positions[..width] as *const [u32]) };
                let found_values = &lane_values[..width];
                // SAFETY: values are of elements, as the caller promises.
                let values = unsafe { outputs.values::<O::Lane>() };
                match layout {
                    LaneLayout::Blocks(blocks) if !is_short => {
                        if let Some(values) = values {
                            interleave_values(order.simd(), values, found_values, blocks.width);
                        }
                        interleave(order.simd(), outputs.positions, found, blocks.width);
                    }
                    _ => {
                        if let Some(values) = values {
                            values.copy_from_slice(found_values);
                        }
                        outputs.positions.write_all(found);
                    }
                }
            }
        }
        Written::all(state.has_lost)
    }
}

/// The most rows for which gathering in blocks does not pay. See docs/tuning.md#max_run_bytes.
const MAX_UNBLOCKED_ROWS: usize = 8;

/// The most outputs of the blocks that are transposed at a time. See docs/tuning.md#not-measured.
const BLOCK_OUTPUTS: usize = 1024;

/// How blocks are laid out, each of which has the elements of `width` outputs: the contiguous rows of one run of
/// outputs, or one row.
#[derive(Clone, Copy)]
struct BlockLayout {
    /// In outputs.
    width: usize,
    /// How many outputs to gather at a time, at most.
    most: usize,
    /// From one block to the next, in elements.
    step: isize,
}

/// The blocks of a call that are transposed together, if it has any that are worth it. A transpose takes a few shuffles
/// for all runs of some blocks, where copying takes a load and a store for each run.
#[inline(always)]
fn blocks<O: ArgOrder>(args: &KernelArgs<'_>) -> Option<BlockLayout> {
    let &[fastest] = args.reduced else { return None };
    let (size, lanes, rows) = (size_of::<O::Lane>(), O::Simd::LANES, fastest.size);
    let is_shuffled = |elements: usize| O::Simd::TUNING.has_shuffles && is_shuffled(elements, size);
    let has_whole_blocks = |elements: usize| {
        O::Simd::TUNING.has_shuffles
            && elements > MAX_UNBLOCKED_ROWS
            && elements * size >= BLOCK_BYTES
            && elements.saturating_mul(lanes * size) <= SCRATCH_BYTES
    };
    let (width, step, count) = match args.step() {
        // Rows, all of whose elements the buffer holds.
        Some(step)
            if step == rows as isize && fastest.stride.abs() == 1 && (is_shuffled(rows) || has_whole_blocks(rows)) =>
        {
            (1, step, args.outputs())
        }
        _ if args.inner.stride == 1 && fastest.stride == args.inner.size as isize => {
            let (width, step, count) = (args.inner.size, args.outer.stride, args.outer.size);
            let longest = if size == 1 && rows <= 24 { MAX_RUN_BYTES / 2 } else { MAX_RUN_BYTES };
            let is_narrow = rows > MAX_UNBLOCKED_ROWS && (2..=longest / size).contains(&width);
            let is_short = width <= MAX_SHUFFLED_WIDTH && step == (rows * width) as isize && is_shuffled(rows * width);
            if !is_narrow && !is_short {
                return None;
            }
            (width, step, count)
        }
        _ => return None,
    };
    let fitting = (SCRATCH_BYTES / rows.saturating_mul(width).saturating_mul(lanes * size)).max(1);
    let most = if width == 1 { TILE_VECTORS * (PANEL_TILES - 2) } else { BLOCK_OUTPUTS / (width * lanes) };
    let vectors = fitting.min(most).min(count / lanes);
    // Whole tiles, if there is more than one.
    let vectors = if vectors > TILE_VECTORS { vectors - vectors % TILE_VECTORS } else { vectors };
    (vectors > 0).then_some(BlockLayout { width, most: vectors * lanes * width, step })
}

/// Where rows of gathered lanes come from, as many at a time as the buffer holds.
enum GatherSource<'a, T> {
    Blocks(BlockRows),
    /// Elements of each lane. What follows each before `end` may be read too, if there is an end.
    Lanes {
        segments: SegmentIter<'a>,
        input: *const T,
        end: Option<*const T>,
        lanes: LaneOffsets<'a>,
    },
}

impl<T: Copy> GatherSource<'_, T> {
    /// Reduces all rows, as many at a time as the buffer holds, by a panel, and tells whether bits of values are lost.
    ///
    /// # Safety
    /// - As for [`GatherSource::next`]; there is an output for each lane, and values are of elements.
    #[inline(always)]
    unsafe fn reduce<O: ArgOrder<Lane = T>>(
        mut self,
        order: O,
        scratch: &mut Scratch,
        outputs: Outputs<'_>,
        hint: Hint,
    ) -> bool {
        let stride = outputs.len() as isize;
        let mut tiles = [const { MaybeUninit::uninit() }; PANEL_TILES];
        let mut panel = Panel::<O, 1>::new(order, &mut tiles, outputs);
        // SAFETY: the caller's promise; the rows were gathered just now.
        unsafe {
            loop {
                let (first, count) = self.next(order.simd(), scratch);
                if count == 0 {
                    break;
                }
                panel.rows(StridedRows { first, stride, count, hint }, None, Traversal::Resident);
            }
        }
        panel.finish()
    }

    /// The next rows, and how many. No more rows means no more elements.
    ///
    /// # Safety
    /// - As for [`BlockRows::next`], or for [`Scratch::fill`].
    #[inline(always)]
    unsafe fn next<S: TransposeOps>(&mut self, simd: S, scratch: &mut Scratch) -> (*const T, usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                GatherSource::Blocks(rows) => rows.next(simd, scratch),
                GatherSource::Lanes { segments, input, end, lanes } => {
                    scratch.fill(simd, segments, *input, *end, lanes)
                }
            }
        }
    }
}

struct BlockRows {
    /// With all of their rows; the last one comes first only where all rows are gathered together.
    blocks: TransposeSource,
    /// How wide blocks are, in elements, and how many rows they have.
    width: usize,
    rows: usize,
    /// How many rows are gathered at a time, and how many were.
    most: usize,
    done: usize,
}

impl BlockRows {
    /// Gathers as many rows as the buffer holds, of all blocks, and tells how many. No more rows means no more
    /// elements.
    ///
    /// # Safety
    /// - The blocks may be read; they have more than [`MAX_UNBLOCKED_ROWS`], or are short enough for [`is_shuffled`],
    ///   and are as many as a vector has lanes, or more. Elements have the size of `T`.
    #[inline(always)]
    unsafe fn next<S: TransposeOps, T>(&mut self, simd: S, scratch: &mut Scratch) -> (*const T, usize) {
        const { assert!(2 * MAX_UNBLOCKED_ROWS >= BLOCK_BYTES && BLOCK_OUTPUTS * MAX_UNBLOCKED_ROWS <= SCRATCH_BYTES) };
        let BlockRows { blocks, width, rows, most, done } = *self;
        let some = (rows - done).min(most);
        if some == 0 {
            return (null(), 0);
        }
        // Fewer rows may be less than 16 bytes of a block: then some of the rows before are gathered again.
        let before = MAX_UNBLOCKED_ROWS.saturating_sub(some).min(done);
        let first = blocks.first.wrapping_add((done - before) * width * size_of::<T>());
        let bytes = some * blocks.count * width * size_of::<T>();
        self.blocks.prefetch_cursor = blocks.prefetch_cursor.map(|cursor| cursor.moved(bytes as isize));
        self.done += some;
        // SAFETY: the caller's promise.
        let first = unsafe {
            scratch.fill_blocks::<S, T>(simd, TransposeSource { first, elements: (before + some) * width, ..blocks })
        };
        (first.wrapping_add(before * blocks.count * width), some)
    }
}

/// How the lanes of a call are laid out, as far as gathering cares.
#[derive(Clone, Copy)]
enum LaneLayout {
    /// At one distance from each other.
    Strided(isize),
    /// In runs of neighbours, each of this width.
    Runs(usize),
    /// In blocks: see [`blocks`].
    Blocks(BlockLayout),
    Irregular,
}
