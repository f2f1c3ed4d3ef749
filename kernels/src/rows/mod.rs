//! Horizontal reductions: the elements of one output are neighbours, or are gathered to be, and vectors run along them.
//!
//! # Segments (`segment.rs`)
//!
//! A segment is a span of contiguous elements with a direction: a row, or some of one. Each search below takes a
//! segment of some lengths and returns the position of its best. The length decides which one is taken:
//!
//! ```text
//! less than a vector     one vector, padded with what nothing is worse than
//! up to 8 vectors        in registers: maximum of all lanes, then the first lane that is equal to it
//! 5 vectors to a limit   lane-indexed, where an ISA is faster that way
//! longer                 blocked
//! ```
//!
//! The last vector or block of a segment overlaps the previous one instead of leaving a remainder. Re-reading is
//! harmless, because the comparison is strict. A search in registers has no branch that depends on data, so the CPU
//! works on several rows at once.
//!
//! Who makes a segment promises that its elements may be read. What is unsafe from there on is to load vectors from it,
//! or to move it, without a test of where they lie. A search of a segment that is too short for it panics; loops over
//! rows test that before the first one.
//!
//! # Lane-indexed (`lane_indexed.rs`)
//!
//! Each lane keeps the position of its best, as a column does: a comparison and a select for each vector. No element is
//! loaded twice: the answer is the smallest position of the lanes that hold the best. Each step needs the result of the
//! one before, so the segment is read as two independent chains, from its start and from its middle.
//!
//! # Blocked (`blocked.rs`, `blocks.rs`, `accumulator.rs`)
//!
//! A block of four or eight vectors is first reduced by `max` alone. That leaves one comparison and one select for the
//! block, which is why this runs at the speed of a plain maximum. At the end, the block of the best is searched for it.
//! (Highway's `IndexOfMax` has the same loop with blocks of one vector, and so nothing to search in the end.)
//!
//! ```text
//! for b in 0..blocks:                                     the last block overlaps
//!     m             = max of the vectors of block b       lane by lane
//!     better        = m > best
//!     best          = max(m, best)
//!     block_of_best = select(better, b, block_of_best)
//! value    = the largest lane of best
//! b        = the smallest block_of_best of the lanes whose best is value
//! position = the first element of block b that equals value
//! ```
//!
//! [`BlockAccumulator`](accumulator::BlockAccumulator) has this in a few lines. Block numbers are as wide as the
//! elements, so a long segment of 8-bit elements is searched in parts of 255 blocks (`blocked.rs`). Vectors as long as
//! a cache line are aligned (`blocks.rs`): a load across the boundary of two lines costs two.
//!
//! A row ends early where nothing that follows can be better: after a NaN that wins, after the extreme of an 8-bit type
//! (so after the first True or False). That is checked at distances that double. So at most as much again is read, and
//! where there is no such element, there are few checks.
//!
//! `max` drops NaN. Every few blocks, and at the end, it is checked whether there was one. If NaN wins and one was
//! seen, the answer is the first NaN, and the rest of the segment is not read. If NaN loses and no lane left the worst
//! number, the answer is the first element equal to that, if there is one. 16-bit floats have a fast path: the same
//! loop on the raw bits, whose result counts only if it is known to be right. Otherwise the segment is searched again
//! by exact keys.
//!
//! # Many rows (`strategy.rs`, `search.rs`, `tree.rs`)
//!
//! `strategy.rs` is the loop over rows, and prefetches those ahead. `search.rs` selects the search. Orders of their own
//! are for rows in the order of memory that are searched as one segment; all others share one. Short rows of
//! 32-bit elements are searched as many at a time as a vector has lanes, by a tree that transposes as it reduces.
//! `single.rs` is one row without the loop. Under a mask there are long rows alone, by the blocked search.
//!
//! # Rows of any lengths (`ragged.rs`)
//!
//! What is as long as a vector or shorter is one vector, without a branch that depends on how long it is. All else is a
//! single row. A call answers many of them, and looks at the floating-point mode once.
//!
//! # Both functions at once (`both.rs`, `block_orders.rs`)
//!
//! The blocked search is generic over its orders, one or both. With both, there is a running state for each, and what
//! is loaded serves both. No other search gains by that: in L1, two of them take no longer than one that does both.
//!
//! # Outputs of several segments (`segmented.rs`, `interleaved.rs`)
//!
//! Reduced loops that are not contiguous leave several segments for each output, or a buffer that elements are gathered
//! into. Each is searched as a row, and the results are merged. If the next segment in memory belongs to the next
//! output, segments are read in the order of memory, and each output keeps its own accumulator (interleaved). So are
//! several streams of one huge row, where they are read faster than one.
//!
//! # Who calls whom
//!
//! ```text
//! strategy.rs, single.rs ──> search.rs ──> segment.rs, tree.rs, lane_indexed.rs ──> lane_accumulator.rs
//! both.rs ─────────────────────┴───────> blocked.rs ──> block_orders.rs ──> accumulator.rs
//! ragged.rs ──> segment.rs
//! segmented.rs ────────────────────────────┘
//!      └───────> interleaved.rs ──> blocked.rs, accumulator.rs; all of these ──> blocks.rs
//! ```

mod accumulator;
mod block_orders;
mod blocked;
mod blocks;
mod both;
mod interleaved;
mod lane_accumulator;
mod lane_indexed;
mod ragged;
mod search;
mod segment;
mod segmented;
mod single;
mod strategy;
mod tree;

pub(crate) use both::RowsOfBoth;
pub use ragged::RaggedRows;
pub(crate) use ragged::{OfRagged, of_ragged};
pub(crate) use segmented::SegmentedRows;
pub(crate) use single::SingleRow;
pub(crate) use strategy::{LongRows, RowKernel};
