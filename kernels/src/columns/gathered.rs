//! Packed columns: outputs are not neighbours, or too few of them are. Their elements are gathered into rows of a small buffer first, lanes
//! side by side; from there on they are columns. (Lanes are in the order of the outputs, but for blocks: there, those of one column come together.)

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
            // Longer ones need no packing.
            _ if tile.inner.stride == 1 && (2..=GROUP * O::Simd::LANES).contains(&tile.inner.size) => {
                Lie::Lines(tile.inner.size)
            }
            _ if tile.inner.size >= O::Simd::LANES => Lie::Even(tile.inner.stride),
            _ => Lie::Anyhow,
        };
        // Lanes that are gathered together are of one line, unless the next one starts where an even step leads, or lines are short.
        let line = if let (Lie::Even(_), None) = (lie, tile.step()) { tile.inner.size } else { positions.len() };
        let group = match lie {
            Lie::Blocks(blocks) => O::Simd::LANES * blocks.width,
            _ if line < GROUP * O::Simd::LANES => O::Simd::LANES,
            _ => GROUP * O::Simd::LANES,
        };
        // Short reductions are gathered for many lanes at once, as long as the buffer holds all of their rows.
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
        // Lanes are read a little of each at a time, which no prefetcher follows. (Zen 5, beyond L3, AVX2, GB/s without it, with all of it asked for at once, and
        // asked for along the way: 21 rows of 5 f32 9, 14 and 27, of 31 u8 - , 10 and 30, of 5 i64 - , 31 and 28; 3 rows of 5 f32 19, - and 24.)
        // Where all of a lane is near its end, prefetchers do.
        // (Every second column of 200 over 21 rows, beyond L3, GB/s without and with it: f32, by halves of a row, 8 and 11, i64 by quarters 10 and 13; of whole rows, u8 26 and 16; Zen 4.)
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
            // The last lanes of a line reach back if they are fewer than a group.
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
            // SAFETY: the caller promises that all elements which the reduced loops reach from each output may be read; the rows were gathered
            // just now.
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

/// The longest lanes, in bytes, that prefetchers follow. (Beyond L3, GB/s without and with what is asked for: 10 rows of 2 f32 25 and 17, of 3 u8 17 and 15, 21 rows of 3 u8 10 and
/// 12, of 3 f32 10 and 22, 10 rows of 3 f32 14 and 20, of 31 u8 9 and 15; Zen 4.)
const SHORTEST_JUMP: usize = 96;

/// How far, in elements, lanes may be from each other for all between them to be asked for.
const FARTHEST_LANE: isize = 4;

/// So few rows are not worth it to be gathered in blocks.
const FEW_ROWS: usize = 8;

/// The most outputs of the blocks that are transposed at a time.
const BLOCK_OUTPUTS: usize = 1024;

/// The longest lines that are worth it, in bytes: of the narrowest elements over few rows, those that take fewer rounds of shuffles. (In L2, GB/s line by line and in blocks: 21 rows of 12, 13, 14 and
/// 16 u8 24 and 25, 24 and 19, 25 and 19, 30 and 22, 10 rows of 16 37 and 22; but 28 rows of 13 21 and 23, 40 rows of 15 17 and 24, 21 rows of 7 and 8 f16 21 and 25, 27 and 29; Zen 4, AVX2.)
const fn longest_line(size: usize, rows: usize) -> usize {
    if size == 1 && rows <= 24 { 12 } else { 24 }
}

/// The widest lines of which blocks are riffled: positions have to come back to where they belong, too. (In L2, GB/s line by line and riffled: 2 rows of 4, 5 and 7 u8 34 and 36, 36 and
/// 28, 43 and 26, of f32 41 and 40, 39 and 36; 2, 3, 4 and 5 rows of 2 u8 21 and 37, 18 and 37, 16 and 40, 14 and 37, of i16 27 and 41, 21 and 31, 22 and 40, 20 and 38, of f32 33 and 40, 30 and
/// 38, 28 and 37, 25 and 36; 3 rows of 3 and 4 u8 24 and 29, 30 and 36; Zen 4, AVX2.)
const WIDEST_RIFFLED: usize = 4;

/// The elements of some outputs each, one block after the other: the lines of one output that follow each other in memory, or rows.
#[derive(Clone, Copy)]
struct Lying {
    /// Of outputs.
    width: usize,
    /// How many outputs are worth it at a time, at most.
    most: usize,
    /// From one block to the next, in elements.
    step: isize,
}

/// How blocks lie that are transposed at a time, if any do. That takes a few shuffles for all lines of
/// some blocks, where a load and a store for each line took four fifths of the time. (Zen 5, in L2, GB/s line by line and in blocks, by AVX-512 and AVX2: 21 rows
/// of 3 u8 13 and 33, 14 and 27, of 3 f16 16 and 32, 17 and 27, of 3 f32 22 and 42, 24 and 36, of 3 i64 33 and 53, 33 and 40; but 3 rows of 3 f32 35 and 25, 32
/// and 18, and wider lines no more than before.)
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

/// Rows of lanes side by side, as many at a time as the buffer holds.
struct Gathered<'a, T> {
    from: From<'a, T>,
    scratch: &'a mut Scratch,
}

enum From<'a, T> {
    Blocks(BlockRows<T>),
    /// What follows each lane before `end` may be read too, if there is one.
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
    /// How many of the rows are gathered at a time, and how many were.
    most: usize,
    done: usize,
    /// Whether the last row comes first; only where all rows are gathered at once.
    reversed: bool,
    /// What to ask for meanwhile, if anything.
    ahead: Option<Ahead>,
}

impl<T> BlockRows<T> {
    /// Gathers as many rows as the buffer holds, of all blocks, and tells how many. No more rows means no more elements.
    ///
    /// # Safety
    /// - The blocks may be read; they have more than [`FEW_ROWS`], or are [riffled](riffles), and are as many as a vector has lanes, or more.
    #[inline(always)]
    unsafe fn next<S: Zip>(&mut self, simd: S, scratch: &mut Scratch) -> (*const T, usize) {
        const { assert!(2 * FEW_ROWS >= UNIT && BLOCK_OUTPUTS * FEW_ROWS <= SCRATCH_BYTES) };
        let some = (self.rows - self.done).min(self.most);
        if some == 0 {
            return (null(), 0);
        }
        // So few that they may be less than a unit are gathered with some of those before.
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

/// How the lanes of a tile lie, as far as gathering cares.
#[derive(Clone, Copy)]
enum Lie {
    /// Each so far from the one before.
    Even(isize),
    /// In lines of so many neighbours.
    Lines(usize),
    /// In blocks: see [`blocks`].
    Blocks(Lying),
    Anyhow,
}
