//! A plan runs on what is read: elements, which of them are there, and the threads for it. Knows nothing of arguments.

use crate::bools::{self, Outputs};
use crate::interop::value_error;
use crate::interrupt;
use crate::mask::{self, There};
use crate::plans::Key;
use crate::threads::Threads;
use crate::view::View;
use argreduce::{Buffers, DataType, Executor, Mask};
use pyo3::prelude::*;

/// What is asked for, and what it is asked of.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a, 'py> {
    pub(crate) py: Python<'py>,
    /// The function that was called.
    pub(crate) name: &'static str,
    pub(crate) key: &'a Key,
    pub(crate) view: &'a View<'a, 'py>,
    pub(crate) threads: &'a Threads,
    pub(crate) there: Option<&'a There<'a, 'py>>,
}

/// With what elements are read: threads, and which of them are there, if some are not.
pub(crate) struct Lent<'a> {
    pub(crate) executor: &'a dyn Executor,
    pub(crate) mask: Option<Mask<'a>>,
}

impl Lent<'_> {
    /// Elements as the input of a call.
    pub(crate) fn input<'b>(&'b self, elements: &'b [u8]) -> argreduce::Input<'b, u8> {
        argreduce::input(elements).masked(self.mask).on(self.executor)
    }
}

impl Run<'_, '_> {
    /// By the order of the elements themselves.
    pub(crate) fn run_as_is(&self, indices: &mut [u8], mut values: Option<&mut [u8]>) -> PyResult<()> {
        let plan = self.key.plan(self.view.shape)?;
        let (plan, key) = (&*plan, self.key);
        self.read(|elements, lent| {
            let run = |elements: &[u8], indices: &mut [u8], values: Option<&mut [u8]>| {
                plan.run(lent.input(elements), Buffers { indices, values })
            };
            if key.data_type != DataType::Bool {
                return run(elements, indices, values.as_deref_mut()).map_err(value_error);
            }
            let values = values.as_deref_mut().map(|values| [values]);
            let outputs = Outputs::of(key, [key.function], [&mut *indices], values);
            bools::run_of_any_bytes(elements, outputs, |elements, [indices], [values]| {
                run(elements, indices, Some(values))
            })
        })
    }

    /// Hands the elements to something that runs a plan, and which of them are there; and the threads for it. The lock
    /// of the interpreter is released meanwhile if they are many.
    #[inline(always)]
    pub(crate) fn read(&self, mut run: impl FnMut(&[u8], &Lent<'_>) -> PyResult<()> + Send) -> PyResult<()> {
        // Not moved from here on: that takes as long as some of what a small call does.
        let run = &mut run;
        let Run { py, name, view, threads, there, .. } = *self;
        // SAFETY: no code of Python runs before the plan has run, and nothing here writes to the input: an `out` that
        // is (a part of) it is written after it was read.
        let input = unsafe { view.bytes(name)? };
        // SAFETY: as above.
        unsafe {
            mask::with(name, there, |mask| {
                interrupt::run(py, view.work(), threads, |executor| run(input, &Lent { executor, mask }))
            })
        }
    }
}
