//! One row, for single calls: the searches of `search.rs` without a loop around them, and the position in a register.
//! The length alone decides which search the row takes.

use super::blocked;
use super::lane_indexed;
use super::search::{LaneIndexed, RowLoop, RowSearch, in_registers};
use super::segment::Segment;
use super::strategy::RowKernel;
use crate::float_mode;
use crate::memory::args::{KernelArgs, LoopDim};
use crate::order::elements::OrderFactory;
use crate::order::{ArgOrder, LaneElem};
use crate::positions::Positions;
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use crate::tuning::{Tuning, WorkingSet};
use core::slice::from_raw_parts;

/// See the file. A type, for the same reason as [`KernelImpl::enter`] is a method.
pub(crate) struct SingleRow;

impl SingleRow {
    /// What [`crate::Kernel::of_row`] calls: by the order `F`, and where it is no faster than a call, by `B`, as
    /// [`RowKernel`] has them.
    ///
    /// # Safety
    /// - As there: the ISA of both orders is there, and so many elements from `first` on may be read.
    #[inline(never)]
    pub(crate) unsafe fn enter<F, B>(first: *const (), len: usize, tuning: &'static Tuning) -> u32
    where
        F: OrderFactory<Given = (), Order: ArgOrder>,
        B: OrderFactory<Given = (), Order: ArgOrder>,
    {
        // SAFETY: the caller's promise: of the only row of these loops, with one position for one output.
        let of_call = || unsafe {
            let row = LoopDim { size: len, stride: 1 };
            let mut position = [0_u32];
            let outputs = Positions::from(&mut position[..]).into();
            if const { has_call_of_its_own::<F::Order>() } {
                RowKernel::enter_by::<F, B>(&only_row(first, &[row], tuning), (), outputs);
            } else {
                RowKernel::<false>::enter_any::<B>(&only_row(first, &[row], tuning), (), outputs);
            }
            position[0]
        };
        // SAFETY: the caller's promise.
        unsafe { find::<F>(first, len, tuning, of_call) }
    }
}

/// Whether the order of single rows is that of a call of one, too: of floats, and where rows have one for each.
const fn has_call_of_its_own<O: ArgOrder>() -> bool {
    O::Lane::HAS_NAN || O::Simd::TUNING.has_small_vectors()
}

/// Of a call of one row.
#[inline(always)]
fn only_row<'a>(first: *const (), reduced: &'a [LoopDim; 1], tuning: &'static Tuning) -> KernelArgs<'a> {
    let (outer, inner, working_set) = (LoopDim::ONE, LoopDim::ONE, WorkingSet::L2);
    KernelArgs { input: first, outer, inner, reduced, working_set, tuning }
}

/// The positions in a row: from `of_call` where no other search is worth a copy, or floats are compared in another
/// mode.
///
/// # Safety
/// - As for [`SingleRow::enter`].
#[inline(always)]
unsafe fn find<F: OrderFactory<Given = (), Order: ArgOrder>>(
    first: *const (),
    len: usize,
    tuning: &'static Tuning,
    of_call: impl FnOnce() -> u32,
) -> u32 {
    let is_of_call = const { !<F::Order as ArgOrder>::Simd::TUNING.has_special_cases() };
    if is_of_call || const { <F::Order as ArgOrder>::Lane::HAS_NAN } && !float_mode::is_default() {
        return of_call();
    }
    // SAFETY: the caller says that the ISA is there, and that so many elements may be read.
    unsafe { RowAlone::<F>::new(from_raw_parts(first.cast(), len), tuning) }.find(of_call)
}

/// What a search is called with: no more than that, and no order. Its lanes would be written to memory one by one, and
/// read in vectors before they are there.
struct RowAlone<'a, F: OrderFactory<Order: ArgOrder>> {
    elements: &'a [<F::Order as ArgOrder>::Lane],
    tuning: &'static Tuning,
}

impl<F: OrderFactory<Order: ArgOrder>> Clone for RowAlone<'_, F> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: OrderFactory<Order: ArgOrder>> Copy for RowAlone<'_, F> {}

impl<'a, O: ArgOrder, F: OrderFactory<Given = (), Order = O>> RowAlone<'a, F> {
    /// # Safety
    /// - The machine has the ISA of the order.
    #[inline(always)]
    unsafe fn new(elements: &'a [O::Lane], tuning: &'static Tuning) -> Self {
        RowAlone { elements, tuning }
    }

    #[inline(always)]
    fn order(self) -> O {
        // SAFETY: as `new` was told.
        unsafe { F::make(()) }
    }

    #[inline(always)]
    fn row(self) -> Segment<'a, O::Lane> {
        Segment::of_slice(self.elements, self.tuning)
    }

    /// A function for each search, because a function with all of them makes a stack frame to spill vectors, which
    /// costs every call. What is longer than [one segment](blocked::is_one_segment) is left to `of_call`. See
    /// docs/tuning.md#reasons-behind-the-shape-of-the-code.
    #[inline(always)]
    fn find(self, of_call: impl FnOnce() -> u32) -> u32 {
        let (simd, len, lanes) = (self.order().simd(), self.elements.len(), O::Simd::LANES);
        let (fewest, most) = lane_indexed::vectors::<O>();
        if len <= (fewest - 1) * lanes {
            simd.vectorized(
                #[inline(always)]
                move || in_registers(self.elements.len(), self),
            )
        } else if len <= most * lanes {
            simd.vectorized(
                #[inline(always)]
                move || {
                    // So that code for shorter rows is left out.
                    assert!(self.elements.len() > <Self as RowLoop<O>>::MAX_VECTORS * lanes);
                    LaneIndexed::find(self.order(), self.row())
                },
            )
        } else if blocked::is_one_segment::<O>(len) {
            simd.vectorized(
                #[inline(always)]
                move || blocked::find(self.order(), self.row(), 0).position(),
            )
        } else {
            of_call()
        }
    }
}

impl<O: ArgOrder, F: OrderFactory<Given = (), Order = O>> RowLoop<O> for RowAlone<'_, F> {
    const FORWARD: bool = true;
    const HAS_GROUPS: bool = false;
    const MAX_VECTORS: usize = lane_indexed::vectors::<O>().0 - 1;
    type Output = u32;

    #[inline(always)]
    fn search<S: RowSearch<O>>(self) -> u32 {
        S::find(self.order(), self.row())
    }
}
