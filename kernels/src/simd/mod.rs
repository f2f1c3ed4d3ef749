//! Instruction sets: for each, a token, and a table of vector operations that the token has as methods.
//!
//! # The token (`token.rs`)
//!
//! A value of a token type, `Avx2` for one, is proof that the machine has the ISA. It has no size. Operations are its
//! methods, so that code without a token cannot run them, and generic code is written once:
//!
//! ```text
//! fn best<T, S: SimdOps<T>>(simd: S, a: S::Vector, b: S::Vector) -> S::Vector {
//!     simd.max(b, a)
//! }
//! ```
//!
//! Such code must become part of a function that has the target features of the ISA; otherwise the compiler turns each
//! operation into a call. `Simd::vectorize` is that function: it runs a `SimdOp`, a closure that is always inlined.
//! `Simd::call_outlined` does the same from inside, as a separate function, for what is long, rare, or shared by many
//! callers:
//!
//! ```text
//! simd.call_outlined(
//!     #[inline(always)]
//!     move || best(simd, a, b),
//! )
//! ```
//!
//! # The table (`ops.rs`, `transpose.rs`)
//!
//! | trait | implemented for | operations |
//! |---|---|---|
//! | `SimdOps<T>` | nine lane types | load, compare, maximum, select, masks, counters as wide as a lane |
//! | `ByteMaskOps<T>` | nine lane types | masks of lanes as masks of bytes, and back |
//! | `MinposOps` | the lane types that have it (x86: of 8 and 16 bits) | the first best of a few lanes |
//! | `TreeOps` | the token | steps from rows to lanes, for lanes of 32 bits |
//! | `SmallFloatOps<L>` | the token | the sort key of small floats, as integers `L` |
//! | `TransposeOps` | the token | interleaving of two vectors, for transposes |
//!
//! The element types need nine lane types: `bool` is `u8`, `u64` is compared as `i64`, and 16-bit floats by an integer
//! key. Operations that can be made of others have a default; an ISA that has an instruction overrides it.
//!
//! Portable arrays (`portable.rs`) are one more ISA, which the compiler makes what it can of. Built wider, on request,
//! they run the control flow of wide vectors on any machine.
//!
//! # How to add an ISA
//!
//! 1. A file or folder here, and its line below: a token with `Simd`, `SimdOps` and `ByteMaskOps` for nine lane types,
//!    `TreeOps`, `SmallFloatOps` and `TransposeOps`. `portable.rs` is the shortest example, `wasm/`
//!    and `neon/` are two with intrinsics. A `macro_rules!` table has a line for each lane type, so that what differs
//!    between them is seen side by side.
//! 2. Its numbers that shape code, in `tuning/isa.rs`.
//! 3. In `dispatch.rs`: a variant of `Isa` with its name, `vector_bytes`, and a line in `with_isa!`. The compiler finds
//!    what is missing, but for `with_isa!`, without which there are no kernels.
//! 4. A line of tests at the end of `kernels/tests/kernels/main.rs`, and one in `ci/inlining`.
//!
//! No strategy changes.
//!
//! Kernels read memory by what a token and its operations say, so that all of these traits are `unsafe` to implement.
//!
//! Tokens wrap those of the crate pulp, which no file outside of this folder names.

use bytemuck::Pod;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod neon;
pub(crate) mod ops;
pub(crate) mod partial_load;
pub(crate) mod portable;
pub(crate) mod token;
pub(crate) mod transpose;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) mod wasm;

/// Bits as another type: [`bytemuck::cast`], but always a part of its caller.
#[inline(always)]
pub(crate) fn cast<A: Pod, B: Pod>(a: A) -> B {
    const { assert!(size_of::<A>() == size_of::<B>()) };
    // SAFETY: of one size, and both may have any bits.
    unsafe { core::mem::transmute_copy(&a) }
}
