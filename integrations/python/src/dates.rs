//! `datetime64` and `timedelta64`: integers of 64 bits, of which the smallest is NaT, "not a time". It is to them what
//! NaN is to floats. So it is in its place already where it is to be below all others (or to win as the smallest); in
//! the two other cases it has to be above all.
//!
//! ```text
//!            NaN wins       NaN loses
//! argmax     NaT above      integers as they are
//! argmin     as they are    NaT above
//! ```
//!
//! Where it wins above, the largest of the same bits as unsigned integers is the answer, as long as none is negative:
//! NaT is 2^63, above all that are not. Dates from 1970 on are none. Where one is, NaT's place is that of the smallest.
//!
//! Where it wins, nothing behind it counts. So a row that is one answer is read in pieces, up to the first NaT.
//!
//! Where it loses above, 1 is taken from each element of a copy, which wraps: NaT becomes the largest integer, and the
//! others keep their order. The copy is made only where there is a NaT. (Partial answers, which are merged by the same
//! order, are always made of such a copy.)

use crate::arguments::Axes;
use crate::interop::value_error;
use crate::output::{NewArray, write_index, zeros};
use crate::plans::Key;
use crate::run::Run;
use crate::view::{Shape, View};
use argreduce::{Buffers, DataType, NanPolicy, ReduceFunction, UntypedPlan};
use bytemuck::{cast_slice, cast_slice_mut};
use pyo3::prelude::*;

/// "Not a time".
pub(crate) const NAT: i64 = i64::MIN;

/// So many dates of a row are looked at together: few enough for the L1 cache, and so many that a call takes little
/// beside them.
const PIECE: usize = 4096;

/// After so many pieces, signals may be handled: as often as the library pauses, some megabytes.
const PIECES_TO_PAUSE: usize = 128;

/// Whether NaT has to be above all others.
pub(crate) fn is_nat_above(function: ReduceFunction, nan_policy: NanPolicy) -> bool {
    (function == ReduceFunction::ArgMax) == (nan_policy == NanPolicy::Propagate)
}

/// Adds to each of some integers. It wraps.
pub(crate) fn add(bytes: &mut [u8], number: i64) {
    for bytes in bytes.as_chunks_mut().0 {
        *bytes = i64::from_ne_bytes(*bytes).wrapping_add(number).to_ne_bytes();
    }
}

/// Adds 1 to each value whose index says that something was seen.
pub(crate) fn one_more_where_seen(values: &mut [u8], indices: &[u8]) {
    let (values, indices) = (values.as_chunks_mut::<8>().0, indices.as_chunks::<8>().0);
    for (value, index) in values.iter_mut().zip(indices) {
        if i64::from_ne_bytes(*index) != -1 {
            add(value, 1);
        }
    }
}

/// The same dates, one less each: a copy. `shape` is a place for its shape.
pub(crate) fn one_less<'a, 'py>(
    name: &str,
    view: &View<'_, 'py>,
    py: Python<'py>,
    shape: &'a mut Shape,
) -> PyResult<View<'a, 'py>> {
    let mut copy = NewArray::new(view.value_type(py)?, view.shape.sizes())?;
    view.copy_to(name, &copy)?;
    add(copy.bytes(), -1);
    View::of_new(name, copy, shape)
}

impl Run<'_, '_> {
    /// [`Run::run`] of dates.
    pub(crate) fn run_dates(&self, indices: &mut [u8], mut values: Option<&mut [u8]>) -> PyResult<()> {
        if self.is_long_row(indices) {
            let (place, date) = self.best_of_row()?;
            write_index(place as i64, indices);
            if let Some(values) = values {
                values.copy_from_slice(&date.to_ne_bytes());
            }
            return Ok(());
        }
        if !is_nat_above(self.key.function, self.key.nan_policy) {
            return self.run_as_is(indices, values);
        }
        if self.key.function == ReduceFunction::ArgMax && self.run_as_unsigned(indices, values.as_deref_mut())? {
            return Ok(());
        }
        self.run_with_nat_above(indices, values)
    }

    /// Whether it is one answer, which is worth to be looked for in pieces, up to the first NaT.
    fn is_long_row(&self, indices: &[u8]) -> bool {
        let (key, shape) = (self.key, self.view.shape);
        let mut axes = shape.sizes().iter().zip(shape.strides()).rev();
        // How many there are, and so how far the next axis is apart, if each is packed.
        let count =
            axes.try_fold(1, |count, (&size, &stride)| (size == 1 || stride == count).then_some(count * size as isize));
        count.is_some_and(|count| count >= 2 * PIECE as isize)
            && indices.len() == key.index_type.size()
            && key.nan_policy == NanPolicy::Propagate
            && !key.select_last
            && self.threads.count == 1
            && self.there.is_none()
    }

    /// Where the best date of a packed row is, and which.
    fn best_of_row(&self) -> PyResult<(usize, i64)> {
        let (piece, is_max) = (Shape::row(PIECE), self.key.function == ReduceFunction::ArgMax);
        let axes = Axes::all(1);
        let key = Key { axes, index_type: DataType::I64, fill: None, ..*self.key };
        let first = if is_max { Key { data_type: DataType::U64, ..key } } else { key };
        let smallest = key.with(ReduceFunction::ArgMin, NanPolicy::Propagate);
        let [first, exact, smallest] = [first.plan(&piece)?, key.plan(&piece)?, smallest.plan(&piece)?];
        let plans = [&*first, &*exact, &*smallest];
        let mut best: Option<(usize, i64)> = None;
        self.read(|elements, lent| {
            let [first, exact, smallest] = plans;
            let last = elements.len() / 8 - PIECE;
            for (n, start) in (0..last).step_by(PIECE).chain([last]).enumerate() {
                let elements = &elements[8 * start..][..8 * PIECE];
                let find = |plan: &UntypedPlan| {
                    let (mut place, mut date) = ([0_u64], [0_i64]);
                    let (indices, values) = (cast_slice_mut(&mut place), Some(cast_slice_mut(&mut date)));
                    plan.run(elements, Buffers { indices, values }).map_err(value_error)?;
                    Ok::<_, PyErr>((place[0] as usize, date[0]))
                };
                let mut found = find(first)?;
                // A negative number, as an unsigned one.
                if is_max && found.1 < 0 && found.1 != NAT {
                    found = find(smallest)?;
                    if found.1 != NAT {
                        found = find(exact)?;
                    }
                }
                let (place, date) = found;
                let is_better = |(_, other): (usize, i64)| if is_max { date > other } else { date < other };
                if date == NAT || best.is_none_or(is_better) {
                    best = Some((start + place, date));
                    if date == NAT {
                        break;
                    }
                }
                if n % PIECES_TO_PAUSE == 0
                    && let Some(pause) = lent.executor.pause()
                {
                    pause();
                }
            }
            Ok(())
        })?;
        Ok(best.expect("a row has a piece at least"))
    }

    /// By the bits as unsigned integers: true if that is the answer.
    fn run_as_unsigned(&self, indices: &mut [u8], values: Option<&mut [u8]>) -> PyResult<bool> {
        let mut of_its_own =
            if values.is_none() { zeros::<i64>(indices.len() / self.key.index_type.size())? } else { vec![] };
        let values = values.unwrap_or(cast_slice_mut(&mut of_its_own));
        let key = Key { data_type: DataType::U64, ..*self.key };
        Run { key: &key, ..*self }.run_as_is(indices, Some(&mut *values))?;
        let is_negative = |date: i64| date < 0 && date != NAT;
        Ok(!values.as_chunks().0.iter().any(|&date| is_negative(i64::from_ne_bytes(date))))
    }

    /// [`Run::run`] of dates among which NaT has to be above all.
    fn run_with_nat_above(&self, indices: &mut [u8], values: Option<&mut [u8]>) -> PyResult<()> {
        // The smallest of each output tells whether it has a NaT, and where the first is.
        let width = self.key.index_type.size();
        let outputs = indices.len() / width;
        let (mut smallest, mut places) = (zeros::<i64>(outputs)?, zeros::<u64>(outputs)?);
        let places = &mut cast_slice_mut(&mut places)[..indices.len()];
        let key = self.key.with(ReduceFunction::ArgMin, NanPolicy::Propagate);
        Run { key: &key, ..*self }.run_as_is(places, Some(cast_slice_mut(&mut smallest)))?;
        match self.key.function {
            ReduceFunction::ArgMax => self.run_where_none_is_nat(indices, values, places, &smallest),
            _ if smallest.contains(&NAT) => self.run_one_less(indices, values),
            _ => {
                indices.copy_from_slice(places);
                if let Some(values) = values {
                    values.copy_from_slice(cast_slice(&smallest));
                }
                Ok(())
            }
        }
    }

    /// The largest elements of outputs without a NaT, and for the others, where it is.
    fn run_where_none_is_nat(
        &self,
        indices: &mut [u8],
        mut values: Option<&mut [u8]>,
        places: &[u8],
        smallest: &[i64],
    ) -> PyResult<()> {
        if !smallest.iter().all(|&smallest| smallest == NAT) {
            self.run_as_is(indices, values.as_deref_mut())?;
        }
        let width = self.key.index_type.size();
        for n in (0..smallest.len()).filter(|&n| smallest[n] == NAT) {
            let place = n * width..(n + 1) * width;
            indices[place.clone()].copy_from_slice(&places[place]);
            if let Some(values) = &mut values {
                values.as_chunks_mut().0[n] = NAT.to_ne_bytes();
            }
        }
        Ok(())
    }

    /// By a copy in which NaT is the largest.
    fn run_one_less(&self, indices: &mut [u8], mut values: Option<&mut [u8]>) -> PyResult<()> {
        let mut shape = Shape::NONE;
        let view = &one_less(self.name, self.view, self.py, &mut shape)?;
        Run { view, ..*self }.run_as_is(indices, values.as_deref_mut())?;
        if let Some(values) = values {
            add(values, 1);
        }
        Ok(())
    }
}
