//! Which cache lines of rows to prefetch, and how far ahead of the rows that are read. Knows nothing of element types,
//! and of when prefetching pays.

use crate::prefetch::{CACHE_LINE_BYTES, Hint};

/// Prefetches some bytes of each of some rows, `stride` bytes apart; if rows are contiguous, each cache line once. Not
/// inlined, to have one copy for all kernels.
#[inline(never)]
pub(crate) fn prefetch_rows(hint: Hint, first: *const u8, stride: isize, rows: usize, bytes: usize) {
    if stride.unsigned_abs() == bytes {
        let back = if stride < 0 { rows.saturating_sub(1) * bytes } else { 0 };
        return hint.prefetch(first.wrapping_sub(back), rows * bytes);
    }
    for row in 0..rows {
        hint.prefetch(first.wrapping_offset(stride.wrapping_mul(row as isize)), bytes);
    }
}

/// How far ahead to prefetch elements that are beyond L2, a few lines for each row that is read. If it is less, memory
/// is not kept busy. See docs/tuning.md#prefetch_distance_bytes.
pub(crate) const PREFETCH_DISTANCE_BYTES: usize = 16 << 10;

/// From one row, or from some rows, to one about `bytes` bytes ahead, where they are `stride` elements of `size` bytes
/// apart.
#[inline(always)]
pub(crate) fn prefetch_distance(stride: isize, size: usize, bytes: usize) -> isize {
    // In a loop of one step, the stride may be anything.
    let row = stride.unsigned_abs().saturating_mul(size).max(1);
    stride.wrapping_mul((bytes / row).max(1) as isize)
}

/// What to prefetch before some rows are read: a few cache lines of rows further on.
///
/// Rows shorter than a cache line share one request, because a request takes as long as such a row. Requests are a
/// little less than a line apart, which is better than each line once. See docs/tuning.md#short-rows-share-requests.
#[derive(Clone, Copy)]
pub(crate) struct RowPrefetcher {
    /// Before how many rows each time.
    pub(crate) rows: usize,
    hint: Hint,
    /// How many lines, how far ahead the first one is, and how far they are apart, in bytes.
    lines: usize,
    offset: isize,
    step: isize,
}

impl RowPrefetcher {
    pub(crate) const NOTHING: RowPrefetcher =
        RowPrefetcher { rows: usize::MAX, hint: Hint::L2, lines: 0, offset: 0, step: 0 };

    /// Rows of `len` bytes, `stride` bytes apart.
    #[inline(never)]
    pub(crate) fn of_rows(hint: Hint, len: usize, stride: isize, side_by_side: usize) -> RowPrefetcher {
        let distance = stride.unsigned_abs();
        let is_dense = distance <= 2 * len;
        let rows = if is_dense && side_by_side == 1 { (CACHE_LINE_BYTES / len).max(1) } else { side_by_side };
        // Addresses no farther apart than a cache line; if there are gaps between rows, lines of the rows alone.
        let (lines, step) = match (rows, is_dense) {
            (_, true) => {
                let lines = if side_by_side == 1 {
                    (rows * distance).div_ceil(CACHE_LINE_BYTES)
                } else {
                    rows * distance.div_ceil(CACHE_LINE_BYTES)
                };
                (lines, (rows * distance).div_ceil(lines.max(1)) as isize * stride.signum())
            }
            (1, false) => (len.div_ceil(CACHE_LINE_BYTES), CACHE_LINE_BYTES as isize),
            (rows, false) => (rows, stride),
        };
        RowPrefetcher { rows, hint, lines, offset: prefetch_distance(stride, 1, PREFETCH_DISTANCE_BYTES), step }
    }

    /// Prefetches, before the rows that begin at `rows`.
    #[inline(always)]
    pub(crate) fn issue_prefetch<T>(self, rows: *const T) {
        let mut at = rows.wrapping_byte_offset(self.offset);
        for _ in 0..self.lines {
            self.hint.prefetch(at, 1);
            at = at.wrapping_byte_offset(self.step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// No answer depends on it, so that no other test sees a line that is not prefetched.
    #[test]
    fn prefetches_every_line() {
        const ROWS: usize = 2048;
        for (len, distance) in
            [(1, 1), (20, 20), (20, 33), (63, 63), (64, 128), (65, 65), (84, 84), (400, 400), (447, 447)]
        {
            for (side_by_side, sign) in [(1, 1), (1, -1), (16, 1), (16, -1)] {
                let stride = sign * distance as isize;
                let prefetcher = RowPrefetcher::of_rows(Hint::L2, len, stride, side_by_side);
                let lines_from = |start: isize, bytes: usize| start >> 6..=(start + bytes as isize - 1) >> 6;
                let mut lines = BTreeSet::new();
                for time in 0..ROWS / prefetcher.rows {
                    let start = 7 + (time * prefetcher.rows) as isize * stride + prefetcher.offset;
                    lines.extend((0..prefetcher.lines).map(|line| (start + line as isize * prefetcher.step) >> 6));
                }
                // Rows that come late enough after the first one, and early enough before the last one, for all around
                // them to be prefetched.
                let steps = (prefetcher.offset / stride) as usize;
                for row in steps + 64..ROWS - 64 {
                    for line in lines_from(7 + row as isize * stride, len) {
                        assert!(lines.contains(&line), "row {row} of {len} bytes, {stride} apart, {side_by_side}");
                    }
                }
                assert_eq!(prefetcher.rows % side_by_side, 0);
            }
        }
    }
}
