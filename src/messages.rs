//! A macro for enums of errors, in which each variant stands beside its message.

/// An enum of `Variant { fields } => what writes its message to $f`, from the fields by reference.
macro_rules! error_enum {
    (
        $(#[$meta:meta])* pub enum $name:ident($f:ident) {
            $(
                $(#[$doc:meta])* $variant:ident
                $({ $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ })? $(($inner:ident: $inner_type:ty))?
                => $message:expr,
            )+
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $variant $({ $($(#[$field_doc])* $field: $type,)+ })? $(($inner_type))?,)+
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, $f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($name::$variant $({ $($field),+ })? $(($inner))? => $message,)+
                }
            }
        }

        impl std::error::Error for $name {}
    };
}
pub(crate) use error_enum;
