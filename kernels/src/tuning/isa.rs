//! The numbers that shape code: one constant table for each ISA.

/// What is known to be fast on the machines that have an ISA.
pub(crate) struct IsaTuning {
    /// Whether several copies of a loop, for several lengths or orders, are worth their code.
    pub(crate) specializes: bool,
    /// Whether the blocks of a long row are of eight vectors, or of four: see `rows/blocks.rs`.
    pub(crate) has_long_blocks: bool,
    /// Whether comparisons make masks, of which fewer operations start per cycle than of vectors, but by which a blend
    /// takes no longer than a maximum (see `rows/lane_indexed.rs`), and a load of part of a vector than one of all.
    pub(crate) has_masks: bool,
    /// Whether some cores take several operations for a blend: see
    /// [`RowTuning::block_factor`](super::RowTuning::block_factor).
    pub(crate) blends_may_be_slow: bool,
    /// Whether a mask of what is rarely there is kept as bits, in a general register: where there are few for vectors.
    pub(crate) keeps_bits: bool,
    /// Whether loops of about 64 bytes are [unrolled](crate::simd::token::repeat). (Where instructions are longer,
    /// fewer of them lie in 64 bytes.)
    pub(crate) unrolls: bool,
}

/// Without instructions for most of the table of operations, several copies are ten times as much code.
pub(crate) const PORTABLE: IsaTuning = IsaTuning {
    specializes: false,
    has_long_blocks: false,
    has_masks: false,
    blends_may_be_slow: false,
    keeps_bits: false,
    unrolls: false,
};

/// The same for vectors of 64 bytes, which take the ways of AVX-512.
pub(crate) const WIDE_PORTABLE: IsaTuning = IsaTuning { has_masks: true, ..PORTABLE };

#[cfg(target_arch = "x86_64")]
pub(crate) const AVX2: IsaTuning = IsaTuning {
    specializes: true,
    has_long_blocks: false,
    has_masks: false,
    blends_may_be_slow: true,
    keeps_bits: true,
    unrolls: true,
};

#[cfg(target_arch = "x86_64")]
pub(crate) const AVX512: IsaTuning = IsaTuning {
    specializes: true,
    has_long_blocks: false,
    has_masks: true,
    blends_may_be_slow: false,
    keeps_bits: false,
    unrolls: false,
};

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) const NEON: IsaTuning = IsaTuning {
    specializes: true,
    has_long_blocks: true,
    has_masks: false,
    blends_may_be_slow: false,
    keeps_bits: false,
    unrolls: false,
};
