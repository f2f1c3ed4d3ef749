//! Elements of the input, of a type that is known at run time; and a plan that is bound to them. Knows nothing of where
//! answers are written.
#![allow(unsafe_code)]

#[cfg(feature = "ndarray")]
use crate::Layout;
use crate::planner::ExecPlan;
use crate::{DataType, Element, Error, Isa, NanPolicy, ReduceFunction};
use argreduce_kernels::{DistanceKernel, Kernel, Strategy, distance_kernel_of, with_bits, with_element_type};
use std::marker::PhantomData;
use std::ptr::without_provenance_mut;

/// Which elements are better.
pub(super) type Order = (ReduceFunction, NanPolicy);

/// Elements that can be read, of a type that is known at run time: what is behind a plan exists once for all types.
/// All of a slice, or those of a view, without what lies between them: that may be somebody else's to write.
#[derive(Clone, Copy)]
pub(crate) struct ElementsRef<'a> {
    start: *const (),
    len: usize,
    data_type: DataType,
    lifetime: PhantomData<&'a ()>,
}

// SAFETY: as `&[T]`, whose elements several threads may read.
unsafe impl Sync for ElementsRef<'_> {}

impl<'a, T: Element> From<&'a [T]> for ElementsRef<'a> {
    #[inline(always)]
    fn from(slice: &'a [T]) -> Self {
        const { assert!(align_of::<T>() == alignment(size_of::<T>())) };
        ElementsRef { start: slice.as_ptr().cast(), len: slice.len(), data_type: T::DATA_TYPE, lifetime: PhantomData }
    }
}

/// That of elements of a size, which is that of an integer.
pub(super) const fn alignment(size: usize) -> usize {
    with_bits!(size, B => align_of::<B>())
}

/// The type of elements in a buffer of bytes. Not every byte is a `bool`, but every byte is a `u8`, in the same order.
pub(super) fn type_in_bytes(data_type: DataType) -> DataType {
    with_element_type!(data_type, T => <<T as Element>::Pod as Element>::DATA_TYPE)
}

/// The whole elements of a buffer, if it is aligned as they are.
pub(super) fn whole(
    slice: &'static str,
    data_type: DataType,
    start: *mut u8,
    bytes: usize,
) -> Result<(*mut (), usize), Error> {
    let (size, alignment) = (data_type.size(), alignment(data_type.size()));
    // A shift, because a division takes as long as some elements.
    match bytes >> size.ilog2() {
        // Nothing is read, so any address will do.
        0 => Ok((without_provenance_mut(alignment), 0)),
        len if start.addr().is_multiple_of(alignment) => Ok((start.cast(), len)),
        _ => Err(Error::Misaligned { slice, element_type: data_type.name(), alignment }),
    }
}

impl<'a> ElementsRef<'a> {
    /// The whole elements of a buffer. Whether they are enough for a layout is checked by the plan.
    #[inline]
    pub(crate) fn of_bytes(slice: &'static str, data_type: DataType, bytes: &'a [u8]) -> Result<Self, Error> {
        let (start, len) = whole(slice, data_type, bytes.as_ptr().cast_mut(), bytes.len())?;
        Ok(ElementsRef { start, len, data_type: type_in_bytes(data_type), lifetime: PhantomData })
    }

    /// All of a slice.
    ///
    /// # Safety
    /// - They are elements of that type, as integers of their size.
    #[inline(always)]
    pub(super) unsafe fn of_bits<B>(slice: &'a [B], data_type: DataType) -> Self {
        assert!(size_of::<B>() == data_type.size() && align_of::<B>() == alignment(size_of::<B>()));
        ElementsRef { start: slice.as_ptr().cast(), len: slice.len(), data_type, lifetime: PhantomData }
    }

    /// The elements of a view, and where they are.
    ///
    /// # Safety
    /// - They are read by plans for that layout alone: no other place need be an element, or may be read.
    #[cfg(feature = "ndarray")]
    pub(crate) unsafe fn of_view<T: Element, D: ndarray::Dimension>(
        view: ndarray::ArrayView<'a, T, D>,
    ) -> Result<(Layout, ElementsRef<'a>), Error> {
        let before = |(&size, &stride): (&usize, &isize)| stride.min(0).unsigned_abs().saturating_mul(size.max(1) - 1);
        let offset = view.shape().iter().zip(view.strides()).map(before).fold(0, usize::saturating_add);
        let layout = Layout::strided(view.shape(), view.strides(), offset)?;
        let start = if layout.element_count() == 0 { view.as_ptr() } else { view.as_ptr().wrapping_sub(offset) };
        let (start, len) = (start.cast(), layout.required_len());
        Ok((layout, ElementsRef { start, len, data_type: T::DATA_TYPE, lifetime: PhantomData }))
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(crate) fn data_type(self) -> DataType {
        self.data_type
    }

    /// The address of a place, or of where the first element of a walk would be.
    #[inline(always)]
    pub(super) fn address(self, place: isize) -> *const () {
        self.start.wrapping_byte_offset(place * self.data_type.size() as isize)
    }

    /// Neighbours.
    ///
    /// # Safety
    /// - Of a view, the layout reaches all of them.
    #[inline(always)]
    pub(super) unsafe fn contiguous<T: Element>(self, first: usize, len: usize) -> &'a [T] {
        assert!(T::DATA_TYPE == self.data_type && first <= self.len && len <= self.len - first);
        // SAFETY: they are of that type, and below the length: so they are elements of the slice. Those of a view are
        // by the invariants of `ArrayView`, because the layout reaches them.
        unsafe { std::slice::from_raw_parts(self.start.cast::<T>().add(first), len) }
    }

    /// Some neighbours, of the same type.
    pub(super) fn range(self, first: usize, len: usize) -> ElementsRef<'a> {
        assert!(first <= self.len && len <= self.len - first);
        ElementsRef { start: self.address(first as isize), len, ..self }
    }

    /// The element at a place.
    ///
    /// # Safety
    /// - Of a view, the layout reaches it.
    /// - `T` has the size and alignment of the elements, and takes all of their bits.
    #[inline(always)]
    pub(super) unsafe fn read<T>(self, place: usize) -> T {
        assert!(place < self.len && size_of::<T>() == self.data_type.size());
        // SAFETY: as in `contiguous`, for one.
        unsafe { self.start.cast::<T>().add(place).read() }
    }
}

/// A plan and the input that it runs on: the loops of the plan reach nothing in it that may not be read.
///
/// Where a plan is bound, somebody says so. What runs it, and has to know, need not say it again.
#[derive(Clone, Copy)]
pub(crate) struct BoundPlan<'a> {
    /// The loops.
    plan: &'a ExecPlan,
    /// Of whose kernel: the same one, or that of which it is a part.
    whole: &'a ExecPlan,
    order: Order,
    input: ElementsRef<'a>,
}

impl<'a> BoundPlan<'a> {
    /// # Panics
    /// If the input is shorter than its layout needs, or has elements of another size than the plan's.
    ///
    /// # Safety
    /// - The planner has made the plan for a layout, and that needs a slice of `required_len` elements.
    /// - If the input is a view, the layout is its own.
    #[inline(always)]
    pub(crate) unsafe fn new(plan: &'a ExecPlan, order: Order, required_len: usize, input: ElementsRef<'a>) -> Self {
        assert!(input.len() >= required_len);
        assert!(input.data_type().size() == plan.element_bytes());
        BoundPlan { plan, whole: plan, order, input }
    }

    /// The loops of another plan, with the same input and kernel.
    ///
    /// # Safety
    /// - Its loops over the input reach nothing that those of this plan do not. The kernel takes its reduced loops.
    #[inline(always)]
    pub(super) unsafe fn with_plan<'b>(&'b self, plan: &'b ExecPlan) -> BoundPlan<'b> {
        BoundPlan { plan, ..*self }
    }

    #[inline(always)]
    pub(super) fn plan(&self) -> &'a ExecPlan {
        self.plan
    }

    #[inline(always)]
    pub(super) fn kernel(&self) -> Option<(Isa, Strategy, &'static Kernel)> {
        self.whole.kernel()
    }

    /// What finds by keys of that type in place, if something does. (Looked up: in a plan, it would make each larger.)
    pub(super) fn distance_kernel(&self, keys: DataType) -> Option<DistanceKernel> {
        let ((isa, strategy, _), (function, policy)) = (self.kernel()?, self.order);
        let is_by_distance = self.whole.is_by_distance();
        is_by_distance.then(|| distance_kernel_of(keys, isa, strategy, function, policy)).flatten()
    }

    #[inline(always)]
    pub(super) fn order(&self) -> Order {
        self.order
    }

    #[inline(always)]
    pub(super) fn input(&self) -> ElementsRef<'a> {
        self.input
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::{Indices, Values, merge};
    use crate::{ArgReduce, Isa, Layout};

    const ORDER: Order = (ReduceFunction::ArgMax, NanPolicy::Propagate);

    fn bind(input: ElementsRef<'_>) {
        let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3]).unwrap()).axes(&[1]).plan::<f32, u32>().unwrap();
        // SAFETY: the plan was made for a packed layout, which needs six elements.
        unsafe { BoundPlan::new(plan.exec(), ORDER, 6, input) };
    }

    #[test]
    fn as_many_elements_of_the_size() {
        bind([0.0_f32; 6][..].into());
        bind([0_u32; 7][..].into());
    }

    #[test]
    #[should_panic(expected = "required_len")]
    fn no_fewer_elements() {
        bind([0.0_f32; 5][..].into());
    }

    #[test]
    #[should_panic(expected = "element_bytes")]
    fn no_elements_of_another_size() {
        bind([0.0_f64; 6][..].into());
    }

    /// Not every `u8` is a `bool`.
    #[test]
    #[should_panic(expected = "data_type")]
    fn no_values_of_another_type() {
        let (mut values, mut indices, others) = ([false; 2], [0_u32; 2], ([7_u8; 2], [1_u32; 2]));
        let here = (&mut Values::from(&mut values[..]), &mut Indices::from(&mut indices[..]));
        merge(Isa::Portable, ORDER, false, here, (others.0[..].into(), others.1[..].into()));
    }
}
