//! What the fuzz targets share: reductions drawn from bytes (`draw`), one check of them (`check`), and a model of what
//! is valid, in arithmetic that cannot overflow (`model`). A target is one function of bytes here, so that seeds can be
//! tried without libFuzzer.

mod calls;
mod check;
mod descriptors;
mod draw;
mod layouts;
mod model;
mod outcome;
mod segments;
#[cfg(target_family = "wasm")]
mod wasm;

// The C interface has no Rust library of its own, so its sources are a part of this one.
#[allow(non_camel_case_types, dead_code, reason = "the names of a C header, all of which it has")]
#[path = "../../capi/src/api/mod.rs"]
mod api;

// As the facade's own tests have them: calls as values, and how they are checked.
#[path = "../../tests/common/call.rs"]
mod call;
#[path = "../../tests/common/case.rs"]
mod case;
#[path = "../../tests/common/descriptors.rs"]
mod descriptors_of_rust;
#[path = "../../tests/common/executor.rs"]
mod executor;
#[path = "../../tests/common/ragged.rs"]
mod ragged;

pub use calls::calls;
pub use check::check;
pub use descriptors::descriptors;
pub use draw::Problem;
pub use layouts::layouts;
pub use outcome::Outcome;
pub use segments::segments;

use arbitrary::{Arbitrary, Unstructured};

/// One-dimensional tensors, forwards and backwards.
pub fn slices(bytes: &[u8]) -> Outcome {
    drawn(bytes, Problem::slice)
}

/// Tensors of any rank.
#[allow(clippy::redundant_closure, reason = "the function itself is of one lifetime only")]
pub fn tensors(bytes: &[u8]) -> Outcome {
    drawn(bytes, |u| Problem::arbitrary(u))
}

fn drawn(bytes: &[u8], draw: fn(&mut Unstructured<'_>) -> arbitrary::Result<Problem>) -> Outcome {
    let Ok(problem) = draw(&mut Unstructured::new(bytes)) else { return Outcome::Rejected };
    check(&problem);
    Outcome::Checked(problem.class())
}

/// A target: what becomes of these bytes.
pub type Target = fn(&[u8]) -> Outcome;

/// 16 to 143 bytes, the same for each seed (splitmix64).
pub fn random_bytes(seed: u64) -> Vec<u8> {
    let mut draw = case::Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let len = 16 + (draw.bits() % 128) as usize;
    (0..len).map(|_| draw.bits() as u8).collect()
}

/// All targets by name.
pub const TARGETS: [(&str, Target); 6] = [
    ("slices", slices),
    ("tensors", tensors),
    ("layouts", layouts),
    ("calls", calls),
    ("segments", segments),
    ("descriptors", descriptors),
];
