//! Row blocking, by groups of eight rows: see `mod.rs`. Knows nothing of panels, and of the loops of a call.

use super::nan_tracker::NanTracker;
use super::strided_rows::StridedRows;
use super::tile::{ColumnTile, start_of};
use crate::order::{ArgOrder, IndexVec, Vec, max_numbers};
use crate::simd::ops::{EQ, SimdOps};
use crate::simd::token::Simd;
use core::mem::MaybeUninit;

/// Rows in a group. Fewer make the search in the end cheaper, and the loop slower. See docs/tuning.md#min_blocked_rows.
const GROUP_ROWS: usize = 8;

/// Whether `rows` rows, the first one among them, are worth the search in the end. It takes a load and a store for each
/// lane and row of a group. See docs/tuning.md#min_blocked_rows.
#[inline(always)]
pub(super) const fn is_row_blocked<O: ArgOrder>(rows: usize) -> bool {
    has_row_groups::<O>() && rows >= const { min_blocked_rows::<O>() }
}

/// Whether any number of rows is. None is, if that would be more than a lane can count: so never for 8-bit lanes.
#[inline(always)]
pub(super) const fn has_row_groups<O: ArgOrder>() -> bool {
    O::Simd::TUNING.has_instructions && min_blocked_rows::<O>() < O::Simd::MAX_INDEX as usize
}

/// Whether they are in passes over [columns](super::strategy::Columns), not in [narrow ones](super::narrow) alone.
#[inline(always)]
pub(super) const fn has_row_blocked_passes<O: ArgOrder>() -> bool {
    has_row_groups::<O>() && O::Simd::TUNING.has_special_cases()
}

/// The fewest rows that are worth the search in the end.
#[inline(always)]
const fn min_blocked_rows<O: ArgOrder>() -> usize {
    if 12 * O::Simd::LANES < MIN_BLOCKED_ROWS { MIN_BLOCKED_ROWS } else { 12 * O::Simd::LANES }
}

/// The fewest rows of whatever lanes that are row-blocked. See docs/tuning.md#min_blocked_rows.
const MIN_BLOCKED_ROWS: usize = 128;

impl<O: ArgOrder, const U: usize> ColumnTile<O, U> {
    /// Reduces the whole groups of the rows that follow the first one, and gives the rows that are left. The answer is
    /// right only if `nan_tracker` is exact afterwards.
    #[inline(always)]
    pub(super) fn visit_groups<'r>(
        &mut self,
        order: O,
        rows: StridedRows<'r, O::Lane>,
        nan_tracker: &mut NanTracker<O>,
    ) -> StridedRows<'r, O::Lane> {
        let (groups, others) = rows.split_at(rows.count() / GROUP_ROWS * GROUP_ROWS);
        // Copies: what a call writes to does not stay in registers before and after it.
        let (mut tile, mut tracker) = (*self, *nan_tracker);
        // By references: what is passed by value takes registers that the loop needs.
        let (tile_ref, tracker_ref) = (&mut tile, &mut tracker);
        // Outlined, to have one copy for all callers.
        order.simd().outlined(
            #[inline(always)]
            move || tile_ref.reduce_groups(order, groups, tracker_ref),
        );
        (*self, *nan_tracker) = (tile, tracker);
        others
    }

    #[inline(always)]
    fn reduce_groups(&mut self, order: O, rows: StridedRows<'_, O::Lane>, nan_tracker: &mut NanTracker<O>) {
        assert!(rows.count() >= GROUP_ROWS && rows.width() >= O::Simd::LANES);
        let (simd, width) = (order.simd(), rows.width());
        let (mut best, mut tracker) = (self.best, *nan_tracker);
        // No group yet: rows in groups have numbers from 1 on.
        let mut group_of_best = [simd.splat_index(0); U];
        let stride = rows.stride().wrapping_mul(size_of::<O::Lane>() as isize);
        let (mut at, mut row) = (rows.as_ptr(), simd.splat_index(1));
        for _ in 0..rows.count() / GROUP_ROWS {
            // All vectors of a group before the next group: one vector of all groups would read each cache line several
            // times.
            for u in 0..U {
                let mut at = at.wrapping_add(start_of::<O>(u, width));
                let mut vectors = [order.identity(); GROUP_ROWS];
                let mut n = 0;
                while n < GROUP_ROWS {
                    // SAFETY: `at` is in row `n` of the group, a vector before its end or earlier.
                    vectors[n] = unsafe { order.load(at) };
                    at = at.wrapping_byte_offset(stride);
                    n += 1;
                }
                tracker.observe(order, &vectors);
                let new = max_numbers(order, &vectors);
                let better = order.gt(new, best[u]);
                best[u] = order.max(new, best[u]);
                group_of_best[u] = simd.select(better, row, group_of_best[u]);
            }
            row = simd.add(row, simd.splat_index(GROUP_ROWS as u32));
            at = at.wrapping_byte_offset(GROUP_ROWS as isize * stride);
        }
        *nan_tracker = tracker;
        self.best = best;
        for (u, (&best, group)) in best.iter().zip(group_of_best).enumerate() {
            let rows = rows.piece(start_of::<O>(u, width), O::Simd::LANES);
            // SAFETY: the loop above has given each lane 0, or the number of the first row of a group. (Where a lane
            // cannot count that far, it has the number of another group.)
            self.row_of_best[u] = unsafe { recover_row(order, rows, best, group) };
        }
    }
}

/// In which row each lane has its best, by the first row of its group, or 0 where no row was better than what came
/// before. Outlined, because all vectors of a tile share it.
///
/// # Safety
/// - Each lane of `group` is 0, or `1 + GROUP_ROWS * n` for a whole group `n` of the rows. There is a group, and rows
///   are a vector wide.
#[inline(always)]
unsafe fn recover_row<O: ArgOrder>(
    order: O,
    rows: StridedRows<'_, O::Lane>,
    best: Vec<O>,
    group: IndexVec<O>,
) -> IndexVec<O> {
    let simd = order.simd();
    simd.outlined(
        #[inline(always)]
        move || {
            let stride = rows.stride().wrapping_mul(size_of::<O::Lane>() as isize);
            let mut vectors = [const { MaybeUninit::<Vec<O>>::uninit() }; GROUP_ROWS];
            let elements = vectors.as_mut_ptr().cast::<O::Lane>();
            for (lane, &row) in simd.index_array(group).as_ref().iter().enumerate() {
                let row: u64 = row.into();
                // Where there is no such group, the first one is read, and what is found there does not matter.
                let first = (row as u32).saturating_sub(1) as isize;
                let mut at = rows.as_ptr().wrapping_byte_offset(first * stride).wrapping_add(lane);
                let mut n = 0;
                while n < GROUP_ROWS {
                    // SAFETY: row `n` of a group of the rows has an element for each lane, and so has vector `n`.
                    unsafe { elements.add(n * O::Simd::LANES + lane).write_unaligned(order.read(at)) };
                    at = at.wrapping_byte_offset(stride);
                    n += 1;
                }
            }
            // If it is in none of the others, it is in the last.
            let mut n = GROUP_ROWS - 1;
            let mut row_in_group = simd.splat_index(n as u32);
            while n > 0 {
                n -= 1;
                // SAFETY: all lanes of it were written above.
                let vector = order.encode(unsafe { vectors[n].assume_init() });
                row_in_group = simd.select(simd.compare::<EQ>(vector, best), simd.splat_index(n as u32), row_in_group);
            }
            let is_better = simd.index_gt(group, simd.splat_index(0));
            simd.add(group, simd.select(is_better, row_in_group, simd.splat_index(0)))
        },
    )
}
