//! Plans with split loops: each step along them gives a partial answer, and those of an output are merged, by value and
//! then by index. See `planner/split.rs` for what is split.
//!
//! ```text
//! for each window of the kept loops, of at most MAX_PARTIALS outputs:
//!     for each tile of the kept loops of the window and the split loops, in the order of the input's memory, but for
//!     those that cannot have anything better, or the same with a smaller index:
//!         positions, values = kernel(input at the tile)
//!         for each partial answer: keep it if it is better than the best of its output, or ties and comes first
//!     write the best ones
//! ```
#![allow(unsafe_code)]

use super::call::{KernelCall, PositionPlaces, ValuePlaces};
use super::input::{BoundPlan, ElementsRef, Order};
use super::masked::{CallMask, MaskBuffers, MaskedFinder, NOTHING, OrderedKernel, worst};
use super::search::Search;
use super::slices::OutputSlices;
use super::tiles::{Grid, MIN_READ_OUTPUTS, NEAR_BYTES, OutputTile, TILE, for_each_tile};
use super::write::split_last;
use crate::planner::{CollapsedShape, MAX_MASKED_OUTPUTS, count};
use crate::{Element, NanPolicy, ReduceFunction};
use argreduce_kernels::{LoopDim, Strategy, StridedIter, key, offset_at, with_reduced_type};
use std::array;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The best element of an output so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    /// Of two elements, the better one has the larger key.
    key: i64,
    /// Of two that tie, the one that is visited first has the smaller rank.
    rank: u64,
    /// Where in the input it is.
    place: usize,
}

impl Best {
    /// Worse than every element.
    pub(super) const NONE: Best = Best { key: i64::MIN, rank: u64::MAX, place: usize::MAX };

    fn is_none(&self) -> bool {
        self.place == usize::MAX
    }

    #[inline(always)]
    fn merge(&mut self, other: Best) {
        // The worst element at the last rank is better than none.
        let comes_first = other.rank < self.rank || self.is_none();
        if other.key > self.key || other.key == self.key && comes_first {
            *self = other;
        }
    }
}

/// What turns indices into ranks, and back: where the last of equals wins, the largest index comes first.
fn rank_mask(shape: &CollapsedShape) -> u64 {
    if shape.index_steps()[0].stride < 0 { u64::MAX } else { 0 }
}

/// Does something with the best elements so far, which others may share.
pub(super) type WithBest<'a> = dyn FnMut(&mut dyn FnMut(&mut [Best])) + 'a;

/// What finds the best elements of some outputs by each order: of the shape's kept loops.
pub(super) type FindWindow<'a, const N: usize> = dyn FnMut(&CollapsedShape, [&mut [Best]; N]) + 'a;

/// Answers every output of plans with split loops, but for copies: of a window of them after another, what is found.
pub(super) fn run_split<const N: usize>(
    search: &Search<'_, N>,
    slices: &mut [&mut OutputSlices<'_>; N],
    find: &mut FindWindow<'_, N>,
) {
    if count(search.plan().shape().kept_dims()) <= FEW_PARTIALS / N {
        run_windows(search, slices, &mut [Best::NONE; FEW_PARTIALS], find);
    } else {
        run_large_windows(search, slices, find);
    }
}

/// A function, because its buffer makes a large frame.
#[inline(never)]
fn run_large_windows<const N: usize>(
    search: &Search<'_, N>,
    slices: &mut [&mut OutputSlices<'_>; N],
    find: &mut FindWindow<'_, N>,
) {
    run_windows(search, slices, &mut [Best::NONE; MAX_PARTIALS], find);
}

/// As many partial answers as short calls keep: a larger buffer would take them longer to clear. Not measured.
const FEW_PARTIALS: usize = 64;

/// As many as others do: 7 KiB on the stack. Not measured.
const MAX_PARTIALS: usize = 304;

/// The most outputs of one window.
pub(super) const fn max_window<const N: usize>() -> usize {
    MAX_PARTIALS / N
}

/// How many windows there are at most of so many outputs.
pub(super) fn max_windows<const N: usize>(outputs: usize) -> usize {
    outputs.div_ceil(max_window::<N>() / 2)
}

/// With a buffer for the best of a window.
#[inline(never)]
fn run_windows<const N: usize>(
    search: &Search<'_, N>,
    slices: &mut [&mut OutputSlices<'_>; N],
    buffer: &mut [Best],
    find: &mut FindWindow<'_, N>,
) {
    let (shape, most) = (search.plan().shape(), buffer.len() / N);
    // As many of the fastest kept loops as there is room for, and some steps of the one before.
    let (dims, mut cut, mut inside) = (shape.kept_dims(), shape.kept_dims().len(), 1);
    while cut > 0 && inside * dims[cut - 1].size <= most {
        cut -= 1;
        inside *= dims[cut].size;
    }
    let (cut, steps) = if cut == 0 { (0, usize::MAX) } else { (cut - 1, most / inside) };
    let mut window = shape.tail(cut);
    let size = dims.get(cut).map_or(1, |l| l.size);
    let steps = steps.min(size);
    for slower in 0..count(&dims[..cut]) {
        for first in (0..size).step_by(steps) {
            if !dims.is_empty() {
                // The last one overlaps the one before, because columns are no narrower than a vector.
                let first = first.min(size - steps);
                window.move_to(shape, cut, slower, first..first + steps);
            }
            let outputs = count(window.kept_dims());
            buffer[..N * outputs].fill(Best::NONE);
            let mut chunks = buffer[..N * outputs].chunks_exact_mut(outputs);
            find(&window, array::from_fn(|_| chunks.next().expect("a part of the buffer for each")));
            for ((bound, best), slices) in search.bounds.iter().zip(buffer.chunks_exact(outputs)).zip(&mut *slices) {
                // SAFETY: they are outputs of the plan, all of which are found.
                unsafe { write_best((bound.input(), search.mask), &window.kept(), best, slices) };
            }
        }
    }
}

/// Makes each of the best the better of itself and the best element of an output of `shape`: in the order of the kept
/// loops.
///
/// # Safety
/// - The loops of the shape over the input reach nothing that those of the plan do not, and its outputs are some of
///   the plan's, chosen from some of their elements.
pub(super) unsafe fn find_best(
    bound: &BoundPlan<'_>,
    mask: Option<&CallMask<'_>>,
    shape: &CollapsedShape,
    with_best: &mut WithBest<'_>,
) {
    let compared = mask.map_or(bound.input().data_type(), |mask| mask.compared(bound.input()));
    with_reduced_type!(compared, T => {
        // SAFETY: the caller's promise.
        unsafe {
            match mask {
                None => find_best_of::<T>(bound, shape, with_best),
                Some(mask) => find_best_there::<T>(bound, mask, shape, with_best),
            }
        }
    });
}

/// # Safety
/// - As for [`find_best`].
#[inline(never)]
unsafe fn find_best_of<T: Element>(bound: &BoundPlan<'_>, shape: &CollapsedShape, with_best: &mut WithBest<'_>) {
    let plan = bound.plan();
    let Some((_, strategy, kernel)) = bound.kernel() else { unreachable!("of one element, nothing is split") };
    let max_outputs = match strategy {
        // Those read each best element again: soon enough for it to be near.
        Strategy::Rows | Strategy::SegmentedRows => {
            let near = NEAR_BYTES / (plan.reduction_len() * plan.element_bytes());
            near.clamp(if unbeatable_key(bound).is_some() { 1 } else { MIN_READ_OUTPUTS }, TILE)
        }
        _ => TILE,
    };
    let (mut positions, mut values) = ([MaybeUninit::uninit(); TILE], [MaybeUninit::<T>::uninit(); TILE]);
    for_each_unsettled(bound, shape, |_| max_outputs, with_best, &mut |walk, tile, with_best| {
        let values = &mut values[..tile.outputs()];
        // Two loops are there for the indices; to read columns, one is better. (In a page, code is to be small.)
        let joins = cfg!(not(target_family = "wasm")) && strategy == Strategy::Columns;
        let grid = if joins { tile.input.joined() } else { tile.input };
        // SAFETY: the caller promises the loops, and what a bound plan reaches are elements of the input, for whose
        // size its kernel is. Positions count what is chosen from, as that of the plan (`limit_reduction`).
        let call = unsafe { KernelCall::new(kernel, bound.input(), grid, walk.reduced_dims(), plan.working_set()) };
        let places = ValuePlaces::of_buffer(values, T::DATA_TYPE);
        let (positions, _) = call.find(PositionPlaces::from(&mut positions[..tile.outputs()]), Some(places));
        // SAFETY: a kernel writes every value, as `Kernel` says: elements of the input, which are of this type.
        let values = unsafe { &*(&raw const *values as *const [T]) };
        with_best(&mut |best| merge_tile(bound.order(), shape, tile, (&*positions, values), best));
    });
}

/// As [`find_best_of`], of what is there, by its keys if it has some, which are a `T`.
///
/// # Safety
/// - As for [`find_best`].
#[inline(never)]
unsafe fn find_best_there<T: Element>(
    bound: &BoundPlan<'_>,
    mask: &CallMask<'_>,
    shape: &CollapsedShape,
    with_best: &mut WithBest<'_>,
) {
    let mut buffers = MaskBuffers::new();
    let mut finder = MaskedFinder::new(mask, &mut buffers);
    let Some(search) = OrderedKernel::of(bound) else { unreachable!("of one element, nothing is split") };
    let (mut positions, mut values) =
        ([MaybeUninit::uninit(); MAX_MASKED_OUTPUTS], [MaybeUninit::<T>::uninit(); MAX_MASKED_OUTPUTS]);
    // Of all outputs, or of those that are as bad as a key.
    let mut find_all = |search, as_bad: Option<i64>, with_best: &mut WithBest<'_>| {
        let mut has_any_lost = false;
        let max_outputs = |walk: &_| bound.plan().masked_outputs(walk);
        for_each_unsettled(bound, shape, max_outputs, with_best, &mut |walk, tile, with_best| {
            if let Some(key) = as_bad {
                let mut are_as_bad = [false; MAX_MASKED_OUTPUTS];
                let are_as_bad = &mut are_as_bad[..tile.outputs()];
                with_best(&mut |best| {
                    for (n, is) in are_as_bad.iter_mut().enumerate() {
                        *is = best[tile.output.place(n)].key <= key;
                    }
                });
                if !finder.may_be_there(search, walk, tile, &|n| are_as_bad[n]) {
                    return;
                }
            }
            let (positions, values) = (&mut positions[..tile.outputs()], &mut values[..tile.outputs()]);
            // SAFETY: the caller's promise.
            let (positions, values, has_lost) =
                unsafe { finder.find_elements(bound, search, walk, tile, positions, values) };
            has_any_lost |= has_lost;
            with_best(&mut |best| merge_tile(bound.order(), shape, tile, (&*positions, values), best));
        });
        has_any_lost
    };
    let ((function, policy), mut is_any_as_bad) = (bound.order(), false);
    let (has_lost, worst) = (find_all(search, None, with_best), key(function, policy, worst::<T>(bound.order())));
    with_best(&mut |best| is_any_as_bad = has_lost && best.iter().any(|best| best.key <= worst));
    if is_any_as_bad {
        find_all(search.of_worst(T::DATA_TYPE), Some(worst), with_best);
    }
}

/// What answers a tile of some loops, and merges that.
type FindTile<'a> = dyn FnMut(&CollapsedShape, &OutputTile, &mut WithBest<'_>) + 'a;

/// Calls a function for each tile of a shape, in the order of memory, but for those that cannot have anything better.
fn for_each_unsettled(
    bound: &BoundPlan<'_>,
    shape: &CollapsedShape,
    max_outputs: impl Fn(&CollapsedShape) -> usize,
    with_best: &mut WithBest<'_>,
    find: &mut FindTile<'_>,
) {
    let (walk, unbeatable) = (shape.in_memory_order(), unbeatable_key(bound));
    for_each_tile(&walk, max_outputs(&walk), &mut |tile| {
        let mut is_settled = false;
        if let Some(unbeatable) = unbeatable {
            with_best(&mut |best| {
                is_settled = matches!(best, [best] if best.key >= unbeatable
                    && best.rank < first_rank(tile.values.start, tile.values.dims.iter(), rank_mask(shape)));
            });
        }
        if !is_settled {
            find(&walk, tile, with_best);
        }
    });
}

/// The key of what nothing is better than, of types that often have it: NaN where that wins, or an end of a short type.
/// Bytes that are bools end at 1.
pub(super) fn unbeatable_key(bound: &BoundPlan<'_>) -> Option<i64> {
    let (_, _, kernel) = bound.kernel()?;
    let (function, policy) = bound.order();
    with_reduced_type!(kernel.data_type(), T => match T::ANY_NAN {
        Some(nan) if policy == NanPolicy::Propagate => Some(key(function, policy, nan)),
        _ if size_of::<T>() > 1 => None,
        _ if function == ReduceFunction::ArgMax => Some(key(function, policy, T::HIGHEST)),
        _ => Some(key(function, policy, T::LOWEST)),
    })
}

/// Where nothing is better than what some parts of a reduction to one output have: those that come after it need not be
/// read.
pub(super) struct Settled {
    unbeatable: Option<i64>,
    /// The smallest rank of what was found so. (As no index needs more bits than a pointer has, neither has its rank.)
    rank: AtomicUsize,
}

impl Settled {
    pub(super) fn new(bound: &BoundPlan<'_>) -> Self {
        let is_one = bound.plan().shape().kept_dims().is_empty();
        let unbeatable = if is_one { unbeatable_key(bound) } else { None };
        Settled { unbeatable, rank: AtomicUsize::new(usize::MAX) }
    }

    /// Whether everything in a part comes after it.
    pub(super) fn is_before(&self, part: &CollapsedShape) -> bool {
        let loops = || part.output.output_dims().iter().chain(part.index_steps());
        let first = || first_rank(part.index_start, loops(), rank_mask(part)) as usize;
        self.unbeatable.is_some() && self.rank.load(Relaxed) < first()
    }

    /// Takes what was found in a part.
    pub(super) fn add(&self, best: &[Best]) {
        if let (Some(unbeatable), [best]) = (self.unbeatable, best)
            && best.key >= unbeatable
        {
            self.rank.fetch_min(best.rank as usize, Relaxed);
        }
    }
}

/// The smallest rank that indices along some loops have. They wrap, because those of a window may be larger than an
/// `isize`.
fn first_rank<'a>(start: isize, loops: impl Iterator<Item = &'a LoopDim>, mask: u64) -> u64 {
    // Each loop begins with the smallest, or ends with it.
    let first = |l: &LoopDim| {
        if (l.stride >= 0) == (mask == 0) { 0 } else { (l.size as isize - 1).wrapping_mul(l.stride) }
    };
    loops.map(first).fold(start, isize::wrapping_add) as u64 ^ mask
}

/// Merges the partial answers of a tile, whose outputs are places in `best`, and whose values are indices.
fn merge_tile<T: Element>(
    (function, policy): Order,
    shape: &CollapsedShape,
    tile: &OutputTile,
    (positions, values): (&[u32], &[T]),
    best: &mut [Best],
) {
    let mask = rank_mask(shape);
    let (steps, strides) = (shape.index_steps(), shape.reduced_dims());
    let [height, width] = tile.input.dims.map(|l| l.size);
    for o in 0..height {
        let first = |grid: &Grid| grid.start.wrapping_add((o as isize).wrapping_mul(grid.dims[0].stride));
        let [place, to, index] = [&tile.input, &tile.output, &tile.values].map(first);
        let [place_step, to_step, index_step] = [&tile.input, &tile.output, &tile.values].map(|g| g.dims[1].stride);
        let row = positions[o * width..][..width].iter().zip(&values[o * width..][..width]);
        for (i, (&position, &value)) in row.enumerate() {
            let i = i as isize;
            let best = &mut best[(to + i * to_step) as usize];
            let key = key(function, policy, value);
            // Most are no better.
            if key < best.key || position == NOTHING {
                continue;
            }
            let position = position as usize;
            let [index_offset, offset] = match (steps, strides) {
                ([step], [stride]) => {
                    [step.stride, stride.stride].map(|stride| (position as isize).wrapping_mul(stride))
                }
                _ => [steps, strides].map(|loops| offset_at(loops, position)),
            };
            let rank = index.wrapping_add(i.wrapping_mul(index_step)).wrapping_add(index_offset) as u64 ^ mask;
            let place = (place + i * place_step + offset) as usize;
            best.merge(Best { key, rank, place });
        }
    }
}

/// Writes the best elements of the outputs of a shape: to their places, or where values are packed.
///
/// # Safety
/// - They are of outputs of the plan, each of which has been found, or of which a mask says that nothing is there.
unsafe fn write_best(
    (input, call_mask): (ElementsRef<'_>, Option<&CallMask<'_>>),
    shape: &CollapsedShape,
    best: &[Best],
    slices: &mut OutputSlices<'_>,
) {
    let mask = rank_mask(shape);
    let [(slower, row), (slower_values, value_row)] =
        [&shape.output, &shape.values].map(|nest| split_last(nest.output_dims()));
    let firsts = StridedIter::new(slower).zip(StridedIter::new(slower_values));
    for ((output, value), best) in firsts.zip(best.chunks_exact(row.size)) {
        let place = |start: usize, first: isize, n: usize, l: LoopDim| {
            (start as isize + first + n as isize * l.stride) as usize
        };
        for (n, best) in best.iter().enumerate() {
            let output = place(shape.output.start, output, n, row);
            let value = place(shape.values.start, value, n, value_row);
            if let Some(call_mask) = call_mask.filter(|_| best.is_none()) {
                call_mask.write_one_nothing(output, value, slices);
                continue;
            }
            slices.indices.set(output, (best.rank ^ mask) as isize, 0, 0);
            if let Some(values) = &mut slices.values {
                // SAFETY: the caller's promise: it was found where the loops of a bound plan reach.
                unsafe { values.copy(value, input, best.place) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::find::run_distinct;
    use crate::exec::write::copy_answers;
    use crate::planner::takes;
    use crate::reference::arg_reduce;
    use crate::{ArgReduce, AxisDirection, Isa, Layout, NanPolicy, Plan, ReduceFunction};
    use argreduce_kernels::{Strategy, kernel_of};

    /// Cutting reductions into slabs of any length changes no answer.
    #[test]
    fn slabs_of_any_length() {
        let sizes = [3, 2, 4, 5, 7];
        let values = [1.0_f32, 1.0, -0.0, 0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let data: Vec<f32> = (0..840_usize).map(|n| values[n * n * 31 % 47 % 7]).collect();
        // Packed; with the axes in the other order; and with some that are broadcast, so that the loops of the input
        // and of the index merge differently.
        let layouts = [[280, 140, 35, 7, 1], [1, 3, 6, 24, 120], [280, 0, 35, 0, 1]];
        let layouts = layouts.map(|strides| Layout::strided(&sizes, &strides, 0).unwrap());
        for (layout, axes) in layouts
            .iter()
            .flat_map(|layout| [&[0, 2, 4][..], &[1, 2, 3], &[0, 1, 2, 3, 4], &[4], &[0]].map(|axes| (layout, axes)))
        {
            for function in ReduceFunction::ALL {
                for policy in NanPolicy::ALL {
                    for direction in AxisDirection::ALL {
                        let reduce =
                            ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy);
                        let reduced = [0, 1, 2, 3, 4].map(|axis| axes.contains(&axis));
                        let expected = arg_reduce((function, direction, policy), layout, &reduced, &data);
                        slabs_change_no_answer(&reduce.plan().unwrap(), &data, (function, policy), &expected);
                    }
                }
            }
        }
    }

    fn slabs_change_no_answer(
        plan: &Plan<f32, usize>,
        data: &[f32],
        (function, policy): (ReduceFunction, NanPolicy),
        expected: &[usize],
    ) {
        let (indices, expected_values): (Vec<usize>, Vec<f32>) = plan.collect(data).unwrap();
        assert_eq!(indices, expected, "{plan}");
        for max_len in (1..30).chain([60, 100, 839, 840, 1000]) {
            let mut shape = *plan.exec().shape();
            shape.limit_reduction(max_len);
            let is_limited = count(shape.reduced_dims()) <= max_len;
            assert!(is_limited || max_len * max_len < 4 * 840, "{plan}, slabs of {max_len}");
            if !shape.is_split() {
                continue;
            }
            let lanes = Isa::detect().vector_bytes() / size_of::<f32>();
            // Real slabs are never too short for wide rows.
            let strategies = Strategy::ALL
                .into_iter()
                .filter(|strategy| *strategy != Strategy::NarrowColumns && takes(&shape, *strategy, lanes));
            for strategy in strategies {
                let (mut found, mut values) = (vec![99_usize; expected.len()], vec![9.0; expected.len()]);
                let kernel = kernel_of(crate::DataType::F32, Isa::detect(), strategy, function, policy).unwrap();
                let slices =
                    &mut OutputSlices { indices: found[..].as_mut().into(), values: Some(values[..].as_mut().into()) };
                let exec = plan.exec().with_kernel(shape, (Isa::detect(), strategy, kernel));
                // SAFETY: the plan was made for a layout that needs no more elements, and cutting adds none. It has a
                // kernel for its elements.
                let search = unsafe {
                    Search::new([BoundPlan::new(&exec, (function, policy), data.len(), data[..].into())], None)
                };
                run_distinct(&search, &mut [slices]);
                copy_answers(exec.shape(), slices);
                assert_eq!(found, expected, "{plan}, slabs of {max_len}");
                let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&values), bits(&expected_values), "{plan}, slabs of {max_len}");
            }
        }
    }
}
