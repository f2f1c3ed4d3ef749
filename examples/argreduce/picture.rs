//! A label map as a PNG picture, one colour per label. It must not know where labels come from.

use crate::memory;
use anyhow::{Result, bail, ensure};
use png::{BitDepth, ColorType, Encoder};
use std::io::{Read, Write};

/// Width and height of the picture of a result with these sizes.
pub fn pixels(sizes: &[usize]) -> Result<[u32; 2]> {
    // A batch of one image is a picture too; one row of pixels stays one.
    let sizes: Vec<usize> = match sizes.len() {
        0..=2 => sizes.to_vec(),
        _ => sizes.iter().copied().filter(|&size| size != 1).collect(),
    };
    let [height, width] = sizes[..] else {
        bail!("a picture needs a result with two axes, this one has sizes {sizes:?}");
    };
    ensure!(height > 0 && width > 0, "a picture needs pixels, the result has sizes {sizes:?}");
    Ok([u32::try_from(width)?, u32::try_from(height)?])
}

/// A whole file, of labels that have `size` bytes each.
pub fn encode([width, height]: [u32; 2], labels: &mut dyn Read, size: usize, file: &mut dyn Write) -> Result<()> {
    // The encoder keeps a few rows, and would abort without memory for them: so it is asked for once before.
    drop(memory::room::<[u8; 12]>(width as usize)?);
    let mut encoder = Encoder::new(file, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    let mut pixels = writer.stream_writer()?;
    for _ in 0..u64::from(width) * u64::from(height) {
        let mut label = [0; 8];
        labels.read_exact(&mut label[..size])?;
        if cfg!(target_endian = "big") {
            label[..size].reverse();
        }
        pixels.write_all(&colour(u64::from_le_bytes(label)))?;
    }
    pixels.finish()?;
    Ok(writer.finish()?)
}

/// The colour map of PASCAL VOC, which has one for each of 2^24 labels: every third bit of the label goes to the same
/// channel, the lowest ones to the highest, so that neighbouring labels look different.
fn colour(label: u64) -> [u8; 3] {
    [0, 1, 2].map(|channel| (0..8).map(|i| ((label >> (3 * i + channel) & 1) as u8) << (7 - i)).sum())
}
