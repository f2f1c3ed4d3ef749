//! A panel: register tiles side by side, whose state is kept in L1. So columns of any number of rows are read some rows
//! at a time, in long runs, wherever the rows are. Knows nothing of the loops of a call, and of why a panel is as wide
//! as it is.

use super::nan_tracker::Seen;
use super::tile::{GROUP, Group, ROWS, Rows, span};
use crate::order::Order;
use crate::order::key::Lane;
use crate::positions::{Position, Positions, for_places};
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token};
use core::mem::MaybeUninit;

/// Tiles in a panel: 4 KiB of outputs by vectors of 32 bytes.
pub(super) const PANEL: usize = 32;

/// Bytes of the outputs of a panel that is streamed: what is kept of it, and what was prefetched, fit in L1. See
/// docs/tuning.md#panels-4-8-or-16-kib-of-outputs.
pub(super) const SWEPT_BYTES: usize = 8 << 10;

/// Bytes of the outputs of a panel where hardware prefetchers are left alone: longer runs suit them. The widest of all.
pub const WIDE_BYTES: usize = 16 << 10;

/// A buffer for the tiles of any panel.
#[repr(C, align(64))]
pub(super) struct Room([MaybeUninit<u8>; 2 * WIDE_BYTES]);

impl Room {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Room([const { MaybeUninit::uninit() }; _])
    }

    /// The tiles, none of them written.
    #[inline(always)]
    pub(super) fn groups<O: Order, const U: usize>(&mut self) -> &mut [MaybeUninit<Group<O, U>>] {
        const { assert!(align_of::<Group<O, U>>() <= 64) };
        let count = size_of::<Room>() / size_of::<Group<O, U>>();
        // SAFETY: the bytes of this buffer are `count` tiles by the division, aligned for them as asserted, and need
        // not be initialised.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}

/// How the rows of a panel are traversed, and what is prefetched meanwhile.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// All rows of a tile before the next tile, if they stay in L1 meanwhile: for what is in L2.
    Near,
    /// Eight rows at a time, tile by tile.
    ByGroups,
    /// The same, of rows that are longer than the panel: meanwhile, the next row of the panel is prefetched, and after
    /// the last one, the first row of the next panel.
    ByGroupsAcross,
    /// Streaming: one row at a time, from end to end of the panel.
    Sweep,
    /// The same, of rows that are longer than the panel: meanwhile, the next row of the panel is prefetched, and after
    /// the last one, the first row of the next panel.
    SweepAcross,
}

/// The L1 cache of most cores.
const L1_BYTES: usize = 32 << 10;

/// Tiles side by side, reduced over the rows so far.
///
/// Row numbers are as narrow as the elements. Before they overflow, for 8-bit elements after 255 rows, they are widened
/// into the 32-bit positions.
pub(super) struct Panel<'a, O: Order, const U: usize> {
    order: O,
    groups: &'a mut [MaybeUninit<Group<O, U>>],
    /// Written when row numbers are first widened.
    positions: Positions<'a>,
    /// Rows since row numbers were last widened, and before that. Row numbers count from 1 since then; 0 is no change.
    rows: u32,
    flushed: u32,
    /// Whether a NaN was found.
    has_nan: bool,
}

impl<'a, O: Order, const U: usize> Panel<'a, O, U> {
    const GROUP: usize = U * O::Simd::LANES;

    /// Before the first row. There is a tile for each `GROUP` of the positions, and there are at least as many
    /// positions as one tile has; for tiles of two vectors, more than one vector has.
    #[inline(always)]
    pub(super) fn new(order: O, groups: &'a mut [MaybeUninit<Group<O, U>>], positions: Positions<'a>) -> Self {
        let groups = &mut groups[..positions.len().div_ceil(Self::GROUP)];
        Panel { order, groups, positions, rows: 0, flushed: 0, has_nan: false }
    }

    /// The outputs of each tile. A constant, which makes the loop much faster, but for a single tile of two vectors: it
    /// may have fewer, and more than a vector.
    #[inline(always)]
    fn width(&self) -> usize {
        if const { U == 2 } { Self::GROUP.min(self.positions.len()) } else { Self::GROUP }
    }

    /// The first output of a tile. The last tile overlaps the previous one where the width is no multiple.
    #[inline(always)]
    fn start_of(&self, group: usize) -> usize {
        (group * Self::GROUP).min(self.positions.len() - self.width())
    }

    /// How far it is from the next row to the first row of the panel beside this one, in elements.
    #[inline(always)]
    fn to_next_panel(&self, stride: isize) -> isize {
        (self.positions.len() as isize).wrapping_sub(stride.wrapping_mul((self.rows + self.flushed) as isize))
    }

    /// Reduces some more rows, and prefetches what is `ahead` elements further on. Row numbers go on from segment to
    /// segment.
    ///
    /// # Safety
    /// - Each row, as wide as the panel, may be read.
    #[inline(always)]
    pub(super) unsafe fn rows(&mut self, mut rows: Rows<O::Lane>, ahead: Option<isize>, way: Way) {
        let sweeps = const { U == GROUP } && matches!(way, Way::Sweep | Way::SweepAcross);
        while rows.count > 0 {
            if self.rows == O::Simd::MAX_COUNT {
                self.flush();
            }
            let are_last = match way {
                Way::SweepAcross => rows.count == 1,
                Way::ByGroupsAcross => rows.count <= ROWS,
                _ => false,
            };
            let ahead = if are_last { ahead.map(|_| self.to_next_panel(rows.stride)) } else { ahead };
            // SAFETY: the caller's promise.
            if const { U == GROUP } && sweeps && unsafe { self.sweep(rows, ahead) } {
                self.rows += 1;
                rows = rows.skip(1);
                continue;
            }
            // A single tile, or one whose rows stay in L1, need not make way for the next tile after eight rows: its
            // state stays in registers.
            let is_short = span::<O::Lane>(rows.count, rows.stride) <= L1_BYTES / 2;
            let stays = way == Way::Near && (self.groups.len() == 1 || is_short);
            let most = match (stays, sweeps) {
                (true, _) => usize::MAX,
                (_, true) => 1,
                _ => ROWS,
            };
            let some = rows.count.min(most).min((O::Simd::MAX_COUNT - self.rows) as usize);
            for group in 0..self.groups.len() {
                let these = Rows { count: some, ..rows.at(self.start_of(group)) };
                these.prefetch(self.width(), ahead);
                // SAFETY: the caller's promise.
                unsafe { self.visit(group, these) };
            }
            self.rows += some as u32;
            rows = rows.skip(some);
        }
    }

    /// Reduces the first of some rows, from end to end of the panel. False if it was not read or has a NaN: then it has
    /// to be [visited](Panel::visit), which is harmless after this, because comparisons are strict.
    ///
    /// This loop is separate, because what a visit does around its rows costs more than a single row.
    ///
    /// # Safety
    /// - A row, as wide as the panel, may be read.
    #[inline(always)]
    unsafe fn sweep(&mut self, rows: Rows<O::Lane>, ahead: Option<isize>) -> bool {
        let (order, simd) = (self.order, self.order.simd());
        if self.has_nan {
            return false;
        }
        let (is_first, number) = (self.rows + self.flushed == 0, simd.count(self.rows + 1));
        let mut nans = simd.none();
        for group in 0..self.groups.len() {
            let row = Rows { count: 1, ..rows.at(self.start_of(group)) };
            if let Some(ahead) = ahead {
                row.hint.prefetch(row.first.wrapping_offset(ahead), Self::GROUP * size_of::<O::Lane>());
            }
            // SAFETY: the caller's promise.
            let new = unsafe { Group::<O, U>::load(order, row.first, Self::GROUP) };
            if O::Lane::HAS_NAN {
                nans = simd.or(nans, simd.nans_of(&new));
            }
            if is_first {
                self.groups[group].write(Group { best: new, row_of_best: [simd.count(0); U] });
                continue;
            }
            // SAFETY: the first row has written the group.
            let group = unsafe { self.groups[group].assume_init_mut() };
            for ((best, row_of_best), &new) in group.best.iter_mut().zip(&mut group.row_of_best).zip(&new) {
                *row_of_best = simd.select_count(order.above(new, *best), number, *row_of_best);
                *best = order.fold(new, *best);
            }
        }
        !O::Lane::HAS_NAN || simd.bits(nans) == 0
    }

    /// Reduces some rows into one tile.
    ///
    /// # Safety
    /// - Each row, as wide as a tile, may be read; the tile was written, unless these are the first rows.
    #[inline(always)]
    unsafe fn visit(&mut self, group: usize, rows: Rows<O::Lane>) {
        let (order, width) = (self.order, self.width());
        let is_first = self.rows + self.flushed == 0;
        // SAFETY: the caller's promise, and the first rows have written the group.
        let (before, rows, row) = unsafe {
            match is_first {
                true => (Group::new(order, rows.first, width), rows.skip(1), 1),
                false => (self.groups[group].assume_init(), rows, self.rows),
            }
        };
        let (mut after, mut seen) = (before, Seen::new(order, &before.best));
        if !O::Lane::HAS_NAN || !self.has_nan {
            // SAFETY: the caller's promise.
            unsafe { after.visit::<false, true>(order, rows, width, row, &mut seen) };
            if seen.is_sure(order) {
                self.groups[group].write(after);
                return;
            }
            self.has_nan = true;
            after = before;
        }
        // SAFETY: the caller's promise.
        unsafe { after.visit::<true, true>(order, rows, width, row, &mut seen) };
        self.groups[group].write(after);
    }

    /// Widens the row numbers into the positions.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        let simd = self.order.simd();
        for group in 0..self.groups.len() {
            let (start, width) = (self.start_of(group), self.width());
            // SAFETY: a flush comes after the first rows, which have written every group.
            let group = unsafe { self.groups[group].assume_init_mut() };
            for u in 0..U {
                let (rows, flushed) = (simd.counts(group.row_of_best[u]), self.flushed);
                let (rows, at) = (rows.as_ref(), start + Group::<O, U>::start_of(u, width));
                for_places!(self.positions, positions => {
                    let positions = &raw mut positions[at..][..O::Simd::LANES];
                    // SAFETY: a mutable borrow, which nothing else uses meanwhile.
                    unsafe { simd.call(Flush { rows, positions, flushed }) };
                });
            }
            group.row_of_best = [simd.count(0); U];
        }
        self.flushed += self.rows;
        self.rows = 0;
    }
}

/// [`Panel::flush`] of some positions. Outlined, to have one copy for each width of lanes.
#[derive(Clone, Copy)]
struct Flush<'a, C, P> {
    rows: &'a [C],
    positions: *mut [MaybeUninit<P>],
    flushed: u32,
}

impl<C: Copy + Into<u64>, P: Position> Task for Flush<'_, C, P> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: the caller promises a slice that it borrows mutably, and does not use meanwhile.
        let positions = unsafe { &mut *self.positions };
        for (position, &row) in positions.iter_mut().zip(self.rows) {
            let row = row.into() as u32;
            let number = P::of(self.flushed.wrapping_add(row).wrapping_sub(1).into());
            if self.flushed == 0 {
                // No change means that the first row is still the best.
                position.write(if row == 0 { P::of(0) } else { number });
            } else if row != 0 {
                position.write(number);
            }
        }
    }
}
