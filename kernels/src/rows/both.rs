//! Rows by two orders at once, as long as blocks are worth: what is loaded serves both. Shorter rows would gain
//! nothing, so there is one search.

use super::blocked;
use super::blocks::block_len;
use super::lane_indexed;
use super::segment::Segment;
use crate::float_mode;
use crate::memory::args::KernelArgs;
use crate::memory::row_prefetch::{PREFETCH_DISTANCE_BYTES, prefetch_distance};
use crate::order::both::{Both, BothWith};
use crate::order::elements::OrderFactory;
use crate::order::{ArgOrder, LaneElem};
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use core::mem::MaybeUninit;

/// See the file. A type, for the same reason as [`KernelImpl::enter`](crate::kernel::KernelImpl::enter) is a method.
pub(crate) struct RowsOfBoth;

impl RowsOfBoth {
    /// The shortest row: of all that are shorter, one order after the other is as fast.
    pub(crate) const fn min_len<O: ArgOrder>() -> usize {
        let (lane_indexed, block) = (lane_indexed::vectors::<O>().1 * O::Simd::LANES + 1, block_len::<O>());
        if block > lane_indexed { block } else { lane_indexed }
    }

    /// What [`crate::BothKernel::run`] calls: writes the positions by the order `F`, and those by `G`.
    ///
    /// # Safety
    /// - As there. Both have as many places as the call has outputs.
    #[inline(never)]
    pub(crate) unsafe fn enter<F, G>(args: &KernelArgs<'_>, places: [*mut MaybeUninit<u32>; 2])
    where
        F: OrderFactory<Given = (), Order: ArgOrder>,
        G: OrderFactory<Given = (), Order: BothWith<F::Order>>,
    {
        if const { <F::Order as ArgOrder>::Lane::HAS_NAN } && !float_mode::is_default() {
            // SAFETY: the caller's promise: it is the same call.
            return float_mode::in_default(&mut || unsafe { Self::enter::<F, G>(args, places) });
        }
        // SAFETY: the caller says that the ISA is there.
        let orders = unsafe { Both(F::make(()), G::make(())) };
        orders.0.simd().vectorized(
            #[inline(always)]
            // SAFETY: the caller's promise.
            move || unsafe { find_each(orders, args, places) },
        );
    }
}

/// # Safety
/// - As for [`RowsOfBoth::enter`].
#[inline(always)]
unsafe fn find_each<A: ArgOrder, B: BothWith<A>>(
    orders: Both<A, B>,
    args: &KernelArgs<'_>,
    places: [*mut MaybeUninit<u32>; 2],
) {
    let (len, size) = (args.innermost_reduced().size, size_of::<A::Lane>());
    // SAFETY: the row of the first output, which the caller says may be read.
    let mut row = unsafe { Segment::new(args.input.cast::<A::Lane>(), len, false, args.tuning) };
    // Before each block: further along a long row, or else at the same place of another.
    if args.should_prefetch(false) {
        row = match len * size > PREFETCH_DISTANCE_BYTES {
            true => row.with_prefetch_bytes(PREFETCH_DISTANCE_BYTES),
            false => row.with_prefetch_distance(prefetch_distance(args.inner.stride, size, PREFETCH_DISTANCE_BYTES)),
        };
    }
    for n in 0..args.outputs() {
        // SAFETY: the row of output `n`, which the caller says may be read.
        let found = blocked::find_any_length(orders, unsafe { row.moved(args.offset(n)) });
        // SAFETY: there is a place for each output.
        unsafe {
            places[0].add(n).write(MaybeUninit::new(found.0.position()));
            places[1].add(n).write(MaybeUninit::new(found.1.position()));
        }
    }
}
