//! Asking for memory ahead of its use. What is asked for need not exist; no answer depends on it.

#[cfg(target_arch = "x86_64")]
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

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

/// So many bytes, or more, are likely to be beyond L3 in part, with all else that was read before. (21 rows of 262144 f32, 21 MiB, that L3 does not hold, by AVX2, as what it does 25 GB/s, and as
/// what it does not 33; Zen 5, with 32 MiB.)
const LIKELY_IN_L3: usize = 16 << 20;

/// So many bytes, or more, are beyond the L1 cache of Intel's cores. (What it holds is not asked for: a loop of its own ran at 0.85 to 0.95 of its speed.)
const BEYOND_L1: usize = 48 << 10;

impl Prefetch {
    /// What to ask this machine for, of so many bytes.
    ///
    /// ```
    /// use argreduce_kernels::Prefetch;
    /// assert_eq!(Prefetch::of(4096), Prefetch::Nothing);
    /// assert_eq!(Prefetch::of(1 << 30), Prefetch::of_far());
    /// ```
    #[inline(never)]
    pub fn of(bytes: usize) -> Prefetch {
        match Prefetch::of_far() {
            Prefetch::Everything if (BEYOND_L1..far_bytes()).contains(&bytes) && is_intel() => Prefetch::FromL2,
            _ if bytes < far_bytes() => Prefetch::Nothing,
            Prefetch::Everything if bytes < LIKELY_IN_L3 => Prefetch::FromL3,
            far => far,
        }
    }

    /// What to ask this machine for, of elements that are likely beyond the L2 cache: everything, but on AMD's cores up to Zen 4 jumps only.
    ///
    /// Zen 5 and a Xeon with 480 MiB of L3 are up to three times as fast where everything is asked for. On Zen 4, that is in the way of what prefetchers ask for by
    /// themselves. (64 MiB that no cache holds, AVX2, GB/s with everything asked for, and with jumps: one row of f32 30 and 35, rows of 1000 i64 28 and 35, of 10 u8 15 and
    /// 20, 3 rows of 1000 f32 20 and 29, 21 rows of 64 f32 26 and 31, 1000 rows of 3 f32 30 and 35. But with neither, 64 rows of 2 u8 10 and 6, rows of 100
    /// i64 of which the last of equals is looked for 28 and 8: those are jumps.) Zen 3 was measured before anything was asked for, others were not.
    ///
    /// ```
    /// use argreduce_kernels::Prefetch;
    /// assert_ne!(Prefetch::of_far(), Prefetch::Nothing);
    /// ```
    #[inline(never)]
    pub fn of_far() -> Prefetch {
        if Core::detect() == Core::UpToZen4 { Prefetch::Jumps } else { Prefetch::Everything }
    }

    /// Whether a row that is far is read in several places at once.
    ///
    /// Where a single stream leaves memory idle: on AMD's cores up to Zen 4, and on Intel's. (64 MiB, over a plain read, in one place with all asked for, and in six with 1 KiB ahead of each asked for: AVX2, f32 0.82
    /// and 1.24, f64 0.80 and 1.21, u8 0.98 and 1.26, i64 0.80 and 1.20, f16 0.82 and 1.24; a Xeon with 480 MiB of L3, which memory reaches at 12 GB/s.) Other machines than x86-64 were not measured.
    #[inline(never)]
    pub(crate) fn takes_places(self) -> bool {
        self == Prefetch::Jumps || self == Prefetch::Everything && is_intel()
    }

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

/// Kinds of cores whose memory is best read in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Core {
    /// AMD's from Zen to Zen 4: their prefetchers do better alone.
    UpToZen4,
    /// AMD's from Zen 5 on.
    Zen5,
    /// Others.
    Other,
}

/// The [`Core`] of this machine, once it was asked.
#[cfg(target_arch = "x86_64")]
static CORE: AtomicU8 = AtomicU8::new(u8::MAX);

/// From how many bytes of elements on they are likely beyond the L2 cache: 512 KiB to 2 MiB on most current cores. On Intel's, three quarters of what it has, because to ask for what it holds is not free
/// there: 1 MiB of f32 and u8 by AVX-512, of 2 MiB, 91 to 70 GB/s and 106 to 75.
#[cfg(target_arch = "x86_64")]
static FAR: AtomicUsize = AtomicUsize::new(FAR_BYTES);
const FAR_BYTES: usize = 512 << 10;

fn far_bytes() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        FAR.load(Relaxed)
    }
    #[cfg(not(target_arch = "x86_64"))]
    FAR_BYTES
}

/// The bytes of the L2 cache, as Intel's CPUs tell whose highest leaf of CPUID this is; 0 if they do not.
///
/// Source: Intel's Software Developer's Manual, volume 2, CPUID, leaf 4, deterministic cache parameters.
#[cfg(target_arch = "x86_64")]
fn l2_bytes(highest_leaf: u32) -> usize {
    use core::arch::x86_64::__cpuid_count;
    const LEAF: u32 = 4;
    if highest_leaf < LEAF {
        return 0;
    }
    // (Safe from some version of Rust on.)
    // SAFETY: every x86-64 has CPUID, and this one the leaf.
    #[allow(unused_unsafe)]
    let mut caches = (0..4).map(|n| unsafe { __cpuid_count(LEAF, n) });
    // A cache of instructions alone has type 2.
    let l2 = caches.find(|cache| cache.eax & 0x1f != 2 && cache.eax >> 5 & 7 == 2);
    let parts = |ebx: u32| [ebx >> 22, ebx >> 12 & 0x3ff, ebx & 0xfff].map(|part| part as usize + 1);
    l2.map_or(0, |cache| parts(cache.ebx).iter().product::<usize>() * (cache.ecx as usize + 1))
}

impl Core {
    /// For tests: from now on, this machine is taken for one with such cores, so that what others have is exercised too. No answer depends on it, whenever it changes.
    #[doc(hidden)]
    pub fn assume(core: Core) {
        #[cfg(target_arch = "x86_64")]
        CORE.store(core as u8, Relaxed);
        #[cfg(not(target_arch = "x86_64"))]
        let _ = core;
    }

    /// Of this machine. CPUID is asked once: where it is virtual, that takes a microsecond.
    ///
    /// ```
    /// use argreduce_kernels::Core;
    /// assert_eq!(Core::detect(), Core::detect());
    /// ```
    pub fn detect() -> Core {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::__cpuid;
            const KNOWN: [Core; 3] = [Core::UpToZen4, Core::Zen5, Core::Other];
            if let Some(&core) = KNOWN.get(usize::from(CORE.load(Relaxed))) {
                return core;
            }
            // (Safe from some version of Rust on.)
            // SAFETY: every x86-64 has these leaves.
            #[allow(unused_unsafe)]
            let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
            let is_from =
                |name: &[u8]| [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == name;
            let is_amd = is_from(b"AuthenticAMD");
            let core = match (version >> 8 & 0xf) + (version >> 20 & 0xff) {
                0x17..=0x19 if is_amd => Core::UpToZen4,
                0x1a.. if is_amd => Core::Zen5,
                _ => Core::Other,
            };
            if is_from(b"GenuineIntel") {
                FAR.store((l2_bytes(vendor.eax) / 4 * 3).clamp(FAR_BYTES, LIKELY_IN_L3 / 2), Relaxed);
            }
            CORE.store(core as u8, Relaxed);
            core
        }
        #[cfg(not(target_arch = "x86_64"))]
        Core::Other
    }
}

/// Whether this is an x86-64 whose cores are Intel's, or like them.
pub(crate) fn is_intel() -> bool {
    cfg!(target_arch = "x86_64") && Core::detect() == Core::Other
}

/// Whether a blend by a vector of AVX2 takes several operations: three on Intel's cores, one on AMD's, by `cargo bench --bench units`. (What depends on it was measured on a Xeon alone. By the count of operations, AMD's would gain an eighth in long rows of floats.)
#[inline(never)]
pub(crate) fn blends_are_dear() -> bool {
    is_intel()
}

/// Bytes that come together. (Some CPUs have longer lines: those are asked for twice.)
pub(crate) const LINE: usize = 64;

/// Which cache is asked to bring what is ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    L1,
    L2,
}

impl Cache {
    /// For what is beyond the L2 cache: see [`prefetch`].
    #[inline(always)]
    pub(crate) fn of_far() -> Cache {
        #[cfg(target_arch = "x86_64")]
        if CORE.load(Relaxed) == Core::Zen5 as u8 {
            return Cache::L1;
        }
        Cache::L2
    }

    /// Asks for each cache line of some bytes.
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
                        Cache::L1 => _mm_prefetch::<_MM_HINT_T0>(at),
                        Cache::L2 => _mm_prefetch::<_MM_HINT_T1>(at),
                    }
                }
                line += LINE;
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (at, bytes);
    }
}

/// Asks for each cache line of some bytes. On other machines than x86-64, where nobody has measured what it is good for, it does nothing.
///
/// What is asked for along the way, a few lines for as many bytes as are read, comes at the speed of memory; what is asked for at once waits for room in
/// the queue of misses, and so does what comes after it. (Blocks of 21 rows of 3 i64 beyond L3, Zen 5: 11 GB/s where the next group of blocks was asked for at
/// once, 34 where 64 bytes were for each 64 that were read.)
///
/// On all but Zen 5 it comes into L2, because what waits for L1 takes the room of what is read. (Beyond L3, AVX2, GB/s into L1 and into L2: blocks of 21 rows of 3 f32 10 and 22, of 3 i64
/// 10 and 23, of 3 f16 11 and 14, 10 rows of 5 f32 11 and 21, 21 rows of 64 f32 that go down 8 and 20. Where it was not in the way, as much: 3 rows of 5 f32 17 and 17; Zen 4. Of a plain read, AVX2, rows of 1000, 4096 and 128256 f32 0.77, 0.81 and 0.74, and 1.01, 1.00 and 1.01, of 1000 i64 0.70 and 0.93;
/// AVX-512, rows of 100 f32 and 16 i64 0.85 and 0.99, 0.83 and 1.05, 64 rows of 31 f32 0.59 and 0.86, but of 64 f32 1.01 and 0.89; a Xeon with 480 MiB of L3.)
#[inline(always)]
pub(crate) fn prefetch<T>(at: *const T, bytes: usize) {
    Cache::of_far().prefetch(at, bytes);
}

/// Asks for some bytes of each of some rows, so many bytes apart; if one follows the other, for each line of all of them once. (A call: it was 38 KB of the shared object.)
#[inline(never)]
pub(crate) fn prefetch_rows(first: *const u8, stride: isize, rows: usize, bytes: usize) {
    if stride.unsigned_abs() == bytes {
        let back = if stride < 0 { rows.saturating_sub(1) * bytes } else { 0 };
        return prefetch(first.wrapping_sub(back), rows * bytes);
    }
    for row in 0..rows {
        prefetch(first.wrapping_offset(stride.wrapping_mul(row as isize)), bytes);
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
    /// How many, the first so far from the first row, in bytes, and the others so far from each other.
    lines: usize,
    ahead: isize,
    step: isize,
}

impl Asked {
    /// Before all rows.
    pub(crate) const NOTHING: Asked = Asked { rows: usize::MAX, lines: 0, ahead: 0, step: 0 };

    /// Rows of so many bytes, `stride` bytes apart, of which some go side by side.
    #[inline(never)]
    pub(crate) fn of_rows(len: usize, stride: isize, side_by_side: usize) -> Asked {
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
        Asked { rows, lines, ahead: ahead(stride, 1, AHEAD_BYTES), step }
    }

    #[inline(always)]
    pub(crate) fn ask<T>(self, rows: *const T) {
        let mut at = rows.wrapping_byte_offset(self.ahead);
        for _ in 0..self.lines {
            prefetch(at, 1);
            at = at.wrapping_byte_offset(self.step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// No answer depends on it either: of what L2 holds little is asked for, and nothing of what L1 does, and of more bytes never less.
    #[test]
    fn asks_for_what_is_far() {
        assert!((FAR_BYTES..LIKELY_IN_L3).contains(&far_bytes()));
        let far = Prefetch::of_far();
        let near = if far == Prefetch::Jumps { far } else { Prefetch::FromL3 };
        let from_l2 = if is_intel() { Prefetch::FromL2 } else { Prefetch::Nothing };
        assert_eq!(Prefetch::of(BEYOND_L1 - 1), Prefetch::Nothing);
        assert_eq!(Prefetch::of(BEYOND_L1), from_l2);
        assert_eq!(Prefetch::of(FAR_BYTES - 1), from_l2);
        assert_eq!(Prefetch::of(far_bytes() - 1), from_l2);
        assert_eq!(Prefetch::of(far_bytes()), near);
        assert_eq!(Prefetch::of(LIKELY_IN_L3 - 1), near);
        assert_eq!(Prefetch::of(LIKELY_IN_L3), far);
        assert_eq!(Prefetch::of(usize::MAX), far);
    }

    /// No answer depends on it, so that no other test sees a line that nobody asks for.
    #[test]
    fn asks_for_every_line() {
        const ROWS: usize = 2048;
        for (len, distance) in
            [(1, 1), (20, 20), (20, 33), (63, 63), (64, 128), (65, 65), (84, 84), (400, 400), (447, 447)]
        {
            for (side_by_side, sign) in [(1, 1), (1, -1), (16, 1), (16, -1)] {
                let stride = sign * distance as isize;
                let asked = Asked::of_rows(len, stride, side_by_side);
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
