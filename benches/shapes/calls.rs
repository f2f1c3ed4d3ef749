//! Small calls: what one call costs on a row of 1 to 256 elements, and what making a plan costs. Not bandwidth but
//! nanoseconds, so the ceilings have no part in it.

use crate::data::{Buffer, Pattern, Row, fill, seeded};
use crate::element::Sample;
use crate::settings::Settings;
use crate::timer::{Trials, in_turn};
use anyhow::Result;
use argreduce::{ArgReduce, Layout, NanPolicy, Plan, ReduceFunction, SliceExt};
use rand::Rng;
use rand::rngs::SmallRng;
use std::hint::black_box;

pub const LENGTHS: [usize; 6] = [1, 4, 8, 16, 64, 256];

/// Calls in a trial, each on another row, from another element on in every trial: too many for the branch predictor.
const CALLS: usize = 512;

/// What the rows are taken from: 64 KiB for types of 4 bytes.
const POOL: usize = 16 << 10;

/// Of one call: `Plan::run`, `SliceExt::argmax`, and the crate argminmax.
#[derive(Clone, Copy, Debug)]
pub struct SmallCall {
    pub len: usize,
    pub nanoseconds: [f64; 3],
    /// The first two over the third.
    pub ratios: [f64; 2],
}

/// Making a plan, and a run of 16 f32.
#[derive(Clone, Copy, Debug)]
pub struct PlanMaking {
    pub nanoseconds: [f64; 2],
    /// The plan over the run.
    pub ratio: f64,
}

/// Where answers go: in every trial to another place. A load that seems to read what was just stored waits for it, and
/// in some places so did every call for the one before: 256 u32 by AVX-512 took 28 ns instead of 11, whenever their
/// answers were there. (Zen 5.)
const PLACES: usize = 8 * CALLS;

/// Rows, answers, and what answers them.
struct Stage<T> {
    pool: Buffer<T>,
    starts: Vec<usize>,
    indices: Vec<u32>,
    first_index: usize,
    rng: SmallRng,
    len: usize,
    plan: Plan<T, u32>,
}

#[derive(Clone, Copy)]
enum Who {
    Run,
    Slice,
    Peer,
}

impl<T: Sample> Stage<T> {
    fn new(len: usize) -> Result<Self> {
        let (mut pool, mut rng) = (Buffer::default(), seeded());
        pool.grow_to(POOL);
        fill(Pattern::Random, Row { len: 1, stride: 1 }, &mut rng, &mut pool);
        let layout = Layout::contiguous(&[len])?;
        let plan = ArgReduce::argmax(&layout).axes(&[0]).plan::<T, u32>()?;
        Ok(Stage { pool, starts: vec![0; CALLS], indices: vec![0; PLACES], first_index: 0, rng, len, plan })
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
                self.plan.run(row, std::slice::from_mut(index)).expect("a row of the plan's length");
            }),
            Who::Slice => {
                rows.zip(indices).for_each(|(row, index)| *index = row.argmax().expect("not empty") as u32);
            }
            Who::Peer => T::peer(rows, ReduceFunction::ArgMax, NanPolicy::Propagate, indices),
        }
    }
}

pub fn small_call<T: Sample>(len: usize, settings: &Settings) -> Result<SmallCall> {
    let all = [Who::Run, Who::Slice, Who::Peer];
    let (stage, limits) = (&mut Stage::<T>::new(len)?, settings.limits(false));
    let trials = in_turn(stage, &all, Stage::refresh, |_, _| (), Stage::call, &limits);
    let ratios = [0, 1].map(|n| trials.ratio(n, 2));
    Ok(SmallCall { len, nanoseconds: [0, 1, 2].map(|n| nanoseconds(&trials, n)), ratios })
}

/// Makes plans for a tensor of these sizes over this axis.
pub fn plan_making(sizes: &[usize], axis: isize, settings: &Settings) -> Result<PlanMaking> {
    let layout = Layout::contiguous(sizes)?;
    let make_plans = || {
        for _ in 0..CALLS {
            _ = black_box(ArgReduce::argmax(black_box(&layout)).axes(black_box(&[axis])).plan::<f32, u32>());
        }
    };
    let (stage, limits) = (&mut Stage::<f32>::new(16)?, settings.limits(false));
    let call = |stage: &mut Stage<f32>, is_plan| if is_plan { make_plans() } else { stage.call(Who::Run) };
    let trials = in_turn(stage, &[true, false], Stage::refresh, |_, _| (), call, &limits);
    Ok(PlanMaking { nanoseconds: [0, 1].map(|n| nanoseconds(&trials, n)), ratio: trials.ratio(0, 1) })
}

fn nanoseconds(trials: &Trials, contender: usize) -> f64 {
    trials.seconds(contender) / CALLS as f64 * 1e9
}
