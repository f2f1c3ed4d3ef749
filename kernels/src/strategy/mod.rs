//! The strategies: one generic body each, written once for all ISAs, element types and orders. Three load vectors where the elements are, and
//! take only tiles that allow it; two take any tile, and gather elements into a small buffer first where they must.
//!
//! What types decide is asked as a constant, or in a `const` block: so the compiler makes nothing of the other branch. Of a condition that is a call, or is only known once calls are
//! inlined, it makes both, and all that they inline, before it throws one away: 25 million lines of LLVM's instead of 6, which was a tenth of the time to compile all kernels.

mod by_lane;
mod chunks;
mod columns;
mod course;
mod fold;
mod folded_columns;
mod group;
mod packed_columns;
mod panel;
mod pieces;
mod places;
mod reduce;
mod row;
mod rows;
mod run;
mod seen;
mod tall;
mod tournament;
mod turns;

pub(crate) use columns::Columns;
pub(crate) use folded_columns::FoldedColumns;
pub(crate) use packed_columns::PackedColumns;
pub(crate) use pieces::Pieces;
pub(crate) use row::Row;
pub(crate) use rows::Rows;

/// Vectors in most panels of columns, and bytes in the widest: for tests.
pub const PANEL_VECTORS: usize = panel::PANEL * group::GROUP;
pub use panel::WIDE_BYTES as PANEL_BYTES;

use crate::lanes::{Task, Token};
use crate::order::Order;
use crate::tile::{Loop, Tile};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// How a kernel lays elements out in vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Along one reduced loop over neighbours: one output at a time. Takes no other tile: see [`Strategy::takes`].
    Rows,
    /// Along any reduced loops: one output at a time, piece by piece, or some in turn; a piece that is far, in several places at once.
    Pieces,
    /// Across neighbouring outputs: each lane is one. Takes only tiles whose inner loop is at least a vector of neighbours.
    Columns,
    /// Across neighbouring outputs that are at most a vector, many of whose rows follow each other in memory. Takes no other tiles.
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
                (2..=lanes).contains(&inner.size) && is_block && line.size >= folded_columns::fold(inner.size, lanes)
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

/// The largest step from one element to the next for which `gather.rs` has shuffles, and the fewest elements that are worth it: gathering many rows
/// side by side is element by element, but rows of 100 are faster that way (every second element, GB/s of the memory touched, side by side and
/// row by row, of 100, 1000 and 4096: u8 6.5 and 3.0, 3.6 and 12.8, 1.0 and 25; f32 11 and 7, 19 and 29, 12 and 43; Zen 3, L2).
const LARGEST_STEP: usize = 4;
const SHORTEST_NEAR: usize = 256;

/// An order as a type without values: what a function pointer can be made for.
pub(crate) trait MakeOrder {
    type Order: Order;
    /// The order for rows against the direction of memory.
    type Reversed: MakeOrder;

    /// # Safety
    /// - The machine has the ISA of the order.
    unsafe fn make() -> Self::Order;
}

/// A strategy as a type.
pub(crate) trait Body: Sized {
    /// Answers every output of the tile.
    ///
    /// # Safety
    /// As a [`crate::Kernel`]; `O::Lane` has the size and alignment of the element type.
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]);

    /// What every [`crate::Kernel`] points to.
    ///
    /// A method of this trait, not a function, because the compiler distributes its work by the module of the type: so the strategies
    /// are compiled side by side, and one after another otherwise, which takes twice as long.
    ///
    /// # Safety
    /// - As a [`crate::Kernel`].
    unsafe fn enter<M: MakeOrder>(tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
        // SAFETY: the caller's promise.
        unsafe { enter::<M, Self>(tile, positions) }
    }

    /// [`Task::run_apart`]; here for the same reason.
    ///
    /// # Safety
    /// - As for [`Body::run`].
    #[inline(never)]
    unsafe fn run_apart<O: Order>(call: Call<'_, O, Self>) {
        // SAFETY: the caller's promise.
        unsafe { call.run() };
    }
}

/// Runs a body by an order.
///
/// # Safety
/// - As a [`crate::Kernel`].
#[inline(always)]
unsafe fn enter<M: MakeOrder, B: Body>(tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
    assert_eq!(positions.len(), tile.outputs());
    // SAFETY: the caller promises that the ISA is there, and all that a body asks for.
    unsafe {
        let order = M::make();
        order.simd().enter(Call { order, tile, positions, body: PhantomData::<B> });
    }
}

/// A call of a body, to be made inside the region of the ISA's target features.
pub(crate) struct Call<'a, O, B> {
    order: O,
    tile: &'a Tile<'a>,
    positions: &'a mut [MaybeUninit<u32>],
    body: PhantomData<B>,
}

impl<O: Order, B: Body> Task for Call<'_, O, B> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: the caller's promise.
        unsafe { B::run(self.order, self.tile, self.positions) }
    }

    #[inline(always)]
    unsafe fn run_apart(self) {
        // SAFETY: the caller's promise.
        unsafe { B::run_apart(self) };
    }
}
