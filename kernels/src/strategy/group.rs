//! Neighbouring outputs over rows of neighbours: each lane is one output. Per row: one load, one comparison, one maximum, one blend. What all
//! strategies for columns share; nothing here knows of tiles.
//!
//! What the blend keeps is the number of the row, counted in lanes as wide as the element.
//!
//! NaN is looked for once per pair of vectors, and comparisons that take account of it only start where one was found. 16-bit floats go by their bits first, then by those for what is below
//! zero, and by keys only where both are in doubt.

use super::luck::{Luck, Ways};
use super::run::has_bits;
use super::seen::Seen;
use crate::lanes::{Lanes, Task, Token};
use crate::order::{Count, Order, Vec};
use crate::prefetch::{AHEAD_BYTES, prefetch, prefetch_rows};
use core::mem::MaybeUninit;

/// Vectors in a group, unless fewer are left.
pub(super) const GROUP: usize = 4;
/// Rows that go by at a time: as many runs as the prefetchers of current cores follow.
pub(super) const ROWS: usize = 8;

/// Rows of as many neighbours as there are outputs.
#[derive(Clone, Copy)]
pub(super) struct Rows<L> {
    pub(super) first: *const L,
    /// From one row to the next, in elements.
    pub(super) stride: isize,
    pub(super) count: usize,
}

impl<L: Copy> Rows<L> {
    /// Asks for `width` elements of each row, from so many elements further on, which need not exist; if that is asked for.
    #[inline(always)]
    pub(super) fn prefetch(self, width: usize, ahead: Option<isize>) {
        let Some(ahead) = ahead else { return };
        let (size, at) = (size_of::<L>(), self.first.wrapping_offset(ahead));
        prefetch_rows(at.cast(), self.stride.wrapping_mul(size as isize), self.count, width * size);
    }

    #[inline(always)]
    pub(super) fn at(self, output: usize) -> Self {
        Rows { first: self.first.wrapping_add(output), ..self }
    }

    #[inline(always)]
    pub(super) fn skip(self, rows: usize) -> Self {
        let first = self.first.wrapping_offset(rows as isize * self.stride);
        Rows { first, count: self.count - rows, ..self }
    }
}

/// The bytes from the first of some rows to where the next one would be.
#[inline(always)]
pub(super) fn span<L>(rows: usize, stride: isize) -> usize {
    rows.saturating_mul(stride.unsigned_abs()).saturating_mul(size_of::<L>())
}

/// Answers at least a vector of outputs, by groups, each over all rows, and asks for others that are `ahead` elements further on. `so_far` says what
/// to expect of them, and learns what came of it.
///
/// # Safety
/// - Each row, as wide as there are positions, may be read. There is at least one row, and at most as many as a lane can count.
#[inline(always)]
pub(super) unsafe fn reduce<O: Order>(
    order: O,
    rows: Rows<O::Lane>,
    positions: &mut [MaybeUninit<u32>],
    ahead: Option<isize>,
    so_far: &mut Groups,
) {
    // SAFETY: the caller's promise.
    unsafe {
        // (A loop of their own, because few rows have no time for the question: 2 to 4 rows of 64 f16 ran at 0.9 of the speed with it.)
        if has_bits::<O>() && rows.count >= FEWEST_ROWS {
            reduce_by::<O, GROUP, true>(order, rows, positions, ahead, so_far);
        } else if has_groups::<O>() {
            reduce_by::<O, GROUP, false>(order, rows, positions, ahead, so_far);
        } else {
            reduce_by::<O, 1, false>(order, rows, positions, ahead, so_far);
        }
    }
}

/// Whether a group is more than a vector. Of arrays of bytes, the compiler makes vectors if they go one by one: 21 rows of 1000 u8 ran at 1.4 GB/s by groups, and
/// 8.5 without; f32 at 10.8 and 9.4, but over 3 rows at 7.4 and 4.2. (Zen 3, SSE2.) And groups took a fifth of the time to compile all that is portable.
#[inline(always)]
pub(super) const fn has_groups<O: Order>() -> bool {
    O::Simd::SPECIALIZES
}

/// By groups of up to `U` vectors.
///
/// # Safety
/// - As for [`reduce`].
#[inline(always)]
unsafe fn reduce_by<O: Order, const U: usize, const BITS: bool>(
    order: O,
    rows: Rows<O::Lane>,
    positions: &mut [MaybeUninit<u32>],
    ahead: Option<isize>,
    so_far: &mut Groups,
) {
    let lanes = O::Simd::LANES;
    let width = positions.len();
    assert!(width >= lanes);
    let mut start = 0;
    // SAFETY: the caller's promise; each group lies within the rows.
    unsafe {
        // Of a width that the compiler knows, and in a loop of its own: 3 rows of 1000 f32 ran at 0.42 of `read` otherwise, instead of 0.72.
        while U > 1 && start + U * lanes <= width {
            reduce_part::<O, U, BITS>(order, rows, &mut positions[start..][..U * lanes], start, ahead, so_far);
            start += U * lanes;
        }
        // What reaches back is answered twice, and the same. Vectors of one group go side by side; alone, each takes half as long again. (GB/s one by one and two by
        // two: 8 i64 over 3, 21 and 1000 rows 53 and 71, 71 and 87, 33 and 64, 16 f32 41 and 53, 66 and 86, 51 and 86; 5 and 7 i64 over 1000 rows 20 and 40, 28 and 55; Zen
        // 5, AVX2.)
        if U > 1 && width - start > U / 2 * lanes {
            let at = width.saturating_sub(U * lanes);
            reduce_part::<O, U, BITS>(order, rows, &mut positions[at..], at, ahead, so_far);
            start = width;
        }
        if U > 1 && width - start > lanes {
            let at = width.saturating_sub(2 * lanes);
            reduce_part::<O, 2, BITS>(order, rows, &mut positions[at..], at, ahead, so_far);
            start = width;
        }
        while start < width {
            let at = start.min(width - lanes);
            reduce_part::<O, 1, BITS>(order, rows, &mut positions[at..][..lanes], at, ahead, so_far);
            start += lanes;
        }
    }
}

/// By one group of `U` vectors, more than half of which the outputs fill, the first of them output `start`.
///
/// # Safety
/// - As for [`reduce`].
#[inline(always)]
unsafe fn reduce_part<O: Order, const U: usize, const BITS: bool>(
    order: O,
    rows: Rows<O::Lane>,
    positions: &mut [MaybeUninit<u32>],
    start: usize,
    ahead: Option<isize>,
    so_far: &mut Groups,
) {
    let rows = rows.at(start);
    rows.prefetch(positions.len(), ahead);
    // SAFETY: the caller's promise.
    let group = unsafe { reduce_group::<O, U, 1, BITS>(order, [rows], positions.len(), usize::MAX, so_far) };
    group.write(order, positions);
}

/// Reduces `width` outputs, more than fit half of `U` vectors, over some rows and then some others, and asks for as many further on, `most` rows at a time,
/// unless that is `usize::MAX`; then the rows follow each other. `so_far` is as for [`reduce`]; if `BITS`, an order that has bits tries them.
///
/// # Safety
/// - Each row, `width` wide, may be read. There is at least one of the first rows, and all together are at most one more than a lane can count.
#[inline(always)]
pub(super) unsafe fn reduce_group<O: Order, const U: usize, const P: usize, const BITS: bool>(
    order: O,
    parts: [Rows<O::Lane>; P],
    width: usize,
    most: usize,
    so_far: &mut Groups,
) -> Group<O, U> {
    // SAFETY: the caller's promise.
    unsafe {
        if BITS && has_bits::<O>() {
            if let Some(group) = try_order(order, order.bits(), parts, width, most, &mut so_far.ways.bits) {
                return group;
            }
            if let Some(group) =
                try_order(order, order.bits_below_zero(), parts, width, most, &mut so_far.ways.below_zero)
            {
                return group;
            }
        }
        if !O::HAS_NAN || !so_far.has_nan {
            let (group, seen) = Group::over::<false, P>(order, parts, width, most);
            if seen.is_sure(order, &group.best) {
                return group;
            }
            so_far.has_nan = true;
        }
        let exact = order.simd().call(Exactly::<O, U, P> { order, parts, width });
        // Vector by vector, or else the other group above would not stay in registers, because a call writes to memory.
        let mut group = Group { best: [order.worst(); U], row_of_best: [order.simd().count(0); U] };
        for u in 0..U {
            group.best[u] = exact.best[u];
            group.row_of_best[u] = exact.row_of_best[u];
        }
        group
    }
}

/// The same by another order of the same elements, if it is worth a try, and has no doubts in the end.
///
/// # Safety
/// - As for [`reduce_group`].
#[inline(always)]
unsafe fn try_order<O: Order, B: Order<Lane = O::Lane, Simd = O::Simd>, const U: usize, const P: usize>(
    order: O,
    other: B,
    parts: [Rows<O::Lane>; P],
    width: usize,
    most: usize,
    luck: &mut Luck,
) -> Option<Group<O, U>> {
    if !luck.tries() {
        return None;
    }
    // SAFETY: the caller's promise.
    let (group, seen) = unsafe { Group::<B, U>::over::<false, P>(other, parts, width, most) };
    let is_sure = seen.is_sure(other, &group.best);
    luck.learn(is_sure);
    if is_sure { Some(group.in_order(order, other)) } else { None }
}

/// A call of its own: NaN is rare enough.
#[derive(Clone, Copy)]
struct Exactly<O: Order, const U: usize, const P: usize> {
    order: O,
    parts: [Rows<O::Lane>; P],
    width: usize,
}

impl<O: Order, const U: usize, const P: usize> Task for Exactly<O, U, P> {
    type Output = Group<O, U>;

    #[inline(always)]
    fn run(self) -> Group<O, U> {
        // SAFETY: the promise of the caller of `reduce_group`, where the only one is made.
        unsafe { Group::over::<true, P>(self.order, self.parts, self.width, usize::MAX).0 }
    }
}

/// Of fewer rows, some output of a group is likely to have nothing above zero.
const FEWEST_ROWS: usize = 8;

/// What the groups so far were like.
#[derive(Clone, Copy, Default)]
pub(super) struct Groups {
    has_nan: bool,
    /// What came of bits, which take four operations per vector and row, where keys take seven. (In L2, GB/s by keys and by bits: 21 rows of 64 f16 47 and 79, of 31 50 and 65, of 3 22 and
    /// 29, 64 rows of 1000 42 and 76, 1000 rows of 64 42 and 99, 10 rows of 1000, of which a group of sixteen is in doubt, 55 and 76; with 5 % of NaN, by which all are, 43 and 42; Zen 4, AVX2.)
    ways: Ways,
}

/// `U` vectors of outputs, over the rows so far.
#[derive(Clone, Copy)]
pub(super) struct Group<O: Order, const U: usize> {
    pub(super) best: [Vec<O>; U],
    /// The number of the row of the best; what it counts from is the caller's to say.
    pub(super) row_of_best: [Count<O>; U],
}

impl<O: Order, const U: usize> Group<O, U> {
    /// The same in another order of the same elements.
    #[inline(always)]
    fn in_order<A: Order<Lane = O::Lane, Simd = O::Simd>>(self, order: A, this: O) -> Group<A, U> {
        let mut best = [order.worst(); U];
        let mut u = 0;
        while u < U {
            best[u] = order.of_other(this, self.best[u]);
            u += 1;
        }
        Group { best, row_of_best: self.row_of_best }
    }

    /// The output that vector `u` starts with: one vector after another, but the last reach back to be within the width.
    #[inline(always)]
    pub(super) fn start_of(u: usize, width: usize) -> usize {
        (u * O::Simd::LANES).min(width - O::Simd::LANES)
    }

    /// # Safety
    /// - A row of `width` elements, at least a vector, may be read from there on.
    #[inline(always)]
    pub(super) unsafe fn load(order: O, at: *const O::Lane, width: usize) -> [Vec<O>; U] {
        let mut vectors = [order.worst(); U];
        let mut u = 0;
        while u < U {
            // SAFETY: the caller promises a row of that width.
            vectors[u] = unsafe { order.load(at.add(Self::start_of(u, width))) };
            u += 1;
        }
        vectors
    }

    /// After the first row, which is the best so far whatever it holds, with number 0.
    ///
    /// # Safety
    /// - As for [`Group::load`].
    #[inline(always)]
    pub(super) unsafe fn new(order: O, first: *const O::Lane, width: usize) -> Self {
        // SAFETY: the caller's promise.
        Group { best: unsafe { Self::load(order, first, width) }, row_of_best: [order.simd().count(0); U] }
    }

    /// After some rows, then some others. If not `EXACT`, the answer holds only if what was seen leaves it [sure](Seen::is_sure).
    ///
    /// # Safety
    /// - As for [`reduce_group`].
    #[inline(always)]
    unsafe fn over<const EXACT: bool, const P: usize>(
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
            loop {
                let count = rows.count.min(most);
                if most < usize::MAX {
                    let bytes = span::<O::Lane>(count, rows.stride);
                    prefetch(rows.first.wrapping_byte_add(AHEAD_BYTES), bytes);
                }
                // SAFETY: the caller's promise.
                unsafe { group.visit::<EXACT>(order, Rows { count, ..rows }, width, before, &mut seen) };
                before += count as u32;
                rows = rows.skip(count);
                if rows.count == 0 {
                    break;
                }
            }
        }
        (group, seen)
    }

    /// Whether many rows go by two at a time, of which the better is compared with what is kept: as many operations, but half as many that wait for each other, which is what
    /// groups of one or two vectors take their time for. (Zen 5, AVX2, GB/s in L2 one by one and in pairs: 21, 64 and 1000 rows of 8 i64 95, 78, 71 and 117, 113, 117, 1000 of 5 45
    /// and 73, of 8 and 16 i32 106 and 119, of 16 and 31 i16 106 and 119, of 31 and 64 u8 94 and 99, 96 and 103; 10 and 21 rows of 16 i32 121, 123 and 115, 119. Floats 0.96 to 1.04, and 16-bit
    /// ones by bits 1.13, for 6 KB; AVX-512 0.92 to 1.06.)
    const IN_PAIRS: bool = U <= 2 && O::Simd::UNROLLS && !O::HAS_NAN && !O::HAS_BITS && !O::DOUBTS;
    /// That many.
    const FEWEST_IN_PAIRS: usize = if O::Simd::HAS_MAX { 32 } else { 16 };

    /// Goes on with some rows, the first of which has number `before + 1`. If not `EXACT`, the answer holds only if what is seen leaves it sure.
    ///
    /// # Safety
    /// - As for [`Group::load`], each row.
    #[inline(always)]
    pub(super) unsafe fn visit<const EXACT: bool>(
        &mut self,
        order: O,
        rows: Rows<O::Lane>,
        width: usize,
        before: u32,
        seen: &mut Seen<O>,
    ) {
        let simd = order.simd();
        // Locals, so that they stay in registers.
        let Group { mut best, mut row_of_best } = *self;
        let mut row = simd.count(before);
        let mut so_far = *seen;
        // In bytes: an addition is shorter than one that is scaled, by a byte that kept the loop from two cache lines: 3 columns of 1000 f64 ran at 47 GB/s
        // instead of 65. (Zen 5, AVX2.)
        let stride = rows.stride.wrapping_mul(size_of::<O::Lane>() as isize);
        let mut at = rows.first;
        let mut left = rows.count;
        while Self::IN_PAIRS && !EXACT && rows.count >= Self::FEWEST_IN_PAIRS && left >= 2 {
            let (next, after) = (simd.add(row, simd.count(1)), simd.add(row, simd.count(2)));
            // SAFETY: the caller's promise.
            let (new, newer) =
                unsafe { (Self::load(order, at, width), Self::load(order, at.wrapping_byte_offset(stride), width)) };
            for u in 0..U {
                let row_of_new = simd.select_count(order.above(newer[u], new[u]), after, next);
                let new = order.fold(newer[u], new[u]);
                let better = order.above(new, best[u]);
                best[u] = order.fold(new, best[u]);
                row_of_best[u] = simd.select_count(better, row_of_new, row_of_best[u]);
            }
            row = after;
            at = at.wrapping_byte_offset(2 * stride);
            left -= 2;
        }
        for _ in 0..left {
            row = simd.add(row, simd.count(1));
            // SAFETY: the caller's promise.
            let new = unsafe { Self::load(order, at, width) };
            if !EXACT {
                so_far.look(order, &new);
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
            at = at.wrapping_byte_offset(stride);
        }
        *self = Group { best, row_of_best };
        *seen = so_far;
    }

    /// The numbers of the rows are the positions, of as many outputs as the group is wide.
    #[inline(always)]
    pub(super) fn write(&self, order: O, positions: &mut [MaybeUninit<u32>]) {
        let width = positions.len();
        for (u, rows) in self.row_of_best.iter().enumerate() {
            let positions = &mut positions[Self::start_of(u, width)..][..O::Simd::LANES];
            for (position, &row) in positions.iter_mut().zip(order.simd().counts(*rows).as_ref()) {
                position.write(row.into() as u32);
            }
        }
    }
}
