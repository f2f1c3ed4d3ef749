//! Outputs that are neighbours, or are gathered to be: each lane is one.

mod gathered;
mod nan_tracker;
mod narrow;
mod panel;
mod reduce;
mod row_blocks;
mod schedule;
mod strategy;
mod tile;

pub(crate) use gathered::PackedColumns;
pub(crate) use narrow::FoldedColumns;
pub(crate) use strategy::Columns;

/// Vectors in most panels of columns, and bytes in the widest: for tests.
pub const PANEL_VECTORS: usize = panel::PANEL * tile::GROUP;
pub use panel::WIDE_BYTES as PANEL_BYTES;
