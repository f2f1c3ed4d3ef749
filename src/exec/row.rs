//! The position of the best element of one contiguous row: for plans with one output, and for slices without a plan.
#![allow(unsafe_code)]

use super::call::{find_both_in_row, find_in_row};
use super::input::{ElementsRef, Order};
use super::search::is_worth;
use crate::planner::MAX_SCALAR_LEN;
use crate::{DataType, Element, Isa, NanPolicy, ReduceFunction};
use argreduce_kernels::{BothKernel, Kernel, Strategy, both_kernel_of, key, with_reduced_type};
use std::hint::select_unpredictable;
use std::sync::OnceLock;

/// By a plain loop or by the kernel.
///
/// # Safety
/// - The kernel is for elements of the size of the input's.
/// - If the input is a view, its layout reaches all of the row.
#[inline(always)]
pub(super) unsafe fn find_in_contiguous(
    kernel: &'static Kernel,
    order: Order,
    input: ElementsRef<'_>,
    (start, len): (usize, usize),
) -> u32 {
    with_reduced_type!(input.data_type(), T => {
        // SAFETY: the layout reaches them, as the caller promises.
        let elements = unsafe { input.contiguous::<T>(start, len) };
        if len <= MAX_SCALAR_LEN {
            find_scalar(order, elements) as u32
        } else {
            // SAFETY: they are elements of the input, and the caller promises that the kernel is for their size.
            unsafe { find_in_row(kernel, elements) }
        }
    })
}

/// By a plain loop, for at most [`MAX_SCALAR_LEN`] elements.
#[inline(always)]
pub(crate) fn find_scalar<T: Element>((function, policy): Order, elements: &[T]) -> usize {
    let (mut best, mut best_at) = (i64::MIN, 0);
    for (n, &element) in elements.iter().enumerate() {
        let new = key(function, policy, element);
        let is_better = new > best;
        best = select_unpredictable(is_better, new, best);
        best_at = select_unpredictable(is_better, n, best_at);
    }
    best_at
}

/// The kernels for both functions of slices, by type and NaN policy.
static SLICE_KERNELS_OF_BOTH: [[OnceLock<Option<BothKernel>>; NanPolicy::ALL.len()]; DataType::ALL.len()] =
    [const { [const { OnceLock::new() }; _] }; _];

/// The positions of the smallest and the largest, by the kernels for slices of the ISA that the first call names: of
/// long ones, by that for both. At least one element, and at most `MAX_REDUCTION_LEN`.
pub(crate) fn find_both_in_slice<T: Element>(
    policy: NanPolicy,
    isa: fn() -> Isa,
    elements: &[T],
) -> Option<[usize; 2]> {
    let find = |function| match elements.len() {
        ..=MAX_SCALAR_LEN => Some(find_scalar((function, policy), elements)),
        _ => find_in_slice((function, policy), isa, elements),
    };
    if elements.len() > MAX_SCALAR_LEN {
        let kept = &SLICE_KERNELS_OF_BOTH[T::DATA_TYPE.ordinal()][policy.ordinal()];
        let kernel = kept.get_or_init(|| both_kernel_of(T::DATA_TYPE, isa(), policy));
        if let Some(kernel) = kernel.filter(|&kernel| is_worth(kernel, T::DATA_TYPE, elements.len())) {
            // SAFETY: a kernel for `T` alone is kept there.
            return Some(unsafe { find_both_in_row(kernel, elements) }.map(|position| position as usize));
        }
    }
    Some([find(ReduceFunction::ArgMin)?, find(ReduceFunction::ArgMax)?])
}

/// The kernels for slices, by type, function and NaN policy: to look one up takes about as long as a short
/// slice.
static SLICE_KERNELS: [[[OnceLock<Kernel>; NanPolicy::ALL.len()]; ReduceFunction::ALL.len()]; DataType::ALL.len()] =
    [const { [const { [const { OnceLock::new() }; _] }; _] }; _];

#[inline(always)]
fn slice_kernel<T: Element>((function, policy): Order) -> &'static OnceLock<Kernel> {
    &SLICE_KERNELS[T::DATA_TYPE.ordinal()][function.ordinal()][policy.ordinal()]
}

/// By the kernel for slices of the ISA that the first call names. At most `MAX_REDUCTION_LEN` elements.
#[inline(always)]
pub(crate) fn find_in_slice<T: Element>(order: Order, isa: fn() -> Isa, elements: &[T]) -> Option<usize> {
    match slice_kernel::<T>(order).get() {
        // SAFETY: a kernel for `T` alone is kept there.
        Some(kernel) => Some(unsafe { find_in_row(kernel, elements) } as usize),
        None => find_in_first_slice(order, isa, elements),
    }
}

/// As [`find_in_slice`], for a slice whose kernel is looked up. An outlined tail call: otherwise every later slice
/// would pay for the registers that this needs.
#[cold]
#[inline(never)]
fn find_in_first_slice<T: Element>(order: Order, isa: fn() -> Isa, elements: &[T]) -> Option<usize> {
    let (function, policy) = order;
    let kernel = argreduce_kernels::kernel_of(T::DATA_TYPE, isa(), Strategy::Rows, function, policy)?;
    let kernel = slice_kernel::<T>(order).get_or_init(|| *kernel);
    // SAFETY: it was made for `T`, as one that another thread may have kept first.
    Some(unsafe { find_in_row(kernel, elements) } as usize)
}
