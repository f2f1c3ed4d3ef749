//! Lines of neighbouring outputs over rows of neighbours, each group of vectors over all rows before the next one: what all strategies for columns share. Nothing here knows of tiles.
//!
//! NaN is looked for once per pair of vectors, and comparisons that take account of it only start where one was found.

use super::nan_tracker::Seen;
use super::row_blocks::{are_tall, has_tall};
use super::tile::{GROUP, Group, Rows};
use crate::memory::row_prefetch::AHEAD_BYTES;
use crate::order::Order;
use crate::positions::Positions;
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token};

/// Answers at least a vector of outputs, by groups, each over all rows, and asks for others that are `ahead` elements further on. `so_far` says what
/// to expect of them, and learns what came of it.
///
/// # Safety
/// - Each row, as wide as there are positions, may be read. There is at least one row, and at most as many as a lane can count.
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

/// [`reduce`] of rows that [are tall](are_tall). A call of its own, with loops of its own: few rows have no time for the question. (2 to 4 rows of 1000 u64 ran at 0.87 of the speed with it at each
/// group; AVX-512, a Xeon.) There are no groups of one vector, of which the last outputs may be: without them, and without [pairs](Group::visit) for what chunks leave, it is 40 KB less of the shared object.
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

/// Whether a group is more than a vector. Of arrays of bytes, the compiler makes vectors if they go one by one: 21 rows of 1000 u8 ran at 1.4 GB/s by groups, and
/// 8.5 without; f32 at 10.8 and 9.4, but over 3 rows at 7.4 and 4.2. (Zen 3, SSE2.) And groups took a fifth of the time to compile all that is portable.
#[inline(always)]
pub(super) const fn has_groups<O: Order>() -> bool {
    O::Simd::SPECIALIZES
}

/// By groups of up to `U` vectors; if `TALL`, rows that are tall go by in chunks.
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
        // Of a width that the compiler knows, and in a loop of its own: 3 rows of 1000 f32 ran at 0.42 of `read` otherwise, instead of 0.72.
        while const { U > 1 } && start + U * lanes <= width {
            reduce_part::<O, U, TALL>(order, rows, &mut positions, start, U * lanes, ahead, so_far);
            start += U * lanes;
        }
        // What reaches back is answered twice, and the same. Vectors of one group go side by side; alone, each takes half as long again. (GB/s one by one and two by
        // two: 8 i64 over 3, 21 and 1000 rows 53 and 71, 71 and 87, 33 and 64, 16 f32 41 and 53, 66 and 86, 51 and 86; 5 and 7 i64 over 1000 rows 20 and 40, 28 and 55; Zen
        // 5, AVX2.)
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

/// By one group of `U` vectors, more than half of which `width` outputs fill, the first of them output `start`.
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

/// Reduces `width` outputs, more than fit half of `U` vectors, over some rows and then some others, and asks for as many further on, `most` rows at a time,
/// unless that is `usize::MAX`; then the rows follow each other. `so_far` is as for [`reduce`], `TALL` as for [`reduce_by`].
///
/// # Safety
/// - Each row, `width` wide, may be read. There is at least one of the first rows, and all together are at most one more than a lane can count.
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
        if !O::HAS_NAN || !so_far.has_nan {
            let (group, seen) = Group::over::<false, P, TALL>(order, parts, width, most);
            if seen.is_sure(order) {
                return group;
            }
            so_far.has_nan = true;
        }
        let exact = order.simd().call(Exactly::<O, U, P, TALL> { order, parts, width });
        // Vector by vector, or else the other group above would not stay in registers, because a call writes to memory.
        let mut group = Group { best: [order.worst(); U], row_of_best: [order.simd().count(0); U] };
        for u in 0..U {
            group.best[u] = exact.best[u];
            group.row_of_best[u] = exact.row_of_best[u];
        }
        group
    }
}

impl<O: Order, const U: usize> Group<O, U> {
    /// After some rows, then some others; if `TALL`, the first of them in chunks, where they are many and nothing is asked for. If not `EXACT`, the answer holds only if what was seen leaves it [sure](Seen::is_sure).
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
                    // What is left of chunks is few.
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

/// A call of its own: NaN is rare enough.
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
            if const { TALL && O::HAS_NAN && has_tall::<O>() } && are_tall::<O>(parts[0].count) {
                let (group, seen) = Group::over::<true, P, true>(order, parts, width, usize::MAX);
                if seen.is_sure(order) {
                    return group;
                }
            }
            Group::over::<true, P, false>(order, parts, width, usize::MAX).0
        }
    }
}

/// What the groups so far were like.
#[derive(Clone, Copy, Default)]
pub(super) struct Groups {
    has_nan: bool,
}
