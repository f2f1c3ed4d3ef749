//! Rows: the elements of one output are neighbours, and vectors run along them, one row after another. All rows of a
//! call take the same search: by their length, by the ISA and the direction, and beyond L2 by what is prefetched.

use super::blocked;
use super::lane_indexed;
use super::search::{BlockedSearch, LaneIndexed, LongSearch, RowLoop, RowSearch, in_registers};
use super::segment::{MAX_VECTORS, Segment};
use super::tree;
use crate::kernel::KernelImpl;
use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::row_prefetch::{PREFETCH_DISTANCE_BYTES, RowPrefetcher, prefetch_distance};
use crate::order::ArgOrder;
use crate::order::elements::OrderFactory;
use crate::outputs::{Outputs, Written};
use crate::simd::ops::SimdOps;
use crate::simd::token::{Simd, repeat};
use crate::strategy::Strategy;
use core::mem::MaybeUninit;

/// Those that most calls have, in the order of memory and of [one segment](blocked::is_one_segment). Knows nothing of
/// who makes an order: orders of the same type have one copy.
pub(crate) struct Rows;

impl KernelImpl for Rows {
    #[inline(always)]
    unsafe fn run<O: ArgOrder>(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        // SAFETY: the caller's promise, and `enter_by` has no other rows for it.
        unsafe { each_by_length::<O, true>(order, args, outputs) }
    }
}

impl Rows {
    /// All rows: [other](OtherRows) ones by an order of their own.
    ///
    /// # Safety
    /// - As [`KernelImpl::enter`].
    pub(crate) unsafe fn enter_by<M: OrderFactory, Shared: OrderFactory>(
        args: &KernelArgs<'_>,
        outputs: Outputs<'_>,
    ) -> Written {
        const { assert!(blocked::max_segment_len::<M::Order>() == blocked::max_segment_len::<Shared::Order>()) };
        let LoopDim { size, stride } = args.innermost_reduced();
        // SAFETY: the caller's promise; each gets the rows that it is for.
        unsafe {
            if const { <M::Order as ArgOrder>::Simd::TUNING.specializes }
                && stride > 0
                && blocked::is_one_segment::<M::Order>(size)
            {
                Rows::enter::<M>(args, outputs)
            } else {
                OtherRows::enter::<Shared>(args, outputs)
            }
        }
    }
}

/// Rows against the direction of memory, as those where ties go to the last index, and longer ones in either direction;
/// where an ISA does not [specialize](crate::tuning::isa::IsaTuning::specializes), all rows.
pub(crate) struct OtherRows;

impl KernelImpl for OtherRows {
    #[inline(always)]
    unsafe fn run<O: ArgOrder>(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        // SAFETY: the caller's promise; `enter_by` has no other rows for it, nor has a single row.
        unsafe { each_by_length::<O, false>(order, args, outputs) }
    }
}

/// # Safety
/// - As [`KernelImpl::run`]; the rows are those that [`Rows`] is for if `FORWARD`, and else [`OtherRows`].
#[inline(always)]
unsafe fn each_by_length<O: ArgOrder, const FORWARD: bool>(
    order: O,
    args: &KernelArgs<'_>,
    mut outputs: Outputs<'_>,
) -> Written {
    let LoopDim { size: len, stride } = args.innermost_reduced();
    assert!(Strategy::Rows.takes(args.inner, args.reduced, O::Simd::LANES));
    // Hardware prefetchers follow such a row, and are wrong where the next one begins. In shorter rows, or much longer
    // ones, that does not matter.
    let has_discontinuities = !FORWARD
        && stride < 0
        && (MIN_DISCONTINUITY_BYTES..=PREFETCH_DISTANCE_BYTES).contains(&(len * size_of::<O::Lane>()));
    let prefetches = args.should_prefetch(has_discontinuities);
    // By rows, a branch on the width of positions would be paid for each.
    let narrow = outputs.positions.half_width();
    let all = AllRows::<'_, O, FORWARD> { order, args, positions: narrow.as_mut_ptr(), prefetches };
    let vectors = len.div_ceil(O::Simd::LANES);
    // Where the hardware prefetchers are left alone, not to be read in two streams.
    let is_left_alone = args.exceeds_l2() && !args.should_prefetch(false);
    let is_sequential = is_left_alone && len > MAX_TWO_STREAM_BYTES / size_of::<O::Lane>();
    // SAFETY: the caller's promise, each of the lengths is one that its search takes, and then all positions were
    // written.
    unsafe {
        match vectors {
            5.. if const { O::Simd::TUNING.specializes } && lane_indexed::takes::<O>(vectors) && !is_sequential => {
                all.search::<LaneIndexed>()
            }
            _ if vectors <= AllRows::<'_, O, FORWARD>::MAX_VECTORS => in_registers(len, all),
            _ if FORWARD || blocked::is_one_segment::<O>(len) => all.search::<BlockedSearch>(),
            _ => all.search::<LongSearch>(),
        }
        outputs.positions.widen(order.simd());
    }
    Written::Nothing
}

/// The shortest rows against the direction of memory, in bytes, in which software prefetching helps. See
/// docs/tuning.md#min_discontinuity_bytes.
const MIN_DISCONTINUITY_BYTES: usize = 512;

/// The longest rows, in bytes, that hardware prefetchers follow in two streams. See
/// docs/tuning.md#max_two_stream_bytes.
const MAX_TWO_STREAM_BYTES: usize = 960;

#[derive(Clone, Copy)]
struct AllRows<'t, O, const FORWARD: bool> {
    order: O,
    args: &'t KernelArgs<'t>,
    /// A place for each.
    positions: *mut MaybeUninit<u32>,
    prefetches: bool,
}

impl<O: ArgOrder, const FORWARD: bool> RowLoop<O> for AllRows<'_, O, FORWARD> {
    const FORWARD: bool = FORWARD;
    const IS_ALONE: bool = false;
    // What is lane-indexed instead need not be compiled.
    const MAX_VECTORS: usize =
        if O::Simd::TUNING.specializes && !lane_indexed::takes::<O>(MAX_VECTORS) { MAX_VECTORS } else { 4 };
    type Output = ();

    /// A call where rows may go side by side: with three of those searches in one function, all kernels took a
    /// sixteenth longer to compile.
    #[inline(always)]
    unsafe fn search<S: RowSearch<O>>(self) {
        // SAFETY: the caller's promise.
        unsafe {
            if const { Self::groups::<S>() } {
                self.order.simd().call_outlined(
                    #[inline(always)]
                    move || self.search_each::<S>(),
                );
            } else {
                self.search_each::<S>();
            }
        }
    }
}

impl<O: ArgOrder, const FORWARD: bool> AllRows<'_, O, FORWARD> {
    /// Whether rows of a search may go side by side; `in_registers` takes the shortest of them to this one.
    const fn groups<S: RowSearch<O>>() -> bool {
        tree::takes::<O>() && matches!(S::VECTORS, Some(..=4))
    }

    /// [`RowLoop::search`], inlined.
    #[inline(always)]
    unsafe fn search_each<S: RowSearch<O>>(self) {
        let AllRows { order, args, positions: mut position, prefetches } = self;
        let (fastest, lanes) = (args.innermost_reduced(), O::Simd::LANES);
        let len = fastest.size;
        // In vectors, only long rows are of both directions.
        let reversed = !FORWARD && (const { O::Simd::TUNING.specializes && !S::IS_LONG } || fastest.stride < 0);
        // In a register: the compiler would load it for each row, as if a position might be written over it.
        let stride = args.inner.stride;
        let to_lowest = if reversed { 1 - len as isize } else { 0 };
        // Up to here, a vector reaches no further than the rows; the only row is always the last.
        let last = if S::OVER_READS && args.outputs() > 1 { args.last_start(lanes) } else { None };
        let groups = const { Self::groups::<S>() } && len <= tree::MAX_VECTORS * lanes;
        let input = args.input.cast::<O::Lane>();
        let mut first = Segment::new(input, len, reversed, args.tuning);
        let size = size_of::<O::Lane>();
        if S::IS_BLOCKED && prefetches {
            // Before each block: further along a long row, or else at the same place of another.
            first = match len * size > PREFETCH_DISTANCE_BYTES {
                true => first.with_prefetch_bytes(PREFETCH_DISTANCE_BYTES),
                false => {
                    Segment { prefetch_distance: prefetch_distance(stride, size, PREFETCH_DISTANCE_BYTES), ..first }
                }
            };
        }
        let row = |start: isize| first.moved(start);
        let prefetcher = match !S::IS_BLOCKED && prefetches {
            true => {
                let (hint, side_by_side) = (args.tuning.prefetch.hint, if groups { lanes } else { 1 });
                RowPrefetcher::of_rows(hint, len * size, stride.wrapping_mul(size as isize), side_by_side)
            }
            false => RowPrefetcher::NOTHING,
        };
        // Counted by hand: before it is optimised, an iterator is several times the code, and this is compiled hundreds
        // of times.
        let mut o = 0;
        while o < args.outer.size {
            let mut start = o as isize * args.outer.stride + to_lowest;
            // Of all of them, those that are followed by enough that may be read.
            let mut some = if S::OVER_READS {
                args.inner.steps_within(last.and_then(|last| usize::try_from(last - start).ok()))
            } else {
                args.inner.size
            };
            let mut at_end = args.inner.size - some;
            // SAFETY: the caller promises the elements of all rows, of which `start` goes through one after another;
            // where a search reads on, what follows `some` of them are elements of others. There is a position for each
            // (`Kernel::run`).
            unsafe {
                while some > 0 {
                    let mut block = some.min(prefetcher.rows);
                    some -= block;
                    if !S::IS_BLOCKED {
                        prefetcher.issue_prefetch(row(start).at);
                    }
                    while const { Self::groups::<S>() } && groups && block >= lanes {
                        let found = order.simd().index_array(S::find_group(order, row(start), stride));
                        let mut n = 0;
                        while n < lanes {
                            position.write(MaybeUninit::new(found.as_ref()[n].into() as u32));
                            position = position.add(1);
                            n += 1;
                        }
                        start += lanes as isize * stride;
                        block -= lanes;
                    }
                    let unrolls =
                        const { O::Simd::TUNING.unrolls_short_loops && S::IS_SHORT && (FORWARD || S::OVER_READS) };
                    repeat!(unrolls, block > 0, block >= 2, block -= 1, {
                        position.write(MaybeUninit::new(S::find::<true>(order, row(start))));
                        position = position.add(1);
                        start += stride;
                    });
                }
                while S::OVER_READS && at_end > 0 {
                    position.write(MaybeUninit::new(S::find::<false>(order, row(start))));
                    position = position.add(1);
                    start += stride;
                    at_end -= 1;
                }
            }
            o += 1;
        }
    }
}
