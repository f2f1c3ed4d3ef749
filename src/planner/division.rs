//! How a call is divided among threads: into which parts, and into how many. By the shape, the strategy and how many
//! threads there are. No answer depends on it.
//!
//! ```text
//! tasks = as many as threads, but none below the executor's least bytes; below two, one thread does it all
//! cut the slowest loop over the outputs that is long enough, into grains that share no cache line of an output
//! if a few of those for each task, or as many for all: parts of the outputs, each written by its task
//! else: slabs of the reduction, each for all outputs; their answers are merged by the caller
//! else: parts of the outputs that share cache lines
//! ```

use super::collapse::CollapsedShape;
use super::exec_plan::ExecPlan;
use super::limits::{CACHE_LINE_BYTES, MIN_TILE_WIDTH, TILE};
use super::nest::count;
use crate::threads::claims::share_start;
use crate::threads::{Executor, tasks_for};
use argreduce_kernels::{LoopDim, Strategy, Tuning, WorkingSet, offset_at};
use std::fmt;

/// How many parts a task begins with at most, so that others can take some of them where a thread is late.
/// Not measured.
const PARTS_PER_TASK: usize = 8;

/// How many times the bytes that are worth a task a part reads at least, unless it is all of its task: each part costs
/// a little. Not measured.
const MIN_PART: usize = 4;

/// The bytes of a part that several plans read, one after another: of L2 a half, or less; and so many that to merge the
/// answers of parts takes little beside that. Not measured.
const SHARED_PART_BYTES: usize = 256 << 10;

/// How many bytes of each row a part of columns has at least, if the rows are read from memory: of fewer, neighbouring
/// rows would be read as slowly as elements that are far from each other. Not measured.
const MIN_FAR_COLUMN_BYTES: usize = 8 << 10;

/// The longest vectors, in elements: fewer neighbours are no columns.
const MAX_LANES: usize = 64;

/// About how many bytes are read between two pauses: by the slowest kernels, in a small part of a second; and so many
/// that a part more costs nothing beside them. Not measured.
pub(crate) const PAUSE_BYTES: usize = 16 << 20;

/// The shortest slabs of a reduction, in elements: long enough for each strategy. Not measured.
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

/// The reduction, in parts along one of the split loops, each for all outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReductionParts {
    /// How many parts there are, and how many outputs.
    pub(crate) count: usize,
    pub(crate) outputs: usize,
    /// Which split loop that is, or into how many slabs the reduced loops are cut to make one.
    along: Along,
}

#[derive(Clone, Copy, Debug)]
enum Along {
    Split(usize),
    Slabs(usize),
}

/// What is known of the slices of outputs: for both that there may be, the bytes of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputBytes {
    pub(crate) index: usize,
    pub(crate) value: Option<usize>,
}

impl ExecPlan {
    /// How the call is divided among the threads of an executor, and between its pauses. `None` where one thread does
    /// it all at once.
    pub(crate) fn divide(&self, executor: &dyn Executor, bytes: OutputBytes) -> Option<Division> {
        let (tasks, pauses) = (self.tasks(executor), self.pauses(executor));
        if tasks.max(pauses) < 2 {
            return None;
        }
        let most = tasks.saturating_mul(PARTS_PER_TASK);
        let worth = executor.min_task_bytes().saturating_mul(MIN_PART).max(1);
        let wanted = (self.input_bytes() / worth).clamp(tasks, most);
        // Two at least, or one part would be enough for a call of one thread that is to pause once.
        let enough = tasks.max(pauses / 2).max(2);
        self.divide_into(tasks, (enough, wanted.max(pauses)), bytes)
    }

    /// How many tasks the call is worth.
    fn tasks(&self, executor: &dyn Executor) -> usize {
        tasks_for(executor, self.input_bytes())
    }

    /// How many pauses there are to be.
    fn pauses(&self, executor: &dyn Executor) -> usize {
        if executor.pause().is_some() { self.input_bytes() / PAUSE_BYTES } else { 0 }
    }

    /// Whether there may be any.
    pub(super) fn may_pause(&self) -> bool {
        self.input_bytes() >= PAUSE_BYTES
    }

    /// As [`ExecPlan::divide`], of a call that several plans answer: into parts that a cache holds, where the whole is
    /// beyond it, so that the second plan to read a part finds it there. Not into slabs for more than `most` outputs,
    /// of which a part of each row would be read at a time: that is slower than to read the whole twice.
    pub(crate) fn divide_for_several(
        &self,
        executor: &dyn Executor,
        bytes: OutputBytes,
        most: usize,
    ) -> Option<Division> {
        let parts = self.input_bytes() / SHARED_PART_BYTES;
        if self.working_set() == WorkingSet::L2 || parts < 2 {
            return self.divide(executor, bytes);
        }
        let division = self.divide_into(self.tasks(executor), (parts / 2, parts), bytes);
        let reads_rows = |parts: &Parts| !matches!(parts, Parts::Reduction(parts) if parts.outputs > most);
        division.filter(|division| reads_rows(&division.parts)).or_else(|| self.divide(executor, bytes))
    }

    /// Into about so many parts, of the outputs if those are enough.
    fn divide_into(&self, tasks: usize, (enough, wanted): (usize, usize), bytes: OutputBytes) -> Option<Division> {
        let count_of = |outputs: Option<OutputParts>| outputs.map_or(1, |parts| parts.count);
        let min_width = self.min_width(tasks);
        let mut outputs = self.output_parts(tasks, wanted, bytes, min_width);
        let grains = outputs.map_or(1, |parts| parts.grains(self.shape()));
        let is_even = count_of(outputs) >= enough && grains * 10 >= grains.div_ceil(tasks) * tasks * 9;
        let reduction = if is_even { None } else { self.reduction_parts(tasks, wanted) };
        if !is_even && reduction.is_none() {
            let width = (self.shape().inner_dim().size / tasks).clamp(MIN_TILE_WIDTH, min_width);
            outputs = self.output_parts(tasks, wanted, bytes, width);
            if count_of(outputs) < 2 {
                // As if each had a line of its own: rather than one task, several that share some.
                let apart = OutputBytes { index: CACHE_LINE_BYTES, value: None };
                outputs = self.output_parts(tasks, wanted, apart, width);
            }
        }
        let count = count_of(outputs);
        let parts = match (reduction, outputs) {
            (Some(reduction), _) if reduction.count > count => Parts::Reduction(reduction),
            (_, Some(outputs)) if count > 1 => Parts::Outputs(outputs),
            _ => return None,
        };
        let count = match &parts {
            Parts::Outputs(parts) => parts.count,
            Parts::Reduction(parts) => parts.count,
        };
        Some(Division { tasks: tasks.min(count), parts })
    }

    /// How the call is divided among the threads of an executor, to print.
    pub(crate) fn division_on(&self, executor: &dyn Executor, index_bytes: usize) -> impl fmt::Display + use<> {
        let bytes = OutputBytes { index: index_bytes, value: None };
        Printed(self.divide(executor, bytes))
    }

    /// How wide parts of columns are at least, where there are enough of them for that.
    fn min_width(&self, tasks: usize) -> usize {
        let tuning = Tuning::current();
        if !tuning.is_far(tuning.working_set(self.input_bytes() / tasks)) {
            return MIN_TILE_WIDTH;
        }
        let elements = count(self.shape().input.output_dims()).saturating_mul(self.reduction_len());
        (MIN_FAR_COLUMN_BYTES / (self.input_bytes() / elements).max(1)).max(MIN_TILE_WIDTH)
    }

    /// The outputs, in `wanted` parts or in as many as there can be.
    fn output_parts(&self, tasks: usize, wanted: usize, bytes: OutputBytes, min_width: usize) -> Option<OutputParts> {
        let (loops, inner) = (self.shape().kept_dims(), self.shape().inner_dim());
        let mut found = None;
        for cut in 0..loops.len() {
            let strides = |cut: usize| self.shape().output.output_dims()[cut].stride.unsigned_abs();
            // In another order than the input's, neighbours would be of different steps of the slower loop.
            if cut > 0 && strides(cut - 1) < strides(cut) {
                break;
            }
            // The fewest steps of a kernel's call, and of a part.
            let (least, part_steps) = match self.kernel() {
                Some((_, Strategy::NarrowColumns, _)) if loops[cut] == inner => break,
                Some((_, Strategy::Columns | Strategy::GatheredColumns, _)) if loops[cut] == inner => {
                    (MAX_LANES, min_width)
                }
                _ => (1, 1),
            };
            let part_steps = part_steps.max(self.windows().map_or(1, |windows| windows.least_part(cut)));
            let line_steps = self.line_steps(cut, bytes);
            let parts = OutputParts { count: usize::MAX, cut, grain: least.max(line_steps), line_steps, least };
            // If the loop has one grain, that is not to cut it, but the slower one, in the middle of lines.
            if found.is_some() && parts.along_cut(self.shape()) == 1 {
                continue;
            }
            let largest = count(&loops[..cut]).saturating_mul((loops[cut].size / part_steps).max(1));
            let count = parts.grains(self.shape()).min(largest).min(wanted);
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
        let CollapsedShape { output, values, .. } = self.shape();
        let of_values = bytes.value.map_or(1, |bytes| steps(values.output_dims()[cut], bytes));
        steps(output.output_dims()[cut], bytes.index).max(of_values)
    }

    /// The reduction, in `wanted` parts or in as many as there can be. `None` where there are too many outputs: a few
    /// hundred at a time are on the stack of the caller until all parts are done, and each time threads are called.
    fn reduction_parts(&self, tasks: usize, wanted: usize) -> Option<ReductionParts> {
        let outputs = count(self.shape().kept_dims());
        if outputs > TILE || self.kernel().is_none() {
            return None;
        }
        // The slowest loop of those that are long enough. Not one of columns, by whose width the strategy was selected.
        let inner = self.shape().inner_dim();
        let slowest = |dims: &[LoopDim]| {
            let long = dims.iter().enumerate().filter(|&(_, l)| l.size >= wanted && (l.stride != 1 || *l != inner));
            long.map(|(n, l)| (l.stride.unsigned_abs(), n)).max()
        };
        let can_cut = self.reduction_len() / MIN_SLAB_LEN >= wanted;
        let split = slowest(self.shape().split_dims());
        let reduced = slowest(self.shape().reduced_dims()).filter(|_| can_cut);
        let (along, most) = match split {
            Some((distance, n)) if reduced.is_none_or(|reduced| distance > reduced.0) => (Along::Split(n), wanted),
            _ => {
                let mut shape = *self.shape();
                shape.cut_in_slabs(wanted, MIN_SLAB_LEN);
                (Along::Slabs(wanted), shape.split_dims()[0].size)
            }
        };
        let count = wanted.min(most);
        // As many for each task.
        let count = if count > tasks { count - count % tasks } else { count };
        (count > 1).then_some(ReductionParts { count, outputs, along })
    }
}

impl ReductionParts {
    /// The shape that has that loop.
    pub(crate) fn shape(&self, shape: &CollapsedShape) -> CollapsedShape {
        let mut shape = shape.tail(0);
        if let Along::Slabs(slabs) = self.along {
            shape.cut_in_slabs(slabs, MIN_SLAB_LEN);
        }
        shape
    }

    /// Makes `part` that of such a shape with number `n`.
    pub(crate) fn move_to(&self, whole: &CollapsedShape, n: usize, part: &mut CollapsedShape) {
        let split = match self.along {
            Along::Split(n) => n,
            // It was made the first.
            Along::Slabs(_) => 0,
        };
        let steps = whole.split_dims()[split].size;
        part.restrict_split(whole, split, share_start(n, self.count, steps)..share_start(n + 1, self.count, steps));
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
        whole.with_shape(whole.shape().tail(self.cut), working_set)
    }

    /// Part `n`: of each step of the slower loops, the grains that are in it. Parts begin where cache lines do, by the
    /// addresses of the indices.
    pub(crate) fn for_each_plan(
        &self,
        whole: &ExecPlan,
        n: usize,
        address: &dyn Fn(usize) -> usize,
        part: &mut ExecPlan,
        visit: &mut dyn FnMut(&ExecPlan),
    ) {
        let shape = whole.shape();
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
            part.move_to(whole, self.cut, slower, step_of(first)..step_of(last));
            visit(part);
            grain += last - first;
        }
    }
}

/// A division, or none, to print.
struct Printed(Option<Division>);

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Division { tasks, parts }) = &self.0 else { return f.write_str("1 task") };
        let (count, what) = match parts {
            Parts::Outputs(parts) => (parts.count, "parts of the outputs"),
            Parts::Reduction(parts) => (parts.count, "slabs of the reduction"),
        };
        write!(f, "{tasks} tasks, {count} {what}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::MAX_REDUCTION_LEN;
    use crate::{ArgReduce, AxisDirection, Layout, ScopedThreads};
    use argreduce_kernels::StridedIter;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};
    use std::array;

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
                    parts.for_each_plan(exec, n, &address, &mut part, &mut |part| {
                        let part = part.shape();
                        assert!(part.output.broadcast_dims().is_empty());
                        assert_eq!(part.reduced_dims(), exec.shape().reduced_dims());
                        for offset in StridedIter::new(part.output.output_dims()) {
                            let place = part.output.start + offset as usize;
                            assert_eq!(part_of[place].replace(n), None, "{sizes:?}, {width}");
                        }
                    });
                }
                let places = StridedIter::new(exec.shape().output.output_dims()).map(|offset| offset as usize);
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

    struct Lent {
        width: usize,
        min_task_bytes: usize,
        pauses: bool,
    }

    impl Executor for Lent {
        fn width(&self) -> usize {
            self.width
        }

        fn min_task_bytes(&self) -> usize {
            self.min_task_bytes
        }

        fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            (0..tasks).for_each(task);
        }

        fn pause(&self) -> Option<&(dyn Fn() + Sync)> {
            if self.pauses { Some(&|| ()) } else { None }
        }
    }

    /// Each element that a shape visits: where it is, and its index.
    fn visited(shape: &CollapsedShape) -> Vec<(isize, isize)> {
        let mut visited = Vec::new();
        let splits = &shape.output.output_dims()[shape.kept_len.into()..];
        for (input, index) in StridedIter::new(shape.split_dims()).zip(StridedIter::new(splits)) {
            for (position, offset) in StridedIter::new(shape.reduced_dims()).enumerate() {
                let index = shape.index_start + index + offset_at(shape.index_steps(), position);
                visited.push((shape.input.start as isize + input + offset, index));
            }
        }
        visited
    }

    fn visited_by_parts(parts: &ReductionParts, shape: &CollapsedShape) -> Vec<(isize, isize)> {
        let whole = parts.shape(shape);
        let mut part = whole;
        let of_parts = (0..parts.count).flat_map(|n| {
            parts.move_to(&whole, n, &mut part);
            visited(&part)
        });
        of_parts.collect()
    }

    /// Parts of the reduction visit all that it does, wherever memory has it.
    #[test]
    fn parts_are_the_reduction() {
        // With gaps, so that loops stay apart; in both orders; and with a broadcast axis between, so that the loops of
        // the input and of the index merge differently.
        type Case = ([usize; 3], [isize; 3], &'static [isize], usize);
        let cases: [Case; 7] = [
            ([4, 300, 1000], [301_000, 1000, 1], &[0, 1, 2], 16),
            ([4, 300, 1000], [301_000, 1000, 1], &[0, 1], 8),
            ([4, 300, 1000], [301_000, -1000, 1], &[1, 2], 12),
            ([3, 2, 400_000], [400_000, 0, 1], &[0, 1, 2], 3),
            ([1000, 300, 4], [1, 1000, 301_000], &[0, 1, 2], 16),
            ([3, 500, 1000], [1, 3, 1500], &[0, 1, 2], 16),
            ([400_000, 2, 3], [1, 0, 400_000], &[0, 2], 16),
        ];
        let options =
            || AxisDirection::ALL.into_iter().flat_map(|direction| [16, 20, 100].map(|wanted| (direction, wanted)));
        for ((sizes, strides, axes, expected), (direction, wanted)) in
            cases.into_iter().flat_map(|case| options().map(move |options| (case, options)))
        {
            let offset = if strides[1] < 0 { 299_000 } else { 0 };
            let layout = Layout::strided(&sizes, &strides, offset).unwrap();
            let plan = ArgReduce::argmax(&layout).axes(axes).direction(direction).plan::<f32, u32>().unwrap();
            let exec = plan.exec();
            let parts = exec.reduction_parts(4, wanted).unwrap();
            if wanted == 16 {
                assert_eq!(parts.count, expected, "{plan}");
            }
            let mut of_parts = visited_by_parts(&parts, exec.shape());
            let mut expected = visited(&exec.shape().tail(0));
            of_parts.sort_unstable();
            expected.sort_unstable();
            of_parts.dedup();
            assert!(of_parts == expected, "{plan}");
        }
    }

    /// As many loops as there can be, because none is as far apart as the steps of another: of a reduction that was cut
    /// already, so that positions count it, parts visit all that it does.
    #[test]
    fn what_was_cut_is_divided() {
        let mut rng = SmallRng::seed_from_u64(3);
        for direction in (0..300).flat_map(|_| AxisDirection::ALL) {
            let sizes: [usize; 8] = array::from_fn(|_| rng.random_range(2..6));
            let strides: [isize; 8] = array::from_fn(|_| rng.random_range(1..4_i64) as isize);
            let layout = Layout::strided(&sizes, &strides, 0).unwrap();
            let reduce = ArgReduce::argmax(&layout).all_axes().direction(direction);
            let whole = *reduce.plan::<f32, u64>().unwrap().exec();
            let mut expected = visited(whole.shape());
            let exec = whole.limited(sizes.iter().product::<usize>() / rng.random_range(2..20));
            let Some(parts) = exec.reduction_parts(4, rng.random_range(2..60)) else {
                continue;
            };
            let mut found = visited_by_parts(&parts, exec.shape());
            for visited in [&mut found, &mut expected] {
                visited.sort_unstable();
                visited.dedup();
            }
            assert!(found == expected, "{sizes:?} by {strides:?}, {parts:?}");
        }
    }

    /// A view whose axes are often walked in equal steps, as those of windows are; and often of more elements than
    /// positions count.
    fn any_view(rng: &mut SmallRng) -> Layout {
        let sizes: Vec<usize> = (0..rng.random_range(1..=8))
            .map(|_| if rng.random_range(0..4) > 0 { rng.random_range(1..10) } else { rng.random_range(1..300) })
            .collect();
        let steps = [1, 1, 1, 2, 5, -1, 64];
        let strides: Vec<isize> = sizes.iter().map(|_| steps[rng.random_range(0..steps.len())]).collect();
        let before = sizes.iter().zip(&strides).map(|(&n, &stride)| (n - 1) * stride.min(0).unsigned_abs()).sum();
        Layout::strided(&sizes, &strides, before).unwrap()
    }

    /// Some parts of a call: the first, the last, and others.
    fn for_each_part(exec: &ExecPlan, division: &Division, visit: &mut dyn FnMut(&CollapsedShape)) {
        match &division.parts {
            Parts::Reduction(parts) => {
                let whole = parts.shape(exec.shape());
                let mut part = whole;
                for n in 0..parts.count {
                    parts.move_to(&whole, n, &mut part);
                    visit(&part);
                }
            }
            Parts::Outputs(parts) => {
                let mut part = parts.plan(exec, WorkingSet::L2);
                for n in [0, parts.count / 2, parts.count - 1] {
                    parts.for_each_plan(exec, n, &|place| 8 * place, &mut part, &mut |part| visit(part.shape()));
                }
            }
        }
    }

    /// The loop that a kernel is given as the inner one is that by which it was selected, and it takes that: of any
    /// view, the whole and parts.
    #[test]
    fn kernels_take_what_they_are_given() {
        let mut rng = SmallRng::seed_from_u64(4);
        let (mut divided, mut large) = (0, 0);
        for _ in 0..10_000 {
            let layout = any_view(&mut rng);
            let axes = (0..layout.sizes().len() as isize).filter(|_| rng.random_range(0..4) > 0);
            let reduce = ArgReduce::argmax(&layout).axes(&axes.collect::<Vec<_>>());
            let exec = match rng.random_range(0..3) {
                0 => *reduce.plan::<u8, u64>().unwrap().exec(),
                1 => *reduce.plan::<f32, u64>().unwrap().exec(),
                _ => *reduce.plan::<f64, u64>().unwrap().exec(),
            };
            let Some((isa, strategy, _)) = exec.kernel() else { continue };
            let mut check = |shape: &CollapsedShape| {
                let walk = if shape.is_split() { shape.in_memory_order() } else { *shape };
                let inner = walk.input.output_dims().last().copied().unwrap_or(LoopDim::ONE);
                let lanes = isa.vector_bytes() / exec.element_bytes();
                assert!(strategy.takes(inner, walk.reduced_dims(), lanes), "{strategy} of {layout:?}: {shape:?}");
                assert_eq!(inner, shape.inner_dim(), "{layout:?}");
            };
            check(exec.shape());
            large += usize::from(exec.input_bytes() / exec.element_bytes() > MAX_REDUCTION_LEN);
            let bytes = OutputBytes { index: 8, value: None };
            if let Some(division) =
                exec.divide(&Lent { width: rng.random_range(2..20), min_task_bytes: 1, pauses: rng.random() }, bytes)
            {
                divided += 1;
                for_each_part(&exec, &division, &mut check);
            }
        }
        assert!(divided > 1000 && large > 100, "{divided}, {large}");
    }

    /// There are about as many pauses as some megabytes are read; but not where there are more outputs than slabs have
    /// room for, each of a long reduction.
    #[test]
    fn there_is_a_pause_every_some_megabytes() {
        const GIB: usize = 1 << 28;
        type Case = (&'static [usize], &'static [isize], &'static [isize]);
        let cases: [Case; 12] = [
            // As much as there are two pauses in.
            (&[1 << 23], &[1], &[0]),
            (&[GIB], &[1], &[0]),
            (&[4, GIB], &[1 << 28, 1], &[1]),
            (&[GIB, 4], &[4, 1], &[0]),
            (&[1 << 22, 1000], &[1000, 1], &[0]),
            (&[1000, 1 << 22], &[1 << 22, 1], &[0]),
            (&[GIB / 8, 100], &[1, 1], &[1]),
            (&[8192, 1024, 8192], &[4095, 4093, 5], &[0, 2]),
            (&[8192, 64, 8192], &[4095, 4093, 5], &[0, 2]),
            (&[64, 3, 4096, 4096], &[3 << 24, 1 << 24, 1 << 12, 1], &[0, 2, 3]),
            (&[64, 4096, 4096, 3], &[3 << 24, 3 << 12, 3, 1], &[1, 2]),
            (&[3, 1 << 20, 300], &[1, 3, 3 << 20], &[0, 2]),
        ];
        for (sizes, strides, axes) in cases {
            let layout = Layout::strided(sizes, strides, 0).unwrap();
            let plan = ArgReduce::argmax(&layout).axes(axes).plan::<f32, u32>().unwrap();
            for width in [1, 2, 7] {
                let division = plan
                    .exec()
                    .divide(
                        &Lent { width, min_task_bytes: 256 << 10, pauses: true },
                        OutputBytes { index: 4, value: None },
                    )
                    .unwrap();
                let pauses = match division.parts {
                    Parts::Outputs(parts) => parts.count,
                    Parts::Reduction(parts) => parts.count,
                };
                let bytes = plan.exec().input_bytes() / pauses;
                assert!(bytes <= 8 * PAUSE_BYTES, "{bytes} bytes between pauses: {plan}, {width}, {division:?}");
            }
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
        assert_eq!(how([1 << 21, 1000]), "2 tasks, 16 slabs of the reduction");
    }
}
