//! Small calls: what one call costs on a row of 1 to 256 elements, and what making a plan costs. Not bandwidth but
//! nanoseconds, so the ceilings have no part in it.

use crate::cell::{Cell, Options, Shape, Size};
use crate::data::{Buffer, fill, seeded};
use crate::element::Sample;
use crate::pattern::{Pattern, Row};
use crate::settings::Settings;
use crate::subject::{By, IS_VERSUS, New, Old};
use crate::timer::{Trials, in_turn};
use anyhow::{Context, Result};
use argreduce::{NanPolicy, ReduceFunction};
use rand::Rng;
use rand::rngs::SmallRng;

pub const LENGTHS: [usize; 6] = [1, 4, 8, 16, 64, 256];

/// Calls in a trial, each on another row, from another element on in every trial: too many for the branch predictor.
const CALLS: usize = 512;

/// What the rows are taken from: 64 KiB for types of 4 bytes.
const POOL: usize = 16 << 10;

/// What something took, and what took place beside it.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    pub nanoseconds: [f64; 2],
    /// The first over the second.
    pub ratio: f64,
}

/// Where answers go: in every trial to another place. A load that seems to read what was just stored waits for it, and
/// in some places so did every call for the one before: 256 u32 by AVX-512 took 28 ns instead of 11, whenever their
/// answers were there. (Zen 5.)
const PLACES: usize = 8 * CALLS;

/// Rows, answers, and what answers them.
struct Stage<T: Sample> {
    pool: Buffer<T>,
    starts: Vec<usize>,
    indices: Vec<u32>,
    first_index: usize,
    rng: SmallRng,
    len: usize,
    new: <T as By<New>>::Plans,
    old: <T as By<Old>>::Plans,
}

#[derive(Clone, Copy)]
enum Who {
    Run,
    Slice,
    Peer,
    OldRun,
    OldSlice,
}

impl<T: Sample> Stage<T> {
    fn new(len: usize) -> Result<Self> {
        let (mut pool, mut rng) = (Buffer::default(), seeded());
        pool.grow_to(POOL);
        fill(Pattern::Random, Row { len: 1, stride: 1 }, &mut rng, &mut pool);
        let (pattern, options, size) = (Pattern::Random, Options::Plain, Size::Bytes(len * size_of::<T>()));
        let cell = Cell { data_type: T::DATA_TYPE, shape: Shape::Row, pattern, options, size };
        let geometry = cell.geometry(false).context("a row")?;
        let new = <T as By<New>>::plans(&cell, &geometry)?;
        let old = <T as By<Old>>::plans(&cell, &geometry)?;
        Ok(Stage { pool, starts: vec![0; CALLS], indices: vec![0; PLACES], first_index: 0, rng, len, new, old })
    }

    /// Takes other rows, and another place for the answers.
    fn refresh(&mut self) {
        let last = (POOL - self.len) as u64;
        self.starts.fill_with(|| (self.rng.next_u64() % last) as usize);
        self.first_index = (self.rng.next_u64() % (PLACES - CALLS) as u64) as usize;
    }

    /// Answers all rows.
    fn call(&mut self, who: Who) {
        let (pool, len, indices) = (&self.pool[..], self.len, &mut self.indices[self.first_index..][..CALLS]);
        let rows = self.starts.iter().map(|&start| &pool[start..start + len]);
        match who {
            Who::Run => rows.zip(indices).for_each(|(row, index)| {
                <T as By<New>>::run_narrow(&self.new, row, std::slice::from_mut(index));
            }),
            Who::OldRun => rows.zip(indices).for_each(|(row, index)| {
                <T as By<Old>>::run_narrow(&self.old, row, std::slice::from_mut(index));
            }),
            Who::Slice => rows.zip(indices).for_each(|(row, index)| *index = <T as By<New>>::argmax(row) as u32),
            Who::OldSlice => rows.zip(indices).for_each(|(row, index)| *index = <T as By<Old>>::argmax(row) as u32),
            Who::Peer => T::peer(rows, ReduceFunction::ArgMax, NanPolicy::Propagate, indices),
        }
    }
}

/// `Plan::run` and `SliceExt::argmax`, each beside the crate argminmax, or the old library.
pub fn small_call<T: Sample>(len: usize, settings: &Settings) -> Result<[Beside; 2]> {
    let (all, others): (&[Who], _) = if IS_VERSUS {
        (&[Who::Run, Who::OldRun, Who::Slice, Who::OldSlice], [(0, 1), (2, 3)])
    } else {
        (&[Who::Run, Who::Slice, Who::Peer], [(0, 2), (1, 2)])
    };
    let (stage, limits) = (&mut Stage::<T>::new(len)?, settings.limits(false));
    let trials = in_turn(stage, all, Stage::refresh, |_, _| (), Stage::call, &limits);
    Ok(others.map(|(ours, other)| beside(&trials, ours, other)))
}

/// Makes plans for a tensor of these sizes over this axis, beside runs of 16 f32, or plans of the old library.
pub fn plan_making(sizes: &[usize], axis: isize, settings: &Settings) -> Result<Beside> {
    let axes = [axis];
    let make_plan = <f32 as By<New>>::plan_maker(sizes, &axes)?;
    let make_old_plan = <f32 as By<Old>>::plan_maker(sizes, &axes)?;
    let (stage, limits) = (&mut Stage::<f32>::new(16)?, settings.limits(false));
    let call = |stage: &mut Stage<f32>, is_other| match is_other {
        false => (0..CALLS).for_each(|_| make_plan()),
        true if IS_VERSUS => (0..CALLS).for_each(|_| make_old_plan()),
        true => stage.call(Who::Run),
    };
    let trials = in_turn(stage, &[false, true], Stage::refresh, |_, _| (), call, &limits);
    Ok(beside(&trials, 0, 1))
}

fn beside(trials: &Trials, ours: usize, other: usize) -> Beside {
    let nanoseconds = [ours, other].map(|n| trials.seconds(n) / CALLS as f64 * 1e9);
    Beside { nanoseconds, ratio: trials.ratio(ours, other) }
}
