//! The C interface: turns pointers into references, once each is known to be one, and errors into codes and messages.
//! What they describe is checked by the `argreduce` crate; nothing here knows how a reduction runs.
//!
//! The documentation of the functions is that of the header, `include/argreduce.h`, which cbindgen writes from it.
#![allow(non_camel_case_types)]
#![warn(clippy::too_many_lines)]

mod api;

pub use api::*;
