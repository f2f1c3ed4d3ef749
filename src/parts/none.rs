//! The partial answer of nothing: what there is before anything was seen.

use super::Partial;
use crate::{Element, Index};

impl<T: Element, I: Index> Partial<T, I> {
    /// Nothing was seen yet: the partial of an empty part. To merge it changes nothing. All bits of the index are set
    /// (-1 in a signed type), and those of the value are 0.
    pub const NONE: Partial<T, I> = Partial { value: T::ZERO, index: I::NONE };

    /// Whether nothing was seen yet. Only the index tells; the value is not looked at.
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        self.index == I::NONE
    }
}

/// [`Partial::NONE`].
impl<T: Element, I: Index> Default for Partial<T, I> {
    fn default() -> Self {
        Partial::NONE
    }
}
