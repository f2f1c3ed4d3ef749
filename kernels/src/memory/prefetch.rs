//! Asking for memory ahead of its use. What is asked for need not exist; no answer depends on it.

/// What to ask for ahead of its use. No answer depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefetch {
    /// Nothing, because the elements are likely in the L2 cache: rows would lose up to a sixth of their speed.
    #[default]
    Nothing,
    /// What follows in long rows, of elements that the L2 cache likely holds, but L1 does not.
    FromL2,
    /// What the prefetchers of the CPU do not follow: jumps.
    Jumps,
    /// Everything, of elements that the L3 cache likely holds.
    FromL3,
    /// Everything, of elements that it does not.
    Everything,
}

impl Prefetch {
    /// Whether to ask for what follows in memory, or jumps.
    #[inline(always)]
    pub(crate) fn asks(self, jumps: bool) -> bool {
        match self {
            Prefetch::Nothing | Prefetch::FromL2 => false,
            Prefetch::Jumps => jumps,
            Prefetch::FromL3 | Prefetch::Everything => true,
        }
    }
}

/// Bytes that come together. (Some CPUs have longer lines: those are asked for twice.)
pub(crate) const LINE: usize = 64;

/// The cache that elements are prefetched into.
///
/// What is asked for along the way, a few lines for as many bytes as are read, comes at the speed of memory; what is asked
/// for at once waits for room in the queue of misses, and so does what comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// As near as can be.
    L1,
    /// Not so near that what waits for L1 takes the room of what is read.
    L2,
}

impl Hint {
    /// Asks for each cache line of some bytes. On other machines than x86-64, where nobody has measured what it is good for,
    /// it does nothing.
    #[inline(always)]
    pub(crate) fn prefetch<T>(self, at: *const T, bytes: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
            let mut line = 0;
            while line < bytes {
                let at = at.cast::<u8>().wrapping_add(line).cast();
                // SAFETY: every x86-64 has SSE, and no address is wrong.
                unsafe {
                    match self {
                        Hint::L1 => _mm_prefetch::<_MM_HINT_T0>(at),
                        Hint::L2 => _mm_prefetch::<_MM_HINT_T1>(at),
                    }
                }
                line += LINE;
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (at, bytes);
    }
}

/// What to ask for meanwhile: from where on, and into which cache. It need not exist.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    at: *const u8,
    hint: Hint,
}

impl Ahead {
    #[inline(always)]
    pub(crate) fn new<T>(at: *const T, hint: Hint) -> Self {
        Ahead { at: at.cast(), hint }
    }

    /// So many bytes further on.
    #[inline(always)]
    pub(crate) fn moved(self, bytes: isize) -> Self {
        Ahead { at: self.at.wrapping_offset(bytes), ..self }
    }

    /// Asks for some bytes.
    #[inline(always)]
    pub(crate) fn prefetch(self, bytes: usize) {
        self.hint.prefetch(self.at, bytes);
    }

    /// Asks for some bytes, and goes on behind them.
    #[inline(always)]
    pub(crate) fn take(&mut self, bytes: usize) {
        self.prefetch(bytes);
        self.at = self.at.wrapping_add(bytes);
    }
}

/// Asks for some bytes of each of some rows, so many bytes apart; if one follows the other, for each line of all of them once. (A call: it was 38 KB of the shared object.)
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

/// How far ahead to ask for elements that are far, a little for each that is looked at: what prefetchers ask for by themselves is not enough to keep
/// the memory busy. (Zen 5, 64 MiB over and over, some of which L3 keeps, GB/s without it, 4 KiB, 8 and 16 ahead, by AVX-512: one row of f32 37, 48, 54 and 52, of
/// i64 41, 51, 55 and 52, rows of 1000 f32 asked for at once 46, and along the way 44, 49 and 53, of 64 f32 44, 54 and 62 from 4 KiB on, 16 columns of 1000 f32 16,
/// 43, 52 and 56; by AVX2 as much, or more; 32 KiB were hardly ever better. Of 256 MiB, one row of f32 31 and 38. In L2, rows lost up to a sixth by it, so that it
/// is for far ones only.)
pub(crate) const AHEAD_BYTES: usize = 16 << 10;

/// The same for elements in the L2 cache, on Intel's cores, where what waits for a load that is not in L1 seems to be in the way of what could run: of long rows, the loop alone, with longer chunks,
/// ran at 92 GB/s as it is, at 96 with 512 bytes ahead asked for, and at 105 with 1 KiB; of vectors that begin 16 bytes after a line at 79 and at 96. (f32, AVX2, a Xeon.)
pub(crate) const NEAR_BYTES: usize = 1 << 10;

/// From one row, or block of rows, to one about so many bytes ahead, where they are `stride` elements of some size apart.
#[inline(always)]
pub(crate) fn ahead(stride: isize, size: usize, bytes: usize) -> isize {
    // Of a loop of one step, the stride may be anything.
    let row = stride.unsigned_abs().saturating_mul(size).max(1);
    stride.wrapping_mul((bytes / row).max(1) as isize)
}

/// What to ask for, before so many rows: lines along the way that is as far further on.
///
/// Rows shorter than a line share one request, because to ask takes as long as to answer (rows of 7 and 10 u8 lost 0.4 by one for each; Zen 5, AVX2). None at all is left to
/// prefetchers, which follow such loads on Zen, but not on a Xeon with 480 MiB of L3: rows of 10 f16, u8 and 7 f32 from L3 went from 2.4, 4.9 and 7 to 8, 9 and 15 GB/s. There,
/// a few at a time are better than 1 KiB at once (10 f32 23 and 19), and a little less than a line apart better than each line once: rows of 64 and 100 f32 went from 23
/// and 25 to 29.
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
                // The rows that come so far after the first and before the last that what is asked for is all around them.
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
