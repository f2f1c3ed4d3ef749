//! Rows: the elements of one output are neighbours, and vectors run along them, one row after another. All rows of a
//! call take the same search: by their length, by the ISA and the direction, and beyond L2 by what is prefetched.

use super::blocked;
use super::blocks;
use super::lane_indexed;
use super::search::{AnyLengthSearch, BlockedSearch, LaneIndexed, RowLoop, RowSearch, in_registers};
use super::segment::{Followed, MAX_VECTORS, Segment};
use super::segmented::SegmentedRows;
use super::tree::{self, SideBySide};
use crate::kernel::KernelImpl;
use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::row_prefetch::{PREFETCH_DISTANCE_BYTES, RowPrefetcher, prefetch_distance};
use crate::order::elements::OrderFactory;
use crate::order::{ArgOrder, IndexVec};
use crate::outputs::{Outputs, Written};
use crate::simd::ops::SimdOps;
use crate::simd::token::{Simd, repeat};
use crate::strategy::Strategy;
use core::mem::MaybeUninit;

/// The kernel of rows. If `FORWARD`, of those that most calls have: in the direction of memory, and [one
/// segment](blocked::is_one_segment). If not, of rows against the direction of memory, as those where ties go to the
/// last index, and of longer ones in either direction; where an ISA has
/// [no instructions](crate::tuning::isa::IsaTuning::has_instructions), of all rows. Knows nothing of who makes an
/// order: orders of the same type have one copy.
pub(crate) struct RowKernel<const FORWARD: bool>;

impl RowKernel<false> {
    /// All rows, by one order.
    ///
    /// # Safety
    /// - As [`KernelImpl::enter`].
    pub(crate) unsafe fn enter_any<B>(args: &KernelArgs<'_>, (): (), outputs: Outputs<'_>) -> Written
    where
        B: OrderFactory<Given = (), Order: ArgOrder>,
    {
        // SAFETY: either kernel answers the call, of which the caller says what is asked for.
        unsafe {
            if const { <B::Order as ArgOrder>::Simd::TUNING.has_small_code } {
                SegmentedRows::enter::<B>(args, (), outputs)
            } else {
                RowKernel::<false>::enter::<B>(args, (), outputs)
            }
        }
    }
}

impl RowKernel<true> {
    /// All rows: those in the direction of memory by the order `F`, and all others by `B`.
    ///
    /// # Safety
    /// - As [`KernelImpl::enter`], for both orders.
    pub(crate) unsafe fn enter_by<F, B>(args: &KernelArgs<'_>, (): (), outputs: Outputs<'_>) -> Written
    where
        F: OrderFactory<Given = (), Order: ArgOrder>,
        B: OrderFactory<Given = (), Order: ArgOrder>,
    {
        const { assert!(blocked::max_segment_len::<F::Order>() == blocked::max_segment_len::<B::Order>()) };
        let LoopDim { size, stride } = args.innermost_reduced();
        let is_forward = stride > 0 && blocked::is_one_segment::<F::Order>(size);
        // SAFETY: either kernel answers the call as it is, of which the caller says what is asked for.
        unsafe {
            if const { <F::Order as ArgOrder>::Simd::TUNING.has_instructions } && is_forward {
                RowKernel::<true>::enter::<F>(args, (), outputs)
            } else {
                RowKernel::<false>::enter_any::<B>(args, (), outputs)
            }
        }
    }
}

impl<O: ArgOrder, const FORWARD: bool> KernelImpl<O> for RowKernel<FORWARD> {
    #[inline(always)]
    unsafe fn run(order: O, args: &KernelArgs<'_>, mut outputs: Outputs<'_>) -> Written {
        // SAFETY: the rows of the call may be read, as the caller says; and `outputs` has a place for each.
        unsafe { RowsOfCall::<'_, O, FORWARD>::new(order, args, &mut outputs) }.answer();
        // SAFETY: each search writes the positions of all rows.
        unsafe { outputs.positions.widen(order.simd()) };
        Written::Nothing
    }
}

/// The shortest rows that are read under a mask where they are: shorter ones are copied. See
/// docs/tuning.md#min_masked_row_bytes.
const MIN_MASKED_ROW_BYTES: usize = 3 << 10;

/// The kernel of long rows in the direction of memory, by one search, for orders that are too rare for all of them.
pub(crate) struct LongRows;

impl LongRows {
    /// The shortest rows and the longest that it takes.
    pub(crate) const fn all_lens<O: ArgOrder>() -> [usize; 2] {
        [blocks::block_len::<O>(), blocked::max_segment_len::<O>()]
    }

    /// Those under a mask.
    pub(crate) const fn lens<O: ArgOrder>() -> [usize; 2] {
        let ([block, longest], shortest) = (Self::all_lens::<O>(), MIN_MASKED_ROW_BYTES / size_of::<O::Lane>());
        [if shortest < block { block } else { shortest }, longest]
    }
}

impl<O: ArgOrder> KernelImpl<O> for LongRows {
    #[inline(always)]
    unsafe fn run(order: O, args: &KernelArgs<'_>, mut outputs: Outputs<'_>) -> Written {
        let ([shortest, longest], len) = (const { LongRows::all_lens::<O>() }, args.innermost_reduced().size);
        assert!(shortest <= len && len <= longest);
        // SAFETY: as for `RowKernel`.
        unsafe { RowsOfCall::<'_, O, true>::new(order, args, &mut outputs) }.search_each::<BlockedSearch>();
        // SAFETY: the search writes the positions of all rows.
        unsafe { outputs.positions.widen(order.simd()) };
        Written::Nothing
    }
}

/// The shortest rows against the direction of memory, in bytes, in which software prefetching helps. See
/// docs/tuning.md#min_discontinuity_bytes.
const MIN_DISCONTINUITY_BYTES: usize = 512;

/// The fewest bytes of rows that are prefetched from L2 into L1: more than L1 holds. See
/// docs/tuning.md#prefetchhint-prefetchl2_distance_bytes.
const MIN_L2_BYTES: usize = 48 << 10;

/// The longest rows, in bytes, that hardware prefetchers follow in two streams. See
/// docs/tuning.md#max_two_stream_bytes.
const MAX_TWO_STREAM_BYTES: usize = 960;

/// Places for the positions of the rows that follow.
#[derive(Clone, Copy)]
struct RowPlaces(*mut MaybeUninit<u32>);

impl RowPlaces {
    /// Writes what was found in the next row.
    ///
    /// # Safety
    /// - There is a place for it.
    #[inline(always)]
    unsafe fn write(&mut self, position: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            self.0.write(MaybeUninit::new(position));
            self.0 = self.0.add(1);
        }
    }

    /// Writes what was found in the next rows, as many as a vector has lanes.
    ///
    /// # Safety
    /// - There are places for that. Lanes have 32 bits, as a place has.
    #[inline(always)]
    unsafe fn write_group<O: ArgOrder>(&mut self, positions: IndexVec<O>) {
        // SAFETY: the caller's promise.
        unsafe {
            self.0.cast::<IndexVec<O>>().write_unaligned(positions);
            self.0 = self.0.add(O::Simd::LANES);
        }
    }
}

/// All rows of a call, as [`RowKernel::run`] is given it: their elements may be read.
#[derive(Clone, Copy)]
struct RowsOfCall<'a, O: ArgOrder, const FORWARD: bool> {
    order: O,
    args: &'a KernelArgs<'a>,
    first: Segment<'a, O::Lane>,
    /// From the first element of a row, in the order of visiting, to the one at its lowest address.
    to_lowest: isize,
    /// As many places for positions as there are rows.
    places: RowPlaces,
    prefetches: bool,
}

impl<O: ArgOrder, const FORWARD: bool> RowLoop<O> for RowsOfCall<'_, O, FORWARD> {
    const FORWARD: bool = FORWARD;
    const HAS_GROUPS: bool = true;
    // What is lane-indexed instead need not be compiled.
    const MAX_VECTORS: usize =
        if O::Simd::TUNING.has_instructions && !lane_indexed::takes::<O>(MAX_VECTORS) { MAX_VECTORS } else { 4 };
    type Output = ();

    /// A call where rows may go side by side: with three of those searches in one function, all kernels took a
    /// sixteenth longer to compile.
    #[inline(always)]
    fn search<S: RowSearch<O>>(self) {
        if const { S::HAS_GROUPS } {
            self.order.simd().outlined(
                #[inline(always)]
                move || self.search_each::<S>(),
            );
        } else {
            self.search_each::<S>();
        }
    }
}

impl<'a, O: ArgOrder, const FORWARD: bool> RowsOfCall<'a, O, FORWARD> {
    /// # Safety
    /// - As for [`KernelImpl::run`], as long as the rows of `outputs` are answered.
    #[inline(always)]
    unsafe fn new(order: O, args: &'a KernelArgs<'_>, outputs: &mut Outputs<'_>) -> Self {
        let LoopDim { size: len, stride } = args.innermost_reduced();
        assert!(Strategy::Rows.takes(args.inner, args.reduced, O::Simd::LANES) && (!FORWARD || stride > 0));
        let reversed = !FORWARD && stride < 0;
        // Hardware prefetchers follow such a row, and are wrong where the next one begins. In shorter rows, or much
        // longer ones, that does not matter.
        let has_discontinuities =
            reversed && (MIN_DISCONTINUITY_BYTES..=PREFETCH_DISTANCE_BYTES).contains(&(len * size_of::<O::Lane>()));
        let prefetches = args.should_prefetch(has_discontinuities);
        let to_lowest = if reversed { 1 - len as isize } else { 0 };
        let lowest = args.input.cast::<O::Lane>().wrapping_offset(to_lowest);
        // SAFETY: the row of the first output, which the caller says may be read. (If there is none, nothing is read.)
        let first = unsafe { Segment::new(lowest, len, reversed, args.tuning) };
        // By rows, a branch on the width of positions would be paid for each.
        let places = RowPlaces(outputs.positions.half_width().as_mut_ptr());
        RowsOfCall { order, args, first, to_lowest, places, prefetches }
    }

    /// Writes the positions of all rows.
    #[inline(always)]
    fn answer(self) {
        let (args, len) = (self.args, self.first.len());
        let vectors = len.div_ceil(O::Simd::LANES);
        // Where the hardware prefetchers are left alone, not to be read in two streams.
        let is_left_alone = args.exceeds_l2() && !args.should_prefetch(false);
        let is_sequential = is_left_alone && len > MAX_TWO_STREAM_BYTES / size_of::<O::Lane>();
        match vectors {
            5.. if const { O::Simd::TUNING.has_instructions }
                && lane_indexed::takes::<O>(vectors)
                && !is_sequential =>
            {
                self.search::<LaneIndexed>()
            }
            _ if vectors <= Self::MAX_VECTORS => in_registers(len, self),
            _ if const { FORWARD } || blocked::is_one_segment::<O>(len) => self.search::<BlockedSearch>(),
            _ => self.search::<AnyLengthSearch>(),
        }
    }

    /// [`RowLoop::search`], inlined.
    #[inline(always)]
    fn search_each<S: RowSearch<O>>(self) {
        let RowsOfCall { order, args, mut places, .. } = self;
        let (lanes, first) = (O::Simd::LANES, self.first_for::<S>());
        // Once for all rows.
        let [fewest, most] = const { S::LENGTHS };
        assert!(fewest <= first.len() && first.len() <= most);
        // In a register: the compiler would load it for each row, as if a position might be written over it.
        let stride = args.inner.stride;
        let groups = const { S::HAS_GROUPS } && first.len() <= tree::max_vectors::<O>() * lanes;
        let prefetcher = self.prefetcher::<S>(groups);
        // What lies within the rows up to here; the only row is always the last.
        let last = if S::OVER_READS && args.outputs() > 1 { args.last_start(lanes) } else { None };
        let unrolls = const { O::Simd::TUNING.has_few_registers && S::IS_SHORT && (FORWARD || S::OVER_READS) };
        // Counted by hand: before it is optimised, an iterator is several times the code, and this is compiled hundreds
        // of times.
        let mut o = 0;
        while o < args.outer.size {
            let mut start = o as isize * args.outer.stride;
            let mut some = self.followed_rows::<S>(start, last);
            let mut at_end = args.inner.size - some;
            while some > 0 {
                let mut batch = some.min(prefetcher.rows);
                some -= batch;
                if !S::IS_BLOCKED {
                    prefetcher.issue_prefetch(first.address(start));
                }
                while const { S::HAS_GROUPS } && groups && batch >= lanes {
                    // SAFETY: so many rows of `batch` are left, from `start` on, `stride` apart, and as many places.
                    // Lanes of 32 bits have indices of 32 bits, as a place has. Rows are followed as below.
                    unsafe {
                        let rows = SideBySide::new(Followed::new(first.moved(start)), stride);
                        places.write_group::<O>(S::find_group(order, rows));
                    }
                    (start, batch) = (start + lanes as isize * stride, batch - lanes);
                }
                repeat!(unrolls, batch > 0, batch >= 2, batch -= 1, {
                    // SAFETY: `start` goes through the rows of the call one after another, and each has its place. A
                    // search that reads on gets those alone that others follow: up to `last`, a vector is within them.
                    unsafe {
                        let row = Followed::new(first.moved(start));
                        places.write(S::find_followed(order, row));
                    }
                    start += stride;
                });
            }
            while S::OVER_READS && at_end > 0 {
                // SAFETY: the rows that are left, and their places.
                unsafe { places.write(S::find(order, first.moved(start))) };
                start += stride;
                at_end -= 1;
            }
            o += 1;
        }
    }

    /// Of the rows of the inner loop, of which the first is at `start`, how many are followed by enough that may be
    /// read: a vector may start at `last`, in elements from the input, but no further on.
    #[inline(always)]
    fn followed_rows<S: RowSearch<O>>(self, start: isize, last: Option<isize>) -> usize {
        if !S::OVER_READS {
            return self.args.inner.size;
        }
        let room = last.and_then(|last| usize::try_from(last - (start + self.to_lowest)).ok());
        self.args.inner.steps_within(room)
    }

    /// The first row as a search sees it.
    #[inline(always)]
    fn first_for<S: RowSearch<O>>(self) -> Segment<'a, O::Lane> {
        // In vectors, only what takes any length has rows of both directions: for all others it is a constant.
        let is_backward =
            const { O::Simd::TUNING.has_instructions && !S::TAKES_ANY_LENGTH } || self.first.is_reversed();
        let first = self.first.with_direction(!FORWARD && is_backward);
        if !S::IS_BLOCKED {
            return first;
        }
        if !self.prefetches {
            let bytes = || self.args.outputs() * first.len() * size_of::<O::Lane>();
            let is_in_l2 = const { O::Simd::TUNING.has_few_registers } && !self.args.exceeds_l2();
            let distance = self.args.tuning.prefetch.l2_distance_bytes;
            let prefetches = is_in_l2 && distance > 0 && bytes() >= MIN_L2_BYTES;
            return if prefetches { first.with_prefetch_bytes(distance) } else { first };
        }
        // Before each block: further along a long row, or else at the same place of another.
        let size = size_of::<O::Lane>();
        if first.len() * size > PREFETCH_DISTANCE_BYTES {
            first.with_prefetch_bytes(PREFETCH_DISTANCE_BYTES)
        } else {
            first.with_prefetch_distance(prefetch_distance(self.args.inner.stride, size, PREFETCH_DISTANCE_BYTES))
        }
    }

    /// What to prefetch before each batch of rows.
    #[inline(always)]
    fn prefetcher<S: RowSearch<O>>(self, groups: bool) -> RowPrefetcher {
        if S::IS_BLOCKED || !self.prefetches {
            return RowPrefetcher::NOTHING;
        }
        let (hint, side_by_side) = (self.args.tuning.prefetch.hint, if groups { O::Simd::LANES } else { 1 });
        let (size, stride) = (size_of::<O::Lane>(), self.args.inner.stride);
        RowPrefetcher::of_rows(hint, self.first.len() * size, stride.wrapping_mul(size as isize), side_by_side)
    }
}
