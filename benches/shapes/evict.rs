//! Takes values out of all caches, so that the next to read them has to go to memory. Knows nothing of cells.
//!
//! Reading twice an L3 of other bytes does that where the L3 is known and small. One that many cores share may have 480
//! MiB: with 64 MiB read in between, a plain read was one from L3. To read 960 MiB takes a tenth of a second and comes
//! before every call; to flush 64 MiB takes 7 ms.

/// The distance of two flushes: a line, of 64 bytes on all of x86-64.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

#[cfg(target_arch = "x86_64")]
pub fn evict(bytes: &[u8]) {
    use std::arch::x86_64::{__cpuid_count, _mm_clflush, _mm_mfence};
    // One flush of the old instruction waits for the one before: 40 to 95 ms for 64 MiB.
    let is_fast = __cpuid_count(7, 0).ebx >> 23 & 1 == 1;
    for line in bytes.chunks(LINE) {
        let at = line.as_ptr();
        // SAFETY: the address is that of a byte that may be read, whose value a flush does not change; the first
        // instruction is there, as the CPU says, and the second on all of x86-64.
        unsafe {
            if is_fast {
                std::arch::asm!("clflushopt [{}]", in(reg) at, options(nostack, preserves_flags));
            } else {
                _mm_clflush(at);
            }
        }
    }
    // SAFETY: on all of x86-64.
    unsafe { _mm_mfence() };
}

/// Twice the L3 of the machines that the targets were set on, at 64 bytes a line.
#[cfg(not(target_arch = "x86_64"))]
pub fn evict(_: &[u8]) {
    static OTHER: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| vec![1; 64 << 20]);
    crate::ceiling::read(&OTHER);
}
