//! One row, for single calls: the searches of `search.rs` without a loop around them, and the position in a register.
//! The length alone decides which search the row takes.

use super::blocked;
use super::lane_indexed;
use super::orders::RowOrders;
use super::search::{LaneIndexed, RowLoop, RowSearch, in_registers};
use super::segment::Segment;
use super::segment_orders::Lane;
use super::strategy::RowKernel;
use crate::float_mode;
use crate::kernel::KernelImpl;
use crate::memory::args::{KernelArgs, LoopDim};
use crate::order::ArgOrder;
use crate::order::elements::OrderFactory;
use crate::order::pair::{Both, Orders, Pair, PairedWith};
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
            if const { <F::Order as Orders>::COMPARES_FLOATS } {
                RowKernel::enter_by::<F, B>(&only_row(first, &[row], tuning), (), outputs);
            } else {
                RowKernel::<false>::enter::<B>(&only_row(first, &[row], tuning), (), outputs);
            }
            position[0]
        };
        // SAFETY: the caller's promise.
        unsafe { find::<F, F::Order>(first, len, tuning, of_call) }
    }

    /// The shortest row of two orders that is faster than one after the other: of blocks. To have all searches for two
    /// would be too much code.
    pub(crate) const fn min_len_of_both<O: ArgOrder>() -> usize {
        lane_indexed::vectors::<O>().1 * O::Simd::LANES + 1
    }

    /// What [`crate::BothKernel::of_row`] calls, for rows that are not shorter.
    ///
    /// # Safety
    /// - As for [`SingleRow::enter`], for both orders.
    #[inline(never)]
    pub(crate) unsafe fn enter_both<F, G>(first: *const (), len: usize, tuning: &'static Tuning) -> [u32; 2]
    where
        F: OrderFactory<Given = (), Order: ArgOrder>,
        G: OrderFactory<Given = (), Order: PairedWith<F::Order>>,
    {
        // SAFETY: as in `SingleRow::enter`, with one position for each of the two.
        let of_call = || unsafe {
            let row = LoopDim { size: len, stride: 1 };
            let mut positions = [[0_u32]; 2];
            let outputs = positions.each_mut().map(|position| Positions::from(&mut position[..]).into());
            RowKernel::<true>::enter::<Both<F, G>>(&only_row(first, &[row], tuning), (), outputs);
            positions.map(|[position]| position)
        };
        // SAFETY: the caller's promise.
        unsafe { find::<Both<F, G>, Pair<F::Order, G::Order>>(first, len, tuning, of_call) }
    }
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
unsafe fn find<F: OrderFactory<Given = (), Order = P>, P: RowOrders>(
    first: *const (),
    len: usize,
    tuning: &'static Tuning,
    of_call: impl FnOnce() -> P::Positions,
) -> P::Positions {
    if const { !P::Simd::TUNING.specializes } || const { P::COMPARES_FLOATS } && !float_mode::is_default() {
        return of_call();
    }
    // SAFETY: the caller says that the ISA is there, and that so many elements may be read.
    let (orders, elements) = unsafe { (F::make(()), from_raw_parts(first.cast(), len)) };
    RowAlone::<P> { orders, elements, tuning }.find(of_call)
}

/// What a search is called with, in registers: no more than that.
#[derive(Clone, Copy)]
struct RowAlone<'a, P: RowOrders> {
    orders: P,
    elements: &'a [Lane<P>],
    tuning: &'static Tuning,
}

impl<'a, P: RowOrders> RowAlone<'a, P> {
    #[inline(always)]
    fn row(self) -> Segment<'a, Lane<P>> {
        Segment::of_slice(self.elements, self.tuning)
    }

    /// A function for each search, because a function with all of them makes a stack frame to spill vectors, which
    /// costs every call. What is longer than [one segment](blocked::is_one_segment) is left to `of_call`. See
    /// docs/tuning.md#reasons-behind-the-shape-of-the-code.
    #[inline(always)]
    fn find(self, of_call: impl FnOnce() -> P::Positions) -> P::Positions {
        let (orders, len, lanes) = (self.orders, self.elements.len(), <P::Order as ArgOrder>::Simd::LANES);
        let (fewest, most) = lane_indexed::vectors::<P::Order>();
        if const { !P::ARE_TWO } && len <= (fewest - 1) * lanes {
            orders.token().vectorized(
                #[inline(always)]
                move || in_registers(self.elements.len(), self),
            )
        } else if const { !P::ARE_TWO } && len <= most * lanes {
            orders.token().vectorized(
                #[inline(always)]
                move || {
                    // So that code for shorter rows is left out.
                    assert!(self.elements.len() > Self::MAX_VECTORS * lanes);
                    orders.find::<LaneIndexed>(self.row())
                },
            )
        } else if blocked::is_one_segment::<P::Order>(len) && (const { !P::ARE_TWO } || len > most * lanes) {
            orders.token().vectorized(
                #[inline(always)]
                move || P::positions(blocked::find(orders, self.row(), 0)),
            )
        } else {
            of_call()
        }
    }
}

impl<P: RowOrders> RowLoop<P::Order> for RowAlone<'_, P> {
    const FORWARD: bool = true;
    const HAS_GROUPS: bool = false;
    const MAX_VECTORS: usize = lane_indexed::vectors::<P::Order>().0 - 1;
    type Output = P::Positions;

    #[inline(always)]
    fn search<S: RowSearch<P::Order>>(self) -> P::Positions {
        self.orders.find::<S>(self.row())
    }
}
