//! What a kernel finds of what a mask says is there: tile by tile, of several kilobytes, which the caches hold.
//!
//! ```text
//! for each tile of outputs:
//!     all of it is there:     positions, values = kernel(the input, there)
//!     nothing is:             NOTHING
//!     some is:                in place of what is not there, what never wins
//!                             positions, values = kernel(the input, under bits), if rows or columns take them
//!                             positions, values = kernel(a copy), if not
//!                             where what never wins has won: the same by the opposite order, or NOTHING
//! ```
//!
//! What never wins is the worst number; or NaN, where that loses. If an output gets that, then all that is there is as
//! bad, and so the first of it is the answer: the best by the opposite order, by which NaN wins. Of a reduction in
//! several tiles, that is asked only if no tile has anything better.
#![allow(unsafe_code)]

use super::call::{KernelCall, ValuePlaces};
use super::input::{BoundPlan, ElementsRef, Order};
use super::presence::{Coverage, PresenceBuffer, TileLoops, TilePresence};
use super::slices::{Indices, OutputSlices, for_width};
use super::tiles::{Buffer, Grid, OutputTile};
use crate::mask::{MaskFormat, MaskPlaces};
use crate::planner::{CollapsedShape, MASKED_BYTES, MAX_MASKED_LEN, MAX_MASKED_OUTPUTS};
use crate::{DataType, Element, Index, Isa, MAX_RANK, NanPolicy, ReduceFunction};
use argreduce_kernels::{
    IndexBits, InputMask, Kernel, KeyCopier, LoopDim, MaskedCopier, Strategy, WorkingSet, kernel_of, offset_at,
    with_element_bits, with_reduced_type,
};
use bytemuck::Pod;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The mask of a call, and what becomes of outputs of which nothing is there.
pub(crate) struct CallMask<'a> {
    places: MaskPlaces<'a>,
    copier: &'static MaskedCopier,
    fill: i64,
    /// What copies elements as their keys, where they are not their own.
    keys: Option<KeyCopier>,
    /// Whether there is no mask at all.
    is_all_there: bool,
    /// The first of those outputs, by its place among the packed ones.
    first_nothing: AtomicUsize,
}

impl<'a> CallMask<'a> {
    /// What is not there is left out, by vectors of an ISA that the machine has; `fill` becomes the index of nothing.
    #[inline(always)]
    pub(crate) fn new(places: MaskPlaces<'a>, isa: Isa, fill: i64, keys: Option<KeyCopier>) -> Self {
        let copier = MaskedCopier::of(isa).unwrap_or(MaskedCopier::PORTABLE);
        CallMask { places, copier, fill, keys, is_all_there: false, first_nothing: AtomicUsize::new(usize::MAX) }
    }

    /// All is there, but elements have keys.
    pub(crate) fn of_keys(keys: KeyCopier) -> CallMask<'static> {
        let places = MaskPlaces { bytes: &[], format: MaskFormat::Bytes, start: 0, strides: [0; MAX_RANK] };
        CallMask { is_all_there: true, ..CallMask::new(places, Isa::Portable, 0, Some(keys)) }
    }

    /// What copies elements as their keys, where they are not their own.
    #[inline(always)]
    fn keys(&self) -> Option<&KeyCopier> {
        if cfg!(without = "keys") { None } else { self.keys.as_ref() }
    }

    /// The type of what is compared.
    pub(super) fn compared(&self, input: ElementsRef<'_>) -> DataType {
        self.keys().map_or(input.data_type(), KeyCopier::key_type)
    }

    pub(crate) fn places(&self) -> &MaskPlaces<'a> {
        &self.places
    }

    /// What copies with something else in place of what is not there.
    pub(super) fn copier(&self) -> &'static MaskedCopier {
        self.copier
    }

    /// The first output of which nothing was there.
    pub(crate) fn first_nothing(&self) -> Option<usize> {
        let first = self.first_nothing.load(Relaxed);
        (first != usize::MAX).then_some(first)
    }

    /// Writes the indices of those outputs of a tile of which nothing is there.
    fn write_nothing(&self, tile: &OutputTile, is_nothing: &[bool], indices: &mut Indices<'_>) {
        let [Grid { start, dims: [outer, inner] }, values] = [tile.output, tile.values];
        let mut first = usize::MAX;
        for (o, row) in is_nothing.chunks_exact(inner.size).enumerate() {
            let [to, value] =
                [(start, outer), (values.start, values.dims[0])].map(|(at, l)| at + o as isize * l.stride);
            for_width!(&mut *indices, indices => for (i, _) in row.iter().enumerate().filter(|(_, is)| **is) {
                indices.set((to + i as isize * inner.stride) as usize, Index::at(self.fill as isize, 0, 0));
                first = first.min((value + i as isize * values.dims[1].stride) as usize);
            });
        }
        self.first_nothing.fetch_min(first, Relaxed);
    }

    /// Writes an output of which nothing is there: to places of the indices and of the values.
    pub(super) fn write_one_nothing(&self, output: usize, value: usize, slices: &mut OutputSlices<'_>) {
        slices.indices.set(output, self.fill as isize, 0, 0);
        slices.values.iter_mut().for_each(|values| values.clear(value, 1, 1));
        self.first_nothing.fetch_min(value, Relaxed);
    }
}

/// The position of an output of which nothing is there: none has so many elements.
pub(super) const NOTHING: u32 = u32::MAX;

/// What one thread copies a tile to, and what it says of which elements are there. Large: to be made in an outlined
/// function.
pub(super) struct MaskBuffers {
    elements: [MaybeUninit<u64>; MASKED_BYTES / 8],
    presence: [MaybeUninit<u8>; MAX_MASKED_LEN],
}

impl MaskBuffers {
    #[inline(always)]
    pub(super) fn new() -> Self {
        MaskBuffers { elements: [MaybeUninit::uninit(); _], presence: [MaybeUninit::uninit(); _] }
    }
}

/// A kernel, and the order by which it finds.
#[derive(Clone, Copy)]
pub(super) struct OrderedKernel {
    order: Order,
    isa: Isa,
    strategy: Strategy,
    kernel: &'static Kernel,
}

impl OrderedKernel {
    /// Of a plan. `None` where each output has one element.
    pub(super) fn of(bound: &BoundPlan<'_>) -> Option<Self> {
        let (isa, strategy, kernel) = bound.kernel()?;
        Some(OrderedKernel { order: bound.order(), isa, strategy, kernel })
    }

    fn are_columns(self) -> bool {
        !matches!(self.strategy, Strategy::Rows | Strategy::SegmentedRows)
    }

    /// The one that finds, of what is all as bad as what never wins by this one, the first that is there: because that
    /// wins by the opposite order.
    pub(super) fn of_worst(self, compared: DataType) -> Self {
        let OrderedKernel { order: (function, _), isa, strategy, .. } = self;
        let (policy, is_max) = (NanPolicy::Propagate, function == ReduceFunction::ArgMax);
        let opposite = if is_max { ReduceFunction::ArgMin } else { ReduceFunction::ArgMax };
        let kernel = kernel_of(compared, isa, strategy, opposite, policy);
        OrderedKernel { order: (opposite, policy), kernel: kernel.expect("there is one of each order"), ..self }
    }
}

/// What one thread finds under a mask.
pub(super) struct MaskedFinder<'a> {
    mask: &'a CallMask<'a>,
    elements: &'a mut [MaybeUninit<u64>],
    presence: PresenceBuffer<'a>,
    /// Whether keys are told beside positions, and not positions alone.
    tells_keys: bool,
}

/// The integer of an element's width.
pub(super) trait Bits: IndexBits + Pod + PartialEq {}

impl<B: IndexBits + Pod + PartialEq> Bits for B {}

impl<'a> MaskedFinder<'a> {
    pub(super) fn new(mask: &'a CallMask<'a>, buffers: &'a mut MaskBuffers) -> Self {
        let presence = PresenceBuffer::new(&mut buffers.presence);
        MaskedFinder { mask, elements: &mut buffers.elements, presence, tells_keys: false }
    }

    /// Answers one tile of a plan under the mask.
    ///
    /// # Safety
    /// - The tile is some of the plan's outputs, at their places in the input and the mask, at most as many as
    ///   [`masked_outputs`](crate::planner::ExecPlan::masked_outputs).
    pub(super) unsafe fn answer(&mut self, bound: &BoundPlan<'_>, tile: &OutputTile, slices: &mut OutputSlices<'_>) {
        // SAFETY: the caller's promise; an integer has the size of an element.
        with_element_bits!(bound.plan().element_bytes(), B => unsafe { self.answer_bits::<B>(bound, tile, slices) });
    }

    /// As [`MaskedFinder::answer`], with elements as integers of their size.
    ///
    /// # Safety
    /// - As there.
    #[inline(never)]
    unsafe fn answer_bits<B: Bits>(&mut self, bound: &BoundPlan<'_>, tile: &OutputTile, slices: &mut OutputSlices<'_>) {
        let (plan, outputs) = (bound.plan(), tile.outputs());
        let (mut positions, mut values) =
            (Buffer::<{ MAX_MASKED_OUTPUTS / 2 }>::new(), Buffer::<MAX_MASKED_OUTPUTS>::new());
        let (positions, values) = (positions.places(outputs), values.places::<B>(outputs));
        // SAFETY: the caller's promise.
        let (positions, found) = unsafe { self.find(bound, tile, positions, values) };
        let are_elements = self.mask.keys().is_none();
        if let Some(values) = slices.values.as_mut().filter(|_| are_elements) {
            // SAFETY: what was found are elements of that type, and nothing else is written.
            unsafe { values.bits::<B>() }.scatter(plan.writer(), tile.values, found);
        }
        let mut is_nothing = [false; MAX_MASKED_OUTPUTS];
        // (By all of them, which takes less code than up to the first.)
        let has_nothing = positions.iter().fold(false, |has, &position| has | (position == NOTHING));
        if has_nothing {
            for (position, is_nothing) in positions.iter_mut().zip(&mut is_nothing) {
                *is_nothing = *position == NOTHING;
                *position = if *is_nothing { 0 } else { *position };
            }
        }
        if !are_elements {
            // SAFETY: the caller's promise; each output has an element at its position.
            unsafe { tile.read_values(bound, positions, &mut slices.values) };
        }
        tile.write_indices(plan, positions, &mut slices.indices);
        if has_nothing {
            if let Some(values) = slices.values.as_mut().filter(|_| !are_elements) {
                let of_nothing = (0..outputs).filter(|&n| is_nothing[n]);
                of_nothing.for_each(|n| values.clear(tile.values.place(n), 1, 1));
            }
            self.mask.write_nothing(tile, &is_nothing[..outputs], &mut slices.indices);
        }
    }

    /// The positions of the best elements, or [`NOTHING`]; and those elements, or bits of 0. There is a place for each.
    ///
    /// # Safety
    /// - As for [`MaskedFinder::find_by`], of a shape that is the plan's.
    unsafe fn find<'p, 'v, B: Bits>(
        &mut self,
        bound: &BoundPlan<'_>,
        tile: &OutputTile,
        positions: &'p mut [MaybeUninit<u32>],
        values: &'v mut [MaybeUninit<B>],
    ) -> (&'p mut [u32], &'v mut [B]) {
        let shape = bound.plan().shape();
        let Some(search) = OrderedKernel::of(bound) else {
            // SAFETY: the caller's promise.
            return unsafe { self.copy_each(bound.input(), tile, positions, values) };
        };
        // SAFETY: the caller's promise.
        let (positions, values, has_lost) = unsafe { self.find_by(bound, search, shape, tile, positions, values) };
        if has_lost && self.may_be_there(search, shape, tile, &|n| positions[n] == NOTHING) {
            let (mut others, mut other_values) =
                ([MaybeUninit::uninit(); MAX_MASKED_OUTPUTS], [MaybeUninit::uninit(); MAX_MASKED_OUTPUTS]);
            let others = (&mut others[..tile.outputs()], &mut other_values[..tile.outputs()]);
            let search = search.of_worst(self.mask.compared(bound.input()));
            // SAFETY: as above.
            let (others, other_values, _) = unsafe { self.find_by(bound, search, shape, tile, others.0, others.1) };
            let others = others.iter().zip(other_values);
            for ((position, value), (&other, &mut other_value)) in positions.iter_mut().zip(&mut *values).zip(others) {
                if *position == NOTHING {
                    (*position, *value) = (other, other_value);
                }
            }
        }
        (positions, values)
    }

    /// Whether of some outputs of a tile something may be there. Where nothing is, nothing need be searched again.
    pub(super) fn may_be_there(
        &self,
        search: OrderedKernel,
        shape: &CollapsedShape,
        tile: &OutputTile,
        is_asked_for: &dyn Fn(usize) -> bool,
    ) -> bool {
        if cfg!(without = "fast_masks") {
            return true;
        }
        let loops = &TileLoops::of(tile, shape, search.are_columns());
        let presence = TilePresence { mask: &self.mask.places, copier: self.mask.copier, loops };
        let there = presence.outputs(tile, shape.mask.reduced_dims(), is_asked_for);
        (0..tile.outputs()).any(|n| is_asked_for(n) && there[n / 64] >> (n % 64) & 1 != 0)
    }

    /// The positions of the best elements by an order, and those elements, or their keys; or [`NOTHING`] and bits of 0,
    /// where nothing is there, or it is all as bad as what never wins. Whether there may be any of the latter. There is
    /// a place for each.
    ///
    /// # Safety
    /// - As for [`MaskedFinder::answer`], of a shape that reaches nothing that the plan does not.
    /// - Integers have the size of elements.
    unsafe fn find_by<'p, 'v, B: Bits>(
        &mut self,
        bound: &BoundPlan<'_>,
        search: OrderedKernel,
        shape: &CollapsedShape,
        tile: &OutputTile,
        positions: &'p mut [MaybeUninit<u32>],
        values: &'v mut [MaybeUninit<B>],
    ) -> (&'p mut [u32], &'v mut [B], bool) {
        let OrderedKernel { order, kernel, .. } = search;
        let (input, reduced) = (bound.input(), shape.reduced_dims());
        let (loops, buffer) = (&TileLoops::of(tile, shape, search.are_columns()), &mut self.presence);
        let presence = TilePresence { mask: &self.mask.places, copier: self.mask.copier, loops };
        let coverage = if self.mask.is_all_there { Coverage::All } else { presence.coverage(buffer) };
        if coverage == Coverage::Nothing {
            return (write_all(positions, NOTHING), write_all(values, B::zeroed()), false);
        }
        let (compared, keys) = (self.mask.compared(input), self.mask.keys());
        let loser = Loser::<B>::of(compared, order);
        let places = Some(ValuePlaces::of_buffer(&mut *values, compared));
        // SAFETY: the tile is some of the plan's outputs, and its loops from there reach elements of the input, for
        // whose size its kernel is, as the caller promises. They visit no more than those of the plan.
        let call = unsafe { KernelCall::new(kernel, input, tile.input, reduced, bound.plan().working_set()) };
        let in_place = bound.distance_kernel(compared).filter(|kernel| {
            coverage == Coverage::All && order == bound.order() && kernel.takes(reduced) && keys.is_some()
        });
        if let (Some(kernel), Some(keys)) = (in_place, keys) {
            // SAFETY: the plan has it for the input's type.
            let positions = unsafe { call.find_by_distance(kernel, keys.bits(), positions) };
            let values = write_all(values, B::zeroed());
            if self.tells_keys {
                // SAFETY: each output has an element at its position.
                unsafe { read_keys(input, keys, (tile, reduced), positions, values) };
            }
            return (positions, values, false);
        }
        let takes_bits = coverage == Coverage::Some && keys.is_none() && kernel.takes_masks(reduced);
        let bits = if takes_bits { presence.bits(buffer, bound.plan().is_masked_in_place()) } else { None };
        let (positions, _) = match bits {
            _ if coverage == Coverage::All && keys.is_none() => call.find(positions.into(), places),
            Some((bits, first)) => {
                let of_first_bit = input.address(loops.start).wrapping_byte_sub(first * size_of::<B>());
                let mask = InputMask::new(of_first_bit, bits, (&raw const loser.bits).cast());
                // SAFETY: the kernel takes masks, and this one has a bit for each element of the tile, from the lowest
                // to the highest, with its padding; it fills with an element. All of it lives as long as the call.
                unsafe { call.under(mask) }.find(positions.into(), places)
            }
            None => {
                // SAFETY: as for the call.
                let copy = unsafe {
                    match keys {
                        None => copy_tile(input, &presence, buffer, loser.bits, self.elements),
                        Some(keys) => {
                            let mask = (coverage == Coverage::Some).then_some((&presence, buffer, loser.bits));
                            copy_keys(input, loops, keys, mask, self.elements)
                        }
                    }
                };
                // SAFETY: the loops over a packed copy visit as many elements, all of which are there. Neighbours are
                // neighbours in it, so that the strategy takes its loops as it does the tile's.
                let call = unsafe { KernelCall::new(kernel, copy, loops.packed, loops.reduced(), WorkingSet::L2) };
                call.find(positions.into(), places)
            }
        };
        // SAFETY: a kernel writes every value: elements, which are integers of their size.
        let values = unsafe { &mut *(&raw mut *values as *mut [B]) };
        let has_lost = coverage == Coverage::Some && values.iter().any(|&value| loser.is_like(value));
        if has_lost {
            for (value, position) in values.iter_mut().zip(&mut *positions) {
                let is_like = loser.is_like(*value);
                *position = if is_like { NOTHING } else { *position };
                *value = if is_like { B::zeroed() } else { *value };
            }
        }
        (positions, values, has_lost)
    }

    /// As [`MaskedFinder::find_by`], with elements as they are, or their keys.
    ///
    /// # Safety
    /// - As there. `T` is their type.
    pub(super) unsafe fn find_elements<'p, 'v, T: Element>(
        &mut self,
        bound: &BoundPlan<'_>,
        search: OrderedKernel,
        shape: &CollapsedShape,
        tile: &OutputTile,
        positions: &'p mut [MaybeUninit<u32>],
        values: &'v mut [MaybeUninit<T>],
    ) -> (&'p mut [u32], &'v mut [T], bool) {
        assert!(T::DATA_TYPE == self.mask.compared(bound.input()));
        self.tells_keys = true;
        with_element_bits!(size_of::<T>(), B => {
            // SAFETY: as many places for integers of their size and alignment, which elements alone are written to, or
            // bits of 0, which are one.
            let bits = unsafe { &mut *(&raw mut *values as *mut [MaybeUninit<B>]) };
            // SAFETY: the caller's promise; and what was found are elements.
            unsafe {
                let (positions, found, has_lost) = self.find_by(bound, search, shape, tile, positions, bits);
                (positions, &mut *(&raw mut *found as *mut [T]), has_lost)
            }
        })
    }

    /// As [`MaskedFinder::find`], of outputs of one element each.
    ///
    /// # Safety
    /// - As there.
    unsafe fn copy_each<'p, 'v, B: Bits>(
        &self,
        input: ElementsRef<'_>,
        tile: &OutputTile,
        positions: &'p mut [MaybeUninit<u32>],
        values: &'v mut [MaybeUninit<B>],
    ) -> (&'p mut [u32], &'v mut [B]) {
        let (positions, values) = (write_all(positions, NOTHING), write_all(values, B::zeroed()));
        let of_mask = tile.mask.expect("under a mask");
        for (n, (position, value)) in positions.iter_mut().zip(&mut *values).enumerate() {
            if self.mask.places.at(of_mask.place(n)) {
                // SAFETY: the caller's promise: it is an output of the plan.
                (*position, *value) = (0, unsafe { input.read(tile.input.place(n)) });
            }
        }
        (positions, values)
    }
}

/// The same in all places.
pub(super) fn write_all<X: Copy>(places: &mut [MaybeUninit<X>], x: X) -> &mut [X] {
    places.fill(MaybeUninit::new(x));
    // SAFETY: all of them were written just now.
    unsafe { &mut *(&raw mut *places as *mut [X]) }
}

/// Copies a tile of the input, packed in the order of memory, with `fill`, which is an element, in place of what is not
/// there.
///
/// # Safety
/// - The input has the elements of the tile; of a view, its layout reaches them.
unsafe fn copy_tile<'b, B: Bits>(
    input: ElementsRef<'_>,
    presence: &TilePresence<'_>,
    buffer: &mut PresenceBuffer<'_>,
    fill: B,
    to: &'b mut [MaybeUninit<u64>],
) -> ElementsRef<'b> {
    let (len, room) = (presence.loops.len, size_of_val(to) / size_of::<B>());
    // SAFETY: places that need not be initialised, of integers no longer and no more aligned.
    let to = unsafe { &mut std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<MaybeUninit<B>>(), room)[..len] };
    let mut written = 0;
    presence.for_each_run(buffer, |offset, LoopDim { size, stride }, of_run| {
        let from = input.address(presence.loops.start + offset).cast::<B>();
        // SAFETY: the caller's promise: a run of the tile, one of the loops that visit its elements.
        unsafe { presence.copier.copy(from, stride, of_run, fill, &mut to[written..][..size]) };
        written += size;
    });
    assert!(written == len);
    // SAFETY: the runs are all of the tile, as many elements as `to` has, and each was written: with elements.
    unsafe { ElementsRef::of_bits(&*(&raw const *to as *const [B]), input.data_type()) }
}

/// The keys of the elements at the positions of some outputs, whose reduced loops these are.
///
/// # Safety
/// - Each output has an element at its position, for whose type the keys are. Integers have its size.
#[inline(never)]
unsafe fn read_keys<B: Bits>(
    input: ElementsRef<'_>,
    keys: &KeyCopier,
    (tile, reduced): (&OutputTile, &[LoopDim]),
    positions: &[u32],
    values: &mut [B],
) {
    for (n, (value, &position)) in values.iter_mut().zip(positions).enumerate() {
        let place = tile.input.place(n).wrapping_add_signed(offset_at(reduced, position as usize));
        // SAFETY: the caller's promise.
        *value = unsafe { input.read(place) };
    }
    let (run, to) = (LoopDim { size: values.len(), stride: 1 }, values.as_mut_ptr().cast());
    // SAFETY: these are elements, which become their keys.
    unsafe { keys.copy(to, &[], run, to) };
}

/// Copies a tile of the input as keys, packed in the order of memory; under a mask, with what it fills with, which is a
/// key, in place of those that are not there.
///
/// # Safety
/// - As for [`copy_tile`]. The keys are those of the elements' type.
#[inline(never)]
unsafe fn copy_keys<'b, B: Bits>(
    input: ElementsRef<'_>,
    loops: &TileLoops,
    keys: &KeyCopier,
    mask: Option<(&TilePresence<'_>, &mut PresenceBuffer<'_>, B)>,
    to: &'b mut [MaybeUninit<u64>],
) -> ElementsRef<'b> {
    assert!(loops.len <= size_of_val(to) / size_of::<B>());
    let (slower, run) = loops.of_input();
    let copy = to.as_mut_ptr().cast::<B>();
    // SAFETY: the caller's promise: the loops visit the elements of the tile, `len` of them. There is room for as many,
    // and then each is written.
    let copy = unsafe {
        keys.copy(input.address(loops.start), slower, run, copy.cast());
        std::slice::from_raw_parts_mut(copy, loops.len)
    };
    if let Some((presence, buffer, fill)) = mask {
        let mut written = 0;
        presence.for_each_run(buffer, |_, LoopDim { size, .. }, of_run| {
            presence.copier.fill(of_run, fill, &mut copy[written..][..size]);
            written += size;
        });
    }
    // SAFETY: keys have that type and size.
    unsafe { ElementsRef::of_bits(copy, keys.key_type()) }
}

/// The bits of an element.
fn bits_of<T: Element, B: Bits>(element: T) -> B {
    let mut bits = B::zeroed();
    assert!(size_of::<T>() == size_of::<B>());
    // SAFETY: there is room, as asserted; elements have no padding, and all bits are an integer.
    unsafe { (&raw mut bits).cast::<T>().write_unaligned(element) };
    bits
}

/// What nothing is worse than: a number, or NaN where that loses.
pub(super) fn worst<T: Element>((function, policy): Order) -> T {
    match T::ANY_NAN {
        Some(nan) if policy == NanPolicy::Ignore => nan,
        _ if function == ReduceFunction::ArgMax => T::LOWEST,
        _ => T::HIGHEST,
    }
}

/// What never wins: the worst number, or NaN where that loses.
#[derive(Clone, Copy)]
pub(super) struct Loser<B> {
    pub(super) bits: B,
    /// If it is NaN: all bits but the sign, and those of infinity, above which there is NaN alone.
    nan: Option<[u64; 2]>,
}

impl<B: Bits> Loser<B> {
    pub(super) fn of(data_type: DataType, order: Order) -> Self {
        with_reduced_type!(data_type, T => {
            let above_infinity = || {
                let infinity: B = bits_of(T::HIGHEST);
                [u64::MAX >> (65 - 8 * data_type.size()), infinity.into()]
            };
            let is_nan = T::ANY_NAN.is_some() && order.1 == NanPolicy::Ignore;
            Loser { bits: bits_of(worst::<T>(order)), nan: is_nan.then(above_infinity) }
        })
    }

    /// Whether that might be a copy of it, or is as bad.
    #[inline(always)]
    pub(super) fn is_like(&self, value: B) -> bool {
        match self.nan {
            Some([magnitude, infinity]) => value.into() & magnitude > infinity,
            None => value == self.bits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArgReduce, Executor, Layout, Mask, input};
    use argreduce_kernels::{key, with_bits, with_element_type};

    struct Several;

    impl Executor for Several {
        fn width(&self) -> usize {
            7
        }

        fn min_task_bytes(&self) -> usize {
            1
        }

        fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            (0..tasks).rev().for_each(task);
        }
    }

    /// Columns that are read in place, cut or not, beside each other or not, and those that have no room for bits; and
    /// rows of several tiles. Of some, all that is there is as bad, in one tile or in several, or nothing is.
    #[test]
    fn tiles_under_masks() {
        for (sizes, axis) in [([400, 300], 0), ([97, 1000], 0), ([250, 257], 0), ([66, 4100], 0), ([3, 40_000], 1)] {
            let [rows, columns] = sizes;
            let data: Vec<u8> = (0..rows * columns).map(|n| (n * n % 251 % 3) as u8).collect();
            for one_of in [2, 40, 3000] {
                let there: Vec<bool> = (0..data.len()).map(|n| n * 7919 % one_of == 0 && n % 11 > 0).collect();
                let bits = |offset: usize| -> Vec<u8> {
                    let shifted: Vec<bool> = vec![true; offset].into_iter().chain(there.iter().copied()).collect();
                    shifted.chunks(8).map(|b| b.iter().rev().fold(0, |byte, &b| byte << 1 | u8::from(b))).collect()
                };
                let best = |o: usize| {
                    let places = |n: usize| if axis == 0 { n * columns + o } else { o * columns + n };
                    let found = (0..sizes[axis]).filter(|&n| there[places(n)]);
                    found.rev().max_by_key(|&n| data[places(n)]).map_or(-1, |n| n as i64)
                };
                let expected: Vec<i64> = (0..sizes[1 - axis]).map(best).collect();
                let bits = [bits(0), bits(3)];
                for isa in Isa::available() {
                    let layout = Layout::contiguous(&sizes).unwrap();
                    let plan = ArgReduce::argmax(&layout).axes(&[axis as isize]).fill(-1).isa(isa);
                    let plan = plan.plan::<u8, i64>().unwrap();
                    for mask in [Mask::bools(&there), Mask::bits(&bits[0], 0), Mask::bits(&bits[1], 3)] {
                        let x = input(&data).masked(mask);
                        assert_eq!(plan.collect::<Vec<i64>>(x).unwrap(), expected, "{plan}, 1 of {one_of}");
                        assert_eq!(
                            plan.collect::<Vec<i64>>(x.on(&Several)).unwrap(),
                            expected,
                            "{plan}, 1 of {one_of}"
                        );
                    }
                }
            }
        }
    }

    /// Of no type is anything worse than what never wins, which all that looks like it ties with.
    #[test]
    fn nothing_is_worse() {
        fn check<T: Element, B: Bits>(order @ (function, policy): Order) {
            let loser = Loser::<B>::of(T::DATA_TYPE, order);
            // Any bits are an element, but of a `bool`: all of short ones, and those about the ends of long ones.
            let width = 8 * size_of::<B>() as u32;
            let ends = (0..width).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, u64::MAX << bit]);
            let last = if T::DATA_TYPE == DataType::Bool { 1 } else { u64::MAX >> (64 - width) };
            let all = (0..=u64::from(u16::MAX)).chain(ends).map(|bits| bits & (u64::MAX >> (64 - width)));
            let element = |bits: B| {
                // SAFETY: any bits of that size are one, as above.
                unsafe { (&raw const bits).cast::<T>().read_unaligned() }
            };
            let worst = key(function, policy, element(loser.bits));
            for bits in all.filter(|&bits| bits <= last).map(B::of) {
                let found = key(function, policy, element(bits));
                assert!(found >= worst, "{} {order:?}: {:?}", T::DATA_TYPE, element(bits));
                assert!(found != worst || loser.is_like(bits), "{} {order:?}: {:?}", T::DATA_TYPE, element(bits));
            }
        }
        for data_type in DataType::ALL {
            for order in
                ReduceFunction::ALL.into_iter().flat_map(|function| NanPolicy::ALL.map(|policy| (function, policy)))
            {
                with_element_type!(data_type, T => with_bits!(size_of::<T>(), B => check::<T, B>(order)));
            }
        }
    }
}
