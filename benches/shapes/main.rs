//! `cargo bench`: is there a slow shape? A table of all kinds of cells, each beside its ceilings and the crate
//! argminmax, in one process.
//!
//! ```text
//! taskset -c 1 cargo bench                      # a few minutes: a part of the grid, then criterion
//! taskset -c 1 cargo bench -- 'f32 rows'        # the cells (and criterion's benchmarks) with that in their names
//! ARGREDUCE_BENCH=full ARGREDUCE_BENCH_CSV=cells.csv taskset -c 1 cargo bench
//! ARGREDUCE_BENCH_OFFSET=16 taskset -c 1 cargo bench    # data that starts 16 bytes after a line, as often in a heap
//! ARGREDUCE_BENCH_PAGES=huge taskset -c 1 cargo bench    # data in huge pages, as NumPy's; a `Vec` has others
//! ARGREDUCE_BENCH_SVG=docs/heatmap.svg taskset -c 1 cargo bench --bench shapes   # only a picture of f32 in L2
//! cargo bench -- --test                         # every cell once: does it run?
//! ```
//!
//! Times mean little on a shared machine; ratios in one process do. So the table is measured by a timer of its own
//! (`timer.rs`), which runs all contenders of a cell in turn, within some microseconds of each other: criterion
//! measures one for seconds, then the next, and the machine is another by then. Trials that another thread of the same
//! core slowed down do not count (`quiet.rs`). Criterion also takes five seconds per benchmark, and there are
//! thousands. It measures the few shapes of `headline.rs`, for its report and its comparison with the last run.
//!
//! The targets (`targets.rs`) are goals to work towards, and no part of this program's exit status: only a wrong answer
//! is.

mod calls;
mod ceiling;
mod cell;
mod check;
mod data;
mod element;
mod evict;
mod grid;
mod headline;
mod heatmap;
mod measure;
mod pattern;
mod peer;
mod quiet;
mod report;
mod settings;
mod subject;
mod targets;
mod timer;

use crate::cell::Cell;
use crate::element::Sample;
use crate::measure::{Stage, measure};
use crate::report::Report;
use crate::settings::Settings;
use anyhow::{Result, ensure};
use argreduce::{DataType, Element, with_element_type};

fn main() -> Result<()> {
    let settings = Settings::new()?;
    if let Some(svg) = &settings.svg {
        let mut report = Report::new(&settings)?;
        measure_all::<f32>(&heatmap::cells(DataType::F32), &settings, &mut report)?;
        return heatmap::draw(svg, DataType::F32, &report.outcomes);
    }
    if !settings.is_list {
        table(&settings)?;
    }
    if !settings.is_once && !subject::IS_VERSUS {
        headline::run();
    }
    Ok(())
}

fn table(settings: &Settings) -> Result<()> {
    let mut report = Report::new(settings)?;
    println!("The clock: {:.2} GHz.\n", quiet::gigahertz());
    for data_type in grid::TYPES {
        let mut cells = grid::cells(data_type, settings.is_full);
        cells.retain(|cell| settings.selects(&cell.to_string()));
        with_element_type!(data_type, T => measure_all::<<T as Element>::Pod>(&cells, settings, &mut report))?;
    }
    let small_calls = grid::TYPES.iter().flat_map(|&data_type| calls::LENGTHS.map(|len| (data_type, len)));
    for (n, (data_type, len)) in
        small_calls.filter(|(data_type, len)| settings.selects(&format!("{data_type} call-{len}"))).enumerate()
    {
        if n == 0 {
            report.calls_heading();
        }
        let call = with_element_type!(data_type, T => calls::small_call::<<T as Element>::Pod>(len, settings))?;
        report.small_call(data_type, len, call)?;
    }
    for (sizes, axis) in [(&[16][..], 0), (&[1024, 1000], 1), (&[8, 21, 512, 512], 1)] {
        if settings.selects("f32 plan-making") {
            report.plan_making(sizes, axis, calls::plan_making(sizes, axis, settings)?)?;
        }
    }
    if !settings.is_once {
        report.summary();
    }
    ensure!(report.mistakes == 0, "{} wrong answers", report.mistakes);
    Ok(())
}

/// All cells of a type: they share their memory, which is large.
fn measure_all<T: Sample>(cells: &[Cell], settings: &Settings, report: &mut Report) -> Result<()> {
    if cells.is_empty() {
        return Ok(());
    }
    let mut stage = Stage::<T>::new();
    for cell in cells {
        if let Some(geometry) = cell.geometry(settings.is_smoke) {
            if settings.is_once {
                measure::once(cell, &geometry, &mut stage)?;
                continue;
            }
            let is_large = geometry.layout.required_len() * size_of::<T>() > measure::CACHED_BYTES;
            report.cell(measure(cell, geometry, &settings.limits(is_large), &mut stage)?)?;
        }
    }
    Ok(())
}
