//! Rolling windows: the largest of the last hours, for each hour, and when it was. The windows overlap, and nothing is
//! copied: they are the series itself, seen as a matrix whose rows begin one element apart.
//!
//! ```text
//! series    3 1 4 1 5 9           sizes [4, 3], strides [1, 1]
//! window 0  3 1 4                 the largest is 4, at 2 in the window, at 0 + 2 in the series
//! window 1    1 4 1
//! window 2      4 1 5
//! window 3        1 5 9
//!
//! cargo run --release --example rolling_windows
//! ```

use argreduce::{ArgReduce, AxisDirection, Layout};

const HOURS: usize = 24 * 30;
const WINDOW: usize = 24;

fn main() -> Result<(), argreduce::Error> {
    let series = temperatures();
    let layout = Layout::contiguous(&[HOURS])?.windows(0, WINDOW, 1)?;
    // Of equal ones, the last: it stays in the windows for longest.
    let request = ArgReduce::argmax(&layout).axes(&[1]).direction(AxisDirection::Decreasing);
    let plan = request.plan::<f32, u32>()?;
    let (places, highest): (Vec<u32>, Vec<f32>) = plan.collect(&series)?;

    println!("the warmest of the {WINDOW} hours before midnight");
    for midnight in (0..places.len()).step_by(24 * 3) {
        let hour = midnight + places[midnight] as usize;
        println!("day {:>2}: {:>5.1} degrees at {:>2} o'clock", midnight / 24 + 1, highest[midnight], hour % 24);
    }
    check(&series, &places, &highest);
    Ok(())
}

/// Warm days and cold nights, and some weather; to tenths, so that there are ties.
fn temperatures() -> Vec<f32> {
    let at = |hour: f32| 12.0 - 6.0 * (hour / 24.0 * std::f32::consts::TAU).cos() + 4.0 * (hour / 37.0).sin();
    (0..HOURS).map(|hour| (at(hour as f32) * 10.0).round() / 10.0).collect()
}

/// The same window by window.
fn check(series: &[f32], places: &[u32], highest: &[f32]) {
    for (start, window) in series.windows(WINDOW).enumerate() {
        let place = (1..WINDOW).fold(0, |best, place| if window[place] >= window[best] { place } else { best });
        assert_eq!((places[start] as usize, highest[start]), (place, window[place]), "the window from {start} on");
    }
}
