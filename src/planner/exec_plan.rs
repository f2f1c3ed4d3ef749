//! What the executor does: loops, and what runs along them. Unsafe code rests on what is in a plan, so no other file
//! may change that: fields are private, [`ExecPlan::plan`] fills them in, and all else makes a plan of another.

use super::collapse::CollapsedShape;
use super::limits::{
    MASKED_BYTES, MAX_MASKED_BITS, MAX_MASKED_LEN, MAX_MASKED_OUTPUTS, MAX_MASKED_ROWS, MAX_REDUCTION_LEN,
    MIN_MASKED_ROWS, MIN_MASKED_WIDTH_BYTES, MIN_SEGMENTED_ROW_BYTES,
};
use super::nest::count;
use super::select::{PlanIsa, Prefer256Bit, Selection};
use super::windows::Windows;
use crate::layout::{AxisSet, Window};
use crate::mask::MaskPlaces;
use crate::{AxisDirection, DataType, Executor, Isa, Layout, NanPolicy, ReduceFunction};
use argreduce_kernels::{Kernel, LoopDim, OutputWriter, Strategy, Tuning, WorkingSet, distance_kernel_of, kernel_of};
use std::ops::Range;

/// Loops, and what runs along them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExecPlan {
    shape: CollapsedShape,
    input_bytes: usize,
    /// With an executor that asks for more bytes than that for a task, a call is one task, and does not pause: half of
    /// the input's, which each of two tasks would read. (One number, because every call compares it.)
    undivided_above: usize,
    reduction_len: usize,
    element_bytes: usize,
    /// What runs, and which it is. (One tuple would be moved in pieces, and wait for them.)
    kernel: Option<&'static Kernel>,
    isa: Isa,
    strategy: Strategy,
    writer: &'static OutputWriter,
    pub(crate) working_set: WorkingSet,
    /// Under a mask, outputs per tile; if it is read in place, as many as are side by side.
    masked_outputs: Option<usize>,
    has_one_output: bool,
    is_contiguous_row: bool,
    /// Whether outputs are found by keys in place, without copies.
    is_by_distance: bool,
    /// Whether the outputs are windows that overlap so far that each is not looked at alone.
    has_windows: bool,
}

impl ExecPlan {
    /// For no outputs.
    pub(crate) const EMPTY: ExecPlan = ExecPlan {
        shape: CollapsedShape::EMPTY,
        input_bytes: 0,
        undivided_above: 0,
        reduction_len: 0,
        element_bytes: 0,
        kernel: None,
        isa: Isa::Portable,
        strategy: Strategy::Rows,
        writer: OutputWriter::PORTABLE,
        working_set: WorkingSet::L2,
        masked_outputs: None,
        has_one_output: false,
        is_contiguous_row: false,
        is_by_distance: false,
        has_windows: false,
    };

    /// Makes this plan, which is [`ExecPlan::EMPTY`], one for a reduction: its shape is collapsed, and all that follows
    /// from that is decided. `None` where there is no kernel for the ISA: then it stays empty. In place, because to
    /// move a plan would take as long as to make it.
    ///
    /// Of the layouts, the window and the mask: see [`CollapsedShape::collapse`].
    ///
    /// # Panics
    /// If it is another plan.
    #[inline(always)]
    pub(crate) fn plan(
        &mut self,
        input: (&Layout, AxisSet, AxisDirection),
        (output, window): (&Layout, Window<'_>),
        mask: Option<&MaskPlaces<'_>>,
        isa: PlanIsa,
        element: DataType,
        order: (ReduceFunction, NanPolicy),
    ) -> Option<()> {
        assert!(self.element_bytes == 0, "a plan is made once");
        self.shape.collapse(input, output, window, mask);
        let selected = self.select_kernel(isa, element, order);
        if selected.is_none() {
            *self = ExecPlan::EMPTY;
        }
        selected
    }

    /// Decides all that follows from the shape. `None` where there is no kernel for the ISA.
    fn select_kernel(
        &mut self,
        isa: PlanIsa,
        element: DataType,
        (function, policy): (ReduceFunction, NanPolicy),
    ) -> Option<()> {
        if count(self.shape.reduced_dims()) > MAX_REDUCTION_LEN {
            self.shape.limit_reduction(MAX_REDUCTION_LEN);
        }
        let shape = &self.shape;
        let (reduction_len, tuning) = (count(shape.reduced_dims()), Tuning::current());
        let select = Selection { shape, reduction_len, element };
        (self.reduction_len, self.element_bytes) = (reduction_len, element.size());
        self.writer = OutputWriter::of(isa.widest)?;
        self.input_bytes = count(shape.input.output_dims()).saturating_mul(select.row_bytes());
        self.working_set = tuning.working_set(self.input_bytes.min(select.span_bytes()));
        if let Some(which) = select.isa_and_strategy(isa, Prefer256Bit::of(tuning, self.working_set, element)) {
            (self.isa, self.strategy) = which;
            self.kernel = Some(kernel_of(element, self.isa, self.strategy, function, policy)?);
        }
        let has_one_loop = shape.values.is_empty() && shape.reduced_dims().len() == 1 && shape.index_steps().len() == 1;
        self.has_one_output = has_one_loop;
        let is_row = shape.input.first().stride == 1 && select.row_bytes() < MIN_SEGMENTED_ROW_BYTES;
        self.is_contiguous_row = self.has_one_output && (is_row || self.kernel.is_none());
        let lanes = self.isa.vector_bytes() / element.size();
        let are_answered = |windows: &Windows| windows.fit(shape, lanes) && windows.pay(element.size());
        let windows = if cfg!(without = "scans") { None } else { Windows::of(shape).filter(are_answered) };
        self.has_windows = windows.is_some();
        if let Some(windows) = windows {
            // Each element is visited a few times, however many windows it is in.
            self.input_bytes = windows.visits(shape, count(shape.input.output_dims())).saturating_mul(element.size());
        }
        self.undivided_above = if self.may_pause() { usize::MAX } else { self.input_bytes / 2 };
        Some(())
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &CollapsedShape {
        &self.shape
    }

    /// The bytes of all elements that are visited.
    #[inline(always)]
    pub(crate) fn input_bytes(&self) -> usize {
        self.input_bytes
    }

    /// Whether a call on an executor is one task, whatever its width, and does not pause.
    #[inline(always)]
    pub(crate) fn is_undivided(&self, executor: &dyn Executor) -> bool {
        executor.min_task_bytes() > self.undivided_above || self.is_large_undivided(executor)
    }

    /// As [`ExecPlan::is_undivided`], of a call that may be divided, or may pause.
    #[cold]
    #[inline(never)]
    fn is_large_undivided(&self, executor: &dyn Executor) -> bool {
        let is_one_task = self.input_bytes / 2 < executor.min_task_bytes();
        is_one_task && !(self.may_pause() && executor.pause().is_some())
    }

    /// How many elements are visited for each output, or for each partial answer where there are split loops: no more
    /// than positions count.
    #[inline(always)]
    pub(crate) fn reduction_len(&self) -> usize {
        self.reduction_len
    }

    /// The bytes of an element, for which the kernel is.
    #[inline(always)]
    pub(crate) fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    /// The kernel, and which it is. `None` where each output has a single element to choose from.
    #[inline(always)]
    pub(crate) fn kernel(&self) -> Option<(Isa, Strategy, &'static Kernel)> {
        self.kernel.map(|kernel| (self.isa, self.strategy, kernel))
    }

    /// What writes indices, given positions.
    #[inline(always)]
    pub(crate) fn writer(&self) -> &'static OutputWriter {
        self.writer
    }

    /// In which cache the elements of all outputs likely are.
    #[inline(always)]
    pub(crate) fn working_set(&self) -> WorkingSet {
        self.working_set
    }

    /// The windows that the outputs are, if it pays to look at what they have in common once.
    #[inline(always)]
    pub(crate) fn windows(&self) -> Option<Windows> {
        if self.has_windows && !cfg!(without = "scans") { Windows::of(&self.shape) } else { None }
    }

    /// Whether there is one output, chosen from one loop. It is answered without the loops over tiles, which would cost
    /// as much as a short row.
    #[inline(always)]
    pub(crate) fn has_one_output(&self) -> bool {
        self.has_one_output
    }

    /// Whether that loop goes upwards over contiguous elements, or has one element.
    #[inline(always)]
    pub(crate) fn is_contiguous_row(&self) -> bool {
        self.is_contiguous_row
    }

    /// Along other loops, on elements that are in such a cache.
    pub(crate) fn with_shape(&self, shape: CollapsedShape, working_set: WorkingSet) -> ExecPlan {
        ExecPlan { shape, working_set, ..*self }
    }

    /// Puts this plan under a mask that has the elements as far apart as the input does, from `start` on.
    pub(crate) fn put_under(&mut self, start: usize) {
        self.shape.put_under(start);
    }

    /// Puts this plan under keys of a type, by that order: they are copied, as what is under a mask; but where there is
    /// a kernel for it, all outputs are found in place.
    pub(crate) fn cut_for_keys(&mut self, keys: DataType, (function, policy): (ReduceFunction, NanPolicy)) {
        let Some((isa, strategy, _)) = self.kernel() else { return };
        self.shape.put_under(self.shape.input.start);
        let kernel = distance_kernel_of(keys, isa, strategy, function, policy);
        self.is_by_distance = kernel.is_some_and(|kernel| kernel.takes(self.shape.reduced_dims()));
        if !self.is_by_distance {
            self.cut_for_mask(false);
        }
        (self.has_one_output, self.is_contiguous_row, self.has_windows) = (false, false, false);
    }

    /// Whether this plan is under keys, by which some kernel finds in place.
    pub(crate) fn is_by_distance(&self) -> bool {
        self.is_by_distance
    }

    /// Cuts the reduction of a plan under a mask where it has more elements than are looked at at once, and decides how
    /// many outputs are: of what may have to be copied, [`MASKED_BYTES`]; all of it, unless it may be in place.
    pub(crate) fn cut_for_mask(&mut self, may_be_in_place: bool) {
        let (shape, inner) = (&self.shape, self.shape.inner_dim());
        let most = (MASKED_BYTES / self.element_bytes).min(MAX_MASKED_LEN);
        let narrowest = match self.kernel() {
            Some((_, Strategy::NarrowColumns, _)) => inner.size,
            Some((_, Strategy::Columns | Strategy::GatheredColumns, _)) => {
                inner.size.min(MIN_MASKED_WIDTH_BYTES / self.element_bytes)
            }
            _ => 1,
        };
        let (len, in_place) =
            (most / narrowest, self.masked_rows_in_place().filter(|_| may_be_in_place && !shape.is_split()));
        let len = in_place.unwrap_or(len);
        if self.reduction_len > len {
            self.shape.limit_reduction(len);
            self.reduction_len = count(self.shape.reduced_dims());
        }
        let outputs = (most / self.reduction_len).clamp(1, MAX_MASKED_OUTPUTS);
        self.masked_outputs = if in_place.is_some() { None } else { Some(outputs) };
        (self.has_one_output, self.is_contiguous_row, self.has_windows) = (false, false, false);
    }

    /// Of columns that their kernel reads under bits, if those of enough rows have room: of how many.
    fn masked_rows_in_place(&self) -> Option<usize> {
        let (Some((_, Strategy::Columns, kernel)), &[rows]) = (self.kernel(), self.shape.reduced_dims()) else {
            return None;
        };
        let (of_mask, distance) = (self.shape.mask.output_dims().last()?, rows.stride.unsigned_abs());
        let room = (MAX_MASKED_BITS - MAX_MASKED_OUTPUTS) / distance.max(MAX_MASKED_OUTPUTS) + 1;
        let len = rows.size.min(room).min(MAX_MASKED_ROWS);
        let fits = of_mask.stride == 1 && distance >= MAX_MASKED_OUTPUTS && len >= rows.size.min(MIN_MASKED_ROWS);
        (fits && kernel.takes_masks(&[LoopDim { size: len, ..rows }])).then_some(len)
    }

    /// Outputs per tile of a shape of a plan that was cut so.
    pub(crate) fn masked_outputs(&self, shape: &CollapsedShape) -> usize {
        let inner = || shape.input.output_dims().last().map_or(1, |inner| inner.size);
        self.masked_outputs.unwrap_or_else(|| inner().min(MAX_MASKED_OUTPUTS))
    }

    /// Whether tiles of it are read under bits, and have too many elements to be copied.
    pub(crate) fn is_masked_in_place(&self) -> bool {
        self.masked_outputs.is_none()
    }

    /// With indices and values [packed](CollapsedShape::packed), each so many places from the next.
    pub(crate) fn packed(&self, steps: [usize; 2]) -> ExecPlan {
        self.with_shape(self.shape.packed(steps), self.working_set)
    }

    /// With a reduction that is cut where it has more elements.
    #[cfg(test)]
    pub(super) fn limited(mut self, max_len: usize) -> ExecPlan {
        self.shape.limit_reduction(max_len);
        self.reduction_len = count(self.shape.reduced_dims());
        self
    }

    #[cfg(test)]
    pub(crate) fn with_kernel(&self, shape: CollapsedShape, kernel: (Isa, Strategy, &'static Kernel)) -> ExecPlan {
        ExecPlan { shape, kernel: Some(kernel.2), isa: kernel.0, strategy: kernel.1, ..*self }
    }

    /// Makes it one of some outputs of the whole: see [`CollapsedShape::move_to`].
    pub(super) fn move_to(&mut self, whole: &ExecPlan, cut: usize, slower: usize, steps: Range<usize>) {
        self.shape.move_to(&whole.shape, cut, slower, steps);
    }
}
