//! Merging partial answers, value and index beside value and index: which of two is better, a block at a time, without
//! a branch that depends on data. Nothing here knows where the answers came from.
//!
//! ```text
//! for each block of partials:
//!     won    = sign(key(other value) - key(value))              the order of values as integers: NaN and -0 included
//!     before = other index < index, or > for the last of equals
//!     takes  = (won > 0, or won = 0 and before, or nothing here yet) and something there
//!     value, index = select(takes, other value, value), select(takes, other index, index)
//! ```
//!
//! Each line is a loop over the block, which the compiler turns into vectors of the ISA: keys are as wide as the value,
//! `won` and `takes` are bytes, so that values and indices of different widths meet halfway.

use super::partial::Partial;
use crate::api::default_isa;
use crate::{AxisDirection, DataType, Element, Error, Index, Isa, NanPolicy, Options, ReduceFunction};
use std::array::from_fn;

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
/// let (mut best, mut others) = ([Partial::<f32, u32>::NONE; 2], [Partial::NONE; 2]);
/// first.run_partials(&left, &mut best)?;
/// second.run_partials(&right, &mut others)?;
/// first.merge().partials(&mut best, &others)?;
/// assert_eq!(best, [Partial { value: 5.0, index: 1 }, Partial { value: 8.0, index: 3 }]);
///
/// let mut indices = [0; 2];
/// first.finish_partials(&best, &mut indices)?;
/// assert_eq!(indices, [1, 3]);
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

    /// Forces an instruction set; by default as for a plan, see [`ArgReduce::isa`](crate::ArgReduce::isa). The answer
    /// never depends on it.
    pub const fn isa(self, isa: Isa) -> Merge {
        Merge { isa: Some(isa), ..self }
    }

    /// Makes each of `acc` the better of itself and its counterpart in `other`.
    ///
    /// # Errors
    /// [`Error::LengthsDiffer`], and [`Error::IsaNotAvailable`] or [`Error::UnknownIsa`] as for a plan; then nothing is
    /// written.
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
        let isa = self.checked_isa()?;
        for (acc, other) in acc.chunks_mut(PAIRS).zip(other.chunks(PAIRS)) {
            let split = |partials: &[Partial<T, I>]| {
                let at = |n: usize| partials.get(n).copied().unwrap_or(Partial::NONE);
                (from_fn(|n| at(n).value), from_fn(|n| at(n).index))
            };
            let ((mut values, mut indices), (other_values, other_indices)): (([T; PAIRS], [I; PAIRS]), _) =
                (split(acc), split(other));
            self.enter(isa, &mut values, &mut indices, &other_values, &other_indices);
            for ((acc, value), index) in acc.iter_mut().zip(values).zip(indices) {
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
        check_lengths([
            ("values", values.len()),
            ("indices", indices.len()),
            ("other_values", other_values.len()),
            ("other_indices", other_indices.len()),
        ])?;
        self.enter(self.checked_isa()?, values, indices, other_values, other_indices);
        Ok(())
    }

    fn checked_isa(&self) -> Result<Isa, Error> {
        match self.isa {
            Some(isa) if isa.is_available() => Ok(isa),
            Some(isa) => Err(Error::IsaNotAvailable { isa }),
            None => default_isa().map(|isa| isa.widest),
        }
    }

    /// Merges slices of one length, by the vectors of an ISA that is available.
    fn enter<T: Element, I: Index>(
        &self,
        isa: Isa,
        values: &mut [T],
        indices: &mut [I],
        other_values: &[T],
        other_indices: &[I],
    ) {
        match size_of::<T>() {
            1 => vectorize(isa, Blocks { rule: self.rule::<T, I, i8>(), values, indices, other_values, other_indices }),
            2 => {
                vectorize(isa, Blocks { rule: self.rule::<T, I, i16>(), values, indices, other_values, other_indices })
            }
            4 => {
                vectorize(isa, Blocks { rule: self.rule::<T, I, i32>(), values, indices, other_values, other_indices })
            }
            _ => {
                vectorize(isa, Blocks { rule: self.rule::<T, I, i64>(), values, indices, other_values, other_indices })
            }
        }
    }

    fn rule<T: Element, I: Index, K: Key>(&self) -> Rule<K, I> {
        let flip = if self.function == ReduceFunction::ArgMin { -1 } else { 0 };
        let nan = if self.options.nan_policy == NanPolicy::Propagate { K::MAX } else { K::MIN };
        // `Element::key` moves unsigned numbers down by half of 64 bits: those that are narrower, by half of their own.
        let is_unsigned = matches!(T::DATA_TYPE, DataType::U8 | DataType::U16 | DataType::U32);
        let index_flip = if self.options.direction == AxisDirection::Decreasing { I::NONE } else { I::default() };
        Rule { nan: nan ^ flip, flip: K::of(flip ^ if is_unsigned { K::MIN } else { 0 }), index_flip }
    }
}

/// What the better of two depends on, beside the two.
#[derive(Clone, Copy)]
struct Rule<K, I> {
    /// The key of a NaN, before it is flipped.
    nan: i64,
    /// What keys are xored with, so that the larger is better.
    flip: K,
    /// What indices are xored with, so that the smaller wins ties.
    index_flip: I,
}

/// An integer as wide as an element.
trait Key: Copy + Ord + std::ops::BitXor<Output = Self> {
    const MIN: i64;
    const MAX: i64;
    /// The lowest bits.
    fn of(key: i64) -> Self;
}

macro_rules! keys {
    ($($t:ident)+) => {$(
        impl Key for $t {
            const MIN: i64 = $t::MIN as i64;
            const MAX: i64 = $t::MAX as i64;
            #[inline(always)]
            fn of(key: i64) -> $t {
                key as $t
            }
        }
    )+};
}
keys!(i8 i16 i32 i64);

/// Which slice is too short, if any.
fn check_lengths<const N: usize>(slices: [(&'static str, usize); N]) -> Result<(), Error> {
    let longest = slices.iter().map(|&(_, len)| len).max().unwrap_or(0);
    match slices.into_iter().find(|&(_, len)| len < longest) {
        Some((slice, len)) => Err(Error::LengthsDiffer { slice, len, longest }),
        None => Ok(()),
    }
}

impl<K: Key, I> Rule<K, I> {
    /// The larger key is the better element: as [`argreduce_kernels::key`], but as narrow as the element.
    #[inline(always)]
    fn key<T: Element>(&self, element: T) -> K {
        K::of(element.key(self.nan)) ^ self.flip
    }
}

/// How many partials are merged at a time: a few vectors of the widest elements.
const BLOCK: usize = 64;

/// How many pairs are taken apart at a time.
const PAIRS: usize = 4 * BLOCK;

/// What is to be merged: slices of one length.
struct Blocks<'a, T, I, K> {
    rule: Rule<K, I>,
    values: &'a mut [T],
    indices: &'a mut [I],
    other_values: &'a [T],
    other_indices: &'a [I],
}

impl<T: Element, I: Index, K: Key> Blocks<'_, T, I, K> {
    #[inline(always)]
    fn merge(self) {
        let Blocks { rule, values, indices, other_values, other_indices } = self;
        let ((values, last_values), (indices, last_indices)) =
            (values.as_chunks_mut::<BLOCK>(), indices.as_chunks_mut::<BLOCK>());
        let ((others, last_others), (other_indices, last_other_indices)) =
            (other_values.as_chunks::<BLOCK>(), other_indices.as_chunks::<BLOCK>());
        for (((values, indices), others), other_indices) in
            values.iter_mut().zip(indices).zip(others).zip(other_indices)
        {
            merge_block(rule, values, indices, others, other_indices);
        }
        if !last_values.is_empty() {
            merge_block(rule, last_values, last_indices, last_others, last_other_indices);
        }
    }
}

/// Merges at most [`BLOCK`] partials.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "several slices in step, which the compiler knows to be as long")]
fn merge_block<T: Element, I: Index, K: Key>(
    rule: Rule<K, I>,
    values: &mut [T],
    indices: &mut [I],
    other_values: &[T],
    other_indices: &[I],
) {
    let n = values.len();
    let (indices, other_values, other_indices) = (&mut indices[..n], &other_values[..n], &other_indices[..n]);
    let mut won = [0_i8; BLOCK];
    let won = &mut won[..n];
    for n in 0..n {
        let (here, there) = (rule.key(values[n]), rule.key(other_values[n]));
        won[n] = i8::from(there > here) - i8::from(there < here);
    }
    for n in 0..n {
        let (here, there) = (indices[n], other_indices[n]);
        let is_before = (there ^ rule.index_flip) < (here ^ rule.index_flip);
        let is_better = (won[n] > 0) | ((won[n] == 0) & is_before) | (here == I::NONE);
        let takes = is_better & (there != I::NONE);
        won[n] = -i8::from(takes);
        indices[n] = if takes { there } else { here };
    }
    for n in 0..n {
        values[n] = if won[n] != 0 { other_values[n] } else { values[n] };
    }
}

impl<T: Element, I: Index, K: Key> pulp::NullaryFnOnce for Blocks<'_, T, I, K> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.merge();
    }
}

/// Merges inside a function that has the ISA's target features, or without any.
fn vectorize<T: Element, I: Index, K: Key>(isa: Isa, blocks: Blocks<'_, T, I, K>) {
    #[cfg(target_arch = "x86_64")]
    {
        if isa == Isa::Avx512
            && let Some(simd) = pulp::x86::V4::try_new()
        {
            return simd.vectorize(blocks);
        }
        if isa == Isa::Avx2
            && let Some(simd) = pulp::x86::V3::try_new()
        {
            return simd.vectorize(blocks);
        }
    }
    #[cfg(target_arch = "aarch64")]
    if isa == Isa::Neon
        && let Some(simd) = pulp::aarch64::Neon::try_new()
    {
        return simd.vectorize(blocks);
    }
    let _ = isa;
    blocks.merge();
}
