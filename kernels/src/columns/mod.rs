//! Vertical reductions: neighbouring outputs, one in each lane of a vector.
//!
//! Each letter below is an output. A *row* holds one element of each output, and vectors run along it. A *column* is
//! all elements of one output. Position `p` of each column is in row `p`.
//!
//! ```text
//!              tile    tile    tile            A row:    contiguous outputs, one lane each
//!            ┌───────┬───────┬───────┐         A tile:   `U` vectors of outputs, kept in registers
//!    row 0   │ a b c │ d e f │ g h i │         A panel:  tiles side by side, kept in L1
//!    row 1   │ a b c │ d e f │ g h i │
//!    row 2   │ a b c │ d e f │ g h i │         The last tile of a row overlaps the previous one
//!            └───────┴───────┴───────┘         where the row is no multiple of a tile.
//!            └──────── panel ────────┘
//! ```
//!
//! # The tile (`tile.rs`)
//!
//! A tile keeps, for each lane, the best so far and the number of the row that it is from:
//!
//! ```text
//! best = row[0]; row_of_best = 0
//! for r in 1..rows:
//!     better      = row[r] > best                    strictly: of equals, the first one stays
//!     best        = max(row[r], best)
//!     row_of_best = select(better, r, row_of_best)
//! ```
//!
//! Row numbers are as wide as the elements, so that one mask selects both. `max` drops NaN, so the loop watches for it
//! (`nan_tracker.rs`). If one was there, the rows are reduced again by comparisons that know NaN, which are slower
//! (`reduce.rs`).
//!
//! # Row groups (`row_groups.rs`)
//!
//! Of many rows, eight at a time are first reduced by `max` alone, as [long rows](crate::rows) are block by block. That
//! leaves one comparison and one select for the whole group. In the end, each lane looks for its best in the eight rows
//! of its group:
//!
//! ```text
//! for each group of 8 rows:
//!     new         = max(row[0], .., row[7])
//!     better      = new > best
//!     best        = max(new, best)
//!     row_of_best = select(better, first row of the group, row_of_best)
//! in each lane: row_of_best = the first row of that group that is equal to best
//! ```
//!
//! # One pass, or panels (`panel.rs`)
//!
//! Few rows, or rows that L2 holds, are reduced in one pass: each tile over all rows, then the next tile. From memory,
//! that would read a few cache lines of each row and then skip to the next one, which hardware prefetchers do not
//! follow. So a panel keeps the state of many tiles in L1, and each tile sees some rows before the next tile does:
//!
//! ```text
//! for each panel of the row:
//!     for each segment of the reduced loops:            rows with one stride between them
//!         for each group of rows in the segment:        eight rows, or one ("streaming")
//!             for each tile of the panel:
//!                 reduce the group of rows into the tile
//!     widen the row numbers into 32-bit positions       also whenever they would overflow
//! ```
//!
//! So there are three orders to go over rows and tiles:
//!
//! ```text
//! resident                 eight rows at a time         streaming
//!         tile A  B  C              tile A  B  C                tile A  B  C
//! row 0        1  4  7     rows 0-7      1  2  3        row 0        1  2  3
//! row 1        2  5  8     rows 8-15     4  5  6        row 1        4  5  6
//! row 2        3  6  9     rows 16-23    7  8  9        row 2        7  8  9
//! ```
//!
//! Panels also take several reduced loops, of which the fastest one is the segment, and any number of rows. A panel
//! ends early once nothing can be better in any of its columns, which is looked at whenever its rows have doubled.
//!
//! # The schedule (`schedule.rs`)
//!
//! Which of these it is, how wide a panel is, and what is prefetched meanwhile, is decided once for a call, from the
//! loops and the [tuning](crate::tuning). No answer depends on it.
//!
//! Under a mask there is one pass alone.
//!
//! # Narrow columns (`narrow.rs`)
//!
//! If a row is no longer than a vector, and the rows are contiguous, several rows fill two vectors side by side. These
//! are one wide row of a tile, in which each column has several lanes. In the end, the best lane of each column wins.
//!
//! # Gathered columns (`gathered.rs`)
//!
//! If outputs are not contiguous, or too few of them are, their elements are copied into rows of a small buffer
//! (`gathered_rows.rs`, `gather/`), one lane for each output. From there on they are columns.
//!
//! # Who calls whom
//!
//! ```text
//! strategy.rs ──> schedule.rs             gathered.rs ──> gathered_rows.rs ──> gather/
//!      ├────────> panel.rs  <─────────────────┤
//!      └────────> reduce.rs <─────────────────┴──── narrow.rs
//!                     └───> tile.rs, row_groups.rs, nan_tracker.rs
//! ```
//!
//! All of them are given rows by `strided_rows.rs`, whose types say that the elements may be read.

mod gathered;
mod gathered_rows;
mod nan_tracker;
mod narrow;
mod panel;
mod reduce;
mod row_groups;
mod schedule;
mod strategy;
mod strided_rows;
mod tile;

pub(crate) use gathered::GatheredColumns;
pub(crate) use narrow::NarrowColumns;
pub(crate) use strategy::{Columns, OnePassColumns};

/// Vectors in most panels, and the bytes of the widest one: for tests.
pub const PANEL_VECTORS: usize = panel::PANEL_TILES * tile::TILE_VECTORS;
pub use panel::MAX_PANEL_BYTES as PANEL_BYTES;
