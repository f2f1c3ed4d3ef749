//! Runs of some 5 to 16 vectors, where [a blend takes no longer than a maximum](Token::HAS_MASKS). Each lane keeps the position of its best: a comparison and a
//! blend for each vector, where [chunks](super::chunks) take them for each four. But then nothing is looked at twice: the smallest position of the lanes that
//! hold the best is the answer, and a mask is made of one vector, not of all. (Zen 5, AVX-512, GB/s in L2 before and after: rows of 80 f32 62 and 75, of 150 62
//! and 87, of 255 85 and 99, of 40 i64 74 and 105, of 100 85 and 117, of 160 i16 72 and 105. Of more vectors, chunks are as fast. By AVX2, whose blends are two
//! thirds as fast as its maxima, 0.7 to 1.04.) Decides nothing about tiles.

use super::run::{Equals, IsNan, Run, Test, first_of};
use crate::lanes::{Lanes, Token};
use crate::order::Order;

/// Whether runs of so many vectors are answered sooner that way, and their positions fit the counts. Of 7 and 8 vectors, a [search in registers](super::run::find),
/// which is for 8, is as fast; and keys of 16-bit floats cost more than two looks at their bits.
#[inline(always)]
pub(super) const fn takes<O: Order>(vectors: usize) -> bool {
    let is_sooner = matches!(vectors, 5..=6 | 9..=16) && !O::HAS_BITS;
    O::Simd::HAS_MASKS && is_sooner && vectors * O::Simd::LANES <= O::Simd::MAX_COUNT as usize
}

/// The position of the first best element, 0 if there is none, of a run of at least a vector, and not more than [`takes`] allows.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find<O: Order>(order: O, run: Run<O::Lane>) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { find_traced::<O, true>(order, run) }
}

/// The same; if not `TRACED`, of a run without NaN.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn find_traced<O: Order, const TRACED: bool>(order: O, run: Run<O::Lane>) -> u32 {
    let (simd, lanes) = (order.simd(), O::Simd::LANES);
    let (last, first) = (run.len - lanes, run.part(0, lanes).at);
    let step = if run.reversed { -(lanes as isize) } else { lanes as isize };
    // SAFETY: the caller's promise: each is a vector before the end of the run.
    let vector = unsafe { order.load(first) };
    let mut trace = vector;
    let mut best = if O::NAN_LOSES { order.fold(vector, order.worst()) } else { vector };
    let mut position = simd.lane_numbers(run.reversed);
    let mut position_of_best = position;
    let (mut start, mut at) = (lanes, first);
    while start < last {
        at = at.wrapping_offset(step);
        position = simd.add(position, simd.count(lanes as u32));
        // SAFETY: as above.
        let vector = unsafe { order.load(at) };
        if O::NAN_WINS && TRACED {
            trace = simd.keep_nan(trace, vector);
        }
        let better = order.above(vector, best);
        best = order.fold(vector, best);
        position_of_best = simd.select_count(better, position, position_of_best);
        start += lanes;
    }
    // Reaches back: what is seen twice is never better than itself.
    // SAFETY: as above.
    let vector = unsafe { order.load(run.part(last, lanes).at) };
    position = simd.add(simd.lane_numbers(run.reversed), simd.count(last as u32));
    let better = order.above(vector, best);
    best = order.fold(vector, best);
    position_of_best = simd.select_count(better, position, position_of_best);
    let value = order.across(best);
    let is_suspect = O::NAN_WINS && TRACED && simd.perhaps_has_nan(&[simd.keep_nan(trace, vector)]);
    // Lanes of NaN alone never left their start; and where a number is no better, the position beside it is of the NaN.
    let is_worst = O::NAN_LOSES && simd.bits(simd.eq(value, order.worst())) != 0;
    if is_suspect || is_worst {
        // SAFETY: the caller's promise.
        return unsafe { find_again(order, run) };
    }
    let none = simd.count(O::Simd::MAX_COUNT);
    let winners = simd.select_count(simd.eq(best, value), position_of_best, none);
    simd.smallest_count(winners).into() as u32
}

/// [`find`] where there seems to be a NaN that wins, or nothing better than the worst. (Not a call: a function with one more of them takes 1 ns more, whichever
/// way it goes.)
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn find_again<O: Order>(order: O, run: Run<O::Lane>) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        if O::NAN_LOSES {
            return find_first(order, run, Equals(order.worst())).unwrap_or(0);
        }
        match find_first(order, run, IsNan) {
            Some(position) => position,
            None => find_traced::<O, false>(order, run),
        }
    }
}

/// The position of the first element that passes the test.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn find_first<O: Order, T: Test<O>>(order: O, run: Run<O::Lane>, test: T) -> Option<u32> {
    let mut start = 0;
    while start < run.len {
        let at = start.min(run.len - O::Simd::LANES);
        // SAFETY: the caller's promise.
        let vector = unsafe { order.load(run.part(at, O::Simd::LANES).at) };
        let (first, is_found) = first_of(order, &[vector], test, run.reversed);
        if is_found {
            return Some((at + first) as u32);
        }
        start += O::Simd::LANES;
    }
    None
}
