//! Rows: the elements of one output are neighbours, and vectors run along them, one row after another. Which search a
//! row takes depends on nothing but its length.

use super::blocked;
use super::lane_indexed;
use super::segment::{self, Best, MOST_VECTORS, Run};
use super::tree;
use crate::kernel::{Body, MakeOrder};
use crate::memory::args::Tile;
use crate::memory::prefetch::Prefetch;
use crate::memory::row_prefetch::{AHEAD_BYTES, Asked, ahead};
use crate::order::{Count, Order};
use crate::positions::Positions;
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token, repeat};
use crate::strategy::Strategy;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// See the file. Those against the direction of memory by the order that `R` makes.
pub(crate) struct Rows<R>(PhantomData<R>);

impl<R: MakeOrder> Body for Rows<R> {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: Positions<'_>) {
        // SAFETY: the caller's promise.
        unsafe { each_by_length::<O, false>(order, tile, positions) }
    }

    unsafe fn enter<M: MakeOrder>(tile: &Tile<'_>, positions: Positions<'_>) {
        // SAFETY: the caller's promise.
        unsafe {
            if tile.line().stride < 0 {
                crate::kernel::enter::<R, ReversedRows>(tile, positions);
            } else {
                crate::kernel::enter::<M, Self>(tile, positions);
            }
        }
    }
}

/// Rows against the direction of memory: also those of which the last of equals is asked for.
pub(crate) struct ReversedRows;

impl Body for ReversedRows {
    #[inline(always)]
    unsafe fn run<O: Order>(order: O, tile: &Tile<'_>, positions: Positions<'_>) {
        // SAFETY: the caller's promise.
        unsafe { each_by_length::<O, true>(order, tile, positions) }
    }
}

/// # Safety
/// - As [`Body::run`].
#[inline(always)]
unsafe fn each_by_length<O: Order, const REVERSED: bool>(order: O, tile: &Tile<'_>, mut positions: Positions<'_>) {
    let len = tile.line().size;
    assert!(Strategy::Rows.takes(tile.inner, tile.reduced, O::Simd::LANES));
    // Prefetchers go along such a row, and are wrong where the next begins. Shorter ones, or much longer, they do not
    // mind.
    let jumps = REVERSED && (SHORTEST_JUMP..=AHEAD_BYTES).contains(&(len * size_of::<O::Lane>()));
    let asks = tile.prefetch.asks(jumps);
    // By rows, a branch on the width of positions would be paid for each.
    let narrow = positions.narrow();
    // SAFETY: the caller's promise, and then all of them were written.
    unsafe {
        by_length(len, EachRow::<'_, O, REVERSED> { order, tile, positions: narrow.as_mut_ptr(), asks });
        positions.widen(order.simd());
    }
}

/// Takes the search for rows of a length.
///
/// # Safety
/// - The caller may [search](Visit::search) rows of that length.
#[inline(always)]
unsafe fn by_length<O: Order, const REVERSED: bool>(len: usize, visit: EachRow<'_, O, REVERSED>) {
    let vectors = len.div_ceil(O::Simd::LANES);
    // SAFETY: the caller's promise, and each of the lengths is one that its search takes.
    unsafe {
        match vectors {
            5.. if const { O::Simd::TUNING.specializes }
                && lane_indexed::takes::<O>(vectors)
                && !visit.goes_along(len) =>
            {
                visit.search::<ByLane>()
            }
            _ if vectors <= <EachRow<'_, O, REVERSED> as Visit<O>>::MOST_VECTORS => in_registers(len, visit),
            _ => visit.search::<Chunks>(),
        }
    }
}

/// The same for up to [`Visit::MOST_VECTORS`]. (It compares elements: to count the vectors takes as many instructions
/// as there are to load one and compare it.)
///
/// # Safety
/// - As for [`by_length`].
#[inline(always)]
pub(super) unsafe fn in_registers<O: Order, V: Visit<O>>(len: usize, visit: V) -> V::Output {
    let lanes = O::Simd::LANES;
    // SAFETY: the caller's promise, and each of the lengths is one that its search takes.
    unsafe {
        match len {
            _ if const { O::Simd::FEW > 0 && !V::REVERSED } && len <= O::Simd::FEW => visit.search::<Few>(),
            _ if O::Simd::HAS_FIRST_BEST && len < lanes => visit.search::<Less>(),
            _ if len < lanes => visit.search::<PartOfVector>(),
            // Fewer copies of the loop where they are not worth their code, and for rows against the direction of
            // memory.
            _ if !const { O::Simd::TUNING.specializes } => visit.search::<VectorByVector>(),
            _ if !V::REVERSED && len <= lanes => visit.search::<Vectors<1, 1>>(),
            _ if len <= 2 * lanes => visit.search::<Vectors<1, 2>>(),
            _ if const { V::MOST_VECTORS <= 4 } || len <= 4 * lanes => visit.search::<Vectors<2, 4>>(),
            _ => visit.search::<Vectors<4, MOST_VECTORS>>(),
        }
    }
}

/// What is done with a search: a closure, but generic.
pub(super) trait Visit<O: Order> {
    /// Whether rows run against the direction of memory.
    const REVERSED: bool;
    /// The most vectors that are searched in registers.
    const MOST_VECTORS: usize;
    type Output;

    /// # Safety
    /// - The elements of the rows may be read, and rows are as long as `S` asks for.
    unsafe fn search<S: Search<O>>(self) -> Self::Output;
}

/// A way to find the best element of a row.
pub(super) trait Search<O: Order> {
    /// Whether a row is shorter than the vector that it is loaded as, and so needs more elements to follow it.
    const READS_ON: bool = false;
    /// Whether it goes through a row chunk by chunk, and asks for others by itself.
    const FOLDS: bool = false;
    /// Whether a search is as short as a [loop that is unrolled](repeat).
    const IS_SHORT: bool = false;
    /// The most vectors of a row, 0 if they are less than one: where as many rows as a vector has lanes may be
    /// answered side by side.
    const VECTORS: Option<usize> = None;

    /// The position, 0 if there is none.
    ///
    /// # Safety
    /// - The elements of the run may be read; if `ON`, those that follow it in a vector may be too.
    /// - It is as long as the search asks for.
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> u32;

    /// The positions in a group of rows, from one to the next `stride` elements.
    ///
    /// # Safety
    /// - As for [`Search::find`] with `ON`, of each row.
    #[inline(always)]
    unsafe fn find_group(order: O, _first: Run<O::Lane>, _stride: isize) -> Count<O> {
        order.simd().count(0)
    }
}

/// So few that one operation finds the first best of them; the other lanes of the vector hold the worst value.
struct Few;
impl<O: Order> Search<O> for Few {
    const IS_SHORT: bool = true;
    const READS_ON: bool = !O::Simd::LOADS_PARTS;

    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        let value = unsafe { segment::load_part::<O, ON>(order, run) };
        order.simd().first_best(value, O::IS_MAX) as u32
    }
}

/// Less than a vector, where one operation finds the first best of one.
struct Less;
impl<O: Order> Search<O> for Less {
    const IS_SHORT: bool = true;
    const READS_ON: bool = !O::Simd::LOADS_PARTS;

    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        let (simd, value) = (order.simd(), unsafe { segment::load_part::<O, ON>(order, run) });
        // What is beyond the row is no better, and comes after it.
        let beyond = simd.count(O::Simd::MAX_COUNT);
        let numbers = simd.select_count(simd.first(run.len), simd.lane_numbers(run.reversed), beyond);
        let number = simd.first_best_of_all(value, numbers, O::IS_MAX);
        (if run.reversed { number - (O::Simd::LANES - run.len) } else { number }) as u32
    }
}

/// Less than a vector.
struct PartOfVector;
impl<O: Order> Search<O> for PartOfVector {
    const READS_ON: bool = !O::Simd::LOADS_PARTS;
    const VECTORS: Option<usize> = Some(0);

    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { segment::find_in_part::<O, ON>(order, run) }.position()
    }

    #[inline(always)]
    unsafe fn find_group(order: O, first: Run<O::Lane>, stride: isize) -> Count<O> {
        // SAFETY: the caller's promise.
        unsafe { tree::find::<O, 0>(order, first, stride) }
    }
}

/// At least `WHOLE` vectors, and at most `V`.
struct Vectors<const WHOLE: usize, const V: usize>;
impl<O: Order, const WHOLE: usize, const V: usize> Search<O> for Vectors<WHOLE, V> {
    const IS_SHORT: bool = V <= 2;
    const VECTORS: Option<usize> = Some(V);

    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { segment::find::<O, WHOLE, V>(order, run) }.position()
    }

    #[inline(always)]
    unsafe fn find_group(order: O, first: Run<O::Lane>, stride: isize) -> Count<O> {
        // SAFETY: the caller's promise.
        unsafe { tree::find::<O, V>(order, first, stride) }
    }
}

/// A few vectors, one after another.
struct VectorByVector;
impl<O: Order> Search<O> for VectorByVector {
    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> u32 {
        let lanes = O::Simd::LANES;
        let mut best = Best::new(order);
        for start in (0..run.len).step_by(lanes) {
            // The last one reaches back: what is seen twice is never better than itself.
            let start = start.min(run.len - lanes);
            // SAFETY: the caller's promise: a part of the run, one vector long.
            best.offer(unsafe { segment::find::<O, 1, 1>(order, run.part(start, lanes)) }, start);
        }
        best.position()
    }
}

/// Each lane by itself.
struct ByLane;
impl<O: Order> Search<O> for ByLane {
    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { lane_indexed::find(order, run) }
    }
}

/// Any number of chunks.
struct Chunks;
impl<O: Order> Search<O> for Chunks {
    const FOLDS: bool = true;

    #[inline(always)]
    unsafe fn find<const ON: bool>(order: O, run: Run<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { blocked::find(order, run) }.position()
    }
}

/// The shortest rows against the direction of memory, in bytes, in which prefetchers have to be helped.
const SHORTEST_JUMP: usize = 512;

/// The longest rows, in bytes, that prefetchers follow in two places.
const LONGEST_HALVED: usize = 960;

/// How far ahead of each chunk of a row to ask, in elements: further along a long row, or else at the same place of
/// another.
#[inline(always)]
fn along<O: Order>(row: Run<O::Lane>, stride: isize) -> Run<O::Lane> {
    if row.len > AHEAD_BYTES / size_of::<O::Lane>() {
        row.asking_along(AHEAD_BYTES)
    } else {
        row.asking_at(ahead(stride, size_of::<O::Lane>(), AHEAD_BYTES))
    }
}

/// All rows of a tile.
#[derive(Clone, Copy)]
struct EachRow<'t, O, const REVERSED: bool> {
    order: O,
    tile: &'t Tile<'t>,
    /// A place for each.
    positions: *mut MaybeUninit<u32>,
    /// Whether to ask for what is ahead.
    asks: bool,
}

impl<O: Order, const REVERSED: bool> EachRow<'_, O, REVERSED> {
    /// Whether rows of that length are not to be read in two places at once.
    #[inline(always)]
    fn goes_along(&self, len: usize) -> bool {
        self.tile.prefetch == Prefetch::Jumps && len > LONGEST_HALVED / size_of::<O::Lane>()
    }
}

impl<O: Order, const REVERSED: bool> Visit<O> for EachRow<'_, O, REVERSED> {
    const REVERSED: bool = REVERSED;
    // What goes by lane instead need not be compiled.
    const MOST_VECTORS: usize =
        if O::Simd::TUNING.specializes && !lane_indexed::takes::<O>(MOST_VECTORS) { MOST_VECTORS } else { 4 };
    type Output = ();

    /// A call where rows may go side by side: with three of those searches in one function, all kernels took a
    /// sixteenth longer to compile.
    #[inline(always)]
    unsafe fn search<S: Search<O>>(self) {
        let task = Searched::<'_, O, S, REVERSED>(self, PhantomData);
        // SAFETY: the caller's promise.
        unsafe {
            if const { Searched::<'_, O, S, REVERSED>::GROUPS } {
                self.order.simd().call(task);
            } else {
                task.run();
            }
        }
    }
}

/// The rows, by one search.
struct Searched<'t, O, S, const REVERSED: bool>(EachRow<'t, O, REVERSED>, PhantomData<S>);

impl<O: Copy, S, const REVERSED: bool> Clone for Searched<'_, O, S, REVERSED> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<O: Copy, S, const REVERSED: bool> Copy for Searched<'_, O, S, REVERSED> {}

impl<O: Order, S: Search<O>, const REVERSED: bool> Searched<'_, O, S, REVERSED> {
    /// Whether the loop of a search is [unrolled](repeat).
    const UNROLLS: bool = O::Simd::TUNING.unrolls && S::IS_SHORT && (!REVERSED || S::READS_ON);

    /// Whether rows of a search may go side by side; `in_registers` takes the shortest of them to this one.
    const GROUPS: bool = tree::takes::<O>()
        && match S::VECTORS {
            None => false,
            Some(0) => !REVERSED,
            Some(most) => REVERSED || most <= 4,
        };
}

impl<O: Order, S: Search<O>, const REVERSED: bool> Task for Searched<'_, O, S, REVERSED> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        let EachRow { order, tile, positions: mut position, asks } = self.0;
        let (len, lanes) = (tile.line().size, O::Simd::LANES);
        // In a register: the compiler would load it for each row, as if a position might be written over it.
        let stride = tile.inner.stride;
        let to_lowest = if REVERSED { 1 - len as isize } else { 0 };
        // Up to here, a vector reaches no further than the rows; the only row is always the last.
        let last = if S::READS_ON && tile.outputs() > 1 { tile.last_start(lanes) } else { None };
        let groups = Self::GROUPS && len <= tree::MOST_VECTORS * lanes;
        let input = tile.input.cast::<O::Lane>();
        let mut first = Run::new(input, len, REVERSED, tile.tuning);
        let size = size_of::<O::Lane>();
        if S::FOLDS && asks {
            first = along::<O>(first, stride);
        } else if S::FOLDS {
            first = first.asking(tile.prefetch);
        }
        let row = |start: isize| first.moved(start);
        let asked = match !S::FOLDS && asks {
            true => {
                let (hint, side_by_side) = (tile.tuning.prefetch.hint, if groups { lanes } else { 1 });
                Asked::of_rows(hint, len * size, stride.wrapping_mul(size as isize), side_by_side)
            }
            false => Asked::NOTHING,
        };
        // Counted by hand: before it is optimised, an iterator is several times the code, and this is compiled hundreds
        // of times.
        let mut o = 0;
        while o < tile.outer.size {
            let mut start = o as isize * tile.outer.stride + to_lowest;
            // Of all of them, those that are followed by enough that may be read.
            let mut some = if S::READS_ON {
                tile.inner.steps_within(last.and_then(|last| usize::try_from(last - start).ok()))
            } else {
                tile.inner.size
            };
            let mut at_end = tile.inner.size - some;
            // SAFETY: the caller promises the elements of all rows, of which `start` goes through one after another;
            // where a search reads on, what follows `some` of them are elements of others. There is a position for each
            // (`enter`).
            unsafe {
                while some > 0 {
                    let mut block = some.min(asked.rows);
                    some -= block;
                    if !S::FOLDS {
                        asked.ask(row(start).at);
                    }
                    while Self::GROUPS && groups && block >= lanes {
                        let found = order.simd().counts(S::find_group(order, row(start), stride));
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
                while S::READS_ON && at_end > 0 {
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
