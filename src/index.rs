//! The index types. A new one is a word in the list at the end, and one in [`Indices`] if it has another width.

use crate::DataType;
use crate::exec::{ElementsRef, Outputs};

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
/// argreduce::argmax::<f32, i16>(&[1.0], &[1], &[0]);
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

    /// The same memory as unsigned integers of this width.
    #[doc(hidden)]
    fn as_bits(indices: &mut [Self]) -> Indices<'_>;

    /// The same, to read.
    #[doc(hidden)]
    fn elements(indices: &[Self]) -> ElementsRef<'_>;

    /// `start + position * step`, which fits. If the product overflows, the sum wraps back to the right index.
    #[doc(hidden)]
    fn at(start: isize, position: u64, step: isize) -> Self;
}

/// A slice to write indices to, by their width alone: so the code behind a plan exists once for each width, not for
/// each type. (Public because a method of [`Index`] returns it; it cannot be named outside this crate.)
#[derive(Debug)]
pub enum Indices<'a> {
    U8(Outputs<'a, u8>),
    U16(Outputs<'a, u16>),
    U32(Outputs<'a, u32>),
    U64(Outputs<'a, u64>),
}

/// An expression for indices of each width.
macro_rules! for_width {
    ($indices:expr, $slice:ident => $body:expr) => {
        match $indices {
            $crate::index::Indices::U8($slice) => $body,
            $crate::index::Indices::U16($slice) => $body,
            $crate::index::Indices::U32($slice) => $body,
            $crate::index::Indices::U64($slice) => $body,
        }
    };
}
pub(crate) use for_width;

impl Indices<'_> {
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        for_width!(self, indices => indices.len())
    }

    /// The bytes of each.
    pub(crate) fn width(&self) -> usize {
        match self {
            Indices::U8(_) => 1,
            Indices::U16(_) => 2,
            Indices::U32(_) => 4,
            Indices::U64(_) => 8,
        }
    }

    /// The address of one.
    pub(crate) fn address(&self, place: usize) -> usize {
        for_width!(self, indices => indices.address(place))
    }

    /// The same for a task: see [`Outputs::lend`].
    pub(crate) fn lend(&self) -> Indices<'_> {
        match self {
            Indices::U8(indices) => Indices::U8(indices.lend()),
            Indices::U16(indices) => Indices::U16(indices.lend()),
            Indices::U32(indices) => Indices::U32(indices.lend()),
            Indices::U64(indices) => Indices::U64(indices.lend()),
        }
    }

    /// All bits set: the index of nothing.
    pub(crate) fn none(&self) -> u64 {
        match self {
            Indices::U8(_) => u8::MAX.into(),
            Indices::U16(_) => u16::MAX.into(),
            Indices::U32(_) => u32::MAX.into(),
            Indices::U64(_) => u64::MAX,
        }
    }

    /// Writes one: see [`Index::at`].
    #[inline(always)]
    pub(crate) fn set(&mut self, place: usize, start: isize, position: u64, step: isize) {
        for_width!(self, indices => indices.set(place, Index::at(start, position, step)));
    }
}

macro_rules! indices {
    ($($t:ident as $bits:ident $width:ident;)+) => {$(
        impl sealed::Sealed for $t {}
        impl Index for $t {
            const NAME: &'static str = stringify!($t);
            const MAX: u64 = $t::MAX as u64;
            const NONE: $t = !0;

            #[inline(always)]
            fn value(self) -> i128 {
                self as i128
            }

            #[inline(always)]
            fn as_bits(indices: &mut [Self]) -> Indices<'_> {
                Indices::$width(bytemuck::cast_slice_mut::<$t, $bits>(indices).into())
            }

            #[inline(always)]
            fn elements(indices: &[Self]) -> ElementsRef<'_> {
                bytemuck::cast_slice::<$t, $bits>(indices).into()
            }

            #[inline(always)]
            fn at(start: isize, position: u64, step: isize) -> Self {
                (start as $t).wrapping_add((position as $t).wrapping_mul(step as $t))
            }
        }
    )+};
}

indices! {
    i32 as u32 U32;
    i64 as u64 U64;
    u32 as u32 U32;
    u64 as u64 U64;
    u8 as u8 U8;
    u16 as u16 U16;
}
#[cfg(target_pointer_width = "32")]
indices!(usize as u32 U32;);
#[cfg(target_pointer_width = "64")]
indices!(usize as u64 U64;);

/// The largest index that fits a type, if it is one for indices.
pub(crate) fn max_index(data_type: DataType) -> Option<u64> {
    Some(match data_type {
        DataType::I32 => <i32 as Index>::MAX,
        DataType::I64 => <i64 as Index>::MAX,
        DataType::U32 => <u32 as Index>::MAX,
        DataType::U64 => <u64 as Index>::MAX,
        DataType::U8 => <u8 as Index>::MAX,
        DataType::U16 => <u16 as Index>::MAX,
        _ => return None,
    })
}
