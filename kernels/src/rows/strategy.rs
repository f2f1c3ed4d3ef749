//! Rows: the elements of one output are neighbours, and vectors run along them, one row after another. Which search a
//! row takes depends on nothing but its length.

use super::blocked;
use super::lane_indexed;
use super::segment::{self, ArgBest, MAX_VECTORS, Segment};
use super::tree;
use crate::kernel::{KernelImpl, OrderFactory};
use crate::memory::args::KernelArgs;
use crate::memory::prefetch::Prefetch;
use crate::memory::row_prefetch::{PREFETCH_DISTANCE_BYTES, RowPrefetcher, prefetch_distance};
use crate::order::{ArgOrder, IndexVec};
use crate::outputs::{Outputs, Written};
use crate::simd::ops::SimdOps;
use crate::simd::token::{Simd, SimdOp, repeat};
use crate::strategy::Strategy;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// See the file. Those against the direction of memory by the order that `R` makes.
pub(crate) struct Rows<R>(PhantomData<R>);

impl<R: OrderFactory> KernelImpl for Rows<R> {
    #[inline(always)]
    unsafe fn run<O: ArgOrder>(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        // SAFETY: the caller's promise.
        unsafe { each_by_length::<O, false>(order, args, outputs) }
    }

    unsafe fn enter<M: OrderFactory>(args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        // SAFETY: the caller's promise.
        unsafe {
            if args.innermost_reduced().stride < 0 {
                crate::kernel::enter::<R, ReversedRows>(args, outputs)
            } else {
                crate::kernel::enter::<M, Self>(args, outputs)
            }
        }
    }
}

/// Rows against the direction of memory: also those of which the last of equals is asked for.
pub(crate) struct ReversedRows;

impl KernelImpl for ReversedRows {
    #[inline(always)]
    unsafe fn run<O: ArgOrder>(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written {
        // SAFETY: the caller's promise.
        unsafe { each_by_length::<O, true>(order, args, outputs) }
    }
}

/// # Safety
/// - As [`KernelImpl::run`].
#[inline(always)]
unsafe fn each_by_length<O: ArgOrder, const REVERSED: bool>(
    order: O,
    args: &KernelArgs<'_>,
    mut outputs: Outputs<'_>,
) -> Written {
    let len = args.innermost_reduced().size;
    assert!(Strategy::Rows.takes(args.inner, args.reduced, O::Simd::LANES));
    // Prefetchers go along such a row, and are wrong where the next begins. Shorter ones, or much longer, they do not
    // mind.
    let jumps = REVERSED && (MIN_JUMP_BYTES..=PREFETCH_DISTANCE_BYTES).contains(&(len * size_of::<O::Lane>()));
    let prefetches = args.prefetch.should_prefetch(jumps);
    // By rows, a branch on the width of positions would be paid for each.
    let narrow = outputs.positions.half_width();
    // SAFETY: the caller's promise, and then all of them were written.
    unsafe {
        by_length(len, AllRows::<'_, O, REVERSED> { order, args, positions: narrow.as_mut_ptr(), prefetches });
        outputs.positions.widen(order.simd());
    }
    Written::Nothing
}

/// Takes the search for rows of a length.
///
/// # Safety
/// - The caller may [search](RowLoop::search) rows of that length.
#[inline(always)]
unsafe fn by_length<O: ArgOrder, const REVERSED: bool>(len: usize, visit: AllRows<'_, O, REVERSED>) {
    let vectors = len.div_ceil(O::Simd::LANES);
    // SAFETY: the caller's promise, and each of the lengths is one that its search takes.
    unsafe {
        match vectors {
            5.. if const { O::Simd::TUNING.specializes }
                && lane_indexed::takes::<O>(vectors)
                && !visit.is_sequential(len) =>
            {
                visit.search::<LaneIndexed>()
            }
            _ if vectors <= <AllRows<'_, O, REVERSED> as RowLoop<O>>::MAX_VECTORS => in_registers(len, visit),
            _ => visit.search::<BlockedSearch>(),
        }
    }
}

/// The same for up to [`RowLoop::MAX_VECTORS`]. (It compares elements: to count the vectors takes as many instructions
/// as there are to load one and compare it.)
///
/// # Safety
/// - As for [`by_length`].
#[inline(always)]
pub(super) unsafe fn in_registers<O: ArgOrder, V: RowLoop<O>>(len: usize, visit: V) -> V::Output {
    let lanes = O::Simd::LANES;
    // SAFETY: the caller's promise, and each of the lengths is one that its search takes.
    unsafe {
        match len {
            _ if const { O::Simd::MINPOS_LANES > 0 && !V::REVERSED } && len <= O::Simd::MINPOS_LANES => {
                visit.search::<MinposRow>()
            }
            _ if O::Simd::HAS_MINPOS_INDEX && len < lanes => visit.search::<MinposPartialRow>(),
            _ if len < lanes => visit.search::<PartialVector>(),
            // Fewer copies of the loop where they are not worth their code, and for rows against the direction of
            // memory.
            _ if !const { O::Simd::TUNING.specializes } => visit.search::<OneVectorAtATime>(),
            _ if !V::REVERSED && len <= lanes => visit.search::<InRegisters<1, 1>>(),
            _ if len <= 2 * lanes => visit.search::<InRegisters<1, 2>>(),
            _ if const { V::MAX_VECTORS <= 4 } || len <= 4 * lanes => visit.search::<InRegisters<2, 4>>(),
            _ => visit.search::<InRegisters<4, MAX_VECTORS>>(),
        }
    }
}

/// What is done with a search: a closure, but generic.
pub(super) trait RowLoop<O: ArgOrder> {
    /// Whether rows run against the direction of memory.
    const REVERSED: bool;
    /// The most vectors that are searched in registers.
    const MAX_VECTORS: usize;
    type Output;

    /// # Safety
    /// - The elements of the rows may be read, and rows are as long as `S` asks for.
    unsafe fn search<S: RowSearch<O>>(self) -> Self::Output;
}

/// A way to find the best element of a row.
pub(super) trait RowSearch<O: ArgOrder> {
    /// Whether a row is shorter than the vector that it is loaded as, and so needs more elements to follow it.
    const OVER_READS: bool = false;
    /// Whether it goes through a row block by block, and asks for others by itself.
    const IS_BLOCKED: bool = false;
    /// Whether a search is as short as a [loop that is unrolled](repeat).
    const IS_SHORT: bool = false;
    /// The most vectors of a row, 0 if they are less than one: where as many rows as a vector has lanes may be
    /// answered side by side.
    const VECTORS: Option<usize> = None;

    /// The position, 0 if there is none.
    ///
    /// # Safety
    /// - The elements of the segment may be read; if `OVER_READ`, those that follow it in a vector may be too.
    /// - It is as long as the search asks for.
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32;

    /// The positions in a group of rows, from one to the next `stride` elements.
    ///
    /// # Safety
    /// - As for [`RowSearch::find`] with `OVER_READ`, of each row.
    #[inline(always)]
    unsafe fn find_group(order: O, _first: Segment<O::Lane>, _stride: isize) -> IndexVec<O> {
        order.simd().splat_index(0)
    }
}

/// So few that one operation finds the first best of them; the other lanes of the vector hold the worst value.
struct MinposRow;
impl<O: ArgOrder> RowSearch<O> for MinposRow {
    const IS_SHORT: bool = true;
    const OVER_READS: bool = !O::Simd::HAS_MASKED_LOAD;

    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        let value = unsafe { segment::load_partial::<O, OVER_READ>(order, segment) };
        order.simd().minpos(value, O::IS_MAX) as u32
    }
}

/// Less than a vector, where one operation finds the first best of one.
struct MinposPartialRow;
impl<O: ArgOrder> RowSearch<O> for MinposPartialRow {
    const IS_SHORT: bool = true;
    const OVER_READS: bool = !O::Simd::HAS_MASKED_LOAD;

    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        let (simd, value) = (order.simd(), unsafe { segment::load_partial::<O, OVER_READ>(order, segment) });
        // What is beyond the row is no better, and comes after it.
        let beyond = simd.splat_index(O::Simd::MAX_INDEX);
        let numbers = simd.select_index(simd.first_n_mask(segment.len), simd.iota(segment.reversed), beyond);
        let number = simd.minpos_index(value, numbers, O::IS_MAX);
        (if segment.reversed { number - (O::Simd::LANES - segment.len) } else { number }) as u32
    }
}

/// Less than a vector.
struct PartialVector;
impl<O: ArgOrder> RowSearch<O> for PartialVector {
    const OVER_READS: bool = !O::Simd::HAS_MASKED_LOAD;
    const VECTORS: Option<usize> = Some(0);

    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { segment::find_partial::<O, OVER_READ>(order, segment) }.position()
    }

    #[inline(always)]
    unsafe fn find_group(order: O, first: Segment<O::Lane>, stride: isize) -> IndexVec<O> {
        // SAFETY: the caller's promise.
        unsafe { tree::find::<O, 0>(order, first, stride) }
    }
}

/// At least `MIN` vectors, and at most `V`.
struct InRegisters<const MIN: usize, const V: usize>;
impl<O: ArgOrder, const MIN: usize, const V: usize> RowSearch<O> for InRegisters<MIN, V> {
    const IS_SHORT: bool = V <= 2;
    const VECTORS: Option<usize> = Some(V);

    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { segment::find::<O, MIN, V>(order, segment) }.position()
    }

    #[inline(always)]
    unsafe fn find_group(order: O, first: Segment<O::Lane>, stride: isize) -> IndexVec<O> {
        // SAFETY: the caller's promise.
        unsafe { tree::find::<O, V>(order, first, stride) }
    }
}

/// A few vectors, one after another.
struct OneVectorAtATime;
impl<O: ArgOrder> RowSearch<O> for OneVectorAtATime {
    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        let lanes = O::Simd::LANES;
        let mut best = ArgBest::new(order);
        for start in (0..segment.len).step_by(lanes) {
            // The last one reaches back: what is seen twice is never better than itself.
            let start = start.min(segment.len - lanes);
            // SAFETY: the caller's promise: a part of the segment, one vector long.
            best.update(unsafe { segment::find::<O, 1, 1>(order, segment.part(start, lanes)) }, start);
        }
        best.position()
    }
}

/// Each lane by itself.
struct LaneIndexed;
impl<O: ArgOrder> RowSearch<O> for LaneIndexed {
    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { lane_indexed::find(order, segment) }
    }
}

/// Any number of blocks.
struct BlockedSearch;
impl<O: ArgOrder> RowSearch<O> for BlockedSearch {
    const IS_BLOCKED: bool = true;

    #[inline(always)]
    unsafe fn find<const OVER_READ: bool>(order: O, segment: Segment<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { blocked::find(order, segment) }.position()
    }
}

/// The shortest rows against the direction of memory, in bytes, in which prefetchers have to be helped.
const MIN_JUMP_BYTES: usize = 512;

/// The longest rows, in bytes, that prefetchers follow in two places.
const MAX_TWO_STREAM_BYTES: usize = 960;

/// How far ahead of each block of a row to ask, in elements: further along a long row, or else at the same place of
/// another.
#[inline(always)]
fn with_row_prefetch<O: ArgOrder>(row: Segment<O::Lane>, stride: isize) -> Segment<O::Lane> {
    if row.len > PREFETCH_DISTANCE_BYTES / size_of::<O::Lane>() {
        row.with_prefetch_bytes(PREFETCH_DISTANCE_BYTES)
    } else {
        row.with_prefetch_distance(prefetch_distance(stride, size_of::<O::Lane>(), PREFETCH_DISTANCE_BYTES))
    }
}

/// All rows of a call.
#[derive(Clone, Copy)]
struct AllRows<'t, O, const REVERSED: bool> {
    order: O,
    args: &'t KernelArgs<'t>,
    /// A place for each.
    positions: *mut MaybeUninit<u32>,
    /// Whether to ask for what is ahead.
    prefetches: bool,
}

impl<O: ArgOrder, const REVERSED: bool> AllRows<'_, O, REVERSED> {
    /// Whether rows of that length are not to be read in two places at once.
    #[inline(always)]
    fn is_sequential(&self, len: usize) -> bool {
        self.args.prefetch == Prefetch::Jumps && len > MAX_TWO_STREAM_BYTES / size_of::<O::Lane>()
    }
}

impl<O: ArgOrder, const REVERSED: bool> RowLoop<O> for AllRows<'_, O, REVERSED> {
    const REVERSED: bool = REVERSED;
    // What goes by lane instead need not be compiled.
    const MAX_VECTORS: usize =
        if O::Simd::TUNING.specializes && !lane_indexed::takes::<O>(MAX_VECTORS) { MAX_VECTORS } else { 4 };
    type Output = ();

    /// A call where rows may go side by side: with three of those searches in one function, all kernels took a
    /// sixteenth longer to compile.
    #[inline(always)]
    unsafe fn search<S: RowSearch<O>>(self) {
        let task = SearchLoop::<'_, O, S, REVERSED>(self, PhantomData);
        // SAFETY: the caller's promise.
        unsafe {
            if const { SearchLoop::<'_, O, S, REVERSED>::GROUPS } {
                self.order.simd().call_outlined(task);
            } else {
                task.eval();
            }
        }
    }
}

/// The rows, by one search.
struct SearchLoop<'t, O, S, const REVERSED: bool>(AllRows<'t, O, REVERSED>, PhantomData<S>);

impl<O: Copy, S, const REVERSED: bool> Clone for SearchLoop<'_, O, S, REVERSED> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<O: Copy, S, const REVERSED: bool> Copy for SearchLoop<'_, O, S, REVERSED> {}

impl<O: ArgOrder, S: RowSearch<O>, const REVERSED: bool> SearchLoop<'_, O, S, REVERSED> {
    /// Whether the loop of a search is [unrolled](repeat).
    const UNROLLS: bool = O::Simd::TUNING.unrolls && S::IS_SHORT && (!REVERSED || S::OVER_READS);

    /// Whether rows of a search may go side by side; `in_registers` takes the shortest of them to this one.
    const GROUPS: bool = tree::takes::<O>()
        && match S::VECTORS {
            None => false,
            Some(0) => !REVERSED,
            Some(most) => REVERSED || most <= 4,
        };
}

impl<O: ArgOrder, S: RowSearch<O>, const REVERSED: bool> SimdOp for SearchLoop<'_, O, S, REVERSED> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let AllRows { order, args, positions: mut position, prefetches } = self.0;
        let (len, lanes) = (args.innermost_reduced().size, O::Simd::LANES);
        // In a register: the compiler would load it for each row, as if a position might be written over it.
        let stride = args.inner.stride;
        let to_lowest = if REVERSED { 1 - len as isize } else { 0 };
        // Up to here, a vector reaches no further than the rows; the only row is always the last.
        let last = if S::OVER_READS && args.outputs() > 1 { args.last_start(lanes) } else { None };
        let groups = Self::GROUPS && len <= tree::MAX_VECTORS * lanes;
        let input = args.input.cast::<O::Lane>();
        let mut first = Segment::new(input, len, REVERSED, args.tuning);
        let size = size_of::<O::Lane>();
        if S::IS_BLOCKED && prefetches {
            first = with_row_prefetch::<O>(first, stride);
        } else if S::IS_BLOCKED {
            first = first.with_prefetch(args.prefetch);
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
            // (`enter`).
            unsafe {
                while some > 0 {
                    let mut block = some.min(prefetcher.rows);
                    some -= block;
                    if !S::IS_BLOCKED {
                        prefetcher.issue_prefetch(row(start).at);
                    }
                    while Self::GROUPS && groups && block >= lanes {
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
                    repeat!(Self::UNROLLS, block > 0, block >= 2, block -= 1, {
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
