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
//! Above it is once 1 was taken from each, which wraps: NaT becomes the largest integer, and the others keep their
//! order.

use crate::output::NewArray;
use crate::reduce::Run;
use crate::view::{Shape, View};
use argreduce::{NanPolicy, ReduceFunction};
use bytemuck::cast_slice_mut;
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

/// The same dates, one less each: a copy. `shape` is a place for its shape.
pub(crate) fn one_less<'a, 'py>(
    name: &str,
    view: &View<'_, 'py>,
    py: Python<'py>,
    shape: &'a mut Shape,
) -> PyResult<View<'a, 'py>> {
    let mut copy = NewArray::new(view.value_type(py)?, view.shape.sizes())?;
    view.copy_to(&copy)?;
    add(copy.bytes(), -1);
    View::of_new(name, copy, shape)
}

impl Run<'_, '_> {
    /// [`Run::run`] of dates among which NaT has to be above all.
    pub(crate) fn run_with_nat_above(&self, indices: &mut [u8], mut values: Option<&mut [u8]>) -> PyResult<()> {
        // Most arrays have none. That is what the smallest elements tell, and takes less than a copy.
        let outputs = indices.len() / self.key.index_type.size();
        let (mut smallest, mut places) = (vec![0_i64; outputs], vec![0_u64; outputs]);
        let (function, nan_policy) = (ReduceFunction::ArgMin, NanPolicy::Propagate);
        let key = self.key.with(function, nan_policy);
        let places = &mut cast_slice_mut(&mut places)[..indices.len()];
        Run { plan: &*key.plan(self.view.shape)?, key, ..*self }
            .run_as_is(places, Some(cast_slice_mut(&mut smallest)))?;
        if !smallest.contains(&NAT) {
            return self.run_as_is(indices, values);
        }
        let mut shape = Shape::NONE;
        let view = &one_less(self.name, self.view, self.py, &mut shape)?;
        let plan = &*self.key.plan(view.shape)?;
        Run { plan, view, ..*self }.run_as_is(indices, values.as_deref_mut())?;
        if let Some(values) = values {
            add(values, 1);
        }
        Ok(())
    }
}
