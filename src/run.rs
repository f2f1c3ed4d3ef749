//! Runs a plan: cuts the outputs into tiles, calls the kernel on each, and writes what it found. This is the only file of the facade
//! with `unsafe` in it, and it has one kernel call.

#[cfg(feature = "ndarray")]
use crate::Error;
use crate::collapse::{KeptNest, Nest, Problem};
use crate::plan::Work;
use crate::{Element, Index, Isa, Layout, Loop, MAX_RANK, NanPolicy, ReduceFunction, Strategy};
use argreduce_kernels::{Kernel, Tile, Walk, better, offset_of};
use multiversion::multiversion;
use std::hint::select_unpredictable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Outputs per tile, where their positions go to a buffer first: they take 4 KiB on the stack.
const TILE: usize = 1024;

/// Outputs per tile, where their positions go straight to the output: few calls, and what was written is still in L2 if it has to be turned
/// into indices.
const DIRECT_TILE: usize = 1 << 14;

/// Positions are 32 bits wide: a kernel is never asked to visit more elements than this for one output.
pub(crate) const LONGEST_VISIT: usize = u32::MAX as usize;

/// Answers every output. The slices are as long as their layouts need, and `layout` is the one that the work was planned for.
pub(crate) fn run<T: Element, I: Index>(
    work: &Work,
    function: ReduceFunction,
    policy: NanPolicy,
    layout: &Layout,
    input: Memory<'_, T>,
    indices: &mut [I],
    mut values: Option<&mut [T]>,
) {
    assert!(input.len() >= layout.required_len());
    let problem = &work.problem;
    if problem.input.loops.is_empty() && problem.output.copies.is_empty() && work.visited <= LONGEST_VISIT {
        let found = run_single(work, (function, policy), input);
        indices[problem.output.start] = index_at(problem, found.into());
        if let Some(values) = values {
            let place = problem.input.start as isize + offset_of(&problem.reduced, found as usize);
            values[problem.values.start] = input.get(place as usize);
        }
        return;
    }
    run_distinct(work, (function, policy), input, indices, values.as_deref_mut());
    if !problem.output.copies.is_empty() {
        copy(&problem.output, indices);
        if let Some(values) = values {
            copy(&problem.values, values);
        }
    }
}

/// The position of the one answer, the shortest way: the loops around a tile cost as much as a row of 64 elements.
#[inline(always)]
fn run_single<T: Element>(work: &Work, order: (ReduceFunction, NanPolicy), input: Memory<'_, T>) -> u32 {
    let problem = &work.problem;
    let start = problem.input.start as isize;
    match (work.kernel, &problem.reduced[..]) {
        (None, _) => 0,
        (_, &[line]) if line.size <= FEW => {
            find_of_few(order, line.size, |n| input.get((start + n as isize * line.stride) as usize)) as u32
        }
        (Some((_, kernel)), reduced) => find(kernel, input, start, [ONCE; 2], reduced, &mut [MaybeUninit::uninit()])[0],
    }
}

/// Answers those outputs that are no copies. A call of its own, because its buffers make a large frame.
#[inline(never)]
fn run_distinct<T: Element, I: Index>(
    work: &Work,
    (function, policy): (ReduceFunction, NanPolicy),
    input: Memory<'_, T>,
    indices: &mut [I],
    mut values: Option<&mut [T]>,
) {
    let problem = &work.problem;
    let Some((_, kernel)) = work.kernel else {
        static FIRST: [u32; TILE] = [0; TILE];
        return for_each_tile(problem, TILE, &mut |tile| {
            tile.write(problem, &FIRST[..tile.outputs()], input, indices, values.as_deref_mut());
        });
    };
    if work.visited > LONGEST_VISIT {
        return in_blocks(problem, kernel, (function, policy), LONGEST_VISIT, input, indices, values);
    }
    if values.is_none() && is_direct::<I>(problem) {
        return for_each_tile(problem, DIRECT_TILE, &mut |tile| {
            let indices = &mut indices[tile.output_start as usize..][..tile.outputs()];
            let Some(positions) = I::as_positions(indices) else { return };
            // SAFETY: what is written through this is what `find` writes, and that is initialised.
            let buffer = unsafe { &mut *(&raw mut *positions as *mut [MaybeUninit<u32>]) };
            find(kernel, input, tile.input_start, tile.input, &problem.reduced, buffer);
            let (start, step) = (problem.index_start, problem.index[0].stride);
            if (start, step) != (0, 1) {
                turn(positions, start as u32, step as u32);
            }
        });
    }
    for_each_tile(problem, TILE, &mut |tile| {
        let mut buffer = [MaybeUninit::uninit(); TILE];
        let positions = find(kernel, input, tile.input_start, tile.input, &problem.reduced, &mut buffer);
        tile.write(problem, positions, input, indices, values.as_deref_mut());
    });
}

/// Writes each output to the places of its copies too.
fn copy<X: Copy>(kept: &KeptNest, outputs: &mut [X]) {
    let ((slower, line), (slower_copies, copies)) = (split_line(&kept.loops), split_line(&kept.copies));
    for first in Walk::new(slower).map(|offset| kept.start as isize + offset) {
        for to in Walk::new(slower_copies).map(|offset| first + offset) {
            let place = |first: isize, n: usize, step: isize| (first + n as isize * step) as usize;
            if copies.stride == 1 {
                for n in 0..line.size {
                    let output = outputs[place(first, n, line.stride)];
                    outputs[place(to, n, line.stride)..][..copies.size].fill(output);
                }
                continue;
            }
            for to in (0..copies.size).map(|n| to + n as isize * copies.stride) {
                if line.stride == 1 {
                    outputs.copy_within(place(first, 0, 1)..place(first, line.size, 1), to as usize);
                } else {
                    for n in 0..line.size {
                        outputs[place(to, n, line.stride)] = outputs[place(first, n, line.stride)];
                    }
                }
            }
        }
    }
}

/// Whether a kernel can write its positions where the indices go: those are as wide, packed along the two fastest loops, and evenly spaced.
fn is_direct<I: Index>(problem: &Problem) -> bool {
    let (_, [outer, inner]) = split(&problem.output.loops);
    let is_packed = inner.stride == 1 && (outer.size == 1 || outer.stride == inner.size as isize);
    is_packed && problem.index.len() == 1 && I::as_positions(&mut []).is_some()
}

/// Elements that can be read: all of a slice, or those of a view, with what lies between them left alone. (A view of another array has no
/// slice: what lies between its elements may be somebody else's to write.)
#[derive(Clone, Copy)]
pub(crate) struct Memory<'a, T> {
    start: *const T,
    len: usize,
    lifetime: PhantomData<&'a [T]>,
}

impl<'a, T> From<&'a [T]> for Memory<'a, T> {
    fn from(slice: &'a [T]) -> Self {
        Memory { start: slice.as_ptr(), len: slice.len(), lifetime: PhantomData }
    }
}

impl<'a, T: Copy> Memory<'a, T> {
    /// The elements of a view, and where they are. Only the elements of that layout may be read.
    #[cfg(feature = "ndarray")]
    pub(crate) fn of_view<D: ndarray::Dimension>(
        view: ndarray::ArrayView<'a, T, D>,
    ) -> Result<(Layout, Memory<'a, T>), Error> {
        let before =
            |(&size, &stride): (&usize, &isize)| stride.min(0).unsigned_abs().saturating_mul(size.saturating_sub(1));
        let offset = view.shape().iter().zip(view.strides()).map(before).fold(0, usize::saturating_add);
        let layout = Layout::strided(view.shape(), view.strides(), offset)?;
        let start = if layout.element_count() == 0 { view.as_ptr() } else { view.as_ptr().wrapping_sub(offset) };
        Ok((layout, Memory { start, len: layout.required_len(), lifetime: PhantomData }))
    }

    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// An element that the layout reaches.
    fn get(self, place: usize) -> T {
        assert!(place < self.len);
        // SAFETY: of a slice, every place below its length is an element. Of a view, every place that its layout reaches is one, by the
        // invariants of `ArrayView`; and no other place is asked for: `tests` in `collapse.rs` compares the visited elements.
        unsafe { self.start.add(place).read() }
    }
}

/// So few elements that a plain loop is done before a kernel has begun. (Zen 3: a kernel takes 16 ns.)
pub(crate) const FEW: usize = 8;

/// The position of the first best of so few elements.
#[inline(always)]
pub(crate) fn find_of_few<T: Element>(
    (function, policy): (ReduceFunction, NanPolicy),
    len: usize,
    get: impl Fn(usize) -> T,
) -> usize {
    let (mut best, mut best_at) = (get(0), 0);
    for n in 1..len {
        let new = get(n);
        let is_better = better(function, policy, new, best);
        best = select_unpredictable(is_better, new, best);
        best_at = select_unpredictable(is_better, n, best_at);
    }
    best_at
}

/// The position of the first best element of a slice of at most [`LONGEST_VISIT`].
pub(crate) fn of_slice<T: Element>(function: ReduceFunction, isa: Isa, elements: &[T]) -> Option<usize> {
    let kernel = argreduce_kernels::kernel::<T>(isa, Strategy::Rows, function, NanPolicy::default())?;
    let line = Loop { size: elements.len(), stride: 1 };
    Some(find(kernel, elements.into(), 0, [ONCE; 2], &[line], &mut [MaybeUninit::uninit()])[0] as usize)
}

/// The one door to the kernels.
fn find<'a, T: Element>(
    kernel: Kernel,
    input: Memory<'_, T>,
    start: isize,
    [outer, inner]: [Loop; 2],
    reduced: &[Loop],
    buffer: &'a mut [MaybeUninit<u32>],
) -> &'a [u32] {
    let positions = &mut buffer[..outer.size * inner.size];
    let input = input.start.wrapping_offset(start).cast();
    // SAFETY:
    // - The ISA: kernels come from `argreduce_kernels::kernel`, here and in plans, which gives none for an absent ISA.
    // - The elements: `Layout` has proved that its offset and strides reach nothing but the first `required_len` elements, `run` that the
    //   memory has those; collapsing drops, merges and turns loops, and a tile is a part of them (`tests` in `collapse.rs` compares
    //   the visited elements), so none of them reaches a place that the layout does not.
    // - Fewer than 2^32 positions: `run` takes `in_blocks` otherwise, which cuts.
    // For `of_slice`, the one loop over the slice is all of that at once.
    unsafe { kernel(&Tile { input, outer, inner, reduced }, positions) };
    // SAFETY: a kernel writes every position.
    unsafe { &*(positions as *const [MaybeUninit<u32>] as *const [u32]) }
}

/// Some of the outputs: a part of the two fastest kept loops, and where the others stand.
struct Place {
    input_start: isize,
    input: [Loop; 2],
    output_start: isize,
    output: [Loop; 2],
    values_start: isize,
    values: [Loop; 2],
}

/// Cuts the outputs into tiles of at most `most`. The last part of a line reaches back rather than being too short for a vector: some outputs are
/// answered twice, and the same.
///
/// One copy for all types, and so a pointer to what answers.
fn for_each_tile(problem: &Problem, most: usize, answer: &mut dyn FnMut(&Place)) {
    let (input, output, values) = (&problem.input, &problem.output, &problem.values);
    let ((slower, [outer, inner]), (slower_output, fast_output), (slower_values, fast_values)) =
        (split(&input.loops), split(&output.loops), split(&values.loops));
    let inner_step = inner.size.min(most);
    let outer_step = if outer.size == 1 || inner.size > most { 1 } else { (most / inner.size).min(outer.size) };
    for ((i, o), v) in Walk::new(slower).zip(Walk::new(slower_output)).zip(Walk::new(slower_values)) {
        // Not `step_by`, which divides: a call for one output has no time for it.
        let mut first_outer = 0;
        while first_outer < outer.size {
            let mut first_inner = 0;
            while first_inner < inner.size {
                let width = (inner.size - first_inner).max(NARROWEST.min(inner.size)).min(inner_step);
                first_inner = first_inner.min(inner.size - width);
                let sizes = [outer_step.min(outer.size - first_outer), width];
                let part = |start: usize, offset: isize, [outer, inner]: [Loop; 2]| {
                    let first = first_outer as isize * outer.stride + first_inner as isize * inner.stride;
                    let loops = [Loop { size: sizes[0], ..outer }, Loop { size: sizes[1], ..inner }];
                    (start as isize + offset + first, loops)
                };
                let (input_start, input) = part(input.start, i, [outer, inner]);
                let (output_start, output) = part(output.start, o, fast_output);
                let (values_start, values) = part(values.start, v, fast_values);
                answer(&Place { input_start, input, output_start, output, values_start, values });
                first_inner += width;
            }
            first_outer += outer_step;
        }
    }
}

/// The shortest part of a line: a group of the longest vectors of the narrowest elements.
const NARROWEST: usize = 256;

const ONCE: Loop = Loop { size: 1, stride: 0 };

/// The fastest loop of a nest, and the others.
fn split_line(nest: &Nest) -> (&[Loop], Loop) {
    nest.split_last().map_or((&[], ONCE), |(line, slower)| (slower, *line))
}

/// The two fastest loops of a nest, and the others.
fn split(nest: &Nest) -> (&[Loop], [Loop; 2]) {
    match nest[..] {
        [] => (&[], [ONCE, ONCE]),
        [inner] => (&[], [ONCE, inner]),
        [ref slower @ .., outer, inner] => (slower, [outer, inner]),
    }
}

impl Place {
    fn outputs(&self) -> usize {
        self.input[0].size * self.input[1].size
    }

    /// Writes the answers of the tile: indices from positions, and the elements at those positions.
    fn write<T: Element, I: Index, P: Copy + Into<u64>>(
        &self,
        problem: &Problem,
        positions: &[P],
        input: Memory<'_, T>,
        indices: &mut [I],
        mut values: Option<&mut [T]>,
    ) {
        let width = self.input[1].size;
        for o in 0..self.input[0].size {
            let positions = &positions[o * width..][..width];
            let start = |start: isize, [outer, _]: [Loop; 2]| start + o as isize * outer.stride;
            let first = start(self.output_start, self.output);
            write_indices(problem, positions, indices, first, self.output[1].stride);
            if let Some(values) = &mut values {
                let from = start(self.input_start, self.input);
                let to = start(self.values_start, self.values);
                for (i, &position) in positions.iter().enumerate() {
                    let position: u64 = position.into();
                    let from =
                        from + i as isize * self.input[1].stride + offset_of(&problem.reduced, position as usize);
                    values[(to + i as isize * self.values[1].stride) as usize] = input.get(from as usize);
                }
            }
        }
    }
}

/// Writes one line of indices, to every `stride`-th place from `first` on.
fn write_indices<I: Index, P: Copy + Into<u64>>(
    problem: &Problem,
    positions: &[P],
    indices: &mut [I],
    first: isize,
    stride: isize,
) {
    let start = problem.index_start;
    match problem.index[..] {
        [Loop { stride: step, .. }] if stride == 1 && positions.len() >= SHORTEST_NARROW => {
            narrow(positions, start, step, &mut indices[first as usize..]);
        }
        _ => {
            for (i, &position) in positions.iter().enumerate() {
                indices[(first + i as isize * stride) as usize] = index_at(problem, position.into());
            }
        }
    }
}

/// The index of the element that is visited at a position.
#[inline(always)]
fn index_at<I: Index>(problem: &Problem, position: u64) -> I {
    match problem.index[..] {
        [Loop { stride: step, .. }] => I::at(problem.index_start, position, step),
        // Where broadcast axes were left out between others, steps of the index are uneven.
        _ => I::at(problem.index_start + offset_of(&problem.index, position as usize), 0, 0),
    }
}

/// Shorter lines are not worth the choice of a vector version.
const SHORTEST_NARROW: usize = 16;

/// `indices[n] = start + positions[n] * step`, as `I`.
#[multiversion(targets("x86_64+avx2"))]
fn narrow<I: Index, P: Copy + Into<u64>>(positions: &[P], start: isize, step: isize, indices: &mut [I]) {
    for (index, &position) in indices.iter_mut().zip(positions) {
        *index = I::at(start, position.into(), step);
    }
}

/// Positions to indices, in place: `start + position * step`, which fits, whatever wraps on the way.
#[multiversion(targets("x86_64+avx2"))]
fn turn(positions: &mut [u32], start: u32, step: u32) {
    for position in positions {
        *position = start.wrapping_add(position.wrapping_mul(step));
    }
}

/// As [`run`], for outputs of so many elements that a position does not fit 32 bits: cuts the reduced loops into blocks of at most `longest`
/// elements, visits one after another, and merges their answers.
#[cold]
fn in_blocks<T: Element, I: Index>(
    problem: &Problem,
    kernel: Kernel,
    (function, policy): (ReduceFunction, NanPolicy),
    longest: usize,
    input: Memory<'_, T>,
    indices: &mut [I],
    mut values: Option<&mut [T]>,
) {
    // The loop that is cut: what is inside it fits a block, it as a whole does not.
    let (mut cut, mut inside) = (problem.reduced.len() - 1, 1);
    while inside * problem.reduced[cut].size <= longest && cut > 0 {
        inside *= problem.reduced[cut].size;
        cut -= 1;
    }
    let cut_loop = problem.reduced[cut];
    let step = (longest / inside).clamp(1, cut_loop.size);
    for_each_tile(problem, TILE, &mut |tile| {
        let mut best_positions = [0_u64; TILE];
        let mut best_values = [T::default(); TILE];
        for (n, offset) in Walk::new(&problem.reduced[..cut]).enumerate() {
            for first in (0..cut_loop.size).step_by(step) {
                // The last block reaches back, so that none is too small for a strategy: what is seen twice is never better than itself.
                let first = first.min(cut_loop.size - step);
                let visited = ((n * cut_loop.size + first) * inside) as u64;
                let mut block = [Loop::default(); MAX_RANK];
                let block = &mut block[..problem.reduced.len() - cut];
                block.copy_from_slice(&problem.reduced[cut..]);
                block[0].size = step;
                let start = tile.input_start + offset + first as isize * cut_loop.stride;
                let mut buffer = [MaybeUninit::uninit(); TILE];
                let positions = find(kernel, input, start, tile.input, block, &mut buffer);
                for (n, &position) in positions.iter().enumerate() {
                    let [outer, inner] = tile.input;
                    let output = (n / inner.size) as isize * outer.stride + (n % inner.size) as isize * inner.stride;
                    let value = input.get((start + output + offset_of(block, position as usize)) as usize);
                    if visited == 0 || better(function, policy, value, best_values[n]) {
                        best_values[n] = value;
                        best_positions[n] = visited + u64::from(position);
                    }
                }
            }
        }
        tile.write(problem, &best_positions[..tile.outputs()], input, indices, values.as_deref_mut());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArgReduce, AxisDirection, Isa};
    use argreduce_kernels::{Strategy, kernel};

    /// Cutting long reductions into blocks of any length changes no answer.
    #[test]
    fn blocks_of_any_length() {
        let sizes = [3, 2, 4, 5, 7];
        let values = [1.0_f32, 1.0, -0.0, 0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let data: Vec<f32> = (0..840_usize).map(|n| values[n * n * 31 % 47 % 7]).collect();
        for axes in [&[0, 2, 4][..], &[1, 2, 3], &[0, 1, 2, 3, 4], &[4], &[0]] {
            for function in ReduceFunction::ALL {
                for policy in NanPolicy::ALL {
                    for direction in AxisDirection::ALL {
                        let layout = Layout::contiguous(&sizes).unwrap();
                        let reduce =
                            ArgReduce::new(function, &layout).axes(axes).direction(direction).nan_policy(policy);
                        let plan = reduce.plan::<f32, u64>().unwrap();
                        let len = plan.output_layout().required_len();
                        let (mut expected, mut expected_values) = (vec![0; len], vec![0.0; len]);
                        plan.run_with_values(&data, &mut expected, &mut expected_values).unwrap();
                        for longest in (1..30).chain([60, 100, 839, 840, 1000]) {
                            let (mut found, mut values) = (vec![99; len], vec![9.0; len]);
                            let problem = &plan.work().unwrap().problem;
                            let lanes = Isa::detect().vector_bytes() / size_of::<f32>();
                            // Real blocks are never too short to be folded.
                            let strategies = Strategy::ALL.into_iter().filter(|strategy| {
                                *strategy != Strategy::FoldedColumns
                                    && strategy.takes(problem.inner(), &problem.reduced, lanes)
                            });
                            for strategy in strategies {
                                let kernel = kernel::<f32>(Isa::detect(), strategy, function, policy).unwrap();
                                in_blocks(
                                    problem,
                                    kernel,
                                    (function, policy),
                                    longest,
                                    data[..].into(),
                                    &mut found,
                                    Some(&mut values),
                                );
                                assert_eq!(found, expected, "{plan}, blocks of {longest}");
                                let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                                assert_eq!(bits(&values), bits(&expected_values), "{plan}, blocks of {longest}");
                            }
                        }
                    }
                }
            }
        }
    }
}
