//! One row, for single calls: the searches of `search.rs` without a loop around them, and the position in a register.
//! The length alone decides which search the row takes.

use super::blocked;
use super::lane_indexed;
use super::search::{RowLoop, RowSearch, in_registers};
use super::segment::Segment;
use super::strategy::Rows;
use crate::kernel::KernelImpl;
use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::prefetch::Prefetch;
use crate::order::ArgOrder;
use crate::order::elements::OrderFactory;
use crate::positions::Positions;
use crate::simd::ops::SimdOps;
use crate::simd::token::{Simd, SimdOp};
use crate::tuning::Tuning;
use core::hint::assert_unchecked;

/// See the file. A type, for the same reason as [`KernelImpl::enter`] is a method.
pub(crate) struct SingleRow;

impl SingleRow {
    /// What [`crate::Kernel::of_row`] calls.
    ///
    /// # Safety
    /// - As there.
    pub(crate) unsafe fn enter<M: OrderFactory>(first: *const (), len: usize, tuning: &'static Tuning) -> u32 {
        // SAFETY: the caller promises that the ISA is there.
        let order = unsafe { M::make() };
        if const { <M::Order as ArgOrder>::Simd::TUNING.specializes } {
            let (row, lanes) = (Segment::new(first.cast(), len, false, tuning), <M::Order as ArgOrder>::Simd::LANES);
            let (fewest, most) = lane_indexed::vectors::<M::Order>();
            // SAFETY: the caller promises the elements, and each of the lengths is one that its search takes.
            return unsafe {
                match len {
                    _ if len <= (fewest - 1) * lanes => order.simd().vectorize(Call::<_, IN_REGISTERS> { order, row }),
                    _ if len <= most * lanes => order.simd().vectorize(Call::<_, LANE_INDEXED> { order, row }),
                    _ => order.simd().vectorize(Call::<_, BLOCKED> { order, row }),
                }
            };
        }
        // A loop of its own is not worth the code size: as the only row of a call.
        let once = LoopDim { size: 1, stride: 0 };
        let reduced = &[LoopDim { size: len, stride: 1 }];
        let args = KernelArgs { input: first, outer: once, inner: once, reduced, prefetch: Prefetch::Nothing, tuning };
        let mut position = [0_u32];
        // SAFETY: the caller's promise.
        unsafe { Rows::enter::<M>(&args, Positions::from(&mut position[..]).into()) };
        position[0]
    }
}

const IN_REGISTERS: u8 = 0;
const LANE_INDEXED: u8 = 1;
const BLOCKED: u8 = 2;

/// The search of one row. A function for each, because a function with all of them makes a stack frame to spill
/// vectors, which costs every call. See docs/tuning.md#reasons-behind-the-shape-of-the-code.
struct Call<O: ArgOrder, const SEARCH: u8> {
    order: O,
    row: Segment<O::Lane>,
}

impl<O: ArgOrder, const SEARCH: u8> SimdOp for Call<O, SEARCH> {
    type Output = u32;

    #[inline(always)]
    unsafe fn eval(self) -> u32 {
        let Call { order, row } = self;
        // SAFETY: the caller promises the elements, and that a lane-indexed row is longer than those that are searched
        // in registers (a hint, so that code for shorter ones is left out).
        unsafe {
            match SEARCH {
                IN_REGISTERS => in_registers(row.len, self),
                LANE_INDEXED => {
                    assert_unchecked(row.len > Self::MAX_VECTORS * O::Simd::LANES);
                    lane_indexed::find(order, row)
                }
                _ => blocked::find(order, row).position(),
            }
        }
    }
}

impl<O: ArgOrder, const SEARCH: u8> RowLoop<O> for Call<O, SEARCH> {
    const REVERSED: bool = false;
    const MAX_VECTORS: usize = lane_indexed::vectors::<O>().0 - 1;
    type Output = u32;

    #[inline(always)]
    unsafe fn search<S: RowSearch<O>>(self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { S::find::<false>(self.order, self.row) }
    }
}
