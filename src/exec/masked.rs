//! What a kernel finds of what a mask says is there: tile by tile, of several kilobytes, which the caches hold.
//!
//! ```text
//! for each tile of outputs:
//!     all of it is there:     positions, values = kernel(the input, there)
//!     nothing is:             NOTHING
//!     some is:                in place of what is not there, what never wins
//!                             positions, values = kernel(the input, under bits), if rows or columns take them
//!                             positions, values = kernel(a copy), if not
//!                             where what never wins has won: the first that is there, or NOTHING
//! ```
//!
//! What never wins is the worst number; or NaN, where that loses. If an output gets that, then all that is there is as
//! bad, and so the first of it is the answer: `argmax` of the mask.
#![allow(unsafe_code)]

use super::call::{KernelCall, ValuePlaces};
use super::input::{BoundPlan, ElementsRef, Order};
use super::presence::{Coverage, PresenceBuffer, TileLoops, TilePresence};
use super::slices::OutputSlices;
use super::tiles::{Buffer, OutputTile};
use crate::mask::MaskPlaces;
use crate::planner::{CollapsedShape, MASKED_BYTES, MAX_MASKED_OUTPUTS};
use crate::{DataType, Element, Isa, NanPolicy, ReduceFunction};
use argreduce_kernels::{
    IndexBits, InputMask, LoopDim, MaskedCopier, Strategy, WorkingSet, kernel, offset_at, with_bits, with_element_type,
};
use bytemuck::Pod;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The mask of a call, and what becomes of outputs of which nothing is there.
pub(crate) struct CallMask<'a> {
    places: MaskPlaces<'a>,
    copier: &'static MaskedCopier,
    fill: i64,
    /// The first of those outputs, by its place among the packed ones.
    first_nothing: AtomicUsize,
}

impl<'a> CallMask<'a> {
    /// What is not there is left out, by vectors of an ISA that the machine has; `fill` becomes the index of nothing.
    pub(crate) fn new(places: MaskPlaces<'a>, isa: Isa, fill: i64) -> Self {
        let copier = MaskedCopier::of(isa).unwrap_or(MaskedCopier::PORTABLE);
        CallMask { places, copier, fill, first_nothing: AtomicUsize::new(usize::MAX) }
    }

    pub(crate) fn places(&self) -> &MaskPlaces<'a> {
        &self.places
    }

    /// The first output of which nothing was there.
    pub(crate) fn first_nothing(&self) -> Option<usize> {
        let first = self.first_nothing.load(Relaxed);
        (first != usize::MAX).then_some(first)
    }

    /// Writes an output of which nothing is there: to places of the indices and of the values.
    pub(super) fn write_nothing(&self, output: usize, value: usize, slices: &mut OutputSlices<'_>) {
        slices.indices.set(output, self.fill as isize, 0, 0);
        slices.values.iter_mut().for_each(|values| values.clear(value, 1, 1));
        self.first_nothing.fetch_min(value, Relaxed);
    }
}

/// The position of an output of which nothing is there: none has so many elements.
pub(super) const NOTHING: u32 = u32::MAX;

/// What one thread finds under a mask, and its buffers.
pub(super) struct MaskedFinder<'a> {
    mask: &'a CallMask<'a>,
    elements: [MaybeUninit<u64>; MASKED_BYTES / 8],
    presence: PresenceBuffer,
}

/// The integer of an element's width.
pub(super) trait Bits: IndexBits + Pod + PartialEq {}

impl<B: IndexBits + Pod + PartialEq> Bits for B {}

impl<'a> MaskedFinder<'a> {
    /// Large: to be made in an outlined function.
    #[inline(always)]
    pub(super) fn new(mask: &'a CallMask<'a>) -> Self {
        let elements = [MaybeUninit::uninit(); MASKED_BYTES / 8];
        MaskedFinder { mask, elements, presence: PresenceBuffer::new() }
    }

    /// Answers one tile of a plan under the mask.
    ///
    /// # Safety
    /// - The tile is some of the plan's outputs, at their places in the input and the mask, at most as many as
    ///   [`max_masked_outputs`](crate::planner::ExecPlan::max_masked_outputs).
    pub(super) unsafe fn answer(&mut self, bound: &BoundPlan<'_>, tile: &OutputTile, slices: &mut OutputSlices<'_>) {
        // SAFETY: the caller's promise; an integer has the size of an element.
        with_bits!(bound.plan().element_bytes(), B => unsafe { self.answer_bits::<B>(bound, tile, slices) });
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
        let (positions, found) = unsafe { self.find(bound, plan.shape(), tile, positions, values) };
        if let Some(values) = &mut slices.values {
            // SAFETY: what was found are elements of that type, and nothing else is written.
            unsafe { values.bits::<B>() }.scatter(plan.writer(), tile.values, found);
        }
        if !positions.contains(&NOTHING) {
            return tile.write_indices(plan, positions, &mut slices.indices);
        }
        let mut is_nothing = [false; MAX_MASKED_OUTPUTS];
        for (position, is_nothing) in positions.iter_mut().zip(&mut is_nothing) {
            *is_nothing = *position == NOTHING;
            *position = if *is_nothing { 0 } else { *position };
        }
        tile.write_indices(plan, positions, &mut slices.indices);
        for n in (0..outputs).filter(|&n| is_nothing[n]) {
            self.mask.write_nothing(tile.output.place(n), tile.values.place(n), slices);
        }
    }

    /// The positions of the best elements, or [`NOTHING`]; and those elements, or bits of 0. There is a place for each.
    ///
    /// # Safety
    /// - As for [`MaskedFinder::answer`], of a shape that reaches nothing that the plan does not.
    /// - Integers have the size of elements.
    pub(super) unsafe fn find<'p, 'v, B: Bits>(
        &mut self,
        bound: &BoundPlan<'_>,
        shape: &CollapsedShape,
        tile: &OutputTile,
        positions: &'p mut [MaybeUninit<u32>],
        values: &'v mut [MaybeUninit<B>],
    ) -> (&'p mut [u32], &'v mut [B]) {
        let (input, reduced) = (bound.input(), shape.reduced_dims());
        let Some((isa, strategy, kernel)) = bound.kernel() else {
            // SAFETY: the caller's promise.
            return unsafe { self.copy_each(input, tile, positions, values) };
        };
        let are_columns = !matches!(strategy, Strategy::Rows | Strategy::SegmentedRows);
        let (loops, buffer) = (&TileLoops::of(tile, shape, are_columns), &mut self.presence);
        let presence = TilePresence { mask: &self.mask.places, copier: self.mask.copier, loops };
        let coverage = presence.coverage(buffer);
        if coverage == Coverage::Nothing {
            return (write_all(positions, NOTHING), write_all(values, B::zeroed()));
        }
        let loser = Loser::<B>::of(input.data_type(), bound.order());
        let places = Some(ValuePlaces::of_buffer(&mut *values, input.data_type()));
        // SAFETY: the tile is some of the plan's outputs, and its loops from there reach elements of the input, for
        // whose size its kernel is, as the caller promises. They visit no more than those of the plan.
        let call = unsafe { KernelCall::new(kernel, input, tile.input, reduced, bound.plan().working_set()) };
        let takes_bits = coverage == Coverage::Some && kernel.takes_masks(reduced);
        let (positions, _) = match takes_bits.then(|| presence.bits(buffer)).flatten() {
            _ if coverage == Coverage::All => call.find(positions.into(), places),
            Some((bits, first)) => {
                let of_first_bit = input.address(loops.start).wrapping_byte_sub(first * size_of::<B>());
                let mask = InputMask::new(of_first_bit, bits, (&raw const loser.bits).cast());
                // SAFETY: the kernel takes masks, and this one has a bit for each element of the tile, from the lowest
                // to the highest, with its padding; it fills with an element. All of it lives as long as the call.
                unsafe { call.under(mask) }.find(positions.into(), places)
            }
            None => {
                // SAFETY: as for the call.
                let copy = unsafe { copy_tile(input, &presence, buffer, loser.bits, &mut self.elements) };
                // SAFETY: the loops over a packed copy visit as many elements, all of which are there. Neighbours are
                // neighbours in it, so that the strategy takes its loops as it does the tile's.
                let call = unsafe { KernelCall::new(kernel, copy, loops.packed, loops.reduced(), WorkingSet::L2) };
                call.find(positions.into(), places)
            }
        };
        // SAFETY: a kernel writes every value: elements, which are integers of their size.
        let values = unsafe { &mut *(&raw mut *values as *mut [B]) };
        if coverage == Coverage::Some && values.iter().any(|&value| loser.is_like(value)) {
            let mut first = [MaybeUninit::uninit(); MAX_MASKED_OUTPUTS];
            let first = first_there(&presence, buffer, (isa, strategy), &mut first[..positions.len()]);
            let worst = values.iter_mut().zip(&mut *positions).enumerate();
            for (n, (value, position)) in worst.filter(|(_, (value, _))| loser.is_like(**value)) {
                let place = |first: u32| tile.input.place(n).wrapping_add_signed(offset_at(reduced, first as usize));
                *position = first[n];
                // SAFETY: the caller's promise: it is what an output of the plan is chosen from.
                *value = if first[n] == NOTHING { B::zeroed() } else { unsafe { input.read(place(first[n])) } };
            }
        }
        (positions, values)
    }

    /// As [`MaskedFinder::find`], with elements as they are.
    ///
    /// # Safety
    /// - As there. `T` is their type.
    pub(super) unsafe fn find_elements<'p, 'v, T: Element>(
        &mut self,
        bound: &BoundPlan<'_>,
        shape: &CollapsedShape,
        tile: &OutputTile,
        positions: &'p mut [MaybeUninit<u32>],
        values: &'v mut [MaybeUninit<T>],
    ) -> (&'p mut [u32], &'v mut [T]) {
        assert!(T::DATA_TYPE == bound.input().data_type());
        with_bits!(size_of::<T>(), B => {
            // SAFETY: as many places for integers of their size and alignment, which elements alone are written to, or
            // bits of 0, which are one.
            let bits = unsafe { &mut *(&raw mut *values as *mut [MaybeUninit<B>]) };
            // SAFETY: the caller's promise; and what was found are elements.
            unsafe {
                let (positions, found) = self.find(bound, shape, tile, positions, bits);
                (positions, &mut *(&raw mut *found as *mut [T]))
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
        for (n, (position, value)) in positions.iter_mut().zip(&mut *values).enumerate() {
            if self.mask.places.at(tile.mask.place(n)) {
                // SAFETY: the caller's promise: it is an output of the plan.
                (*position, *value) = (0, unsafe { input.read(tile.input.place(n)) });
            }
        }
        (positions, values)
    }
}

/// Of what each output is chosen from, the position of the first that is there, or [`NOTHING`].
#[inline(never)]
fn first_there<'p>(
    presence: &TilePresence<'_>,
    buffer: &mut PresenceBuffer,
    (isa, strategy): (Isa, Strategy),
    positions: &'p mut [MaybeUninit<u32>],
) -> &'p mut [u32] {
    let (TileLoops { packed, .. }, reduced) = (presence.loops, presence.loops.reduced());
    // Of lanes of another width, there may be too few outputs.
    let takes = |strategy: &Strategy| strategy.takes(packed.dims[1], reduced, isa.vector_bytes());
    let strategy = Some(strategy).filter(takes).unwrap_or(Strategy::GatheredColumns);
    let kernel = kernel::<u8>(isa, strategy, ReduceFunction::ArgMax, NanPolicy::Propagate);
    let (kernel, mut bytes) =
        (kernel.expect("those of bytes are always there"), [MaybeUninit::<u8>::uninit(); MAX_MASKED_OUTPUTS]);
    let bytes = &mut bytes[..positions.len()];
    // SAFETY: as many bytes as the tile has elements, packed as its loops say, and the kernel is for bytes.
    let call = unsafe { KernelCall::new(kernel, presence.bytes(buffer).into(), *packed, reduced, WorkingSet::L2) };
    let (positions, _) = call.find(positions.into(), Some(ValuePlaces::of_buffer(&mut *bytes, DataType::U8)));
    for (position, byte) in positions.iter_mut().zip(bytes) {
        // SAFETY: a kernel writes every value.
        *position = if unsafe { byte.assume_init() } == 0 { NOTHING } else { *position };
    }
    positions
}

/// The same in all places.
fn write_all<X: Copy>(places: &mut [MaybeUninit<X>], x: X) -> &mut [X] {
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
    buffer: &mut PresenceBuffer,
    fill: B,
    to: &'b mut [MaybeUninit<u64>],
) -> ElementsRef<'b> {
    let (len, room) = (presence.loops.len(), size_of_val(to) / size_of::<B>());
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

/// The bits of an element.
fn bits_of<T: Element, B: Bits>(element: T) -> B {
    let mut bits = B::zeroed();
    assert!(size_of::<T>() == size_of::<B>());
    // SAFETY: there is room, as asserted; elements have no padding, and all bits are an integer.
    unsafe { (&raw mut bits).cast::<T>().write_unaligned(element) };
    bits
}

/// What never wins: the worst number, or NaN where that loses.
#[derive(Clone, Copy)]
struct Loser<B> {
    bits: B,
    /// If it is NaN: all bits but the sign, and those of infinity, above which there is NaN alone.
    nan: Option<[u64; 2]>,
}

impl<B: Bits> Loser<B> {
    fn of(data_type: DataType, (function, policy): Order) -> Self {
        with_element_type!(data_type, T => match T::ANY_NAN {
            Some(_) if policy == NanPolicy::Ignore => {
                let magnitude = u64::MAX >> (65 - 8 * data_type.size());
                let infinity: B = bits_of(T::HIGHEST);
                Loser { bits: B::of(magnitude), nan: Some([magnitude, infinity.into()]) }
            }
            _ if function == ReduceFunction::ArgMax => Loser { bits: bits_of(T::LOWEST), nan: None },
            _ => Loser { bits: bits_of(T::HIGHEST), nan: None },
        })
    }

    /// Whether that might be a copy of it, or is as bad.
    #[inline(always)]
    fn is_like(&self, value: B) -> bool {
        match self.nan {
            Some([magnitude, infinity]) => value.into() & magnitude > infinity,
            None => value == self.bits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argreduce_kernels::key;

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
