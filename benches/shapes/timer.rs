//! Runs contenders in turn, on the same data, and says how long each took. Knows nothing of what they do.
//!
//! A trial is one call of each contender, within some microseconds or milliseconds, and the next trial starts with another one. Two contenders
//! are compared trial by trial, and the median of those ratios counts: a slow phase of the machine meets both sides of a ratio, and a slow
//! moment is an outlier. (Beyond L3 the bandwidth of a shared machine halves for seconds at a time: the ratio of two times that were each the
//! best of a few trials was wrong by up to twice.) Where the ratios still disagree there are more trials.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// How long to go on: at least and at most so many trials, and between those until the time is up; three times as long where the first two
/// contenders differ by more than [`NOISY`].
#[derive(Clone, Debug)]
pub struct Limits {
    pub trials: RangeInclusive<usize>,
    pub time: Duration,
}

const NOISY: f64 = 0.05;

/// Seconds of every call: of each contender, as many as there were trials.
#[derive(Clone, Debug)]
pub struct Trials(Vec<Vec<f64>>);

impl Trials {
    /// The time of one call. The lower quartile: noise only ever adds, but the minimum would be the luckiest data, because the data changes
    /// from trial to trial.
    pub fn seconds(&self, contender: usize) -> f64 {
        quantile(&mut self.0[contender].clone(), 0.25)
    }

    /// How many times as long as `unit` a contender takes.
    pub fn ratio(&self, contender: usize, unit: usize) -> f64 {
        quantile(&mut self.ratios(contender, unit), 0.5)
    }

    /// How far the middle half of those ratios is from the median: 0.1 for 10 %.
    pub fn spread(&self, contender: usize, unit: usize) -> f64 {
        let mut ratios = self.ratios(contender, unit);
        (quantile(&mut ratios, 0.75) - quantile(&mut ratios, 0.25)) / 2.0 / quantile(&mut ratios, 0.5)
    }

    fn ratios(&self, contender: usize, unit: usize) -> Vec<f64> {
        self.0[contender].iter().zip(&self.0[unit]).map(|(time, unit)| time / unit).collect()
    }
}

fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part).round() as usize]
}

/// Times `call` of each of the `contenders`; `refresh` comes before each trial, and `before` each call, both untimed.
pub fn in_turn<S, C: Copy>(
    state: &mut S,
    contenders: &[C],
    refresh: impl Fn(&mut S),
    before: impl Fn(&mut S, C),
    call: impl Fn(&mut S, C),
    limits: &Limits,
) -> Trials {
    let clock = clock_price();
    let begin = Instant::now();
    let mut trials = Trials(vec![Vec::new(); contenders.len()]);
    for trial in 0..*limits.trials.end() {
        let is_over = |elapsed| elapsed > limits.time * 3 || elapsed > limits.time && trials.spread(0, 1) < NOISY;
        if trial >= *limits.trials.start() && is_over(begin.elapsed()) {
            break;
        }
        refresh(state);
        for n in 0..contenders.len() {
            let n = (trial + n) % contenders.len();
            before(state, contenders[n]);
            let start = Instant::now();
            call(state, contenders[n]);
            // Never 0, so that there is a ratio.
            trials.0[n].push(start.elapsed().saturating_sub(clock).as_secs_f64().max(1e-10));
        }
    }
    trials
}

/// What measuring nothing measures: about 1 % of reading 256 KiB.
fn clock_price() -> Duration {
    (0..100).map(|_| Instant::now().elapsed()).min().unwrap_or_default()
}
