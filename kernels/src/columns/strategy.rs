//! The strategy for contiguous outputs, at least a vector of them: rows are loaded where they are, one output in each
//! lane. It hands each row of outputs to one pass or to panels, as the schedule says. Knows nothing of how either is
//! done.

use super::panel::{Panel, Room, Way};
use super::reduce::{Groups, has_groups, reduce, reduce_tall};
use super::row_blocks::{are_tall, has_tall};
use super::schedule::{Course, TURNS, Vectors};
use super::tile::{GROUP, Rows};
use crate::kernel::Body;
use crate::memory::args::Tile;
use crate::memory::walk::Stretches;
use crate::order::Order;
use crate::positions::Positions;
use crate::simd::ops::Lanes;
use crate::strategy::Strategy;
use core::mem::MaybeUninit;

/// See the file.
pub(crate) struct Columns;

impl Body for Columns {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, mut positions: Positions<'_>) {
        assert!(Strategy::Columns.takes(tile.inner, tile.reduced, O::Simd::LANES));
        let (width, line) = (tile.inner.size, tile.line());
        let are_tall = width > O::Simd::LANES && are_tall::<O>(line.size);
        let vectors = Vectors {
            size: size_of::<O::Lane>(),
            lanes: O::Simd::LANES,
            most_rows: O::Simd::MAX_COUNT as usize,
            has_groups: has_groups::<O>(),
            are_tall,
        };
        let (course, hint) = (Course::new(tile, vectors), tile.tuning.prefetch.hint);
        // SAFETY: the caller promises all elements of all outputs.
        unsafe {
            if course.is_one_pass {
                let mut so_far = Groups::default();
                for o in 0..tile.outer.size {
                    let positions = positions.take(width);
                    let first = tile.input.cast::<O::Lane>().wrapping_offset(o as isize * tile.outer.stride);
                    let rows = Rows { first, stride: line.stride, count: line.size, hint };
                    if const { has_tall::<O>() } && are_tall {
                        reduce_tall(order, rows, positions, course.ahead, &mut so_far);
                    } else {
                        reduce(order, rows, positions, course.ahead, &mut so_far);
                    }
                }
            } else if const { has_groups::<O>() } && width >= GROUP * O::Simd::LANES {
                reduce_panels::<O, GROUP>(order, tile, course, positions);
            } else if const { has_groups::<O>() } && width > O::Simd::LANES {
                // Two vectors side by side are faster than one after another.
                reduce_panels::<O, 2>(order, tile, course, positions);
            } else {
                reduce_panels::<O, 1>(order, tile, course, positions);
            }
        }
    }
}

/// Reduces rows of outputs in panels of tiles of `U` vectors.
///
/// # Safety
/// - As [`Body::run`]; a row of outputs is at least a tile, or for tiles of two vectors, longer than one vector.
#[inline(always)]
unsafe fn reduce_panels<O: Order, const U: usize>(
    order: O,
    tile: &Tile<'_>,
    course: Course,
    mut positions: Positions<'_>,
) {
    let (lanes, line) = (O::Simd::LANES, tile.inner.size);
    let group = if const { U == 2 } { (2 * lanes).min(line) } else { U * lanes };
    let (mut room, hint) = (Room::new(), tile.tuning.prefetch.hint);
    let mut answered = 0;
    while answered < tile.outer.size {
        let first = tile.input.cast::<O::Lane>().wrapping_offset(answered as isize * tile.outer.stride);
        let lines = course.turns.min(tile.outer.size - answered);
        let mut lines_positions = positions.take(lines * line);
        answered += lines;
        let mut done = 0;
        while done < line {
            // The last panel overlaps the previous one if it is shorter than a tile.
            let start = done.min(line - group);
            let width = (line - start).min(course.widest);
            let mut panels = [const { MaybeUninit::uninit() }; TURNS];
            let mut groups = room.groups::<O, U>();
            let mut positions = lines_positions.reborrow();
            for panel in &mut panels[..lines] {
                let (some, others) = groups.split_at_mut(width.div_ceil(group));
                panel.write(Panel::new(order, some, positions.take(line).part(start, width)));
                groups = others;
            }
            // SAFETY: the loop above has written as many.
            let panels = unsafe { &mut *(&raw mut panels[..lines] as *mut [Panel<'_, O, U>]) };
            let mut stretches = Stretches::new(tile);
            let mut next = stretches.next(usize::MAX);
            while let Some((offset, count)) = next {
                next = stretches.next(usize::MAX);
                let (ahead, way) = match next {
                    Some((next, _)) if course.asks_next => (Some(next - offset), Way::ByGroups),
                    _ => (course.ahead, course.way),
                };
                let mut first = first.wrapping_offset(start as isize + offset);
                for panel in &mut *panels {
                    // SAFETY: a segment of the reduced loops, from each output of the panel (`start` and `width` stay
                    // within the row of outputs): the caller promises those elements.
                    unsafe { panel.rows(Rows { first, stride: tile.line().stride, count, hint }, ahead, way) };
                    first = first.wrapping_offset(tile.outer.stride);
                }
            }
            panels.iter_mut().for_each(Panel::flush);
            done = start + width;
        }
    }
}
