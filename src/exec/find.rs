//! The outputs of a plan, or of two that differ in their order alone, tile by tile. Knows nothing of threads.
#![allow(unsafe_code)]

use super::call::{KernelCall, PositionPlaces, ValuePlaces};
use super::input::BoundPlan;
use super::masked::{CallMask, MaskBuffers, MaskedFinder};
use super::outputs::OutputSlice;
use super::search::Search;
use super::slices::{Indices, OutputSlices};
use super::split::{find_best, run_split};
use super::tiles::{
    DIRECT_TILE, Grid, INDEX_TILE, MAPPED_TILE, MIN_READ_OUTPUTS, OutputTile, POSITION_BUFFER_BYTES, TILE,
};
use super::tiles::{PositionBuffer, VALUE_BUFFER_BYTES, ValueBuffer};
use super::tiles::{are_packed, for_each_tile, is_transposed, near_outputs, split};
use super::values::Values;
use super::windows::run_windows;
use super::write::affine;
use crate::planner::{ExecPlan, LoopNest, MIN_TILE_WIDTH};
use argreduce_kernels::{Affine, BothKernel, IndexBits, Kernel, LoopDim, Positions, Strategy, with_element_bits};
use std::mem::MaybeUninit;

/// The most bytes of a tile that two orders read in turn: of small L2 caches all. Not measured.
const MAX_SHARED_BYTES: usize = 512 << 10;

impl<const N: usize> Search<'_, N> {
    /// Outputs per tile.
    fn max_outputs(&self, slices: &OutputSlices<'_>) -> usize {
        let plan = self.plan();
        let (shape, has_values) = (plan.shape(), slices.values.is_some());
        let row_bytes = plan.reduction_len().saturating_mul(plan.element_bytes());
        let Some((_, strategy, _)) = self.bounds[0].kernel() else { return TILE };
        let of = |nest: &LoopNest| split(nest.output_dims()).1;
        let most = Targets::of(plan, &slices.indices, of(&shape.output), of(&shape.values)).max_outputs(plan, slices);
        let (least, most) = match strategy {
            // What is for both goes through buffers.
            _ if self.both.is_some() && has_values => (MIN_READ_OUTPUTS, most.min(TILE)),
            _ if self.both.is_some() => return most.min(TILE),
            // Those read each best element again: soon enough for it to be near. And the second order finds in a cache
            // what the first has read.
            Strategy::Rows | Strategy::SegmentedRows if has_values || N > 1 => (MIN_READ_OUTPUTS, most),
            // As many columns as a kernel takes. Where L2 might not hold them, each order reads all of them.
            _ if N > 1 && row_bytes <= MAX_SHARED_BYTES / MIN_TILE_WIDTH => (MIN_TILE_WIDTH, most),
            _ => return most,
        };
        near_outputs(row_bytes, shape.inner_dim().size, least, most)
    }

    /// Answers one tile, by each order.
    ///
    /// # Safety
    /// - As for [`run_tile`].
    unsafe fn run_tile(&self, tile: &OutputTile, slices: &mut [&mut OutputSlices<'_>; N]) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.both {
                Some(kernel) if N > 1 => self.find_both(kernel, tile, slices),
                _ => self.bounds.iter().zip(slices).for_each(|(bound, slices)| run_tile(bound, tile, slices)),
            }
        }
    }

    /// Answers one tile of at most [`TILE`] outputs by a kernel for both.
    ///
    /// # Safety
    /// - As for [`run_tile`].
    #[inline(never)]
    unsafe fn find_both(&self, kernel: BothKernel, tile: &OutputTile, slices: &mut [&mut OutputSlices<'_>; N]) {
        let mut buffers = [[MaybeUninit::uninit(); TILE]; 2];
        let [first, second] = buffers.each_mut().map(|buffer| &mut buffer[..tile.outputs()]);
        // SAFETY: the caller's promise; of both plans, the reduced loops are the same.
        let positions = unsafe { find_both(kernel, &self.bounds[0], tile.input, [first, second]) };
        for ((bound, positions), slices) in self.bounds.iter().zip(positions).zip(slices) {
            // SAFETY: each output has an element at its position.
            unsafe { tile.read_values(bound, positions, &mut slices.values) };
            tile.write_indices(bound.plan(), positions, &mut slices.indices);
        }
    }
}

/// The positions of the smallest and of the largest, of the outputs whose first elements are at the places of a grid.
///
/// # Safety
/// - They are some of the plan's outputs, at their places in the input. The kernel is the
///   [`both_kernel`](super::search::both_kernel) of the plan.
pub(super) unsafe fn find_both<'p>(
    kernel: BothKernel,
    bound: &BoundPlan<'_>,
    grid: Grid,
    places: [&'p mut [MaybeUninit<u32>]; 2],
) -> [&'p mut [u32]; 2] {
    let (plan, input) = (bound.plan(), bound.input());
    let Some((.., of_one)) = bound.kernel() else { unreachable!("a kernel for both is of one for each") };
    // SAFETY: the caller's promise, and the loops from there are the plan's: what a bound plan reaches are elements of
    // the input, for whose type the kernel is.
    unsafe {
        let call = KernelCall::new(of_one, input, grid, plan.shape().reduced_dims(), plan.working_set());
        call.find_both(kernel, places)
    }
}

/// Answers those outputs that are no copies of others.
pub(super) fn run_distinct<const N: usize>(search: &Search<'_, N>, slices: &mut [&mut OutputSlices<'_>; N]) {
    let shape = search.plan().shape();
    if shape.is_split() {
        return run_split(search, slices, &mut |window, best| {
            for (bound, best) in search.bounds.iter().zip(best) {
                // SAFETY: it has some of the plan's outputs, each with all that it is chosen from.
                unsafe { find_best(bound, search.mask, window, &mut |merge| merge(best)) };
            }
        });
    }
    if let Some(mask) = search.mask {
        return run_distinct_masked(search, mask, slices);
    }
    if let Some(windows) = search.plan().windows() {
        return search.bounds.iter().zip(slices).for_each(|(bound, slices)| run_windows(bound, &windows, slices));
    }
    // SAFETY: each tile is some of the plan's outputs (a test of `tiles.rs`).
    for_each_tile(shape, search.max_outputs(slices[0]), &mut |tile| unsafe { search.run_tile(tile, slices) });
}

/// As [`run_distinct`], under a mask. A function, because its buffers make a large frame.
#[inline(never)]
fn run_distinct_masked<const N: usize>(
    search: &Search<'_, N>,
    mask: &CallMask<'_>,
    slices: &mut [&mut OutputSlices<'_>; N],
) {
    let (plan, mut buffers) = (search.plan(), MaskBuffers::new());
    let mut finder = MaskedFinder::new(mask, &mut buffers);
    for_each_tile(plan.shape(), plan.masked_outputs(plan.shape()), &mut |tile| {
        for (bound, slices) in search.bounds.iter().zip(&mut *slices) {
            // SAFETY: as in `run_distinct`.
            unsafe { finder.answer(bound, tile, slices) };
        }
    });
}

/// Answers one tile, in any of the ways: one of at most [`TILE`] outputs, or as many as [`Targets::max_outputs`] says.
///
/// Buffers are those of outlined functions: a stack frame with a place for each would take longer than a short tile.
///
/// # Safety
/// - The tile is some of the plan's outputs, at their places in the input.
#[inline(never)]
unsafe fn run_tile(bound: &BoundPlan<'_>, tile: &OutputTile, slices: &mut OutputSlices<'_>) {
    // SAFETY: it is the same tile; the kernel is the plan's, whose reductions positions count (`limit_reduction`).
    unsafe {
        match bound.kernel() {
            None => copy_tile(bound, tile, slices),
            Some((.., kernel)) => answer_tile(bound, kernel, tile, slices),
        }
    }
}
/// Answers one tile of outputs that have one element each.
///
/// # Safety
/// - As for [`run_tile`].
#[inline(never)]
unsafe fn copy_tile(bound: &BoundPlan<'_>, tile: &OutputTile, slices: &mut OutputSlices<'_>) {
    let positions = &mut [0; TILE][..tile.outputs()];
    // SAFETY: each output has an element at position 0.
    unsafe { tile.read_values(bound, positions, &mut slices.values) };
    tile.write_indices(bound.plan(), positions, &mut slices.indices);
}

/// What kernels write to the output themselves. All else goes through buffers.
#[derive(Clone, Copy)]
struct Targets {
    /// Positions, as wide as indices, which then become indices in place: how. Where those are not packed, in a buffer.
    map: Option<Affine>,
    are_indices_packed: bool,
    /// Of values, if there are any. Where they are not, kernels write them to a buffer, too.
    are_values_packed: bool,
}

impl Targets {
    /// Of indices and values that are written along these loops.
    fn of(plan: &ExecPlan, indices: &Indices<'_>, output: [LoopDim; 2], values: [LoopDim; 2]) -> Self {
        let map = match indices {
            Indices::U32(_) | Indices::U64(_) => affine(plan.shape()),
            Indices::U8(_) | Indices::U16(_) => None,
        };
        Targets { map, are_indices_packed: are_packed(output), are_values_packed: are_packed(values) }
    }

    /// Outputs per tile.
    fn max_outputs(self, plan: &ExecPlan, slices: &OutputSlices<'_>) -> usize {
        let value_bytes = slices.values.as_ref().map_or(0, Values::size);
        let is_direct = self.are_indices_packed && (self.are_values_packed || value_bytes == 0);
        match self.map {
            _ if is_transposed(split(plan.shape().output.output_dims()).1) => {
                let position_bytes = slices.indices.width().max(size_of::<u32>());
                (POSITION_BUFFER_BYTES / position_bytes).min(VALUE_BUFFER_BYTES / value_bytes.max(1))
            }
            Some(Affine::IDENTITY) if is_direct => DIRECT_TILE,
            Some(_) if is_direct => MAPPED_TILE,
            _ if value_bytes > 0 => TILE,
            // With several steps of the index, the tiles that there would be with one.
            None if affine(plan.shape()).is_none() => MAPPED_TILE,
            _ => INDEX_TILE,
        }
    }
}

/// Answers one tile, from its elements to what is written.
///
/// # Safety
/// - As for [`run_tile`]; the kernel is the plan's, and positions count all elements of an output.
#[inline(always)]
unsafe fn answer_tile(
    bound: &BoundPlan<'_>,
    kernel: &'static Kernel,
    tile: &OutputTile,
    slices: &mut OutputSlices<'_>,
) {
    let (plan, OutputSlices { indices, values }) = (bound.plan(), slices);
    let Targets { map, are_values_packed, .. } = Targets::of(plan, indices, tile.output.dims, tile.values.dims);
    let reduced = plan.shape().reduced_dims();
    // SAFETY: the tile is some of the plan's outputs, and the loops from there are the plan's: what a bound plan
    // reaches are elements of the input, for whose size its kernel is.
    let call = unsafe { KernelCall::new(kernel, bound.input(), tile.input, reduced, plan.working_set()) };
    let answer = TileAnswer { call, plan, map, tile };
    match values {
        Some(values) if !are_values_packed => {
            with_element_bits!(values.size(), B => answer.strided::<B>(indices, values))
        }
        _ => {
            let packed = values.as_mut().map(|values| values.range(tile.values.start as usize, tile.outputs()).into());
            answer.write(indices, packed);
        }
    }
}

/// How a tile is answered by a kernel. Writes indices, and values to places, if there are any: then returns these.
#[derive(Clone, Copy)]
struct TileAnswer<'a> {
    call: KernelCall<'a>,
    plan: &'a ExecPlan,
    map: Option<Affine>,
    tile: &'a OutputTile,
}

impl TileAnswer<'_> {
    /// With values of that size to places that are not packed.
    #[inline(never)]
    fn strided<B: IndexBits>(self, indices: &mut Indices<'_>, values: &mut Values<'_>) {
        let mut buffer = ValueBuffer::new();
        let places = ValuePlaces::of_buffer(buffer.places::<B>(self.tile.outputs()), values.data_type());
        if let Some(mut found) = self.write(indices, Some(places)) {
            // SAFETY: what was found are elements of that type, and nothing else is written.
            let (mut values, mut found) = unsafe { (values.bits::<B>(), found.bits::<B>()) };
            values.scatter(self.plan.writer(), self.tile.values, found.all());
        }
    }

    fn write<'v>(self, indices: &mut Indices<'_>, places: Option<ValuePlaces<'v>>) -> Option<Values<'v>> {
        match (self.map, indices) {
            (Some(map), Indices::U32(indices)) => self.as_wide(map, indices, places),
            (Some(map), Indices::U64(indices)) => self.as_wide(map, indices, places),
            // Of 32 bits, from which any indices are made.
            (_, indices) => self.in_buffer(places, |positions: &mut [u32]| {
                self.tile.write_indices(self.plan, positions, indices);
            }),
        }
    }

    /// Positions as wide as indices, which they become in place: in the output or in a buffer.
    #[inline(always)]
    fn as_wide<'v, I: IndexBits>(
        self,
        map: Affine,
        indices: &mut OutputSlice<'_, I>,
        places: Option<ValuePlaces<'v>>,
    ) -> Option<Values<'v>>
    where
        for<'a> Positions<'a>: From<&'a mut [MaybeUninit<I>]>,
    {
        if !are_packed(self.tile.output.dims) {
            return self.in_buffer(places, |positions| {
                self.plan.writer().write_in_place(map, positions);
                indices.scatter(self.plan.writer(), self.tile.output, positions);
            });
        }
        let to = indices.range(self.tile.output.start as usize, self.tile.outputs());
        let (positions, values) = self.call.find(to.into(), places);
        self.plan.writer().write_in_place(map, positions);
        values
    }

    /// Positions in a buffer, from which something is written.
    #[inline(never)]
    fn in_buffer<'v, P: IndexBits>(
        self,
        places: Option<ValuePlaces<'v>>,
        write: impl FnOnce(&mut [P]),
    ) -> Option<Values<'v>>
    where
        for<'a> Positions<'a>: From<&'a mut [MaybeUninit<P>]>,
    {
        let mut buffer = PositionBuffer::new();
        let (positions, values) = self.call.find(PositionPlaces::from(buffer.places(self.tile.outputs())), places);
        write(positions);
        values
    }
}

#[cfg(test)]
mod tests {
    use crate::{ArgReduce, Isa, Layout};

    /// Tiles of columns that two orders read in turn are no narrower than a vector, however long the columns are.
    #[test]
    fn long_columns_by_both() {
        for (sizes, isa) in [[4096, 250], [3000, 70], [5000, 1030], [70_000, 65]]
            .into_iter()
            .flat_map(|sizes| Isa::available().map(move |isa| (sizes, isa)))
        {
            let data: Vec<u8> = (0..sizes[0] * sizes[1]).map(|n| (n * 7919 % 251) as u8).collect();
            let layout = Layout::contiguous(&sizes).unwrap();
            let of = |reduced: ArgReduce<'_>| reduced.axes(&[0]).isa(isa).plan::<u8, u32>().unwrap();
            let both = ArgReduce::argminmax(&layout).axes(&[0]).isa(isa).plan_both::<u8, u32>().unwrap();
            let [min, max]: [(Vec<u32>, Vec<u8>); 2] = both.collect(&data).unwrap();
            assert_eq!(min, of(ArgReduce::argmin(&layout)).collect(&data).unwrap(), "{sizes:?}, {isa}");
            assert_eq!(max, of(ArgReduce::argmax(&layout)).collect(&data).unwrap(), "{sizes:?}, {isa}");
        }
    }
}
