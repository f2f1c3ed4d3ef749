//! Gathered columns: outputs are not contiguous, or too few of them are. Their elements are copied into rows of a small
//! buffer, one lane for each output, and from there on they are columns. This file decides which outputs are gathered
//! together and how, and hands the rows to one pass or to a panel. Knows nothing of how elements are copied, and of how
//! rows are reduced.
//!
//! ```text
//! for each group of lanes (some outputs):
//!     while elements are left:
//!         fill the buffer: row p has element p of each lane
//!         reduce those rows
//! ```
//!
//! Lanes are in the order of the outputs, but for blocks: there, all lanes of the first column of a block come first,
//! and positions are interleaved back in the end.

use super::panel::{PANEL, Panel, Way};
use super::reduce::{Groups, reduce};
use super::tile::{GROUP, Rows};
use crate::gather::transpose::{Blocks, riffles};
use crate::gather::{LaneOffsets, SCRATCH_BYTES, Scratch, interleave};
use crate::kernel::Body;
use crate::memory::args::Tile;
use crate::memory::prefetch::Ahead;
use crate::memory::walk::Stretches;
use crate::order::Order;
use crate::positions::Positions;
use crate::simd::ops::Lanes;
use crate::simd::partial_load::MAX_VECTOR_BYTES;
use crate::simd::transpose::{UNIT, Zip};
use core::mem::MaybeUninit;
use core::ptr::null;

/// See the file.
pub(crate) struct PackedColumns;

impl Body for PackedColumns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, mut positions: Positions<'_>) {
        let input = tile.input.cast::<O::Lane>();
        let end = tile.end_of_block().map(|end| input.wrapping_offset(end));
        let lie = match (tile.step(), blocks::<O>(tile)) {
            (_, Some(blocks)) => Lie::Blocks(blocks),
            (Some(step), _) => Lie::Even(step),
            // Longer runs are columns, and need no gathering.
            _ if tile.inner.stride == 1 && (2..=GROUP * O::Simd::LANES).contains(&tile.inner.size) => {
                Lie::Lines(tile.inner.size)
            }
            _ if tile.inner.size >= O::Simd::LANES => Lie::Even(tile.inner.stride),
            _ => Lie::Anyhow,
        };
        // Lanes that are gathered together are of the same row of outputs, unless the next one continues the same step,
        // or rows of outputs are short.
        let line = if let (Lie::Even(_), None) = (lie, tile.step()) { tile.inner.size } else { positions.len() };
        let group = match lie {
            Lie::Blocks(blocks) => O::Simd::LANES * blocks.width,
            _ if line < GROUP * O::Simd::LANES => O::Simd::LANES,
            _ => GROUP * O::Simd::LANES,
        };
        // Short reductions are gathered for many lanes at a time, as long as the buffer holds all of their rows.
        let capacity = SCRATCH_BYTES / size_of::<O::Lane>();
        let fitting = (capacity / tile.visited() / group).min(PANEL - 2);
        let (least, most) = match lie {
            Lie::Even(_) => (group, fitting.max(1) * group),
            Lie::Lines(width) => {
                let least = group.next_multiple_of(width);
                (least, least.max(fitting * group / width * width))
            }
            Lie::Blocks(blocks) => (group, blocks.most),
            Lie::Anyhow => (group, group),
        };
        let most_rows = capacity / most;
        let is_one_pass = tile.visited() <= most_rows.min(O::Simd::MAX_COUNT as usize);
        let mut scratch = Scratch::new();
        let mut groups = [const { MaybeUninit::uninit() }; PANEL];
        let mut offsets = [const { MaybeUninit::uninit() }; GROUP * MAX_VECTOR_BYTES];
        let mut lane_positions = [const { MaybeUninit::<u32>::uninit() }; BLOCK_OUTPUTS];
        // Each lane is read a little at a time, which no hardware prefetcher follows: so the next lanes are prefetched.
        // Where all elements of a lane are close together, hardware prefetchers do follow. See
        // docs/tuning.md#gathered-blocks-from-96-bytes and docs/tuning.md#strided-outputs-up-to-4-elements-apart.
        let is_known = match lie {
            Lie::Even(step) => (1..=FARTHEST_LANE).contains(&step) && line >= 2 * most,
            _ => end.is_some(),
        };
        let prefetches = tile.prefetch.asks(tile.span(size_of::<O::Lane>()) > SHORTEST_JUMP) && is_known;
        let mut so_far = Groups::default();
        let (mut done, mut end_of_line) = (0, 0);
        while done < positions.len() {
            if done == end_of_line {
                end_of_line += line;
            }
            // The last lanes of a row of outputs overlap the previous ones if they are fewer than a group.
            let is_rest = end_of_line - done < group;
            let start = if is_rest { end_of_line - least.min(line) } else { done };
            let mut width = (end_of_line - start).min(most);
            if let Lie::Blocks(blocks) = lie {
                width -= width % blocks.width;
            }
            let mut outputs = positions.reborrow().part(start, width);
            done = start + width;

            let is_short = width < group;
            let lanes = match lie {
                Lie::Even(step) if !is_short => LaneOffsets::Even { first: tile.offset(start), step, lanes: width },
                Lie::Lines(line) if !is_short => LaneOffsets::Lines {
                    first: (start / line) as isize * tile.outer.stride,
                    step: tile.outer.stride,
                    lines: width / line,
                    width: line,
                },
                Lie::Blocks(_) if !is_short => LaneOffsets::ONE,
                _ => {
                    for (lane, offset) in offsets[..group].iter_mut().enumerate() {
                        // Lanes without an output repeat the last one.
                        offset.write(tile.offset(start + lane.min(width - 1)));
                    }
                    // SAFETY: the loop above has written all of them.
                    LaneOffsets::Each(unsafe { &*(&raw const offsets[..group] as *const [isize]) })
                }
            };
            let is_apart = is_short || matches!(lie, Lie::Blocks(blocks) if blocks.width > 1);
            let answers = match is_apart {
                true => Positions::from(&mut lane_positions[..width.max(group)]),
                false => outputs.reborrow(),
            };
            let (stride, hint) = (answers.len() as isize, tile.tuning.prefetch.hint);
            let ahead = match prefetches && done < tile.outputs() {
                true => Some(Ahead::new(input.wrapping_offset(tile.offset(done)), tile.tuning.prefetch.hint)),
                false => None,
            };
            let from = match lie {
                Lie::Blocks(blocks) if !is_short => {
                    let (rows, reversed) = (tile.visited(), tile.line().stride < 0);
                    let to_lowest = if reversed { 1 - rows as isize } else { 0 };
                    From::Blocks(BlockRows {
                        first: input.wrapping_offset(tile.offset(start) + to_lowest),
                        step: blocks.step,
                        count: width / blocks.width,
                        width: blocks.width,
                        rows,
                        most: most_rows,
                        done: 0,
                        reversed,
                        ahead,
                    })
                }
                _ => From::Lanes { stretches: Stretches::new(tile).ahead(ahead), input, end, lanes },
            };
            let mut gathered = Gathered { from, scratch: &mut scratch };
            // SAFETY: the caller promises that all elements which the reduced loops reach from each output may be read;
            // the rows were gathered just now.
            unsafe {
                let (mut first, mut count) = gathered.next(order.simd());
                if is_one_pass {
                    reduce(order, Rows { first, stride, count, hint }, answers, None, &mut so_far);
                } else {
                    let mut panel = Panel::<O, 1>::new(order, &mut groups, answers);
                    while count > 0 {
                        panel.rows(Rows { first, stride, count, hint }, None, Way::Near);
                        (first, count) = gathered.next(order.simd());
                    }
                    panel.flush();
                }
            }
            if is_apart {
                // SAFETY: the reduction has written at least as many.
                let found = unsafe { &*(&raw const lane_positions[..width] as *const [u32]) };
                match lie {
                    Lie::Blocks(blocks) if !is_short => interleave(order.simd(), outputs, found, blocks.width),
                    _ => outputs.write_all(found),
                }
            }
        }
    }
}

/// The longest lanes, in bytes, that hardware prefetchers follow. See docs/tuning.md#gathered-blocks-from-96-bytes.
const SHORTEST_JUMP: usize = 96;

/// How far apart, in elements, lanes may be for all memory between them to be prefetched.
const FARTHEST_LANE: isize = 4;

/// The most rows for which gathering in blocks does not pay.
const FEW_ROWS: usize = 8;

/// The most outputs of the blocks that are transposed at a time.
const BLOCK_OUTPUTS: usize = 1024;

/// The widest runs that are transposed by perfect shuffles, in outputs: their positions have to be interleaved back,
/// too. See docs/tuning.md#runs-by-perfect-shuffles-up-to-4-outputs.
const fn longest_line(size: usize, rows: usize) -> usize {
    if size == 1 && rows <= 24 { 12 } else { 24 }
}

/// The widest runs that are transposed by perfect shuffles, in outputs: their positions have to be interleaved back,
/// too. See docs/tuning.md#runs-by-perfect-shuffles-up-to-4-outputs.
const WIDEST_RIFFLED: usize = 4;

/// How blocks are laid out, each of which has the elements of `width` outputs: the contiguous rows of one run of
/// outputs, or one row.
#[derive(Clone, Copy)]
struct Lying {
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
fn blocks<O: Order>(tile: &Tile<'_>) -> Option<Lying> {
    let &[line] = tile.reduced else { return None };
    let (size, lanes, rows) = (size_of::<O::Lane>(), O::Simd::LANES, line.size);
    let riffles = |elements: usize| O::Simd::RIFFLES && riffles(elements, size);
    let is_unit = |elements: usize| {
        O::Simd::RIFFLES
            && elements > FEW_ROWS
            && elements * size >= UNIT
            && elements.saturating_mul(lanes * size) <= SCRATCH_BYTES
    };
    let (width, step, count) = match tile.step() {
        // Rows, all of whose elements the buffer holds.
        Some(step) if step == rows as isize && line.stride.abs() == 1 && (riffles(rows) || is_unit(rows)) => {
            (1, step, tile.outputs())
        }
        _ if tile.inner.stride == 1 && line.stride == tile.inner.size as isize => {
            let (width, step, count) = (tile.inner.size, tile.outer.stride, tile.outer.size);
            let is_narrow = rows > FEW_ROWS && (2..=longest_line(size, rows) / size).contains(&width);
            let is_short = width <= WIDEST_RIFFLED && step == (rows * width) as isize && riffles(rows * width);
            if !is_narrow && !is_short {
                return None;
            }
            (width, step, count)
        }
        _ => return None,
    };
    let fitting = (SCRATCH_BYTES / rows.saturating_mul(width).saturating_mul(lanes * size)).max(1);
    let most = if width == 1 { GROUP * (PANEL - 2) } else { BLOCK_OUTPUTS / (width * lanes) };
    let vectors = fitting.min(most).min(count / lanes);
    (vectors > 0).then_some(Lying { width, most: vectors * lanes * width, step })
}

/// Rows of gathered lanes, as many at a time as the buffer holds.
struct Gathered<'a, T> {
    from: From<'a, T>,
    scratch: &'a mut Scratch,
}

enum From<'a, T> {
    Blocks(BlockRows<T>),
    /// Elements of each lane. What follows each before `end` may be read too, if there is an end.
    Lanes {
        stretches: Stretches<'a>,
        input: *const T,
        end: Option<*const T>,
        lanes: LaneOffsets<'a>,
    },
}

impl<T: Copy> Gathered<'_, T> {
    /// The next rows, and how many. No more rows means no more elements.
    ///
    /// # Safety
    /// - As for [`BlockRows::next`], or for [`Scratch::fill`].
    #[inline(always)]
    unsafe fn next<S: Zip>(&mut self, simd: S) -> (*const T, usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match &mut self.from {
                From::Blocks(rows) => rows.next(simd, self.scratch),
                From::Lanes { stretches, input, end, lanes } => {
                    self.scratch.fill(simd, stretches, *input, *end, *lanes)
                }
            }
        }
    }
}

/// The rows of some blocks, in elements.
struct BlockRows<T> {
    first: *const T,
    /// From one block to the next, how many there are, how wide they are, and how many rows they have.
    step: isize,
    count: usize,
    width: usize,
    rows: usize,
    /// How many rows are gathered at a time, and how many were.
    most: usize,
    done: usize,
    /// Whether the last row comes first; only where all rows are gathered together.
    reversed: bool,
    /// What to prefetch meanwhile, if anything.
    ahead: Option<Ahead>,
}

impl<T> BlockRows<T> {
    /// Gathers as many rows as the buffer holds, of all blocks, and tells how many. No more rows means no more
    /// elements.
    ///
    /// # Safety
    /// - The blocks may be read; they have more than [`FEW_ROWS`], or are short enough for [`riffles`], and are as many
    ///   as a vector has lanes, or more.
    #[inline(always)]
    unsafe fn next<S: Zip>(&mut self, simd: S, scratch: &mut Scratch) -> (*const T, usize) {
        const { assert!(2 * FEW_ROWS >= UNIT && BLOCK_OUTPUTS * FEW_ROWS <= SCRATCH_BYTES) };
        let some = (self.rows - self.done).min(self.most);
        if some == 0 {
            return (null(), 0);
        }
        // Fewer rows may be less than 16 bytes of a block: then some of the rows before are gathered again.
        let before = FEW_ROWS.saturating_sub(some).min(self.done);
        let blocks = Blocks {
            first: self.first.wrapping_add((self.done - before) * self.width).cast(),
            step: self.step * size_of::<T>() as isize,
            count: self.count,
            elements: (before + some) * self.width,
            reversed: self.reversed,
            ahead: self.ahead,
        };
        let bytes = some * self.count * self.width * size_of::<T>();
        self.ahead = self.ahead.map(|ahead| ahead.moved(bytes as isize));
        self.done += some;
        // SAFETY: the caller's promise.
        let first = unsafe { scratch.fill_blocks::<S, T>(simd, blocks) };
        (first.wrapping_add(before * self.count * self.width), some)
    }
}

/// How the lanes of a call are laid out, as far as gathering cares.
#[derive(Clone, Copy)]
enum Lie {
    /// At one distance from each other.
    Even(isize),
    /// In runs of neighbours, each of this width.
    Lines(usize),
    /// In blocks: see [`blocks`].
    Blocks(Lying),
    /// Otherwise.
    Anyhow,
}
