//! The goals: which part of each ceiling a cell is meant to reach, as functions of the cell. The only place with these
//! numbers.

use crate::cell::{Class, Options};
use crate::measure::{Outcome, Who};
use crate::pattern::Pattern;
use argreduce::DataType;

/// A demand, and how a cell stands to it.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    pub rule: Rule,
    /// What it has to be.
    pub target: f64,
    pub found: f64,
    /// 1 and more is met.
    pub score: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The table: speed over that of `read`.
    Table,
    /// Not slower than the crate argminmax.
    Peer,
    /// What patterns, NaNs, values and the rule for NaN may cost: speed over that of the plain cell.
    Cost,
}

impl Rule {
    pub const ALL: [Rule; 3] = [Rule::Table, Rule::Peer, Rule::Cost];

    pub fn name(self) -> &'static str {
        match self {
            Rule::Table => "of read",
            Rule::Peer => "vs argminmax",
            Rule::Cost => "vs plain",
        }
    }
}

/// All demands on a cell that was measured.
pub fn demands(outcome: &Outcome) -> Vec<Demand> {
    let mut demands = Vec::new();
    let mut at_least = |rule, who, target: Option<f64>| {
        if let (Some(target), Some(found)) = (target, outcome.ratio(who)) {
            demands.push(Demand { rule, target, found, score: found / target });
        }
    };
    at_least(Rule::Table, Who::Read, of_read(outcome));
    at_least(Rule::Peer, Who::Peer, Some(if outcome.cell.data_type.size() == 1 { 1.5 } else { 0.95 }));
    at_least(Rule::Cost, Who::Plain, of_plain(outcome));
    if let (Some(most), Some(found)) = (most_of_plain(outcome), outcome.ratio(Who::Plain)) {
        demands.push(Demand { rule: Rule::Cost, target: most, found, score: most / found });
    }
    demands
}

/// Where the input is.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    L2,
    Between,
    BeyondL3,
}

fn level(outcome: &Outcome) -> Level {
    match outcome.input_bytes >> 10 {
        128..=320 => Level::L2,
        0x8000.. => Level::BeyondL3,
        _ => Level::Between,
    }
}

/// The table. It speaks of random data; what patterns cost has rules of its own.
fn of_read(outcome: &Outcome) -> Option<f64> {
    let cell = &outcome.cell;
    if cell.pattern != Pattern::Random || outcome.price().is_some() && cell.options != Options::Decreasing {
        return None;
    }
    let size = cell.data_type.size();
    let is_byte = size == 1;
    let level = level(outcome);
    let [in_l2, beyond_l3] = match outcome.geometry.class {
        // Growth: within 15 % of read from 4 KiB up. It stays out of L1, where `read` alone is twice as fast as any
        // check for NaN.
        Class::Row if level == Level::Between => return (outcome.input_bytes > 32 << 10).then_some(0.85),
        Class::Row => [long_row(cell.data_type), 1.20],
        Class::Rows { run } if run * size >= 4096 => [long_row(cell.data_type), 0.95],
        Class::Rows { run: 64.. } => [0.45, 0.85],
        Class::Rows { run: 8.. } => [if is_byte { 0.15 } else { 0.30 }, if is_byte { 0.50 } else { 0.70 }],
        Class::Rows { run } => [if is_byte && run >= 5 { 0.12 } else { 0.20 }, if is_byte { 0.50 } else { 0.60 }],
        Class::Columns { r: 64.., inner: 4096.. } => [0.60, 0.95],
        Class::Columns { inner, .. } if inner * size >= 64 => [0.60, 0.80],
        Class::Columns { .. } => [0.25, 0.55],
        Class::View => return (level == Level::BeyondL3).then_some(0.45),
    };
    match level {
        Level::L2 => Some(in_l2),
        Level::Between => None,
        Level::BeyondL3 => Some(beyond_l3),
    }
}

fn long_row(data_type: DataType) -> f64 {
    match data_type {
        DataType::I64 | DataType::U64 | DataType::F16 | DataType::Bf16 => 0.75,
        _ => 0.90,
    }
}

/// Patterns run within 20 % of random data, NaNs cost at most twice, values at most 20 % in rows of 64 elements and
/// more, and other outputs, where they are many, not much more than their bytes.
fn of_plain(outcome: &Outcome) -> Option<f64> {
    let cell = &outcome.cell;
    let has_long_rows = matches!(outcome.geometry.class, Class::Row | Class::Rows { run: 64.. });
    match (cell.pattern, cell.options) {
        (Pattern::Random, Options::Values) if has_long_rows => Some(1.0 / 1.20),
        (Pattern::Random, options) if outcome.price().is_some() && outcome.geometry.outputs >= MANY_OUTPUTS => {
            let elements = outcome.input_bytes / cell.data_type.size() / outcome.geometry.outputs;
            Some(1.0 / (most_of_bytes(options, elements) * outcome.bytes_of_plain()))
        }
        (Pattern::Random, _) => None,
        (pattern, _) if pattern.has_nan() => Some(0.50),
        _ => Some(0.80),
    }
}

/// The fewest outputs for which there is a goal for what is written.
const MANY_OUTPUTS: usize = 4096;

/// How many times as long as the bytes say a call may take, by the number of elements that each output is chosen from.
fn most_of_bytes(options: Options, elements: usize) -> f64 {
    let most = match options.has_values() {
        true if elements < 3 => 1.8,
        true => 1.4,
        false => 1.2,
    };
    // Both together, ties to the last, and outputs that are not packed.
    if matches!(options, Options::I64 | Options::Values) { most } else { 1.25 * most }
}

/// `Ignore` may not be faster than the default by more than 15 %; beyond L3 by nothing, but the noise.
fn most_of_plain(outcome: &Outcome) -> Option<f64> {
    let cell = &outcome.cell;
    let is_ignore = cell.pattern == Pattern::Random && cell.options == Options::Ignore;
    is_ignore.then_some(if level(outcome) == Level::BeyondL3 { 1.05 } else { 1.15 })
}

/// Small calls over a direct call of the crate argminmax: [`argreduce::Plan::run`], and `argreduce::SliceExt::argmax`.
pub const RUN_OF_PEER: f64 = 1.0;
pub const SLICE_OF_PEER: f64 = 0.8;

/// Making a plan, in runs of 16 f32.
pub const PLAN_IN_RUNS: f64 = 25.0;
