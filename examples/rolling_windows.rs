//! Rolling windows: the largest of the last hours, for each hour, and when it was. The windows overlap, and nothing is
//! copied: they are the series itself, seen as a matrix whose rows begin one element apart. A week takes no longer than
//! a day: what windows have in common is looked at once.
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
const WEEK: usize = 24 * 7;

fn main() -> Result<(), argreduce::Error> {
    let series = temperatures();
    let (places, highest) = highest_in_windows(&series, WINDOW)?;

    println!("the warmest of the {WINDOW} hours before midnight");
    for midnight in (0..places.len()).step_by(24 * 3) {
        let hour = midnight + places[midnight] as usize;
        println!("day {:>2}: {:>5.1} degrees at {:>2} o'clock", midnight / 24 + 1, highest[midnight], hour % 24);
    }
    check(&series, &places, &highest, WINDOW);

    let (places, highest) = highest_in_windows(&series, WEEK)?;
    println!("\nand of a week");
    for midnight in (0..places.len()).step_by(24 * 7) {
        let hour = midnight + places[midnight] as usize;
        println!(
            "days {:>2} to {:>2}: {:>5.1} degrees on day {}",
            midnight / 24,
            midnight / 24 + 6,
            highest[midnight],
            hour / 24
        );
    }
    check(&series, &places, &highest, WEEK);
    Ok(())
}

/// Of each so many hours that follow each other, the place of the highest, from the first of them, and that.
fn highest_in_windows(series: &[f32], width: usize) -> Result<(Vec<u32>, Vec<f32>), argreduce::Error> {
    let layout = Layout::contiguous(&[series.len()])?.windows(0, width, 1)?;
    // Of equal ones, the last: it stays in the windows for longest.
    let request = ArgReduce::argmax(&layout).axes(&[1]).direction(AxisDirection::Decreasing);
    request.plan::<f32, u32>()?.collect(series)
}

/// Warm days and cold nights, and some weather; to tenths, so that there are ties.
fn temperatures() -> Vec<f32> {
    let at = |hour: f32| 12.0 - 6.0 * (hour / 24.0 * std::f32::consts::TAU).cos() + 4.0 * (hour / 37.0).sin();
    (0..HOURS).map(|hour| (at(hour as f32) * 10.0).round() / 10.0).collect()
}

/// The same window by window.
fn check(series: &[f32], places: &[u32], highest: &[f32], width: usize) {
    for (start, window) in series.windows(width).enumerate() {
        let place = (1..width).fold(0, |best, place| if window[place] >= window[best] { place } else { best });
        assert_eq!((places[start] as usize, highest[start]), (place, window[place]), "the window from {start} on");
    }
}
