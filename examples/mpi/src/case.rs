//! Random logits, and how the ranks share their vocabulary: the same on every rank, from the same seed. Most rows are
//! of few values, so that ties and special values are everywhere. Nothing here knows of MPI.

use crate::sampler::Logit;
use argreduce::{AxisDirection, NanPolicy, Options, f16};
use rand::RngExt;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use std::ops::Range;

/// What a case has, beside ordinary logits; each has to occur.
pub const KINDS: [&str; 5] =
    ["ties across ranks", "NaN", "an infinity as the best", "shards of different sizes", "an empty shard"];

/// A type of logits with test data.
pub trait Sample: Logit {
    /// Both zeros, small numbers, the extremes, infinities, and NaNs of either sign, quiet and signalling.
    const SPECIAL: &'static [Self];
    fn of(number: f32) -> Self;
    fn number(self) -> f32;
    /// The bits, to compare values that may be NaN.
    fn bits(self) -> u32;
}

macro_rules! samples {
    ($($t:ident: $of:expr, $one:literal, $quiet:literal, $signalling:literal, $negative:literal;)+) => {$(
        impl Sample for $t {
            const SPECIAL: &'static [$t] = &[
                $t::from_bits(0), $t::from_bits(1 << (size_of::<$t>() * 8 - 1)), $t::from_bits(1), $t::from_bits($one),
                $t::MAX, $t::MIN, $t::INFINITY, $t::NEG_INFINITY, $t::NEG_INFINITY,
                $t::from_bits($quiet), $t::from_bits($signalling), $t::from_bits($negative),
            ];
            fn of(number: f32) -> $t {
                $of(number)
            }
            fn number(self) -> f32 {
                self.into()
            }
            fn bits(self) -> u32 {
                self.to_bits().into()
            }
        }
    )+};
}
samples! {
    f32: f32::from, 0x3f80_0000, 0x7fc0_0000, 0x7f80_0001, 0xffff_ffff;
    f16: f16::from_f32, 0x3c00, 0x7e00, 0x7c01, 0xffff;
}

/// Logits `[batch, vocabulary]`, which of equal elements wins and where NaN stands, and the shard of each rank.
pub struct Case<T> {
    pub sizes: [usize; 2],
    pub logits: Vec<T>,
    pub options: Options,
    pub shards: Vec<Range<usize>>,
}

impl<T: Sample> Case<T> {
    pub fn random(rng: &mut SmallRng, ranks: usize) -> Self {
        // From few sequences of many logits to many of few: MPI has other algorithms for long messages.
        let largest_batch = 1 << rng.random_range(0..=12);
        let batch = rng.random_range(0..=largest_batch);
        let vocabulary = rng.random_range(1..=(1 << 14) / largest_batch);
        Self::of_sizes(rng, [batch, vocabulary], ranks)
    }

    pub fn of_sizes(rng: &mut SmallRng, [batch, vocabulary]: [usize; 2], ranks: usize) -> Self {
        let logits = (0..batch).flat_map(|_| row(rng, vocabulary)).collect();
        let options = Options::new()
            .direction(*AxisDirection::ALL.choose(rng).unwrap())
            .nan_policy(*NanPolicy::ALL.choose(rng).unwrap());
        let even = rng.random();
        let mut cuts: Vec<usize> = (1..ranks)
            .map(|rank| if even { rank * vocabulary / ranks } else { rng.random_range(0..=vocabulary) })
            .collect();
        cuts.sort();
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let shards = starts.zip(cuts.iter().copied().chain([vocabulary])).map(|(start, end)| start..end).collect();
        Case { sizes: [batch, vocabulary], logits, options, shards }
    }

    /// The logits `[batch, shard]` of a rank, packed.
    pub fn logits_of(&self, rank: usize) -> Vec<T> {
        self.logits.chunks(self.sizes[1]).flat_map(|row| &row[self.shards[rank].clone()]).copied().collect()
    }

    /// Which of [`KINDS`] it has, given the best logit of each sequence.
    pub fn kinds(&self, best: &[T]) -> [bool; KINDS.len()] {
        let is_tie = |a: T, b: T| a.number() == b.number() || (a.number().is_nan() && b.number().is_nan());
        let has_tie = |(row, &best): (&[T], &T)| {
            let has_best = |shard: &&Range<usize>| row[(*shard).clone()].iter().any(|&logit| is_tie(logit, best));
            self.shards.iter().filter(has_best).count() > 1
        };
        [
            self.logits.chunks(self.sizes[1]).zip(best).any(has_tie),
            self.logits.iter().any(|logit| logit.number().is_nan()),
            best.iter().any(|best| best.number().is_infinite()),
            self.shards.iter().any(|shard| shard.len() != self.shards[0].len()),
            self.shards.iter().any(Range::is_empty),
        ]
    }
}

/// The logits of a sequence: of at most four special values, or any numbers.
fn row<T: Sample>(rng: &mut SmallRng, len: usize) -> Vec<T> {
    let kinds = rng.random_range(0..=4);
    let values: Vec<T> = (0..kinds).map(|_| *T::SPECIAL.choose(rng).unwrap()).collect();
    (0..len).map(|_| values.choose(rng).copied().unwrap_or_else(|| T::of(rng.random_range(-9.0..9.0)))).collect()
}
