//! The slices of one call.

use super::elements::{ElementsRef, Values};
use crate::index::Indices;

/// The slices of one call. (Passed by reference: moved, its parts would be read again while they are still being
/// written.)
pub(crate) struct Slices<'a> {
    pub(crate) input: ElementsRef<'a>,
    pub(crate) indices: Indices<'a>,
    /// Where the best elements themselves go, if they are asked for.
    pub(crate) values: Option<Values<'a>>,
}

impl Slices<'_> {
    /// The same for a task: see [`Outputs::lend`](super::Outputs::lend).
    pub(super) fn lend(&self) -> Slices<'_> {
        Slices { input: self.input, indices: self.indices.lend(), values: self.values.as_ref().map(Values::lend) }
    }
}
