//! Groups side by side, for columns of any number of rows, wherever they are, and how memory is walked through then. Nothing here knows of tiles.

use super::nan_tracker::Seen;
use super::tile::{GROUP, Group, ROWS, Rows, span};
use crate::order::Order;
use crate::positions::{Position, Positions, for_places};
use crate::simd::ops::Lanes;
use crate::simd::token::{Task, Token};
use core::mem::MaybeUninit;

/// Groups in a panel: 4 KiB of outputs by vectors of 32 bytes.
pub(super) const PANEL: usize = 32;

/// Bytes of the outputs of a panel whose rows go by one at a time: what is kept, twice as much, and what was asked for, as much, are in the L1 cache then. (Beyond L3, by AVX2, GB/s of
/// panels of 4, 6, 8, 10 and 16 KiB: 64 rows of 4096 f32 26, 29, 35, 31 and 29, 21 rows of 50176 f32 25, 31, 34, 34 and 29, 64 rows of 16384 u8 26, 29, 35, 32 and 30, of 64 KiB that are read
/// at 43. By AVX-512, 8 and 32 KiB, 64 rows of 4096 f32 30 and 20. Zen 5.)
pub(super) const SWEPT_BYTES: usize = 8 << 10;

/// Bytes of the outputs of a panel where prefetchers are left alone: they go on along the rows for longer then, and eight rows of what is kept meanwhile are no more than is read. (Beyond
/// L3, AVX2, GB/s of panels of 4, 8, 16 and 32 KiB: 21 rows of 50176 f32 17, 19, 22 and 23, of u8 18, 20, 23 and 22, 1000 rows of 16384 f16 18, 20, 22 and 24; Zen 4.)
pub const WIDE_BYTES: usize = 16 << 10;

/// Room for the groups of any panel.
#[repr(C, align(64))]
pub(super) struct Room([MaybeUninit<u8>; 2 * WIDE_BYTES]);

impl Room {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Room([const { MaybeUninit::uninit() }; _])
    }

    #[inline(always)]
    pub(super) fn groups<O: Order, const U: usize>(&mut self) -> &mut [MaybeUninit<Group<O, U>>] {
        const { assert!(align_of::<Group<O, U>>() <= 64) };
        let count = size_of::<Room>() / size_of::<Group<O, U>>();
        // SAFETY: the bytes of this room are `count` groups by the division, aligned for them as asserted, and need not be initialised.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}

/// How rows go by, and what is asked for meanwhile.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// All rows of a group before the next group, if they stay in the L1 cache meanwhile: of what is near.
    Near,
    /// Some rows at a time, group by group.
    ByGroups,
    /// The same of rows that are longer than the panel: after the last ones, the first of the next panel are asked for.
    ByGroupsAcross,
    /// One row at a time, from end to end.
    Sweep,
    /// The same of rows that are longer than the panel: meanwhile, the next row of the panel is asked for, and after the last one, the first of the next panel.
    SweepAcross,
}

/// The L1 cache of most cores.
const L1_BYTES: usize = 32 << 10;

/// Some groups side by side, over the rows so far: for any number of rows, wherever they are. Each group sees eight rows, then the next group
/// does, across up to 4 KiB of outputs, or 16; then come the next rows. So memory is read in long runs, eight at a time.
///
/// Before the row numbers overflow (255 rows of 8-bit elements), they are flushed to the 32-bit positions.
pub(super) struct Panel<'a, O: Order, const U: usize> {
    order: O,
    groups: &'a mut [MaybeUninit<Group<O, U>>],
    /// Written by the first flush.
    positions: Positions<'a>,
    /// Rows since the last flush, and before it. Row numbers are counted from 1 since the last flush; 0 is no change.
    rows: u32,
    flushed: u32,
    /// Whether a NaN was found.
    has_nan: bool,
}

impl<'a, O: Order, const U: usize> Panel<'a, O, U> {
    const GROUP: usize = U * O::Simd::LANES;

    /// Before the first row. There is a group for each of the positions, and at least as many positions as one group has; of two vectors, more than one has.
    #[inline(always)]
    pub(super) fn new(order: O, groups: &'a mut [MaybeUninit<Group<O, U>>], positions: Positions<'a>) -> Self {
        let groups = &mut groups[..positions.len().div_ceil(Self::GROUP)];
        Panel { order, groups, positions, rows: 0, flushed: 0, has_nan: false }
    }

    /// The outputs of each group: of groups of two vectors, the only one may have fewer, but more than a vector. (It is a constant for those of four: 3 rows of 1000 f32 run at 0.6 of the speed
    /// otherwise. Zen 3.)
    #[inline(always)]
    fn width(&self) -> usize {
        if const { U == 2 } { Self::GROUP.min(self.positions.len()) } else { Self::GROUP }
    }

    /// The first output of a group.
    #[inline(always)]
    fn start_of(&self, group: usize) -> usize {
        (group * Self::GROUP).min(self.positions.len() - self.width())
    }

    /// How far it is from the row that comes next to the first row of the panel beside this one, in elements.
    #[inline(always)]
    fn to_next_panel(&self, stride: isize) -> isize {
        (self.positions.len() as isize).wrapping_sub(stride.wrapping_mul((self.rows + self.flushed) as isize))
    }

    /// Goes on with some rows, and asks for others that are `ahead` elements further on: of images over the first and the third axis, beyond L3,
    /// 0.5 of a read became 0.7 with 8- and 16-bit elements, and 0.6 became 0.74 with f32. (Zen 3.)
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
            // A group on its own, or before rows that stay in L1, need not make room for the next: 32 f32 over stretches of 32 rows went from 46 to
            // 58 GB/s, 56 from 42 to 50, 32 u8 over 1000 rows from 35 to 55. (Zen 3, L2.)
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

    /// The first of some rows, from end to end, unless there was a NaN. False if it was not seen, or has a NaN: then it has to be visited, or visited
    /// again, which changes nothing but what NaN changes. A loop of its own, because what a [visit](Panel::visit) takes beside its rows is more than one of
    /// them: 1000 rows of 1000 f32, beyond L3, ran at 29 GB/s without it, and at 41 with it. (Zen 5, AVX-512.)
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
            if O::HAS_NAN {
                nans = simd.or(nans, order.nans_of(&new));
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
        !O::HAS_NAN || simd.bits(nans) == 0
    }

    /// Some rows of one group.
    ///
    /// # Safety
    /// - Each row, as wide as a group, may be read; the group was written, unless these are the first rows.
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
        if !O::HAS_NAN || !self.has_nan {
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

    /// Moves the row numbers to the positions.
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

/// [`Panel::flush`] of some positions. A call, one for each width of lanes and of positions: inlined, it was 80 KB of the shared object.
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
                // No change is no change from the first row.
                position.write(if row == 0 { P::of(0) } else { number });
            } else if row != 0 {
                position.write(number);
            }
        }
    }
}
