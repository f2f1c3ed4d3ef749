//! The index types. A new one is a word in the list at the end.

use crate::{DataType, Element};

mod sealed {
    pub trait Sealed {}
}

/// A type that indices are written as: `i32`, `i64`, `u32`, `u64`, `u8`, `u16` or `usize`. Sealed.
///
/// ```
/// use argreduce::Index;
/// assert_eq!((<u32 as Index>::NAME, <i32 as Index>::MAX, <u8 as Index>::MAX), ("u32", 2_147_483_647, 255));
/// ```
///
/// No other type will do:
///
/// ```compile_fail,E0277
/// argreduce::argmax::<Vec<i16>, f32, _>(&[1.0], &[1], &[0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type for indices",
    label = "indices cannot be written as this",
    note = "the index types are `i32`, `i64`, `u32`, `u64`, `u8`, `u16` and `usize`"
)]
pub trait Index: sealed::Sealed + Copy + std::fmt::Debug + Default + Eq + Ord + Send + Sync + 'static {
    /// The type, as in Rust.
    const NAME: &'static str;
    /// The largest index that fits.
    const MAX: u64;
    /// All bits set: the index of nothing.
    #[doc(hidden)]
    const NONE: Self;

    /// As a number.
    #[doc(hidden)]
    fn value(self) -> i128;

    /// The unsigned integer of this width.
    #[doc(hidden)]
    type Bits: Element + bytemuck::Pod;

    /// Indices as integers of that type, in place.
    #[doc(hidden)]
    fn bits(indices: &[Self]) -> &[Self::Bits];

    /// As [`Index::bits`], to write to.
    #[doc(hidden)]
    fn bits_mut(indices: &mut [Self]) -> &mut [Self::Bits];

    /// `start + position * step`, which fits. If the product overflows, the sum wraps back to the right index.
    #[doc(hidden)]
    fn at(start: isize, position: u64, step: isize) -> Self;
}

macro_rules! indices {
    ($($t:ident as $bits:ident)+) => {$(
        impl sealed::Sealed for $t {}
        impl Index for $t {
            const NAME: &'static str = stringify!($t);
            const MAX: u64 = $t::MAX as u64;
            const NONE: $t = !0;
            type Bits = $bits;

            #[inline(always)]
            fn value(self) -> i128 {
                self as i128
            }

            #[inline(always)]
            fn bits(indices: &[$t]) -> &[$bits] {
                bytemuck::cast_slice(indices)
            }

            #[inline(always)]
            fn bits_mut(indices: &mut [$t]) -> &mut [$bits] {
                bytemuck::cast_slice_mut(indices)
            }

            #[inline(always)]
            fn at(start: isize, position: u64, step: isize) -> Self {
                (start as $t).wrapping_add((position as $t).wrapping_mul(step as $t))
            }
        }
    )+};
}

/// Those that are element types as well.
macro_rules! index_types {
    ($($t:ident as $bits:ident)+) => {
        indices!($($t as $bits)+);

        /// The largest index that fits a type, if it is one for indices.
        pub(crate) fn max_index(data_type: DataType) -> Option<u64> {
            let types = [$((<$t as Element>::DATA_TYPE, <$t as Index>::MAX)),+];
            types.iter().find(|(index_type, _)| *index_type == data_type).map(|&(_, max)| max)
        }
    };
}

index_types! {
    i32 as u32
    i64 as u64
    u32 as u32
    u64 as u64
    u8 as u8
    u16 as u16
}
#[cfg(target_pointer_width = "32")]
indices!(usize as u32);
#[cfg(target_pointer_width = "64")]
indices!(usize as u64);
