//! Partial loads: fewer elements are there than a vector has lanes, and what follows them is out of bounds. Knows
//! nothing of ISAs; those that have an instruction for it do not need this.

/// The widest vector, in bytes, that any ISA here may have.
pub(crate) const MAX_VECTOR_BYTES: usize = 64;

#[repr(align(64))]
pub(crate) struct PaddedTail([u64; MAX_VECTOR_BYTES / 8]);

impl PaddedTail {
    /// Some elements, and then zeros.
    ///
    /// They are copied in words, which stay in registers: a vector load that has to wait for the stores of single
    /// elements takes longer than all else that is done with so few.
    ///
    /// # Safety
    /// - `from` points to `n` readable elements, and they are at most [`MAX_VECTOR_BYTES`].
    #[inline(always)]
    pub(crate) unsafe fn new<L>(from: *const L, n: usize) -> Self {
        let (from, bytes) = (from.cast::<u8>(), n * size_of::<L>());
        let mut copied = [0; MAX_VECTOR_BYTES / 8];
        // SAFETY: the caller promises the bytes; the conditions below keep each read within them, the last ones by
        // overlapping the previous ones.
        unsafe {
            let read = |at: usize| u64::from_le(from.add(at).cast::<u64>().read_unaligned());
            for (n, word) in copied.iter_mut().enumerate() {
                let at = 8 * n;
                let value = if at + 8 <= bytes {
                    read(at)
                } else if at >= bytes {
                    0
                } else if bytes >= 8 {
                    // The last bytes, at the end of a word that overlaps the previous one.
                    read(bytes - 8) >> (8 * (at + 8 - bytes))
                } else if bytes >= 4 {
                    let half = |at: usize| u64::from(u32::from_le(from.add(at).cast::<u32>().read_unaligned()));
                    half(0) | half(bytes - 4) << (8 * (bytes - 4))
                } else {
                    let byte = |at: usize| u64::from(from.add(at).read()) << (8 * at);
                    byte(0) | byte(bytes / 2) | byte(bytes - 1)
                };
                *word = value.to_le();
            }
        }
        PaddedTail(copied)
    }

    #[inline(always)]
    pub(crate) fn as_ptr<L>(&self) -> *const L {
        self.0.as_ptr().cast()
    }
}
