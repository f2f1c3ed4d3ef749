//! Segments of five vectors and more, up to a limit for each ISA, with a position for each lane: see `mod.rs`. Knows
//! nothing of calls.

use super::blocks::{BlockMap, BlockedSegment};
use super::orders::{Lane, RowOrders};
use super::segment::{MAX_VECTORS, Segment, is_sought};
use crate::order::{ArgOrder, IndexVec, Vec, has_max};
use crate::simd::ops::{EQ, SimdOps, iota};
use crate::simd::token::{Simd, repeat};
use bytemuck::Zeroable;

/// The fewest and the most vectors of a segment that is faster this way. Positions have to fit a lane; beyond the
/// limit, blocks are as fast. See docs/tuning.md#lane-indexed-rows.
#[inline(always)]
pub(super) const fn vectors<O: ArgOrder>() -> (usize, usize) {
    let most = match O::Simd::TUNING.has_masks {
        // The blocks that these would be wait longer for each other.
        _ if !has_max::<O>() => 64,
        true => 25,
        false => 16,
    };
    let positions = (O::Simd::MAX_INDEX as usize).saturating_add(1) / O::Simd::LANES;
    let most = if positions < most { positions } else { most };
    if O::Simd::TUNING.specializes { (5, most) } else { (1, 0) }
}

/// Whether a segment of `number` vectors is searched so. 7 and 8 vectors fill a [search in
/// registers](super::segment::find), which may then be as fast.
#[inline(always)]
pub(super) const fn takes<O: ArgOrder>(number: usize) -> bool {
    let (fewest, most) = vectors::<O>();
    let fills_registers = 7 <= number && number <= MAX_VECTORS;
    let has_registers = !O::Simd::TUNING.has_masks && has_max::<O>() && size_of::<O::Lane>() >= 4;
    fewest <= number && number <= most && !(fills_registers && has_registers)
}

/// A segment of at least a vector, as vectors. The last one overlaps the one before.
pub(super) type Vectors<'a, O> = BlockedSegment<'a, O, 1>;

/// The position of the first best element, 0 if there is none, of a segment of not more than [`takes`] allows. One that
/// is less than a vector panics.
#[inline(always)]
pub(super) fn find<P: RowOrders>(orders: P, segment: Segment<'_, Lane<P>>) -> P::Positions {
    let (simd, lanes) = (orders.token(), <P::Order as ArgOrder>::Simd::LANES);
    let (vectors, reversed) = (Vectors::<P::Order>::new(segment), segment.is_reversed());
    // Two spans of the segment, equally long, of whole vectors: one from its start, and one to its end. They may
    // overlap. Re-reading is harmless: the comparison is strict.
    let len = segment.len().div_ceil(2 * lanes) * lanes;
    let second = segment.len() - len;
    let (lowest, step) = (vectors.first().segment(), if reversed { -1 } else { 1 });
    let vector = |start: usize| lowest.address(start as isize * step);
    // SAFETY: a segment of at least a vector has one at its start, and one `len` before its end: that is at least a
    // vector, and no more than the segment.
    let first = unsafe { [orders.load(vector(0)), orders.load(vector(second))] };
    let mut position = iota::<Lane<P>, _>(reversed);
    let mut chains = orders.chains(first, position);
    let mut at = lanes;
    let unrolls = const { P::Simd::TUNING.unrolls_short_loops && !P::ARE_TWO } && !reversed;
    repeat!(unrolls, at < len, at + lanes < len, at += lanes, {
        position = simd.add(position, simd.splat_index(lanes as u32));
        // SAFETY: both spans are whole vectors, `len` elements of the segment, and `at` is below that.
        let vectors = unsafe { [orders.load(vector(at)), orders.load(vector(second + at))] };
        orders.update_chains(&mut chains, vectors, position);
    });
    orders.finish_chains(chains, vectors, second)
}

/// The best of each lane of both chains, and their positions from where each starts.
#[derive(Clone, Copy)]
pub(super) struct LaneAccumulators<O: ArgOrder> {
    values: [Vec<O>; 2],
    positions: [IndexVec<O>; 2],
    nan_acc: O::NanAcc,
}

impl<O: ArgOrder> LaneAccumulators<O> {
    /// Of the first vectors.
    #[inline(always)]
    pub(super) fn new(order: O, first: [Vec<O>; 2], position: IndexVec<O>) -> Self {
        let nan_acc = order.accumulate_nan(Zeroable::zeroed(), &first);
        let values = match O::NAN_LOSES {
            true => [order.max(first[0], order.identity()), order.max(first[1], order.identity())],
            false => first,
        };
        LaneAccumulators { values, positions: [position; 2], nan_acc }
    }

    /// Later vectors of both.
    #[inline(always)]
    pub(super) fn update(&mut self, order: O, vectors: [Vec<O>; 2], position: IndexVec<O>) {
        if O::NAN_WINS {
            self.nan_acc = order.accumulate_nan(self.nan_acc, &vectors);
        }
        self.update_chain(order, 0, vectors[0], position);
        self.update_chain(order, 1, vectors[1], position);
    }

    #[inline(always)]
    fn update_chain(&mut self, order: O, chain: usize, value: Vec<O>, position: IndexVec<O>) {
        let better = order.gt(value, self.values[chain]);
        self.values[chain] = order.max(value, self.values[chain]);
        self.positions[chain] = order.simd().select(better, position, self.positions[chain]);
    }

    /// The position of the first best element of these vectors, of which the second chain starts with element `second`.
    #[inline(always)]
    pub(super) fn finish(self, order: O, vectors: Vectors<'_, O>, second: usize) -> u32 {
        match self.best(order, second) {
            Some(position) => position,
            None if O::NAN_WINS => find_first::<O, true>(order, vectors, order.identity()),
            // Nothing is better than the worst.
            None => find_first::<O, false>(order, vectors, order.identity()),
        }
    }

    /// The position of the first best element, or `None` where it is not known yet: a NaN that wins is there, or
    /// nothing is better than the worst number.
    #[inline(always)]
    fn best(mut self, order: O, second: usize) -> Option<u32> {
        let simd = order.simd();
        let second = simd.add(self.positions[1], simd.splat_index(second as u32));
        self.update_chain(order, 0, self.values[1], second);
        let ([best, _], [position_of_best, _]) = (self.values, self.positions);
        let value = simd.reduce_splat(best, O::IS_MAX);
        // Lanes of NaN alone never left their start; and where a number is no better, the position beside it is of the
        // NaN.
        let is_identity = O::NAN_LOSES && simd.movemask(simd.compare::<EQ>(value, order.identity())) != 0;
        if is_identity || O::NAN_WINS && order.is_absorbing(value, self.nan_acc) {
            return None;
        }
        let none = simd.splat_index(O::Simd::MAX_INDEX);
        let winners = simd.select(simd.compare::<EQ>(best, value), position_of_best, none);
        Some(simd.reduce_min_index(winners).into() as u32)
    }
}

/// The position of the first element that [is sought](is_sought), 0 if there is none.
///
/// Lane by lane, too: of each eight vectors, from the last one to the first, so that no branch depends on where the
/// element is. See docs/tuning.md#reasons-behind-the-shape-of-the-code.
#[inline(always)]
fn find_first<O: ArgOrder, const NAN: bool>(order: O, vectors: Vectors<'_, O>, value: Vec<O>) -> u32 {
    let (simd, reversed) = (order.simd(), vectors.segment().is_reversed());
    let none = simd.splat_index(O::Simd::MAX_INDEX);
    let mut start = 0;
    while start < vectors.count() {
        let next = start + MAX_VECTORS;
        let mut n = next.min(vectors.count());
        let mut first = none;
        while n > start {
            n -= 1;
            let (at, block) = vectors.block(n);
            let [vector] = block.load(order);
            let position = simd.add(iota::<O::Lane, _>(reversed), simd.splat_index(at as u32));
            first = simd.select(is_sought::<O, NAN>(order, vector, value), position, first);
        }
        let position: u64 = simd.reduce_min_index(first).into();
        if position < u64::from(O::Simd::MAX_INDEX) {
            return position as u32;
        }
        start = next;
    }
    0
}
