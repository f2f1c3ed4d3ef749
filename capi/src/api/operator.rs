//! A compiled operator: its plan, and what calls of it need. Knows nothing of pointers and of calls.

use super::codes::*;
use super::failure::Failure;
use super::pointer::Need;
use ::argreduce::directml::CompiledOperator;
use ::argreduce::{
    DataType, Error, Input, Isa, Layout, Merge, Options, ReduceFunction, RequiredBytes, UntypedOutput, UntypedPlan,
    UntypedPlanBoth,
};
use std::ffi::CString;
use std::fmt;

/// A compiled operator: immutable, usable from any thread.
pub struct argreduce_operator {
    pub(super) plan: Plan,
    pub(super) of_segments: Option<OfSegments>,
    pub(super) need: Needs,
    pub(super) isa: CString,
}

/// What an operator does to segments: all of its description but where its elements are.
pub(super) struct OfSegments {
    /// None of both.
    pub(super) function: Option<ReduceFunction>,
    pub(super) options: Options,
    pub(super) fill: Option<i64>,
    pub(super) isa: Option<Isa>,
    pub(super) data_type: DataType,
    pub(super) index_type: DataType,
}

impl OfSegments {
    pub(super) fn functions(&self) -> &[ReduceFunction] {
        self.function.as_ref().map_or(&ReduceFunction::ALL, std::slice::from_ref)
    }
}

pub(super) enum Plan {
    One(One),
    Both(UntypedPlanBoth),
}

/// Of one function.
pub(super) enum One {
    Own(UntypedPlan),
    DirectMl(CompiledOperator),
}

impl Plan {
    /// The layout of the input, of plans that take a mask.
    pub(super) fn input_layout(&self) -> Option<&Layout> {
        match self {
            Plan::One(One::Own(plan)) => Some(plan.input_layout()),
            Plan::One(One::DirectMl(_)) => None,
            Plan::Both(plan) => Some(plan.each()[0].input_layout()),
        }
    }
}

impl One {
    #[inline(always)]
    pub(super) fn run(&self, input: Input<'_, u8>, output: UntypedOutput<'_>) -> Result<(), Error> {
        match self {
            One::Own(plan) => plan.run(input, output),
            One::DirectMl(operator) => operator.run(input, output),
        }
    }

    /// What merges its partial answers, and their types.
    pub(super) fn merge(&self) -> (Merge, (DataType, DataType)) {
        match self {
            One::Own(plan) => (plan.merge(), (plan.data_type(), plan.index_type())),
            One::DirectMl(operator) => (operator.merge(), (operator.data_type(), operator.index_type())),
        }
    }
}

/// What the buffers of a call need. Of both, each of the two.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    pub(super) input: Need,
    pub(super) indices: Need,
    /// Of partial answers.
    pub(super) packed_indices: Need,
    pub(super) values: Need,
}

impl Needs {
    fn new(bytes: RequiredBytes, data_type: DataType, index_type: DataType) -> Needs {
        let (element, index) = (data_type.size(), index_type.size());
        let need = |bytes, alignment| Need { bytes, alignment };
        Needs {
            input: need(bytes.input, element),
            indices: need(bytes.output, index),
            packed_indices: need((bytes.values / element).saturating_mul(index), index),
            values: need(bytes.values, element),
        }
    }
}

impl Needs {
    /// Of so many segments: an answer for each. How many elements they take is looked at when they are read.
    pub(super) fn of_segments(self, count: usize) -> Needs {
        let each = |need: Need| Need { bytes: count.saturating_mul(need.alignment), ..need };
        let (indices, values) = (each(self.packed_indices), each(self.values));
        Needs { input: Need { bytes: 0, ..self.input }, indices, packed_indices: indices, values }
    }
}

impl argreduce_operator {
    pub(super) fn new(plan: Plan, of_segments: Option<OfSegments>) -> argreduce_operator {
        let own = |plan: &UntypedPlan| (plan.required_bytes(), plan.data_type(), plan.index_type(), plan.isa());
        let (bytes, data_type, index_type, isa) = match &plan {
            Plan::One(One::Own(plan)) => own(plan),
            Plan::One(One::DirectMl(plan)) => (plan.required_bytes(), plan.data_type(), plan.index_type(), plan.isa()),
            Plan::Both(plan) => own(plan.each()[0]),
        };
        let need = Needs::new(bytes, data_type, index_type);
        argreduce_operator { plan, of_segments, need, isa: CString::new(isa.name()).unwrap_or_default() }
    }
}

impl fmt::Display for argreduce_operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.plan {
            Plan::One(One::Own(plan)) => plan.fmt(f),
            Plan::One(One::DirectMl(operator)) => operator.fmt(f),
            Plan::Both(plan) => plan.fmt(f),
        }
    }
}

/// What functions with a place for one answer say of an operator of both, and what to do instead.
#[cold]
pub(super) fn two_answers(instead: &str) -> Failure {
    let message = format!("op is an argminmax, which has two answers: {instead}");
    Failure::new(ARGREDUCE_UNSUPPORTED_OPERATOR, message)
}
