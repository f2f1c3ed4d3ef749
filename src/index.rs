//! The index types. A new one is a word in the list at the end.

mod sealed {
    pub trait Sealed {}
}

/// A type that indices are written as: `i32`, `i64`, `u32` or `u64`. Sealed.
///
/// ```
/// use argreduce::Index;
/// assert_eq!((<u32 as Index>::NAME, <i32 as Index>::MAX), ("u32", 2_147_483_647));
/// ```
pub trait Index: sealed::Sealed + Copy + std::fmt::Debug + Default + Eq + Ord + Send + Sync + 'static {
    /// The type, as in Rust.
    const NAME: &'static str;
    /// The largest index that fits.
    const MAX: u64;

    /// The unsigned index type of the same size: the same bits for each index that fits both.
    #[doc(hidden)]
    type Bits: Index;

    /// The same memory as those.
    #[doc(hidden)]
    fn as_bits(indices: &mut [Self]) -> &mut [Self::Bits];

    /// `start + position * step`, which fits; what overflows on the way wraps back.
    #[doc(hidden)]
    fn at(start: isize, position: u64, step: isize) -> Self;

    /// The same memory as positions of a kernel, if those have the same size.
    #[doc(hidden)]
    fn as_positions(indices: &mut [Self]) -> Option<&mut [u32]>;
}

macro_rules! indices {
    ($($t:ident as $bits:ident)+) => {$(
        impl sealed::Sealed for $t {}
        impl Index for $t {
            const NAME: &'static str = stringify!($t);
            const MAX: u64 = $t::MAX as u64;
            type Bits = $bits;

            #[inline(always)]
            fn as_bits(indices: &mut [Self]) -> &mut [$bits] {
                bytemuck::cast_slice_mut(indices)
            }

            #[inline(always)]
            fn at(start: isize, position: u64, step: isize) -> Self {
                (start as $t).wrapping_add((position as $t).wrapping_mul(step as $t))
            }

            #[inline(always)]
            fn as_positions(indices: &mut [Self]) -> Option<&mut [u32]> {
                bytemuck::try_cast_slice_mut(indices).ok().filter(|_| size_of::<$t>() == size_of::<u32>())
            }
        }
    )+};
}

indices!(i32 as u32 i64 as u64 u32 as u32 u64 as u64);
