//! One row, for single calls: the searches of `search.rs` without a loop around them, and the position in a register.
//! The length alone decides which search the row takes.

use super::blocked;
use super::lane_indexed;
use super::search::{RowLoop, RowSearch, in_registers};
use super::segment::Segment;
use super::strategy::OtherRows;
use crate::float_mode;
use crate::kernel::{KernelImpl, compares_floats};
use crate::memory::args::{KernelArgs, LoopDim};
use crate::order::ArgOrder;
use crate::order::elements::OrderFactory;
use crate::positions::Positions;
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use crate::tuning::{Tuning, WorkingSet};
use core::hint::assert_unchecked;

/// See the file. A type, for the same reason as [`KernelImpl::enter`] is a method.
pub(crate) struct SingleRow;

impl SingleRow {
    /// What [`crate::Kernel::of_row`] calls.
    ///
    /// # Safety
    /// - As there.
    #[inline(never)]
    pub(crate) unsafe fn enter<M: OrderFactory, Shared: OrderFactory>(
        first: *const (),
        len: usize,
        tuning: &'static Tuning,
    ) -> u32 {
        if const { compares_floats::<M>() } && !float_mode::is_default() {
            let mut position = 0;
            // SAFETY: the caller's promise: it is the same call.
            float_mode::in_default(&mut || position = unsafe { Self::enter::<M, Shared>(first, len, tuning) });
            return position;
        }
        // Where no other search is worth a copy: as the only row of a call.
        let of_call = || {
            let once = LoopDim { size: 1, stride: 0 };
            let (reduced, working_set) = (&[LoopDim { size: len, stride: 1 }], WorkingSet::L2);
            let args = KernelArgs { input: first, outer: once, inner: once, reduced, working_set, tuning };
            let mut position = [0_u32];
            // SAFETY: the caller's promise, and one position for one output; of ISAs that specialize, a long row.
            unsafe { OtherRows::enter::<Shared>(&args, Positions::from(&mut position[..]).into()) };
            position[0]
        };
        if const { !<M::Order as ArgOrder>::Simd::TUNING.specializes } {
            return of_call();
        }
        let row = Segment::new(first.cast(), len, false, tuning);
        // SAFETY: the caller promises the ISA and the elements.
        unsafe { RowAlone { order: M::make(), row }.find(of_call) }
    }
}

#[derive(Clone, Copy)]
struct RowAlone<O: ArgOrder> {
    order: O,
    row: Segment<O::Lane>,
}

impl<O: ArgOrder> RowAlone<O> {
    /// A function for each search, because a function with all of them makes a stack frame to spill vectors, which
    /// costs every call. What is longer than [one segment](blocked::is_one_segment) is left to `of_call`. See
    /// docs/tuning.md#reasons-behind-the-shape-of-the-code.
    ///
    /// # Safety
    /// - The elements of the row may be read.
    #[inline(always)]
    unsafe fn find(self, of_call: impl FnOnce() -> u32) -> u32 {
        let RowAlone { order, row } = self;
        let (fewest, most) = lane_indexed::vectors::<O>();
        // SAFETY: the caller's promise, and each of the lengths is one that its search takes.
        unsafe {
            if row.len <= (fewest - 1) * O::Simd::LANES {
                order.simd().vectorize(
                    #[inline(always)]
                    move || in_registers(row.len, self),
                )
            } else if row.len <= most * O::Simd::LANES {
                order.simd().vectorize(
                    #[inline(always)]
                    move || {
                        // A hint, so that code for shorter rows is left out.
                        assert_unchecked(row.len > Self::MAX_VECTORS * O::Simd::LANES);
                        lane_indexed::find(order, row)
                    },
                )
            } else if blocked::is_one_segment::<O>(row.len) {
                order.simd().vectorize(
                    #[inline(always)]
                    move || blocked::find(order, row).position(),
                )
            } else {
                of_call()
            }
        }
    }
}

impl<O: ArgOrder> RowLoop<O> for RowAlone<O> {
    const FORWARD: bool = true;
    const IS_ALONE: bool = true;
    const MAX_VECTORS: usize = lane_indexed::vectors::<O>().0 - 1;
    type Output = u32;

    #[inline(always)]
    unsafe fn search<S: RowSearch<O>>(self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { S::find::<false>(self.order, self.row) }
    }
}
