//! The instruction sets: one module each, a token and the table of operations of [`crate::lanes`]. Everything that pulp gives
//! stays in here.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
pub(crate) mod portable;
