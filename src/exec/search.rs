//! What a call answers: plans and the input that they are bound to. Knows nothing of how.
#![allow(unsafe_code)]

use super::input::BoundPlan;
use super::masked::CallMask;
use crate::planner::{ExecPlan, takes};
use crate::{DataType, NanPolicy};
use argreduce_kernels::{BothKernel, LoopDim, Strategy, both_kernel_of};

/// The kernel for both functions of a plan for either, if there is one: for long rows in the direction of memory.
pub(crate) fn both_kernel(plan: &ExecPlan, data_type: DataType, policy: NanPolicy) -> Option<BothKernel> {
    let (isa, strategy, _) = plan.kernel()?;
    let (shape, lanes) = (plan.shape(), isa.vector_bytes() / plan.element_bytes());
    let &[LoopDim { size, stride: 1 }] = shape.reduced_dims() else { return None };
    // Segments of one loop are rows.
    let are_rows = matches!(strategy, Strategy::Rows | Strategy::SegmentedRows) && takes(shape, Strategy::Rows, lanes);
    if shape.is_split() || !are_rows {
        return None;
    }
    both_kernel_of(data_type, isa, policy).filter(|&kernel| is_worth(kernel, data_type, size))
}

/// Whether a row is so long that the kernel for both is faster than that of one function and then that of the other.
/// See docs/performance.md#both-at-once.
pub(super) fn is_worth(kernel: BothKernel, data_type: DataType, len: usize) -> bool {
    let fewest = match data_type.size() {
        1 => 16 << 10,
        2 => 2 << 10,
        4 => 768,
        _ => 512,
    };
    len >= fewest.max(kernel.min_row_len())
}

/// What a call answers: a bound plan, or two that differ in their order alone, of the same input.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a, const N: usize> {
    pub(super) bounds: [BoundPlan<'a>; N],
    /// Of two: for both.
    pub(super) both: Option<BothKernel>,
    /// The plans are for an input under this mask.
    pub(super) mask: Option<&'a CallMask<'a>>,
}

impl<'a, const N: usize> Search<'a, N> {
    /// # Safety
    /// - Of several plans, all differ in their order alone, and are bound to the same input.
    /// - Of two, that is the smallest and the largest; else there is no kernel for both. If there is one, it is the
    ///   [`both_kernel`] of either plan.
    #[inline(always)]
    pub(crate) unsafe fn new(bounds: [BoundPlan<'a>; N], both: Option<BothKernel>) -> Self {
        Search { bounds, both, mask: None }
    }

    /// Under a mask.
    ///
    /// # Safety
    /// - As there. The plans are for an input under the mask, as are its lengths.
    pub(crate) unsafe fn under(bounds: [BoundPlan<'a>; N], mask: &'a CallMask<'a>) -> Self {
        Search { bounds, both: None, mask: Some(mask) }
    }

    #[inline(always)]
    pub(super) fn plan(&self) -> &'a ExecPlan {
        self.bounds[0].plan()
    }

    /// Along the loops of another plan: see [`BoundPlan::with_plan`].
    ///
    /// # Safety
    /// - As there. Its reduced loops are those of this plan, if there is a kernel for both.
    pub(super) unsafe fn with_plan<'b>(&'b self, plan: &'b ExecPlan) -> Search<'b, N> {
        // SAFETY: the caller's promise.
        let bounds = self.bounds.each_ref().map(|bound| unsafe { bound.with_plan(plan) });
        Search { bounds, both: self.both, mask: self.mask }
    }
}
