//! The strategies: one generic body each, written once for all ISAs, element types and orders.
//!
//! Two ways to put elements into lanes, and two ways to get at them:
//!
//! | | in place | gathered into a buffer first |
//! |---|---|---|
//! | lanes along the reduced loop | [`Rows`] | [`PackedRows`] |
//! | lanes across the outputs | [`Columns`] | [`PackedColumns`] |

mod columns;
mod packed;
mod rows;

#[cfg(test)]
mod tests;

pub(crate) use columns::Columns;
pub(crate) use packed::{PackedColumns, PackedRows};
pub(crate) use rows::Rows;

use crate::order::Order;
use crate::tile::Tile;
use core::mem::MaybeUninit;

/// A strategy as a type.
pub(crate) trait Body {
    /// Answers every output of the tile.
    ///
    /// # Safety
    /// As a [`crate::Kernel`]; `O::Lane` has the size and alignment of the element type.
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]);
}
