//! Which lines of rows to ask for, how far ahead of those that are read.

use super::prefetch::{Hint, LINE};

/// Asks for some bytes of each of some rows, so many bytes apart; if one follows the other, for each line of all of
/// them once.
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

/// How far ahead to ask for elements that are far, a little for each that is looked at: what prefetchers ask for by
/// themselves is not enough to keep the memory busy.
pub(crate) const AHEAD_BYTES: usize = 16 << 10;

/// From one row, or block of rows, to one about so many bytes ahead, where they are `stride` elements of some size
/// apart.
#[inline(always)]
pub(crate) fn ahead(stride: isize, size: usize, bytes: usize) -> isize {
    // Of a loop of one step, the stride may be anything.
    let row = stride.unsigned_abs().saturating_mul(size).max(1);
    stride.wrapping_mul((bytes / row).max(1) as isize)
}

/// What to ask for, before so many rows: lines along the way that is as far further on.
///
/// Rows shorter than a line share one request, because to ask takes as long as to answer. Some hardware prefetchers do
/// not follow the loads of short rows, so that none at all would be slower; and lines along the way, a few at a time, are
/// better than many at once.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) rows: usize,
    hint: Hint,
    /// How many, the first so far from the first row, in bytes, and the others so far from each other.
    lines: usize,
    ahead: isize,
    step: isize,
}

impl Asked {
    /// Before all rows.
    pub(crate) const NOTHING: Asked = Asked { rows: usize::MAX, hint: Hint::L2, lines: 0, ahead: 0, step: 0 };

    /// Rows of so many bytes, `stride` bytes apart, of which some go side by side.
    #[inline(never)]
    pub(crate) fn of_rows(hint: Hint, len: usize, stride: isize, side_by_side: usize) -> Asked {
        let distance = stride.unsigned_abs();
        let is_dense = distance <= 2 * len;
        let rows = if is_dense && side_by_side == 1 { (LINE / len).max(1) } else { side_by_side };
        // No two farther from each other than a line, or else the first lines of each row, or all lines of one.
        let (lines, step) = match (rows, is_dense) {
            (_, true) => {
                let lines =
                    if side_by_side == 1 { (rows * distance).div_ceil(LINE) } else { rows * distance.div_ceil(LINE) };
                (lines, (rows * distance).div_ceil(lines.max(1)) as isize * stride.signum())
            }
            (1, false) => (len.div_ceil(LINE), LINE as isize),
            (rows, false) => (rows, stride),
        };
        Asked { rows, hint, lines, ahead: ahead(stride, 1, AHEAD_BYTES), step }
    }

    #[inline(always)]
    pub(crate) fn ask<T>(self, rows: *const T) {
        let mut at = rows.wrapping_byte_offset(self.ahead);
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

    /// No answer depends on it, so that no other test sees a line that nobody asks for.
    #[test]
    fn asks_for_every_line() {
        const ROWS: usize = 2048;
        for (len, distance) in
            [(1, 1), (20, 20), (20, 33), (63, 63), (64, 128), (65, 65), (84, 84), (400, 400), (447, 447)]
        {
            for (side_by_side, sign) in [(1, 1), (1, -1), (16, 1), (16, -1)] {
                let stride = sign * distance as isize;
                let asked = Asked::of_rows(Hint::L2, len, stride, side_by_side);
                let lines_from = |start: isize, bytes: usize| start >> 6..=(start + bytes as isize - 1) >> 6;
                let mut lines = BTreeSet::new();
                for block in 0..ROWS / asked.rows {
                    let start = 7 + (block * asked.rows) as isize * stride + asked.ahead;
                    lines.extend((0..asked.lines).map(|line| (start + line as isize * asked.step) >> 6));
                }
                // The rows that come so far after the first and before the last that what is asked for is all around
                // them.
                let steps = (asked.ahead / stride) as usize;
                for row in steps + 64..ROWS - 64 {
                    for line in lines_from(7 + row as isize * stride, len) {
                        assert!(lines.contains(&line), "row {row} of {len} bytes, {stride} apart, {side_by_side}");
                    }
                }
                assert_eq!(asked.rows % side_by_side, 0);
            }
        }
    }
}
