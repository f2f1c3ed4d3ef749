//! Greedy sampling with the vocabulary sharded over the ranks of MPI, against one process, bit for bit; and the bytes
//! that it takes, beside those of an all-gather of the logits.
//!
//! ```text
//! mpirun -n 4 target/release/argreduce-mpi
//! ```
//!
//! `sampler.rs` is the part to take away. The rest makes random cases (`case.rs`), runs them, and compares.

mod case;
mod sampler;

use argreduce::{ArgReduce, Error, Layout, f16};
use case::{Case, KINDS, Sample};
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use sampler::{Sampler, Token};
use std::process::ExitCode;

const CASES: u64 = 200;

/// A step of a large model: how many sequences, and the vocabulary.
const STEP: [usize; 2] = [64, 128_256];

fn main() -> ExitCode {
    let universe = mpi::initialize().expect("nobody else has initialised MPI");
    let world = universe.world();
    match check_all(&world) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // The others wait for this rank in an all-reduce.
            eprintln!("rank {}: {error}", world.rank());
            world.abort(1)
        }
    }
}

/// What was seen in some cases.
#[derive(Default)]
struct Totals {
    wrong: u64,
    kinds: [u64; KINDS.len()],
    /// What each rank hands to the all-reduces, in bytes.
    partials: usize,
    /// The logits of all ranks, in bytes.
    logits: usize,
}

/// Runs all cases, half of them of each type, and one step of a large model. The answer is the same on all ranks.
fn check_all(world: &SimpleCommunicator) -> Result<bool, Error> {
    let ranks = world.size() as usize;
    let mut cases = Totals::default();
    for seed in 0..CASES {
        let rng = &mut SmallRng::seed_from_u64(seed);
        if seed % 2 == 0 {
            check(world, seed, &Case::<f32>::random(rng, ranks), &mut cases)?;
        } else {
            check(world, seed, &Case::<f16>::random(rng, ranks), &mut cases)?;
        }
    }
    let (mut step, [batch, vocabulary]) = (Totals::default(), STEP);
    check(world, CASES, &Case::<f16>::of_sizes(&mut SmallRng::seed_from_u64(CASES), STEP, ranks), &mut step)?;

    let mut wrong = 0;
    world.all_reduce_into(&(cases.wrong + step.wrong), &mut wrong, SystemOperation::sum());
    let missing = KINDS.iter().zip(cases.kinds).find(|&(_, count)| count == 0 && ranks > 1);
    if world.rank() == 0 {
        println!("{CASES} cases on {ranks} ranks, and a large one: {wrong} answers differ from those of one process");
        for (kind, count) in KINDS.iter().zip(cases.kinds) {
            println!("  with {kind}: {count}");
        }
        if let Some((kind, _)) = missing {
            println!("no case with {kind}: this run shows too little");
        }
        println!("bytes moved, by all ranks together:");
        cases.print_bytes(ranks, &format!("{CASES} cases"));
        step.print_bytes(ranks, &format!("{batch} sequences, {vocabulary} logits of f16 for each"));
    }
    Ok(wrong == 0 && missing.is_none())
}

impl Totals {
    /// Recursive doubling: in each step, each rank sends what it has. In an all-gather, each rank receives what it does
    /// not have.
    fn print_bytes(&self, ranks: usize, what: &str) {
        let (reduced, gathered) = (self.partials * ranks * steps(ranks), self.logits * (ranks - 1));
        println!("  {what}: all-reduce of the partial answers {reduced}, all-gather of the logits {gathered}");
    }
}

/// How often the ranks can be halved.
fn steps(ranks: usize) -> usize {
    ranks.next_power_of_two().ilog2() as usize
}

/// Compares the answers of a case with those of one process.
fn check<T: Sample>(world: &SimpleCommunicator, name: u64, case: &Case<T>, totals: &mut Totals) -> Result<(), Error> {
    let reduce = ArgReduce::argmax(&Layout::contiguous(&case.sizes)?).axes(&[1]).options(case.options);
    let (tokens, logits): (Vec<Token>, Vec<T>) = reduce.plan()?.collect(&case.logits)?;

    let rank = world.rank() as usize;
    let shard = case.logits_of(rank);
    let mut sampler = Sampler::new(world, case.options, case.sizes, case.shards[rank].clone())?;
    let best = sampler.sample(&shard)?;
    let found = best.iter().map(|best| (best.index, best.value.bits()));
    if !found.eq(tokens.iter().copied().zip(logits.iter().map(|logit| logit.bits()))) {
        eprintln!("rank {rank}: case {name} ({}): another answer than one process", T::DATA_TYPE);
        totals.wrong += 1;
    }

    totals.partials += sampler.message_bytes();
    totals.logits += size_of_val(case.logits.as_slice());
    for (count, has) in totals.kinds.iter_mut().zip(case.kinds(&logits)) {
        *count += u64::from(has);
    }
    Ok(())
}
