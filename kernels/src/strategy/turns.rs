//! Outputs whose elements are in several stretches of neighbours, chunk after chunk, as if they were in one: what a fold knows of one stretch, it takes along
//! to the next, and looks for the place of the best at the end only. Where the next stretch in memory belongs to the next output, some outputs take turns,
//! each with a fold of its own, so that memory is read in its order.
//!
//! With a look after each stretch, and stretch by stretch of one output, images over axes 0, 2 and 3 ran at half of the speed: in L2, of 32 x 32, GB/s of u8 44,
//! of f16 52, of f32 71, now 93, 104, 102 (AVX2); beyond L3, of 56 x 56, 19, 18, 23, now 39, 38, 36. (Zen 5. By AVX-512 37, 59, 104, now 91, 94, 115; 23, 22, 23,
//! now 37, 41, 29.)

use super::chunks::{is_one_piece, is_promising};
use super::fold::{self, Chunks, Fold, Places, most_chunks, settle};
use super::run::{Best, Run, has_bits};
use crate::lanes::{Task, Token};
use crate::order::Order;
use crate::prefetch::AHEAD_BYTES;
use crate::tile::{Loop, Tile, offset_of};
use core::mem::MaybeUninit;

/// The most outputs that take turns: 6 KiB of state by vectors of 32 bytes, twice as much by those of 64.
const OUTPUTS: usize = 32;

/// Whether [`answer`] takes stretches of so many neighbours: where that is worth its code.
#[inline(always)]
pub(super) fn takes<O: Order>(len: usize) -> bool {
    O::Simd::SPECIALIZES && len >= fold::chunk::<O>() && is_one_piece::<O>(len)
}

/// Answers all outputs of a tile.
///
/// # Safety
/// - As [`super::Body::run`]; the fastest reduced loop has stride 1 or -1, and stretches that this [takes](takes).
#[inline(always)]
pub(super) unsafe fn answer<O: Order>(order: O, tile: &Tile<'_>, positions: &mut [MaybeUninit<u32>]) {
    let (line, slower) = tile.split_reduced();
    let reversed = line.stride < 0;
    let to_lowest = if reversed { 1 - line.size as isize } else { 0 };
    let stretch = Run::new(tile.input.cast::<O::Lane>().wrapping_offset(to_lowest), line.size, reversed);
    let chunk = fold::chunk::<O>();
    let chunks = line.size.div_ceil(chunk);
    let stretches = tile.visited() / line.size;
    let most = most_chunks::<O>() / chunks;
    let outputs = if tile.takes_turns(tile.inner) { OUTPUTS } else { 1 };
    let bytes = line.size * size_of::<O::Lane>();
    let ahead = tile.prefetch.asks(false).then_some(AHEAD_BYTES / bytes);
    let mut best = [const { MaybeUninit::uninit() }; OUTPUTS];
    let mut done = 0;
    while done < positions.len() {
        let mut runs = [stretch; OUTPUTS];
        let count = outputs.min(positions.len() - done);
        for n in 0..count {
            runs[n] = stretch.moved(tile.offset(done + n));
            best[n].write(Best::new(order));
        }
        let mut first = 0;
        while first < stretches {
            let part = Part {
                runs: &runs[..count],
                slower,
                ahead: ahead.map(|ahead| ahead.min(count)),
                first,
                stretches: most.min(stretches - first),
                chunk,
                chunks,
            };
            // SAFETY: the caller promises the elements of all outputs, of which these are some; and each best was written just now.
            unsafe { part.offer(order, &mut best) };
            first += part.stretches;
        }
        for n in 0..count {
            // SAFETY: as above.
            let position = unsafe { best[n].assume_init_ref() }.position();
            positions[done + n].write(position);
        }
        done += count;
    }
}

/// Some stretches of some outputs, not more than have chunks that can be counted.
#[derive(Clone, Copy)]
struct Part<'a, L> {
    /// The first stretch of each output, of the first part.
    runs: &'a [Run<L>],
    slower: &'a [Loop],
    /// How many stretches ahead to ask for, if any.
    ahead: Option<usize>,
    first: usize,
    stretches: usize,
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
    unsafe fn offer<O: Order<Lane = L>>(self, order: O, best: &mut [MaybeUninit<Best<O>>; OUTPUTS]) {
        let before = self.first * self.runs[0].len;
        // SAFETY: the caller's promise; each fold was written.
        unsafe {
            let is_promising = has_bits::<O>() && is_promising(order.bits(), self.runs[0]);
            if !is_promising {
                let mut folds = [const { MaybeUninit::uninit() }; OUTPUTS];
                self.fold_apart(order, &mut folds);
                for n in 0..self.runs.len() {
                    let found = folds[n].assume_init_ref().copy().finish(order, self.of(n));
                    best[n].assume_init_mut().offer(found, before);
                }
                return;
            }
            let mut folds = [const { MaybeUninit::uninit() }; OUTPUTS];
            self.fold(order.bits(), &mut folds);
            for n in 0..self.runs.len() {
                let found = match settle(order, order.bits(), folds[n].assume_init_ref().copy(), self.of(n)) {
                    Some(found) => found,
                    None => {
                        let mut again = [const { MaybeUninit::uninit() }; OUTPUTS];
                        self.of(n).fold_apart(order, &mut again);
                        again[0].assume_init_ref().copy().finish(order, self.of(n))
                    }
                };
                best[n].assume_init_mut().offer(found, before);
            }
        }
    }

    /// The part of one output.
    #[inline(always)]
    fn of(self, n: usize) -> Self {
        Part { runs: &self.runs[n..n + 1], ahead: None, ..self }
    }

    /// Writes a fold for each output.
    ///
    /// # Safety
    /// - The stretches may be read.
    #[inline(always)]
    unsafe fn fold<O: Order<Lane = L>>(self, order: O, folds: &mut [MaybeUninit<Fold<O>>; OUTPUTS]) {
        for n in 0..self.stretches {
            let offset = |n| offset_of(self.slower, self.first + n);
            let (this, next) = (offset(n), offset(n + 1));
            for (o, state) in folds[..self.runs.len()].iter_mut().enumerate() {
                let run = self.runs[o].moved(this);
                let run = match self.ahead {
                    None => run,
                    Some(0) => run.asking_along(AHEAD_BYTES),
                    Some(ahead) => {
                        let (other, offset) = match self.runs.get(o + ahead) {
                            Some(other) => (other, this),
                            None => (&self.runs[o + ahead - self.runs.len()], next),
                        };
                        let bytes = (other.moved(offset).at as isize).wrapping_sub(run.at as isize);
                        Run { ahead: bytes / size_of::<L>() as isize, ..run }
                    }
                };
                // SAFETY: the first stretch writes it.
                let mut fold = if n == 0 { Fold::new(order) } else { unsafe { state.assume_init_ref().copy() } };
                if n > 0 && fold.is_final(order) {
                    continue;
                }
                let run = Chunks::new(order, run);
                // SAFETY: the caller's promise.
                unsafe { fold.advance(order, run, n * self.chunks) };
                state.write(fold);
            }
        }
    }

    /// The same as a call, where it is there more than once.
    ///
    /// # Safety
    /// - As for [`Part::fold`].
    #[inline(always)]
    unsafe fn fold_apart<O: Order<Lane = L>>(self, order: O, folds: &mut [MaybeUninit<Fold<O>>; OUTPUTS]) {
        #[derive(Clone, Copy)]
        struct Call<'a, O: Order> {
            order: O,
            part: Part<'a, O::Lane>,
            folds: *mut [MaybeUninit<Fold<O>>; OUTPUTS],
        }
        impl<O: Order> Task for Call<'_, O> {
            type Output = ();

            #[inline(always)]
            fn run(self) {
                // SAFETY: the promise of the caller of `fold_apart`, where the only `Call` is made.
                unsafe { self.part.fold(self.order, &mut *self.folds) }
            }
        }
        if has_bits::<O>() {
            order.simd().call(Call { order, part: self, folds });
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.fold(order, folds) };
        }
    }
}

/// The stretches of the only output.
impl<L: Copy> Places for Part<'_, L> {
    type Lane = L;

    #[inline(always)]
    fn count(self) -> usize {
        self.stretches * self.chunks
    }

    #[inline(always)]
    fn place(self, n: usize) -> (usize, Run<L>) {
        let (stretch, n) = (n / self.chunks, n % self.chunks);
        let run = self.runs[0].moved(offset_of(self.slower, self.first + stretch));
        let (start, chunk) = Chunks { run, chunk: self.chunk }.place(n);
        (stretch * run.len + start, chunk)
    }
}
