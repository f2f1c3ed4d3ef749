//! How far the work has come, shown if it takes long and somebody may be watching. It must not know what the work is.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Work that is done by then has no bar.
const DELAY: Duration = Duration::from_secs(1);

const STYLE: &str = "{wide_bar} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";

/// Goes away when it is dropped, so that the line is free for messages.
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
    is_late: bool,
}

impl Progress {
    pub fn new(bytes: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(STYLE) {
            bar.set_style(style);
        }
        Progress { bar, start: Instant::now(), is_late: false }
    }

    pub fn add(&mut self, bytes: u64) {
        if !self.is_late && self.start.elapsed() >= DELAY {
            self.is_late = true;
            // Stays hidden where standard error is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
