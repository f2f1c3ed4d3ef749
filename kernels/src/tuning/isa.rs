//! The numbers that shape code: one constant table for each ISA.

/// What is known to be fast on the machines that have an ISA.
pub(crate) struct IsaTuning {
    /// Whether most operations are instructions, not loops over arrays: then several copies of a loop, for several
    /// lengths or orders, are worth the code, and perfect shuffles are faster than what the compiler makes of a plain
    /// loop.
    pub(crate) has_instructions: bool,
    /// The narrowest lanes, in bytes, of which the blocks of a long row have eight vectors, not four: see
    /// `rows/blocks.rs`.
    pub(crate) min_large_block_lane_bytes: usize,
    /// Whether comparisons make masks, of which fewer operations start per cycle than of vectors, but by which a blend
    /// takes no longer than a maximum (see `rows/lane_indexed.rs`), and a load of part of a vector than one of all.
    pub(crate) has_masks: bool,
    /// Whether 64-bit integers have a maximum.
    pub(crate) has_max_64: bool,
    /// Whether there are but 16 registers for vectors, and so short instructions, many of which lie in 64 bytes. Then
    /// - a mask of what is rarely there is kept as bits, in a general register;
    /// - columns take rows two at a time (see `columns/tile.rs`);
    /// - loops of about 64 bytes are [unrolled](crate::simd::token::repeat);
    /// - long rows in L2 [may be prefetched](super::table::PrefetchTuning::l2_distance_bytes): loads that are not in L1
    ///   are in the way of what could run.
    pub(crate) has_few_registers: bool,
    /// Whether code is to be small: where it is sent to whoever reads a page. Then rows against memory,
    /// and those longer than one segment, take one search, that of [segments](crate::rows::SegmentedRows); and there
    /// are [no special cases](IsaTuning::has_special_cases).
    pub(crate) has_small_code: bool,
}

impl IsaTuning {
    /// Whether what is faster in some calls, but not in most, is worth code: a row by itself, both functions at once,
    /// masks without copies, segments read by turns, groups of many rows of columns.
    pub(crate) const fn has_special_cases(&self) -> bool {
        self.has_instructions && !self.has_small_code
    }

    /// Whether there are instructions, in code that is to be small. Then rows know the NaN policy at run time alone.
    pub(crate) const fn has_small_vectors(&self) -> bool {
        self.has_instructions && self.has_small_code
    }
}

/// Whether the compiler makes vectors of arrays: whether the target has some that it may use for all code. Elsewhere
/// (x86 without SSE2, wasm32 without simd128, 32-bit ARM without NEON), arrays are [one element after
/// another](crate::scalar). See docs/isa-selection.md#where-there-are-no-vectors.
pub(crate) const TARGET_HAS_VECTORS: bool = cfg!(any(
    wide_portable,
    target_feature = "sse2",
    target_feature = "neon",
    target_feature = "simd128",
    target_feature = "lsx",
    target_arch = "powerpc64",
));

/// Without instructions for most of the table of operations, several copies are ten times as much code.
pub(crate) const PORTABLE: IsaTuning = IsaTuning {
    has_instructions: false,
    min_large_block_lane_bytes: usize::MAX,
    has_masks: false,
    has_max_64: true,
    has_few_registers: false,
    // CPUs without AVX2 are from before 2013.
    has_small_code: cfg!(all(target_arch = "x86_64", not(wide_portable))),
};

/// Of vectors of 64 bytes without instructions of their own, which take the ways of AVX-512.
pub(crate) const WIDE_PORTABLE: IsaTuning = IsaTuning { has_masks: true, ..PORTABLE };

#[cfg(target_arch = "x86_64")]
pub(crate) const AVX2: IsaTuning = IsaTuning {
    has_instructions: true,
    min_large_block_lane_bytes: 4,
    has_masks: false,
    has_max_64: false,
    has_few_registers: true,
    has_small_code: false,
};

#[cfg(target_arch = "x86_64")]
pub(crate) const AVX512: IsaTuning = IsaTuning {
    has_instructions: true,
    min_large_block_lane_bytes: usize::MAX,
    has_masks: true,
    has_max_64: true,
    has_few_registers: false,
    has_small_code: false,
};

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) const NEON: IsaTuning = IsaTuning {
    has_instructions: true,
    min_large_block_lane_bytes: 1,
    has_masks: false,
    has_max_64: false,
    has_few_registers: false,
    has_small_code: false,
};

/// How an engine compiles the instructions is its own matter. See docs/tuning.md#columns-two-rows-at-a-time.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) const SIMD128: IsaTuning = IsaTuning {
    has_instructions: true,
    min_large_block_lane_bytes: 1,
    has_masks: false,
    has_max_64: false,
    has_few_registers: false,
    has_small_code: true,
};
