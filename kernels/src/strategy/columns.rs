//! Columns: neighbouring outputs are contiguous, and each lane is one output. Per row of the reduced loops: one load, one comparison,
//! one maximum, one blend.
//!
//! What the blend keeps is the number of the row, counted in lanes as wide as the element. Before the count overflows (255 rows of
//! 8-bit elements), the numbers are flushed to the 32-bit positions.
//!
//! A group of four vectors lives in registers while a few rows go by, then the next group does, across a *panel* of up to 4 KiB of
//! outputs; then come the next rows. So memory is read in long runs, eight rows at a time. One group for all rows would be
//! simpler, but touches another page per 128 bytes: over outputs of a few thousand bytes, tall columns beyond the caches then
//! run at less than half the speed.
//!
//! NaN is looked for once per pair of vectors, and comparisons that take account of it only start where one was found.
//!
//! The last group of a line of outputs overlaps the one before: its outputs are answered twice, and the same.

use super::{Body, Strategy};
use crate::gather::{LaneOffsets, SCRATCH_BYTES, Scratch, Stretches};
use crate::lanes::{Lanes, MAX_VECTOR_BYTES};
use crate::order::{Count, Mask, Order, Vec};
use crate::tile::Tile;
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct Columns;

/// Vectors in a group, unless the line of outputs is shorter.
const GROUP: usize = 4;
/// Groups in a panel: 4 KiB of outputs by vectors of 32 bytes, and twice as much on the stack.
const PANEL: usize = 32;
/// Rows that go by at a time: as many runs as the prefetchers of current cores follow.
const ROWS: usize = 8;
/// The same for a panel of one group, which need not make place for others.
const ROWS_OF_ONE_GROUP: usize = 64;

impl Body for Columns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        let is_in_place = Strategy::Columns.is_in_place(tile.inner, tile.reduced, O::Simd::LANES);
        // In place, a group must not leave its line of outputs; gathered, the lines make one.
        let width = if is_in_place { tile.inner.size } else { positions.len() };
        for (line, positions) in positions.chunks_exact_mut(width).enumerate() {
            let line = if is_in_place { Line::InPlace(line as isize * tile.outer.stride) } else { Line::Gathered };
            // SAFETY: the caller promises that all elements of all outputs may be read.
            unsafe {
                if width >= GROUP * O::Simd::LANES {
                    reduce_line::<O, GROUP>(order, tile, line, positions);
                } else {
                    reduce_line::<O, 1>(order, tile, line, positions);
                }
            }
        }
    }
}

/// Where a line of outputs is.
#[derive(Clone, Copy)]
enum Line {
    /// At an offset, and at least a vector long.
    InPlace(isize),
    /// All outputs of the tile, wherever they are.
    Gathered,
}

/// Reduces a line of outputs in panels of groups of `U` vectors.
#[inline(always)]
unsafe fn reduce_line<O: Order, const U: usize>(
    order: O,
    tile: &Tile<'_>,
    line: Line,
    positions: &mut [MaybeUninit<u32>],
) {
    let input = tile.input.cast::<O::Lane>();
    let group = U * O::Simd::LANES;
    let mut groups = [const { MaybeUninit::uninit() }; PANEL];
    let mut scratch = Scratch::new();
    let mut offsets = [const { MaybeUninit::uninit() }; GROUP * MAX_VECTOR_BYTES];
    let mut lane_positions = [const { MaybeUninit::uninit() }; MAX_VECTOR_BYTES];
    // Gathered outputs that are lines of neighbours in memory are gathered as whole lines.
    let line_width = match (line, tile.step()) {
        (Line::Gathered, None) if tile.inner.stride == 1 && tile.inner.size > 1 => tile.inner.size,
        _ => 1,
    };
    let groups_of_panel = match (line, tile.step()) {
        (Line::Gathered, None) if line_width == 1 => 1,
        // Short reductions are gathered for many groups at once, as long as the buffer holds all of them.
        (Line::Gathered, _) => (SCRATCH_BYTES / size_of::<O::Lane>() / group / tile.visited()).clamp(1, PANEL - 2),
        (Line::InPlace(_), _) => PANEL,
    };
    let least = group.next_multiple_of(line_width);
    let most = (groups_of_panel * group).next_multiple_of(line_width);
    let mut done = 0;
    while done < positions.len() {
        let left = positions.len() - done;
        // The last panel reaches back if it is shorter than a group.
        let start = if left < group { positions.len().saturating_sub(least) } else { done };
        let panel_width = (positions.len() - start).min(most);
        let outputs = &mut positions[start..start + panel_width];
        done = start + panel_width;

        let is_short = outputs.len() < group;
        let lanes = if is_short { &mut lane_positions[..group] } else { &mut *outputs };
        let mut panel = Panel::<O, U>::new(order, &mut groups, lanes);
        let mut stretches = Stretches::new(tile);
        match line {
            Line::InPlace(at) => {
                let at = input.wrapping_offset(at + start as isize);
                while let Some((offset, rows)) = stretches.next(usize::MAX) {
                    // SAFETY: a stretch of the reduced loops, from each output of the panel.
                    unsafe { panel.rows(at.wrapping_offset(offset), tile.line().stride, rows) };
                }
            }
            Line::Gathered => {
                let offsets = match tile.step() {
                    Some(step) if !is_short => {
                        LaneOffsets::Even { first: start as isize * step, step, lanes: panel_width }
                    }
                    None if line_width > 1 && !is_short => LaneOffsets::Lines {
                        first: (start / line_width) as isize * tile.outer.stride,
                        step: tile.outer.stride,
                        lines: panel_width / line_width,
                        width: line_width,
                    },
                    _ => {
                        for (lane, offset) in offsets[..group].iter_mut().enumerate() {
                            // Lanes without an output repeat the last one.
                            offset.write(tile.offset(start + lane.min(panel_width - 1)));
                        }
                        // SAFETY: they were written just now.
                        LaneOffsets::Each(unsafe { &*(&raw const offsets[..group] as *const [isize]) })
                    }
                };
                loop {
                    // SAFETY: the caller promises that all elements which the reduced loops reach from each output may be read.
                    let (at, rows) = unsafe { scratch.fill(&mut stretches, input, offsets) };
                    if rows == 0 {
                        break;
                    }
                    // SAFETY: rows of one group that were gathered just now.
                    unsafe { panel.rows(at, offsets.len() as isize, rows) };
                }
            }
        }
        panel.flush();
        if is_short {
            outputs.copy_from_slice(&lane_positions[..outputs.len()]);
        }
    }
}

/// `U` vectors of outputs, over the rows so far.
#[derive(Clone, Copy)]
struct Group<O: Order, const U: usize> {
    best: [Vec<O>; U],
    /// The number of the row of the best, from 1; 0 where it has not changed since the last flush.
    row_of_best: [Count<O>; U],
}

/// Some groups side by side, over the rows so far.
struct Panel<'a, O: Order, const U: usize> {
    order: O,
    groups: &'a mut [MaybeUninit<Group<O, U>>],
    /// Written by the first flush.
    positions: &'a mut [MaybeUninit<u32>],
    /// Rows since the last flush, and before it.
    rows: u32,
    flushed: u32,
    /// Whether a NaN was found.
    has_nan: bool,
}

impl<'a, O: Order, const U: usize> Panel<'a, O, U> {
    const GROUP: usize = U * O::Simd::LANES;

    /// Before the first row. There is a group for each of the positions, and at least as many positions as one group has.
    #[inline(always)]
    fn new(order: O, groups: &'a mut [MaybeUninit<Group<O, U>>; PANEL], positions: &'a mut [MaybeUninit<u32>]) -> Self {
        let groups = &mut groups[..positions.len().div_ceil(Self::GROUP)];
        Panel { order, groups, positions, rows: 0, flushed: 0, has_nan: false }
    }

    /// The first output of a group.
    #[inline(always)]
    fn start_of(&self, group: usize) -> usize {
        (group * Self::GROUP).min(self.positions.len() - Self::GROUP)
    }

    /// Goes on with `rows` rows, `stride` elements apart, from `first`.
    ///
    /// # Safety
    /// - Each row, as wide as the panel, may be read.
    #[inline(always)]
    unsafe fn rows(&mut self, first: *const O::Lane, stride: isize, mut rows: usize) {
        let most = if self.groups.len() == 1 { ROWS_OF_ONE_GROUP } else { ROWS };
        let mut at = first;
        while rows > 0 {
            if self.rows == O::Simd::MAX_COUNT {
                self.flush();
            }
            let some = rows.min(most).min((O::Simd::MAX_COUNT - self.rows) as usize);
            for group in 0..self.groups.len() {
                // SAFETY: the caller's promise.
                unsafe { self.visit(group, at.wrapping_add(self.start_of(group)), stride, some) };
            }
            self.rows += some as u32;
            at = at.wrapping_offset(some as isize * stride);
            rows -= some;
        }
    }

    /// Some rows of one group.
    #[inline(always)]
    unsafe fn visit(&mut self, group: usize, at: *const O::Lane, stride: isize, rows: usize) {
        let order = self.order;
        let is_first = self.rows + self.flushed == 0;
        let before = if is_first {
            // The first row is the best so far whatever it holds, and its position, 0, is there already.
            let mut best = [order.worst(); U];
            for (u, best) in best.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                *best = unsafe { order.load(at.add(u * O::Simd::LANES)) };
            }
            Group { best, row_of_best: [order.simd().count(0); U] }
        } else {
            // SAFETY: the first rows have written it.
            unsafe { self.groups[group].assume_init() }
        };
        let skipped = is_first as usize;
        let (at, rows, row) =
            (at.wrapping_offset(skipped as isize * stride), rows - skipped, self.rows + skipped as u32);
        let has_nan = O::NAN_WINS || O::NAN_LOSES;
        if !has_nan || !self.has_nan {
            let mut after = before;
            // SAFETY: the caller's promise.
            let nans = unsafe { after.visit::<false>(order, at, stride, rows, row, is_first) };
            if !has_nan || order.simd().bits(nans) == 0 {
                self.groups[group].write(after);
                return;
            }
            self.has_nan = true;
        }
        if has_nan {
            let mut after = before;
            // SAFETY: the caller's promise.
            unsafe { after.visit::<true>(order, at, stride, rows, row, is_first) };
            self.groups[group].write(after);
        }
    }

    /// Moves the row numbers to the positions.
    #[inline(always)]
    fn flush(&mut self) {
        let simd = self.order.simd();
        for group in 0..self.groups.len() {
            let start = self.start_of(group);
            // SAFETY: a flush comes after the first rows, which have written every group.
            let group = unsafe { self.groups[group].assume_init_mut() };
            for u in 0..U {
                let rows = simd.counts(group.row_of_best[u]);
                let positions = &mut self.positions[start + u * O::Simd::LANES..][..O::Simd::LANES];
                for (position, &row) in positions.iter_mut().zip(rows.as_ref()) {
                    let row = row.into() as u32;
                    let number = self.flushed.wrapping_add(row).wrapping_sub(1);
                    if self.flushed == 0 {
                        // No change is no change from the first row.
                        position.write(if row == 0 { 0 } else { number });
                    } else if row != 0 {
                        position.write(number);
                    }
                }
            }
            group.row_of_best = [simd.count(0); U];
        }
        self.flushed += self.rows;
        self.rows = 0;
    }
}

impl<O: Order, const U: usize> Group<O, U> {
    /// Goes on with some rows, the first of which has number `row` (from 0). If not `EXACT`, the answer holds only if the mask that is
    /// returned is empty.
    #[inline(always)]
    unsafe fn visit<const EXACT: bool>(
        &mut self,
        order: O,
        mut at: *const O::Lane,
        stride: isize,
        rows: usize,
        row: u32,
        is_first: bool,
    ) -> Mask<O> {
        let simd = order.simd();
        // Locals, so that they stay in registers.
        let Group { mut best, mut row_of_best } = *self;
        let mut row = simd.count(row);
        let mut nans = simd.none();
        // Later, no best is NaN: from the first NaN on, a panel is exact.
        if !EXACT && is_first {
            nans = any_nan(order, &best, nans);
        }
        for _ in 0..rows {
            row = simd.add(row, simd.count(1));
            let mut new = best;
            for (u, new) in new.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                *new = unsafe { order.load(at.add(u * O::Simd::LANES)) };
            }
            if !EXACT {
                nans = any_nan(order, &new, nans);
            }
            for u in 0..U {
                if EXACT {
                    let better = order.better(new[u], best[u]);
                    best[u] = simd.select(better, new[u], best[u]);
                    row_of_best[u] = simd.select_count(better, row, row_of_best[u]);
                } else {
                    let better = order.above(new[u], best[u]);
                    best[u] = order.fold(new[u], best[u]);
                    row_of_best[u] = simd.select_count(better, row, row_of_best[u]);
                }
            }
            at = at.wrapping_offset(stride);
        }
        *self = Group { best, row_of_best };
        nans
    }
}

/// `nans`, or where a vector is NaN, or its neighbour.
#[inline(always)]
fn any_nan<O: Order, const U: usize>(order: O, vectors: &[Vec<O>; U], mut nans: Mask<O>) -> Mask<O> {
    if O::NAN_WINS || O::NAN_LOSES {
        for pair in vectors.chunks(2) {
            nans = order.simd().or(nans, order.nans(pair[0], pair[pair.len() - 1]));
        }
    }
    nans
}
