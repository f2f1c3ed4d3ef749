//! Some vectors of neighbouring outputs over rows of neighbours: each lane is one output. Per row: one load, one comparison, one maximum, one blend. Nothing here knows of lines or tiles.
//!
//! What the blend keeps is the number of the row, counted in lanes as wide as the element.

use super::nan_tracker::Seen;
use crate::memory::prefetch::Hint;
use crate::memory::row_prefetch::prefetch_rows;
use crate::order::{Count, Order, Vec};
use crate::positions::{Positions, for_places, write_counts};
use crate::simd::ops::Lanes;
use crate::simd::token::Token;

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
    /// The cache that others are prefetched into.
    pub(super) hint: Hint,
}

impl<L: Copy> Rows<L> {
    /// Asks for `width` elements of each row, from so many elements further on, which need not exist; if that is asked for.
    #[inline(always)]
    pub(super) fn prefetch(self, width: usize, ahead: Option<isize>) {
        let Some(ahead) = ahead else { return };
        let (size, at) = (size_of::<L>(), self.first.wrapping_offset(ahead));
        prefetch_rows(self.hint, at.cast(), self.stride.wrapping_mul(size as isize), self.count, width * size);
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

/// `U` vectors of outputs, over the rows so far.
#[derive(Clone, Copy)]
pub(super) struct Group<O: Order, const U: usize> {
    pub(super) best: [Vec<O>; U],
    /// The number of the row of the best; what it counts from is the caller's to say.
    pub(super) row_of_best: [Count<O>; U],
}

impl<O: Order, const U: usize> Group<O, U> {
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

    /// Whether rows go by two at a time, of which the better is compared with what is kept. That takes an operation more and a blend less for two rows, which is a sixth of all of them where a blend is three, as
    /// on Intel's cores; and half as many rows wait for each other, which is what groups of one or two vectors take their time for elsewhere. (In L2, GB/s one by one and in pairs: a Xeon, AVX2, 10 rows of 1000 f32 45 and 51, i32
    /// 55 and 64, i64 43 and 49, u8 57 and 62, 21 rows of 16 f64 42 and 49, i32 43 and 50, 4 rows of 31 f32 37 and 45. Zen 5, by a blend in place of the additional operation: 21, 64 and 1000 rows of 8 i64 95, 78, 71 and 117,
    /// 113, 117, of 16 i32 121, 123 and 115, 119, floats 0.96 to 1.04; AVX-512, where a blend is one operation, 0.92 to 1.06.)
    const IN_PAIRS: bool = O::Simd::UNROLLS;
    /// The fewest that do. (3 rows of 1000 i8 64 and 57.)
    const FEWEST_IN_PAIRS: usize = if size_of::<O::Lane>() == 1 { 4 } else { 2 };

    /// Goes on with some rows, the first of which has number `before + 1`; if `IN_PAIRS`, [in pairs](Group::IN_PAIRS). If not `EXACT`, the answer holds only if what is seen leaves it sure.
    ///
    /// # Safety
    /// - As for [`Group::load`], each row.
    #[inline(always)]
    pub(super) unsafe fn visit<const EXACT: bool, const IN_PAIRS: bool>(
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
        let mut row = simd.count(before + 1);
        let mut so_far = *seen;
        // In bytes: an addition is shorter than one that is scaled, by a byte that kept the loop from two cache lines: 3 columns of 1000 f64 ran at 47 GB/s
        // instead of 65. (Zen 5, AVX2.)
        let stride = rows.stride.wrapping_mul(size_of::<O::Lane>() as isize);
        let mut at = rows.first;
        let mut left = rows.count;
        while const { IN_PAIRS && Self::IN_PAIRS && !EXACT } && rows.count >= Self::FEWEST_IN_PAIRS && left >= 2 {
            for u in 0..U {
                let at = at.wrapping_add(Self::start_of(u, width));
                // SAFETY: the caller's promise.
                let (new, newer) = unsafe { (order.load(at), order.load(at.wrapping_byte_offset(stride))) };
                so_far.look(order, &[new, newer]);
                let row_of_new = simd.add_one(order.above(newer, new), row);
                let new = order.fold(newer, new);
                let better = order.above(new, best[u]);
                best[u] = order.fold(new, best[u]);
                row_of_best[u] = simd.select_count(better, row_of_new, row_of_best[u]);
            }
            row = simd.add(row, simd.count(2));
            at = at.wrapping_byte_offset(2 * stride);
            left -= 2;
        }
        for _ in 0..left {
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
            row = simd.add(row, simd.count(1));
            at = at.wrapping_byte_offset(stride);
        }
        *self = Group { best, row_of_best };
        *seen = so_far;
    }

    /// The numbers of the rows are the positions, of `width` outputs from one on.
    #[inline(always)]
    pub(super) fn write(&self, order: O, positions: &mut Positions<'_>, start: usize, width: usize) {
        for_places!(positions, positions => {
            let positions = &mut positions[start..][..width];
            for (u, rows) in self.row_of_best.iter().enumerate() {
                let positions = &mut positions[Self::start_of(u, width)..][..O::Simd::LANES];
                write_counts(positions, order.simd().counts(*rows).as_ref());
            }
        });
    }
}
