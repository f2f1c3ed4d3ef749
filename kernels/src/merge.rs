//! Merging partial answers, each a value and an index: of two, the better one, without a branch that depends on data.
//! Knows nothing of where they came from, and of what indices mean.
//!
//! ```text
//! for each batch of pairs that the L1 cache holds:
//!     better, worse = the other value is better; is worse                  by the order of the elements
//!     before        = the other index is smaller; or larger, for the last of equals
//!     takes         = (better, or not worse and before, or there is nothing here) and something there
//!     values        = select(takes, other values, values)
//!     indices       = select(takes, other indices, indices)
//! ```
//!
//! An index with all bits set says that nothing was seen; the value beside it does not count.
//!
//! Four passes go through a batch, each with lanes of one width: that of values, or that of indices. From one to the
//! next go masks of bytes, a byte for each pair ([`ByteMaskOps`]). So vectors are full whatever the two widths are, and
//! there is a loop for each width, not for each two. Passes go by groups: as many pairs as a vector has bytes. What is
//! left, less than a group, is merged in a buffer.
//!
//! No order here has NaN as the worst of all: then it is the best by the reverse order, which is that of the other
//! function, with the sides exchanged.

use crate::float_mode;
use crate::kernel::compares_floats;
use crate::order::elements::OrderFactory;
use crate::order::{ArgOrder, Vec};
use crate::simd::ops::{ByteMaskOps, EQ, SimdOps};
use crate::simd::partial_load::MAX_VECTOR_BYTES;
use crate::simd::token::Simd;
use core::mem::MaybeUninit;
use core::sync::atomic::{Ordering, compiler_fence};

/// Merges partial answers by the vectors of an ISA: [`merger`](crate::merger) makes one, for elements and indices of
/// some types, and an order.
#[derive(Clone, Copy, Debug)]
pub struct Merger {
    pub(crate) rank: Pass,
    /// Whether to rank with the sides exchanged.
    pub(crate) is_reversed: bool,
    pub(crate) take: Pass,
    pub(crate) select_values: Pass,
    pub(crate) select_indices: Pass,
    /// The bytes of a value and of an index.
    pub(crate) sizes: [usize; 2],
    /// How many pairs are a group.
    pub(crate) group_len: usize,
}

/// One of the passes.
pub(crate) type Pass = unsafe fn(groups: Groups);

/// Some groups: the values or the indices of both sides, and masks for each group.
#[derive(Clone, Copy)]
pub(crate) struct Groups {
    here: *mut (),
    there: *const (),
    /// Where the other value is better; then, where the other pair is taken.
    takes: *mut (),
    /// Where the other value is worse.
    worse: *mut (),
    len: usize,
}

/// The bytes of both sides that all passes go through before the next do. See docs/tuning.md#not-measured.
const BATCH_BYTES: usize = 16 << 10;

/// The most pairs in a batch: of values and indices of one byte.
const MAX_BATCH_LEN: usize = BATCH_BYTES / 4;

/// The masks of a batch: at most a byte for each pair.
#[repr(align(64))]
struct Masks([MaybeUninit<u8>; MAX_BATCH_LEN]);

/// The values or the indices of a group.
#[repr(align(64))]
struct Group([u64; MAX_VECTOR_BYTES]);

impl Merger {
    /// Makes each of `len` pairs the better of itself and its counterpart. A side is its values and its indices.
    ///
    /// # Safety
    /// - The values and the indices are of the types that the merger was made for, or of others as large and as aligned
    ///   that take their bits. There are `len` of each; those of `there` are not written meanwhile, those of `here` not
    ///   used by anybody else.
    #[inline(never)]
    pub unsafe fn merge(&self, len: usize, here: [*mut (); 2], there: [*const (); 2]) {
        let [value_bytes, index_bytes] = self.sizes;
        let batch_len = BATCH_BYTES / 2 / (value_bytes + index_bytes) / MAX_VECTOR_BYTES * MAX_VECTOR_BYTES;
        let from = |first: usize| {
            let bytes = self.sizes.map(|size| first * size);
            ([0, 1].map(|n| here[n].wrapping_byte_add(bytes[n])), [0, 1].map(|n| there[n].wrapping_byte_add(bytes[n])))
        };
        let whole = len - len % self.group_len;
        for first in (0..whole).step_by(batch_len) {
            let (here, there) = from(first);
            // SAFETY: there are as many pairs from the first on, as the caller promises.
            unsafe { self.merge_groups(batch_len.min(whole - first) / self.group_len, here, there) };
        }
        if whole < len {
            let (here, there) = from(whole);
            // SAFETY: as above.
            unsafe { self.merge_last(len - whole, here, there) };
        }
    }

    /// Less than a group.
    ///
    /// # Safety
    /// - As for [`Merger::merge`].
    unsafe fn merge_last(&self, len: usize, here: [*mut (); 2], there: [*const (); 2]) {
        let bytes = self.sizes.map(|size| len * size);
        let fill = |from: [*const (); 2]| {
            // Zeros are values of any type.
            let mut side = [const { Group([0; MAX_VECTOR_BYTES]) }; 2];
            for (n, group) in side.iter_mut().enumerate() {
                // SAFETY: the caller promises as many; and as pairs are fewer than a vector has bytes, they fit.
                unsafe { from[n].cast::<u8>().copy_to_nonoverlapping(group.0.as_mut_ptr().cast(), bytes[n]) };
            }
            side
        };
        let (mut merged, others) = (fill(here.map(<*mut ()>::cast_const)), fill(there));
        let to = merged.each_mut().map(|group| group.0.as_mut_ptr().cast::<()>());
        // SAFETY: the buffers have room for a group of any types.
        unsafe { self.merge_groups(1, to, others.each_ref().map(|group| group.0.as_ptr().cast())) };
        for n in 0..2 {
            // SAFETY: as many came from there.
            unsafe { here[n].cast::<u8>().copy_from_nonoverlapping(to[n].cast(), bytes[n]) };
        }
    }

    /// At most as many groups as make a batch.
    ///
    /// # Safety
    /// - As for [`Merger::merge`].
    unsafe fn merge_groups(&self, len: usize, here: [*mut (); 2], there: [*const (); 2]) {
        let mut masks = [const { Masks([MaybeUninit::uninit(); MAX_BATCH_LEN]) }; 2];
        let [takes, worse] = masks.each_mut().map(|masks| masks.0.as_mut_ptr().cast());
        let [values, indices] = [0, 1].map(|n| Groups { here: here[n], there: there[n], takes, worse, len });
        let exchanged = Groups { here: values.there.cast_mut(), there: values.here, ..values };
        // SAFETY: `merger` gives passes of an ISA that is there; the groups are there, as the caller promises, and so
        // is room for their masks, which each pass finds written by the one before it. Ranking writes masks alone.
        unsafe {
            (self.rank)(if self.is_reversed { exchanged } else { values });
            (self.take)(indices);
            (self.select_values)(values);
            (self.select_indices)(indices);
        }
    }
}

type ByteMask<O> = <<O as ArgOrder>::Simd as SimdOps<u8>>::Mask;

impl Groups {
    #[inline(always)]
    fn for_each(self, pass: impl Fn(usize)) {
        for n in 0..self.len {
            pass(n);
            // Or else, where vectors are arrays, the compiler makes others: of the same lane of several groups.
            compiler_fence(Ordering::SeqCst);
        }
    }

    /// The vectors of group `n` of both sides: as many as a lane has bytes, unaligned.
    ///
    /// # Safety
    /// - There is such a group, of lanes of that width.
    #[inline(always)]
    unsafe fn vectors<O: ArgOrder>(self, n: usize) -> (*mut Vec<O>, *const Vec<O>) {
        let first = n * size_of::<O::Lane>();
        // SAFETY: the caller's promise.
        unsafe { (self.here.cast::<Vec<O>>().add(first), self.there.cast::<Vec<O>>().add(first)) }
    }

    /// The masks of group `n`: those that say `takes`, and `worse`. They are aligned.
    ///
    /// # Safety
    /// - As for [`Groups::vectors`].
    #[inline(always)]
    unsafe fn masks<M>(self, n: usize) -> (*mut M, *mut M) {
        // SAFETY: the caller's promise.
        unsafe { (self.takes.cast::<M>().add(n), self.worse.cast::<M>().add(n)) }
    }
}

/// The first pass, by the order of the elements: better, worse. Where floats are compared, not in whatever
/// [mode](crate::float_mode) the caller is in.
///
/// # Safety
/// - The machine has the ISA. The groups are there, and room for their masks.
#[inline(never)]
pub(crate) unsafe fn rank<F: OrderFactory>(groups: Groups)
where
    <F::Order as ArgOrder>::Simd: ByteMaskOps<<F::Order as ArgOrder>::Lane>,
{
    if const { compares_floats::<F>() } && !float_mode::is_default() {
        // SAFETY: the caller's promise: it is the same pass.
        return float_mode::in_default(&mut || unsafe { rank::<F>(groups) });
    }
    // SAFETY: the caller's promise.
    unsafe { rank_by(F::make(), groups) }
}

/// A function of its own, because orders of several types are one.
///
/// # Safety
/// - As for [`rank`].
unsafe fn rank_by<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, groups: Groups) {
    // SAFETY: the caller's promise.
    unsafe {
        order.simd().vectorize(
            #[inline(always)]
            move || {
                groups.for_each(
                    #[inline(always)]
                    |n| rank_group(order, groups, n),
                )
            },
        );
    }
}

/// # Safety
/// - There is group `n`, and room for its masks.
#[inline(always)]
unsafe fn rank_group<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, groups: Groups, n: usize) {
    // SAFETY: the caller's promise; a group has as many vectors as lanes have bytes.
    unsafe {
        let (here, there) = groups.vectors::<O>(n);
        let (better, worse) = groups.masks::<ByteMask<O>>(n);
        // Both before either is written: for all that the compiler knows, masks might lie where values do.
        let is_better = order.simd().narrow(
            #[inline(always)]
            |n| order.gt_total_order(key(order, there, n), key(order, here, n)),
        );
        let is_worse = order.simd().narrow(
            #[inline(always)]
            |n| order.gt_total_order(key(order, here, n), key(order, there, n)),
        );
        better.write(is_better);
        worse.write(is_worse);
    }
}

/// The second pass, by an order of indices: takes, in place of better.
///
/// # Safety
/// - As for [`rank`], and the masks are written.
pub(crate) unsafe fn take<F: OrderFactory>(groups: Groups)
where
    F::Order: ArgOrder<Lane: From<i8>>,
    <F::Order as ArgOrder>::Simd: ByteMaskOps<<F::Order as ArgOrder>::Lane>,
{
    // SAFETY: the caller's promise.
    unsafe { take_by(F::make(), groups) }
}

/// # Safety
/// - As for [`take`].
unsafe fn take_by<O: ArgOrder<Lane: From<i8>, Simd: ByteMaskOps<O::Lane>>>(order: O, groups: Groups) {
    // SAFETY: the caller's promise.
    unsafe {
        order.simd().vectorize(
            #[inline(always)]
            move || {
                groups.for_each(
                    #[inline(always)]
                    |n| take_group(order, groups, n),
                )
            },
        );
    }
}

/// # Safety
/// - There is group `n`, and its masks are written.
#[inline(always)]
unsafe fn take_group<O: ArgOrder<Lane: From<i8>, Simd: ByteMaskOps<O::Lane>>>(order: O, groups: Groups, n: usize) {
    let simd = order.simd();
    // SAFETY: the caller's promise; a group has as many vectors as lanes have bytes.
    unsafe {
        let (here, there) = groups.vectors::<O>(n);
        let (takes, worse) = groups.masks::<ByteMask<O>>(n);
        let before = simd.narrow(
            #[inline(always)]
            |n| order.gt(key(order, there, n), key(order, here, n)),
        );
        let tied = SimdOps::<u8>::and_not(simd, before, worse.read());
        let wins = SimdOps::<u8>::or(simd, SimdOps::<u8>::or(simd, takes.read(), tied), none(order, here));
        takes.write(SimdOps::<u8>::and_not(simd, wins, none(order, there)));
    }
}

/// Vector `n`, as lanes that compare.
///
/// # Safety
/// - It may be read.
#[inline(always)]
unsafe fn key<O: ArgOrder>(order: O, at: *const Vec<O>, n: usize) -> Vec<O> {
    // SAFETY: the caller's promise.
    order.encode(unsafe { at.add(n).read_unaligned() })
}

/// Where indices have all bits set.
///
/// # Safety
/// - A group may be read.
#[inline(always)]
unsafe fn none<O: ArgOrder<Lane: From<i8>, Simd: ByteMaskOps<O::Lane>>>(order: O, at: *const Vec<O>) -> ByteMask<O> {
    let all_bits = SimdOps::<O::Lane>::splat(order.simd(), (-1).into());
    order.simd().narrow(
        #[inline(always)]
        // SAFETY: the caller's promise: it has as many vectors as a lane has bytes.
        |n| SimdOps::<O::Lane>::compare::<EQ>(order.simd(), unsafe { at.add(n).read_unaligned() }, all_bits),
    )
}

/// The last two passes, of values and of indices, as lanes of any order of that width.
///
/// # Safety
/// - As for [`take`].
pub(crate) unsafe fn select<F: OrderFactory>(groups: Groups)
where
    <F::Order as ArgOrder>::Simd: ByteMaskOps<<F::Order as ArgOrder>::Lane>,
{
    // SAFETY: the caller's promise.
    unsafe { select_lanes(F::make(), groups) }
}

/// # Safety
/// - As for [`select`].
unsafe fn select_lanes<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, groups: Groups) {
    // SAFETY: the caller's promise.
    unsafe {
        order.simd().vectorize(
            #[inline(always)]
            move || {
                groups.for_each(
                    #[inline(always)]
                    |n| select_group(order, groups, n),
                )
            },
        );
    }
}

/// # Safety
/// - As for [`take_group`].
#[inline(always)]
unsafe fn select_group<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, groups: Groups, n: usize) {
    let simd = order.simd();
    // SAFETY: the caller's promise; a group has as many vectors as lanes have bytes.
    unsafe {
        let (here, there) = groups.vectors::<O>(n);
        let (takes, _) = groups.masks::<ByteMask<O>>(n);
        for n in 0..size_of::<O::Lane>() {
            let (kept, other) = (here.add(n).read_unaligned(), there.add(n).read_unaligned());
            here.add(n).write_unaligned(SimdOps::<O::Lane>::select(simd, simd.widen(&*takes, n), other, kept));
        }
    }
}
