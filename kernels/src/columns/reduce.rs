//! One pass: a row of outputs is cut into register tiles, and each is reduced over all rows before the next one. All
//! three strategies for columns share this. Knows nothing of the loops of a call, and of panels.
//!
//! A tile is reduced by comparisons that ignore NaN. Only if there was one, it is reduced again by exact ones, and so
//! are those after it.

use super::nan_tracker::Seen;
use super::row_blocks::{are_tall, has_tall};
use super::tile::{GROUP, Group, Rows};
use crate::memory::row_prefetch::AHEAD_BYTES;
use crate::order::Order;
use crate::order::key::Lane;
use crate::positions::Positions;
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token};

/// Answers a row of outputs, at least a vector of them, and prefetches what is `ahead` elements further on. `so_far`
/// says whether to expect NaN, and learns whether there was one.
///
/// # Safety
/// - Each row, as wide as there are positions, may be read. There is at least one row, and at most as many as a lane
///   can count.
#[inline(always)]
pub(super) unsafe fn reduce<O: Order>(
    order: O,
    rows: Rows<O::Lane>,
    positions: Positions<'_>,
    ahead: Option<isize>,
    so_far: &mut Groups,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if const { has_groups::<O>() } {
            reduce_by::<O, GROUP, false>(order, rows, positions, ahead, so_far);
        } else {
            reduce_by::<O, 1, false>(order, rows, positions, ahead, so_far);
        }
    }
}

/// [`reduce`] of rows that [are many](are_tall), in row blocks. This is a separate outlined loop, because asking at
/// each tile would slow few rows down. It has no tiles of one vector, and no [pairs](Group::visit) for the rows that
/// blocks leave, to save code.
///
/// # Safety
/// - As for [`reduce`], of more than a vector of outputs.
#[inline(always)]
pub(super) unsafe fn reduce_tall<O: Order>(
    order: O,
    rows: Rows<O::Lane>,
    mut positions: Positions<'_>,
    ahead: Option<isize>,
    so_far: &mut Groups,
) {
    let (positions, so_far) = (&raw mut positions, &raw mut *so_far);
    // SAFETY: the caller's promise, and two borrows that nothing else uses meanwhile.
    unsafe { order.simd().call(Tall { order, rows, positions, ahead, so_far }) };
}

#[derive(Clone, Copy)]
struct Tall<'a, O: Order> {
    order: O,
    rows: Rows<O::Lane>,
    positions: *mut Positions<'a>,
    ahead: Option<isize>,
    so_far: *mut Groups,
}

impl<O: Order> Task for Tall<'_, O> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        let Tall { order, rows, ahead, .. } = self;
        // SAFETY: the caller's promise; it has lent both borrows.
        unsafe { reduce_by::<O, GROUP, true>(order, rows, (*self.positions).reborrow(), ahead, &mut *self.so_far) };
    }
}

/// Whether a tile is more than one vector. Of arrays, which the portable ISA has for vectors, the compiler makes better
/// code one at a time. See docs/tuning.md#register-tiles-4-vectors-or-2.
#[inline(always)]
pub(super) const fn has_groups<O: Order>() -> bool {
    O::Simd::TUNING.specializes
}

/// Cuts a row into tiles of up to `U` vectors. If `TALL`, rows that are many are taken in row blocks.
///
/// # Safety
/// - As for [`reduce`].
#[inline(always)]
unsafe fn reduce_by<O: Order, const U: usize, const TALL: bool>(
    order: O,
    rows: Rows<O::Lane>,
    mut positions: Positions<'_>,
    ahead: Option<isize>,
    so_far: &mut Groups,
) {
    let lanes = O::Simd::LANES;
    let width = positions.len();
    assert!(width >= if TALL { lanes + 1 } else { lanes });
    let mut start = 0;
    // SAFETY: the caller's promise; each group lies within the rows.
    unsafe {
        // Most tiles are in a loop of their own, where the compiler knows their width: that is much faster.
        while const { U > 1 } && start + U * lanes <= width {
            reduce_part::<O, U, TALL>(order, rows, &mut positions, start, U * lanes, ahead, so_far);
            start += U * lanes;
        }
        // The last tile overlaps the previous one: those outputs are answered twice, and the same. What is left goes
        // into one tile if it fills more than half of it, because vectors side by side need not wait for each other.
        if const { U > 1 } && width - start > U / 2 * lanes {
            let at = width.saturating_sub(U * lanes);
            reduce_part::<O, U, TALL>(order, rows, &mut positions, at, width - at, ahead, so_far);
            start = width;
        }
        if const { U > 1 } && width - start > if TALL { 0 } else { lanes } {
            let at = width.saturating_sub(2 * lanes);
            reduce_part::<O, 2, TALL>(order, rows, &mut positions, at, width - at, ahead, so_far);
            start = width;
        }
        while !TALL && start < width {
            let at = start.min(width - lanes);
            reduce_part::<O, 1, TALL>(order, rows, &mut positions, at, lanes, ahead, so_far);
            start += lanes;
        }
    }
}

/// Answers the outputs from `start` on by one tile of `U` vectors, more than half of which they fill.
///
/// # Safety
/// - As for [`reduce`].
#[inline(always)]
unsafe fn reduce_part<O: Order, const U: usize, const TALL: bool>(
    order: O,
    rows: Rows<O::Lane>,
    positions: &mut Positions<'_>,
    start: usize,
    width: usize,
    ahead: Option<isize>,
    so_far: &mut Groups,
) {
    let rows = rows.at(start);
    rows.prefetch(width, ahead);
    // SAFETY: the caller's promise.
    let group = unsafe { reduce_group::<O, U, 1, TALL>(order, [rows], width, usize::MAX, so_far) };
    group.write(order, positions, start, width);
}

/// A tile of `width` outputs, more than fit half of `U` vectors, over some rows and then some others.
///
/// Unless `most` is `usize::MAX`, the rows are contiguous, are taken `most` at a time, and what comes later is
/// prefetched meanwhile. `so_far` is as for [`reduce`], `TALL` as for [`reduce_by`].
///
/// # Safety
/// - Each row, `width` wide, may be read. There is at least one of the first rows, and all together are at most one
///   more than a lane can count.
#[inline(always)]
pub(super) unsafe fn reduce_group<O: Order, const U: usize, const P: usize, const TALL: bool>(
    order: O,
    parts: [Rows<O::Lane>; P],
    width: usize,
    most: usize,
    so_far: &mut Groups,
) -> Group<O, U> {
    // SAFETY: the caller's promise.
    unsafe {
        if !O::Lane::HAS_NAN || !so_far.has_nan {
            let (group, seen) = Group::over::<false, P, TALL>(order, parts, width, most);
            if seen.is_sure(order) {
                return group;
            }
            so_far.has_nan = true;
        }
        let exact = order.simd().call(Exactly::<O, U, P, TALL> { order, parts, width });
        // Copied vector by vector. Otherwise, the tile above would not stay in registers, because the call writes to
        // memory.
        let mut group = Group { best: [order.worst(); U], row_of_best: [order.simd().count(0); U] };
        for u in 0..U {
            group.best[u] = exact.best[u];
            group.row_of_best[u] = exact.row_of_best[u];
        }
        group
    }
}

impl<O: Order, const U: usize> Group<O, U> {
    /// A tile over some rows, then some others. If `TALL`, the first of them are taken in row blocks, where they are
    /// many and nothing is prefetched. If not `EXACT`, the answer is right only if what was seen [is
    /// sure](Seen::is_sure).
    ///
    /// # Safety
    /// - As for [`reduce_group`].
    #[inline(always)]
    pub(super) unsafe fn over<const EXACT: bool, const P: usize, const TALL: bool>(
        order: O,
        parts: [Rows<O::Lane>; P],
        width: usize,
        most: usize,
    ) -> (Self, Seen<O>) {
        // SAFETY: the caller's promise.
        let mut group = unsafe { Self::new(order, parts[0].first, width) };
        let (mut before, mut seen) = (0, Seen::new(order, &group.best));
        for (part, rows) in parts.into_iter().enumerate() {
            let mut rows = if part == 0 { rows.skip(1) } else { rows };
            if const { TALL && has_tall::<O>() } && part == 0 && most == usize::MAX && are_tall::<O>(parts[0].count) {
                let tall = rows.count;
                // SAFETY: the caller's promise.
                rows = unsafe { group.visit_chunks::<EXACT>(order, rows, width, &mut seen) };
                before = (tall - rows.count) as u32;
            }
            loop {
                let count = rows.count.min(most);
                let these = Rows { count, ..rows };
                if most < usize::MAX {
                    let ahead = (AHEAD_BYTES / size_of::<O::Lane>()) as isize;
                    these.prefetch(width, Some(ahead * rows.stride.signum()));
                }
                // SAFETY: the caller's promise.
                unsafe {
                    // Row blocks leave few rows: no pairs.
                    match const { TALL && P == 1 } {
                        true => group.visit::<EXACT, false>(order, these, width, before, &mut seen),
                        false => group.visit::<EXACT, true>(order, these, width, before, &mut seen),
                    }
                }
                before += count as u32;
                rows = rows.skip(count);
                if rows.count == 0 {
                    break;
                }
            }
        }
        (group, seen)
    }
}

/// The exact way, outlined, because NaN is rare.
#[derive(Clone, Copy)]
struct Exactly<O: Order, const U: usize, const P: usize, const TALL: bool> {
    order: O,
    parts: [Rows<O::Lane>; P],
    width: usize,
}

impl<O: Order, const U: usize, const P: usize, const TALL: bool> Task for Exactly<O, U, P, TALL> {
    type Output = Group<O, U>;

    #[inline(always)]
    unsafe fn run(self) -> Group<O, U> {
        let Exactly { order, parts, width } = self;
        // SAFETY: the caller's promise.
        unsafe {
            if const { TALL && O::Lane::HAS_NAN && has_tall::<O>() } && are_tall::<O>(parts[0].count) {
                let (group, seen) = Group::over::<true, P, true>(order, parts, width, usize::MAX);
                if seen.is_sure(order) {
                    return group;
                }
            }
            Group::over::<true, P, false>(order, parts, width, usize::MAX).0
        }
    }
}

/// What the tiles so far were like.
#[derive(Clone, Copy, Default)]
pub(super) struct Groups {
    has_nan: bool,
}
