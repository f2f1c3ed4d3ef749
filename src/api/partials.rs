//! Parts of a larger tensor: each is reduced where it is, and the partial answers merge to exactly the answer for the
//! whole.
//!
//! A tensor may be spread over chunks, files, processes or machines, or come as a stream. A
//! [window](crate::layout::Window) says where a part lies in the whole: then its indices are those in the whole. A
//! [`Partial`] is the best element of a part and its index. A [`Merge`] makes one of two.
//!
//! ```text
//! part:   plan.window(whole, start)     only the steps of the index, and where it starts, know of the window
//!         plan.run(x, partials)         (value, index) for each output; NONE for an empty part
//! merge:  the better of two             by class (NaN or number), then by value, then by index in the whole
//! finish: the index of each partial     at the places of the output
//! ```
//!
//! Why this is exact: any two partials that are not `NONE` have different indices, so that one is strictly better than
//! the other: a total order. The best of a set does not depend on the order or the grouping in which it is found. The
//! order is that of the kernels, so that it does not matter either whether two elements meet in a kernel or in a merge.

use super::erased::ErasedPlan;
use super::input::ErasedInput;
use super::lengths::check_len;
use super::merge::Merge;
use super::output::{Named, Names, Places};
use super::run::Plans;
use crate::exec::OutputSlices;
use crate::{Element, Error, Index, Layout, Options, Partial};
use argreduce_kernels::{LoopDim, StridedIter};

impl ErasedPlan {
    pub(crate) fn merge(&self) -> Merge {
        let Options { direction, nan_policy, key } = self.options();
        Merge::new(self.function()).direction(direction).nan_policy(nan_policy).by(key).isa(self.isa())
    }

    /// What can be wrong before partials are written: a largest index that means that nothing was seen, the input, and
    /// the mask.
    pub(crate) fn check_partials(
        &self,
        index_type: &'static str,
        none: u64,
        input: &ErasedInput<'_>,
    ) -> Result<(), Error> {
        self.check_reduces("partial answer")?;
        if self.output().element_count() > 0 && self.index_count() as u64 > none {
            return Err(Error::IndexTooLarge { largest: self.index_count() - 1, index_type, max: none - 1 });
        }
        self.check_input(input)
    }

    /// As [`ErasedPlan::check_partials`], of an index type.
    pub(crate) fn check_typed_partials<I: Index>(&self, input: &ErasedInput<'_>) -> Result<(), Error> {
        self.check_partials(I::NAME, u64::MAX >> (64 - 8 * size_of::<I>()), input)
    }

    /// Writes the best element of each output and its index, side by side.
    pub(crate) fn run_partials<T: Element, I: Index>(
        &self,
        names: &Names,
        input: &ErasedInput<'_>,
        partials: &mut [Partial<T, I>],
    ) -> Result<(), Error> {
        let outputs = self.output().element_count();
        self.check_typed_partials::<I>(input)?;
        check_len(names.partials, "Partial", partials.len(), outputs)?;
        let (slices, steps) = OutputSlices::of_partials(&mut partials[..outputs]);
        Plans::from(self).run_apart(input, [slices], steps)
    }

    /// What can be wrong before partials are written in two slices.
    pub(crate) fn check_packed(
        &self,
        (names, index_type): &Named,
        input: &ErasedInput<'_>,
        OutputSlices { indices, values }: &OutputSlices<'_>,
    ) -> Result<(), Error> {
        let outputs = self.output().element_count();
        self.check_partials(index_type, indices.none(), input)?;
        check_len(names.indices, index_type, indices.len(), outputs)?;
        let values = values.as_ref().map_or(0, |values| values.len());
        check_len(names.values, input.elements.data_type().name(), values, outputs)
    }

    /// As [`ErasedPlan::run_partials`], with values and indices in two slices.
    pub(crate) fn run_packed(
        &self,
        named: &Named,
        input: &ErasedInput<'_>,
        slices: OutputSlices<'_>,
    ) -> Result<(), Error> {
        self.check_packed(named, input, &slices)?;
        Plans::from(self).run_apart(input, [slices], [1, 1])
    }

    /// Where each partial answer of a part is, by its number among the packed ones.
    pub(crate) fn finish_part<'a, T: Element, I: Index>(
        &self,
        partial: &'a dyn Fn(usize) -> Partial<T, I>,
    ) -> Unfinished<'a, T, I> {
        let empty = self.empty_axis().map(|axis| (axis, "part"));
        Unfinished { partial, empty, data_type: T::DATA_TYPE.name(), index_type: (I::NAME, I::MAX) }
    }

    /// Writes indices at the places of the output layout, and values; or copies partial answers. In place of none, the
    /// fill; without one, an error.
    pub(crate) fn finish<T: Element, I: Index>(
        &self,
        from: &Unfinished<'_, T, I>,
        names: &Names,
        output: Places<'_, T, I>,
    ) -> Result<(), Error> {
        self.check_finish(from, names, &output)?;
        let (partial, outputs) = (from.partial, self.output().element_count());
        match output {
            Places::Answers { indices, values } => {
                let fill = I::at(self.fill().unwrap_or(0) as isize, 0, 0);
                let or_fill = |n| if partial(n).is_none() { fill } else { partial(n).index };
                scatter(self.output(), &or_fill, indices);
                for (n, value) in values.into_iter().flatten().take(outputs).enumerate() {
                    *value = if partial(n).is_none() { T::ZERO } else { partial(n).value };
                }
            }
            Places::Partials(to) => to.iter_mut().take(outputs).enumerate().for_each(|(n, to)| *to = partial(n)),
        }
        Ok(())
    }

    /// As [`ErasedPlan::finish`], to partial answers in two slices.
    pub(crate) fn copy_partials<T: Element, I: Index>(
        &self,
        from: &Unfinished<'_, T, I>,
        indices: &mut [I],
        values: &mut [T],
    ) -> Result<(), Error> {
        let outputs = self.output().element_count();
        check_len("indices", from.index_type.0, indices.len(), outputs)?;
        check_len("values", from.data_type, values.len(), outputs)?;
        self.check_indices(from, true)?;
        for (n, (index, value)) in indices.iter_mut().zip(values).take(outputs).enumerate() {
            (*index, *value) = ((from.partial)(n).index, (from.partial)(n).value);
        }
        Ok(())
    }

    /// Whether there is room for the answers, and indices are of the whole; and what to say of none.
    pub(crate) fn check_finish<T: Element, I: Index>(
        &self,
        from: &Unfinished<'_, T, I>,
        names: &Names,
        output: &Places<'_, T, I>,
    ) -> Result<(), Error> {
        let outputs = self.output().element_count();
        let can_be_none = match output {
            Places::Answers { indices, values } => {
                check_len(names.indices, from.index_type.0, indices.len(), self.output().required_len())?;
                if let Some(values) = values {
                    check_len(names.values, from.data_type, values.len(), outputs)?;
                }
                self.fill().is_some()
            }
            Places::Partials(partials) => {
                check_len(names.partials, "Partial", partials.len(), outputs)?;
                true
            }
        };
        self.check_indices(from, can_be_none)
    }

    /// Whether indices are of the whole; and what to say of none, where that is an error.
    fn check_indices<T: Element, I: Index>(
        &self,
        &Unfinished { partial, empty, index_type: (_, max_index), .. }: &Unfinished<'_, T, I>,
        can_be_none: bool,
    ) -> Result<(), Error> {
        self.check_reduces("partial answer")?;
        let count = self.index_count() as u64;
        for n in 0..self.output().element_count() {
            let index = match (partial(n), empty) {
                (partial, _) if !partial.is_none() => partial.index.value(),
                _ if can_be_none => continue,
                (_, Some((axis, of))) => return Err(Error::EmptyReduction { axis, of }),
                (_, None) => return Err(self.nothing_there(n)),
            };
            if !(0..count.into()).contains(&index) {
                // Bits beyond the largest index are a negative one, of a signed type.
                let is_negative = index > max_index.into();
                let index = if is_negative { index - I::NONE.value() - 1 } else { index };
                return Err(Error::IndexOutOfRange { index, count });
            }
        }
        Ok(())
    }
}

/// Partial answers that become answers: of types, or of the unsigned integers that are as wide.
pub(crate) struct Unfinished<'a, T, I> {
    /// Each by its number among the packed ones.
    pub(crate) partial: &'a dyn Fn(usize) -> Partial<T, I>,
    /// The axis along which nothing has come yet, and what that is an axis of.
    pub(crate) empty: Option<(usize, &'static str)>,
    /// What messages call the types, and the largest index.
    pub(crate) data_type: &'static str,
    pub(crate) index_type: (&'static str, u64),
}

/// Writes packed elements, each given by its number, at the places of a layout.
fn scatter<X>(layout: &Layout, get: &dyn Fn(usize) -> X, to: &mut [X]) {
    let mut dims = [LoopDim::ONE; crate::MAX_RANK];
    for (dim, (&size, &stride)) in dims.iter_mut().zip(layout.sizes().iter().zip(layout.strides())) {
        *dim = LoopDim { size, stride };
    }
    for (n, place) in StridedIter::new(&dims[..layout.sizes().len()]).enumerate() {
        to[(layout.offset() as isize + place) as usize] = get(n);
    }
}
