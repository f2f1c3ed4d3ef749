//! Scans: the best so far. For each element of a line, the better of itself and all that were visited before it, as an
//! index, and if asked for, as a value. Knows nothing of tensors; what is not in place is gathered by the caller.
//!
//! A *line* is a scan of its own. Lines are answered in one of two ways:
//!
//! ```text
//! along: neighbours are elements of one line               across: neighbours are elements of several lines
//!
//! for some vectors at a time, in the order of visiting:    for each step, for each vector of lines:
//!     if none of their lanes beats the carry:                  new   = the element here beats the best of the line
//!         its index goes to all of them                        best  = select(new, element, best)
//!     else for each vector:                                    index = select(new, step, index)
//!         lanes = scan within the vector
//!         lanes = those of the carry, where it is better
//!         carry = the better of the carry and the last lane
//! ```
//!
//! Data that rarely gets better, as most does after a while, so costs a comparison for each vector, and the writing.
//! A scan within a vector takes a step for each power of two below the number of lanes: in each, a lane takes what the
//! lane so far before it has, where that is better. As any two partial answers merge, the result is that of a loop.
//!
//! Both compare exactly, NaN included, and values are the elements themselves, bit for bit: vectors hold which lane an
//! element is in, not what became of it.
//!
//! [`Scanner::merge`] is the same comparison of two arrays of answers.

use crate::float_mode;
use crate::memory::args::LoopDim;
use crate::order::elements::OrderFactory;
use crate::order::{ArgOrder, IndexVec, LaneElem, Mask, Vec};
use crate::positions::Position;
use crate::simd::ops::{ByteMaskOps, SimdOps, UNORDERED, iota};
use crate::simd::token::Simd;
use bytemuck::Pod;
use core::ops::Range;
use core::ptr::{null, null_mut};

/// Scans by the vectors of an ISA: [`scanner_of`](crate::scanner_of) makes one, for elements of a type, and an order.
#[derive(Clone, Copy, Debug)]
pub struct Scanner {
    pub(crate) scan: unsafe fn(args: &ScanArgs),
    pub(crate) merge: unsafe fn(args: &MergeArgs),
    /// Elements in a vector.
    pub(crate) lanes: usize,
}

/// Some lines, and where their answers go.
///
/// Step `s` of line `l` visits the element at `input + l * lines.stride + s * steps.stride`. Its index is
/// `first_index + l * line_index_step + s`, or if indices fall, `- s`.
#[derive(Clone, Copy, Debug)]
pub struct ScanArgs {
    /// What the first line visits first, of the type that the scanner was made for, cast.
    pub input: *const (),
    /// From line to line, in elements.
    pub lines: LoopDim,
    /// From one element of a line to the next that is visited.
    pub steps: LoopDim,
    /// Bytes of an index: 4 or 8.
    pub index_bytes: usize,
    /// Where the index of what is visited first goes.
    pub indices: *mut (),
    /// From one line to the next, in indices. Along a line (or across, from one line to the next) they are neighbours,
    /// as elements are.
    pub index_stride: isize,
    /// The same for values, in elements; null where none are wanted.
    pub values: *mut (),
    /// As [`ScanArgs::index_stride`].
    pub value_stride: isize,
    /// The index of what the first line visits first.
    pub first_index: u64,
    /// From the first index of a line to that of the next line.
    pub line_index_step: u64,
    /// Whether each step's index is one less than that of the step before.
    pub indices_fall: bool,
    /// Of equals, whether the one visited last wins, not the first.
    pub newest_wins: bool,
    /// The best of each line before its first step, one beside the other, as elements and as indices; and after the
    /// call, that after its last step.
    pub best: [*mut (); 2],
    /// Whether lines begin here: then nothing is read of [`ScanArgs::best`].
    pub begins: bool,
}

/// Two arrays of answers: of what was visited earlier, and later.
#[derive(Clone, Copy, Debug)]
pub struct MergeArgs {
    /// How many of each.
    pub len: usize,
    /// Bytes of an index: 4 or 8.
    pub index_bytes: usize,
    /// Of what was visited earlier: elements and indices.
    pub earlier: [*const (); 2],
    /// Of what was visited later.
    pub later: [*const (); 2],
    /// Where the better ones go: elements, or null, and indices. They may be one of those above.
    pub better: [*mut (); 2],
    /// Of equals, whether the later one wins.
    pub newest_wins: bool,
}

impl Scanner {
    /// Whether it scans such lines; others have to be gathered. Either elements of a line are neighbours, or lines are,
    /// and at least as many as a vector has lanes.
    pub fn takes(&self, lines: LoopDim, steps: LoopDim) -> bool {
        steps.stride.abs() == 1 || self.takes_across(lines)
    }

    /// Elements in a vector: lines that are scanned across are at least as many.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Whether lines are neighbours, enough of them.
    pub fn takes_across(&self, lines: LoopDim) -> bool {
        lines.stride == 1 && lines.size >= self.lanes
    }

    /// Scans the lines: [along](Scanner::takes) where elements of a line are neighbours, and else across. The page of
    /// [`scanner_of`](crate::scanner_of) has an example.
    ///
    /// # Panics
    /// If it does not [take](Scanner::takes) them, or indices have other than 4 or 8 bytes.
    ///
    /// # Safety
    /// - All elements that are visited may be read, and are of the type that the scanner was made for (or of one as
    ///   large that has the same alignment); nothing is written there meanwhile.
    /// - There is a place for each index, and if they are wanted for each value: where its element is, by the strides
    ///   of answers, along lines in the direction of their elements. Nobody else uses them.
    /// - Of `best`, there is an element and an index for each line; if lines do not begin here, they are initialised.
    #[inline]
    pub unsafe fn scan(&self, args: &ScanArgs) {
        assert!(self.takes(args.lines, args.steps), "{:?} of {:?} have to be gathered", args.steps, args.lines);
        assert!(matches!(args.index_bytes, 4 | 8), "indices of {} bytes", args.index_bytes);
        if args.lines.size > 0 && args.steps.size > 0 {
            // SAFETY: the caller's promise; `scanner_of` gives functions of an ISA that is there.
            unsafe { (self.scan)(args) }
        }
    }

    /// Writes the better of each two answers: where they tie, that of what was visited earlier, or if `newest_wins`,
    /// later.
    ///
    /// # Panics
    /// If indices have other than 4 or 8 bytes.
    ///
    /// # Safety
    /// - All arrays are `len` long, and initialised but for the better ones. Nobody else uses what is written, which
    ///   overlaps none of the others unless it is one of them, or begins before it: the first ones are merged first.
    #[inline]
    pub unsafe fn merge(&self, args: &MergeArgs) {
        assert!(matches!(args.index_bytes, 4 | 8), "indices of {} bytes", args.index_bytes);
        // SAFETY: the caller's promise, and as in `scan`.
        unsafe { (self.merge)(args) }
    }
}

/// Vectors whose lanes are compared with the carry before there is a branch. See docs/tuning.md#scans.
const BLOCK: usize = 4;

/// An index, 32 or 64 bits of it.
trait ScanIndex: Position {
    /// A lane of as many bits.
    type Lane: Copy;

    fn lane(self) -> Self::Lane;
    /// `self + offset`, or `self - offset` if all bits of `falls` are set.
    fn offset(self, offset: u64, falls: Self) -> Self;
}

macro_rules! indices {
    ($($t:ident as $lane:ident)+) => {$(
        impl ScanIndex for $t {
            type Lane = $lane;

            #[inline(always)]
            fn lane(self) -> $lane {
                self as $lane
            }

            #[inline(always)]
            fn offset(self, offset: u64, falls: $t) -> $t {
                self.wrapping_add((offset as $t ^ falls).wrapping_sub(falls))
            }
        }
    )+};
}

indices!(u32 as u32 u64 as i64);

/// An order whose masks become those of indices.
pub(crate) trait ScanOrder:
    ArgOrder<Simd: ByteMaskOps<Self::Lane> + ByteMaskOps<u32> + ByteMaskOps<i64>>
{
}

impl<O: ArgOrder<Simd: ByteMaskOps<O::Lane> + ByteMaskOps<u32> + ByteMaskOps<i64>>> ScanOrder for O {}

/// What every [`Scanner`] points to. Floats are not compared in whatever [mode](crate::float_mode) the caller is in.
///
/// # Safety
/// - The machine has the ISA of the order; and as for [`Scanner::scan`].
#[inline(never)]
pub(crate) unsafe fn enter_scan<F>(args: &ScanArgs)
where
    F: OrderFactory<Given = (), Order: ScanOrder>,
{
    if const { <F::Order as ArgOrder>::Lane::HAS_NAN } && !float_mode::is_default() {
        // SAFETY: the caller's promise: it is the same call.
        return float_mode::in_default(&mut || unsafe { enter_scan::<F>(args) });
    }
    // SAFETY: the caller's promise.
    unsafe { scan(F::make(()), args) }
}

/// # Safety
/// - As for [`enter_scan`], and [`Scanner::merge`].
#[inline(never)]
pub(crate) unsafe fn enter_merge<F>(args: &MergeArgs)
where
    F: OrderFactory<Given = (), Order: ScanOrder>,
{
    if const { <F::Order as ArgOrder>::Lane::HAS_NAN } && !float_mode::is_default() {
        // SAFETY: the caller's promise: it is the same call.
        return float_mode::in_default(&mut || unsafe { enter_merge::<F>(args) });
    }
    // SAFETY: the caller's promise.
    unsafe { merge(F::make(()), args) }
}

/// A function of its own, because several types share an order.
///
/// # Safety
/// - As for [`enter_scan`].
unsafe fn scan<O: ScanOrder>(order: O, args: &ScanArgs) {
    // SAFETY: the caller's promise.
    unsafe {
        order.simd().vectorize(
            #[inline(always)]
            move || match (args.steps.stride.abs() == 1, args.index_bytes, args.newest_wins) {
                (true, ..) => along(order, args),
                (false, 4, false) => across::<O, u32, false>(order, args),
                (false, 4, true) => across::<O, u32, true>(order, args),
                (false, _, false) => across::<O, u64, false>(order, args),
                (false, _, true) => across::<O, u64, true>(order, args),
            },
        )
    }
}

/// # Safety
/// - As for [`enter_merge`].
unsafe fn merge<O: ScanOrder>(order: O, args: &MergeArgs) {
    // SAFETY: the caller's promise.
    unsafe {
        order.simd().vectorize(
            #[inline(always)]
            move || match (args.index_bytes, args.newest_wins) {
                (4, false) => merge_by::<O, u32, false>(order, args),
                (4, true) => merge_by::<O, u32, true>(order, args),
                (_, false) => merge_by::<O, u64, false>(order, args),
                (_, true) => merge_by::<O, u64, true>(order, args),
            },
        )
    }
}

/// Where something new wins over what was visited before; if not `EXACT`, none of which is NaN.
#[inline(always)]
fn wins<O: ArgOrder, const NEWEST: bool, const EXACT: bool>(order: O, new: Vec<O>, old: Vec<O>) -> Mask<O> {
    let (better, worse) = if NEWEST { (old, new) } else { (new, old) };
    let is_better = if EXACT { order.gt_total_order(better, worse) } else { order.gt(better, worse) };
    if NEWEST { order.simd().and_not(order.simd().first_n_mask(O::Simd::LANES), is_better) } else { is_better }
}

/// Whether a lane is NaN.
#[inline(always)]
fn has_nan<O: ArgOrder>(order: O, lanes: Vec<O>) -> bool {
    let simd = order.simd();
    O::Lane::HAS_NAN && simd.movemask(simd.compare::<UNORDERED>(lanes, lanes)) != 0
}

/// The first lanes, as bits.
#[inline(always)]
fn first_lanes<O: ArgOrder>(order: O, n: usize) -> u64 {
    order.simd().movemask(order.simd().first_n_mask(n))
}

/// The first elements of a vector, all of them or fewer.
///
/// # Safety
/// - As many may be read.
#[inline(always)]
unsafe fn load_some<O: ArgOrder>(order: O, from: *const O::Lane, count: usize) -> Vec<O> {
    // SAFETY: the caller's promise.
    unsafe { if count == O::Simd::LANES { order.load(from) } else { order.load_first_n(from, count) } }
}

/// The best of each lane and those visited before it, and which lane that is in. None of them is NaN.
#[inline(always)]
fn scan_lanes<O: ArgOrder, const FORWARD: bool, const NEWEST: bool>(order: O, lanes: Vec<O>) -> (Vec<O>, IndexVec<O>) {
    let (simd, all) = (order.simd(), const { O::Simd::LANES });
    let (mut best, mut lane_of) = (lanes, iota::<O::Lane, IndexVec<O>>(false));
    let mut distance = 1;
    while distance < all {
        let turned = if FORWARD { all - distance } else { distance };
        let (old, lane_of_old) = (simd.rotate(best, turned), simd.rotate(lane_of, turned));
        // Those that nothing so far away was visited before stay.
        let first = if FORWARD {
            simd.first_n_mask(distance)
        } else {
            simd.and_not(simd.first_n_mask(all), simd.first_n_mask(all - distance))
        };
        let stays = simd.or(wins::<O, NEWEST, false>(order, best, old), first);
        (best, lane_of) = (simd.select(stays, best, old), simd.select(stays, lane_of, lane_of_old));
        distance *= 2;
    }
    (best, lane_of)
}

/// After so many winners in a vector, each over the one before, all lanes are scanned at once. See
/// docs/tuning.md#scans.
const MAX_WINNERS: u32 = 4;

/// In place of the number of a lane: the carry. No vector has so many lanes.
const CARRY: u32 = 0xff;

/// The best of a line so far.
#[derive(Clone, Copy)]
struct Carry<O: ArgOrder> {
    /// In every lane.
    lanes: Vec<O>,
    /// Where the element is.
    at: *const O::Lane,
    index: u64,
    /// Whether many lanes have won, one over the other, in the vector before.
    had_many: bool,
}

/// A line that is scanned along memory, or against it.
#[derive(Clone, Copy)]
struct Line<O: ArgOrder> {
    order: O,
    /// The lowest element, and the places of its answers.
    input: *const O::Lane,
    indices: *mut (),
    values: *mut O::Lane,
    /// The index of the lowest element; whether those that follow in memory fall, by all bits or none.
    lowest_index: u64,
    falls: u64,
    is_wide: bool,
    is_forward: bool,
    newest_wins: bool,
}

/// Lanes of a vector whose answers are written.
#[derive(Clone, Copy)]
struct Lanes {
    /// Where in the line lane 0 is; before it, if only lanes after that are there.
    at: isize,
    start: usize,
    end: usize,
}

/// Scans along lines.
///
/// # Safety
/// - As for [`enter_scan`].
#[inline(always)]
unsafe fn along<O: ArgOrder>(order: O, args: &ScanArgs) {
    let (len, is_forward) = (args.steps.size, args.steps.stride > 0);
    let falls = args.indices_fall == is_forward;
    let from_lowest = if is_forward { 0 } else { len - 1 };
    for l in 0..args.lines.size {
        let first_index = args.first_index.wrapping_add(args.line_index_step.wrapping_mul(l as u64));
        let lowest = |first: *mut (), stride: isize, size: usize| {
            first.wrapping_byte_offset((l as isize * stride - from_lowest as isize).wrapping_mul(size as isize))
        };
        let line = Line {
            order,
            input: lowest(args.input.cast_mut(), args.lines.stride, size_of::<O::Lane>()).cast_const().cast(),
            indices: lowest(args.indices, args.index_stride, args.index_bytes),
            values: match args.values.is_null() {
                true => args.values.cast(),
                false => lowest(args.values, args.value_stride, size_of::<O::Lane>()).cast(),
            },
            lowest_index: first_index.offset((from_lowest as u64).wrapping_neg(), if falls { u64::MAX } else { 0 }),
            falls: if falls { u64::MAX } else { 0 },
            is_wide: args.index_bytes == 8,
            is_forward,
            newest_wins: args.newest_wins,
        };
        let best = args.best[0].cast::<O::Lane>().wrapping_add(l);
        // SAFETY: the caller promises all that is visited, and the best of each line.
        unsafe {
            let (at, index) = match args.begins {
                true => (line.input.wrapping_add(from_lowest), first_index),
                false => (best.cast_const(), read_index(args.best[1], l as isize, args.index_bytes)),
            };
            let carry = line
                .scan(Carry { lanes: order.encode(order.simd().splat(at.read())), at, index, had_many: false }, len);
            best.write(carry.at.read());
            write_index(args.best[1], l as isize, args.index_bytes, carry.index);
        }
    }
}

/// # Safety
/// - The index was written.
#[inline(always)]
pub(crate) unsafe fn read_index(from: *const (), place: isize, bytes: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            4 => from.cast::<u32>().wrapping_offset(place).read().into(),
            _ => from.cast::<u64>().wrapping_offset(place).read(),
        }
    }
}

/// # Safety
/// - There is a place for it.
#[inline(always)]
pub(crate) unsafe fn write_index(to: *mut (), place: isize, bytes: usize, index: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            4 => to.cast::<u32>().wrapping_offset(place).write(index as u32),
            _ => to.cast::<u64>().wrapping_offset(place).write(index),
        }
    }
}

impl<O: ArgOrder> Line<O> {
    /// Goes on with `len` elements, which are all, and gives the best of them and the carry.
    ///
    /// # Safety
    /// - They may be read, and their answers written.
    #[inline(always)]
    unsafe fn scan(self, mut carry: Carry<O>, len: usize) -> Carry<O> {
        let (order, all) = (self.order, const { O::Simd::LANES });
        let mut left = len;
        while left > 0 {
            // The first of `n` elements that come next.
            let next = |left: usize, n: usize| if self.is_forward { len - left } else { left - n };
            let vectors = (left / all).min(BLOCK);
            // SAFETY: there are as many left.
            unsafe {
                if vectors == BLOCK && !self.may_win(carry.lanes, next(left, BLOCK * all)) {
                    self.fill(next(left, BLOCK * all), &carry);
                    left -= BLOCK * all;
                    continue;
                }
                // What is less than a vector is visited as the first lanes, or the last ones.
                let mut n = 0;
                while n < vectors.max(1) {
                    let count = left.min(all);
                    let at = next(left, count);
                    let start = if self.is_forward { 0 } else { all - count };
                    let lanes = load_some(order, self.input.add(at), count);
                    let is_first = count == all || self.is_forward;
                    let lanes = if is_first { lanes } else { order.simd().rotate(lanes, count) };
                    let visited = Lanes { at: at as isize - start as isize, start, end: start + count };
                    carry = self.visit(carry, lanes, visited);
                    left -= count;
                    n += 1;
                }
            }
        }
        carry
    }

    /// Whether an element of some vectors wins over the carry.
    ///
    /// # Safety
    /// - They may be read.
    #[inline(always)]
    unsafe fn may_win(self, carry: Vec<O>, at: usize) -> bool {
        let (order, simd) = (self.order, self.order.simd());
        // SAFETY: the caller's promise.
        let vectors: [Vec<O>; BLOCK] = unsafe { order.load_several(self.input.add(at)) };
        if self.newest_wins {
            let (mut loses, mut n) = (u64::MAX, 0);
            while n < BLOCK {
                loses &= simd.movemask(order.gt_total_order(carry, vectors[n]));
                n += 1;
            }
            return loses != simd.movemask(simd.first_n_mask(O::Simd::LANES));
        }
        let (mut better, mut n) = (order.gt_total_order(vectors[0], carry), 1);
        while n < BLOCK {
            better = simd.or(better, order.gt_total_order(vectors[n], carry));
            n += 1;
        }
        simd.movemask(better) != 0
    }

    /// Writes the carry as the answers of some vectors.
    ///
    /// # Safety
    /// - The answers may be written, and the carry may be read.
    #[inline(always)]
    unsafe fn fill(self, at: usize, carry: &Carry<O>) {
        let len = const { BLOCK * O::Simd::LANES };
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_wide {
                fill(self.indices.cast::<u64>().add(at), carry.index, len);
            } else {
                fill(self.indices.cast::<u32>().add(at), carry.index as u32, len);
            }
            if !self.values.is_null() {
                fill(self.values.add(at), carry.at.read(), len);
            }
        }
    }

    /// Visits a vector: winner after winner, or if they are many, all lanes at once.
    ///
    /// # Safety
    /// - The lanes that are visited are elements, which may be read, and their answers written; so may the carry.
    #[inline(always)]
    unsafe fn visit(self, carry: Carry<O>, lanes: Vec<O>, visited: Lanes) -> Carry<O> {
        let (order, simd, per_lane) = (self.order, self.order.simd(), O::Simd::BITS_PER_LANE);
        let there = first_lanes(order, visited.end) & !first_lanes(order, visited.start);
        let (mut left, mut best) = (self.winners(lanes, carry.lanes) & there, carry);
        let (mut shown, mut count) = (simd.splat_index(CARRY), 0);
        while left != 0 {
            // After many, more are likely.
            let are_many = count == MAX_WINNERS || carry.had_many && left.count_ones() > MAX_WINNERS * per_lane;
            // Not by arrays, nor of NaN, which is rare: it is much code.
            if const { O::Simd::TUNING.has_instructions } && are_many && !has_nan(order, lanes) {
                // SAFETY: the caller's promise.
                return unsafe { self.visit_all(carry, lanes, visited) };
            }
            let bit = if self.is_forward { left.trailing_zeros() } else { left.ilog2() };
            let winner = bit / per_lane;
            let before = simd.first_n_mask(if self.is_forward { winner } else { winner + 1 } as usize);
            let number = simd.splat_index(winner);
            // From there on, it is the best.
            shown =
                if self.is_forward { simd.select(before, shown, number) } else { simd.select(before, number, shown) };
            let place = visited.at + winner as isize;
            let (at, index) = (self.input.wrapping_offset(place), self.lowest_index.offset(place as u64, self.falls));
            // SAFETY: a lane that is visited is an element.
            best = Carry { lanes: order.encode(simd.splat(unsafe { at.read() })), at, index, had_many: false };
            let next = match self.is_forward {
                true => !first_lanes(order, winner as usize + 1),
                false => first_lanes(order, winner as usize),
            };
            left &= next & self.winners(lanes, best.lanes);
            count += 1;
        }
        // SAFETY: the caller promises the elements and the answers.
        unsafe { self.write_lanes(visited, simd.index_array(shown).as_ref(), &carry) };
        best
    }

    /// Which lanes win over others, as bits.
    #[inline(always)]
    fn winners(self, lanes: Vec<O>, over: Vec<O>) -> u64 {
        let order = self.order;
        order.simd().movemask(match self.newest_wins {
            false => wins::<O, false, true>(order, lanes, over),
            true => wins::<O, true, true>(order, lanes, over),
        })
    }

    /// Writes the answers of a vector: of which lane each is, or that it is the carry's.
    ///
    /// # Safety
    /// - As for [`Line::visit`].
    #[inline(always)]
    unsafe fn write_lanes<N: Copy + Into<u64>>(self, visited: Lanes, shown: &[N], carry: &Carry<O>) {
        let first_index = self.lowest_index.offset(visited.at as u64, self.falls);
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_wide {
                self.write(visited, shown, (first_index, self.falls), carry.index);
            } else {
                self.write(visited, shown, (first_index as u32, self.falls as u32), carry.index as u32);
            }
            if !self.values.is_null() {
                self.write_values(visited, shown, carry.at.read());
            }
        }
    }

    /// As [`Line::visit`], of a vector without NaN, and with any winners.
    ///
    /// # Safety
    /// - As there.
    #[inline(always)]
    unsafe fn visit_all(self, carry: Carry<O>, lanes: Vec<O>, visited: Lanes) -> Carry<O> {
        let (order, simd) = (self.order, self.order.simd());
        let (best, lane_of) = match (self.is_forward, self.newest_wins) {
            (true, false) => scan_lanes::<O, true, false>(order, lanes),
            (true, true) => scan_lanes::<O, true, true>(order, lanes),
            (false, false) => scan_lanes::<O, false, false>(order, lanes),
            (false, true) => scan_lanes::<O, false, true>(order, lanes),
        };
        let stays = if self.newest_wins {
            order.gt_total_order(carry.lanes, best)
        } else {
            simd.and_not(simd.first_n_mask(O::Simd::LANES), order.gt_total_order(best, carry.lanes))
        };
        let shown = simd.index_array(simd.select(stays, simd.splat_index(CARRY), lane_of));
        let last = if self.is_forward { visited.end - 1 } else { visited.start };
        let lane_of_last: u64 = simd.index_array(lane_of).as_ref()[last].into();
        let place = visited.at.wrapping_add_unsigned(lane_of_last as usize);
        // SAFETY: the caller promises the elements and the answers; the best of the lanes that are visited is one of
        // them.
        unsafe {
            self.write_lanes(visited, shown.as_ref(), &carry);
            // Of the vector alone, so that the next one waits for a comparison, not for the element.
            let at = self.input.wrapping_offset(place);
            let last = order.encode(simd.splat(at.read()));
            let stays = if self.newest_wins {
                simd.movemask(order.gt_total_order(carry.lanes, last)) != 0
            } else {
                simd.movemask(order.gt_total_order(last, carry.lanes)) == 0
            };
            let index = self.lowest_index.offset(place as u64, self.falls);
            let carry = Carry { had_many: true, ..carry };
            if stays { carry } else { Carry { lanes: last, at, index, ..carry } }
        }
    }

    /// Writes the indices of some lanes: those of lanes, or the carry's.
    ///
    /// # Safety
    /// - They may be written.
    #[inline(always)]
    unsafe fn write<I: ScanIndex, N: Copy + Into<u64>>(
        self,
        visited: Lanes,
        shown: &[N],
        (first, falls): (I, I),
        carry: I,
    ) {
        let to = self.indices.cast::<I>().wrapping_offset(visited.at);
        let index = |n: usize| {
            let lane: u64 = shown[n].into();
            if lane == CARRY.into() { carry } else { first.offset(lane, falls) }
        };
        // SAFETY: the caller's promise.
        unsafe { for_lanes::<O>(visited, |n| to.wrapping_add(n).write(index(n))) }
    }

    /// Writes the values of some lanes.
    ///
    /// # Safety
    /// - They may be written; the elements of lanes may be read.
    #[inline(always)]
    unsafe fn write_values<N: Copy + Into<u64>>(self, visited: Lanes, shown: &[N], carry: O::Lane) {
        let (from, to) = (self.input.wrapping_offset(visited.at), self.values.wrapping_offset(visited.at));
        // SAFETY: the caller's promise.
        unsafe {
            for_lanes::<O>(visited, |n| {
                let lane: u64 = shown[n].into();
                let value = if lane == CARRY.into() { carry } else { from.wrapping_add(lane as usize).read() };
                to.wrapping_add(n).write(value);
            });
        }
    }
}

/// Those that are visited: all of them, as a loop of known length, or some.
#[inline(always)]
fn for_lanes<O: ArgOrder>(visited: Lanes, mut lane: impl FnMut(usize)) {
    if visited.end - visited.start == O::Simd::LANES {
        let mut n = 0;
        while n < O::Simd::LANES {
            lane(n);
            n += 1;
        }
        return;
    }
    let mut n = visited.start;
    while n < visited.end {
        lane(n);
        n += 1;
    }
}

/// # Safety
/// - As many places may be written.
#[inline(always)]
unsafe fn fill<T: Copy>(to: *mut T, with: T, len: usize) {
    let mut n = 0;
    while n < len {
        // SAFETY: the caller's promise.
        unsafe { to.add(n).write(with) };
        n += 1;
    }
}

type ByteMask<O> = <<O as ArgOrder>::Simd as SimdOps<u8>>::Mask;

/// Two arrays of answers, of which the new ones were visited later.
#[derive(Clone, Copy)]
struct Sides<O: ArgOrder, I> {
    new: *const O::Lane,
    old: *const O::Lane,
    /// The indices of the new ones, or null where they have this one.
    new_indices: *const I,
    index: I,
    old_indices: *const I,
}

/// Where answers go: values and indices, each to two places, of which the first may be null, and the second, too, of
/// values.
#[derive(Clone, Copy)]
struct To<L, I> {
    values: [*mut L; 2],
    indices: [*mut I; 2],
}

/// Writes those that win, of `len`: group by group, of as many as a vector has bytes, by masks of bytes; what is left
/// vector by vector, and the last vector again, if it is not whole, lane by lane.
///
/// # Safety
/// - As many may be read, and written.
#[inline(always)]
unsafe fn choose<O, I, const NEWEST: bool>(order: O, sides: Sides<O, I>, to: To<O::Lane, I>, len: usize)
where
    O: ArgOrder<Simd: ByteMaskOps<O::Lane> + ByteMaskOps<I::Lane>>,
    I: ScanIndex,
{
    let (simd, all) = (order.simd(), const { <O::Simd as SimdOps<O::Lane>>::LANES });
    let group = const { all_bytes::<O>() };
    let mut at = 0;
    while at + group <= len {
        // SAFETY: the caller promises the group.
        unsafe {
            let wins: ByteMask<O> = ByteMaskOps::<O::Lane>::narrow(
                simd,
                #[inline(always)]
                |n| {
                    let (new, old) = (sides.new.add(at + n * all), sides.old.add(at + n * all));
                    wins::<O, NEWEST, true>(order, order.load(new), order.load(old))
                },
            );
            if !to.values[1].is_null() {
                let mut n = 0;
                while n < size_of::<O::Lane>() {
                    let place = at + n * all;
                    let (new, old) = (simd.load(sides.new.add(place)), simd.load(sides.old.add(place)));
                    let mask = ByteMaskOps::<O::Lane>::widen(simd, &wins, n);
                    let better: Vec<O> = SimdOps::<O::Lane>::select(simd, mask, new, old);
                    store(to.values[1].add(place), better);
                    if !to.values[0].is_null() {
                        store(to.values[0].add(place), better);
                    }
                    n += 1;
                }
            }
            let of_index = const { <O::Simd as SimdOps<I::Lane>>::LANES };
            let mut n = 0;
            while n < size_of::<I>() {
                let place = at + n * of_index;
                let new = match sides.new_indices.is_null() {
                    true => SimdOps::<I::Lane>::splat(simd, sides.index.lane()),
                    false => SimdOps::<I::Lane>::load(simd, sides.new_indices.cast::<I::Lane>().add(place)),
                };
                let old = SimdOps::<I::Lane>::load(simd, sides.old_indices.cast::<I::Lane>().add(place));
                let mask = ByteMaskOps::<I::Lane>::widen(simd, &wins, n);
                let better = SimdOps::<I::Lane>::select(simd, mask, new, old);
                store(to.indices[1].add(place), better);
                if !to.indices[0].is_null() {
                    store(to.indices[0].add(place), better);
                }
                n += 1;
            }
        }
        at += group;
    }
    // SAFETY: as above.
    unsafe { choose_some::<O, I, NEWEST>(order, sides, to, at..len) }
}

/// As [`choose`], vector by vector, of those in a range.
///
/// # Safety
/// - As there.
#[inline(always)]
unsafe fn choose_some<O, I, const NEWEST: bool>(
    order: O,
    sides: Sides<O, I>,
    to: To<O::Lane, I>,
    Range { start: mut at, end: len }: Range<usize>,
) where
    O: ArgOrder,
    I: ScanIndex,
{
    let (simd, all) = (order.simd(), const { <O::Simd as SimdOps<O::Lane>>::LANES });
    while at < len {
        let count = all.min(len - at);
        // SAFETY: the caller promises as many.
        unsafe {
            let wins = SimdOps::<O::Lane>::movemask(
                simd,
                wins::<O, NEWEST, true>(
                    order,
                    load_some(order, sides.new.add(at), count),
                    load_some(order, sides.old.add(at), count),
                ),
            );
            for n in 0..count {
                let (place, is_new) =
                    (at + n, wins >> (n as u32 * <O::Simd as SimdOps<O::Lane>>::BITS_PER_LANE) & 1 != 0);
                let value = if is_new { sides.new } else { sides.old }.add(place).read();
                let index = match is_new {
                    true if sides.new_indices.is_null() => sides.index,
                    true => sides.new_indices.add(place).read(),
                    false => sides.old_indices.add(place).read(),
                };
                to.values.iter().filter(|to| !to.is_null()).for_each(|to| to.add(place).write(value));
                to.indices.iter().filter(|to| !to.is_null()).for_each(|to| to.add(place).write(index));
            }
        }
        at += count;
    }
}

/// The bytes of a vector.
const fn all_bytes<O: ArgOrder>() -> usize {
    size_of::<Vec<O>>()
}

/// # Safety
/// - As many elements as a vector has may be written.
#[inline(always)]
unsafe fn store<T, V: Pod>(to: *mut T, lanes: V) {
    // SAFETY: the caller's promise: a vector is its lanes.
    unsafe { to.cast::<V>().write_unaligned(lanes) }
}

/// Scans across lines.
///
/// # Safety
/// - As for [`enter_scan`].
#[inline(always)]
unsafe fn across<O, I, const NEWEST: bool>(order: O, args: &ScanArgs)
where
    O: ArgOrder<Simd: ByteMaskOps<O::Lane> + ByteMaskOps<I::Lane>>,
    I: ScanIndex,
{
    let width = args.lines.size;
    let (best, best_index) = (args.best[0].cast::<O::Lane>(), args.best[1].cast::<I>());
    let falls = if args.indices_fall { u64::MAX } else { 0 };
    for s in 0..args.steps.size {
        let row = args.input.cast::<O::Lane>().wrapping_offset(s as isize * args.steps.stride);
        let index = I::of(args.first_index.offset(s as u64, falls));
        let mut to = To {
            values: [args.values.cast::<O::Lane>(), best],
            indices: [args.indices.cast::<I>().wrapping_offset(s as isize * args.index_stride), best_index],
        };
        if !args.values.is_null() {
            to.values[0] = to.values[0].wrapping_offset(s as isize * args.value_stride);
        }
        // SAFETY: the caller promises the row, its answers, and the best so far; to visit the first row twice is
        // harmless.
        unsafe {
            if s == 0 && args.begins {
                best.copy_from_nonoverlapping(row, width);
                fill(best_index, index, width);
            }
            let sides = Sides { new: row, old: best.cast_const(), new_indices: null(), index, old_indices: best_index };
            choose::<O, I, NEWEST>(order, sides, to, width);
        }
    }
}

/// [`Scanner::merge`].
///
/// # Safety
/// - As there.
#[inline(always)]
unsafe fn merge_by<O, I, const NEWEST: bool>(order: O, args: &MergeArgs)
where
    O: ArgOrder<Simd: ByteMaskOps<O::Lane> + ByteMaskOps<I::Lane>>,
    I: ScanIndex,
{
    let sides = Sides {
        new: args.later[0].cast(),
        old: args.earlier[0].cast(),
        new_indices: args.later[1].cast(),
        index: I::of(0),
        old_indices: args.earlier[1].cast(),
    };
    let to = To { values: [null_mut(), args.better[0].cast()], indices: [null_mut(), args.better[1].cast()] };
    // SAFETY: the caller's promise.
    unsafe { choose::<O, I, NEWEST>(order, sides, to, args.len) }
}
