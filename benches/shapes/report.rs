//! Says what was measured: a line of the table per cell, the same as a line of a file, and at the end what stands out.
//! Knows the demands by their scores only.

use crate::calls::Beside;
use crate::cell::joined;
use crate::measure::{Outcome, Who};
use crate::settings::Settings;
use crate::subject::IS_VERSUS;
use crate::targets::{Demand, PLAN_IN_RUNS, RUN_OF_PEER, Rule, SLICE_OF_PEER, demands};
use anyhow::{Context, Result};
use argreduce::DataType;
use std::fs::File;
use std::io::Write;

const WORST: usize = 25;

/// A column of the table. Those of words go to the left, those of numbers to the right.
struct Column {
    name: &'static str,
    width: usize,
    is_number: bool,
    meaning: &'static str,
}

const fn word(name: &'static str, width: usize, meaning: &'static str) -> Column {
    Column { name, width, is_number: false, meaning }
}

const fn digits(name: &'static str, width: usize, meaning: &'static str) -> Column {
    Column { name, width, is_number: true, meaning }
}

const COLUMNS: [Column; 19] = [
    word("type", 4, "the type of the elements"),
    word("case", 22, "the kind of shape: rows of N elements, columns of N rows by M elements, ..."),
    digits("sizes", 18, "the sizes of the tensor"),
    word("axes", 7, "the axes that are reduced"),
    word("data", 10, "what the elements are: random, ascending, all equal, with NaN, ..."),
    word("options", 19, "options of the call; plain: argmax, ties to the first, NaN wins, indices alone, as u32"),
    digits("level", 6, "where the input is: the L2 cache, memory (DRAM), or a number of bytes"),
    digits("GB/s", 6, "the bytes of input and output, over the time"),
    digits("read", 6, "our speed over that of reading these bytes, with nothing computed"),
    digits("max", 6, "our speed over that of the largest element alone, without its index"),
    digits("io", 6, "our speed over that of reading the input and writing the output, with nothing computed"),
    digits("argmm", 7, "our speed over that of the crate argminmax, where it has the case"),
    digits("plain", 6, "our speed over that of the plain cell: the same shape, random data, no options"),
    digits("time", 6, "of other outputs than indices as u32: the time over that of the plain cell"),
    digits("bytes", 6, "that over what the bytes say: (input + outputs) / (input + 4 * number of outputs)"),
    digits("goal", 5, "what `read` should be"),
    digits("met", 5, "the worst of all goals of the cell, as a part of the goal: from 1 on all are met"),
    digits("±%", 5, "how far the middle half of the trials is from the median of `read`"),
    word("strategy", 0, "what the plan has chosen: the strategy, and the instruction set"),
];

/// A line of the table.
fn line(values: [String; COLUMNS.len()]) -> String {
    let cells = COLUMNS.iter().zip(values).map(|(column, value)| match column {
        Column { width, is_number: true, .. } => format!("{value:>width$}"),
        Column { width, .. } => format!("{value:width$}"),
    });
    cells.collect::<Vec<_>>().join(" ")
}

pub struct Report {
    csv: Option<File>,
    pub outcomes: Vec<Outcome>,
    /// Of the small calls, which have no outcome.
    small: Vec<(String, f64)>,
    pub mistakes: usize,
}

impl Report {
    pub fn new(settings: &Settings) -> Result<Report> {
        let create = |path| File::create(path).with_context(|| format!("creating {path:?}"));
        let mut csv = settings.csv.as_ref().map(create).transpose()?;
        if let Some(csv) = &mut csv {
            writeln!(
                csv,
                "type,case,sizes,axes,data,options,level,input_bytes,output_bytes,ours_ns,read_ns,max_ns,io_ns,\
                 argminmax_ns,plain_ns,old_ns,gb_per_s,of_read,of_max,of_io,vs_argminmax,vs_plain,vs_old,spread,\
                 target,score,strategy,mistake"
            )?;
        }
        Ok(Report { csv, outcomes: Vec::new(), small: Vec::new(), mistakes: 0 })
    }

    /// What each column is, and the first line of the table: before the first cell, because there may be none.
    fn heading(&self) {
        println!("What each column is; of two speeds, more is better:\n");
        for column in &COLUMNS {
            println!("  {:8} {}", column.name, column.meaning);
        }
        println!("\n{}", line(COLUMNS.each_ref().map(|column| column.name.to_string())));
    }

    /// A cell, as soon as it is measured.
    pub fn cell(&mut self, outcome: Outcome) -> Result<()> {
        let cell = &outcome.cell;
        let demands = demands(&outcome);
        let goal = demands.iter().find(|demand| demand.rule == Rule::Table).map(|demand| demand.target);
        let score = demands.iter().map(|demand| demand.score).reduce(f64::min);
        let (sizes, axes) = (joined(outcome.geometry.layout.sizes(), "x"), joined(&outcome.geometry.axes, ";"));
        let ratio = |who, digits| number(outcome.ratio(who), digits);
        let price = outcome.price();
        if self.outcomes.is_empty() {
            self.heading();
        }
        let columns = [
            cell.data_type.to_string(),
            cell.shape.to_string(),
            sizes.clone(),
            axes.clone(),
            cell.pattern.name().to_string(),
            cell.options.to_string(),
            outcome.size(),
            format!("{:.1}", outcome.gb_per_s()),
            ratio(Who::Read, 2),
            ratio(Who::Max, 2),
            ratio(Who::Io, 2),
            ratio(Who::Peer, 2),
            ratio(Who::Plain, 2),
            number(price.map(|[time, _]| time), 2),
            number(price.map(|[_, of_bytes]| of_bytes), 2),
            number(goal, 2),
            number(score, 2),
            format!("{:.0}", outcome.spread * 100.0),
            outcome.strategy.clone(),
        ];
        println!("{}", line(columns));
        if let Some(mistake) = &outcome.mistake {
            println!("WRONG ANSWER: {cell}: {mistake}");
            self.mistakes += 1;
        }
        if let Some(csv) = &mut self.csv {
            let ns: Vec<String> =
                Who::ALL.iter().map(|&who| number(outcome.seconds(who).map(|seconds| seconds * 1e9), 1)).collect();
            let ratios = [Who::Read, Who::Max, Who::Io, Who::Peer, Who::Plain, Who::Old].map(|who| ratio(who, 4));
            writeln!(
                csv,
                "{},{},{sizes},{axes},{},{},{},{},{},{},{:.3},{},{:.3},{},{},{},{}",
                cell.data_type,
                cell.shape,
                cell.pattern.name(),
                cell.options,
                outcome.size(),
                outcome.input_bytes,
                outcome.output_bytes,
                ns.join(","),
                outcome.gb_per_s(),
                ratios.join(","),
                outcome.spread,
                number(goal, 3),
                number(score, 3),
                outcome.strategy.replace(',', ";"),
                outcome.mistake.as_deref().unwrap_or_default().replace(',', ";"),
            )?;
        }
        self.outcomes.push(outcome);
        Ok(())
    }

    pub fn calls_heading(&self) {
        println!(
            "\nNanoseconds per call on one row, and as a part of a direct call of the crate argminmax: \
             less is better.\n"
        );
        println!(
            "{:4} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}",
            "type", "elements", "run", "argmax()", "argminmax", "run", "argmax()"
        );
    }

    pub fn small_call(&mut self, data_type: DataType, len: usize, [run, slice]: [Beside; 2]) -> Result<()> {
        println!(
            "{data_type:4} {len:>8} {:>8.1} {:>9.1} {:>9.1} {:>9.2} {:>9.2}",
            run.nanoseconds[0], slice.nanoseconds[0], run.nanoseconds[1], run.ratio, slice.ratio
        );
        for (case, title, beside, goal) in
            [("run", "run", run, RUN_OF_PEER), ("slice", "argmax()", slice, SLICE_OF_PEER)]
        {
            self.small.push((format!("{data_type} call-{len} {title}"), goal / beside.ratio));
            let other = format!(",,,{:.2},", beside.nanoseconds[1]);
            self.csv_line(format_args!("{data_type},call-{case},{len},0"), beside, &other, goal)?;
        }
        Ok(())
    }

    pub fn plan_making(&mut self, sizes: &[usize], axis: isize, beside: Beside) -> Result<()> {
        let Beside { nanoseconds: [plan, run], ratio } = beside;
        println!(
            "making a plan for {sizes:?} over [{axis}]: {plan:.0} ns, {ratio:.1} runs of 16 f32 of {run:.1} ns each"
        );
        self.small.push((format!("plan of {sizes:?} over [{axis}]"), PLAN_IN_RUNS / ratio));
        let name = format_args!("f32,plan-making,{},{axis}", joined(sizes, "x"));
        self.csv_line(name, beside, &format!(",,,,{run:.2}"), PLAN_IN_RUNS)
    }

    /// Of what is a matter of nanoseconds. In place of the peer or of the plain cell stands what it is compared with,
    /// unless that is the old library.
    fn csv_line(&mut self, name: std::fmt::Arguments, beside: Beside, other: &str, goal: f64) -> Result<()> {
        let Some(csv) = &mut self.csv else { return Ok(()) };
        let Beside { nanoseconds: [ours, old], ratio } = beside;
        let (speed, score) = (1.0 / ratio, goal / ratio);
        if IS_VERSUS {
            writeln!(csv, "{name},random,plain,L1,,,{ours:.2},,,,,,{old:.2},,,,,,,{speed:.4},,,,,")?;
        } else {
            writeln!(csv, "{name},random,plain,L1,,,{ours:.2},{other},,,,,,{speed:.4},,,,,{score:.3},,")?;
        }
        Ok(())
    }

    /// What stands out, and how many cells do as they should.
    pub fn summary(&self) {
        if self.outcomes.is_empty() && self.small.is_empty() {
            println!("No cell was measured: none has the words of the filter in its name.");
            return;
        }
        for rule in Rule::ALL {
            let mut found: Vec<(&Outcome, Demand)> = Vec::new();
            for outcome in &self.outcomes {
                found.extend(
                    demands(outcome).into_iter().filter(|demand| demand.rule == rule).map(|demand| (outcome, demand)),
                );
            }
            if found.is_empty() {
                continue;
            }
            found.sort_by(|(_, a), (_, b)| a.score.total_cmp(&b.score));
            let met = found.iter().filter(|(_, demand)| demand.score >= 1.0).count();
            let worst = worst(met < found.len());
            println!("\n{}: {met} of {} cells meet their target.{worst}", rule.name(), found.len());
            for (outcome, demand) in found.iter().take_while(|(_, demand)| demand.score < 1.0).take(WORST) {
                println!(
                    "  {:5.2} of its target: {:52} {:.2}, target {:.2}, {:.1} GB/s, ±{:.0}%, {}",
                    demand.score,
                    outcome.cell.to_string(),
                    demand.found,
                    demand.target,
                    outcome.gb_per_s(),
                    outcome.spread * 100.0,
                    outcome.strategy
                );
            }
        }
        let mut small: Vec<_> = self.small.iter().collect();
        small.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        if !small.is_empty() {
            let met = small.iter().filter(|(_, score)| *score >= 1.0).count();
            println!("\nsmall calls: {met} of {} meet their target.{}", small.len(), worst(met < small.len()));
        }
        for (name, score) in small.iter().take_while(|(_, score)| *score < 1.0).take(WORST) {
            println!("  {score:5.2} of its target: {name}");
        }
        println!("\nwrong answers: {}", self.mistakes);
    }
}

/// What comes before the worst, if there are any.
fn worst(are_some: bool) -> &'static str {
    if are_some { " The worst:" } else { "" }
}

/// Nothing for what was not measured.
fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(String::new(), |value| format!("{value:.digits$}"))
}
