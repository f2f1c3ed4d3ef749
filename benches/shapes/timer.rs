//! Runs contenders in turn, on the same data, and says how long each took. Knows nothing of what they do.
//!
//! A trial is one call of each contender, within some microseconds or milliseconds, and the next trial starts with
//! another one. Two contenders are compared trial by trial, and the median of those ratios counts: a slow phase of the
//! machine meets both sides of a ratio, and a slow moment is an outlier. (Beyond L3 the bandwidth of a shared machine
//! halves for seconds at a time: the ratio of two times that were each the best of a few trials was wrong by up to
//! twice.) Where the ratios still disagree there are more trials. Trials during which the core was
//! [shared](crate::quiet) do not count, unless nearly all are like that.

use crate::quiet::is_quiet;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// How long to go on: the fewest and the most trials, and between those until the time is up; three times as long where
/// the first two contenders differ by more than [`NOISY`], and [`PATIENCE`] times where the core is shared.
#[derive(Clone, Debug)]
pub struct Limits {
    pub trials: RangeInclusive<usize>,
    pub time: Duration,
}

const NOISY: f64 = 0.05;
const PATIENCE: u32 = 10;

/// Seconds of every call: of each contender, as many as there were trials.
#[derive(Clone, Debug)]
pub struct Trials(Vec<Vec<f64>>);

impl Trials {
    /// The time of one call. The lower quartile: noise only ever adds, but the minimum would be the luckiest data,
    /// because the data changes from trial to trial.
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

    fn len(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    fn push(&mut self, times: Vec<f64>) {
        self.0.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
    }

    fn append(&mut self, others: Trials) {
        self.0.iter_mut().zip(others.0).for_each(|(all, others)| all.extend(others));
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
    let mut shared = trials.clone();
    while trials.len() < *limits.trials.end() {
        let (elapsed, is_enough) = (begin.elapsed(), trials.len() >= *limits.trials.start());
        let is_sure = |trials: &Trials| elapsed > limits.time * 3 || trials.spread(0, 1) < NOISY;
        if elapsed > limits.time && is_enough && is_sure(&trials) {
            break;
        }
        if elapsed > limits.time * PATIENCE && shared.len() >= *limits.trials.start() {
            shared.append(trials);
            return shared;
        }
        refresh(state);
        let (trial, mut is_alone, mut times) = (trials.len(), is_quiet(), vec![0.0; contenders.len()]);
        for n in 0..contenders.len() {
            let n = (trial + n) % contenders.len();
            before(state, contenders[n]);
            let start = Instant::now();
            call(state, contenders[n]);
            // Never 0, so that there is a ratio.
            times[n] = start.elapsed().saturating_sub(clock).as_secs_f64().max(1e-10);
            is_alone &= is_quiet();
        }
        (if is_alone { &mut trials } else { &mut shared }).push(times);
    }
    trials
}

/// What measuring nothing measures: about 1 % of reading 256 KiB.
fn clock_price() -> Duration {
    (0..100).map(|_| Instant::now().elapsed()).min().unwrap_or_default()
}
