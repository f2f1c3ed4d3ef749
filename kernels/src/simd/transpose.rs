//! What the transposes of `gather/transpose.rs` are made of. Knows nothing of elements but their size.

use super::token::Simd;

/// The bytes that vectors are interleaved within: 128 bits.
pub(crate) const CHUNK_BYTES: usize = 16;

/// Loads of several places, and interleaving.
///
/// # Safety
/// Transposes read and write as many places as [`Bytes`](TransposeOps::Bytes) is long, and take them for initialised
/// elements, or for positions where elements are read. So an implementor promises that
/// - `Bytes` are a whole number of [`CHUNK_BYTES`] and have no gaps; those of
///   [`HalfWidth`](TransposeOps::HalfWidth) are no more;
/// - loads and stores are of what they say, and of nothing else;
/// - each operation gives what is said of it, whatever the bytes are.
pub(crate) unsafe trait TransposeOps: Simd {
    /// As many bytes as a vector has.
    type Bytes: Copy;
    /// The token for what gains nothing from wider vectors, copies and perfect shuffles: this one, or that of vectors
    /// of half the width.
    type HalfWidth: TransposeOps + From<Self>;

    /// 16 bytes from each of as many places as a vector holds, one `step` bytes after the other.
    ///
    /// # Safety
    /// - They may be read.
    unsafe fn load_chunks_strided(self, at: *const u8, step: isize) -> Self::Bytes;

    /// In each 16 bytes, elements of `SIZE` bytes of `a` and `b` interleaved: those of the lower halves, and those of
    /// the upper halves (x86: `unpacklo`, `unpackhi`).
    fn interleave_lo_hi<const SIZE: usize>(self, a: Self::Bytes, b: Self::Bytes) -> (Self::Bytes, Self::Bytes);

    /// Writes elements to every second place, by stores that leave the places between alone, and tells how many it has
    /// written: of the first ones, as many as whole vectors hold, or none where there are no such stores.
    ///
    /// # Safety
    /// - As many elements may be read, and as many places written.
    #[inline(always)]
    unsafe fn write_every_second<B: Copy>(self, _from: *const B, _to: *mut B, _len: usize) -> usize {
        0
    }
}
