//! Plans, each made once: to make one takes longer than a short row.

use crate::arguments::{self, Axes};
use crate::interop::value_error;
use crate::view::Shape;
use argreduce::{ArgReduce, DataType, Error, Layout, NanPolicy, ReduceFunction, UntypedPlan, UntypedPlanBoth};
use pyo3::PyResult;
use std::cell::RefCell;
use std::rc::Rc;
use std::thread::LocalKey;

/// All that a plan depends on, but the shape.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Key {
    pub(crate) axes: Axes,
    /// Of the best so far, whether from the end.
    pub(crate) walk: Option<bool>,
    pub(crate) data_type: DataType,
    pub(crate) index_type: DataType,
    /// Of both functions, the first.
    pub(crate) function: ReduceFunction,
    pub(crate) select_last: bool,
    pub(crate) nan_policy: NanPolicy,
    pub(crate) by: argreduce::Key,
    /// The index of what is not there.
    pub(crate) fill: Option<i64>,
}

/// Plans that are kept, the latest one last.
type Kept<P> = RefCell<Vec<(Key, Shape, Rc<P>)>>;

thread_local! {
    /// The last plans of this thread.
    static PLANS: Kept<UntypedPlan> = const { RefCell::new(Vec::new()) };
    /// The last ones for both functions at once.
    static PLANS_FOR_BOTH: Kept<UntypedPlanBoth> = const { RefCell::new(Vec::new()) };
}

/// How many plans of a kind a thread keeps.
const KEPT_PLANS: usize = 4;

impl Key {
    /// The plan for the function.
    pub(crate) fn plan(&self, shape: &Shape) -> PyResult<Rc<UntypedPlan>> {
        self.kept(&PLANS, shape, |layout| {
            self.describe(ArgReduce::new(self.function, layout)).plan_untyped(self.data_type, self.index_type)
        })
    }

    /// The plan for both functions.
    pub(crate) fn plan_for_both(&self, shape: &Shape) -> PyResult<Rc<UntypedPlanBoth>> {
        self.kept(&PLANS_FOR_BOTH, shape, |layout| {
            self.describe(ArgReduce::argminmax(layout)).plan_both_untyped(self.data_type, self.index_type)
        })
    }

    /// The plan, from the last ones if it is there.
    fn kept<P>(
        &self,
        plans: &'static LocalKey<Kept<P>>,
        shape: &Shape,
        make: impl FnOnce(&Layout) -> Result<P, Error>,
    ) -> PyResult<Rc<P>> {
        plans.with_borrow_mut(|plans| {
            if let Some((.., plan)) = plans.iter().rev().find(|(key, of, _)| key == self && of == shape) {
                return Ok(plan.clone());
            }
            let plan = Rc::new(shape.layout().and_then(|layout| make(&layout)).map_err(value_error)?);
            if plans.len() == KEPT_PLANS {
                plans.remove(0);
            }
            plans.push((*self, *shape, plan.clone()));
            Ok(plan)
        })
    }

    /// The same for another function.
    pub(crate) fn with(self, function: ReduceFunction, nan_policy: NanPolicy) -> Key {
        Key { function, nan_policy, ..self }
    }

    fn describe<'a>(&self, reduce: ArgReduce<'a>) -> ArgReduce<'a> {
        let reduce = reduce.axes_from(self.axes.iter()).direction(arguments::direction(self.select_last));
        let reduce = reduce.nan_policy(self.nan_policy).by(self.by);
        let reduce = match self.walk {
            None => reduce,
            Some(false) => reduce.cumulative(),
            Some(true) => reduce.cumulative().reverse(),
        };
        self.fill.map_or(reduce, |fill| reduce.fill(fill))
    }
}
