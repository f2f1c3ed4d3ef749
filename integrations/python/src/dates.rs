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
//! Where it wins above, its place is that of the smallest. Where it loses above, 1 is taken from each element of a
//! copy, which wraps: NaT becomes the largest integer, and the others keep their order. The copy is made only where
//! there is a NaT. (Partial answers, which are merged by the same order, are always made of such a copy.)

use crate::output::{NewArray, zeros};
use crate::run::Run;
use crate::view::{Shape, View};
use argreduce::{NanPolicy, ReduceFunction};
use bytemuck::{cast_slice, cast_slice_mut};
use pyo3::prelude::*;

/// "Not a time".
pub(crate) const NAT: i64 = i64::MIN;

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
    /// [`Run::run`] of dates among which NaT has to be above all.
    pub(crate) fn run_with_nat_above(&self, indices: &mut [u8], values: Option<&mut [u8]>) -> PyResult<()> {
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
