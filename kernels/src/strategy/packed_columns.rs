//! Packed columns: outputs are not neighbours, or too few of them are. Their elements are gathered into rows of a small buffer first, lanes
//! side by side; from there on they are columns. (Lanes are in the order of the outputs, but for blocks: there, those of one column come together.)

use super::Body;
use super::group::{GROUP, Rows, reduce};
use super::panel::{PANEL, Panel};
use crate::gather::{LaneOffsets, SCRATCH_BYTES, Scratch, Stretches};
use crate::lanes::{Lanes, MAX_VECTOR_BYTES, Task, Token};
use crate::order::Order;
use crate::tile::Tile;
use crate::zip::{Blocks, UNIT};
use core::mem::MaybeUninit;
use core::ptr::null;

/// See the file.
pub(crate) struct PackedColumns;

impl Body for PackedColumns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        let input = tile.input.cast::<O::Lane>();
        let end = tile.end_of_block().map_or(null(), |end| input.wrapping_offset(end));
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
            Lie::Blocks(_) => O::Simd::LANES * tile.inner.size,
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
            Lie::Blocks(most) => (group, most * tile.inner.size),
            Lie::Anyhow => (group, group),
        };
        let is_one_pass = tile.visited() <= (capacity / most).min(O::Simd::MAX_COUNT as usize);
        let mut scratch = Scratch::new();
        let mut groups = [const { MaybeUninit::uninit() }; PANEL];
        let mut offsets = [const { MaybeUninit::uninit() }; GROUP * MAX_VECTOR_BYTES];
        let mut lane_positions = [const { MaybeUninit::uninit() }; BLOCK_OUTPUTS];
        // Few rows are read in the order of memory, more or less, and the prefetchers follow. (Zen 5, beyond L3, AVX-512, GB/s without and with it: 21 rows of 5
        // f32 8.5 and 12.1, of 5 i64 7.1 and 10.2; but 3 rows of 5 f32 19.6 and 18.8, rows of 3 f32 28 and 17.)
        let prefetches = tile.is_far && !end.is_null() && is_one_pass && tile.visited() > FEW_ROWS;
        let mut has_nan = false;
        let (mut done, mut end_of_line) = (0, 0);
        while done < positions.len() {
            if done == end_of_line {
                end_of_line += line;
            }
            // The last lanes of a line reach back if they are fewer than a group.
            let is_rest = end_of_line - done < group;
            let start = if is_rest { end_of_line - least.min(line) } else { done };
            let mut width = (end_of_line - start).min(most);
            if let Lie::Blocks(_) = lie {
                width -= width % group;
            }
            let outputs = &mut positions[start..start + width];
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
                Lie::Blocks(_) => LaneOffsets::ONE,
                _ => {
                    for (lane, offset) in offsets[..group].iter_mut().enumerate() {
                        // Lanes without an output repeat the last one.
                        offset.write(tile.offset(start + lane.min(width - 1)));
                    }
                    // SAFETY: the loop above has written all of them.
                    LaneOffsets::Each(unsafe { &*(&raw const offsets[..group] as *const [isize]) })
                }
            };
            let is_apart = is_short || matches!(lie, Lie::Blocks(_));
            let answers = if is_apart { &mut lane_positions[..width.max(group)] } else { &mut *outputs };
            let stride = answers.len() as isize;
            let mut stretches = Stretches::new(tile);
            // SAFETY: the caller promises that all elements which the reduced loops reach from each output may be read; the rows were gathered
            // just now.
            unsafe {
                let (mut first, mut count) = match lie {
                    Lie::Blocks(_) => {
                        let blocks = Blocks {
                            first: input.wrapping_offset(tile.offset(start)).cast(),
                            step: tile.outer.stride * size_of::<O::Lane>() as isize,
                            count: width / tile.inner.size,
                            elements: tile.visited() * tile.inner.size,
                        };
                        (scratch.fill_blocks::<O::Simd, O::Lane>(order.simd(), blocks), tile.visited())
                    }
                    _ => scratch.fill(&mut stretches, input, end, lanes),
                };
                if prefetches && done < tile.outputs() {
                    prefetch(order, tile, start, done);
                }
                if is_one_pass {
                    reduce(order, Rows { first, stride, count }, answers, None, &mut has_nan);
                } else {
                    let mut panel = Panel::<O, 1>::new(order, &mut groups, answers);
                    while count > 0 {
                        panel.rows(Rows { first, stride, count }, None, false);
                        (first, count) = scratch.fill(&mut stretches, input, end, lanes);
                    }
                    panel.flush();
                }
            }
            match lie {
                Lie::Blocks(_) => {
                    for (column, answers) in lane_positions[..width].chunks_exact(width / tile.inner.size).enumerate() {
                        let outputs = outputs[column..].iter_mut().step_by(tile.inner.size);
                        outputs.zip(answers).for_each(|(output, &answer)| *output = answer);
                    }
                }
                _ if is_short => outputs.copy_from_slice(&lane_positions[..outputs.len()]),
                _ => {}
            }
        }
    }
}

/// Asks for what is gathered after outputs `start` to `end`: it comes while they are answered. A call of its own: in its place, it cost rows of 4 f32
/// beyond L3 a third, which ask for nothing. (Zen 5, AVX2.)
#[inline(always)]
fn prefetch<O: Order>(order: O, tile: &Tile<'_>, start: usize, end: usize) {
    #[derive(Clone, Copy)]
    struct Call<S> {
        simd: S,
        at: *const u8,
        bytes: usize,
    }
    impl<S: Token> Task for Call<S> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            for line in (0..self.bytes).step_by(64) {
                self.simd.prefetch(self.at.wrapping_add(line));
            }
        }
    }
    let next = tile.offset(end);
    let bytes = (next - tile.offset(start)).unsigned_abs() * size_of::<O::Lane>();
    let at = tile.input.cast::<O::Lane>().wrapping_offset(next).cast();
    order.simd().call(Call { simd: order.simd(), at, bytes });
}

/// See where it is used.
const FEW_ROWS: usize = 8;

/// The most outputs of the blocks that are transposed at a time.
const BLOCK_OUTPUTS: usize = 1024;

/// The longest lines that are worth it, in bytes.
const LONGEST_LINE: usize = 24;

/// How many blocks to transpose at a time, if any: where the narrow lines of an output follow each other in memory. That takes a few shuffles for all lines of
/// some blocks, where a load and a store for each line took four fifths of the time. (Zen 5, in L2, GB/s line by line and in blocks, by AVX-512 and AVX2: 21 rows
/// of 3 u8 13 and 33, 14 and 27, of 3 f16 16 and 32, 17 and 27, of 3 f32 22 and 42, 24 and 36, of 3 i64 33 and 53, 33 and 40; but 3 rows of 3 f32 35 and 25, 32
/// and 18, and wider lines no more than before.)
#[inline(always)]
fn blocks<O: Order>(tile: &Tile<'_>) -> Option<usize> {
    let &[line] = tile.reduced else { return None };
    let (size, lanes, width) = (size_of::<O::Lane>(), O::Simd::LANES, tile.inner.size);
    let is_narrow =
        tile.inner.stride == 1 && width > 1 && width * size <= LONGEST_LINE && line.stride == width as isize;
    if !is_narrow || line.size <= FEW_ROWS || line.size > O::Simd::MAX_COUNT as usize || line.size * width * size < UNIT
    {
        return None;
    }
    let fitting = SCRATCH_BYTES / (line.size * width).saturating_mul(lanes * size);
    let vectors = fitting.min(BLOCK_OUTPUTS / (width * lanes)).min(tile.outer.size / lanes).min(GROUP);
    (vectors > 0).then_some(vectors * lanes)
}

/// How the lanes of a tile lie, as far as gathering cares.
#[derive(Clone, Copy)]
enum Lie {
    /// Each so far from the one before.
    Even(isize),
    /// In lines of so many neighbours.
    Lines(usize),
    /// In blocks of lines that follow each other, at most so many blocks at a time: see [`blocks`].
    Blocks(usize),
    Anyhow,
}
