//! Where a kernel writes all that it finds: for each output a position and, if it is wanted, the element there.
//! Nothing here knows of calls or orders.

use crate::positions::{Places, Positions};
use core::mem::MaybeUninit;
use core::ptr::null_mut;

/// A place for the position of each output, and for the element there, if that is wanted.
///
/// Whether it is, is known at run time only, so that one kernel serves both: it is tested once for some vectors of
/// outputs.
///
/// ```
/// use argreduce_kernels::{Outputs, Positions};
/// let (mut indices, mut values) = ([0_u64; 3], [0.0_f32; 3]);
/// let outputs = Outputs::with_values(Positions::from(&mut indices[..]), &mut values);
/// assert_eq!(outputs.len(), 3);
/// ```
#[derive(Debug)]
pub struct Outputs<'a> {
    pub(crate) positions: Positions<'a>,
    /// Borrowed for as long as places for positions are. Null where no values are wanted.
    values: *mut (),
    /// The bytes of one, or 0.
    pub(crate) value_bytes: usize,
}

impl<'a> From<Positions<'a>> for Outputs<'a> {
    /// Without values.
    #[inline(always)]
    fn from(positions: Positions<'a>) -> Self {
        Outputs { positions, values: null_mut(), value_bytes: 0 }
    }
}

impl<'a> Outputs<'a> {
    /// With a place for each value: the type of the elements, or one of its size and alignment that takes all of their
    /// bits. It may be one that need not be initialised.
    ///
    /// # Panics
    /// If there are not as many places for values as for positions.
    #[inline(always)]
    pub fn with_values<T: Copy>(positions: Positions<'a>, values: &'a mut [T]) -> Self {
        assert_eq!(positions.len(), values.len());
        Outputs { positions, values: values.as_mut_ptr().cast(), value_bytes: size_of::<T>() }
    }

    /// How many there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Outputs<'_> {
        Outputs { positions: self.positions.reborrow(), ..*self }
    }

    /// By the type of the values.
    ///
    /// # Safety
    /// - Values, if they are wanted, are of the size and alignment of `L`.
    #[inline(always)]
    pub(crate) unsafe fn typed<L>(self) -> TypedOutputs<'a, L> {
        if self.value_bytes == 0 {
            return TypedOutputs { positions: self.positions, values: None };
        }
        // SAFETY: they are wanted, and the caller promises the type.
        let (positions, values) = unsafe { self.split() };
        TypedOutputs { positions, values: Some(values) }
    }

    /// Places for positions, and as many for values, which are wanted.
    ///
    /// # Safety
    /// - Values are wanted, of elements of the size and alignment of `L`.
    #[inline(always)]
    pub(crate) unsafe fn split<L>(self) -> (Positions<'a>, &'a mut [MaybeUninit<L>]) {
        debug_assert_eq!(self.value_bytes, size_of::<L>());
        // SAFETY: they are (a part of) a slice of as many elements, which is borrowed for `'a`, and the caller promises
        // the type. No place becomes uninitialised: all that write here write elements.
        let values = unsafe { core::slice::from_raw_parts_mut(self.values.cast(), self.len()) };
        (self.positions, values)
    }
}

/// [`Outputs`] whose values are known to be of type `L`.
pub(crate) struct TypedOutputs<'a, L> {
    pub(crate) positions: Positions<'a>,
    /// As many as positions, or `None` where they are not wanted.
    pub(crate) values: Option<&'a mut [MaybeUninit<L>]>,
}

impl<L> TypedOutputs<'_, L> {
    /// How many there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    /// All of them.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> TypedOutputs<'_, L> {
        TypedOutputs { positions: self.positions.reborrow(), values: self.values.as_deref_mut() }
    }

    /// Those from `start` on, `len` of them.
    #[inline(always)]
    pub(crate) fn part(self, start: usize, len: usize) -> Self {
        let values = self.values.map(|values| &mut values[start..][..len]);
        TypedOutputs { positions: self.positions.part(start, len), values }
    }

    /// The first `n` of them; the others stay.
    #[inline(always)]
    pub(crate) fn take(&mut self, n: usize) -> Self {
        let values = match self.values.take() {
            Some(values) => {
                let (first, others) = values.split_at_mut(n);
                self.values = Some(others);
                Some(first)
            }
            None => None,
        };
        TypedOutputs { positions: self.positions.take(n), values }
    }

    /// The places for positions, if they are of 32 bits, and no values are wanted.
    #[inline(always)]
    pub(crate) fn only_positions(&mut self) -> Option<&mut [MaybeUninit<u32>]> {
        match self.positions.places() {
            Places::U32(places) if self.values.is_none() => Some(places),
            _ => None,
        }
    }
}

/// Which values a kernel has written, where they are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// None of them.
    Nothing,
    /// All of them, but of some it [has not kept](crate::order::ArgOrder::lost) all bits.
    SomeBits,
    /// All of them, bit for bit.
    All,
}

impl Written {
    /// All of them; if some bits are lost, of some values.
    #[inline(always)]
    pub(crate) fn all(has_lost: bool) -> Self {
        if has_lost { Written::SomeBits } else { Written::All }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_beside_their_positions() {
        let (mut positions, mut values) = ([0_u64; 8], [0_u16; 8]);
        let outputs = Outputs::with_values(Positions::from(&mut positions[1..]), &mut values[1..]);
        // SAFETY: the values above.
        let mut outputs = unsafe { outputs.typed::<u16>() };
        let write = |mut outputs: TypedOutputs<'_, u16>, first: u16| {
            outputs.positions.write(0, first.into());
            outputs.values.unwrap()[0].write(first);
        };
        write(outputs.take(2), 1);
        write(outputs.reborrow().part(3, 2), 6);
        write(outputs.reborrow(), 3);
        assert_eq!(outputs.len(), 5);
        assert!(outputs.only_positions().is_none());
        assert_eq!(positions, [0, 1, 0, 3, 0, 0, 6, 0]);
        assert_eq!(values, [0, 1, 0, 3, 0, 0, 6, 0]);
    }

    #[test]
    fn no_values_stay_none() {
        fn typed<'a>(positions: Positions<'a>) -> TypedOutputs<'a, u64> {
            // SAFETY: there are none.
            unsafe { Outputs::from(positions).typed() }
        }
        let mut positions = [0_u32; 4];
        let mut outputs = typed(Positions::from(&mut positions[..]));
        assert!(outputs.only_positions().is_some());
        assert!(typed(Positions::from(&mut [0_u64; 4][..])).only_positions().is_none());
        assert!(outputs.take(1).values.is_none());
        assert!(outputs.reborrow().part(1, 2).values.is_none());
    }

    #[test]
    #[should_panic]
    fn as_many_values_as_positions() {
        let (mut positions, mut values) = ([0_u32; 4], [0_u8; 3]);
        Outputs::with_values(Positions::from(&mut positions[..]), &mut values[..]);
    }
}
