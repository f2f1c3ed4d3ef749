//! A label map: which class scores best at each pixel of an image. Scores come as a network gives them, classes first:
//! [classes, height, width]. The answer is [height, width], in bytes, because there are fewer than 256 classes.
//!
//! ```text
//! cargo run --release --example label_map
//! ```

use argreduce::{ArgReduce, Layout};

const CLASSES: usize = 6;
const HEIGHT: usize = 24;
const WIDTH: usize = 72;

/// What each class looks like when it is printed.
const LETTERS: [char; CLASSES] = ['.', 'o', '#', '+', '~', '@'];

fn main() -> Result<(), argreduce::Error> {
    let scores = scores();
    // A plan is made once, and run as often as there are images of this size.
    let layout = Layout::contiguous(&[CLASSES, HEIGHT, WIDTH])?;
    let plan = ArgReduce::argmax(&layout).axes(&[0]).plan::<f32, u8>()?;
    let (mut labels, mut best) = (vec![0; HEIGHT * WIDTH], vec![0.0; HEIGHT * WIDTH]);
    plan.run(&scores, (&mut labels, &mut best))?;

    for row in labels.chunks(WIDTH) {
        println!("{}", row.iter().map(|&label| LETTERS[usize::from(label)]).collect::<String>());
    }
    for (class, letter) in LETTERS.into_iter().enumerate() {
        let pixels = labels.iter().filter(|&&label| usize::from(label) == class).count();
        println!("{letter} class {class}: {pixels} pixels");
    }
    check(&scores, &labels, &best);
    Ok(())
}

/// Class 0 is the background, with the same score everywhere. Each other class is a soft spot.
fn scores() -> Vec<f32> {
    let mut scores = vec![0.3; HEIGHT * WIDTH];
    for class in 1..CLASSES {
        let (x0, y0) = (13.0 * class as f32 - 3.0, 12.0 + 6.0 * (class as f32 * 2.1).sin());
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let (dx, dy) = ((x as f32 - x0) / 9.0, (y as f32 - y0) / 5.0);
                scores.push(1.0 / (1.0 + dx * dx + dy * dy));
            }
        }
    }
    scores
}

/// The same by a plain loop: the first of equal scores wins.
fn check(scores: &[f32], labels: &[u8], best: &[f32]) {
    for pixel in 0..HEIGHT * WIDTH {
        let score = |class: usize| scores[class * HEIGHT * WIDTH + pixel];
        let label = (1..CLASSES).fold(0, |label, class| if score(class) > score(label) { class } else { label });
        assert_eq!((usize::from(labels[pixel]), best[pixel]), (label, score(label)), "pixel {pixel}");
    }
}
