//! The strategies: one generic body each, written once for all ISAs, element types and orders. Each takes any tile: it loads vectors where
//! the elements are if their strides allow, and gathers them into a small buffer first if not.

mod columns;
mod rows;

#[cfg(test)]
mod tests;

pub(crate) use columns::Columns;
pub(crate) use rows::Rows;

use crate::lanes::{Task, Token};
use crate::order::{Function, Key, Order, Policy, Ranking};
use crate::tile::{Loop, Tile};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// How a kernel lays elements out in vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Along the reduced loops: one output at a time.
    Rows,
    /// Across the outputs: each lane is one.
    Columns,
}

crate::names!(Strategy: Rows = "rows", Columns = "columns");

impl Strategy {
    /// Whether the kernel loads vectors from where the elements are; `lanes` is the length of a vector.
    #[inline(always)]
    pub fn is_in_place(self, inner: Loop, reduced: &[Loop], lanes: usize) -> bool {
        match (self, reduced) {
            (Strategy::Columns, _) => {
                let is_wide =
                    inner.size >= 4 * lanes || reduced.iter().map(|l| l.size).product::<usize>() > SHORTEST_COLUMN;
                inner.stride == 1 && inner.size >= lanes && is_wide
            }
            // One stretch of any length is a row; many short ones are gathered to one long one.
            (Strategy::Rows, [line]) => line.stride.abs() == 1,
            (Strategy::Rows, [.., line]) => line.stride.abs() == 1 && line.size >= SHORTEST_STRETCH,
            (Strategy::Rows, []) => false,
        }
    }
}

/// A stretch costs 11 (u8) to 17 ns (f32) however short it is. (Zen 3, AVX2.)
const SHORTEST_STRETCH: usize = 32;

/// A line of outputs costs some 25 ns however few rows it has, so narrow lines of up to this many rows are gathered side by side first.
/// (Zen 3, AVX2, f32: from 2 to 10 rows, lines of 16 outputs run at 6.6 to 16.5 GB/s in place, and at 10.1 to 16.0 gathered.)
const SHORTEST_COLUMN: usize = 8;

/// A strategy as a type.
pub(crate) trait Body: Sized {
    /// Answers every output of the tile.
    ///
    /// # Safety
    /// As a [`crate::Kernel`]; `O::Lane` has the size and alignment of the element type.
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]);

    /// What every [`crate::Kernel`] points to; see there for the safety.
    ///
    /// A method of this trait, not a function, because the compiler distributes its work by the module of the type: so the strategies
    /// are compiled side by side, and one after another otherwise, which takes twice as long.
    unsafe fn enter<S: 'static, K: Key<S>, F: Function, P: Policy>(
        tile: &Tile<'_>,
        positions: &mut [MaybeUninit<u32>],
    ) {
        assert_eq!(positions.len(), tile.outputs());
        // SAFETY: the caller promises that the ISA is there.
        let order = unsafe { Ranking::<S, K, F, P>::assume() };
        order.simd().enter(Call { order, tile, positions, body: PhantomData::<Self> });
    }
}

/// A call of a body, to be made inside the region of the ISA's target features.
struct Call<'a, O, B> {
    order: O,
    tile: &'a Tile<'a>,
    positions: &'a mut [MaybeUninit<u32>],
    body: PhantomData<B>,
}

impl<O: Order, B: Body> Task for Call<'_, O, B> {
    #[inline(always)]
    fn run(self) {
        // SAFETY: only `Body::enter` makes a `Call`, and its caller promises all that a body asks for.
        unsafe { B::run(self.order, self.tile, self.positions) }
    }
}
