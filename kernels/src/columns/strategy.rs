//! The strategy for contiguous outputs, at least a vector of them: rows are loaded where they are, one output in each
//! lane. It hands each row of outputs to one pass or to panels, as the schedule says. Knows nothing of how either is
//! done.

use super::panel::{Panel, Workspace};
use super::reduce::{ColumnState, has_tiles, reduce, reduce_any};
use super::row_groups::{has_row_blocked_passes, is_row_blocked};
use super::schedule::{ColumnSchedule, KernelGeometry, MAX_INTERLEAVED_ROWS};
use super::strided_rows::CallRows;
use super::tile::TILE_VECTORS;
use crate::kernel::KernelImpl;
use crate::memory::args::KernelArgs;
use crate::order::ArgOrder;
use crate::outputs::{Outputs, TypedOutputs, Written};
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use crate::strategy::Strategy;
use core::mem::MaybeUninit;

pub(crate) struct Columns;

impl<O: ArgOrder> KernelImpl<O> for Columns {
    #[inline(always)]
    unsafe fn run(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        assert!(Strategy::Columns.takes(args.inner, args.reduced, O::Simd::LANES));
        // SAFETY: the caller promises all elements of the call, and that lanes and values have their size.
        let (rows, outputs) = unsafe { (CallRows::new(args), outputs.typed()) };
        let (width, fastest) = (args.inner.size, args.innermost_reduced());
        let is_row_blocked =
            const { has_row_blocked_passes::<O>() } && width > O::Simd::LANES && is_row_blocked::<O>(fastest.size);
        let geometry = KernelGeometry {
            size: size_of::<O::Lane>(),
            lanes: O::Simd::LANES,
            most_rows: O::Simd::MAX_INDEX as usize,
            has_tiles: has_tiles::<O>(),
            is_row_blocked,
        };
        let schedule = ColumnSchedule::new(args, geometry);
        let has_lost = if schedule.is_one_pass {
            let (distance, state) = (schedule.prefetch_distance, ColumnState::default());
            reduce(order, rows.one_segment(), outputs, distance, is_row_blocked, state).has_lost
        } else if const { has_tiles::<O>() } && width >= TILE_VECTORS * O::Simd::LANES {
            reduce_panels::<O, TILE_VECTORS>(order, rows, schedule, outputs)
        } else if const { has_tiles::<O>() && O::Simd::TUNING.has_special_cases() } && width > O::Simd::LANES {
            // Two vectors side by side are faster than one after another.
            reduce_panels::<O, 2>(order, rows, schedule, outputs)
        } else {
            reduce_panels::<O, 1>(order, rows, schedule, outputs)
        };
        Written::all(has_lost)
    }
}

/// The kernel of columns that one pass reduces, by the search that takes them all, for orders that are too rare for
/// several.
pub(crate) struct OnePassColumns;

impl OnePassColumns {
    /// The most rows.
    pub(crate) const fn most_rows<O: ArgOrder>() -> usize {
        O::Simd::MAX_INDEX as usize
    }
}

impl<O: ArgOrder> KernelImpl<O> for OnePassColumns {
    #[inline(always)]
    unsafe fn run(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        assert!(Strategy::Columns.takes(args.inner, args.reduced, O::Simd::LANES));
        assert!(args.innermost_reduced().size <= OnePassColumns::most_rows::<O>());
        // SAFETY: as for `Columns`.
        let (rows, outputs) = unsafe { (CallRows::new(args), outputs.typed()) };
        Written::all(reduce_any(order, rows.one_segment(), outputs).has_lost)
    }
}

/// Reduces rows of outputs in panels of tiles of `U` vectors, and tells whether bits of values are lost. A row of
/// outputs is at least a tile, or for tiles of two vectors, longer than one vector.
#[inline(always)]
fn reduce_panels<O: ArgOrder, const U: usize>(
    order: O,
    rows: CallRows<'_, O::Lane>,
    schedule: ColumnSchedule,
    mut outputs: TypedOutputs<'_, O::Lane>,
) -> bool {
    let (lanes, row_width) = (O::Simd::LANES, rows.width());
    let tile_width = if const { U == 2 } { (2 * lanes).min(row_width) } else { U * lanes };
    let (mut workspace, mut answered, mut has_lost) = (Workspace::new(), 0, false);
    while answered < rows.len() {
        let output_rows = schedule.interleaved_rows.min(rows.len() - answered);
        let mut some_outputs = outputs.take(output_rows * row_width);
        let mut done = 0;
        while done < row_width {
            // The last panel overlaps the previous one if it is shorter than a tile.
            let start = done.min(row_width - tile_width);
            let width = (row_width - start).min(schedule.widest);
            let mut panels = [const { MaybeUninit::uninit() }; MAX_INTERLEAVED_ROWS];
            let (mut tiles, mut outputs) = (workspace.tiles::<O, U>(), some_outputs.reborrow());
            for panel in &mut panels[..output_rows] {
                let (some, others) = tiles.split_at_mut(width.div_ceil(tile_width));
                panel.write(Panel::new(order, some, outputs.take(row_width).part(start, width)));
                tiles = others;
            }
            // SAFETY: the loop above has written as many.
            let panels = unsafe { &mut *(&raw mut panels[..output_rows] as *mut [Panel<'_, O, U>]) };
            let mut segments = rows.segments();
            while let Some(segment) = segments.next() {
                let mut are_settled = true;
                for (n, panel) in panels.iter_mut().enumerate() {
                    if !panel.is_settled() {
                        let rows = segment.get(answered + n).piece(start, width);
                        panel.rows(rows, schedule.prefetch_distance, schedule.traversal);
                    }
                    are_settled &= panel.is_settled();
                }
                if are_settled {
                    break;
                }
            }
            for panel in panels {
                has_lost |= panel.finish();
            }
            done = start + width;
        }
        answered += output_rows;
    }
    has_lost
}
