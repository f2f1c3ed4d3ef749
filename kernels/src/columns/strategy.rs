//! The strategy for contiguous outputs, at least a vector of them: rows are loaded where they are, one output in each
//! lane. It hands each row of outputs to one pass or to panels, as the schedule says. Knows nothing of how either is
//! done.

use super::panel::{Panel, Workspace};
use super::reduce::{ColumnState, has_tiles, reduce, reduce_any};
use super::row_groups::is_row_blocked;
use super::schedule::{ColumnSchedule, KernelGeometry, MAX_INTERLEAVED_ROWS};
use super::strided_rows::{CallRows, StridedRows};
use super::tile::TILE_VECTORS;
use crate::kernel::KernelImpl;
use crate::memory::args::KernelArgs;
use crate::order::ArgOrder;
use crate::order::pair::Pair;
use crate::outputs::{Outputs, TypedOutputs, Written};
use crate::simd::ops::SimdOps;
use crate::strategy::Strategy;
use core::mem::MaybeUninit;

pub(crate) struct Columns;

impl<O: ArgOrder> KernelImpl<O> for Columns {
    #[inline(always)]
    unsafe fn run(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        // SAFETY: the caller's promise.
        let [written] = unsafe { run([order], args, [outputs]) };
        written
    }
}

/// Both orders have one type here.
impl<O: ArgOrder> KernelImpl<Pair<O, O>> for Columns {
    #[inline(always)]
    unsafe fn run(Pair(a, b): Pair<O, O>, args: &KernelArgs<'_>, outputs: [Outputs<'_>; 2]) -> [Written; 2] {
        // SAFETY: the caller's promise.
        unsafe { run([a, b], args, outputs) }
    }
}

/// By each of the orders, to outputs of its own.
///
/// # Safety
/// - As for [`KernelImpl::run`].
#[inline(always)]
unsafe fn run<O: ArgOrder, const N: usize>(
    orders: [O; N],
    args: &KernelArgs<'_>,
    outputs: [Outputs<'_>; N],
) -> [Written; N] {
    assert!(Strategy::Columns.takes(args.inner, args.reduced, O::Simd::LANES));
    // SAFETY: the caller promises all elements of the call, and that lanes have their size.
    let rows = unsafe { CallRows::new(args) };
    // SAFETY: values are of elements, as the caller promises.
    let mut outputs = map_each(
        outputs,
        #[inline(always)]
        |outputs| unsafe { outputs.typed() },
    );
    let (width, fastest) = (args.inner.size, args.innermost_reduced());
    let is_row_blocked = width > O::Simd::LANES && is_row_blocked::<O>(fastest.size);
    let geometry = KernelGeometry {
        size: size_of::<O::Lane>(),
        lanes: O::Simd::LANES,
        most_rows: O::Simd::MAX_INDEX as usize,
        has_tiles: has_tiles::<O>(),
        is_row_blocked,
    };
    let schedule = ColumnSchedule::new(args, geometry);
    let has_lost = if schedule.is_one_pass {
        // One order after another.
        let (distance, mut has_lost, mut n) = (schedule.prefetch_distance, [false; N], 0);
        while n < N {
            let (outputs, state) = (outputs[n].reborrow(), ColumnState::default());
            has_lost[n] = reduce(orders[n], rows.one_segment(), outputs, distance, is_row_blocked, state).has_lost;
            n += 1;
        }
        has_lost
    } else if const { has_tiles::<O>() } && width >= TILE_VECTORS * O::Simd::LANES {
        reduce_panels::<O, TILE_VECTORS, N>(orders, rows, schedule, outputs)
    } else if const { has_tiles::<O>() } && width > O::Simd::LANES {
        // Two vectors side by side are faster than one after another.
        reduce_panels::<O, 2, N>(orders, rows, schedule, outputs)
    } else {
        reduce_panels::<O, 1, N>(orders, rows, schedule, outputs)
    };
    map_each(has_lost, Written::all)
}

/// [`array::map`], but always a part of its caller, as what it calls has to be.
#[inline(always)]
fn map_each<T, U, const N: usize>(array: [T; N], mut map: impl FnMut(T) -> U) -> [U; N] {
    let mut mapped = [const { MaybeUninit::uninit() }; N];
    for (place, value) in mapped.iter_mut().zip(array) {
        place.write(map(value));
    }
    // SAFETY: the loop has written all of them, and each is moved once.
    unsafe { (&raw const mapped).cast::<[U; N]>().read() }
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

/// The bytes of rows that a panel takes before that of the other order does: L2 has room for that. See
/// docs/tuning.md#not-measured.
const SHARED_ROW_BYTES: usize = 64 << 10;

/// Reduces rows of outputs in panels of tiles of `U` vectors, by each of the orders, and tells whether bits of values
/// are lost. A row of outputs is at least a tile, or for tiles of two vectors, longer than one vector.
#[inline(always)]
fn reduce_panels<O: ArgOrder, const U: usize, const N: usize>(
    orders: [O; N],
    rows: CallRows<'_, O::Lane>,
    schedule: ColumnSchedule,
    mut outputs: [TypedOutputs<'_, O::Lane>; N],
) -> [bool; N] {
    let (lanes, row_width) = (O::Simd::LANES, rows.width());
    let tile_width = if const { U == 2 } { (2 * lanes).min(row_width) } else { U * lanes };
    let mut workspaces = [const { Workspace::new() }; N];
    let (mut answered, mut has_lost) = (0, [false; N]);
    while answered < rows.len() {
        let output_rows = schedule.interleaved_rows.min(rows.len() - answered);
        let mut some_outputs = map_each(
            outputs.each_mut(),
            #[inline(always)]
            |outputs| outputs.take(output_rows * row_width),
        );
        let mut done = 0;
        while done < row_width {
            // The last panel overlaps the previous one if it is shorter than a tile.
            let start = done.min(row_width - tile_width);
            let width = (row_width - start).min(schedule.widest);
            let mut panels = [const { [const { MaybeUninit::uninit() }; MAX_INTERLEAVED_ROWS] }; N];
            let each = workspaces.iter_mut().zip(&mut some_outputs).zip(&orders);
            for (panels, ((workspace, outputs), &order)) in panels.iter_mut().zip(each) {
                let (mut tiles, mut outputs) = (workspace.tiles::<O, U>(), outputs.reborrow());
                for panel in &mut panels[..output_rows] {
                    let (some, others) = tiles.split_at_mut(width.div_ceil(tile_width));
                    panel.write(Panel::new(order, some, outputs.take(row_width).part(start, width)));
                    tiles = others;
                }
            }
            // SAFETY: the loops above have written as many.
            let mut panels = map_each(
                panels.each_mut(),
                #[inline(always)]
                |panels| unsafe { &mut *(&raw mut panels[..output_rows] as *mut [Panel<'_, O, U>]) },
            );
            let mut segments = rows.segments();
            while let Some(segment) = segments.next() {
                let rows_of = |n| segment.get(answered + n).piece(start, width);
                if take_rows(&mut panels, rows_of, &schedule) {
                    break;
                }
            }
            for (panels, has_lost) in panels.into_iter().zip(&mut has_lost) {
                for panel in panels {
                    *has_lost |= panel.finish();
                }
            }
            done = start + width;
        }
        answered += output_rows;
    }
    has_lost
}

/// Reduces the rows of a segment, of each row of outputs those that are its own, by the panels of each order in turn.
/// Tells whether all are settled.
#[inline(always)]
fn take_rows<'r, O: ArgOrder, const U: usize, const N: usize>(
    panels: &mut [&mut [Panel<'_, O, U>]; N],
    rows_of: impl Fn(usize) -> StridedRows<'r, O::Lane>,
    schedule: &ColumnSchedule,
) -> bool {
    let mut are_settled = true;
    for n in 0..panels[0].len() {
        let mut rows = rows_of(n);
        let most = if N == 1 { usize::MAX } else { (SHARED_ROW_BYTES / (rows.width() * size_of::<O::Lane>())).max(1) };
        while rows.count() > 0 {
            let (some, others) = rows.split_at(rows.count().min(most));
            // What is prefetched for the first order is there for the other.
            let mut prefetch_distance = schedule.prefetch_distance;
            for panels in &mut *panels {
                if !panels[n].is_settled() {
                    panels[n].rows(some, prefetch_distance.take(), schedule.traversal);
                }
            }
            rows = others;
        }
        for panels in &*panels {
            are_settled &= panels[n].is_settled();
        }
    }
    are_settled
}
