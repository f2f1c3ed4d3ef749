//! A label map as a PNG picture, one colour per label. It must not know where labels come from, nor which colours
//! they have.

use crate::legend::{GROUND, Legend, colour};
use crate::memory;
use anyhow::{Context, Result, bail, ensure};
use png::{BitDepth, ColorType, Encoder};
use std::io::{Read, Write};

pub struct Picture {
    /// Of the labels.
    width: u32,
    height: u32,
    legend: Option<Legend>,
}

impl Picture {
    /// A picture of labels with these sizes; with a legend if it is told how many labels there are.
    pub fn new(sizes: &[usize], legend: Option<usize>) -> Result<Self> {
        // A batch of one image is a picture too; one row of pixels stays one.
        let sizes: Vec<usize> = match sizes.len() {
            0..=2 => sizes.to_vec(),
            _ => sizes.iter().copied().filter(|&size| size != 1).collect(),
        };
        let [height, width] = sizes[..] else {
            bail!("a picture needs a result with two axes, this one has sizes {sizes:?}");
        };
        ensure!(height > 0 && width > 0, "a picture needs pixels, the result has sizes {sizes:?}");
        let (width, height) = (u32::try_from(width)?, u32::try_from(height)?);
        let legend = legend.map(|labels| Legend::new(labels, height)).transpose()?;
        Ok(Picture { width, height, legend })
    }

    /// A whole file, of labels that have `size` bytes each.
    pub fn encode(&self, labels: &mut dyn Read, size: usize, file: &mut dyn Write) -> Result<()> {
        let [legend_width, legend_height] = self.legend.as_ref().map_or([0, 0], Legend::pixels);
        let width = self.width.checked_add(legend_width).context("the picture is too wide for a legend")?;
        let height = self.height.max(legend_height);
        // The encoder keeps a few rows, and would abort without memory for them: so it is asked for once before.
        drop(memory::room::<[u8; 12]>(width as usize)?);
        let mut encoder = Encoder::new(file, width, height);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        let mut pixels = writer.stream_writer()?;
        for y in 0..height {
            for _ in 0..self.width {
                let pixel = if y < self.height { colour(read(labels, size)?) } else { GROUND };
                pixels.write_all(&pixel)?;
            }
            for x in 0..legend_width {
                let legend = self.legend.as_ref().map_or(GROUND, |legend| legend.pixel(x, y));
                pixels.write_all(&legend)?;
            }
        }
        pixels.finish()?;
        Ok(writer.finish()?)
    }
}

fn read(labels: &mut dyn Read, size: usize) -> Result<u64> {
    let mut label = [0; 8];
    labels.read_exact(&mut label[..size])?;
    if cfg!(target_endian = "big") {
        label[..size].reverse();
    }
    Ok(u64::from_le_bytes(label))
}
