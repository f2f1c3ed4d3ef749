//! What the transposition of short blocks is made of.

use super::token::Token;

/// Bytes of a block that are taken at a time.
pub(crate) const UNIT: usize = 16;

/// What a transposition is made of, whatever the elements are.
pub(crate) trait Zip: Token {
    /// A vector.
    type Bytes: Copy;
    /// Vectors that blocks are [riffled](riffles) by.
    type Narrow: Zip;
    /// Whether they are: where the compiler knows no better.
    const RIFFLES: bool = true;

    fn narrow(self) -> Self::Narrow;

    /// 16 bytes from each of as many places as a vector holds, one `step` bytes after the other.
    ///
    /// # Safety
    /// - They may be read.
    unsafe fn load_parts(self, at: *const u8, step: isize) -> Self::Bytes;

    /// # Safety
    /// - A vector may be written there.
    unsafe fn store(self, to: *mut u8, v: Self::Bytes);

    /// In each 16 bytes, elements of `SIZE` bytes of `a` and `b` in turn: those of the lower half, and those of the
    /// upper one.
    fn zip<const SIZE: usize>(self, a: Self::Bytes, b: Self::Bytes) -> (Self::Bytes, Self::Bytes);
}
