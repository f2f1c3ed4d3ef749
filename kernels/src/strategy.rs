//! The five strategies as values, and which tiles they take.

use crate::memory::args::Loop;

/// How a kernel lays elements out in vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Along one reduced loop over neighbours: one output at a time. Takes no other tile: see [`Strategy::takes`].
    Rows,
    /// Along any reduced loops: one output at a time, piece by piece, or some in turn; a piece that is far, in several
    /// places at once.
    Pieces,
    /// Across neighbouring outputs: each lane is one. Takes only tiles whose inner loop is at least a vector of
    /// neighbours.
    Columns,
    /// Across neighbouring outputs that are at most a vector, many of whose rows follow each other in memory. Takes no
    /// other tiles.
    FoldedColumns,
    /// Across any outputs.
    PackedColumns,
}

crate::names!(Strategy: Rows = "rows", Pieces = "pieces", Columns = "columns", FoldedColumns = "folded columns", PackedColumns = "packed columns");

impl Strategy {
    /// Whether the kernel answers tiles of such loops at all; `lanes` is the length of a vector.
    #[inline(always)]
    pub fn takes(self, inner: Loop, reduced: &[Loop], lanes: usize) -> bool {
        match (self, reduced) {
            (Strategy::Rows, [line]) => line.stride.abs() == 1,
            (Strategy::Rows, _) => false,
            (Strategy::Columns, _) => inner.stride == 1 && inner.size >= lanes,
            (Strategy::FoldedColumns, [line]) => {
                let is_block = inner.stride == 1 && line.stride.unsigned_abs() == inner.size;
                (2..=lanes).contains(&inner.size) && is_block && line.size >= fold(inner.size, lanes)
            }
            (Strategy::FoldedColumns, _) => false,
            (Strategy::Pieces | Strategy::PackedColumns, _) => true,
        }
    }

    /// Whether the kernel then loads vectors from where the elements are.
    #[inline(always)]
    pub fn is_in_place(self, reduced: &[Loop]) -> bool {
        match (self, reduced) {
            (Strategy::Rows | Strategy::Columns | Strategy::FoldedColumns, _) => true,
            // Short stretches are gathered to long ones.
            (Strategy::Pieces, [.., line]) => line.stride.abs() == 1 && line.size >= SHORTEST_STRETCH,
            (Strategy::Pieces, []) | (Strategy::PackedColumns, _) => false,
        }
    }

    /// Whether it does, or gathers them by a few shuffles.
    #[inline(always)]
    pub fn is_near(self, reduced: &[Loop]) -> bool {
        match (self, reduced) {
            (Strategy::Pieces, [.., line]) => {
                self.is_in_place(reduced)
                    || (2..=LARGEST_STEP).contains(&line.stride.unsigned_abs()) && line.size >= SHORTEST_NEAR
            }
            _ => self.is_in_place(reduced),
        }
    }
}

/// A stretch costs some 10 ns, however short it is. (Zen 3, AVX2.)
const SHORTEST_STRETCH: usize = 32;

/// The largest step from one element to the next for which `gather.rs` has shuffles, and the fewest elements that are
/// worth it: gathering many rows side by side is element by element, but rows of 100 are faster that way (every second
/// element, GB/s of the memory touched, side by side and row by row, of 100, 1000 and 4096: u8 6.5 and 3.0, 3.6 and
/// 12.8, 1.0 and 25; f32 11 and 7, 19 and 29, 12 and 43; Zen 3, L2).
const LARGEST_STEP: usize = 4;
const SHORTEST_NEAR: usize = 256;

/// Vectors that rows are put side by side in.
pub(crate) const FOLDED_VECTORS: usize = 2;

/// How many rows of `width` outputs are put side by side: as many as are whole in each vector, and one more that is in
/// both, if there is room for it and it is a third or a fifth of them.
pub(crate) const fn fold(width: usize, lanes: usize) -> usize {
    let whole = lanes / width;
    if whole <= 2 { FOLDED_VECTORS * lanes / width } else { FOLDED_VECTORS * whole }
}
