//! A reduction whose elements come in chunks along one axis, one after another: each chunk is a part, merged at once.
//!
//! ```text
//! push(chunk):  plan the chunk as the part that begins where the last one ended
//!               run its partials into the second half of the buffers
//!               merge them into the first half
//! ```

use super::description::ArgReduce;
use super::display::fmt_debug;
use super::erased::ErasedPlan;
use super::input::{ErasedInput, Input};
use super::lengths::new_vec;
use super::output::{Collect, Names, Output, Places};
use super::partials::Unfinished;
use crate::exec::OutputSlices;
use crate::layout::{PerAxis, Window, dimension};
use crate::planner::require_kernels;
use crate::{Element, Error, Index, Layout, Partial};
use std::fmt;

/// A reduction of a tensor that comes in chunks along one axis: the best elements so far. Made by
/// [`ArgReduce::stream`].
#[derive(Clone)]
pub struct ArgStream<T, I> {
    /// Of what came so far: along the axis, the sizes of the whole end there, unless a window says where it ends.
    so_far: ErasedPlan,
    axis: usize,
    is_bounded: bool,
    /// Of a chunk, but for the axis.
    sizes: PerAxis,
    /// Where the next chunk begins in the whole.
    start: PerAxis,
    /// The best so far, and behind them as many of the last chunk.
    values: Vec<T>,
    indices: Vec<I>,
}

impl ArgReduce<'_> {
    /// A reduction whose elements come in chunks along `axis`, in order: the layout's extent there, and its
    /// strides, are ignored. Takes memory for two partial answers of each output, and pushing takes none.
    ///
    /// The axis has to be the first of the reduced ones, in ascending order: an index would depend on the extent of the
    /// whole otherwise. For chunks along other axes, or out of order, see [`ArgReduce::window`] and
    /// [`Merge`](crate::Merge). With a window, chunks begin at its start along the axis, and end with the whole.
    ///
    /// # Errors
    /// As [`ArgReduce::plan`], and [`Error::StreamAxis`] for an axis that is not the first reduced one,
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    /// // The hottest moment of 3 sensors, from a log that is read 2 moments at a time.
    /// let log = [[20.5, 21.0, 19.0], [20.7, 21.5, 19.0], [20.6, 21.5, 19.2]];
    /// let moment = Layout::contiguous(&[1, 3])?;
    /// let mut hottest = ArgReduce::argmax(&moment).axes(&[0]).stream::<f64, u64>(0)?;
    /// for some in log.chunks(2) {
    ///     hottest.push(&Layout::contiguous(&[some.len(), 3])?, some.as_flattened())?;
    /// }
    /// let (mut moments, mut degrees) = ([0; 3], [0.0; 3]);
    /// hottest.finish((&mut moments, &mut degrees))?;
    /// assert_eq!((moments, degrees), ([1, 1, 2], [20.7, 21.5, 19.2]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn stream<T: Element, I: Index>(self, axis: isize) -> Result<ArgStream<T, I>, Error> {
        const { require_kernels::<T>() };
        let rank = self.input.sizes().len();
        let axis = dimension(axis, rank)?;
        let first = self.axes?.first();
        if first != Some(axis) {
            return Err(Error::StreamAxis { axis, first });
        }
        // As for a chunk of one step, which checks all but what depends on the length.
        let left = |window: Window<'_>| window.whole.get(axis)?.checked_sub(*window.start.get(axis)?);
        let mut sizes = PerAxis::of(self.input.sizes());
        sizes[axis] = self.window.map_or(1, |window| left(window).map_or(0, |left| left.min(1)));
        let chunk = Layout::contiguous(&sizes)?;
        let mut so_far = ErasedPlan::EMPTY;
        so_far.plan(&ArgReduce { input: chunk, ..self }, T::DATA_TYPE, (I::NAME, I::MAX))?;
        so_far.check_reduces("stream")?;
        let start = so_far.part_start().copied().unwrap_or(PerAxis::zeros(rank));
        let is_bounded = self.window.is_some();
        let (outputs, len) = (so_far.output().element_count(), so_far.output().element_count().saturating_mul(2));
        let (values, mut indices) = (new_vec("values", T::DATA_TYPE.name(), len)?, new_vec("indices", I::NAME, len)?);
        indices[..outputs].fill(I::NONE);
        Ok(ArgStream { so_far, axis, is_bounded, sizes, start, values, indices })
    }
}

impl<T: Element, I: Index> ArgStream<T, I> {
    /// Takes the next chunk: any extent along the axis of the stream, also 0, and the extents of the stream along the
    /// others. Strides may differ from chunk to chunk.
    ///
    /// # Errors
    /// [`Error::ChunkRank`], [`Error::ChunkSize`] for other extents, [`Error::TooShort`] for a short slice,
    /// [`Error::IndexTooLarge`] if the chunk has an index that `I` may not hold (or one with all bits set, which means
    /// that nothing was seen), [`Error::WholeTooLarge`], and [`Error::WindowOutOfRange`] for a chunk that ends beyond
    /// the whole of a window. Then the chunk was not taken, and all is as before.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Mask, ScopedThreads, input};
    /// let (threads, frame) = (ScopedThreads::new(4), Layout::contiguous(&[1, 480, 640])?);
    /// let mut brightest = ArgReduce::argmax(&frame).axes(&[0]).stream::<u8, u32>(0)?;
    /// for light in [30, 200, 90] {
    ///     brightest.push(&frame, input(&vec![light; 480 * 640]).on(&threads))?;
    /// }
    /// assert_eq!(brightest.collect::<Vec<u32>>()?, vec![1; 480 * 640]);
    ///
    /// // A mask is that of the chunk.
    /// let mut hottest = ArgReduce::argmax(&Layout::contiguous(&[1, 2])?).axes(&[0]).fill(-1).stream::<f64, i64>(0)?;
    /// let (chunk, there) = (Layout::contiguous(&[2, 2])?, [true, false, false, false]);
    /// hottest.push(&chunk, input(&[20.5, 21.0, 99.9, 21.5]).masked(Mask::bools(&there)))?;
    /// assert_eq!(hottest.collect::<Vec<i64>>()?, [0, -1]);
    /// hottest.push(&chunk, &[20.0, 19.0, 20.4, 19.5])?;
    /// assert_eq!(hottest.collect::<Vec<i64>>()?, [0, 3]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn push<'a>(&mut self, chunk: &Layout, input: impl Into<Input<'a, T>>) -> Result<(), Error> {
        self.push_erased(chunk, &input.into().erase())
    }

    fn push_erased(&mut self, chunk: &Layout, input: &ErasedInput<'_>) -> Result<(), Error> {
        let (axis, rank) = (self.axis, self.sizes.len());
        if chunk.sizes().len() != rank {
            return Err(Error::ChunkRank { expected: rank, found: chunk.sizes().len() });
        }
        let is_wrong = |&other: &usize| other != axis && chunk.sizes()[other] != self.sizes[other];
        if let Some(axis) = (0..rank).find(is_wrong) {
            return Err(Error::ChunkSize { axis, expected: self.sizes[axis], found: chunk.sizes()[axis] });
        }
        let len = chunk.sizes()[axis];
        if len == 0 {
            return Ok(());
        }
        let mut whole = *self.so_far.sizes();
        if !self.is_bounded {
            let size = self.start[axis].saturating_add(len);
            whole[axis] = if size < usize::MAX { size } else { return Err(Error::WholeTooLarge { axis, size }) };
        }
        let so_far = &self.so_far;
        let reduce = ArgReduce {
            axes: Ok(so_far.axes()),
            options: so_far.options(),
            ..ArgReduce::new(so_far.function(), chunk).isa(so_far.isa()).window(&whole, &self.start)
        };
        let plan = reduce.plan::<T, I>()?;
        let outputs = so_far.output().element_count();
        let (values, chunk_values) = self.values.split_at_mut(outputs);
        let (indices, chunk_indices) = self.indices.split_at_mut(outputs);
        let slices =
            OutputSlices { indices: chunk_indices[..].as_mut().into(), values: Some(chunk_values[..].as_mut().into()) };
        plan.erased().run_packed(&(Names::OF_PARTIALS, I::NAME), input, slices)?;
        plan.merge().arrays(values, indices, chunk_values, chunk_indices)?;
        self.so_far.resize_whole(whole);
        self.start[axis] += len;
        Ok(())
    }

    /// Writes the best of each output in all chunks so far: indices at the places of [`ArgStream::output_layout`], and
    /// values, or partial answers, which are [`Partial::NONE`] where nothing was there. More chunks may follow.
    ///
    /// # Errors
    /// [`Error::TooShort`], and if there is no [fill](ArgReduce::fill), [`Error::EmptyReduction`] before the first
    /// chunk, and [`Error::NothingThere`] for an output of which no element was there; then nothing is written.
    pub fn finish(&self, mut output: impl Output<T, I>) -> Result<(), Error> {
        self.finish_places(output.places())
    }

    fn finish_places(&self, places: Places<'_, T, I>) -> Result<(), Error> {
        let start = self.so_far.part_start().map_or(0, |start| start[self.axis]);
        let partial = |n: usize| Partial { value: self.values[n], index: self.indices[n] };
        let empty = (self.start[self.axis] == start).then_some((self.axis, "stream"));
        let from = Unfinished { empty, ..self.so_far.finish_part(&partial) };
        self.so_far.finish(&from, Names::OF_ONE, places)
    }

    /// As [`ArgStream::finish`], to new vectors: see [`Collect`].
    ///
    /// # Errors
    /// As [`ArgStream::finish`], and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    /// let moment = Layout::contiguous(&[1, 2])?;
    /// let mut highest = ArgReduce::argmax(&moment).axes(&[0]).stream::<i16, u32>(0)?;
    /// let error = highest.collect::<Vec<u32>>().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the stream has had no element along axis 0 yet: an index needs at least one"
    /// );
    /// highest.push(&Layout::contiguous(&[3, 2])?, &[3, 7, 5, 7, 1, 0])?;
    /// let (indices, values): (Vec<u32>, Vec<i16>) = highest.collect()?;
    /// assert_eq!((indices, values), (vec![1, 0], vec![5, 7]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn collect<C: Collect<T, I>>(&self) -> Result<C, Error> {
        let mut collected = C::new(self.output_layout())?;
        self.finish_places(collected.places())?;
        Ok(collected)
    }

    /// Where indices are written: as [`Plan::output_layout`](crate::Plan::output_layout).
    pub fn output_layout(&self) -> &Layout {
        self.so_far.output()
    }

    /// How far the chunks so far reach along the axis of the stream: the place of the next one in the whole.
    pub fn position(&self) -> usize {
        self.start[self.axis]
    }
}

/// As that of a [`Plan`](crate::Plan): a line, and all of it as `{:#?}`.
impl<T: Element, I: Index> fmt::Debug for ArgStream<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (function, direction, nan_policy) =
            (self.so_far.function(), self.so_far.direction(), self.so_far.nan_policy());
        let (data_type, index_type, outputs) = (T::DATA_TYPE, I::NAME, self.so_far.output().sizes());
        let (position, axis) = (self.position(), self.axis);
        let said = format_args!(
            "{function} of {data_type} to {index_type} {outputs:?}, {direction}, nan {nan_policy}, \
             {position} along axis {axis} so far"
        );
        let ArgStream { so_far, start, values, indices, .. } = self;
        let fields: [(_, &dyn fmt::Debug); 5] =
            [("so_far", so_far), ("axis", &axis), ("start", start), ("values", values), ("indices", indices)];
        fmt_debug(f, "ArgStream", &said, &fields)
    }
}
