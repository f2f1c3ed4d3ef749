//! The sample: class scores of an image, as the last layer of a segmentation network gives them. It must not know what
//! is done with them.

use crate::memory;
use anyhow::Result;

/// Classes, height, width.
pub const SIZES: [usize; 3] = [21, 256, 256];

/// The command a user would type to find the class of each pixel.
pub const COMMAND: [&str; 12] = [
    "argreduce",
    "argmax",
    "argreduce-sample/scores.npy",
    "--axes",
    "0",
    "--index-type",
    "auto",
    "--output",
    "argreduce-sample/labels.npy",
    "--picture",
    "argreduce-sample/labels.png",
    "--legend",
];

/// Every class but the background, class 0, is a few soft blobs around a place of its own. The same on every run and
/// machine: no library's random numbers, and only operations that IEEE rounds exactly.
pub fn scores() -> Result<Vec<f32>> {
    let [classes, height, width] = SIZES;
    let mut random = Random(2);
    let mut scores = memory::room(classes * height * width)?;
    scores.resize(height * width, 0.4);
    for _ in 1..classes {
        let place = [random.between(0.05, 0.95), random.between(0.05, 0.95)];
        let blobs = [(); 4].map(|()| Blob::near(place, &mut random));
        for y in 0..height {
            for x in 0..width {
                let at = [x as f32 / width as f32, y as f32 / height as f32];
                scores.push(blobs.iter().map(|blob| blob.score(at)).sum());
            }
        }
    }
    Ok(scores)
}

/// A slanted ellipse without an edge.
struct Blob {
    centre: [f32; 2],
    /// One over the two radii.
    narrowness: [f32; 2],
    slant: f32,
}

impl Blob {
    fn near(place: [f32; 2], random: &mut Random) -> Self {
        Blob {
            centre: place.map(|coordinate| coordinate + random.between(-0.08, 0.08)),
            narrowness: [(); 2].map(|()| 1.0 / random.between(0.03, 0.1)),
            slant: random.between(-0.8, 0.8),
        }
    }

    fn score(&self, [x, y]: [f32; 2]) -> f32 {
        let [dx, dy] = [x - self.centre[0], y - self.centre[1]];
        let [u, v] = [(dx + self.slant * dy) * self.narrowness[0], dy * self.narrowness[1]];
        let distance = u * u + v * v;
        1.0 / (1.0 + distance * distance)
    }
}

/// Knuth's linear congruential generator.
struct Random(u64);

impl Random {
    fn between(&mut self, low: f32, high: f32) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * (self.0 >> 40) as f32 / (1 << 24) as f32
    }
}
