//! The strategy for contiguous outputs, at least a vector of them: rows are loaded where they are, one output in each
//! lane. It hands each row of outputs to one pass or to panels, as the schedule says. Knows nothing of how either is
//! done.

use super::panel::{Panel, Workspace};
use super::reduce::{ColumnState, OutputRows, has_tiles, reduce};
use super::row_blocks::is_row_blocked;
use super::schedule::{ColumnSchedule, KernelGeometry, MAX_INTERLEAVED_ROWS};
use super::tile::{StridedRows, TILE_VECTORS};
use crate::kernel::KernelImpl;
use crate::memory::args::KernelArgs;
use crate::memory::walk::SegmentIter;
use crate::order::ArgOrder;
use crate::outputs::{Outputs, Written};
use crate::simd::ops::SimdOps;
use crate::strategy::Strategy;
use core::mem::MaybeUninit;

pub(crate) struct Columns;

impl KernelImpl for Columns {
    #[inline(always)]
    unsafe fn run<O: ArgOrder>(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        assert!(Strategy::Columns.takes(args.inner, args.reduced, O::Simd::LANES));
        let (width, fastest) = (args.inner.size, args.innermost_reduced());
        let is_row_blocked = width > O::Simd::LANES && is_row_blocked::<O>(fastest.size);
        let geometry = KernelGeometry {
            size: size_of::<O::Lane>(),
            lanes: O::Simd::LANES,
            most_rows: O::Simd::MAX_INDEX as usize,
            has_tiles: has_tiles::<O>(),
            is_row_blocked,
        };
        let (schedule, hint) = (ColumnSchedule::new(args, geometry), args.tuning.prefetch.hint);
        // SAFETY: the caller promises all elements of all outputs.
        let has_lost = unsafe {
            if schedule.is_one_pass {
                let rows = StridedRows { first: args.input.cast(), stride: fastest.stride, count: fastest.size, hint };
                let (distance, state) = (schedule.prefetch_distance, ColumnState::default());
                let output_rows = OutputRows { count: args.outer.size, width, step: args.outer.stride };
                reduce(order, (rows, output_rows), outputs, distance, is_row_blocked, state);
                false
            } else if const { has_tiles::<O>() } && width >= TILE_VECTORS * O::Simd::LANES {
                reduce_panels::<O, TILE_VECTORS>(order, args, schedule, outputs)
            } else if const { has_tiles::<O>() } && width > O::Simd::LANES {
                // Two vectors side by side are faster than one after another.
                reduce_panels::<O, 2>(order, args, schedule, outputs)
            } else {
                reduce_panels::<O, 1>(order, args, schedule, outputs)
            }
        };
        Written::all(has_lost)
    }
}

/// Reduces rows of outputs in panels of tiles of `U` vectors, and tells whether bits of values are lost.
///
/// # Safety
/// - As [`KernelImpl::run`]; a row of outputs is at least a tile, or for tiles of two vectors, longer than one vector.
#[inline(always)]
unsafe fn reduce_panels<O: ArgOrder, const U: usize>(
    order: O,
    args: &KernelArgs<'_>,
    schedule: ColumnSchedule,
    mut outputs: Outputs<'_>,
) -> bool {
    let (lanes, row_width) = (O::Simd::LANES, args.inner.size);
    let tile_width = if const { U == 2 } { (2 * lanes).min(row_width) } else { U * lanes };
    let (mut workspace, hint) = (Workspace::new(), args.tuning.prefetch.hint);
    let (mut answered, mut has_lost) = (0, false);
    while answered < args.outer.size {
        let first = args.input.cast::<O::Lane>().wrapping_offset(answered as isize * args.outer.stride);
        let output_rows = schedule.interleaved_rows.min(args.outer.size - answered);
        let mut some_outputs = outputs.take(output_rows * row_width);
        answered += output_rows;
        let mut done = 0;
        while done < row_width {
            // The last panel overlaps the previous one if it is shorter than a tile.
            let start = done.min(row_width - tile_width);
            let width = (row_width - start).min(schedule.widest);
            let mut panels = [const { MaybeUninit::uninit() }; MAX_INTERLEAVED_ROWS];
            let mut tiles = workspace.tiles::<O, U>();
            let mut outputs = some_outputs.reborrow();
            for panel in &mut panels[..output_rows] {
                let (some, others) = tiles.split_at_mut(width.div_ceil(tile_width));
                panel.write(Panel::new(order, some, outputs.take(row_width).part(start, width)));
                tiles = others;
            }
            // SAFETY: the loop above has written as many.
            let panels = unsafe { &mut *(&raw mut panels[..output_rows] as *mut [Panel<'_, O, U>]) };
            let mut segments = SegmentIter::new(args, None);
            while let Some((offset, count)) = segments.next(usize::MAX) {
                let mut first = first.wrapping_offset(start as isize + offset);
                for panel in &mut *panels {
                    // SAFETY: a segment of the reduced loops, from each output of the panel (`start` and `width` stay
                    // within the row of outputs): the caller promises those elements.
                    unsafe {
                        panel.rows(
                            StridedRows { first, stride: args.innermost_reduced().stride, count, hint },
                            schedule.prefetch_distance,
                            schedule.traversal,
                        )
                    };
                    first = first.wrapping_offset(args.outer.stride);
                }
            }
            for panel in panels {
                has_lost |= panel.finish();
            }
            done = start + width;
        }
    }
    has_lost
}
