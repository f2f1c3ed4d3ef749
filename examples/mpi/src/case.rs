//! Random logits, and how the ranks share their vocabulary: the same on every rank, from the same seed. Most rows are
//! of few values, so that ties and special values are everywhere. Nothing here knows of MPI.

use crate::sampler::Logit;
use argreduce::{AxisDirection, NanPolicy, Options};
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};
use std::ops::Range;

/// What a case has, beside ordinary logits; each has to occur.
pub const KINDS: [&str; 5] =
    ["ties across ranks", "NaN", "an infinity as the best", "shards of different sizes", "an empty shard"];

/// A type of logits with test data.
pub trait Sample: Logit + argreduce_guard::Sample + Into<f32> {}

impl<T: Logit + argreduce_guard::Sample + Into<f32>> Sample for T {}

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
        let is_tie = |a: T, b: T| a == b || (a.is_nan() && b.is_nan());
        let has_tie = |(row, &best): (&[T], &T)| {
            let has_best = |shard: &&Range<usize>| row[(*shard).clone()].iter().any(|&logit| is_tie(logit, best));
            self.shards.iter().filter(has_best).count() > 1
        };
        [
            self.logits.chunks(self.sizes[1]).zip(best).any(has_tie),
            self.logits.iter().any(|logit| logit.is_nan()),
            best.iter().any(|best| Into::<f32>::into(*best).is_infinite()),
            self.shards.iter().any(|shard| shard.len() != self.shards[0].len()),
            self.shards.iter().any(Range::is_empty),
        ]
    }
}

/// The logits of a sequence: of at most four special values, or any numbers.
fn row<T: Sample>(rng: &mut SmallRng, len: usize) -> Vec<T> {
    let kinds = rng.random_range(0..=4);
    let values: Vec<T> = (0..kinds).map(|_| *T::SPECIAL.choose(rng).unwrap()).collect();
    (0..len).map(|_| values.choose(rng).copied().unwrap_or_else(|| T::random(rng.next_u64()))).collect()
}
