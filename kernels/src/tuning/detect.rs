//! Which table is that of this machine, by CPUID.

use super::table::Tuning;
use super::{generic, intel, zen2, zen4, zen5};
use core::arch::x86_64::{__cpuid, __cpuid_count};
use core::ptr::{from_ref, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// That of this machine, once it was detected; null before.
static CURRENT: AtomicPtr<Tuning> = AtomicPtr::new(null_mut());

/// See [`Tuning::current`].
#[inline]
pub(super) fn current() -> &'static Tuning {
    // SAFETY: nothing but tables is stored there, which are constants.
    unsafe { CURRENT.load(Relaxed).as_ref() }.unwrap_or_else(detect)
}

#[cold]
fn detect() -> &'static Tuning {
    // (Safe from some version of Rust on.)
    // SAFETY: every x86-64 has these leaves.
    #[allow(unused_unsafe)]
    let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
    let found = of(name.as_flattened(), family, || l2_bytes(vendor.eax));
    CURRENT.store(from_ref(found).cast_mut(), Relaxed);
    found
}

/// By the vendor's name, the family of the CPU, and where that matters, the bytes of its L2 cache.
fn of(vendor: &[u8], family: u32, l2_bytes: impl FnOnce() -> usize) -> &'static Tuning {
    match (vendor, family) {
        // Hygon's are Zen's.
        (b"AuthenticAMD" | b"HygonGenuine", 0x17..=0x18) => &zen2::TUNING,
        (b"AuthenticAMD", 0x19) => &zen4::TUNING,
        (b"AuthenticAMD", 0x1a..) => &zen5::TUNING,
        (b"GenuineIntel", _) => {
            let limit = l2_bytes() / 4 * 3;
            let fits = |tuning: &&Tuning| tuning.prefetch.min_beyond_l2_bytes <= limit;
            intel::TUNINGS.iter().rev().find(fits).unwrap_or(&intel::TUNINGS[0])
        }
        _ => &generic::TUNING,
    }
}

/// The bytes of the L2 cache, as Intel's CPUs tell whose highest leaf of CPUID this is; 0 if they do not.
///
/// Source: Intel's Software Developer's Manual, volume 2, CPUID, leaf 4, deterministic cache parameters.
fn l2_bytes(highest_leaf: u32) -> usize {
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

#[cfg(test)]
mod tests {
    use super::of;

    /// What nobody has measured is not taken for what somebody has.
    #[test]
    fn knows_what_was_measured() {
        let found = |vendor: &[u8], family, l2_bytes| {
            let tuning = of(vendor, family, || l2_bytes);
            (tuning.name, tuning.prefetch.min_beyond_l2_bytes >> 10)
        };
        assert_eq!(found(b"AuthenticAMD", 0x15, 0), ("generic", 512));
        assert_eq!(found(b"AuthenticAMD", 0x17, 0), ("zen2", 512));
        assert_eq!(found(b"HygonGenuine", 0x18, 0), ("zen2", 512));
        assert_eq!(found(b"AuthenticAMD", 0x19, 0), ("zen4", 512));
        assert_eq!(found(b"AuthenticAMD", 0x1a, 0), ("zen5", 512));
        assert_eq!(found(b"CentaurHauls", 6, 4 << 20), ("generic", 512));
        assert_eq!(found(b"  Shanghai  ", 7, 4 << 20), ("generic", 512));
        assert_eq!(found(b"GenuineIntel", 6, 0), ("intel", 512));
        assert_eq!(found(b"GenuineIntel", 6, 256 << 10), ("intel", 512));
        assert_eq!(found(b"GenuineIntel", 6, 1 << 20), ("intel", 768));
        assert_eq!(found(b"GenuineIntel", 6, 2 << 20), ("intel", 1536));
        assert_eq!(found(b"GenuineIntel", 6, 16 << 20), ("intel", 3072));
    }
}
