//! Runs of five vectors and more, up to a limit for each ISA. Each lane keeps the position of its best: a comparison
//! and a blend for each vector, where [chunks](super::blocked) take them for each four. But then nothing is looked at
//! twice: the smallest position of the lanes that hold the best is the answer, and bits are made of one mask, not of
//! all.
//!
//! What such a run waits for is the step before, and so it is read in two places at once, from its start and from its
//! middle: half as many steps, and as both share the number of the step, fewer operations too. Decides nothing about
//! tiles.

use super::segment::{Equals, IsNan, MOST_VECTORS, Run, Test};
use crate::order::{Count, Order, Vec};
use crate::simd::ops::Lanes;
use crate::simd::token::{Token, repeat};

/// The vectors of the shortest run that is answered sooner that way, and of the longest: their positions fit the
/// counts, and beyond, chunks are as fast.
#[inline(always)]
pub(super) const fn vectors<O: Order>() -> (usize, usize) {
    let most = match O::Simd::TUNING.has_masks {
        // The chunks that these would be wait longer for each other.
        _ if !O::Simd::HAS_MAX => 64,
        true => 25,
        false => 16,
    };
    let positions = (O::Simd::MAX_COUNT as usize).saturating_add(1) / O::Simd::LANES;
    let most = if positions < most { positions } else { most };
    if O::Simd::TUNING.specializes { (5, most) } else { (1, 0) }
}

/// Whether a run of so many vectors is. Those of 7 and 8 fill the registers of a [search there](super::segment::find),
/// which may then be as fast.
#[inline(always)]
pub(super) const fn takes<O: Order>(number: usize) -> bool {
    let (fewest, most) = vectors::<O>();
    let fills_registers = 7 <= number && number <= MOST_VECTORS;
    let has_registers = !O::Simd::TUNING.has_masks && O::Simd::HAS_MAX && size_of::<O::Lane>() >= 4;
    fewest <= number && number <= most && !(fills_registers && has_registers)
}

/// The position of the first best element, 0 if there is none, of a run of at least a vector, and not more than
/// [`takes`] allows.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find<O: Order>(order: O, run: Run<O::Lane>) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        match find_by(order, run) {
            Some(position) => position,
            None if O::NAN_WINS => find_first(order, run, IsNan).unwrap_or(0),
            // Nothing is better than the worst.
            None => find_first(order, run, Equals(order.worst())).unwrap_or(0),
        }
    }
}

/// The same, or `None` where the position is not known yet: a NaN that wins is there, or nothing is better than the
/// worst number.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn find_by<O: Order>(order: O, run: Run<O::Lane>) -> Option<u32> {
    let (simd, lanes) = (order.simd(), O::Simd::LANES);
    let parts = Parts::of(run, lanes);
    // SAFETY: the caller's promise, and each part is at least a vector long.
    let first = unsafe { parts.load(order, run, 0) };
    let mut trace = order.traced(order.no_trace(), &first);
    let mut position = simd.lane_numbers(run.reversed);
    let mut best = Bests { values: first, positions: [position; 2] };
    if O::NAN_LOSES {
        best.fold_worst(order);
    }
    let mut at = lanes;
    repeat!(const { O::Simd::TUNING.unrolls } && !run.reversed, at < parts.len, at + lanes < parts.len, at += lanes, {
        position = simd.add(position, simd.count(lanes as u32));
        // SAFETY: the caller's promise, and parts are whole vectors.
        let vectors = unsafe { parts.load(order, run, at) };
        if O::NAN_WINS {
            trace = order.traced(trace, &vectors);
        }
        best.offer(order, vectors, position);
    });
    let (best, position_of_best) = best.of_both(order, parts);
    let value = simd.across(best, O::IS_MAX);
    // Lanes of NaN alone never left their start; and where a number is no better, the position beside it is of the NaN.
    let is_worst = O::NAN_LOSES && simd.bits(simd.eq(value, order.worst())) != 0;
    if is_worst || O::NAN_WINS && order.is_final(value, trace) {
        return None;
    }
    let none = simd.count(O::Simd::MAX_COUNT);
    let winners = simd.select_count(simd.eq(best, value), position_of_best, none);
    Some(simd.smallest_count(winners).into() as u32)
}

/// Two parts of a run, both as long, and whole vectors: one from its start, and one to its end. What is seen twice is
/// never better than itself.
#[derive(Clone, Copy)]
struct Parts {
    second: usize,
    len: usize,
}

impl Parts {
    /// Of a run of at least a vector.
    #[inline(always)]
    fn of<L>(run: Run<L>, lanes: usize) -> Self {
        let len = run.len.div_ceil(2 * lanes) * lanes;
        Parts { second: run.len - len, len }
    }

    /// A vector of each, from the same number of elements on.
    ///
    /// # Safety
    /// - The elements of the run may be read; `at` is a vector before the end of the parts.
    #[inline(always)]
    unsafe fn load<O: Order>(self, order: O, run: Run<O::Lane>, at: usize) -> [Vec<O>; 2] {
        let (first, step) = (run.part(0, O::Simd::LANES).at, if run.reversed { -1 } else { 1 });
        let at = |start: usize| first.wrapping_offset((start + at) as isize * step);
        // SAFETY: the caller's promise.
        unsafe { [order.load(at(0)), order.load(at(self.second))] }
    }
}

/// The best of each lane of both parts, and their positions from its start.
struct Bests<O: Order> {
    values: [Vec<O>; 2],
    positions: [Count<O>; 2],
}

impl<O: Order> Bests<O> {
    #[inline(always)]
    fn fold_worst(&mut self, order: O) {
        self.values = [order.fold(self.values[0], order.worst()), order.fold(self.values[1], order.worst())];
    }

    /// A later vector of each.
    #[inline(always)]
    fn offer(&mut self, order: O, vectors: [Vec<O>; 2], position: Count<O>) {
        self.offer_one(order, 0, vectors[0], position);
        self.offer_one(order, 1, vectors[1], position);
    }

    #[inline(always)]
    fn offer_one(&mut self, order: O, part: usize, value: Vec<O>, position: Count<O>) {
        let better = order.above(value, self.values[part]);
        self.values[part] = order.fold(value, self.values[part]);
        self.positions[part] = order.simd().select_count(better, position, self.positions[part]);
    }

    /// The best of each lane of both parts, and its position in the run.
    #[inline(always)]
    fn of_both(mut self, order: O, parts: Parts) -> (Vec<O>, Count<O>) {
        let simd = order.simd();
        self.offer_one(order, 0, self.values[1], simd.add(self.positions[1], simd.count(parts.second as u32)));
        (self.values[0], self.positions[0])
    }
}

/// The position of the first element that passes the test.
///
/// By lane too, from the end of each eight vectors to their start, so that no branch depends on where it is: vector
/// after vector, rows of 21 f64 with 5 % of NaN ran at a quarter of the speed without.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn find_first<O: Order, T: Test<O>>(order: O, run: Run<O::Lane>, test: T) -> Option<u32> {
    let (simd, lanes) = (order.simd(), O::Simd::LANES);
    let none = simd.count(O::Simd::MAX_COUNT);
    let mut start = 0;
    while start < run.len {
        let mut vectors = (run.len - start).div_ceil(lanes).min(MOST_VECTORS);
        let next = start + vectors * lanes;
        let mut first = none;
        while vectors > 0 {
            vectors -= 1;
            let at = (start + vectors * lanes).min(run.len - lanes);
            // SAFETY: the caller's promise.
            let vector = unsafe { order.load(run.part(at, lanes).at) };
            let position = simd.add(simd.lane_numbers(run.reversed), simd.count(at as u32));
            first = simd.select_count(test.holds(order, vector), position, first);
        }
        let position: u64 = simd.smallest_count(first).into();
        if position < u64::from(O::Simd::MAX_COUNT) {
            return Some(position as u32);
        }
        start = next;
    }
    None
}
