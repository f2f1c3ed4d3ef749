//! Lower-case names for the values of small enums: one macro for `Display`, `FromStr` and the list of all values.

use core::fmt;

/// The error of parsing an enum of this crate from a name. Displays the names that there are.
///
/// ```
/// # use argreduce_kernels as argreduce;
/// use argreduce::NanPolicy;
/// let error = "first".parse::<NanPolicy>().unwrap_err();
/// assert_eq!(error.to_string(), "no such name: expected one of propagate, ignore");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownName {
    #[doc(hidden)]
    pub expected: &'static [&'static str],
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such name: expected one of ")?;
        for (n, name) in self.expected.iter().enumerate() {
            write!(f, "{}{name}", if n > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownName {}

/// Gives an enum `ALL`, `name`, `ordinal`, `Display` and `FromStr`. Behind `or` is a second name, which is parsed only.
#[doc(hidden)]
#[macro_export]
macro_rules! names {
    ($type:ident: $($variant:ident = $name:literal $(or $other:literal)?),+ $(,)?) => {
        impl $type {
            /// All of them.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// Its number: another for each, below the length of `ALL`.
            #[doc(hidden)]
            #[inline(always)]
            pub const fn ordinal(self) -> usize {
                self as usize
            }

            /// The name, as displayed and parsed.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }

        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }

        impl core::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<$type, $crate::UnknownName> {
                match name {
                    $($name $(| $other)? => Ok($type::$variant),)+
                    _ => Err($crate::UnknownName { expected: &[$($name),+] }),
                }
            }
        }
    };
}
