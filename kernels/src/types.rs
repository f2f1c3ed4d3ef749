//! The element types, in one table: a new one is one row here (and, where no lanes of [`crate::order`] fit it, a key
//! there). A row names the feature without which its kernels are left out: they take most of the time of a build. `u8`
//! has none, because masks need it.

use core::fmt;
use half::{bf16, f16};

mod sealed {
    pub trait Sealed {}
}

/// From a size in bytes to an integer of that size: `with_bits!(size, B => f::<B>())` is the expression, with `B` for
/// the integer. Copies do not depend on types: one instance for each size is enough.
#[doc(hidden)]
#[macro_export]
macro_rules! with_bits {
    ($size:expr, $B:ident => $body:expr) => {
        $crate::with_bits!(@ $size, $B, $body; 1 u8, 2 u16, 4 u32, _ u64)
    };
    (@ $size:expr, $B:ident, $body:expr; $($bytes:tt $t:ident),+) => {
        match $size {
            $($bytes => {
                type $B = $t;
                $body
            })+
        }
    };
}

/// [`with_bits`], of the size of an element that is reduced: there is no code for sizes that no type with
/// [kernels](DataType::has_kernels) has.
#[doc(hidden)]
#[macro_export]
macro_rules! with_element_bits {
    ($size:expr, $B:ident => $body:expr) => {
        $crate::with_bits!($size, $B => {
            if const { !$crate::DataType::any_has_kernels(size_of::<$B>()) } {
                unreachable!("elements without kernels are refused before");
            }
            $body
        })
    };
}

/// [`with_element_type`], of elements that are reduced: there is no code for types without
/// [kernels](DataType::has_kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! with_reduced_type {
    ($data_type:expr, $T:ident => $body:expr) => {
        $crate::with_element_type!($data_type, $T => {
            if const { !<$T as $crate::Element>::DATA_TYPE.has_kernels() } {
                unreachable!("elements without kernels are refused before");
            }
            $body
        })
    };
}

/// A type that can be reduced: one of those of [`DataType`]. Sealed.
///
/// ```
/// # use argreduce_kernels as argreduce;
/// use argreduce::{DataType, Element};
/// assert_eq!(<f32 as Element>::DATA_TYPE, DataType::F32);
/// assert!(f64::NAN.is_nan() && !Element::is_nan(7_u8));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type",
    label = "there is no order of these elements",
    note = "the element types are `f32`, `f64`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `bool`, and \
            `f16` and `bf16` of the crate `half`"
)]
pub trait Element: sealed::Sealed + Copy + PartialOrd + fmt::Debug + Default + Send + Sync + 'static {
    /// The type as a value.
    const DATA_TYPE: DataType;

    /// The type whose kernels are used, of which all bits are values: `u8` for `bool`, the same for any other.
    #[doc(hidden)]
    type Pod: Element + bytemuck::Pod;

    /// The element whose bits are 0: 0, +0 or `false`.
    #[doc(hidden)]
    const ZERO: Self;

    /// Whether this is a NaN; never for integers and `bool`.
    fn is_nan(self) -> bool {
        // A NaN alone has whatever key it is given. (Not by a comparison, which may trap.)
        self.key(i64::MIN) != self.key(i64::MAX)
    }

    /// No number is below.
    #[doc(hidden)]
    const LOWEST: Self;

    /// No number is above.
    #[doc(hidden)]
    const HIGHEST: Self;

    /// A NaN, of types that have some: all values with a larger magnitude than [`Element::HIGHEST`] has, as bits.
    #[doc(hidden)]
    const ANY_NAN: Option<Self>;

    /// An integer in the order of the numbers, and `nan` for a NaN: what is behind [`crate::key`].
    #[doc(hidden)]
    fn key(self, nan: i64) -> i64;
}

/// In the order of the floats, of the bits of one that is `width` bits wide: the magnitude, negated where the sign is
/// set, so that -0 equals +0; or `nan`.
#[inline(always)]
fn float_key(bits: u64, width: u32, infinity: u64, nan: i64) -> i64 {
    let sign = 1 << (width - 1);
    let magnitude = bits & (sign - 1);
    let number = if bits & sign == 0 { magnitude as i64 } else { -(magnitude as i64) };
    if magnitude > infinity { nan } else { number }
}

/// [`Element::LOWEST`], [`Element::HIGHEST`] and [`Element::ANY_NAN`], by the kind of type.
macro_rules! extremes {
    (float $t:ident) => {
        ($t::NEG_INFINITY, $t::INFINITY, Some($t::NAN))
    };
    (integer $t:ident) => {
        ($t::MIN, $t::MAX, None::<$t>)
    };
    (truth $t:ident) => {
        (false, true, None::<$t>)
    };
}

/// The body of [`Element::key`], by the kind of type.
macro_rules! key {
    (float $t:ident, $x:ident, $nan:ident) => {
        float_key($x.to_bits().into(), size_of::<$t>() as u32 * 8, $t::INFINITY.to_bits().into(), $nan)
    };
    // All unsigned ones are moved down alike, so that `u64` fits.
    (integer $t:ident, $x:ident, $nan:ident) => {{
        let _ = $nan;
        ($x as i64) ^ (if <$t as Element>::Pod::MIN == 0 { i64::MIN } else { 0 })
    }};
    (truth $t:ident, $x:ident, $nan:ident) => {
        key!(integer $t, $x, $nan)
    };
}

// `$d` is a dollar sign, for the macros that this one makes.
macro_rules! elements {
    ($d:tt $(
        $(#[$doc:meta])* $name:ident: $kind:tt $t:ident as $key:ident $(if $feature:literal)?,
            $text:literal $(or $other:literal)?;
    )+) => {
        /// An element type as a value. Displays as in Rust: `f32`, `bool`. Parses that, and the name that it has in
        /// NumPy and ONNX.
        ///
        /// ```
        /// # use argreduce_kernels as argreduce;
        /// use argreduce::DataType;
        /// let data_type: DataType = "float32".parse()?;
        /// assert_eq!((data_type, data_type.to_string()), ("f32".parse()?, "f32".to_string()));
        /// # Ok::<(), argreduce::UnknownName>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DataType {
            $($(#[$doc])* $name,)+
        }

        crate::names!(DataType: $($name = $text $(or $other)?),+);

        impl DataType {
            /// Bytes in one element.
            pub const fn size(self) -> usize {
                match self {
                    $(DataType::$name => size_of::<$t>(),)+
                }
            }

            /// Whether this build has kernels for it: those of some types are left out where the
            /// [feature](DataType::feature) of their group is off.
            ///
            /// ```
            /// # use argreduce_kernels as argreduce;
            /// use argreduce::DataType;
            /// assert!(DataType::U8.has_kernels());
            /// assert_eq!(DataType::Bf16.has_kernels(), DataType::F16.has_kernels());
            /// ```
            pub const fn has_kernels(self) -> bool {
                match self {
                    $(DataType::$name => cfg!(all($(feature = $feature)?)),)+
                }
            }

            /// Whether it has kernels for any type of so many bytes.
            #[doc(hidden)]
            pub const fn any_has_kernels(bytes: usize) -> bool {
                $((DataType::$name.size() == bytes && DataType::$name.has_kernels()))||+
            }

            /// The feature that its kernels need, of this crate or of `argreduce`; `None` for those that are always
            /// there.
            ///
            /// ```
            /// # use argreduce_kernels as argreduce;
            /// use argreduce::DataType;
            /// assert_eq!(DataType::U64.feature(), Some("int64"));
            /// assert_eq!(DataType::U8.feature(), None);
            /// ```
            pub const fn feature(self) -> Option<&'static str> {
                match self {
                    $(DataType::$name => elements!(@feature $($feature)?),)+
                }
            }

            /// What is wrong where there [are none](DataType::has_kernels).
            #[doc(hidden)]
            pub const fn no_kernels(self) -> &'static str {
                match self {
                    $(DataType::$name => elements!(@no_kernels $text $(, $feature)?),)+
                }
            }
        }

        /// From a value to a type: `with_element_type!(data_type, T => f::<T>())` is the expression, with `T` for the
        /// type that the value names. In place of every match on a [`DataType`], so that a new type is forgotten
        /// nowhere.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! with_element_type {
            ($d data_type:expr, $d T:ident => $d body:expr) => {
                match $d data_type {
                    $($crate::DataType::$name => {
                        type $d T = $crate::by_name::$t;
                        $d body
                    })+
                    #[allow(unreachable_patterns, reason = "in other crates it may be reached, by what they know")]
                    _ => unreachable!("all rows of the table are above"),
                }
            };
        }

        $(
            impl sealed::Sealed for $t {}
            impl Element for $t {
                const DATA_TYPE: DataType = DataType::$name;
                type Pod = $key;
                // SAFETY: bits of 0 are a value of each of the types.
                const ZERO: $t = unsafe { core::mem::zeroed() };
                const LOWEST: $t = extremes!($kind $t).0;
                const HIGHEST: $t = extremes!($kind $t).1;
                const ANY_NAN: Option<$t> = extremes!($kind $t).2;

                #[inline(always)]
                fn key(self, nan: i64) -> i64 {
                    key!($kind $t, self, nan)
                }
            }
        )+
    };
    (@feature $feature:literal) => {
        Some($feature)
    };
    (@feature) => {
        None
    };
    (@no_kernels $text:literal, $feature:literal) => {
        concat!("argreduce was built without kernels for ", $text, ": they need its feature ", $feature)
    };
    (@no_kernels $text:literal) => {
        ""
    };
}

/// The element types by the names that the table has for them, for its macros.
#[doc(hidden)]
pub mod by_name {
    pub use core::primitive::{bool, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64};
    pub use half::{bf16, f16};
}

elements! { $
    /// 32-bit float.
    F32: float f32 as f32 if "f32", "f32" or "float32";
    /// 16-bit float, `half::f16`.
    F16: float f16 as f16 if "f16", "f16" or "float16";
    /// 16-bit float with 8 bits of exponent, `half::bf16`.
    Bf16: float bf16 as bf16 if "f16", "bf16" or "bfloat16";
    /// 64-bit float.
    F64: float f64 as f64 if "f64", "f64" or "float64";
    /// 8-bit signed integer.
    I8: integer i8 as i8 if "int8", "i8" or "int8";
    /// 16-bit signed integer.
    I16: integer i16 as i16 if "int16", "i16" or "int16";
    /// 32-bit signed integer.
    I32: integer i32 as i32 if "int32", "i32" or "int32";
    /// 64-bit signed integer.
    I64: integer i64 as i64 if "int64", "i64" or "int64";
    /// 8-bit unsigned integer.
    U8: integer u8 as u8, "u8" or "uint8";
    /// 16-bit unsigned integer.
    U16: integer u16 as u16 if "int16", "u16" or "uint16";
    /// 32-bit unsigned integer.
    U32: integer u32 as u32 if "int32", "u32" or "uint32";
    /// 64-bit unsigned integer.
    U64: integer u64 as u64 if "int64", "u64" or "uint64";
    /// `false` is less than `true`; the same kernels as `u8`.
    Bool: truth bool as u8 if "bool", "bool";
}

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReduceFunction {
    /// The smallest element.
    ArgMin,
    /// The largest element.
    ArgMax,
}

/// Where NaN stands among the numbers. All NaNs, of any sign and payload, are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NanPolicy {
    /// A NaN is better than every number, for ArgMin and ArgMax alike: what NumPy, PyTorch and JAX do.
    #[default]
    Propagate,
    /// Every number is better than a NaN.
    #[doc(alias("nanargmax", "nanargmin"))]
    Ignore,
}

crate::names!(ReduceFunction: ArgMin = "argmin", ArgMax = "argmax");
crate::names!(NanPolicy: Propagate = "propagate", Ignore = "ignore");

/// Whether `a` is strictly better than `b`: the total preorder (class, value) by which two partial answers are merged.
/// With an earlier `b` and a later `a`, keeping `b` unless this is true is associative and gives the first of equals.
///
/// ```
/// use argreduce_kernels::{NanPolicy::*, ReduceFunction::*, better};
/// assert!(better(ArgMax, Propagate, f32::NAN, f32::INFINITY));
/// assert!(better(ArgMin, Ignore, 1.0, f32::NAN));
/// assert!(!better(ArgMin, Ignore, -0.0, 0.0));
/// ```
#[inline]
pub fn better<T: Element>(function: ReduceFunction, policy: NanPolicy, a: T, b: T) -> bool {
    key(function, policy, a) > key(function, policy, b)
}

/// The order of [`better`] as integers: the larger key is the better element. What a loop of a few elements compares in
/// one instruction, and in any [floating-point mode](crate::float_mode).
///
/// ```
/// use argreduce_kernels::{NanPolicy::*, ReduceFunction::*, key};
/// assert!(key(ArgMin, Propagate, 1.0) > key(ArgMin, Propagate, 2.0));
/// assert!(key(ArgMin, Ignore, 2.0) > key(ArgMin, Ignore, f64::NAN));
/// assert_eq!(key(ArgMax, Propagate, -0.0), key(ArgMax, Propagate, 0.0));
/// ```
#[inline(always)]
pub fn key<T: Element>(function: ReduceFunction, policy: NanPolicy, element: T) -> i64 {
    let flip = if function == ReduceFunction::ArgMin { -1 } else { 0 };
    let nan = if policy == NanPolicy::Propagate { i64::MAX } else { i64::MIN };
    element.key(nan ^ flip) ^ flip
}
