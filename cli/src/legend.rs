//! Which colour is which label, and a legend of that: a swatch and a number for each. It must not know what the labels
//! are of.

use anyhow::{Result, ensure};

/// What is no label's.
pub const GROUND: [u8; 3] = [255; 3];

/// The colour map of PASCAL VOC, which has one for each of 2^24 labels: every third bit of the label goes to the same
/// channel, the lowest ones to the highest, so that neighbouring labels look different.
pub fn colour(label: u64) -> [u8; 3] {
    [0, 1, 2].map(|channel| (0..8).map(|i| ((label >> (3 * i + channel) & 1) as u8) << (7 - i)).sum())
}

/// Width and height of one label's place; its swatch begins at the first place, and its number at the second.
const CELL: [u32; 2] = [48, 12];
const SWATCH: [u32; 2] = [4, 16];
const NUMBER: u32 = 20;

/// How many pixels wide and high a dot of a digit is, and how many a digit takes with the space behind it.
const DOT: u32 = 2;
const DIGIT: u32 = 8;

/// Rows of three dots, the left one in the highest bit.
const DIGITS: [[u8; 5]; 10] = [
    [7, 5, 5, 5, 7],
    [2, 6, 2, 2, 7],
    [7, 1, 7, 4, 7],
    [7, 1, 7, 1, 7],
    [5, 5, 7, 1, 1],
    [7, 4, 7, 1, 7],
    [7, 4, 7, 5, 7],
    [7, 1, 1, 1, 1],
    [7, 5, 7, 5, 7],
    [7, 5, 7, 1, 7],
];

/// More have no colours that an eye could tell apart.
const MOST: usize = 256;

const INK: [u8; 3] = [0; 3];

pub struct Legend {
    labels: u32,
    rows: u32,
}

impl Legend {
    /// Of the labels from 0 on, for a picture of this height.
    pub fn new(labels: usize, height: u32) -> Result<Self> {
        ensure!(labels <= MOST, "a legend has room for {MOST} indices, and there may be {labels}");
        Ok(Legend { labels: labels as u32, rows: (height / CELL[1]).max(1) })
    }

    /// Width and height.
    pub fn pixels(&self) -> [u32; 2] {
        [self.labels.div_ceil(self.rows) * CELL[0], self.rows * CELL[1]]
    }

    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let (column, row) = (x / CELL[0], y / CELL[1]);
        let (x, y) = (x % CELL[0], y % CELL[1]);
        let label = column * self.rows + row;
        // A pixel between one label and the next.
        let inner = 1..CELL[1] - 1;
        if row >= self.rows || label >= self.labels || !inner.contains(&y) {
            return GROUND;
        }
        let [left, right] = SWATCH;
        if (left..right).contains(&x) {
            // Framed, because a colour may be close to the ground's.
            let is_frame = [left, right - 1].contains(&x) || [inner.start, inner.end - 1].contains(&y);
            return if is_frame { INK } else { colour(u64::from(label)) };
        }
        let number = label.to_string();
        let dot = x.checked_sub(NUMBER).is_some_and(|x| {
            let digit = number.as_bytes().get((x / DIGIT) as usize).map(|digit| DIGITS[usize::from(digit - b'0')]);
            let (column, row) = (x % DIGIT / DOT, (y - inner.start) / DOT);
            column < 3 && digit.is_some_and(|digit| digit[row as usize] >> (2 - column) & 1 == 1)
        });
        if dot { INK } else { GROUND }
    }
}
