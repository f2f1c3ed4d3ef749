//! Runs of 5 to 50 vectors. Each lane keeps the position of its best: a comparison and a blend for each vector, where [chunks](super::chunks) take them for
//! each four. But then nothing is looked at twice: the smallest position of the lanes that hold the best is the answer, and bits are made of one mask, not of all.
//!
//! What such a run waits for is the step before, and so it is read in two places at once, from its start and from its middle: half as many steps, and as both
//! share the number of the step, fewer operations too. (Zen 5, GB/s in L2 before and after, by AVX2: rows of 100 f16 36 and 48, of 300 63 and 78, of 80 i16 41 and 69,
//! of 80 f32 46 and 66, of 80 i32 65 and 87, of 21 i64 37 and 57, of 64 67 and 78, of 160 u8 38 and 55. By AVX-512: rows of 300 f16 53 and 87, of 800 87 and 112, of
//! 255 i16 87 and 125, of 128 i32 103 and 122, of 64 i64 106 and 126.) Decides nothing about tiles.

use super::luck::Ways;
use super::run::{Apart, Equals, IsNan, MOST_VECTORS, Run, Test, apart, has_bits, rarely};
use crate::lanes::{Lanes, Token};
use crate::order::{Order, Vec};

/// Whether a maximum is a comparison and a blend, or is taken of bits that may not do.
const fn has_dear_maxima<O: Order>() -> bool {
    O::HAS_BITS || size_of::<O::Lane>() == 8 && !O::HAS_NAN
}

/// The vectors of the shortest run that is answered sooner that way, and of the longest. (The positions of the longest fit the counts.) Beyond, chunks are as fast,
/// by 0 to 10 %: the maxima of floats and the sums by which NaN is found share two units.
#[inline(always)]
pub(super) const fn vectors<O: Order>() -> (usize, usize) {
    let most = match (O::Simd::HAS_MASKS, O::HAS_NAN) {
        // Of more, bits would be faster (1000 f16 by AVX-512 98 and 118 GB/s), but not with a NaN at the end (100 and 41): chunks know about where it is.
        _ if O::HAS_BITS => 25,
        (true, false) => 50,
        (true, true) => 25,
        (false, _) if has_dear_maxima::<O>() => 25,
        (false, _) => 16,
    };
    let positions = O::Simd::MAX_COUNT as usize / O::Simd::LANES;
    let most = if positions < most { positions } else { most };
    if O::Simd::SPECIALIZES { (5, most) } else { (1, 0) }
}

/// The same of single runs, whose answers somebody waits for. (Zen 5, AVX2, ns for a call by a search in registers and this way: 64 i16 4.7 and 4.0, 64 i32 6.3 and
/// 5.5, 256 i32 14.4 and 12.5, 8 i64 3.9 and 3.5, 64 f32 6.7 and 6.2; but 16 f32 3.4 and 3.9, 64 u8 3.2 and 3.5, 256 i64 25.7 and 28.0. AVX-512, 64 f32 5.1 and 6.2.)
#[inline(always)]
pub(super) const fn vectors_alone<O: Order>() -> (usize, usize) {
    let (fewest, most) = vectors::<O>();
    let is_integer = !O::HAS_NAN && !O::HAS_BITS && size_of::<O::Lane>() > 1;
    // As few as 32 vectors of 16 bits and more fit any count.
    if is_integer && !O::Simd::HAS_MASKS { (2, 32) } else { (fewest, most) }
}

/// Whether a run of so many vectors is. Of 7 and 8, a [search in registers](super::run::find), which is for 8, may be as fast: 0.91 to 0.99 for i32, f32 and f64 by
/// AVX2, and 1.03 to 1.45 for others.
#[inline(always)]
pub(super) const fn takes<O: Order>(number: usize) -> bool {
    let (fewest, most) = vectors::<O>();
    let fills_registers = 7 <= number && number <= MOST_VECTORS;
    let has_registers = !O::Simd::HAS_MASKS && !has_dear_maxima::<O>() && size_of::<O::Lane>() >= 4;
    fewest <= number && number <= most && !(fills_registers && has_registers)
}

/// The position of the first best element, 0 if there is none, of a run of at least a vector, and not more than [`takes`] allows. `ways` is what came of other runs.
///
/// # Safety
/// - The elements of the run may be read.
#[inline(always)]
pub(super) unsafe fn find<O: Order>(order: O, run: Run<O::Lane>, ways: &mut Ways) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        if has_bits::<O>() {
            let bits = order.bits();
            match find_by::<_, false>(bits, run) {
                Ok(position) => return position,
                Err(value) if bits.knows(value) => {
                    let value = order.of_other(bits, value);
                    return find_first(order, run, Equals(value)).unwrap_or(0);
                }
                Err(_) => rarely(),
            }
            // (Rows of 100, 255 and 400 f16 below zero by keys, 24, 36 and 37 GB/s, and with a try before, 24, 45 and 50; Zen 4, AVX2.)
            if run.len > (MOST_VECTORS - 1) * O::Simd::LANES
                && let Some(position) = apart(order.bits_below_zero(), run, UnlessInDoubt)
            {
                return position;
            }
        }
        if caps_always::<O>() {
            return find_by::<_, true>(order, run).unwrap_or(0);
        }
        if O::NAN_WINS && !ways.numbers.tries() {
            return find_by::<_, true>(order, run).unwrap_or(0);
        }
        let found = find_by::<_, false>(order, run);
        if O::NAN_WINS {
            ways.numbers.learn(found.is_ok());
        }
        match found {
            Ok(position) => position,
            Err(_) if O::NAN_WINS => apart(order, run, Capped),
            // Nothing is better than the worst. (Not a call: a function with one more of them takes 1 ns more, whichever way it goes.)
            Err(_) => find_first(order, run, Equals(order.worst())).unwrap_or(0),
        }
    }
}

/// The same by an order that has doubts, if it has none in the end: as a call.
#[derive(Clone, Copy)]
struct UnlessInDoubt;
impl<O: Order> Apart<O> for UnlessInDoubt {
    type Output = Option<u32>;

    #[inline(always)]
    unsafe fn search(order: O, run: Run<O::Lane>) -> Option<u32> {
        // SAFETY: the caller's promise.
        unsafe { find_by::<_, false>(order, run).ok() }
    }
}

/// The same where there may be NaN: as a call.
#[derive(Clone, Copy)]
struct Capped;
impl<O: Order> Apart<O> for Capped {
    type Output = u32;

    #[inline(always)]
    unsafe fn search(order: O, run: Run<O::Lane>) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { find_by::<_, true>(order, run) }.unwrap_or(0)
    }
}

/// Whether a NaN that wins is an [infinity](Order::cap) from the start: where an operation on each vector costs no more than to look for NaN. Elsewhere it is after one was met.
/// (GB/s in L2 with NaN looked for, and so, of random f64 and with 5 % of NaN: AVX-512, rows of 64 57 and 64, 42 and 59, of 100 59 and 65, 47 and 59; AVX2, always,
/// rows of 21 45 and 38, of 64 58 and 50, and after one was met 45 and 44, 18 and 37, 58 and 58. As a call, with NaN, 0.75 to 1.0. The same for
/// rows of up to 8 vectors that are searched in registers: 0.6 to 1.0. Zen 4.)
const fn caps_always<O: Order>() -> bool {
    O::NAN_WINS && O::Simd::HAS_MASKS
}

/// The same, or the best value where its position is not known yet: where the order has [doubts](Order::DOUBTS), a NaN that wins is there, or nothing is better
/// than the worst. If `CAPPED`, a NaN that wins is an [infinity](Order::cap) meanwhile, and no branch depends on it: only where the first of those is none are they told apart.
///
/// # Safety
/// - As for [`find`].
#[inline(always)]
unsafe fn find_by<O: Order, const CAPPED: bool>(order: O, run: Run<O::Lane>) -> Result<u32, Vec<O>> {
    let (simd, lanes) = (order.simd(), O::Simd::LANES);
    let is_traced = !CAPPED && (O::NAN_WINS || O::DOUBTS);
    // What starts `later` reaches back to the first half: what is seen twice is never better than itself.
    let half = run.len.div_ceil(2 * lanes) * lanes;
    let later = run.len - half;
    let (first, step) = (run.part(0, lanes).at, if run.reversed { -1 } else { 1 });
    let load = |n: usize| {
        // SAFETY: the caller's promise: both are vectors before the end of the run.
        let vector = unsafe { order.load(first.wrapping_offset(n as isize * step)) };
        if CAPPED { order.cap(vector) } else { vector }
    };
    let (a, b) = (load(0), load(later));
    if O::DOUBTS && !order.is_promising(order.fold(b, a)) {
        return Err(order.worst());
    }
    let mut trace = order.trace_of(&[a, b]);
    let mut best = if O::NAN_LOSES { [order.fold(a, order.worst()), order.fold(b, order.worst())] } else { [a, b] };
    let mut position = simd.lane_numbers(run.reversed);
    let mut positions = [position; 2];
    let mut start = lanes;
    while start < half {
        position = simd.add(position, simd.count(lanes as u32));
        let (a, b) = (load(start), load(later + start));
        if is_traced {
            trace = order.traced(trace, order.trace_of(&[a, b]));
        }
        let better = order.above(a, best[0]);
        best[0] = order.fold(a, best[0]);
        positions[0] = simd.select_count(better, position, positions[0]);
        let better = order.above(b, best[1]);
        best[1] = order.fold(b, best[1]);
        positions[1] = simd.select_count(better, position, positions[1]);
        start += lanes;
    }
    let better = order.above(best[1], best[0]);
    let best = order.fold(best[1], best[0]);
    let later = simd.add(positions[1], simd.count(later as u32));
    let position_of_best = simd.select_count(better, later, positions[0]);
    let value = order.across(best);
    // Lanes of NaN alone never left their start; and where a number is no better, the position beside it is of the NaN.
    let is_worst = O::NAN_LOSES && simd.bits(simd.eq(value, order.worst())) != 0;
    if is_worst || is_traced && order.suspects(trace) || O::DOUBTS && order.is_in_doubt(value) {
        return Err(order.best_of(best, trace));
    }
    let none = simd.count(O::Simd::MAX_COUNT);
    let winners = simd.select_count(simd.eq(best, value), position_of_best, none);
    let position = simd.smallest_count(winners).into() as usize;
    // (Not whether the best is an infinity: half of the rows may have a NaN, and nothing foretells which.)
    // SAFETY: the caller's promise: an element of the run.
    if CAPPED && order.is_infinite(unsafe { *run.part(position, 1).at }) {
        rarely();
        // SAFETY: the caller's promise.
        return Ok(unsafe { find_first(order, run, IsNan) }.unwrap_or(position as u32));
    }
    Ok(position as u32)
}

/// The position of the first element that passes the test.
///
/// By lane too, from the end of each eight vectors to their start, so that no branch depends on where it is: vector after vector, rows of 21 f64 with 5 % of NaN ran at
/// a quarter of the speed without. (Zen 5, AVX2.)
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
