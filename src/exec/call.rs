//! The three calls of kernels: each at a single call site. Of the two files with unsafe code, the one that calls.
#![allow(unsafe_code)]

use super::elements::{Bits, ElementsRef, Order, Values};
use super::slices::{Indices, for_width};
use crate::Isa;
use crate::planner::MAX_REDUCTION_LEN;
use argreduce_kernels::{Kernel, KernelArgs, LoopDim, Outputs, Positions, Tuning, WorkingSet, merger, with_bits};
use std::mem::MaybeUninit;

/// The position of the first best of neighbours, of which there are at most [`MAX_REDUCTION_LEN`].
#[inline(always)]
pub(super) fn find_in_row<T>(kernel: Kernel, elements: &[T]) -> u32 {
    assert!(!elements.is_empty() && elements.len() <= MAX_REDUCTION_LEN);
    // SAFETY: the ISA as in `find`; the elements are those of a slice, and as many as the assertion says.
    unsafe { kernel.of_row(elements.as_ptr().cast(), elements.len(), Tuning::current()) }
}

/// Places that a kernel writes to: those of a caller, or a buffer, which need not be initialised.
pub(super) struct Places<'a, X>(&'a mut [MaybeUninit<X>]);

impl<'a, X> From<&'a mut [MaybeUninit<X>]> for Places<'a, X> {
    #[inline(always)]
    fn from(buffer: &'a mut [MaybeUninit<X>]) -> Self {
        Places(buffer)
    }
}

impl<'a, X> From<&'a mut [X]> for Places<'a, X> {
    #[inline(always)]
    fn from(places: &'a mut [X]) -> Self {
        // SAFETY: the same memory. Nobody makes it uninitialised: only kernels write to places, and not until they know
        // what.
        Places(unsafe { &mut *(&raw mut *places as *mut [MaybeUninit<X>]) })
    }
}

/// Places for values, which need not be initialised either.
pub(super) struct ValuePlaces<'a>(Values<'a>);

impl<'a> From<Values<'a>> for ValuePlaces<'a> {
    #[inline(always)]
    fn from(values: Values<'a>) -> Self {
        ValuePlaces(values)
    }
}

impl<'a, B: Copy> From<&'a mut [MaybeUninit<Bits<B>>]> for ValuePlaces<'a> {
    #[inline(always)]
    fn from(buffer: &'a mut [MaybeUninit<Bits<B>>]) -> Self {
        // SAFETY: they are read as places alone, until a kernel has written all of them.
        ValuePlaces(unsafe { Values::of_places(buffer) })
    }
}

/// What a kernel is called with, beside its outputs.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) kernel: Kernel,
    /// The first element of the first output.
    pub(super) input: *const (),
    /// The two loops over the outputs, and those over the elements of each.
    pub(super) outputs: [LoopDim; 2],
    pub(super) reduced: &'a [LoopDim],
    pub(super) working_set: WorkingSet,
}

impl Call<'_> {
    /// The positions of the best elements, in a buffer that has a place for each.
    #[inline(always)]
    pub(super) fn find_positions(self, buffer: &mut [MaybeUninit<u32>]) -> &mut [u32] {
        self.find(Places::from(buffer), None).0
    }

    /// The positions of the best elements, and if there are places for them, those elements themselves: there is a
    /// place for each, as large as the elements.
    #[inline(always)]
    pub(super) fn find<'p, 'v, P>(
        self,
        Places(positions): Places<'p, P>,
        values: Option<ValuePlaces<'v>>,
    ) -> (&'p mut [P], Option<Values<'v>>)
    where
        for<'a> Positions<'a>: From<&'a mut [MaybeUninit<P>]>,
    {
        let places = Positions::from(&mut *positions);
        let values = match values {
            Some(ValuePlaces(mut values)) => {
                with_bits!(values.size(), B => self.run(Outputs::with_values(places, values.places::<B>())));
                Some(values)
            }
            None => {
                self.run(places.into());
                None
            }
        };
        // SAFETY: a kernel writes every position, and every value, as `Kernel` says; the kernels' tests check it over
        // memory that held others.
        (unsafe { &mut *(&raw mut *positions as *mut [P]) }, values)
    }

    /// A function: there is one for all types.
    #[inline(never)]
    fn run(self, outputs: Outputs<'_>) {
        let Call { kernel, input, outputs: [outer, inner], reduced, working_set } = self;
        // SAFETY:
        // - The ISA: kernels come from `argreduce_kernels::kernel`, here and in plans, which gives none for an absent
        //   ISA.
        // - The elements: `Layout` has proved that its offset and strides reach nothing but the first `required_len`
        //   elements, and `run` that the input has those. Collapsing drops, merges and reverses loops, and a tile is a
        //   part of them, so that none reaches what the layout does not (a test of `planner/collapse.rs` compares the
        //   elements).
        // - Values: they are of the type of the elements, or of `Bits` of their size, which a plan's caller has as
        //   values of that type; a kernel writes nothing there but elements that it has read.
        // - Fewer than 2^32 positions, and no reduced loop of size 0: else there is no plan for one output, and many
        //   are split (`split.rs`); empty reductions are refused when a plan is made (`check_index_range` in
        //   `api/builder.rs`).
        unsafe {
            kernel.run(&KernelArgs { input, outer, inner, reduced, working_set, tuning: Tuning::current() }, outputs)
        };
    }
}

/// Makes each partial answer the better of itself and its counterpart: values and indices, all as many, and those of
/// both sides of the same types. Of values that tie, the smaller index wins, or the larger one, if `last` does. The
/// machine has the ISA.
///
/// A function: all merging goes through it.
#[inline(never)]
pub(crate) fn merge(
    isa: Isa,
    (function, policy): Order,
    last: bool,
    (values, indices): (&mut Values<'_>, &mut Indices<'_>),
    (other_values, other_indices): (ElementsRef<'_>, ElementsRef<'_>),
) {
    let (data_type, len) = (other_values.data_type(), values.len());
    assert!(data_type.size() == values.size() && other_indices.data_type().size() == indices.width());
    assert!([indices.len(), other_values.len(), other_indices.len()] == [len; 3]);
    let merger = merger(isa, data_type, indices.width(), function, policy, last).expect("the machine has the ISA");
    let here = [values.start(), for_width!(indices, indices => indices.all().as_mut_ptr().cast())];
    // SAFETY: as many are there, of widths and alignments that the types have; those of one side are borrowed for good.
    // What is written to values was read from elements.
    unsafe { merger.merge(len, here, [other_values.address(0), other_indices.address(0)]) };
}
