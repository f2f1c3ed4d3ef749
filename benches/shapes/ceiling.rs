//! The ceilings: what this core needs to read the bytes (`read`), to take their plain maximum with no index (`max`),
//! and to read them while it writes the answers' bytes (`io`). Knows element types as lane widths only; their results
//! mean nothing and are thrown away.

use crate::data::bytes_of;
use argreduce::Element;
use std::hint::black_box;

/// ORs all the bytes, 256 bits at a time, in one sequential stream.
pub fn read<T: Element>(values: &[T]) {
    let bytes = bytes_of(values);
    match vectors::or() {
        // SAFETY: `vectors` gives a reduction only where its instructions are.
        Some(reduction) => black_box(unsafe { reduction(bytes) }),
        None => black_box(bytes.iter().fold(0, |or, &byte| or | u64::from(byte))),
    };
}

/// The largest element, without its index. The 16-bit floats are taken as `i16`, which is what they are ordered as.
pub fn max<T: Element>(values: &[T]) {
    match vectors::max(T::DATA_TYPE) {
        // SAFETY: as in `read`.
        Some(reduction) => _ = black_box(unsafe { reduction(bytes_of(values)) }),
        None => _ = black_box(values.iter().copied().reduce(|max, value| if value > max { value } else { max })),
    }
}

/// `read`, and fills the output, both a block at a time: what no way of answering can avoid where the output is large.
/// It is not the ceiling that the targets speak of (that is `read` over the bytes of both), but tells whether the
/// stores are what limits a cell.
pub fn io<T: Element>(values: &[T], output: &mut [u32]) {
    const BLOCK_BYTES: usize = 16 << 10;
    let blocks = values.chunks(BLOCK_BYTES / size_of::<T>());
    let share = output.len().div_ceil(blocks.len().max(1)).max(1);
    let mut shares = output.chunks_mut(share);
    for block in blocks {
        read(block);
        if let Some(share) = shares.next() {
            black_box(share).fill(black_box(1));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    //! One loop for all of them: eight accumulators, 256 bytes a turn.

    use argreduce::{DataType, with_element_type};
    use half::{bf16, f16};
    use std::arch::x86_64::*;

    /// Needs AVX2.
    pub type Reduction = unsafe fn(&[u8]) -> u64;

    const TURN: usize = 256;

    macro_rules! reductions {
        ($($name:ident: |$so_far:ident, $next:ident| $reduction:expr;)+) => {$(
            /// The accumulators start at 0, which is no bound of every type: the price of a turn is what matters.
            #[target_feature(enable = "avx2")]
            fn $name(bytes: &[u8]) -> u64 {
                let (turns, rest) = bytes.as_chunks::<TURN>();
                // What does not fill an iteration is read by one that overlaps the last: no reduction minds a byte that
                // comes twice.
                let last = if rest.is_empty() { None } else { bytes.last_chunk::<TURN>() };
                let mut accumulators = [_mm256_setzero_si256(); TURN / 32];
                for turn in turns.iter().chain(last) {
                    for (n, accumulator) in accumulators.iter_mut().enumerate() {
                        // SAFETY: 32 bytes from 32 * n on, of 256.
                        let $next = unsafe { _mm256_loadu_si256(turn.as_ptr().add(32 * n).cast()) };
                        let $so_far = *accumulator;
                        *accumulator = $reduction;
                    }
                }
                let mut all = accumulators[0];
                for $next in accumulators {
                    let $so_far = all;
                    all = $reduction;
                }
                // All four, so that no lane is dead.
                (_mm256_extract_epi64::<0>(all)
                    ^ _mm256_extract_epi64::<1>(all)
                    ^ _mm256_extract_epi64::<2>(all)
                    ^ _mm256_extract_epi64::<3>(all)) as u64
            }
        )+};
    }

    reductions! {
        or_bytes: |a, b| _mm256_or_si256(a, b);
        max_f32: |a, b| _mm256_castps_si256(_mm256_max_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
        max_f64: |a, b| _mm256_castpd_si256(_mm256_max_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)));
        max_i8: |a, b| _mm256_max_epi8(a, b);
        max_u8: |a, b| _mm256_max_epu8(a, b);
        max_i16: |a, b| _mm256_max_epi16(a, b);
        max_u16: |a, b| _mm256_max_epu16(a, b);
        max_i32: |a, b| _mm256_max_epi32(a, b);
        max_u32: |a, b| _mm256_max_epu32(a, b);
        // AVX2 has no maximum of 64-bit integers, and compares them as signed ones only.
        max_i64: |a, b| _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a));
        max_u64: |a, b| {
            let b = _mm256_xor_si256(b, _mm256_set1_epi64x(i64::MIN));
            _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a))
        };
    }

    /// The reduction that is the maximum of a type.
    trait Max {
        const REDUCTION: Reduction;
    }

    macro_rules! max_of {
        ($($t:ty: $reduction:ident;)+) => {$(
            impl Max for $t {
                const REDUCTION: Reduction = $reduction;
            }
        )+};
    }

    max_of! {
        f32: max_f32;
        f16: max_i16;
        bf16: max_i16;
        f64: max_f64;
        i8: max_i8;
        i16: max_i16;
        i32: max_i32;
        i64: max_i64;
        u8: max_u8;
        u16: max_u16;
        u32: max_u32;
        u64: max_u64;
        bool: max_u8;
    }

    pub fn or() -> Option<Reduction> {
        is_x86_feature_detected!("avx2").then_some(or_bytes as Reduction)
    }

    pub fn max(data_type: DataType) -> Option<Reduction> {
        let reduction = with_element_type!(data_type, T => <T as Max>::REDUCTION);
        is_x86_feature_detected!("avx2").then_some(reduction)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod vectors {
    //! None yet: the plain loops, as the compiler vectorises them.

    use argreduce::DataType;

    pub type Reduction = unsafe fn(&[u8]) -> u64;

    pub fn or() -> Option<Reduction> {
        None
    }

    pub fn max(_: DataType) -> Option<Reduction> {
        None
    }
}
