//! What the command line and the environment ask for. Criterion reads the same command line for its own part.

use crate::timer::Limits;
use anyhow::{Context, Result};
use regex::Regex;
use std::path::PathBuf;
use std::time::Duration;

pub struct Settings {
    pub is_full: bool,
    /// Every cell once, the large ones made small: it only has to run.
    pub is_smoke: bool,
    /// Nothing is run.
    pub is_list: bool,
    /// Each cell is answered once, and nothing else is done: for a program that counts instructions.
    pub is_once: bool,
    filter: Option<Regex>,
    /// How many times as long as otherwise each cell is measured.
    patience: u32,
    pub csv: Option<PathBuf>,
    pub svg: Option<PathBuf>,
}

impl Settings {
    /// `ARGREDUCE_BENCH=full` for the whole grid, `ARGREDUCE_BENCH_CSV=path` for a file with a line per cell,
    /// `ARGREDUCE_BENCH_SVG=path` for a picture and nothing else, `ARGREDUCE_BENCH_ONCE=1` for [`Settings::is_once`],
    /// `ARGREDUCE_BENCH_TIME=4` to measure each cell four times as long; `--test` (or no `--bench`, which is `cargo
    /// test --benches`), `--list`, and the first word that is no option is the filter, a regular expression as in
    /// criterion.
    pub fn new() -> Result<Settings> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let has = |name: &str| arguments.iter().any(|argument| argument == name);
        let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
        let times = std::env::var("ARGREDUCE_BENCH_TIME").ok();
        let patience: u32 = times.map_or(Ok(1), |times| times.parse()).context("ARGREDUCE_BENCH_TIME")?;
        Ok(Settings {
            is_full: std::env::var_os("ARGREDUCE_BENCH").is_some_and(|mode| mode == "full"),
            is_smoke: has("--test") || !has("--bench"),
            is_list: has("--list"),
            is_once: std::env::var_os("ARGREDUCE_BENCH_ONCE").is_some(),
            filter: filter.map(|filter| Regex::new(filter)).transpose()?,
            patience: patience.max(1),
            csv: std::env::var_os("ARGREDUCE_BENCH_CSV").map(PathBuf::from),
            svg: std::env::var_os("ARGREDUCE_BENCH_SVG").map(PathBuf::from),
        })
    }

    pub fn selects(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.is_match(name))
    }

    /// For cells in the caches, and beyond them.
    pub fn limits(&self, is_large: bool) -> Limits {
        let (trials, milliseconds) = match (self.is_smoke, self.is_full, is_large) {
            (true, _, _) => (1..=1, 0),
            (_, false, false) => (25..=300, 25),
            (_, true, false) => (41..=400, 40),
            (_, false, true) => (5..=15, 150),
            (_, true, true) => (5..=25, 250),
        };
        let most = if self.is_smoke { 1 } else { trials.end() * self.patience as usize };
        Limits { trials: *trials.start()..=most, time: Duration::from_millis(milliseconds) * self.patience }
    }
}
