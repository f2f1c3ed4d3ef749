//! The slices of one call.

use super::elements::{Bits, ElementsRef, Outputs};
use crate::index::Indices;

/// The slices of one call. (Passed by reference: moved, its parts would be read again while they are still being
/// written.)
pub(crate) struct Slices<'a, T> {
    pub(crate) input: ElementsRef<'a, T>,
    pub(crate) indices: Indices<'a>,
    /// Where the best elements themselves go, if they are asked for.
    pub(crate) values: Option<Outputs<'a, T>>,
}

impl<'a, T: Copy> Slices<'a, T> {
    /// Takes them, with elements as bits: what only moves these exists once for each size, not for each type.
    #[inline(always)]
    pub(super) fn take_as_bits<B: Copy>(&mut self) -> Slices<'a, Bits<B>> {
        let indices = std::mem::replace(&mut self.indices, Indices::U8(Outputs::from(&mut [][..])));
        Slices { input: self.input.into_bits(), indices, values: self.values.take().map(Outputs::into_bits) }
    }

    /// The same for a task: see [`Outputs::lend`].
    pub(super) fn lend(&self) -> Slices<'_, T> {
        Slices { input: self.input, indices: self.indices.lend(), values: self.values.as_ref().map(Outputs::lend) }
    }
}
