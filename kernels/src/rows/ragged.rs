//! Rows of any lengths, one after another: a vector for each that fits in one, and the search for single rows for all
//! others. Which of both it is, is most often the same for some rows, and nothing else depends on the data.

use super::segment;
use crate::float_mode;
use crate::order::elements::OrderFactory;
use crate::order::{ArgOrder, LaneElem};
use crate::simd::ops::SimdOps;
use crate::simd::token::Simd;
use core::mem::MaybeUninit;

/// Rows of one array, of any lengths.
#[derive(Clone, Copy, Debug)]
pub struct RaggedRows<'a> {
    /// Where the elements are that bounds are counted from, of the type that the kernel was made for, cast.
    pub input: *const (),
    /// Where the elements end that may be read, counted from there.
    pub len: usize,
    /// Row `n` is from bound `n` up to the next.
    pub bounds: &'a [usize],
    /// Of equals, whether the last one wins, not the first.
    pub last_wins: bool,
}

/// What every [`crate::Kernel`] has for rows that are ragged. `long` finds where in a row its best is, from where the
/// row begins and how long it is.
pub(crate) type OfRagged =
    unsafe fn(rows: &RaggedRows<'_>, long: &dyn Fn(*const (), usize) -> u32, positions: &mut [MaybeUninit<u32>]);

/// That of an order, but in builds without segments.
pub(crate) const fn of_ragged<F: OrderFactory<Given = (), Order: ArgOrder>>() -> OfRagged {
    if cfg!(without = "segments") { |_, _, _| panic!("this build has no segments") } else { enter::<F> }
}

/// # Safety
/// - The machine has the ISA of the order; and as for [`crate::Kernel::of_ragged`].
#[inline(never)]
unsafe fn enter<F>(rows: &RaggedRows<'_>, long: &dyn Fn(*const (), usize) -> u32, positions: &mut [MaybeUninit<u32>])
where
    F: OrderFactory<Given = (), Order: ArgOrder>,
{
    if const { <F::Order as ArgOrder>::Lane::HAS_NAN } && !float_mode::is_default() {
        // SAFETY: the caller's promise: it is the same call.
        return float_mode::in_default(&mut || unsafe { enter::<F>(rows, long, positions) });
    }
    // SAFETY: the caller's promise.
    unsafe { find(F::make(()), rows, long, positions) }
}

/// A function of its own, because several types share an order.
///
/// # Safety
/// - As for [`enter`].
unsafe fn find<O: ArgOrder>(
    order: O,
    rows: &RaggedRows<'_>,
    long: &dyn Fn(*const (), usize) -> u32,
    positions: &mut [MaybeUninit<u32>],
) {
    // SAFETY: the caller's promise.
    unsafe {
        order.simd().vectorize(
            #[inline(always)]
            move || match rows.last_wins {
                false => find_each::<O, false>(order, rows, long, positions),
                true => find_each::<O, true>(order, rows, long, positions),
            },
        )
    }
}

/// # Safety
/// - As for [`enter`].
#[inline(always)]
unsafe fn find_each<O: ArgOrder, const LAST: bool>(
    order: O,
    &RaggedRows { input, len, bounds, .. }: &RaggedRows<'_>,
    long: &dyn Fn(*const (), usize) -> u32,
    positions: &mut [MaybeUninit<u32>],
) {
    let (first, lanes, mut start) = (input.cast::<O::Lane>(), O::Simd::LANES, bounds[0]);
    for (position, &end) in positions.iter_mut().zip(&bounds[1..]) {
        let (at, row) = (first.wrapping_add(start), end - start);
        position.write(if row > lanes {
            long(at.cast(), row)
        } else {
            // SAFETY: the row, or a vector from its first element on, is among what may be read, as the caller
            // promises.
            let vector = unsafe { if len - start >= lanes { order.load(at) } else { order.load_first_n(at, row) } };
            segment::find_in_vector::<O, LAST>(order, vector, row)
        });
        start = end;
    }
}
