//! A partial answer: the best element so far, and its index in the whole. Nothing here knows how it was found.

use crate::{Element, Index};

/// The best element of a part, and its index in the whole: what [`Plan::run`](crate::Plan::run) writes to an
/// output of these, and [`Merge`](crate::Merge) merges.
///
/// The fields are laid out as in C. There may be padding between them or behind them: to send partials to another
/// process, send two arrays, or tell the transport of the two fields.
///
/// ```
/// use argreduce::Partial;
/// let best = Partial { value: 3.5_f32, index: 7_u32 };
/// assert!(!best.is_none());
/// assert!(Partial::<f32, u32>::NONE.is_none());
/// assert_eq!(Partial::<f32, i32>::NONE, Partial { value: 0.0, index: -1 });
/// assert!(Partial::<f32, u32>::default().is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Partial<T, I> {
    /// The element, bit for bit.
    pub value: T,
    /// Its index in the whole, or all bits set: nothing was seen yet.
    pub index: I,
}

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
