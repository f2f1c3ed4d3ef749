//! What a kernel is given, and how memory is traversed.
//!
//! # The arguments (`args.rs`)
//!
//! A kernel answers many outputs in one call. Two loops lead from output to output, and any number of loops lead over
//! the elements that each output is chosen from:
//!
//! ```text
//! for o in 0..outer.size:
//!     for i in 0..inner.size:                                     output o * inner.size + i
//!         for each offset of the reduced loops, the last loop fastest:
//!             element input[o * outer.stride + i * inner.stride + offset]
//! ```
//!
//! Strides have any sign, and may be 0. That is all that a kernel knows of a tensor: there are no axes and no shapes,
//! and the direction of a reduction is the sign of its strides. The position of an element is its number in the
//! innermost loop above, so that the first best element is the one that is visited first.
//!
//! Only the elements that the loops reach may be read. Memory between them may belong to somebody else, so a load goes
//! beyond an element only where all elements are contiguous (`KernelArgs::contiguous_end`). Else what is shorter than a
//! vector is loaded by a masked load, if the ISA has one that reads nothing else, or by words (`simd/partial_load.rs`).
//! So there are no loops over remainders: the last load ends with the last element, and overlaps the one before.
//!
//! ```text
//! elements   0 1 2 3 4 5 6 7 8 9 10       vectors of 4 lanes
//! loads      [-----] [-----]
//!                          [------]       element 7 is loaded twice
//! ```
//!
//! # Masks (`mask.rs`)
//!
//! Some kernels take an input under a mask: a bit for each element, whose number is how far the element lies from the
//! first one. They see something else in place of an element whose bit is not set.
//!
//! # Segments (`walk.rs`)
//!
//! The fastest reduced loop is what vectors or rows run along. What the slower loops add is a walk from one such
//! segment to the next:
//!
//! ```text
//! for each offset of the slower loops:
//!     one segment: the fastest loop, from that offset on
//! ```
//!
//! # Prefetching (`row_prefetch.rs`)
//!
//! Kernels prefetch what they will read soon, if the caller expects it beyond the L2 cache. No answer depends on it: a
//! prefetch instruction reads nothing that a program can see, and does not fault at any address. So a prefetched
//! address may be wrong: beyond the last row, or outside the tensor. It is computed by wrapping arithmetic, which needs
//! no promise. What a wrong one costs is time.
//!
//! For the same reason, tests of answers cannot see a wrong prefetch; `row_prefetch.rs` has a test of its own.

pub(crate) mod args;
pub(crate) mod mask;
pub(crate) mod row_prefetch;
pub(crate) mod walk;
