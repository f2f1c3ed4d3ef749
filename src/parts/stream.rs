//! A reduction whose elements come in chunks along one axis, one after another: each chunk is a part, merged at once.
//!
//! ```text
//! push(chunk):  plan the chunk as the part that begins where the last one ended
//!               run its partials into the second half of the buffers
//!               merge them into the first half
//! ```

use crate::api::{ErasedPlan, check_len, new_vec};
use crate::layout::{PerAxis, Window, dimension};
use crate::planner::require_kernels;
use crate::{ArgReduce, Element, Error, Executor, Index, Layout, Mask, Options, Sequential};

/// A reduction of a tensor that comes in chunks along one axis: the best elements so far. Made by
/// [`ArgReduce::stream`].
#[derive(Clone, Debug)]
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
    /// hottest.finish_with_values(&mut moments, &mut degrees)?;
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
    pub fn push(&mut self, chunk: &Layout, elements: &[T]) -> Result<(), Error> {
        self.push_on(&Sequential, chunk, elements)
    }

    /// As [`ArgStream::push`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
    ///
    /// # Errors
    /// As [`ArgStream::push`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, ScopedThreads};
    /// let (threads, frame) = (ScopedThreads::new(4), Layout::contiguous(&[1, 480, 640])?);
    /// let mut brightest = ArgReduce::argmax(&frame).axes(&[0]).stream::<u8, u32>(0)?;
    /// for light in [30, 200, 90] {
    ///     brightest.push_on(&threads, &frame, &vec![light; 480 * 640])?;
    /// }
    /// assert_eq!(brightest.finish_to_vec()?, vec![1; 480 * 640]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn push_on(&mut self, executor: &dyn Executor, chunk: &Layout, elements: &[T]) -> Result<(), Error> {
        self.push_any(executor, chunk, elements, None)
    }

    fn push_any(
        &mut self,
        executor: &dyn Executor,
        chunk: &Layout,
        elements: &[T],
        mask: Option<Mask<'_>>,
    ) -> Result<(), Error> {
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
            options: Options { direction: so_far.direction(), nan_policy: so_far.nan_policy() },
            ..ArgReduce::new(so_far.function(), chunk).isa(so_far.isa()).window(&whole, &self.start)
        };
        let plan = reduce.plan::<T, I>()?;
        let outputs = so_far.output().element_count();
        let (values, chunk_values) = self.values.split_at_mut(outputs);
        let (indices, chunk_indices) = self.indices.split_at_mut(outputs);
        let (input, to_values, to_indices) =
            (elements.into(), chunk_values[..].as_mut().into(), chunk_indices[..].as_mut().into());
        plan.erased.run_packed(I::NAME, (input, mask), to_values, to_indices, executor)?;
        plan.merge().arrays(values, indices, chunk_values, chunk_indices)?;
        self.so_far.resize_whole(whole);
        self.start[axis] += len;
        Ok(())
    }

    /// As [`ArgStream::push`], of the elements that [are there](crate::Plan::run_masked): by a mask of the chunk.
    ///
    /// # Errors
    /// As [`ArgStream::push`], and [`Error::MaskRank`], [`Error::MaskSize`], [`Error::MaskTooShort`] for a mask that
    /// does not fit the chunk.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout, Mask};
    /// let mut hottest = ArgReduce::argmax(&Layout::contiguous(&[1, 2])?).axes(&[0]).fill(-1).stream::<f64, i64>(0)?;
    /// let chunk = Layout::contiguous(&[2, 2])?;
    /// hottest.push_masked(&chunk, &[20.5, 21.0, 99.9, 21.5], Mask::bools(&[true, false, false, false]))?;
    /// assert_eq!(hottest.finish_to_vec()?, [0, -1]);
    /// hottest.push(&chunk, &[20.0, 19.0, 20.4, 19.5])?;
    /// assert_eq!(hottest.finish_to_vec()?, [0, 3]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn push_masked(&mut self, chunk: &Layout, elements: &[T], mask: Mask<'_>) -> Result<(), Error> {
        self.push_masked_on(&Sequential, chunk, elements, mask)
    }

    /// As [`ArgStream::push_masked`], on the threads of an executor, as [`Plan::run_on`](crate::Plan::run_on).
    ///
    /// # Errors
    /// As [`ArgStream::push_masked`].
    pub fn push_masked_on(
        &mut self,
        executor: &dyn Executor,
        chunk: &Layout,
        elements: &[T],
        mask: Mask<'_>,
    ) -> Result<(), Error> {
        self.push_any(executor, chunk, elements, Some(mask))
    }

    /// Writes the index of the best element of each output in all chunks so far, at the places of
    /// [`ArgStream::output_layout`]. More chunks may follow.
    ///
    /// # Errors
    /// [`Error::TooShort`], and if there is no [fill](ArgReduce::fill), [`Error::EmptyReduction`] before the first
    /// chunk, and [`Error::NothingThere`] for an output of which no element was there; then nothing is written.
    pub fn finish(&self, indices: &mut [I]) -> Result<(), Error> {
        let start = self.so_far.part_start().map_or(0, |start| start[self.axis]);
        let empty = (self.start[self.axis] == start).then_some((self.axis, "stream"));
        self.so_far.finish(empty, (I::NAME, I::MAX), &|n| self.indices[n], indices)
    }

    /// As [`ArgStream::finish`], and also copies the best elements themselves, bit for bit, to `values`: packed in
    /// row-major order.
    ///
    /// # Errors
    /// As [`ArgStream::finish`].
    pub fn finish_with_values(&self, indices: &mut [I], values: &mut [T]) -> Result<(), Error> {
        let outputs = self.so_far.output().element_count();
        check_len("values", T::DATA_TYPE.name(), values.len(), outputs)?;
        self.finish(indices)?;
        values[..outputs].copy_from_slice(&self.values[..outputs]);
        Ok(())
    }

    /// As [`ArgStream::finish`], into a new vector, as long as [`ArgStream::output_layout`] needs: by default packed,
    /// one index for each output. What lies between the places of another output layout is 0.
    ///
    /// # Errors
    /// [`Error::EmptyReduction`] as [`ArgStream::finish`], and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    /// let moment = Layout::contiguous(&[1, 2])?;
    /// let mut highest = ArgReduce::argmax(&moment).axes(&[0]).stream::<i16, u32>(0)?;
    /// let error = highest.finish_to_vec().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the stream has had no element along axis 0 yet: an index needs at least one"
    /// );
    /// highest.push(&Layout::contiguous(&[3, 2])?, &[3, 7, 5, 7, 1, 0])?;
    /// assert_eq!(highest.finish_to_vec()?, [1, 0]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn finish_to_vec(&self) -> Result<Vec<I>, Error> {
        let mut indices = new_vec("output", I::NAME, self.output_layout().required_len())?;
        self.finish(&mut indices)?;
        Ok(indices)
    }

    /// As [`ArgStream::finish_with_values`], into new vectors: the indices as [`ArgStream::finish_to_vec`] has them,
    /// and the values, packed.
    ///
    /// # Errors
    /// As [`ArgStream::finish_to_vec`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    /// let moment = Layout::contiguous(&[1, 2])?;
    /// let mut highest = ArgReduce::argmax(&moment).axes(&[0]).stream::<i16, u32>(0)?;
    /// highest.push(&Layout::contiguous(&[3, 2])?, &[3, 7, 5, 7, 1, 0])?;
    /// assert_eq!(highest.finish_to_vec_with_values()?, (vec![1, 0], vec![5, 7]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn finish_to_vec_with_values(&self) -> Result<(Vec<I>, Vec<T>), Error> {
        let mut values = new_vec("values", T::DATA_TYPE.name(), self.output_layout().element_count())?;
        let mut indices = new_vec("output", I::NAME, self.output_layout().required_len())?;
        self.finish_with_values(&mut indices, &mut values)?;
        Ok((indices, values))
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
