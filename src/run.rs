//! Runs a plan: calls the kernel on each tile of the outputs, or on the only row. This is the only file of the facade with `unsafe` in it, and each
//! of the two is called in one place.

use crate::collapse::Problem;
use crate::index::{Indices, for_width};
use crate::tiles::{self, ONCE, Place, for_each_tile};
use crate::work::Work;
use crate::{DataType, Element, Isa, Loop, MAX_RANK, NanPolicy, ReduceFunction, Strategy};
#[cfg(feature = "ndarray")]
use crate::{Error, Layout};
use argreduce_kernels::{Affine, IndexBits, Kernel, Positions, Prefetch, Tile, Tuning, Walk, better, key, offset_of};
use std::hint::select_unpredictable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice::from_ref;
use std::sync::OnceLock;

/// Outputs per tile, where their positions go to a buffer first: they take 4 KiB on the stack.
const TILE: usize = 1024;

/// The same where there are no values to read: fewer calls, and the first-level cache has room for positions and
/// indices.
const INDEX_TILE: usize = 2048;

/// The same where neighbours in the output are of different lines, so that each of as many places as a line has
/// outputs gets longer runs: 16 KiB on the stack.
const ACROSS_TILE: usize = 4096;

/// Outputs per tile, where their positions go straight to the output: few calls, and what was written is still in the
/// second-level cache if it has to be turned into indices.
const DIRECT_TILE: usize = 1 << 14;

/// Positions are 32 bits wide: a kernel is never asked to visit more elements than this for one output.
pub(crate) const LONGEST_VISIT: usize = u32::MAX as usize;

/// Answers every output. The slices are as long as their layouts need; `required_len` is what the layout needs that the work was planned for.
#[inline]
pub(crate) fn run<T: Element>(
    work: &Work,
    order: (ReduceFunction, NanPolicy),
    required_len: usize,
    input: Memory<'_, T>,
    indices: Indices<'_>,
    values: Option<&mut [T]>,
) {
    assert!(input.len() >= required_len);
    if work.is_single {
        run_single(work, order, input, indices, values)
    } else {
        run_all(work, order, input, indices, values)
    }
}

/// As [`run`], for [one output](Work::is_single). Asks for the places of loops that are known, because to ask for the loops of a kind takes as long
/// as a row of 16 elements.
#[inline(always)]
pub(crate) fn run_single<T: Element>(
    work: &Work,
    order: (ReduceFunction, NanPolicy),
    input: Memory<'_, T>,
    mut indices: Indices<'_>,
    values: Option<&mut [T]>,
) {
    let problem = &work.problem;
    let (start, line, index) = (problem.input.start, problem.input.first(), problem.output.first());
    let found = match work.kernel {
        Some((_, kernel)) if !work.is_packed_row => find(
            kernel,
            input.at(start as isize),
            [ONCE; 2],
            from_ref(&line),
            work.prefetch,
            &mut [MaybeUninit::uninit()],
        )[0],
        Some((_, kernel)) => find_in_packed_row(kernel, order, input.part(start, line.size)),
        None => 0,
    };
    indices.set(problem.output.start, problem.index_start, found.into(), index.stride);
    if let Some(values) = values {
        values[problem.values.start] = input.get((start as isize + found as isize * line.stride) as usize);
    }
}

/// The position of the best of some neighbours.
#[inline(always)]
fn find_in_packed_row<T: Element>(kernel: Kernel, order: (ReduceFunction, NanPolicy), elements: &[T]) -> u32 {
    if elements.len() > FEW { find_in_row(kernel, elements) } else { find_of_few(order, elements) as u32 }
}

/// As [`run`], for any number of outputs.
#[inline(never)]
fn run_all<T: Element>(
    work: &Work,
    (function, policy): (ReduceFunction, NanPolicy),
    input: Memory<'_, T>,
    indices: Indices<'_>,
    values: Option<&mut [T]>,
) {
    let is_better = |a: usize, b: usize| better(function, policy, input.get(a), input.get(b));
    match size_of::<T>() {
        1 => run_as::<T, u8>(work, &is_better, input, indices, values),
        2 => run_as::<T, u16>(work, &is_better, input, indices, values),
        4 => run_as::<T, u32>(work, &is_better, input, indices, values),
        _ => run_as::<T, u64>(work, &is_better, input, indices, values),
    }
}

/// Answers all outputs, with elements as integers of their size, as indices are: nothing there depends on more, so that one copy serves several
/// types. (One for each of 52 pairs took 250 KB.)
#[inline(always)]
fn run_as<T: Element, Bits: Copy>(
    work: &Work,
    is_better: &IsBetter<'_>,
    input: Memory<'_, T>,
    mut indices: Indices<'_>,
    values: Option<&mut [T]>,
) {
    assert!(size_of::<T>() == size_of::<Bits>() && align_of::<T>() == align_of::<Bits>());
    let input = Memory { start: input.start.cast::<Bits>(), len: input.len, lifetime: PhantomData };
    // SAFETY: `Bits` are integers of the size and alignment of `T`, and what is written there was read from elements of the input.
    let mut values = values.map(|values| unsafe { &mut *(&raw mut *values as *mut [Bits]) });
    let output = &work.problem.output;
    run_distinct(work, is_better, input, &mut indices, values.as_deref_mut());
    if !output.copies().is_empty() {
        for_width!(indices, indices => tiles::copy(output, indices));
        if let Some(values) = values {
            tiles::copy(&work.problem.values, values);
        }
    }
}

/// Whether the element at one place is better than that at another.
type IsBetter<'a> = dyn Fn(usize, usize) -> bool + 'a;

/// Answers those outputs that are no copies. A call of its own, because its buffers make a large frame.
#[inline(never)]
fn run_distinct<T: Copy>(
    work: &Work,
    is_better: &IsBetter<'_>,
    input: Memory<'_, T>,
    indices: &mut Indices<'_>,
    mut values: Option<&mut [T]>,
) {
    let problem = &work.problem;
    let Some((_, kernel)) = work.kernel else {
        return for_each_tile(problem, TILE, &mut |tile| {
            tile.write(work, &mut [0; TILE][..tile.outputs()], input, indices, values.as_deref_mut());
        });
    };
    if work.visited > LONGEST_VISIT {
        return in_blocks(problem, kernel, LONGEST_VISIT, is_better, input, indices, values);
    }
    if let Some(map) = tiles::affine(problem)
        && values.is_none()
        && is_packed(problem)
    {
        match indices {
            Indices::U32(indices) => return run_straight(work, kernel, map, input, indices),
            Indices::U64(indices) => return run_straight(work, kernel, map, input, indices),
            _ => {}
        }
    }
    let most = match (tiles::is_across(problem), values.is_some()) {
        (true, _) => ACROSS_TILE,
        (_, true) => TILE,
        _ => INDEX_TILE,
    };
    for_each_tile(problem, most, &mut |tile| {
        let mut buffer = [MaybeUninit::uninit(); ACROSS_TILE];
        let positions =
            find(kernel, input.at(tile.input_start), tile.input, problem.reduced(), work.prefetch, &mut buffer);
        tile.write(work, positions, input, indices, values.as_deref_mut());
    });
}

/// The same where kernels write to the output: positions, which then become indices.
fn run_straight<T: Copy, I: IndexBits + Into<u64>>(
    work: &Work,
    kernel: Kernel,
    map: Affine,
    input: Memory<'_, T>,
    indices: &mut [I],
) where
    for<'a> Positions<'a>: From<&'a mut [I]>,
{
    let problem = &work.problem;
    for_each_tile(problem, DIRECT_TILE, &mut |tile| {
        let indices = &mut indices[tile.output_start as usize..][..tile.outputs()];
        let positions = Positions::from(&mut *indices);
        find_to(kernel, input.at(tile.input_start), tile.input, problem.reduced(), work.prefetch, positions);
        tiles::turn(map, indices);
    });
}

/// Whether the outputs are packed along the two fastest loops.
fn is_packed(problem: &Problem) -> bool {
    let (_, [outer, inner]) = tiles::split(problem.output.kept());
    inner.stride == 1 && (outer.size == 1 || outer.stride == inner.size as isize)
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

    /// What kernels take for the first element of a tile.
    #[inline(always)]
    fn at(self, place: isize) -> *const () {
        self.start.wrapping_offset(place).cast()
    }

    /// Neighbours that the layout reaches.
    fn part(self, first: usize, len: usize) -> &'a [T] {
        assert!(first <= self.len && len <= self.len - first);
        // SAFETY: they are below the length, and elements as in `get`.
        unsafe { std::slice::from_raw_parts(self.start.add(first), len) }
    }

    /// An element that the layout reaches.
    pub(crate) fn get(self, place: usize) -> T {
        assert!(place < self.len);
        // SAFETY: of a slice, every place below its length is an element. Of a view, every place that its layout reaches is one, by the
        // invariants of `ArrayView`; and no other place is asked for: `tests` in `collapse.rs` compares the visited elements.
        unsafe { self.start.add(place).read() }
    }
}

/// So few elements that a plain loop is done before a kernel is, whatever their type. (Slices on Zen 3, by the loop and by a kernel: 4 f32 took 5.9 and
/// 6.3 ns, 7 of them 9.7 and 6.3; 4 u8 2.9 and 6.2, 7 of them 4.8 and 6.2.)
pub(crate) const FEW: usize = 4;

/// The position of the first best of so few elements.
#[inline(always)]
pub(crate) fn find_of_few<T: Element>((function, policy): (ReduceFunction, NanPolicy), elements: &[T]) -> usize {
    let (mut best, mut best_at) = (i64::MIN, 0);
    for (n, &element) in elements.iter().enumerate() {
        let new = key(function, policy, element);
        let is_better = new > best;
        best = select_unpredictable(is_better, new, best);
        best_at = select_unpredictable(is_better, n, best_at);
    }
    best_at
}

/// Of each type and function, the kernel that slices take: to ask for it takes a third of the time of a short one.
static OF_SLICES: [[OnceLock<Kernel>; ReduceFunction::ALL.len()]; DataType::ALL.len()] =
    [const { [const { OnceLock::new() }; _] }; _];

/// The position of the first best element of a slice of at most [`LONGEST_VISIT`], by the kernel of the ISA that is asked for at first.
#[inline(always)]
pub(crate) fn of_slice<T: Element>(function: ReduceFunction, isa: fn() -> Isa, elements: &[T]) -> Option<usize> {
    match OF_SLICES[T::DATA_TYPE.ordinal()][function.ordinal()].get() {
        Some(kernel) => Some(find_in_row(*kernel, elements) as usize),
        None => of_first_slice(function, isa, elements),
    }
}

/// The same, and finds the kernel. A call, and the last thing that is done: else what it needs would be kept meanwhile, and every slice pay for it (16 of the
/// 73 instructions of one of 16 u8).
#[cold]
#[inline(never)]
fn of_first_slice<T: Element>(function: ReduceFunction, isa: fn() -> Isa, elements: &[T]) -> Option<usize> {
    let kernel = argreduce_kernels::kernel::<T>(isa(), Strategy::Rows, function, NanPolicy::default())?;
    let kernel = OF_SLICES[T::DATA_TYPE.ordinal()][function.ordinal()].get_or_init(|| kernel);
    Some(find_in_row(*kernel, elements) as usize)
}

/// The position of the first best of some neighbours, of which there are at most [`LONGEST_VISIT`].
#[inline(always)]
fn find_in_row<T>(kernel: Kernel, elements: &[T]) -> u32 {
    assert!(!elements.is_empty() && elements.len() <= LONGEST_VISIT);
    // SAFETY: the ISA as in `find`; the elements are those of a slice, and as many as the assertion says.
    unsafe { kernel.of_row(elements.as_ptr().cast(), elements.len(), Tuning::current()) }
}

/// The positions in a tile, in a buffer.
#[inline(always)]
fn find<'a>(
    kernel: Kernel,
    input: *const (),
    loops: [Loop; 2],
    reduced: &[Loop],
    prefetch: Prefetch,
    buffer: &'a mut [MaybeUninit<u32>],
) -> &'a mut [u32] {
    let positions = &mut buffer[..loops[0].size * loops[1].size];
    find_to(kernel, input, loops, reduced, prefetch, Positions::from(&mut *positions));
    // SAFETY: a kernel writes every position, as `Kernel` says (held by the kernels' tests, over memory that was no position before).
    unsafe { &mut *(&raw mut *positions as *mut [u32]) }
}

/// The door to the kernels for tiles.
#[inline(always)]
fn find_to(
    kernel: Kernel,
    input: *const (),
    [outer, inner]: [Loop; 2],
    reduced: &[Loop],
    prefetch: Prefetch,
    positions: Positions<'_>,
) {
    // SAFETY:
    // - The ISA: kernels come from `argreduce_kernels::kernel`, here and in plans, which gives none for an absent ISA.
    // - The elements: `Layout` has proved that its offset and strides reach nothing but the first `required_len` elements, `run` that the
    //   memory has those; collapsing drops, merges and turns loops, and a tile is a part of them (`tests` in `collapse.rs` compares
    //   the visited elements), so none of them reaches a place that the layout does not.
    // - Fewer than 2^32 positions, and no reduced loop of size 0: otherwise no output is single, and `run_distinct` takes `in_blocks`, which cuts; a
    //   plan has refused empty reductions (`check_index_range` in `plan.rs`).
    unsafe { kernel.run(&Tile { input, outer, inner, reduced, prefetch, tuning: Tuning::current() }, positions) };
}

/// As [`run`], for outputs of so many elements that a position does not fit 32 bits.
#[cold]
fn in_blocks<T: Copy>(
    problem: &Problem,
    kernel: Kernel,
    longest: usize,
    is_better: &IsBetter<'_>,
    input: Memory<'_, T>,
    indices: &mut Indices<'_>,
    mut values: Option<&mut [T]>,
) {
    for_each_tile(problem, TILE, &mut |tile| {
        let mut positions = [0; TILE];
        let positions = &mut positions[..tile.outputs()];
        find_in_blocks(problem, kernel, longest, is_better, &|start| input.at(start), tile, positions);
        tile.write_values(problem, positions, input, values.as_deref_mut());
        tile.write_each(problem, positions, indices);
    });
}

/// The positions in a tile of such outputs: cuts the reduced loops into blocks of at most `longest` elements, visits one after another, and merges their answers. (The same for all types: a copy for each
/// was 15 KB more of the shared object.)
fn find_in_blocks(
    problem: &Problem,
    kernel: Kernel,
    longest: usize,
    is_better: &IsBetter<'_>,
    input: &dyn Fn(isize) -> *const (),
    tile: &Place,
    best_positions: &mut [u64],
) {
    // The loop that is cut: what is inside it fits a block, it as a whole does not.
    let (mut cut, mut inside) = (problem.reduced().len() - 1, 1);
    while inside * problem.reduced()[cut].size <= longest && cut > 0 {
        inside *= problem.reduced()[cut].size;
        cut -= 1;
    }
    let cut_loop = problem.reduced()[cut];
    let step = (longest / inside).clamp(1, cut_loop.size);
    assert!(step * inside <= longest);
    let mut best_places = [0; TILE];
    for (n, offset) in Walk::new(&problem.reduced()[..cut]).enumerate() {
        for first in (0..cut_loop.size).step_by(step) {
            // The last block reaches back, so that none is too small for a strategy: what is seen twice is never better than itself.
            let first = first.min(cut_loop.size - step);
            let visited = ((n * cut_loop.size + first) * inside) as u64;
            let mut block = [Loop::default(); MAX_RANK];
            let block = &mut block[..problem.reduced().len() - cut];
            block.copy_from_slice(&problem.reduced()[cut..]);
            block[0].size = step;
            let start = tile.input_start + offset + first as isize * cut_loop.stride;
            let mut buffer = [MaybeUninit::uninit(); TILE];
            let positions =
                find(kernel, input(start), tile.input, block, Tuning::current().prefetch_far(), &mut buffer);
            for (n, &position) in positions.iter().enumerate() {
                let [outer, inner] = tile.input;
                let output = (n / inner.size) as isize * outer.stride + (n % inner.size) as isize * inner.stride;
                let place = (start + output + offset_of(block, position as usize)) as usize;
                if visited == 0 || is_better(place, best_places[n]) {
                    best_places[n] = place;
                    best_positions[n] = visited + u64::from(position);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArgReduce, AxisDirection, Isa, Layout};
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
                            let problem = &plan.work().problem;
                            let lanes = Isa::detect().vector_bytes() / size_of::<f32>();
                            // Real blocks are never too short to be folded.
                            let strategies = Strategy::ALL.into_iter().filter(|strategy| {
                                *strategy != Strategy::FoldedColumns
                                    && strategy.takes(problem.inner(), problem.reduced(), lanes)
                            });
                            for strategy in strategies {
                                let kernel = kernel::<f32>(Isa::detect(), strategy, function, policy).unwrap();
                                in_blocks(
                                    problem,
                                    kernel,
                                    longest,
                                    &|a, b| better(function, policy, data[a], data[b]),
                                    data[..].into(),
                                    &mut Indices::U64(&mut found),
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
