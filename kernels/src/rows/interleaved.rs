//! Outputs whose elements are in several stretches of neighbours, chunk after chunk, as if they were in one: what a
//! fold knows of one stretch, it takes along to the next, and looks for the place of the best at the end only. Where
//! the next stretch in memory belongs to the next output, some outputs take turns, each with a fold of its own, so that
//! memory is read in its order. So do some places of one stretch that is far, if several at once are read faster.
//!
//! With a look after each stretch, and stretch by stretch of one output, images over their batch and both spatial axes
//! would run at half of the speed.

use super::accumulator::{Fold, most_chunks};
use super::blocked::is_one_piece;
use super::blocks::{Chunks, Places, chunk};
use super::segment::{Best, Found, Run};
use crate::memory::args::{Loop, Tile};
use crate::memory::row_prefetch::AHEAD_BYTES;
use crate::memory::walk::offset_of;
use crate::order::Order;
use crate::positions::Positions;
use crate::simd::token::{Task, Token};
use crate::tuning::{MAX_READ_STREAMS, MIN_STREAM_BYTES};
use core::mem::MaybeUninit;

/// The most outputs that take turns: 6 KiB of state by vectors of 32 bytes, twice as much by those of 64.
const OUTPUTS: usize = 32;

/// Whether [`answer`] takes stretches of so many neighbours: where that is worth its code.
#[inline(always)]
pub(super) fn takes<O: Order>(len: usize) -> bool {
    (const { O::Simd::TUNING.specializes }) && len >= chunk::<O>() && is_one_piece::<O>(len)
}

/// Answers all outputs of a tile.
///
/// # Safety
/// - As [`crate::kernel::Body::run`]; the fastest reduced loop has stride 1 or -1, and stretches that this
///   [takes](takes).
#[inline(always)]
pub(super) unsafe fn answer<O: Order>(order: O, tile: &Tile<'_>, mut positions: Positions<'_>) {
    let (line, slower) = tile.split_reduced();
    let reversed = line.stride < 0;
    let to_lowest = if reversed { 1 - line.size as isize } else { 0 };
    let stretch = Run::new(tile.input.cast::<O::Lane>().wrapping_offset(to_lowest), line.size, reversed, tile.tuning);
    let outputs = if tile.takes_turns(tile.inner) { OUTPUTS } else { 1 };
    let bytes = line.size * size_of::<O::Lane>();
    let ahead = tile.prefetch.asks(false).then_some(AHEAD_BYTES / bytes);
    let mut best = [const { MaybeUninit::uninit() }; OUTPUTS];
    let mut done = 0;
    while done < positions.len() {
        let mut runs = [stretch; OUTPUTS];
        let count = outputs.min(positions.len() - done);
        for (n, run) in runs[..count].iter_mut().enumerate() {
            *run = stretch.moved(tile.offset(done + n));
        }
        let (stretches, ahead) = (tile.visited() / line.size, ahead.map(|ahead| ahead.min(count)));
        let turns = Turns { runs: &runs[..count], slower, stretches, ahead, are_chunks: false };
        // SAFETY: the caller promises the elements of all outputs, of which these are some.
        let found = unsafe { turns.find(order, &mut best) };
        for (n, best) in found.iter().enumerate() {
            positions.write(done + n, best.position());
        }
        done += count;
    }
}

/// Some outputs, as many stretches of each.
#[derive(Clone, Copy)]
struct Turns<'a, L> {
    /// The first stretch of each output: whole chunks, or the last reaches back; and one piece.
    runs: &'a [Run<L>],
    /// From there to the others.
    slower: &'a [Loop],
    stretches: usize,
    /// How many stretches ahead to ask for, if any: at most one of each output.
    ahead: Option<usize>,
    /// Whether each stretch is one chunk, a [longer](super::blocked) one.
    are_chunks: bool,
}

impl<L: Copy> Turns<'_, L> {
    /// Finds the best of each output. A call, because there is more than one.
    ///
    /// # Safety
    /// - The stretches may be read.
    #[inline(always)]
    unsafe fn find<O: Order<Lane = L>>(self, order: O, room: &mut [MaybeUninit<Best<O>>; OUTPUTS]) -> &[Best<O>] {
        #[derive(Clone, Copy)]
        struct Call<'a, O: Order> {
            order: O,
            turns: Turns<'a, O::Lane>,
            best: *mut [MaybeUninit<Best<O>>],
        }
        impl<O: Order> Task for Call<'_, O> {
            type Output = ();

            #[inline(always)]
            unsafe fn run(self) {
                // SAFETY: the caller's promise, with a place for each output.
                unsafe { self.turns.write(self.order, &mut *self.best) }
            }
        }
        let best = &mut room[..self.runs.len()];
        // SAFETY: the caller's promise; there is a place for each output.
        unsafe { order.simd().call(Call { order, turns: self, best: &raw mut *best }) };
        // SAFETY: all of them were written.
        unsafe { &*(&raw const *best as *const [Best<O>]) }
    }

    /// # Safety
    /// - As for [`Turns::find`]; there is a place for each output.
    #[inline(always)]
    unsafe fn write<O: Order<Lane = L>>(self, order: O, best: &mut [MaybeUninit<Best<O>>]) {
        let len = self.runs[0].len;
        let chunk = if self.are_chunks { len } else { chunk::<O>() };
        let chunks = len.div_ceil(chunk);
        let most = most_chunks::<O>() / chunks;
        for best in &mut *best {
            best.write(Best::new(order));
        }
        // SAFETY: they were written just now.
        let best = unsafe { &mut *(&raw mut *best as *mut [Best<O>]) };
        let mut first = 0;
        while first < self.stretches {
            let stretches = most.min(self.stretches - first);
            let part = Part { turns: Turns { stretches, ..self }, first, chunk, chunks };
            // SAFETY: the caller's promise, and there is a best for each output.
            unsafe { part.offer(order, best) };
            first += stretches;
        }
    }
}

/// Finds the first best of a run that is far, in several places at once.
///
/// # Safety
/// - The elements of the run may be read; it is much longer than a turn in each place.
#[inline(always)]
pub(super) unsafe fn find_in_places<O: Order>(order: O, run: Run<O::Lane>) -> Found<O> {
    let rows = &run.tuning.rows;
    let (count, asks) = (rows.read_streams, run.tuning.prefetch.sequential);
    let turn = rows.stream_bytes / size_of::<O::Lane>();
    // A turn is a chunk, or several, or one longer chunk.
    const { assert!(MIN_STREAM_BYTES.is_multiple_of(chunk::<O>() * size_of::<O::Lane>())) };
    let are_chunks = const { O::Simd::TUNING.blends_may_be_dear } && asks && rows.block_factor > 1;
    let stretches = run.len.div_ceil(count * turn);
    let (share, stride) = (stretches * turn, if run.reversed { -(turn as isize) } else { turn as isize });
    let run = if asks { run.asking_along(rows.stream_distance) } else { run };
    // The last may reach back: what is seen twice is never better than itself.
    let start = |n: usize| (n * share).min(run.len - share);
    let mut places = [run; MAX_READ_STREAMS];
    let places = &mut places[..count];
    for (n, place) in places.iter_mut().enumerate() {
        *place = run.part(start(n), turn);
    }
    let slower = &[Loop { size: stretches, stride }];
    let turns = Turns { runs: places, slower, stretches, ahead: None, are_chunks };
    let mut room = [const { MaybeUninit::uninit() }; OUTPUTS];
    let mut best = Best::new(order);
    // SAFETY: the caller promises the run, of which the places are parts.
    for (n, found) in unsafe { turns.find(order, &mut room) }.iter().enumerate() {
        best.offer(found.found(), start(n));
    }
    best.found()
}

/// A call, because it is asked for in many places.
#[inline(never)]
fn offset_of_stretch(slower: &[Loop], n: usize) -> isize {
    offset_of(slower, n)
}

/// Some stretches of some outputs, not more than have chunks that can be counted.
#[derive(Clone, Copy)]
struct Part<'a, L> {
    /// `stretches` from the first of this part on.
    turns: Turns<'a, L>,
    first: usize,
    /// The elements of a chunk, and the chunks of a stretch.
    chunk: usize,
    chunks: usize,
}

impl<L: Copy> Part<'_, L> {
    /// Finds the best of each output in these stretches, and offers it.
    ///
    /// # Safety
    /// - The stretches may be read; there is a best for each output.
    #[inline(always)]
    unsafe fn offer<O: Order<Lane = L>>(self, order: O, best: &mut [Best<O>]) {
        let first = self.turns.runs[0];
        let before = self.first * first.len;
        // SAFETY: the caller's promise; each fold was written.
        unsafe {
            let mut folds = [const { MaybeUninit::uninit() }; OUTPUTS];
            self.fold(order, &mut folds);
            for (n, best) in best.iter_mut().enumerate() {
                let fold = folds[n].assume_init_ref().copy();
                if !best.is_as_good(fold.best()) {
                    best.offer(fold.finish(order, self.of(n)), before);
                }
            }
        }
    }

    /// The part of one output.
    #[inline(always)]
    fn of(self, n: usize) -> Self {
        Part { turns: Turns { runs: &self.turns.runs[n..n + 1], ahead: None, ..self.turns }, ..self }
    }

    /// Writes a fold for each output.
    ///
    /// # Safety
    /// - The stretches may be read.
    #[inline(always)]
    unsafe fn fold<O: Order<Lane = L>>(self, order: O, folds: &mut [MaybeUninit<Fold<O>>; OUTPUTS]) {
        let Turns { runs, slower, stretches, ahead, .. } = self.turns;
        let (mut next, mut are_final) = (offset_of_stretch(slower, self.first), false);
        for n in 0..stretches {
            if O::MAY_STOP && are_final {
                break;
            }
            are_final = true;
            let this = next;
            next = offset_of_stretch(slower, self.first + n + 1);
            for (o, state) in folds[..runs.len()].iter_mut().enumerate() {
                let run = runs[o].moved(this);
                let run = match ahead {
                    None => run,
                    Some(0) => run.asking_along(AHEAD_BYTES),
                    Some(ahead) => {
                        let (other, offset) = match runs.get(o + ahead) {
                            Some(other) => (other, this),
                            None => (&runs[o + ahead - runs.len()], next),
                        };
                        // Between addresses as unsigned numbers, and wrapping: what is asked for need not exist.
                        let bytes = other.moved(offset).at.addr().wrapping_sub(run.at.addr()).cast_signed();
                        run.asking_at(bytes / size_of::<L>() as isize)
                    }
                };
                // SAFETY: the first stretch writes it.
                let mut fold = if n == 0 { Fold::new(order) } else { unsafe { state.assume_init_ref().copy() } };
                if n > 0 && fold.is_final(order) {
                    continue;
                }
                // SAFETY: the caller's promise.
                unsafe {
                    if const { O::Simd::TUNING.blends_may_be_dear } && self.turns.are_chunks {
                        fold.advance_by_one(order, run, n);
                    } else {
                        fold.advance(order, Chunks::new(order, run), n * self.chunks);
                    }
                }
                are_final = false;
                state.write(fold);
            }
        }
    }
}

/// The stretches of the only output.
impl<L: Copy> Places for Part<'_, L> {
    type Lane = L;

    #[inline(always)]
    fn count(self) -> usize {
        self.turns.stretches * self.chunks
    }

    #[inline(always)]
    fn place(self, n: usize) -> (usize, Run<L>) {
        let (stretch, n) = (n / self.chunks, n % self.chunks);
        let run = self.turns.runs[0].moved(offset_of_stretch(self.turns.slower, self.first + stretch));
        let (start, chunk) = Chunks::of_length(run, self.chunk).place(n);
        (stretch * run.len + start, chunk)
    }
}
