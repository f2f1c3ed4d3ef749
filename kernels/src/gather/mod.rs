//! Gathering: elements that vectors cannot load from in place are copied into a small buffer first.
//!
//! The tensor is never copied as a whole. The buffer (`scratch.rs`) is a few KiB on the stack, so that it stays in L1:
//! it is filled, reduced, and filled again. There is no order and no NaN here, and of a type nothing but its size: all
//! of this copies bytes. Copies and perfect shuffles use AVX2 in AVX-512 kernels, because moves of a few bytes gain
//! nothing from wider vectors.
//!
//! # What is gathered, and into what
//!
//! Elements become rows of lanes: row `p` has element `p` of each lane, and a lane is an output. A single lane is a
//! strided output that is gathered to be contiguous.
//!
//! | elements | how | file |
//! |---|---|---|
//! | of lanes at one distance | row by row; small steps by shuffles | `copy.rs` |
//! | of lanes in runs of neighbours | a wide load and store for each run | `copy.rs` |
//! | of lanes anywhere | one by one | `copy.rs` |
//! | of runs, one row or a few short ones each | a transpose | `transpose.rs` |
//!
//! A run is copied by a load and a store that are wider than it: what they bring too much is overwritten by the next
//! run. No load goes beyond the memory that the caller promises.
//!
//! # The transposes
//!
//! A run is a few contiguous elements, of one output or of some neighbours. Runs are transposed so that element `e`
//! of run `n` comes to place `e * count + n`: the same elements of all runs are side by side. There are two ways,
//! both made of one operation, which interleaves two vectors: first their lower halves, then their upper ones.
//! It does so in each 16 bytes of a vector, which is what instruction sets have.
//!
//! **16 bytes at a time**, each from another run. Each round of interleaving moves one bit of the number of a run
//! into the number of its lane; 16 bytes take log2 of their lanes rounds. Of four runs `a` to `d`, of four elements:
//!
//! ```text
//! a0 a1 a2 a3        a0 c0 a1 c1        a0 b0 c0 d0
//! b0 b1 b2 b3        a2 c2 a3 c3        a1 b1 c1 d1
//! c0 c1 c2 c3   ->   b0 d0 b1 d1   ->   a2 b2 c2 d2
//! d0 d1 d2 d3        b2 d2 b3 d3        a3 b3 c3 d3
//! ```
//!
//! **By perfect shuffles**, of whole runs that are short and follow each other in memory. A perfect shuffle of `n`
//! elements interleaves the first half with the second, as of a pack of cards:
//!
//! ```text
//! place p          comes to 2 * p mod (n - 1)                         (the last element stays)
//! k shuffles       multiply by m = 2^k
//! n = LEN * m      are m runs of LEN elements; element e of run i is at p = LEN * i + e
//!
//! after k shuffles p comes to m * p = (LEN * m) * i + m * e = i + m * e    mod (n - 1), because n = LEN * m = 1
//! ```
//!
//! That is the transposed place. A shuffle of an even number of vectors is one interleave of each vector of the first
//! half with one of the second. (H. S. Stone, "Parallel processing with the perfect shuffle", 1971.)
//!
//! Of runs of several outputs, positions are found column by column; `interleave.rs` puts them back in the order of
//! the outputs.

mod copy;
mod interleave;
mod scratch;
pub(crate) mod transpose;

pub(crate) use copy::LaneOffsets;
pub(crate) use interleave::{interleave, interleave_values};
pub use scratch::SCRATCH_BYTES;
pub(crate) use scratch::Scratch;
