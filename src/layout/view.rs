//! Layouts of parts of a tensor: other sizes, strides and offsets in the same slice. No element is copied, and none is
//! looked at.

use super::axes::{AxisError, AxisSet, dimension, from_start};
use super::strided::Layout;
use crate::{Error, MAX_RANK};
use std::ops::{Bound, RangeBounds};

/// Views of the same slice. Negative axes, positions and bounds count from the end, as in NumPy. Unlike there, bounds
/// beyond an axis are an error: they are not cut off.
impl Layout {
    /// The axes in another order: axis `n` of the result is axis `axes[n]` of this layout, as in NumPy's `transpose`.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`], and [`Error::NotAPermutation`] for a list that does not name each axis once.
    ///
    /// ```
    /// # use argreduce::Layout;
    /// let channels_last = Layout::contiguous(&[480, 640, 3])?;
    /// let channels_first = channels_last.permute(&[2, 0, 1])?;
    /// assert_eq!(channels_first.sizes(), [3, 480, 640]);
    /// assert_eq!(channels_first.strides(), [1, 1920, 3]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn permute(&self, axes: &[isize]) -> Result<Layout, Error> {
        let rank = self.sizes().len();
        match AxisSet::new(axes, rank) {
            Err(error @ AxisError::OutOfRange { .. }) => Err(error.into()),
            Ok(_) if axes.len() == rank => {
                let dimensions = axes.iter().filter_map(|&axis| dimension(axis, rank).ok());
                self.with_axes(dimensions.map(|axis| (self.sizes()[axis], self.strides()[axis])), self.offset())
            }
            _ => Err(Error::NotAPermutation { axes: axes.to_vec(), rank }),
        }
    }

    /// What is at one position of an axis, without that axis: NumPy's `a[.., position, ..]`, PyTorch's `select`.
    /// Negative positions count from the end: -1 is the last.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`], [`Error::PositionOutOfRange`].
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    ///
    /// // The best token after the last one of each sequence.
    /// let (batch, seq, vocab) = (2, 3, 4);
    /// let last = Layout::contiguous(&[batch, seq, vocab])?.select(1, -1)?;
    /// assert_eq!((last.sizes(), last.strides(), last.offset()), (&[2, 4][..], &[12, 1][..], 8));
    ///
    /// let mut logits = [0.0; 24];
    /// (logits[8 + 3], logits[12 + 8 + 1]) = (1.0, 1.0);
    /// let plan = ArgReduce::argmax(&last).axes(&[-1]).plan::<f32, u32>()?;
    /// assert_eq!(plan.collect::<Vec<u32>>(&logits)?, [3, 1]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn select(&self, axis: isize, position: isize) -> Result<Layout, Error> {
        let axis = dimension(axis, self.sizes().len())?;
        let size = self.sizes()[axis];
        let from_start = from_start(position, size).filter(|&position| position < size);
        let offset = self.offset_at(axis, from_start.ok_or(Error::PositionOutOfRange { position, axis, size })?);
        let axes = self.sizes().iter().copied().zip(self.strides().iter().copied()).enumerate();
        self.with_axes(axes.filter(|&(other, _)| other != axis).map(|(_, axis)| axis), offset)
    }

    /// Of one axis the positions in a range, or every `step`th of them. Negative bounds count from the end: `-3..` are
    /// the last three, and `..-1` all but the last.
    ///
    /// A negative step goes backwards from the last position in the range, so that `..` and -1 flip the axis. The range
    /// itself never runs backwards: it is NumPy's `a[start:end][::step]`.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`], [`Error::RangeOutOfRange`] for a range that is not within the axis or ends before it
    /// starts, and [`Error::ZeroStep`].
    ///
    /// ```
    /// # use argreduce::Layout;
    /// let columns = Layout::contiguous(&[2, 10])?;
    /// let part = |range: std::ops::Range<isize>, step| columns.slice(1, range, step);
    /// assert_eq!(part(2..9, 3)?.sizes(), [2, 3]); // columns 2, 5 and 8
    /// assert_eq!(part(2..9, -3)?.offset(), 8); // columns 8, 5 and 2
    /// assert_eq!(part(-3..-1, 1)?.offset(), 7); // columns 7 and 8
    /// let flipped = columns.slice(1, .., -1)?;
    /// assert_eq!((flipped.strides(), flipped.offset()), (&[10, -1][..], 9));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn slice(&self, axis: isize, range: impl RangeBounds<isize>, step: isize) -> Result<Layout, Error> {
        let axis = dimension(axis, self.sizes().len())?;
        let size = self.sizes()[axis];
        let range = (range.start_bound().cloned(), range.end_bound().cloned());
        let at = |n, beyond| from_start(n, size)?.checked_add(beyond).filter(|&n: &usize| n <= size);
        let start = match range.0 {
            Bound::Included(n) => at(n, 0),
            Bound::Excluded(n) => at(n, 1),
            Bound::Unbounded => Some(0),
        };
        let end = match range.1 {
            Bound::Included(n) => at(n, 1),
            Bound::Excluded(n) => at(n, 0),
            Bound::Unbounded => Some(size),
        };
        let (Some(start), Some(end)) = (start, end) else { return Err(Error::RangeOutOfRange { range, axis, size }) };
        let Some(len) = end.checked_sub(start) else { return Err(Error::RangeOutOfRange { range, axis, size }) };
        if step == 0 {
            return Err(Error::ZeroStep { axis });
        }
        let count = len.div_ceil(step.unsigned_abs());
        let first = if step > 0 || count == 0 { start } else { end - 1 };
        let offset = if count == 0 { self.offset() } else { self.offset_at(axis, first) };
        // If the stride overflows, it is used for no step.
        let of_axis =
            |(n, (&size, &stride))| if n == axis { (count, isize::wrapping_mul(stride, step)) } else { (size, stride) };
        self.with_axes(self.sizes().iter().zip(self.strides()).enumerate().map(of_axis), offset)
    }

    /// Windows of `size` positions that slide along an axis, `step` at a time: that axis has a position for each window
    /// then, `(extent - size) / step + 1` of them, and a new last axis has those in a window. NumPy's
    /// `sliding_window_view`, PyTorch's `unfold`. Windows overlap where the step is shorter; nothing is copied.
    ///
    /// The time does not grow with the size: what several windows have in common is looked at once. (But under a mask,
    /// and of more than two axes, each window is looked at alone.) Windows of windows along other axes are those of an
    /// image; along an axis of a view with a step, they are dilated.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`]; [`Error::WindowsDoNotFit`] for a size of 0, or beyond the axis;
    /// [`Error::ZeroWindowStep`]; and [`Error::RankTooHigh`] for a layout of rank 8.
    ///
    /// ```
    /// use argreduce::{ArgReduce, Layout};
    ///
    /// // Rolling: the largest of each three neighbours, and where in the window it is.
    /// let series = [3, 1, 4, 1, 5, 9];
    /// let windows = Layout::contiguous(&[6])?.windows(0, 3, 1)?;
    /// assert_eq!((windows.sizes(), windows.strides()), (&[4, 3][..], &[1, 1][..]));
    /// let plan = ArgReduce::argmax(&windows).axes(&[-1]).plan::<i32, u32>()?;
    /// let (places, largest): (Vec<u32>, Vec<i32>) = plan.collect(&series)?;
    /// assert_eq!((places, largest), (vec![2, 1, 2, 2], vec![4, 4, 5, 9]));
    ///
    /// // Pooling: of each 2 x 2 pixels of an image of 2 x 4, the brightest. Indices are those in the window.
    /// let image = [1, 7, 2, 2, 3, 4, 9, 5];
    /// let pools = Layout::contiguous(&[2, 4])?.windows(0, 2, 2)?.windows(1, 2, 2)?;
    /// assert_eq!(pools.sizes(), [1, 2, 2, 2]);
    /// let plan = ArgReduce::argmax(&pools).axes(&[2, 3]).plan::<u8, u32>()?;
    /// let (places, brightest): (Vec<u32>, Vec<u8>) = plan.collect(&image)?;
    /// assert_eq!((places, brightest), (vec![1, 2], vec![7, 9]));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn windows(&self, axis: isize, size: usize, step: usize) -> Result<Layout, Error> {
        let rank = self.sizes().len();
        let axis = dimension(axis, rank)?;
        let (extent, stride) = (self.sizes()[axis], self.strides()[axis]);
        if size == 0 || size > extent {
            return Err(Error::WindowsDoNotFit { axis, window: size, size: extent });
        }
        if step == 0 {
            return Err(Error::ZeroWindowStep { axis });
        }
        if rank == MAX_RANK {
            return Err(Error::RankTooHigh { rank: rank + 1 });
        }
        // Wrapping: if it overflows, there is one window, and the stride is used for no step.
        let along = ((extent - size) / step + 1, stride.wrapping_mul(step as isize));
        let axes = self.sizes().iter().copied().zip(self.strides().iter().copied()).enumerate();
        let axes = axes.map(|(n, other)| if n == axis { along } else { other });
        self.with_axes(axes.chain([(size, stride)]), self.offset())
    }

    /// This layout repeated to larger sizes, by the rule of NumPy: axes are aligned at the last, and an axis of size 1,
    /// or one that this layout does not have, gets a stride of 0. Sizes that are the same stay.
    ///
    /// # Errors
    /// [`Error::BroadcastRank`] for fewer sizes than axes, [`Error::BroadcastSize`], [`Error::RankTooHigh`],
    /// [`Error::TooManyElements`].
    ///
    /// ```
    /// # use argreduce::Layout;
    /// let rows = Layout::contiguous(&[3, 1])?.broadcast(&[2, 3, 4])?;
    /// assert_eq!((rows.strides(), rows.required_len()), (&[0, 1, 0][..], 3));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn broadcast(&self, sizes: &[usize]) -> Result<Layout, Error> {
        let rank = self.sizes().len();
        if sizes.len() > MAX_RANK {
            return Err(Error::RankTooHigh { rank: sizes.len() });
        }
        let Some(new) = sizes.len().checked_sub(rank) else {
            return Err(Error::BroadcastRank { rank, sizes: sizes.len() });
        };
        let mut axes = sizes[new..].iter().zip(self.sizes()).enumerate();
        if let Some((axis, (&wanted, &size))) = axes.find(|&(_, (&wanted, &size))| size != 1 && size != wanted) {
            return Err(Error::BroadcastSize { axis: new + axis, size, wanted });
        }
        let stride_of = |axis: usize| {
            let axis = axis.checked_sub(new)?;
            (self.sizes()[axis] == sizes[new + axis]).then_some(self.strides()[axis])
        };
        self.with_axes(
            sizes.iter().enumerate().map(|(axis, &size)| (size, stride_of(axis).unwrap_or(0))),
            self.offset(),
        )
    }

    /// Where the first element is of those at a position of an axis. Where there is none, any place will do.
    fn offset_at(&self, axis: usize, position: usize) -> usize {
        if self.element_count() == 0 {
            return self.offset();
        }
        // An element is there, so that nothing overflows.
        self.offset().wrapping_add_signed(position as isize * self.strides()[axis])
    }

    /// Axes of these sizes and strides, of which there are at most eight, from that element on.
    fn with_axes(&self, axes: impl Iterator<Item = (usize, isize)>, offset: usize) -> Result<Layout, Error> {
        let (mut sizes, mut strides, mut rank) = ([0; MAX_RANK], [0; MAX_RANK], 0);
        for (size, stride) in axes {
            (sizes[rank], strides[rank]) = (size, stride);
            rank += 1;
        }
        Layout::strided(&sizes[..rank], &strides[..rank], offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sizes of a tensor, and where each element is, in row-major order.
    #[derive(Clone, Debug, PartialEq)]
    struct Places {
        sizes: Vec<usize>,
        places: Vec<isize>,
    }

    impl Places {
        /// Each element of a tensor of these sizes, by its coordinates.
        fn of(sizes: Vec<usize>, place: impl Fn(&[usize]) -> isize) -> Places {
            let count: usize = sizes.iter().product();
            let mut coordinates = vec![0; sizes.len()];
            let places = (0..count).map(|mut n| {
                for (coordinate, size) in coordinates.iter_mut().zip(&sizes).rev() {
                    (*coordinate, n) = (n % size, n / size);
                }
                place(&coordinates)
            });
            Places { places: places.collect(), sizes }
        }

        fn of_layout(layout: &Layout) -> Places {
            Places::of(layout.sizes().to_vec(), |coordinates| {
                let offsets = coordinates.iter().zip(layout.strides()).map(|(&n, &stride)| n as isize * stride);
                layout.offset() as isize + offsets.sum::<isize>()
            })
        }

        fn get(&self, coordinates: &[usize]) -> isize {
            self.places[coordinates.iter().zip(&self.sizes).fold(0, |n, (&coordinate, &size)| n * size + coordinate)]
        }

        fn permute(&self, axes: &[usize]) -> Places {
            Places::of(axes.iter().map(|&axis| self.sizes[axis]).collect(), |coordinates| {
                let mut from = vec![0; axes.len()];
                axes.iter().zip(coordinates).for_each(|(&axis, &n)| from[axis] = n);
                self.get(&from)
            })
        }

        fn select(&self, axis: usize, position: usize) -> Places {
            let mut sizes = self.sizes.clone();
            sizes.remove(axis);
            Places::of(sizes, |coordinates| {
                let mut from = coordinates.to_vec();
                from.insert(axis, position);
                self.get(&from)
            })
        }

        /// These positions of an axis, in this order.
        fn take(&self, axis: usize, positions: &[usize]) -> Places {
            let mut sizes = self.sizes.clone();
            sizes[axis] = positions.len();
            Places::of(sizes, |coordinates| {
                let mut from = coordinates.to_vec();
                from[axis] = positions[from[axis]];
                self.get(&from)
            })
        }

        fn broadcast(&self, sizes: &[usize]) -> Places {
            Places::of(sizes.to_vec(), |coordinates| {
                let own = coordinates[sizes.len() - self.sizes.len()..].iter().zip(&self.sizes);
                self.get(&own.map(|(&n, &size)| if size == 1 { 0 } else { n }).collect::<Vec<_>>())
            })
        }
    }

    /// An axis or a position, counted from the end if it is to be.
    fn signed(n: usize, len: usize, from_end: bool) -> isize {
        if from_end { n as isize - len as isize } else { n as isize }
    }

    #[track_caller]
    fn agree(found: Result<Layout, Error>, expected: Places) -> Layout {
        let found = found.unwrap();
        assert_eq!(Places::of_layout(&found), expected, "{found:?}");
        let needed = expected.places.iter().max().map_or(0, |&last| last as usize + 1);
        assert_eq!(found.required_len(), needed, "{found:?}");
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Each kind of view, one after another, against plain indexing.
        #[test]
        fn views_are_what_indexing_finds(
            axes in proptest::collection::vec((0..5_usize, -7..8_isize), 1..=5),
            numbers in proptest::collection::vec(any::<u16>(), 12),
        ) {
            let mut numbers = numbers.into_iter().map(usize::from);
            let mut below = move |end: usize| numbers.next().unwrap() % end;
            let (sizes, strides): (Vec<usize>, Vec<isize>) = axes.into_iter().unzip();
            let mut layout = Layout::strided(&sizes, &strides, 200).unwrap();
            let rank = sizes.len();

            let mut order: Vec<usize> = (0..rank).collect();
            order.rotate_left(below(rank));
            order.swap(0, below(rank));
            let from_end = below(2) == 1;
            let given: Vec<isize> = order.iter().map(|&axis| signed(axis, rank, from_end)).collect();
            layout = agree(layout.permute(&given), Places::of_layout(&layout).permute(&order));

            let axis = below(rank);
            let size = layout.sizes()[axis];
            let (start, step) = (below(size + 1), below(4) + 1);
            let end = start + below(size - start + 1);
            let range = signed(start, size, from_end && start < size)..signed(end, size, from_end && end < size);
            let mut positions: Vec<usize> = (start..end).step_by(step).collect();
            let mut signed_step = step as isize;
            if below(2) == 1 {
                positions = (start..end).rev().step_by(step).collect();
                signed_step = -signed_step;
            }
            let expected = Places::of_layout(&layout).take(axis, &positions);
            layout = agree(layout.slice(signed(axis, rank, from_end), range, signed_step), expected);

            let axis = below(rank);
            let size = layout.sizes()[axis];
            if size > 0 {
                let position = below(size);
                let found = layout.select(signed(axis, rank, from_end), signed(position, size, from_end));
                layout = agree(found, Places::of_layout(&layout).select(axis, position));
            }

            let mut sizes = vec![2; below(3)];
            let repeats = below(4);
            sizes.extend(layout.sizes().iter().map(|&size| if size == 1 { repeats } else { size }));
            agree(layout.broadcast(&sizes), Places::of_layout(&layout).broadcast(&sizes));
        }
    }

    /// Every range and step of a short axis, with bounds counted from either end, and beyond: what is in range is a
    /// view, all else an error.
    #[test]
    fn every_slice_of_a_short_axis() {
        for size in 0..5_usize {
            let layout = Layout::strided(&[2, size], &[1, -3], 20).unwrap();
            let from_start = |n: isize| if n < 0 { n + size as isize } else { n };
            let bounds = -7..8_isize;
            for (start, end) in bounds.clone().flat_map(|start| bounds.clone().map(move |end| (start, end))) {
                let (first, past) = (from_start(start), from_start(end));
                let is_in_range = 0 <= first && first <= past && past <= size as isize;
                for step in [-7, -2, -1, 1, 2, 7, isize::MIN, isize::MAX] {
                    let found = layout.slice(-1, start..end, step);
                    if is_in_range {
                        let range = first as usize..past as usize;
                        let positions: Vec<usize> = if step > 0 {
                            range.step_by(step.unsigned_abs()).collect()
                        } else {
                            range.rev().step_by(step.unsigned_abs()).collect()
                        };
                        agree(found, Places::of_layout(&layout).take(1, &positions));
                    } else {
                        let range = (Bound::Included(start), Bound::Excluded(end));
                        assert_eq!(found, Err(Error::RangeOutOfRange { range, axis: 1, size }));
                    }
                }
            }
        }
    }

    /// Windows of every size and step along a short axis, and those that do not fit.
    #[test]
    fn every_window_of_a_short_axis() {
        for extent in 0..6_usize {
            let layout = Layout::strided(&[2, extent, 3], &[1, -3, 40], 20).unwrap();
            let whole = Places::of_layout(&layout);
            for (size, step) in (0..8).flat_map(|size| [0, 1, 2, 3, 9, usize::MAX].map(|step| (size, step))) {
                let found = layout.windows(-2, size, step);
                if size == 0 || size > extent {
                    assert_eq!(found, Err(Error::WindowsDoNotFit { axis: 1, window: size, size: extent }));
                } else if step == 0 {
                    assert_eq!(found, Err(Error::ZeroWindowStep { axis: 1 }));
                } else {
                    let count = (0..=extent - size).step_by(step).count();
                    let places = Places::of(vec![2, count, 3, size], |coordinates| {
                        let &[a, window, b, n] = coordinates else { unreachable!() };
                        whole.get(&[a, window * step + n, b])
                    });
                    agree(found, places);
                }
            }
        }
        assert_eq!(Layout::contiguous(&[2; 8]).unwrap().windows(0, 1, 1), Err(Error::RankTooHigh { rank: 9 }));
        assert_eq!(Layout::contiguous(&[]).unwrap().windows(0, 1, 1), Err(Error::AxisOutOfRange { axis: 0, rank: 0 }));
        // What was too many elements to begin with is no window's fault.
        let large = Layout::contiguous(&[1 << 40]).unwrap();
        let error = large.windows(0, 1 << 39, 1).unwrap_err();
        assert!(matches!(error, Error::TooManyElements { .. }), "{error}");
    }

    #[test]
    fn every_kind_of_range() {
        let layout = Layout::contiguous(&[6]).unwrap();
        let positions =
            |range: (Bound<isize>, Bound<isize>)| Places::of_layout(&layout.slice(0, range, 1).unwrap()).places;
        use Bound::{Excluded, Included, Unbounded};
        assert_eq!(positions((Unbounded, Unbounded)), [0, 1, 2, 3, 4, 5]);
        assert_eq!(positions((Included(4), Unbounded)), [4, 5]);
        assert_eq!(positions((Excluded(3), Included(-1))), [4, 5]);
        assert_eq!(positions((Unbounded, Included(1))), [0, 1]);
        assert_eq!(positions((Unbounded, Excluded(-5))), [0]);
        assert_eq!(positions((Included(6), Unbounded)), []);
        for range in
            [(Excluded(isize::MAX), Unbounded), (Unbounded, Included(isize::MAX)), (Included(isize::MIN), Unbounded)]
        {
            assert_eq!(layout.slice(0, range, 1), Err(Error::RangeOutOfRange { range, axis: 0, size: 6 }));
        }
    }

    /// Where there is no element, sizes, strides and offsets may be such that no arithmetic on them fits.
    #[test]
    fn views_of_nothing() {
        let sizes = [usize::MAX, 0, 3];
        let layout = Layout::strided(&sizes, &[isize::MIN, isize::MAX, isize::MIN], usize::MAX).unwrap();
        let views = [
            layout.select(0, -1),
            layout.select(0, isize::MAX),
            layout.select(2, -1),
            layout.slice(0, -9.., -7),
            layout.slice(2, 1..2, isize::MIN),
            layout.permute(&[2, 0, -2]),
            layout.broadcast(&[7, usize::MAX, 0, 3]),
        ];
        for view in views {
            assert_eq!(view.map(|view| (view.element_count(), view.required_len())), Ok((0, 0)));
        }
        // A view of no elements of a tensor that has some, too.
        let far = Layout::strided(&[2, 2], &[isize::MAX - 9, 1], 7).unwrap();
        assert_eq!(far.slice(0, 2.., 1).unwrap().required_len(), 0);
        assert_eq!(far.slice(0, 1..1, -1).unwrap().required_len(), 0);
        assert_eq!(far.broadcast(&[0, 2, 2]).unwrap().required_len(), 0);
        let one = Layout::strided(&[1], &[isize::MAX], 0).unwrap();
        assert_eq!(one.slice(0, .., isize::MIN).unwrap().required_len(), 1);
    }
}
