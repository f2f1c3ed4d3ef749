//! Outputs whose elements are neighbours, or are gathered to be: vectors run along them.

mod accumulator;
mod blocked;
mod blocks;
mod interleaved;
mod lane_indexed;
mod segment;
mod segmented;
mod single;
mod strategy;
mod tree;

pub(crate) use segmented::SegmentedRows;
pub(crate) use single::SingleRow;
pub(crate) use strategy::Rows;
