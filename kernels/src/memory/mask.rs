//! The mask of an input, for kernels that load under one. Knows nothing of element types and of vectors.

/// What a kernel sees of an input under a mask: elements that are there, and something else in place of the others.
#[derive(Clone, Copy, Debug)]
pub struct InputMask {
    first: *const (),
    pub(crate) bits: *const u8,
    pub(crate) fill: *const (),
}

impl InputMask {
    /// How many bytes there have to be after that of the last bit: bits are read by words.
    pub const PADDING: usize = size_of::<u64>();

    /// Bit `n` of a mask, the least significant of each byte first, is that of the element `n` after the `first` one;
    /// `fill` is what is seen in place of those whose bit is not set. The first element and `fill` are cast. A mask
    /// borrows nothing: who uses it promises that all is there.
    #[inline(always)]
    pub fn new(first: *const (), bits: &[u8], fill: *const ()) -> Self {
        InputMask { first, bits: bits.as_ptr(), fill }
    }

    /// The number of an element's bit.
    #[inline(always)]
    pub(crate) fn number<B>(&self, at: *const B) -> usize {
        at.addr().wrapping_sub(self.first.addr()) / size_of::<B>()
    }

    /// What is seen in place of an element.
    ///
    /// # Safety
    /// - The element may be read, is of integers of the size of `B`, and has a bit. So is `fill`.
    #[inline(always)]
    pub(crate) unsafe fn read<B: Copy>(&self, at: *const B) -> B {
        let n = self.number(at);
        // SAFETY: the caller's promise.
        unsafe {
            let is_there = self.bits.add(n / 8).read() >> (n % 8) & 1 != 0;
            if is_there { at } else { self.fill.cast::<B>() }.read()
        }
    }
}
