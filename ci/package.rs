//! For `ci/package`: a program that depends on argreduce, in a debug build. It prints how fast that is beside plain
//! loops, which is nobody's failure.

use argreduce::{ArgReduce, Layout, SliceExt};
use std::hint::black_box;
use std::time::Instant;

/// Milliseconds of the fastest of three calls, and what it answered.
fn timed<T>(call: impl Fn() -> T) -> (f64, T) {
    let run = || {
        let start = Instant::now();
        let answer = black_box(call());
        (start.elapsed().as_secs_f64() * 1e3, answer)
    };
    [run(), run(), run()].into_iter().min_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap()
}

fn report(what: &str, plain: f64, ours: f64) {
    println!("{what}: plain loops {plain:.1} ms, argreduce {ours:.1} ms");
}

fn main() -> Result<(), argreduce::Error> {
    const CLASSES: usize = 21;
    const PIXELS: usize = 512 * 512;
    let scores: Vec<f32> = (0..CLASSES * PIXELS).map(|n| (n * 7919 % 1_000_003) as f32).collect();

    let (plain, expected) =
        timed(|| (1..scores.len()).fold(0, |best, n| if scores[n] > scores[best] { n } else { best }));
    let (ours, found) = timed(|| scores.argmax());
    assert_eq!(found, Some(expected));
    report("one row", plain, ours);

    let layout = Layout::contiguous(&[CLASSES, PIXELS])?;
    let best = |pixel: usize| {
        let better =
            |best, class| if scores[class * PIXELS + pixel] > scores[best * PIXELS + pixel] { class } else { best };
        (1..CLASSES).fold(0, better)
    };
    let (plain, expected) = timed(|| (0..PIXELS).map(best).collect::<Vec<_>>());
    let (ours, found) = timed(|| {
        let mut labels = vec![0_i64; PIXELS];
        let plan = ArgReduce::argmax(&layout).axes(&[0]).plan::<f32, i64>();
        plan.and_then(|plan| plan.run(&scores, &mut labels)).expect("slices of their lengths");
        labels
    });
    assert!(found.iter().zip(&expected).all(|(&found, &expected)| found == expected as i64));
    report("columns, 64-bit indices", plain, ours);
    Ok(())
}
