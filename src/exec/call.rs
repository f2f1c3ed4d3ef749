//! The calls of the kernels: for a row, for a tile, to merge. Each is made at one place.
#![allow(unsafe_code)]

use super::input::{ElementsRef, Order};
use super::slices::{Indices, for_width};
use super::tiles::Grid;
use super::values::Values;
use crate::planner::MAX_REDUCTION_LEN;
use crate::{DataType, Isa};
use argreduce_kernels::{
    BothKernel, DistanceKernel, InputMask, Kernel, KernelArgs, KeyCopier, LoopDim, Outputs, Positions, Tuning,
    WorkingSet, merger, with_element_bits,
};
use bytemuck::cast_slice_mut;
use std::mem::MaybeUninit;

/// The position of the first best of neighbours, of which there are at most [`MAX_REDUCTION_LEN`].
///
/// # Safety
/// - The kernel is for elements of the size of `T`.
#[inline(always)]
pub(super) unsafe fn find_in_row<T>(kernel: &Kernel, elements: &[T]) -> u32 {
    assert!(!elements.is_empty() && elements.len() <= MAX_REDUCTION_LEN);
    // SAFETY: there are kernels only for an ISA that the machine has; the elements are those of a slice, of that size,
    // and as many as the assertion says.
    unsafe { kernel.of_row(elements.as_ptr().cast(), elements.len(), Tuning::current()) }
}

/// As [`find_in_row`], by a kernel for both functions, of at least [`BothKernel::min_row_len`] elements.
///
/// # Safety
/// - As there.
pub(super) unsafe fn find_both_in_row<T>(kernel: BothKernel, elements: &[T]) -> [u32; 2] {
    assert!(elements.len() <= MAX_REDUCTION_LEN);
    // SAFETY: as in `find_in_row`.
    unsafe { kernel.of_row(elements.as_ptr().cast(), elements.len(), Tuning::current()) }
}

/// Places that positions are written to: those of a caller, or a buffer, which need not be initialised.
pub(super) struct PositionPlaces<'a, X>(&'a mut [MaybeUninit<X>]);

impl<'a, X> From<&'a mut [MaybeUninit<X>]> for PositionPlaces<'a, X> {
    #[inline(always)]
    fn from(buffer: &'a mut [MaybeUninit<X>]) -> Self {
        PositionPlaces(buffer)
    }
}

impl<'a, X> From<&'a mut [X]> for PositionPlaces<'a, X> {
    #[inline(always)]
    fn from(places: &'a mut [X]) -> Self {
        // SAFETY: the same memory. Nobody makes it uninitialised: only kernels write to places, and not until they know
        // what.
        PositionPlaces(unsafe { &mut *(&raw mut *places as *mut [MaybeUninit<X>]) })
    }
}

/// Places that values are written to, which need not be initialised either.
pub(super) struct ValuePlaces<'a>(Values<'a>);

impl<'a> From<Values<'a>> for ValuePlaces<'a> {
    #[inline(always)]
    fn from(values: Values<'a>) -> Self {
        ValuePlaces(values)
    }
}

impl<'a> ValuePlaces<'a> {
    /// A buffer for elements of that type: of integers as large as they are.
    #[inline(always)]
    pub(super) fn of_buffer<B>(buffer: &'a mut [MaybeUninit<B>], data_type: DataType) -> Self {
        // SAFETY: they are used as places alone, until a kernel has written all of them.
        ValuePlaces(unsafe { Values::of_buffer(buffer, data_type) })
    }
}

/// What a kernel is called with, beside its outputs: a kernel that is right for the elements, and loops that reach
/// nothing but them. To make one is unsafe, and so to run it is not.
#[derive(Clone, Copy)]
pub(super) struct KernelCall<'a> {
    kernel: &'static Kernel,
    input: ElementsRef<'a>,
    /// The first elements of the outputs.
    grid: Grid,
    reduced: &'a [LoopDim],
    working_set: WorkingSet,
    mask: Option<InputMask>,
}

impl<'a> KernelCall<'a> {
    /// For the outputs whose first elements are at the places of a grid, and which are chosen along the `reduced` loops
    /// from there.
    ///
    /// # Safety
    /// - The kernel is for elements of the size of the input's.
    /// - Whatever place the loops reach is an element of the input, and of its layout where that is a view.
    /// - There is a reduced loop, none of size 0, and together they visit at most [`MAX_REDUCTION_LEN`] elements.
    #[inline(always)]
    pub(super) unsafe fn new(
        kernel: &'static Kernel,
        input: ElementsRef<'a>,
        grid: Grid,
        reduced: &'a [LoopDim],
        working_set: WorkingSet,
    ) -> Self {
        KernelCall { kernel, input, grid, reduced, working_set, mask: None }
    }

    /// Under a mask: then values are asked for.
    ///
    /// # Safety
    /// - The kernel takes masks.
    /// - The mask has a bit for each element from the lowest that is reached to the highest, with its padding. What it
    ///   fills with is an element. All of it may be read as long as the call is used.
    #[inline(always)]
    pub(super) unsafe fn under(self, mask: InputMask) -> Self {
        KernelCall { mask: Some(mask), ..self }
    }

    /// The positions of the best elements, in a buffer that has a place for each.
    #[inline(always)]
    pub(super) fn find_positions(self, buffer: &mut [MaybeUninit<u32>]) -> &mut [u32] {
        self.find(PositionPlaces::from(buffer), None).0
    }

    /// The positions of the best elements, and if there are places for them, those elements themselves: there is a
    /// place for each.
    #[inline(always)]
    pub(super) fn find<'p, 'v, P>(
        self,
        PositionPlaces(positions): PositionPlaces<'p, P>,
        values: Option<ValuePlaces<'v>>,
    ) -> (&'p mut [P], Option<Values<'v>>)
    where
        for<'b> Positions<'b>: From<&'b mut [MaybeUninit<P>]>,
    {
        let places = Positions::from(&mut *positions);
        let values = match values {
            Some(ValuePlaces(mut values)) => {
                assert!(values.data_type() == self.input.data_type());
                with_element_bits!(values.size(), B => {
                    // SAFETY: a kernel writes elements there, of the input's type: each was read from it, or is what a
                    // mask fills with.
                    self.run(Outputs::with_values(places, unsafe { values.places::<B>() }))
                });
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

    /// By a kernel for distances, to what has these bits: the positions of the best elements, in a buffer that has a
    /// place for each.
    ///
    /// # Safety
    /// - The kernel is for elements of the input's type, and there is no mask.
    pub(super) unsafe fn find_by_distance(
        self,
        kernel: DistanceKernel,
        bits: u64,
        buffer: &mut [MaybeUninit<u32>],
    ) -> &mut [u32] {
        // SAFETY: as in `run`: of the loops and the elements, `new` asks for what this kernel does, too.
        unsafe { kernel.run(&self.args(), bits, Positions::from(&mut *buffer).into()) };
        // SAFETY: as in `find`.
        unsafe { &mut *(&raw mut *buffer as *mut [u32]) }
    }

    /// By a kernel for both functions: the positions of the smallest, and of the largest, each in a buffer that has a
    /// place for each.
    ///
    /// # Safety
    /// - The kernel is for elements of the input's type.
    /// - There is no mask.
    pub(super) unsafe fn find_both(
        self,
        kernel: BothKernel,
        mut buffers: [&mut [MaybeUninit<u32>]; 2],
    ) -> [&mut [u32]; 2] {
        // SAFETY: as in `run`: of the loops and the elements, `new` asks for what this kernel does, too.
        unsafe { kernel.run(&self.args(), buffers.each_mut().map(|buffer| &mut **buffer)) };
        // SAFETY: as in `find`.
        buffers.map(|buffer| unsafe { &mut *(&raw mut *buffer as *mut [u32]) })
    }

    fn args(&self) -> KernelArgs<'a> {
        let KernelCall { input, grid: Grid { start, dims: [outer, inner] }, reduced, working_set, .. } = *self;
        KernelArgs { input: input.address(start), outer, inner, reduced, working_set, tuning: Tuning::current() }
    }

    /// A function: there is one for all types.
    #[inline(never)]
    fn run(self, outputs: Outputs<'_>) {
        let (KernelCall { kernel, mask, .. }, args) = (self, &self.args());
        // SAFETY:
        // - There are kernels only for an ISA that the machine has (`argreduce_kernels::kernel_of`).
        // - Of the elements, their type and how many there are, `new` asks for what the kernel does. Nobody writes to
        //   them, because the input is borrowed.
        // - Values are integers of their size, with their alignment.
        // - Of the mask, `under` asks for the rest.
        unsafe { kernel.run(args, mask, outputs) };
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
    assert!(data_type == values.data_type());
    assert!(other_indices.data_type().size() == indices.width());
    assert!([indices.len(), other_values.len(), other_indices.len()] == [len; 3]);
    let merger = merger(isa, data_type, indices.width(), function, policy, last).expect("the machine has the ISA");
    let here = [values.start(), for_width!(indices, indices => indices.all().as_mut_ptr().cast())];
    // SAFETY: as many are there, of widths and alignments that the types have; those of one side are borrowed for good.
    // What is written to values was read from elements of their type. No elements are of a view: plans alone read
    // those.
    unsafe { merger.merge(len, here, [other_values.address(0), other_indices.address(0)]) };
}

/// How many are merged by their keys at a time. Not measured.
const KEY_BATCH: usize = 128;

/// As [`merge`], of elements that are compared by keys, those of their type: keys are merged in place of values, and
/// where the other side has won, the value is the other one.
pub(crate) fn merge_by_keys(
    isa: Isa,
    order: Order,
    last: bool,
    keys: &KeyCopier,
    (values, indices): (&mut Values<'_>, &mut Indices<'_>),
    (other_values, other_indices): (ElementsRef<'_>, ElementsRef<'_>),
) {
    let len = values.len();
    assert!(other_values.data_type() == values.data_type() && other_values.len() == len);
    for first in (0..len).step_by(KEY_BATCH) {
        let count = KEY_BATCH.min(len - first);
        let (mut values, others) = (values.range(first, count), other_values.range(first, count));
        with_element_bits!(values.size(), B => for_width!(&mut *indices, indices => {
            let [mut here, mut there, mut old_keys, mut old_indices] = [[0_u64; KEY_BATCH]; 4];
            let [here, there, old_keys] =
                [&mut here, &mut there, &mut old_keys].map(|keys| cast_slice_mut::<u64, B>(keys));
            for (from, to) in [(values.start().cast_const(), &mut *here), (others.address(0), &mut *there)] {
                // SAFETY: as many elements and places, of their size.
                unsafe { keys.copy(from, &[], LoopDim { size: count, stride: 1 }, to.as_mut_ptr().cast()) };
            }
            old_keys.copy_from_slice(here);
            let (indices, old_indices) = (indices.range(first, count), cast_slice_mut(&mut old_indices));
            old_indices[..count].copy_from_slice(indices);
            // SAFETY: keys, as many, and integers of their size.
            let (mut merged, there) = unsafe {
                let places = &mut *(&raw mut here[..count] as *mut [MaybeUninit<B>]);
                (Values::of_buffer(places, keys.key_type()), ElementsRef::of_bits(&there[..count], keys.key_type()))
            };
            let here_and_indices = (&mut merged, &mut Indices::from(&mut *indices));
            merge(isa, order, last, here_and_indices, (there, other_indices.range(first, count)));
            for n in (0..count).filter(|&n| (here[n], indices[n]) != (old_keys[n], old_indices[n])) {
                // SAFETY: no elements are of a view, as in `merge`.
                unsafe { values.copy(n, others, n) };
            }
        }));
    }
}
