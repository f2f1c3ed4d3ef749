//! How a call is divided among threads: into which parts, and into how many. By the shape, the strategy and how many
//! threads there are. No answer depends on it.
//!
//! ```text
//! tasks = as many as threads, but none below the executor's least bytes; below two, one thread does it all
//! cut the slowest loop over the outputs that is long enough, into grains that share no cache line of an output
//! if a few of those for each task, or as many for all: parts of the outputs, each written by its task
//! else: slabs of the reduction, for each output or for all; their positions are merged by the caller
//! ```

use super::collapse::CollapsedShape;
use super::limits::{CACHE_LINE_BYTES, MAX_REDUCTION_LEN, MIN_TILE_WIDTH, TILE};
use super::nest::count;
use super::select::ExecPlan;
use super::slabs::Slabs;
use crate::threads::Executor;
use crate::threads::claims::share_start;
use argreduce_kernels::{LoopDim, Strategy, Tuning, WorkingSet, offset_at};
use std::fmt;

/// How many parts a task begins with at most, so that others can take some of them where a thread is late. See
/// docs/tuning.md#not-measured.
const PARTS_PER_TASK: usize = 8;

/// How many times the bytes that are worth a task a part reads at least, unless it is all of its task: each part costs
/// a little. See docs/tuning.md#not-measured.
const MIN_PART: usize = 4;

/// How many bytes of each row a part of columns has at least, if the rows are read from memory: of fewer, neighbouring
/// rows would be read as slowly as elements that are far from each other. See docs/tuning.md#not-measured.
const MIN_FAR_COLUMN_BYTES: usize = 8 << 10;

/// The longest vectors, in elements: fewer neighbours are no columns.
const MAX_LANES: usize = 64;

/// The most positions that slabs of a reduction have together: they are on the stack until they are merged. See
/// docs/tuning.md#not-measured.
pub(crate) const MAX_PARTIALS: usize = 4096;

/// The shortest slabs of a reduction, in elements: long enough for each strategy. See docs/tuning.md#not-measured.
const MIN_SLAB_LEN: usize = 128;

/// A call that several tasks share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Division {
    /// How many tasks are asked for.
    pub(crate) tasks: usize,
    pub(crate) parts: Parts,
}

/// What tasks take, one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parts {
    Outputs(OutputParts),
    Reduction(ReductionParts),
}

/// The outputs, cut along one loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputParts {
    /// How many parts there are.
    pub(crate) count: usize,
    /// Which loop is cut, from the slowest on, and after how many steps there may be a cut.
    cut: usize,
    grain: usize,
    /// How many steps there are from the start of a cache line to that of another.
    line_steps: usize,
    /// The fewest steps that a kernel takes.
    least: usize,
}

/// The reduction, cut into slabs, for groups of outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReductionParts {
    /// How many of the loops over the outputs are around a group; how many groups that makes, and of how many outputs.
    pub(crate) around: usize,
    pub(crate) groups: usize,
    pub(crate) group_outputs: usize,
    pub(crate) slabs: Slabs,
}

/// What is known of the slices of outputs: for both that there may be, the bytes of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputBytes {
    pub(crate) index: usize,
    pub(crate) value: Option<usize>,
}

impl ExecPlan {
    /// Whether a call is one task, whatever its width.
    #[inline(always)]
    pub(crate) fn is_one_task(&self, min_task_bytes: usize) -> bool {
        self.half_input_bytes < min_task_bytes
    }

    /// How the call is divided among `width` threads, each of which is to read `min_task_bytes` at least. `None` where
    /// one thread does it all.
    pub(crate) fn divide(&self, width: usize, min_task_bytes: usize, bytes: OutputBytes) -> Option<Division> {
        let tasks = width.min(self.input_bytes / min_task_bytes.max(1));
        if tasks < 2 {
            return None;
        }
        let most = tasks.saturating_mul(PARTS_PER_TASK);
        let wanted = (self.input_bytes / min_task_bytes.saturating_mul(MIN_PART).max(1)).clamp(tasks, most);
        let count_of = |outputs: Option<OutputParts>| outputs.map_or(1, |parts| parts.count);
        let min_width = self.min_width(tasks);
        let mut outputs = self.output_parts(tasks, wanted, bytes, min_width);
        let grains = outputs.map_or(1, |parts| parts.grains(&self.shape));
        let is_even = count_of(outputs) >= tasks && grains * 10 >= grains.div_ceil(tasks) * tasks * 9;
        let reduction = if is_even { None } else { self.reduction_parts(tasks, wanted) };
        if !is_even && reduction.is_none() {
            let width = (self.shape.inner_dim().size / tasks).clamp(MIN_TILE_WIDTH, min_width);
            outputs = self.output_parts(tasks, wanted, bytes, width);
        }
        let count = count_of(outputs);
        let parts = match (reduction, outputs) {
            (Some(reduction), _) if reduction.count() > count => Parts::Reduction(reduction),
            (_, Some(outputs)) if count > 1 => Parts::Outputs(outputs),
            _ => return None,
        };
        let count = match &parts {
            Parts::Outputs(parts) => parts.count,
            Parts::Reduction(parts) => parts.count(),
        };
        Some(Division { tasks: tasks.min(count), parts })
    }

    /// How the call is divided among the threads of an executor, to print.
    pub(crate) fn division_on(&self, executor: &dyn Executor, index_bytes: usize) -> impl fmt::Display + use<> {
        let bytes = OutputBytes { index: index_bytes, value: None };
        Printed(self.divide(executor.width(), executor.min_task_bytes(), bytes))
    }

    /// How wide parts of columns are at least, where there are enough of them for that.
    fn min_width(&self, tasks: usize) -> usize {
        let tuning = Tuning::current();
        if !tuning.is_far(tuning.working_set(self.input_bytes / tasks)) {
            return MIN_TILE_WIDTH;
        }
        let elements = count(self.shape.input.output_dims()).saturating_mul(self.reduction_len);
        (MIN_FAR_COLUMN_BYTES / (self.input_bytes / elements).max(1)).max(MIN_TILE_WIDTH)
    }

    /// The outputs, in `wanted` parts or in as many as there can be.
    fn output_parts(&self, tasks: usize, wanted: usize, bytes: OutputBytes, min_width: usize) -> Option<OutputParts> {
        let loops = self.shape.input.output_dims();
        let mut found = None;
        for cut in 0..loops.len() {
            let strides = |cut: usize| self.shape.output.output_dims()[cut].stride.unsigned_abs();
            // In another order than the input's, neighbours would be of different steps of the slower loop.
            if cut > 0 && strides(cut - 1) < strides(cut) {
                break;
            }
            // The fewest steps of a kernel's call, and of a part.
            let (least, part_steps) = match self.kernel {
                Some((_, Strategy::NarrowColumns, _)) if cut + 1 == loops.len() => break,
                Some((_, Strategy::Columns | Strategy::GatheredColumns, _)) if cut + 1 == loops.len() => {
                    (MAX_LANES, min_width)
                }
                _ => (1, 1),
            };
            let line_steps = self.line_steps(cut, bytes);
            let parts = OutputParts { count: usize::MAX, cut, grain: least.max(line_steps), line_steps, least };
            // If the loop has one grain, that is not to cut it, but the slower one, in the middle of lines.
            if found.is_some() && parts.along_cut(&self.shape) == 1 {
                continue;
            }
            let largest = count(&loops[..cut]).saturating_mul((loops[cut].size / part_steps).max(1));
            let count = parts.grains(&self.shape).min(largest).min(wanted);
            // As many for each task.
            found = Some(OutputParts { count: if count > tasks { count - count % tasks } else { count }, ..parts });
            if count == wanted {
                break;
            }
        }
        found
    }

    /// How many steps of a loop over the outputs begin and end at a cache line, where the first does: of indices, and
    /// of values if there are any.
    fn line_steps(&self, cut: usize, bytes: OutputBytes) -> usize {
        let steps = |l: LoopDim, bytes: usize| {
            let step = l.stride.unsigned_abs().wrapping_mul(bytes);
            CACHE_LINE_BYTES >> step.trailing_zeros().min(CACHE_LINE_BYTES.trailing_zeros())
        };
        let CollapsedShape { output, values, .. } = &self.shape;
        let of_values = bytes.value.map_or(1, |bytes| steps(values.output_dims()[cut], bytes));
        steps(output.output_dims()[cut], bytes.index).max(of_values)
    }

    /// The reduction in slabs, `wanted` of them for all outputs or as many as there can be. `None` where there are too
    /// many outputs.
    fn reduction_parts(&self, tasks: usize, wanted: usize) -> Option<ReductionParts> {
        let (loops, reduced) = (self.shape.input.output_dims(), self.shape.reduced_dims());
        let outputs = count(loops);
        if outputs > MAX_PARTIALS || self.reduction_len < 2 {
            return None;
        }
        let is_row = matches!(self.kernel?.1, Strategy::Rows | Strategy::SegmentedRows) && reduced.len() == 1;
        let around = match *loops {
            // One output at a time.
            _ if is_row => loops.len(),
            [.., outer, inner] if outer.size * inner.size > TILE => loops.len() - 1,
            [..] => loops.len().saturating_sub(2),
        };
        let (groups, group_outputs) = (count(&loops[..around]), count(&loops[around..]));
        if group_outputs > TILE {
            return None;
        }
        let mut slabs = wanted.div_ceil(groups).min(MAX_PARTIALS / outputs);
        slabs = slabs.min(self.reduction_len / MIN_SLAB_LEN).max(1);
        // As many for each task.
        slabs -= if slabs > tasks { slabs % tasks } else { 0 };
        while slabs > 0 {
            let max_len = self.reduction_len.div_ceil(slabs).max(MIN_SLAB_LEN);
            let parts = ReductionParts { around, groups, group_outputs, slabs: Slabs::new(reduced, max_len) };
            // Of several loops there may be more slabs than wanted: one is cut, and those outside it multiply.
            if parts.slabs.count() * outputs <= MAX_PARTIALS {
                return (max_len <= MAX_REDUCTION_LEN).then_some(parts);
            }
            slabs /= 2;
        }
        None
    }
}

impl OutputParts {
    /// How many grains the cut loop has. The first one takes up to a cache line more, and the last one what is left.
    fn along_cut(&self, shape: &CollapsedShape) -> usize {
        let size = shape.input.output_dims()[self.cut].size;
        1 + size.saturating_sub(self.line_steps - 1 + self.least) / self.grain
    }

    /// How many grains there are.
    fn grains(&self, shape: &CollapsedShape) -> usize {
        self.along_cut(shape).saturating_mul(count(&shape.input.output_dims()[..self.cut]))
    }

    /// A plan for parts, to be moved from one to the next.
    pub(crate) fn plan(&self, whole: &ExecPlan, working_set: WorkingSet) -> ExecPlan {
        ExecPlan { shape: whole.shape.tail(self.cut), working_set, ..*whole }
    }

    /// Part `n`: of each step of the slower loops, the grains that are in it. Parts begin where cache lines do, by the
    /// addresses of the indices.
    pub(crate) fn for_each_plan(
        &self,
        ExecPlan { shape, .. }: &ExecPlan,
        n: usize,
        address: &dyn Fn(usize) -> usize,
        part: &mut ExecPlan,
        visit: &mut dyn FnMut(&ExecPlan),
    ) {
        let (grains, along) = (self.grains(shape), self.along_cut(shape));
        let (slower_dims, dims) = shape.output.output_dims().split_at(self.cut);
        // How many steps of the cut loop are before the first cache line that begins there.
        let before_line = |slower: usize| {
            let start = shape.output.start as isize + offset_at(slower_dims, slower);
            let is_line =
                |&n: &usize| address((start + n as isize * dims[0].stride) as usize).is_multiple_of(CACHE_LINE_BYTES);
            (0..self.line_steps).find(is_line).unwrap_or(0)
        };
        let bound = |n: usize| {
            let grain = share_start(n, self.count, grains);
            // Not where the cut loop begins again in the middle of a cache line.
            let is_start = grain.is_multiple_of(along) && (1..self.count).contains(&n);
            grain + usize::from(is_start && along > 1 && before_line(grain / along) > 0)
        };
        let (mut grain, end) = (bound(n), bound(n + 1));
        while grain < end {
            let (slower, first) = (grain / along, grain % along);
            let last = along.min(first + end - grain);
            let before_line = before_line(slower);
            let step_of = |grain: usize| match grain {
                0 => 0,
                _ if grain == along => dims[0].size,
                _ => before_line + grain * self.grain,
            };
            part.shape.move_to(shape, self.cut, slower, step_of(first)..step_of(last));
            visit(part);
            grain += last - first;
        }
    }
}

impl ReductionParts {
    /// How many parts there are.
    pub(crate) fn count(&self) -> usize {
        self.groups * self.slabs.count()
    }
}

/// A division, or none, to print.
struct Printed(Option<Division>);

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Division { tasks, parts }) = &self.0 else { return f.write_str("1 task") };
        let (count, what) = match parts {
            Parts::Outputs(parts) => (parts.count, "parts of the outputs"),
            Parts::Reduction(parts) => (parts.count(), "slabs of the reduction"),
        };
        write!(f, "{tasks} tasks, {count} {what}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArgReduce, Layout, ScopedThreads};
    use argreduce_kernels::StridedIter;

    /// Parts are all outputs, each once; and no two parts share a cache line of the indices, wherever the first is.
    #[test]
    fn parts_are_the_outputs() {
        let cases = [
            ([1, 7000, 3], [0, 3, 1], [0, 1, 0]),
            ([7, 700, 3], [2200, 3, 1], [700, 1, 0]),
            ([5, 3, 900], [2700, 900, 1], [900, 0, 1]),
            ([5, 3, 4096], [12288, 4096, 1], [4096, 0, 1]),
            ([40, 3, 96], [1, 40, 120], [96, 0, 1]),
            ([600, 3, 2], [6, 2, 1], [4, 0, 2]),
        ];
        for (sizes, strides, output_strides) in cases {
            let input = Layout::strided(&sizes, &strides, 0).unwrap();
            let axis = (0..3).find(|&axis| output_strides[axis] == 0 && sizes[axis] > 1).unwrap();
            let output_sizes: Vec<usize> = (0..3).map(|n| if n == axis { 1 } else { sizes[n] }).collect();
            let output = Layout::strided(&output_sizes, &output_strides, 0).unwrap();
            let reduce = ArgReduce::argmax(&input).axes(&[axis as isize]).output_layout(&output);
            let plan = reduce.plan::<f32, u32>().unwrap();
            let (exec, bytes) = (plan.exec(), OutputBytes { index: 4, value: None });
            for (width, misaligned) in [(2, 0), (3, 4), (7, 12), (64, 60), (1000, 20)] {
                let parts = exec.output_parts(width, width * PARTS_PER_TASK, bytes, MIN_TILE_WIDTH).unwrap();
                let address = |place: usize| misaligned + 4 * place;
                let mut part_of = vec![None; output.required_len()];
                let mut part = parts.plan(exec, WorkingSet::L2);
                for n in 0..parts.count {
                    parts.for_each_plan(exec, n, &address, &mut part, &mut |ExecPlan { shape: part, .. }| {
                        assert!(part.output.broadcast_dims().is_empty());
                        assert_eq!(part.reduced_dims(), exec.shape.reduced_dims());
                        for offset in StridedIter::new(part.output.output_dims()) {
                            let place = part.output.start + offset as usize;
                            assert_eq!(part_of[place].replace(n), None, "{sizes:?}, {width}");
                        }
                    });
                }
                let places = StridedIter::new(exec.shape.output.output_dims()).map(|offset| offset as usize);
                assert!(places.into_iter().all(|place| part_of[place].is_some()), "{sizes:?}, {width}");
                let line = |place: usize| address(place) / CACHE_LINE_BYTES;
                let shared = (1..part_of.len()).filter(|&place| {
                    let (a, b) = (part_of[place - 1], part_of[place]);
                    // Of outputs in another order than the input's, each part has some of each row.
                    let is_row_start = strides[0] == 1 && place.is_multiple_of(output_strides[0] as usize);
                    !is_row_start && a.is_some() && b.is_some() && a != b && line(place - 1) == line(place)
                });
                assert_eq!(shared.count(), 0, "{sizes:?}, {width}, {misaligned}");
            }
        }
    }

    /// Slabs of several loops, of which there may be more than wanted, have no more positions than there is room for.
    #[test]
    fn slabs_have_room() {
        for (sizes, expected) in [([4, 1 << 18, 1000], 4), ([5, 1 << 18, 1000], 3), ([7, 1 << 18, 1000], 3)] {
            // A gap, so that the loops stay two.
            let strides = [(sizes[1] as isize + 1) * 1000, 1000, 1];
            let layout = Layout::strided(&sizes, &strides, 0).unwrap();
            let plan = ArgReduce::argmax(&layout).axes(&[0, 1]).plan::<f32, u32>().unwrap();
            let bytes = OutputBytes { index: 4, value: None };
            let Some(Division { parts: Parts::Reduction(parts), .. }) = plan.exec().divide(4, 16 << 20, bytes) else {
                panic!("{plan} is not cut into slabs")
            };
            assert_eq!(parts.slabs.count(), expected, "{sizes:?}");
            assert!(parts.count() * parts.group_outputs <= MAX_PARTIALS, "{sizes:?}");
        }
    }

    /// Columns of wide rows that are read from memory have wide parts, where there are as many as tasks.
    #[test]
    fn columns_from_memory() {
        let how = |sizes: [usize; 2]| {
            let layout = Layout::contiguous(&sizes).unwrap();
            let plan = ArgReduce::argmax(&layout).axes(&[0]).plan::<f32, u32>().unwrap();
            plan.division_on(&ScopedThreads::new(2)).to_string()
        };
        assert_eq!(how([1 << 18, 8192]), "2 tasks, 4 parts of the outputs");
        assert_eq!(how([1 << 18, 16 * 2048]), "2 tasks, 16 parts of the outputs");
        // As wide as there are two of them; or slabs of rows.
        assert_eq!(how([1 << 20, 2048]), "2 tasks, 2 parts of the outputs");
        assert_eq!(how([1 << 21, 1000]), "2 tasks, 4 slabs of the reduction");
    }
}
