//! What the command line and the environment ask for. Criterion reads the same command line for its own part.

use crate::timer::Limits;
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
    filter: Option<String>,
    pub csv: Option<PathBuf>,
    pub svg: Option<PathBuf>,
}

impl Settings {
    /// `ARGREDUCE_BENCH=full` for the whole grid, `ARGREDUCE_BENCH_CSV=path` for a file with a line per cell,
    /// `ARGREDUCE_BENCH_SVG=path` for a picture and nothing else, `ARGREDUCE_BENCH_ONCE=1` for [`Settings::is_once`];
    /// `--test` (or no `--bench`, which is `cargo test --benches`), `--list`, and the first word that is no option is
    /// the filter, as in criterion.
    pub fn new() -> Settings {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let has = |name: &str| arguments.iter().any(|argument| argument == name);
        Settings {
            is_full: std::env::var_os("ARGREDUCE_BENCH").is_some_and(|mode| mode == "full"),
            is_smoke: has("--test") || !has("--bench"),
            is_list: has("--list"),
            is_once: std::env::var_os("ARGREDUCE_BENCH_ONCE").is_some(),
            filter: arguments.iter().find(|argument| !argument.starts_with('-')).cloned(),
            csv: std::env::var_os("ARGREDUCE_BENCH_CSV").map(PathBuf::from),
            svg: std::env::var_os("ARGREDUCE_BENCH_SVG").map(PathBuf::from),
        }
    }

    /// Whether a name has all parts of the filter in their order. The parts are what is between `.*`: as much of a
    /// regular expression as this understands.
    pub fn selects(&self, name: &str) -> bool {
        let Some(filter) = &self.filter else { return true };
        let mut rest = name;
        filter.split(".*").all(|part| match rest.split_once(part) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
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
        Limits { trials, time: Duration::from_millis(milliseconds) }
    }
}
