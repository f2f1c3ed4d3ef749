//! Merging partial answers: what the caller says, checked, and pairs taken apart. The kernels have the loop.

use super::bytes::index_elements;
use super::isa::plan_isa;
use crate::exec::{ElementsRef, Indices, Values, merge, merge_by_keys};
use crate::{AxisDirection, DataType, Element, Error, Index, Isa, Key, NanPolicy, Options, Partial, ReduceFunction};

/// Merges partial answers: for each output, the better of two.
///
/// It is the order of the whole crate, (class, value, index): ties are decided by the index in the whole, never by
/// which part came first. So merging is commutative and associative, and any order and grouping gives exactly the
/// answer for the whole. Merging [`Partial::NONE`] changes nothing.
///
/// ```
/// use argreduce::{ArgReduce, Layout, Partial};
/// // A matrix of 2 rows and 6 columns is in two places, 3 columns in each.
/// let (left, right) = ([1.0, 5.0, 2.0, 7.0, 0.0, 7.0], [5.0, 5.0, 0.0, 8.0, 1.0, 8.0]);
/// let part = Layout::contiguous(&[2, 3])?;
/// let reduce = ArgReduce::argmax(&part).axes(&[1]);
/// let (first, second) = (reduce.window(&[2, 6], &[0, 0]).plan()?, reduce.window(&[2, 6], &[0, 3]).plan()?);
///
/// let mut best: Vec<Partial<f32, u32>> = first.collect(&left)?;
/// let others: Vec<Partial<f32, u32>> = second.collect(&right)?;
/// first.merge().partials(&mut best, &others)?;
/// assert_eq!(best, [Partial { value: 5.0, index: 1 }, Partial { value: 8.0, index: 3 }]);
///
/// let (mut indices, mut values) = ([0; 2], [0.0; 2]);
/// first.finish(&best, (&mut indices, &mut values))?;
/// assert_eq!((indices, values), ([1, 3], [5.0, 8.0]));
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "it merges nothing until it is given partial answers"]
pub struct Merge {
    function: ReduceFunction,
    options: Options,
    isa: Option<Isa>,
}

impl Merge {
    /// For the first of equals, and NaN before all numbers. All parts, and each merge of them, have to have the same
    /// function, direction and NaN policy: [`Plan::merge`](crate::Plan::merge) has those of the plan.
    pub const fn new(function: ReduceFunction) -> Merge {
        Merge { function, options: Options::new(), isa: None }
    }

    /// Which of equal elements to take; by default the first.
    pub const fn direction(self, direction: AxisDirection) -> Merge {
        Merge { options: self.options.direction(direction), ..self }
    }

    /// Where NaN stands among the numbers; by default before all of them.
    pub const fn nan_policy(self, nan_policy: NanPolicy) -> Merge {
        Merge { options: self.options.nan_policy(nan_policy), ..self }
    }

    /// What elements are compared by: by default they themselves. Values stay elements.
    ///
    /// ```
    /// use argreduce::{Key, Merge, Partial, ReduceFunction};
    /// let mut acc = [Partial { value: 3_i8, index: 0_u32 }];
    /// let other = [Partial { value: -128, index: 7 }];
    /// Merge::new(ReduceFunction::ArgMax).by(Key::Magnitude).partials(&mut acc, &other)?;
    /// assert_eq!(acc, other);
    ///
    /// let near = Merge::new(ReduceFunction::ArgMin).by(Key::distance(2.5));
    /// let error = near.partials(&mut acc, &other).unwrap_err();
    /// assert_eq!(error.to_string(), "the key is a distance to an element of f64: the elements are i8");
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub const fn by(self, key: Key) -> Merge {
        Merge { options: self.options.by(key), ..self }
    }

    /// Forces an instruction set; by default as for a plan, see [`ArgReduce::isa`](crate::ArgReduce::isa). The answer
    /// never depends on it.
    pub const fn isa(self, isa: Isa) -> Merge {
        Merge { isa: Some(isa), ..self }
    }

    /// Makes each of `acc` the better of itself and its counterpart in `other`.
    ///
    /// # Errors
    /// [`Error::LengthsDiffer`], and [`Error::IsaNotAvailable`], [`Error::UnknownIsa`], [`Error::KeyType`] or
    /// [`Error::KeyIsNan`] as for a plan; then nothing is written.
    ///
    /// ```
    /// use argreduce::{AxisDirection, Merge, Partial, ReduceFunction};
    /// let merge = Merge::new(ReduceFunction::ArgMin).direction(AxisDirection::Decreasing);
    /// let mut acc = [Partial { value: 1.0_f64, index: 3_u64 }, Partial { value: -0.0, index: 3 }, Partial::NONE];
    /// let other = [Partial { value: f64::NAN, index: 8 }, Partial { value: 0.0, index: 8 }, Partial::NONE];
    /// merge.partials(&mut acc, &other)?;
    /// assert_eq!(acc.map(|partial| partial.index), [8, 8, u64::MAX]);
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn partials<T: Element, I: Index>(
        &self,
        acc: &mut [Partial<T, I>],
        other: &[Partial<T, I>],
    ) -> Result<(), Error> {
        check_lengths([("acc", acc.len()), ("other", other.len())])?;
        // Also for none.
        plan_isa(self.isa)?;
        self.options.key.check(T::DATA_TYPE)?;
        let (mut values, mut indices) = ([T::ZERO; BATCH_LEN], [I::NONE; BATCH_LEN]);
        let (mut other_values, mut other_indices) = (values, indices);
        for (acc, other) in acc.chunks_mut(BATCH_LEN).zip(other.chunks(BATCH_LEN)) {
            let n = acc.len();
            take_apart(acc, &mut values, &mut indices);
            take_apart(other, &mut other_values, &mut other_indices);
            self.arrays(&mut values[..n], &mut indices[..n], &other_values[..n], &other_indices[..n])?;
            for ((acc, &value), &index) in acc.iter_mut().zip(&values).zip(&indices) {
                *acc = Partial { value, index };
            }
        }
        Ok(())
    }

    /// As [`Merge::partials`], of values and indices in slices of their own: faster, and what travels has no padding.
    ///
    /// # Errors
    /// As [`Merge::partials`].
    ///
    /// ```
    /// use argreduce::{Merge, ReduceFunction};
    /// let (mut values, mut indices) = ([3_i16, 5, 0], [0_u32, 9, u32::MAX]);
    /// let (other_values, other_indices) = ([4, 5, -1], [7, 8, 6]);
    /// Merge::new(ReduceFunction::ArgMax).arrays(&mut values, &mut indices, &other_values, &other_indices)?;
    /// assert_eq!((values, indices), ([4, 5, -1], [7, 8, 6]));
    ///
    /// let error =
    ///     Merge::new(ReduceFunction::ArgMax).arrays(&mut values, &mut indices, &other_values, &other_indices[1..]);
    /// assert_eq!(
    ///     error.unwrap_err().to_string(),
    ///     "the other_indices slice has 2 elements: another has 3, and all have to be as long"
    /// );
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn arrays<T: Element, I: Index>(
        &self,
        values: &mut [T],
        indices: &mut [I],
        other_values: &[T],
        other_indices: &[I],
    ) -> Result<(), Error> {
        let others = (other_values.into(), I::bits(other_indices).into());
        self.sides(T::DATA_TYPE, (values.into(), indices.into()), others)
    }

    /// As [`Merge::arrays`], with the types of elements and indices as values: two buffers of each, `bool` ordered as
    /// unsigned bytes.
    ///
    /// # Errors
    /// As [`Merge::arrays`], [`Error::Misaligned`], and [`Error::NotAnIndexType`]. (The page of
    /// [`UntypedPlan::finish`](crate::UntypedPlan::finish) has an example.)
    pub fn arrays_untyped(
        &self,
        (data_type, index_type): (DataType, DataType),
        (values, indices): (&mut [u8], &mut [u8]),
        (other_values, other_indices): (&[u8], &[u8]),
    ) -> Result<(), Error> {
        if crate::index::max_index(index_type).is_none() {
            return Err(Error::NotAnIndexType { data_type: index_type });
        }
        let values = Values::of_bytes("values", data_type, values)?;
        let other_values = ElementsRef::of_bytes("other_values", data_type, other_values)?;
        let indices = index_elements("indices", index_type, indices)?;
        let other_indices = ElementsRef::of_bytes("other_indices", index_type, other_indices)?;
        self.sides(data_type, (values, indices), (other_values, other_indices))
    }

    fn sides(
        &self,
        data_type: DataType,
        (mut values, mut indices): (Values<'_>, Indices<'_>),
        (other_values, other_indices): (ElementsRef<'_>, ElementsRef<'_>),
    ) -> Result<(), Error> {
        check_lengths([
            ("values", values.len()),
            ("indices", indices.len()),
            ("other_values", other_values.len()),
            ("other_indices", other_indices.len()),
        ])?;
        let (isa, order) = (plan_isa(self.isa)?.widest, (self.function, self.options.nan_policy));
        let (last, key) = (self.options.direction == AxisDirection::Decreasing, self.options.key);
        key.check(data_type)?;
        let (here, others) = ((&mut values, &mut indices), (other_values, other_indices));
        match key.copier(isa, data_type) {
            None => merge(isa, order, last, here, others),
            Some(keys) => merge_by_keys(isa, order, last, &keys, here, others),
        }
        Ok(())
    }
}

/// How many partials are taken apart at a time. Not measured.
const BATCH_LEN: usize = 256;

fn take_apart<T: Copy, I: Copy>(partials: &[Partial<T, I>], values: &mut [T], indices: &mut [I]) {
    for ((partial, value), index) in partials.iter().zip(values).zip(indices) {
        (*value, *index) = (partial.value, partial.index);
    }
}

/// Which slice is too short, if any.
fn check_lengths<const N: usize>(slices: [(&'static str, usize); N]) -> Result<(), Error> {
    let longest = slices.iter().map(|&(_, len)| len).max().unwrap_or(0);
    match slices.into_iter().find(|&(_, len)| len < longest) {
        Some((slice, len)) => Err(Error::LengthsDiffer { slice, len, longest }),
        None => Ok(()),
    }
}
