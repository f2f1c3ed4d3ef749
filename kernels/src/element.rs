//! The element types, in one table: a new one is one row here (and, where no lanes of [`crate::order`] fit it, a key there).

use crate::dispatch::{self, Isa, Kernel};
use crate::order::{NanPolicy, ReduceFunction};
use crate::strategy::Strategy;
use core::fmt;
use half::{bf16, f16};

mod sealed {
    pub trait Sealed {}
}

/// A type that can be reduced: one of the thirteen of [`DataType`]. Sealed.
///
/// ```
/// use argreduce_kernels::{DataType, Element};
/// assert_eq!(<f32 as Element>::DATA_TYPE, DataType::F32);
/// assert!(f64::NAN.is_nan() && !Element::is_nan(7_u8));
/// ```
pub trait Element: sealed::Sealed + Copy + PartialOrd + fmt::Debug + Default + Send + Sync + 'static {
    /// The type as a value.
    const DATA_TYPE: DataType;

    /// Whether this is a NaN; never for integers and `bool`.
    #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
    fn is_nan(self) -> bool {
        self != self
    }

    /// The kernel behind [`crate::kernel`].
    #[doc(hidden)]
    fn kernel(isa: Isa, strategy: Strategy, function: ReduceFunction, policy: NanPolicy) -> Option<Kernel>;
}

macro_rules! elements {
    ($($(#[$doc:meta])* $name:ident: $t:ident as $key:ident, $text:literal;)+) => {
        /// An element type as a value. Displays and parses as in Rust: `f32`, `bool`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum DataType {
            $($(#[$doc])* $name,)+
        }

        crate::names!(DataType: $($name = $text),+);

        impl DataType {
            /// Bytes in one element.
            pub const fn size(self) -> usize {
                match self {
                    $(DataType::$name => size_of::<$t>(),)+
                }
            }
        }

        $(
            impl sealed::Sealed for $t {}
            impl Element for $t {
                const DATA_TYPE: DataType = DataType::$name;

                fn kernel(
                    isa: Isa,
                    strategy: Strategy,
                    function: ReduceFunction,
                    policy: NanPolicy,
                ) -> Option<Kernel> {
                    dispatch::by_isa::<$key>(isa, strategy, function, policy)
                }
            }
        )+
    };
}

elements! {
    /// 32-bit float.
    F32: f32 as f32, "f32";
    /// 16-bit float, `half::f16`.
    F16: f16 as f16, "f16";
    /// 16-bit float with 8 bits of exponent, `half::bf16`.
    Bf16: bf16 as bf16, "bf16";
    /// 64-bit float.
    F64: f64 as f64, "f64";
    /// 8-bit signed integer.
    I8: i8 as i8, "i8";
    /// 16-bit signed integer.
    I16: i16 as i16, "i16";
    /// 32-bit signed integer.
    I32: i32 as i32, "i32";
    /// 64-bit signed integer.
    I64: i64 as i64, "i64";
    /// 8-bit unsigned integer.
    U8: u8 as u8, "u8";
    /// 16-bit unsigned integer.
    U16: u16 as u16, "u16";
    /// 32-bit unsigned integer.
    U32: u32 as u32, "u32";
    /// 64-bit unsigned integer.
    U64: u64 as u64, "u64";
    /// `false` is less than `true`; the same kernels as `u8`.
    Bool: bool as u8, "bool";
}
