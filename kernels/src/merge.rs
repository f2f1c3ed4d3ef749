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
use crate::order::elements::OrderFactory;
use crate::order::{ArgOrder, LaneElem, Vec};
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

/// The bytes of both sides that all passes go through before the next do. Not measured.
const BATCH_BYTES: usize = 16 << 10;

/// The most pairs in a batch: of values and indices of one byte.
const MAX_BATCH_LEN: usize = BATCH_BYTES / 4;

/// The masks of a batch: at most a byte for each pair.
#[repr(align(64))]
struct Masks([MaybeUninit<u8>; MAX_BATCH_LEN]);

/// Room for the values or the indices of a group.
#[repr(align(64))]
struct Buffer([u64; MAX_VECTOR_BYTES]);

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
            let mut side = [const { Buffer([0; MAX_VECTOR_BYTES]) }; 2];
            for (n, buffer) in side.iter_mut().enumerate() {
                // SAFETY: the caller promises as many; and as pairs are fewer than a vector has bytes, they fit.
                unsafe { from[n].cast::<u8>().copy_to_nonoverlapping(buffer.0.as_mut_ptr().cast(), bytes[n]) };
            }
            side
        };
        let (mut merged, others) = (fill(here.map(<*mut ()>::cast_const)), fill(there));
        let to = merged.each_mut().map(|buffer| buffer.0.as_mut_ptr().cast::<()>());
        // SAFETY: the buffers have room for a group of any types.
        unsafe { self.merge_groups(1, to, others.each_ref().map(|buffer| buffer.0.as_ptr().cast())) };
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

/// A group of lanes: on both sides as many vectors as a lane has bytes, unaligned; and its masks, aligned.
#[derive(Clone, Copy)]
pub(crate) struct Group<O: ArgOrder<Simd: SimdOps<u8>>> {
    here: *mut Vec<O>,
    there: *const Vec<O>,
    takes: *mut ByteMask<O>,
    worse: *mut ByteMask<O>,
}

/// A pass as a type.
pub(crate) trait PassImpl {
    /// # Safety
    /// - The group is there, and the passes before this one have written its masks.
    unsafe fn run<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, group: Group<O>);
}

/// What every [`Pass`] points to. Floats are not compared in whatever [mode](crate::float_mode) the caller is in.
///
/// # Safety
/// - The machine has the ISA of the order; and as for [`PassImpl::run`], for all groups.
#[inline(never)]
pub(crate) unsafe fn enter<P: PassImpl, F: OrderFactory<Given = ()>>(groups: Groups)
where
    F::Order: ArgOrder<Simd: ByteMaskOps<<F::Order as ArgOrder>::Lane>>,
{
    if const { <F::Order as ArgOrder>::Lane::HAS_NAN } && !float_mode::is_default() {
        // SAFETY: the caller's promise: it is the same pass.
        return float_mode::in_default(&mut || unsafe { enter::<P, F>(groups) });
    }
    // SAFETY: the caller's promise.
    unsafe { run::<P, F::Order>(F::make(()), groups) }
}

/// Goes through the groups. A function of its own, because several types share an order.
///
/// # Safety
/// - As for [`enter`].
unsafe fn run<P: PassImpl, O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, groups: Groups) {
    // There is room for the masks of a group if they are no longer than it has pairs.
    const { assert!(size_of::<ByteMask<O>>() <= size_of::<Vec<O>>()) };
    let Groups { here, there, takes, worse, len } = groups;
    // SAFETY: the caller promises all groups.
    unsafe {
        order.simd().vectorize(
            #[inline(always)]
            move || {
                for n in 0..len {
                    let first = n * size_of::<O::Lane>();
                    let (here, there) = (here.cast::<Vec<O>>().add(first), there.cast::<Vec<O>>().add(first));
                    let (takes, worse) = (takes.cast::<ByteMask<O>>().add(n), worse.cast::<ByteMask<O>>().add(n));
                    P::run(order, Group { here, there, takes, worse });
                    // Or else, where vectors are arrays, the compiler makes others: of one lane of several groups.
                    compiler_fence(Ordering::SeqCst);
                }
            },
        );
    }
}

/// By the order of the elements: better, where there will be takes; and worse.
pub(crate) struct Rank;

impl PassImpl for Rank {
    #[inline(always)]
    unsafe fn run<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, group: Group<O>) {
        // SAFETY: the caller promises the group.
        unsafe {
            let is_better = group.where_better(order);
            let is_worse = Group { here: group.there.cast_mut(), there: group.here, ..group }.where_better(order);
            // Both before either is written: for all that the compiler knows, masks might lie where values do.
            group.takes.write(is_better);
            group.worse.write(is_worse);
        }
    }
}

/// By an order of indices: takes, in place of better.
pub(crate) struct Take;

impl PassImpl for Take {
    #[inline(always)]
    unsafe fn run<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, group: Group<O>) {
        let simd = order.simd();
        // SAFETY: the caller promises the group and its masks.
        unsafe {
            let tied = SimdOps::<u8>::and_not(simd, group.where_better(order), group.worse.read());
            let wins = SimdOps::<u8>::or(simd, group.takes.read(), tied);
            let wins = SimdOps::<u8>::or(simd, wins, where_none(order, group.here));
            group.takes.write(SimdOps::<u8>::and_not(simd, wins, where_none(order, group.there)));
        }
    }
}

/// The better ones, of values or of indices, as lanes of any order of that width.
pub(crate) struct Select;

impl PassImpl for Select {
    #[inline(always)]
    unsafe fn run<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, group: Group<O>) {
        let (simd, Group { here, there, takes, .. }) = (order.simd(), group);
        for n in 0..size_of::<O::Lane>() {
            // SAFETY: the caller promises the group and its masks.
            unsafe {
                let (kept, other) = (here.add(n).read_unaligned(), there.add(n).read_unaligned());
                here.add(n).write_unaligned(SimdOps::<O::Lane>::select(simd, simd.widen(&*takes, n), other, kept));
            }
        }
    }
}

impl<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>> Group<O> {
    /// Where the other side is better.
    ///
    /// # Safety
    /// - The group may be read.
    #[inline(always)]
    unsafe fn where_better(self, order: O) -> ByteMask<O> {
        order.simd().narrow(
            #[inline(always)]
            |n| {
                // SAFETY: the caller's promise: it has as many vectors as a lane has bytes.
                let (here, there) = unsafe { (self.here.add(n).read_unaligned(), self.there.add(n).read_unaligned()) };
                order.gt_total_order(order.encode(there), order.encode(here))
            },
        )
    }
}

/// Where indices have all bits set.
///
/// # Safety
/// - They may be read: as many vectors as a lane has bytes.
#[inline(always)]
unsafe fn where_none<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>>(order: O, indices: *const Vec<O>) -> ByteMask<O> {
    const ALL_BITS: [u8; MAX_VECTOR_BYTES] = [0xff; MAX_VECTOR_BYTES];
    // SAFETY: no vector is longer, and any bits are one.
    let none = unsafe { ALL_BITS.as_ptr().cast::<Vec<O>>().read_unaligned() };
    order.simd().narrow(
        #[inline(always)]
        // SAFETY: the caller's promise.
        |n| SimdOps::<O::Lane>::compare::<EQ>(order.simd(), unsafe { indices.add(n).read_unaligned() }, none),
    )
}
