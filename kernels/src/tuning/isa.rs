//! The numbers that shape code: one constant table for each ISA.

/// What is known to be fast on the machines that have an ISA.
pub(crate) struct IsaTuning {
    /// Whether several copies of a loop, for several lengths or orders, are worth the code size.
    pub(crate) specializes: bool,
    /// The narrowest lanes, in bytes, of which the blocks of a long row have eight vectors, not four: see
    /// `rows/blocks.rs`.
    pub(crate) min_large_block_lane_bytes: usize,
    /// Whether comparisons make masks, of which fewer operations start per cycle than of vectors, but by which a blend
    /// takes no longer than a maximum (see `rows/lane_indexed.rs`), and a load of part of a vector than one of all.
    pub(crate) has_masks: bool,
    /// Whether 64-bit integers have a maximum.
    pub(crate) has_max_64: bool,
    /// Whether perfect shuffles are faster than what the compiler makes of a plain loop.
    pub(crate) has_shuffles: bool,
    /// Whether a mask of what is rarely there is kept as bits, in a general register: where there are few for vectors.
    pub(crate) keeps_bits: bool,
    /// Whether loops of about 64 bytes are [unrolled](crate::simd::token::repeat). (Where instructions are longer,
    /// fewer of them lie in 64 bytes.)
    pub(crate) unrolls_short_loops: bool,
    /// Whether long rows in L2 [may be prefetched](super::table::PrefetchTuning::l2_distance_bytes): where loads that
    /// are not in L1 are in the way of what could run.
    pub(crate) prefetches_from_l2: bool,
    /// Whether columns take rows two at a time: see `columns/tile.rs`.
    pub(crate) pairs_rows: bool,
}

/// Without instructions for most of the table of operations, several copies are ten times as much code.
pub(crate) const PORTABLE: IsaTuning = IsaTuning {
    specializes: false,
    min_large_block_lane_bytes: usize::MAX,
    has_masks: false,
    has_max_64: true,
    has_shuffles: false,
    keeps_bits: false,
    unrolls_short_loops: false,
    prefetches_from_l2: false,
    pairs_rows: false,
};

/// Of vectors of 64 bytes without instructions of their own, which take the ways of AVX-512.
pub(crate) const WIDE_PORTABLE: IsaTuning = IsaTuning { has_masks: true, ..PORTABLE };

#[cfg(target_arch = "x86_64")]
pub(crate) const AVX2: IsaTuning = IsaTuning {
    specializes: true,
    min_large_block_lane_bytes: 4,
    has_masks: false,
    has_max_64: false,
    has_shuffles: true,
    keeps_bits: true,
    unrolls_short_loops: true,
    prefetches_from_l2: true,
    pairs_rows: true,
};

#[cfg(target_arch = "x86_64")]
pub(crate) const AVX512: IsaTuning = IsaTuning {
    specializes: true,
    min_large_block_lane_bytes: usize::MAX,
    has_masks: true,
    has_max_64: true,
    has_shuffles: true,
    keeps_bits: false,
    unrolls_short_loops: false,
    prefetches_from_l2: false,
    pairs_rows: false,
};

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) const NEON: IsaTuning = IsaTuning {
    specializes: true,
    min_large_block_lane_bytes: 1,
    has_masks: false,
    has_max_64: false,
    has_shuffles: true,
    keeps_bits: false,
    unrolls_short_loops: false,
    prefetches_from_l2: false,
    pairs_rows: false,
};
